# %% question [markdown] lang="zh"
# # 续写、分叉、重放
#
# 55 分钟。手里有一份旧会话，想“接着来”。可以在原来的 id 上写下去，可以从中间另开一支，可以只看不做，
# 也可以只带走一条事实。**四个词，四件事：续写、分叉、重放、记忆。** 分不清，就会发出第二封邮件，
# 或者让新会话拿到它不该有的权限。
#
# 学完你能：
#
# - **区分**四个词：各拿走什么，写到哪里，能不能动外面的世界
# - **找出**一份日志里所有可以分叉的边界，并说出轮次中间为什么不行
# - **解释**抄来的历史为什么不是权限，旧会话为什么不是记忆

# %% question [markdown] lang="en"
# # Fork, resume, replay
#
# 55 minutes. Here is an old session, and somebody wants to “go on from it”: to write on under its id, to branch off in the
# middle, to look without doing anything, or to take one fact along. **Four words, four things: resume, fork, replay,
# memory.** Mix them up, and a mail goes out twice, or a new session has rights that nobody gave it.
#
# Afterwards you can:
#
# - **tell** the four apart: what each takes in, where it writes, whether it touches the world outside
# - **find** every boundary at which a log can be forked, and say why none lies inside a turn
# - **explain** why copied history gives no permission, and why old sessions are not memory

# %% imports
from pathlib import Path
from shutil import copytree

from labsupport.outside import extract
from labsupport.sessionlog import Reply, Session, check_invariants, fold, fork, lineage
from labsupport.sessionlog import replay, resume, tool_pairing
from labsupport.sessionlog.storage import JsonlStore
from labsupport.workbench.checks.b8 import check_boundaries
from labsupport.workbench.checks.base import attempt, compare, refusal
from labsupport.workbench.explorers.b8 import fork_explorer
from labsupport.workbench.lineage_tables import four_words
from labsupport.workbench.memory_play import remembered, user_said
from labsupport.workbench.outbox_play import ask, mail_call, mail_tools, mails, record
from labsupport.workbench.random_logs import random_log
from labsupport.workbench.scratch import fresh, scratch

# %% look [markdown] lang="zh"
# ## 先看这份会话
#
# 第 1 轮数检验的次数；第 2 轮征得同意，给王医生发了一封提醒邮件；然后有人压缩了第 1 轮，
# 用一段摘要换下它的消息；第 3 轮道谢（用户要求过用中文回答）。邮件是发件箱文件夹里的真文件，和日志分开放：

# %% look [markdown] lang="en"
# ## First, the session
#
# Turn 1 counts tests. Turn 2 asks for permission and sends a reminder to Dr. 王. Then somebody compacts turn 1: a summary takes
# the place of its messages. Turn 3 says thank you. (The user asked for answers in Chinese, so the model answers in Chinese:
# 提醒已发出 is “the reminder is out”, 不客气 “you are welcome”.) The mail is a real file in an outbox folder, apart from the
# log:

# %% recorded
scratch()
record("office")
print(sorted(path.name for path in Path("office").glob("*.jsonl")), mails("office"))

# %% look-events [markdown] lang="zh"
# 日志里的事件，步骤和流式的碎片先略去：

# %% look-events [markdown] lang="en"
# Its events, without the steps and the chunks of the stream:

# %% events
log = JsonlStore("office").inspect("reminder")
for event in log.events:
    if event.type not in ("assistant/chunk", "step/start", "step/end"):
        print(event.seq, event.type)

# %% resume [markdown] lang="zh"
# ## 续写：同一个 id，接着写
#
# 进程重启了，用户回来继续谈。`resume` 读入整份日志，先修好该修的（B4），再记一个 `session/end-seed`：
# 它之前是读进来的，之后才是这个进程做的（seed 是带进来的历史，不是随机种子）。`first_live_seq` 指着它。

# %% resume [markdown] lang="en"
# ## Resume: the same id, written on
#
# The process was restarted and the user comes back. `resume` reads the whole log, repairs what has to be repaired (B4), and
# logs a `session/end-seed`: what stands before it was read in, what follows is what this process does (a seed here is the
# history that was brought along, and has nothing to do with chance). `first_live_seq` points at it.

# %% resume-session
session = resume(JsonlStore("office"), "reminder")
print(session.id, len(log.events), session.first_live_seq)
print([event.type for event in session.events[session.first_live_seq:]])

