"""Wrong answers to the exercise of lab B6, each with the sentence that it must get."""

HEAD = "def sourced(prompt, prices):\n"
PART = '''    part = ContextPart("prices", {read}, version="prices.csv")
    return replace(prompt, context=[*prompt.context, part])
'''
SECTION = '''    part = Section("prices", lambda values: prices(), 20, version="prices.csv")
    return replace(prompt, sections=[*prompt.sections, part])
'''
OPENER = '''    part = Opener("prices", prices(), version="prices.csv")
    return replace(prompt, openers=[*prompt.openers, part])
'''
COUNTS = '''    from itertools import count
    ticks = count()
    part = ContextPart("prices", lambda: f"{prices()} ({next(ticks)})", version="prices.csv")
    return replace(prompt, context=[*prompt.context, part])
'''

WRONG = {
    "log-the-source": [
        (HEAD + "    now = prices()\n" + PART.format(read="lambda: now"), "b6_wrong_stale"),
        (HEAD + OPENER, "b6_wrong_opener"),
        (HEAD + SECTION, "b6_wrong_section"),
        (HEAD + PART.format(read="prices").replace("[*prompt.context, part]", "[part]"), "b6_wrong_lost"),
        (HEAD + PART.format(read="prices").replace(', version="prices.csv"', ""), "b6_wrong_version"),
        (HEAD + PART.format(read="prices").replace('"prices", p', '"price-list", p'), "b6_wrong_name"),
        (HEAD + PART.format(read='prices, scope="audit"').replace('"audit",', '"shop",'), "b6_wrong_unseen"),
        (HEAD + COUNTS, "b6_wrong_often"),
        (HEAD + "    return {\"prices\": prices()}\n", "b6_wrong_kind"),
        (HEAD + PART.format(read="prices()"), "check_raised"),
        (HEAD + PART.format(read="prices").replace("part])", "part, part])"), "b6_wrong_refused"),
    ],
}
