# %% question [markdown] lang="zh"
# # 持久化
#
# 50 分钟。`append` 返回了，事件在日志里，界面上也看得到。**它保存了吗？** 进程现在死掉，重启之后还剩多少？
# 什么时候必须等它写到磁盘上，什么时候可以不等？
#
# 学完你能：
#
# - **区分**追加与落盘（写到磁盘上，断电也在），说出每种落盘策略会丢多少，又为此付出多少代价
# - **找出**五个必须先落盘的地方，用最少的次数守住它们
# - **比较** JSONL 与 SQLite：同一份约定，不同的长处；并说清哪些日志该拒绝，哪些事件可以跳过

# %% question [markdown] lang="en"
# # Durability
#
# 50 minutes. `append` has returned, the event is in the log and on the screen. **Is it saved?** If the process dies now, what
# is left after a restart? When does a program have to wait for the disk, and when need it not?
#
# Afterwards you can:
#
# - **tell** appended from durable (on the disk, and there after a power cut), and say of a flush policy what it can lose and
#   what it costs
# - **find** the five places that need a flush, and keep them with as few flushes as possible
# - **compare** JSONL and SQLite under one contract, and say which logs to refuse and which events may be passed over

# %% imports
from contextlib import closing
from pathlib import Path

from labsupport.sessionlog import Session, turn_status
from labsupport.sessionlog.projections import ProjectionRegistry
from labsupport.sessionlog.storage import JsonlStore, Writer, flush, on_flush
from labsupport.workbench.checks.b7 import check_place_flushes
from labsupport.workbench.checks.base import attempt, compare, refusal
from labsupport.workbench.explorers.b7 import flush_explorer
from labsupport.workbench.flush_kills import FLUSHED, PLAYED, kill_at, looks
from labsupport.workbench.flush_kills import new_process_finds, random_deaths
from labsupport.workbench.flush_places import PROMISES, SmallDisk, random_run
from labsupport.workbench.flush_runs import ID, new_session, play, run_under
from labsupport.workbench.scratch import fresh, scratch

# %% look [markdown] lang="zh"
# ## 追加了，看得到
#
# 一个会话，两轮：先数检验次数，再给王医生发一封提醒。存储只在有人要求时才落盘（策略 `on_flush`）。录完之后，会话里有
# 多少事件？

# %% look [markdown] lang="en"
# ## Appended, and there to see
#
# A session of two turns: count the tests, then send a reminder. Its store writes only when it is told to (the policy
# `on_flush`). How many events does the session have when all is recorded?

# %% appended
scratch()
session = new_session()
with closing(JsonlStore(fresh("run")).attach(session, on_flush)):
    play(session)
    print(len(session.events), session.events[-1].type)

# %% predict [markdown] lang="zh"
# 现在同样录一遍，但在另一个进程里：所有事件都追加完，还没有人调用 `flush`，这时把它杀死。
#
# **预测 1。** 新的进程打开这份日志，读得到多少个事件？

# %% predict [markdown] lang="en"
# Now the same in a process of its own. When it has appended everything, and before anybody calls `flush`, it is killed.
#
# **Prediction 1.** How many events does a new process find in this log?

# %% guess
guess = None

# %% kill-before
from labsupport.workbench.flush_tables import death_table

death = kill_at("on_flush", PLAYED)
print(compare(guess, death.found))
death_table([death, kill_at("on_flush", FLUSHED)])

# %% kill-why [markdown] lang="zh"
# 追加只是放进内存里的列表。第一次杀死时，磁盘上连文件都没有（后面交接那一格的 `FileNotFoundError` 看得到）；第二次只多了一件
# 事：`flush` 已经返回。**返回**了才有保证：开始写了、写到一半，都没有。
#
# ## 落盘也会失败
#
# 磁盘满了会怎样？这里用一块小磁盘，放不下这么多事件。`Writer` 就是存储接在会话上的写入者，`waiting` 是还没落盘的事件数：

# %% kill-why [markdown] lang="en"
# Appending puts an event in a list in memory. At the first kill there was not even a file (`FileNotFoundError`, in the cell
# about the handover below); at the second one thing was different: `flush` had returned. Only a flush that has **returned**
# promises anything; one that is writing does not yet.
#
# ## A flush can fail
#
# What if the disk is full? Here is one that is too small for so many events. A `Writer` is what a store attaches to a session;
# `waiting` counts the events that are not durable yet:

