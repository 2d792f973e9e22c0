"""What a test needs of a machine can be missing, hidden or required: the tests say so, or fail."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CI = (ROOT / ".ci" / "run").read_text()


def tried(part: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """pytest on the tests of one file that need a part, with variables of the environment."""
    file = {"latex": "tests/output/test_latex.py", "wordnet": "tests/similarity/test_properties.py"}[part]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rs", "-m", part, file],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if not name.startswith("KARAT_")} | variables,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.parametrize(("part", "what"), [("latex", "LaTeX"), ("wordnet", "WordNet")])
def test_what_is_hidden_is_skipped_and_named(part: str, what: str) -> None:
    for hidden in (part, "all"):
        done = tried(part, KARAT_HIDE=hidden)
        assert done.returncode == 0, done.stdout
        assert f"needs {what}, which KARAT_HIDE hides" in done.stdout
        assert " passed" not in done.stdout


def test_what_is_missing_is_skipped_with_the_command_that_installs_it() -> None:
    done = tried("wordnet", KARAT_WORDNET="/nowhere")
    assert done.returncode == 0, done.stdout
    assert "needs WordNet (not found: index.noun, data.noun, noun.exc): apt install wordnet-base" in done.stdout


def test_a_part_that_is_required_may_not_be_skipped() -> None:
    done = tried("wordnet", KARAT_WORDNET="/nowhere", KARAT_REQUIRE="wordnet")
    assert done.returncode == 1, done.stdout
    assert "was skipped, and KARAT_REQUIRE=wordnet: " in done.stdout
    assert " skipped" not in done.stdout.splitlines()[-1]
    assert tried("latex", KARAT_HIDE="latex", KARAT_REQUIRE="wordnet").returncode == 0


def test_a_part_that_is_not_known_is_refused() -> None:
    done = tried("latex", KARAT_HIDE="latx")
    assert done.returncode != 0
    assert "KARAT_HIDE: there is no part 'latx' (known: all, wordnet, latex, " in done.stdout + done.stderr


def test_every_lane_requires_what_it_installs() -> None:
    lanes = dict(re.findall(r"^(\w+)\(\) \{\n(.*?)^\}", CI, re.M | re.S))
    assert "KARAT_HIDE=all pytest" in lanes["core"]
    assert "debian_packages" not in lanes["core"]
    required = {name: re.findall(r"KARAT_REQUIRE=(\S+) pytest -m", lanes[name]) for name in lanes}
    assert required == {
        "debian_packages": [],
        "environment": [],
        "core": [],
        "types": [],
        "debian": ["wordnet,latex"],
        "languages": ["spacy,segmenters"],
        "neural": ["neural,encoder,peers"],
        "browser": ["browser,npm"],
        "spark": ["spark"],
    }
