# %% question [markdown] lang="zh"
# # 从这里开始
#
# 10 分钟。一个 agent 正在干活，进程忽然停了。重新启动之后，它还记得什么？其中又有多少会交给模型？
# 这本练习册用能运行的代码来回答。
#
# 读完这一页，你能：
#
# - **确认**这里的安装可以做实验
# - **找到**教材的某一节对应哪个实验、哪个模块
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
# - **find** the lab and the module that belong to a page of the chapters
# - **walk** once through the four moves of every lab: predict, run, break, repair

# %% ready [markdown] lang="zh"
# ## 准备好了吗？
#
# 点一下面的灰色格子，按 Shift+Enter 运行它，再按一次运行下一格。每一行都应当以“是”结尾。

# %% ready [markdown] lang="en"
# ## Is everything ready?
#
# Click the grey cell below and press Shift+Enter to run it; press again for the next one. Every line should end in "yes".

# %% self-test
from labsupport.workbench.selftest import self_test, slider_test

print(self_test())

# %% slider [markdown] lang="zh"
# 下面是一个滑块。先点它，再按左右方向键。
#
# <details><summary>滑块不动，或者只看到一张图？</summary>
#
# 刚打开的笔记本里是上次保存的图，还没有滑块。打开菜单“运行”，选“运行所有单元格”。
# 仍然不动，就打开菜单“内核”，选“重启并运行所有单元格…”。换一台电脑、关掉再打开以后，也都是这样恢复。
#
# </details>

# %% slider [markdown] lang="en"
# Here is a slider. Click it, then press the left and right arrow keys.
#
# <details><summary>It does not move, or there is only a picture?</summary>
#
# A notebook that was just opened shows the pictures of its last run, without sliders. Choose *Run → Run All Cells*. If that
# does not help, choose *Kernel → Restart Kernel and Run All Cells…*. The same brings everything back after a restart.
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
# 上半部分是一条消息走过的路，下半部分是已有的实验。“模块”就是实验背后的代码：它们都很短，想看就打开。

# %% map [markdown] lang="en"
# ## The map
#
# Above, the road that a message travels; below, the labs there are. The module is the code behind a lab: each is short, so
# open it whenever you wonder.

# %% map-picture
from labsupport.workbench.pictures.map import map_picture
from labsupport.workbench.show import Still

Still(map_picture())

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
from labsupport.miniagent import AssistantMessage, UserMessage, estimate_context_chars, trim_context

messages = [UserMessage("How were sales?"), AssistantMessage("Down by 8 % in the south."), UserMessage("Why?")]
estimate_context_chars(messages)

# %% predict [markdown] lang="zh"
# **一、预测。** 只允许 `120` 个字符，会留下几条消息？把 `None` 换成你的数字；不填也能继续。

# %% predict [markdown] lang="en"
# **1. Predict.** With room for `120` characters, how many messages stay? Put your number in place of `None`; leaving it
# open is fine, too.

# %% guess
guess = None

# %% run [markdown] lang="zh"
# **二、运行**，再和预测对照。

# %% run [markdown] lang="en"
# **2. Run**, and compare.

# %% kept
from labsupport.workbench.checks.base import compare

kept = trim_context(messages, max_chars=120)
print(compare(guess, len(kept)))

# %% why [markdown] lang="zh"
# 从最新的消息往回取，装不下就停。最早的那条被舍去了，但 `messages` 里仍有三条：记录没有变。
#
# **三、弄坏。** 预算小到连最新的一条都装不下，会怎样？下面的红字是故意的。读最后一行：哪里、怎么了、下一步。

# %% why [markdown] lang="en"
# Messages are taken from the newest back, until one does not fit. The oldest is left out here, yet `messages` still holds
# all three: the record has not changed.
#
# **3. Break it.** What if the budget is too small even for the newest? The red text below is meant to be there. Read its
# last line: where, what, and what to do next.

# %% break-it tags=["raises-exception"]
trim_context(messages, max_chars=10)

# %% repair [markdown] lang="zh"
# **四、修好。** 每个实验最后有练习。你写几行代码，检查会说三种话之一：还没有开始；在最小的哪个例子上、差在哪里；正确。
# 不动练习、直接“运行所有单元格”也不会出错。
#
# <details><summary>提示和答案都这样折叠着</summary>
#
# 先自己试；卡住了，先看提示，再看答案。答案给出理由，并指出实验里哪一格能证明它。
#
# </details>

# %% repair [markdown] lang="en"
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
# - Tab：到下一个滑块或链接；← →：移动滑块
# - Ctrl+S（macOS 是 Cmd+S）：保存你的答案
#
# 想要一份全新的笔记本，在终端运行 `python3 lab.py notebooks`；它会覆盖你写的内容，先另存一份。

# %% keys [markdown] lang="en"
# ## Keys worth knowing
#
# - Shift+Enter: run this cell, go to the next
# - Esc, then ↑ ↓: move between cells; Enter: edit the cell
# - Tab: to the next slider or link; ← →: move the slider
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
