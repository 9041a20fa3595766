# %% question [markdown] lang="zh"
# # 截断与恢复
#
# 45 分钟。进程死在一次任务的中间，留下一份没有写完的日志。**现在知道什么，不知道什么？** 邮件发出去了没有？
# 可以再发一次吗？恢复程序要给没写完的轮次收尾，又不能编造任何事。
#
# 学完你能：
#
# - **读懂**一份断掉的日志：什么保留，什么切掉，哪些轮次、步骤、调用还没有结束
# - **区分** TOOL_NOT_STARTED 与 TOOL_OUTCOME_UNKNOWN，说出前一句话凭什么可信
# - **决定**每个调用该重试、该核实，还是不用管

# %% question [markdown] lang="en"
# # Truncate and recover
#
# 45 minutes. A process dies in the middle of a task and leaves a log that is not finished. **What is known now, and what is
# not?** Did the mail go out? May it be sent again? Recovery has to close the turn, and it must not make anything up.
#
# Afterwards you can:
#
# - **read** a broken log: what is kept, what is cut off, which turns, steps and calls are still open
# - **tell** TOOL_NOT_STARTED from TOOL_OUTCOME_UNKNOWN, and say what makes the first one true
# - **decide** for each call: repeat it, ask outside, or leave it alone

# %% imports
from pathlib import Path
from shutil import copytree

from labsupport.sessionlog import interrupted_turn_closers
from labsupport.sessionlog.storage import JsonlStore, scan_log
from labsupport.workbench import log_samples
from labsupport.workbench.checks.b4 import check_decide
from labsupport.workbench.checks.base import compare
from labsupport.workbench.crash import kill, killed, points, points_from, retry_not_started
from labsupport.workbench.cuts import cut_log, lines_of, log_bytes, telling_cuts
from labsupport.workbench.explorers.b4 import truncation_explorer
from labsupport.workbench.mail_task import PROMPT, Point, outbox, record
from labsupport.workbench.random_logs import random_log
from labsupport.workbench.recovery_tables import death_table, log_verdicts, two_rules
from labsupport.workbench.scratch import fresh, scratch

# %% look [markdown] lang="zh"
# ## 先看一次完整的任务
#
# 模型在一条消息里发出两个调用：`send_mail` 发一封提醒邮件，`sum_column` 读一张表。邮件发出去就收不回来，
# 发件箱是日志之外的世界。

# %% look [markdown] lang="en"
# ## First, the task undisturbed
#
# The model makes two calls in one message: `send_mail` sends a reminder, `sum_column` reads a table. A mail that is out
# cannot be called back; the outbox is the world outside of the log.

# %% recorded
scratch()
record(Path("run"))
log = Path("run/mail.jsonl").read_bytes()
print(PROMPT, *outbox("run"), sep="\n")

# %% look-events [markdown] lang="zh"
# 日志里的事件，流式的碎片先略去：

# %% look-events [markdown] lang="en"
# The events in the log, without the chunks of the stream:

# %% events
events = scan_log(log).events
for event in events:
    if event.type != "assistant/chunk":
        print(event.seq, event.type, event.data.get("name", ""))

# %% cut [markdown] lang="zh"
# ## 切断一个副本
#
# 这是教材的实验四。取一个副本，在第一个 `tool/call` 之后、下一条记录写到一半的地方切断，就像进程正好死在那里。
# 文件的第一行是**会话头**（谁的日志、什么版本），其余每行一条记录：

# %% cut [markdown] lang="en"
# ## Cut a copy
#
# This is the chapter's fourth experiment. Take a copy and cut it after the first `tool/call`, within the next record, as if
# the process had died there. The first line of the file is the **header** (whose log it is, in which version), every other
# line is a record:

# %% cut-copy
lines = lines_of(log)
call = next(event for event in events if event.type == "tool/call")
at = lines[call.seq + 1].stop + 60  # line 0 is the header
Path(fresh("copy")).mkdir()
Path("copy/mail.jsonl").write_bytes(log[:at])
print(log[at - 60:at].decode())

# %% cut-predict [markdown] lang="zh"
# **预测 1。** 恢复要补写几个事件，才能给这一轮收尾？数一数没有结束的东西。

# %% cut-predict [markdown] lang="en"
# **Prediction 1.** How many events does recovery have to add to close this turn? Count what is open.

