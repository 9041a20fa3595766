"""The two physical encodings of a log: plain lines, and Zstandard frames, one a batch (chapter 4, §4.8.2)."""
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO

import zstandard


@dataclass(frozen=True)
class Decoded:
    """The lines of a log, where each batch begins (offset in the file, offset in *data*), and how many bytes are *torn* off."""

    data: bytes
    starts: list[tuple[int, int]]
    torn: int
    behind: bytes = b""
    """The lines of whole batches that stand behind what is torn off."""


@dataclass(frozen=True)
class Encoding:
    """How lines become bytes of a file, batch by batch, and back."""

    ending: str
    encode: Callable[[bytes], bytes]
    decode: Callable[[bytes], Decoded]
    first_line: Callable[[BinaryIO], bytes]


def _decode_plain(raw: bytes) -> Decoded:
    return Decoded(raw, [(0, 0)], 0)


def _encode_frame(lines: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(lines)


def _decode_frames(raw: bytes) -> Decoded:
    """Frame by frame; from the first one that is not whole on, nothing was committed."""
    view, at, size = memoryview(raw), 0, 0
    parts: list[bytes] = []
    starts: list[tuple[int, int]] = []
    while at < len(raw) and (frame := _frame(view, at)) is not None:
        lines, end = frame
        starts.append((at, size))
        parts.append(lines)
        size, at = size + len(lines), end
    return Decoded(b"".join(parts), starts, len(raw) - at, _frames_behind(raw, view, at))


def _frame(view: memoryview, at: int) -> tuple[bytes, int] | None:
    """The lines of the frame at *at* and where it ends; None when it is not whole."""
    frame = zstandard.ZstdDecompressor().decompressobj()
    lines, end = [], at
    with suppress(zstandard.ZstdError):
        while not frame.eof and end < len(view):
            piece = view[end:end + 4096]  # little, for what is not used is copied back
            lines.append(frame.decompress(piece))
            end += len(piece)
    return (b"".join(lines), end - len(frame.unused_data)) if frame.eof else None


def _frames_behind(raw: bytes, view: memoryview, at: int) -> bytes:
    """The lines of the frames behind the one at *at*, which is not whole: there are some when it is damaged, not torn."""
    parts = []
    found = raw.find(_MAGIC, at + 1) if at < len(raw) else -1
    while found >= 0:
        frame = _frame(view, found)
        if frame is not None:
            parts.append(frame[0])
        found = raw.find(_MAGIC, found + 1 if frame is None else frame[1])
    return b"".join(parts)


_MAGIC = b"\x28\xb5\x2f\xfd"  # a frame begins with it


def _first_line_of_frames(file: BinaryIO) -> bytes:
    """The first line, of as much as the first frame gives up to it; empty where it gives none."""
    frame, line = zstandard.ZstdDecompressor().decompressobj(), b""
    with suppress(zstandard.ZstdError):
        while b"\n" not in line and not frame.eof and (piece := file.read(4096)):
            line += frame.decompress(piece)
    return line[:line.find(b"\n") + 1]


ENCODINGS = {
    None: Encoding(".jsonl", bytes, _decode_plain, lambda file: file.readline()),
    "zstd": Encoding(".jsonl.zstd", _encode_frame, _decode_frames, _first_line_of_frames),
}
