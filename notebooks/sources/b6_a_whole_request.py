# %% question [markdown] lang="zh"
# # 一次完整的请求
#
# 50 分钟。B2 讲了日志怎样变成模型读到的消息。可一次请求里不只有消息：还有系统提示、工具、调用配置、今天是星期几。
# **模型还看到了什么？每一样从哪里来，日志里查得到吗？**
#
# 学完你能：
#
# - **拆开**任何一次请求，说出每个部分的来历：作用域、版本、记下它的事件
# - **解释**什么只在变化时记、什么在压缩之后重新记，以及为什么没记下的东西不许发出去
# - **补上**一个没记下的来源，让日志重建出的请求和模型收到的一样

# %% question [markdown] lang="en"
# # A whole request
#
# 50 minutes. Lab B2 showed how a log becomes the messages that a model reads. A request is more than messages: a system prompt,
# tools, the call's config, what day it is. **What else does the model see, where does it come from, and does the log know?**
#
# Afterwards you can:
#
# - **take apart** any request, and say where each part is from: scope, version, events
# - **explain** what is logged only on change, what is logged again after a compaction, and why nothing unlogged may be sent
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
# 这里录下了诊所前台的一天：会话的日志，还有模型真正收到的每一次请求（模型那一头另外留了一份，好拿来对照）。
# 日志里有多少个事件，模型收到了几次请求？

# %% look [markdown] lang="en"
# ## First, one request
#
# Here is a recorded day at the front desk of a clinic: the session's log, and every request as the model really received it (a
# copy was kept on the model's side, to compare with). How many events are there, and how many requests?

# %% recorded
day = record()
events, received = day.session.events, day.received
print(len(events), len(received))

# %% look-parts [markdown] lang="zh"
# 第 2 次请求，从日志重建、拆成部分，按模型读到的先后排列：

# %% look-parts [markdown] lang="en"
# The second request, rebuilt from the log and taken apart, in the order in which a model reads it:

# %% parts
parts_table(events, 2)

# %% parts-why [markdown] lang="zh"
# 用户、模型和工具说的各占一行，其余都是程序放进去的：
#
# - **配置**：请哪个服务商的哪个模型来答
# - **段落**：系统提示由它们拼成
# - **工具**：模型可以调用什么
# - **开场消息**：会话开头说一次，以后一直留在历史里
# - **动态上下文**：每次请求之前现问的事，比如今天星期几
#
# 后几列说来历。**作用域**说这个部分对谁有效，`global` 就是对谁都有效；**版本**说它出自哪份文件、哪个程序。
# `seq` 列里，第一个是记下它的事件，后面的是说明它来历的事件。表里提到的事件都是什么？

# %% parts-why [markdown] lang="en"
# What the user said, the model answered and the tool returned takes one line each. All the rest was put there by the program:
#
# - **config**: which model of which provider is to answer
# - **sections**: what the system prompt is put together from
# - **tools**: what the model may call
# - **openers**: messages said once at the beginning of a session, which then stay in the history
# - **dynamic context**: what is asked for before every request, such as what day it is
#
# The other columns say where each comes from. The **scope** says for whom a part counts, and `global` is everybody; the
# **version** says which file or program it is from. Under `seq`, the first event holds the part, and those after it say where
# it came from. What are the events in the table?

# %% parts-events
for seq in (2, 3, 4, 5, 6, 7, 12, 13, 14):
    print(seq, events[seq].type)

# %% sections [markdown] lang="zh"
# 请求头 `request/header` 装着系统提示、工具和配置，`workbook/request-sources` 说明各个部分的来历，
# `request/context` 记着用的是哪个模型。结果的来历，就是它的调用。
#
# ## 段落：谁遮住谁
#
# 系统提示由有名字的段落拼成。前台有三个段落，其中两个都叫 `role`：一个全局的，一个只属于作用域 `audit`。
# 同样的部分，在两个作用域里各拼一次：

# %% sections [markdown] lang="en"
# The header, `request/header`, holds system prompt, tools and config; `workbook/request-sources` says where the parts are from,
# and `request/context` which model was used. A result comes from its call.
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
# 同名时，作用域自己的遮住全局的；别的全局段落仍在。（段落里写的是 `{{clinic}}`，一个提示变量，拼的时候填成诊所的名字。）
# 一个段落还可以声明自己是**完整的**（`complete`）：它就是整个系统提示，别的都不要了。要是有两个段落都这样声明呢？

