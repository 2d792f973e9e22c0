"""From text to the form in which it is compared: stems joined by single spaces.

Two token lists are equal exactly when their joined forms are, and one holds the other exactly when ` form ` is in
` form `: comparing strings does at C speed what comparing lists would do. Each distinct piece of text is tokenised,
and each distinct token stemmed, once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from karat.protocol import Matching
from karat.text.segments import Cut, cut
from karat.text.stems import Stem, stemmer
from karat.text.tokens import Tokenizer, tokenizer
from karat.text.unicode import JOINERS, composed

REMEMBERED = 1 << 18  # pieces kept; beyond that the memory is emptied, so that it stays bounded on any corpus
_MARK = "\x00"  # parts texts that are normalised together


class Pieces(dict[str, str]):
    """Pieces of text with the joined stems of their tokens, computed when first needed.

    A token is a piece too, so one memory serves both; a form that equals its piece is the same string. Both keep the
    memory small, and the time goes with what fits into the processor's cache.
    """

    def __init__(self, tokens: Callable[[str], list[str]] | None, stem: Stem, composes: bool = False) -> None:
        super().__init__()
        self._tokens = tokens
        self._stem = stem
        self._composes = composes
        self.respelled = False  # whether composing has changed a piece
        self.vanished = False  # whether it has left nothing of one

    def __missing__(self, piece: str) -> str:
        if self._composes and not piece.isascii() and (plain := composed(piece)) != piece:
            form = " ".join(filter(None, map(self.__getitem__, plain.split())))
            self.respelled, self.vanished = True, self.vanished or not form
            self[piece] = form
            return form
        # Letters and digits alone are one token for every tokenizer; most pieces are settled here.
        tokens = None if self._tokens is None or piece.isalnum() else self._tokens(piece)
        if tokens is None or tokens == [piece]:
            form = self._stem(piece)
        else:
            kept = JOINERS if self._composes else ()  # within a word; by itself a joiner would vanish
            form = " ".join([token if token in kept else self[token] for token in tokens])
        if form == piece:
            form = piece
        self[piece] = form
        return form


class Normaliser:
    """Text in its compared form, for one choice of tokenizer, stemmer, case, spelling of characters and cutting."""

    def __init__(
        self, tokens: Tokenizer, stem: Stem, lower: bool, composes: bool = False, spaced: Cut | None = None
    ) -> None:
        self._tokens = tokens
        self._lower = lower
        self._spaced = spaced
        by_piece = composes and tokens.pieces is str.split  # nothing is composed across white space
        self._composes_whole = composes and not by_piece
        self._pieces = Pieces(tokens.tokens, stem, by_piece)
        self._texts: dict[str, str] = {}  # whole texts, where pieces cannot be taken by themselves

    @property
    def local(self) -> bool:
        """Whether what stands around a piece of text has no say in its tokens."""
        return self._tokens.local

    def __call__(self, text: str) -> str:
        """The stems of a text, joined by single spaces.

        >>> normaliser("marks", "porter", "lower")("Neural networks, trained.")
        'neural network , train .'
        """
        if self._spaced is not None and not text.isascii():
            text = self._spaced(text)
        if self._lower and not self._tokens.cased:
            text = text.lower()
        if self._composes_whole and (plain := composed(text)) != text:
            text, self._pieces.respelled = plain, True
        pieces = self._tokens.pieces(text)
        return self._join(list(map(str.lower, pieces)) if self._lower and self._tokens.cased else pieces)

    @property
    def respelled(self) -> bool:
        """Whether composing has changed any text since the memory was last emptied."""
        return self._pieces.respelled

    def many(self, texts: Sequence[str]) -> list[str]:
        """The forms of many short texts, made in one sweep.

        >>> normaliser("marks", "porter", "lower").many(["Neural networks", "", "nets"])
        ['neural network', '', 'net']
        """
        together = f" {_MARK} ".join(map(str.strip, texts))
        if not self.local or together.count(_MARK) >= max(len(texts), 1):
            return [self._short(text) for text in texts]
        self._pieces[_MARK] = _MARK
        forms = [form.strip() for form in self(together).split(_MARK)] if texts else []
        del self._pieces[_MARK]
        return forms

    def _short(self, text: str) -> str:
        """The form of a short text, which is remembered as a whole."""
        if text not in self._texts:
            self._texts[text] = self(text).strip()
        return self._texts[text]

    def _join(self, pieces: list[str]) -> str:
        forms = list(map(self._pieces.__getitem__, pieces))
        return " ".join(filter(None, forms) if self._tokens.drops or self._pieces.vanished else forms)

    def forget(self) -> None:
        """Empties the memory if it has grown beyond its bound."""
        if len(self._pieces) > REMEMBERED:
            self._pieces.clear()
            self._pieces.respelled = self._pieces.vanished = False
        if len(self._texts) > REMEMBERED // 4:
            self._texts.clear()


@cache
def normaliser(tokens: str, stem: str, case: str, unicode: str = "composed", segmentation: str = "none") -> Normaliser:
    """The one normaliser of this process for these options, with what it remembers."""
    return Normaliser(tokenizer(tokens), stemmer(stem), case == "lower", unicode == "composed", cut(segmentation))


def normaliser_of(matching: Matching, stem: str | None = None) -> Normaliser:
    """The normaliser of a protocol; `stem` names another stemmer than its own."""
    stem = stem or matching.stemmer
    return normaliser(matching.tokenizer, stem, matching.case, matching.unicode, matching.segmentation)
