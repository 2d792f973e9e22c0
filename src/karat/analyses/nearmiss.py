"""Near misses: predictions that are no hit but near a reference that is missed, and of which kind they are.

By default two phrases are near when they share a word, by its Porter stem; marks, prepositions and conjunctions do not
count, since an `of` brings no phrases together. With a threshold they are near when their score reaches it. Each
prediction counts once, with the missed reference that it is nearest to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import fsum, nan
from typing import Any, ClassVar

import numpy as np

from karat.analyses.score import ScoreOptions, pass_for
from karat.analyses.score import in_pass as scores_in_pass
from karat.corpus import Corpus, Run
from karat.errors import InputError, counted
from karat.matching.columns import SUBSETS, Aligned, Bools, Floats, Ints, Subset, lookup
from karat.matching.inputs import CorpusLike, ProtocolsLike, RunLike, as_list, as_protocols
from karat.matching.passes import Pass, View, look_at
from karat.matching.sanity import has_texts, texts_needed
from karat.metrics.base import Request, parse_request
from karat.metrics.soft import ROUNDING, checked_threshold
from karat.options import (
    By,
    Extra,
    MatchOptions,
    Missing,
    Progress,
    WorkOptions,
    cutoff_option,
    group,
    option,
    options_from,
    protocol_option,
    public,
)
from karat.protocol import Protocol, whole_number
from karat.results import Displayed
from karat.similarity import Similarity, Words, find, find_once
from karat.similarity.classes import CLASSES, Classes, all_words, classify, is_word
from karat.similarity.context import Contexts, sentences_look
from karat.tabular import COUNT, Column, Row, Table, number
from karat.tabular import Group as RowGroup
from karat.text.particles import PARTICLES
from karat.vocabulary import VocabularyLike

CROSSED = "location"  # the kind that is split by direction

Key = tuple[str, str, str | None]  # kind, class, and for a location the direction


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A prediction of a document, the reference it is near to, how near, and of which kind."""

    id: str
    system: str
    protocol: str
    prediction: str
    reference: str
    score: float
    classes: Classes


@dataclass(frozen=True, slots=True)
class NearMissOptions:
    """What is near, and how `nearmiss` works."""

    protocol: ProtocolsLike = protocol_option(repeatable=True)
    similarity: str = option(
        "overlap",
        "How near two phrases are, as kmr or file:PATH. See `karat list similarities`.",
        flags=("--score",),
        metavar="NAME[,option=value...]",
        complete="similarities",
    )
    threshold: float | None = option(
        None, "Near is a score of at least T, from 0 to 1.", metavar="T", otherwise="the phrases share a word"
    )
    subset: Subset = option("all", "Which phrases are looked at.", values=SUBSETS)
    cutoff: str = cutoff_option("The first K predictions, or O, G, or M, all of them.")
    every: bool = option(False, "Every near reference of a prediction, not the nearest alone.")
    both: bool = option(False, "Tell phrases that hold first word and head from those that hold the head.")
    examples: int = option(3, "Examples of each class.", least=0, metavar="N")
    pairs: Callable[[list[NearMiss]], None] | None = option(
        None, "Called with the near misses of each chunk of documents.", command=False
    )
    join: MatchOptions = group(MatchOptions)
    work: WorkOptions = group(WorkOptions)


