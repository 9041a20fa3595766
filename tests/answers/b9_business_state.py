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
IN_MEMORY = "from uuid import uuid4\n\nKEYS = {}\n\n\n" + KEY.format(key='KEYS.setdefault(order["invoice"], uuid4().hex)')
BY_THE_LOG = KEY.format(key="""f"{order['invoice']} {sum(event.type == 'turn/start' for event in attempt.events)}\"""")
BY_THE_DAY = "from datetime import date\n\n\n" + KEY.format(key="""f"{order['invoice']} {date.today()}\"""")
CHANGES = '''def send(ledger, order, attempt):
    order["sent"] = ledger.send("invoice", dict(order), key=order["invoice"]).id
    return order["sent"]
'''
TWO_STEPS = '''def send(ledger, order, attempt):
    ledger.send("intent", order, key="intent " + order["invoice"])
    return ledger.send("invoice", order, key=order["invoice"]).id
'''
THE_LATEST = '''def send(ledger, order, attempt):
    ledger.send("invoice", order, key=order["invoice"])
    return ledger.operations()[-1].id
'''

WRONG = {
    "send": [
        ('def send(ledger, order, attempt):\n    return ledger.send("invoice", order).id\n', "b9_wrong_no_key"),
        (KEY.format(key="f\"{order['invoice']} {attempt.time // 3_600_000}\""), "b9_wrong_clock"),
        (KEY.format(key="attempt.call_id"), "b9_wrong_call_id"),
        (LOG, "b9_wrong_log"),
        (CAUTIOUS, "b9_wrong_never"),
        (RANDOM, "b9_wrong_random"),
        (KEY.format(key='order["invoice"].split("-")[1]'), "b9_wrong_merged"),
        (KEY.format(key='order["customer"] + order["invoice"]'), "b9_wrong_content"),
        (LOOKS_FIRST, "b9_wrong_race"),
        (FIRST_FOUND, "b9_wrong_swallowed"),
        (IN_MEMORY, "b9_wrong_process"),
        (BY_THE_LOG, "b9_wrong_log_key"),
        (BY_THE_DAY, "b9_wrong_wall_clock"),
        (CHANGES, "b9_wrong_mutated"),
        (TWO_STEPS, "b9_wrong_extra"),
        (THE_LATEST, "b9_wrong_other_id"),
        (KEY.format(key='order["invoice"]').replace(".id", ""), "b9_wrong_value"),
        (KEY.format(key='order["invoice"]').replace('"invoice", order,', '"mail", order,'), "b9_wrong_payload"),
        ('def send(ledger, order, attempt):\n    return "op-0001"\n', "b9_wrong_nothing"),
        ('def send(ledger, order, attempt):\n    return ledger.send(order)\n', "check_raised"),
    ],
}