# %% resume-predict [markdown] lang="zh"
# 每次请求的模型、系统提示和工具，记在 `request/header` 里，有变化才记。录制时记过一次，理由是 `initial`。
#
# **预测 1。** 续写时换一个模型再问一轮，系统提示和工具都和录制时一样。日志里一共有几个 `request/header`？如果模型也没换呢？
# （`guess` 填换了模型的数。）

# %% resume-predict [markdown] lang="en"
# The model, system prompt and tools of a request are recorded in a `request/header`, which is logged when they change. The
# recording logged one, for the reason `initial`.
#
# **Prediction 1.** Resume, take another model but the same prompt and tools, ask one more question: how many `request/header`
# events are in the log then? And with the same model? (`guess` is about the other model.)

# %% guess
guess = None

# %% resume-header
for model in ("scripted-1", "scripted-2"):
    session = resume(JsonlStore("office"), "reminder")
    tools = mail_tools(session, "office")
    ask(session, "Are you there?", Reply("Yes."), tools=tools, model=model)
    headers = [event for event in session.events if event.type == "request/header"]
    print(model, [event.data["reason"] for event in headers])
print(compare(guess, len(headers)))

# %% resume-why [markdown] lang="zh"
# 没换就不再记；换了，请求头不同，就记一个新的；上一个请求头在 `first_live_seq` 之前，所以理由是 `resume`。
# 以后查日志，就知道哪一轮用的是哪个模型。
#
# 到这里还没有写磁盘：要写，得 `attach`。在一份副本里做；写的时候，别人不能再续写同一个会话
# （`refusal(f, …)` 调用 `f(…)`，给出它拒绝时的错误名，没有拒绝就是空的）：

# %% resume-why [markdown] lang="en"
# The same model: nothing new. Another: the header differs, so a new one is logged; since the last one comes before
# `first_live_seq`, its reason is `resume`. Whoever reads the log later knows which model answered which turn.
#
# Nothing was written to the disk yet; that takes `attach`. In a copy of the folder, then. While one process writes, nobody else
# can resume the same session (`refusal(f, …)` calls `f(…)` and gives the name of the error with which it refuses, nothing when
# it does not):

# %% resume-attach
store = JsonlStore(copytree("office", fresh("desk")))
session = resume(store, "reminder")
writer = store.attach(session)
print(refusal(resume, store, "reminder"))
ask(session, "Are you there?", Reply("Yes."))
writer.close()

# %% resume-grown [markdown] lang="zh"
# 写完之后，文件还是那个文件：原来的每个字节都在，后面长出了一截。再续写一次，日志里就有了第二个 `end-seed`：

# %% resume-grown [markdown] lang="en"
# It is still the same file: every old byte is there, with more after them. Resume once more, and the log has a second
# `end-seed`:

# %% resume-file
before, after = (Path(f"{name}/reminder.jsonl").read_bytes() for name in ("office", "desk"))
print(after.startswith(before), len(after) > len(before))
again = resume(JsonlStore("desk"), "reminder")
print([event.seq for event in again.events if event.type == "session/end-seed"])

# %% fork [markdown] lang="zh"
# ## 分叉：抄一段开头，另起一个 id
#
# 想试试另一种问法，又不想弄乱原来的会话。`fork` 抄走到某个 seq 为止的事件，造一个**子会话**；原来的叫**父会话**。
# 从第 1 轮结束的地方分叉：

# %% fork [markdown] lang="en"
# ## Fork: a prefix, and an id of its own
#
# Somebody wants to try another question without disturbing the session. `fork` copies the events up to and including some seq
# into a **child**; the old session is its **parent**. From the end of turn 1:

# %% fork-child
parent = resume(JsonlStore("office"), "reminder")
end = next(event.seq for event in parent.events if event.type == "turn/end")
child = fork(parent, end, "what-if")
print({**child.header.to_json(), "createdAt": "…"})

# %% fork-header [markdown] lang="zh"
# 会话头记着出身：从谁来（`parentSession`），抄了几个事件（`seedLength`）。`delegationDepth`、`agentPreset`、`cwd`
# 沿用父会话的。抄来的那几个事件之后，照样是一个 `session/end-seed`。不给 id，就由父会话的 id 和抄走的事件数凑一个；
# 同一处分叉，凑出的 id 总是一样，所以要存两支，得自己起名字。让子会话问它自己的问题，
# 然后看看父会话和它的文件动了没有（后两个数是父、子会话的事件数）：

