"""The best system of a metric, and systems ranked over several corpora."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np

from karat.analyses.compare.families import Family, without_seed
from karat.analyses.compare.notes import label
from karat.analyses.compare.options import CompareOptions
from karat.analyses.compare.result import Ranking, Standing
from karat.metrics.base import Request
from karat.results import Results
from karat.stats.base import ALIKE, Floats
from karat.stats.ranks import cliques, friedman


def rankings(
    standings: Sequence[Standing], results: Sequence[Results], options: CompareOptions
) -> tuple[list[Ranking], list[str]]:
    """(the systems ranked over the corpora, on each metric that every corpus has, for those that all have; notes)."""
    corpora = list(dict.fromkeys(each.corpus for each in standings))
    found, notes = [], list(_lacking(results, corpora))
    metrics = dict.fromkeys((each.protocol, each.request) for each in standings) if len(corpora) > 1 else {}
    for protocol, request in metrics:
        own = {(e.corpus, e.system): e.value for e in standings if (e.protocol, e.request) == (protocol, request)}
        names = dict.fromkeys(system for _, system in own)
        without = [corpus for corpus in corpora if not any((corpus, name) in own for name in names)]
        if without:
            notes.append(f"{label(request)}: not ranked, since it is not compared on {', '.join(without)}")
        ranked = ranked_systems(own, corpora)
        if ranked is None:
            continue
        systems, common = ranked
        values = np.array([[own[corpus, name] for name in systems] for corpus in common])
        undefined = [corpus for corpus, row in zip(common, values, strict=True) if np.isnan(row).any()]
        if undefined:
            notes.append(f"{label(request)}: undefined on {', '.join(undefined)}, which its ranks leave out")
        if len(common) - len(undefined) > 1:
            found.append(_ranking(protocol, request, systems, values, options))
    return found, [*notes, *(note for ranking in found for note in _hopeless(ranking, options.alpha))]


def best_systems(family: Family, values: Mapping[str, float]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (the best systems of a family, the second ones); none where values rest on different documents."""
    return best_and_second(values, family.request) if family.same_documents else ((), ())


def best_and_second(values: Mapping[str, float], request: Request) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (the systems with the best value, those with the next one); ties share, undefined values are left out.

    The worst value that a metric can have is neither, and metrics without a better direction and single systems have
    none.

    >>> from karat.metrics.base import parse_request
    >>> best_and_second({"a": 0.5, "b": 0.2, "c": 0.5, "d": 0.0}, parse_request("f1@5"))
    (('a', 'c'), ('b',))
    """
    better = request.spec.better
    defined = {name: value for name, value in values.items() if value == value}
    if better is None or len(defined) < 2:
        return (), ()
    sign = 1 if better == "lower" else -1
    worst = request.spec.bounds[0 if better == "higher" else 1]
    rest = {name: sign * value for name, value in defined.items() if abs(value - worst) > ALIKE}
    found = []
    for _ in range(2):
        top = min(rest.values(), default=0.0)
        found.append(tuple(name for name, value in rest.items() if value - top < ALIKE))
        rest = {name: value for name, value in rest.items() if name not in found[-1]}
    return found[0], found[1]


def notes_of_best(families: Iterable[Family]) -> Iterator[str]:
    """Name the metrics on which no value is marked as the best, since systems are defined on different documents."""
    names = [label(each.request) for each in families if each.request.spec.better and not each.same_documents]
    if names:
        yield (
            f"{', '.join(dict.fromkeys(names))}: no value is marked as the best, since the systems are defined on "
            "different documents"
        )


def ranked_systems(
    runs: Collection[tuple[str, str]], corpora: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return (the systems that are ranked, the corpora that all of them have); None where nothing can be ranked.

    Systems with a run on every corpus are ranked. Where fewer than two have one, all systems are ranked on the corpora
    that all of them have. `runs` are (corpus, system).

    >>> ranked_systems([("x", "a"), ("x", "b"), ("x", "c"), ("y", "a"), ("y", "b")], ["x", "y"])
    (('a', 'b'), ('x', 'y'))
    >>> ranked_systems([("x", "a"), ("x", "b"), ("y", "a"), ("z", "b")], ["x", "y", "z"])
    (('a', 'b'), ('x',))
    """
    systems = tuple(dict.fromkeys(system for _, system in runs))
    everywhere = tuple(name for name in systems if all((corpus, name) in runs for corpus in corpora))
    if len(everywhere) > 1:
        return everywhere, tuple(corpora)
    common = tuple(corpus for corpus in corpora if all((corpus, name) in runs for name in systems))
    return (systems, common) if len(systems) > 1 and common else None


def _lacking(results: Sequence[Results], corpora: Sequence[str]) -> Iterator[str]:
    """Which corpora nothing is compared on, and which systems have no run on some that are, so that both are left out.

    `corpora` are those on which systems are compared.
    """
    runs: dict[str, dict[str, None]] = {}
    for each in (one for part in results for one in part.scores):
        runs.setdefault(each.corpus, {})[without_seed(each.system)] = None
    for corpus, systems in runs.items():
        if corpus not in corpora and len(systems) == 1:
            yield f"on {corpus} there is {', '.join(systems)} alone, so that nothing is compared"
    present = dict.fromkeys((corpus, system) for corpus in corpora for system in runs[corpus])
    ranked, common = ranked_systems(present, corpora) or ((), ())
    if ranked and len(common) < len(corpora):
        yield f"fewer than two systems have a run on every corpus, so all are ranked on {', '.join(common)}"
    for system in dict.fromkeys(system for _, system in present):
        without = [corpus for corpus in corpora if (corpus, system) not in present]
        if without and system not in ranked:
            yield f"{system} has no run on {', '.join(without)}, so it is left out of the ranks over all corpora"


def _hopeless(ranking: Ranking, alpha: float) -> Iterator[str]:
    """That no ranks at all could tell two systems apart."""
    found = ranking.friedman
    if found.smallest_p > alpha:
        tied = " with so many ties" if found.tied else ""
        yield (
            f"ranks of {len(ranking.systems)} systems on {found.corpora} corpora{tied} cannot tell any two apart, "
            f"whatever they are: p is {found.smallest_p:.4g} at the least"
        )


def _ranking(
    protocol: str, request: Request, systems: tuple[str, ...], values: Floats, options: CompareOptions
) -> Ranking:
    ranked = friedman(values, request.spec.better or "higher", options.seed)
    critical = ranked.critical(options.alpha)
    groups = tuple(tuple(systems[i] for i in clique) for clique in cliques(ranked.ranks, critical))
    return Ranking(protocol, request, systems, ranked, critical, groups)
