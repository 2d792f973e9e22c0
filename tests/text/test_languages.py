"""The language of texts is told by their common words, and another one than was said is told only where it is clear."""

from __future__ import annotations

import pytest

from karat.protocol import LANGUAGES
from karat.text.languages import COMMON, language_of, other_language

ENGLISH = "This paper shows that the cost of a search can be lowered by an index."
FRENCH = "Nous montrons que le coût de la recherche peut être réduit par un index dans les textes."
GERMAN = "Wir zeigen, dass die Kosten der Suche mit einem Index für den Text sinken und nicht steigen."


def test_a_language_is_told_by_its_common_words_or_not_at_all() -> None:
    assert set(COMMON) <= set(LANGUAGES)
    said = {
        "english": "This paper shows that the cost of a search can be lowered by an index.",
        "french": "Nous montrons que le coût de la recherche peut être réduit par un index dans les textes.",
        "german": "Wir zeigen, dass die Kosten der Suche mit einem Index für den Text sinken und nicht steigen.",
        "spanish": "Se muestra que el coste de la búsqueda en los textos es menor con un índice para las palabras.",
        "russian": "В работе показано, что поиск по текстам и словам не может быть дорогим для них.",
    }
    assert {language: language_of(text) for language, text in said.items()} == {name: name for name in said}
    assert language_of("grid computing, load balancing, peer-to-peer networks") == "unknown"
    assert language_of("det er en god idé og den er i en bog") == "unknown"  # Danish, and nearly Norwegian


@pytest.mark.parametrize(
    ("texts", "said", "found"),
    [
        ([FRENCH], "english", ("french", 1)),
        ([FRENCH] * 9 + [ENGLISH], "english", ("french", 9)),
        ([FRENCH] * 3 + ["grid computing"] * 7, "english", ("french", 3)),  # most texts that tell any
        ([ENGLISH] * 4, "german", ("english", 4)),
        ([FRENCH], "french", None),
        ([ENGLISH] * 2 + [FRENCH] * 2, "english", None),
        ([FRENCH] + ["grid computing"] * 9, "english", None),  # too few texts
        (["Les abeilles de la ruche."], "english", None),  # too few words
        (["qwertz uiop " * 50], "english", None),
        ([FRENCH, GERMAN], "english", None),  # neither is that of most
        ([FRENCH], "esperanto", None),  # whose common words are not known, and may be those of French
        ([], "english", None),
    ],
)
def test_another_language_is_told_where_most_texts_are_in_it(
    texts: list[str], said: str, found: tuple[str, int] | None
) -> None:
    assert other_language(texts, said) == found
