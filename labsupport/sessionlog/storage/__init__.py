"""The only place that touches a disk: reading and writing logs (chapter 4, §4.8).

    contract.py     what both stores promise
    scan.py         the bytes of a log: committed, torn, or damaged
    chunk_rows.py   the one codec between events and records
    jsonl.py        a folder of JSONL files; frames.py: plain or Zstandard; files.py: whole files, cut back, locked
    writers.py      writing behind a live session, and when it becomes durable
    paths.py        from an id to a path segment
"""
from labsupport.errors import LogCorruptError, LogFormatError
from labsupport.sessionlog.storage.contract import Listing, LoadedLog, Repair, Store
from labsupport.sessionlog.storage.jsonl import JsonlStore
from labsupport.sessionlog.storage.paths import encode_segment
from labsupport.sessionlog.storage.scan import Scan, TornTail, scan_file, scan_log
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
    "JsonlStore", "Listing", "LoadedLog", "LogCorruptError", "LogFormatError", "Policy", "Repair", "Scan", "Store", "TornTail",
    "Writer", "barrier", "encode_segment", "end_of_step", "end_of_turn", "every_event", "every_ms", "flush", "on_barriers",
    "on_flush", "scan_file", "scan_log",
]
