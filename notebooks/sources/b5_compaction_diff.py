# %% question [markdown] lang="zh"
# # 压缩前后
#
# 60 分钟。上下文快满了，于是把前面的对话换成一段摘要。**模型失去了什么，日志留下了什么？**
# 摘要读起来通顺，不等于它还记得那笔款已经付过。
#
# 学完你能：
#
# - **压缩**一段表面，并从日志里回答教材的六个问题：为什么、哪一段、遮蔽了谁、谁写的、结果怎样、期间来的消息还在不在
# - **判断**一段摘要的好坏，不看长短，看六项检查
# - **修好**一段丢了操作 id 的摘要，并说出为什么光靠摘要还不够

# %% question [markdown] lang="en"
# # Compaction diff
#
# 60 minutes. The context is nearly full, so the earlier conversation is replaced by a summary. **What did the model lose, and
# what did the log keep?** A summary may read well and yet not know that a payment was made.
#
# Afterwards you can:
#
# - **compact** a range of the surface, and answer the chapter's six questions from the log: why, which range, what it shadows,
#   who wrote it, how it ended, and whether what came meanwhile is kept
# - **judge** a summary by six checks instead of by its length
# - **repair** a summary that lost an operation id, and say why a summary alone is not enough

# %% imports
from labsupport.sessionlog import check_compaction, pairing_cuts, replay
from labsupport.sessionlog.compaction import choose_range, compact
from labsupport.sessionlog.compaction_report import compaction_report
from labsupport.sessionlog.summarizers import ExtractiveSummarizer, FailingSummarizer
from labsupport.workbench.checks.base import compare
from labsupport.workbench.compaction_tables import six_questions, size_table, surface_table
from labsupport.workbench.compactions import WhileWriting
from labsupport.workbench.explorers.b5 import compaction_explorer
from labsupport.workbench.payment_task import full_disk, payments, record
from labsupport.workbench.random_compactions import accounted, outcome, random_compactions
from labsupport.workbench.scratch import fresh, scratch

# %% look [markdown] lang="zh"
# ## 先看这段对话
#
# 一个替诊所管账的智能体：翻看六月的账目，付一张发票（用户还更正了金额），查两张发票的到期日；最后用户道谢。
# 付款记在**账本**里，那是日志之外的世界。下面是它的**表面**（B2）：模型现在读到的每一条，
# 和它按固定规则估算的 token、真实分词器数出的 token。

# %% look [markdown] lang="en"
# ## First, the conversation
#
# An agent keeps the books of a clinic. It goes through the bookings of June, pays an invoice (the user corrects the amount),
# and looks up when two others are due; in the end the user says thanks. The payment stands in a **ledger**, which is the world
# outside of the log. Here is its **surface** (B2): every message that the model reads now, with its tokens by the fixed
# estimate and by a real tokenizer.

# %% recorded
scratch()
log = record(fresh("desk")).events
print(payments("desk"))
surface_table(replay(log))

# %% look-why [markdown] lang="zh"
# 一条结果占了绝大部分：那张账目表。估算是每 4 个 UTF-16 单元算一个 token，便宜，在哪里算都一样；
# 表里尽是数字，分词器数出来的差不多是估算的两倍。
#
# ## 压缩一段
#
# `choose_range` 从头选一段，给尾部留下至少这么多 token，不拆开任何一对调用与结果。`compact` 让一个**摘要器**写摘要，
# 放到这一段的位置上。先用一个不需要模型的摘要器，它从原文里摘句子：
# 先摘用户的要求，再摘调用和结果，最后才轮到助手的话；既不是要求、又没有数字或 id 的句子不摘。
#
# **预测 1。** 表面上少了好些消息。日志里的事件会多几个？（少了就写负数。）

# %% look-why [markdown] lang="en"
# One result takes nearly all of it: the table of bookings. The estimate is a token for every 4 UTF-16 units, cheap and the same
# everywhere; the table is made of digits, and the tokenizer makes about twice as many of them.
#
# ## Compact a range
#
# `choose_range` takes a range from the head, leaves a tail of at least so many tokens, and cuts no call from its result.
# `compact` has a **summarizer** write a summary and puts it in the place of the range. For now it is one without a model: it
# picks sentences as they were said, the user's demands first, then calls and results, the assistant's words last. A sentence
# that is no demand and has neither a figure nor an id is left out.
#
# **Prediction 1.** There are far fewer messages on the surface afterwards. How many more events are in the log? (Fewer is a
# negative number.)

# %% guess
guess = None

# %% compacted
session = replay(log)
before = len(session.events)
chosen = choose_range(session, retain_tokens=20)
made = compact(session, chosen.start, chosen.end, ExtractiveSummarizer(limit=500))
print(compare(guess, len(session.events) - before))
size_table(before=replay(log), after=session)

# %% compacted-events [markdown] lang="zh"
# 日志只增不减。多出来的是这几个：

# %% compacted-events [markdown] lang="en"
# The log only grows. These are the new events:

# %% four-events
for event in session.events[made.start_seq:]:
    print(event.seq, event.type, event.surface_op if event.type == "user/message" else "")

