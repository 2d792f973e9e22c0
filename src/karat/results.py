"""Results: the scores of systems with the rows behind them, in memory and as `.karat` files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from hashlib import blake2b
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

import msgspec
import numpy as np

from karat.citations import short_signature
from karat.errors import InputError, counted, unknown
from karat.formats.base import brief
from karat.formats.files import read_whole
from karat.formats.load import Count, decoded_msgpack
from karat.formats.output import write_beside, writing_beside
from karat.libraries import library
from karat.matching.columns import SUBSETS, Cutoff, Floats
from karat.matching.inputs import hash_text
from karat.metrics.base import METRICS, Request, Rows
from karat.per_document import document_rows, save_documents
from karat.protocol import MOST
from karat.tabular import Column, Table, rows_of

FORMAT_VERSION = 2
_COMPLAINT = "not a .karat file, or damaged"
COLLECTED = 3  # the version of a file of several corpora, whose parts are files of the version before
UNCHECKED = "results are of an older .karat file, which has no checksum, so that damage may not be seen: score anew"


@dataclass(frozen=True, slots=True)
class Score:
    """One number: its system, protocol and request, and the rows it is made of."""

    corpus: str
    system: str
    protocol: str
    request: Request
    rows: Rows

    @property
    def value(self) -> float:
        """The printed number; NaN where it is undefined."""
        return self.request.value(self.rows)

    @property
    def undefined(self) -> int:
        """How many documents are left out; of rows that are not one a document none is."""
        return 0 if self.rows.units is not None else int((self.rows.values[:, -1] == 0).sum())

    def per_document(self) -> Floats:
        """The metric of each document by itself; NaN where it is undefined."""
        return self.request.finish(self.rows.values)

    def as_dict(self, documents: int) -> dict[str, Any]:
        """The row of the JSON output."""
        value = self.value
        options = dict(self.request.options)
        if self.request.fitted is not None:
            options["fitted"] = self.request.fitted
        return {
            "corpus": self.corpus,
            "system": self.system,
            "protocol": self.protocol,
            "metric": self.request.label,
            "options": options,
            "subset": self.request.subset,
            "average": self.request.average,
            "value": None if math.isnan(value) else value,
            "documents": documents,
            "undefined": self.undefined,
        }


class Result(Protocol):
    """The result of any verb: notes for its reader, and the whole as plain values."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know."""

    def as_dict(self) -> dict[str, Any]:
        """The whole JSON output."""


@runtime_checkable
class Saveable(Result, Protocol):
    """A result that can also be saved to a `.karat` file."""

    def save(self, path: str | Path) -> None:
        """Writes the file."""


class Displayed:
    """A result that shows itself: as its tables where it is printed, as HTML or Markdown in a notebook.

    Results stand left of `karat.output` and know nothing of it. The package has `render` among its lazy names, and
    since it stands outside the layers, `render` is taken from it when a result is shown.
    """

    __slots__ = ()
    csv_fields: ClassVar[tuple[str, ...]] = ()  # of the CSV output; all fields of flat_rows() where it is empty

    def rows(self) -> list[dict[str, Any]]:
        """One dict a row of the result, as in the JSON output."""
        found: Any = self
        return list(found.as_dict().get("rows", ()))

    def flat_rows(self) -> list[dict[str, Any]]:
        """The rows of the CSV output: dicts of plain values alone."""
        return [dict(_flat(row)) for row in self.rows()]

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame."""
        return library("pandas", "to_pandas()").DataFrame(self.rows())

    def __repr__(self) -> str:
        rows = self.rows()
        facts = []
        for what, names in (("corpus", ("corpus",)), ("systems", ("system", "a", "b"))):
            found = dict.fromkeys(repr(row[name]) for row in rows for name in names if row.get(name))
            facts += [f"{what} {', '.join(found)}"] if found else []
        return f"<{type(self).__name__}: {'; '.join([*facts, counted(len(rows), 'row')])}>"

    def __str__(self: Result) -> str:
        return rendered(self, "table").removesuffix("\n")

    def _repr_html_(self: Result) -> str:
        return rendered(self, "html")

    def _repr_markdown_(self: Result) -> str:
        return rendered(self, "md")

    # For IPython, whose plain text of an object would be its one line.
    def _repr_mimebundle_(self: Result, include: Any = None, exclude: Any = None) -> dict[str, str]:
        forms = {"text/html": "html", "text/markdown": "md"}
        return {"text/plain": str(self)} | {mime: rendered(self, format) for mime, format in forms.items()}


def _flat(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The values of a row, each plain: dicts as k=v,... or, of other than plain values, as columns of their own."""
    for name, value in row.items():
        if isinstance(value, Mapping):
            if any(isinstance(each, list | Mapping) for each in value.values()):
                yield from _flat({f"{name}_{key}": each for key, each in value.items()})
            else:
                yield name, ",".join(f"{key}={each}" for key, each in value.items())
        else:
            yield name, ";".join(map(str, value)) if isinstance(value, list | tuple) else value


