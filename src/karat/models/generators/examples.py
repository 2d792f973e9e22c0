"""Examples: what a generator learns from, as integers in a file that is mapped into memory.

The file holds int32 numbers: a head, then for each document the numbers of its tokens, their numbers for copying and
its targets, and at the end an index of int64 columns. Where phrases are to be dropped, there is behind a target where
its present phrases stand: for each of them how many places there are, and these. Only the index and what a batch needs
is ever in memory. The order of an epoch follows from the seed and the number of the epoch alone.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.corpus import Document
from karat.errors import InputError
from karat.formats.output import writing_beside
from karat.models.generators.guiding import Guide, guided
from karat.models.generators.settings import Peos
from karat.models.generators.words import (
    BOS,
    EOS,
    PAD,
    PEOS,
    SEP,
    UNK,
    Stems,
    Targets,
    Words,
    parted_target,
    places_of,
    source_tokens,
    split_references,
    targets_of,
)
from karat.record import note_input

Ints = NDArray[np.int32]

MAGIC = 0x6B617261  # the first number of a file
VERSION = 1
COLUMNS = 5  # of the index: where the source is, its length, where the target is, its length, which document
ALIKE = 16  # tokens by which lengths of documents may differ before those of their targets count
BUCKET = 64  # batches whose documents are sorted by length together


class Example(NamedTuple):
    """What is learned of a document."""

    source: Ints  # [n] numbers in the table
    copied: Ints  # [n] numbers for copying
    target: Ints  # [m] numbers for copying
    document: int  # its place in the corpus
    places: Sequence[Sequence[int]]  # where each present phrase of the target stands, if that is known


Change = Callable[[Example], Iterable[Example]]  # what is learned of an example


class Arrays(NamedTuple):
    """Some examples beside each other; `PAD` fills rows up."""

    source: Ints  # [b, n] numbers in the table
    copied: Ints  # [b, n] numbers for copying
    own: Ints  # [b, l] the numbers in the table of the words beyond the head
    inputs: Ints  # [b, m] what is written before each target, as numbers in the table
    targets: Ints  # [b, m] what is to be written, as numbers for copying


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of the documents of a corpus."""

    documents: int = 0  # that have an example
    empty: int = 0  # without references or without text
    unwritable: int = 0  # whose references can neither be written nor copied
    present: int = 0
    absent: int = 0
    shared: int = 0  # that are also among the documents to compare with
    cut: int = 0  # that are longer than what is learned from
    shortened: int = 0  # whose references are longer than what is learned of them


def content_of(document: Document) -> bytes:
    """A short hash of a document's tokens, by which the same document is known elsewhere."""
    return blake2b("\0".join(source_tokens(document)).encode(), digest_size=12).digest()


def write_examples(
    path: Path,
    documents: Iterable[Document],
    words: Words,
    *,
    language: str,
    targets: Targets,
    longest: int,
    others: frozenset[bytes] = frozenset(),
    places: bool = False,
    guide: Guide | None = None,
    progress: Callable[[int], object] | None = None,
) -> Counts:
    """Writes the examples of documents to a file, one document after the other; gives what became of them.

    `longest` is how many tokens of a document are read; `others` are documents of another corpus, which are counted;
    `places` says whether it is kept where present phrases stand; `guide` finds what is put before documents.
    """
    stems = Stems(language)
    made = empty = unwritable = shared = there = missing = 0
    with writing_examples(path, places=places) as add:
        for place, (document, before) in enumerate(
            guide.along(documents) if guide else zip(documents, repeat([]), strict=False)
        ):
            if progress is not None and not place % 100:
                progress(100)
            if others and content_of(document) in others:
                shared += 1
            tokens = source_tokens(document)[:longest]
            present, absent = split_references(document, tokens, stems)
            if not tokens or not (present or absent):
                empty += 1
                continue
            source = words.numbered(tokens)
            found = list(targets_of(present, absent, words, source, targets))
            if not found:
                unwritable += 1
                continue
            made, there, missing = made + 1, there + len(present), missing + len(absent)
            whole = guided(source, before, words)
            stand = places_of(present, words, source, stems([*before, *tokens]), stems) if places else ()
            add(place, whole.read, whole.copied, found, [n for each in stand for n in (len(each), *each)])
    return Counts(made, empty, unwritable, there, missing, shared)


