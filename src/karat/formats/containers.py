"""Where records come in: JSON lines, one JSON value, CSV, TSV, Parquet, datasets; each as rows with their places."""

from __future__ import annotations

import ast
import csv
import io
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any

import msgspec
import numpy as np

from karat.errors import InputError
from karat.formats import hub, jsonl
from karat.formats.base import Record, brief, quoted, split_phrases
from karat.formats.files import (
    FIRST_BYTES,
    PARQUET,
    beginning,
    first_line,
    lines,
    open_bytes,
    read_whole,
    without_compression,
)
from karat.formats.json_bytes import check_decoded, check_values
from karat.formats.load import DECODING_ERRORS, check_value, decode_entries, decoder, fault, json_value
from karat.formats.output import writing
from karat.formats.xlsx import SUFFIXES as EXCEL
from karat.formats.xlsx import ZIP, save_xlsx, xlsx_rows
from karat.libraries import library
from karat.limits import limits

ROWS_AT_ONCE = 1000
ROWS_IN_GROUP = 50_000  # of a Parquet file that is written as its rows come


def container_at(path: str) -> str:
    """What a path holds: datasets (of the library), parquet, xlsx, json (one value), jsonl, csv, tsv or text."""
    if hub.is_dataset(path):
        return "datasets"
    if beginning(path).start == PARQUET:
        return "parquet"
    if beginning(path).start == ZIP and without_compression(path).lower().endswith(EXCEL):
        return "xlsx"
    if _is_one_long_value(path):
        return "json"
    suffix = Path(without_compression(path)).suffix
    line = first_line(path).lstrip()
    if line.startswith(b"{"):
        # What is neither is taken for lines, whose reader says what is wrong.
        return "jsonl" if _is_json(line) or not _is_json(read_whole(path)) else "json"
    if line.startswith(b"[") and (_opens_records(line) or suffix == ".json" or _is_json(read_whole(path))):
        return "json"
    return {".csv": "csv", ".tsv": "tsv"}.get(suffix) or ("csv" if _is_header(line) else "text")


def _is_one_long_value(path: str) -> bool:
    """Whether a first line that is longer than a line of records may be is a whole JSON text, or begins one."""
    line = beginning(path).line or b""
    if len(line) <= limits().line or line.lstrip()[:1] not in (b"{", b"["):
        return False
    try:
        return _is_json(read_whole(path))
    except InputError:  # too large for that, too
        return False


def _is_json(content: bytes) -> bool:
    """Whether a text is JSON; its values are not decoded."""
    try:
        decoder(msgspec.Raw).decode(content)
    except DECODING_ERRORS:
        return False
    return True


def _is_header(line: bytes) -> bool:
    """Whether a line heads a table with karat's own columns, whatever the file is called."""
    begin = line[:FIRST_BYTES]
    cells = {cell.strip().strip('"') for cell in begin.decode(errors="replace").split(_delimiter(begin))}
    return len(cells) > 1 and "keyphrases" in cells


def _opens_records(line: bytes) -> bool:
    """Whether a line that opens a bracket opens a list of records: text may begin with a bracket, too."""
    return line[1:].lstrip()[:1] in (b"", b"{")


def whole_json(path: str) -> Any:
    """The value of a file that is one JSON text; None where it is not one.

    Raises InputError if it has too many values, or if an object has a key twice.
    """
    content = read_whole(path)
    value = json_value(content, path)
    check_decoded(content, value, path)
    return value


def rows(path: str, container: str) -> Iterator[tuple[int, Record]]:
    """(place, row) of a container: the place is the line, or the number of the row where there are no lines."""
    if container == "jsonl":
        return jsonl.records(path, Record)
    if container == "json":
        return _json_rows(path)
    if container in ("csv", "tsv"):
        return _csv_rows(path, container)
    if container == "parquet":
        return _parquet_rows(path)
    if container == "xlsx":
        return xlsx_rows(path)
    if container == "datasets":
        return hub.rows(path)
    raise InputError(f"{path}: not a file of records (JSON lines, JSON, CSV, TSV, Excel or Parquet)")


