"""Whatever is done to a file of any format, it is read, or refused in one sentence that names it.

The samples are damaged thousands of times, each time otherwise; KARAT_EXAMPLES=2000 does it more often.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

import karat
from karat.formats import FORMATS, sniff
from karat.formats.head import Head
from karat.inert import inert
from tests.formats.samples import PACKINGS, SAMPLES, Sample

EXAMPLES = int(os.environ.get("KARAT_EXAMPLES", "150"))  # of each sample
LEAST_THROWN = 5000
LONGEST_MESSAGE = 600  # characters, without the paths that it names
BY_NAME = {sample.name: sample for sample in SAMPLES}

Files = dict[str, bytes | None]  # None is a folder of that name


# ---------------------------------------------------------------------------------------------- well-formed samples


def put(folder: Path, files: Mapping[str, bytes | None]) -> None:
    """Makes the files the only ones in a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.mkdir()
        else:
            path.write_bytes(content)


def test_every_format_has_samples_of_its_corpora_and_of_its_runs() -> None:
    there = {(sample.format, role) for sample in SAMPLES for role in sample.roles}

    assert there == {
        (form.name, role) for form in FORMATS.values() for role in ("corpus", "run") if getattr(form, role) is not None
    }


@pytest.mark.parametrize("name", BY_NAME)
def test_a_sample_is_told_from_others_and_read(name: str, tmp_path: Path) -> None:
    sample = BY_NAME[name]
    put(tmp_path / "x", sample.files)
    path = sample.path.replace("{}", str(tmp_path / "x"))

    for role in sample.roles:
        assert sniff(Head(path, role)).name == (sample.sniffed or sample.format)
        read: Any = karat.read if role == "corpus" else karat.read_run
        by_name = list(read(path, format=sample.format))
        assert by_name
        assert any(record.keyphrases for record in by_name)
        assert sample.sniffed or list(read(path)) == by_name


# ---------------------------------------------------------------------------------------------- damage to bytes


def cut_off(content: bytes, a: int, b: int) -> bytes:
    return content[: a % (len(content) + 1)]


def beginning_cut_off(content: bytes, a: int, b: int) -> bytes:
    return content[a % (len(content) + 1) :]


def flipped(content: bytes, a: int, b: int) -> bytes:
    at = a % max(1, len(content))
    return content[:at] + bytes([byte ^ (b % 255 + 1) for byte in content[at : at + 1]]) + content[at + 1 :]


def deleted(content: bytes, a: int, b: int) -> bytes:
    start, end = part(content, a, b)
    return content[:start] + content[end:]


def doubled(content: bytes, a: int, b: int) -> bytes:
    start, end = part(content, a, b)
    return content[:end] + content[start:]


def inserted(content: bytes, a: int, b: int) -> bytes:
    at = a % (len(content) + 1)
    return content[:at] + MARKS[b % len(MARKS)] + content[at:]


def spliced(content: bytes, a: int, b: int) -> bytes:
    other = next(iter(SAMPLES[b % len(SAMPLES)].files.values()))
    start, end = part(content, a, b)
    from_, to = part(other, b, a)
    return content[:start] + other[from_:to] + content[end:]


def part(content: bytes, a: int, b: int) -> tuple[int, int]:
    start = a % (len(content) + 1)
    return start, min(len(content), start + 1 + b % 61)


def lines_swapped(content: bytes, a: int, b: int) -> bytes:
    lines = content.split(b"\n")
    one, two = a % len(lines), b % len(lines)
    lines[one], lines[two] = lines[two], lines[one]
    return b"\n".join(lines)


def line_repeated(content: bytes, a: int, b: int) -> bytes:
    """The line again, and with it the id."""
    lines = content.split(b"\n")
    lines.insert(b % len(lines), lines[a % len(lines)])
    return b"\n".join(lines)


def encoded_otherwise(content: bytes, a: int, b: int) -> bytes:
    text = content.decode(errors="replace")
    return text.encode(ENCODINGS[a % len(ENCODINGS)], errors="replace")


def marked_by_a_bom(content: bytes, a: int, b: int) -> bytes:
    return b"\xef\xbb\xbf" * (1 + a % 2) + content


def ended_otherwise(content: bytes, a: int, b: int) -> bytes:
    return content.replace(b"\n", (b"\r\n", b"\r", b"\n\n", b"", b"\n \n", b"\x0c\n")[a % 6])


