"""Stems of languages with figures from outside karat, and phrases that match by them.

Words and stems are facts of Snowball's published vocabularies; NLTK's stemmers, which were written by others from the
same descriptions, say the same of each.
"""

from __future__ import annotations

from typing import Any

import pytest
from nltk.stem.snowball import SnowballStemmer

import karat
from karat.errors import InputError
from karat.matching.inputs import as_protocols
from karat.text.languages import CODES, LANGUAGES, named, stemmer_of
from karat.text.stems import stemmer

STEMS = {
    "german": {
        "aufeinander": "aufeinand",
        "kategorischen": "kategor",
        "häuser": "haus",
        "bibliotheken": "bibliothek",
        "schlagwörter": "schlagwort",
        "erschließung": "erschliess",
    },
    "spanish": {"chicas": "chic", "chicos": "chic", "redes": "red", "neuronales": "neuronal", "búsqueda": "busqued"},
    "italian": {"abbandonata": "abbandon", "abbandonate": "abbandon", "pronto": "pront", "biblioteche": "bibliotec"},
    "portuguese": {"boa": "boa", "quilométricas": "quilométr", "bibliotecas": "bibliotec", "automático": "automát"},
    "french": {"continue": "continu", "réseaux": "réseau", "bibliothèques": "bibliothequ", "automatiques": "automat"},
    "arabic": {"المكتبات": "مكتب", "مكتبة": "مكتب", "الشبكات": "شبك", "شبكة": "شبك", "العصبية": "عصب"},
}
# language → text, references, predictions; by hand: the first prediction is the first reference in another form and
# stands in the text, the second reference is absent, the second prediction is wrong and present.
MATCHED = {
    "german": (
        "Die Bibliotheken vergeben automatisch Schlagwörter.",
        ["Bibliothek", "Katalog"],
        ["Bibliotheken", "vergeben"],
    ),
    "spanish": (
        "Las redes neuronales aprenden a traducir.",
        ["red neuronal", "idioma"],
        ["redes neuronales", "aprenden"],
    ),
    "italian": ("Le reti neurali imparano a tradurre.", ["rete neurale", "lingua"], ["reti neurali", "imparano"]),
    "portuguese": (
        "As bibliotecas automáticas emprestam livros.",
        ["biblioteca automática", "leitor"],
        ["bibliotecas automáticas", "livros"],
    ),
    "french": (
        "Les réseaux automatiques traduisent des textes.",
        ["réseau automatique", "langue"],
        ["réseaux automatiques", "textes"],
    ),
    "arabic": ("تدرس المكتبات الشبكات العصبية", ["مكتبة", "لسان"], ["المكتبات", "العصبية"]),
}


@pytest.mark.parametrize("language", STEMS)
def test_stems_are_those_of_snowball_and_of_nltk(language: str) -> None:
    theirs, own = SnowballStemmer(language), stemmer(language)
    assert {word: own(word) for word in STEMS[language]} == STEMS[language]
    assert {word: theirs.stem(word) for word in STEMS[language]} == STEMS[language]
    assert [own(word.upper()) for word in STEMS[language]] == list(STEMS[language].values())


@pytest.mark.parametrize("language", MATCHED)
def test_phrases_match_by_the_stems_of_their_language(language: str) -> None:
    text, references, predictions = MATCHED[language]
    corpus = [{"id": "d", "text": text, "keyphrases": references}]
    run = [{"id": "d", "keyphrases": predictions}]
    metrics = ["f1@M", "f1@M:present", "r@M:absent"]

    def values(protocol: str = "karat", **options: Any) -> list[float]:
        return [row["value"] for row in karat.score(corpus, run, metrics=metrics, protocol=protocol, **options).rows()]

    # One hit of two predictions and two references; of present ones one of two predictions and one reference.
    assert values(language=language) == pytest.approx([1 / 2, 2 / 3, 0])
    code = next(code for code, name in CODES.items() if name == language)
    assert values(language=code) == values(language=language) == values(f"karat,stemmer={language}")
    assert values("karat,stemmer=none")[0] == 0


def test_a_language_is_known_by_its_name_or_code_in_any_case() -> None:
    assert [named(each) for each in ("fr", "FR", "French", "fr-CA", "pt_BR", "zh-Hant", "nb")] == [
        "french",
        "french",
        "french",
        "french",
        "portuguese",
        "chinese",
        "norwegian",
    ]
    assert set(CODES.values()) == set(LANGUAGES)
    assert {stemmer_of(each) for each in ("english", "chinese", "japanese")} == {"porter"}
    for known in (named, lambda each: as_protocols(["karat"], each)):
        with pytest.raises(InputError, match="unknown language 'chinees'; did you mean 'chinese'"):
            known("chinees")
