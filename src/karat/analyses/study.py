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
from typing import Any, Literal

import msgspec
import numpy as np

from karat.analyses.homogeneity import homogeneity
from karat.analyses.homogeneity.compare import comparison_notes
from karat.analyses.homogeneity.corpora import check_languages, language_of
from karat.analyses.homogeneity.flat import OF_LISTS, with_low_and_high
from karat.analyses.homogeneity.idf import differs
from karat.analyses.homogeneity.result import CORRELATIONS, Homogeneity, kind_of
from karat.analyses.score import prmu_shares, reference_classes
from karat.corpus import Batch, Corpus, Prediction, Run
from karat.errors import InputError, counted
from karat.formats import read_run
from karat.formats.files import stem as stem_of
from karat.formats.pairs import write_pairs
from karat.matching.columns import PRMU, Ints
from karat.matching.inputs import CorpusLike, ProtocolLike, RunLike, as_corpus, as_runs
from karat.options import (
    By,
    Extra,
    JoinOptions,
    Missing,
    Progress,
    WorkOptions,
    cutoff_option,
    flat,
    group,
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
from karat.pairs.sets import Measure
from karat.results.displayed import Displayed
from karat.tabular import Table

Identical = Literal["keep", "drop"]
Named = str | Path | Corpus
SharedLike = Named | Sequence[Named | tuple[CorpusLike, Sequence[RunLike]]] | None

FREQUENCIES = (
    "{0}: its scores show that documents and reformulations were weighed by different document frequencies, which "
    "makes it less homogeneous than it is: predict both with the same --df"
)
OTHER_FREQUENCIES = (
    "{0}: its scores show that {1} and {2} were weighed by different document frequencies; predict both with the same "
    "--df to compare the tables"
)


@dataclass(frozen=True, slots=True)
class Version:
    """A line of the first table: some documents, and the shares of the classes of their references."""

    corpus: str
    name: str
    documents: int
    prmu: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Sharing:
    """The documents of a corpus that share references: the third table, None where there are no pairs for it."""

    corpus: str
    mined: Pairs
    measured: Homogeneity | None


@dataclass(frozen=True, slots=True, repr=False)
class Study(Displayed):
    """The three tables; the second or third is None where there are no pairs for it."""

    corpus: str
    versions: tuple[Version, ...]
    filtered: Filtered | None
    reformulated: Homogeneity | None
    shared: tuple[Sharing, ...]  # of each corpus of the third table
    signatures: Mapping[str, str]
    notes: tuple[str, ...]

    @property
    def mined(self) -> Pairs:
        """The pairs of the third table, of the first corpus that it is of."""
        return self.shared[0].mined

    @property
    def sharing(self) -> Homogeneity | None:
        """The third table, of the first corpus that it is of."""
        return self.shared[0].measured

    def measured(self) -> Iterator[tuple[int, Homogeneity]]:
        """(number of a table, what is measured for it)."""
        if self.reformulated is not None:
            yield 2, self.reformulated
        yield from ((3, each.measured) for each in self.shared if each.measured is not None)

    def rows(self) -> list[dict[str, Any]]:
        """One dict a line, with the number of its table."""
        first = [
            {"table": 1, "corpus": each.corpus, "version": each.name, "documents": each.documents, **each.prmu}
            for each in self.versions
        ]
        return first + [
            {"table": number, "kind": kind_of(row["generated"])} | row
            for number, found in self.measured()
            for row in found.rows()
        ]

    def as_dict(self) -> dict[str, Any]:
        """The whole as plain values: the envelope of `score`, what was kept, and all measurements in full."""
        further = [each.measured.as_dict() for each in self.shared[1:] if each.measured is not None]
        return {
            "signatures": dict(self.signatures),
            "rows": self.rows(),
            "notes": list(self.notes),
            "reformulations": [] if self.filtered is None else self.filtered.summary(),
            "on_reformulations": None if self.reformulated is None else self.reformulated.as_dict(),
            "on_shared_references": None if self.sharing is None else self.sharing.as_dict(),
            "on_shared_references_of_others": further,
        }

    def pair_rows(self) -> list[dict[str, Any]]:
        """One dict for each table, system and pair."""
        return [{"table": number} | row for number, found in self.measured() for row in found.pair_rows()]

    def save_pairs(self, path: str | Path) -> None:
        """Writes what each system has on each pair; the name chooses between JSON lines, CSV, TSV and Parquet."""
        write_pairs(path, self.pair_rows())

    def flat_rows(self) -> list[dict[str, Any]]:
        """The rows of the CSV output."""
        first = ("table", "corpus", "version", "kind", "system", "pairs", "documents", *PRMU)
        last = ("pearson_p", "generated", "generated_mean", "undefined")
        others = CORRELATIONS[1:]
        return [
            {name: row.get(name) for name in first}
            | with_low_and_high(row, ("hooper", "rodgers", "pearson"))
            | {name: row.get(name) for name in last}
            | with_low_and_high(row, others)
            | {f"{name}_p": row.get(f"{name}_p") for name in others}
            | {name: row.get(name) for name in OF_LISTS}
            for row in self.rows()
        ]

    def tables(self) -> Iterator[Table]:
        """The tables that there are, then what their figures are."""
        from karat.analyses.study_tables import tables_of

        return tables_of(self)


# ---------------------------------------------------------------------------------------------- runs


def runs_in(paths: Iterable[str | Path], read: Any = read_run, corpus: str | None = None) -> list[Run]:
    """The runs at some paths, of which some are folders of runs.

    In folders, files of one name are one system's: its predictions for the documents in `documents/tfidf.jsonl`, for
    their reformulations in `reformulations/tfidf.jsonl`, or for both in `tfidf.jsonl`. Where a folder has one that is
    named like the `corpus`, only that is looked at.
    """
    alone, together = list[Run](), dict[str, list[Run]]()
    for given in paths:
        if not Path(given).is_dir():
            alone.append(read(str(given)))
            continue
        path = Path(given, corpus) if corpus and Path(corpus).name == corpus and Path(given, corpus).is_dir() else given
        files = [each for each in sorted(Path(path).rglob("*")) if each.is_file() and not each.name.startswith(".")]
        if not files:
            raise InputError(f"{path}: there are no runs in this folder")
        for file in files:
            together.setdefault(stem_of(str(file)), []).append(read(str(file)))
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
                raise InputError(
                    f"{where} are both of {name}, and both have document {identifier!r}; keep one"
                    ", or put those of each corpus into a folder that is named like it"
                )
            seen[identifier] = run.origin
    return Run(name, partial(_batches, runs), ", ".join(run.origin for run in runs))


def _batches(runs: list[Run]) -> Iterator[Batch[Prediction]]:
    return chain.from_iterable(run.batches() for run in runs)


# ---------------------------------------------------------------------------------------------- the study


@dataclass(frozen=True, slots=True)
class StudyOptions:
    """What makes a pair, and how systems are measured on pairs."""

    min: float = option(0.5, "Least Jaccard index of references of a pair.", metavar="T")
    measure: Measure = option(
        "jaccard",
        "Of a pair: what is shared over the union, or over the larger of both sets.",
        values=("jaccard", "max"),
    )
    stem: bool = option(False, "Find pairs by Porter stems of references, not by lower-cased words.")
    identical: Identical = option(
        "drop", "Pairs of documents that have the very same references.", values=("keep", "drop")
    )
    shared: SharedLike = option(None, "Corpora of the third table, in place of the first.", command=False)
    length: float = option(LENGTH, "By what share of words a reformulation may be longer or shorter.", metavar="S")
    cutoff: str = cutoff_option()
    match_length: bool = option(False, "Cut the two lists of a pair to the length of the shorter one.")
    protocol: ProtocolLike = protocol_option("Convention by which phrases are matched.")
    resamples: int = resamples_option()
    seed: int = seed_option()
    level: float = level_option()
    join: JoinOptions = group(JoinOptions)
    work: WorkOptions = group(WorkOptions)


OF_PAIRS = ("min", "measure", "stem", "identical", "shared", "length")  # options that are not of `homogeneity`


@public(StudyOptions)
def study(
    corpus: CorpusLike,
    reformulations: str | Path | Sequence[str | Path] | None,
    *runs: RunLike,
    min: float = 0.5,
    measure: Measure = "jaccard",
    stem: bool = False,
    identical: Identical = "drop",
    shared: SharedLike = None,
    length: float = LENGTH,
    cutoff: str = "M",
    match_length: bool = False,
    protocol: ProtocolLike = "karat",
    resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
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
    differ. `shared` are the corpora of the third table, where that is not the first one: corpora, or each with its
    runs. `language` is that of all, or of each by its name (`inspec=english,termith=french`). Raises InputError if
    there is no run, or if one does not fit the corpus.
    """
    options = options_from(StudyOptions, locals())
    given = as_corpus(corpus)
    systems = _systems(runs, given.name)
    others = [(each, own or _systems(runs, each.name)) for each, own in _shared(shared)]
    everywhere = [(given, systems), *others]
    if not all(own for _, own in everywhere):
        raise InputError("the tables are of one run or more; give at least one, or a folder of them")
    check_languages(language, [each.name for each, _ in everywhere])
    filtered = None if reformulations is None else _filtered(given, reformulations, options)
    searched = [(each, own, _mined(each, options)) for each, own in others or everywhere]
    foreign = {name for each, _, mined in searched if each is not given for name in mined.ids}
    reformulated = _on_reformulations(given, systems, filtered, foreign, options)
    made = set() if filtered is None else {each.id for each in filtered.judged}
    found = tuple(_sharing(each, own, mined, made, options) for each, own, mined in searched)
    measured = [each for each in (reformulated, *(each.measured for each in found)) if each is not None]
    notes = [
        *_missing(filtered, [mined for _, _, mined in searched], options),
        *(note for each in measured for note in _notes_of(each)),
        *_frequencies(given, filtered, systems, searched),
    ]
    signatures = {name: text for each in measured for name, text in each.signatures.items()}
    versions = tuple(_versions(given, filtered, [(each, mined) for each, _, mined in searched], options))
    return Study(given.name, versions, filtered, reformulated, found, signatures, tuple(dict.fromkeys(notes)))


def _systems(runs: Iterable[RunLike], corpus: str) -> tuple[Run, ...]:
    given: list[RunLike] = []
    for run in runs:
        given += runs_in([run], corpus=corpus) if isinstance(run, str | Path) else [run]
    return tuple(as_runs(given))


def _shared(shared: SharedLike) -> list[tuple[Corpus, tuple[Run, ...]]]:
    """The corpora of the third table, each with its own runs, if it has any."""
    if shared is None:
        return []
    listed = [shared] if isinstance(shared, str | Path | Corpus) else list(shared)
    found = []
    for each in listed:
        corpus, runs = each if isinstance(each, tuple) else (each, ())
        found.append((as_corpus(corpus), tuple(as_runs(runs))))
    names = [corpus.name for corpus, _ in found]
    if len(set(names)) < len(names):
        raise InputError(
            f"two corpora of the third table are called {max(names, key=names.count)}; name them NAME=PATH"
        )
    return found


def _own(corpus: Corpus, options: StudyOptions) -> dict[str, Any]:
    """The options of `homogeneity`, in the language of a corpus."""
    own = {name: value for name, value in flat(options).items() if name not in OF_PAIRS}
    return own | {"language": language_of(options.join.language, corpus.name)}


def _on_reformulations(
    corpus: Corpus, systems: Sequence[Run], filtered: Filtered | None, foreign: set[str], options: StudyOptions
) -> Homogeneity | None:
    """How homogeneous systems are on documents and the reformulations of them that are kept."""
    if filtered is None or not filtered.pairs():
        return None
    kept = Corpus.of(map(_document, filtered.kept()), name="reformulations")
    own = {identifier for identifier in corpus.ids if identifier is not None}
    away = {each.id for each in filtered.judged if not each.kept} | (
        foreign - own - {each.id for each in filtered.judged}
    )
    selected = [run.without(away) for run in systems]
    return homogeneity(corpus, filtered.pairs(), *selected, reformulations=kept, **_own(corpus, options))


def _mined(corpus: Corpus, options: StudyOptions) -> Pairs:
    return mine_pairs(
        corpus,
        min=options.min,
        measure=options.measure,
        stem=options.stem,
        identical=options.identical,
        references=options.join.references,
        language=language_of(options.join.language, corpus.name) if options.stem else None,
        jobs=options.work.jobs,
    )


def _sharing(corpus: Corpus, runs: Sequence[Run], mined: Pairs, made: set[str], options: StudyOptions) -> Sharing:
    """How homogeneous systems are on documents that share references."""
    if not len(mined):
        return Sharing(corpus.name, mined, None)
    selected = [run.without(made - set(mined.ids)) for run in runs]
    return Sharing(corpus.name, mined, homogeneity(corpus, mined, *selected, **_own(corpus, options)))


def _filtered(corpus: Corpus, reformulations: str | Path | Sequence[str | Path], options: StudyOptions) -> Filtered:
    return filter_reformulations(
        corpus,
        reformulations,
        length=options.length,
        protocol=options.protocol,
        references=options.join.references,
        language=language_of(options.join.language, corpus.name),
        jobs=options.work.jobs,
    )


def _document(record: Mapping[str, Any]) -> dict[str, Any]:
    """A reformulation as a document; it gets the references of its source where pairs are looked at."""
    return {name: record.get(name) for name in ("id", "title", "text")}


# ---------------------------------------------------------------------------------------------- notes

Searched = tuple[Corpus, Sequence[Run], Pairs]  # a corpus of the third table, its runs and its pairs


def _missing(filtered: Filtered | None, searched: Sequence[Pairs], options: StudyOptions) -> Iterator[str]:
    """Why a table is not there."""
    if filtered is None:
        yield "no reformulations were given, so there is no second table; see `karat pairs reformulate`"
    elif not filtered.pairs():
        yield f"none of {counted(len(filtered.judged), 'reformulation')} is kept, so there is no second table"
    for mined in searched:
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
    compared = set(comparison_notes(found.differences))
    fitted = {note for each in found.regressions for note in each.notes()}
    return (note for note in found.notes if note not in compared | fitted)


def _frequencies(
    corpus: Corpus, filtered: Filtered | None, systems: Sequence[Run], searched: Sequence[Searched]
) -> Iterator[str]:
    """Where the scores of a system show that TF-IDF weighed its parts by different document frequencies."""
    own = dict.fromkeys(filter(None, corpus.ids), "documents")
    made = {} if filtered is None else {each.id: "reformulations" for each in filtered.judged}
    for run in systems:
        if made and differs(run, own | made):
            yield FREQUENCIES.format(run.name)
    for other, runs, mined in searched:
        for run in runs if other is not corpus else ():
            for first in systems:
                if first.name == run.name and _differ(first, own, run, mined):
                    yield OTHER_FREQUENCIES.format(run.name, corpus.name, other.name)


def _differ(one: Run, own: Mapping[str, str], other: Run, mined: Pairs) -> bool | None:
    """Whether two runs, of different corpora, were weighed by different document frequencies."""
    both = [("1 ", one, own), ("2 ", other, dict.fromkeys(mined.ids, "others"))]
    part = {mark + name: which for mark, _, known in both for name, which in known.items()}
    marked = (
        msgspec.structs.replace(prediction, id=f"{mark}{prediction.id}") for mark, run, _ in both for prediction in run
    )
    return differs(Run.of(marked, one.name), part)


# ---------------------------------------------------------------------------------------------- the first table


def _versions(
    corpus: Corpus, filtered: Filtered | None, searched: Sequence[tuple[Corpus, Pairs]], options: StudyOptions
) -> Iterator[Version]:
    """The documents of the corpus, the reformulations that are kept, and the documents that share references."""
    name, alone = corpus.name, all(each is corpus for each, _ in searched)
    classes = _classes(corpus, filtered, options) if filtered is None or alone else None
    if filtered is None and classes is not None:
        yield _version("original", classes, corpus)
    elif filtered is not None:
        original, *others = filtered.prmu()
        yield Version(name, "original", original["documents"], {each: original[each] for each in PRMU})
        for row in others:
            if row["version"] == "kept" and (row["method"] != ALL or len(filtered.methods()) > 1):
                yield Version(name, row["method"], row["documents"], {each: row[each] for each in PRMU})
    for other, mined in searched:
        own = classes if other is corpus and classes is not None else _classes(other, None, options)
        if other is not corpus:
            yield _version("original", own, other)
        if len(mined):
            paired = np.unique(np.concatenate([mined.alike.a, mined.alike.b]))
            yield _version(f"CP {100 * options.min:g} %", own[paired], other)


def _classes(corpus: Corpus, filtered: Filtered | None, options: StudyOptions) -> Ints:
    """References of each class, [documents, 4]."""
    if filtered is not None and options.join.language is None:
        return np.array(filtered.original, dtype=np.int64)
    return reference_classes(corpus, options.protocol, options.join.references, options.work.jobs)


def _version(name: str, classes: Ints, corpus: Corpus) -> Version:
    """A line of the first table, of documents with so many references of each class."""
    return Version(corpus.name, name, len(classes), dict(prmu_shares(classes, corpus)["documents"]))
