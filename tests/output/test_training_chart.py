"""The chart of trainings: learning curves from the logs of directories."""

import json
import subprocess
from pathlib import Path

import pytest

from karat import InputError
from karat.models.generators.curves import read_courses
from karat.output.charts import as_json, charts_of
from tests.forked import program

CARD = {
    "format": "karat generator 1",
    "model": "copyrnn",
    "karat": "0",
    "language": "english",
    "options": {},
    "settings": {},
    "corpus": {"name": "bees", "hash": "0", "documents": 9},
    "steps": 20,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The directory of a training with two validations."""
    made = tmp_path / "model"
    made.mkdir()
    (made / "model.json").write_text(json.dumps(CARD))
    lines = [{"step": 10, "documents": 160, "loss": 4.5, "valid": 3.9, "rate": 0.001}]
    lines.append({"step": 20, "documents": 320, "loss": 3.5, "valid": 3.25, "rate": 0.0})
    (made / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return made


def test_a_learning_curve_has_both_losses_by_documents_seen(folder: Path) -> None:
    [chart] = charts_of(read_courses([folder]), "training")
    assert chart.spec is not None
    values = [panel["data"]["values"] for panel in chart.spec["concat"]]
    assert [[(each["x"], each["y"]) for each in some] for some in values] == [
        [(160, 3.9), (320, 3.25)],
        [(160, 4.5), (320, 3.5)],
    ]
    assert "validation loss 3.250 after 320 documents" in chart.alt
    assert "bees" in as_json(chart).decode()


def test_a_training_without_validation_documents_has_one_curve(folder: Path) -> None:
    (folder / "log.jsonl").write_text('{"step": 10, "documents": 160, "loss": 4.5, "valid": null}\n')
    found = read_courses([folder])
    assert "without --valid" in found.notes[0]
    [chart] = charts_of(found, "training")
    assert chart.spec is not None
    assert [each["y"] for each in chart.spec["data"]["values"]] == [4.5]


def plot(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [*program(), "plot", "training", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_command_draws_trainings(folder: Path, tmp_path: Path) -> None:
    done = plot(str(folder), str(folder), "-o", str(tmp_path / "l.svg"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "l.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "no validation yet"), ("{}\n", "line 1"), ("\xff", "line 1"), ('{"step": "a"}', "line 1")],
)
def test_a_log_that_is_none_is_told(folder: Path, content: str | None, said: str) -> None:
    if content is None:
        (folder / "log.jsonl").unlink()
    else:
        (folder / "log.jsonl").write_text(content)
    with pytest.raises(InputError, match=said):
        read_courses([folder])


@pytest.mark.parametrize("options", [("--protocol", "karat"), ("-m", "f1@5")])
def test_a_training_has_no_protocol_and_no_metrics_to_choose(folder: Path, options: tuple[str, str]) -> None:
    done = plot(str(folder), *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert options[1] in done.stderr