Add = Callable[..., None]  # (place of the document, source, numbers beside it, targets, places of phrases)


@contextmanager
def writing_examples(path: Path, *, places: bool = False, alone: bool = False) -> Iterator[Add]:
    """A context with a function that writes the examples of a document to a file, which is complete at the end.

    Each number of a source has another beside it, its number for copying or a tag, unless sources stand `alone`.
    """
    index = array("q")
    with writing_beside(path) as file:
        file.write(np.array([MAGIC, VERSION, places, alone], dtype=np.int32).tobytes())
        at = 4

        def add(
            place: int,
            source: Sequence[int],
            beside: Sequence[int],
            targets: Sequence[Sequence[int]],
            known: Sequence[int] = (),
        ) -> None:
            nonlocal at
            numbers = [*source, *beside, *(number for target in targets for number in target), *known]
            file.write(np.array(numbers, dtype=np.int32).tobytes())
            start = at + len(source) + len(beside)
            for target in targets:
                index.extend((at, len(source), start, len(target), place))
                start += len(target)
            at += len(numbers)

        yield add
        if at % 2:
            file.write(b"\0\0\0\0")  # the index begins at a multiple of 8 bytes
        file.write(index.tobytes())
        file.write(np.array([len(index) // COLUMNS, MAGIC], dtype=np.int64).tobytes())


class Examples:
    """The examples in a file. Raises InputError if the file is none of examples.

    Targets are in the file with `<peos>`, `always`; see `with_peos`.
    """

    def __init__(self, path: Path, written: int, peos: Peos = "always", words: int | None = None) -> None:
        self.path, self.written, self.peos = path, written, peos
        self.words = np.iinfo(np.int32).max if words is None else words  # of the table
        if not path.is_file():
            raise InputError(f"{path}: there is no such file, which a training learns from; train without --resume")
        note_input(path)
        size = path.stat().st_size
        whole = size >= 32 and size % 4 == 0
        self._numbers: Ints = np.memmap(path, dtype=np.int32, mode="r") if whole else np.zeros(4, np.int32)
        if self._numbers[0] != MAGIC or self._numbers[1] != VERSION or self._numbers[-2] != MAGIC:
            raise InputError(f"{path}: holds no examples of this version; remove it, and train without --resume")
        count, before = int(self._numbers[-4:-2].view(np.int64)[0]), len(self._numbers) - 4
        whole = 1 <= count <= before // (2 * COLUMNS)
        end = before - 2 * COLUMNS * count if whole else 0  # of the examples
        self.index = self._numbers[end:before].view(np.int64).reshape(-1, COLUMNS) if whole else np.zeros((0, COLUMNS))
        at, length, start, many, _ = self.index.T
        self.alone = bool(self._numbers[3])  # whether sources have no numbers for copying
        least = at + (1 if self.alone else 2) * length
        if not whole or ((at < 4) | (length < 1) | (start < least) | (many < 1) | (start + many > end)).any():
            raise InputError(f"{path}: its index is damaged; remove the directory, and train without --resume")

    def __len__(self) -> int:
        return len(self.index)

    def batches(self, size: int, seed: int, epoch: int) -> list[NDArray[np.int64]]:
        """The batches of an epoch: documents of like length together, all in an order that seed and epoch give."""
        random = np.random.default_rng([seed, epoch])
        order = random.permutation(len(self))
        found = []
        for start in range(0, len(order), size * BUCKET):
            bucket = order[start : start + size * BUCKET]
            bucket = bucket[np.lexsort((self.index[bucket, 3], self.index[bucket, 1] // ALIKE))]
            found += [bucket[at : at + size] for at in range(0, len(bucket), size)]
        return [found[at] for at in random.permutation(len(found))]

    def example(self, row: int) -> Example:
        """An example; where its phrases stand is known if that was kept."""
        numbers = self._numbers
        at, length, start, many, document = self.index[row].tolist()
        places: list[list[int]] = []
        if numbers[2]:
            known = start + many
            for _ in parted_target(numbers[start:known].tolist())[0]:
                end = known + 1 + int(numbers[known])
                places.append(numbers[known + 1 : end].tolist())
                known = end
        source = numbers[at : at + length]
        copied = source if self.alone else numbers[at + length : at + 2 * length]
        target = numbers[start : start + many]
        beyond = self.written + length  # numbers for copying: the head, then words of the document
        if min(part.min() for part in (source, copied, target)) < 0 or not (
            source.max() < self.words and copied.max() < beyond and target.max() < beyond
        ):
            raise InputError(f"{self.path}: its numbers are damaged; remove the directory, and train without --resume")
        return Example(source, copied, target, document, places)

    def arrays(self, rows: Sequence[int] | NDArray[np.int64], change: Change | None = None) -> Arrays:
        """These examples beside each other, or what they are changed to."""
        found = [self.example(row) for row in np.asarray(rows).tolist()]
        if change is not None:
            found = [each for example in found for each in change(example)]
        return beside(
            [each.source for each in found],
            [each.copied for each in found],
            [with_peos(each.target, self.peos) for each in found],
            self.written,
        )


def beside(sources: Sequence[Ints], copies: Sequence[Ints], targets: Sequence[Ints], written: int) -> Arrays:
    """Documents and their targets as arrays."""
    source, copied, target = _padded(sources), _padded(copies), _padded(targets)
    own = np.full((len(source), max(int(copied.max(initial=0)) + 1 - written, 0)), UNK, dtype=np.int32)
    row, column = np.nonzero(copied >= written)
    own[row, copied[row, column] - written] = source[row, column]
    before = np.concatenate([np.full((len(target), 1), BOS, dtype=np.int32), target[:, :-1]], axis=1)
    return Arrays(source, copied, own, in_table(before, own, written), target)


def with_peos(target: Ints, peos: Peos) -> Ints:
    """A target with the mark between present and absent phrases always, only where both are there, or never.

    >>> with_peos(np.array([20, SEP, 21, PEOS, 22, EOS], np.int32), "never").tolist() == [20, SEP, 21, SEP, 22, EOS]
    True
    >>> with_peos(np.array([20, PEOS, EOS], np.int32), "between").tolist() == [20, EOS]
    True
    """
    [places] = (target == PEOS).nonzero()
    if peos == "always" or not len(places):
        return target
    at = int(places[0])
    both = at > 0 and target[at + 1] != EOS
    between = [PEOS if peos == "between" else SEP] if both else []
    return np.concatenate([target[:at], np.array(between, np.int32), target[at + 1 :]])


def in_table(numbers: Ints, own: Ints, written: int) -> Ints:
    """Numbers for copying [b, m] as numbers in the table."""
    if not own.shape[1]:
        return numbers
    return np.where(numbers < written, numbers, np.take_along_axis(own, np.maximum(numbers - written, 0), axis=1))


def _padded(rows: Sequence[Ints]) -> Ints:
    found = np.full((len(rows), max(map(len, rows), default=0)), PAD, dtype=np.int32)
    for at, row in enumerate(rows):
        found[at, : len(row)] = row
    return found


def windows(lengths: Sequence[int], size: int) -> Iterator[list[int]]:
    """Which documents go together, short ones first."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    for at in range(0, len(order), size):
        yield order[at : at + size]
