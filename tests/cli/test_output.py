"""What the command prints, byte for byte; the files in golden/ are reviewed, and rewritten with KARAT_REWRITE=1.

Figures at full length agree to nine digits: in which order a product of matrices is summed up, and so its last bit, is
chosen by the processor.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from math import isclose
from pathlib import Path

import pytest

from tests.forked import program

GOLDEN = Path(__file__).parent / "golden"
DATA = Path(__file__).parents[1] / "golden"
ROOT = Path(__file__).parents[2]
SYNTHETIC = ("synthetic.corpus.jsonl", "synthetic.alpha.jsonl", "synthetic.beta.jsonl")
POWER = ("compare", *SYNTHETIC, "same=synthetic.alpha.jsonl", "--discriminative-power")
REPORTED = ("--reported", "reported.csv", "--budget", "15")
PAIRS = (SYNTHETIC[0], "synthetic.pairs.jsonl", *SYNTHETIC[1:], "--resamples", "2000")
PARAPHRASES = tuple(str(ROOT / "src" / "karat" / "demo" / name) for name in ("corpus.jsonl", "paraphrases.jsonl"))
DEMO = tuple(str(ROOT / "src" / "karat" / "demo" / name) for name in ("corpus.jsonl", "by-hand.jsonl"))
SURE = ("confidence", *DEMO)
HUMAN_SETS = ("--corpus", SYNTHETIC[0], "--run", f"alpha={SYNTHETIC[1]}", "--run", f"beta={SYNTHETIC[2]}")

COMMANDS = {
    "demo.txt": ("demo",),
    "help.txt": ("--help",),
    "score_help.txt": ("score", "--help"),
    "audit.txt": ("audit", *SYNTHETIC, "--protocol", "chan2019", "--protocol", "kpdrop2022", "--protocol", "meng2017"),
    "audit.md": ("audit", *SYNTHETIC, "--protocol", "chan2019", "-m", "f1@5:absent", "-f", "md"),
    "audit.tex": ("audit", *SYNTHETIC, "--protocol", "gallina2020", "-f", "latex", "--no-causes"),
    "audit.json": ("audit", *SYNTHETIC[:2], "--protocol", "ye2021", "-f", "json"),
    "compare.txt": ("compare", *SYNTHETIC, "-m", "f1@5:present", "-m", "r@M:absent"),
    "compare.md": ("compare", *SYNTHETIC, "-m", "f1@M", "-f", "md", "--protocol", "chan2019"),
    "compare.tex": ("compare", *SYNTHETIC, "-m", "f1@M", "-m", "map:present", "-f", "latex", "--alpha", "0.01"),
    "compare.typ": ("compare", *SYNTHETIC, "-m", "f1@M", "-m", "map:present", "-f", "typst", "--alpha", "0.01"),
    "compare.csv": ("compare", *SYNTHETIC, "-m", "f1@M", "-f", "csv", "--baseline", "synthetic.beta"),
    "compare.json": ("compare", *SYNTHETIC, "-m", "f1@M:present", "-f", "json", "--interval", "percentile"),
    "compare_power.txt": (*POWER, "-m", "f1@M:present", "-m", "f1@M:present/micro"),
    "compare_power.json": (*POWER, "-m", "f1@M:present", "-f", "json"),
    "compare_power.tex": (*POWER, "-m", "f1@M:absent", "-f", "latex", "--alpha", "0.01"),
    "reproduce.txt": ("reproduce", *SYNTHETIC, "--reported", "reported.csv", "--budget", "120"),
    "reproduce.md": ("reproduce", *SYNTHETIC[:2], *REPORTED, "--protocol", "chan2019", "-f", "md"),
    "reproduce.tex": ("reproduce", *SYNTHETIC, *REPORTED, "--interval", "percentile", "-f", "latex"),
    "reproduce.csv": ("reproduce", *SYNTHETIC, *REPORTED, "--level", "0.9", "-f", "csv"),
    "reproduce.json": ("reproduce", *SYNTHETIC[:2], *REPORTED, "--resamples", "500", "-f", "json"),
    "convert.csv": ("corpus", "convert", "edge.src.txt+edge.trg.txt", "--to", "csv"),
    "describe.txt": ("describe", *SYNTHETIC),
    "describe.md": ("describe", *SYNTHETIC[:2], "--train", f"train={SYNTHETIC[0]}", "-f", "md"),
    "describe.tex": ("describe", SYNTHETIC[0], "--protocol", "kundu2023", "-f", "latex"),
    "describe.csv": ("describe", *SYNTHETIC, "--protocol", "chan2019", "-f", "csv"),
    "describe.json": ("describe", *SYNTHETIC[:2], "-f", "json"),
    "nearmiss.txt": ("nearmiss", *SYNTHETIC),
    "nearmiss.md": ("nearmiss", *SYNTHETIC[:2], "--subset", "absent", "--both", "--examples", "1", "-f", "md"),
    "nearmiss.tex": ("nearmiss", *SYNTHETIC[:2], "--score", "chrf", "--threshold", "0.5", "--every", "-f", "latex"),
    "nearmiss.csv": ("nearmiss", *SYNTHETIC[:2], "--cutoff", "5", "--examples", "2", "-f", "csv"),
    "confidence.txt": (*SURE, "--precision", "0.6", "--calibrate", "isotonic"),
    "confidence.md": (*SURE, "--protocol", "kundu2023", "--bins", "5", "-f", "md"),
    "confidence.tex": (*SURE, "--calibrate", "temperature", "-f", "latex"),
    "confidence.csv": (*SURE, "--protocol", "karat", "--protocol", "chan2019", "--precision", "0.99", "-f", "csv"),
    "confidence.json": (*SURE, "--binning", "mass", "--bins", "4", "--level", "0.9", "-f", "json"),
    "overlap.txt": ("overlap", *SYNTHETIC),
    "overlap.md": (
        "overlap",
        *SYNTHETIC,
        f"again={SYNTHETIC[1]}",
        "--protocol",
        "chan2019",
        "--at-least",
        "3",
        "-f",
        "md",
    ),
    "overlap.tex": ("overlap", *SYNTHETIC, "--empty", "zero", "-f", "latex"),
    "overlap.csv": ("overlap", *SYNTHETIC, "--protocol", "karat", "--protocol", "kpdrop2022", "-f", "csv"),
    "overlap.json": ("overlap", *SYNTHETIC, "-f", "json"),
    "pairs_mine.jsonl": ("pairs", "mine", SYNTHETIC[0], "--min", "0.25", "--stem", "--text-max", "0.3"),
    "homogeneity.txt": ("homogeneity", *PAIRS),
    "homogeneity.md": ("homogeneity", *PAIRS, "--score", "kmr", "--cutoff", "5", "-f", "md"),
    "homogeneity.tex": ("homogeneity", *PAIRS, "--measure", "max", "--no-stem", "-f", "latex"),
    "homogeneity.csv": ("homogeneity", *PAIRS, "--protocol", "karat", "--protocol", "chan2019", "-f", "csv"),
    "homogeneity.json": ("homogeneity", *PAIRS[:3], "--resamples", "500", "-f", "json"),
    "run_show.txt": ("run", "show", "--id", "s003", *SYNTHETIC),
    "run_show.md": ("run", "show", "--id", "s003", *SYNTHETIC, "--protocol", "chan2019", "-f", "md"),
    "pairs_filter.txt": ("pairs", "filter", *PARAPHRASES),
    "pairs_filter.md": ("pairs", "filter", *PARAPHRASES, "--length", "0.05", "-f", "md"),
    "pairs_filter.tex": ("pairs", "filter", *PARAPHRASES, "-f", "latex"),
    "pairs_filter.csv": ("pairs", "filter", *PARAPHRASES, "-f", "csv"),
    "pairs_filter.json": ("pairs", "filter", *PARAPHRASES, "--protocol", "chan2019", "-f", "json"),
    "consistency.txt": ("consistency", *SYNTHETIC[1:], "--corpus", SYNTHETIC[0], "--vocabulary", "vocabulary.txt"),
    "consistency.md": ("consistency", SYNTHETIC[1], "--worst", "3", "--no-near", "-f", "md"),
    "consistency.tex": ("consistency", *SYNTHETIC[1:], "--vocabulary", "vocabulary.txt", "-f", "latex"),
    "consistency.csv": ("consistency", *SYNTHETIC[1:], "-f", "csv"),
    "consistency.json": ("consistency", SYNTHETIC[1], "--worst", "2", "--vocabulary", "vocabulary.txt", "-f", "json"),
    "human_pairs.txt": ("human", "human.pairs.jsonl", "-m", "exact", "-m", "overlap", "-m", "bleu,reference=given"),
    "human_pairs.tex": ("human", "human.pairs.jsonl", "-m", "kmr", "-m", "chrf", "-f", "latex"),
    "human_sets.txt": ("human", "human.sets.jsonl", *HUMAN_SETS, "-m", "f1@M", "-m", "p@5:absent"),
    "human_sets.md": ("human", "human.sets.jsonl", *HUMAN_SETS, "--combine", "majority", "-f", "md"),
    "plot.json": ("plot", "scores", *SYNTHETIC, "-m", "f1@5:present"),
    "human.csv": ("human", "human.pairs.jsonl", "-m", "overlap", "-m", "kmr", "-f", "csv"),
    "human.json": ("human", "human.sets.jsonl", *HUMAN_SETS, "-f", "json"),
    "nearmiss.json": ("nearmiss", *SYNTHETIC[:2], "--protocol", "chan2019", "--examples", "1", "-f", "json"),
    "score.txt": ("score", *SYNTHETIC),
    "score_cite.bib": ("score", *SYNTHETIC[:2], "--protocol", "ye2021", "-m", "f1@5:present", "--cite"),
    "table.txt": ("table", *SYNTHETIC, f"again={SYNTHETIC[1]}", "--group", "greek=synthetic.alpha,synthetic.beta"),
    "table.md": ("table", *SYNTHETIC, "--baseline", "synthetic.beta", "--system", "synthetic.alpha=Alpha", "-f", "md"),
    "table.tex": ("table", *SYNTHETIC, "--percent", "--group", "greek=synthetic.beta", "-f", "latex"),
    "table.typ": ("table", *SYNTHETIC, "--intervals", "--no-significance", "-f", "typst"),
    "table.csv": ("table", *SYNTHETIC, "-m", "f1@M:absent", "-m", "count_mae", "--protocol", "chan2019", "-f", "csv"),
    "table.json": ("table", *SYNTHETIC, "-m", "f1@5:present", "--test", "wilcoxon", "-f", "json"),
    "score.md": ("score", *SYNTHETIC, "-f", "md", "--protocol", "chan2019"),
    "score.tex": ("score", *SYNTHETIC, "-f", "latex", "--protocol", "ye2021", "-m", "f1@M:present", "-m", "p@5:absent"),
    "score.csv": ("score", *SYNTHETIC, "-f", "csv", "-m", "f1@5", "-m", "count_mae:absent"),
    "score.json": ("score", *SYNTHETIC, "-f", "json", "-m", "f1@5:present", "--protocol", "kpdrop2022,pad=k"),
    "score_averages.txt": (
        "score",
        *SYNTHETIC,
        "--averages",
        "-m",
        "f1@5:present",
        "-m",
        "duplicate_ratio",
        "-m",
        "map",
    ),
    "score_two.txt": ("score", *SYNTHETIC[:2], "--protocol", "karat", "--protocol", "meng2021", "-m", "f1@O:absent"),
    "score_chan.txt": ("score", "edge.src.txt+edge.trg.txt", "edge.pred.txt", "--protocol", "chan2019"),
    "protocols.txt": ("list", "protocols"),
    "protocol.txt": ("list", "protocols", "chan2019"),
    "metrics.txt": ("list", "metrics"),
    "similarities.txt": ("list", "similarities"),
    "formats.txt": ("list", "formats"),
    "models.txt": ("list", "models"),
    "model.txt": ("list", "models", "keybert"),
    "predict.txt": ("predict", "multipartiterank", "bees.jsonl", "-n", "5"),
    "predict_stem.txt": ("predict", "tfidf,n=2", "bees.jsonl", "-n", "3", "--stem", "--df", SYNTHETIC[0]),
    "predict.jsonl": ("predict", "topicrank", "bees.jsonl", "-n", "3", "-f", "jsonl"),
    "predict.csv": ("predict", "positionrank", "bees.jsonl", "-n", "4", "-f", "csv"),
    "predict.json": ("predict", "firstphrases", "bees.jsonl", "-n", "2", "-f", "json"),
}


def karat(*arguments: str, cwd: Path = DATA, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The real command in a process of its own, started anew where the environment says how Python starts."""
    anew = [sys.executable, "-c", "from karat.cli import main; main()"]
    starts = any(name.startswith("PYTHON") for name in environment)
    return subprocess.run(
        [*(anew if starts else program()), *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "COLUMNS": "80"} | environment,
        capture_output=True,
        check=False,
    )


