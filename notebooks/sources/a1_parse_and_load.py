# %% question [markdown] lang="zh"
# # 解析与加载
#
# 40 分钟。智能体把说过的话一条一条写进文件，一条消息占一行。一行究竟是什么？坏了怎么办？
# 代码在 `labsupport/miniagent/session.py`。
#
# 学完你能：
#
# - **判断**一行能不能恢复成消息，并说出理由
# - **读懂**加载时的报错：哪一行、坏在哪里、下一步做什么
# - **写出**解析函数里处理工具消息的分支

# %% question [markdown] lang="en"
# # Parse and load
#
# 40 minutes. An agent writes down what was said, one message on each line of a file. What is a line, and what if it is
# broken? The code is in `labsupport/miniagent/session.py`.
#
# You can:
#
# - **decide** whether a line can be restored as a message, and say why
# - **read** what a failed load tells you: which line, what is wrong, what to do next
# - **write** the parser's branch for tool messages

# %% files [markdown] lang="zh"
# ## 先看一个完好的文件
#
# 下面这一格把几份示例会话复制到一个临时文件夹，之后都在那里工作，随便弄坏都不要紧。
# 每一格都可以再运行一次，结果一样；内核重启过，就从这一格重新来。

# %% files [markdown] lang="en"
# ## A good file first
#
# The next cell copies a few sample sessions to a temporary folder and works there from now on, so break whatever you like.
# Every cell can be run again and gives the same. After a restart of the kernel, begin here again.

# %% scratch
from labsupport.workbench.scratch import scratch

scratch("short", "second_line", "torn_tail", "orphan", "open_call")

# %% raw [markdown] lang="zh"
# 文件里只有字节。按换行符切开，就是磁盘上的样子；最后那个空的 `b''` 说明文件以换行结尾。

# %% raw [markdown] lang="en"
# A file is bytes. Cut at the line breaks, this is what is on disk; the empty `b''` at the end says that the file ends with
# a line break.

# %% raw-lines
from pathlib import Path

for line in Path("short.jsonl").read_bytes().split(b"\n"):
    print(line)

# %% good [markdown] lang="zh"
# 加载以后，每一行成了一条消息：用户的问题、助手发出的调用、工具的结果、助手的回答。

# %% good [markdown] lang="en"
# Loaded, each line is a message: what the user asked, the assistant's call, the tool's result, the assistant's answer.

# %% good-load
from labsupport.miniagent import load_session

load_session("short.jsonl")

# %% predict [markdown] lang="zh"
# ## 第二行坏了
#
# 同一个文件，第二行断在中间，其余各行完好：

# %% predict [markdown] lang="en"
# ## The second line is damaged
#
# The same file, but its second line stops half way. All other lines are good:

# %% second-line
Path("second_line.jsonl").read_bytes().split(b"\n")[1]

# %% predict-count [markdown] lang="zh"
# **预测**：`load_session` 会返回几条消息？把 `None` 换成数字；不填也能继续。

# %% predict-count [markdown] lang="en"
# **Predict**: how many messages does `load_session` give back? Put a number in place of `None`, or leave it open.

# %% guess
guess = None

# %% run
from contextlib import suppress
from labsupport.errors import SessionJsonError
from labsupport.workbench.checks.base import compare

loaded = []
with suppress(SessionJsonError):
    loaded = load_session("second_line.jsonl")
print(compare(guess, len(loaded)))

# %% why [markdown] lang="zh"
# 连完好的行也没有返回。如果跳过坏行，历史就会悄悄缺一块：这里丢的正好是调用，留下的结果找不到自己的调用（叫**孤儿结果**）。
# 宁可停下来，让人去修。它停下来时说了什么？去掉 `suppress` 再运行一次，红字是故意的：

# %% why [markdown] lang="en"
# Not even the good lines come back. Skipping the bad one would take a piece of the history away in silence: here it would be
# the call, and its result would be left without one (an **orphan**). So the load stops and a person decides. What does it say?
# Once more, without `suppress`; the red text is meant to be there:

# %% break-it tags=["raises-exception"]
load_session("second_line.jsonl")

