"""Strings that Unicode can write in several ways have one form; what makes another word is kept."""

from __future__ import annotations

from unicodedata import is_normalized, normalize

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from karat.text.normalise import Normaliser
from karat.text.stems import stemmer
from karat.text.tokens import tokenizer
from karat.text.unicode import composed
from tests.examples import examples

untimed = settings(deadline=None, max_examples=examples(200))

# Letters with marks of several scripts, single and in parts, and all that is invisible between them.
LETTERS = "aÀéệΣςάα한ㅎक़षกកงبمИй'-., \u00a0\u2001İıKÅ👩💻❤"
PARTS = "\u0301\u0323\u0327\u0302\u0307\u0345\u1112\u1161\u11ab\u094d\u093c\u20e3"
DROPPED = "\u00ad\u034f\u061c\u200e\u202b\u2060\u2063\u2069\ufe0f\ufeff"
JOINERS = "\u200c\u200d"
texts = st.text(alphabet=LETTERS + PARTS + DROPPED + JOINERS + "\u200b", max_size=12) | st.text(
    alphabet=st.characters(exclude_categories=["Cs"]), max_size=8
)


@pytest.mark.parametrize(
    ("given", "form"),
    [
        ("re\u0301seau", "réseau"),
        ("tie\u0302\u0301ng Vie\u0323\u0302t", "tiếng Việt"),  # marks in either order
        ("\u1112\u1161\u11ab\u1100\u116e\u11a8", "한국"),  # Hangul in parts
        ("\u0915\u093c", "\u0915\u093c"),
        ("\u0958", "\u0915\u093c"),  # NFC itself keeps some Devanagari letters apart
        ("\u212b and \u2126", "Å and Ω"),  # the signs of ångström and ohm
        ("key\u00adphrase", "keyphrase"),
        ("\ufeffkey\u2060phrase\u200e", "keyphrase"),
        ("data\u200bbase/\u200bbases", "database/bases"),
        ("កម្ពុជា\u200bភាសា", "កម្ពុជា ភាសា"),  # parts words of Khmer, as of Thai
        ("ภาษา\u200bไทย", "ภาษา ไทย"),
        ("\u200bภาษา\u200b", "ภาษา"),
        ("\u2764\ufe0f", "\u2764"),
        ("می\u200cخواهم", "می\u200cخواهم"),  # a word of Persian, which without it would be spelled wrongly
        ("خواهم\u200c ", "خواهم "),
        ("क\u094d\u200dष", "क\u094d\u200dष"),  # another letter than without it
        ("👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"),
        ("👩\u200d💻", "👩\u200d💻"),
        ("🏳\ufe0f\u200d🌈", "🏳\u200d🌈"),
        ("Auf\u200clage", "Auflage"),
        ("\u200dnet\u200c", "net"),
        ("e\u200c\u0301", "é"),
        ("ﬁne", "ﬁne"),  # a ligature is another character: NFC, not NFKC
        ("x²", "x²"),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_a_text_in_its_one_spelling(given: str, form: str) -> None:
    assert composed(given) == form


@untimed
@given(text=texts)
def test_the_form_is_the_same_for_all_that_are_canonically_equivalent(text: str) -> None:
    forms = {composed(normalize(form, text)) for form in ("NFC", "NFD")} | {composed(text)}
    assert len(forms) == 1
    assert is_normalized("NFC", composed(text))
    assert composed(composed(text)) == composed(text)


@untimed
@given(text=texts)
def test_lower_case_makes_no_difference_between_spellings(text: str) -> None:
    forms = {composed(normalize(form, text).lower()) for form in ("NFC", "NFD")}
    assert forms == {composed(composed(text).lower())}


@untimed
@given(text=texts, invisible=st.sampled_from(DROPPED))
def test_invisible_characters_between_any_two_make_no_difference(text: str, invisible: str) -> None:
    assert composed(invisible.join(text)) == composed(text)


@untimed
@given(text=texts)
def test_no_form_depends_on_what_stands_beyond_white_space(text: str) -> None:
    assert composed(text).split() == [part for piece in text.split() for part in composed(piece).split()]


@untimed
@given(text=st.text(alphabet=st.characters(max_codepoint=127)))
def test_ascii_is_left_alone(text: str) -> None:
    assert composed(text) is text


# ---------------------------------------------------------------------------------------------- normalised


def fresh(name: str, composes: bool, stem: str = "porter") -> Normaliser:
    """A normaliser that remembers nothing yet."""
    return Normaliser(tokenizer(name), stemmer(stem), True, composes)


@pytest.mark.parametrize("name", ["marks", "space", "split", "split_nopunc"])
@untimed
@given(before=st.lists(texts, max_size=3), text=texts)
@example(before=[], text="a \u00ad b")
@example(before=["\u200c"], text="می\u200cخواهم \u200c a")
def test_a_text_is_compared_as_its_one_spelling_is(name: str, before: list[str], text: str) -> None:
    asked, plain = fresh(name, composes=True), fresh(name, composes=False)
    for other in before:
        asked(other)
    assert asked(text) == plain(composed(text.lower()))
    assert asked.many([text, "nets"]) == [plain(composed(text.lower())).strip(), "net"]


def test_what_has_another_spelling_is_noted_until_it_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    forms = fresh("marks", composes=True)
    assert forms("Le réseau \u4e2d") == "le réseau \u4e2d"
    assert not forms.respelled
    assert forms("Le re\u0301seau \u00ad \u4e2d") == "le réseau \u4e2d"
    assert forms.respelled
    monkeypatch.setattr("karat.text.normalise.REMEMBERED", 0)
    forms.forget()
    assert not forms.respelled
