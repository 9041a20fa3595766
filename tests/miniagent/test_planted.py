"""A check that has never been seen to fail is no check: here a fault is planted for each, and the check must find it."""
import json
import os
from bisect import bisect_left
from collections.abc import Callable
from pathlib import Path
from typing import Any

import portalocker
import pytest
from hypothesis import Phase, settings

from labsupport.errors import LabError
from labsupport.miniagent import (
    ContextBudget,
    Message,
    context_units,
    estimate_context_chars,
    load_session,
    message_json,
    parse_session_message,
    trim_context,
)
from labsupport.miniagent import agent as agent_module
from labsupport.miniagent import context as context_module
from labsupport.miniagent import session as session_module
from tests import test_lossless
from tests.builders import calls, session_file, user
from tests.miniagent import test_agent, test_laws, test_session_file
from tests.miniagent.child import finish, start
from tests.miniagent.test_processes import HELD

# Faults

def gives_up_after_a_part(fd: int, data: bytes) -> None:
    os.write(fd, data)


def one_unit_too_few(messages: Any, max_chars: int, rule: Any = "closed", pin_first_user: bool = False) -> list[Message]:
    fit = ContextBudget(messages, rule, pin_first_user).fit(max_chars)
    return fit.messages if fit.kept_units == 1 else fit.messages[1:]


def slices_not_units(messages: Any, max_chars: int, rule: Any = "closed", pin_first_user: bool = False) -> list[Message]:
    kept = list(messages)
    while kept and estimate_context_chars(kept) > max_chars:
        del kept[0]
    return kept or trim_context(messages, max_chars, rule)


def reaches_over_what_does_not_fit(messages: Any, max_chars: int, rule: Any = "closed",
                                   pin_first_user: bool = False) -> list[Message]:
    trim_context(messages, max_chars, rule, pin_first_user)
    kept: list[Message] = []
    for unit in reversed(context_units(messages, rule)):
        if estimate_context_chars([*unit, *kept]) <= max_chars:
            kept[:0] = unit
    return kept


def trims_the_history_itself(messages: Any, *args: Any) -> list[Message]:
    kept = trim_context(messages, *args)
    messages[:] = kept
    return kept


class CostsAll(ContextBudget):
    def fit(self, max_chars: int) -> Any:
        assert self.costs or not self.messages
        return super().fit(max_chars)


class TwiceAsDear(ContextBudget):
    @property
    def smallest(self) -> int:
        return 2 * super().smallest


def takes_1_for_true(value: Any) -> Any:
    if isinstance(value, dict) and type(value.get("isError")) is int:
        return parse_session_message(value | {"isError": bool(value["isError"])})
    return parse_session_message(value)


def asks_politely(value: Any) -> Any:
    return parse_session_message(value) if isinstance(value, dict) and value.get("role") else None


def skips_bad_lines(path: Path) -> list[Message]:
    lines = [line for line in path.read_bytes().splitlines() if line.strip(b"\0 {")[:1] == b'"']
    found = [parse_session_message(json.loads(line)) for line in lines]
    return [message for message in found if message is not None]


def splits_on_more_than_line_feeds(path: Path) -> list[Message]:
    text = path.read_bytes().decode() if path.exists() else ""
    return [parse_session_message(json.loads(line)) for line in text.splitlines()]  # type: ignore[misc]


def takes_the_decoders_word(line: bytes) -> Any:
    try:
        return session_module._decode(line)
    except (ValueError, RecursionError):
        return None


def writes_what_it_is_given(path: Path, message: Message, **options: Any) -> None:
    with path.open("a", encoding="utf-8", errors="replace") as file:
        file.write(json.dumps(json.loads(message_json(message)), ensure_ascii=False, separators=(",", ":")) + "\n")


def hides_its_failure(*args: Any, **options: Any) -> None:
    try:
        session_module.append_session(*args, **options)
    except OSError:
        return


def with_path(check: Callable[..., None], **given: Any) -> Callable[[Path], None]:
    return lambda path: check(path=path, **given)


def with_monkeypatch(check: Callable[..., None], **given: Any) -> Callable[[Path], None]:
    def act(path: Path) -> None:
        with pytest.MonkeyPatch.context() as monkeypatch:
            check(path=path, monkeypatch=monkeypatch, **given)

    return act


def law(check: Callable[..., None], **given: Any) -> Callable[[Path], None]:
    """The law *check*, content with the first example that breaks it: looking for the smallest takes most of the time."""
    def act(path: Path) -> None:
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr(check, "_hypothesis_internal_use_settings", FIRST_EXAMPLE)
            check(**given)

    return act


def with_fresh_file(check: Callable[..., None]) -> Callable[[Path], None]:
    def act(path: Path) -> None:
        def fresh() -> Path:
            path.unlink(missing_ok=True)
            return path

        law(check, fresh_file=fresh)(path)

    return act


trim_law = law(test_laws.test_trim_keeps_the_newest_units_that_fit_and_one_more_would_not, rule="closed", pin=False)
pin_law = law(test_laws.test_trim_keeps_the_newest_units_that_fit_and_one_more_would_not, rule="closed", pin=True)
pair_law = law(test_laws.test_a_closed_cut_keeps_no_result_without_its_request)
cost_law = law(test_laws.test_each_message_is_costed_once_and_none_behind_the_first_that_did_not_fit, rule="closed")
budget_law = law(test_laws.test_a_budget_object_gives_for_every_budget_what_trim_gives)
unit_law = law(test_laws.test_units_are_those_of_the_definition, rule="closed")
parse_law = law(test_laws.test_parse_never_raises_and_says_why_not)
load_law = with_fresh_file(test_laws.test_load_gives_back_what_append_wrote)
line_law = with_fresh_file(test_laws.test_the_fast_way_to_load_takes_a_line_as_the_slow_way_does)
length_law = with_fresh_file(test_laws.test_the_estimate_is_the_length_of_the_written_text)
append_law = with_fresh_file(test_laws.test_append_takes_a_message_whole_or_leaves_the_file_alone)
quick_law = law(test_laws.test_the_quick_encoder_writes_what_the_exact_one_writes)
record_law = with_fresh_file(test_agent.test_the_record_does_not_depend_on_the_budget_or_the_file)

