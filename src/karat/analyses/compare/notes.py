"""What a reader of a comparison should know beside its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil

from karat.analyses.compare.options import OVER_SEEDS, CompareOptions
from karat.analyses.compare.result import Pair, Standing
from karat.errors import counted
from karat.metrics.base import Request
from karat.stats.difference import FEWEST, notes_of_differences
from karat.stats.families import LARGEST_EXACT

LARGE = 2.0  # seeds vary much where they make an interval so many times as wide as documents alone do


def equal_systems(pairs: Sequence[Pair], several: bool) -> Iterator[str]:
    """Which systems are equal on every document, and on which metrics; on which of several corpora."""
    alike: dict[tuple[str, tuple[str, ...]], list[Request]] = {}
    for (corpus, request), own in _equal_pairs(pairs).items():
        for systems in _joined(own):
            alike.setdefault((corpus, tuple(systems)), []).append(request)
    for (corpus, names), requests in alike.items():
        where = f" of {corpus}" if several else ""
        metrics = ", ".join(dict.fromkeys(map(label, requests)))
        listed = f"{', '.join(names[:-1])} and {names[-1]}"
        yield f"{listed} are equal on every document{where} ({metrics}): p is 1"


def _equal_pairs(pairs: Sequence[Pair]) -> dict[tuple[str, Request], list[tuple[str, str]]]:
    """By corpus and metric the pairs of systems that are equal on every document."""
    found: dict[tuple[str, Request], list[tuple[str, str]]] = {}
    for pair in pairs:
        if pair.apart.equal:
            found.setdefault((pair.corpus, pair.request), []).append((pair.a, pair.b))
    return found


def _joined(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """The names that are in pairs with one another, directly or over others.

    >>> _joined([("a", "b"), ("c", "d"), ("b", "e")])
    [['a', 'b', 'e'], ['c', 'd']]
    """
    groups: list[dict[str, None]] = []
    for pair in pairs:
        first, *others = [group for group in groups if not group.keys().isdisjoint(pair)] or [{}]
        groups = [group for group in groups if group not in others] + ([first] if not first else [])
        first.update(dict.fromkeys(name for group in (*others, pair) for name in group))
    return [list(group) for group in groups]


def notes_of_tests(pairs: Sequence[Pair], options: CompareOptions) -> Iterator[str]:
    """Yield notes on p-values: unequal systems with few common documents, and metrics where lower is better."""
    for pair in pairs:
        if pair.n < FEWEST and not pair.apart.equal:
            common = "no document" if not pair.n else counted(pair.n, "document")
            yield f"{pair.a} and {pair.b} have {common} in common on {label(pair.request)}: nothing is tested"
    yield from notes_of_differences([(label(pair.request), pair.apart) for pair in pairs if pair.n >= FEWEST])
    yield from _few_resamples(pairs, options)
    lower = dict.fromkeys(label(pair.request) for pair in pairs if pair.request.spec.better == "lower")
    if lower and options.alternative != "two-sided":
        way = "worse" if options.alternative == "greater" else "better"
        yield f"{', '.join(lower)}: lower is better, so the tests ask whether a, the first of two systems, is {way}"


def _few_resamples(pairs: Sequence[Pair], options: CompareOptions) -> Iterator[str]:
    """State that resamples are too few for a p at alpha; without resampling a p is that of t, or of all swaps."""
    tests = {pair.apart.test for pair in pairs if pair.n > LARGEST_EXACT} & {"randomisation", "mcnemar"}
    if tests and options.alpha * (options.drawn + 1) < 1:
        only_t = ", only the t distribution (≈) can" if "randomisation" in tests else ""
        enough = ceil(1 / options.alpha - 1e-9) - 1
        yield (
            f"{counted(options.drawn, 'resample')} cannot give a p of {options.alpha:g} or less{only_t}: use "
            f"--resamples {enough:,} or more"
        )


def notes_of_seeds(pairs: Sequence[Pair], standings: Sequence[Standing], options: CompareOptions) -> Iterator[str]:
    """What is taken for granted where systems have several seeds, and where two of these are too few."""
    over = [pair for pair in pairs if pair.apart.test == OVER_SEEDS]
    seeds = {(each.corpus, each.system): each.seeds for each in standings}
    for name in dict.fromkeys(name for pair in over for name in (pair.a, pair.b) if seeds[pair.corpus, name] == 1):
        yield (
            f"{name} has one run and others have several seeds: its seeds are assumed to vary as those of the system "
            "it is compared with"
        )
    two = [
        pair for pair in over if not pair.apart.equal and 2 in (seeds[pair.corpus, pair.a], seeds[pair.corpus, pair.b])
    ]
    open_ = [pair for pair in two if pair.apart.adjusted > options.alpha and _seeds_vary_much(pair, options.alpha)]
    if open_:
        said = [
            f"{p.a} − {p.b} on {label(p.request)} (significant from {_critical(p, options.alpha):.4f} on)"
            for p in open_
        ]
        yield f"nothing can be concluded from two seeds that differ so much: {', '.join(said)}; take three or more"


def _critical(pair: Pair, alpha: float) -> float:
    """Return the smallest difference that is significant."""
    assert pair.apart.contrast is not None
    return float(pair.apart.contrast.deviation(alpha))


def _seeds_vary_much(pair: Pair, alpha: float) -> bool:
    """Whether seeds make the interval of a difference much wider than documents alone do."""
    assert pair.apart.contrast is not None
    return _critical(pair, alpha) > LARGE * float(pair.apart.contrast.on_documents().deviation(alpha))


def label(request: Request) -> str:
    """A metric with its subset and options."""
    options = "".join(f",{name}={value}" for name, value in request.options)
    return f"{request.label}:{request.subset}{options}"
