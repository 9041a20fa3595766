"""Wrong answers to the exercises of lab A1, and the key of the sentence that each must be told."""

WRONG = {
    "parse-tool": [
        ("""\
def parse_tool(value):
    if not value.get("isError"):
        return None
    return ToolMessage(value["toolCallId"], value["content"], True)
""", "a1_false_refused"),
        ("""\
def parse_tool(value):
    call_id = value.get("toolCallId")
    if not call_id or not isinstance(call_id, str) or not isinstance(value.get("isError"), bool):
        return None
    return ToolMessage(call_id, value["content"], value["isError"])
""", "a1_empty_id_refused"),
        ("""\
def parse_tool(value):
    if set(value) != {"role", "content", "toolCallId", "isError"} or not isinstance(value["isError"], bool):
        return None
    return ToolMessage(value["toolCallId"], value["content"], value["isError"])
""", "a1_extra_refused"),
        ("""\
def parse_tool(value):
    if value.get("isError") or not isinstance(value.get("toolCallId"), str):
        return None
    return ToolMessage(value["toolCallId"], value["content"], False)
""", "a1_good_refused"),
        ("""\
def parse_tool(value):
    message = ToolMessage(value.get("toolCallId"), value["content"], value.get("isError"))
    print(message)
""", "a1_never_returns"),
        ("""\
def parse_tool(value):
    if isinstance(value.get("toolCallId"), str) and isinstance(value.get("isError"), bool):
        return value
    return None
""", "a1_no_message"),
        ("""\
def parse_tool(value):
    if isinstance(value.get("toolCallId"), str) and "isError" in value:
        return ToolMessage(value["toolCallId"], value["content"], False)
    return None
""", "a1_good_changed"),
        ("""\
def parse_tool(value):
    if isinstance(value["toolCallId"], str) and isinstance(value["isError"], bool):
        return ToolMessage(value["toolCallId"], value["content"], value["isError"])
    return None
""", "a1_missing_raises"),
        ("""\
def parse_tool(value):
    call_id, is_error = value.get("toolCallId"), value.get("isError")
    if not isinstance(call_id, str) or not isinstance(is_error, bool):
        raise ValueError("no tool message")
    return ToolMessage(call_id, value["content"], is_error)
""", "a1_bad_raises"),
        ("""\
def parse_tool(value):
    if not isinstance(value.get("isError"), bool):
        return None
    return ToolMessage(value.get("toolCallId"), value["content"], value["isError"])
""", "a1_id_unchecked"),
        ("""\
def parse_tool(value):
    call_id, is_error = value.get("toolCallId"), value.get("isError")
    if isinstance(call_id, str) and isinstance(is_error, int):
        return ToolMessage(call_id, value["content"], is_error)
    return None
""", "a1_number_kept"),
        ("""\
def parse_tool(value):
    if not isinstance(value.get("toolCallId"), str) or "isError" not in value:
        return None
    return ToolMessage(value["toolCallId"], value["content"], bool(value["isError"]))
""", "a1_number_converted"),
        ("""\
def parse_tool(value):
    call_id, is_error = value.get("toolCallId"), value.get("isError")
    if not isinstance(call_id, str) or "isError" not in value or type(is_error) is int:
        return None
    return ToolMessage(call_id, value["content"], is_error)
""", "a1_bad_passes"),
    ],
}
