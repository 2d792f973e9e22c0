"""Hulth's Inspec abstracts: a folder of `N.abstr`, `N.uncontr` and `N.contr`, also of folders of them.

A line that begins with a tab goes on with the line before it. Of an abstract the first line (with what goes on) is
the title, the rest is the text. The other files hold phrases parted by `;`, chosen freely or from a thesaurus: two
reference sets of which `uncontr` is the keyphrases. A document's id is its place in the folder, as `193`, or
`Test/193` where the folder of all three parts is given. A run is a folder of `N.uncontr` alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from karat.corpus import Batches, Document, Prediction, in_batches
from karat.errors import InputError
from karat.formats import folders
from karat.formats.base import Format, first_variant, join_phrases, split_phrases
from karat.formats.files import lines
from karat.formats.folders import References, holds
from karat.formats.head import Head
from karat.formats.output import folder_beside

ABSTRACT, FREE, CONTROLLED = ".abstr", ".uncontr", ".contr"
FREE_SET, CONTROLLED_SET = "uncontr", "contr"
LINE_END = "\r\n"


def corpus(path: str) -> Batches[Document]:
    """The documents of a folder: those that have phrases, or all abstracts where there are no phrases."""
    return lambda: in_batches(_documents(path), path)


def run(path: str) -> Batches[Prediction]:
    """The predictions of a folder: the phrases of its .uncontr files."""
    return lambda: in_batches(_predictions(path), path)


def _documents(folder: str) -> Iterator[tuple[int, Document]]:
    abstracts, free, controlled = (folders.find(folder, suffix) for suffix in (ABSTRACT, FREE, CONTROLLED))
    ids = sorted({*free, *controlled}) or list(abstracts)
    if not ids:
        raise folders.none_found(folder, "files N.abstr, N.uncontr and N.contr are looked for")
    for number, identifier in enumerate(ids, 1):
        if abstracts and identifier not in abstracts:
            raise InputError(f"{folder}: there are keyphrases of {identifier!r}, but no {identifier}{ABSTRACT}")
        title, text = _title_and_text(abstracts[identifier]) if abstracts else (None, None)
        keyphrases = _phrases(free[identifier]) if identifier in free else None
        sets: dict[str, References] = {}
        if identifier in controlled:  # else the keyphrases are the only references, and no set
            sets = {} if keyphrases is None else {FREE_SET: keyphrases}
            sets[CONTROLLED_SET] = _phrases(controlled[identifier])
        yield (
            number,
            Document(id=identifier, title=title, text=text, keyphrases=keyphrases, reference_sets=sets or None),
        )


def _predictions(folder: str) -> Iterator[tuple[int, Prediction]]:
    found = folders.find(folder, FREE)
    if not found:
        raise folders.none_found(folder, "files N.uncontr are looked for")
    for number, (identifier, path) in enumerate(found.items(), 1):
        yield number, Prediction(id=identifier, keyphrases=[first_variant(phrase) for phrase in _phrases(path)])


def _title_and_text(path: str) -> tuple[str, str]:
    title, *text = _unfolded(path) or [""]
    return title, "\n".join(text).strip()


def _phrases(path: str) -> References:
    return [" ".join(phrase.split()) for phrase in split_phrases(" ".join(_unfolded(path)), where=path)]


def _unfolded(path: str) -> list[str]:
    """The lines of a file, each with the lines that go on with it."""
    made: list[str] = []
    for _, line in lines(path):
        if line.startswith("\t") and made:
            made[-1] = f"{made[-1]} {line.strip()}".strip()
        else:
            made.append(line.strip())
    return made


def save_corpus(path: str, documents: Iterable[Document]) -> None:
    """Writes a folder of the three files of each document."""
    with folder_beside(path) as folder:
        for number, document in enumerate(documents, 1):
            name = folders.file_name(folders.id_of(document.id, number))
            sets = document.reference_sets or {}
            free = document.keyphrases if document.keyphrases is not None else sets.get(FREE_SET)
            text = LINE_END.join((document.text or "").replace(LINE_END, "\n").split("\n"))
            folders.create(folder, name + ABSTRACT, f"{folders.one_line(document.title)}{LINE_END}{text}{LINE_END}")
            if free is not None or CONTROLLED_SET not in sets:
                folders.create(folder, name + FREE, _folded(free))
            if CONTROLLED_SET in sets:
                folders.create(folder, name + CONTROLLED, _folded(sets[CONTROLLED_SET]))


def save_run(path: str, predictions: Iterable[Prediction]) -> None:
    """Writes a folder of .uncontr files."""
    with folder_beside(path) as folder:
        for number, prediction in enumerate(predictions, 1):
            name = folders.file_name(folders.id_of(prediction.id, number))
            folders.create(folder, name + FREE, _folded(list(prediction.keyphrases or ())))


def _folded(references: References | None) -> str:
    return folders.one_line(join_phrases(references, "; ")) + LINE_END


def _fits(head: Head) -> bool:
    return holds(head, ABSTRACT, FREE) and not holds(head, ".final", ".key")


FORMAT = Format(
    name="inspec",
    summary="Hulth's Inspec: a folder of N.abstr, N.uncontr and N.contr; a run is one of N.uncontr",
    fits=_fits,
    corpus=corpus,
    run=run,
    save_corpus=save_corpus,
    save_run=save_run,
)
