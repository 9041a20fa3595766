# %% question [markdown] lang="zh"
# # 门诊
#
# 50 分钟。用户来反映问题：“它忘了我定的规矩”“说是已保存，重启之后没了”“压缩之后又发了一遍”。
# 每个症状都可能有几个原因。**出了问题，先看哪里？**
#
# 学完你能：
#
# - **按顺序取证**：原始事件、表面、请求头与提示词、投影水位线、客户端，最后问外部账本
# - **分清**症状、原因和证据：有证据才下结论，没有就说没有
# - **写出**一份实验报告：证明顺序、来源和可重建，里面没有一句消息正文

# %% question [markdown] lang="en"
# # Clinic
#
# 50 minutes. People come and complain: “it forgot what I told it”, “it said saved, and it is gone”, “it sent the notice
# again”. Each complaint may have several causes. **Something is wrong: where do you look first?**
#
# Afterwards you can:
#
# - **take evidence in order**: raw events, surface, header and prompt, projection watermark, client, and last the ledger
# - **tell apart** symptom, cause and evidence: a cause is named where something proves it, and nowhere else
# - **write** a lab report that proves order, sources and what can be rebuilt, without a word of any message

# %% imports
from dataclasses import replace
from itertools import combinations

from labsupport.sessionlog import check_invariants, transcript
from labsupport.sessionlog.redaction import texts_in
from labsupport.sessionlog.storage import scan_log
from labsupport.workbench import log_samples
from labsupport.workbench.checks.b11 import check_causes, unseen
from labsupport.workbench.checks.base import compare
from labsupport.workbench.clinic import FAULTS, PLACES, diagnose, make_case
from labsupport.workbench.clinic_words import (
    clue_words, diagnosis_table, evidence_table, matrix_table, ward_table)
from labsupport.workbench.explorers.b11 import clinic_explorer
from labsupport.workbench.report import lab_report

# %% look [markdown] lang="zh"
# ## 先看一份健康的病例
#
# 一份病例是一个会话和它周围的一切：磁盘上的日志、落盘记录、权限方的回答、客户端显示的内容、缓存、账本、
# 删掉的聊天留下的回执，还有同一个用户的一份旧会话文件。这个会话压缩过，又是分叉来的；它的进程死过一次，后来续写了。
# 先打印事件数、父会话、从它继承的事件数、落盘记录的行数：

# %% look [markdown] lang="en"
# ## First, a case where nothing is wrong
#
# A case is one session and everything around it: the log on the disk, the flush record, what the permission provider answers,
# what the client shows, the cache, the ledger, receipts of chats that were deleted, and an old file of the same user. This
# session was compacted, it is a fork, its process died once, and it was resumed. First printed: how many events it
# has, its parent, how many events it took over from there, how many lines the flush record has:

# %% healthy
case = make_case(1)
print(len(case.log), case.header.parent_session, case.header.seed_length, len(case.flushes))
evidence_table(case)

# %% matrix [markdown] lang="zh"
# 记住它的样子，下面都和它比。怎么读：
#
# - 没有单位的数字是事件的 seq，只有旧文件的“格式”后面是格式版本。`op-0001` 是账本里一笔操作的 id；冲销就是再记一笔，
#   把前一笔的效果抵掉。“要求撤销的”出自回执：用户删掉了另一段聊天，并要求撤销它做过的那笔操作。
# - 客户端对用户说过“已保存”，落盘记录写着磁盘上真有到哪个事件（B4、B7）。
# - 动态上下文是每次请求之前才知道的情况，变了就往日志里记一份快照；请求头旁边记着来源，也就是每一段
#   由谁写、按哪个作用域选进来（B6）。一个会话该是哪个作用域、能用哪些工具，权限方说了算。
# - 客户端和缓存都写着截至哪个事件，这是投影水位线；第几版说的是投影的 state_version（B3）。
#
# ## 九个症状
#
# 教材的故障矩阵有九行。这里每行有两三个原因，每个原因都由一种改动造成：改健康病例的日志，或者改日志周围的东西。
# 原因的名字后面要用：