# %% fork-header [markdown] lang="en"
# The header says where it comes from (`parentSession`) and how many events were copied (`seedLength`). `delegationDepth`,
# `agentPreset` and `cwd` are the parent's. After the copied events comes a `session/end-seed` here as well. Give the child no
# id, and it gets one made of the parent's id and the number of copied events, the same each time: to store two forks of one
# place, name them. Let the child ask a question of its own, and see whether the parent or its file has changed (the two numbers
# are the events of parent and child):

# %% fork-lives
store = JsonlStore(copytree("office", fresh("family")))
child = fork(parent, end, "what-if")
writer = store.attach(child)
ask(child, "Please answer in English.", Reply("Gladly."))
writer.close()
print(sorted(header.id for header in store.list()), len(parent.events), len(child.events))
print(Path("family/reminder.jsonl").read_bytes() == before)

# %% fork-same [markdown] lang="zh"
# 父会话一个字节也没变，子会话有自己的文件。子会话派生出的消息，和父会话走到那个边界时的一样（定律一节会验证）；
# 从那以后各走各的。
#
# ## 轮次中间不能分叉
#
# 从第 2 轮的 `tool/call` 之后分叉，会怎样？

# %% fork-same [markdown] lang="en"
# Not a byte of the parent changed, and the child has a file of its own. It derives the messages that the parent derived when it
# stood at that boundary (the law below checks that); from there each goes its own way.
#
# ## Not inside a turn
#
# What about a fork after the `tool/call` of turn 2?

# %% break-it tags=["raises-exception"]
call = [event.seq for event in parent.events if event.type == "tool/call"][-1]
fork(parent, call)

# %% broken [markdown] lang="zh"
# 报错是说：这个事件在一轮的中间，分叉只取整轮；它还给出前面最近的合法边界。轮次之间的每个事件，比如标题、压缩、`end-seed`，
# 都是合法的边界：

# %% broken [markdown] lang="en"
# The error names the last legal boundary before it. Between turns every event is one: a title, a compaction, an `end-seed`:

# %% fork-legal
legal = lineage.boundaries(parent.events)
print(legal)
print([parent.events[seq].type for seq in legal])

# %% half [markdown] lang="zh"
# 硬抄一半会怎样？不用 `fork`，拿到 `tool/call` 为止的事件直接造一个会话。看看它的调用，再让它开始下一轮：

# %% half [markdown] lang="en"
# And if half a turn were copied all the same? Here a session is made of the events up to the `tool/call`, without `fork`. See
# its calls, and let it begin its next turn:

# %% half-copied
half = Session.create("half", seed=parent.events[:call + 1])
print(fold(tool_pairing, half.events)["calls"])
print(refusal(ask, half, "Go on.", Reply("Yes.")))

# %% think-fork [markdown] lang="zh"
# 那个调用等不到结果，下一轮也没法开始：这一轮还在进行。
#
# **教材的思考题 7（★★）：为什么不能从进行中的轮次中间分叉？** 想想刚才那个 `send_mail` 调用，要是真从它之后分叉：邮件由谁发，
# 结果写进谁的日志？
#
# <details><summary>参考答案</summary>
#
# 轮次是一件还没做完的事，有一个正在做它的进程。抄到一半，子会话里就有了没有结果的调用（硬抄的那一格里的 c2；下面滑块停
# 在 `tool/call` 的那张图也会说出来）：邮件由父会话发，结果只写进父会话的日志。子会话若照恢复的办法补一个“结局未知”，就是对一件
# 正常进行的事说了假话；若重新执行，就发出第二封。给模型的调用与结果要成对，轮次不能嵌套，半截的轮次还会让子会话的下一轮没法开
# 始（硬抄的那一格，`EventError`）。等这一轮结束，或者退回最近的边界，就都没有问题：分叉抄的是已经成为事实的东西。
#
# </details>
#
# ## 拖动边界
#
# 左边是父会话的日志，✓ 是合法的边界；右边是真的分叉出来的子会话：会话头，历史里写着而它没有的东西，它的表面。
#
# `compaction/start` 没等到 `compaction/end`，就像一把没打开的锁。
#
# **拖动滑块找一找：** 有一把锁，子会话会从历史里抄到，却没有人替它打开。在哪几个 seq 之后分叉会这样？
# 其中哪一处，表面已经换成了摘要？

