# %% question [markdown] lang="zh"
# # 隐私
#
# 40 分钟。诊所的智能体记下了一位病人的来访。日志要能重建模型看到的每一次请求，又不能谁都读得到，
# 病人还可以要求删除。**什么可以留下？** 删掉以后，还有哪些请求能重建？名字又还在哪里？
#
# 学完你能：
#
# - **分清**四种可重建程度，说出每次请求靠哪把密钥、哪个附件
# - **预测**一次删除的后果：哪些请求不能重建了，哪些地方它够不着
# - **检查**一份导出：名字还在哪一行

# %% question [markdown] lang="en"
# # Privacy
#
# 40 minutes. A clinic's agent has logged a patient's visit. The log has to give back every request that the model saw; not
# everybody may read it; and the patient may ask for its deletion. **What may be kept?** Which requests can be rebuilt after a
# deletion, and where is her name still?
#
# Afterwards you can:
#
# - **tell** the four levels of a request apart, and name the key or the attachment that it rests on
# - **predict** what a deletion does: which requests it ends, and what it cannot reach
# - **check** an export: on which line is the name still?

# %% imports
import hashlib
from shutil import copytree

from labsupport.outside import Attachments
from labsupport.sessionlog.privacy import needs_of, reveal_log
from labsupport.sessionlog.request import rebuild_request, request_seqs
from labsupport.sessionlog.roles import OFFICER
from labsupport.workbench.checks.base import compare
from labsupport.workbench.erasing import erase, key_bytes_found, look, places, targets
from labsupport.workbench.privacy_scene import (
    LOGS, NAME, POLICY, SECRET, VISIT, key, opened, sessions, settle, stored)
from labsupport.workbench.privacy_tables import class_table, level_table, place_table
from labsupport.workbench.scratch import fresh, scratch

# %% look [markdown] lang="zh"
# ## 先看一次来访
#
# 病人叫林安，是编出来的。她的来访记在会话 `visit` 里；从它分叉出 `visit-second`；它又交给子智能体 `visit-letter`
# 写一封信。`hours` 只问开门时间，与谁都无关。内存里的样子：

# %% look [markdown] lang="en"
# ## First, the visit
#
# The patient is called 林安 (Lin An), and is made up. Her visit is the session `visit`. A fork, `visit-second`, was made of
# it, and a sub-agent, `visit-letter`, wrote a letter for it. `hours` asks when the clinic opens, and is about nobody. In
# memory:

# %% recorded
scratch()
visit = sessions()[VISIT]
kinds = ("user/message", "tool/result", "session/title")
first = [event for event in visit.events if event.type in kinds][:3]
print(*[f"{event.seq} {event.type} {event.data}" for event in first], sep="\n")

# %% look-stored [markdown] lang="zh"
# 在磁盘上，这三个事件的 seq、类型、id 都一样，话却不在了。在原来的位置上是一段密文，或者一个引用。要读，需要：

# %% look-stored [markdown] lang="en"
# On the disk these three have the same seq, type and ids, and not their words. In their place stands a ciphertext, or a
# reference. What it takes to read them:

# %% settled
settle(fresh("clinic"))
logs = stored("clinic")
for event in first:
    print(event.seq, *[need.label[:30] for need in needs_of(logs[VISIT][event.seq].read())])

# %% classes [markdown] lang="zh"
# ## 哪些字段，怎么存
#
# 事件的类型、seq、轮次、id 是**结构**，不加密：没有它们，日志打不开（所以 id 里不要放名字）。其余都是**内容**，按类别
# 决定怎么存；表里没有写到的字段和键，也算内容。这是 `visit` 的内容：

# %% classes [markdown] lang="en"
# ## Which field is kept how
#
# Types, seqs, turns and ids are **structure** and stay as they are; without them no log opens (so no id should be anybody's
# name). All the rest is **content**, and its class decides how it is kept. A field or a key that no table knows is content,
# too. The content of `visit`:

# %% class-table
class_table(visit.events, POLICY)

