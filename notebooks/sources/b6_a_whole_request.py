# %% question [markdown] lang="zh"
# # 一次完整的请求
#
# 40 分钟。B2 讲了日志怎样变成模型读到的消息。可一次请求里不只有消息：还有系统提示、工具、调用配置、今天是星期几。
# **模型还看到了什么？每一样从哪里来，日志里查得到吗？**
#
# 学完你能：
#
# - **拆开**任何一次请求，说出每个部分的作用域、版本和记下它的事件
# - **解释**什么只在变化时记、什么在压缩之后重新记，以及为什么没记下的东西不许发出去
# - **补上**一个没记下的来源，让日志重建出的请求和模型收到的一样

# %% question [markdown] lang="en"
# # A whole request
#
# 40 minutes. Lab B2 showed how a log becomes the messages that a model reads. A request is more than messages: a system prompt,
# tools, the call's config, what day it is. **What else does the model see, where is each thing from, and does the log know?**
#
# Afterwards you can:
#
# - **take apart** any request, and name scope, version and events of each of its parts
# - **explain** what is logged only on change, what comes back after a compaction, and why nothing unlogged may be sent
# - **log** a source that was missing, so that the log gives back exactly what the model received

# %% imports
from dataclasses import replace

from labsupport.sessionlog import Reply, Session, replay
from labsupport.sessionlog.prompt import ContextPart, Opener, Section
from labsupport.sessionlog.request import difference, explain_request, rebuild_request
from labsupport.workbench.checks.b6 import check_sourced
from labsupport.workbench.checks.base import compare, refusal
from labsupport.workbench.desk_play import PHONE, Desk, ask, record, summarise, tool_call
from labsupport.workbench.explorers.b6 import request_explorer
from labsupport.workbench.random_requests import random_requests
from labsupport.workbench.request_tables import kept_whole, new_parts, parts_table
from labsupport.workbench.request_tables import plugins, smuggle_table, whispered

# %% look [markdown] lang="zh"
# ## 先看一次请求
#
# 诊所前台的一天，录了下来：会话的日志，还有模型真正收到的每一次请求（录制时由模型自己留了一份）。
# 日志里有多少事件，模型收到了几次请求？

# %% look [markdown] lang="en"
# ## First, one request
#
# A day at the front desk of a clinic was recorded: the session's log, and every request that really came to the model, which
# kept them for us. How many events, how many requests?

# %% recorded
day = record()
events, received = day.session.events, day.received
print(len(events), len(received))

# %% look-parts [markdown] lang="zh"
# 第 2 次请求，从日志重建、拆成部分，按模型读到的先后排列：

# %% look-parts [markdown] lang="en"
# The second one, rebuilt from the log and taken apart, in the order in which a model reads it:

# %% parts
parts_table(events, 2)

# %% parts-why [markdown] lang="zh"
# 用户、模型和工具说的，各只有一行。其余的，调用配置、系统提示的两个**段落**、一个**工具**、一条**开场消息**、
# 两份**动态上下文**，都是程序放进去的。
# 每一行都有来处：`seq` 列里，先是记下它的事件，后面是说明它由谁做成的事件。**作用域**说它对谁有效，**版本**说它出自哪个文件。
#
# ## 段落：谁遮住谁
#
# 系统提示由有名字的段落拼成。前台有三个段落，其中两个都叫 `role`：一个全局的，一个只属于作用域 `audit`。
# 同样的部分，在两个作用域里各拼一次：

# %% parts-why [markdown] lang="en"
# One line each is what the user said, the model answered and the tool gave. The rest was put there by the program: the call's
# config, two **sections** of the system prompt, a **tool**, an **opener**, two pieces of **dynamic context**. And every line
# has
# a source: under `seq` first the event that holds it, then
# the one that says what it was made of. The **scope** says for whom it counts, the **version** which file it came from.
#
# ## Sections: which one counts
#
# A system prompt is put together from named sections. The desk has three, and two of them are called `role`: a global one, and
# one that belongs to the scope `audit`. The same parts, put together in both scopes:

# %% shadow
prompt = Desk().prompt()
for scope in ("global", "audit"):
    print(scope, "|", replace(prompt, scope=scope).compose().system.replace("\n\n", " / "))

