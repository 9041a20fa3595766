# %% question [markdown] lang="zh"
# # 按预算裁剪
#
# 35 分钟。会话越长，发给模型的消息就越多，总有一天装不下。哪些可以裁掉，哪些必须在一起？
#
# 学完你能：
#
# - **算出**一个字符预算会留下哪些消息，又停在哪里
# - **说明**工具的调用和结果为什么要同去同留，教材的规则在什么时候做不到
# - **判断**字符预算离真实的 token 有多远，哪些问题裁剪解决不了

# %% question [markdown] lang="en"
# # Trim to a budget
#
# 35 minutes. A session grows, and with it what is sent to the model, until it no longer fits. What may be cut, and what must
# stay together?
#
# Afterwards you can:
#
# - **work out** which messages a budget of characters keeps, and where it stops
# - **explain** why a call and its result stay or go together, and when the chapter's rule fails to see to it
# - **judge** how far a budget of characters is from real tokens, and what trimming cannot solve

# %% look [markdown] lang="zh"
# ## 先看数据
#
# 这是一段录下来的会话：有人用工具查一张门诊检验表。每条消息写成一个词：`user` 是用户，`assistant{c1}` 是发出调用 c1 的助手，
# `tool c1` 是它的结果。

# %% look [markdown] lang="en"
# ## Look at the data first
#
# A recorded session: somebody looks into a table of outpatient tests, with tools. Each message is written as one word: `user`,
# `assistant{c1}` for an assistant message that makes the call c1, and `tool c1` for its result.

# %% messages
from labsupport.workbench import samples
from labsupport.workbench.histories import shape

messages = samples.load("tools")
print(shape(messages))

# %% costs [markdown] lang="zh"
# 一条消息占多少，就是它在会话文件里那一行的字符数，连换行一起算。最新的几条：

# %% costs [markdown] lang="en"
# What a message costs is the number of characters of its line in the session file, line break included. The newest few:

# %% newest-few
from labsupport.miniagent import estimate_context_chars, find_orphans, trim_context

for message in messages[-6:]:
    print(f"{estimate_context_chars([message]):4}  {shape([message])}")

# %% predict [markdown] lang="zh"
# ## 预测
#
# 预算是 `500` 个字符，从最新的往回取，会留下几条？用上面的数字算一算，填在 `None` 的位置。

# %% predict [markdown] lang="en"
# ## Predict
#
# The budget is `500` characters, and messages are taken from the newest back. How many stay? Work it out from the figures
# above and put it in place of `None`.

# %% guess
guess = None

# %% kept
from labsupport.workbench.checks.base import compare

kept = trim_context(messages, max_chars=500)
print(compare(guess, len(kept)))

# %% slice [markdown] lang="zh"
# 光看字符，还装得下更多。不管别的，从末尾多切几条下来看看：

# %% slice [markdown] lang="en"
# By characters alone, more would fit. So take a few more from the end by hand, and look at them:

# %% five
five = messages[-5:]
print(estimate_context_chars(five), "|", shape(five))
print(find_orphans(five))

# %% why [markdown] lang="zh"
# 最后一行列出的是**孤儿结果**的下标：它们的调用被裁掉了。模型会看到没有来由的结果，许多服务商干脆拒收这样的请求。
#
# 所以裁剪按**单元**进行：一次工具往返是一个单元，整个留下，或整个裁掉。

# %% why [markdown] lang="en"
# The last line gives the indexes of **orphans**: results whose calls were cut off. The model would read results that come from
# nowhere, and many providers refuse such a request.
#
# So trimming works in **units**: a tool round trip is one, kept whole or dropped whole.

# %% example [markdown] lang="zh"
# ## 教材的例子，一步一步来
#
# 一条用户消息，一条发出两个调用的助手消息，两个结果。

# %% example [markdown] lang="en"
# ## The chapter's example, step by step
#
# A user message, an assistant message with two calls, and both results.

# %% example-history
from labsupport.workbench.histories import history

example = history("user, assistant{a,b}, tool a, tool b")
for index, message in enumerate(example):
    print(index, shape([message]), estimate_context_chars([message]))

# %% steps [markdown] lang="zh"
# 从末尾开始：
#
# 1. 下标 3 是结果 b。往回找发出这个调用的助手消息，在下标 1。于是 1 到 3 是一个单元，夹在中间的结果 a 也在里面。
# 2. 接着看下标 0：用户消息，自己就是一个单元。

