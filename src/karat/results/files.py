"""`.karat` files: results with their rows, of one corpus or of several."""

from __future__ import annotations

import math
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from karat.errors import InputError, counted, unknown
from karat.formats.base import brief
from karat.formats.files import read_whole
from karat.formats.load import Count, decoded_msgpack
from karat.formats.output import write_beside, writing_beside
from karat.matching.columns import SUBSETS, Cutoff, Floats
from karat.metrics.base import METRICS, Request, Rows
from karat.protocol import MOST
from karat.results import Part, Results, Score, Tally, corpus_of

FORMAT_VERSION = 2
_COMPLAINT = "not a .karat file, or damaged"
COLLECTED = 3  # the version of a file of several corpora, whose parts are files of the version before
UNCHECKED = "results are of an older .karat file, which has no checksum, so that damage may not be seen: score anew"


class _Array(msgspec.Struct):
    shape: list[Count]
    data: bytes


class _Score(msgspec.Struct):
    corpus: str
    system: str
    protocol: str
    metric: str
    cutoff: str | None
    k: int | None
    subset: str
    average: str
    options: dict[str, str | int | float]
    fitted: int | float | None
    values: _Array
    units: _Array | None


class _File(msgspec.Struct, omit_defaults=True):
    karat: int
    ids: list[str]
    signatures: dict[str, str]
    remarks: list[str]
    tallies: list[Tally]
    part: tuple[int, int]
    scores: list[_Score]
    lacking: dict[str, list[int]] = {}


class _Envelope(msgspec.Struct):
    """A `.karat` file: a `_File`, and the hash by which damage is seen."""

    karat: int
    checksum: bytes
    content: bytes


class _Files(msgspec.Struct):
    """A `.karat` file of several corpora: the files of each."""

    karat: int
    parts: list[bytes]


class _Version(msgspec.Struct):
    karat: int


def encode(results: Results) -> bytes:
    """The bytes of a `.karat` file: the same for the same results."""
    return b"".join(_encoded(results))


def _encoded(results: Results) -> tuple[bytes, bytes]:
    """(the beginning of a `.karat` file, its content, which ends it): together they would be there twice."""
    content = msgspec.msgpack.encode(
        _File(
            FORMAT_VERSION,
            list(results.ids),
            results.signatures,
            [remark for remark in results.remarks if remark != UNCHECKED],
            list(results.tallies),
            (results.part.index, results.part.count),
            [_pack(score) for score in results.scores],
            {system: list(places) for system, places in results.lacking.items() if places},
        )
    )
    empty = msgspec.msgpack.encode(_Envelope(FORMAT_VERSION, _checksum(content), b""))
    return empty.removesuffix(b"\xc4\x00") + _head_of_bytes(len(content)), content


def _head_of_bytes(size: int) -> bytes:
    """What MessagePack writes before so many bytes.

    >>> all(_head_of_bytes(n) + bytes(n) == msgspec.msgpack.encode(bytes(n)) for n in (0, 255, 256, 1 << 16))
    True
    """
    if size < 1 << 8:
        return b"\xc4" + size.to_bytes(1, "big")
    return b"\xc5" + size.to_bytes(2, "big") if size < 1 << 16 else b"\xc6" + size.to_bytes(4, "big")


