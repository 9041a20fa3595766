# %% question [markdown] lang="zh"
# # 两步工具任务
#
# 40 分钟。用户问一句，模型查一次表，再回答。屏幕上只有几行字。**这一次任务里，到底发生了什么？**
# 教材第 4 章的回答是一份事件日志：每件事都是一条记录，有自己的位置，也说得出从哪里来。
#
# 学完你能：
#
# - **读懂**一份日志：每个事件的 `type`、`seq`，属于哪一轮、哪一步
# - **回答**聊天记录答不出的七个问题，并指出答案在哪些事件里
# - **解释**顺序为什么看 `seq` 而不看时间，坏数据为什么在 `append` 时就要拦下

# %% question [markdown] lang="en"
# # A two-step tool task
#
# 40 minutes. A user asks, the model looks into a table once, then it answers. The screen shows a few lines. **What really
# happened in this task?** Chapter 4 answers with an event log: each thing that happens is one record, with a place of its own
# and a word on where it came from.
#
# Afterwards you can:
#
# - **read** a log: the `type` and the `seq` of each event, and the turn and step it belongs to
# - **answer** seven questions that a chat transcript cannot answer, and point at the events that do
# - **explain** why order goes by `seq` and not by the clock, and why `append` is the place to refuse bad data

# %% imports
from itertools import pairwise

from labsupport.sessionlog import Session, check_invariants
from labsupport.sessionlog.driver import run_turn
from labsupport.sessionlog.models import Reply, ScriptedModel, call
from labsupport.sessionlog.transcript import transcript
from labsupport.workbench.checks.b1 import check_call_of_result
from labsupport.workbench.checks.base import compare
from labsupport.workbench.explorers.b1 import scrubber
from labsupport.workbench.log_plays import figures
from labsupport.workbench.log_samples import load
from labsupport.workbench.log_task import CONFIG, TOOLS
from labsupport.workbench.random_logs import random_log
from labsupport.workbench.scratch import scratch
from labsupport.workbench.tables import event_table

# %% look [markdown] lang="zh"
# ## 录一次任务
#
# 工具是真的：用 pandas 读 `outpatient.csv`，比较两年的检验量。

# %% look [markdown] lang="en"
# ## Record a task
#
# The tool is real. It reads `outpatient.csv` with pandas and compares the tests of two years.

# %% tool
print(TOOLS["compare_years"]({"file": "outpatient.csv", "column": "count"}))

# %% model [markdown] lang="zh"
# 模型照剧本说话：第一次调用工具，第二次给出答案。`run_turn` 把经过一件一件记进 `session`。

# %% model [markdown] lang="en"
# The model is scripted: asked once, it calls the tool; asked again, it answers. `run_turn` puts it all down in `session`, one
# fact after the other.

# %% record
look_up = call("call_1", "compare_years", '{"file": "outpatient.csv", "column": "count"}')
model = ScriptedModel([Reply("I look it up.", [look_up]), Reply(figures("All tests"))])
session = Session.create("demo")
question = "How many tests were done in 2025, against 2024?"
run_turn(session, question, model, TOOLS, config=CONFIG)

# %% seen [markdown] lang="zh"
# 人在屏幕上看到的：

# %% seen [markdown] lang="en"
# This is what a person saw:

# %% seen-rows
for row in transcript(session.events):
    print(row.role, row.kind, "|", row.text)

# %% predict [markdown] lang="zh"
# ## 预测
#
# 屏幕上的几条，上面都看到了。日志里会有多少个事件？

# %% predict [markdown] lang="en"
# ## Predict
#
# That is all there was on the screen. How many events are in the log?

# %% guess
guess = None

# %% counted
print(compare(guess, len(session.events)))

# %% table [markdown] lang="zh"
# 这就是教材的实验一：任务的事件类型、`seq`、轮次、步骤，保存成一张表。`scratch` 给我们一个空文件夹，表就存在里面。
# 连着的流式碎片（`assistant/chunk`）并成一行。

# %% table [markdown] lang="en"
# The chapter's first experiment: the type, `seq`, turn and step of every event, saved as a table, in an empty folder that comes
# from `scratch`. Pieces of a stream that follow each other (`assistant/chunk`) share a row.

# %% events
scratch()
report = event_table(session.events)[["seq", "type", "turn", "step", "call"]]
report.to_csv("report.csv", index=False)
report