# %% steps [markdown] lang="en"
# Begin at the end:
#
# 1. Index 3 is result b. Look back for the assistant message that makes this call: index 1. So 1 to 3 are one unit, and
#    result a, which stands between, comes along.
# 2. Go on at index 0: a user message is a unit of its own.

# %% example-units
from labsupport.miniagent import ContextBudget

budget = ContextBudget(example)
for start, stop in budget.units:
    print(f"{start} – {stop - 1}: {shape(example[start:stop])},", end=" ")
    print(sum(budget.costs[start:stop]))

# %% edge [markdown] lang="zh"
# 现在让预算慢慢变大。在装得下两个单元之前，多出来的字符都用不上：

# %% edge [markdown] lang="en"
# Now let the budget grow. Until both units fit, every further character is of no use:

# %% example-budgets
both = estimate_context_chars(example)
for chars in (budget.smallest, both - 1, both):
    print(chars, "→", shape(budget.fit(chars).messages))

# %% break [markdown] lang="zh"
# ## 弄坏它
#
# 比最新的单元再少一个字符呢？裁掉半个单元，就会拆开一对；什么都不发却不吭声，又会掩盖问题。两样都不行，所以抛出异常：

# %% break [markdown] lang="en"
# ## Break it
#
# And one character less than the newest unit? Half a unit would tear a pair apart, and to send nothing without a word would
# hide that something went wrong. So it raises:

# %% below-the-newest-unit tags=["raises-exception"]
trim_context(example, max_chars=budget.smallest - 1)

# %% break-empty [markdown] lang="zh"
# 报错是说：预算连最新的单元都装不下，什么也没有发送；预算至少要最后那个数。
#
# 一条消息也没有，是另一种情况，报错也不一样：

# %% break-empty [markdown] lang="en"
# Nothing was sent, and the last figure is the smallest budget that would do.
#
# No messages at all is another matter, with an error of its own:

# %% no-messages tags=["raises-exception"]
trim_context([], max_chars=500)

# %% odd [markdown] lang="zh"
# 这是说：预算再大也不能是空的，因为没有消息可发。
#
# ## 三种特殊的会话
#
# **本来就没有调用的结果。** 例如文件开头丢了几行。它自己是一个单元，不会有人替它补一个调用：

# %% odd [markdown] lang="en"
# No budget helps here: there is no message to send.
#
# ## Three special histories
#
# **A result without any call**, because the file lost its first lines, say. It is a unit on its own; nobody makes up a call
# for it:

# %% lone-orphan
lost = history("tool lost, user")
units = ContextBudget(lost).units
print(find_orphans(lost), [shape(lost[start:stop]) for start, stop in units])

# %% unserialisable [markdown] lang="zh"
# **写不成 JSON 的消息。** 下面这个调用的输入里有一个 `set`，算不出它有多少字符。错误说出是第几条（从 0 数起），但不引用内容：

# %% unserialisable [markdown] lang="en"
# **A message that cannot be written as JSON.** The input of this call holds a `set`, so it has no length. The error names the
# message by its index, from 0, and quotes nothing of it:

# %% unserialisable-newest tags=["raises-exception"]
from labsupport.miniagent import AssistantMessage, ToolCall

bad = AssistantMessage("", (ToolCall("c9", "look_up", {"keys": {"north", "south"}}),))
trim_context([*example, bad], max_chars=1000)

# %% unserialisable-hidden [markdown] lang="zh"
# 这里是说：这一条写不成 JSON，因为它的输入里有一个 `set`。
#
# 把它放到最前面，同样的消息却照常裁剪：往回取，还没取到它就停了。预算一放大，才会报错。

# %% unserialisable-hidden [markdown] lang="en"
# A `set` in its input is what keeps this message from being JSON.
#
# Put it first, and the same messages are trimmed without complaint: the walk back stops before it gets there. The error waits
# for a larger budget.

# %% unserialisable-oldest
print(shape(trim_context([bad, *example], max_chars=budget.smallest)))

# %% loop [markdown] lang="zh"
# **很长的工具循环。** 用户只问了一句，后面全是调用和结果。预算 `800`，模型还看得到那个问题吗？

# %% loop [markdown] lang="en"
# **A long tool loop.** The user said one thing; everything after it is calls and results. With a budget of `800`, does the
# model still see what was asked?

# %% loop-trimmed
loop = samples.load("loop")
print(shape(trim_context(loop, max_chars=800)))

