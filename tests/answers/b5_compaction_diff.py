"""Wrong answers to lab B5's exercise, each with the key of the sentence that refuses it."""

WRONG = {
    "repair": [
        ('''def repair(summary, messages):
    return summary
''', "b5_wrong_lost"),
        ('''def repair(summary, messages):
    return summary + "".join("\\n" + result.text for result in results(messages))
''', "b5_wrong_unmarked"),
        ('''def repair(summary, messages):
    marks = {True: "failed: ", False: "done: "}
    return summary + "".join("\\n" + marks[result.failed] + result.text for result in results(messages))
''', "b5_wrong_again"),
        ('''def repair(summary, messages):
    for result in results(messages):
        for line in result.text.splitlines():
            if set(re.findall(r"op-\\d+", line)) - set(re.findall(r"op-\\d+", summary)):
                return summary + "\\ndone: " + line
    return summary
''', "b5_wrong_first"),
        ('''def repair(summary, messages):
    lost = {}
    for result in results(messages):
        lines = [line for line in result.text.splitlines() if re.search(r"op-\\d+", line)]
        id = re.search(r"op-\\d+", lines[0])[0] if lines else ""
        if id and id not in re.findall(r"op-\\d+", summary):
            lost[id] = ("failed: " if result.failed else "done: ") + lines[0]
    return "\\n".join([summary, *lost.values()])
''', "b5_wrong_inside"),
        ('''def repair(summary, messages):
    lines = [summary]
    for result in results(messages):
        for line in result.text.splitlines():
            if set(re.findall(r"op-\\d+", line)) - set(re.findall(r"op-\\d+", summary)):
                lines.append("done: " + line)
    return "\\n".join(lines)
''', "b5_wrong_failed"),
        ('''def repair(summary, messages):
    lines = [summary]
    for result in results(messages):
        for line in result.text.splitlines():
            if not result.failed and set(re.findall(r"op-\\d+", line)) - set(re.findall(r"op-\\d+", summary)):
                lines.append("done: " + line)
    return "\\n".join(lines)
''', "b5_wrong_untold"),
        ('''def repair(summary, messages):
    lines = [summary]
    for result in results(messages):
        for line in result.text.splitlines():
            if set(re.findall(r"op-\\d+", line)) - set(re.findall(r"op-\\d+", summary)):
                lines.append(("failed: " if "declined" in line else "done: ") + line)
    return "\\n".join(lines)
''', "b5_wrong_done"),
        ('''def repair(summary, messages):
    lines = [summary]
    for result in results(messages):
        for line in result.text.splitlines():
            if any(id not in summary for id in re.findall(r"op-\\d+", line)):
                lines.append(("failed: " if result.failed else "done: ") + line)
    return "\\n".join(lines)
''', "b5_wrong_prefix"),
        ('''def repair(summary, messages):
    lost = [id for result in results(messages) for id in re.findall(r"op-\\d+", result.text)]
    return summary + "".join("\\ndone: " + id for id in lost if id not in summary)
''', "b5_wrong_bare"),
        ('''def repair(summary, messages):
    lines = [summary]
    for result in results(messages):
        for invoice, id in re.findall(r"(INV-\\d+).*?(op-\\d+)", result.text):
            if id not in re.findall(r"op-\\d+", summary):
                lines.append(("failed: " if result.failed else "done: ") + f"{id} {invoice}")
    return "\\n".join(lines)
''', "b5_wrong_line"),
        ('''def repair(summary, messages):
    for result in results(messages):
        for line in result.text.splitlines():
            if set(re.findall(r"op-\\d+", line)) - set(re.findall(r"op-\\d+", summary)):
                summary += (" failed: " if result.failed else " done: ") + line
    return summary
''', "b5_wrong_joined"),
        ('''def repair(summary, messages):
    failed = {line: result.failed for result in results(messages) for line in result.text.splitlines()}
    blocks = [block for message in messages for block in message["content"]]
    parts = [part for block in blocks for part in (block["content"] if block["type"] == "tool-result" else [block])]
    lines = [summary]
    for part in parts:
        for line in part.get("text", "").splitlines():
            if set(re.findall(r"op-\\d+", line)) - set(re.findall(r"op-\\d+", summary)):
                lines.append(("failed: " if failed.get(line) else "done: ") + line)
    return "\\n".join(lines)
''', "b5_wrong_invented"),
        ('''def repair(summary, messages):
    lines = [summary]
    for result in results(messages):
        lost = set(re.findall(r"op-\\d+", result.text)) - set(re.findall(r"op-\\d+", summary))
        if lost:
            lines.append(("failed: " if result.failed else "done: ") + result.text)
    return "\\n".join(lines)
''', "b5_wrong_long"),
        ('''def repair(summary, messages):
    kept = set(re.findall(r"op-\\d+", summary))
    lines = [summary]
    for result in results(messages):
        for line in result.text.splitlines():
            lost = set(re.findall(r"op-\\d+", line)) - kept
            if lost:
                lines.append(("failed: " if result.failed else "done: ") + line)
                kept |= lost
    return "\\n".join(lines)
''', "b5_wrong_last"),
        ('''def repair(summary, messages):
    return "\\n".join("failed: " + result.text if result.failed else result.text for result in results(messages))
''', "b5_wrong_summary"),
        ('''def repair(summary, messages):
    return [summary, *(result.text for result in results(messages) if "op-" in result.text)]
''', "b5_wrong_kind"),
    ],
}
