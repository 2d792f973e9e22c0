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
from difflib import get_close_matches
from functools import cache
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from karat.corpus import split_paths
from karat.errors import InputError
from karat.libraries import library
from karat.limits import limits
from karat.record import note_input

STDIN = "-"
Ints = NDArray[np.int64]
_NEAR, _NOWHERE = 1 << 18, np.zeros(0, dtype=np.int64)
BLOCK_BYTES = 1 << 21  # about 1,500 abstracts: large enough for numpy, small enough for memory
FIRST_BYTES = 1 << 16
MOST_NEAR = 5000  # files of a folder, among which the nearest name is looked for
_SUFFIXES = (
    *(".gz", ".zst", ".jsonl", ".json", ".ndjson", ".txt", ".final", ".csv", ".tsv", ".parquet"),
    *(".xlsx", ".bib", ".ris", ".jsonld"),
)
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
    name = Path(split_paths(path)[0]).name
    while name.endswith(_SUFFIXES):
        name = name[: name.rindex(".")]
    return name


@contextmanager
def open_bytes(path: str) -> Iterator[IO[bytes]]:
    """The file's bytes, decompressed by what the file is, not by what it is called."""
    try:
        with open_raw(path) as raw:
            yield _decompressed(raw, raw.peek(4)[:4])
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path}: the compressed file is damaged or cut off ({error})") from None


def open_raw(path: str) -> io.BufferedReader:
    """The file as it is; what can be read only once (standard input, a pipe) is read once and kept."""
    try:
        if path != STDIN and (os.path.isfile(path) or os.path.isdir(path) or not os.path.exists(path)):
            note_input(path)
            return open(path, "rb")
    except FileNotFoundError:
        raise no_such_file(path) from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a directory, not a file") from None
    except PermissionError:
        raise InputError(f"{path}: no permission to read it") from None
    except (OSError, ValueError) as error:  # a name that is too long, or that holds a zero byte
        raise InputError(f"{path}: cannot be opened ({getattr(error, 'strerror', None) or error})") from None
    return io.BufferedReader(cast(io.RawIOBase, io.BytesIO(_read_once(path))))


def no_such_file(path: str) -> InputError:
    """An error for a file that is not there, with the one of its folder whose name is nearest."""
    if os.path.islink(path):
        return InputError(f"{path}: is a link to a file that is not there")
    folder, name = os.path.split(path)
    try:
        there = sorted(each for each in islice(os.listdir(folder or "."), MOST_NEAR) if each[0] != ".")
    except (OSError, ValueError):
        there = []
    stems = {stem(each.removesuffix(".karat")): each for each in reversed(there)}
    near = get_close_matches(stem(name.removesuffix(".karat")), stems, n=1, cutoff=0.75)
    hint = f"; did you mean {os.path.join(folder, stems[near[0]])!r}?" if near else ""
    return InputError(f"{path}: there is no such file{hint}")


@cache
def _read_once(path: str) -> bytes:
    if path != STDIN:
        with open(path, "rb") as pipe:
            return _read_pipe(pipe, path)
    if sys.stdin is None:
        raise InputError("standard input is closed; name a file")
    try:
        return _read_pipe(sys.stdin.buffer, "standard input")
    except OSError as error:
        raise InputError(f"standard input cannot be read ({error.strerror})") from None


def _read_pipe(pipe: IO[bytes], name: str) -> bytes:
    content = bytearray()
    while piece := pipe.read(BLOCK_BYTES):  # a read of as much as there may be would set that much memory aside
        content += piece
        if len(content) > limits().pipe:
            raise limits().exceeded("pipe", name, "what comes in")
    return bytes(content)


def read_whole(path: str | Path) -> bytes:
    """All bytes of a file, decompressed, without a byte-order mark. Raises InputError if they are too many."""
    most = limits().file
    with open_bytes(str(path)) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise limits().exceeded("file", str(path), "the file")
    return content.removeprefix(BOM)


def _decompressed(raw: io.BufferedReader, magic: bytes) -> IO[bytes]:
    if magic.startswith(_GZIP):
        return cast(IO[bytes], gzip.GzipFile(fileobj=raw))
    if magic.startswith(_ZSTD):
        return io.BufferedReader(_Zstd(raw), _STEP)
    return raw


_STEP = 1 << 17
_FED = 1 << 10  # bytes that are decompressed at once: they may become 32 MB


