"""Simulated systems: tests reject and intervals hold as often as they promise, and power is that of theory."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from benchmarks import statistics
from benchmarks.inference import ranks, retrieval
from benchmarks.statistics import FINISHES, LOWEST, MORE_REFERENCES, PREDICTIONS, WIDTH, simulated_pair
from karat.metrics.base import mean
from karat.stats.difference import Contestants, Inference, adjust_families, compare_pairs
from karat.stats.families import adjust
from karat.stats.influence import contrast, jackknife, score_interval
from karat.stats.resampling import Sample

TRIALS, DOCUMENTS, POWER_TRIALS = 500, 100, 200
ALPHA = 0.05
RARE = 1e-5  # how likely a right test falls outside its limits


def limits(share: float, trials: int = TRIALS) -> tuple[int, int]:
    """Return between which numbers of trials something of this share lies nearly always."""
    return int(stats.binom.ppf(RARE / 2, trials, share)), int(stats.binom.isf(RARE / 2, trials, share))


def true_values() -> dict[str, float]:
    """Return the statistics of a system without gain on infinitely many documents."""
    m = np.arange(1, 100)
    chance = stats.poisson.pmf(m - 1, MORE_REFERENCES)
    hits = (LOWEST + WIDTH / 2) * np.minimum(m, PREDICTIONS)
    f = float((chance * 2 * hits / (PREDICTIONS + m)).sum())
    p, r = float((chance * hits / PREDICTIONS).sum()), float((chance * hits / m).sum())
    return {"mean of F1": f, "F1 of means": 2 * p * r / (p + r)}


@cache
def simulate(trials: int, seed: int, gain: float = 0.0) -> tuple[Counter[str], Counter[str]]:
    """Return in how many trials each test rejects, and each interval holds the true value."""
    rejected, held = Counter[str](), Counter[str]()
    for trial in range(trials):
        for name in FINISHES:
            a, b = simulated_pair(np.random.default_rng([seed, trial]), DOCUMENTS, name, gain)
            [found] = compare_pairs([Contestants([a], [b])], Inference(resamples=999, seed=trial))
            rejected.update({f"{test}, {name}": p <= ALPHA + 1e-12 for test, p in found.tests.items()})
            low, high = found.interval
            least, most = score_interval(contrast(jackknife(b)))
            held.update({f"difference, {name}": low <= 0 <= high, name: least <= true_values()[name] <= most})
    return rejected, held


@pytest.mark.parametrize(
    "name",
    [*(f"{test}, {name}" for test in ("randomisation", "t") for name in FINISHES), "wilcoxon, mean of F1"],
)
def test_a_test_at_5_percent_rejects_5_percent_of_equal_systems(name: str) -> None:
    low, high = limits(ALPHA)
    assert low <= simulate(TRIALS, seed=1)[0][name] <= high


@pytest.mark.parametrize("name", [*FINISHES, *(f"difference, {name}" for name in FINISHES)])
def test_an_interval_of_95_percent_holds_the_truth_in_95_percent(name: str) -> None:
    low, high = limits(0.95)
    assert low <= simulate(TRIALS, seed=1)[1][name] <= high


@pytest.mark.parametrize("share", [0.5, 1.0, 1.5])
def test_a_difference_is_found_as_often_as_theory_says(share: float) -> None:
    power = TTestPower()
    effect = share * power.solve_power(nobs=DOCUMENTS, alpha=ALPHA, power=0.8)
    gain = 0.0
    for _ in range(3):  # the standard deviation of differences depends on the gain a little
        a, b = simulated_pair(np.random.default_rng(0), 400_000, "mean of F1", gain)
        sd = float((a.each() - b.each()).std())
        gain = effect * sd * (LOWEST + WIDTH / 2) / true_values()["mean of F1"]
    low, high = limits(power.power(effect, DOCUMENTS, ALPHA), POWER_TRIALS)
    for name in ("randomisation, mean of F1", "t, mean of F1"):
        assert low <= simulate(POWER_TRIALS, seed=2, gain=gain)[0][name] <= high, name


def test_the_simulated_truth_is_that_of_many_documents() -> None:
    for name, value in true_values().items():
        assert simulated_pair(np.random.default_rng(5), 400_000, name)[0].value() == pytest.approx(value, abs=0.002)


# ---------------------------------------------------------------------------------------------- families and ranks


@pytest.fixture(scope="module")
def families() -> Counter[str]:
    """In how many trials one of ten tests rejects, no two systems being different."""
    rejected = Counter[str]()
    how = Inference(resamples=499)
    for trial in range(TRIALS):
        values = np.random.default_rng([3, trial]).normal(size=(10, 20))
        p = stats.ttest_1samp(values, 0, axis=1).pvalue.tolist()
        rejected.update({name: min(adjust(p, name)) <= ALPHA for name in ("holm", "bh", "none")})
        differences = compare_pairs([_against_zero(row) for row in values], how)
        rejected["max-t"] += min(one.adjusted for one in adjust_families(differences, [0] * 10, how)) <= ALPHA
    return rejected


def _against_zero(values: np.ndarray) -> Contestants:
    a, b = (Sample(np.column_stack([x, np.ones(len(x))]), mean) for x in (values, np.zeros(len(values))))
    return Contestants([a], [b], reach=np.inf)


@pytest.mark.parametrize("name", ["holm", "bh", "max-t"])
def test_adjusted_tests_reject_5_percent_and_tests_that_are_not_adjusted_many(
    families: Counter[str], name: str
) -> None:
    low, high = limits(ALPHA)
    assert low <= families[name] <= high
    low, high = limits(1 - 0.95**10)  # ten independent tests
    assert low <= families["none"] <= high


@pytest.mark.parametrize("corpora", [3, 4, 5, 8])
@pytest.mark.parametrize("systems", [2, 3, 7])
def test_permuted_ranks_reject_no_more_than_5_percent_on_few_corpora(corpora: int, systems: int) -> None:
    rates = {cell.column: cell.rate * TRIALS for cell in ranks.errors(corpora, systems, TRIALS, seed=1)}
    for name in ("Friedman, permuted", "Nemenyi, permuted"):
        assert rates[name] <= limits(ALPHA)[1], name
    if systems == 2 and corpora < 6:  # even if all agree, p is more than .05
        assert rates["Friedman, permuted"] == rates["Nemenyi, permuted"] == 0
        assert rates["Friedman, F"] > limits(ALPHA)[1] or corpora == 5


def test_on_many_corpora_friedmans_f_rejects_5_percent() -> None:
    rates = {cell.column: cell.rate * TRIALS for cell in ranks.errors(12, 5, TRIALS, seed=1)}
    low, high = limits(ALPHA)
    assert low <= rates["Friedman, F"] <= high
    assert 0 < rates["Nemenyi, studentised range"] <= high
    assert 0 < rates["Friedman, χ²"] <= high


# ---------------------------------------------------------------------------------------------- bench


def test_quick_cells_of_retrieval_and_ranks_hold() -> None:
    cells = [*retrieval.cells(200, 1, quick=True), *ranks.cells(200, 1, quick=True)]
    assert [cell for cell in cells if cell.fails and "shifted, wilcoxon" not in cell.row] == []
    assert {cell.section for cell in cells} >= {"retrieval: coverage, difference", "retrieval: type I error"}


def test_the_benchmark_prints_seconds_and_memory(capsys: pytest.CaptureFixture[str]) -> None:
    statistics.main(["--documents", "60", "--resamples", "40", "--repeat", "1"])
    printed = capsys.readouterr().out
    for name in ("randomisation, F1 of means", "comparison of 20 pairs, F1 of means", "BCa interval, F1 of means"):
        assert re.search(rf"^{name} +\d+\.\d{{3}} +\d+$", printed, re.MULTILINE)
