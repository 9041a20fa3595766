# %% question [markdown] lang="zh"
# # 业务状态
#
# 50 分钟。智能体发出了一张账单，进程死在结果记下之前。账单出去了没有？再发一次会不会变成两张？
# 用户批准的，还是现在这个计划吗？**日志不知道什么？那些事该问谁？**
#
# 学完你能：
#
# - **说出**四个状态域各由谁说了算，删除会话和重放各碰得到什么
# - **对账**：凭键或业务编号去问账本，把“结局未知”变成“做了”“没做”或“请人来看”
# - **读懂**查询状态：每个字段从哪来、第几版、还有没有效，什么让批准作废

# %% question [markdown] lang="en"
# # Business state
#
# 50 minutes. An agent sends an invoice, and the process dies before the result is logged. Did the invoice go out? Will a
# second try make it two? And is the plan that somebody approved still the plan? **What does the log not know, and who does?**
#
# Afterwards you can:
#
# - **name** the authority of each of the four state domains, and what deleting or replaying a session can reach
# - **reconcile**: ask the ledger by key or business id, and turn “outcome unknown” into “done”, “not done” or “ask a person”
# - **read** a query state: where each field is from, in which version, whether it holds, and what makes an approval void

# %% imports
from pathlib import Path
from shutil import copytree

from labsupport.outside import Metrics
from labsupport.sessionlog import Reply, replay, to_json
from labsupport.sessionlog.query_state import approve, commit, current, log_state, plan
from labsupport.sessionlog.storage import JsonlStore
from labsupport.workbench import business_tables, incident, invoice_kills, invoice_task
from labsupport.workbench.business_tools import ask_approval
from labsupport.workbench.checks.b9 import check_send
from labsupport.workbench.checks.base import compare
from labsupport.workbench.explorers.b9 import business_explorer
from labsupport.workbench.invoice_moments import exactly_one, tries
from labsupport.workbench.reconcile import reconcile
from labsupport.workbench.scratch import fresh, scratch

# %% look [markdown] lang="zh"
# ## 先看一次顺利的任务
#
# 用户三句话：要账单；说清“去年”是哪一段；看过计划、批准之后，发。`send_invoice` 把账单记进一本真的 SQLite **账本**，
# 和日志分开放，账本里有的，就是发出去了的。每笔有一个操作 id，还有一个**幂等键**：同一个键再来一次，账本不再做，
# 只把上次那一笔还回来。

# %% look [markdown] lang="en"
# ## First, the task undisturbed
#
# The user says three things: bill Harbour; which year is meant; and, once the plan has been shown and approved, send it.
# `send_invoice` enters the invoice in a real SQLite **ledger**, apart from the log; what is in there has gone out. Each entry
# has an operation id, and an **idempotency key**: when that key comes again, nothing is done again, and the ledger gives back
# what was done under it.

# %% recorded
scratch()
session = invoice_task.record("office")
print(*invoice_task.PROMPTS, sep="\n")
for invoice in invoice_task.invoices("office"):
    print(invoice.id, invoice.key, to_json(invoice.payload))

# %% look-result [markdown] lang="zh"
# 工具的结果是结构化的，带着账本里的操作 id。以后要查这件事，就凭它：

# %% look-result [markdown] lang="en"
# The tool's result is structured, and has the ledger's operation id. By that id the invoice can be found later:

# %% result
result = invoice_task.last_event(session, "tool/result")
print(result.seq, result.data["message"]["content"][0]["content"][0]["text"])

# %% domains [markdown] lang="zh"
# ## 四个状态域
#
# 教材把状态分成四个域，每个域有一个说了算的地方。下表在副本上真的试了一遍：现在是什么样；删除会话之后；把日志重放五遍之后。

# %% domains [markdown] lang="en"
# ## Four state domains
#
# The chapter tells four domains of state apart, each with one authority. All that the table says was tried on a copy: as it is
# now, after the session was deleted, and after its log was replayed five times.

# %% domains-table
business_tables.domains("office")

# %% domains-why [markdown] lang="zh"
# 日志只管第一行。账单是账本的事，删日志收不回，重放也不会再发。写锁属于正在写的进程：它活着，第二个写者只得到
# `StoreBusyError`；会话删了，就没有锁可说；重放出来的会话不许写，去接存储就得到 `DetachedSessionError`。
# “检验”怎么算，带版本的定义文件说了算。日志里会**提到**后三样，提到不等于说了算。
#
# ## 死在结果之前
#
# 另起一个进程来录。账单已经入账，工具还没返回，我们杀死它。先用一个**不带键**的工具。
#
# **预测 1。** 接手的程序续写会话，让模型再调用一次。最后账本里有几张账单？

