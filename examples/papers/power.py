"""Discriminative power of exact and soft metrics on released runs, for finding F14 of the analysis paper.

    python examples/papers/power.py DATA

Systems were released for two forms of the corpora, so that `karat compare` cannot pair them all. Here each system is
scored on its form, documents are joined by their ids, and `karat.compare` tests every two systems. For each soft metric
follow the difference of its mean |d_z| to that of f1@M and, by the jackknife over documents, its 95 % interval.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

import karat
from karat.metrics.base import Rows
from karat.results import Results, Score

Floats = NDArray[np.float64]
FORMS = {
    "chan19": ("t5", "one2set", "confidence/bart_base"),
    "chen20": ("confidence/catseq", "confidence/exhird"),
}
CORPORA = ("inspec", "semeval")
POWER = 0.8


def join_forms(data: Path, corpus: str, metrics: Sequence[str]) -> Results:
    """Score each system on its form of a corpus and bring all rows into the order of the first form."""
    scored = []
    for form, names in FORMS.items():
        runs = [data / "predictions" / corpus / f"{name}.jsonl.gz" for name in names]
        scored.append(karat.score(data / f"{corpus}.{form}.jsonl.gz", *runs, metrics=metrics, protocol="kundu2023"))
    first = scored[0]
    scores = []
    for results in scored:
        places = {identifier: place for place, identifier in enumerate(results.ids)}
        order = [places[identifier] for identifier in first.ids]
        scores += [replace(each, corpus=corpus, rows=Rows(each.rows.values[order])) for each in results.scores]
    return replace(first, scores=tuple(scores), tallies=())


def mean_effect(values: Sequence[Floats]) -> float:
    """Compute the mean |d_z| over all pairs of systems."""
    differences = np.stack([a - b for a, b in combinations(values, 2)])
    return float(np.mean(np.abs(differences.mean(axis=1)) / differences.std(axis=1, ddof=1)))


def advantage(soft: Sequence[Floats], exact: Sequence[Floats]) -> str:
    """Write by how much the mean |d_z| of a soft metric is higher, with an interval and the detectable difference."""
    n = len(exact[0])
    value = mean_effect(soft) - mean_effect(exact)
    left_out = []
    for i in range(n):
        keep = np.arange(n) != i
        left_out.append(mean_effect([x[keep] for x in soft]) - mean_effect([x[keep] for x in exact]))
    error = np.sqrt((n - 1) / n * np.sum((np.array(left_out) - np.mean(left_out)) ** 2))
    half = t.ppf(0.975, n - 1) * error
    detectable = (t.ppf(0.975, n - 1) + t.ppf(POWER, n - 1)) * error
    return f"{value:+.3f} [{value - half:+.3f}, {value + half:+.3f}], detectable {detectable:.3f}"


def by_metric(scores: Sequence[Score]) -> dict[str, list[Floats]]:
    """Gather the values of all systems by metric."""
    found: dict[str, list[Floats]] = {}
    for each in scores:
        options = "".join(f",{name}={value}" for name, value in each.request.options)
        found.setdefault(f"{each.request.label}:{each.request.subset}{options}", []).append(each.per_document())
    return found


def main() -> None:
    """Print the table of discriminative power and the differences between metrics."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="folder of the corpora and of `predictions`")
    parser.add_argument("--score", action="append", help="similarity of the soft metrics; default: kmr")
    arguments = parser.parse_args()
    softs = arguments.score or ["kmr"]
    subsets = ("present", "absent")
    metrics = [m for s in subsets for m in (f"f1@M:{s}", *(f"soft_f:{s},score={score}" for score in softs))]
    results = [join_forms(arguments.data, corpus, metrics) for corpus in CORPORA]
    found = karat.compare(*results, discriminative_power=True)
    for row in found.as_dict()["discriminative_power"]:
        name = row["metric"] + ":" + row["subset"] + "".join(f",{k}={v}" for k, v in row["options"].items())
        print(
            f"{' and '.join(row['corpora'])}, {name}: {row['pairs']} pairs, p {row['significant']} "
            f"({row['share']:.3f}), adjusted {row['significant_adjusted']} ({row['share_adjusted']:.3f}), "
            f"mean |d_z| {row['mean_abs_d_z']:.3f}, detectable {row['mean_detectable']:.4f}"
        )
    for corpus, each in zip(CORPORA, results, strict=True):
        values = by_metric(each.scores)
        for name, soft in values.items():
            if name.startswith("soft"):
                exact = values[f"f1@M:{name.partition(':')[2].partition(',')[0]}"]
                print(f"{corpus}, mean |d_z| of {name} less that of f1@M: {advantage(soft, exact)}")


if __name__ == "__main__":
    main()