def first_fields(path: str, most: int = 100) -> Record:
    """Return the first record of a JSON list, or the first fields of a JSON object, which may be a file of many."""
    content = read_whole(path)
    if content.lstrip()[:1] == b"[":
        return next((row for _, row in _json_rows(path)), {})
    return dict(islice(decode_entries(content, Any, path, "not JSON"), most))


def _json_rows(path: str) -> Iterator[tuple[int, Record]]:
    """The items of a JSON list, decoded one by one, or the one object that a file is."""
    content = read_whole(path)
    try:
        items = _items(path, content)
    except InputError:  # is a ValueError, too
        raise
    except DECODING_ERRORS as error:
        line, said = fault(error, content)
        raise InputError(f"{path}:{line}: {said}") from None
    for first in range(0, len(items), ROWS_AT_ONCE):
        some = items[first : first + ROWS_AT_ONCE]
        places = range(first + 1, first + len(some) + 1)
        jsonl.check_bytes(path, Record, places, b"".join(some), np.cumsum([0, *map(len, some)])[:-1])
        for number in places:
            row = _decode_item(path, content, items, number)
            if not isinstance(row, dict):
                raise _no_object(path, number)
            check_value(row, f"{path}:{number}")
            yield number, row


def _decode_item(path: str, content: bytes, items: Sequence[bytes | msgspec.Raw], number: int) -> Any:
    """Decode an item of a JSON list. Raise InputError, with its line in the file, if that fails."""
    try:
        return decoder(Any).decode(items[number - 1])
    except DECODING_ERRORS:
        alone = _blank_before(content, items, number)
    try:
        return decoder(Any).decode(alone)
    except DECODING_ERRORS as error:
        line, said = fault(error, alone)
        raise InputError(f"{path}:{line}: {said}") from None


def _blank_before(content: bytes, items: Sequence[bytes | msgspec.Raw], number: int) -> bytes:
    """Return an item of a JSON list at its line and column, with blanks for all before it."""
    start = end = 0
    for item in map(bytes, items[:number]):
        start = content.find(item, end)
        end = start + len(item)
    lines = content.count(b"\n", 0, start)
    return b"\n" * lines + b" " * (start - content.rfind(b"\n", 0, start) - 1) + content[start:end]


def _items(path: str, content: bytes) -> list[bytes | msgspec.Raw]:
    """The items of a JSON list as they are written; a text that is no list is one item."""
    if content.lstrip()[:1] != b"[":
        decoder(_Object).decode(content)
        return [content]
    if content.count(b",") >= limits().values:
        _check_records(path, content)
    found: list[bytes | msgspec.Raw] = decoder(list[msgspec.Raw]).decode(content)
    return found


class _Object(msgspec.Struct, gc=False):
    """An object whose fields are not decoded."""


_ITEM = re.compile(r"\$\[(\d+)\]")


def _check_records(path: str, content: bytes) -> None:
    """Raise InputError if an item of a JSON list is not an object, or if the list has too many of them."""
    if content.count(b"{") > limits().values:
        raise limits().exceeded("values", path, "the list")
    try:
        decoder(list[_Object]).decode(content)
    except msgspec.ValidationError as error:
        decoder(msgspec.Raw).decode(content)  # a fault of syntax comes first
        item = _ITEM.search(str(error))
        raise _no_object(path, int(item[1]) + 1 if item else 1) from None


def _no_object(path: str, number: int) -> InputError:
    wanted = '{"id": "1", "keyphrases": ["a b", "c"]}'
    return InputError(f"{path}: item {number} of the JSON list is no object with fields, as {wanted}")


