"""What is given to be measured, as objects: corpora, runs, metrics and protocols in every form that is accepted.

A corpus is a path, NAME=PATH, a Corpus, a data frame of pandas or polars, or a list of records (dicts or Documents).
A run is the same with Predictions; several runs are given one by one, as a list, or as a dict of names and runs.
"""

from __future__ import annotations

import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from karat.corpus import Corpus, Document, Prediction, Run
from karat.errors import InputError, unknown
from karat.formats import parts_of, read, read_run
from karat.formats.fields import COLUMNS, Fields
from karat.matching.align import references_of
from karat.matching.join import Shard, has_id, matched_by
from karat.options import By
from karat.protocol import Protocol, change, parse_protocol, whole_number
from karat.record import note_input
from karat.text.languages import named, stemmer_of
from karat.text.segments import SEGMENTERS


class Frame(typing.Protocol):
    """A data frame of pandas or polars."""

    @property
    def columns(self) -> Any:
        """The names of the columns."""


CorpusLike = str | Path | Corpus | Frame | Iterable[Document] | Iterable[Mapping[str, Any]]
OneRun = str | Path | Run | Frame | Iterable[Prediction] | Iterable[Mapping[str, Any]]
RunLike = OneRun | Sequence[OneRun] | Mapping[str, OneRun]
Development = tuple[CorpusLike, Sequence[RunLike]]  # documents beside those that are scored, with their runs
CorporaLike = Mapping[Any, Sequence[RunLike]] | Sequence[tuple[CorpusLike, Sequence[RunLike]]]  # with their runs
ProtocolLike = str | Protocol
ProtocolsLike = str | Protocol | Sequence[str | Protocol]
MetricsLike = str | Sequence[str]


def as_corpus(given: CorpusLike, name: str = "corpus") -> Corpus:
    """A corpus that is given in one of the forms above; `name` is for one that has none.

    Raises InputError if it is in none of these forms, or if a record is no document.
    """
    if isinstance(given, Corpus):
        _note_origin(given)
        return given
    if isinstance(given, str | Path):
        return as_corpus(read(given))
    if isinstance(given, Run):
        raise InputError(f"{given.name} is a run, and a corpus is needed here")
    rows = _rows(given)
    if rows is not None:
        return Corpus.of(_converted(rows, Fields(_BY_NAME).document, name), name)
    return Corpus.of(_records(given, Document, "a corpus"), name)


def _note_origin(records: Corpus | Run) -> None:
    """Note the files that a corpus or a run is read from as inputs."""
    for path in parts_of(records.origin):
        note_input(path)


def as_runs(given: Iterable[RunLike]) -> list[Run]:
    """Runs that are given in the forms above, all with different names; those without a name are run, run2, ...

    Raises InputError if one is in none of these forms, if a record is no prediction, or if two have one name.
    """
    listed = [one for each in given for one in _one_by_one(each)]
    runs = [_as_run(each, name, "run" if n == 1 else f"run{n}") for n, (name, each) in enumerate(listed, 1)]
    for run in runs:
        _note_origin(run)
    names = [run.name for run in runs]
    for name in names:
        if names.count(name) > 1:
            same = [run.origin for run in runs if run.name == name]
            raise InputError(f"two runs are named {name!r} ({', '.join(same)}); name them: NAME={same[0]}")
    return runs


def as_corpora(given: CorpusLike | CorporaLike, runs: Sequence[RunLike] = ()) -> list[tuple[Corpus, list[Run]]]:
    """Corpora with their runs: one corpus and runs, or a dict or a list of corpora, each with its own runs.

    Raises InputError if runs stand beside several corpora, or if two corpora have one name.
    """
    if not are_corpora(given):
        return [(as_corpus(given), as_runs(runs))]  # type: ignore[arg-type]
    if runs:
        raise InputError("several corpora have their runs beside them: {corpus: [run, run], ...}")
    listed: Any = given.items() if isinstance(given, Mapping) else given
    found = [(as_corpus(corpus), as_runs(own)) for corpus, own in listed]
    names = [corpus.name for corpus, _ in found]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two corpora are named {name!r}; name them: NAME=PATH")
    return found


def are_corpora(given: Any) -> bool:
    """Whether several corpora are given, each with its runs."""
    return isinstance(given, Mapping) or (
        isinstance(given, list | tuple) and bool(given) and isinstance(given[0], tuple)
    )


def as_metrics(given: MetricsLike | None) -> list[str] | None:
    """Metrics that are given as a list or as one text; None where none is given."""
    if given is None:
        return None
    return [given] if isinstance(given, str) else list(given)


def as_list(given: ProtocolsLike) -> list[str | Protocol]:
    """Protocols that are given as a list, or one of them."""
    return [given] if isinstance(given, str | Protocol) else list(given)


# ---------------------------------------------------------------------------------------------- forms of runs


def _one_by_one(given: RunLike) -> Iterator[tuple[str | None, Any]]:
    """(name or None, run) of a run, of a list of runs, or of a dict of names and runs."""
    if isinstance(given, Mapping):
        yield from given.items()
    elif isinstance(given, list | tuple) and given and not isinstance(given[0], Mapping | Prediction):
        yield from ((None, each) for each in given)
    else:
        yield None, given


def _as_run(given: OneRun, name: str | None, default: str) -> Run:
    if isinstance(given, Run):
        return given if name is None else Run(name, given.batches, given.origin)
    if isinstance(given, str | Path):
        return read_run(given, name=name)
    if isinstance(given, Corpus):
        raise InputError(f"{given.name} is a corpus, and a run is needed here")
    called = name or default
    rows = _rows(given)
    if rows is not None:
        return Run.of(_converted(rows, Fields(_BY_NAME).prediction, called), called)
    return Run.of(_records(given, Prediction, "a run"), called)


