"""Words of lab A2: the budget slider, the two rules, characters beside tokens, and the check of its exercise."""

WORDS = {
    # the budget picture
    "a2_label": {"zh": "字符预算保留和舍去的单元", "en": "Units kept and dropped by a character budget"},
    "a2_col_unit": {"zh": "单元", "en": "unit"},
    "a2_col_role": {"zh": "角色", "en": "role"},
    "a2_col_message": {"zh": "消息（旧的在上）", "en": "message, oldest first"},
    "a2_col_chars": {"zh": "字符", "en": "chars"},
    "a2_col_sum": {"zh": "累计 ↑", "en": "sum ↑"},
    "a2_col_tokens": {"zh": "token", "en": "tokens"},
    "a2_col_state": {"zh": "状态", "en": "state"},
    "a2_characters": {"zh": "{n:,} 个字符", "en": "{n:,} characters", "one": "{n:,} character"},
    "a2_budget_at": {"zh": "预算 {budget:,}", "en": "budget {budget:,}"},
    "a2_state_kept": {"zh": "保留", "en": "kept"},
    "a2_state_dropped": {"zh": "舍去", "en": "dropped"},
    "a2_state_over": {"zh": "超出 {more:,}", "en": "over by {more:,}"},
    "a2_state_pinned": {"zh": "保留，固定", "en": "kept, pinned"},
    "a2_state_pinned_only": {"zh": "只留固定的", "en": "pinned one only"},
    "a2_state_orphan": {"zh": "保留，孤儿结果", "en": "kept, orphan"},
    "a2_state_lost": {"zh": "调用被裁掉", "en": "call cut off"},
    "a2_state_none": {"zh": "–", "en": "–"},
    "a2_earlier": {"zh": "更早的 {n:,} 条消息", "en": "{n:,} earlier messages", "one": "{n:,} earlier message"},
    "a2_later": {"zh": "更新的 {n:,} 条消息", "en": "{n:,} later messages", "one": "{n:,} later message"},
    "a2_key_kept": {"zh": "实心：保留（颜色表示角色）", "en": "solid: kept (the colour is the role)"},
    "a2_key_off": {"zh": "斜纹加删除线：舍去", "en": "hatched and struck through: dropped"},
    "a2_key_line": {"zh": "预算线；从最新一条往上累计", "en": "budget line; the sum runs from the newest message upwards"},
    "a2_key_unit": {"zh": "括号：一个单元，整个留下或整个裁掉", "en": "bracket: one unit, kept or dropped whole"},
    "a2_key_tokens": {"zh": "token：DeepSeek 分词器，数同一行文本", "en": "tokens: DeepSeek tokenizer over the same line"},
    "a2_join": {"zh": "", "en": " "},
    "a2_keeps": {
        "zh": "预算 **{budget:,}** 个字符，保留 **{units:,} 个单元中的 {kept:,} 个**（{every:,} 条消息中的 {messages:,} 条），"
              "共 {cost:,} 个字符、{tokens:,} 个 token。",
        "en": "A budget of **{budget:,}** characters keeps **{kept:,} of {units:,} units** ({messages:,} of {every:,} "
              "messages): {cost:,} characters, {tokens:,} tokens.",
    },
    "a2_stops": {
        "zh": "还剩 {left:,} 个，单元 {unit:,} 还差 {more:,} 个，取到这里为止。",
        "en": "{left:,} are left; unit {unit:,} needs {more:,} more, so the walk stops there.",
    },
    "a2_all": {"zh": "全部装下，还剩 {left:,} 个。", "en": "Everything fits; {left:,} are left."},
    "a2_pinned": {
        "zh": "另外固定了第一条用户消息，它的字符已计入。",
        "en": "The first user message is pinned as well, and counted.",
    },
    "a2_lost": {
        "zh": "**{n:,} 个结果失去了调用。**",
        "en": "**{n:,} results have lost their call.**",
        "one": "**{n:,} result has lost its call.**",
    },
    "a2_below_newest": {
        "zh": "预算连最新的单元都装不下：单元 {unit:,} 要 **{needed:,}** 个字符，预算只有 **{budget:,}**。"
              "什么都不发送；预算至少要 {needed:,}。",
        "en": "the budget cannot hold even the newest unit: unit {unit:,} takes **{needed:,}** characters, the budget is "
              "**{budget:,}**. Nothing is sent; the budget must be at least {needed:,}.",
    },
    "a2_below_newest_and_pin": {
        "zh": "预算装不下最新的单元 {unit:,} 加上固定的第一条用户消息：一共要 **{needed:,}** 个字符，预算只有 **{budget:,}**。"
              "什么都不发送；预算至少要 {needed:,}。",
        "en": "the budget cannot hold the newest unit, {unit:,}, and the pinned first user message: together they take "
              "**{needed:,}** characters, the budget is **{budget:,}**. Nothing is sent; the budget must be at least "
              "{needed:,}.",
    },
    "a2_no_messages": {
        "zh": "一条消息也没有：预算再大，也没有内容可发。先记下用户的问题，再裁剪。",
        "en": "there are no messages: no budget, however large, leaves anything to send. Record the user's question "
              "first, then trim.",
    },
    "a2_no_length": {
        "zh": "第 {index} 条消息（从 0 数起）写不成 JSON，算不出它有多少字符，所以什么也裁不了。修好或去掉这一条，再画一次。",
        "en": "message {index} (counted from 0) cannot be written as JSON, so it has no length and nothing can be "
              "trimmed. Mend it or leave it out, then draw again.",
    },
    # its controls
    "a2_history": {"zh": "会话", "en": "session"},
    "a2_budget": {"zh": "预算（字符）", "en": "budget (characters)"},
    "a2_rule": {"zh": "规则", "en": "rule"},
    "a2_rule_closed": {"zh": "封闭", "en": "closed"},
    "a2_rule_chapter": {"zh": "教材", "en": "chapter"},
    "a2_pin": {"zh": "固定第一条用户消息", "en": "pin the first user message"},
    # the two rules
    "a2_rules_label": {"zh": "教材规则与封闭规则", "en": "Chapter rule and closed rule"},
    "a2_rules_chapter": {"zh": "教材规则", "en": "Chapter rule"},
    "a2_rules_chapter_note": {"zh": "结果找最近的调用", "en": "a result finds its nearest call"},
    "a2_rules_closed": {"zh": "封闭规则", "en": "Closed rule"},
    "a2_rules_closed_note": {"zh": "从哪里裁都不拆开一对", "en": "no cut splits a pair"},
    "a2_rules_same": {
        "zh": "预算 **{budget:,}**：两种规则保留同样的 **{kept:,}** 条消息。",
        "en": "Budget **{budget:,}**: both rules keep the same **{kept:,}** messages.",
    },
    "a2_rules_differ": {
        "zh": "预算 **{budget:,}**：教材规则保留 **{chapter:,}** 条消息，封闭规则保留 **{closed:,}** 条。",
        "en": "Budget **{budget:,}**: the chapter rule keeps **{chapter:,}** messages, the closed rule **{closed:,}**.",
    },
    "a2_rules_lost": {
        "zh": "教材规则留下了 {ids} 的结果，却裁掉了它的调用；封闭规则两样都留或都不留。",
        "en": "The chapter rule keeps the result of {ids} and cuts off its call; the closed rule keeps both or neither.",
    },
    "a2_rules_refused": {
        "zh": "封闭规则拒绝发送：它最新的单元要 {needed:,} 个字符。",
        "en": "The closed rule refuses to send anything: its newest unit needs {needed:,} characters.",
    },
    "a2_rules_both_refused": {
        "zh": "预算 **{budget:,}** 连最新的单元都装不下，两种规则都什么也不发送。",
        "en": "Budget **{budget:,}** does not hold even the newest unit: neither rule sends anything.",
    },
    # characters and tokens
    "a2_density_label": {"zh": "字符与真实 token", "en": "Characters beside real tokens"},
    "a2_density_text": {"zh": "文本", "en": "text"},
    "a2_density_ratio": {"zh": "字符/token", "en": "chars/token"},
    "a2_density_chinese": {"zh": "中文", "en": "Chinese"},
    "a2_density_english": {"zh": "英文", "en": "English"},
    "a2_density_json": {"zh": "JSON", "en": "JSON"},
    "a2_density_python": {"zh": "Python", "en": "Python"},
    "a2_density_sentence": {
        "zh": "字符一样多，token 不一样多：同样 1,000 个字符，{most_name}是 **{most:,}** 个 token，"
              "{least_name}是 **{least:,}** 个。",
        "en": "Equal characters are not equal tokens: 1,000 characters like these are **{most:,}** tokens of {most_name}, but "
              "**{least:,}** of {least_name}.",
    },
    # the check of the exercise
    "a2_law_not_a_list": {
        "zh": "对 [{case}]，你返回了 {kind}。请返回一个列表，里面是下标（int）；没有问题时是空列表。",
        "en": "For [{case}] you returned a {kind}. Return a list of indexes (int); an empty one when all is well.",
    },
    "a2_law_no_value": {
        "zh": "对 [{case}]，你的函数没有返回值（得到的是 None）：要用 return 返回列表，print 出来的不算；没有问题时是空列表。",
        "en": "For [{case}] your function gave nothing back (None): return the list, printing it is not enough; an empty one "
              "when all is well.",
    },
    "a2_law_ids": {
        "zh": "对 [{case}]，你返回了 {got}，这是调用的 id。请返回结果在列表里的下标：id 可能重复，下标不会。",
        "en": "For [{case}] you returned {got}: those are the ids of calls. Return where the results stand in the list: an id "
              "may come twice, an index cannot.",
    },
    "a2_law_outside": {
        "zh": "[{case}]：你的答案里有一个下标不在列表里。这里有 {n} 条消息，下标从 0 数起，最大是消息数减 1。",
        "en": "[{case}]: your answer has an index outside the list. There are {n} messages here; indexes count from 0, so "
              "the last is one less.",
        "one": "[{case}]: your answer has an index outside the list. There is {n} message here, and its index is 0.",
    },
    "a2_law_silent": {
        "zh": "[{case}]：下标 {index} 的结果没有调用，你的函数没有发现。",
        "en": "[{case}]: the result at index {index} has no call, and your function does not report it.",
    },
    "a2_law_later": {
        "zh": "[{case}]：下标 {index} 的结果前面没有调用，调用在它后面才出现。先有调用，后有结果。",
        "en": "[{case}]: no call stands before the result at index {index}; it comes only after it. A call has to stand before "
              "its result.",
    },
    "a2_law_wrong_role": {
        "zh": "[{case}]：你把下标 {index} 也报了出来，它不是工具结果。只有工具结果才需要调用。",
        "en": "[{case}]: you report index {index} as well, which is no tool result. Only results need a call.",
    },
    "a2_law_first_call": {
        "zh": "[{case}]：下标 {index} 的结果有调用，是那条助手消息里的第二个调用。一条消息可以有几个调用，每一个都要看。",
        "en": "[{case}]: the result at index {index} has its call: the second call of that assistant message. A message may "
              "make several calls; look at all of them.",
    },
    "a2_law_neighbour": {
        "zh": "[{case}]：下标 {index} 的结果有调用，只是不紧挨着它，中间隔着别的消息。要往前一直找。",
        "en": "[{case}]: the result at index {index} has its call, though not right before it: other messages stand "
              "between. Look all the way back.",
    },
    "a2_law_newest_only": {
        "zh": "[{case}]：下标 {index} 的结果有调用，在更早的一条助手消息里。不能只看最近一条发出调用的消息。",
        "en": "[{case}]: the result at index {index} has its call, in an earlier assistant message. The latest message with "
              "calls is not the only one to look at.",
    },
    "a2_law_second_result": {
        "zh": "[{case}]：下标 {index} 的结果有调用，只是这个调用前面已经有过一个结果。用过的 id 也要留着，别删。",
        "en": "[{case}]: the result at index {index} has its call; the call just had a result before. Keep an id after its "
              "first result.",
    },
    "a2_law_other": {
        "zh": "[{case}]：应当是 {expected}，你的函数返回 {got}。",
        "en": "[{case}]: {expected} is right, your function returns {got}.",
    },
}
