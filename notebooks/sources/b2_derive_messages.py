# %% question [markdown] lang="zh"
# # 派生消息
#
# 40 分钟。日志记下了一切，模型却只能看到消息。**哪些事件会到模型面前？** 少了不行，它会忘事；多了也不行，它会把同一件事读两遍。
#
# 学完你能：
#
# - **列出**哪些事件进入模型的历史，哪些留在外面，各是为什么
# - **解释**追加和替换怎样改变表面，日志为什么一行也不少
# - **写出** `derive_one`：给一个事件，返回它给模型的消息；同一份日志总是派生出同样的消息

# %% question [markdown] lang="en"
# # Derive messages
#
# 40 minutes. The log holds everything, and the model is shown messages. **Which events reach the model?** With too few it
# forgets; with too many it reads the same thing twice.
#
# Afterwards you can:
#
# - **list** the events that enter the model's history and those that stay out, each with its reason
# - **explain** how appending and replacing change the surface while the log loses nothing
# - **write** `derive_one`, the message that one event gives, so that the same log always gives the same messages

# %% imports
from unittest.mock import patch

from labsupport.sessionlog import Session, derive_event_message, fold_surface
from labsupport.sessionlog.transcript import transcript
from labsupport.workbench.checks.b2 import check_derive_event_message
from labsupport.workbench.checks.base import compare
from labsupport.workbench.explorers.b1 import scrubber
from labsupport.workbench.log_samples import load
from labsupport.workbench.log_views import LogViews
from labsupport.workbench.random_logs import random_log
from labsupport.workbench.tables import event_table

# %% look [markdown] lang="zh"
# ## 先看数据
#
# 和 B1 同样的问题，事先录好的一份日志。打印事件的个数，和出现过的类型：

# %% look [markdown] lang="en"
# ## Look at the data first
#
# B1's question, in a log recorded beforehand. The number of events, and the types among them:

# %% events
events = load("two_step").events
print(len(events), sorted({event.type for event in events}))

# %% predict [markdown] lang="zh"
# **预测 1。** 这些事件里，模型下一次会看到几条消息？

# %% predict [markdown] lang="en"
# **Prediction 1.** Of all these, how many messages will the model see next time?

# %% guess
guess = None

# %% derive
session = Session.create("two_step", seed=events)
messages = session.derive_messages()
print(compare(guess, len(messages)))

# %% derived [markdown] lang="zh"
# 每条消息是谁说的，由哪些块组成：

# %% derived [markdown] lang="en"
# Who says each of them, and what it is made of:

# %% derived-blocks
for message in messages:
    print(message["role"], [block["type"] for block in message["content"]])

# %% table [markdown] lang="zh"
# 第三条的角色是 `user`：工具的结果借用户的角色交给模型。
#
# ## 谁进来，谁留在外面
#
# 这是教材的实验二。`on_surface` 说一个事件最后在不在表面上，`why` 说为什么：

# %% table [markdown] lang="en"
# The third has the role `user`: the result of a tool reaches the model in the user's role.
#
# ## What enters, what stays out
#
# The chapter's second experiment. `on_surface` says whether an event is on the surface in the end, `why` gives the reason:

# %% enters
event_table(events)[["seq", "type", "on_surface", "why"]]

# %% why [markdown] lang="zh"
# 只有三种类型能上**表面**：`user/message`、`assistant/message`、`tool/result`。表面是一串 `seq`，其中每一个叫做一个**节点**；
# 派生就是按这个顺序，从每个节点取出消息。调用和结果都在里面，所以总是成对；边界、碎片和其他登记都在外面，
# 模型不会把一件事读两遍。
#
# ## 追加和替换
#
# 上表面有两种方式。`append` 排到末尾；`replace` 占下一段节点的位置，被占了位置的节点就被**遮蔽**：还在日志里，不在表面上。
# 示例日志 `replaced` 里的替换，每行是替换的 `seq` 和它遮蔽的节点：

# %% why [markdown] lang="en"
# Three types can be on the **surface**: `user/message`, `assistant/message`, `tool/result`. The surface is a sequence of
# `seq`s, each of which is called a **node**; deriving takes the message of each node in that order. Calls and results are both
# in, so they stay paired; boundaries, pieces and bookkeeping are out, so nothing is read twice.
#
# ## Append and replace
#
# There are two ways onto the surface. `append` goes to the end; `replace` takes the place of a run of nodes, which are then
# **shadowed**: still in the log, not on the surface. The replacements in the sample log `replaced`, each with its `seq` and the
# nodes that it shadows:

