"""Near misses: predictions that are no hit but near a reference that is missed, and of which kind they are.

By default two phrases are near when they share a word, by its Porter stem; marks, prepositions and conjunctions do not
count, since an `of` brings no phrases together. With a threshold they are near when their score reaches it. Each
prediction counts once, with the missed reference that it is nearest to. `result` says what is found, `chunk` computes
it on some documents, `pairs` writes it to a file, `tables` shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from karat.analyses.nearmiss.chunk import Gathered, Plan, look
from karat.analyses.nearmiss.result import (
    Group,
    NearMiss,
    NearMissCounts,
    NearMisses,
    NearMissOptions,
    Side,
)
from karat.analyses.score import ScoreOptions, pass_for
from karat.analyses.score import in_pass as scores_in_pass
from karat.corpus import Corpus, Run
from karat.errors import InputError
from karat.matching.columns import Subset
from karat.matching.inputs import CorpusLike, ProtocolsLike, RunLike, as_list, as_protocols
from karat.matching.passes import Pass, look_at
from karat.matching.sanity import has_texts, texts_needed
from karat.metrics.base import Request, parse_request
from karat.metrics.soft import checked_threshold
from karat.options import By, Extra, Missing, Progress, WorkOptions, options_from, public
from karat.protocol import whole_number
from karat.similarity import find
from karat.similarity.classes import classify
from karat.similarity.context import Contexts, sentences_look
from karat.vocabulary import VocabularyLike

__all__ = ["Group", "NearMiss", "NearMissCounts", "NearMissOptions", "NearMisses", "Side", "in_pass", "nearmiss"]


@public(NearMissOptions)
def nearmiss(
    corpus: CorpusLike,
    *runs: RunLike,
    protocol: ProtocolsLike = "karat",
    similarity: str = "overlap",
    threshold: float | None = None,
    relation: str | None = None,
    subset: Subset = "all",
    cutoff: str = "M",
    every: bool = False,
    both: bool = False,
    examples: int = 3,
    pairs: Callable[[list[NearMiss]], None] | None = None,
    level: float = 0.95,
    intervals: bool = False,
    references: str | None = None,
    language: str | None = None,
    by: By | None = None,
    missing: Missing = "error",
    extra: Extra = "error",
    vocabulary: VocabularyLike | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> NearMisses:
    """The near misses of runs, counted by class, with examples.

    Raises InputError if a run does not fit the corpus, or if an option cannot be used with it.

    >>> documents = Corpus.of([{"id": "1", "keyphrases": ["effective grid computing algorithm", "load balance"]}])
    >>> run = Run.of([{"id": "1", "keyphrases": ["grid computing algorithms", "load balancing", "users"]}])
    >>> [(row["class"], row["pairs"]) for row in nearmiss(documents, run).rows() if row["kind"] == "relation"]
    [('part-of', 1)]
    """
    return pass_for(in_pass, corpus, runs, options_from(NearMissOptions, locals()))


def in_pass(reading: Pass, options: NearMissOptions) -> Callable[[], NearMisses]:
    """Registers what near misses need of a pass; what comes back gives them once the pass has run."""
    corpus = reading.corpus
    request = _checked(corpus, reading.runs, options)
    metrics = [f"{request.label}:{request.subset}"]
    scoring = ScoreOptions(protocol=options.protocol, metrics=metrics, join=options.join, work=options.work)
    results = scores_in_pass(reading, scoring)
    plan = Plan(
        as_protocols(as_list(options.protocol), options.join.language),
        request,
        replace(options, work=WorkOptions(), pairs=None),
        options.pairs is not None,
        _sentences(corpus, options.similarity, reading.jobs),
    )
    if reading.jobs > 1:
        classify([("", "")])  # so that the tagger is there before the processes are forked, not made in each
    gathered = Gathered(options, [])
    answers = reading.look(partial(look, plan), take=gathered.take)

    def finish() -> NearMisses:
        scored, _ = results(), answers.parts
        notes = (*scored.notes, *_notes(gathered.found, options))
        return NearMisses(corpus.name, len(scored.ids), options, tuple(gathered.found), scored.signatures, notes)

    return finish


def _checked(corpus: Corpus, runs: Sequence[Run], options: NearMissOptions) -> Request:
    """The cutoff and the subset of the options. Raises InputError if an option has no such value."""
    find(options.similarity)
    options.relations()
    if options.threshold is not None:
        checked_threshold(options.threshold)
    if options.cutoff not in ("M", "O", "G") and whole_number(options.cutoff) is None:  # V would have to be fitted
        raise InputError(f"the cutoff of near misses is a number from 1 on, M, O or G, not {options.cutoff!r}")
    request = parse_request(f"r@{options.cutoff}:{options.subset}")
    if request.subset != "all" and not has_texts(corpus, runs):
        raise texts_needed(corpus, f"the subset {request.subset}", "all")
    return request


def _sentences(corpus: Corpus, similarity: str, jobs: int) -> Contexts | None:
    """All sentences of the corpus, for the one similarity that looks at them."""
    if "sentences" not in find(similarity).options:
        return None
    parts = look_at(corpus, partial(sentences_look, None), jobs=jobs)
    return Contexts.of([sentence for part in parts for sentence in part])


def _notes(found: Sequence[NearMissCounts], options: NearMissOptions) -> list[str]:
    near = "shares a word with" if options.threshold is None else f"has a score of {options.threshold:g} with"
    notes = [
        f"{each.system}, {each.protocol}: no near miss: no unmatched prediction {near} a missed reference"
        for each in found
        if not each.pairs
    ]
    if options.join.language not in (None, "english"):
        notes.append("the classes are made for English: by Porter stems, and word classes from an English lexicon")
    return notes
