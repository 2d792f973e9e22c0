"""OpenNMT-kpg's corpora, and its files of predictions with all that its decoder writes beside the phrases."""

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
from karat.formats.base import Format
from karat.formats.head import Head
from karat.formats.opennmt import FORMAT, FORMATS
from tests.formats import through

TOP = FORMATS[1]

PAPERS: list[dict[str, Any]] = [
    {
        "id": "kp20k_test_0",
        "title": "deep nets",
        "abstract": "We train deep nets; they learn.",
        "keywords": ["deep nets", "training; of nets", ""],
        "dataset_type": "scipaper",
    },
    {"title": "bees", "abstract": "A swarm.", "keywords": "swarm;insects;"},
]
PREDICTED: dict[str, Any] = {
    "index": 0,
    "src": [25, 11183, 27, 1, 1],
    "src_raw": ["deep", "nets", ".", "we", "train"],
    "gold_sent": [["training"], ["deep", "nets"], ["training"]],
    "gold_score": 0,
    "word_aligns": None,
    "attns": [[[0.5, 0.5]], [[1.0, 0.0]]],
    "copied_flags": [[False, False], [True]],
    "unique_pred_num": 3,
    "dup_pred_num": 4,
    "beam_num": 2,
    "beamstep_num": 9,
    "pred_sents": [["deep", "nets"], ["training"], []],
    "pred_scores": [-0.25, -1.5, -20.0],
    "preds": [[4, 5], [60001], []],
    "ori_pred_sents": [["deep", "nets", "<sep>", "training"], ["deep", "nets", "<sep>"]],
    "ori_pred_scores": [-0.25, -20.0],
    "ori_preds": [[4, 5, 2, 60001], [4, 5, 2]],
    "topseq_pred_sents": [["deep", "nets"], ["training"]],
    "topseq_pred_scores": [-0.25, -0.25],
    "topseq_preds": [[4, 5], [60001]],
    "dup_pred_tuples": None,
}
NOTHING_PREDICTED: dict[str, Any] = PREDICTED | {
    "pred_sents": [],
    "pred_scores": [],
    "topseq_pred_sents": None,
    "topseq_pred_scores": None,
    "topseq_preds": None,
}


def written(folder: Path, records: list[dict[str, Any]], name: str = "kp20k.pred") -> str:
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


documents = partial(through.documents, FORMAT)
saved = partial(through.saved, FORMAT)
saved_run = partial(through.saved_run, FORMAT)


def predictions(path: str, form: Format = FORMAT) -> list[Prediction]:
    return through.predictions(form, path)


# ---------------------------------------------------------------------------------------------- reading


def test_keywords_are_a_list_or_a_string_with_semicolons(tmp_path: Path) -> None:
    path = written(tmp_path, PAPERS, "test.json")

    assert FORMAT.fits(Head(path))
    assert documents(path) == [
        Document(
            id="kp20k_test_0",
            title="deep nets",
            text="We train deep nets; they learn.",
            keyphrases=["deep nets", "training; of nets", ""],
        ),
        Document(title="bees", text="A swarm.", keyphrases=["swarm", "insects", ""]),
    ]


def test_a_phrase_in_brackets_is_no_list(tmp_path: Path) -> None:
    (document,) = documents(written(tmp_path, [{"abstract": "a", "keywords": "[3]"}]))

    assert document.keyphrases == ["[3]"]


def test_predictions_are_joined_tokens_with_their_log_probabilities(tmp_path: Path) -> None:
    path = written(tmp_path, [PREDICTED, NOTHING_PREDICTED])

    assert FORMAT.fits(Head(path))
    assert predictions(path) == [
        Prediction(keyphrases=["deep nets", "training", None], scores=[-0.25, -1.5, -20.0]),
        Prediction(keyphrases=[]),
    ]


def test_the_phrases_of_the_best_sequence_can_be_asked_for(tmp_path: Path) -> None:
    (prediction,) = predictions(written(tmp_path, [PREDICTED]), TOP)

    assert prediction == Prediction(keyphrases=["deep nets", "training"], scores=[-0.25, -0.25])


def test_the_format_of_the_best_sequence_must_be_named_and_is_no_corpus(tmp_path: Path) -> None:
    assert (TOP.name, TOP.corpus, TOP.save_corpus, TOP.save_run) == ("opennmt-top", None, None, None)
    assert not TOP.fits(Head(written(tmp_path, [PREDICTED])))


def test_predictions_of_one_phrase_a_sequence_have_no_best_sequence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"kp20k\.pred:2: topseq_pred_sents is null.*; read it as opennmt"):
        predictions(written(tmp_path, [PREDICTED, NOTHING_PREDICTED]), TOP)


@pytest.mark.parametrize("scores", [[-1.0], None, [[-1.0], [-2.0], [-3.0]], ["high", "low", "low"]])
def test_scores_that_are_not_one_number_for_each_phrase_are_left_out(tmp_path: Path, scores: Any) -> None:
    (prediction,) = predictions(written(tmp_path, [PREDICTED | {"pred_scores": scores}]))

    assert prediction == Prediction(keyphrases=["deep nets", "training", None])


