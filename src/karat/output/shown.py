"""A document as text: its title and text with the present references marked, then who predicts what, side by side."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from karat.analyses.show import Kind, Predicted, Shown, Wanted
from karat.output.grids import WIDTH, paragraphs, wrap
from karat.output.markup import Grid, Heading, Marked, Part, Words, bold, noted
from karat.text.places import Span

KINDS: tuple[Kind, ...] = ("present", "absent")
AT_ONCE = 3  # columns that stand side by side
GAP = 2
FOUND, DROPPED, OTHER = "+ ", "- ", "  "


def heading(shown: Shown) -> str:
    """What is shown."""
    return f"{shown.corpus}, document {_plain(shown.id)}, protocol {shown.protocol}"


def _plain(text: str) -> str:
    """A text on one line, without what could move a terminal's cursor."""
    return "".join(letter if letter.isprintable() else "�" for letter in " ".join(text.split()))


def _cut(text: str, marks: Sequence[Span]) -> Iterator[tuple[str, bool]]:
    """The pieces of a text, and whether each is marked."""
    at = 0
    for start, end in marks:
        yield text[at:start], False
        yield text[start:end], True
        at = end
    yield text[at:], False


def _variants(reference: Wanted) -> str:
    return " / ".join(map(_plain, reference.phrases))


# ---------------------------------------------------------------------------------------------- terminal


def terminal(shown: Shown) -> str:
    """Everything at most 80 columns wide."""
    parts = ["\n".join(wrap(heading(shown), "  "))]
    for text, marks in ((shown.title, shown.title_marks), (shown.text, shown.text_marks)):
        if text:
            marked = "".join(f"«{piece}»" if inside else piece for piece, inside in _cut(text, marks))
            parts.append("\n".join(textwrap.wrap(_plain(marked), WIDTH, break_on_hyphens=False)))
    for kind in KINDS:
        columns = [("references", [_reference(each) for each in shown.references if each.subset == kind])]
        for system in shown.systems:
            own = [each for each in shown.predictions if (each.system, each.subset) == (system, kind)]
            columns.append((_plain(system), [_prediction(each) for each in own]))
        parts += [f"{kind}\n{block}" for block in _blocks(columns)]
    parts.append(paragraphs(_legend(shown)))
    if shown.notes:
        parts.append(paragraphs(f"note: {note}" for note in shown.notes))
    return "\n\n".join("\n".join(text.rstrip() for text in part.splitlines()) for part in parts) + "\n"


def _reference(each: Wanted) -> str:
    return (FOUND if each.found_by else OTHER) + _variants(each)


def _prediction(each: Predicted) -> str:
    return (DROPPED if each.dropped else FOUND if each.hit else OTHER) + _plain(each.phrase)


def _legend(shown: Shown) -> Iterator[str]:
    dropped = "; - a prediction that the protocol drops" if any(each.dropped for each in shown.predictions) else ""
    yield f"«» a present reference; + a prediction that is a reference, and a reference that is found{dropped}"


def _blocks(columns: Sequence[tuple[str, list[str]]]) -> Iterator[str]:
    """The columns side by side, the first one in every block."""
    first, *others = columns
    for start in range(0, max(len(others), 1), AT_ONCE - 1):
        block = [first, *others[start : start + AT_ONCE - 1]]
        width = (WIDTH - GAP * (len(block) - 1)) // len(block)
        cells = [[*_folded(f"  {name}", width), *_entries(entries, width)] for name, entries in block]
        rows = zip_longest(*cells, fillvalue="")
        yield "\n".join((" " * GAP).join(f"{cell:<{width}}" for cell in row) for row in rows)


def _entries(entries: Sequence[str], width: int) -> Iterator[str]:
    for entry in entries or ["  –"]:
        yield from _folded(entry, width)


def _folded(entry: str, width: int) -> list[str]:
    """An entry in lines of a width: its mark, then the text, what goes on being indented."""
    return textwrap.wrap(
        entry[2:], width, initial_indent=entry[:2], subsequent_indent="    ", break_on_hyphens=False
    ) or [entry[:2]]


# ---------------------------------------------------------------------------------------------- other formats


def parts(shown: Shown) -> Iterator[Part]:
    """A table with the references and each system down, present and absent across; hits are bold."""
    yield Heading(heading(shown))
    for text, marks in ((shown.title, shown.title_marks), (shown.text, shown.text_marks)):
        if text:
            yield tuple(bold(_kept(p)) if inside else _kept(p) for p, inside in _cut(text, marks))
    rows = [("references", [(each.subset, _bold(_variants(each), bool(each.found_by))) for each in shown.references])]
    for system in shown.systems:
        own = [(each.subset, _phrase(each)) for each in shown.predictions if each.system == system]
        rows.append((_plain(system), own))
    yield Grid("", KINDS, [_line(*row) for row in rows], wordy=True)
    yield "Bold: references in the text, and predictions that are references."
    yield from noted(shown.notes)


def _kept(piece: str) -> str:
    """A piece of a text with its outer spaces, which part it from the marks beside it."""
    inner = _plain(piece)
    return (" " if piece[:1].isspace() else "") + inner + (" " if inner and piece[-1:].isspace() else "")


def _bold(text: str, found: bool) -> str | Marked:
    return bold(text) if found else text


def _phrase(each: Predicted) -> str | Marked:
    return Marked(_plain(each.phrase), "struck") if each.dropped else _bold(_plain(each.phrase), each.hit)


def _line(name: str, phrases: Sequence[tuple[Kind, str | Marked]]) -> tuple[str, list[Words]]:
    return name, [_together([phrase for of, phrase in phrases if of == kind]) for kind in KINDS]


def _together(phrases: Sequence[str | Marked]) -> Words:
    parted = [piece for phrase in phrases for piece in ("; ", phrase)]
    return tuple(parted[1:]) or "–"
