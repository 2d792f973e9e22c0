"""The tables of `karat.describe`: what the phrases of a corpus and of systems are like, and where systems find them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from karat.analyses.describe.result import Description, Side
from karat.citations import short_signature
from karat.errors import counted
from karat.protocol import parse_protocol
from karat.tabular import COUNT, FIXED2, NONE, NUMBER, Cell, Column, Group, Kind, Row, Table, code, number

CLASSES = ("P present", "R reordered", "M mixed", "U unseen")
PARTS = tuple(f"{n + 1} ({20 * n}-{20 * n + 20} %)" for n in range(5))
PLACES = ("the title alone", "the text alone", "both")
COUNTED = (
    "References are counted as they are given, repeats included; predictions as the protocol keeps them. "
    "P: the phrase stands in the document; R: all its words do, elsewhere or in another order; M: some; U: none. "
    "Parts are fifths of the document's characters; a phrase is in the part where it first occurs."
)
# How many there are, and their share; a value beside how it is written, as the rows of a column are not all alike.
WITH_SHARE = Kind(lambda found: NONE if found is None else f"{found[0]:,} ({number(found[0] / found[1])})")
FACT = Kind(lambda fact: fact[0].write(fact[1]))
Fact = tuple[str, Kind, list[Any]]  # a value for each side: None where it is undefined, "" where it has none


def tables_of(found: Description) -> Iterator[Table]:
    """A dataset card: the documents, the phrases of all sides, where systems look, how it was counted."""
    head, said = _heading(found), list(about_texts(found))
    yield Table(head, about=said, level=1)
    if found.sides:
        columns = [Column(side.name, FACT) for side in found.sides]
        caption = " ".join([f"{head}.", *said])
        yield Table("Phrases", "", columns, list(_groups(found.sides)), caption=caption, level=2)
    if systems := [side for side in found.sides if side.looks is not None]:
        columns = [Column("count", COUNT), *(Column(side.name) for side in systems)]
        average = parse_protocol(found.protocol).counting.average
        about, caption = [f"Average of f1: {average}."], f"{head}; average of f1: {average}."
        yield Table("Where systems look", "", columns, list(_scores(systems)), about, caption=caption, level=2)
    signatures = [
        ("Signature: ", code(short_signature(signature)), ", in full: ", code(signature))
        for signature in found.signatures.values()
    ]
    yield Table("How it was counted", about=[COUNTED, *signatures], level=2)


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


def _groups(sides: Sequence[Side]) -> Iterator[Group]:
    """The facts of all sides, what matters first; facts that no side has are left out."""
    for title, facts in _facts(sides):
        rows = [
            Row(name, [None if value == "" else (kind, value) for value in values])
            for name, kind, values in facts
            if any(value != "" and kind.write(value) != NONE for value in values)
        ]
        if rows:
            yield Group(rows, title)


def _facts(sides: Sequence[Side]) -> Iterator[tuple[str, list[Fact]]]:
    def fact(name: str, field: str, kind: Kind = NUMBER) -> Fact:
        return name, kind, [getattr(side.portrait, field) for side in sides]

    yield (
        "phrases",
        [
            fact("of a document", "phrases", FIXED2),
            fact("present ones of a document", "present", FIXED2),
            fact("absent ones of a document", "absent", FIXED2),
            fact("words of a phrase", "words", FIXED2),
        ],
    )
    yield "class, mean over documents", _each(CLASSES, [side.portrait.classes for side in sides])
    yield "class, over the corpus", _each(CLASSES, [side.portrait.classes_corpus for side in sides])
    yield "present ones first occur in part", _each(PARTS, map(_shared, sides), WITH_SHARE)
    yield "present ones stand in", _each(PLACES, [side.portrait.places for side in sides])
    yield "missed of part", _each(PARTS, map(_missed, sides))
    yield (
        "phrases as a whole",
        [
            fact("in all", "total", COUNT),
            fact("distinct", "types", COUNT),
            fact("documents of a distinct one", "df", FIXED2),
            fact("share of words unseen", "unseen_words"),
            fact("share of repeats", "repeats"),
            ("share seen in training", NUMBER, [side.seen for side in sides]),
        ],
    )
    absent = [(side.absent_present, side.absent_in_texts) if side.system is None else ("", "") for side in sides]
    yield "absent ones are", _each(("present in another document", "in another document's text"), absent)


def _each(names: Sequence[str], values: Iterable[Sequence[Any] | None], kind: Kind = NUMBER) -> list[Fact]:
    """A fact for each name, from the values that each side has for all of them."""
    sides = [[None] * len(names) if each is None else each for each in values]
    return [(name, kind, [each[n] for each in sides]) for n, name in enumerate(names)]


def _shared(side: Side) -> list[tuple[int, int]] | None:
    """How many present phrases are in each part, beside how many there are."""
    positions = side.portrait.positions or ()
    return [(n, sum(positions)) for n in positions] if sum(positions) else None


def _missed(side: Side) -> Sequence[Any] | None:
    """Which share of the references of each part a system misses."""
    if side.system is None:
        return [""] * len(PARTS)
    return None if side.looks is None else side.looks.miss_rate


# ---------------------------------------------------------------------------------------------- where systems look


def _scores(systems: Sequence[Side]) -> Iterator[Group]:
    """For each way of grouping: the groups, how many each has, and each system's score."""
    scores = [{(each.by, each.group): each for each in side.looks.groups} for side in systems if side.looks]
    every = {key: group for own in (*scores, *reversed(scores)) for key, group in own.items()}
    for by in dict.fromkeys(by for by, _ in every):
        own = [group for (of, _), group in every.items() if of == by]
        rows = [
            Row(each.group, [each.count, *(Cell(getattr(s.get((by, each.group)), "value", None)) for s in scores)])
            for each in own
        ]
        yield Group(rows, f"{own[0].metric} by {by}")
