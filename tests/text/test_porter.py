"""The Porter stemmer gives what the published algorithm and NLTK's default mode give."""

import random
from collections.abc import Iterable
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nltk.stem import PorterStemmer

from karat.text.porter import stem
from tests.examples import examples

nltk_stem = PorterStemmer().stem


def listed(text: str) -> list[str]:
    """Return the items of a table written as text between blanks."""
    return text.split()


INFLECTIONS = listed("s ss sses ies ied eed eedly ed ing edly ingly y ly ll e")
DERIVATIONS = listed("""
    ational tional enci ency anci ancy izer bli bly abli ably alli ally entli ently eli ely ousli ously
    ization ation ator alism iveness fulness ousness aliti ality iviti ivity biliti bility fulli fully
    logi logy icate ative alize iciti icity ical ful ness
    al ance ence er ic able ible ant ement ment ent ion sion tion ou ism ate iti ous ive ize
""")
SUFFIXES = INFLECTIONS + DERIVATIONS
REPAIRED_ENDS = listed("at bl iz tt ll ss zz yy w x y")

ONSETS = ["", *listed("b c d f g h l m n p r s t v w y z ch str thr qu pl sky")]
NUCLEI = listed("a e i o u y ai ea ee ie oo ou ya ay yy")
CODAS = ["", *listed("b d g l m n r s t x y ll ss zz nd st bl at iz")]

ODD_WORDS = [
    # Blanks and control characters.
    *("", " ", "  ", "   ", "\n\n\n", "ss\ns", "\x00\x00s", "a\x00ing", "two words", "many words ies"),
    # Characters whose lower-case form is longer than they are, or an ASCII letter, and lone surrogates.
    *("\u0130", "\u0130s", "\u0130\u0130", "\u0130ed", "\u0130ies", "\u0130\u0130s"),
    *("s\u212ay", "s\u212aies", "\u200bies", "\ud800", "a\ud800s"),
    # Irregular forms not in lower case, which NLTK knows since 3.10.
    *listed("Sky SKIES News Dying Howe EXCEED"),
    # The sign for a doubled consonant, standing in the word.
    *listed("*d *ded *ding a*ded a*ding o*ddings ab*ded y*ded by*ding"),
    # Punctuation and digits.
    *listed("- --- 's 'ing don't cat's cats' e.g. --ing a--ed state-of-the-art x-rayed x-rays"),
    *listed("12s 3d 1990s 1,000ing a77ing c++ing"),
    # Letters beyond ASCII.
    *listed("É été étés naïvely aééing cœurs groß GROSSES straße ΣΊΣΥΦΟΣ наука 数据 数据s 数ing"),
    # Rows of y, and suffixes with little or nothing before them.
    *("yyy", "yyyy", "yyying", "byying", "byyying", "ayying", "ayyed", "sayyyly", "y" * 60, "y" * 60 + "ing"),
    *listed("ies ied eed ed ing eds ings ieds sses sss aed aing aying axed owed"),
]

# "word>stem". These words stem alike by the paper and by NLTK's default mode.
PUBLISHED = {
    "step 1a": "caresses>caress ponies>poni caress>caress cats>cat",
    "step 1b": "feed>feed agreed>agre plastered>plaster bled>bled motoring>motor sing>sing",
    "step 1b, repairs": """
        conflated>conflat troubled>troubl sized>size hopping>hop tanned>tan falling>fall hissing>hiss
        fizzed>fizz failing>fail filing>file snowing>snow boxing>box
    """,
    "step 1c": "happy>happi by>by",
    "step 2": """
        relational>relat conditional>condit rational>ration valency>valenc hesitancy>hesit digitizer>digit
        conformably>conform radically>radic differently>differ vilely>vile analogously>analog
        vietnamization>vietnam predication>predic operator>oper feudalism>feudal decisiveness>decis
        hopefulness>hope callousness>callous formality>formal sensitivity>sensit sensibility>sensibl
    """,
    "step 3": """
        triplicate>triplic formative>form formalize>formal electricity>electr electrical>electr hopeful>hope
        goodness>good
    """,
    "step 4": """
        revival>reviv allowance>allow inference>infer airliner>airlin gyroscopic>gyroscop adjustable>adjust
        defensible>defens irritant>irrit replacement>replac adjustment>adjust dependent>depend adoption>adopt
        communism>commun activate>activ angularity>angular homologous>homolog effective>effect
        bowdlerize>bowdler onion>onion
    """,
    "step 5": "probate>probat rate>rate cease>ceas controll>control roll>roll",
    "several steps": "generalizations>gener oscillators>oscil",
}

