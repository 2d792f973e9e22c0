"""The extractors give the lists of pke 2.0.0, with its scores, for Inspec documents that CoreNLP tagged."""

from __future__ import annotations

from pathlib import Path

import pytest

from karat.models.extractors.frequencies import frequencies_of
from tests.models.test_pke import NAMES, Golden, check_lists, read_golden


@pytest.fixture(scope="module")
def golden(shared: Path) -> Golden:
    return read_golden(shared / "golden" / "pke.inspec.jsonl.gz")


@pytest.mark.parametrize("name", NAMES)
def test_the_lists_are_those_of_pke(golden: Golden, name: str) -> None:
    check_lists(golden, name)


def test_the_document_frequencies_are_those_of_pke(golden: Golden) -> None:
    assert frequencies_of(golden.documents) == golden.frequencies
