"""What holds for every message, every history and every budget."""
import itertools
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labsupport.errors import ContextBudgetError, LosslessError, SessionFileError
from labsupport.lossless import utf16_length
from labsupport.miniagent import (
    AssistantMessage,
    ContextBudget,
    Message,
    ToolMessage,
    UserMessage,
    append_session,
    context_units,
    estimate_context_chars,
    find_orphans,
    load_session,
    message_chars,
    message_json,
    open_calls,
    parse_session_message,
    session_message_problem,
    trim_context,
)
from labsupport.miniagent.messages import exact_json, quick_json
from labsupport.strict_json import read_json
from tests.builders import calls, result, session_text, user
from tests.miniagent import oracle
from tests.miniagent.strategies import (
    almost_messages,
    anything,
    histories,
    messages,
    splinters,
    tidy_histories,
    values,
    wild_messages,
)

Fresh = Callable[[], Path]
RULES = ("closed", "chapter")


# A line

@given(anything | almost_messages)
def test_parse_never_raises_and_says_why_not(value: object) -> None:
    message = parse_session_message(value)
    problem = session_message_problem(value)
    assert (message is None) == (problem is not None)
    assert message is None or isinstance(message, UserMessage | AssistantMessage | ToolMessage)
    assert problem is None or str(problem).count(" must ") == 1


CALL = {"id": "c1", "name": "t", "input": {}}
WHOLE: list[dict[str, Any]] = [
    {"role": "user", "content": "x"}, {"role": "assistant", "content": "", "toolCalls": [CALL, CALL]},
    {"role": "tool", "toolCallId": "c1", "content": "", "isError": False}]
KINDS = [None, True, False, 0, 1, 1.5, "", "user", "assistant", "tool", "system", [], {}, [None], [CALL], [{}], WHOLE[0]]


def test_parse_takes_what_the_chapters_table_takes() -> None:
    """Every field of every message, and of a call in it, is taken out or replaced by every kind of value."""
    tried = [*KINDS, *WHOLE]
    for whole in WHOLE:
        for field in [*whole, "more"]:
            tried.append({name: value for name, value in whole.items() if name != field})
            tried += [whole | {field: kind} for kind in KINDS]
    for field in CALL:
        tried.append(WHOLE[1] | {"toolCalls": [CALL, {name: value for name, value in CALL.items() if name != field}]})
        tried += [WHOLE[1] | {"toolCalls": [CALL | {field: kind}, CALL]} for kind in KINDS]
    answers = [parse_session_message(value) is not None for value in tried]
    assert answers == [oracle.is_message(value) for value in tried]
    assert 60 < sum(answers) < len(tried) - 60


@given(messages)
def test_a_message_is_parsed_from_its_own_text(message: Message) -> None:
    assert parse_session_message(read_json(message_json(message).encode())) == message


# The file

@given(st.lists(messages, max_size=5))
def test_load_gives_back_what_append_wrote(fresh_file: Fresh, written: list[Message]) -> None:
    path = fresh_file()
    for message in written:
        append_session(path, message)
    assert load_session(path) == written


@given(wild_messages)
def test_append_takes_a_message_whole_or_leaves_the_file_alone(fresh_file: Fresh, message: Message) -> None:
    path = fresh_file()
    append_session(path, user())
    before = path.read_bytes()
    try:
        append_session(path, message)
    except LosslessError:
        assert path.read_bytes() == before
    else:
        assert load_session(path) == [user(), message]


@given(st.lists(messages, max_size=5))
def test_the_estimate_is_the_length_of_the_written_text(fresh_file: Fresh, written: list[Message]) -> None:
    path = fresh_file()
    for message in written:
        append_session(path, message)
    text = path.read_bytes().decode() if written else ""
    assert estimate_context_chars(written) == utf16_length(text) == len(text.encode("utf-16-le")) // 2


@given(messages)
def test_the_plain_append_writes_the_same_bytes(fresh_file: Fresh, message: Message) -> None:
    path = fresh_file()
    append_session(path, message, lock=False)
    plain = path.read_bytes()
    path = fresh_file()
    append_session(path, message)
    assert path.read_bytes() == plain == (message_json(message) + "\n").encode()


@given(messages | wild_messages)
def test_the_quick_encoder_writes_what_the_exact_one_writes(message: Message) -> None:
    quick = quick_json(message)
    assert quick is None or quick.decode() == exact_json(message, exact=True)


