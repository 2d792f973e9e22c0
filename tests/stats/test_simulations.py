"""Tests reject and intervals hold as often as they promise, on simulated systems; and the benchmark prints it."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from benchmarks import statistics
from benchmarks.statistics import simulated, simulated_families, spread_of_differences
from karat.stats.effects import detectable, power_of

TRIALS, DOCUMENTS, POWER_TRIALS = 500, 100, 200
RARE = 1e-5  # how likely a right test falls outside its limits


def limits(share: float, trials: int = TRIALS) -> tuple[int, int]:
    """Between which numbers of trials something of this share lies nearly always."""
    return int(stats.binom.ppf(RARE / 2, trials, share)), int(stats.binom.isf(RARE / 2, trials, share))


@pytest.fixture(scope="module")
def null() -> tuple[Counter[str], Counter[str]]:
    """How often tests reject and intervals hold where two systems are equally good."""
    return simulated(TRIALS, DOCUMENTS, seed=1)


@pytest.fixture(scope="module")
def families() -> Counter[str]:
    return simulated_families(TRIALS, seed=1)


@pytest.mark.parametrize(
    "name",
    [
        "randomisation, mean of F1",
        "randomisation, F1 of means",
        "bootstrap, mean of F1",
        "bootstrap, F1 of means",
        "paired t",
        "Wilcoxon",
        "McNemar, mid-p",
    ],
)
def test_a_test_at_5_percent_rejects_5_percent_of_equal_systems(
    null: tuple[Counter[str], Counter[str]], name: str
) -> None:
    low, high = limits(0.05)
    assert low <= null[0][name] <= high


def test_exact_mcnemar_rejects_no_more_than_5_percent(null: tuple[Counter[str], Counter[str]]) -> None:
    assert 0 < null[0]["McNemar, exact"] <= limits(0.05)[1]
    assert null[0]["McNemar, exact"] < null[0]["McNemar, mid-p"]


@pytest.mark.parametrize("method", ["bca", "percentile"])
@pytest.mark.parametrize("of", ["mean of F1", "F1 of means", "difference of mean of F1", "difference of F1 of means"])
def test_an_interval_of_95_percent_holds_the_truth_in_95_percent(
    null: tuple[Counter[str], Counter[str]], method: str, of: str
) -> None:
    low, high = limits(0.945)  # on 100 documents half a percent is missing
    assert low <= null[1][f"{method}, {of}"] <= high


@pytest.mark.parametrize("name", ["Friedman, F", "Shapiro-Wilk", "any of 10 tests, holm", "any of 10 tests, bh"])
def test_tests_of_many_systems_and_corrected_tests_reject_5_percent(families: Counter[str], name: str) -> None:
    low, high = limits(0.05)
    assert low <= families[name] <= high


def test_nemenyi_and_the_chi_square_of_friedman_reject_no_more_and_uncorrected_tests_many(
    families: Counter[str],
) -> None:
    assert 0 < families["Nemenyi, any pair"] <= limits(0.05)[1]
    assert 0 < families["Friedman, chi²"] <= limits(0.05)[1]
    low, high = limits(1 - 0.95**10)  # ten independent tests
    assert low <= families["any of 10 tests, none"] <= high


@pytest.mark.parametrize("share", [0.5, 1.0, 1.5])
def test_a_difference_is_found_as_often_as_theory_says(share: float) -> None:
    one = spread_of_differences(1e-9)[0] / 1e-9
    gain = share * detectable(spread_of_differences(0.0)[1], DOCUMENTS) / one
    apart, sd = spread_of_differences(gain)
    rejected, _ = simulated(POWER_TRIALS, DOCUMENTS, seed=2, gain=gain)
    low, high = limits(power_of(sd, apart, DOCUMENTS), POWER_TRIALS)
    for name in ("randomisation, mean of F1", "bootstrap, mean of F1", "paired t"):
        assert low <= rejected[name] <= high, name


def test_the_simulated_truth_is_that_of_many_documents() -> None:
    trial = statistics.made_trial(np.random.default_rng(5), 400_000)
    for name, value in statistics.truth().items():
        assert trial.a[name].value() == pytest.approx(value, abs=0.002)


def test_the_benchmark_prints_seconds_and_memory(capsys: pytest.CaptureFixture[str]) -> None:
    statistics.main(["--documents", "60", "--resamples", "40", "--repeat", "1"])
    printed = capsys.readouterr().out
    for name in ("randomisation, F1 of means", "bootstrap, F1 of means", "BCa interval, F1 of means"):
        assert re.search(rf"^{name} +\d+\.\d{{3}} +\d+$", printed, re.MULTILINE)


def test_the_benchmark_prints_how_often_tests_are_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    statistics.main(["--null", "--trials", "4"])
    printed = capsys.readouterr().out
    assert re.search(r"^paired t +\d+\.\d +\d+\.\d$", printed, re.MULTILINE)
    assert re.search(r"^Nemenyi, any pair +\d+\.\d$", printed, re.MULTILINE)
    assert printed.count("document") > 3
