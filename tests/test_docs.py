"""What the documents say is what the program does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from karat.metrics.base import METRICS
from karat.protocol import PRESETS, option_fields

ROOT = Path(__file__).parents[1]
PROTOCOLS = ROOT / "docs" / "protocols.md"
START, END = "<!-- options: written by KARAT_REWRITE=1 pytest tests/test_docs.py -->\n", "<!-- end of options -->"


def options_text() -> str:
    """Every option with its values and their meaning, and a table of every protocol's choice."""
    lines: list[str] = []
    for part in ("matching", "counting"):
        lines += [f"### {part.capitalize()}", ""]
        for name, (of, field) in option_fields().items():
            if of == part:
                values = "; ".join(f"`{value}` {meaning}" for value, meaning in field.metadata["values"].items())
                free = {"number": "; or a number", "language": "; or a language of Snowball", None: ""}[
                    field.metadata["free"]
                ]
                lines.append(f"* **{name}**, {field.metadata['summary']}: {values}{free}.")
        lines.append("")
    names = list(PRESETS)
    lines += ["### Choices", "", "| option | " + " | ".join(names) + " |", "|:--" * (len(names) + 1) + "|"]
    own = PRESETS["karat"].options()
    for option, value in own.items():
        cells = [value] + [_choice(PRESETS[name].options()[option], value) for name in names[1:]]
        lines.append(f"| {option} | " + " | ".join(cells) + " |")
    lines += ["", "An empty cell is karat's own choice."]
    return "\n" + "\n".join(lines) + "\n\n"


def _choice(value: str, own: str) -> str:
    return "" if value == own else value


def test_the_options_of_every_protocol_are_written_down() -> None:
    text = PROTOCOLS.read_text()
    before, rest = text.split(START)
    after = rest.split(END)[1]
    wanted = before + START + options_text() + END + after
    if os.environ.get("KARAT_REWRITE"):
        PROTOCOLS.write_text(wanted)
    assert PROTOCOLS.read_text() == wanted


def test_every_protocol_is_described() -> None:
    for document in (PROTOCOLS, ROOT / "README.md"):
        for name in PRESETS:
            assert f"`{name}`" in document.read_text(), f"{document.name} is silent on {name}"


def blocks(document: str, language: str) -> Iterator[str]:
    """The code blocks of a document in one language."""
    yield from re.findall(rf"```{language}\n(.*?)```", (ROOT / document).read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_python_blocks_run(document: str) -> None:
    known = dict(METRICS)
    found = list(blocks(document, "python"))
    assert found
    try:
        for block in found:
            exec(compile(block, document, "exec"), {"__name__": "example"})
    finally:
        METRICS.clear()
        METRICS.update(known)


def commands(document: str) -> list[str]:
    """The lines of shell blocks that call karat."""
    lines = [line.split("  #")[0].strip() for block in blocks(document, "sh") for line in block.splitlines()]
    return [line for line in lines if line.startswith("karat ")]


def test_the_commands_of_the_readme_run(tmp_path: Path) -> None:
    found = commands("README.md") + commands("docs/protocols.md")
    assert len(found) >= 9
    corpus, run = list(blocks("README.md", "json"))
    (tmp_path / "corpus.jsonl").write_text(corpus)
    for name in ("run", "t5", "one2set"):
        (tmp_path / f"{name}.jsonl").write_text(run)
    golden = Path(__file__).parent / "golden"
    for name, path in (("test_src", "edge.src"), ("test_trg", "edge.trg"), ("predictions", "edge.pred")):
        shutil.copy(golden / f"{path}.txt", tmp_path / f"{name}.txt")
    karat = f'{sys.executable} -c "from karat.cli import main; main()"'
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    for line in found:
        line = line.replace("--shard 3/16", "--shard 1/1")  # the example has one document
        done = subprocess.run(
            line.replace("karat ", f"{karat} ", 1),
            shell=True,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, f"{line}: {done.stderr.decode()}"


def test_the_readme_shows_what_the_demo_prints() -> None:
    shown = next(blocks("README.md", "text"))
    printed = (Path(__file__).parent / "cli" / "golden" / "demo.txt").read_text()
    assert printed.startswith(shown)
