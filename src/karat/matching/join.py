"""A corpus and its runs, joined document by document and cut into chunks.

The corpus is read once in its order; each run is read beside it. A run in the same order is never held in memory, one
in another order is held as far as it is ahead. Records stay as raw lines here: only ids are looked at, so that the
process that reads can feed several that compute.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Any

from karat.corpus import NO_PREDICTIONS, Batch, Corpus, Document, Prediction, Run
from karat.errors import InputError
from karat.options import By, Extra, Missing


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some documents in corpus order, and what each run predicts for them."""

    ids: list[str]
    documents: Batch[Document]
    predictions: list[Batch[Prediction]]
    missing: list[list[int]]  # by run, the positions here of documents that the run lacks
    numbers: Sequence[int]  # where the documents stand in the corpus, from 0

    def pick(self, keep: Sequence[int]) -> Chunk:
        """The chunk of some of the documents."""
        at = {position: n for n, position in enumerate(keep)}
        return Chunk(
            [self.ids[i] for i in keep],
            self.documents.pick(keep),
            [batch.pick(keep) for batch in self.predictions],
            [[at[i] for i in lacking if i in at] for lacking in self.missing],
            [self.numbers[i] for i in keep],
        )


@dataclass(frozen=True, slots=True)
class Shard:
    """Every N-th document, from the I-th on."""

    index: int = 1
    count: int = 1

    def positions(self, start: int, length: int) -> range:
        """Which of the documents from `start` on are in the shard, counted from `start`."""
        return range((self.index - 1 - start) % self.count, length, self.count)


@dataclass(frozen=True, slots=True)
class Join:
    """How runs are matched to a corpus."""

    by: By | None = None  # None: by id where both have ids, else by line
    missing: Missing = "error"
    shard: Shard = Shard()
    extra: Extra = "error"
    distinct: bool = True  # whether it is an error if a document has no id, others having one, or that of another

    def lacks(self, run: Run, identifier: str, corpus: Corpus, other: str | None) -> InputError:
        """The error for a document that a run lacks; `other` is an id of the run where none of its ids is known."""
        hint = "score it as empty with --missing empty, or leave it out with --missing skip"
        if other is not None:
            hint = f"its own ids are others, as {other!r}"
        return InputError(f"{run.origin}: no predictions for document {identifier!r} of {corpus.origin}; {hint}")

    def strange(self, run: Run, identifier: str, place: int, corpus: Corpus, count: int) -> InputError:
        """The error for documents of a run that the corpus lacks: the first of them, and how many they are."""
        some = f"{count:,} such; --extra ignore leaves them out" if self.extra == "error" else "nor is any other of it"
        return InputError(f"{run.origin}:{place}: document {identifier!r} is not in {corpus.origin} ({some})")


def matched_by(corpus: Corpus, run: Run, by: By | None) -> By:
    """How the run is matched: by the option, or by id if the first record of each has one."""
    if by == "line":
        return "line"
    ids = [has_id(corpus), has_id(run)]
    if by is None:
        return "id" if all(ids) else "line"
    if not all(ids):
        lacking = corpus.origin if not ids[0] else run.origin
        raise InputError(f"{lacking}: its lines have no id; match by --by line")
    return "id"


def has_id(records: Corpus | Run) -> bool:
    """Whether the first record has an id."""
    for batch in records.ahead():
        return batch.ids[0] is not None
    return False


def chunks(corpus: Corpus, runs: Sequence[Run], join: Join, ignored: dict[str, int] | None = None) -> Iterator[Chunk]:
    """The shard's documents in corpus order, each with the predictions of every run.

    `ignored` gets the number of documents that each run has beyond the corpus, where that is no error.
    """
    cursors = [_cursor(run, matched_by(corpus, run, join.by), join) for run in runs]
    known = _Known(corpus.origin)
    has_ids = has_id(corpus)
    start = 0  # of the batch, in the corpus
    for batch in corpus.batches():
        ids = _corpus_ids(corpus, batch, has_ids, known) if join.distinct else _any_ids(batch)
        taken = [cursor.take(ids, corpus) for cursor in cursors]
        keep = join.shard.positions(start, len(ids))
        if keep:
            yield Chunk(
                [ids[i] for i in keep],
                batch.pick(keep),
                [found.pick(keep) for found, _ in taken],
                [[n for n, i in enumerate(keep) if i in lacking] if lacking else [] for _, lacking in taken],
                range(start + keep.start, start + keep.stop, keep.step),
            )
        start += len(ids)
    for cursor in cursors:
        extra = cursor.finish(corpus)
        if extra and ignored is not None:
            ignored[cursor.run.name] = extra