# %% guess
guess = None

# %% cut-inspect
Path("copy/mail.jsonl").write_bytes(log[:at])
store = JsonlStore("copy")
seen = store.inspect("mail")
print(compare(guess, len(seen.repair.added)))
for event in seen.repair.added:
    said = event.data.get("error") or event.data.get("reason") or {}
    print(event.seq, event.type, *said.values())

# %% cut-why [markdown] lang="zh"
# 每个没有结束的东西补一个事件，由内到外：调用、步骤、轮次，轮次以 `interrupted` 结束。两个调用的错误码不同：一个有 `tool/call`
# 的记录，开始过，结局未知；另一个没有，算作“未开始”。补写的结果不说成功，也不说失败。
#
# ## 看一看，还是动手修
#
# `inspect` 只在内存里修。文件有没有变？

# %% cut-why [markdown] lang="en"
# One event for each thing that is open, from the inside out: calls, step, turn, and the turn ends `interrupted`. The two
# calls get different codes: one has a `tool/call` on record, so it was started, outcome unknown; the other has none. Neither
# result says success or failure.
#
# ## Look, or repair
#
# `inspect` repairs in memory only. Did the file change?

# %% inspect-touches
print(Path("copy/mail.jsonl").read_bytes() == log[:at])

# %% load [markdown] lang="zh"
# `load` 把修复写回磁盘。切掉的字节先另存在日志旁边，什么也不会无声地消失
# （头两行把切断的副本再放好，这一格就能运行几遍）：

# %% load [markdown] lang="en"
# `load` commits the repair. What it cuts off is kept beside the log first; nothing vanishes in silence. (The first two lines
# put the cut copy back, so that the cell may be run again.)

# %% load-repairs
Path(fresh("copy")).mkdir()
Path("copy/mail.jsonl").write_bytes(log[:at])
repair = store.load("mail").repair
print(repair.kept_in.name, repair.kept_in.read_bytes() == log[repair.torn.offset:at])
print(Path("copy/mail.jsonl").read_bytes().startswith(log[:repair.torn.offset]))

# %% load-again [markdown] lang="zh"
# 再来一次，已经没有什么可修的：

# %% load-again [markdown] lang="en"
# Once more, and there is nothing left to repair:

# %% load-twice
print(store.load("mail").repair)

# %% step-through [markdown] lang="zh"
# ## 切在任何一个字节
#
# 左边是整个日志和切口，补写的事件写在 seq 接下去的那几行。右边是恢复不作断言的事、切口处的字节，和磁盘上的文件：每移动一次，
# 都真的写一个副本，`inspect` 一次，`load` 两次。图里说的**屏障**，是循环在运行工具之前先等日志落盘。
#
# **拖动滑块找一找：** c1 从“未开始”变成“结局未知”，正好发生在哪个字节？先自己拖，再运行下一格。

# %% step-through [markdown] lang="en"
# ## Cut at any byte
#
# On the left the whole log and the cut, with the added events on the rows where seq goes on. On the right what recovery does
# not claim, the bytes at the cut, and the file on disk: each move really writes a copy, calls `inspect` once and `load` twice.
# The **barrier** in the picture: before it runs a tool, the loop waits until the log is on the disk.
#
# **Find it with the sliders:** at exactly which byte does c1 change from “not started” to “unknown”? Move them yourself before
# you run the next cell.

# %% explorer
explorer = truncation_explorer(log, show_text=True)
explorer

# %% move
explorer.lines.value = call.seq + 1
explorer.bytes.value = explorer.bytes.max
explorer.still

# %% moved [markdown] lang="zh"
# <details><summary>答案：哪个字节</summary>
#
# 是那条 `tool/call` 的换行符。上面这张图里只差它一个字节：记录的每个字都在，可没有换行符就不算提交，c1 仍是“未开始”。
# 再往右一格，就是“结局未知”。
# 所以工具必须等这个换行符落盘之后才能开始；早一步，“未开始”就可能是假话。
#
# </details>
#
# 把字节滑块拖到一个汉字的中间（第一条 `user/message`），再拖进会话头，看看各说什么。
#
# ## 真的杀死一个进程
#
# 副本是我们自己切的。现在另起一个进程来录，它走到指定的地方就停下，然后被我们杀死，没有机会收拾。
# 先选最糟的时刻：邮件已经发出，结果还没有记下。

