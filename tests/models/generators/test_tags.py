"""Tags of words and pieces: from references as karat matches them, and back to phrases; without a network."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from karat import Corpus, Run, score
from karat.corpus import Document
from karat.models.generators.unikp.tags import (
    NO_WORD,
    TAGS,
    B,
    DocumentWords,
    I,
    O,
    References,
    matching_of,
    phrases_of,
    piece_tags,
    prediction_of,
    spans_of,
    split,
    word_tags,
    words_of,
    words_of_pieces,
)

MATCHING = matching_of("english")
REFERENCES = References(MATCHING)


def tagged(document: Document) -> str:
    words = words_of(document, MATCHING)
    present, _ = split(words, REFERENCES.forms(document))
    return "".join(TAGS[tag] for tag in word_tags(words, present))


@pytest.mark.parametrize(
    ("title", "text", "references", "wanted"),
    [
        ("Deep nets", "We train deep nets.", ["deep net"], "BI" + "OOBIO"),
        (None, "Neural networks and a network", ["neural network", "network"], "BIOOB"),  # the longer one has the words
        (None, "A multi-core CPU", ["multi-core"], "OBO"),  # one word with its hyphen
        (None, "deep deep deep", ["deep deep"], "BIO"),  # places that overlap: the first
        ("Deep", "nets of bees", ["deep nets"], "OOOO"),  # not across the end of the title
        (None, "Nets, trees", [["graph", "tree"], "net"], "BOB"),  # any variant
        (None, "the R\u00e9seau", ["re\u0301seau"], "OB"),  # as Unicode composes it
        (None, "Nets learn", ["learning of nets"], "OO"),
    ],
)
def test_words_of_references_are_tagged_where_they_stand(
    title: str | None, text: str, references: list[str | list[str]], wanted: str
) -> None:
    assert tagged(Document(title=title, text=text, keyphrases=references)) == wanted  # type: ignore[arg-type]


def test_references_are_present_exactly_where_scoring_takes_them_for_present() -> None:
    document = Document(
        id="a",
        title="Caching in Peer-to-Peer systems",
        text="We cache queries. Networks of peers (P2P) and C++ codes; trees' heaps.",
        keyphrases=[
            "caching",
            "peer-to-peer system",
            "query",
            "p2p",
            "c++",
            "tree heap",
            "peer network",
            "networks of peer",
        ],
    )
    words = words_of(document, MATCHING)
    forms = REFERENCES.forms(document)
    present, absent = split(words, forms)
    for number, reference in enumerate(document.keyphrases or []):
        run = Run.of([{"id": "a", "keyphrases": [reference]}])
        [row] = score(Corpus.of([document]), run, metrics=["recall@M:present"]).rows()
        assert (number not in absent) == (row["value"] > 0), reference
    assert len(present) + len(absent) == len(forms) == 8


def test_pieces_of_a_keyphrases_words_are_x_and_all_others_o() -> None:
    document = Document(title="Bees", text="Honeybees fly", keyphrases=["honeybee", "bee"])
    words = words_of(document, MATCHING)
    offsets = [(0, 4), (5, 10), (10, 14), (15, 17), (17, 18)]  # Bees honey ##bees fl ##y
    of = words_of_pieces(words, offsets)
    assert of.tolist() == [0, 1, 1, 2, 2]
    present, _ = split(words, REFERENCES.forms(document))
    assert "".join(TAGS[tag] for tag in piece_tags(word_tags(words, present), of)) == "BBXOO"


def test_a_piece_that_begins_with_its_space_is_of_the_word_behind_it() -> None:
    words = words_of(Document(text="of bees"), MATCHING)
    assert words_of_pieces(words, [(0, 2), (2, 7), (7, 7)]).tolist() == [0, 1, NO_WORD]


def by_all_tags(shares: np.ndarray, first: int, last: int) -> float:
    """The probability of a phrase from first to before last: the sum over all sequences of tags that have it."""
    total = 0.0
    for tags in product((O, B, I), repeat=len(shares)):
        has = tags[first] == B and all(tag == I for tag in tags[first + 1 : last])
        if has and (last == len(tags) or tags[last] != I):
            total += float(np.prod([shares[at, tag] for at, tag in enumerate(tags)]))
    return total


def test_the_probability_of_a_phrase_is_the_sum_of_all_tags_that_have_it() -> None:
    random = np.random.default_rng(0)
    shares = np.zeros((5, 4))
    shares[:, :3] = random.dirichlet([1, 1, 1], 5)
    found = spans_of(shares, 0, 4)
    for first, length in product(range(5), range(1, 5)):
        wanted = by_all_tags(shares, first, first + length) if first + length <= 5 else 0.0
        assert found[first, length - 1] == pytest.approx(wanted, abs=1e-12)


def test_no_phrase_goes_on_from_the_title_into_the_text() -> None:
    shares = np.tile([0.0, 0.5, 0.5, 0.0], (4, 1))
    found = spans_of(shares, 2, 3)
    assert found.tolist() == [[0.25, 0.25, 0.0], [0.5, 0.0, 0.0], [0.25, 0.25, 0.0], [0.5, 0.0, 0.0]]


def document_and_shares() -> tuple[Document, DocumentWords, np.ndarray]:
    document = Document(id="x", text="Deep Nets and the deep net")
    shares = np.array(
        [[0.1, 0.8, 0.1, 0], [0.1, 0.1, 0.8, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0.1, 0.9, 0, 0], [0.05, 0.05, 0.9, 0]]
    )
    return document, words_of(document, MATCHING), shares


def test_phrases_are_there_once_by_their_stems_at_their_best_place_as_it_is_written() -> None:
    document, words, shares = document_and_shares()
    found = prediction_of(document, words, shares, 3, longest=3, least=0.0)
    assert found.keyphrases == ["deep net", "Deep", "Nets"]
    assert found.scores == [0.9, 0.16, 0.1]
    assert found.kinds == ["present"] * 3
    assert found.token_probs == [[0.9, 0.9], [0.16], [0.1]]
    for shared, each in zip(found.token_probs or [], found.scores or [], strict=True):
        assert float(np.prod(shared or []) ** (1 / len(shared or []))) == pytest.approx(each)


def test_what_is_less_likely_than_the_least_is_not_given() -> None:
    _, words, shares = document_and_shares()
    assert [words.phrase(each.first, each.last) for each in phrases_of(words, shares, 10, 3, 0.15)] == [
        "deep net",
        "Deep",
    ]


def test_marks_alone_are_no_phrase() -> None:
    words = words_of(Document(text="a , b"), MATCHING)
    shares = np.tile([0.0, 1.0, 0.0, 0.0], (3, 1))
    assert [words.phrase(each.first, each.last) for each in phrases_of(words, shares, 10, 2, 0.5)] == ["a", "b"]


def test_no_phrase_goes_over_a_mark_or_ends_with_one() -> None:
    words = words_of(Document(text='C++, a filter (ODVF). Web 2.0 (of bees" and wasps. The end'), MATCHING)
    shares = np.tile([0.0, 0.5, 0.5, 0.0], (len(words.stems), 1))
    found = {words.phrase(each.first, each.last) for each in phrases_of(words, shares, 99, 4, 0.0)}
    assert {"C++", "filter", "filter (ODVF)", "Web 2.0", "of bees"} < found
    assert not any(each.endswith((",", ".", "(")) or each.startswith((",", ".", "(", ")")) for each in found)
    assert not any("," in each or '"' in each or ". " in each for each in found)
    assert not any(each.count("(") != each.count(")") for each in found)


def test_probabilities_are_those_without_the_weight_of_the_loss_and_the_order_stays() -> None:
    document, words, shares = document_and_shares()
    found = prediction_of(document, words, shares, 3, longest=3, least=0.0, weight=5)
    assert (found.keyphrases, found.scores) == (["deep net", "Deep", "Nets"], [0.9, 0.16, 0.1])
    begins, goes_on = 0.9 / 5 / (0.1 + 0.9 / 5), 0.9 / 5 / (0.05 + 0.05 / 5 + 0.9 / 5)
    assert (found.token_probs or [])[0] == pytest.approx([begins, goes_on], abs=1e-6)
    [alone] = (found.token_probs or [])[1] or []  # it begins, and does not go on at the next word
    assert alone == pytest.approx(0.16 / (0.1 + 0.16 + 0.02) * (1 - 0.16 / (0.1 + 0.02 + 0.16)), abs=1e-6)


def test_what_cannot_be_seen_does_not_come_into_a_run() -> None:
    words = words_of(Document(text="deep\u202e  \x07nets"), MATCHING)
    assert words.phrase(0, len(words.stems)) == "deep nets"
