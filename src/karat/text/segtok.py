r"""Running text as sentences of tokens, cut as the package segtok cuts it (split_multi, web_tokenizer).

The rules are those of segtok 1.5 by Florian Leitner; YAKE's scores rest on them. Two things make them quick. Patterns
look at a text in which each character that is not plain stands for its kind (`plain`), so that they need few
characters and no table of Unicode. And each distinct piece between white space is cut once, since only the last three
tokens of a sentence depend on where they stand.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from html import unescape
from itertools import chain

REMEMBERED = 1 << 16  # pieces of text whose tokens are kept

# ------------------------------------------------------------------------------------------- kinds of characters

_ENDS = ".!?\u203c\u203d\u2047\u2048\u2049\u3002\ufe52\ufe57\uff01\uff0e\uff1f\uff61"
_APOSTROPHES = "'\u00b4\u02b9\u02bc\u2019\u2032"
_OTHER = "\x05"
# What a kind is shown by: letters and numbers by one of them, special marks by a character that texts do not have.
_SHOWN = {
    **dict.fromkeys("äñµ’”"),  # these stand for themselves
    **dict.fromkeys("\u00ad\u058a\u05be\u0f0c\u1400\u1806\u2010\u2011\u2012\u2e17\u30a0", "-"),
    **dict.fromkeys(_ENDS[3:], "‼"),
    **dict.fromkeys("\u00b4\u2032", "′"),
    **dict.fromkeys("\u02b9\u02bc", "ʼ"),  # a letter for Unicode, an apostrophe for segtok
    **dict.fromkeys("\u2080\u2081\u2082\u2083\u2084\u2085\u2086\u2087\u2088\u2089", "\x06"),
    **dict(zip("¹²³⁻⁺", "\x01\x02\x02\x03\x04", strict=True)),
    **dict.fromkeys("\x0b\x0c\x85\u2029", "\x0b"),
    **dict.fromkeys("\t\n\r\u2028"),
}
# By Unicode's category. A mark is part of a word for Python's patterns only in the shape of a letter.
_CATEGORIES = {"Ll": "é", "Lu": "É", "Lt": "ǅ", "Lm": "ʰ", "Lo": "中", "Nd": "٣", "Nl": "ⅷ", "Zs": " "} | dict.fromkeys(
    ("Mn", "Mc", "Me"), "亜"
)

_UPPER, _TITLE, _LOWER, _MODIFIER = "A-ZÉ", "A-ZÉǅ", "a-zéäñµ", "ʰʼ"
_LETTER = f"{_LOWER}{_TITLE}{_MODIFIER}"
_ANY_LETTER = f"{_LETTER}中"
_ALNUM = f"{_LETTER}0-9٣ⅷ"
_APO = "[’′ʼ]"


class _Kinds(dict[int, str]):
    """For each character the one that stands for its kind in the patterns, computed when first needed."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character in _SHOWN:
            shown = _SHOWN[character] or character
        elif " " <= character < "\x7f":
            shown = character
        else:
            shown = _CATEGORIES.get(unicodedata.category(character), _OTHER)
        self[code] = shown
        return shown


_KINDS = _Kinds()


def plain(text: str) -> str:
    """The text with each character that is not plain shown by its kind; as long as the text.

    >>> plain("Straße – 5 µm²")
    'Straée \\x05 5 µm\\x02'
    """
    return text if text.isascii() and text.isprintable() else text.translate(_KINDS)


# ---------------------------------------------------------------------------------------------------- sentences