# %% moved [markdown] lang="en"
# <details><summary>Answer: which byte</summary>
#
# The line break of that `tool/call`. In the picture above it is the one byte that is missing: every letter of the record is
# there, but without its line break it was not committed, and c1 is still “not started”. One step further it is “unknown”.
# So a tool must not start before that line break is on the disk; a moment earlier, and “not started” may be false.
#
# </details>
#
# Move the byte slider into the middle of a Chinese character (in the first `user/message`), then into the header, and read
# what it says.
#
# ## Kill a real process
#
# We cut that copy ourselves. Now a process of its own records; it stops where it is told to and is killed, with no chance to
# tidy up. First the worst moment: the mail is out, and its result is not on record yet.

# %% kill-one
moment = Point("done", "send_mail")
death = kill(fresh("killed"), moment)
death_table([death])

# %% kill-many [markdown] lang="zh"
# 日志不知道邮件发出去了，但它没有说谎：结局未知。
#
# 换别的时刻呢？录制过程里可以下手的时刻有这么多，由种子随机挑几个：

# %% kill-many [markdown] lang="en"
# The log does not know that the mail went out, but it does not lie either: outcome unknown.
#
# And other moments? There are this many at which the recording can be killed; a seed picks some of them:

# %% kill-seeds
print(len(points()))
deaths = killed(points_from(seed=32, count=10))
death_table(deaths)

# %% kill-holds [markdown] lang="zh"
# “已落盘”是进程死前确知写进磁盘的事件数。读回的可以更多：一次写入哪怕只到一半，已经写完整的行也算数，只是进程还不知道。
# 结局未知也可能是根本没运行：宁可多问一次。
#
# 两件事对每一次死亡都成立：已落盘的一个也没丢；真的运行过的工具，日志从不说它“未开始”。

# %% kill-holds [markdown] lang="en"
# “Durable” counts the events that the process knew to be on the disk before it died; more may be read back: even of a write cut
# in half the whole lines count, the process had just not heard. Unknown may also mean that it never ran: better one question
# too many.
#
# Two things hold for every death: nothing durable is lost, and no tool that really ran is said to be “not started”.

# %% kill-laws
print(sum(death.lost for death in deaths), [lie for death in deaths for lie in death.lies])

# %% without [markdown] lang="zh"
# ## 拿掉一道屏障
#
# 现在只拿掉工具之前的那道屏障，别的都不变，在同一时刻杀死进程。

# %% without [markdown] lang="en"
# ## Without the barrier
#
# Take away the barrier before tools, nothing else, and kill the process at the same moment.

# %% without-kill
unsafe = kill(fresh("unsafe"), moment, barrier_before_tools=False)
death_table([death, unsafe])

# %% without-predict [markdown] lang="zh"
# 第二行：邮件发出去了，日志却说 c1 是“未开始”。接手的程序相信日志，把“未开始”的调用都再做一遍。
#
# **预测 2。** 没有屏障的那一次，发件箱里最后有几封邮件？（重试在副本里做，这一格可以运行几遍。）

# %% without-predict [markdown] lang="en"
# The second row: the mail is out, and the log says that c1 was not started. The program that takes over believes the log and
# runs every call again that is “not started”.
#
# **Prediction 2.** Without the barrier, how many mails are in the outbox in the end? (The retry works on copies, so that the
# cell may be run again.)

# %% guess-mails
guess_mails = None

# %% without-retry
for folder, found in (("killed", death), ("unsafe", unsafe)):
    retried = copytree(folder, fresh(f"{folder}-retried"))
    print(retry_not_started(retried, found), len(outbox(retried)))
print(compare(guess_mails, len(outbox(retried))))

# %% without-why [markdown] lang="zh"
# 有屏障时，c1 是“结局未知”，程序不会擅自重发，只重做了真的没有开始的 c2。没有屏障时，同样的规则就发出两封一样的邮件。
# 恢复程序没有错，错在日志比世界慢了一步。
#
# ## 两条规则
#
# 完好的、末行写了一半的、中间坏了的文件，第 34 章和第 4 章各怎么说？

