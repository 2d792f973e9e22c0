"""Chan's parallel text files: one document a line, `title <eos> text`, phrases joined by `;`.

A corpus is `SRC+TRG`, two files with a line for each document; a run is one file of predictions. The marker
`<peos>` parts present from absent phrases; it becomes the kinds of a run and vanishes from a corpus. There
are no ids: a line's number stands for its document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from karat.corpus import Batches, Document, Prediction, in_batches, split_paths
from karat.errors import InputError
from karat.formats.base import Format, join_phrases, split_phrases
from karat.formats.files import lines
from karat.formats.head import Head
from karat.formats.output import writing

TITLE_END, SEPARATOR, PRESENT_END = "<eos>", ";", "<peos>"


def corpus(path: str) -> Batches[Document]:
    """The documents of a pair of files SRC+TRG."""
    source, target = _pair(path)
    return lambda: in_batches(enumerate(_documents(source, target), 1), path)


def run(path: str) -> Batches[Prediction]:
    """The predictions of one file."""
    return lambda: in_batches(_predictions(path), path)


def _predictions(path: str) -> Iterator[tuple[int, Prediction]]:
    for number, line in enumerate(_lines(path), 1):
        yield number, _prediction(line, f"{path}:{number}")


def _pair(path: str) -> tuple[str, str]:
    parts = split_paths(path)
    if len(parts) != 2:
        raise InputError(f"{path}: parallel text needs two files, SRC+TRG, as test_src.txt+test_trg.txt")
    return parts[0], parts[1]


def _documents(source: str, target: str) -> Iterator[Document]:
    for number, (text, references) in enumerate(zip_longest(_lines(source), _lines(target)), 1):
        if text is None or references is None:
            short, long = (source, target) if text is None else (target, source)
            raise InputError(f"{short}: ends after line {number - 1}, but {long} goes on")
        yield _document(text, references, f"{target}:{number}")


def _lines(path: str) -> Iterator[str]:
    """The lines of a file, of which there is at least one."""
    number = 0
    for number, line in lines(path):  # noqa: B007  the last number is looked at below
        yield line.strip()
    if number == 0:
        raise InputError(f"{path}: the file is empty")


def _document(line: str, references: str, where: str) -> Document:
    title, boundary, text = line.partition(TITLE_END)
    if not boundary:
        title, text = "", line
    phrases = [phrase for phrase in split_phrases(references, SEPARATOR, where) if phrase != PRESENT_END]
    return Document(title=title.strip(), text=text.strip(), keyphrases=list(phrases))


def _prediction(line: str, where: str) -> Prediction:
    phrases = split_phrases(line, SEPARATOR, where)
    if PRESENT_END not in phrases:
        return Prediction(keyphrases=list(phrases))
    end = phrases.index(PRESENT_END)
    absent = [phrase for phrase in phrases[end:] if phrase != PRESENT_END]
    return Prediction(
        keyphrases=[*phrases[:end], *absent],
        kinds=["present"] * end + ["absent"] * len(absent),
    )


# ---------------------------------------------------------------------------------------------- writing


def save_corpus(path: str, documents: Iterable[Document]) -> None:
    """Writes a pair of files SRC+TRG."""
    source, target = _pair(path)
    with writing(source) as texts, writing(target) as references:
        for document in documents:
            whole = f"{_one_line(document.title)} {TITLE_END} {_one_line(document.text)}"
            texts.write(f"{whole.strip()}\n".encode())
            references.write(f"{_one_line(join_phrases(document.keyphrases))}\n".encode())


def save_run(path: str, predictions: Iterable[Prediction]) -> None:
    """Writes one file of predictions; where their kinds are known, `<peos>` ends the present ones."""
    with writing(path) as file:
        for prediction in predictions:
            phrases = [phrase or "" for phrase in prediction.keyphrases or ()]
            kinds = prediction.kinds or []
            if prediction.kinds is not None and kinds == sorted(kinds, reverse=True):  # present ones come first
                phrases.insert(kinds.count("present"), PRESENT_END)
            file.write(f"{_one_line(SEPARATOR.join(phrases))}\n".encode())


def _one_line(text: str | None) -> str:
    return " ".join((text or "").splitlines())


def _fits(head: Head) -> bool:
    """Any text, and any two files; a line that is a JSON list is not meant as text."""
    return head.container == "several" or (head.container == "text" and not head.line.startswith(('["', "['")))


FORMAT = Format(
    name="chan",
    summary="parallel text files: SRC+TRG for a corpus, PRED for a run",
    fits=_fits,
    corpus=corpus,
    run=run,
    save_corpus=save_corpus,
    save_run=save_run,
    pair=True,
    general=True,
)
