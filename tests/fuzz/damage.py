"""What is done to good files: damage that knows how a file is built, so that it gets past the first checks."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sqlite3
import tempfile
import zlib
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import zstandard

from tests.formats.samples import PACKINGS
from tests.formats.test_damaged import NAMES, TO_BYTES, VALUES, column_replaced
from tests.fuzz.case import Files

LONGEST, MOST_PACKED = 1 << 20, 1 << 24  # bytes of a file, and of what is in a compressed one; larger ones are cut
DEPTHS = (3, 60, 500, 900, 5_000, 100_000)
TEXTS = (
    "", " ", "\x00", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "a\nb", "a\r\nb", "\u202eabc", "\u2066x", "\u2028",
    "\ufeff", "\u200d", "é", "e\u0301", "=1+1", "<b>&amp;", "\\input{x}", "$x_1^2$", "#set page()", "../../x", "/", "~",
    "nan", "inf", "-1", "0", "1e400", "٣", "x" * 300, "x " * 2000, "\U0001f600", "%s%n", "{}", "{0.__class__}", "None",
)  # fmt: skip
NUMBERS: tuple[int | float, ...] = (
    0, -0.0, 1, -1, 2, 3, 7, 255, 2**31, -(2**31), 2**53 + 1, 2**62, 2**63 - 1, -(2**63), 2**64 - 1, 10**6, 10**9,
    0.5, 1e-320,
    1e308, -1e308, 1.5, float("nan"), float("inf"), float("-inf"),
)  # fmt: skip
JSON_NUMBERS = (
    b"9" * 5000, b"-" + b"9" * 5000, b"1e400", b"-1e400", b"1" + b"0" * 400, b"1e-400", b"-0", b"-0.0",
    b"9223372036854775808",
    b"18446744073709551616", b"0." + b"1" * 5000, b"1E+2", b"NaN", b"Infinity", b"-Infinity", b"1e5000", b"01",
    b"1.", b"4300",
    b"9" * 4301, b"9" * 20,
)  # fmt: skip


def damaged(files: Files, draw: Random) -> Files:
    """The files after some damage; as they are in one case of twenty."""
    if draw.random() < 0.05:
        return files
    for _ in range(draw.choice((1, 1, 1, 1, 2, 2, 3, 5))):
        if not files:
            return files
        name = draw.choice(sorted(files))
        content = files[name]
        if content is None or draw.random() < 0.06:
            files = _moved(files, name, draw)
        else:
            files = {**files, name: hit(name, content, draw)[:LONGEST]}
    return files


def _moved(files: Files, name: str, draw: Random) -> Files:
    """The file elsewhere, gone, doubled, or a folder."""
    rest = {other: content for other, content in files.items() if other != name}
    other = str(Path(name).with_name(draw.choice(NAMES)))
    kind = draw.randrange(5)
    if kind == 0:
        return rest
    if kind == 1 or (kind == 2 and len(files) > 1):
        return {**rest, other: files[name]}
    if kind == 3:
        return {**files, other: files[name]}
    return {**files, name: None}


def hit(name: str, content: bytes, draw: Random) -> bytes:
    """The content with one thing changed: in its structure, or in any of its bytes."""
    if draw.random() < 0.25:
        return draw.choice(TO_BYTES)(content, draw.randrange(100_000), draw.randrange(100_000))
    for start, change in _BY_START:
        if content.startswith(start):
            return change(name, content, draw)
    if name.endswith(".karat"):
        from tests.fuzz.results import damaged_results

        return damaged_results(content, draw)
    if name.endswith((".csv", ".tsv")) and draw.random() < 0.7:
        return table(content, "\t" if name.endswith(".tsv") else ",", draw)
    return draw.choice((structured, structured, structured, tokens, lines))(content, draw)


# ---------------------------------------------------------------------------------------------- trees of values


def changed(tree: Any, draw: Random, odd: Callable[[Random], Any]) -> Any:
    """The tree with something changed at one of its places."""
    places = list(_places(tree))
    if not places:
        return odd(draw)
    holder, key = draw.choice(places)
    value = holder[key]
    kind = draw.randrange(12)
    if kind <= 4:
        holder[key] = odd(draw)
    elif kind == 5:
        del holder[key]
    elif kind == 6 and isinstance(value, str):
        at = draw.randrange(len(value) + 1)
        holder[key] = value[:at] + draw.choice(TEXTS) + value[at:]
    elif kind == 7 and isinstance(value, list):
        holder[key] = value * draw.choice((0, 2, 100))
    elif kind == 8:
        other, there = draw.choice(places)
        with suppress(KeyError, IndexError):
            holder[key], other[there] = other[there], value
    elif kind == 9 and isinstance(holder, dict):
        holder[draw.choice((*map(str, holder), *TEXTS))] = value
    elif kind == 10 and isinstance(holder, list):
        holder.insert(draw.randrange(len(holder) + 1), value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        holder[key] = draw.choice(NUMBERS)
    else:
        holder[key] = [value] if draw.random() < 0.5 else {"a": value}
    return tree


def _places(tree: Any) -> Any:
    items = enumerate(tree) if isinstance(tree, list) else tree.items() if isinstance(tree, dict) else ()
    for key, value in list(items):
        yield tree, key
        yield from _places(value)


def odd_json(draw: Random) -> Any:
    """A value that hardly belongs anywhere, as JSON."""
    kind = draw.randrange(10)
    if kind < 3:
        return msgspec.Raw(draw.choice(JSON_NUMBERS))
    if kind < 5:
        return draw.choice(TEXTS)
    if kind < 6:
        depth = draw.choice(DEPTHS)
        start, end = draw.choice(((b"[", b"]"), (b'{"a":', b"}")))
        return msgspec.Raw(start * depth + b"1" + end * draw.choice((depth, depth, 0)))
    return msgspec.Raw(draw.choice(VALUES))


def structured(content: bytes, draw: Random) -> bytes:
    """A JSON text, or some lines of it, with other values; what is neither loses or gets tokens."""
    with suppress(ValueError, RecursionError, msgspec.MsgspecError):
        return written(changed(json.loads(content), draw, odd_json), draw)
    parts = content.split(b"\n")
    at = draw.randrange(len(parts))
    with suppress(ValueError, RecursionError, msgspec.MsgspecError):
        parts[at] = written(changed(json.loads(parts[at]), draw, odd_json), draw)
        return b"\n".join(parts)
    return tokens(content, draw)


def written(tree: Any, draw: Random) -> bytes:
    """The tree as JSON; now and then with a key that is there twice."""
    text = msgspec.json.encode(tree)
    if draw.random() < 0.05 and isinstance(tree, dict) and tree:
        key = draw.choice(list(tree))
        return b'{"' + str(key).encode(errors="replace") + b'":' + msgspec.json.encode(odd_json(draw)) + b"," + text[1:]
    return text


# ---------------------------------------------------------------------------------------------- texts

_TOKEN = re.compile(rb"(\d+(?:\.\d+)?|\w+|\s+|.)", re.DOTALL)


def tokens(content: bytes, draw: Random) -> bytes:
    """Words, numbers and marks replaced, doubled, left out or swapped."""
    parts = _TOKEN.findall(content[: 1 << 16])
    if not parts:
        return draw.choice(VALUES)
    for _ in range(draw.choice((1, 1, 2, 4))):
        at, other = draw.randrange(len(parts)), draw.randrange(len(parts))
        kind = draw.randrange(6)
        if kind == 0:
            parts[at] = draw.choice(JSON_NUMBERS)
        elif kind == 1:
            parts[at] = draw.choice(TEXTS).encode()
        elif kind == 2:
            parts[at] = b""
        elif kind == 3:
            parts[at] = parts[at] * draw.choice((2, 3, 100))
        elif kind == 4:
            parts[at], parts[other] = parts[other], parts[at]
        else:
            numbers = [i for i, part in enumerate(parts) if part[:1].isdigit()] or [at]
            parts[draw.choice(numbers)] = draw.choice((*JSON_NUMBERS, *(str(n).encode() for n in NUMBERS)))
    return b"".join(parts) + content[1 << 16 :]


def lines(content: bytes, draw: Random) -> bytes:
    """Lines left out, repeated, very long, or with other ends."""
    parts = content.split(b"\n")
    at = draw.randrange(len(parts))
    kind = draw.randrange(6)
    if kind == 0:
        del parts[at]
    elif kind == 1:
        parts[at:at] = [parts[at]] * draw.choice((1, 2, 50))
    elif kind == 2:
        parts[at] = parts[at] + draw.choice((b"x", b" y", b"\t", b";")) * draw.choice((1000, 200_000, 900_000))
    elif kind == 3:
        parts[at] += draw.choice((b"\r", b"\x0b", b"\x0c", b"\x1c", b"\x85", b"\xe2\x80\xa8"))
    elif kind == 4:
        return b""
    else:
        return draw.choice((b"\n", b" ", b"\r", b"\x00")) * draw.choice((1, 1000))
    return b"\n".join(parts)


def table(content: bytes, delimiter: str, draw: Random) -> bytes:
    """A table with another cell, row or column."""
    try:
        rows = list(csv.reader(io.StringIO(content.decode()), delimiter=delimiter))
    except (UnicodeDecodeError, csv.Error):
        return lines(content, draw)
    rows = [row for row in rows if row]
    if not rows:
        return lines(content, draw)
    row = draw.choice(rows)
    at = draw.randrange(len(row))
    kind = draw.randrange(6)
    if kind <= 2:
        row[at] = draw.choice((*TEXTS, *(value.decode(errors="replace") for value in (*VALUES, *JSON_NUMBERS))))
    elif kind == 3:
        row.insert(at, draw.choice(TEXTS))
    elif kind == 4:
        del row[at]
    else:
        rows.insert(draw.randrange(len(rows)), draw.choice(rows))
    made = io.StringIO()
    with suppress(csv.Error):
        csv.writer(made, delimiter=delimiter, lineterminator=draw.choice(("\n", "\r\n"))).writerows(rows)
    return made.getvalue().encode(errors="replace").replace(b'"', draw.choice((b'"', b'"', b'"', b"'", b'""', b"")))


# ---------------------------------------------------------------------------------------------- packed files


def packed(name: str, content: bytes, draw: Random) -> bytes:
    """A compressed file with damage inside, cut off, joined with another, or with more behind it."""
    pack, unpack = PACKINGS[".gz" if content.startswith(b"\x1f\x8b") else ".zst"]
    kind = draw.randrange(8)
    if kind == 0:
        return content[: draw.randrange(len(content))]
    if kind == 1:
        return content + draw.choice((content, b"\x00" * 10, b"garbage", pack(b"{}\n"), zlib.compress(b"x")))
    if kind == 2:
        return pack(b" " * draw.choice((10, 1 << 20, 1 << 24)) + b"\n")
    with suppress(OSError, EOFError, zlib.error, zstandard.ZstdError):
        inside = hit(name.removesuffix(".gz").removesuffix(".zst"), unpack(content), draw)[:MOST_PACKED]
        return pack(inside) if kind < 7 else gzip.compress(inside, mtime=0)
    return content


def column(name: str, content: bytes, draw: Random) -> bytes:
    """A Parquet file with another column."""
    made: bytes = column_replaced(content, draw.randrange(100_000), draw.randrange(100_000))
    return made


def pdf(name: str, content: bytes, draw: Random) -> bytes:
    """A PDF with other numbers, names and streams."""
    if draw.random() < 0.3:
        stream = zlib.compress(
            draw.choice((b"BT (x) Tj ET " * 20_000, b"\x00" * (1 << 22), b"BT " * 50_000, b"[" * 50_000))
        )
        head = b"<< /Length %d /Filter %s >>" % (
            draw.choice((len(stream), 0, 10**9)),
            draw.choice((b"/FlateDecode", b"[/FlateDecode /FlateDecode]", b"/LZWDecode", b"/DCTDecode", b"/X")),
        )
        start, end = content.find(b"<< /Length"), content.find(b"endstream")
        if 0 <= start < end:
            return content[:start] + head + b"\nstream\n" + stream + b"\n" + content[end:]
    if draw.random() < 0.3:
        own, other = b"%d 0 R" % draw.randint(1, 6), b"%d 0 R" % draw.randint(0, 9)
        return content.replace(own, other)
    return tokens(content, draw)


# ---------------------------------------------------------------------------------------------- SQLite


def database(name: str, content: bytes, draw: Random) -> bytes:
    """An SQLite file with other values, columns, tables or another version."""
    with tempfile.NamedTemporaryFile(suffix=".sqlite") as file:
        file.write(content)
        file.flush()
        with suppress(sqlite3.Error, UnicodeError, IndexError), closing(sqlite3.connect(file.name)) as connection:
            names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            _changed_table(connection, draw.choice(names), draw)
            connection.commit()
            return Path(file.name).read_bytes()
    return draw.choice(TO_BYTES)(content, draw.randrange(100_000), draw.randrange(100_000))


def _changed_table(connection: sqlite3.Connection, name: str, draw: Random) -> None:
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
    column = draw.choice(columns)
    kind = draw.randrange(8)
    if kind <= 3:
        value = draw.choice(
            (None, b"", b"\xff\xfe", "x", "", -1, 1.5, 2**63 - 1, "x" * 10_000, b"\x91" * 5000, "a\x1b[0m")
        )
        connection.execute(f"UPDATE OR REPLACE {name} SET {column} = ?", (value,))
    elif kind == 4:
        connection.execute(f"ALTER TABLE {name} RENAME COLUMN {column} TO other")
    elif kind == 5:
        connection.execute(f"DROP TABLE {name}")
        if draw.random() < 0.5:
            connection.execute(f"CREATE VIEW {name} AS SELECT 1 AS key, 'x' AS checksum, 2 AS value")
    elif kind == 6:
        connection.execute(f"PRAGMA user_version = {draw.choice((0, 1, 2, 99, -1))}")
    else:
        connection.execute(f"CREATE TRIGGER t BEFORE INSERT ON {name} BEGIN SELECT RAISE(ABORT, 'no'); END")


_BY_START: tuple[tuple[bytes, Callable[[str, bytes, Random], bytes]], ...] = (
    (b"\x1f\x8b", packed),
    (b"\x28\xb5\x2f\xfd", packed),
    (b"PAR1", column),
    (b"%PDF-", pdf),
    (b"SQLite format 3\x00", database),
)
