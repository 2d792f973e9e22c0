"""What a page is of: corpora with their runs; where there are none, models predict them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.corpus import Batch, Corpus, Document, Run
from karat.errors import InputError
from karat.matching.inputs import CorporaLike, CorpusLike, RunLike, as_corpora
from karat.matching.workers import ordered_map

if TYPE_CHECKING:
    from karat.models.find import PlugIn

Stage = Callable[[str, int], None]
PIECE = 8  # files that are opened at a time


@dataclass(frozen=True, slots=True)
class Given:
    """A corpus with its runs, why some of its files cannot be read, and what else a reader should know."""

    corpus: Corpus
    runs: tuple[Run, ...]
    predicted: frozenset[str] = frozenset()  # the systems whose runs models predicted for this
    unread: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Predicting:
    """How runs are predicted, and where they are kept."""

    models: str | PlugIn | Sequence[str | PlugIn] | None
    n: int
    language: str | None
    folder: str | Path | None
    jobs: int
    progress: Callable[[int], None] | None
    stage: Stage | None


def given(corpus: CorpusLike | CorporaLike, runs: Sequence[RunLike], predicting: Predicting) -> Iterator[Given]:
    """Each corpus with its runs. Raises InputError if one cannot be read, or if a model fails."""
    if isinstance(corpus, str | Path) and not runs:
        from karat.models.documents import documents_at

        found = documents_at(corpus)
        listed = [(found.corpus, [])]
        notes = found.notes
    else:
        listed, notes = as_corpora(corpus, runs), ()
    for documents, systems in listed:
        if systems and predicting.models is None:
            yield Given(documents, tuple(systems))
        else:
            yield _predicted(documents, systems, predicting, notes)


def _predicted(documents: Corpus, systems: Sequence[Run], how: Predicting, notes: Sequence[str]) -> Given:
    """A corpus with the runs that are given, and with those that models predict."""
    from karat.models.run import PredictOptions
    from karat.models.several import parse_models, predict_each
    from karat.options import WorkOptions

    if how.models is not None:
        parse_models(how.models)  # says at once what is wrong with them, before files are opened
    corpus, unread = _opened(documents, how)
    options = PredictOptions(
        n=how.n, language=how.language or "english", work=WorkOptions(jobs=how.jobs, progress=how.progress)
    )
    found = predict_each(corpus, how.models, options, how.folder, how.stage)
    taken = {run.name for run in systems}
    for run in found.runs:
        if run.name in taken:
            raise InputError(f"a run is named {run.name!r}, as a model is; name the run: NAME=PATH")
    names = frozenset(run.name for run in found.runs)
    return Given(corpus, (*systems, *found.runs), names, unread, (*notes, *found.notes))


def _opened(corpus: Corpus, how: Predicting) -> tuple[Corpus, tuple[str, ...]]:
    """(a corpus of files with its documents in memory, so that each file is opened once; why some cannot be read).

    Any other corpus is left as it is. Raises InputError if no file can be read.
    """
    from karat.models.documents import files_of, some

    files = files_of(corpus)
    if files is None:
        return corpus, ()
    if how.stage is not None:
        how.stage("Reading files", len(corpus))
    documents: list[Document] = []
    unread: list[str] = []
    for found, why in ordered_map(_read, _pieces(corpus), how.jobs):
        documents += found
        unread += why
        if how.progress is not None:
            how.progress(len(found) + len(why))
    if not documents:
        raise InputError(f"no document can be read: {some(unread)}")
    return replace(Corpus.of(documents, corpus.name), origin=corpus.origin), tuple(unread)


def _pieces(corpus: Corpus) -> Iterator[Batch[Document]]:
    for batch in corpus.batches():
        for start in range(0, len(batch), PIECE):
            yield batch.pick(range(start, min(start + PIECE, len(batch))))


def _read(batch: Batch[Document]) -> tuple[list[Document], list[str]]:
    """(the documents of a piece, why others cannot be read)."""
    reason: Callable[[Any], str | None] = getattr(batch.decode, "why", lambda raw: None)
    documents, unread = [], []
    for document, raw in zip(batch.records(), batch.raw, strict=True):
        why = None if document.title or document.text else reason(raw)
        if why is None:
            documents.append(document)
        else:
            unread.append(why)
    return documents, unread
