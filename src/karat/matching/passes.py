"""One pass: a corpus and its runs joined, prepared and aligned once, for everything that looks at them.

A verb registers looks: functions of a `View`, which is a chunk of documents with what each run predicts for them. The
pass reads the files once, on one process or several, and gives each look its answers in corpus order. Texts are
prepared once for each way of matching, and aligned once for each run, whoever asks first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, TypeVar

from karat.corpus import Corpus, Document, Prediction, Run
from karat.errors import InputError
from karat.formats.reviews import NONE_ACCEPTED, Accepted
from karat.matching.align import align, normalised_parts, prepare
from karat.matching.columns import Aligned, Prepared
from karat.matching.join import Chunk, Join, chunks
from karat.matching.workers import ordered_map
from karat.options import Progress
from karat.protocol import Matching, Protocol

T = TypeVar("T")

KEPT = 4  # ways of matching whose columns are kept for further looks; there may be a hundred


@dataclass(frozen=True, slots=True)
class Setup:
    """What is the same for all chunks of a pass."""

    corpus: str
    semeval: bool
    systems: tuple[str, ...]
    reference_set: str | None = None
    extra: Accepted = NONE_ACCEPTED
    leave_out: bool = False  # documents that a run lacks, instead of taking them as empty


class View:
    """A chunk as looks see it: its documents, predictions and columns, each made when it is first asked for."""

    def __init__(self, setup: Setup, chunk: Chunk) -> None:
        self.setup = setup
        self.chunk = chunk
        self.ids = chunk.ids
        self.given: list[Document] = chunk.documents.records()  # as they stand in the corpus
        self.documents = setup.extra.added_to(chunk.ids, self.given, setup.reference_set)
        self._predictions: dict[int, list[Prediction]] = {}
        self._parts: dict[Any, tuple[list[str], list[str]]] = {}  # titles and texts
        self._prepared: dict[Matching, Prepared] = {}
        self._aligned: dict[Matching, dict[int, Aligned]] = {}

    def __len__(self) -> int:
        return len(self.ids)

    def predictions(self, system: int) -> list[Prediction]:
        """What a run predicts for the documents."""
        if system not in self._predictions:
            self._predictions[system] = self.chunk.predictions[system].records()
        return self._predictions[system]

    def left_out(self, system: int) -> list[int]:
        """The documents that a run lacks, where they are to be left out."""
        return self.chunk.missing[system] if self.setup.leave_out else []

    def prepared(self, matching: Matching) -> Prepared:
        """The texts and references of the documents, for a way of matching."""
        if matching not in self._prepared:
            key = text_options(matching)
            if key not in self._parts:
                _make_room(self._parts)
                self._parts[key] = normalised_parts(self.documents, matching)
            _make_room(self._prepared)
            setup = self.setup
            found = prepare(self.documents, matching, setup.semeval, setup.reference_set, self._parts[key])
            self._prepared[matching] = found
        return self._prepared[matching]

    def aligned(self, system: int, protocol: Protocol) -> Aligned:
        """The columns of a run under a protocol; protocols that match alike share all that does not count."""
        matching = protocol.matching
        if matching not in self._aligned:
            _make_room(self._aligned)
            self._aligned[matching] = {}
        known = self._aligned[matching]
        if system not in known:
            known[system] = align(self.prepared(matching), self.predictions(system), protocol.counting)
        found = known[system]
        return found if found.counting == protocol.counting else replace(found, counting=protocol.counting, _known={})


def text_options(matching: Matching) -> tuple[str, ...]:
    """The options of a way of matching that the normalised titles and texts depend on."""
    return (
        matching.tokenizer,
        matching.stemmer,
        matching.case,
        matching.unicode,
        "digits" if matching.repair == "digits" else "",
    )


def _make_room(kept: dict[Any, Any]) -> None:
    """Lets go of the oldest entry but the first, which most looks ask for."""
    if len(kept) >= KEPT:
        del kept[list(kept)[1]]


@dataclass(slots=True)
class Answers(Generic[T]):
    """What a look gave for each chunk, in corpus order, once the pass has run."""

    _parts: list[T] = field(default_factory=list)
    _error: InputError | None = None

    @property
    def parts(self) -> list[T]:
        """The answers. Raises the InputError of an optional look that failed."""
        if self._error is not None:
            raise self._error
        return self._parts


class Pass:
    """A corpus and runs that are about to be read once, and the looks at them.

    >>> from karat.protocol import parse_protocol
    >>> corpus = Corpus.of([{"id": "1", "text": "Deep nets.", "keyphrases": ["deep net"]}])
    >>> run = Run.of([{"id": "1", "keyphrases": ["deep nets", "graphs"]}])
    >>> reading = Pass(corpus, [run])
    >>> counts = reading.look(lambda view: len(view.aligned(0, parse_protocol("karat")).predictions.document))
    >>> reading.run()
    >>> counts.parts
    [2]
    """

    def __init__(
        self,
        corpus: Corpus,
        runs: Sequence[Run],
        join: Join | None = None,
        *,
        reference_set: str | None = None,
        extra: Accepted = NONE_ACCEPTED,
        jobs: int = 1,
        progress: Progress | None = None,
    ) -> None:
        self.corpus = corpus
        self.runs = list(runs)
        self.join = join or Join()
        self.jobs = jobs
        self.progress = progress
        self.setup = Setup(
            corpus.name,
            corpus.semeval,
            tuple(run.name for run in runs),
            reference_set,
            extra,
            self.join.missing == "skip",
        )
        self.ids: list[str] = []  # of the documents, once the pass has run
        self._looks: list[tuple[Callable[[View], Any], bool, Answers[Any]]] = []

    def look(self, function: Callable[[View], T], optional: bool = False) -> Answers[T]:
        """Registers a look; its answers are there once the pass has run.

        An InputError in an optional look does not stop the pass: it is raised where the answers are asked for.
        """
        answers = Answers[T]()
        self._looks.append((function, optional, answers))
        return answers

    def run(self) -> None:
        """Reads the files once and answers all looks."""
        looks = [(function, optional) for function, optional, _ in self._looks]
        joined = chunks(self.corpus, self.runs, self.join)
        for ids, parts in ordered_map(partial(_answers, self.setup, looks), joined, self.jobs):
            self.ids += ids
            for (_, _, answers), part in zip(self._looks, parts, strict=True):
                if isinstance(part, InputError):
                    answers._error = answers._error or part
                else:
                    answers._parts.append(part)
            if self.progress is not None:
                self.progress(len(ids))


def _answers(
    setup: Setup, looks: Sequence[tuple[Callable[[View], Any], bool]], chunk: Chunk
) -> tuple[list[str], list[Any]]:
    view = View(setup, chunk)
    return chunk.ids, [_answer(view, function, optional) for function, optional in looks]


def _answer(view: View, function: Callable[[View], Any], optional: bool) -> Any:
    if not optional:
        return function(view)
    try:
        return function(view)
    except InputError as error:
        return error
