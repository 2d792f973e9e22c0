"""Tables as every writer shows them: on terminals of any width, in Markdown, HTML, LaTeX and Typst."""

from __future__ import annotations

import re

import pytest

from karat.output.markup import html, markdown, parts_of
from karat.output.papers import latex, pieces_of, typst
from karat.output.terminal import terminal, wrap
from karat.tabular import (
    COUNT,
    P_APPROXIMATE,
    TEXT,
    Cell,
    Column,
    Group,
    Kind,
    Marked,
    Row,
    Table,
    number,
    rows_of,
    size,
)

SCORES = Table(
    "corpus, 400 documents",
    "system",
    [Column(f"f1@{k}", above=subset) for subset in ("present", "absent") for k in (5, "M")],
    rows_of([("alpha", [0.25, 0.5, 1.0, float("nan")]), ("蜂蜜", [Cell(0.75, " a", "bold", "*"), None, 0.0, -0.5])]),
    notes=["average: micro"],
)
DIFFERENCES = Table(
    corner="a − b",
    columns=[Column("p", P_APPROXIMATE), Column("documents", COUNT, below="needed"), Column("words", TEXT)],
    groups=[
        Group([Row("one − two", [(0.0001, True), 1234, "to the left"])], "f1@M", [None, 5678, None]),
        Group([Row("one − three", [(1e-9, False), None, "as well"])], "p@M"),
    ],
    items=["an item"],
)


def shown(table: Table, width: int) -> list[str]:
    return terminal([table], width=width).splitlines()


def test_heads_stand_above_their_columns_and_names_take_the_room_they_take() -> None:
    lines = [
        "corpus, 400 documents",
        "",
        "        present          absent",
        "system      f1@5   f1@M    f1@5    f1@M",
        "alpha      .2500  .5000  1.0000       –",
        "蜂蜜    .7500* a          .0000  -.5000",
        "",
        "average: micro",
    ]
    assert shown(SCORES, 80) == shown(SCORES, 160) == lines


def test_a_wide_terminal_shows_in_one_block_what_a_narrow_one_shows_in_several() -> None:
    columns = [Column(f"metric {n}", above="present" if n < 6 else "absent") for n in range(12)]
    table = Table("", "system", columns, rows_of([("a", [n / 100 for n in range(12)])]))
    assert [len(shown(table, width)) for width in (160, 80, 40)] == [3, 7, 15]
    assert shown(table, 40)[:3] == [
        "        present",
        "system  metric 0  metric 1  metric 2",
        "a          .0000     .0100     .0200",
    ]
    assert shown(table, 40)[4] == "        present"


def test_columns_below_one_corpus_stay_together() -> None:
    kind = Kind(number, hang=True)
    columns = [
        Column(name, kind, above=(corpus, "present")) for corpus in ("bees", "ants") for name in ("f1@5", "f1@M")
    ]
    cells = [Cell(0.5, (Marked("†", "raised"),), "bold", "*"), 0.25, 0.75, None]
    table = Table("", "system", columns, rows_of([("a", cells), ("b", [0.1] * 4)]))
    assert shown(table, 60) == [
        "        bees            ants",
        "        present         present",
        "system     f1@5   f1@M   f1@5   f1@M",
        "a       .5000*†  .2500  .7500",
        "b       .1000    .1000  .1000  .1000",
    ]
    # Three columns would fit; the third one goes with its own corpus.
    assert shown(table, 32) == [
        "        bees",
        "        present",
        "system     f1@5   f1@M",
        "a       .5000*†  .2500",
        "b       .1000    .1000",
        "",
        "        ants",
        "        present",
        "system   f1@5   f1@M",
        "a       .7500",
        "b       .1000  .1000",
    ]


@pytest.mark.parametrize("width", [160, 80, 40])
@pytest.mark.parametrize("table", [SCORES, DIFFERENCES])
def test_no_line_is_wider_than_the_terminal(table: Table, width: int) -> None:
    long = Table(
        "a title that is longer than forty columns by far, and so is wrapped",
        "what stands above",
        [Column("a head of many words that takes several lines"), Column("words", TEXT, above="above " * 9)],
        [Group([Row("name " * 20 + "蜂" * 30, [0.5, "word " * 30])], "g" * 100)],
        notes=["note " * 30],
    )
    assert [line for line in [*shown(table, width), *shown(long, width)] if size(line) > width] == []


def test_names_of_groups_have_cells_and_rows_are_indented() -> None:
    assert shown(DIFFERENCES, 80) == [
        "a − b                p  documents  words",
        "                           needed",
        "f1@M                        5,678",
        "  one − two    ≈ .0001      1,234  to the left",
        "p@M",
        "  one − three   <.0001             as well",
        "",
        "an item",
    ]


def test_long_names_are_wrapped_where_that_lets_all_columns_stand_beside_each_other() -> None:
    columns = [Column(f"metric {n}") for n in range(5)]
    table = Table("", "systems", columns, rows_of([("synthetic.alpha and synthetic.beta", [0.5] * 5)]))
    assert shown(table, 80) == [
        "systems              metric 0  metric 1  metric 2  metric 3  metric 4",
        "synthetic.alpha and",
        "synthetic.beta          .5000     .5000     .5000     .5000     .5000",
    ]


