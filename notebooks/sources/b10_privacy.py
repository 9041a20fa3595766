# %% question [markdown] lang="zh"
# # 隐私
#
# 50 分钟。诊所的智能体记下了一位病人的来访。日志要能重建模型看到的每一次请求，又不能谁都读得到，
# 病人还可以要求删除。**什么可以留下？** 删掉以后，还有哪些请求能重建？名字又还在哪里？
#
# 学完你能：
#
# - **分清**四种可重建程度，说出一次请求靠哪几把密钥、哪几个附件
# - **预测**一次删除的后果：谁的哪些请求不能重建了，哪些地方它够不着
# - **检查**一份导出：名字还在哪一行

# %% question [markdown] lang="en"
# # Privacy
#
# 50 minutes. A clinic's agent has logged a patient's visit. The log has to give back every request that the model saw; not
# everybody may read it; and the patient may ask for its deletion. **What may be kept?** Which requests can be rebuilt after a
# deletion, and where is her name still?
#
# Afterwards you can:
#
# - **tell** the four levels of a request apart, and name the keys and attachments that one rests on
# - **predict** what a deletion does: whose requests are lost, and what it cannot reach
# - **check** an export: on which line is the name still?

# %% imports
import hashlib
from shutil import copytree

from labsupport.outside import Attachments
from labsupport.sessionlog.privacy import needs_of, reveal_log
from labsupport.sessionlog.request import rebuild_request, request_seqs
from labsupport.sessionlog.roles import OFFICER
from labsupport.workbench.checks.base import compare
from labsupport.workbench.erasing import (
    Target, erase, key_bytes_found, look, places, targets)
from labsupport.workbench.privacy_scene import (
    LOGS, NAME, POLICY, SECRET, VISIT, key, opened, sessions, settle, stored)
from labsupport.workbench.privacy_tables import (
    class_table, left_table, level_table, place_table)
from labsupport.workbench.scratch import fresh, scratch

# %% look [markdown] lang="zh"
# ## 先看一次来访
#
# 病人叫林安，是编出来的。她的来访记在会话 `visit` 里；从这个会话分叉出 `visit-second`，又派出子智能体 `visit-letter`
# 写一封信。`checkup` 是另一位病人王芳来体检。`hours` 只问开门时间，与谁都无关。`visit` 里的三个事件，在内存里的样子：

# %% look [markdown] lang="en"
# ## First, the visit
#
# The patient is called 林安 (Lin An), and is made up. Her visit is the session `visit`. A fork, `visit-second`, was made of
# it, and a sub-agent, `visit-letter`, wrote a letter for it. `checkup` is about another patient, 王芳 (Wang Fang). `hours`
# asks when the clinic opens, and is about nobody. Three events of `visit`, in memory:

# %% recorded
scratch()
visit = sessions()[VISIT]
kinds = ("user/message", "tool/result", "session/title")
first = [event for event in visit.events if event.type in kinds][:3]
print(*[f"{event.seq} {event.type} {event.data}" for event in first], sep="\n")

# %% look-stored [markdown] lang="zh"
# 在磁盘上，这三个事件的 seq、类型、id 都一样，话却不在了。在原来的位置上，要么是**密文**（加密以后的文字），要么是一个
# 引用，指着日志之外的一个文件，也就是**附件**。要读它们，各需要什么？密钥 `clinic-a/prompt@1` 的
# 三段，是租户（这家诊所）、类别、版本：

# %% look-stored [markdown] lang="en"
# On the disk these three have the same seq, type and ids, but not the words. In their place stands a ciphertext, or a
# reference to an **attachment**, a file outside the log. What does it take to read them? The parts of a
# key, `clinic-a/prompt@1`, are the tenant (this clinic), the class and the version:

# %% settled
settle(fresh("clinic"))
logs = stored("clinic")
for event in first:
    print(event.seq, *[need.label[:30] for need in needs_of(logs[VISIT][event.seq].read())])

# %% classes [markdown] lang="zh"
# ## 哪些字段，怎么存
#
# 事件的类型、seq、轮次、id 是**结构**，不加密：没有它们，日志打不开（所以 id 里不要放名字）。其余都是**内容**，按类别
# 决定怎么存；不认得的字段和键，也算内容。这是 `visit` 的内容：