# %% shadow-why [markdown] lang="en"
# Where two sections share a name, the scope's own shadows the global one; the other global sections stay. (The section says
# `{{clinic}}`, a prompt variable, which is filled in on the way.) A section may also declare itself **complete** (`complete`):
# then it is the whole system prompt, and no other counts. And if two of them do?

# %% complete
drill = Section("drill", "Fire drill. Say only: please leave.", complete=True)
night = Section("night", "Say only: we are closed.", complete=True)
print(replace(prompt, sections=[*prompt.sections, drill]).compose().system)
both = replace(prompt, sections=[*prompt.sections, drill, night])
print(refusal(both.compose))

# %% hidden [markdown] lang="zh"
# 两个“整个”拼不成一个提示，所以拒绝，不替人选。
#
# ## 工具：不认识的，和没提供的
#
# 前台的日历有两个工具，`book_slot` 要等开放预约才提供。模型只看到提供的，程序知道全部的名字：

# %% hidden [markdown] lang="en"
# Two wholes do not make one prompt, so it is refused, and nobody chooses for you.
#
# ## Tools: unknown, or not offered
#
# The desk's calendar has two tools, and `book_slot` is offered only while booking is open. The model sees what is offered, the
# program knows all names:

# %% hidden-names
print([tool["name"] for tool in prompt.compose().tools], prompt.tools[0].known_names)

# %% hidden-run [markdown] lang="zh"
# 还没开放预约，模型却两个都叫：一个没提供的，一个写错了名字的。两个结果的错误码，和订下的预约：

# %% hidden-run [markdown] lang="en"
# Booking is not open yet, and a model calls two tools: one that is not offered, and one whose name is misspelt. The error codes
# of both results, and what was booked:

# %% hidden-codes
session, desk = Session.create("tools"), Desk()
calls = [tool_call(name, name, time="09:30") for name in ("book_slot", "book_slt")]
ask(session, desk, "Book it.", Reply(calls=calls), Reply("I cannot."))
results = [event for event in session.events if event.type == "tool/result"]
print([event.data["error"]["code"] for event in results], desk.booked)

# %% hidden-why [markdown] lang="zh"
# 什么也没有运行，两个调用却各有各的结果。分开有用：`UNKNOWN_TOOL` 是模型写错了，告诉它正确的名字就行；
# `TOOL_HIDDEN` 是权限和时机的事，换个名字没用，该由程序或人决定。
#
# ## 动态上下文：每次都问，记几次？
#
# 前台的动态上下文有两个部分，每个是一个 `ContextPart`，带着一个函数 `read`，每次请求之前调用一次：
# %% hidden-why [markdown] lang="en"
# Nothing ran, and still each call has a result of its own. The difference matters: `UNKNOWN_TOOL` is a slip of the model, which
# only has to be told the right name; `TOOL_HIDDEN` is a matter of permission and timing, which no other spelling changes, and
# which a program or a person decides.
#
# ## Dynamic context: asked every time, logged how often?
#
# The desk's dynamic context has two parts. Each is a `ContextPart` with a function, `read`, which is called before every
# request:

# %% context-parts
for part in Desk().prompt().context:
    print(part.name, part.version, "|", part.read())

# %% snapshot [markdown] lang="zh"
# 这些话模型看得到，所以也得记：两个部分记成一份**快照**，一条用户角色的消息，来源写明不是用户说的，
# 而是插件（往请求里放东西的程序）放的。
#
# **预测 1。** 问三次，前两次都是星期一，第三次之前到了星期二；等的人数一直没变。日志里有几份快照？
# 在下面写一个数，也可以空着。

# %% snapshot [markdown] lang="en"
# The model sees what they say, so it has to be logged: both parts in one **snapshot**, a message in the user's role whose
# source says that no user said it but a plugin, a program that puts things into requests.
#
# **Prediction 1.** Three questions: the first two on a Monday, and by the third it is Tuesday. The number of people waiting
# stays the same. How many snapshots are in the log? Put a number below, or leave it open.

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
# 每次都问，变了才记。（`session-opener` 是开场消息，三次提问只记了一条。）最后那份快照说了什么？

