"""Words of lab B2: derive messages."""

WORDS = {
    "b2_why_boundary": {
        "zh": "轮次和步骤的边界：给恢复和统计用，没有内容",
        "en": "a boundary, for recovery and statistics: nothing to read",
    },
    "b2_why_chunk": {
        "zh": "流的碎片：后面的 assistant/message 里已经有全文",
        "en": "pieces of a stream; the message after them has it whole",
    },
    "b2_why_call": {
        "zh": "记下工具开始运行；调用它的那个块在助手的消息里",
        "en": "the tool started; the assistant's message already asks for it",
    },
    "b2_why_request": {
        "zh": "随请求发送，但不在消息里：配置、系统提示、工具、模型",
        "en": "sent beside the messages: config, prompt, tools, model",
    },
    "b2_why_compaction": {
        "zh": "记下一次替换：盖住哪一段，怎么做出来的",
        "en": "a note on a replacement: what it covers, how it was made",
    },
    "b2_why_other": {"zh": "只记在日志里", "en": "for the log only"},
    "b2_why_shadowed": {
        "zh": "曾经在表面上，后来由 {by} 取代",
        "en": "it was on the surface; {by} took its place",
    },
    "b2_why_empty": {"zh": "内容为空，只带用量，不成消息", "en": "no content, only usage: it gives no message"},
    "b2_why_replacement": {
        "zh": "取代 {start} 到 {end} 的节点，只给模型看",
        "en": "takes the place of the nodes {start} to {end}, for the model only",
    },
    "b2_why_user": {"zh": "用户说的话", "en": "what the user said"},
    "b2_why_injected": {"zh": "系统替用户加入的内容", "en": "put in by the system, in the user's role"},
    "b2_why_assistant": {
        "zh": "模型自己说过的话；没有其中的调用，后面的结果就成了孤儿",
        "en": "the model's own words; without its calls, results are orphans",
    },
    "b2_why_result": {"zh": "回答一个调用", "en": "answers a call"},
    "b2_case": {
        "zh": "{type}（{log}）",
        "en": "{type} ({log})",
    },
    "b2_log_question": {"zh": "用户的一句话", "en": "a user's question"},
    "b2_log_answer": {"zh": "助手的回答", "en": "an assistant's answer"},
    "b2_log_empty": {"zh": "内容为空的回答", "en": "an answer without content"},
    "b2_log_tool": {"zh": "一次工具往返", "en": "a round with a tool"},
    "b2_log_replaced": {"zh": "有替换的日志", "en": "a log with a replacement"},
    "b2_log_injected": {"zh": "系统加入的上下文", "en": "context put in by the system"},
    "b2_log_stream": {"zh": "没有消息的流", "en": "a stream without its message"},
    "b2_log_random": {"zh": "随机日志 {seed}", "en": "random log {seed}"},
    "b2_user_lost": {
        "zh": "{case}：user/message 的 data 就是消息本身，应当原样返回。",
        "en": "For {case}: the data of a user/message is the message; return it as it is.",
    },
    "b2_structure_in": {
        "zh": "{case}：这个类型不在表面上，应当返回 None；你的函数返回了内容。",
        "en": "For {case}: this type is never on the surface, so return None; yours gives something.",
    },
    "b2_answer_data": {
        "zh": "{case}：消息在 data[\"message\"] 里；data 外层的 turn、step、usage 不发给模型。",
        "en": "For {case}: the message is data[\"message\"]; turn, step and usage around it are not for the model.",
    },
    "b2_answer_lost": {
        "zh": "{case}：助手的消息要进入模型的历史，你的函数没有返回它。",
        "en": "For {case}: an assistant's message belongs to the model's history; yours does not return it.",
    },
    "b2_empty_in": {
        "zh": "{case}：content 是空列表，这个事件只带用量，应当返回 None。",
        "en": "For {case}: its content is an empty list, so it only carries usage; return None.",
    },
    "b2_call_in": {
        "zh": "{case}：调用已经在助手的消息里，模型会看到两遍；应当返回 None。",
        "en": "For {case}: the call is in the assistant's message already, and the model would see it twice; return None.",
    },
    "b2_result_lost": {
        "zh": "{case}：少了结果，模型就不知道自己的调用得到了什么。",
        "en": "For {case}: without the result the model never learns what its call gave.",
    },
    "b2_replacement_lost": {
        "zh": "{case}：这个事件用 replace 上了表面。怎么上的由表面管，派生时照样给出消息。",
        "en": "For {case}: it came onto the surface by replace. How it came there is no matter here; derive its message.",
    },
    "b2_injected_lost": {
        "zh": "{case}：它的来源不是用户，可是模型看得到它，应当返回。",
        "en": "For {case}: its source is not the user, but the model sees it; return it.",
    },
    "b2_chunk_in": {
        "zh": "{case}：碎片不进入历史；没有 assistant/message，就没有这条消息。",
        "en": "For {case}: pieces of a stream are not in the history; without an assistant/message there is no message.",
    },
}
