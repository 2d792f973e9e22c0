"""An audit as text: protocols down, systems across, then in words what explains the differences."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from karat.auditing import Audit, Cause, Values
from karat.protocol import option_fields
from karat.report.tables import WIDTH, line, md, number, short, tex, wrap

EXPERIMENTAL = "* experimental: not yet compared with figures of its script"
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


def rows(audit: Audit) -> list[tuple[str, list[str]]]:
    """(protocol, its cells), and the spread."""
    marked = [f"{protocol}*" if protocol.experimental else str(protocol) for protocol in audit.protocols]
    found = [(name, list(map(number, audit.values[str(p)]))) for name, p in zip(marked, audit.protocols, strict=True)]
    return [*found, ("spread", [number(spread.high - spread.low) for spread in audit.spreads()])]


def findings(audit: Audit) -> Iterator[str]:
    """How far each system's scores are apart, and whether the ranking depends on the protocol."""
    for spread in audit.spreads():
        low, high = f"{number(spread.low)} ({spread.lowest})", f"{number(spread.high)} ({spread.highest})"
        yield f"{spread.system}: from {low} to {high}."
    if len(audit.systems) > 1:
        yield from _rankings(audit)


def _rankings(audit: Audit) -> Iterator[str]:
    found = audit.rankings()
    orders = {order: " > ".join(" = ".join(equals) for equals in order) for order in found}
    if len(found) == 1:
        yield f"The ranking is the same under all {len(audit.protocols)} protocols: {next(iter(orders.values()))}."
        return
    yield "The ranking changes with the protocol:"
    for order, protocols in found.items():
        yield f"  {orders[order]} under {', '.join(protocols)}."


def reasons(audit: Audit) -> Iterator[str]:
    """In words, for each option that matters most to some protocols, what it does to them."""
    groups: dict[tuple[str, str, str], list[Cause]] = {}
    for cause in (*audit.causes, *audit.extremes):
        heaviest = max(cause.steps, key=lambda step: max(map(abs, step.changes)), default=None)
        if heaviest is not None and _visible(heaviest.changes):
            groups.setdefault((cause.against, heaviest.option, heaviest.after), []).append(cause)
    for (against, option, after), causes in groups.items():
        names, before = ", ".join(cause.protocol for cause in causes), _before(option, causes[0])
        meaning = option_fields()[option][1].metadata
        yield (
            f"{names} against {against}: mostly the option {option}. {meaning['summary'].capitalize()}: "
            f"{meaning['values'].get(after, after)}; {against}: {meaning['values'].get(before, before)}."
        )
    same = [cause.protocol for cause in audit.causes if not any(_visible(step.changes) for step in cause.steps)]
    if same:
        yield f"{', '.join(same)}: as {audit.protocols[0]}, to four digits."


def _before(option: str, cause: Cause) -> str:
    return next(step.before for step in cause.steps if step.option == option)


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
    return tuple((step.option, *map(signed, step.changes)) for step in cause.steps if _visible(step.changes))


def _visible(changes: Values) -> bool:
    return any(abs(change) >= VISIBLE or change != change for change in changes)


# ---------------------------------------------------------------------------------------------- formats


def terminal(audit: Audit) -> str:
    """The tables and the reasons, at most 80 columns wide; systems that do not fit go on below."""
    parts = ["\n".join(wrap(heading(audit), "  ")), *_grid("protocol", audit.systems, rows(audit))]
    if any(protocol.experimental for protocol in audit.protocols):
        parts[-1] += f"\n{EXPERIMENTAL}"
    parts.append(_paragraphs(findings(audit)))
    if audit.causes:
        parts.append("Why, found by changing one option at a time:\n" + _paragraphs(reasons(audit)))
        against = f"against {audit.protocols[0]}"
        parts += [
            f"How much, option by option:\n\n{block}" for block in _grid(against, audit.systems, list(effects(audit)))
        ]
    if audit.notes:
        parts.append(_paragraphs(f"note: {note}" for note in audit.notes))
    return "\n\n".join(parts) + "\n"


def _paragraphs(texts: Iterable[str]) -> str:
    return "\n".join(part for text in texts for part in wrap(text, "    " if text.startswith(" ") else "  "))


def _grid(corner: str, systems: Sequence[str], found: Sequence[tuple[str, list[str]]]) -> Iterator[str]:
    """A table with a column a system, as many at a time as fit; long names have lines of their own."""
    names = [short(system, 20) for system in systems]
    widths = [max(6, len(name)) for name in names]
    name_width = min(max((len(name) for name, _ in found), default=0), 40)
    start = 0
    while start < len(names):
        stop = start + 1
        while stop < len(names) and name_width + sum(2 + width for width in widths[start : stop + 1]) <= WIDTH:
            stop += 1
        part = slice(start, stop)
        block = [line(corner, names[part], name_width, widths[part])]
        for name, cells in found:
            *above, last = wrapped_name(name, name_width)
            block += [*above, line(last, cells[part], name_width, widths[part])]
        yield "\n".join(block)
        start = stop


def wrapped_name(name: str, width: int) -> list[str]:
    """A list of names in lines of a width, broken after commas followed by a space, else anywhere."""
    return textwrap.wrap(name, width, subsequent_indent="", break_on_hyphens=False) if len(name) > width else [name]


def markdown(audit: Audit) -> str:
    """Pipe tables and lists of reasons."""
    parts = [f"**{md(heading(audit))}**", _pipes("protocol", audit.systems, rows(audit))]
    if any(protocol.experimental for protocol in audit.protocols):
        parts.append(md(EXPERIMENTAL))
    parts.append("\n".join(f"* {md(said.strip())}" for said in findings(audit)))
    if audit.causes:
        parts.append("Why, found by changing one option at a time:")
        parts.append("\n".join(f"* {md(said)}" for said in reasons(audit)))
        found = [(name.replace("  ", "– "), cells) for name, cells in effects(audit)]
        parts.append(_pipes(f"against {audit.protocols[0]}", audit.systems, found))
    parts += [f"Note: {md(note)}" for note in audit.notes]
    return "\n\n".join(parts) + "\n"


def _pipes(corner: str, systems: Sequence[str], found: Sequence[tuple[str, list[str]]]) -> str:
    lines = [
        "| " + " | ".join(map(md, [corner, *systems])) + " |",
        "|:--" + "|--:" * len(systems) + "|",
        *("| " + " | ".join([md(name), *cells]) + " |" for name, cells in found),
    ]
    return "\n".join(lines)


def latex(audit: Audit) -> str:
    """A booktabs table, protocols down."""
    *body, spread = [" & ".join(map(tex, [name, *cells])) + r" \\" for name, cells in rows(audit)]
    mark = f" {EXPERIMENTAL}." if any(protocol.experimental for protocol in audit.protocols) else ""
    lines = [
        "% needs \\usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{tex(heading(audit) + ' under each protocol.' + mark)}}}",
        rf"\begin{{tabular}}{{l{'r' * len(audit.systems)}}}",
        r"\toprule",
        " & ".join(map(tex, ["protocol", *audit.systems])) + r" \\",
        r"\midrule",
        *body,
        r"\midrule",
        spread,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"
