"""An audit as text: protocols down, systems across, then in words what explains the differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from karat.analyses.audit import Audit, Cause, Values
from karat.output.grids import grid, paragraphs, wrap
from karat.output.markup import Grid, Heading, Items, Part, noted
from karat.output.papers import Printed
from karat.protocol import option_fields
from karat.table import number

EXPERIMENTAL = "* experimental: not yet compared with figures of its script"
WHY = "Why, found by changing one option at a time:"
HOW_MUCH = "How much, one option after the other (rounded):"
VISIBLE = 0.00005  # a change that four printed digits can show


def signed(value: float) -> str:
    """A difference with its sign and four digits.

    >>> signed(0.02657), signed(-0.003), signed(0.0)
    ('+.0266', '-.0030', '.0000')
    """
    text = number(value)
    return f"+{text}" if value >= VISIBLE else text.removeprefix("-") if abs(value) < VISIBLE else text


# ---------------------------------------------------------------------------------------------- words


def heading(audit: Audit) -> str:
    """What the table is of."""
    results = audit.results
    return f"{results.scores[0].corpus}, {len(results.ids):,} documents, {audit.metric}"


def averages(audit: Audit) -> str:
    """Which average the scores are: mostly one, else that of each protocol."""
    found: dict[str, dict[str, None]] = {}
    for score in audit.results.scores:
        found.setdefault(score.request.average or "", {})[score.protocol] = None
    told = [f"{average} under {', '.join(protocols)}" for average, protocols in found.items()]
    return f"Average: {'; '.join(told if len(told) > 1 else found)}."


def rows(audit: Audit) -> list[tuple[str, list[str]]]:
    """(protocol, its cells), and the spread."""
    marked = [f"{protocol}*" if protocol.experimental else str(protocol) for protocol in audit.protocols]
    found = [(name, list(map(number, audit.values[str(p)]))) for name, p in zip(marked, audit.protocols, strict=True)]
    return [*found, ("spread", [number(spread.high - spread.low) for spread in audit.spreads()])]


def findings(audit: Audit) -> Iterator[str]:
    """How far each system's scores are apart, and whether the ranking depends on the protocol."""
    if len(audit.protocols) < 2:
        return
    for spread in audit.spreads():
        low, high = number(spread.low), number(spread.high)
        if low == high:
            yield f"{spread.system}: {low} under every protocol{'' if spread.low == spread.low else ' (undefined)'}."
        else:
            yield f"{spread.system}: from {low} ({spread.lowest}) to {high} ({spread.highest})."
    if len(audit.systems) > 1:
        yield from _rankings(audit)


def _rankings(audit: Audit) -> Iterator[str]:
    found = audit.rankings()
    orders = {order: " > ".join(" = ".join(equals) for equals in order) for order in found}
    ranked = sum(map(len, found.values()))
    if len(found) == 1:
        some = f"all {ranked}" if ranked == len(audit.protocols) else f"the {ranked}"
        where = "" if ranked == len(audit.protocols) else " under which they are defined"
        yield f"The ranking is the same under {some} protocols{where}: {next(iter(orders.values()))}."
    elif found:
        yield "The ranking changes with the protocol:"
        for order, protocols in found.items():
            yield f"  {orders[order]} under {', '.join(protocols)}."


def reasons(audit: Audit) -> Iterator[str]:
    """In words, for each option or two that explain most of a difference, whose difference and what they say."""
    groups: dict[tuple[str, str, tuple[Told, ...]], list[str]] = {}
    same: dict[str, list[str]] = {}
    for cause in (*audit.causes, *audit.extremes):
        told = {
            system: _told(cause, i) for i, system in enumerate(audit.systems) if _visible(cause.differences[i : i + 1])
        }
        alike = len(set(told.values())) == 1
        for system, options in told.items():
            whose = groups.setdefault((cause.against, "" if alike else f" for {system}", options), [])
            if cause.protocol not in whose:
                whose.append(cause.protocol)
        if not told:
            cancel = any(_visible(step.changes) for step in cause.steps)
            same.setdefault(", its options cancelling out" if cancel else "", []).append(cause.protocol)
    for (against, system, options), protocols in groups.items():
        yield f"{', '.join(protocols)} against {against}{system}: {_sentence(against, options)}"
    for how, alike_ones in same.items():
        yield f"{', '.join(alike_ones)}: as {audit.protocols[0]} to four digits{how}."


