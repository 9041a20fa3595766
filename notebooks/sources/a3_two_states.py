# %% question [markdown] lang="zh"
# # 两种状态
#
# 30 分钟。一个智能体昨天回答过问题，今天接着问。**磁盘上有什么？模型看到什么？** 很多人以为这是同一件事；
# 教材说这是两种状态：文件里的完整记录，和这一次发给模型的请求。
#
# 学完你能：
#
# - **区分**完整记录与请求，说出裁剪改动了哪一个
# - **解释**为什么先写磁盘、再写内存，出错以后磁盘和内存里各有什么
# - **接通**命令行：函数支持一个选项，不等于命令行把它传了下去

# %% question [markdown] lang="en"
# # Two states
#
# 30 minutes. An agent answered a question yesterday, and today you go on. **What is on disk, and what does the model see?**
# It is tempting to take the two for one. The chapter keeps them apart: the full record in the file, and the request that is
# sent this time.
#
# Afterwards you can:
#
# - **tell** the record from the request, and say which of them trimming changes
# - **explain** why the disk is written before memory, and what each holds after a failure
# - **connect** a command line: that a function has an option does not mean that the command line passes it on

# %% imports
import argparse
import inspect
from pathlib import Path

from labsupport.miniagent import estimate_context_chars, load_session
from labsupport.miniagent import main, run_agent, run_cli
from labsupport.miniagent.cli import tools
from labsupport.workbench import samples
from labsupport.workbench.checks.a3 import check_command
from labsupport.workbench.checks.base import compare
from labsupport.workbench.explorers.a3 import requests_explorer
from labsupport.workbench.random_runs import random_trial
from labsupport.workbench.sample_talks import INTERLEAVED, TOOLS, record_interleaved
from labsupport.workbench.witness import watch

# %% empty-folder
from shutil import copy

from labsupport.workbench.scratch import fresh, scratch

scratch()

# %% neither [markdown] lang="zh"
# ## 两个选项都不给
#
# 先看现象，再说原因。下面的模型照剧本说话：先发出一轮工具调用，再发出一轮，然后回答。工具是真的，读的是 `outpatient.csv`。
# 上面的 `scratch` 给我们一个空文件夹（`[]`：里面还没有文件），后面的文件都写在里面。

# %% neither [markdown] lang="en"
# ## Neither of the two options
#
# Look first, explain later. The model below is scripted: it makes a round of tool calls, then another, then it answers. The
# tools are real and read `outpatient.csv`. The folder to work in comes from `scratch`, above, and is empty: `[]`.

# %% neither-run
before = set(Path().iterdir())
model = samples.model()
run = run_agent("How many tests were there in 2025?", model, tools())
print(run.messages[-1].content)

# %% neither-seen [markdown] lang="zh"
# 模型一共被问了几次，每次收到几条消息？文件夹里多了什么？

# %% neither-seen [markdown] lang="en"
# How often was the model asked, with how many messages each time? And what is in the folder now?

# %% neither-requests
print([len(request) for request in model.requests])
print(sorted(set(Path().iterdir()) - before))

# %% session [markdown] lang="zh"
# 每次请求都带上完整的历史，磁盘上什么也没有。进程一停，这次会话就没了。
#
# ## 给它一个会话文件
#
# 同样的循环，多给一个 `session_path`。`fresh` 先清掉同名的旧文件，这样一格运行几遍都一样。每一行是一条消息：

# %% session [markdown] lang="en"
# Every request carries the whole history, and nothing is on disk. When the process ends, the session is gone.
#
# ## Give it a session file
#
# The same loop with `session_path`; `fresh` first clears away an older file of that name, so that a cell gives the same when
# it is run again. Each line is one message:

# %% session-run
question = "How many tests were there in 2025?"
run_agent(question, samples.model(), tools(), session_path=fresh("day1.jsonl"))
print(Path("day1.jsonl").read_text("utf-8"))

# %% continue [markdown] lang="zh"
# **预测 1。** 第二天，新的进程、新的模型，接着用昨天的文件（这里用它的副本，昨天的那份留着）。
# 模型收到的第一个请求里有几条消息？

# %% continue [markdown] lang="en"
# **Prediction 1.** The next day: a new process, a new model, and yesterday's file, or here a copy of it, so that the original
# stays. How many messages are in the first request?

# %% guess-continue
guess_continue = None

