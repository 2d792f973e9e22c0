"""Document frequencies: in how many documents of a corpus a stemmed phrase occurs.

They are kept in files of two kinds: JSON, `{"--NB_DOC--": 2, "neural net": 1}`, and the tables of pke, a phrase, a tab
and a count on each line, `--NB_DOC--` being the number of documents. Both may be compressed.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from math import log
from pathlib import Path
from typing import Any

import msgspec

from karat.corpus import Corpus, Document
from karat.errors import InputError
from karat.formats import read
from karat.formats.base import brief, quoted
from karat.formats.files import FIRST_BYTES, decode_utf8, open_bytes, read_whole, without_compression
from karat.formats.load import MOST_COUNT, decoded_json
from karat.formats.output import writing
from karat.matching.join import Join
from karat.matching.passes import Pass, View
from karat.options import Progress

DOCUMENTS = "--NB_DOC--"  # the key under which the number of documents stands
_COUNTED = re.compile(rb"[^\t\n]+\t\d+\r?(?:\n|$)")


@dataclass(frozen=True, slots=True)
class Frequencies:
    """How many documents there are, and how many of them hold each phrase, stems joined by spaces."""

    documents: int
    counts: Mapping[str, int]

    def weight(self, phrase: str) -> float:
        """The inverse document frequency of a phrase: log2((1 + N) / (1 + df)).

        >>> Frequencies(7, {"graph": 1}).weight("graph")
        2.0
        """
        # A quotient of logarithms, as pke has it: the last bit decides between phrases that are equally good.
        return log((1 + self.documents) / (1 + self.counts.get(phrase, 0)), 2)


def frequencies_of(
    documents: Iterable[Document],
    *,
    language: str = "english",
    n: int = 3,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Frequencies:
    """In how many of the documents each 1- to n-gram occurs, by stem; n-grams as TF-IDF selects them.

    A corpus is counted on several processes, or on the engine in force.

    >>> found = frequencies_of([Document(text="Deep nets."), Document(text="A net learns.")])
    >>> found.documents, found.counts
    (2, {'deep': 1, 'deep net': 1, 'net': 2, 'net learn': 1, 'learn': 1})
    """
    corpus = documents if isinstance(documents, Corpus) else Corpus.of(documents)
    reading = Pass(corpus, [], Join(distinct=False), jobs=jobs, progress=progress)
    counts: Counter[str] = Counter()
    reading.look(partial(_look_at_ngrams, language, n), take=counts.update)
    reading.run()
    return Frequencies(len(reading.ids), dict(counts))


def _look_at_ngrams(language: str, n: int, view: View) -> Counter[str]:
    """A look: in how many documents of a chunk each n-gram occurs."""
    from karat.models.base import CommonOptions
    from karat.models.extractors.candidates import ngrams, text_of

    common = CommonOptions(language=language)
    counts: Counter[str] = Counter()
    for document in view.given:
        counts.update(ngrams(text_of(document, common, tagged=False), n).forms)
    return counts


def frequencies_at(path: str | Path, *, language: str = "english", jobs: int = 1) -> Frequencies:
    """The frequencies in a file of them, or those of the documents of a corpus, whichever is at the path."""
    if _holds_frequencies(str(path)):
        return read_frequencies(path)
    return frequencies_of(read(path), language=language, jobs=jobs)


def _holds_frequencies(path: str) -> bool:
    if not os.path.isfile(path):
        return False
    with open_bytes(path) as file:
        head = file.read(FIRST_BYTES)
    return DOCUMENTS.encode() in head or _COUNTED.match(head) is not None


def read_frequencies(path: str | Path) -> Frequencies:
    """The frequencies in a file: JSON or a table of pke, seen from the file."""
    path = str(path)
    content = read_whole(path)
    if not content.strip():
        raise InputError(f'{path}: the file is empty; write {{"{DOCUMENTS}": 2, "neural net": 1}}')
    return _of_json(content, path) if content.lstrip()[:1] == b"{" else _of_table(content, path)


def save_frequencies(path: str | Path, frequencies: Frequencies) -> None:
    """Writes a table of pke where the path ends in .tsv, else JSON; compressed where it ends in .gz."""
    counts = {DOCUMENTS: frequencies.documents, **frequencies.counts}
    if without_compression(str(path)).endswith(".tsv"):
        for phrase in counts:
            if "\t" in phrase or "\n" in phrase:
                raise InputError(f"{quoted(phrase)} cannot stand in a table; write JSON")
        content = "".join(f"{phrase}\t{count}\n" for phrase, count in counts.items()).encode("utf-8", "replace")
    else:
        content = msgspec.json.encode(counts) + b"\n"
    with writing(path) as file:
        file.write(content)


def _of_json(content: bytes, path: str) -> Frequencies:
    counts: dict[str, int] = decoded_json(content, dict[str, int], path, "no JSON of phrases and counts")
    for phrase, count in counts.items():
        if not 0 <= count <= MOST_COUNT:
            said = brief(str(count), 40)
            raise InputError(f"{path}: the count of {quoted(phrase)} is {said}; write 0 or more, to {MOST_COUNT}")
    return _of_counts(counts, path)


def _of_table(content: bytes, path: str) -> Frequencies:
    counts: dict[str, int] = {}
    for number, line in enumerate(content.removesuffix(b"\n").split(b"\n"), 1):
        text = decode_utf8(line.removesuffix(b"\r"), path, number)
        phrase, tab, count = text.rpartition("\t")
        if not tab or not (count.isascii() and count.isdigit() and len(count) < len(str(MOST_COUNT))):
            raise InputError(f"{path}:{number}: {quoted(text)} is no phrase, tab and count; write `neural net<TAB>12`")
        counts[phrase] = int(count)
    return _of_counts(counts, path)


def _of_counts(counts: dict[str, Any], path: str) -> Frequencies:
    if DOCUMENTS not in counts:
        raise InputError(f"{path}: the number of documents is missing; write it as the count of {DOCUMENTS}")
    documents = counts.pop(DOCUMENTS)
    most = max(counts.values(), default=0)
    if most > documents:
        raise InputError(f"{path}: a phrase is in {most} documents, but {DOCUMENTS} is {documents}")
    return Frequencies(documents, counts)