# %% think-fork [markdown] lang="en"
# The call waits for a result that will never come, and no turn can begin while this one is open.
#
# **Question 7 of the chapter (★★): why may a fork not start in the middle of an open turn?** Think of that `send_mail` call,
# and of a fork right after it: who sends the mail, and whose log gets the result?
#
# <details><summary>An answer</summary>
#
# A turn is something that is still being done, by a process that does it. Copied halfway, it leaves the child with a call
# without a result: the parent sends the mail, and the result is in the parent's log alone (c2, in the cell that copies half
# a turn, and in the picture below when the slider is on `tool/call`). If the child closed it as recovery does, “outcome
# unknown” would be said of something that went quite normally; if it ran the call again, there would be a second mail. For the
# model, calls and results have to be paired; and with a turn left open the child could not begin its next one (the same cell,
# `EventError`). At the end of the turn, or back at the last boundary, there is no such trouble: a fork copies what has become a
# fact.
#
# </details>
#
# ## Move the boundary
#
# On the left the parent's log, ✓ marks the legal boundaries. On the right the child, really forked: its header, what the
# history mentions and the child does not have, and its surface.
#
# A `compaction/start` without its `compaction/end` is like a lock that nobody has opened.
#
# **Find it with the slider:** at some boundaries the child copies a lock that nobody will ever open. After which seqs? And at
# which of them does the surface hold the summary already?

# %% explorer
explorer = fork_explorer(parent, show_text=True)
explorer

# %% move
explorer.boundary.value = call
explorer.still

# %% moved [markdown] lang="zh"
# 上面这张图停在刚才被拒绝的地方：没有子会话，红线，以及最近的合法边界。
#
# <details><summary>答案：哪几个 seq</summary>
#
# 压缩开始和结束之间：`compaction/start`、`compaction/summary` 和替换的 `user/message` 之后。这三处都在轮次之间，合法；
# 可 `compaction/end` 没有抄到，锁就作废了。到替换的那一个，表面才换成摘要。作废的锁不挡路，下面会看到为什么。
#
# </details>
#
# ## 历史不是权限
#
# 父会话里，用户批准过发邮件，`approval/decided` 就在日志里，子会话全抄来了。现在运行子会话的循环只配了一个读表的工具，
# 而模型照着历史，又来调用 `send_mail`。
#
# **预测 2。** 这一轮会多出几封邮件？

# %% moved [markdown] lang="en"
# The picture above is at the place where the fork was refused: no child, a red line, and the last legal boundary.
#
# <details><summary>Answer: which seqs</summary>
#
# Between the beginning and the end of the compaction: after `compaction/start`, `compaction/summary` and the `user/message`
# that replaces. All three are between turns and legal, but `compaction/end` is not copied, and so the lock is stale. Only
# the third has the summary on its surface. A stale lock is no obstacle; you will see why below.
#
# </details>
#
# ## History gives no permission
#
# In the parent the user permitted a mail; the `approval/decided` is in the log, and the child copies all of it. The loop
# that runs the child is given one tool, which reads tables, and the model, going by the history, calls `send_mail` again.
#
# **Prediction 2.** How many more mails are there after this turn?

# %% guess-mails
guess_mails = None

# %% no-rights
heir, sent = fork(parent), mails("office")
ask(heir, "Once more, please.", Reply(calls=[mail_call("c9")]), Reply("I cannot."))
print(compare(guess_mails, mails("office") - sent))
result = [event for event in heir.events if event.type == "tool/result"][-1]
print(result.seq, result.data["error"])

# %% no-rights-where [markdown] lang="zh"
# 没有这个工具，就什么也不会运行。批准还在历史里，但只是历史：它的 seq 在 `seedLength` 之前。
# 子会话自己的请求头里，工具只有一个：

# %% no-rights-where [markdown] lang="en"
# There is no such tool, so nothing runs. The approval is still there, but as history: its seq is below `seedLength`. In the
# request header that the child logged for itself there is one tool:

# %% no-rights-history
for event in heir.events:
    if event.type == "approval/decided":
        print(event.seq, event.type, event.seq < heir.header.seed_length)
    if event.type == "request/header":
        tools = [tool["name"] for tool in event.data["header"]["tools"]]
        print(event.seq, event.type, event.seq < heir.header.seed_length, tools)

# %% no-rights-why [markdown] lang="zh"
# 批准是某人在某个时候，对某个会话的某件事说的。抄走这句话，不等于他又说了一遍。工具、权限、系统提示，
# 都按子会话自己的用途重新配好。
#
# ## 重放：只看，不做
#
# 先真的跑一轮，模型调用 `send_mail`，发件箱多出一封。然后把整份日志，连同这次发送，重放好几遍：

