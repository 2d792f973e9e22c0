"""Words, targets and surface forms."""

import pytest

from karat import InputError
from karat.corpus import Document
from karat.models.generators.words import (
    DIGIT,
    EOS,
    PEOS,
    SEP,
    SPECIAL,
    Stems,
    Surface,
    Words,
    count_words,
    joined,
    source_tokens,
    split_references,
    targets_of,
    tokens,
)

DOCUMENT = Document(
    id="d1",
    title="3D printing on Multi-core CPUs",
    text="Web 2.0 for zebras. We study multi-core\n CPUs and C++ (in 1999).",
    keyphrases=["multi-core CPUs", "3D printing", "Web 2.0", "scheduling", "zebras", "quantum foam", "version 3"],
)
WORDS = Words((*SPECIAL, "multi", "-", "core", "cpus", "printing", "scheduling", "web", ".", "3d", "for", "study"), 18)


def test_tokens_are_in_lower_case_and_numbers_are_alike() -> None:
    assert tokens("3D printing, 64-bit (x86) <digit>") == [
        *("3d", "printing", ",", "<digit>", "-", "bit", "(", "x86", ")", "<digit>")
    ]


def test_characters_that_control_a_terminal_or_turn_a_text_do_not_come_into_a_phrase() -> None:
    document = Document(text="deep\x1b[31m\u202e\x00 nets\x9b of \u2066deep\u2069 \x07trees")
    assert source_tokens(document) == ["deep", "[", "31m", "nets", "of", "deep", "trees"]
    assert Surface(document).find(["deep", "trees"]) == "deep trees"
    assert Surface(document).find(["31m", "nets"]) == "31m nets"


def test_a_title_ends_with_a_mark_that_no_phrase_crosses() -> None:
    document = Document(title="Deep", text="nets")
    assert source_tokens(document) == ["deep", "<text>", "nets"]
    assert Surface(document).find(["deep", "nets"]) is None


def test_words_beyond_the_head_have_numbers_of_their_own_in_a_document() -> None:
    source = WORDS.numbered(["study", "zebras", "multi", "for", "zebras"])
    assert source.read == [19, 1, 9, 18, 1]  # `zebras` is in no vocabulary
    assert source.copied == [18, 19, 9, 20, 19]  # `study` and `for` are read, not written
    assert source.own == {"study": 18, "zebras": 19, "for": 20}


def test_present_references_come_by_first_place_and_then_the_absent_ones() -> None:
    present, absent = split_references(DOCUMENT, source_tokens(DOCUMENT), Stems("english"))
    assert [" ".join(phrase) for phrase in present] == [
        *("3d printing", "multi - core cpus", "web <digit> . <digit>", "zebras")
    ]
    assert [" ".join(phrase) for phrase in absent] == ["scheduling", "quantum foam", "version <digit>"]


def test_a_sequence_has_all_phrases_that_can_be_written_or_copied() -> None:
    source = WORDS.numbered(source_tokens(DOCUMENT))
    present, absent = split_references(DOCUMENT, source_tokens(DOCUMENT), Stems("english"))
    [target] = targets_of(present, absent, WORDS, source, "one2seq")
    printing, cores, web = [17, 13], [9, 10, 11, 12], [15, DIGIT, 16, DIGIT]
    zebras = [source.own["zebras"]]
    assert target == [*printing, SEP, *cores, SEP, *web, SEP, *zebras, PEOS, 14, EOS]


def test_one2one_has_a_target_for_each_phrase() -> None:
    source = WORDS.numbered(source_tokens(DOCUMENT))
    assert list(targets_of([["printing"]], [["scheduling"], ["foam"]], WORDS, source, "one2one")) == [
        [13, EOS],
        [14, EOS],
    ]


@pytest.mark.parametrize(
    ("written", "restored"),
    [
        (["3d", "printing"], "3D printing"),
        (["multi", "-", "core", "cpus"], "Multi-core CPUs"),
        (["web", "<digit>", ".", "<digit>"], "Web 2.0"),
        (["study", "multi", "-", "core", "cpus"], "study multi-core CPUs"),  # over the end of a line
        (["c", "+", "+"], "C++"),
        (["peer", "-", "to", "-", "peer"], "peer-to-peer"),
        (["tcp", "/", "ip"], "tcp/ip"),
        (["version", "<digit>"], None),
        (["<unk>", "printing"], None),
        (["-"], None),
        ([], None),
    ],
)
def test_phrases_are_text_again(written: list[str], restored: str | None) -> None:
    assert Surface(DOCUMENT).restored(written) == restored


def test_what_is_joined_has_the_same_tokens_again() -> None:
    for phrase in (["multi", "-", "core"], ["c", "+", "+"], ["users", "'", "needs"], ["r", "&", "d"], [".", "net"]):
        assert tokens(joined(phrase)) == phrase


def test_a_table_of_words_comes_back_from_its_file() -> None:
    again = Words.of_text(WORDS.as_text())
    assert (again.table, again.written, again.ids) == (WORDS.table, WORDS.written, WORDS.ids)
    with pytest.raises(InputError, match="first line"):
        Words.of_text("many\nwords\n")


def test_the_head_of_the_table_are_the_words_of_keyphrases() -> None:
    documents = [Document(text="a a b c", keyphrases=["x y", "x"]), Document(text="a b x", keyphrases=["c z"])]
    words = count_words(documents, read=5, written=3)
    assert words.table[len(SPECIAL) :] == ("x", "c", "y", "a", "b")
    assert words.written == len(SPECIAL) + 3


def test_a_corpus_without_references_or_with_one_word_is_refused() -> None:
    with pytest.raises(InputError, match="no document has any"):
        count_words([Document(text="a b")], 10, 10)
    with pytest.raises(InputError, match="different words"):
        count_words([Document(text="a b", keyphrases=["a"])], 10, 10)