def rendered(found: Any, format: str) -> str:
    """A result as text, by the package's lazy `render`."""
    import karat

    return karat.render(found, format)


class Tally(msgspec.Struct, frozen=True):
    """What was read of one system under one protocol, and what of it was dropped."""

    system: str
    protocol: str
    references: Count = 0
    predictions: Count = 0
    invalid: Count = 0
    repeated: Count = 0
    missing: Count = 0
    merged: Count = 0  # predictions that are found, present or repeated only because spellings of characters are one
    merged_references: Count = 0  # and references

    def plus(self, other: Tally) -> Tally:
        """The tally of both."""
        return Tally(
            self.system,
            self.protocol,
            self.references + other.references,
            self.predictions + other.predictions,
            self.invalid + other.invalid,
            self.repeated + other.repeated,
            self.missing + other.missing,
            self.merged + other.merged,
            self.merged_references + other.merged_references,
        )

    def notes(self) -> list[str]:
        """What a reader of the scores should know."""
        said = []
        dropped = [f"{n:,} {what}" for n, what in ((self.invalid, "invalid"), (self.repeated, "repeated")) if n]
        if dropped:
            of_all = f"of {counted(self.predictions, 'prediction')}"
            said.append(f"{self.system}, {self.protocol}: {' and '.join(dropped)} {of_all} dropped")
        if self.missing:
            said.append(
                f"{self.system}, {self.protocol}: {counted(self.missing, 'document')} without predictions in the run"
            )
        return [*said, *self.spelling_notes()]

    def spelling_notes(self) -> list[str]:
        """How many phrases owe something to unicode=composed, where there are any."""
        if not self.merged and not self.merged_references:
            return []
        merged = f"{counted(self.merged, 'prediction')} and {counted(self.merged_references, 'reference')}"
        return [
            f"{self.system}, {self.protocol}: {merged} are found, present or repeated only because other spellings of "
            "the same characters (NFD, zero-width characters) are equal; unicode=as-is compares them as they are given"
        ]


@dataclass(frozen=True, slots=True)
class Part:
    """Which shard results are of: the `index`-th of `count`."""

    index: int = 1
    count: int = 1