# %% snapshot-text [markdown] lang="en"
# It is asked for every time, and logged when it has changed. (`session-opener` is the opener, logged once for all three
# questions.) What does the last snapshot say?

# %% snapshot-last
print(session.events[snapshots[-1]].data["content"][0]["text"])

# %% header-log [markdown] lang="zh"
# 只有日子变了，快照却是完整的：等的人数也再说一遍，免得模型自己去拼。旧的那份还在表面上，所以新的要说自己替代它。
#
# 请求头和它的来源也是变了才记。录下的那一天，请求头在哪里变过，变了什么？

# %% header-log [markdown] lang="en"
# Only the day changed, and still the snapshot is complete: it gives the number of people waiting once more, so that the model
# need not piece things together. The old one stays on the surface, so the new one says that it takes its place.
#
# The header and its sources are logged on change, too. Where did the header change on the recorded day, and how?

# %% headers
for event in events:
    if event.type == "request/header":
        header = event.data["header"]
        tools = [tool["name"] for tool in header["tools"]]
        print(event.seq, event.data["reason"], header["config"]["model"], tools)

# %% rebuild [markdown] lang="zh"
# 请求头比请求少：开始时一个，开放预约时一个，审计时一个（另一个作用域，另一个模型），回到前台又一个。
# 每次请求用的，是在它之前最近的那一个。
#
# ## 重建任何一次请求
#
# `rebuild_request(events, seq)` 只看日志，给出 `seq` 那一步的整个请求。`difference` 列出两个请求不同的地方，
# 没有不同就是空的。拿重建的和模型真正收到的比：

# %% rebuild [markdown] lang="en"
# There are fewer headers than requests: one at the beginning, one when booking opens, one for the audit, with another scope and
# another model, and one back at the desk. A request uses the latest header before it.
#
# ## Any request again
#
# `rebuild_request(events, seq)` looks at the log alone and gives the whole request of the step at `seq`. `difference` lists
# where two requests differ, and is empty where they do not. Compare what is rebuilt with what the model really received:

# %% rebuilt
same = [difference(one.request, rebuild_request(events, one.seq).request) == ()
        for one in received]
print(len(same), all(same))

# %% smuggle [markdown] lang="zh"
# ## 弄坏它：偷偷塞一句
#
# 有个旧程序想让模型知道价目表，图省事，在请求发出之前的最后一刻把它塞了进去。`before_send` 就是那个时刻：

# %% smuggle [markdown] lang="en"
# ## Break it: a word slipped in
#
# An old program wants the model to know the prices, and takes the easy way: it puts them into the request at the last moment
# before it is sent. `before_send` is that moment:

# %% break-it tags=["raises-exception"]
session = Session.create("smuggled")
ask(session, Desk(), "What does it cost?",
    before_send=lambda request: whispered(request, "blood test 18.00"))

# %% smuggled [markdown] lang="zh"
# 报错的最后一行说：要发的请求和日志在某一条消息上不同（消息从 0 数起），什么也没发；先把要给模型看的记下来，再发。
# 日志里，这一轮照样有个结尾。它的错误码是什么，价目表漏进去了吗？

# %% smuggled [markdown] lang="en"
# The last line of the error names the message in which the request differs from the log, counted from 0, and says that nothing
# was sent: log what the model is to see, then send it. In the log the turn has a proper end. What is its error code, and did
# the prices leak into it?

# %% smuggled-end
reason = session.events[-1].read()["reason"]
print(session.events[-1].type, reason["error"]["code"], "18.00" in str(reason))

# %% smuggled-ways [markdown] lang="zh"
# 别的手脚呢？每一种都对一次真的请求做一遍，看比较指出哪里不同：

# %% smuggled-ways [markdown] lang="en"
# And other tricks? Each of them is done to a real request. What does the comparison name?

# %% smuggle-table
smuggle_table(received[1].request)

