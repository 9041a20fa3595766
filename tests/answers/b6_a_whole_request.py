"""Wrong answers to the exercise of lab B6, each with the sentence that it must get."""

HEAD = "def sourced(prompt, prices):\n"
PART = '''    part = ContextPart("prices", {read}, version="prices.csv")
    return replace(prompt, context=[*prompt.context, part])
'''
RIGHT = HEAD + PART.format(read="prices")
SECTION = '''    part = Section("prices", lambda values: prices(), 20, version="prices.csv")
    return replace(prompt, sections=[*prompt.sections, part])
'''
OPENER = '''    part = Opener("prices", prices(), version="prices.csv")
    return replace(prompt, openers=[*prompt.openers, part])
'''
BOTH = '''    part = ContextPart("prices", prices, version="prices.csv")
    opener = Opener("prices", prices(), version="prices.csv")
    return replace(prompt, context=[*prompt.context, part], openers=[*prompt.openers, opener])
'''
RANDOM = '''    from random import random
    made = random()
    part = ContextPart("prices", lambda: f"{prices()} ({made})", version="prices.csv")
    return replace(prompt, context=[*prompt.context, part])
'''
HISTORY = '''    lists = []
    def read():
        if prices() not in lists:
            lists.append(prices())
        return "\\n".join(lists)
''' + PART.format(read="read")
CHANGES = '''    told = []
    def read():
        if told and told[-1] == prices():
            return ""
        told.append(prices())
        return told[-1]
''' + PART.format(read="read")
APPENDS = '''    part = ContextPart("prices", prices, version="prices.csv")
    if isinstance(prompt.context, list):
        prompt.context.append(part)
        return prompt
    return replace(prompt, context=(*prompt.context, part))
'''
VARIABLE = PART.format(read="prices").replace("part])", 'part], variables={"prices": prices()})')
SORTED = '''    part = ContextPart("prices", prices, version="prices.csv")
    return replace(prompt, context=sorted([*prompt.context, part], key=lambda one: one.version, reverse=True))
'''

WRONG = {
    "log-the-source": [
        (HEAD + "    now = prices()\n" + PART.format(read="lambda: now"), "b6_wrong_stale"),
        (HEAD + OPENER, "b6_wrong_opener"),
        (HEAD + SECTION, "b6_wrong_section"),
        (HEAD + BOTH, "b6_wrong_extra"),
        (RIGHT.replace("*prompt.context", "*prompt.context[:2]"), "b6_wrong_lost"),
        (HEAD + SORTED, "b6_wrong_moved"),
        (HEAD + VARIABLE, "b6_wrong_changed"),
        (HEAD + APPENDS, "b6_wrong_mutated"),
        (HEAD + "    return prompt\n", "b6_wrong_none"),
        (RIGHT.replace(', version="prices.csv"', ""), "b6_wrong_version"),
        (RIGHT.replace('"prices", p', '"price-list", p'), "b6_wrong_name"),
        (RIGHT.replace("version=", ""), "b6_wrong_scope"),
        (HEAD + CHANGES, "b6_wrong_unseen"),
        (HEAD + HISTORY, "b6_wrong_more"),
        (HEAD + RANDOM, "b6_wrong_often"),
        (HEAD + "    return {\"prices\": prices()}\n", "b6_wrong_kind"),
        (HEAD + PART.format(read="prices()"), "b6_wrong_read"),
        (HEAD + "    def read():\n        prices()\n" + PART.format(read="read"), "b6_wrong_text"),
        (HEAD + PART.format(read="lambda values: prices()"), "check_raised"),
        (RIGHT.replace("[*prompt.context, part]", "part"), "b6_wrong_list"),
        (RIGHT.replace("*prompt.context", "prompt.context"), "b6_wrong_part"),
    ],
}