# %% domains-why [markdown] lang="en"
# The log is the authority on the first row only. The invoice belongs to the ledger: deleting the log does not take it back, and
# a replay sends none. The lock belongs to the process that writes: while it lives, a second writer gets a `StoreBusyError`.
# Without the session there is no lock to speak of, and a replay must not write at all: attached to a store, it gets a
# `DetachedSessionError`. What “a test” means is for the versioned definitions to say. A log **mentions** the other three,
# which is no authority.
#
# ## Death before the result
#
# Now another process makes the recording. Once the invoice is in the ledger, and before the tool returns, we kill it. First
# with a tool that sends **no key**.
#
# **Prediction 1.** The program that takes over resumes the session, and the model makes the call again. How many invoices are
# there in the end?

# %% guess
guess = None

# %% crash
found = invoice_kills.kill(fresh("killed"), with_key=False)
print(found.said, len(found.invoices))

# %% crash-retry
folder = copytree("killed", fresh("twice"))
invoice_task.again(folder, with_key=False)
print(compare(guess, len(invoice_task.invoices(folder))))

# %% crash-why [markdown] lang="zh"
# `TOOL_OUTCOME_UNKNOWN` 是恢复补写的错误码，意思是结局未知；后面的数是进程死时账本里有几张。重试之后就有了两张一样的账单。
# 日志没有说谎，是重试的程序没有去问。
#
# ## 问账本
#
# 就用被杀死的进程留下的那一份来对账。`reconcile` 读日志里结局未知的调用，凭幂等键去问账本，再凭账单号问一遍。
# 回答有三种：`done` 做了，`not done` 没做，`ask a person` 请人来看。

# %% crash-why [markdown] lang="en"
# `TOOL_OUTCOME_UNKNOWN` is the code that recovery wrote; the number is how many invoices were out when the process died. After
# the retry the same invoice is out twice. The log did not lie: it said that it does not know. The program that tried again did
# not ask.
#
# ## Ask the ledger
#
# Back to what the killed process left. `reconcile` reads which calls have an unknown outcome, asks the ledger by the
# idempotency key, and once more by the number of the invoice. There are three answers: `done`, `not done`, `ask a person`.

# %% reconcile
events = JsonlStore("killed").inspect("billing").events
with invoice_task.ledger_of("killed") as ledger:
    for finding in reconcile(events, ledger):
        print(finding.call_id, finding.answer, finding.why, finding.operation.id)

# %% reconcile-twice [markdown] lang="zh"
# 没有键，也凭账单号（`business id`）找到了：做了，不用再发。那么已经发了两张的那一份呢？还是死时的日志，去问多发之后的账本：

# %% reconcile-twice [markdown] lang="en"
# There was no key, and it is found by its number all the same (`business id`): done, nothing to send. And where there are two
# by now? The same log, with the ledger after the second sending:

# %% reconcile-several
with invoice_task.ledger_of("twice") as ledger:
    finding, = reconcile(events, ledger)
print(finding.answer, finding.why)

# %% reconcile-why [markdown] lang="zh"
# 两张里哪张算数，程序不猜，请人来看。要冲销一张，也是账本里的一笔新操作，不是把旧的删掉。
#
# ## 带着键重试
#
# 从第一次起就带键，键由账单号而来。死在同一时刻，再调用一次：

# %% reconcile-why [markdown] lang="en"
# Which of the two counts? It does not guess: that is for a person. And taking one back is a new operation in the ledger, not
# the deletion of an old one.
#
# ## Try again, with a key
#
# Now with a key from the first try on, made of the invoice's number. The same death, and the call made again:

# %% keyed
invoice_kills.kill(fresh("keyed"))
session = invoice_task.again(copytree("keyed", fresh("once")))
print(len(invoice_task.invoices("once")))
calls = [event for event in session.events if event.type == "tool/call"]
print([(call.seq, call.data["callId"], call.data["name"]) for call in calls])

# %% keyed-why [markdown] lang="zh"
# `send_invoice` 调用了两次，id 不同，账单只有一张：账本认得这个键，把上次做的那一笔还给它。
#
# 不止这一个时刻。从记下 `tool/call` 起，到结果落盘为止，在每一处都真的杀死一个进程，再重试一次
# （每行一个进程，要等几秒）：

