"""Chapter 4: the session as an event log.

    json_text.py    what data an event may hold, and the text it is kept as
    shapes.py       what a message and a request header must have
    events.py       the envelope; header.py: what is known of a session as a whole
    surface.py      which messages the model sees: plan, then apply
    session.py      append, observers, seed, derive
    invariants.py   how turns, steps, calls and compactions relate
    recovery.py     what closes a turn that was interrupted
    folding.py      one view of the same events; projections.py: many of them at one watermark (snapshots.py)
    units.py        the projections that come along
    lineage.py      resume, fork, replay
    driver.py       the turn/step loop that records a task; models.py, stream.py, tools.py: what it talks to
    pruning.py      long results without their middle; compaction.py: a summary in the place of a range
    transcript.py   what people read of a log
    tokens.py       a fixed estimate, and a real tokenizer
    prompt.py       what a request has besides messages, from named parts; request.py: any request again, and where it is from
    privacy.py      what is kept how, which requests can be rebuilt; fields.py: which field is content; redaction.py: exports
    roles.py        who may read what; retention.py: how long, and legal holds; kin.py: forks and sub-agents, which copy
    query_state.py  what the system committed to, with sources and versions
    storage/        the only place that touches a disk
"""
from labsupport.errors import (
    CompactionError,
    DetachedSessionError,
    EventError,
    ForkError,
    LogCorruptError,
    LogFormatError,
    LosslessError,
    PairingError,
    ProjectionError,
    ReentrantAppendError,
    SessionLogError,
    StaleCursorError,
    StoreBusyError,
    SurfaceError,
    UnknownEventError,
    UnloggedInputError,
)
from labsupport.sessionlog.compaction import Compacted, choose_range, compact
from labsupport.sessionlog.compaction_report import CompactionReport, compaction_ids, compaction_report
from labsupport.sessionlog.driver import TurnOutcome, run_turn
from labsupport.sessionlog.events import SessionEvent, is_known_type, register_event_type, to_json
from labsupport.sessionlog.folding import Unit, fold
from labsupport.sessionlog.header import SessionHeader
from labsupport.sessionlog.invariants import Problem, check_compaction, check_invariants
from labsupport.sessionlog.json_text import is_lossless_json
from labsupport.sessionlog.lineage import delegate, fork, replay, resume
from labsupport.sessionlog.models import Model, Reply, Request, ScriptedModel
from labsupport.sessionlog.projections import ProjectionRegistry
from labsupport.sessionlog.pruning import PruneConfig, prune_content, prune_session
from labsupport.sessionlog.recovery import interrupted_turn_closers
from labsupport.sessionlog.request import explain_request, rebuild_request, request_seqs
from labsupport.sessionlog.session import Session
from labsupport.sessionlog.snapshots import Snapshot
from labsupport.sessionlog.storage.chunk_rows import decode_record, pack_chunk_runs
from labsupport.sessionlog.summarizers import ExtractiveSummarizer, ScriptedSummarizer, Summarizer, Summary
from labsupport.sessionlog.surface import Surface, derive_event_message, fold_surface, pairing_cuts
from labsupport.sessionlog.tokens import estimate_content, estimate_header, estimate_message
from labsupport.sessionlog.transcript import TranscriptRow, transcript
from labsupport.sessionlog.units import session_stats, surface_tokens, todo, tool_pairing, turn_status

__all__ = [
    "Compacted", "CompactionError", "CompactionReport", "DetachedSessionError", "EventError", "ExtractiveSummarizer",
    "ForkError", "LogCorruptError", "LogFormatError", "LosslessError", "Model", "PairingError", "Problem",
    "ProjectionError", "ProjectionRegistry", "PruneConfig", "ReentrantAppendError", "Reply", "Request", "ScriptedModel",
    "ScriptedSummarizer", "Session", "SessionEvent", "SessionHeader", "SessionLogError", "Snapshot", "StaleCursorError",
    "StoreBusyError", "Summarizer", "Summary", "Surface", "SurfaceError", "TranscriptRow", "TurnOutcome", "Unit",
    "UnknownEventError", "UnloggedInputError", "check_compaction", "check_invariants", "choose_range", "compact",
    "compaction_ids", "compaction_report", "decode_record", "delegate", "derive_event_message", "estimate_content",
    "estimate_header", "estimate_message", "explain_request", "fold", "fold_surface", "fork", "interrupted_turn_closers",
    "is_known_type", "is_lossless_json", "pack_chunk_runs", "pairing_cuts", "prune_content", "prune_session",
    "rebuild_request", "register_event_type", "replay", "request_seqs", "resume", "run_turn", "session_stats",
    "surface_tokens", "to_json", "todo", "tool_pairing", "transcript", "turn_status",
]
