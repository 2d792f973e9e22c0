"""Consistency as text: how often concepts have several names, the worst of them, and what a vocabulary lacks."""

from __future__ import annotations

from collections.abc import Iterator
from math import nan
from typing import Any

from karat.analyses.consistency import BY, LISTED, OUTSIDE, Concept, Consistency, Fix, Listed, Named
from karat.output.grids import Row, grid, paragraphs, wrap
from karat.output.markup import Grid, Heading, Items, Part, noted
from karat.output.papers import Printed
from karat.table import number, short

CSV_FIELDS = (
    "system",
    "documents",
    "by",
    "names",
    "phrases",
    "concepts",
    "names_per_concept",
    "rival_names",
    "rival_names_share",
    "rival_phrases",
    "rival_phrases_share",
    "other_names",
    "other_names_share",
    "entropy",
)
COLUMNS = ("concepts", "each", "rivals", "of phrases", "others", "entropy")
LIST_COLUMNS = ("names", "share", "phrases", "share")


# ---------------------------------------------------------------------------------------------- words


def heading(named: Named) -> str:
    """What a table is of."""
    level = named.levels[0]
    return f"{_plain(named.system)}, {named.documents:,} documents, {level.names:,} names, {level.phrases:,} phrases"


def meaning(found: Consistency) -> Iterator[str]:
    """How concepts are told apart, and what the columns are."""
    there = {level.by for named in found.systems for level in named.levels}
    ways = "; ".join(f"{by}: {_way(found, by, what)}" for by, what in BY.items() if by in there)
    yield f"Names are one concept, each way taking in those before it, by {ways}."
    yield (
        "each: names of a concept; rivals: share of names whose concept has another one, then the same of phrases; "
        "others: share of phrases that are not the most frequent name of their concept; entropy: bits that tell the "
        "name, 0 where each concept has one."
    )


def _way(found: Consistency, by: str, what: str) -> str:
    if by == "near":
        return f"{what} ({found.options.model}, a cosine of {found.options.near:g} or more)"
    if by == "abbreviation" and found.corpus is not None:
        return f"{what}, as the texts of {_plain(found.corpus)} say in parentheses"
    return what


def levels(named: Named) -> list[Row]:
    """The figures, one row for each way to tell concepts apart."""
    rows: list[Row] = []
    for level in named.levels:
        row = level.as_dict()
        shares = (row[f"{name}_share"] for name in ("rival_names", "rival_phrases", "other_names"))
        cells = [_number(row["names_per_concept"]), *map(_number, shares), _number(row["entropy"])]
        rows.append((level.by, [f"{level.concepts:,}", *cells]))
    return rows


def _number(value: float | None) -> str:
    return number(nan if value is None else value)


def concepts(found: Consistency, named: Named) -> list[str]:
    """The worst concepts, one line each."""
    return [f"{concept.others:,} of {concept.count:,}: {_names(concept)}" for concept in found.shown(named.concepts)]


def _names(concept: Concept) -> str:
    return "; ".join(
        f"{_plain(each.name)} ({each.count:,})"
        if each.by is None
        else f"{_plain(each.name)} ({each.count:,}, {each.by})"
        for each in concept.names
    )


def listed(found: Listed) -> list[Row]:
    """How much is in the vocabulary, and how."""
    totals = sum(found.names.values()), sum(found.phrases.values())
    rows: list[Row] = []
    for how, what in LISTED.items():
        pairs = ((found.names[how], totals[0]), (found.phrases[how], totals[1]))
        cells = [text for n, whole in pairs for text in (f"{n:,}", _number(n / whole if whole else None))]
        rows.append((what, cells))
    return rows


def fixes(found: Listed) -> list[str]:
    """What to fix first, one line each."""
    return [f"{fix.count:,}: {_plain(fix.name)}{_entry(fix)}" for fix in found.fixes]


def _entry(fix: Fix) -> str:
    return "" if fix.entry is None or fix.score is None else f" → {_plain(fix.entry)} ({number(fix.score)})"


def _plain(text: str) -> str:
    """A text on one line, without what could move a terminal's cursor."""
    line = " ".join(text.split())
    return short("".join(letter if letter.isprintable() else "�" for letter in line), 60)


def blocks(found: Consistency) -> Iterator[tuple[str, tuple[str, tuple[str, ...], list[Row]] | None, list[str]]]:
    """(title, a table or None, lines below it) of everything that is shown."""
    for named in found.systems:
        yield heading(named), ("by", COLUMNS, levels(named)), []
        worst = concepts(found, named)
        if worst:
            title = f"{_plain(named.system)}: the worst concepts, how many phrases are other names, then the names"
            yield title, None, worst
        if named.listed is not None:
            title = f"{_plain(named.system)}: in the vocabulary of {found.vocabulary:,} terms"
            yield title, ("names that are", LIST_COLUMNS, listed(named.listed)), []
            if named.listed.names[OUTSIDE]:
                title = f"{_plain(named.system)}: to fix first, phrases and the nearest entry ({found.options.nearest})"
                yield title, None, fixes(named.listed)


# ---------------------------------------------------------------------------------------------- formats


def terminal(found: Consistency) -> str:
    """Tables and lists of at most 80 columns."""
    parts: list[str] = []
    for title, table, texts in blocks(found):
        head = "\n".join(wrap(title, "  "))
        if table is not None:
            first, *rest = grid(*table)
            parts += [f"{head}\n\n{first}", *rest]
        else:
            parts.append(f"{head}\n" + paragraphs(f"  {text}" for text in texts))
    parts.append(paragraphs(meaning(found)))
    if found.notes:
        parts.append(paragraphs(f"note: {note}" for note in found.notes))
    return "\n\n".join("\n".join(line.rstrip() for line in part.splitlines()) for part in parts) + "\n"


def parts(found: Consistency) -> Iterator[Part]:
    """Tables and lists."""
    for title, table, texts in blocks(found):
        yield Heading(title)
        yield Grid(*table) if table is not None else Items(texts)
    yield from meaning(found)
    yield from noted(found.notes)


def printed(found: Consistency) -> Iterator[Printed]:
    """A table for each; the lists are left to the other formats."""
    for title, table, _ in blocks(found):
        if table is not None:
            caption = " ".join([f"{title}.", *(meaning(found) if table[1] == COLUMNS else ())])
            yield Printed(caption, [table[0], *table[1]], [table[2]])


def csv_rows(found: Consistency) -> list[dict[str, Any]]:
    """One dict a system and way."""
    return found.rows()