# %% smuggled-why [markdown] lang="zh"
# 一个也没漏掉。（拿掉第一条，后面的全错开一位，所以条条都不同。）这就是**模型看得到的，就是记下了的**：
# 它不靠大家自觉，靠的是每次发送之前的比较，和日志不同就不发。
#
# ## 压缩之后呢？
#
# **预测 2。** 问一次，压缩整段历史，再问一次；日子和人数一直没变。现在日志里有几份快照？

# %% smuggled-why [markdown] lang="en"
# None of them gets through. (With the first message dropped, all others move up by one, so each of them differs.) This is
# **model-visible means logged**: not a promise that everybody has to keep, but a comparison before each request, and what
# differs from the log is not sent.
#
# ## And after a compaction?
#
# **Prediction 2.** One question, then the whole history is compacted, then another question; day and waiting room stay the
# same. How many snapshots are in the log now?

# %% guess-again
guess_again = None

# %% compacted
session, desk = Session.create("short"), Desk()
ask(session, desk, "Any news?")
summarise(session, "No news.")
ask(session, desk, "And now?")
found = [plugin for _, plugin in plugins(session.events)]
print(found, compare(guess_again, found.count("dynamic-context")))

# %% compacted-why [markdown] lang="zh"
# `compact` 是压缩留下的摘要。事实没变，可模型看不到了：两份快照都在日志里，第一份已被遮蔽。
# 所以“变了没有”，要和**表面上**最近的一份比，不和日志里的比。开场消息也一样：从表面上消失了，就再记一次。
#
# ## 翻看每一次请求
#
# 每一行是一个部分；＋ 是上一次请求里没有的，条形是它占多少 token。
#
# **拖动滑块找一找：** 有一次请求，开场消息（`house-rules`）重新来了，`today` 却没有；另有一次正好相反，
# `today` 重新来了，而那天并没有变。是哪两次？为什么？

# %% compacted-why [markdown] lang="en"
# `compact` is the summary that the compaction left. Nothing changed in the world, but the model could no longer see it: both
# snapshots are in the log, and the first is shadowed. So whether something changed is decided by the latest snapshot **on the
# surface**, not in the log. The same goes for an opener: once it is off the surface, it is logged again.
#
# ## Leaf through the requests
#
# A row is a part; + marks what the request before did not have, and the bar shows how many of the tokens it takes.
#
# **Find it with the slider:** in one request the opener (`house-rules`) comes anew and `today` does not; in another `today`
# comes anew and the opener does not, although it was the same day as before. Which two, and why?

# %% explorer
explorer = request_explorer(events, show_text=True)
explorer

# %% move
explorer.request.value = 4
explorer.still

# %% moved [markdown] lang="zh"
# 上面停在开放了预约、也换了一天的那次：新的是一个工具和一份快照，还有上一次的回答和这一次的提问。
#
# <details><summary>答案：哪两次，为什么</summary>
#
# 是两次压缩之后的那两次，下面的输出给出它们的序号。前一次压缩取走了开头的一段，里面有开场消息和星期一的快照；
# 星期二的快照在后面，还在表面上，所以只有开场消息要再来。后一次压缩取走了中间的一段，里面有星期二的快照；
# 开场消息这时已经在它后面，留下了。
#
# </details>
#
# 对照一下。先是每次请求里新来的开场消息和动态上下文，再是每次压缩遮蔽了哪些事件：

# %% moved [markdown] lang="en"
# The picture above shows the request after booking opened and the day changed: a tool and a snapshot are new, and so are the
# previous answer and the question.
#
# <details><summary>Answer: which two, and why</summary>
#
# Those that follow a compaction; their numbers are printed below. The first compaction took the beginning of the history, with
# the opener and Monday's snapshot in it; Tuesday's came later and is still on the surface, so only the opener has to come
# again. The second took a piece from the middle, with Tuesday's snapshot; by then the opener came after that piece, and stayed.
#
# </details>
#
# Compare: first the openers and the context that are new in each request, then what each compaction shadowed.

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
# 上下文在一轮中间变，还有压缩、修剪、中断的流、换了进程接着跑。比了多少次请求，都一样吗？

# %% law [markdown] lang="en"
# ## The law
#
# A law holds for every input. **The request that is rebuilt from the log is the request that the model received.** Many random
# sessions: sections come and go, tools are hidden and shown, the context changes inside a turn, and there are compactions,
# pruning, broken streams and new processes. How many requests are compared, and are they all the same?

