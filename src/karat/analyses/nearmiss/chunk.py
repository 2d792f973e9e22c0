"""The near misses of one chunk of documents: who is paired, how near they are, and the counts of all chunks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from karat.analyses.nearmiss.result import (
    CROSSED,
    NOTHING,
    Group,
    Key,
    MissColumns,
    NearMiss,
    NearMissCounts,
    NearMissOptions,
    Side,
)
from karat.matching.columns import Aligned, Bools, Floats, Ints, lookup
from karat.matching.passes import View
from karat.metrics.base import Request
from karat.metrics.soft import ROUNDING
from karat.protocol import Protocol
from karat.similarity import Similarity, Words, find, find_once
from karat.similarity.classes import CLASSES, all_words, classify, is_word
from karat.similarity.context import Contexts
from karat.stats.shares import ShareCounts
from karat.text.particles import PARTICLES


@dataclass(frozen=True, slots=True)
class Plan:
    """What is computed on every chunk."""

    protocols: tuple[Protocol, ...]
    request: Request
    options: NearMissOptions
    all_pairs: bool  # whether each pair is given, not only the counts
    sentences: Contexts | None

    def similarity(self) -> Similarity:
        """The similarity, here rather than sent to every process: a file is read and a model loaded once in each."""
        if self.sentences is not None:
            return find(self.options.similarity, sentences=self.sentences)
        return find_once(self.options.similarity)


@dataclass(frozen=True, slots=True)
class Part:
    """The result of a chunk: the counts by system and protocol, and each pair if `all_pairs`."""

    found: list[NearMissCounts]
    pairs: list[NearMiss]
    documents: int


def look(plan: Plan, view: View) -> Part:
    """A look: the near misses of some documents."""
    found: dict[tuple[int, int], tuple[NearMissCounts, list[NearMiss]]] = {}
    for p, protocol in enumerate(plan.protocols):
        for s, system in enumerate(view.setup.systems):
            aligned = view.aligned(s, protocol)
            counted = np.ones(len(view), dtype=bool)
            counted[view.left_out(s)] = False
            missed = _unmatched(aligned, plan.request, counted)
            found[s, p] = _found(plan, (system, str(protocol)), view.ids, aligned, missed)
    order = [found[key] for key in sorted(found)]
    pairs = [each for _, near in order for each in near] if plan.all_pairs else []
    return Part([each for each, _ in order], pairs, len(view))


@dataclass(frozen=True, slots=True)
class _Unmatched:
    """What is looked at, and what of it is no hit: rows of `ranked(subset)`, and references."""

    predicted: Bools
    predictions: Bools
    referred: Bools
    references: Bools


def _unmatched(aligned: Aligned, request: Request, counted: Bools) -> _Unmatched:
    """The predictions that are no reference of their document, and the references that no prediction is."""
    assert request.cutoff is not None
    ranked, r = aligned.ranked(request.subset), aligned.references
    within = ranked.rank < aligned.depth(request.cutoff, request.subset)[ranked.document]
    predicted = within & counted[ranked.document]
    width = len(aligned.prepared.table)
    hit, _ = lookup(
        r.document[r.variant_reference] * width + r.variant_phrase,
        ranked.document[predicted] * width + ranked.phrase[predicted],
    )
    found = np.zeros(len(r.document), dtype=bool)
    np.logical_or.at(found, r.variant_reference, hit)
    referred = aligned.references_in(request.subset) & counted[r.document]
    wrong = predicted & (aligned.predictions.hit[ranked.row] < 0)
    return _Unmatched(predicted, wrong, referred, referred & ~found)


def _found(
    plan: Plan, whose: tuple[str, str], ids: Sequence[str], aligned: Aligned, missed: _Unmatched
) -> tuple[NearMissCounts, list[NearMiss]]:
    """What a system almost got in these documents, and the pairs."""
    pairs = _near_pairs(plan, aligned, missed)
    surfaces = [surface.strip() for surface in aligned.prepared.surfaces]
    nearest = pairs.take(_nearest(pairs, plan.options.every))
    misses = _misses(nearest, surfaces, ids, whose, plan.options.both)
    predicted, referred = aligned.ranked(plan.request.subset).document, aligned.references.document
    found = NearMissCounts(
        *whose,
        Side(int(missed.predicted.sum()), int(missed.predictions.sum()), len(np.unique(pairs.prediction))),
        Side(int(missed.referred.sum()), int(missed.references.sum()), len(np.unique(pairs.reference))),
        _groups(misses, plan.options.examples),
        ShareCounts.of(
            {
                "predictions": _near_of(predicted, missed.predictions, pairs.prediction, len(ids)),
                "references": _near_of(referred, missed.references, pairs.reference, len(ids)),
            }
        ),
        (MissColumns.of(nearest.document, misses),),
    )
    return found, misses


def _near_of(document: Ints, unmatched: Bools, near: Ints, documents: int) -> tuple[Ints, Ints]:
    """By document: the number of phrases that have a near miss, and of those that are unmatched."""
    of_near = np.bincount(document[np.unique(near)], minlength=documents)
    return of_near, np.bincount(document[unmatched], minlength=documents)


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Pairs of an unmatched prediction and a variant of a missed reference, as columns."""

    document: Ints
    prediction: Ints  # row of `ranked(subset)`
    reference: Ints
    variant: Ints
    left: Ints  # the prediction's surface
    right: Ints  # the variant's surface
    score: Floats

    def take(self, which: Ints | Bools) -> _Pairs:
        """Some of the pairs."""
        return _Pairs(*(getattr(self, name)[which] for name in self.__slots__))


