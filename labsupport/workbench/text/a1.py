"""Words of lab A1, parse and load."""

WORDS = {
    # why a value is no message
    "a1_rule_record": {"zh": "值必须是对象", "en": "the record must be an object"},
    "a1_rule_object": {"zh": "{where} 必须是对象", "en": "{where} must be an object"},
    "a1_rule_role": {"zh": "{where} 必须是 user、assistant 或 tool", "en": "{where} must be user, assistant or tool"},
    "a1_rule_string": {"zh": "{where} 必须是字符串", "en": "{where} must be a string"},
    "a1_rule_boolean": {"zh": "{where} 必须是 true 或 false", "en": "{where} must be true or false"},
    "a1_rule_list": {"zh": "{where} 必须是列表", "en": "{where} must be a list"},
    "a1_rule_present": {"zh": "必须有 {where}（可以是 null）", "en": "{where} must be there (null is allowed)"},
    # why a line is no JSON: the decoder's reasons, in English word for word
    "a1_json_value": {"zh": "第 {at} 个字符处应当是一个值", "en": "expecting value, column {at}"},
    "a1_json_name": {
        "zh": "第 {at} 个字符处应当是一个键，用双引号括起来",
        "en": "expecting property name enclosed in double quotes, column {at}",
    },
    "a1_json_colon": {"zh": "第 {at} 个字符处缺少冒号", "en": "expecting ':' delimiter, column {at}"},
    "a1_json_comma": {"zh": "第 {at} 个字符处缺少逗号", "en": "expecting ',' delimiter, column {at}"},
    "a1_json_extra": {"zh": "第 {at} 个字符起是多余的内容", "en": "extra data, column {at}"},
    "a1_json_string": {
        "zh": "从第 {at} 个字符开始的字符串没有结束",
        "en": "unterminated string starting at column {at}",
    },
    "a1_json_control": {"zh": "第 {at} 个字符是不能直接写的控制字符", "en": "invalid control character at column {at}"},
    "a1_json_escape": {"zh": "第 {at} 个字符处的反斜杠转义不合规则", "en": "invalid \\escape, column {at}"},
    "a1_json_unicode": {"zh": "第 {at} 个字符处的 \\u 转义不合规则", "en": "invalid \\uXXXX escape, column {at}"},
    "a1_json_utf8": {"zh": "第 {at} 个字节不是 UTF-8（从 0 数起）", "en": "byte {at} is not UTF-8"},
    "a1_json_constant": {"zh": "{at} 不是 JSON 的值", "en": "{at} is no JSON value"},
    "a1_json_large": {"zh": "有一个数太大，双精度浮点数装不下", "en": "a number is too large for a double"},
    "a1_json_mark": {"zh": "最前面有一个字节顺序标记", "en": "a byte order mark stands in front of it"},
    # tables
    "a1_table_value": {"zh": "值", "en": "value"},
    "a1_table_verdict": {"zh": "解析结果", "en": "parse answers"},
    "a1_table_why": {"zh": "理由", "en": "why"},
    "a1_table_file": {"zh": "文件", "en": "file"},
    "a1_odd_half": {"zh": "半个 UTF-8 字符", "en": "half of a UTF-8 character"},
    "a1_odd_control": {"zh": "字符串里直接写了控制字符", "en": "a raw control character"},
    "a1_odd_cr": {"zh": "只用 CR 换行", "en": "CR alone"},
    "a1_odd_blanks": {"zh": "有一行只有空格", "en": "blanks on a line"},
    "a1_odd_array": {"zh": "一行是数组", "en": "an array"},
    "a1_odd_empty": {"zh": "有空行", "en": "empty line"},
    "a1_odd_crlf": {"zh": "用 CRLF 换行", "en": "CRLF"},
    "a1_odd_separator": {"zh": "字符串里有 U+2028", "en": "U+2028 in a string"},
    "a1_odd_emoji": {"zh": "转义写出的半个 emoji", "en": "escaped half of an emoji"},
    "a1_odd_end": {"zh": "末尾没有换行", "en": "no line break at the end"},
    # the ways to break a line; each follows "Line 2 of 4, "
    "a1_line": {"zh": "行", "en": "line"},
    "a1_breakage": {"zh": "怎么弄坏", "en": "breakage"},
    "a1_none": {"zh": "原样", "en": "as it was written"},
    "a1_half": {"zh": "截掉后半，换行还在", "en": "cut in half, line break kept"},
    "a1_torn": {"zh": "写到一半，文件到此为止", "en": "cut in half, end of the file"},
    "a1_joined": {"zh": "缺少换行", "en": "without its line break"},
    "a1_twice": {"zh": "一行里写了两遍", "en": "written twice on one line"},
    "a1_role": {"zh": "role 改成 robot", "en": "with the role robot"},
    "a1_content": {"zh": "content 改成数字", "en": "with a number as content"},
    "a1_no_input": {"zh": "一个调用没有 input", "en": "with a call that has no input"},
    "a1_null_input": {"zh": "一个调用的 input 是 null", "en": "with a call whose input is null"},
    "a1_one": {"zh": "isError 改成 1", "en": "with isError 1"},
    "a1_extra": {"zh": "多一个键 mood", "en": "with an extra key mood"},
    "a1_nan": {"zh": "多一个键，值是 NaN", "en": "with an extra key that is NaN"},
    "a1_nul": {"zh": "行尾有 NUL 字节", "en": "with NUL bytes at its end"},
    "a1_cr": {"zh": "换行前有 CR", "en": "with a CR before the line break"},
    "a1_bom": {"zh": "行首有 BOM", "en": "with a BOM in front"},
    "a1_utf8": {"zh": "有一个字节不是 UTF-8", "en": "with a byte that is not UTF-8"},
    "a1_blank": {"zh": "只剩空格", "en": "with nothing but blanks"},
    "a1_erased": {"zh": "变成空行", "en": "made an empty line"},
    # the explorer's sentence
    "a1_label": {"zh": "选一行，弄坏它，看判定", "en": "Pick a line, break it, see the verdict"},
    "a1_gap": {"zh": "", "en": " "},
    "a1_say_head": {"zh": "第 **{at}** 行（共 **{n}** 行），{breakage}：", "en": "Line **{at}** of **{n}**, {breakage}: "},
    "a1_say_same": {
        "zh": "第 **{at}** 行（共 **{n}** 行）没有可以这样改的地方（{breakage}），保持原样：",
        "en": "Line **{at}** of **{n}** has nothing that could be changed so ({breakage}) and stays as it is: ",
    },
    "a1_say_message": {"zh": "是 JSON，也是消息（{kind}）。", "en": "it is JSON and a message ({kind})."},
    "a1_say_record": {"zh": "是 JSON，但不是消息：{why}。", "en": "it is JSON, but no message: {why}."},
    "a1_say_text": {"zh": "不是 JSON，轮不到解析。", "en": "it is not JSON, so nothing is parsed."},
    "a1_say_empty": {"zh": "空行里没有消息，跳过。", "en": "an empty line holds no message and is passed over."},
    "a1_say_loaded": {
        "zh": "load_session 返回 **{whole}** 条消息中的 **{n}** 条。",
        "en": "load_session returns **{n}** of **{whole}** messages.",
    },
    "a1_say_raised": {
        "zh": "load_session 在第 **{line}** 行抛出 {error}。",
        "en": "load_session raises {error} at line **{line}**.",
    },
    "a1_lost_nothing": {"zh": "什么也没有丢。", "en": "Nothing is lost."},
    "a1_lost_value": {
        "zh": "有一条消息和写下时不一样了，而且没有任何报错。",
        "en": "One message is not what was written, and no error says so.",
    },
    "a1_lost_message": {
        "zh": "少了 **{n}** 条消息，而且没有任何报错。",
        "en": "**{n}** messages are lost, and no error says so.",
        "one": "**{n}** message is lost, and no error says so.",
    },
    "a1_lost_key": {
        "zh": "消息里没有 {keys} 这个键；它只留在文件里。",
        "en": "The message does not hold the key {keys}; only the file does.",
    },
    "a1_lost_all": {
        "zh": "修好这一行之前，**{n}** 条消息一条也恢复不了。",
        "en": "None of the **{n}** messages comes back until that line is repaired.",
    },
    "a1_lost_tail": {
        "zh": "把文件截到 **{offset}** 字节，前面的 **{n}** 条就能恢复；这半行和还没写的都没有了。",
        "en": "Cut the file to **{offset}** bytes and the **{n}** messages before it load; the half line is lost, and what was "
              "not written yet.",
        "one": "Cut the file to **{offset}** bytes and the **{n}** message before it loads; the half line is lost, and what "
               "was not written yet.",
    },
    "a1_lost_tail_only": {
        "zh": "前面没有消息；截到 **{offset}** 字节，就是空的历史。",
        "en": "No message stands before it; cut to **{offset}** bytes, the file is an empty history.",
    },
    # the explorer's tables
    "a1_col_line": {"zh": "行", "en": "line"},
    "a1_col_holds": {"zh": "这一行是", "en": "what it holds"},
    "a1_col_text": {"zh": "开头的字符", "en": "how it begins"},
    "a1_col_parse": {"zh": "解析", "en": "parse"},
    "a1_col_load": {"zh": "加载", "en": "load"},
    "a1_holds_record": {"zh": "JSON，不是消息", "en": "JSON, no message"},
    "a1_holds_text": {"zh": "不是 JSON", "en": "not JSON"},
    "a1_holds_empty": {"zh": "空行", "en": "empty line"},
    "a1_state_given": {"zh": "第 {n} 条消息", "en": "message {n}"},
    "a1_state_empty": {"zh": "跳过", "en": "passed over"},
    "a1_state_stops": {"zh": "停在这里", "en": "stops here"},
    "a1_state_read": {"zh": "读到了，没有返回", "en": "read, not returned"},
    "a1_state_unread": {"zh": "没有读到", "en": "not reached"},
    "a1_state_absent": {"zh": "文件里没有", "en": "not in the file"},
    "a1_now": {"zh": "第 {at} 行", "en": "Line {at}"},
    "a1_now_note": {"zh": "长行有省略，改动处一定看得见", "en": "shortened where it is long, never where it was changed"},
    "a1_col_ask": {"zh": "问题", "en": "question"},
    "a1_col_answer": {"zh": "回答", "en": "answer"},
    "a1_col_why": {"zh": "细节", "en": "details"},
    "a1_ask_json": {"zh": "是 JSON 吗", "en": "is it JSON?"},
    "a1_ask_lost": {"zh": "有东西丢了吗", "en": "is anything lost?"},
    "a1_yes": {"zh": "是", "en": "yes"},
    "a1_no": {"zh": "不是", "en": "no"},
    "a1_load_json": {"zh": "第 {line} 行不是 JSON", "en": "invalid session JSON at line {line}"},
    "a1_load_torn": {"zh": "第 {line} 行写到一半就停了", "en": "invalid session JSON at line {line}"},
    "a1_load_record": {"zh": "第 {line} 行是 JSON，但不是消息", "en": "invalid session record at line {line}"},
    "a1_lost_none": {"zh": "没有。", "en": "No."},
    "a1_lost_some": {"zh": "有。", "en": "Yes."},
    "a1_no_lines": {
        "zh": "这个文件里一行也没有，没有什么可以弄坏；加载给出空的历史。",
        "en": "This file has no line that could be broken; it loads as an empty history.",
    },
    "a1_dropped": {"zh": "多出来的键 {keys} 不会进到消息里", "en": "the extra key {keys} does not enter the message"},
    "a1_key_gone": {"zh": "去掉的", "en": "taken away"},
    "a1_key_put": {"zh": "加进来的", "en": "put in"},
    "a1_key_signs": {"zh": "⏎ 换行，U+FEFF BOM", "en": "⏎ line break, U+FEFF BOM"},
    "a1_key_line": {"zh": "滑块所在的行", "en": "the slider's line"},
    "a1_key_bad": {"zh": "上下红线：加载停在这一行", "en": "red rules: the load stops at this line"},
    # the check of the exercise; a case follows "On " or stands between quotation marks
    "a1_case_fields": {"zh": "值里有 {fields}", "en": "a value with {fields}"},
    "a1_no_message": {
        "zh": "{case} 时是一条合格的消息，应当返回 ToolMessage，你返回的是 {kind}。",
        "en": "On {case}, which is a message, a ToolMessage is due; you returned a value of type {kind}.",
    },
    "a1_never_returns": {
        "zh": "{case} 时是一条合格的消息，你的函数却返回了 None，对别的合格消息也一样：算出来的消息要用 return 返回。",
        "en": "On {case}, which is a message, your function returned None, and so it does on every other message: give the "
              "message back with return.",
    },
    "a1_false_refused": {
        "zh": "{case} 时是一条合格的消息，你却返回了 None。false 是一个值，不等于“没有”：别用真假判断字段在不在。",
        "en": "On {case}, which is a message, you returned None. false is a value, not an absence: do not ask a field for its "
              "truth to learn whether it is there.",
    },
    "a1_empty_id_refused": {
        "zh": "{case} 时是一条合格的消息，你却返回了 None。空字符串也是字符串；id 有没有意义，由循环去管。",
        "en": "On {case}, which is a message, you returned None. An empty string is a string; whether an id makes sense is "
              "for the loop to say.",
    },
    "a1_good_refused": {
        "zh": "{case} 时是一条合格的消息，你却返回了 None。两个字段的类型都对，就该返回消息。",
        "en": "On {case}, which is a message, you returned None. Both fields have the right type, so a message is due.",
    },
    "a1_extra_refused": {
        "zh": "{case} 时是一条合格的消息，你却返回了 None。多出来的键不妨碍恢复。",
        "en": "On {case}, which is a message, you returned None. An extra key does no harm.",
    },
    "a1_good_changed": {
        "zh": "{case} 时，恢复出来的消息和写进去的不同：{field} 变了。",
        "en": "On {case} the message is not what was written: its {field} differs.",
    },
    "a1_missing_raises": {
        "zh": "{case} 时缺少一个字段，你的代码抛出了 {error}。解析只给答案，从不抛出异常："
              "用 value.get(…) 取可能不存在的字段。",
        "en": "On {case}, where a field is missing, your code raised {error}. The parser answers and never raises: take a "
              "field that may be missing with value.get(…).",
    },
    "a1_bad_raises": {
        "zh": "{case} 时应当返回 None，你的代码却抛出了 {error}。解析只给答案，从不抛出异常；坏行意味着什么，由加载决定。",
        "en": "On {case} None is due; your code raised {error}. The parser answers and never raises: what a bad line means is "
              "for load to say.",
    },
    "a1_number_kept": {
        "zh": "{case} 时应当返回 None，你却把它当成了消息。1 不是布尔值；在 Python 里 1 == True，bool 又是 int 的一种，"
              "所以 isinstance(x, int) 和 x in (True, False) 都会放过它。",
        "en": "On {case} None is due; you took it for a message. 1 is no boolean, but in Python 1 == True and bool is a kind "
              "of int: isinstance(x, int) and x in (True, False) both let it pass.",
    },
    "a1_number_converted": {
        "zh": "{case} 时应当返回 None，你却把 1 变成了 True。解析只判断，不修补：写文件的程序有错，应当被看见。",
        "en": "On {case} None is due; you made True of the 1. A parser judges and does not mend: a program that writes this "
              "has a fault, and the fault should be seen.",
    },
    "a1_id_unchecked": {
        "zh": "{case} 时应当返回 None：没有字符串 toolCallId，谁也说不出这是哪个调用的结果。",
        "en": "On {case} None is due: without a string as toolCallId nobody can say which call this result belongs to.",
    },
    "a1_bad_passes": {
        "zh": "{case} 时应当返回 None，你却把它当成了消息。{why}。",
        "en": "On {case} None is due; you took it for a message. {why}.",
    },
}
