"""`karat run ensemble`, `rerank`, `show` and `karat overlap` as commands: what they write, print and refuse."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.cli.test_output import SYNTHETIC, karat

CORPUS = """\
{"id": "d1", "title": "Bees", "text": "A swarm of bees, and the swarm's queen.", "keyphrases": [["swarm", "horde"], \
"queen", "zoology"]}
{"id": "d2", "title": "Wasps", "text": "A nest.", "keyphrases": ["nest"]}
"""
A = """\
{"id": "d1", "keyphrases": ["Swarms", "beehive", "zoo"], "scores": [0.1, 0.9, 0.5]}
{"id": "d2", "keyphrases": ["nest", "paper nest"], "scores": [0.5, 0.7]}
"""
B = """\
{"id": "d2", "keyphrases": ["paper nests"]}
{"id": "d1", "keyphrases": ["beehives", "zoology", "swarm", "swarm"]}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "corpus.jsonl").write_text(CORPUS)
    (tmp_path / "a.jsonl").write_text(A)
    (tmp_path / "b.jsonl").write_text(B)
    (tmp_path / "old.jsonl").write_text("as it was")
    return tmp_path


def done(folder: Path, *arguments: str) -> tuple[str, str]:
    """What a command prints, and what it says."""
    found = karat(*arguments, cwd=folder)
    assert found.returncode == 0, found.stderr.decode()
    return found.stdout.decode(), found.stderr.decode()


def refusal(folder: Path, *arguments: str) -> str:
    """The last line that answers wrong arguments, where nothing is printed and no file is written or changed."""
    before = {path: path.read_bytes() for path in folder.iterdir()}
    found = karat(*arguments, cwd=folder)
    assert (found.returncode, found.stdout) == (2, b"")
    assert "Traceback" not in found.stderr.decode()
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    return found.stderr.decode().splitlines()[-1]


def records(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


# ---------------------------------------------------------------------------------------------- ensemble


def test_an_ensemble_is_written_in_the_order_of_the_first_run(folder: Path) -> None:
    assert done(folder, "run", "ensemble", "a.jsonl", "b.jsonl", "-o", "old.jsonl") == ("", "")
    first, second = records(folder / "old.jsonl")
    assert (first["id"], first["keyphrases"]) == ("d1", ["beehive", "Swarms", "zoology", "zoo"])
    assert first["scores"] == pytest.approx([1 / 62 + 1 / 61, 1 / 61 + 1 / 63, 1 / 62, 1 / 63])
    assert (second["id"], second["keyphrases"]) == ("d2", ["paper nest", "nest"])


def test_votes_and_a_least_number_of_runs(folder: Path) -> None:
    flags = ("--by", "vote", "--at-least", "2", "-o", "both.csv")
    done(folder, "run", "ensemble", "a.jsonl", "b.jsonl", *flags)
    with (folder / "both.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["id"], row["keyphrases"], row["scores"]) for row in rows] == [
        ("d1", "beehive;Swarms", "[2.0,2.0]"),
        ("d2", "paper nest", "[2.0]"),
    ]


def test_present_phrases_of_one_run_and_absent_ones_of_another(folder: Path) -> None:
    flags = ("--present", "a.jsonl", "--absent", "b.jsonl", "--corpus", "corpus.jsonl", "-o", "both.jsonl")
    done(folder, "run", "ensemble", *flags)
    first, second = records(folder / "both.jsonl")
    assert first["keyphrases"] == ["Swarms", "beehives", "zoology"]
    assert first["kinds"] == ["present", "absent", "absent"]
    assert second["keyphrases"] == ["nest", "paper nests"]


def test_what_a_format_cannot_hold_is_said(folder: Path) -> None:
    flags = ("--to", "kp20k", "-o", "old.jsonl")
    assert "cannot hold everything of the ensemble of a, b: scores" in refusal(
        folder, "run", "ensemble", "a.jsonl", "b.jsonl", *flags
    )
    _, said = done(folder, "run", "ensemble", "a.jsonl", "b.jsonl", *flags, "--lossy")
    assert said.startswith("note: lost: scores of 2 documents")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a.jsonl", "-o", "x.jsonl"], "an ensemble is of two runs or more, not of 1"),
        (["a.jsonl", "b.jsonl"], "Missing option '-o'"),
        (
            ["a.jsonl", "other.jsonl", "-o", "x.jsonl"],
            "other.jsonl: no predictions for document 'd1' of a.jsonl (2 such)",
        ),
        (["a.jsonl", "twice.jsonl", "-o", "x.jsonl"], "twice.jsonl: id 'd1' is on line 1 and on line 3"),
        (["a.jsonl", "a.jsonl", "-o", "x.jsonl"], "two runs are named 'a' (a.jsonl, a.jsonl); name them"),
        (["a.jsonl", "b.jsonl", "--by", "votes", "-o", "x.jsonl"], "'votes' is not one of 'rrf', 'vote'"),
        (["a.jsonl", "b.jsonl", "-o", "x.doc"], "x.doc: name the format with --to"),
        (["a.jsonl", "b.jsonl", "-o", "nowhere/x.jsonl"], "nowhere: there is no such folder"),
        (["--present", "a.jsonl", "--absent", "b.jsonl", "-o", "x.jsonl"], "give them with --corpus"),
        (["a.jsonl", "nothing.jsonl", "-o", "x.jsonl"], "nothing.jsonl: there is no such file"),
    ],
)
def test_what_cannot_be_fused_is_said_in_a_sentence(folder: Path, arguments: list[str], said: str) -> None:
    (folder / "other.jsonl").write_text('{"id": "e1", "keyphrases": ["x"]}\n{"id": "e2", "keyphrases": ["x"]}\n')
    (folder / "twice.jsonl").write_text(A + '{"id": "d1", "keyphrases": ["x"]}\n')
    assert said in refusal(folder, "run", "ensemble", *arguments)