class _Known:
    """The ids of a corpus so far, and where each stands: dict and array, as a number is a larger object in a dict."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.ids: dict[str, None] = {}
        self.places = array("q")  # in the order of the ids

    def add(self, ids: list[str], places: Sequence[int]) -> None:
        """Adds ids. Raises InputError if one is there already, with both places."""
        fresh = dict.fromkeys(ids)
        if len(fresh) < len(ids) or not self.ids.keys().isdisjoint(fresh):
            _note_places(ids, places, dict(zip(self.ids, self.places, strict=True)), self.origin)
        self.ids |= fresh
        self.places.extend(places)


def _corpus_ids(corpus: Corpus, batch: Batch[Document], has_ids: bool, known: _Known) -> list[str]:
    """The batch's ids, line numbers where there are none at all; an id that came before is an error."""
    if not has_ids:
        ids = list(map(str, batch.places))
    else:
        ids = _all_ids(batch, corpus.origin)
    known.add(ids, batch.places)
    return ids


def _any_ids(batch: Batch[Document]) -> list[str]:
    """The batch's ids, the line number where there is none."""
    return [identifier or str(place) for identifier, place in zip(batch.ids, batch.places, strict=True)]


def _all_ids(batch: Batch[Any], origin: str) -> list[str]:
    """The batch's ids, every record having one."""
    if None in batch.ids:
        place = batch.places[batch.ids.index(None)]
        raise InputError(f"{origin}:{place}: no id, though earlier lines have one")
    return batch.ids  # type: ignore[return-value]


def _note_places(ids: list[str], at: Sequence[int], places: dict[str, int], origin: str) -> None:
    """Adds where each id stands; one that stands there already is an error that names both places."""
    fresh = dict(zip(ids, at, strict=True))
    if len(fresh) == len(ids) and places.keys().isdisjoint(fresh):
        places |= fresh
        return
    for identifier, place in zip(ids, at, strict=True):
        if identifier in places:
            first = places[identifier]
            raise InputError(f"{origin}: id {identifier!r} is on line {first} and on line {place}")
        places[identifier] = place


class Restricted:
    """The batches of a run without its predictions for documents that are not known, which are counted."""

    def __init__(self, run: Run, known: Set[str]) -> None:
        self.run = run
        self.known = known
        self.strangers = 0  # documents that are not known, once the run has been read

    def __call__(self) -> Iterator[Batch[Prediction]]:
        """The batches. Raises InputError if a prediction has no id, or if two that are left out have the same."""
        places: dict[str, int] = {}
        for batch in self.run.batches():
            ids = _all_ids(batch, self.run.origin)
            keep = [n for n, identifier in enumerate(ids) if identifier in self.known]
            if len(keep) < len(ids):
                others = [n for n, identifier in enumerate(ids) if identifier not in self.known]
                _note_places([ids[n] for n in others], [batch.places[n] for n in others], places, self.run.origin)
            self.strangers = len(places)
            if keep:
                yield batch.pick(keep)


