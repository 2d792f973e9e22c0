"""Modules of the current folder are not imported, and secrets stay in the process that needs them."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest

import karat
from karat import isolation
from karat.matching import workers
from tests.hostile_folder import NAMES, imported_modules, write_hostile_modules

DEMO = Path(karat.__file__).parent / "demo"
SECRETS = {"KARAT_LLM_KEY": "sk-4711", "HF_TOKEN": "hf-4711", "OPENAI_API_KEY": "sk-4712", "DB_PASSWORD": "4713"}
SCRIPT = f"#!{sys.executable}\nfrom karat.__main__ import main\nmain()\n"  # as pip writes it
PLUG_IN = """
import json
import os

def first_words(documents):
    return [[json.dumps(document.id)] for document in documents]

def variables(documents):
    return [sorted(os.environ) for document in documents]
"""
COMMANDS = [
    "score corpus.jsonl by-hand.jsonl -j 2 -f json",
    "describe corpus.jsonl by-hand.jsonl -f json",
    "predict multipartiterank corpus.jsonl -j 2 -o run.jsonl",
    "predict ./mine.py:first_words corpus.jsonl -j 2 -o run.jsonl",
    "corpus convert corpus.jsonl -o out.parquet",
    "list models -f json",
]


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder with a corpus, a run, a plug-in, and hostile modules."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    write_hostile_modules(folder)
    for name in ("corpus.jsonl", "by-hand.jsonl"):
        (folder / name).write_bytes((DEMO / name).read_bytes())
    (folder / "mine.py").write_text(PLUG_IN)
    return folder


def run_karat(folder: Path, start: list[str], words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the folder, with secrets in its environment."""
    environment = {name: value for name, value in os.environ.items() if name != isolation.SAFE_PATH} | SECRETS
    environment |= {"PYTHONPATH": str(Path(karat.__file__).parents[1]), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [*start, *words.split()], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(params=["the command", "python -P -m karat"])
def start(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """The words that start karat."""
    if request.param == "python -P -m karat":
        return [sys.executable, "-P", "-m", "karat"]
    script = tmp_path / "bin" / "karat"
    script.parent.mkdir()
    script.write_text(SCRIPT)
    return [sys.executable, str(script)]


@pytest.mark.parametrize("words", COMMANDS)
def test_no_module_of_the_current_folder_is_imported(words: str, hostile: Path, start: list[str]) -> None:
    if "parquet" in words:
        pytest.importorskip("pyarrow")
    done = run_karat(hostile, start, words)
    assert done.returncode == 0, done.stderr
    assert imported_modules(hostile) == []


@pytest.mark.parametrize("name", ["plugged", "json", "numpy"])
def test_a_plug_in_is_not_taken_from_the_current_folder(name: str, hostile: Path, start: list[str]) -> None:
    done = run_karat(hostile, start, f"predict {name}:first_words corpus.jsonl -o run.jsonl")
    assert done.returncode == 2
    assert done.stderr.startswith(
        "karat: plugged:first_words: no module 'plugged' is installed; to run ./plugged.py, write ./plugged.py:FUNCTION"
        if name == "plugged"
        else f"karat: unknown function of {name} 'first_words'"
    )
    assert imported_modules(hostile) == []
    assert not (hostile / "run.jsonl").exists()


def test_a_module_of_the_current_folder_is_not_imported_by_python_m_once_karat_has_started(hostile: Path) -> None:
    (hostile / "karat.py").unlink()  # Python imports it before karat starts: python -P -m karat does not
    for name in NAMES:
        if name in sys.stdlib_module_names:
            (hostile / f"{name}.py").unlink(missing_ok=True)
    done = run_karat(hostile, [sys.executable, "-m", "karat"], COMMANDS[0])
    assert done.returncode == 0, done.stderr
    assert imported_modules(hostile) == []


# ---------------------------------------------------------------------------------------------- workers


def describe_worker(_: int) -> tuple[int, dict[str, str]]:
    """Return the process and the environment of a worker."""
    import json  # noqa: F401

    return os.getpid(), dict(os.environ)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_have_no_secrets_and_import_nothing_of_the_current_folder(
    method: str, hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv(isolation.SAFE_PATH, raising=False)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", *map(os.path.abspath, filter(None, sys.path))]))
    monkeypatch.setattr(workers, "_context", lambda: multiprocessing.get_context(method))
    monkeypatch.chdir(hostile)
    before = dict(os.environ)
    for process, environment in workers.ordered_map(describe_worker, range(8), jobs=2):
        assert process != os.getpid()
        assert not set(SECRETS) & set(environment)
        assert environment[isolation.SAFE_PATH] == "1"
    assert imported_modules(hostile) == []
    assert dict(os.environ) == before


def test_a_plug_in_on_a_worker_sees_no_key(hostile: Path, start: list[str]) -> None:
    done = run_karat(hostile, start, "predict ./mine.py:variables corpus.jsonl -n 999 -j 2 -o run.jsonl")
    assert done.returncode == 0, done.stderr
    phrases = {phrase for prediction in karat.read_run(hostile / "run.jsonl") for phrase in prediction.keyphrases or []}
    assert "PATH" in phrases
    assert not set(SECRETS) & phrases


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        *((name, True) for name in SECRETS),
        *((name, True) for name in ("AWS_SECRET_ACCESS_KEY", "azure_api_key", "MY_TOKEN", "APIKEY", "GPG_PASSPHRASE")),
        *((name, False) for name in ("PATH", "TOKENIZERS_PARALLELISM", "KEYBOARD", "KARAT_LLM_BASE_URL", "MONKEY")),
    ],
)
def test_secrets_are_known_by_their_names(name: str, secret: bool) -> None:
    assert isolation.is_secret(name) is secret
