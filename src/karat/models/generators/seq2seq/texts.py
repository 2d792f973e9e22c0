"""Documents and keyphrases as the texts that a pretrained network reads and writes, and as tokens of its tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from karat.corpus import Document
from karat.models.generators.seq2seq.beams import Marks
from karat.models.generators.seq2seq.directory import Pretrained
from karat.models.generators.seq2seq.settings import Seq2SeqLearning, Seq2SeqShape
from karat.models.generators.words import Stems, first_of, source_tokens, split_references, tokens


def text_of(document: Document, shape: Seq2SeqShape) -> str:
    """A document as it is read: title and text, with what stands between them.

    >>> text_of(Document(title="Bees", text="They fly."), Seq2SeqShape(between="<s>"))
    'Bees<s>They fly.'
    >>> text_of(Document(title="3 Bees", text="They fly."), Seq2SeqShape(between=" <sep> ", text="tokens"))
    '<digit> bees <sep> they fly .'
    """
    text = document.text or "\n".join(" ".join(word for word, _ in words) for words in document.sentences or ())
    parts = [_said(part, shape) for part in (document.title or "", text)]
    found = shape.between.join(part for part in parts if part)
    return f"{shape.prefix} {found}" if shape.prefix and found else found


def _said(text: str, shape: Seq2SeqShape) -> str:
    return " ".join(tokens(text)) if shape.text == "tokens" else " ".join(text.split())


@dataclass(frozen=True, slots=True)
class References:
    """The keyphrases of a document as they are to be written, each once."""

    texts: list[str]
    present: int
    absent: int


def references_of(document: Document, shape: Seq2SeqShape, stems: Stems) -> References:
    """The keyphrases of a document, in the order of their first places, absent ones last, or in the order given.

    >>> document = Document(text="Nets of deep trees.", keyphrases=["Bees", "deep tree", "Net", "net"])
    >>> references_of(document, Seq2SeqShape(), Stems("english")).texts
    ['Net', 'deep tree', 'Bees']
    """
    present, absent = split_references(document, source_tokens(document), stems)
    given = [first_of(each) for each in document.keyphrases or ()]
    said: dict[tuple[str, ...], str] = {}
    for text in given:
        said.setdefault(tuple(tokens(text)), _said(text, shape))
    chosen = [*map(tuple, present), *map(tuple, absent)]
    if shape.order == "given":
        chosen = [words for words in said if words in set(chosen)]
    return References([said[words] for words in chosen], len(present), len(absent))


@dataclass(frozen=True, slots=True)
class Language:
    """How documents become tokens, and tokens text: a tokenizer, and what a training said of texts."""

    tokenizer: Any
    shape: Seq2SeqShape
    longest: int  # tokens of a source
    length: int  # tokens of a target
    rows: int  # tokens that the network knows
    pad: int
    marks: Marks

    @classmethod
    def of(cls, found: Pretrained, shape: Seq2SeqShape, learning: Seq2SeqLearning) -> Language:
        """The language of a network; a source is not longer than what it takes."""
        rows = found.network.get_input_embeddings().num_embeddings
        longest, length = (min(each, found.limit or each) for each in (learning.longest, learning.length))
        return cls(found.tokenizer, shape, longest, length, rows, found.pad, found.marks())

    def sources(self, documents: Sequence[Document]) -> tuple[list[list[int]], int]:
        """(the tokens of each document, none where it has no text; how many documents were cut)."""
        texts = [text_of(each, self.shape) for each in documents]
        if not texts:
            return [], 0
        found = self.tokenizer(texts, truncation=True, max_length=self.longest)
        cut = sum(bool(each.overflowing) for each in found.encodings)
        return [ids if text else [] for ids, text in zip(found["input_ids"], texts, strict=True)], cut

    def target(self, phrases: Sequence[str]) -> tuple[list[int], bool]:
        """(the tokens of as many whole keyphrases as fit, or of the beginning of the first; whether all fit)."""
        for kept in range(len(phrases), 0, -1):
            text = self.shape.separator.join(phrases[:kept])
            found = self.tokenizer(text_target=text, truncation=True, max_length=self.length)
            fits = not found.encodings[0].overflowing
            if fits or kept == 1:
                return found["input_ids"], fits and kept == len(phrases)
        return [], True
