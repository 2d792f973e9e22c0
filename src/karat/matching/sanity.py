"""What looks wrong with what is given to be scored, before it is believed: one sentence each.

The files may be in the wrong order, a run may be of another corpus with the same ids, the texts may be in another
language than the stemmer's, or in a script that has no spaces between words. All of this ends in plausible numbers, so
it is said. Only a sample is looked at, from the beginning of the corpus: the same for every shard and on any number of
processes, and cheap.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

from karat.corpus import Corpus, Document, Run
from karat.errors import InputError, KaratError, counted
from karat.formats import hub, read
from karat.formats.base import first_variant
from karat.matching.align import references_of
from karat.matching.join import matched_by
from karat.options import By
from karat.protocol import Protocol
from karat.text.languages import other_language
from karat.text.normalise import normaliser
from karat.text.scripts import script_without_spaces
from karat.text.segments import SEGMENTERS

ENOUGH, MOST = 20, 60  # documents that are looked at: so many at least, where there are as many, and of one batch
READ = 2000  # characters of a text that are looked at
OPENING = 600  # characters by which the language is detected
FIRST = 10  # phrases of a document that are looked at
FEWEST = 5  # documents by which a run is judged
FOREIGN = 0.2  # of what ties references to their texts: a run of the same documents has more
TIED = 0.2  # how much oftener words of references are in their own text than in others, at least
SHARE = 0.1  # of the documents, that must lack spaces
NO_TEXTS = "the documents have no title and no text, so {}"
NO_SUBSETS = NO_TEXTS.format("present and absent phrases cannot be told apart")


def has_texts(corpus: Corpus, runs: Sequence[Run] = ()) -> bool:
    """Whether a document has a title or a text; the first one settles it.

    Raises InputError if none has, but records of a run have: then the two are in the wrong order.
    """
    if any(document.title or document.text for document in corpus.records_ahead()):
        return True
    for run in runs:
        if _looks_like_corpus(run):
            raise InputError(
                f"{corpus.origin} has no titles and texts, but {run.origin}, which is given as a run, has: the corpus "
                "comes first, then its runs; if that is the order, `karat run convert` makes a run without texts"
            )
    return False


def no_texts(corpus: Corpus, so: str) -> InputError:
    """What to raise where no document has a title or a text; `so` says what cannot be done."""
    return InputError(f"{corpus.origin}: no document has a title or a text, so {so}")


def texts_needed(corpus: Corpus, what: str, instead: str) -> InputError:
    """The InputError for a request that needs texts where the documents have none."""
    return InputError(f"{what} needs the documents' title or text, and {corpus.origin} has none; use {instead}")


def _looks_like_corpus(run: Run) -> bool:
    """Whether the records of a run's file have titles or texts, as those of a corpus have."""
    if run.origin == "memory" or hub.is_dataset(run.origin) or os.path.isdir(run.origin):
        return False
    try:
        batch = next(iter(read(run.origin).batches()), None)
        return batch is not None and any(each.title or each.text for each in batch.pick(_spread(len(batch))).records())
    except (KaratError, OSError):  # it can only be read as a run
        return False


def sanity_warnings(
    corpus: Corpus,
    runs: Sequence[Run],
    protocols: Sequence[Protocol],
    by: By | None = None,
    reference_set: str | None = None,
) -> Iterator[str]:
    """What looks wrong, a sentence each: the script, the language, runs that do not belong to the corpus."""
    sample = _Sample.of(corpus, reference_set)
    texts = list(filter(None, sample.texts))
    if not texts:
        return
    yield from _without_spaces(corpus.name, texts, protocols)
    yield from _in_another_language(corpus.name, texts, protocols)
    tied = _Tied.of(sample, sample.references)
    for run in runs:
        predictions = sample.predictions(run, by)
        yield from _of_another_corpus(sample, tied, run.name, predictions)
        yield from _no_run(sample, run, predictions)


@dataclass(frozen=True, slots=True)
class _Sample:
    """Some documents from the beginning of a corpus: where they are, their texts and their references."""

    corpus: Corpus
    ids: list[str | None]
    places: list[int]  # among the documents, from 0
    texts: list[str]
    words: list[frozenset[str]]
    references: dict[int, list[str]]  # by the number of the document here

    @classmethod
    def of(cls, corpus: Corpus, reference_set: str | None) -> _Sample:
        """Documents that are spread over as many batches as are needed."""
        ids: list[str | None] = []
        places: list[int] = []
        documents: list[Document] = []
        start = 0
        for batch in corpus.ahead():
            picked = batch.pick(_spread(len(batch)))
            ids += picked.ids
            places += [start + place for place in _spread(len(batch))]
            documents += picked.records()
            start += len(batch)
            if len(documents) >= ENOUGH:
                break
        texts = [f"{each.title or ''} {(each.text or '')[:READ]}".strip() for each in documents]
        given = (list(map(first_variant, references_of(each, reference_set))) for each in documents)
        return cls(corpus, ids, places, texts, list(map(_words, texts)), dict(enumerate(given)))

    def predictions(self, run: Run, by: By | None) -> dict[int, list[str]]:
        """What a run predicts for the documents, by their number here; it is read until all of them are found."""
        by_line = matched_by(self.corpus, run, by) == "line"
        number = dict(zip(self.places if by_line else self.ids, range(len(self.ids)), strict=True))
        found: dict[int, list[str]] = {}
        start = 0
        for batch in run.ahead():
            keys = range(start, start + len(batch)) if by_line else batch.ids
            there = [at for at, key in enumerate(keys) if key in number]
            for at, record in zip(there, batch.pick(there).records(), strict=True):
                found[number[keys[at]]] = list(filter(None, record.keyphrases or ()))
            start += len(batch)
            if len(found) == len(number):
                break
        return found


