"""A study: its items, the documents they are of, and which annotator sees which of them; kept as `study.json`.

The file is for whoever leads the study. It says which system an item is of, which no sheet does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import msgspec

from karat.annotation.tasks import SCALES, Scale, TaskName, scale_of
from karat.errors import InputError
from karat.formats.base import quoted
from karat.formats.load import Count, load_json
from karat.record import note_input

FILE, LABELING = "study.json", "labeling.xml"
KIND: Literal["annotation study"] = "annotation study"
ADJUDICATOR = "adjudicator"  # who settles what the annotators disagree on


class Text(msgspec.Struct, frozen=True):
    """A document as annotators see it."""

    title: str = ""
    text: str = ""


class Item(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is asked at once; of the fields from `predicted` on, those that its task has."""

    id: int
    document: str
    stratum: str = ""
    systems: tuple[str, ...] = ()  # those that predict it
    predicted: tuple[str, ...] = ()  # of a set, and the candidates of a document
    references: tuple[str, ...] = ()
    phrase: str = ""  # of a pair the prediction
    reference: str = ""
    swapped: bool = False  # whether a pair is shown with the reference first


class Study(msgspec.Struct, frozen=True, dict=True, kw_only=True):
    """The items of a study and who judges them."""

    karat: Literal["annotation study"] = KIND
    version: Literal[1] = 1
    id: str = ""
    task: TaskName
    scale: str
    corpus: str
    systems: tuple[str, ...]
    seed: Count
    overlap: float
    documents: dict[str, Text]
    items: tuple[Item, ...]
    annotators: dict[str, tuple[int, ...]]  # the items of each, in the order of their sheet

    @cached_property
    def by_id(self) -> Mapping[int, Item]:
        """The items by their ids."""
        return {item.id: item for item in self.items}

    @property
    def answers(self) -> Scale:
        """The answers that can be given."""
        return scale_of(self.task, self.scale)

    def named(self) -> Study:
        """The same study with its id: a hash of all that sheets are made of."""
        return msgspec.structs.replace(self, id=blake2b(self._content, digest_size=8).hexdigest())

    @cached_property
    def _content(self) -> bytes:
        made_of = (self.task, self.scale, self.corpus, self.systems, self.seed, self.overlap)
        return msgspec.msgpack.encode((*made_of, self.documents, self.items, self.annotators))

    def token(self, annotator: str) -> str:
        """The token of an annotator's sheet, which the answers carry: whose they are does not rest on a name alone.

        It is a keyed hash, so that the same study makes the same sheets. The key is the study, which says what no
        sheet does: the systems of each item.
        """
        key = blake2b(self._content, person=b"karat token").digest()
        return blake2b(annotator.encode(), key=key, digest_size=16).hexdigest()


def load_study(path: str | Path) -> Study:
    """Load the study in a folder, or in the file itself, and note its sheets as files that no output replaces.

    Raises:
        InputError: There is none, it is damaged, or an output of the command is one of its sheets.
    """
    file = Path(path) / FILE if Path(path).is_dir() else Path(path)
    if not file.is_file():
        raise InputError(f"{path}: there is no {FILE} here; `karat annotate sheets ... -o FOLDER` makes one")
    hint = f"give the folder that `karat annotate sheets` wrote, or its {FILE}"
    found: Study = load_json(file, Study, "not a study", hint)
    _check(found, str(file))
    for name in (*(f"{annotator}.html" for annotator in found.annotators), LABELING):
        note_input(file.parent / name)  # what annotators are given: no output replaces it
    return found


def _check(found: Study, where: str) -> None:
    """Raises InputError if a study contradicts itself, as one that was edited may."""
    if found.scale not in SCALES[found.task]:
        raise InputError(f"{where}: there is no scale {quoted(found.scale)} of the task {found.task}")
    if len(found.by_id) < len(found.items):
        raise InputError(f"{where}: two items have the same id")
    lacking: Iterable[str] = (item.document for item in found.items if item.document not in found.documents)
    for identifier in lacking:
        raise InputError(f"{where}: the text of document {quoted(identifier)} is missing")
    for name, own in found.annotators.items():
        if not found.by_id.keys() >= set(own):
            raise InputError(f"{where}: annotator {quoted(name)} has items that the study does not")
    if found.id != found.named().id:
        raise InputError(f"{where}: was changed after its sheets were made; take the one that was written with them")