# %% shadow-why [markdown] lang="zh"
# 同名时，作用域自己的遮住全局的；别的全局段落照旧。`{{clinic}}` 是提示变量，拼的时候填进去。
# 一个段落还可以说自己是**完整的**（`complete`）：它就是整个系统提示，别的都不要了。那么两个都说自己完整呢？

# %% shadow-why [markdown] lang="en"
# Where two sections share a name, the scope's own shadows the global one; the other global sections stay. `{{clinic}}` is a
# prompt variable, filled in on the way. A section may also be **complete** (`complete`): then it is the whole system prompt,
# and no other counts. And two that
# both say so?

# %% complete
drill = Section("drill", "Fire drill. Say only: please leave.", complete=True)
night = Section("night", "Say only: we are closed.", complete=True)
print(replace(prompt, sections=[*prompt.sections, drill]).compose().system)
both = replace(prompt, sections=[*prompt.sections, drill, night])
print(refusal(both.compose))

# %% hidden [markdown] lang="zh"
# 两个“整个”拼不出一个提示，所以拒绝，不替人选。只有同名的段落可以遮住另一个。
#
# ## 工具：不认识，和不在这里提供
#
# 前台的日历有两个工具，`book_slot` 要等开放预约才提供。模型只看到提供的；程序知道全部的名字。
# 模型要调用一个没提供的，和一个写错名字的，是两种错：

# %% hidden [markdown] lang="en"
# Two wholes do not make one prompt; it is refused, and nobody chooses for you. Only a section of the same name may shadow
# another.
#
# ## Tools: unknown, or not offered here
#
# The desk's calendar has two tools, and `book_slot` is offered only while booking is open. The model sees what is offered, the
# program knows all names. Calling one that is not offered and calling one whose name is misspelt are two different errors:

# %% hidden-names
print([tool["name"] for tool in prompt.compose().tools], prompt.tools[0].known_names)
print(refusal(prompt.check_tool, "book_slot"), refusal(prompt.check_tool, "book_slt"))

# %% hidden-run [markdown] lang="zh"
# 在真的一轮里，模型凭记忆猜出了名字，两个都叫。什么也没有运行，但每个调用都有自己的结果：

# %% hidden-run [markdown] lang="en"
# In a real turn, a model that remembers the name calls both. Nothing runs, and each call gets a result of its own:

# %% hidden-codes
session, desk = Session.create("tools"), Desk()
calls = [tool_call(name, name, time="09:30") for name in ("book_slot", "book_slt")]
ask(session, desk, "Book it.", Reply(calls=calls), Reply("I cannot."))
results = [event for event in session.events if event.type == "tool/result"]
print([event.data["error"]["code"] for event in results], desk.booked)

# %% hidden-why [markdown] lang="zh"
# 分开有用：`UNKNOWN_TOOL` 是模型写错了，告诉它正确的名字；`TOOL_HIDDEN` 是权限和时机的事，该由程序或人决定，改名字没用。
# 被重新提供的那天，请求头会记下来，从日志就能看出哪次请求有它。
#
# ## 动态上下文：有变化才记
#
# “今天星期一，三个人在等”是每次请求之前现问的，模型看得到，所以也得记：作为一份**快照**，用户角色，来源写着插件。
# 问三次，第三次之前换了一天。
#
# **预测 1。** 日志里有几份快照？

# %% hidden-why [markdown] lang="en"
# The difference matters: `UNKNOWN_TOOL` is a slip of the model, which can be told the right name; `TOOL_HIDDEN` is a matter of
# permission and of the moment, which a program or a person decides, and no other spelling helps. When the tool is offered
# again, the request header says so, and the log shows which requests had it.
#
# ## Dynamic context: logged when it changed
#
# “Monday, three people are waiting” is asked for before every request. The model sees it, so it has to be logged: as a
# **snapshot**, in the user's role, whose source names the plugin. Three questions, and before the third it is another day.
#
# **Prediction 1.** How many snapshots are in the log?

# %% guess
guess = None

# %% snapshots
session, desk = Session.create("days"), Desk()
for today in ("Monday", "Monday", "Tuesday"):
    desk.day = today
    ask(session, desk, "Any news?")
snapshots = [seq for seq, plugin in plugins(session.events) if plugin == "dynamic-context"]
print(plugins(session.events), compare(guess, len(snapshots)))

