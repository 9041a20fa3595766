"""Six checks of a summary against what it stands for (chapter 4, §4.10.3).

They compare spellings, they do not understand: nothing found is no proof that nothing was lost, and a finding is a place to
look at. What each misses stands in its docstring. A finding names a fact (an id, a number) or the kind of a sentence, and the
event that has it, never a sentence; of a value that is not for everybody (`facts.VALUE_CLASSES`) it names the class.
"""
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from labsupport.errors import CompactionError
from labsupport.frozen import freeze
from labsupport.sessionlog.compaction import framed
from labsupport.sessionlog.events import SessionEvent
from labsupport.sessionlog.facts import facts, has, known, named, operation_ids, values
from labsupport.sessionlog.json_text import field, same_json
from labsupport.sessionlog.passages import AUDIENCES, Audience, Passage, Source, text_of
from labsupport.sessionlog.ranges import PLUGIN
from labsupport.sessionlog.statements import DEMANDS, Mark, Sentence, Told, sentences, tell
from labsupport.sessionlog.surface import derive_event_message, fold_surface

Check = Literal["constraints", "tasks", "outcomes", "behaviour", "invented", "exposed"]
Summary = str | Sequence[Any] | Told
LISTED = 5
"""The most operation ids that one passage is asked for."""

Policy = Callable[[Sequence[Any]], Any]
"""A function from the messages of a request to the action taken: a word, or an object with a "name"."""


@dataclass(frozen=True)
class Finding:
    """What the summary lacks ("missing") or says without a source ("added"), and the *seq* of the event that has it.

    *seq* is None where no event has it. *sentence* counts from 1 in what that event says.
    """

    check: Check
    what: str
    seq: int | None
    change: Literal["missing", "added"]
    sentence: int | None = None

    def __str__(self) -> str:
        places = [f"{name} {at}" for name, at in (("event", self.seq), ("sentence", self.sentence)) if at is not None]
        return ", ".join([f"{self.check}: {self.what} {self.change}", *places])


def check_summary(events: Iterable[SessionEvent], seqs: Iterable[int], summary: str | Sequence[Any],
                  policy: Policy | None = None, *, question: str | None = None, audience: Audience = "model") -> list[Finding]:
    """All that the six checks find in *summary* (text, or blocks) of the nodes *seqs*; without a *policy* five of them.

    >>> from labsupport.sessionlog import Session
    >>> session = Session.create("s1")
    >>> said = {"id": "m1", "role": "user", "source": {"kind": "user"},
    ...         "content": [{"type": "text", "text": "Never mail a customer. The invoice is INV-2061."}]}
    >>> _ = session.append("user/message", said, "append")
    >>> for finding in check_summary(session.events, [0], "The user talked about invoice INV-2016."):
    ...     print(finding)
    constraints: prohibition missing, event 0, sentence 1
    invented: INV-2016 added

    CompactionError (code "range") for a seq that the log does not have. Chapter 4, §4.10.3.
    """
    source, told = Source(events, seqs), _told(summary)
    found = [*constraints_kept(source, told), *tasks_kept(source, told), *outcomes_kept(source, told)]
    if policy is not None:
        found += same_behaviour(source, summary, policy, question)
    return [*found, *nothing_invented(source, told), *nothing_exposed(source, told, audience)]


def constraints_kept(source: Source, summary: Summary) -> list[Finding]:
    """What users forbade, corrected, limited or ruled is still said, by them or by an earlier summary.

    A sentence counts by a word such as never, only, instead, 不要, 改为. It is kept when the summary has its figures and ids,
    and most of it in sentences of the same kind. Missed: a demand without such a word ("I'd rather you asked"), one whose
    sense was turned with the same words, and one that its author took back, which is asked for all the same. False alarm: a
    faithful paraphrase in other words.
    """
    told, found = _told(summary), []
    for passage in _model_reads(source, "user", "summary"):
        for sentence in sentences(passage.text):
            mark = next((mark for mark in DEMANDS if mark in sentence.said), None)
            if mark is not None and not sentence.asks:
                found += _lost("constraints", passage.seq, sentence, mark, mark, told)
    return found


