"""What needs a library that is not installed says so in one sentence with the command that installs it."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import karat
import karat.spark
from karat.embed import embedder
from karat.errors import InputError, MissingExtraError
from karat.libraries import EXTRAS, library
from karat.llm.client import Chat, Endpoint
from karat.models.find import parse_model
from karat.models.generators.unikp.pieces import tokenizer_in
from karat.models.run import PredictOptions, predicted
from karat.output.workbook import workbook
from karat.pairs.marian import NEEDED, translator
from tests.forked import command

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# Libraries that come with others, and those whose package has another name.
BESIDE = {
    "huggingface_hub": "datasets",
    "markupsafe": "jinja2",
    "Stemmer": "PyStemmer",
    "vl_convert": "vl-convert-python",
}
ASKED_FIRST = {
    "torch": "transformers",
    "sudachidict_core": "sudachipy",
}  # what has to seem to be there, where it is not
SCORE = ("score", "corpus.jsonl", "run.jsonl")
MARIAN = ("pairs", "reformulate", "corpus.jsonl", "--via", "marian")

# The command where a library is not installed, and one that it asks for first is.
HIDING = """
import sys
from types import ModuleType
hidden, *first = sys.argv.pop(1).split(",")
sys.modules[hidden] = None
sys.modules |= {name: ModuleType(name) for name in first}
from karat.cli import main
main()
"""

# library → (what needs it, the arguments of a command, a call).
CASES: dict[str, tuple[str, tuple[str, ...], Callable[[Path], Any]]] = {
    "zstandard": (
        "a .zst file",
        ("score", "corpus.jsonl.zst", "run.jsonl"),
        lambda folder: karat.read(folder / "corpus.jsonl.zst"),
    ),
    "nltk": (
        "tokenizer=nltk",
        (*SCORE, "--protocol", "karat,tokenizer=nltk"),
        lambda folder: karat.score(folder / "corpus.jsonl", folder / "run.jsonl", protocol="karat,tokenizer=nltk"),
    ),
    "pyarrow": (
        "a Parquet file",
        ("corpus", "convert", "corpus.jsonl", "-o", "new.parquet"),
        lambda folder: karat.write(karat.read(folder / "corpus.jsonl"), folder / "new.parquet"),
    ),
    "datasets": (
        "a dataset of Hugging Face",
        ("score", "datasets:some/set", "run.jsonl"),
        lambda folder: list(karat.read("datasets:some/set")),
    ),
    "torch": (
        "the encoder {folder}/encoder",
        (*SCORE, "-m", "soft_f,score=cosine,model={folder}/encoder"),
        lambda folder: embedder(f"{folder}/encoder").embed(["a"]),
    ),
    "transformers": (
        "the encoder {folder}/encoder",
        ("predict", "embedrank,model={folder}/encoder", "corpus.jsonl"),
        lambda folder: embedder(f"{folder}/encoder").embed(["a"]),
    ),
    "sentencepiece": (
        "a Marian model",
        (*MARIAN, "--forward", "marian", "--backward", "marian", "-o", "new.jsonl"),
        lambda folder: translator(folder / "marian"),
    ),
    "httpx": (
        "a chat endpoint",
        ("predict", "llm:small", "corpus.jsonl", "--base-url", "http://localhost:9/v1"),
        lambda folder: Chat(Endpoint("http://localhost:9/v1", "small")),
    ),
    "spacy": (
        "the tagger spacy:xx",
        ("predict", "textrank", "corpus.jsonl", "--tagger", "spacy:xx"),
        lambda folder: karat.predict(folder / "corpus.jsonl", "textrank", tagger="spacy:xx"),
    ),
    "jieba": (
        "cutting Chinese into words",
        (*SCORE, "--protocol", "karat,segmentation=jieba"),
        lambda folder: karat.predict(folder / "corpus.jsonl", "firstphrases", language="chinese"),
    ),
    "sudachipy": (
        "cutting Japanese into words",
        ("predict", "firstphrases", "corpus.jsonl", "--language", "ja"),
        lambda folder: karat.score(
            folder / "corpus.jsonl", folder / "run.jsonl", protocol="karat,segmentation=sudachi"
        ),
    ),
    "sudachidict_core": (
        "cutting Japanese into words",
        ("predict", "yake", "corpus.jsonl", "--language", "japanese"),
        lambda folder: karat.predict(folder / "corpus.jsonl", "yake", language="japanese"),
    ),
    "pypdf": (
        "{folder}/paper.pdf: reading a PDF",
        ("predict", "firstphrases", "{folder}/paper.pdf"),
        lambda folder: karat.predict(folder / "paper.pdf", "firstphrases"),
    ),
    "lxml": (
        "{folder}/page.html: reading HTML",
        ("predict", "firstphrases", "{folder}/page.html"),
        lambda folder: karat.predict(folder / "page.html", "firstphrases"),
    ),
    "openpyxl": (
        "an Excel file",
        ("describe", "{folder}/table.xlsx"),
        lambda folder: list(karat.read(folder / "table.xlsx")),
    ),
    "xlsxwriter": (
        "writing an .xlsx file",
        ("predict", "firstphrases", "corpus.jsonl", "-o", "new.xlsx"),
        lambda folder: workbook([], "keyphrases"),
    ),
    "safetensors": (
        "training copyrnn",
        ("train", "copyrnn", "corpus.jsonl", "-o", "{folder}/new"),
        lambda folder: karat.train(folder / "corpus.jsonl", "copyrnn", output=folder / "new"),
    ),
    "tokenizers": (
        "{folder}/tokenizer.json: a tokenizer",
        (),
        lambda folder: tokenizer_in(folder / "tokenizer.json"),
    ),
    "pyspark": (
        "the engine spark",
        (*SCORE, "--engine", "spark"),
        lambda folder: karat.spark.session(),
    ),
    "rdflib": (
        "a SKOS thesaurus",
        (*SCORE, "--vocabulary", "{folder}/thesaurus.ttl"),
        lambda folder: karat.read_vocabulary(folder / "thesaurus.ttl"),
    ),
    "pandas": ("to_pandas()", (), lambda folder: scored(folder).to_pandas()),
    "polars": ("to_polars()", (), lambda folder: scored(folder).to_polars()),
}


def scored(folder: Path) -> karat.Results:
    return karat.score(folder / "corpus.jsonl", folder / "run.jsonl")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    record = {"id": "d1", "text": "Grids compute; the zebra finch sings.", "keyphrases": ["zebra finch"]}
    (tmp_path / "corpus.jsonl").write_text(json.dumps(record) + "\n")
    (tmp_path / "run.jsonl").write_text('{"id": "d1", "keyphrases": ["finch"]}\n')
    (tmp_path / "corpus.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd\x00")
    (tmp_path / "paper.pdf").write_bytes(b"%PDF-1.4\n")
    (tmp_path / "page.html").write_text("<p>Bees fly.</p>")
    (tmp_path / "table.xlsx").write_bytes(b"PK\x03\x04")
    (tmp_path / "thesaurus.ttl").write_text("@prefix a: <http://a.org/> .\n")
    for name, kind in (("encoder", "bert"), ("marian", "marian")):
        (tmp_path / name).mkdir()
        for file in (*NEEDED, "model.safetensors"):
            (tmp_path / name / file).write_bytes(b"x")
        (tmp_path / name / "config.json").write_text(json.dumps({"model_type": kind, "num_hidden_layers": 3}))
    return tmp_path


def sentence(name: str, folder: Path) -> str:
    return f"{CASES[name][0].format(folder=folder)} needs {name}: pip install 'karat[{EXTRAS[name]}]'"


def test_every_optional_library_is_hidden_in_a_test_below() -> None:
    assert set(CASES) == set(EXTRAS)


@pytest.mark.parametrize("name", CASES)
def test_a_call_that_needs_a_missing_library_names_the_command(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KARAT_CACHE", str(folder / "cache"))
    monkeypatch.setitem(sys.modules, name, None)
    if first := ASKED_FIRST.get(name):
        monkeypatch.setitem(sys.modules, first, ModuleType(first))
    from karat.text import segments, tokens
    from karat.text.normalise import normaliser

    for known in (tokens._nltk_tokenizer, tokens._nltk_words, segments._by_words, segments.segmenter, normaliser):
        known.cache_clear()
    with pytest.raises(InputError) as raised:
        CASES[name][2](folder)
    assert type(raised.value) is MissingExtraError
    assert str(raised.value) == sentence(name, folder)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[1]])
def test_a_command_that_needs_a_missing_library_names_the_command_that_installs_it(name: str, folder: Path) -> None:
    before = sorted(path.name for path in folder.iterdir())
    arguments = [each.format(folder=folder) for each in CASES[name][1]]
    done = subprocess.run(
        [sys.executable, "-c", HIDING, ",".join(filter(None, [name, ASKED_FIRST.get(name)])), *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
    )
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr == f"karat: {sentence(name, folder)}\n"
    assert [path for path in sorted(path.name for path in folder.iterdir()) if "sqlite" not in path] == before


def test_a_library_that_is_there_and_broken_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "spacy.py").write_text("import thinc_of_no_version\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "spacy", raising=False)
    with pytest.raises(MissingExtraError) as raised:
        library("spacy", "a tagger")
    assert str(raised.value) == (
        "a tagger needs spacy, which is there and cannot be imported (No module named 'thinc_of_no_version'): "
        "pip install 'karat[spacy]'"
    )


# ---------------------------------------------------------------------------------------------- files among others


def fly(documents: Any) -> list[list[str]]:
    return [(document.text or "").split()[:1] for document in documents]


@pytest.fixture
def papers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a text, and with files that need libraries which are not there."""
    folder = tmp_path / "papers"
    folder.mkdir()
    for name in ("pypdf", "pyarrow", "zstandard"):
        monkeypatch.setitem(sys.modules, name, None)
    for number in range(1, 8):
        (folder / f"{number}.pdf").write_bytes(b"%PDF-1.4\n")
    (folder / "table.parquet").write_bytes(b"PAR1")
    (folder / "notes.txt.zst").write_bytes(b"\x28\xb5\x2f\xfd\x00")
    (folder / "text.txt").write_text("Bees fly.")
    return folder


