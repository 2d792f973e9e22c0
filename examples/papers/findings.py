"""Figures of findings of two papers that no single command prints, each with a 95 % interval.

    python examples/papers/findings.py DATA

T5 was released for one form of the corpora and ExHiRD for another, so that `karat compare` cannot pair them; here
documents are joined by their ids. Intervals are percentiles of resamples of documents.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
PRINTED = {"KMR": 0.4033, "DeBERTa": 0.3910, "RoBERTa": 0.3854, "SciBERT": 0.3543}  # with people, on 500 documents
PRINTED_F1, PEOPLE = 0.3664, 500
BRACKETS = ((0, 20), (20, 40), (40, 60), (60, 101))  # of the phrases of two systems that both give, in percent


def values(data: Path, corpus: str, system: str, metric: str) -> dict[str, float]:
    """What a metric gives for each document that has a value."""
    run = data / "predictions" / corpus / RUNS[system]
    results = karat.score(data / f"{corpus}.{FORMS[system]}.jsonl.gz", run, metrics=metric, protocol="kundu2023")
    found = zip(results.ids, results.scores[0].per_document(), strict=True)
    return {identifier: float(value) for identifier, value in found if not np.isnan(value)}


def difference(a: dict[str, float], b: dict[str, float]) -> str:
    """The mean difference on the documents that both have, with its interval."""
    differences = np.array([a[each] - b[each] for each in a if each in b])
    draws = np.random.default_rng(0).integers(len(differences), size=(DRAWS, len(differences)))
    low, high = np.quantile(differences[draws].mean(axis=1), [0.025, 0.975])
    return f"{differences.mean():+.4f} [{low:+.4f}, {high:+.4f}], {len(differences)} documents"


def exact_and_soft(data: Path) -> Iterator[str]:
    """T5 against ExHiRD, and soft scores against exact ones."""
    for corpus in CORPORA:
        scores = {(s, m): values(data, corpus, s, m) for s in FORMS for m in METRICS}
        for metric in METRICS:
            yield f"{corpus}, t5 - exhird, {metric}: {difference(scores['t5', metric], scores['exhird', metric])}"
        for system in FORMS:
            for subset in ("present", "absent"):
                soft, exact = scores[system, f"soft_f:{subset},score=kmr"], scores[system, f"f1@M:{subset}"]
                yield f"{corpus}, {system}, soft_f - f1@M, {subset}: {difference(soft, exact)}"


def tokens(data: Path) -> Iterator[str]:
    """The mean probability by place in the phrase, and by how much each place differs from the one before."""
    for corpus in CORPORA:
        for system in FORMS:
            with gzip.open(data / "predictions" / corpus / "confidence" / f"{system}.jsonl.gz", "rt") as file:
                documents = [json.loads(line)["token_probs"] for line in file]
            sums, counts = by_place(documents)
            point = sums.sum(0) / counts.sum(0)
            weights = np.random.default_rng(0).multinomial(len(sums), [1 / len(sums)] * len(sums), size=DRAWS)
            steps = np.diff((weights @ sums) / np.maximum(weights @ counts, 1), axis=1)
            low, high = np.quantile(steps, [0.025, 0.975], axis=0)
            yield f"{corpus}, {system}, places 1 to {TOKENS}: {' '.join(f'{each:.3f}' for each in point)}"
            for n in range(TOKENS - 1):
                step = f"{point[n + 1] - point[n]:+.3f} [{low[n]:+.3f}, {high[n]:+.3f}]"
                yield f"{corpus}, {system}, place {n + 2} - place {n + 1}: {step}"
            for length in (2, 3, 4):
                same = [each for phrases in documents for each in phrases if each and len(each) == length]
                means = " ".join(f"{each:.3f}" for each in np.mean(same, axis=0))
                yield f"{corpus}, {system}, {len(same)} phrases of {length} tokens: {means}"


def by_place(documents: list[list[list[float] | None]]) -> tuple[Floats, Floats]:
    """(sums, counts) of probabilities, a row for each document and a column for each place."""
    sums, counts = np.zeros((2, len(documents), TOKENS))
    for row, phrases in enumerate(documents):
        for each in phrases:
            some = (each or [])[:TOKENS]
            sums[row, : len(some)] += some
            counts[row, : len(some)] += 1
    return sums, counts


def people(data: Path) -> Iterator[str]:
    """Compute the correlation of F1 and soft F, and list the printed correlations with people.

    Scores of people by document are not released, and a test from correlations alone takes scores to be normal.
    """
    pairs = []
    for corpus in CORPORA:
        exact, soft = (values(data, corpus, "t5", metric) for metric in ("f1@M", "soft_f,score=kmr"))
        pairs += [(exact[each], soft[each]) for each in exact if each in soft]
    between = float(np.corrcoef(np.array(pairs).T)[0, 1])
    yield f"t5, Pearson's r of f1@M and soft_f over {len(pairs)} documents: {between:.3f}"
    for name, printed in PRINTED.items():
        gain = printed - PRINTED_F1
        yield f"{name} {printed:.4f} against F1 {PRINTED_F1:.4f} on {PEOPLE} documents: {gain:+.4f}, untested"


def shared(data: Path) -> Iterator[str]:
    """Of what T5 and One2Set share, how much is wrong, by how much they share (reproducibility paper, Figure 3)."""
    for corpus in CORPORA:
        runs = {name: data / "predictions" / corpus / f"{name}.jsonl.gz" for name in ("t5", "one2set")}
        found = karat.overlap(data / f"{corpus}.chan19.jsonl.gz", runs, protocol="thomas2024")
        for pair in (each for each in found.pairs if each.subset != "all"):
            both = pair.correct + pair.wrong
            some = both > 0
            share, wrong = (100 * both / np.maximum(pair.either, 1))[some], (pair.wrong / np.maximum(both, 1))[some]
            for low, high in BRACKETS:
                inside = (share >= low) & (share < high)
                counted = ratio(pair.wrong[some][inside], both[some][inside])
                yield f"{corpus}, {pair.subset}, {low} to {min(high, 100)} % shared: {counted}"
            r, p = spearmanr(share, wrong)
            ranks = f"{r:+.2f}, p = {p:.2f}, {len(share)} documents"
            yield f"{corpus}, {pair.subset}, Spearman of share and wrong share: {ranks}"


def ratio(parts: NDArray[Any], wholes: NDArray[Any]) -> str:
    """The ratio of two sums over documents, with its interval."""
    if len(parts) < 2:
        return f"{len(parts)} documents"
    draws = np.random.default_rng(0).integers(len(parts), size=(DRAWS, len(parts)))
    low, high = np.quantile(parts[draws].sum(1) / wholes[draws].sum(1), [0.025, 0.975])
    return f"wrong are {parts.sum() / wholes.sum():.2f} [{low:.2f}, {high:.2f}], {len(parts)} documents"


def main() -> None:
    """Prints all figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="folder of the corpora and of `predictions`")
    data = parser.parse_args().data
    for part in (exact_and_soft, tokens, people, shared):
        for line in part(data):
            print(line, flush=True)


if __name__ == "__main__":
    main()
