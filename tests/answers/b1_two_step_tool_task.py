"""Wrong answers to the exercise of lab B1, each with the sentence that it must get."""

HEAD = "def call_of_result(events, seq):\n"
CALL_ID = '    call_id = events[seq].data["message"]["source"]["callId"]\n'
SAME = 'event.type == "tool/call" and event.data["callId"] == call_id'
FOLLOW = '''    for cited in events[seq].source_event_seqs or ():
        if events[cited].type == "tool/call":
            return cited
        if events[cited].type == "tool/result":
            return call_of_result(events, cited)
'''
ONE_STEP = '''    for cited in events[seq].source_event_seqs or ():
        if events[cited].type == "tool/result":
            return events[cited].source_event_seqs[0]
        return cited
'''

WRONG = {
    "call-of-result": [
        (HEAD + "    return seq - 1\n", "b1_other_call"),
        (HEAD + "    return seq - 2\n", "b1_simple"),
        (HEAD + CALL_ID + f"    return next((event.seq for event in events if {SAME}), None)\n", "b1_other_turn"),
        (HEAD + CALL_ID + f"    return next((event.seq for event in reversed(events[:seq]) if {SAME}), None)\n",
         "b1_rewritten"),
        (HEAD + ONE_STEP, "b1_rewritten_again"),
        (HEAD + FOLLOW + CALL_ID + f"    return next(event.seq for event in reversed(events[:seq]) if {SAME})\n", "b1_made_up"),
        (HEAD + "    for cited in events[seq].source_event_seqs or ():\n        return events[cited]\n", "b1_not_a_seq"),
        (HEAD + FOLLOW.replace(" or ()", "[:1]"), "check_raised"),
    ],
}
