"""Files of answers that sheets save: read, checked against their study, and joined, the newest answer of an item first.

    {"karat": "annotations", "version": 1, "study": "...", "task": "set", "annotator": "a1", "token": "...",
     "saved": 1763391600000, "answers": {"17": {"answer": 3, "comment": "", "seconds": 12.5, "at": 1763391599000}}}

Times are milliseconds since 1970, as browsers count them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from karat.annotation.study import ADJUDICATOR, Item, Study
from karat.errors import InputError, unknown
from karat.formats.base import brief, quoted
from karat.formats.files import read_whole
from karat.formats.load import MOST_COUNT, decoded_json

Time = Annotated[float, msgspec.Meta(ge=0, le=MOST_COUNT)]
Phrase = Annotated[str, msgspec.Meta(max_length=1000)]
HINT = "give the files that sheets saved, or an export of Label Studio"


class Chosen(msgspec.Struct, frozen=True):
    """The keyphrases of a document: candidates by number, and phrases in an annotator's words."""

    chosen: tuple[int, ...]
    added: tuple[Phrase, ...]
    done: bool


class Record(msgspec.Struct, frozen=True):
    """The answer to an item, None where it was undone; when it was given, and how many seconds it took."""

    answer: float | Chosen | None
    at: Time
    comment: Annotated[str, msgspec.Meta(max_length=100_000)] = ""
    seconds: Time = 0.0


class File(msgspec.Struct, frozen=True):
    """What a sheet saves."""

    karat: Literal["annotations"]
    version: Literal[1]
    study: str
    task: str
    annotator: str
    answers: dict[str, Record]
    saved: Time = 0.0
    token: str = ""  # of the sheet; empty of sheets that have none


@dataclass(frozen=True, slots=True)
class Answers:
    """What one file says of one annotator."""

    origin: str
    annotator: str
    records: Mapping[int, Record]
    checked: bool = True  # whether a token, or a server, says whose they are


def read_answers(path: str | Path, study: Study) -> Iterator[Answers]:
    """The answers in a file of a sheet, or in an export of Label Studio, of each annotator in it.

    Raises InputError if the file is damaged or of another study, or if an answer is none that the task has.
    """
    content, where = read_whole(path), str(path)
    if content.lstrip()[:1] == b"[":
        from karat.annotation.label_studio import read_export

        found = read_export(content, where, study)
    else:
        found = iter([_of_sheet(decoded_json(content, File, where, "not a file of answers", HINT), where, study)])
    for answers in found:
        for number, record in answers.records.items():
            _check(answers, number, record, study)
        yield answers


def _of_sheet(file: File, where: str, study: Study) -> Answers:
    if file.study != study.id:
        raise InputError(f"{where}: is of the study {quoted(file.study)}, not of {study.id}; give files of one study")
    if file.task != study.task:
        raise InputError(f"{where}: has answers to the task {quoted(file.task)}, not to {study.task}")
    if file.annotator not in (*study.annotators, ADJUDICATOR):
        raise InputError(f"{where}: {unknown('annotator', file.annotator, study.annotators)}")
    if file.token not in ("", study.token(file.annotator)):
        raise InputError(
            f"{where}: is not from the sheet of {quoted(file.annotator)}, but renamed; give the file as it was saved"
        )
    records = {_number(key, where): record for key, record in file.answers.items()}
    return Answers(where, file.annotator, records, checked=bool(file.token))


def _number(key: str, where: str) -> int:
    if not (key.isascii() and key.isdigit() and len(key) <= 9):
        raise InputError(f"{where}: there is no item {quoted(key)} in the study")
    return int(key)


def _check(answers: Answers, number: int, record: Record, study: Study) -> None:
    """Raises InputError if an annotator answers what was not asked, or with what is no answer."""
    name, where = answers.annotator, answers.origin
    item = study.by_id.get(number)
    if item is None:
        raise InputError(f"{where}: there is no item {number} in the study")
    asked = study.annotators.get(name)
    if asked is not None and number not in asked:
        raise InputError(f"{where}: item {number} is not in the sheet of annotator {quoted(name)}")
    if record.answer is None:
        return
    if study.task == "reference":
        _check_chosen(record.answer, item, f"{where}: item {number}")
    elif isinstance(record.answer, Chosen) or not study.answers.has(record.answer):
        steps = study.answers.steps
        shown = f"{record.answer:g}" if isinstance(record.answer, float | int) else "a list of phrases"
        raise InputError(
            f"{where}: item {number}: {shown} is no answer on the scale {study.scale}, which is "
            f"{', '.join(f'{step.value:g}' for step in steps)}"
        )


def _check_chosen(answer: Any, item: Item, where: str) -> None:
    if not isinstance(answer, Chosen):
        raise InputError(f"{where}: {brief(f'{answer:g}', 40)} is no answer; it is a list of chosen and added phrases")
    for number in answer.chosen:
        if not 0 <= number < len(item.predicted):
            raise InputError(f"{where}: there is no candidate {number}; there are {len(item.predicted)}")
    if any(not phrase.strip() for phrase in answer.added):
        raise InputError(f"{where}: an added phrase is empty")


@dataclass(frozen=True, slots=True)
class Joined:
    """The newest answer of every annotator to every item, and how many older ones there were."""

    records: Mapping[str, Mapping[int, Record]]  # by annotator and item; those that were undone are left out
    older: Mapping[str, int]  # by annotator, items that files answer differently, of which the newest answer is taken
    files: Mapping[str, tuple[str, ...]]  # by annotator
    unchecked: tuple[str, ...] = ()  # files of sheets without a token


def join_answers(files: Iterable[Answers], study: Study) -> Joined:
    """The answers of several files, of which some may be older exports of the same annotator.

    Raises InputError if two files have different answers of the same moment: one of them was edited.
    """
    newest: dict[str, dict[int, tuple[Record, str]]] = {name: {} for name in study.annotators}
    older: dict[str, set[int]] = {}
    origins: dict[str, list[str]] = {name: [] for name in study.annotators}
    unchecked: list[str] = []
    for file in files:
        unchecked += [] if file.checked else [file.origin]
        own = newest.setdefault(file.annotator, {})
        origins.setdefault(file.annotator, []).append(file.origin)
        for number, record in file.records.items():
            before = own.get(number)
            if before is not None and before[0].answer != record.answer:
                if before[0].at == record.at:
                    raise InputError(
                        f"{before[1]} and {file.origin} give annotator {quoted(file.annotator)} different answers to "
                        f"item {number} at the same moment; one of them was edited, leave it out"
                    )
                older.setdefault(file.annotator, set()).add(number)
            if before is None or record.at > before[0].at:
                own[number] = record, file.origin
    if newest.keys() - {*study.annotators, ADJUDICATOR}:  # users of a server, who have names of their own
        newest = {name: own for name, own in newest.items() if origins[name]}
    records = {
        name: {number: record for number, (record, _) in sorted(own.items()) if record.answer is not None}
        for name, own in newest.items()
    }
    counts = {name: len(numbers) for name, numbers in older.items()}
    files_by_name = {name: tuple(dict.fromkeys(own)) for name, own in origins.items()}
    return Joined(records, counts, files_by_name, tuple(unchecked))