# %% continue-run
model = samples.model()
question = "And what did you find yesterday?"
run_agent(question, model, tools(), session_path=copy("day1.jsonl", "day2.jsonl"))
print(compare(guess_continue, len(model.requests[0])))

# %% continue-why [markdown] lang="zh"
# 循环先用 `load_session` 读回文件里的每一行，再加上新的问题。模型自己什么也不记得：它对昨天的了解，全在这次请求里。
# （我们的模型照剧本说话，问它昨天，它也只会把同样的调用和回答再来一遍。真的模型能说什么，看它收到了什么。）
#
# ## 再给它一个预算
#
# 第三天，加上 `context_max_chars=900`：每个请求最多这么多字符。
#
# **预测 2。** 运行之后，文件里有几行？

# %% continue-why [markdown] lang="en"
# The loop reads every line back with `load_session` and adds the new question. The model remembers nothing by itself: all it
# knows of yesterday is in this request. (Ours is scripted: asked about yesterday, it goes through the same calls and the same
# answer once more. What a real one could say depends on what it is sent.)
#
# ## And a budget
#
# A third day, with `context_max_chars=900`: no request may be longer than that.
#
# **Prediction 2.** How many lines does the file have afterwards?

# %% guess
guess = None

# %% budget-run
model = samples.model()
run = run_agent("Once more, please.", model, tools(), context_max_chars=900,
                session_path=copy("day2.jsonl", "day3.jsonl"))
print(compare(guess, len(load_session("day3.jsonl"))))

# %% budget-seen [markdown] lang="zh"
# 再看模型收到的：每个请求有几条消息、多少字符。第二行是内存里的历史有几条。

# %% budget-seen [markdown] lang="en"
# And what the model got: messages and characters of each request. The second line counts the history in memory.

# %% budget-requests
print([(len(sent), estimate_context_chars(sent)) for sent in model.requests])
print(len(run.messages))

# %% budget-why [markdown] lang="zh"
# 文件和内存里的历史都是完整的，只有请求变短了。这就是两种状态。它们在循环里只隔几行：`record` 是唯一同时写两处的地方，
# 先磁盘、后内存；`trim_context` 的结果只进请求，从不写回。

# %% budget-why [markdown] lang="en"
# The file and the history in memory are whole; only the requests are shorter. Those are the two states, and in the loop a
# few lines lie between them: `record` is the only place that writes both, the disk first; what `trim_context` gives goes into
# the request and is never written back.

# %% source
source = inspect.getsource(run_agent)
print(source[source.index("    def record"):])

# %% step-through [markdown] lang="zh"
# ## 一个请求一个请求地看
#
# 下面是一次较长的会话，中文英文都有，预算很紧。每次请求发出之前，`watch` 都记下当时文件的内容。
# 左边是文件，右边是发给模型的。
#
# **拖动滑块找一找：** 在哪个请求里，模型没有收到它正在回答的那个问题？先自己拖，再运行下一格。
# 下一格会把它移到答案上；用“运行所有单元格”的话，它已经停在那里了，自己再拖回来。
#
# <details><summary>只有图，没有滑块？</summary>
#
# 关掉再打开的笔记本里只存了图。滑块要靠内核：点下面这一格，在菜单“运行”里选“运行选中单元格上方的所有单元格”，再运行这一格。
# 重启内核以后只运行中间的某一格，会报 `NameError`，办法也一样。
#
# </details>

# %% step-through [markdown] lang="en"
# ## One request after the other
#
# A longer session in Chinese and English, on a tight budget. Before each request `watch` notes what is in the file. The file is
# on the left, what the model is sent on the right.
#
# **Find it with the slider:** in which request does the model not get the very question it is answering? Move it yourself
# before you run the next cell, which takes it to the answer. After "Run All" it stands there already: move it away first.
#
# <details><summary>Only a picture, no slider?</summary>
#
# A notebook that was closed and opened again has the saved picture only. The slider needs the kernel: click the cell below,
# choose Run → "Run All Above Selected Cell", then run the cell itself. After a restart of the kernel a cell from the middle
# ends in a `NameError`, and the remedy is the same.
#
# </details>

# %% explorer
watched = watch(TOOLS, "tools.jsonl", context_max_chars=650)
explorer = requests_explorer(watched, show_text=True)
explorer

# %% move
explorer.request.value = 4
explorer.still

# %% which [markdown] lang="zh"
# 用代码核对：正在回答的问题，就是当时文件里最后一条用户消息。打印没有收到它的请求：

# %% which [markdown] lang="en"
# Check by code: the question being answered is the last user message that the file held then. These requests lack it:

