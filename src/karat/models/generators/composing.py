"""60p: more examples, each the title of one document and the text of another that shares most of its keyphrases.

Houbre, Boudin, Daille and Aizawa, "Self-Compositional Data Augmentation for Scientific Keyphrase Generation", JCDL
2024. Documents are read twice and never held: what is held is the numbers of their keyphrases, and where those that are
needed are in a temporary file.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO

import msgspec
import numpy as np
from numpy.typing import NDArray

from karat.corpus import Document
from karat.matching.columns import Numbers
from karat.models.generators.words import Stems, first_of, tokens
from karat.pairs.sets import Sets, join

Ints = NDArray[np.int64]

LEAST = 0.6  # of the keyphrases of the one that has more
MOST = 5  # partners of a document

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Document).decode


def composed(documents: Iterable[Document], language: str, seed: int) -> Iterator[Document]:
    """Title of A, text of B, the keyphrases of B that A has too; under the id of B, for each partner B of each A.

    `documents` are taken twice. They are partners if |A ∩ B| is at least .6 · max(|A|, |B|), by stems.
    """
    stems = Stems(language)
    numbers, owner, items, many = Numbers(), array("q"), array("q"), 0
    for many, document in enumerate(documents, 1):
        found = [numbers[form] for form in forms(document, stems)]
        owner.extend([many - 1] * len(found))
        items.extend(found)
    sets = Sets.of(np.array(owner), np.array(items), many)
    titles, texts = partners(sets, seed)
    with TemporaryFile() as file:
        kept = _Kept.of(file, documents, {*titles.tolist(), *texts.tolist()})
        for title, text in zip(titles.tolist(), texts.tolist(), strict=True):
            one, other = kept[title], kept[text]
            if one.title and other.text:
                both = set(forms(one, stems))
                shared = [each for each in other.keyphrases or () if stems(tokens(first_of(each))) in both]
                yield Document(id=other.id, title=one.title, text=other.text, keyphrases=shared)


def forms(document: Document, stems: Stems) -> list[str]:
    """The keyphrases of a document, by stems, each once."""
    found = dict.fromkeys(stems(words) for each in document.keyphrases or () if (words := tokens(first_of(each))))
    return list(found)


def partners(sets: Sets, seed: int) -> tuple[Ints, Ints]:
    """(A, B) of all partners, in the order of A: of more than five the most alike, and of equally alike ones drawn."""
    alike = join(sets, LEAST, "max", equal=True)
    one, other = np.concatenate([alike.a, alike.b]), np.concatenate([alike.b, alike.a])
    drawn = np.random.default_rng(seed).permutation(len(sets.sizes))
    order = np.lexsort((drawn[other], -np.concatenate([alike.score, alike.score]), one))
    one, other = one[order], other[order]
    first = np.searchsorted(one, one)  # where the partners of each A begin
    kept = np.arange(len(one)) - first < MOST
    return one[kept], other[kept]


@dataclass(frozen=True, slots=True)
class _Kept:
    """Some documents in a file."""

    file: IO[bytes]
    places: dict[int, tuple[int, int]]  # where each is, and its length

    @classmethod
    def of(cls, file: IO[bytes], documents: Iterable[Document], wanted: set[int]) -> _Kept:
        places = {}
        for number, document in enumerate(documents if wanted else ()):
            if number in wanted:
                content = _encode(document)
                places[number] = file.tell(), len(content)
                file.write(content)
        return cls(file, places)

    def __getitem__(self, number: int) -> Document:
        place, length = self.places[number]
        self.file.seek(place)
        return _decode(self.file.read(length))
