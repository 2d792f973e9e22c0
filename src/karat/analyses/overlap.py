"""How much two systems predict alike, right and wrong; what they would score together; what references may lack.

Of two systems and a document: A and B are what they predict, G the references, phrases being equal when their stems
are under the protocol. 100·|A∩B∩G| / |A∪B| is what both have right, 100·|A∩B∖G| / |A∪B| what both have wrong (Thomas
and Vajjala 2024). Where neither predicts anything both are undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, compress, groupby
from math import nan
from pathlib import Path
from typing import Any, Literal

import numpy as np

from karat.analyses.score import ScoreOptions, pass_for
from karat.analyses.score import in_pass as scores_in_pass
from karat.corpus import Corpus, Run
from karat.errors import InputError, counted
from karat.formats.containers import save
from karat.matching.columns import Aligned, Bools, Floats, Ints, Subset, lookup
from karat.matching.fusing import Fused, K, as_aligned, checked_k, checked_votes, fuse
from karat.matching.inputs import CorpusLike, ProtocolsLike, RunLike, as_list, as_protocols
from karat.matching.passes import Pass, View
from karat.matching.sanity import NO_SUBSETS, has_texts
from karat.metrics.base import Request, Rows, divide, plan_requests
from karat.metrics.growing import GrowingRows
from karat.options import (
    By,
    Extra,
    IntervalOptions,
    MatchOptions,
    Missing,
    Progress,
    WorkOptions,
    group,
    option,
    options_from,
    protocol_option,
    public,
)
from karat.protocol import Protocol
from karat.results import Results, Score
from karat.results.displayed import Displayed, flat_values
from karat.results.documents import rows_of_documents
from karat.results.intervals import about_brackets, with_intervals, with_low_and_high
from karat.stats.resampling import Sample
from karat.stats.shares import Interval, ratio_intervals, sample_interval
from karat.tabular import COUNT, FIXED2, Cell, Column, Group, Row, Table, rows_of, with_ends
from karat.vocabulary import VocabularyLike

How = Literal["union", "intersection", "majority"]
HOW: tuple[How, ...] = ("union", "intersection", "majority")
Empty = Literal["skip", "zero"]
METRICS = ("p@M", "r@M", "f1@M")
TENTHS = 10


@dataclass(frozen=True, slots=True)
class OverlapOptions:
    """How `overlap` works."""

    protocol: ProtocolsLike = protocol_option(repeatable=True)
    empty: Empty = option(
        "skip",
        "A document for which neither system predicts a phrase: left out and counted, or 0.",
        values=("skip", "zero"),
    )
    at_least: int = option(2, "For a review: phrases that N systems predict.", least=1, metavar="N")
    k: float = option(K, "K of reciprocal rank fusion, the union's order.", metavar="K")
    confidence: IntervalOptions = group(IntervalOptions)
    join: MatchOptions = group(MatchOptions)
    work: WorkOptions = group(WorkOptions)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems under a protocol: of each document how many phrases both have right, both have wrong, either has."""

    a: str
    b: str
    protocol: str
    subset: Subset
    correct: Ints
    wrong: Ints
    either: Ints
    defined: Bools  # documents with a phrase of either, or all of them where an empty union is taken as 0

    @property
    def common_correct(self) -> float | None:
        """The mean percentage that both have right."""
        return self._mean(self.correct)

    @property
    def common_wrong(self) -> float | None:
        """The mean percentage that both have wrong."""
        return self._mean(self.wrong)

    @property
    def undefined(self) -> int:
        """How many documents are left out."""
        return int((~self.defined).sum())

    def per_document(self) -> Floats:
        """(correct, wrong) in percent of each document, NaN where it is undefined: float64[documents, 2]."""
        shares = np.stack([divide(100.0 * part, self.either, empty=0.0) for part in (self.correct, self.wrong)], axis=1)
        shares[~self.defined] = np.nan
        return shares

    def intervals(self, level: float = 0.95) -> dict[str, Interval]:
        """Return the intervals of the mean percentages; undefined if no document is defined."""
        shares = np.nan_to_num(self.per_document().T)
        correct, wrong = ratio_intervals(shares, self.defined, level, (0.0, 100.0)).tolist()
        return {"common_correct": tuple(correct), "common_wrong": tuple(wrong)}

    def histogram(self) -> dict[str, list[int]]:
        """How many documents have 0 to 10 %, 10 to 20 %, ...; a lower end belongs to its tenth, 100 % to the last."""
        return {"correct": self._tenths(self.correct), "wrong": self._tenths(self.wrong)}

    def _mean(self, part: Ints) -> float | None:
        shares = divide(100.0 * part, self.either, empty=0.0)[self.defined]
        return float(shares.sum() / len(shares)) if len(shares) else None

    def _tenths(self, part: Ints) -> list[int]:
        # In whole numbers: 3 of 10 is in the tenth that begins at 30 %, whatever 3 / 10 is in a float.
        tenth = np.minimum(TENTHS * part // np.maximum(self.either, 1), TENTHS - 1)[self.defined]
        found: list[int] = np.bincount(tenth, minlength=TENTHS).tolist()
        return found


@dataclass(frozen=True, slots=True, repr=False)
class Overlap(Displayed):
    """The overlaps of all pairs of systems, what systems together would score, phrases that references may lack."""

    corpus: str
    documents: int
    systems: tuple[str, ...]
    options: OverlapOptions
    pairs: tuple[Pair, ...]
    scores: tuple[Score, ...]  # of the systems together; `system` says how
    results: Results  # of each system
    lacked: tuple[tuple[str, str, tuple[str, ...]], ...]  # (document, phrase, systems)
    notes: tuple[str, ...]

    @property
    def signatures(self) -> dict[str, str]:
        """The protocols spelled out."""
        return self.results.signatures

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each pair of systems, protocol and subset."""
        return [self._row(pair) for pair in self.pairs]

    def _row(self, pair: Pair) -> dict[str, Any]:
        row = {
            "corpus": self.corpus,
            "a": pair.a,
            "b": pair.b,
            "protocol": pair.protocol,
            "subset": pair.subset,
            "common_correct": pair.common_correct,
            "common_wrong": pair.common_wrong,
            "documents": self.documents,
            "undefined": pair.undefined,
            "histogram": pair.histogram(),
        }
        return with_intervals(row, pair.intervals(self.options.confidence.level))

    def flat_rows(self) -> list[dict[str, Any]]:
        """The rows of the CSV output."""
        return [dict(flat_values(with_low_and_high(row))) for row in self.rows()]

    def complementarity(self) -> list[dict[str, Any]]:
        """One dict for each score of the systems together: of their union, their intersection, their majority."""
        return [self._together(each) for each in self.scores]

    def alone(self) -> list[dict[str, Any]]:
        """The same scores of each system by itself, as rows of `score`, with intervals."""
        return [
            with_intervals(row, self._interval(each))
            for row, each in zip(self.results.rows(), self.results.scores, strict=True)
        ]

    def _interval(self, each: Score) -> dict[str, Interval]:
        sample = Sample(each.rows.values, each.request.finish)
        return {"value": sample_interval(sample, self.options.confidence.level)}

    def _together(self, each: Score) -> dict[str, Any]:
        row = with_intervals(each.as_dict(self.documents), self._interval(each))
        names = ("protocol", "metric", "subset", "average", "value", "value_ci", "documents", "undefined")
        return {"corpus": self.corpus, "how": each.system, "systems": list(self.systems)} | {n: row[n] for n in names}

    def document_rows(self) -> Iterator[dict[str, Any]]:
        """One dict for each pair of systems, protocol, subset and document; shares are None where undefined."""
        for pair in self.pairs:
            common = {"corpus": self.corpus, "a": pair.a, "b": pair.b, "protocol": pair.protocol, "subset": pair.subset}
            shares = pair.per_document()
            columns = {name: shares[:, n] for n, name in enumerate(("common_correct", "common_wrong"))}
            yield from rows_of_documents(common, self.results.ids, columns)

    def save_documents(self, path: str | Path) -> None:
        """Writes these rows; the file's name chooses between JSON lines, CSV, TSV and Parquet."""
        texts = dict.fromkeys(("corpus", "a", "b", "protocol", "subset", "id"), str)
        shares = dict.fromkeys(("common_correct", "common_wrong"), float)
        save(str(path), self.document_rows(), kinds={**texts, **shares})

    def review(self) -> list[dict[str, Any]]:
        """What `at_least` systems predict and no reference is, under the first protocol, for a person to judge."""
        return [{"id": i, "phrase": phrase, "systems": list(who), "accept": None} for i, phrase, who in self.lacked]

    def as_dict(self) -> dict[str, Any]:
        """The whole as plain values: the envelope of `score`, the scores together and alone."""
        return {
            "signatures": self.signatures,
            "rows": self.rows(),
            "notes": list(self.notes),
            "options": {name: getattr(self.options, name) for name in ("empty", "at_least", "k")}
            | {"level": self.options.confidence.level},
            "complementarity": self.complementarity(),
            "alone": self.alone(),
            "to_review": len(self.lacked),
        }

    def tables(self) -> Iterator[Table]:
        """For each protocol: the means of all pairs, a histogram of each pair, the systems together."""
        head = f"{self.corpus}, {counted(self.documents, 'document')}"
        yield Table(head, about=[_meaning(self.options)])
        for protocol in self.signatures:
            pairs = [pair for pair in self.pairs if pair.protocol == protocol]
            for table in (_mean_table(self, pairs), *_histograms(pairs)):
                title = f"{table.title}, protocol {protocol}"
                yield replace(table, title=title, caption=f"{title}: {head}. {_meaning(self.options)}")
            yield _together_table(self, protocol, head)
        yield Table(notes=[_ways(self), *_to_review(self)])


# ---------------------------------------------------------------------------------------------- tables

SIDES = ("correct", "wrong")


def _mean_table(found: Overlap, pairs: Sequence[Pair]) -> Table:
    """The mean percentages of all pairs with their intervals, a group of rows for each subset."""
    subsets = dict.fromkeys(pair.subset for pair in pairs)
    groups = [
        Group([Row(_pair_name(pair), _mean_cells(found, pair)) for pair in pairs if pair.subset == subset], subset)
        for subset in subsets
    ]
    return Table("Mean percentage", "systems", [Column(side, FIXED2) for side in SIDES], groups)


def _mean_cells(found: Overlap, pair: Pair) -> list[Cell]:
    means = (pair.common_correct, pair.common_wrong)
    ends = pair.intervals(found.options.confidence.level).values()
    return [Cell(mean, with_ends(each, 2)) for mean, each in zip(means, ends, strict=True)]


def _histograms(pairs: Sequence[Pair]) -> Iterator[Table]:
    """For each pair the number of documents by percentage."""
    for name, pairs_of_name in groupby(pairs, key=_pair_name):
        subsets = list(pairs_of_name)
        columns = [pair.histogram()[side] for pair in subsets for side in SIDES]
        rows = [(f"{10 * n}–{10 * n + 10}", [column[n] for column in columns]) for n in range(TENTHS)]
        if any(pair.undefined for pair in subsets):
            rows.append(("undefined", [pair.undefined for pair in subsets for _ in SIDES]))
        heads = [Column(side, COUNT, above=pair.subset) for pair in subsets for side in SIDES]
        yield Table(f"Documents by percentage, {name}", "percent", heads, rows_of(rows))


def _pair_name(pair: Pair) -> str:
    return f"{pair.a} and {pair.b}"


def _together_table(found: Overlap, protocol: str, head: str) -> Table:
    """The scores of each system, and of the systems together."""
    alone = [row | {"how": row["system"]} for row in found.alone()]
    rows = [row for row in (*alone, *found.complementarity()) if row["protocol"] == protocol]
    [average] = {row["average"] for row in rows if row["metric"].startswith("f1")}
    columns = [Column(row["metric"], above=row["subset"]) for row in rows if row["how"] == rows[0]["how"]]
    body = [
        (how, [_score_cell(row, found.options) for row in scores])
        for how, scores in groupby(rows, key=lambda row: row["how"])
    ]
    title = f"What the systems would score together, protocol {protocol}, average of f1: {average}"
    return Table(title, "system", columns, rows_of(body), caption=f"{title}: {head}. {_ways(found)}")


def _score_cell(row: dict[str, Any], options: OverlapOptions) -> Cell:
    ends = [nan if end is None else end for end in row["value_ci"]]
    shown = with_ends((ends[0], ends[1])) if options.confidence.intervals else ""
    return Cell(nan if row["value"] is None else row["value"], shown)


def _meaning(options: OverlapOptions) -> str:
    """What the percentages are."""
    empty = "is left out" if options.empty == "skip" else "counts 0"
    return (
        "Of the phrases that either system predicts, the percentage that both predict: correct ones, and wrong ones. "
        f"A document for which neither predicts a phrase {empty}. {about_brackets(options.confidence.level)}"
    )


def _ways(found: Overlap) -> str:
    """What union, intersection and majority are."""
    count = len(found.systems)
    return f"union: in any system; intersection: in all {count}; majority: in {count // 2 + 1} or more."


def _to_review(found: Overlap) -> Iterator[str]:
    """What could be reviewed, if there is anything."""
    if found.lacked:
        yield (
            f"{len(found.lacked):,} phrases that {found.options.at_least} or more systems predict are no references; "
            "--review FILE writes them for a person to judge."
        )


# ---------------------------------------------------------------------------------------------- computing


@public(OverlapOptions)
def overlap(
    corpus: CorpusLike,
    *runs: RunLike,
    protocol: ProtocolsLike = "karat",
    empty: Empty = "skip",
    at_least: int = 2,
    k: float = K,
    level: float = 0.95,
    intervals: bool = False,
    references: str | None = None,
    language: str | None = None,
    by: By | None = None,
    missing: Missing = "error",
    extra: Extra = "error",
    vocabulary: VocabularyLike | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Overlap:
    """The overlaps of runs, two by two, what they would score together, and phrases that references may lack.

    Raises InputError if there are fewer than two runs, or if a run does not fit the corpus.

    >>> documents = Corpus.of([{"id": "1", "text": "Deep nets.", "keyphrases": ["deep net", "tree"]}])
    >>> a = Run.of([{"id": "1", "keyphrases": ["deep nets", "graphs"]}], name="a")
    >>> b = Run.of([{"id": "1", "keyphrases": ["deep net", "graph", "trees", "layers"]}], name="b")
    >>> [(row["subset"], row["common_correct"], row["common_wrong"]) for row in overlap(documents, a, b).rows()]
    [('present', 100.0, 0.0), ('absent', 0.0, 33.333333333333336), ('all', 25.0, 25.0)]
    """
    return pass_for(in_pass, corpus, runs, options_from(OverlapOptions, locals()))


def in_pass(reading: Pass, options: OverlapOptions) -> Callable[[], Overlap]:
    """Registers what an overlap needs of a pass; what comes back gives it once the pass has run."""
    systems = reading.setup.systems
    if len(systems) < 2:
        raise InputError(f"an overlap is of two runs or more, not of {len(systems)}")
    checked_k(options.k)
    checked_votes(options.at_least, len(systems))
    subsets = _subsets(reading.corpus, reading.runs)
    metrics = [f"{metric}:{subset}" for subset in subsets for metric in METRICS]
    protocols = as_protocols(as_list(options.protocol), options.join.language)
    requests = {str(p): plan_requests(metrics, p.counting) for p in protocols}
    plan = _Plan(systems, protocols, requests, subsets, options.at_least, options.k)
    scoring = ScoreOptions(protocol=options.protocol, metrics=metrics, join=options.join, work=options.work)
    scores = scores_in_pass(reading, scoring)
    whole = _Whole()
    answers = reading.look(partial(_look, plan), take=whole.add)

    def finish() -> Overlap:
        answers.check()
        return _together(reading.corpus.name, plan, options, scores(), whole)

    return finish


def _subsets(corpus: Corpus, runs: Sequence[Run]) -> tuple[Subset, ...]:
    """Present and absent apart, where the documents have a text to tell them by."""
    return ("present", "absent", "all") if has_texts(corpus, runs) else ("all",)


# ---------------------------------------------------------------------------------------------- one chunk


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is computed on every chunk."""

    systems: tuple[str, ...]
    protocols: tuple[Protocol, ...]
    requests: dict[str, list[Request]]  # by protocol
    subsets: tuple[Subset, ...]
    at_least: int
    k: float

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Every two systems."""
        return combinations(range(len(self.systems)), 2)

    def votes(self, how: How) -> int:
        """How many systems must have a phrase."""
        count = len(self.systems)
        return {"union": 1, "intersection": count, "majority": count // 2 + 1}[how]


@dataclass(frozen=True, slots=True)
class _Part:
    """What a chunk gives back."""

    counts: dict[tuple[int, int, int, Subset], Ints]  # (a, b, protocol, subset) -> [documents, 3]
    there: Bools  # [documents, systems]: whether a document is in a run, or is taken as if it were
    rows: dict[tuple[int, int], list[Rows]]  # by votes, protocol and request
    lacked: list[tuple[str, str, tuple[str, ...]]]


def _look(plan: _Plan, view: View) -> _Part:
    there = np.ones((len(view), len(plan.systems)), dtype=bool)
    for s in range(len(plan.systems)):
        there[view.left_out(s), s] = False
    everywhere: Bools = np.asarray(there.all(axis=1))
    counts: dict[tuple[int, int, int, Subset], Ints] = {}
    rows: dict[tuple[int, int], list[Rows]] = {}
    lacked: list[tuple[str, str, tuple[str, ...]]] = []
    for p, (protocol, requests) in enumerate(zip(plan.protocols, plan.requests.values(), strict=True)):
        aligned = [view.aligned(s, protocol) for s in range(len(plan.systems))]
        fused = fuse(aligned, plan.k)
        counts |= {(a, b, p, s): found for (a, b, s), found in _counts(plan, aligned, fused)}
        rows |= {(votes, p): found for votes, found in _scored(plan, requests, aligned, fused, everywhere)}
        if p == 0:
            lacked = list(_lacked(plan, view.ids, aligned, fused))
    return _Part(counts, there, rows, lacked)


def _counts(plan: _Plan, aligned: Sequence[Aligned], fused: Fused) -> Iterator[tuple[tuple[int, int, Subset], Ints]]:
    """For each pair and subset, by document: how many phrases both have right, both have wrong, either has."""
    documents = aligned[0].documents
    for subset in plan.subsets:
        right = _is_reference(fused, aligned[0], subset)
        has = fused.has.copy()
        for s, each in enumerate(aligned):
            has[:, s] &= each.predictions_in(subset)[fused.rows[:, s]] if len(each.predictions.document) else False
        for a, b in plan.pairs():
            both = has[:, a] & has[:, b]
            masks = (both & right, both & ~right, has[:, a] | has[:, b])
            found = [np.bincount(fused.document[mask], minlength=documents) for mask in masks]
            yield (a, b, subset), np.stack(found, axis=1)


def _is_reference(fused: Fused, aligned: Aligned, subset: Subset) -> Bools:
    """Whether each phrase is a reference of the subset, by any of its variants."""
    r, width = aligned.references, len(aligned.prepared.table)
    variant = aligned.variants_in(subset)
    keys = r.document[r.variant_reference[variant]] * width + r.variant_phrase[variant]
    return lookup(fused.document * width + fused.phrase, keys)[0]


def _scored(
    plan: _Plan, requests: Sequence[Request], aligned: Sequence[Aligned], fused: Fused, there: Bools
) -> Iterator[tuple[int, list[Rows]]]:
    """The rows of what so many systems predict together."""
    for votes in dict.fromkeys(map(plan.votes, HOW)):
        together = as_aligned(fused.take(fused.votes >= votes), aligned)
        yield votes, [Rows(request.rows(together).values * there[:, None]) for request in requests]


def _lacked(
    plan: _Plan, ids: Sequence[str], aligned: Sequence[Aligned], fused: Fused
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """(document, phrase, systems) of what enough systems have and no reference is."""
    found = fused.take((fused.votes >= plan.at_least) & ~_is_reference(fused, aligned[0], "all"))
    surfaces = [surface.strip() for surface in aligned[0].prepared.surfaces]
    shown = found.of_each([each.predictions.surface for each in aligned])
    kinds = map(tuple, np.unique(found.has, axis=0).tolist())
    who = {key: tuple(compress(plan.systems, key)) for key in kinds}  # one for all phrases of the same systems
    for d, surface, has in zip(found.document.tolist(), shown.tolist(), map(tuple, found.has.tolist()), strict=True):
        yield ids[d], surfaces[surface], who[has]


# ---------------------------------------------------------------------------------------------- all chunks


class _Whole:
    """What all chunks so far give."""

    def __init__(self) -> None:
        self.counts: dict[tuple[int, int, int, Subset], list[Ints]] = {}
        self.there: list[Bools] = []
        self.rows: dict[tuple[int, int], list[GrowingRows]] = {}
        self.lacked: list[tuple[str, str, tuple[str, ...]]] = []
        self.documents = 0

    def add(self, part: _Part) -> None:
        """Takes what the next chunk gives."""
        for key, counts in part.counts.items():
            self.counts.setdefault(key, []).append(counts)
        for way, rows in part.rows.items():
            for held, found in zip(self.rows.setdefault(way, [GrowingRows() for _ in rows]), rows, strict=True):
                held.add(found, self.documents)
        self.there.append(part.there)
        self.lacked += part.lacked
        self.documents += len(part.there)


def _together(corpus: str, plan: _Plan, options: OverlapOptions, results: Results, whole: _Whole) -> Overlap:
    return Overlap(
        corpus,
        len(results.ids),
        plan.systems,
        options,
        tuple(_pairs(plan, options, whole)),
        tuple(_scores(corpus, plan, whole)),
        results,
        tuple(whole.lacked),
        (*results.notes, *(() if "present" in plan.subsets else (NO_SUBSETS,))),
    )


def _pairs(plan: _Plan, options: OverlapOptions, whole: _Whole) -> Iterator[Pair]:
    there = np.concatenate(whole.there)
    for a, b in plan.pairs():
        for p, protocol in enumerate(plan.requests):
            for subset in plan.subsets:
                correct, wrong, either = np.concatenate(whole.counts.pop((a, b, p, subset))).T
                defined = there[:, a] & there[:, b] & ((either > 0) | (options.empty == "zero"))
                yield Pair(plan.systems[a], plan.systems[b], protocol, subset, correct, wrong, either, defined)


def _scores(corpus: str, plan: _Plan, whole: _Whole) -> Iterator[Score]:
    for how in HOW:
        for p, (protocol, requests) in enumerate(plan.requests.items()):
            for request, rows in zip(requests, whole.rows[plan.votes(how), p], strict=True):
                yield Score(corpus, how, protocol, request, rows.whole())
