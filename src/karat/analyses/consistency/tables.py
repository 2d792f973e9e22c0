"""The tables of a consistency: how often concepts have several names, the worst of them, what a vocabulary lacks."""

from __future__ import annotations

from collections.abc import Iterator

from karat.analyses.consistency.result import BY, LISTED, OUTSIDE, Concept, Consistency, Level, Listed, Named, share_of
from karat.errors import counted
from karat.results.intervals import about_brackets
from karat.tabular import COUNT, NUMBER, TEXT, Cell, Column, Table, rows_of, with_ends

SHARES = ("names_per_concept", "rival_names_share", "rival_phrases_share", "other_names_share", "entropy")
MAIN = "other_names_share"
COLUMNS = [Column("concepts", COUNT), *map(Column, ("each", "rivals", "of phrases", "others", "entropy"))]


def tables_of(found: Consistency) -> Iterator[Table]:
    """For each system its names, the worst concepts and its part in the vocabulary; then what the columns are."""
    about = list(_meaning(found))
    for named in found.systems:
        yield _names_table(named, found.options.confidence.intervals, about)
        if worst := [_concept(each) for each in found.shown(named.concepts)]:
            title = f"{named.system}: the worst concepts, how many phrases are other names, then the names"
            yield Table(title, items=worst)
        if named.listed is not None:
            yield from _vocabulary_tables(found, named.system, named.listed)
    yield Table(notes=about)


def _names_table(named: Named, intervals: bool, about: list[str]) -> Table:
    """The figures, one row for each way to tell concepts apart."""
    level = named.levels[0]
    counts = (named.documents, "document"), (level.names, "name"), (level.phrases, "phrase")
    title = ", ".join([named.system, *(counted(*each) for each in counts)])
    rows = rows_of((each.by, _cells(each, intervals)) for each in named.levels)
    return Table(title, "by", COLUMNS, rows, caption=" ".join([f"{title}.", *about]))


def _cells(level: Level, intervals: bool) -> list[Cell]:
    """The figures, by default with the interval of the share of other names alone."""
    row = level.as_dict()
    shown = {name: with_ends(ends) for name, ends in level.intervals.items() if intervals or name == MAIN}
    return [Cell(row[name], shown.get(name, "")) for name in ("concepts", *SHARES)]


def _meaning(found: Consistency) -> Iterator[str]:
    """How concepts are distinguished, and what the columns are."""
    there = {level.by for named in found.systems for level in named.levels}
    ways = "; ".join(f"{by}: {_way(found, by, what)}" for by, what in BY.items() if by in there)
    yield f"Names are one concept, each way taking in those before it, by {ways}."
    yield (
        "each: names of a concept; rivals: share of names whose concept has another one, then the same of phrases; "
        "others: share of phrases that are not the most frequent name of their concept; entropy: bits that tell the "
        "name, 0 where each concept has one."
    )
    yield (
        f"{about_brackets(found.options.confidence.level)} They hold for as many documents: with more documents, "
        "concepts have more names."
    )


def _way(found: Consistency, by: str, what: str) -> str:
    if by == "near":
        return f"{what} ({found.options.model}, a cosine of {found.options.near:g} or more)"
    if by == "abbreviation" and found.corpus is not None:
        return f"{what}, as the texts of {found.corpus} say in parentheses"
    return what


def _concept(concept: Concept) -> str:
    """How many phrases are other names, and all names."""
    names = (f"{each.name} ({each.count:,}{f', {each.by}' if each.by else ''})" for each in concept.names)
    return f"{concept.others:,} of {concept.count:,}: {'; '.join(names)}"


def _vocabulary_tables(found: Consistency, system: str, listed: Listed) -> Iterator[Table]:
    """How much is in the vocabulary, and how; then what to fix first."""
    counts = {"names": listed.names, "phrases": listed.phrases}

    def share(name: str, how: str) -> Cell:
        shows = name == "phrases" or found.options.confidence.intervals
        value = share_of(counts[name][how], sum(counts[name].values()))
        return Cell(value, with_ends(listed.intervals[name][how]) if shows else "")

    rows = rows_of(
        (what, [cell for name, each in counts.items() for cell in (each[how], share(name, how))])
        for how, what in LISTED.items()
    )
    columns = [Column("names", COUNT), Column("share"), Column("phrases", COUNT), Column("share")]
    yield Table(f"{system}: in the vocabulary of {found.vocabulary:,} terms", "names that are", columns, rows)
    if listed.names[OUTSIDE]:
        columns = [Column("phrases", COUNT), Column("nearest entry", TEXT), Column("score", NUMBER)]
        rows = rows_of((fix.name, [fix.count, fix.entry, fix.score]) for fix in listed.fixes)
        yield Table(f"{system}: to fix first, and the nearest entry ({found.options.nearest})", "name", columns, rows)
