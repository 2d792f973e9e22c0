"""Intervals as fields of the output: `NAME_ci` in JSON, `NAME_low` and `NAME_high` in CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from karat.stats.shares import UNDEFINED, Interval

ENDS = "_ci"  # how the name of an interval ends in JSON
LOW_AND_HIGH = ("_low", "_high")  # and those of its ends in CSV


def ends_of(interval: Interval | None) -> list[float | None]:
    """Return the ends as the JSON output has them: None where an end is undefined or infinite.

    >>> ends_of((0.25, float("inf"))), ends_of(None)
    ([0.25, None], [None, None])
    """
    return [float(end) if isfinite(end) else None for end in interval or UNDEFINED]


def about_brackets(level: float) -> str:
    """Return what the brackets of a table are.

    >>> about_brackets(0.95)[:61]
    'In brackets: 95 % intervals, with documents as the units. The'
    """
    return (
        f"In brackets: {100 * level:g} % intervals, with documents as the units. They may be too short where fewer "
        "than ten of many documents have a hit."
    )


def with_intervals(row: Mapping[str, Any], intervals: Mapping[str, Interval]) -> dict[str, Any]:
    """Return a row of the JSON output with the interval of each figure behind it.

    >>> with_intervals({"share": 0.5, "pairs": 2}, {"share": (0.25, 0.75)})
    {'share': 0.5, 'share_ci': [0.25, 0.75], 'pairs': 2}
    """
    fields: dict[str, Any] = {}
    for name, value in row.items():
        fields[name] = value
        if name in intervals:
            fields[name + ENDS] = ends_of(intervals[name])
    return fields


def with_low_and_high(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of the CSV output: intervals as two fields.

    >>> with_low_and_high({"share": 0.5, "share_ci": [0.25, 0.75]})
    {'share': 0.5, 'share_low': 0.25, 'share_high': 0.75}
    """
    return dict(_low_and_high(row))


def _low_and_high(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if name.endswith(ENDS):
            yield from zip((name.removesuffix(ENDS) + end for end in LOW_AND_HIGH), value, strict=True)
        else:
            yield name, value


def csv_names(names: Iterable[str], figures: Sequence[str]) -> tuple[str, ...]:
    """Return the fields of the CSV output: those of some figures followed by the ends of their intervals."""
    ends = ("", *LOW_AND_HIGH)
    return tuple(name + end for name in names for end in (ends if name in figures else ends[:1]))