# %% replaced
log = load("replaced").events
surface = fold_surface(log)
for replacement in surface.replacements:
    print(replacement.seq, "←", replacement.shadowed_seqs)

# %% replaced-nodes [markdown] lang="zh"
# 第一次把一个很长的结果换成裁短的，第二次把整个第一轮换成一段摘要。日志有多少事件，表面剩下哪些节点：

# %% replaced-nodes [markdown] lang="en"
# The first puts a short copy in the place of a very long result, the second a summary in the place of the whole first turn.
# The number of events, and the nodes that are left on the surface:

# %% replaced-left
print(len(log), list(surface.nodes))

# %% by-hand [markdown] lang="zh"
# `seq` 较大的节点可以排在前面：表面按**位置**排，不按大小。
#
# 自己动手换一次，把最初那次任务的前三个节点换成一句话。先写好这句话，再看现在的节点和事件数。事件比刚才多一个：
# 从别处的事件开始一个会话，`Session.create` 会在它们后面记一个 `session/end-seed`，说明带来的历史到此为止。

# %% by-hand [markdown] lang="en"
# A node with a larger `seq` may stand first: on the surface **position** counts, not size.
#
# Do one by hand: in the first task, replace the first three with one sentence. Write the sentence, and look at the nodes and
# the number of events as they are. There is one event more than before: where a session begins with events from elsewhere,
# `Session.create` adds a `session/end-seed`, which says that what was brought along ends here.

# %% summary
nodes = session.surface.nodes
text = {"type": "text", "text": "The user asked for both years; the tool gave both sums."}
source = {"kind": "plugin", "plugin": "lab"}
summary = {"id": "s1", "role": "user", "source": source, "content": [text]}
print(list(nodes), len(session.events))

# %% predict-replace [markdown] lang="zh"
# 被换掉的每一个节点都要引用。**预测 2。** 换掉三个以后，模型看到几条消息？
# （第一行新开一个会话，这一格就能运行几遍。）

# %% predict-replace [markdown] lang="en"
# Every node that is replaced has to be cited. **Prediction 2.** With three of them replaced, how many messages does the model
# see? (The first line begins a session anew, so that the cell may be run again.)

# %% guess-replace
guess_replace = None

# %% replace
session = Session.create("two_step", seed=events)
first_three = {"op": "replace", "start": nodes[0], "end": nodes[2]}
session.append("user/message", summary, first_three, nodes[:3])
print(compare(guess_replace, len(session.derive_messages())))
print(list(session.surface.nodes), len(session.events))

# %% again [markdown] lang="zh"
# 表面短了，日志反而长了一条。从这份日志接着换一次，从摘要换到答案：起点的 `seq` 比终点大，也可以。

# %% again [markdown] lang="en"
# The surface is shorter, and the log has one event more. Go on from this log and replace once more, from the summary to the
# answer: that the start has a larger `seq` than the end does not matter.

# %% replace-once-more
again = Session.create("two_step", seed=session.events)
start, end = again.surface.nodes
both = {"op": "replace", "start": start, "end": end}
again.append("user/message", {**summary, "id": "s2"}, both, [start, end])
print(start > end, list(again.surface.nodes))

# %% break-replace [markdown] lang="zh"
# ## 弄坏它
#
# 想替换一个已经不在表面上的节点：

# %% break-replace [markdown] lang="en"
# ## Break it
#
# Replace a node that is no longer on the surface:

# %% break-it tags=["raises-exception"]
gone = {"op": "replace", "start": 2, "end": 2}
session.append("user/message", {**summary, "id": "s3"}, gone, [2])

# %% break-frozen [markdown] lang="zh"
# 报错是说：替换的起点 2 不在表面上，什么也没有改。2 已经被换掉了，再换它没有意义。追加分两步：先算好要怎么变，再去变；
# 算不出来就停下，什么也没动。
#
# 再试着改一条派生出来的消息：

# %% break-frozen [markdown] lang="en"
# 2 was replaced long ago. An append first plans what would change and then changes it; where there is no plan, nothing happens.
#
# Now try to change a message that was derived:

# %% break-message tags=["raises-exception"]
messages[0]["content"].clear()