# %% four-why [markdown] lang="zh"
# `compaction/start` 上锁：解开之前，别的压缩进不来。`compaction/summary` 记下摘要、范围、被遮蔽的 seq、谁写的。
# `user/message` 带着 replace，从这里起模型读到的是摘要。`compaction/end` 解锁。原来的消息一条也没动。
#
# ## 六个问题，只问日志
#
# 教材（§4.10.1）要求事后能回答六个问题。每个答案都注明出自哪几个事件：

# %% four-why [markdown] lang="en"
# `compaction/start` takes the lock: no other compaction begins until it is released. `compaction/summary` has the summary, the
# range, the shadowed seqs, and who wrote it. The `user/message` carries a replace, and from here on the model reads the
# summary. `compaction/end` releases the lock. Not one of the old messages was touched.
#
# ## Six questions to the log alone
#
# The chapter (§4.10.1) wants six questions answered afterwards. Each answer names the events that it comes from:

# %% six
six_questions(session.events, made.id)

# %% six-half [markdown] lang="zh"
# 第一个问题有三种答案：`manual` 是人要的，`pressure` 是上下文快满了，`context-overflow` 是请求太长、已经被服务商拒绝。
# 第四个说不出配置：这个摘要器没有把自己的 `limit` 交给日志。第五个的 `replaced` 是说：已换上。
#
# 报告只读日志，所以重放一遍，答案一样。进程死在半路呢？会不会永远锁住？把日志在压缩的每一步之后截断，先问第五个问题；
# 再重放截断的日志，看旧锁是否已经作废（`stale`），再压缩一次行不行：

# %% six-half [markdown] lang="en"
# The first question has three answers: `manual` when somebody asked for it, `pressure` when the context is nearly full,
# `context-overflow` when the provider has refused a request as too long. The fourth has no configuration to show: this
# summarizer did not hand its `limit` to the log. In the fifth, `replaced` means that the summary is in place.
#
# The report reads nothing but the log, so a replay gives the same. And if the process dies half-way, does the lock stay for
# ever? Cut the log after each step of the compaction and ask the fifth question; then replay what is left, and see whether the
# old lock is void (`stale`) and whether another compaction may begin:

# %% six-cut
def state_of(events):
    return compaction_report(events, made.id).state.value

print(compaction_report(replay(session.events).events, made.id)
      == compaction_report(session.events, made.id))
for seq in range(made.start_seq, made.end_seq + 1):
    part = session.events[:seq + 1]
    back = replay(part)
    ends = back.surface.nodes[0], back.surface.nodes[-1]
    next_one = outcome(compact, back, *ends, ExtractiveSummarizer(limit=100))
    state, stale = state_of(part)["state"], state_of(back.events)["stale"]
    print(seq, state, "| stale:", stale, "|", next_one)

# %% bigger [markdown] lang="zh"
# `open` 是还没有结束，摘要也没换上；`open and replaced` 是摘要换上了，只差结尾。只有一个事件改变表面，所以没有“换了一半”：
# 要么是原来的消息，要么是整个摘要。锁也不会永远锁着：重放时旧锁作废，下一次压缩照常进行（最后一列的 `made`）。
#
# ## 出错的时候
#
# 先压缩一条很短的消息，助手的一句“INV-2061 is paid.”：

# %% bigger [markdown] lang="en"
# `open` means that the compaction has not ended and the summary is not in place; with `open and replaced` it is, and only the
# end is missing. One single event changes the surface, so it is never half replaced: the model reads either the old messages
# or the whole summary. Nor does the lock stay for ever: a replay makes it void, and the next compaction goes ahead (`made` in
# the last column).
#
# ## When it goes wrong
#
# First, compact one short message, the assistant's “INV-2061 is paid.”:

# %% break-it tags=["raises-exception"]
refused = replay(log)
tiny = refused.surface.nodes[7]
compact(refused, tiny, tiny, ExtractiveSummarizer())

# %% broken [markdown] lang="zh"
# 报错给出两个数：摘要要花的，比它要遮蔽的还多；压缩之后反而更长，所以拒绝，表面还是原来的。
# 每段摘要都套着同样的外框，开头一段说明，末尾一个标记，光是它就要几十个 token。日志里留下了什么？

# %% broken [markdown] lang="en"
# The message gives two figures: what the summary costs, and what it would shadow, which is less. The context would have grown,
# so it is refused, and the surface is as it was. The frame alone, a fixed note before every summary and a tag after it,
# takes a few dozen tokens. What is left in the log?

# %% bigger-left
print(list(refused.surface.nodes) == list(replay(log).surface.nodes))
for event in refused.events[len(replay(log).events):]:
    print(event.seq, event.type, event.data.get("error", ""))

# %% fails [markdown] lang="zh"
# 锁上了，又解开了，`error` 里有错误码。摘要器半路失败也一样；锁解开了，下一次压缩就能进来：

# %% fails [markdown] lang="en"
# The lock was taken and released, and `error` has an error code. A summarizer that fails leaves the same; and as the lock is
# free, the next compaction may begin:

# %% fails-after-start
retried = replay(log)
print(outcome(compact, retried, chosen.start, chosen.end, FailingSummarizer()))
print([event.type for event in retried.events[-2:]], len(retried.surface.nodes))
print(outcome(compact, retried, chosen.start, chosen.end, ExtractiveSummarizer(500)))

