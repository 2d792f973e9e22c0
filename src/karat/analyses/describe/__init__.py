"""From a corpus and runs to a Description: two readings, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from karat import __version__
from karat.analyses.describe.counts import (
    Counts,
    GrowingForms,
    Phrases,
    Portrait,
    count,
    portrait,
    predictions,
    references,
)
from karat.analyses.describe.duplicates import Prints
from karat.analyses.describe.grams import Grams, Vocabulary, in_slices
from karat.analyses.describe.leaks import Own, Training, duplicates_and_leaks, read_training
from karat.analyses.describe.notes import remarks_on, warnings_on
from karat.analyses.describe.result import Description, Side, Texts
from karat.analyses.describe.survey import Survey, survey
from karat.analyses.describe.systems import Looked, look, looks
from karat.analyses.score import pass_for
from karat.corpus import Corpus, Run
from karat.errors import InputError
from karat.matching.align import align, repeated, with_set, without_repeats
from karat.matching.columns import Bools, Ints, Prepared
from karat.matching.inputs import (
    CorpusLike,
    ProtocolLike,
    RunLike,
    as_corpus,
    as_protocols,
    by_line_notes,
    by_name_notes,
    hash_text,
)
from karat.matching.passes import Pass, View, hash_look
from karat.matching.sanity import has_texts, sanity_warnings
from karat.options import (
    By,
    Extra,
    IntervalOptions,
    JoinOptions,
    Missing,
    Progress,
    WorkOptions,
    group,
    options_from,
    path_option,
    protocol_option,
    public,
)
from karat.protocol import Protocol, change
from karat.text.languages import main_language

KEYPHRASES = "keyphrases"  # what the references are called that are in no named set


@dataclass(frozen=True, slots=True)
class DescribeOptions:
    """How `describe` works."""

    protocol: ProtocolLike = protocol_option("Convention by which phrases are found. See `karat list protocols`.")
    train: CorpusLike | None = path_option(
        "Say which documents and references are also in this training corpus.", "CORPUS"
    )
    confidence: IntervalOptions = group(IntervalOptions)
    join: JoinOptions = group(JoinOptions)
    work: WorkOptions = group(WorkOptions)


@public(DescribeOptions)
def describe(
    corpus: CorpusLike,
    *runs: RunLike,
    protocol: ProtocolLike = "karat",
    train: CorpusLike | None = None,
    level: float = 0.95,
    intervals: bool = False,
    references: str | None = None,
    language: str | None = None,
    by: By | None = None,
    missing: Missing = "error",
    extra: Extra = "error",
    jobs: int = 1,
    progress: Progress | None = None,
) -> Description:
    """The portrait of a corpus and of runs on it.

    References are counted as they are given, repeats included; what a run finds is told as `karat.score` does. Raises
    InputError if the corpus holds no document, or if a run does not fit it.

    >>> documents = [{"id": "1", "text": "Bees swarm in June.", "keyphrases": ["bees", "swarming", "zoology"]}]
    >>> run = Run.of([{"id": "1", "keyphrases": ["bee", "june", "honey"]}])
    >>> found = describe(Corpus.of(documents), run)
    >>> [(row["system"], row["present"], row["absent"], row["U"]) for row in found.rows()]
    [(None, 2.0, 1.0, 0.3333333333333333), ('run', 2.0, 1.0, 0.3333333333333333)]
    """
    return pass_for(in_pass, corpus, runs, options_from(DescribeOptions, locals()))


def in_pass(reading: Pass, options: DescribeOptions) -> Callable[[], Description]:
    """Reads what the corpus holds, and registers what a portrait needs of a pass, after which it can be had."""
    corpus, systems = reading.corpus, reading.runs
    [own], references = as_protocols([options.protocol], options.join.language), options.join.references
    # A corpus is described as it is given; an empty reference does not count.
    as_given = change(own, reference_duplicates="keep", blank_references="drop")
    surveyed = survey(corpus, as_given.matching, references, reading.setup.vocabulary, reading.jobs)
    _check(corpus, systems, surveyed)
    vocabulary = surveyed.vocabulary() if surveyed.texts else Vocabulary.of([])
    plan = _Plan(own, as_given, _sets(surveyed, references), bool(surveyed.texts), vocabulary)
    whole = _Whole(plan, len(systems))
    answers, hashes = reading.look(partial(_look, plan), take=whole.add), reading.look(hash_look)

    def finish() -> Description:
        answers.check()
        training = None
        if options.train is not None:
            training = read_training(as_corpus(options.train), as_given.matching, reading.jobs)
        read = _Read(corpus, systems, surveyed, plan, whole, training, options.confidence.level)
        found = _together(read, reading.ids, hash_text(sum(hashes.parts)), options)
        return replace(found, remarks=(*found.remarks, *reading.notes()))

    return finish


def _check(corpus: Corpus, systems: Sequence[Run], surveyed: Survey) -> None:
    """Raises InputError if there is nothing to describe."""
    has_texts(corpus, systems)  # raises InputError if the corpus is not the first
    if not surveyed.documents:
        raise InputError(f"{corpus.origin}: it holds no document")
    if not (surveyed.texts or surveyed.referred or surveyed.sets or systems):
        raise InputError(
            f"{corpus.origin}: no document has a title, a text or keyphrases, so there is nothing to describe; "
            "name their columns with --fields title=COLUMN,text=COLUMN,keyphrases=COLUMN"
        )


def _sets(surveyed: Survey, chosen: str | None) -> tuple[str | None, ...]:
    """The reference sets to describe: the chosen one, then the others; None stands for the keyphrases."""
    others = [name for name in surveyed.sets if name != chosen]
    return (chosen, *([None] if chosen is not None else []), *others)


# ---------------------------------------------------------------------------------------------- one chunk


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is computed on every chunk."""

    protocol: Protocol
    as_given: Protocol  # the same, every reference that is given being kept
    sets: tuple[str | None, ...]
    texts: bool  # whether there are any
    vocabulary: Vocabulary