@dataclass(frozen=True, slots=True, repr=False)
class Results(Displayed):
    """Scores in the order of request, the documents they rest on, the protocols spelled out, notes."""

    scores: tuple[Score, ...]
    ids: tuple[str, ...]
    signatures: dict[str, str]
    tallies: tuple[Tally, ...] = ()
    remarks: tuple[str, ...] = ()
    part: Part = Part()

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know: how files were matched, what was dropped."""
        return (*self.remarks, *(note for tally in self.tallies for note in tally.notes()))

    def rows(self) -> list[dict[str, Any]]:
        """One dict a score, as in the JSON output."""
        return [score.as_dict(len(self.ids)) for score in self.scores]

    def as_dict(self) -> dict[str, Any]:
        """The whole JSON output."""
        return {**signed(self.signatures), "rows": self.rows(), "notes": list(self.notes)}

    def tables(self) -> Iterator[Table]:
        """A table for each corpus and protocol: systems down, metrics across."""
        for corpus, protocol in dict.fromkeys((score.corpus, score.protocol) for score in self.scores):
            scores = [score for score in self.scores if (score.corpus, score.protocol) == (corpus, protocol)]
            yield _table(f"{corpus}, {counted(len(self.ids), 'document')}, protocol {protocol}", scores)

    def to_polars(self) -> Any:
        """The rows as a polars DataFrame; options as JSON text."""
        return library("polars", "to_polars()").DataFrame(
            [row | {"options": msgspec.json.encode(row["options"]).decode()} for row in self.rows()]
        )

    def save(self, path: str | Path) -> None:
        """Writes a `.karat` file."""
        beginning, content = _encoded(self)
        with writing_beside(path) as file:
            file.write(beginning)
            file.write(content)

    def document_rows(self) -> Iterator[dict[str, Any]]:
        """One dict for each system, protocol and document: its id, and the value of each metric."""
        return document_rows([self])

    def save_documents(self, path: str | Path) -> list[str]:
        """Writes these rows and returns what is left out; the name chooses JSON lines, CSV, TSV or Parquet."""
        return save_documents([self], path)


@dataclass(frozen=True, slots=True, repr=False)
class Collection(Displayed):
    """The results of several corpora beside each other, one for each; `collect` makes it."""

    parts: tuple[Results, ...]

    @property
    def signatures(self) -> dict[str, str]:
        """The signatures of all corpora, by protocol and corpus."""
        return signatures_of(self.parts)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know, each with its corpus."""
        return notes_of(self.parts)

    def rows(self) -> list[dict[str, Any]]:
        """One dict a score, as in the JSON output."""
        return [row for part in self.parts for row in part.rows()]

    def as_dict(self) -> dict[str, Any]:
        """The whole JSON output."""
        return {**signed(self.signatures), "rows": self.rows(), "notes": list(self.notes)}

    def tables(self) -> Iterator[Table]:
        """The tables of each corpus."""
        return (table for part in self.parts for table in part.tables())

    def save(self, path: str | Path) -> None:
        """Writes a `.karat` file."""
        write_beside(path, msgspec.msgpack.encode(_Files(COLLECTED, [encode(part) for part in self.parts])))

    def document_rows(self) -> Iterator[dict[str, Any]]:
        """One dict for each system, protocol and document: its id, and the value of each metric."""
        return document_rows(self.parts)

    def save_documents(self, path: str | Path) -> list[str]:
        """Writes these rows and returns what is left out; the name chooses JSON lines, CSV, TSV or Parquet."""
        return save_documents(self.parts, path)


def corpus_of(results: Results) -> str:
    """The corpus that results are of. Raises InputError if they hold no score."""
    if not results.scores:
        raise InputError("the results hold no score")
    return results.scores[0].corpus


def signatures_of(results: Iterable[Results]) -> dict[str, str]:
    """The signatures of all results, by protocol and, where there are several corpora, corpus."""
    listed = list(results)
    several = len(set(map(corpus_of, listed))) > 1
    return {
        f"{protocol} on {corpus_of(each)}" if several else protocol: text
        for each in listed
        for protocol, text in each.signatures.items()
    }


def signed(signatures: Mapping[str, str]) -> dict[str, Any]:
    """The signatures of a result in the JSON output: the long ones, and beside them the short ones."""
    return {
        "signatures": dict(signatures),
        "short_signatures": {name: short_signature(text) for name, text in signatures.items()},
    }


def notes_of(results: Iterable[Results]) -> tuple[str, ...]:
    """The notes of all results, each once; where there are several corpora, each says which it is of."""
    listed = list(results)
    several = len(set(map(corpus_of, listed))) > 1
    found = ((corpus_of(each), note) for each in listed for note in each.notes)
    return tuple(dict.fromkeys(_of_corpus(corpus, note) if several else note for corpus, note in found))


def _of_corpus(corpus: str, note: str) -> str:
    """A note that names its corpus."""
    if corpus in note:
        return note
    warning = "warning: " if note.startswith("warning: ") else ""
    return f"{warning}{corpus}: {note.removeprefix(warning)}"


# ---------------------------------------------------------------------------------------------- tables


