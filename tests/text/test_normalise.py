"""The compared form of a text is the stems of its tokens, however and beside whatever it is made."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from nltk.stem import PorterStemmer

from karat.protocol import option_fields
from karat.text import normalise
from karat.text.normalise import Normaliser, normaliser
from karat.text.stems import stemmer
from karat.text.tokens import tokenizer

untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

NAIVE: dict[str, Callable[[str], list[str]]] = {
    "marks": lambda text: re.findall(r"\w+(?:-\w+)*|[^\w\s]", text),
    "space": lambda text: [token.strip() for token in text.strip().split(" ")],
    "split": str.split,
    "split_nopunc": lambda text: [token for token in re.split(r"\W", text) if token],
}
EVERY_TOKENIZER = pytest.mark.parametrize("name", NAIVE)

# Texts of everything, and texts of what the code has to tell apart.
texts = st.text() | st.text(alphabet="aS-_ .\t\n\x00\u00a0İΣ")
words = st.sampled_from(
    [
        "Networks",
        "networking",
        "flies",
        "dying",
        "state-of-the-art",
        "e.g.",
        "ΣΊΣΥΦΟΣ",
        "<unk>",
        "\x00",
        ";",
        "(",
        "relational",
    ]
)
sentences = st.lists(words, max_size=12).map(" ".join)

nltk_stem: Callable[[str], str] = PorterStemmer().stem


def fresh(name: str, stem: str = "porter", lower: bool = True) -> Normaliser:
    """A normaliser that remembers nothing yet."""
    return Normaliser(tokenizer(name), stemmer(stem), lower)


def naive(name: str, text: str) -> str:
    return " ".join(nltk_stem(token) for token in NAIVE[name](text.lower()))


CASED = {"nltk", "spacy"}  # which see a text before it is lower-cased; the conformance tests compare them


def test_every_tokenizer_is_compared_here_but_those_that_go_by_capitals() -> None:
    names = option_fields()["tokenizer"][1].metadata["values"]
    assert NAIVE.keys() == names.keys() - CASED
    assert {name for name in names if tokenizer(name).cased} == CASED


@pytest.mark.parametrize("name", sorted(CASED))
def test_sentences_and_capitals_are_seen_before_letters_are_lower_cased(name: str) -> None:
    text = "We study neural networks. They learn, said IBM. J. Smith's nets don't."
    tokens = tokenizer(name)(text)
    assert normaliser(name, "none", "lower")(text) == " ".join(tokens).lower()
    assert normaliser(name, "none", "stem")(text) == " ".join(tokens)
    assert " neural networks . they learn , said ibm . j. smith 's nets do n't ." in f" {' '.join(tokens).lower()}"


# ---------------------------------------------------------------------------------------------- by hand


@pytest.mark.parametrize(
    ("name", "stem", "case", "form"),
    [
        ("marks", "porter", "lower", "neural network , train ."),
        ("marks", "none", "lower", "neural networks , trained ."),
        ("marks", "none", "stem", "Neural Networks , trained ."),
        ("marks", "porter", "stem", "neural network , train ."),
        ("space", "porter", "lower", "neural networks,  trained."),
        ("split", "porter", "lower", "neural networks, trained."),
        ("split_nopunc", "porter", "lower", "neural network train"),
        ("nltk", "porter", "lower", "neural network , train ."),
        ("spacy", "porter", "lower", "neural network , train ."),
    ],
)
def test_a_text_in_its_compared_form(name: str, stem: str, case: str, form: str) -> None:
    assert normaliser(name, stem, case)("Neural Networks,  trained.") == form


def test_another_language_is_stemmed_by_its_own_rules() -> None:
    assert normaliser("marks", "french", "lower")("Réseaux neuronaux") == "réseau neuronal"


def test_a_form_remembered_for_a_text_is_not_given_to_another_case() -> None:
    kept, lowered = normaliser("split", "none", "stem"), normaliser("split", "none", "lower")

    assert [n(t) for t in ("Net", "net") for n in (kept, lowered)] == ["Net", "net", "net", "net"]


def test_the_memory_is_emptied_only_beyond_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(normalise, "REMEMBERED", 3)
    forms = fresh("marks")
    forms("one two")
    forms.forget()
    assert forms._pieces

    forms("three four five")
    forms.forget()
    assert not forms._pieces
    assert forms("one networks") == "one network"


# ---------------------------------------------------------------------------------------------- any text


@EVERY_TOKENIZER
@untimed
@given(text=texts | sentences)
@example(text="State-of-the-art (deep) NETWORKS, e.g. x_1:\tit's 3.5\u00a0% …\n")
def test_the_form_is_the_stems_of_the_tokens(name: str, text: str) -> None:
    assert fresh(name)(text) == naive(name, text)


@EVERY_TOKENIZER
@untimed
@given(given_texts=st.lists(texts | sentences, max_size=6))
@example(given_texts=[])
@example(given_texts=[""])
@example(given_texts=["", ""])
@example(given_texts=[" ", "a  b", ""])
@example(given_texts=["...", "", "nets."])
@example(given_texts=["a\x00b", "\x00", ""])
@example(given_texts=["\x00"])
def test_many_forms_at_once_are_the_forms_one_by_one(name: str, given_texts: list[str]) -> None:
    one_by_one = [fresh(name)(text).strip() for text in given_texts]

    assert fresh(name).many(given_texts) == one_by_one


@EVERY_TOKENIZER
@untimed
@given(given_texts=st.lists(texts | sentences, max_size=6))
@example(given_texts=["Nets", "a \x00 b"])
def test_many_forms_without_lower_case_are_the_forms_one_by_one(name: str, given_texts: list[str]) -> None:
    one_by_one = [fresh(name, "none", lower=False)(text).strip() for text in given_texts]

    assert fresh(name, "none", lower=False).many(given_texts) == one_by_one


@EVERY_TOKENIZER
@untimed
@given(before=st.lists(texts | sentences, max_size=4), text=texts | sentences)
@example(before=["a", "b"], text="a \x00 b")
def test_what_was_asked_before_does_not_change_a_form(name: str, before: list[str], text: str) -> None:
    asked = fresh(name)
    asked.many(before)
    for earlier in before:
        asked(earlier)

    assert asked(text) == fresh(name)(text)
    assert asked.many([text, text]) == fresh(name).many([text, text])


@untimed
@given(st.lists(sentences, max_size=5))
def test_many_forms_with_the_tokenizer_of_nltk_are_the_forms_one_by_one(given_texts: list[str]) -> None:
    forms = fresh("nltk")

    assert forms.many(given_texts) == [forms(text).strip() for text in given_texts]


@EVERY_TOKENIZER
@untimed
@given(phrase=sentences, text=sentences)
def test_tokens_follow_each_other_exactly_when_the_form_stands_in_the_form(name: str, phrase: str, text: str) -> None:
    needle = [nltk_stem(token) for token in NAIVE[name](phrase.lower())]
    stems = [nltk_stem(token) for token in NAIVE[name](text.lower())]
    assume(all(needle))  # an empty token is none to be found
    follow = any(stems[i : i + len(needle)] == needle for i in range(len(stems) - len(needle) + 1))
    forms = fresh(name)

    if needle:
        assert (f" {forms(phrase)} " in f" {forms(text)} ") is follow
