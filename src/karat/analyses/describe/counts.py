"""What is counted of phrases, references or predictions alike, chunk by chunk; and the portrait that comes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.analyses.describe.grams import Numbers64, numbers_of
from karat.matching.align import repeated
from karat.matching.columns import (
    PRMU,
    Aligned,
    Bools,
    Floats,
    Ints,
    Prepared,
    first_offsets,
    parts_of,
    reference_offsets,
    stems_seen,
    text_lengths,
)
from karat.metrics.base import divide
from karat.metrics.profile import PARTS, word_counts
from karat.results.intervals import ends_of, with_intervals
from karat.stats.shares import Interval, ShareCounts, named_intervals, ratio_intervals

CURVE = 20  # parts of the finer curve, a multiple of PARTS
POSITIONS = tuple(f"position_share_{n + 1}" for n in range(PARTS))
PLACES = ("title_only", "text_only", "title_and_text")
CORPUS_CLASSES = tuple(f"{name}_corpus" for name in PRMU)


@dataclass(frozen=True, slots=True)
class Phrases:
    """Phrases of some documents as columns."""

    document: Ints
    phrase: Ints
    present: Bools
    offset: Ints  # in characters, -1 where the phrase is not met
    classes: Ints  # 0 P, 1 R, 2 M, 3 U
    seen: Ints  # how many of its stems its document has
    stems: Ints
    repeat: Bools
    words: Ints

    def take(self, which: Bools) -> Phrases:
        """Some of the phrases."""
        return Phrases(*(getattr(self, each.name)[which] for each in fields(self)))


def references(prepared: Prepared) -> Phrases:
    """The references as they are given, repeats included; of variants the first, present if any is."""
    r = prepared.references
    count = len(r.document)
    whole, seen, stems = stems_seen(prepared, r.document[r.variant_reference], r.variant_phrase, r.variant_present)
    classes = np.full(count, 3)
    np.minimum.at(classes, r.variant_reference, _classes(whole, seen, stems))
    return Phrases(
        r.document,
        r.phrase,
        r.present,
        reference_offsets(prepared),
        classes,
        seen[:count],
        stems[:count],
        repeated(prepared),
        word_counts(prepared, r.variant_surface[:count]),
    )


def predictions(aligned: Aligned) -> Phrases:
    """The predictions that the protocol keeps, and of those that it drops for that the repeats."""
    p = aligned.predictions
    some = p.valid
    document, phrase, present = p.document[some], p.phrase[some], p.present[some]
    whole, seen, stems = stems_seen(aligned.prepared, document, phrase, present)
    offset = first_offsets(aligned.prepared, document, phrase, present)
    words = word_counts(aligned.prepared, p.surface[some])
    classes = _classes(whole, seen, stems)
    return Phrases(document, phrase, present, offset, classes, seen, stems, p.repeat[some], words)


def _classes(whole: Bools, seen: Ints, stems: Ints) -> Ints:
    return np.where(whole, 0, np.where(seen == 0, 3, np.where(seen == stems, 1, 2)))


# ---------------------------------------------------------------------------------------------- counting


@dataclass(frozen=True, slots=True)
class Counts:
    """What was counted of the phrases of one side in some documents."""

    each: NDArray[
        np.int32
    ]  # [documents, 6]: all, present, P, R, M, U; of present and classes none where there is no text
    has_text: Bools  # whether the document has a text to tell these by
    curve: Ints  # [CURVE] of present phrases, by the part that they are first met in
    words: int
    shares: ShareCounts  # by document: the shares of POSITIONS, PLACES, unseen words and repeats
    forms: Forms


def count(phrases: Phrases, prepared: Prepared, position: str, keep_repeats: bool) -> Counts:
    """What there is of some phrases; repeats count where they are kept."""
    has_text = np.array([bool(title or body) for title, body in zip(prepared.titles, prepared.bodies, strict=True)])
    kept = phrases if keep_repeats else phrases.take(~phrases.repeat)
    with_text = has_text[kept.document]
    masks = [kept.present, *(kept.classes == n for n in range(len(PRMU)))]
    each = [np.bincount(kept.document[mask & with_text], minlength=len(prepared)) for mask in masks]
    parts = parts_of(kept.offset, text_lengths(prepared, position)[kept.document], CURVE)
    tally = partial(np.bincount, minlength=len(prepared))
    return Counts(
        np.stack([np.bincount(kept.document, minlength=len(prepared)), *each], axis=1).astype(np.int32),
        has_text,
        np.bincount(parts[parts >= 0], minlength=CURVE),
        int(kept.words.sum()),
        ShareCounts.of(
            {
                **_shares_of_groups(POSITIONS, kept.document, parts // (CURVE // PARTS), len(prepared)),
                **_shares_of_groups(PLACES, kept.document, _places(prepared, kept), len(prepared)),
                "unseen_words": (
                    tally(kept.document, with_text * (kept.stems - kept.seen)),
                    tally(kept.document, with_text * kept.stems),
                ),
                "repeats": (tally(phrases.document, phrases.repeat), tally(phrases.document)),
            }
        ),
        _forms(prepared, kept),
    )


def count_groups(document: Ints, group: Ints, groups: int, documents: int) -> Ints:
    """Count the phrases of each document and group, [documents, groups]; a group of -1 is none."""
    some = group >= 0
    counts = np.bincount(document[some] * groups + group[some], minlength=documents * groups)
    return counts.reshape(documents, groups)


def _shares_of_groups(
    names: Sequence[str], document: Ints, group: Ints, documents: int
) -> dict[str, tuple[Ints, Ints]]:
    """Return by document the phrases of each group, and those of all groups."""
    counts = count_groups(document, group, len(names), documents)
    return {name: (counts[:, n], counts.sum(axis=1)) for n, name in enumerate(names)}


def _places(prepared: Prepared, kept: Phrases) -> Ints:
    """Return the place of each phrase: -1 absent, 0 in the title alone, 1 in the text alone, 2 in both."""
    tokens = prepared.matching.present == "tokens"
    pad: Callable[[str], str] = (lambda text: f" {text} ") if tokens else str
    met = kept.offset >= 0
    title = np.fromiter(map(len, prepared.titles), dtype=np.int64, count=len(prepared))
    early = np.flatnonzero(met & (kept.offset < title[kept.document]))  # it begins in the title, and may go on
    forms = list(prepared.table)
    places = np.where(met, 1, -1)
    columns = (each[early].tolist() for each in (kept.document, kept.phrase))
    for row, d, phrase in zip(early.tolist(), *columns, strict=True):
        needle = pad(forms[phrase])
        if needle in pad(prepared.titles[d]):
            places[row] = 2 if needle in pad(prepared.bodies[d]) else 0
    return places


def _forms(prepared: Prepared, kept: Phrases) -> Forms:
    """The distinct phrases: documents of each, how often it is there, documents where present, how often absent."""
    width = max(len(prepared.table), 1)
    phrase, present = kept.phrase, kept.present
    fresh = ~kept.repeat  # a phrase counts once in its document
    df, often, df_present, absent = (
        np.bincount(each, minlength=width)
        for each in (phrase[fresh], phrase, phrase[fresh & present], phrase[~present])
    )
    words = np.zeros(width, dtype=np.int64)
    words[phrase[::-1]] = kept.words[::-1]  # of the first one that has these stems
    found = np.flatnonzero(df)
    forms = list(prepared.table)
    numbers = numbers_of([forms[i] for i in found.tolist()])
    return Forms(numbers, df[found], often[found], df_present[found], absent[found], words[found])


# ---------------------------------------------------------------------------------------------- portraits


@dataclass(frozen=True, slots=True)
class Portrait:
    """What phrases of one side are like; None where there is no text to tell it by."""

    documents: int
    empty: int  # documents without any phrase
    total: int
    total_present: int | None
    phrases: float | None  # of a document
    present: float | None
    absent: float | None
    words: float | None  # of a phrase
    classes: tuple[float | None, ...]  # P, R, M, U: the mean over documents of their shares
    classes_corpus: tuple[float | None, ...]  # the shares over the corpus
    unseen_words: float | None
    repeats: float | None
    types: int
    df: float | None  # documents of a distinct phrase
    df_occurrences: float | None
    words_types: float | None
    positions: tuple[int, ...] | None
    curve: tuple[int, ...] | None
    places: tuple[float | None, ...] | None  # title alone, text alone, both
    intervals: Mapping[str, Interval] = field(repr=False)  # of shares, by their names in `as_dict`
    forms: Forms

    @property
    def position_shares(self) -> tuple[float, ...] | None:
        """The share of present phrases that first occur in each part; None where there is none."""
        total = sum(self.positions or ())
        return tuple(n / total for n in self.positions or ()) if total else None

    def as_dict(self) -> dict[str, Any]:
        """The fields of the JSON output."""
        shares = self.position_shares
        row = {
            "documents": self.documents,
            "phrases": self.phrases,
            "present": self.present,
            "absent": self.absent,
            "words": self.words,
            **dict(zip(PRMU, self.classes, strict=True)),
            **dict(zip(CORPUS_CLASSES, self.classes_corpus, strict=True)),
            "positions": None if self.positions is None else list(self.positions),
            "position_shares": None if shares is None else list(shares),
            "position_shares_ci": None if shares is None else [ends_of(self.intervals[name]) for name in POSITIONS],
            "curve": None if self.curve is None else list(self.curve),
            **dict(zip(PLACES, self.places or (None,) * len(PLACES), strict=True)),
            "unseen_words": self.unseen_words,
            "repeats": self.repeats,
            "empty": self.empty,
            "total": self.total,
            "total_present": self.total_present,
            "types": self.types,
            "df": self.df,
            "df_occurrences": self.df_occurrences,
            "words_types": self.words_types,
        }
        return with_intervals(row, self.intervals)


@dataclass(frozen=True, slots=True)
class Forms:
    """The distinct phrases of a side, in some documents or in the whole corpus."""

    numbers: Numbers64  # as `grams.numbers_of` gives them, rising
    df: Ints  # documents that have it
    occurrences: Ints
    present_df: Ints  # documents that have it as a present phrase
    absent: Ints  # how often it is absent
    words: Ints  # of the first one that has these stems


_NONE = np.zeros(0, dtype=np.int64)
NO_FORMS = Forms(np.zeros(0, dtype=np.uint64), _NONE, _NONE, _NONE, _NONE, _NONE)


class GrowingForms:
    """The distinct phrases of one chunk after the other, what is counted of each added up."""

    def __init__(self) -> None:
        self._forms = NO_FORMS
        self._later: list[Forms] = []  # of chunks, not added up yet

    def add(self, part: Counts) -> Counts:
        """Adds the phrases of a chunk; what comes back is the rest of it."""
        self._later.append(part.forms)
        if sum(len(each.numbers) for each in self._later) > len(self._forms.numbers):
            self.whole()
        return replace(part, forms=NO_FORMS)

    def whole(self) -> Forms:
        """All phrases so far, each once."""
        parts = [self._forms, *self._later]
        numbers, *columns = (np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(Forms))
        rising, first, which = np.unique(numbers, return_index=True, return_inverse=True)
        df, often, present_df, absent = (np.bincount(which, each, len(rising)).astype(np.int64) for each in columns[:4])
        self._forms, self._later = Forms(rising, df, often, present_df, absent, columns[4][first]), []
        return self._forms


def portrait(parts: Sequence[Counts], counted: Bools, forms: Forms, level: float) -> Portrait:
    """The portrait of one side, over the documents that are counted, with intervals of a level."""
    each = np.concatenate([part.each for part in parts])[counted]
    has_text = np.concatenate([part.has_text for part in parts])[counted]
    total, documents = int(each[:, 0].sum()), len(each)
    texts = bool(has_text.any())
    classes = each[has_text & (each[:, 0] > 0), 2:]
    curve = np.sum([part.curve for part in parts], axis=0)
    positions = curve.reshape(PARTS, -1).sum(axis=1)
    shares = ShareCounts.joined([part.shares for part in parts])
    present, with_text, readable = int(each[:, 1].sum()), int(each[has_text, 0].sum()), int(has_text.sum())
    sums = {name: _ratio(*both) for name, both in shares.sums().items()}
    of_documents = divide(classes, classes.sum(axis=1, keepdims=True))
    occurrences = int(forms.occurrences.sum())
    return Portrait(
        documents=documents,
        empty=int((each[:, 0] == 0).sum()),
        total=total,
        total_present=present if texts else None,
        phrases=_ratio(total, documents),
        present=_ratio(present, readable),
        absent=_ratio(with_text - present, readable),
        words=_ratio(sum(part.words for part in parts), total),
        classes=_means(of_documents),
        classes_corpus=tuple(_ratio(int(n), int(classes.sum())) for n in classes.sum(axis=0)),
        unseen_words=sums["unseen_words"],
        repeats=sums["repeats"],
        types=len(forms.numbers),
        df=_ratio(int(forms.df.sum()), len(forms.numbers)),
        df_occurrences=_ratio(int((forms.df * forms.occurrences).sum()), occurrences),
        words_types=_ratio(int(forms.words.sum()), len(forms.numbers)),
        positions=tuple(positions.tolist()) if texts else None,
        curve=tuple(curve.tolist()) if texts else None,
        places=tuple(sums[name] for name in PLACES) if texts else None,
        intervals={
            **named_intervals(PRMU, ratio_intervals(of_documents.T, np.ones(1), level)),
            **named_intervals(CORPUS_CLASSES, ratio_intervals(classes.T, classes.sum(axis=1), level)),
            **shares.intervals(level),
        },
        forms=forms,
    )


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _means(shares: Floats) -> tuple[float | None, ...]:
    return tuple(shares.mean(axis=0).tolist()) if len(shares) else (None,) * len(PRMU)