# %% why [markdown] lang="zh"
# 表里没有一句正文。
#
# 一轮从用户开口到回答完毕；轮次里每请求一次模型，就是一步。步骤里先记下请求带了什么，再记下流，然后是完整的消息；
# 每个调用先记“开始”（`tool/call`），再记结果。日志只追加，从不改写。
#
# 事件还会说出自己的依据。`source_event_seqs` 列出它引用的事件：助手的消息引用拼成它的碎片，结果引用它的调用。

# %% why [markdown] lang="en"
# The table holds no message body.
#
# A turn lasts from the user's words to the end of the answer; every request to the model is a step of it. In a step come what
# the request carried, the stream, the whole message; of each call first that it started (`tool/call`), then its result. The log
# is only ever appended to.
#
# Events also name what they rest on. `source_event_seqs` lists the events that one cites: an assistant's message cites the
# chunks that it was put together from, a result cites its call.

# %% sources
for event in session.events:
    if event.source_event_seqs:
        print(event.seq, event.type, "←", event.source_event_seqs)

# %% seven [markdown] lang="zh"
# ## 七个问题
#
# 教材 §4.1 列了七个问题，聊天记录一个也答不了。下面用几份示例日志来答，它们由同一个循环录下。先写一个小函数，取出某份日志里
# 某种类型的事件：

# %% seven [markdown] lang="en"
# ## Seven questions
#
# §4.1 of the chapter lists seven questions that no chat transcript can answer. Here are sample logs that can, recorded by the
# same loop. First a function that takes the events of one type out of a log:

# %% of-type
def of_type(log, kind):
    return [event for event in load(log).events if event.type == kind]

# %% q1 [markdown] lang="zh"
# **1. 这段话是哪个模型写的？** 每条助手消息都写着来源。这份日志中途换过模型：

# %% q1 [markdown] lang="en"
# **1. Which model wrote this?** Every assistant message names its source. In this log the model changes on the way:

# %% q1-models
for event in of_type("resumed", "assistant/message"):
    print(event.seq, event.data["message"]["source"]["model"])

# %% q2 [markdown] lang="zh"
# **2. 流是完整的，还是被长度上限截断了？** 看流的最后一块：

# %% q2 [markdown] lang="en"
# **2. Was the stream complete, or cut at its token limit?** The last chunk tells:

# %% q2-finish
for log in ("two_step", "max_tokens"):
    print(log, of_type(log, "assistant/chunk")[-1].data["chunk"]["reason"]["kind"])

# %% q3 [markdown] lang="zh"
# **3. 这个结果回答哪个调用？** 结果带着调用的 id，还引用了那个调用开始的事件：

# %% q3 [markdown] lang="en"
# **3. Which call does a result belong to?** It carries the id of the call, and it cites the event that started it:

# %% q3-calls
for event in of_type("parallel", "tool/result"):
    source = event.data["message"]["source"]
    print(event.seq, source["callId"], "←", event.source_event_seqs)

# %% q4 [markdown] lang="zh"
# **4. 用户中途插话，从哪一步起作用？** 插的话和别的消息一样，落在某一步里。第二行就是插的话：

# %% q4 [markdown] lang="en"
# **4. The user steered in between. From which step on did it count?** Such words stand in a step like any other message;
# the second row is the steering:

# %% q4-steps
table = event_table(load("steering").events)
table[table.type == "user/message"][["seq", "turn", "step"]]

# %% q5 [markdown] lang="zh"
# **5. 恢复之后的请求，还是原来那个上下文吗？** 至少配置不是：恢复后记下了新的请求头。把整个请求重建出来逐项比较，是 B6 的事。

# %% q5 [markdown] lang="en"
# **5. After a resume, is it still the context of the original request?** Its config is not: a new request header was logged.
# Rebuilding the whole request, to compare all of it, is for lab B6.

# %% q5-headers
for event in of_type("resumed", "request/header"):
    print(event.seq, event.data["reason"], event.data["header"]["config"]["model"])

# %% q6 [markdown] lang="zh"
# **6. 压缩盖住了什么，摘要是哪个模型写的？** B5 会细看，答案在这里：

# %% q6 [markdown] lang="en"
# **6. What did compaction hide, and which model wrote the summary?** B5 looks closer; the answer is here:

# %% q6-summary
for event in of_type("replaced", "compaction/summary"):
    print(event.seq, event.data["shadowedSeqs"], event.data["model"])

# %% q7 [markdown] lang="zh"
# **7. 这一轮是怎么结束的？** 自己说完、被取消、出错、被截断，还是进程死了。轮次也可能被拦下（`blocked`），
# 示例日志里没有这样的一份：