@dataclass(frozen=True, slots=True)
class _Part:
    """What a chunk gives back."""

    documents: int
    sets: list[Counts]  # by reference set
    runs: list[Counts]  # by run
    looked: list[Looked]
    there: Bools  # [runs, documents]: whether a document counts for a run
    words: Ints  # of each document
    prints: Prints
    met: Ints  # of the vocabulary, what stands in a text


def _look(plan: _Plan, view: View) -> _Part:
    first = view.prepared(plan.as_given.matching)
    position = plan.protocol.counting.position
    given = references(first)
    sets = [count(given, first, position, keep_repeats=True)]
    for name in plan.sets[1:]:
        other = with_set(first, view.setup.semeval, name)
        sets.append(count(references(other), other, position, keep_repeats=True))
    there = np.ones((len(view.setup.systems), len(view)), dtype=bool)
    for s, counted in enumerate(there):
        counted[view.left_out(s)] = False
    runs, looked = _runs(plan, view, (first, given), there)
    grams = list(in_slices(first.texts))
    return _Part(
        len(view),
        sets,
        runs,
        looked,
        there,
        _words(first, grams),
        Prints.of(first.titles, first.bodies, grams),
        plan.vocabulary.met_in(each for _, each in grams),
    )


def _words(prepared: Prepared, grams: Sequence[tuple[slice, Grams]]) -> Ints:
    """How many words each document has, marks left out, and what stands between title and text."""
    counts = np.concatenate([each.count(some.stop - some.start) for some, each in grams])
    return counts - (prepared.matching.boundary == "eos")


def _runs(plan: _Plan, view: View, given: tuple[Prepared, Phrases], there: Bools) -> tuple[list[Counts], list[Looked]]:
    """What there is of each run's predictions, and what they find of the references as the protocol scores them."""
    counting, keeps = plan.protocol.counting, plan.protocol.matching.duplicates == "keep"
    runs: list[Counts] = []
    looked: list[Looked] = []
    scored, referred = _scored(plan, view, *given) if len(there) else given
    for s, counted in enumerate(there):
        aligned = align(scored, view.predictions(s), counting)
        runs.append(count(predictions(aligned), scored, counting.position, keep_repeats=keeps))
        looked.append(look(aligned, referred, counted))
    return runs, looked


def _scored(plan: _Plan, view: View, prepared: Prepared, given: Phrases) -> tuple[Prepared, Phrases]:
    """The documents with those references that the protocol scores."""
    matching = plan.protocol.matching
    if matching.blank_references != "drop":
        scored = with_set(replace(prepared, matching=matching), view.setup.semeval, plan.sets[0])
        return scored, references(scored)
    scored = without_repeats(prepared, matching)
    rule = matching.reference_duplicates
    return scored, given if rule == "keep" else given.take(~repeated(prepared, rule))


# ---------------------------------------------------------------------------------------------- all chunks


NONE_MET = np.zeros(0, dtype=np.int64)


class _Whole:
    """All chunks so far: what is counted of distinct phrases, and of the rest the parts."""

    def __init__(self, plan: _Plan, systems: int) -> None:
        self.parts: list[_Part] = []
        self.sets = [GrowingForms() for _ in plan.sets]
        self.runs = [GrowingForms() for _ in range(systems)]
        self.met = np.zeros(len(plan.vocabulary), dtype=bool)

    def add(self, part: _Part) -> None:
        """Takes what the next chunk gives; what is added up of it is not kept."""
        self.met[part.met] = True
        sets = [forms.add(each) for forms, each in zip(self.sets, part.sets, strict=True)]
        runs = [forms.add(each) for forms, each in zip(self.runs, part.runs, strict=True)]
        self.parts.append(replace(part, sets=sets, runs=runs, met=NONE_MET))


