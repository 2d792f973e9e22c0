"""A table of systems, corpora and metrics as values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from karat.analyses.compare.measure import Measured
from karat.analyses.table.options import TableOptions
from karat.metrics.base import Request
from karat.results import signed
from karat.results.displayed import Displayed
from karat.tabular import Table


@dataclass(frozen=True, slots=True)
class Names:
    """What systems and corpora are called, in the order in which they stand, and the groups of systems."""

    systems: Mapping[str, str]
    corpora: Mapping[str, str]
    groups: Mapping[str, tuple[str, ...]]  # systems that are in no group have the name "", and come first


@dataclass(frozen=True, slots=True)
class Value:
    """One cell: a system's value of one metric on one corpus."""

    table: str  # the protocol that a table is of: corpora in other languages have other stemmers
    protocol: str
    corpus: str
    request: Request
    system: str
    value: float  # the mean over its seeds
    documents: int
    undefined: int
    seeds: int = 1
    interval: tuple[float, float] | None = None
    rank: float | None = None  # among the systems of its column; ties share their mean rank
    best: bool = False
    second: bool = False
    against: tuple[str, ...] = ()  # the systems that it was tested against: the best ones, or the baseline
    test: str | None = None
    p: float | None = None  # the largest of these tests
    p_adjusted: float | None = None
    p_approximate: bool = False
    mark: str = ""  # † or ‡ where the difference is significant


@dataclass(frozen=True, slots=True)
class MeanRanks:
    """The mean rank of each system under a protocol, over the columns of the corpora that all of them have."""

    protocol: str
    ranks: Mapping[str, float]
    corpora: tuple[str, ...]
    columns: int


@dataclass(frozen=True, slots=True, repr=False)
class PaperTable(Displayed):
    """Systems, corpora and metrics in one table for each protocol."""

    values: tuple[Value, ...]
    ranks: tuple[MeanRanks, ...]
    names: Names
    documents: Mapping[str, int]  # by corpus
    common: Mapping[str, int]  # by corpus, the documents that all runs have
    signatures: Mapping[str, str]
    measured: Measured | None  # where something was tested, or intervals were made
    options: TableOptions
    notes: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One dict a cell, as in the JSON output; a run that a corpus lacks has a row without a value."""
        from karat.analyses.table.layout import rows_of_values

        return rows_of_values(self)

    def as_dict(self) -> dict[str, Any]:
        """The whole JSON output."""
        from karat.analyses.table.layout import tests_of

        return {
            **signed(self.signatures),
            "rows": self.rows(),
            "ranks": [
                {
                    "protocol": each.protocol,
                    "ranks": dict(each.ranks),
                    "corpora": list(each.corpora),
                    "columns": each.columns,
                }
                for each in self.ranks
            ],
            "tests": tests_of(self),
            "notes": list(self.notes),
        }

    def flat_rows(self) -> list[dict[str, Any]]:
        """The rows of the CSV output: with the mean rank of each system."""
        ranks = {(each.protocol, system): rank for each in self.ranks for system, rank in each.ranks.items()}
        rows = [row | {"mean_rank": ranks.get((row["protocol"], row["system"]))} for row in self.rows()]
        return [{name: _plain(value) for name, value in row.items()} for row in rows]

    def tables(self) -> Iterator[Table]:
        """A table for each protocol."""
        from karat.analyses.table.layout import tables_of

        return tables_of(self)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return ",".join(f"{key}={each}" for key, each in value.items())
    return ";".join(value) if isinstance(value, list) else value
