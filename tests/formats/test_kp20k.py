"""KP20k, KPTimes and StackEx: what their strings of keyphrases mean, and that they can be written again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.corpus import Document, Prediction
from karat.errors import InputError
from karat.formats.base import Format
from karat.formats.head import Head
from karat.formats.kp20k import FORMATS
from karat.formats.kpeval import FORMAT as KPEVAL
from karat.formats.openkp import FORMAT as OPENKP
from karat.formats.opennmt import FORMAT as OPENNMT
from tests.formats.through import documents, predictions, saved, saved_run

KP20K, KPTIMES, STACKEX = FORMATS

PAPERS: list[dict[str, Any]] = [
    {"title": "Deep nets.", "abstract": "We train\ndeep nets.", "keyword": "deep nets;training of nets"},
    {"title": "Bees", "abstract": "A swarm.", "keyword": "swarm;bees, wasps;"},
]
NEWS: list[dict[str, Any]] = [
    {
        "id": "ny0000007",
        "categories": ["us", "politics"],
        "date": "2016/07/21",
        "title": "A Speech ",
        "abstract": "CLEVELAND — A convention.",
        "keyword": "Elections;Republican National Convention,RNC;Speeches",
    },
    {
        "id": "jp0000001",
        "categories": ["asia-pacific"],
        "date": "2013/03/17",
        "title": "Records",
        "abstract": "A festival.",
        "keyword": "india;guinness",
    },
]
NEWS_BY_SCRIPT: dict[str, Any] = {
    "title": "A Speech",
    "headline": "It was long.",
    "abstract": "CLEVELAND — A convention.",
    "keyword": [["Elections"], ["Republican National Convention", "RNC"]],
    "file_name": "a-speech",
    "date": "2016/07/21",
    "categories": ["us", "politics"],
    "url": "a.page/2016/07/21/us/politics/a-speech.html",
    "author": "A. Writer",
    "id": "0000007",
}
QUESTIONS: list[dict[str, Any]] = [
    {"id": "4399", "title": "How to sort?", "question": "I have a list.", "tags": "python;sorting;c++"},
    {"id": "4400", "title": "Why?", "question": "", "tags": "philosophy"},
]


def written(folder: Path, records: list[dict[str, Any]], name: str = "test.json") -> str:
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


# ---------------------------------------------------------------------------------------------- reading


def test_the_keywords_of_kp20k_are_parted_by_semicolons_only(tmp_path: Path) -> None:
    assert documents(KP20K, written(tmp_path, PAPERS)) == [
        Document(title="Deep nets.", text="We train\ndeep nets.", keyphrases=["deep nets", "training of nets"]),
        Document(title="Bees", text="A swarm.", keyphrases=["swarm", "bees, wasps", ""]),
    ]


def test_a_comma_in_kptimes_parts_the_variants_of_one_phrase(tmp_path: Path) -> None:
    first, second = documents(KPTIMES, written(tmp_path, NEWS))

    assert first == Document(
        id="ny0000007",
        title="A Speech ",
        text="CLEVELAND — A convention.",
        keyphrases=["Elections", ["Republican National Convention", "RNC"], "Speeches"],
    )
    assert (second.id, second.keyphrases) == ("jp0000001", ["india", "guinness"])


def test_the_lists_of_the_script_of_kptimes_mean_the_same(tmp_path: Path) -> None:
    (document,) = documents(KPTIMES, written(tmp_path, [NEWS_BY_SCRIPT]))

    assert document.id == "0000007"
    assert document.keyphrases == [["Elections"], ["Republican National Convention", "RNC"]]


def test_kptimes_read_as_kp20k_has_variants_as_one_phrase_as_in_published_scores(tmp_path: Path) -> None:
    first, _ = documents(KP20K, written(tmp_path, NEWS))

    assert first.keyphrases == ["Elections", "Republican National Convention,RNC", "Speeches"]


def test_questions_and_tags_of_stackex_are_text_and_references(tmp_path: Path) -> None:
    assert documents(STACKEX, written(tmp_path, QUESTIONS)) == [
        Document(id="4399", title="How to sort?", text="I have a list.", keyphrases=["python", "sorting", "c++"]),
        Document(id="4400", title="Why?", text="", keyphrases=["philosophy"]),
    ]


@pytest.mark.parametrize(
    ("keyword", "expected"), [("", []), (" ", []), (None, None), ([], []), ("a;;b", ["a", "", "b"])]
)
def test_blank_phrases_are_kept_and_no_phrases_are_none(tmp_path: Path, keyword: Any, expected: Any) -> None:
    (document,) = documents(KP20K, written(tmp_path, [{"title": "t", "abstract": "a", "keyword": keyword}]))

    assert document.keyphrases == expected


def test_predictions_in_the_same_layout_are_ranked_phrases(tmp_path: Path) -> None:
    assert predictions(KP20K, written(tmp_path, [{"id": 3, "keyword": "b;a"}])) == [
        Prediction(id=3, keyphrases=["b", "a"])
    ]
    assert predictions(STACKEX, written(tmp_path, QUESTIONS))[0].keyphrases == ["python", "sorting", "c++"]


def test_of_predicted_variants_the_first_counts(tmp_path: Path) -> None:
    (prediction,) = predictions(KPTIMES, written(tmp_path, [{"id": "d", "keyword": "a,b;c"}]))

    assert prediction.keyphrases == ["a", "c"]


# ---------------------------------------------------------------------------------------------- which format it is

EXAMPLES: dict[str, dict[str, Any]] = {
    "kp20k": PAPERS[0],
    "kp20k run": {"id": "d", "keyword": "a"},
    "kptimes": NEWS[0],
    "kptimes by script": NEWS_BY_SCRIPT,
    "stackex": QUESTIONS[0],
    "stackex run": {"id": "d", "tags": "a"},
    "opennmt": {"title": "t", "abstract": "a", "keywords": ["k"]},
    "opennmt run": {"src": [1], "pred_sents": [["k"]], "pred_scores": [-1.0]},
    "openkp": {"url": "u", "text": "a", "VDOM": "[]", "KeyPhrases": [["k"]]},
    "openkp run": {"url": "u", "KeyPhrases": [["k"]], "Scores": [1.0]},
    "kpeval": {"source": "t [sep] a", "target": "k", "predictions": "k"},
    "kpeval by its documentation": {"source": "t [sep] a", "target": "k", "prediction": "k"},
    "karat": {"id": "d", "title": "t", "text": "a", "keyphrases": ["k"]},
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_example_fits_its_own_format_alone(tmp_path: Path, name: str) -> None:
    head = Head(written(tmp_path, [EXAMPLES[name]]))
    fitting = [form.name for form in (*FORMATS, OPENNMT, OPENKP, KPEVAL) if form.fits(head)]

    assert fitting == ([] if name == "karat" else [name.split()[0]])


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
@pytest.mark.parametrize("name", ["a.json", "a.jsonl.gz", "a.csv", "a.tsv", "a.parquet"])
def test_what_is_written_is_known_again_in_every_container(tmp_path: Path, form: Format, name: str) -> None:
    given = [
        Document(id="d1", title="t", text='a "text",\nof two lines', keyphrases=["b c", "d"]),
        Document(id="d2", keyphrases=[]),
    ]

    assert saved(form, tmp_path / name, given) == [given[0], Document(id="d2", title="", text="", keyphrases=[])]
    assert form.fits(Head(str(tmp_path / name)))


# ---------------------------------------------------------------------------------------------- writing

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=";,"), min_size=1).filter(
    lambda text: text == text.strip()
)
texts = st.text(st.characters(exclude_categories=["Cs"]))
ids = st.none() | st.integers(-(2**63), 2**63 - 1) | texts.filter(bool)
referenced = st.lists(st.builds(Document, id=ids, title=texts, text=texts, keyphrases=st.lists(words)), min_size=1)
varied = st.lists(words | st.lists(words, min_size=2))


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
@given(given=referenced)
def test_documents_survive_writing_and_reading(
    tmp_path_factory: pytest.TempPathFactory, form: Format, given: list[Document]
) -> None:
    assert saved(form, tmp_path_factory.getbasetemp() / "kp20k.jsonl", given) == given


@given(given=st.lists(st.builds(Document, id=ids, title=texts, text=texts, keyphrases=varied), min_size=1))
def test_variants_survive_in_kptimes(tmp_path_factory: pytest.TempPathFactory, given: list[Document]) -> None:
    assert saved(KPTIMES, tmp_path_factory.getbasetemp() / "kptimes.jsonl", given) == given


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
@given(given=st.lists(st.builds(Prediction, id=ids, keyphrases=st.lists(words)), min_size=1))
def test_predictions_survive_writing_and_reading(
    tmp_path_factory: pytest.TempPathFactory, form: Format, given: list[Prediction]
) -> None:
    assert saved_run(form, tmp_path_factory.getbasetemp() / "kp20k.jsonl", given) == given


def test_what_a_document_lacks_is_written_as_nothing(tmp_path: Path) -> None:
    saved(KP20K, tmp_path / "a.json", [Document(keyphrases=["a", ["b", "c"], None, []])])

    assert json.loads((tmp_path / "a.json").read_text()) == {"title": "", "abstract": "", "keyword": "a;b;;"}


def test_phrases_that_are_not_there_do_not_stop_the_writer_of_kptimes(tmp_path: Path) -> None:
    (document,) = saved(KPTIMES, tmp_path / "a.json", [Document(keyphrases=["a", ["b", None], None, []])])

    assert document.keyphrases == ["a", ["b", ""], "", ""]


# ---------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("form", "content", "message"),
    [
        (KP20K, b'{"title": "t", "abstract": "a", "keyword": "k"}\n{"title": "t"}\n', ":2: .*`keyword`"),
        (
            KP20K,
            b'{"title": 3, "abstract": "a", "keyword": "k"}\n',
            r":1: Expected `str \| null`, got `int` - at `\$.title`",
        ),
        (KPTIMES, b'{"abstract": "a", "keyword": [[3]]}\n', r":1: .*at `\$.keyword\[0\]\[0\]`"),
        (STACKEX, b'{"title": "t", "question": "a", "tags": {"a": 1}}\n', r":1: .*at `\$.tags`"),
        (STACKEX, b'{"question": "a", "tags": "b"}\n{"question": "a", "ta', ":2: not JSON"),
        (KP20K, b'{"abstract": "a", "keyword": "k"}\n{"abstract": "caf\xe9", "keyword": "k"}\n', ":2: not UTF-8"),
        (KP20K, b"", ": the file is empty"),
    ],
)
def test_what_is_wrong_with_a_record_is_said_with_its_line(
    tmp_path: Path, form: Format, content: bytes, message: str
) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)

    with pytest.raises(InputError, match=rf"broken\.json{message}"):
        documents(form, str(path))
