"""What the command cannot use, it says in one line that tells what to write instead; it never shows a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import karat
from karat.formats.folder import RECORDS
from karat.formats.texts import SUFFIXES
from karat.protocol import PRESETS
from tests.forked import program
from tests.waiting import PATIENCE, until

# An interrupt is taken as in a shell's foreground, wherever the tests themselves run.
COMMAND = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from karat.cli import main
main()
"""

# The same command with a metric that says when it has begun and goes on until it is let go.
SLOW_COMMAND = """
import os, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy, karat, karat.metrics.base
@karat.metric("slow", better=None)
def slow(aligned, cutoff, subset):
    open("begun", "w").close()
    while not os.path.exists("let go"):
        time.sleep(0.01)
    return karat.metrics.base.rows(numpy.ones(aligned.documents))
from karat.cli import main
main()
"""

# The same command, whose new processes wait before they do anything.
FORKING_COMMAND = f"""
import os, time
def wait():
    open("forked", "w").close()
    while not os.path.exists("let go"):
        time.sleep(0.01)
os.register_at_fork(after_in_child=wait)
{COMMAND}
"""

# The same command, which stops in the midst of writing a corpus.
STOPPING_COMMAND = f"""
import time
import karat.formats.write
counted = karat.formats.write._counted
def stopping(records, progress):
    for number, record in enumerate(counted(records, progress)):
        if number == 10_000:
            open("begun", "w").close()
            time.sleep({PATIENCE})
        yield record
karat.formats.write._counted = stopping
{COMMAND}
"""

CORPUS = "".join(
    f'{{"id": "d{n}", "title": "Bees", "text": "A swarm of bees.", "keyphrases": ["swarm", "zoology"]}}\n'
    for n in range(1, 5)
)
RUN = "".join(f'{{"id": "d{n}", "keyphrases": ["swarm", "nest"]}}\n' for n in range(1, 5))


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("KARAT_DEBUG", "PYTHONUNBUFFERED")}
    path = [str(Path(karat.__file__).parents[1]), *filter(None, [kept.get("PYTHONPATH")])]
    return kept | {"PYTHONPATH": os.pathsep.join(path), "PYTHONIOENCODING": "utf-8"}


def command(arguments: Sequence[str], program: str = COMMAND) -> list[str]:
    return [sys.executable, "-c", program, *arguments]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "corpus.jsonl").write_text(CORPUS)
    (tmp_path / "run.jsonl").write_text(RUN)
    return tmp_path


def ran(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*program(), *arguments],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
    )


def refusal(folder: Path, *arguments: str) -> str:
    """The one line that answers wrong arguments or bad input."""
    done = ran(folder, *arguments)
    assert done.returncode == 2, done
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("karat: ")
    return lines[0]


def refused_usage(folder: Path, *arguments: str) -> str:
    """The last line that answers a wrong command line, after at most its usage."""
    done = ran(folder, *arguments)
    assert done.returncode == 2, done
    assert done.stdout == ""
    *usage, said = done.stderr.splitlines()
    assert all(line.startswith(("Usage: karat", "Try 'karat")) or not line for line in usage), done.stderr
    assert said.startswith(("karat: ", "Error: "))
    return said


SCORE = ("score", "corpus.jsonl", "run.jsonl")


def test_good_input_is_scored(folder: Path) -> None:
    done = ran(folder, *SCORE)

    assert (done.returncode, done.stderr) == (0, "")
    assert "f1@5" in done.stdout