# %% small-disk
session, disk = new_session(), SmallDisk(room=10)
writer = Writer(session, 0, on_flush, disk.write, release=lambda: None)
play(session)
print(writer.waiting)

# %% break-it tags=["raises-exception"]
flush(session)

# %% failed [markdown] lang="zh"
# 报错的意思是：磁盘上没有空间了。`append` 一次也没有报错，只有 `flush` 说出来。没写成的事件一个也没丢，还在等。
# 这次写入要么全成，要么全不写，所以放得下的那几个也没有写，磁盘上一个也没有：

# %% failed [markdown] lang="en"
# No `append` complained; `flush` is where you hear of it. What could not be written is not lost, it waits. This write takes
# all events or none, so there is none on the disk, although some would have fitted:

# %% still-waiting
print(writer.waiting, len(disk.events))

# %% room [markdown] lang="zh"
# 有了空间，再试一次就行。（会话从来没有接上存储，`flush` 就什么也不做；存储接上过又关了，后来还有新的事件，它就报错。）

# %% room [markdown] lang="en"
# With room, the next try takes all of them. (If no store was ever attached, `flush` does nothing; if the last one was closed
# and events came since, it raises.)

# %% retry
disk.room = 1000
flush(session)
print(writer.waiting, len(disk.events))

# %% law [markdown] lang="zh"
# ## 定律
#
# 策略决定什么时候自动落盘。默认的 `on_barriers` 在每次模型请求之前、每个工具运行之前落盘，这样的一次落盘叫**屏障**（B4）。
# 六种策略各杀死一个真的进程，时刻由种子来挑（seq 从 0 数起，所以追加了几个，总比最后的 seq 多一）：

# %% law [markdown] lang="en"
# ## The law
#
# A policy says when to flush without being asked. The default, `on_barriers`, flushes before each model request and before each
# tool runs; such a flush is called a **barrier** (B4). One real process killed under each of the six policies, at moments that
# a seed picks (seqs count from 0, so the number of events is one more than the last seq):

# %% deaths
death_table(random_deaths(seed=5, count=6))

# %% law-words [markdown] lang="zh"
# **无论什么策略、死在什么时刻：读到的总是已追加事件的一段开头，而且不少于最后一次返回的落盘所保证的。**
# 定律是对任何输入都成立的性质。随机的会话，六种策略，在每一个时刻看一眼磁盘（那一刻磁盘上有什么，杀死之后就剩什么）：

# %% law-words [markdown] lang="en"
# **Under any policy and at any moment: what is found is a prefix of what was appended, and at least what the last returned
# flush covered.** A law holds for every input. So: random sessions, six policies, and a look at the disk at every moment
# (what lies there is what a kill would leave):

# %% law-holds
looked = [look for seed in range(10) for look in looks(seed)]
print(len(looked), all(look.holds for look in looked))

# %% law-counts [markdown] lang="zh"
# 这个检查用上了吗？丢了事件的时刻，以及读到的比保证的还多的时刻（写到一半时杀死，写完整的行也算数，残尾切掉）：

# %% law-counts [markdown] lang="en"
# Was there anything to check? Moments at which events are lost, and moments at which more is found than was promised (of a
# write cut in half the whole lines count, and the torn tail is cut off):

# %% law-counted
print(sum(look.found < look.appended for look in looked),
      sum(look.found > look.covered for look in looked))

# %% power [markdown] lang="zh"
# 杀死进程不等于断电。写进系统缓存、还没同步到磁盘的字节，进程死了还在，断电就没了。存储先 `fsync` 再返回，所以“不少于”那
# 一半对断电也成立。这里没有演示断电，练习册的测试里模拟过。
#
# ## 丢失窗口与代价
#
# 每行一种策略：竖线是一次已返回的落盘，实的部分已落盘，斜纹是杀死时丢掉的。**丢失窗口**：两次落盘之间
# 追加、还没落盘的那一段；它最长的时候有多长，最坏就丢多少。
# 进程在追加之后立刻被杀死，这次追加触发的落盘还没返回；滑块上的 ▸ 晚半步：落盘已经返回，工具正在运行。
# 毫秒要在你自己的磁盘上测：选一种存储，按“测量”；测得的数不存进笔记本。
#
# **拖动滑块找一找：** 按时钟（“每 0.2 秒”）落盘比“每次请求和工具之前”更频繁。它会不会丢得更多？找一个这样的位置，再运行下一格。

