"""Abbreviations, and what texts say that they stand for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from karat.text.particles import PARTICLES

SMALL = PARTICLES | {"the", "a", "an"} | set(".,;:'’\"()[]-/")  # what has no letter in an abbreviation
LONGEST_SHORT = 10  # letters of an abbreviation
WORDS_BEFORE = 10  # words before a parenthesis in which the long form is sought

SHORT = re.compile(r"[^\W\d_](?:[\w&/.-]*\w)?")
WORD = re.compile(r"\w+")
_INSIDE = re.compile(r"\(([^()]{2,100})\)")


def explanations(text: str) -> Iterator[tuple[str, str]]:
    """(abbreviation, long form) of every `long form (LF)` and `LF (long form)` of a text (after Schwartz and Hearst).

    >>> list(explanations("Support vector machines (SVMs) and a GA (genetic algorithm) do (well)."))
    [('SVMs', 'Support vector machines'), ('GA', 'genetic algorithm')]
    """
    for match in _INSIDE.finditer(text):
        inside, before = match[1].strip(), text[max(0, match.start() - 200) : match.start()]
        words = list(WORD.finditer(before))[-WORDS_BEFORE:]
        if _is_short(inside):
            for word in words:  # the longest stretch of words that explains it
                if abbreviates(inside, before[word.start() :]):
                    yield inside, before[word.start() :].strip()
                    break
        elif words and _is_short(last := before.split()[-1]) and abbreviates(last, inside):
            yield last, inside


def _is_short(text: str) -> bool:
    return bool(SHORT.fullmatch(text)) and len(text) <= LONGEST_SHORT and any(map(str.isupper, text))


def abbreviates(short: str, long: str) -> bool:
    """Whether the letters of an abbreviation are the initials of words, in their order, or at least stand in them.

    >>> abbreviates("QoS", "quality of service"), abbreviates("XML", "extensible markup language")
    (True, False)
    """
    words = [word.lower() for word in WORD.findall(long)]
    letters = [letter for letter in short.removesuffix("s").lower() if letter.isalnum()]
    if len(words) < 2 or len(letters) < 2 or words[0][0] != letters[0]:
        return False
    initials = "".join(word[0] for word in words if word not in SMALL)
    if initials == "".join(letters) or "".join(word[0] for word in words) == "".join(letters):
        return True
    if len(words) > len(letters):  # a word without a letter of its own is one word too many
        return False
    at = iter("".join(words))
    return all(letter in at for letter in letters)
