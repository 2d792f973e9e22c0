"""METEOR is nltk's but for synonyms, which are looked up as words, not as stems; WordNet is read as nltk reads it."""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from shutil import copy
from typing import Any

import nltk
import pytest
from nltk.corpus.reader.wordnet import WordNetCorpusReader
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import single_meteor_score

from karat.errors import KaratError
from karat.similarity import compare
from karat.text.wordnet import FOLDER, VARIABLE, WordNet, read_wordnet, wordnet
from tests.similarity.made import Pair, made_pairs, scores

INFLECTED = ["network", "networks", "networking", "graph", "graphs", "tree", "search", "searched", "searching", "of"]
SYNONYMS = ["car", "automobile", "auto", "machine", "picture", "image", "film", "movie", "buy", "purchase", "grid"]


class NoSynonyms:
    def synsets(self, word: str) -> list[Any]:
        return []


class OneWordNet(WordNetCorpusReader):  # type: ignore[misc]
    def map_wn(self, version: str = "wordnet") -> None:
        """Nothing: it would map offsets to those of another WordNet, which is not there."""


class NoStems:
    def stem(self, word: str) -> str:
        return word


def by_nltk(pair: Pair, lexicon: Any, stemmer: Any) -> float:
    return float(single_meteor_score(pair[1], pair[0], wordnet=lexicon, stemmer=stemmer))


@pytest.fixture(scope="module")
def nltk_wordnet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """nltk's reader on the files of this machine; it wants the names of the lexicographers' files besides."""
    folder = tmp_path_factory.mktemp("wordnet")
    for name in ("noun", "verb", "adj", "adv"):
        for file in (f"index.{name}", f"data.{name}", f"{name}.exc"):
            copy(Path(os.environ.get(VARIABLE) or FOLDER, file), folder)
    (folder / "lexnames").write_text("".join(f"{i:02d}\tnoun.all\t1\n" for i in range(45)))
    nltk.data.path.append(str(folder))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield OneWordNet(str(folder), None)
    nltk.data.path.remove(str(folder))


@pytest.fixture(scope="module")
def lemmas() -> list[str]:
    words = {word for part in wordnet().parts for word in part.synsets if word.isalpha()}
    return sorted(words)


def test_exact_and_stem_matches_are_those_of_nltk() -> None:
    pairs = made_pairs(2_000, seed=6, words=INFLECTED)
    expected = [by_nltk(pair, NoSynonyms(), PorterStemmer()) for pair in pairs]
    found = scores("meteor", pairs, reference="given", synonyms="none", perfect="nltk")
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.wordnet
def test_synonym_matches_are_those_of_nltk_where_it_does_not_stem(nltk_wordnet: Any) -> None:
    # Base forms with one stem each: there the stages and the one-sided look-up of nltk cannot differ from ours.
    pairs = made_pairs(2_000, seed=7, words=SYNONYMS, longest=5)
    expected = [by_nltk(pair, nltk_wordnet, NoStems()) for pair in pairs]
    assert scores("meteor", pairs, reference="given", perfect="nltk") == pytest.approx(expected, abs=1e-9)
    without = scores("meteor", pairs, reference="given", perfect="nltk", synonyms="none")
    assert sum(a > b for a, b in zip(expected, without, strict=True)) > 400


@pytest.mark.wordnet
def test_synsets_of_words_and_of_inflected_words_are_those_of_nltk(nltk_wordnet: Any, lemmas: list[str]) -> None:
    chance, names = random.Random(8), {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}
    endings = ["", "s", "es", "ies", "ed", "ing", "er", "est", "men", "ves", "ings"]
    irregular = [word for part in wordnet().parts for word in part.irregular if "_" not in word]
    words = [word + chance.choice(endings) for word in chance.sample(lemmas, 3_000)] + chance.sample(irregular, 1_000)
    for word in words:
        expected = {f"{names[s.pos()]}.{s.offset():08d}" for s in nltk_wordnet.synsets(word)}
        assert wordnet().synsets(word) == expected, word


@pytest.mark.wordnet
@pytest.mark.parametrize(
    ("a", "b"), [("car", "automobile"), ("cars", "automobiles"), ("Car", "auto"), ("geese", "goose")]
)
def test_synonyms_match_also_when_inflected(a: str, b: str) -> None:
    assert compare("meteor", a, b) == compare("meteor", b, a) == 1
    assert compare("meteor", f"{a} park", f"{b} park") == 1
    assert wordnet().synonyms(a, b)


@pytest.mark.wordnet
def test_synonyms_can_be_left_out() -> None:
    assert compare("meteor,synonyms=none", "car", "automobile") == 0
    assert compare("meteor", "car", "banana") == 0


def test_a_perfect_match_is_1_or_punished_as_by_nltk() -> None:
    assert compare("meteor,synonyms=none", "networks", "networks") == 1
    assert compare("meteor,synonyms=none,perfect=nltk", "networks", "networks") == 0.5
    assert compare("meteor,synonyms=none", "search tree", "tree search") == 0.5  # two chunks of two words


def test_missing_wordnet_is_one_sentence_that_names_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KARAT_WORDNET", str(tmp_path))
    with pytest.raises(KaratError, match=r"^WordNet's .* apt install wordnet-base, or set KARAT_WORDNET") as raised:
        compare("meteor", "car", "automobile")
    assert str(tmp_path) in str(raised.value)
    assert "\n" not in str(raised.value)
    assert compare("meteor,synonyms=none", "cars", "car") == 1


def test_wordnet_is_found_where_the_variable_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("noun", "verb", "adj", "adv"):
        (tmp_path / f"{name}.exc").write_text("wugim wug\n" if name == "noun" else "")
        (tmp_path / f"index.{name}").write_text("  1 A licence.  \n")
    (tmp_path / "index.noun").write_text(
        "  1 A licence.  \nwug n 2 1 @ 2 0 00000001 00000002  \nzop n 1 0 1 0 00000002  \n"
    )
    monkeypatch.setenv("KARAT_WORDNET", str(tmp_path))
    assert isinstance(read_wordnet(str(tmp_path)), WordNet)
    assert wordnet().synsets("wugs") == {"noun.00000001", "noun.00000002"}
    assert compare("meteor", "wugim", "zops") == 1
    assert compare("meteor", "car", "automobile") == 0