# %% power [markdown] lang="en"
# A kill is not a power cut. Bytes that the system has but has not synced survive the process, and not the power. The store
# calls `fsync` before it returns, so “at least” holds for both. A power cut is not shown here; it is tried in the workbook's
# tests.
#
# ## Loss window and cost
#
# One row a policy: a tick is a flush that returned, the solid part is durable, the hatched part is lost at the kill. The **loss
# window** is what was appended since the last flush; its greatest length is the worst loss. The kill comes right after an
# append, before a flush that it triggers has returned; at ▸ on the slider it comes half a step later, when that flush
# has returned and the tool runs. Milliseconds are measured on your own disk: choose a store and press Measure; they are not
# saved with the notebook.
#
# **Find it with the slider:** flushing by the clock (“every 0.2 s”) is more frequent than “before requests and tools”. Can it
# lose more all the same? Find such a place, then run the next cell.

# %% explorer
explorer = flush_explorer()
explorer

# %% move
by_clock, by_barriers = run_under("every_ms"), run_under("on_barriers")
worse = [place for place in range(len(by_clock.events))
         if by_clock.lost(place) > by_barriers.lost(place)]
explorer.policy.value = "every_ms"
explorer.killed.value = max(worse, key=by_clock.lost)
explorer.still

# %% moved [markdown] lang="zh"
# <details><summary>答案：更频繁，也会丢得更多</summary>
#
# 会。时钟不知道会话走到哪里：有时连着落几次，有时大半个步骤都不落一次。屏障落在别人要依靠日志的地方，次数更少，最坏也
# 丢得更少。所以在第二张图里，按时钟的那一点是空心的：有一种策略两项都比它好。
#
# </details>
#
# 再看 ▸：工具在那里运行。把滑块放在它上面，哪些策略丢了正在运行的那个工具的 `tool/call`？两个 ▸ 都试试，答案不同。
#
# <details><summary>答案：哪些策略</summary>
#
# 第一个 ▸：“每步结束”“每轮结束”“每 0.2 秒”“只在 flush 和关闭时”都丢了。第二个 ▸：按时钟的那次碰巧刚落过盘，没有丢；其余三个
# 照样丢。重启之后，丢了的那些日志，要么不知道有过这个调用，要么说它“未开始”（B4）。
#
# </details>

# %% moved [markdown] lang="en"
# <details><summary>Answer: more often, and yet more lost</summary>
#
# It can. The clock does not know what the session is doing: it may flush again and again, and then not for most of a
# step. Barriers stand where others rely on the log; there are fewer of them, and at worst less is lost. In the second chart
# the dot of the clock is hollow: another policy is better in both.
#
# </details>
#
# Now ▸: there a tool runs. Put the slider on it: which policies have lost the `tool/call` of a tool that is running? Try both
# ▸, the answers differ.
#
# <details><summary>Answer: which policies</summary>
#
# At the first ▸: end of step, end of turn, the clock, and only flush and close. At the second the clock was lucky and had just
# flushed; the other three lose it again. After a restart the logs that lost it know of no such call, or say that it was “not
# started” (lab B4).
#
# </details>

# %% places [markdown] lang="zh"
# ## 五个必须先落盘的地方
#
# 策略管平时。有五个地方不能靠运气，教材 §4.8.1 要求先等 `flush` 返回：
#
# 1. **告诉用户“已经记下”之前。** 第一次杀死的那一格：会话里什么都有，磁盘上什么都没有。
# 2. **交给别的进程或节点之前。** 接手的人只有磁盘（`refusal(f, …)` 调用 `f(…)`，给出它拒绝时的错误名，没有拒绝就是空的）：

# %% places [markdown] lang="en"
# ## Five places that need a flush
#
# A policy is for every day. Five places must not depend on luck; there (§4.8.1 of the chapter) you wait until `flush`
# returns:
#
# 1. **Before a user is told that something was recorded.** The first kill: the session had everything, the disk nothing.
# 2. **Before another process or node takes over.** All that it has is the disk (`refusal(f, …)` calls `f(…)` and gives the
#    name of the error with which it refuses, nothing when it does not):

