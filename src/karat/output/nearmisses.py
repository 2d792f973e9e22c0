"""Near misses as text: for each system how much it almost got, a table of the classes, and examples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from karat.analyses.nearmiss import CROSSED, Found, Group, Key, NearMisses
from karat.output.grids import Row, grid, paragraphs, wrap
from karat.output.markup import Grid, Heading, Items, Part, bold, code, noted
from karat.output.papers import Printed
from karat.similarity.classes import CLASSES
from karat.table import number

CSV_FIELDS = ("corpus", "system", "protocol", "kind", "class", "direction", "pairs", "share", "mean_score", "examples")
DIRECTIONS = tuple(CLASSES["direction"])
COLUMNS = (*DIRECTIONS, "all", "share", "score")
CORNER = "prediction is"
NOTHING = Group(0, 0.0, ())


# ---------------------------------------------------------------------------------------------- words


def heading(result: NearMisses) -> str:
    """What the tables are of."""
    options = result.options
    parts = [f"{result.corpus}, {result.documents:,} documents", f"score {options.similarity}"]
    if options.subset != "all":
        parts.append(f"subset {options.subset}")
    if options.cutoff != "M":
        parts.append(f"cutoff {options.cutoff}")
    return ", ".join(parts)


def meaning(result: NearMisses) -> str:
    """What counts as a near miss."""
    threshold = result.options.threshold
    near = "shares a word with" if threshold is None else f"has a score of {threshold:g} or more with"
    once = "every such pair" if result.options.every else "each prediction with the nearest"
    return f"A near miss: a prediction that is no hit but {near} a missed reference; {once}."


def sentences(found: Found) -> Iterator[str]:
    """How much was missed, and how much of it was almost got."""
    for side, what, almost in (
        (found.predictions, "predictions are no hit", "are near misses"),
        (found.references, "references are missed", "were almost found"),
    ):
        share = f" ({number(side.share)})" if side.share is not None else ""
        yield f"{side.unmatched:,} of {side.given:,} {what}; {side.near:,} of these{share} {almost}."


def groups(result: NearMisses, found: Found) -> Iterator[tuple[str, list[Row]]]:
    """(kind, the rows of its classes); the first also has a row of all."""
    keys = result.classes()
    for kind in CLASSES:
        classes = list(dict.fromkeys(value for of, value, _ in keys if of == kind))
        if kind == "direction" or not classes:
            continue
        rows: list[Row] = [(value, _cells(found, _of_class(kind, value), crossed=kind == CROSSED)) for value in classes]
        if kind == CROSSED:
            rows.append(("all", _cells(found, [key for key in keys if key[0] == CROSSED], crossed=True)))
        yield kind, rows


def _of_class(kind: str, value: str) -> list[Key]:
    return [(kind, value, direction) for direction in (DIRECTIONS if kind == CROSSED else (None,))]


def _cells(found: Found, keys: list[Key], crossed: bool) -> list[str]:
    """The pairs by direction where these are told apart, all pairs, their share and their mean score."""
    pairs = {key: found.groups.get(key, NOTHING).pairs for key in keys}
    count, total = sum(pairs.values()), sum(found.groups.get(key, NOTHING).total for key in keys)
    by_direction = [sum(n for key, n in pairs.items() if key[2] == direction) for direction in DIRECTIONS]
    return [
        *(f"{n:,}" if crossed else "" for n in by_direction),
        f"{count:,}",
        number(count / found.pairs if found.pairs else float("nan")),
        number(total / count if count else float("nan")),
    ]


def examples(result: NearMisses, found: Found) -> Iterator[tuple[str, list[str]]]:
    """(class, its examples); the classes of direction are among the locations."""
    for key in result.classes():
        kind, value, direction = key
        shown = found.groups.get(key, NOTHING).examples
        if shown and kind != "direction":
            name = f"{kind} {value}, {direction}" if direction else f"{kind} {value}"
            yield name, [f"{_shown(x.prediction)} → {_shown(x.reference)} ({number(x.score)})" for x in shown]


def _shown(phrase: str) -> str:
    """A phrase on one line, without what could move a terminal's cursor."""
    return "".join(letter if letter.isprintable() else "�" for letter in " ".join(phrase.split()))


def _named(found: Found) -> str:
    return f"{found.system}, protocol {found.protocol}"


# ---------------------------------------------------------------------------------------------- formats


def terminal(result: NearMisses) -> str:
    """Tables and examples, at most 80 columns wide."""
    parts = ["\n".join([*wrap(heading(result), "  "), *wrap(meaning(result), "  ")])]
    for found in result.found:
        parts.append(paragraphs([_named(found), *sentences(found)]))
        rows = [
            row
            for kind, body in groups(result, found)
            for row in ((kind, [""] * len(COLUMNS)), *((f"  {name}", cells) for name, cells in body))
        ]
        if found.pairs:
            parts += grid(CORNER, COLUMNS, rows)
        shown = [f"{name}: {'; '.join(texts)}" for name, texts in examples(result, found)]
        if shown:
            parts.append("Examples, prediction → reference (score):\n" + paragraphs(shown))
    if result.notes:
        parts.append(paragraphs(f"note: {note}" for note in result.notes))
    return "\n\n".join("\n".join(line.rstrip() for line in part.splitlines()) for part in parts) + "\n"


def parts(result: NearMisses) -> Iterator[Part]:
    """Tables and lists of examples."""
    yield Heading(heading(result))
    yield meaning(result)
    for found in result.found:
        yield bold(found.system), ", protocol ", code(found.protocol)
        yield Items(list(sentences(found)))
        rows = [(f"{kind}: {name}", cells) for kind, body in groups(result, found) for name, cells in body]
        if found.pairs:
            yield Grid(CORNER, COLUMNS, rows)
        if shown := [f"{name}: {'; '.join(texts)}" for name, texts in examples(result, found)]:
            yield "Examples, prediction → reference (score):"
            yield Items(shown)
    yield from noted(result.notes)


def printed(result: NearMisses) -> Iterator[Printed]:
    """A table for each system, a rule between the kinds; examples are left to the other formats."""
    nothing: list[list[Row]] = [[("no near miss", [""] * len(COLUMNS))]]
    for found in result.found:
        caption = f"{_named(found)}: {heading(result)}. {meaning(result)} {' '.join(sentences(found))}"
        body = [[(f"{kind}: {name}", cells) for name, cells in rows] for kind, rows in groups(result, found)]
        yield Printed(caption, [CORNER, *COLUMNS], body if found.pairs else nothing)


def csv_rows(result: NearMisses) -> Iterator[dict[str, Any]]:
    """One dict a line, the examples in one cell."""
    for row in result.rows():
        shown = "; ".join(f"{_shown(each['prediction'])} → {_shown(each['reference'])}" for each in row["examples"])
        yield row | {"examples": shown}