# %% classes [markdown] lang="en"
# ## How each field is kept
#
# Types, seqs, turns and ids are **structure** and stay as they are; without them no log opens (so no id should be anybody's
# name). All the rest is **content**, and its class decides how it is kept. A field or a key that no table knows is content,
# too. The content of `visit`:

# %% class-table
class_table(visit.events, POLICY)

# %% classes-why [markdown] lang="zh"
# 名字几乎到处都是：标题抄了问题，回答抄了结果，碎片又把回答抄了一遍。只管“人说的话”不够。
#
# 密文留在日志里，密钥在另一个库里，每个租户每个类别一把。工具的参数和结果成了附件，文件名是内容的**指纹**：同样的内容，
# 指纹总相同。算指纹要用一把密钥。如果不用，能猜到内容的人，算一下就知道猜对没有。三个名字都试一遍，下面第一行对普通的指纹，
# 第二行对带密钥的：

# %% classes-why [markdown] lang="en"
# The name is nearly everywhere: the title repeats the question, the answer repeats the result, and the chunks repeat the
# answer. Looking after what people say is not enough.
#
# The ciphertext stays in the log; its key lies in another database, one for each tenant and class. Arguments and results of
# tools became attachments, and the name of such a file is a digest of what is inside. It takes a **key** to compute it.
# Without one, whoever can guess the content computes the digest, and knows. Three names are tried, on the first line against
# a plain digest, on the second against one that takes a key:

# %% guessable
names = ["王芳", "林安", "李娜"]
ref = Attachments(fresh("guessed"), key=b"a key of 16 bytes or more").put(NAME.encode())
for digest in (hashlib.sha256(NAME.encode()).hexdigest(), ref.removeprefix("attachment:")):
    print([name for name in names if hashlib.sha256(name.encode()).hexdigest() == digest])

# %% levels [markdown] lang="zh"
# ## 四种可重建程度
#
# 一次请求里，模型读到的每一段从哪里来？全在日志里，是**完整**；有加密的，**要密钥**；有引用的，**要附件**（也许还要密钥）；
# 缺了任何一样，就**不能重建**。五份日志里的每一次请求：

# %% levels [markdown] lang="en"
# ## Four levels
#
# Where does each piece of a request come from? From the log alone: it is **whole**. Some of it encrypted: **with key**.
# Some of it elsewhere: **with attachment**, perhaps with a key too. Anything of it missing: **gone**.
# Every request of the five logs:

# %% level-table
asked = look("clinic", LOGS).levels
level_table(asked)

# %% levels-why [markdown] lang="zh"
# 流的碎片、标题和错误不算在内：模型没有读过它们。分叉带着父会话的历史，所以它的请求也靠父会话的密钥和附件。
# 到底是哪几把？以 `visit` 的最后一次请求为例：

# %% levels-why [markdown] lang="en"
# Raw chunks, titles and errors count for nothing here: no model was sent them. The fork has its parent's history, so its
# requests rest on its parent's keys and attachments as well. Which ones does a request need? The last one of `visit`:

# %% needed
print(*[need.label[:22] for need in sorted(asked[VISIT][-1].needs)], sep="\n")

# %% rebuild [markdown] lang="zh"
# 有了密钥和附件，重建出来的请求与内存里的一样吗？

# %% rebuild [markdown] lang="en"
# With keys and attachments at hand, is the rebuilt request the same as the one in memory?

# %% rebuilt
with opened("clinic") as vault:
    again = reveal_log(logs[VISIT], vault).events
print([rebuild_request(again, seq) == rebuild_request(visit.events, seq)
       for seq in request_seqs(again)])

# %% delete [markdown] lang="zh"
# ## 删除一把密钥
#
# 第 1 版、第 2 版从哪里来？第一个月过后，诊所把密钥**轮换**了一次：以后的内容用第 2 版加密，第 1 版只用来读旧的。
# `visit` 的第一轮、`visit-second`、`visit-letter` 和 `checkup` 都在轮换以前，`visit` 的后两轮在轮换以后。
#
# 林安要求删掉她第一个月说的话，诊所就删除 `clinic-a/prompt` 的第 1 版。日志一个字节也不改。
#
# **预测 1。** 上表的请求里，有几次从此不能重建？