# %% persistence [markdown] lang="zh"
# 摘要太长、摘要器失败，还有摘要是空的（换上去等于忘掉这一段），都是同一个错误码 `summary`，只看日志分不出。
#
# 替换之后才出错，就收不回来了：日志只能往后写。手动压缩的最后一步是落盘，让磁盘在这时写不进去：

# %% persistence [markdown] lang="en"
# A summary that is too long, a summarizer that fails, and a summary that says nothing (the range would be forgotten) have the
# same error code, `summary`; the log alone does not tell which it was.
#
# A failure after the replacement cannot be undone, for a log is only written at its end. The last step of a manual compaction
# is the flush; let the disk fail there:

# %% flush-fails
unsaved = replay(log)
writer = ExtractiveSummarizer(limit=500)
print(outcome(compact, unsaved, chosen.start, chosen.end, writer, flush=full_disk))
print([event.type for event in unsaved.events[-2:]], len(unsaved.surface.nodes))

# %% arrives [markdown] lang="zh"
# 错误码是 `persistence`：摘要已经换上，压缩在内存里是完整的，只是还没有写到磁盘上。不会自动再试，错误码说明停在了哪里。
#
# 写摘要要时间。写到一半，用户又说了一句话。手动压缩（`manual`）和自动压缩（`pressure`，上下文快满时）各试一次。
#
# **预测 2。** 两次里有几次摘要会换上去？

# %% arrives [markdown] lang="en"
# The error code is `persistence`: the summary is in place and the compaction is complete in memory, but not on the disk.
# Nothing is tried again automatically; the code says where it stopped.
#
# Writing a summary takes time, and meanwhile the user says one more thing. Try a manual compaction (`manual`) and an automatic
# one (`pressure`, when the context is nearly full).
#
# **Prediction 2.** In how many of the two does the summary take its place?

# %% guess-modes
guess_modes = None

# %% arrives-both
done = 0
for trigger in ("manual", "pressure"):
    going = replay(log)
    writer = WhileWriting(going, "And INV-2064?", ExtractiveSummarizer(500))
    said = outcome(compact, going, chosen.start, chosen.end, writer, trigger=trigger)
    report = compaction_report(going.events, f"compaction-{before}")
    print(trigger, said, report.state.value["state"], report.arrived.value)
    done += said == "made"
print(compare(guess_modes, done))

# %% arrives-why [markdown] lang="zh"
# 后到的那句话两次都还在表面上（行末的 True）。手动压缩是人指定的一段：这一段没变就照做，新消息接在后面。
# 自动压缩的依据是整个表面，表面变了，依据就没了，于是拒绝（`changed`），等下一次再说。
#
# ## 压缩过的再压缩
#
# 先压第一轮，再把那个摘要和第二轮一起压掉：

# %% arrives-why [markdown] lang="en"
# The late message is on the surface both times (True at the end of the line). A manual compaction is for a range that somebody
# named; as long as that range is unchanged it goes ahead, and the new message comes after the summary. An automatic one was
# decided by the whole surface; that has changed, so it is refused (`changed`) and has to wait for the next time.
#
# ## Compact what was compacted
#
# First turn 1, then that summary together with turn 2:

# %% second
layered = replay(log)
nodes = layered.surface.nodes
first = compact(layered, nodes[0], nodes[3], ExtractiveSummarizer(500))
nodes = layered.surface.nodes
second = compact(layered, nodes[0], nodes[4], ExtractiveSummarizer(500))
print(first.shadowed_seqs, second.shadowed_seqs)
print(list(layered.surface.nodes))

# %% second-why [markdown] lang="zh"
# 第二次的范围，起点的 seq 比终点的大：起点是第一个摘要，它写得晚，却站在最前面。范围是按表面上的位置算的，不是按 seq。
# 沿着 `shadowed_seqs` 一层层往回走，总能走到原来的消息。
#
# ## 定律
#
# 定律是对任何输入都成立的性质。**凡是上过表面的事件，要么还在表面上，要么被一次有记录的替换遮蔽；日志一个事件也不少；
# 压缩多少次，调用与结果都成对。** 随机的会话，每轮之后随机压一段，有手动有自动，摘要器有时失败，有时写到一半来了新消息：

# %% second-why [markdown] lang="en"
# The second range begins with a larger seq than it ends with: its first node is the first summary, which was written late and
# stands in front. A range is made of positions on the surface, not of seqs. Follow `shadowed_seqs` back, step by step, and you
# come to the original messages.
#
# ## The law
#
# A law holds for every input. **Every event that was ever on the surface is still there, or shadowed by one recorded
# replacement; the log loses none; after any number of compactions calls and results are paired.** Random sessions, compacted
# after every turn, manually or automatically, with summarizers that fail now and then, and with messages that come meanwhile:

# %% law
trials = [random_compactions(seed) for seed in range(60)]
sessions = [trial.session for trial in trials]
print(all(accounted(it) for it in sessions))
print(all(it.session.events[:len(past)] == past for it in trials for past in it.before))
print(all(pairing_cuts(it.events)[-1] for it in sessions))
print([problem for it in sessions for problem in check_compaction(it.events)])

# %% law-counts [markdown] lang="zh"
# 前三行就是定律的三句话；最后一行列出违反压缩规矩（比如两次压缩交叠）的事件，一个也没有。
#
# 检查有没有碰到每一种情形？各种结局的次数，和起点的 seq 大于终点的替换有几次：