def _near_pairs(plan: Plan, aligned: Aligned, missed: _Unmatched) -> _Pairs:
    """Every pair of a document that is near."""
    ranked, r = aligned.ranked(plan.request.subset), aligned.references
    prediction, variant = aligned.pairs(plan.request.subset)
    open_ = missed.predictions[prediction] & missed.references[r.variant_reference[variant]]
    prediction, variant = prediction[open_], variant[open_]
    left, right = aligned.predictions.surface[ranked.row[prediction]], r.variant_surface[variant]
    near, scores = _near(plan, list(aligned.prepared.surfaces), left, right)
    reference = r.variant_reference[variant]
    return _Pairs(ranked.document[prediction], prediction, reference, variant, left, right, scores).take(near)


def _near(plan: Plan, surfaces: Sequence[str], left: Ints, right: Ints) -> tuple[Bools, Floats]:
    """Whether the surfaces of each pair are near, and their scores; each distinct pair is judged once."""
    used, numbers = np.unique(np.concatenate([left, right]), return_inverse=True)  # words of these alone are needed
    surfaces, (left, right) = [surfaces[n] for n in used.tolist()], np.split(numbers.ravel(), 2)
    keys, back = np.unique(left * len(surfaces) + right, return_inverse=True)
    left, right = np.divmod(keys, max(len(surfaces), 1))
    similarity, threshold = plan.similarity(), plan.options.threshold
    tokens, stems = all_words(surfaces, "surface"), all_words(surfaces, "stems")
    near = np.ones(len(keys), dtype=bool) if threshold is not None else _share(tokens, stems, left, right)
    scores = np.zeros(len(keys))
    if near.any():
        words = stems if similarity.form == "stems" else tokens
        scores[near] = similarity.scores(words, left[near], right[near])
    if threshold is not None:
        near = scores >= threshold - ROUNDING
    if (relations := plan.options.relations()) is not None:
        near[near] = _related(surfaces, left[near], right[near], relations)
    return near[back], scores[back]


def _related(surfaces: Sequence[str], left: Ints, right: Ints, relations: frozenset[str]) -> Bools:
    """Whether the relation of each pair is one of these."""
    texts = [(surfaces[a].strip(), surfaces[b].strip()) for a, b in zip(left.tolist(), right.tolist(), strict=True)]
    return np.array([each.relation in relations for each in classify(texts)], dtype=bool)


