"""Work on its way to its file: what is done so far stands beside it, so that a command can go on after a kill.

`FILE.part` has a first line that says whose it is, then the lines of the file. When all is there it becomes the file.
Only one process at a time works on it. A part of other work is written over once there is a line to be kept, not
before: a command that fails at its beginning costs nobody's work. Whether a part belongs to a command is judged by a
fingerprint of the content that the outcome depends on, never by paths, sizes or times.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import msgspec

from karat import __version__
from karat.errors import InputError
from karat.formats.load import DECODING_ERRORS
from karat.formats.output import claimed, mode_of, writing, writing_errors

PART = ".part"


class _Whose(msgspec.Struct, frozen=True):
    """The first line of a part: what it belongs to."""

    karat: str  # the version
    fingerprint: str


@dataclass(slots=True)
class Unfinished:
    """A file of lines that is being written: the lines that are there already, and where the others go."""

    path: str
    lines: tuple[bytes, ...]  # whole ones, without their ends, from an earlier attempt
    of_another: bool  # a part of other work stands there, and is begun anew
    _file: IO[bytes]
    _head: bytes  # the first line that is still to be written, if any

    @property
    def part(self) -> str:
        """The path of what is there so far."""
        return self.path + PART

    @property
    def begun(self) -> bool:
        """Whether there is anything of this work to go on from."""
        return not self._head

    def keep(self, count: int) -> None:
        """Drops all lines but the first ones."""
        length = sum(len(line) + 1 for line in self.lines[count:])
        self._file.truncate(self._file.seek(-length, os.SEEK_END))

    def add(self, lines: Iterable[bytes]) -> None:
        """Adds lines; when this returns a kill does not lose them."""
        if content := b"".join(line + b"\n" for line in lines):
            self._begin()
            self._file.write(content)
            self._file.flush()

    def discard(self) -> None:
        """Forgets what was done."""
        os.unlink(self.part)

    def finish(self, save: Callable[[str, Iterator[bytes]], None] | None = None) -> None:
        """Makes the part the file, compressed if its name says so; with `save`, by that, which gets path and lines."""
        self._begin()
        self._file.seek(0)
        self._file.readline()
        if save is not None:
            save(self.path, iter(self._file.readline, b""))
            os.unlink(self.part)
            return
        with writing(self.path) as file:
            while block := self._file.read(1 << 20):
                file.write(block)
        os.unlink(self.part)

    def _begin(self) -> None:
        """Writes the first line, over whatever other work stood there."""
        if self._head:
            self._file.truncate(self._file.seek(0))
            self._file.write(self._head)
            self._head = b""


@contextmanager
def unfinished(path: str, fingerprint: str) -> Iterator[Unfinished]:
    """The work on a file that was begun before with this fingerprint, or new work; held for this process.

    Raises InputError if another process works on the file, or if its part is a link.
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
            same = bool(end) and _is(whose, head)
            lines = rest.split(b"\n")[:-1] if same else []
            if same:
                with writing_errors(path, part.parent):
                    file.truncate(file.seek(len(head) + 1 + sum(len(line) + 1 for line in lines)))
            first = b"" if same else msgspec.json.encode(whose) + b"\n"
            try:
                yield Unfinished(path, tuple(lines), bool(content) and not same, file, first)
            finally:
                if not os.fstat(opened).st_size:
                    part.unlink(missing_ok=True)


def _is(whose: _Whose, head: bytes) -> bool:
    try:
        return msgspec.json.decode(head, type=_Whose) == whose
    except DECODING_ERRORS:
        return False