def _table(title: str, scores: Sequence[Score]) -> Table:
    """The scores of one corpus under one protocol."""
    systems = dict.fromkeys(score.system for score in scores)
    requests = list(dict.fromkeys(score.request.without_fitted() for score in scores))
    values = {(score.system, score.request.without_fitted()): score.value for score in scores}
    averages = sorted({request.average or "" for request in requests})
    left_out = [f"documents left out, undefined: {', '.join(missing)}" for missing in [_left_out(scores)] if missing]
    caption = f"{title}, average {', '.join(averages)}."
    return Table(
        title,
        "system",
        [_column(request, len(averages) > 1) for request in requests],
        rows_of((system, [values.get((system, request)) for request in requests]) for system in systems),
        notes=[*([f"average: {averages[0]}"] if len(averages) == 1 else []), *left_out],
        caption=" ".join([caption, *(f"{text[0].upper()}{text[1:]}." for text in left_out)]),
    )


def _column(request: Request, several: bool) -> Column:
    options = "".join(f",{name}={value}" for name, value in request.options)
    below = request.average or "" if several else ""
    return Column(request.label + options, above=request.subset, below=below, better=request.spec.better)


def _left_out(scores: Sequence[Score]) -> list[str]:
    """How many documents each subset leaves out, said once for all its metrics where they agree."""
    counts: dict[str, dict[str, int]] = {}
    for score in scores:
        if score.undefined:
            counts.setdefault(score.request.subset, {})[score.request.label] = score.undefined
    said = []
    for subset, by_metric in counts.items():
        for missing, group in groupby(sorted(by_metric.items(), key=lambda item: item[1]), key=lambda i: i[1]):
            names = [name for name, _ in group]
            whose = "" if len(names) == len({s.request.label for s in scores}) else f" ({', '.join(names)})"
            said.append(f"{subset} {missing:,}{whose}")
    return said


# ---------------------------------------------------------------------------------------------- .karat files


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


class _File(msgspec.Struct):
    karat: int
    ids: list[str]
    signatures: dict[str, str]
    remarks: list[str]
    tallies: list[Tally]
    part: tuple[int, int]
    scores: list[_Score]


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


# ---------------------------------------------------------------------------------------------- merging


def collect(results: Iterable[Results | Collection]) -> Collection:
    """The results of several corpora beside each other; the shards of a corpus are merged.

    Raises InputError if a corpus is there twice, or if a shard is missing.
    """
    found: dict[str, list[Results]] = {}
    for each in results:
        for part in each.parts if isinstance(each, Collection) else (each,):
            found.setdefault(corpus_of(part), []).append(part)
    for name, own in found.items():
        if len(own) > 1 and all(part.part.count == 1 for part in own):
            raise InputError(
                f"{len(own)} of the results are of a corpus named {name!r}: give each corpus once, and name them, "
                "NAME=PATH, if they are several"
            )
    if not found:
        raise InputError("nothing to merge")
    return Collection(tuple(map(merge, found.values())))


def merge(parts: Iterable[Results]) -> Results:
    """The results of the whole corpus from those of all its shards, the same as if it had been scored at once."""
    found = sorted(parts, key=lambda results: results.part.index)
    if not found:
        raise InputError("nothing to merge")
    first, count = found[0], found[0].part.count
    _check_one_corpus(found)
    _check_parts(found, count)
    total = sum(len(results.ids) for results in found)
    ids = np.empty(total, dtype=object)
    for results in found:
        ids[results.part.index - 1 :: count] = results.ids
    scores = tuple(
        replace(score, rows=_interleave([results.scores[i].rows for results in found], count, total))
        for i, score in enumerate(first.scores)
    )
    tallies = tuple(reduce(Tally.plus, same) for same in zip(*(results.tallies for results in found), strict=True))
    return Results(scores, tuple(ids.tolist()), _merged_signatures(found), tallies, first.remarks)


def _check_one_corpus(found: Sequence[Results]) -> None:
    corpora = dict.fromkeys(results.scores[0].corpus for results in found if results.scores)
    if len(corpora) > 1:
        raise InputError(
            f"results of different corpora ({', '.join(corpora)}) are not shards of one: collect() puts them beside "
            "each other"
        )


