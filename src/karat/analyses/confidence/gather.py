"""The predictions of runs with their confidences, gathered from all chunks as columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from karat.analyses.confidence.result import ConfidenceOptions
from karat.analyses.score import ScoreOptions, pass_for
from karat.analyses.score import in_pass as scores_in_pass
from karat.corpus import Corpus, Run
from karat.matching.columns import Aligned, Bools, Floats, Ints, Subset
from karat.matching.inputs import as_list, as_protocols
from karat.matching.passes import Pass, View
from karat.matching.sanity import has_texts
from karat.metrics.confidence import ANY, check_confidences, confidences, correct, faulty, totals
from karat.protocol import Protocol
from karat.results import Results

POSITIONS = 5  # of a phrase's tokens
SHOWN = 3  # predictions with a fault that are named in a note


@dataclass(frozen=True, slots=True)
class Sure:
    """The predictions of a system that have a confidence, under one protocol; and what is left out."""

    document: Ints
    confidence: Floats
    kpp: Floats
    rank: Ints  # in the run's own list, from 0
    tokens: Floats  # [predictions, POSITIONS]: the probabilities of the first tokens, NaN where there are fewer
    within: Mapping[Subset, Bools]
    correct: Mapping[Subset, Bools]
    left_out: Mapping[Subset, int]
    totals: Mapping[Subset, Ints]  # what ECE is divided by, by document, where the protocol says it
    faults: Mapping[int, int]  # how many predictions have each
    examples: Mapping[int, tuple[tuple[str, str], ...]]  # (document, phrase) of the first with each fault
    sources: frozenset[str]


Gathered = dict[tuple[int, int], Sure]  # by system and protocol


def in_pass(reading: Pass, options: ConfidenceOptions) -> Callable[[], tuple[Results, Gathered]]:
    """Registers what confidences need of a pass: what `score` says, and the predictions with their confidences."""
    source, any_scores = options.confidence or ANY, options.confidence != "scores"
    corpus, runs = reading.corpus, reading.runs
    subsets: tuple[Subset, ...] = ("all", "present", "absent") if has_texts(corpus, runs) else ("all",)
    check_confidences(runs, source, any_scores)
    scoring = ScoreOptions(protocol=options.protocol, metrics=["p@M"], join=options.join, work=options.work)
    results = scores_in_pass(reading, scoring)
    protocols = as_protocols(as_list(options.protocol), options.join.language)
    answers = reading.look(partial(_look, protocols, subsets, source, any_scores))

    def finish() -> tuple[Results, Gathered]:
        parts = answers.parts
        starts = np.cumsum([0, *(documents for documents, _ in parts)])[:-1].tolist()
        return results(), {
            key: _joined([found[key] for _, found in parts], starts, subsets)
            for key in sorted(parts[0][1] if parts else ())
        }

    return finish


def gather(corpus: Corpus, runs: Sequence[Run], options: ConfidenceOptions) -> tuple[Results, Gathered]:
    """What `score` says of the runs, and their predictions with confidences, from a pass of their own."""
    return pass_for(in_pass, corpus, runs, options)


def _look(
    protocols: tuple[Protocol, ...], subsets: tuple[Subset, ...], source: str, any_scores: bool, view: View
) -> tuple[int, Gathered]:
    return len(view), {
        (s, p): _sure(view.aligned(s, protocol), subsets, (source, any_scores), view.ids)
        for s in range(len(view.setup.systems))
        for p, protocol in enumerate(protocols)
    }


def _sure(aligned: Aligned, subsets: tuple[Subset, ...], source: tuple[str, bool], ids: Sequence[str]) -> Sure:
    p, given = aligned.predictions, confidences(aligned, *source)
    kept = aligned.ranked("all").row
    row = kept[given.fault[kept] == 0]
    right_ones: dict[Subset, Bools] = {}
    within: dict[Subset, Bools] = {}
    left_out: dict[Subset, int] = {}
    for subset in subsets:
        ranked = aligned.ranked(subset)
        there, right = np.zeros((2, len(p.document)), dtype=bool)
        there[ranked.row], right[ranked.row] = True, correct(aligned, ranked)
        within[subset], right_ones[subset] = there[row], right[row]
        left_out[subset] = int((given.fault[ranked.row] > 0).sum())
    counted = {subset: totals(aligned, subset) for subset in subsets}
    wrong = list(faulty(aligned, "all", *source))
    surfaces = list(aligned.prepared.surfaces) if wrong else []
    place = np.arange(POSITIONS)
    inside = place < given.tokens[row, None]
    tokens = np.append(given.probs, np.nan)[np.where(inside, given.first[row, None] + place, len(given.probs))]
    return Sure(
        p.document[row],
        given.value[row],
        given.kpp[row],
        p.source[row],
        np.minimum(tokens, 1.0),
        within,
        right_ones,
        left_out,
        {subset: total for subset, total in counted.items() if total is not None},
        Counter(fault for _, _, fault in wrong),
        _first([(fault, (ids[document], surfaces[surface].strip())) for document, surface, fault in wrong]),
        given.sources,
    )


def _first(faulty: Sequence[tuple[int, tuple[str, str]]]) -> dict[int, tuple[tuple[str, str], ...]]:
    """The first predictions with each fault."""
    found: dict[int, tuple[tuple[str, str], ...]] = {}
    for fault, prediction in faulty:
        if len(found.setdefault(fault, ())) < SHOWN:
            found[fault] += (prediction,)
    return found


def _joined(parts: Sequence[Sure], starts: Sequence[int], subsets: tuple[Subset, ...]) -> Sure:
    """The parts one after the other, the documents counted through."""
    faults: Counter[int] = Counter()
    for part in parts:
        faults.update(part.faults)
    return Sure(
        np.concatenate([part.document + start for part, start in zip(parts, starts, strict=True)]),
        np.concatenate([part.confidence for part in parts]),
        np.concatenate([part.kpp for part in parts]),
        np.concatenate([part.rank for part in parts]),
        np.concatenate([part.tokens for part in parts]),
        {subset: np.concatenate([part.within[subset] for part in parts]) for subset in subsets},
        {subset: np.concatenate([part.correct[subset] for part in parts]) for subset in subsets},
        {subset: sum(part.left_out[subset] for part in parts) for subset in subsets},
        {subset: np.concatenate([part.totals[subset] for part in parts]) for subset in parts[0].totals},
        faults,
        _first([(fault, one) for part in parts for fault, some in part.examples.items() for one in some]),
        frozenset[str]().union(*(part.sources for part in parts)),
    )
