"""No command overwrites a file that it reads, and none opens a file outside of its record."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import karat
from karat.cli import completion
from karat.cli import karat as group
from karat.errors import InputError
from tests.commands import leaves
from tests.faults import stopping
from tests.faults.audited import audit
from tests.faults.verbs import COMMANDS, REQUIRED, VERBS, parameters, populate, words_of
from tests.forked import command

IN_FOLDER = "is an input; name a place outside of that folder\n"
IS_INPUT = "is one of the inputs, which are never overwritten; name another file\n"


def refuse(folder: Path, words: list[str]) -> None:
    """Check that a command is refused in one sentence, and that it leaves every byte as it was."""
    before = stopping.content(folder)
    done = command(folder, *words)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.startswith("karat: ")
    assert done.stderr.endswith((IN_FOLDER, IS_INPUT))
    assert done.stderr.count("\n") == 1
    assert stopping.content(folder) == before


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an input of every kind."""
    return populate(tmp_path_factory.mktemp("record"))


@pytest.fixture
def folder(files: Path, tmp_path: Path) -> Path:
    return shutil.copytree(files, tmp_path / "files", symlinks=True)


# ---------------------------------------------------------------------------------------------- outputs in inputs

SILENT = [  # these exited with 0 once
    "annotate collect study --scores study/ana.json",
    "describe papers -o papers/d0.txt -f json",
    "corpus convert papers -o papers/d0.key --to csv",
    "table corpus.jsonl --runs runs -o runs/corpus/a.jsonl -f json",
    "predict model corpus.jsonl -o model/model.json -f jsonl",
    "predict ./plug_in.py:words corpus.jsonl -o plug_in.py",
]


@pytest.mark.parametrize("line", SILENT)
def test_a_member_of_a_folder_a_model_or_a_plug_in_is_not_overwritten(folder: Path, line: str) -> None:
    refuse(folder, line.split())


READ = {
    completion.paths: "{}",
    completion.models: "{}",
    completion.embedders: "./{}",
    completion.formats_and_paths: "{}",
    completion.metrics: "sem_f,model={}",
    completion.similarities: "cosine,model={}",
    completion.metrics_and_similarities: "cosine,model={}",
}  # how an argument or a flag names a folder, by what the shell offers for it


def folder_cases() -> Iterator[Any]:
    """Every verb with each argument or flag that may name a folder, and each of its outputs."""
    for verb in COMMANDS:
        listed = list(parameters(verb))
        outputs = [each for each in listed if completion_of(each) is completion.new_paths]
        for parameter in listed:
            form = READ.get(completion_of(parameter))
            for output in outputs if form is not None else ():
                yield pytest.param(verb, parameter, form, output, id=f"{verb} {parameter.name} {output.name}")


def completion_of(parameter: click.Parameter) -> Any:
    return getattr(parameter, "_custom_shell_complete", None)


@pytest.mark.parametrize(("verb", "parameter", "form", "output"), [*folder_cases()])
def test_no_output_replaces_a_member_of_a_folder_that_is_an_input(
    files: Path, verb: str, parameter: click.Parameter, form: str, output: click.Parameter
) -> None:
    value = "model:3" if parameter.metavar == "CORPUS:K" else form.format("model")
    refuse(files, words_of(verb, {str(parameter.name): value, str(output.name): "model/model.json"}))