# ---------------------------------------------------------------------------------------------- files


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "nothing.jsonl", "run.jsonl"),
        ("score", "corpus.jsonl", "nothing.jsonl"),
        ("score", "corpus.jsonl", "mine=nothing.jsonl"),
        ("score", "corpus.jsonl", "run.jsonl", "nothing.jsonl"),
        ("score", "corpus.jsonl+nothing.jsonl", "run.jsonl"),
        ("score", "corpus.jsonl", "nothing.jsonl", "--from", "karat"),
        ("results", "merge", "nothing.jsonl"),
    ],
)
def test_a_missing_file_is_named(folder: Path, arguments: Sequence[str]) -> None:
    assert refusal(folder, *arguments) == "karat: nothing.jsonl: there is no such file"


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "corpus.jsonl", "things", "--from", "karat"),
        ("results", "merge", "things"),
    ],
)
def test_a_directory_given_for_a_file_is_named(folder: Path, arguments: Sequence[str]) -> None:
    (folder / "things").mkdir()

    assert refusal(folder, *arguments) == "karat: things: is a directory, not a file"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (
            ("things", "run.jsonl"),
            f"no documents there (files that end in {', '.join((*SUFFIXES, *RECORDS))} are looked for)",
        ),
        (("corpus.jsonl", "things"), "no known format of a run (files photo.jpg); name it with --from"),
    ],
)
def test_a_folder_of_no_known_kind_is_named(folder: Path, arguments: Sequence[str], what: str) -> None:
    (folder / "things").mkdir()
    (folder / "things" / "photo.jpg").write_bytes(b"")

    said = refusal(folder, "score", *arguments)

    assert said == f"karat: things: {what}"


def test_lines_of_no_known_fields_are_named(folder: Path) -> None:
    (folder / "odd.jsonl").write_text('{"doc": "1", "tags_of_mine": "a;b"}\n')

    said = refusal(folder, "score", "corpus.jsonl", "odd.jsonl")

    assert said == (
        "karat: odd.jsonl: no known format of a run (fields doc, tags_of_mine); "
        "name it with --from, or its columns, as --fields id=doc,keyphrases=tags_of_mine"
    )


def test_a_bad_line_is_named(folder: Path) -> None:
    (folder / "run.jsonl").write_text(
        RUN.replace('"d2", "keyphrases": ["swarm", "nest"]', '"d2", "keyphrases": "nest"')
    )

    for jobs in ("1", "2"):
        assert refusal(folder, *SCORE, "-j", jobs).startswith("karat: run.jsonl:2: ")


def test_a_line_that_is_not_json_is_named(folder: Path) -> None:
    (folder / "corpus.jsonl").write_text(CORPUS + "{")

    assert refusal(folder, *SCORE).startswith("karat: corpus.jsonl:5: not JSON")


@pytest.mark.parametrize("empty", ["corpus.jsonl", "run.jsonl"])
def test_an_empty_file_is_called_empty(folder: Path, empty: str) -> None:
    (folder / empty).write_bytes(b"")

    assert refusal(folder, *SCORE) == f"karat: {empty}: the file is empty"


def test_one_text_file_for_a_corpus_is_answered_with_the_form_of_two(folder: Path) -> None:
    (folder / "test_src.txt").write_text("bees <eos> a swarm .\n")

    assert "SRC+TRG" in refusal(folder, "score", "test_src.txt", "run.jsonl")


def test_a_corpus_without_references_is_named(folder: Path) -> None:
    (folder / "bare.jsonl").write_text(CORPUS.replace('"keyphrases"', '"kp"'))

    assert "bare: no document has references" in refusal(folder, "score", "bare.jsonl", "run.jsonl")


def test_a_document_that_the_run_lacks_is_named_with_the_ways_out(folder: Path) -> None:
    (folder / "run.jsonl").write_text(RUN.replace("d3", "d9"))

    said = refusal(folder, *SCORE)

    assert "run.jsonl: no predictions for document 'd3' of corpus.jsonl" in said
    assert "--missing" in said


def test_a_document_that_the_corpus_lacks_is_named(folder: Path) -> None:
    (folder / "run.jsonl").write_text(RUN + '{"id": "d9", "keyphrases": []}\n')

    assert "run.jsonl:5: document 'd9' is not in corpus.jsonl" in refusal(folder, *SCORE)


