"""What pairs of documents are like, without any run: their texts, their references, and how generic those are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.analyses.homogeneity import measured
from karat.analyses.homogeneity.data import Data
from karat.analyses.homogeneity.phrases import Columns
from karat.analyses.homogeneity.result import Homogeneity, HomogeneityOptions, figure_values, or_none
from karat.analyses.homogeneity.tables import (
    CEILINGS,
    MARKED,
    generic_tables,
    heading,
    intervals,
    methods_table,
    with_interval,
)
from karat.formats.pairs import PairsLike
from karat.matching.columns import PRMU
from karat.matching.inputs import CorpusLike, ProtocolLike, as_corpus
from karat.options import (
    Progress,
    WorkOptions,
    flat,
    group,
    language_option,
    level_option,
    option,
    options_from,
    path_option,
    protocol_option,
    public,
)
from karat.pairs.sets import Ints, Measure
from karat.results.displayed import Displayed
from karat.tabular import COUNT, PERCENT, Cell, Column, Table, rows_of
from karat.tabular import Row as Line

SIDES = {"a": "documents a", "b": "documents b", "both": "both"}
ABOUT = (
    "ROUGE-1: recall of the words of a in b; WER: words to change from a to b over those of a; means over pairs.",
    "P, R, M, U: references that are present, reordered, mixed, unseen in their document; means over documents.",
    "hooper, rodgers: of the references, over phrases and over words.",
)


@dataclass(frozen=True, slots=True)
class DescribePairsOptions:
    """How pairs are described."""

    protocol: ProtocolLike = protocol_option("Convention by which phrases are matched.")
    measure: Measure = option(
        "jaccard", "What both share over the union, or over the larger of both sets.", values=("jaccard", "max")
    )
    stem: bool = option(True, "Compare words as they are, whatever the protocol stems.", flags=("--no-stem",))
    reformulations: CorpusLike | None = path_option(
        "The corpus of b, where pairs are of documents and their reformulations.", "CORPUS"
    )
    level: float = level_option()
    references: str | None = option(None, "Look at a named reference set.", metavar="NAME")
    language: str | None = language_option()
    work: WorkOptions = group(WorkOptions)


@dataclass(frozen=True, slots=True, repr=False)
class PairsDescription(Displayed):
    """What pairs are like: how alike their texts and references are, and how generic the references."""

    found: Homogeneity  # of no system
    prmu: Mapping[str, tuple[int, Mapping[str, float]]]  # of a, of b, of both: documents, and shares of the classes
    notes: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One dict: the pairs, their texts, the agreement of their references."""
        found = self.found
        row: dict[str, Any] = {"corpus": found.corpus, "pairs": found.pairs, "documents": found.documents}
        row |= {"components": found.components.count, "largest_component": found.components.largest}
        row |= {**figure_values("rouge1", found.rouge), **figure_values("wer", found.wer)}
        for ceiling in found.ceilings:
            for name in ("hooper", "rodgers"):
                row |= figure_values(f"{ceiling.system}_{name}", ceiling.figures[name])
        for side, (_, shares) in self.prmu.items():
            row |= {f"{name}_{side}": or_none(value) for name, value in shares.items()}
        for over, values in ((each, generic[each]) for generic in self.generic() for each in ("types", "occurrences")):
            row |= {f"{name}_{over}": value for name, value in values.items()}
        return [row]

    def generic(self) -> list[dict[str, Any]]:
        """How generic references are that pairs share, as `homogeneity` has it."""
        return [each.as_dict() for each in self.found.genericness]

    def as_dict(self) -> dict[str, Any]:
        """The whole as plain values: the envelope of `score`, genericness, and the methods of reformulation."""
        return {
            "signatures": dict(self.found.signatures),
            "rows": self.rows(),
            "notes": list(self.notes),
            "genericness": self.generic(),
            "methods": [each.as_dict() for each in self.found.methods],
        }

    def flat_rows(self) -> list[dict[str, Any]]:
        """The rows of the CSV output, the ends of intervals in columns of their own."""
        found: dict[str, Any] = {}
        for name, value in self.rows()[0].items():
            ends = zip(("low", "high"), value, strict=True) if isinstance(value, list) else ()
            plain = {} if isinstance(value, list) else {name: value}
            found |= plain | {f"{name.removesuffix('_ci')}_{end}": number for end, number in ends}
        return [found]

    def tables(self) -> Iterator[Table]:
        """The pairs, their texts and references, the classes of these, and how generic they are."""
        found, brackets = self.found, intervals(self.found)
        head = heading(found)
        yield Table(head)
        texts = [("ROUGE-1", found.rouge), ("WER", found.wer)]
        rows = [Line(name, [with_interval(each), None]) for name, each in texts]
        for each in found.ceilings:
            figures = [with_interval(each.figures[name]) for name in ("hooper", "rodgers")]
            rows.append(Line(CEILINGS[each.system], figures))
        columns = [Column("mean, hooper"), Column("rodgers")]
        title = "Texts and references of a pair"
        table = Table(title, "", columns, rows_of((row.name, row.cells) for row in rows))
        yield _captioned(table, head, brackets)
        classes = [
            (SIDES[side], [count, *(Cell(shares[name]) for name in PRMU)])
            for side, (count, shares) in self.prmu.items()
        ]
        columns = [Column("documents", COUNT), *(Column(f"% {name}", PERCENT) for name in PRMU)]
        yield _captioned(Table("Classes of the references", "side", columns, rows_of(classes)), head, brackets)
        parts = [*generic_tables(list(found.genericness))]
        if found.methods:
            parts.append(methods_table(list(found.methods), brackets))
        for name, corner, heads, groups, about in parts:
            yield Table(name, corner, heads, groups, caption=" ".join([f"{name}: {head}.", *about]))
        methods = [line for part in parts for line in part[-1] if line != brackets]
        yield Table(notes=[*ABOUT, MARKED, *methods, brackets])


