"""Tables of lab B5: what a history costs, what a log answers about a compaction, and which facts are still to be read."""
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pandas as pd

from labsupport.sessionlog import Session, SessionEvent
from labsupport.sessionlog.compaction_report import Answer, compaction_report
from labsupport.sessionlog.quality import Finding, check_summary
from labsupport.workbench.compactions import Size, node_of, spoken
from labsupport.workbench.payment_task import AGAIN, next_action
from labsupport.workbench.pictures.compaction import COUNTERS
from labsupport.workbench.pictures.scrubber_cells import ROLE_KEYS, TYPE_ROLES, is_replacement
from labsupport.workbench.pictures.trimmed import shortened
from labsupport.workbench.tables import TextTable
from labsupport.workbench.text import say

QUESTIONS = {"why": "b5_q_why", "positions": "b5_q_positions", "nodes": "b5_q_nodes", "writer": "b5_q_writer",
             "state": "b5_q_state", "arrived": "b5_q_arrived"}
LIMIT = "maxTokens"
"""What a log may say of the configuration of a summarizer."""
SEQS = 6
"""As many seqs are written out; of more the first two and the last."""


def size_of(session: Session) -> Size:
    """What the log and the surface of *session* come to."""
    nodes = [node_of(session, seq) for seq in session.surface.nodes]
    return Size(len(session.events), len(nodes), sum(node.estimated for node in nodes), sum(node.real for node in nodes))


def size_table(**sessions: Session) -> pd.DataFrame:
    """The four counters, and a column for each of *sessions*; its name is a word of this lab."""
    sizes = {name: size_of(session) for name, session in sessions.items()}
    rows = [(say(words), *(f"{getattr(size, name):,}" for size in sizes.values())) for name, words in COUNTERS.items()]
    columns = [say("b5_col_counter"), *(say(SESSIONS[name]) for name in sizes)]
    return TextTable(rows, columns=columns, index=range(1, len(rows) + 1))


SESSIONS = {"before": "b5_col_then", "after": "b5_col_now", "pruned": "b5_col_pruned", "summary": "b5_col_summarised"}


def surface_table(session: Session) -> pd.DataFrame:
    """One row a node of the surface of *session*: its seq, its role, how it begins, and both counts of tokens."""
    rows = []
    for node in (node_of(session, seq) for seq in session.surface.nodes):
        role = "b5_replacement" if is_replacement(node.event) else ROLE_KEYS[TYPE_ROLES[node.event.type]]
        words = " ".join(" ".join(spoken(node.message)).split())
        rows.append((node.seq, say(role), shortened(words, 64), f"{node.estimated:,}", f"{node.real:,}"))
    columns = ["seq", say("scrub_col_role"), say("scrub_col_message"), say("b5_col_est"), say("b5_col_real")]
    return TextTable(rows, columns=columns, index=range(1, len(rows) + 1))


def six_questions(events: Iterable[SessionEvent], id: str) -> pd.DataFrame:
    """The chapter's six questions about compaction *id*, the answers of the log, and the seqs that each comes from."""
    report = compaction_report(events, id)
    rows = []
    for name, words in QUESTIONS.items():
        answer: Answer = getattr(report, name)
        told = say("b5_unsaid") if answer.value is None else ANSWERS[name](answer.value)
        rows.append((say(words), told, _seqs(answer.seqs)))
    columns = [say("b5_col_question"), say("b5_col_answer"), say("b5_col_from")]
    return TextTable(rows, columns=columns, index=range(1, len(rows) + 1))


def _state(value: Any) -> str:
    parts = [value["state"], value.get("error"), "stale" if value["stale"] else None]
    return ", ".join(filter(None, parts))


def _arrived(value: Any) -> str:
    came = [say("b5_came_kept" if kept else "b5_came_lost", seq=seq) for seq, kept in value.items()]
    return ", ".join(came) or say("b5_nothing")


def _nodes(value: Any) -> str:
    return say("b5_nodes_alone" if value["tokens"] is None else "b5_nodes_tokens", n=value["count"], tokens=value["tokens"])