@dataclass(frozen=True, slots=True)
class _Read:
    """All that was read."""

    corpus: Corpus
    systems: list[Run]
    surveyed: Survey
    plan: _Plan
    whole: _Whole
    training: Training | None
    level: float

    @property
    def parts(self) -> list[_Part]:
        """What each chunk gave."""
        return self.whole.parts

    def sides(self) -> Iterator[Side]:
        """Each reference set that has a phrase, then each system."""
        everywhere = np.ones(sum(part.documents for part in self.parts), dtype=bool)
        for n, name in enumerate(self.plan.sets):
            parts, forms = [part.sets[n] for part in self.parts], self.whole.sets[n].whole()
            found = portrait(parts, everywhere, forms, self.level)
            if found.total:
                yield self._references(name or KEYPHRASES, found, first=n == 0)
        for s, run in enumerate(self.systems):
            counted = np.concatenate([part.there[s] for part in self.parts])
            parts, forms = [part.runs[s] for part in self.parts], self.whole.runs[s].whole()
            found = portrait(parts, counted, forms, self.level)
            yield self._system(run.name, s, found)

    def _references(self, name: str, found: Portrait, first: bool) -> Side:
        absent = int(found.forms.absent.sum())
        side = Side(None, name, found, seen=self._seen(found))
        if not absent or not self.plan.texts:
            return side
        side = replace(side, absent_present=int(found.forms.absent[found.forms.present_df > 0].sum()) / absent)
        if not first:  # the vocabulary that was looked for is that of the first set
            return side
        where = np.isin(found.forms.numbers, self.plan.vocabulary.numbers[self.whole.met])
        return replace(side, absent_in_texts=int(found.forms.absent[where].sum()) / absent)

    def _system(self, name: str, number: int, found: Portrait) -> Side:
        seen = self._seen(found)
        if not self.surveyed.referred:
            return Side(name, None, found, seen=seen)
        words = np.concatenate([part.words for part in self.parts])
        each = [part.looked[number] for part in self.parts]
        looked = looks(each, words, self.plan.protocol.counting, self.plan.texts, self.level)
        return Side(name, self.plan.sets[0] or KEYPHRASES, found, looked, seen=seen)

    def _seen(self, found: Portrait) -> float | None:
        """The share of phrases that are references of the training corpus."""
        if self.training is None or not found.total:
            return None
        known = self.training.known(found.forms.numbers)
        return int(found.forms.occurrences[known].sum()) / int(found.forms.occurrences.sum())

    def texts(self) -> Texts:
        """What the documents are like."""
        words = np.concatenate([part.words for part in self.parts])
        nonzero = words[words > 0]
        s = self.surveyed
        languages = {name: n / s.languages.total() for name, n in s.languages.most_common()}
        return Texts(
            s.documents,
            s.texts,
            s.titles,
            s.referred,
            float(nonzero.mean()) if len(nonzero) else None,
            int(nonzero.min()) if len(nonzero) else None,
            int(nonzero.max()) if len(nonzero) else None,
            main_language(s.languages),
            languages,
        )


def _together(read: _Read, ids: Sequence[str], references: str, options: DescribeOptions) -> Description:
    plan = read.plan
    prints = Prints.joined([part.prints for part in read.parts])
    sides = tuple(read.sides())
    chosen = next((side.portrait for side in sides if side.system is None), None)
    own = Own(read.corpus, ids, prints, plan.as_given.matching, options.work.jobs)
    duplicates, leaks = duplicates_and_leaks(own, read.training, chosen)
    facts = {"set": plan.sets[0] or KEYPHRASES, "hash": references}
    found = Description(
        read.corpus.name,
        str(plan.protocol),
        read.texts(),
        sides,
        duplicates if plan.texts else None,
        leaks,
        {str(plan.protocol): plan.protocol.signature(**facts, karat=__version__)},
        (),
        (*by_line_notes(read.corpus, read.systems, options.join.by), *by_name_notes(read.corpus, [plan.protocol])),
        options.confidence,
    )
    sane = sanity_warnings(read.corpus, read.systems, [plan.protocol], options.join.by, plan.sets[0])
    return replace(
        found,
        warnings=(*warnings_on(found, read.surveyed, plan.protocol), *sane),
        remarks=(*found.remarks, *remarks_on(found, read.surveyed)),
    )