# %% frozen-why [markdown] lang="zh"
# 报错是说：这个值属于一条记录，不能改；`thaw(value)` 给出一份可以改的副本。消息是冻结的：假如谁都能改，
# 同一份日志就会派生出两种历史，而日志里没有任何记录。要改，就追加一个事件。
#
# 先前拿到的那份历史也不会跟着变。`messages` 是替换之前取的：

# %% frozen-why [markdown] lang="en"
# Messages are frozen; only a copy, as `thaw(value)` gives it, can be changed. If anybody could change one, the same log would
# give two histories, and no record would say why. To change something, append an event.
#
# Nor does a history that was handed out change later. `messages` was taken before the replacements:

# %% frozen-kept
print(len(messages), len(session.derive_messages()))

# %% cost [markdown] lang="zh"
# ## 每次要重新算多少
#
# 每请求一次模型就派生一次。日志越来越长，会不会越来越慢？不看时间，快慢因机器而异；数一数派生时从几个事件取了消息：

# %% cost [markdown] lang="en"
# ## How much is recomputed
#
# Messages are derived before every request. Does that get slower as the log grows? Do not look at the clock, which tells you
# about your machine; count the events whose message is taken:

# %% taken
def taken(session):
    name = "labsupport.sessionlog.session.derive_event_message"
    with patch(name, wraps=derive_event_message) as spy:
        session.derive_messages()
    return spy.call_count

# %% cost-long [markdown] lang="zh"
# 用示例日志 `long` 来数。先是事件数，然后是第一次派生和马上再来一次：

# %% cost-long [markdown] lang="en"
# Take the sample log `long`. The number of events, then the first time, and the same again:

# %% cost-first
long = Session.create("long", seed=load("long").events)
print(len(long.events), taken(long), taken(long))

# %% cost-more [markdown] lang="zh"
# 追加一条之后：

# %% cost-more [markdown] lang="en"
# After an append:

# %% cost-append
long.append("user/message", {**summary, "id": "s4"}, "append")
print(taken(long))

# %% cost-shorter [markdown] lang="zh"
# 从头再来，替换一段节点。先是替换之前消息的条数，然后是替换之后取了几个事件的消息、还有几条：

# %% cost-shorter [markdown] lang="en"
# Begin again, and replace a run of nodes. First the number of messages before that; then how many were taken after it, and how
# many messages there are now:

# %% cost-replace
long = Session.create("long", seed=load("long").events)
print(len(long.derive_messages()))
nodes = long.surface.nodes
nine = {"op": "replace", "start": nodes[1], "end": nodes[9]}
long.append("user/message", {**summary, "id": "s5"}, nine, nodes[1:10])
print(taken(long), len(long.derive_messages()))

# %% cost-why [markdown] lang="zh"
# 一个事件的消息永远不变，所以取一次就够。替换要重排列表，但其余的消息都是现成的。
#
# ## 人看到的，模型看到的
#
# 对话记录只要 `append` 的事件：替换是给模型的，人看到的一直是原文。两边各有多少？

# %% cost-why [markdown] lang="en"
# The message of an event never changes, so it is taken once. A replacement puts the list together anew, from messages that
# are there already.
#
# ## What a person sees, what the model sees
#
# The transcript takes what came by `append`. Replacements are for the model, people keep the original words. How many on
# either side?

# %% two-views
print(len(transcript(log)), len(Session.create("replaced", seed=log).derive_messages()))

# %% explore [markdown] lang="zh"
# 拖动滑块，看两边怎样分开。滑块停在哪个 `seq`，哪里就是**水位线**：四个视图都只算到它为止。
# 被遮蔽的节点划掉，排在取代它的节点下面。
#
# **拖动滑块找一找：** 模型最多同时看到几条消息？在哪个 `seq`，一下子少了几条？先自己拖，再运行下一格。

# %% explore [markdown] lang="en"
# Move the slider and watch them part. Where it stands is the **watermark**: all four views go up to that `seq`. Nodes that are
# shadowed are struck, under the one that took their place.
#
# **Find it with the slider:** how many messages does the model see at most? At which `seq` does that number drop, and by how
# much? Move it yourself before you run the next cell.

# %% explorer
explorer = scrubber(log, show_text=True)
explorer

# %% move
explorer.seq.value = 70
explorer.still

# %% moved [markdown] lang="zh"
# 对照你的答案：最多几条，以及在哪个 `seq` 从几条变成几条。

