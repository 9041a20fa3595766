"""The only place that touches a disk: reading and writing logs (chapter 4, §4.8).

    contract.py     what both stores promise; base.py: what both do alike
    scan.py         the bytes of a log: committed, torn, or damaged
    chunk_rows.py   the one codec between events and records
    jsonl.py        a folder of JSONL files; frames.py: plain or Zstandard; files.py: whole files, cut back, locked
    sqlite.py       many logs in one SQLite file; rows.py: its rows as records
    writers.py      writing behind a live session, and when it becomes durable
    checkpoints.py  states of projections beside a log, and their proof
    upgrades.py     from an older version of the format to this one
    paths.py        from an id to a path segment
"""
from labsupport.errors import LogCorruptError, LogFormatError
from labsupport.sessionlog.storage.checkpoints import Checkpoint
from labsupport.sessionlog.storage.contract import Deletion, Listing, LoadedLog, Repair, Store, Unreached
from labsupport.sessionlog.storage.jsonl import JsonlStore
from labsupport.sessionlog.storage.paths import encode_segment
from labsupport.sessionlog.storage.scan import Scan, TornTail, scan_file, scan_log
from labsupport.sessionlog.storage.sqlite import SqliteStore
from labsupport.sessionlog.storage.upgrades import UpgradeChain, UpgradeStep
from labsupport.sessionlog.storage.writers import (
    Policy,
    Writer,
    barrier,
    end_of_step,
    end_of_turn,
    every_event,
    every_ms,
    flush,
    on_barriers,
    on_flush,
)

__all__ = [
    "Checkpoint", "Deletion", "JsonlStore", "Listing", "LoadedLog", "LogCorruptError", "LogFormatError", "Policy", "Repair",
    "Scan", "SqliteStore", "Store", "TornTail", "Unreached", "UpgradeChain", "UpgradeStep", "Writer", "barrier",
    "encode_segment", "end_of_step", "end_of_turn", "every_event", "every_ms", "flush", "on_barriers", "on_flush",
    "scan_file", "scan_log",
]