def _checksum(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()


def _pack(score: Score) -> _Score:
    request = score.request
    cutoff = request.cutoff
    return _Score(
        score.corpus,
        score.system,
        score.protocol,
        request.metric,
        cutoff.kind if cutoff else None,
        cutoff.k if cutoff else None,
        request.subset,
        request.average or "",
        dict(request.options),
        request.fitted,
        _array(score.rows.values, "<f8"),
        None if score.rows.units is None else _array(score.rows.units, "<i8"),
    )


def _array(values: Any, kind: str) -> _Array:
    data = np.ascontiguousarray(values, kind).reshape(-1).view(np.uint8).data  # no copy; it is written as bytes are
    return _Array(list(values.shape), data)  # type: ignore[arg-type]


def save(results: Results, path: str | Path) -> None:
    """Writes the file of one corpus."""
    beginning, content = _encoded(results)
    with writing_beside(path) as file:
        file.write(beginning)
        file.write(content)


def save_all(parts: Sequence[Results], path: str | Path) -> None:
    """Writes the file of several corpora."""
    write_beside(path, msgspec.msgpack.encode(_Files(COLLECTED, [encode(part) for part in parts])))


def load(path: str | Path) -> Results:
    """The results of a `.karat` file.

    Raises InputError if the file is damaged, of a later version or of several corpora, or if what it holds does not
    belong together. A file of the first version has no checksum; the notes of its results say so.
    """
    found = load_all(path)
    if len(found) > 1:
        corpora = ", ".join(map(corpus_of, found))
        raise InputError(f"{path}: results of {len(found)} corpora ({corpora}), where those of one are needed")
    return found[0]


def load_all(path: str | Path) -> list[Results]:
    """The results of each corpus of a `.karat` file. Raises InputError as `load` does."""
    content = read_whole(path)
    if decoded_msgpack(content, _Version, str(path), _COMPLAINT).karat != COLLECTED:
        return [_decoded(content, path)]
    found = [_decoded(part, path) for part in decoded_msgpack(content, _Files, str(path), _COMPLAINT).parts]
    corpora = list(map(corpus_of, found))
    if not found or len(set(corpora)) < len(corpora):
        raise InputError(f"{path}: the file is damaged: {'two of its corpora have one name' if found else 'no corpus'}")
    return found


def _decoded(content: bytes, path: str | Path) -> Results:
    """The results of one corpus in the bytes of a `.karat` file."""
    found, remarks = _opened(content, str(path))
    try:
        _check(found)
        scores = tuple(_unpack(score, len(found.ids)) for score in found.scores)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return Results(
        scores,
        tuple(found.ids),
        found.signatures,
        tuple(found.tallies),
        (*found.remarks, *remarks),
        Part(*found.part),
        {system: tuple(places) for system, places in found.lacking.items()},
    )


def _opened(content: bytes, path: str) -> tuple[_File, tuple[str, ...]]:
    """(what a file holds, what is to be said of the file)."""
    version = decoded_msgpack(content, _Version, path, _COMPLAINT).karat
    if version == 1:
        return decoded_msgpack(content, _File, path, _COMPLAINT), (UNCHECKED,)
    if version != FORMAT_VERSION:
        said = f"a .karat file of version {version}; this karat reads {FORMAT_VERSION} and older ones"
        raise InputError(f"{path}: {said}")
    envelope = decoded_msgpack(content, _Envelope, path, _COMPLAINT)
    if _checksum(envelope.content) != envelope.checksum:
        raise InputError(f"{path}: the file is damaged: it is not as it was written (its checksum differs)")
    return decoded_msgpack(envelope.content, _File, path, _COMPLAINT), ()


def _check(found: _File) -> None:
    """Raises InputError if what a file holds does not belong together."""
    index, count = found.part
    if not 1 <= index <= count <= MOST:
        raise InputError(f"there is no shard {index}/{count}")
    if len(set(found.ids)) < len(found.ids):
        raise InputError("two documents have the same id")
    if any(not 0 <= place < len(found.ids) for places in found.lacking.values() for place in places):
        raise InputError("a run lacks a document that is not there")
    for each in found.scores:
        if each.protocol not in found.signatures:
            raise InputError(f"a score is under the protocol {each.protocol!r}, of which there is no signature")


def _unpack(found: _Score, documents: int) -> Score:
    if found.metric not in METRICS or found.average not in METRICS[found.metric].averages:
        raise InputError(f"it holds a metric this karat does not know: {found.metric}/{found.average}")
    if found.subset not in SUBSETS:
        raise unknown("subset", found.subset, SUBSETS)
    request = Request(
        found.metric,
        _cutoff(found.cutoff, found.k),
        found.subset,
        found.average,
        tuple(sorted(found.options.items())),
        found.fitted,
    )
    _check_request(request)
    values = _numbers(found.values, "<f8", request)
    units = None if found.units is None else _numbers(found.units, "<i8", request).astype(np.int64)
    _check_rows(request, values, units, documents)
    return Score(found.corpus, found.system, found.protocol, request, Rows(values, units))


def _check_request(request: Request) -> None:
    """Raises InputError if a metric has a cutoff or an option that it does not have."""
    known = request.spec.defaults
    strange = next((name for name, _ in request.options if known and name not in known), None)
    if strange is not None:
        raise unknown(f"option of {request.metric}", strange, known)
    if (request.cutoff is None and request.spec.cutoff == "required") or (
        request.cutoff is not None and request.spec.cutoff == "none"
    ):
        raise InputError(f"{request.metric} has {'no cutoff' if request.cutoff is None else 'a cutoff'}")


def _numbers(found: _Array, kind: str, request: Request) -> Any:
    """The numbers of an array. Raises InputError if they are not as many as its shape says."""
    if len(found.data) != 8 * math.prod(found.shape) or len(found.shape) > 2:
        raise InputError(f"the rows of {request.label} are not of the shape that is said")
    return np.frombuffer(found.data, dtype=kind).reshape(found.shape)


def _cutoff(kind: str | None, k: int | None) -> Cutoff | None:
    if kind is None:
        return None
    if kind not in ("k", "M", "O", "G", "V") or (kind == "k" and (k is None or k < 1)):
        raise InputError(f"there is no cutoff {kind!r} of {k}")
    return Cutoff(kind, k)  # type: ignore[arg-type]


def _check_rows(request: Request, values: Floats, units: Any, documents: int) -> None:
    """Raises InputError if rows are not finite numbers of the documents that there are."""
    if values.ndim != 2 or not np.isfinite(values).all():
        raise InputError(f"the rows of {request.label} are not a table of finite numbers")
    rows = documents if units is None else len(units)
    if len(values) != rows:
        raise InputError(f"{request.label} has {len(values):,} rows where {rows:,} belong")
    if units is not None and len(units) and (not units.size or not 0 <= units.min() <= units.max() < documents):
        raise InputError(f"a row of {request.label} belongs to none of the {counted(documents, 'document')}")
    try:  # as wide as the metric's rows are, and with weights that make a number
        with np.errstate(all="ignore"):
            request.value(Rows(values, units))
            request.finish(values[:1] if request.spec.items is None else np.zeros((1, values.shape[1])))
    except (LookupError, ArithmeticError, TypeError, ValueError) as error:
        raise InputError(f"the rows of {request.label} are not rows of this metric ({brief(str(error), 80)})") from None
