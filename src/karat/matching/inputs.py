"""What is given to be measured, as objects: corpora and runs by their paths, protocols by their names."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

import msgspec

from karat.corpus import Corpus, Document, Run
from karat.errors import InputError, unknown
from karat.formats import read, read_run
from karat.matching.align import references_of
from karat.matching.join import Shard, has_id, matched_by
from karat.options import By
from karat.protocol import Protocol, change, parse_protocol, whole_number


def as_corpus(given: str | Path | Corpus) -> Corpus:
    """A corpus that is given as such or by its path."""
    return given if isinstance(given, Corpus) else read(given)


def as_runs(given: Iterable[str | Path | Run]) -> list[Run]:
    """Runs that are given as such or by their paths, all with different names."""
    runs = [run if isinstance(run, Run) else read_run(run) for run in given]
    names = [run.name for run in runs]
    for name in names:
        if names.count(name) > 1:
            same = [run.origin for run in runs if run.name == name]
            raise InputError(f"two runs are named {name!r} ({', '.join(same)}); name them: NAME={same[0]}")
    return runs


def as_protocols(listed: Sequence[str | Protocol], language: str | None = None) -> tuple[Protocol, ...]:
    """Protocols that are given as such or by name, each once, for texts in a language."""
    protocols = [p if isinstance(p, Protocol) else parse_protocol(p) for p in listed]
    if language is not None:
        protocols = [change(p, stemmer="porter" if language == "english" else language) for p in protocols]
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


@contextmanager
def uncollected() -> Iterator[None]:
    """Work without the collector: it makes millions of small objects and no cycles, which would only be walked."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


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
