"""SemEval-2010 task 5: lines `C-1 : a phrase,another+its variant` and papers `C-1.txt.final`.

Phrases are parted by `,`, the variants of one by `+`; answers are files `SPLIT.SET[.stem].final` as
`test.combined.stem.final`, and the runs of the task are such lines too. The first line of a paper is its title, the
rest its text. A path is one file of lines, `PAPERS_FOLDER+answers.final`, or a folder in which both lie.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from karat.corpus import Batches, Document, Prediction, Reference, in_batches
from karat.errors import InputError
from karat.formats import folders
from karat.formats.base import Format, first_variant, split_phrases
from karat.formats.files import lines, without_compression
from karat.formats.folders import References, Sets, holds
from karat.formats.head import Head
from karat.formats.output import folder_beside, writing

PAPER, ANSWERS = ".txt.final", ".final"
SEPARATOR, VARIANT = ",", "+"
_LINE_FILES = (ANSWERS, ".txt", ".stem")  # a path that ends so is written as one file
_LINE = re.compile(r"\s*(\S+)\s*:(.*)", re.DOTALL)
# An id with a digit: words before a colon are text. The first digit is one place, so that a long line is tried once.
_FIRST_LINE = re.compile(r"[^\s:;,+\d]*\d[^\s:;,+]* ?:(?:\s[^;]*)?")


def corpus(path: str) -> Batches[Document]:
    """The documents of a file of answers, of PAPERS_FOLDER+answers.final, or of a folder of both."""
    return lambda: in_batches(_documents(path), path)


def run(path: str) -> Batches[Prediction]:
    """The predictions of a file of lines."""
    return lambda: in_batches(_predictions(path), path)


def _documents(path: str) -> Iterator[tuple[int, Document]]:
    parts = Head(path).parts
    if len(parts) > 2:
        raise InputError(f"{path}: give two paths, PAPERS_FOLDER+answers.final, not {len(parts)}")
    folder = parts[0]
    if len(parts) == 1 and not os.path.isdir(path):
        for number, identifier, references in _answers(path):
            yield number, Document(id=identifier, keyphrases=references)
        return
    texts = folders.find(folder, PAPER)
    sets: Sets
    if len(parts) == 2:
        texts = texts or folders.find(folder, ".txt")
        if not texts:
            raise folders.none_found(folder, "files ID.txt.final are looked for")
        sets = folders.read_sets({folders.MAIN: parts[1]}, _by_id)
    else:
        answers = {name: file for name, file in folders.find(folder, ANSWERS).items() if file not in texts.values()}
        sets = folders.read_sets(answers, _by_id)
    if not sets and not texts:
        raise folders.none_found(path, "files ID.txt.final and SPLIT.SET.final are looked for")
    yield from folders.documents_of(folder, texts, sets, _title_and_text)


def _predictions(path: str) -> Iterator[tuple[int, Prediction]]:
    if os.path.isdir(path) or len(Head(path).parts) > 1:
        raise InputError(f"{path}: a run is one file of lines `C-1 : a phrase,another`")
    for number, identifier, references in _answers(path):
        yield number, Prediction(id=identifier, keyphrases=list(map(first_variant, references)))


def _answers(path: str) -> Iterator[tuple[int, str, References]]:
    """(line, id, references) of a file of lines."""
    empty = True
    for number, line in lines(path):
        if not line or line.isspace():
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            raise InputError(f"{path}:{number}: no id in {line[:40]!r}; write `C-1 : a phrase,another+its variant`")
        empty = False
        yield number, found[1], list(map(_reference, split_phrases(found[2], SEPARATOR, f"{path}:{number}", VARIANT)))
    if empty:
        raise InputError(f"{path}: the file is empty")


def _by_id(path: str) -> Iterator[tuple[str, References]]:
    return ((identifier, references) for _, identifier, references in _answers(path))


def _reference(phrase: str) -> Reference:
    return [*split_phrases(phrase, VARIANT)] if VARIANT in phrase else phrase


def _title_and_text(path: str) -> tuple[str, str]:
    title, _, text = folders.whole_text(path).partition("\n")
    return title.removesuffix("\r"), text


def save_corpus(path: str, documents: Iterable[Document]) -> None:
    """Writes the keyphrases where the path ends in .final, else a folder with papers and answers."""
    numbered = ((folders.id_of(document.id, number), document) for number, document in enumerate(documents, 1))
    if without_compression(path).endswith(_LINE_FILES):
        _save_lines(path, ((identifier, document.keyphrases or []) for identifier, document in numbered))
        return
    held = []
    with folder_beside(path) as folder:
        for name in ("test", "test_answer"):
            (folder / name).mkdir()
        for identifier, document in numbered:
            paper = f"{folders.one_line(document.title)}\n{document.text or ''}"
            folders.create(folder / "test", folders.file_name(identifier) + PAPER, paper)
            held.append((identifier, Document(keyphrases=document.keyphrases, reference_sets=document.reference_sets)))
        for name, references in folders.sets_to_write(held).items():
            answers = "".join(_line(identifier, phrases) for identifier, phrases in references.items())
            folders.create(folder / "test_answer", f"test.{folders.file_name(name)}{ANSWERS}", answers)


def save_run(path: str, predictions: Iterable[Prediction]) -> None:
    """Writes a line for each document."""
    _save_lines(
        path, ((folders.id_of(made.id, n), [*(made.keyphrases or ())]) for n, made in enumerate(predictions, 1))
    )


def _save_lines(path: str, made: Iterable[tuple[str, References]]) -> None:
    with writing(path) as file:
        for identifier, references in made:
            file.write(_line(identifier, references).encode("utf-8", "replace"))


def _line(identifier: str, references: References) -> str:
    phrases = (phrase if isinstance(phrase, list) else [phrase] for phrase in references)
    joined = SEPARATOR.join(VARIANT.join(variant or "" for variant in variants) for variants in phrases)
    line = f"{identifier} : {folders.one_line(joined)}"
    found = _LINE.fullmatch(line)
    if found is None or found[1] != identifier:
        raise InputError(f"{identifier!r} cannot be written as an id: write one that is not empty, without spaces")
    return line + "\n"


def _fits(head: Head) -> bool:
    if head.container == "several":
        folder, *files = head.parts
        return os.path.isdir(folder) and len(files) == 1 and _may_be_lines(files[0])
    if head.container == "folder":
        return holds(head, ANSWERS) and not holds(head, ".abstr", ".key")
    return head.container == "text" and bool(_FIRST_LINE.fullmatch(head.line)) and "<eos>" not in head.line


def _may_be_lines(path: str) -> bool:
    return not os.path.isdir(path) and not without_compression(path).endswith(".json")


FORMAT = Format(
    name="semeval",
    summary="SemEval-2010: lines `C-1 : a phrase,another+a variant`, PAPERS_FOLDER+LINES, or a folder of both",
    fits=_fits,
    corpus=corpus,
    run=run,
    save_corpus=save_corpus,
    save_run=save_run,
)
