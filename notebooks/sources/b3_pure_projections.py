# %% question [markdown] lang="zh"
# # 纯投影
#
# 60 分钟。界面想知道这一轮跑完没有，监控想知道哪个调用失败了，计费想知道用了多少时间。
# **同一份日志，还能给出别的视图吗？** 能，只要每个视图都由事件算出来，别的什么也不看。
#
# 学完你能：
#
# - **写出**两个投影：轮次状态和工具配对，重放（从头再算一遍）多少次都一样
# - **解释**为什么同一个对象就是没有变化、为什么投影不能等待、为什么缓存要带版本
# - **判断**一个视图算到了哪条事件，它的缓存还能不能用

# %% question [markdown] lang="en"
# # Pure projections
#
# 60 minutes. The screen wants to know whether the turn is over, monitoring which call failed, accounting how much time it took.
# **Can the same log give other views?** It can, as long as each view is computed from the events and from nothing else.
#
# Afterwards you can:
#
# - **write** two projections, turn status and tool pairing, that come out the same however often they are replayed (computed
#   again from the first event)
# - **explain** why the same object means no change, why a projection must not wait, and why a cache has a version
# - **judge** which event a view is up to, and whether its cache can still be used

# %% imports
from collections import Counter
from time import perf_counter_ns

from labsupport.sessionlog import ProjectionRegistry, Session, Unit
from labsupport.sessionlog import fold, tool_pairing, turn_status
from labsupport.sessionlog.folding import check_pure
from labsupport.workbench.checks.b3 import check_pairing, check_turn_status
from labsupport.workbench.checks.base import compare
from labsupport.workbench.explorers.b3 import UNITS, watermark_explorer
from labsupport.workbench.log_samples import load
from labsupport.workbench.projection_tables import waiting_table
from labsupport.workbench.random_logs import random_log
from labsupport.workbench.watermarks import UnitViews, live_equals_scratch, play

# %% look [markdown] lang="zh"
# ## 先看数据
#
# 示例日志 `tool_raises`：第一个调用出了错，模型改正以后再调用一次。事件的个数，和这份日志的两个视图：

# %% look [markdown] lang="en"
# ## Look at the data first
#
# In the sample log `tool_raises` the first call fails; the model corrects it and calls again. The number of events, and two
# views of this log:

# %% views
events = load("tool_raises").events
print(len(events))
print(fold(turn_status, events))
print(fold(tool_pairing, events))

# %% step-by-step [markdown] lang="zh"
# 没有谁保存过这两个视图，它们是刚刚从事件算出来的。算法只有三个函数：`init()` 给出最初的状态；`apply(state, event)`
# 由旧状态和一个事件给出新状态；`view(state)` 由状态给出让人看的样子。这样的东西叫**投影**（projection），
# 在 labsupport 里是一个 `Unit`，也叫单元（和 A2 的单元只是同名）。`fold` 从 `init()` 起，把事件一个一个交给 `apply`。
# 亲手走一遍，看工具配对的状态怎样变：

# %% step-by-step [markdown] lang="en"
# Nobody had stored these two views; they were computed from the events just now. Three functions do it: `init()` gives the
# first state; `apply(state, event)` makes a new state from the old one and an event; `view(state)` turns a state into what
# others see. That is a **projection**, in labsupport a `Unit`, which has only its name in common with the units of A2. `fold`
# begins with `init()` and hands the events to `apply`, one by one. Do it by hand, and watch the state of tool pairing:

# %% by-hand
state = tool_pairing.init()
for event in events:
    if event.type in tool_pairing.event_types:
        state = tool_pairing.apply(state, event)
        print(event.seq, event.type, [call["status"] for call in state["calls"].values()])

# %% by-hand-why [markdown] lang="zh"
# 一个单元只读 `event_types` 里的类型，别的事件直接跳过。即使是它读的，也可能什么也没变，例如最后那条没有调用的助手消息。
#
# ## 有变化才通知
#
# 会话正在进行时，没有人愿意每来一个事件就把整份日志再算一遍。`ProjectionRegistry`（注册表）跟着一个会话，
# 每追加一个事件就往前算一步；哪个视图变了，就通知监听者。
#
# **预测 1。** 把这份日志一个事件一个事件地重新追加，监听者会收到几次 `tool_pairing` 的通知？数一数上面的输出。

# %% by-hand-why [markdown] lang="en"
# A unit reads the types in its `event_types`; other events are passed over. Even an event that it reads may change nothing,
# such as the last message of the assistant, which has no calls.
#
# ## Told only of changes
#
# While a session is live nobody wants to compute the whole log again for every event. A `ProjectionRegistry` follows a session,
# goes one step further with every append, and tells listeners which view has changed.
#
# **Prediction 1.** The events of this log are appended again, one by one. How many times are listeners told about
# `tool_pairing`? Count in what was printed above.

# %% guess
guess = None

# %% feed
registry, told = ProjectionRegistry([turn_status, tool_pairing]), []
registry.on_changed(told.append)
session = Session.create("live")
registry.follow(session)
play(events, session)
print(compare(guess, Counter(change.key for change in told)["tool_pairing"]))

