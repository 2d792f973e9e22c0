"""Nothing is lost when a command is killed, whenever that is, and nothing is mixed when two write at once."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import karat
from karat.formats.output import LOCK, NEW, claimed
from tests.checksums import checksum_lines
from tests.faults import stopping
from tests.forked import command
from tests.pairs.server import serving

DEMO = Path(karat.__file__).parent / "demo"
DOCUMENTS = 5

COMMANDS = {
    "predict": "predict multipartiterank corpus.jsonl -o out.jsonl.gz",
    "reformulate": "pairs reformulate corpus.jsonl --via paraphrase --base-url {url} --model m --concurrency 1 "
    "-o out.jsonl --pairs pairs.jsonl",
    "score to results": "score corpus.jsonl run.jsonl -o out.karat",
    "score to a table": "score corpus.jsonl run.jsonl -o out.md",
    "convert to a file": "corpus convert corpus.jsonl -o out.csv",
    "convert to two files": "corpus convert corpus.jsonl --to chan --lossy -o out.src.txt+out.trg.txt",
    "convert to a folder": "corpus convert corpus.jsonl --to inspec --lossy -o folder",
    "report": "report corpus.jsonl --models firstphrases,yake -o page.html",
    "annotate": "annotate sheets corpus.jsonl run.jsonl --task set --annotators 2 -o study",
    "train": "train kea corpus.jsonl -o out.json.gz",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Five documents, a run, and old files where the commands write."""
    for name in ("corpus.jsonl", "by-hand.jsonl"):
        lines = (DEMO / name).read_text().splitlines(keepends=True)[:DOCUMENTS]
        (tmp_path / name.replace("by-hand", "run")).write_text("".join(lines))
    for name in ("out.jsonl.gz", "out.jsonl", "out.karat", "out.md", "out.csv", "out.json.gz"):
        (tmp_path / name).write_bytes(b"old\n")
    return tmp_path


TRAINING = (
    "train copyrnn,attention=general,embedding=4,hidden=4,read=20,written=10 corpus.jsonl --valid corpus.jsonl "
    "--steps 2 --batch 2 --device cpu --resume -o model"
)