def test_matching_by_id_without_ids_names_the_flag(folder: Path) -> None:
    (folder / "run.jsonl").write_text('{"keyphrases": []}\n' * 4)

    assert "run.jsonl: its lines have no id; match by --by line" in refusal(folder, *SCORE, "--by", "id")


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="the system does not name open files")
def test_a_pipe_given_as_a_file_is_read_or_named(folder: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, RUN.encode())
    os.close(writer)
    try:
        done = subprocess.run(
            command(["score", "corpus.jsonl", f"mine=/dev/fd/{reader}"]),
            cwd=folder,
            env=environment(),
            pass_fds=[reader],
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
        )
    finally:
        os.close(reader)

    assert done.returncode == 0 or (done.returncode == 2 and f"/dev/fd/{reader}" in done.stderr), done


# ---------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("flags", "wrong", "nearest"),
    [
        (["--from", "kart"], "unknown format 'kart'", "'karat'"),
        (["--protocol", "chan2018"], "unknown protocol 'chan2018'", "'chan2019'"),
        (["--protocol", "karat,pda=k"], "unknown protocol option 'pda'", "'pad'"),
        (["--protocol", "karat,tokenizer=mark"], "unknown value of option tokenizer 'mark'", "'marks'"),
        (["--protocol", "karat,stemmer=frensh"], "unknown stemmer 'frensh'", "'french'"),
        (["--language", "frensh"], "unknown language 'frensh'", "'french'"),
        (["-m", "ndgc@5"], "unknown metric 'ndgc'", "'ndcg'"),
        (["-m", "f1@5:presnt"], "unknown subset 'presnt'", "'present'"),
        (["-m", "f1@5/macro"], "unknown average of f1 'macro'", "'micro'"),
    ],
)
def test_a_wrong_name_is_answered_with_the_nearest_right_one(
    folder: Path, flags: list[str], wrong: str, nearest: str
) -> None:
    said = refusal(folder, *SCORE, *flags)

    assert wrong in said
    assert nearest in said.partition("did you mean ")[2].partition("?")[0]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["-m", "f1@X"], "cutoff 'X' in 'f1@X' is not a number from 1 to 1,000,000, M, O, G or V"),
        (["-m", "f1@0"], "cutoff '0' in 'f1@0' is not a number from 1 to 1,000,000, M, O, G or V"),
        (["-m", "f1@m"], "cutoff 'm' in 'f1@m' is not a number from 1 to 1,000,000, M, O, G or V"),
        (["-m", "f1"], "metric 'f1' needs a cutoff, as f1@5 or f1@M"),
        (["-m", ""], "metric '' is not NAME[@CUTOFF][:SUBSET][/AVERAGE]"),
        (["-m", "f1@5 :all"], "metric 'f1@5 :all' is not NAME[@CUTOFF][:SUBSET][/AVERAGE]"),
        (["-m", "f1@5,depth=3"], "unknown option of f1 'depth'"),
        (["-m", "f1@5,depth"], "'depth' is not option=value"),
        (["--protocol", "karat,pad"], "'pad' is not option=value"),
        (["--protocol", "karat,limit=0"], "option limit is `all` or a whole number from 1 to 1,000,000, not '0'"),
        (["--protocol", ""], "unknown protocol ''"),
        (["--references", "author"], "corpus.jsonl has no reference sets"),
    ],
)
def test_a_wrong_setting_is_answered_with_what_is_right(folder: Path, flags: list[str], said: str) -> None:
    assert said in refusal(folder, *SCORE, *flags)


@pytest.mark.parametrize(
    "flags", [["-m", f"f1@{10**20}"], ["-m", "f1@" + "9" * 5000], ["--protocol", "karat,limit=" + "9" * 5000]]
)
def test_a_number_beyond_measure_is_taken_or_refused_but_no_fault_of_ours(folder: Path, flags: list[str]) -> None:
    done = ran(folder, *SCORE, *flags)

    assert done.returncode in (0, 2), done.stderr[:300]


def test_a_wrong_name_to_list_is_answered_with_the_nearest_right_one(folder: Path) -> None:
    assert "did you mean 'chan2019'" in refusal(folder, "list", "protocols", "chan219")


