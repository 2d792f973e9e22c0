"""Ensembles: one run of several, by reciprocal rank fusion, by votes or one behind the other, or with the present
phrases of one run and the absent ones of another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from karat.corpus import Batch, Corpus, Document, Prediction, Run
from karat.errors import InputError, counted
from karat.formats.base import quoted
from karat.matching.columns import Aligned, Bools, Floats, position
from karat.matching.fusing import By, Fused, K, checked_k, checked_votes, fuse
from karat.matching.inputs import CorpusLike, OneRun, ProtocolLike, RunLike, as_corpus, as_protocols, as_runs
from karat.matching.join import Join, has_id
from karat.matching.passes import Pass, View
from karat.options import (
    Progress,
    WorkOptions,
    group,
    language_option,
    option,
    options_from,
    path_option,
    protocol_option,
    public,
)
from karat.protocol import Protocol


@dataclass(frozen=True, slots=True)
class EnsembleOptions:
    """How an ensemble is made."""

    by: By = option(
        "rrf",
        "Order by reciprocal rank fusion, by how many runs have a phrase, or run after run: the list of the first, and "
        "behind it what the next ones add.",
        values=("rrf", "vote", "run"),
    )
    k: float = option(K, "A phrase gains 1/(K + rank) of a run.", metavar="K")
    at_least: int = option(1, "Only phrases that N runs have.", least=1, metavar="N")
    present: OneRun | None = path_option("Take present phrases from this run...", "RUN")
    absent: OneRun | None = path_option("...and absent ones from this.", "RUN")
    corpus: CorpusLike | None = path_option("The documents, in which is seen what is present.", "CORPUS")
    protocol: ProtocolLike = protocol_option("Convention by which phrases are equal, and present.")
    language: str | None = language_option()
    work: WorkOptions = group(WorkOptions)
    name: str = option("ensemble", "The name of the run.", command=False)


@dataclass(frozen=True, slots=True)
class Made:
    """A run that was made of others, and what a reader should know of it."""

    run: Run
    notes: tuple[str, ...]


@public(EnsembleOptions)
def ensemble(
    *runs: RunLike,
    by: By = "rrf",
    k: float = K,
    at_least: int = 1,
    present: OneRun | None = None,
    absent: OneRun | None = None,
    corpus: CorpusLike | None = None,
    protocol: ProtocolLike = "karat",
    language: str | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
    name: str = "ensemble",
) -> Run:
    """One run of several: by ranks, by votes, or with the present phrases of one run and the absent ones of another.

    Raises InputError if there are fewer than two runs, or if they are not over the same documents.

    >>> a = Run.of([{"id": "1", "keyphrases": ["deep nets", "trees"]}], name="a")
    >>> b = Run.of([{"id": "1", "keyphrases": ["graphs", "deep net"]}], name="b")
    >>> [prediction.keyphrases for prediction in ensemble(a, b)]
    [['deep nets', 'graphs', 'trees']]
    >>> [prediction.keyphrases for prediction in ensemble(a, b, at_least=2)]
    [['deep nets']]
    """
    return make(runs, options_from(EnsembleOptions, locals())).run


def make(runs: Sequence[RunLike], options: EnsembleOptions) -> Made:
    """The ensemble, with notes."""
    systems = as_runs(_runs_of(runs, options))
    checked_k(options.k)
    checked_votes(options.at_least, len(systems))
    listed = [(batch.ids, batch.places) for batch in systems[0].ahead()]
    ids = [identifier for some, _ in listed for identifier in some]
    _check_documents(systems, ids)
    corpus = _documents(systems[0], listed) if options.corpus is None else as_corpus(options.corpus)
    [protocol] = as_protocols([options.protocol], options.language)
    plan = _Plan(protocol, options.by, options.k, options.at_least, options.present is not None)
    reading = Pass(corpus, systems, Join(None, "skip"), jobs=options.work.jobs, progress=options.work.progress)
    answers = reading.look(partial(_look, plan))
    reading.run()
    made = [entry for part in answers.parts for entry in part.made]
    dropped = [sum(part.dropped[s] for part in answers.parts) for s in range(len(systems))]
    ordered = _in_order(made, ids) if has_id(systems[0]) else [prediction for _, prediction in made]
    origin = f"the ensemble of {', '.join(run.name for run in systems)}"
    run = replace(Run.of(ordered, options.name), origin=origin)
    return Made(run, tuple(_notes(systems, dropped, ordered)))


def _runs_of(runs: Sequence[RunLike], options: EnsembleOptions) -> Sequence[RunLike]:
    """The runs of the ensemble. Raises InputError if the runs and options do not go together."""
    of_kinds = [each for each in (options.present, options.absent) if each is not None]
    if not of_kinds:
        if len(runs) < 2:
            raise InputError(f"an ensemble is of two runs or more, not of {len(runs)}")
        return runs
    if len(of_kinds) < 2 or runs:
        raise InputError(
            "the present phrases of one run and the absent ones of another are asked for by --present RUN and "
            "--absent RUN, both, and no further run"
        )
    if options.corpus is None:
        raise InputError("what is present is seen in the documents: give them with --corpus")
    if options.at_least > 1:
        raise InputError("a phrase is present or absent, so no two of these lists have it; leave out --at-least")
    return of_kinds


# ---------------------------------------------------------------------------------------------- documents


def _check_documents(runs: Sequence[Run], ids: Sequence[str | None]) -> None:
    """Raises InputError if runs are not over the same documents; `ids` are those of the first."""
    first = runs[0]
    by_id = all(map(has_id, runs))
    for run in runs[1:]:
        if not by_id:
            if len(run) != len(ids):
                raise InputError(
                    f"{run.origin} has {counted(len(run), 'document')} and {first.origin} {len(ids):,}; without ids "
                    "they are matched line by line, so both need as many"
                )
            continue
        there = run.ids
        for have, lack, who, whose in ((ids, there, run, first), (there, ids, first, run)):
            lacking = set(have) - set(lack)
            if lacking:
                one = next(identifier for identifier in have if identifier in lacking)
                raise InputError(
                    f"{who.origin}: no predictions for document {quoted(one or '')} of {whose.origin} "
                    f"({len(lacking):,} such); an ensemble is of runs over the same documents"
                )


Listed = list[tuple[list[str | None], Sequence[int]]]  # the ids and places of each batch


def _documents(run: Run, listed: Listed) -> Corpus:
    """The run's documents, of which nothing but the ids is known."""
    return Corpus(run.name, partial(_bare_documents, listed), run.origin)


