"""What a reader of a portrait should know, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from karat.analyses.describe.result import Description
from karat.analyses.describe.survey import Survey
from karat.errors import counted
from karat.matching.sanity import NO_TEXTS
from karat.protocol import Protocol

SHOWN = 3  # examples


def warnings_on(found: Description, surveyed: Survey, protocol: Protocol) -> Iterator[str]:
    """What is probably wrong with the corpus, or with how it is read."""
    if surveyed.stemmed() and protocol.matching.references == "stem":
        yield (
            "the references look stemmed already: hardly any would change by stemming, and many are no words of their "
            f"texts; --protocol {protocol},references=stemmed takes them as they are"
        )
    for mark, phrases in surveyed.separators.items():
        shown = "; ".join(map(repr, phrases[:SHOWN]))
        yield f"{counted(len(phrases), 'reference')} with `{mark}`, as {shown}: they may be several phrases in one"
    yield from _twice(found)
    yield from _leaked(found)


def _twice(found: Description) -> Iterator[str]:
    if found.duplicates is None:
        return
    equal, near = found.duplicates.equal, found.duplicates.near
    if equal:
        more = sum(map(len, equal)) - len(equal)
        shown = _named([group[:2] for group in equal[:SHOWN]])
        yield f"{counted(more, 'document')} with the title and text of an earlier one, as {shown}"
    if near:
        yield f"{counted(len(near), 'pair')} of documents with nearly the same text, as {_named(near[:SHOWN])}"


def _leaked(found: Description) -> Iterator[str]:
    leaks = found.leaks
    if leaks is None or not leaks.leaked:
        return
    counts = (
        (leaks.texts, "with the same title and text"),
        (leaks.titles, "with the same title alone"),
        (leaks.near, "with nearly the same text"),
    )
    said = ", ".join(f"{len(pairs):,} {how}" for pairs, how in counts if pairs)
    share = leaks.leaked / found.texts.documents
    yield f"in {leaks.corpus} too: {counted(leaks.leaked, 'document')} ({100 * share:.1f} %), {said}"


def _named(pairs: Sequence[Sequence[str]]) -> str:
    return "; ".join(" and ".join(pair) for pair in pairs)


def remarks_on(found: Description, surveyed: Survey) -> Iterator[str]:
    """What is missing, and what that switches off."""
    texts = found.texts
    if not texts.with_text:
        so = "present and absent phrases, their classes and positions, the language and duplicates cannot be told"
        yield NO_TEXTS.format(so)
    elif texts.with_text < texts.documents:
        yield (
            f"{counted(texts.documents - texts.with_text, 'document')} without title and text, left out of present, "
            "absent, P, R, M, U and unseen words"
        )
    if not texts.with_references:
        others = ", ".join(surveyed.sets)
        hint = f"--references chooses one of {others}" if others else "only texts and predictions are described"
        yield f"no document has references (keyphrases); {hint}"
    elif texts.with_references < texts.documents:
        yield f"{counted(texts.documents - texts.with_references, 'document')} without references"
    first = next((side for side in found.sides if side.system is None), None)
    if first is not None and first.portrait.repeats and any(side.system for side in found.sides):
        yield "references are counted as they are given; what a system finds is told without repeated ones, as in score"