# %% without-why [markdown] lang="en"
# With the barrier c1 is “outcome unknown”: the program does not send again by itself, and repeats only c2, which really was
# not started. Without it, the same rule sends the same mail twice. Recovery made no mistake; the log was one step behind the
# world.
#
# ## Two rules
#
# A good file, one whose last line is torn, one that is damaged in the middle: what does chapter 34 say to each, and what does
# chapter 4?

# %% rules
two_rules()

# %% rules-why [markdown] lang="zh"
# 第 34 章：有一行坏了就不读，让人来看。第 4 章把两种情况分开：**残尾**是没写完的最后一次写入，没有人依赖过它，可以切；
# **损坏**在已提交的内容里面，后面还有结束了的轮次，切掉它就是丢记录，所以拒绝。

# %% rules-why [markdown] lang="en"
# Chapter 34: one bad line, and the file is not read; a person has to look. Chapter 4 tells two cases apart. A **torn tail** is
# a last write that did not finish, nobody relied on it, and it may be cut. **Damage** lies inside what was committed, a
# finished turn stands after it, and cutting there would lose the record: it is refused.

# %% break-it tags=["raises-exception"]
Path("damaged.jsonl").write_bytes(log_samples.path("damaged").read_bytes())
JsonlStore(".").load("damaged")

# %% broken [markdown] lang="zh"
# 报错是说：这一行不是 JSON，而它后面还有一个轮次结束了（错误写出是哪一行），所以是损坏，不是残尾；什么也没有改。
# 文件真的一个字节也没动吗？

# %% broken [markdown] lang="en"
# The error says which line it is, and why that is no torn tail. Is the file really as it was, byte by byte?

# %% broken-left
print(Path("damaged.jsonl").read_bytes() == log_samples.path("damaged").read_bytes())

# %% refusals [markdown] lang="zh"
# 一个字节也没动。
#
# 打不开不一定是损坏。更新的版本写的日志、有不认识的事件的日志，都是完整的：修它就是毁它。

# %% refusals [markdown] lang="en"
# It is.
#
# Not everything that does not open is damaged. A log of a newer version, or one with an event that nobody here knows, is
# whole: to repair it would be to destroy it.

# %% refused
names = ["interrupted", "torn", "damaged",
         "newer_format", "unknown_event", "ignorable_event"]
log_verdicts(names)

# %% law [markdown] lang="zh"
# ## 定律
#
# **在会话头之后的任何一个字节切断，恢复都只保留一段开头，外加收尾的事件；再恢复一次，什么也不变。**
# 定律是对任何输入都成立的性质，一个例子证明不了什么。先在会话头之后的每一个字节上试：

# %% law [markdown] lang="en"
# ## The law
#
# **Cut at any byte after the header: recovery keeps a prefix and adds nothing but what closes the turn; a second recovery
# changes nothing.** A law holds for every input, so one example proves little. First at every byte after the header:

# %% law-every-byte
cuts = [cut_log(log, at) for at in range(lines[0].stop, len(log) + 1)]
print(len(cuts), all(cut.kept == events[:len(cut.kept)] for cut in cuts))
print(all(interrupted_turn_closers(cut.events) == [] for cut in cuts))

# %% law-random [markdown] lang="zh"
# 再换许多随机的会话：几轮，有并行的调用，有出错的工具，有替换。每一行切在中间、换行符之前和之后：

# %% law-random [markdown] lang="en"
# Then on many random sessions, with several turns, parallel calls, tools that fail and replacements: cut in the middle of each
# line, before its line break and after it:

# %% law-random-logs
logs = [log_bytes(random_log(seed)) for seed in range(20)]
trials = [(scan_log(data).events, cut_log(data, at))
          for data in logs for at in telling_cuts(data)]
print(len(trials), all(cut.kept == whole[:len(cut.kept)] for whole, cut in trials))
print(all(interrupted_turn_closers(cut.events) == [] for whole, cut in trials))

# %% law-counts [markdown] lang="zh"
# 这些检查有没有真正用上？有残尾的，要收尾的，有结局未知的调用的：

# %% law-counts [markdown] lang="en"
# Was there anything to check? Cuts with a torn tail, with a turn to close, with a call whose outcome is unknown:

# %% law-counted
found = [cut for whole, cut in trials]
print(sum(cut.torn is not None for cut in found), sum(cut.closers != () for cut in found),
      sum(any(closer.unknown for closer in cut.closers) for cut in found))

