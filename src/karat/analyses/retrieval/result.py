"""The options and the result of a test of search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from karat.analyses.retrieval.bm25 import Ranked
from karat.errors import InputError, unknown
from karat.formats.trec import Judgements, Texts
from karat.matching.columns import SUBSETS, Subset
from karat.matching.inputs import CorpusLike, MetricsLike, ProtocolLike
from karat.options import (
    JoinOptions,
    WorkOptions,
    cutoff_option,
    group,
    level_option,
    max_t_option,
    metrics_option,
    option,
    protocol_option,
    resamples_option,
    seed_option,
)
from karat.results.displayed import Displayed
from karat.stats.difference import Correction, Difference, Inference
from karat.tabular import Table

Kind = Literal["text", "references", "system", "ranking"]
QueryTerms = Literal["counted", "distinct"]
QueryTest = Literal["randomisation", "t", "wilcoxon"]
Tokenizer = Literal["split_nopunc", "marks", "split", "space", "nltk", "spacy"]
TOKENIZERS: tuple[Tokenizer, ...] = ("split_nopunc", "marks", "split", "space", "nltk", "spacy")
TEXT = "text"  # how the documents without phrases are named
REFERENCES = "references"


@dataclass(frozen=True, slots=True)
class RetrievalOptions:
    """How documents are indexed and searched, and how rankings are measured and compared."""

    protocol: ProtocolLike = protocol_option("Convention by which phrases are present or absent.", once=True)
    metrics: MetricsLike | None = metrics_option(
        "Measure, as nDCG@10, R@100, AP, RR, P@5, Success@1 or R(rel=2)@100.",
        complete="",
        otherwise="nDCG@10, R@100, AP, RR",
    )
    subsets: Sequence[Subset] = option(
        SUBSETS,
        "Which phrases of a system are added: all, present, absent, or a class of PRMU.",
        flags=("--subset",),
        repeatable=True,
        metavar="SUBSET",
        otherwise="each of them",
    )
    baseline: str | None = option(
        None,
        "Compare with this system's phrases of the same subset; `references` are the author's.",
        metavar="NAME",
        otherwise="title and text alone",
    )
    cutoff: str = cutoff_option("Add the first K predictions of a document, or M, all of them.")
    weight: float = option(1.0, "How many times a term of a phrase counts.", above=0, most=1000, metavar="W")
    k1: float = option(0.9, "How much a repeated term counts.", least=0, most=1000, metavar="K1")
    b: float = option(0.4, "How much the length of a document counts.", least=0, most=1, metavar="B")
    depth: int = option(1000, "Documents that are kept for a query.", least=1, most=1_000_000, metavar="N")
    tokenizer: Tokenizer = option("split_nopunc", "How text becomes words.", values=TOKENIZERS)
    stem: bool = option(True, "Whether words are stemmed.")
    stop: bool = option(True, "Whether stop words of the language are left out.")
    query_terms: QueryTerms = option(
        "counted", "A word that a query repeats: as often, or once.", values=("counted", "distinct")
    )
    further: Sequence[CorpusLike] = option((), "Further documents of the collection.", command=False)
    rankings: Mapping[str, str | Path] | None = option(None, "TREC runs to measure, by name.", command=False)
    keep: bool = option(False, "Whether the result holds the rankings.", command=False)
    test: QueryTest = option(
        "randomisation", "Test that is shown; -f json has all of them.", values=("randomisation", "t", "wilcoxon")
    )
    correction: Correction = max_t_option()
    resamples: int = resamples_option()
    seed: int = seed_option()
    level: float = level_option()
    join: JoinOptions = group(JoinOptions)
    work: WorkOptions = group(WorkOptions)

    def inference(self) -> Inference:
        """Return how differences are tested."""
        return Inference(
            self.test, correction=self.correction, level=self.level, resamples=self.resamples, seed=self.seed
        )


@dataclass(frozen=True, slots=True)
class Condition:
    """What documents hold when they are searched: title and text, and some phrases of a system."""

    kind: Kind
    system: str
    subset: Subset | None = None
    phrases: float = 0.0  # that are added to a document, on average
    same: str = ""  # the name of an earlier condition in which documents hold the same

    @property
    def name(self) -> str:
        """The condition in one word, for files."""
        return "-".join(filter(None, ("" if self.kind in (TEXT, REFERENCES) else self.kind, self.system, self.subset)))

    @property
    def documents(self) -> str:
        """The name of the first condition in which documents hold what they do here."""
        return self.same or self.name


@dataclass(frozen=True, slots=True)
class Row:
    """A measure of the rankings of one condition, and its difference to the baseline."""

    condition: Condition
    measure: str
    value: float
    interval: tuple[float, float]
    baseline: Condition | None = None  # None for the baseline itself, and where documents hold the same
    difference: Difference | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the row of the JSON output."""
        return {
            **self._names(),
            "phrases": None if self.condition.kind == "ranking" else self.condition.phrases,
            "same_as": self.condition.same or None,
            "metric": self.measure,
            "value": self.value,
            "ci": [_or_none(end) for end in self.interval],
        }

    def difference_dict(self) -> dict[str, Any] | None:
        """Return the difference to the baseline for the JSON output."""
        if self.difference is None or self.baseline is None:
            return None
        return {
            **self._names(),
            "baseline": self.baseline.name,
            "metric": self.measure,
            **self.difference.as_dict(),
        }

    def _names(self) -> dict[str, Any]:
        return {"kind": self.condition.kind, "system": self.condition.system, "subset": self.condition.subset}


