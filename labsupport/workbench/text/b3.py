"""Words of lab B3: pure projections."""

WORDS = {
    "b3_slider": {"zh": "seq 水位线", "en": "watermark"},
    "b3_label": {"zh": "同一水位线上的几个视图", "en": "Several views at one watermark"},
    "b3_views": {"zh": "投影", "en": "Projections"},
    "b3_event": {"zh": "事件：{type}", "en": "event: {type}"},
    "b3_view": {"zh": "视图", "en": "view"},
    "b3_before": {"zh": "这个事件之前", "en": "before it"},
    "b3_event_was": {"zh": "事件的作用", "en": "the event"},
    "b3_changed": {"zh": "变了", "en": "changed"},
    "b3_inside": {"zh": "只变了内部", "en": "inside only"},
    "b3_same": {"zh": "同一对象", "en": "same object"},
    "b3_passed": {"zh": "不读", "en": "not read"},
    "b3_failed": {"zh": "停了", "en": "stopped"},
    "b3_changes": {"zh": "到这里变了 {n:,} 次，整份日志共 {of:,} 次", "en": "changes so far: {n:,} of {of:,}"},
    "b3_key_changed": {"zh": "变了，通知监听者", "en": "changed, listeners are told"},
    "b3_key_inside": {"zh": "状态变了，视图看不出来", "en": "its state only, not its view"},
    "b3_key_same": {"zh": "读了，还是同一个对象", "en": "read, same object"},
    "b3_key_passed": {"zh": "不是它读的类型", "en": "not its type"},
    "b3_key_lane": {"zh": "刻度：让它变化的事件", "en": "ticks: what changes it"},
    "b3_say_at": {"zh": "截至 seq **{seq}**（{type}）。", "en": "As of seq **{seq}** ({type}): "},
    "b3_say_changed": {"zh": "变了：{keys}", "en": "changed: {keys}"},
    "b3_say_inside": {"zh": "只变了内部：{keys}", "en": "changed inside only: {keys}"},
    "b3_say_same": {"zh": "读了，还是同一对象：{keys}", "en": "read, and still the same object: {keys}"},
    "b3_say_passed": {"zh": "不读这种事件：{keys}", "en": "do not read this type: {keys}"},
    "b3_say_failed": {"zh": "已经停了：{keys}", "en": "stopped: {keys}"},
    "b3_say_next": {"zh": "；", "en": "; "},
    "b3_say_end": {"zh": "。", "en": "."},
    "b3_col_event": {"zh": "刚记下的事件", "en": "just logged"},
    "b3_col_step": {"zh": "进行中的步骤", "en": "open step"},
    "b3_col_step_at": {"zh": "步骤截至", "en": "step as of"},
    "b3_col_calls": {"zh": "调用", "en": "calls"},
    "b3_col_calls_at": {"zh": "调用截至", "en": "calls as of"},
    "b3_col_ever": {"zh": "真有过这样的时刻吗", "en": "was it ever so?"},
    "b3_never": {"zh": "从来没有", "en": "never"},
    "b3_was": {"zh": "有", "en": "yes"},
    "b3_case": {"zh": "{log}，事件 {seq}（{type}）", "en": "event {seq} ({type}) of {log}"},
    "b3_log_begun": {"zh": "刚开始的轮次", "en": "a turn that has just begun"},
    "b3_log_step": {"zh": "有一步的轮次", "en": "a turn with a step"},
    "b3_log_step_ended": {"zh": "一步已经结束的轮次", "en": "a turn whose step has ended"},
    "b3_log_ended": {"zh": "正常结束的轮次", "en": "a turn that was completed"},
    "b3_log_aborted": {"zh": "在步骤中取消的轮次", "en": "a turn that was aborted within a step"},
    "b3_log_second": {"zh": "有第二轮的日志", "en": "a log with a second turn"},
    "b3_log_answer": {"zh": "两轮都没有调用的日志", "en": "a log of two turns without calls"},
    "b3_log_steps": {"zh": "一轮两步、每步一个调用", "en": "a turn of two steps, each with a call"},
    "b3_log_bare": {"zh": "一个失败了、没有写 error 的调用", "en": "a call that failed, without an error beside its result"},
    "b3_log_works": {"zh": "一个成功的调用", "en": "a call that succeeded"},
    "b3_log_fails": {"zh": "一个失败的调用", "en": "a call that failed"},
    "b3_log_unknown": {"zh": "一个结局未知的调用", "en": "a call whose outcome is unknown"},
    "b3_log_two": {"zh": "一个结局未知、一个未开始的调用", "en": "two calls, one unknown and one not started"},
    "b3_log_rewritten": {"zh": "结果后来被改写的调用", "en": "a call whose result was rewritten"},
    "b3_log_rewritten_later": {"zh": "下一轮才改写上一轮结果的日志",
                               "en": "a log in which the next turn rewrites a result of the one before"},
    "b3_log_again": {"zh": "两轮用了同一个 id 的日志", "en": "a log whose two turns use the same id"},
    "b3_log_random": {"zh": "随机日志 {seed}", "en": "random log {seed}"},
    "b3_async": {
        "zh": "{case}：你的函数是异步的，它给出的不是状态，而是一样要等的东西。去掉 async。",
        "en": "On {case}: your function is asynchronous and gives something to wait for, not a state. Take async away.",
    },
    "b3_none": {
        "zh": "{case}：你的函数什么也没有返回。什么也没变的时候，返回 state 本身。",
        "en": "On {case}: your function returns nothing. When nothing changes, return the state itself.",
    },
    "b3_mutates": {
        "zh": "{case}：你改动了收到的 state。旧状态也许还有人拿着，要返回一个新的：{{**state, ...}}。",
        "en": "On {case}: you change the state that you were given. Somebody may still hold it: return a new one, "
              "{{**state, ...}}.",
    },
    "b3_no_json": {
        "zh": "{case}：状态里有存不成 JSON 的值，它就没法缓存。",
        "en": "On {case}: the state holds a value that JSON does not carry, so it cannot be cached.",
    },
    "b3_new_object": {
        "zh": "{case}：什么也没变，你却返回了一个新对象，监听者会白白收到一次通知。返回 state 本身。",
        "en": "On {case}: nothing changes, and you return a new object: every listener is told for nothing. Return the state "
              "itself.",
    },
    "b3_impure": {
        "zh": "{case}：同样的 state、同样的事件，第二次的答案不一样，重放就对不上。答案只能取决于这两样。",
        "en": "On {case}: the same state and the same event give another answer the second time, and a replay will differ. "
              "Let nothing else decide.",
    },
    "b3_names": {
        "zh": "{case}：状态应当是 {expected}，你的是 {found}，名字对不上。",
        "en": "On {case}: the state should be {expected}; yours is {found}, with other names.",
    },
    "b3_differs": {
        "zh": "{case}：状态应当是 {expected}，你的是 {found}。",
        "en": "On {case}: the state should be {expected}; yours is {found}.",
    },
    "b3_steps_kept": {
        "zh": "{case}：新的一轮从 0 步数起，前一轮的步数不要留着。",
        "en": "On {case}: a new turn counts its steps from 0; do not keep those of the turn before.",
    },
    "b3_steps_at_end": {
        "zh": "{case}：步数在 step/start 时加一，step/end 时不再加。",
        "en": "On {case}: a step is counted at step/start, not at step/end.",
    },
    "b3_step_left": {
        "zh": "{case}：这时没有进行中的步骤，step 应当是 None。",
        "en": "On {case}: no step is open any more: step is None.",
    },
    "b3_reason": {
        "zh": "{case}：一轮为什么结束，写在 data[\"reason\"][\"kind\"] 里，不一定是 completed。",
        "en": "On {case}: data[\"reason\"][\"kind\"] says why the turn ended; not every turn was completed.",
    },
    "b3_reason_whole": {
        "zh": "{case}：status 是 data[\"reason\"][\"kind\"] 里的那个词，不是整个 reason；应当是 {expected}，你的是 {found}。",
        "en": "On {case}: status is the word in data[\"reason\"][\"kind\"], not the whole reason; it should be {expected}; "
              "yours is {found}.",
    },
    "b3_old_calls": {
        "zh": "{case}：新的一轮要清空 calls，同一个 id 在这里是另一个调用。",
        "en": "On {case}: a new turn begins without calls: the same id is another call here.",
    },
    "b3_not_requested": {
        "zh": "{case}：助手的消息里每个 tool-call 块都是一个 requested 的调用，以它的 id 为键；"
              "应当是 {expected}，你的是 {found}。",
        "en": "On {case}: each tool-call block of the message is a call that was requested, under its id; it should be "
              "{expected}; yours is {found}.",
    },
    "b3_calls_lost": {
        "zh": "{case}：这一轮前面的调用要留着，新消息只往里添。应当是 {expected}，你的是 {found}。",
        "en": "On {case}: earlier calls of the turn stay; a message only adds its own. It should be {expected}; yours is "
              "{found}.",
    },
    "b3_not_started": {
        "zh": "{case}：工具开始运行了，这个调用变成 started，别的调用不动。应当是 {expected}，你的是 {found}。",
        "en": "On {case}: the tool starts, and its call becomes started, no other does. It should be {expected}; yours is "
              "{found}.",
    },
    "b3_twice": {
        "zh": "{case}：这个结果是改写，不是又一次回答，你把它数了两遍。已经有结局的调用，不再变。",
        "en": "On {case}: a result is rewritten, not answered once more, and you count it twice. A call that has its outcome "
              "keeps it.",
    },
    "b3_unknown_failed": {
        "zh": "{case}：你把结局未知算成了失败。没有人看见它失败；错误码 TOOL_OUTCOME_UNKNOWN 说的是 unknown。",
        "en": "On {case}: you take an unknown outcome for a failure. Nobody saw it fail: the code TOOL_OUTCOME_UNKNOWN says "
              "unknown.",
    },
    "b3_failed_succeeded": {
        "zh": "{case}：结果块里 isError 为 true，你却算它成功了。",
        "en": "On {case}: isError is true in the block of the result, and you count a success.",
    },
    "b3_failed_bare": {
        "zh": "{case}：这个结果没有写 error，可结果块里 isError 为 true，它失败了。有没有 error 不说明什么。",
        "en": "On {case}: this result has no error, and isError is true in its block: it failed. Whether there is an error "
              "says nothing.",
    },
    "b3_not_started_failed": {
        "zh": "{case}：TOOL_NOT_STARTED 按 isError 算失败，只有 TOOL_OUTCOME_UNKNOWN 是 unknown。",
        "en": "On {case}: TOOL_NOT_STARTED has isError and is a failure; only TOOL_OUTCOME_UNKNOWN is unknown.",
    },
}
