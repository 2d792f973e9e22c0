"""What a page says in sentences: who wins, by how much, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from unicodedata import bidirectional, category

from karat.analyses.compare import NAMES, RESAMPLED, Comparison, Pair, Standing
from karat.analyses.compare_tables import CORRECTION_NAMES, reach
from karat.analyses.report.result import Page, Part
from karat.errors import counted
from karat.metrics.base import Request
from karat.stats.tests import too_few
from karat.table import number, p_value, short

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
    """A name in a sentence: shortened, and without what would turn the direction of the words around it.

    >>> said("a\\u202eb" + "c" * 80, 8)
    'abcc…ccc'
    """
    plain = "".join(letter for letter in " ".join(name.split()) if category(letter) not in ("Cf", "Cc"))
    if any(bidirectional(letter) in ("R", "AL") for letter in plain):
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


# ---------------------------------------------------------------------------------------------- who wins


def headline(page: Page, part: Part) -> Request | None:
    """What the first sentence is about: what documents are sorted by where tables have it, else their first."""
    if page.comparison is None:
        return None
    own = [each.request for each in page.comparison.standings if each.corpus == part.corpus]
    chosen = part.browser.request if part.browser is not None else None
    first = None if chosen is None else chosen.without_fitted()
    every = [request for request in own if (request.label, request.subset) == ("f1@M", "all")]
    return first if first in own else next(iter([*every, *own]), None)


def summary(page: Page, part: Part) -> Iterator[str]:
    """The sentences on one corpus."""
    found, first = page.comparison, headline(page, part)
    if found is None or first is None or part.results is None:
        yield part.missing.get("score", "")
        return
    protocol = next(each.protocol for each in found.standings if each.corpus == part.corpus)
    own = [each for each in found.standings if (each.corpus, each.protocol) == (part.corpus, protocol)]
    yield from _verdict(found, [each for each in own if each.request == first], protocol, part)
    for subset in ("present", "absent"):
        others = [e for e in own if e.request.subset == subset and e.request.label == first.label]
        if others and first.subset == "all":
            yield _also(found, others)


def _verdict(found: Comparison, own: Sequence[Standing], protocol: str, part: Part) -> Iterator[str]:
    known = sorted((each for each in own if each.value == each.value), key=lambda each: each.value, reverse=True)
    where = f"on the {counted(part.documents, 'document')} of {said(part.corpus)}, under the protocol {protocol}"
    request = own[0].request
    if not known:
        yield f"{metric_of(request)} is undefined {where}."
        return
    if request.spec.better == "lower":
        known.reverse()
    best, *others = known
    level = percent(found.options.level)
    value = with_interval(best, level)
    if not others:
        yield f"{said(best.system)} has {value} in {metric_of(request)}, {where}."
        return
    yield f"{said(best.system)} is best in {metric_of(request)}: {value}, {where}."
    pair = _pair(found, best, others[0])
    if pair is not None:
        yield _lead(found, pair, best, others)
        could = reach(found, pair)
        if could is not None:
            yield could


def _pair(found: Comparison, one: Standing, other: Standing) -> Pair | None:
    same = (one.corpus, one.protocol, one.request, {one.system, other.system})
    return next((p for p in found.pairs if (p.corpus, p.protocol, p.request, {p.a, p.b}) == same), None)


def _lead(found: Comparison, pair: Pair, best: Standing, others: Sequence[Standing]) -> str:
    """By how much the best is ahead of the next, and how sure that is."""
    options = found.options
    turned = -1 if pair.a != best.system else 1
    low, high = sorted(turned * end for end in pair.interval)
    test = pair.used(options.test)
    p = pair.adjusted.get(test)
    count = f"{len(found.pairs):,} comparison{'' if len(found.pairs) == 1 else 's'}"
    ends = interval_words((low, high))
    facts = f"{percent(options.level)} interval {ends}; " if ends else ""
    facts += f"p {_equals(p_value(p, test in pair.adjusted_at_floor))}, {NAMES[test]}, "
    facts += f"adjusted over {count}, {CORRECTION_NAMES[options.correction]}"
    other = said(pair.b if turned == 1 else pair.a)
    ahead = f"It is {number(abs(pair.difference))} ahead of {other} ({facts})"
    if p is not None and p <= options.alpha:
        return f"{ahead}: a difference that chance hardly explains."
    few = too_few(options.drawn, options.alpha, len(found.pairs) if options.correction == "holm" else 1)
    if few is not None and test in RESAMPLED:
        return f"{ahead}. Whether that is chance is open: {few} (--resamples)."
    alike = [said(each.system) for each in others if set(each.letters) & set(best.letters)] or [other]
    return f"{ahead}: chance may explain it, so {said(best.system)} and {listed(alike)} cannot be told apart here."


def _equals(p: str) -> str:
    return p if p.startswith(("<", "≤")) else f"= {p}"


def _also(found: Comparison, own: Sequence[Standing]) -> str:
    """Who is best on a subset."""
    request = own[0].request
    known = [each for each in own if each.value == each.value]
    if not known:
        return f"{metric_of(request)} is undefined."
    turned = -1 if request.spec.better == "lower" else 1
    best, *others = sorted(known, key=lambda each: -turned * each.value)
    value = with_interval(best)
    if not others:
        return f"{metric_of(request)}: {value}."
    if too_few(found.options.drawn, found.options.alpha, len(found.pairs)) is not None:
        return f"In {metric_of(request)}: {said(best.system)}, {value}."
    alike = [said(each.system) for each in others if set(each.letters) & set(best.letters)]
    tail = f"; {listed(alike)} cannot be told apart from it" if alike else ", and no other is as good"
    return f"In {metric_of(request)}: {said(best.system)}, {value}{tail}."
