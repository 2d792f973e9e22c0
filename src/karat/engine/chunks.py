"""A corpus and its runs, joined document by document and cut into chunks.

The corpus is read once in its order; each run is read beside it. A run in the same order is never held in memory, one
in another order is held as far as it is ahead. Records stay as raw lines here: only ids are looked at, so that the
process that reads can feed several that compute.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from karat.corpus import NO_PREDICTIONS, Batch, Corpus, Document, Prediction, Run
from karat.errors import InputError

Missing = Literal["error", "empty", "skip"]
By = Literal["id", "line"]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some documents in corpus order, and what each run predicts for them."""

    ids: list[str]
    documents: Batch[Document]
    predictions: list[Batch[Prediction]]
    missing: list[list[int]]  # by run, the positions here of documents that the run lacks


@dataclass(frozen=True, slots=True)
class Shard:
    """Every N-th document, from the I-th on."""

    index: int = 1
    count: int = 1

    def takes(self, position: int) -> bool:
        """Whether the document at that position, from 0, is in the shard."""
        return position % self.count == self.index - 1


@dataclass(frozen=True, slots=True)
class Join:
    """How runs are matched to a corpus."""

    by: By | None = None  # None: by id where both have ids, else by line
    missing: Missing = "error"
    shard: Shard = Shard()


def matched_by(corpus: Corpus, run: Run, by: By | None) -> By:
    """How the run is matched: as asked, or by id if the first record of each has one."""
    if by == "line":
        return "line"
    ids = [_has_id(corpus), _has_id(run)]
    if by is None:
        return "id" if all(ids) else "line"
    if not all(ids):
        lacking = corpus.origin if not ids[0] else run.origin
        raise InputError(f"{lacking}: its lines have no id; match by --by line")
    return "id"


def _has_id(records: Corpus | Run) -> bool:
    first = next(iter(records.batches()), None)
    return first is not None and bool(first.ids) and first.ids[0] is not None


def chunks(corpus: Corpus, runs: Sequence[Run], join: Join) -> Iterator[Chunk]:
    """The shard's documents in corpus order, each with the predictions of every run."""
    cursors = [_cursor(run, matched_by(corpus, run, join.by), join.missing) for run in runs]
    places: dict[str, int] = {}
    for batch in corpus.batches():
        ids = _corpus_ids(corpus, batch, places)
        start = len(places) - len(ids)
        taken = [cursor.take(ids, corpus) for cursor in cursors]
        keep = [i for i in range(len(ids)) if join.shard.takes(start + i)]
        if keep:
            yield Chunk(
                [ids[i] for i in keep],
                _pick(batch, keep),
                [_pick(found, keep) for found, _ in taken],
                [[n for n, i in enumerate(keep) if i in lacking] for _, lacking in taken],
            )
    for cursor in cursors:
        cursor.finish(corpus, places)


def _corpus_ids(corpus: Corpus, batch: Batch[Document], places: dict[str, int]) -> list[str]:
    """The batch's ids, line numbers where it has none; an id that came before is an error."""
    ids: list[str] = []
    for identifier, place in zip(batch.ids, batch.places, strict=True):
        name = str(place) if identifier is None else identifier
        if name in places:
            raise InputError(f"{corpus.origin}: id {name!r} is on line {places[name]} and on line {place}")
        places[name] = place
        ids.append(name)
    return ids


def _pick(batch: Batch[Any], keep: list[int]) -> Batch[Any]:
    if len(keep) == len(batch.raw):
        return batch
    return Batch(
        [batch.ids[i] for i in keep],
        [batch.raw[i] for i in keep],
        [batch.places[i] for i in keep],
        batch.decode,
    )