# %% hand-over
session = new_session()
with closing(JsonlStore(fresh("run")).attach(session, on_flush)):
    play(session)
    print(refusal(JsonlStore("run").load, ID))
    flush(session)
    print(refusal(JsonlStore("run").load, ID))
print(len(JsonlStore("run").load(ID).events))

# %% handed [markdown] lang="zh"
# 先是什么也没有；落了盘，可前一个写入者还在，所以不让接手；它关闭之后，接手的人读到全部。
#
# 3. **手动压缩之后，后面的请求要靠它。** 压缩把消息换成摘要，`compact` 自己会落盘。这里故意拿掉这一步，内存和磁盘就成了
# 两段不同的历史（模型看到的消息数：内存里，磁盘上；最后一个数是落盘之后磁盘上的）：

# %% handed [markdown] lang="en"
# First there is nothing. Then it is on the disk, but the previous writer is still there, so nobody may take over. Once it has
# closed, the new one reads everything.
#
# 3. **After a manual compaction that later requests rely on.** It puts a summary in the place of messages, and `compact`
# flushes by itself. Take that away, and memory and disk become two different histories (messages that the model sees: in
# memory, on the disk; the last number is on the disk after a flush):

# %% compaction
from labsupport.sessionlog import fold_surface
from labsupport.sessionlog.compaction import compact
from labsupport.sessionlog.summarizers import ScriptedSummarizer

session, summary = new_session(), ScriptedSummarizer(["A count, and a reminder."])
with closing(JsonlStore(fresh("run")).attach(session, on_flush)):
    play(session)
    flush(session)
    nodes = session.surface.nodes
    compact(session, nodes[0], nodes[-1], summary, flush=lambda session: None)
    print(len(session.derive_messages()), len(fold_surface(new_process_finds("run")).nodes))
    flush(session)
    print(len(fold_surface(new_process_finds("run")).nodes))

# %% compacted [markdown] lang="zh"
# 4. **关闭，或者发布检查点的时候。** 检查点说“截至 seq n”。磁盘上的日志还没到 n，它说的就是哪份日志里都没有的事
# （检查点的水位线、磁盘上最后一个 seq）。存储因此不收，落了盘才收：

# %% compacted [markdown] lang="en"
# 4. **When closing, or publishing a checkpoint.** A checkpoint says “as of seq n”. If the log on the disk ends before n, it
# tells of things that are in no log (the watermark of the checkpoint, the last seq on the disk). So the store refuses it, and
# takes it after a flush:

# %% checkpoint
session, store = new_session(), JsonlStore(fresh("run"))
with closing(store.attach(session)):
    play(session)
    rows = ProjectionRegistry([turn_status]).checkpoint(session)
    print(rows["turn_status"]["seq"], new_process_finds("run")[-1].seq)
    early = refusal(store.save_checkpoint, session, rows)
    flush(session)
    print([early, refusal(store.save_checkpoint, session, rows)])

# %% exercise [markdown] lang="zh"
# 5. **声称“重启还读得到”的测试里。** 不落盘，它测的只是内存；所以上面两格用 `new_process_finds` 来看，它只读磁盘。
#
# ## 练习：把落盘放在哪里
#
# 把一次会话的经过写成一串名字，叫一次运行（run）：事件（`"user/message"`、`"tool/call"` …）和承诺。五种承诺在 `PROMISES`
# 里，就是上面的五个地方：

# %% exercise [markdown] lang="en"
# 5. **In a test that claims “a restart can read it”.** Without a flush it tests memory. So the two cells above ask
# `new_process_finds`, which reads nothing but the disk.
#
# ## Exercise: place the flush barriers
#
# A run is what happens in a session, written as a list of names: events (`"user/message"`, `"tool/call"` …) and promises. The
# five promises are in `PROMISES`; they are the five places above:

# %% promises
print(PROMISES)
print(random_run(seed=8))

# %% exercise-words [markdown] lang="zh"
# `place_flushes(run)` 返回一个列表：要在哪些位置**之前**落盘（位置从 0 数起）。每个承诺之前追加的事件，到那时都要在磁盘上；
# 落盘的次数要最少。
#
# <details><summary>提示</summary>
#
# 从头走到尾，记住一件事：有没有追加了还没落盘的事件。遇到承诺，有就落盘，没有就不必。
#
# </details>