# ---------------------------------------------------------------------------------------------- data frames, records

_BY_NAME = {name: name for names in COLUMNS.values() for name in names}  # columns are called like the fields


def _rows(given: Any) -> list[dict[str, Any]] | None:
    """The rows of a data frame of polars or pandas as dicts; None of anything else."""
    if hasattr(given, "to_dicts"):
        rows: list[dict[str, Any]] = given.to_dicts()
    elif hasattr(given, "to_dict") and hasattr(given, "columns"):
        rows = given.to_dict(orient="records")
    else:
        return None
    return [{str(name): _plain(value) for name, value in row.items()} for row in rows]


def _plain(value: Any) -> Any:
    """A cell as a plain value: an array as a list, and what pandas writes for a missing value as None."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, str | list | dict | None):
        return value
    return value if value == value else None  # NaN is not equal to itself


def _converted(rows: list[dict[str, Any]], convert: Any, name: str) -> Iterator[Any]:
    for place, row in enumerate(rows, 1):
        if "keyphrases" not in row and "reference_sets" not in row:
            raise InputError(f"{name}: no column `keyphrases`; there are {', '.join(row)}")
        try:
            yield convert(row)
        except ValueError as error:
            raise InputError(f"{name}, row {place}: {error}") from None


def _records(given: Any, kind: type[Any], what: str) -> list[Any]:
    """The records of a list."""
    records = None if isinstance(given, Mapping) or not isinstance(given, Iterable) else list(given)
    if records is None or not all(isinstance(record, Mapping | kind) for record in records):
        wrong = type(given).__name__ if records is None else f"a {type(given).__name__} of other things"
        raise InputError(f"{what} is a path, a data frame, or a list of dicts or {kind.__name__}s, not {wrong}")
    return records


# ---------------------------------------------------------------------------------------------- protocols


def as_protocols(listed: Sequence[str | Protocol], language: str | None = None) -> tuple[Protocol, ...]:
    """Protocols that are given as such or by name, each once, for texts in a language.

    The language is its stemmer; one that has no spaces between words is cut into characters, unless a protocol cuts it.
    """
    protocols = [p if isinstance(p, Protocol) else parse_protocol(p) for p in listed]
    if language in ("porter", "none"):
        protocols = [change(p, stemmer=language) for p in protocols]
    elif language is not None:
        name = named(language)
        protocols = [change(p, stemmer=stemmer_of(name)) for p in protocols]
        if name in SEGMENTERS:
            protocols = [
                change(p, segmentation="characters") if p.matching.segmentation == "none" else p for p in protocols
            ]
    return tuple({str(p): p for p in protocols}.values())


def by_name_notes(corpus: Corpus, protocols: Iterable[Protocol]) -> list[str]:
    """A note where the name or path of a corpus makes protocols take its references as they are."""
    names = [str(protocol) for protocol in protocols if protocol.matching.references == "by-name"]
    if not (names and corpus.semeval):
        return []
    takes = "takes" if len(names) == 1 else "take"
    return [
        f"{corpus.name}: `semeval` is in its name or path, so {', '.join(names)} {takes} its references as stemmed "
        "already (references=by-name)"
    ]


def hash_text(value: int) -> str:
    """How a hash of references is written."""
    return f"{value % (1 << 64):016x}"


def hash_of_references(ids: Sequence[str], documents: Sequence[Document], reference_set: str | None) -> int:
    """The sum of the hashes of each document's references: the same in any order and for any cut in shards."""
    pack = msgspec.msgpack.Encoder().encode
    return sum(
        int.from_bytes(blake2b(pack((i, references_of(d, reference_set))), digest_size=8).digest(), "big")
        for i, d in zip(ids, documents, strict=True)
    )


def chosen_set(corpus: Corpus, name: str | None) -> str | None:
    """The name of a reference set that a corpus has; None for its keyphrases.

    Raises InputError if there is no such set.
    """
    if name is None:
        return None
    known: set[str] = set()
    for batch in corpus.ahead():
        known.update(each for document in batch.records() for each in document.reference_sets or ())
        if name in known:
            return name
    if not known:
        raise InputError(f"{corpus.origin} has no reference sets, so --references {name} cannot choose one")
    raise unknown("reference set", name, known)


def by_line_notes(corpus: Corpus, runs: Iterable[Run], by: By | None) -> list[str]:
    """A note for each run that is matched line by line."""
    return [
        f"{run.name}: matched to {corpus.name} line by line{_whose_ids(corpus, run)}"
        for run in runs
        if matched_by(corpus, run, by) == "line"
    ]


def _whose_ids(corpus: Corpus, run: Run) -> str:
    """Which of the two has ids, where only one has them."""
    has = {each.origin: has_id(each) for each in (corpus, run)}
    without = [origin for origin, found in has.items() if not found]
    return ", without ids" if len(without) == 2 else f", though only {without[0]} has no ids" if without else ""


def parse_shard(given: str | None) -> Shard:
    """The shard that I/N names; all documents without one."""
    if given is None:
        return Shard()
    index, count = (whole_number(part) for part in (given.partition("/")[0], given.partition("/")[2]))
    if index is None or count is None or index > count:
        raise InputError(f"--shard is I/N with I from 1 to N, as 3/16, not {given!r}")
    return Shard(index, count)