# %% delete [markdown] lang="en"
# ## Delete a key
#
# Why are there versions 1 and 2? After the first month the keys were **rotated**: version 2 seals what is new, and version 1
# only opens what is old. The first turn of `visit`, `visit-second`, `visit-letter` and `checkup` are from before the
# rotation, the last two turns of `visit` from after it.
#
# 林安 asks for the deletion of what she said in the first month, so the clinic deletes version 1 of `clinic-a/prompt`. Not a
# byte of any log changes.
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
# 第一轮的话留在后面每一次请求的历史里，所以 `visit` 后面的请求也不能重建了，尽管它们自己的话用的是第 2 版。分叉、子智能体
# 也在内：同一把密钥加密的，在哪一份日志里都打不开了。这张单子删除前就算得出，应当先给人看。
#
# 先看了就会发现最后一项不对：`checkup` 是王芳的，她什么也没有要求。
#
# ## 一把密钥，几位病人
#
# 同一个租户、同一个类别、同一版，只有一把密钥；那个月里所有病人的话都靠它。**密钥分得多细，删除才能做得多细。**
#
# 怎么分细？策略只说每个类别怎么存；密钥叫什么，由保管密钥和附件的 vault 决定。`TenantVault("clinic-a", …)` 的密钥是
# `clinic-a/prompt`，`TenantVault("clinic-a/patient-1", …)` 的是 `clinic-a/patient-1/prompt`。密钥的名字在日志里谁都
# 看得到，所以病人用编号。同样的五个会话，每位病人用自己的密钥再存一遍，再分别删除两位病人的第 1 版：

# %% delete-why [markdown] lang="en"
# What was said in the first turn is in the history of every later request, so the later ones of `visit` are lost as well,
# although their own prompts are under version 2. So are those of the fork and the sub-agent: in whatever
# log it stands, what that key sealed no longer opens. The list can be made before anything is deleted, and
# somebody should see it.
#
# Whoever does will stop at the last entry: `checkup` is about 王芳, who asked for nothing.
#
# ## One key, how many patients?
#
# One tenant, one class, one version: that is one key, and what every patient said in that month rests on it. **A deletion can
# be no finer than the keys are.**
#
# How are they made finer? The policy only says how each class is kept; what a key is called is up to the vault, which looks
# after keys and attachments. A `TenantVault("clinic-a", …)` names its key `clinic-a/prompt`, and a
# `TenantVault("clinic-a/patient-1", …)` names it `clinic-a/patient-1/prompt`. Everybody can read the name of a key in the
# log, so patients have numbers. The same five sessions are stored again, each patient's under keys of her own. Then version 1
# is deleted, of one patient's key and of the other's:

# %% finer
settle(fresh("finer"), by_patient=True)
for patient in ("patient-1", "patient-2"):
    one = copytree("finer", fresh("one"))
    print(patient, *erase(one, Target((key("prompt", 1, patient),)), OFFICER).lost)

# %% finer-why [markdown] lang="zh"
# 各删各的了，分叉和子智能体跟着它们的病人。代价是密钥多了，而且写下第一句话时就要知道这是谁的会话：已经用共用的密钥加密的，
# 事后就不能分开删了。
#
# 下面回到共用密钥的那一份。密钥删了，去读林安的第一句话。它存成用冒号隔开的几段，后三段是密钥的名字、版本和密文；打开时
# 还要说它在事件的哪个位置，搬到别处的密文打不开：

# %% finer-why [markdown] lang="en"
# Now each goes alone, and fork and sub-agent go with their patient. The price: there are more keys, and it has to be known
# whose session it is when the first word is written. What a shared key has sealed can no longer be deleted apart.
#
# From here on it is the shared keys again. One is deleted; try to read the first prompt of 林安. It is
# stored as parts with colons between them; the last three are the key's name, its version and the ciphertext. To open it,
# say at which place of the event it stands: a ciphertext that was moved elsewhere does not open.

# %% break-it tags=["raises-exception"]
with opened("copy") as vault:
    text = stored("copy")[VISIT][first[0].seq].read()["content"][0]["text"]
    name, version, sealed = text.split(":")[2:]
    vault.open(name, int(version), sealed, "user/message.content[].text")

