"""The three tables of a study of homogeneity, with figures that are worked out by hand."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.analyses.study import runs_in
from karat.output import render
from tests.forked import program

DOCUMENTS = [
    {"id": "1", "text": "Graphs and trees of roads.", "keyphrases": ["graphs", "trees", "road traffic"]},
    {"id": "2", "text": "Trees on graphs.", "keyphrases": ["graphs", "trees"]},
    {"id": "3", "text": "Bees fly to the sun.", "keyphrases": ["bees", "flight"]},
]
REFORMULATIONS = [
    {"id": "1p", "source": "1", "method": "paraphrase", "text": "Roads with graphs, with trees."},
    {"id": "3p", "source": "3", "method": "paraphrase", "text": "Sun the bees fly to."},
    {"id": "2b", "source": "2", "method": "back", "text": "Wood on charts."},  # has lost both references
]
EXTRACTS = {"1": ["graphs", "trees"], "2": ["trees"], "3": ["bees"], "1p": ["graphs", "roads"], "3p": ["bees"]}
GENERATES = {"1": ["nets"], "2": ["nets", "trees"], "3": ["ants"], "1p": ["nets"], "3p": ["bees"], "2b": []}


def lines(path: Path, records: list[dict[str, Any]]) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


def predictions(lists: dict[str, list[str]]) -> list[dict[str, Any]]:
    return [{"id": name, "keyphrases": phrases} for name, phrases in lists.items()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines(tmp_path / "corpus.jsonl", DOCUMENTS)
    lines(tmp_path / "reformulations.jsonl", REFORMULATIONS)
    lines(tmp_path / "runs/gen.jsonl", predictions(GENERATES))
    own = {name: phrases for name, phrases in EXTRACTS.items() if not name.endswith("p")}
    lines(tmp_path / "runs/documents/ext.jsonl", predictions(own))
    lines(tmp_path / "runs/paraphrases/ext.jsonl", predictions({n: p for n, p in EXTRACTS.items() if n not in own}))
    return tmp_path


@pytest.fixture
def found(folder: Path) -> karat.Study:
    files = folder / "corpus.jsonl", folder / "reformulations.jsonl", folder / "runs"
    return karat.study(*files, resamples=99)


def test_the_first_table_has_the_classes_of_references_in_each_version(found: karat.Study) -> None:
    first = {row["version"]: row for row in found.rows() if row["table"] == 1}
    # Present are graphs and trees of 3, both of 2 and bees of 2; of road traffic one word is there, of flight none.
    original = [(2 / 3 + 1 + 1 / 2) / 3, 0, (1 / 3) / 3, (1 / 2) / 3]
    assert [first["original"][name] for name in "PRMU"] == pytest.approx(original)
    kept = [(2 / 3 + 1 / 2) / 2, 0, (1 / 3) / 2, (1 / 2) / 2]  # 1p and 3p
    assert [first["paraphrase"][name] for name in "PRMU"] == pytest.approx(kept)
    shared = [(2 / 3 + 1) / 2, 0, (1 / 3) / 2, 0]  # documents 1 and 2 share two of three references
    assert [first["CP 50 %"][name] for name in "PRMU"] == pytest.approx(shared)
    assert [(name, row["documents"]) for name, row in first.items()] == [
        ("original", 3),
        ("paraphrase", 2),
        ("back", 0),
        ("all", 2),
        ("CP 50 %", 2),
    ]


def test_the_second_and_third_table_have_the_agreement_of_each_kind_of_pair(found: karat.Study) -> None:
    rows = {(row["table"], row["system"]): row for row in found.rows() if row["table"] > 1}
    assert rows[2, "ext"]["hooper"] == pytest.approx((1 / 3 + 1) / 2)  # 1 and 1p share one of three, 3 and 3p all
    assert rows[2, "gen"]["hooper"] == pytest.approx((1 + 0) / 2)
    assert rows[2, "gen"]["generated"] == pytest.approx(3 / 4)  # bees stands in 3p
    assert [rows[2, name]["kind"] for name in ("ext", "gen")] == ["extracts", "generates"]
    assert (rows[3, "ext"]["hooper"], rows[3, "gen"]["hooper"]) == (1 / 2, 1 / 2)
    assert (rows[2, "ext"]["pairs"], rows[3, "ext"]["pairs"]) == (2, 1)


def test_predictions_for_reformulations_that_are_not_kept_are_no_strangers(found: karat.Study) -> None:
    assert not [note for note in found.notes if "in no corpus" in note]


def test_tables_that_cannot_be_made_are_explained(folder: Path) -> None:
    run = folder / "runs/gen.jsonl"
    found = karat.study(folder / "corpus.jsonl", None, run, min=0.9, resamples=9)
    assert {row["table"] for row in found.rows()} == {1}
    assert [note.split(",")[0] for note in found.notes] == [
        "no reformulations were given",
        "no two documents of corpus share 0.9 of their references",
    ]
    assert found.notes[1].endswith("so there is no third table; a lower --min gives 1 at .6")
    lost = lines(folder / "lost.jsonl", REFORMULATIONS[2:])
    notes = karat.study(folder / "corpus.jsonl", lost, run, resamples=9).notes
    assert "none of 1 reformulation is kept, so there is no second table" in notes


def test_files_of_one_name_in_folders_are_one_system(folder: Path) -> None:
    runs = {run.name: run for run in runs_in([folder / "runs"])}
    assert set(runs) == {"ext", "gen"}
    assert sorted(runs["ext"].ids, key=str) == ["1", "1p", "2", "3", "3p"]
    lines(folder / "runs/more/ext.jsonl", predictions({"3": ["sun"]}))
    with pytest.raises(karat.InputError, match="both of ext, and both have document '3'; keep one"):
        runs_in([folder / "runs"])
    (folder / "empty").mkdir()
    with pytest.raises(karat.InputError, match="no runs in this folder"):
        runs_in([folder / "empty"])


def test_the_command_shows_all_three_tables_in_80_columns(folder: Path) -> None:
    asked = ("corpus.jsonl", "runs", "--reformulations", "reformulations.jsonl", "--resamples", "99")
    command = [*program(), "pairs", "tables", *asked]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line[:2] for line in done if line[1:2] == "."] == ["1.", "2.", "3."]
    assert max(map(len, done)) <= 80


def test_every_format_holds_every_system(found: karat.Study) -> None:
    for form in ("table", "md", "latex", "csv", "json"):
        assert all(name in render(found, form) for name in ("ext", "gen", "paraphrase")), form


# ---------------------------------------------------------------------------------------------- another corpus

OTHERS = [
    {"id": "1", "text": "Deep nets.", "keyphrases": ["deep nets", "Learning"]},  # an id that the first corpus has too
    {"id": "o2", "text": "Nets learn.", "keyphrases": ["deep nets", "learning"]},
    {"id": "o3", "text": "Nets and trees.", "keyphrases": ["deep net", "learning", "trees"]},
]
NETS = {"1": ["nets"], "o2": ["nets", "x"], "o3": ["nets"]}


@pytest.fixture
def two(folder: Path) -> Path:
    """The folder with runs for each of two corpora, in folders that are named like them."""
    (folder / "runs").rename(folder / "old")
    (folder / "runs").mkdir()
    (folder / "old").rename(folder / "runs/corpus")
    lines(folder / "others.jsonl", OTHERS)
    for name in ("gen", "ext"):
        lines(folder / f"runs/others/{name}.jsonl", predictions(NETS))
    return folder


def test_the_third_table_may_be_of_another_corpus_with_runs_of_its_own(two: Path) -> None:
    files = two / "corpus.jsonl", two / "reformulations.jsonl", two / "runs"
    found = karat.study(*files, shared=two / "others.jsonl", resamples=99, min=0.6, stem=True)
    rows = {(row["table"], row["corpus"], row.get("system", row.get("version"))): row for row in found.rows()}
    assert rows[2, "corpus", "ext"]["hooper"] == pytest.approx((1 / 3 + 1) / 2)  # as without another corpus
    # By stems 1 and o2 are identical and left out; both share two of three references with o3.
    assert rows[3, "others", "gen"]["pairs"] == 2
    assert rows[3, "others", "gen"]["hooper"] == pytest.approx((1 + 1 / 2) / 2)
    assert (rows[1, "others", "original"]["documents"], rows[1, "others", "CP 60 %"]["documents"]) == (3, 3)
    assert (1, "corpus", "CP 60 %") not in rows
    shown = karat.render(found)
    for title in ("generators", "extractors", "Hooper with how alike", "Systems compared by hooper, table 3", "df"):
        assert title in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_identical_references_measure_and_stems_make_other_pairs(two: Path) -> None:
    files = two / "corpus.jsonl", None, two / "runs"

    def pairs(**options: Any) -> int:
        return len(karat.study(*files, shared=two / "others.jsonl", resamples=9, **options).mined)

    assert [pairs(min=0.6), pairs(min=0.6, identical="keep")] == [0, 1]
    assert [pairs(min=0.6, stem=True), pairs(min=0.6, stem=True, identical="keep")] == [2, 3]
    assert [pairs(min=0.3), pairs(min=0.3, measure="max")] == [0, 2]


def test_several_corpora_are_groups_of_the_third_table(two: Path) -> None:
    french = [{**each, "id": f"f{n}", "text": "Des réseaux."} for n, each in enumerate(OTHERS)]
    lines(two / "french.jsonl", french)
    lines(two / "runs/french/gen.jsonl", predictions({f"f{n}": ["réseau"] for n in range(3)}))
    given = two / "corpus.jsonl", None, two / "runs"
    both = [two / "others.jsonl", two / "french.jsonl"]
    found = karat.study(*given, shared=both, stem=True, min=0.6, language="french=french", resamples=9)
    assert [(each.corpus, len(each.mined)) for each in found.shared] == [("others", 2), ("french", 2)]
    shown = karat.render(found)
    assert "others, generators" in shown
    assert "french, extractors" in shown  # by French stems réseau is in a text about réseaux
    english = karat.study(*given, shared=both, stem=True, min=0.6, resamples=9)
    assert "french, generators" in karat.render(english)
    with pytest.raises(karat.InputError, match="unknown corpus 'frensh'"):
        karat.study(*given, shared=both, language="frensh=french", resamples=9)
    with pytest.raises(karat.InputError, match="two corpora of the third table are called others"):
        karat.study(*given, shared=[two / "others.jsonl"] * 2, resamples=9)


def test_what_systems_have_on_each_pair_is_written_by_table(two: Path) -> None:
    asked = ("corpus.jsonl", "runs", "--reformulations", "reformulations.jsonl", "--shared", "others.jsonl")
    options = ("--min", "0.6", "--stem", "--resamples", "99", "--pairs-out", "values.jsonl")
    subprocess.run([*program(), "pairs", "tables", *asked, *options], cwd=two, capture_output=True, check=True)
    rows = [json.loads(line) for line in (two / "values.jsonl").read_text().splitlines()]
    assert {(row["table"], row["corpus"], row["system"]) for row in rows} == {
        (2, "corpus", "ext"),
        (2, "corpus", "gen"),
        (3, "others", "ext"),
        (3, "others", "gen"),
    }
    assert [row["method"] for row in rows if row["table"] == 2] == ["paraphrase"] * 4


def test_tfidf_with_other_document_frequencies_for_reformulations_is_noted(tmp_path: Path) -> None:
    demo = Path(karat.__file__).parent / "demo"
    documents, made = karat.read(demo / "corpus.jsonl"), karat.read(demo / "paraphrases.jsonl")
    everything = karat.Corpus.of([*documents, *made])
    notes = []
    for frequencies in (everything, None):
        runs = [karat.predict(each, "tfidf", 20, frequencies=frequencies) for each in (documents, made)]
        both = karat.Run.of([*runs[0], *runs[1]], "tfidf")
        notes.append(karat.study(documents, demo / "paraphrases.jsonl", both, length=0.5, resamples=9).notes)
    said = [[note for note in each if "different document frequencies" in note] for each in notes]
    assert [len(each) for each in said] == [0, 1]
    assert said[1][0].startswith("tfidf: its scores show that documents and reformulations were weighed")
