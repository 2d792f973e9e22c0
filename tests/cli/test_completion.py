"""What the shell offers after a tab."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import CompletionItem

from karat.cli import completion
from karat.cli import karat as command
from karat.formats import FORMATS
from karat.protocol import PRESETS
from karat.text.languages import LANGUAGES

ROOT = Path(__file__).parents[2]
PROGRAM = [sys.executable, "-c", "from karat.cli import main; main()"]
CONTEXT = click.Context(command)
PARAMETER = click.Option(["--any"])


def karat(**environment: str) -> str:
    """What the real command answers a shell."""
    done = subprocess.run(
        PROGRAM,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")} | environment,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout


def values(items: list[CompletionItem]) -> list[str]:
    return [item.value for item in items]


def offered(function: object, incomplete: str) -> list[str]:
    assert callable(function)
    return values(function(CONTEXT, PARAMETER, incomplete))


# ---------------------------------------------------------------------------------------------- the functions


def test_protocols_complete_by_name() -> None:
    assert offered(completion.protocols, "") == list(PRESETS)
    assert offered(completion.protocols, "ch") == ["chan2019", "chen2020"]
    [item] = completion.protocols(CONTEXT, PARAMETER, "chan")
    assert item.help == PRESETS["chan2019"].summary


def test_after_a_comma_come_the_values_that_would_change_the_protocol() -> None:
    assert offered(completion.protocols, "chan2019,pa") == ["chan2019,pad=none", "chan2019,pad=absent-10"]
    assert offered(completion.protocols, "karat,pad=none,emp") == ["karat,pad=none,empty=zero"]
    assert offered(completion.protocols, "karat,pad=k,pad=") == []
    assert offered(completion.protocols, "nobody,pa") == []
    for text in offered(completion.protocols, "chan2019,"):
        assert str(PRESETS["chan2019"]) != text


def test_languages_are_offered_once_a_stemmer_is_asked_for() -> None:
    assert offered(completion.protocols, "karat,stem") == ["karat,stemmer=none"]
    assert offered(completion.protocols, "karat,stemmer=fr") == ["karat,stemmer=french"]
    assert offered(completion.languages, "") == list(LANGUAGES)
    assert offered(completion.languages, "ger") == ["german"]


def test_every_offer_of_protocols_and_metrics_can_stand_as_it_is() -> None:
    from karat.metrics.base import parse_request
    from karat.protocol import parse_protocol

    for text in offered(completion.protocols, "") + offered(completion.protocols, "meng2017,"):
        parse_protocol(text)
    for begun in ("", "f1@5:", "p@M/", "map@", "alpha_ndcg,"):
        for text in offered(completion.metrics, begun):
            parse_request(text)


def test_metrics_complete_by_name_with_a_cutoff_where_one_is_needed() -> None:
    assert offered(completion.metrics, "f1") == ["f1@5", "f1@10", "f1@M", "f1@O", "f1@G", "f1@V"]
    assert offered(completion.metrics, "m") == ["map", "mrr", "mce", "miss_rate"]
    assert offered(completion.metrics, "map@1") == ["map@10"]
    assert offered(completion.metrics, "count_mae@") == []


def test_a_metric_goes_on_with_subsets_averages_and_options() -> None:
    assert offered(completion.metrics, "f1@5:pre") == ["f1@5:present"]
    assert offered(completion.metrics, "map:") == [f"map:{subset}" for subset in ("all", "present", "absent", *"PRMU")]
    assert offered(completion.metrics, "f1@5:present/m") == ["f1@5:present/mean-of-f", "f1@5:present/micro"]
    assert offered(completion.metrics, "alpha_ndcg@5:absent,") == ["alpha_ndcg@5:absent,alpha=0.5"]
    assert offered(completion.metrics, "nothing:") == []


def test_formats_complete_by_name() -> None:
    assert offered(completion.formats, "") == list(FORMATS)
    assert offered(completion.formats, "kar") == ["karat"]
    assert offered(completion.formats, "corpus:kar") == ["corpus:karat"]
    assert offered(completion.formats, "nothing:kar") == []


def test_what_is_listed_completes_by_its_kind() -> None:
    for what, begun, found in (
        ("protocols", "ye", ["ye2021"]),
        ("metrics", "mr", ["mrr"]),
        ("formats", "ch", ["chan"]),
    ):
        context = click.Context(command)
        context.params = {"what": what}
        assert set(found) <= set(values(completion.listed(context, PARAMETER, begun)))
    assert offered(completion.listed, "") == []


def test_files_are_the_shell_s_own_but_behind_a_name_or_a_plus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    for name in ("test_src.txt", "test_trg.txt", "runs/t5.jsonl"):
        (tmp_path / name).touch()
    [item] = completion.paths(CONTEXT, PARAMETER, "runs/")
    assert (item.type, item.value) == ("file", "runs/")
    assert offered(completion.paths, "test_src.txt+test_t") == ["test_src.txt+test_trg.txt"]
    assert offered(completion.paths, "mine=r") == ["mine=runs/"]
    assert offered(completion.paths, "mine=runs/") == ["mine=runs/t5.jsonl"]
    assert offered(completion.paths, "mine=[") == []


# ---------------------------------------------------------------------------------------------- the command


def test_a_verb_completes() -> None:
    printed = karat(_KARAT_COMPLETE="bash_complete", COMP_WORDS="karat sc", COMP_CWORD="1")
    assert printed.split() == ["plain,score"]


def test_choices_complete() -> None:
    words = "karat score corpus.jsonl run.jsonl -f "
    printed = karat(_KARAT_COMPLETE="zsh_complete", COMP_WORDS=words, COMP_CWORD="5")
    assert printed.split("\n")[1::3] == ["table", "md", "html", "latex", "typst", "csv", "json"]


WIRED = {
    "karat score c r --protocol chan2019,pad": "chan2019,pad=none",
    "karat score c r --metric ndc": "ndcg",
    "karat score c r -m f1@5:pre": "f1@5:present",
    "karat score c r --from kar": "karat",
    "karat score c r --language fr": "french",
    "karat list protocols ye": "ye2021",
}


@pytest.mark.parametrize("line", WIRED)
def test_the_values_of_options_complete(line: str) -> None:
    words = line.split()
    printed = karat(_KARAT_COMPLETE="fish_complete", COMP_WORDS=line, COMP_CWORD=words[-1])
    assert WIRED[line] in [answer.partition(",")[2].partition("\t")[0] for answer in printed.splitlines()]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script(shell: str) -> None:
    assert "_karat_completion" in karat(_KARAT_COMPLETE=f"{shell}_source")


def test_the_script_for_fish_keeps_commas() -> None:
    assert 'string split --max 1 ","' in karat(_KARAT_COMPLETE="fish_source")


# bash parts words at these; what it then replaces is the piece behind the last of them.
BREAKS = " \t\n\"'@><=;|&(:"


def replies(line: str, folder: Path) -> list[str]:
    """What bash itself is told to put in place of the piece at the cursor, by the real script."""
    program = folder / "karat"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(PROGRAM)} "$@"\n')
    program.chmod(0o755)
    script = f"""
        eval "$(_KARAT_COMPLETE=bash_source karat)"
        COMP_LINE={shlex.quote(line)} COMP_POINT={len(line)} COMP_WORDBREAKS={shlex.quote(BREAKS)}
        _karat_completion karat
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "PATH": f"{folder}:{os.environ['PATH']}"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


IN_BASH = {
    "karat sc": ["score"],
    "karat score c r -f ": ["table", "md", "html", "latex", "typst", "csv", "json"],
    "karat score c r --format=la": ["latex"],
    "karat score c r --protocol chan2019,pad=": ["none", "absent-10"],
    "karat score c r --protocol=chan2019,pa": ["chan2019,pad=none", "chan2019,pad=absent-10"],
    "karat score c r --protocol=chan2019,pad=n": ["none"],
    "karat score c r -m f1@5:pre": ["present"],
    "karat score c r -m f1@1": ["10"],
    "karat score c r -m f1@5:present/mi": ["present/micro"],
}


@pytest.mark.parametrize("line", IN_BASH)
def test_bash_completes_the_piece_at_the_cursor(line: str, tmp_path: Path) -> None:
    assert replies(line, tmp_path) == IN_BASH[line]