# %% keyed-why [markdown] lang="en"
# `send_invoice` was called twice, under two ids, and there is one invoice: the ledger knows the key, and gives back what was
# done under it.
#
# This was one moment of many. From the `tool/call` until its result is on the disk, a process is really killed at every point,
# and the call made again (a process a row; it takes a few seconds):

# %% keyed-table
deaths = invoice_kills.killed(invoice_kills.between())
business_tables.death_table(deaths)

# %% law [markdown] lang="zh"
# 调用先落盘，工具才开始。所以磁盘上没有 `tool/call`，就证明工具没有开始，不用问；有它而没有结果，就只能去问。
# 再看账本前后的几行：写进了账本而事务没提交，死后等于没发；提交之后、日志写盘之前，账本知道而日志不知道。
#
# ## 定律
#
# 定律是对任何输入都成立的性质。**在任何一处死去，带同一个键重试：有批准就恰好一张，没有批准就一张也没有。**
# 把整个会话的每个时刻都试一遍：文件按那一刻的样子复制出来，再像新进程那样打开。先带键；再不带键，看这个检查会不会失败。
# 每行依次是：带不带键，一共几个时刻，批准了的是否都恰好一张，没批准的发出了几张，发出两张的时刻有几个。

# %% law [markdown] lang="en"
# A call is on the disk before its tool starts. So a log without the `tool/call` proves that nothing was started, and there is
# nothing to ask; with the call and no result, only asking helps. Then the rows around the ledger: what was entered and not
# committed is gone afterwards. Between that commit and the write of the log, the ledger knows what the log does not.
#
# ## The law
#
# A law holds for every input. **Die anywhere and try again with the same key: exactly one invoice where it was approved, and
# none where it was not.** Now every moment of the session, with copies of the files as they were then, opened as a new process
# would open them. First with the key; then without, to see whether this check can fail at all. Each line: with a key or not,
# how many moments, whether there was always exactly one where it was approved, how many went out where it was not, and at how
# many moments there were two.

# %% law-holds
for with_key in (True, False):
    found = tries(with_key=with_key)
    unapproved = {it.sent for it in found if it.refused}
    twice = sum(it.sent == 2 for it in found)
    print(with_key, len(found), exactly_one(found), unapproved, twice)

# %% state [markdown] lang="zh"
# ## 系统承诺了什么
#
# 用户说“去年”“按检验次数”。话在消息里；系统把它理解成什么，记在**查询状态**里：事件 `workbook/query-state`，
# 每次记全部字段。每个字段有来源（哪个 seq，哪一轮）、版本和状态。**计划哈希**是计划的指纹，由前五个字段的值和版本算出来；
# **批准**记着批准的是哪个哈希。

# %% state [markdown] lang="en"
# ## What the system committed to
#
# The user said “last year” and “tests”. The words stand in messages. What the system took them to mean stands in the **query
# state**: events `workbook/query-state`, all fields each time. Each field has its source (which seq, in which turn), its
# version and its status. The **plan hash** is the plan's fingerprint, computed from the first five fields, values and
# versions; the **approval** says which hash was approved.

# %% state-table
draft = invoice_task.settled()
state = current(draft)
business_tables.state_table(state)

# %% state-sources [markdown] lang="zh"
# “歧义”是第二版：先有一处待问，问清之后才空了。批准发生在两轮之间，所以没有轮次。来源可以一个一个去核对：
# 指标不是用户说的，也不是模型编的，来自工具的结果。

# %% state-sources [markdown] lang="en"
# The ambiguities are in their second version: one question was open at first. The approval came between two turns, so it has
# none. Sources can be checked one by one: the metric was not said by the user nor made up by the model, but is from a tool's
# result.

# %% state-source
for name in ("goal", "metric", "time", "approval"):
    print(name, draft.events[state[name]["source"]["seq"]].type)

# %% state-metric [markdown] lang="zh"
# 为什么要记定义的版本？同一个名字，同一批数据，各个版本算出来的数都不同，账单的金额也就不同：

# %% state-metric [markdown] lang="en"
# Why keep the definition's version? One name, the same rows, and each version gives another figure, hence another invoice:

# %% state-versions
business_tables.metric_table("tests")