# %% answers [markdown] lang="zh"
# 最后一行是说：第 2 行不是 JSON，该写键名的地方断了；什么也没有加载，先修好这一行。
#
# ## 解析只给答案，加载才报错
#
# 分工是这样的：`parse_session_message` 回答“这个值是什么消息”，不是消息就返回 `None`；无论给它什么，都不会抛出异常。
# `load_session` 决定坏行意味着什么。
#
# 教材的表先看共同前提：值是对象，`role` 和 `content` 都是字符串；再看 `role` 是哪一种。
# 多出来的键不碍事，只是不会进到消息里。

# %% answers [markdown] lang="en"
# Its last line says where (line 2), what (the JSON breaks off at a key), and what to do: nothing was loaded, repair that line.
#
# ## Parse answers, load raises
#
# They share the work: `parse_session_message` answers which message a value is, or `None`, and never raises, whatever it is
# given; `load_session` decides what a bad line means.
#
# The chapter's table begins with what all messages share: an object whose `role` and `content` are strings. Then `role`
# decides. An extra key does no harm; it just does not enter the message.

# %% shared-table
from labsupport.workbench.tables import verdict_table

verdict_table([
    None, ["user", "hi"], {"content": "hi"}, {"role": "user"},
    {"role": "user", "content": None}, {"role": "robot", "content": "hi"},
    {"role": "user", "content": "hi"},
    {"role": "user", "content": "hi", "mood": "good"},
])

# %% calls [markdown] lang="zh"
# 助手消息的 `toolCalls` 要逐项核对：每一项都得有字符串 `id`、字符串 `name` 和 `input` 这个键。
# 键在就行，值可以是 `null`，因为有的工具不要输入。但只要一项不合格，整条消息就不合格：少一个调用，就是另一条消息了。

# %% calls [markdown] lang="en"
# An assistant's `toolCalls` are checked item by item: each needs a string `id`, a string `name`, and the key `input`. The key
# has to be there; its value may be `null`, since some tools take no input. One bad item spoils the whole message: with a call
# less it would be another message.

# %% calls-table
good, bare = {"id": "c1", "name": "ls", "input": None}, {"id": "c2", "name": "ls"}
lists = ([], [good], [bare], [good, bare], [good, "ls"], None)
said = {"role": "assistant", "content": ""}
verdict_table(said | {"toolCalls": calls} for calls in lists)

# %% results [markdown] lang="zh"
# 工具消息要有字符串 `toolCallId`，`isError` 必须是真正的布尔值；`1` 不算。
# 表里的理由来自 `session_message_problem`：哪个字段，违反了哪条规则。解析函数就建立在它上面。

# %% results [markdown] lang="en"
# A tool message needs a string `toolCallId`, and its `isError` has to be a real boolean, which `1` is not. The reasons in the
# table come from `session_message_problem`: which field breaks which rule. The parser is built on it.

# %% results-table
result = {"role": "tool", "content": "42", "toolCallId": "c1"}
flags = (False, True, 1, "false", None)
verdict_table([*(result | {"isError": flag} for flag in flags), result])

# %% record [markdown] lang="zh"
# ## 坏行有两种，行号只有一套
#
# 不是 JSON，报 `SessionJsonError`；是 JSON 却不是消息，报 `SessionRecordError`。报错里只有位置和规则，
# 从不引用消息的内容：
# 报错常会写进日志，而消息里可能有不该外传的内容。
#
# 空行会跳过，但照样占行号。下面的文件里，好的一行和坏的一行之间有空行。**预测**：报错说的是第几行？

# %% record [markdown] lang="en"
# ## Two kinds of bad lines, one count
#
# A line that is not JSON is a `SessionJsonError`; JSON that is no message is a `SessionRecordError`. Both name the place and
# the rule and never quote what a message says: errors end up in logs, and a message may not be for everybody's eyes.
#
# Empty lines are passed over, but they are counted. In the file below, empty lines stand between a good line and a bad one.
# **Predict**: which number does the error name?

# %% guess-line
guess_line = None

# %% number-run
from labsupport.errors import SessionRecordError

bad = b'{"role":"tool","toolCallId":"c1","content":"private","isError":1}'
Path("gaps.jsonl").write_bytes(b'{"role":"user","content":"hi"}\n\n\n' + bad + b"\n")
try:
    load_session("gaps.jsonl")
except SessionRecordError as error:
    print(compare(guess_line, error.line))
    print(error)

# %% number-why [markdown] lang="zh"
# 报错说的是：这一行的 `isError` 必须是 `true` 或 `false`；没有一个字是消息的内容。
#
# 行号就是编辑器里的行号：打开文件，跳到这一行，就是它。教材数的是非空行；练习册改成数文件里的行，因为修文件的人用的是编辑器。

