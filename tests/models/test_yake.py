"""YAKE against lists that the package yake 0.7.3 gave (tests/golden/yake.jsonl), and what karat adds to it."""

from __future__ import annotations

import json
from math import log
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.corpus import Document
from karat.errors import InputError
from karat.models.base import MODELS, CommonOptions, settled
from karat.models.extractors.yake import yake
from karat.text import segtok

GOLDEN = [json.loads(line) for line in Path("tests/golden/yake.jsonl").read_text(encoding="utf-8").splitlines()]
BEES = GOLDEN[0]["text"]


def pairs(document: Document, common: CommonOptions, **options: Any) -> list[tuple[Any, Any]]:
    [found] = yake(common, **options)([document])
    return list(zip(found.keyphrases or (), found.scores or (), strict=True))


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden["text"][:20])
def test_phrases_and_scores_are_those_of_the_package(golden: dict[str, Any]) -> None:
    common = CommonOptions(n=20, language=golden["language"])
    found = pairs(Document(text=golden["text"]), common, raw=True, **golden["options"])
    assert [phrase for phrase, _ in found] == [phrase for phrase, _ in golden["phrases"]]
    assert [score for _, score in found] == pytest.approx([score for _, score in golden["phrases"]], rel=0, abs=1e-9)


def test_the_golden_lists_are_long_enough_to_tell_something() -> None:
    assert sum(len(golden["phrases"]) for golden in GOLDEN) > 200
    assert [golden["phrases"] for golden in GOLDEN if golden["text"] in ("", "and of the in")] == [[], []]


def test_words_and_phrases_score_as_the_paper_says() -> None:
    # One sentence, three words, each once: 1 + 1 neighbour of 1 on each side, usual frequency 1, spread 1.
    place, related = log(log(3.0)), 1.0 + 2.0
    word = place * related / (1.0 / related + 1.0 / related)
    found = dict(pairs(Document(text="tidal turbine farm"), CommonOptions(), raw=True))
    assert found["turbine"] == pytest.approx(word / (word + 1))
    edge = place * 2.0 / (1.0 / 2.0 + 1.0 / 2.0)  # neighbours on one side only
    assert found["tidal turbine"] == pytest.approx(edge * word / (edge + word + 1))


def test_scores_are_better_the_higher_and_raw_ones_the_lower() -> None:
    turned = pairs(Document(text=BEES), CommonOptions(n=5))
    assert [score for _, score in turned] == sorted((score for _, score in turned), reverse=True)
    assert pairs(Document(text=BEES), CommonOptions(n=5), raw=True) == [(phrase, -score) for phrase, score in turned]


def test_phrases_stand_as_in_the_text_unless_lower_case_is_asked_for() -> None:
    document = Document(text=GOLDEN[1]["text"])
    phrases = [phrase for phrase, _ in pairs(document, CommonOptions(n=3))]
    assert phrases[0] == "Graph Neural Networks"
    assert [phrase for phrase, _ in pairs(document, CommonOptions(n=3), lower=True)] == [
        phrase.lower() for phrase in phrases
    ]


def test_a_title_is_a_sentence_of_its_own() -> None:
    apart = pairs(Document(title="Honey bees dance", text=BEES), CommonOptions(n=20))
    assert apart == pairs(Document(text=f"Honey bees dance. {BEES}"), CommonOptions(n=20))
    assert not any("dance honey" in phrase.lower() for phrase, _ in apart)


def test_tagged_sentences_serve_where_there_is_no_text() -> None:
    sentences = [[("Honey", "NN"), ("bees", "NNS"), ("dance", "VBP"), (".", ".")]]
    assert pairs(Document(sentences=sentences), CommonOptions()) == pairs(
        Document(text="Honey bees dance."), CommonOptions()
    )


def test_phrases_inside_better_ones_are_left_out_and_stems_given_on_request() -> None:
    common = CommonOptions(n=4, redundancy=True, stem=True)
    found = [phrase for phrase, _ in pairs(Document(text=BEES), common)]
    assert "honey bee" in found
    assert not {"bee", "honey"} & set(found[found.index("honey bee") :])
    plain = [phrase for phrase, _ in pairs(Document(text=BEES), CommonOptions(n=4))]
    assert {"honey bees", "honey"} <= set(map(str.lower, plain))


def test_stop_words_come_from_a_file_where_one_is_named(tmp_path: Path) -> None:
    stops = tmp_path / "stops.txt"
    stops.write_text("dance\nthe\n", encoding="utf-8")
    found = pairs(Document(text="the bees dance"), CommonOptions(language="swedish"), stopwords=str(stops))
    assert [phrase for phrase, _ in found] == ["bees"]


def test_a_language_without_stop_words_is_told_what_to_do() -> None:
    with pytest.raises(
        InputError, match=r"no stop words for swedish \(it has them for arabic, .*english, .*stopwords=FILE"
    ):
        yake(CommonOptions(language="sv"))


def test_options_are_checked() -> None:
    with pytest.raises(InputError, match="dedup_func of yake 'seqn'; did you mean 'seqm'"):
        settled(MODELS["yake"], {"dedup_func": "seqn"})
    with pytest.raises(InputError, match="longest of yake is at least 1, not 0"):
        yake(CommonOptions(), longest=0)


def test_python_calls_it_by_name() -> None:
    [first, *_] = karat.extract(BEES, "yake,raw=true", n=3)
    assert list(first) == GOLDEN[0]["phrases"][0]


def test_sentences_and_tokens_are_those_of_segtok() -> None:
    # Found with segtok 1.5.11: abbreviations, initials, brackets, addresses, entities, contractions, odd letters.
    text = "Dr. A. Dent (cf. Fig. 2.) came, i.e. he's 5. May here. "
    text += '"Stop!" he said; AT&amp;T\'s a_b isn’t to me@x.org now.'
    assert segtok.sentences(text) == [
        ["Dr.", "A.", "Dent", "(", "cf.", "Fig.", "2.", ")", "came", ",", "i.e.", "he", "5.", "May", "here", "."],
        [
            '"',
            "Stop",
            '!"',
            "he",
            "said",
            ";",
            "AT",
            "&",
            "T",
            "a",
            "_",
            "b",
            "is",
            "n’t",
            "to",
            "me@x.org",
            "now",
            ".",
        ],
    ]
