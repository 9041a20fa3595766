"""Wrong answers to the exercise of lab B10, each with the sentence that it must get."""

LINE = '''import json

def leaks(export, word):
    return [at for at, record in enumerate(export) if word in {text}]
'''
TEXTS = '''def leaks(export, word):
    found = []
    for at, record in enumerate(export):
        for block in record.get("data", {}).get("content", []):
            if word in block["text"]:
                found.append(at)
    return found
'''
NO_ERRORS = '''def leaks(export, word):
    return [at for at, record in enumerate(export) if record["type"] != "turn/end" and word in str(record)]
'''
WALK = '''def leaks(export, word):
    def says(value):
        if isinstance(value, dict):
            return any(says(part) for part in {parts})
        if isinstance(value, list):
            return any(says(part) for part in value)
        return {rest}

    return [at for at, record in enumerate(export) if says(record)]
'''
ALL = "[*value, *value.values()]"
ONE_LEVEL = 'word in str(value) or (isinstance(value, str) and word in str(json_in(value)))'
OPENED = 'word in str(value) or (isinstance(value, str) and json_in(value) is not None and says(json_in(value)))'
FIRST = WALK.format(parts=ALL, rest=OPENED).replace("says(record)]\n", "says(record)][:1]\n")
SEQS = WALK.format(parts=ALL, rest=OPENED).replace("[at for", '[record["seq"] for')
TWICE = WALK.format(parts=ALL, rest=OPENED).replace("says(record)]\n", "says(record)] * 2\n")

WRONG = {
    "leaks": [
        (TEXTS, "b10_wrong_header"),
        (NO_ERRORS, "b10_wrong_error"),
        (WALK.format(parts="value.values()", rest=OPENED), "b10_wrong_key"),
        (WALK.format(parts=ALL, rest="isinstance(value, str) and word in value"), "b10_wrong_number"),
        (LINE.format(text="json.dumps(record)"), "b10_wrong_spelled"),
        (LINE.format(text="str(record)"), "b10_wrong_asked"),
        (WALK.format(parts=ALL, rest=ONE_LEVEL), "b10_wrong_deeper"),
        (FIRST, "b10_wrong_twice"),
        (SEQS, "b10_wrong_place"),
        (TWICE, "b10_wrong_order"),
        ("def leaks(export, word):\n    return list(range(len(export)))\n", "b10_wrong_clean"),
        ("def leaks(export, word):\n    return []\n", "b10_wrong_said"),
        ("def leaks(export, word):\n    return word in str(export)\n", "b10_wrong_kind"),
        ("def leaks(export, word):\n    return [at for at in export if word in at.data]\n", "check_raised"),
    ],
}