# %% moved [markdown] lang="en"
# Compare with what you found: the most, and at which `seq` from how many to how many.

# %% moved-counts
views = LogViews(log)
counts = [views.model_sees(seq) for seq in range(len(log))]
drops = [seq for seq in range(1, len(log)) if counts[seq] < counts[seq - 1]]
print(max(counts), [(seq, counts[seq - 1], counts[seq]) for seq in drops])

# %% law [markdown] lang="zh"
# 裁短一个结果不会让数目变少，只换了内容；压缩才会。
#
# ## 定律
#
# **边追加边派生，等于从头派生。** 定律是对任何输入都成立的性质，一个例子证明不了什么。
# 从头的意思是：先折叠出表面，再从每个节点取消息。

# %% law [markdown] lang="en"
# A short copy of a result leaves the number as it is, only the content differs; a compaction lowers it.
#
# ## The law
#
# **Deriving after every append gives the same as deriving from scratch.** A law holds for every input, so one example proves
# little. From scratch means: fold the surface, then take the message of each node.

# %% from-scratch
def from_scratch(events):
    derived = [derive_event_message(events[seq]) for seq in fold_surface(events).nodes]
    return [message for message in derived if message is not None]

# %% law-run [markdown] lang="zh"
# 一百份随机日志，一个事件一个事件地重放，每放一个就比一次：

# %% law-run [markdown] lang="en"
# A hundred random logs are played again, event by event, and compared after every one:

# %% law-holds
same = []
for recorded in (random_log(seed) for seed in range(100)):
    live = Session.create(recorded.id)
    for event in recorded.events:
        live.append(event.type, event.read(), event.surface_op, event.source_event_seqs)
        same.append(live.derive_messages() == from_scratch(live.events))
print(len(same), all(same))

# %% law-counts [markdown] lang="zh"
# 这些检查有没有真正用上？替换有多少次，内容为空的助手消息有多少条：

# %% law-counts [markdown] lang="en"
# Was there anything to check? The replacements, and the assistant messages without content:

# %% law-counted
logs = [random_log(seed) for seed in range(100)]
every = [event for one in logs for event in one.events]
answers = [event.data["message"] for event in every if event.type == "assistant/message"]
print(sum(one.surface.replace_generation for one in logs))
print(sum(message["content"] == [] for message in answers))

# %% exercise [markdown] lang="zh"
# ## 练习：写出 `derive_one`
#
# 写你自己的 `derive_event_message`：给你一个事件，返回它给模型的消息；不给消息，就返回 `None`。
# `user/message` 的 `data` 就是消息；
# `assistant/message` 和 `tool/result` 的消息在 `data["message"]` 里。还有一种消息不该返回，上面刚数过。
#
# 检查会拿你的函数和 labsupport 的比，从一个事件的日志一直比到随机日志，告诉你最小的那份不一样的。
#
# <details><summary>提示</summary>
#
# 只看 `event.type` 和 `event.data`。事件是追加上去的还是替换上去的，与它说了什么无关。
# 助手的消息要看 `content` 是不是空的：空的只带用量。
#
# </details>

# %% exercise [markdown] lang="en"
# ## Exercise: write `derive_one`
#
# Write a `derive_event_message` of your own. You get an event. Return the message that it gives to the model, or `None` if it
# gives none. The `data` of a `user/message` is the message; of `assistant/message` and `tool/result` it is `data["message"]`.
# One kind of message has to stay out, and you have just counted it.
#
# The check compares your function with labsupport's, from a log of one event up to random ones, and shows the smallest that
# differs.
#
# <details><summary>Hint</summary>
#
# `event.type` and `event.data` are enough: whether an event was appended or took the place of others says nothing about its
# message. Of an assistant's message look at `content`: when it is empty, the event only carries usage.
#
# </details>

# %% derive-event-message
def derive_one(event):
    ### BEGIN SOLUTION
    if event.type == "user/message":
        return event.data
    if event.type == "tool/result":
        return event.data["message"]
    if event.type == "assistant/message" and event.data["message"]["content"]:
        return event.data["message"]
    return None
    ### END SOLUTION

# %% derive-event-message-check points=2
verdict = check_derive_event_message(derive_one)
print(verdict)
### BEGIN HIDDEN TESTS
assert verdict.correct, verdict
### END HIDDEN TESTS

