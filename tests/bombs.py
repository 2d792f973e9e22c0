"""Small files that would become large: `python -m tests.bombs` has karat read each, and prints what it took.

Compressed files are made of members (gzip) and frames (zstd) that repeat, so that making them takes no time.
"""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

DOCUMENT = b'{"id": "d1", "text": "'
PIECE = 1 << 26  # 64 MB


@dataclass(frozen=True, slots=True)
class Bomb:
    """A file, what it holds, how karat is to read it, and the limit that stops it; "" where it is another rule."""

    name: str
    about: str
    make: Callable[[Path], object]
    limit: str = ""
    verb: tuple[str, ...] = ("score",)  # followed by the file
    after: tuple[str, ...] = ("run.jsonl",)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a bomb."""

    code: int
    sentence: str
    seconds: float  # of the processor
    megabytes: int  # at most, of the process


def gz(begin: bytes, fill: bytes, pieces: int) -> bytes:
    """A gzip file of a beginning and pieces of 64 MB."""
    return gzip.compress(begin) + gzip.compress(fill * (PIECE // len(fill))) * pieces


def zst(begin: bytes, fill: bytes, pieces: int) -> bytes:
    """A zstd file of a beginning and pieces of 64 MB."""
    import zstandard

    pack = zstandard.ZstdCompressor().compress
    return bytes(pack(begin) + pack(fill * (PIECE // len(fill))) * pieces)


def one_frame(begin: bytes, fill: bytes, pieces: int) -> bytes:
    """A zstd file that is one frame: 131 kB that are 4 GB."""
    import zstandard

    out, piece = io.BytesIO(), fill * (PIECE // len(fill))
    with zstandard.ZstdCompressor().stream_writer(out, closefd=False) as packing:
        packing.write(begin)
        for _ in range(pieces):
            packing.write(piece)
    return out.getvalue()


def packed(name: str) -> bytes:
    """A zip archive with a file that says to have 4 GB; 64 MB are there, so that making it takes no time."""
    import zipfile

    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr(name, b" " * PIECE)
    content = bytearray(made.getvalue())
    at = content.rfind(b"PK\x01\x02") + 24  # of the size in the directory at the end
    content[at : at + 4] = (0xFFFFFFFE).to_bytes(4, "little")
    return bytes(content)


def parquet(path: Path, size: int, rows: int, compression: str) -> None:
    """A table whose last text is of a size."""
    import pyarrow
    from pyarrow.parquet import write_table

    texts = ["a short text"] * (rows - 1) + ["a" * size]
    columns = {"id": [str(i) for i in range(rows)], "text": texts, "keyphrases": [["a"]] * rows}
    write_table(pyarrow.table(columns), path, compression=compression, use_dictionary=False, write_statistics=False)


def laughs() -> str:
    """XML whose entities are made of entities."""
    entities = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    return f'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY l0 "lol">{entities}]><r>&l9;</r>'


def pdf(content: bytes, pages: int = 1) -> bytes:
    """A PDF whose pages all draw the same."""
    packed = zlib.compress(content, 9)
    font = b"<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%s]/Count %d>>" % (b" ".join([b"3 0 R"] * pages), pages),
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources%s>>" % font,
        b"<</Filter/FlateDecode/Length %d>>stream\n%s\nendstream" % (len(packed), packed),
    ]
    made, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % len(made)
    return made + b"xref\n0 5\n0000000000 65535 f \n" + table + end


TEXT = b"BT /F1 9 Tf (bees) Tj ET\n"
# The most memory that wait4 tells is at least that of the process which started this one; that of /proc is its own.
WATCHED = """
import atexit

def note_peak():
    with open("/proc/self/status") as status, open("peak", "w") as peak:
        peak.write(next(line for line in status if line.startswith("VmHWM")))