# %% law-counts [markdown] lang="en"
# The first three lines are the three clauses of the law; the last one lists events that break the rules of a compaction, such
# as one that starts inside another, and there are none.
#
# Did the checks meet every case? How often each outcome came, and how many replacements start with a larger seq than they end
# with:

# %% law-counted
found = [code for trial in trials for code in trial.outcomes]
print({code: found.count(code) for code in sorted(set(found))})
print(sum(it.start > it.end for one in sessions for it in one.surface.replacements))

# %% step-through [markdown] lang="zh"
# 都碰到了。`summary` 里有摘要器失败的，更多是范围太短，摘要写出来不比原文短；`changed` 全是自动压缩时来了新消息。
# 最后一个数不是 0：起点的 seq 大于终点的范围也碰到了。
#
# ## 拖动范围
#
# 左边是压缩之前的表面，右边是之后模型读到的，一行对一行。每移动一次，都真的在一个副本上压缩。
# “切口”一列：– 是此行下方可以切，× 是切下去会拆开一对。
#
# **拖动滑块找一找**（先把保留的尾部拖到 0）：哪一段只有两个节点，却省下了绝大部分 token？哪一段起点终点都合法，却被拒绝？

# %% step-through [markdown] lang="en"
# They did. Some of `summary` are summarizers that failed, and most are ranges so short that their summary was no shorter;
# `changed` are all automatic compactions that met a new message. The last figure is not 0, so ranges that start with the
# larger seq came up, too.
#
# ## Move the range
#
# On the left the surface before, on the right what the model reads afterwards, row beside row. Each move really compacts a
# copy. In the column “cut”, – is a legal edge below this row, × would cut a pair.
#
# **Find it with the sliders** (move the retained tail to 0 first): which range of only two nodes saves most of the tokens?
# And which range has two legal edges and is refused all the same?

# %% explorer
short = ExtractiveSummarizer(limit=500)
explorer = compaction_explorer(replay(log), summarizer=short, show_text=True)
explorer

# %% move
third = [event.seq for event in log if event.type == "tool/result"][2]
explorer.end.value = third
explorer.still

# %% moved [markdown] lang="zh"
# 上面这张图停在两个并行调用的中间：c3 的结果在里面，c4 的在外面，所以不许切；右边一点没变，句子里有最近的合法终点。
#
# <details><summary>答案</summary>
#
# 两个节点的那一段，是 `list_bookings` 的调用和它的结果，那张账目表。凡是摘要写出来不比原文短的都被拒绝：
# “INV-2061 is paid.”一句，连外框都抵不过；从助手列出两张未付发票，到用户问到期日，中间有付款那一整轮，也不划算。
# 最后的道谢里没有可摘的句子，摘要是空的，也拒绝。边界合法只说明不会拆开一对，不说明划算。
#
# </details>
#
# ## 先修剪，再摘要
#
# 如果大头只是一条结果，不必写摘要。**修剪**（prune）不用模型：太长的结果只留头尾，中间换成一个标记，日志里还是全文。
# 循环在每次请求之前修剪一次，然后接着答：

# %% moved [markdown] lang="en"
# The picture above stands between two parallel calls: the result of c3 is inside, that of c4 outside, so there is no edge here;
# the right side is as before, and the sentence names the legal ends nearby.
#
# <details><summary>Answer</summary>
#
# The range of two nodes is the call of `list_bookings` and its result, the table. Legal and refused is every range whose
# summary is not shorter than it: “INV-2061 is paid.”, which is shorter than the frame, but also what lies between the answer
# that names two open invoices and the question when they are due, with the whole turn of the payment in it. In the thanks at
# the end there is nothing to pick: the summary would say nothing, and is refused, too. A legal edge means that no pair is
# cut, not that it pays.
#
# </details>
#
# ## Prune first, then summarise
#
# If one result is the bulk of it, no summary is needed. **Pruning** needs no model: a result that is too long keeps its
# head and its tail, a mark stands for the middle, and the log has all of it. The loop prunes before each request, and answers:

# %% imports-payment
import re
from shutil import copytree

from labsupport.outside import Attachments
from labsupport.sessionlog import prune_session, resume
from labsupport.sessionlog.spill import Spill
from labsupport.sessionlog.storage import JsonlStore
from labsupport.sessionlog.summarizers import ScriptedSummarizer
from labsupport.workbench.checks.b5 import check_repair
from labsupport.workbench.compaction_tables import fact_table, six_checks
from labsupport.workbench.payment_task import AGAIN, BAD, GOOD, Bookkeeper, ask, results
from labsupport.workbench.spill_play import list_all, places_table

# %% pruned
copytree("desk", fresh("pruned"))
pruned = resume(JsonlStore("pruned"), "payment")
ask(pruned, "Thanks again.", "好的。", "pruned", before_request=prune_session)
size_table(before=replay(log), pruned=pruned, summary=session)

# %% pruned-facts [markdown] lang="zh"
# （修剪的那份多了一轮道谢，所以多两个节点。）哪些事实，模型还能一字不差地读到？

# %% pruned-facts [markdown] lang="en"
# (The pruned one has one more turn, hence two more nodes.) Which facts can the model still read, word for word?

