"""Protocols: options, presets, signatures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.protocol import LANGUAGES, PRESETS, Protocol, change, option_fields, parse_protocol


@st.composite
def protocols(draw: st.DrawFn) -> Protocol:
    """Any preset with any options changed."""
    protocol = PRESETS[draw(st.sampled_from(sorted(PRESETS)))]
    for name, (_, field) in option_fields().items():
        if draw(st.booleans()):
            values = list(field.metadata["values"])
            values += {"number": ["7"], "language": ["french"], None: []}[field.metadata["free"]]
            protocol = change(protocol, **{name: draw(st.sampled_from(values))})
    return protocol


@given(protocols())
def test_names_and_signatures_are_read_back(protocol: Protocol) -> None:
    assert parse_protocol(str(protocol)) == protocol
    assert parse_protocol(protocol.signature()) == protocol
    assert parse_protocol(protocol.signature(set="author", hash="00ff", karat="1.0")) == protocol


def test_a_preset_prints_as_its_name() -> None:
    assert [str(preset) for preset in PRESETS.values()] == list(PRESETS)


def test_every_default_is_among_the_values() -> None:
    for name, (_, field) in option_fields().items():
        assert field.default in field.metadata["values"], name


def test_no_preset_is_left_that_was_not_compared_with_figures() -> None:
    assert [name for name, preset in PRESETS.items() if preset.experimental] == []


def test_the_languages_are_those_of_snowball() -> None:
    import Stemmer

    assert set(LANGUAGES) <= set(Stemmer.algorithms())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("chan2018", "unknown protocol 'chan2018'; did you mean 'chan2019'"),
        ("karat,pads=k", "unknown protocol option 'pads'; did you mean 'pad'"),
        ("karat,pad=5", "unknown value of option pad '5' (known: absent-10, k, none)"),
        ("karat,pad", "'pad' is not option=value"),
        ("karat,limit=0", "option limit is `all` or a whole number from 1 to 1,000,000, not '0'"),
        ("karat,stemmer=frensh", "unknown stemmer 'frensh'; did you mean 'french'"),
    ],
)
def test_what_is_wrong_is_said_with_the_nearest_that_is_right(text: str, message: str) -> None:
    with pytest.raises(karat.InputError) as error:
        parse_protocol(text)
    assert message in str(error.value)


def test_another_language_is_an_option_of_the_protocol() -> None:
    corpus = karat.Corpus.of([{"id": "1", "text": "les réseaux", "keyphrases": ["réseau"]}])
    run = karat.Run.of([{"id": "1", "keyphrases": ["réseaux"]}])
    [english] = karat.score(corpus, run, metrics=["f1@M:present"]).rows()
    [french] = karat.score(corpus, run, metrics=["f1@M:present"], language="french").rows()
    assert (english["value"], french["value"]) == (None, 1.0)
    assert french["protocol"] == "karat,stemmer=french"
