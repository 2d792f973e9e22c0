"""Bytes in and out: plain and compressed files, standard input, lines with their numbers, safe writing."""

from __future__ import annotations

import gzip
import io
import os
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO, BinaryIO, cast

from karat.errors import InputError, missing_extra

STDIN = "-"
BLOCK_BYTES = 1 << 21  # about 1,500 abstracts: large enough for numpy, small enough for memory
_SUFFIXES = (".gz", ".zst", ".jsonl", ".json", ".ndjson", ".txt")
_GZIP, _ZSTD, _BOM = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xef\xbb\xbf"


def stem(path: str) -> str:
    """A file's name without its folders, compression and format suffixes.

    >>> stem("runs/semeval.chan19.jsonl.gz"), stem("-"), stem("data/test_src.txt+data/test_trg.txt")
    ('semeval.chan19', 'stdin', 'test_src')
    """
    if path == STDIN:
        return "stdin"
    name = Path(path.split("+")[0]).name
    while name.endswith(_SUFFIXES):
        name = name[: name.rindex(".")]
    return name


@contextmanager
def open_bytes(path: str) -> Iterator[IO[bytes]]:
    """The file's bytes, decompressed by what the file is, not by what it is called."""
    try:
        with io.BytesIO(_stdin()) if path == STDIN else open(path, "rb") as raw:
            magic = raw.read(4)
            raw.seek(0)
            yield _decompressed(cast(BinaryIO, raw), magic)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a directory, not a file") from None
    except PermissionError:
        raise InputError(f"{path}: no permission to read it") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path}: the compressed file is damaged or cut off ({error})") from None


def _decompressed(raw: BinaryIO, magic: bytes) -> IO[bytes]:
    if magic.startswith(_GZIP):
        return cast(IO[bytes], gzip.GzipFile(fileobj=raw))
    if magic.startswith(_ZSTD):
        return _zstd(raw)
    return raw


def _zstd(raw: BinaryIO) -> IO[bytes]:
    try:
        import zstandard
    except ImportError:
        raise missing_extra("reading .zst files", "zst") from None

    class Checked(io.RawIOBase):
        """A zstd stream that says when it was cut off; the library's own reader just ends."""

        def __init__(self) -> None:
            self.reader = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
            try:
                return int(self.reader.readinto(buffer))
            except zstandard.ZstdError as error:
                raise EOFError(str(error)) from None

    return io.BufferedReader(Checked(), 1 << 17)


@cache
def _stdin() -> bytes:
    # Kept, because a corpus may be read twice (a fitted cutoff needs a first pass).
    return sys.stdin.buffer.read()


def blocks(path: str) -> Iterator[tuple[int, int, bytes]]:
    """(number of the first line, number of lines, the lines): about BLOCK_BYTES, without a byte-order mark."""
    first = 1
    with open_bytes(path) as file:
        while block := file.read(BLOCK_BYTES):
            if not block.endswith(b"\n"):
                block += file.readline()
            count = block.count(b"\n") + (not block.endswith(b"\n"))
            yield first, count, block.removeprefix(_BOM) if first == 1 else block
            first += count


def lines(path: str) -> Iterator[tuple[int, str]]:
    """(number, line) without its end; a byte that is not UTF-8 is an error that names its place."""
    for first, _, block in blocks(path):
        for number, line in enumerate(split_lines(block), first):
            yield number, decode_utf8(line, path, number)


def split_lines(block: bytes) -> list[bytes]:
    """The lines of a block, without their ends."""
    return block.removesuffix(b"\n").split(b"\n")


def looks_like_json(path: str) -> bool:
    """Whether the first character that is not white space opens a JSON value."""
    with open_bytes(path) as file:
        head = file.read(4096)
    return head.removeprefix(_BOM).lstrip()[:1] in (b"{", b"[")


def decode_utf8(line: bytes, path: str, number: int) -> str:
    """A line as text; a byte that is not UTF-8 is named with its place."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}:{number}: not UTF-8 at byte {error.start + 1} (0x{line[error.start]:02x})") from None


def write_beside(path: str | Path, content: bytes) -> None:
    """Writes the file as a whole: beside its place first, then renamed, so that a failure leaves the old one."""
    target = Path(path)
    try:
        handle, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except FileNotFoundError:
        raise InputError(f"{target.parent}: there is no such folder") from None
    except PermissionError:
        raise InputError(f"{target.parent}: no permission to write there") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(beside, 0o666 & ~_umask())
        os.replace(beside, target)
    except OSError as error:
        raise InputError(f"{target}: could not be written ({error.strerror or error})") from None
    finally:
        Path(beside).unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