# %% law-all
runs = [random_requests(seed) for seed in range(40)]
same = [difference(one.request, rebuild_request(run.session.events, one.seq).request) == ()
        for run in runs for one in run.received]
print(len(same), all(same))

# %% six [markdown] lang="zh"
# ## 六个推论
#
# 教材 §4.6 由“看得到就是记下了”推出六件事。头两件已经见过：
#
# 1. 没有插件能在调用前塞进文字（弄坏的那一格）。
# 2. 动态上下文一变，就留下持久的快照（预测 1）。
#
# 再看两件：
#
# 3. 要紧的工具结果在表面上：从哪次请求起有它、出自哪个调用，都查得到。
# 4. 路由和调用配置，每次请求都查得到是哪一份。
#
# `explain_request` 像第一张表那样，列出一次请求的部分和来历：

# %% six [markdown] lang="en"
# ## Six consequences
#
# The chapter (§4.6) draws six consequences from “model-visible means logged”. Two of them you have seen:
#
# 1. No plug-in slips text in before the call (the cell that breaks it).
# 2. A dynamic context that changed leaves a durable snapshot (prediction 1).
#
# Two more:
#
# 3. A tool result that matters is on the surface, and the log tells since which request, and from which call.
# 4. Routing and call config are attributed to each request.
#
# `explain_request` lists the parts of a request and where they are from, as the first table does:

# %% six-requests
for number, one in enumerate(received, start=1):
    parts = explain_request(events, one.seq)
    print(number, rebuild_request(events, one.seq).header["config"]["model"],
          [(part.name, part.seqs) for part in parts if part.kind == "result"])

# %% six-compaction [markdown] lang="zh"
# 审计那次用了另一个模型。结果从调用之后的下一次请求起就在，到压缩把它遮蔽为止；那以后，模型只看得到摘要。
#
# 5. 压缩记下范围、摘要和做法。摘要这个部分引用它遮蔽的每一个事件，还有压缩自己的两个：

# %% six-compaction [markdown] lang="en"
# The audit was done by another model. A result is there from the request after its call until a compaction shadows it; from
# then on the model has only the summary.
#
# 5. A compaction logs its range, its summary and how that was made. The part that is the summary cites every event that it
#    shadows, and the compaction's own two:

# %% six-summary
parts = explain_request(events, received[5].seq)
summary = next(part for part in parts if part.kind == "summary")
print(summary.name, summary.seqs)
print([events[seq].type for seq in summary.seqs[:3]])

# %% six-replay [markdown] lang="zh"
# `compaction/start` 记着为什么压缩、哪个范围，`compaction/summary` 记着摘要和写它的模型（B5 细看过）。
#
# 6. 重放能重建模型看到的一切，不重复任何副作用。重放一遍，把请求全部重建，预约还是只有那一个：

# %% six-replay [markdown] lang="en"
# `compaction/start` says why and which range, `compaction/summary` has the summary and the model that wrote it (see lab B5).
#
# 6. A replay rebuilds all that the model saw and repeats no side effect. Replay it, rebuild all requests, and there is still
#    only that one booking:

# %% six-replayed
again = replay(events).events
print(all(difference(one.request, rebuild_request(again, one.seq).request) == ()
          for one in received), day.desk.booked)

# %% whole [markdown] lang="zh"
# ## 能重建，不等于整份留着
#
# 有人说：何必这么麻烦，每次把整个提示字符串存一份就好了。来电者在第一句话里留了电话号码。
# 它出现在日志的几个事件里，又会出现在几份提示字符串里？第二行是每份字符串的长度：

# %% whole [markdown] lang="en"
# ## Rebuildable is not “the whole prompt was kept”
#
# Why all this, somebody asks, when each prompt could simply be stored as one string? In the first sentence the caller left a
# phone number. How many events of the log have it, and how many of those strings? The second line gives the length of each
# string:

# %% whole-copies
whole = kept_whole(received)
print(sum(PHONE in str(event.read()) for event in events),
      sum(PHONE in text for text in whole))
print([len(text) for text in whole])

