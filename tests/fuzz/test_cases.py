"""Inputs that once ended in an internal error, a hang or a message that was no sentence: they do not any more."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fuzz.case import CASES, MANIFEST, kept
from tests.fuzz.test_slice import fuzzed

KEPT = kept()


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The cases that fail, by name, with what is wrong."""
    told: dict[str, Any] = fuzzed(tmp_path_factory.mktemp("kept"), "--part", "kept")["kept"]
    assert told["cases"] == len(KEPT)
    names = list(KEPT)
    return {names[each["number"]]: f"{each['fault']['cause']}\n{each['fault']['detail']}" for each in told["found"]}


@pytest.mark.parametrize("name", KEPT)
def test_what_once_failed_is_used_or_refused_in_a_sentence(name: str, faults: dict[str, str]) -> None:
    assert name not in faults, f"{KEPT[name].described()}\n{faults[name]}"


def test_every_kept_file_belongs_to_a_case() -> None:
    assert {path.name for path in CASES.iterdir() if path.is_dir()} <= set(KEPT)
    assert len(KEPT) == len((CASES / MANIFEST).read_text().splitlines())
