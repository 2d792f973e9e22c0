"""Run-to-run homogeneity: whether a system gives a document the same keyphrases each time that it is asked.

Of every two runs of a system, Hooper and Rodgers of what they predict for the same document; means over documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from karat import __version__
from karat.analyses.homogeneity.data import figure_of
from karat.analyses.homogeneity.measures import word_sets
from karat.analyses.homogeneity.phrases import Columns, Documents, known_run, read_columns, read_contents
from karat.analyses.homogeneity.result import Figure, figure_values, or_none
from karat.analyses.homogeneity.samples import Units, mean_of
from karat.analyses.homogeneity.tables import with_interval
from karat.corpus import Corpus, Run
from karat.errors import InputError, counted
from karat.formats.pairs import Paired
from karat.matching.columns import Cutoff
from karat.matching.inputs import CorpusLike, ProtocolLike, RunLike, as_corpus, as_protocols, as_runs
from karat.matching.join import Join
from karat.matching.passes import Pass
from karat.metrics.base import divide
from karat.options import (
    Progress,
    WorkOptions,
    cutoff_option,
    group,
    language_option,
    level_option,
    option,
    options_from,
    protocol_option,
    public,
)
from karat.pairs.sets import Floats, Measure, Sets, shares
from karat.protocol import whole_number
from karat.results.displayed import Displayed
from karat.tabular import COUNT, PERCENT, Cell, Column, Group, Table
from karat.tabular import Row as Line

ABOUT = (
    "hooper: phrases that two runs both give a document over those that either gives; rodgers: the same of words; "
    "means over documents, for which one of them predicts anything.",
    "in all runs: share of the distinct phrases of a document that every run gives, mean over documents.",
)


@dataclass(frozen=True, slots=True)
class RepeatsOptions:
    """How runs of one system are compared."""

    protocol: ProtocolLike = protocol_option("Convention by which phrases are matched.")
    measure: Measure = option(
        "jaccard", "What both share over the union, or over the larger of both sets.", values=("jaccard", "max")
    )
    cutoff: str = cutoff_option()
    level: float = level_option()
    language: str | None = language_option()
    work: WorkOptions = group(WorkOptions)

    def __post_init__(self) -> None:
        """Raises InputError if the cutoff is none."""
        if self.cutoff != "M" and whole_number(self.cutoff) is None:
            raise InputError(f"the cutoff of homogeneity is a number from 1 on, or M for all, not {self.cutoff!r}")


@dataclass(frozen=True, slots=True)
class Two:
    """Two runs on the same documents."""

    a: str
    b: str
    documents: int  # for which one of them predicts anything
    same: int  # for which both predict the very same
    hooper: Figure
    rodgers: Figure

    def as_dict(self) -> dict[str, Any]:
        """The row of the JSON output."""
        found: dict[str, Any] = {"a": self.a, "b": self.b, "documents": self.documents, "same": self.same}
        return found | figure_values("hooper", self.hooper) | figure_values("rodgers", self.rodgers)


@dataclass(frozen=True, slots=True, repr=False)
class Repeats(Displayed):
    """How alike several runs of a system are on the same documents."""

    corpus: str
    runs: tuple[str, ...]
    options: RepeatsOptions
    pairs: tuple[Two, ...]
    all: Two  # the means over every two runs
    stable: Figure  # the share of phrases that are in all runs
    signatures: dict[str, str]
    notes: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One dict for every two runs."""
        return [{"corpus": self.corpus} | each.as_dict() for each in self.pairs]

    def as_dict(self) -> dict[str, Any]:
        """The whole as plain values: the envelope of `score`, and the means over every two runs."""
        mean = self.all.as_dict()
        return {
            "signatures": self.signatures,
            "rows": self.rows(),
            "notes": list(self.notes),
            "mean": {name: mean[name] for name in mean if name not in ("a", "b")}
            | figure_values("stable", self.stable),
        }

    def flat_rows(self) -> list[dict[str, Any]]:
        """The rows of the CSV output."""
        return [
            {
                "corpus": self.corpus,
                **{name: getattr(each, name) for name in ("a", "b", "documents", "same")},
                **{
                    f"{name}{end}": or_none(value)
                    for name, figure in (("hooper", each.hooper), ("rodgers", each.rodgers))
                    for end, value in zip(("", "_low", "_high"), (figure.value, *figure.interval), strict=True)
                },
            }
            for each in self.pairs
        ]

    def tables(self) -> Iterator[Table]:
        """Every two runs, and their means."""
        columns = [Column("hooper"), Column("rodgers"), Column("documents", COUNT), Column("% same", PERCENT)]
        lines = [Line(f"{each.a}, {each.b}", _cells(each)) for each in self.pairs]
        title = f"{self.corpus}, {counted(len(self.runs), 'run')} of one system"
        brackets = f"In brackets {100 * self.options.level:.4g} % intervals (jackknife t on the logit scale)."
        groups = [Group(lines), Group([Line("mean of every two", _cells(self.all))])]
        groups.append(Group([Line("in all runs", [with_interval(self.stable), None, None, None])]))
        caption = " ".join([f"{title}.", *ABOUT, brackets])
        yield Table(title, "runs", columns, groups, caption=caption)
        yield Table(notes=[*ABOUT, brackets, f"Protocol {', '.join(self.signatures)}."])


