"""How trainings went: what their logs say, validation after validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from karat.errors import InputError
from karat.formats.files import read_whole
from karat.formats.load import Count, decoded_json
from karat.models.generators.checkpoint import LOG, read_card


class Line(msgspec.Struct, frozen=True):
    """A line of a log: what was seen, and the loss a word in training and in validation."""

    step: Count
    documents: Count
    loss: float
    valid: float | None = None


@dataclass(frozen=True, slots=True)
class Course:
    """One training: its directory, what is trained, and its log."""

    name: str
    model: str
    corpus: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Courses:
    """Trainings beside each other."""

    courses: tuple[Course, ...]
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """All logs as plain values."""
        return {"trainings": [msgspec.to_builtins(each) for each in self.courses]}


def read_courses(folders: Sequence[str | Path]) -> Courses:
    """The logs of trained generators. Raises InputError where a directory is none, or has no validation yet."""
    found, notes = [], []
    for folder in folders:
        card = read_card(folder)
        path = Path(folder) / LOG
        if not path.is_file() or not path.stat().st_size:
            raise InputError(f"{folder}: the training has no validation yet; try again later")
        logged = read_whole(path).splitlines()
        lines = [
            decoded_json(line, Line, f"{path}, line {at}", "is no line of a log") for at, line in enumerate(logged, 1)
        ]
        if not any(line.valid is not None for line in lines):
            notes.append(f"{folder}: was trained without --valid, so that only its training loss is drawn")
        found.append(Course(str(folder), card.model, str(card.corpus["name"]), tuple(lines)))
    return Courses(tuple(found), tuple(notes))
