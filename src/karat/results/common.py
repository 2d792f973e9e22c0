"""Results restricted to the documents that all runs of a corpus have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from karat.errors import InputError, counted
from karat.matching.columns import Bools
from karat.metrics.base import Rows
from karat.results import Results, Score, corpus_of
from karat.tabular import number

LEFT_OUT = "which are left out of all runs"
FEW_COMMON = 0.8  # share of common documents below which a note names a run to drop


def on_common_documents(results: Sequence[Results]) -> tuple[list[Results], list[str]]:
    """Restrict results to the documents that all runs of their corpus have; return them with notes.

    Raises InputError if the runs of a corpus have no document in common.
    """
    corpora: dict[str, list[Results]] = {}
    for each in results:
        if each.scores:
            corpora.setdefault(corpus_of(each), []).append(each)
    lacking = {name: _lacking(parts) for name, parts in corpora.items()}
    notes = [note for name, parts in corpora.items() for note in _notes(name, parts, lacking[name])]
    restricted = [
        _restrict(each, lacking[corpus_of(each)]) if each.scores and lacking[corpus_of(each)] else each
        for each in results
    ]
    return restricted, notes


def _lacking(parts: Sequence[Results]) -> dict[str, list[int]]:
    """Return the documents that each run lacks, for runs that lack some and for which they are left out."""
    return {system: list(places) for part in parts for system, places in part.lacking.items() if places}


def _restrict(results: Results, lacking: dict[str, list[int]]) -> Results:
    gone = np.zeros(len(results.ids), dtype=bool)
    for places in lacking.values():
        gone[places] = True
    if gone.all():
        raise InputError(f"{corpus_of(results)}: the runs have no document in common: {_most(lacking)} lacks the most")
    everyone = dict.fromkeys([*lacking, *(score.system for score in results.scores)])
    left_out = tuple(np.flatnonzero(gone).tolist())
    return replace(
        results,
        scores=tuple(replace(score, rows=_without(score.rows, gone)) for score in results.scores),
        lacking=dict.fromkeys(everyone, left_out),
    )


def _without(rows: Rows, gone: Bools) -> Rows:
    """Make the rows of some documents undefined."""
    if rows.units is None:
        return Rows(np.where(gone[:, None], 0.0, rows.values))
    kept = ~gone[rows.units].reshape(len(rows.units), -1).any(axis=1)
    return Rows(rows.values[kept], rows.units[kept])


def _most(lacking: dict[str, list[int]]) -> str:
    return max(lacking, key=lambda system: len(lacking[system]))


def _notes(corpus: str, parts: Sequence[Results], lacking: dict[str, list[int]]) -> Iterator[str]:
    """Say how many documents each run lacks, how the others score on those, and which run to drop."""
    documents = len(parts[0].ids)
    systems = {score.system for part in parts for score in part.scores}
    if len({tuple(lacking.get(system, ())) for system in systems}) == 1:  # nothing is left out of another run
        return
    for system, places in lacking.items():
        scores = "".join(_elsewhere(parts, system, places))
        yield (
            f"warning: {corpus}: {system} lacks {len(places):,} of {counted(documents, 'document')}, {LEFT_OUT}{scores}"
        )
    gone = {place for places in lacking.values() for place in places}
    common = documents - len(gone)
    if lacking and common < FEW_COMMON * documents:
        worst = _most(lacking)
        others = {place for system, places in lacking.items() if system != worst for place in places}
        yield (
            f"warning: {corpus}: only {common:,} of {counted(documents, 'document')} are in all runs; without {worst} "
            f"there are {documents - len(others):,}"
        )


def _elsewhere(parts: Sequence[Results], system: str, places: Sequence[int]) -> Iterator[str]:
    """Say how the other systems score on the documents that a run lacks, by the first metric of each."""
    missing = np.zeros(len(parts[0].ids), dtype=bool)
    missing[list(places)] = True
    shown = []
    first: dict[str, Score] = {}
    for score in (score for part in parts for score in part.scores):
        first.setdefault(score.system, score)
    for name, score in first.items():
        value = score.request.value(_without(score.rows, ~missing)) if name != system else np.nan
        if value == value:
            others = score.request.value(_without(score.rows, missing))
            shown.append(f"{name} {number(value)} (on the others {number(others)})")
    if shown:
        request = next(iter(first.values())).request
        yield f"; {request.label}:{request.subset} on these: {', '.join(shown)}"