def tasks_kept(source: Source, summary: Summary) -> list[Finding]:
    """The open items of the task list that the range ends with, and the next step that was named, are still said to be open.

    Next steps are sentences with words such as next, still to, 下一步 in what users said and in the latest message of the
    assistant that has any. Missed: an open task that nobody called so, an item told as done in words that also say open. False
    alarm: a paraphrase; an item that a later list, behind the range, has closed.
    """
    told, found = _told(summary), []
    spoken = [(passage, [one for one in sentences(passage.text) if "next step" in one.said and not one.asks])
              for passage in _model_reads(source, "user", "summary", "assistant")]
    latest = max((at for at, (passage, steps) in enumerate(spoken) if passage.role == "assistant" and steps), default=None)
    for at, (passage, steps) in enumerate(spoken):
        if passage.role != "assistant" or at == latest:
            for sentence in steps:
                found += _lost("tasks", passage.seq, sentence, "next step", "next step", told)
    for passage in _model_reads(source, "todo"):
        lost = [told.lacks(sentence.text, "next step") for sentence in sentences(passage.text)]
        facts_lost = [named(fact) for each in lost if each for fact in each]
        if facts_lost or [] in lost:
            found += [Finding("tasks", what, passage.seq, "missing") for what in facts_lost or [f"todo {passage.label}"]]
    return found


def outcomes_kept(source: Source, summary: Summary) -> list[Finding]:
    """Calls that failed, or whose outcome is unknown, are said to be so; outside operation ids are there; no success is called
    a failure.

    An operation id is a uuid, a token such as op_81f3 or INV-2061, or a number behind a word such as invoice number, 流水号,
    in a result or in the arguments of a call (an idempotency key); more than LISTED of them are a list, which nobody has to
    keep. A failure is told in a sentence with such a word and the name of the tool, the id of the call or an operation id.
    Missed: ids in other spellings, a success without an id, a failed and a good call of one tool that share a sentence. False
    alarm: a call that failed and was done again, an id that was only looked at, "no error" beside the id of a success.
    """
    told, found, ids = _told(summary), [], dict[str, tuple[str, int]]()
    honest: set[str] = set()  # told with a failure in the source
    for passage in _model_reads(source, "call", "result"):
        own = list(operation_ids(passage.text))
        own = own if len(own) <= LISTED else []
        for text in own:
            ids.setdefault(text, (passage.role, passage.seq))
        for sentence in sentences(passage.text):
            if sentence.told & {"failed", "unknown"}:
                honest |= known(sentence.text)
        if passage.status in ("failed", "unknown"):
            honest.update(own, known(passage.label))
            ways = [known(way) for way in (*passage.label.split(" "), *own)]
            there = told.marked["unknown" if passage.status == "unknown" else "failed"]
            if any(ways) and not any(way and way <= there for way in ways):
                what = f"{named(passage.label.split(' ')[-1])} {passage.status}"
                found.append(Finding("outcomes", what, passage.seq, "missing"))
    for passage in _model_reads(source, "user", "summary", "assistant", "context"):
        for sentence in sentences(passage.text):
            if sentence.told & {"failed", "unknown"}:
                honest |= known(sentence.text)
    wrong = (told.marked["failed"] | told.marked["unknown"]) - honest
    for text, (role, seq) in ids.items():
        if text not in told.keys and not known(text) <= told.keys:
            found.append(Finding("outcomes", named(text), seq, "missing"))
        elif role == "result" and text in wrong:
            found.append(Finding("outcomes", f"{named(text)} failed", seq, "added"))
    return list(dict.fromkeys(found))