# ---------------------------------------------------------------------------------------------- rerank


def test_a_run_is_reranked_by_its_scores(folder: Path) -> None:
    assert done(folder, "run", "rerank", "a.jsonl", "--by", "scores", "-o", "sorted.jsonl") == ("", "")
    assert records(folder / "sorted.jsonl") == [
        {"id": "d1", "keyphrases": ["beehive", "zoo", "Swarms"], "scores": [0.9, 0.5, 0.1]},
        {"id": "d2", "keyphrases": ["paper nest", "nest"], "scores": [0.7, 0.5]},
    ]


def test_phrases_without_probabilities_are_counted_in_a_note(folder: Path) -> None:
    lines = '{"id": "d1", "keyphrases": ["a", "b", "c"], "token_probs": [null, [0.5, 0.5], [0.9]]}\n'
    (folder / "probs.jsonl").write_text(lines)
    _, said = done(folder, "run", "rerank", "probs.jsonl", "--by", "kpp", "-o", "sorted.jsonl")
    assert said == "note: probs: 1 of 3 phrases have not token probabilities and go last\n"
    assert records(folder / "sorted.jsonl")[0]["keyphrases"] == ["c", "b", "a"]


def test_a_run_without_probabilities_cannot_be_reranked_by_them(folder: Path) -> None:
    said = refusal(folder, "run", "rerank", "a.jsonl", "--by", "kpp", "-o", "old.jsonl")
    assert said.startswith('karat: a.jsonl has no token probabilities; write "token_probs"')
    assert "'kp' is not one of 'kpp', 'scores'" in refusal(
        folder, "run", "rerank", "a.jsonl", "--by", "kp", "-o", "x.jsonl"
    )


# ---------------------------------------------------------------------------------------------- show


def test_a_document_is_shown_with_its_references_and_predictions(folder: Path) -> None:
    shown, _ = done(folder, "run", "show", "--id", "d1", "corpus.jsonl", "a.jsonl", "b.jsonl")
    assert (
        shown
        == """\
corpus, document d1, protocol karat

Bees

A «swarm» of bees, and the «swarm»'s «queen».

     references       a         b
present
  1  swarm / horde +  Swarms +  swarm +
  2  queen                      swarm -
absent
  1  zoology +        beehive   beehives
  2                   zoo       zoology +

«in the text»: a present reference; phrase +: a prediction that is a reference,
  and a reference that is found; phrase -: a prediction that the protocol drops
"""
    )


def test_a_document_is_shown_as_markdown(folder: Path) -> None:
    shown, _ = done(folder, "run", "show", "--id", "d2", "corpus.jsonl", "a.jsonl", "b.jsonl", "-f", "md")
    assert (
        shown
        == """\
**corpus, document d2, protocol karat**

Wasps

A **nest**.

|  | references | a | b |
|:--|:--|:--|:--|
| present |  |  |  |
|   1 | **nest** | **nest** | – |
| absent |  |  |  |
|   1 | – | paper nest | paper nests |

**in the text**: a present reference; **phrase**: a prediction that is a reference, and a reference that is found
"""
    )