LEFT_OUT = (
    "left out, as reading a PDF needs pypdf: pip install 'karat[pdf]': 1.pdf, 2.pdf, 3.pdf, 4.pdf, 5.pdf and 2 more",
    "left out, as a .zst file needs zstandard: pip install 'karat[zst]': notes.txt.zst",
    "left out, as a Parquet file needs pyarrow: pip install 'karat[parquet]': table.parquet",
)


def test_files_of_a_folder_that_need_a_missing_library_are_named_and_the_rest_is_done(papers: Path) -> None:
    found = predicted(str(papers), parse_model(fly), PredictOptions())
    assert [(entry.prediction.id, entry.prediction.keyphrases) for entry in found.entries] == [("text", ["Bees"])]
    assert found.notes == LEFT_OUT


def test_a_folder_of_nothing_but_such_files_is_refused(papers: Path) -> None:
    (papers / "text.txt").unlink()
    with pytest.raises(InputError) as raised:
        karat.predict(papers, fly)
    assert str(raised.value) == f"{papers}: no document there can be read: {'; '.join(LEFT_OUT)}"


def test_a_folder_of_nothing_but_damaged_files_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_bytes(b"MZ\0\0")
    said = (
        f"{tmp_path}/a.txt: is not a text (it holds zero bytes), {tmp_path}/b.txt: is not a text (it holds zero bytes)"
    )
    with pytest.raises(InputError) as raised:
        predicted(str(tmp_path), parse_model(fly), PredictOptions(), output=str(tmp_path / "run.jsonl"))
    assert str(raised.value) == f"no document can be read: {said}"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "b.txt"]
    done = command(tmp_path, "predict", "firstphrases", ".", "-o", "../run.jsonl")
    assert (done.returncode, done.stderr.startswith("karat: no document can be read: ")) == (2, True), done.stderr


