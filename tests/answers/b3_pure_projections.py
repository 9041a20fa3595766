"""Wrong answers to the exercises of lab B3, each with the sentence that it must get."""

STATUS = '''def my_turn_status(state, event):
    data = event.data
    if event.type == "turn/start":
        return {"turn": data["turn"], "step": None, "steps": 0, "status": "running"}
    if event.type == "step/start":
        return {**state, "step": data["step"], "steps": state["steps"] + 1}
    if event.type == "step/end":
        return {**state, "step": None}
    return {**state, "step": None, "status": data["reason"]["kind"]}
'''
PAIRING = '''def my_pairing(state, event):
    data, calls = event.data, state["calls"]
    if event.type == "turn/start":
        return {**state, "calls": {}} if calls else state
    if event.type == "assistant/message":
        content = data["message"]["content"]
        asked = {block["id"]: "requested"
                 for block in content if block["type"] == "tool-call"}
        return {**state, "calls": {**calls, **asked}} if asked else state
    if event.type == "tool/call":
        return {**state, "calls": {**calls, data["callId"]: "started"}}
    call_id = data["message"]["source"]["callId"]
    if calls.get(call_id) not in ("requested", "started"):
        return state
    failed = data["message"]["content"][0].get("isError")
    unknown = data.get("error", {}).get("code") == "TOOL_OUTCOME_UNKNOWN"
    end = "unknown" if unknown else "failed" if failed else "succeeded"
    return {**state, "calls": {**calls, call_id: end}, end: state[end] + 1}
'''


def changed(source: str, old: str, new: str) -> str:
    """*source* with *old*, which has to be there, replaced."""
    assert old in source
    return source.replace(old, new)


WRONG = {
    "turn-status": [
        (changed(STATUS, 'return {**state, "step": None}\n', 'state["step"] = None\n        return state\n'), "b3_mutates"),
        (changed(STATUS, '"steps": 0, "status"', '"steps": state["steps"], "status"'), "b3_steps_kept"),
        (changed(STATUS, ', "steps": state["steps"] + 1', ""), "b3_differs"),
        (changed(STATUS, '"step": None}\n', '"step": None, "steps": state["steps"] + 1}\n'), "b3_steps_at_end"),
        (changed(STATUS, 'return {**state, "step": None}\n', "return state\n"), "b3_step_left"),
        (changed(STATUS, 'data["reason"]["kind"]', '"completed"'), "b3_reason"),
        (changed(STATUS, 'data["reason"]["kind"]', 'data["reason"]'), "b3_reason_whole"),
        (changed(STATUS, "def my", "async def my"), "b3_async"),
        (changed(STATUS, '"turn": data["turn"], ', ""), "b3_names"),
        (changed(STATUS, 'return {**state, "step": None, "status"', 'return None and {"status"'), "b3_none"),
        (changed(STATUS, 'data["turn"]', 'data["number"]'), "check_raised"),
        (changed(STATUS, '"status": "running"', '"status": {"running"}'), "b3_no_json"),
        (STATUS + "\nfrom itertools import count\nticks = count()\nright = my_turn_status\n"
         "def my_turn_status(state, event):\n"
         "    return {**right(state, event), 'steps': 0 if event.type == 'turn/start' else next(ticks)}\n", "b3_impure"),
    ],
    "pair-tools": [
        (changed(PAIRING, 'return {**state, "calls": {**calls, data["callId"]: "started"}}',
                 'state["calls"][data["callId"]] = "started"\n        return state'), "b3_mutates"),
        (changed(PAIRING, 'calls.get(call_id) not in ("requested", "started")',
                 'calls.get(call_id) in ("succeeded", "failed", "unknown")'), "b3_twice"),
        (changed(PAIRING, '"unknown" if unknown else "failed"', '"failed"'), "b3_unknown_failed"),
        (changed(PAIRING, '"failed" if failed else "succeeded"', '"succeeded"'), "b3_failed_succeeded"),
        (changed(PAIRING, 'data["message"]["content"][0].get("isError")', '"error" in data'), "b3_failed_bare"),
        (changed(PAIRING, '"calls": {**calls, **asked}', '"calls": asked'), "b3_calls_lost"),
        (changed(PAIRING, '== "TOOL_OUTCOME_UNKNOWN"', 'in ("TOOL_OUTCOME_UNKNOWN", "TOOL_NOT_STARTED")'),
         "b3_not_started_failed"),
        (changed(PAIRING, " if asked else state", ""), "b3_new_object"),
        (changed(PAIRING, 'return {**state, "calls": {}} if calls else state', "return state"), "b3_old_calls"),
        (changed(PAIRING, 'if block["type"] == "tool-call"', 'if block["type"] == "tool-use"'), "b3_not_requested"),
        (changed(PAIRING, 'return {**state, "calls": {**calls, data["callId"]: "started"}}', "return state"), "b3_not_started"),
        (changed(PAIRING, ", end: state[end] + 1", ""), "b3_differs"),
        (changed(PAIRING, '{**state, "calls": {}}', '{"calls": {}}'), "b3_names"),
        (changed(PAIRING, 'data.get("error", {}).get("code")', 'data["error"]["code"]'), "check_raised"),
    ],
}
