"""Pairs of alike documents: by the references that they share, by their words, or by vectors of their texts."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from karat.corpus import Corpus, Document
from karat.embed import embedder
from karat.errors import InputError, counted, unknown
from karat.formats.base import first_variant
from karat.formats.pairs import STEMMER, write_pairs
from karat.matching.align import references_of
from karat.matching.columns import Numbers, position
from karat.matching.inputs import CorpusLike, as_corpus, chosen_set
from karat.matching.passes import Pass, View
from karat.matching.sanity import no_texts
from karat.options import Progress, WorkOptions, group, language_option, option, options_from, public
from karat.pairs.sets import ROUNDING, Alike, Floats, Ints, Measure, Sets, join, most_of, shares
from karat.protocol import LANGUAGES
from karat.text.normalise import normaliser

By = Literal["references", "text", "embedding"]

COSINES = 1 << 22  # cosines that are computed together
SINGLE = 1e-6  # what single precision may lose of a cosine
ENOUGH = 10  # pairs: with fewer a note says how many a lower threshold would give
PLENTY = 30  # pairs, from which on no lower threshold is tried
LOWER = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05)
LOOKED_AT = 2_000_000  # pairs of documents at most, to count those of a lower threshold
LETTERS = "cosines are of hashed character n-grams, which compare letters, not meanings; --model takes an encoder"


@dataclass(frozen=True, slots=True)
class MineOptions:
    """Which documents are alike."""

    by: By = option(
        "references",
        "What is compared: references, the words of the texts, or vectors of them.",
        values=("references", "text", "embedding"),
    )
    min: float = option(0.5, "The lowest score of a pair.", above=0, most=1, metavar="T")
    measure: Measure = option(
        "jaccard", "What is shared over the union, or over the larger of both sets.", values=("jaccard", "max")
    )
    stem: bool = option(False, "Compare Porter stems, not lower-cased words.")
    identical: Literal["keep", "drop"] = option(
        "drop", "Pairs of documents that have the very same set, or text.", values=("keep", "drop")
    )
    text_max: float | None = option(
        None,
        "Leave out pairs whose texts are alike: a Jaccard index of their words above T.",
        least=0,
        most=1,
        metavar="T",
    )
    nearest: int | None = option(
        None, "Only pairs that are among the N best of one of their documents.", least=1, metavar="N"
    )
    model: str = option(
        "hash",
        "Embedder of --by embedding: hash, vectors:PATH or an encoder's directory.",
        metavar="NAME",
        complete="embedders",
    )
    references: str | None = option(None, "Compare a named reference set.", metavar="NAME")
    language: str | None = language_option()
    work: WorkOptions = group(WorkOptions)

    def __post_init__(self) -> None:
        """Raises InputError if options do not go together."""
        if self.language and self.language not in LANGUAGES:
            raise unknown("language", self.language, LANGUAGES)
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
    options: MineOptions
    alike: Alike
    texts: Floats | None  # the Jaccard index of the words of both texts, where the options need it
    left_out: int  # documents without what is compared
    remarks: tuple[str, ...] = ()
    lower: tuple[tuple[float, int], ...] = ()  # of fewer than ten pairs: a lower threshold, and its pairs

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
            f"{pairs_said(len(self))} over {self.documents:,} of {counted(len(self.ids), 'document')} of {self.corpus}"
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
            if self.options.stemmer != "none":
                row[STEMMER] = self.options.stemmer
            yield row

    def rows(self) -> list[dict[str, Any]]:
        """One dict a pair, as in the file."""
        return list(self)

    def save(self, path: str | Path) -> None:
        """Writes the pairs; the file's name chooses between JSON lines, CSV, TSV and Parquet."""
        write_pairs(path, self)


