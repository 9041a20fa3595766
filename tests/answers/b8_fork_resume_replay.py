"""Wrong answers to the exercise of lab B8, each with the sentence that it must get."""

WALK = '''def boundaries(events):
    legal, inside = [], {inside}
    for event in events:
        if event.type == "turn/start":
            inside = True
        if event.type == "turn/end":
            inside = False
        if {when}:
            legal.append(event.seq)
    return legal
'''
TURN_STARTS = '''def boundaries(events):
    legal, inside = [], False
    for event in events:
        if event.type == "turn/end":
            inside = False
        if not inside:
            legal.append(event.seq)
        if event.type == "turn/start":
            inside = True
    return legal
'''
BALANCED = '''def boundaries(events):
    legal, waiting = [], 0
    for event in events:
        waiting += (event.type == "tool/call") - (event.type == "tool/result")
        if not waiting:
            legal.append(event.seq)
    return legal
'''
LENGTHS = '''def boundaries(events):
    legal, inside = [], False
    for event in events:
        inside = event.type == "turn/start" or inside and event.type != "turn/end"
        if not inside:
            legal.append(event.seq + 1)
    return legal
'''
COMPLETED = '''def boundaries(events):
    legal, inside = [], False
    for event in events:
        if event.type == "turn/start":
            inside = True
        if event.type == "turn/end" and event.data["reason"]["kind"] == "completed":
            inside = False
        if not inside:
            legal.append(event.seq)
    return legal
'''
NOT_IN_A_TURN = '''def boundaries(events):
    legal, inside = [], False
    for event in events:
        if event.type in ("turn/start", "turn/end"):
            inside = event.type == "turn/start"
        if not inside and event.type != "user/message":
            legal.append(event.seq)
    return legal
'''

WRONG = {
    "boundaries": [
        (WALK.format(inside="False", when='event.type == "turn/end"'), "b8_wrong_between"),
        (WALK.format(inside="True", when="not inside"), "b8_wrong_before"),
        (WALK.format(inside="False", when='not inside or event.type == "step/end"'), "b8_wrong_step_end"),
        (WALK.format(inside="False", when='not inside or event.type == "request/header"'), "b8_wrong_inside"),
        (TURN_STARTS, "b8_wrong_turn_start"),
        (BALANCED, "b8_wrong_balanced"),
        (LENGTHS, "b8_wrong_no_event"),
        (LENGTHS.replace("event.seq + 1", "event.seq - 99"), "b8_wrong_negative"),
        (COMPLETED, "b8_wrong_turn_end"),
        (NOT_IN_A_TURN, "b8_wrong_summary"),
        (LENGTHS.replace("append(event.seq + 1)", "extend([event.seq, event.seq])"), "b8_wrong_twice"),
        ('def boundaries(events):\n    return [event for event in events if event.type == "turn/end"]\n', "b8_wrong_member"),
        ('def boundaries(events):\n    return (event.seq for event in events if event.type == "turn/end")\n', "b8_wrong_kind"),
        ("def boundaries(events):\n    return events[-1].seq\n", "check_raised"),
    ],
}
