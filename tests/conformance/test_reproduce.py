"""Figures that were printed for T5 on Inspec lead to the script that printed them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import karat
from karat.output import render
from karat.protocol import published


@pytest.fixture(scope="module")
def found(shared: Path) -> karat.Reproduction:
    data = shared / "data"
    reported: list[dict[str, Any]] = [
        {"metric": "f1@M", "subset": "present", "value": "0.340"},  # Kundu and others 2023, Table 1
        {"metric": "f1@M", "subset": "absent", "value": "0.025"},
        {"metric": "f1@M", "subset": "present", "value": "0.342"},
        {"metric": "f1@5", "subset": "present", "value": "0.288"},
    ]
    t5 = data / "predictions" / "inspec" / "t5.jsonl.gz"
    return karat.reproduce(
        data / "inspec.chan19.jsonl.gz", t5, reported=reported, budget=len(published()), resamples=1000
    )


def plain(row: dict[str, Any]) -> set[str]:
    """The published protocols that give a figure in their own average."""
    own = {str(protocol): protocol.counting.average for protocol in published()}
    return {c["protocol"] for c in row["candidates"] if c["how"] == "rounded" and c["average"] == own[c["protocol"]]}


def test_340_is_given_by_kpdrop(found: karat.Reproduction) -> None:
    assert plain(found.rows()[0]) == {"kpdrop2022", "kpdrop2022,pad=k", "thomas2024", "thomas2024,pad=k"}
    assert found.rows()[0]["candidates"][0]["protocol"] == "kpdrop2022"
    assert "kpdrop2022" in plain(found.rows()[1])


def test_342_is_given_by_chan_and_chen(found: karat.Reproduction) -> None:
    assert plain(found.rows()[2]) == {"chan2019", "ye2021", "chen2020", "kpeval2024"}


def test_288_at_5_is_given_by_kpdrop_with_padding(found: karat.Reproduction) -> None:
    assert "kpdrop2022,pad=k" in plain(found.rows()[3])


def test_under_karat_the_figure_lies_outside_the_interval(found: karat.Reproduction) -> None:
    row = found.rows()[0]
    assert round(row["recomputed"], 4) == 0.3178
    assert row["inside"] is False
    assert "kpdrop2022 (.3399)" in render(found)
