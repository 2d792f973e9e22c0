"""Results show themselves in notebooks: as tables in HTML and Markdown in which names stay text; charts as SVG."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

import karat
from karat.output.markup import Grid, Heading, Items, Marked, Part, bold, code, html, markdown
from karat.results.displayed import Displayed
from tests.output.every import CORPUS, DOCUMENTS, NAMES, ONE, TWO, TYPST, every, run

PLAIN = {"div", "p", "strong", "code", "del", "sup", "u", "h3", "h4", "ul", "li"}
TABLE = {"table", "thead", "tbody", "tr", "th", "td"}
STYLE = re.compile(r"text-align: (?:left|right)(?:; padding-left: 2em)?|white-space: normal; overflow-wrap: anywhere")
# What of the nasty names stands in a result, where it is not the corpus.
SHOWN = {
    "Tables": ONE,
    "Consistency": ONE,
    "Human": ONE,
    "Study": ONE,
    "Shown": TYPST,
}


class Reader(HTMLParser):
    """Reads HTML: its tags, which must be closed in their order, its attributes and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


def test_no_result_is_missing_here() -> None:
    assert set(every()) == set(NAMES)
    assert {kind.__name__ for kind in Displayed.__subclasses__() if kind.__module__.startswith("karat.")} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_plain_html_in_which_names_are_text(name: str) -> None:
    found: Any = every()[name]
    reader = read(found._repr_html_())
    assert reader.tags <= PLAIN | TABLE
    assert SHOWN.get(name, CORPUS) in reader.text
    styles = [value for attribute, value in reader.attributes if attribute == "style"]
    assert all(value and STYLE.fullmatch(value) for value in styles)
    assert {attribute for attribute, _ in reader.attributes} <= {"style", "class", "colspan"}


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_markdown_in_which_names_are_text(name: str) -> None:
    found: Any = every()[name]
    shown = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    # Void and structural tags of the reader of Markdown itself, and no others.
    reader = read(shown.render(found._repr_markdown_()).replace("<s>", "<del>").replace("</s>", "</del>"))
    assert reader.tags <= PLAIN | TABLE | {"h1", "h2", "em"}
    assert SHOWN.get(name, CORPUS) in reader.text


@pytest.mark.parametrize("name", NAMES)
def test_every_result_prints_as_its_table(name: str) -> None:
    found: Any = every()[name]
    assert Displayed in type(found).__mro__
    assert f"{found}\n" == karat.render(found)
    assert found._repr_mimebundle_() == {
        "text/plain": str(found),
        "text/html": found._repr_html_(),
        "text/markdown": found._repr_markdown_(),
    }


@pytest.mark.parametrize("name", NAMES)
def test_every_result_has_a_repr_of_one_line_and_a_frame(name: str) -> None:
    found: Any = every()[name]
    assert re.fullmatch(rf"<{name}: .*\b\d+ rows?>", repr(found))
    assert len(found.to_pandas()) == len(found.rows())


def test_a_repr_names_corpus_systems_and_the_number_of_rows() -> None:
    results = karat.score(karat.Corpus.of(DOCUMENTS, "bees"), karat.Run.of(run("one", 0), "one"), metrics=["f1@M"])
    assert repr(results) == "<Results: corpus 'bees'; systems 'one'; 1 row>"


def test_an_unknown_format_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(karat.InputError, match="unknown format of Results 'typts'; did you mean 'typst'"):
        karat.render(every()["Results"], "typts")


def test_parts_are_written_by_their_kind() -> None:
    parts: list[Part] = [
        Heading("a_b"),
        Heading("A card", 2),
        ("1. not a list, .5 ", code("x`y"), Marked("gone", "struck")),
        Items(["- one", "1.5 and -2", (bold("<b>"), " $x$")]),
        Grid("", ["n"], [("all", ["1"]), ("  of it", [(bold("2"), Marked("a", "raised"))])]),
    ]
    assert markdown(parts) == (
        "**a\\_b**\n\n## A card\n\n1\\. not a list, .5 `x'y`~~gone~~\n\n"
        "* \\- one\n* 1.5 and -2\n* **\\<b\\>** \\$x\\$\n\n"
        "|  | n |\n|:--|--:|\n| all | 1 |\n|   of it | **2**a |\n"
    )
    said = html(parts)
    assert "<p><strong>a_b</strong></p>\n<h4>A card</h4>" in said
    assert ">x`y</code><del>gone</del></p>" in said
    assert "<li><strong>&lt;b&gt;</strong> $x$</li>" in said
    assert '<th style="text-align: left; padding-left: 2em">of it</th>' in said
    assert '<td style="text-align: right"><strong>2</strong><sup>a</sup></td>' in said
    assert 'class="karat tex2jax_ignore mathjax_ignore"' in said  # or a notebook would read $x$ as mathematics


def test_a_chart_shows_as_svg_and_one_that_cannot_be_drawn_says_why() -> None:
    [chart] = karat.charts_of(every()["Overlap"], "overlap")
    drawn = chart._repr_svg_()
    assert drawn is not None
    root = ElementTree.fromstring(drawn)
    assert root.tag.endswith("svg")
    assert not any(each.tag.endswith("script") for each in root.iter())
    assert chart._repr_html_() is None
    assert str(chart) == chart.alt
    nothing = karat.Chart("overlap", "Overlap", None, "<b> is missing", "<b> is missing")
    assert nothing._repr_svg_() is None
    assert "&lt;b&gt; is missing" in str(nothing._repr_html_())


def test_a_page_shows_what_is_on_it_and_not_itself() -> None:
    page = karat.report(karat.Corpus.of(DOCUMENTS, CORPUS), run(ONE, 0), run(TWO, 1), resamples=20)
    reader = read(page._repr_html_())
    assert reader.tags <= PLAIN
    assert f"{CORPUS}, 4 documents: {ONE}, {TWO}" in reader.text
    assert 'save("report.html")' in reader.text
    assert len(page._repr_html_()) < 3000
