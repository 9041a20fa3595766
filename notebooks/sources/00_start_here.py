# %% question [markdown] lang="zh"
# # 从这里开始
#
# 10 分钟。一个智能体正在干活，进程忽然停了。重新启动之后，它还记得什么？其中又有多少会交给模型？
# 这本练习册用能运行的代码来回答。
#
# 读完这一页，你能：
#
# - **确认**这里的安装可以做实验
# - **看地图**找到想做的实验和它的模块
# - **走一遍**每个实验的四步：预测、运行、弄坏、修好

# %% question [markdown] lang="en"
# # Start here
#
# 10 minutes. An agent is at work and its process stops. When it starts again, what does it still remember, and how much
# of that does the model get to see? This workbook answers with code that runs.
#
# After this page you can:
#
# - **check** that this installation is ready for the labs
# - **find** on the map the lab you want, and the module behind it
# - **walk** once through the four moves of every lab: predict, run, break, repair

# %% ready [markdown] lang="zh"
# ## 准备好了吗？
#
# 点一下下面的代码格，按 Shift+Enter 运行，再按一次运行下一格。每一项后面都应当是“是”，最后一行是“可以开始了。”

# %% ready [markdown] lang="en"
# ## Is everything ready?
#
# Click the code cell below and press Shift+Enter to run it; press again for the next one. Every item should say "yes", and the
# last line "You can start."

# %% self-test
from labsupport.workbench.selftest import self_test, slider_test

print(self_test())

# %% slider [markdown] lang="zh"
# 下面是一个滑块。先点它，再按左右方向键。
#
# <details><summary>滑块不动，或者只看到一张图？</summary>
#
# 刚打开的笔记本里是上次保存的图，还没有滑块。打开菜单“运行”，选“运行所有单元格”。
# 仍然不动，就打开菜单“内核”，选“重启内核 和 运行所有单元格…”。换了电脑，或关掉再打开，也这样恢复。
# 内核重启以后，只运行中间的一格会报 `NameError`：它要用前面几格里的名字，从头运行就好。
#
# </details>

# %% slider [markdown] lang="en"
# Here is a slider. Click it, then press the left and right arrow keys.
#
# <details><summary>It does not move, or there is only a picture?</summary>
#
# A notebook that was just opened shows the pictures of its last run, without sliders. Choose *Run → Run All Cells*. If that
# does not help, choose *Kernel → Restart Kernel and Run All Cells…*. Do the same on another computer, or after closing it.
# After a restart, a cell in the middle says `NameError` when it is run alone: it needs the names of the cells before it.
#
# </details>

# %% slider-explorer
explorer = slider_test()
explorer

# %% slider-by-code [markdown] lang="zh"
# 滑块也能用代码移动。每个实验都会这样做一次，所以即使不动鼠标，也能读完整个实验。

# %% slider-by-code [markdown] lang="en"
# Code can move it, too. Every lab does so once, so that a lab can be read to its end without touching anything.

# %% slider-moved
explorer.n.value = 7
explorer.still

# %% map [markdown] lang="zh"
# ## 地图
#
# 图的上半部分是一条消息走过的路，下半部分是已有的实验。“模块”就是实验背后的代码：它们都很短，点一下就能打开。

# %% map [markdown] lang="en"
# ## The map
#
# The upper part of the picture is the road that a message travels, the lower part lists the labs. The module is the code
# behind a lab: each is short, and a click opens it.

# %% map-picture
from labsupport.workbench.pictures.map import map_picture
from labsupport.workbench.show import Still

Still(map_picture())

