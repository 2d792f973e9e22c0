"""Bytes in: plain and compressed files, standard input, lines with their numbers."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError
from karat.libraries import library

STDIN = "-"
BLOCK_BYTES = 1 << 21  # about 1,500 abstracts: large enough for numpy, small enough for memory
FIRST_BYTES = 1 << 16
_SUFFIXES = (".gz", ".zst", ".jsonl", ".json", ".ndjson", ".txt", ".final", ".csv", ".tsv", ".parquet")
_COMPRESSED = (".gz", ".zst")
_GZIP, _ZSTD, BOM = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xef\xbb\xbf"
PARQUET = b"PAR1"


def stem(path: str) -> str:
    """A file's name without its folders, compression and format suffixes.

    >>> stem("runs/semeval.chan19.jsonl.gz"), stem("-"), stem("data/test_src.txt+data/test_trg.txt")
    ('semeval.chan19', 'stdin', 'test_src')
    """
    if path == STDIN:
        return "stdin"
    name = Path(path if Path(path).exists() else path.split("+")[0]).name
    while name.endswith(_SUFFIXES):
        name = name[: name.rindex(".")]
    return name


@contextmanager
def open_bytes(path: str) -> Iterator[IO[bytes]]:
    """The file's bytes, decompressed by what the file is, not by what it is called."""
    try:
        with open_raw(path) as raw:
            yield _decompressed(raw, raw.peek(4)[:4])
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a directory, not a file") from None
    except PermissionError:
        raise InputError(f"{path}: no permission to read it") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path}: the compressed file is damaged or cut off ({error})") from None


def open_raw(path: str) -> io.BufferedReader:
    """The file as it is; what can be read only once (standard input, a pipe) is read once and kept."""
    if path != STDIN and (Path(path).is_file() or Path(path).is_dir() or not Path(path).exists()):
        return open(path, "rb")
    return io.BufferedReader(cast(io.RawIOBase, io.BytesIO(_read_once(path))))


@cache
def _read_once(path: str) -> bytes:
    return sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()


def _decompressed(raw: io.BufferedReader, magic: bytes) -> IO[bytes]:
    if magic.startswith(_GZIP):
        return cast(IO[bytes], gzip.GzipFile(fileobj=raw))
    if magic.startswith(_ZSTD):
        return io.BufferedReader(_Zstd(raw), _STEP)
    return raw


_STEP = 1 << 17


class _Zstd(io.RawIOBase):
    """A decompressed zstd file that says when it was cut off; the library's own reader just ends."""

    def __init__(self, raw: io.BufferedReader) -> None:
        library = zstandard()
        self._raw = raw
        self._new_frame = library.ZstdDecompressor().decompressobj
        self._failure: type[Exception] = library.ZstdError
        self._frame: Any = None
        self._left = b""  # compressed, read and not used yet
        self._ready = memoryview(b"")  # decompressed, not handed out yet

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            compressed = self._left or self._raw.read(_STEP)
            if not compressed:
                if self._frame is not None:
                    raise EOFError("its last frame is not complete")
                return 0
            self._feed(compressed)
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _feed(self, compressed: bytes) -> None:
        if self._frame is None:
            self._frame = self._new_frame()
        try:
            self._ready = memoryview(self._frame.decompress(compressed))
        except self._failure as error:
            raise EOFError(str(error)) from None
        self._left = self._frame.unused_data
        if self._frame.eof:
            self._frame = None


def zstandard() -> Any:
    """The library that packs and unpacks .zst files."""
    return library("zstandard", "a .zst file")


def check_compression(path: str | Path) -> None:
    """Raises an error if the library is not installed that compresses a file of that name."""
    if str(path).endswith(".zst"):
        zstandard()


def blocks(path: str) -> Iterator[tuple[int, int, bytes]]:
    """(number of the first line, offset, whole lines of about BLOCK_BYTES), without a byte-order mark."""
    first, offset = 1, 0
    with open_bytes(path) as file:
        # The first block is small: many a reader looks at the beginning only.
        while block := file.read(BLOCK_BYTES if first > 1 else min(BLOCK_BYTES, FIRST_BYTES)):
            if not block.endswith(b"\n"):
                block += file.readline()
            if first == 1 and block.startswith(BOM):
                block, offset = block.removeprefix(BOM), len(BOM)
            yield first, offset, block
            first += len(line_starts(block))
            offset += len(block)