def test_a_compression_that_is_missing_is_refused_before_anything_is_predicted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(documents: Any) -> Any:
        raise AssertionError("asked")

    monkeypatch.setitem(sys.modules, "zstandard", None)
    corpus = karat.Corpus.of([{"id": "d1", "text": "Bees fly."}])
    with pytest.raises(MissingExtraError, match=r"a \.zst file needs zstandard"):
        predicted(corpus, parse_model(never), PredictOptions(), output=str(tmp_path / "run.jsonl.zst"))
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------------------------------------- what is declared


def packages(requirements: list[str]) -> set[str]:
    """The names of the packages that are required."""
    return {each.partition(">")[0].partition("=")[0].strip() for each in requirements}


def test_the_extras_that_sentences_name_install_what_they_ask_for() -> None:
    extras = {name: packages(needed) for name, needed in PROJECT["optional-dependencies"].items()}
    assert [name for name, extra in EXTRAS.items() if name not in extras[extra]] == []


def test_the_first_page_says_what_every_extra_is_for() -> None:
    table = [line for line in (ROOT / "docs" / "start.md").read_text().splitlines() if line.startswith("|")]
    installs = " ".join(line.split("|")[2] for line in table if "install" in line)
    assert [extra for extra in PROJECT["optional-dependencies"] if f"[{extra}]" not in installs] == []


def imported(path: Path) -> set[str]:
    """The modules that a file imports, by their first names."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found - {"karat", *sys.stdlib_module_names}


def test_all_that_is_imported_is_a_dependency_or_has_an_extra() -> None:
    known = packages(PROJECT["dependencies"]) | set(EXTRAS)
    found = {name for path in (ROOT / "src").rglob("*.py") for name in imported(path)}
    assert {BESIDE.get(name, name) for name in found} <= known