# %% matrix [markdown] lang="en"
# Remember how it looks; everything below is held against it. How to read it:
#
# - A number that counts nothing is the seq of an event, except after “format” and “version”. `op-0001` is an operation in
#   the ledger; to compensate one is to book another that cancels its effect. “To be undone” comes from a receipt: the user
#   deleted another chat, and wanted what it had done to be undone.
# - The client told its user “saved”; the flush record says up to which event the disk really has it (B4, B7).
# - The dynamic context is what is known only right before a request; when it changes, a snapshot of it is logged. Beside a
#   header stand its sources: who made each section, and for which scope (B6). Which scope a session has, and which tools, is
#   for the permission provider to say.
# - Client and cache say up to which event they go: the watermark of a projection. A version is its state_version (B3).
#
# ## Nine complaints
#
# The chapter's failure matrix has nine rows. Here each of them has two or three causes, and each cause is made by a change of
# a healthy case, in its log or around it. The names of the causes are needed later:

# %% matrix-table
matrix_table()

# %% order [markdown] lang="zh"
# ## 为什么按这个顺序
#
# 后面的都由前面的算出来：表面由事件折叠，请求由表面和请求头组成，投影由事件折叠，客户端显示投影。前面错了，后面跟着错；
# 后面错了，前面可以是好的。账本是另一个权威，要拿着日志给的操作 id 去问，所以放在最后。
#
# **预测 1。** 还是上面那个会话，这次压缩时范围切开了一对（`range-split`），同一个通知于是又发了一遍。从原始事件问起，
# 问到第几处，才第一次看见毛病？（1 原始事件，2 表面，3 请求头与提示词，4 投影水位线，5 客户端，6 账本。）

# %% order [markdown] lang="en"
# ## Why in this order
#
# Each place is computed from those before it: the surface is folded from events, a request is made of surface and header, a
# projection is folded from events, a client shows projections. An early fault shows later too; a late one leaves the
# earlier places as they were. The ledger is another authority, asked with the operation ids that the log gave, hence last.
#
# **Prediction 1.** The session from above, except that its compaction parted a pair (`range-split`), and so the same notice
# went out again. You ask place by place, beginning at the raw events: which is the first in which something is wrong?
# (1 raw events, 2 surface, 3 header and prompt, 4 watermark, 5 client, 6 ledger.)

# %% guess
guess = None

# %% order-look
case = make_case(1, ["range-split"])
finding, = diagnose(case).findings
print(compare(guess, PLACES.index(finding.place) + 1))
evidence_table(case, "events", "surface")

# %% order-why [markdown] lang="zh"
# 原始事件没有毛病：压缩什么也不删，调用和结果都在日志里；比健康的那份多出来的几个事件，
# 就是又发的那一遍。表面上有：范围从结果开始，结果被遮蔽，调用留了下来。
# 这样的请求，有的服务商会拒绝；不拒绝的，模型看见调用没有结果，就再调用一次。账本里有两笔一样的，那是**症状**，
# 它说不出原因：

# %% order-why [markdown] lang="en"
# The raw events are in order: a compaction deletes nothing, call and result are both in the log; the few events more than in
# the healthy case are the second sending. The surface is not in order: the range
# begins at the result, which is shadowed, and its call was left. Some providers refuse such a request; with others, the model
# sees a call without a result and makes it again. In the ledger there are two of them; that is the **symptom**, and it does not
# say why:

# %% outside
evidence_table(case, "outside")

# %% same-complaint [markdown] lang="zh"
# 同一个症状，另一个原因。这次范围没有错，看摘要：

# %% same-complaint [markdown] lang="en"
# The same complaint, another cause. This time the range is right; look at the summary:

# %% summary
case = make_case(1, ["operation-lost"])
evidence_table(case, "surface")

