"""From a Page to its HTML: one file with its style, its script, its charts and its documents inside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from karat import __version__
from karat.analyses.report.result import Browser, Entry, Fate, Page, Part, Predicted, Span, State
from karat.errors import counted
from karat.matching.passes import uncollected
from karat.output.charts.base import Chart, Style
from karat.output.page.figures import drawn, key_of, painted, styles_of
from karat.output.page.mistakes import Wrong, wrongs
from karat.output.page.overview import best_first, first_chart, overview
from karat.output.page.packing import Packed, pack
from karat.output.page.sections import by_reason, left_out, sections
from karat.output.page.shell import asset, blocks, environment, policy, raw
from karat.output.page.words import PRMU, listed, said, sentence, summary, without_flags

if TYPE_CHECKING:
    from jinja2 import Environment

SHOWN = 20  # documents that are there without a script
STATES: tuple[State, ...] = ("found", "near", "missed")  # the better first
Mark = State | Literal["shared"]  # of a piece of a text; shared: what all systems give, where there are no references
MARKS: tuple[Mark, ...] = (*STATES, "shared")
FATES: tuple[Fate, ...] = ("found", "near", "other", "dropped")
WORDS = {
    "found": "found",
    "near": "nearly found",
    "missed": "missed",
    "other": "no reference",
    "dropped": "dropped by the protocol",
}


def render(page: Page) -> str:
    """The page as HTML; the same text for the same inputs."""
    style, script = blocks(__package__ or "", "page")
    styles = styles_of(page)
    shown = [_Shown.of(page, part, styles) for part in page.parts]
    several = overview(page)
    numbers = iter(range(len(shown)))
    template = _environment().from_string(asset(__package__ or "", "page.html"))
    with uncollected():  # as many small objects as there are documents
        return template.render(
            page=page,
            facts=_facts(page),
            summaries=shown,
            overview=several,
            sections=sections(page),
            left_out=by_reason(left_out(page)),
            mistakes=[each for each in shown if each.wrong],
            browsers=[(part.corpus, part.browser) for part in page.parts if part.browser is not None],
            why_no_documents=next(
                (part.missing["documents"] for part in page.parts if "documents" in part.missing), None
            ),
            packed=[each.packed(next(numbers)) for each in shown if each.has_documents],
            figure=lambda chart: drawn(painted(chart, styles)),
            mark=lambda name: key_of(name, styles[name]) if name in styles else None,
            raw=raw,
            scored=page.comparison is not None,
            mistakes_title="Mistakes" if page.comparison is not None else "Frequent phrases",
            policy=policy(style, script),
            style=raw(style),
            script=raw(script),
            version=__version__,
        )


@cache
def _environment() -> Environment:
    found = environment()
    found.globals.update(
        cut=_cut, first=_first, marked=_marked, counted=counted, said=said, words=WORDS, prmu=PRMU, shown=SHOWN
    )
    found.globals.update(together=_together, zip=zip, sentence=sentence, without_flags=without_flags)
    found.globals.update(also_names=_also_names)
    return found


@dataclass(frozen=True, slots=True)
class _Shown:
    """One corpus on the page: its sentences, the first chart, what systems get wrong, and where that leads to."""

    part: Part
    sentences: tuple[str, ...]
    chart: Chart | None
    wrong: tuple[Wrong, ...]
    lists: tuple[tuple[int, ...], ...]
    marks: tuple[tuple[str, str], ...]  # of the systems: colour and path

    @classmethod
    def of(cls, page: Page, part: Part, styles: Mapping[str, Style]) -> _Shown:
        """What a page shows of one corpus."""
        wrong, lists = wrongs(part, best_first(page, part))
        keys = [key_of(system, styles[system]) for system in part.systems]
        return cls(
            part,
            tuple(text for text in summary(page, part) if text),
            first_chart(page, part),
            tuple(wrong),
            tuple(lists),
            tuple((key.colour, key.path) for key in keys),
        )

    @property
    def has_documents(self) -> bool:
        """Whether there are documents to look through."""
        return self.part.browser is not None and bool(self.part.browser.entries)

    def packed(self, number: int) -> Packed:
        """The documents, as the blocks that have this number."""
        assert self.part.browser is not None
        return pack(self.part.browser, self.part.corpus, number, self.lists, self.marks)


def _facts(page: Page) -> list[tuple[str, str]]:
    """What the page is of, at a glance."""
    systems = dict.fromkeys(system for part in page.parts for system in part.systems)
    judged = sum(part.judged for part in page.parts)
    documents = sum(part.documents for part in page.parts)
    counts = [
        (documents, "document"),
        (judged if 0 < judged < documents else 0, "with reference"),
        (sum(len(part.unread) for part in page.parts), "unreadable file"),
        (len(systems), "system"),
        (sum(map(_references, page.parts)), "reference"),
    ]
    facts = [(f"{what}{'' if count == 1 else 's'}", f"{count:,}") for count, what in counts if count]
    if len(page.parts) > 1:
        facts.insert(0, ("corpora", f"{len(page.parts):,}"))
    if page.signatures:
        facts.append(("protocol", listed(list(page.signatures), 2)))
    return facts


def _references(part: Part) -> int:
    tallies = part.results.tallies if part.results is not None else ()
    return tallies[0].references if tallies else 0


# ---------------------------------------------------------------------------------------------- documents


LONGEST = 160  # letters of a phrase that are shown at once


def _cut(text: str) -> tuple[str, str]:
    """(what is shown of a text, the rest)."""
    return (text, "") if len(text) <= LONGEST + 20 else (text[:LONGEST], text[LONGEST:])


def _first(browser: Browser) -> list[Entry]:
    """The documents that are shown without a script: the most instructive, or the first ones."""
    order = browser.instructive or range(len(browser.entries))
    return [browser.entries[n] for n in order[:SHOWN]]


def _together(entry: Entry) -> list[State]:
    """What becomes of each reference by all systems together: the best that any of them makes of it."""
    by_reference = zip(*(answer.states for answer in entry.answers), strict=True)
    return [min(states, key=STATES.index) for states in by_reference] if entry.references else []


def _also_names(browser: Browser, each: Predicted) -> str:
    """The other systems that give a phrase."""
    return ", ".join(said(browser.systems[s]) for s in each.also)


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a text: whether a reference is there and what became of it, whether it is predicted."""

    text: str
    state: Mark | None
    predicted: bool
    ends: bool  # whether a reference ends here

    @property
    def classes(self) -> str:
        """What the style calls it."""
        return " ".join(
            name for name in (self.state, self.predicted and "predicted", self.ends and "ends") if isinstance(name, str)
        )


