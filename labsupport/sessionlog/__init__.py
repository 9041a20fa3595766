"""Chapter 4: the session as an event log.

    json_text.py    what data an event may hold, and the text it is kept as
    shapes.py       what a message and a request header must have
    events.py       the envelope; header.py: what is known of a session as a whole
    surface.py      which messages the model sees: plan, then apply
    session.py      append, observers, seed, derive
    invariants.py   how turns, steps, calls and compactions relate
    recovery.py     what closes a turn that was interrupted
    projections.py  other views of the same events; units.py: those that come with the library
    driver.py       the turn/step loop that records a task; models.py, stream.py, tools.py: what it talks to
    transcript.py   what people read of a log
    tokens.py       a real tokenizer
    storage/        the only place that touches a disk
"""
from labsupport.errors import (
    EventError,
    LogCorruptError,
    LogFormatError,
    LosslessError,
    PairingError,
    ReentrantAppendError,
    SessionLogError,
    StaleCursorError,
    StoreBusyError,
    SurfaceError,
    UnknownEventError,
)
from labsupport.sessionlog.driver import TurnOutcome, run_turn
from labsupport.sessionlog.events import SessionEvent, is_known_type, register_event_type, to_json
from labsupport.sessionlog.header import SessionHeader
from labsupport.sessionlog.invariants import Problem, check_compaction, check_invariants
from labsupport.sessionlog.json_text import is_lossless_json
from labsupport.sessionlog.models import Model, Reply, Request, ScriptedModel
from labsupport.sessionlog.projections import Unit, fold
from labsupport.sessionlog.recovery import interrupted_turn_closers
from labsupport.sessionlog.session import Session
from labsupport.sessionlog.storage.chunk_rows import decode_record, pack_chunk_runs
from labsupport.sessionlog.surface import Surface, derive_event_message, fold_surface, pairing_cuts
from labsupport.sessionlog.transcript import TranscriptRow, transcript
from labsupport.sessionlog.units import session_stats, tool_pairing, turn_status

__all__ = [
    "EventError", "LogCorruptError", "LogFormatError", "LosslessError", "Model", "PairingError", "Problem",
    "ReentrantAppendError", "Reply", "Request", "ScriptedModel", "Session", "SessionEvent", "SessionHeader",
    "SessionLogError", "StaleCursorError", "StoreBusyError", "Surface", "SurfaceError", "TranscriptRow", "TurnOutcome",
    "Unit", "UnknownEventError", "check_compaction", "check_invariants", "decode_record", "derive_event_message", "fold",
    "fold_surface", "interrupted_turn_closers", "is_known_type", "is_lossless_json", "pack_chunk_runs", "pairing_cuts",
    "register_event_type", "run_turn", "session_stats", "to_json", "tool_pairing", "transcript", "turn_status",
]
