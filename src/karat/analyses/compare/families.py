"""The systems that are compared on one metric of one corpus, gathered from results."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from karat.errors import InputError
from karat.metrics.base import Request, parse_request
from karat.results import Results, Score
from karat.stats.resampling import Sample

_SEED = re.compile(r"(.+)#(\d+)")  # the name of a system and the number of a seed


EXACT = ("p", "r", "f1")  # metrics that go with the references found, on which McNemar's test is
Better = Literal["higher", "lower"]


def by_corpus(results: Sequence[Results]) -> dict[str, list[Results]]:
    """The results of each corpus. Raises InputError if they are not of the same documents and conventions."""
    found: dict[str, list[Results]] = {}
    for each in results:
        if not each.scores:
            raise InputError("results without any score cannot be compared")
        if each.part.count > 1:
            raise InputError(f"results of the shard {each.part.index}/{each.part.count}: merge the shards first")
        found.setdefault(each.scores[0].corpus, []).append(each)
    for name, parts in found.items():
        for other in parts[1:]:
            _check_alike(name, parts[0], other)
    return found


def _check_alike(corpus: str, one: Results, other: Results) -> None:
    if one.ids != other.ids:
        lacking = sorted(set(one.ids) ^ set(other.ids))
        which = f": {lacking[0]!r} is in one of them only" if lacking else ", in another order"
        raise InputError(f"the results of {corpus} are not of the same documents{which}")
    for protocol in one.signatures.keys() & other.signatures.keys():
        if one.signatures[protocol] != other.signatures[protocol]:
            parts = zip(one.signatures[protocol].split(","), other.signatures[protocol].split(","), strict=False)
            a, b = next((a, b) for a, b in parts if a != b)
            raise InputError(f"the results of {corpus} under {protocol} are of different signatures: {a} and {b}")


@dataclass(frozen=True, slots=True)
class Family:
    """The systems that are compared on one metric of one corpus, each with the scores of its seeds."""

    corpus: str
    protocol: str
    request: Request
    documents: int
    common: int  # documents that all runs have
    systems: Mapping[str, list[Score]]
    found: Mapping[str, list[Score]]  # single references, where McNemar's test goes with the metric

    @property
    def better(self) -> Better:
        """Which values are better; the higher ones where neither is known to be."""
        return self.request.spec.better or "higher"

    @property
    def same_documents(self) -> bool:
        """Whether all systems that have a value are defined on the same documents."""
        scores = [score for seeds in self.systems.values() for score in seeds if score.value == score.value]
        return len({sample_of(score, self.documents).defined().tobytes() for score in scores}) <= 1


def without_seed(name: str) -> str:
    """The system that a run is of, one of its seeds perhaps.

    >>> without_seed("t5#2"), without_seed("c#"), without_seed("t5")
    ('t5', 'c#', 't5')
    """
    found = _SEED.fullmatch(name)
    return found[1] if found else name


def families_of(results: Sequence[Results], least: int = 2) -> list[Family]:
    """The families of results that have so many systems at least.

    Raises InputError if results of one corpus are not of the same documents and signatures.
    """
    families = [family for name, parts in by_corpus(results).items() for family in _families(name, parts)]
    return [family for family in families if len(family.systems) >= least]


def _families(corpus: str, parts: Sequence[Results]) -> list[Family]:
    scores: dict[tuple[str, Request], dict[str, list[Score]]] = {}
    for each in (one for results in parts for one in results.scores):
        family = scores.setdefault((each.protocol, each.request.without_fitted()), {})
        name = without_seed(each.system)
        seeds = family.setdefault(name, [])
        if any(known.system == each.system for known in seeds):
            raise InputError(f"two results of {corpus} are of a system named {each.system!r}; give each once")
        seeds.append(each)
    beside = {key: family for key, family in scores.items() if key[1].metric == "found"}
    requested = {key: family for key, family in scores.items() if key not in beside or len(beside) == len(scores)}
    return [
        Family(
            corpus, protocol, request, len(parts[0].ids), parts[0].common, systems, _beside(beside, protocol, request)
        )
        for (protocol, request), systems in requested.items()
    ]


def _beside(
    found: Mapping[tuple[str, Request], dict[str, list[Score]]], protocol: str, request: Request
) -> Mapping[str, list[Score]]:
    for (other, own), systems in found.items():
        if other == protocol and (own.cutoff, own.subset) == (request.cutoff, request.subset):
            return systems if request.metric in (*EXACT, "found") else {}
    return {}


def sample_of(score: Score, documents: int) -> Sample:
    """What statistics make of a score: its rows, and what finishes them."""
    spec = score.request.spec
    finish = spec.items if spec.items is not None else score.request.finish
    return Sample(score.rows.values, finish, score.rows.units, spec.items is not None, documents)


def found_beside(text: str) -> str | None:
    """The metric of single references that goes with an exact one, if any does."""
    request = parse_request(text)
    if request.metric not in EXACT or request.cutoff is None or request.cutoff.kind == "V":
        return None
    return f"found@{request.cutoff}:{request.subset}"
