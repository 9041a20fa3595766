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
DATA = '''def leaks(export, word):
    return [at for at, record in enumerate(export) if word in str(record.get("data", record))]
'''
WALK = '''import re

def leaks(export, word):
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
RIGHT = WALK.format(parts=ALL, rest=OPENED)
FIRST = RIGHT.replace("says(record)]\n", "says(record)][:1]\n")
SEQS = RIGHT.replace("[at for", '[record["seq"] for')
TWICE = RIGHT.replace("says(record)]\n", "says(record)] * 2\n")
HEADER_OFF = RIGHT.replace("    return [at for", "    header = export.pop(0)\n    return [0] * says(header) + [at + 1 for")
KEPT = RIGHT.replace("def leaks(export, word):", "def leaks(export, word, found=[]):").replace(
    "return [at for at, record in enumerate(export) if says(record)]",
    "found.extend(at for at, record in enumerate(export) if says(record))\n    return found")
INNER_VALUES = OPENED.replace("says(json_in(value))", "any(says(part) for part in dict(json_in(value)).values())")
ARGUMENTS = '''def leaks(export, word):
    def says(value, key=None):
        if isinstance(value, dict):
            return any(word in name or says(part, name) for name, part in value.items())
        if isinstance(value, list):
            return any(says(part) for part in value)
        inside = json_in(value) if key == "arguments" else None
        return word in str(value) or (inside is not None and says(inside))

    return [at for at, record in enumerate(export) if says(record)]
'''
KNOWN = '''KEYS = "cwd type data content message reason error title text meta rows phone arguments body name Ana".split()

def leaks(export, word):
    def says(value):
        if isinstance(value, dict):
            return any(word in key or (key in KEYS and says(part)) for key, part in value.items())
        if isinstance(value, list):
            return any(says(part) for part in value)
        return word in str(value) or (isinstance(value, str) and json_in(value) is not None and says(json_in(value)))

    return [at for at, record in enumerate(export) if says(record)]
'''

WRONG = {
    "leaks": [
        (TEXTS, "b10_wrong_header"),
        (DATA, "b10_wrong_type"),
        (NO_ERRORS, "b10_wrong_error"),
        (WALK.format(parts="value.values()", rest=OPENED), "b10_wrong_key"),
        (WALK.format(parts=ALL, rest="isinstance(value, str) and word in value"), "b10_wrong_number"),
        (RIGHT.replace("word in str(value)", "word.lower() in str(value).lower()"), "b10_wrong_near"),
        (LINE.format(text="json.dumps(record)"), "b10_wrong_spelled"),
        (RIGHT.replace("word in str(value)", r're.search(rf"\b{word}\b", str(value)) is not None'), "b10_wrong_glued"),
        (LINE.format(text="json.dumps(record, ensure_ascii=False)"), "b10_wrong_signs"),
        (LINE.format(text="str(record)"), "b10_wrong_asked"),
        (WALK.format(parts=ALL, rest=INNER_VALUES), "b10_wrong_asked_key"),
        (ARGUMENTS, "b10_wrong_result"),
        (WALK.format(parts=ALL, rest=ONE_LEVEL), "b10_wrong_deeper"),
        (FIRST, "b10_wrong_twice"),
        (KNOWN, "b10_wrong_random"),
        (SEQS, "b10_wrong_place"),
        (TWICE, "b10_wrong_order"),
        (HEADER_OFF, "b10_wrong_changed"),
        (KEPT, "b10_wrong_state"),
        ("def leaks(export, word):\n    return list(range(len(export)))\n", "b10_wrong_clean"),
        ("def leaks(export, word):\n    return []\n", "b10_wrong_said"),
        ("def leaks(export, word):\n    return word in str(export)\n", "b10_wrong_kind"),
        ("def leaks(export, word):\n    return [at for at in export if word in at.data]\n", "check_raised"),
    ],
}
