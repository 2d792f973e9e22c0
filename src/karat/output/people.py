"""Metrics against people as text: the metrics with their ceiling, subsets, annotators, comparisons, near misses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from karat.analyses.human.result import TESTS, Comparison, Correlation, Human
from karat.output.grids import Row, grid, paragraphs, wrap
from karat.output.markup import Grid, Heading, Items, Part, noted
from karat.output.papers import Printed
from karat.similarity.classes import CLASSES
from karat.stats.correlation import COEFFICIENTS
from karat.table import number, p_value, signed

CEILING = "people (ceiling)"
ITEMS = {"sets": "sets of keyphrases", "pairs": "pairs of phrases"}
CSV_FIELDS = (
    "row",
    "metric",
    "options",
    "subset",
    "n",
    *(f"{name}{end}" for name in COEFFICIENTS for end in ("", "_low", "_high")),
)

Table = tuple[str, str, list[str], list[Row]]  # what it shows, its corner, its columns, its rows


# ---------------------------------------------------------------------------------------------- words


def heading(found: Human) -> str:
    """What the tables are of."""
    count = len(found.names)
    annotators = f"{count} annotators, combined by {found.options.combine}" if count > 1 else "1 annotator"
    protocol = f", protocol {found.options.protocol}" if found.kind == "sets" else ""
    return f"{found.origin}: {found.items:,} {ITEMS[found.kind]}, {annotators}{protocol}"


def legend(found: Human) -> list[str]:
    """What the brackets, the mark and the last row are."""
    options = found.options
    level = f"{100 * options.level:.4g} %"
    said = [f"In brackets: {level} intervals of {options.resamples:,} resamples, seed {options.seed}."]
    if found.best:
        said.append(f"* goes best with people, by {found.coefficient}.")
    if found.agreement.ceilings:
        said.append(f"{CEILING}: one annotator with the others, the mean over annotators.")
    return said


def agreement(found: Human) -> str:
    """How far annotators agree; nothing where there is but one."""
    if not found.people:
        return ""
    told = found.agreement
    equal = [f"at least {s.annotators} on {s.share:.0%} of {s.n:,} items" for s in told.exact]
    alpha = f"Krippendorff's alpha ({told.level_of_scale}) {number(told.alpha)}."
    return f"Agreement: {alpha} Annotators who give the same score: {', '.join(equal)}."


# ---------------------------------------------------------------------------------------------- tables


def tables(found: Human) -> Iterator[Table]:
    """All tables but the first; those with nothing to show are left out."""
    if len({row.subset for row in found.correlations}) > 1 and found.kind == "pairs":
        yield f"{found.coefficient} in each subset:", "subset", *subset_table(found)
    if found.people:
        rows: list[Row] = [(_shown(each.name) or "(no name)", _cells(each)) for each in found.people]
        yield "Each annotator with all others:", "annotator", ["n", *COEFFICIENTS], rows
    if found.compared:
        title = f"Against {found.compared[0].against}: difference of {found.coefficient}; p of it by bootstrap, and of"
        title += " pearson by Williams' test, each beside its adjustment over the metrics (Holm)"
        floored = any(any((*each.at_floor, *each.adjusted_at_floor)) for each in found.compared)
        title += "; ≤ where the resamples cannot make p smaller:" if floored else ":"
        columns = ["difference", "p", "Holm", "Williams", "Holm"]
        yield title, "metric", columns, [(each.name, _comparison(found, each)) for each in found.compared]
    if found.means:
        yield "Mean score (and pairs) by where the shared words are:", "prediction is", *class_table(found)


def metric_rows(found: Human) -> tuple[list[Row], list[Row]]:
    """The rows of the metrics on all items, and that of the ceiling."""
    own = [row for row in found.correlations if row.subset == "all" or found.kind == "sets"]
    ceilings = [(CEILING, _cells(each.mean)) for each in found.agreement.ceilings if each.mean.subset == "all"]
    return [(row.name + "*" * (row.name in found.best), _cells(row)) for row in own], list(ceilings)


def _cells(row: Correlation) -> list[str]:
    pairs = zip(row.values, row.intervals, strict=True)
    return [f"{row.n:,}", *(_with_interval(number(value), limits) for value, limits in pairs)]


def _with_interval(value: str, limits: tuple[float, float]) -> str:
    low, high = map(_two_digits, limits)
    return value if low == "–" else f"{value} [{low}, {high}]"


def _two_digits(value: float) -> str:
    """A number to two digits, without the zero before the point.

    >>> _two_digits(0.456), _two_digits(-0.001), _two_digits(float("nan"))
    ('.46', '.00', '–')
    """
    return "–" if value != value else f"{value:.2f}".replace("-0.00", "0.00").replace("0.", ".", 1)


def subset_table(found: Human) -> tuple[list[str], list[Row]]:
    """One coefficient: subsets down, metrics and the ceiling across."""
    which = COEFFICIENTS.index(found.coefficient)
    names = list(dict.fromkeys(row.name for row in found.correlations))
    ceilings = {each.mean.subset: number(each.mean.values[which]) for each in found.agreement.ceilings}
    rows: dict[str, list[Correlation]] = {}
    for row in found.correlations:
        rows.setdefault(row.subset, []).append(row)
    body: list[Row] = []
    for subset, own in rows.items():
        values = [number(row.values[which]) for row in own]
        body.append((subset, [f"{own[0].n:,}", *values, *([ceilings[subset]] if ceilings else [])]))
    return ["n", *names, *(["people"] if ceilings else [])], body


def class_table(found: Human) -> tuple[list[str], list[Row]]:
    """Mean scores: locations down, directions across."""
    means = {(each.location, each.direction): f"{each.mean:.2f} ({each.n:,})" for each in found.means}
    directions = [d for d in CLASSES["direction"] if any(direction == d for _, direction in means)]
    locations = [each for each in CLASSES["location"] if any(location == each for location, _ in means)]
    return directions, [(each, [means.get((each, d), "–") for d in directions]) for each in locations]


def _comparison(found: Human, row: Comparison) -> list[str]:
    which, by_williams = TESTS.index(found.coefficient), TESTS.index("williams")
    return [
        _with_interval(signed(row.differences[which]), row.intervals[which]),
        *(
            p_value(p[test], floored[test])
            for test in (which, by_williams)
            for p, floored in ((row.p, row.at_floor), (row.adjusted, row.adjusted_at_floor))
        ),
    ]


def _shown(name: str) -> str:
    """A name on one line, without what could move a terminal's cursor."""
    return "".join(letter if letter.isprintable() else "�" for letter in " ".join(name.split()))


