"""The tables of near misses: how much was almost got, by class, with examples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import nan
from typing import Any

import numpy as np

from karat.analyses.nearmiss.result import (
    CROSSED,
    NOTHING,
    Key,
    MissColumns,
    NearMissCounts,
    NearMisses,
    NearMissOptions,
    arrow,
)
from karat.errors import counted
from karat.results.intervals import about_brackets
from karat.similarity.classes import CLASSES
from karat.stats.shares import Interval
from karat.tabular import COUNT, Cell, Column, Group, Row, Table, number, with_ends

DIRECTIONS = tuple(CLASSES["direction"])


def tables_of(result: NearMisses) -> Iterator[Table]:
    """For each system and protocol: how much was almost got, the classes, and examples."""
    head, meaning = _heading(result), _meaning(result.options)
    yield Table(head, about=[meaning])
    for found in result.found:
        name, said = f"{found.system}, protocol {found.protocol}", list(_counts(found, result.side_intervals(found)))
        columns = [*(Column(each, COUNT) for each in (*DIRECTIONS, "all")), Column("share"), Column("score")]
        groups, caption = list(_kinds(found, result)), f"{name}: {head}. {meaning} {' '.join(said)}"
        yield Table(name, "prediction is", columns if found.pairs else (), groups, about=said, caption=caption)
        if shown := list(_examples(found, result.classes())):
            yield Table(about=["Examples, prediction → reference (score):"], items=shown)


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
    relation = f", of the relation {_listed(options)} to it" if options.relation is not None else ""
    brackets = about_brackets(options.confidence.level)
    return f"A near miss: a prediction that is no hit but {near} a missed reference{relation}; {once}. {brackets}"


def _listed(options: NearMissOptions) -> str:
    """The relations that count, in the order of CLASSES."""
    return " or ".join(name for name in CLASSES["relation"] if name in (options.relations() or ()))


def _counts(found: NearMissCounts, intervals: dict[str, Interval]) -> Iterator[str]:
    """How much was missed, and how much of it was almost got."""
    for side, ends, what, almost in (
        (found.predictions, intervals["predictions"], "predictions are no hit", "are near misses"),
        (found.references, intervals["references"], "references are missed", "were almost found"),
    ):
        share = f" ({number(side.share)}{with_ends(ends)})" if side.share is not None else ""
        yield f"{side.unmatched:,} of {side.given:,} {what}; {side.near:,} of these{share} {almost}."


def _kinds(found: NearMissCounts, result: NearMisses) -> Iterator[Group]:
    """For each kind a row for each of its classes; the first also has a row of all."""
    keys, columns = result.classes(), MissColumns.joined(found.columns)

    def cells(some: Sequence[Key]) -> list[Any]:
        *counts, share, score = _class_cells(found, some)
        inside = np.logical_or.reduce([columns.is_in(key) for key in some])
        ends = columns.intervals(inside, result.options.confidence.level)
        of_share = "" if inside.all() else with_ends(ends["share"])
        of_score = with_ends(ends["mean_score"]) if result.options.confidence.intervals else ""
        return [*counts, Cell(share, of_share), Cell(score, of_score)]

    for kind in (kind for kind in CLASSES if kind != "direction"):
        own = [key for key in keys if key[0] == kind]
        rows = [
            Row(name, cells([key for key in own if key[1] == name]))
            for name in dict.fromkeys(value for _, value, _ in own)
        ]
        if own:
            yield Group([*rows, *([Row("all", cells(own))] if kind == CROSSED else [])], kind)


def _class_cells(found: NearMissCounts, keys: Sequence[Key]) -> list[Any]:
    """The pairs by direction where the class is split, all pairs, their share and their mean score."""
    groups = [(key[2], found.groups.get(key, NOTHING)) for key in keys]
    pairs, total = sum(group.pairs for _, group in groups), sum(group.total for _, group in groups)
    crossed = keys[0][0] == CROSSED
    return [
        *(sum(group.pairs for of, group in groups if of == each) if crossed else None for each in DIRECTIONS),
        pairs,
        pairs / found.pairs if found.pairs else nan,
        float(total) / pairs if pairs else nan,
    ]


def _examples(found: NearMissCounts, keys: Sequence[Key]) -> Iterator[str]:
    """The examples of each class; the classes of direction are among the locations."""
    for kind, value, direction in keys:
        shown = found.groups.get((kind, value, direction), NOTHING).examples
        if shown and kind != "direction":
            name = f"{kind} {value}, {direction}" if direction else f"{kind} {value}"
            yield f"{name}: {'; '.join(f'{arrow(x.prediction, x.reference)} ({number(x.score)})' for x in shown)}"