# %% two [markdown] lang="zh"
# 摘要没说通知已经发出，模型当它没有发过。
#
# ## 找到一个，就够了吗
#
# 症状仍是“又做了一遍”。把这份证据从头读到尾，一行一行和健康的那份比：

# %% two [markdown] lang="en"
# The summary does not say that the notice went out, so to the model it never did.
#
# ## One is found: is that all?
#
# The complaint is still the same. Read this evidence to its end, and hold every line against the healthy case:

# %% two-look
case = make_case(1, ["operation-lost", "client-behind"])
evidence_table(case)

# %% two-guess [markdown] lang="zh"
# **预测 2。** 这份证据证明了几个原因？

# %% two-guess [markdown] lang="en"
# **Prediction 2.** How many causes does this evidence prove?

# %% guess-two
guess_two = None

# %% two-found
found = diagnose(make_case(1, ["operation-lost", "client-behind"]))
print(compare(guess_two, len(found.findings)))
diagnosis_table(found)

# %% two-why [markdown] lang="zh"
# 账本里的两笔是症状，不算原因；客户端显示的消息少，是水位线落后的结果，和它截至的那个事件对得上。从客户端看起的人，
# 找到一个就停了，用户报的那个却还在。`diagnose` 不知道症状，它把六处都看完。
#
# ## 没有证据，就不下结论
#
# 同一个通知在账本里有两笔，日志、摘要、范围却都没有毛病，也许有人在别处又发了一次。`diagnose` 会怎么说？

# %% two-why [markdown] lang="en"
# The two in the ledger are the symptom and no cause. The client shows fewer messages because its watermark is behind, and they
# match what the log derives as of that event. Whoever begins at the client finds one cause and stops, and the one that the user
# complained of is still there. `diagnose` is not told of the complaint; it looks at all six places.
#
# ## Without evidence, no conclusion
#
# The same notice is in the ledger twice, and log, summary and range are in order. Perhaps somebody sent it from elsewhere. What
# does `diagnose` say?

# %% no-guess
case = make_case(1)
notices = [operation for operation in case.ledger if operation.kind == "notice"]
twice = replace(case, ledger=(*case.ledger, replace(notices[0], id="op-0099")))
print(diagnose(twice).causes)
evidence_table(twice, "outside")

# %% broken-first [markdown] lang="zh"
# 症状记下来了，原因没有猜。
#
# ## 打不开，不等于坏了
#
# 第 9 行：新版本打不开旧会话。打开试试：

# %% broken-first [markdown] lang="en"
# The symptom is on record; no cause was made up.
#
# ## What does not open is not broken
#
# Row 9: the new version does not open an old session. Try it:

# %% break-it tags=["raises-exception"]
old = make_case(2, ["no-upgrade"])
scan_log(old.archive)

# %% broken [markdown] lang="zh"
# 报错是说：文件是更早的格式版本写的，没有登记从那一版走到现在的升级步骤；日志是完整的，什么也没有改。
# 眼下这个格式就是第 0 版，更早的一版是假设的，所以记作 −1。
# 另外两个原因，看到的也是“打不开”，证据各不相同：

# %% broken [markdown] lang="en"
# The error says that the file is of an earlier version of the format, that no upgrade step is registered, and that the log is
# whole. Today's format is version 0; the earlier one is made up, hence −1. The two other causes do not open either, and their
# evidence differs:

# %% row-nine
for cause in ("no-upgrade", "newer-format", "unknown-event"):
    finding, = diagnose(make_case(2, [cause])).findings
    print(finding.cause, "|", clue_words(finding))

# %% explore [markdown] lang="zh"
# ## 一处一处地问
#
# 左边是问到的证据，右边是原因：还可能、排除、有证据。菜单里每个原因有一份病例，另有一份有两个原因，一份没有症状。
#
# **拖动滑块找一找：** 病例 1、2、3 的症状一样。问到第几处，三份才都找到了原因的证据？

