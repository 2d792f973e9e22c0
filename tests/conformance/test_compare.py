"""Two released systems compared where most documents are undefined, against scipy and numpy on values by document."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import karat


def test_what_could_have_been_found_on_unseen_phrases_of_inspec(shared: Path) -> None:
    runs = [shared / "data" / "predictions" / "inspec" / f"{name}.jsonl.gz" for name in ("t5", "one2set")]
    corpus = shared / "data" / "inspec.chan19.jsonl.gz"
    [row] = karat.compare(corpus, *runs, metrics=["f1@M:U"]).rows()
    x, y = (each.per_document() for each in karat.score(corpus, *runs, metrics=["f1@M:U"]).scores)
    d = (x - y)[~np.isnan(x)]
    assert (len(d), len(x)) == (row["n"], 500) == (182, 500)
    error = d.std(ddof=1) / np.sqrt(182)
    assert row["se"] == pytest.approx(error)
    assert row["tests"]["t"] == pytest.approx(stats.ttest_rel(x, y, nan_policy="omit").pvalue)
    df = min(181, 2 * 182 / (2 + (stats.kurtosis(d) / 2)))
    reach = stats.t.ppf(0.975, df)
    assert row["ci"] == pytest.approx([d.mean() - reach * error, d.mean() + reach * error])
    assert row["detectable"] == pytest.approx((reach + stats.t.ppf(0.8, df)) * error, rel=1e-3)