_END = re.compile(r"""[.!?‼]['’"”]?[\])]*\s+|\n{2,}""")
_ABBREVIATED = re.compile(
    rf"""
    (?: \b (?: [Aa]pprox | Capt | [Cc]f | Col | Dr | [Ff]\.?e | [Ff]igs? | Gen | [Ee]\.?g | [Ii]\.?[ev] | Mag | [Mm]ed
           | Mrs? | Mt | [Nn]at | No | [Nn]r | [Pp]\.e | [Pp]hil | [Pp]rof | [Rr]er | [Ss]ci | Sgt | Sr | Sra | Srta
           | St | [Uu]niv | [Vv]ol | [Vv]s | z\.B | Z\.b | J[äa]n | Ene | Feb | M[äa]r | A[pb]r | May | Jun | Jul | Aug
           | Sept? | O[ck]t | Nov | Dic | De[cz] | E\.U | U\.[KS] )
    |   ^\S
    |   (?: \b (?: [Bb]y | [Cc](?:aptain|ommander) | [Dd]o[ck]tor | [Gg]eneral | [Mm](?:ag)?is(?:ter|s) | [Pp]rofessor
                  | [Ss]eñor(?:it)?a? ) \s
           | (?: (?<!\b[{_UPPER}]) (?<!\b[{_UPPER}][{_MODIFIER}]) , (?:\s and)?
               | (?<!\b[{_UPPER},]) (?<!\b[{_UPPER},][{_MODIFIER}]) \s and ) \s
           | [\[(] )
        (?: [{_TITLE}] [{_MODIFIER}]? \. -? )? [{_TITLE}] [{_MODIFIER}]?
    ) $""",
    re.VERBOSE,
)
_DIGITS = re.compile(r"\d+$")
_TAIL = 40  # characters in which an abbreviation and what announces it can be seen
_DAY = re.compile(r"\b[0123]?[0-9]$")
_MONTH = re.compile(r"J[äa]n|Ene|Feb|M[äa]r|A[pb]r|May|Jun|Jul|Aug|Sep|O[ck]t|Nov|D[ei][cz]|0?[1-9]|1[012]")
_LONE_WORD = re.compile(rf"[{_LOWER}]+[{_LOWER}0-9٣-]*$")
_INITIAL = re.compile(rf"\b[{_UPPER}][{_LOWER}]+\W+[{_UPPER}]$")
_NAME = re.compile(rf"[{_UPPER}][{_LOWER}]+\b")
_LOWER_WORD = re.compile(rf"[{_LOWER}]+-?[{_LOWER}]*\b")
_BEFORE_LOWER = re.compile(
    rf"""(?:[.!?‼](?:"[)\]]*|[)\]]+)|\bspp\.|\b[{_ANY_LETTER}][{_LOWER}]?\.)\s+$""",
)
_GOING_ON = re.compile(r"(?:and|are|between|by|from|has|into|is|of|or|than|that|through|via|was|were|whether|with)\b")
_SHORT = 55
_NAME_END = re.compile(rf"\b[{_TITLE}][{_ANY_LETTER}]*\.\s+$")
_NAME_START = re.compile(rf"(?:(?:\(\d{{4}}\)\s)?[{_TITLE}][{_ANY_LETTER}]*|\d+)[.,:]\s+")


def sentences(text: str) -> list[list[str]]:
    """The tokens of each sentence.

    >>> sentences("Dr. Jones can't go (cf. Smith). See www.example.org, please!")
    [['Dr.', 'Jones', 'ca', "n't", 'go', '(', 'cf.', 'Smith', ')', '.'], ['See', 'www.example.org', ',', 'please', '!']]
    """
    return [_tokens(sentence) for sentence in split(text)]


def split(text: str) -> list[str]:
    """The sentences of a text, without white space around them."""
    shown = plain(text)
    found: list[str] = []
    begin = end = -1
    for start, stop in _segments(shown):
        if begin >= 0 and _goes_on(text, shown, (begin, end), (start, stop)):
            end = stop
            continue
        if begin >= 0:
            found.append(text[begin:end].strip())
        begin, end = start, stop
    if begin >= 0:
        found.append(text[begin:end].strip())
    return [sentence for sentence in found if sentence]