def _spread(count: int) -> range:
    """Places that are spread over so many."""
    return range(0, count, -(-count // MOST) or 1)


# ---------------------------------------------------------------------------------------------- texts


def _without_spaces(name: str, texts: Sequence[str], protocols: Sequence[Protocol]) -> Iterator[str]:
    """How texts without spaces between words are compared, for each way in which the protocols cut them."""
    scripts = Counter(filter(None, map(script_without_spaces, texts)))
    if scripts.total() < max(SHARE * len(texts), 1):
        return
    found = f"{scripts.total()} of {len(texts)} sampled documents of {name} are {' or '.join(sorted(scripts))} without "
    main = scripts.most_common(1)[0][0]
    matching = (each.matching for each in protocols if each.matching.present != "characters")
    for way in dict.fromkeys(each.segmentation for each in matching):
        yield f"{found}spaces between words, {_compared(main, way)}"


def _compared(script: str, segmentation: str) -> str:
    """What becomes of a script without spaces under a way of cutting it, and what else could be chosen."""
    language = script.lower()
    own = SEGMENTERS.get(language)
    if own is None or segmentation == "none":
        instead = f", or choose --language {language}, which compares characters" if own else ""
        return (
            "so that what is present or absent and what is stemmed cannot be trusted; put spaces between the words of "
            f"texts and phrases first{instead or ', or choose present=characters'}"
        )
    if segmentation == "characters":
        return (
            f"and are compared character by character (--language {language} says so for every protocol); "
            f"segmentation={own} compares words"
        )
    if segmentation == own:
        return (
            f"and are cut into words by {own}; a phrase that is cut otherwise in its text is absent, which "
            "segmentation=characters avoids"
        )
    return f"and are cut by {segmentation}, which does not know {script}; choose segmentation={own} or characters"


def _in_another_language(name: str, texts: Sequence[str], protocols: Sequence[Protocol]) -> Iterator[str]:
    for stemmer in dict.fromkeys(protocol.matching.stemmer for protocol in protocols):
        said = "english" if stemmer == "porter" else stemmer
        found = other_language((text[:OPENING] for text in texts), said)
        if found is not None and not (found[0] in SEGMENTERS and said == "english"):  # stemmed as such, too
            language, count = found
            yield (
                f"{count} of {len(texts)} sampled documents of {name} look {language.capitalize()}, and are stemmed as "
                f"{said.capitalize()}; --language {language} stems them as such"
            )


# ---------------------------------------------------------------------------------------------- runs


def _words(text: str) -> frozenset[str]:
    """The stems of a text that are words, and not short ones."""
    return frozenset(word for word in normaliser("marks", "porter", "lower")(text).split() if _tells(word))


def _tells(word: str) -> bool:
    return len(word) > 2 and word[0].isalnum()


@dataclass(frozen=True, slots=True)
class _Tied:
    """How often words of phrases stand in their own document and in other ones, on average."""

    documents: int
    own: float
    other: float
    error: float  # standard error of the difference

    @property
    def difference(self) -> float:
        """How much oftener they stand in their own document."""
        return self.own - self.other

    @classmethod
    def of(cls, sample: _Sample, phrases: dict[int, list[str]]) -> _Tied | None:
        """That of phrases by document; None where too few documents have a text and phrases."""
        others = sum(map(bool, sample.words)) - 1
        if others < FEWEST - 1:
            return None
        frequency = Counter(word for words in sample.words for word in words)
        rows: list[tuple[float, float]] = []
        for n, listed in phrases.items():
            text, words = sample.words[n], _words(" , ".join(listed[:FIRST]))
            if text and words:
                own = len(words & text)
                rows.append((own / len(words), (sum(map(frequency.__getitem__, words)) - own) / len(words) / others))
        if len(rows) < FEWEST:
            return None
        differences = [own - other for own, other in rows]
        error = stdev(differences) / sqrt(len(rows))
        return cls(len(rows), fmean(own for own, _ in rows), fmean(other for _, other in rows), error)


def _of_another_corpus(
    sample: _Sample, references: _Tied | None, system: str, predictions: dict[int, list[str]]
) -> Iterator[str]:
    """That the words of a run are about as seldom in their own documents as in others, unlike those of references.

    Few documents have to show it more clearly.
    """
    found = _Tied.of(sample, predictions)
    if references is None or found is None or references.difference - 2 * references.error <= TIED:
        return
    if found.difference + (2 + 10 / found.documents) * found.error < FOREIGN * references.difference:
        yield (
            f"{system}: {_percent(found.own)} of the words of its predictions stand in their own documents and "
            f"{_percent(found.other)} in others (of references {_percent(references.own)} and "
            f"{_percent(references.other)}; {counted(found.documents, 'document')} sampled); see whether it is a run "
            f"of {sample.corpus.name} or of another corpus with the same ids"
        )


def _no_run(sample: _Sample, run: Run, predictions: dict[int, list[str]]) -> Iterator[str]:
    """That a run is a corpus, and its predictions are the references."""
    equal = sum(bool(listed) and listed == sample.references[n] for n, listed in predictions.items())
    if 2 * equal > len(predictions) and _looks_like_corpus(run):
        yield (
            f"{run.name}: in {equal} of {len(predictions)} sampled documents its predictions are the references, and "
            f"its records have titles or texts; see whether {run.origin} is a run or the corpus"
        )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
