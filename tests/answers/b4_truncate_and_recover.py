"""Wrong answers to the exercise of lab B4, each with the sentence that it must get."""

HEAD = '''def decide(events, call_id):
    decision = None
    for event in events:
        if event.type == "tool/result" and event.data["message"]["source"]["callId"] == call_id:
'''
BY_CODE = '''            code = event.data.get("error", {}).get("code")
            decision = {"TOOL_NOT_STARTED": "retry", "TOOL_OUTCOME_UNKNOWN": "verify"}.get(code, "leave")
'''
IS_ERROR = '''            error = event.data["message"]["content"][0]["isError"]
'''
END = "    return decision\n"
TEXT = '''            text = event.data["message"]["content"][0]["content"][0]["text"]
            code = event.data.get("error", {}).get("code", "")
            decision = "verify" if code == "TOOL_OUTCOME_UNKNOWN" else "retry" if "NOT_STARTED" in code + text else "leave"
'''

WRONG = {
    "decide": [
        ('def decide(events, call_id):\n    return "verify"\n', "b4_wrong_answered"),
        ('def decide(events, call_id):\n    return "retry"\n', "b4_wrong_again"),
        ('def decide(events, call_id):\n    return "leave"\n', "b4_wrong_ignored"),
        ('def decide(events, call_id):\n    return "ask"\n', "b4_wrong_word"),
        (HEAD + IS_ERROR + '            decision = "retry" if error else "leave"\n' + END, "b4_wrong_twice"),
        (HEAD + IS_ERROR + '            decision = "verify" if error else "leave"\n' + END, "b4_wrong_nothing_to_ask"),
        (HEAD + '            code = event.data.get("error", {}).get("code")\n'
         '            decision = "verify" if code == "TOOL_OUTCOME_UNKNOWN" else "leave"\n' + END, "b4_wrong_undone"),
        (HEAD + '            code = event.data.get("error", {}).get("code")\n'
         '            decision = {"TOOL_NOT_STARTED": "retry", None: "leave"}.get(code, "verify")\n' + END,
         "b4_wrong_failed"),
        (HEAD + TEXT + END, "b4_wrong_quotes"),
        (HEAD.replace(' and event.data["message"]["source"]["callId"] == call_id', "") + BY_CODE + END,
         "b4_wrong_other"),
        (HEAD + BY_CODE + "            return decision\n", "b4_wrong_old"),
        (HEAD + BY_CODE.replace(', "leave")', ")") + END, "b4_wrong_none"),
        (HEAD + '            code = event.data["error"]["code"]\n            decision = code\n' + END, "check_raised"),
    ],
}