def test_a_name_without_cells_takes_the_whole_line() -> None:
    group = Group([Row("1", ["dances", 0.5])], "b1: a title that is longer than the columns")
    assert shown(Table("", "document", [Column("keyphrase", TEXT), Column("score")], [group]), 30) == [
        "document  keyphrase  score",
        "b1: a title that is longer",
        "than the columns",
        "  1       dances     .5000",
    ]


def test_words_are_wrapped_sooner_where_that_lets_all_columns_stand_beside_each_other() -> None:
    columns, cells = [Column(name, TEXT) for name in "ab"], ["word " * 7 + "word", "other"]
    table = Table("", "", columns, rows_of([("1", cells)]))
    assert shown(table, 80) == [f"   a{' ' * 40}b", f"1  {'word ' * 7}word  other"]
    assert shown(table, 40) == [
        "   a                              b",
        "1  word word word word word word  other",
        "   word word",
    ]


def test_marks_stand_around_a_text_where_there_are_no_styles() -> None:
    table = Table(about=[("of ", Marked("bees", "bold", "»", "«"))])
    assert terminal([table]) == "of «bees»\n"
    assert markdown(parts_of([table])) == "of **bees**\n"


def test_texts_without_a_table_stand_together_and_notes_apart() -> None:
    table = Table("Why:", items=["one", "  two " + "three " * 5])
    assert terminal([table], ["a note", "warning: w"], width=20) == (
        "Why:\none\n  two three three\n    three three\n    three\n\nnote: a note\nwarning: w\n"
    )


def test_control_characters_of_files_do_not_reach_the_terminal() -> None:
    table = Table("a\x1b[2Jb", "c\nd", [Column("e\u202ef")], rows_of([("g\rh", [0.5])]), notes=["i\x07"])
    assert not re.search(r"[^\n -~–.�]", terminal([table]))
    assert "e�f" in terminal([table])


@pytest.mark.parametrize("width", [160, 80, 40, 12])
def test_nothing_is_dropped_in_any_format(width: int) -> None:
    tables, notes = [SCORES, DIFFERENCES], ["noted"]
    texts = {
        "terminal": terminal(tables, notes, width),
        "md": markdown(parts_of(tables, notes)),
        "html": html(parts_of(tables, notes)),
        "latex": latex(pieces_of(tables, notes)),
        "typst": typst(pieces_of(tables, notes)),
    }
    values = (
        ".2500 .5000 1.0000 .7500 .0000 -.5000 .0001 1,234 5,678 left present absent f1@5 needed average micro item"
    )
    for name, text in texts.items():
        joined = "".join(text.split())
        for value in [*values.split(), "alpha", "蜂蜜", "a−b", "noted", "words", "400"]:
            assert value in joined.replace("$-$", "−"), (name, value)


def test_marks_stand_where_there_are_no_styles() -> None:
    table = Table("", "s", [Column("v")], rows_of([("a", [Cell(0.5, (" ", Marked("b", "raised")), "bold", "*")])]))
    assert ".5000* b" in terminal([table])
    assert "**.5000** b" in markdown(parts_of([table]))
    assert "<strong>.5000</strong> <sup>b</sup>" in html(parts_of([table]))
    assert r"\textbf{.5000} \textsuperscript{b}" in latex(pieces_of([table]))
    assert 'strong(".5000") + " " + super("b")' in typst(pieces_of([table]))


def test_a_caption_says_title_texts_and_notes_unless_it_is_given() -> None:
    assert r"\caption{corpus, 400 documents. average: micro.}" in latex(pieces_of([SCORES]))
    assert 'caption: "corpus, 400 documents. average: micro."' in typst(pieces_of([SCORES]))
    given = Table("t", "", [Column("v")], caption="Given.")
    assert r"\caption{Given.}" in latex(pieces_of([given]))


def test_words_longer_than_a_line_are_broken_and_wide_letters_counted() -> None:
    assert wrap("蜂蜜蜂蜜 a", 5) == ["蜂蜜", "蜂蜜", "a"]
    assert wrap("ab cdefghij", 4) == ["ab c", "defg", "hij"]
    assert wrap("", 4) == []


def test_bars_in_code_do_not_end_a_cell_of_markdown_and_are_rules_in_latex() -> None:
    bars = Table("", "bin", [Column("bar", TEXT)], rows_of([("a|b", [Cell("██|", style="code")])]))
    assert r"| a\|b | `██\|` |" in markdown(parts_of([bars]))
    assert r"\texttt{\rule{1em}{1.5ex}\textbar{}}" in latex(pieces_of([bars]))


def test_titles_are_headings_where_the_tables_are_a_document() -> None:
    card = [Table("Corpus", level=1), Table("Phrases", level=2), Table("bold")]
    assert markdown(parts_of(card)) == "# Corpus\n\n## Phrases\n\n**bold**\n"
    assert terminal(card) == "Corpus\n\nPhrases\n\nbold\n"
