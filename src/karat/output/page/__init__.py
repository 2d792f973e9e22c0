"""A report as one HTML page that opens from disk and asks nothing of a network."""

from __future__ import annotations

from collections.abc import Iterator

from karat.analyses.report.result import Page
from karat.output.markup import Heading, Items, Part, code, html, markdown, noted


def summary(page: Page) -> Iterator[Part]:
    """What is on a page, for a terminal or a notebook."""
    yield Heading(page.title)
    yield Items([f"{each.corpus}, {each.documents:,} documents: {', '.join(each.systems)}" for each in page.parts])
    yield "Write it with ", code('save("report.html")'), ": one file that opens in any browser."
    yield from noted(page.notes)


def _whole(page: Page) -> str:
    from karat.output.page.rendering import render

    return render(page)


FORMATS = {
    "md": lambda page: markdown(summary(page)),
    "html": lambda page: html(summary(page)),
    "page": _whole,
}
