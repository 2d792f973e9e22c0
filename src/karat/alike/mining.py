"""Pairs of alike documents: by the references that they share, by their words, or by vectors of their texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import isfinite
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from karat.align import references_of
from karat.alike.sets import MEASURES, ROUNDING, Alike, Floats, Ints, Measure, Sets, join, shares
from karat.columns import Numbers, position
from karat.corpus import Batch, Corpus, Document
from karat.embed import embedder
from karat.engine.chunks import has_id
from karat.errors import InputError, unknown
from karat.evaluate import Progress, as_corpus
from karat.formats.base import first_variant
from karat.formats.pairs import write_pairs
from karat.protocol import LANGUAGES
from karat.text.normalise import normaliser

By = Literal["references", "text", "embedding"]

BY: tuple[By, ...] = ("references", "text", "embedding")
IDENTICAL = ("keep", "drop")
COSINES = 1 << 22  # cosines that are computed together
SINGLE = 1e-6  # what single precision may lose of a cosine
LETTERS = "cosines are of hashed character n-grams, which compare letters, not meanings; --model takes an encoder"


@dataclass(frozen=True, slots=True)
class Options:
    """Which documents are alike; the flags of the command say what each means."""

    by: By = "references"
    min: float = 0.5
    measure: Measure = "jaccard"
    stem: bool = False
    identical: Literal["keep", "drop"] = "drop"
    text_max: float | None = None
    nearest: int | None = None
    model: str = "hash"
    references: str | None = None
    language: str | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        """What cannot be chosen is said at once."""
        for name, value, known in (
            ("by", self.by, BY),
            ("measure", self.measure, MEASURES),
            ("value of identical", self.identical, IDENTICAL),
            *((("language", self.language, LANGUAGES),) if self.language else ()),
        ):
            if value not in known:
                raise unknown(name, str(value), known)
        if not (isfinite(self.min) and 0 < self.min <= 1):
            raise InputError(f"min is a number above 0 and up to 1, not {self.min:g}")
        if self.text_max is not None and not 0 <= self.text_max <= 1:
            raise InputError(f"text-max is a number from 0 to 1, not {self.text_max:g}")
        if self.nearest is not None and self.nearest < 1:
            raise InputError(f"nearest is how many pairs a document keeps, 1 or more, not {self.nearest}")
        if self.by == "embedding" and self.measure != "jaccard":
            raise InputError("vectors are compared by their cosine: leave out the measure, which is of sets")

    @property
    def name(self) -> str:
        """What the score of a pair is called."""
        return "cosine" if self.by == "embedding" else self.measure

    @property
    def stemmer(self) -> str:
        """The stemmer's name, `none` where nothing is stemmed."""
        if self.language:
            return "porter" if self.language == "english" else self.language
        return "porter" if self.stem else "none"


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of alike documents, in corpus order."""

    corpus: str
    ids: tuple[str, ...]  # of all documents
    options: Options
    alike: Alike
    texts: Floats | None  # the Jaccard index of the words of both texts, where it was asked for
    left_out: int  # documents without what is compared
    remarks: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.alike.a)

    @property
    def documents(self) -> int:
        """How many documents are in a pair."""
        return len(np.unique(np.concatenate([self.alike.a, self.alike.b])))

    @property
    def notes(self) -> tuple[str, ...]:
        """How many pairs there are, and what was left out."""
        what = "references" if self.options.by == "references" else "text"
        lacking = f"{self.left_out:,} without {what} left out"
        return (
            f"{pairs_said(len(self))} over {self.documents:,} of {len(self.ids):,} documents of {self.corpus}"
            + (f" ({lacking})" if self.left_out else ""),
            *self.remarks,
        )

    def __iter__(self) -> Iterator[dict[str, Any]]:
        columns: list[Sequence[Any]] = [self.alike.a.tolist(), self.alike.b.tolist(), self.alike.score.tolist()]
        texts = None if self.texts is None else self.texts.tolist()
        for n, (a, b, score) in enumerate(zip(*columns, strict=True)):
            row = {"a": self.ids[a], "b": self.ids[b], self.options.name: score}
            if texts is not None:
                row["text"] = texts[n] if texts[n] == texts[n] else None
            yield row

    def rows(self) -> list[dict[str, Any]]:
        """One dict a pair, as in the file."""
        return list(self)

    def save(self, path: str | Path) -> None:
        """Writes the pairs; the file's name chooses between JSON lines, CSV, TSV and Parquet."""
        write_pairs(path, self)


