"""What Hypothesis makes values, events and logs from."""

from typing import Any

from hypothesis import strategies as st

from labsupport.lossless import MAX_SAFE_INTEGER, joined
from tests.sessionlog import builders as make
from tests.sessionlog.builders import Record

NASTY = [
    "",
    "\n",
    "\r\n",
    "\u2028\u2029\x85",
    "\x00\x1f\x7f",
    '"\\/',
    "预算",
    "🙂",
    "\ud83d",
    "\ude42 \ud83d",
    "\ufeff",
    "1" * 250,
    "1e999",
    "NaN",
    "__proto__",
]
texts = (st.sampled_from(NASTY) | st.text(st.characters(), max_size=8)).map(joined)
"""Strings as JSON text gives them back, halves of surrogate pairs too."""

numbers = (
    st.integers(-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0)
    | st.sampled_from([1e308, 5e-324, 1e22, 1e-7, 0.1, MAX_SAFE_INTEGER, -MAX_SAFE_INTEGER, 1e16, 123456789012345680.0])
)


def json_of(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=8
    )


values = json_of(st.none() | st.booleans() | numbers | texts)
"""JSON that `append` takes."""

stored_values = json_of(st.none() | st.booleans() | numbers | texts | st.integers())
"""JSON that a stored log may hold: integers of any size too."""

unfit = st.sampled_from(
    [
        float("nan"),
        float("inf"),
        -float("inf"),
        -0.0,
        2**53,
        -(2**53),
        10**40,
        (1,),
        {1},
        b"x",
        1j,
        object,
        {1: 2},
        {None: 1},
        type("Word", (str,), {})("x"),
        type("Number", (int,), {})(1),
        type("Rows", (list,), {})(),
        type("Fields", (dict,), {})(),
    ]
)
"""Values that no JSON text gives back as they are."""

unfit_values = json_of(st.none() | texts | unfit)
"""Mostly JSON, with something unfit in it, or not."""


@st.composite
def logs(draw: st.DrawFn, turns: int = 2, cut: bool = True) -> list[Record]:
    """Good logs: turns, steps, calls, chunks, replacements, events that are passed over; with *cut*, some end in a turn."""
    made: list[Record] = []
    nodes: list[int] = []

    def put(one: Record) -> int:
        if "surfaceOp" in one:
            nodes.append(len(made))
        made.append(one)
        return len(made) - 1

    def between(turn: int) -> None:
        for kind in draw(st.lists(st.sampled_from(["plugin", "todo", "steer", "replace", "title"]), max_size=2)):
            if kind == "plugin":
                put(make.record("plugin/x", draw(values), ignorable=True))
            elif kind == "todo" and turn:
                put(make.record("todo/write", {"todos": []}))
            elif kind == "title":
                put(make.record("session/title", {"title": draw(texts)}))
            elif kind == "steer":
                put(make.user(draw(texts), f"u{len(made)}"))
            elif kind == "replace" and nodes:
                first = draw(st.integers(0, len(nodes) - 1))
                last = draw(st.integers(first, min(first + 3, len(nodes) - 1)))
                shadowed = nodes[first : last + 1]
                made.append(
                    make.user(draw(texts), f"u{len(made)}", make.replacing(shadowed[0], shadowed[-1]), sourceEventSeqs=shadowed)
                )
                nodes[first : last + 1] = [len(made) - 1]

    for turn in range(1, draw(st.integers(1, turns)) + 1):
        put(make.turn_start(turn))
        between(turn)
        for step in range(1, draw(st.integers(0, 2)) + 1):
            put(make.step_start(step, turn))
            put(make.user(draw(texts), f"u{len(made)}"))
            for said in draw(st.lists(texts, max_size=4)):
                put(make.chunk(said, step, turn))
            ids = [f"{turn}.{step}.{at}" for at in range(draw(st.integers(0, 3)))]
            put(make.asks(*ids, step=step, turn=turn) if ids else make.says(draw(texts), step, turn, f"a{len(made)}"))
            for call_id in ids:
                called = put(make.call(call_id, step, turn))
                put(make.result(call_id, draw(texts), step, turn, sourceEventSeqs=[called]))
            put(make.step_end(step, turn))
            between(turn)
        put(make.turn_end(turn))
        between(0)
    return made[: draw(st.integers(1, len(made)))] if cut else made


SPLINTERS = [
    b"",
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b" ",
    b"\r",
    b"\n",
    b"{",
    b"}",
    b"]",
    b",",
    b'"',
    b"\\",
    b"1",
    b"e9",
    b"E+999",
    b"-",
    b".",
    b"\xc2\xa0",
    b"\xed\xa0\x80",
    b"NaN",
    b"null",
    b":",
    b"0",
    b"\x85",
    b"\\ud83d",
]
"""Bytes that spoil a line, or nearly."""
