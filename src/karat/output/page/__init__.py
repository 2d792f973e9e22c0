"""A report as one HTML page that opens from disk and asks nothing of a network."""

from __future__ import annotations

from collections.abc import Iterator

from karat.analyses.report.result import Page
from karat.output.markup import Heading, Items, Part, code, noted


def summary(page: Page) -> Iterator[Part]:
    """What is on a page, for a terminal or a notebook."""
    yield Heading(page.title)
    yield Items([f"{each.corpus}, {each.documents:,} documents: {', '.join(each.systems)}" for each in page.parts])
    yield "Write it with ", code('save("report.html")'), ": one file that opens in any browser."
    yield from noted(page.notes)