class _ById:
    """A run read beside the corpus and matched by id.

    As long as both are in the same order, lists of ids are compared; from the first difference on, what was read early
    waits in a dict.
    """

    def __init__(self, run: Run, join: Join) -> None:
        self.run = run
        self.join = join
        self.batches = run.batches()
        self.decode: Any = None
        self.taken: list[tuple[list[str], Sequence[int]]] = []  # ids and places that were in order
        self.ids: list[str] = []  # read, in order, not taken yet
        self.raw: list[Any] = []
        self.at: list[int] = []
        self.waiting: dict[str, Any] | None = None
        self.places: dict[str, int] = {}

    def take(self, ids: list[str], corpus: Corpus) -> tuple[Batch[Prediction], set[int]]:
        """The predictions for these documents, and which of the documents have none."""
        if self.waiting is None:
            while len(self.ids) < len(ids) and self._read():
                pass
            n = len(ids)
            if self.ids[:n] == ids:
                batch = Batch(list[str | None](ids), self.raw[:n], self.at[:n], self._decoder())
                self.taken.append((ids, array("q", self.at[:n])))
                del self.ids[:n], self.raw[:n], self.at[:n]
                return batch, set()
            self._leave_order()
        return self._take_waiting(ids, corpus)

    def _take_waiting(self, ids: list[str], corpus: Corpus) -> tuple[Batch[Prediction], set[int]]:
        assert self.waiting is not None
        while not self.waiting.keys() >= set(ids) and self._read():
            self._enqueue()
        raw = [self.waiting.pop(identifier, None) for identifier in ids]
        lacking = {position for position, found in enumerate(raw) if found is None}
        for position in sorted(lacking):
            self._lacks(ids[position], corpus)
        places = [self.places.get(identifier, 0) for identifier in ids]
        return Batch(list[str | None](ids), raw, places, self._decoder()), lacking

    def _leave_order(self) -> None:
        self.waiting = {}
        for ids, at in self.taken:
            _note_places(ids, at, self.places, self.run.origin)
        self._enqueue()

    def _enqueue(self) -> None:
        assert self.waiting is not None
        _note_places(self.ids, self.at, self.places, self.run.origin)
        self.waiting.update(zip(self.ids, self.raw, strict=True))
        self.ids, self.raw, self.at = [], [], []

    def _read(self) -> bool:
        batch = next(self.batches, None)
        if batch is None:
            return False
        self.decode = batch.decode
        self.ids.extend(_all_ids(batch, self.run.origin))
        self.raw.extend(batch.raw)
        self.at.extend(batch.places)
        return True

    def _decoder(self) -> Decode:
        return Decode(self.decode)

    def _lacks(self, identifier: str, corpus: Corpus) -> None:
        if self.join.missing == "error":
            unknown = bool(self.waiting) and len(self.waiting or ()) == len(self.places)  # none of its ids has been met
            raise self.join.lacks(self.run, identifier, corpus, next(iter(self.waiting or ())) if unknown else None)

    def finish(self, corpus: Corpus) -> int:
        """How many documents of the run are not in the corpus.

        Raises InputError if there are any and they are not to be ignored, or if the run has no others.
        """
        while self._read():
            pass
        if self.waiting is None and self.ids:
            self._leave_order()
        if self.waiting is not None:
            self._enqueue()
        strangers = len(self.waiting or ())
        if self.waiting and (self.join.extra == "error" or strangers == len(self.places)):
            first = next(iter(self.waiting))
            raise self.join.strange(self.run, first, self.places[first], corpus, strangers)
        return strangers


class _ByLine:
    """A run whose n-th record belongs to the n-th document."""

    def __init__(self, run: Run, join: Join) -> None:
        self.run = run
        self.join = join
        self.batches = run.batches()
        self.decode: Any = None
        self.raw: list[Any] = []
        self.at: list[int] = []
        self.read = 0

    def take(self, ids: list[str], corpus: Corpus) -> tuple[Batch[Prediction], set[int]]:
        """The next predictions, and which of the documents have none because the run has ended."""
        while len(self.raw) < len(ids) and (batch := next(self.batches, None)) is not None:
            self.decode = batch.decode
            self.raw.extend(batch.raw)
            self.at.extend(batch.places)
        n = len(ids)
        raw, at = self.raw[:n], self.at[:n]
        del self.raw[:n], self.at[:n]
        self.read += len(raw)
        lacking = set(range(len(raw), n))
        if lacking and self.join.missing == "error":
            raise InputError(
                f"{self.run.origin}: ends after {self.read} lines, before {corpus.origin} does; "
                "score the rest as empty with --missing empty, or leave it out with --missing skip"
            )
        padding = [None] * len(lacking)
        return Batch(list[str | None](ids), raw + padding, at + [0] * len(lacking), Decode(self.decode)), lacking

    def finish(self, corpus: Corpus) -> int:
        """How many lines the run has after the corpus has ended. Raises InputError if these are not to be ignored."""
        if self.join.extra == "ignore":
            return len(self.raw) + sum(len(batch.raw) for batch in self.batches)
        if self.raw or next(self.batches, None) is not None:
            raise InputError(
                f"{self.run.origin}: goes on after line {self.read:,}, where {corpus.origin} ends; "
                "--extra ignore leaves the rest out"
            )
        return 0


def _cursor(run: Run, by: By, join: Join) -> _ById | _ByLine:
    return _ById(run, join) if by == "id" else _ByLine(run, join)


@dataclass(frozen=True, slots=True)
class Decode:
    """Decodes raw predictions; None, where the run has none, is an empty one."""

    decode: Any

    def __call__(self, raw: Sequence[Any], places: Sequence[int]) -> list[Prediction]:
        """The predictions of some raw ones, with their places."""
        if None not in raw:
            return list(raw) if self.decode is None else self.decode(raw, places)
        found = [(r, place) for r, place in zip(raw, places, strict=True) if r is not None]
        there = iter(self([r for r, _ in found], [place for _, place in found]))
        return [NO_PREDICTIONS if r is None else next(there) for r in raw]
