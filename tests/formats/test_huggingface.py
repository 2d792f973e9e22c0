"""The columns of the hub's keyphrase sets are read in every configuration and container, and written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from karat.corpus import Document, Prediction
from karat.errors import InputError
from karat.formats.head import Head
from karat.formats.huggingface import FORMATS
from tests.examples import examples
from tests.formats.through import documents, predictions, saved, saved_run

untimed = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    max_examples=examples(25),
)

MIDAS, LDKP, PRMU = FORMATS
CONTAINERS = ["x.jsonl", "x.jsonl.gz", "x.csv", "x.tsv", "x.parquet"]

# As the files on the hub have it; the library calls the first field `id`.
MIDAS_FILE = {
    "paper_id": 1001,
    "document": ["Trees", "and", "Forests", "Random", "forests", "-LRB-", "RF", "-RRB-", "beat", "trees", "."],
    "doc_bio_tags": ["B", "O", "O", "B", "I", "O", "B", "O", "O", "B", "O"],
    "extractive_keyphrases": ["trees", "random forests", "rf"],
    "abstractive_keyphrases": ["ensemble learning"],
    "other_metadata": {"text": [], "bio_tags": []},
}
MIDAS_RAW = {"id": 1001} | {name: value for name, value in MIDAS_FILE.items() if name != "paper_id"}
MIDAS_EXTRACTION = {name: MIDAS_RAW[name] for name in ("id", "document", "doc_bio_tags")}
MIDAS_GENERATION = {
    name: MIDAS_RAW[name] for name in ("id", "document", "extractive_keyphrases", "abstractive_keyphrases")
}

LDKP_FILE = {
    "id": "17aa",
    "sections": ["introduction", "title", "abstract"],
    "sec_text": [["We", "grow", "trees", "."], ["On", "Trees"], ["Random", "forests", "win", "."]],
    "sec_bio_tags": [["O", "O", "B", "O"], ["O", "B"], ["B", "I", "O", "O"]],
    "extractive_keyphrases": ["trees", "random forests"],
    "abstractive_keyphrases": ["ensembles"],
}

PRMU_FILE = {
    "id": "2Zk7",
    "title": "On Trees",
    "abstract": "Random forests win.",
    "keyphrases": ["random forests", "win forests", "decision forests", "ensembles"],
    "prmu": ["P", "R", "M", "U"],
    "category": "informatics",
    "authors": ["A. Author"],
    "year": 2020,
}


def file_of(folder: Path, *records: Any, name: str = "x.jsonl") -> str:
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


def essence(record: Document | Prediction) -> tuple[Any, ...]:
    """What must survive: no text is an empty text, no phrases are none, an id is compared as a string."""
    identifier = None if record.id is None else str(record.id)
    if isinstance(record, Prediction):
        return identifier, record.keyphrases or [], record.kinds
    return identifier, record.title or "", record.text or "", record.keyphrases or []


# ---------------------------------------------------------------------------------------------- midas


@pytest.mark.parametrize("record", [MIDAS_FILE, MIDAS_RAW, MIDAS_GENERATION])
def test_references_are_the_extractive_phrases_then_the_abstractive_ones(
    tmp_path: Path, record: dict[str, Any]
) -> None:
    path = file_of(tmp_path, record)

    assert MIDAS.fits(Head(path))
    assert documents(MIDAS, path) == [
        Document(
            id=1001,
            text="Trees and Forests Random forests -LRB- RF -RRB- beat trees .",
            keyphrases=["trees", "random forests", "rf", "ensemble learning"],
        )
    ]


def test_without_lists_the_references_are_read_off_the_tags_each_once(tmp_path: Path) -> None:
    path = file_of(tmp_path, MIDAS_EXTRACTION)

    assert MIDAS.fits(Head(path))
    assert documents(MIDAS, path)[0].keyphrases == ["Trees", "Random forests", "RF"]


def test_one_list_is_enough(tmp_path: Path) -> None:
    path = file_of(tmp_path, MIDAS_EXTRACTION | {"abstractive_keyphrases": ["ensembles"]})

    assert documents(MIDAS, path)[0].keyphrases == ["ensembles"]


def test_a_title_is_read_where_there_is_one(tmp_path: Path) -> None:
    path = file_of(tmp_path, MIDAS_RAW, MIDAS_RAW | {"title": "Trees"})

    assert [document.title for document in documents(MIDAS, path)] == [None, "Trees"]


def test_null_and_blank_phrases_are_kept(tmp_path: Path) -> None:
    path = file_of(tmp_path, {"document": ["a"], "extractive_keyphrases": [None, "a"], "abstractive_keyphrases": [" "]})

    assert documents(MIDAS, path)[0].keyphrases == [None, "a", " "]


def test_two_lists_tell_a_runs_kinds(tmp_path: Path) -> None:
    path = file_of(tmp_path, MIDAS_GENERATION)

    assert predictions(MIDAS, path) == [
        Prediction(
            id=1001,
            keyphrases=["trees", "random forests", "rf", "ensemble learning"],
            kinds=["present", "present", "present", "absent"],
        )
    ]


def test_a_taggers_run_is_its_tagged_phrases(tmp_path: Path) -> None:
    words = ["deep", "nets", "learn", "deep", "nets", "and", "trees"]
    path = file_of(
        tmp_path,
        {"id": "d1", "document": words, "doc_bio_tags": ["B", "B", "O", "B", "I", "O", "I"]},
        {"id": "d2", "document": words, "doc_bio_tags": ["B-KEY", "I-KEY", "O", "O", "O", "O", "O"]},
        {"id": "d3", "document": words, "doc_bio_tags": ["O"] * 7},
    )

    assert predictions(MIDAS, path) == [
        Prediction(id="d1", keyphrases=["deep", "nets", "deep nets", "trees"]),
        Prediction(id="d2", keyphrases=["deep nets"]),
        Prediction(id="d3", keyphrases=[]),
    ]


def test_a_run_may_have_the_lists_alone(tmp_path: Path) -> None:
    path = file_of(tmp_path, {"id": 1, "extractive_keyphrases": ["a"], "abstractive_keyphrases": ["b"]})

    assert MIDAS.fits(Head(path))
    assert predictions(MIDAS, path) == [Prediction(id=1, keyphrases=["a", "b"], kinds=["present", "absent"])]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"document": ["a", "b"], "doc_bio_tags": ["B"]}, ":2: 1 tags for 2 words"),
        ({"doc_bio_tags": ["B"]}, ":2: 1 tags for 0 words"),
        ({"document": ["a"], "doc_bio_tags": ["X"]}, ":2: the tag 'X' is not B, I or O"),
        ({"document": ["a"], "doc_bio_tags": [""]}, ":2: the tag '' is not B, I or O"),
        ({"document": ["a"], "doc_bio_tags": [1]}, ":2: Expected `str`, got `int` - at `$.doc_bio_tags[0]`"),
        ({"document": [["a"]]}, ":2: Expected `str`, got `array` - at `$.document[0]`"),
        ({"document": 3}, ":2: Expected `str | array | null`, got `int` - at `$.document`"),
        ({"extractive_keyphrases": {"a": 1}}, ":2: Expected `str | array | null`, got `object`"),
        ({"extractive_keyphrases": '[["a"]]'}, ":2: Expected `str | null`, got `array`"),
    ],
)
def test_what_is_wrong_with_a_record_is_said_with_its_line(
    tmp_path: Path, record: dict[str, Any], message: str
) -> None:
    path = file_of(tmp_path, MIDAS_RAW, record)

    with pytest.raises(InputError) as failure:
        documents(MIDAS, path)

    assert str(failure.value).startswith(path + message)


def test_a_cut_off_file_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes((json.dumps(MIDAS_RAW) + "\n").encode() * 2 + json.dumps(MIDAS_RAW).encode()[:50])

    with pytest.raises(InputError, match=r"x\.jsonl:3: "):
        documents(MIDAS, str(path))


def test_a_wrong_encoding_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"document": ["a"], "extractive_keyphrases": []}\n{"document": ["caf\xe9"]}\n')

    with pytest.raises(InputError, match=r"x\.jsonl:2: not UTF-8"):
        documents(MIDAS, str(path))


def test_a_written_document_is_tagged_and_its_phrases_are_parted(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    document = Document(
        id="d1",
        title="On trees",
        text="Random  forests are\nforests of trees ; random forests win",
        keyphrases=["ensembles", "Random Forests", ["trees", "a tree"], "forests", "on", "random forests are"],
    )

    assert MIDAS.save_corpus is not None
    MIDAS.save_corpus(str(path), [document])

    assert json.loads(path.read_text()) == {
        "id": "d1",
        "title": "On trees",
        "document": ["Random", "forests", "are", "forests", "of", "trees", ";", "random", "forests", "win"],
        "doc_bio_tags": ["B", "I", "I", "B", "O", "B", "O", "B", "I", "O"],
        "extractive_keyphrases": ["Random Forests", "trees", "forests", "random forests are"],
        "abstractive_keyphrases": ["ensembles", "on"],
    }


@pytest.mark.parametrize("name", CONTAINERS)
def test_odd_documents_are_written_in_every_container(tmp_path: Path, name: str) -> None:
    odd = [
        Document(),
        Document(id=3, text="", keyphrases=[]),
        Document(id="a", text=" ; [ \x0b ] \" ' ", keyphrases=[None, "", " ", [], ["b", "c"], [None], ";", "; ["]),
    ]

    read = saved(MIDAS, str(tmp_path / name), odd)

    assert [essence(document) for document in read] == [
        (None, "", "", []),
        ("3", "", "", []),
        ("a", "", "; [ ] \" '", [";", "; [", None, "", " ", None, "b", None]),
    ]


@pytest.mark.parametrize("name", CONTAINERS)
def test_odd_predictions_are_written_in_every_container(tmp_path: Path, name: str) -> None:
    odd = [
        Prediction(),
        Prediction(id=3, keyphrases=[], kinds=[]),
        Prediction(id="a", keyphrases=[None, "", "x;y"], scores=[0.5, None, 0.1]),
        Prediction(id="b", keyphrases=["x", "y"], kinds=["absent", "present"]),
        Prediction(id="c", keyphrases=["x"], kinds=["absent"]),
    ]

    read = saved_run(MIDAS, str(tmp_path / name), odd)

    assert [essence(prediction) for prediction in read] == [
        (None, [], None),
        ("3", [], []),
        ("a", [None, "", "x;y"], None),
        ("b", ["y", "x"], ["present", "absent"]),
        ("c", ["x"], ["absent"]),
    ]


def test_a_text_in_a_table_is_not_taken_for_a_list_of_words(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("document,extractive_keyphrases\n[1] We see a; b,a;b\n\"['x', 'y']\",\"['x']\"\n")

    read = documents(MIDAS, str(path))

    assert [(document.text, document.keyphrases) for document in read] == [
        ("[1] We see a; b", ["a", "b"]),
        ("x y", ["x"]),
    ]


WORDS = st.text(st.characters(exclude_categories=["Cs", "Z", "Cc"]), min_size=1).filter(
    lambda word: word.split() == [word]
)
IDS = st.none() | st.integers(-9, 2**40) | st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@st.composite
def midas_documents(draw: st.DrawFn) -> Document:
    """Documents as the layout can hold them: one space between words, phrases of the text before others."""
    words = draw(st.lists(WORDS, max_size=8))
    spans = draw(st.lists(st.tuples(st.integers(0, 8), st.integers(1, 3)), max_size=4))
    present = [" ".join(words[start : start + length]) for start, length in spans if start < len(words)]
    absent = draw(st.lists(st.none() | st.just("") | st.lists(WORDS, min_size=9).map(" ".join), max_size=3))
    return Document(id=draw(IDS), title=draw(WORDS | st.none()), text=" ".join(words), keyphrases=[*present, *absent])


@untimed
@given(given_documents=st.lists(midas_documents(), min_size=1, max_size=4), name=st.sampled_from(CONTAINERS))
def test_what_midas_can_hold_is_read_as_it_was_written(
    tmp_path: Path, given_documents: list[Document], name: str
) -> None:
    read = saved(MIDAS, str(tmp_path / name), given_documents)

    assert [essence(document) for document in read] == [essence(document) for document in given_documents]


@untimed
@given(given_documents=st.lists(midas_documents(), min_size=1, max_size=4))
def test_written_tags_mark_nothing_but_present_phrases(tmp_path: Path, given_documents: list[Document]) -> None:
    path = tmp_path / "x.jsonl"
    assert MIDAS.save_corpus is not None
    MIDAS.save_corpus(str(path), given_documents)
    records = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
    bare = [{name: record[name] for name in ("document", "doc_bio_tags")} for record in records]

    for record, found in zip(records, documents(MIDAS, file_of(tmp_path, *bare, name="y.jsonl")), strict=True):
        listed = {phrase.lower() for phrase in record["extractive_keyphrases"]}
        marked = {phrase.lower() for phrase in found.keyphrases or () if isinstance(phrase, str)}
        assert marked <= listed
        assert bool(marked) == bool(listed)


@st.composite
def midas_predictions(draw: st.DrawFn) -> Prediction:
    """Predictions as the layout can hold them: those that are present come first."""
    phrases = draw(st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"])), max_size=5))
    present = draw(st.none() | st.integers(0, len(phrases)))
    kinds = None if present is None else ["present"] * present + ["absent"] * (len(phrases) - present)
    return Prediction(id=draw(IDS), keyphrases=phrases, kinds=kinds)


@untimed
@given(given_predictions=st.lists(midas_predictions(), min_size=1, max_size=4), name=st.sampled_from(CONTAINERS))
def test_a_run_in_midas_is_read_as_it_was_written(
    tmp_path: Path, given_predictions: list[Prediction], name: str
) -> None:
    read = saved_run(MIDAS, str(tmp_path / name), given_predictions)

    assert [essence(prediction) for prediction in read] == [essence(prediction) for prediction in given_predictions]


# ---------------------------------------------------------------------------------------------- ldkp


def test_sections_become_a_title_and_a_text_that_begins_with_the_abstract(tmp_path: Path) -> None:
    path = file_of(tmp_path, LDKP_FILE)

    assert LDKP.fits(Head(path))
    assert documents(LDKP, path) == [
        Document(
            id="17aa",
            title="On Trees",
            text="Random forests win .\nWe grow trees .",
            keyphrases=["trees", "random forests", "ensembles"],
        )
    ]
    assert predictions(LDKP, path)[0].kinds == ["present", "present", "absent"]


def test_sections_without_lists_give_their_tagged_phrases_each_once(tmp_path: Path) -> None:
    path = file_of(tmp_path, {name: LDKP_FILE[name] for name in ("id", "sections", "sec_text", "sec_bio_tags")})

    assert documents(LDKP, path)[0].keyphrases == ["Trees", "Random forests"]
    assert predictions(LDKP, path) == [Prediction(id="17aa", keyphrases=["Trees", "Random forests"])]


def test_sections_without_texts_are_an_error_with_its_line(tmp_path: Path) -> None:
    path = file_of(tmp_path, LDKP_FILE, LDKP_FILE | {"sec_text": [["a"]]})

    with pytest.raises(InputError, match=r"x\.jsonl:2: 3 sections, 1 texts and 3 lists of tags for them"):
        documents(LDKP, path)


@untimed
@given(given_documents=st.lists(midas_documents(), min_size=1, max_size=4), name=st.sampled_from(CONTAINERS))
def test_what_ldkp_can_hold_is_read_as_it_was_written(
    tmp_path: Path, given_documents: list[Document], name: str
) -> None:
    read = saved(LDKP, str(tmp_path / name), given_documents)

    assert [essence(document) for document in read] == [essence(document) for document in given_documents]


# ---------------------------------------------------------------------------------------------- prmu


def test_the_text_of_prmu_is_the_abstract(tmp_path: Path) -> None:
    path = file_of(tmp_path, PRMU_FILE)
    phrases = ["random forests", "win forests", "decision forests", "ensembles"]

    assert PRMU.fits(Head(path))
    assert documents(PRMU, path) == [
        Document(id="2Zk7", title="On Trees", text="Random forests win.", keyphrases=list(phrases))
    ]
    assert predictions(PRMU, path) == [Prediction(id="2Zk7", keyphrases=list(phrases))]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"abstract": 1}, r":2: Expected `str | null`, got `int` - at `$.abstract`"),
        ({"keyphrases": [["a"]]}, r":2: Expected `str | null`, got `array` - at `$.keyphrases[0]`"),
        ({"id": 1.5}, r":2: Expected `int | str | null`, got `float` - at `$.id`"),
    ],
)
def test_a_wrong_type_in_prmu_is_said_with_its_line(tmp_path: Path, record: dict[str, Any], message: str) -> None:
    path = file_of(tmp_path, PRMU_FILE, PRMU_FILE | record)

    with pytest.raises(InputError) as failure:
        documents(PRMU, path)

    assert str(failure.value) == path + message


def test_prmu_is_written_without_letters(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    assert PRMU.save_corpus is not None
    PRMU.save_corpus(str(path), [Document(id="d", title="T", text="A.", keyphrases=["a", ["b", "c"]]), Document()])

    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        {"id": "d", "title": "T", "abstract": "A.", "keyphrases": ["a", "b"]},
        {"title": "", "abstract": "", "keyphrases": []},
    ]


TEXTS = st.none() | st.text(st.characters(exclude_categories=["Cs"]))


@untimed
@given(
    given_documents=st.lists(
        st.builds(
            Document,
            id=IDS,
            title=TEXTS,
            text=TEXTS,
            keyphrases=st.none() | st.lists(TEXTS, max_size=4),
            reference_sets=st.none(),
        ),
        min_size=1,
        max_size=4,
    ),
    name=st.sampled_from(CONTAINERS),
)
def test_what_prmu_can_hold_is_read_as_it_was_written(
    tmp_path: Path, given_documents: list[Document], name: str
) -> None:
    read = saved(PRMU, str(tmp_path / name), given_documents)

    assert [essence(document) for document in read] == [essence(document) for document in given_documents]


@untimed
@given(
    given_predictions=st.lists(
        st.builds(
            Prediction,
            id=IDS,
            keyphrases=st.none() | st.lists(TEXTS, max_size=4),
            scores=st.none(),
            token_probs=st.none(),
            token_logprobs=st.none(),
            kinds=st.none(),
        ),
        min_size=1,
        max_size=4,
    ),
    name=st.sampled_from(CONTAINERS),
)
def test_a_run_in_prmu_is_read_as_it_was_written(
    tmp_path: Path, given_predictions: list[Prediction], name: str
) -> None:
    read = saved_run(PRMU, str(tmp_path / name), given_predictions)

    assert [essence(prediction) for prediction in read] == [essence(prediction) for prediction in given_predictions]


# ---------------------------------------------------------------------------------------------- telling them apart

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "midas": [MIDAS_FILE, MIDAS_RAW, MIDAS_EXTRACTION, MIDAS_GENERATION],
    "ldkp": [LDKP_FILE],
    "prmu": [PRMU_FILE],
    "": [
        {"id": "d1", "title": "A", "text": "B", "keyphrases": ["c"]},
        {"title": "A", "abstract": "B", "keywords": ["c"]},
        {"document": "A", "keywords": "b"},
    ],
}


@pytest.mark.parametrize(
    ("name", "record"), [(name, record) for name, records in EXAMPLES.items() for record in records]
)
def test_each_layout_is_told_by_its_columns(tmp_path: Path, name: str, record: dict[str, Any]) -> None:
    head = Head(file_of(tmp_path, record))

    assert [form.name for form in FORMATS if form.fits(head)] == ([name] if name else [])


def test_a_pretty_printed_list_of_records_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps([MIDAS_RAW, MIDAS_RAW], indent=2))

    assert MIDAS.fits(Head(str(path)))
    assert [document.id for document in documents(MIDAS, str(path))] == [1001, 1001]


def test_a_long_tag_is_cut_where_it_is_repeated(tmp_path: Path) -> None:
    path = file_of(tmp_path, {"document": ["Trees"], "doc_bio_tags": ["x" * 5000]})

    with pytest.raises(InputError, match=r"x\.jsonl:1: the tag 'x{90,100}\.\.\. is not B, I or O$"):
        documents(MIDAS, path)