# %% no-rights-why [markdown] lang="en"
# A permission was given by somebody, at some time, for one thing in one session. To copy the words is not to say them again.
# Tools, permissions and prompt are set up anew, for the child's own purpose.
#
# ## Replay: look, do nothing
#
# First a turn for real: the model calls `send_mail`, and there is one more mail in the outbox. Then the whole log, with this
# very call in it, is replayed again and again:

# %% live-run
live = resume(JsonlStore(copytree("office", fresh("live"))), "reminder")
sent = mails("live")
ask(live, "Once more, please.", Reply(calls=[mail_call("c9")]), Reply("Sent."),
    tools=mail_tools(live, "live"))
print(mails("live") - sent)

# %% replayed
sent = mails("live")
again = [replay(live.events) for _ in range(5)][-1]
print(mails("live") - sent, len(again.events) - len(live.events))
print(list(again.derive_messages()) == list(live.derive_messages()))

# %% replay-why [markdown] lang="zh"
# 重放多出的那个事件是 `end-seed`，只在内存里。消息一条不差，发件箱一封不多：派生只读日志里的结果，不运行工具。
# 要它再往下跑一轮呢？

# %% replay-why [markdown] lang="en"
# The one more event is an `end-seed`, in memory only. The messages are the same and the outbox is as it was: deriving
# reads the results in the log, and runs no tool. And if it is asked to run one more
# turn?

# %% break-replay tags=["raises-exception"]
ask(again, "Go on.", Reply("Yes."))

# %% broken-replay [markdown] lang="zh"
# 报错是说：这是一次重放，不写任何存储，也不运行工具；要接着做就续写，要试别的就分叉。
#
# ## 定律
#
# 定律是对任何输入都成立的性质。**在每个合法的边界分叉：子会话抄到的和父会话那一段相同，派生出的消息也相同，
# 不违反任何不变量，父会话不变；别处一律拒绝。** 换许多随机的会话来试：

# %% broken-replay [markdown] lang="en"
# The error says what to do instead.
#
# ## The law
#
# A law holds for every input. **Forked at any legal boundary, the child has what the parent had there and derives the same
# messages, it breaks no invariant, and the parent does not change; anywhere else it is refused.** On many random sessions:

# %% law
logs = [random_log(seed) for seed in range(30)]
forks = [(fork(log, at), replay(log.events[:at + 1]))
         for log in logs for at in lineage.boundaries(log.events)]
print(len(forks), all(list(child.events) == list(past.events) for child, past in forks))

# %% law-same
print(all(list(child.derive_messages()) == list(past.derive_messages())
          for child, past in forks))
print(sum(len(check_invariants(child.events)) for child, past in forks))
print(all(list(log.events) == list(random_log(seed).events)
          for seed, log in enumerate(logs)))

# %% law-refused [markdown] lang="zh"
# 其余的 seq 有多少，是不是全都拒绝了？根本不是 seq 的呢？

# %% law-refused [markdown] lang="en"
# How many other seqs are there, and are all of them refused? And what is no seq at all?

# %% law-others
others = [(log, event.seq) for log in logs for event in log.events
          if event.seq not in lineage.boundaries(log.events)]
print(len(others), {refusal(fork, log, at) for log, at in others})
print([refusal(fork, parent, at) for at in (-1, 999, True, 22.0)])

# %% lock [markdown] lang="zh"
# ## 作废的锁
#
# `compaction/start` 是一把锁：它没有结束之前，不许开始第二次压缩。假如进程正好死在压缩中间，这把锁谁来开？
# 恢复不替它补 `compaction/end`（教材 §4.9.1）。先看进程死的那一刻有哪些锁
# （`live` 是还锁着的，`stale` 是作废的）：

# %% lock [markdown] lang="en"
# ## A stale lock
#
# A `compaction/start` is a lock: until it has ended, no second compaction may begin. If the process dies in the middle, who
# opens it? Recovery adds no `compaction/end` (§4.9.1). First, the locks at the moment when the process
# dies (`live` still holds, `stale` ones do not):

# %% lock-live
from labsupport.workbench.watermarks import play

start = next(event.seq for event in log.events if event.type == "compaction/start")
dying = Session.create("reminder")
play(log.events[:start + 1], dying)
print(lineage.compaction_locks(dying.events))

# %% lock-try [markdown] lang="zh"
# 这时再压缩一次，会被拒绝（打印的是错误码）：

# %% lock-try [markdown] lang="en"
# A second compaction is refused at this moment (the error code is printed):