# %% exercise [markdown] lang="zh"
# ## 练习：重试、核实，还是不管
#
# `decide(events, call_id)` 收到一份恢复后的日志和一个调用的 id，回答三个词之一：
#
# - `"retry"`：可以直接再做一次
# - `"verify"`：先到外部系统核实
# - `"leave"`：这里没有事要做，结局已经在日志里
#
# 别猜，从这个调用最后一个 `tool/result` 事件里读。
#
# <details><summary>提示</summary>
#
# `event.data["message"]["source"]["callId"]` 说这个结果属于哪个调用。
# 有 `error` 的结果里，`event.data["error"]["code"]` 是错误码；工具自己出的错也有错误码，但不是恢复写的那两个。
#
# </details>

# %% exercise [markdown] lang="en"
# ## Exercise: repeat, ask, or leave
#
# `decide(events, call_id)` gets a recovered log and the id of a call, and answers with one of three words:
#
# - `"retry"`: it may simply be done again
# - `"verify"`: ask the outside system first
# - `"leave"`: nothing to do here, the outcome is in the log
#
# Do not guess: read it from the last `tool/result` event of that call.
#
# <details><summary>Hint</summary>
#
# `event.data["message"]["source"]["callId"]` says which call a result belongs to. Where a result has an `error`, its code is
# `event.data["error"]["code"]`; a tool that fails by itself has a code too, but neither of the two that recovery writes.
#
# </details>

# %% decide
def decide(events, call_id):
    ### BEGIN SOLUTION
    decision = None
    for event in events:
        if event.type != "tool/result":
            continue
        if event.data["message"]["source"]["callId"] == call_id:
            code = event.data.get("error", {}).get("code")
            known = {"TOOL_NOT_STARTED": "retry", "TOOL_OUTCOME_UNKNOWN": "verify"}
            decision = known.get(code, "leave")
    return decision
    ### END SOLUTION

# %% decide-check points=2
verdict = check_decide(decide)
print(verdict)
### BEGIN HIDDEN TESTS
assert verdict.correct, verdict
### END HIDDEN TESTS

# %% answer [markdown] lang="zh"
# <details><summary>答案</summary>
#
# ```python
# def decide(events, call_id):
#     decision = None
#     for event in events:
#         if event.type != "tool/result":
#             continue
#         if event.data["message"]["source"]["callId"] == call_id:
#             code = event.data.get("error", {}).get("code")
#             known = {"TOOL_NOT_STARTED": "retry", "TOOL_OUTCOME_UNKNOWN": "verify"}
#             decision = known.get(code, "leave")
#     return decision
# ```
#
# `isError` 不够：未开始、结局未知、工具自己失败，都是 true。正文也不能信，谁都可以写。循环走完全部事件，留下最后一个，
# 因为同一个 id 可能在后面的轮次里再用。
#
# </details>
#
# ## 思考题
#
# **教材的思考题 5（★★）：哪些操作必须等落盘，哪些可以晚一点？**
# 先看随机挑的那张表，死在 `assistant/chunk` 之后的那一行：记到了哪个事件，读回几个，没落盘的是什么？

# %% answer [markdown] lang="en"
# <details><summary>Answer</summary>
#
# ```python
# def decide(events, call_id):
#     decision = None
#     for event in events:
#         if event.type != "tool/result":
#             continue
#         if event.data["message"]["source"]["callId"] == call_id:
#             code = event.data.get("error", {}).get("code")
#             known = {"TOOL_NOT_STARTED": "retry", "TOOL_OUTCOME_UNKNOWN": "verify"}
#             decision = known.get(code, "leave")
#     return decision
# ```
#
# `isError` is not enough: it is true for a call not started, for an unknown outcome, and for a tool that failed by itself. Nor
# can the text be trusted, anything may stand there. The loop goes through all events and keeps the last, because a later turn
# may use the same id again.
#
# </details>
#
# ## Questions to think about
#
# **Question 5 of the chapter (★★): which operations must wait for a flush, and which may be written later?** Look at the table
# of random deaths first, at the death after an `assistant/chunk`. Which event was on record, how many were read back, and what
# was not on the disk?

# %% chunk-death
chunk = next(death for death in deaths if death.point.name == "assistant/chunk")
never = events[chunk.kept:chunk.point.number + 1]
print(chunk.point.number, chunk.kept, {event.type for event in never})

