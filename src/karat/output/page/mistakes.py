"""What systems get wrong, as a page lists it: each phrase with how often, and the documents that it leads to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from karat.analyses.report.result import Mistake, Mistakes, NearKind, Part
from karat.output.page.words import said

KINDS = {
    "part-of": "too short: a part of a reference",
    "include": "too long: a reference and more",
    "overlap": "some words of a reference",
    "reordered": "the words of a reference in another order",
    "morph": "another form of a reference",
    "exact": "the words of a reference, matched otherwise",
    "none": "near to a reference otherwise",
}


@dataclass(frozen=True, slots=True)
class Item:
    """A phrase of a list: how often, in words; examples; the number of its list of documents, and what that is."""

    phrase: str
    count: str
    number: int
    told: str
    examples: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """Phrases of one kind of mistake."""

    title: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Wrong:
    """The mistakes of one system."""

    system: str
    listings: tuple[Listing, ...]


def wrongs(part: Part, order: Sequence[str]) -> tuple[list[Wrong], list[tuple[int, ...]]]:
    """(the mistakes of each system that has some, the documents that they lead to)."""
    lists: list[tuple[int, ...]] = []
    by_system = dict(zip(part.systems, part.mistakes, strict=False))
    found = [_of(system, by_system[system], lists) for system in order if by_system.get(system)]
    return found, lists


def _of(system: str, own: Mistakes, lists: list[tuple[int, ...]]) -> Wrong:
    name = said(system, 40)
    given = [
        _listing(
            "Most often given wrongly",
            own.wrong,
            lambda each: f"{each.count:,} of {each.of:,}",
            f"{name} gives “%s” wrongly",
            lists,
        ),
        _listing(
            "Most often missed",
            own.missed,
            lambda each: f"{each.count:,} of {each.of:,}",
            f"{name} misses “%s”",
            lists,
        ),
        _listing(
            "Given for many, a reference of few" if own.missed else "Given for many documents",
            own.generic,
            lambda each: f"{each.count:,} / {each.of:,}" if own.missed else f"{each.count:,}",
            f"{name} gives “%s”",
            lists,
        ),
        Listing("Near misses by kind", tuple(_near(each, name, lists) for each in own.near)),
    ]
    return Wrong(system, tuple(each for each in given if each.items))


def _listing(
    title: str,
    own: Sequence[Mistake],
    count: Callable[[Mistake], str],
    told: str,
    lists: list[tuple[int, ...]],
) -> Listing:
    items = []
    for each in own:
        lists.append(each.documents)
        items.append(Item(each.phrase, count(each), len(lists) - 1, told.replace("%s", said(each.phrase, 60))))
    return Listing(title, tuple(items))


def _near(each: NearKind, system: str, lists: list[tuple[int, ...]]) -> Item:
    lists.append(each.documents)
    kind = KINDS.get(each.kind, each.kind)
    return Item(kind, f"{each.count:,}", len(lists) - 1, f"{system}, near misses: {kind}", each.examples)
