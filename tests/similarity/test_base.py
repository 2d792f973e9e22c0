"""Names with options, text in any form, and what is said of names and options that do not exist."""

from __future__ import annotations

import pytest

from karat.errors import InputError
from karat.similarity import SIMILARITIES, compare, find
from karat.similarity.base import similarity


def test_phrases_are_lower_cased_tokenised_and_stemmed_where_wanted() -> None:
    assert compare("exact", "Neural  Networks", "neural network") == 1
    assert compare("levenshtein", "Neural  Networks", "neural networks") == 1
    assert compare("levenshtein", "networks", "network") == pytest.approx(1 - 1 / 8)


def test_options_stand_in_the_name_or_as_keywords() -> None:
    named = compare("bleu,reference=given", "a b c", "b c")
    assert named == compare("bleu", "a b c", "b c", reference="given")
    assert find("meteor,synonyms=none,perfect=nltk").options == {
        "reference": "longer",
        "synonyms": "none",
        "perfect": "nltk",
    }


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("blue", "unknown similarity 'blue'; did you mean 'bleu'?"),
        ("rougel", "did you mean 'rougeL'"),
        ("kmr,reference=given", "unknown option of kmr 'reference' (there are none)"),
        ("bleu,referense=given", "unknown option of bleu 'referense'; did you mean 'reference'?"),
        (
            "bleu,reference=longest",
            "unknown reference of bleu 'longest'; did you mean 'longer'? (known: given, longer)",
        ),
        ("bleu,given", "'given' is not option=value"),
        ("context,sentences=5", "option sentences of context cannot be written as text: give it in Python"),
        ("context", "similarity context needs the documents' sentences"),
    ],
)
def test_unknown_names_and_options_are_told_with_the_nearest(name: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        compare(name, "a", "b")
    assert message in str(raised.value)


def test_options_as_keywords_are_checked_too() -> None:
    with pytest.raises(InputError, match="unknown reference of chrf 'shorter'"):
        compare("chrf", "a", "b", reference="shorter")


def test_a_new_similarity_is_one_function(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SIMILARITIES",):
        monkeypatch.setattr(f"karat.similarity.base.{name}", dict(SIMILARITIES))

    @similarity("initial", form="surface")
    def initial(phrases, left, right, *, share: float = 1.0):  # type: ignore[no-untyped-def]
        """A share where the first words are equal."""
        import numpy as np

        same = [phrases[a][0] == phrases[b][0] for a, b in zip(left, right, strict=True)]
        return share * np.array(same, dtype=np.float64)

    assert find("initial").summary == "A share where the first words are equal."
    assert compare("initial,share=0.5", "Deep nets", "deep learning") == 0.5
    with pytest.raises(InputError, match="option share of initial is a float, not 'half'"):
        compare("initial,share=half", "a", "b")
