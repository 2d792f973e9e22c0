"""How near two phrases are: the similarities, registered by being imported."""

from karat.similarity import edits, overlap, placed, ngrams, meteor, context, embedded, concept  # noqa: F401, I001  the order of lists
from karat.similarity.base import SIMILARITIES, Similarity, Words, compare, find, find_once, similarity, words_of

__all__ = ["SIMILARITIES", "Similarity", "Words", "compare", "find", "find_once", "similarity", "words_of"]