def test_runs_of_equal_names_are_answered_with_how_to_name_them(folder: Path) -> None:
    (folder / "other").mkdir()
    (folder / "other" / "run.jsonl.gz").write_text(RUN)

    said = refusal(folder, *SCORE, "other/run.jsonl.gz")

    assert "two runs are named 'run'" in said
    assert "run.jsonl, other/run.jsonl.gz" in said
    assert "NAME=" in said


# ---------------------------------------------------------------------------------------------- flags


@pytest.mark.parametrize("flags", [["--baseline", "run"], ["--alternative", "less"]])
def test_discriminative_power_needs_two_sided_tests_of_all_pairs(folder: Path, flags: list[str]) -> None:
    systems = "compare", "corpus.jsonl", "run.jsonl", "other=run.jsonl"
    assert refusal(folder, *systems, "--discriminative-power", *flags) == (
        f"karat: --discriminative-power needs two-sided tests of every two systems: leave {flags[0]} out"
    )


@pytest.mark.parametrize("shard", ["3", "0/3", "4/3", "1/0", "-1/3", "a/b", "1/", "/3", "", "1/2/3", "1.5/3", "²/3"])
def test_a_wrong_shard_is_answered_with_the_form(folder: Path, shard: str) -> None:
    assert refusal(folder, *SCORE, f"--shard={shard}") == (
        f"karat: --shard is I/N with I from 1 to N, as 3/16, not {shard!r}"
    )


def test_a_shard_without_documents_is_said_to_be_empty(folder: Path) -> None:
    assert "shard 5/5 holds no document" in refusal(folder, *SCORE, "--shard", "5/5")


def test_a_format_for_results_that_karat_keeps_is_refused_before_any_work(folder: Path) -> None:
    said = refusal(folder, *SCORE, "-f", "json", "-o", "x.karat")

    assert "-o x.karat writes results for karat itself; leave out -f json" in said
    assert not (folder / "x.karat").exists()


@pytest.mark.parametrize("flags", [["--dev-corpus", "corpus.jsonl"], ["--dev-run", "run.jsonl"]])
def test_development_documents_and_their_run_go_together(folder: Path, flags: list[str]) -> None:
    assert refusal(folder, *SCORE, *flags) == "karat: --dev-corpus and --dev-run go together"


def test_a_development_run_of_another_name_is_answered_with_how_to_name_it(folder: Path) -> None:
    said = refusal(folder, *SCORE, "-m", "f1@V", "--dev-corpus", "corpus.jsonl", "--dev-run", "other=run.jsonl")

    assert "no development run is named 'run'; name it: run=PATH" in said


def test_a_missing_folder_for_the_output_is_named(folder: Path) -> None:
    assert refusal(folder, *SCORE, "-o", "nowhere/x.json") == "karat: nowhere: there is no such folder"


def test_a_directory_for_the_output_is_named_and_left_alone(folder: Path) -> None:
    (folder / "x.json").mkdir()

    assert refusal(folder, *SCORE, "-o", "x.json").startswith("karat: x.json: ")
    assert sorted(os.listdir(folder)) == ["corpus.jsonl", "run.jsonl", "x.json"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("scor", "corpus.jsonl", "run.jsonl"), "'score'"),
        ((*SCORE, "--protcol", "karat"), "'--protocol'"),
        ((*SCORE, "-f", "jsn"), "'json'"),
        ((*SCORE, "--missing", "none"), "'skip'"),
        ((*SCORE, "--by", "name"), "'line'"),
        ((*SCORE, "-j", "0"), "'--jobs'"),
        (("score", "corpus.jsonl"), "RUN..."),
        (("score",), "CORPUS"),
        (("list", "metric"), "'metrics'"),
        (("results", "merge"), "FILE..."),
    ],
)
def test_a_wrong_command_line_is_answered_with_its_usage(folder: Path, arguments: Sequence[str], said: str) -> None:
    assert said in refused_usage(folder, *arguments)


# ---------------------------------------------------------------------------------------------- saved results


