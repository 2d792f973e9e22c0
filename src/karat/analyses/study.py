"""Tables 1 to 3 of Houbre, Boudin and Daille for any corpus, its reformulations and some systems.

1. What the documents are like: how many there are, and the classes of their references (PRMU), in the corpus, in
   the reformulations that are kept, and in the documents that share references.
2. How homogeneous systems are on documents and their reformulations.
3. How homogeneous they are on documents that share references.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from karat.analyses.homogeneity import homogeneity
from karat.analyses.homogeneity.flat import with_low_and_high
from karat.analyses.homogeneity.result import Figure, Homogeneity, Row
from karat.analyses.homogeneity.tables import CEILINGS, MARKED, agreement, intervals
from karat.analyses.score import prmu_shares, reference_classes
from karat.corpus import Batch, Corpus, Prediction, Run
from karat.errors import InputError, counted
from karat.formats import read_run
from karat.formats.files import stem
from karat.matching.columns import PRMU, Ints
from karat.matching.inputs import CorpusLike, ProtocolLike, RunLike, as_corpus, as_runs
from karat.options import (
    By,
    Extra,
    Interval,
    JoinOptions,
    Missing,
    Progress,
    WorkOptions,
    cutoff_option,
    flat,
    group,
    interval_option,
    level_option,
    option,
    options_from,
    protocol_option,
    public,
    resamples_option,
    seed_option,
)
from karat.pairs.filter import ALL, LENGTH, Filtered, filter_reformulations
from karat.pairs.mine import Pairs, mine_pairs
from karat.results import Displayed
from karat.tabular import COUNT, PERCENT, Cell, Column, Group, Kind, Table, fixed, percent, rows_of
from karat.tabular import Row as Line

EXTRACTS = 0.01  # a system that generates less than this share of its predictions is an extractor


@dataclass(frozen=True, slots=True)
class Version:
    """A line of the first table: some documents, and the shares of the classes of their references."""

    name: str
    documents: int
    prmu: Mapping[str, float | None]


@dataclass(frozen=True, slots=True, repr=False)
class Study(Displayed):
    """The three tables; the second or third is None where there are no pairs for it."""

    corpus: str
    versions: tuple[Version, ...]
    filtered: Filtered | None
    mined: Pairs
    reformulated: Homogeneity | None
    sharing: Homogeneity | None
    signatures: Mapping[str, str]
    notes: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One dict a line, with the number of its table."""
        first = [
            {"table": 1, "corpus": self.corpus, "version": each.name, "documents": each.documents, **each.prmu}
            for each in self.versions
        ]
        later = ((2, self.reformulated), (3, self.sharing))
        return first + [
            {"table": number, "kind": kind_of(row["generated"])} | row
            for number, found in later
            if found is not None
            for row in found.rows()
        ]

    def as_dict(self) -> dict[str, Any]:
        """The whole as plain values: the envelope of `score`, what was kept, and both measurements in full."""
        return {
            "signatures": dict(self.signatures),
            "rows": self.rows(),
            "notes": list(self.notes),
            "reformulations": [] if self.filtered is None else self.filtered.summary(),
            "on_reformulations": None if self.reformulated is None else self.reformulated.as_dict(),
            "on_shared_references": None if self.sharing is None else self.sharing.as_dict(),
        }

    def flat_rows(self) -> list[dict[str, Any]]:
        """The rows of the CSV output."""
        first = ("table", "corpus", "version", "kind", "system", "pairs", "documents", *PRMU)
        last = ("pearson_p", "generated", "generated_mean", "undefined")
        return [
            {name: row.get(name) for name in first}
            | with_low_and_high(row, ("hooper", "rodgers", "pearson"))
            | {name: row.get(name) for name in last}
            for row in self.rows()
        ]

    def tables(self) -> Iterator[Table]:
        """The tables that there are, then what their figures are."""
        legend: dict[str, None] = {}
        protocol = f"Protocol {', '.join(self.signatures)}."
        for number, (title, corner, columns, groups, about) in self._numbered():
            legend |= dict.fromkeys(about)
            caption = " ".join([f"{title}.", *about, protocol])
            yield Table(f"{number}. {title}", corner, columns, groups, caption=caption)
        yield Table(notes=[*legend, protocol])

    def _numbered(self) -> Iterator[tuple[int, _Parts]]:
        yield 1, _version_table(self)
        if self.reformulated is not None:
            on = f"{counted(self.reformulated.pairs, 'document')} and their reformulations"
            yield 2, _agreement_table(self.reformulated, on, correlated=True)
        if self.sharing is not None:
            on = f"{counted(self.sharing.pairs, 'pair')} of documents that share references"
            on += f" (Jaccard ≥ {self.mined.options.min:g})"
            yield 3, _agreement_table(self.sharing, on, correlated=False)


