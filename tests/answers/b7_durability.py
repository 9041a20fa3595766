"""Wrong answers to the exercise of lab B7, each with the sentence that it must get."""

HEAD = '''def place_flushes(run):
    flushes, waiting = [], False
    for place, entry in enumerate(run):
        if entry not in PROMISES:
            waiting = True
'''
END = "    return flushes\n"
FLUSH = '''            flushes.append(place)
            waiting = False
'''


def all_but(promise):
    return HEAD + f'        elif waiting and entry != "{promise}":\n' + FLUSH + END


WRONG = {
    "place-flushes": [
        ("def place_flushes(run):\n    return []\n", "b7_wrong_tell"),
        ('def place_flushes(run):\n    return [place for place, entry in enumerate(run) if entry == "tell-user"]\n',
         "b7_wrong_hand_over"),
        (all_but("use-summary"), "b7_wrong_summary"),
        (all_but("publish-checkpoint"), "b7_wrong_checkpoint"),
        (all_but("restart-test"), "b7_wrong_restart"),
        ("def place_flushes(run):\n    return [place + 1 for place, entry in enumerate(run) if entry not in PROMISES]\n",
         "b7_wrong_too_many"),
        ("def place_flushes(run):\n    return [place for place, entry in enumerate(run) if entry in PROMISES]\n",
         "b7_wrong_empty"),
        (HEAD + "        elif waiting:\n            flushes.append(place + 1)\n            waiting = False\n" + END,
         "b7_wrong_late"),
        (HEAD + "        elif waiting:\n            return [place]\n" + END, "b7_wrong_again"),
        ("def place_flushes(run):\n    return {0}\n", "b7_wrong_kind"),
        ("def place_flushes(run):\n    return [float(place) for place in range(len(run))]\n", "b7_wrong_number"),
        ("def place_flushes(run):\n    return [-1] if run[-1] in PROMISES else []\n", "b7_wrong_place"),
        ("def place_flushes(run):\n    return [run.index('tell-user')]\n", "check_raised"),
    ],
}