FIGURE = re.compile(r"\d*\.\d+(?:e[+-]?\d+)?")


def on_any_processor(printed: str, reviewed: str) -> str:
    """What is printed, with the reviewed figure in place of one that agrees with it to nine digits."""
    figures = FIGURE.findall(reviewed)
    if len(FIGURE.findall(printed)) != len(figures):
        return printed
    left = iter(figures)

    def settled(found: re.Match[str]) -> str:
        figure = next(left)
        return figure if isclose(float(found[0]), float(figure), rel_tol=1e-9, abs_tol=1e-15) else found[0]

    return FIGURE.sub(settled, printed)


def test_figures_agree_to_nine_digits_and_no_fewer() -> None:
    reviewed = '{"f": 0.12555918662638602, "d": ".3154"}'
    assert on_any_processor('{"f": 0.1255591866263861, "d": ".3154"}', reviewed) == reviewed
    for other in ('{"f": 0.1255591876263861, "d": ".3154"}', '{"f": 0.12555918662638602, "d": ".3155"}', "{}"):
        assert on_any_processor(other, reviewed) == other


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_prints_what_was_reviewed(tmp_path: Path, name: str) -> None:
    done = karat(*COMMANDS[name], cwd=tmp_path if name == "demo.txt" else DATA)
    assert done.returncode == 0, done.stderr.decode()
    reviewed = (GOLDEN / name).read_text() if (GOLDEN / name).exists() else ""
    printed = on_any_processor(done.stdout.decode(), reviewed)
    if os.environ.get("KARAT_REWRITE") and printed != reviewed:
        (GOLDEN / name).write_text(printed)
    assert printed == (GOLDEN / name).read_text()
    if name == "demo.txt":
        check_demo(tmp_path / "karat-demo", done.stdout.decode())


