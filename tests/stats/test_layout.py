"""Resampling, p-values, adjustments and intervals are computed in `karat.stats` alone."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import karat

SOURCE = Path(karat.__file__).parent
OTHERS = sorted(path for path in SOURCE.rglob("*.py") if not path.is_relative_to(SOURCE / "stats"))

# Random numbers that draw no sample of documents: constants of a hash, folds, and the training of models.
RANDOM = {"analyses/describe/duplicates.py", "analyses/human/learn.py"}
TRAINING = ("models/", "pairs/", "llm/")
NAMES = ("bonferroni", "bootstrap", "holm", "jackknife", "permutation", "sign_flip", "westfall", "benjamini")
QUANTILES = {1.645, 1.96, 1.959964, 2.5758, 2.576, 2.8}
# Tests and resamples are reached through `compare_pairs`, `interval_of_score` and the like.
INTERNAL = ("karat.stats.resampling.", "karat.stats.tests.")
PUBLIC = {
    "karat.stats.resampling.Sample",
    "karat.stats.resampling.bootstrap_interval",
    "karat.stats.resampling.RESAMPLES",
}
DISTRIBUTIONS = ("bdtr", "btdtr", "betainc", "chdtr", "fdtr", "ndtr", "nct", "stdtr")


def statistics(source: str, name: str) -> Iterator[str]:
    """Yield what a module computes that belongs into `karat.stats`."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                modules = [each.name for each in names]
            case ast.ImportFrom(module=str(module), names=names):
                modules = [module, *(f"{module}.{each.name}" for each in names)]
            case _:
                modules = []
        for module in modules:
            if module.startswith(("scipy.stats", "statsmodels")):
                yield f"{module} is imported"
            if module.startswith("scipy.special.") and any(each in module for each in DISTRIBUTIONS):
                yield f"{module} is imported"
            if module.startswith(INTERNAL) and module not in PUBLIC:
                yield f"{module} is imported"
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and any(each in node.name for each in NAMES):
            yield f"{node.name} is defined"
        if isinstance(node, ast.Constant) and isinstance(node.value, float) and node.value in QUANTILES:
            yield f"{node.value} is a quantile"
        if isinstance(node, ast.Attribute) and node.attr in ("default_rng", "Generator") and not _may_draw(name):
            yield "random numbers are drawn"


def _may_draw(name: str) -> bool:
    return name in RANDOM or name.startswith(TRAINING)


def test_no_statistics_outside_stats() -> None:
    names = {path.relative_to(SOURCE).as_posix(): path for path in OTHERS}
    found = {name: list(statistics(path.read_text(encoding="utf-8"), name)) for name, path in names.items()}
    assert {name: own for name, own in found.items() if own} == {}


@pytest.mark.parametrize(
    "source",
    [
        "from scipy.stats import ttest_rel",
        "import scipy.stats",
        "from scipy.special import stdtrit",
        "from statsmodels.stats.multitest import multipletests",
        "def _holm(p): ...",
        "from karat.stats.tests import randomisations",
        "def bootstrap_interval(rows): ...",
        "half = 1.96 * error",
        "import numpy as np\ndraws = np.random.default_rng(0).integers(0, 9, 9)",
    ],
)
def test_statistics_are_recognised(source: str) -> None:
    assert list(statistics(source, "analyses/compare/measure.py"))
