"""The check of lab B10: find the word that an export should not have, wherever it can be read."""
import json
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from labsupport.own import SEED, own_number, own_random, own_seed
from labsupport.workbench.checks.base import Verdict, attempt, correct, not_started, untouched, wrong
from labsupport.workbench.exports import Lines
from labsupport.workbench.text import say

Leaks = Callable[[Lines, str], Any]

RANDOM = 8
"""How many random exports come after the named ones."""

PEOPLE = (("Ana", "a banana for an analysis"), ("Ida", "a holiday on Friday"), ("Tom", "a symptom and a tomato"),
          ("Mia", "an academic in bohemia"), ("Eva", "an evaluation that is relevant"))
"""Names, each with words in which its letters stand, but not the name."""
NAME, NEAR = own_random("person").choice(PEOPLE) if SEED else PEOPLE[0]
CHINESE = own_random("病人").choice(("周宁", "陈默", "何静", "吴桐")) if SEED else "林安"
PHONE = own_number(5550142, 9000)


class Case(NamedTuple):
    """An export, in words; *word* can be read at the lines *found*. *missed* is the key of the sentence for who does not see
    that, or for who sees something where nothing is; *places* says where in a line it stands.
    """

    words: str
    export: Lines
    word: str
    found: list[int]
    missed: str
    places: Mapping[int, str] = {}


def check_leaks(leaks: Leaks) -> Verdict:
    """Give *leaks* small exports, the plainest first: none that leaks, then one for each place a word can hide in, then random
    ones. After each, an export that does not leak shows that nothing of the call before is left.
    """
    if untouched(leaks, lambda export, word: None):
        return not_started()
    for case in cases():
        given = _copy(case.export)
        it = attempt(leaks, given, case.word)
        if it.error:
            return it.verdict(case.words)
        verdict = _judged(it.value, case)
        if verdict is not None:
            return verdict
        if given != case.export:
            changed = min(at for at, line in enumerate(case.export) if given[at:at + 1] != [line])
            return wrong("b10_wrong_changed", case=case.words, line=changed)
        after = attempt(leaks, _copy(_clean()), case.word)
        if after.error or after.value != []:
            return wrong("b10_wrong_state", case=case.words, value=after.said or after.value)
    return correct()


def _judged(value: Any, case: Case) -> Verdict | None:
    if not isinstance(value, list) or any(type(at) is not int for at in value):
        return wrong("b10_wrong_kind", case=case.words)
    if value == case.found:
        return None
    if not case.found:
        return wrong(case.missed, case=case.words, line=min(value))
    if sorted(set(value)) == case.found:
        return wrong("b10_wrong_order", case=case.words, found=case.found, value=value)
    if set(value) > set(case.found):
        return wrong("b10_wrong_clean", case=case.words, line=min(set(value) - set(case.found)))
    if any(value == [at + off for at in case.found] for off in (-1, 1)):
        return wrong("b10_wrong_place", case=case.words, line=case.found[0], value=value)
    line = min(set(case.found) - set(value))
    return wrong(case.missed, case=case.words, line=line, where=case.places.get(line, ""))