# %% pin [markdown] lang="zh"
# 每一对都完整，任务本身却不见了。字符规则发现不了这件事。`pin_first_user` 把第一条用户消息也留下，并算进预算：

# %% pin [markdown] lang="en"
# Every pair is whole, and the task itself is gone. No rule about characters notices. `pin_first_user` keeps the first user
# message as well, and counts it:

# %% loop-pinned
print(shape(trim_context(loop, max_chars=800, pin_first_user=True)))

# %% rules [markdown] lang="zh"
# ## 交错的调用，两种规则
#
# 两个循环共用一个会话文件，调用就会交错。教材规则让结果往回找最近的、发出这个调用的消息；
# 规则 `closed`（封闭规则）只在所有调用都有了结果的地方分开，所以从哪里裁都不会拆开一对：

# %% rules [markdown] lang="en"
# ## Interleaved calls, two rules
#
# Two loops share a session file, and their calls interleave. The chapter rule takes a result with the nearest message that
# makes its call; `closed` (the closed rule) divides only where every call has its result, so that no cut, wherever it falls,
# tears a pair apart:

# %% two-rules
from labsupport.workbench.pictures.rules import rules_picture
from labsupport.workbench.show import Still

interleaved = samples.load("interleaved")
Still(rules_picture(interleaved, 600, show_text=True))

# %% rules-why [markdown] lang="zh"
# 教材自己说了，它不管交错的调用和跨轮次重复的 id。没有交错时，两种规则分出的单元一样：

# %% rules-why [markdown] lang="en"
# The chapter says itself that it does not cover interleaved calls, nor ids that come again in a later turn. Without
# interleaving both rules find the same units:

# %% rules-agree
from labsupport.miniagent import context_units

print(context_units(messages, "chapter") == context_units(messages, "closed"))

# %% law [markdown] lang="zh"
# ## 定律：留下的结果都有调用
#
# 定律是对任何输入都成立的性质，一个例子证明不了，所以用许多段随机会话来试（每段有固定的种子）。
# 这些会话是故意为难人的：调用交错，结果迟到，有的 id 用过又来。
#
# 任何预算都只能在单元之间裁，所以把每个单元的开头都当作切口，数一数有多少个切口会拆开一对。
# 每行打印：规则、切口数、拆开了一对的切口数：

# %% law [markdown] lang="en"
# ## The law: no result without its call
#
# A law holds for every input, so one example proves little: try it on many random histories, each from a fixed seed. They are
# meant to be hard: calls interleave, results come late, and some ids come again.
#
# A budget can only cut between units, so take the start of every unit as a cut and count the cuts that tear a pair apart.
# Each line prints the rule, its cuts, and those that tear a pair:

# %% law-cuts
from labsupport.workbench.histories import lost_results, random_history

for rule in ("chapter", "closed"):
    tried = [ContextBudget(random_history(seed), rule) for seed in range(300)]
    cuts = [(one.messages, start) for one in tried for start, _ in one.units]
    torn = [lost_results(*cut) for cut in cuts]
    print(rule, len(cuts), sum(map(bool, torn)))

# %% law-two [markdown] lang="zh"
# 封闭规则那一行是 0：没有找到反例。`chapter` 那一行这么大，不等于平常的会话也会这样：没有交错时两种规则一样（见上面），
# 而这些会话大多是交错的。两种规则分出的单元不同的有几段，一共几段：

# %% law-two [markdown] lang="en"
# The closed rule tears none. That `chapter` tears so many does not mean that ordinary sessions fare like this: without
# interleaving it does as well as the closed one, as you saw above, and most of these interleave. In how many the two rules find
# different units, and how many there are:

# %% law-mixed
mixed = [one for one in tried
         if context_units(one.messages, "chapter") != context_units(one.messages, "closed")]
print(len(mixed), len(tried))

# %% law-budget [markdown] lang="zh"
# 预算也要算得准：留下的不超预算，再多一个单元就超。同样的会话，用封闭规则（上面最后试的那种），每段试一些预算；
# 先打印试了多少次：

# %% law-budget [markdown] lang="en"
# The budget has to be exact, too: what is kept fits, and one more unit would not. Some budgets on each of the same histories,
# under the closed rule, which was the last one tried; the first figure is how many were tried:

# %% law-exact
fits = [one.fit(one.smallest + extra)
        for one in tried for extra in range(0, 1000, 50)]
