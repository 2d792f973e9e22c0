"""Documents: intervals, tests, families and plans of comparisons over the documents of one corpus.

Populations are rows of released runs on Inspec and SemEval (T5 and One2Set, CatSeq and ExHiRD), and on acm-cr of
extractors (present phrases) and of keyphrases of similar documents (absent phrases). For tests the better system is
thinned until both have the same statistic (see `populations`). Families are seven systems: the released runs and, where
there are fewer than seven, copies with the documents permuted; they are equal, or three are equal and the others are
better by 15, 30, 45 and 60 %.

Randomisation tests have 999 resamples, families 499. There is no bar for coverage on 10 documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations

import numpy as np

from benchmarks.inference.base import ALPHA, COVERAGE, LEVEL, NO_BAR, TYPE_I, Cell
from benchmarks.inference.populations import (
    ABSENT,
    FOUND,
    OTHERS,
    PRESENT,
    Corpus,
    Hits,
    Population,
    extracted,
    released,
    synthetic,
)
from karat.stats.difference import Contestants, Difference, Inference, adjust_families, compare_pairs
from karat.stats.effects import POWER
from karat.stats.influence import contrast, jackknife, score_interval
from karat.stats.tests import mcnemar_by_document, wilcoxon

SIZES = (10, 25, 80, 400)
LEAST = 25  # documents from which there is a bar for coverage
PAIRS = {"inspec": (("t5", "one2set"), ("catseq", "exhird")), "semeval": (("t5", "one2set"), ("catseq", "exhird"))}
EXTRACTOR_PAIR, NEIGHBOUR_PAIR = ("tfidf", "yake"), ("neighbours3", "neighbours20")
TESTED = (*PRESENT[:3], *ABSENT[3:], *OTHERS)  # statistics of which tests are simulated
PLANNED = ("f1@5:present/mean-of-f", "f1@M:absent/mean-of-f", "f1@M:absent/micro")
FAMILIES = (  # corpus, statistic
    ("inspec", "f1@5:present/f-of-means"),
    ("inspec", "f1@M:absent/mean-of-f"),
    ("semeval", "f1@M:absent/micro"),
    ("acm-cr", "f1@5:present/mean-of-f"),
)
SYSTEMS, EQUAL = 7, 3
GAINS = (0.15, 0.3, 0.45, 0.6)  # of the systems that are better than the three equal ones
RESAMPLES, FAMILY_RESAMPLES = 999, 499
EFFECT = 0.25  # the difference that is planned for, in standard deviations


def cells(trials: int, seed: int, quick: bool = False) -> Iterator[Cell]:
    """Yield all cells of the module; `quick` has synthetic rows only."""
    return chain.from_iterable(part(trials, seed, quick) for part in PARTS)


def _corpus(name: str) -> Corpus:
    return extracted() if name == "acm-cr" else released(name)


def _pairs(requests: Sequence[str], quick: bool, second: bool = False) -> Iterator[tuple[Population, str, str]]:
    """Yield populations of two systems; `second` adds another pair on Inspec and SemEval."""
    if quick:
        for absent in (False, True):
            yield synthetic(2, absent), "system 1", "system 2"
        return
    for name, pairs in PAIRS.items():
        for pair in pairs[: 2 if second else 1]:
            for request in requests:
                yield _corpus(name).population(request, pair), *pair
    for request in requests:
        pair = NEIGHBOUR_PAIR if request in ABSENT else EXTRACTOR_PAIR
        yield _corpus("acm-cr").population(request, pair), *pair


def _cell(section: str, row: str, n: int, outcomes: Sequence[bool] | np.ndarray, bar: tuple[float, float]) -> Cell:
    return Cell(section, row, f"n = {n}", float(np.mean(outcomes)), len(outcomes), bar)


def _bar(n: int) -> tuple[float, float]:
    return COVERAGE if n >= LEAST else NO_BAR


# ---------------------------------------------------------------------------------------------- intervals


def intervals(trials: int, seed: int, quick: bool = False) -> Iterator[Cell]:
    """Yield the coverage of intervals of differences and of single scores."""
    generator = np.random.default_rng([seed, 1])
    for population, a, b in _pairs((*PRESENT, *ABSENT, *OTHERS), quick, second=True):
        row = f"{population.name}, {a} − {b}"
        for n in (25, 80) if quick else SIZES:
            drawn = population.draw(trials, n, generator)
            apart = contrast(population.influences(a, drawn), population.influences(b, drawn), scores=True)
            low, high = apart.interval(LEVEL, reach=1.0)
            true = population.value(a) - population.value(b)
            yield _cell("coverage, difference of two systems", row, n, (low <= true) & (true <= high), _bar(n))
    for population, a, _ in _pairs((*PRESENT, *ABSENT, *OTHERS), quick):
        true = population.value(a)
        for n in (25, 80) if quick else SIZES:
            scores = (
                contrast(jackknife(population.sample(a, drawn))) for drawn in population.draw(trials, n, generator)
            )
            ends = np.array([score_interval(score, LEVEL) for score in scores])
            held = (ends[:, 0] <= true) & (true <= ends[:, 1])
            yield _cell("coverage, single score", f"{population.name}, {a}", n, held, _bar(n))


# ---------------------------------------------------------------------------------------------- tests


def errors(trials: int, seed: int, quick: bool = False) -> Iterator[Cell]:
    """Yield the type I error of every test of two systems."""
    generator = np.random.default_rng([seed, 2])
    how = Inference(resamples=RESAMPLES, correction="none")
    for released_pair, a, b in _pairs(TESTED, quick):
        population = released_pair.equal((a, b), generator)
        for n in (25,) if quick else SIZES:
            p = np.array([_p_values(population, a, b, drawn, how) for drawn in population.draw(trials, n, generator)])
            for i, name in enumerate(("paired randomisation", "jackknife t", "≈ (t, fewer degrees of freedom)")):
                yield _cell(f"type I error, {name}", population.name, n, p[:, i] <= ALPHA, TYPE_I)
            if population.average in ("mean-of-f", "mean"):
                yield _cell("type I error, Wilcoxon, equal means", population.name, n, p[:, 3] <= ALPHA, TYPE_I)
                symmetric = _symmetric(released_pair, a, b, trials, n, generator)
                yield _cell("type I error, Wilcoxon, symmetric differences", population.name, n, symmetric, TYPE_I)
    yield from non_inferiority(trials, seed, quick)
    for hits in _hits(quick):
        equal = hits.equal(generator)
        for n in (25,) if quick else SIZES:
            draws = generator.integers(len(equal.documents), size=(trials, n))
            found = [mcnemar_by_document(*equal.samples(drawn), resamples=RESAMPLES).p <= ALPHA for drawn in draws]
            yield _cell("type I error, McNemar by document", equal.name, n, found, TYPE_I)


def _p_values(population: Population, a: str, b: str, drawn: np.ndarray, how: Inference) -> tuple[float, ...]:
    """Return the p-values of randomisation, t, t with fewer degrees of freedom, and Wilcoxon."""
    [one] = compare_pairs([Contestants([population.sample(a, drawn)], [population.sample(b, drawn)])], how)
    assert one.contrast is not None
    return one.tests["randomisation"], one.tests["t"], float(one.contrast.p()), one.tests["wilcoxon"]


def _symmetric(
    population: Population, a: str, b: str, trials: int, n: int, generator: np.random.Generator
) -> list[bool]:
    """Return the outcomes of Wilcoxon's test where the two systems of each document change places at random."""
    values = np.stack([population.finish(population.systems[name]) for name in (a, b)])
    outcomes = []
    for drawn in population.draw(trials, n, generator):
        first = generator.integers(2, size=n)
        outcomes.append(wilcoxon(values[first, drawn], values[1 - first, drawn]).p <= ALPHA)
    return outcomes


