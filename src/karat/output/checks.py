"""A check as text: each score beside what it was checked by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from karat.analyses.check import Check, Checked, metric_text
from karat.output.comparisons import CORRECTIONS, by_tests
from karat.output.grids import Row, grid, paragraphs, wrap
from karat.output.markup import Grid, Heading, Part, noted
from karat.output.papers import Printed
from karat.table import BOUND, number, p_value, signed

CSV_FIELDS = (
    "check",
    "corpus",
    "system",
    "protocol",
    "metric",
    "options",
    "subset",
    "average",
    "value",
    "against",
    "difference",
    "p",
    "adjusted",
    "passed",
    "test",
    "at_floor",
    "adjusted_at_floor",
)
COLUMNS = ["value", "against", "difference", "p", "passed"]
KINDS = {"min": "floor", "max": "ceiling", "no-worse-than": "older"}


def heading(found: Check) -> str:
    """What was checked, and what came of it."""
    failed = len(found.failures)
    verdict = "everything passes" if not failed else f"{failed:,} of {len(found.checked):,} checks fail"
    return f"{found.checked[0].corpus}, {found.documents:,} documents: {verdict}"


def tested(found: Check) -> str:
    """Which test p is of; empty where nothing was compared."""
    options = found.options
    compared = sum(each.p is not None for each in found.checked)
    if not compared:
        return ""
    bound = f" {BOUND}" if any(each.adjusted_at_floor for each in found.checked) else ""
    return (
        f"p: {by_tests(options.test, (each.test for each in found.checked))}, two-sided, adjusted over {compared:,} "
        f"({CORRECTIONS[options.correction]}); what is worse with an adjusted p of at most {options.alpha:g} fails."
        f"{bound}"
    )


def rows(found: Check) -> list[Row]:
    """Below each system and protocol a row a check."""
    out: list[Row] = []
    for system, protocol in dict.fromkeys((each.system, each.protocol) for each in found.checked):
        out.append((f"{system}, {protocol}", [""] * len(COLUMNS)))
        own = [each for each in found.checked if (each.system, each.protocol) == (system, protocol)]
        out += [(f"  {KINDS[each.kind]} {metric_text(each.request)}", _cells(each)) for each in own]
    return out


def _cells(each: Checked) -> list[str]:
    p = "" if each.adjusted is None else p_value(each.adjusted, each.adjusted_at_floor)
    difference = each.value - each.against
    apart = "–" if difference != difference else signed(difference)
    return [number(each.value), number(each.against), apart, p, "yes" if each.passed else "no"]


def terminal(found: Check) -> str:
    """The table, at most 80 columns wide."""
    parts = ["\n".join(wrap(heading(found), "  ")), *grid("check", COLUMNS, rows(found))]
    parts += filter(None, [paragraphs(filter(None, [tested(found)]))])
    parts += filter(None, [paragraphs(f"note: {note}" for note in found.notes)])
    return "\n\n".join(parts) + "\n"


def parts(found: Check) -> Iterator[Part]:
    """A table."""
    yield Heading(heading(found))
    yield Grid("check", COLUMNS, rows(found))
    if tested(found):
        yield tested(found)
    yield from noted(found.notes)


def printed(found: Check) -> Iterator[Printed]:
    """A table."""
    caption = " ".join(filter(None, [f"{heading(found)}.", tested(found)]))
    yield Printed(caption, ["check", *COLUMNS], [rows(found)])


def csv_rows(found: Check) -> Iterator[dict[str, Any]]:
    """A row a check, flat."""
    for row in found.rows():
        yield row | {"options": ",".join(f"{name}={value}" for name, value in row["options"].items())}
