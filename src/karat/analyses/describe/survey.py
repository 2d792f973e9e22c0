"""A first reading of a corpus: what it holds, which phrases its references are, and what looks odd about them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain

from karat.analyses.describe import grams
from karat.corpus import Corpus, Document, Reference
from karat.formats.base import first_variant
from karat.matching.align import reference_stems, references_of
from karat.matching.concepts import concepts_for
from karat.matching.passes import Pass, View
from karat.protocol import Matching
from karat.text.languages import language_of
from karat.text.normalise import normaliser
from karat.vocabulary import Vocabulary

SAMPLE, OF_BATCH = 100, 25  # documents that are looked at word by word, and how many of one batch at most
SEPARATORS = {";": re.compile(";"), ",": re.compile(r",\s")}  # no comma within a number or the name of a substance


@dataclass(slots=True)
class Survey:
    """What a first reading finds; it is added to chunk by chunk."""

    documents: int = 0
    texts: int = 0  # documents with a title or a text
    titles: int = 0
    referred: int = 0  # documents with a reference of the chosen set
    sets: list[str] = field(default_factory=list)  # names of further reference sets
    languages: Counter[str] = field(default_factory=Counter)  # of sampled documents
    separators: dict[str, list[str]] = field(default_factory=dict)  # by separator, the references that hold it
    words: int = 0  # of references of sampled documents, where a word has its stem in the text
    unchanged: int = 0  # of these, those that stemming leaves as they are
    only_stems: int = 0  # of these, those that are the stem of a word of the text and no word of it
    forms: list[grams.Vocabulary] = field(default_factory=list)  # of all references, of variants the first

    def stemmed(self) -> bool:
        """Whether the references look stemmed already: hardly any would change, and many are no words of the text.

        Of plain references about half of the words would change. SemEval's, stemmed by the Porter algorithm, have
        words that it would shorten again, for it is not made to be applied twice.
        """
        return self.words >= 20 and self.unchanged >= 0.9 * self.words and self.only_stems >= 0.1 * self.words

    def vocabulary(self) -> grams.Vocabulary:
        """The distinct references, to be looked for in all texts."""
        return grams.Vocabulary.joined(self.forms)


def survey(
    corpus: Corpus,
    matching: Matching,
    reference_set: str | None,
    vocabulary: Vocabulary | None = None,
    jobs: int = 1,
) -> Survey:
    """What a first reading of a corpus finds, on one process or several."""
    found = Survey()
    _look_at_sample(found, corpus, reference_set)
    reading = Pass(corpus, [], reference_set=reference_set, vocabulary=vocabulary, jobs=jobs)
    reading.look(partial(_look_at_all, matching), take=partial(_add, found))
    reading.run()
    return found


def _look_at_sample(found: Survey, corpus: Corpus, reference_set: str | None) -> None:
    """Adds what only some documents are looked at for, from the beginning of the corpus."""
    for batch in corpus.ahead():
        left = min(SAMPLE - found.languages.total(), OF_BATCH)
        if left == 0:
            break
        documents = batch.pick(range(min(left, len(batch)))).records()
        given = _first_variants([references_of(document, reference_set) for document in documents])
        for document, each in zip(documents, given, strict=True):
            _look_closely(found, document, each)


def _look_at_all(matching: Matching, view: View) -> Survey:
    """A look: what is counted of all documents."""
    found, documents = Survey(), view.given
    given = _first_variants([references_of(document, view.setup.reference_set) for document in documents])
    found.documents = len(documents)
    found.texts = sum(bool(document.title or document.text) for document in documents)
    found.titles = sum(bool(document.title) for document in documents)
    found.referred = sum(map(any, given))
    found.sets = list(dict.fromkeys(name for document in documents for name in document.reference_sets or ()))
    phrases = dict.fromkeys(filter(None, chain.from_iterable(given)))
    _note_separators(found, phrases)
    concepts = None if view.setup.vocabulary is None else concepts_for(view.setup.vocabulary, matching)
    forms = dict.fromkeys(filter(None, reference_stems(list(phrases), matching, view.setup.semeval, concepts)))
    found.forms = [grams.Vocabulary.of(list(forms))]
    return found


def _add(found: Survey, part: Survey) -> None:
    """Adds what was counted in a chunk."""
    for name in ("documents", "texts", "titles", "referred"):
        setattr(found, name, getattr(found, name) + getattr(part, name))
    for mark, phrases in part.separators.items():
        found.separators.setdefault(mark, []).extend(phrases)
    found.forms += part.forms
    if sum(map(len, found.forms[1:])) > len(found.forms[0]):  # each phrase is then joined a few times, and held once
        found.forms = [grams.Vocabulary.joined(found.forms)]
    found.sets = list(dict.fromkeys([*found.sets, *part.sets]))


def _first_variants(given: list[list[Reference]]) -> list[list[str]]:
    if set(map(type, chain.from_iterable(given))) <= {str}:
        return given  # type: ignore[return-value]
    return [list(map(first_variant, each)) for each in given]


def _note_separators(found: Survey, phrases: Iterable[str]) -> None:
    for mark, pattern in SEPARATORS.items():
        holding = [phrase for phrase in phrases if mark in phrase and pattern.search(phrase)]
        if holding:
            found.separators.setdefault(mark, []).extend(holding)


def _look_closely(found: Survey, document: Document, references: Sequence[str]) -> None:
    """Adds the language of a document, and whether its references are words of it or stems."""
    text = f"{document.title or ''} {document.text or ''}".strip()
    if not text:
        return
    found.languages[language_of(text)] += 1
    plain, stem = (normaliser("marks", name, "lower") for name in ("none", "porter"))
    words = set(plain(text).split(" "))
    stems = set(stem(text).split(" "))
    for phrase in references:
        for word in plain(phrase).split(" "):
            if word.isalpha() and (word in stems or stem(word) in stems):
                found.words += 1
                found.unchanged += stem(word) == word
                found.only_stems += word in stems and word not in words