# %% q7 [markdown] lang="en"
# **7. How did the turn end?** By itself, cancelled, failed, cut off, or because the process died. A turn can also be refused
# (`blocked`); no sample log has one:

# %% q7-ends
for log in ("two_step", "cancelled", "provider_error", "max_tokens", "interrupted"):
    print(log, of_type(log, "turn/end")[-1].data["reason"]["kind"])

# %% clock [markdown] lang="zh"
# ## 为什么是 `seq`，不是时间
#
# 每个事件也有 `time`。按时间排序不行吗？`parallel` 录到一半，有人把机器的时钟往回拨了。按时间排好，打印相邻两个 `seq`
# 后者反而更小的地方：

# %% clock [markdown] lang="en"
# ## Why `seq`, and not time
#
# Events have a `time` as well. Why not sort by it? While `parallel` was being recorded, somebody set the machine's clock back.
# Sort by time, and print the neighbours of which the second has the smaller `seq`:

# %% by-time
events = load("parallel").events
by_time = sorted(events, key=lambda event: event.time)
print([(one.seq, next.seq) for one, next in pairwise(by_time) if next.seq < one.seq])

# %% by-time-tools [markdown] lang="zh"
# 工具的事件落到了哪里？

# %% by-time-tools [markdown] lang="en"
# And where do the events of the tools end up?

# %% by-time-order
kinds = ("tool/call", "tool/result", "step/end")
print([(event.seq, event.type) for event in by_time if event.type in kinds])

# %% clock-why [markdown] lang="zh"
# 最后一个结果跑到了所有调用的前面，第 1 步还没干活就结束了。时钟会被校准、会重复、各台机器不一样。`seq` 是事件在日志里的位置，
# 追加一个就加一，不会错：顺序只看它，`time` 只用来估计花了多久。
#
# ## 弄坏它
#
# 日志里的数据要能写成 JSON，再一模一样地读回来。做不到的，`append` 当场拒收。先试 NaN，它名叫“不是数”：

# %% clock-why [markdown] lang="en"
# The last result now comes before every call, and step 1 ends before its work is done. Clocks are corrected, repeat
# themselves, and differ between machines. `seq` is the place in the log and grows by one with every append: it alone gives the
# order. `time` is good for guessing how long something took.
#
# ## Break it
#
# The data of an event has to be written as JSON and come back the same. What cannot is refused by `append`, then and there.
# First NaN, a float that is not a number:

# %% break-nan tags=["raises-exception"]
session.append("feedback/record", {"score": float("nan")})

# %% break-two [markdown] lang="zh"
# 报错是说：这个 NaN 在 JSON 里写不出来。它指出位置（`$` 是整个 `data`，`key 1` 是它的第一个字段），但不引用内容。
# 再来一个元组，读回来会变成列表：

# %% break-two [markdown] lang="en"
# The error names the place (`$` is the whole `data`, `key 1` its first field) and quotes nothing. Now a tuple, which would come
# back as a list:

# %% break-tuple tags=["raises-exception"]
session.append("feedback/record", {"scores": (4, 5)})

# %% break-three [markdown] lang="zh"
# 报错是说：元组不是 JSON 里有的值。再来一个太大的整数，别的语言读它会悄悄取整：

# %% break-three [markdown] lang="en"
# An integer so large that readers in other languages would silently round it:

# %% break-integer tags=["raises-exception"]
session.append("feedback/record", {"score": 2**53})

# %% break-left [markdown] lang="zh"
# 报错是说：超出这个范围，JavaScript 就分不清相邻的整数；要写成字符串。
#
# 失败之后，日志变了吗？打印事件的个数，和最后一个的类型：

# %% break-left [markdown] lang="en"
# Has the log changed after these failures? Print the number of events, and the type of the last:

# %% broken-left
print(len(session.events), session.events[-1].type)

# %% law [markdown] lang="zh"
# 没有。先检查，后写入：坏值从来没进过日志，事后也就不必清理。
#
# ## 定律
#
# **`seq` 就是位置，轮次、步骤、调用层层嵌套；工具直接给出的结果，都引用自己的调用。** 改写的、没有开始的，练习里再说。
# 定律是对任何输入都成立的性质，一个例子证明不了什么。用一百个种子各录一次，打印一共多少事件、`seq` 是不是位置、
# 嵌套有没有问题：