# %% classes-why [markdown] lang="zh"
# 名字几乎到处都是：标题抄了问题，回答抄了结果，碎片又把回答抄了一遍。只管“用户的话”不够。
#
# 加密的内容还在原处，密钥在另一个库里，每个租户每个类别一把。工具的参数和结果不在日志里，日志只有引用：
# 附件的文件名是**带密钥**的摘要。为什么不用普通的摘要？能猜到内容的人，算一下就知道猜对没有：

# %% classes-why [markdown] lang="en"
# The name is nearly everywhere: the title repeats the question, the answer repeats the result, and the chunks repeat the
# answer. To look after prompts alone is not enough.
#
# What is encrypted stays in its place, and its key lies in another database, one for each tenant and class. Arguments and
# results of tools are not in the log, which has references: attachments are named by a digest that takes a **key**. Why not
# by a plain one? Who can guess what is inside computes it, and knows:

# %% guessable
names = ["王芳", "林安", "李娜"]
ref = Attachments(fresh("guessed"), key=b"a key of 16 bytes or more").put(NAME.encode())
for digest in (hashlib.sha256(NAME.encode()).hexdigest(), ref.removeprefix("attachment:")):
    print([name for name in names if hashlib.sha256(name.encode()).hexdigest() == digest])

# %% levels [markdown] lang="zh"
# ## 四种可重建程度
#
# 一次请求里，模型读到的每一段从哪里来？全在日志里，是**完整**；有加密的，**要密钥**；有引用的，**要附件**；
# 缺了任何一样，就**不能重建**。四份日志里的每一次请求：

# %% levels [markdown] lang="en"
# ## Four levels
#
# Where does each piece of a request come from? From the log alone: it is **whole**. Some of it encrypted: **with key**.
# Some of it elsewhere: **with attachment**. Anything of it missing: **gone**. Every request of the four logs:

# %% level-table
level_table(look("clinic", LOGS).levels)

# %% levels-why [markdown] lang="zh"
# 流的碎片、标题和错误不算在内：模型没有读过它们。分叉带着父会话的历史，所以那几次请求也靠父会话的密钥和附件。
#
# 打开密钥和附件，重建出来的与内存里的一样吗？

# %% levels-why [markdown] lang="en"
# Raw chunks, titles and errors count for nothing here: no model was sent them. The fork has its parent's history, so those
# requests rest on its parent's keys and attachments as well.
#
# With keys and attachments, is what is rebuilt the same as it was in memory?

# %% rebuilt
with opened("clinic") as vault:
    again = reveal_log(logs[VISIT], vault).events
print([rebuild_request(again, seq) == rebuild_request(visit.events, seq)
       for seq in request_seqs(again)])

# %% delete [markdown] lang="zh"
# ## 删除一把密钥
#
# 第一个月过后密钥**轮换**过：新内容用第 2 版，第 1 版只用来读旧的。现在删除 `clinic-a/prompt` 的第 1 版。
# 日志一个字节也不改。
#
# **预测 1。** 上表的请求里，有几次从此不能重建？

# %% delete [markdown] lang="en"
# ## Delete a key
#
# After the first month the keys were **rotated**: version 2 seals what is new, and version 1 only opens what is old. Now
# version 1 of `clinic-a/prompt` is deleted. Not a byte of any log changes.
#
# **Prediction 1.** How many of the requests above can no longer be rebuilt?

# %% guess
guess = None

# %% deleted
copy = copytree("clinic", fresh("copy"))
erased = erase(copy, targets(logs)["prompt1"], OFFICER)
print(compare(guess, len(erased.lost)))
print(*erased.lost)

# %% delete-why [markdown] lang="zh"
# 第一轮的话留在后面每一次请求的历史里，所以后面的也都不能重建了。分叉、子智能体也在内：密文抄到哪里，
# 删密钥都够得着。删除前就能算出这张单子，应当先给人看。
#
# 现在去读第一句话：

