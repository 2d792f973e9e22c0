"""Files of search: queries, judgements of relevance (qrels) and rankings, as TREC, BEIR and their tools write them.

    {"id": "q1", "text": "neural nets"}   queries: JSON lines, a JSON list, CSV, Parquet, TSV with or without names
    q1 0 d7 1                             judgements: query, a column that nobody reads, document, relevance
    q1 Q0 d7 1 12.3 bm25                  rankings: query, Q0, document, rank, score, name

Columns of judgements and rankings are parted by white space. Judgements may also have the three columns of BEIR: query,
document and relevance, below a line that names them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any

from karat.errors import InputError
from karat.formats.base import brief, quoted
from karat.formats.containers import container_at, rows
from karat.formats.files import FIRST_BYTES, first_line, lines
from karat.formats.output import writing

Texts = dict[str, str]  # the text of each query, by its id
Judgements = dict[str, dict[str, int]]  # the relevance of documents, by query and document
Ranked = list[tuple[str, float]]  # documents with their scores, best first
QueriesLike = str | Path | Mapping[str, str] | Iterable[Mapping[str, Any]]
JudgementsLike = str | Path | Mapping[str, Mapping[str, int]]

QUERY_FORM = 'a line is {"id": "q1", "text": "neural nets"}, or q1, a tab and the text'
JUDGEMENT_FORM = "a line is `q1 0 d7 1`: query, 0, document, relevance"
RANKING_FORM = "a line is `q1 Q0 d7 1 12.3 bm25`: query, Q0, document, rank, score, name"
TEXT_FIELDS = ("text", "query", "title")  # what the text of a query is called, the first that is there
ID_FIELDS = ("id", "_id", "query_id", "qid")
LARGEST = 1_000_000  # relevance beyond it is no relevance
DIGITS = 9  # of a score: as many as make one of single precision what it was


# ---------------------------------------------------------------------------------------------- queries


def read_queries(queries: QueriesLike) -> Texts:
    """The queries in a file, in dicts of the same fields, or in a dict of ids and texts, in their order.

    Raises InputError if one has no id or no text, or if two have the same id.
    """
    if isinstance(queries, Mapping):
        return _queries(((n, {"id": i, "text": text}) for n, (i, text) in enumerate(queries.items(), 1)), "queries")
    if isinstance(queries, str | Path):
        path = str(queries)
        return _queries(_query_rows(path), path)
    return _queries(enumerate(queries, 1), "queries")


def _query_rows(path: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    container = container_at(path)
    if container in ("text", "tsv") and not _has_names(path):
        return _nameless(path)
    return rows(path, "tsv" if container == "text" else container)


def _has_names(path: str) -> bool:
    """Whether the first line of a table names its columns."""
    names = first_line(path)[:FIRST_BYTES].decode(errors="replace").lower().split("\t")
    return any(name.strip() in ID_FIELDS for name in names)


def _nameless(path: str) -> Iterator[tuple[int, dict[str, str]]]:
    for place, line in lines(path):
        if line.strip():
            identifier, tab, text = line.partition("\t")
            if not tab:
                raise InputError(f"{path}:{place}: no tab between the id and the text of a query; {QUERY_FORM}")
            yield place, {"id": identifier.strip(), "text": text}


def _queries(records: Iterable[tuple[int, Any]], origin: str) -> Texts:
    found: Texts = {}
    places: dict[str, int] = {}
    for place, record in records:
        if not isinstance(record, Mapping):
            raise InputError(f"{origin}:{place}: not a query; {QUERY_FORM}")
        identifier = _field(record, ID_FIELDS, f"{origin}:{place}")
        if identifier in found:
            raise InputError(
                f"{origin}: query {quoted(identifier)} is on line {places[identifier]} and on line {place}"
            )
        found[identifier], places[identifier] = _field(record, TEXT_FIELDS, f"{origin}:{place}", blank=True), place
    if not found:
        raise InputError(f"{origin}: there are no queries in it; {QUERY_FORM}")
    return found


def _field(record: Mapping[str, Any], names: Sequence[str], where: str, blank: bool = False) -> str:
    """The first of some fields that a record has; the text of a query may be blank."""
    value = next((record[name] for name in names if record.get(name) is not None), None)
    if value is None or (value == "" and not blank):
        there = brief(", ".join(map(str, record)), 100) or "nothing"
        raise InputError(f"{where}: no {names[0]} (there is {there}); {QUERY_FORM}")
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputError(f"{where}: {names[0]} is a string, not {brief(repr(value), 80)}; {QUERY_FORM}")
    return str(value)


def write_queries(path: str | Path, queries: Mapping[str, str]) -> None:
    """Writes queries as TSV without names, each on one line. Raises InputError if an id has white space."""
    with writing(path) as file:
        for query, text in queries.items():
            file.write(f"{_cell(query)}\t{' '.join(text.split())}\n".encode("utf-8", "replace"))


# ---------------------------------------------------------------------------------------------- judgements


def read_qrels(qrels: JudgementsLike) -> Judgements:
    """The judgements in a file, or in dicts of relevance by document by query.

    Raises InputError, naming the place, if a line is none, or if a document is judged twice for a query.
    """
    found: Judgements = {}
    places: dict[tuple[str, str], int] = {}
    origin = str(qrels) if isinstance(qrels, str | Path) else "qrels"
    for place, query, document, given in _judged(qrels, origin):
        before = places.setdefault((query, document), place)
        if before != place:
            raise InputError(
                f"{origin}: {quoted(document)} is judged for query {quoted(query)} on line {before} and on line {place}"
            )
        found.setdefault(query, {})[document] = _relevance(given, f"{origin}:{place}")
    if not found:
        raise InputError(f"{origin}: there are no judgements in it; {JUDGEMENT_FORM}")
    return found


def _judged(qrels: JudgementsLike, origin: str) -> Iterator[tuple[int, str, str, Any]]:
    """(place, query, document, relevance as it is written) of each judgement."""
    if isinstance(qrels, str | Path):
        for place, cells in _cells(origin, (3, 4), JUDGEMENT_FORM):
            if len(cells) == 4 or place > 1 or _whole(cells[2]) is not None:  # else the line that names the columns
                yield place, cells[0], cells[-2], cells[-1]
        return
    place = 0
    for query, documents in qrels.items():
        if not isinstance(documents, Mapping):
            raise InputError(
                f"{origin}: judgements are {{query: {{document: relevance}}}}, not {brief(repr(documents), 80)}"
            )
        for document, relevance in documents.items():
            place += 1
            yield place, str(query), str(document), relevance


def _cells(path: str, counts: Sequence[int], form: str) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of the lines of a file whose columns are parted by white space."""
    for place, line in lines(path):
        cells = line.split(None, counts[-1])
        if cells and len(cells) not in counts:
            many = f"more than {counts[-1]}" if len(cells) > counts[-1] else len(cells)
            raise InputError(f"{path}:{place}: {many} columns, not {' or '.join(map(str, counts))}; {form}")
        if cells:
            yield place, cells


