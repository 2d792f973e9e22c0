"""One pass: a corpus and its runs joined, prepared and aligned once, for everything that looks at them.

A verb registers looks: functions of a `View`, which is a chunk of documents with what each run predicts for them. The
pass reads the files once, on one process or several, and gives each look its answers in corpus order. Texts are
prepared once for each way of matching, and aligned once for each run, for the first look that needs them.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, TypeVar

from karat.corpus import NO_PREDICTIONS, Corpus, Document, Prediction, Run
from karat.engines import Answers as Answered
from karat.engines import engine
from karat.errors import InputError, counted
from karat.formats.reviews import NONE_ACCEPTED, Accepted
from karat.matching.align import (
    Parts,
    Texts,
    align,
    normalised_parts,
    normalised_texts,
    part_options,
    prepare,
    text_options,
)
from karat.matching.columns import Aligned, Prepared
from karat.matching.concepts import concepts_for
from karat.matching.inputs import hash_of_references
from karat.matching.join import Chunk, Join, Shard, chunks
from karat.matching.workers import ordered_map
from karat.options import Progress
from karat.protocol import Counting, Matching, Protocol
from karat.vocabulary import Vocabulary

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
    common: bool = False  # leave them out of all runs
    vocabulary: Vocabulary | None = None  # whose concepts are compared in the place of phrases


class View:
    """A chunk as looks see it: its documents, predictions and columns, each made when it is first needed."""

    def __init__(self, setup: Setup, chunk: Chunk) -> None:
        self.setup = setup
        self.chunk = chunk
        self.ids = chunk.ids
        self._given: list[Document] | None = None
        self._documents: Sequence[Document] | None = None
        self._predictions: dict[int, list[Prediction]] = {}
        self._parts: dict[tuple[str, ...], Parts] = {}
        self._texts: dict[tuple[str, ...], Texts] = {}
        self._prepared: dict[Matching, Prepared] = {}
        self._aligned: dict[Matching, dict[tuple[int, Counting], Aligned]] = {}
        self._among: dict[Keep, View] = {}

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def given(self) -> list[Document]:
        """The documents as they stand in the corpus."""
        if self._given is None:
            self._given = self.chunk.documents.records()
        return self._given

    @property
    def documents(self) -> Sequence[Document]:
        """The documents as they are matched: with the references that a review adds, or those that `replaced` gave."""
        if self._documents is None:
            self._documents = self.setup.extra.added_to(self.ids, self.given, self.setup.reference_set)
        return self._documents

    def pick(self, keep: Sequence[int]) -> View:
        """A view of some of the documents, by their positions here, with columns of its own."""
        return View(self.setup, self.chunk.pick(keep))

    def among(self, keep: Keep) -> View:
        """A view of the documents that `keep` chooses, the same for every look; this view where it chooses all."""
        if keep not in self._among:
            chosen = keep(self)
            self._among[keep] = self if len(chosen) == len(self) else self.pick(chosen)
        return self._among[keep]

    def replaced(self, documents: Sequence[Document]) -> View:
        """A view of the same chunk with other documents in the place of those of the corpus."""
        found = View(self.setup, self.chunk)
        found._documents = documents
        return found

    def predictions(self, system: int) -> list[Prediction]:
        """What a run predicts for the documents."""
        if system not in self._predictions:
            self._predictions[system] = self.chunk.predictions[system].records()
        return self._predictions[system]

    def left_out(self, system: int) -> list[int]:
        """The documents that a run lacks, or that any run lacks, where they are to be left out."""
        if self.setup.common:
            return sorted({place for lacking in self.chunk.missing for place in lacking})
        return self.lacking(system)

    def lacking(self, system: int) -> list[int]:
        """The documents that a run lacks, where they are to be left out."""
        return self.chunk.missing[system] if self.setup.leave_out else []

    def prepared(self, matching: Matching) -> Prepared:
        """The texts and references of the documents, for a way of matching."""
        if matching not in self._prepared:
            _make_room(self._prepared)
            setup, texts = self.setup, self._normalised(matching)
            concepts = None if setup.vocabulary is None else concepts_for(setup.vocabulary, matching)
            self._prepared[matching] = prepare(
                self.documents, matching, setup.semeval, setup.reference_set, texts, concepts
            )
        return self._prepared[matching]

    def _normalised(self, matching: Matching) -> Texts:
        parts, texts = part_options(matching), text_options(matching)
        if parts not in self._parts:
            _make_room(self._parts)
            self._parts[parts] = normalised_parts(self.documents, matching)
        if texts not in self._texts:
            _make_room(self._texts)
            self._texts[texts] = normalised_texts(self.documents, matching, self._parts[parts])
        return self._texts[texts]

    def aligned(self, system: int, protocol: Protocol) -> Aligned:
        """The columns of a run under a protocol; protocols that match alike share all that does not count."""
        matching = protocol.matching
        if matching not in self._aligned:
            _make_room(self._aligned)
            self._aligned[matching] = {}
        known = self._aligned[matching]
        if (system, protocol.counting) not in known:
            first = next((each for (s, _), each in known.items() if s == system), None)
            if first is None:
                first = align(self.prepared(matching), self.predictions(system), protocol.counting)
            known[system, protocol.counting] = replace(first, counting=protocol.counting, _known={})
        return known[system, protocol.counting]

    def unpredicted(self, protocol: Protocol) -> Aligned:
        """The columns of the documents and their references alone, nothing being predicted."""
        return align(self.prepared(protocol.matching), [NO_PREDICTIONS] * len(self), protocol.counting)


Keep = Callable[[View], Sequence[int]]  # the positions of the documents that are looked at


def hash_look(view: View) -> int:
    """A look: the sum of the hashes of the references as they stand in the corpus."""
    return hash_of_references(view.ids, view.given, view.setup.reference_set)


def look_at(corpus: Corpus, function: Callable[[View], T], *, jobs: int = 1, distinct: bool = True) -> list[T]:
    """The answers of one look at a corpus without runs, from a pass of its own.

    With `distinct=False` documents may have no id, or that of another one.
    """
    reading = Pass(corpus, [], Join(distinct=distinct), jobs=jobs)
    answers = reading.look(function)
    reading.run()
    return answers.parts


def _make_room(kept: dict[Any, Any]) -> None:
    """Removes the oldest entry but the first, which most looks use."""
    if len(kept) >= KEPT:
        del kept[list(kept)[1]]


@dataclass(slots=True)
class Answers(Generic[T]):
    """The answers of a look for each chunk, in corpus order, once the pass has run."""

    _parts: list[T] = field(default_factory=list)
    _take: Callable[[T], None] | None = None
    _error: InputError | None = None

    @property
    def parts(self) -> list[T]:
        """The answers. Raises the InputError of an optional look that failed."""
        self.check()
        return self._parts

    def check(self) -> None:
        """Raises the InputError of an optional look that failed, for answers that were taken as they came."""
        if self._error is not None:
            raise self._error

    def add(self, part: T | InputError) -> None:
        """Takes the answer for the next chunk."""
        if isinstance(part, InputError):
            self._error = self._error or part
        elif self._take is not None:
            self._take(part)
        else:
            self._parts.append(part)


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
        vocabulary: Vocabulary | None = None,
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
            self.join.missing in ("skip", "common"),
            self.join.missing == "common",
            vocabulary,
        )
        self.ids: list[str] = []  # of the documents, once the pass has run
        self.ignored: dict[str, int] = {}  # by run, its documents that are not in the corpus, once the pass has run
        self._looks: list[tuple[Callable[[View], Any], bool, Answers[Any]]] = []
        self._systems: tuple[int, ...] | None = None  # those that looks see, where not all
        self._keep: Keep | None = None  # which documents looks see, where not all
        self._optional = False
        self._stopped = False

    def look(self, function: Callable[[View], T], *, take: Callable[[T], None] | None = None) -> Answers[T]:
        """Registers a look; its answers are there once the pass has run, or go to `take` as they come."""
        answers = Answers[T](_take=take)
        seen: Callable[[View], Any] = function
        if self._systems is not None:
            seen = partial(_at_some, self._systems, seen)
        if self._keep is not None:
            seen = partial(_among, self._keep, seen)
        self._looks.append((seen, self._optional, answers))
        return answers

    def aside(self, systems: Sequence[int] | None = None) -> Pass:
        """The same pass, for looks that may fail, at some of the systems or at all.

        An InputError in such a look does not stop the pass: it is raised where its answers are read.
        """
        found = copy(self)
        found._optional = True
        if systems is not None:
            found._systems = tuple(systems)
            found.runs = [self.runs[s] for s in systems]
            found.setup = replace(self.setup, systems=tuple(self.setup.systems[s] for s in systems))
        return found

    def among(self, keep: Keep) -> Pass:
        """The same pass, for looks at the documents that `keep` chooses of each chunk; `ids` are theirs.

        A chunk of which it chooses none is not looked at. `keep` is a function of a module, as looks are.
        """
        found = copy(self)
        found._keep = keep
        found.ids = []
        found.look(_ids, take=found.ids.extend)
        return found

    def again(self) -> Pass:
        """Another pass over all shards of the same files, with no look so far."""
        setup = self.setup
        found = Pass(
            self.corpus,
            self.runs,
            replace(self.join, shard=Shard()),
            reference_set=setup.reference_set,
            extra=setup.extra,
            vocabulary=setup.vocabulary,
            jobs=self.jobs,
        )
        return found if self._keep is None else found.among(self._keep)

    def stop(self) -> None:
        """Ends the reading behind the chunk whose answers are being taken: what follows is of no interest."""
        self._stopped = True

    def notes(self) -> list[str]:
        """What a reader should know of how files were read and runs were joined, once the pass has run."""
        read = dict.fromkeys([*self.corpus.notes, *(note for run in self.runs for note in run.notes)])
        ignored = (
            f"{name}: {counted(count, 'document')} of the run ignored, not being in {self.corpus.name}"
            for name, count in self.ignored.items()
        )
        return [*read, *ignored]

    def _found(self, function: Callable[[Chunk], Answered]) -> Iterator[Answered]:
        """What a function gives for every chunk, in corpus order: on the engine in force, or on processes."""
        if (elsewhere := engine()) is not None:
            found = elsewhere.answers(function, self.corpus, self.runs, self.join, self.ignored)
            if found is not None:
                return found
        return ordered_map(function, chunks(self.corpus, self.runs, self.join, self.ignored), self.jobs)

    def run(self) -> None:
        """Reads the files once and answers all looks."""
        looks = [(function, optional) for function, optional, _ in self._looks]
        function = partial(_answers, self.setup, looks)
        with uncollected():
            for ids, parts in self._found(function):
                if self._keep is None:  # else a look takes them
                    self.ids += ids
                for (_, _, answers), part in zip(self._looks, parts, strict=True):
                    if part is not _Unseen:
                        answers.add(part)
                if self.progress is not None:
                    self.progress(len(ids))
                if self._stopped:
                    return


@contextmanager
def uncollected() -> Iterator[None]:
    """Work without the collector: it makes millions of small objects and no cycles, which would only be walked."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