def mine_pairs(corpus: str | Path | Corpus, **options: Any) -> Pairs:
    """The pairs of alike documents of a corpus; the keywords are those of `karat.alike.mining.Options`.

    >>> documents = [["trees", "graphs"], ["Graphs", "trees", "nets"], ["nets"], ["trees", "graphs"]]
    >>> corpus = Corpus.of({"id": str(n), "keyphrases": each} for n, each in enumerate(documents))
    >>> [(row["a"], row["b"], round(row["jaccard"], 2)) for row in mine_pairs(corpus)]
    [('0', '1', 0.67), ('1', '3', 0.67)]
    """
    chosen, given = Options(**options), as_corpus(corpus)
    find = {"references": _by_references, "text": _by_text, "embedding": _by_embedding}[chosen.by]
    ids, alike, left_out = find(given, chosen)
    remarks: list[str] = [LETTERS] if chosen.by == "embedding" and chosen.model == "hash" else []
    texts = None
    if chosen.text_max is not None:
        texts, remark = _text_shares(given, alike, chosen)
        low = ~(texts > chosen.text_max + ROUNDING)  # a pair without texts stays
        remarks += [f"{pairs_said(int((~low).sum()))} with texts too alike left out", *remark]
        alike, texts = alike.take(low), texts[low]
    if chosen.nearest is not None:
        near = _nearest(alike, chosen.nearest)
        alike, texts = alike.take(near), texts if texts is None else texts[near]
    return Pairs(given.name, ids, chosen, alike, texts, left_out, tuple(remarks))


# ---------------------------------------------------------------------------------------------- reading


Found = tuple[tuple[str, ...], Alike, int]  # the ids of all documents, pairs, how many documents were left out


def _batches(corpus: Corpus, progress: Progress | None) -> Iterator[tuple[list[str], Batch[Document]]]:
    """(ids, batch) of a corpus; where there are no ids, the lines stand for them."""
    has_ids, known = has_id(corpus), dict[str, int]()
    for batch in corpus.batches():
        ids = list(batch.ids) if has_ids else list(map(str, batch.places))
        for identifier, place in zip(ids, batch.places, strict=True):
            if identifier is None:
                raise InputError(f"{corpus.origin}:{place}: no id, though earlier lines have one")
            if known.setdefault(identifier, place) != place:
                raise InputError(
                    f"{corpus.origin}: id {identifier!r} is on line {known[identifier]} and on line {place}"
                )
        yield ids, batch  # type: ignore[misc]
        if progress is not None:
            progress(len(ids))


Items = tuple[list[str], list[int]]  # the items of some documents one after the other, and how many each has


def _sets(
    corpus: Corpus, options: Options, items: Callable[[Sequence[Document]], Items]
) -> tuple[tuple[str, ...], Sets]:
    """The ids, and the set of each document's items, which are numbered as they are met; the empty string is none."""
    ids: list[str] = []
    numbers, counts, found = Numbers(), list[int](), list[Ints]()
    for some, batch in _batches(corpus, options.progress):
        flat, each = items(batch.records())
        ids += some
        counts += each
        found.append(numbers.of(flat))
    item = np.concatenate([*found, np.zeros(0, dtype=np.int64)])
    owner = np.repeat(np.arange(len(ids)), np.array(counts, dtype=np.int64))
    real = item != numbers.get("", -1)
    return tuple(ids), Sets.of(owner[real], item[real], len(ids))


def _phrases(options: Options) -> Callable[[Sequence[Document]], Items]:
    """What gives the references of documents, lower-cased and stemmed if asked for, of variants the first."""
    normal = normaliser("split", options.stemmer, "lower")

    def phrases(documents: Sequence[Document]) -> Items:
        normal.forget()
        given = [references_of(document, options.references) for document in documents]
        return normal.many([first_variant(phrase) for each in given for phrase in each]), list(map(len, given))

    return phrases


def _words(options: Options) -> Callable[[Sequence[Document]], Items]:
    """What gives the words of titles and texts; a mark is none."""
    normal = normaliser("marks", options.stemmer, "lower")

    def words(documents: Sequence[Document]) -> Items:
        normal.forget()
        lists = [list(filter(is_word, normal(text_of(document)).split(" "))) for document in documents]
        return [word for each in lists for word in each], list(map(len, lists))

    return words


def is_word(token: str) -> bool:
    """Whether it has a letter or a digit.

    >>> [is_word(token) for token in ("c", "-", "3d", "")]
    [True, False, True, False]
    """
    return token.isalnum() or any(map(str.isalnum, token))


def text_of(document: Document) -> str:
    """The title and the text of a document."""
    return f"{document.title or ''} {document.text or ''}".strip()


# ---------------------------------------------------------------------------------------------- finding