def _whole(text: Any) -> int | None:
    """A whole number of a size that relevance can have; None where it is none."""
    if isinstance(text, bool) or not isinstance(text, str | int):
        return None
    digits = str(text).removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        return None
    return int(text)


def _relevance(given: Any, where: str) -> int:
    value = _whole(given)
    if value is None or abs(value) > LARGEST:
        raise InputError(f"{where}: the relevance {brief(repr(given), 40)} is no whole number; {JUDGEMENT_FORM}")
    return value


def write_qrels(path: str | Path, judgements: Mapping[str, Mapping[str, int]]) -> None:
    """Writes judgements as a TREC qrels file. Raises InputError if an id has white space."""
    with writing(path) as file:
        for query, documents in judgements.items():
            for document, relevance in documents.items():
                file.write(f"{_cell(query)} 0 {_cell(document)} {relevance}\n".encode("utf-8", "replace"))


# ---------------------------------------------------------------------------------------------- rankings


class Rankings(dict[str, Ranked]):
    """Rankings by query, and the queries whose ranks, as they are written, contradict the scores."""

    contradictory: tuple[str, ...] = ()


def read_ranking(path: str | Path) -> Rankings:
    """The ranking of each query in a TREC run, by score and, where scores are equal, by id from the last to the first.

    That is what trec_eval goes by, scores being of single precision; ranks as they are written are only compared with
    them. Raises InputError, naming the place, if a line is no result, or if a document is there twice for a query.
    """
    origin = str(path)
    found: dict[str, dict[str, float]] = {}
    ranks: dict[str, list[int | None]] = {}
    for place, (query, _, document, rank, given, _) in _cells(origin, (6,), RANKING_FORM):
        known = found.setdefault(query, {})
        if document in known:
            raise InputError(f"{origin}:{place}: {quoted(document)} is there already for query {quoted(query)}")
        known[document] = _score(given, f"{origin}:{place}")
        ranks.setdefault(query, []).append(_whole(rank))
    if not found:
        raise InputError(f"{origin}: there are no results in it; {RANKING_FORM}")
    rankings = Rankings({query: _ordered(documents) for query, documents in found.items()})
    rankings.contradictory = tuple(
        query for query, documents in found.items() if _contradict(ranks[query], documents.values())
    )
    return rankings


def _contradict(ranks: Sequence[int | None], scores: Iterable[float]) -> bool:
    """Whether a better rank goes with a lower score; ranks that are no numbers are passed over.

    >>> _contradict([1, 2], [0.5, 0.9]), _contradict([1, 2], [0.9, 0.9]), _contradict([0, 0, None], [1.0, 2.0, 3.0])
    (True, False, False)
    """
    pairs = [(rank, -score) for rank, score in zip(ranks, scores, strict=True) if rank is not None]
    by_rank = sorted(pairs)
    return any(a < b and x > y for (a, x), (b, y) in pairwise(by_rank))


def _score(text: str, where: str) -> float:
    import numpy as np

    try:
        with np.errstate(over="ignore"):
            value = float(np.float32(float(text)))
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise InputError(f"{where}: the score {brief(repr(text), 40)} is no number; {RANKING_FORM}")
    return value


def _ordered(documents: Mapping[str, float]) -> Ranked:
    """Documents by score, those of equal scores by id, both from the highest on.

    >>> _ordered({"a": 1.0, "c": 1.0, "b": 2.0})
    [('b', 2.0), ('c', 1.0), ('a', 1.0)]
    """
    return sorted(documents.items(), key=lambda pair: (pair[1], pair[0]), reverse=True)


def write_ranking(path: str | Path, ranking: Mapping[str, Ranked], name: str) -> None:
    """Writes the ranking of each query as a TREC run. Raises InputError if an id has white space."""
    tag = "_".join(name.split()) or "karat"
    with writing(path) as file:
        for query, documents in ranking.items():
            for rank, (document, score) in enumerate(documents, 1):
                file.write(
                    f"{_cell(query)} Q0 {_cell(document)} {rank} {score:.{DIGITS}g} {tag}\n".encode("utf-8", "replace")
                )


def _cell(identifier: str) -> str:
    """An id as it stands in a column."""
    if identifier.split() != [identifier]:
        raise InputError(f"the id {quoted(identifier)} has white space, which parts the columns of TREC's files")
    return identifier
