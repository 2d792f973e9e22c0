"""Results: the scores of systems with the rows behind them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from karat.citations import short_signature
from karat.errors import InputError, counted
from karat.formats.load import Count
from karat.libraries import library
from karat.matching.columns import Floats
from karat.metrics.base import Request, Rows
from karat.results.displayed import Displayed
from karat.results.documents import document_rows, save_documents
from karat.tabular import Column, Table, rows_of


@dataclass(frozen=True, slots=True)
class Score:
    """One number: its system, protocol and request, and the rows it is made of."""

    corpus: str
    system: str
    protocol: str
    request: Request
    rows: Rows

    @property
    def value(self) -> float:
        """The printed number; NaN where it is undefined."""
        return self.request.value(self.rows)

    @property
    def undefined(self) -> int:
        """How many documents are left out; of rows that are not one a document none is."""
        return 0 if self.rows.units is not None else int((self.rows.values[:, -1] == 0).sum())

    def per_document(self) -> Floats:
        """The metric of each document by itself; NaN where it is undefined."""
        return self.request.finish(self.rows.values)

    def as_dict(self, documents: int) -> dict[str, Any]:
        """The row of the JSON output."""
        value = self.value
        options = dict(self.request.options)
        if self.request.fitted is not None:
            options["fitted"] = self.request.fitted
        return {
            "corpus": self.corpus,
            "system": self.system,
            "protocol": self.protocol,
            "metric": self.request.label,
            "options": options,
            "subset": self.request.subset,
            "average": self.request.average,
            "value": None if math.isnan(value) else value,
            "documents": documents,
            "undefined": self.undefined,
        }


class Tally(msgspec.Struct, frozen=True):
    """What was read of one system under one protocol, and what of it was dropped."""

    system: str
    protocol: str
    references: Count = 0
    predictions: Count = 0
    invalid: Count = 0
    repeated: Count = 0
    missing: Count = 0
    merged: Count = 0  # predictions that are found, present or repeated only because spellings of characters are one
    merged_references: Count = 0  # and references

    def plus(self, other: Tally) -> Tally:
        """The tally of both."""
        return Tally(
            self.system,
            self.protocol,
            self.references + other.references,
            self.predictions + other.predictions,
            self.invalid + other.invalid,
            self.repeated + other.repeated,
            self.missing + other.missing,
            self.merged + other.merged,
            self.merged_references + other.merged_references,
        )

    def notes(self) -> list[str]:
        """What a reader of the scores should know."""
        said = []
        dropped = [f"{n:,} {what}" for n, what in ((self.invalid, "invalid"), (self.repeated, "repeated")) if n]
        if dropped:
            of_all = f"of {counted(self.predictions, 'prediction')}"
            said.append(f"{self.system}, {self.protocol}: {' and '.join(dropped)} {of_all} dropped")
        if self.missing:
            said.append(
                f"{self.system}, {self.protocol}: {counted(self.missing, 'document')} without predictions in the run"
            )
        return [*said, *self.spelling_notes()]

    def spelling_notes(self) -> list[str]:
        """How many phrases owe something to unicode=composed, where there are any."""
        if not self.merged and not self.merged_references:
            return []
        merged = f"{counted(self.merged, 'prediction')} and {counted(self.merged_references, 'reference')}"
        return [
            f"{self.system}, {self.protocol}: {merged} are found, present or repeated only because other spellings of "
            "the same characters (NFD, zero-width characters) are equal; unicode=as-is compares them as they are given"
        ]


@dataclass(frozen=True, slots=True)
class Part:
    """Which shard results are of: the `index`-th of `count`."""

    index: int = 1
    count: int = 1


@dataclass(frozen=True, slots=True, repr=False)
class Results(Displayed):
    """Scores in the order of request, the documents they rest on, the protocols spelled out, notes."""

    scores: tuple[Score, ...]
    ids: tuple[str, ...]
    signatures: dict[str, str]
    tallies: tuple[Tally, ...] = ()
    remarks: tuple[str, ...] = ()
    part: Part = Part()
    lacking: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # by run, the documents that are left out

    @property
    def common_ids(self) -> tuple[str, ...]:
        """The documents that all runs have, where those that a run lacks are left out."""
        gone = {place for places in self.lacking.values() for place in places}
        return tuple(each for place, each in enumerate(self.ids) if place not in gone)

    @property
    def common(self) -> int:
        """How many documents all runs have."""
        return len(self.common_ids)

    @property
    def documents(self) -> str:
        """How many documents the scores rest on, in words; all of them where each run has its own."""
        same = len({self.lacking.get(score.system, ()) for score in self.scores}) == 1
        return documents_of(self.common if same else len(self.ids), len(self.ids))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know: how files were matched, what was dropped."""
        return (*self.remarks, *(note for tally in self.tallies for note in tally.notes()))

    def rows(self) -> list[dict[str, Any]]:
        """One dict a score, as in the JSON output."""
        return [score.as_dict(len(self.ids)) for score in self.scores]

    def as_dict(self) -> dict[str, Any]:
        """The whole JSON output."""
        return {**signed(self.signatures), "rows": self.rows(), "notes": list(self.notes)}

    def tables(self) -> Iterator[Table]:
        """A table for each corpus and protocol: systems down, metrics across."""
        for corpus, protocol in dict.fromkeys((score.corpus, score.protocol) for score in self.scores):
            scores = [score for score in self.scores if (score.corpus, score.protocol) == (corpus, protocol)]
            yield _table(f"{corpus}, {self.documents}, protocol {protocol}", scores, self.lacking)

    def to_polars(self) -> Any:
        """The rows as a polars DataFrame; options as JSON text."""
        return library("polars", "to_polars()").DataFrame(
            [row | {"options": msgspec.json.encode(row["options"]).decode()} for row in self.rows()]
        )

    def save(self, path: str | Path) -> None:
        """Writes a `.karat` file."""
        from karat.results.files import save

        save(self, path)

    def document_rows(self) -> Iterator[dict[str, Any]]:
        """One dict for each system, protocol and document: its id, and the value of each metric."""
        return document_rows([self])

    def save_documents(self, path: str | Path) -> list[str]:
        """Writes these rows and returns what is left out; the name chooses JSON lines, CSV, TSV or Parquet."""
        return save_documents([self], path)


