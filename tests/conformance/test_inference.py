"""Two released systems on SemEval, whole and cut off: figures of comparisons against scipy, statsmodels and loops."""

import gzip
import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

import karat
from karat.stats.base import Floats
from karat.stats.difference import Correction

METRICS = ("f1@M:present", "f1@M:absent")  # most documents score 0 on the latter

Row = dict[str, Any]
Values = dict[str, Floats]


@pytest.fixture(scope="module")
def runs(shared: Path) -> list[karat.Run]:
    """The systems, and the same with their first phrases alone: seven systems, some of which depend on each other."""
    systems = []
    for name, cuts in (("t5", (3, 5, 8)), ("one2set", (3, 5))):
        with gzip.open(
            shared / "data" / "predictions" / "semeval" / f"{name}.jsonl.gz", "rt", encoding="utf-8"
        ) as file:
            lines = [json.loads(line) for line in file]
        systems.append(karat.Run.of(lines, name=name))
        for cut in cuts:
            shorter = [{"id": line["id"], "keyphrases": line["keyphrases"][:cut]} for line in lines]
            systems.append(karat.Run.of(shorter, name=f"{name}-{cut}"))
    return systems


@pytest.fixture(scope="module", params=METRICS)
def compared(request: pytest.FixtureRequest, shared: Path, runs: list[karat.Run]) -> tuple[list[Row], Values]:
    """The rows of a comparison, and the values of documents by system."""
    corpus = shared / "data" / "semeval.chan19.jsonl.gz"
    scores = karat.score(corpus, *runs, metrics=[request.param]).scores
    rows = karat.compare(corpus, *runs, metrics=[request.param]).rows()
    return rows, {score.system: score.per_document() for score in scores}


def _difference(row: Row, values: Values) -> Floats:
    d = values[row["a"]] - values[row["b"]]
    return d[~np.isnan(d)]


def test_differences_errors_intervals_and_tests_are_those_of_scipy(compared: tuple[list[Row], Values]) -> None:
    rows, values = compared
    assert len(rows) == len(list(combinations(values, 2)))
    for row in rows:
        d = _difference(row, values)
        n = len(d)
        error, df = _error(values[row["a"]], values[row["b"]])
        assert row["n"] == n
        assert row["difference"] == pytest.approx(d.mean())
        assert row["se"] == pytest.approx(error)
        assert row["tests"]["t"] == pytest.approx(2 * stats.t.sf(abs(d.mean()) / error, n - 1))
        if error == pytest.approx(stats.sem(d)):
            assert row["tests"]["t"] == pytest.approx(stats.ttest_1samp(d, 0).pvalue)
        half = stats.t.ppf(0.975, df) * error
        assert row["ci"] == pytest.approx([d.mean() - half, d.mean() + half])
        wilcoxon = stats.wilcoxon(d[d != 0], method="exact" if (d != 0).sum() <= 50 and not _ties(d) else "approx")
        if not _ties(d):
            assert row["tests"]["wilcoxon"] == pytest.approx(wilcoxon.pvalue, rel=1e-6)
        assert row["effect"]["d_z"] == pytest.approx(d.mean() / d.std(ddof=1))


def _error(x: Floats, y: Floats) -> tuple[float, float]:
    """The standard error and degrees of freedom: at least the variance of one document where most documents score 0."""
    both = ~np.isnan(x) & ~np.isnan(y)
    d, c = (x - y)[both], np.concatenate([x[both], y[both]])
    n = len(d)
    df = min(n - 1, 2 * n / (2 + max(stats.kurtosis(d), 0) / 2))
    size = (c**4).sum() / (c**2).sum()
    kurtosis = len(c) * size / (c**2).sum()
    least = max(1 - 3 / kurtosis, 0) * size / n**2
    if least > stats.sem(d) ** 2:
        return float(np.sqrt(least)), min(df, 2 * n / (2 + (n - 3) / 2))
    return float(stats.sem(d)), df


def _ties(d: Floats) -> bool:
    sizes = np.abs(d[d != 0])
    return len(np.unique(sizes)) < len(sizes)


def test_randomisation_is_that_of_signs_drawn_by_hand(compared: tuple[list[Row], Values]) -> None:
    rows, values = compared
    random = np.random.default_rng(7)
    for row in rows:
        d = _difference(row, values)
        moving = d[d != 0]
        drawn = np.abs((1.0 - 2.0 * random.integers(0, 2, (20_000, len(moving)))) @ moving)
        p = (np.sum(drawn >= abs(moving.sum()) - 1e-9) + 1) / 20_001
        error = np.sqrt(p * (1 - p) * (1 / 20_000 + 1 / 10_000))
        assert row["tests"]["randomisation"] == pytest.approx(p, abs=4 * error + 2e-4)


def test_adjusted_p_is_that_of_a_step_down_loop(compared: tuple[list[Row], Values]) -> None:
    rows, values = compared
    random = np.random.default_rng(8)
    defined = ~np.isnan(np.stack(list(values.values()))).any(axis=0)
    z = np.stack([(values[row["a"]] - values[row["b"]])[defined] for row in rows])
    z = z / np.sqrt((z**2).sum(axis=1, keepdims=True))
    observed = np.abs(z.sum(axis=1))
    drawn = np.abs((1.0 - 2.0 * random.integers(0, 2, (20_000, z.shape[1]))) @ z.T)
    left, largest = list(range(len(rows))), 0.0
    while left:
        first = max(left, key=lambda i: observed[i])
        p = (np.sum(drawn[:, left].max(axis=1) >= observed[first] - 1e-9) + 1) / 20_001
        largest = max(largest, float(p))
        row = rows[first]
        if not row["p_adjusted_approximate"]:
            error = np.sqrt(largest * (1 - largest) * (1 / 20_000 + 1 / 10_000))
            assert row["p_adjusted"] == pytest.approx(max(largest, row["p"]), abs=4 * error + 2e-4)
        left.remove(first)


def test_holm_and_benjamini_hochberg_are_those_of_statsmodels(shared: Path, runs: list[karat.Run]) -> None:
    corpus = shared / "data" / "semeval.chan19.jsonl.gz"
    corrections: dict[Correction, str] = {"holm": "holm", "bh": "fdr_bh"}
    for correction, name in corrections.items():
        rows = karat.compare(corpus, *runs, metrics=METRICS[:1], correction=correction, test="t", resamples=99).rows()
        expected = multipletests([row["p"] for row in rows], method=name)[1]
        assert [row["p_adjusted"] for row in rows] == pytest.approx(expected)
