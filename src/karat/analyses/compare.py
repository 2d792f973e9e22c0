"""Systems compared: which is better, by how much, and how sure that is.

The number that is printed is the number that is tested: rows of documents are swapped or drawn again, and the
statistic is finished anew, whether it is a mean of F1 or F1 of means. All systems of a corpus see the same resamples.
P-values are adjusted over all comparisons that are made.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import ceil, isfinite
from pathlib import Path
from typing import Any, Literal

import numpy as np

from karat.analyses.score import ScoreOptions, metrics_to_compute, score_with
from karat.corpus import Corpus, Run
from karat.errors import InputError, unknown
from karat.matching.inputs import (
    CorporaLike,
    CorpusLike,
    Development,
    MetricsLike,
    ProtocolsLike,
    RunLike,
    as_corpora,
    as_metrics,
)
from karat.metrics.base import Request, parse_request
from karat.options import (
    By,
    Correction,
    Extra,
    Interval,
    MatchOptions,
    Missing,
    Progress,
    WorkOptions,
    alpha_option,
    correction_option,
    development_option,
    enough_option,
    group,
    interval_option,
    level_option,
    metrics_option,
    option,
    options_from,
    protocol_option,
    public,
    renamed,
    seed_option,
)
from karat.results import Collection, Displayed, Results, Score, corpus_of, load_all, notes_of, signatures_of, signed
from karat.stats.base import Floats
from karat.stats.corrections import adjusted, bounded
from karat.stats.effects import detectable, documents_needed, effect, spread
from karat.stats.ranks import Friedman, cliques, friedman
from karat.stats.resampling import RESAMPLES, Estimate, Sample, difference, estimate, interval_of
from karat.stats.seeds import Seeds, TwoLevel, seeds_of, two_level
from karat.stats.tests import (
    Alternative,
    Tested,
    enough_resamples,
    mcnemar,
    normality,
    paired_t,
    randomisations,
    shift,
    too_few,
    wilcoxon,
)
from karat.tabular import Table
from karat.vocabulary import VocabularyLike

Test = Literal["randomisation", "bootstrap", "t", "wilcoxon", "mcnemar", "mcnemar_exact"]
TESTS: tuple[Test, ...] = ("randomisation", "bootstrap", "t", "wilcoxon", "mcnemar", "mcnemar_exact")
OVER_SEEDS = "two_level_t"  # the test of systems with several seeds, whatever the options say
NAMES = {
    "randomisation": "paired randomisation",
    "bootstrap": "paired bootstrap",
    "t": "paired t",
    "wilcoxon": "Wilcoxon",
    "mcnemar": "McNemar (mid-p)",
    "mcnemar_exact": "McNemar (exact)",
    OVER_SEEDS: "two-level t over seeds and documents",
}
RESAMPLED = ("randomisation", "bootstrap")  # tests whose p cannot be smaller than their resamples allow
LARGE = 2.0  # seeds vary much where they make an interval so many times as wide as documents alone do
_SEED = re.compile(r"(.+)#(\d+)")  # the name of a system and the number of a seed
BY_DOCUMENT = {"t": paired_t, "wilcoxon": wilcoxon}  # tests of one value a document
EXACT = ("p", "r", "f1")  # metrics that go with the references found, on which McNemar's test is
Better = Literal["higher", "lower"]
Key = tuple[str, str, Request]  # corpus, protocol and request: what one family of systems is compared on


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """How systems are compared."""

    protocol: ProtocolsLike = protocol_option(repeatable=True)
    metrics: MetricsLike | None = metrics_option()
    baseline: str | None = option(
        None, "Compare all systems with this one.", metavar="NAME", otherwise="each with each"
    )
    test: Test = option(
        "randomisation", "The test that is shown and gives the letters; -f json has all of them.", values=TESTS
    )
    alternative: Alternative = option(
        "two-sided",
        "Which differences a − b the tests look for: greater asks whether a, or with --baseline the system that is not "
        "the baseline, has the higher number, less whether it has the lower.",
        values=("two-sided", "greater", "less"),
    )
    alpha: float = alpha_option()
    correction: Correction = correction_option("all comparisons")
    resamples: int | None = enough_option()
    seed: int = seed_option()
    level: float = level_option()
    interval: Interval = interval_option()
    stars: bool = option(False, "Mark differences: * adjusted p at most .05, ** .01, *** .001.")
    all_pairs: bool = option(
        False, "Show the difference of every two systems, not only those to the best; p is adjusted over all anyway."
    )
    join: MatchOptions = group(MatchOptions)
    development: Development | None = development_option()
    work: WorkOptions = group(WorkOptions)

    @property
    def drawn(self) -> int:
        """How many resamples are drawn."""
        return RESAMPLES if self.resamples is None else self.resamples


@dataclass(frozen=True, slots=True)
class Standing:
    """One system's value of one metric: with its interval, over its seeds, and who is as good."""

    corpus: str
    protocol: str
    request: Request
    system: str
    value: float
    interval: tuple[float, float]
    seeds: int = 1
    sd: float = np.nan  # over the seeds
    best: bool = False
    letters: str = ""  # systems without a letter in common differ significantly
    interval_by: str = "bca"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems compared on one metric."""

    corpus: str
    protocol: str
    request: Request
    a: str
    b: str
    value_a: float
    value_b: float
    interval: tuple[float, float]
    tests: Mapping[str, float]
    effect: Mapping[str, float | int | bool | None]
    n: int
    adjusted: Mapping[str, float] = field(default_factory=dict)
    at_floor: frozenset[str] = frozenset()  # tests whose p is the smallest that the resamples can give
    adjusted_at_floor: frozenset[str] = frozenset()  # those whose adjusted p comes from such a p
    interval_by: str = "bca"

    @property
    def difference(self) -> float:
        """By how much a is higher."""
        return self.value_a - self.value_b

    def used(self, test: str) -> str:
        """The test that p and letters go by: the one of the options, or what stands in where it does not apply."""
        return next(name for name in (test, OVER_SEEDS, "bootstrap") if name in self.tests)

    def as_dict(self) -> dict[str, Any]:
        """The row of the JSON output."""
        request = self.request
        return {
            "corpus": self.corpus,
            "protocol": self.protocol,
            "a": self.a,
            "b": self.b,
            "metric": request.label,
            "options": dict(request.options),
            "subset": request.subset,
            "average": request.average,
            "value_a": _or_none(self.value_a),
            "value_b": _or_none(self.value_b),
            "difference": _or_none(self.difference),
            "ci": [_or_none(end) for end in self.interval],
            "ci_by": self.interval_by,
            "tests": {name: _or_none(p) for name, p in self.tests.items()},
            "adjusted": {name: _or_none(p) for name, p in self.adjusted.items()},
            "at_floor": {
                "tests": [name for name in self.tests if name in self.at_floor],
                "adjusted": [name for name in self.adjusted if name in self.adjusted_at_floor],
            },
            "effect": {name: _or_none(value) for name, value in self.effect.items()},
            "n": self.n,
        }


@dataclass(frozen=True, slots=True)
class Ranking:
    """Systems over several corpora on one metric: mean ranks, Friedman's test, and which two of them differ.

    `critical` is how far apart two mean ranks must be at least, infinite where no ranks could be; systems of a clique
    do not differ.
    """

    protocol: str
    request: Request
    systems: tuple[str, ...]
    friedman: Friedman
    critical: float
    cliques: tuple[tuple[str, ...], ...]

    def as_dict(self) -> dict[str, Any]:
        """The row of the JSON output."""
        p = self.friedman.pairwise()
        return {
            "protocol": self.protocol,
            "metric": self.request.label,
            "options": dict(self.request.options),
            "subset": self.request.subset,
            "average": self.request.average,
            "corpora": self.friedman.corpora,
            "ranks": dict(zip(self.systems, self.friedman.ranks.tolist(), strict=True)),
            "chi2": self.friedman.chi2,
            "p": self.friedman.p,
            "f": _or_none(self.friedman.f),
            "f_p": _or_none(self.friedman.f_p),
            "permutation_p": _or_none(self.friedman.permutation_p),
            "method": self.friedman.how,
            "p_used": _or_none(self.friedman.used_p),
            "p_at_floor": self.friedman.at_floor,
            "critical_difference": _or_none(self.critical),
            "smallest_p": self.friedman.smallest_p,
            "cliques": [list(clique) for clique in self.cliques],
            "pairs": [
                {"a": a, "b": b, "p": float(p[i, j])} for (i, a), (j, b) in combinations(enumerate(self.systems), 2)
            ],
        }


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Displayed):
    """What came of comparing systems."""

    standings: tuple[Standing, ...]
    pairs: tuple[Pair, ...]
    rankings: tuple[Ranking, ...]
    documents: Mapping[str, int]  # by corpus
    signatures: Mapping[str, str]
    options: CompareOptions
    notes: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each pair of systems and metric, as in the JSON output."""
        return [pair.as_dict() for pair in self.pairs]

    def systems(self) -> list[dict[str, Any]]:
        """One dict for each system and metric."""
        return [
            {
                "corpus": each.corpus,
                "protocol": each.protocol,
                "system": each.system,
                "metric": each.request.label,
                "options": dict(each.request.options),
                "subset": each.request.subset,
                "average": each.request.average,
                "value": _or_none(each.value),
                "ci": [_or_none(end) for end in each.interval],
                "ci_by": each.interval_by,
                "seeds": each.seeds,
                "sd": _or_none(each.sd),
                "best": each.best,
                "letters": each.letters,
            }
            for each in self.standings
        ]

    def as_dict(self) -> dict[str, Any]:
        """The whole JSON output."""
        return {
            **signed(self.signatures),
            "rows": self.rows(),
            "systems": self.systems(),
            "rankings": [ranking.as_dict() for ranking in self.rankings],
            "notes": list(self.notes),
        }

    def flat_rows(self) -> list[dict[str, Any]]:
        """One dict of plain values for each pair of systems and metric, of the test that is used."""
        from karat.analyses.compare_tables import flat_row

        return [flat_row(self, pair) for pair in self.pairs]

    def tables(self) -> Iterator[Table]:
        """For each corpus and protocol the systems and their differences, then the ranks, then what it all means."""
        from karat.analyses.compare_tables import tables_of

        return tables_of(self)


