"""The Porter stemmer, in the variant that NLTK applies by default.

The algorithm is M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, with the changes that
`nltk.stem.PorterStemmer()` makes in its default mode, NLTK_EXTENSIONS. Published keyphrase scores depend on
that exact variant, so `stem` gives the same answer for every string, accidents on odd input included.
The behaviour is that of NLTK 3.10; versions before it took the irregular forms only in lower case, so that
"News" became "new" and "news" stayed. For lower-case words they all agree.

Whether a letter is a vowel never depends on what follows it, so each word is put once into a *marked* form:
lower case, with every `y` that acts as a vowel written `Y` (a lower-cased string holds no `Y` of its own). In
that form the paper's conditions are plain patterns: a vowel is one of `aeiouY`, and anything else, digits and
punctuation included, is a consonant. The paper's measure m is the number of times a vowel is followed by a
consonant.
"""

import re
from collections.abc import Callable
from typing import Final, TypeAlias

__all__ = ["stem"]

# (ending the word must have, number of letters to cut, text to put in their place). The measure is taken of
# what the cut leaves; a rule that cuts less than its ending counts the start of the ending as stem.
_Rule: TypeAlias = tuple[str, int, str]
_Rules: TypeAlias = dict[str, tuple[_Rule, ...]]
_Condition: TypeAlias = Callable[[str], re.Match[str] | None]

_IRREGULAR: Final = {
    "sky": "sky",
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "news": "news",
    "inning": "inning",
    "innings": "inning",
    "outing": "outing",
    "outings": "outing",
    "canning": "canning",
    "cannings": "canning",
    "howe": "howe",
    "proceed": "proceed",
    "exceed": "exceed",
    "succeed": "succeed",
}

# Step 1b, once -ed or -ing is off: what the last two letters of the rest become. Doubled consonants are found
# by comparison instead, except y: of two, the second is a consonant only when the first is a vowel. "*d" is
# the paper's sign for a doubled consonant; NLTK also obeys it where a word itself holds these characters.
_REPAIRS: Final = {"at": "ate", "bl": "ble", "iz": "ize", "Yy": "Y", "*d": "d"}

# Steps 2, 3 and 4 as "ending>replacement". The first ending that fits decides, whether or not its condition
# holds, so "ational", "ization", "ement" and "ment" stand before the shorter endings inside them.
_STEP_2: Final = """
    ational>ate tional>tion enci>ence anci>ance izer>ize bli>ble alli>al entli>ent eli>e ousli>ous fulli>ful
    ization>ize ation>ate ator>ate alism>al iveness>ive fulness>ful ousness>ous aliti>al iviti>ive biliti>ble
"""
_STEP_3: Final = "icate>ic ative> alize>al iciti>ic ical>ic ful> ness>"
_STEP_4: Final = """
    al> ance> ence> er> ic> able> ible> ant> ement> ment> ent> ou> ism> ate> iti> ous> ive> ize>
"""


def _rules_by_tail(table: str, *special: _Rule) -> _Rules:
    """Return the rules of one step, in order, under the last two letters of their ending."""
    pairs = (entry.split(">") for entry in table.split())
    by_tail: _Rules = {}
    for rule in [*((ending, len(ending), replacement) for ending, replacement in pairs), *special]:
        tail = rule[0][-2:]
        by_tail[tail] = (*by_tail.get(tail, ()), rule)
    return by_tail


# "logi" has its l measured with the stem, so that "geologi" becomes "geolog" although "geo" has measure 0.
# "ion" goes only after s or t, which belong to the stem and are measured with it.
_RULES_2: Final = _rules_by_tail(_STEP_2, ("logi", 3, "og"))
_RULES_3: Final = _rules_by_tail(_STEP_3)
_RULES_4: Final = _rules_by_tail(_STEP_4, ("sion", 3, ""), ("tion", 3, ""))

# Most words end in a way that steps 2 to 4 cannot touch, and some in a way that no step can: both are let
# through early, for speed alone.
_DERIVED_TAILS: Final = frozenset([*_RULES_2, *_RULES_3, *_RULES_4])
_CHANGEABLE_LETTERS: Final = frozenset("sdgyel").union(tail[-1] for tail in _DERIVED_TAILS)

