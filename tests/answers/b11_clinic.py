"""Wrong answers of lab B11."""


def _causes(**changed):
    """The answer with some diagnoses changed; "" leaves one out."""
    right = {1: "scope-kept", 2: "unknown-event", 3: "context-not-logged", 4: "tail-not-repaired", 5: "cache-missing",
             6: "flush-failed", 7: "client-folds", 8: "operation-lost", 9: "other-compensated", 10: None}
    named = {number: changed.get(f"case_{number}", cause) for number, cause in right.items()}
    return f"def causes():\n    return {({number: cause for number, cause in named.items() if cause != ''})!r}\n"


WRONG = {"causes": [
    (_causes(case_1="history-only"), "b11_wrong_prompt"),  # it has a header of its own
    (_causes(case_4="result-filtered"), "b11_wrong_events"),  # a call without a result, in a turn that nobody closed
    (_causes(case_3="rule-lost"), "b11_wrong_surface"),
    (_causes(case_5="cache-version"), "b11_wrong_watermark"),
    (_causes(case_7="client-behind"), "b11_wrong_client"),
    (_causes(case_9="deleted-only"), "b11_wrong_outside"),  # there is a compensation, of something else
    (_causes(case_8="deleted-only"), "b11_wrong_row"),  # a cause of another complaint
    ("def causes():\n"  # whatever is found first, without reading the complaint
     "    found = {patient.number: diagnose(patient.case).causes for patient in unseen()}\n"
     "    return {number: names[0] if names else None for number, names in found.items()}\n", "b11_wrong_bystander"),
    (_causes(case_10="client-folds"), "b11_wrong_unproven"),  # a guess: somebody complains, so something must be wrong
    (_causes(case_6=None), "b11_wrong_none"),
    (_causes(case_6="flush-fail"), "b11_wrong_name"),
    (_causes(case_10=""), "b11_wrong_missing"),
    ("def causes():\n    names = ['scope-kept', 'unknown-event']\n    return dict(enumerate(names))\n", "b11_wrong_number"),
    ("def causes():\n    return ['scope-kept', 'unknown-event']\n", "b11_wrong_shape"),
    ("def causes():\n    return {1: cause}\n", "check_raised"),
]}
