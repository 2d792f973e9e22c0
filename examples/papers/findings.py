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
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

import karat
from karat.analyses.confidence.gather import gather
from karat.analyses.confidence.result import ConfidenceOptions

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Statistic = Callable[[Ints], float]  # of documents, each drawn a number of times
FORMS = {"t5": "chan19", "exhird": "chen20"}
RUNS = {"t5": "t5.jsonl.gz", "exhird": "confidence/exhird.jsonl.gz"}
CORPORA = ("inspec", "semeval")
METRICS = ("f1@M:present", "f1@5:present", "f1@M:absent", "soft_f:present,score=kmr", "soft_f:absent,score=kmr")
SUBSETS = ("present", "absent")
PARTS = 5  # of a text
TOKENS = 5  # places in a phrase that are looked at
DRAWS = 5000
EXAMPLES = {  # predictions and references of Table 4 of the analysis paper
    "1": (
        "performance evaluation, information retrieval, web search engine",
        "performance, information retrieval, world wide web, search engine",
    ),
    "2": ("bgp, network engineering, routing protocols", "routing, traffic engineering, modeling, bgp"),
    "3": (
        "pwarx identification, chiu's clustering algorithm, affine sub model estimation, hyperplane partitions",
        "experimental validation, clustering, identification, hybrid systems, pwarx models, "
        "chiu's clustering technique",
    ),
    "3, apostrophe split": (
        "pwarx identification, chiu 's clustering algorithm, affine sub model estimation, hyperplane partitions",
        "experimental validation, clustering, identification, hybrid systems, pwarx models, "
        "chiu's clustering technique",
    ),
}
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
    by_document = zip(results.ids, results.scores[0].per_document(), strict=True)
    return {identifier: float(value) for identifier, value in by_document if not np.isnan(value)}


def resample(name: str, statistic: Statistic, documents: int) -> Row:
    """Return a statistic with the quantiles of resamples of the documents."""
    draws = np.random.default_rng(0).multinomial(documents, np.full(documents, 1 / documents), size=DRAWS)
    low, high = np.quantile([statistic(counts) for counts in draws], [0.025, 0.975])
    return Row(name, statistic(np.ones(documents, dtype=np.int64)), low, high, documents)


def minus(a: Statistic, b: Statistic) -> Statistic:
    """Return the statistic that is the difference of two."""
    return lambda counts: a(counts) - b(counts)


def mean(name: str, by_document: dict[str, float]) -> Row:
    """Return the mean over documents."""
    scores = np.array(list(by_document.values()))
    return resample(name, lambda counts: float(counts @ scores) / len(scores), len(scores))


def subtract(a: dict[str, float], b: dict[str, float]) -> dict[str, float]:
    """Return the difference of each document that both have."""
    return {identifier: a[identifier] - b[identifier] for identifier in a if identifier in b}


def exact_and_soft(data: Path) -> Iterator[Row]:
    """Compare T5 with ExHiRD, and soft scores with exact ones."""
    for corpus in CORPORA:
        scores = {(s, m): values(data, corpus, s, m) for s in FORMS for m in METRICS}
        for metric in METRICS:
            differences = subtract(scores["t5", metric], scores["exhird", metric])
            yield mean(f"{corpus}, t5 - exhird, {metric}", differences)
        for subset in SUBSETS:
            gains = {s: subtract(scores[s, f"soft_f:{subset},score=kmr"], scores[s, f"f1@M:{subset}"]) for s in FORMS}
            for system, gain in gains.items():
                yield mean(f"{corpus}, {system}, soft_f - f1@M, {subset}", gain)
            yield mean(f"{corpus}, t5 - exhird, soft_f - f1@M, {subset}", subtract(gains["t5"], gains["exhird"]))
        for system in FORMS:
            yield relative_gain(corpus, system, scores)


def relative_gain(corpus: str, system: str, scores: dict[tuple[str, str], dict[str, float]]) -> Row:
    """Compare soft F / F1 of absent phrases with that of present ones."""
    soft, exact = (
        np.array([list(scores[system, metric.format(subset)].values()) for subset in SUBSETS])
        for metric in ("soft_f:{},score=kmr", "f1@M:{}")
    )

    def statistic(counts: Ints) -> float:
        present, absent = (soft @ counts) / (exact @ counts)
        return float(absent - present)

    return resample(f"{corpus}, {system}, soft_f / f1@M, absent - present", statistic, soft.shape[1])


