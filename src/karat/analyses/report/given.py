"""What a page is of: corpora with their runs; where there are none, models predict them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from karat.corpus import Corpus, Run
from karat.errors import InputError, counted
from karat.matching.inputs import CorporaLike, CorpusLike, RunLike, as_corpora
from karat.options import WorkOptions

if TYPE_CHECKING:
    from karat.models.find import PlugIn

Stage = Callable[[str, int], None]  # called with what begins, and how many documents it has, 0 where that is not known


@dataclass(frozen=True, slots=True)
class Given:
    """A corpus with its runs, and what a reader should know of them."""

    corpus: Corpus
    runs: tuple[Run, ...]
    notes: tuple[str, ...] = ()
    provenance: tuple[str, ...] = ()  # notes on what earlier commands predicted


@dataclass(frozen=True, slots=True)
class Predicting:
    """How runs are predicted, and where they are kept."""

    models: str | PlugIn | Sequence[str | PlugIn] | None
    n: int
    language: str | None
    folder: str | Path | None
    work: WorkOptions
    stage: Stage | None

    def begin(self, what: str, documents: int = 0) -> None:
        """Says what begins."""
        if self.stage is not None:
            self.stage(what, documents)


def given(corpus: CorpusLike | CorporaLike, runs: Sequence[RunLike], how: Predicting) -> Iterator[Given]:
    """Each corpus with its runs. Raises InputError if one cannot be read, or if a model fails."""
    if isinstance(corpus, str | Path) and not runs:
        from karat.models.documents import documents_at

        listed: list[tuple[Corpus, list[Run]]] = [(documents_at(corpus), [])]
    else:
        listed = as_corpora(corpus, runs)
    for documents, systems in listed:
        found = Given(documents, tuple(systems))
        if how.models is not None or not systems:
            found = _predicted(documents, systems, how)
        how.begin(f"Putting the page together{'' if len(listed) == 1 else f': {documents.name}'}")
        yield found


def _predicted(corpus: Corpus, systems: Sequence[Run], how: Predicting) -> Given:
    """A corpus with the runs that are given, and with those that models predict."""
    from karat.models.run import PredictOptions
    from karat.models.several import parse_models, predict_each

    if how.models is not None:
        parse_models(how.models)  # says at once what is wrong with them, before files are opened
    how.begin("Reading the documents")
    for batch in corpus.ahead():
        if how.work.progress is not None:
            how.work.progress(len(batch))
    options = PredictOptions(n=how.n, language=how.language or "english", work=how.work)
    found = predict_each(corpus, how.models, options, how.folder, how.stage)
    names = frozenset(run.name for run in found.runs)
    for run in systems:
        if run.name in names:
            raise InputError(f"a run and a model are named {run.name!r}; name the run: NAME={run.origin}")
    who = ", ".join(run.name for run in found.runs)
    what = f"{who}: predicted for this page, at most {counted(how.n, 'phrase')} for a document"
    return Given(corpus, (*systems, *found.runs), (what, *found.notes), found.provenance)