# %% exercise-words [markdown] lang="en"
# `place_flushes(run)` returns a list: the places **in front of** which to flush (they count from 0). Whatever was appended
# before a promise has to be durable by then, with as few flushes as possible.
#
# <details><summary>Hint</summary>
#
# Walk from start to end and remember one thing: was anything appended that is not flushed yet? At a promise, flush if so; if
# not, there is nothing to do.
#
# </details>

# %% place-flushes
def place_flushes(run):
    ### BEGIN SOLUTION
    flushes, waiting = [], False
    for place, entry in enumerate(run):
        if entry not in PROMISES:
            waiting = True
        elif waiting:
            flushes.append(place)
            waiting = False
    return flushes
    ### END SOLUTION

# %% place-flushes-check points=2
verdict = check_place_flushes(place_flushes)
print(verdict)
### BEGIN HIDDEN TESTS
assert verdict.correct, verdict
### END HIDDEN TESTS

# %% answer [markdown] lang="zh"
# <details><summary>答案</summary>
#
# ```python
# def place_flushes(run):
#     flushes, waiting = [], False
#     for place, entry in enumerate(run):
#         if entry not in PROMISES:
#             waiting = True
#         elif waiting:
#             flushes.append(place)
#             waiting = False
#     return flushes
# ```
#
# 在承诺的前一刻落盘，一次就带上之前的全部事件。再早，后面追加的还得再落一次；再晚，话已经说出去了。
#
# </details>

# %% answer [markdown] lang="en"
# <details><summary>Answer</summary>
#
# ```python
# def place_flushes(run):
#     flushes, waiting = [], False
#     for place, entry in enumerate(run):
#         if entry not in PROMISES:
#             waiting = True
#         elif waiting:
#             flushes.append(place)
#             waiting = False
#     return flushes
# ```
#
# A flush right before the promise takes everything along that came before. Earlier, and what is appended after it needs
# another one; later, and somebody relies on the log already.
#
# </details>

# %% stores [markdown] lang="zh"
# ## 两种存储，一份约定
#
# `JsonlStore` 每个会话一个文件，`SqliteStore` 所有会话一个数据库。约定相同：存储的 `append(id, events)` 返回时已落盘（会话
# 的 `append` 只放进内存）；`load` 会修复；一个会话只许有一个写入者。教材 §4.8.2 列出六点来比较，下面每一格都是当场试
# 出来的：

# %% stores [markdown] lang="en"
# ## Two stores, one contract
#
# `JsonlStore` keeps one file per session, `SqliteStore` one database for all. They promise the same: durable when the store's
# `append(id, events)` returns (the session's `append` stays in memory), repaired by `load`, one writer per session.
# §4.8.2 of the chapter compares them on six points; each cell below was tried just now:

# %% stores-tried
from labsupport.workbench.store_trials import store_table

store_table()

# %% stores-why [markdown] lang="zh"
# 没有哪个全赢。要用文本工具看、要原样保留别人的字节、要坏一个文件只损失一个会话，用 JSONL。要跨会话查询、要事务，用 SQLite；
# 但刚写的在旁边的 WAL 文件里，备份不能只复制数据库那一个文件，一处损坏可能拖累所有会话。
# 两种存储各要多少毫秒？回到上面的图，换一种存储再测。
#
# ## 版本
#
# 更新的版本写的日志，和更旧的版本写的，都没有损坏，都要拒绝，但下一步不同。“旧格式”是这里编的：`data` 那时叫 `payload`。

# %% stores-why [markdown] lang="en"
# Neither wins everywhere. JSONL when you want to read it with a text tool, keep foreign bytes as they are, and lose one
# session at most to a damaged file. SQLite when you want transactions and queries over all sessions; but what was just written
# lies in the WAL file beside it, so the database file alone is no backup, and damage in one place can take all sessions along.
# How many milliseconds do they need? Choose the other store in the picture above, and measure again.
#
# ## Versions
#
# A log that a newer version wrote is not damaged, nor is one of an older version. Both are refused, with different next
# steps. The old format is made up here: what is now `data` was called `payload`.

# %% versions
from labsupport.workbench import log_samples

new = log_samples.path("two_step").read_bytes()
old = new.replace(b'"version":0', b'"version":-1', 1).replace(b'"data":', b'"payload":')
for name, log in (("old", old), ("newer", new.replace(b'"version":0', b'"version":9', 1))):
    Path(fresh(name)).mkdir()
    Path(name, "two_step.jsonl").write_bytes(log)
    print(attempt(JsonlStore(name).load, "two_step").error)

