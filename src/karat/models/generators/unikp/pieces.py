"""Pieces of words: the tokenizer of an encoder, the encoder's shape, and documents as numbers.

A number is that of a piece behind the special words of all generators, so that `PAD`, `BOS`, `SEP` and `EOS` are the
same for all; a network takes them away again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from karat.corpus import Document
from karat.errors import InputError
from karat.formats.files import read_whole
from karat.formats.load import converted, load_json
from karat.formats.output import write_beside
from karat.libraries import library
from karat.models.generators.unikp.pretrained import EncoderShape, encoder_directory, read_shape
from karat.models.generators.unikp.settings import RANDOM, TaggerShape
from karat.models.generators.unikp.tags import NO_WORD, DocumentWords, Ints, words_of_pieces
from karat.models.generators.words import SPECIAL, parts_of
from karat.text.places import Span

ENCODER, TOKENIZER = "encoder.json", "tokenizer.json"
AROUND = 2  # pieces that are put around a text
AHEAD = len(SPECIAL)  # numbers before those of pieces


@dataclass(frozen=True)
class Pieces:
    """A tokenizer, and the shape of the encoder that it belongs to."""

    tokenizer: Any  # of the library tokenizers
    shape: EncoderShape

    def __len__(self) -> int:
        return AHEAD + self.shape.pieces

    @property
    def written(self) -> int:
        """How many numbers can be written: all."""
        return len(self)

    def of(self, document: Document, words: DocumentWords) -> tuple[list[int], Ints]:
        """(the pieces of title and text, `end` between them; the word that each is of)."""
        title, text = parts_of(document)
        ids: list[int] = []
        of: list[Ints] = []
        for at, part in enumerate((title, text) if title else (text,)):
            if at:
                ids.append(self.shape.end)
                of.append(np.array([NO_WORD], np.int32))
            found = self.tokenizer.encode(part, add_special_tokens=False)
            ids += found.ids
            before = len(title) + 1 if at else 0
            of.append(words_of_pieces(words, [(start + before, end + before) for start, end in found.offsets]))
        return ids, np.concatenate(of)

    def around(self, ids: Sequence[int]) -> list[int]:
        """The numbers of some pieces, with those around them."""
        return [AHEAD + each for each in (self.shape.begin, *ids, self.shape.end)]

    def numbers(self, text: str) -> list[int]:
        """The numbers of a short text's pieces."""
        return [AHEAD + each for each in self.tokenizer.encode(text, add_special_tokens=False).ids]

    def text(self, numbers: Sequence[int]) -> str:
        """The text of some numbers again."""
        found: str = self.tokenizer.decode([each - AHEAD for each in numbers], skip_special_tokens=True)
        return " ".join(found.split())

    @cached_property
    def mark(self) -> int:
        """The number of the piece between absent keyphrases."""
        found = self.numbers(";")
        if not found:
            raise InputError("its tokenizer has no piece for ; between keyphrases")
        return found[-1]

    def write(self, folder: Path) -> None:
        """Writes tokenizer and shape to a directory."""
        write_beside(folder / TOKENIZER, self.tokenizer.to_str().encode())
        write_beside(folder / ENCODER, msgspec.json.format(msgspec.json.encode(asdict(self.shape)), indent=1) + b"\n")


def read_pieces(folder: Path) -> Pieces:
    """The pieces of a training in its directory. Raises InputError where they are none."""
    path = folder / ENCODER
    complaint = "does not say the shape of an encoder"
    try:
        shape: EncoderShape = converted(load_json(path, dict[str, Any], complaint), EncoderShape, str(path), complaint)
    except InputError as error:
        text = str(error)
        raise InputError(text if str(path) in text else f"{path}: {complaint} ({text})") from None
    tokenizer = tokenizer_in(folder / TOKENIZER)
    if tokenizer.get_vocab_size() > shape.pieces:
        raise InputError(
            f"{folder / TOKENIZER}: has {tokenizer.get_vocab_size():,} pieces, and the encoder {shape.pieces:,}"
        )
    return Pieces(tokenizer, shape)