print(len(fits), all(fit.cost <= fit.max_chars for fit in fits))
print(all(fit.next_cost is None or fit.next_cost > fit.max_chars for fit in fits))

# %% tokens [markdown] lang="zh"
# ## 字符与 token
#
# 模型按 token 收费，也按 token 限长。下面是 DeepSeek 的分词器数出来的，不联网。第一次要把分词器读进来，得等几秒：

# %% tokens [markdown] lang="en"
# ## Characters and tokens
#
# Models are priced, and limited, by tokens. These are counted by DeepSeek's tokenizer, offline. Loading it takes a few seconds,
# once:

# %% density
from labsupport.workbench.pictures.density import density_picture

Still(density_picture())

# %% density-sessions [markdown] lang="zh"
# 整段会话里，中文、英文和 JSON 混在一起，比例又不一样：

# %% density-sessions [markdown] lang="en"
# A whole session mixes Chinese, English and JSON, and its ratio is yet another:

# %% session-tokens
from labsupport.sessionlog.tokens import count_tokens

for name in ("tools", "loop", "long"):
    text = samples.path(name).read_text("utf-8")
    print(f"{name}: {len(text) / count_tokens(text):.2f}")

# %% slider [markdown] lang="zh"
# ## 动手：预算滑块
#
# 拖动预算，换规则，换会话（`long` 有几百条消息，`empty` 一条也没有）。
#
# **一个问题**：选 `interleaved` 和教材规则，在哪些预算下，会有结果失去调用？换成封闭规则呢？先自己拖，再运行下一格。
# 下一格会把它移到一个出问题的位置；用“运行所有单元格”的话，它已经停在那里了，自己再拖回来。
#
# <details><summary>只有图，没有滑块？</summary>
#
# 关掉再打开的笔记本里只存了图。滑块要靠内核：点下面这一格，在菜单“运行”里选“运行选中单元格上方的所有单元格”，再运行这一格。
# 重启内核以后只运行中间的某一格，会报 `NameError`，办法也一样。
#
# </details>

# %% slider [markdown] lang="en"
# ## Your turn: the budget slider
#
# Move the budget, change the rule, change the session (`long` has a few hundred messages, `empty` has none).
#
# **One question**: choose `interleaved` and the chapter rule. At which budgets does a result lose its call? And under the
# closed rule? Move it yourself before you run the next cell, which takes it to a place where it goes wrong. After "Run All" it
# stands there already: move it away first.
#
# <details><summary>Only a picture, no slider?</summary>
#
# A notebook that was closed and opened again has the saved picture only. The slider needs the kernel: click the cell below,
# choose Run → "Run All Above Selected Cell", then run the cell itself. After a restart of the kernel a cell from the middle
# ends in a `NameError`, and the remedy is the same.
#
# </details>

# %% explorer
from labsupport.workbench.explorers.a2 import budget_explorer

names = ("tools", "interleaved", "loop", "long")
histories = {name: samples.load(name) for name in names} | {"empty": []}
explorer = budget_explorer(histories, show_text=True)
explorer

# %% moved [markdown] lang="zh"
# 用代码也能移动它。这是其中一个出问题的位置：

# %% moved [markdown] lang="en"
# Code can move it, too. This is one of the places where it goes wrong:

# %% move
explorer.history.value = "interleaved"
explorer.rule.value = "chapter"
explorer.budget.value = 600
explorer.still

# %% slider-answer [markdown] lang="zh"
# 对照你找到的范围：逐个预算试过去，第一个和最后一个出问题的预算，以及封闭规则下出问题的个数。

# %% slider-answer [markdown] lang="en"
# Compare with the range you found: every budget is tried; here are the first and the last that go wrong, and how many do under
# the closed rule.

# %% range
for rule in ("chapter", "closed"):
    one = ContextBudget(interleaved, rule)
    wrong = [chars for chars in range(one.smallest, 1000)
             if lost_results(interleaved, one.fit(chars).start)]
    print(rule, wrong[:1], wrong[-1:], len(wrong))

# %% record [markdown] lang="zh"
# 滑块来回拖了这么久，记录变了吗？

# %% record [markdown] lang="en"
# After all this moving to and fro, has the record changed?

# %% record-same
print(histories["tools"] == samples.load("tools"))