# %% answer [markdown] lang="zh"
# <details><summary>答案</summary>
#
# ```python
# def derive_one(event):
#     if event.type == "user/message":
#         return event.data
#     if event.type == "tool/result":
#         return event.data["message"]
#     if event.type == "assistant/message" and event.data["message"]["content"]:
#         return event.data["message"]
#     return None
# ```
#
# 一个事件，一个答案，不看别的事件。所以结果可以缓存，也可以从任何位置重新派生。
#
# </details>
#
# ## 思考题
#
# **1.** 流式碎片里也有全文，为什么不从碎片派生消息？
#
# <details><summary>参考答案</summary>
#
# 碎片是经过，消息是结论。流断了，就没有 `assistant/message`，碎片却还在：从碎片派生，模型会把没说完的半句话当成自己说过的
# （B1 的滑块，“未完成”那一行）。流完整时，两边都算又会读两遍（表里 `assistant/chunk` 的理由）。碎片留在日志里，查错时用。
#
# </details>
#
# **2.** 替换为什么要引用每一个被换掉的节点？写明起点和终点还不够吗？
#
# <details><summary>参考答案</summary>
#
# 起点和终点说的是**那一刻**的表面。只留这两个数，就得把之前的日志重放一遍，才知道中间有谁，何况 `seq` 不按位置排
# （“再换一次”那一格，起点比终点大）。写全了，事件自己就能说清盖住了什么；写的人看漏了一条，`append` 当场拒收。
#
# </details>
#
# **3.** 有人提议：压缩时直接从日志里删掉旧事件，省地方，表面也不用遮蔽。少了什么？
#
# <details><summary>参考答案</summary>
#
# 对话记录没有了原文（两边各有多少的那一格）；结果引用的调用不在了，出处断掉；摘要写错时无从对照，也换不回来；
# 从头派生和边追加边派生再也对不上（定律那几格）。表面可以变短，事实不能变少。
#
# </details>

# %% answer [markdown] lang="en"
# <details><summary>Answer</summary>
#
# ```python
# def derive_one(event):
#     if event.type == "user/message":
#         return event.data
#     if event.type == "tool/result":
#         return event.data["message"]
#     if event.type == "assistant/message" and event.data["message"]["content"]:
#         return event.data["message"]
#     return None
# ```
#
# One event, one answer, without a look at any other event. That is why it can be kept, and derived again from any place.
#
# </details>
#
# ## Questions to think about
#
# **1.** The pieces of a stream hold the whole text as well. Why are messages not derived from them?
#
# <details><summary>An answer</summary>
#
# Pieces say how it went, the message says what came of it. A stream that breaks has no `assistant/message`, but its pieces are
# there: derive from them, and the model takes half a sentence for something it said (“partial” in B1's scrubber). When the
# stream is whole, both together would be read twice (the reason beside `assistant/chunk` in the table). The pieces stay in the
# log, for those who look for faults.
#
# </details>
#
# **2.** Why does a replacement cite every node that it replaces? Are start and end not enough?
#
# <details><summary>An answer</summary>
#
# Start and end are about the surface **at that moment**. With the two alone you would have to replay the log to learn what lay
# between, since `seq`s do not stand in order (where you replaced once more, the start was larger than the end). Written out,
# the event says by itself what it covers; and `append` refuses a writer who overlooked a node.
#
# </details>
#
# **3.** Somebody suggests that compaction should delete the old events: less to keep, and nothing to shadow. What is lost?
#
# <details><summary>An answer</summary>
#
# The transcript loses the original words (the cell that counts both sides). Results cite calls that are gone. A summary that
# is wrong can be neither compared nor taken back. And deriving from scratch no longer gives what was derived on the way (the
# cells of the law). A surface may get shorter, facts may not get fewer.
#
# </details>

# %% recap [markdown] lang="zh"
# ## 小结
#
# - 三种事件能上表面，每个给出至多一条消息；其余的事件模型看不到。
# - 替换遮蔽节点，不删事件：表面变短，日志变长，人看到的不变。
# - 派生是纯函数：每个事件的消息只取一次，取出就冻结，从哪里开始算都一样。

# %% recap [markdown] lang="en"
# ## Recap
#
# - Three types can be on the surface, and each event of theirs gives one message at most; the model sees nothing of the others.
# - A replacement shadows nodes and deletes nothing: the surface gets shorter, the log longer, the transcript stays.
# - Deriving is pure: the message of an event is taken once and frozen, and it does not matter where one begins.
