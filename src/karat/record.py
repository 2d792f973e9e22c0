"""The files of one command: which it reads and which it writes, so that no output replaces an input.

Readers note a file where they open it, `formats/output.py` notes an output where it is claimed. `cli/inputs.py` notes
the files and folders that the arguments of a command name before it begins, so that a conflict is found before any
work. In Python every public function has its record, which its result keeps for `save`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from karat.errors import InputError

EVERY_FILE = ("*",)


@dataclass(frozen=True, slots=True)
class FileRecord:
    """The inputs and outputs of a command, by their real paths, each with the name that messages show."""

    inputs: dict[str, str] = field(default_factory=dict)
    folders: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)  # the name, patterns of its inputs
    outputs: dict[str, str] = field(default_factory=dict)
    merged: set[str] = field(default_factory=set)  # outputs that are read and written again with what they hold

    def note_input(self, path: str | Path) -> None:
        """Note a file that is read. Raises InputError if it is an output.

        What lies in a folder that the command writes (runs that are kept, a training to resume) is its output.
        """
        real = os.path.realpath(path)
        if real in self.inputs or real in self.merged or self.is_output(os.path.dirname(real)):
            return
        if real in self.outputs:
            raise _overwritten(self.outputs[real])
        self.inputs[real] = str(path)

    def note_folder(self, path: str | Path, patterns: tuple[str, ...] = EVERY_FILE) -> None:
        """Note a folder whose files are read: all of them, or those whose names match a pattern."""
        self.folders[os.path.realpath(path)] = str(path), patterns

    def note_output(self, path: str | Path) -> None:
        """Note a file or folder that is written.

        Raises InputError if it is an input, through links too, or lies in a folder where the next run would read it.
        """
        real = os.path.realpath(path)
        if real not in self.outputs:
            self._check(path, real)
            self.outputs[real] = str(path)

    def is_output(self, real: str) -> bool:
        """Whether a real path is an output, or lies in a folder that is one."""
        return real in self.outputs or any(each in self.outputs for each in _parents(real))

    def _check(self, path: str | Path, real: str) -> None:
        if real in self.inputs or (os.path.isfile(real) and any(_same(real, each) for each in self.inputs)):
            raise _overwritten(path)
        for place, (name, patterns) in self.folders.items():
            if not any(fnmatch(os.path.basename(real), pattern) for pattern in patterns):
                continue
            for folder in (real, *_parents(real)):
                if folder == place or _same(folder, place):  # the same, too, where it is mounted twice
                    what = "is an input" if folder == real else f"is in {name}, which is an input"
                    raise InputError(f"{path}: {what}; name a place outside of that folder")


def _overwritten(output: str | Path) -> InputError:
    return InputError(f"{output}: is one of the inputs, which are never overwritten; name another file")


def _parents(real: str) -> Iterator[str]:
    while (parent := os.path.dirname(real)) != real:
        yield parent
        real = parent


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


_active: ContextVar[FileRecord | None] = ContextVar("record", default=None)


@contextmanager
def recording(record: FileRecord | None = None) -> Iterator[FileRecord]:
    """Record the files of what is done inside: in the record that is active, else in the given one or a new one."""
    active = _active.get()
    if active is not None:
        yield active
        return
    token = _active.set(record := record or FileRecord())
    try:
        yield record
    finally:
        _active.reset(token)


def note_input(path: str | Path, patterns: tuple[str, ...] = EVERY_FILE) -> None:
    """Note a file that is read, or a folder whose files (those that match a pattern) are, where a record is active."""
    record = _active.get()
    if record is not None:
        if os.path.isdir(path):
            record.note_folder(path, patterns)
        elif os.path.isfile(path):
            record.note_input(path)


def is_input(path: str | Path) -> bool:
    """Return whether a file is an input, where a record is active."""
    record = _active.get()
    return record is not None and os.path.realpath(path) in record.inputs


def note_output(path: str | Path) -> None:
    """Note an output, where a record is active. Raises InputError if it is an input."""
    record = _active.get()
    if record is not None:
        record.note_output(path)


def note_merge(path: str | Path) -> None:
    """Note an output that is read first, since what it holds is kept, where a record is active."""
    record = _active.get()
    if record is not None:
        record.note_output(path)
        record.merged.add(os.path.realpath(path))


@contextmanager
def recording_imports() -> Iterator[None]:
    """Note the files of the modules that are imported inside, but for those that are installed."""
    before = set(sys.modules)
    try:
        yield
    finally:
        for name in set(sys.modules) - before:
            file = getattr(sys.modules[name], "__file__", None)
            if file and not file.startswith((sys.prefix, sys.base_prefix)):
                note_input(file)
