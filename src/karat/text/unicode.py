"""One spelling for strings that differ only in how Unicode writes the same characters: NFC, nothing invisible.

`é` may be one character or two, and between its letters a word may hold characters that no reader sees. All of these
are the same word; `composed` gives the one string by which it is compared. What is printed stays as it was given.

* Soft hyphens, word joiners, byte order marks, direction marks, invisible operators, the grapheme joiner and variation
  selectors are dropped: they tell a renderer where to break a line, in which direction to write, which glyph to take.
* A zero-width space is a space between letters of Thai, Lao, Burmese and Khmer, where it parts words, and is dropped
  elsewhere.
* The zero-width joiner and non-joiner are kept between two characters neither of which is Latin: they make words in
  Persian, letters in Indic scripts, and emoji. Beside a Latin letter, a mark or a space they are dropped.
"""

from __future__ import annotations

import re
from unicodedata import normalize

from karat.inert import IDLE_JOINERS

JOINERS = frozenset("\u200c\u200d")

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]+"
)
_WITHOUT_SPACES = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"  # Thai, Lao, Burmese, Khmer
_WORD_END = re.compile(f"(?<={_WITHOUT_SPACES})\u200b+(?={_WITHOUT_SPACES})")


def composed(text: str) -> str:
    r"""The text in NFC without invisible characters; the same for all that are the same to a reader.

    >>> composed("re\u0301seau") == composed("r\u00e9\u00adseau") == "r\u00e9seau"
    True
    >>> composed("\U0001f469\u200d\U0001f4bb"), composed("data\u200cbase")
    ('👩\u200d💻', 'database')
    """
    if text.isascii():
        return text
    text = _INVISIBLE.sub("", text)
    if "\u200b" in text:
        text = _WORD_END.sub(" ", text).replace("\u200b", "")
    text = normalize("NFC", text)
    if "\u200c" in text or "\u200d" in text:
        text = normalize("NFC", IDLE_JOINERS.sub("", text))
    return text


def key_of(name: str) -> str:
    """A name as it is compared with others: in lower case, and in one spelling of its characters.

    >>> key_of(" Neural  Networks")
    'neural networks'
    """
    return " ".join(composed(name.lower()).split())
