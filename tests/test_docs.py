"""What the documents say is what the program does.

Every code block of every document is tried: python, pycon, sh and console blocks are run in one folder a document, json
blocks are parsed. The folder holds SAMPLES and the files that the document itself shows, below a line such as
"a corpus, `corpus.jsonl`:". With KARAT_REWRITE=1 the generated parts and what console blocks show are written anew.
"""

from __future__ import annotations

import atexit
import doctest
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import pytest

from docs.generate import DOCUMENTS, PARTS, metrics, parts_of, refreshed, verbs, walk
from docs.pictures import FOLDER, PICTURES
from karat.cli import karat as command
from karat.formats import FORMATS
from karat.matching.columns import Aligned, Cutoff, Subset
from karat.metrics.base import METRICS, Rows, metric
from karat.models.find import own_models
from karat.protocol import PRESETS
from tests.blocks import Block, blocks, command_lines, sessions
from tests.forked import program

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "golden"
REWRITE = bool(os.environ.get("KARAT_REWRITE"))

# The files that documents name without showing them.
SAMPLES = {
    "corpus.jsonl": GOLDEN / "synthetic.corpus.jsonl",
    "run.jsonl": GOLDEN / "synthetic.alpha.jsonl",
    "t5.jsonl": GOLDEN / "synthetic.alpha.jsonl",
    "one2set.jsonl": GOLDEN / "synthetic.beta.jsonl",
    "test_src.txt": GOLDEN / "edge.src.txt",
    "test_trg.txt": GOLDEN / "edge.trg.txt",
    "predictions.txt": GOLDEN / "edge.pred.txt",
    "preds.csv": GOLDEN / "synthetic.alpha.csv",
    "both.csv": GOLDEN / "both.csv",
    "pairs.jsonl": GOLDEN / "human.pairs.jsonl",
    "scores.jsonl": GOLDEN / "human.sets.jsonl",
    "wide.csv": GOLDEN / "human.wide.csv",
}
# Commands that are not run: they install, or take as long as the tests themselves.
NOT_RUN = ("pip install", "python -m venv", "python -m benchmarks", "make ", "pytest", "KARAT_REWRITE=1 pytest")
# What is in commands that need a part of the machine (tests/conftest.py), which a test of their own runs.
NEEDS = {
    "model=package:": (pytest.mark.neural, pytest.mark.encoder),
    "--via synonyms": (pytest.mark.wordnet,),
    "-m kim2010": (pytest.mark.wordnet,),
}
# What stands for more than the samples hold.
INSTEAD = {"--shard 3/16": "--shard 1/1"}
# Languages of blocks that are only shown.
PLAIN = ("text", "bibtex", "xml", "yaml", "latex", "diff", "{toctree}")


# ---------------------------------------------------------------------------------------------- generated parts


@pytest.fixture
def forget_new_metrics() -> Iterator[None]:
    known = dict(METRICS.load())
    yield
    METRICS.clear()
    METRICS.update(known)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_the_generated_parts_are_fresh(path: Path) -> None:
    wanted = refreshed(path.read_text())
    if REWRITE and path.read_text() != wanted:
        path.write_text(wanted)
    assert path.read_text() == wanted, "KARAT_REWRITE=1 pytest tests/test_docs.py writes it anew"


def test_every_part_that_can_be_generated_is_in_a_document() -> None:
    found = [name for path in DOCUMENTS for name in parts_of(path.read_text())]
    assert sorted(found) == sorted(PARTS)


def test_the_pictures_are_what_their_script_makes() -> None:
    found = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.svg")}
    assert found == {name: picture.svg() for name, picture in PICTURES.items()}, "python -m docs.pictures writes them"


def test_generated_text_does_not_depend_on_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    narrow = verbs()
    monkeypatch.setenv("COLUMNS", "200")
    assert verbs() == narrow
    assert [line for line in narrow.splitlines() if len(line) > 80] == []


@pytest.mark.usefixtures("forget_new_metrics")
def test_a_new_metric_is_documented_by_its_docstring() -> None:
    @metric("blank", better=None, cutoff="optional")
    def blank(aligned: Aligned, cutoff: Cutoff, subset: Subset, *, mark: str = "<unk>") -> Rows:
        """Share of predictions with <unk>, or `<eos>`.

        Hits over predictions (Nobody 2020).

        >>> 1 + 1
        2
        """
        raise NotImplementedError

    assert metrics().endswith(
        """### `blank`

Share of predictions with \\<unk>, or `<eos>`.

Hits over predictions (Nobody 2020).

```pycon
>>> 1 + 1
2
```

* cutoff: possible, as `blank` or `blank@5`
* average: `mean`
* options: `mark=<unk>`
* better: neither
"""
    )