# %% number-why [markdown] lang="en"
# The error says that `isError` must be `true` or `false`, and not a word of the message.
#
# The number is the one that an editor shows: open the file, go to that line, and there it is. The chapter counts the lines that
# are not empty; this workbook counts those of the file, since whoever repairs it uses an editor.

# %% torn [markdown] lang="zh"
# ## 残尾：写到一半就停了
#
# 进程在写最后一行时被终止，文件就断在半行上，没有换行。练习册为它单独加了一个异常类，
# 它会告诉你：前面的行都完整，文件该截到第几个字节。

# %% torn [markdown] lang="en"
# ## A torn tail: stopped while writing
#
# When a process is killed while it writes, the file ends in the middle of a line, without a line break. This workbook
# adds an exception of its own for it, which tells you that all lines before are whole, and at which byte to cut the file.

# %% torn-error tags=["raises-exception"]
load_session("torn_tail.jsonl")

# %% torn-repair [markdown] lang="zh"
# 报错是说：末行写到一半就停了，前面的行都完整；先留一份副本，再把文件截到那个字节；文件没有被改动。
#
# 照它说的做，在副本上截断，前面的消息就都回来了。由人来截，加载不会替你改文件。

# %% torn-repair [markdown] lang="en"
# Do as it says, on a copy, and the messages before it are back. You cut; a load never changes the file.

# %% torn-cut
from labsupport.errors import SessionTornTailError

try:
    load_session("torn_tail.jsonl")
except SessionTornTailError as torn:
    whole = Path("torn_tail.jsonl").read_bytes()[:torn.offset]
    Path("repaired.jsonl").write_bytes(whole)
len(load_session("repaired.jsonl"))

# %% cuts [markdown] lang="zh"
# 只缺换行、内容完整的末行不算残尾，照常加载。那么，把文件在**每个字节**处各截一次呢？
# 这里有一条**定律**，也就是对任何输入都成立的性质：要么报残尾，要么返回写过的消息的开头几条，绝不会返回没写过的消息。
# 数一数各有几次：

# %% cuts [markdown] lang="en"
# A last line that is whole and lacks only its line break is not torn; it loads. And if the file is cut once at **every
# byte**? There is a **law**, which is to say that it holds for every input: either the tail is torn, or the first few of the
# written messages come back. Never a message that was not written. How often does each happen?

# %% law-cuts
import os
from collections import Counter

Path("cut.jsonl").write_bytes(Path("short.jsonl").read_bytes())
written, counts = load_session("short.jsonl"), Counter()
for size in range(os.path.getsize("cut.jsonl"), -1, -1):
    os.truncate("cut.jsonl", size)
    try:
        back = load_session("cut.jsonl")
    except SessionTornTailError:
        counts["torn"] += 1
    else:
        assert back == written[:len(back)]
        counts[len(back)] += 1
print(counts)

# %% strict [markdown] lang="zh"
# `torn` 后面是报残尾的次数；其余每一对，冒号前是返回了几条消息，冒号后是有多少处截断给出这么多条。
# 每个条数大多有两处：刚好截在换行之后，或者只缺这个换行。
#
# ## 严格的 JSON
#
# 别的语言写的文件、别的编辑器存过的文件，会出什么花样？每种花样放进一个小文件，看加载怎么说。

# %% strict [markdown] lang="en"
# After `torn` stands how often the tail was torn. In every other pair the first figure is how many messages came back, the
# second how many cuts gave that many. Mostly there are two: right after a line break, and with only that line break missing.
#
# ## Strict JSON
#
# What comes from a program in another language, or from an editor that saved the file? Each oddity in a small file of its
# own, and what the load says:

# %% strict-table
from labsupport.workbench.tables import load_table

hi = b'{"role":"user","content":"hi"}\n'
load_table({
    "NaN": hi.replace(b'"hi"', b'"hi","score":NaN'),
    "1e999": hi.replace(b'"hi"', b'"hi","score":1e999'),
    "BOM": b"\xef\xbb\xbf" + hi, "half UTF-8": hi.replace(b"hi", "预".encode()[:2]),
    "control": hi.replace(b"hi", b"h\0i"), "CR": hi.replace(b"\n", b"\r") + hi,
    "blanks": hi + b"   \n", "array": b"[]\n",
    "empty line": hi + b"\n" + hi, "CRLF": hi.replace(b"\n", b"\r\n"),
    "U+2028": hi.replace(b"hi", "h\u2028i".encode()),
    "half emoji": hi.replace(b"hi", rb"\ud83d"), "no line break": hi[:-1],
})