def kind_of(generated: float | None) -> str | None:
    """Whether a system generates phrases or only extracts them, by the share that is not in its documents.

    >>> kind_of(0.282), kind_of(0.0), kind_of(None)
    ('generates', 'extracts', None)
    """
    if generated is None or generated != generated:
        return None
    return "extracts" if generated < EXTRACTS else "generates"


# ---------------------------------------------------------------------------------------------- tables

ALPHA = 0.05
PRMU_ARE = "P, R, M, U: references that are present, reordered, mixed, unseen; means over documents."
MEASURED = (
    "hooper: phrases that both documents have over those that either has; rodgers: the same of words; "
    f"gen.: share of all predictions that are not in their document (micro; below {EXTRACTS:g}: an extractor); gen./d: "
    "its mean over documents."
)
CORRELATED = f"ROUGE: Pearson's r of hooper with ROUGE-1 of the two texts; * p < {ALPHA:g} by the bootstrap."
MEASURES = ["hooper", "rodgers"]
CORRELATION = Kind(lambda value: fixed(2)(value).replace("0.", ".", 1))
_Parts = tuple[str, str, list[Column], Sequence[Group], list[str]]  # title, corner, columns, groups, what they are


def _version_table(found: Study) -> _Parts:
    """The documents, and the classes of their references."""
    rows = rows_of((each.name, [each.documents, *map(Cell, each.prmu.values())]) for each in found.versions)
    columns = [Column("documents", COUNT), *(Column(f"% {name}", PERCENT) for name in PRMU)]
    title = f"The documents of {found.corpus}, and the classes of their references"
    return title, "version", columns, rows, [PRMU_ARE, *_kept(found)]


def _kept(found: Study) -> Iterator[str]:
    """How many reformulations are kept, and how far they are from their documents."""
    for row in [] if found.filtered is None else found.filtered.summary()[-1:]:
        yield (
            f"Of {row['reformulations']:,} reformulations {row['kept']:,} are kept: word error rate "
            f"{percent(row['wer'])} %, ROUGE-1 {percent(row['rouge1'])} %."
        )


def _agreement_table(found: Homogeneity, on: str, correlated: bool) -> _Parts:
    """Generators above, extractors below, then the ceilings."""
    rows: dict[str | None, list[Line]] = {"generates": [], "extracts": [], None: []}
    for row in found.systems:
        rows[kind_of(row.generated)].append(Line(row.system, _figures(row, correlated)))
    ceilings = [Line(CEILINGS[row.system], _figures(row, correlated, ceiling=True)) for row in found.ceilings]
    columns = [*map(Column, (*MEASURES, "gen.", "gen./d")), *([Column("ROUGE", CORRELATION)] if correlated else [])]
    about = [MEASURED, *([CORRELATED] if correlated else []), MARKED, intervals(found)]
    return f"Homogeneity on {on}", "system", columns, [*map(Group, rows.values()), Group(ceilings)], about


