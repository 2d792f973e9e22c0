"""What a page says in sentences: who wins, by how much, and how sure that is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any
from unicodedata import bidirectional

from karat.analyses.compare.result import Comparison, Pair, Standing
from karat.analyses.compare.tables import detectable_words, family_words
from karat.analyses.consistency import Consistency
from karat.analyses.describe.result import Description
from karat.analyses.homogeneity.result import Homogeneity
from karat.analyses.report.agreement import Agreement
from karat.analyses.report.result import Page, Part
from karat.errors import counted
from karat.inert import inert
from karat.metrics.base import Request
from karat.results.displayed import Result
from karat.stats.difference import TEST_NAMES
from karat.tabular import approximate_p, number, short

SUBSETS = {
    "all": "all phrases",
    "present": "present phrases",
    "absent": "absent phrases",
    "P": "present phrases (P)",
    "R": "reordered phrases (R)",
    "M": "mixed phrases (M)",
    "U": "unseen phrases (U)",
}
PRMU = {"P": "present", "R": "reordered", "M": "mixed", "U": "unseen"}


def said(name: str, longest: int = 60) -> str:
    """A name in a sentence: shortened, and set apart where it is written from right to left.

    >>> said("a\\u202eb" + "c" * 80, 8)
    'a�bc…ccc'
    """
    plain = " ".join(inert(name).split())
    if "`" not in plain and any(bidirectional(letter) in ("R", "AL") for letter in plain):  # code is cut out later
        return f"\u2068{short(plain, longest)}\u2069"
    return short(plain, longest)


def listed(names: Sequence[str], most: int = 4) -> str:
    """Names in a sentence, the last ones counted where there are many.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], 2)
    ('a, b and c', 'a, b and 2 more')
    """
    shown = list(names) if len(names) <= most else [*names[:most], f"{len(names) - most:,} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def metric_of(request: Request) -> str:
    """A metric in words: its name with options, and of which phrases."""
    options = "".join(f",{name}={value}" for name, value in request.options)
    return f"{request.label}{options} of {SUBSETS[request.subset]}"


def interval_words(ends: tuple[float, float]) -> str:
    """An interval, from its lower end to its upper; nothing where it is undefined, or a point as of one document."""
    return "" if ends[0] != ends[0] or ends[0] == ends[1] else f"{number(ends[0])} to {number(ends[1])}"


def with_interval(each: Standing, level: str = "") -> str:
    """A value with its interval, if it has one."""
    ends = interval_words(each.interval)
    return f"{number(each.value)} ({f'{level} interval ' if level else ''}{ends})" if ends else number(each.value)


def sentence(text: str) -> str:
    """A text as a sentence.

    >>> sentence("there is one run")
    'There is one run.'
    """
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def percent(level: float) -> str:
    """A level as percent.

    >>> percent(0.95)
    '95 %'
    """
    return f"{100 * level:.4g} %"


# ---------------------------------------------------------------------------------------------- without references

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def in_words(count: int) -> str:
    """A small number in words.

    >>> in_words(3), in_words(1200)
    ('three', '1,200')
    """
    return NUMBERS[count] if count < len(NUMBERS) else f"{count:,}"


def unscored(part: Part) -> Iterator[str]:
    """The sentences on a corpus without references: how far systems agree, and what each gives."""
    count, documents = len(part.systems), counted(part.documents, "document")
    agreement = part.found.get("agreement")
    if isinstance(agreement, Agreement):
        yield f"{in_words(count).capitalize()} systems indexed {documents}; {agreed(agreement)}."
    else:
        yield f"{said(part.systems[0])} indexed {documents}{_gives(part, part.systems[0])}."
    yield f"No document has references, so nothing says {'which system' if count > 1 else 'whether it'} is right."
    if isinstance(agreement, Agreement):
        yield from _alike(agreement)
    yield from _homogeneous(part.found.get("homogeneity"))
    yield from _consistent(part.found.get("consistency"))
    yield from _described(part)


def agreed(found: Agreement) -> str:
    """On how many phrases systems agree."""
    if not found.defined.any():
        return "they give no phrase"
    who = "they" if len(found.systems) == 2 else f"all {in_words(len(found.systems))}"
    return f"of the {about(found.phrases)} phrases that each gives for a document, {who} agree on {about(found.shared)}"


def _alike(found: Agreement) -> Iterator[str]:
    """Which two of several systems are most alike, and which least."""
    known = sorted((row for row in found.rows() if row["hooper"] is not None), key=lambda row: -float(row["hooper"]))
    if len(known) > 1:
        most, least = (
            f"{said(row['a'])} and {said(row['b'])}, which share {about(row['both'])} phrases of a document"
            for row in (known[0], known[-1])
        )
        yield f"Most alike are {most}; least alike are {least}."


def _homogeneous(found: Result | None) -> Iterator[str]:
    """How many of their phrases systems give to both of two alike documents."""
    if not isinstance(found, Homogeneity):
        return
    known = sorted((row["hooper"], row["system"]) for row in found.rows() if row["hooper"] is not None)
    if known:
        where = f"Of two documents with alike texts ({counted(found.pairs, 'pair')})"
        best = f"{said(known[-1][1])} gives {percent_of(known[-1][0])} of the phrases to both"
        yield f"{where}, {best}{f', {said(known[0][1])} {percent_of(known[0][0])}' if len(known) > 1 else ''}."


def _consistent(found: Result | None) -> Iterator[str]:
    """Which system calls concepts most often by one name."""
    if not isinstance(found, Consistency):
        return
    last = {row["system"]: row["other_names_share"] for row in found.rows()}  # of the widest notion of a concept
    known = sorted((share, system) for system, share in last.items() if share is not None)
    if known and known[-1][0] > 0:
        best = f"{percent_of(known[0][0])} of the phrases of {said(known[0][1])}"
        rest = f", and {percent_of(known[-1][0])} of those of {said(known[-1][1])}," if len(known) > 1 else ""
        yield f"{best}{rest} call a concept by another name than the most frequent one."


def percent_of(share: float) -> str:
    """A share in a sentence.

    >>> percent_of(0.0348), percent_of(0.5)
    ('3.5 %', '50 %')
    """
    return f"{100 * share:.1f} %".replace(".0 %", " %")


def _gives(part: Part, system: str) -> str:
    row = next((row for row in _descriptions(part) if row["system"] == system), None)
    return "" if row is None else f" and gives {about(row['phrases'])} phrases for each"


def _described(part: Part) -> Iterator[str]:
    """How many phrases systems give, and how many of them the text has."""
    rows = _descriptions(part)
    if not rows:
        return
    phrases = _range([about(row["phrases"]) for row in sorted(rows, key=lambda row: float(row["phrases"]))])
    within = sorted(row["P"] for row in rows if row["P"] is not None)
    present = (
        f", {_range([f'{100 * share:.0f}' for share in within])} % of them as they stand in the text" if within else ""
    )
    who = said(rows[0]["system"]) if len(rows) == 1 else "Systems"
    yield f"{who} give{'s' if len(rows) == 1 else ''} {phrases} phrases for a document{present}."


def _range(rising: Sequence[str]) -> str:
    return rising[0] if rising[0] == rising[-1] else f"{rising[0]} to {rising[-1]}"


def _descriptions(part: Part) -> list[dict[str, Any]]:
    found = part.found.get("describe")
    rows = found.rows() if isinstance(found, Description) else []
    return [row for row in rows if row["system"] and row["phrases"]]


def without_flags(note: str) -> str:
    """A note without what it says of the command, which is no part of a page.

    >>> without_flags("the texts look French, not English: see --language")
    'the texts look French, not English'
    >>> without_flags("frequencies are those at hand; --df names others"), without_flags("a.pdf: is encrypted")
    ('frequencies are those at hand', 'a.pdf: is encrypted')
    """
    return re.sub(r"(?:[;:,] | \()[^;:]*(?<![\w-])--?[a-z].*$", "", note)


# ---------------------------------------------------------------------------------------------- who wins


def headline(page: Page, part: Part) -> Request | None:
    """Return the primary metric, else what documents are sorted by where tables have it, else f1@M or their first."""
    if page.comparison is None:
        return None
    own = [each.request for each in page.comparison.standings if each.corpus == part.corpus]
    primary = next((request for request in own if request in page.primary), None)
    if primary is not None:
        return primary
    chosen = part.browser.request if part.browser is not None else None
    first = None if chosen is None else chosen.without_fitted()
    every = [request for request in own if (request.label, request.subset) == ("f1@M", "all")]
    return first if first in own else next(iter([*every, *own]), None)


def summary(page: Page, part: Part) -> Iterator[str]:
    """The sentences on one corpus: what matters in plain words, then the figures behind it."""
    found, first = page.comparison, headline(page, part)
    if found is None or first is None or part.results is None:
        yield from unscored(part)
        return
    protocol = next(each.protocol for each in found.standings if each.corpus == part.corpus)
    own = [each for each in found.standings if (each.corpus, each.protocol) == (part.corpus, protocol)]
    told = _verdict(found, ranked([each for each in own if each.request == first]), first, part)
    yield next(told)
    agreement = part.found.get("agreement")
    if isinstance(agreement, Agreement):
        yield f"{part.judged:,} of {counted(part.documents, 'document')} have references; scores are of these alone."
        yield f"On all {part.documents:,} documents, {agreed(agreement)}."
    yield from told
    for subset in ("present", "absent"):
        others = [e for e in own if e.request.subset == subset and e.request.label == first.label]
        if others and first.subset == "all":
            yield _also(found, others)


def ranked(own: Sequence[Standing]) -> list[Standing]:
    """The systems of one metric that have a value, the best first."""
    known = [each for each in own if each.value == each.value]
    return sorted(known, key=lambda each: each.value, reverse=_higher(known))


def _higher(own: Sequence[Standing]) -> bool:
    """Whether a higher value is better."""
    return not own or own[0].request.spec.better != "lower"


def _verdict(found: Comparison, known: Sequence[Standing], request: Request, part: Part) -> Iterator[str]:
    partly = 0 < part.judged < part.documents
    lacking = part.results is not None and part.scored < len(part.results.ids)
    where = f"on the {counted(part.scored, 'document')} of {said(part.corpus)}"
    conditions = (["have references"] if partly else []) + (["all runs have"] if lacking else [])
    where += f" that {' and that '.join(conditions)}" if conditions else ""
    if not known:
        yield f"{metric_of(request)} is undefined {where}."
        return
    best, *others = known
    yield f"{_opening(found, known)}{_outcome_of(part, best.system)}."
    yield from _more_right(part, best.system)
    figure, value = f"{metric_of(request)} {where}", with_interval(best, percent(found.options.level))
    ranked_by = others and request.spec.better is not None
    yield f"{'Best is meant by' if ranked_by else 'That is'} {figure} under the protocol {best.protocol}: {value}."
    pair = pair_of(found, best, others[0]) if others else None
    if pair is not None:
        yield _lead(found, pair, best, others)
        could = detectable_words(found, pair)
        if could is not None:
            yield could


def _opening(found: Comparison, known: Sequence[Standing]) -> str:
    """Who is best, where that is known; who is as good, where it is not."""
    best, *others = known
    name, request = said(best.system), best.request
    by = "" if (request.label, request.subset) == ("f1@M", "all") else f" in {metric_of(request)}"
    if not others:
        return f"{name} has {number(best.value)}{by or ' in F1'}"
    if request.spec.better is None:
        return f"{name} has the highest {metric_of(request)}"
    pair = pair_of(found, best, others[0])
    if pair is not None and pair.apart.significant(found.options.alpha):
        return f"{name} is best{by}"
    alike = as_good(best, others) or [said(others[0].system)]
    return f"{name} comes out first{by}, but is not shown to be better than {listed(alike)}"


def as_good(best: Standing, others: Sequence[Standing]) -> list[str]:
    """The systems that the best one cannot be told apart from."""
    return [said(each.system) for each in others if set(each.letters) & set(best.letters)]


def _outcome_of(part: Part, system: str) -> str:
    """What becomes of the phrases of a system, where that is known."""
    known = dict(zip(part.systems, part.outcomes, strict=False))
    if system not in known or not known[system].predictions:
        return ""
    own = known[system]
    given, right, near = (about(own.mean(count)) for count in (own.predictions, own.right, own.near))
    return f": of the {given} phrases it gives for a document, {right} are right and {near} almost"


def _more_right(part: Part, best: str) -> Iterator[str]:
    """Which other system has more right phrases, if one does: the best by a score need not."""
    known = dict(zip(part.systems, part.outcomes, strict=False))
    if best in known:
        most = max(known, key=lambda system: known[system].right)
        own = known[most]
        if about(own.mean(own.right)) != about(known[best].mean(known[best].right)) and own.right > known[best].right:
            given, right = about(own.mean(own.predictions)), about(own.mean(own.right))
            yield f"{said(most)} has more right ones, {right}, but of {given} that it gives."


def about(value: float) -> str:
    """A mean in a sentence: with one digit, where there is one.

    >>> about(7.08), about(10.0), about(0.04)
    ('7.1', '10', '.04')
    """
    if 0 < value < 0.1:
        return f"{value:.2f}".removeprefix("0")
    return f"{value:,.1f}".removesuffix(".0")


def pair_of(found: Comparison, one: Standing, other: Standing) -> Pair | None:
    """Two systems compared on a metric."""
    same = (one.corpus, one.protocol, one.request, {one.system, other.system})
    return next((p for p in found.pairs if (p.corpus, p.protocol, p.request, {p.a, p.b}) == same), None)


def _lead(found: Comparison, pair: Pair, best: Standing, others: Sequence[Standing]) -> str:
    """By how much the best is ahead of the next, and how sure that is."""
    options = found.options
    turned = -1 if pair.a != best.system else 1
    low, high = sorted(turned * end for end in pair.interval)
    apart = pair.apart
    ends = interval_words((low, high))
    facts = f"{percent(options.level)} interval {ends}; " if ends else ""
    facts += f"p {_equals(approximate_p(apart.adjusted, apart.adjusted_approximate))}, {TEST_NAMES[apart.test]}, "
    facts += family_words(found)
    other = said(pair.b if turned == 1 else pair.a)
    ahead = f"It is {number(abs(pair.difference))} ahead of {other} ({facts})"
    if apart.significant(options.alpha):
        return f"{ahead}: a statistically significant difference."
    alike = as_good(best, others) or [other]
    return f"{ahead}: chance may explain it, so {said(best.system)} and {listed(alike)} cannot be told apart here."


def _equals(p: str) -> str:
    return p if p.startswith(("<", "≈")) else f"= {p}"


def _also(found: Comparison, own: Sequence[Standing]) -> str:
    """Who is best on a subset."""
    request, known = own[0].request, ranked(own)
    if not known:
        return f"{metric_of(request)} is undefined."
    best, *others = known
    value = with_interval(best)
    if not others:
        return f"{metric_of(request)}: {value}."
    alike = as_good(best, others)
    tail = f"; {listed(alike)} cannot be told apart from it" if alike else ", and no other is as good"
    return f"In {metric_of(request)}: {said(best.system)}, {value}{tail}."