# %% explore [markdown] lang="en"
# ## Ask place by place
#
# On the left the evidence so far, on the right the causes: possible, ruled out, proven. The menu has a case for every cause,
# one that has two, and one without a complaint.
#
# **Find it with the slider:** cases 1, 2 and 3 have the same complaint. How many places have to be asked until the cause of
# each is proven?

# %% explorer
explorer = clinic_explorer()
explorer

# %% move
explorer.patient.value = 24
explorer.asked.value = explorer.asked.max
explorer.still

# %% moved [markdown] lang="zh"
# <details><summary>答案：问到第几处</summary>
#
# 第 3 处。表面（第 2 处）能证明或排除动态上下文和摘要，作用域要看请求头与提示词（第 3 处）才知道。病例 3
# 在第 2 处之后只剩一个原因，那也只是“还可能”：排除别的，不等于证明了它。
#
# </details>
#
# 上面这张图是有两个原因的那份：第 4 处出现了一个症状没有提到的原因。
#
# ## 定律
#
# 定律是对任何输入都成立的性质。**每个原因都找得到，也只找到它；两个一起，两个都找到；健康的，什么也找不到。**
# 从随机的健康病例做起：

# %% moved [markdown] lang="en"
# <details><summary>Answer: how many places</summary>
#
# Three. The surface, the second place, proves or rules out the context and the summary; the scope is known from header and
# prompt, the third. In case 3 one cause is left after the second place, and still it is only possible: to rule out the others
# does not prove it.
#
# </details>
#
# The picture above is the case that has two: in the fourth place a cause turns up that nobody complained of.
#
# ## The law
#
# A law holds for every input. **Each cause is found, and nothing else is; of two, both are found; in a healthy case nothing
# is.** On random healthy cases:

# %% law-single
seeds = range(6)
print(all(diagnose(make_case(seed)).findings == () for seed in seeds))
single = [(seed, cause) for seed in seeds for cause in FAULTS]
print(len(single), all(diagnose(make_case(seed, [cause])).causes == (cause,)
                       for seed, cause in single))

# %% law-pairs [markdown] lang="zh"
# 再看成对的。有些原因改的是同一样东西，不能同时出现（一份文件只有一个版本），这样的不算：

# %% law-pairs [markdown] lang="en"
# And the pairs. Causes that change the same thing cannot be there together (a file is of one version); these are left out:

# %% law-pair
pairs = [pair for pair in combinations(FAULTS, 2)
         if FAULTS[pair[0]].spot != FAULTS[pair[1]].spot]
print(len(pairs), all(set(diagnose(make_case(number % 5, pair)).causes) == set(pair)
                      for number, pair in enumerate(pairs)))

# %% law-fails [markdown] lang="zh"
# 少看一处，这条定律就不成立了。不看表面，会漏掉几个原因？

# %% law-fails [markdown] lang="en"
# Leave out a place, and the law does not hold. Without the surface, which causes are missed?

# %% law-missed
order = [place for place in PLACES if place != "surface"]
print([cause for cause in FAULTS if not diagnose(make_case(1, [cause]), order).findings])

# %% report [markdown] lang="zh"
# 漏掉的正是证据只在表面上的那几个：动态上下文、摘要和压缩范围。
#
# ## 实验报告
#
# 教材的五个实验要交报告：证明顺序、来源和可重建，不含消息正文。`lab_report` 从日志里只取 seq、数字、计数和格式自己的名字，
# 一行就够，任何一个实验的日志都行：

# %% report [markdown] lang="en"
# Missed are those whose evidence is on the surface alone: the context, the summary and the range.
#
# ## The lab report
#
# The chapter's five experiments ask for a report that proves order, sources and what can be rebuilt, and has no message body.
# `lab_report` takes seqs, numbers, counts and the format's own names from a log, nothing else. One line, for any lab's log:

# %% report-made
events = log_samples.load("two_step").events
report = lab_report(events, checks={"relations": not check_invariants(events)})
report

# %% report-body [markdown] lang="zh"
# 顺序看 seq 和类型，顺序摘要由这张表算出，谁拿到表都能重算；来源看最后一列；可重建看请求那一行。
#
# 正文真的一句也没有吗？把说过的话和调用的参数逐段去找。JSON 里的引号和换行是转义过的，要解码之后再找。
# 先在日志里找，证明这个找法找得到；再到报告里找。打印的是找到几段、一共几段：

# %% report-body [markdown] lang="en"
# The order is in seqs and types, and its digest can be computed again from the table; the sources are the last column; what can
# be rebuilt is in the line on requests.
#
# Is there really no body in it? Look for everything that was said, and for the arguments of the calls. In JSON, quotes and line
# breaks are escaped, so decode before you look. Look in the log first, which shows that this way of looking finds things, then
# in the report. Printed: how many were found, of how many:

# %% report-empty
said = [row.text for row in transcript(events) if row.kind != "call"]
said += [event.read()["arguments"] for event in events if event.type == "tool/call"]
for searched in ([event.to_json() for event in events], report.data):
    texts = list(texts_in(searched))
    print(sum(any(words in text for text in texts) for words in said), len(said))

# %% exercise [markdown] lang="zh"
# ## 练习：没见过的病例
#
# 九行各一份，另加一份。有的病例还有别的毛病，和报的症状无关；也可能什么也查不出来。先看症状：

# %% exercise [markdown] lang="en"
# ## Exercise: unseen cases
#
# One of each row, and one more. Some have another fault as well, which does not explain the complaint; and there may be a
# case in which nothing can be found. First the complaints:

# %% ward
ward = {patient.number: patient.case for patient in unseen()}
ward_table(unseen())

# %% exercise-look [markdown] lang="zh"
# 换病例、换位置，取你要的证据；六处的名字打印在前面，一处也不写，就是六处都看：

# %% exercise-look [markdown] lang="en"
# Take the evidence that you need: another case, another place (their names are printed first), or all six places when none
# is named:

# %% ward-look
print(*PLACES)
evidence_table(ward[6], "surface", "watermark")

# %% exercise-task [markdown] lang="zh"
# `causes()` 返回一个字典：病例号 → 造成这个症状的原因，没有证据的写 None。检查会说漏看了哪一处的哪条证据。
#
# <details><summary>提示</summary>
#
# 先读症状，只在那一行的原因里选；`matrix_table(places=True)` 多一列，说每个原因的证据在哪一处。看那一处，和健康病例的
# 那几行比，不一样的就是证据。判断完了可以让 `diagnose` 来确认，但它不知道症状：它找到的，不都是这个症状的原因。
#
# </details>

# %% exercise-task [markdown] lang="en"
# `causes()` returns a dict: number of the case → the cause of its complaint, None where nothing proves one. The check says
# which evidence was overlooked, and in which place.
#
# <details><summary>Hint</summary>
#
# Read the complaint, and choose among the causes of that row; `matrix_table(places=True)` has one more column, the place in
# which the evidence of each stands. Hold that place against the healthy case: where they differ is the evidence. Once you have
# decided, `diagnose` may confirm it. It does not know the complaint, so not everything that it finds explains this one.
#
# </details>

# %% causes
def causes():
    ### BEGIN SOLUTION
    return {
        1: "scope-kept",
        2: "unknown-event",
        3: "context-not-logged",
        4: "tail-not-repaired",
        5: "cache-missing",
        6: "flush-failed",
        7: "client-folds",
        8: "operation-lost",
        9: "other-compensated",
        10: None,
    }
    ### END SOLUTION

# %% causes-check points=3
verdict = check_causes(causes)
print(verdict)
### BEGIN HIDDEN TESTS
assert verdict.correct, verdict
### END HIDDEN TESTS