# %% snapshot-text [markdown] lang="zh"
# 只有日子变了，快照却是完整的：等候的人数也再说了一遍，模型不用自己拼。旧的那份还在表面上，新的说自己替代它：

# %% snapshot-text [markdown] lang="en"
# Only the day changed, and still the snapshot is complete: the waiting room is told again, so that a model need not put pieces
# together. The old one stays on the surface, and the new one says that it takes its place:

# %% snapshot-last
print(session.events[snapshots[-1]].data["content"][0]["text"])

# %% header-log [markdown] lang="zh"
# 系统提示、工具和配置在 `request/header` 里，它们的来源在 `workbook/request-sources` 里，也是有变化才记。
# 录下的那一天，请求头记了几次？

# %% header-log [markdown] lang="en"
# System prompt, tools and config stand in a `request/header`, their sources in a `workbook/request-sources`, and both are
# logged on change, too. How often on the day that was recorded?

# %% headers
for event in events:
    if event.type == "request/header":
        header = event.data["header"]
        tools = [tool["name"] for tool in header["tools"]]
        print(event.seq, event.data["reason"], header["config"]["model"], tools)

# %% rebuild [markdown] lang="zh"
# 请求头比请求少：开始时一个，开放预约一个，审计一个（另一个作用域，另一个模型），回到前台又一个。
# 每次请求用的是在它之前最近的那一个，所以每次请求用了哪个模型、有哪些工具，都查得到。
#
# ## 重建任何一次请求
#
# `rebuild_request(events, seq)` 只看日志，给出那一步的整个请求。拿它和模型真正收到的比：

# %% rebuild [markdown] lang="en"
# There are fewer headers than requests: at the beginning; when booking opens; for the audit, with another scope and another
# model; and back at the desk. The latest header before a request is its own, so model and tools can be told for each single
# one.
#
# ## Any request again
#
# `rebuild_request(events, seq)` looks at the log alone and gives the whole request of that step. Compare it with what the
# model really received:

# %% rebuilt
same = [difference(one.request, rebuild_request(events, one.seq).request) == ()
        for one in received]
print(len(same), all(same))

# %% spans [markdown] lang="zh"
# `explain_request` 给出每个部分和它的出处。段落的 `span` 是它在系统提示里的位置，从请求里正好剪出它来，一个字符不差：

# %% spans [markdown] lang="en"
# `explain_request` gives each part with where it is from. The `span` of a section is its place in the system prompt, and cuts
# out exactly that section, to the character:

# %% spans-cut
at = received[6].seq
system = rebuild_request(events, at).header["system"]
for part in explain_request(events, at):
    if part.kind == "section":
        print(part.name, part.scope, part.version, part.seqs, system[slice(*part.span)])

# %% smuggle [markdown] lang="zh"
# ## 弄坏它：偷偷塞一句
#
# 旧的程序想让模型知道价目表，图省事，在发送之前的最后一刻把它塞进请求。`before_send` 就是那个时刻：

# %% smuggle [markdown] lang="en"
# ## Break it: a word slipped in
#
# An old program wants the model to know the prices, and puts them into the request at the last moment before it is sent, for
# that was easiest. `before_send` is that moment:

# %% break-it tags=["raises-exception"]
session = Session.create("smuggled")
ask(session, Desk(), "What does it cost?",
    before_send=lambda request: whispered(request, "blood test 18.00"))

# %% smuggled [markdown] lang="zh"
# 报错是说：要发的请求和日志有一处不同（第几条消息，从 0 数），什么也没发；该先把它记下来。这一轮在日志里好好地结束了，
# 理由里没有价目表的字样：

# %% smuggled [markdown] lang="en"
# The error says where the two differ, and that nothing was sent. In the log the turn has its proper end, whose reason does not
# repeat what was to be slipped in:

# %% smuggled-end
reason = session.events[-1].read()["reason"]
print(session.events[-1].type, reason["error"]["code"], "18.00" in str(reason))

# %% smuggled-ways [markdown] lang="zh"
# 别的手脚呢？每一种都对一次真的请求做一遍：

# %% smuggled-ways [markdown] lang="en"
# And other tricks? Each of them, done to a real request:

# %% smuggle-table
smuggle_table(received[1].request)

# %% smuggled-why [markdown] lang="zh"
# 这就是**模型看得到的，就是记下了的**。它不靠大家自觉，靠的是每次发送之前的比较：发出去的，就是日志给出的。
#
# ## 压缩拿走了快照
#
# 问一次，压缩整段历史，再问一次；日子一直没变。
#
# **预测 2。** 现在日志里有几份快照？