@dataclass(frozen=True, slots=True)
class Plain:
    """A plain file as it was when it was opened, so that another process can read a part of it again."""

    path: str
    size: int
    changed: int  # nanoseconds

    def read(self, offset: int, length: int) -> bytes:
        """A part of the file, provided that the file is still the same."""
        with open(self.path, "rb") as file:
            status = os.fstat(file.fileno())
            if (status.st_size, status.st_mtime_ns) != (self.size, self.changed):
                raise InputError(f"{self.path}: the file was changed while it was read")
            file.seek(offset)
            return file.read(length)


def as_plain(path: str) -> Plain | None:
    """The file if it can be read in parts: not compressed, not standard input, not a pipe."""
    if path == STDIN or not Path(path).is_file() or beginning(path).compressed:
        return None
    status = os.stat(path)
    return Plain(path, status.st_size, status.st_mtime_ns)


def line_starts(block: bytes) -> NDArray[np.int64]:
    """Where the lines of a block begin."""
    ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n"))
    starts = np.concatenate([[0], ends + 1])
    return starts[:-1] if block.endswith(b"\n") else starts


def lines(path: str, *, ends: bool = False) -> Iterator[tuple[int, str]]:
    """(number, line), with its end if `ends`. Raises InputError, naming the place, if a byte is not UTF-8."""
    for first, _, block in blocks(path):
        for number, line in enumerate(split_lines(block), first):
            yield number, decode_utf8(line + b"\n" if ends else line.removesuffix(b"\r"), path, number)


def split_lines(block: bytes) -> list[bytes]:
    """The lines of a block, without their ends."""
    return block.removesuffix(b"\n").split(b"\n")


def first_line(path: str) -> bytes:
    """The first line that is not blank, without its end; an empty file is an error."""
    line = beginning(path).line
    if line is None:
        raise InputError(f"{path}: the file is empty")
    return line


@dataclass(frozen=True, slots=True)
class Beginning:
    """What can be seen of a file by opening it: whether it is compressed, how it starts, its first line."""

    compressed: bool
    start: bytes  # four bytes
    line: bytes | None  # the first that is not blank, without its end; None of an empty file


_BEGINNINGS: dict[tuple[str, int, int, int], Beginning] = {}  # by path and state
_MOST_KEPT, _LONGEST_KEPT = 256, 1 << 20


def beginning(path: str) -> Beginning:
    """The beginning of a file, which is opened for it once unless it is changed."""
    if path == STDIN or not Path(path).is_file():
        return _read_beginning(path)
    status = os.stat(path)
    key = (path, status.st_ino, status.st_size, status.st_mtime_ns)
    if key in _BEGINNINGS:
        return _BEGINNINGS[key]
    found = _read_beginning(path)
    if len(found.line or b"") <= _LONGEST_KEPT and len(_BEGINNINGS) < _MOST_KEPT:
        _BEGINNINGS[key] = found
    return found


def _read_beginning(path: str) -> Beginning:
    with open_bytes(path) as file:
        compressed = isinstance(file, gzip.GzipFile) or isinstance(getattr(file, "raw", None), _Zstd)
        start = file.read(4)
        if start == PARQUET:
            return Beginning(compressed, start, start)
        read = (start + file.readline()).removeprefix(BOM)
        line = next(filter(bytes.strip, read.split(b"\n")), b"")
        while not line.strip() and (further := file.readline()):
            line = further
    return Beginning(compressed, start, line.rstrip(b"\r\n") if start else None)


def without_compression(path: str) -> str:
    """The path without the suffix of a compression.

    >>> without_compression("a/b.csv.gz"), without_compression("b.csv")
    ('a/b.csv', 'b.csv')
    """
    return path[: path.rindex(".")] if path.endswith(_COMPRESSED) else path


def decode_utf8(line: bytes, path: str, number: int) -> str:
    """A line as text; a byte that is not UTF-8 is named with its place."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}:{number}: not UTF-8 at byte {error.start + 1} (0x{line[error.start]:02x})") from None