def test_a_document_is_shown_as_json(folder: Path) -> None:
    shown = json.loads(done(folder, "run", "show", "--id", "d1", "corpus.jsonl", "b.jsonl", "-f", "json")[0])
    assert list(shown) == ["signatures", "rows", "notes", "document", "references"]
    text = shown["document"]["text"]
    assert [text[start:end] for start, end in shown["document"]["marks"]["text"]] == ["swarm", "swarm", "queen"]
    assert shown["references"][0] == {"phrases": ["swarm", "horde"], "subset": "present", "found_by": ["b"]}
    assert [(row["phrase"], row["hit"], row["dropped"]) for row in shown["rows"]] == [
        ("beehives", False, None),
        ("zoology", True, None),
        ("swarm", True, None),
        ("swarm", False, "repeated"),
    ]


def test_many_systems_go_on_below_and_no_line_is_too_wide(folder: Path) -> None:
    systems = [f"system-number-{n}-with-a-long-name-that-goes-on={name}.jsonl" for n, name in enumerate("abab")]
    shown, _ = done(folder, "run", "show", "--id", "d1", "corpus.jsonl", *systems)
    assert [line for line in shown.splitlines() if len(line) > 80] == []
    assert shown.count("references") == 1
    assert shown.count("present\n") == 2
    assert [shown.count(f"system-number-{n}") for n in range(4)] == [1] * 4


def test_what_could_move_the_cursor_is_not_printed(folder: Path) -> None:
    record = {"id": "d2", "keyphrases": ["\x1b[2Jnest", "a\tb\u202ec"]}
    (folder / "a.jsonl").write_text(A.splitlines()[0] + "\n" + json.dumps(record) + "\n")
    for flags in ([], ["-f", "md"]):
        shown, _ = done(folder, "run", "show", "--id", "d2", "corpus.jsonl", "a.jsonl", *flags)
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert "a b�c" in shown


def test_phrases_across_the_words_of_others_are_one_mark_and_neighbours_are_two(folder: Path) -> None:
    corpus = {
        "id": "d1",
        "text": "We parse trees of deep nets well.",
        "keyphrases": ["tree of deep", "deep net", "well", "parsing"],
    }
    (folder / "corpus.jsonl").write_text(json.dumps(corpus) + "\n")
    (folder / "a.jsonl").write_text('{"id": "d1", "keyphrases": []}\n')
    shown, _ = done(folder, "run", "show", "--id", "d1", "corpus.jsonl", "a.jsonl")
    assert "We «parse» «trees of deep nets» «well».\n" in shown
    assert "note: a: no predictions\n" in shown


def test_letters_are_marked_where_the_protocol_looks_at_letters(folder: Path) -> None:
    corpus = {"id": "d1", "text": "We train nets .", "keyphrases": ["ai"]}
    (folder / "corpus.jsonl").write_text(json.dumps(corpus) + "\n")
    (folder / "a.jsonl").write_text('{"id": "d1", "keyphrases": ["ai"]}\n')
    files = ("corpus.jsonl", "a.jsonl")
    assert "We «train» nets ." in done(folder, "run", "show", "--id", "d1", *files, "--protocol", "kpdrop2022")[0]
    assert "We train nets ." in done(folder, "run", "show", "--id", "d1", *files)[0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--id", "d12", "corpus.jsonl", "a.jsonl"],
            "corpus.jsonl: there is no document 'd12'; did you mean 'd1' or 'd2'?",
        ),
        (["--id", "zzz", "corpus.jsonl", "a.jsonl"], "corpus.jsonl: there is no document 'zzz'"),
        (["corpus.jsonl", "a.jsonl"], "Missing option '--id'"),
        (
            ["--id", "d2", "corpus.jsonl", "short.jsonl"],
            "short.jsonl: no predictions for document 'd2' of corpus.jsonl; show it",
        ),
        (
            ["--id", "d1", "corpus.jsonl", "a.jsonl", "--references", "author"],
            "the document has no reference set 'author'",
        ),
        (["--id", "d1", "corpus.jsonl", "a.jsonl", "-f", "csv"], "'csv' is not one of 'table', 'md', 'json'"),
    ],
)
def test_what_cannot_be_shown_is_said_in_a_sentence(folder: Path, arguments: list[str], said: str) -> None:
    (folder / "short.jsonl").write_text(A.splitlines()[0] + "\n")
    assert said in refusal(folder, "run", "show", *arguments)


def test_what_other_documents_lack_does_not_matter(folder: Path) -> None:
    (folder / "short.jsonl").write_text(A.splitlines()[1] + "\n")
    shown, _ = done(folder, "run", "show", "--id", "d2", "corpus.jsonl", "short.jsonl")
    assert "nest +      nest +" in shown
    shown, _ = done(folder, "run", "show", "--id", "d1", "corpus.jsonl", "short.jsonl", "--missing", "empty")
    assert "note: short: no predictions" in shown


# ---------------------------------------------------------------------------------------------- overlap


