"""Every figure that the original scripts print for the made corpus and the odd documents."""

from pathlib import Path

import pytest

import karat
from tests.figures import Figure, Key, differences, read_figures

GOLDEN = Path(__file__).parent / "golden"
FIGURES = read_figures(GOLDEN / "figures.jsonl")


def corpus_and_run(key: Key) -> tuple[karat.Corpus, karat.Run]:
    name, system, _ = key
    if name == "edge":
        corpus = karat.read(f"{GOLDEN / 'edge.src.txt'}+{GOLDEN / 'edge.trg.txt'}", name=name)
        return corpus, karat.read_run(GOLDEN / "edge.pred.txt", name=system)
    return (
        karat.read(GOLDEN / "synthetic.corpus.jsonl", name=name),
        karat.read_run(GOLDEN / f"synthetic.{system}.jsonl", name=system),
    )


@pytest.mark.parametrize("key", FIGURES, ids="-".join)
def test_the_script_is_reproduced_to_its_last_digit(key: Key) -> None:
    figures: list[Figure] = FIGURES[key]
    assert differences(figures, *corpus_and_run(key)) == []


def test_no_figure_is_missing() -> None:
    assert sum(map(len, FIGURES.values())) == 1890
    assert {protocol.split(",")[0] for _, _, protocol in FIGURES} == {
        "chan2019",
        "ye2021",
        "chen2020",
        "kpdrop2022",
        "meng2021",
        "kpeval2024",
    }