# %% questions [markdown] lang="zh"
# 教材的问题都在实验里，刚看到答案就问，参考答案折叠在问题下面。
#
# <details><summary>第 4 章的思考题和面试题，各在哪个实验里？</summary>
#
# | 教材 | 问什么 | 实验 |
# | --- | --- | --- |
# | 思考题 1 | 界面上的对话记录，为什么不能是下一次请求的唯一来源 | [B1](b1_two_step_tool_task.ipynb) |
# | 思考题 2 | “可以重建”和“留着整个提示字符串”差在哪里 | [B6](b6_a_whole_request.ipynb) |
# | 思考题 3 | 工具返回十万行，各处该留什么 | [B5](b5_compaction_diff.ipynb) |
# | 思考题 4 | 异步的 `apply()` 为什么破坏水位线 | [B3](b3_pure_projections.ipynb) |
# | 思考题 5 | 哪些操作必须等落盘 | [B4](b4_truncate_and_recover.ipynb)、[B7](b7_durability.ipynb) |
# | 思考题 6 | 摘要丢了一笔付款的操作 id | [B5](b5_compaction_diff.ipynb) |
# | 思考题 7 | 为什么不能从进行中的轮次中间分叉 | [B8](b8_fork_resume_replay.ipynb) |
# | 思考题 8 | 不认识的事件，何时可以跳过 | [B7](b7_durability.ipynb) |
# | 思考题 9 | 用户要求删除会话 | [B10](b10_privacy.ipynb) |
# | 思考题 10 | 怎样评判一种压缩策略 | [B5](b5_compaction_diff.ipynb) |
# | 面试·基础题 | 五个术语，各给谁用 | [B3](b3_pure_projections.ipynb) |
# | 面试·故障题 | 压缩之后，又发了一遍通知 | [B5](b5_compaction_diff.ipynb)、[B9](b9_business_state.ipynb) |
# | 面试·系统设计题 | 多租户的会话存储 | [B11](b11_clinic.ipynb) |
#
# 第 34 章的取舍和它不保证的事，在 [A1](a1_parse_and_load.ipynb)、[A2](a2_trim_to_a_budget.ipynb)、[A3](a3_two_states.ipynb) 的末尾问。
#
# </details>

# %% questions [markdown] lang="en"
# The chapter's questions are asked in the labs, each where its answer has just been seen, with an answer to unfold.
#
# <details><summary>In which lab is each question of chapter 4?</summary>
#
# | In the book | What it asks | Lab |
# | --- | --- | --- |
# | Question 1 | why the transcript on the screen cannot be the only source of a request | [B1](b1_two_step_tool_task.ipynb) |
# | Question 2 | “can be rebuilt” against “the whole prompt was kept” | [B6](b6_a_whole_request.ipynb) |
# | Question 3 | a tool returns 100,000 rows: who keeps what | [B5](b5_compaction_diff.ipynb) |
# | Question 4 | why an asynchronous `apply()` breaks the watermark | [B3](b3_pure_projections.ipynb) |
# | Question 5 | which operations have to wait for a flush | [B4](b4_truncate_and_recover.ipynb), [B7](b7_durability.ipynb) |
# | Question 6 | a summary loses the operation id of a payment | [B5](b5_compaction_diff.ipynb) |
# | Question 7 | why no fork starts inside an open turn | [B8](b8_fork_resume_replay.ipynb) |
# | Question 8 | when an unknown event may be skipped | [B7](b7_durability.ipynb) |
# | Question 9 | a user asks for a session to be deleted | [B10](b10_privacy.ipynb) |
# | Question 10 | how to judge a compaction strategy | [B5](b5_compaction_diff.ipynb) |
# | Interview, basic | five terms, and whom each is for | [B3](b3_pure_projections.ipynb) |
# | Interview, fault | after a compaction, a notification is sent again | [B5](b5_compaction_diff.ipynb), [B9](b9_business_state.ipynb) |
# | Interview, system design | session storage for many tenants | [B11](b11_clinic.ipynb) |
#
# The trade-offs of chapter 34, and what it does not guarantee, are asked about at the end of
# [A1](a1_parse_and_load.ipynb), [A2](a2_trim_to_a_budget.ipynb) and [A3](a3_two_states.ipynb).
#
# </details>

# %% two-states [markdown] lang="zh"
# 第 34 章的核心只有一句话：**文件里的完整记录**和**这一次交给模型的消息**是两种状态。裁剪只影响后者。
# 分不清这两者，就会有人为了省 token 把历史删掉。

# %% two-states [markdown] lang="en"
# Chapter 34 comes down to one sentence: **the full record in the file** and **the messages sent to the model this time**
# are two states. Trimming touches only the second. Where the two are confused, someone deletes history to save tokens.

# %% four-moves [markdown] lang="zh"
# ## 每个实验的四步
#
# 拿一段很小的会话走一遍。三条消息写进会话文件，一共是这么多字符：

# %% four-moves [markdown] lang="en"
# ## The four moves of a lab
#
# Try them on a very small session. Three messages, and the characters they take in a session file:

# %% tiny
from labsupport.miniagent import AssistantMessage, UserMessage
from labsupport.miniagent import estimate_context_chars, trim_context

answer = AssistantMessage("Down by 8 % in the south.")
messages = [UserMessage("How were sales?"), answer, UserMessage("Why?")]
estimate_context_chars(messages)