# %% facts
facts = ["不要给供应商发邮件", "not 1,840.00", "op-0001", "BK-00001", "BK-00120", "BK-00240"]
fact_table(facts, before=replay(log), pruned=pruned, summary=session)

# %% facts-why [markdown] lang="zh"
# 修剪只丢了账目表的中段，省下一部分；摘要省得多，可它选了什么就只剩什么。几份日志里，事实一条不少。
# 所以先修剪，丢了哪一段说得清清楚楚；不够再摘要。
#
# 如果一个工具返回十万行呢？修剪以后，日志里还是有十万行。**转存**（spill）在结果到达的时候就把它放进附件库，
# 日志里只记头、尾、大小和一个引用（内容的指纹，要用密钥来算）：

# %% facts-why [markdown] lang="en"
# Pruning loses the middle of the table and saves a part; the summary saves far more, and has only what it chose. Each of the
# logs has every fact. So one prunes first, where it is known exactly what is lost, and summarises when that is not enough.
#
# And a tool that returns a hundred thousand rows? Pruned or not, the log carries them all. **Spilling** puts the result into an
# attachment store when it arrives; the log gets head, tail, size and a reference (a digest of the content, made with a key):

# %% spilled
attachments = Attachments(fresh("attachments"), key=b"a secret of this workbook alone")
plain, spilled = list_all(100_000), list_all(100_000, Spill(attachments.put))
places_table(plain, spilled, attachments)

# %% spilled-block [markdown] lang="zh"
# 修剪没有事可做（打印 `[]`）：头尾够短了，引用自成一块，修剪不碰。人要看，就翻一页：

# %% spilled-block [markdown] lang="en"
# Pruning has nothing to do (`[]`): head and tail are short enough, and it never touches a reference, which is a block of its
# own. A person turns to a page:

# %% spilled-page
print(prune_session(spilled))
result = next(event for event in spilled.events if event.type == "tool/result")
text, reference = result.data["message"]["content"][0]["content"]
print(len(text["text"]), {**reference, "ref": reference["ref"][:16] + "…"})
print(attachments.lines(reference["ref"], first=50_001, count=2).lines)

# %% think-spill [markdown] lang="zh"
# （`lines` 比十万多一行：第一行是表头。）
#
# **教材的思考题 3（★★）：一个工具返回十万行，会话、模型表面、附件库、界面各留什么？**
#
# <details><summary>参考答案</summary>
#
# 就是上面那张表。会话留事实：谁在什么时候调用了什么，成功没有，结果有多大，在哪里。引用里的指纹，
# 内容变了就对不上；没有密钥，猜中内容也算不出它。
# 模型表面留头和尾，够它决定下一步：要算总数就再调用工具去算，不该自己读十万行。附件库留全文，
# 有自己的权限和保留期限。界面拿引用一页一页地取，不从日志里捞。
#
# </details>
#
# ## 六项检查
#
# 长短说明不了好坏。下面两段摘要，都是除了最后道谢之外的整个对话：

# %% think-spill [markdown] lang="en"
# (`lines` counts one more than a hundred thousand rows: the first is the header.)
#
# **Question 3 of the chapter (★★): a tool returns 100,000 rows. What do session, model surface, attachment store and UI each
# keep?**
#
# <details><summary>An answer</summary>
#
# See the table above. The session keeps the facts: who called what and when, whether it worked, how large the result is and
# where it lies. Changed content no longer matches the digest in the reference, and who
# guesses the content cannot compute it without the key. The surface keeps head and tail, enough to decide what to do next: for
# a sum, call a tool that adds up, and do not read so many rows. The attachment store keeps all of it, with permissions and a
# retention of its own. The UI fetches page by page by the reference, and not from the log.
#
# </details>
#
# ## Six checks
#
# Length says nothing about quality. Two summaries of all but the thanks at the end:

# %% two-summaries
print(GOOD, BAD, sep="\n\n")
print(len(GOOD), len(BAD))

# %% checks-read [markdown] lang="zh"
# 两段都通顺，BAD 还短一点。教材（§4.10.3）列了六项检查，库里各是一个函数，比较原文和摘要。假设摘要还要交给外面的另一个团队。
# 先打印这一段的最后一条消息，第一张表里没有显示完：

# %% checks-read [markdown] lang="en"
# Both read well, and BAD is a little shorter. The chapter (§4.10.3) lists six checks; the library has a function for each,
# which compares source and summary. Suppose that the summary will also be handed to another team outside. The last message of
# the range is printed first, for the first table cut it short:

# %% six-checks
whole = choose_range(replay(log), retain_tokens=10)
hidden = [replay(log).message(seq) for seq in whole.seqs]
print(hidden[-1]["content"][0]["text"])
six_checks(log, whole.seqs, good=GOOD, bad=BAD)

# %% checks-why [markdown] lang="zh"
# 括号里是原文所在的 seq。第四项不看文字：同一个问题（发票付过没有？没有就付），让**管账程序**（`Bookkeeper`，只照章办事：
# 读到那张发票的操作 id 就答，读不到就付）分别读完整的历史和摘要，看它做的是不是同一件事。读历史，它答出操作 id；
# 读 BAD，它去付款（pay）。
#
# 这些检查只比拼写，不懂意思。给它们出三道难题：摘句的摘要；把禁令换一种说法；把“INV-2061 已付”说成“INV-2062 已付”：