def same_behaviour(source: Source, summary: str | Sequence[Any], policy: Policy, question: str | None = None) -> list[Finding]:
    """*policy* does the same on the history with the nodes and on the one with the summary in their place.

    *question* is put behind both; left out, the history asks for itself. The finding names both actions, or the arguments that
    differ, and the event that asked last. Missed: everything that this one policy on this one question does not look at; one
    equal answer of a real model, which is no function, proves less still. False alarm: a policy that goes by the wording sees
    another action where a reader would not. What *policy* raises comes through.
    """
    nodes = _surface(source)
    block = [{"type": "text", "text": summary}] if isinstance(summary, str) else summary
    checkpoint = freeze({"id": "checkpoint", "role": "user", "source": {"kind": "plugin", "plugin": PLUGIN},
                         "content": framed(block)})
    asked = [] if question is None else [freeze({"id": "question", "role": "user", "source": {"kind": "user"},
                                                 "content": [{"type": "text", "text": question}]})]
    gone, before, after = set(source.seqs), list[Any](), list[Any]()
    last_asked = None
    for seq in nodes:
        message = derive_event_message(source.events[seq])
        if message is not None:
            before.append(message)
            if field(field(message, "source"), "kind") == "user":
                last_asked = seq
        if seq not in gone:
            after += [message] if message is not None else []
        elif seq == source.seqs[0]:
            after.append(checkpoint)
    was, now = policy([*before, *asked]), policy([*after, *asked])
    if same_json(was, now):
        return []
    return [Finding("behaviour", _difference(was, now), None if asked else last_asked, "added")]


def nothing_invented(source: Source, summary: Summary) -> list[Finding]:
    """Every number, id, path and name of the summary stands in the source: in what was said, called, answered or listed.

    Missed: figures in words (a dozen, 三千), names that open a sentence, a known fact in the wrong place: that INV-2062 was
    paid, when it was another.
    False alarm: a number that was rounded, added up or counted, a date that was written in another way.
    """
    return [Finding("invented", what, None, "added") for what in dict.fromkeys(
        fact.text for fact in facts(_told(summary).text) if not has(source.known, fact))]


def nothing_exposed(source: Source, summary: Summary, audience: Audience = "model") -> list[Finding]:
    """No value of `facts.VALUE_CLASSES` stands in the summary, which *audience* reads, when only a narrower one read it before.

    The audiences are those of `passages`: what was for the tool alone may not come to the model, and what the model read may
    not go outside. The finding names the class and where the value is, never the value. Missed: values of other classes or in
    other spellings, a value that was for one person and went to another, a summarizer of another provider, who has read it
    already.
    """
    told = _told(summary)
    widest: dict[str, tuple[int, str, int]] = {}
    for passage in source.passages:
        rank = AUDIENCES.index(passage.audience)
        for name, key, _ in values(passage.text):
            if key not in widest or widest[key][0] < rank:
                widest[key] = rank, name, passage.seq
    there = {key for _, key, _ in values(told.text)} | told.keys
    return [Finding("exposed", name, seq, "added") for key, (rank, name, seq) in widest.items()
            if rank < AUDIENCES.index(audience) and key in there]


def _told(summary: Summary) -> Told:
    return summary if isinstance(summary, Told) else tell(text_of(summary))


def _model_reads(source: Source, *roles: str) -> list[Passage]:
    return [passage for passage in source.passages if passage.role in roles and passage.audience == "model"]


def _lost(check: Check, seq: int, sentence: Sentence, mark: Mark, what: str, told: Told) -> list[Finding]:
    lost = told.lacks(sentence.text, mark)
    if lost is None:
        return []
    return [Finding(check, named(fact), seq, "missing", sentence.number) for fact in lost or [what]]


def _surface(source: Source) -> Sequence[int]:
    """The nodes of the surface on which *seqs* stood: now, or before a replacement took the first of them."""
    surface = fold_surface(source.events)
    taken = next((one for one in surface.replacements if set(source.seqs[:1]).intersection(one.shadowed_seqs)), None)
    nodes = surface.nodes if taken is None else fold_surface(source.events[:taken.seq]).nodes
    if not set(source.seqs) <= set(nodes):
        raise CompactionError("range", "these nodes never stood on one surface, so no history can be told without them")
    return nodes


def _difference(was: Any, now: Any) -> str:
    """Two actions by their names; where these are the same, the arguments that differ, by theirs."""
    names = [str(one if isinstance(one, str) else field(one, "name") or "something else")[:80] for one in (was, now)]
    if names[0] != names[1] or not isinstance(was, dict) or not isinstance(now, dict):
        return " → ".join(names)
    inner = [field(action, "arguments") if isinstance(field(action, "arguments"), dict) else action for action in (was, now)]
    keys = [key for key in {**inner[0], **inner[1]} if not same_json(inner[0].get(key), inner[1].get(key))]
    return f"{names[0]}: {', '.join(keys)}"