# %% law [markdown] lang="en"
# No. It is checked before it is written: a bad value never gets in, so nobody has to clean up.
#
# ## The law
#
# **`seq` is the place; turns, steps and calls nest; a result straight from a tool cites its call.** Rewritten ones and calls
# never started come in the exercise. A law holds for every input, so one example proves little. Record a log with each of a
# hundred seeds. How many events are there, is every `seq` its place, does everything nest?

# %% law-logs
logs = [random_log(seed).events for seed in range(100)]
print(sum(map(len, logs)))
print(all([event.seq for event in log] == list(range(len(log))) for log in logs))
print(all(check_invariants(log) == [] for log in logs))

# %% law-results [markdown] lang="zh"
# 所有结果，和它们引用的那个调用：id 都对得上吗？

# %% law-results [markdown] lang="en"
# All results, each with the call that it cites. Do the ids agree?

# %% law-cited
results = [(log, event) for log in logs for event in log if event.type == "tool/result"]
asked = [log[event.source_event_seqs[0]].data["callId"] for log, event in results]
answered = [event.data["message"]["source"]["callId"] for _, event in results]
print(len(results), asked == answered)

# %% law-ids [markdown] lang="zh"
# 只凭 id 找得到调用吗？数一数，有多少结果的 id 在同一份日志里属于不止一个调用：

# %% law-ids [markdown] lang="en"
# Would the id alone be enough? Count the results whose id belongs to more than one call of the same log:

# %% law-repeated
def ids_of(log):
    return [event.data["callId"] for event in log if event.type == "tool/call"]

known = [ids_of(log) for log, _ in results]
print(sum(ids.count(call_id) > 1 for ids, call_id in zip(known, answered, strict=True)))

# %% explore [markdown] lang="zh"
# ## 动手：日志滑块
#
# 一个滑块，四个视图，都截至同一个 `seq`，也就是**水位线**：日志、模型表面（模型会看到的消息）、人看到的对话记录，
# 还有轮次和调用的状态。日志是 `parallel`：一条消息里两个调用。
#
# **拖动滑块找一找：** 人在哪个 `seq` 读到答案的第一个字？模型的表面到哪个 `seq` 才有这个答案？先自己拖，再运行下一格。

# %% explore [markdown] lang="en"
# ## Your turn: the log scrubber
#
# One slider and four views, all as of the same `seq`, the **watermark**: the log, the model's surface (the messages that it
# will see), the transcript that a person saw, and the state of turns and calls. The log is `parallel`, with two calls in one
# message.
#
# **Find it with the slider:** at which `seq` does the person read the first word of the answer? And at which `seq` is the
# answer on the model's surface? Move it yourself before you run the next cell.

# %% explorer
explorer = scrubber(events, show_text=True)
explorer

# %% move
explorer.seq.value = 34
explorer.still

# %% moved [markdown] lang="zh"
# 表里标着“未完成”的那一行，人已经读到了，表面上还没有。对照你找到的两个位置：

# %% moved [markdown] lang="en"
# The entry marked “partial” has been read by a person and is not on the surface. Compare with the two places you found:

# %% moved-seqs
chunks = [event for event in events if event.type == "assistant/chunk"]
words = [event.seq for event in chunks if event.data["chunk"]["type"] == "text-delta"]
print(words[0], [event.seq for event in events if event.type == "assistant/message"][-1])

# %% exercise [markdown] lang="zh"
# ## 练习：找到结果的调用
#
# 给你一份日志的全部事件，和一个 `tool/result` 的 `seq`。返回它的 `tool/call` 的 `seq`；调用从没开始过，就返回 `None`。
#
# 用得上的字段：`event.type`、`event.seq`、`event.data`，还有 `event.source_event_seqs`（没有引用时是空的，循环里要写成
# `event.source_event_seqs or ()`）。小心两件事：id 会在后面的轮次里再次出现；改写过的结果，引用的是被它改写的那条结果，
# 那一条自己也可能是改写的。一直往回走，直到 `tool/call`。
#
# <details><summary>提示</summary>
#
# 不要找 id，顺着引用走：引用的事件是 `tool/call`，就找到了；是另一条 `tool/result`，就问它的调用是哪个。
#
# </details>

# %% exercise [markdown] lang="en"
# ## Exercise: find the call of a result
#
# You get all events of a log and the `seq` of a `tool/result`. Return the `seq` of its `tool/call`, or `None` if that call
# never started.
#
# The fields you need: `event.type`, `event.seq`, `event.data`, and `event.source_event_seqs` (empty where nothing is cited: in
# a loop write `event.source_event_seqs or ()`). Mind two things: ids come again in later turns, and a result that was rewritten
# cites the result that it rewrites, which may be rewritten itself. Go on until you reach a `tool/call`.
#
# <details><summary>Hint</summary>
#
# Do not search for the id, follow what is cited. If it is a `tool/call`, you have it; if it is another `tool/result`, ask for
# the call of that one.
#
# </details>

