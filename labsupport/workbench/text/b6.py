"""Words of lab B6: a whole request."""

WORDS = {
    "b6_slider": {"zh": "第几次请求", "en": "request"},
    "b6_label": {"zh": "一次完整的请求", "en": "A whole request"},
    "b6_no_requests": {"zh": "这份日志里还没有请求。", "en": "There is no request in this log yet."},
    "b6_kind_config": {"zh": "配置", "en": "config"},
    "b6_kind_section": {"zh": "段落", "en": "section"},
    "b6_kind_tool": {"zh": "工具", "en": "tool"},
    "b6_kind_opener": {"zh": "开场消息", "en": "opener"},
    "b6_kind_context": {"zh": "动态上下文", "en": "context"},
    "b6_kind_summary": {"zh": "摘要", "en": "summary"},
    "b6_kind_plugin": {"zh": "插件消息", "en": "plugin"},
    "b6_kind_user": {"zh": "用户", "en": "user"},
    "b6_kind_answer": {"zh": "回答", "en": "answer"},
    "b6_kind_result": {"zh": "结果", "en": "result"},
    "b6_col_kind": {"zh": "种类", "en": "kind"},
    "b6_col_name": {"zh": "名称", "en": "name"},
    "b6_col_scope": {"zh": "作用域", "en": "scope"},
    "b6_col_version": {"zh": "版本", "en": "version"},
    "b6_col_text": {"zh": "内容", "en": "text"},
    "b6_col_characters": {"zh": "字符", "en": "chars"},
    "b6_new": {"zh": "新的", "en": "new"},
    "b6_more_parts": {"zh": "中间还有 {n:,} 个部分", "en": "{n:,} more parts", "one": "{n:,} more part"},
    "b6_key_new": {"zh": "上一次请求里没有；条形为实心", "en": "not in the request before; its bar is solid"},
    "b6_key_bar": {"zh": "条形：token 数，从第一个部分累计", "en": "bars: tokens, one part after the other"},
    "b6_key_seqs": {"zh": "seq：记下它的事件，后面是来源", "en": "seq: the event that holds it, then its sources"},
    "b6_gap": {"zh": "", "en": " "},
    "b6_say_request": {
        "zh": "第 **{at}** 次请求，共 {count} 次，在 seq **{seq}** 之后发出：**{n:,}** 个部分，{characters:,} 个字符，"
              "**{tokens:,}** 个 token。",
        "en": "Request **{at}** of {count}, asked behind seq **{seq}**: **{n:,}** parts, {characters:,} characters, "
              "**{tokens:,}** tokens.",
    },
    "b6_say_first": {"zh": "前面没有请求，所以全是新的。", "en": "There was none before it, so all of it is new."},
    "b6_say_new": {
        "zh": "**{n:,}** 个是新的：{names}。",
        "en": "**{n:,}** are new: {names}.",
        "one": "**{n:,}** is new: {names}.",
    },
    "b6_say_none_new": {"zh": "没有新的部分。", "en": "No part is new."},
    "b6_say_gone": {
        "zh": "上一次有的 **{n:,}** 个不在了。",
        "en": "**{n:,}** of the request before are gone.",
        "one": "**{n:,}** of the request before is gone.",
    },
    "b6_col_change": {"zh": "动了什么手脚", "en": "what was done to it"},
    "b6_col_found": {"zh": "比较指出的部分", "en": "what the comparison names"},
    "b6_nothing_found": {"zh": "没有差别", "en": "no difference"},
    "b6_smuggle_nothing": {"zh": "什么也没动", "en": "nothing"},
    "b6_smuggle_system": {"zh": "系统提示末尾加一个词", "en": "a word more in the system prompt"},
    "b6_smuggle_tool": {"zh": "多给一个工具", "en": "one more tool"},
    "b6_smuggle_model": {"zh": "换一个模型", "en": "another model"},
    "b6_smuggle_added": {"zh": "末尾加一条消息", "en": "one more message at the end"},
    "b6_smuggle_changed": {"zh": "清空第一条消息的内容", "en": "the first message emptied"},
    "b6_smuggle_dropped": {"zh": "拿掉第一条消息", "en": "the first message dropped"},
    "b6_smuggle_turned": {"zh": "前两条消息对调", "en": "the first two messages in turned order"},
    "b6_case_one": {"zh": "没有别的部分，问一次", "en": "one question without any other part"},
    "b6_case_desk": {"zh": "前台的提示，问一次", "en": "one question at the desk"},
    "b6_case_audit": {"zh": "作用域 audit，问一次", "en": "one question in the scope audit"},
    "b6_case_same": {"zh": "问两次，价格没变", "en": "two questions at the same prices"},
    "b6_case_changed": {"zh": "问两次，中间改了价格", "en": "two questions and a new price between them"},
    "b6_case_meanwhile": {"zh": "工具运行时改了价格", "en": "a price that changes while a tool runs"},
    "b6_case_compacted": {"zh": "两次之间压缩了历史", "en": "two questions and a compaction between them"},
    "b6_field_sections": {"zh": "段落", "en": "sections"},
    "b6_field_tools": {"zh": "工具", "en": "tools"},
    "b6_field_context": {"zh": "动态上下文", "en": "dynamic context"},
    "b6_field_openers": {"zh": "开场消息", "en": "openers"},
    "b6_field_variables": {"zh": "变量", "en": "variables"},
    "b6_field_scope": {"zh": "作用域", "en": "scope"},
    "b6_wrong_kind": {
        "zh": "{case}：要返回一个 Prompt。replace(prompt, …) 给出一份改了几个字段的副本。",
        "en": "On {case}, a Prompt is wanted: replace(prompt, …) gives a copy with some fields changed.",
    },
    "b6_wrong_lost": {
        "zh": "{case}：原来的{what}不全在了。加一个部分，别的要照旧：[*prompt.context, part]。",
        "en": "On {case}, the prompt has lost some of its {what}. Add a part and keep the others: [*prompt.context, part].",
    },
    "b6_wrong_refused": {
        "zh": "{case}：这份提示拼不起来：{error}",
        "en": "On {case}, this prompt cannot be put together: {error}",
    },
    "b6_wrong_unseen": {
        "zh": "{case}：第 {request} 次请求里没有价目表，模型看不到它。它的作用域不在这里生效？",
        "en": "On {case}, request {request} holds no price list: the model does not see it. Is it of a scope that does not "
              "count here?",
    },
    "b6_wrong_name": {
        "zh": "{case}：模型看到了价目表，可它的来源叫 {name}。请叫它 prices，别人才查得到。",
        "en": "On {case}, the model sees the list, and its source is called {name}. Call it prices, so that others find it.",
    },
    "b6_wrong_opener": {
        "zh": "{case}：开场消息整个会话只记一次，价格以后再变，模型也不知道。会变的东西放进动态上下文。",
        "en": "On {case}, the list is an opener, which is logged once for the whole session: a price that changes later is not "
              "told. What changes belongs into the dynamic context.",
    },
    "b6_wrong_section": {
        "zh": "{case}：价目表进了请求头。能重建，可每改一次价格，就要把整个请求头再记一遍，缓存的开头也作废了。"
              "请放进动态上下文。",
        "en": "On {case}, the list stands in the request header. That can be rebuilt, but with every price the whole header is "
              "logged again, and no cached prefix holds. Put it into the dynamic context.",
    },
    "b6_wrong_stale": {
        "zh": "{case}：第 {request} 次请求时价目是“{price}”，模型看到的却是“{found}”。把函数 prices 本身交出去，"
              "每次请求前才去问它。",
        "en": "On {case}, the list says “{price}” at request {request}, and the model sees “{found}”. Hand over the function "
              "prices itself; it is asked before every request.",
    },
    "b6_wrong_version": {
        "zh": "{case}：来源里的版本是“{found}”，要写明是哪个文件做的：version=\"prices.csv\"。",
        "en": "On {case}, its version is “{found}”; say which file made it: version=\"prices.csv\".",
    },
    "b6_wrong_often": {
        "zh": "{case}：记了 {n} 份快照，{wanted} 份就够了。没变的东西，每次读出来要一模一样。",
        "en": "On {case}, {n} snapshots are logged, and {wanted} would do. What has not changed has to read the same every "
              "time.",
    },
}