def _segments(shown: str) -> Iterator[tuple[int, int]]:
    """Where the text ends with a mark that is not an abbreviation's."""
    marks = [match.span() for match in _END.finditer(shown)]
    begin = before = 0
    for (start, stop), (after, _) in zip(marks, [*marks[1:], (len(shown), 0)], strict=False):
        if not _abbreviates(shown[before:start], shown[start], shown[stop:after]):
            yield begin, stop
            begin = stop
        before = stop
    if begin < len(shown):
        yield begin, len(shown)


def _abbreviates(before: str, mark: str, after: str) -> bool:
    """Whether the mark between two pieces of text ends no sentence."""
    if before[-1:].isspace():
        return True
    if mark != ".":
        return False
    if _ABBREVIATED.search(before, max(0, len(before) - _TAIL)) or _DIGITS.match(before):
        return True
    return bool(after) and bool(
        _LONE_WORD.match(after)
        or (_MONTH.match(after) and _DAY.search(before, max(0, len(before) - 3)))
        or (_NAME.match(after) and _INITIAL.search(before))
    )


def _goes_on(text: str, shown: str, before: tuple[int, int], after: tuple[int, int]) -> bool:
    """Whether the second of two segments belongs to the sentence of the first."""
    current = shown[slice(*after)]
    if _GOING_ON.match(current):
        return True
    last = shown[slice(*before)]
    if _LOWER_WORD.match(current) and _BEFORE_LOWER.search(last):
        return True
    if min(len(current), len(last)) >= _SHORT:
        return False
    named = text.endswith(" et al. ", *before) or (_NAME_END.search(last) and _NAME_START.match(current))
    return any(_open(last, *pair) and (named or _unopened(current, *pair)) for pair in ("()", "[]"))


def _open(text: str, opening: str, closing: str) -> bool:
    """Whether a bracket is opened and not closed, counted from the first that is opened."""
    first = text.find(opening)
    return first >= 0 and text.count(opening, first) > text.count(closing, first)


def _unopened(text: str, opening: str, closing: str) -> bool:
    """Whether a bracket is closed that was not opened, counted up to the last that is closed."""
    last = text.rfind(closing) + 1
    return last > 0 and text.count(closing, 0, last) > text.count(opening, 0, last)


# ------------------------------------------------------------------------------------------------------- tokens