def stop_everywhere(folder: Path, words: str, every: int = 1) -> dict[str, int]:
    """Kill a command at each of its changes of files; return how many times at what."""
    command_line = [sys.executable, stopping.__file__, "--every", str(every), str(folder), *words.split()]
    done = subprocess.run(command_line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["faults"] == []
    kills: dict[str, int] = found["kills"]
    return kills


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_command_that_is_killed_at_any_change_of_a_file_ends_the_same_when_it_is_run_again(
    folder: Path, words: str
) -> None:
    kills = stop_everywhere(folder, words)
    assert kills["write"] >= 1
    assert kills["half a write"] >= 1
    assert kills["fsync"] >= 2  # the file, and the folder that has its name
    assert kills["replace"] >= 1


@pytest.mark.neural
def test_a_training_that_is_killed_ends_the_same_and_its_files_always_match_their_checksums(folder: Path) -> None:
    """Kills at each seventh change; `python tests/faults/stopping.py FOLDER train ...` kills at all 177."""
    assert sum(stop_everywhere(folder, TRAINING, every=7).values()) > 20


# ---------------------------------------------------------------------------------------------- two at once


@pytest.fixture
def url() -> Iterator[str]:
    with serving() as endpoint:
        yield endpoint.url


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_what_another_process_writes_is_refused_with_its_name_and_left_as_it_is(
    folder: Path, words: str, url: str
) -> None:
    arguments = words.replace("{url}", url).split()
    output = arguments[arguments.index("-o") + 1].split("+")[0]
    with claimed(folder / output):
        before = stopping.content(folder)
        done = command(folder, *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"{output}: process {os.getpid()} on " in done.stderr
        assert done.stderr.endswith("is writing it; wait for that to end, or name another file\n")
        assert stopping.content(folder) == before
    assert command(folder, *arguments).returncode == 0
    assert [path.name for path in folder.iterdir() if path.name.endswith((NEW, LOCK, ".part"))] == []


def test_a_worker_that_outlives_its_command_does_not_hold_the_output(tmp_path: Path) -> None:
    target, reader, writer = tmp_path / "out.jsonl", *os.pipe()
    command_process = os.fork()
    if command_process == 0:
        with claimed(target):
            if os.fork() == 0:
                os.write(writer, str(os.getpid()).encode())
                signal.pause()
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(command_process, 0)
    worker = int(os.read(reader, 20))
    try:
        with claimed(target):
            pass
    finally:
        os.kill(worker, signal.SIGKILL)
        os.close(reader)
        os.close(writer)


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_of_two_that_begin_at_once_none_leaves_half_a_file(
    folder: Path, words: str, url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    arguments = words.replace("{url}", url).split()
    alone = shutil.copytree(folder, tmp_path_factory.mktemp("alone") / "folder")
    assert command(alone, *arguments).returncode == 0
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "karat", *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        for _ in range(2)
    ]
    said = [process.communicate()[1].decode() for process in started]
    codes = [process.returncode for process in started]
    assert 0 in codes
    assert all(code in (0, 2) for code in codes), said
    assert stopping.content(folder) == stopping.content(alone)


# ---------------------------------------------------------------------------------------------- what a part belongs to

PLUG_IN = """
import os
def words(documents):
    if not os.path.exists("go"):
        documents = [document for document in documents if document.id != "{stop}" or 1 / 0]
    return [[document.title.split()[0]] for document in documents]
"""


@pytest.fixture
def begun(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which a plug-in failed at the fourth document; it goes on when there is a file `go`."""
    ids = [json.loads(line)["id"] for line in (folder / "corpus.jsonl").read_text().splitlines()]
    (folder / "mine.py").write_text(PLUG_IN.format(stop=ids[3]))
    done = command(folder, "predict", "./mine.py:words", "corpus.jsonl", "-o", "run2.jsonl")
    assert (done.returncode, "ZeroDivisionError" in done.stderr) == (2, True)
    (folder / "go").touch()
    return folder


def notes(folder: Path, corpus: str = "corpus.jsonl", *more: str) -> str:
    done = command(folder, "predict", "./mine.py:words", corpus, "-o", "run2.jsonl", *more)
    assert done.returncode == 0, done.stderr
    return done.stderr


WENT_ON = "note: went on after 3 documents that were there already\n"


def test_a_corpus_that_is_touched_moved_or_packed_is_the_same(begun: Path) -> None:
    os.utime(begun / "corpus.jsonl", (1, 1))
    content = (begun / "corpus.jsonl").read_bytes()
    (begun / "elsewhere").mkdir()
    (begun / "elsewhere" / "moved.jsonl.gz").write_bytes(gzip.compress(content))
    assert notes(begun, "elsewhere/moved.jsonl.gz") == WENT_ON


@pytest.mark.parametrize("change", ["corpus", "plug-in", "a module beside it", "an option"])
def test_what_the_phrases_depend_on_begins_the_work_anew(begun: Path, change: str) -> None:
    corpus, plug_in, more = begun / "corpus.jsonl", begun / "mine.py", []
    if change == "corpus":
        corpus.write_text(corpus.read_text().replace("library", "libraries", 1))
    elif change == "plug-in":
        plug_in.write_text(plug_in.read_text().replace("[0]]", "[-1]]"))
    elif change == "a module beside it":
        plug_in.write_text(plug_in.read_text())
        os.utime(plug_in, (1, 1))
        part = (begun / "run2.jsonl.part").read_bytes()
        assert notes(begun) == WENT_ON  # written anew with the same content
        (begun / "run2.jsonl.part").write_bytes(part)
        (begun / "other.py").write_text("x = 1\n")
        plug_in.write_text("from . import other\n" + plug_in.read_text())
    else:
        more = ["-n", "4"]
    said = "note: run2.jsonl.part was of another model, other options or other documents: begun anew\n"
    assert notes(begun, "corpus.jsonl", *more) == said


@pytest.mark.parametrize(
    "refused",
    [("yake,window=0",), ("./mine.py:first_words,colour=red",), ("kea,model=corpus.jsonl",), ("nobody:knows",)],
)
def test_a_command_that_is_refused_leaves_the_work_of_others_and_none_of_its_own(
    begun: Path, refused: tuple[str, ...]
) -> None:
    part = begun / "run2.jsonl.part"
    kept = part.read_bytes()
    done = command(begun, "predict", *refused, "corpus.jsonl", "-o", "run2.jsonl")
    assert (done.returncode, part.read_bytes()) == (2, kept), done.stderr
    assert notes(begun) == WENT_ON
    done = command(begun, "predict", *refused, "corpus.jsonl", "-o", "other.jsonl")
    assert done.returncode == 2
    assert not (begun / "other.jsonl.part").exists()


def test_a_model_that_was_trained_again_begins_anew(folder: Path) -> None:
    train = ("train", "kea", "corpus.jsonl", "-o", "kea.json")
    assert command(folder, *train).returncode == 0
    predict = ("predict", "kea,model=kea.json", "corpus.jsonl", "-o", "run2.jsonl")
    assert command(folder, *predict).returncode == 0
    finished = (folder / "run2.jsonl").read_bytes()
    head = _part_of(folder, "kea,model=kea.json")
    (folder / "run2.jsonl.part").write_bytes(head + checksum_lines(finished.splitlines()[0]))
    os.utime(folder / "kea.json", (1, 1))
    assert "went on after 1 document" in command(folder, *predict).stderr
    (folder / "run2.jsonl.part").write_bytes(head + checksum_lines(finished.splitlines()[0]))
    model = json.loads((folder / "kea.json").read_text())
    assert command(folder, "train", "kea,longest=2", "corpus.jsonl", "-o", "kea.json").returncode == 0
    assert json.loads((folder / "kea.json").read_text()) != model
    assert "begun anew" in command(folder, *predict).stderr


def _part_of(folder: Path, model: str) -> bytes:
    """The first line of the part of a run on the corpus in the folder."""
    from karat.models.base import CommonOptions
    from karat.models.find import parse_model
    from karat.models.fingerprint import fingerprint

    name = model.replace("kea.json", str(folder / "kea.json"))
    found = fingerprint(parse_model(name), CommonOptions(), karat.read(folder / "corpus.jsonl"))
    return checksum_lines(msgspec.json.encode({"karat": karat.__version__, "fingerprint": found}))


@pytest.mark.parametrize("documents", [DOCUMENTS, 0])
def test_a_part_that_is_complete_is_finished(folder: Path, documents: int) -> None:
    lines = (folder / "corpus.jsonl").read_text().splitlines(keepends=True)[:documents]
    corpus, form = ("corpus.jsonl", "karat") if documents else ("empty.csv", "csv")
    (folder / "empty.csv").write_text("id,title,text,keyphrases\n")
    words = ("predict", "firstphrases", corpus, "--from", form, "-o", "run2.jsonl")
    done = command(folder, *words)
    assert done.returncode == 0, done.stderr
    finished = (folder / "run2.jsonl").read_bytes()
    assert len(finished.splitlines()) == len(lines)
    from karat.models.base import CommonOptions
    from karat.models.find import parse_model
    from karat.models.fingerprint import fingerprint

    whose = fingerprint(parse_model("firstphrases"), CommonOptions(), karat.read(folder / corpus, format=form))
    head = checksum_lines(msgspec.json.encode({"karat": karat.__version__, "fingerprint": whose}))
    (folder / "run2.jsonl").unlink()
    (folder / "run2.jsonl.part").write_bytes(head + checksum_lines(finished))
    done = command(folder, *words)
    assert done.returncode == 0, done.stderr
    assert (folder / "run2.jsonl").read_bytes() == finished
    assert not (folder / "run2.jsonl.part").exists()


def test_a_part_that_is_a_link_is_not_followed(folder: Path) -> None:
    (folder / "precious").write_text("keep me")
    (folder / "run2.jsonl.part").symlink_to("precious")
    done = command(folder, "predict", "firstphrases", "corpus.jsonl", "-o", "run2.jsonl")
    assert (done.returncode, "run2.jsonl.part: is a link" in done.stderr) == (2, True)
    assert (folder / "precious").read_text() == "keep me"


def test_what_killed_commands_left_is_removed_by_the_next_one_that_writes_there(folder: Path) -> None:
    (folder / f".gone.csv{NEW}" / "0").mkdir(parents=True)
    (folder / f".gone.csv{NEW}" / "0" / "gone.csv").write_text("half")
    (folder / f".gone.csv{LOCK}").write_text("process 1 on nowhere")
    (folder / f".other.md{NEW}").write_text("half")
    with claimed(folder / "held.md"):
        (folder / f".held.md{NEW}").write_text("being written")
        assert command(folder, "score", "corpus.jsonl", "run.jsonl", "-o", "out.md").returncode == 0
        left = {path.name for path in folder.iterdir() if path.name.startswith(".")}
        assert left == {f".held.md{NEW}", f".held.md{LOCK}"}


# ---------------------------------------------------------------------------------------------- inputs

OVERWRITING = [
    "score corpus.jsonl run.jsonl -o {} -f json",
    "score corpus.jsonl mine=run.jsonl -o {} -f json",
    "corpus df corpus.jsonl -o {}",
    "corpus convert corpus.jsonl -o {}",
    "run convert run.jsonl -o {}",
    "run ensemble run.jsonl run.jsonl -o {}",
    "train kea corpus.jsonl -o {}",
    "pairs mine corpus.jsonl -o {}",
    "describe corpus.jsonl run.jsonl -o {} -f json",
    "overlap corpus.jsonl run.jsonl other.jsonl --review {}",
    "nearmiss corpus.jsonl run.jsonl --all-pairs {}",
    "compare corpus.jsonl run.jsonl other.jsonl -o {} -f json",
    "predict firstphrases corpus.jsonl -o {}",
    "pairs reformulate corpus.jsonl --via synonyms -o {}",
]


@pytest.mark.parametrize("words", OVERWRITING)
@pytest.mark.parametrize("how", ["by name", "through a link", "as the same file"])
def test_inputs_are_never_overwritten(folder: Path, words: str, how: str) -> None:
    shutil.copy(folder / "run.jsonl", folder / "other.jsonl")
    given = "corpus.jsonl" if "corpus.jsonl" in words else "run.jsonl"
    output = given if how == "by name" else f"another-{given}"
    if how == "through a link":
        (folder / output).symlink_to(given)
    elif how == "as the same file":
        (folder / output).hardlink_to(folder / given)
    before = (folder / given).read_bytes()
    done = command(folder, *words.format(output).split())
    assert done.returncode == 2, done.stderr
    assert "is one of the inputs, which are never overwritten; name another file" in done.stderr
    assert (folder / given).read_bytes() == before


def test_documents_of_a_folder_are_not_overwritten(folder: Path) -> None:
    (folder / "texts").mkdir()
    (folder / "texts" / "a.txt").write_text("Bees dance.")
    (folder / "texts" / "b.txt").write_text("Wasps sting.")
    done = command(folder, "predict", "firstphrases", "texts", "-o", "texts/b.txt")
    assert (done.returncode, done.stderr) == (
        2,
        "karat: texts/b.txt: is in texts, which is an input; name a place outside of that folder\n",
    )
    assert (folder / "texts" / "b.txt").read_text() == "Wasps sting."
    for _ in range(2):  # beside the folder, again and again
        assert command(folder, "predict", "firstphrases", "texts", "-o", "texts.jsonl").returncode == 0


# ---------------------------------------------------------------------------------------------- the same bytes


@pytest.mark.parametrize("words", ["predict multipartiterank corpus.jsonl -o {}", "score corpus.jsonl run.jsonl -o {}"])
def test_bytes_do_not_depend_on_hash_seeds_processes_or_the_locale(folder: Path, words: str) -> None:
    suffix = ".karat" if words.startswith("score") else ".jsonl.gz"
    found = set()
    for number, (seed, jobs, locale) in enumerate([("0", "1", "C"), ("1", "2", "C.UTF-8"), ("2", "1", "tr_TR.UTF-8")]):
        output = f"same{number}{suffix}"
        environment = os.environ | {"PYTHONHASHSEED": seed, "LC_ALL": locale}
        arguments = [*words.format(output).split(), "-j", jobs]
        subprocess.run([sys.executable, "-m", "karat", *arguments], cwd=folder, env=environment, check=True)
        found.add((folder / output).read_bytes())
    assert len(found) == 1


@pytest.mark.parametrize("keep", ["", " --keep-runs runs"])
def test_a_report_of_models_has_equal_bytes_when_it_is_run_again(folder: Path, keep: str) -> None:
    words = f"report corpus.jsonl --models firstphrases,yake{keep} -o page.html".split()
    first = command(folder, *words)
    assert first.returncode == 0, first.stderr
    before = stopping.content(folder)
    assert before["page.html"]
    again = command(folder, *words)
    assert again.returncode == 0, again.stderr
    assert stopping.content(folder) == before
