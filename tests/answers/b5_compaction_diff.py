"""Wrong answers to lab B5's exercise, each with the key of the sentence that refuses it."""

WRONG = {
    "repair": [
        ('''def repair(summary, messages):
    return summary
''', "b5_wrong_lost"),
        ('''def repair(summary, messages):
    return summary + "".join("\\n" + result.text for result in results(messages))
''', "b5_wrong_again"),
        ('''def repair(summary, messages):
    for result in results(messages):
        for line in result.text.splitlines():
            if set(re.findall(r"op-\\d+", line)) - set(re.findall(r"op-\\d+", summary)):
                return summary + "\\ndone: " + line
    return summary
''', "b5_wrong_first"),
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
            if any(id not in summary for id in re.findall(r"op-\\d+", line)):
                lines.append(("failed: " if result.failed else "done: ") + line)
    return "\\n".join(lines)
''', "b5_wrong_prefix"),
        ('''def repair(summary, messages):
    lost = [id for result in results(messages) for id in re.findall(r"op-\\d+", result.text)]
    return summary + "".join("\\ndone: " + id for id in lost if id not in summary)
''', "b5_wrong_bare"),
        ('''def repair(summary, messages):
    text = " ".join(str(message["content"]) for message in messages)
    lines = [summary]
    for invoice, id in re.findall(r"(INV-\\d+)[^']*?(op-\\d+)", text):
        if id not in re.findall(r"op-\\d+", summary):
            state = "failed" if "True" in text else "done"
            lines.append(f"{state}: {invoice} {id}")
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
    return "\\n".join("failed: " + result.text if result.failed else result.text for result in results(messages))
''', "b5_wrong_summary"),
    ],
}
