"""Where the tokens of a text stand in it as it is given, and its stems with them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

from karat.protocol import Matching
from karat.text.normalise import normaliser_of
from karat.text.segments import cut
from karat.text.tokens import tokenizer
from karat.text.unicode import JOINERS, composed

Span = tuple[int, int]  # from the first character to behind the last
_PIECE = re.compile(r"\s+|\S+")


def token_spans(text: str, matching: Matching) -> Iterator[tuple[str, Span]]:
    r"""Each token of a text as it is compared, and where it stands; tokens that the text does not hold are left out.

    >>> list(token_spans("Le re\u0301seau.", Matching()))
    [('Le', (0, 2)), ('réseau', (3, 10)), ('.', (10, 11))]
    """
    plain = text if matching.unicode == "as-is" else composed(text)
    given = None if plain == text else _places(text)
    at = 0
    spaced = cut(matching.segmentation)
    for token in tokenizer(matching.tokenizer)(plain if spaced is None else spaced(plain)):
        start = plain.find(token, at)
        if start >= 0:
            at = start + len(token)
            yield token, (start, at) if given is None else (given[start][0], given[at - 1][1])


def stems_at(text: str, matching: Matching) -> tuple[list[str], list[Span]]:
    """The stems of a text, and where the token of each stands; tokens without a stem are left out."""
    stem = normaliser_of(matching)
    found = [(token if token in JOINERS else stem(token), span) for token, span in token_spans(text, matching)]
    return [stem for stem, _ in found if stem], [span for stem, span in found if stem]


def occurrences(needle: str, text: str) -> Iterator[int]:
    """Where a string stands in a text, overlapping places too."""
    at = text.find(needle)
    while at >= 0:
        yield at
        at = text.find(needle, at + 1)


def _places(text: str) -> list[Span]:
    """Where each character of the composed text stands in the text as it is given."""
    found: list[Span] = []
    for match in _PIECE.finditer(text):
        piece, at = match[0], match.start()
        plain = composed(piece)
        if plain == piece:
            found += [(place, place + 1) for place in range(at, match.end())]
            continue
        before = len(found)
        for end in range(at + 1, match.end() + 1):
            settled = _equal_at_first(plain, composed(text[match.start() : end]))
            more = before + settled - len(found)
            if more > 0:
                found += _shared_out(at, end, more)
                at = end
    return found


def _shared_out(start: int, end: int, count: int) -> list[Span]:
    """A part of the text among the characters that it became: one each, the last the rest; or all of it each."""
    if end - start < count:
        return [(start, end)] * count
    return [*((start + n, start + n + 1) for n in range(count - 1)), (start + count - 1, end)]


def _equal_at_first(one: str, other: str) -> int:
    """How many characters two strings have in common at their beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