def _by_references(corpus: Corpus, options: Options) -> Found:
    check_set(corpus, options.references)
    ids, sets = _sets(corpus, options, _phrases(options))
    if not len(sets.items):
        raise InputError(f"{corpus.origin}: no document has references; --by text goes by the texts instead")
    return ids, *_joined(sets, options)


def check_set(corpus: Corpus, name: str | None) -> None:
    """Says so if no document has a reference set of that name."""
    known: set[str] = set()
    for document in corpus if name is not None else ():
        known.update(document.reference_sets or ())
        if name in known:
            return
    if name is not None:
        raise unknown("reference set", name, known)


def _by_text(corpus: Corpus, options: Options) -> Found:
    ids, sets = _sets(corpus, options, _words(options))
    if not len(sets.items):
        raise InputError(f"{corpus.origin}: no document has a title or a text, so --by text cannot compare them")
    return ids, *_joined(sets, options)


def _joined(sets: Sets, options: Options) -> tuple[Alike, int]:
    found = join(sets, options.min, options.measure, options.identical == "keep")
    return found, int((sets.sizes == 0).sum())


def _by_embedding(corpus: Corpus, options: Options) -> Found:
    """Pairs by the cosine of their texts' vectors; equal texts are identical."""
    ids: list[str] = []
    texts: list[str] = []
    for some, batch in _batches(corpus, options.progress):
        ids += some
        texts += map(text_of, batch.records())
    there = np.flatnonzero([bool(text) for text in texts])
    if not len(there):
        raise InputError(f"{corpus.origin}: no document has a title or a text, so --by embedding cannot compare them")
    given = [texts[i] for i in there.tolist()]
    number = Numbers().of(given)
    vectors = np.array(embedder(options.model).embed(given), dtype=np.float32)
    lengths = np.sqrt((vectors * vectors).sum(axis=1))
    vectors /= np.where(lengths > 0, lengths, 1)[:, None]
    found = _near(vectors, options.min)
    if options.identical == "drop":
        found = found.take(number[found.a] != number[found.b])
    return tuple(ids), Alike(there[found.a], there[found.b], found.score), len(texts) - len(there)


def _near(vectors: NDArray[np.float32], least: float) -> Alike:
    """Every two vectors of length 1 whose cosine is high enough, a block of rows at a time."""
    step = max(COSINES // max(len(vectors), 1), 1)
    parts: list[Alike] = []
    for start in range(0, len(vectors), step):
        cosines = vectors[start : start + step] @ vectors[start:].T  # [rows, rows from start on]
        row, column = np.nonzero(np.triu(cosines >= least - SINGLE, 1))
        score = np.minimum(cosines[row, column].astype(np.float64), 1.0)
        parts.append(Alike(row + start, column + start, score))
    return Alike(
        np.concatenate([part.a for part in parts]),
        np.concatenate([part.b for part in parts]),
        np.concatenate([part.score for part in parts]),
    )


# ---------------------------------------------------------------------------------------------- choosing


def _text_shares(corpus: Corpus, alike: Alike, options: Options) -> tuple[Floats, list[str]]:
    """(the Jaccard index of the words of both texts, NaN where one has none; what to say of these)."""
    wanted = set(np.concatenate([alike.a, alike.b]).tolist())
    words, place = _words(options), count()

    def of_pairs(documents: Sequence[Document]) -> Items:
        return words([document if next(place) in wanted else Document() for document in documents])

    if not any(map(text_of, corpus)):  # the first one that has a text settles it
        raise InputError(f"{corpus.origin}: no document has a title or a text, so --text-max cannot compare them")
    _, sets = _sets(corpus, replace(options, progress=None), of_pairs)
    found = shares(alike.a, alike.b, sets, sets)
    empty = (sets.sizes[alike.a] == 0) | (sets.sizes[alike.b] == 0)
    found[empty] = np.nan
    return found, [f"{pairs_said(int(empty.sum()))} kept of which a document has no text"] if empty.any() else []


def pairs_said(count: int) -> str:
    """How many pairs, in words."""
    return f"{count:,} pair{'' if count == 1 else 's'}"


def _nearest(alike: Alike, most: int) -> NDArray[np.bool_]:
    """Which pairs are among the best of one of their documents, the earlier of equals."""
    pair = np.arange(len(alike.a))
    document, pairs = np.concatenate([alike.a, alike.b]), np.concatenate([pair, pair])
    order = np.lexsort((pairs, -alike.score[pairs], document))
    kept = np.zeros(len(pair), dtype=bool)
    kept[pairs[order][position(document[order]) < most]] = True
    return kept