# %% checks-why [markdown] lang="en"
# In brackets is the seq in the source. The fourth check does not look at words: one question (has the invoice been paid? if
# not, pay it) goes to the **bookkeeper** (`Bookkeeper`, a program that goes by one rule: it answers with the operation id that
# it reads beside the invoice, and pays when there is none), once with the whole history and once with the summary, and it
# should do the same. With the history it answers with the operation id; with BAD it pays.
#
# The checks compare spellings and understand nothing. Three hard cases: the extracted summary; the prohibition in other words;
# “INV-2061 paid” turned into “INV-2062 paid”:

# %% hard-ones
extracted = ExtractiveSummarizer(limit=500).summarize(hidden).blocks[0]["text"]
paraphrased = GOOD.replace("规矩：不要给供应商发邮件", "Leave the suppliers in peace")
swapped = GOOD.replace("INV-2061 paid", "INV-2062 paid")
six_checks(log, whole.seqs, extracted=extracted, paraphrased=paraphrased, swapped=swapped)

# %% hard-why [markdown] lang="zh"
# 摘句的摘要丢了下一步：那句话是助手说的，没有数字也没有 id，不会被摘；电话号码却原样摘了进来。
# 换了说法的禁令意思没变，检查却说丢了：误报。张冠李戴的事实个个都在原文里，五项都看不出来，只有行为那一项露了馅。
# 没有发现不等于没有问题；发现了，也要到那个 seq 去看是不是真的。
#
# ## 付了两次
#
# 把 BAD 放进会话，再问管账程序发票付过没有，它会做什么？
#
# **预测 3。** 账本里最后有几笔付款？

# %% hard-why [markdown] lang="en"
# The extracted one has lost the next step: that sentence was the assistant's and has neither a figure nor an id, so it was not
# picked; the phone number was, as it stood. The paraphrase means the same, and the check says that it is lost: a false alarm.
# In the swapped one every fact stands in the source, so five checks are silent; only the behaviour gives it away. Nothing found
# does not mean that nothing is wrong; and what is found has to be looked up at its seq.
#
# ## Paid twice
#
# Put BAD into the session, and ask the bookkeeper whether the invoice has been paid. What does it do?
#
# **Prediction 3.** How many payments are in the ledger in the end?

# %% guess-payments
guess_payments = None

# %% paid-twice
record(fresh("twice"))
misled = resume(JsonlStore("twice"), "payment")
compact(misled, whole.start, whole.end, ScriptedSummarizer([BAD]))
ask(misled, AGAIN, Bookkeeper(), "twice")
print(compare(guess_payments, len(payments("twice"))), payments("twice"))
logged = results(misled.message(seq) for seq in whole.seqs)
print("log    ", [it.text for it in logged if "op-" in it.text])
print("surface", [it.text for it in results(misled.derive_messages())])

# %% paid-why [markdown] lang="zh"
# 日志里付款的证据还在（`log`），可模型读的是表面：摘要遮蔽了那条结果，`surface` 里只有第二次付款的。
# 它照着摘要，又付了一遍，还拿到一个新的操作 id。
#
# 换成 GOOD 呢？再试试让工具带上**幂等键**：把“付的是哪一张”告诉账本，同一个键只付一次：

# %% paid-why [markdown] lang="en"
# The log still has the proof of the payment (`log`), but the model reads the surface: the summary shadows that result, and
# under `surface` there is only that of the second payment. Going by the summary it paid again, and got a new operation id for
# it.
#
# And with GOOD? And with a tool that sends an **idempotency key**: it tells the ledger what it is paying for, and the ledger
# pays that once:

# %% with-key
for name, summary in (("GOOD", GOOD), ("BAD", BAD)):
    for key in (False, True):
        record(fresh("once"), with_key=key)
        asked = resume(JsonlStore("once"), "payment")
        compact(asked, whole.start, whole.end, ScriptedSummarizer([summary]))
        ask(asked, AGAIN, Bookkeeper(), "once", with_key=key)
        print(f"{name:4} key={key!s:5} {payments('once')}")

