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
    "b6_key_new": {"zh": "上一次请求里没有；条形为实心", "en": "not in the request before it; its bar is solid"},
    "b6_key_bar": {"zh": "条形：token 数，从第一个部分累计", "en": "bars: tokens, one part after the other"},
    "b6_key_seqs": {"zh": "seq：记下它的事件，后面是来源", "en": "seq: the event that holds it, then its sources"},
    "b6_gap": {"zh": "", "en": " "},
    "b6_say_request": {
        "zh": "第 **{at}** 次请求，共 {count} 次，在 seq **{seq}** 之后发出：**{n:,}** 个部分，{characters:,} 个字符，"
              "**{tokens:,}** 个 token。",
        "en": "Request **{at}** of {count}, sent after seq **{seq}**: **{n:,}** parts, {characters:,} characters, "
              "**{tokens:,}** tokens.",
    },
    "b6_say_first": {"zh": "前面没有请求，所以全是新的。", "en": "It is the first, so all of it is new."},
    "b6_say_new": {
        "zh": "**{n:,}** 个是新的：{names}。",
        "en": "**{n:,}** are new: {names}.",
        "one": "**{n:,}** is new: {names}.",
    },
    "b6_say_none_new": {"zh": "没有新的部分。", "en": "No part is new."},
    "b6_say_gone": {
        "zh": "上一次有的 **{n:,}** 个不在了。",
        "en": "**{n:,}** parts of the request before it are gone.",
        "one": "**{n:,}** part of the request before it is gone.",
    },
    "b6_col_change": {"zh": "动了什么手脚", "en": "what was changed"},
    "b6_col_found": {"zh": "比较指出的部分", "en": "what the comparison names"},
    "b6_nothing_found": {"zh": "没有差别", "en": "no difference"},
    "b6_smuggle_nothing": {"zh": "什么也没动", "en": "nothing"},
    "b6_smuggle_system": {"zh": "系统提示末尾加一个词", "en": "one more word in the system prompt"},
    "b6_smuggle_tool": {"zh": "多给一个工具", "en": "one more tool"},
    "b6_smuggle_model": {"zh": "换一个模型", "en": "another model"},
    "b6_smuggle_added": {"zh": "末尾加一条消息", "en": "one more message at the end"},
    "b6_smuggle_changed": {"zh": "清空第一条消息的内容", "en": "the first message emptied"},
    "b6_smuggle_dropped": {"zh": "拿掉第一条消息", "en": "the first message dropped"},
    "b6_smuggle_turned": {"zh": "前两条消息对调", "en": "the first two messages swapped"},
    "b6_case_one": {"zh": "没有别的部分，问一次", "en": "one question without any other part"},
    "b6_case_desk": {"zh": "前台的提示，问一次", "en": "one question at the desk"},
    "b6_case_audit": {"zh": "作用域 audit，问一次", "en": "one question in the scope audit"},
    "b6_case_more": {"zh": "动态上下文更多的提示，问一次", "en": "one question with more dynamic context"},
    "b6_case_same": {"zh": "问两次，价格没变", "en": "two questions at the same prices"},
    "b6_case_changed": {"zh": "问三次，每次都改了价格", "en": "three questions, each at a new price"},
    "b6_case_meanwhile": {"zh": "工具运行时改了价格", "en": "a price that changes while a tool runs"},
    "b6_case_compacted": {"zh": "两次之间压缩了历史", "en": "two questions and a compaction between them"},
    "b6_case_resumed": {"zh": "换一个进程接着问，再改价格", "en": "questions in two processes, and then a new price"},
    "b6_field_variables": {"zh": "变量（variables）", "en": "variables"},
    "b6_field_scope": {"zh": "作用域（scope）", "en": "scope"},
    "b6_wrong_kind": {
        "zh": "{case}：要返回一个 Prompt，得到的是 {found}。replace(prompt, …) 给出一份改了几个字段的副本。",
        "en": "On {case}, a Prompt is wanted, and this is a {found}: replace(prompt, …) gives a copy with some fields changed.",
    },
    "b6_wrong_mutated": {
        "zh": "{case}：传进来的 prompt 被改了，别处还在用它。请返回一份副本："
              "replace(prompt, context=[*prompt.context, part])。",
        "en": "On {case}, the prompt that was handed in has been changed, and others still use it. Return a copy: "
              "replace(prompt, context=[*prompt.context, part]).",
    },
    "b6_wrong_changed": {
        "zh": "{case}：{what}和原来的不一样了。只加一个部分，别的照旧。",
        "en": "On {case}, the {what} of the prompt changed. Add one part, and leave everything else as it is.",
    },
    "b6_wrong_list": {
        "zh": "{case}：{field} 要是一个列表，得到的是 {found}。把原来的展开，再加上新的：[*prompt.context, part]。",
        "en": "On {case}, {field} should be a list, and it is a {found}. Unpack the old parts and add the new one: "
              "[*prompt.context, part].",
    },
    "b6_wrong_part": {
        "zh": "{case}：{field} 里应当都是 {kind}，却有一个 {found}。原来的要展开，别忘了星号：[*prompt.context, part]。",
        "en": "On {case}, {field} should hold only {kind} objects, and one is a {found}. Unpack the old parts with a star: "
              "[*prompt.context, part].",
    },
    "b6_wrong_lost": {
        "zh": "{case}：原来的{what}“{name}”不在了，或者被改过。加一个部分，别的照旧：[*prompt.context, part]。",
        "en": "On {case}, the {what} “{name}” is gone or changed. Add a part and keep the others: [*prompt.context, part].",
    },
    "b6_wrong_moved": {
        "zh": "{case}：{what}原来的先后变了。加一个部分，别的照旧。",
        "en": "On {case}, the old parts of the kind “{what}” stand in another order. Add one part, and leave the others as "
              "they are.",
    },
    "b6_wrong_none": {
        "zh": "{case}：返回的提示里没有多出任何部分，价目表不在里面。",
        "en": "On {case}, the prompt has no new part: the price list is not in it.",
    },
    "b6_wrong_extra": {
        "zh": "{case}：多了 {n} 个部分：{names}。只加一个，模型才不会读到两份。",
        "en": "On {case}, {n} parts were added: {names}. Add one only, so that the model does not read it twice.",
    },
    "b6_wrong_name": {
        "zh": "{case}：新的部分叫 {name}。请叫它 prices，别人才查得到。",
        "en": "On {case}, the new part is called {name}. Call it prices, so that others find it.",
    },
    "b6_wrong_version": {
        "zh": "{case}：版本是 {found}，要写明出自哪份文件：version=\"prices.csv\"。",
        "en": "On {case}, the version is {found}; say which file it comes from: version=\"prices.csv\".",
    },
    "b6_wrong_scope": {
        "zh": "{case}：价目表的作用域是 {found}，在作用域 {scope} 里不生效，模型看不到它。",
        "en": "On {case}, the list belongs to the scope {found}, which does not count in the scope {scope}: the model does not "
              "see it.",
    },
    "b6_wrong_read": {
        "zh": "{case}：ContextPart 的第二个参数要是一个函数，得到的是 {found}。写 prices，不写 prices()：每次请求前才去问它。",
        "en": "On {case}, the second argument of ContextPart should be a function, and it is a {found}. Write prices, not "
              "prices(): it is asked before every request.",
    },
    "b6_wrong_text": {
        "zh": "{case}：交给 ContextPart 的函数要给出文字，问它却得到 {found}。是不是漏了 return？",
        "en": "On {case}, the function of the ContextPart should give text, and it gives a {found}. Is a return missing?",
    },
    "b6_wrong_opener": {
        "zh": "{case}：开场消息整个会话只记一次，价格以后再变，模型也不知道。会变的东西放进动态上下文。",
        "en": "On {case}, the list is an opener, which is logged once for the whole session: a price that changes later is not "
              "told. What changes belongs in the dynamic context.",
    },
    "b6_wrong_section": {
        "zh": "{case}：价目表进了请求头。能重建，可每改一次价格，就要把整个请求头再记一遍，缓存的开头也作废了。"
              "请放进动态上下文。",
        "en": "On {case}, the list stands in the request header. That can be rebuilt, but with every new price the whole "
              "header is logged again, and no cached prefix holds. Put it into the dynamic context.",
    },
    "b6_wrong_unseen": {
        "zh": "{case}：第 {request} 次请求的快照里没有 prices。快照每份都是完整的：就算没变，问到时也要给出整份价目。",
        "en": "On {case}, the snapshot in request {request} has no prices. Each snapshot is complete: when asked, give the "
              "whole list, changed or not.",
    },
    "b6_wrong_stale": {
        "zh": "{case}：第 {request} 次请求时价目是“{price}”，模型看到的却是“{found}”。要的是那一刻的整份价目："
              "把函数 prices 本身交出去，每次请求前才去问它。",
        "en": "On {case}, the list says “{price}” at request {request}, and the model sees “{found}”. It should be the whole "
              "list of that moment: hand over the function prices itself, which is asked before every request.",
    },
    "b6_wrong_more": {
        "zh": "{case}：第 {request} 次请求时价目是“{price}”，模型看到的是“{found}”："
              "还有旧的或者重复的价目。只要现在这一份，一遍。",
        "en": "On {case}, the list says “{price}” at request {request}, and the model sees “{found}”, with prices that are "
              "old or told twice. Tell the list as it is now, once.",
    },
    "b6_wrong_often": {
        "zh": "{case}：记了 {n} 份快照，{wanted} 份就够了。没变的东西，每次读出来要一模一样。",
        "en": "On {case}, {n} snapshots are logged, and {wanted} would do. What has not changed has to read the same every "
              "time.",
    },
}
