"""Chan's parallel text files: one document a line, `title <eos> text`, phrases joined by `;`.

A corpus is `SRC+TRG`, two files with a line for each document; a run is one file of predictions. The marker
`<peos>` parts present from absent phrases; it becomes the kinds of a run and vanishes from a corpus. There
are no ids: a line's number stands for its document.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import zip_longest

from karat.corpus import Batch, Batches, Document, Prediction
from karat.errors import InputError
from karat.formats.files import lines

TITLE_END, SEPARATOR, PRESENT_END = "<eos>", ";", "<peos>"
BATCH_LINES = 1000


def corpus(path: str) -> Batches[Document]:
    """The documents of a pair of files SRC+TRG."""
    parts = path.split("+")
    if len(parts) != 2:
        raise InputError(f"{path}: parallel text needs two files, SRC+TRG, as test_src.txt+test_trg.txt")
    return partial(_documents, parts[0], parts[1])


def run(path: str) -> Batches[Prediction]:
    """The predictions of one file."""
    return partial(_predictions, path)


def _documents(source: str, target: str) -> Iterator[Batch[Document]]:
    documents: list[Document] = []
    number = 0
    for number, (text, references) in enumerate(zip_longest(_lines(source), _lines(target)), 1):
        if text is None or references is None:
            short, long = (source, target) if text is None else (target, source)
            raise InputError(f"{short}: ends after line {number - 1}, but {long} goes on")
        documents.append(_document(text, references))
        if len(documents) == BATCH_LINES:
            yield _batch(documents, number)
            documents = []
    if number == 0:
        raise InputError(f"{source}: the file is empty")
    if documents:
        yield _batch(documents, number)


def _predictions(path: str) -> Iterator[Batch[Prediction]]:
    predictions: list[Prediction] = []
    number = 0
    for number, line in enumerate(_lines(path), 1):
        predictions.append(_prediction(line))
        if len(predictions) == BATCH_LINES:
            yield _batch(predictions, number)
            predictions = []
    if number == 0:
        raise InputError(f"{path}: the file is empty")
    if predictions:
        yield _batch(predictions, number)


def _batch(records: list[Document] | list[Prediction], last: int) -> Batch:  # type: ignore[type-arg]
    return Batch([None] * len(records), records, range(last - len(records) + 1, last + 1))


def _lines(path: str) -> Iterator[str]:
    return (line.strip() for _, line in lines(path))


def _document(line: str, references: str) -> Document:
    title, boundary, text = line.partition(TITLE_END)
    if not boundary:
        title, text = "", line
    phrases = [phrase for phrase in _phrases(references) if phrase != PRESENT_END]
    return Document(title=title.strip(), text=text.strip(), keyphrases=list(phrases))


def _prediction(line: str) -> Prediction:
    phrases = _phrases(line)
    if PRESENT_END not in phrases:
        return Prediction(keyphrases=list(phrases))
    end = phrases.index(PRESENT_END)
    absent = [phrase for phrase in phrases[end:] if phrase != PRESENT_END]
    return Prediction(
        keyphrases=[*phrases[:end], *absent],
        kinds=["present"] * end + ["absent"] * len(absent),
    )


def _phrases(line: str) -> list[str]:
    return [phrase.strip() for phrase in line.split(SEPARATOR)] if line else []
