"""The audit of T5 and One2Set on Inspec prints the figures of the scripts and names what sets them apart."""

from __future__ import annotations

from pathlib import Path

import karat
from karat.output import render


def test_the_average_sets_the_scripts_of_chan_and_meng_apart(shared: Path) -> None:
    data = shared / "data"
    runs = [data / "predictions" / "inspec" / f"{name}.jsonl.gz" for name in ("t5", "one2set")]
    found = karat.audit(
        data / "inspec.chan19.jsonl.gz",
        *runs,
        metric="f1@M:present",
        against="meng2021,tokenizer=split",
        protocol=["chan2019"],
    )
    assert [f"{found.values[name][0]:.4f}" for name in ("chan2019", "meng2021,tokenizer=split")] == ["0.3417", "0.3146"]
    assert found.causes[0].steps[0].option == "average"
    text = render(found)
    assert ".3417" in text
    assert ".3146" in text
    assert "chan2019 against meng2021,tokenizer=split: mostly the option average" in " ".join(text.split())