# %% think-six [markdown] lang="zh"
# **教材的思考题 6（★★★）：摘要丢了一笔成功付款的操作 id。风险是什么，哪条保留规则能防止？**
#
# <details><summary>参考答案</summary>
#
# 风险就在“付了两次”那一格：模型看不到已付的证据，用户再问，它就再付一遍；而外面的钱，截断、分叉、删会话都收不回来。
# 保留规则：成功了的外部操作，操作 id 和它的对象（哪张发票、多少钱、成没成）必须原样进摘要，不许改写；写完用第三项检查去比，
# 少了就不采用。第三项只看 id 在不在，旁边是哪张发票要靠第四项（张冠李戴那一列）。可检查也会漏，模型也会不看，
# 所以还要第二道：工具带幂等键（上一格的最后一行，摘要再坏也只有一笔），
# 或者先凭业务编号去账本里查（B9）。摘要管的是模型知道什么，账本管的是发生了什么。
#
# </details>
#
# **面试·故障题：压缩之后，智能体把发过的通知又发了一遍，怎么查？**
#
# <details><summary>参考答案</summary>
#
# 把这里的付款换成通知，查法一样。教材的故障矩阵（§4.14）对这种症状先看三样：摘要，被遮蔽的 seq，外面的记录。
#
# - **范围**：六个问题那张表的第二、三行：那次操作的 seq 在不在被遮蔽之列？不在，模型就还读得到它，不能怪压缩。
# - **摘要保留**：六项检查的第三、四项：操作 id 还在不在，读了摘要会不会再做一遍。
# - **工具结果**：“付了两次”那一格：日志里原来的结果还在，表面上没有了。日志里也没有，就不是摘要丢的。
# - **外部幂等**：带幂等键那一格的最后一行：账本里有几笔，外面就真的做了几次。
# - **恢复**：截断日志的那一格：压缩停在哪一步。如果事情做了，结果没写成进程就死了，那是另一种病，见 B4、B9。
#
# </details>
#
# ## 练习：修好一段丢了操作 id 的摘要
#
# `repair(summary, messages)` 收到一段摘要和它所遮蔽的消息，返回修好的摘要：
#
# - 原来的文字不动，只在后面另起行添
# - 结果里有、摘要里没有的每个操作 id（`op-` 加数字），照抄结果里**提到它的那一行**，开头加上 `done: `，失败的加上 `failed: `
# - 摘要里已经有的不再添，同一行只添一次；只信结果，不信谁说过；几个结果提到同一个 id，以最后一个为准
#
# `results(messages)` 给出每个结果的 `.text` 和 `.failed`；`re.findall(r"op-\d+", text)` 找出操作 id。
#
# <details><summary>提示</summary>
#
# 先用 `re.findall` 列出摘要里已有的操作 id，再一行行地看每个结果的 `text.splitlines()`，用一个 `dict` 记下
# 每个 id 该添的那一行，后来的自然盖掉先前的。不要用 `id in summary`：`op-1000` 也在 `op-10001` 里面。
#
# </details>

# %% think-six [markdown] lang="en"
# **Question 6 of the chapter (★★★): a summary loses the operation id of a payment that succeeded. What is the risk, and which
# retention rule prevents it?**
#
# <details><summary>An answer</summary>
#
# The risk is the cell where it pays twice: the model sees no proof, somebody asks again, and it pays again; and no cut, no fork
# and no deleted session brings money back. The rule: of every outside operation that took place, the id and what it was about
# (which invoice, how much, whether it worked) go into the summary as they stand, never reworded; the third check compares, and
# a summary without them is not taken. The third check sees only whether the id is there; which invoice stands beside it is for
# the fourth (the column “swapped”). Checks miss things, too, and a model may overlook what it reads, so there is a second
# guard: the tool sends an idempotency key (the last line above: one payment, however bad the summary), or asks the ledger by
# the business id first (B9). A summary decides what the model knows, the ledger what happened.
#
# </details>
#
# **Interview, a fault to find: after a compaction, an agent sends a notification that it had sent already. Where do you look?**
#
# <details><summary>An answer</summary>
#
# Read “notification” for the payment here; the search is the same. For this symptom the chapter's failure matrix (§4.14) begins
# with three things: the summary, the shadowed seqs, the records outside.
#
# - **Range**: the second and third of the six questions: is the seq of that operation among the shadowed ones? If not, the
#   model can still read it, and the compaction is not to blame.
# - **Retention in the summary**: the third and fourth of the six checks: is the operation id there, and would a reader of the
#   summary do it again?
# - **Tool results**: the cell that pays twice: the first result is in the log and no longer on the surface. When the log lacks
#   it, too, no summary has lost it.
# - **Idempotency outside**: the last line of the cell with the key: as many entries as the ledger has, so often it was done.
# - **Recovery**: the cell that cuts the log: at which step did the compaction stop? When it was done and the process died
#   before the result was written, that is another illness: see B4 and B9.
#
# </details>
#
# ## Exercise: repair a summary that lost an operation id
#
# `repair(summary, messages)` gets a summary and the messages that it stands for, and returns the repaired summary:
#
# - the old text stays as it is, and new lines follow it
# - for every operation id (`op-` and digits) that a result has and the summary lacks, add **the line of the result that names
#   it**, as it stands, after `done: `, or `failed: ` when the result failed
# - nothing is added that the summary has already, and no line twice; only results count, whatever anybody said; when several
#   results name an id, the last one counts
#
# `results(messages)` gives the `.text` and `.failed` of each result; `re.findall(r"op-\d+", text)` finds the ids.
#
# <details><summary>Hint</summary>
#
# List the ids that the summary has with `re.findall` first; then go line by line through `text.splitlines()` of each result,
# and keep in a `dict` which line is to be added for an id: a later one takes the place of an earlier one. Not `id in summary`:
# `op-1000` is also in `op-10001`.
#
# </details>

# %% repair
def repair(summary, messages):
    ### BEGIN SOLUTION
    kept, lost = re.findall(r"op-\d+", summary), {}
    for result in results(messages):
        for line in result.text.splitlines():
            for id in re.findall(r"op-\d+", line):
                if id not in kept:
                    lost[id] = ("failed: " if result.failed else "done: ") + line
    return "\n".join([summary, *dict.fromkeys(lost.values())])
    ### END SOLUTION