# %% smuggled-why [markdown] lang="en"
# This is **model-visible means logged**: not a promise that everybody has to keep, but a comparison before each request. What
# is sent is what the log gives.
#
# ## A compaction took the snapshot
#
# One question, then the whole history is compacted, then another question. It is the same day all along.
#
# **Prediction 2.** How many snapshots are in the log now?

# %% guess-again
guess_again = None

# %% compacted
session, desk = Session.create("short"), Desk()
ask(session, desk, "Any news?", Reply("None at all. " * 20))
summarise(session, "No news.")
ask(session, desk, "And now?")
found = [plugin for _, plugin in plugins(session.events)]
print(found, compare(guess_again, found.count("dynamic-context")))

# %% compacted-why [markdown] lang="zh"
# 事实没变，可模型看不到了：两份都还在日志里，第一份被遮蔽。所以“变了没有”要和**表面上**最近的一份比，不和日志里的比。
# 开场消息也一样，从表面消失了，就再记一次。
#
# ## 翻看每一次请求
#
# 每一行是一个部分；＋ 是上一次请求里没有的，条形是它占多少 token。
#
# **拖动滑块找一找：** 有一次请求，开场消息（`house-rules`）重新来了，日子却没有；另有一次正好相反，日子重新来了，
# 而那天并没有变。是哪两次？为什么？

# %% compacted-why [markdown] lang="en"
# Nothing changed in the world, but the model could no longer see it: both snapshots are in the log, and the first is shadowed.
# So whether something changed is asked of the latest snapshot **on the surface**, not in the log. It is the same with an opener
# that went off the surface: it is logged once more.
#
# ## Leaf through the requests
#
# A row is a part; + marks what the request before did not have, and the bar shows how much of the tokens it takes.
#
# **Find it with the slider:** in one request the opener (`house-rules`) comes anew and the day does not; in another the day
# does
# and the opener does not, although it was the same day as before. Which two, and why?

# %% explorer
explorer = request_explorer(events, show_text=True)
explorer

# %% move
explorer.request.value = 4
explorer.still

# %% moved [markdown] lang="zh"
# 上面这张停在开放了预约、也换了一天的那次：工具和快照是新的。
#
# <details><summary>答案：哪两次，为什么</summary>
#
# 是两次压缩之后的那两次，下面的输出给出它们的序号。前一次压缩取走了开头的一段：开场消息和星期一的快照在里面；
# 星期二的快照在后面，还在表面上，所以只有开场消息要再来。后一次压缩取走了中间的一段，里面有星期二的快照；
# 开场消息这时已经在它后面，留下了。
#
# </details>
#
# 对照一下：每次请求里，新来的开场消息和动态上下文；再看每次压缩遮蔽了哪些事件。

# %% moved [markdown] lang="en"
# The picture above stands where booking has opened and it is another day, so a tool and the snapshot are new.
#
# <details><summary>Answer: which two, and why</summary>
#
# Those that follow a compaction; their numbers are printed below. The first compaction took the beginning of the history, with
# the opener and Monday's snapshot in it; Tuesday's stood behind that and is still on the surface, so only the opener has to
# come
# again. The second took a piece from the middle, with Tuesday's snapshot; the opener by then stood behind it, and stayed.
#
# </details>
#
# Compare: the openers and the context that are new in each request, and then what each compaction shadowed.

# %% moved-where
for number, names in new_parts(events, "opener", "context").items():
    print(number, names)

# %% moved-shadowed
for replacement in day.session.surface.replacements:
    print(replacement.seq, list(replacement.shadowed_seqs))

# %% law [markdown] lang="zh"
# ## 定律
#
# 定律是对任何输入都成立的性质。**从日志重建的请求，等于模型收到的请求。** 换许多随机的会话：段落来来去去，工具时隐时现，
# 上下文在一轮中间变，还有压缩、修剪、断流、换进程：

# %% law [markdown] lang="en"
# ## The law
#
# A law holds for every input. **The request that is rebuilt from the log is the request that the model received.** Many random
# sessions: sections come and go, tools are hidden and shown, the context changes inside a turn, and there are compactions,
# pruning, broken streams and new processes:

# %% law-all
runs = [random_requests(seed) for seed in range(40)]
same = [difference(one.request, rebuild_request(run.session.events, one.seq).request) == ()
        for run in runs for one in run.received]
print(len(same), all(same))

# %% six [markdown] lang="zh"
# ## 六个推论
#
# 教材 §4.6 由“看得到就是记下了”推出六件事，每一件都有一格为证：
#
# 1. 没有插件能在调用前塞进文字（弄坏的那一格）。
# 2. 动态上下文一变，就留下持久的快照（预测 1）。
# 3. 要紧的工具结果在表面上。哪次请求起有它，出自哪个调用：

# %% six [markdown] lang="en"
# ## Six consequences
#
# The chapter (§4.6) draws six consequences from “model-visible means logged”. Each has its cell:
#
# 1. No plug-in slips text in before the call (the cell that breaks it).
# 2. A dynamic context that changed leaves a durable snapshot (prediction 1).
# 3. A tool result that matters is on the surface. From which request on, and from which call:

# %% six-result
for number, one in enumerate(received, start=1):
    parts = explain_request(events, one.seq)
    print(number, [(part.name, part.seqs) for part in parts if part.kind == "result"])

# %% six-compaction [markdown] lang="zh"
# 4. 压缩记下范围、摘要和做法。摘要那个部分引用它遮蔽的每一个事件：

# %% six-compaction [markdown] lang="en"
# 4. A compaction logs its range, its summary and how that came about. The part that is the summary cites all that it shadows:

# %% six-summary
parts = explain_request(events, received[5].seq)
summary = next(part for part in parts if part.kind == "summary")
print(summary.name, summary.seqs)
print([events[seq].type for seq in summary.seqs[:3]])

# %% six-config [markdown] lang="zh"
# 5. 路由和调用配置，每次请求都查得到是哪一份。审计那一轮用了另一个模型：

# %% six-config [markdown] lang="en"
# 5. Routing and call config are attributed to each request. The audit was done by another model:

# %% six-models
for number, one in enumerate(received, start=1):
    print(number, rebuild_request(events, one.seq).header["config"]["model"])

# %% six-replay [markdown] lang="zh"
# 6. 重放能重建模型看到的一切，不重复任何副作用。重放、把请求全部重建，预约还是那一个：

# %% six-replay [markdown] lang="en"
# 6. A replay rebuilds all that was seen and repeats no side effect. Replay it, rebuild all requests, and there is still one
#    booking:

# %% six-replayed
again = replay(events).events
print(all(difference(one.request, rebuild_request(again, one.seq).request) == ()
          for one in received), day.desk.booked)

# %% whole [markdown] lang="zh"
# ## 能重建，不等于整份留着
#
# 有人说：何必这么麻烦，每次把整个提示字符串存一份就好了。来电者在第一句话里留了电话号码。它在日志的几个事件里，
# 又会在几份提示字符串里？第二行是这些字符串一共多长、最后一份多长：

# %% whole [markdown] lang="en"
# ## Rebuildable is not “the whole prompt was kept”
#
# Why all this, somebody asks, when each prompt could simply be stored as one string? In the first sentence the caller left a
# phone number. In how many events of the log does it stand, and in how many prompts? The second line says how long all these
# strings are together, and how long the last one is:

# %% whole-copies
whole = kept_whole(received)
print(sum(PHONE in str(event.read()) for event in events),
      sum(PHONE in text for text in whole))
print(sum(map(len, whole)), len(whole[-1]))

# %% whole-gone [markdown] lang="zh"
# 反过来问日志：假如明天要删掉这个号码，或者只留一个引用，哪几次请求从此重建不出来？

# %% whole-gone [markdown] lang="en"
# And asked the other way round: when that number has to be deleted tomorrow, or only a reference is kept, which requests can no
# longer be rebuilt?

# %% whole-needs
holds = next(event.seq for event in events
             if event.type == "user/message" and PHONE in str(event.read()))
print(holds, [number for number, one in enumerate(received, start=1)
              if holds in rebuild_request(events, one.seq).message_seqs])