# %% delete-why [markdown] lang="en"
# What was said in the first turn is in the history of every later request, so those are lost as well. So are those of the
# fork and the sub-agent: wherever the ciphertext was copied to, the deletion of its key reaches it. The list can be made
# before anything is deleted, and somebody should see it first.
#
# Now try to read the first prompt:

# %% break-it tags=["raises-exception"]
with opened("copy") as vault:
    vault.open("clinic-a/prompt", 1, "", "user/message.content[].text")

# %% broken [markdown] lang="zh"
# 报错是说：这把密钥已经删除，用它封存的内容谁也读不出来了。它说了是哪把密钥，没有说里面是什么。
# “删除过”这件事本身要留下，不然就分不清是删了，还是从来没有。
#
# 删除真的**可以验证**吗？去密钥库的文件里找那把密钥的字节，WAL 和空闲页也算，删除前后各找一次：

# %% broken [markdown] lang="en"
# The error names the key, and says that nobody can read any more what it sealed. It does not say what that was. That there
# was a deletion has to stay known, or else “deleted” could not be told from “never there”.
#
# And can the deletion be **verified**? The bytes of that key are looked for in the files of the database, free pages and WAL
# included, before and after:

# %% verify
copy = copytree("clinic", fresh("copy"))
print(key_bytes_found(copy, key("prompt", 1), OFFICER))

# %% where [markdown] lang="zh"
# ## 名字还在哪里
#
# 密钥没了，不等于名字没了。真的去每个地方读一遍：一列什么也没删，一列删了 prompt 的第 1 版，一列删了**全部**密钥。
#
# **预测 2。** 删掉全部密钥以后，还有几处读得到她的名字？

# %% where [markdown] lang="en"
# ## Where the name still is
#
# A key that is gone is not a name that is gone. Each place is really read: with nothing deleted, without version 1 of the
# prompts' key, and without **any** key.
#
# **Prediction 2.** With all keys deleted, in how many places can her name still be read?

# %% guess-places
guess_places = None

# %% where-table
one, every = (copytree("clinic", fresh(name)) for name in ("copy", "every"))
erase(one, targets(logs)["prompt1"], OFFICER)
erase(every, targets(logs)["keys"], OFFICER)
print(compare(guess_places, list(places(every).values()).count(True)))
place_table(nothing=places("clinic"), prompt1=places(one), keys=places(every))

# %% where-why [markdown] lang="zh"
# 附件的文件是明文，所以工具的结果还在，分叉也还读得到。备份里有当时的密钥。以前的导出本来就没有加密。
# 发给模型提供方的请求，我们连看都看不到。删除的回答会说出它够不着什么：

# %% where-why [markdown] lang="en"
# The files of attachments are in the clear, so the tools' results are still there, in the fork too. The backup has the keys
# of its day. The old export was never encrypted. And what the model's provider was sent, nobody here can even look at. A
# deletion says what it does not reach:

# %% unreached
for target in ("prompt1", "result", "visit"):
    copy = copytree("clinic", fresh("copy"))
    print(target, *erase(copy, targets(logs)[target], OFFICER).unreached)

# %% kin [markdown] lang="zh"
# 最后一行来自删除日志 `visit` 本身：它带不走分叉和子智能体，也带不走附件。先数一数有几份：

# %% kin [markdown] lang="en"
# The last line is the deletion of the log `visit` itself: it takes neither the fork nor the sub-agent along, nor the
# attachments. Count them first:

# %% kin-of
from labsupport.sessionlog.kin import kin_of
from labsupport.sessionlog.storage import JsonlStore

for each in kin_of(JsonlStore("clinic/logs").list(), VISIT):
    print(each.id, each.kind, each.events)

# %% retention [markdown] lang="zh"
# ## 各留多久
#
# 每个类别有自己的期限，没有写的不限。日志不能从中间删，到期的办法是删密钥：某一版退役之后，它封存的只会越来越旧。
# 时钟是参数，下面问的是轮换以后的几个日子：