# %% which-request
for at, seen in enumerate(watched.seen, start=1):
    question = [message for message in seen.file if message.role == "user"][-1]
    if question not in seen.sent:
        print(at)

# %% moved [markdown] lang="zh"
# <details><summary>答案：为什么是这个请求</summary>
#
# 看右边的“问题，不发送”：这一轮有两个调用，一个结果又很长，整个单元几乎占满预算，再加上问题就装不下了。
# 模型只看到自己的调用和结果。别的轮次也有两个结果，但单元短一些，问题还装得下。预算只认字符，不认哪条消息重要。
#
# A2 里的 `pin_first_user` 能留住第一个问题，可是在长会话里，正在回答的往往不是第一个。
#
# </details>
#
# 左边从来没有少过一行。没有预算的同一次会话是示例会话之一；两个文件逐个字节比较：

# %% moved [markdown] lang="en"
# <details><summary>Answer: why this request</summary>
#
# Look for "question, not sent" on the right: the round has two calls, and one result is long. This unit takes nearly all of
# the budget, and with the question it would be too much. The model sees its own calls and their results, nothing else.
# Another round has two results as well, but its unit is shorter, so its question still fits. A budget counts characters, it
# does not know what matters.
#
# `pin_first_user` of A2 keeps the first question, but in a long session the one being answered is rarely the first.
#
# </details>
#
# On the left no line ever goes missing. The same session without a budget is one of the sample sessions; compare the two files
# byte by byte:

# %% same-bytes
print(Path("tools.jsonl").read_bytes() == samples.path("tools").read_bytes())

# %% break-budget [markdown] lang="zh"
# ## 弄坏它
#
# 预算小到连新问题都装不下。循环在发请求之前就停了：

# %% break-budget [markdown] lang="en"
# ## Break it
#
# A budget that cannot even hold the new question. The loop stops before it sends anything:

# %% break-it tags=["raises-exception"]
model = samples.model()
run_agent("One more, with hardly any room.", model, tools(), context_max_chars=20,
          session_path=copy("day3.jsonl", "tight.jsonl"))

# %% break-budget-left [markdown] lang="zh"
# 报错是说：新问题自己就超过了预算，什么也没有发送；预算至少要最后那个数。
#
# 磁盘上的最后一条是什么？内存里的呢？模型被问了几次？`memory_of` 像调试器那样，从刚才的错误里取出循环在内存中的历史：

# %% break-budget-left [markdown] lang="en"
# The new question alone is more than the budget, nothing was sent, and the last figure is the smallest budget that would do.
#
# What is the last message on disk, what in memory, and how often was the model asked? `memory_of` takes the history that the
# loop had in memory from the error, as a debugger would:

# %% broken-left
import sys

from labsupport.workbench.witness import memory_of

print(load_session("tight.jsonl")[-1])
print(memory_of(sys.last_value)[-1])
print(len(model.requests))

# %% asked-twice [markdown] lang="zh"
# 两处都记下了问题，请求没有发出：什么也没丢。可是加大预算，把同一个问题再问一遍，会怎样？

# %% asked-twice [markdown] lang="en"
# Both have the question, nothing was sent, and nothing is lost. But ask the same question again, with more room, and then?

# %% asked-again
again = copy("tight.jsonl", "again.jsonl")
run_agent("One more, with hardly any room.", samples.model(), tools(),
          session_path=again, context_max_chars=900)
said = [message.content for message in load_session(again) if message.role == "user"]
print(said[-2:])

# %% break-disk [markdown] lang="zh"
# 问题在记录里有了两份：循环分不清是重试，还是有人问了两遍。要不要去掉一份，由调用它的程序决定。
#
# 现在反过来，让磁盘出错：文件夹不存在，第一条消息就写不进去。

# %% break-disk [markdown] lang="en"
# The question is now on record twice: the loop cannot tell a retry from somebody who asks two times. Whether one of them has to
# go is for the program around it to decide.
#
# Now the other way round, with a disk that fails: the folder does not exist, so the first message cannot be written.

# %% break-append tags=["raises-exception"]
model = samples.model()
run_agent("Where do I go?", model, tools(), session_path="missing/demo.jsonl")

# %% break-disk-left [markdown] lang="zh"
# 系统说没有这个文件或文件夹；错误原样传出来。内存里有什么？那个文件夹现在有了吗？模型被问了几次？