# %% think-whole [markdown] lang="zh"
# **教材的思考题 2（★★）：“可以重建”和“整个提示字符串都留着”差在哪里？后一种有什么不安全？**
#
# <details><summary>参考答案</summary>
#
# 可以重建，是说由事件、请求头和来源算得出每一次请求（定律），而且说得出每个部分是谁、哪个版本、哪个作用域做的。
# 字符串只有结果：不知道哪一句是用户说的、哪一句是插件塞的，也没法证明它就是发出去的那一份。
#
# 不安全在于副本。同一个号码在日志里一处，在整份保存的提示里却有好几处（数副本的那一格），每一处都要加密、授权、
# 按期限删除，漏一处就没删掉；它们往往躺在调试日志里，没有人管。总长也随轮数平方增长，因为每次请求都带着整段历史。
#
# 可以重建也不是无限期的明文：正文可以换成引用或密文，到期可以销毁密钥。那以后有的请求就重建不出来了，
# 要紧的是系统说得出是哪几次（最后一格），而不是悄悄给出一份不同的。怎样做，B10 讲。
#
# </details>
#
# ## 练习：补上没记下的来源
#
# 回到弄坏的那一格：前台真的需要价目表。写一个函数 `sourced(prompt, prices)`：`prices` 是一个函数，`prices()` 给出
# 价目表现在的文字。返回一份 `Prompt`，原来的部分都在，再加上价目表这个部分：
#
# - 叫 `"prices"`，版本 `"prices.csv"`
# - 模型每次请求都看到当时的价目，轮次中间改了价格也一样
# - 没变就不重复记
#
# 检查真的运行几个轮次，中间改价、压缩，再从日志里看每次请求。
#
# <details><summary>提示</summary>
#
# `Section`、`Opener`、`ContextPart`，哪一个是每次请求之前都问一遍、变了才记的？`ContextPart(name, function, version=…)`
# 收的是函数本身，不是它现在的答案。`replace(prompt, context=[…])` 给出一份只改了 `context` 的副本，原来的要带上。
#
# </details>

# %% think-whole [markdown] lang="en"
# **Question 2 of the chapter (★★): “can be rebuilt” against “the whole prompt string was kept”: what differs, and what is
# unsafe
# about the second?**
#
# <details><summary>An answer</summary>
#
# Rebuildable means that events, headers and sources give every request again (the law), and say of each part who made it, in
# which version, for which scope. A string is only the result: it does not tell what the user said from what a plug-in added,
# and nothing proves that it is what was sent.
#
# Unsafe are the copies. The number stands in the log once, and several times in the prompts that are kept whole (the cell that
# counts); each copy has to be encrypted, access to it granted, its retention ended, and with one forgotten the number is not
# deleted. Such strings often lie in debug logs that nobody looks after. And their length grows with the square of the turns,
# since every request carries the history.
#
# Nor does rebuildable mean plain text for ever: a body may be a reference or encrypted, and its key destroyed when its time is
# over. Some requests can then not be rebuilt any more. What counts is that the system can say which (the last cell), instead of
# giving another one in silence. How that is done is the subject of B10.
#
# </details>
#
# ## Exercise: log the missing source
#
# Back to the cell that was refused: the desk does need its prices. Write a function `sourced(prompt, prices)`, where
# `prices` is
# a function and `prices()` gives the text of the list as it is now. Return a `Prompt` that still has all its parts, and the
# list as one more:
#
# - called `"prices"`, of the version `"prices.csv"`
# - at every request the model sees the prices of that moment, even when they change inside a turn
# - what has not changed is not logged again
#
# The check really runs some turns, changes prices, compacts, and looks at each request in the log.
#
# <details><summary>Hint</summary>
#
# `Section`, `Opener`, `ContextPart`: which is asked before every request and logged when it changed? A
# `ContextPart(name, function, version=…)` takes the function, not what it answers now. `replace(prompt, context=[…])` gives a
# copy with another `context`; take the old parts along.
#
# </details>

# %% log-the-source
def sourced(prompt, prices):
    ### BEGIN SOLUTION
    part = ContextPart("prices", prices, version="prices.csv")
    return replace(prompt, context=[*prompt.context, part])
    ### END SOLUTION

# %% log-the-source-check points=2
verdict = check_sourced(sourced)
print(verdict)
### BEGIN HIDDEN TESTS
assert verdict.correct, verdict
### END HIDDEN TESTS