def _or_none(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value


# ---------------------------------------------------------------------------------------------- what is compared


@public(CompareOptions)
def compare(
    corpus: CorpusLike | CorporaLike | Results | Collection,
    *runs: RunLike | Results | Collection,
    protocol: ProtocolsLike = "karat",
    metrics: MetricsLike | None = None,
    baseline: str | None = None,
    test: Test = "randomisation",
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    correction: Correction = "holm",
    resamples: int | None = None,
    seed: int = 0,
    level: float = 0.95,
    interval: Interval = "bca",
    stars: bool = False,
    all_pairs: bool = False,
    references: str | None = None,
    language: str | None = None,
    by: By | None = None,
    missing: Missing = "error",
    extra: Extra = "error",
    vocabulary: VocabularyLike | None = None,
    development: Development | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Comparison:
    """Two or more systems compared on a corpus, each with each or all with a baseline.

    Instead of a corpus and runs, results can be given: objects or `.karat` files; or several corpora as a dict or a
    list of pairs, each with its runs: systems are then compared on each of them, and by their ranks over all. Runs
    whose names end in `#1`, `#2`... are seeds of one system. Raises InputError if there are fewer than two systems, or
    if results are not of the same documents.
    """
    options = options_from(CompareOptions, locals())
    if all_pairs and baseline is not None:
        raise InputError("--all-pairs shows each system with each, --baseline all with one: leave one of the two out")
    if is_results(corpus):
        if metrics:
            raise InputError("-m chooses nothing in .karat files: score with the metric, or leave it out")
        return compare_results(all_results((corpus, *runs)), options)
    given = as_corpora(corpus, runs)  # type: ignore[arg-type]
    if development is not None and len(given) > 1:
        raise InputError("a development corpus is of one corpus: leave it out with several")
    return compare_results([_scored(documents, systems, options) for documents, systems in given], options)


compare_corpora = renamed(compare, "compare_corpora")


def all_results(given: Iterable[Any]) -> list[Results]:
    """Results that are given as such or by their paths; those of several corpora one by one."""
    found: list[Results] = []
    for each in given:
        if isinstance(each, Collection):
            found += each.parts
        else:
            found += [each] if isinstance(each, Results) else load_all(str(each))
    return found


def is_results(given: Any) -> bool:
    """Whether something is results, or the path of a file of them."""
    return isinstance(given, Results | Collection) or (isinstance(given, str | Path) and str(given).endswith(".karat"))


def _scored(corpus: Corpus, runs: Sequence[Run], options: CompareOptions) -> Results:
    """The results of the metrics, and of the references found wherever McNemar's test goes with one of them."""
    if len(runs) < 2:
        raise InputError(f"two runs or more can be compared, not {len(runs)}")
    requested, remarks = metrics_to_compute(corpus, as_metrics(options.metrics), runs)
    beside = filter(None, map(_found_beside, requested))
    scoring = ScoreOptions(
        protocol=options.protocol,
        metrics=[*dict.fromkeys([*requested, *beside])],
        join=options.join,
        development=options.development,
        work=options.work,
    )
    found = score_with(corpus, runs, scoring)
    return replace(found, remarks=(*remarks, *found.remarks))


def _found_beside(text: str) -> str | None:
    """The metric of single references that goes with an exact one, if any does."""
    request = parse_request(text)
    if request.metric not in EXACT or request.cutoff is None or request.cutoff.kind == "V":
        return None
    return f"found@{request.cutoff}:{request.subset}"


# ---------------------------------------------------------------------------------------------- comparing


def compare_results(results: Sequence[Results], options: CompareOptions) -> Comparison:
    """The systems of results compared; results of one corpus must be of the same documents and signatures."""
    families = families_of(results)
    if not families:
        raise InputError("there is no metric on which two systems could be compared")
    for family in families:
        if options.baseline is not None and options.baseline not in family.systems:
            raise unknown("baseline", options.baseline, family.systems)
    measured = measure(families, options)
    standings, pairs, chosen = measured.standings, measured.pairs, measured.options
    rankings, of_ranks = _rankings(standings, results, chosen)
    return Comparison(
        tuple(_lettered(standings, pairs, chosen)),
        tuple(pairs),
        tuple(rankings),
        {corpus_of(each): len(each.ids) for each in results},
        signatures_of(results),
        chosen,
        (
            *notes_of(results),
            *_equal_systems(pairs, several=len(set(map(corpus_of, results))) > 1),
            *measured.notes(),
            *dict.fromkeys(of_ranks),
        ),
    )


@dataclass(frozen=True, slots=True)
class Measured:
    """Each system by itself and the pairs that are compared, with the options that they were measured by."""

    standings: tuple[Standing, ...]
    pairs: tuple[Pair, ...]
    options: CompareOptions  # with the number of resamples that were drawn

    def notes(self) -> Iterator[str]:
        """What a reader of intervals and p-values should know."""
        yield from _of_seeds(self.pairs, self.standings, self.options)
        yield from _test_notes(self.pairs, self.options)


def measure(families: Sequence[Family], options: CompareOptions, *, tested: bool = True) -> Measured:
    """The systems of families with intervals and, if `tested`, compared: all of a family, or each with the baseline.

    In a family that lacks the baseline none is compared. P-values are adjusted over all comparisons.
    """
    if options.resamples is None:
        comparisons = sum(len(list(_compared(family.systems, options.baseline))) for family in families)
        options = replace(options, resamples=enough_resamples(comparisons if tested else 1, options.alpha))
    measured = [_measured(family, options, tested) for family in families]
    pairs = _adjusted([pair for _, own in measured for pair in own], options)
    return Measured(tuple(each for own, _ in measured for each in own), tuple(pairs), options)


def _equal_systems(pairs: Sequence[Pair], several: bool) -> Iterator[str]:
    """Which systems are equal on every document, and on which metrics; on which of several corpora."""
    alike: dict[tuple[str, tuple[str, ...]], list[Request]] = {}
    for (corpus, request), own in _equal_pairs(pairs).items():
        for systems in _joined(own):
            alike.setdefault((corpus, tuple(systems)), []).append(request)
    for (corpus, names), requests in alike.items():
        where = f" of {corpus}" if several else ""
        metrics = ", ".join(dict.fromkeys(map(_label, requests)))
        listed = f"{', '.join(names[:-1])} and {names[-1]}"
        yield f"{listed} are equal on every document{where} ({metrics}): p is 1"


def _equal_pairs(pairs: Sequence[Pair]) -> dict[tuple[str, Request], list[tuple[str, str]]]:
    """By corpus and metric the pairs of systems that are equal on every document."""
    found: dict[tuple[str, Request], list[tuple[str, str]]] = {}
    for pair in pairs:
        if pair.effect.get("wins") == 0 and pair.effect.get("losses") == 0 and pair.difference == 0:
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


def _test_notes(pairs: Sequence[Pair], options: CompareOptions) -> Iterator[str]:
    """What a reader of the p-values should know: too few resamples, and which way is better."""
    few = too_few(options.drawn, options.alpha, len(pairs) if options.correction == "holm" else 1)
    if few and any(pair.used(options.test) in RESAMPLED for pair in pairs):
        yield few
    lower = dict.fromkeys(_label(pair.request) for pair in pairs if pair.request.spec.better == "lower")
    if lower and options.alternative != "two-sided":
        way = "worse" if options.alternative == "greater" else "better"
        yield f"{', '.join(lower)}: lower is better, so the tests ask whether a, the first of two systems, is {way}"


def _of_seeds(pairs: Sequence[Pair], standings: Sequence[Standing], options: CompareOptions) -> Iterator[str]:
    """What is taken for granted where systems have several seeds, and where two of these are too few."""
    over = [pair for pair in pairs if OVER_SEEDS in pair.tests]
    seeds = {(each.corpus, each.system): each.seeds for each in standings}
    for name in dict.fromkeys(name for pair in over for name in (pair.a, pair.b) if seeds[pair.corpus, name] == 1):
        yield (
            f"{name} has one run, others several seeds: what is found of {name} against these holds for this very run, "
            "not for other seeds of it"
        )
    two = [pair for pair in over if 2 in (seeds[pair.corpus, pair.a], seeds[pair.corpus, pair.b])]
    open_ = [pair for pair in two if pair.adjusted[OVER_SEEDS] > options.alpha and _seeds_vary_much(pair)]
    if open_:
        said = [
            f"{p.a} − {p.b} on {_label(p.request)} (significant from {p.effect['critical_difference']:.4f} on)"
            for p in open_
        ]
        yield f"nothing can be concluded from two seeds that differ so much: {', '.join(said)}; take three or more"


def _seeds_vary_much(pair: Pair) -> bool:
    """Whether seeds make the interval of a difference much wider than documents alone do."""
    whole, on_documents = (pair.effect[name] for name in ("critical_difference", "critical_difference_on_documents"))
    return whole is not None and on_documents is not None and whole > LARGE * on_documents


def _label(request: Request) -> str:
    options = "".join(f",{name}={value}" for name, value in request.options)
    return f"{request.label}:{request.subset}{options}"


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
    systems: Mapping[str, list[Score]]
    found: Mapping[str, list[Score]]  # single references, where McNemar's test goes with the metric

    @property
    def better(self) -> Better:
        """Which values are better; the higher ones where neither is known to be."""
        return self.request.spec.better or "higher"


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
        Family(corpus, protocol, request, len(parts[0].ids), systems, _beside(beside, protocol, request))
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


@dataclass(frozen=True, slots=True)
class _System:
    """One system of a family: the samples of its seeds, and how sure their values are."""

    name: str
    samples: list[Sample]
    values: list[float]
    estimate: Estimate | None  # where there is but one seed
    seeds: Seeds | None  # where any system of the family has several

    @property
    def value(self) -> float:
        return float(np.mean(self.values))


def _measured(family: Family, options: CompareOptions, tested: bool) -> tuple[list[Standing], list[Pair]]:
    """What is found on one metric: each system by itself, and the pairs that are compared, if any are."""
    names = list(family.systems)
    samples = [[sample_of(score, family.documents) for score in family.systems[name]] for name in names]
    single = [own[0] for own in samples if len(own) == 1]
    drawn = iter(estimate(single, options.drawn, options.seed) if single else ())
    several = len(single) < len(samples)
    systems = [
        _System(
            name,
            own,
            [sample.value() for sample in own],
            next(drawn) if len(own) == 1 else None,
            seeds_of(own) if several else None,
        )
        for name, own in zip(names, samples, strict=True)
    ]
    by_name = {system.name: system for system in systems}
    ordered = [(by_name[a], by_name[b]) for a, b in _compared(names, options.baseline)] if tested else []
    swapped = _randomised(ordered, options)
    pairs = [
        _pair_over_seeds(family, a, b, options) if swap is None else _pair(family, a, b, swap, options)
        for (a, b), swap in zip(ordered, swapped, strict=True)
    ]
    return [_standing(family, system, systems, options) for system in systems], pairs


def _compared(systems: Iterable[str], baseline: str | None) -> Iterator[tuple[str, str]]:
    """The pairs that are compared: each two systems, or each other one with the baseline, which comes second."""
    for a, b in combinations(systems, 2):
        if baseline in (None, a, b):
            yield (b, a) if baseline == a else (a, b)


def _randomised(pairs: Sequence[tuple[_System, _System]], options: CompareOptions) -> list[Tested | None]:
    """The test by randomisation of each pair that has one seed each."""
    single = [len(a.samples) == len(b.samples) == 1 for a, b in pairs]
    samples = [(a.samples[0], b.samples[0]) for (a, b), one in zip(pairs, single, strict=True) if one]
    found = iter(randomisations(samples, options.drawn, options.seed, options.alternative) if samples else ())
    return [next(found) if one else None for one in single]


def _standing(family: Family, system: _System, systems: Sequence[_System], options: CompareOptions) -> Standing:
    values = [one.value for one in systems if one.value == one.value]
    top = (max if family.better == "higher" else min)(values, default=np.nan)
    several = system.estimate is None
    if system.estimate is not None:
        ends = interval_of(system.estimate, options.level, options.interval)
    else:
        assert system.seeds is not None
        ends = _clipped(two_level(system.seeds), options.level, *family.request.spec.bounds)
    return Standing(
        family.corpus,
        family.protocol,
        family.request,
        system.name,
        system.value,
        ends,
        len(system.values),
        float(np.std(system.values, ddof=1)) if several else np.nan,
        bool(abs(system.value - top) < 1e-12),
        interval_by=OVER_SEEDS if several else options.interval,
    )


def _clipped(found: TwoLevel, level: float, lowest: float, highest: float) -> tuple[float, float]:
    """The interval over seeds, as far as values can lie in it: few seeds may make it wider than that."""
    low, high = found.interval(level)
    return float(np.maximum(low, lowest)), float(np.minimum(high, highest))


def _pair(family: Family, a: _System, b: _System, swapped: Tested, options: CompareOptions) -> Pair:
    """Two systems with one run each compared."""
    assert a.estimate is not None
    assert b.estimate is not None
    apart = difference(a.estimate, b.estimate)
    drawn = {"randomisation": swapped, "bootstrap": shift(apart, options.alternative)}
    effects: dict[str, float | int | bool | None] = {}
    n = family.documents
    tests: dict[str, float] = {}
    by_document = _by_document(a.samples, b.samples)
    if by_document is not None:
        x, y = by_document
        verdict = normality(x, y)
        tests = {name: test(x, y, options.alternative).p for name, test in BY_DOCUMENT.items()}
        effects, n = _effects(x, y)
        effects |= {"normal": verdict.normal, "shapiro": verdict.p}
    tests |= _mcnemar(family, a.name, b.name, options.alternative)
    return Pair(
        family.corpus,
        family.protocol,
        family.request,
        a.name,
        b.name,
        a.value,
        b.value,
        interval_of(apart, options.level, options.interval),
        {name: each.p for name, each in drawn.items()} | tests,
        effects | _reach(apart, [*a.samples, *b.samples], options),
        n,
        at_floor=frozenset(name for name, each in drawn.items() if each.at_floor),
        interval_by=options.interval,
    )


def _reach(apart: Estimate, samples: Sequence[Sample], options: CompareOptions) -> dict[str, float | int | bool | None]:
    """What difference could have been found, and how many documents it takes to find the one that was.

    Both count documents that bring anything to the metric. As many of a corpus like this one take some more, those on
    which it is undefined among them.
    """
    defined = np.any([sample.defined() for sample in samples], axis=0)
    count = int(defined.sum())
    # Items are left out by groups of documents, all of which are taken to bring something.
    sd = spread(apart, defined if len(apart.left_out) == len(defined) else None)
    needed = documents_needed(sd, apart.value, options.alpha, alternative=options.alternative)
    return {
        "detectable": detectable(sd, count, options.alpha, alternative=options.alternative) if count else np.nan,
        "documents_needed": needed,
        "documents_needed_of_corpus": _whole(needed * len(defined) / count) if count else needed,
        "documents_defined": count,
    }


def _whole(number: float | Floats) -> float:
    """A number of documents: the next whole one, where it is finite."""
    return ceil(number) if isfinite(number) else float(number)


def _pair_over_seeds(family: Family, a: _System, b: _System, options: CompareOptions) -> Pair:
    """Two systems compared of which one or both have several seeds: by documents and seeds together."""
    assert a.seeds is not None
    assert b.seeds is not None
    apart = two_level(a.seeds, b.seeds)
    effects: dict[str, float | int | bool | None] = {}
    defined = np.array([sample.defined() for sample in (*a.samples, *b.samples)])
    n = int(defined.all(axis=0).sum())
    by_document = _by_document(a.samples, b.samples)
    if by_document is not None:
        effects, n = _effects(*by_document)
    count = int(defined.any(axis=0).sum())
    each = count / max(apart.n, 1)  # of items whole groups of documents are left out
    needed = _whole(apart.documents_needed(options.alpha, alternative=options.alternative) * each)
    effects |= {
        "detectable": float(apart.detectable(options.alpha, alternative=options.alternative)),
        "documents_needed": needed,
        "documents_needed_of_corpus": _whole(needed * family.documents / count) if count else needed,
        "documents_defined": count,
        "critical_difference": float(apart.deviation(options.alpha)),
        "critical_difference_on_documents": float(apart.on_documents().deviation(options.alpha)),
        "se": float(apart.error),
        "se_documents": float(np.sqrt(apart.documents)),
        "se_seeds": float(np.sqrt(apart.seeds)),
        "df_documents": apart.n - 1,
        "df_seeds": float(apart.df_seeds),
    }
    lowest, highest = family.request.spec.bounds
    ends = _clipped(apart, options.level, lowest - highest, highest - lowest)
    tests = {OVER_SEEDS: float(apart.p(options.alternative))}
    found = Pair(
        family.corpus, family.protocol, family.request, a.name, b.name, a.value, b.value, ends, tests, effects, n
    )
    return replace(found, interval_by=OVER_SEEDS)


def _effects(x: Floats, y: Floats) -> tuple[dict[str, float | int | bool | None], int]:
    """(how large the difference of documents' values is, on how many documents both have one)."""
    found = effect(x, y)
    sizes = {name: getattr(found, name) for name in ("d_z", "superiority", "wins", "ties", "losses")}
    return sizes, found.documents


def _by_document(a: Sequence[Sample], b: Sequence[Sample]) -> tuple[Floats, Floats] | None:
    """The values of each document, over all seeds of a system, where the statistic has such."""
    if any(sample.by_document() is None for sample in (*a, *b)):
        return None
    x, y = (np.mean([sample.each() for sample in samples], axis=0) for samples in (a, b))
    return x, y


def _mcnemar(family: Family, a: str, b: str, alternative: Alternative) -> dict[str, float]:
    """McNemar's test of the references found, where both systems have them."""
    if a not in family.found or b not in family.found:
        return {}
    x, y = (family.found[name][0].rows.values for name in (a, b))
    if len(x) != len(y):
        return {}
    found = mcnemar(x[:, 0], y[:, 0], alternative)
    return {"mcnemar": found.mid_p, "mcnemar_exact": found.exact}


def _adjusted(pairs: Sequence[Pair], options: CompareOptions) -> list[Pair]:
    """The pairs with the p of each test adjusted over all comparisons that were made by it.

    Systems with several seeds have one test alone: its p counts among those of every other test.
    """
    corrected: list[dict[str, float]] = [{} for _ in pairs]
    floored: list[set[str]] = [set() for _ in pairs]
    for test in TESTS:
        own = [i for i, pair in enumerate(pairs) if test in pair.tests or OVER_SEEDS in pair.tests]
        names = [pairs[i].used(test) for i in own]
        p = [pairs[i].tests[name] for i, name in zip(own, names, strict=True)]
        at_floor = [name in pairs[i].at_floor for i, name in zip(own, names, strict=True)]
        after, bounds = adjusted(p, options.correction), bounded(p, at_floor, options.correction)
        for i, name, each, bound in zip(own, names, after, bounds, strict=True):
            if test in (name, options.test):
                corrected[i][name] = each
                floored[i] |= {name} if bound else set()
    return [
        replace(pair, adjusted=found, adjusted_at_floor=frozenset(at_floor))
        for pair, found, at_floor in zip(pairs, corrected, floored, strict=True)
    ]


# ---------------------------------------------------------------------------------------------- letters and ranks


def _lettered(standings: Sequence[Standing], pairs: Sequence[Pair], options: CompareOptions) -> list[Standing]:
    """The standings with letters: systems that share one do not differ significantly.

    With a baseline not all are compared, and one-sided tests ask one way alone: then there are none.
    """
    if options.baseline is not None or options.alternative != "two-sided":
        return list(standings)
    families: dict[Key, list[int]] = {}
    for i, each in enumerate(standings):
        families.setdefault((each.corpus, each.protocol, each.request), []).append(i)
    apart: dict[Key, set[frozenset[str]]] = {}
    for pair in pairs:
        if pair.adjusted[pair.used(options.test)] <= options.alpha:
            key = pair.corpus, pair.protocol, pair.request
            apart.setdefault(key, set()).add(frozenset((pair.a, pair.b)))
    found = list(standings)
    for key, members in families.items():
        sign = -1 if key[2].spec.better != "lower" else 1
        order = sorted(members, key=lambda i: (np.isnan(standings[i].value), sign * standings[i].value))
        given = letters([standings[i].system for i in order], apart.get(key, set()))
        for i in order:
            found[i] = replace(found[i], letters=given[standings[i].system])
    return found


def letters(systems: Sequence[str], apart: set[frozenset[str]]) -> dict[str, str]:
    """The letters of systems, given from the best on and who differs: without a letter in common exactly those.

    By insertion and absorption (Piepho 2004).

    >>> letters(["x", "y", "z"], {frozenset("xz")})
    {'x': 'a', 'y': 'ab', 'z': 'b'}
    """
    groups = [set(systems)]
    for pair in sorted(map(sorted, apart)):
        one, other = pair
        split = [group for group in groups if one in group and other in group]
        groups = [group for group in groups if group not in split]
        groups += [rest for whole in split for rest in (whole - {one}, whole - {other})]
        groups = [g for i, g in enumerate(groups) if not any(g < h or (g == h and j < i) for j, h in enumerate(groups))]
    place = {system: i for i, system in enumerate(systems)}
    groups.sort(key=lambda group: sorted(place[system] for system in group))
    return {system: "".join(_letter(i) for i, g in enumerate(groups) if system in g) for system in systems}


def _letter(number: int) -> str:
    return chr(ord("a") + number) if number < 26 else f"({number + 1})"


def _rankings(
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
            notes.append(f"{_label(request)}: not ranked, since it is not compared on {', '.join(without)}")
        systems = tuple(name for name in names if all((corpus, name) in own for corpus in corpora))
        if len(systems) < 2:
            continue
        values = np.array([[own[corpus, name] for name in systems] for corpus in corpora])
        undefined = [corpus for corpus, row in zip(corpora, values, strict=True) if np.isnan(row).any()]
        if undefined:
            notes.append(f"{_label(request)}: undefined on {', '.join(undefined)}, which its ranks leave out")
        if len(corpora) - len(undefined) > 1:
            found.append(_ranking(protocol, request, systems, values, options))
    return found, [*notes, *(note for ranking in found for note in _hopeless(ranking, options.alpha))]


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
    for system in dict.fromkeys(system for corpus in corpora for system in runs[corpus]):
        without = [corpus for corpus in corpora if system not in runs[corpus]]
        if without:
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