# %% answer [markdown] lang="zh"
# <details><summary>答案</summary>
#
# ```python
# def causes():
#     return {
#         1: "scope-kept",
#         2: "unknown-event",
#         3: "context-not-logged",
#         4: "tail-not-repaired",
#         5: "cache-missing",
#         6: "flush-failed",
#         7: "client-folds",
#         8: "operation-lost",
#         9: "other-compensated",
#         10: None,
#     }
# ```
#
# 容易看错的：1 的请求头是自己的，所以不是 `history-only`，错在按哪个作用域来组；6 要求过落盘，只是失败了，所以不是
# `no-flush`；8 还有一个轮次没有收尾，9 还有一轮没有落盘，都解释不了报的症状；9 有一笔冲销，冲销的却是别的操作；
# 10 的六处和健康病例没有两样。
#
# </details>
#
# ## 面试题
#
# **系统设计题：为多租户的智能体设计会话存储，要支持崩溃恢复、分支、压缩和隐私删除。说明事件格式、投影、水位线、落盘、
# 版本迁移，以及和副作用的联系。** 先自己写五分钟，再看。

# %% answer [markdown] lang="en"
# <details><summary>Answer</summary>
#
# ```python
# def causes():
#     return {
#         1: "scope-kept",
#         2: "unknown-event",
#         3: "context-not-logged",
#         4: "tail-not-repaired",
#         5: "cache-missing",
#         6: "flush-failed",
#         7: "client-folds",
#         8: "operation-lost",
#         9: "other-compensated",
#         10: None,
#     }
# ```
#
# Easily mistaken: 1 has a header of its own, so it is not `history-only`; what is wrong is the scope it was composed for. In 6
# somebody did ask for a flush, and it failed, so it is not `no-flush`. In 8 a turn was left open, and in 9 one was not flushed;
# neither explains the complaint. In 9 something was compensated, and it was another operation. All six places of 10 are as in
# a healthy case.
#
# </details>
#
# ## Interview question
#
# **System design: session storage for agents of many tenants, with crash recovery, branches, compaction and private deletion.
# Explain the event format, projections, watermark, flush, version migration, and the link to side effects.** Write for five
# minutes on your own, then read on.

# %% think [markdown] lang="zh"
# <details><summary>参考答案</summary>
#
# **事件格式。** 只追加；seq 连续，时间不用来排序（B1）；数据是无损 JSON，坏值在 `append` 就被拒绝。模型看得见的都在日志里：
# 表面由 append 和 replace 折叠（B2），请求头、来源、动态上下文只在变了的时候记，任何一次请求都能重建（B6）。
#
# **投影与水位线。** 纯函数、同步，一次快照里所有视图是同一个 seq（B3）；缓存带 state_version 和水位线，对不上就重算。
# 客户端收快照，不自己折叠：`client-folds`、`client-behind`、`client-schema` 三种对不上，这一课里各有证据。
#
# **落盘。** `append` 不等于已保存。请求之前、工具运行之前、说“已保存”之前有屏障（B4、B7）；落盘失败必须说出来，
# 不然就是这一课的 `flush-failed`。
#
# **崩溃恢复。** 残尾可以切，损坏要拒绝，没收尾的轮次补收尾，不声称成功或失败（B4）；不补就是 `tail-not-repaired`。
#
# **分支。** 续写用同一个 id；分叉从轮次边界起，带着血缘，复制历史，不复制权限，请求头按自己的作用域重新组（B8）；
# 做错了就是 `history-only` 或 `scope-kept`。
#
# **压缩。** 一个事务，成对的不切开，摘要要过六项检查，原文留在日志里（B5）；
# `range-split`、`rule-lost`、`operation-lost` 是它的三种错法。
#
# **隐私删除。** 每个租户一个根目录；密钥按租户和类别分，要能单独删的（比如一位病人）再分细；大的和敏感的只存引用；删密钥或
# 附件，并列出哪些请求不能再重建；分叉、备份、碎片也要算（B10）。删聊天不是撤销业务：`deleted-only`。
#
# **版本迁移。** 版本写在第一行，先看它；没有升级步骤就拒绝，文件不动；不认识的事件，只有标了 ignorable 的才可以略过
# （B7，和这一课打不开的那几格）。
#
# **副作用。** 权威在外面的账本：先记 `tool/call` 并落盘，再带幂等键去做，结果带操作 id；结局未知就去问，不猜（B9）。
#
# **怎么知道它对。** 门诊就是验收：九行各造几种错，看证据在不在；报告证明顺序和可重建，不带正文。
#
# </details>