@pytest.mark.parametrize(
    "line",
    [
        "describe papers -o papers/new.json",
        "describe papers -o papers/docs/deeper/new.json",
        "describe papers -o link/new.json",
        "describe link -o papers/new.json",
        "describe papers -o link-to-file.json",
        "describe papers+papers/docs -o papers/docs/new.json",
        "describe mine=papers -o papers/new.json",
        "describe papers/d0.txt -o link/d0.txt -f json",
        "corpus convert papers --to inspec --lossy -o papers",
        "corpus convert papers --to chan --lossy -o new.txt+papers/d0.txt",
        "annotate sheets papers --task reference -o papers/study",
        "annotate collect study/study.json --scores study/new.json",
        "annotate collect study --adjudicate study/ana.html",
        "annotate collect study/study.json -o link-to-study/ben.html",
        "retrieval papers queries.jsonl qrels.txt --rankings papers/rankings",
        "predict ./model corpus.jsonl -o model/new.jsonl",
        "predict kea,model=kea.json corpus.jsonl -o kea.json",
        "predict ./package/plug_in.py:words corpus.jsonl -o package/plug_in.py",
        "predict firstphrases corpus.jsonl --df papers -o papers/new.jsonl",
        "score corpus.jsonl --runs runs -o runs/new.karat",
        "score corpus.jsonl a.jsonl -m soft_f,score=file:scores.tsv -o scores.tsv -f csv",
        "nearmiss corpus.jsonl a.jsonl --score cosine,model=vectors:words.vec --all-pairs words.vec",
        "concepts corpus.jsonl a.jsonl --vocabulary vocabulary.txt,language=en -o vocabulary.txt -f json",
        "report papers --models firstphrases,./plug_in.py:words --keep-runs papers/runs -o new.html",
        "report papers --models firstphrases,./plug_in.py:words --keep-runs new -o plug_in.py",
        "report papers --models firstphrases --keep-runs . -o papers/new.html",
        "retrieval corpus.jsonl queries.jsonl qrels.txt a.jsonl --rankings . -o a.jsonl -f json",
    ],
)
def test_a_place_where_the_next_run_would_read_is_refused(folder: Path, line: str) -> None:
    (folder / "link").symlink_to("papers")
    (folder / "link-to-study").symlink_to("study")
    (folder / "link-to-file.json").symlink_to("papers/d0.txt")
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").touch()
    shutil.copy(folder / "plug_in.py", folder / "package")
    refuse(folder, line.split())


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("annotate collect study --scores new.csv --resolved ./new.csv", "--scores and --resolved are both ./new.csv"),
        ("annotate collect phrases --accepted new.csv -o link.csv", "-o and --accepted are both link.csv"),
        ("annotate collect study --adjudicate new.html -o new.html", "-o and --adjudicate are both new.html"),
        ("corpus convert corpus.jsonl --to chan --lossy -o new.txt+new.txt", "-o names new.txt twice"),
        ("human human.jsonl -m chrf --learn new.json -o new.json", "-o and --learn are both new.json"),
        ("nearmiss corpus.jsonl a.jsonl --all-pairs new.csv -o new.csv", "-o and --all-pairs are both new.csv"),
        ("overlap corpus.jsonl a.jsonl b.jsonl --review new.csv -o link.csv", "-o and --review are both link.csv"),
    ],
)  # fmt: skip
def test_two_outputs_are_two_files(folder: Path, line: str, sentence: str) -> None:
    (folder / "link.csv").symlink_to("new.csv")
    before = stopping.content(folder)
    done = command(folder, *line.split())
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"karat: {sentence}: name two files\n")
    assert stopping.content(folder) == before


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("score corpus.jsonl a.jsonl -f json -o circle", "circle: is a link that leads back to itself"),
        ("predict firstphrases corpus.jsonl -f jsonl -o circle", "circle: is a link that leads back to itself"),
        ("corpus convert corpus.jsonl --to csv -o circle", "circle: is a link that leads back to itself"),
        ("annotate sheets corpus.jsonl a.jsonl --task phrase -o circle", "circle: is a link that leads back to itself"),
        ("annotate sheets corpus.jsonl a.jsonl --task phrase -o nowhere", "no/such: there is no such folder"),
        ("report corpus.jsonl a.jsonl -o new.html --figures nowhere", "nowhere: could not be written (File exists)"),
        ("score corpus.jsonl a.jsonl -o ", "-o is empty; name a file or a folder"),
        ("corpus convert corpus.jsonl -o ", "-o is empty; name a file or a folder"),
    ],
)
def test_an_output_that_leads_nowhere_is_a_sentence(folder: Path, line: str, sentence: str) -> None:
    (folder / "circle").symlink_to("back")
    (folder / "back").symlink_to("circle")
    (folder / "nowhere").symlink_to("no/such/folder")
    done = command(folder, *line.split(" "))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("karat: ")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert (folder / "circle").is_symlink()