_SPACE = re.compile(r"[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_BROKEN = re.compile(rf"[{_ALNUM}](-[ \t]*(?:\r\n|\n|\r|\u2028)[ \t]*)[{_ALNUM}]")
_WORD = re.compile(
    rf"""(?: [{_ALNUM}] \. (?!\.\.)
    |   [{_ALNUM}] , (?=[{_ALNUM}])
    |   [0-9٣ⅷ] : (?=[0-9٣ⅷ])
    |   [{_ALNUM}] {_APO}? - (?=[{_ALNUM}])
    |   {_APO} (?!{_APO})
    |   [{_ALNUM}] ' (?=[{_ALNUM}])
    |   s ' $
    |   \b [yzafpnµmcdhkMGTPEZY]? [{_LETTER}]{{1,3}} \x03? [\x01\x02] $  # a unit with its power
    |   \b (?:[A-Z][a-z]?|[)\]])+ \x06+ (?:\x02?[\x03\x04])?  # a chemical formula
    |   [{_ALNUM}]
    )+""",
    re.VERBOSE,
)
_OF_NAMES = r"[^\W\u00b2\u00b3\u00b9\u00bc-\u00be\u2070\u2074-\u2079\u2080-\u2089]"  # a word has no raised digits
_HOST = rf"(?:(?:{_OF_NAMES}|-)+\.)+{_OF_NAMES}+"
_ADDRESS = re.compile(
    rf"""(?: ^ | (?<=[\s<"'(\[{{]) )
    (   [A-z]+ :// (?:[^@]+@)? {_HOST} (?::\d+)? (?:/[^?\#\s'">)\]}}]*)? (?:\?[^\#\s'">)\]}}]+)?
        (?:\#[^\s'">)\]}}]+)?
    |   (?:{_OF_NAMES}|[.#$%&'*+/=!?^`{{|}}~-])+ @ {_HOST}
    ) (?=[\s>"')\]}}]|$)""",
    re.VERBOSE,
)
_CONTRACTED = re.compile(rf"[{_ALNUM}]+(?:-[{_ALNUM}]+)*['’′ʼ](?:d|ll|m|re|s|t|ve)$")


def _tokens(sentence: str) -> list[str]:
    """The tokens of a sentence; addresses of the web and of people are one token each."""
    parts = _ADDRESS.split(sentence) if "://" in sentence or "@" in sentence else [sentence]
    found: list[str] = []
    for number, part in enumerate(parts):
        found += _kept(part) if number % 2 else _words(unescape(part) if "&" in part else part)
    return found


def _words(text: str) -> list[str]:
    """The tokens of a text without addresses; the mark that ends it is a token of its own."""
    if text.isascii() and text.isprintable():
        pieces = text.split()
    else:
        pieces = [piece for piece in _SPACE.split(_unbroken(text)) if piece]
    found = list(chain.from_iterable(map(_done, pieces[:-3])))
    ending = list(chain.from_iterable(map(_cut, pieces[-3:])))
    _part_mark(ending)
    found.extend(chain.from_iterable(map(_finished, ending)))
    return found


def _unbroken(text: str) -> str:
    """The text with words joined that a hyphen and the end of a line part."""
    if "\r" not in text and "\u2028" not in text and "\n" not in text:
        return text
    kept, at = [], 0
    for match in _BROKEN.finditer(plain(text)):
        kept.append(text[at : match.start(1) + 1])  # up to the hyphen
        at = match.end(1)
    return "".join(kept) + text[at:]


def _part_mark(tokens: list[str]) -> None:
    """Parts the mark that ends or begins the last of three tokens that is a word or holds such a mark."""
    for back, token in enumerate(reversed(tokens[-3:]), 1):
        shown = plain(token)
        if (_WORD.match(shown) and shown[0] not in "’′ʼ") or any(mark in token for mark in _ENDS):
            if len(token) > 1 and token != "...":
                at = len(token) - 1 if token[-1] in _ENDS else 1 if token[0] in _ENDS else 0
                if at:
                    place = len(tokens) - back
                    tokens[place : place + 1] = [token[:at], token[at:]]
            return


@lru_cache(REMEMBERED)
def _done(piece: str) -> tuple[str, ...]:
    """The finished tokens of a piece of text without white space, wherever it stands but at a sentence's end."""
    return tuple(chain.from_iterable(map(_finished, _cut(piece))))


@lru_cache(REMEMBERED)
def _cut(piece: str) -> tuple[str, ...]:
    """The words of a piece and what stands between them."""
    if piece.isascii() and piece.isalnum():
        return (piece,)
    found, at = [], 0
    for match in _WORD.finditer(plain(piece)):
        found += [piece[at : match.start()], piece[match.start() : match.end()]]
        at = match.end()
    return tuple(token for token in (*found, piece[at:]) if token)


def _finished(token: str) -> tuple[str, ...]:
    """A token without commas and colons at its end, and contractions as two; what a contraction leaves is dropped."""
    if token.isalnum() and token.isascii():
        return (token,)
    word = token
    while len(word) > 1 and word[-1] in ",;:":
        word = word[:-1]
    return (*_kept(word), *token[len(word) :])


def _kept(token: str) -> tuple[str, ...]:
    return tuple(each for each in _contraction(token) if len(each) == 1 or (each and each[0] != "'"))


def _contraction(token: str) -> list[str]:
    """A contraction in two parts, `do n't` and `it 's`, and any other token as it is."""
    found = [token]
    if not _CONTRACTED.match(plain(token)):
        return found
    place = 0
    for at in range(len(token) - 1, -1, -1):
        if token[at] in _APOSTROPHES:
            cut = at - 1 if at + 2 == len(token) and token[-1] == "t" and token[at - 1] == "n" else at
            found.insert(place, token[:cut])
            place += 1
            found[place] = token[cut:]
    return found
