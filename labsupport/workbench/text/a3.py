"""Words of lab A3: two states."""

WORDS = {
    "a3_slider": {"zh": "请求", "en": "request"},
    "a3_label": {"zh": "文件与请求", "en": "The file beside the request"},
    "a3_file": {"zh": "文件", "en": "File"},
    "a3_file_note": {"zh": "已写 {n:,} 行", "en": "{n:,} lines written", "one": "{n:,} line written"},
    "a3_request": {"zh": "请求 {at}", "en": "Request {at}"},
    "a3_request_note": {"zh": "发送 {n:,} 条消息", "en": "{n:,} messages sent", "one": "{n:,} message sent"},
    "a3_col_line": {"zh": "行", "en": "line"},
    "a3_col_role": {"zh": "角色", "en": "role"},
    "a3_col_message": {"zh": "消息", "en": "message"},
    "a3_col_chars": {"zh": "字符", "en": "chars"},
    "a3_col_state": {"zh": "状态", "en": "state"},
    "a3_sent": {"zh": "发送", "en": "sent"},
    "a3_not_sent": {"zh": "不发送", "en": "not sent"},
    "a3_question_not_sent": {"zh": "问题，不发送", "en": "question, not sent"},
    "a3_later": {"zh": "还没有写", "en": "not written yet"},
    "a3_key_not_sent": {"zh": "不发送：删除线加斜纹；文件里仍然有", "en": "not sent: struck, hatched, still in the file"},
    "a3_key_now": {"zh": "蓝线：发出请求时文件写到这里", "en": "blue line: the end of the file at this request"},
    "a3_key_later": {"zh": "○ 还没有写", "en": "○ not written yet"},
    "a3_key_unit": {"zh": "细线：一个单元从这里开始", "en": "thin line: a unit begins"},
    "a3_glue": {"zh": "", "en": " "},
    "a3_at": {
        "zh": "请求 **{at}/{of}**，预算 **{budget:,}** 个字符：",
        "en": "Request **{at} of {of}**, budget **{budget:,}** characters:",
    },
    "a3_at_free": {"zh": "请求 **{at}/{of}**，没有预算：", "en": "Request **{at} of {of}**, no budget:"},
    "a3_all": {
        "zh": "文件里有 **{n:,}** 行（{chars:,} 个字符），**全部**发给模型。这一次两种状态相同。",
        "en": "the file holds **{n:,}** lines ({chars:,} characters), and the model is sent **all** of them. This time the two "
              "states are alike.",
        "one": "the file holds **{n:,}** line ({chars:,} characters), and the model is sent it. This time the two states are "
               "alike.",
    },
    "a3_part": {
        "zh": "文件里有 **{lines:,}** 行（{chars:,} 个字符），发给模型的只是最新的 **{n:,}** 行（{sent_chars:,} 个字符）。",
        "en": "the file holds **{lines:,}** lines ({chars:,} characters), the model is sent only the newest **{n:,}** "
              "({sent_chars:,} characters).",
    },
    "a3_left": {
        "zh": "前 {n:,} 行不发送，但还在文件里。",
        "en": "Lines 1 to {n:,} stay in the file.",
        "one": "Line 1 stays in the file.",
    },
    "a3_left_question": {
        "zh": "前 {n:,} 行不发送，但还在文件里，**包括正在回答的问题**（第 {line:,} 行）。",
        "en": "Lines 1 to {n:,} stay in the file, **even the question being answered** (line {line:,}).",
        "one": "Line 1 stays in the file, and it is **the very question being answered**.",
    },
    "a3_no_run": {
        "zh": "你的命令行运行完了，却没有返回结果：要 return run_agent(…) 给出的值。",
        "en": "Your command line ran, but gave nothing back: return what run_agent(…) gives.",
    },
    "a3_not_called": {
        "zh": "命令行没有调用 run_agent：解析出选项以后，还要 return run_agent(…)。",
        "en": "The command line never calls run_agent: once the options are parsed, return run_agent(…).",
    },
    "a3_other_model": {
        "zh": "命令行没有问交给它的模型：要写 run_agent(args.prompt, model, …)，用参数 model，不要另找模型或另一个命令行。",
        "en": "The command line never asks the model that it was given: call run_agent(args.prompt, model, …), with the "
              "argument model, not with another model and not through another command line.",
    },
    "a3_case_plain": {"zh": "不带选项运行", "en": "a run without options"},
    "a3_case_options": {"zh": "带 {options} 运行", "en": "a run with {options}"},
    "a3_refused_plain": {
        "zh": "不带任何选项时，命令行就退出了：两个选项都要可以省略，并且要写 parser.parse_args(argv)。",
        "en": "Without any option the command line just exits: both options may be left out, and it has to be "
              "parser.parse_args(argv).",
    },
    "a3_refused": {
        "zh": "带 {options} 运行时，命令行就退出了：它不认识这个选项，或者少了另一个选项就不肯运行。两个选项都用 "
              "parser.add_argument 登记，都要可以省略。",
        "en": "A run with {options} just exits: the command line does not know this option, or does not run without the other. "
              "Register both with parser.add_argument, as options that may be left out.",
    },
    "a3_plain": {
        "zh": "两个选项都没给时，不应当写文件，你的命令行却写了：--session 没给就是 None，照样传给循环。",
        "en": "Without the two options no file is written, but yours writes one: without --session its value is None, to be "
              "passed on as it is.",
    },
    "a3_plain_trimmed": {
        "zh": "两个选项都没给时，应当把完整的历史发给模型，你的命令行却少发了消息：没有预算就不裁剪。",
        "en": "Without the two options the model is sent the whole history, but yours sends fewer messages: no budget, "
              "no trimming.",
    },
    "a3_session_lost": {
        "zh": "给了 --session session.jsonl，运行之后却没有这个文件：选项解析了，但没有传给循环。",
        "en": "With --session session.jsonl there is no such file after the run: the option was parsed, but not passed on.",
    },
    "a3_swapped": {
        "zh": "只给 --session 时，循环说参数的值不对：文件名传给了别的参数，看看是不是传反了。",
        "en": "With --session alone the loop refuses a value: the name of the file arrives in another argument. Are they "
              "swapped?",
    },
    "a3_file_other": {
        "zh": "用同一个 --session 运行 {runs} 次，文件里应有 {expected} 行，实际有 {found} 行：第二次应当接着第一次写。",
        "en": "After {runs} runs with the same --session the file has {found} lines in place of {expected}: a second run goes "
              "on where the first stopped.",
    },
    "a3_budget_text": {
        "zh": "--context-max-chars 传成了文本：命令行给的都是字符串，循环要的是整数。",
        "en": "--context-max-chars arrives as text: a command line gives strings, the loop takes an integer.",
    },
    "a3_budget_lost": {
        "zh": "给了 --context-max-chars {budget}，最后一次请求却有 {sent} 个字符：预算没有传给循环。",
        "en": "With --context-max-chars {budget} the last request has {sent} characters: the budget was not passed on.",
    },
    "a3_both_lost": {
        "zh": "单独给一个选项都对，一起给时却丢了一个：两个选项应当互不影响。",
        "en": "Each option works by itself, but together one of them is lost: neither may affect the other.",
    },
}