def check_demo(folder: Path, said: str) -> None:
    """The demo leaves a page, and the files of the commands that it names."""
    assert (folder / "report.html").read_text().startswith("<!doctype html>")
    words = [word for line in said.splitlines() if line.startswith("  karat ") for word in line.split()]
    assert all(list(folder.glob(word)) for word in words if word.endswith(".jsonl"))


@pytest.mark.parametrize("name", [name for name in COMMANDS if name.endswith(".txt")])
def test_no_line_is_wider_than_a_terminal(name: str) -> None:
    lines = (GOLDEN / name).read_text().splitlines()
    assert [line for line in lines if len(line) > 80] == []


def test_every_verb_shows_two_examples() -> None:
    verbs = (
        ("demo",),
        ("score",),
        ("audit",),
        ("compare",),
        ("reproduce",),
        ("report",),
        ("describe",),
        ("nearmiss",),
        ("confidence",),
        ("overlap",),
        ("human",),
        ("homogeneity",),
        ("pairs", "mine"),
        ("pairs", "reformulate"),
        ("pairs", "filter"),
        ("pairs", "tables"),
        ("consistency",),
        ("train",),
        ("plot",),
        ("predict",),
        ("corpus", "convert"),
        ("corpus", "df"),
        ("run", "convert"),
        ("run", "ensemble"),
        ("run", "rerank"),
        ("run", "show"),
        ("list",),
        ("results", "merge"),
        ("results", "check"),
        ("results", "tables"),
    )
    for verb in verbs:
        text = karat(*verb, "--help").stdout.decode()
        assert text.count("\n    karat " if "\n    karat " in text else "\n  karat ") >= 2, verb


