"""The ledger of the papers: every entry is classified, and its commands are commands of karat."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path

import click
import msgspec
import pytest

from docs import ledger
from karat.cli import karat as command

ROOT = Path(__file__).parents[1]
PROGRAMS = ("karat", "python", "pytest")


def entries() -> list[tuple[str, ledger.Entry]]:
    return [(name, entry) for name in ledger.NAMES for entry in ledger.load(name).entries]


def leaf(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command of some words, and the words that are its arguments."""
    found: click.Command = command
    while isinstance(found, click.Group):
        name, *words = words
        found = found.commands[name]
    return found, words


@pytest.mark.parametrize("name", ledger.NAMES)
def test_every_place_of_a_paper_is_there_once_with_what_is_said_and_given(name: str) -> None:
    found = ledger.load(name).entries
    assert [at for at, count in Counter(entry.at for entry in found).items() if count > 1] == []
    assert [entry.at for entry in found if not entry.says.strip()] == []
    assert {entry.kind for entry in found} == {"table", "figure", "finding"} - (
        {"figure"} if name == "ngram" else set()
    )


def test_every_command_is_one_with_flags_that_it_has() -> None:
    for name, entry in entries():
        for each in (*entry.commands, *(figure.command for figure in entry.figures if figure.command)):
            program, *words = shlex.split(each)
            assert program in PROGRAMS, (name, entry.at, each)
            if program == "karat":
                found, arguments = leaf(words)
                there = found.get_params(click.Context(found, help_option_names=["-h", "--help"]))
                known = {flag for parameter in there for flag in (*parameter.opts, *parameter.secondary_opts)}
                flags = [word for word in arguments if word.startswith("-") and not word.lstrip("-.").isdigit()]
                assert set(flags) <= known, (name, entry.at, each)


def test_files_of_the_project_that_commands_name_are_there() -> None:
    for name, entry in entries():
        for each in entry.commands:
            for word in shlex.split(each):
                if word.startswith(("tests/", "examples/")):
                    assert (ROOT / word.partition("::")[0]).exists(), (name, entry.at, word)


def test_entries_state_what_their_class_rests_on() -> None:
    with pytest.raises(ValueError, match="tables and figures have a basis, findings have none"):
        ledger.Entry(at="Table 9", kind="table", says="x", needs="y")
    with pytest.raises(ValueError, match="what is impossible states what it needs"):
        ledger.Entry(at="Table 9", kind="table", says="x", basis="none")
    with pytest.raises(ValueError, match="a finding has a figure with a claim, or states what it needs"):
        ledger.Entry(at="F9", kind="finding", says="x", gives="y")
    with pytest.raises(ValueError, match="an entry names the command that its class rests on"):
        ledger.Entry(at="Table 9", kind="table", says="x", basis="paper")
    with pytest.raises(ValueError, match="a figure has a command, a page or cells"):
        ledger.Figure(name="x", command="karat list", page="docs/generators.md")


def figure(**fields: object) -> ledger.Figure:
    return ledger.Figure(name="x", command="karat score", **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("paper", "scale", "value", "same"),
    [(".340", 1, 0.3399, True), (".340", 1, 0.3394, False), ("1,326", 1, 1326, True), ("78.7", 100, 0.7874, True)],
)
def test_a_figure_equals_the_paper_at_the_printed_digits(paper: str, scale: float, value: float, same: bool) -> None:
    assert ledger.equal(figure(paper=paper, scale=scale), ledger.Value(value)) is same


def test_a_table_is_exact_if_every_printed_figure_comes_out() -> None:
    same, other = ledger.Value(0.3399), ledger.Value(0.2883)
    figures = [figure(paper=".340"), figure(paper=".340")]
    table = ledger.Entry(at="Table 9", kind="table", says="x", basis="paper", figures=figures)
    assert ledger.outcome(table, [same, same]) == "exact"
    with pytest.raises(ValueError, match="Table 9: no reason is stated although figures differ: x"):
        ledger.outcome(table, [same, other])
    explained = msgspec.structs.replace(table, reason="another training run")
    assert ledger.outcome(explained, [same, other]) == "explained"
    unexplained = msgspec.structs.replace(table, tried="four protocols")
    assert ledger.outcome(unexplained, [same, other]) == "unexplained"


@pytest.mark.parametrize(
    ("intervals", "verdict"),
    [
        ([(0.1, 0.3)], "confirmed"),
        ([(0.1, 0.3), (-0.1, 0.3)], "confirmed"),
        ([(-0.3, -0.1), (-0.1, 0.3)], "refuted"),
        ([(-0.3, -0.1), (0.1, 0.3)], "undecided"),
        ([(-0.1, 0.3)], "undecided"),
    ],
)
def test_a_verdict_follows_from_the_intervals(intervals: list[tuple[float, float]], verdict: str) -> None:
    finding = ledger.Entry(at="F9", kind="finding", says="x", figures=[figure(claim="> 0")] * len(intervals))
    assert ledger.verdict(finding, [ledger.Value((a + b) / 2, a, b) for a, b in intervals]) == verdict


def test_a_verdict_by_published_figures_alone_says_so() -> None:
    printed = ledger.Figure(name="x", cells=[(2, 1), (3, 1)], claim="= 2")
    finding = ledger.Entry(at="F9", kind="finding", says="x", figures=[printed, figure(claim="> 0")])
    count, effect, open_effect = ledger.Value(2), ledger.Value(0.2, 0.1, 0.3), ledger.Value(0.2, -0.1, 0.5)
    assert ledger.verdict(finding, [count, effect]) == "confirmed"
    assert ledger.verdict(finding, [count, open_effect]) == "confirmed: by the paper's figures"
    assert ledger.verdict(finding, [ledger.Value(1), open_effect]) == "refuted: by the paper's figures"


def test_a_condition_that_does_not_hold_leaves_a_finding_undecided() -> None:
    weak = figure(condition="> .3", otherwise="weak reformulations")
    finding = ledger.Entry(at="F9", kind="finding", says="x", figures=[weak, figure(claim="> 0")])
    effect = ledger.Value(0.2, 0.1, 0.3)
    assert ledger.verdict(finding, [ledger.Value(0.27), effect]) == "undecided: weak reformulations"
    assert ledger.verdict(finding, [ledger.Value(0.45), effect]) == "confirmed"


@pytest.mark.parametrize("name", ledger.NAMES)
def test_every_figure_of_a_command_has_its_value(name: str) -> None:
    keys = [
        ledger.key(entry, figure) for entry in ledger.load(name).entries for figure in entry.figures if figure.command
    ]
    assert sorted(keys) == sorted(ledger.stored(name))


@pytest.mark.parametrize("name", ledger.NAMES)
def test_every_entry_has_a_class(name: str) -> None:
    for entry in ledger.load(name).entries:
        mark = ledger.classify(name, entry).partition(":")[0]
        assert mark in (ledger.VERDICTS if entry.kind == "finding" else ledger.OUTCOMES)


def test_the_ledger_covers_at_least_150_figures() -> None:
    assert sum(len(ledger.stored(name)) for name in ledger.NAMES) >= 150