# %% change [markdown] lang="zh"
# ## 换了指标
#
# 批准之后，用户改了主意：“只算重做的。”系统去定义文件里查到 `repeats`，改记这个指标。
#
# **预测 2。** 七个字段里，有几个因此作废？

# %% change [markdown] lang="en"
# ## Another metric
#
# After the approval the user thinks again: “Bill the repeats only.” The system looks `repeats` up in the definitions, and
# commits to the new metric.
#
# **Prediction 2.** How many of the seven fields are void because of that?

# %% guess-void
guess_void = None

# %% change-metric
draft = invoice_task.settled()
said = invoice_task.ask(draft, "Bill the repeats only.", Reply("That is another plan."))
repeats = Metrics(invoice_task.METRICS).active("repeats")
metric = {"id": repeats.id, "version": repeats.version, "status": repeats.status}
changed = commit(state, said, metric=metric)
void = [name for name in changed if changed[name] and changed[name]["status"] == "void"]
print(compare(guess_void, len(void)), void)
business_tables.state_table(changed)

# %% change-why [markdown] lang="zh"
# 计划和批准。新指标的来源，是用户改主意的那句话。指标一换，算出来的哈希就对不上了；批准的是原来那个哈希，也就跟着作废。
# 有人拿着旧哈希，再批准一次呢？

# %% change-why [markdown] lang="en"
# The plan and its approval. The new metric has its source in what the user just said. With it the hash does not fit any more,
# and it was that hash that was approved. What if somebody approves the old hash once more?

# %% break-it tags=["raises-exception"]
yes = invoice_task.ask(draft, "Yes, approved.", Reply("Thank you."))
approve(changed, yes, state["planHash"]["value"], "ana")

# %% broken [markdown] lang="zh"
# 报错是说：这个计划已经不是现在的计划，指标在它之后变了；要重新做计划，给人看过，再问一次。
# 工具也守着同一条：状态里没有有效的批准，`send_invoice` 就不运行。让模型硬来试试：

# %% broken [markdown] lang="en"
# The error says which field changed and what to do. The tool holds to the same rule: without an approval that holds,
# `send_invoice` does not run. Let the model try:

# %% change-guard
Path(fresh("guarded")).mkdir()
log_state(draft, changed)
refused = invoice_task.send_again(draft, "guarded")
print(refused.data["message"]["content"][0]["content"][0]["text"])
print(len(invoice_task.invoices("guarded")))

# %% change-plan [markdown] lang="zh"
# 重新做计划，给人看过，再批准。计划说的是算什么，金额是后来算出来的，所以请人批准时（`approval/asked`），
# 要发的那张账单也一起记下：批准的是这个计划，也是这一张。先让模型换一个金额发：

# %% change-plan [markdown] lang="en"
# A new plan, shown and approved. A plan says what is counted, and the amount is computed later. So the event that asks for the
# approval, `approval/asked`, holds the invoice too: the approval is for this plan and this invoice. First the model tries
# another amount:

# %% change-again
Path(fresh("guarded")).mkdir()
invoice_task.ask(draft, "And the plan?", Reply("The repeats of 2025, to Harbour."))
planned = plan(current(draft), invoice_task.latest(draft, "assistant/message"))
ask_approval(draft, planned, invoice_task.order_of(planned))
yes = invoice_task.ask(draft, "Yes, this one.", Reply("Thank you."))
log_state(draft, approve(planned, yes, planned["planHash"]["value"], "ana"))
refused = invoice_task.send_again(draft, "guarded", amount="999.00")
print(refused.data["message"]["content"][0]["content"][0]["text"])

# %% change-send [markdown] lang="zh"
# 同一个批准，管不到另一个金额。现在发批准过的那一张，数量按新指标算：

# %% change-send [markdown] lang="en"
# An approval of one amount does not cover another. Now the invoice that was approved, with the figure of the new metric:

# %% change-sent
invoice_task.send_again(draft, "guarded")
for invoice in invoice_task.invoices("guarded"):
    print(invoice.id, to_json(invoice.payload))

# %% replay [markdown] lang="zh"
# ## 重放，与今天的定义
#
# 重放给出同样的状态，一张账单也不发（删除会话，在四个域的表里已经试过）。不过，日志里写着指标的定义是 `active`，
# 那是当时的回答。后来有人停用了这一版，日志不会知道；要接着用，就得再去问定义。下面第一行：五次重放的状态是否都一样，
# 账单有几张；第二行：日志里的状态，和今天问到的状态。