# %% feed-why [markdown] lang="zh"
# 没引来通知的是开头的 `turn/start`（本来就没有调用可清空）和最后的助手消息。
#
# 注册表怎样知道变没变？它不比较内容，那样每次都要把两个状态从头看到尾。约定很简单：**返回同一个对象，就是没有变化**
# （数字和字符串则看相不相等）。下面的单元每次都返回一份新的副本，内容分毫不差。`UnitViews` 跟着一份日志走，
# 记下哪些事件引来了通知；两个单元各有几次？

# %% feed-why [markdown] lang="en"
# Two events told nobody: the `turn/start` at the beginning, which had no calls to clear, and the last message of the assistant.
#
# How does the registry know? It does not compare contents, which would mean reading two states from end to end each time. The
# agreement is simple: **the same object means no change** (of numbers and strings: an equal one). The next unit returns a fresh
# copy each time, with the very same contents. `UnitViews` follows a log and notes which events listeners
# were told about. How many are there for each of the two units?

# %% careless
def copies(state, event):
    return dict(tool_pairing.apply(state, event))

careless = Unit("copies", tool_pairing.event_types, tool_pairing.init, copies)
print(len(UnitViews([tool_pairing], events).changes["tool_pairing"]))
print(len(UnitViews([careless], events).changes["copies"]))

# %% careless-why [markdown] lang="zh"
# 多出来的通知没有带来任何新内容，可每一次都会让界面重画、让客户端再收一份数据。
#
# ## 定律
#
# **一边追加一边算，等于从头算；在哪个事件停下来比，都一样。** 定律是对任何输入都成立的性质，一个例子证明不了什么，
# 所以换许多份随机日志，每追加一个事件，就把随库带的四个单元（`UNITS`）各比一次：

# %% careless-why [markdown] lang="en"
# The extra notices carry no news, and still each one redraws a screen and sends a client the data again.
#
# ## The law
#
# **Following a session live gives the same as folding from scratch, at whatever event you stop to compare.** A law holds for
# every input, so one example proves little: take many random logs, and compare the four units in `UNITS`, which come with the
# library, after every append.

# %% law
logs = [random_log(seed).events for seed in range(40)]
same = [ok for log in logs for ok in live_equals_scratch(UNITS, log)]
print(len(same), all(same))

# %% law-counts [markdown] lang="zh"
# 比了这么多次，视图真的变过吗？对一个视图来说，一个事件可能让它变了（`changed`），可能读了却没变（`same`），
# 可能根本不读（`passed`）。各有多少：

# %% law-counts [markdown] lang="en"
# With so many comparisons, did the views ever change? An event may change a view (`changed`), be read without changing it
# (`same`), or not be read at all (`passed`). How many of each:

# %% law-counted
views = [UnitViews(UNITS, log) for log in logs]
found = Counter(one.at(unit.key, event.seq)
                for one in views for unit in UNITS for event in one.events)
print(dict(sorted(found.items())))

# %% async [markdown] lang="zh"
# ## 弄坏它：在 `apply` 里等别人
#
# 想在视图里加上每个工具的价格，价格在另一个系统里。最顺手的写法是在 `apply` 里去问：

# %% async [markdown] lang="en"
# ## Break it: wait inside `apply`
#
# Suppose the view should show what each tool costs, and prices are kept by another system. The handy way is to ask it in
# `apply`:

# %% break-it tags=["raises-exception"]
async def ask_price(state, event):
    return state  # after it has awaited the answer

ProjectionRegistry([Unit("price", frozenset({"tool/call"}), dict, ask_price)])

# %% async-why [markdown] lang="zh"
# 报错是说：这个函数是异步的；它等待的时候，别的单元会往前走，几个视图就不再是同一条**水位线**上的了（水位线：算到了哪个
# `seq`）。要用的东西请在外面取好，记成事件，再从事件里读。
#
# 如果不拒绝呢？不用注册表，手工维护两个视图：步骤的视图立刻算；调用的视图每次先问别人，等有了回音再算（这里的回音总是晚两个
# 事件才到）。
# 每记下一个事件，就有人同时读这两个视图（截至 -1：一个事件也还没算）：

# %% async-why [markdown] lang="en"
# The `seq` up to which a view was computed is its **watermark**; as the error says, one that waits falls behind the others.
#
# And if it were not refused? Here two views are kept by hand, without a registry. The one of steps is computed at once; the one
# of calls asks somebody first and goes on when it has the answer (here an answer takes two events to come). After every event
# somebody reads both (as of -1: no event yet):

# %% waiting
shown = ["assistant/message", "tool/call", "tool/result", "step/start", "step/end"]
waiting_table(events[:20], shown)

# %% waiting-why [markdown] lang="zh"
# `step/end` 那一行：步骤已经结束，调用却还在运行。日志里从来没有过这样的时刻，每个调用都在步骤结束之前有了结果。
# 两个视图各自都没错，只是水位线不同（两个“截至”列），拼在一起就成了不存在的时刻。
#
# ## 快照带着水位线
#
# `snapshot` 一次给出全部视图，还有它们共同的水位线 `as_of_seq`。客户端在中途要了一份，会话继续。
# 打印出来的是两份快照的水位线、轮次状态、成功和失败的调用数，最后一行是相差几个事件：