def test_predicted_phrases_may_be_strings(tmp_path: Path) -> None:
    (prediction,) = predictions(written(tmp_path, [{"pred_sents": ["deep nets", "training"]}]))

    assert prediction == Prediction(keyphrases=["deep nets", "training"])


# ---------------------------------------------------------------------------------------------- writing

texts = st.text(st.characters(exclude_categories=["Cs"]))
ids = st.none() | st.integers(-(2**63), 2**63 - 1) | texts.filter(bool)
phrases = st.lists(st.none() | texts)
numbers = st.none() | st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def ranked(draw: st.DrawFn) -> Prediction:
    given = draw(phrases)
    scores = draw(st.none() | st.lists(numbers, min_size=len(given), max_size=len(given)))
    return Prediction(id=draw(ids), keyphrases=given, scores=scores or None)


@given(given=st.lists(st.builds(Document, id=ids, title=texts, text=texts, keyphrases=phrases), min_size=1))
def test_documents_survive_writing_and_reading(tmp_path_factory: pytest.TempPathFactory, given: list[Document]) -> None:
    assert saved(tmp_path_factory.getbasetemp() / "opennmt.json", given) == given


@given(given=st.lists(ranked(), min_size=1))
def test_predictions_survive_writing_and_reading(
    tmp_path_factory: pytest.TempPathFactory, given: list[Prediction]
) -> None:
    assert saved_run(tmp_path_factory.getbasetemp() / "opennmt.pred", given) == given


@pytest.mark.parametrize("name", ["a.json", "a.jsonl.gz", "a.csv", "a.tsv", "a.parquet"])
def test_what_is_written_is_known_again_in_every_container(tmp_path: Path, name: str) -> None:
    corpus = [
        Document(id="d1", title="t", text="a b", keyphrases=["a b", "c;d", None]),
        Document(id="d2", title="", text="", keyphrases=[]),
        Document(id="d3", title="", text="", keyphrases=["e", "f"]),
    ]
    run = [Prediction(id="d1", keyphrases=["a b", ""], scores=[-0.5, None]), Prediction(id="d2", keyphrases=[])]

    assert saved(tmp_path / name, corpus) == corpus
    assert FORMAT.fits(Head(str(tmp_path / name)))
    assert saved_run(tmp_path / name, run) == run
    assert FORMAT.fits(Head(str(tmp_path / name)))


def test_what_a_document_lacks_is_written_as_nothing_and_of_variants_the_first(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    saved(path, [Document(keyphrases=["a", ["b", "c"], []])])

    assert json.loads(path.read_text()) == {"title": "", "abstract": "", "keywords": ["a", "b", ""]}


# ---------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b'{"title": "t", "abstract": "a", "keywords": []}\n{"title": "t"}\n',
            ":2: .*missing required field `keywords`",
        ),
        (b'{"abstract": "a", "keywords": [["a"]]}\n', r":1: .*at `\$.keywords\[0\]`"),
        (b'{"abstract": ["a"], "keywords": "k"}\n', r":1: .*at `\$.abstract`"),
        (b'{"abstract": "a", "keywords": "k"}\n{"abstract": "a", "key', ":2: not JSON"),
        (b'{"abstract": "caf\xe9", "keywords": "k"}\n', ":1: not UTF-8"),
    ],
)
def test_what_is_wrong_with_a_document_is_said_with_its_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)

    with pytest.raises(InputError, match=rf"broken\.json{message}"):
        documents(str(path))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"pred_sents": [["a"]]}\n{"src": [1]}\n', ":2: .*missing required field `pred_sents`"),
        (b'{"pred_sents": [[1, 2]]}\n', r":1: .*at `\$.pred_sents\[0\]\[0\]`"),
        (b'{"pred_sents": "a;b"}\n', ":1: pred_sents is a text that is no list: "),
        (
            b'{"pred_sents": [], "pred_scores": "' + b"[" * 100_000 + b'"}\n',
            ":1: pred_scores is a text that is no list: ",
        ),
        (
            b'{"pred_sents": [["a"]], "pred_scores": [-Infinity]}\n',
            ":1: not JSON: NaN and Infinity are no numbers there",
        ),
        (b'{"pred_sents": [["a"]], "pred_scores": [' + b"9" * 400 + b"]}\n", ":1: a number has more than 100 digits"),
        (
            b'{"pred_sents": []}\n{"pred_sents": [["a"]], "pred_scores": [' + b"9" * 400 + b"]}\n",
            ":2: a number has more than 100 digits",
        ),
        (b'{"pred_sents": [["a"]]}\n{"pred_sents": [["a"', ":2: not JSON"),
    ],
)
def test_what_is_wrong_with_a_prediction_is_said_with_its_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "broken.pred"
    path.write_bytes(content)

    with pytest.raises(InputError, match=rf"broken\.pred{message}"):
        predictions(str(path))


def test_predictions_are_no_corpus_as_their_references_are_a_sample(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"kp20k\.pred:1: .*missing required field `keywords`"):
        documents(written(tmp_path, [PREDICTED]))