# %% break-disk-left [markdown] lang="en"
# The system says that there is no such file or folder, and the error comes through as it is. What is in memory, is there such a
# folder now, and how often was the model asked?

# %% append-left
print(memory_of(sys.last_value), Path("missing").exists(), len(model.requests))

# %% open-call [markdown] lang="zh"
# 内存和磁盘一样，什么也没有多，模型一次也没有被问到。
# 如果先写内存、后写磁盘，内存里就会多一条磁盘上没有的消息：谁要是接住错误接着跑，模型就会回答一个没有记下的问题。
#
# ## 停在工具里的会话
#
# 示例会话 `open_call` 的末行是几个调用：进程停在工具里，结果没有写下。接着问，循环会先补什么？

# %% open-call [markdown] lang="en"
# Memory has nothing that the disk has not, and the model was never asked. With memory first, memory would hold one message more
# than the disk: whoever caught the error and went on would have the model answer a question that was never written down.
#
# ## A session that stopped inside a tool
#
# The sample session `open_call` ends with calls: the process stopped inside the tools, no result was written. Go on with it:
# what does the loop add first?

# %% killed
killed = copy(samples.path("open_call"), "killed.jsonl")
run = run_agent("Go on.", samples.model(), tools(), session_path=killed)
for message in run.messages[2:6]:
    print(f"{message.role}: {message.content}")

# %% killed-why [markdown] lang="zh"
# 每个没有结果的调用得到一条出错的结果，内容是说：结局未知，这次运行在记下结果之前就停了，
# 工具可能执行过，也可能没有，先在外面查清楚再重试。
# 然后才是新问题。这一条规则是练习册加的，教材没有。
#
# ## 定律
#
# **文件就是历史，与预算无关；每个请求是文件末尾的一段，不超过预算。** 定律是对任何输入都成立的性质，一个例子证明不了什么。
# 用许多种子造许多次随机会话，每次两遍：一遍不限，一遍限得很紧。

# %% killed-why [markdown] lang="en"
# Every call without a result gets an error result: outcome unknown, check before a retry. Only then comes the new question.
# This rule is the workbook's, the chapter has none.
#
# ## The law
#
# **The file is the history, whatever the budget; every request is the end of the file, and within the budget.** A law holds
# for every input, so one example proves little. Take many seeds and run a random session with each, twice: once without a
# limit, once with a tight one.

# %% law-runs
free = [random_trial(seed) for seed in range(100)]
tight = [random_trial(seed, budget=200 + 15 * seed) for seed in range(100)]
requests = [(trial.budget, seen) for trial in tight for seen in trial.seen]

# %% law-file [markdown] lang="zh"
# 文件就是历史，而且和不限预算时一样；被预算拦下的那几次，是它的开头一段：

# %% law-file [markdown] lang="en"
# The file is the history, and the same as without a budget; where the budget stopped a run, it is the beginning of it:

# %% law-file-holds
print(all(trial.memory == trial.disk_then for trial in free + tight))
pairs = list(zip(tight, free, strict=True))
print(all(tense.disk == loose.disk[:len(tense.disk)] for tense, loose in pairs))
print(all(tense.disk == loose.disk or tense.stopped for tense, loose in pairs))

# %% law-request [markdown] lang="zh"
# 每个请求是文件末尾的一段，并且装得下：

# %% law-request [markdown] lang="en"
# Every request is the end of the file, and it fits:

# %% law-request-holds
print(all(seen.sent == seen.file[-len(seen.sent):] for _, seen in requests))
print(all(estimate_context_chars(seen.sent) <= room for room, seen in requests))

# %% law-counts [markdown] lang="zh"
# 这些检查有没有真正用上？一共多少个请求，其中多少个裁剪过；第二行，多少次会话被预算拦下：

# %% law-counts [markdown] lang="en"
# Did these checks have anything to do? All requests, and those that were trimmed; then the sessions that a budget stopped:

# %% law-counted
print(len(requests), sum(seen.sent != seen.file for _, seen in requests))
print(sum(trial.stopped for trial in tight))

# %% cli [markdown] lang="zh"
# ## 命令行：函数支持，不等于用户用得上
#
# 循环支持两个选项。可是用户用的是命令行。教材的命令行 `run_cli` 只收一个问题：

# %% cli [markdown] lang="en"
# ## The command line: what a function can do, its users may not have
#
# The loop has both options. Its users have a command line. The chapter's, `run_cli`, takes a question and nothing else:

# %% cli-chapter
before = set(Path().iterdir())
model = samples.model()
run_cli(["How many tests were there in 2025?"], model)
print([len(request) for request in model.requests], set(Path().iterdir()) - before)

# %% cli-assembled [markdown] lang="zh"
# 没有新文件，没有裁剪：函数会的，用户用不上。接好的命令行要在练习册的文件夹里运行：
# `.venv/bin/python -m labsupport.miniagent PROMPT --session FILE --context-max-chars N`；`main` 就是它背后的函数。
#
# 运行两遍，像两天那样，第二天用第一天文件的副本。它先打印每个请求有几条消息（message）、多少字符（character），然后是回答；
# 最后一行 `stopped: answered` 是说：模型给出了回答，循环正常结束。

# %% cli-assembled [markdown] lang="en"
# No new file, no trimming: what the function can do, the user cannot have. The assembled command line is run in the folder of
# the workbook: `.venv/bin/python -m labsupport.miniagent PROMPT --session FILE --context-max-chars N`; `main` is the function
# behind it.
#
# Run it twice, as on two days, the second on a copy of the first day's file. It prints how large each request is, then the
# answer; `stopped: answered` at the end says that the model answered and the loop ended as it should.

# %% cli-first
budget = ["--context-max-chars", "700"]
question = "How many tests were there in 2025?"
status = main([question, "--session", fresh("monday.jsonl"), *budget])

# %% cli-second
question = "And what did you find yesterday?"
status = main([question, "--session", copy("monday.jsonl", "tuesday.jsonl"), *budget])
print(len(load_session("tuesday.jsonl")))

# %% exercise [markdown] lang="zh"
# 第二天的第一个请求，只带了昨天的末尾和新问题；文件里，两天的消息都在。（两天的回答一字不差，是因为模型照剧本说话。）
#
# ## 练习：把两个选项传下去
#
# 补全 `command`：登记 `--session FILE` 和 `--context-max-chars N`，都可以省略；解析 `argv`，
# 再交给 `run_agent`，返回它给出的值。
# 检查会真的带着命令行参数运行它，然后看文件、看请求。
#
# <details><summary>提示</summary>
#
# `parser.add_argument("--session")` 的值在 `args.session` 里，没给就是 `None`，
# 正好是 `run_agent` 的默认值。
# 命令行的一切都是文本，`type=int` 把它变成整数；选项名里的短横在 `args` 里成了下划线。
#
# </details>

# %% exercise [markdown] lang="en"
# The first request of the second day holds the end of the first day and the new question, nothing more; the file holds both
# days. (Both days' answers are the same to the letter because the model is scripted.)
#
# ## Exercise: pass the two options on
#
# Complete `command`: register `--session FILE` and `--context-max-chars N`, both of which may be left out; parse `argv`, hand
# them to `run_agent` and return what it gives. The check really runs it with arguments of a command line, then looks at the
# file and at the requests.
#
# <details><summary>Hint</summary>
#
# The value of `parser.add_argument("--session")` is in `args.session`, and it is `None` when the option was not given, which
# is what `run_agent` takes by default. Everything on a command line is text: `type=int` makes an integer of it. The hyphens
# in an option's name become underscores in `args`.
#
# </details>

# %% command-line
def command(argv, model):
    parser = argparse.ArgumentParser()
    parser.add_argument("prompt")
    ### BEGIN SOLUTION
    parser.add_argument("--session")
    parser.add_argument("--context-max-chars", type=int)
    args = parser.parse_args(argv)
    return run_agent(args.prompt, model, tools(), session_path=args.session,
                     context_max_chars=args.context_max_chars)
    ### END SOLUTION

# %% command-line-check points=2
verdict = check_command(command)
print(verdict)
### BEGIN HIDDEN TESTS
assert verdict.correct, verdict
### END HIDDEN TESTS

# %% answer [markdown] lang="zh"
# <details><summary>答案</summary>
#
# ```python
# parser.add_argument("--session")
# parser.add_argument("--context-max-chars", type=int)
# args = parser.parse_args(argv)
# return run_agent(args.prompt, model, tools(), session_path=args.session,
#                  context_max_chars=args.context_max_chars)
# ```
#
# 解析了却没有传下去，是最常见的错：程序照常运行，帮助里也有这个选项，只是没有作用。所以检查看的是文件和请求，而不是 `args`。
#
# </details>
#
# ## 思考题
#
# **1.** 两个进程同时续写同一个文件，“文件就是历史”还成立吗？
# 让两个循环轮流走，同写一个文件，再数一数：文件里几条，两边内存里各几条。