# %% broken [markdown] lang="zh"
# 报错说了是哪把密钥，没有说里面是什么：报错会写进调试日志，调试日志也会泄漏。它还说，有副本的除外：删掉的只是这个库里的，
# 别处若有一把，照样能读。“删除过”这件事要留下，不然就分不清是删了，还是从来没有。
#
# 删除**可以验证**吗？在这个库的文件里可以：去找那把密钥的字节，WAL 和空闲页也算，删除前后各找一次：

# %% broken [markdown] lang="en"
# The error names the key, and does not say what it sealed: errors go into debug logs, and those leak, too. And it says
# “except with a copy”: what was deleted is the key in this database; if there is another one elsewhere, it still opens
# everything. That there was a deletion has to stay known, or else “deleted” could not be told from “never there”.
#
# Can the deletion be **verified**? In the files of this database it can. The bytes of that key are looked for, free pages
# and WAL included, before and after:

# %% verify
copy = copytree("clinic", fresh("copy"))
print(key_bytes_found(copy, key("prompt", 1), OFFICER))

# %% where [markdown] lang="zh"
# ## 名字还在哪里
#
# 密钥没了，不等于名字没了。真的去每个地方读一遍；现在什么也没有删：

# %% where [markdown] lang="en"
# ## Where the name still is
#
# A key that is gone is not a name that is gone. Every place is read for real; nothing is deleted yet:

# %% where-before
place_table(nothing=places("clinic"))

# %% where-guess [markdown] lang="zh"
# **预测 2。** 删掉**全部**密钥以后，还有几处读得到林安的名字？

# %% where-guess [markdown] lang="en"
# **Prediction 2.** With **all** keys deleted, in how many of these places can her name still be read?

# %% guess-places
guess_places = None

# %% where-table
one, every = (copytree("clinic", fresh(name)) for name in ("copy", "every"))
erase(one, targets(logs)["prompt1"], OFFICER)
erase(every, targets(logs)["keys"], OFFICER)
print(compare(guess_places, list(places(every).values()).count(True)))
place_table(nothing=places("clinic"), prompt1=places(one), keys=places(every))

# %% where-why [markdown] lang="zh"
# 附件的文件是明文，所以工具的结果还在，分叉里也还读得到，备份里的附件也一样。备份还带着当时的密钥：报错里说的“副本”就是它。
# 以前的导出从来没有加密。发给模型服务商的请求，我们连看都看不到。
#
# 删除的回答会说出它够不着什么：

# %% where-why [markdown] lang="en"
# The files of attachments are in the clear, so the tools' results are still there, in the fork and in the backup too. And the
# backup has the keys of its day: the “copy” of which the error spoke. The old export was never encrypted. What the model's
# provider was sent, nobody here can even look at.
#
# A deletion says what it does not reach:

# %% unreached
done = {}
for target in ("prompt1", "result", "visit"):
    copy = copytree("clinic", fresh("copy"))
    done[target] = erase(copy, targets(logs)[target], OFFICER)
left_table(**done)

# %% kin [markdown] lang="zh"
# 最后一行删的是日志 `visit` 本身：分叉和子智能体是另外的日志，附件是另外的文件，都还在。有哪几份日志，读会话头就
# 知道；最后一个数，是从父会话照抄了几个事件：

# %% kin [markdown] lang="en"
# On the last line the log `visit` itself was deleted. Forks and sub-agents are logs of their own, attachments are files of
# their own, and all are still there. Headers tell which there are; the last number says how many of the parent's events each
# of them repeats:

# %% kin-of
from labsupport.sessionlog.kin import kin_of
from labsupport.sessionlog.storage import JsonlStore

for each in kin_of(JsonlStore("clinic/logs").list(), VISIT):
    print(each.id, each.kind, each.events)

# %% retention [markdown] lang="zh"
# 抄来的事件连密钥也是同一把，所以能读 `visit` 的人，也能读分叉里的那一段：权限要一起定，删除也要一起删。
#
# ## 各留多久
#
# 每个类别有自己的期限，没有写的不限。日志不能从中间删，到期的办法是删密钥：轮换下来的那一版不再加密新内容，用它加密的
# 内容只会越来越旧。附件从最后一次被引用算起。时钟是参数，下面问的是轮换以后的几个日子：