class _ById:
    """A run read beside the corpus, matched by id; what comes early waits."""

    def __init__(self, run: Run, missing: Missing) -> None:
        self.run = run
        self.missing = missing
        self.batches = run.batches()
        self.places: dict[str, int] = {}  # every id read so far, and where it stands
        self.waiting: dict[str, Any] = {}
        self.decode: Any = None

    def take(self, ids: list[str], corpus: Corpus) -> tuple[Batch[Prediction], set[int]]:
        raw: list[Any] = []
        lacking: set[int] = set()
        for position, identifier in enumerate(ids):
            while identifier not in self.waiting and self._read():
                pass
            if identifier in self.waiting:
                raw.append(self.waiting.pop(identifier))
            else:
                self._lacks(identifier, corpus)
                lacking.add(position)
                raw.append(None)
        places = [self.places.get(identifier, 0) for identifier in ids]
        decode = _Decode(self.decode)
        return Batch(list(ids), raw, places, decode), lacking

    def _read(self) -> bool:
        batch = next(self.batches, None)
        if batch is None:
            return False
        self.decode = batch.decode
        for identifier, raw, place in zip(batch.ids, batch.raw, batch.places, strict=True):
            if identifier is None:
                raise InputError(f"{self.run.origin}:{place}: no id, though earlier lines have one")
            if identifier in self.places:
                first = self.places[identifier]
                raise InputError(f"{self.run.origin}: id {identifier!r} is on line {first} and on line {place}")
            self.places[identifier] = place
            self.waiting[identifier] = raw
        return True

    def _lacks(self, identifier: str, corpus: Corpus) -> None:
        if self.missing == "error":
            raise InputError(
                f"{self.run.origin}: no predictions for document {identifier!r} of {corpus.origin}; "
                "score it as empty with --missing empty, or leave it out with --missing skip"
            )

    def finish(self, corpus: Corpus, places: dict[str, int]) -> None:
        while self._read():
            pass
        if self.waiting:
            first = next(iter(self.waiting))
            raise InputError(
                f"{self.run.origin}:{self.places[first]}: document {first!r} is not in {corpus.origin}"
                f" ({len(self.waiting)} such)"
            )


class _ByLine:
    """A run whose n-th record belongs to the n-th document."""

    def __init__(self, run: Run, missing: Missing) -> None:
        self.run = run
        self.missing = missing
        self.batches = run.batches()
        self.held: Batch[Prediction] | None = None
        self.used = 0
        self.read = 0

    def take(self, ids: list[str], corpus: Corpus) -> tuple[Batch[Prediction], set[int]]:
        raw: list[Any] = []
        places: list[int] = []
        decode: Any = None
        while len(raw) < len(ids):
            if self.held is None or self.used == len(self.held.raw):
                self.held, self.used = next(self.batches, None), 0
                if self.held is None:
                    return self._short(ids, raw, places, decode, corpus)
            more = min(len(ids) - len(raw), len(self.held.raw) - self.used)
            raw.extend(self.held.raw[self.used : self.used + more])
            places.extend(self.held.places[self.used : self.used + more])
            decode = self.held.decode
            self.used += more
        self.read += len(raw)
        return Batch(list(ids), raw, places, _Decode(decode)), set()

    def _short(
        self, ids: list[str], raw: list[Any], places: list[int], decode: Any, corpus: Corpus
    ) -> tuple[Batch[Prediction], set[int]]:
        if self.missing == "error":
            raise InputError(
                f"{self.run.origin}: ends after {self.read + len(raw)} lines, before {corpus.origin} does; "
                "score the rest as empty with --missing empty, or leave it out with --missing skip"
            )
        self.read += len(raw)
        lacking = set(range(len(raw), len(ids)))
        padding = [None] * len(lacking)
        return Batch(list(ids), raw + padding, places + [0] * len(lacking), _Decode(decode)), lacking

    def finish(self, corpus: Corpus, places: dict[str, int]) -> None:
        if (self.held is not None and self.used < len(self.held.raw)) or next(self.batches, None) is not None:
            raise InputError(
                f"{self.run.origin}: goes on after line {self.read}, where {corpus.origin} ends"
            )


def _cursor(run: Run, by: By, missing: Missing) -> _ById | _ByLine:
    return _ById(run, missing) if by == "id" else _ByLine(run, missing)


@dataclass(frozen=True, slots=True)
class _Decode:
    """Decodes a raw prediction; None, where the run has none, is an empty one."""

    decode: Any

    def __call__(self, raw: Any, place: int) -> Prediction:
        if raw is None:
            return NO_PREDICTIONS
        prediction: Prediction = raw if self.decode is None else self.decode(raw, place)
        return prediction
