"""The benchmark of pairs measures what it says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

from benchmarks.pairs import made

ROOT = Path(__file__).parents[2]


def test_the_table_has_seconds_memory_and_the_same_pairs_for_both_ways() -> None:
    command = [sys.executable, "-m", "benchmarks.pairs", "--documents", "400", "700", "--types", "0.2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()[1:-1]]
    assert [line[:2] for line in lines] == [[what, n] for n in ("400", "700") for what in ("make", "join", "mine")]
    for _, (_, _, seconds, peak, pairs), mine in (lines[:3], lines[3:]):
        assert float(seconds) > 0
        assert float(peak) > 1
        assert mine[-1] == pairs != "0"


def test_one_reference_is_in_the_share_of_documents_that_is_asked_for() -> None:
    document, item = made(20_000, 2.8, 0.01, 0)
    assert len(np.unique(document[item == 0])) == (item == 0).sum()
    assert 0.008 < (item == 0).sum() / 20_000 < 0.012
    assert np.array_equal(made(50, 1, 0.1, 3), made(50, 1, 0.1, 3))
