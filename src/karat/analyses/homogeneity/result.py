"""The options and the result of `karat.homogeneity`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.analyses.homogeneity.genericness import Genericness
from karat.analyses.homogeneity.lists import NO_CHANCE, Chance
from karat.analyses.homogeneity.per_pair import PairTable
from karat.errors import InputError, counted
from karat.formats.pairs import write_pairs
from karat.matching.columns import Cutoff
from karat.matching.inputs import CorpusLike, ProtocolsLike
from karat.metrics.soft import checked_threshold
from karat.options import (
    JoinOptions,
    WorkOptions,
    cutoff_option,
    group,
    level_option,
    option,
    path_option,
    protocol_option,
    resamples_option,
    seed_option,
)
from karat.pairs.sets import Measure
from karat.protocol import whole_number
from karat.results.displayed import Displayed
from karat.stats.difference import Correction, Difference, Inference
from karat.stats.dyadic import DyadicVariance
from karat.tabular import Table

if TYPE_CHECKING:
    from karat.analyses.homogeneity.compare import Power
    from karat.analyses.homogeneity.regression import Regression
    from karat.analyses.homogeneity.subsets import Class, OfMethod

EXTRACTS = 0.01  # a system that generates less than this share of its predictions is an extractor
CORRELATIONS = ("pearson", "spearman", "pearson_wer", "spearman_wer")  # of Hooper with ROUGE-1, and with WER


@dataclass(frozen=True, slots=True)
class HomogeneityOptions:
    """How `homogeneity` works."""

    protocol: ProtocolsLike = protocol_option(repeatable=True)
    measure: Measure = option(
        "jaccard", "What both share over the union, or over the larger of both sets.", values=("jaccard", "max")
    )
    stem: bool = option(True, "Compare words as they are, whatever the protocol stems.", flags=("--no-stem",))
    cutoff: str = cutoff_option()
    match_length: bool = option(False, "Cut the two lists of a pair to the length of the shorter one.")
    similarity: str | None = option(
        None,
        "Soft scores too: F of SoftKeyScore between both lists, as kmr. See `karat list similarities`.",
        flags=("--score",),
        metavar="NAME[,option=value...]",
        complete="similarities",
    )
    threshold: float = option(0.4, "Scores below T are 0.", metavar="T")
    reformulations: CorpusLike | None = path_option(
        "The corpus of b, where pairs are of documents and their reformulations.", "CORPUS"
    )
    correction: Correction = option(
        "max-t", "How p is adjusted over all pairs of systems on one measure.", values=("max-t", "holm", "bh", "none")
    )
    resamples: int = resamples_option()
    seed: int = seed_option()
    level: float = level_option()
    join: JoinOptions = group(JoinOptions)
    work: WorkOptions = group(WorkOptions)

    def __post_init__(self) -> None:
        """Raises InputError if an option is none that homogeneity has."""
        checked_threshold(self.threshold)
        if self.cutoff != "M" and whole_number(self.cutoff) is None:
            raise InputError(f"the cutoff of homogeneity is a number from 1 on, or M for all, not {self.cutoff!r}")

    def inference(self, correction: Correction | None = None) -> Inference:
        """Return how differences are tested, with another correction if there is one."""
        by = self.correction if correction is None else correction
        return Inference(correction=by, level=self.level, resamples=self.resamples, seed=self.seed)

    def depth(self) -> Cutoff:
        """The cutoff."""
        return Cutoff() if self.cutoff == "M" else Cutoff("k", whole_number(self.cutoff))


# ---------------------------------------------------------------------------------------------- what is found

PARTS = ("kinds", "classes", "methods", "regressions", "powers")  # further fields of the JSON output


def kind_of(generated: float | None) -> str | None:
    """Whether a system generates phrases or only extracts them, by the share that is not in its documents.

    >>> kind_of(0.282), kind_of(0.0), kind_of(None)
    ('generates', 'extracts', None)
    """
    if generated is None or generated != generated:
        return None
    return "extracts" if generated < EXTRACTS else "generates"


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its interval, and where it is a correlation the p of its being 0; NaN of too few pairs."""

    value: float
    interval: tuple[float, float]
    p: float = np.nan
    dyadic: DyadicVariance | None = field(default=None, repr=False, compare=False)  # of pairs that share documents


@dataclass(frozen=True, slots=True)
class Components:
    """The connected components of pairs by the documents they share, and how many pairs are in the largest one."""

    count: int
    largest: int

    def text(self, pairs: int) -> str:
        """Say how many components there are, and the share of the largest one.

        >>> Components(116, 585).text(855)
        'in 116 components, the largest with 585 pairs (68.4 %)'
        """
        every = f"in {counted(self.count, 'component')}"
        if self.count < 2 or self.largest < 2:
            return every
        return f"{every}, the largest with {self.largest:,} pairs ({100 * self.largest / pairs:.1f} %)"


