"""Where the tokens of a text stand in it as it is given, and its stems with them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

from karat.protocol import Matching
from karat.text.normalise import normaliser_of
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
    ends = None if plain == text else _ends(text)
    at = 0
    for token in tokenizer(matching.tokenizer)(plain):
        start = plain.find(token, at)
        if start >= 0:
            at = start + len(token)
            yield token, (start, at) if ends is None else (ends[start], ends[at])


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


def _ends(text: str) -> list[int]:
    """Of each character of the composed text, and of none before it, where it ends in the text as it is given."""
    ends = [0]
    for found in _PIECE.finditer(text):
        piece, start = found[0], found.start()
        plain, before = composed(piece), len(ends)
        if plain == piece:
            ends += range(start + 1, found.end() + 1)
            continue
        for length in range(1, len(piece) + 1):
            settled = _equal_at_first(plain, composed(piece[:length]))
            ends += [start + length] * (before + settled - len(ends))
        ends += [found.end()] * (before + len(plain) - len(ends))
    return ends


def _equal_at_first(one: str, other: str) -> int:
    """How many characters two strings have in common at their beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