# %% strict-why [markdown] lang="zh"
# `load_session` 一列写着异常的，报错；写着消息条数的，照常加载。`NaN` 不属于 JSON，哪怕它在一个用不到的键里：
# 换一个更严格的解析器，这一行就读不了。
#
# 行只以 `\n` 结束。Python 的 `str.splitlines()` 会在 U+2028 处也切一刀，把一条好消息切成两行坏的：

# %% strict-why [markdown] lang="en"
# Where the column `load_session` names an exception, the file is refused; where it counts messages, it loads. `NaN` is not
# JSON, not even in a key that nobody uses: a stricter parser would stop there.
#
# A line ends at `\n` and nowhere else. Python's `str.splitlines()` cuts at U+2028 as well and makes two bad lines of one good
# message:

# %% splitlines
text = hi.decode().replace("hi", "h\u2028i")
print(text.split("\n"))
print(text.splitlines())

# %% absent [markdown] lang="zh"
# ## 唯一吞掉的错误
#
# 第一次启动，会话文件还不存在。这不是错误，是空的历史。其余的系统错误一律原样抛出：没有权限、磁盘故障，或者路径是个目录
# （下面的 `.`）。把它们也当成“没有历史”，智能体就会失忆还不自知。

# %% absent [markdown] lang="en"
# ## The one error that is swallowed
#
# On the first start there is no session file. That is no error but an empty history. Every other error of the system comes
# through as it is: no permission, a bad disk, or a path that is a directory (`.` below). Taken for "no history", it would make
# the agent forget everything without noticing.

# %% absent-load
for name in ("not_there.jsonl", "."):
    try:
        print(load_session(name))
    except OSError as error:
        print("OSError:", error.strerror)

# %% runnable [markdown] lang="zh"
# ## 能恢复，不等于能运行
#
# 解析只看一行的结构。结果找不到自己的调用、调用还没有结果，这些单看一行都看不出来，所以照常加载。
# 每行先是读回了几条消息；然后，第一个文件是孤儿结果的下标，第二个文件是还没有结果的调用：

# %% runnable [markdown] lang="en"
# ## Restorable is not runnable
#
# A parser sees the structure of one line. A result whose call is gone, a call without a result: no single line shows that, so
# both load. Each line begins with the messages that came back; then, for the first file, where its orphans stand, and for the
# second, the calls that have no result:

# %% runnable-run
from labsupport.miniagent import find_orphans, open_calls

orphan, unanswered = load_session("orphan.jsonl"), load_session("open_call.jsonl")
print(len(orphan), find_orphans(orphan))
print(len(unanswered), [call.id for call in open_calls(unanswered)])

# %% append [markdown] lang="zh"
# ## 追加，再读回来
#
# `append_session` 每次只加一行。三条消息，三行（`fresh` 先删掉上次运行留下的文件，所以再运行一次也还是三行）：

# %% append [markdown] lang="en"
# ## Append, and load back
#
# `append_session` adds one line at a time. Three messages, three lines (`fresh` first removes the file of an earlier run, so
# three lines it stays, however often you run the cell):

# %% append-three
from labsupport.miniagent import append_session
from labsupport.miniagent import AssistantMessage, ToolCall, ToolMessage, UserMessage
from labsupport.workbench.scratch import fresh

demo, read = fresh("demo.jsonl"), ToolCall("c1", "read", {"rows": [1, None]})
append_session(demo, UserMessage("预算 🙂"))
append_session(demo, AssistantMessage("", (read,)))
append_session(demo, ToolMessage("c1", "42", False))
print(Path(demo).read_text("utf-8"), end="")

# %% law [markdown] lang="zh"
# 定律：写进去什么，读回来就是什么。用许多份随机会话来试，里面有引号、换行、NUL、U+2028、半个 emoji、嵌套的 `input`。
# 打印的是一共写了多少条：

# %% law [markdown] lang="en"
# The law: what was appended is what load gives back. Tried on many random sessions with quotes, line breaks, NUL, U+2028,
# half an emoji and nested `input`. The figure is how many messages were written:

# %% law-append
from labsupport.workbench.random_messages import random_messages

total = 0
for seed in range(50):
    messages, law = random_messages(seed), fresh("law.jsonl")
    for message in messages:
        append_session(law, message)
    assert load_session(law) == messages
    total += len(messages)
print(total)

# %% refuses [markdown] lang="zh"
# 要守住定律，就得在写之前拒绝。下面的报错依次是说：`NaN` 没有 JSON 写法；`2**53 + 1` 换成 JavaScript 来读，会变成
# `2**53`；分成两半的 emoji 读回来会合成一个；集合不是 JSON。最后一行的 `True` 说明：文件一个字节都没动。

# %% refuses [markdown] lang="en"
# To keep the law, some values are refused before anything is written: `NaN` has no spelling in JSON; JavaScript would read
# `2**53 + 1` as `2**53`; an emoji in two halves would come back as one; a set is not JSON. The `True` at the end says that not
# a byte of the file has changed.

# %% refuses-run
from labsupport.errors import LosslessError

before = Path(demo).read_bytes()
for value in (float("nan"), 2**53 + 1, "\ud83d" + "\ude42", {1, 2}):
    try:
        save = ToolCall("c9", "save", value)
        append_session(demo, AssistantMessage("", (save,)))
    except LosslessError as error:
        print(error)
print(Path(demo).read_bytes() == before)

# %% plain [markdown] lang="zh"
# ## 教材不保证的事
#
# 教材的追加只是“打开、写一行、关上”，它也写明了：没有锁，没有 fsync。用 `lock=False` 可以看到这样写的后果。
# 上次留下了残尾，这次接着写，再加载：

# %% plain [markdown] lang="en"
# ## What the chapter does not promise
#
# The chapter's append opens the file, writes a line and closes it; it says itself that it has no lock and no fsync.
# `lock=False` does just that. Here a torn tail was left behind, the next message is written, and the file is loaded:

# %% plain-append tags=["raises-exception"]
import shutil

shutil.copy("torn_tail.jsonl", "glued.jsonl")
append_session("glued.jsonl", UserMessage("Still there?"), lock=False)
print(Path("glued.jsonl").read_bytes().split(b"\n")[3])
load_session("glued.jsonl")

# %% locked [markdown] lang="zh"
# 新消息粘在了半行后面。这一行现在有换行，不再是残尾，成了文件中间的损坏：报错只说这一行不是 JSON，
# 说不出该截到哪个字节，连新消息也跟着丢了。
#
# 默认的追加是练习册加的：带锁，先看末行，是残尾就拒绝，一个字节也不写。

# %% locked [markdown] lang="en"
# The new message is glued to the half line. That line has a line break now, so it is no torn tail any more but damage: the
# error can name no byte to cut at, and the new message is lost with it.
#
# The default append is an addition of this workbook: it takes a lock and looks at the last line first. If that is torn, it
# refuses and writes nothing.

# %% locked-append tags=["raises-exception"]
append_session("torn_tail.jsonl", UserMessage("Still there?"))

# %% writers [markdown] lang="zh"
# 报错还是残尾的那一句，说明该截到哪里；文件没有被改动。
#
# 锁还管另一件事：几个进程同时写同一个文件。谁先谁后不知道，但一条不少，各自的顺序也不乱
# （启动进程要几秒钟）：

# %% writers [markdown] lang="en"
# The sentence is that of the torn tail: it says where to cut, and nothing was changed.
#
# The lock does one more thing: several processes may write the same file. Who comes first is not known, but no message is
# lost, and each process finds its own in order (to start the processes takes a few seconds):

# %% writers-run
from labsupport.workbench.writers import append_from_processes

shared = fresh("shared.jsonl")
append_from_processes(shared, processes=2, each=25)
said = [message.content for message in load_session(shared)]
print(len(said))
for writer in "01":
    its_own = [text for text in said if text[0] == writer]
    print(its_own == [f"{writer}:{number}" for number in range(25)])

# %% explore [markdown] lang="zh"
# ## 选一行，弄坏它
#
# 滑块选行，菜单选弄坏的方式；只用键盘，就按 Tab 到菜单旁的 ‹ ›，再按空格。先自己试，再运行下一格：下一格会把滑块移走。
#
# **问题**：哪些弄坏的方式不会报错？其中哪些其实丢了东西？
#
# <details><summary>只有一张图，没有滑块？</summary>
#
# 重新打开的笔记本里，只有上次保存的图。打开菜单“运行”，选“运行所有单元格”，滑块就回来了；
# 内核重启过，只运行这一格会报 `NameError`，也这样恢复。
#
# </details>

