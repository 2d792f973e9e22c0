"""What the formats that are folders share: which files are in one, whose they are, which names may be written.

Formats whose references lie in files of their own, apart from the texts, also share how these become reference sets:
a file `SPLIT.SET.SUFFIX` or `SPLIT.SET.stem.SUFFIX` holds one set of the references of many documents.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.corpus import Document, Reference, text_of_id
from karat.errors import InputError
from karat.formats.base import quoted
from karat.formats.files import decode_utf8, read_whole, without_compression

if TYPE_CHECKING:
    from karat.formats.head import Head

References = list[Reference]
Sets = dict[str, dict[str, References]]  # the references of documents, by the name of the set and the document's id

MAIN = "keyphrases"  # the set that is no set of its own but a document's keyphrases
_FIRST = (MAIN, "combined", "uncontr")  # sets that become the keyphrases before others do
_SPLITS = ("train", "test", "dev", "valid", "validation", "trial")
_STEM = ".stem"


# ---------------------------------------------------------------------------------------------- reading files


def holds(head: Head, *suffixes: str) -> bool:
    """Whether a folder has files that end so, compressed or not."""
    return any(without_compression(name).endswith(suffixes) for name in head.names)


def find(folder: str, suffix: str) -> dict[str, str]:
    """{place in the folder without the suffix: path} of the files that end so, at any depth, sorted."""
    if not os.path.isdir(folder):
        raise InputError(f"{folder}: there is no such folder")
    found = {}
    for root, below, names in os.walk(folder):
        below[:] = [name for name in below if name[0] != "."]
        for name in names:
            plain = without_compression(name)
            if plain.endswith(suffix) and len(plain) > len(suffix) and name[0] != ".":
                if len(name.splitlines()) > 1:
                    raise InputError(f"{folder}: the name of the file {name!r} has a line break; rename it")
                place = Path(root, plain.removesuffix(suffix)).relative_to(folder).as_posix()
                found[os.fsencode(place).decode(errors="replace")] = str(Path(root, name))
    return dict(sorted(found.items()))


def whole_text(path: str) -> str:
    """The text of a file; a byte that is not UTF-8 is an error that names its place."""
    content = read_whole(path)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return "\n".join(decode_utf8(line, path, number) for number, line in enumerate(content.split(b"\n"), 1))


def none_found(path: str, what: str) -> InputError:
    """An error for a place that holds no documents, with what was looked for."""
    return InputError(f"{path}: no documents there ({what})")


# ---------------------------------------------------------------------------------------------- writing files


def id_of(identifier: str | int | None, number: int) -> str:
    """A document's id as text; its number where it has none.

    >>> id_of("C-1", 3), id_of(7, 3), id_of(None, 3)
    ('C-1', '7', '00000003')
    """
    return f"{number:08}" if identifier is None else str(text_of_id(identifier))


def file_name(name: str) -> str:
    """The name, if it can be that of a file and nothing else: what was read is never a path."""
    marks = any(mark in name for mark in ("/", "\\", "..", "\0"))
    if marks or name.startswith(".") or name.splitlines() != [name]:
        raise InputError(
            f"{name!r} cannot be the name of a file: write an id that is not empty, without / \\ .. and line breaks"
        )
    return name


def create(folder: Path, name: str, content: str) -> None:
    """Writes a file that is not there yet."""
    try:
        with (folder / name).open("xb") as file:
            file.write(content.encode("utf-8", "replace"))
    except FileExistsError:
        raise InputError(f"{name}: would be written twice; two documents have one id") from None
    except UnicodeEncodeError:
        raise InputError(f"{name!r} cannot be the name of a file") from None


def one_line(text: str | None) -> str:
    r"""The text on one line, empty where there is none.

    >>> one_line("a\r\nb"), one_line(None)
    ('a b', '')
    """
    return re.sub(r"[\r\n]+", " ", text or "")


# ---------------------------------------------------------------------------------------------- reference sets


def set_name(stem: str) -> str:
    """The name of the set in a file, from the file's name without its suffix.

    >>> set_name("test.author.stem"), set_name("combined"), set_name("test")
    ('author.stem', 'combined', 'keyphrases')
    """
    split, _, name = stem.partition(".")
    return (name if split in _SPLITS else stem) or MAIN


def read_sets(files: Mapping[str, str], read: Callable[[str], Iterable[tuple[str, References]]]) -> Sets:
    """The sets of files that are given as {name without suffix: path}, those first that become the keyphrases.

    Stemmed references are a set of their own (`author.stem`) beside unstemmed ones, else they are the set (`author`).
    """
    names = {path: set_name(Path(stem).name) for stem, path in files.items()}
    sets: Sets = {}
    for path, name in names.items():
        base = name.removesuffix(_STEM)
        held = sets.setdefault(name if base in names.values() else base, {})
        for identifier, references in read(path):
            if identifier in held:
                raise InputError(
                    f"{path}: the references of {quoted(identifier)} are there twice; give one file, TEXTS+FILE"
                )
            held[identifier] = references
    return dict(sorted(sets.items(), key=_rank))


def _rank(item: tuple[str, Any]) -> tuple[int, str]:
    base = item[0].removesuffix(_STEM)
    return _FIRST.index(base) if base in _FIRST else len(_FIRST), item[0]


def references_of(identifier: str, sets: Sets) -> dict[str, Any]:
    """The fields `keyphrases` and `reference_sets` of a document; a set that is alone is the keyphrases only."""
    found = {name: held[identifier] for name, held in sets.items() if identifier in held}
    if MAIN in sets or len(sets) == 1:
        return {"keyphrases": found.pop(next(iter(sets)), None), "reference_sets": found or None}
    return {"keyphrases": next(iter(found.values()), None), "reference_sets": found or None}


def documents_of(
    folder: str, texts: Mapping[str, str], sets: Sets, read: Callable[[str], tuple[str | None, str]]
) -> Iterator[tuple[int, Document]]:
    """(place, document) of those that have references, or of all texts where there are no references.

    A text is that of the document whose id its file is called by, in whatever folder the file lies.
    """
    paths: dict[str, list[str]] = {}
    for place, path in texts.items():
        paths.setdefault(place.rpartition("/")[2], []).append(path)
    ids = dict.fromkeys(chain.from_iterable(sets.values())) if sets else paths
    for number, identifier in enumerate(ids, 1):
        title, text = read(_only(folder, identifier, paths)) if texts else (None, None)
        yield number, Document(id=identifier, title=title, text=text, **references_of(identifier, sets))


def _only(folder: str, identifier: str, paths: Mapping[str, list[str]]) -> str:
    found = paths.get(identifier, [])
    if not found:
        raise InputError(f"{folder}: no text of the document {quoted(identifier)}, of which there are references")
    if len(found) > 1:
        raise InputError(
            f"{found[1]}: a second text of {quoted(identifier)}, after {found[0]}; give one folder of texts"
        )
    return found[0]


def sets_to_write(held: Iterable[tuple[str, Document]]) -> Sets:
    """The sets from which a reader makes the references of documents again; the keyphrases are one if need be."""
    documents = dict(held)
    sets: Sets = {}
    for identifier, document in documents.items():
        for name, references in (document.reference_sets or {}).items():
            sets.setdefault(name, {})[identifier] = references
    sets = dict(sorted(sets.items(), key=_rank))
    if len(sets) > 1 and all(_read_back(identifier, document, sets) for identifier, document in documents.items()):
        return sets
    return {MAIN: {}} | sets | {MAIN: {i: document.keyphrases or [] for i, document in documents.items()}}


def _read_back(identifier: str, document: Document, sets: Sets) -> bool:
    made = references_of(identifier, sets)
    return bool(made["reference_sets"]) and _same(made["keyphrases"]) == _same(document.keyphrases)


def _same(references: References | None) -> list[Any]:
    return [phrase if isinstance(phrase, list) else [phrase] for phrase in references or ()]