MARKS = (
    b"\x00", b"\xff", b"\x80", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\r", b"\n", b"\r\n", b"\t",
    b"\x1a", b"\x0c", "\x85".encode(), "\u2028".encode(), "\ufeff".encode(), b" ", b'"', b"'", b"\\", b"\\ud800",
    b"\\u0000", b"{", b"}", b"[", b"]", b",", b":", b";", b"+", b"<", b">", b"&#0;", b"&x;", b"<eos>", b"<peos>",
    b"[sep]", b"null", b"NaN", b"1e999", b"-", b"9" * 5000, b"[" * 2000, b'{"a":' * 2000, b"x" * 10_000, b"; " * 500,
    b'<!DOCTYPE r [<!ENTITY x "y">]>', b'<?xml version="1.0" encoding="x"?>', b"PAR1", b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd", b"C-1 : ",
)  # fmt: skip
ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252", "utf-7", "ascii", "shift-jis")


# ---------------------------------------------------------------------------------------------- damage to values

HOLE = "a hole to be filled"


def value_replaced(content: bytes, a: int, b: int) -> bytes:
    """Another value in one place: of JSON, of a column of Parquet, of the text of a line."""
    if content.startswith(b"PAR1"):
        return column_replaced(content, a, b)
    lines = content.split(b"\n")
    at = a % len(lines)
    for before, text, after in (
        (b"", content, b""),
        (b"\n".join([*lines[:at], b""]), lines[at], b"\n".join([b"", *lines[at + 1 :]])),
    ):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        places = list(places_in(value))
        if places:
            holder, key = places[a % len(places)]
            holder[key] = HOLE
            odd = VALUES[b % len(VALUES)]
            return before + json.dumps(value).encode().replace(json.dumps(HOLE).encode(), odd) + after
    pieces = re.split(rb"([,;\t\n:<>\"]+)", content)
    pieces[a % len(pieces)] = VALUES[b % len(VALUES)]
    return b"".join(pieces)


def field_renamed(content: bytes, a: int, b: int) -> bytes:
    """Another name of a field or column, wherever it occurs."""
    names = [name for name in FIELDS if name and name in content]
    return content.replace(names[a % len(names)], FIELDS[b % len(FIELDS)]) if names else deleted(content, a, b)


def places_in(value: Any) -> Iterator[tuple[Any, Any]]:
    for key, held in enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ():
        yield value, key
        if not isinstance(held, str):
            yield from places_in(held)


def column_replaced(content: bytes, a: int, b: int) -> bytes:
    try:
        table = parquet.read_table(io.BytesIO(content))
        names = table.column_names
    except Exception:  # damaged before
        return flipped(content, a, b)
    odd = COLUMNS[b % len(COLUMNS)]
    at = a % max(1, len(names))
    name = names[at] if names else "text"
    values = (odd * (table.num_rows + 1))[: table.num_rows]
    made = io.BytesIO()
    table = table.remove_column(at) if names else table
    parquet.write_table(table.add_column(at, name, pyarrow.array(values)), made)
    return made.getvalue()


VALUES = (
    b"null", b"true", b"false", b"0", b"-1", b"-0.0", b"1.5", b"1e308", b"1e400", b"-1e-400", b"9" * 30,
    b"-" + b"9" * 400, b"9" * 5000, b"0." + b"3" * 5000, b"NaN", b"Infinity", b"-Infinity", b'""', b'" "', b'"a;b"',
    b'"\\ud800"', b'"a\\udc00b"', b'"\\ud83d\\ude00"', b'"\\u0000"', b'"\\n\\r\\u0085\\u2028"', b'"\x00"', b'"\n"',
    b'"\\x"', b'"[]"', b'"[[1, null]]"', b'"[\\"\\\\ud800\\"]"', b'"{}"', b"[]", b"{}", b"[[]]", b"[null]",
    b'["a", 1]', b'[["a", ["b"]]]', b'[{"a": 1}]', b"[0.5]", b"[[0.5], null]", b'["present", "neither"]', b'{"a": 1}',
    b'{"a": {"b": ["c"]}}', b'{"": []}', b'{"a": ["b"], "a": ["c"]}', b"[" * 60 + b"]" * 60, b"[" * 450 + b"]" * 450,
    b"[" * 980 + b"]" * 980, b"[" * 100_000 + b"]" * 100_000, b"[" * 100_000, b'{"a":' * 300 + b"1" + b"}" * 300,
    b'{"a":' * 990 + b"1" + b"}" * 990, b'"' + b"[" * 900 + b"]" * 900 + b'"', b'"' + b"x" * 100_000 + b'"',
    b'"' + b"x y; " * 20_000 + b'"', b'["' + b"x" * 5000 + b'", "' + b"\\n" * 1000 + b'"]',
    b"[" + b'"a",' * 3000 + b'"b"]', b'{"' + b"k" * 5000 + b'": "v"}', b'{"a\\nb": ["c"]}', b'"2020-01-01T00:00:00Z"',
    b"tru",
)  # fmt: skip
COLUMNS: tuple[list[Any], ...] = (
    [None], [True, False], [1, -(2**63)], [1.5, float("nan"), float("inf")], [b"\xff\xfe", b"a"], [""],
    ["a;b", "x" * 100_000], [Decimal("1e30"), None], [datetime(2020, 1, 1)], [[None]], [[]], [["a", None]], [[1, 2]],
    [[["a"], ["b", "c"]]], [{"a": 1}], [{"a": ["b"]}], [[{"a": 1}]], ["[" * 900], ["\x00\n"], ['{"a": 1}'],
    [{"x": {"y": [b"\xff"]}}],
)  # fmt: skip
FIELDS = (
    b"id", b"title", b"text", b"keyphrases", b"scores", b"token_probs", b"token_logprobs", b"kinds",
    b"reference_sets", b"abstract", b"keyword", b"keywords", b"question", b"tags", b"categories", b"date", b"source",
    b"target", b"predictions", b"prediction", b"url", b"KeyPhrases", b"Scores", b"pred_sents", b"pred_scores",
    b"topseq_pred_sents", b"document", b"doc_bio_tags", b"extractive_keyphrases", b"abstractive_keyphrases",
    b"paper_id", b"sections", b"sec_text", b"sec_bio_tags", b"prmu", b"word", b"sentence", b"root", b"features",
    b"_data_files", b"filename", b"_type", b"a\\nb", b"", b"x" * 1000,
)  # fmt: skip


