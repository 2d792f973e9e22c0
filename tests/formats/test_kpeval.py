"""KPEval's files, which are a corpus and a run at once."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from karat.corpus import Document, Prediction
from karat.errors import InputError
from karat.formats.head import Head
from karat.formats.kpeval import FORMAT
from tests.formats import through

LINKED: list[dict[str, Any]] = [
    {
        "source": "deep nets in [digit] days [sep] we train deep nets . [digit] of them learn .",
        "target": "deep nets ; training ; neural architecture",
        "predictions": "deep nets;key ##phrase ##s ; [ digit ] days;[unk]",
    },
    {"source": "a page without a title .", "target": "", "predictions": ""},
]


def written(folder: Path, records: list[dict[str, Any]]) -> str:
    path = folder / "kp20k_hypotheses_linked.json"
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    return str(path)


documents = partial(through.documents, FORMAT)
predictions = partial(through.predictions, FORMAT)
saved = partial(through.saved, FORMAT)
saved_run = partial(through.saved_run, FORMAT)


# ---------------------------------------------------------------------------------------------- reading


def test_one_file_is_the_corpus_and_the_run(tmp_path: Path) -> None:
    path = written(tmp_path, LINKED)

    assert FORMAT.fits(Head(path))
    assert documents(path) == [
        Document(
            title="deep nets in [digit] days",
            text="we train deep nets . [digit] of them learn .",
            keyphrases=["deep nets", "training", "neural architecture"],
        ),
        Document(title="", text="a page without a title .", keyphrases=[]),
    ]
    assert predictions(path) == [
        Prediction(keyphrases=["deep nets", "keyphrases", "[digit] days", "[unk]"]),
        Prediction(keyphrases=[]),
    ]


def test_a_json_list_of_the_same_records_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_text(json.dumps(LINKED, indent=1), encoding="utf-8")

    assert FORMAT.fits(Head(str(path)))
    assert documents(str(path)) == documents(written(tmp_path, LINKED))
    assert predictions(str(path)) == predictions(written(tmp_path, LINKED))


def test_the_field_that_the_documentation_names_is_read_and_an_id_is_kept(tmp_path: Path) -> None:
    path = written(tmp_path, [{"id": 7, "source": "s", "target": "placeholder", "prediction": "a ; b"}])

    assert FORMAT.fits(Head(path))
    assert predictions(path) == [Prediction(id=7, keyphrases=["a", "b"])]
    assert documents(path) == [Document(id=7, title="", text="s", keyphrases=["placeholder"])]


def test_phrases_may_be_lists(tmp_path: Path) -> None:
    path = written(tmp_path, [{"source": "s", "target": ["a ; b", None], "predictions": ["c", ""]}])

    assert documents(path)[0].keyphrases == ["a ; b", None]
    assert predictions(path)[0].keyphrases == ["c", ""]


@pytest.mark.parametrize(
    ("source", "title", "text"),
    [
        ("t [SEP] a", "t", "a"),
        (" [sep] a", "", "a"),
        ("t [sep]", "t", ""),
        ("t[sep]a", "t", "a"),
        ("t [sep] a [sep] b", "t", "a [sep] b"),
        ("one . two <eos> three", "", "one . two <eos> three"),
        (None, "", ""),
    ],
)
def test_the_first_sep_ends_the_title(tmp_path: Path, source: Any, title: str, text: str) -> None:
    (document,) = documents(written(tmp_path, [{"source": source, "target": "k"}]))

    assert (document.title, document.text) == (title, text)


# ---------------------------------------------------------------------------------------------- writing

texts = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from([" a ", "[sep]", " [SEP] a", "a [sep] b"])
ids = st.none() | st.integers(-(2**63), 2**63 - 1) | texts.filter(bool)
words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=";#"), min_size=1).filter(
    lambda text: text == text.strip() and "[ digit ]" not in text
)
titles = texts.filter(lambda title: "[sep]" not in title.lower())


@given(given=st.lists(st.builds(Document, id=ids, title=titles, text=texts, keyphrases=st.lists(words)), min_size=1))
@example([Document(title="", text="no title, but a [sep] in it", keyphrases=[])])
@example([Document(title="a title ", text=" [sep] ", keyphrases=[])])
def test_documents_survive_writing_and_reading(tmp_path_factory: pytest.TempPathFactory, given: list[Document]) -> None:
    assert saved(tmp_path_factory.getbasetemp() / "kpeval.json", given) == given


@given(given=st.lists(st.builds(Prediction, id=ids, keyphrases=st.lists(words)), min_size=1))
def test_predictions_survive_writing_and_reading(
    tmp_path_factory: pytest.TempPathFactory, given: list[Prediction]
) -> None:
    assert saved_run(tmp_path_factory.getbasetemp() / "kpeval_run.json", given) == given


@pytest.mark.parametrize("name", ["a.json", "a.jsonl.gz", "a.csv", "a.tsv", "a.parquet"])
def test_what_is_written_is_known_again_in_every_container(tmp_path: Path, name: str) -> None:
    corpus = [
        Document(id="d1", title="t", text="a b", keyphrases=["a b", "c"]),
        Document(id="d2", title="", text="", keyphrases=[]),
    ]
    run = [Prediction(id="d1", keyphrases=["a b", "c"]), Prediction(id="d2", keyphrases=[])]

    assert saved(tmp_path / name, corpus) == corpus
    assert FORMAT.fits(Head(str(tmp_path / name)))
    assert saved_run(tmp_path / name, run) == run
    assert FORMAT.fits(Head(str(tmp_path / name)))


def test_what_is_missing_is_written_as_nothing_and_of_variants_the_first(tmp_path: Path) -> None:
    path = tmp_path / "a.json"

    saved(path, [Document(keyphrases=["a", ["b", "c"], None])])
    assert json.loads(path.read_text()) == {"source": "", "target": "a ; b ; "}
    saved_run(path, [Prediction()])
    assert json.loads(path.read_text()) == {"source": "", "target": "", "predictions": ""}


# ---------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"source": "s", "target": "k"}\n{"target": "k"}\n', ":2: .*missing required field `source`"),
        (b'{"source": ["s"], "target": "k"}\n', r":1: .*at `\$.source`"),
        (b'{"source": "s", "target": [3]}\n', r":1: .*at `\$.target\[0\]`"),
        (b'[{"source": "s", "target": "k"}, {"source": 3}]', r":2: .*at `\$.source`"),
        (b'[{"source": "s", "target": "k"}, {"sour', ":1: .*truncated"),
        (b'{"source": "s", "target": "k"}\n{"source": "s", "tar', ":2: not JSON"),
        (b'{"source": "caf\xe9", "target": "k"}\n', ":1: not UTF-8"),
    ],
)
def test_what_is_wrong_with_a_record_is_said_with_its_place(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)

    with pytest.raises(InputError, match=rf"broken\.json{message}"):
        documents(str(path))


def test_a_corpus_without_predictions_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r'linked\.json:1: there are no predictions; write "predictions": "a ; b"'):
        predictions(written(tmp_path, [{"source": "s", "target": "k"}]))