# %% retention [markdown] lang="en"
# ## How long each is kept
#
# Every class has its time; a class that is not named is kept. Nothing is cut out of a log; what is due is the key: once a
# version is retired, what it sealed only grows older. The clock is an argument; these are some days after the rotation:

# %% due
from labsupport.sessionlog.retention import DAY, due, hold_on, last_references

days = {"chunk": 7, "prompt": 60, "attachment": 90}
with opened("clinic") as vault:
    states = vault.keys.states()
rotated = max(state.retired for state in states if state.retired)
for day in (5, 40, 100):
    found = due(states, last_references(logs.values()), days, rotated + day * DAY)
    print(day, [need.label[:20] for need in found.delete])

# %% hold [markdown] lang="zh"
# ## 法律保留
#
# 有一桩官司，`visit` 要保留。保留一个会话，就保留了读它要用的每把密钥、每个附件。删除和到期都要让它：

# %% hold [markdown] lang="en"
# ## A legal hold
#
# There is a lawsuit, and `visit` has to be kept. A hold on a session is a hold on every key and attachment that it takes to
# read it. Deletions give way to it, and so does retention:

# %% held
hold = hold_on("case-7", VISIT, logs[VISIT])
found = due(states, last_references(logs.values()), days, rotated + 100 * DAY, [hold])
print([need.label[:20] for need in found.delete], len(found.held))

# %% held-delete
from labsupport.errors import HoldError

try:
    erase("clinic", targets(logs)["keys"], OFFICER, [hold])
except HoldError as error:
    print(error)

# %% roles [markdown] lang="zh"
# ## 谁可以读什么
#
# 审计员读原始日志；客服读脱敏的对话记录，只看得到程序给模型的话；合规专员可以删除，却什么也不能读。

# %% roles [markdown] lang="en"
# ## Who may read what
#
# The auditor reads the raw log. Support reads a redacted transcript, which shows what the program told the model and
# nothing that people said. The officer may delete, and reads nothing.

# %% roles-read
from labsupport.sessionlog.roles import AUDITOR, SUPPORT, read_raw, read_transcript

with opened("clinic") as vault:
    events = reveal_log(logs[VISIT], vault).events
print(read_raw(AUDITOR, events)[2].data["content"][0]["text"])
print([row.text for row in read_transcript(SUPPORT, visit.header, events)][:3])

# %% export [markdown] lang="zh"
# ## 会泄漏的导出
#
# 把日志交给别人看，先要遮掉。两个真实程序的做法：一个只遮消息正文里的名字；一个只看键名像不像秘密（`apiKey`、`token`）。
# 来访最后一轮以错误结束，提供方把程序自己的 API 密钥抄进了错误信息。`redact_log` 按类别遮，不认得的一律遮：

# %% export [markdown] lang="en"
# ## Exports that leak
#
# A log that others are to see has to be redacted. Two real programs: one masks the name in the text of messages, the other
# masks values whose key looks like a secret (`apiKey`, `token`). The visit's last turn ended in an error, and the provider
# had put the program's own API key into it. `redact_log` hides by class, and whatever it does not know:

# %% exported
from labsupport.sessionlog.redaction import Pseudonyms, json_in, redact_log
from labsupport.workbench import exports

naive = exports.messages_only(visit.header, visit.events, NAME)
by_key = exports.names_of_secrets(visit.header, visit.events)
ours = exports.redacted(visit.header, visit.events)
for lines in (naive, by_key, ours):
    print(len(lines), [sum(word in str(line) for line in lines) for word in (NAME, SECRET)])

# %% exported-what [markdown] lang="zh"
# 行数一样，泄漏的行数不一样。脱敏之后还剩什么？类型、顺序、次数、配对都在，id 和名字换成了代号，
# 存进 `JsonlStore` 还能打开：

# %% exported-what [markdown] lang="en"
# As many lines each, and not as many that leak. What is left after redaction? Types, order, counts and pairs; ids and names
# became pseudonyms; and in a `JsonlStore` it opens:

# %% exported-ours
found = redact_log(visit.header, visit.events, names=Pseudonyms(keep={"find_patient"}))
name, data = exports.written(found)
print(name, len(exports.records(data)), found.hidden)
print([event.data["name"] for event in found.events if event.type == "tool/call"])

# %% exported-cut [markdown] lang="zh"
# 为什么按类别遮，而不是找词来遮？流会把词切成两半，两半里都找不到它：

# %% exported-cut [markdown] lang="en"
# Why hide by class, and not look for words? A stream cuts a word in two, and it is found in neither half:

# %% chunks
said = [event.data["chunk"]["text"] for event in visit.events
        if event.type == "assistant/chunk" and "text" in event.data["chunk"]]
print(said[:3], [NAME in text for text in said[:3]])

# %% law [markdown] lang="zh"
# ## 定律
#
# 定律是对任何输入都成立的性质。**导出里没有任何一个被遮类别的内容。** 在随机日志的每一处种一个独有的词（金丝雀）：
# 每个类别、会话头、工具名、事件类型、错误、键、嵌套的对象。导出的文件名和每个字节里，都不许听到：

# %% law [markdown] lang="en"
# ## The law
#
# A law holds for every input. **No export has anything of a class that is hidden.** A word of its own (a canary) is planted
# in every place of random logs: every class, header, names of tools, types of events, errors, keys, nested objects. Neither
# the name of the exported file nor a byte in it may sing:

# %% law-holds
from labsupport.workbench import canaries

some = [canaries.planted(seed) for seed in range(20)]
print(sum(len(canaries.there(log)) for log in some))
print(sum(len(canaries.sung(log)) for log in some))
print({tuple(canaries.sung(log, "title")) for log in some})

# %% law-why [markdown] lang="zh"
# 一共种下多少个，听到几个；只许看标题时，听到的只有标题。这个检查失败得了吗？换成只遮消息正文的导出，漏得最少的一份日志也漏
# 这么多：

# %% law-why [markdown] lang="en"
# So many are planted, and none sings; where titles may be shown, titles do. Can this check fail at all? With an export that
# masks the text of messages alone, each of these logs sings at least so much:

# %% law-fails
print(min(len(canaries.sung_naively(log)) for log in some))

# %% explore [markdown] lang="zh"
# ## 删除，由谁，有没有保留
#
# 三个菜单：删什么，谁要求，`visit` 有没有法律保留。每换一次，都在一间新的诊所里真的做一遍，再去每个地方看。
#
# **换菜单找一找：** 删掉全部密钥和附件，名字还剩在哪几处，为什么？有保留的时候，哪一种删除还能执行？

# %% explore [markdown] lang="en"
# ## Delete, as whom, under a hold?
#
# Three menus: what is deleted, who asks, and whether a legal hold is on `visit`. Each choice is really carried out in a
# clinic of its own, and every place is looked at again.
#
# **Find it with the menus:** with all keys and attachments deleted, in which places is the name still, and why? And
# under the hold, which deletion still goes through?

# %% explorer
from labsupport.workbench.explorers.b10 import privacy_explorer

explorer = privacy_explorer(show_text=True)
explorer

# %% move
explorer.target.value = "all"
explorer.role.value = "officer"
explorer.still

# %% moved [markdown] lang="zh"
# <details><summary>答案：哪几处，哪一种</summary>
#
# 备份两行和以前的导出。备份里的附件是明文，用现在的密钥打不开密文，附件照样读得到；备份自己又带着当时的密钥。
# 导出从来没有加密。这几处都要另外去删，密钥管不到它们；提供方那一行谁也没法替你看。
#
# 有保留时，只有删除日志 `visit-letter` 能执行：它自己的日志不在保留之内。可它用的密钥在，所以删密钥不行。
# 被挡住的删除整个不做，不会只删一半。
#
# </details>
#
# **思考题 9。** 用户要求删除一个会话。删除聊天数据、撤销业务效果、法律保留，各是什么，怎么分清？
#
# <details><summary>参考答案</summary>
#
# **删除聊天数据**：删日志、密钥、附件、检查点，还有分叉、子智能体、备份和导出；删除前列出哪些请求不能重建（“删除一把密钥”那
# 几格），删除后去每个地方看（`place_table`），够不着的写明白（`unreached`）。**撤销业务效果**：发出去的邮件、账单在外面的系
# 统里，删会话碰不到它们（`unreached` 里的 `outside`），要撤销，就在那边做一笔新的操作，留下自己的记录（B9）。**法律保留**：
# 有义务留的，删除要让它，并且说出来是哪一桩（`HoldError` 那一格）；到期也一样，等保留解除再删。三件事各有各的权限：合规专员
# 能删而不能读，业务撤销归业务系统，保留归法务。一个“删除”按钮，答不了三个问题。
#
# </details>