def test_the_quick_encoder_takes_every_character_as_the_exact_one_does() -> None:
    for first in range(0, 0x110000, 0x800):
        text = "".join(map(chr, range(first, first + 0x800)))
        quick = quick_json(user(text))
        assert (quick is None) == (first == 0xD800)  # the surrogates
        assert quick is None or quick.decode() == exact_json(user(text))


fields = st.sampled_from([
    '"role":"user"', '"role":"tool"', '"role":"assistant"', '"role":"system"', '"role":1', '"role":null', '"r\\u006fle":"user"',
    '"content":"x"', '"content":"\\ud83d"', '"content":null', '"content":"\\ud83d\\ude42"', '"toolCallId":"a"',
    '"toolCallId":1',
    '"isError":true', '"isError":0', '"toolCalls":[]', '"toolCalls":null', '"toolCalls":[null]', '"more":1', '"more":NaN',
    '"toolCalls":[{"id":"a","name":"t","input":1e999}]',
    '"toolCalls":[{"id":"a","name":"t","input":123456789012345678901234567890}]',
    '"toolCalls":[{"id":"a","name":"t","input":-0.0}]', '"toolCalls":[{"id":"a","name":"t"}]',
    '"toolCalls":[{"id":"a","id":"b","name":"t","input":{"k":1.5,"k":null}}]',
    '"toolCalls":[{"id":"a","name":"t","input":[],"x":1}]'])
lines = st.lists(fields, max_size=6).map(lambda parts: "{" + ",".join(parts) + "}").map(str.encode)


@st.composite
def damaged_lines(draw: st.DrawFn) -> bytes:
    """The line of a message with a few bytes taken out and something put in."""
    line = message_json(draw(messages)).encode()
    at = draw(st.integers(0, len(line)))
    return line[:at] + draw(splinters) + line[at + draw(st.integers(0, 3)):]


@given(st.one_of(lines, damaged_lines(), values.map(lambda value: message_json(calls("a")).replace("null", repr(value)).encode(
    "utf-8", "surrogatepass"))))
@example(b'{"role":"assistant","content":"x"}')
@example(b'{"role":"assistant","content":"toolCalls"}')
@example(b'{"role":"assistant","content":"","toolCalls" :[]}')
@example(b'{"role":"user","content":"x"}\xc2\x85')
def test_the_fast_way_to_load_takes_a_line_as_the_slow_way_does(fresh_file: Fresh, line: bytes) -> None:
    line = line.replace(b"\n", b" ") or b" "
    path = fresh_file()
    path.write_bytes(line + b"\n")
    try:
        message = parse_session_message(read_json(line))
    except ValueError:
        message = None
    if message is None:
        with pytest.raises(SessionFileError) as caught:
            load_session(path)
        assert caught.value.line == 1
    else:
        loaded = load_session(path)
        assert loaded == [message]
        # 1, 1.0 and True are equal, but not the same. -0.0 and 0.0 are one here: both are written as 0.
        assert repr(loaded).replace("-0.0", "0.0") == repr([message]).replace("-0.0", "0.0")


# Units

@pytest.mark.parametrize("rule", RULES)
@given(history=histories)
def test_units_are_those_of_the_definition(history: list[Message], rule: Any) -> None:
    units = context_units(history, rule)
    assert units == oracle.units_of(history, rule)
    assert [id(message) for message in itertools.chain(*units)] == [id(message) for message in history]
    assert all(units)


@given(tidy_histories())
def test_the_rules_agree_where_nothing_is_interleaved(history: list[Message]) -> None:
    assert context_units(history, "closed") == context_units(history, "chapter")


@given(histories)
def test_orphans_are_the_results_without_a_request(history: list[Message]) -> None:
    assert find_orphans(history) == [index for index, message in enumerate(history) if isinstance(message, ToolMessage)
                                     and oracle.request_of(history, index) is None]


@given(histories)
def test_a_result_for_every_open_call_leaves_none_open(history: list[Message]) -> None:
    still_open = open_calls(history)
    assert open_calls([*history, *(result(call.id) for call in still_open)]) == []
    asked = [call for message in history if isinstance(message, AssistantMessage) for call in message.tool_calls]
    answers = sum(isinstance(message, ToolMessage) for message in history)
    assert len(asked) - answers <= len(still_open) <= len(asked)


# The budget

budgets = st.integers(1, 900)