def _cells(each: Two) -> list[Any]:
    same = each.same / each.documents if each.documents else None
    return [with_interval(each.hooper), with_interval(each.rodgers), each.documents, Cell(same)]


@public(RepeatsOptions)
def repeats(
    corpus: CorpusLike,
    *runs: RunLike,
    protocol: ProtocolLike = "karat",
    measure: Measure = "jaccard",
    cutoff: str = "M",
    level: float = 0.95,
    language: str | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Repeats:
    """How alike several runs of one system are on the same documents, as those of a language model with other seeds.

    Raises InputError if there are fewer than two runs, or if one lacks a document of the corpus.

    >>> documents = [{"id": "1"}, {"id": "2"}]
    >>> lists = [[["a", "b"], ["c"]], [["a"], ["c"]]]
    >>> runs = [[{"id": str(n), "keyphrases": k} for n, k in enumerate(each, 1)] for each in lists]
    >>> repeats(documents, *runs).rows()[0]["hooper"]
    0.75
    """
    options = options_from(RepeatsOptions, locals())
    given, systems = as_corpus(corpus), as_runs(runs)
    if len(systems) < 2:
        raise InputError("run-to-run homogeneity is of two runs or more of one system; give at least two")
    [chosen] = as_protocols([protocol], language)
    documents = _documents(given, jobs)
    known = [known_run(run, documents, None)[0] for run in systems]
    reading = Pass(given, known, Join(None, "empty"), jobs=jobs, progress=progress)
    depth = Cutoff() if cutoff == "M" else Cutoff("k", whole_number(cutoff))
    [columns], lacking = read_columns(reading, documents, [chosen], depth)
    _check_whole(systems, lacking, documents)
    sets = [_sets(columns, n, len(documents.ids)) for n in range(len(systems))]
    values = [_values(one, other, options.measure) for one, other in combinations(sets, 2)]
    names = [run.name for run in systems]
    two = [_two(*both, columns, options) for both, columns in zip(combinations(names, 2), values, strict=True)]
    facts = {"set": "keyphrases", "hash": documents.hash}
    return Repeats(
        given.name,
        tuple(names),
        options,
        tuple(two),
        _two("", "", np.stack(values).mean(axis=0), options),
        _figures([_stable([phrases for phrases, _ in sets])], options)[0],
        {str(chosen): chosen.signature(**facts, karat=__version__)},
        tuple(_notes(names, two)),
    )


def _documents(corpus: Corpus, jobs: int) -> Documents:
    """The documents, each of them paired with itself."""
    found = read_contents(corpus, frozenset(), None, jobs=jobs)
    every = np.arange(len(found.ids))
    ids = tuple(found.ids)
    paired = Paired(ids, ids, tuple(range(1, len(ids) + 1)), corpus.origin)
    return Documents(corpus, corpus, ids, len(ids), every, every, paired, {}, {}, found.hash, {})


def _check_whole(runs: Sequence[Run], lacking: Sequence[Any], documents: Documents) -> None:
    for run, lacks in zip(runs, lacking, strict=True):
        if lacks.any():
            first = documents.ids[int(np.argmax(lacks))]
            raise InputError(f"{run.origin}: no predictions for document {first!r}; runs are compared on all documents")


def _sets(columns: Columns, system: int, documents: int) -> tuple[Sets, Sets]:
    """(the phrases, the words of the phrases) that a run gives each document."""
    given = columns.systems[system]
    phrases = Sets.of(given.document, given.phrase, documents)
    return phrases, word_sets(phrases, columns.forms)


def _values(one: tuple[Sets, Sets], other: tuple[Sets, Sets], measure: Measure) -> Floats:
    """Hooper and Rodgers of two runs on every document, [2, documents]."""
    every = np.arange(len(one[0].starts) - 1)
    return np.stack([shares(every, every, a, b, measure) for a, b in zip(one, other, strict=True)])


def _stable(runs: Sequence[Sets]) -> Floats:
    """The share of the distinct phrases of each document that all runs give, [documents]; NaN without any."""
    width = max(int(each.items.max(initial=0)) for each in runs) + 1
    keys = np.concatenate([each.owner * width + each.items for each in runs])
    distinct, times = np.unique(keys, return_counts=True)
    documents = len(runs[0].starts) - 1
    every = np.bincount(distinct // width, minlength=documents)
    stable = np.bincount(distinct[times == len(runs)] // width, minlength=documents)
    return divide(stable, every)


def _two(a: str, b: str, values: Floats, options: RepeatsOptions) -> Two:
    hooper = values[0]
    there = int((~np.isnan(hooper)).sum())
    return Two(a, b, there, int((hooper == 1).sum()), *_figures(list(values), options))


def _figures(columns: Sequence[Floats], options: RepeatsOptions) -> list[Figure]:
    units = Units(np.arange(len(columns[0])), len(columns[0]))
    return [figure_of(mean_of(each, units), options.level) for each in columns]


def _notes(names: Sequence[str], two: Sequence[Two]) -> Iterator[str]:
    for each in two:
        if each.documents and each.same == each.documents:
            yield f"{each.a} and {each.b} are the same on every document: another temperature may tell more"