def test_every_protocol_is_described() -> None:
    for path in (ROOT / "docs" / "protocols.md", ROOT / "README.md"):
        assert [name for name in PRESETS if f"`{name}`" not in path.read_text()] == [], path.name


def test_every_metric_format_and_verb_has_its_entry() -> None:
    documents = {path.name: path.read_text() for path in DOCUMENTS}
    assert [name for name in METRICS.load() if f"\n### `{name}`\n" not in documents["metrics.md"]] == []
    assert [name for name in FORMATS if f"\n| `{name}` |" not in documents["formats.md"]] == []
    assert [name for name, _, _ in walk(command) if f"# `{name}`\n" not in documents["cli.md"]] == []


def test_every_model_has_a_row_that_says_what_was_checked() -> None:
    page = (ROOT / "docs" / "models.md").read_text().partition("\n## What was checked\n")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| `")]
    assert [row[0].strip("| `") for row in rows] == list(own_models())
    assert [row[0] for row in rows if len(row) != 5 or not row[3].strip()] == []


def test_the_page_of_the_command_shows_what_help_says(tmp_path: Path) -> None:
    story = begin(tmp_path)
    for name in ("karat", "karat score", "karat results merge"):
        printed = story.sh(f"{name} --help").stdout
        assert f"`{name}`\n\n```text\n{printed}```\n" in (ROOT / "docs" / "cli.md").read_text()


def test_the_examples_of_every_verb_are_commands_that_parse() -> None:
    for name, verb, context in walk(command):
        for line in command_lines((verb.epilog or "").replace("\b", "")):
            if line.startswith("karat ") and context.parent is not None:
                parse(shlex.split(line.split(" | ")[0])[1:], name)


def parse(arguments: list[str], name: str) -> None:
    """Fails if the command would not take the arguments; nothing is run."""
    context = click.Context(command, info_name="karat")
    verb: click.Command = command
    while isinstance(verb, click.Group):
        _, found, arguments = verb.resolve_command(context, arguments)
        assert found is not None, name
        verb = found
        context = click.Context(verb, parent=context, info_name=verb.name)
    try:
        verb.parse_args(context, arguments)
    except click.UsageError as error:
        pytest.fail(f"an example of {name}: {error.format_message()}")


# ---------------------------------------------------------------------------------------------- blocks


@dataclass(frozen=True, slots=True)
class Story:
    """One document that is acted out: its folder, the environment of its commands, the names of its Python blocks."""

    folder: Path
    environment: dict[str, str]
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "example"})

    def sh(self, line: str, errors: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
        """A command line, run in the folder; its errors apart, or as a terminal shows them."""
        return subprocess.run(
            ["bash", "-o", "pipefail", "-c", line],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            encoding="utf-8",
            check=False,
        )


def begin(folder: Path) -> Story:
    """A folder with the samples, where the command of this checkout is `karat`."""
    work, programs = folder / "work", folder / "bin"
    work.mkdir()
    programs.mkdir()
    for name, path in SAMPLES.items():
        shutil.copy(path, work / name)
    karat = programs / "karat"
    karat.write_text(f'#!/bin/sh\nexec {shlex.join(program())} "$@"\n')
    karat.chmod(0o755)
    changed = {"PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "src"), "HOME": str(folder)}
    return Story(work, os.environ | changed | {"COLUMNS": "80"})


def act_python(block: Block, story: Story) -> None:
    if block.text.startswith("# src/"):  # a part of karat that is to be written: tests/test_recipes.py does so
        compile(block.text, block.place, "exec", dont_inherit=True)
        return
    exec(compile(block.text, block.place, "exec", dont_inherit=True), story.names)


def act_pycon(block: Block, story: Story) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, story.names, block.place, block.place, 0)
    said: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append, clear_globs=False)
    story.names.update(test.globs)
    assert not said, "".join(said)


def act_sh(block: Block, story: Story) -> None:
    for line in command_lines(block.text):
        if line.startswith(NOT_RUN) or any(part in line for part in NEEDS):
            continue
        for shown, run in INSTEAD.items():
            line = line.replace(shown, run)
        done = demo(story) if line == "karat demo" else story.sh(line)
        assert done.returncode == 0, f"{block.place}: {line}\n{done.stderr}"


