"""Running text is cut into sentences and tokens, and tagged."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import InputError, MissingExtraError
from karat.text.sentences import sentences_of
from karat.text.stoplists import stop_words
from karat.text.tags import tagger


def cut(text: str, language: str = "english") -> list[str]:
    return [" ".join(each) for each in sentences_of(text, language)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Nets learn. Graphs too!", ["Nets learn .", "Graphs too !"]),
        ("Is it? yes.", ["Is it ?", "yes ."]),
        ("See Fig. 3, e.g. by J. Smith et al. There.", ["See Fig . 3 , e.g. by J . Smith et al . There ."]),
        ("It costs 3,000.50 (about 5 %). 5 cats.", ["It costs 3,000.50 ( about 5 % ) .", "5 cats ."]),
        ('He said "it works." Then he left.', ['He said " it works . "', "Then he left ."]),
        ("a net . it learns .", ["a net .", "it learns ."]),
        ("So so... Then not.", ["So so ...", "Then not ."]),
        ("client/server, state-of-the-art", ["client / server , state-of-the-art"]),
        ("agents' goals, an agent’s goal; can't", ["agents ' goals , an agent ’s goal ; ca n't"]),
        ("file.txt is a name. next", ["file . txt is a name . next"]),
        ("", []),
    ],
)
def test_english_text(text: str, sentences: list[str]) -> None:
    assert cut(text) == sentences


def test_clitics_of_other_languages_stand_before_their_word() -> None:
    assert cut("L'étude d’un arc aujourd'hui. C'est tout.", "french") == [
        "L' étude d’ un arc aujourd'hui .",
        "C' est tout .",
    ]
    assert cut("l'arte dell'acqua", "italian") == ["l' arte dell' acqua"]
    assert cut("der Hund's Knochen", "german") == ["der Hund ' s Knochen"]


@given(st.text(alphabet="aB é1.,'\"()-!?\n", max_size=60), st.sampled_from(["english", "french", "german"]))
@settings(max_examples=60, deadline=None)
def test_nothing_is_lost_but_white_space(text: str, language: str) -> None:
    found = sentences_of(text, language)

    assert "".join("".join(each) for each in found) == "".join(text.split())
    assert all(found)


def test_a_text_is_tagged_sentence_by_sentence() -> None:
    assert tagger("textblob")("Effective grids learn. Quality of service") == [
        [("Effective", "JJ"), ("grids", "NNS"), ("learn", "VB"), (".", ".")],
        [("Quality", "NN"), ("of", "IN"), ("service", "NN")],
    ]


def test_an_unknown_tagger_is_refused_and_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="unknown tagger 'brill'; write textblob, jieba, sudachi or spacy:MODEL"):
        tagger("brill")
    with pytest.raises(InputError, match="unknown tagger 'spacy'; write spacy:MODEL, as in spacy:en_core_web_sm"):
        tagger("spacy")
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtraError, match=r"the tagger spacy:xx needs spacy: pip install 'karat\[spacy\]'"):
        tagger("spacy:xx")


def test_a_model_of_spacy_gives_sentences_with_universal_tags(monkeypatch: pytest.MonkeyPatch) -> None:
    def word(text: str, pos: str) -> SimpleNamespace:
        return SimpleNamespace(text=text, pos_=pos, is_space=text.isspace())

    class Pipeline:
        def __init__(self, *pipes: str) -> None:
            self.pipe_names = pipes

        def __call__(self, text: str) -> SimpleNamespace:
            return SimpleNamespace(sents=[[word(each, "NOUN") for each in text.split(" ")], [word("\n", "SPACE")]])

    def load(name: str, exclude: list[str]) -> Pipeline:
        if name == "absent_model":
            raise OSError("[E050] Can't find model")
        return Pipeline("tagger") if name == "some_model" else Pipeline("parser")

    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load=load))
    assert tagger("spacy:some_model")("deux mots") == [[("deux", "NOUN"), ("mots", "NOUN")]]
    with pytest.raises(
        InputError, match="no model 'absent_model' here; install it: python -m spacy download absent_model"
    ):
        tagger("spacy:absent_model")
    with pytest.raises(InputError, match="spaCy's model 'bare_model' has no tagger"):
        tagger("spacy:bare_model")


def test_stop_words_are_lower_case_and_each_language_has_its_articles() -> None:
    articles = {
        "english": "the",
        "french": "les",
        "german": "der",
        "spanish": "los",
        "italian": "gli",
        "portuguese": "os",
    }
    for language, article in articles.items():
        words = stop_words(language)
        assert article in words
        assert len(words) > 200
        assert all(word == word.lower() for word in words)
