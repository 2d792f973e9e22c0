"""The overlap of two released systems, against plain sets of NLTK's stems that were counted without karat."""

from pathlib import Path

import pytest

import karat

# Common correct, common wrong and documents with a phrase: T5 and One2Set on Inspec, under KPDrop's conventions.
FIGURES = {
    "present": (18.103394660894665, 16.483933648051305, 500),
    "absent": (0.8010862186014936, 4.82130734167394, 491),
    "all": (11.675936285936288, 12.228314634842437, 500),
}


def test_what_two_systems_share_on_inspec(shared: Path) -> None:
    runs = [shared / "data" / "predictions" / "inspec" / f"{name}.jsonl.gz" for name in ("t5", "one2set")]
    found = karat.overlap(shared / "data" / "inspec.chan19.jsonl.gz", *runs, protocol="kpdrop2022")
    for row in found.rows():
        counted = row["documents"] - row["undefined"]
        assert (row["common_correct"], row["common_wrong"], counted) == pytest.approx(FIGURES[row["subset"]])