def tokens(data: Path) -> Iterator[Row]:
    """Compute the mean probability by place in the phrase, and by how much each place differs from the one before."""
    for corpus in CORPORA:
        for system in FORMS:
            run = data / "predictions" / corpus / "confidence" / f"{system}.jsonl.gz"
            documents = [line["token_probs"] for line in read_lines(run)]
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
            least = np.diff(point)[1:].min(), low[1:].min(), high[1:].min()
            yield Row(f"{corpus}, {system}, least step after place 2", *least, len(sums))
            for place, other in (("place before", -2), ("place 1", 0)):
                last = [[each[-1] - each[other] for each in phrases if each and len(each) > 2] for phrases in documents]
                totals, numbers = np.array([sum(each) for each in last]), np.array([len(each) for each in last])
                yield ratio(f"{corpus}, {system}, last place - {place}, 3 tokens or more", totals, numbers)


def by_place(documents: list[list[list[float] | None]]) -> tuple[Floats, Floats]:
    """Return (sums, counts) of probabilities, a row for each document and a column for each place."""
    sums, counts = np.zeros((2, len(documents), TOKENS))
    for row, phrases in enumerate(documents):
        for each in phrases:
            some = (each or [])[:TOKENS]
            sums[row, : len(some)] += some
            counts[row, : len(some)] += 1
    return sums, counts


class Predictions(NamedTuple):
    """Predictions of a system: their documents, in the order of the ids, and what is known of each."""

    document: Ints
    confidence: Floats
    correct: NDArray[np.bool_]
    present: NDArray[np.bool_]
    documents: int

    def median_kpp(self, present: bool, counts: Ints) -> float:
        """Compute the median perplexity of present or of absent predictions."""
        within = self.present == present
        return float(np.median(np.repeat(1 / self.confidence[within], counts[self.document[within]])))

    def ece(self, counts: Ints) -> float:
        """Compute the expected calibration error with ten bins of one width."""
        weights, bins = counts[self.document], np.minimum((self.confidence * 10).astype(int), 9)
        return float(np.abs(np.bincount(bins, weights * (self.correct - self.confidence))).sum() / weights.sum())

    def mean(self, figures: NDArray[Any], present: bool | None, counts: Ints) -> float:
        """Compute the mean of a figure over all predictions, or over present or absent ones."""
        weights = counts[self.document]
        if present is not None:
            weights = weights * (self.present == present)
        return float(weights @ figures / weights.sum())


def predictions(data: Path, corpus: str, system: str) -> Predictions:
    """Return the predictions of a run that have a confidence."""
    run = data / "predictions" / corpus / "confidence" / f"{system}.jsonl.gz"
    documents = karat.Corpus.of(read_lines(data / f"{corpus}.{FORMS[system]}.jsonl.gz"), name=corpus)
    options = ConfidenceOptions(protocol="kundu2023")
    results, gathered = gather(documents, [karat.Run.of(read_lines(run), name=system)], options)
    sure = gathered[0, 0]
    order = np.argsort(np.argsort(results.ids))
    return Predictions(
        order[sure.document], sure.confidence, sure.correct["all"], sure.within["present"], len(results.ids)
    )


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a JSONL file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def calibration(data: Path) -> Iterator[Row]:
    """Compare perplexity, confidence and accuracy of present and absent phrases, and of T5 and ExHiRD."""
    for corpus in CORPORA:
        t5, exhird = (predictions(data, corpus, system) for system in FORMS)
        size = t5.documents
        for system, phrases in (("t5", t5), ("exhird", exhird)):
            name = f"{corpus}, {system}"
            kpp = minus(partial(phrases.median_kpp, False), partial(phrases.median_kpp, True))
            yield resample(f"{name}, median kpp, absent - present", kpp, size)
            yield resample(f"{name}, ece", phrases.ece, size)
            yield resample(
                f"{name}, confidence - accuracy",
                partial(phrases.mean, phrases.confidence - phrases.correct, None),
                size,
            )
            for label, figures in (("accuracy", phrases.correct), ("confidence", phrases.confidence)):
                means = minus(partial(phrases.mean, figures, True), partial(phrases.mean, figures, False))
                yield resample(f"{name}, {label}, present - absent", means, size)
        for subset, present in (("present", True), ("absent", False)):
            kpp = minus(partial(t5.median_kpp, present), partial(exhird.median_kpp, present))
            yield resample(f"{corpus}, t5 - exhird, median kpp, {subset}", kpp, size)
        yield resample(f"{corpus}, t5 - exhird, ece", minus(t5.ece, exhird.ece), size)