# %% upgrade [markdown] lang="zh"
# 两条报错都说日志完好。旧的：没有通到这里的升级途径，要用两个版本都认识的程序来升级。新的：换更新的程序来打开。
# 升级靠登记好的升级函数（`UpgradeStep`：从哪个版本起，头部、记录各怎么改；`header=dict` 是照抄头部）：纯函数，
# 一条记录一条记录地改，写进一个新文件，旧文件不动；中间缺一个就拒绝：

# %% upgrade [markdown] lang="en"
# Both messages say that the log is whole. The newer one: open it with a newer program. The older one needs registered steps
# (an `UpgradeStep` says which version it begins with, and has a pure function each for the header and for a record;
# `header=dict` copies the header). The result is a new file and the old one stays; if a step is missing, the upgrade is
# refused:

# %% upgraded
from labsupport.sessionlog.storage import UpgradeChain, UpgradeStep

def to_data(record):
    return {key.replace("payload", "data"): value for key, value in record.items()}

Path(fresh("new")).mkdir()
chain = UpgradeChain([UpgradeStep(-1, header=dict, record=to_data)])
print(chain.upgrade("old/two_step.jsonl", "new/two_step.jsonl").header.version)
print(JsonlStore("new").load("two_step").events == log_samples.load("two_step").events)
print(Path("old/two_step.jsonl").read_bytes() == old)
print(refusal(UpgradeChain().upgrade, "old/two_step.jsonl", "again"))

# %% unknown [markdown] lang="zh"
# ## 不认识的事件
#
# 版本对，可日志里有一种没人登记过的事件。一份没有标记，一份标了 `ignorable`：

# %% unknown [markdown] lang="en"
# ## Events that nobody knows
#
# The version is right, and yet there is an event of a type that nobody registered. One log does not mark it, the other says
# `ignorable`:

# %% unknown-events
print([refusal(log_samples.load, name) for name in ("unknown_event", "ignorable_event")])

# %% ignorable [markdown] lang="zh"
# 可以跳过，不等于可以丢掉。复制到 SQLite，再复制回 JSONL，它还在吗？
#
# **预测 2。** 两次复制之后，有几个事件的字段或 `data` 的文本变了？（只比事件，不比文件里的行。）

# %% ignorable [markdown] lang="en"
# That it may be passed over does not mean that it may be thrown away. Copy the log into SQLite and back: is it still there?
#
# **Prediction 2.** After both copies, how many events differ, in a field or in the text of their `data`? (Events are compared,
# not the lines of the file.)

# %% guess-changed
guess_changed = None

# %% round-trip
from labsupport.sessionlog.storage import SqliteStore

log = log_samples.load("ignorable_event")
with closing(SqliteStore(Path(fresh("copy"), "sessions.db"))) as sqlite:
    sqlite.create(log.header)
    sqlite.append(log.header.id, log.events)
    copied = sqlite.load(log.header.id)
back = JsonlStore(fresh("back"))
back.create(copied.header)
back.append(copied.header.id, copied.events)
events = back.load(log.header.id).events
changed = [event for event, other in zip(log.events, events, strict=True) if event != other]
print(compare(guess_changed, len(changed)))

# %% passed-over [markdown] lang="zh"
# 一个也没有：事件的 `data` 以 JSON 文本保存，谁也没有把它解开再拼一次。行的写法可以变（上面那张表：SQLite 不保留整行）。
# 那个不认识的事件呢？看它还在不在，再看有它和没有它，派生出的消息一不一样：

# %% passed-over [markdown] lang="en"
# None: the `data` of an event is kept as JSON text, and nobody takes it apart to put it together again. How a line is written
# may change (the table above: SQLite does not keep the line). And the event that nobody knows? See whether it is there, and
# whether the messages that are derived with it and without it are the same:

# %% passed-over-same
print(events[-1].type, events[-1].ignorable)
whole, without = (Session.create("copy", seed=part) for part in (events, events[:-1]))
print(list(whole.derive_messages()) == list(without.derive_messages()))