def test_a_review_is_written_and_scored_with(folder: Path) -> None:
    files = ("corpus.jsonl", "a.jsonl", "b.jsonl")
    printed, _ = done(folder, "overlap", *files, "--review", "review.csv")
    assert "2 phrases that 2 or more systems predict are no references" in printed
    text = (folder / "review.csv").read_text()
    assert text == "id,phrase,systems,accept\nd1,beehive,a; b,\nd2,paper nest,a; b,\n"
    (folder / "review.csv").write_text(text.replace("nest,a; b,", "nest,a; b,yes"))
    flags = ("-m", "p@M", "-m", "r@M", "-f", "json")
    plain = json.loads(done(folder, "score", *files[:2], *flags)[0])
    more = json.loads(done(folder, "score", *files[:2], *flags, "--extra-references", "review.csv")[0])
    assert [row["value"] for row in plain["rows"]] == pytest.approx([(1 / 3 + 1 / 2) / 2, (1 / 3 + 1) / 2])
    assert [row["value"] for row in more["rows"]] == pytest.approx([(1 / 3 + 2 / 2) / 2, (1 / 3 + 1) / 2])
    assert more["notes"] == ["with 1 extra reference for 1 document (review.csv)"]
    assert ",extra=" in more["signatures"]["karat"]
    assert ",extra=" not in plain["signatures"]["karat"]


def test_a_review_is_json_lines_unless_its_name_says_otherwise(folder: Path) -> None:
    done(folder, "overlap", "corpus.jsonl", "a.jsonl", "b.jsonl", "--review", "review.jsonl", "-q")
    assert records(folder / "review.jsonl")[0] == {
        "id": "d1",
        "phrase": "beehive",
        "systems": ["a", "b"],
        "accept": None,
    }


def test_the_bytes_are_the_same_on_several_processes_and_in_a_file(tmp_path: Path) -> None:
    whole = karat("overlap", *SYNTHETIC, "-f", "json", "--review", str(tmp_path / "one.jsonl")).stdout
    found = json.loads(whole)
    assert list(found) == ["signatures", "rows", "notes", "options", "complementarity", "alone", "to_review"]
    again = karat(
        "overlap", *SYNTHETIC, "-j", "2", "-f", "json", "--review", str(tmp_path / "two.jsonl"), PYTHONHASHSEED="3"
    )
    assert again.stdout == whole
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    assert len((tmp_path / "one.jsonl").read_text().splitlines()) == found["to_review"]
    karat("overlap", *SYNTHETIC, "-o", str(tmp_path / "found.json"))
    assert (tmp_path / "found.json").read_bytes() == whole


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a.jsonl"], "an overlap is of two runs or more, not of 1"),
        (["a.jsonl", "b.jsonl", "--at-least", "3"], "at least 3 of 2 runs cannot have a phrase"),
        (["a.jsonl", "b.jsonl", "--at-least", "0"], "0 is not in the range x>=1"),
        (["a.jsonl", "b.jsonl", "--empty", "one"], "'one' is not one of 'skip', 'zero'"),
        (["a.jsonl", "b.jsonl", "--review", "."], ".: is a directory, not a file"),
        (["a.jsonl", "b.jsonl", "--review", "nowhere/r.csv"], "nowhere: there is no such folder"),
        (["a.jsonl", "b.jsonl", "-o", "x.karat"], "this verb writes no .karat file"),
        (["a.jsonl", "other.jsonl"], "other.jsonl: no predictions for document 'd1' of corpus.jsonl"),
        (["a.jsonl", "b.jsonl", "--protocol", "chan2018"], "did you mean 'chan2019'"),
    ],
)
def test_what_cannot_overlap_is_said_in_a_sentence(folder: Path, arguments: list[str], said: str) -> None:
    (folder / "other.jsonl").write_text('{"id": "e1", "keyphrases": ["x"]}\n')
    assert said in refusal(folder, "overlap", "corpus.jsonl", *arguments)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            '{"id": "d12", "phrase": "x", "accept": true}',
            "review.jsonl:2: there is no document 'd12' in corpus.jsonl; did you mean 'd1' or 'd2'?",
        ),
        ('{"id": "d1", "phrase": "x", "accept": tru', "review.jsonl:2: not JSON"),
        ('{"id": "d1", "accept": true}', "review.jsonl:2: no phrase; a line is"),
    ],
)
def test_a_review_that_cannot_be_used_is_refused_with_its_line(folder: Path, line: str, said: str) -> None:
    (folder / "review.jsonl").write_text('{"id": "d1", "phrase": "x", "accept": null}\n' + line + "\n")
    assert said in refusal(folder, "score", "corpus.jsonl", "a.jsonl", "--extra-references", "review.jsonl")