@pytest.fixture
def shards(folder: Path) -> Path:
    """A folder with the results of three shards of one scoring."""
    corpus = karat.read(folder / "corpus.jsonl")
    run = karat.read_run(folder / "run.jsonl")
    for n in (1, 2, 3):
        karat.score(corpus, run, shard=f"{n}/3").save(folder / f"part{n}.karat")
    return folder


def test_all_shards_are_merged(shards: Path) -> None:
    assert ran(shards, "results", "merge", "part3.karat", "part1.karat", "part2.karat").returncode == 0


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (["part1.karat", "part3.karat"], "shard 2/3 is missing"),
        (["part2.karat"], "shard 1/3 is missing; shard 3/3 is missing"),
        (["part1.karat", "part2.karat", "part2.karat", "part3.karat"], "shard 2/3 is there twice"),
    ],
)
def test_merging_names_the_shards_that_are_missing_or_there_twice(shards: Path, parts: list[str], said: str) -> None:
    assert refusal(shards, "results", "merge", *parts) == f"karat: {said}"


def test_shards_of_other_divisions_are_not_merged(shards: Path) -> None:
    karat.score(shards / "corpus.jsonl", shards / "run.jsonl", shard="2/2").save(shards / "half.karat")

    assert "different N" in refusal(shards, "results", "merge", "part1.karat", "half.karat")


def test_shards_scored_otherwise_are_not_merged(shards: Path) -> None:
    karat.score(shards / "corpus.jsonl", shards / "run.jsonl", metrics=["p@5"], shard="2/3").save(
        shards / "part2.karat"
    )

    said = refusal(shards, "results", "merge", "part1.karat", "part2.karat", "part3.karat")

    assert "shard 2/3 was scored otherwise than shard 1/3" in said


@pytest.mark.parametrize("content", [b"", b"\x80", CORPUS.encode(), b"\x85karat\x01", b"\xff" * 50])
def test_a_file_that_holds_no_results_is_named(folder: Path, content: bytes) -> None:
    (folder / "x.karat").write_bytes(content)

    assert refusal(folder, "results", "merge", "x.karat").startswith("karat: x.karat: not a .karat file")


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.99])
def test_results_that_were_cut_off_are_named(shards: Path, kept: float) -> None:
    whole = (shards / "part1.karat").read_bytes()
    (shards / "part1.karat").write_bytes(whole[: int(len(whole) * kept)])

    said = refusal(shards, "results", "merge", "part1.karat", "part2.karat", "part3.karat")

    assert said.startswith("karat: part1.karat: not a .karat file, or damaged")


# ---------------------------------------------------------------------------------------------- interrupts


