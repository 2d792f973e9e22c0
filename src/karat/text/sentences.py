r"""Running text as sentences of tokens, in the manner of treebanks: `The agent's goal (a plan).` has nine tokens.

A token is a word with its hyphens, a number, a clitic (`'s`, `n't`, French `l'`) or a single mark. A full stop ends a
sentence where white space stands before it or where what follows begins like a sentence, unless an abbreviation wants
it. Text that was tokenised before (`a net . it learns .`) is cut as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from karat.text.segments import segmented

_NUMBER = r"\d+(?:[.,:]\d+)+"
_INITIALS = r"(?:[^\W\d_]\.){2,}"  # e.g. U.S.
_WORD = r"\w+(?:-\w+)*"
_MARK = r"\.{2,}|[^\w\s]"
# In English a clitic follows its word, in French and Italian it precedes it: don't, l'idée.
CLITICS = {
    "english": r"\w+?(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b",
    "french": r"aujourd['’]hui\b|\w+['’](?=\w)",
    "italian": r"\w+['’](?=\w)",
}

_ENDS = frozenset(".!?。！？؟।")
_ALWAYS = frozenset("。！？")  # no space follows them
_CLOSING = "\"')]}”’»」』）"
_ABBREVIATIONS = frozenset(
    """
    al approx art bd bzw ca cf ch chap co cp dept dr ed eds eq eqs etc ex fig figs inc jr ltd m max min mme mr mrs ms no
    nos nr num op p pp prof ref refs resp sec sect sr st tab tel univ viz vol vols vs z
    """.split()  # noqa: SIM905  a list of words reads best as words
)


@cache
def _tokens(language: str) -> re.Pattern[str]:
    """What a token is in a language."""
    kinds = [_NUMBER, _INITIALS, *filter(None, [CLITICS.get(language)]), _WORD, _MARK]
    return re.compile("|".join(kinds), re.IGNORECASE)


def sentences_of(text: str, language: str = "english") -> list[list[str]]:
    """The sentences of a text, each a list of tokens.

    >>> sentences_of("An agent's goals, e.g. state-of-the-art plans. Plans don't fail!")
    [['An', 'agent', "'s", 'goals', ',', 'e.g.', 'state-of-the-art', 'plans', '.'], ['Plans', 'do', "n't", 'fail', '!']]
    >>> sentences_of("we train nets . nets learn 3.5 % of it ."), sentences_of(" ")
    ([['we', 'train', 'nets', '.'], ['nets', 'learn', '3.5', '%', 'of', 'it', '.']], [])
    """
    return list(each_sentence(text, language))


def each_sentence(text: str, language: str = "english") -> Iterator[list[str]]:
    """The sentences of a text one after the other; what stands behind one is not read before it is asked for."""
    sentence: list[str] = []
    ended = False
    text = segmented(text, language)
    for match in _tokens(language).finditer(text):
        token = match.group()
        if ended and token not in _CLOSING:
            yield sentence
            sentence, ended = [], False
        sentence.append(token)
        if token[0] in _ENDS and not ended:
            ended = _ends(text, match.start(), match.end(), sentence)
    if sentence:
        yield sentence


def _ends(text: str, start: int, end: int, sentence: list[str]) -> bool:
    """Whether the mark at a place ends the sentence so far."""
    if end == len(text) or not start or text[start - 1].isspace() or text[start] in _ALWAYS:
        return True
    after = text[end : end + 4].lstrip(_CLOSING)
    if after and not after[0].isspace():
        return False  # a name with a dot in it, as in node.js
    word = sentence[-2] if len(sentence) > 1 else ""
    if text[start] != ".":
        return True
    if end == start + 1 and (word.lower() in _ABBREVIATIONS or (len(word) == 1 and word.isupper())):
        return False
    begins = text[end : end + 40].lstrip(_CLOSING + " \t\r\n([{“‘«")[:1]
    return not begins.islower()