# %% waiting-why [markdown] lang="en"
# Look at the row of `step/end`: no step is open, and a call is still running. There was never such a moment, since every call
# gets its result before its step ends. Neither view is wrong, but their watermarks differ (the two columns “as of”), and
# together they show a moment that never was.
#
# ## A snapshot carries its watermark
#
# `snapshot` gives all views at once, and their common watermark `as_of_seq`. A client takes one halfway, and the session goes
# on. For each snapshot you see the watermark, the status of the turn, and how many calls succeeded and failed; the last line
# is how many events lie between them:

# %% client
session, registry = Session.create("live"), ProjectionRegistry([turn_status, tool_pairing])
play(events[:20], session)
client = registry.snapshot(session)
play(events[20:], session)
server = registry.snapshot(session)

# %% client-behind
for seen in (client, server):
    status, pairing = seen.values["turn_status"], seen.values["tool_pairing"]
    print(seen.as_of_seq, status["status"], pairing["succeeded"], pairing["failed"])
print(server.as_of_seq - client.as_of_seq)

# %% client-why [markdown] lang="zh"
# 客户端手里的快照不会自己变，它没有错，只是旧了。因为它带着水位线，客户端知道自己落后多少个事件，可以再要一份；
# 没有水位线，界面和模型各说各话，谁也不知道该信谁（教材 §4.14 的第二行）。
#
# ## 只看状态和事件
#
# 下面两个都不纯：一个看了时钟，一个在收到的状态上直接改。`check_pure` 把每个事件对同样的状态施加两次，看答案一不一样、
# 状态有没有被动过：

# %% client-why [markdown] lang="en"
# The client's snapshot does not change by itself. It is not wrong, it is old, and because it carries its watermark the client
# knows by how many events and can ask again. Without one, screen and model disagree and nobody knows whom to believe (second
# row of the chapter's §4.14).
#
# ## State and event, nothing else
#
# Two that are not pure: one reads a clock, one changes the state that it was given. `check_pure` applies every event twice to
# the same state, and sees whether the answers agree and whether the state was touched:

# %% impure
def clock(state, event):
    return {**state, event.data["callId"]: perf_counter_ns()}

def in_place(state, event):
    state["calls"] = state.get("calls", 0) + 1
    return state

# %% impure-found
for apply in (clock, in_place):
    print(check_pure(Unit("calls", frozenset({"tool/call"}), dict, apply), events)[0])

# %% impure-effect [markdown] lang="zh"
# 第一个：对同样的状态施加两次，给出两个答案。第二个：改动了收到的状态。改动状态有什么后果？先要一份快照，让日志往前走，
# 再要一份。打印通知的次数、后一份快照里的视图、从头算的视图：

# %% impure-effect [markdown] lang="en"
# And what comes of changing the state in place? Take a snapshot, let the log run, take another. You see how many times
# somebody was told, the view in the second snapshot, and the view from scratch:

# %% impure-live
counts = Unit("calls", frozenset({"tool/call"}), dict, in_place)
registry, told, session = ProjectionRegistry([counts]), [], Session.create("live")
registry.on_changed(told.append)
registry.snapshot(session)
play(events, session)
print(len(told), registry.snapshot(session).values["calls"], fold(counts, events))

# %% outside [markdown] lang="zh"
# 返回的还是同一个对象，所以谁也不知道它变了：没有通知，快照还是旧的，和重放的结果对不上。
#
# 那价格怎么办？在外面取好，记成一个事件，投影从事件里读。此后无论何时重放，价格都是当时的那个。`ignorable=True` 是说，
# 不认识 `lab/price` 的程序可以跳过它（B7）；这个单元认识：

# %% outside [markdown] lang="en"
# It returns the same object, so nobody learns that it changed: no notice is sent, the snapshot is old, and a replay disagrees.
#
# And the price? Fetch it outside, log it as an event, and read it from there. Whenever the log is replayed, the price is
# what it was then. `ignorable=True` lets a program that does not know `lab/price` pass it over (B7); this unit knows it:

# %% price
session = Session.create("priced")
session.append("lab/price", {"tool": "compare_years", "price": 3}, ignorable=True)
price = Unit("price", frozenset({"lab/price"}), lambda: None,
             lambda state, event: event.data["price"])
print(fold(price, session.events), check_pure(price, session.events))

# %% cache [markdown] lang="zh"
# ## 缓存和版本
#
# 会话列表要显示每个会话有几个工具结果，总不能每次都读完整份日志。于是把状态存下来：`checkpoint` 给出每个单元的**检查点**，
# 一行里有版本、水位线和状态。在长日志 `long` 的中途存一次：

# %% cache [markdown] lang="en"
# ## Caches and versions
#
# A list of sessions shows how many tool results each has, and should not read whole logs for that. So the state is stored:
# `checkpoint` gives a row for each unit, with version, watermark and state. In the middle of the log `long`:

# %% cache-made
long = load("long").events
first = Unit("results", frozenset({"tool/result"}), lambda: 0,
             lambda state, event: state + 1)
session = Session.create("long")
play(long[:600], session)
rows = ProjectionRegistry([first]).checkpoint(session)
print(rows)

# %% cache-used [markdown] lang="zh"
# `restore` 从检查点接着算，只用补上后面的事件。打印它的答案、从头算的、用上了哪些行（`reused`）：

# %% cache-used [markdown] lang="en"
# `restore` goes on from it and needs only the events after it. What it says, what folding from scratch says, and which rows
# were used (`reused`):

# %% cache-restored
restored = ProjectionRegistry([first]).restore(rows, long)
print(restored.values["results"], fold(first, long), restored.reused)

# %% failed-only [markdown] lang="zh"
# 后来有人改了主意：列表只要**失败**的结果。他改了 `apply`，别的没动：

# %% failed-only [markdown] lang="en"
# Later somebody decides that the list should count **failed** results only, changes `apply`, and leaves the rest as it was:

# %% failed-apply
def count_failed(state, event):
    block = event.data["message"]["content"][0]
    return state + 1 if block.get("isError") else state

changed = Unit("results", first.event_types, first.init, count_failed)
print(fold(changed, long), fold(changed, long[600:]))

# %% failed-guess [markdown] lang="zh"
# 上面是从头算的个数，和检查点之后的个数。**预测 2。** 缓存里还是旧的那一行，`restore` 会说有几个失败的结果？

# %% failed-guess [markdown] lang="en"
# These are the number from scratch, and the number after the checkpoint. **Prediction 2.** The old row is still in the cache.
# How many failed results will `restore` report?

# %% guess-stale
guess_stale = None

# %% stale
stale = ProjectionRegistry([changed]).restore(rows, long)
print(compare(guess_stale, stale.values["results"]), stale.reused)

# %% stale-why [markdown] lang="zh"
# 检查点之前按旧规则数，之后按新规则数，加起来的数毫无意义，而且没有报错：从状态本身看不出它是哪个 `apply` 算的。
# 能看出来的只有版本。改了 `apply` 的结果，就把 `state_version` 加一：

# %% stale-why [markdown] lang="en"
# Up to the checkpoint the old rule counted, after it the new one: the sum means nothing, and there was no error, for a state
# does not show which `apply` made it. Only a version can. When what `apply` computes has changed, raise `state_version`:

# %% raised
raised = Unit("results", first.event_types, first.init, count_failed, state_version=1)
fresh = ProjectionRegistry([raised]).restore(rows, long)
print(fresh.values["results"], fresh.reused, *fresh.refolded.values(), sep="\n")

# %% shrunk [markdown] lang="zh"
# 这下对了：这一行没有被用上，整份日志重新算过，`refolded` 说了原因：这一行是另一个版本做的。
#
# 还有一种缓存也不能用：它算到的地方，日志已经没有了。比如日志是从备份恢复的，只剩前面一段：

# %% shrunk [markdown] lang="en"
# Now it is right: the row was not used, the whole log was folded, and `refolded` says why.
#
# Nor can a cache be used that is ahead of its log. Say the log was restored from a backup, and only its first part is left:

# %% shrunk-whole
short = long[:300]
again = ProjectionRegistry([first]).restore(rows, short)
print(again.values["results"], fold(first, short), *again.refolded.values(), sep="\n")

# %% floor [markdown] lang="zh"
# 原因里的两个数：这一行算到的事件，日志最后的事件。如果不读整份日志，只读检查点之后的那段，还发现得了吗？
# `restore_floor` 说该从哪里读起：

# %% floor [markdown] lang="en"
# Would that be noticed by somebody who reads only the part after the checkpoint? `restore_floor` says where to begin reading:

# %% floor-break tags=["raises-exception"]
floor = ProjectionRegistry([first]).restore_floor(rows)
print(floor)
ProjectionRegistry([first]).restore(rows, short[floor:], floor)

# %% floor-why [markdown] lang="zh"
# 报错是说：这一行算到了起点上的那个事件，可给的这一段里一个事件也没有（`restore` 看不到别的，就当日志在起点的前一个事件结束）；
# 要从头重新算，而给的事件不是从头开始的，所以请读整份日志。
# 起点比第一个新事件早一个，就为了这个：日志要是完好，至少读得到检查点的那个事件；什么也读不到，就是它变短了。
#
# `restore` 看得出日志变短，却看不出它变短以后又长成了另一个样子：一行里只有一个 `seq`。变短的日志又记了许多别的事件，旧的那一行
# 还对得上吗？还是打印那三样：

# %% floor-why [markdown] lang="en"
# From the row's own event on, there is nothing. (`restore` sees only the part that it is given; an empty part counts as ending
# one event before its beginning.) To begin again takes the whole log, so it asks for that. This is why reading begins one event
# before the first new one: a sound log gives back at least the event of the checkpoint, and when nothing comes, the log is
# shorter than it was.
#
# `restore` sees that a log is shorter. It cannot see that a log was cut and has grown again differently, for a row has only a
# `seq`. The shorter log gets many other events; does the old row still fit? The same three values:

# %% regrown
session = Session.create("regrown")
play(short, session)
for number in range(len(long) - len(short)):
    session.append("session/title", {"title": f"Draft {number}"})
regrown = ProjectionRegistry([first]).restore(rows, session.events)
print(regrown.values["results"], fold(first, session.events), regrown.reused)

# %% regrown-why [markdown] lang="zh"
# 答案错了，没有报错。这一点单靠 `restore` 查不出来，要靠存储：它在每一行旁边记下那个事件的指纹（digest），`read_checkpoint`
# 发现事件不是原来那个，就不给这一行。
#
# ## 动手：一条水位线，四个视图
#
# 左边是日志，右边是四个视图：这个事件之前的值、之后的值，以及事件对它起了什么作用。日志是 `replaced`，里面有两次替换；
# `surface_tokens` 估计表面要花多少 token。
#
# **拖动滑块找一找：** 表面的 token 在哪两个事件变少？其中一个，`tool_pairing` 也读了，它变了吗？先自己拖，再运行下一格。

# %% regrown-why [markdown] lang="en"
# A wrong answer, and no error. `restore` alone cannot find that out; a store can. It keeps a digest of that event beside each
# row, and when the event is another one, `read_checkpoint` does not hand the row out.
#
# ## Your turn: one watermark, four views
#
# On the left the log; on the right four views, each before this event and as of it, and what the event was to it. The log is
# `replaced`, with two replacements; `surface_tokens` estimates what the surface costs in tokens.
#
# **Find it with the slider:** at which two events does the surface get cheaper? `tool_pairing` reads one of them as well: does
# that change it? Move it yourself before you run the next cell.

# %% explorer
replaced = load("replaced").events
explorer = watermark_explorer(replaced, show_text=True)
explorer

# %% move
explorer.seq.value = 34
explorer.still

# %% moved [markdown] lang="zh"
# 对照你找到的：每一次变少在哪个事件，前后各是多少，`tool_pairing` 怎样：

# %% moved [markdown] lang="en"
# Compare with what you found: where it drops, from how much to how much, and what the event was to `tool_pairing`:

# %% moved-drops
views = UnitViews(UNITS, replaced)
cost = [views.fields("surface_tokens", seq)["tokens"] for seq in range(len(replaced))]
for seq in range(1, len(replaced)):
    if cost[seq] < cost[seq - 1]:
        print(seq, cost[seq - 1], cost[seq], views.at("tool_pairing", seq))

# %% exercise-status [markdown] lang="zh"
# 改写一个结果，不等于工具又回答了一次：配对读了这个事件，返回的还是同一个对象。（被改写的是上一轮的结果，那个调用这时已经
# 不在 `calls` 里。）
#
# ## 练习一：轮次状态
#
# 教材的实验三：自己写这两个投影。第一个，轮次状态。最初的状态是
# `{"turn": None, "step": None, "steps": 0, "status": "none"}`，你只会收到四种事件：
#
# - `turn/start`：`turn` 是新的一轮，还没有步骤（`steps` 回到零），`status` 是 `"running"`
# - `step/start`：`step` 是进行中的步骤，`steps` 加一
# - `step/end`：没有进行中的步骤了
# - `turn/end`：也没有进行中的步骤了，`status` 是这一轮为什么结束
#
# 返回新的状态，不要改动收到的那一个。检查拿你的函数和 labsupport 的比，每个事件比一次，从只有一个事件的日志比到随机日志，
# 一有不同就停下来告诉你。事件与事件之间，状态都存成 JSON 再读回来，就像每次都从缓存接着算。
#
# <details><summary>提示</summary>
#
# `{**state, "step": None}` 是一份新的字典，只有 `step` 不同。编号在 `event.data["turn"]` 和 `event.data["step"]` 里，
# 结束的原因在 `event.data["reason"]["kind"]` 里。
#
# </details>

# %% exercise-status [markdown] lang="en"
# To rewrite a result is not to answer once more: the pairing reads that event and returns the same object. (The result is one
# of the turn before; its call is no longer in `calls`.)
#
# ## Exercise 1: turn status
#
# The chapter's third experiment is to write these two projections yourself. First, turn status. Its first state is
# `{"turn": None, "step": None, "steps": 0, "status": "none"}`, and you are given events of four types:
#
# - `turn/start`: `turn` is the new one, without any step yet (`steps` is zero again), `status` is `"running"`
# - `step/start`: `step` is the one that is open, and `steps` goes up by one
# - `step/end`: no step is open
# - `turn/end`: no step is open either, and `status` says why the turn ended
#
# Return a new state and leave the one that you get as it is. The check compares your function with labsupport's after every
# event, from a log of one event up to random ones, and stops at the first difference. Between two events the state goes
# through JSON, as if each time the replay went on from a cache.
#
# <details><summary>Hint</summary>
#
# `{**state, "step": None}` is a new dict in which only `step` differs. The numbers are `event.data["turn"]` and
# `event.data["step"]`, the reason is `event.data["reason"]["kind"]`.
#
# </details>