class _Some(View):
    """A chunk with some of its systems, whose columns are those of the whole."""

    def __init__(self, whole: View, systems: tuple[int, ...]) -> None:
        self.whole, self.systems = whole, systems
        self.setup = replace(whole.setup, systems=tuple(whole.setup.systems[s] for s in systems))
        self.chunk = replace(
            whole.chunk,
            predictions=[whole.chunk.predictions[s] for s in systems],
            missing=[whole.chunk.missing[s] for s in systems],
        )
        self.ids = whole.ids

    @property
    def given(self) -> list[Document]:
        """The documents as they stand in the corpus."""
        return self.whole.given

    @property
    def documents(self) -> Sequence[Document]:
        """The documents as they are matched."""
        return self.whole.documents

    def predictions(self, system: int) -> list[Prediction]:
        """What a run predicts for the documents."""
        return self.whole.predictions(self.systems[system])

    def prepared(self, matching: Matching) -> Prepared:
        """The texts and references of the documents, for a way of matching."""
        return self.whole.prepared(matching)

    def aligned(self, system: int, protocol: Protocol) -> Aligned:
        """The columns of a run under a protocol."""
        return self.whole.aligned(self.systems[system], protocol)


def _at_some(systems: tuple[int, ...], function: Callable[[View], T], view: View) -> T:
    return function(_Some(view, systems))


class _Unseen:
    """What stands for the answer of a look that has nothing to see in a chunk."""


def _among(keep: Keep, function: Callable[[View], T], view: View) -> T | type[_Unseen]:
    seen = view.among(keep)
    return function(seen) if len(seen) else _Unseen


def _ids(view: View) -> list[str]:
    return list(view.ids)


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
