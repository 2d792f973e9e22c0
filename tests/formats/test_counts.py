"""Limits on counts: phrases, references, tokens and values beyond them are refused in every format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

import karat
from karat.corpus import Document, Prediction, check_counts
from karat.errors import InputError
from karat.formats import read, read_run
from karat.formats.files import line_starts
from karat.formats.json_bytes import check_keys, check_values, repeated_key
from karat.limits import Limits

SIX = ["a", "b", "c", "d", "e", "f"]
LISTED = ",".join(f'"{phrase}"' for phrase in SIX)
NESTED = ",".join(f'["{phrase}"]' for phrase in SIX)
WORD = "<token><word>a</word><POS>N</POS></token>"
XML = f"<root><document><sentences>\n<sentence>{WORD * 6}</sentence></sentences></document></root>"

# The name of a file, what it holds: a document of six phrases, or of six tokens.
CORPORA = {
    "karat.jsonl": f'{{"id": "d1", "text": "a", "keyphrases": [{LISTED}]}}\n',
    "variants.jsonl": f'{{"id": "d1", "text": "a", "keyphrases": [[{LISTED}]]}}\n',
    "sets.jsonl": f'{{"id": "d1", "text": "a", "reference_sets": {{"x": [{LISTED}]}}}}\n',
    "list.json": f'[{{"id": "d1", "text": "a", "keyphrases": [{LISTED}]}}]',
    "kp20k.jsonl": '{"id": "d1", "title": "a", "abstract": "a", "keywords": "a;b;c;d;e;f"}\n',
    "openkp.jsonl": f'{{"url": "d1", "text": "a", "KeyPhrases": [{NESTED}]}}\n',
    "ake.json": f'{{"d1":\n [{NESTED}]}}\n',
    "table.csv": "id,text,keyphrases\nd1,a,a;b;c;d;e;f\n",
    "printed.csv": "id,text,keyphrases\nd1,a,['a' 'b' 'c' 'd' 'e' 'f']\n",
    "table.tsv": f"id\ttext\tkeyphrases\nd1\ta\t[{LISTED}]\n",
    "answers.final": "C-1 : a,b,c,d,e,f\n",
    "variants.final": "C-1 : a+b+c+d+e+f\n",
    "records.ris": "TY  - JOUR\nID  - d1\nTI  - a\n" + "".join(f"KW  - {each}\n" for each in SIX) + "ER  - \n",
    "joined.ris": "TY  - JOUR\nID  - d1\nTI  - a\nKW  - a;b;c;d;e;f\nER  - \n",
    "entries.bib": "@article{d1, title = {a}, keywords = {a, b, c, d, e, f}}\n",
    "graph.jsonld": '{"@context": "https://schema.org", "@type": "Article", "@id": "d1", "name": "a",\n'
    f' "keywords": [{LISTED}]}}\n',
}
RUNS = {
    "karat.jsonl": f'{{"id": "d1", "keyphrases": [{LISTED}]}}\n',
    "list.json": f'[{{"id": "d1", "keyphrases": [{LISTED}]}}]',
    "ake.json": f'{{"d1":\n [{NESTED}]}}\n',
    "table.csv": "id,keyphrases\nd1,a;b;c;d;e;f\n",
    "lines.txt": "a;b;c;d;e;f\n",
    "answers.final": "C-1 : a,b,c,d,e,f\n",
}


@pytest.mark.parametrize(
    ("reader", "name", "content"),
    [
        *((read, name, content) for name, content in CORPORA.items()),
        *((read_run, name, content) for name, content in RUNS.items()),
    ],
)
def test_a_document_has_as_many_phrases_as_the_limit_and_no_more(
    reader: Callable[..., object], name: str, content: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(content)

    with karat.limit(phrases=6, references=6):
        assert len(list(reader(path))) == 1  # type: ignore[call-overload]
    with (
        karat.limit(phrases=5, references=5),
        pytest.raises(InputError, match=rf"{name}.*: the document has more than 5 (phrases|references); if that is"),
    ):
        list(reader(path))  # type: ignore[call-overload]


def test_a_folder_has_as_many_phrases_of_a_document_as_the_limit(tmp_path: Path) -> None:
    (tmp_path / "d1.txt").write_text("a b\n")
    (tmp_path / "d1.key").write_text("\n".join(SIX) + "\n")

    with karat.limit(phrases=6, references=6):
        assert [len(document.keyphrases or []) for document in read(tmp_path)] == [6]
    with karat.limit(phrases=5, references=5), pytest.raises(InputError, match=r"d1\.key: the document has more than"):
        list(read(tmp_path))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])  # of the first, tags are counted before they are parsed
@pytest.mark.parametrize("name", ["corenlp", "ake"])
def test_tokens_of_xml_are_counted(name: str, encoding: str, tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "d1.xml").write_text(XML, encoding=encoding)
    (tmp_path / "refs.json").write_text('{"d1": [["a"]]}')
    path = f"{tmp_path}/texts+{tmp_path}/refs.json"

    with karat.limit(tokens=7):  # a sentence counts, too
        assert len(list(read(path, format=name))) == 1
    with karat.limit(tokens=5), pytest.raises(InputError, match=r"d1\.xml: the document has more than 5 tokens"):
        list(read(path, format=name))


@pytest.mark.parametrize("name", ["corenlp", "ake"])
def test_tokens_of_xml_are_counted_before_it_is_parsed(name: str, tmp_path: Path) -> None:
    (tmp_path / "d1.xml").write_text(XML.replace(">", ">>", 1).replace("<", "<<", 1))

    with pytest.raises(InputError, match=r"d1\.xml:1: not XML"):
        list(read(tmp_path, format=name))
    with karat.limit(tokens=5), pytest.raises(InputError, match=r"d1\.xml: the document has more than 5 tokens"):
        list(read(tmp_path, format=name))


@pytest.mark.parametrize(
    ("text", "limit", "refused"),
    [
        ("a b-c, d", {"tokens": 4}, False),
        ("a b-c, d", {"tokens": 3}, True),
        ("é" * 10, {"text": 20}, False),
        ("é" * 10, {"text": 19}, True),
    ],
)
def test_title_and_text_have_as_many_tokens_and_bytes_as_the_limits(
    text: str, limit: dict[str, int], refused: bool, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"id": "d1", "text": "{text}", "keyphrases": ["a"]}}\n')

    with karat.limit(**limit):
        if refused:
            with pytest.raises(InputError, match=r"a\.jsonl:1: the document has more than"):
                list(read(path))
        else:
            assert [document.text for document in read(path)] == [text]


def test_a_phrase_and_all_phrases_have_limits_on_words_and_size() -> None:
    prediction = Prediction(id="d1", keyphrases=["a b c", "d", None])

    with karat.limit(words=3):
        assert check_counts(prediction, "x:1") > 0
    with karat.limit(words=2), pytest.raises(InputError, match=r"^x:1: a phrase has more than 2 words"):
        check_counts(prediction, "x:1")
    with (
        karat.limit(words=3, tokens=3),
        pytest.raises(InputError, match=r"^x:1: the list of phrases has more than 3 t"),
    ):
        check_counts(prediction, "x:1")
    with karat.limit(text=5), pytest.raises(InputError, match=r"^x:1: the list of phrases has more than 5 B"):
        check_counts(prediction, "x:1")


def test_records_in_memory_have_no_limits() -> None:
    with karat.limit(phrases=1, references=1):
        assert check_counts(Document(keyphrases=["a", "b"]), None) > 0


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", '{"id": "d1", "x": [1, 2, 3, 4, 5, 6], "keyphrases": ["a"]}\n'),
        ("a.json", '[{"id": "d1", "x": [1, 2, 3, 4, 5, 6], "keyphrases": ["a"]}]\n'),
        ("a.json", "[" + "{}, " * 10 + "{}]\n"),
        ("a.csv", "id,keyphrases," + ",".join("abcdefgh") + "\nd1,a,,,,,,,,\n"),
        ("a.csv", "id,keyphrases\n" + '"\n",' * 10 + "a\n"),
        ("a.tsv", "id\tkeyphrases\nd1\t[" + "'a' " * 10 + "]\n"),
        ("a.ris", "TY  - JOUR\nID  - d1\n" + "AU  - a\n" * 10 + "KW  - a\nER  - \n"),
    ],
)
def test_a_line_a_row_and_a_record_have_as_many_values_as_the_limit(name: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content)

    with karat.limit(values=8), pytest.raises(InputError, match=r"a\.\w+(:\d+)?: .* has more than 8 values; if that"):
        list(read(path))


def test_values_are_counted_by_commas_and_brackets() -> None:
    with karat.limit(values=5):
        check_values(b'{"a": [1, 2, 3]}', "x")
    with karat.limit(values=3), pytest.raises(InputError, match=r"^x: the JSON has more than 3 values"):
        check_values(b'{"a": [1, 2, 3]}', "x")


def test_an_item_of_a_long_json_list_that_is_no_object_is_named_before_any_is_decoded(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"id": "d1"}, ' + "1, " * 10 + "1]")

    with karat.limit(values=8), pytest.raises(InputError, match=r"a\.json: item 2 of the JSON list is no object"):
        list(read(path, format="karat"))


def test_entries_of_a_json_object_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("{" + ",\n".join(f'"d{number}": [["a"]]' for number in range(10)) + "}")

    with karat.limit(values=10):
        assert len(list(read(path))) == 10
    with karat.limit(values=9), pytest.raises(InputError, match=r"a\.json: the file has more than 9 values"):
        list(read(path))


def test_the_limits_on_counts_are_what_no_document_of_the_field_has() -> None:
    most = Limits()

    assert (most.phrases, most.references, most.tokens) == (100_000, 10_000, 2_000_000)


# ---------------------------------------------------------------------------------------------- keys


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("a.jsonl", '{"id": 1, "keyphrases": ["a"]}\n{"id": 2, "keyphrases": ["a"], "keyphrases": ["b"]}\n', ":2"),
        ("a.jsonl", '{"id": 1, "keyphrases": ["a"], "id" : 2}\n', ":1"),
        ("a.jsonl", '{"id": 1, "keyphrases": ["a"], "id"\t  : 2}\n', ":1"),
        ("a.jsonl", '{"id": 1, "reference_sets": {"x": ["a"], "x": ["b"]}}\n', ":1"),
        ("a.jsonl", '{"id": 1, "title": "a", "abstract": "a", "keywords": "a", "keywords": "b"}\n', ":1"),
        ("a.json", '[{"id": 1, "keyphrases": ["a"]},\n {"id": 2, "keyphrases": ["a"], "keyphrases": ["b"]}]\n', ":2"),
        ("a.json", '{"d1": [["a"]],\n "d1": [["b"]]}\n', ""),
        ("a.jsonld", '{"@context": "https://schema.org", "@type": "Article",\n "name": "a", "name": "b"}\n', ""),
    ],
)
def test_an_object_with_a_key_twice_is_refused(name: str, content: str, place: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content)

    with pytest.raises(InputError, match=rf"{name}{place}: an object has the key '[^']+' twice; keep one of them$"):
        list(read(path))


@pytest.mark.parametrize(
    "line",
    [
        '{"id": 1, "keyphrases": ["a"], "authors": [{"name": "a"}, {"name": "b"}]}',
        '{"id": 1, "keyphrases": ["\\"id\\": 1", "id", "id:"]}',
        '{"id": 1, "text": "\\"keyphrases\\": []", "keyphrases": ["keyphrases"]}',
        '{"id": 1, "first_of_names": 1, "last_of_names": 2, "keyphrases": ["a"]}',
        '{"reference_sets": {"id": ["a"]}, "id": 1}',
    ],
)
def test_equal_keys_of_different_objects_and_in_strings_are_read(line: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f"{line}\n{line.replace('1', '2')}\n")

    assert len(list(read(path, format="karat"))) == 2


def test_a_key_that_nobody_reads_may_be_there_twice(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"id": 1, "keyphrases": ["a"], "x": 1, "x": 2}\n')

    assert len(list(read_run(path))) == 1


def test_a_repeated_key_is_found_at_any_level() -> None:
    assert repeated_key(b'[{"a": [{"b": 1, "b": 2}]}]') == "b"
    assert repeated_key(b'[{"a": [{"b": 1}, {"b": 2}]}]') is None
    assert repeated_key(b'{"a": 1, "a"') is None


NAMES = ("id", "a", "", "keyphrases", "xkeyphrases", "first_of_names", "last_of_names", 'q"x', "é")
COLONS = (":", " :", ": ", "  : ")


def _random_object(random: Random, level: int = 0) -> str:
    """A JSON object whose keys repeat now and then, with colons, quotes and objects in its values."""
    fields = []
    for _ in range(random.randint(0, 4)):
        inner = [_random_object(random, level + 1) for _ in range(2)] if level < 2 else ["2", "3"]
        value = random.choice(["1", '"a:b"', '"\\"id\\": 1"', "[]", inner[0], f"[{inner[0]},{inner[1]}]"])
        fields.append(json.dumps(random.choice(NAMES), ensure_ascii=False) + random.choice(COLONS) + value)
    return "{" + ",".join(fields) + "}"


def test_repeated_keys_are_those_that_a_parser_finds() -> None:
    random, repeated = Random(0), 0
    for _ in range(2000):
        texts = [_random_object(random).encode() for _ in range(random.randint(1, 4))]
        content = b"\n".join(texts) + b"\n"
        line = next((number for number, text in enumerate(texts, 1) if repeated_key(text) is not None), None)
        try:
            check_keys("x", range(1, 5), content, line_starts(content))
            refused = None
        except InputError as error:
            refused = int(str(error).split(":")[1])
        assert refused == line, content
        repeated += line is not None
    assert 500 < repeated < 1900