_VOWELS: Final = "aeiouY"
_has_vowel: Final = re.compile(f"[{_VOWELS}]").search
_measure_above_0: Final = re.compile(f"[{_VOWELS}][^{_VOWELS}]").search
_measure_above_1: Final = re.compile(f"[{_VOWELS}][^{_VOWELS}]+[{_VOWELS}]+[^{_VOWELS}]").search
# The paper's "m = 1 and *o": consonants, one vowel, one consonant other than w, x and y. NLTK adds a vowel
# and any consonant alone.
_is_short: Final = re.compile(f"[^{_VOWELS}]+[{_VOWELS}][^{_VOWELS}wxy]|[{_VOWELS}][^{_VOWELS}]").fullmatch
# Matches run from left to right without overlap, so in a row of y's each one settles the one after it.
_mark_vowel_y: Final = re.compile("([^aeiou])y").sub


def stem(word: str) -> str:
    """Return the Porter stem of a word, lower-cased, as NLTK's stemmer gives it by default.

    Any string is accepted and taken as one word; up to two characters are only lower-cased.

    >>> [stem(word) for word in ("Keyphrases", "generalizations", "flies", "dies", "enjoyed", "skies")]
    ['keyphras', 'gener', 'fli', 'die', 'enjoy', 'sky']
    """
    lowered = word.lower()
    # Lower-casing can lengthen a word; NLTK takes the length of the word as given.
    if len(word) <= 2 or lowered[-1] not in _CHANGEABLE_LETTERS:
        return lowered
    if lowered in _IRREGULAR:
        return _IRREGULAR[lowered]
    if "y" not in lowered:
        return _without_derivation(_without_inflection(lowered))
    marked = _mark_vowel_y(r"\1Y", lowered)
    return _without_derivation(_without_inflection(marked)).replace("Y", "y")


def _without_inflection(word: str) -> str:
    """Return a marked word after steps 1a, 1b and 1c: plurals, -ed and -ing, final y."""
    if word[-1] == "s":
        word = _without_plural(word)
    if word.endswith("ing"):
        word = _without_participle(word, word[:-3])
    elif word.endswith("ed"):
        if word.endswith("ied"):
            word = word[:-1] if len(word) == 4 else word[:-2]
        elif not word.endswith("eed"):
            word = _without_participle(word, word[:-2])
        elif _measure_above_0(word[:-3]):
            word = word[:-1]
    # A marked y is one after a consonant, which is NLTK's condition; the paper asks for any vowel before it.
    if word[-1] == "Y" and len(word) > 2:
        return word[:-1] + "i"
    return word


def _without_plural(word: str) -> str:
    """Return a word that ends in s without its plural ending, if it has one."""
    if word.endswith("ies"):
        # NLTK alone keeps the e of four-letter words, here and in -ied: "dies" and "died" become "die".
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word if word[-2] == "s" else word[:-1]


def _without_participle(word: str, rest: str) -> str:
    """Return what -ed or -ing leaves of a word, its end repaired, or the word if that has no vowel."""
    if not _has_vowel(rest):
        return word
    tail = rest[-2:]
    if tail in _REPAIRS:
        return rest[:-2] + _REPAIRS[tail]
    last = tail[-1]
    if tail == last + last and last not in _VOWELS:
        return rest if last in "lsz" else rest[:-1]
    return rest + "e" if _is_short(rest) else rest


def _without_derivation(word: str) -> str:
    """Return a marked word after steps 2 to 5: derivational suffixes, final e, final double l."""
    if word[-2:] in _DERIVED_TAILS:
        if word.endswith("alli"):
            # NLTK alone goes through step 2 again after this rule: "relationalli", "relational", "relate".
            word = _by_first_fit(word, _RULES_2, _measure_above_0)
        word = _by_first_fit(word, _RULES_2, _measure_above_0)
        word = _by_first_fit(word, _RULES_3, _measure_above_0)
        word = _by_first_fit(word, _RULES_4, _measure_above_1)

    if word[-1] == "e":
        rest = word[:-1]
        if _measure_above_0(rest) and not _is_short(rest):
            word = rest
    if word.endswith("ll") and _measure_above_1(word[:-1]):
        return word[:-1]
    return word


def _by_first_fit(word: str, rules: _Rules, condition: _Condition) -> str:
    """Return the word changed by the first rule whose ending it has, or as it is if the condition fails."""
    for ending, cut, replacement in rules.get(word[-2:], ()):
        if word.endswith(ending):
            rest = word[:-cut]
            return rest + replacement if condition(rest) else word
    return word