@public(MineOptions)
def mine_pairs(
    corpus: CorpusLike,
    *,
    by: By = "references",
    min: float = 0.5,
    measure: Measure = "jaccard",
    stem: bool = False,
    identical: Literal["keep", "drop"] = "drop",
    text_max: float | None = None,
    nearest: int | None = None,
    model: str = "hash",
    references: str | None = None,
    language: str | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Pairs:
    """The pairs of alike documents of a corpus, in its order.

    Raises InputError if the corpus has no such reference set, or if options do not go together.

    >>> documents = [["trees", "graphs"], ["Graphs", "trees", "nets"], ["nets"], ["trees", "graphs"]]
    >>> corpus = Corpus.of({"id": str(n), "keyphrases": each} for n, each in enumerate(documents))
    >>> [(row["a"], row["b"], round(row["jaccard"], 2)) for row in mine_pairs(corpus)]
    [('0', '1', 0.67), ('1', '3', 0.67)]
    """
    chosen, given = options_from(MineOptions, locals()), as_corpus(corpus)
    search = {"references": _by_references, "text": _by_text, "embedding": _by_embedding}[chosen.by](given, chosen)
    remarks: list[str] = [LETTERS] if chosen.by == "embedding" and chosen.model == "hash" else []
    alike, texts, remark = _filtered(given, search.find(chosen.min), chosen)
    lower: tuple[tuple[float, int], ...] = ()
    if len(alike.a) < ENOUGH:
        lower, tried = _at_lower(given, search, chosen, len(alike.a))
        if tried:
            remark.append(_lower_said(lower, tried[-1]))
    return Pairs(given.name, search.ids, chosen, alike, texts, search.left_out, (*remarks, *remark), lower)


def alike_texts(corpus: Corpus, options: MineOptions, lowest: float) -> Pairs:
    """Plenty of pairs of documents with alike texts, where there are as many, else ten or more.

    The threshold is that of the options, or as much lower as it takes, down to the lowest one. Raises InputError if
    fewer than ten pairs are alike, or if these are too many documents to look for them.
    """
    search = _by_text(corpus, options)
    found: Alike | None = None
    for least in [options.min, *(each for each in LOWER if lowest <= each < options.min)]:
        if search.most(least) > LOOKED_AT:
            break
        found, used = search.find(least), replace(options, min=least)
        if len(found.a) >= PLENTY:
            break
    if found is None:
        raise InputError(f"{counted(len(search.ids), 'document')} are too many to look for alike ones among them")
    alike, _, remarks = _filtered(corpus, found, used)
    if len(alike.a) < ENOUGH:
        said = (
            "is no pair" if not len(alike.a) else f"{'is' if len(alike.a) == 1 else 'are'} {pairs_said(len(alike.a))}"
        )
        raise InputError(f"there {said} of documents with alike texts, and it takes {ENOUGH} pairs")
    return Pairs(corpus.name, search.ids, used, alike, None, search.left_out, tuple(remarks))


def _filtered(corpus: Corpus, alike: Alike, options: MineOptions) -> tuple[Alike, Floats | None, list[str]]:
    """(the pairs that the other options leave, how alike their texts are if the options need it, notes)."""
    texts, remarks = None, list[str]()
    if options.text_max is not None:
        texts, remark = _text_shares(corpus, alike, options)
        low = ~(texts > options.text_max + ROUNDING)  # a pair without texts stays
        remarks += [f"{pairs_said(int((~low).sum()))} with texts too alike left out", *remark]
        alike, texts = alike.take(low), texts[low]
    if options.nearest is not None:
        near = _nearest(alike, options.nearest)
        alike, texts = alike.take(near), texts if texts is None else texts[near]
    return alike, texts, remarks


def _at_lower(
    corpus: Corpus, search: _Search, options: MineOptions, found: int
) -> tuple[tuple[tuple[float, int], ...], list[float]]:
    """((threshold, pairs) of lower thresholds that give more pairs, all that were tried).

    It goes down to the first threshold with plenty of pairs, and to none that is too much work.
    """
    alike, tried = None, list[float]()
    for least in [each for each in LOWER if each < options.min - ROUNDING]:
        if search.most(least) > LOOKED_AT:
            break
        alike = search.find(least)
        tried.append(least)
        if len(alike.a) >= PLENTY:
            break
    if alike is None:
        return (), tried
    score = _filtered(corpus, alike, options)[0].score
    counts = [found, *(int((score >= least - search.rounding).sum()) for least in tried)]
    more = [(least, count) for least, (before, count) in zip(tried, pairwise(counts), strict=True) if count > before]
    return tuple(more), tried


def _lower_said(lower: Sequence[tuple[float, int]], lowest: float) -> str:
    """What lower thresholds would give, down to the lowest that was tried."""
    if not lower:
        return f"a lower --min gives no more pairs, down to {_short(lowest)}"
    return "a lower --min gives " + ", ".join(f"{count:,} at {_short(least)}" for least, count in lower)


def _short(share: float) -> str:
    return f"{share:g}".removeprefix("0")


# ---------------------------------------------------------------------------------------------- reading


@dataclass(frozen=True, slots=True)
class _Search:
    """What can be searched for pairs, at any threshold."""

    ids: tuple[str, ...]  # of all documents
    left_out: int  # documents without what is compared
    find: Callable[[float], Alike]
    most: Callable[[float], int]  # how many pairs of documents are looked at
    rounding: float  # by which a score may fall short


@dataclass(frozen=True, slots=True)
class Items:
    """The items of the documents of a chunk: which there are, the number of each one, and how many a document has."""

    distinct: list[str]
    item: Ints
    counts: list[int]

    @classmethod
    def of(cls, flat: Sequence[str], counts: list[int]) -> Items:
        """The items of all documents, one after the other, and how many each has."""
        numbers = Numbers()
        item = numbers.of(flat)
        return cls(list(numbers), item, counts)


def _sets(
    corpus: Corpus, options: MineOptions, look: Callable[[View], Items], progress: Progress | None = None
) -> tuple[tuple[str, ...], Sets]:
    """The ids, and the set of each document's items, which are numbered as they are met; the empty string is none."""
    reading = Pass(corpus, [], reference_set=options.references, jobs=options.work.jobs, progress=progress)
    numbers, found, counts = Numbers(), [np.zeros(0, dtype=np.int64)], array("q")

    def number(part: Items) -> None:
        found.append(numbers.of(part.distinct)[part.item])
        counts.extend(part.counts)

    reading.look(look, take=number)  # the items of a chunk are many strings, of which most are known already
    reading.run()
    item = np.concatenate(found)
    owner = np.repeat(np.arange(len(counts)), np.array(counts, dtype=np.int64))
    real = item != numbers.get("", -1)
    return tuple(reading.ids), Sets.of(owner[real], item[real], len(counts))


def _look_at_references(stemmer: str, view: View) -> Items:
    """A look: the references of documents, lower-cased and stemmed by the options, of variants the first."""
    normal = normaliser("split", stemmer, "lower")
    normal.forget()
    given = [references_of(document, view.setup.reference_set) for document in view.given]
    return Items.of(normal.many([first_variant(phrase) for each in given for phrase in each]), list(map(len, given)))


def _look_at_words(stemmer: str, compared: frozenset[int] | None, view: View) -> Items:
    """A look: the words of titles and texts, of all documents or of those with some numbers; a mark is none."""
    normal = normaliser("marks", stemmer, "lower")
    normal.forget()
    texts = [
        text_of(document) if compared is None or n in compared else ""
        for n, document in zip(view.chunk.numbers, view.given, strict=True)
    ]
    lists = [list(filter(is_word, normal(text).split(" "))) for text in texts]
    return Items.of(list(chain.from_iterable(lists)), list(map(len, lists)))


def _look_at_texts(view: View) -> list[str]:
    """A look: titles and texts."""
    return list(map(text_of, view.given))


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


def items_look(options: MineOptions) -> Callable[[View], Items]:
    """The look that gives what is compared: the references of documents, or the words of their texts."""
    if options.by == "references":
        return partial(_look_at_references, options.stemmer)
    return partial(_look_at_words, options.stemmer, None)


def _by_references(corpus: Corpus, options: MineOptions) -> _Search:
    chosen_set(corpus, options.references)
    ids, sets = _sets(corpus, options, items_look(options), options.work.progress)
    if not len(sets.items):
        raise InputError(f"{corpus.origin}: no document has references; --by text goes by the texts instead")
    return _of_sets(ids, sets, options)


def _by_text(corpus: Corpus, options: MineOptions) -> _Search:
    ids, sets = _sets(corpus, options, items_look(options), options.work.progress)
    if not len(sets.items):
        raise no_texts(corpus, "--by text cannot compare them")
    return _of_sets(ids, sets, options)


def _of_sets(ids: tuple[str, ...], sets: Sets, options: MineOptions) -> _Search:
    def find(least: float) -> Alike:
        return join(sets, least, options.measure, options.identical == "keep")

    def most(least: float) -> int:
        return most_of(sets, least, options.measure)

    return _Search(ids, int((sets.sizes == 0).sum()), find, most, ROUNDING)


def _by_embedding(corpus: Corpus, options: MineOptions) -> _Search:
    """Pairs by the cosine of their texts' vectors; equal texts are identical."""
    reading = Pass(corpus, [], jobs=options.work.jobs, progress=options.work.progress)
    answers = reading.look(_look_at_texts)
    reading.run()
    texts = [text for part in answers.parts for text in part]
    there = np.flatnonzero([bool(text) for text in texts])
    if not len(there):
        raise no_texts(corpus, "--by embedding cannot compare them")
    given = [texts[i] for i in there.tolist()]
    number = Numbers().of(given)
    vectors = np.array(embedder(options.model).embed(given), dtype=np.float32)
    lengths = np.sqrt((vectors * vectors).sum(axis=1))
    vectors /= np.where(lengths > 0, lengths, 1)[:, None]

    def find(least: float) -> Alike:
        found = _near(vectors, least)
        if options.identical == "drop":
            found = found.take(number[found.a] != number[found.b])
        return Alike(there[found.a], there[found.b], found.score)

    def most(least: float) -> int:
        return len(there) * (len(there) - 1) // 2

    return _Search(tuple(reading.ids), len(texts) - len(there), find, most, SINGLE)


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


def _text_shares(corpus: Corpus, alike: Alike, options: MineOptions) -> tuple[Floats, list[str]]:
    """(the Jaccard index of the words of both texts, NaN where one has none; what to say of these)."""
    if not any(map(text_of, corpus.records_ahead())):
        raise no_texts(corpus, "--text-max cannot compare them")
    compared = frozenset(np.concatenate([alike.a, alike.b]).tolist())
    _, sets = _sets(corpus, options, partial(_look_at_words, options.stemmer, compared))
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