# %% think [markdown] lang="zh"
# 它还在，派生时谁也没看它。
#
# ## 思考题
#
# **教材的思考题 5（★★）：哪些操作必须等落盘，哪些可以晚一点？**
#
# <details><summary>参考答案</summary>
#
# 看别人会不会依靠它。有副作用的工具运行之前要等，B4 演示了那道屏障；这里补上其余几处：告诉用户之前（第一次杀死的那一格：
# 追加了，磁盘上什么也没有）；交接之前（`FileNotFoundError` 的那一格）；手动压缩之后（内存和磁盘上的消息数不同）；
# 发布检查点之前（`save_checkpoint` 拒绝的那一格）；声称重启还读得到的测试（`new_process_finds`）。工具之前不等，
# 重启后的日志就不知道有它（滑块放在第一个 ▸ 上，看“每 0.2 秒”那一行），或者把它说成“未开始”（B4 拿掉屏障的那一格）。
# 可以晚的：流式的碎片、步骤的边界、标题和统计。丢了它们，没有哪句承诺落空；在图里，它们就是两次落盘之间的斜纹。
#
# </details>
#
# **教材的思考题 8（★★★）：日志里有不认识的事件，什么时候可以跳过，什么时候必须拒绝加载？**
#
# <details><summary>参考答案</summary>
#
# 写它的人说了算，读它的人不猜。没有标记的必须拒绝：它可能改变后面事件的读法，跳过它，派生出的历史就可能是错的，还看不出来
# （`UnknownEventError` 的那一格）。标了 `ignorable` 的，不认识它的程序可以跳过，它在那里不参与派生（有它没它，消息一样的那一
# 格）；但要留着，复制时 `data` 的文本一个字节也不动，行的写法可以变（来回复制的那一格），因为认识它的程序还要读。拒绝不是损
# 坏：日志完好，装上写它的插件，或者换更新的版本（版本的那一格）。
#
# </details>

# %% think [markdown] lang="en"
# It is there, and nothing that is derived looks at it.
#
# ## Questions to think about
#
# **Question 5 of the chapter (★★): which operations must wait for a flush, and which may be written later?**
#
# <details><summary>An answer</summary>
#
# Ask whether anybody relies on it. Before a tool with an effect the log has to be durable; B4 showed that barrier, and these
# are the other places: before a user is told (the first kill: appended, and nothing on the disk); before a handover (the cell
# with `FileNotFoundError`); after a manual compaction (memory and disk had different numbers of messages); before a checkpoint
# is published (the cell where `save_checkpoint` refuses); in a test that claims a restart can read it (`new_process_finds`).
# Without the one before a tool, the log knows nothing of it after a restart (put the slider on the first ▸ and look at “every
# 0.2 s”), or says that it was not started (B4, without the barrier). Chunks of a stream, ends of steps, titles and statistics
# may come later: if they are lost, no promise is broken. In the picture they are the hatched part between two flushes.
#
# </details>
#
# **Question 8 of the chapter (★★★): a log has an event of a type that is not known. When may it be skipped, and when must the
# load be refused?**
#
# <details><summary>An answer</summary>
#
# The writer says so; the reader does not guess. Without the mark the load is refused: the event may change how later ones are
# read, and a history derived without it may be wrong with nothing to show for it (the cell with `UnknownEventError`). Marked
# `ignorable`, it may be passed over by a program that does not know it; for that program it takes no part in anything (the cell
# with and without it). It is kept all the same, and in every copy the text of its `data` stays byte for byte, while its line
# may be written differently (the round trip), because a program that knows it will read it. Refused does not mean damaged: the
# log is whole, and wants the plug-in that wrote it, or a newer version (the cell with versions).
#
# </details>

# %% recap [markdown] lang="zh"
# ## 小结
#
# - 追加不是保存。落盘返回了才算；失败的落盘会说出来，事件还在等。
# - 读到的总是一段开头，不少于最后一次返回的落盘所保证的。落盘放在哪里，比落几次更要紧。
# - JSONL 和 SQLite 守同一份约定，长处不同；版本不对和不认识的事件都不是损坏，标了 `ignorable` 的跳过，但留着。

# %% recap [markdown] lang="en"
# ## Recap
#
# - Appended is not saved. A flush counts when it has returned; one that fails says so, and the events wait.
# - What is found is a prefix, and at least what the last returned flush covered. Where a flush stands matters more than how
#   many there are.
# - JSONL and SQLite keep one contract, with different strengths. A foreign version or an unknown event is no damage; what is
#   marked `ignorable` is passed over, and kept.
