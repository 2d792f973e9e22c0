"""Populations of the calibration bench: rows of released runs, of extractors on acm-cr, and synthetic rows.

Documents are drawn from a population with replacement, so its statistics are the true values. A null hypothesis is made
by thinning: of randomly chosen documents all hits of the better system are removed until both systems have the same
statistic. Their variances then differ, and the differences of documents are not symmetric.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import karat
from karat.matching.inputs import as_corpus
from karat.metrics.base import f_of_means, f_of_sums, mean, parse_request
from karat.results import Score
from karat.stats.influence import Influences, jackknife
from karat.stats.resampling import Sample

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Finish = Callable[[Floats], Floats]

SHARED = Path(os.environ.get("KARAT_SHARED", Path(__file__).parents[3] / "shared"))
DATA = SHARED / "data"
AVERAGES = ("mean-of-f", "f-of-means", "micro")
PRESENT, ABSENT = (
    tuple(f"f1@{cutoff}:{subset}/{average}" for cutoff in ("5", "M") for average in AVERAGES)
    for subset in ("present", "absent")
)
OTHERS = ("soft_f@M:all", "map@M:all")
FOUND = {"f1@5:present": "found@5:present", "f1@M:absent": "found@M:absent"}  # references found, for McNemar's test
COPIES = 10  # of the documents of a population that is thinned, so that the statistic can be met closely
SYNTHETIC = 2000  # documents

FORMS = {"t5": "chan19", "one2set": "chan19", "bart_base": "chan19", "catseq": "chen20", "exhird": "chen20"}
EXTRACTORS = ("tfidf", "multipartiterank", "yake", "singlerank", "kpminer", "positionrank", "topicrank")
NEIGHBOURS = (3, 20)  # of the runs on acm-cr that assign keyphrases of similar documents, most of them absent
TRAINING = 4000  # documents of acm-cr among which neighbours are searched


@dataclass(frozen=True, slots=True)
class Population:
    """A statistic of some systems on documents on which all are defined."""

    name: str
    systems: Mapping[str, Floats]  # rows[documents, width] of each
    finish: Finish
    average: str

    @property
    def size(self) -> int:
        """The number of documents."""
        return len(next(iter(self.systems.values())))

    def value(self, system: str) -> float:
        """The true value of a system."""
        return float(self.finish(self.systems[system].sum(axis=0)))

    def sample(self, system: str, documents: Ints) -> Sample:
        """Return the sample of a system on some documents."""
        return Sample(self.systems[system][documents], self.finish)

    def influences(self, system: str, documents: Ints) -> Influences:
        """Return the influences of documents[trials, n], with the trials as a leading axis."""
        trials = [jackknife(self.sample(system, drawn)) for drawn in documents]
        values, influence = np.stack([one.values for one in trials]), np.stack([one.influence for one in trials])
        return Influences(values, influence, np.ones(documents.shape[1], dtype=bool))

    def draw(self, trials: int, n: int, generator: np.random.Generator) -> Ints:
        """Draw documents with replacement, [trials, n]."""
        return generator.integers(self.size, size=(trials, n))

    def equal(self, systems: Sequence[str], generator: np.random.Generator) -> Population:
        """Return the population in which some systems are thinned to the lowest of their values."""
        target = min(self.value(name) for name in systems)
        return self.thinned(dict.fromkeys(systems, target), generator)

    def thinned(self, targets: Mapping[str, float], generator: np.random.Generator) -> Population:
        """Return several copies of the population in which systems have lower values than they had."""
        rows = {name: np.tile(values, (COPIES, 1)) for name, values in self.systems.items()}
        hits = [0] if self.average == "micro" else list(range(next(iter(rows.values())).shape[1] - 1))
        for name, target in targets.items():
            rows[name] = thin(rows[name], self.finish, target, hits, generator)
        return Population(self.name, rows, self.finish, self.average)


def thin(rows: Floats, finish: Finish, target: float, hits: Sequence[int], generator: np.random.Generator) -> Floats:
    """Remove the hits of randomly chosen documents until the statistic is just above the target."""
    order = generator.permutation(len(rows))

    def without(count: int) -> Floats:
        fewer = rows.copy()
        fewer[order[:count, None], hits] = 0.0
        return fewer

    low, high = 0, len(rows)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if finish(without(middle).sum(axis=0)) > target else (low, middle)
    return without(low)


# ---------------------------------------------------------------------------------------------- released runs


@dataclass(frozen=True, slots=True)
class Corpus:
    """Scores of runs on one corpus, by request and system."""

    name: str
    scores: Mapping[str, Mapping[str, Score]]

    def population(self, request: str, systems: Sequence[str]) -> Population:
        """Return the population of the documents on which all systems are defined."""
        scores = self.scores[request]
        defined = np.logical_and.reduce([(scores[name].rows.values != 0).any(axis=1) for name in systems])
        rows = {name: scores[name].rows.values[defined] for name in systems}
        kind = scores[systems[0]].request
        return Population(f"{self.name}, {title(request)}", rows, kind.finish, kind.average or "mean")

    def hits(self, request: str, systems: Sequence[str]) -> Hits:
        """Return the references that two systems find, of the documents that have references."""
        both = [self.scores[request][name].rows for name in systems]
        units = both[0].units
        assert units is not None
        found = np.column_stack([rows.values[:, 0] for rows in both])
        starts = np.flatnonzero(np.diff(units)) + 1
        return Hits(f"{self.name}, references {title(request)}", tuple(np.split(found, starts)))


@dataclass(frozen=True, slots=True)
class Hits:
    """Whether each of two systems finds each reference, [references, 2], by document."""

    name: str
    documents: tuple[Floats, ...]

    def equal(self, generator: np.random.Generator) -> Hits:
        """Return the population in which the better system is thinned until both find as many."""
        documents = [found.copy() for found in self.documents * COPIES]
        sums = np.sum([found.sum(axis=0) for found in documents], axis=0)
        better, excess = int(sums[1] > sums[0]), abs(sums[0] - sums[1])
        for i in generator.permutation(len(documents)):
            removed = documents[i][:, better].sum()
            if removed <= excess:
                documents[i][:, better] = 0.0
                excess -= removed
        return Hits(self.name, tuple(documents))

    def samples(self, drawn: Ints) -> tuple[Sample, Sample]:
        """Return the samples of both systems on the documents drawn."""
        parts = [self.documents[i] for i in drawn]
        units = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        found = np.concatenate(parts)
        one = np.ones(len(found))
        first, second = (Sample(np.column_stack([found[:, i], one]), mean, units, documents=len(parts)) for i in (0, 1))
        return first, second


def title(request: str) -> str:
    """Name a request in a row of a table.

    >>> title("f1@M:absent/f-of-means"), title("soft_f@M:all")
    ('absent F1@M, f-of-means', 'soft F')
    """
    metric, _, rest = request.partition(":")
    name, _, cutoff = metric.partition("@")
    if name == "found":
        return f"{rest} @{cutoff}"
    if rest == "all":
        return {"soft_f": "soft F", "map": "MAP"}[name]
    return f"{rest.replace('/', f' F1@{cutoff}, ')}"


@cache
def released(corpus: str) -> Corpus:
    """Return the scores of the released runs on Inspec or SemEval."""
    scores: dict[str, dict[str, Score]] = {}
    folder = DATA / "predictions" / corpus
    for form in dict.fromkeys(FORMS.values()):
        paths = [folder / f"{name}.jsonl.gz" for name, own in FORMS.items() if own == form]
        runs = [path if path.exists() else folder / "confidence" / path.name for path in paths]
        requests = [*PRESENT, *ABSENT, *OTHERS, *FOUND.values()]
        _add(scores, karat.score(DATA / f"{corpus}.{form}.jsonl.gz", *runs, metrics=requests, protocol="chan2019"))
    return Corpus(corpus, scores)


@cache
def extracted() -> Corpus:
    """Return the scores of extractors on acm-cr, and of assigned keyphrases of similar documents for absent ones."""
    folder = DATA / "training"
    corpus = folder / "acm-cr.test.jsonl.gz"
    scores: dict[str, dict[str, Score]] = {}
    present = [karat.predict(corpus, name) for name in EXTRACTORS]
    _add(scores, karat.score(corpus, *present, metrics=[*PRESENT, *OTHERS, FOUND["f1@5:present"]]))
    absent = [karat.predict(corpus, assign_from(folder / "acm-cr.train.jsonl.gz", k)) for k in NEIGHBOURS]
    _add(scores, karat.score(corpus, *absent, metrics=[*ABSENT, FOUND["f1@M:absent"]]))
    return Corpus("acm-cr", scores)


def _add(scores: dict[str, dict[str, Score]], results: karat.Results) -> None:
    requests = {parse_request(text): text for text in (*PRESENT, *ABSENT, *OTHERS, *FOUND.values())}
    for score in results.scores:
        kind = replace(score.request, average=None) if score.request.metric == "found" else score.request
        text = requests.get(kind) or requests[replace(kind, average=None)]
        scores.setdefault(text, {})[score.system] = score


def assign_from(corpus: Path, neighbours: int) -> Callable[[Sequence[karat.Document]], list[list[str]]]:
    """Return a model that assigns the keyphrases of the most similar documents, by the cosine of TF-IDF vectors."""
    from scipy.sparse import csr_array, diags_array

    training = list(islice(as_corpus(corpus), TRAINING))

    def vectors(documents: Sequence[karat.Document], vocabulary: dict[str, int], grow: bool) -> csr_array:
        places: list[tuple[int, int]] = []
        for row, document in enumerate(documents):
            words = set(f"{document.title or ''} {document.text}".lower().split())
            known = words if grow else words & vocabulary.keys()
            places += [(row, vocabulary.setdefault(word, len(vocabulary))) for word in sorted(known)]
        rows, columns = np.array(places).T
        return csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(documents), len(vocabulary)))

    vocabulary: dict[str, int] = {}
    counts = vectors(training, vocabulary, grow=True)
    weights = np.log(len(training) / counts.sum(axis=0))
    lengths = np.sqrt((counts @ diags_array(weights**2)).sum(axis=1))

    def assign(documents: Sequence[karat.Document]) -> list[list[str]]:
        products = vectors(documents, vocabulary, grow=False) @ diags_array(weights**2) @ counts.T
        similarity = products.toarray() / lengths
        assigned = []
        for row in similarity:
            votes: Counter[str] = Counter()
            for i in np.argsort(-row, kind="stable")[:neighbours].tolist():
                for phrase in training[i].keyphrases or ():
                    votes[str(phrase)] += row[i]
            assigned.append([phrase for phrase, _ in votes.most_common(10)])
        return assigned

    assign.__name__ = f"neighbours{neighbours}"
    return assign


# ---------------------------------------------------------------------------------------------- synthetic rows


def synthetic(systems: int, absent: bool, average: str = "mean-of-f", seed: int = 5) -> Population:
    """Return systems of which most documents (absent) or few (present) score 0, with unequal hit rates.

    Documents have 1 to 10 references and 5 predictions, of which a share that differs by document and system is found.
    """
    generator = np.random.default_rng(seed)
    references = generator.integers(1, 11, SYNTHETIC)
    difficulty = generator.normal(-3.5 if absent else -0.5, 1.0, SYNTHETIC)
    rows = {}
    for number in range(systems):
        logit = difficulty + generator.normal(0.2 * number, 0.5, SYNTHETIC)
        hits = generator.binomial(np.minimum(references, 5), 1 / (1 + np.exp(-logit))).astype(np.float64)
        precision, recall = hits / 5, hits / references
        one = np.ones(SYNTHETIC)
        columns = {
            "mean-of-f": (2 * hits / (5 + references), one),
            "f-of-means": (precision, recall, one),
            "micro": (hits, 5 * one, references, one),
        }
        rows[f"system {number + 1}"] = np.column_stack(columns[average]).astype(np.float64)
    finish = {"mean-of-f": mean, "f-of-means": f_of_means, "micro": f_of_sums}[average]
    return Population(f"synthetic {'absent' if absent else 'present'}, {average}", rows, finish, average)