@dataclass(frozen=True, slots=True)
class Group:
    """The near misses of one class: how many, the sum of their scores, and the first of them."""

    pairs: int
    total: float
    examples: tuple[NearMiss, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """Of the predictions, or of the references: how many there are, are unmatched, and of these have a near miss."""

    given: int
    unmatched: int
    near: int

    @property
    def share(self) -> float | None:
        """The share of the unmatched that have a near miss; None where none is unmatched."""
        return self.near / self.unmatched if self.unmatched else None

    def plus(self, other: Side) -> Side:
        """Both together."""
        return Side(self.given + other.given, self.unmatched + other.unmatched, self.near + other.near)


@dataclass(frozen=True, slots=True)
class NearMissCounts:
    """The near misses of one system under one protocol, counted by class."""

    system: str
    protocol: str
    predictions: Side
    references: Side
    groups: Mapping[Key, Group]

    @property
    def pairs(self) -> int:
        """How many near misses there are."""
        return sum(group.pairs for (kind, _, _), group in self.groups.items() if kind == CROSSED)

    def share(self, key: Key) -> float | None:
        """The share of a class among all near misses; None where there are none."""
        return self.groups[key].pairs / self.pairs if key in self.groups else 0.0 if self.pairs else None


@dataclass(frozen=True, slots=True, repr=False)
class NearMisses(Displayed):
    """The near misses of some runs, counted by class, with examples."""

    csv_fields: ClassVar[tuple[str, ...]] = (
        "corpus",
        "system",
        "protocol",
        "kind",
        "class",
        "direction",
        "pairs",
        "share",
        "mean_score",
        "examples",
    )

    corpus: str
    documents: int
    options: NearMissOptions
    found: tuple[NearMissCounts, ...]
    signatures: dict[str, str]
    notes: tuple[str, ...]

    def classes(self) -> list[Key]:
        """The classes that any of the systems has, in the order of CLASSES."""
        there = {key for found in self.found for key in found.groups}
        return [key for key in _all_keys() if key in there]

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each system, protocol and class."""
        return [self._row(found, key) for found in self.found for key in self.classes()]

    def _row(self, found: NearMissCounts, key: Key) -> dict[str, Any]:
        group = found.groups.get(key, NOTHING)
        return {
            "corpus": self.corpus,
            "system": found.system,
            "protocol": found.protocol,
            "kind": key[0],
            "class": key[1],
            "direction": key[2],
            "pairs": group.pairs,
            "share": found.share(key),
            "mean_score": group.total / group.pairs if group.pairs else None,
            "examples": [
                {"id": each.id, "prediction": each.prediction, "reference": each.reference, "score": each.score}
                for each in group.examples
            ],
        }

    def summary(self) -> list[dict[str, Any]]:
        """One dict for each system and protocol: how much was missed, and how much of it almost found."""
        return [
            {
                "corpus": self.corpus,
                "system": found.system,
                "protocol": found.protocol,
                "predictions": found.predictions.given,
                "unmatched_predictions": found.predictions.unmatched,
                "near_predictions": found.predictions.near,
                "near_predictions_share": found.predictions.share,
                "references": found.references.given,
                "unmatched_references": found.references.unmatched,
                "near_references": found.references.near,
                "near_references_share": found.references.share,
                "pairs": found.pairs,
                "documents": self.documents,
            }
            for found in self.found
        ]

    def as_dict(self) -> dict[str, Any]:
        """The whole as plain values: the envelope of `score`, the options, and a summary."""
        names = ("similarity", "threshold", "subset", "cutoff", "every", "both")
        return {
            "signatures": self.signatures,
            "rows": self.rows(),
            "notes": list(self.notes),
            "options": {name: getattr(self.options, name) for name in names},
            "summary": self.summary(),
        }

    def flat_rows(self) -> list[dict[str, Any]]:
        """The rows of the CSV output: examples in one cell."""
        return [
            row | {"examples": "; ".join(_arrow(each["prediction"], each["reference"]) for each in row["examples"])}
            for row in self.rows()
        ]

    def tables(self) -> Iterator[Table]:
        """For each system and protocol: how much was almost got, the classes, and examples."""
        head, meaning = _heading(self), _meaning(self.options)
        yield Table(head, about=[meaning])
        for found in self.found:
            name, said = f"{found.system}, protocol {found.protocol}", list(_counts(found))
            columns = [*(Column(each, COUNT) for each in (*DIRECTIONS, "all")), Column("share"), Column("score")]
            groups, caption = list(_kinds(found, self.classes())), f"{name}: {head}. {meaning} {' '.join(said)}"
            yield Table(name, "prediction is", columns if found.pairs else (), groups, about=said, caption=caption)
            if shown := list(_examples(found, self.classes())):
                yield Table(about=["Examples, prediction → reference (score):"], items=shown)


def _all_keys() -> Iterator[Key]:
    for kind, values in CLASSES.items():
        for value in values:
            if kind == CROSSED:
                yield from ((kind, value, direction) for direction in CLASSES["direction"])
            else:
                yield kind, value, None


# ---------------------------------------------------------------------------------------------- tables

DIRECTIONS = tuple(CLASSES["direction"])
NOTHING = Group(0, 0.0, ())


def _heading(result: NearMisses) -> str:
    """What the tables are of."""
    options = result.options
    subset = f", subset {options.subset}" if options.subset != "all" else ""
    cutoff = f", cutoff {options.cutoff}" if options.cutoff != "M" else ""
    return f"{result.corpus}, {counted(result.documents, 'document')}, score {options.similarity}{subset}{cutoff}"


def _meaning(options: NearMissOptions) -> str:
    """What counts as a near miss."""
    threshold = options.threshold
    near = "shares a word with" if threshold is None else f"has a score of {threshold:g} or more with"
    once = "every such pair" if options.every else "each prediction with the nearest"
    return f"A near miss: a prediction that is no hit but {near} a missed reference; {once}."


def _counts(found: NearMissCounts) -> Iterator[str]:
    """How much was missed, and how much of it was almost got."""
    for side, what, almost in (
        (found.predictions, "predictions are no hit", "are near misses"),
        (found.references, "references are missed", "were almost found"),
    ):
        share = f" ({number(side.share)})" if side.share is not None else ""
        yield f"{side.unmatched:,} of {side.given:,} {what}; {side.near:,} of these{share} {almost}."


def _kinds(found: NearMissCounts, keys: Sequence[Key]) -> Iterator[RowGroup]:
    """For each kind a row for each of its classes; the first also has a row of all."""
    for kind in (kind for kind in CLASSES if kind != "direction"):
        own = [key for key in keys if key[0] == kind]
        rows = [
            Row(name, _class_cells(found, [key for key in own if key[1] == name]))
            for name in dict.fromkeys(value for _, value, _ in own)
        ]
        if own:
            yield RowGroup([*rows, *([Row("all", _class_cells(found, own))] if kind == CROSSED else [])], kind)


def _class_cells(found: NearMissCounts, keys: Sequence[Key]) -> list[Any]:
    """The pairs by direction where the class is split, all pairs, their share and their mean score."""
    groups = [(key[2], found.groups.get(key, NOTHING)) for key in keys]
    pairs, total = sum(group.pairs for _, group in groups), sum(group.total for _, group in groups)
    crossed = keys[0][0] == CROSSED
    return [
        *(sum(group.pairs for of, group in groups if of == each) if crossed else None for each in DIRECTIONS),
        pairs,
        pairs / found.pairs if found.pairs else nan,
        total / pairs if pairs else nan,
    ]


def _examples(found: NearMissCounts, keys: Sequence[Key]) -> Iterator[str]:
    """The examples of each class; the classes of direction are among the locations."""
    for kind, value, direction in keys:
        shown = found.groups.get((kind, value, direction), NOTHING).examples
        if shown and kind != "direction":
            name = f"{kind} {value}, {direction}" if direction else f"{kind} {value}"
            yield f"{name}: {'; '.join(f'{_arrow(x.prediction, x.reference)} ({number(x.score)})' for x in shown)}"


def _arrow(prediction: str, reference: str) -> str:
    """Two phrases on one line, without what could move a terminal's cursor."""
    text = " ".join(f"{prediction} → {reference}".split())
    return "".join(letter if letter.isprintable() else "�" for letter in text)


# ---------------------------------------------------------------------------------------------- computing


@public(NearMissOptions)
def nearmiss(
    corpus: CorpusLike,
    *runs: RunLike,
    protocol: ProtocolsLike = "karat",
    similarity: str = "overlap",
    threshold: float | None = None,
    subset: Subset = "all",
    cutoff: str = "M",
    every: bool = False,
    both: bool = False,
    examples: int = 3,
    pairs: Callable[[list[NearMiss]], None] | None = None,
    references: str | None = None,
    language: str | None = None,
    by: By | None = None,
    missing: Missing = "error",
    extra: Extra = "error",
    vocabulary: VocabularyLike | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> NearMisses:
    """The near misses of runs, counted by class, with examples.

    Raises InputError if a run does not fit the corpus, or if an option cannot be used with it.

    >>> documents = Corpus.of([{"id": "1", "keyphrases": ["effective grid computing algorithm", "load balance"]}])
    >>> run = Run.of([{"id": "1", "keyphrases": ["grid computing algorithms", "load balancing", "users"]}])
    >>> [(row["class"], row["pairs"]) for row in nearmiss(documents, run).rows() if row["kind"] == "relation"]
    [('part-of', 1)]
    """
    return pass_for(in_pass, corpus, runs, options_from(NearMissOptions, locals()))


def in_pass(reading: Pass, options: NearMissOptions) -> Callable[[], NearMisses]:
    """Registers what near misses need of a pass; what comes back gives them once the pass has run."""
    corpus = reading.corpus
    request = _checked(corpus, reading.runs, options)
    metrics = [f"{request.label}:{request.subset}"]
    scoring = ScoreOptions(protocol=options.protocol, metrics=metrics, join=options.join, work=options.work)
    results = scores_in_pass(reading, scoring)
    plan = _Plan(
        as_protocols(as_list(options.protocol), options.join.language),
        request,
        replace(options, work=WorkOptions(), pairs=None),
        options.pairs is not None,
        _sentences(corpus, options.similarity, reading.jobs),
    )
    if reading.jobs > 1:
        classify([("", "")])  # so that the tagger is there before the processes are forked, not made in each
    gathered = _Gathered(options, [])
    answers = reading.look(partial(_chunk, plan), take=gathered.take)

    def finish() -> NearMisses:
        scored, _ = results(), answers.parts
        notes = (*scored.notes, *_notes(gathered.found, options))
        return NearMisses(corpus.name, len(scored.ids), options, tuple(gathered.found), scored.signatures, notes)

    return finish


def _checked(corpus: Corpus, runs: Sequence[Run], options: NearMissOptions) -> Request:
    """The cutoff and the subset of the options. Raises InputError if an option has no such value."""
    find(options.similarity)
    if options.threshold is not None:
        checked_threshold(options.threshold)
    if options.cutoff not in ("M", "O", "G") and whole_number(options.cutoff) is None:  # V would have to be fitted
        raise InputError(f"the cutoff of near misses is a number from 1 on, M, O or G, not {options.cutoff!r}")
    request = parse_request(f"r@{options.cutoff}:{options.subset}")
    if request.subset != "all" and not has_texts(corpus, runs):
        raise texts_needed(corpus, f"the subset {request.subset}", "all")
    return request


def _sentences(corpus: Corpus, similarity: str, jobs: int) -> Contexts | None:
    """All sentences of the corpus, for the one similarity that looks at them."""
    if "sentences" not in find(similarity).options:
        return None
    parts = look_at(corpus, partial(sentences_look, None), jobs=jobs)
    return Contexts.of([sentence for part in parts for sentence in part])


def _notes(found: Sequence[NearMissCounts], options: NearMissOptions) -> list[str]:
    near = "shares a word with" if options.threshold is None else f"has a score of {options.threshold:g} with"
    notes = [
        f"{each.system}, {each.protocol}: no near miss: no unmatched prediction {near} a missed reference"
        for each in found
        if not each.pairs
    ]
    if options.join.language not in (None, "english"):
        notes.append("the classes are made for English: by Porter stems, and word classes from an English lexicon")
    return notes


# ---------------------------------------------------------------------------------------------- one chunk


@dataclass(frozen=True, slots=True)
class _Plan:
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
class _Part:
    """The result of a chunk: the counts by system and protocol, and each pair if `all_pairs`."""

    found: list[NearMissCounts]
    pairs: list[NearMiss]


def _chunk(plan: _Plan, view: View) -> _Part:
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
    return _Part([each for each, _ in order], pairs)


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
    plan: _Plan, whose: tuple[str, str], ids: Sequence[str], aligned: Aligned, missed: _Unmatched
) -> tuple[NearMissCounts, list[NearMiss]]:
    """What a system almost got in these documents, and the pairs."""
    pairs = _near_pairs(plan, aligned, missed)
    surfaces = [surface.strip() for surface in aligned.prepared.surfaces]
    misses = _misses(pairs.take(_nearest(pairs, plan.options.every)), surfaces, ids, whose, plan.options.both)
    found = NearMissCounts(
        *whose,
        Side(int(missed.predicted.sum()), int(missed.predictions.sum()), len(np.unique(pairs.prediction))),
        Side(int(missed.referred.sum()), int(missed.references.sum()), len(np.unique(pairs.reference))),
        _groups(misses, plan.options.examples),
    )
    return found, misses


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


def _near_pairs(plan: _Plan, aligned: Aligned, missed: _Unmatched) -> _Pairs:
    """Every pair of a document that is near."""
    ranked, r = aligned.ranked(plan.request.subset), aligned.references
    prediction, variant = aligned.pairs(plan.request.subset)
    open_ = missed.predictions[prediction] & missed.references[r.variant_reference[variant]]
    prediction, variant = prediction[open_], variant[open_]
    left, right = aligned.predictions.surface[ranked.row[prediction]], r.variant_surface[variant]
    near, scores = _near(plan, list(aligned.prepared.surfaces), left, right)
    reference = r.variant_reference[variant]
    return _Pairs(ranked.document[prediction], prediction, reference, variant, left, right, scores).take(near)


def _near(plan: _Plan, surfaces: Sequence[str], left: Ints, right: Ints) -> tuple[Bools, Floats]:
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
    return near[back], scores[back]


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


# ---------------------------------------------------------------------------------------------- classes


def _groups(misses: Sequence[NearMiss], examples: int) -> dict[Key, Group]:
    by_key: dict[Key, list[NearMiss]] = {}
    for each in misses:
        for kind in CLASSES:
            key = kind, getattr(each.classes, kind), each.classes.direction if kind == CROSSED else None
            by_key.setdefault(key, []).append(each)
    return {
        key: Group(len(each), fsum(miss.score for miss in each), _first(each, examples)) for key, each in by_key.items()
    }


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
        known = groups.get(key, Group(0, 0.0, ()))
        shown = _first((*known.examples, *more.examples), examples)
        groups[key] = Group(known.pairs + more.pairs, known.total + more.total, shown)
    return replace(
        one,
        predictions=one.predictions.plus(other.predictions),
        references=one.references.plus(other.references),
        groups=groups,
    )


@dataclass(slots=True)
class _Gathered:
    """What was found so far, by system and protocol; pairs are handed on as they come."""

    options: NearMissOptions
    found: list[NearMissCounts]

    def take(self, part: _Part) -> None:
        """Adds what was found in a chunk."""
        if self.options.pairs is not None:
            self.options.pairs(part.pairs)
        both = zip(self.found, part.found, strict=True)
        self.found = [_plus(a, b, self.options.examples) for a, b in both] if self.found else part.found
