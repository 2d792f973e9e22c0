"""The discriminative power of metrics against tests of scipy, and on systems that are equally good."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import karat
from karat.analyses.compare import compare
from karat.stats.difference import Test
from tests.analyses.test_compare import corpus, run

METRICS = ["f1@M", "p@1"]
SYSTEMS = [run(f"s{i}", 0.4 + 0.06 * i, seed=i) for i in range(5)]
Floats = NDArray[np.float64]


def by_metric(documents: karat.Corpus, systems: Sequence[karat.Run], metrics: Sequence[str]) -> list[list[Floats]]:
    """For each metric the values of documents of each system."""
    scores = karat.score(documents, *systems, metrics=metrics).scores
    return [[each.per_document() for each in scores if str(each.request.label) == metric] for metric in metrics]


def holm(p: Sequence[float]) -> list[float]:
    order = sorted(range(len(p)), key=lambda i: p[i])
    adjusted, highest = [0.0] * len(p), 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, (len(p) - rank) * p[i]))
        adjusted[i] = highest
    return adjusted


def powers(found: Any) -> list[dict[str, Any]]:
    return list(found.as_dict()["discriminative_power"])


@pytest.mark.parametrize(("test", "alpha"), [("t", 0.05), ("t", 0.2), ("wilcoxon", 0.05)])
def test_pairs_are_significant_where_scipy_says_so(test: Test, alpha: float) -> None:
    found = compare(
        corpus(), *SYSTEMS, metrics=METRICS, test=test, correction="holm", alpha=alpha, discriminative_power=True
    )
    for row, values in zip(powers(found), by_metric(corpus(), SYSTEMS, METRICS), strict=True):
        pairs = list(combinations(values, 2))
        how = stats.ttest_rel if test == "t" else lambda x, y: stats.wilcoxon(x, y, correction=False, mode="approx")
        p = [float(how(x, y).pvalue) for x, y in pairs]
        adjusted = holm(p)
        assert row["pairs"] == 10
        assert row["significant"] == sum(each <= alpha for each in p) == round(10 * row["share"])
        assert (
            row["significant_adjusted"] == sum(each <= alpha for each in adjusted) == round(10 * row["share_adjusted"])
        )
        assert 0 < row["significant_adjusted"] < row["significant"] < 10
        d_z = [abs((x - y).mean()) / (x - y).std(ddof=1) for x, y in pairs]
        assert row["mean_abs_d_z"] == pytest.approx(sum(d_z) / 10)
        assert row["mean_detectable"] == pytest.approx(np.mean([detectable(x - y, alpha) for x, y in pairs]))


def detectable(d: Floats, alpha: float) -> float:
    """(t of 1 − α/2 + t of .8) s / √n, with fewer degrees of freedom where tails are heavy."""
    n = len(d)
    df = min(n - 1, 2 * n / (2 + max(float(stats.kurtosis(d)), 0) / 2))
    return float((stats.t.ppf(1 - alpha / 2, df) + stats.t.ppf(0.8, df)) * d.std(ddof=1) / np.sqrt(n))


def test_a_random_swap_of_documents_by_scipy_finds_the_same_pairs() -> None:
    [row] = powers(compare(corpus(), *SYSTEMS, metrics=["f1@M"], correction="none", discriminative_power=True))
    [values] = by_metric(corpus(), SYSTEMS, ["f1@M"])
    p = []
    for x, y in combinations(values, 2):
        swapped = stats.permutation_test(
            (x - y,), np.mean, permutation_type="samples", n_resamples=5000, vectorized=True, rng=1
        )
        p.append(float(swapped.pvalue))
    assert min(abs(each - 0.05) for each in p) > 0.005  # no p is so near to alpha that draws decide
    assert row["significant"] == row["significant_adjusted"] == sum(each <= 0.05 for each in p)


def test_the_seed_decides_every_figure_and_p_is_that_of_the_pairs() -> None:
    one, same, other = (
        compare(corpus(), *SYSTEMS, metrics=METRICS, resamples=300, seed=seed, discriminative_power=True)
        for seed in (1, 1, 2)
    )
    assert one.as_dict() == same.as_dict()
    assert karat.render(one, "table", 80) == karat.render(same, "table", 80)
    assert one.rows() != other.rows()
    for each in one.discriminative_power:
        own = [row for row in one.rows() if row["metric"] == each.request.label]
        assert each.significant == sum(row["p"] <= 0.05 for row in own)
        assert each.significant_adjusted == sum(row["p_adjusted"] <= 0.05 for row in own)


def test_systems_that_are_equally_good_are_told_apart_in_alpha_of_the_cases() -> None:
    """Five systems that find each reference with probability .5, on 40 corpora of 150 documents."""
    listed = [(corpus(150, f"c{i}"), [run(f"s{j}", 0.5, 150, seed=1000 * i + j) for j in range(5)]) for i in range(40)]
    found = powers(compare(listed, metrics=["r@M"], resamples=999, discriminative_power=True))
    single, mean = found[:-1], found[-1]
    assert len(single) == len(mean["corpora"]) == 40
    assert mean["pairs"] == sum(row["pairs"] for row in single) == 400
    assert mean["share"] == pytest.approx(sum(row["share"] for row in single) / 40)
    assert 0.02 <= mean["share"] <= 0.08  # alpha is .05; of 400 independent pairs the standard error is .011
    assert sum(row["significant_adjusted"] > 0 for row in single) <= 5  # of 40 corpora; P = .986 at .05


def test_equal_systems_are_a_pair_that_is_not_told_apart() -> None:
    same = karat.Run.of(list(SYSTEMS[0]), name="same")
    [row] = powers(compare(corpus(), SYSTEMS[0], same, metrics=["f1@M"], discriminative_power=True))
    assert (row["pairs"], row["significant"], row["share"], row["mean_abs_d_z"]) == (1, 0, 0.0, 0.0)
    assert row["mean_detectable"] is None


def test_a_median_of_phrases_has_no_effect_size() -> None:
    draw = np.random.default_rng(0)
    systems = [
        karat.Run.of(
            [{**line, "token_probs": (high * draw.random((3, 1))).tolist()} for line in lines(run(name, 0.5))],
            name=name,
        )
        for name, high in (("sure", 1.0), ("unsure", 0.3))
    ]
    found = compare(corpus(), *systems, metrics=["kpp"], discriminative_power=True)
    [row] = powers(found)
    assert row["mean_abs_d_z"] is None
    assert row["significant"] == row["share"] == 1
    text = karat.render(found, "table", 80)
    assert [line.split()[-2] for line in text.splitlines() if line.startswith("  kpp all ")][-1] == "–"


def lines(system: karat.Run) -> list[dict[str, Any]]:
    return [{"id": each.id, "keyphrases": list(each.keyphrases or [])} for each in system]


def test_a_pair_that_cannot_be_tested_does_not_count() -> None:
    short = [run(f"s{i}", 0.3 + 0.2 * i, 2, seed=i) for i in range(2)]
    [row] = powers(compare(corpus(2), *short, metrics=["f1@M"], discriminative_power=True))
    assert (row["pairs"], row["significant"], row["share"], row["share_adjusted"]) == (0, 0, None, None)


def test_the_mean_over_corpora_is_of_the_metrics_that_all_of_them_have(tmp_path: Path) -> None:
    paths = []
    for name, metrics in (("one", METRICS), ("other", METRICS[:1])):
        paths.append(str(tmp_path / f"{name}.karat"))
        karat.score(corpus(name=name), *SYSTEMS, metrics=metrics).save(paths[-1])
    found = compare(*paths, resamples=300, discriminative_power=True)
    rows = [(row["corpora"], row["metric"], row["pairs"]) for row in powers(found)]
    assert rows == [
        (["one"], "f1@M", 10),
        (["one"], "p@1", 10),
        (["other"], "f1@M", 10),
        (["one", "other"], "f1@M", 20),
    ]
    assert (
        "p@1:all: no mean discriminative power, since on some corpus no pair of systems could be tested" in found.notes
    )


def test_it_is_shown_and_in_json_only_on_request() -> None:
    plain = compare(corpus(), *SYSTEMS, metrics=["f1@M"], resamples=300)
    asked = compare(corpus(), *SYSTEMS, metrics=["f1@M"], resamples=300, discriminative_power=True)
    assert plain.discriminative_power == ()
    assert "discriminative_power" not in plain.as_dict()
    for form in ("table", "md", "html", "latex", "typst"):
        assert "Discriminative power" not in karat.render(plain, form)
        assert "Discriminative power" in karat.render(asked, form)


@pytest.mark.parametrize(
    ("options", "flag"), [({"baseline": "s1"}, "--baseline"), ({"alternative": "less"}, "--alternative")]
)
def test_tests_that_leave_pairs_or_a_side_out_are_refused(options: dict[str, Any], flag: str) -> None:
    expected = f"--discriminative-power needs two-sided tests of every two systems: leave {flag} out"
    with pytest.raises(karat.InputError, match=expected):
        compare(corpus(), *SYSTEMS, discriminative_power=True, **options)
