"""Words of lab B1: a two-step tool task."""

WORDS = {
    "b1_case": {"zh": "日志“{log}”里的结果 {seq}", "en": "the result {seq} of the log “{log}”"},
    "b1_log_two_step": {"zh": "一个调用", "en": "one call"},
    "b1_log_parallel": {"zh": "两个调用", "en": "two calls"},
    "b1_log_repeated": {"zh": "两轮用了同一个 id", "en": "one id in two turns"},
    "b1_log_not_started": {"zh": "第二轮的调用未开始", "en": "the call of turn 2 never started"},
    "b1_log_rewritten": {"zh": "改写第一轮的结果", "en": "the result of turn 1 is rewritten"},
    "b1_log_rewritten_again": {"zh": "改写过的结果又改写一次", "en": "a rewritten result is rewritten again"},
    "b1_not_a_seq": {
        "zh": "对{case}，你的函数给出的是 {kind}：要返回一个 seq（整数），没有调用时返回 None。",
        "en": "For {case} your function gives a {kind}: return a seq, which is an integer, or None where there is no call.",
    },
    "b1_simple": {
        "zh": "最简单的一份就不对：{case}，调用在 {expected}，你的函数给出 {found}。",
        "en": "The simplest log fails: for {case} the call is at {expected}, your function gives {found}.",
    },
    "b1_other_call": {
        "zh": "{case} 属于 {expected}，你的函数给出 {found}：那是另一个调用。离得最近的不一定是它的调用。",
        "en": "The call of {case} is at {expected}; {found} is another call. The nearest one need not be its own.",
    },
    "b1_other_turn": {
        "zh": "{case} 属于 {expected}，你的函数给出 {found}：那是前一轮的调用，只是 id 相同。",
        "en": "The call of {case} is at {expected}; {found} belongs to the turn before, it only has the same id.",
    },
    "b1_made_up": {
        "zh": "{case} 没有 tool/call：调用未开始。应当返回 None，你的函数给出 {found}。",
        "en": "There is no tool/call for {case}: the call never started. Return None; yours gives {found}.",
    },
    "b1_rewritten": {
        "zh": "{case} 引用的是被改写的那条结果，还要从那里再往回走一步：调用在 {expected}，你的函数给出 {found}。",
        "en": "What {case} cites is the result it rewrites; go on from there: the call is at {expected}, yours gives {found}.",
    },
    "b1_rewritten_again": {
        "zh": "{case} 要往回走不止一步：一直往回走，直到 tool/call。调用在 {expected}，你的函数给出 {found}。",
        "en": "For {case} one step back is not enough: go on until you reach a tool/call, at {expected}; yours gives {found}.",
    },
}