def test_help_and_import_do_without_numpy() -> None:
    for code in ("import karat", "from karat.cli import karat as k; k.main(['--help'], standalone_mode=False)"):
        check = f"import sys\n{code}\nsys.exit('numpy' in sys.modules)"
        done = subprocess.run(
            [sys.executable, "-c", check],
            env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()


def test_a_table_of_scores_is_rendered_without_other_analyses_charts_pages_and_models() -> None:
    code = """import karat, sys
documents = karat.Corpus.of([{"id": "1", "text": "Bees.", "keyphrases": ["bee"]}])
results = karat.score(documents, karat.Run.of([{"id": "1", "keyphrases": ["bees"]}]))
for form in ("table", "md", "html", "latex", "typst", "csv", "json"):
    karat.render(results, form)
print(*(name for name in sys.modules if name.startswith("karat.") or name == "scipy.stats"))"""
    loaded = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        check=True,
        encoding="utf-8",
    ).stdout.split()
    assert [name for name in loaded if name.startswith("karat.output.")] == [
        f"karat.output.{name}" for name in ("markup", "papers", "terminal")
    ]
    assert [name for name in loaded if name.startswith("karat.analyses.")] == ["karat.analyses.score"]
    assert [name for name in loaded if name.startswith(("karat.models", "karat.llm", "scipy"))] == []