# %% turn-status
def my_turn_status(state, event):
    ### BEGIN SOLUTION
    data = event.data
    if event.type == "turn/start":
        return {"turn": data["turn"], "step": None, "steps": 0, "status": "running"}
    if event.type == "step/start":
        return {**state, "step": data["step"], "steps": state["steps"] + 1}
    if event.type == "step/end":
        return {**state, "step": None}
    return {**state, "step": None, "status": data["reason"]["kind"]}
    ### END SOLUTION

# %% turn-status-check points=1
verdict = check_turn_status(my_turn_status)
print(verdict)
### BEGIN HIDDEN TESTS
assert verdict.correct, verdict
### END HIDDEN TESTS

# %% answer-status [markdown] lang="zh"
# <details><summary>答案</summary>
#
# ```python
# def my_turn_status(state, event):
#     data = event.data
#     if event.type == "turn/start":
#         return {"turn": data["turn"], "step": None, "steps": 0, "status": "running"}
#     if event.type == "step/start":
#         return {**state, "step": data["step"], "steps": state["steps"] + 1}
#     if event.type == "step/end":
#         return {**state, "step": None}
#     return {**state, "step": None, "status": data["reason"]["kind"]}
# ```
#
# 合乎不变量的日志里，`turn/end` 之前步骤都结束了；可投影不检查日志，漏了 `step/end` 也不该让步骤一直开着，所以 `turn/end`
# 自己把它放下。`steps` 直接用 `data["step"]` 也对：合乎不变量的日志里，每一轮的步骤从 1 编起，一个不跳。
#
# </details>
#
# ## 练习二：工具配对
#
# 最初的状态是 `{"calls": {}, "succeeded": 0, "failed": 0, "unknown": 0}`。`calls` 是这一轮的调用，由 id 到状态：
#
# - `turn/start`：清空 `calls`，三个计数接着累加
# - `assistant/message`：里面每个 `tool-call` 块都是 `"requested"`，键是块的 `id`
# - `tool/call`：`"started"`，键是 `data["callId"]`
# - `tool/result`：`"succeeded"`、`"failed"` 或 `"unknown"`，相应的计数加一
#
# 小心四件事：失败没失败，看结果块里的 `isError`，不看有没有 `error`；结局未知不是失败，看 `error` 里的错误码；
# 已经有结局的调用，结果再来一次是改写，不再计数，已经不在 `calls` 里的调用也一样；什么也没变，就返回 `state` 本身。
#
# <details><summary>提示</summary>
#
# 结果属于哪个调用：`data["message"]["source"]["callId"]`。失败没有：`data["message"]["content"][0].get("isError")`。
# 错误码：`data.get("error", {}).get("code")`，结局未知是 `"TOOL_OUTCOME_UNKNOWN"`。
# 先问 `calls.get(call_id)` 是不是 `"requested"` 或 `"started"`，不是就不用往下看了。
#
# </details>

# %% answer-status [markdown] lang="en"
# <details><summary>Answer</summary>
#
# ```python
# def my_turn_status(state, event):
#     data = event.data
#     if event.type == "turn/start":
#         return {"turn": data["turn"], "step": None, "steps": 0, "status": "running"}
#     if event.type == "step/start":
#         return {**state, "step": data["step"], "steps": state["steps"] + 1}
#     if event.type == "step/end":
#         return {**state, "step": None}
#     return {**state, "step": None, "status": data["reason"]["kind"]}
# ```
#
# Where the invariants hold, every step has ended before its `turn/end`. A projection does not check the log, though, and a
# missing `step/end` should not leave a step open for good, so `turn/end` closes it as well. To take `data["step"]` for `steps`
# is right, too: where the invariants hold, the steps of a turn are numbered from 1 without a gap.
#
# </details>
#
# ## Exercise 2: tool pairing
#
# The first state is `{"calls": {}, "succeeded": 0, "failed": 0, "unknown": 0}`. `calls` has the calls of this turn, from id to
# status:
#
# - `turn/start`: `calls` is empty, the three counts go on
# - `assistant/message`: each `tool-call` block in it is `"requested"`, under the block's `id`
# - `tool/call`: `"started"`, under `data["callId"]`
# - `tool/result`: `"succeeded"`, `"failed"` or `"unknown"`, and that count goes up by one
#
# Mind four things. Whether a call failed is said by `isError` in the block of the result, not by the presence of an `error`. An
# unknown outcome is no failure: read the code in `error`. When a call has its outcome, or is
# no longer in `calls`, another result is a rewrite and does not count. And when nothing changes, return the `state` itself.
#
# <details><summary>Hint</summary>
#
# The call of a result is `data["message"]["source"]["callId"]`, whether it failed
# `data["message"]["content"][0].get("isError")`, its code `data.get("error", {}).get("code")`, which is
# `"TOOL_OUTCOME_UNKNOWN"` for an unknown outcome. Ask first whether `calls.get(call_id)` is `"requested"` or `"started"`; if it
# is neither, you are done.
#
# </details>