@dataclass(frozen=True, slots=True)
class Row:
    """How alike one system, or the references, index the two documents of a pair."""

    system: str
    protocol: str
    pairs: int
    documents: int
    undefined: int
    figures: Mapping[str, Figure]  # hooper, rodgers, soft; pearson and spearman with ROUGE-1 and with WER
    generated: float = np.nan  # the share of all predictions that are not in their document
    generated_mean: float = np.nan  # the mean of that share over the documents that have predictions
    phrases: float = np.nan  # of a document, on average, each once
    chance: Chance = NO_CHANCE
    constant: bool = False  # whether all documents have the same list
    components: Components = Components(0, 0)

    def as_dict(self) -> dict[str, Any]:
        """The row of the JSON output."""
        found: dict[str, Any] = {
            "system": self.system,
            "protocol": self.protocol,
            "pairs": self.pairs,
            "documents": self.documents,
        }
        for name in ("hooper", "rodgers", "soft"):
            found |= figure_values(name, self.figures.get(name))
        micro, mean = or_none(self.generated), or_none(self.generated_mean)
        found |= {"generated": micro, "generated_micro": micro, "generated_mean": mean}
        for name in CORRELATIONS:
            found |= figure_values(name, self.figures.get(name), tested=True)
        return found | {
            "undefined": self.undefined,
            "phrases_per_document": or_none(self.phrases),
            "unrelated_hooper": or_none(self.chance.hooper),
            "unrelated_pairs": self.chance.pairs,
            "components": self.components.count,
            "largest_component": self.components.largest,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems compared on one measure, on the pairs on which both are defined."""

    protocol: str
    metric: str
    a: str
    b: str
    pairs: int
    different: bool  # whether the two systems are defined on different pairs
    difference: Difference

    @property
    def name(self) -> str:
        """The measure and the two systems, as the row of a table."""
        return f"{self.metric}: {self.a} − {self.b}"

    def as_dict(self) -> dict[str, Any]:
        """Return the row of the JSON output."""
        compared = {"protocol": self.protocol, "metric": self.metric, "a": self.a, "b": self.b, "pairs": self.pairs}
        return compared | self.difference.as_dict()


@dataclass(frozen=True, slots=True, repr=False)
class Homogeneity(Displayed):
    """How homogeneous systems are on pairs of documents."""

    corpus: str
    pairs: int
    documents: int  # in a pair
    rouge: Figure  # between the texts of a pair
    options: HomogeneityOptions
    systems: tuple[Row, ...]
    ceilings: tuple[Row, ...]  # of the references, and of those that are in their text
    differences: tuple[Comparison, ...]
    genericness: tuple[Genericness, ...]
    signatures: Mapping[str, str]
    notes: tuple[str, ...]
    wer: Figure = Figure(np.nan, (np.nan, np.nan))  # of the texts of a pair
    kinds: tuple[Comparison, ...] = ()  # systems that generate less those that extract
    classes: tuple[Class, ...] = ()
    methods: tuple[OfMethod, ...] = ()
    regressions: tuple[Regression, ...] = ()
    powers: tuple[Power, ...] = ()
    per_pair: PairTable | None = field(default=None, repr=False, compare=False)
    components: Components = Components(0, 0)  # of all pairs

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each system and protocol."""
        return [{"corpus": self.corpus} | self._without_soft(row.as_dict()) for row in self.systems]

    def as_dict(self) -> dict[str, Any]:
        """The whole as plain values: the envelope of `score`, ceilings, differences of systems, genericness."""
        names = (
            "measure",
            "stem",
            "cutoff",
            "match_length",
            "similarity",
            "threshold",
            "resamples",
            "seed",
            "level",
            "correction",
        )
        return {
            "signatures": dict(self.signatures),
            "rows": self.rows(),
            "notes": list(self.notes),
            "options": {name: getattr(self.options, name) for name in names} | {"language": self.options.join.language},
            **figure_values("rouge", self.rouge),
            "ceilings": [{"corpus": self.corpus} | _of_ceiling(row) for row in self.ceilings],
            "differences": [{"corpus": self.corpus} | each.as_dict() for each in self.differences],
            "genericness": [{"corpus": self.corpus} | each.as_dict() for each in self.genericness],
            **figure_values("wer", self.wer),
            "components": self.components.count,
            "largest_component": self.components.largest,
            **{name: [each.as_dict() for each in getattr(self, name)] for name in PARTS},
        }

    def pair_rows(self) -> list[dict[str, Any]]:
        """One dict for each system and pair: Hooper, Rodgers, the soft score, ROUGE-1 and WER of the texts."""
        return [] if self.per_pair is None else list(self.per_pair.rows())

    def save_pairs(self, path: str | Path) -> None:
        """Writes what each system has on each pair; the name chooses between JSON lines, CSV, TSV and Parquet."""
        write_pairs(path, self.pair_rows())

    def tables(self) -> Iterator[Table]:
        """For each protocol the systems and ceilings, the systems compared, and how generic shared phrases are."""
        from karat.analyses.homogeneity.tables import tables_of

        return tables_of(self)

    def flat_rows(self) -> list[dict[str, Any]]:
        """The rows of the CSV output: the systems, then the ceilings."""
        from karat.analyses.homogeneity.flat import flat_rows_of

        return list(flat_rows_of(self))

    def _without_soft(self, row: dict[str, Any]) -> dict[str, Any]:
        if self.options.similarity is not None:
            return row
        return {name: value for name, value in row.items() if not name.startswith("soft")}


def _of_ceiling(row: Row) -> dict[str, Any]:
    fields = (
        "protocol",
        "pairs",
        "documents",
        "hooper",
        "hooper_ci",
        "rodgers",
        "rodgers_ci",
        "undefined",
        "phrases_per_document",
    )
    values = row.as_dict()
    return {"ceiling": row.system} | {name: values[name] for name in fields}


def figure_values(name: str, figure: Figure | None, tested: bool = False) -> dict[str, Any]:
    """A number with its interval, and its p where it is tested, as fields of the JSON output."""
    ends = (np.nan, np.nan) if figure is None else figure.interval
    found = {
        name: None if figure is None else or_none(figure.value),
        f"{name}_ci": [or_none(end) for end in ends],
    }
    return found | ({f"{name}_p": None if figure is None else or_none(figure.p)} if tested else {})


def or_none(value: float) -> float | None:
    """The number, None where it is undefined or has no end."""
    return float(value) if np.isfinite(value) else None