def table_columns(path: str) -> list[str]:
    """Return the names of the columns of a CSV or TSV file, without empty ones."""
    content = (line for _, line in lines(path, ends=True))
    reader = csv.reader(content, delimiter=_delimiter_of(path, container_at(path)), strict=True)
    return [*filter(None, _header(path, next(reader, [])))]


def _csv_rows(path: str, container: str) -> Iterator[tuple[int, Record]]:
    csv.field_size_limit(limits().cell)
    delimiter = _delimiter_of(path, container)
    cells, most = 0, limits().values  # cells of the row that is being read, at most

    def counted_lines() -> Iterator[str]:
        nonlocal cells
        for number, line in lines(path, ends=True):
            cells += line.count(delimiter)
            if cells > most:
                raise limits().exceeded("values", f"{path}:{number}", "the row")
            yield line

    reader = csv.reader(counted_lines(), delimiter=delimiter, strict=True)
    header: list[str] = []
    start = 1
    try:
        for row in reader:
            cells = 0
            if not header:
                header = _header(path, row)
            elif row:
                if len(row) != len(header):
                    raise InputError(f"{path}:{start}: {len(row)} cells, but the header has {len(header)}")
                yield start, dict(zip(header, row, strict=True))
            start = reader.line_num + 1
    except csv.Error as error:
        if str(error) == "unexpected end of data":
            raise InputError(
                f'{path}:{start}: a quote that is opened in this row is never closed; write " as ""'
            ) from None
        if str(error).startswith("field larger"):
            raise limits().exceeded("cell", f"{path}:{start}", "a cell") from None
        raise InputError(f"{path}:{reader.line_num}: {error}") from None
    if not header:
        raise InputError(f"{path}: the file is empty")


def _header(path: str, row: list[str]) -> list[str]:
    """The names of the columns, each there once; spreadsheets leave empty columns without a name."""
    names = [cell.strip() for cell in row]
    for name in filter(None, names):
        if names.count(name) > 1:
            raise InputError(f"{path}: two columns are named {quoted(name)}")
    return names


def _delimiter(header: bytes) -> str:
    """A comma, or what spreadsheets write where the comma is the decimal point."""
    return max(",;\t", key=lambda mark: header.count(mark.encode()))


def _delimiter_of(path: str, container: str) -> str:
    return "\t" if container == "tsv" else _delimiter(first_line(path))


def _parquet_rows(path: str) -> Iterator[tuple[int, Record]]:
    pyarrow, parquet = _parquet()
    try:
        with open_bytes(path) as file:
            sizes = {"thrift_string_size_limit": _MOST_HEAD, "thrift_container_size_limit": _MOST_HEAD}
            table = parquet.ParquetFile(_seekable(file, path), **sizes)
            _header(path, table.schema_arrow.names)
            _check_columns(path, table.metadata)
            place = 1
            for batch in table.iter_batches(ROWS_AT_ONCE):
                _check_cells(path, place, batch)
                some = 1 if batch.nbytes > limits().cell else ROWS_AT_ONCE
                for first in range(0, len(batch), some):
                    for row in batch.slice(first, some).to_pylist():
                        yield place, row
                        place += 1
    except InputError:  # is a ValueError, too
        raise
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:  # a time out of range is a ValueError
        reason = brief((str(error) or type(error).__name__).splitlines()[0])
        raise InputError(f"{path}: cannot be read as Parquet ({reason})") from None


_MOST_HEAD = 10**8  # bytes and items of what a Parquet file says of itself
_CHUNK, _DENSE = 64 * 10**6, 100  # of larger parts of columns, cells are small and not compressed more than so often


def _check_columns(path: str, metadata: Any) -> None:
    """Raises InputError if a column is to become far larger than its file: before anything of it is decompressed."""
    for group in (metadata.row_group(i) for i in range(metadata.num_row_groups)):
        for column in (group.column(i) for i in range(group.num_columns)):
            size, packed = column.total_uncompressed_size, max(column.total_compressed_size, 1)
            mean = size / max(column.num_values, 1)
            if mean > limits().cell or (size > _CHUNK and (mean > limits().cell / 16 or size > _DENSE * packed)):
                raise limits().exceeded("cell", path, f"a cell of the column {quoted(column.path_in_schema)}")