# %% answer [markdown] lang="en"
# <details><summary>Answer</summary>
#
# ```python
# parser.add_argument("--session")
# parser.add_argument("--context-max-chars", type=int)
# args = parser.parse_args(argv)
# return run_agent(args.prompt, model, tools(), session_path=args.session,
#                  context_max_chars=args.context_max_chars)
# ```
#
# Parsed but not passed on is the usual fault: the program runs, its help lists the option, and the option does nothing. That
# is why the check looks at the file and at the requests, not at `args`.
#
# </details>
#
# ## Questions to think about
#
# **1.** Two processes go on with the same file at once. Is the file still the history? Let two loops take turns on one file,
# then count the messages: in the file, and in the memory of either loop.

# %% two-loops
first, second = record_interleaved(fresh("shared.jsonl"), INTERLEAVED)
both = load_session("shared.jsonl")
print(len(both), len(first.messages), len(second.messages))

# %% two-loops-answer [markdown] lang="zh"
# <details><summary>参考答案</summary>
#
# 不成立。锁保证每一行是完整的，但每个循环只在开始时读一次文件，看不到对方后来写的行。文件有两边的全部消息，两边的内存各缺一块。
# 后两个数加起来并不等于第一个数：第二个循环启动时，已经读到了第一个循环的问题，这一条两边都有。
# 下一次运行读到的是混在一起的历史：A2 的交错调用就是这样来的。要么一个会话同时只许一个循环，要么每次请求之前重读。
#
# </details>
#
# **2.** 教材选了“裁剪或者报错”，没有选自动摘要。得到了什么，放弃了什么？
#
# <details><summary>参考答案</summary>
#
# 得到的：请求里每一条都是原话，同样的历史和预算给出同样的请求，不必多问一次模型（定律那几格）。放弃的：被裁掉的内容，
# 模型一点也不知道，哪怕是它正在回答的问题（滑块那一格）。摘要留得住大意，但它是模型写的，可能漏，也可能错，
# 还要记下它代替了哪一段：那是第 4 章的压缩。
#
# </details>
#
# **3.** 为什么裁剪绝不能改文件？
#
# <details><summary>参考答案</summary>
#
# 预算是这一次的事：换一个模型、加大预算，同一个文件又能发出更多（逐个字节比较的那一格）。把裁剪写回文件，
# 就是为了省一次请求，删掉了以后每一次请求的依据，也删掉了查错的证据。
#
# </details>

# %% two-loops-answer [markdown] lang="en"
# <details><summary>An answer</summary>
#
# No. The lock keeps each line whole, but a loop reads the file once, when it starts, and does not see what the other writes
# later. The file has the messages of both, each memory lacks some. The two memories do not add up to the file: when the second
# loop started it read the question of the first, so both have that one. The next run reads a mixed history: that is where the
# interleaved calls of A2 come from. Either one loop at a time has a session, or the file is read again before each request.
#
# </details>
#
# **2.** The chapter trims or refuses; it does not summarise by itself. What does that win, what does it give up?
#
# <details><summary>An answer</summary>
#
# It wins requests made of original words, the same for the same history and budget, without asking a model once more (the
# cells of the law). It gives up all that was cut, even the question being answered (the slider). A summary keeps the gist,
# but a model wrote it: it may leave out or invent, and somebody has to note what it stands for. That is compaction, chapter 4.
#
# </details>
#
# **3.** Why must trimming never change the file?
#
# <details><summary>An answer</summary>
#
# A budget belongs to one request: with another model, or more room, the same file can give more (the cell that compares
# bytes). Writing the trimmed state back would save one request and delete what all later ones rest on, and with it the
# evidence for finding faults.
#
# </details>

# %% recap [markdown] lang="zh"
# ## 小结
#
# - 每条消息先写磁盘、再写内存；记录从不因为预算变短，请求是它末尾的一段，每次重新算。
# - 出错时看磁盘：写进去的都在，没发出的请求不会凭空有回答。
# - 函数支持，不等于用户用得上；从命令行开始测，看文件和请求。

# %% recap [markdown] lang="en"
# ## Recap
#
# - The record is written to disk, then to memory, and no budget shortens it; a request is its end, worked out anew each time.
# - After a failure, look at the disk: what was written is there, and what was not sent has no answer.
# - What a function can do, a command line may not deliver. Test from the command line on, by the file and by the requests.