# %% exercise [markdown] lang="zh"
# ## 练习：写出这条定律
#
# 给你一个列表，是裁剪后留下的消息。返回一个列表：没有调用的结果的**下标**。调用要在结果**前面**，可以隔着别的消息；
# 一条助手消息可以发出几个调用；同一个调用有两个结果，两个都算有调用。
#
# 用得上的字段：`message.role`（`"user"`、`"assistant"`、`"tool"`），
# 助手的 `message.tool_calls`（每个有 `call.id`），
# 结果的 `message.tool_call_id`。

# %% exercise [markdown] lang="en"
# ## Exercise: write the law
#
# You are given a list, the messages that a trim has kept. Return a list with the **indexes** of the results that have no call.
# A call stands somewhere **before** its result, maybe with other messages between; one assistant message may make several
# calls; and where one call has two results, both of them have a call.
#
# The fields you need: `message.role` (`"user"`, `"assistant"`, `"tool"`), an assistant's `message.tool_calls` (each has
# `call.id`), and a result's `message.tool_call_id`.

# %% law-orphans
def results_without_call(messages):
    ### BEGIN SOLUTION
    called, found = set(), []
    for index, message in enumerate(messages):
        if message.role == "assistant":
            called.update(call.id for call in message.tool_calls)
        elif message.role == "tool" and message.tool_call_id not in called:
            found.append(index)
    return found
    ### END SOLUTION

# %% law-orphans-check points=2
from labsupport.workbench.checks.a2 import check_results_without_call

verdict = check_results_without_call(results_without_call)
print(verdict)
### BEGIN HIDDEN TESTS
assert verdict.correct, verdict
### END HIDDEN TESTS

# %% exercise-help [markdown] lang="zh"
# <details><summary>提示</summary>
#
# 从前往后走一遍，记住到目前为止发出的所有调用的 id。走到一个结果时，它的 id 在不在里面？
#
# </details>
#
# <details><summary>答案</summary>
#
# ```python
# def results_without_call(messages):
#     called, found = set(), []
#     for index, message in enumerate(messages):
#         if message.role == "assistant":
#             called.update(call.id for call in message.tool_calls)
#         elif message.role == "tool" and message.tool_call_id not in called:
#             found.append(index)
#     return found
# ```
#
# 只往前看，所以后来才出现的调用不算数；集合里一直留着旧的 id，所以交错的调用、同一个调用的第二个结果也认得出来。
# 把它用在 `trim_context(interleaved, 600, rule="chapter")` 上，会得到上面图里那个红色的结果。
#
# </details>

# %% exercise-help [markdown] lang="en"
# <details><summary>Hint</summary>
#
# Go through the list once, from the front, and remember the id of every call so far. When you come to a result: is its id among
# them?
#
# </details>
#
# <details><summary>Answer</summary>
#
# ```python
# def results_without_call(messages):
#     called, found = set(), []
#     for index, message in enumerate(messages):
#         if message.role == "assistant":
#             called.update(call.id for call in message.tool_calls)
#         elif message.role == "tool" and message.tool_call_id not in called:
#             found.append(index)
#     return found
# ```
#
# It only looks at what came before, so a call that comes later does not count; old ids stay in the set, so interleaved calls
# and the second result of a call are recognised. Try it on `trim_context(interleaved, 600, rule="chapter")`: it names the red
# result of the picture above.
#
# </details>