# %% answer [markdown] lang="zh"
# <details><summary>答案</summary>
#
# ```python
# def sourced(prompt, prices):
#     part = ContextPart("prices", prices, version="prices.csv")
#     return replace(prompt, context=[*prompt.context, part])
# ```
#
# 放进 `Section` 也能重建，可每次改价都要把整个请求头再记一遍；`Opener` 只记一次，改了价也不知道。
#
# </details>
#
# 想看价目表怎样出现在请求里，就加一格：
#
# ```python
# session = Session.create("mine")
# ask(session, Desk(), "价钱？", prompt=sourced(Desk().prompt(), lambda: "18.00"))
# parts_table(session.events, 1)
# ```
#
# ## 再想两个问题
#
# **2.** 为什么动态上下文是一条消息，而不是系统提示里的一个段落？
#
# <details><summary>参考答案</summary>
#
# 段落在请求头里，请求头一变就要整个再记，模型端缓存的开头也从那里作废；星期几每天变，等候人数每分钟变。作为消息，
# 它只在变化时追加一份（预测 1），前面的都不动，而且日志里看得出模型从哪次请求起才知道（滑块之后的那一格）。
# 代价是旧的快照还在表面上，
# 所以新的那份要说自己替代旧的。
#
# </details>
#
# **3.** 有人为了“更快”，想去掉发送之前的比较：反正请求就是从日志派生的。会少掉什么？
#
# <details><summary>参考答案</summary>
#
# 只要没有人动手脚，比较永远相等，看上去是白费。它防的正是以后：有人加一个 `before_send`、一个代理、一个“临时”的补丁，
# 从那天起日志就不再是模型看到的东西，而且没有任何症状，直到有人要查一次出错的回答。比较让它当场失败、说出是哪个部分
# （动手脚的表），而不是几个月后查不出来。
#
# </details>

# %% answer [markdown] lang="en"
# <details><summary>Answer</summary>
#
# ```python
# def sourced(prompt, prices):
#     part = ContextPart("prices", prices, version="prices.csv")
#     return replace(prompt, context=[*prompt.context, part])
# ```
#
# As a `Section` it could be rebuilt as well, but with each new price the whole header is logged again; an `Opener` is logged
# once and does not hear of new prices.
#
# </details>
#
# To see the list in a request, add a cell:
#
# ```python
# session = Session.create("mine")
# ask(session, Desk(), "How much?", prompt=sourced(Desk().prompt(), lambda: "18.00"))
# parts_table(session.events, 1)
# ```
#
# ## Two more questions
#
# **2.** Why is dynamic context a message, and not a section of the system prompt?
#
# <details><summary>An answer</summary>
#
# Sections stand in the header. When one changes, the whole header is logged again, and a provider's cached prefix ends there;
# the day changes daily, the waiting room every minute. As a message it is appended when it changed (prediction 1), nothing
# before it moves, and the log shows from which request on the model knew (the cell behind the slider). The price: the old
# snapshot stays on the
# surface, so the new one has to say that it takes its place.
#
# </details>
#
# **3.** To be faster, somebody wants to drop the comparison before sending: the request is derived from the log anyway. What
# would be lost?
#
# <details><summary>An answer</summary>
#
# As long as nobody interferes the two are always equal, and it looks like wasted work. It guards against what comes later: a
# `before_send`, a proxy, a “temporary” patch. From that day on the log is not what the model saw, and nothing shows it, until
# somebody has to find out why an answer was wrong. With the comparison it fails on the spot and names the part (the table of
# tricks), instead of being untraceable months afterwards.
#
# </details>

# %% recap [markdown] lang="zh"
# ## 小结
#
# - 一次请求：配置、段落、工具、开场消息、动态上下文、派生的消息；每个部分都有名称、作用域、版本和事件。
# - 请求头、来源和快照有变化才记；从表面上消失了的，再记一次。
# - 看得到就是记下了：发送前和日志比，不一样就不发；所以任何一次请求都能重建。
# - 能重建不是整份留着：同一句话只在一处，删了它，也说得出哪几次请求不再能重建。

# %% recap [markdown] lang="en"
# ## Recap
#
# - A request: config, sections, tools, openers, dynamic context, derived messages. Each part has name, scope, version, events.
# - Header, sources and snapshots are logged on change; what went off the surface is logged once more.
# - Model-visible means logged: compared before it is sent, and not sent on a difference. So any request can be rebuilt.
# - Rebuildable is not “kept whole”: a sentence stands in one place, and when it goes, the log can say which requests go with
# it.