# %% predict [markdown] lang="zh"
# **1. 预测。** 只允许 `120` 个字符，会留下几条消息？把 `None` 换成你的数字；不填也能继续。

# %% predict [markdown] lang="en"
# **1. Predict.** With room for `120` characters, how many messages stay? Put your number in place of `None`; leaving it
# open is fine, too.

# %% guess
guess = None

# %% run [markdown] lang="zh"
# **2. 运行**，再和预测对照。

# %% run [markdown] lang="en"
# **2. Run**, and compare.

# %% kept
from labsupport.workbench.checks.base import compare

kept = trim_context(messages, max_chars=120)
print(compare(guess, len(kept)))

# %% why [markdown] lang="zh"
# 从最新的消息往回取，装不下就停。最早的那条裁掉了，但 `messages` 还是原来那么长：记录没有变。
#
# **3. 弄坏。** 预算小到连最新的一条都装不下，会怎样？下面的红字是故意的。读最后一行：怎么了，后果是什么，下一步做什么。

# %% why [markdown] lang="en"
# Messages are taken from the newest back, until one does not fit. The oldest was cut off here, yet `messages` is as long as
# before: the record has not changed.
#
# **3. Break it.** What if the budget is too small even for the newest? The red text below is meant to be there. Read its
# last line: what is wrong, what that means, and what to do next.

# %% break-it tags=["raises-exception"]
trim_context(messages, max_chars=10)

# %% repair [markdown] lang="zh"
# 这句话是说：预算连最新的单元（这里是一条消息）都装不下，所以什么都不发送；预算至少要最后那个数。
#
# **4. 修好。** 每个实验最后有练习。你写几行代码，检查会说三种话之一：还没有开始；在最小的哪个例子上、差在哪里；正确。
# 不动练习、直接“运行所有单元格”也不会出错。
#
# <details><summary>提示和答案都这样折叠着</summary>
#
# 先自己试；卡住了，先看提示，再看答案。答案给出理由，并指出实验里哪一格能证明它。
#
# </details>

# %% repair [markdown] lang="en"
# In other words: nothing is sent, because not even the newest unit (one message, here) fits, and the last figure is the
# smallest budget that would do.
#
# **4. Repair.** A lab ends with an exercise. You write a few lines, and the check says one of three things: not started;
# what differs, on the smallest case that shows it; correct. *Run All Cells* works with the exercises untouched.
#
# <details><summary>Hints and answers are folded like this</summary>
#
# Try first. If you are stuck, open the hint, then the answer. An answer gives its reason, and the cell that proves it.
#
# </details>

# %% verdicts
from labsupport.workbench.checks.base import correct, not_started

print(not_started())
print(correct())

# %% keys [markdown] lang="zh"
# ## 用得上的键
#
# - Shift+Enter：运行这一格，到下一格
# - Esc，然后 ↑ ↓：在格子之间移动；Enter：进入格子修改
# - Tab：到下一个滑块、按钮或链接；← →：移动滑块
# - 菜单旁边的 ‹ ›：按空格，换到上一项或下一项。焦点停在菜单里时，字母和 ↑ ↓ 归笔记本管，不归菜单管
# - Ctrl+S（macOS 是 Cmd+S）：保存你的答案
#
# 想要一份全新的笔记本，在终端运行 `python3 lab.py notebooks`；它会覆盖你写的内容，先另存一份。

# %% keys [markdown] lang="en"
# ## Keys worth knowing
#
# - Shift+Enter: run this cell, go to the next
# - Esc, then ↑ ↓: move between cells; Enter: edit the cell
# - Tab: to the next slider, button or link; ← →: move the slider
# - ‹ › beside a menu: Space chooses the entry before or after. In the menu itself, letters and ↑ ↓ belong to the notebook
# - Ctrl+S (Cmd+S on macOS): save your answers
#
# For a fresh set of notebooks run `python3 lab.py notebooks` in a terminal. It overwrites what you wrote, so save a copy
# first.

# %% recap [markdown] lang="zh"
# ## 小结
#
# 安装能用；地图告诉你每个实验在哪里；每个实验都是预测、运行、弄坏、修好。从 A1 开始，只有十分钟就去 A2 拖动滑块。

# %% recap [markdown] lang="en"
# ## Recap
#
# The installation works, the map shows where each lab belongs, and every lab is predict, run, break, repair. Begin with A1;
# with ten minutes only, go and move the slider in A2.
