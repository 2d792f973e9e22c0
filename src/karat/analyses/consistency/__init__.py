"""How often a system gives one concept several names, seen from its run alone: no references, no pairs.

A name is a phrase in lower case; in a document it counts once. Names are one concept when they are equal by stem
(`networks`, `network`), or in another order (`service quality`, `quality of service`), or one abbreviates the other
(`SVM`), or their vectors are near. Each of these takes in those before it, and is counted by itself, since each is less
sure than the one before. With n(c, x) the documents that call the concept c by x and N all of them, the entropy is
−Σ n(c, x)/N · log2(n(c, x) / n(c)): the bits that say by which of its names a concept is called, 0 where it has one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import log2

import numpy as np

from karat.analyses.consistency.intervals import level_intervals
from karat.analyses.consistency.names import Ints, Names, grouped, tied
from karat.analyses.consistency.result import (
    BY,
    LISTED,
    OUTSIDE,
    By,
    Concept,
    Consistency,
    ConsistencyOptions,
    Fix,
    Level,
    Listed,
    Name,
    Named,
    Nearest,
)
from karat.analyses.consistency.ties import abbreviations, explained_in, near
from karat.analyses.consistency.vocabulary import listed_in
from karat.embed import Embedder, embedder
from karat.errors import InputError, counted
from karat.formats.vocabulary import as_vocabulary
from karat.matching.inputs import CorpusLike, RunLike, as_corpus, as_protocols, as_runs
from karat.options import options_from, public
from karat.text.normalise import normaliser_of
from karat.vocabulary import VocabularyLike

__all__ = ["BY", "LISTED", "OUTSIDE", "Concept", "Consistency", "Fix", "Listed", "Named", "consistency"]


@public(ConsistencyOptions)
def consistency(
    *runs: RunLike,
    corpus: CorpusLike | None = None,
    model: str = "hash",
    near: float | None = 0.9,
    vocabulary: VocabularyLike | None = None,
    nearest: Nearest = "levenshtein",
    worst: int = 10,
    language: str | None = None,
    level: float = 0.95,
    intervals: bool = False,
) -> Consistency:
    """How consistently runs name concepts.

    With a corpus, abbreviations are those that its texts explain in parentheses. Raises InputError if there is no run.

    >>> run = [{"id": "1", "keyphrases": ["neural networks"]}, {"id": "2", "keyphrases": ["neural network"]}]
    >>> row = consistency(run).rows()[0]
    >>> row["names"], row["concepts"], row["rival_phrases_share"], row["entropy"]
    (2, 1, 1.0, 1.0)
    """
    chosen = options_from(ConsistencyOptions, locals())
    systems = as_runs(runs)
    if not systems:
        raise InputError("nothing to look at: give at least one run")
    [protocol] = as_protocols(["karat"], chosen.language)
    stems = normaliser_of(protocol.matching)
    vectors = embedder(chosen.model) if chosen.near is not None or _wants_cosine(chosen) else None
    texts = None if corpus is None else as_corpus(corpus)
    explained = None if texts is None else explained_in(texts)
    entries = None if chosen.vocabulary is None else as_vocabulary(chosen.vocabulary)
    found: list[Named] = []
    notes: list[str] = []
    for run in systems:
        names = Names.of(run, stems)
        named, unclear = _named(run.name, names, chosen, vectors, explained)
        listed = None if entries is None else listed_in(names, entries, chosen, vectors)
        found.append(Named(run.name, names.documents, named.levels, named.concepts, listed))
        notes += _notes(run.name, names, unclear)
    if vectors is not None and chosen.model == "hash":
        notes.append("near: the embedder hash compares letters, not meanings; --model names another")
    terms = None if entries is None else len(entries)
    return Consistency(tuple(found), chosen, None if texts is None else texts.name, terms, tuple(notes))


def _wants_cosine(options: ConsistencyOptions) -> bool:
    return options.vocabulary is not None and options.nearest == "cosine"


def _notes(system: str, names: Names, unclear: int) -> Iterator[str]:
    if names.blank:
        yield f"{system}: {counted(names.blank, 'phrase')} without a letter or digit left out"
    if not names.shown:
        yield f"{system}: the run has no phrase"
    if unclear:
        yield f"{system}: abbreviations that fit several concepts and are tied to none: {unclear:,}"


# ---------------------------------------------------------------------------------------------- concepts


def _named(
    system: str,
    names: Names,
    options: ConsistencyOptions,
    vectors: Embedder | None,
    explained: Mapping[str, set[str]] | None,
) -> tuple[Named, int]:
    """(the concepts of a system's names under each way to tell them apart, abbreviations that could be several)."""
    groups: dict[By, Ints] = {"stem": grouped(names.forms)}
    groups["order"] = grouped(names.bags())
    ties, unclear = abbreviations(names, groups["order"], explained)
    groups["abbreviation"] = tied(groups["order"], ties)
    if options.near is not None and vectors is not None:
        groups["near"] = near(names, groups["abbreviation"], vectors, options.near)
    levels = tuple(_level(by, names, group, options.confidence.level) for by, group in groups.items())
    return Named(system, names.documents, levels, tuple(_concepts(names, groups))), unclear


def _level(by: By, names: Names, group: Ints, level: float) -> Level:
    """The figures of one way to tell concepts apart, with intervals of a level."""
    count = names.count
    sizes = np.bincount(group)
    totals = np.bincount(group, weights=count).astype(np.int64)
    most = np.zeros(len(sizes), dtype=np.int64)
    np.maximum.at(most, group, count)
    rival = sizes[group] > 1
    whole = int(count.sum())
    bits = -sum(n / whole * log2(n / total) for n, total in zip(count.tolist(), totals[group].tolist(), strict=True))
    return Level(
        by,
        len(count),
        whole,
        len(sizes),
        int(rival.sum()),
        int(count[rival].sum()),
        int((totals - most).sum()),
        abs(bits),  # of one name each it is 0, not -0
        level_intervals(names, group, level),
    )


def _concepts(names: Names, groups: Mapping[By, Ints]) -> list[Concept]:
    """The concepts of several names under the last way to tell them apart, the worst first."""
    members: dict[int, list[int]] = {}
    last = list(groups.values())[-1]
    for i, number in enumerate(last.tolist()):
        members.setdefault(number, []).append(i)
    found = []
    for first, *others in members.values():
        if others:
            tied = [Name(names.shown[i], int(names.count[i]), _tie(groups, first, i)) for i in others]
            found.append(Concept((Name(names.shown[first], int(names.count[first]), None), *tied)))
    return sorted(found, key=lambda concept: (-concept.others, -len(concept.names), concept.names[0].name.lower()))


def _tie(groups: Mapping[By, Ints], a: int, b: int) -> By:
    """The first way to tell concepts apart that does not tell these names apart."""
    return next(by for by, group in groups.items() if group[a] == group[b])