# %% think [markdown] lang="en"
# <details><summary>An answer</summary>
#
# **Event format.** Append only; seq without gaps, and nothing is ordered by time (B1); data is lossless JSON, a bad value is
# refused at `append`. What a model sees is logged: the surface is folded from append and replace (B2); header, sources and
# dynamic context are logged when they change, so that every request can be rebuilt (B6).
#
# **Projections and watermark.** Pure and synchronous; all views of a snapshot are of one seq (B3). A cache has a state_version
# and a watermark, and is refolded where they do not fit. Clients get snapshots and fold nothing: of `client-folds`,
# `client-behind` and `client-schema` this lab has the evidence.
#
# **Flush.** `append` does not mean saved. There are barriers before a request, before a tool runs, and before anybody says
# “saved” (B4, B7). A flush that failed has to be told, or it is this lab's `flush-failed`.
#
# **Crash recovery.** A torn tail is cut, damage is refused, an open turn is closed without claiming success or failure (B4).
# Left as it is, it is `tail-not-repaired`.
#
# **Branches.** A resume keeps the id. A fork begins at a turn's end, has a lineage, copies history and no permissions, and
# composes its header for its own scope (B8); done wrong, it is `history-only` or `scope-kept`.
#
# **Compaction.** One transaction, no pair is parted, the summary passes six checks, the log keeps everything (B5).
# `range-split`, `rule-lost` and `operation-lost` are three ways to get it wrong.
#
# **Private deletion.** A root folder for each tenant; a key for each tenant and class, and finer ones for whatever has to be
# deleted alone, such as one patient's words; what is large or sensitive is a reference. Delete the key or the attachment, and
# list the requests that can no longer be rebuilt; forks, backups and chunks count too (B10). Deleting a chat undoes no
# business: `deleted-only`.
#
# **Version migration.** The version is in the first line and is read first. Without an upgrade step the file is refused and
# left alone; of unknown events only those marked ignorable may be passed over (B7, and the cells here that open no file).
#
# **Side effects.** The authority is the ledger outside: log the `tool/call` and flush, then act with an idempotency key, and
# log the operation id with the result. An unknown outcome is asked for, never guessed (B9).
#
# **How to know that it is right.** The clinic is the acceptance test: plant several faults for each of the nine rows, and see
# whether the evidence is there. The report proves order and what can be rebuilt, without any body.
#
# </details>

# %% recap [markdown] lang="zh"
# ## 小结
#
# - 先看原始事件，再看由它算出来的：表面、请求头与提示词、投影水位线、客户端；账本最后问。
# - 症状不是原因，排除不是证明；有证据才下结论，日志里的说出 seq，日志外的说出版本或操作 id。找到一个，还要看完。
# - 报告只有 seq、数字和格式的名字，交出去也不泄露正文。

# %% recap [markdown] lang="en"
# ## Recap
#
# - Raw events first, then what is computed from them: surface, header and prompt, projection watermark, client. The ledger
#   last.
# - A symptom is no cause, and ruling out is no proof. Conclude from evidence: its seqs where it is in the log, a version or an
#   operation id where it is not. After the first, look on.
# - A report has seqs, numbers and the format's names, and can be handed in without giving a body away.
