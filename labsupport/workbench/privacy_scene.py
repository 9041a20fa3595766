"""Lab B10's clinic: a patient's visit, its fork, its sub-agent, another patient's check-up, a session about nobody, and what
keeps them."""
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree
from typing import Any

from labsupport.outside import Attachments, Keys, TenantVault, derive_key
from labsupport.own import own_number
from labsupport.sessionlog import Reply, ScriptedModel, Session, SessionEvent, SessionHeader, delegate, fork, run_turn
from labsupport.sessionlog.models import call
from labsupport.sessionlog.privacy import Need, Policy, protect_log
from labsupport.sessionlog.retention import DAY
from labsupport.sessionlog.storage import JsonlStore

TENANT, ROOT = "clinic-a", bytes(range(32))
"""A root that everybody can read is for a lab; a real one lies in a key service, and never beside the keys."""
NAME, PHONE = "林安", f"555-{own_number(142, 99):04}"
OTHER_NAME = "王芳"
SECRET = "sk-demo-4f9a2c7711bbEXAMPLE"
START = 1_772_442_000_000
VISIT, SECOND, LETTER, CHECKUP, HOURS = "visit", "visit-second", "visit-letter", "checkup", "hours"
LOGS = (VISIT, SECOND, LETTER, CHECKUP, HOURS)
PATIENT_1, PATIENT_2 = "patient-1", "patient-2"
PATIENTS = {VISIT: PATIENT_1, SECOND: PATIENT_1, LETTER: PATIENT_1, CHECKUP: PATIENT_2}
"""Whose session it is, by number: the name of a key stands in the log in the clear."""
POLICY: Policy = {"tool": "reference", "instruction": "plain"}
OPEN: Policy = dict.fromkeys(("prompt", "answer", "tool", "instruction", "chunk", "title", "error", "other"), "plain")
"""For sessions about nobody."""
BACKUP, EXPORT, CASE = "backup", "export", "case-7"


@dataclass
class Clock:
    """Milliseconds, a second later at every look."""

    now: int = START

    def __call__(self) -> int:
        self.now += 1000
        return self.now

    def pass_days(self, days: int) -> None:
        self.now += days * DAY


def find_patient(given: Any) -> str:
    """The tool: what the clinic knows of a patient."""
    return f'{{"name": "{given["name"]}", "phone": "{PHONE}", "tests": 3}}'


def ask(session: Session, prompt: str, *replies: Reply) -> None:
    """One more turn of *session*."""
    run_turn(session, prompt, ScriptedModel(replies), {"find_patient": find_patient},
             config={"provider": "workbook", "model": "scripted-1"}, system="You help the clinic's desk.",
             tool_schemas=[{"name": "find_patient", "parameters": {"type": "object"}}])


def first_visit(clock: Clock) -> Session:
    """The visit up to its title."""
    session = Session.create(VISIT, header=SessionHeader(VISIT, START, cwd="/home/demo/lin-an"), clock=clock)
    ask(session, f"{NAME} has had a cough since May. Which tests did she have?",
        Reply(calls=[call("c1", "find_patient", f'{{"name": "{NAME}"}}')]), Reply(f"So far {NAME} had 3 tests."))
    session.append("session/title", {"title": f"{NAME}: cough since May"})
    return session


def later_visit(session: Session) -> None:
    """Two more turns; the last one ends in an error that repeats a key of the program's own."""
    ask(session, "Thank you. She has moved to the harbour.", Reply("Noted."))
    ask(session, "Is that all?", Reply("Well", error=(f"Invalid API key: {SECRET}", "MODEL_FAILED")))


def sessions() -> Mapping[str, Session]:
    """The sessions as they were in memory, in the clear."""
    clock = Clock()
    visit = first_visit(clock)
    second = fork(visit, child_id=SECOND, clock=clock)
    ask(second, "What may a cough since May point to?", Reply("The lungs want a second look."))
    letter = delegate(visit, LETTER, clock=clock)
    ask(letter, f"Write to {NAME}, {PHONE}: the 3 tests are done.", Reply(f"Dear {NAME}, your 3 tests are done."))
    checkup = Session.create(CHECKUP, header=SessionHeader(CHECKUP, START), clock=clock)
    ask(checkup, f"{OTHER_NAME} is here for a check-up. When was her last one?", Reply("In March."))
    hours = Session.create(HOURS, header=SessionHeader(HOURS, START), clock=clock)
    ask(hours, "When does the clinic open?", Reply("At 8."))
    clock.pass_days(31)
    later_visit(visit)
    return {VISIT: visit, SECOND: second, LETTER: letter, CHECKUP: checkup, HOURS: hours}


@contextmanager
def opened(folder: str | Path, keys: str | Path | None = None) -> Iterator[TenantVault]:
    """The vault of the tenant in *folder*, with the database of keys of another folder when *keys* names one.

    It opens what the vault of one patient sealed, too: the names of those keys begin with the tenant's.
    """
    folder, clock = Path(folder), Clock()
    path = Path(keys or folder) / "keys.db"
    with Keys(path, ROOT, clock) as database:
        attachments = Attachments(folder / "attachments", derive_key(ROOT, f"attachments/{TENANT}"))
        yield TenantVault(TENANT, database, attachments)


def settle(folder: str | Path, by_patient: bool = False) -> None:
    """Store the sessions in *folder* as the policy says, with keys that were rotated after the first month: one for each class,
    or one for each class and patient.

    Beside them are a backup of all, and an export of the visit in the clear that somebody made.
    """
    folder, there = Path(folder), sessions()
    folder.mkdir(parents=True)
    store, first = JsonlStore(folder / "logs"), len(first_visit(Clock()).events)
    with opened(folder) as tenant:
        vaults = {id: TenantVault(f"{TENANT}/{PATIENTS[id]}", tenant.keys, tenant.attachments) if by_patient and id in PATIENTS
                  else tenant for id in LOGS}
        begun = protect_log(there[VISIT].events[:first], POLICY, vaults[VISIT])
        _keep(store, there[SECOND], protect_log(there[SECOND].events, POLICY, vaults[SECOND], begun))
        _keep(store, there[LETTER], protect_log(there[LETTER].events, POLICY, vaults[LETTER]))
        _keep(store, there[CHECKUP], protect_log(there[CHECKUP].events, POLICY, vaults[CHECKUP]))
        _keep(store, there[HOURS], protect_log(there[HOURS].events, OPEN, vaults[HOURS]))
        for state in tenant.keys.states(TENANT):
            tenant.keys.rotate(state.name)
        _keep(store, there[VISIT], protect_log(there[VISIT].events, POLICY, vaults[VISIT], begun))
    copytree(folder, folder / BACKUP)
    _keep(JsonlStore(folder / EXPORT), there[VISIT], list(there[VISIT].events))


def _keep(store: JsonlStore, session: Session, events: list[SessionEvent]) -> None:
    store.create(session.header)
    store.append(session.id, events)


def stored(folder: str | Path) -> dict[str, list[SessionEvent]]:
    """The logs in *folder* as they lie there, those that are there."""
    store = JsonlStore(Path(folder) / "logs")
    return {header.id: store.inspect(header.id).events for header in sorted(store.list(), key=lambda it: LOGS.index(it.id))}


def key(kind: str, version: int, patient: str = "") -> Need:
    """The tenant's key for a class, or the key for that class of one patient."""
    return Need("key", "/".join(filter(None, (TENANT, patient, kind))), version)