def _share(tokens: Sequence[Words], stems: Sequence[Words], left: Ints, right: Ints) -> Bools:
    """Whether two phrases have a word in common, other than prepositions and conjunctions."""
    words = [
        {stem for token, stem in zip(*phrase, strict=True) if is_word(token) and token not in PARTICLES}
        for phrase in zip(tokens, stems, strict=True)
    ]
    pairs = zip(left.tolist(), right.tolist(), strict=True)
    return np.fromiter((not words[a].isdisjoint(words[b]) for a, b in pairs), dtype=bool, count=len(left))


def _nearest(pairs: _Pairs, every: bool) -> Ints:
    """Of each prediction the nearest reference, the first of equals; with `every`, all, each by its nearest variant."""
    references = int(pairs.reference.max(initial=0)) + 1
    whose = pairs.prediction * references + pairs.reference if every else pairs.prediction
    order = np.lexsort((pairs.variant, pairs.reference, -pairs.score, whose))
    return order[np.unique(whose[order], return_index=True)[1]]


def _misses(
    pairs: _Pairs, surfaces: Sequence[str], ids: Sequence[str], whose: tuple[str, str], both: bool
) -> list[NearMiss]:
    texts = [(surfaces[a], surfaces[b]) for a, b in zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)]
    columns = zip(pairs.document.tolist(), texts, pairs.score.tolist(), classify(texts, both=both), strict=True)
    return [NearMiss(ids[document], *whose, *text, score_, classes) for document, text, score_, classes in columns]


def _groups(misses: Sequence[NearMiss], examples: int) -> dict[Key, Group]:
    by_key: dict[Key, list[NearMiss]] = {}
    for each in misses:
        for kind in CLASSES:
            key = kind, getattr(each.classes, kind), each.classes.direction if kind == CROSSED else None
            by_key.setdefault(key, []).append(each)
    return {
        key: Group(len(each), _exact_sum(miss.score for miss in each), _first(each, examples))
        for key, each in by_key.items()
    }


def _exact_sum(scores: Iterable[float]) -> Fraction:
    """The sum without rounding, so that chunks of any size add up to the same."""
    return sum((Fraction(score) * count for score, count in Counter(scores).items()), Fraction(0))


def _first(misses: Sequence[NearMiss], count: int) -> tuple[NearMiss, ...]:
    """The first of different pairs."""
    distinct: dict[tuple[str, str], NearMiss] = {}
    for each in misses:
        if len(distinct) >= count:
            break
        distinct.setdefault((each.prediction, each.reference), each)
    return tuple(distinct.values())


def _plus(one: NearMissCounts, other: NearMissCounts, examples: int) -> NearMissCounts:
    """What was found in the documents of both."""
    groups = dict(one.groups)
    for key, more in other.groups.items():
        known = groups.get(key, NOTHING)
        shown = _first((*known.examples, *more.examples), examples)
        groups[key] = Group(known.pairs + more.pairs, known.total + more.total, shown)
    return replace(
        one,
        predictions=one.predictions.plus(other.predictions),
        references=one.references.plus(other.references),
        groups=groups,
        sides=ShareCounts.joined([one.sides, other.sides]),
        columns=(*one.columns, *other.columns),
    )


@dataclass(slots=True)
class Gathered:
    """What was found so far, by system and protocol; pairs are handed on as they come."""

    options: NearMissOptions
    found: list[NearMissCounts]
    documents: int = 0

    def take(self, part: Part) -> None:
        """Adds what was found in a chunk."""
        if self.options.pairs is not None:
            self.options.pairs(part.pairs)
        found = [replace(each, columns=tuple(own.moved(self.documents) for own in each.columns)) for each in part.found]
        self.documents += part.documents
        both = zip(self.found, found, strict=True)
        self.found = [_plus(a, b, self.options.examples) for a, b in both] if self.found else found