# %% lock-busy
from labsupport.sessionlog.compaction import compact
from labsupport.sessionlog.summarizers import ScriptedSummarizer

def compact_turn_1(session):
    nodes = session.surface.nodes
    return compact(session, nodes[0], nodes[3], ScriptedSummarizer(["A count."]))

print(attempt(compact_turn_1, dying).error.code)

# %% lock-predict [markdown] lang="zh"
# **预测 3。** 另一个进程续写这份日志。锁还是 `"live"`，还是成了 `"stale"`？填字符串，例如 `guess_lock = "live"`。

# %% lock-predict [markdown] lang="en"
# **Prediction 3.** Another process resumes this log. Is the lock `"live"` or `"stale"` then? Fill in the word, such as
# `guess_lock = "live"`.

# %% guess-lock
guess_lock = None

# %% lock-stale
store = JsonlStore(fresh("died"))
store.create(log.header)
store.append("reminder", log.events[:start + 1])
locks = lineage.compaction_locks(resume(store, "reminder").events)
print(locks)
print(compare(guess_lock, "stale" if locks.live is None else "live"))

# %% lock-open [markdown] lang="zh"
# 现在压缩同样的几条消息（新的压缩从哪个事件到哪个事件，还有这时的锁）：

# %% lock-open [markdown] lang="en"
# Now the same messages are compacted (printed: the events at which the new compaction begins and ends, and the locks by then):

# %% lock-free
session = resume(store, "reminder")
done = compact_turn_1(session)
print(done.start_seq, done.end_seq, lineage.compaction_locks(session.events))

# %% lock-why [markdown] lang="zh"
# 作废的锁还留在日志里，但不挡路。
#
# `end-seed` 说：之前的事都是别的进程做的，那个进程不在了，它的锁也就没有主人了。日志没改一个字，意思变了。
# 光看时间分不出来：慢的压缩和死掉的压缩，都是过了很久还没结束。分叉的子会话，抄来的历史也以 `end-seed` 结尾，
# 所以抄来的锁在它那里总是作废的。
#
# ## 记忆不是旧会话
#
# 用户在第 1 轮说过“请用中文回答”，换一个会话也该记得。把旧会话整个搬过来？那会连邮件、批准、过时的数字一起搬来。
# **记忆**是挑出来的事实，放在它自己的库里；会话只是证据。只有用户自己说的话算数：

# %% lock-why [markdown] lang="en"
# The stale lock is still in the log, and in nobody's way.
#
# The `end-seed` says that everything before it was done by another process; that process is gone, and its lock has no owner.
# Not a letter of the log changed, and its meaning did. Time would not tell: a slow compaction looks like a dead one. In a child
# the copied history ends in an `end-seed` too, so a lock that it copied is always stale.
#
# ## Old sessions are not memory
#
# In turn 1 the user said “请用中文回答” (please answer in Chinese), and other sessions should know that. Bring the whole old
# session along? Then its mail, its approval and its outdated figures come with it. **Memory** is facts that were chosen, in a
# store of their own; a session is only evidence. Only what the user said counts:

# %% memory-extract
fact, = extract("reminder", user_said(parent))
print(fact)

# %% memory-entry [markdown] lang="zh"
# 整个会话只留下一条事实，附有证据：哪个会话，哪个 seq。存的时候说明是谁的、谁可以读
# （这里是 ana 的，夜班可以读）。没有许可的人问它，得到的回答和问一条不存在的一样：

# %% memory-entry [markdown] lang="en"
# Of the whole session one fact is left, with its evidence: which session, which seq. Whoever stores it says whose it is and who
# may read it (here it is ana's, and the night shift may). Anybody else is told the same as if it did not exist:

# %% memory-permission
memory = remembered(fact, readers=("night shift",))
entry = memory.read("language", "night shift", owner="ana")
print(entry.value, entry.version, entry.evidence)
for key in ("language", "diagnosis"):
    print(key, refusal(memory.read, key, "guest", "ana"))

# %% memory-conflict [markdown] lang="zh"
# 前面的子会话里，用户说“Please answer in English.”。两条事实冲突，记忆不替人选，要有人看过再改；旧值和各自的证据都还查得到。
# 注意 `user_said` 只把子会话自己的部分交给 `extract`：抄来的那句“请用中文回答”不能当成第二个证据。

# %% memory-conflict [markdown] lang="en"
# In the child above the user said “Please answer in English.” Two facts in conflict: memory does not choose, somebody has to
# look and update; the old value and both pieces of evidence can still be found. `user_said` hands `extract` the child's own
# part only: the sentence that it copied from its parent is no second witness.