# %% replay [markdown] lang="en"
# ## Replay, and today's definitions
#
# A replay gives the same state and sends nothing (deletion was tried in the table of the four domains). But the log says that
# the definition is `active`, and that was the answer at the time. Later somebody retires that version, and the log does not
# know; whoever goes on has to ask the definitions again. The first line: whether five replays give the same state, and how
# many invoices there are; the second: the status in the log, and today's.

# %% replayed
log = JsonlStore("office").inspect("billing").events
states = [current(replay(log)) for _ in range(5)]
print(all(it == state for it in states), len(invoice_task.invoices("office")))
text = invoice_task.METRICS.read_text("utf-8").replace('"active"', '"retired"')
Path("later.json").write_text(text, "utf-8")
metric = states[0]["metric"]["value"]
print(metric["status"], Metrics("later.json").get(metric["id"], metric["version"]).status)

# %% explore [markdown] lang="zh"
# ## 在每个时刻杀死它
#
# 左边是死后磁盘上的日志，右边是查询状态、账本，和“账单发出去了吗”的四个回答。
#
# **拖动滑块找一找：** 账本知道、日志不知道的时刻，从哪一刻开始，到哪一刻结束？把菜单换成“不带键”，在哪些时刻，
# 最后一行会变？

# %% explore [markdown] lang="en"
# ## Kill it at every moment
#
# On the left is the log on the disk after the death. On the right are the query state, the ledger, and four answers to the
# question whether the invoice is out.
#
# **Find it with the slider:** at which moment does it begin that the ledger knows and the log does not, and at which does it
# end? Then choose “without a key” in the menu: at which moments does the last row change?

# %% explorer
explorer = business_explorer(show_text=True)
explorer

# %% move
explorer.with_key.value = False
explorer.moment.value = explorer.moment.max
explorer.still

# %% moved [markdown] lang="zh"
# <details><summary>答案：从哪一刻到哪一刻</summary>
#
# 从“账单已入账，`send_invoice` 还没返回”开始，到结果所在的那次写盘写完为止，中间包括 `tool/result` 已经记下、
# 还在内存里的那几刻。不带键时，最后一行从同一刻起变成两张，而且一直到最后都是：就连上面这张图，结果早已落盘，
# 再调用一次还是多一张。日志写得再快，也只能让这段时间变短，不能让它消失。
#
# </details>
#
# ## 压缩之后又发了一遍
#
# **面试·故障题：智能体发过一个通知，压缩之后又发了一遍。原因在哪里？** B5 说过怎么查，这里是现场：用户要求通知一次；
# 发了；聊了几句；前面的消息换成一段摘要；用户问“他们知道了吗？没有就通知”。教材列了五个方面，下面各占一行。
# 先说说你的判断，再往下看：

# %% moved [markdown] lang="en"
# <details><summary>Answer: from which moment to which</summary>
#
# It begins “with the invoice out, before `send_invoice` returns” and ends when the write that has the result is through;
# the moments at which the `tool/result` is logged and still in memory lie between. Without a key the last row becomes two at
# the very same moment, and stays so to the end: in the picture above the result has long been on the disk, and one more call
# still makes one more invoice. Writing the log faster makes this time shorter; it does not make it vanish.
#
# </details>
#
# ## Sent again after a compaction
#
# **Interview question (fault): after a compaction an agent sends a notification again that it had sent. What is the cause?**
# B5 said how to look; here is the scene: the user wants Harbour told, once; the notice goes out; some talk follows; a summary
# takes the place of all that; the user asks “Do they know? If not, tell them.” The chapter names five places to look at, a row
# each. Say what you make of it before you read on:

# %% incident
scene = incident.happen(fresh("incident"))
business_tables.evidence_table(incident.evidence(scene))

# %% incident-tries [markdown] lang="zh"
# 只改一样，再来一遍：换一段保留了操作 id 的摘要，或者通知带键。先是两段摘要；后面每行依次是：摘要里有没有操作 id，带不带键，
# 一共发了几条通知：

# %% incident-tries [markdown] lang="en"
# Once more, with one thing changed: a summary that keeps the operation id, or a notice with a key. The two summaries come
# first; then, a line each time, whether the summary has the id, whether there is a key, and how many notices went out:

# %% incident-tried
print(incident.LOST, incident.KEPT, sep="\n")
for summary, key in ((incident.LOST, False), (incident.KEPT, False), (incident.LOST, True)):
    scene = incident.happen(fresh("incident"), summary=summary, with_key=key)
    print(summary == incident.KEPT, key, len(scene.operations))

# %% incident-answer [markdown] lang="zh"
# <details><summary>参考答案</summary>
#
# 按五个方面排除。**恢复**：没有补写的结果，没有崩溃过，不是“结局未知”惹的。**工具结果**：第一次的结果在日志里，有操作 id，
# 工具没有错。**范围**：那条结果在被遮住的节点里，范围本身合法，可模型从此看不到它了，全靠摘要。**摘要**：没有操作 id，
# 只说“办过了”（that was seen to），这是直接原因。**外部的幂等**：两笔都没有键，账本没法认出是同一个通知，
# 这是错误变成损失的原因。
# 上一格各改一样，都只剩一条。先补键：摘要由模型写，保证不了；键由代码生成，能保证。再定保留规则：
# 做过的外部操作，摘要必须写出操作 id（B5 有检查）。已经多发的那条收不回，只能再发一条说明，这也是新的操作。
#
# </details>

# %% incident-answer [markdown] lang="en"
# <details><summary>An answer</summary>
#
# One place after the other. **Recovery** wrote no result: nothing crashed, so this is no matter of an unknown outcome. **Tool
# results**: the first one is in the log, with its operation id; the tool did its job. **Range**: that result is among the
# shadowed nodes. The range was legal, but from then on the model knew of the sending only what the summary said. **Summary**:
# no operation id, only that it “was seen to”: this is the direct cause. **Idempotency outside**: neither operation has a key,
# so the ledger could not tell that it was the same notice; this turned a mistake into damage. Each change in the cell above
# leaves one notice. First the key: a summary is written by a model and can be asked for, a key is made by code and can be
# relied on. Then the retention rule: a summary has to name the operation of every effect outside (B5 checks it). The second
# notice cannot be called back; a third one may explain it, which is an operation, too.
#
# </details>

# %% exercise [markdown] lang="zh"
# ## 练习：让工具可以放心重试
#
# `send(ledger, order, attempt)` 发出一张账单，返回操作 id。`order` 有 `invoice`（账单号）、`customer`、`amount`；
# `attempt` 是这次调用：`attempt.call_id`、`attempt.time`，还有 `attempt.events`，即此刻的日志。
# `ledger.send(kind, payload, key)` 的键可以不给，现在不安全的写法就没有给：
#
#     ledger.send("invoice", order).id
#
# 不管谁死在哪里，隔多久、由哪个进程、哪个会话来重试，还是几个进程同时来，一个账单号只能有一张账单。同一个号，
# 金额或客户变了，就让账本的错误出来。`order` 是调用者的，不要改动。检查会另起两个进程，要等几秒。
#
# <details><summary>提示</summary>
#
# `attempt` 里的三样和 `order` 里的三样，哪一样在重试时不变，换一张账单时又一定变？
#
# </details>

# %% exercise [markdown] lang="en"
# ## Exercise: make the tool safe to retry
#
# `send(ledger, order, attempt)` sends an invoice and returns the operation's id. An `order` has `invoice` (its number),
# `customer` and `amount`; the `attempt` is this call: `attempt.call_id`, `attempt.time`, and `attempt.events`, the log as it is
# now. In `ledger.send(kind, payload, key)` the key may be left out, and the unsafe way leaves it out:
#
#     ledger.send("invoice", order).id
#
# Wherever a process dies, however much later the retry comes, from whichever process or session, even from two at once: one
# number is one invoice. The same number with another amount or customer is refused; let the ledger's error come through. The
# `order` belongs to the caller: leave it as it is. The check starts two processes, which takes a few seconds.
#
# <details><summary>Hint</summary>
#
# Which of the three things in `attempt` and the three in `order` stays the same in a retry, and is sure to differ for another
# invoice?
#
# </details>

# %% send
def send(ledger, order, attempt):
    ### BEGIN SOLUTION
    return ledger.send("invoice", order, key=order["invoice"]).id
    ### END SOLUTION

# %% send-check points=2
verdict = check_send(send)
print(verdict)
### BEGIN HIDDEN TESTS
assert verdict.correct, verdict
### END HIDDEN TESTS

