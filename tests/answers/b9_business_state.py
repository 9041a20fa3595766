"""Wrong answers to the exercise of lab B9, each with the sentence that it must get."""

KEY = '''def send(ledger, order, attempt):
    return ledger.send("invoice", order, key={key}).id
'''
LOG = '''def send(ledger, order, attempt):
    for event in attempt.events:
        if event.type == "tool/result" and not event.data["message"]["content"][0]["isError"]:
            return event.data["message"]["content"][0]["content"][0]["text"]
    return ledger.send("invoice", order).id
'''
CAUTIOUS = '''def send(ledger, order, attempt):
    for event in attempt.events:
        if event.type == "tool/result":
            return "unknown"
    return ledger.send("invoice", order, key=order["invoice"]).id
'''
LOOKS_FIRST = '''def send(ledger, order, attempt):
    for operation in ledger.operations("invoice"):
        if operation.payload["invoice"] == order["invoice"]:
            return operation.id
    return ledger.send("invoice", order).id
'''
FIRST_FOUND = '''def send(ledger, order, attempt):
    done = ledger.find(order["invoice"])
    if done is not None:
        return done.id
    return ledger.send("invoice", order, key=order["invoice"]).id
'''
RANDOM = '''def send(ledger, order, attempt):
    return ledger.send("invoice", order, key=f"{order['invoice']} {len(ledger.operations())}").id
'''

WRONG = {
    "send": [
        ('def send(ledger, order, attempt):\n    return ledger.send("invoice", order).id\n', "b9_wrong_no_key"),
        (KEY.format(key="str(attempt.time)"), "b9_wrong_clock"),
        (KEY.format(key="attempt.call_id"), "b9_wrong_call_id"),
        (LOG, "b9_wrong_log"),
        (CAUTIOUS, "b9_wrong_never"),
        (RANDOM, "b9_wrong_random"),
        (KEY.format(key='order["customer"]'), "b9_wrong_merged"),
        (KEY.format(key='order["invoice"] + order["amount"]'), "b9_wrong_content"),
        (LOOKS_FIRST, "b9_wrong_race"),
        (FIRST_FOUND, "b9_wrong_swallowed"),
        (KEY.format(key='order["invoice"]').replace(".id", ""), "b9_wrong_value"),
        (KEY.format(key='order["invoice"]').replace('"invoice", order,', '"mail", order,'), "b9_wrong_payload"),
        ('def send(ledger, order, attempt):\n    return "op-0001"\n', "b9_wrong_nothing"),
        ('def send(ledger, order, attempt):\n    return ledger.send(order)\n', "check_raised"),
    ],
}