# %% retention [markdown] lang="en"
# The repeated events have the very same keys, so whoever may read `visit` can read that part of the fork: permissions have to
# be decided for both, and deletions, too.
#
# ## How long each is kept
#
# Every class has its time; a class that is not named is kept. Nothing is cut out of a log; what is due is the key: a version
# that was rotated out seals nothing new, and what it sealed only grows older. An attachment's time counts from the last event
# that refers to it. The clock is an argument; these are some days after the rotation:

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
# 期限短的先到期；`answer` 没有写期限，就一直不在里面。按类别到期，共用一把密钥正合适；应一个人的要求删除，就不合适。
#
# ## 法律保留
#
# 有一桩官司，`visit` 要保留。保留一个会话，就保留了读它要用的每把密钥、每个附件。同样是最后那一天，到期的还能删几样，
# 被保留的有几样？

# %% hold [markdown] lang="en"
# The shortest time is over first; `answer` has no time, so it is never due. For retention by class a shared key is just right;
# for a deletion that one person asks for it is not.
#
# ## A legal hold
#
# There is a lawsuit, and `visit` has to be kept. A hold on a session is a hold on every key and attachment that it takes to
# read it. On the last of those days, what can still be deleted, and how many things are held?

# %% held
hold = hold_on("case-7", VISIT, logs[VISIT])
found = due(states, last_references(logs.values()), days, rotated + 100 * DAY, [hold])
print([need.label[:20] for need in found.delete], len(found.held))

# %% hold-wins [markdown] lang="zh"
# 有人要求删除时也一样，整个要求都不执行：

# %% hold-wins [markdown] lang="en"
# It is the same when somebody asks for a deletion; none of it is carried out:

# %% held-delete
from labsupport.errors import HoldError

try:
    erase("clinic", targets(logs)["keys"], OFFICER, [hold])
except HoldError as error:
    print(error)

# %% hold-shared [markdown] lang="zh"
# 林安的官司，会挡住王芳要求的删除吗？共用的密钥，和王芳自己的密钥，各问一次：

# %% hold-shared [markdown] lang="en"
# Does the lawsuit of 林安 stop a deletion that 王芳 asks for? Once with the shared key, once with a key of her own:

# %% held-shared
for folder, patient in (("clinic", ""), ("finer", "patient-2")):
    hold = hold_on("case-7", VISIT, stored(folder)[VISIT])
    print(key("prompt", 1, patient).label, hold.keeps(key("prompt", 1, patient).label))

# %% roles [markdown] lang="zh"
# 共用的那把在保留之内，王芳的要求就得等别人的官司了结；她自己的那把不在。
#
# ## 谁可以读什么
#
# 三个角色各可以做什么？后一个括号里，是脱敏以后还给这个角色看的类别：

# %% roles [markdown] lang="en"
# The shared one is held, so what 王芳 asks for has to wait until somebody else's lawsuit is over; a key of her own is not.
#
# ## Who may read what
#
# Three roles: what may each do? The second list has the classes of content that a redacted log still shows to the role:

# %% roles-may
from labsupport.sessionlog.roles import (
    AUDITOR, ROLES, SUPPORT, read_raw, read_redacted, read_transcript)
from labsupport.workbench.checks.base import refusal

for role in ROLES:
    print(role.name, sorted(role.may), sorted(role.shown))

# %% roles-seen [markdown] lang="zh"
# 依次是：审计员从原始日志里读一句话；客服读对话记录；客服从脱敏的日志里读系统提示，那是程序给模型的话（`instruction`）；
# 合规专员想读，审计员想删：

# %% roles-seen [markdown] lang="en"
# In turn: the auditor reads a sentence of the raw log; support reads the transcript; support reads the system prompt in the
# redacted log, which is what the program told the model (`instruction`); the officer wants to read, the auditor to delete:

# %% roles-read
with opened("clinic") as vault:
    events = reveal_log(logs[VISIT], vault).events
print(read_raw(AUDITOR, events)[2].data["content"][0]["text"])
print(*[row.text for row in read_transcript(SUPPORT, visit.header, events)], sep=" | ")
print(read_redacted(SUPPORT, visit.header, events).events[3].data["header"]["system"])
print(refusal(read_transcript, OFFICER, visit.header, events),
      refusal(erase, "clinic", targets(logs)["prompt1"], AUDITOR))