def _figures(row: Row, correlated: bool, ceiling: bool = False) -> list[Any]:
    starred = [None if ceiling else _starred(row.figures.get("pearson"))] if correlated else []
    return [*agreement(row, MEASURES, ceiling), *starred]


def _starred(figure: Figure | None) -> Cell:
    if figure is None or figure.value != figure.value:
        return Cell(None)
    return Cell(figure.value, "*" if figure.p < ALPHA else " ")


# ---------------------------------------------------------------------------------------------- runs


def runs_in(paths: Iterable[str | Path], read: Any = read_run) -> list[Run]:
    """The runs at some paths, of which some are folders of runs.

    In folders, files of one name are one system's: its predictions for the documents in `documents/tfidf.jsonl`, for
    their reformulations in `reformulations/tfidf.jsonl`, or for both in `tfidf.jsonl`.
    """
    alone, together = list[Run](), dict[str, list[Run]]()
    for path in paths:
        if not Path(path).is_dir():
            alone.append(read(str(path)))
            continue
        files = [each for each in sorted(Path(path).rglob("*")) if each.is_file() and not each.name.startswith(".")]
        if not files:
            raise InputError(f"{path}: there are no runs in this folder")
        for file in files:
            together.setdefault(stem(str(file)), []).append(read(str(file)))
    return alone + [_joined(name, runs) for name, runs in together.items()]


def _joined(name: str, runs: list[Run]) -> Run:
    """One run of several, which are about different documents."""
    if len(runs) == 1:
        return runs[0]
    seen: dict[str, str] = {}
    for run in runs:
        for identifier in filter(None, run.ids):
            if identifier in seen and seen[identifier] != run.origin:
                where = f"{seen[identifier]} and {run.origin}"
                raise InputError(f"{where} are both of {name}, and both have document {identifier!r}; keep one")
            seen[identifier] = run.origin
    return Run(name, partial(_batches, runs), ", ".join(run.origin for run in runs))


def _batches(runs: list[Run]) -> Iterator[Batch[Prediction]]:
    return chain.from_iterable(run.batches() for run in runs)


# ---------------------------------------------------------------------------------------------- the study


@dataclass(frozen=True, slots=True)
class StudyOptions:
    """What makes a pair, and how systems are measured on pairs."""

    min: float = option(0.5, "Least Jaccard index of references of a pair.", metavar="T")
    length: float = option(LENGTH, "By what share of words a reformulation may be longer or shorter.", metavar="S")
    cutoff: str = cutoff_option()
    protocol: ProtocolLike = protocol_option("Convention by which phrases are matched.")
    resamples: int = resamples_option()
    seed: int = seed_option()
    level: float = level_option()
    interval: Interval = interval_option()
    join: JoinOptions = group(JoinOptions)
    work: WorkOptions = group(WorkOptions)


@public(StudyOptions)
def study(
    corpus: CorpusLike,
    reformulations: str | Path | Sequence[str | Path] | None,
    *runs: RunLike,
    min: float = 0.5,
    length: float = LENGTH,
    cutoff: str = "M",
    protocol: ProtocolLike = "karat",
    resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    interval: Interval = "bca",
    references: str | None = None,
    language: str | None = None,
    by: By | None = None,
    missing: Missing = "error",
    extra: Extra = "error",
    jobs: int = 1,
    progress: Progress | None = None,
) -> Study:
    """The three tables of a corpus, its reformulations (or None) and runs that predict for both, or folders of runs.

    `min` is the least Jaccard index of references that makes a pair, `length` by how much a reformulation's length may
    differ. Raises InputError if there is no run, or if one does not fit the corpus.
    """
    options = options_from(StudyOptions, locals())
    given, systems = as_corpus(corpus), _systems(runs)
    if not systems:
        raise InputError("the tables are of one run or more; give at least one, or a folder of them")
    own = {name: value for name, value in flat(options).items() if name not in ("min", "length")}
    filtered = None if reformulations is None else _filtered(given, reformulations, options)
    judged = () if filtered is None else filtered.judged
    reformulated = None
    if filtered is not None and filtered.pairs():
        kept = Corpus.of(map(_document, filtered.kept()), name="reformulations")
        selected = [run.without({each.id for each in judged if not each.kept}) for run in systems]
        reformulated = homogeneity(given, filtered.pairs(), *selected, reformulations=kept, **own)
    mined = mine_pairs(given, min=min, references=references, jobs=jobs)
    sharing = None
    if len(mined):
        selected = [run.without({each.id for each in judged}) for run in systems]
        sharing = homogeneity(given, mined, *selected, **own)
    measured = [each for each in (reformulated, sharing) if each is not None]
    notes = [*_missing(filtered, mined, options), *(note for each in measured for note in _notes_of(each))]
    signatures = {name: text for each in measured for name, text in each.signatures.items()}
    versions = tuple(_versions(given, filtered, mined, options))
    return Study(given.name, versions, filtered, mined, reformulated, sharing, signatures, tuple(dict.fromkeys(notes)))