def _check_cells(path: str, first: int, batch: Any) -> None:
    """Raises InputError if a cell of some rows is too large."""
    most = limits().cell
    if batch.nbytes > most:
        for row in range(len(batch)):
            one = batch.slice(row, 1)
            if one.nbytes > most:
                raise limits().exceeded("cell", f"{path}:{first + row}", "a row")


def _seekable(file: IO[bytes], path: str) -> IO[bytes]:
    """The file, or its content where it was decompressed: Parquet is read from its end."""
    return file if isinstance(file, io.BufferedReader) and file.seekable() else io.BytesIO(read_whole(path))


def _parquet() -> tuple[Any, Any]:
    return library("pyarrow", "a Parquet file"), library("pyarrow.parquet", "a Parquet file")


# ---------------------------------------------------------------------------------------------- lists in cells

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
# numpy, and so pandas where it holds arrays, prints no commas.
_PYTHON_LIST = re.compile(rf"\[\s*(?:(?:{_QUOTED})(?:\s*,\s*|\s+|(?=\])))*\]", re.DOTALL)
_PYTHON_LISTS = re.compile(r"\[\s*[\[('\"].*\]", re.DOTALL)  # of strings, lists or tuples
LONGEST_LITERAL = 1 << 20
_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}


def cell_list(text: str, separator: str = ";") -> list[Any]:
    """The list in a cell: written as JSON, as Python or numpy print strings, or parted by a separator.

    >>> cell_list('["a", ["b", "c"]]'), cell_list("['a', \\"b's\\"]"), cell_list("['a' 'b']")
    (['a', ['b', 'c']], ['a', "b's"], ['a', 'b'])
    >>> cell_list("a; b"), cell_list(" ")
    (['a', 'b'], [])
    """
    written = text.strip()
    if written.startswith("["):
        encoded = written.encode(errors="replace")
        check_values(encoded, "", "a cell")
        found = json_value(encoded)
        if isinstance(found, list):
            return found
        if written.count("'") + written.count('"') > 2 * limits().values:
            raise limits().exceeded("values", "", "a cell")
        if _PYTHON_LIST.fullmatch(written):
            return [_ESCAPE.sub(_unescaped, quoted[1:-1]) for quoted in re.findall(_QUOTED, written, re.DOTALL)]
        if _PYTHON_LISTS.match(written):
            return _literal(written)
    return split_phrases(text, separator)


