"""Words of the lab report."""

WORDS = {
    "report_title": {"zh": "实验报告", "en": "Lab report"},
    "report_col_sources": {"zh": "引用的事件", "en": "cites"},
    "report_list": {"zh": "、", "en": ", "},
    "report_counts": {
        "zh": "事件 {n:,} 个，轮次 {turns} 个（结束方式：{ends}）",
        "en": "events: {n:,}; turns: {turns} (ended: {ends})",
    },
    "report_pairing": {
        "zh": "调用 {calls} 个：有结果 {paired} 个，没有 {open} 个；没有调用的结果 {alone} 个",
        "en": "calls: {calls} (with a result: {paired}, without: {open}); results without a call: {alone}",
    },
    "report_surface": {
        "zh": "表面：{nodes} 个节点，估算 {tokens:,} token，替换 {k} 次",
        "en": "surface: {nodes} nodes, {tokens:,} tokens by the estimate; replacements: {k}",
    },
    "report_figures": {
        "zh": "替换 {seq}：节点 {before} → {after}，估算 token {cost:,} → {less:,}，日志共 {events:,} 个事件，一个不少",
        "en": "replacement {seq}: nodes {before} → {after}, estimated tokens {cost:,} → {less:,}; the log keeps all {events:,}",
    },
    "report_requests": {
        "zh": "请求 {n} 次，能从日志重建 {good} 次",
        "en": "requests: {n}; can be rebuilt from the log: {good}",
    },
    "report_compared": {
        "zh": "和模型真正收到的相比：{n} 次里 {good} 次完全相同",
        "en": "compared with what the model received: {good} of {n} are the same",
    },
    "report_invariants": {
        "zh": "违反关系的事件 {n} 个",
        "en": "events that break a relation: {n}",
    },
    "report_checks": {
        "zh": "检查 {n} 项，通过 {good} 项",
        "en": "checks: {n}; passed: {good}",
    },
    "report_order": {"zh": "顺序摘要：{digest}…", "en": "digest of the order: {digest}…"},
}
