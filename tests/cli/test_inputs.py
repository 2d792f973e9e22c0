"""Every file that an argument or a flag names is looked for before the command opens any other."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import karat.cli
from karat.cli import completion
from karat.cli.inputs import check_inputs
from karat.errors import InputError
from karat.formats import files
from tests.commands import leaves

CORPUS = '{"id": "d1", "text": "A swarm of bees.", "keyphrases": ["swarm"]}\n'
RUN = '{"id": "d1", "keyphrases": ["swarm", "nest"]}\n'
HELP = ["-h", "--help"]  # click keeps the flag of the help that it makes first
WRITTEN = {
    "documents_out",
    "output",
    "figures",
    "review",
    "all_pairs",
    "answers",
    "learn",
    "pairs_out",
    "accepted",
    "adjudicate",
    "resolved",
    "scores",
    "rankings",
    "keep_runs",
}  # what is written need not be there


def readers() -> Iterator[Any]:
    """Every argument and flag that names files to read."""
    for name, command in leaves(karat.cli.karat):
        for parameter in command.get_params(click.Context(command, help_option_names=HELP)):
            if getattr(parameter, "_custom_shell_complete", None) is completion.paths:
                yield pytest.param(command, parameter, id=f"{name} {parameter.name}")


@pytest.mark.parametrize(("command", "parameter"), [*readers()])
@pytest.mark.parametrize("form", ["{}", "name={}", "here.jsonl+{}"])
def test_a_missing_file_of_any_argument_or_flag_is_an_error(
    command: click.Command, parameter: click.Parameter, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("here.jsonl").touch()
    context = click.Context(command, help_option_names=HELP)
    value = form.format("nowhere.json")
    for given in ("here.jsonl", value):
        several = parameter.multiple if isinstance(parameter, click.Option) else parameter.nargs != 1
        context.params = {str(parameter.name): (given,) if several else given}
        if given == value:
            what = "folder" if parameter.metavar == "FOLDER" else "file"
            with pytest.raises(InputError, match=rf"^nowhere\.json: there is no such {what}$"):
                check_inputs(context)
        else:
            check_inputs(context)


def test_files_are_read_or_written_and_nothing_else() -> None:
    named = {
        (name, str(parameter.name), offered)
        for name, command in leaves(karat.cli.karat)
        for parameter in command.get_params(click.Context(command, help_option_names=HELP))
        for offered in [getattr(parameter, "_custom_shell_complete", None)]
        if any(word in (parameter.metavar or "") for word in ("FILE", "FOLDER", "DIR", "PATH", "CORPUS", "RUN"))
    }
    unmarked = {(name, parameter) for name, parameter, offered in named if offered is None}
    # Those of the table are names of corpora.
    assert unmarked == {("demo", "folder"), ("table", "corpora"), ("table", "languages")}
    written = {(name, parameter) for name, parameter, offered in named if offered is completion.new_paths}
    assert {parameter for _, parameter in written} - WRITTEN == {"pairs"}
    assert {name for name, parameter in written if parameter == "pairs"} == {"pairs reformulate", "pairs filter"}


LATE = [
    ("score corpus.jsonl run.jsonl --extra-references no.jsonl", "no.jsonl"),
    ("score corpus.jsonl run.jsonl --dev-corpus corpus.jsonl --dev-run no.jsonl", "no.jsonl"),
    ("score corpus.jsonl run.jsonl -m sem_f,model=no/encoder", "no/encoder"),
    ("score corpus.jsonl run.jsonl -m f1@5 -m soft_f,score=file:no.csv", "no.csv"),
    ("compare corpus.jsonl --runs no", "no"),
    ("nearmiss corpus.jsonl run.jsonl --score file:no.csv", "no.csv"),
    ("nearmiss corpus.jsonl run.jsonl --score placed:no.json", "no.json"),
    ("score corpus.jsonl run.jsonl -m soft_f,score=placed:no.json", "no.json"),
    ("nearmiss corpus.jsonl run.jsonl --score cosine,model=vectors:no.vec", "no.vec"),
    ("describe corpus.jsonl run.jsonl --train no.jsonl", "no.jsonl"),
    ("consistency run.jsonl --vocabulary no.txt", "no.txt"),
    ("consistency run.jsonl --model vectors:no.vec", "no.vec"),
    ("consistency run.jsonl --model no/encoder", "no/encoder"),
    ("reproduce corpus.jsonl run.jsonl --reported no.csv", "no.csv"),
    ("predict tfidf corpus.jsonl --df no.json", "no.json"),
    ("predict kea,model=no.json corpus.jsonl", "no.json"),
    ("predict no/model corpus.jsonl", "no/model"),
    ("predict embedrank,model=no/encoder corpus.jsonl", "no/encoder"),
    ("predict llm:x corpus.jsonl --base-url http://localhost:9/v1 --shots no.jsonl:3", "no.jsonl"),
    ("predict llm:x corpus.jsonl --base-url http://localhost:9/v1 --prompt no.txt", "no.txt"),
    ("predict llm:x corpus.jsonl --base-url http://localhost:9/v1 --key-file no.key", "no.key"),
    ("report corpus.jsonl run.jsonl -o page.html --human no.jsonl", "no.jsonl"),
    ("report corpus.jsonl run.jsonl -o page.html --pairs no.jsonl", "no.jsonl"),
    ("homogeneity corpus.jsonl no.jsonl run.jsonl", "no.jsonl"),
    ("human no.jsonl --corpus corpus.jsonl --run run.jsonl", "no.jsonl"),
    ("pairs mine corpus.jsonl --by embedding --model vectors:no.vec", "no.vec"),
    ("plot homogeneity corpus.jsonl run.jsonl --pairs no.jsonl -o a.svg", "no.jsonl"),
    ("results check a.karat --no-worse-than no.karat", "no.karat"),
    ("train kea no.jsonl -o kea.json", "no.jsonl"),
]


@pytest.mark.parametrize(("line", "lacking"), LATE)
def test_nothing_is_read_where_a_file_is_missing(
    line: str, lacking: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("corpus.jsonl").write_text(CORPUS)
    Path("run.jsonl").write_text(RUN)
    Path("a.karat").touch()
    opened: list[str] = []

    def open_raw(path: str) -> io.BufferedReader:
        opened.append(path)
        raise AssertionError(f"{path} is read")

    monkeypatch.setattr(files, "open_raw", open_raw)
    with pytest.raises(InputError, match=rf"^{lacking}: there is no such (file|folder)$"):
        karat.cli.karat.main(line.split(), standalone_mode=False)
    assert opened == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.karat", "corpus.jsonl", "run.jsonl"]


@pytest.mark.parametrize(
    "line",
    [
        "score corpus.jsonl run.jsonl -m soft_f,score=cosine -q",
        "score corpus.jsonl same=run.jsonl -m f1@5 -q",
        "consistency run.jsonl --model hash -q",
        "describe corpus.jsonl -q",
    ],
)
def test_what_names_no_file_is_not_looked_for(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("corpus.jsonl").write_text(CORPUS)
    Path("run.jsonl").write_text(RUN)
    karat.cli.karat.main([*line.split(), "-o", "out.txt"], standalone_mode=False)
    assert Path("out.txt").stat().st_size


def test_the_nearest_name_of_the_folder_is_suggested(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text(CORPUS)
    with pytest.raises(InputError) as error:
        karat.read(tmp_path / "corpsu.jsonl")
    assert str(error.value).endswith(f"there is no such file; did you mean {str(tmp_path / 'corpus.jsonl')!r}?")
