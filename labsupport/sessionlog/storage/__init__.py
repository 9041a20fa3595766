"""The only place that touches a disk: reading and writing logs (chapter 4, §4.8)."""
from labsupport.errors import LogCorruptError, LogFormatError
from labsupport.sessionlog.storage.paths import encode_segment
from labsupport.sessionlog.storage.scan import Scan, TornTail, scan_file, scan_log

__all__ = ["LogCorruptError", "LogFormatError", "Scan", "TornTail", "encode_segment", "scan_file", "scan_log"]