# %% pair-tools
def my_pairing(state, event):
    ### BEGIN SOLUTION
    data, calls = event.data, state["calls"]
    if event.type == "turn/start":
        return {**state, "calls": {}} if calls else state
    if event.type == "assistant/message":
        content = data["message"]["content"]
        asked = {block["id"]: "requested"
                 for block in content if block["type"] == "tool-call"}
        return {**state, "calls": {**calls, **asked}} if asked else state
    if event.type == "tool/call":
        return {**state, "calls": {**calls, data["callId"]: "started"}}
    call_id = data["message"]["source"]["callId"]
    if calls.get(call_id) not in ("requested", "started"):
        return state
    failed = data["message"]["content"][0].get("isError")
    unknown = data.get("error", {}).get("code") == "TOOL_OUTCOME_UNKNOWN"
    end = "unknown" if unknown else "failed" if failed else "succeeded"
    return {**state, "calls": {**calls, call_id: end}, end: state[end] + 1}
    ### END SOLUTION

# %% pair-tools-check points=2
verdict = check_pairing(my_pairing)
print(verdict)
### BEGIN HIDDEN TESTS
assert verdict.correct, verdict
### END HIDDEN TESTS

# %% answer [markdown] lang="zh"
# <details><summary>答案</summary>
#
# ```python
# def my_pairing(state, event):
#     data, calls = event.data, state["calls"]
#     if event.type == "turn/start":
#         return {**state, "calls": {}} if calls else state
#     if event.type == "assistant/message":
#         content = data["message"]["content"]
#         asked = {block["id"]: "requested"
#                  for block in content if block["type"] == "tool-call"}
#         return {**state, "calls": {**calls, **asked}} if asked else state
#     if event.type == "tool/call":
#         return {**state, "calls": {**calls, data["callId"]: "started"}}
#     call_id = data["message"]["source"]["callId"]
#     if calls.get(call_id) not in ("requested", "started"):
#         return state
#     failed = data["message"]["content"][0].get("isError")
#     unknown = data.get("error", {}).get("code") == "TOOL_OUTCOME_UNKNOWN"
#     end = "unknown" if unknown else "failed" if failed else "succeeded"
#     return {**state, "calls": {**calls, call_id: end}, end: state[end] + 1}
# ```
#
# 未知要先问：恢复补写的结果里，`isError` 也是 true。
#
# </details>
#
# 想看自己的投影动起来，就加一格：
#
# ```python
# begin = {"calls": {}, "succeeded": 0, "failed": 0, "unknown": 0}
# mine = Unit("mine", tool_pairing.event_types, lambda: begin, my_pairing)
# watermark_explorer(replaced, [mine, tool_pairing])
# ```
#
# ## 思考题
#
# **教材的思考题 4（★★★）：为什么投影里的异步 `apply()` 会破坏一致的水位线？**
#
# <details><summary>参考答案</summary>
#
# 因为它把“算到哪里”交给了别人的快慢。同步的 `apply` 一个事件一步：事件提交以后，所有单元都走完这一步，才轮到下一个，
# 所以一份快照只要一个 `as_of_seq`（客户端落后的那一格）。一个单元等待的时候，别的单元往前走，读的人就会拿到两条水位线拼成的
# 画面，日志里从没有过的画面（`waiting_table`，`step/end` 那一行）。谁先等到回音，也取决于外部（这张表把等待固定住了，所以每次
# 一样），重放就不一定得到同样的结果。所以登记时就拒绝（弄坏的那一格），外面的数据先变成事件（价格的那一格）。
#
# </details>
#
# **面试·基础题：** 事件日志、表面、`deriveMessages()`、对话记录、投影，各是什么，给谁用？先自己说一遍，再对照。
#
# <details><summary>参考答案</summary>
#
# - **事件日志**：发生过的一切，只追加。给所有人作依据；下面四样都由它算出，它本身不从别的东西算来（“先看数据”那一格的
#   `events`）。
# - **表面**：一串节点的 seq，模型现在的历史由它们组成。给派生和压缩用（`surface_tokens` 算的就是它；
#   滑块之后的那一格里它两次变便宜，日志却没有短）。
# - **`deriveMessages()`**：从表面的每个节点取出消息，给模型的下一次请求（B2 从头到尾讲它）。
# - **对话记录**：人看到的话，替换影响不到它。给人看（B1、B2 的滑块，第三个视图）。
# - **投影**：由事件算出的任何其他视图，带着自己的水位线。给界面、监控、计费、会话列表（`turn_status`、`tool_pairing`，
#   快照那一格）。
#
# 表面和对话记录也是这样算出来的：同一份日志，同一条水位线，同样的结果。
#
# </details>
#
# **再想一题。** 会话列表每次打开都要读完所有日志。怎样省下来，又凭什么敢信缓存？
#
# <details><summary>参考答案</summary>
#
# 存检查点（`rows` 那一格），列表只看这些行：`view_checkpoint(rows)` 不读日志就给出视图，还有它们的水位线。打开某个会话时，
# 用 `restore` 补上后面的事件。敢信，是因为每一行带着版本和水位线：版本不同就重算，并说明原因（`raised` 那一格）；
# 水位线超出日志，也重算或者拒绝（日志变短的那两格）。还要两样：改了 `apply` 的人记得改版本；存储在行旁边留着那个事件的指纹，
# 日志换了样子才看得出来（`regrown` 那一格）。缓存可以随时扔掉，因为日志还在；反过来不行。
#
# </details>