# ---------------------------------------------------------------------------------------------- damage to folders


def file_missing(files: Files, name: str, b: int) -> Files:
    return {other: content for other, content in files.items() if other != name}


def file_renamed(files: Files, name: str, b: int) -> Files:
    return file_missing(files, name, b) | {str(Path(name).with_name(NAMES[b % len(NAMES)])): files[name]}


def file_of_another(files: Files, name: str, b: int) -> Files:
    """The content of another sample in the place of the file."""
    other = SAMPLES[b % len(SAMPLES)].files
    return {**files, name: other[sorted(other)[b % len(other)]]}


def file_added(files: Files, name: str, b: int) -> Files:
    added = f"{'more/' * (b % 2)}{NAMES[b % len(NAMES)]}"
    return files if added in files else {**files, added: files[name]}


def file_twice(files: Files, name: str, b: int) -> Files:
    """The file in another folder too, and with it the id."""
    return {**files, f"{('again', 'test', 'keys', 'docs', 'texts')[b % 5]}/{Path(name).name}": files[name]}


def folder_for_file(files: Files, name: str, b: int) -> Files:
    return {**files, name: None}


NAMES = (
    "C-1.xml", "H-12.txt.final", "x.xml.gz", "test.reader.json", "test.combined.final", "combined.final", "a.key",
    "b.key.zst", "a.txt", "193.abstr", "193.contr", "195.uncontr", "x.jsonl", "x.json", "x.csv", "x.tsv", "x.parquet",
    "x.pred", "x.final", "README.txt", "dataset_dict.json", "state.json", "dataset_info.json", ".hidden.key", ".key",
    " .txt", "a\nb.key", "a\nb.final", "\udcff.key", "\udcff.xml", "ü" * 100 + ".key", "x" * 240 + ".json", "x=y.key",
    "x;y.uncontr", "test..final", "-",
)  # fmt: skip


# ---------------------------------------------------------------------------------------------- throwing them

