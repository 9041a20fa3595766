"""What Hypothesis makes messages, histories and hostile values from."""
import weakref
from collections.abc import Callable
from typing import Any, NoReturn

from hypothesis import strategies as st

from labsupport.lossless import MAX_SAFE_INTEGER, joined
from labsupport.miniagent import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage

NASTY = ["", "\n", "\r\n", "\u2028\u2029\x85", "\x00\x1f\x7f", '"\\/', "\b\f\t", "预算", "🙂", "\ud83d", "\ude42\ud83d",
         "\ufeff", "e\u0301", "1" * 30, "👨\u200d👩\u200d👧"]
any_text = st.sampled_from(NASTY) | st.text(st.characters(), max_size=8)
"""Any Python string, halves of surrogate pairs too."""

texts = any_text.map(joined)
"""Strings as JSON text gives them back: no pair stands in two halves."""

safe_numbers = st.integers(-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER) | st.floats(-1e15, 1e15)
any_numbers = st.integers() | st.floats() | st.sampled_from([1e21, 1e-7, 2.0**53, 1e22, 5e-324, 2**53, 10**30, -0.0])


def _json(text: st.SearchStrategy[str], numbers: st.SearchStrategy[int | float]) -> st.SearchStrategy[Any]:
    leaves = st.none() | st.booleans() | numbers | text
    return st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
                        max_leaves=6)


def _messages(text: st.SearchStrategy[str], value: st.SearchStrategy[Any],
              ids: st.SearchStrategy[str]) -> st.SearchStrategy[Message]:
    call = st.builds(ToolCall, ids, text, value)
    return (st.builds(UserMessage, text)
            | st.builds(AssistantMessage, text, st.lists(call, max_size=3).map(tuple))
            | st.builds(ToolMessage, ids, text, st.booleans()))


few_ids = st.sampled_from("abc")
values = _json(texts, safe_numbers)
"""JSON values that every reader gives back as they are."""
messages = _messages(texts, values, few_ids | texts)
"""Messages that `append_session` takes."""
wild_messages = _messages(any_text, _json(any_text, any_numbers), any_text)
"""Messages of the right types, which may still hold what no session file can carry."""

def _calls(*ids: str) -> AssistantMessage:
    return AssistantMessage("", tuple(ToolCall(call_id, "t", None) for call_id in ids))


_moves: list[Callable[[], Message]] = [
    lambda: UserMessage(""), lambda: UserMessage("long " * 9), lambda: AssistantMessage("预算", ()), lambda: _calls("a"),
    lambda: _calls("b"),
    lambda: _calls("a", "b"), lambda: _calls("c", "c"), lambda: ToolMessage("a", "", False),
    lambda: ToolMessage("a", "x" * 30, True),
    lambda: ToolMessage("b", "", False), lambda: ToolMessage("b", "🙂", False), lambda: ToolMessage("c", "", False),
    lambda: ToolMessage("lost", "", False)]
histories = st.tuples(st.permutations(_moves), st.permutations(_moves), st.integers(0, 2 * len(_moves))).map(
    lambda drawn: [move() for move in [*drawn[0], *drawn[1]][:drawn[2]]])
"""Histories in which calls and results come in any order: interleaved, repeated, orphaned, left open."""


@st.composite
def tidy_histories(draw: st.DrawFn) -> list[Message]:
    """Histories in which every call is answered before anything else happens, each id used once."""
    history: list[Message] = []
    for turn in range(draw(st.integers(0, 5))):
        history.append(UserMessage(draw(texts)))
        for step in range(draw(st.integers(0, 3))):
            ids = [f"{turn}.{step}.{number}" for number in range(draw(st.integers(1, 3)))]
            history.append(AssistantMessage("", tuple(ToolCall(call_id, "t", None) for call_id in ids)))
            history += [ToolMessage(call_id, draw(texts), False) for call_id in draw(st.permutations(ids))]
        history.append(AssistantMessage(draw(texts), ()))
    return history


class _Refuses:
    """An object that refuses whatever it is asked, even for its class."""

    def _no(self, *args: object) -> NoReturn:
        raise RuntimeError("no")

    __class__ = property(_no)  # type: ignore[assignment]
    __eq__ = __bool__ = __len__ = __iter__ = __getitem__ = __contains__ = _no  # type: ignore[assignment]
    __hash__ = object.__hash__


class RefusingDict(dict[str, Any]):
    get = __getitem__ = __contains__ = __iter__ = _Refuses._no  # type: ignore[assignment]


class RefusingStr(str):
    __slots__ = ()
    __eq__ = _Refuses._no  # type: ignore[assignment]
    __hash__ = str.__hash__


def _dead_proxy() -> object:
    class Gone:
        pass

    return weakref.proxy(Gone())


hostile = st.one_of(
    st.just(object), st.builds(object), st.binary(max_size=3), st.just({1}), st.just((1,)), st.builds(_dead_proxy),
    st.builds(_Refuses), st.just(float("nan")), st.just(RefusingStr("user")), st.just(RefusingDict(role="user", content="")))
anything = _json(any_text, any_numbers) | hostile

roles = st.sampled_from(["user", "assistant", "tool", "system", ""])


@st.composite
def _almost(draw: st.DrawFn, spoilt: st.SearchStrategy[Any]) -> Any:
    """A message's JSON object; then, often, a field is taken out or replaced, in it or in one of its calls."""
    call = {"id": draw(few_ids), "name": "t", "input": draw(values)}
    value: dict[str, Any] = draw(st.sampled_from([
        {"role": "user", "content": "x"}, {"role": "assistant", "content": "", "toolCalls": []},
        {"role": "assistant", "content": "", "toolCalls": [dict(call), call]},
        {"role": "tool", "toolCallId": "a", "content": "", "isError": False}]))
    target = draw(st.sampled_from([value, call]))
    for _ in range(draw(st.integers(0, 2))):
        field = draw(st.sampled_from([*target, "more"]))
        if draw(st.booleans()):
            target[field] = draw(spoilt)
        else:
            target.pop(field, None)
    return value


almost_messages = _almost(st.none() | st.booleans() | st.integers(0, 1) | roles | anything)
"""JSON objects that are a message, or nearly; in the place of a field may be anything."""

splinters = st.sampled_from([b"", b"\x00", b"\xff", b"\xef\xbb\xbf", b" ", b"\r", b"{", b"}", b"]", b",", b'"', b"\\", b"1",
                             b"e9",
                             b"-", b".", b"\xc2\xa0", b"\xed\xa0\x80", b"NaN", b"null", b";", b":"])
"""Bytes that spoil a line, or nearly."""