def cases() -> Sequence[Case]:
    """The cases, from the plainest on."""
    header, start, hidden = clean = _clean()
    titled = {**header, "cwd": f"/home/demo/{NAME}"}
    said = _record(1, "user/message", _message(f"{NAME}'s cough"), "append")
    spelled, glued, signs = ([header, start, _record(1, "user/message", _message(text), "append")]
                             for text in (f"{CHINESE} has a cough", f"病人{CHINESE}咳嗽", f'this is "{NAME}" (Lu)'))
    result = _message(json.dumps({"rows": [{"name": CHINESE}]}))
    named = (
        Case("b10_case_clean", clean, NAME, [], "b10_wrong_clean"),
        Case("b10_case_said", [header, start, said], NAME, [2], "b10_wrong_said"),
        Case("b10_case_header", [titled, start, hidden], NAME, [0], "b10_wrong_header"),
        Case("b10_case_type", [*clean, _record(2, f"notes/{NAME}", {"turn": 1})], NAME, [3], "b10_wrong_type"),
        Case("b10_case_error", [*clean, _record(2, "turn/end", {"turn": 1, "reason": {
            "kind": "error", "error": {"message": f"no row for {NAME}"}}})], NAME, [3], "b10_wrong_error"),
        Case("b10_case_key", [*clean, _rows({NAME: 3})], NAME, [3], "b10_wrong_key"),
        Case("b10_case_number", [*clean, _rows([{"phone": PHONE}])], str(PHONE), [3], "b10_wrong_number"),
        Case("b10_case_near", [*clean, _rows([NAME[:2], NAME[2:], NEAR])], NAME, [], "b10_wrong_near"),
        Case("b10_case_spelled", spelled, CHINESE, [2], "b10_wrong_spelled"),
        Case("b10_case_glued", glued, CHINESE, [2], "b10_wrong_glued"),
        Case("b10_case_signs", signs, f'"{NAME}" (Lu)', [2], "b10_wrong_signs"),
        Case("b10_case_asked", [*clean, _call(json.dumps({"name": CHINESE}))], CHINESE, [3], "b10_wrong_asked"),
        Case("b10_case_asked_key", [*clean, _call(json.dumps({CHINESE: True}))], CHINESE, [3], "b10_wrong_asked_key"),
        Case("b10_case_result", [*clean, _record(2, "tool/result", {"turn": 1, "message": result}, "append")], CHINESE, [3],
             "b10_wrong_result"),
        Case("b10_case_deeper", [*clean, _call(json.dumps({"body": json.dumps([{"name": CHINESE}])}))], CHINESE, [3],
             "b10_wrong_deeper"),
        Case("b10_case_twice", [titled, start, said, _record(2, "session/title", {"title": NAME, NAME: NAME})], NAME, [0, 2, 3],
             "b10_wrong_twice"))
    return (*(case._replace(words=say(case.words)) for case in named), *map(_random, range(RANDOM)))


def _random(seed: int) -> Case:
    """A word at places that nobody can know beforehand, the deeper the higher *seed* is; the other lines say half of it."""
    random, export, places = Random(own_seed(seed)), _copy([*_clean(), _record(2, "session/title", {})]), {}
    word = f"Lu{random.randrange(100, 1000)}"
    for at, line in enumerate(export):
        leaking = random.random() < 0.6
        key, value, where = _wrapped(random, word if leaking else word[:-1], 1 + seed // 2)
        (line if at == 0 else line["data"])[key] = value
        if leaking:
            places[at] = where if at == 0 else f"data.{where}"
    return Case(say("b10_case_random", n=seed + 1), export, word, sorted(places), "b10_wrong_random", places)


def _wrapped(random: Random, word: str, depth: int) -> tuple[str, Any, str]:
    """A key, a value that says *word* *depth* layers down, and in words where that is."""
    value: Any = random.choice([f"for {word}", {word: 1}])
    where = "" if isinstance(value, str) else f".{word}"
    for _ in range(depth):
        layer, key = random.choice(["object", "list", "JSON"]), f"k{random.randrange(100)}"
        if layer == "object":
            value, where = {key: value}, f".{key}{where}"
        elif layer == "list":
            value, where = [0, value], f"[1]{where}"
        elif isinstance(value, (dict, list)):
            value, where = json.dumps(value).replace("Lu", "\\u004cu"), f" (JSON){where}"
    key = f"k{random.randrange(100)}"
    return key, value, f"{key}{where}"


def _clean() -> Lines:
    """The header and two records of an export that does not leak."""
    header = {"type": "session", "version": 0, "id": "session-1", "createdAt": 1, "delegationDepth": 0}
    return [header, _record(0, "turn/start", {"turn": 1}), _record(1, "user/message", _message("[redacted prompt]"), "append")]


def _copy(export: Lines) -> Any:
    return json.loads(json.dumps(export))


def _record(seq: int, type: str, data: Any, op: str | None = None) -> dict[str, Any]:
    return {"type": type, "seq": seq, "time": 1, "data": data, **({"surfaceOp": op} if op else {})}


def _message(text: str) -> dict[str, Any]:
    return {"id": "message-1", "role": "user", "source": {"kind": "user"}, "content": [{"type": "text", "text": text}]}


def _rows(rows: Any) -> dict[str, Any]:
    return _record(2, "tool/result", {"turn": 1, "meta": {"rows": rows}}, "append")


def _call(arguments: str) -> dict[str, Any]:
    return _record(2, "tool/call", {"turn": 1, "callId": "call-1", "arguments": arguments})
