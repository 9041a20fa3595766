"""Wrong answers to the exercise of lab B2, each with the sentence that it must get."""

HEAD = "def derive_one(event):\n"
USER = '    if event.type == "user/message":\n        return event.data\n'
RESULT = '    if event.type == "tool/result":\n        return event.data["message"]\n'
ANSWER = ('    if event.type == "assistant/message" and event.data["message"]["content"]:\n'
          '        return event.data["message"]\n')

WRONG = {
    "derive-event-message": [
        (HEAD + USER + RESULT + ANSWER.replace(' and event.data["message"]["content"]', ""), "b2_empty_in"),
        (HEAD + USER + RESULT + ANSWER.replace('return event.data["message"]', "return event.data"), "b2_answer_data"),
        (HEAD + USER + RESULT + ANSWER + '    if event.type == "tool/call":\n        return event.data\n', "b2_call_in"),
        (HEAD + USER + ANSWER, "b2_result_lost"),
        (HEAD + RESULT + ANSWER, "b2_user_lost"),
        (HEAD + USER + RESULT, "b2_answer_lost"),
        (HEAD + '    if event.surface_op != "append":\n        return None\n' + USER + RESULT + ANSWER, "b2_replacement_lost"),
        (HEAD + USER + RESULT + ANSWER + '    if event.type == "assistant/chunk":\n        return event.data["chunk"]\n',
         "b2_chunk_in"),
        (HEAD + "    return event.data\n", "b2_structure_in"),
        (HEAD + USER.replace(":\n", ' and event.data["source"]["kind"] == "user":\n', 1) + RESULT + ANSWER, "b2_injected_lost"),
        (HEAD + '    return event.data["message"] if "message" in event.type else None\n', "check_raised"),
    ],
}
