"""Words of lab B11: the clinic."""

WORDS = {
    # The nine complaints, and where to look
    "b11_row_1": {"zh": "续写会话之后，它忘了我定的规矩", "en": "since the resume it has forgotten what I told it"},
    "b11_row_2": {"zh": "我看到的历史，和模型的对不上", "en": "what I see is not the model's history"},
    "b11_row_3": {"zh": "服务商拒绝请求：调用和结果对不上", "en": "the provider refuses: calls and results do not match"},
    "b11_row_4": {"zh": "说是“已保存”，重启之后没了", "en": "it said “saved”, and it is gone after a restart"},
    "b11_row_5": {"zh": "会话列表每次都把整份日志读一遍", "en": "the session list reads whole logs every time"},
    "b11_row_6": {"zh": "压缩之后，它把做过的事又做了一遍", "en": "after a compaction it did again what was done"},
    "b11_row_7": {"zh": "分叉之后，权限不对", "en": "since the fork its permissions are odd"},
    "b11_row_8": {"zh": "聊天删了，外面的账单还在", "en": "the chat is deleted, the invoice is still there"},
    "b11_row_9": {"zh": "新版本打不开旧会话", "en": "the new version does not open an old session"},
    "b11_place_events": {"zh": "原始事件", "en": "raw events"},
    "b11_place_surface": {"zh": "表面", "en": "surface"},
    "b11_place_prompt": {"zh": "请求头与提示词", "en": "header, prompt"},
    "b11_place_watermark": {"zh": "投影水位线", "en": "watermark"},
    "b11_place_client": {"zh": "客户端", "en": "client"},
    "b11_place_outside": {"zh": "外部账本", "en": "outside"},
    # What stands in each place
    "b11_archive_opens": {
        "zh": "旧文件：格式 {version}，{n} 个事件，打得开",
        "en": "old file: format {version}, {n} events, it opens",
    },
    "b11_archive_older": {
        "zh": "旧文件：格式 {version}，没有升级步骤通到这里",
        "en": "old file: format {version}, no upgrade step leads here",
    },
    "b11_archive_newer": {
        "zh": "旧文件：格式 {version}，比这个程序新",
        "en": "old file: format {version}, newer than this program",
    },
    "b11_archive_unknown": {
        "zh": "旧文件：事件 {seq} 的类型 {type} 不在目录里，也不可略过",
        "en": "old file: event {seq} is a {type}, unknown and not ignorable",
    },
    "b11_archive_damaged": {"zh": "旧文件：第 {line} 行坏了", "en": "old file: line {line} is damaged"},
    "b11_saved": {
        "zh": "对用户说存到了 {told}；已落盘到 {durable}；日志到 {last} 为止",
        "en": "told “saved” up to {told}; durable up to {durable}; log ends at {last}",
    },
    "b11_flush_failed": {
        "zh": "对用户说存到了 {told}；{asked} 处的落盘报错 {error}；日志到 {last} 为止",
        "en": "told “saved” up to {told}; flush at {asked}: {error}; log ends at {last}",
    },
    "b11_no_flush": {
        "zh": "对用户说存到了 {told}；{asked} 之后没人要求落盘；日志到 {last} 为止",
        "en": "told “saved” up to {told}; no flush after {asked}; log ends at {last}",
    },
    "b11_saved_and_gone": {
        "zh": "对用户说存到了 {told}；落盘记录说到了 {durable}；日志到 {last} 为止",
        "en": "told “saved” up to {told}; recorded as durable to {durable}; log ends at {last}",
    },
    "b11_problems": {"zh": "{events} 个事件，{n} 个违反关系", "en": "{events} events; relations broken: {n}"},
    "b11_tail": {
        "zh": "{start} 开始的轮次没有结束，会话就在 {seed} 续写了",
        "en": "turn begun at {start} is open when the resume comes, at {seed}",
    },
    "b11_order": {"zh": "结果 {result} 排在它的调用 {call} 前面", "en": "result {result} stands before its call {call}"},
    "b11_late": {
        "zh": "结果 {result} 排在步骤结束（{end}）之后",
        "en": "result {result} stands after the end of its step, at {end}",
    },
    "b11_no_result": {
        "zh": "调用 {call} 到步骤结束（{end}）都没有结果，后来也没有",
        "en": "call {call} has no result when its step ends, at {end}, nor later",
    },
    "b11_nodes": {"zh": "{n} 个节点，{k} 次替换", "en": "nodes: {n}; replacements: {k}"},
    "b11_split": {
        "zh": "调用 {call} 在表面上，它的结果 {result} 被 {by} 遮蔽",
        "en": "call {call} is here, its result {result} is shadowed by {by}",
    },
    "b11_split_call": {
        "zh": "结果 {result} 在表面上，它的调用 {call} 被 {by} 遮蔽",
        "en": "result {result} is here, its call {call} is shadowed by {by}",
    },
    "b11_range": {"zh": "摘要 {seq} 遮蔽 {start}–{end}，{n} 个节点", "en": "summary {seq} shadows {start}–{end}, {n} nodes"},
    "b11_rule_lost": {"zh": "摘要 {seq} 里没有事件 {said} 的约束", "en": "summary {seq} lacks the constraint of event {said}"},
    "b11_operation_lost": {
        "zh": "摘要 {seq} 里没有结果 {said} 的操作 {what}",
        "en": "summary {seq} lacks {what}, the operation of result {said}",
    },
    "b11_context": {
        "zh": "动态上下文 {name} 在快照 {seq} 里，请求 {asked} 看得到",
        "en": "context part {name}: in snapshot {seq}, which request {asked} has",
    },
    "b11_no_context": {
        "zh": "动态上下文 {name} 上次记在 {seq}，请求 {asked} 看不到",
        "en": "context part {name}: last logged at {seq}, not in request {asked}",
    },
    "b11_granted": {"zh": "权限方的回答：作用域 {scope}，{tools} 个工具", "en": "granted: scope {scope}, {tools} tools"},
    "b11_fork_header": {
        "zh": "分叉后的请求 {asked}：自己的请求头 {header}，作用域 {scope}",
        "en": "fork, request {asked}: own header {header}, scope {scope}",
    },
    "b11_fork_shared": {
        "zh": "分叉后的请求 {asked}：用父会话的请求头 {header}，同一个作用域 {scope}",
        "en": "fork, request {asked}: parent's header {header}, of the same scope {scope}",
    },
    "b11_fork_no_sources": {
        "zh": "分叉后的请求 {asked}：请求头 {header} 没有记来源",
        "en": "fork, request {asked}: no sources on record for header {header}",
    },
    "b11_history_only": {
        "zh": "分叉后的请求 {asked}：父会话的请求头 {header}，作用域 {scope}",
        "en": "fork, request {asked}: parent's header {header}, scope {scope}",
    },
    "b11_scope_kept": {
        "zh": "分叉后的请求 {asked}：自己的请求头 {header}，作用域 {scope}，多出 {more} 个工具",
        "en": "fork, request {asked}: own header {header}, scope {scope}; extra tools: {more}",
    },
    "b11_resume_header": {
        "zh": "续写前后的来源 {before} → {after}：作用域 {scope}",
        "en": "resume, sources {before} → {after}: scope {scope}",
    },
    "b11_scope_changed": {
        "zh": "续写前后的来源 {before} → {after}：作用域成了 {scope}，少了段落：{lost}",
        "en": "resume, sources {before} → {after}: scope is now {scope}; sections lost: {lost}",
    },
    "b11_no_sources": {"zh": "请求 {before}、{after} 没有记来源", "en": "requests {before}, {after}: no sources on record"},
    "b11_up_to_date": {"zh": "客户端截至 {seq}，日志到 {last} 为止", "en": "client as of {seq}; log ends at {last}"},
    "b11_behind": {"zh": "客户端只到 {seq}，日志到 {last} 为止", "en": "client only as of {seq}; log ends at {last}"},
    "b11_schema": {
        "zh": "客户端的 {key} 按第 {shown} 版做，现在是第 {now} 版",
        "en": "client reads {key} as version {shown}; it is {now}",
    },
    "b11_no_row": {"zh": "缓存里没有 {key}", "en": "cache: no row for {key}"},
    "b11_old_row": {
        "zh": "缓存 {key}：第 {ver} 版，现在是第 {now} 版",
        "en": "cache {key}: version {ver}, and it is {now} now",
    },
    "b11_row_beyond": {
        "zh": "缓存 {key}：截至 {seq}，日志到 {last} 为止",
        "en": "cache {key}: as of {seq}; log ends at {last}",
    },
    "b11_row": {"zh": "缓存 {key}：第 {ver} 版，截至 {seq}", "en": "cache {key}: version {ver}, as of {seq}"},
    "b11_same": {
        "zh": "显示 {shown} 条消息；日志截至 {seq} 派生出 {derived} 条，内容相同",
        "en": "shows {shown} messages; derived as of {seq}: {derived}, the same",
    },
    "b11_folds": {
        "zh": "显示 {shown} 条消息；日志截至 {seq} 派生出 {derived} 条，{views} 个视图不同",
        "en": "shows {shown} messages; derived as of {seq}: {derived}; views that differ: {views}",
    },
    "b11_operations": {"zh": "账本里有 {n} 笔操作", "en": "operations in the ledger: {n}"},
    "b11_twice": {"zh": "同一件事做了不止一次：{ids}", "en": "the same done more than once: {ids}"},
    "b11_unknown_operation": {"zh": "要求撤销的 {id} 不在账本里", "en": "{id}, to be undone, is not in the ledger"},
    "b11_taken_back": {"zh": "要求撤销的 {id}：已由 {by} 冲销", "en": "{id}, to be undone: compensated by {by}"},
    "b11_not_taken_back": {
        "zh": "要求撤销的 {id}：仍然有效，没有冲销",
        "en": "{id}, to be undone: stands, nothing compensates it",
    },
    "b11_other_taken_back": {
        "zh": "要求撤销的 {id}：仍然有效，{by} 冲销的是 {other}",
        "en": "{id}, to be undone: stands; {by} compensated {other}",
    },
    # Tables
    "b11_col_row": {"zh": "行", "en": "row"},
    "b11_col_complaint": {"zh": "症状", "en": "complaint"},
    "b11_col_place": {"zh": "位置", "en": "place"},
    "b11_col_evidence": {"zh": "证据", "en": "evidence"},
    "b11_col_cause": {"zh": "原因", "en": "cause"},
    "b11_col_means": {"zh": "意思", "en": "what it means"},
    "b11_col_first": {"zh": "证据在哪里", "en": "where its evidence is"},
    "b11_col_patient": {"zh": "病例", "en": "case"},
    "b11_col_names": {"zh": "这一行的原因", "en": "the row's causes"},
    "b11_list": {"zh": "、", "en": ", "},
    "b11_nothing": {"zh": "没有找到原因", "en": "no cause found"},
    "b11_means_context_not_logged": {
        "zh": "压缩拿走了动态上下文，之后没有再记",
        "en": "a compaction took the context, nobody logged it again",
    },
    "b11_means_rule_lost": {"zh": "摘要丢了用户的约束", "en": "the summary lost a user's constraint"},
    "b11_means_scope_changed": {
        "zh": "续写时换了作用域，少了一段提示词",
        "en": "resumed in another scope, without one of its sections",
    },
    "b11_means_client_folds": {
        "zh": "客户端自己拼历史，不认替换",
        "en": "the client folds the log itself, without replacements",
    },
    "b11_means_client_behind": {"zh": "客户端的水位线落后", "en": "the client's watermark is behind"},
    "b11_means_client_schema": {"zh": "客户端按旧版视图解读", "en": "the client was built for an earlier view"},
    "b11_means_result_filtered": {"zh": "结果在写日志时被过滤掉了", "en": "a result was filtered out on its way to the log"},
    "b11_means_order_broken": {"zh": "结果排到了调用前面", "en": "a result got in front of its call"},
    "b11_means_tail_not_repaired": {"zh": "崩溃留下的轮次没有收尾就续写了", "en": "resumed after a turn that nobody closed"},
    "b11_means_no_flush": {"zh": "只追加，没有落盘", "en": "appended, and never flushed"},
    "b11_means_flush_failed": {"zh": "落盘报错，仍然说了“已保存”", "en": "the flush failed, and “saved” was said all the same"},
    "b11_means_cache_missing": {"zh": "没有投影缓存", "en": "there is no cached view"},
    "b11_means_cache_version": {"zh": "缓存是旧版投影做的", "en": "the cache is of an earlier state_version"},
    "b11_means_cache_beyond": {"zh": "缓存的水位线超出日志", "en": "the cache's watermark lies beyond the log"},
    "b11_means_operation_lost": {"zh": "摘要丢了做过的操作", "en": "the summary lost an operation"},
    "b11_means_range_split": {"zh": "压缩范围切开了一对调用和结果", "en": "the range parted a call from its result"},
    "b11_means_history_only": {
        "zh": "只复制了历史，沿用父会话的请求头",
        "en": "history was copied, and the parent's header kept",
    },
    "b11_means_scope_kept": {
        "zh": "请求头是自己的，却按父会话的作用域来组",
        "en": "a header of its own, composed for the parent's scope",
    },
    "b11_means_deleted_only": {"zh": "把删会话当成了撤销业务", "en": "the deletion was taken for an undo"},
    "b11_means_other_compensated": {"zh": "冲销的是另一笔", "en": "another operation was compensated"},
    "b11_means_no_upgrade": {"zh": "没有升级路径", "en": "there is no upgrade path"},
    "b11_means_newer_format": {"zh": "旧会话是更新的程序写的", "en": "a newer program wrote it"},
    "b11_means_unknown_event": {"zh": "有不认识、又不可略过的事件", "en": "a required event that is not known"},
    # Explorer
    "b11_label": {"zh": "问到的证据，和还剩下的原因", "en": "The evidence so far, and the causes it leaves"},
    "b11_menu": {"zh": "病例", "en": "case"},
    "b11_menu_case": {"zh": "{number}. {complaint}", "en": "{number}. {complaint}"},
    "b11_menu_healthy": {"zh": "没有症状", "en": "no complaint"},
    "b11_slider": {"zh": "问到第几处", "en": "places asked"},
    "b11_evidence": {"zh": "证据", "en": "Evidence"},
    "b11_evidence_note": {"zh": "按教材的顺序", "en": "in the chapter's order"},
    "b11_causes": {"zh": "原因", "en": "Causes"},
    "b11_causes_note": {"zh": "这一行的，和别处找到的", "en": "of the row, or found"},
    "b11_not_asked": {"zh": "还没有问", "en": "not asked yet"},
    "b11_proven": {"zh": "有证据", "en": "proven"},
    "b11_ruled_out": {"zh": "排除", "en": "ruled out"},
    "b11_open": {"zh": "还可能", "en": "possible"},
    "b11_col_state": {"zh": "现在", "en": "now"},
    "b11_say_complaint": {"zh": "病例 {number}：{complaint}。", "en": "Case {number}: {complaint}."},
    "b11_say_asked": {"zh": "问过 **{n}** 处，共 {of} 处。", "en": " Asked: **{n}** of {of} places."},
    "b11_say_open": {"zh": "还可能：{names}。", "en": " Still possible: {names}."},
    "b11_say_out": {"zh": "排除：{names}。", "en": " Ruled out: {names}."},
    "b11_say_proven": {"zh": "有证据：{names}。", "en": " Proven: {names}."},
    "b11_with_seqs": {"zh": "{name}（事件 {seqs}）", "en": "{name} (events {seqs})"},
    "b11_key_proven": {"zh": "有证据", "en": "proven"},
    "b11_key_out": {"zh": "该看的地方看过了，没有它的证据", "en": "its place was asked, no evidence"},
    "b11_key_open": {"zh": "该看的地方还没有问", "en": "its place was not asked yet"},
    "b11_more": {"zh": "还有 {n} 条", "en": "{n} more"},
    # The check
    "b11_check_case": {"zh": "这些病例", "en": "the cases"},
    "b11_wrong_shape": {
        "zh": "返回一个字典：病例号 → 原因的名字，例如 {{1: \"rule-lost\"}}。现在返回的是 {shown}。",
        "en": "Return a dict from the number of a case to a cause's name, such as {{1: \"rule-lost\"}}; it returns {shown}.",
    },
    "b11_wrong_missing": {
        "zh": "病例 {numbers} 还没有诊断。每份都要写，查不出原因的写 None。",
        "en": "There is no diagnosis for case {numbers}. Every case needs one; None says that no cause is proven.",
    },
    "b11_wrong_number": {
        "zh": "没有病例 {number}。键是 ward_table() 里的病例号，整数 {first} 到 {last}。",
        "en": "There is no case {number}. The keys are the numbers in the table of cases, the ints {first} to {last}.",
    },
    "b11_wrong_name": {
        "zh": "病例 {number}：没有叫“{name}”的原因{near}。名字在 matrix_table() 里，一份病例写一个。",
        "en": "Case {number}: there is no cause named “{name}”{near}. matrix_table() has the names; one for each case.",
    },
    "b11_wrong_near": {"zh": "，也许是“{near}”", "en": "; perhaps “{near}”"},
    "b11_wrong_row": {
        "zh": "病例 {number} 的症状在第 {row} 行，“{name}”是第 {other} 行的原因。先读症状，再看证据。",
        "en": "The complaint of case {number} is row {row}'s, “{name}” is a cause of row {other}. Read the complaint first.",
    },
    "b11_wrong_bystander": {
        "zh": "病例 {number} 里确实有“{name}”，可它是第 {other} 行的原因，解释不了第 {row} 行的症状。看完六处。",
        "en": "Case {number} has “{name}” too, a cause of row {other}, which does not explain row {row}'s complaint.",
    },
    "b11_wrong_unproven": {
        "zh": "病例 {number} 没有“{name}”的证据：这六处和健康病例没有两样。没有证据就不下结论，写 None。",
        "en": "Nothing proves “{name}” in case {number}: all six places are as in a healthy case. Say None there.",
    },
    "b11_wrong_none": {
        "zh": "病例 {number} 查得出原因，证据在这一处：{place}“{clue}”{seqs}。",
        "en": "Case {number} has a cause that is proven; {place}: {clue}{seqs}.",
    },
    "b11_wrong_events": {
        "zh": "病例 {number} 不是“{name}”。原始事件和它们的记录里，这一条没有看到：“{clue}”{seqs}。",
        "en": "Case {number} is not “{name}”. Look again at the raw events and their records: {clue}{seqs}.",
    },
    "b11_wrong_surface": {
        "zh": "病例 {number} 不是“{name}”。表面上有一条没有看到：“{clue}”{seqs}。",
        "en": "Case {number} is not “{name}”. Look again at the surface: {clue}{seqs}.",
    },
    "b11_wrong_prompt": {
        "zh": "病例 {number} 不是“{name}”。请求头和来源要对照权限方的回答：“{clue}”{seqs}。",
        "en": "Case {number} is not “{name}”. Hold the header and its sources against what was granted: {clue}{seqs}.",
    },
    "b11_wrong_watermark": {
        "zh": "病例 {number} 不是“{name}”。版本和水位线要一项一项比：“{clue}”{seqs}。",
        "en": "Case {number} is not “{name}”. Compare every version and every watermark: {clue}{seqs}.",
    },
    "b11_wrong_client": {
        "zh": "病例 {number} 不是“{name}”。客户端显示的要和日志派生的比：“{clue}”{seqs}。",
        "en": "Case {number} is not “{name}”. Compare what the client shows with what is derived: {clue}{seqs}.",
    },
    "b11_wrong_outside": {
        "zh": "病例 {number} 不是“{name}”。账本里要看清冲销的是哪一笔：“{clue}”{seqs}。",
        "en": "Case {number} is not “{name}”. See in the ledger which operation was compensated: {clue}{seqs}.",
    },
    "b11_wrong_seqs": {"zh": "（事件 {seqs}）", "en": " (seq {seqs})"},
}
