"""Chinese and Japanese, which have no spaces between words: ten documents each, with figures worked by hand."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.errors import InputError
from karat.matching.inputs import as_protocols
from karat.protocol import PRESETS, parse_protocol
from karat.text.normalise import normaliser_of
from karat.text.places import stems_at
from karat.text.segments import close, cut, segmented
from karat.text.sentences import sentences_of
from karat.text.tags import tagger

HERE = Path(__file__).parent
OWN = {"chinese": "jieba", "japanese": "sudachi"}
METRICS = ["f1@5", "f1@M", "f1@M:present", "f1@M:absent"]
SEGMENTERS = [pytest.param(language, own, marks=pytest.mark.segmenters) for language, own in OWN.items()]

# F1 of a document with p predictions, r references and h hits is 2h / (p + r). For all phrases, first five and all:
# z1 2·2/(4+3), z2 2·2/(5+4) and 2·3/(6+4), z3 2/(2+3), z4 1, z5 2/(3+3), z7 2·3/(5+4), z9 2·2/(4+3), z10 2/(4+4).
# Of absent ones, z4 and z8 have no reference. By jieba `使用` (z10) is a part of the word `放心使用`, and so absent.
THIRD, HALF = Fraction(1, 3), Fraction(1, 2)
FIGURES: dict[tuple[str, str], list[Fraction]] = {
    ("chinese", "characters"): [
        Fraction(4, 7) + Fraction(4, 9) + Fraction(2, 5) + 1 + THIRD + 2 * THIRD + Fraction(4, 7) + Fraction(1, 4),
        Fraction(4, 7) + Fraction(3, 5) + Fraction(2, 5) + 1 + THIRD + 2 * THIRD + Fraction(4, 7) + Fraction(1, 4),
        Fraction(2, 5) + 2 * THIRD + HALF + 1 + Fraction(2, 5) + Fraction(4, 7) + 2 * THIRD + Fraction(2, 7),
        Fraction(1 + 1),
    ],
    # j1 2·2/(3+3), j2 2·3/(5+3) and 2·3/(6+3), j3 2/(2+4), j4 2·2/(3+3), j5 2/(2+3), j6 2·2/(2+3), j7 2/(3+3),
    # j9 2/(4+3), j10 2/(2+3). Of absent ones j2, j4 and j8 have no reference. `花` (j3) is a part of `花壇`.
    ("japanese", "characters"): [
        2 * THIRD + Fraction(3, 4) + THIRD + 2 * THIRD + Fraction(8, 5) + THIRD + Fraction(2, 7),
        2 * THIRD + 2 * THIRD + THIRD + 2 * THIRD + Fraction(8, 5) + THIRD + Fraction(2, 7),
        HALF + 2 * THIRD + Fraction(2, 5) + 2 * THIRD + HALF + 1 + Fraction(2, 5) + THIRD + HALF,
        Fraction(1),
    ],
}
FIGURES["chinese", "jieba"] = [
    *FIGURES["chinese", "characters"][:2],
    FIGURES["chinese", "characters"][2] - Fraction(2, 7),
    2 + HALF,
]
FIGURES["japanese", "sudachi"] = [
    *FIGURES["japanese", "characters"][:2],
    FIGURES["japanese", "characters"][2] - Fraction(2, 5),
    1 + 2 * THIRD,
]
DOCUMENTS = {"chinese": (10, 10, 10, 8), "japanese": (10, 10, 10, 7)}  # that are defined, metric by metric
# Which references are present (P) and absent (A), document by document, as they are listed; by characters.
PRESENT = {
    "chinese": "PPA PPPA PPA PPP PPA PPA PPPA PPP PPA PPAP",
    "japanese": "PPA PPP PPAP PPP PPA PPA PPA PPP PPA PPA",
}
BY_WORDS = {
    "chinese": "PPA PPPA PPA PPP PPA PPA PPPA PPP PPA PPAA",
    "japanese": "PPA PPP PPAA PPP PPA PPA PPA PPP PPA PPA",
}
# What tfidf has to find of each document among its first five phrases.
FOUND = {
    "chinese": "图神经网络 主题标引 城市公园 锂离子电池 关键词抽取 石拱桥 微塑料 睡眠 图像识别 开放数据",
    "japanese": "機械学習 件名標目 都市公園 リチウムイオン電池 キーワード抽出 石橋 河川 読書 画像認識 ライセンス",
}


def files(language: str) -> tuple[Path, Path]:
    return HERE / f"{language}.jsonl", HERE / f"{language}.run.jsonl"


def values(corpus: str, **options: Any) -> list[float]:
    return [row["value"] for row in karat.score(*files(corpus), metrics=METRICS, **options).rows()]


def present(language: str, protocol: str) -> str:
    """P or A of each reference."""
    normalise = normaliser_of(parse_protocol(protocol).matching)
    found = []
    for line in files(language)[0].read_text(encoding="utf-8").splitlines():
        document = json.loads(line)
        texts = [f" {normalise(document[part])} " for part in ("title", "text")]
        forms = [f" {normalise(phrase).strip()} " for phrase in document["keyphrases"]]
        found.append("".join("P" if any(form in text for text in texts) else "A" for form in forms))
    return " ".join(found)


# ---------------------------------------------------------------------------------------------- scores


@pytest.mark.parametrize("language", OWN)
def test_by_characters_the_scores_are_those_worked_by_hand(language: str) -> None:
    sums = FIGURES[language, "characters"]
    expected = [float(total / n) for total, n in zip(sums, DOCUMENTS[language], strict=True)]
    assert values(language) == pytest.approx(expected)
    assert values(language, language=language) == pytest.approx(expected)
    assert present(language, "karat") == PRESENT[language]


@pytest.mark.parametrize(("language", "own"), SEGMENTERS)
def test_by_words_the_scores_are_those_worked_by_hand(language: str, own: str) -> None:
    sums = FIGURES[language, own]
    expected = [float(total / n) for total, n in zip(sums, DOCUMENTS[language], strict=True)]
    protocol = f"karat,segmentation={own}"
    assert values(language, protocol=protocol) == pytest.approx(expected)
    assert values(language, protocol=protocol, language=language) == pytest.approx(expected)
    assert present(language, protocol) == BY_WORDS[language]


def test_no_preset_cuts_and_a_language_makes_it_cut() -> None:
    assert {name: each.matching.segmentation for name, each in PRESETS.items() if name != "karat"} == dict.fromkeys(
        [name for name in PRESETS if name != "karat"], "none"
    )
    [chan] = as_protocols(["chan2019"], "chinese")
    assert str(chan) == "chan2019,segmentation=characters"
    [own] = as_protocols(["chan2019,segmentation=jieba"], "zh")
    assert str(own) == "chan2019,segmentation=jieba"
    assert [str(each) for each in as_protocols(["karat"], "japanese")] == ["karat"]
    # Under chan2019 as it is, nothing between two marks is a phrase: no reference of the corpus is present.
    assert values("chinese", protocol="chan2019")[2] == 0


def test_an_unknown_way_of_cutting_is_refused_with_near_ones() -> None:
    with pytest.raises(InputError, match="unknown value of option segmentation 'jeiba'; did you mean 'jieba'"):
        parse_protocol("karat,segmentation=jeiba")


# ---------------------------------------------------------------------------------------------- characters


def test_characters_are_cut_and_other_scripts_stay_whole() -> None:
    normalise = normaliser_of(parse_protocol("karat").matching)
    assert normalise("BERT模型, deep networks") == "bert 模 型 , deep network"
    assert normalise("神经网络") == normalise("神经 网络") == normalise("神\u200b经网络") == "神 经 网 络"
    assert normalise("か\u3099っこう") == "が っ こ う"  # one character, in two pieces
    assert normalise("한국어 мир café") == "한국어 мир café"
    assert cut("none") is None


def test_places_of_characters_are_those_in_the_text_as_it_is_given() -> None:
    text = "用BERT模型。"
    stems, places = stems_at(text, parse_protocol("karat").matching)
    assert stems == ["用", "bert", "模", "型", "。"]
    assert [text[start:end] for start, end in places] == ["用", "BERT", "模", "型", "。"]


@given(st.text(st.characters(max_codepoint=0x24F), max_size=60))
def test_texts_in_latin_script_are_not_cut(text: str) -> None:
    spaced = cut("characters")
    assert spaced is not None
    assert spaced(text) == text == close(text) == segmented(text, "english")


@given(st.text("神经网络ニューラのabc 。,", max_size=30), st.text("神经网络ニューラのabc", min_size=1, max_size=6))
def test_a_phrase_of_characters_is_present_where_it_stands(text: str, phrase: str) -> None:
    """Unless it begins or ends within a Latin word."""
    normalise = normaliser_of(parse_protocol("karat").matching)
    form, whole = normalise(phrase).strip(), f" {normalise(text)} "
    if not any(letter.isascii() for letter in phrase[0] + phrase[-1]):
        assert (f" {form} " in whole) == (phrase in text.replace(" ", "")) or " " in text
        assert (phrase in text) <= (f" {form} " in whole)


# ---------------------------------------------------------------------------------------------- models


def predictions(model: str, corpus: str, **options: Any) -> list[list[str]]:
    run = karat.predict(files(corpus)[0], model, n=5, **options)
    return [[phrase or "" for phrase in each.keyphrases or ()] for each in run]


@pytest.mark.parametrize(("language", "own"), SEGMENTERS)
def test_tfidf_finds_the_terms_that_a_reader_expects(language: str, own: str) -> None:
    found = predictions("tfidf", language)
    assert [term in phrases for term, phrases in zip(FOUND[language].split(), found, strict=True)] == [True] * 10
    assert found == predictions("tfidf", language, language=language)


@pytest.mark.parametrize(("language", "own"), SEGMENTERS)
@pytest.mark.parametrize("model", ["multipartiterank", "topicrank", "kpminer", "yake", "firstphrases", "keybert"])
def test_every_kind_of_model_writes_phrases_as_they_stand_in_the_text(model: str, language: str, own: str) -> None:
    found = predictions(model, language)
    for line, phrases in zip(files(language)[0].read_text(encoding="utf-8").splitlines(), found, strict=True):
        document = json.loads(line)
        text = f"{document['title']}\n{document['text']}".lower()
        assert phrases, document["id"]
        assert [phrase for phrase in phrases if phrase.lower() not in text] == []


@pytest.mark.segmenters
def test_word_classes_come_from_the_dictionaries() -> None:
    [[*chinese]] = tagger("jieba")("图神经网络的BERT模型")
    assert chinese == [
        ("图", "NOUN"),
        ("神经网络", "NOUN"),
        ("的", "X"),
        ("BERT", "NOUN"),
        ("模型", "NOUN"),
    ]
    japanese = tagger("sudachi")("機械学習の手法。速い網！")
    assert japanese == [
        [("機械", "NOUN"), ("学習", "NOUN"), ("の", "ADP"), ("手法", "NOUN"), ("。", "X")],
        [("速い", "ADJ"), ("網", "NOUN"), ("！", "X")],
    ]


@pytest.mark.segmenters
def test_sentences_end_without_a_space_and_long_runs_are_cut_in_parts() -> None:
    assert sentences_of("图书。新书！好？", "chinese") == [["图书", "。"], ["新书", "！"], ["好", "？"]]
    long = "機械学習" * 10_000
    assert "".join(segmented(long, "japanese").split()) == long


@pytest.mark.segmenters
def test_jieba_believes_no_file_of_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from karat.text import segments

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "jieba.cache").write_bytes(b"not what it should be")
    segments.segmenter.cache_clear()
    assert segments.segmenter("jieba")("神经网络") == [("神经网络", "NOUN")]
    assert (tmp_path / "jieba.cache").read_bytes() == b"not what it should be"
