"""The Porter stemmer equals NLTK's on every word of the real corpora."""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

from nltk.stem import PorterStemmer, SnowballStemmer

from karat.text.porter import stem

FIELDS = ("title", "text", "fulltext", "keyphrases")
TOKEN = re.compile(r"\w+(?:-\w+)*")


def strings_in(value: object) -> Iterator[str]:
    """Return the strings of a field, which may be lists of lists of variants."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings_in(item)


def vocabulary(path: Path) -> set[str]:
    """Return the distinct words of one corpus, as written."""
    words: set[str] = set()
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            document = json.loads(line)
            for text in strings_in([document.get(field) for field in FIELDS]):
                words.update(TOKEN.findall(text))
    return words


def test_equals_nltk_on_the_vocabulary_of_the_corpora(shared: Path) -> None:
    nltk_stem = PorterStemmer().stem
    words = set().union(*map(vocabulary, sorted((shared / "data").glob("*.jsonl.gz"))))
    assert len(words) > 50_000
    triples = ((word, stem(word), nltk_stem(word)) for word in sorted(words))
    snowball = SnowballStemmer("porter").stem  # as houbre2026 calls it
    assert all(snowball(word.lower()) == nltk_stem(word.lower()) for word in sorted(words)[::10])
    differences = [triple for triple in triples if triple[1] != triple[2]]
    assert not differences, f"{len(differences)} differ, (word, ours, NLTK's): {differences[:10]}"