# %% export [markdown] lang="zh"
# 对话记录里只有人、模型和工具的话，所以客服看得到谁在哪里说过话，说了什么一句也看不到。角色只管从这几个函数来的人：手里有文件
# 和根密钥的，谁也拦不住。
#
# ## 会泄漏的导出
#
# 把日志交给别人看，先要遮掉。`messages_only` 在消息正文里把名字遮掉；`names_of_secrets` 把键名像秘密的值遮掉（`apiKey`、
# `token`）；`redact_log` 按类别遮，不认得的一律遮。来访的最后一轮以错误结束，服务商把程序自己的 API 密钥抄进了错误信息。
# 每份导出有几行，几行读得到名字，几行读得到那把 API 密钥？

# %% export [markdown] lang="en"
# A transcript has what people, models and tools say, so support sees who spoke where, and not a word of it. Roles are for those
# who come through these functions; they stop nobody who has the files and the root key.
#
# ## Exports that leak
#
# A log that others are to see has to be redacted. `messages_only` masks the name in the text of messages. `names_of_secrets`
# masks values whose key looks like a secret (`apiKey`, `token`). `redact_log` hides by class, and whatever it does not know.
# The visit's last turn ended in an error, and the provider had put the program's own API key into it. How many lines has each
# export, on how many is the name, on how many that API key?

# %% exported
from labsupport.sessionlog.redaction import Pseudonyms, json_in, redact_log
from labsupport.workbench import exports

tried = {"messages_only": exports.messages_only(visit.header, visit.events, NAME),
         "names_of_secrets": exports.names_of_secrets(visit.header, visit.events),
         "redact_log": exports.redacted(visit.header, visit.events)}
for name, lines in tried.items():
    told = [sum(word in str(line) for line in lines) for word in (NAME, SECRET)]
    print(name, len(lines), *told)

# %% exported-what [markdown] lang="zh"
# 第一种没有看标题、工具、碎片和错误；第二种处处都看，可是名字也好，抄进错误里的密钥也好，都不在叫 `token` 的键下面。
#
# 脱敏之后还剩什么？类型、顺序、次数、配对都在，id 和名字换成了代号，存进
# `JsonlStore` 还能打开；`keep` 里的名字不换。下面是文件名、行数、每个类别遮了几处，和工具的名字：

# %% exported-what [markdown] lang="en"
# The first never looked at titles, tools, chunks and errors. The second looked everywhere, but neither the name nor the key
# inside an error stands under a key that is called `token`.
#
# What is left after redaction? Types, order, counts and pairs; ids and names became pseudonyms, except those in `keep`;
# and a `JsonlStore` still opens it. Here are its file's name, its lines, how many pieces of each class were hidden, and the
# name of the tool:

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
print("planted", sum(len(canaries.there(log)) for log in some))
print("sung", sum(len(canaries.sung(log)) for log in some))
print("title shown", {tuple(canaries.sung(log, "title")) for log in some})

# %% law-why [markdown] lang="zh"
# 依次是：一共种下几个，听到几个，只许看标题时听到哪几种。这个检查失败得了吗？换成只遮消息正文的导出，漏得最少的一份日志也
# 漏这么多种：

# %% law-why [markdown] lang="en"
# In turn: how many were planted, how many sing, and which kinds sing when titles may be shown. Can this check fail at all?
# With an export that masks the text of messages alone, each of these logs sings at least this many kinds:

# %% law-fails
print(min(len(canaries.sung_naively(log)) for log in some))

# %% explore [markdown] lang="zh"
# ## 删什么，谁来删，有没有保留
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
# 导出从来没有加密。这几处都要另外去删，密钥管不到它们；服务商那一行谁也没法替你看。
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
# **删除聊天数据**：删日志、密钥、附件、检查点，还有分叉、子智能体、备份和导出。删除前列出哪些请求不能重建，看清有没有别人的
# （“删除一把密钥”和“一把密钥，几位病人”那几格）；删除后去每个地方看（`place_table`），够不着的写明白（`left_table`）。
# **撤销业务效果**：发出去的邮件、账单在外面的系统里，删会话碰不到它们（`left_table` 里的“工具在外面做的事”）；要撤销，就在
# 那边做一笔新的操作，留下自己的记录（B9）。**法律保留**：有义务留的，删除要让它，并且说出来是哪一桩（`HoldError` 那一格）；
# 到期也一样，等保留解除再删。三件事各有各的权限：合规专员能删而不能读，业务撤销归业务系统，保留归法务。一个“删除”按钮，
# 答不了三个问题。
#
# </details>