# %% repair-check points=2
verdict = check_repair(repair)
print(verdict)
### BEGIN HIDDEN TESTS
assert verdict.correct, verdict
### END HIDDEN TESTS

# %% repaired [markdown] lang="zh"
# <details><summary>答案</summary>
#
# ```python
# def repair(summary, messages):
#     kept, lost = re.findall(r"op-\d+", summary), {}
#     for result in results(messages):
#         for line in result.text.splitlines():
#             for id in re.findall(r"op-\d+", line):
#                 if id not in kept:
#                     lost[id] = ("failed: " if result.failed else "done: ") + line
#     return "\n".join([summary, *dict.fromkeys(lost.values())])
# ```
#
# （`dict.fromkeys` 去掉重复的行：一行里可能有两个 id。）
#
# </details>
#
# 拿你的 `repair` 去修 BAD，再问一次管账程序（`repair` 还没写好，就照旧付两次）：

# %% repaired [markdown] lang="en"
# <details><summary>Answer</summary>
#
# ```python
# def repair(summary, messages):
#     kept, lost = re.findall(r"op-\d+", summary), {}
#     for result in results(messages):
#         for line in result.text.splitlines():
#             for id in re.findall(r"op-\d+", line):
#                 if id not in kept:
#                     lost[id] = ("failed: " if result.failed else "done: ") + line
#     return "\n".join([summary, *dict.fromkeys(lost.values())])
# ```
#
# (`dict.fromkeys` drops what is there twice: one line may name two ids.)
#
# </details>
#
# Let your `repair` mend BAD, and ask the bookkeeper once more (while `repair` is not written, there are two payments as
# before):

# %% repaired-run
record(fresh("mended"))
repaired = resume(JsonlStore("mended"), "payment")
mended = repair(BAD, hidden) or BAD
compact(repaired, whole.start, whole.end, ScriptedSummarizer([mended]))
ask(repaired, AGAIN, Bookkeeper(), "mended")
print(payments("mended"))

# %% think-ten [markdown] lang="zh"
# ## 思考题
#
# **教材的思考题 10（★★★）：怎样判断一种压缩策略省了 token，又没有伤到任务的完成和安全规则？**
# 给 BAD 添上那一行，六项检查还会发现什么？

# %% think-ten [markdown] lang="en"
# ## Questions to think about
#
# **Question 10 of the chapter (★★★): how to judge that a compaction strategy saves tokens without hurting task completion and
# safety rules?** With that one line added to BAD, what do the six checks still find?

# %% mended-checks
proof = next(it.text for it in results(hidden) if "op-0001" in it.text)
six_checks(log, whole.seqs, bad=BAD, mended=BAD + "\ndone: " + proof)

# %% think-more [markdown] lang="zh"
# <details><summary>参考答案</summary>
#
# 省了多少好办：同一段历史，前后各数一遍，用真实的分词器，或者服务商报的用量（第一张 `size_table`；估算会差一倍）。
# 没伤到才难：一次修好一个操作 id，其余的毛病还在（上一格）。要有一组固定的会话，每个都带着答案：禁令、更正、
# 未完成的事、操作 id、失败；对每个会话跑六项检查，再在同样的问题上比行为，尤其是“会不会再做一遍”（付了两次的那一格）
# 和“会不会做禁止的事”。安全规则丢一条就算不合格，不能拿省下的 token 去抵；其余的看完成率，和不压缩的那一组比。
# 检查会漏、会误报（三道难题的那张表），所以还要抽样由人看，并且留着日志：事后发现摘要错了，原文还在，六个问题都答得出来。
#
# </details>

# %% think-more [markdown] lang="en"
# <details><summary>An answer</summary>
#
# What is saved is easy: count the same history before and after, with a real tokenizer or the usage that the provider reports
# (the first `size_table`; the estimate may be off by a factor of two). That nothing is hurt is the hard part: mending one id
# left every other fault where it was (the cell above). Take a fixed set of sessions with known answers: prohibitions,
# corrections, open tasks, operation ids, failures. Run the six checks on each, then compare behaviour on the same questions,
# above all whether something is done again (the cell that pays twice) and whether something forbidden is done. One lost safety
# rule fails the strategy, and no saving makes up for it; for the rest compare the rate of completed tasks with that of the same
# set uncompacted. Checks miss things and raise false alarms (the table of hard cases), so a person reads a sample as well. And
# keep the log: when a summary turns out wrong, the original is there, and the six questions have answers.
#
# </details>

# %% recap [markdown] lang="zh"
# ## 小结
#
# - 压缩只换模型读到的，日志一条不少：四个事件记下为什么、换了哪段、谁写的、怎样结束，失败的也记。
# - 先修剪、转存，那是精确的；不够再摘要，摘要选了什么就只剩什么。
# - 摘要的好坏要用检查和行为来判断；外面的操作还要有幂等键，光靠摘要不够。

# %% recap [markdown] lang="en"
# ## Recap
#
# - A compaction changes what the model reads, and the log loses nothing: four events say why, which range, by whom and how it
#   ended, failures too.
# - Prune and spill first, for they are exact; summarise when that is not enough, and know that only what was chosen is left.
# - Judge a summary by checks and by behaviour; and give outside operations an idempotency key, for a summary is not enough.
