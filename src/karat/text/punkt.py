"""Where sentences end, as NLTK's `word_tokenize` has it: the decisions of Kiss and Strunk's Punkt, without its model.

A question or exclamation mark ends a sentence, and so does a full stop with white space or a closing mark behind it,
unless it belongs to an abbreviation, to an initial (`J. Smith`) or to a number that goes on in lower case (`3. we`).
Which abbreviations Punkt's English model knows is kept here, `e.g.` not being among them. What is not kept is its
table of 20,000 words with how each is capitalised: a word behind an initial or an abbreviation begins a sentence here
when it is one of the commonest words of the language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from karat.text.stoplists import stop_words

ABBREVIATIONS = frozenset(
    """
    c d e f g h k l m n p r s t v w
    adm col dr gen jr lt maj messrs mr mrs ms ph.d prof rep reps sen sr
    bros cie co corp cos inc ltd b.v n.v s.p.a
    jan feb aug sep sept oct nov dec fri tues wed a.m p.m yr
    ala ariz calif colo conn ct fla ga ill kan ky mich minn nev okla ore pa tenn va vt w.va wash wis
    d.c n.c n.d n.h n.j n.m n.y r.i s.c u.k u.n u.s u.s.a u.s.s.r
    ave chg ft mg ok st sw vs m.b.a
    a.a a.c a.d a.g a.h a.m.e a.s a.t b.f c.i.t c.o.m.b c.v d.h d.w e.f e.h e.l e.m f.g f.j g.d g.f g.k h.c h.f h.m
    i.m.s j.b j.c j.j j.k j.p j.r l.a l.f l.p m.d.c m.j p.a.m r.a r.h r.j r.k r.t s.a s.a.y s.g s.s t.j w.c w.r w.w
    """.split()  # noqa: SIM905  a list of words reads best as words
)
STARTERS = frozenset(
    """
    according although among both but despite even he however i if in indeed instead it many meanwhile moreover most
    nevertheless nonetheless nor sales separately similarly since so some the there these they this though thus under
    when while yet
    """.split()  # noqa: SIM905
)

# Words that Punkt has seen without a capital: stop words, and what sentences of papers open with.
_OPENING = frozenset(
    """
    assume based consider definition finally find furthermore given let note obviously proof suppose
    """.split()  # noqa: SIM905
)
_COMMON = (stop_words("english") | STARTERS | _OPENING | {"b", "z"}) - {"i"}
_ALSO_WORDS = frozenset({"ill", "ore", "wash"})  # abbreviations that without a capital are none

_CLOSING = "\"')]}‘’“”«»"
_BREAKING = f"{_CLOSING};*:@({{[?!"  # what a word does not go on over
_NOT_FIRST = '("`{[:;&#*@)}]-,'  # nor begins with
_CUT = rf"(?:$|[{re.escape(_BREAKING)}]|--|\.\.)"
_TOKEN = re.compile(rf"--+|\.\.+|[^{re.escape(_NOT_FIRST)}].*?(?=,?{_CUT})|.")
_CHUNK = re.compile(r"\S+")
_MARKED = re.compile(r"(?<!\S)[^\s.?!]*[.?!]\S*")  # a chunk with a mark that may end a sentence
_MARK = re.compile(rf"[.?!](?=[{re.escape(_BREAKING)}]|$)")
_PAUSES = frozenset(",;:.?!")
_NUMBER = re.compile(r"-?[.,]?\d[\d,.-]*\.?")
_INITIAL = re.compile(r"[^\W\d]\.")
_REST = re.compile(rf"([{re.escape(_CLOSING)}]+)(?:\s+|(?=--)|$)")


def sentences(text: str) -> list[str]:
    """The sentences of an English text, as strings; marks that close a quotation or a parenthesis end with theirs.

    >>> sentences("We saw Dr. Adams (see p. 3). It was early, e.g. 6 a.m. there.")
    ['We saw Dr. Adams (see p. 3).', 'It was early, e.g.', '6 a.m. there.']
    """
    found, begin = [], 0
    for end, follows in _ends(text):
        if end > begin:
            found.append(text[begin:end])
        begin = follows
    last = text[begin:].rstrip()
    return [*found, last] if last else found


def _ends(text: str) -> Iterator[tuple[int, int]]:
    """(where a sentence ends, where the next one begins) for all but the last."""
    for found in _MARKED.finditer(text):
        at, chunk = found.start(), found.group()
        following = _CHUNK.search(text, found.end())
        behind, further = (following.start(), following.group()) if following else (len(text), "")
        marks = [mark.end() for mark in _MARK.finditer(chunk) if further or mark.end() < len(chunk)]
        if not marks:
            continue
        last = marks[-1]  # one chunk ends one sentence at most
        whole = last == len(chunk)
        tokens = _TOKEN.findall(chunk[:last]) + (_TOKEN.findall(further) if whole else [chunk[last]])
        if not any(map(_breaks, tokens, tokens[1:])):
            continue
        end, begin = at + last, behind if whole else at + last
        if rest := _REST.match(text, begin):
            end, begin = rest.end(1), rest.end()
        yield end, begin


def _breaks(token: str, following: str) -> bool:
    """Whether a sentence ends with a token, given the one that follows it."""
    if token in (".", "?", "!"):
        return True
    if token[-1] != ".":
        return False
    word, after = token[:-1].lower(), following.lower().removesuffix(".")
    capital = following[0].isupper()
    initial = _INITIAL.fullmatch(token) is not None
    if initial or _NUMBER.fullmatch(token):
        goes_on = following[0].islower() or following in _PAUSES
        name = initial and capital and after not in _COMMON
        return not (goes_on or name or word in ABBREVIATIONS)
    if token.endswith("..") or word in ABBREVIATIONS or word.rpartition("-")[2] in ABBREVIATIONS:
        return capital and (after in STARTERS or (token[:-1] in _ALSO_WORDS and after not in _COMMON))
    return True