# %% explore [markdown] lang="en"
# ## Pick a line, break it
#
# The slider picks a line, the menu a way to break it; without a mouse, press Tab until you are at ‹ or › beside the menu, then
# Space. Move them yourself before you run the next cell: it moves them, too.
#
# **The question**: which breakages pass without an error, and which of those lose something all the same?
#
# <details><summary>Only a picture, and no slider?</summary>
#
# A notebook that is opened again shows the pictures of its last run. Choose *Run → Run All Cells* and the slider is back. The
# same helps against a `NameError` when the kernel was restarted and this cell was run alone.
#
# </details>

# %% explorer
from labsupport.workbench.explorers.a1 import line_explorer

explorer = line_explorer("short.jsonl")
explorer

# %% move
explorer.line.value = 2
explorer.breakage.value = "erased"
explorer.still

# %% explore-answer [markdown] lang="zh"
# <details><summary>答案</summary>
#
# 不报错的有：多一个键（键不进消息）、`input` 变成 `null`（内容变了）、变成空行（整条消息没了）；
# 换行前有 CR、末行缺换行也不报错，这两样没丢什么。
#
# 结构检查只能发现结构上的错。上面第二行被抹成空行，加载一声不吭，留下的却是孤儿结果：要发现它，得看行与行之间的关系。
#
# </details>

# %% explore-answer [markdown] lang="en"
# <details><summary>Answer</summary>
#
# These pass: an extra key (it does not enter the message), an `input` made `null` (the content is another), a CR before the
# line break (nothing is lost), an empty line (a whole message is gone), a last line without its line break (nothing is lost).
# A check of structure finds faults of structure. With the second line erased, as above, the load is silent and the result is
# an orphan: to see that, one has to look at how lines belong together.
#
# </details>

# %% exercise [markdown] lang="zh"
# ## 练习：工具消息这个分支
#
# 写 `parse_tool(value)`。共同前提已经成立：`value` 是对象，`role` 是 `"tool"`，`content` 是字符串。
# 合格就返回 `ToolMessage(tool_call_id, content, is_error)`，不合格返回 `None`，任何时候都不抛出异常。
#
# <details><summary>提示</summary>
#
# 字段可能不在，用 `value.get("toolCallId")` 取。问类型，不要问真假：`isinstance(x, str)`。
# 再想想上面那张表里的 `1`：
# Python 的 `bool` 和 `int` 是什么关系？
#
# </details>

# %% exercise [markdown] lang="en"
# ## Exercise: the branch for tool messages
#
# Write `parse_tool(value)`. What all messages share is known to hold: `value` is an object, its `role` is `"tool"`, its
# `content` a string. Return `ToolMessage(tool_call_id, content, is_error)` if it is one and `None` if not, and never raise.
#
# <details><summary>Hint</summary>
#
# A field may be missing: take it with `value.get("toolCallId")`. Ask for its type, not for its truth: `isinstance(x, str)`.
# And remember the `1` in the table above: how do `bool` and `int` belong together in Python?
#
# </details>

# %% parse-tool
def parse_tool(value):
    ### BEGIN SOLUTION
    call_id, is_error = value.get("toolCallId"), value.get("isError")
    if isinstance(call_id, str) and isinstance(is_error, bool):
        return ToolMessage(call_id, value["content"], is_error)
    return None
    ### END SOLUTION

# %% parse-tool-check points=2
from labsupport.workbench.checks.a1 import check_parse_tool

verdict = check_parse_tool(parse_tool)
print(verdict)
### BEGIN HIDDEN TESTS
assert verdict.correct, verdict
### END HIDDEN TESTS

# %% exercise-answer [markdown] lang="zh"
# <details><summary>答案</summary>
#
# 取出两个字段，`toolCallId` 要过 `isinstance(…, str)`，`isError` 要过 `isinstance(…, bool)`，
# 都过了才构造消息，否则返回 `None`。缺字段时 `get` 给出 `None`，它既不是 `str` 也不是 `bool`，所以不必另写一个分支。
# 用 `isinstance(…, int)` 就错了：`bool` 是 `int` 的子类，`1` 也会通过。空字符串和 `False` 都是合格的值。
#
# </details>

