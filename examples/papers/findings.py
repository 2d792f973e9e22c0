"""Print figures of two papers that no single command prints, as CSV: name, value, ends of a 95 % interval, documents.

    python examples/papers/findings.py DATA

T5 was released for one form of the corpora and ExHiRD for another, so that `karat compare` cannot pair them; here
documents are joined by their ids. Intervals are percentiles of resamples of documents.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

import karat

Floats = NDArray[np.float64]
FORMS = {"t5": "chan19", "exhird": "chen20"}
RUNS = {"t5": "t5.jsonl.gz", "exhird": "confidence/exhird.jsonl.gz"}
CORPORA = ("inspec", "semeval")
METRICS = ("f1@M:present", "f1@5:present", "f1@M:absent", "soft_f:present,score=kmr", "soft_f:absent,score=kmr")
TOKENS = 5  # places in a phrase that are looked at
DRAWS = 5000
BRACKETS = ((0, 20), (20, 40), (40, 60), (60, 101))  # of the phrases of two systems that both give, in percent


class Row(NamedTuple):
    """A figure with the ends of its interval and how many documents it is of."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    documents: int | None = None


def values(data: Path, corpus: str, system: str, metric: str) -> dict[str, float]:
    """Return the values of a metric by document, without documents that have none."""
    run = data / "predictions" / corpus / RUNS[system]
    results = karat.score(data / f"{corpus}.{FORMS[system]}.jsonl.gz", run, metrics=metric, protocol="kundu2023")
    found = zip(results.ids, results.scores[0].per_document(), strict=True)
    return {identifier: float(value) for identifier, value in found if not np.isnan(value)}


def difference(name: str, a: dict[str, float], b: dict[str, float]) -> Row:
    """Return the mean difference on the documents that both have."""
    differences = np.array([a[each] - b[each] for each in a if each in b])
    draws = np.random.default_rng(0).integers(len(differences), size=(DRAWS, len(differences)))
    low, high = np.quantile(differences[draws].mean(axis=1), [0.025, 0.975])
    return Row(name, differences.mean(), low, high, len(differences))


def exact_and_soft(data: Path) -> Iterator[Row]:
    """Compare T5 with ExHiRD, and soft scores with exact ones."""
    for corpus in CORPORA:
        scores = {(s, m): values(data, corpus, s, m) for s in FORMS for m in METRICS}
        for metric in METRICS:
            yield difference(f"{corpus}, t5 - exhird, {metric}", scores["t5", metric], scores["exhird", metric])
        for system in FORMS:
            for subset in ("present", "absent"):
                soft, exact = scores[system, f"soft_f:{subset},score=kmr"], scores[system, f"f1@M:{subset}"]
                yield difference(f"{corpus}, {system}, soft_f - f1@M, {subset}", soft, exact)


def tokens(data: Path) -> Iterator[Row]:
    """Compute the mean probability by place in the phrase, and by how much each place differs from the one before."""
    for corpus in CORPORA:
        for system in FORMS:
            with gzip.open(data / "predictions" / corpus / "confidence" / f"{system}.jsonl.gz", "rt") as file:
                documents = [json.loads(line)["token_probs"] for line in file]
            sums, counts = by_place(documents)
            used = int((counts.sum(0) > 0).sum())
            sums, counts = sums[:, :used], counts[:, :used]
            point = sums.sum(0) / counts.sum(0)
            weights = np.random.default_rng(0).multinomial(len(sums), [1 / len(sums)] * len(sums), size=DRAWS)
            steps = np.diff((weights @ sums) / np.maximum(weights @ counts, 1), axis=1)
            low, high = np.quantile(steps, [0.025, 0.975], axis=0)
            for n, value in enumerate(point):
                yield Row(f"{corpus}, {system}, place {n + 1}", value, documents=len(sums))
            for n, value in enumerate(np.diff(point)):
                yield Row(f"{corpus}, {system}, place {n + 2} - place {n + 1}", value, low[n], high[n], len(sums))
            for length in (2, 3, 4):
                same = [each for phrases in documents for each in phrases if each and len(each) == length]
                for n, value in enumerate(np.mean(same, axis=0)):
                    yield Row(f"{corpus}, {system}, place {n + 1} of {length}", value)


def by_place(documents: list[list[list[float] | None]]) -> tuple[Floats, Floats]:
    """Return (sums, counts) of probabilities, a row for each document and a column for each place."""
    sums, counts = np.zeros((2, len(documents), TOKENS))
    for row, phrases in enumerate(documents):
        for each in phrases:
            some = (each or [])[:TOKENS]
            sums[row, : len(some)] += some
            counts[row, : len(some)] += 1
    return sums, counts


def correlation(data: Path) -> Iterator[Row]:
    """Compute Pearson's r of F1 and soft F over documents."""
    pairs = []
    for corpus in CORPORA:
        exact, soft = (values(data, corpus, "t5", metric) for metric in ("f1@M", "soft_f,score=kmr"))
        pairs += [(exact[each], soft[each]) for each in exact if each in soft]
    yield Row("t5, Pearson of f1@M and soft_f", float(np.corrcoef(np.array(pairs).T)[0, 1]), documents=len(pairs))


def shared(data: Path) -> Iterator[Row]:
    """Compute the wrong share of what T5 and One2Set share, by how much that is (reproducibility paper, Figure 3)."""
    for corpus in CORPORA:
        runs = {name: data / "predictions" / corpus / f"{name}.jsonl.gz" for name in ("t5", "one2set")}
        overlap = karat.overlap(data / f"{corpus}.chan19.jsonl.gz", runs, protocol="thomas2024")
        for pair in (each for each in overlap.pairs if each.subset != "all"):
            name = f"shared, {corpus}, {pair.subset}"
            both = pair.correct + pair.wrong
            some = both > 0
            share, wrong = (100 * both / np.maximum(pair.either, 1))[some], (pair.wrong / np.maximum(both, 1))[some]
            for low, high in BRACKETS:
                inside = (share >= low) & (share < high)
                yield ratio(
                    f"{name}, wrong at {low} to {min(high, 100)} %", pair.wrong[some][inside], both[some][inside]
                )
            rank, p = spearmanr(share, wrong)
            half = 1.96 * np.sqrt((1 + rank**2 / 2) / (len(share) - 3))  # Bonett and Wright 2000
            low, high = np.tanh(np.arctanh(rank) + [-half, half])
            yield Row(f"{name}, Spearman of share and wrong share", rank, low, high, len(share))
            yield Row(f"{name}, p of Spearman", p, documents=len(share))


def ratio(name: str, parts: NDArray[Any], totals: NDArray[Any]) -> Row:
    """Return the ratio of two sums over documents."""
    draws = np.random.default_rng(0).integers(len(parts), size=(DRAWS, len(parts)))
    low, high = np.quantile(parts[draws].sum(1) / totals[draws].sum(1), [0.025, 0.975])
    return Row(name, parts.sum() / totals.sum(), low, high, len(parts))


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="folder of the corpora and of `predictions`")
    data = parser.parse_args().data
    writer = csv.writer(sys.stdout)
    writer.writerow(Row._fields)
    for part in (exact_and_soft, tokens, correlation, shared):
        writer.writerows(part(data))


if __name__ == "__main__":
    main()