@pytest.mark.parametrize("pin", [False, True], ids=["suffix", "pinned"])
@pytest.mark.parametrize("rule", RULES)
@given(history=histories, max_chars=budgets)
def test_trim_keeps_the_newest_units_that_fit_and_one_more_would_not(
        history: list[Message], max_chars: int, rule: Any, pin: bool) -> None:
    expected = oracle.kept(history, max_chars, rule, pin)
    if expected is None:
        with pytest.raises(ContextBudgetError) as caught:
            trim_context(history, max_chars, rule, pin)
        assert caught.value.needed > max_chars or not history
        assert not history or trim_context(history, caught.value.needed, rule, pin)  # what it says would do, does
        return
    kept = trim_context(history, max_chars, rule, pin)
    assert [id(message) for message in kept] == [id(message) for message in expected]
    assert estimate_context_chars(kept) <= max_chars


@given(histories, budgets)
def test_a_closed_cut_keeps_no_result_without_its_request(history: list[Message], max_chars: int) -> None:
    try:
        kept = trim_context(history, max_chars)
    except ContextBudgetError:
        return
    assert not oracle.parted(history, len(history) - len(kept))


@given(tidy_histories(), budgets)
def test_where_nothing_was_orphaned_no_budget_makes_an_orphan(history: list[Message], max_chars: int) -> None:
    for rule in RULES:
        try:
            kept = trim_context(history, max_chars, rule)
        except ContextBudgetError:
            continue
        assert find_orphans(kept) == []
        assert open_calls(kept) == []


@pytest.mark.parametrize("rule", RULES)
@given(history=histories, max_chars=budgets, pin=st.booleans())
def test_each_message_is_costed_once_and_none_behind_the_first_that_did_not_fit(
        history: list[Message], max_chars: int, rule: Any, pin: bool) -> None:
    costed: list[int] = []

    def cost(message: Message) -> int:
        costed.append(next(index for index, one in enumerate(history) if one is message and index not in costed))
        return message_chars(message)

    budget = ContextBudget(history, rule, pin, cost)
    try:
        kept_units = budget.fit(max_chars).kept_units
    except ContextBudgetError:
        kept_units = 0
    assert len(set(costed)) == len(costed)
    units = oracle.units_of(history, rule)
    looked_at = units[-(kept_units + 1):]  # the kept ones, and the first that did not fit
    oldest = len(history) - sum(map(len, looked_at))
    first_user = next((index for index, message in enumerate(history) if isinstance(message, UserMessage)), None)
    assert [index for index in costed if index < oldest and not (pin and index == first_user)] == []


@given(history=histories, tries=st.lists(budgets, max_size=8), rule=st.sampled_from(RULES), pin=st.booleans())
def test_a_budget_object_gives_for_every_budget_what_trim_gives(
        history: list[Message], tries: list[int], rule: Any, pin: bool) -> None:
    budget = ContextBudget(history, rule, pin)
    borders = [sum(budget.costs[start:]) for start, _ in budget.units]
    for max_chars in [*tries, *itertools.chain(*((border - 1, border, border + 1) for border in borders))]:
        if max_chars < 1:
            continue
        if max_chars < budget.smallest or not history:
            for refuse in (budget.fit, partial(trim_context, history, rule=rule, pin_first_user=pin)):
                with pytest.raises(ContextBudgetError) as caught:
                    refuse(max_chars)
                assert (caught.value.budget, caught.value.needed) == (max_chars, budget.smallest)
            continue
        kept = trim_context(history, max_chars, rule, pin)
        fit = budget.fit(max_chars)
        assert fit.messages == kept
        assert fit.cost == estimate_context_chars(kept) <= max_chars
        assert fit.kept_units + fit.dropped_units == len(budget.units)
        assert fit.next_cost is None or fit.next_cost > max_chars
        assert fit.next_cost is None or budget.fit(fit.next_cost).kept_units > fit.kept_units
        assert (fit.next_cost is None) == (fit.start == 0)


@given(histories)
def test_a_larger_budget_keeps_all_that_a_smaller_one_kept(history: list[Message]) -> None:
    budget = ContextBudget(history)
    kept = 0
    for max_chars in range(max(1, budget.smallest), estimate_context_chars(history) + 2, 13):
        if not history:
            return
        now = len(budget.fit(max_chars).messages)
        assert now >= kept
        kept = now


@given(histories)
def test_trimming_changes_nothing_that_it_was_given(history: list[Message]) -> None:
    before, text = list(history), session_text(*history)
    for max_chars in (1, 200, 10_000):
        try:
            trim_context(history, max_chars)
        except ContextBudgetError:
            continue
    assert list(map(id, history)) == list(map(id, before))
    assert session_text(*history) == text