# %% whole-gone [markdown] lang="zh"
# 每份字符串都把还在表面上的历史再抄一遍，所以越来越长，只有第一次压缩之后短了一回（第二次省下的，还不够新来的）。
# 反过来问日志：假如明天要删掉这个号码，哪几次请求从此重建不出来？

# %% whole-gone [markdown] lang="en"
# Each string copies the history on the surface once more, so they grow; only after the first compaction is one shorter (the
# second saved less than what came in). Now ask the log the other way round: if that number has to be deleted tomorrow, which
# requests can no longer be rebuilt?

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
# 可以重建，是说由事件、请求头和来源算得出每一次请求（定律那一格），而且说得出每个部分出自谁、哪个版本、哪个作用域。
# 字符串只有结果：看不出哪一句是用户说的、哪一句是插件塞的，也没法证明它就是发出去的那一份。
#
# 不安全在于副本。同一个号码在日志里只有一处，在整份保存的提示里却有好几处（数副本的那一格），每一处都要加密、授权、
# 按期删除，漏掉一处就等于没删；它们又往往躺在调试日志里，没有人管。不压缩的话，总长还随请求数的平方增长，
# 因为每次请求都带着此前的全部历史。
#
# 可以重建，也不是要把明文留到永远：正文可以换成引用或密文，到期可以销毁密钥。那以后有的请求就重建不出来了，
# 要紧的是系统说得出是哪几次（上一格），而不是悄悄给出一份不同的。怎样做，B10 讲。
#
# </details>

# %% think-whole [markdown] lang="en"
# **Question 2 of the chapter (★★): “can be rebuilt” against “the whole prompt string was kept”: what differs, and what is
# unsafe about the second?**
#
# <details><summary>An answer</summary>
#
# Rebuildable means that events, headers and sources give every request again (the cell of the law), and say where each part
# comes from, in which version, for which scope. A string is only the result: it does not tell what the user said from what a
# plug-in added, and nothing proves that it is what was sent.
#
# It is the copies that are unsafe. The number is in the log once, and several times in the prompts that are kept whole (the
# cell that counts); each copy has to be encrypted, guarded and deleted in time, and if one is forgotten, the number is still
# there. Such strings often lie in debug logs that nobody looks after. And without compaction their total length grows with
# the square of the number of requests, since every request carries all of the history before it.
#
# Nor does rebuildable mean plain text for ever: a body may be a reference or encrypted, and its key destroyed when its time is
# over. Some requests can then not be rebuilt any more. What counts is that the system can say which (the cell above), instead
# of silently giving a different one. B10 shows how that is done.
#
# </details>

# %% exercise [markdown] lang="zh"
# ## 练习：补上没记下的来源
#
# 回到弄坏的那一格：前台真的需要价目表。写一个函数 `sourced(prompt, prices)`：`prompt` 是前台的那种 `Prompt`，
# `prices` 是一个函数，`prices()` 给出价目表此刻的文字。返回一份新的 `Prompt`，价目表是其中的一个部分：
#
# - 它叫 `"prices"`，版本是 `"prices.csv"`，在 `prompt` 的作用域里有效
# - 每次请求，模型都看到那一刻的整份价目；在轮次中间改了价格，也一样
# - 没变就不重复记
# - 只多这一个部分；原来的一个不少，内容和先后不变；传进来的 `prompt` 也不改
#
# 检查会真的跑几轮，中间改价、压缩、换进程，再从日志里看每次请求。
#
# <details><summary>提示</summary>
#
# `Section`、`Opener`、`ContextPart`，哪一个是每次请求之前都问一遍、变了才记的？
# `ContextPart(name, function, version=…)` 要的是函数本身，不是它此刻的答案。
# `replace(prompt, context=[…])` 给出一份只换了 `context` 的副本，原来的要用 `*prompt.context` 带上。
#
# </details>

