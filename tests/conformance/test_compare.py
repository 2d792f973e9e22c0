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
    reach = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    assert (len(d), len(x)) == (row["effect"]["documents_defined"], 500) == (182, 500)
    assert row["effect"]["detectable"] == pytest.approx(reach * d.std(ddof=1) / np.sqrt(182))
    assert round(row["effect"]["detectable"], 4) == 0.0217
    assert row["effect"]["documents_needed"] == np.ceil((reach * d.std(ddof=1) / d.mean()) ** 2) == 711
    assert row["effect"]["documents_needed_of_corpus"] == 1954  # 711 · 500 / 182