def _bare_documents(listed: Listed) -> Iterator[Batch[Document]]:
    for ids, places in listed:
        yield Batch(ids, [Document(id=identifier) for identifier in ids], places)


def _in_order(made: Sequence[tuple[str, Prediction]], ids: Sequence[str | None]) -> list[Prediction]:
    """The predictions in the order of the first run's ids, which a corpus may not have."""
    found = dict(made)
    return [found[identifier] for identifier in ids if identifier is not None and identifier in found]


def _notes(runs: Sequence[Run], dropped: Sequence[int], made: Sequence[Prediction]) -> Iterator[str]:
    if not all(map(has_id, runs)):
        yield f"{', '.join(run.name for run in runs)}: matched line by line, since not all have ids"
    for run, count in zip(runs, dropped, strict=True):
        if count:
            yield f"{run.name}: {counted(count, 'prediction')} left out, invalid under the protocol"
    empty = sum(not prediction.keyphrases for prediction in made)
    if empty:
        yield f"{empty:,} of {counted(len(made), 'document')} have no phrase"


# ---------------------------------------------------------------------------------------------- one chunk


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is done with every chunk."""

    protocol: Protocol
    by: By
    k: float
    at_least: int
    split: bool  # whether present phrases are those of the first run and absent ones those of the second


@dataclass(frozen=True, slots=True)
class _Part:
    """What a chunk gives back."""

    made: list[tuple[str, Prediction]]  # (id, what the ensemble predicts)
    dropped: list[int]  # by run, predictions that are invalid


def _look(plan: _Plan, view: View) -> _Part:
    columns = [view.aligned(s, plan.protocol) for s in range(len(view.setup.systems))]
    dropped = [int((~each.predictions.valid).sum()) for each in columns]
    return _Part(list(_predictions(view, columns, plan)), dropped)


def _predictions(view: View, columns: Sequence[Aligned], plan: _Plan) -> Iterator[tuple[str, Prediction]]:
    """(id, what the ensemble predicts) of the documents that the runs have."""
    chosen: list[Bools] | None = None
    if plan.split:
        chosen = [columns[0].predictions.present, ~columns[1].predictions.present]
    fused = fuse(columns, plan.k, plan.by, chosen)
    fused = fused.take(fused.votes >= plan.at_least)
    surfaces = [surface.strip() for surface in columns[0].prepared.surfaces]
    phrases = [surfaces[n] for n in fused.of_each([each.predictions.surface for each in columns]).tolist()]
    scores = _scores(fused, plan.by).tolist()
    kinds = ["absent" if s else "present" for s in fused.system.tolist()] if chosen else _kinds(view, columns, fused)
    ends = np.cumsum(np.bincount(fused.document, minlength=len(view))).tolist()
    missing = {position for lacking in view.chunk.missing for position in lacking}
    given = view.chunk.documents.ids
    for d, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
        if d not in missing:
            part = slice(start, end)
            yield (
                view.ids[d],
                Prediction(
                    id=given[d],
                    keyphrases=phrases[part],
                    scores=scores[part],
                    kinds=None if None in kinds[part] or start == end else kinds[part],  # type: ignore[arg-type]
                ),
            )


def _scores(fused: Fused, by: By) -> Floats:
    """What the phrases of an ensemble are ordered by; 1 / place where runs come one after the other."""
    if by == "run":
        return np.asarray(1.0 / (position(fused.document) + 1))
    return fused.votes.astype(np.float64) if by == "vote" else fused.score


def _kinds(view: View, columns: Sequence[Aligned], fused: Fused) -> list[str | None]:
    """What the first run that has a phrase says of its kind; None where it says nothing."""
    by_run = [[prediction.kinds for prediction in view.predictions(s)] for s in range(len(columns))]
    if not any(kinds for lists in by_run for kinds in lists):
        return [None] * len(fused.row)
    sources = fused.of_each([each.predictions.source for each in columns])
    places = zip(fused.system.tolist(), fused.document.tolist(), sources.tolist(), strict=True)
    return [kinds[i] if (kinds := by_run[s][d]) else None for s, d, i in places]
