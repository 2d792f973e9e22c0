"""Discriminative power of exact and soft metrics on released runs, for finding F14 of the analysis paper.

    python examples/papers/power.py DATA [--score NAME]... [--csv] [--exchange N]

Systems were released for two forms of the corpora, so that `karat compare` cannot pair them all. Here each system is
scored on its form, documents are joined by their ids, and `karat.compare` tests every two systems. For each soft metric
follow the difference of its mean |d_z| to that of f1@M and, by the jackknife over documents, its 95 % interval.
`--exchange N` exchanges the predictions of the systems at random on each document, N times, and prints the mean shares:
about .05 of such systems differ significantly.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

import karat
from karat.metrics.base import Request, Rows
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


def advantage(soft: Sequence[Floats], exact: Sequence[Floats]) -> tuple[float, float, int]:
    """Return (by how much the mean |d_z| of a soft metric is higher, its standard error, the number of documents)."""
    n = len(exact[0])
    left_out = np.empty(n)
    for i in range(n):
        keep = np.arange(n) != i
        left_out[i] = mean_effect([x[keep] for x in soft]) - mean_effect([x[keep] for x in exact])
    error = np.sqrt((n - 1) / n * np.sum((left_out - left_out.mean()) ** 2))
    return mean_effect(soft) - mean_effect(exact), float(error), n


def interval(value: float, error: float, n: int) -> tuple[float, float, float]:
    """Return a difference with the ends of its 95 % interval."""
    reach = t.ppf(0.975, n - 1) * error
    return value, value - reach, value + reach


def differences(values: Sequence[dict[str, list[Floats]]]) -> Iterator[tuple[str, tuple[float, float, float], float]]:
    """Yield the differences of soft and exact metrics: their names, intervals, and what 80 % power detects."""
    for soft in (name for name in values[0] if name.startswith("soft_f")):
        exact = f"f1@M:{soft.partition(':')[2].partition(',')[0]}"
        each = [advantage(one[soft], one[exact]) for one in values]
        mean = float(np.mean([value for value, _, _ in each]))
        error = float(np.sqrt(sum(error**2 for _, error, _ in each)) / len(each))
        rows = [*zip(CORPORA, each, strict=True), (" and ".join(CORPORA), (mean, error, min(n for _, _, n in each)))]
        for corpus, (value, error, n) in rows:
            name = f"{corpus}, mean |d_z| of {soft} less that of f1@M"
            yield name, interval(value, error, n), (t.ppf(0.975, n - 1) + t.ppf(POWER, n - 1)) * error


def by_metric(scores: Sequence[Score]) -> dict[str, list[Floats]]:
    """Gather the values of all systems by metric."""
    found: dict[str, list[Floats]] = {}
    for each in scores:
        found.setdefault(metric_name(each.request), []).append(each.per_document())
    return found


def metric_name(request: Request) -> str:
    """Name a metric with its subset and options."""
    options = "".join(f",{name}={value}" for name, value in request.options)
    return f"{request.label}:{request.subset}{options}"


def exchange(results: Results, times: int) -> Iterator[str]:
    """Yield, for each metric, how often systems differ whose rows were exchanged at random on each document."""
    draw = np.random.default_rng(0)
    systems = list(dict.fromkeys(each.system for each in results.scores))
    documents = np.arange(len(results.ids))
    shares: dict[str, list[tuple[float, bool]]] = {}
    for seed in range(times):
        order = np.argsort(draw.random((len(systems), len(documents))), axis=0)
        scores = []
        for request in dict.fromkeys(each.request for each in results.scores):
            own = [each for each in results.scores if each.request == request]
            rows = np.stack([each.rows.values for each in own])
            scores += [replace(each, rows=Rows(rows[order[i], documents])) for i, each in enumerate(own)]
        mixed = replace(results, scores=tuple(scores))
        for power in karat.compare(mixed, discriminative_power=True, seed=seed).discriminative_power:
            shares.setdefault(metric_name(power.request), []).append((power.share, power.significant_adjusted > 0))
    for name, values in shares.items():
        share, some = np.mean(values, axis=0)
        error = np.std(values, axis=0, ddof=1)[0] / np.sqrt(times)
        yield f"{name}: share {share:.3f} ± {error:.3f}, adjusted in {some:.3f} of {times} cases at least one pair"


def main() -> None:
    """Print the discriminative power of each metric and the differences between metrics."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="folder of the corpora and of `predictions`")
    parser.add_argument("--score", action="append", help="similarity of the soft metrics; default: kmr")
    parser.add_argument("--csv", action="store_true", help="print CSV: name, value, low, high")
    parser.add_argument("--exchange", type=int, metavar="N", help="exchange the systems at random, N times")
    arguments = parser.parse_args()
    metrics = [
        metric
        for subset in ("present", "absent")
        for metric in (f"f1@M:{subset}", *(f"soft_f:{subset},score={score}" for score in arguments.score or ["kmr"]))
    ]
    results = [join_forms(arguments.data, corpus, metrics) for corpus in CORPORA]
    if arguments.exchange:
        for corpus, each in zip(CORPORA, results, strict=True):
            for line in exchange(each, arguments.exchange):
                print(f"{corpus}, {line}")
        return
    powers = karat.compare(*results, discriminative_power=True).discriminative_power
    found = list(differences([by_metric(each.scores) for each in results]))
    if arguments.csv:
        writer = csv.writer(sys.stdout)
        writer.writerow(["name", "value", "low", "high"])
        for row in powers:
            name = f"{' and '.join(row.corpora)}, {metric_name(row.request)}"
            writer.writerow([f"{name}, significant after adjustment", row.significant_adjusted, "", ""])
            writer.writerow([f"{name}, mean |d_z|", row.d_z, "", ""])
        writer.writerows([name, *ends] for name, ends, _ in found)
        return
    for row in powers:
        print(
            f"{' and '.join(row.corpora)}, {metric_name(row.request)}: {row.pairs} pairs, p {row.significant} "
            f"({row.share:.3f}), adjusted {row.significant_adjusted} ({row.share_adjusted:.3f}), "
            f"mean |d_z| {row.d_z:.3f}, detectable {row.detectable:.4f}"
        )
    for name, (value, low, high), detectable in found:
        print(f"{name}: {value:+.3f} [{low:+.3f}, {high:+.3f}], detectable {detectable:.3f}")


if __name__ == "__main__":
    main()
