"""The further verbs of a page: what each of them finds on a corpus, or why it finds nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from karat.analyses import audit, confidence, describe, overlap
from karat.analyses.audit import DEFAULT_METRIC
from karat.analyses.confidence.result import ConfidenceOptions
from karat.analyses.consistency import consistency
from karat.analyses.describe import DescribeOptions
from karat.analyses.homogeneity import homogeneity
from karat.analyses.homogeneity.lists import list_notes
from karat.analyses.human import human
from karat.analyses.overlap import OverlapOptions
from karat.analyses.report import agreement
from karat.analyses.score import ScoreOptions
from karat.corpus import Run
from karat.errors import InputError
from karat.formats.pairs import PairsLike
from karat.matching.inputs import CorpusLike, as_corpus, as_protocols
from karat.matching.passes import Pass
from karat.pairs.mine import MineOptions, Pairs, alike_texts
from karat.results.displayed import Result

if TYPE_CHECKING:
    from karat.analyses.report import ReportOptions

HEADLINE = "f1@M"  # of all phrases: what documents are sorted by where no metric is chosen
ALIKE, HARDLY = 0.5, 0.25  # shares of the words of two texts, from which on they are alike: more first
NEAREST = 3  # pairs of a document that are looked at
ONE_RUN = "There is one system; it takes two to compare what they predict."
NO_PAIRS = "No pairs of alike documents were given."
NO_PREDICTED_REFORMULATIONS = "No run predicts for the reformulations, so homogeneity cannot be measured on them."
NO_HUMAN = "No scores of people were given."
NO_PROBABILITIES = (
    "No run gives the probabilities of its phrases (token_probs or token_logprobs); scores of other kinds are not "
    "probabilities, which calibration needs."
)
NO_REFERENCES = "The documents have no references, so nothing can be scored."


@dataclass(frozen=True, slots=True)
class About:
    """What is known of a corpus and its runs before they are read."""

    referred: bool  # whether a document has references
    has_text: bool


class Verbs:
    """What the further verbs register on a pass; one that was not named may be impossible.

    `judged` is the pass over the documents with references, among all of `reading`.
    """

    def __init__(self, reading: Pass, judged: Pass, options: ReportOptions, about: About) -> None:
        self.reading, self.judged, self.options, self.about = reading, judged, options, about
        self.planned: dict[str, Callable[[], Result]] = {}
        self.missing: dict[str, str] = {}
        first, join, work = options.protocols()[0], options.join, options.work
        sure = [n for n, run in enumerate(reading.runs) if _has_probabilities(run)]
        without = None if about.referred else NO_REFERENCES
        unsure = without or (None if sure else NO_PROBABILITIES)
        alone = None if len(reading.runs) > 1 else ONE_RUN
        metric = DEFAULT_METRIC if about.has_text else HEADLINE
        aside, some, every = judged.aside(), judged.aside(sure), reading.aside()
        judging = ConfidenceOptions(first, join=join, work=work)
        [protocol, *_] = as_protocols([first], join.language)
        self._plan("audit", without, lambda: _audit(aside, metric, options))
        self._plan("describe", None, lambda: describe.in_pass(every, DescribeOptions(first, join=join, work=work)))
        self._plan("confidence", unsure, lambda: confidence.in_pass(some, judging))
        self._plan("consistency", None, lambda: partial(_consistency, reading.runs, options))
        self._plan(
            "overlap", without or alone, lambda: overlap.in_pass(aside, OverlapOptions(first, join=join, work=work))
        )
        self._plan("agreement", alone, lambda: agreement.in_pass(every, protocol))

    def _plan(self, verb: str, why: str | None, plan: Callable[[], Callable[[], Result]]) -> None:
        """Plans a verb, unless there is a reason why it finds nothing."""
        if why is not None:
            self.missing[verb] = why
            return
        try:
            self.planned[verb] = plan()
        except InputError as error:
            self.missing[verb] = sentence(str(error))

    def finish(self, runs: Sequence[Run]) -> tuple[dict[str, Result], dict[str, str]]:
        """(what each verb finds, why others find nothing), once the pass has run.

        The pass's own runs are without reformulations; `runs` have them.
        """
        if self._all_judged():
            for where in (self.planned, self.missing):
                where.pop("agreement", None)
        found: dict[str, Result] = {}
        for verb, finish in self.planned.items():
            try:
                found[verb] = finish()
            except InputError as error:
                self.missing[verb] = sentence(str(error))
        self._add_human(found)
        self._add_homogeneity(runs, found)
        return found, self.missing

    def _all_judged(self) -> bool:
        return self.about.referred and len(self.judged.ids) == len(self.reading.ids)

    def _add_human(self, found: dict[str, Result]) -> None:
        options, reading = self.options, self.reading
        if options.human is None:
            self.missing["human"] = NO_HUMAN
            return
        resampling = {name: value for name, value in options.resampling().items() if name in ("level", "seed")}
        how = options.joining() | resampling
        first = options.protocols()[0]
        found["human"] = human(options.human, corpus=reading.corpus, runs=reading.runs, protocol=first, **how)

    def _add_homogeneity(self, runs: Sequence[Run], found: dict[str, Result]) -> None:
        """Adds how homogeneous the runs are. Raises InputError if the pairs of the options cannot be used."""
        options = self.options
        pairs = self._pairs()
        if pairs is None:
            return
        known = reformulated(options.reformulations)
        usable = [run for run in runs if not known or any(identifier in known for identifier in run.ids)]
        if not usable:
            self.missing["homogeneity"] = NO_PREDICTED_REFORMULATIONS
            return
        scoring = options.joining()
        joining = {name: scoring[name] for name in ("references", "language", "by", "missing", "jobs", "progress")}
        measured = homogeneity(
            self.reading.corpus,
            pairs,
            *usable,
            protocol=options.protocols()[0],
            reformulations=options.reformulations,
            **joining,
            **options.resampling(),
        )
        left_out = [
            f"{run.name}: no predictions for the reformulations, so it is not measured"
            for run in runs
            if run not in usable
        ]
        told = measured.notes
        if (
            isinstance(pairs, Pairs) and options.pairs is None
        ):  # what else is told is of pairs by phrases, and of each p
            share = f"{100 * pairs.options.min:.0f} % of their words or more in common"
            how = f"alike documents are pairs whose texts have {share}, among the {NEAREST} most alike of one of them"
            of_lists = {*list_notes(measured.systems, measured.options)}
            told = (how, *(note for note in told if note.startswith("only ") or note in of_lists))
        found["homogeneity"] = replace(measured, notes=(*told, *left_out))

    def _pairs(self) -> PairsLike | None:
        """The pairs of alike documents: those that are given, or where references are lacking those of alike texts."""
        if self.options.pairs is not None:
            return self.options.pairs
        if self._all_judged():
            self.missing["homogeneity"] = NO_PAIRS
            return None
        try:
            return alike_texts(
                self.reading.corpus, MineOptions("text", ALIKE, nearest=NEAREST, work=self.options.work), HARDLY
            )
        except InputError as error:
            self.missing["homogeneity"] = sentence(str(error))
            return None


def _audit(reading: Pass, metric: str, options: ReportOptions) -> Callable[[], Result]:
    listed, notes = audit.usable_protocols()
    return audit.in_pass(reading, ScoreOptions(listed, metric, join=options.join, work=options.work), notes)


def _consistency(runs: Sequence[Run], options: ReportOptions) -> Result:
    return consistency(*runs, language=options.join.language, near=None)


def reformulated(reformulations: CorpusLike | None) -> frozenset[str]:
    """The ids of reformulations, for which runs may predict too."""
    return frozenset() if reformulations is None else frozenset(filter(None, as_corpus(reformulations).ids))


def _has_probabilities(run: Run) -> bool:
    return any(each.token_probs or each.token_logprobs for each in run.records_ahead())


def sentence(text: str) -> str:
    """A text as a sentence."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"