# %% think [markdown] lang="zh"
# ## 思考题
#
# **1.** 裁剪以后，为什么不顺手把会话文件重写成裁剪后的样子？追加一行和每轮重写整个文件，各有什么代价？
#
# <details><summary>参考答案</summary>
#
# 裁剪只决定这一次发什么，记录不该变短：换一个预算，裁掉的消息还要能回来。滑块来回移动，记录还是原样（练习前那一格）。
# 追加一条消息，只写这条消息，断电最坏是末尾留下半行（A1 的残尾）。每轮重写，写的量随会话变长，中途断电还可能丢掉整段历史。
# 追加的代价是文件只增不减，改错和删除都要另想办法。
#
# </details>
#
# **2.** 模型按 token 限长，为什么预算数的是字符？
#
# <details><summary>参考答案</summary>
#
# 数字符不需要模型，不联网，谁数都一样，还正好等于文件里的长度。代价在“字符与 token”那张表里：字符一样多，
# 中文的 token 是英文的几倍。用固定的“几个字符一个 token”去换算，总有一种文本会算错。
# 所以要么按 token 最密的文本留足余量，要么在发送前用该模型自己的分词器再数一次。
#
# </details>
#
# **3.** 装不下时，裁剪、报错、自动摘要，怎么选？
#
# <details><summary>参考答案</summary>
#
# 裁剪是确定的：同样的输入，留下同样的消息，一个字也不改。连最新的单元都装不下，就报错，因为再裁只能拆开一对（“弄坏它”）。
# 摘要能留住旧内容的意思，但要再问一次模型，会漏、会编，还必须记下它替代了哪些消息。
# “很长的工具循环”说明裁剪也会丢掉要紧的东西。这时该固定、该摘要，还是该拆任务，是产品的决定，不该由裁剪函数悄悄做主。
#
# </details>
#
# **4.** 教材的裁剪明说不保证什么？这个实验里哪几格看得到？
#
# <details><summary>参考答案</summary>
#
# - token 数准确：“字符与 token”的表。
# - 意思完整：“很长的工具循环”里，任务本身被裁掉了。
# - 交错的调用：“交错的调用，两种规则”的图，以及“定律”里 `chapter` 那一行不是 0。
# - 跨轮次重复的 id：“定律”的随机会话里有。两种规则都让结果去找前面最近的、id 相同的调用；同一个 id 有两个调用还没有结果时，
#   这只是猜测，消息里没有别的依据。
# - 加密、锁、fsync、删除，命令行有没有把预算传下去：裁剪管不到，见 A1 和 A3。
#
# </details>

# %% think [markdown] lang="en"
# ## Questions to think about
#
# **1.** After trimming, why not rewrite the session file to match? What does appending one line cost, and what does rewriting
# the whole file each turn?
#
# <details><summary>An answer</summary>
#
# Trimming decides what is sent this time. The record must not get shorter: with another budget the dropped messages have to
# come back, as they do when the slider goes up again, and in the end the record was the same (the cell before the exercise).
# An append writes one message, and a power cut leaves half a line at worst (A1's torn tail). Rewriting writes more each turn,
# and a power cut in the middle can take the whole history. The price of appending: the file only grows, and correcting or
# deleting needs a way of its own.
#
# </details>
#
# **2.** A model's limit is in tokens. Why does the budget count characters?
#
# <details><summary>An answer</summary>
#
# Counting characters needs no model and no network, gives everybody the same figure, and equals the length in the file. The
# price is in the table under "Characters and tokens": for equal characters, Chinese and English differ by a factor. Any fixed
# "so many characters a token" is wrong for some text. So leave room for the densest text, or count again with the model's own
# tokenizer just before sending.
#
# </details>
#
# **3.** When it does not fit: trim, raise an error, or summarise automatically?
#
# <details><summary>An answer</summary>
#
# Trimming is certain: the same input keeps the same messages, and changes no word of them. Where not even the newest unit fits
# it raises, since cutting further would tear a pair ("Break it"). A summary keeps the sense of old messages, but it takes
# another request, may omit or invent, and has to record what it stands for. The long tool loop shows that trimming loses
# important things as well: whether to pin, to summarise or to split the task is a decision about the product. A trim function
# should not make it in silence.
#
# </details>
#
# **4.** What does the chapter say its trimming does not guarantee, and which cells show it?
#
# <details><summary>An answer</summary>
#
# - Exact tokens: the table under "Characters and tokens".
# - Meaning: in the long tool loop the task itself was cut off.
# - Interleaved calls: the picture of the two rules, and the line `chapter` under "The law", which is not 0.
# - Ids that come again in a later turn: the random histories of "The law" have them. Both rules take a result with the nearest
#   call of its id before it; where two calls of one id wait, that is a guess, and nothing in the messages tells better.
# - Encryption, locks, fsync, deletion, and whether the command line passes the budget on: not trimming's business; see A1 and
#   A3.
#
# </details>

# %% recap [markdown] lang="zh"
# ## 小结
#
# - 从最新的单元往回取，第一个装不下的就是终点；连最新的都装不下，就报错。
# - 调用和结果同去同留，交错时要用封闭规则；任务本身要靠固定，或别的办法留住。
# - 裁剪的是这次请求，不是记录；数的是字符，不是 token。

# %% recap [markdown] lang="en"
# ## Recap
#
# - Units are taken from the newest back, up to the first that does not fit; if the newest does not, that is an error.
# - Call and result stay or go together, and with interleaved calls that takes the closed rule; the task itself has to be
#   pinned, or kept by other means.
# - What is trimmed is the request, not the record; what is counted is characters, not tokens.