TO_BYTES: tuple[Callable[[bytes, int, int], bytes], ...] = (
    cut_off, beginning_cut_off, flipped, deleted, doubled, inserted, inserted, spliced, lines_swapped, line_repeated,
    encoded_otherwise, marked_by_a_bom, ended_otherwise, value_replaced, value_replaced, value_replaced,
    value_replaced, field_renamed, field_renamed,
)  # fmt: skip
TO_FOLDERS: tuple[Callable[[Files, str, int], Files], ...] = (
    file_missing, file_renamed, file_of_another, file_added, file_twice, folder_for_file,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Blow:
    """What is done to which of the files: two numbers say where and how; of a packed file the inside may be hit."""

    kind: Any
    file: int
    a: int
    b: int
    inside: bool

    def strike(self, files: Files) -> Files:
        """The files after the blow."""
        if not files:
            return files
        name = sorted(files)[self.file % len(files)]
        if self.kind in TO_FOLDERS:
            made: Files = self.kind(files, name, self.b)
            return made
        content = files[name]
        return {**files, name: None if content is None else self._hit(name, content)}

    def _hit(self, name: str, content: bytes) -> bytes:
        packing = PACKINGS.get(Path(name).suffix)
        if packing is not None and self.inside:
            pack, unpack = packing
            try:
                return pack(self.kind(unpack(content), self.a, self.b))
            except Exception:  # damaged before
                pass
        made: bytes = self.kind(content, self.a, self.b)
        return made


def blows(sample: Sample, draw: Random) -> list[Blow]:
    kinds = [*TO_BYTES, *TO_FOLDERS] if len(sample.files) > 1 else [*TO_BYTES, file_renamed, folder_for_file]
    return [
        Blow(
            draw.choice(kinds),
            draw.randrange(12),
            draw.randrange(100_000),
            draw.randrange(100_000),
            draw.random() < 0.5,
        )
        for _ in range(draw.randint(1, 4))
    ]


def path_of(sample: Sample, files: Files) -> str:
    """The path that is read; where a file stands alone, it is read by the name that it has now."""
    return f"{{}}/{next(iter(files))}" if len(sample.files) == 1 and not sample.given else sample.path


def check_refusal(error: karat.InputError, path: str) -> None:
    """The message is one line, not too long, and names the path or one of those that are joined in it."""
    said = str(error)
    parts = [inert(part).strip() for part in path.split("+")]
    assert any(part in said for part in parts), said[:2000]
    for part_ in parts:
        said = said.replace(part_, "")
    assert len(said.splitlines()) == 1, said[:2000]
    assert len(said) <= LONGEST_MESSAGE, said[:2000]


def read_or_refused(path: str, **how: str) -> karat.Corpus | None:
    """The corpus, if it could be read to its end; as a run it is read too."""
    corpus: karat.Corpus | None = None
    try:
        run = karat.read_run(path, **how)
        assert len(run.ids) == sum(1 for _ in run)
    except karat.InputError as error:
        check_refusal(error, path)
    try:
        corpus = karat.read(path, **how)
        assert len(corpus.ids) == sum(1 for _ in corpus)
    except karat.InputError as error:
        check_refusal(error, path)
        return None
    return corpus


def score_or_refuse(corpus: karat.Corpus) -> None:
    """Scores the corpus against predictions for the same ids."""
    predictions = [karat.Prediction(id=identifier, keyphrases=["swarm", "x"]) for identifier in corpus.ids]
    with suppress(karat.InputError):
        karat.score(corpus, karat.Run.of(predictions), metrics=["f1@5:present"])


FIELDS_GIVEN = ("id=id,text=text,keyphrases=keyphrases", "id=paper_id,title=title,keyphrases=keyword,separator=,")
WAYS = [*({"format": name} for name in FORMATS), *({"fields": fields} for fields in FIELDS_GIVEN)]
thrown: dict[str, set[int]] = {}  # by sample, what its damaged files were


def throw(sample: Sample, folder: Path) -> None:
    """Reads the sample in EXAMPLES damaged forms: sniffed, as what it was, and as something else."""
    seen, draw = thrown.setdefault(sample.name, set()), Random(sample.name)
    for _ in range(EXAMPLES):
        all_blows, way = blows(sample, draw), draw.choice(WAYS)
        try:
            read_damaged(sample, all_blows, way, folder, seen)
        except Exception as error:
            raise AssertionError(f"{all_blows} {way}") from error


def read_damaged(sample: Sample, all_blows: list[Blow], way: dict[str, str], folder: Path, seen: set[int]) -> None:
    files: Files = dict(sample.files)
    for blow in all_blows:
        files = blow.strike(files)
    content = hash(tuple(files.items()))
    if files == sample.files or content in seen:
        return
    put(folder, files)
    path = path_of(sample, files).replace("{}", str(folder))
    corpus = read_or_refused(path)
    if corpus is not None:
        score_or_refuse(corpus)
    read_or_refused(path, format=sample.format)
    read_or_refused(path, **way)
    seen.add(content)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The one folder into which all files are thrown."""
    return tmp_path_factory.mktemp("thrown") / "x"


@pytest.mark.parametrize("name", BY_NAME)
def test_a_damaged_sample_is_read_or_refused_in_one_sentence_that_names_it(name: str, folder: Path) -> None:
    throw(BY_NAME[name], folder)


def test_thousands_of_files_were_thrown(folder: Path) -> None:
    for sample in SAMPLES:
        if sample.name not in thrown:  # as when this test is run alone
            throw(sample, folder)

    assert sum(map(len, thrown.values())) >= LEAST_THROWN