# "word>stem". Most of these words stem otherwise by the paper; the rest mark where a change of NLTK's ends.
EXTENSIONS = {
    "irregular forms": """
        sky>sky skies>sky dying>die lying>lie tying>tie news>news inning>inning innings>inning outing>outing
        outings>outing canning>canning cannings>canning howe>howe proceed>proceed exceed>exceed
        succeed>succeed EXCEED>exceed
    """,
    "-ies and -ied keep the e in four letters": "dies>die died>die flies>fli spied>spi",
    "final y turns after a consonant only": "enjoy>enjoy trayed>tray say>say fly>fli try>tri",
    "-bli": "possibly>possibl",
    "-fulli": "hopefully>hope",
    "-logi": "geology>geolog theology>theolog archaeology>archaeolog",
    "-alli and step 2 again": "relationally>relat rationally>ration",
    "a vowel and a consonant are short": "owed>owe used>use axe>axe ice>ice",
}


def in_table(table: dict[str, str]) -> list[object]:
    """Return a (word, stem) test case for each entry of a table."""
    return [
        pytest.param(*entry.split(">"), id=f"{heading}: {entry}")
        for heading, entries in table.items()
        for entry in listed(entries)
    ]


def differing(words: Iterable[str]) -> list[tuple[str, str, str]]:
    """Return (word, our stem, NLTK's stem) for each word whose two stems differ."""
    triples = ((word, stem(word), nltk_stem(word)) for word in words)
    return [triple for triple in triples if triple[1] != triple[2]]


def one_to_three_syllables(rng: random.Random) -> str:
    """Return a random root that can be pronounced, or nearly."""
    return "".join(rng.choice(ONSETS) + rng.choice(NUCLEI) + rng.choice(CODAS) for _ in range(rng.choice((1, 2, 3))))


def generated_words() -> set[str]:
    """Return the words of the comparison with NLTK, the same ones at every call."""
    rng = random.Random(1980)
    roots = ["", *listed("b e y by ay tr geo theo rel oper gener sens")]
    words = {root + suffix for root in roots for suffix in SUFFIXES}
    words.update(first + second for first, second in product(SUFFIXES, SUFFIXES))
    for _ in range(600):
        root = one_to_three_syllables(rng)
        words.update(root + suffix for suffix in SUFFIXES)
        words.update(root + end + suffix for end in REPAIRED_ENDS for suffix in ("ed", "ing", "e", "es", "s"))
    for first, second in product(SUFFIXES, SUFFIXES):
        words.update(one_to_three_syllables(rng) + first + second for _ in range(7))
        words.add(one_to_three_syllables(rng) + rng.choice(SUFFIXES) + first + second)
    for length in (1, 2, 3, 4):
        words.update(map("".join, product("aeiylsdng", repeat=length)))
    while len(words) < 201_000:
        words.add("".join(rng.choices("aeiouylsrtdnge", k=rng.randint(3, 11))))
    # Sorted first: the order of a set of strings changes from run to run.
    words.update([word.upper() for word in rng.sample(sorted(words), 1000)])
    words.update([word.capitalize() for word in rng.sample(sorted(words), 1000)])
    words.update(ODD_WORDS)
    return words


def test_equals_nltk_on_generated_words() -> None:
    words = generated_words()
    assert len(words) >= 200_000
    differences = differing(sorted(words))
    assert not differences, f"{len(differences)} differ, (word, ours, NLTK's): {differences[:10]}"


@pytest.mark.parametrize("word", ODD_WORDS, ids=ascii)
def test_equals_nltk_on_odd_strings(word: str) -> None:
    assert stem(word) == nltk_stem(word)


@settings(max_examples=examples(300), deadline=None, derandomize=True)
@given(
    st.one_of(
        st.text(),
        st.text(st.characters()),
        st.builds("{}{}{}".format, st.text(), st.sampled_from(SUFFIXES), st.sampled_from(["", *SUFFIXES])),
        st.text("aeiouyY*-'ltsdzbgn"),
    )
)
@example("\ud800ing")
def test_equals_nltk_on_arbitrary_text(word: str) -> None:
    assert stem(word) == nltk_stem(word)


@pytest.mark.parametrize(("word", "expected"), in_table(PUBLISHED))
def test_stems_as_the_published_algorithm_does(word: str, expected: str) -> None:
    assert stem(word) == expected


@pytest.mark.parametrize(("word", "expected"), in_table(EXTENSIONS))
def test_departs_from_the_published_algorithm_where_nltk_does(word: str, expected: str) -> None:
    assert stem(word) == expected


@pytest.mark.parametrize("word", ["", "a", "S", "is", "As", "by", "7s", "'s", "ÉS"])
def test_only_lower_cases_words_of_up_to_two_characters(word: str) -> None:
    assert stem(word) == word.lower()


def test_takes_a_very_long_word_in_linear_time() -> None:
    # Quadratic behaviour would take minutes here, and recursion over the y's would end in an error.
    for word in ("y" * 200_000, "a" * 200_000, "b" * 200_000, "ab" * 100_000, "a" + "b" * 200_000):
        assert stem(word + "ed").startswith(word[:-2])