_demo: list[Path] = []  # where the demo was once run


def demo(story: Story) -> subprocess.CompletedProcess[str]:
    """The demo in a story's folder; it takes seconds, so that later stories are given what it left."""
    if _demo:
        shutil.copytree(_demo[0], story.folder / "karat-demo")
        return subprocess.CompletedProcess([], 0, "", "")
    done = story.sh("karat demo")
    kept = Path(tempfile.mkdtemp(prefix="karat-demo-"))
    atexit.register(shutil.rmtree, kept, ignore_errors=True)
    _demo.append(shutil.copytree(story.folder / "karat-demo", kept / "karat-demo"))
    return done


def act_console(block: Block, story: Story) -> None:
    for line, shown in sessions(block.text):
        if not any(part in line for part in NEEDS):
            check_session(block, story, line, shown)


def check_session(block: Block, story: Story, line: str, shown: str) -> None:
    """What a command prints is what stands below it, or with REWRITE is put there."""
    printed = story.sh(line, errors=subprocess.STDOUT).stdout
    if REWRITE and printed != shown:
        path = next(path for path in DOCUMENTS if path.name == block.place.partition(":")[0])
        path.write_text(path.read_text().replace(f"$ {line}\n{shown}", f"$ {line}\n{printed}"))
    else:
        assert printed == shown, f"{block.place}: {line}"


def act_json(block: Block, _story: Story) -> None:
    try:
        json.loads(block.text)
    except json.JSONDecodeError:  # several lines, each by itself
        for line in block.text.splitlines():
            json.loads(line)


def show(_block: Block, _story: Story) -> None:
    """Nothing: the block is only shown."""


ACTS: dict[str, Callable[[Block, Story], None]] = {
    "python": act_python,
    "pycon": act_pycon,
    "sh": act_sh,
    "console": act_console,
    "json": act_json,
    **dict.fromkeys(PLAIN, show),
}


@pytest.mark.usefixtures("forget_new_metrics")
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_block_does_what_it_says(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    story = begin(tmp_path)
    monkeypatch.chdir(story.folder)
    if path.name == "metrics.md":  # its examples are those of docstrings, which know the names of their modules
        for known in METRICS.load().values():
            story.names.update(known.function.__globals__)
    for block in blocks(path):
        assert block.language in ACTS, f"{block.place}: nothing tries a block in {block.language!r}; see ACTS and PLAIN"
        if block.file is not None:
            (story.folder / block.file).write_text(block.text)
        ACTS[block.language](block, story)


@pytest.mark.parametrize("part", [pytest.param(part, marks=marks) for part, marks in NEEDS.items()])
def test_commands_that_need_a_part_of_the_machine_work(part: str, tmp_path: Path) -> None:
    story = begin(tmp_path)
    shown = [block for path in DOCUMENTS for block in blocks(path) if block.language == "sh"]
    lines = [line for block in shown for line in command_lines(block.text) if part in line]
    consoles = [block for path in DOCUMENTS for block in blocks(path) if block.language == "console"]
    printed = [(block, *session) for block in consoles for session in sessions(block.text) if part in session[0]]
    assert lines or printed
    for block, line, below in printed:
        check_session(block, story, line, below)
    for line in lines:
        done = story.sh(line)
        assert done.returncode == 0, f"{line}\n{done.stderr}"


def test_the_records_that_the_readme_shows_can_be_scored(tmp_path: Path) -> None:
    story = begin(tmp_path)
    corpus, run = (block.text for block in blocks(ROOT / "README.md") if block.language == "json")
    (story.folder / "shown.jsonl").write_text(corpus)
    (story.folder / "mine.jsonl").write_text(run)
    done = story.sh("karat score shown.jsonl mine.jsonl")
    assert done.returncode == 0, done.stderr


# ---------------------------------------------------------------------------------------------- the whole


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links_between_files_lead_somewhere(name: str) -> None:
    links = re.findall(r"\]\(([^)#]+)", (ROOT / name).read_text())
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_documentation_builds_without_a_warning(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "-q", str(ROOT / "docs"), str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")}
    assert pages <= {path.stem for path in tmp_path.glob("*.html")}


def test_make_can_build_it() -> None:
    assert shutil.which("make") is None or "sphinx-build" in subprocess.check_output(
        ["make", "--dry-run", "docs"], cwd=ROOT, text=True
    )
