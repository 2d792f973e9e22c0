"""Unfinished files: lines that are done are kept beside the file, so that a command resumes after a kill.

`FILE.part` has a first line that identifies the work, then the lines of the file. When all lines are written it becomes
the file. Each line has a checksum (see `checksums`): from the first line on that is damaged or incomplete, lines are
computed again. The lines are synced every few seconds, so that a power cut costs little. Only one process at a time
writes to it. A part of other work is replaced when there is a line to keep, not before: a command that fails at its
beginning destroys nothing. A part belongs to a command if the fingerprints of the content that the outcome depends on
are equal; paths, sizes and times do not count.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from math import inf
from pathlib import Path
from time import monotonic
from typing import IO

import msgspec

from karat import __version__
from karat.errors import InputError
from karat.formats.checksums import CHECKSUM_LENGTH, checksum_line, verify_line
from karat.formats.load import DECODING_ERRORS
from karat.formats.output import claimed, mode_of, writing, writing_errors

PART = ".part"
SYNC_SECONDS = 5.0  # between two syncs
_LINES = 4096  # that are copied at a time


class _Whose(msgspec.Struct, frozen=True):
    """The first line of a part: what it belongs to."""

    karat: str  # the version
    fingerprint: str


@dataclass(slots=True)
class Unfinished:
    """A file of lines that is being written: the lines of an earlier attempt, and where the others go."""

    path: str
    lines: tuple[bytes, ...]  # complete ones, without their ends and checksums
    damaged: int | None  # the number of the first line of the part that is damaged or incomplete
    of_another: bool  # the part is of other work, and is replaced
    _file: IO[bytes]
    _head: bytes  # the first line, if it is still to be written
    _synced: float = field(default=-inf)  # when

    @property
    def part(self) -> str:
        """The path of the unfinished file."""
        return self.path + PART

    @property
    def begun(self) -> bool:
        """Whether the part holds lines of this work."""
        return not self._head

    def keep(self, count: int) -> None:
        """Drop all lines but the first ones."""
        length = sum(CHECKSUM_LENGTH + len(line) + 1 for line in self.lines[count:])
        self._file.truncate(self._file.seek(-length, os.SEEK_END))

    def add(self, lines: Iterable[bytes]) -> None:
        """Append lines: a kill does not lose them, a power cut those of the last seconds at most."""
        if content := b"".join(checksum_line(line) + b"\n" for line in lines):
            self._begin()
            self._file.write(content)
            self._file.flush()
            if monotonic() - self._synced >= SYNC_SECONDS:
                os.fsync(self._file.fileno())
                self._synced = monotonic()

    def discard(self) -> None:
        """Remove the part."""
        os.unlink(self.part)

    def finish(self, save: Callable[[str, Iterator[bytes]], None] | None = None) -> None:
        """Write the file from the part, compressed if its name says so; `save` writes it from path and lines.

        Raises:
            InputError: A line was damaged on the disk meanwhile.
        """
        self._begin()
        self._file.seek(0)
        self._file.readline()
        if save is not None:
            save(self.path, self._read())
        else:
            lines = self._read()
            with writing(self.path) as file:
                while block := b"".join(islice(lines, _LINES)):
                    file.write(block)
        os.unlink(self.part)

    def _read(self) -> Iterator[bytes]:
        """Read the lines of the part, with their ends."""
        for number, content in enumerate(iter(self._file.readline, b""), 2):
            line = verify_line(content[:-1])
            if line is None:
                raise InputError(
                    f"{self.part}: line {number:,} is damaged; run the same command again to predict it again"
                )
            yield line + b"\n"

    def _begin(self) -> None:
        """Write the first line, in place of other work."""
        if self._head:
            self._file.truncate(self._file.seek(0))
            self._file.write(self._head)
            self._head = b""


@contextmanager
def unfinished(path: str, fingerprint: str) -> Iterator[Unfinished]:
    """Resume the work on a file with this fingerprint, or begin it, and hold the file for this process.

    Raises:
        InputError: Another process works on the file, or its part is a link.
    """
    part = Path(path + PART)
    whose = _Whose(__version__, fingerprint)
    with claimed(path):
        with writing_errors(path, part.parent):
            if part.is_symlink():
                raise InputError(f"{part}: is a link, and what is done so far is kept in a plain file; remove it")
            opened = os.open(part, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), mode_of(Path(path), 0o666))
        with os.fdopen(opened, "r+b") as file:
            content = file.read()
            head, end, rest = content.partition(b"\n")
            found = verify_line(head) if end else None
            same = found is not None and _is(whose, found)
            lines, damaged = _lines(rest) if same else ([], None)
            if content and found is None and not content.startswith(b"{"):  # as in an earlier version of karat
                damaged = 1
            if same:
                with writing_errors(path, part.parent):
                    file.truncate(file.seek(len(head) + 1 + sum(CHECKSUM_LENGTH + len(line) + 1 for line in lines)))
            first = b"" if same else checksum_line(msgspec.json.encode(whose)) + b"\n"
            of_another = bool(content) and not same and damaged is None
            try:
                yield Unfinished(path, tuple(lines), damaged, of_another, file, first)
            finally:
                if not os.fstat(opened).st_size:
                    part.unlink(missing_ok=True)


def _lines(content: bytes) -> tuple[list[bytes], int | None]:
    """Return the lines after the first, and the number of the one that is damaged or incomplete and ends them."""
    lines: list[bytes] = []
    *complete, rest = content.split(b"\n")
    for number, each in enumerate(complete, 2):
        line = verify_line(each)
        if line is None:
            return lines, number
        lines.append(line)
    return lines, len(lines) + 2 if rest else None


def _is(whose: _Whose, head: bytes) -> bool:
    try:
        return msgspec.json.decode(head, type=_Whose) == whose
    except DECODING_ERRORS:
        return False