def non_inferiority(trials: int, seed: int, quick: bool = False) -> Iterator[Cell]:
    """Yield how often a system passes that is worse by just the margin."""
    generator = np.random.default_rng([seed, 3])
    for population, a, b in _pairs(TESTED, quick):
        worse, better = sorted((a, b), key=population.value)
        margin = population.value(better) - population.value(worse)
        for n in (25,) if quick else SIZES:
            drawn = population.draw(trials, n, generator)
            apart = contrast(population.influences(worse, drawn), population.influences(better, drawn), scores=True)
            passes = apart.non_inferiority_p(margin) <= ALPHA
            yield _cell("type I error, non-inferiority at the margin", population.name, n, passes, TYPE_I)


def _hits(quick: bool) -> Iterator[Hits]:
    if quick:
        generator = np.random.default_rng(7)
        counts = generator.integers(1, 11, 500)
        rates = generator.beta(0.5, 4, (500, 2))
        found = [(generator.random((count, 2)) < rate).astype(float) for count, rate in zip(counts, rates, strict=True)]
        yield Hits("synthetic", tuple(found))
        return
    for name, ((a, b), _) in PAIRS.items():
        for request in FOUND.values():
            yield _corpus(name).hits(request, (a, b))
    for request, pair in zip(FOUND.values(), (EXTRACTOR_PAIR, NEIGHBOUR_PAIR), strict=True):
        yield _corpus("acm-cr").hits(request, pair)


# ---------------------------------------------------------------------------------------------- families