def _marked(entry: Entry, where: str) -> list[Piece]:
    """The title or the text of a document in pieces, by all systems together."""
    spans: list[tuple[Span, Mark | None]] = []
    for reference, state in zip(entry.references, _together(entry), strict=True):
        spans += [(span, state) for place in reference.places for span in getattr(entry.places[place], where)]
    predicted = {
        p.place for answer in entry.answers for p in answer.predictions if p.place >= 0 and p.fate != "dropped"
    }
    spans += [(span, None) for place in sorted(predicted) for span in getattr(entry.places[place], where)]
    shared = {
        p.place
        for answer in entry.answers
        for p in answer.predictions
        if p.place >= 0 and p.also and len(p.also) == len(entry.answers) - 1
    }
    spans += [(span, "shared") for place in sorted(shared) for span in getattr(entry.places[place], where)]
    return list(pieces(getattr(entry, where), spans))


def pieces(text: str, spans: Sequence[tuple[Span, Mark | None]]) -> Iterator[Piece]:
    """A text cut where a span begins or ends; None is a prediction, of references the best state is given.

    >>> [(p.text, p.classes) for p in pieces("a bee hive", [((2, 5), "found"), ((2, 10), None)])]
    [('a ', ''), ('bee', 'found predicted ends'), (' hive', 'predicted')]
    """
    cuts = sorted({0, len(text), *(end for span, _ in spans for end in span)})
    for start, end in pairwise(cuts):
        over = [(span, state) for span, state in spans if span[0] <= start and end <= span[1]]
        states = [state for _, state in over if state is not None]
        ends = any(span[1] == end for span, state in over if state is not None)
        best = min(states, key=MARKS.index) if states else None
        yield Piece(text[start:end], best, any(state is None for _, state in over), ends)