def _check_parts(found: Sequence[Results], count: int) -> None:
    have = [results.part.index for results in found]
    if any(results.part.count != count for results in found):
        raise InputError("these results are not shards of one division: their --shard I/N have different N")
    if have != list(range(1, count + 1)):
        lacking = sorted(set(range(1, count + 1)) - set(have))
        twice = sorted({i for i in have if have.count(i) > 1})
        said = [f"shard {i}/{count} is missing" for i in lacking] + [f"shard {i}/{count} is there twice" for i in twice]
        raise InputError("; ".join(said))
    first = _settings_of(found[0])
    for results in found[1:]:
        for what, own in _settings_of(results).items():
            if own != first[what]:
                shard = f"shard {results.part.index}/{count}"
                raise InputError(f"{shard} was scored otherwise than shard 1/{count}: {_apart(what, own, first[what])}")
    _check_documents(found, count)


def _check_documents(found: Sequence[Results], count: int) -> None:
    """Raises InputError if shards are of other documents: not as many as belong there, or one in two of them."""
    known: dict[str, int] = {}
    first = before = len(found[0].ids)
    for results in found:
        index, have = results.part.index, len(results.ids)
        if not first - 1 <= have <= before:  # every N-th document: the last shards may have one fewer
            said = f"shard {index}/{count} has {counted(have, 'document')}, shard 1/{count} has {first:,}"
            raise InputError(f"{said}: these are not shards of the same documents")
        before = have
        twice = next((i for i in results.ids if i in known), None)
        if twice is not None:
            raise InputError(f"the document {twice!r} is in shard {known[twice]}/{count} and in shard {index}/{count}")
        known |= dict.fromkeys(results.ids, index)


def _settings_of(results: Results) -> dict[str, list[str]]:
    """By kind, what results are to have in common to be shards of one scoring."""
    facts = [f"{name}: {_without_hash(signature)}" for name, signature in results.signatures.items()]
    return {
        "systems": list(dict.fromkeys(score.system for score in results.scores)),
        "protocols": list(dict.fromkeys(score.protocol for score in results.scores)),
        "metrics": list(dict.fromkeys(_written(score.request) for score in results.scores)),
        "signatures": facts,
        "scores": [f"{s.system}, {s.protocol}: {_written(s.request)}" for s in results.scores],
        "notes": [remark for remark in results.remarks if remark != UNCHECKED],
    }


def _written(request: Request) -> str:
    options = "".join(f",{name}={value}" for name, value in request.options)
    fitted = "" if request.fitted is None else f" (fitted: {request.fitted})"
    return f"{request.label}:{request.subset}/{request.average}{options}{fitted}"


def _apart(what: str, own: Sequence[str], others: Sequence[str]) -> str:
    """The first thing that two shards do not have in common, said of the one and of the other."""
    a, b = next(pair for pair in zip_longest(own, others) if pair[0] != pair[1])
    if what == "signatures" and a and b:
        pairs = [pair for pair in zip_longest(a.split(","), b.split(",")) if pair[0] != pair[1]]
        a, b = (",".join(filter(None, each)) for each in zip(*pairs, strict=True))
    return f"its {what} have {a or 'none'} where the other has {b or 'none'}"


def _interleave(rows: Sequence[Rows], count: int, total: int) -> Rows:
    """Rows of shards in the order of the corpus: the i-th document of shard s is the (i·count + s)-th."""
    if rows[0].units is not None:
        units = [part.units * count + shard for shard, part in enumerate(rows) if part.units is not None]
        merged, values = np.concatenate(units), np.concatenate([part.values for part in rows])
        order = np.argsort(merged if merged.ndim == 1 else merged[:, 0], kind="stable")
        return Rows(values[order], merged[order])
    values = np.empty((total, rows[0].values.shape[1]))
    for shard, part in enumerate(rows):
        values[shard::count] = part.values
    return Rows(values)


def _without_hash(signature: str) -> str:
    return ",".join(part for part in signature.split(",") if not part.startswith("hash="))


def _merged_signatures(found: Sequence[Results]) -> dict[str, str]:
    """Signatures whose hash is that of all references: hashes of documents add up."""
    merged = {}
    for name, signature in found[0].signatures.items():
        hashes = [_hash_of(results.signatures[name]) for results in found]
        merged[name] = signature.replace(f"hash={hash_text(hashes[0])}", f"hash={hash_text(sum(hashes))}")
    return merged


def _hash_of(signature: str) -> int:
    for part in signature.split(","):
        if part.startswith("hash="):
            return int(part.removeprefix("hash="), 16)
    return 0
