"""The world that a log only observes; nothing here knows what a session is (chapter 4, §4.3).

    ledger.py       what was really sent and paid: business effects, each done once for a key
    metrics.py      what a figure means: definitions with versions
    attachments.py  what is too big for a log: files that a keyed digest names
    keys.py         keys whose deletion makes what they sealed unreadable; vault.py: those of one tenant, with its attachments
    memory.py       facts that outlive their session: permission, version, update, forgetting, conflict
    entries.py      the rows of a memory
    extraction.py   from what a user said to facts, by rule
    base.py         what the stores here do alike
"""
from labsupport.errors import (
    AttachmentCorruptError,
    AttachmentError,
    AttachmentMissingError,
    AttachmentReferenceError,
    KeyMissingError,
    LedgerConflictError,
    LedgerMissingError,
    MemoryAccessError,
    MemoryConflictError,
    MetricMissingError,
    OutsideBusyError,
    OutsideCorruptError,
    OutsideError,
    OutsideFileError,
    OutsideFormatError,
    SealError,
)
from labsupport.outside.attachments import Attachments, Page, Removed
from labsupport.outside.entries import Entry, Version
from labsupport.outside.extraction import RULES, Evidence, Fact, Rule, extract
from labsupport.outside.keys import KeyRemoved, Keys, KeyState, derive_key
from labsupport.outside.ledger import Ledger, Operation
from labsupport.outside.memory import Forgotten, Memory, SessionForgotten
from labsupport.outside.metrics import Metric, Metrics
from labsupport.outside.vault import TenantVault

__all__ = [
    "RULES", "AttachmentCorruptError", "AttachmentError", "AttachmentMissingError", "AttachmentReferenceError", "Attachments",
    "Entry", "Evidence", "Fact", "Forgotten", "KeyMissingError", "KeyRemoved", "KeyState", "Keys", "Ledger",
    "LedgerConflictError", "LedgerMissingError", "Memory", "MemoryAccessError", "MemoryConflictError", "Metric",
    "MetricMissingError", "Metrics", "Operation", "OutsideBusyError", "OutsideCorruptError", "OutsideError", "OutsideFileError",
    "OutsideFormatError", "Page", "Removed", "Rule", "SealError", "SessionForgotten", "TenantVault", "Version", "derive_key",
    "extract",
]