# %% answer [markdown] lang="zh"
# <details><summary>答案</summary>
#
# ```python
# def send(ledger, order, attempt):
#     return ledger.send("invoice", order, key=order["invoice"]).id
# ```
#
# 时间和调用 id 在重试时会变；日志里缺的正是要问的那个结果；客户和金额，两张账单可以一样。只有账单号，
# 说的就是这一张。变量里记着的东西和 `hash()` 的值，换一个进程就没有了，或者变了。先查后发也不行，两步之间别人也能查：
# 键交给 `send`，账本在一个事务里做完。
#
# </details>
#
# ## 思考题
#
# **1.** 恢复程序为什么不自己去问账本，把“结局未知”直接改成“成功”？
#
# <details><summary>参考答案</summary>
#
# 恢复只看日志，所以在任何机器上、离线时、重放时，都得到同样的结果；去问外面，就不再是同样的输入同样的输出了，账本还可能问不到。
# 而且“结局未知”是一件事实：当时确实没有人看到。`reconcile` 问到的，作为新的事实补上（可以用 `log_findings` 记成一条消息，
# 模型才看得到），而不是改写旧的。问账本的那两格也说明，答案会变：同一份日志，先是“做了”，多发之后就成了“请人来看”。
#
# </details>
#
# **2.** 查询状态为什么要记全部字段，而不只记变了的那一个？计划有没有效，为什么每次读的时候再算？
#
# <details><summary>参考答案</summary>
#
# 记全部，任何一个事件自己就说得清，不用把前面的都找齐；压缩、分叉、从中间开始读，都不会漏掉一半。
# 有没有效是算出来的，谁也不能把旧批准带到新指标上，写的人忘了标“作废”也不行（换指标的那几格）。
# 哈希里还有字段的版本：改过去又改回来，也是另一个计划。
#
# </details>

# %% answer [markdown] lang="en"
# <details><summary>Answer</summary>
#
# ```python
# def send(ledger, order, attempt):
#     return ledger.send("invoice", order, key=order["invoice"]).id
# ```
#
# A retry has another time and another call id. What the log lacks is the very result that is asked for. Customer and amount
# may be the same in two invoices. Only the number stands for this one. What a variable remembers is gone in a new process, and
# `hash()` gives another value there. Looking first and then sending will not do either: another process can look in between.
# Given the key, `send` does both in one transaction.
#
# </details>
#
# ## Questions to think about
#
# **1.** Why does recovery not ask the ledger itself, and turn “outcome unknown” into “succeeded”?
#
# <details><summary>An answer</summary>
#
# Recovery reads the log alone, and so it gives the same on any machine, offline, and in a replay. An answer from outside is an
# input of its own, and there may be none when it is needed. Besides, “unknown” is a fact: at the time nobody had seen. What
# `reconcile` finds out is added as a new fact (`log_findings` makes it a message, which the model sees), and no old one is
# rewritten. The two cells that ask the ledger show that the answer changes, too: from the same log, first “done”, and after the
# second sending “ask a person”.
#
# </details>
#
# **2.** Why does each event hold all fields of the query state, not only the one that changed? And why is it computed at every
# reading whether a plan still holds?
#
# <details><summary>An answer</summary>
#
# With all fields an event speaks for itself: a compaction, a fork or a reader that begins in the middle cannot miss one half.
# And a computed validity cannot be carried along: nobody carries an old approval over to a new metric, not even a writer that
# forgets to mark it (the cells with another metric). The hash has the versions in it: a field that was changed and changed back
# makes another plan.
#
# </details>

# %% recap [markdown] lang="zh"
# ## 小结
#
# - 日志记会话里发生的事；外面做成了什么，问账本；词怎么算，问带版本的定义；谁在写，问进程。
# - 结局未知就去问，凭键，凭业务编号；问不清的交给人，不猜。
# - 键由业务编号而来，从第一次调用就带上：死在哪里、重试几次，都只有一张。
# - 查询状态说系统承诺了什么；指标、时间一变，计划和批准就作废；批准一个金额，不等于批准另一个。

# %% recap [markdown] lang="en"
# ## Recap
#
# - A log has what happened in a session. What was done outside, the ledger knows; what a word means, the versioned definitions;
#   who writes, the process.
# - An unknown outcome is asked for, by key and by business id; what stays unclear is for a person, and nobody guesses.
# - A key made of the business id, sent from the first call on: one invoice, wherever it dies and however often it is tried.
# - The query state says what the system committed to; with another metric or time, plan and approval are void. An approval of
#   one amount covers no other.