def started(folder: Path, arguments: Sequence[str], program: str = COMMAND) -> subprocess.Popen[bytes]:
    """The command in a group of processes of its own, as a shell starts it."""
    return subprocess.Popen(
        command(arguments, program),
        cwd=folder,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def outcome(process: subprocess.Popen[bytes]) -> tuple[int, str, str]:
    """(exit code, standard output, standard error) of a command that is about to end."""
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    return process.returncode, out.decode(), err.decode().lstrip("\n")  # a terminal shows ^C on a line of its own


def wait_for(file: Path, process: subprocess.Popen[bytes]) -> None:
    """Nothing, as soon as a command that still runs has made a file."""
    until(lambda: file.exists() or process.poll() is not None, f"no {file.name}")
    assert process.returncode is None, outcome(process)


INTERRUPTED = (130, "", "karat: interrupted\n")


def test_an_interrupt_while_standard_input_is_awaited_ends_quietly(folder: Path) -> None:
    process = started(folder, ["score", "-", "-"])
    assert process.stdin is not None
    # More than a pipe holds: when all of it is written, the command is at its reading.
    process.stdin.write(b" " * (1 << 21))
    process.stdin.flush()

    os.killpg(process.pid, signal.SIGINT)

    assert outcome(process) == INTERRUPTED


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_an_interrupt_while_documents_are_scored_ends_quietly(folder: Path, jobs: str) -> None:
    process = started(folder, [*SCORE, "-m", "slow", "-j", jobs], SLOW_COMMAND)
    wait_for(folder / "begun", process)

    os.killpg(process.pid, signal.SIGINT)
    (folder / "let go").touch()

    assert outcome(process) == INTERRUPTED


def test_an_interrupt_while_processes_are_started_ends_quietly(folder: Path) -> None:
    process = started(folder, [*SCORE, "-j", "3"], FORKING_COMMAND)
    wait_for(folder / "forked", process)

    os.killpg(process.pid, signal.SIGINT)
    (folder / "let go").touch()

    assert outcome(process) == INTERRUPTED


# ---------------------------------------------------------------------------------------------- closed pipes

LISTS = [["list", "metrics"], ["list", "protocols", "-f", "json"], ["demo"], ["--help"], list(SCORE)]


def into_a_closed_pipe(folder: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return subprocess.run(
            command(arguments),
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=writer,
            stderr=subprocess.PIPE,
            timeout=PATIENCE,
        )
    finally:
        os.close(writer)


@pytest.mark.parametrize("arguments", LISTS, ids=" ".join)
def test_output_that_nobody_reads_is_no_reason_to_complain(folder: Path, arguments: list[str]) -> None:
    assert into_a_closed_pipe(folder, arguments).stderr == b""


def test_output_that_nobody_reads_is_no_gate_that_failed(folder: Path) -> None:
    assert into_a_closed_pipe(folder, ["list", "metrics"]).returncode == 0


def test_the_first_line_of_a_list_can_be_taken_alone(folder: Path) -> None:
    whole = ran(folder, "list", "metrics").stdout

    process = subprocess.Popen(
        command(["list", "metrics"]), cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        assert process.stdout.readline().decode() == whole.splitlines(keepends=True)[0]
        process.stdout.close()
        assert process.stderr.read() == b""
        process.wait(PATIENCE)


def test_the_first_line_of_more_than_a_pipe_holds_can_be_taken_alone(folder: Path) -> None:
    every_protocol = [flag for name in PRESETS for flag in ("--protocol", name)]
    runs = [f"system{n}=run.jsonl" for n in range(2)]
    arguments = ["score", "corpus.jsonl", *runs, *every_protocol, "--averages", "-f", "json", "-q"]
    assert len(ran(folder, *arguments).stdout) > 1 << 16

    process = subprocess.Popen(
        command(arguments), cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        assert process.stdout.readline().startswith(b"{")
        process.stdout.close()
        assert process.stderr.read() == b""
        process.wait(PATIENCE)


def test_fields_that_no_file_has_are_named(folder: Path) -> None:
    said = refusal(folder, "score", "corpus.jsonl", "run.jsonl", "--fields", "id=doc,keyphrases=preds")

    assert said == "karat: --fields id=doc,keyphrases=preds: no file has these columns"


def test_ids_that_are_all_others_are_shown(folder: Path) -> None:
    (folder / "other.jsonl").write_text('{"id": "x1", "keyphrases": ["a"]}\n')

    said = refusal(folder, "score", "corpus.jsonl", "other.jsonl")

    assert said.endswith("; its own ids are others, as 'x1'")


def test_an_output_suffix_that_no_format_has_is_refused_before_any_work(folder: Path) -> None:
    said = refusal(folder, "score", "corpus.jsonl", "run.jsonl", "-o", "table.xlsx")

    assert said == (
        "karat: -o table.xlsx: .xlsx is the suffix of no format (known: .karat, .md, .html, .tex, .typ, .csv, .json, "
        ".txt); choose one with -f"
    )


def test_an_audit_is_of_one_metric(folder: Path) -> None:
    said = refusal(folder, "audit", "corpus.jsonl", "run.jsonl", "-m", "f1@5", "-m", "map")

    assert said == "karat: --metric names one, not 2: f1@5, map"


def test_a_format_that_cannot_be_written_as_a_run_names_those_that_can(folder: Path) -> None:
    said = refusal(folder, "run", "convert", "run.jsonl", "--to", "ldkp", "-o", "out.jsonl")

    assert said.startswith("karat: the format ldkp cannot be written as a run (known: karat, csv, parquet, xlsx, chan,")
    assert "ldkp" not in said.partition("known:")[2]


def test_lines_that_are_lists_are_no_text(folder: Path) -> None:
    (folder / "lists.jsonl").write_text('["a", "b"]\n["c"]\n')

    said = refusal(folder, "score", "corpus.jsonl", "lists.jsonl")

    assert said.startswith("karat: lists.jsonl: no known format of a run")


# ---------------------------------------------------------------------------------------------- long lines, odd numbers


def with_long_text(line: str) -> str:
    """The line with 50 MB of text in it."""
    return line.replace("TEXT", "A swarm of bees leaves the hive. " * (50 * 2**20 // 33))


def test_a_line_of_50_megabytes_is_scored_if_the_limits_are_raised(folder: Path) -> None:
    raised = ("--limit", "text=64MB", "--limit", "tokens=20000000")
    line = '{"id": "d1", "text": "TEXT", "keyphrases": ["swarm"]}\n'
    (folder / "long.jsonl").write_text(with_long_text(line))
    (folder / "one.jsonl").write_text('{"id": "d1", "keyphrases": ["swarm"]}\n')

    done = ran(folder, "score", "long.jsonl", "one.jsonl", "-m", "f1@1:present", "-f", "csv", *raised)

    assert (done.returncode, done.stderr) == (0, "")
    assert ",1.0," in done.stdout
    assert refusal(folder, "score", "long.jsonl", "one.jsonl").startswith(
        "karat: long.jsonl:1: the document has more than 8 MB; if that is right, raise the limit: --limit text=16MB"
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": "d1", "text": "TEXT', "not JSON: Input data was truncated"),
        ('{"id": "d1" TEXT}', "not JSON: JSON is malformed: expected ',' or '}' (column 13)"),
        ('{"id": "d1", "text": ["TEXT"]}', "Expected `str | null`, got `array` - at `$.text`"),
    ],
    ids=["cut off", "malformed", "of another type"],
)
def test_a_broken_line_of_50_megabytes_gets_a_sentence_of_normal_length(folder: Path, line: str, said: str) -> None:
    (folder / "corpus.jsonl").write_text(with_long_text(line))

    assert refusal(folder, *SCORE) == f"karat: corpus.jsonl:1: {said}"


def test_nan_among_the_scores_is_answered_with_null(folder: Path) -> None:
    (folder / "run.jsonl").write_text(RUN.replace("]}", '], "scores": [0.5, NaN]}'))

    assert refusal(folder, *SCORE) == (
        "karat: run.jsonl:1: not JSON: NaN and Infinity are no numbers there; write null (column 63)"
    )


def test_probabilities_of_more_or_fewer_phrases_are_counted_and_named(folder: Path) -> None:
    first, second, rest = RUN.partition("\n")[0], RUN.splitlines()[1], RUN.splitlines()[2:]
    told = second.replace("]}", '], "token_probs": [[0.5], [0.25], [1]]}')
    (folder / "run.jsonl").write_text("\n".join([first, told, *rest]))

    assert refusal(folder, *SCORE).startswith("karat: run.jsonl:2: 3 token_probs for 2 keyphrases")


# ---------------------------------------------------------------------------------------------- a full disk

FULL = Path("/dev/full")
MANY = 20_000  # documents, about 2 MB


@pytest.fixture
def much(folder: Path) -> Path:
    """A folder with a corpus of which the writing takes a while and some space, and a file that was there before."""
    line = CORPUS.splitlines()[0]
    (folder / "much.jsonl").write_text("".join(line.replace("d1", f"d{n}") + "\n" for n in range(MANY)))
    (folder / "old.jsonl").write_text("what was there before\n")
    return folder


def full(folder: Path, *arguments: str) -> str:
    """The one line of a command that could not write more than 1,000 bytes into any file, as on a full disk."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = subprocess.run(
        command(arguments, limit + COMMAND),
        cwd=folder,
        env=environment() | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stdout) == (2, ""), done
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    [said] = done.stderr.splitlines()
    return said


@pytest.mark.parametrize("name", ["old.jsonl", "new.jsonl", "new.jsonl.gz", "new.jsonl.zst", "new.csv", "new.parquet"])
def test_a_disk_that_is_full_while_converting_leaves_all_as_it_was(much: Path, name: str) -> None:
    said = full(much, "corpus", "convert", "much.jsonl", "-o", name)

    assert said == f"karat: {name}: could not be written (File too large)"


@pytest.mark.parametrize("to", ["folder", "ake", "semeval", "inspec"])
def test_a_disk_that_is_full_while_a_folder_is_written_leaves_all_as_it_was(folder: Path, to: str) -> None:
    long = CORPUS.replace("A swarm of bees.", "A swarm of bees. " * 100)
    (folder / "corpus.jsonl").write_text(long)

    said = full(folder, "corpus", "convert", "corpus.jsonl", "--to", to, "-o", "new", "--lossy")

    assert said == "karat: new: could not be written (File too large)"


@pytest.mark.parametrize("name", ["old.jsonl", "old.json", "new.json", "new.karat"])
def test_a_disk_that_is_full_while_scores_are_written_leaves_all_as_it_was(much: Path, name: str) -> None:
    (much / "old.json").write_text("what was there before\n")

    flags = ["-f", "json"] if name == "old.jsonl" else []
    said = full(much, *SCORE, *flags, "--averages", "-o", name)

    assert said == f"karat: {name}: could not be written (File too large)"


def test_a_device_that_is_full_is_named(folder: Path) -> None:
    said = refusal(folder, *SCORE, "-f", "json", "-o", str(FULL))

    assert said == "karat: /dev/full: could not be written (No space left on device)"


@pytest.mark.parametrize("unbuffered", [{}, {"PYTHONUNBUFFERED": "1"}], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("arguments", [("corpus", "convert", "corpus.jsonl"), ("list", "metrics"), SCORE], ids=" ".join)
def test_standard_output_that_is_full_is_said_in_one_line(
    folder: Path, arguments: Sequence[str], unbuffered: dict[str, str]
) -> None:
    with FULL.open("wb") as output:
        done = subprocess.run(
            command(arguments),
            cwd=folder,
            env=environment() | unbuffered,
            stdout=output,
            stderr=subprocess.PIPE,
            timeout=PATIENCE,
        )

    assert done.returncode == 2, done
    [said] = done.stderr.decode().splitlines()
    assert said.startswith("karat: ")
    assert "No space left on device" in said


# ---------------------------------------------------------------------------------------------- a conversion that ends


@pytest.mark.parametrize("name", ["old.jsonl", "new.jsonl.gz", "new.csv"])
def test_an_interrupted_conversion_leaves_the_old_file_and_nothing_else(much: Path, name: str) -> None:
    before = {path.name: path.read_bytes() for path in much.iterdir()}
    process = started(much, ["corpus", "convert", "much.jsonl", "-o", name], STOPPING_COMMAND)
    wait_for(much / "begun", process)
    assert list(much.glob(".*.karat-new/*/*"))

    os.killpg(process.pid, signal.SIGINT)

    assert outcome(process) == INTERRUPTED
    assert {path.name: path.read_bytes() for path in much.iterdir() if path.name != "begun"} == before


def test_the_first_bytes_of_a_conversion_can_be_taken_alone(much: Path) -> None:
    process = subprocess.Popen(
        command(["corpus", "convert", "much.jsonl"]),
        cwd=much,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        assert process.stdout.read(10) == b'{"id":"d0"'
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(PATIENCE) == 0


def test_a_conversion_that_nobody_reads_is_no_reason_to_complain(much: Path) -> None:
    done = into_a_closed_pipe(much, ["corpus", "convert", "much.jsonl"])

    assert (done.returncode, done.stderr) == (0, b"")