def _systems(runs: Iterable[RunLike]) -> tuple[Run, ...]:
    given: list[RunLike] = []
    for run in runs:
        given += runs_in([run]) if isinstance(run, str | Path) else [run]
    return tuple(as_runs(given))


def _filtered(corpus: Corpus, reformulations: str | Path | Sequence[str | Path], options: StudyOptions) -> Filtered:
    return filter_reformulations(
        corpus,
        reformulations,
        length=options.length,
        protocol=options.protocol,
        references=options.join.references,
        language=options.join.language,
        jobs=options.work.jobs,
    )


def _document(record: Mapping[str, Any]) -> dict[str, Any]:
    """A reformulation as a document; it gets the references of its source where pairs are looked at."""
    return {name: record.get(name) for name in ("id", "title", "text")}


def _missing(filtered: Filtered | None, mined: Pairs, options: StudyOptions) -> Iterator[str]:
    """Why a table is not there."""
    if filtered is None:
        yield "no reformulations were given, so there is no second table; see `karat pairs reformulate`"
    elif not filtered.pairs():
        yield f"none of {counted(len(filtered.judged), 'reformulation')} is kept, so there is no second table"
    lower = mined.notes[-1] if mined.lower else "--min lowers that"
    if not len(mined):
        yield (
            f"no two documents of {mined.corpus} share {options.min:g} of their references, so there is no third "
            f"table; {lower}"
        )
    elif mined.lower:
        yield f"{mined.notes[0]}; {lower}"


def _notes_of(found: Homogeneity) -> Iterator[str]:
    """The notes on what the tables show; those on comparisons of systems are left to `homogeneity`."""
    compared = {note for each in found.differences for note in each.notes}
    return (note for note in found.notes if note not in compared)


def _versions(corpus: Corpus, filtered: Filtered | None, mined: Pairs, options: StudyOptions) -> Iterator[Version]:
    if filtered is not None and options.join.language is None:
        classes = np.array(filtered.original, dtype=np.int64)
    elif filtered is None or len(mined):
        classes = reference_classes(corpus, options.protocol, options.join.references, options.work.jobs)
    if filtered is None:
        yield _version("original", classes, corpus)
    else:
        original, *others = filtered.prmu()
        yield Version("original", original["documents"], {name: original[name] for name in PRMU})
        for row in others:
            if row["version"] == "kept" and (row["method"] != ALL or len(filtered.methods()) > 1):
                yield Version(row["method"], row["documents"], {name: row[name] for name in PRMU})
    if len(mined):
        paired = np.unique(np.concatenate([mined.alike.a, mined.alike.b]))
        yield _version(f"CP {100 * options.min:g} %", classes[paired], corpus)


def _version(name: str, classes: Ints, corpus: Corpus) -> Version:
    """A line of the first table, of documents with so many references of each class."""
    return Version(name, len(classes), dict(prmu_shares(classes, corpus)["documents"]))
