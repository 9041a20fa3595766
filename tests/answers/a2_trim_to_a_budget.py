"""Wrong answers to the exercise of lab A2, each with the key of the sentence that it gets."""

WRONG = {
    "law-orphans": [
        ("""def results_without_call(messages):
    return []
""", "a2_law_silent"),
        ("""def results_without_call(messages):
    called = {call.id for message in messages if message.role == "assistant" for call in message.tool_calls}
    return [index for index, message in enumerate(messages) if message.role == "tool" and message.tool_call_id not in called]
""", "a2_law_later"),
        ("""def results_without_call(messages):
    called, found = set(), []
    for index, message in enumerate(messages):
        if message.role == "assistant" and message.tool_calls:
            called.add(message.tool_calls[0].id)
        elif message.role == "tool" and message.tool_call_id not in called:
            found.append(index)
    return found
""", "a2_law_first_call"),
        ("""def results_without_call(messages):
    found = []
    for index, message in enumerate(messages):
        if message.role == "tool":
            before = messages[index - 1] if index else message
            if before.role != "assistant" or message.tool_call_id not in [call.id for call in before.tool_calls]:
                found.append(index)
    return found
""", "a2_law_neighbour"),
        ("""def results_without_call(messages):
    called, found = set(), []
    for index, message in enumerate(messages):
        if message.role == "assistant" and message.tool_calls:
            called = {call.id for call in message.tool_calls}
        elif message.role == "tool" and message.tool_call_id not in called:
            found.append(index)
    return found
""", "a2_law_newest_only"),
        ("""def results_without_call(messages):
    called, found = set(), []
    for message in messages:
        if message.role == "assistant":
            called.update(call.id for call in message.tool_calls)
        elif message.role == "tool" and message.tool_call_id not in called:
            found.append(message.tool_call_id)
    return found
""", "a2_law_ids"),
        ("""def results_without_call(messages):
    return {index for index, message in enumerate(messages) if message.role == "tool"}
""", "a2_law_not_a_list"),
        ("""def results_without_call(messages):
    called, found = set(), []
    for index, message in enumerate(messages):
        if message.role == "assistant":
            called.update(call.id for call in message.tool_calls)
        elif getattr(message, "tool_call_id", None) not in called:
            found.append(index)
    return found
""", "a2_law_wrong_role"),
        ("""def results_without_call(messages):
    return [index for index, message in enumerate(messages) if message.role == "tool"]
""", "a2_law_other"),
        ("""def results_without_call(messages):
    return [index for index, message in enumerate(messages, start=1) if message.role == "tool"]
""", "a2_law_outside"),
        ("""def results_without_call(messages):
    for index, message in enumerate(messages):
        print(index, message.role)
""", "a2_law_no_value"),
        ("""def results_without_call(messages):
    called, found = set(), []
    for index, message in enumerate(messages):
        if message.role == "assistant":
            called.update(call.id for call in message.tool_calls)
        elif message.role == "tool":
            if message.tool_call_id not in called:
                found.append(index)
            called.discard(message.tool_call_id)
    return found
""", "a2_law_second_result"),
        ("""def results_without_call(messages):
    return [index for index, message in enumerate(messages) if message["role"] == "tool"]
""", "check_raised"),
    ],
}