# %% moved [markdown] lang="en"
# <details><summary>Answer: which places, and which one</summary>
#
# The two rows of the backup, and the old export. The attachments in the backup are in the clear: today's keys do not open
# its ciphertexts, and the attachments are readable all the same. Besides, the backup has the keys of its day. The export
# was never encrypted. Each of them has to be deleted by itself; no key reaches them. For the provider's row nobody
# here can look.
#
# Under the hold only the log `visit-letter` can be deleted: that log is not under the hold. The keys that it uses are, so
# keys cannot be deleted. A deletion that is stopped is not carried out by half.
#
# </details>
#
# **Question 9.** A user asks for a session to be deleted. Tell apart: deleting chat data, undoing business effects, legal
# retention.
#
# <details><summary>An answer</summary>
#
# **Chat data**: the log, its keys, attachments and checkpoints, and then forks, sub-agents, backups and exports. Before it,
# list the requests that it ends (the cells of “Delete a key”); after it, look everywhere (`place_table`), and write down
# what is beyond reach (`unreached`). **Business effects**: mails and invoices are in the systems outside, and no deletion
# of a session touches them (`outside` in `unreached`). Undoing one is a new operation over there, with a record of its own
# (B9). **Legal retention**: what has to be kept by law; deletions give way, and say to which case (the cell with the
# `HoldError`). Retention times give way, too, until the hold is lifted. Each has its own authority: an officer deletes and
# does not read, the business system undoes, lawyers hold and lift. One “delete” button does not answer three questions.
#
# </details>

# %% exercise [markdown] lang="zh"
# ## 练习：找出导出里的泄漏
#
# `leaks(export, word)` 返回能读到 `word` 的那些行的行号，从小到大，每行一次。`export` 是列表，每行一个 JSON 对象：
# 第 0 行是会话头，其余是记录。能读到，指人看得懂的任何地方：
# 值、键、数，还有文字里的 JSON（工具参数常常是一段 JSON 文本，里面可以用 `\u` 转义）。
#
# <details><summary>提示</summary>
#
# 写一个会调用自己的小函数：对象看键也看值，列表看每一项，别的看 `str(value)`。
# 文字还要再看一层：`json_in(text)` 给出文字里的对象或列表，没有就是 `None`。
#
# </details>

# %% exercise [markdown] lang="en"
# ## Exercise: find the leak in an export
#
# `leaks(export, word)` gives the numbers of the lines in which `word` can be read, in order, each once. An `export` is a
# list with a JSON object for each line: line 0 is the header, the others are records. It can be read wherever somebody
# would understand it: in values, keys and numbers, and in JSON inside a text (a tool's arguments are JSON text, in which
# `\u` may spell a letter).
#
# <details><summary>Hint</summary>
#
# Write a small function that calls itself: of an object look at keys and values, of a list at each item, of anything else
# at `str(value)`. A text needs one more look: `json_in(text)` gives the object or list inside it, and `None` where there is
# none.
#
# </details>

# %% leaks
def leaks(export, word):
    ### BEGIN SOLUTION
    def says(value):
        if isinstance(value, dict):
            return any(says(part) for pair in value.items() for part in pair)
        if isinstance(value, list):
            return any(says(part) for part in value)
        inside = json_in(value) if isinstance(value, str) else None
        return word in str(value) or (inside is not None and says(inside))

    return [at for at, record in enumerate(export) if says(record)]
    ### END SOLUTION

