"""The systems that the papers compare, as karat trains and runs them.

All generators see the same number of documents. `cost` is how long one takes for a document, as a multiple of copyrnn's
(measured, one thread): it is only used to make the minutes that are asked for the mean of all.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Generator:
    """A generator: what `karat train` is given beside documents and steps."""

    name: str
    spec: str
    cost: float
    flags: tuple[str, ...] = ()
    start: str | None = None  # the generator that it goes on from
    share: float = 1.0  # of the steps of the others
    published: bool = True  # whether it is a system of the papers, and not only a step on the way to one


@dataclass(frozen=True, slots=True)
class Extractor:
    """An extractor: what `karat predict` is given; `counts` says whether it wants frequencies of the training set."""

    name: str
    counts: bool = False


FIRST = "copyrnn"  # its training tells how many steps fit into the minutes

GENERATORS = (
    Generator(FIRST, "copyrnn", 1.0),
    Generator("transformer", "transformer", 1.2),
    Generator("corrrnn", "corrrnn", 1.2),
    Generator("tgnet", "tgnet", 2.0),
    Generator("tgnet-peos", "tgnet,peos=always", 2.0, published=False),
    Generator("tgrf", "tgrf", 4.0, start="tgnet-peos", share=0.25),
    Generator("exhird-h", "exhird", 1.6),
    Generator("exhird-s", "exhird,exclusion=soft", 1.6),
    Generator("one2set", "one2set", 1.8),
    Generator("one2set-60p", "one2set", 1.8, ("--augment", "60p")),
    Generator("copyrnn-60p", "copyrnn", 1.0, ("--augment", "60p")),
    Generator("kpdrop-r", "copyrnn", 1.0, ("--drop", "replace")),
    Generator("kpdrop-a", "copyrnn", 2.0, ("--drop", "add")),
    Generator("guided", "copyrnn", 1.2, ("--guide", "multipartiterank")),
)
OTHER_DOMAIN = Generator(FIRST, "copyrnn", 1.5)  # trained on papyrus-en, for train x test

EXTRACTORS = (Extractor("tfidf", counts=True), Extractor("multipartiterank"))


def chosen(names: Collection[str]) -> tuple[Generator, ...]:
    """The generators of these names, `FIRST` and those that one of them goes on from; without names, all."""
    found = {FIRST, *names} | {each.start for each in GENERATORS if each.name in names}
    return tuple(each for each in GENERATORS if not names or each.name in found)


def minutes_of_first(generators: Sequence[Generator], mean: float) -> float:
    """The minutes of `FIRST` with which the mean of all trainings is the one asked for."""
    costs = [each.cost * each.share for each in (*generators, OTHER_DOMAIN)]
    return mean * len(costs) / sum(costs)
