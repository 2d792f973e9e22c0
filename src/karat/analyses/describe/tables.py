"""The tables of `karat.describe`: what the phrases of a corpus and of systems are like, and where systems find them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from karat.analyses.describe.counts import CORPUS_CLASSES, PLACES, POSITIONS
from karat.analyses.describe.result import Description, Side
from karat.analyses.describe.systems import Group as ScoreGroup
from karat.citations import short_signature
from karat.errors import counted
from karat.matching.columns import PRMU
from karat.protocol import parse_protocol
from karat.results.intervals import about_brackets
from karat.stats.shares import UNDEFINED, Interval
from karat.tabular import COUNT, FIXED2, NONE, NUMBER, Cell, Column, Group, Kind, Row, Table, code, number, with_ends

CLASSES = ("P present", "R reordered", "M mixed", "U unseen")
PARTS = tuple(f"{n + 1} ({20 * n}-{20 * n + 20} %)" for n in range(5))
STANDS = ("the title alone", "the text alone", "both")
COUNTED = (
    "References are counted as they are given, repeats included; predictions as the protocol keeps them. "
    "P: the phrase stands in the document; R: all its words do, elsewhere or in another order; M: some; U: none. "
    "Parts are fifths of the document's characters; a phrase is in the part where it first occurs."
)
# How many there are, and their share; a value beside how it is written, as the rows of a column are not all alike.
WITH_SHARE = Kind(lambda found: NONE if found is None else f"{found[0]:,} ({number(found[0] / found[1])})")
FACT = Kind(lambda fact: fact[0].write(fact[1]))
NARROW = 2  # columns that have room for intervals in 80 columns of a terminal


@dataclass(frozen=True, slots=True)
class Fact:
    """A row of the table of phrases: the value of each side, None where it is undefined, "" where it has none."""

    name: str
    kind: Kind
    values: Sequence[Any]
    intervals: Sequence[Interval] = ()  # of each side


def tables_of(found: Description) -> Iterator[Table]:
    """A dataset card: the documents, the phrases of all sides, where systems look, how it was counted."""
    head, said = _heading(found), list(about_texts(found))
    yield Table(head, about=said, level=1)
    if found.sides:
        columns = [Column(side.name, FACT) for side in found.sides]
        caption = " ".join([f"{head}.", *said])
        yield Table("Phrases", "", columns, list(_groups(found)), caption=caption, level=2)
    if systems := [side for side in found.sides if side.looks is not None]:
        columns = [Column("count", COUNT), *(Column(side.name) for side in systems)]
        average = parse_protocol(found.protocol).counting.average
        about, caption = [f"Average of f1: {average}."], f"{head}; average of f1: {average}."
        groups = list(_scores(systems, _shows_intervals(found, len(systems))))
        yield Table("Where systems look", "", columns, groups, about, caption=caption, level=2)
    signatures = [
        ("Signature: ", code(short_signature(signature)), ", in full: ", code(signature))
        for signature in found.signatures.values()
    ]
    yield Table("How it was counted", about=[COUNTED, _about_intervals(found), *signatures], level=2)


def _shows_intervals(found: Description, columns: int) -> bool:
    """Whether a table of so many columns shows intervals."""
    return found.confidence.intervals or columns <= NARROW


def _about_intervals(found: Description) -> str:
    """What the brackets are, or how to see them."""
    if _shows_intervals(found, len(found.sides)):
        return about_brackets(found.confidence.level)
    return f"--intervals shows {100 * found.confidence.level:g} % intervals in all tables."


def _heading(found: Description) -> str:
    """What is described."""
    language = "" if found.texts.language == "unknown" else f", {found.texts.language.capitalize()}"
    return f"{found.corpus}, {counted(found.texts.documents, 'document')}{language}, protocol {found.protocol}"


def about_texts(found: Description) -> Iterator[str]:
    """What the documents hold, in sentences."""
    texts = found.texts
    if texts.words is not None:
        yield f"A document has {texts.words:,.1f} words ({texts.least:,} to {texts.most:,})."
    yield (
        f"{texts.with_title:,} of {counted(texts.documents, 'document')} have a title, {texts.with_text:,} a title or "
        f"a text, {texts.with_references:,} references."
    )
    if texts.language == "unknown" and texts.with_text:
        yield "The language could not be told by its common words."
    if found.duplicates is not None and not found.duplicates.equal and not found.duplicates.near:
        yield "No two documents have the same or nearly the same text."
    leaks = found.leaks
    if leaks is not None:
        if not leaks.leaked:
            yield f"No document is in {leaks.corpus} ({counted(leaks.documents, 'document')}) too."
        if leaks.references is not None and leaks.types is not None:
            yield (
                f"{100 * leaks.references:.1f} % of the references are references of {leaks.corpus} too "
                f"({100 * leaks.types:.1f} % of the distinct ones)."
            )


# ---------------------------------------------------------------------------------------------- phrases


def _groups(found: Description) -> Iterator[Group]:
    """The facts of all sides, what matters first; facts that no side has are left out."""
    shows = _shows_intervals(found, len(found.sides))
    for title, facts in _facts(found):
        rows = [
            Row(fact.name, _cells(fact, shows))
            for fact in facts
            if any(value != "" and fact.kind.write(value) != NONE for value in fact.values)
        ]
        if rows:
            yield Group(rows, title)


def _cells(fact: Fact, shows: bool) -> list[Cell | None]:
    ends = map(with_ends, fact.intervals) if fact.intervals and shows else repeat("")
    return [
        None if value == "" else Cell((fact.kind, value), "" if value is None else end)
        for value, end in zip(fact.values, ends, strict=False)
    ]


def _facts(found: Description) -> Iterator[tuple[str, list[Fact]]]:
    portraits = [side.portrait for side in found.sides]

    def fact(name: str, field: str, kind: Kind = NUMBER) -> Fact:
        return Fact(name, kind, [getattr(each, field) for each in portraits])

    def shares(names: Sequence[str], fields: Sequence[str]) -> list[Fact]:
        rows = [each.as_dict() for each in portraits]
        return [
            Fact(name, NUMBER, [row[field] for row in rows], [each.intervals[field] for each in portraits])
            for name, field in zip(names, fields, strict=True)
        ]

    yield (
        "phrases",
        [
            fact("of a document", "phrases", FIXED2),
            fact("present ones of a document", "present", FIXED2),
            fact("absent ones of a document", "absent", FIXED2),
            fact("words of a phrase", "words", FIXED2),
        ],
    )
    yield "class, mean over documents", shares(CLASSES, PRMU)
    yield "class, over the corpus", shares(CLASSES, CORPUS_CLASSES)
    yield "present ones first occur in part", list(_positions(found))
    yield "present ones stand in", shares(STANDS, PLACES)
    yield "missed of part", list(_missed(found.sides))
    yield (
        "phrases as a whole",
        [
            fact("in all", "total", COUNT),
            fact("distinct", "types", COUNT),
            fact("documents of a distinct one", "df", FIXED2),
            *shares(("share of words unseen", "share of repeats"), ("unseen_words", "repeats")),
            Fact("share seen in training", NUMBER, [side.seen for side in found.sides]),
        ],
    )
    absent = [(side.absent_present, side.absent_in_texts) if side.system is None else ("", "") for side in found.sides]
    names = ("present in another document", "in another document's text")
    yield "absent ones are", [Fact(name, NUMBER, [each[n] for each in absent]) for n, name in enumerate(names)]


def _positions(found: Description) -> Iterator[Fact]:
    """The present phrases of each part; their intervals, which stand beside counts, only if all are asked for."""
    portraits = [side.portrait for side in found.sides]
    for n, (name, field) in enumerate(zip(PARTS, POSITIONS, strict=True)):
        counts = [
            (each.positions[n], sum(each.positions)) if each.positions and sum(each.positions) else None
            for each in portraits
        ]
        ends = [each.intervals[field] for each in portraits] if found.confidence.intervals else ()
        yield Fact(name, WITH_SHARE, counts, ends)


def _missed(sides: Sequence[Side]) -> Iterator[Fact]:
    """The share of the references of each part that a system misses."""
    for n, name in enumerate(PARTS):
        rates = [side.looks.miss_rate[n] if side.looks and side.looks.miss_rate else None for side in sides]
        values = ["" if side.system is None else rate for side, rate in zip(sides, rates, strict=True)]
        yield Fact(
            name, NUMBER, values, [side.looks.miss_rate_intervals[n] if side.looks else UNDEFINED for side in sides]
        )


# ---------------------------------------------------------------------------------------------- where systems look


def _scores(systems: Sequence[Side], shows: bool) -> Iterator[Group]:
    """For each way of grouping: the groups, how many each has, and each system's score."""
    scores = [{(each.by, each.group): each for each in side.looks.groups} for side in systems if side.looks]
    every = {key: group for own in (*scores, *reversed(scores)) for key, group in own.items()}
    for by in dict.fromkeys(by for by, _ in every):
        own = [group for (of, _), group in every.items() if of == by]
        rows = [
            Row(each.group, [each.count, *(_score(s.get((by, each.group)), shows) for s in scores)]) for each in own
        ]
        yield Group(rows, f"{own[0].metric} by {by}")


def _score(group: ScoreGroup | None, shows: bool) -> Cell:
    if group is None:
        return Cell(None)
    return Cell(group.value, with_ends(group.interval) if shows else "")
