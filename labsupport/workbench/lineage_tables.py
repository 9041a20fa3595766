"""Lab B8's last table: resume, fork, replay and memory, each tried on the same session."""
from collections.abc import Callable
from tempfile import TemporaryDirectory

import pandas as pd

from labsupport.errors import DetachedSessionError
from labsupport.outside import Fact, Memory, extract
from labsupport.sessionlog import Reply, Session, fork, replay, resume
from labsupport.sessionlog.storage import JsonlStore
from labsupport.workbench.memory_play import remembered, user_said
from labsupport.workbench.outbox_play import ID, ask, mail_call, mail_tools, mails, record
from labsupport.workbench.tables import TextTable
from labsupport.workbench.text import say

Make = Callable[[JsonlStore], Session]
WAYS: dict[str, Make] = {
    "b8_word_resume": lambda store: resume(store, ID),
    "b8_word_fork": lambda store: fork(store.inspect(ID).session(), len(store.inspect(ID).events) - 1),
    "b8_word_replay": lambda store: replay(store.inspect(ID).events, store.inspect(ID).header),
}


def four_words() -> pd.DataFrame:
    """One row a word: what goes in, under which id, what became of the old log, where it writes, what a turn did."""
    rows = [_tried(word, make) for word, make in WAYS.items()]
    rows.append(_memory())
    columns = [say("b8_col_word"), say("b8_col_in"), say("b8_col_id"), say("b8_col_log"), say("b8_col_own_log"),
               say("b8_col_turn"), say("b8_col_mails")]
    return TextTable(rows, columns=columns, index=range(1, len(rows) + 1))


def _tried(word: str, make: Make) -> tuple[object, ...]:
    """The session that *make* gives runs one more turn that wants to send a mail; a fork is run without a tool for it."""
    with TemporaryDirectory() as folder:
        record(folder)
        store = JsonlStore(folder)
        before, sent = store.path(ID).read_bytes(), mails(folder)
        session = make(store)
        taken = say("b8_events", n=session.first_live_seq)
        try:
            said, wrote = _turn(store, session, folder), f"{session.id}.jsonl"
        except DetachedSessionError as error:
            said, wrote = type(error).__name__, say("b8_nowhere")
        after = store.path(ID).read_bytes()
        old = say("b8_log_same" if after == before else "b8_log_longer")
        return say(word), taken, session.id, old, wrote, said, mails(folder) - sent


def _turn(store: JsonlStore, session: Session, folder: str) -> str:
    writer = None if session.detached else store.attach(session)
    tools = None if session.header.parent_session else mail_tools(session, folder)
    try:
        ask(session, "Once more.", Reply(calls=[mail_call("c9")]), Reply("Done."), tools=tools)
    finally:
        if writer is not None:
            writer.close()
    result = next(event for event in reversed(session.events) if event.type == "tool/result")
    return str(result.data["error"]["code"]) if "error" in result.data else say("b8_answered")


def _memory() -> tuple[object, ...]:
    with TemporaryDirectory() as folder:
        record(folder)
        store = JsonlStore(folder)
        before, sent = store.path(ID).read_bytes(), mails(folder)
        facts: list[Fact] = extract(ID, user_said(store.inspect(ID).session()))
        memory: Memory = remembered(*facts)
        held = len(memory.search(reader="ana"))
        memory.close()
        old = say("b8_log_same" if store.path(ID).read_bytes() == before else "b8_log_longer")
        return (say("b8_word_memory"), say("b8_facts", n=held), say("b8_no_session"), old, memory.path.name, "–",
                mails(folder) - sent)