# %% answer [markdown] lang="en"
# <details><summary>Answer</summary>
#
# ```python
# def my_pairing(state, event):
#     data, calls = event.data, state["calls"]
#     if event.type == "turn/start":
#         return {**state, "calls": {}} if calls else state
#     if event.type == "assistant/message":
#         content = data["message"]["content"]
#         asked = {block["id"]: "requested"
#                  for block in content if block["type"] == "tool-call"}
#         return {**state, "calls": {**calls, **asked}} if asked else state
#     if event.type == "tool/call":
#         return {**state, "calls": {**calls, data["callId"]: "started"}}
#     call_id = data["message"]["source"]["callId"]
#     if calls.get(call_id) not in ("requested", "started"):
#         return state
#     failed = data["message"]["content"][0].get("isError")
#     unknown = data.get("error", {}).get("code") == "TOOL_OUTCOME_UNKNOWN"
#     end = "unknown" if unknown else "failed" if failed else "succeeded"
#     return {**state, "calls": {**calls, call_id: end}, end: state[end] + 1}
# ```
#
# Ask for unknown first: in the results that recovery writes `isError` is true as well.
#
# </details>
#
# To see your own projection move, add a cell:
#
# ```python
# begin = {"calls": {}, "succeeded": 0, "failed": 0, "unknown": 0}
# mine = Unit("mine", tool_pairing.event_types, lambda: begin, my_pairing)
# watermark_explorer(replaced, [mine, tool_pairing])
# ```
#
# ## Questions to think about
#
# **Question 4 of the chapter (★★★): why does an asynchronous `apply()` in a projection break one consistent watermark?**
#
# <details><summary>An answer</summary>
#
# Because how far it has come then depends on how fast somebody else is. A synchronous `apply` takes one step an event: after a
# commit all units take it before the next event comes, so that one `as_of_seq` is enough for a snapshot (the cell with the
# client). While one unit waits the others go on, and a reader gets a picture put together of two watermarks, one that the log
# never had (`waiting_table`, the row of `step/end`). In which order answers come is up to others as well (the table holds the
# waiting fixed, which is why it is the same every time), so a replay may differ. Hence it is refused at registration (the cell
# that breaks it), and data from outside becomes an event first (the cell with the price).
#
# </details>
#
# **Interview, the basics:** event log, surface, `deriveMessages()`, transcript, projection: what is each, and for whom? Say it
# in your own words before you compare.
#
# <details><summary>An answer</summary>
#
# - **Event log**: everything that happened, only ever appended to. For everybody, as evidence; the other four are computed from
#   it, and it is not computed from anything (`events`, in the cell under “Look at the data
#   first”).
# - **Surface**: the seqs of the nodes that make up the model's history now. For deriving and for compaction (`surface_tokens`
#   is about it: in the cell after the slider it gets cheaper twice, and the log no shorter).
# - **`deriveMessages()`**: takes the message of each node. For the model's next request (lab B2 is all about it).
# - **Transcript**: what a person was shown, untouched by replacements. For people (third view of the scrubber in B1 and B2).
# - **Projection**: any other view that is computed from the events, with its watermark. For screens, monitoring, accounting,
#   lists of sessions (`turn_status` and `tool_pairing`, the cell with the snapshot).
#
# Surface and transcript are made the same way: same log, same watermark, same result.
#
# </details>
#
# **One more.** A list of sessions reads every log whenever it is opened. How can that be saved, and why may the cache be
# trusted?
#
# <details><summary>An answer</summary>
#
# Store checkpoints (the cell that prints `rows`) and let the list read only those: `view_checkpoint(rows)` gives the views
# without the log, and their watermark. When a session is opened, `restore` adds the events after it. It can be trusted because
# each row has its version and its watermark: another version is folded anew, with the reason (the cell `raised`), and a
# watermark beyond the log is folded anew or refused (the two cells with the shorter log). It takes two more things: whoever
# changes `apply` raises the version, and a store keeps a digest of the event, without which a log that grew differently goes
# unnoticed (the cell `regrown`). A cache can be thrown away at any time, for the log is there. The other way round it cannot.
#
# </details>

# %% recap [markdown] lang="zh"
# ## 小结
#
# - 投影是纯函数：旧状态加一个事件得到新状态；跟着会话算和从头算，结果一样。
# - 同一个对象就是没有变化；所有视图同在一条水位线上，快照会说是哪一条。
# - 缓存带着版本和水位线，存储还记着事件的指纹；存储不能证明还对的，就从日志重新算，并说明原因。

# %% recap [markdown] lang="en"
# ## Recap
#
# - A projection is pure: a state and an event give the next state, and following live gives the same as folding from scratch.
# - The same object means no change; all views are of one watermark, and a snapshot says which.
# - A cache has a version and a watermark, and in a store a digest of the event; what a store cannot prove is folded again from
#   the log, with the reason.