def _writer(value: Any) -> str:
    told = ", ".join(f"{name} {say('b5_unrecorded') if said is None else said}"
                     for name, said in ({"provider": None, "model": None} | value).items() if name != LIMIT)
    return told + (say("b5_config_said", said=f"{LIMIT} {value[LIMIT]}") if LIMIT in value else say("b5_config_unsaid"))


ANSWERS: dict[str, Callable[[Any], str]] = {
    "why": str, "positions": lambda ends: "..".join(map(str, ends)), "state": _state, "arrived": _arrived,
    "nodes": _nodes, "writer": _writer}


def _seqs(seqs: Sequence[int]) -> str:
    shown = list(map(str, seqs))
    return ", ".join(shown if len(shown) <= SEQS else [*shown[:2], "…", shown[-1]])


def fact_table(facts: Iterable[str], **sessions: Session) -> pd.DataFrame:
    """Which of *facts* stand word for word in what the model reads in each of *sessions*, and which in every log."""
    facts = list(facts)
    read = {name: "\n".join(words for message in session.derive_messages() for words in spoken(message))
            for name, session in sessions.items()}
    logs = ["\n".join(words for event in session.events for words in spoken_in(event)) for session in sessions.values()]
    rows = [(fact, *(_yes(fact in text) for text in read.values()), _yes(all(fact in kept for kept in logs))) for fact in facts]
    columns = [say("b5_col_fact"), *(say(SESSIONS[name]) for name in sessions), say("b5_col_log")]
    return TextTable(rows, columns=columns, index=range(1, len(rows) + 1))


def spoken_in(event: SessionEvent) -> list[str]:
    """The words of the message in *event*, whether or not it is on the surface."""
    data = event.read()
    return spoken(data if event.type == "user/message" else data.get("message") if isinstance(data, dict) else None)


def _yes(holds: bool) -> str:
    return say("b5_yes" if holds else "b5_no")


CHECKS = {"constraints": "b5_check_constraints", "tasks": "b5_check_tasks", "outcomes": "b5_check_outcomes",
          "behaviour": "b5_check_behaviour", "invented": "b5_check_invented", "exposed": "b5_check_exposed"}


def six_checks(events: Iterable[SessionEvent], seqs: Iterable[int], **summaries: str) -> pd.DataFrame:
    """What the six checks find in each of *summaries* of the nodes *seqs*, if it is to be handed on to another team.

    The behaviour is the bookkeeper's, asked whether the invoice has been paid.
    """
    events, seqs = list(events), list(seqs)
    found = {name: check_summary(events, seqs, text, next_action, question=AGAIN, audience="outside")
             for name, text in summaries.items()}
    rows = [(say(words), *(say("b5_and_also").join(_finding(one) for one in findings if one.check == check) or "–"
                           for findings in found.values())) for check, words in CHECKS.items()]
    columns = [say("b5_col_check"), *(say(SUMMARIES[name]) for name in summaries)]
    return TextTable(rows, columns=columns, index=range(1, len(rows) + 1))


SUMMARIES = {"good": "b5_col_good", "bad": "b5_col_bad", "extracted": "b5_col_extracted", "paraphrased": "b5_col_paraphrased",
             "swapped": "b5_col_swapped", "mended": "b5_col_mended"}


def _finding(it: Finding) -> str:
    """One finding in the notebook's language: the fact, or the kind of a sentence, and the seq that has it."""
    if it.check == "behaviour":
        return it.what
    what = say(WHAT[it.what]) if it.what in WHAT else it.what
    said = say("b5_found_missing" if it.change == "missing" else "b5_found_added", what=what)
    return said if it.seq is None else f"{said} ({it.seq})"


WHAT = {"prohibition": "b5_what_prohibition", "correction": "b5_what_correction", "limit": "b5_what_limit",
        "rule": "b5_what_rule", "next step": "b5_what_next", "due failed": "b5_what_failed", "phone": "b5_what_phone",
        "email": "b5_what_email", "card": "b5_what_card"}