@dataclass(frozen=True, slots=True, repr=False)
class Retrieval(Displayed):
    """What keyphrases do for search: the measures of every condition, compared by query."""

    corpus: str
    documents: int
    queries: tuple[str, ...]  # those that are measured
    judgements: Judgements  # of these
    results: tuple[Row, ...]
    per_query: Mapping[tuple[str, str], tuple[float, ...]]  # by the name of a condition and the measure
    options: RetrievalOptions
    search: str  # every convention of the search in one line
    signatures: Mapping[str, str]
    notes: tuple[str, ...]
    texts: Texts  # of the queries
    ids: Sequence[str]  # of the documents, by number
    kept: Mapping[str, Sequence[Ranked]]  # the ranking of each query, by the name of a condition, where they are kept

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each condition and measure."""
        return [{"corpus": self.corpus} | row.as_dict() for row in self.results]

    def differences(self) -> list[dict[str, Any]]:
        """Return one dict for each measure of a condition that is compared with the baseline."""
        found = (row.difference_dict() for row in self.results)
        return [{"corpus": self.corpus} | each for each in found if each is not None]

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON output; `per_query` has the values of all queries."""
        return {
            "search": self.search,
            "signatures": dict(self.signatures),
            "rows": self.rows(),
            "differences": self.differences(),
            "notes": list(self.notes),
            "documents": self.documents,
            "queries": list(self.queries),
            "per_query": [
                {"condition": name, "metric": measure, "values": list(values)}
                for (name, measure), values in self.per_query.items()
            ],
        }

    def tables(self) -> Iterator[Table]:
        """Yield the measures of every condition, then for each measure the differences to the baseline."""
        from karat.analyses.retrieval.tables import tables_of

        return tables_of(self)

    def flat_rows(self) -> list[dict[str, Any]]:
        """Return the rows of the CSV output."""
        from karat.analyses.retrieval.tables import flat_row

        return [{"corpus": self.corpus} | flat_row(row) for row in self.results]

    def ranking(self, condition: str) -> dict[str, list[tuple[str, float]]]:
        """The documents that were found for each query, with their scores, in a condition by its name, as `text`.

        Raises InputError if the rankings were not kept, or if there is no such condition.
        """
        if not self.kept:
            raise InputError("the rankings were not kept: search with keep=True")
        if condition not in self.kept:
            raise unknown("condition", condition, self.kept)
        return {
            query: list(zip(map(self.ids.__getitem__, each.documents.tolist()), each.scores.tolist(), strict=True))
            for query, each in zip(self.queries, self.kept[condition], strict=True)
        }

    def save_files(self, folder: str | Path) -> list[str]:
        """Writes a folder of TREC files: a ranking of each condition, `qrels.txt` and `queries.tsv`; gives their names.

        Raises InputError if the folder is there and not empty, or if the rankings were not kept.
        """
        from karat.analyses.retrieval.files import save_files

        return save_files(self, folder)


def _or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