# ---------------------------------------------------------------------------------------------- formats


def terminal(found: Human) -> str:
    """The tables, at most 80 columns wide; columns that do not fit go on below."""
    rows, ceilings = metric_rows(found)
    parts = ["\n".join(wrap(_shown(heading(found)), "  "))]
    parts += grid("metric", ["n", *COEFFICIENTS], [*rows, *ceilings])
    parts.append(paragraphs(legend(found)))
    for title, corner, columns, body in tables(found):
        parts += [paragraphs([title]), *grid(corner, columns, body)]
    parts += filter(None, [paragraphs(filter(None, [agreement(found)]))])
    if found.notes:
        parts.append(paragraphs(f"note: {_shown(note)}" for note in found.notes))
    return "\n\n".join("\n".join(line.rstrip() for line in part.splitlines()) for part in parts) + "\n"


def parts(found: Human) -> Iterator[Part]:
    """The tables, what they are below the first."""
    rows, ceilings = metric_rows(found)
    yield Heading(heading(found))
    yield Grid("metric", ["n", *COEFFICIENTS], [*rows, *ceilings])
    yield Items(legend(found))
    for title, corner, columns, body in tables(found):
        yield title
        yield Grid(corner, columns, body)
    if agreement(found):
        yield agreement(found)
    yield from noted(found.notes)


def printed(found: Human) -> Iterator[Printed]:
    """A table of the metrics and the ceiling, and one of the subsets where there are several."""
    rows, ceilings = metric_rows(found)
    said = " ".join([f"{heading(found)}.", *legend(found), agreement(found)]).strip()
    yield Printed(said, ["metric", "n", *COEFFICIENTS], [rows, ceilings])
    for title, corner, columns, body in tables(found):
        if corner == "subset":
            yield Printed(f"{heading(found)}: {title.rstrip(':')}.", [corner, *columns], [body])


def csv_rows(found: Human) -> Iterator[dict[str, Any]]:
    """One dict a line: the metrics, the ceilings, the annotators."""
    for row in found.correlations:
        options = ",".join(f"{name}={value}" for name, value in row.options.items())
        yield _csv_row("metric", row.metric, options, row)
    for ceiling in found.agreement.ceilings:
        yield _csv_row("ceiling", "", "", ceiling.mean)
    for annotator in found.people:
        yield _csv_row("annotator", annotator.name, "", annotator)


def _csv_row(kind: str, name: str, options: str, row: Correlation) -> dict[str, Any]:
    figures: Sequence[tuple[str, float]] = [
        (f"{coefficient}{end}", value)
        for coefficient, own, limits in zip(COEFFICIENTS, row.values, row.intervals, strict=True)
        for end, value in zip(("", "_low", "_high"), (own, *limits), strict=True)
    ]
    plain = {field: None if value != value else value for field, value in figures}
    return {"row": kind, "metric": name, "options": options, "subset": row.subset, "n": row.n, **plain}