FOUND = (AssertionError, pytest.fail.Exception, LabError, json.JSONDecodeError, ReferenceError)  # no mere slip of the fault
FIRST_EXAMPLE = settings(phases=[Phase.explicit, Phase.generate], report_multiple_bugs=False)
PLANTED: list[tuple[str, Any, str, Any, Callable[[Path], None]]] = [
    ("trim keeps one unit too few", test_laws, "trim_context", one_unit_too_few, trim_law),
    ("trim reaches over a unit that does not fit", test_laws, "trim_context", reaches_over_what_does_not_fit, trim_law),
    ("trim forgets the pin", test_laws, "trim_context", lambda messages, chars, rule, pin: trim_context(messages, chars, rule),
     pin_law),
    ("trim cuts messages, not units", test_laws, "trim_context", slices_not_units, pair_law),
    ("a budget that is filled to the last character is refused", context_module, "bisect_right", bisect_left, trim_law),
    ("a budget object disagrees with trim", test_laws, "ContextBudget", TwiceAsDear, budget_law),
    ("every message is costed at once", test_laws, "ContextBudget", CostsAll, cost_law),
    ("closed units are the chapter's", test_laws, "context_units", lambda messages, rule: context_units(messages, "chapter"),
     unit_law),
    ("parse takes 1 for true", test_laws, "parse_session_message", takes_1_for_true,
     lambda _: test_laws.test_parse_takes_what_the_chapters_table_takes()),
    ("parse trusts what it is given", test_laws, "parse_session_message", asks_politely, parse_law),
    ("the length counts characters of Python", test_laws, "estimate_context_chars",
     lambda messages: sum(len(message_json(it)) + 1 for it in messages), length_law),
    ("the length counts bytes", test_laws, "estimate_context_chars",
     lambda messages: sum(len(message_json(it).encode()) + 1 for it in messages), length_law),
    ("the length forgets the line break", test_laws, "estimate_context_chars",
     lambda messages: estimate_context_chars(messages) - len(messages), length_law),
    ("load skips bad lines", test_laws, "load_session", skips_bad_lines, line_law),
    ("load splits on more than line feeds", test_laws, "load_session", splits_on_more_than_line_feeds, load_law),
    ("load takes the fast decoder's word", session_module, "_quick_line", takes_the_decoders_word, line_law),
    ("append writes what it is given", test_laws, "append_session", writes_what_it_is_given, append_law),
    ("the quick encoder escapes too much", test_laws, "quick_json",
     lambda it: json.dumps(json.loads(message_json(it)), separators=(",", ":")).encode(), quick_law),
    ("append does not look at the last line", session_module, "_ends_whole", lambda fd, size: True,
     with_path(test_session_file.test_every_cut_keeps_a_prefix_or_is_a_torn_tail, cut=9)),
    ("append does not cut back", session_module.os, "ftruncate", lambda fd, size: None,
     with_monkeypatch(test_session_file.test_a_write_that_fails_half_way_is_cut_back)),
    ("append gives up after a part", session_module, "write_all", gives_up_after_a_part,
     with_monkeypatch(test_session_file.test_a_write_that_the_system_takes_in_parts_is_finished)),
    ("a failed append is hidden from the loop", agent_module, "append_session", hides_its_failure,
     with_monkeypatch(test_agent.test_an_append_that_fails_leaves_memory_without_the_message, fails_at=2)),
    ("trimming changes the history", agent_module, "trim_context", trims_the_history_itself, record_law),
    ("halves are not joined", agent_module, "joined", lambda text: text,
     with_path(test_agent.test_a_pair_that_the_stream_cut_is_joined, pieces=["\ud83d", "\ude42"], content="🙂")),
    ("open calls are left open", agent_module, "open_calls", lambda messages: [],
     with_path(test_agent.test_open_calls_at_the_end_get_a_result, history=[user(), calls("a")],
               closed=["a"])),
    ("numbers are spelled as in Python", test_lossless, "js_number", repr,
     lambda _: test_lossless.test_a_number_is_spelled_as_in_javascript(1e20, "1" + "0" * 20)),
]


@pytest.mark.parametrize(("module", "name", "fault", "check"), [case[1:] for case in PLANTED],
                         ids=[case[0] for case in PLANTED])
def test_a_planted_fault_is_found(module: Any, name: str, fault: Any, check: Callable[[Path], None], tmp_path: Path,
                                  monkeypatch: pytest.MonkeyPatch) -> None:
    assert getattr(module, name) is not fault
    monkeypatch.setattr(module, name, fault)
    with pytest.raises(FOUND):
        check(tmp_path / "s.jsonl")


def test_a_lock_that_does_nothing_is_found(tmp_path: Path) -> None:
    """What `test_append_waits_for_the_lock` sees when there is no lock."""
    path = session_file(tmp_path / "s.jsonl", user())
    with path.open("rb+") as file:
        portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE)
        process = start("import portalocker\nportalocker.lock = lambda *args: None\n" + HELD.replace("\n    ", "\n"), path)
        finish(process)
        assert load_session(path) == [user(), user("late")]