def _literal(written: str) -> list[Any]:
    """A list with more in it than strings, as Python prints it: phrases with scores, variants, None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that Python does not know
            found = ast.literal_eval(written) if len(written) < LONGEST_LITERAL else None
        return list(json_value(msgspec.json.encode(found)))  # tuples become lists
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError, msgspec.MsgspecError):
        raise ValueError(f"{brief(written, 60)!r} is no list that can be read; write JSON, or a;b") from None


def _unescaped(escape: re.Match[str]) -> str:
    """What stands for an escape in a Python string: `\\xa0` is a space that does not break."""
    code = escape[1] or escape[2] or escape[3]
    if code is None:
        return _ESCAPED.get(escape[4], escape[4])
    try:
        return bytes.fromhex(code.zfill(8)).decode("utf-32-be")
    except UnicodeDecodeError:
        return escape[0]  # half a character


def cell(value: Any) -> Any:
    """A value for a cell: phrases parted by `;` where they read back as they are, other lists as JSON.

    >>> cell(["a", "b"]), cell(["a;b"]), cell([["a", "b"]]), cell(None), cell(1)
    ('a;b', '["a;b"]', '[["a","b"]]', '', 1)
    """
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        joined = ";".join(value)
        if joined and not joined.lstrip().startswith("[") and cell_list(joined) == value:
            return joined
    if isinstance(value, list | dict):
        return msgspec.json.encode(value).decode()
    return "" if value is None else value


# ---------------------------------------------------------------------------------------------- writing


def container_of(path: str) -> str:
    """The container that a file's name asks for: JSON lines unless it says something else.

    >>> container_of("a.csv.gz"), container_of("a.parquet"), container_of("a.json"), container_of("a.jsonl")
    ('csv', 'parquet', 'jsonl', 'jsonl')
    """
    suffix = without_compression(path).rpartition(".")[2]
    return suffix if suffix in ("csv", "tsv", "parquet", "xlsx") else "jsonl"


Kinds = Mapping[str, type]  # of columns: str, int or float


def save(path: str, records: Iterable[Any], container: str | None = None, *, kinds: Kinds | None = None) -> None:
    """Writes records into a container, by default the one that the file's name asks for.

    Where the `kinds` of all columns are given, Parquet is written as records come; else it is written in the end.
    """
    container = container or container_of(path)
    if container == "jsonl":
        jsonl.save(path, records)
    elif container == "parquet":
        if kinds is None:
            _save_parquet(path, map(as_row, records))
        else:
            _save_groups(path, map(as_row, records), kinds)
    elif container == "xlsx":
        save_xlsx(path, ({name: cell(value) for name, value in as_row(record).items()} for record in records))
    else:
        _save_csv(path, map(as_row, records), "\t" if container == "tsv" else ",")


def as_row(record: Any) -> Record:
    """A record as a dict of its fields, named as in the file; fields at their default are there too."""
    if isinstance(record, Mapping):
        return dict(record)
    fields = msgspec.structs.fields(record)
    return {field.encode_name: getattr(record, field.name) for field in fields}


def _save_csv(path: str, found: Iterable[Record], delimiter: str) -> None:
    with writing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        # Before Python 3.13 the library leaves a lone carriage return unquoted, and then does not read it.
        careful = csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
        for number, row in enumerate(found):
            if number == 0:
                writer.writerow(row)
            cells = [cell(value) for value in row.values()]
            risky = any(isinstance(value, str) and "\r" in value for value in cells)
            (careful if risky else writer).writerow(cells)
        text.detach()


def _save_parquet(path: str, found: Iterable[Record]) -> None:
    pyarrow, parquet = _parquet()
    held = list(found)
    table: dict[str, Any] = {}
    for name in held[0] if held else ():
        column = [row[name] for row in held]
        if not table or any(value is not None for value in column):  # the first column holds the number of rows
            table[name] = _arrow_column(pyarrow, column)
    with writing(path) as file:
        parquet.write_table(pyarrow.table(table), file)


def _save_groups(path: str, found: Iterator[Record], kinds: Kinds) -> None:
    """Writes rows in groups, of which one at a time is held."""
    pyarrow, parquet = _parquet()
    types = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}
    schema = pyarrow.schema([(name, types[kind]) for name, kind in kinds.items()])
    with writing(path) as file, parquet.ParquetWriter(file, schema) as writer:
        while group := list(islice(found, ROWS_IN_GROUP)):
            columns = {name: [row[name] for row in group] for name in kinds}
            writer.write_table(pyarrow.table(columns, schema))


def _arrow_column(pyarrow: Any, column: list[Any]) -> Any:
    """The column as it is, or, where its values are not all of one type, as text: of lists and records as JSON.

    Records are always text: Parquet would give each of them the fields of all.
    """
    if not any(isinstance(value, dict) for value in column):
        try:
            return pyarrow.array(column)
        except (pyarrow.ArrowException, OverflowError):
            pass
    return pyarrow.array([value if value is None else _as_text(value) for value in column])


def _as_text(value: Any) -> str:
    return msgspec.json.encode(value).decode() if isinstance(value, list | dict) else str(value)