# %% leaks-check points=2
from labsupport.workbench.checks.b10 import check_leaks

verdict = check_leaks(leaks)
print(verdict)
### BEGIN HIDDEN TESTS
assert verdict.correct, verdict
### END HIDDEN TESTS

# %% answer [markdown] lang="zh"
# <details><summary>答案</summary>
#
# ```python
# def leaks(export, word):
#     def says(value):
#         if isinstance(value, dict):
#             return any(says(part) for pair in value.items() for part in pair)
#         if isinstance(value, list):
#             return any(says(part) for part in value)
#         inside = json_in(value) if isinstance(value, str) else None
#         return word in str(value) or (inside is not None and says(inside))
#
#     return [at for at, record in enumerate(export) if says(record)]
# ```
#
# 把整行 `json.dumps` 再找不行：汉字会变成转义，参数里的 JSON 又多转义一次。这个检查也有找不到的：切成两半的碎片、
# 换个说法的名字（“五月起咳嗽的那位”）。所以检查只是最后一道，遮要按类别遮。
#
# </details>
#
# ## 再想一想
#
# 每个租户的密钥，能不能不存，用到时从根密钥**派生**出来？
#
# <details><summary>参考答案</summary>
#
# 能派生的，就能再派生一次：只要根密钥还在，删除就什么也没有删除（`derive_key` 的说明）。要能删除，密钥必须是随机的，用根密
# 钥包起来存着，删的是那一行。根密钥放在别处，只拿到密钥库的人什么也打不开。附件名的摘要密钥是派生的，因为它不用来读内容。
#
# </details>

# %% answer [markdown] lang="en"
# <details><summary>Answer</summary>
#
# ```python
# def leaks(export, word):
#     def says(value):
#         if isinstance(value, dict):
#             return any(says(part) for pair in value.items() for part in pair)
#         if isinstance(value, list):
#             return any(says(part) for part in value)
#         inside = json_in(value) if isinstance(value, str) else None
#         return word in str(value) or (inside is not None and says(inside))
#
#     return [at for at, record in enumerate(export) if says(record)]
# ```
#
# To look in `json.dumps` of the line will not do: it escapes Chinese, and what is JSON inside a text is escaped once more.
# And there are things that this check does not find: a word that a stream cut in two, or a person who is named in other
# words (“the one who has had a cough since May”). It is the last line of defence; hiding is done by class.
#
# </details>
#
# ## One more thought
#
# Could the tenants' keys be **derived** from the root whenever they are needed, and not be stored at all?
#
# <details><summary>An answer</summary>
#
# What can be derived can be derived again: as long as the root is there, a deletion deletes nothing (see `derive_key`). A
# key that is to be deleted has to be random, stored, wrapped by the root; the row is what is deleted. The root lies
# elsewhere, so the database alone opens nothing. The key for the names of attachments is derived, since no content is read
# with it.
#
# </details>

# %% recap [markdown] lang="zh"
# ## 小结
#
# - 日志留结构；内容按类别加密、引用或明文，不认得的当内容。
# - 一次请求要么完整，要么要密钥、要附件，要么不能重建；删除前就列得出哪些会变。
# - 删密钥够得着每一份密文，够不着明文：附件、备份里的密钥、导出、提供方。
# - 保留优先于删除，并且说出来；能删的人不必能读。
# - 导出按类别遮，再拿金丝雀去听。

# %% recap [markdown] lang="en"
# ## Recap
#
# - A log keeps structure. Content is encrypted, referred to or plain, by its class; what nobody knows is content.
# - A request is whole, needs keys, needs attachments, or is gone; which ones a deletion changes can be listed before it.
# - Deleting a key reaches every copy of a ciphertext, and nothing that is in the clear: attachments, exports, the provider;
#   nor the keys in a backup.
# - A hold wins over a deletion, and says so. Who may delete need not read.
# - An export hides by class; then listen for canaries.
