"""Words of lab B7: durability."""

WORDS = {
    "b7_label": {
        "zh": "六种落盘策略：进程在哪里被杀死，丢失多少",
        "en": "Six flush policies: where the process is killed, and what is lost",
    },
    "b7_killed": {"zh": "杀死的时刻", "en": "killed after"},
    "b7_policy": {"zh": "策略", "en": "policy"},
    "b7_store": {"zh": "存储", "en": "store"},
    "b7_measure": {"zh": "测量", "en": "Measure"},
    "b7_measuring": {"zh": "正在测量…", "en": "Measuring…"},
    "b7_every_event": {"zh": "每个事件", "en": "every event"},
    "b7_on_barriers": {"zh": "每次请求和工具之前", "en": "before requests and tools"},
    "b7_end_of_step": {"zh": "每步结束", "en": "end of step"},
    "b7_end_of_turn": {"zh": "每轮结束", "en": "end of turn"},
    "b7_every_ms": {"zh": "每 {seconds} 秒", "en": "every {seconds} s"},
    "b7_on_flush": {"zh": "只在 flush 和关闭时", "en": "only flush and close"},
    "b7_col_policy": {"zh": "落盘策略", "en": "flush policy"},
    "b7_col_lost": {"zh": "丢失", "en": "lost"},
    "b7_col_worst": {"zh": "最坏", "en": "worst"},
    "b7_col_flushes": {"zh": "次数", "en": "flushes"},
    "b7_col_ms": {"zh": "毫秒", "en": "ms"},
    "b7_col_cost": {"zh": "代价", "en": "cost"},
    "b7_turns": {"zh": "轮次", "en": "turns"},
    "b7_steps": {"zh": "步骤", "en": "steps"},
    "b7_tools": {"zh": "工具运行", "en": "a tool runs"},
    "b7_turn": {"zh": "第 {number} 轮", "en": "turn {number}"},
    "b7_step": {"zh": "第 {number} 步", "en": "step {number}"},
    "b7_tool_at": {"zh": "事件 {seq} 之后", "en": "after event {seq}"},
    "b7_killed_after": {"zh": "{n} 个之后杀死", "en": "killed after {n}"},
    "b7_durable": {"zh": "已落盘 0–{last}", "en": "durable 0–{last}"},
    "b7_durable_none": {"zh": "什么也没落盘", "en": "nothing durable"},
    "b7_not_measured": {"zh": "未测量", "en": "not measured"},
    "b7_key_durable": {"zh": "已落盘", "en": "durable"},
    "b7_key_lost": {"zh": "已追加，杀死时丢失", "en": "appended, lost at the kill"},
    "b7_key_flush": {"zh": "│ 一次已返回的落盘", "en": "│ a flush that returned"},
    "b7_key_kill": {"zh": "杀死处：接着的落盘还没返回", "en": "the kill: before the flush that follows returns"},
    "b7_key_worst": {"zh": "最坏：最长的丢失窗口", "en": "worst: the longest loss window"},
    "b7_chart": {"zh": "最坏丢失与代价", "en": "Worst loss against cost"},
    "b7_chart_ms": {
        "zh": "在这块磁盘上用 {store} 测得，实心：没有策略两项都更好",
        "en": "measured on this disk with {store}; filled: no policy is better in both",
    },
    "b7_chart_count": {
        "zh": "未测量，代价暂用落盘次数；实心：没有策略两项都更好",
        "en": "not measured, so cost is the number of flushes; filled: no policy is better in both",
    },
    "b7_chart_label": {
        "zh": "六种策略的最坏丢失与代价，数字见上表",
        "en": "Worst loss against cost of six policies; the table above holds the figures",
    },
    "b7_axis_worst": {"zh": "最坏丢失，事件数", "en": "worst loss, events"},
    "b7_axis_ms": {"zh": "全部落盘的用时，毫秒（对数刻度）→", "en": "time of all flushes, ms (log scale) →"},
    "b7_axis_flushes": {"zh": "落盘次数（对数刻度）→", "en": "number of flushes (log scale) →"},
    "b7_beaten": {"zh": "{policy}（不如别的）", "en": "{policy} (beaten)"},
    "b7_say_killed": {
        "zh": "追加 **{n}** 个事件（共 {of} 个，最后是 seq {last}）之后，进程被杀死。按策略“{policy}”，",
        "en": "Killed after **{n}** of {of} events (the last: {last}). With “{policy}”,",
    },
    "b7_say_none": {
        "zh": "一个事件也没追加（共 {of} 个），进程就被杀死。按策略“{policy}”，",
        "en": "Killed before the first of {of} events. With “{policy}”,",
    },
    "b7_say_lost": {"zh": "**丢失 {n} 个**", "en": "**{n} are lost**", "one": "**{n} is lost**"},
    "b7_say_worst": {"zh": "（最坏 {n} 个）。", "en": "(at worst {n})."},
    "b7_say_tool_known": {
        "zh": "工具正在运行，它的 tool/call（{seq}）已落盘。",
        "en": "A tool is running, and its tool/call ({seq}) is durable.",
    },
    "b7_say_tool_lost": {
        "zh": "工具正在运行，它的 tool/call（{seq}）却丢了。",
        "en": "A tool is running, and its tool/call ({seq}) is lost.",
    },
    "b7_say_flushes": {
        "zh": "整个会话落盘 {n} 次，用时未测量。",
        "en": "{n} flushes in the whole session, not timed.",
        "one": "{n} flush in the whole session, not timed.",
    },
    "b7_say_ms": {
        "zh": "整个会话落盘 {n} 次，{store} 用时 {ms} 毫秒。",
        "en": "{n} flushes in the whole session take {store} {ms} ms.",
        "one": "{n} flush in the whole session takes {store} {ms} ms.",
    },
    "b7_say_failed": {"zh": "**测量没有完成**（{error}）。", "en": "**The measurement did not finish** ({error})."},
    "b7_col_appended": {"zh": "已追加", "en": "appended"},
    "b7_col_covered": {"zh": "已返回的落盘至少保证", "en": "covered by a returned flush"},
    "b7_col_found": {"zh": "新进程读到的", "en": "found by a new process"},
    "b7_at_played": {"zh": "全部追加完，没有调用 flush", "en": "all is appended, flush was not called"},
    "b7_at_flushed": {"zh": "flush 返回之后", "en": "flush has returned"},
    "b7_case": {"zh": "运行 [{run}]", "en": "the run [{run}]"},
    "b7_wrong_kind": {
        "zh": "{case}：要的是由位置组成的列表，你返回的是 {kind}。",
        "en": "On {case} you return {kind}; a list of places is wanted.",
    },
    "b7_wrong_number": {
        "zh": "{case}：你的列表里有 {place}，它不是整数；位置都是整数。",
        "en": "On {case} {place} is in your list, which is no whole number; places are.",
    },
    "b7_wrong_place": {
        "zh": "{case}：位置从 0 数到 {last}，每个最多出现一次。",
        "en": "On {case} places count from 0 to {last}, and none may come twice.",
    },
    "b7_wrong_tell": {
        "zh": "{case}：位置 {place}（{promise}）告诉用户“已经记下”，可前面的事件还在内存里。进程一死，这句话就成了假话。",
        "en": "On {case} a user is told “it is recorded” at place {place} ({promise}) while what came before is still "
              "in memory. If the process dies now, that was a lie.",
    },
    "b7_wrong_hand_over": {
        "zh": "{case}：位置 {place}（{promise}）由别的进程接手。它只能读磁盘，读不到还没落盘的事件。",
        "en": "On {case} another process takes over at place {place} ({promise}). It can read nothing but the disk, and "
              "what came before is not there.",
    },
    "b7_wrong_summary": {
        "zh": "{case}：从位置 {place}（{promise}）起，请求要靠压缩后的摘要，可压缩还没有落盘。重启之后，模型看到的就是另一"
              "段历史。",
        "en": "On {case} requests rely on a compaction from place {place} ({promise}) on, and it is not durable. After a "
              "restart the model would see another history.",
    },
    "b7_wrong_checkpoint": {
        "zh": "{case}：位置 {place}（{promise}）发布检查点，它的水位线超过了磁盘上的日志。",
        "en": "On {case} the checkpoint that is published at place {place} ({promise}) has a watermark beyond the end of "
              "the log on the disk.",
    },
    "b7_wrong_restart": {
        "zh": "{case}：位置 {place}（{promise}）的测试说重启还读得到，却没有先落盘。它测的只是内存。",
        "en": "On {case} the test at place {place} ({promise}) says that a restart can read the log, and nothing was "
              "flushed before. What it tests is memory.",
    },
    "b7_wrong_late": {
        "zh": "{case}：你在位置 {place}（{promise}）之后才落盘。话已经说出去了，晚了一步。",
        "en": "On {case} you flush one step after place {place} ({promise}), when somebody relies on the log already.",
    },
    "b7_wrong_again": {
        "zh": "{case}：前面落过一次盘，可后来又追加了事件，到位置 {place}（{promise}）它们还没落盘。",
        "en": "On {case} there was a flush, but more was appended after it, and at place {place} ({promise}) that is not "
              "durable.",
    },
    "b7_wrong_empty": {
        "zh": "{case}：位置 {place} 的落盘没有东西可写：这之前没有还没落盘的事件。",
        "en": "On {case} the flush at place {place} has nothing to write: no event before it is waiting for a flush.",
    },
    "b7_wrong_too_many": {
        "zh": "{case}：该守的都守住了，可落盘 {n} 次太多，{least} 次就够。还没有人要依靠它的时候，可以等一等。",
        "en": "On {case} every promise is kept, but your flushes ({n}) are more than it takes ({least}). Where nobody "
              "relies on an event yet, its flush can wait.",
    },
    "b7_col_point": {"zh": "比什么", "en": "point"},
    "b7_point_concurrent": {"zh": "并发写：写 a 的时候也写 b", "en": "concurrent writes: b while a is being written"},
    "b7_point_backups": {"zh": "备份：会话还开着，只复制它的文件", "en": "backup: copy the file of an open session"},
    "b7_point_sizes": {"zh": "文件大小：与普通 JSONL 比", "en": "file size, beside plain JSONL"},
    "b7_point_raw": {"zh": "原始字节：接收别的程序写的日志", "en": "raw bytes: take over another program's log"},
    "b7_point_damages": {"zh": "损坏隔离：文件开头被覆盖", "en": "isolation: the beginning of a file is overwritten"},
    "b7_point_tools": {"zh": "运维工具：数一数调用", "en": "tools: count the calls"},
    "b7_point_side_by_side": {"zh": "各写各的文件，不用等", "en": "each its own file, nobody waits"},
    "b7_point_waits": {"zh": "同一个文件，要等前一次写完", "en": "one file, the second waits for the first"},
    "b7_point_copied": {"zh": "副本里有 {n}/{of} 个事件", "en": "{n} of {of} events in the copy"},
    "b7_point_backup": {
        "zh": "副本里有 {n}/{of} 个事件（其余在 WAL 文件里）；用 SQLite 自己的备份：{own}/{of}",
        "en": "{n} of {of} events in the copy (the rest is in the WAL file); with SQLite's own backup {own} of {of}",
    },
    "b7_point_zstd": {"zh": "用 Zstandard，约 {part}", "en": "about {part} with Zstandard"},
    "b7_point_size": {"zh": "约 {part}，不用 Zstandard", "en": "about {part}, without Zstandard"},
    "b7_point_whole_line": {"zh": "整行逐字节保留", "en": "the whole line stays, byte for byte"},
    "b7_point_data_only": {
        "zh": "data 的文本逐字节保留，整行不保留",
        "en": "the text of data stays byte for byte, the line does not",
    },
    "b7_point_not_raw": {"zh": "只保留值，不保留字节", "en": "the values stay, the bytes do not"},
    "b7_point_damage": {"zh": "{of} 个会话中还能打开 {n} 个", "en": "{n} of {of} sessions can still be opened"},
    "b7_point_text": {"zh": "文本搜索：{n} 行", "en": "a search in text: {n} lines"},
    "b7_point_sql": {"zh": "SQL 查询，跨所有会话：{n} 行", "en": "an SQL query, over all sessions: {n} rows"},
}