# %% exercise [markdown] lang="en"
# ## Exercise: log the missing source
#
# Back to the cell that was refused: the desk does need its prices. Write a function `sourced(prompt, prices)`, where `prompt`
# is a `Prompt` like the desk's, and `prices` is a function: `prices()` gives the text of the price list as it is now. Return a
# new `Prompt` with the list as one of its parts:
#
# - it is called `"prices"`, its version is `"prices.csv"`, and it counts in the scope of `prompt`
# - at every request the model sees the whole list of that moment, even when a price changes inside a turn
# - what has not changed is not logged again
# - it is the only new part; all the others stay, as they are and in their order, and the `prompt` handed in is not changed
#
# The check really runs some turns, changes prices, compacts, goes on in another process, and looks at each request in the log.
#
# <details><summary>Hint</summary>
#
# `Section`, `Opener`, `ContextPart`: which is asked before every request and logged when it changed? A
# `ContextPart(name, function, version=…)` takes the function, not what it answers now. `replace(prompt, context=[…])` gives a
# copy with another `context`; take the old parts along with `*prompt.context`.
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
# 为什么不用 `Section`？也能重建，可段落在请求头里：价格一改，整个请求头要再记一遍，服务商缓存的开头也从那里作废。
# 动态上下文是一条消息，变了才追加一份，前面的都不动；代价是旧的快照还在表面上，所以新的要说自己替代旧的。
# `Opener` 只记一次，以后改了价，模型也不知道。
#
# </details>
#
# 想看价目表怎样出现在请求里，就加一格：
#
# ```python
# session = Session.create("mine")
# ask(session, Desk(), "多少钱？", prompt=sourced(Desk().prompt(), lambda: "18.00"))
# parts_table(session.events, 1)
# ```
#
# ## 再想一个问题
#
# 有人嫌慢，想去掉发送之前的比较：反正请求就是从日志派生的。会少掉什么？
#
# <details><summary>参考答案</summary>
#
# 只要没有人动手脚，比较的结果永远是相等，看上去白费工夫。它防的正是以后：有人加一个 `before_send`、
# 一个“临时”的补丁，从那天起，日志就不再是模型看到的东西，而且没有任何症状，直到有人要追查一次答错的回答。
# 有了比较，当场就失败，还说得出是哪个部分（动手脚的那张表），不用等到几个月后才发现查不清。
# 比较之后才改的，比如网络上的一层代理，它就看不见了。
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
# Why not a `Section`? It could be rebuilt as well, but sections stand in the header: with every new price the whole header is
# logged again, and the prefix that a provider has cached ends there. Dynamic context is a message, appended when it changed,
# and nothing before it moves; the price of that is an old snapshot left on the surface, so the new one has to say that it takes
# its place. An `Opener` is logged once, and the model never hears of a new price.
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
# ## One more question
#
# To be faster, somebody wants to drop the comparison before sending: the request is derived from the log anyway. What would be
# lost?
#
# <details><summary>An answer</summary>
#
# As long as nobody interferes the two are always equal, and it looks like wasted work. It guards against what comes later: a
# `before_send`, a “temporary” patch. From that day on the log is not what the model saw, and nothing shows it, until somebody
# has to find out why an answer was wrong. With the comparison it fails on the spot and names the part (the table of tricks),
# instead of being untraceable months afterwards. What changes a request after the comparison, such as a proxy on the network,
# it does not see.
#
# </details>

# %% recap [markdown] lang="zh"
# ## 小结
#
# - 一次请求：配置、段落、工具、开场消息、动态上下文、派生的消息；每个部分都查得到记下它的事件，
#   段落、工具、开场消息和动态上下文还有作用域和版本。
# - 请求头、来源和快照变了才记；从表面上消失了的快照和开场消息，再记一次。
# - 看得到的就是记下了的：发送之前和日志比，不同就不发；所以任何一次请求都能重建。
# - 能重建，不是整份留着：一句话只存一处，删了它，也说得出哪几次请求从此重建不出来。

# %% recap [markdown] lang="en"
# ## Recap
#
# - A request: config, sections, tools, openers, dynamic context, derived messages. Each part names its events; sections,
#   tools, openers and context have a scope and a version, too.
# - Header, sources and snapshots are logged on change; snapshots and openers that went off the surface are logged again.
# - Model-visible means logged: compared before it is sent, and not sent on a difference. So any request can be rebuilt.
# - Rebuildable is not “kept whole”: a sentence stands in one place, and once it is deleted, the log can say which requests
#   can no longer be rebuilt.