def test_a_file_of_tables_has_80_columns_whatever_the_terminal_has(tmp_path: Path) -> None:
    for verb, width in ((("overlap", *SYNTHETIC), 200), (("predict", "tfidf", SYNTHETIC[0]), 40)):
        path = tmp_path / f"{verb[0]}.txt"
        done = karat(*verb, "-o", str(path), COLUMNS=str(width))
        assert done.returncode == 0, done.stderr
        assert path.read_bytes() == karat(*verb).stdout
        assert karat(*verb, COLUMNS=str(width)).stdout != path.read_bytes()


def test_the_same_bytes_whatever_the_hash_seed_the_processes_and_the_shards(tmp_path: Path) -> None:
    metrics = ("f1@5:present", "ndcg@5", "alpha_ndcg", "f1@V:absent", "r_precision", "duplicate_ratio")
    arguments = ["score", *SYNTHETIC, "--protocol", "karat", "--protocol", "ye2021"]
    arguments += [argument for metric in metrics for argument in ("-m", metric)]
    whole = karat(*arguments, "-f", "json", PYTHONHASHSEED="1").stdout
    assert json.loads(whole)["rows"]
    assert karat(*arguments, "-f", "json", PYTHONHASHSEED="2").stdout == whole
    assert karat(*arguments, "-f", "json", "-j", "3").stdout == whole
    karat(*arguments, "-o", str(tmp_path / "whole.karat"))
    shards = []
    for i in range(1, 17):
        shards.append(str(tmp_path / f"{i}.karat"))
        done = karat(*arguments, "--shard", f"{i}/16", "-o", shards[-1])
        assert done.returncode == 0, done.stderr.decode()
    assert karat("results", "merge", *reversed(shards), "-f", "json").stdout == whole
    karat("results", "merge", *shards, "-o", str(tmp_path / "merged.karat"))
    assert (tmp_path / "merged.karat").read_bytes() == (tmp_path / "whole.karat").read_bytes()


def test_a_pipe_gets_what_a_file_gets(tmp_path: Path) -> None:
    done = karat("score", *SYNTHETIC, "-o", str(tmp_path / "out.txt"))
    assert done.stdout == b""
    assert (tmp_path / "out.txt").read_bytes() == karat("score", *SYNTHETIC).stdout