@dataclass(frozen=True, slots=True, repr=False)
class Collection(Displayed):
    """The results of several corpora beside each other, one for each; `collect` makes it."""

    parts: tuple[Results, ...]

    @property
    def signatures(self) -> dict[str, str]:
        """The signatures of all corpora, by protocol and corpus."""
        return signatures_of(self.parts)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know, each with its corpus."""
        return notes_of(self.parts)

    def rows(self) -> list[dict[str, Any]]:
        """One dict a score, as in the JSON output."""
        return [row for part in self.parts for row in part.rows()]

    def as_dict(self) -> dict[str, Any]:
        """The whole JSON output."""
        return {**signed(self.signatures), "rows": self.rows(), "notes": list(self.notes)}

    def tables(self) -> Iterator[Table]:
        """The tables of each corpus."""
        return (table for part in self.parts for table in part.tables())

    def save(self, path: str | Path) -> None:
        """Writes a `.karat` file."""
        from karat.results.files import save_all

        save_all(self.parts, path)

    def document_rows(self) -> Iterator[dict[str, Any]]:
        """One dict for each system, protocol and document: its id, and the value of each metric."""
        return document_rows(self.parts)

    def save_documents(self, path: str | Path) -> list[str]:
        """Writes these rows and returns what is left out; the name chooses JSON lines, CSV, TSV or Parquet."""
        return save_documents(self.parts, path)


def documents_of(used: int, total: int) -> str:
    """State how many documents figures rest on, and of how many where some are left out.

    >>> documents_of(67, 100), documents_of(100, 100)
    ('67 of 100 documents', '100 documents')
    """
    return f"{used:,} of {counted(total, 'document')}" if used < total else counted(total, "document")


def corpus_of(results: Results) -> str:
    """The corpus that results are of. Raises InputError if they hold no score."""
    if not results.scores:
        raise InputError("the results hold no score")
    return results.scores[0].corpus


def signatures_of(results: Iterable[Results]) -> dict[str, str]:
    """The signatures of all results, by protocol and, where there are several corpora, corpus."""
    listed = list(results)
    several = len(set(map(corpus_of, listed))) > 1
    return {
        f"{protocol} on {corpus_of(each)}" if several else protocol: text
        for each in listed
        for protocol, text in each.signatures.items()
    }


def signed(signatures: Mapping[str, str]) -> dict[str, Any]:
    """The signatures of a result in the JSON output: the long ones, and beside them the short ones."""
    return {
        "signatures": dict(signatures),
        "short_signatures": {name: short_signature(text) for name, text in signatures.items()},
    }


def notes_of(results: Iterable[Results]) -> tuple[str, ...]:
    """The notes of all results, each once; where there are several corpora, each says which it is of."""
    listed = list(results)
    several = len(set(map(corpus_of, listed))) > 1
    found = ((corpus_of(each), note) for each in listed for note in each.notes)
    return tuple(dict.fromkeys(_of_corpus(corpus, note) if several else note for corpus, note in found))


def _of_corpus(corpus: str, note: str) -> str:
    """A note that names its corpus."""
    if corpus in note:
        return note
    warning = "warning: " if note.startswith("warning: ") else ""
    return f"{warning}{corpus}: {note.removeprefix(warning)}"


# ---------------------------------------------------------------------------------------------- tables


def _table(title: str, scores: Sequence[Score], lacking: Mapping[str, Sequence[int]]) -> Table:
    """The scores of one corpus under one protocol."""
    systems = dict.fromkeys(score.system for score in scores)
    requests = list(dict.fromkeys(score.request.without_fitted() for score in scores))
    values = {(score.system, score.request.without_fitted()): score.value for score in scores}
    averages = sorted({request.average or "" for request in requests})
    left_out = [
        f"documents left out, undefined: {', '.join(missing)}" for missing in [_left_out(scores, lacking)] if missing
    ]
    caption = f"{title}, average {', '.join(averages)}."
    return Table(
        title,
        "system",
        [_column(request, len(averages) > 1) for request in requests],
        rows_of((system, [values.get((system, request)) for request in requests]) for system in systems),
        notes=[*([f"average: {averages[0]}"] if len(averages) == 1 else []), *left_out],
        caption=" ".join([caption, *(f"{text[0].upper()}{text[1:]}." for text in left_out)]),
    )


def _column(request: Request, several: bool) -> Column:
    options = "".join(f",{name}={value}" for name, value in request.options)
    below = request.average or "" if several else ""
    return Column(request.label + options, above=request.subset, below=below, better=request.spec.better)


def _left_out(scores: Sequence[Score], lacking: Mapping[str, Sequence[int]]) -> list[str]:
    """State on how many documents of a run each subset is undefined, once for all its metrics where they agree."""
    counts: dict[str, dict[str, int]] = {}
    for score in scores:
        undefined = max(score.undefined - len(lacking.get(score.system, ())), 0)
        if undefined:
            counts.setdefault(score.request.subset, {})[score.request.label] = undefined
    said = []
    for subset, by_metric in counts.items():
        for missing, group in groupby(sorted(by_metric.items(), key=lambda item: item[1]), key=lambda i: i[1]):
            names = [name for name, _ in group]
            whose = "" if len(names) == len({s.request.label for s in scores}) else f" ({', '.join(names)})"
            said.append(f"{subset} {missing:,}{whose}")
    return said
