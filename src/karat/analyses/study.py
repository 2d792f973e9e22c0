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
from karat.analyses.homogeneity.result import Homogeneity
from karat.analyses.score import prmu_shares, reference_classes
from karat.corpus import Batch, Corpus, Prediction, Run
from karat.errors import InputError
from karat.formats import read_run
from karat.formats.files import stem
from karat.matching.columns import PRMU, Ints
from karat.matching.inputs import as_corpus, as_runs
from karat.pairs.filter import ALL, LENGTH, Filtered, filter_reformulations
from karat.pairs.mine import Pairs, mine_pairs
from karat.protocol import Protocol
from karat.results import Displayed

EXTRACTS = 0.01  # a system that generates less than this share of its predictions is an extractor


@dataclass(frozen=True, slots=True)
class Version:
    """A line of the first table: some documents, and the shares of the classes of their references."""

    name: str
    documents: int
    prmu: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
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


def kind_of(generated: float | None) -> str | None:
    """Whether a system generates phrases or only extracts them, by the share that is not in its documents.

    >>> kind_of(0.282), kind_of(0.0), kind_of(None)
    ('generates', 'extracts', None)
    """
    if generated is None or generated != generated:
        return None
    return "extracts" if generated < EXTRACTS else "generates"


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
class _Settings:
    """What is common to all three tables."""

    min: float = 0.5
    length: float = LENGTH
    protocol: str | Protocol = "karat"
    references: str | None = None
    language: str | None = None
    jobs: int = 1


def study(
    corpus: str | Path | Corpus,
    reformulations: str | Path | Sequence[str | Path] | None,
    *runs: str | Path | Run,
    min: float = 0.5,
    length: float = LENGTH,
    protocol: str | Protocol = "karat",
    references: str | None = None,
    language: str | None = None,
    **options: Any,
) -> Study:
    """The three tables of a corpus, its reformulations (or None) and runs that predict for both, or folders of runs.

    `min` is the least Jaccard index of references that makes a pair, `length` by how much a reformulation's length may
    differ; the other keywords are those of `karat.homogeneity`.
    """
    settings = _Settings(min, length, protocol, references, language, options.get("jobs", 1))
    given, systems = as_corpus(corpus), _systems(runs)
    if not systems:
        raise InputError("the tables are of one run or more; give at least one, or a folder of them")
    shared = options | {"protocol": protocol, "references": references, "language": language}
    filtered = None if reformulations is None else _filtered(given, reformulations, settings)
    judged = () if filtered is None else filtered.judged
    reformulated = None
    if filtered is not None and filtered.pairs():
        kept = Corpus.of(map(_document, filtered.kept()), name="reformulations")
        wanted = [run.without({each.id for each in judged if not each.kept}) for run in systems]
        reformulated = homogeneity(given, filtered.pairs(), *wanted, reformulations=kept, **shared)
    mined = mine_pairs(given, min=min, references=references, jobs=settings.jobs)
    sharing = None
    if len(mined):
        own = [run.without({each.id for each in judged}) for run in systems]
        sharing = homogeneity(given, mined, *own, **shared)
    measured = [each for each in (reformulated, sharing) if each is not None]
    notes = [*_missing(filtered, mined, settings), *(note for each in measured for note in _told(each))]
    signatures = {name: text for each in measured for name, text in each.signatures.items()}
    versions = tuple(_versions(given, filtered, mined, settings))
    return Study(given.name, versions, filtered, mined, reformulated, sharing, signatures, tuple(dict.fromkeys(notes)))


def _systems(runs: Iterable[str | Path | Run]) -> tuple[Run, ...]:
    given: list[Run] = []
    for run in runs:
        given += [run] if isinstance(run, Run) else runs_in([run])
    return tuple(as_runs(given))


def _filtered(corpus: Corpus, reformulations: str | Path | Sequence[str | Path], settings: _Settings) -> Filtered:
    return filter_reformulations(
        corpus,
        reformulations,
        length=settings.length,
        protocol=settings.protocol,
        references=settings.references,
        language=settings.language,
        jobs=settings.jobs,
    )


def _document(record: Mapping[str, Any]) -> dict[str, Any]:
    """A reformulation as a document; it gets the references of its source where pairs are looked at."""
    return {name: record.get(name) for name in ("id", "title", "text")}


def _missing(filtered: Filtered | None, mined: Pairs, settings: _Settings) -> Iterator[str]:
    """Why a table is not there."""
    if filtered is None:
        yield "no reformulations were given, so there is no second table; see `karat pairs reformulate`"
    elif not filtered.pairs():
        yield f"none of the {len(filtered.judged):,} reformulations is kept, so there is no second table"
    lower = mined.notes[-1] if mined.lower else "--min lowers that"
    if not len(mined):
        yield (
            f"no two documents of {mined.corpus} share {settings.min:g} of their references, so there is no third "
            f"table; {lower}"
        )
    elif mined.lower:
        yield f"{mined.notes[0]}; {lower}"


def _told(found: Homogeneity) -> Iterator[str]:
    """The notes on what the tables show; those on comparisons of systems are left to `homogeneity`."""
    compared = {note for each in found.differences for note in each.notes}
    return (note for note in found.notes if note not in compared)


def _versions(corpus: Corpus, filtered: Filtered | None, mined: Pairs, settings: _Settings) -> Iterator[Version]:
    if filtered is not None and settings.language is None:
        classes = np.array(filtered.original, dtype=np.int64)
    elif filtered is None or len(mined):
        classes = reference_classes(corpus, settings.protocol, settings.references, settings.jobs)
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
        yield _version(f"CP {100 * settings.min:g} %", classes[paired], corpus)


def _version(name: str, classes: Ints, corpus: Corpus) -> Version:
    """A line of the first table, of documents with so many references of each class."""
    return Version(name, len(classes), dict(prmu_shares(classes, corpus)["documents"]))