def authors_calibration(data: Path) -> Iterator[Row]:
    """Compute the calibration errors of the analysis paper from the runs as its authors counted them."""
    for corpus in CORPORA:
        for system, (protocol, count) in AUTHORS.items():
            run = karat.Run.of(count(data / "predictions" / corpus), name=system)
            results = karat.confidence(data / f"{corpus}.{FORMS[system]}.jsonl.gz", run, protocol=protocol)
            yield Row(f"{corpus}, {system}, ece as the authors counted", results.rows()[0]["ece"])


def with_cut_phrases(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield T5's predictions with the phrase at which the decoder was stopped, which has no probability."""
    complete = {line["id"]: line["keyphrases"] for line in read_lines(folder / "t5.jsonl.gz")}
    for line in read_lines(folder / "confidence" / "t5.jsonl.gz"):
        phrases = complete[line["id"]]
        missing = [None] * (len(phrases) - len(line["keyphrases"]))
        yield line | {"keyphrases": phrases, "token_probs": [*line["token_probs"], *missing]}


def with_four_words_twice(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield ExHiRD's predictions with phrases of four words twice: two separators end them, and each was counted."""
    for line in read_lines(folder / "confidence" / "exhird.jsonl.gz"):
        place = [i for i, probs in enumerate(line["token_probs"]) for _ in range(1 + (len(probs) == 4))]
        fields = ("keyphrases", "token_probs", "kinds")
        yield {"id": line["id"], **{name: [line[name][i] for i in place] for name in fields}}


AUTHORS: dict[str, tuple[str, Callable[[Path], Iterator[dict[str, Any]]]]] = {
    "t5": ("kundu2023,duplicates=surface,ece_total=placeholders", with_cut_phrases),
    "exhird": (
        "kundu2023,duplicates=keep,kinds=run,correct=substring,ece_total=placeholders",
        with_four_words_twice,
    ),
}


def positions(data: Path) -> Iterator[Row]:
    """Compare the shares of present references that systems miss by part of the text."""
    metrics = [f"miss_rate:present/micro,part={part + 1}" for part in range(PARTS)]
    for corpus in CORPORA:
        missed = {}
        for system in FORMS:
            run = data / "predictions" / corpus / RUNS[system]
            results = karat.score(
                data / f"{corpus}.{FORMS[system]}.jsonl.gz", run, metrics=metrics, protocol="kundu2023"
            )
            order = np.argsort(results.ids)
            missed[system] = [each.rows.values[order, :2] for each in results.scores]
            first, last = missed[system][0], missed[system][-1]
            name = f"{corpus}, {system}, missed, part {PARTS} - part 1"
            yield resample(name, minus(partial(share, last), partial(share, first)), len(order))
        for part, (a, b) in enumerate(zip(missed["exhird"], missed["t5"], strict=True), 1):
            name = f"{corpus}, exhird - t5, missed, part {part}"
            yield resample(name, minus(partial(share, a), partial(share, b)), len(a))


def share(parts: Floats, counts: Ints) -> float:
    """Compute the sum of the first column over that of the second."""
    missed, references = counts @ parts
    return float(missed / references)


def examples(_: Path) -> Iterator[Row]:
    """Score the three examples of Table 4 of the analysis paper."""
    for number, (predicted, references) in EXAMPLES.items():
        corpus = karat.Corpus.of([{"id": "1", "keyphrases": references.split(", ")}])
        run = karat.Run.of([{"id": "1", "keyphrases": predicted.split(", ")}])
        metrics = ["f1@M", *(f"soft_{each},score=kmr" for each in "prf")]
        for row in karat.score(corpus, run, metrics=metrics, protocol="kundu2023").rows():
            yield Row(f"example {number}, {row['metric']}", row["value"])


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
            low, high = np.tanh(np.arctanh(rank) + np.array([-half, half]))
            yield Row(f"{name}, Spearman of share and wrong share", rank, low, high, len(share))
            yield Row(f"{name}, p of Spearman", p, documents=len(share))


def ratio(name: str, parts: NDArray[Any], totals: NDArray[Any]) -> Row:
    """Return the ratio of two sums over documents."""
    draws = np.random.default_rng(0).integers(len(parts), size=(DRAWS, len(parts)))
    low, high = np.quantile(parts[draws].sum(1) / totals[draws].sum(1), [0.025, 0.975])
    return Row(name, parts.sum() / totals.sum(), low, high, len(parts))


SECTIONS = (
    exact_and_soft,
    tokens,
    calibration,
    authors_calibration,
    positions,
    examples,
    correlation,
    shared,
)


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="folder of the corpora and of `predictions`")
    data = parser.parse_args().data
    writer = csv.writer(sys.stdout)
    writer.writerow(Row._fields)
    for section in SECTIONS:
        writer.writerows(section(data))


if __name__ == "__main__":
    main()