atexit.register(note_peak)
from karat.__main__ import main
main()
"""
PREDICT: tuple[str, ...] = ("predict", "firstphrases")

MANY = 15_000_000


def counted(begin: bytes, fill: bytes, end: bytes, count: int = MANY) -> bytes:
    """A gzip file of a beginning, a piece that repeats, and an end: 58 kB that are 15 million phrases on one line."""
    return gzip.compress(begin) + gzip.compress(fill * 10**6) * (count // 10**6) + gzip.compress(end)


def many(
    name: str, about: str, parts: tuple[bytes, bytes, bytes], limit: str, count: int = MANY, *, run: bool = False
) -> Bomb:
    """A document of very many phrases, references, tokens or values, below the limits of sizes."""
    verb = ("score", "corpus.jsonl") if run else ("describe",)
    return Bomb(name, about, lambda path: path.write_bytes(counted(*parts, count)), limit, verb, ())


KEYS = (b'{"id": "d1", "text": "a", "keyphrases": [', b'"a",', b'"a"]}\n')
RIS = b"TY  - JOUR\nID  - d1\nTI  - a\n"
COUNTS = [
    many("references.jsonl.gz", "15,000,000 references on one line", KEYS, "values"),
    many("phrases.jsonl.gz", "15,000,000 phrases on one line", KEYS, "values", run=True),
    many("item.json.gz", "15,000,000 references in a list", (b"[" + KEYS[0], b'"a",', b'"a"]}]'), "values"),
    many("items.json.gz", "15,000,000 empty records", (b"[", b"{},", b"{}]"), "values"),
    many(
        "entry.json.gz", "10,000,000 references in an object", (b'{"d1":\n [', b'["a"],', b'["a"]]}'), "values", 10**7
    ),
    many(
        "joined.jsonl.gz",
        "15,000,000 phrases in a string",
        (b'{"id": "d1", "title": "a", "abstract": "a", "keywords": "', b"a;", b'a"}\n'),
        "phrases",
    ),
    many(
        "phrases.csv.gz",
        "7,000,000 phrases in a cell",
        (b"id,text,keyphrases\nd1,a,", b"a;", b"a\n"),
        "phrases",
        7 * 10**6,
    ),
    many("cells.csv.gz", "15,000,000 cells", (b"id,text,keyphrases\nd1,a,", b"a,", b"a\n"), "values"),
    many(
        "printed.tsv.gz",
        "3,000,000 phrases in a list as numpy prints it",
        (b"id\ttext\tkeyphrases\nd1\ta\t[", b"'a' ", b"]\n"),
        "values",
        3 * 10**6,
    ),
    many("lines.txt.gz", "15,000,000 phrases on a line", (b"", b"a;", b"a\n"), "phrases", run=True),
    many("answers.final.gz", "15,000,000 references", (b"C-1 : ", b"a,", b"a\n"), "phrases"),
    many("variants.final.gz", "15,000,000 variants", (b"C-1 : ", b"a+", b"a\n"), "phrases"),
    many("lines.ris.gz", "15,000,000 lines of keywords", (RIS, b"KW  - a\n", b"ER  - \n"), "phrases"),
    many("line.ris.gz", "15,000,000 keywords on a line", (RIS + b"KW  - ", b"a;", b"a\nER  - \n"), "phrases"),
    many("entry.bib.gz", "15,000,000 keywords", (b"@article{d1, title={a}, keywords={", b"a,", b"a}}"), "phrases"),
    many(
        "graph.jsonld.gz",
        "15,000,000 keywords",
        (b'{"@context": "https://schema.org", "@type": "Article", "@id": "d1", "keywords": [', b'"a",', b'"a"]}\n'),
        "values",
    ),
    many(
        "tokens.xml.gz",
        "5,000,000 tokens",
        (
            b'<root><document><sentences>\n<sentence id="1"><tokens>',
            b'<token id="1"><word>a</word><POS>N</POS></token>',
            b"</tokens></sentence></sentences></document></root>",
        ),
        "tokens",
        5 * 10**6,
    ),
    many("tokens.jsonl.gz", "10,000,000 tokens", (DOCUMENT, b"a ", b'", "keyphrases": ["a"]}\n'), "text", 10**7),
    Bomb(
        "columns.trec.gz",
        "15,000,000 columns",
        lambda path: path.write_bytes(counted(b"q1 Q0 ", b"a ", b"1\n")),
        "",
        ("retrieval", "corpus.jsonl", "queries.tsv"),
        (),
    ),
]
BOMBS = [
    Bomb("line.jsonl.zst", "a line of 4 GB", lambda p: p.write_bytes(one_frame(DOCUMENT, b"a", 64)), "line"),
    Bomb("frames.jsonl.zst", "a line of 4 GB in frames", lambda p: p.write_bytes(zst(DOCUMENT, b"a", 64)), "line"),
    Bomb("line.jsonl.gz", "a line of 2 GB", lambda p: p.write_bytes(gz(DOCUMENT, b"a", 32)), "line"),
    Bomb(
        "second.jsonl.gz",
        "a second line of 2 GB",
        lambda p: p.write_bytes(gz(b'{"id": "d0", "text": "a", "keyphrases": ["a"]}\n' + DOCUMENT, b"a", 32)),
        "line",
    ),
    Bomb("list.json.gz", "2 GB of empty lists", lambda p: p.write_bytes(gz(b"[", b"[],[],[],", 32)), "line"),
    Bomb("blank.jsonl.zst", "4 GB of blanks", lambda p: p.write_bytes(one_frame(b"", b" ", 64)), "line"),
    Bomb(
        "cell.csv.gz",
        "a cell of 2 GB",
        lambda p: p.write_bytes(gz(b'id,keyphrases\nd1,"', b"a" * 79 + b"\n", 32)),
        "cell",
    ),
    Bomb(
        "words.docx",
        "a document of 4 GB",
        lambda p: p.write_bytes(packed("word/document.xml")),
        "unpacked",
        PREDICT,
        (),
    ),
    Bomb("sheet.xlsx", "a sheet of 4 GB", lambda p: p.write_bytes(packed("xl/worksheets/sheet1.xml")), "unpacked"),
    Bomb("text.txt.zst", "a text of 4 GB", lambda p: p.write_bytes(one_frame(b"A", b"a", 64)), "file", PREDICT, ()),
    Bomb(
        "model.zst",
        "a model of 4 GB",
        lambda p: p.write_bytes(one_frame(b"{", b" ", 64)),
        "file",
        ("predict", "kea,model=FILE"),
        ("run.jsonl",),
    ),
    Bomb(
        "scores.karat",
        "results of 2 GB",
        lambda p: p.write_bytes(gz(b"\x83", b"\0", 32)),
        "file",
        ("results", "merge"),
        ("-o", "all.karat"),
    ),
    Bomb("cell.parquet", "a cell of 1 GB", lambda p: parquet(p, 10**9, 1, "zstd"), "cell"),
    Bomb("last.parquet", "a cell of 1 GB among 1,000", lambda p: parquet(p, 10**9, 1000, "zstd"), "cell"),
    Bomb("snappy.parquet", "a cell of 1 GB among 100", lambda p: parquet(p, 10**9, 100, "snappy"), "cell"),
    Bomb(
        "nested.jsonl",
        "a million lists in each other",
        lambda p: p.write_text('{"a": ' + "[" * 10**6 + "]" * 10**6 + "}\n"),
    ),
    *COUNTS,
    Bomb("deep.json", "fifty million brackets", lambda p: p.write_bytes(b"[" * (5 * 10**7))),
    Bomb(
        "levels.jsonl",
        "500 levels",
        lambda p: p.write_text('{"abstract": "a", "keywords": ' + "[" * 500 + "]" * 500 + "}\n"),
    ),
    Bomb("digits.jsonl", "a number of 1,000 digits", lambda p: p.write_text('{"doc": ' + "9" * 1000 + "}\n"), "digits"),
    Bomb("laughs.xml", "a billion laughs", lambda p: p.write_text(laughs())),
    Bomb("stream.pdf", "a page of 1 GB", lambda p: p.write_bytes(pdf(b" " * 10**9)), "drawing", PREDICT, ()),
    Bomb("pages.pdf", "100,000 pages", lambda p: p.write_bytes(pdf(TEXT, 100_000)), "pages", PREDICT, ()),
    Bomb(
        "drawn.pdf",
        "a page that draws 2,000,000 times",
        lambda p: p.write_bytes(pdf(TEXT * 500_000)),
        "drawing",
        PREDICT,
        (),
    ),
]


def explode(bomb: Bomb, folder: Path) -> Outcome:
    """Makes a bomb and has karat read it, in a process of its own."""
    path = folder / bomb.name
    make = get_context("fork").Process(
        target=bomb.make, args=(path,)
    )  # the most memory of a process counts for those that it starts
    make.start()
    make.join()
    assert make.exitcode == 0
    (folder / "run.jsonl").write_text('{"id": "d1", "keyphrases": ["a"]}\n')
    (folder / "corpus.jsonl").write_text('{"id": "d1", "text": "a b", "keyphrases": ["a"]}\n')
    (folder / "queries.tsv").write_text("q1\ta\n")
    words = [word.replace("FILE", bomb.name) for word in bomb.verb]
    files = [] if any("FILE" in word for word in bomb.verb) else [bomb.name]
    with (folder / "said").open("w+") as said:
        process = subprocess.Popen(
            [sys.executable, "-c", WATCHED, *words, *files, *bomb.after], cwd=folder, stdout=said, stderr=said
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    sentence, peak = (folder / "said").read_text().strip(), (folder / "peak").read_text()
    return Outcome(process.returncode, sentence, used.ru_utime + used.ru_stime, int(peak.split()[1]) // 1024)


def outcomes(folder: Path) -> Iterator[tuple[Bomb, int, Outcome]]:
    """(bomb, bytes of its file, outcome) of all, one after the other; the files are removed."""
    for bomb in BOMBS:
        found = explode(bomb, folder)
        size = (folder / bomb.name).stat().st_size
        (folder / bomb.name).unlink()
        yield bomb, size, found


def main() -> int:
    """Prints a line for each; the exit code is 1 where one is not refused, takes more than 5 s or more than 500 MB."""
    failed = 0
    print(f"{'file':17} {'bytes':>11} {'seconds':>7} {'MB':>5}  what karat said")
    with tempfile.TemporaryDirectory() as folder:
        for bomb, size, found in outcomes(Path(folder)):
            fine = found.code == 2 and found.seconds < 5 and found.megabytes < 500
            failed += not fine
            rest = "" if fine else "  <- FAILED"
            print(
                f"{bomb.name:17} {size:11,} {found.seconds:7.1f} {found.megabytes:5}  {found.sentence[:120]}{rest}",
                flush=True,
            )
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