def test_a_folder_that_is_mounted_twice_is_one_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mount needs rights that tests lack, so one folder gets the identity of another."""
    from karat.record import FileRecord

    record, plain = FileRecord(), os.path.samefile
    (folder / "mount").mkdir()
    mount, papers = os.path.realpath(folder / "mount"), os.path.realpath(folder / "papers")
    monkeypatch.setattr(os.path, "samefile", lambda *paths: set(paths) == {mount, papers} or plain(*paths))
    record.note_folder(papers)
    with pytest.raises(InputError, match=r"is in .*papers, which is an input"):
        record.note_output(folder / "mount" / "d0.txt")
    record.note_output(folder / "out" / "d0.txt")


def test_an_input_with_the_name_of_what_a_kill_leaves_is_not_removed(folder: Path) -> None:
    left, other = folder / ".corpus.jsonl.karat-new", folder / ".other.karat-new"
    shutil.copy(folder / "corpus.jsonl", left)
    other.touch()
    done = command(folder, "score", left.name, "a.jsonl", "--from", "karat", "-o", "new.json")
    assert done.returncode == 0, done.stderr
    assert left.read_bytes() == (folder / "corpus.jsonl").read_bytes()
    assert not other.exists()


@pytest.mark.parametrize("name", ["corpus.jsonl", "pairs.jsonl", "report.html", "runs/yake.jsonl"])
def test_the_demo_overwrites_no_file_of_others(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine\n")
    done = command(tmp_path, "demo", "--folder", ".")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"karat: {name}: is not a file of the demo, or was changed, and is not overwritten;"
        " move it, or choose another folder with --folder\n"
    )
    assert stopping.content(tmp_path) == {name: b"mine\n"}


def test_the_demo_runs_again_in_its_folder(tmp_path: Path) -> None:
    assert command(tmp_path, "demo").returncode == 0
    before = stopping.content(tmp_path)
    (tmp_path / "karat-demo" / "report.html").write_text("half a page")
    assert command(tmp_path, "demo").returncode == 0
    assert stopping.content(tmp_path) == before


def test_every_verb_is_in_the_table() -> None:
    assert set(REQUIRED) == set(COMMANDS)
    assert {verb for verb, _ in VERBS} == set(COMMANDS)
    assert len(COMMANDS) == sum(1 for _ in leaves(group))


# ---------------------------------------------------------------------------------------------- the record


def test_every_file_of_an_argument_is_in_the_record_when_it_is_opened(folder: Path) -> None:
    lines = [f"{verb} {line}" for verb, line in VERBS]
    for line, seen in zip(lines, audit(folder, lines), strict=True):
        assert seen["code"] == 0, (line, seen["stderr"])
        assert seen["unrecorded"] == [], line
        assert seen["opened"], line


def test_the_audit_sees_what_the_record_does_not(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"id": "d", "text": "Bees.", "keyphrases": ["bees"]}\n')
    (tmp_path / "plug_in.py").write_text("def f(documents):\n    open('x')\n    return [[] for _ in documents]\n")
    (tmp_path / "x").touch()
    [seen] = audit(tmp_path, ["predict ./plug_in.py:f corpus.jsonl -o out.jsonl"])
    assert (seen["code"], seen["unrecorded"]) == (0, ["x (read)"])


# ---------------------------------------------------------------------------------------------- files of people


def review(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return command(folder, "overlap", "corpus.jsonl", "a.jsonl", "b.jsonl", "--at-least", "1", "--review", *more)


@pytest.mark.parametrize("name", ["rv.csv", "rv.tsv", "rv.jsonl", "rv.csv.gz"])
def test_a_review_that_is_made_again_keeps_decisions_and_remarks(folder: Path, name: str) -> None:
    from karat.formats.reviews import read_review, write_review

    assert review(folder, name).returncode == 0
    first = (folder / name).read_bytes()
    assert review(folder, name).returncode == 0
    assert (folder / name).read_bytes() == first
    from karat.formats.containers import container_of, rows

    found = [row for _, row in rows(str(folder / name), container_of(name))]
    assert len(found) > 2
    decided = [
        {"id": row["id"], "phrase": row["phrase"], "systems": ["a"], "accept": accept}
        for row, accept in zip(found, (True, False), strict=False)
    ]
    decided[0]["why"] = "a good one"
    gone = {"id": "d0", "phrase": "of a run that was left out", "systems": ["c"], "accept": True}
    write_review(folder / name, [*decided, gone])
    before = read_review(folder / name)
    assert review(folder, name).returncode == 0
    after = read_review(folder / name)
    assert {key: (row["accept"], row.get("why")) for key, row in before.rows.items()} == {
        key: (row["accept"], row.get("why")) for key, row in after.rows.items()
    }
    assert len([*rows(str(folder / name), container_of(name))]) == len(found) + 1
    same = (folder / name).read_bytes()
    assert review(folder, name).returncode == 0
    assert (folder / name).read_bytes() == same


@pytest.mark.parametrize(("name", "mark"), [("rv.csv", ","), ("rv.csv", ";"), ("rv.tsv", "\t")])
def test_a_review_keeps_the_columns_that_people_added(folder: Path, name: str, mark: str) -> None:
    (folder / name).write_text(mark.join(["id", "phrase", "who", "systems", "accept", '"why, or why not"']) + "\n")
    assert review(folder, name).returncode == 0
    written = mark.replace(";", ",")
    header, *rest = (folder / name).read_text().splitlines()
    assert header == written.join(["id", "phrase", "systems", "accept", "who"]) + written + (
        "why, or why not" if name.endswith("tsv") else '"why, or why not"'
    )
    assert len(rest) > 2
    assert all(row.endswith(2 * written) for row in rest)
    same = (folder / name).read_bytes()
    assert review(folder, name).returncode == 0
    assert (folder / name).read_bytes() == same


def test_accepted_phrases_keep_the_columns_that_people_added(folder: Path) -> None:
    (folder / "accepted.csv").write_text("id,phrase,systems,accept,who\n")
    assert command(folder, "annotate", "collect", "phrases", "--accepted", "accepted.csv").returncode == 0
    header, *rest = (folder / "accepted.csv").read_text().splitlines()
    assert header == "id,phrase,systems,accept,who"
    assert rest


def test_a_file_that_is_no_review_is_not_replaced_by_one(folder: Path) -> None:
    for content in (
        "notes of mine\n",
        "id,phrase,systems\n",
        "id,phrase,systems,accept\n# bees are fine\n",
        "notes of mine\nand more\n",
        "id,phrase,systems,accept\nd0,bees,a,perhaps\n",
    ):
        (folder / "rv.csv").write_text(content)
        done = review(folder, "rv.csv")
        assert done.returncode == 2
        assert done.stderr.endswith("correct it, or move it away, or name another file\n")
        assert (folder / "rv.csv").read_text() == content


def test_accepted_phrases_do_not_replace_decisions(folder: Path) -> None:
    collect = ("annotate", "collect", "phrases", "--accepted", "accepted.csv")
    assert command(folder, *collect).returncode == 0
    assert command(folder, *collect).returncode == 0
    path = folder / "accepted.csv"
    path.write_text(path.read_text() + "d0,my own phrase,,yes\n")
    before = path.read_bytes()
    done = command(folder, *collect)
    assert (done.returncode, done.stderr) == (
        2,
        "karat: accepted.csv: holds decisions or remarks that are not in these answers; name another file\n",
    )
    assert path.read_bytes() == before


def test_a_review_that_is_killed_at_any_write_keeps_its_decisions(folder: Path) -> None:
    assert review(folder, "rv.csv").returncode == 0
    head, first, *rest = (folder / "rv.csv").read_text().splitlines(keepends=True)
    (folder / "rv.csv").write_text("".join([head, f"{first.rstrip()}yes\n", *rest[1:]]))
    words = "overlap corpus.jsonl a.jsonl b.jsonl --at-least 1 --review rv.csv"
    done = subprocess.run(
        [sys.executable, stopping.__file__, str(folder), *words.split()], capture_output=True, text=True, check=False
    )
    found = json.loads(done.stdout)
    assert found["faults"] == []
    assert found["kills"]["half a write"] >= 1


@pytest.mark.parametrize("before", ["", "id,phrase,systems,accept,who\n"])
def test_accepted_phrases_that_are_killed_at_any_write_are_written_by_the_next_command(
    folder: Path, before: str
) -> None:
    (folder / "accepted.csv").write_text(before)
    words = ["annotate", "collect", "phrases", "phrases/ana.json", "phrases/ben.json", "--accepted", "accepted.csv"]
    done = subprocess.run(
        [sys.executable, stopping.__file__, str(folder), *words], capture_output=True, text=True, check=False
    )
    found = json.loads(done.stdout)
    assert found["faults"] == []
    assert found["kills"]["half a write"] >= 1
    assert found["kills"]["fsync"] >= 2
    assert found["kills"]["replace"] >= 1


@pytest.mark.parametrize("name", ["study/ana.html", "study/ben.html", "study/study.json", "link/ana.html"])
@pytest.mark.parametrize("flag", ["--adjudicate", "--scores", "-o"])
def test_what_a_study_consists_of_is_not_replaced(folder: Path, name: str, flag: str) -> None:
    (folder / "link").symlink_to("study")
    refuse(folder, ["annotate", "collect", "study", "study/ana.json", "study/ben.json", flag, name])
    refuse(folder, ["annotate", "collect", "study/study.json", "study/ana.json", "study/ben.json", flag, name])


def test_the_interface_of_label_studio_is_not_replaced(folder: Path) -> None:
    words = ["annotate", "sheets", "corpus.jsonl", "a.jsonl", "--task", "set", "--format", "label-studio", "-o", "ls"]
    assert command(folder, *words).returncode == 0
    for name in ("labeling.xml", "tasks.json"):
        refuse(folder, ["annotate", "collect", "ls", "study/ana.json", "--adjudicate", f"ls/{name}"])


def test_a_sheet_of_disagreements_may_lie_in_the_folder_of_its_study(folder: Path) -> None:
    words = ["annotate", "collect", "study", "study/ana.json", "study/ben.json", "--adjudicate", "study/settle.html"]
    assert command(folder, *words).returncode == 0
    first = (folder / "study" / "settle.html").read_bytes()
    assert command(folder, *words).returncode == 0
    assert (folder / "study" / "settle.html").read_bytes() == first


# ---------------------------------------------------------------------------------------------- modes

WRITING = [
    "score corpus.jsonl a.jsonl -o {}.karat",
    "score corpus.jsonl a.jsonl -o {}.md",
    "corpus convert corpus.jsonl -o {}.csv",
    "corpus convert corpus.jsonl -o {}.parquet",
    "predict firstphrases corpus.jsonl -o {}.jsonl",
    "predict firstphrases corpus.jsonl -o {}.xlsx",
    "train kea corpus.jsonl -o {}.json",
    "overlap corpus.jsonl a.jsonl b.jsonl --review {}.csv",
    "report corpus.jsonl a.jsonl -o {}.html",
]


@pytest.mark.parametrize("line", WRITING)
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_a_file_that_is_replaced_keeps_its_mode(folder: Path, line: str, mode: int) -> None:
    words = line.format("out").split()
    target = folder / words[-1]
    target.touch()
    target.chmod(mode)
    done = command(folder, *words)
    assert done.returncode == 0, done.stderr
    assert target.stat().st_size
    assert stat.S_IMODE(target.stat().st_mode) == mode


def test_what_is_written_aside_is_no_wider_than_what_it_replaces(tmp_path: Path) -> None:
    from karat.formats.output import NEW, working_folder, writing_beside
    from karat.formats.unfinished import unfinished

    private = tmp_path / "private"
    private.touch()
    private.chmod(0o600)
    with writing_beside(private) as file:
        file.write(b"secret")
        assert stat.S_IMODE((tmp_path / f".private{NEW}").stat().st_mode) == 0o600
    with working_folder(private) as aside:
        assert stat.S_IMODE(aside.stat().st_mode) == 0o700
    with unfinished(str(private), "f"):
        assert stat.S_IMODE((tmp_path / "private.part").stat().st_mode) == 0o600


# ---------------------------------------------------------------------------------------------- a full disk

FULL = """
import errno, io, os, sys
from karat.formats import unfinished
class Full(io.FileIO):
    def write(self, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
plain = os.fdopen
def opened(number, mode="r", *rest, **more):
    return io.BufferedRandom(Full(number, "r+")) if mode == "r+b" else plain(number, mode, *rest, **more)
os.fdopen = opened
from karat.cli import main
sys.argv = ["karat", *sys.argv[1:]]
main()
"""


def test_a_full_disk_is_reported_with_the_name_of_the_output(folder: Path) -> None:
    words = ("predict", "firstphrases", "corpus.jsonl", "-o", "out.jsonl")
    environment = os.environ | {"PYTHONPATH": str(Path(karat.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", FULL, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (2, "karat: out.jsonl: could not be written (No space left on device)\n")
    assert not (folder / "out.jsonl").exists()
