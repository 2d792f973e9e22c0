"""The values of each document by itself, as rows for files and data frames: see `Results.save_documents`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.errors import InputError
from karat.formats.containers import Kinds, save
from karat.matching.columns import Floats
from karat.metrics.base import Request

if TYPE_CHECKING:
    from karat.results import Results, Score

AT_ONCE = 10_000  # documents whose values are made numbers of Python at a time
COMMON: Kinds = dict.fromkeys(("corpus", "system", "protocol", "id"), str)


def document_rows(results: Sequence[Results]) -> Iterator[dict[str, Any]]:
    """One dict for each system, protocol and document: ids, and the value of each metric, None where it is undefined.

    Metrics whose rows are not one a document are left out. All dicts have the same fields.
    """
    names = list(dict.fromkeys(_names(results)))
    for each in results:
        scores = [score for score in each.scores if _of_documents(score)]
        several = _several(each)
        for (corpus, system, protocol), group in groupby(scores, lambda s: (s.corpus, s.system, s.protocol)):
            common = {"corpus": corpus, "system": system, "protocol": protocol}
            columns = {_name(score.request, several): score.per_document() for score in group}
            yield from rows_of_documents(common, each.ids, {name: columns.get(name) for name in names})


def save_documents(results: Sequence[Results], path: str | Path) -> list[str]:
    """Writes `document_rows` and returns what is left out: metrics whose rows are not one a document.

    The file's name chooses between JSON lines, CSV, TSV and Parquet, which is written in groups of rows. Raises
    InputError if no metric has a value for each document.
    """
    names = dict.fromkeys(_names(results), float)
    if not names:
        raise InputError(f"{path}: none of the metrics has a value for each document")
    save(str(path), document_rows(results), kinds={**COMMON, **names})
    others = dict.fromkeys(_name(s.request, False) for each in results for s in each.scores if not _of_documents(s))
    return [f"{path}: without {', '.join(others)}, which has no value for each document"] if others else []


def rows_of_documents(
    common: dict[str, Any], ids: Sequence[str], columns: Mapping[str, Floats | None]
) -> Iterator[dict[str, Any]]:
    """One dict for each document: what is common to all, its id, and its number of each column, None without one."""
    for start in range(0, len(ids), AT_ONCE):
        part = ids[start : start + AT_ONCE]
        found = [[None] * len(part) if c is None else _plain(c[start : start + AT_ONCE]) for c in columns.values()]
        for identifier, *values in zip(part, *found, strict=True):
            yield {**common, "id": identifier, **dict(zip(columns, values, strict=True))}


def _plain(values: Floats) -> list[float | None]:
    """The numbers, None where one is undefined."""
    return [value if defined else None for value, defined in zip(values.tolist(), np.isfinite(values), strict=True)]


def _of_documents(score: Score) -> bool:
    return score.rows.units is None and score.request.spec.items is None


def _names(results: Sequence[Results]) -> Iterator[str]:
    for each in results:
        several = _several(each)
        yield from (_name(score.request, several) for score in each.scores if _of_documents(score))


def _several(results: Results) -> bool:
    """Whether a metric is there in several averages, which are then told apart."""
    found = [(s.system, s.protocol, s.request.without_fitted()) for s in results.scores]
    return len({(*who, _name(request, False)) for *who, request in found}) < len(set(found))


def _name(request: Request, several: bool) -> str:
    """A metric as it is requested: f1@5:present, and with its average where there are several."""
    request = request.without_fitted()
    average = f"/{request.average}" if several and request.average else ""
    options = "".join(f",{name}={value}" for name, value in request.options)
    return f"{request.label}:{request.subset}{average}{options}"