class _Zstd(io.RawIOBase):
    """A decompressed zstd file that says when it was cut off; the library's own reader just ends."""

    def __init__(self, raw: io.BufferedReader) -> None:
        library = zstandard()
        self._raw = raw
        self._new_frame = library.ZstdDecompressor().decompressobj
        self._failure: type[Exception] = library.ZstdError
        self._frame: Any = None
        self._left = memoryview(b"")  # compressed, read and not used yet
        self._ready = memoryview(b"")  # decompressed, not handed out yet

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            self._left = self._left or memoryview(self._raw.read(_STEP))
            if not self._left:
                if self._frame is not None:
                    raise EOFError("its last frame is not complete")
                return 0
            self._feed(self._left[:_FED])
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _feed(self, compressed: memoryview) -> None:
        if self._frame is None:
            self._frame = self._new_frame()
        try:
            self._ready = memoryview(self._frame.decompress(compressed))
        except self._failure as error:
            raise EOFError(str(error)) from None
        self._left = self._left[len(compressed) - len(self._frame.unused_data) :]
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
    return ((first, offset, block) for first, offset, block, _ in blocks_with_starts(path))


def blocks_with_starts(path: str) -> Iterator[tuple[int, int, bytes, Ints]]:
    """The blocks of a file, each with the places where its lines begin."""
    first, offset = 1, 0
    with open_bytes(path) as file:
        # The first block is small: many a reader looks at the beginning only.
        while block := file.read(BLOCK_BYTES if first > 1 else min(BLOCK_BYTES, FIRST_BYTES)):
            if not block.endswith(b"\n"):
                block += file.readline(limits().line + 1)
            if first == 1 and block.startswith(BOM):
                block, offset = block.removeprefix(BOM), len(BOM)
            starts = line_starts(block)
            _check_lines(path, first, block, starts)
            yield first, offset, block, starts
            first += len(starts)
            offset += len(block)
            if offset > limits().stream:
                raise limits().exceeded("stream", path, "the file")


def _check_lines(path: str, first: int, block: bytes, starts: Ints) -> None:
    """Raises InputError if a line of a block is too long."""
    most = limits().line
    if len(block) > most:
        lengths = np.diff(starts, append=len(block)) - block.endswith(b"\n")
        if lengths.max() > most:
            raise limits().exceeded("line", f"{path}:{first + int((lengths > most).argmax())}", "the line")


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
    if path == STDIN or not os.path.isfile(path) or beginning(path).compressed:
        return None
    status = os.stat(path)
    return Plain(path, status.st_size, status.st_mtime_ns)


def line_starts(block: bytes) -> Ints:
    """Where the lines of a block begin."""
    starts = np.append(0, places_of(np.frombuffer(block, dtype=np.uint8), "\n") + 1)
    return starts[:-1] if block.endswith(b"\n") else starts


def places_of(text: NDArray[np.uint8], character: str) -> Ints:
    """Where a character of ASCII stands in a text."""
    byte = ord(character)
    starts = range(0, len(text), _NEAR)  # in parts that stay near the processor, which is twice as fast
    return np.concatenate([_NOWHERE, *(np.flatnonzero(text[at : at + _NEAR] == byte) + at for at in starts)])


def pieces(path: str) -> Iterator[bytes]:
    """The bytes of a file that is streamed but whose content is kept: no more in all than those of a whole file."""
    size = 0
    with open_bytes(path) as file:
        while piece := file.read(_STEP):
            size += len(piece)
            if size > limits().file:
                raise limits().exceeded("file", path, "the file")
            yield piece


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
    if len(line) > limits().line:
        raise limits().exceeded("line", path, "its first line")
    return line


@dataclass(frozen=True, slots=True)
class Beginning:
    """What can be seen of a file by opening it: whether it is compressed, how it starts, its first line."""

    compressed: bool
    start: bytes  # four bytes
    line: bytes | None  # the first that is not blank, without its end, cut where it is too long; None of an empty file


_BEGINNINGS: dict[tuple[str | int, ...], Beginning] = {}  # by path, state, and how long a line may be
_MOST_KEPT, _LONGEST_KEPT = 256, 1 << 20


def beginning(path: str) -> Beginning:
    """The beginning of a file, which is opened for it once unless it is changed."""
    if path == STDIN or not os.path.isfile(path):
        return _read_beginning(path)
    status = os.stat(path)
    key = (path, status.st_ino, status.st_size, status.st_mtime_ns, limits().line)
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
        line = _first_line(file, start)
    return Beginning(compressed, start, line.rstrip(b"\r\n") if start else None)


def _first_line(file: IO[bytes], start: bytes) -> bytes:
    """The first line of a file that is not blank, and no more than a line may have; `start` is read already."""
    most, content, size = limits().line, (start + file.read(FIRST_BYTES)).removeprefix(BOM), 0
    while content.isspace() and size <= most:
        size += len(content)
        content = file.read(FIRST_BYTES)
    begin = content.rfind(b"\n", 0, len(content) - len(content.lstrip())) + 1
    line, end, _ = content[begin:].partition(b"\n")
    return line if end else line + file.readline(most + 2)


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
