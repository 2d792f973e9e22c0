"""Discriminative power on released runs, against tests of scipy on values by document."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import karat

ROOT = Path(__file__).parents[2]
METRICS = ["f1@M:absent", "soft_f:absent,score=kmr"]


@pytest.mark.parametrize("name", ["inspec", "semeval"])
def test_three_released_systems_are_told_apart_where_scipy_does(shared: Path, name: str) -> None:
    folder = shared / "data" / "predictions" / name
    runs = [folder / f"{each}.jsonl.gz" for each in ("t5", "one2set", "confidence/bart_base")]
    corpus = shared / "data" / f"{name}.chan19.jsonl.gz"
    found = karat.compare(
        corpus, *runs, metrics=METRICS, protocol="kundu2023", test="t", correction="bh", discriminative_power=True
    )
    scores = karat.score(corpus, *runs, metrics=METRICS, protocol="kundu2023").scores
    for power in found.discriminative_power:
        values = [each.per_document() for each in scores if each.request == power.request]
        pairs = list(combinations(values, 2))
        p = [float(stats.ttest_rel(x, y, nan_policy="omit").pvalue) for x, y in pairs]
        assert power.pairs == len(p) == 3
        assert power.significant == sum(each <= 0.05 for each in p)
        assert power.significant_adjusted == sum(stats.false_discovery_control(p) <= 0.05)
        d_z = [abs(np.nanmean(x - y)) / np.nanstd(x - y, ddof=1) for x, y in pairs]
        assert power.d_z == pytest.approx(np.mean(d_z))


def test_soft_scores_tell_more_systems_apart_on_absent_phrases_and_not_on_present_ones(shared: Path) -> None:
    script = str(ROOT / "examples" / "papers" / "power.py")
    done = subprocess.run([sys.executable, script, str(shared / "data")], capture_output=True, text=True, check=True)
    printed = dict(line.rsplit(": ", 1) for line in done.stdout.splitlines())
    both = {
        "f1@M:present": "20 pairs, p 10 (0.500), adjusted 9 (0.450), mean |d_z| 0.130, detectable 0.0383",
        "soft_f:present,score=kmr": "20 pairs, p 11 (0.550), adjusted 9 (0.450), mean |d_z| 0.154, detectable 0.0375",
        "f1@M:absent": "20 pairs, p 7 (0.350), adjusted 2 (0.100), mean |d_z| 0.089, detectable 0.0180",
        "soft_f:absent,score=kmr": "20 pairs, p 10 (0.500), adjusted 8 (0.400), mean |d_z| 0.151, detectable 0.0234",
    }
    assert {name: printed[f"inspec and semeval, {name}"] for name in both} == both
    more = "{}, mean |d_z| of soft_f:absent,score=kmr less that of f1@M"
    assert printed[more.format("inspec")] == "+0.038 [+0.005, +0.072], detectable 0.048"
    assert printed[more.format("semeval")] == "+0.086 [+0.001, +0.170], detectable 0.121"
    assert printed[more.format("inspec and semeval")] == "+0.062 [+0.016, +0.108], detectable 0.065"