def tokenizer_in(path: Path) -> Any:
    """The tokenizer in a file."""
    tokenizers = library("tokenizers", f"{path}: a tokenizer")
    if not path.is_file():
        raise InputError(f"{path}: there is no such file, which is the tokenizer")
    try:
        found = tokenizers.Tokenizer.from_str(read_whole(path).decode())
    except Exception as error:  # the library raises plain exceptions
        raise InputError(f"{path}: is no tokenizer, or is damaged ({str(error)[:120]})") from None
    return _bare(found)


def _bare(tokenizer: Any) -> Any:
    """The tokenizer, neither cutting nor padding."""
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


# ---------------------------------------------------------------------------------------------- new ones


def new_pieces(shape: TaggerShape, texts: Iterable[Document]) -> Pieces:
    """The pieces of the encoder that options name, or new ones of these documents, which are read either way."""
    if shape.model == RANDOM:
        return _learned(shape, texts)
    directory = encoder_directory(shape.model)
    found = pieces_at(directory)
    for _ in texts:
        pass
    return found


def pieces_at(directory: str) -> Pieces:
    """The tokenizer and the shape of the encoder in a directory. Raises InputError if there is none."""
    from karat.embed.network import tokenizer_at

    read_shape(directory, 0, 0)  # what is no encoder is told before its tokenizer is looked for
    tokenizer = tokenizer_at(directory)
    ids = [tokenizer.cls_token_id, tokenizer.sep_token_id]
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if None in ids or backend is None:
        raise InputError(f"{directory}: its tokenizer has no pieces that begin and end a text, as [CLS] and [SEP]")
    shape = read_shape(directory, *ids)
    if backend.get_vocab_size() > shape.pieces:
        raise InputError(
            f"{directory}: its tokenizer has {backend.get_vocab_size():,} pieces, and the model {shape.pieces:,}"
        )
    return Pieces(_bare(backend), shape)


def _learned(shape: TaggerShape, documents: Iterable[Document]) -> Pieces:
    """A tokenizer that is learned from documents, for an encoder with new weights: pairs of bytes, in lower case.

    The pairs follow from the documents alone; those of the library's WordPiece differ from time to time.
    """
    tokenizers = library("tokenizers", "a tokenizer")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=shape.vocabulary,
        special_tokens=["[PAD]", "[CLS]", "[SEP]"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_texts(documents), trainer)
    sizes = {name: getattr(shape, name) for name in ("size", "layers", "heads", "inner")}
    return Pieces(tokenizer, EncoderShape(**sizes, pieces=tokenizer.get_vocab_size(), begin=1, end=2))


def _texts(documents: Iterable[Document]) -> Iterator[str]:
    for document in documents:
        yield from parts_of(document)
        yield from (each for each in document.keyphrases or () if isinstance(each, str))


def windows(length: int, size: int) -> list[Span]:
    """Which parts of so many pieces are read at a time: all of them, or parts that share a quarter with the next.

    >>> windows(5, 8), windows(20, 8)
    ([(0, 5)], [(0, 8), (6, 14), (12, 20)])
    """
    if length <= size:
        return [(0, length)]
    step = max(1, size - size // 4)
    starts = [*range(0, length - size, step), length - size]
    return [(start, start + size) for start in starts]


def owners(length: int, parts: Sequence[Span]) -> Ints:
    """The part that each piece is taken from [length]: that in which it is farthest from a cut.

    >>> owners(20, [(0, 8), (6, 14), (12, 20)]).tolist() == [0] * 7 + [1] * 6 + [2] * 7
    True
    """
    places = np.arange(length)
    far = np.stack(
        [
            np.minimum(
                places - start if start else np.full(length, length),
                end - 1 - places if end < length else np.full(length, length),
            )
            for start, end in parts
        ]
    )
    return far.argmax(0).astype(np.int32)
