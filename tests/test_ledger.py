"""The ledger of the papers: every entry is classified, and its commands are commands of karat."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path

import click
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
    assert [entry.at for entry in found if not entry.says.strip() or not entry.gives.strip()] == []
    assert {entry.kind for entry in found} == {"table", "figure", "finding"} - (
        {"figure"} if name == "ngram" else set()
    )


def test_every_command_is_one_with_flags_that_it_has() -> None:
    for name, entry in entries():
        for each in (*entry.commands, *(figure.command for figure in entry.measured)):
            program, *words = shlex.split(each)
            assert program in PROGRAMS, (name, entry.at, each)
            if program == "karat":
                found, arguments = leaf(words)
                there = found.get_params(click.Context(found))
                known = {flag for parameter in there for flag in (*parameter.opts, *parameter.secondary_opts)}
                flags = [word for word in arguments if word.startswith("-") and not word.lstrip("-.").isdigit()]
                assert set(flags) <= known, (name, entry.at, each)


def test_files_of_the_project_that_commands_name_are_there() -> None:
    for name, entry in entries():
        for each in entry.commands:
            for word in shlex.split(each):
                if word.startswith(("tests/", "examples/")):
                    assert (ROOT / word.partition("::")[0]).exists(), (name, entry.at, word)


def test_an_entry_without_a_class_is_refused() -> None:
    with pytest.raises(ValueError, match="a finding has a verdict, tables and figures have an outcome"):
        ledger.Entry(at="Table 9", kind="table", says="x", gives="y", verdict="confirmed")


def test_every_measured_figure_has_its_number() -> None:
    assert sorted(key for key, _ in ledger.measured()) == sorted(ledger.figures())