# %% moved [markdown] lang="en"
# <details><summary>Answer: which places, and which one</summary>
#
# The two rows of the backup, and the old export. The attachments in the backup are in the clear: today's keys do not open
# its ciphertexts, and the attachments are readable all the same. Besides, the backup has the keys of its day. The export
# was never encrypted. Each of them has to be deleted by itself; no key reaches them. The provider's row is one that nobody
# here can check.
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
# list the requests that it ends, and see whether they are anybody else's (the cells of “Delete a key” and “One key, how many
# patients?”); after it, look everywhere (`place_table`), and write down what is beyond reach (`left_table`). **Business
# effects**: mails and invoices are in the systems outside, and no deletion of a session touches them (“effects outside” in
# `left_table`). Undoing one is a new operation over there, with a record of its own (B9). **Legal retention**: what has to be
# kept by law; deletions give way, and say to which case (the cell with the `HoldError`). Retention times give way, too, until
# the hold is lifted. Each has its own authority: an officer deletes and does not read, the business system undoes, lawyers
# hold and lift. One “delete” button does not answer three questions.
#
# </details>

# %% exercise [markdown] lang="zh"
# ## 练习：找出导出里的泄漏
#
# `leaks(export, word)` 返回能读到 `word` 的那些行的行号：一个列表，从小到大，每行一次，不泄漏就是空列表。
# 不要改动 `export`：它是一个列表，每行一个 JSON 对象，第 0 行是会话头，其余是记录。
#
# “能读到”，是说 `word` 完整地、照原样（大小写也一样）出现在一个值、一个键或一个数里；或者出现在文字里的 JSON 里：一段文字可以
# 本身就是 JSON，工具参数就常常如此，里面可以用 `\u` 转义写字，还可以再套一层。`json_in(text)` 给出文字里的对象或列表，
# 没有就是 `None`。
#
# <details><summary>提示</summary>
#
# 写一个会调用自己的小函数：对象看键也看值，列表看每一项，别的看 `str(value)`；文字里若有 JSON，再看里面。
#
# </details>

# %% exercise [markdown] lang="en"
# ## Exercise: find the leak in an export
#
# `leaks(export, word)` gives the numbers of the lines in which `word` can be read: a list, in order, each line once, and empty
# where nothing leaks; `export` stays as it is. It is a list with a JSON object for each line: line 0 is the header, the others
# are records.
#
# “Can be read” means that `word` stands, whole and as it is (capitals too), in a value, a key or a number; or in JSON inside a
# text. A text may itself be JSON, as a tool's arguments often are; in it `\u` may spell a letter, and there may be JSON inside
# again. `json_in(text)` gives the object or list inside a text, and `None` where there is none.
#
# <details><summary>Hint</summary>
#
# Write a small function that calls itself: of an object look at keys and values, of a list at each item, of anything else
# at `str(value)`; and where a text has JSON in it, look inside.
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
# 钥包起来存着，删的是那一行。根密钥放在别处，只拿到密钥库的人什么也打不开。算附件指纹的那把密钥是派生的，因为它不用来读内容。
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
# Searching `json.dumps` of the line will not do: it escapes Chinese, and what is JSON inside a text is escaped once more.
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
# - 密钥分得多细，删除和保留才能做得多细：共用一把，就一起删、一起留。
# - 删密钥够得着每一份密文，够不着明文：附件、导出、服务商；也够不着备份里的密钥。
# - 保留优先于删除，并且说出来；能删的人不必能读。
# - 导出按类别遮，再拿金丝雀去听。

# %% recap [markdown] lang="en"
# ## Recap
#
# - A log keeps structure. Content is encrypted, referred to or plain, by its class; what nobody knows is content.
# - A request is whole, needs keys, needs attachments, or is gone; which ones a deletion changes can be listed before it.
# - Deletions and holds are no finer than the keys: what shares a key is deleted together, and kept together.
# - Deleting a key reaches every copy of a ciphertext, and nothing that is in the clear: attachments, exports, the provider;
#   nor the keys in a backup.
# - A hold wins over a deletion, and says so. Who may delete need not read.
# - An export hides by class; then listen for canaries.