# %% memory-update
later, = extract("what-if", user_said(child))
memory = remembered(fact)
print(refusal(memory.remember, later, "ana"))
memory.update(later, "ana", expected_version=1)
for version in memory.history("language", "ana"):
    print(version.version, version.value, version.evidence)

# %% memory-forget [markdown] lang="zh"
# 删除会话和忘记，是两件事。`delete` 删掉会话的日志，还列出它够不到的地方：磁盘上还没被覆盖的块、分叉出去的子会话、备份、
# 记忆、外面的世界。记忆还在：

# %% memory-forget [markdown] lang="en"
# Deleting a session and forgetting are two things. `delete` takes the session's log away and lists what it cannot reach: blocks
# of the disk that are not overwritten yet, the children that were forked from it, backups, memory, the world outside. The
# memory is still there:

# %% memory-delete-session
memory = remembered(fact)
store = JsonlStore(copytree("family", fresh("deleted")))
print([(place.kind, place.which) for place in store.delete("reminder").unreached])
print([header.id for header in store.list()], memory.read("language", "ana").value)

# %% memory-forget-too [markdown] lang="zh"
# 反过来，删掉记忆，会话里那句话还在；但把同一条事实再提取一次、再存一次，也不会让记忆复活：

# %% memory-forget-too [markdown] lang="en"
# The other way round: forget the entry, and the sentence is still in the session, but to extract the fact and offer it once
# more does not bring the entry back:

# %% memory-forgotten
memory = remembered(fact)
memory.forget("language", "ana")
print("请用中文回答".encode() in Path("office/reminder.jsonl").read_bytes())
same, = extract("reminder", user_said(parent))
print(memory.remember(same, "ana"), refusal(memory.read, "language", "ana"))

# %% memory-session [markdown] lang="zh"
# 要两边一起删，就得两边都说：`delete` 删会话，`forget_session` 让记忆不再依据这个会话，只靠它的条目也就没有了
# （`kept` 是另有证据、留下来的；`erased` 说旧的字节也擦掉了）：

# %% memory-session [markdown] lang="en"
# To delete both, say so to both: `delete` for the session, and `forget_session`, after which no entry rests on that session any
# more; one that had no other evidence is gone (`kept` has those that had some; `erased` says that the old bytes are gone too):

# %% memory-both
memory, store = remembered(fact), JsonlStore(copytree("office", fresh("both")))
print(store.delete("reminder").removed)
print(memory.forget_session("reminder"))

# %% four [markdown] lang="zh"
# ## 四个词，并排
#
# 每一行都真的做一遍。前三行拿同一份会话再跑一轮，让模型调用 `send_mail`（运行子会话的循环没有这个工具）；
# 记忆没有会话，只提取一次：

# %% four [markdown] lang="en"
# ## The four, side by side
#
# Each row is really carried out. In the first three the same session runs one more turn, in which the model calls `send_mail`
# (the child is run without such a tool); memory has no session, and facts are extracted once:

# %% four-words
four_words()

# %% exercise [markdown] lang="zh"
# ## 练习：找出合法的边界
#
# `boundaries(events)` 收到一份日志的全部事件，返回一个列表：在哪些 seq 之后可以分叉。没有进行中的轮次的地方就可以。
# 日志可能是空的，可能停在一轮的中间，轮次之前、之间、之后都可能有别的事件。
#
# <details><summary>提示</summary>
#
# 从头走到尾，记住现在有没有进行中的轮次：`turn/start` 打开一轮，`turn/end` 关上它，别的事件都不改变它。每走过一个事件，问一次。
#
# </details>

# %% exercise [markdown] lang="en"
# ## Exercise: find the legal boundaries
#
# `boundaries(events)` gets all events of a log and returns a list: the seqs after which a fork may begin, which is wherever no
# turn is open. A log may be empty, it may stop inside a turn, and there may be other events before, between and after turns.
#
# <details><summary>Hint</summary>
#
# Walk through the events and keep in mind whether a turn is open: `turn/start` opens it, `turn/end` closes it, nothing else
# changes that. Ask at every event.
#
# </details>

# %% boundaries
def boundaries(events):
    ### BEGIN SOLUTION
    legal, inside = [], False
    for event in events:
        if event.type == "turn/start":
            inside = True
        if event.type == "turn/end":
            inside = False
        if not inside:
            legal.append(event.seq)
    return legal
    ### END SOLUTION

