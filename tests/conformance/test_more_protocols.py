"""The further printed figures of the original scripts on real corpora."""

from collections import Counter
from pathlib import Path

import pytest

import karat
from tests.figures import differences, read_figures

KEYS = [
    *((corpus, system, "gallina2020") for corpus in ("inspec", "inspec.chan19") for system in ("t5", "one2set")),
    *((corpus, "t5", "houbre2025") for corpus in ("inspec", "inspec.chan19")),
    *(
        ("inspec.chan19", system, protocol)
        for system in ("t5", "one2set")
        for protocol in ("meng2017", "thomas2024", "thomas2024,pad=k")
    ),
]


@pytest.mark.parametrize(("name", "system", "protocol"), KEYS)
def test_the_script_is_reproduced_on_real_predictions(shared: Path, name: str, system: str, protocol: str) -> None:
    figures = read_figures(shared / "golden" / "protocols.more.jsonl")[name, system, protocol]
    corpus = karat.read(shared / "data" / f"{name}.jsonl.gz")
    run = karat.read_run(shared / "data" / "predictions" / name.split(".")[0] / f"{system}.jsonl.gz")
    assert differences(figures, corpus, run) == []


def test_all_628_figures_are_looked_at(shared: Path) -> None:
    figures = read_figures(shared / "golden" / "protocols.more.jsonl")
    counts = Counter[str]()
    for (_, _, protocol), found in figures.items():
        counts[protocol.split(",")[0]] += len(found)
    assert counts == {"meng2017": 336, "thomas2024": 144, "gallina2020": 84, "houbre2025": 54, "kpeval2024": 10}
    assert set(figures) - set(KEYS) == {("semeval.chan19", "t5", "kpeval2024")}  # see test_kpeval.py