# %% exercise-answer [markdown] lang="en"
# <details><summary>Answer</summary>
#
# Take both fields; `toolCallId` has to pass `isinstance(…, str)`, `isError` has to pass `isinstance(…, bool)`; build the
# message if both do, else return `None`. For a missing field `get` gives `None`, which is neither a `str` nor a `bool`, so
# there is no extra branch. `isinstance(…, int)` would be wrong: `bool` is a kind of `int`, and `1` would pass. An empty
# string and `False` are good values.
#
# </details>

# %% think [markdown] lang="zh"
# ## 思考题
#
# 教材为自己的取舍列了理由。先自己答，再展开。
#
# **1.** 为什么追加 JSONL，而不是每一轮重写整个文件？
#
# <details><summary>参考答案</summary>
#
# 追加只碰末尾，先前写好的行不会再动，写到一半停下，最多坏掉末行。“残尾”一节把文件在每个字节处都截过：前面的消息一条没坏。
# 重写整个文件时停下，丢的可能是全部历史，而且历史越长，每一轮写得越多。代价是：改不了旧的行，文件只会变长。
#
# </details>
#
# **2.** 为什么坏行要抛出异常，而不是跳过？
#
# <details><summary>参考答案</summary>
#
# 跳过等于悄悄删掉一条消息。滑块那一格里抹掉第二行就是这个效果：少一条，没有报错，留下孤儿结果，模型看到的是一段没发生过的对话。
# 抛出异常会打断工作，但行号和原因都在手里，修不修、怎么修由人决定。
#
# </details>
#
# **3.** 教材的追加没有锁。什么时候这样就够了？
#
# <details><summary>参考答案</summary>
#
# 一个文件只有一个进程在写，而且上一次没有停在半行上。两条都靠使用者自己保证，代码不检查；
# `glued.jsonl` 就是第二条不成立时的样子。教材里的智能体很小，一次一个会话，这样取舍说得过去。
# 一旦有两个窗口同时开着同一个会话，就没有人能保证了。锁替他们保证：几个进程一起写的那一格，一条没少，顺序也没乱。
# 没有锁时常常也不出事，但那只是运气，不是保证。
#
# </details>

# %% think [markdown] lang="en"
# ## Questions to think about
#
# The chapter gives reasons for what it chose. Answer first, then unfold.
#
# **1.** Why append to JSONL rather than rewrite the file on every turn?
#
# <details><summary>An answer</summary>
#
# An append touches the end alone. Lines that were written stay as they are, and a writer that is stopped spoils the last one
# at most. The torn-tail section cut the file at every byte, and no earlier message was harmed. Stopped while it rewrites, a
# program can lose the whole history, and it writes more on every turn. The price: old lines cannot be changed, and the file
# only grows.
#
# </details>
#
# **2.** Why does a bad line raise instead of being skipped?
#
# <details><summary>An answer</summary>
#
# To skip a line is to delete a message in silence. Erasing line two in the explorer does just that: one message less, no
# error, a result that is an orphan, and a model that reads a conversation which never took place. Raising interrupts the
# work, but the number and the reason are at hand, and a person decides about the repair.
#
# </details>
#
# **3.** The chapter's append has no lock. When is that enough?
#
# <details><summary>An answer</summary>
#
# When a single process writes the file, and the last one did not stop in the middle of a line. Both are left to the user; no
# code looks. `glued.jsonl` shows what happens when the second fails. For a small agent with one session at a time that is a
# fair choice. With two windows open on one session nobody can see to both any more. The lock
# can: in the cell with several processes no message was lost, and each one's order was kept. Without a lock it often goes well,
# but by luck; nothing promises it.
#
# </details>

# %% recap [markdown] lang="zh"
# ## 小结
#
# 一行是一个 JSON 对象，只以 `\n` 结束。解析回答它能不能恢复，加载决定坏行意味着什么，而且从不跳过。
# 残尾可以截掉，中间的损坏要人来修；能恢复的，还不一定能运行。下一个实验：恢复出来的消息太多，放不进模型，怎么办？

# %% recap [markdown] lang="en"
# ## Recap
#
# A line is one JSON object and ends at `\n` alone. Parse answers whether it can be restored; load decides what a bad line
# means, and never skips one. A torn tail can be cut off, damage in the middle needs a person, and what can be restored cannot
# always be run. Next: there are more messages than the model can take.