def families(trials: int, seed: int, quick: bool = False) -> Iterator[Cell]:
    """Yield the family-wise error of seven systems, and the share of true differences that are significant."""
    totals = np.zeros(2)
    differences = 0
    for number in range(1 if quick else len(FAMILIES)):
        generator = np.random.default_rng([seed, 4, number])
        seven = synthetic(SYSTEMS, absent=True) if quick else _seven(number, generator)
        for setting, population in _settings(seven, generator).items():
            names = list(population.systems)
            equal = SYSTEMS if setting == "all equal" else EQUAL  # the first ones
            null = np.array([i < equal and j < equal for i, j in _both()])
            for n in (25,) if quick else SIZES:
                draws = population.draw(max(trials // 4, 1) if quick else trials, n, generator)
                outcomes = np.array([_significant(population, names, drawn, i) for i, drawn in enumerate(draws)])
                wrong = np.asarray(outcomes[:, :, null].any(axis=2))  # [trials, corrections]
                for i, correction in enumerate(("max-T", "Holm")):
                    section = f"family-wise error, {correction}, {setting}"
                    yield _cell(section, population.name, n, wrong[:, i], TYPE_I)
                if not null.all():
                    true = outcomes[:, :, ~null]
                    totals += true.sum(axis=(0, 2))
                    differences += true[:, 0].size
                    for i, correction in enumerate(("max-T", "Holm")):
                        section = f"true differences that are significant, {correction}, {setting}"
                        rate = float(true[:, i].mean())
                        yield Cell(section, population.name, f"n = {n}", rate, len(draws), NO_BAR)
    by_max_t, by_holm = (totals / differences).tolist()
    section = "true differences that are significant, average of all cells"
    yield Cell(section, "Holm", "all n", by_holm, differences, NO_BAR)
    yield Cell(section, "max-T", "all n", by_max_t, differences, (by_holm, 1.0))


def _both() -> list[tuple[int, int]]:
    return list(combinations(range(SYSTEMS), 2))


def _seven(number: int, generator: np.random.Generator) -> Population:
    """Return seven systems: those of the corpus, and copies with the documents permuted."""
    name, request = FAMILIES[number]
    corpus = _corpus(name)
    systems = list(corpus.scores[request])
    population = corpus.population(request, systems)
    rows = dict(population.systems)
    for i in range(SYSTEMS - len(rows)):
        rows[f"copy {i + 1}"] = rows[systems[i]][generator.permutation(population.size)]
    return Population(population.name, rows, population.finish, population.average)


def _settings(seven: Population, generator: np.random.Generator) -> dict[str, Population]:
    """Return the populations in which all systems are equal, and in which three are."""
    names = sorted(seven.systems, key=seven.value)
    ordered = Population(seven.name, {name: seven.systems[name] for name in names}, seven.finish, seven.average)
    # The value of the three that are equal is low enough for every other system to be better by its gain.
    least = min(
        ordered.value(names[0]),
        *(ordered.value(name) / (1 + gain) for name, gain in zip(names[EQUAL:], GAINS, strict=True)),
    )
    targets = dict.fromkeys(names[:EQUAL], least)
    targets |= {name: least * (1 + gain) for name, gain in zip(names[EQUAL:], GAINS, strict=True)}
    return {
        "all equal": ordered.equal(names, generator),
        "3 of 7 equal": ordered.thinned(targets, generator),
    }


def _significant(population: Population, names: Sequence[str], drawn: np.ndarray, seed: int) -> list[list[bool]]:
    """Return whether each pair of systems differs significantly by max-T and by Holm, [2][pairs]."""
    samples = [population.sample(name, drawn) for name in names]
    pairs = [Contestants([samples[i]], [samples[j]]) for i, j in _both()]
    how = Inference(resamples=FAMILY_RESAMPLES, seed=seed)
    differences = compare_pairs(pairs, how)
    return [
        [_is_significant(one) for one in adjust_families(differences, [0] * len(pairs), own)]
        for own in (how, Inference(correction="holm"))
    ]


def _is_significant(one: Difference) -> bool:
    return one.significant(ALPHA)


# ---------------------------------------------------------------------------------------------- plans


def plans(trials: int, seed: int, quick: bool = False) -> Iterator[Cell]:
    """Yield the coverage of the number of documents needed, and the share of plans that have a power of 80 %."""
    generator = np.random.default_rng([seed, 5])
    for population, a, b in _pairs(PLANNED, quick):
        everything = np.arange(population.size)[None]
        whole = contrast(population.influences(a, everything), population.influences(b, everything), scores=True)
        deviation = float(whole.error[0]) * population.size**0.5
        true = documents_for(EFFECT)
        for n in (80,) if quick else SIZES:
            ends, points = [], []
            for drawn in population.draw(trials, n, generator):
                pilot = contrast(
                    jackknife(population.sample(a, drawn)), jackknife(population.sample(b, drawn)), scores=True
                )
                ends.append(pilot.needed_interval(EFFECT * deviation))
                points.append(float(pilot.needed(EFFECT * deviation)))
            low, high = np.array(ends).T
            yield _cell("coverage, documents needed", population.name, n, (low <= true) & (true <= high), _bar(n))
            for name, documents in (("by the number needed", np.array(points)), ("by the upper end", high)):
                section = f"plans with a power of 80 %, {name}"
                yield _cell(section, population.name, n, documents >= true, NO_BAR)


def documents_for(effect: float) -> int:
    """Return the fewest documents on which a t test has a power of 80 % for a difference in standard deviations.

    >>> documents_for(0.5)
    34
    """
    from scipy.stats import nct, t

    n = np.arange(2, 10_000)
    power = nct.sf(t.isf(ALPHA / 2, n - 1), n - 1, effect * np.sqrt(n))
    return int(n[power >= POWER][0])


PARTS = (intervals, errors, families, plans)
