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
    decompressor = zstandard.ZstdDecompressor()
    while at < len(raw):
        try:
            frame = decompressor.decompressobj()
            lines, end = [], at
            while not frame.eof and end < len(raw):
                piece = view[end:end + 4096]  # little, for what is not used is copied back
                lines.append(frame.decompress(piece))
                end += len(piece)
        except zstandard.ZstdError:
            break
        if not frame.eof:
            break
        starts.append((at, size))
        parts += lines
        size += sum(map(len, lines))
        at = end - len(frame.unused_data)
    return Decoded(b"".join(parts), starts, len(raw) - at)


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
