"""Plain folders: a text in `X.txt`, its phrases in `X.key`, one a line.

Both lie side by side at any depth, or the texts in `docsutf8` (`docs`, `texts`) and the phrases in `keys`, or in two
folders that are given as `TEXTS+KEYS`. The documents are those that have phrases; where there are no phrases, all
texts. An id is the place in the folder without the suffix. A folder of `.key` files alone is a run, or a corpus
without texts. A title has no place of its own: what is in the text is text.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from karat.corpus import Batches, Document, Phrase, Prediction, in_batches
from karat.errors import InputError
from karat.formats import folders
from karat.formats.base import Format, first_variant
from karat.formats.files import lines
from karat.formats.folders import holds
from karat.formats.head import Head
from karat.formats.output import folder_beside

TEXT, KEYS = ".txt", ".key"
TEXT_FOLDERS, KEY_FOLDER = ("docsutf8", "docs", "texts"), "keys"


def corpus(path: str) -> Batches[Document]:
    """The documents of a folder, or of TEXTS+KEYS."""
    return lambda: in_batches(_documents(path))


def run(path: str) -> Batches[Prediction]:
    """The predictions of a folder: the phrases of its .key files."""
    return lambda: in_batches(_predictions(path))


def _documents(path: str) -> Iterator[tuple[int, Document]]:
    in_texts, in_keys = _folders(path)
    texts, keys = folders.find(in_texts, TEXT), folders.find(in_keys, KEYS)
    if not texts and not keys:
        raise folders.none_found(path, "files X.txt and X.key are looked for")
    if len(Head(path).parts) == 2 and not texts:
        raise folders.none_found(in_texts, "files X.txt are looked for")
    for number, identifier in enumerate(keys or texts, 1):
        if texts and identifier not in texts:
            raise InputError(f"{in_texts}: there are keyphrases of {identifier!r}, but no {identifier}{TEXT}")
        yield (
            number,
            Document(
                id=identifier,
                text=folders.whole_text(texts[identifier]) if texts else None,
                keyphrases=[*_phrases(keys[identifier])] if keys else None,
            ),
        )


def _predictions(path: str) -> Iterator[tuple[int, Prediction]]:
    keys = folders.find(_folders(path)[1], KEYS)
    if not keys:
        raise folders.none_found(path, "files X.key are looked for")
    for number, (identifier, file) in enumerate(keys.items(), 1):
        yield number, Prediction(id=identifier, keyphrases=_phrases(file))


def _folders(path: str) -> tuple[str, str]:
    """The folder of the texts and that of the phrases, which may be one."""
    parts = Head(path).parts
    if len(parts) > 2:
        raise InputError(f"{path}: give two folders, TEXTS+KEYS, not {len(parts)}")
    if len(parts) == 2:
        return parts[0], parts[1]
    for name in TEXT_FOLDERS:
        if Path(path, name).is_dir() and Path(path, KEY_FOLDER).is_dir():
            return str(Path(path, name)), str(Path(path, KEY_FOLDER))
    return path, path


def _phrases(path: str) -> list[Phrase]:
    return [line.strip() for _, line in lines(path)]


def save_corpus(path: str, documents: Iterable[Document]) -> None:
    """Writes a folder with the two files of each document side by side."""
    with folder_beside(path) as folder:
        for number, document in enumerate(documents, 1):
            name = folders.file_name(folders.id_of(document.id, number))
            folders.create(folder, name + TEXT, document.text or "")
            folders.create(folder, name + KEYS, _lines(map(first_variant, document.keyphrases or ())))


def save_run(path: str, predictions: Iterable[Prediction]) -> None:
    """Writes a folder of .key files."""
    with folder_beside(path) as folder:
        for number, prediction in enumerate(predictions, 1):
            name = folders.file_name(folders.id_of(prediction.id, number))
            folders.create(folder, name + KEYS, _lines(prediction.keyphrases or ()))


def _lines(phrases: Iterable[Phrase]) -> str:
    return "".join(f"{folders.one_line(phrase)}\n" for phrase in phrases)


def _fits(head: Head) -> bool:
    if head.container == "several":
        return len(head.parts) == 2 and all(os.path.isdir(part) for part in head.parts)
    return holds(head, KEYS) and not holds(head, ".abstr", ".final")


FORMAT = Format(
    name="folder",
    summary="a folder of X.txt and X.key (a phrase a line), or TEXTS+KEYS; a run is a folder of X.key",
    fits=_fits,
    corpus=corpus,
    run=run,
    save_corpus=save_corpus,
    save_run=save_run,
)