# %% boundaries-check points=2
verdict = check_boundaries(boundaries)
print(verdict)
### BEGIN HIDDEN TESTS
assert verdict.correct, verdict
### END HIDDEN TESTS

# %% answer [markdown] lang="zh"
# <details><summary>答案</summary>
#
# ```python
# def boundaries(events):
#     legal, inside = [], False
#     for event in events:
#         if event.type == "turn/start":
#             inside = True
#         if event.type == "turn/end":
#             inside = False
#         if not inside:
#             legal.append(event.seq)
#     return legal
# ```
#
# 数调用不够：没有调用在等，轮次也可能还在进行。步骤的结束也不够。`turn/end` 不问理由，被中断的一轮，恢复之后也是结束了的。
#
# </details>
#
# ## 思考题
#
# **1.** 有人提议：给 `replay` 加一个开关，打开它就把工具真的再跑一遍，“好看看结果变了没有”。行不行？
#
# <details><summary>参考答案</summary>
#
# 那就不是重放了。重放的用处，正在于谁都可以放心地看：调试、审计、测试，放多少遍，发件箱都不变（重放的那一格）。
# 有了开关，就总有一天有人忘了关。要看结果变了没有，分叉一份，只配只读的工具（历史不是权限的那一格），
# 结果写进子会话自己的日志，原来的日志还是证据。
#
# </details>
#
# **2.** 为什么不干脆把所有旧会话都给模型看，当作记忆？
#
# <details><summary>参考答案</summary>
#
# 一，太长，多半是过程。二，互相矛盾：两份会话里，语言一次是中文，一次是英文，没有谁来裁决（冲突的那一格）。
# 三，旧会话里有批准和别人的数据，抄过来就越过了许可（许可的那一格）。四，忘不掉：每份会话里都还有那句话，要删就得全删
# （忘记的那一格）。记忆有主人、版本和许可，可以改，可以忘；会话只用来证明它是从哪里来的。
#
# </details>

# %% answer [markdown] lang="en"
# <details><summary>Answer</summary>
#
# ```python
# def boundaries(events):
#     legal, inside = [], False
#     for event in events:
#         if event.type == "turn/start":
#             inside = True
#         if event.type == "turn/end":
#             inside = False
#         if not inside:
#             legal.append(event.seq)
#     return legal
# ```
#
# Counting calls is not enough: no call may be waiting and the turn still be open. Nor is the end of a step. A `turn/end` counts
# whatever its reason; a turn that was interrupted has ended, too, once recovery has closed it.
#
# </details>
#
# ## Questions to think about
#
# **1.** Somebody proposes a switch for `replay`: with it on, the tools really run again, “to see whether the results changed”.
# Should it be built?
#
# <details><summary>An answer</summary>
#
# It would not be a replay any more. A replay is good for debugging, audits and tests because anybody may run it, any number of
# times, and the outbox stays as it is (the cell that replays). With a switch, somebody will one day forget to turn
# it off. To see whether results changed, fork, and give the child tools that only read (the cell where history gives no
# permission): the new results stand in the child's log, and the old log is still evidence.
#
# </details>
#
# **2.** Why not simply show all old sessions to the model, and call that memory?
#
# <details><summary>An answer</summary>
#
# They are long, and mostly about how things were done. They contradict each other: Chinese in one, English in another, and
# nobody decides (the cell with the conflict). They hold approvals and other people's data, which would be copied past every
# permission (the cell with the guest). And they cannot forget: the sentence is in each of them, and all would have to go (the
# cells about forgetting). A memory has an owner, versions and readers, and can be changed and forgotten; a session only proves
# where an entry came from.
#
# </details>

# %% recap [markdown] lang="zh"
# ## 小结
#
# - 续写：同一个 id，整份日志，接着写；`end-seed` 分开过去和现在，也让死去的进程留下的锁作废。
# - 分叉：一段整轮的开头，新的 id，父会话不变；抄走历史，不抄走权限。
# - 重放：什么都看得到，什么也不做。
# - 记忆：挑出来的事实，有证据、许可和版本，能忘；会话只是证据。

# %% recap [markdown] lang="en"
# ## Recap
#
# - Resume: the same id, the whole log, written on. The `end-seed` parts past from present; a dead process's lock is stale.
# - Fork: a prefix of whole turns, a new id, the parent untouched. It copies history, not permissions.
# - Replay: sees everything, does nothing.
# - Memory: chosen facts with evidence, readers and versions, which can be forgotten. A session is only evidence.