# %% call-of-result
def call_of_result(events, seq):
    ### BEGIN SOLUTION
    for cited in events[seq].source_event_seqs or ():
        if events[cited].type == "tool/call":
            return cited
        if events[cited].type == "tool/result":
            return call_of_result(events, cited)
    return None
    ### END SOLUTION

# %% call-of-result-check points=2
verdict = check_call_of_result(call_of_result)
print(verdict)
### BEGIN HIDDEN TESTS
assert verdict.correct, verdict
### END HIDDEN TESTS

# %% answer [markdown] lang="zh"
# <details><summary>答案</summary>
#
# ```python
# def call_of_result(events, seq):
#     for cited in events[seq].source_event_seqs or ():
#         if events[cited].type == "tool/call":
#             return cited
#         if events[cited].type == "tool/result":
#             return call_of_result(events, cited)
#     return None
# ```
#
# id 由模型起，只保证在一步之内不重复；`seq` 由日志给，永远只指一个事件。所以出处要用 `seq` 来写。
# 没有引用，就是没有开始：不要替它找一个看起来像的。
#
# </details>
#
# ## 思考题
#
# **教材的思考题 1（★）：为什么界面上的对话记录不能是下一次模型请求的唯一来源？** 先看 `parallel` 的请求头里
# 有些什么：

# %% answer [markdown] lang="en"
# <details><summary>Answer</summary>
#
# ```python
# def call_of_result(events, seq):
#     for cited in events[seq].source_event_seqs or ():
#         if events[cited].type == "tool/call":
#             return cited
#         if events[cited].type == "tool/result":
#             return call_of_result(events, cited)
#     return None
# ```
#
# An id is chosen by the model and is unique only within a step; a `seq` is given by the log and means one event for ever.
# That is why origins are written as `seq`. No citation means that the call did not start: do not find one that merely looks
# right.
#
# </details>
#
# ## Questions to think about
#
# **Question 1 of the chapter (★): why can the transcript on the screen not be the only source of the next request?** See first
# what the request header of `parallel` holds:

# %% header-holds
print(list(events[3].data["header"]))

# %% think [markdown] lang="zh"
# <details><summary>参考答案</summary>
#
# 对话记录是给人看的，多了一些，也少了一些。
#
# - 少：请求头、系统提示、工具和模型的名字不在里面（事件表里 `request/header` 那一行，上一格，问题 1 和 5）。
# - 少：结果属于哪个调用、调用有没有开始、流是不是被截断（问题 2、3、7）。少了这些，请求里的调用和结果就配不上对。
# - 多：人会看到没说完的话，模型的历史里没有它（滑块那一格的“未完成”）。
# - 不同：压缩之后，人看到的还是原文，模型看到的是摘要（问题 6；B2 把两者放在一起看）。
#
# 两者都应当从同一份日志派生，谁也不从另一个猜出来。
#
# </details>

# %% think [markdown] lang="en"
# <details><summary>An answer</summary>
#
# A transcript is made for people. It has too little, too much, and something else.
#
# - Too little: request header, system prompt, tools and model are not in it (the row `request/header` of the table, the cell
#   above, questions 1 and 5), nor whether a call started, which result is whose, or whether a stream was cut (2, 3 and 7).
#   Without these a request cannot pair its calls with their results.
# - Too much: a person reads half a sentence that is not in the model's history (“partial” in the scrubber).
# - Something else: after a compaction people still see the original words, the model a summary (question 6; B2 puts the two
#   side by side).
#
# Derive both from the same log; guess neither from the other.
#
# </details>

# %% recap [markdown] lang="zh"
# ## 小结
#
# - 一次任务是一串事件：轮次里有步骤，步骤里有请求、流、消息、调用和结果。
# - 顺序看 `seq`，出处看引用；时间和 id 都会重复，也会倒退。
# - 存下去就读不回原样的数据，在 `append` 时就被拒收，日志不变。

# %% recap [markdown] lang="en"
# ## Recap
#
# - A task is a sequence of events: steps within a turn, and in a step the request, the stream, the message, calls and results.
# - `seq` gives the order and citations the origin; times and ids repeat, and clocks even run back.
# - Data that would not come back the same is refused by `append`, and the log stays as it was.