def _captioned(table: Table, head: str, brackets: str) -> Table:
    caption = " ".join([f"{table.title}: {head}.", *ABOUT, brackets])
    return Table(table.title, table.corner, table.columns, table.groups, caption=caption)


@public(DescribePairsOptions)
def describe_pairs(
    corpus: CorpusLike,
    pairs: PairsLike,
    *,
    protocol: ProtocolLike = "karat",
    measure: Measure = "jaccard",
    stem: bool = True,
    reformulations: CorpusLike | None = None,
    level: float = 0.95,
    references: str | None = None,
    language: str | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> PairsDescription:
    """What pairs of documents are like: how alike their texts and references are, and how generic these.

    Raises InputError if a pair names a document that is not there.

    >>> lists = [["graphs", "trees"], ["graphs", "nets"], ["graphs"]]
    >>> documents = [{"id": str(n), "text": "Graphs.", "keyphrases": each} for n, each in enumerate(lists)]
    >>> [row] = describe_pairs(documents, [{"a": "0", "b": "1"}]).rows()
    >>> round(row["references_hooper"], 4), row["shared_df_types"], row["wer"]
    (0.3333, 3.0, 0.0)
    """
    chosen = options_from(DescribePairsOptions, locals())
    options = options_from(HomogeneityOptions, flat(chosen))
    found, data, [columns] = measured(as_corpus(corpus), pairs, [], options)
    return PairsDescription(found, _classes(data, columns), found.notes)


def _classes(data: Data, columns: Columns) -> dict[str, tuple[int, dict[str, float]]]:
    """(documents, shares of the classes of their references) of the documents a, of the documents b, of both."""
    a, b = np.unique(data.documents.a), np.unique(data.documents.b)
    given = columns.references
    keys = np.bincount(given.document * len(PRMU) + given.prmu, minlength=len(data.documents.ids) * len(PRMU))
    counts = keys.reshape(-1, len(PRMU))
    sides = {"a": a, "b": b, "both": np.union1d(a, b)}
    return {side: (len(some), _shares(counts[some])) for side, some in sides.items()}


def _shares(counts: Ints) -> dict[str, float]:
    """The mean share of each class over documents that have references; NaN where none has."""
    some = counts[counts.sum(axis=1) > 0]
    if not len(some):
        return dict.fromkeys(PRMU, np.nan)
    means = (some / some.sum(axis=1, keepdims=True)).mean(axis=0)
    return dict(zip(PRMU, means.tolist(), strict=True))
