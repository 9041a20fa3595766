"""From a session id to one safe path segment (chapter 4, §4.8)."""
import hashlib
import re
from functools import lru_cache

LONGEST = 200
"""The longest segment that is written out, in bytes; file systems end at 255, and side files need room for their endings."""

_PLAIN = re.compile(r"[a-z0-9._-]")


@lru_cache(1024)
def encode_segment(text: str) -> str:
    """One path segment for the id *text*; two ids never share one, on a disk that folds case either.

    >>> encode_segment("demo-1"), encode_segment("../A"), encode_segment("..")
    ('demo-1', '..~002f~0041', '~002e~002e')

    Lower-case letters, digits, ``.``, ``_`` and ``-`` stay; every other UTF-16 unit becomes ``~`` and four hexadecimal digits.
    An over-long segment keeps its beginning and ends in a digest of the whole.
    """
    if text in (".", ".."):
        return "~002e" * len(text)
    units = text.encode("utf-16-be", "surrogatepass")
    out = []
    for at in range(0, len(units), 2):
        unit = int.from_bytes(units[at:at + 2], "big")
        out.append(chr(unit) if unit < 128 and _PLAIN.match(chr(unit)) else f"~{unit:04x}")
    encoded = "".join(out)
    if len(encoded) <= LONGEST:
        return encoded or "~empty"
    digest = hashlib.sha256(units).hexdigest()[:40]
    return f"{encoded[:LONGEST - 50]}~~{digest}"  # no short segment holds two of them in a row
