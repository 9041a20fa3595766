"""Words that more than one lab shows."""

WORDS = {
    "error": {"zh": "错误：", "en": "Error: "},
    "role_user": {"zh": "用户", "en": "user"},
    "role_assistant": {"zh": "助手", "en": "assistant"},
    "role_call": {"zh": "调用", "en": "call"},
    "role_result": {"zh": "结果", "en": "result"},
    "role_structure": {"zh": "结构", "en": "structure"},
    "messages": {"zh": "{n:,} 条消息", "en": "{n:,} messages", "one": "{n:,} message"},
    "picture_failed": {"zh": "这张图画不出来", "en": "This picture cannot be drawn"},
    "check_not_started": {
        "zh": "还没有开始：把“你的代码”那一行换成你的答案，先运行那一格，再运行这一格。",
        "en": "Not started: put your answer where it says “your code”, run that cell, then run this one again.",
    },
    "check_correct": {"zh": "✓ 正确。", "en": "✓ Correct."},
    "check_raised": {
        "zh": "{case}：你的代码抛出了 {error}。",
        "en": "On {case} your code raised {error}.",
    },
    "check_line": {"zh": "（在你那一格的第 {line} 行）", "en": " (line {line} of your cell)"},
    "menu_back": {"zh": "上一项：{menu}", "en": "previous: {menu}"},
    "menu_on": {"zh": "下一项：{menu}", "en": "next: {menu}"},
    "guess_open": {"zh": "你没有预测；结果是 {found}。", "en": "No prediction; it is {found}."},
    "guess_right": {"zh": "你预测对了：{found}。", "en": "As you predicted: {found}."},
    "guess_other": {"zh": "你预测的是 {guess}，结果是 {found}。", "en": "You predicted {guess}; it is {found}."},
}