Told = tuple[str, str, str, bool]  # an option, its value before and after, whether it is most of the difference


def _told(cause: Cause, system: int) -> tuple[Told, ...]:
    """The option that is at least half of a system's difference, or the two that are the most of it."""
    difference = cause.differences[system]
    with_it = [s for s in cause.steps if s.changes[system] != s.changes[system] or s.changes[system] * difference > 0]
    heaviest = sorted(with_it, key=lambda step: -abs(step.changes[system]))[:2]
    most = bool(heaviest) and not abs(heaviest[0].changes[system]) < abs(difference) / 2
    return tuple((s.option, s.before, s.after, most) for s in heaviest[: 1 if most else 2])


def _sentence(against: str, options: Sequence[Told]) -> str:
    """Which options it is, and what each says."""
    if not options:
        return "many small changes."
    names = " and ".join(option for option, _, _, _ in options)
    first = f"mostly the option {names}." if options[0][3] else f"above all the options {names}."
    return " ".join([first, *(_meaning(against, *told[:3]) for told in options)])


def _meaning(against: str, option: str, before: str, after: str) -> str:
    metadata = option_fields()[option][1].metadata
    values, summary = metadata["values"], metadata["summary"]
    return f"{summary[:1].upper()}{summary[1:]}: {values.get(after, after)}; {against}: {values.get(before, before)}."


def effects(audit: Audit) -> Iterator[tuple[str, list[str]]]:
    """(protocols, their differences), then (option, what it changes) for each that shows; equal ones together."""
    groups: dict[tuple[object, ...], list[Cause]] = {}
    for cause in (*audit.causes, *audit.extremes):
        groups.setdefault((cause.against, *_shown(cause)), []).append(cause)
    for causes in groups.values():
        steps = [step for step in causes[0].steps if _visible(step.changes)]
        if steps:
            against = "" if causes[0] in audit.causes else f" against {causes[0].against}"
            yield ", ".join(cause.protocol for cause in causes) + against, list(map(signed, causes[0].differences))
            yield from ((f"  {step.option}={step.after}", list(map(signed, step.changes))) for step in steps)


def _shown(cause: Cause) -> tuple[object, ...]:
    steps = ((step.option, step.after, *map(signed, step.changes)) for step in cause.steps if _visible(step.changes))
    return (*map(signed, cause.differences), *steps)


def _visible(changes: Values) -> bool:
    return any(abs(change) >= VISIBLE or change != change for change in changes)


# ---------------------------------------------------------------------------------------------- formats


def terminal(audit: Audit) -> str:
    """The tables and the reasons, at most 80 columns wide; systems that do not fit go on below."""
    parts = ["\n".join(wrap(heading(audit), "  ")), *grid("protocol", audit.systems, rows(audit))]
    if any(protocol.experimental for protocol in audit.protocols):
        parts[-1] += f"\n{EXPERIMENTAL}"
    parts += filter(None, [paragraphs(findings(audit))])
    found = list(effects(audit))
    if audit.causes:
        parts.append(f"{WHY}\n{paragraphs(reasons(audit))}")
    if found:
        parts += [HOW_MUCH, *grid(f"against {audit.protocols[0]}", audit.systems, found)]
    if audit.notes:
        parts.append(paragraphs(f"note: {note}" for note in audit.notes))
    return "\n\n".join(parts) + "\n"


def parts(audit: Audit) -> Iterator[Part]:
    """Tables and lists of reasons."""
    yield Heading(heading(audit))
    yield Grid("protocol", audit.systems, rows(audit))
    yield averages(audit)
    if any(protocol.experimental for protocol in audit.protocols):
        yield EXPERIMENTAL
    if said := [text.strip() for text in findings(audit)]:
        yield Items(said)
    if audit.causes:
        yield WHY
        yield Items(list(reasons(audit)))
    if found := [(name.replace("  ", "– "), cells) for name, cells in effects(audit)]:
        yield HOW_MUCH
        yield Grid(f"against {audit.protocols[0]}", audit.systems, found)
    yield from noted(audit.notes)


def printed(audit: Audit) -> Iterator[Printed]:
    """A table, protocols down."""
    mark = f" {EXPERIMENTAL}." if any(protocol.experimental for protocol in audit.protocols) else ""
    *body, spread = rows(audit)
    caption = f"{heading(audit)} under each protocol. {averages(audit)}{mark}"
    yield Printed(caption, ["protocol", *audit.systems], [body, [spread]])