def test_names_of_systems_are_never_markup_nor_formulas(tmp_path: Path) -> None:
    corpus = {"id": "1", "title": "deep nets", "text": "trees", "keyphrases": ["trees"]}
    (tmp_path / "c.jsonl").write_text(json.dumps(corpus) + "\n")
    (tmp_path / "r.jsonl").write_text('{"id": "1", "keyphrases": ["trees"]}\n')
    name = "@SUM(1)|a_b%<b>"
    arguments = ("score", "c.jsonl", f"{name}=r.jsonl", "-m", "f1@M", "-f")
    assert "'@SUM(1)|a_b%<b>" in karat(*arguments, "csv", cwd=tmp_path).stdout.decode()
    assert r"@SUM(1)\|a\_b%\<b\>" in karat(*arguments, "md", cwd=tmp_path).stdout.decode()
    assert (
        r"@SUM(1)\textbar{}a\_b\%\textless{}b\textgreater{}" in karat(*arguments, "latex", cwd=tmp_path).stdout.decode()
    )


def test_json_keeps_the_contract() -> None:
    found = json.loads(karat("score", *SYNTHETIC[:2], "-f", "json").stdout)
    assert list(found) == ["signatures", "short_signatures", "rows", "notes"]
    assert list(found["signatures"]) == list(found["short_signatures"]) == ["karat"]
    assert [(row["metric"], row["subset"]) for row in found["rows"]] == [
        (f"f1@{k}", subset) for subset in ("present", "absent", "all") for k in ("5", "M", "O")
    ]
    fields = "corpus system protocol metric options subset average value documents undefined"
    assert list(found["rows"][0]) == fields.split()
    assert found["rows"][0]["corpus"] == "synthetic.corpus"
    assert found["rows"][0]["documents"] == 400


def test_a_signature_is_accepted_as_a_protocol() -> None:
    first = json.loads(karat("score", *SYNTHETIC[:2], "-f", "json", "--protocol", "chan2019,pad=none").stdout)
    [(name, signature)] = first["signatures"].items()
    assert name == "chan2019,pad=none"
    again = json.loads(karat("score", *SYNTHETIC[:2], "-f", "json", "--protocol", signature).stdout)
    assert again == first


def test_a_signature_of_other_references_is_remarked_upon() -> None:
    found = json.loads(karat("score", *SYNTHETIC[:2], "-f", "json").stdout)
    signature = re.sub(r"hash=\w+", "hash=0123456789abcdef", found["signatures"]["karat"])
    other = json.loads(karat("score", *SYNTHETIC[:2], "-f", "json", "--protocol", signature).stdout)
    assert other["rows"] == found["rows"]
    assert "are not those of the signature" in other["notes"][0]


def test_a_named_reference_set_is_scored_and_named_in_the_signature(tmp_path: Path) -> None:
    corpus = {
        "id": "1",
        "text": "deep nets",
        "keyphrases": ["nets"],
        "reference_sets": {"author": ["deep"], "reader": ["x"]},
    }
    (tmp_path / "c.jsonl").write_text(json.dumps(corpus) + "\n")
    (tmp_path / "r.jsonl").write_text('{"id": "1", "keyphrases": ["deep"]}\n')
    arguments = ("score", "c.jsonl", "r.jsonl", "-m", "f1@M", "-f", "json")
    plain = json.loads(karat(*arguments, cwd=tmp_path).stdout)
    author = json.loads(karat(*arguments, "--references", "author", cwd=tmp_path).stdout)
    assert [plain["rows"][0]["value"], author["rows"][0]["value"]] == [0.0, 1.0]
    assert ",set=author,hash=" in author["signatures"]["karat"]
    assert author["signatures"] != plain["signatures"]
    again = json.loads(karat(*arguments, "--protocol", author["signatures"]["karat"], cwd=tmp_path).stdout)
    assert again == author
    done = karat(*arguments, "--references", "autor", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.decode().strip() == (
        "karat: unknown reference set 'autor'; did you mean 'author'? (known: author, reader)"
    )
