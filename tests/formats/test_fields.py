"""Any table or JSON lines are read by the names of their columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.corpus import Document, Prediction
from karat.formats.fields import parse_fields


def file_of(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


TABLES = [(".csv", ","), (".csv", ";"), (".csv", "\t"), (".tsv", "\t"), (".txt", ","), (".txt", "\t"), ("", ";")]


@pytest.mark.parametrize(("suffix", "delimiter"), TABLES)
def test_a_table_with_any_delimiter_is_read_by_its_columns(tmp_path: Path, suffix: str, delimiter: str) -> None:
    rows = [["doc", "preds", "other"], ["d1", "deep nets|trees", "x"], ["d2", "", "y"]]
    path = file_of(tmp_path, f"table{suffix}", "\n".join(delimiter.join(row) for row in rows) + "\n")
    run = karat.read_run(path, fields="id=doc,keyphrases=preds,separator=|")
    assert list(run) == [Prediction(id="d1", keyphrases=["deep nets", "trees"]), Prediction(id="d2", keyphrases=[])]


@pytest.mark.parametrize(
    ("cell", "phrases"),
    [
        ("a; b", ["a", "b"]),
        ('["a", "b;c"]', ["a", "b;c"]),
        ("""['a', "it's"]""", ["a", "it's"]),
        ("['a', 'b\\'s']", ["a", "b's"]),
        ("[]", []),
        ("[a] b;c", ["[a] b", "c"]),
        (["a", None, "b"], ["a", None, "b"]),
        ("a;;b", ["a", "", "b"]),
        ("", []),
        (None, []),
        (7, ["7"]),
    ],
)
def test_a_string_where_a_list_is_due_is_split_or_read_as_the_list_it_spells(
    tmp_path: Path, cell: Any, phrases: list[str | None]
) -> None:
    path = file_of(tmp_path, "any.jsonl", json.dumps({"doc": 1, "tags": cell}) + "\n")
    assert list(karat.read_run(path, fields="id=doc,keyphrases=tags")) == [Prediction(id=1, keyphrases=phrases)]


def test_a_corpus_has_a_title_a_text_of_several_columns_and_named_sets(tmp_path: Path) -> None:
    record = {
        "meta": {"id": "d1"},
        "head": "Nets",
        "abstract": "We train.",
        "body": "At length.",
        "gold": "a|b,c",
        "indexers": ["x"],
    }
    path = file_of(tmp_path, "any.jsonl", json.dumps(record) + "\n")
    fields = "id=meta.id,title=head,text=abstract+body,keyphrases=gold,separator=,,variants=|,references.lib=indexers"
    assert list(karat.read(path, fields=fields)) == [
        Document(
            id="d1",
            title="Nets",
            text="We train.\nAt length.",
            keyphrases=[["a", "b"], "c"],
            reference_sets={"lib": ["x"]},
        )
    ]


def test_scores_and_probabilities_come_along(tmp_path: Path) -> None:
    path = file_of(tmp_path, "run.csv", 'id,kp,s,tp\nd1,a b;c,0.5; 0.25,"[[0.9, 0.8], null]"\nd2,a,,\n')
    assert list(karat.read_run(path, fields="id=id,keyphrases=kp,scores=s,token_probs=tp")) == [
        Prediction(id="d1", keyphrases=["a b", "c"], scores=[0.5, 0.25], token_probs=[[0.9, 0.8], None]),
        Prediction(id="d2", keyphrases=["a"]),
    ]


@pytest.mark.parametrize(
    ("scores", "message"),
    [("0.5", "1 scores for 2 keyphrases"), ("0.5;high", "'high' is not a number"), ("nan;1", "not a finite number")],
)
def test_scores_that_make_no_sense_are_said_with_their_line(tmp_path: Path, scores: str, message: str) -> None:
    path = file_of(tmp_path, "run.csv", f"id,keyphrases,scores\nd1,a,1\nd2,a;b,{scores}\n")
    with pytest.raises(karat.InputError, match=rf"run\.csv:3: .*{message}"):
        list(karat.read_run(path))


def test_fields_are_for_the_files_that_have_the_columns(tmp_path: Path) -> None:
    corpus = file_of(tmp_path, "c.jsonl", '{"id": "d1", "text": "deep nets", "keyphrases": ["deep nets"]}\n')
    run = file_of(tmp_path, "r.csv", "doc,preds\nd1,deep nets\n")
    fields = "id=doc,keyphrases=preds"
    found = karat.score(karat.read(corpus, fields=fields), karat.read_run(run, fields=fields), metrics=["f1@M"])
    assert found.scores[0].value == 1.0


def test_one_file_is_a_corpus_and_a_run_by_different_columns(tmp_path: Path) -> None:
    path = file_of(tmp_path, "both.csv", "doc,text,gold,preds\nd1,deep nets,deep nets,trees;deep nets\n")
    fields = ["corpus:id=doc,text=text,keyphrases=gold", "run:id=doc,keyphrases=preds"]
    found = karat.score(karat.read(path, fields=fields), karat.read_run(path, fields=fields), metrics=["p@M"])
    assert found.scores[0].value == 0.5


def test_a_column_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    path = file_of(tmp_path, "r.csv", "doc,preds\nd1,a\n")
    with pytest.raises(karat.InputError, match=r"r\.csv: no column 'doc_id'; there are 'doc', 'preds'"):
        karat.read_run(path, fields="run:id=doc_id,keyphrases=preds")
    with pytest.raises(karat.InputError, match=r"no known format of a run \(fields doc, preds\); name it with --from"):
        karat.read_run(path, fields="id=doc_id,keyphrases=preds")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("doc", "--fields is name=column"),
        ("ids=doc", "unknown field 'ids'; did you mean 'id'"),
        ("id=,keyphrases=x", "id names no column"),
        ("id=doc,separator=", "an empty separator"),
        ("x,id=doc", "--fields is name=column"),
    ],
)
def test_fields_that_cannot_be_read_are_explained(text: str, message: str) -> None:
    with pytest.raises(karat.InputError, match=message):
        parse_fields(text)


@pytest.mark.parametrize(
    ("text", "separator"), [("id=d,separator=,,title=t", ","), ("separator=\\t,id=d", "\t"), ("id=d", ";")]
)
def test_the_separator_may_be_a_comma_or_a_tab(text: str, separator: str) -> None:
    assert parse_fields(text).separator == separator


def test_a_table_with_karats_own_columns_needs_no_fields(tmp_path: Path) -> None:
    path = file_of(tmp_path, "c.csv", "id,title,text,keyphrases\nd1,Nets,We train.,nets; training\n")
    assert list(karat.read(path)) == [
        Document(id="d1", title="Nets", text="We train.", keyphrases=["nets", "training"])
    ]


@pytest.mark.parametrize("fields", ["id=doc, keyphrases=preds ,separator=|", "run:separator=|", "separator=|"])
def test_spaces_are_no_matter_and_a_separator_can_stand_alone(tmp_path: Path, fields: str) -> None:
    columns = "doc,preds" if "doc" in fields else "id,keyphrases"
    path = file_of(tmp_path, "r.csv", f"{columns}\nd1,deep nets|trees\n")
    assert list(karat.read_run(path, fields=fields)) == [Prediction(id="d1", keyphrases=["deep nets", "trees"])]


def test_phrases_with_their_scores_are_both(tmp_path: Path) -> None:
    path = file_of(tmp_path, "r.jsonl", '{"doc": "d1", "kps": [["deep nets", 0.5], ["trees", 1]]}\n')
    assert list(karat.read_run(path, fields="id=doc,keyphrases=kps")) == [
        Prediction(id="d1", keyphrases=["deep nets", "trees"], scores=[0.5, 1.0])
    ]


@pytest.mark.parametrize("phrase", ['{"text": "a"}', '["a", "b"]', '[["a"], 1]'])
def test_a_record_where_a_phrase_is_due_is_refused(tmp_path: Path, phrase: str) -> None:
    path = file_of(tmp_path, "r.jsonl", f'{{"doc": "d1", "kps": ["x", {phrase}]}}\n')
    with pytest.raises(karat.InputError, match=r"r\.jsonl:1: .* stands where a phrase is due"):
        list(karat.read_run(path, fields="id=doc,keyphrases=kps"))


def test_fields_win_over_a_named_format(tmp_path: Path) -> None:
    path = file_of(tmp_path, "r.csv", "doc,preds,keyphrases,id\nd1,right,wrong,d9\n")
    run = karat.read_run(path, format="csv", fields="run:id=doc,keyphrases=preds")
    assert list(run) == [Prediction(id="d1", keyphrases=["right"])]


def test_a_value_nested_more_deeply_than_can_be_shown_is_bad_input_and_not_a_crash(tmp_path: Path) -> None:
    for depth in range(850, 1000):
        nested = '{"a": ' * depth + "1" + "}" * depth
        path = file_of(tmp_path, "c.jsonl", f'{{"id": "d1", "text": "x", "keyphrases": [[{nested}]]}}\n')
        with pytest.raises(karat.InputError, match=r"c\.jsonl:1: .*(nested too deeply|--limit depth=128)"):
            list(karat.read(path, format="csv"))


def test_a_whole_number_beyond_all_floats_is_no_score(tmp_path: Path) -> None:
    path = file_of(tmp_path, "r.jsonl", f'{{"doc": "d1", "kps": ["a"], "weight": [{"9" * 400}]}}\n')
    with pytest.raises(karat.InputError, match=r"r\.jsonl:1: a number has more than 100 digits; .*digits=200$"):
        list(karat.read_run(path, fields="id=doc,keyphrases=kps,scores=weight"))
    with (
        karat.limit(digits=500),
        pytest.raises(karat.InputError, match=r"r\.jsonl:1: the score 9+\.\.\. is not a number$"),
    ):
        list(karat.read_run(path, fields="id=doc,keyphrases=kps,scores=weight"))


def test_long_names_of_columns_are_cut_where_they_are_repeated(tmp_path: Path) -> None:
    path = file_of(tmp_path, "r.csv", f"{'x' * 5000},{'y' * 5000}\n1,2\n")
    with pytest.raises(karat.InputError, match=r"no column 'doc'; there are 'xxx") as caught:
        list(karat.read_run(path, fields="run:id=doc"))
    assert len(str(caught.value)) < 600 + len(str(path))