# %% think [markdown] lang="zh"
# <details><summary>参考答案</summary>
#
# 看别人会不会根据它行动。必须等的：运行有副作用的工具之前，它的 `tool/call` 要在磁盘上（拿掉屏障的那一格，发件箱里多了一封）；
# 告诉用户“已经记下”之前；交给另一个进程或节点之前；后面的请求要靠它的手动压缩之后；关闭、发布检查点的时候；
# 声称“重启还读得到”的测试里。可以晚的：流式的碎片、步骤的结束、标题和统计。
# 这里演示了两样：工具之前的屏障；还有上一格，没落盘的都是碎片，没有人靠它做过什么，再问一次模型就有了。
# 其余几条是教材的清单，这里没有演示。
#
# </details>
#
# **1.** 遇到残尾，第 34 章拒绝，第 4 章切掉。哪个对？
#
# <details><summary>参考答案</summary>
#
# 都对，依据不同。第 34 章的文件不说什么算提交，读的人分不清残尾和坏行，拒绝最稳妥。
# 第 4 章有换行符、连续的 seq 和 `turn/end`，能证明后面没有结束了的轮次（两条规则的那张表），
# 而且切掉的都另存了（`load` 的那一格）。没有证据时，它也拒绝（弄坏的那一格）。
#
# </details>
#
# **2.** 为什么结局未知不记成失败？
#
# <details><summary>参考答案</summary>
#
# 因为没有人看见它失败。写成失败，就等于允许重试；可在第一张 `death_table` 里，邮件明明已经发出。
# `isError` 只表示没有看到成功，错误码才说明是未知。外面的事，恢复不作断言，要凭业务标识（每封提醒都该有一个编号）
# 去问发件箱（教材 §4.9）。怎样让外部系统回答得了，是 B9 的事。
#
# </details>

# %% think [markdown] lang="en"
# <details><summary>An answer</summary>
#
# Ask whether anybody acts on it. These must wait: a tool with an effect, until its `tool/call` is on the disk (the cells
# without the barrier: one mail too many); telling a user “it is recorded”; handing over to another process or node; a manual
# compaction that later requests rely on; closing, or publishing a checkpoint; a test that claims a restart can read it. These
# may come later: chunks of a stream, the end of a step, titles, statistics. Two of them were shown: the barrier before tools,
# and in the cell above nothing but chunks was not on the disk, nobody had acted on them, and the model can be asked again.
# The others are the chapter's list, not shown here.
#
# </details>
#
# **1.** Chapter 34 refuses a torn tail, chapter 4 cuts it off. Which is right?
#
# <details><summary>An answer</summary>
#
# Both, on different evidence. In chapter 34 nothing says what counts as committed; a reader cannot tell a torn tail from a bad
# line, and refusing is safest. Chapter 4 has the line break, seq without gaps and `turn/end`, so it can prove that no finished
# turn stands after the tear (the table of two rules), and what it cuts is kept (the cell with `load`). Without that proof it
# refuses as well (the cell that breaks it).
#
# </details>
#
# **2.** Why is an unknown outcome not recorded as a failure?
#
# <details><summary>An answer</summary>
#
# Because nobody saw it fail. A failure would permit a retry, and in the first `death_table` the mail had in fact gone out.
# `isError` says only that no success was seen; the code says unknown. Of effects outside recovery claims nothing: the outbox is
# asked, by a business id: every reminder should have one (§4.9). How the outside system comes to have an answer is lab B9's
# subject.
#
# </details>

# %% recap [markdown] lang="zh"
# ## 小结
#
# - 恢复保留一段开头，给没结束的补上收尾，切掉的另存；不说成功，也不说失败，第二次什么也不变。
# - “未开始”只有在工具之前有屏障时才是真话；没有它，同样的恢复会发出第二封邮件。
# - 残尾可以切，损坏要拒绝，更新的版本和不认识的事件不是损坏。

# %% recap [markdown] lang="en"
# ## Recap
#
# - Recovery keeps a prefix, closes what is open and keeps what it cuts off; it claims neither success nor failure, and a second
#   run changes nothing.
# - “Not started” is true only with a barrier before the tool; without it, the same recovery sends a second mail.
# - A torn tail is cut, damage is refused, and a newer version or an unknown event is no damage.
