"""OpenKP's web pages and predictions, whose phrases are lists of tokens."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.corpus import Document, Prediction
from karat.errors import InputError
from karat.formats.head import Head
from karat.formats.openkp import FORMAT
from tests.formats import through

VDOM = '[{"Id":0,"text":"April 30","feature":[48.0,115.0],"start_idx":0,"end_idx":2}]'
PAGES: list[dict[str, Any]] = [
    {
        "url": "a.page/doctors.html",
        "text": "April 30 Online Doctor Appointment System",
        "VDOM": VDOM,
        "KeyPhrases": [["Doctor", "Appointment"], ["Web"], []],
    },
    {"url": "a.page/generator", "text": "Key Generator", "VDOM": VDOM, "KeyPhrases": [["Key", "Generator"]]},
]
TO_BE_PREDICTED: dict[str, Any] = {"url": "a.page/eval", "text": "no phrases here", "VDOM": VDOM}
PREDICTED: list[dict[str, Any]] = [
    {"url": "a.page/doctors.html", "KeyPhrases": [["doctor"], ["web", "application"]], "Scores": [2.5, -0.25]},
    {"url": "a.page/generator", "KeyPhrases": [["key", "generator"], [""]]},
]


def written(folder: Path, records: list[dict[str, Any]]) -> str:
    path = folder / "OpenKPDev.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


documents = partial(through.documents, FORMAT)
predictions = partial(through.predictions, FORMAT)
saved = partial(through.saved, FORMAT)
saved_run = partial(through.saved_run, FORMAT)


# ---------------------------------------------------------------------------------------------- reading


def test_a_page_has_its_url_for_an_id_and_tokens_for_phrases(tmp_path: Path) -> None:
    path = written(tmp_path, PAGES)

    assert FORMAT.fits(Head(path))
    assert documents(path) == [
        Document(
            id="a.page/doctors.html",
            text="April 30 Online Doctor Appointment System",
            keyphrases=["Doctor Appointment", "Web", None],
        ),
        Document(id="a.page/generator", text="Key Generator", keyphrases=["Key Generator"]),
    ]


def test_a_page_that_is_to_be_predicted_has_no_references(tmp_path: Path) -> None:
    path = written(tmp_path, [TO_BE_PREDICTED])

    assert FORMAT.fits(Head(path))
    assert documents(path) == [Document(id="a.page/eval", text="no phrases here")]


def test_phrases_in_a_string_of_json_are_the_same(tmp_path: Path) -> None:
    page = PAGES[0] | {"KeyPhrases": '[["Doctor", "Appointment"], ["Web"], []]'}

    assert documents(written(tmp_path, [page])) == documents(written(tmp_path, PAGES[:1]))


def test_phrases_may_be_strings(tmp_path: Path) -> None:
    path = written(tmp_path, [{"url": "a.page", "KeyPhrases": ["54 Pizza Express", "homemade product"]}])

    assert predictions(path) == [Prediction(id="a.page", keyphrases=["54 Pizza Express", "homemade product"])]


def test_a_run_has_scores_where_the_system_wrote_them(tmp_path: Path) -> None:
    path = written(tmp_path, PREDICTED)

    assert FORMAT.fits(Head(path))
    assert predictions(path) == [
        Prediction(id="a.page/doctors.html", keyphrases=["doctor", "web application"], scores=[2.5, -0.25]),
        Prediction(id="a.page/generator", keyphrases=["key generator", ""]),
    ]


def test_scores_of_another_number_than_the_phrases_are_left_out(tmp_path: Path) -> None:
    (prediction,) = predictions(written(tmp_path, [{"url": "u", "KeyPhrases": [["a"], ["b"]], "Scores": [1.0]}]))

    assert prediction == Prediction(id="u", keyphrases=["a", "b"])


# ---------------------------------------------------------------------------------------------- writing

texts = st.text(st.characters(exclude_categories=["Cs"]))
ids = st.none() | texts.filter(bool)
phrases = st.lists(st.none() | texts)
numbers = st.none() | st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def ranked(draw: st.DrawFn) -> Prediction:
    given = draw(phrases)
    scores = draw(st.none() | st.lists(numbers, min_size=len(given), max_size=len(given)))
    return Prediction(id=draw(ids), keyphrases=given, scores=scores or None)


@given(given=st.lists(st.builds(Document, id=ids, text=texts, keyphrases=phrases), min_size=1))
def test_documents_survive_writing_and_reading(tmp_path_factory: pytest.TempPathFactory, given: list[Document]) -> None:
    assert saved(tmp_path_factory.getbasetemp() / "openkp.jsonl", given) == given


@given(given=st.lists(ranked(), min_size=1))
def test_predictions_survive_writing_and_reading(
    tmp_path_factory: pytest.TempPathFactory, given: list[Prediction]
) -> None:
    assert saved_run(tmp_path_factory.getbasetemp() / "openkp.pred", given) == given


@pytest.mark.parametrize("name", ["a.json", "a.jsonl.gz", "a.csv", "a.tsv", "a.parquet"])
def test_what_is_written_is_known_again_in_every_container(tmp_path: Path, name: str) -> None:
    corpus = [Document(id="u1", text="a b", keyphrases=["a b", "c", None]), Document(id="u2", text="", keyphrases=[])]
    run = [Prediction(id="u1", keyphrases=["a b", ""], scores=[0.5, None]), Prediction(id="u2", keyphrases=[])]

    assert saved(tmp_path / name, corpus) == corpus
    assert FORMAT.fits(Head(str(tmp_path / name)))
    assert saved_run(tmp_path / name, run) == run
    assert FORMAT.fits(Head(str(tmp_path / name)))


def test_of_variants_the_first_is_written_and_ids_become_strings(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    saved(path, [Document(id=3, title="lost", keyphrases=[["a b", "c"], []])])

    assert json.loads(path.read_text()) == {"url": "3", "text": "", "KeyPhrases": [["a", "b"], [""]]}


# ---------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"url": "u", "KeyPhrases": []}\n{"text": "a", "KeyPhrases": []}\n', ":2: .*missing required field `url`"),
        (b'{"url": "u", "KeyPhrases": [["a", 3]]}\n', r":1: .*at `\$.KeyPhrases\[0\]\[1\]`"),
        (b'{"url": "u", "KeyPhrases": "a;b"}\n', ":1: KeyPhrases is a text that is no list: "),
        (b'{"url": "u", "KeyPhrases": "[[3]]"}\n', ":1: KeyPhrases is a text that is no list: "),
        (b'{"url": "u", "KeyPhrases": []}\n{"url": "u", "KeyPh', ":2: not JSON"),
        (b'{"url": "u"}\n{"url": "\xff"}\n', ":2: not UTF-8"),
        (b"", ": the file is empty"),
    ],
)
def test_what_is_wrong_with_a_record_is_said_with_its_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_bytes(content)

    with pytest.raises(InputError, match=rf"broken\.jsonl{message}"):
        documents(str(path))


def test_scores_must_be_numbers(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r":1: .*at `\$.Scores\[0\]`"):
        predictions(written(tmp_path, [{"url": "u", "KeyPhrases": [["a"]], "Scores": ["high"]}]))
