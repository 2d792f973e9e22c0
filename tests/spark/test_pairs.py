"""Pairs on Spark: the same as in one process, also where a keyphrase is in very many documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import karat
from karat.pairs.sets import Measure, Sets, join
from tests.spark.commands import Files

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("measure", "least", "equal"),
    [
        ("jaccard", 0.2, False),
        ("jaccard", 0.5, True),
        ("jaccard", 2 / 3, False),
        ("max", 0.6, False),
        ("max", 1.0, True),
    ],
)
def test_a_join_on_spark_is_the_join_of_one_process(measure: Measure, least: float, equal: bool, spark: Any) -> None:
    from karat.spark import engine

    random = np.random.default_rng(24)
    owner = np.repeat(np.arange(600), random.integers(0, 9, 600))
    sets = Sets.of(owner, (random.zipf(1.4, len(owner)) % 200).astype(np.int64), 600)
    here = join(sets, least, measure, equal)
    with engine():
        there = join(sets, least, measure, equal)
    assert len(here.a) > 0
    for name in ("a", "b", "score"):
        assert np.array_equal(getattr(there, name), getattr(here, name))


def test_an_item_that_is_early_in_very_many_sets_is_cut_into_salts(spark: Any) -> None:
    from karat.spark import alike, engine

    many = 3 * alike.HOT // 2
    sets = Sets.of(
        np.repeat(np.arange(many), 2), np.stack([np.zeros(many), np.arange(1, many + 1)], 1).astype(int).ravel(), many
    )
    with engine():
        there = join(sets, 0.3)
    assert len(there.a) == many * (many - 1) // 2
    here = join(sets, 0.3)
    assert np.array_equal(there.a, here.a)
    assert np.array_equal(there.b, here.b)
    assert np.array_equal(there.score, here.score)


def test_no_sets_have_no_pairs(spark: Any) -> None:
    from karat.spark import engine

    with engine():
        assert len(join(Sets.of(np.array([0]), np.array([0]), 3), 0.5).a) == 0


@pytest.mark.parametrize("by", ["references", "text"])
def test_data_frames_become_pairs(by: Any, files: Files, tmp_path: Path, spark: Any) -> None:
    some = tmp_path / "some.jsonl"
    some.write_text("".join(files[0].read_text(encoding="utf-8").splitlines(keepends=True)[:120]), encoding="utf-8")
    options: dict[str, Any] = {"by": by, "min": 0.12, "identical": "keep"}
    found = karat.spark.pairs(spark.read.json(str(some)), **options).collect()
    here = {(row["a"], row["b"]): row["jaccard"] for row in karat.mine_pairs(some, **options)}
    assert {(row.a, row.b): row.jaccard for row in found} == here
    assert len(here) > 3
