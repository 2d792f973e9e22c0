"""Queries, judgements and rankings: every form is read, what is damaged is named, and what is written is read back."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import ir_measures
import pytest

from karat import InputError
from karat.formats.trec import read_qrels, read_queries, read_ranking, write_qrels, write_queries, write_ranking

QUERIES = {"q1": "neural nets", "q2": "bees, that dance"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("q.jsonl", '{"id": "q1", "text": "neural nets"}\n{"id": "q2", "text": "bees, that dance"}\n'),
        ("q.json", '[{"id": "q1", "text": "neural nets"}, {"id": "q2", "text": "bees, that dance"}]'),
        ("beir.jsonl", '{"_id": "q1", "text": "neural nets"}\n{"_id": "q2", "text": "bees, that dance"}\n'),
        ("q.csv", 'id,text\nq1,neural nets\nq2,"bees, that dance"\n'),
        ("q.tsv", "q1\tneural nets\nq2\tbees, that dance\n"),
        ("q.txt", "q1\tneural nets\n\nq2\tbees, that dance\n"),
        ("named.tsv", "qid\tquery\nq1\tneural nets\nq2\tbees, that dance\n"),
    ],
)
def test_queries_are_read_from_every_form(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    assert read_queries(tmp_path / name) == QUERIES


def test_ids_of_queries_may_be_numbers_and_texts_may_be_empty() -> None:
    assert read_queries([{"id": 7, "text": ""}]) == {"7": ""}
    assert read_queries({"a": "b"}) == {"a": "b"}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("q.jsonl", '{"id": "q1", "text": "a"}\n' * 2, "q.jsonl: query 'q1' is on line 1 and on line 2"),
        ("q.jsonl", '{"id": "q1"}\n', "q.jsonl:1: no text (there is id)"),
        ("q.jsonl", '{"text": "a"}\n', "q.jsonl:1: no id (there is text)"),
        ("q.jsonl", '{"id": "q1", "text": ["a"]}\n', "q.jsonl:1: text is a string, not ['a']"),
        ("q.txt", "q1 neural nets\n", "q.txt:1: no tab between the id and the text of a query"),
        ("q.jsonl", "\n", "there are no queries in it"),
    ],
)  # fmt: skip
def test_a_damaged_file_of_queries_is_named_with_its_line(tmp_path: Path, name: str, content: str, said: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError) as refused:
        read_queries(tmp_path / name)
    assert said in str(refused.value)


def test_judgements_are_read_as_trec_and_as_beir_write_them(tmp_path: Path) -> None:
    trec, beir, packed = tmp_path / "a.qrels", tmp_path / "b.tsv", tmp_path / "c.qrels.gz"
    trec.write_text("q1 0 d1 2\nq1 0 d2 0\nq2\t0\td1\t-1\n\n")
    beir.write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td1\t-1\n")
    packed.write_bytes(gzip.compress(trec.read_bytes()))
    found = {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": -1}}
    assert read_qrels(trec) == read_qrels(beir) == read_qrels(packed) == read_qrels(found) == found


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("q1 0 d1 1\nq1 0 d1 0\n", "'d1' is judged for query 'q1' on line 1 and on line 2"),
        ("q1 0 d1 1\nq1 d2\n", "a.qrels:2: 2 columns, not 3 or 4; a line is `q1 0 d7 1`"),
        ("q1 0 d1 1\nq1 0 d2 high\n", "a.qrels:2: the relevance 'high' is no whole number"),
        ("q1 0 d1 1.5\n", "a.qrels:1: the relevance '1.5' is no whole number"),
        ("q1 0 d1 99999999999999999999\n", "a.qrels:1: the relevance '99999999999999999999' is no whole number"),
        ("", "there are no judgements in it"),
    ],
)
def test_a_damaged_file_of_judgements_is_named_with_its_line(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "a.qrels").write_text(content)
    with pytest.raises(InputError) as refused:
        read_qrels(tmp_path / "a.qrels")
    assert said in str(refused.value)


def test_a_ranking_goes_by_score_and_then_by_id_from_the_last_on_whatever_its_ranks_say(tmp_path: Path) -> None:
    (tmp_path / "a.trec").write_text("q1 Q0 a 1 1.5 x\nq1 Q0 c 2 1.5 x\nq1 Q0 b 3 2e0 x\nq2 Q0 a 1 -1 x\n")
    assert read_ranking(tmp_path / "a.trec") == {"q1": [("b", 2.0), ("c", 1.5), ("a", 1.5)], "q2": [("a", -1.0)]}


def test_scores_that_are_equal_in_single_precision_are_equal_as_they_are_for_trec_eval(tmp_path: Path) -> None:
    (tmp_path / "a.trec").write_text("q Q0 c 1 1.0 x\nq Q0 b 2 1.0000000001 x\n")
    assert [document for document, _ in read_ranking(tmp_path / "a.trec")["q"]] == ["c", "b"]
    qrels = [ir_measures.Qrel("q", "b", 1)]
    run = list(ir_measures.read_trec_run(str(tmp_path / "a.trec")))
    assert ir_measures.calc_aggregate([ir_measures.RR], qrels, run)[ir_measures.RR] == 0.5


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("q1 Q0 d1 1 2.0 x\nq1 Q0 d2 2 1.0\n", "a.trec:2: 5 columns, not 6; a line is `q1 Q0 d7 1 12.3 bm25`"),
        ("q1 Q0 d1 1 best x\n", "a.trec:1: the score 'best' is no number"),
        ("q1 Q0 d1 1 nan x\n", "a.trec:1: the score 'nan' is no number"),
        ("q1 Q0 d1 1 1e300 x\n", "a.trec:1: the score '1e300' is no number"),
        ("q1 Q0 d1 1 2 x\nq1 Q0 d1 2 1 x\n", "a.trec:2: 'd1' is there already for query 'q1'"),
        ("\n", "there are no results in it"),
    ],
)
def test_a_damaged_ranking_is_named_with_its_line(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "a.trec").write_text(content)
    with pytest.raises(InputError) as refused:
        read_ranking(tmp_path / "a.trec")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("content", "queries"),
    [
        ("q1 Q0 d1 1 0.5 x\nq1 Q0 d2 2 0.9 x\nq2 Q0 d1 1 0.9 x\nq2 Q0 d2 2 0.5 x\n", ("q1",)),
        ("q1 Q0 d1 2 0.5 x\nq1 Q0 d2 1 0.9 x\n", ()),  # lines in any order
        ("q1 Q0 d1 1 0.5 x\nq1 Q0 d2 2 0.5 x\n", ()),  # equal scores
        ("q1 Q0 d1 0 0.5 x\nq1 Q0 d2 0 0.9 x\n", ()),  # the same rank throughout
        ("q1 Q0 d1 - 0.5 x\nq1 Q0 d2 - 0.9 x\n", ()),  # no ranks
        ("q1 Q0 d1 1 0.9 x\nq1 Q0 d2 1 0.1 x\nq1 Q0 d3 2 0.5 x\n", ("q1",)),
    ],
)
def test_queries_whose_ranks_contradict_the_scores_are_known(
    tmp_path: Path, content: str, queries: tuple[str, ...]
) -> None:
    (tmp_path / "a.trec").write_text(content)
    assert read_ranking(tmp_path / "a.trec").contradictory == queries


def test_a_line_of_too_many_columns_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.trec").write_text("q1 Q0 d1 1 2.0 x y z\n")
    with pytest.raises(InputError, match=r"a\.trec:1: more than 6 columns, not 6"):
        read_ranking(tmp_path / "a.trec")


def test_bytes_that_are_no_text_are_named_with_their_place(tmp_path: Path) -> None:
    (tmp_path / "a.trec").write_bytes(b"q1 Q0 d1 1 2 x\nq1 Q0 d\xff 2 1 x\n")
    with pytest.raises(InputError, match=r"a\.trec:2: "):
        read_ranking(tmp_path / "a.trec")


def test_what_is_written_is_read_back_and_other_tools_read_it(tmp_path: Path) -> None:
    judged = {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": -1}}
    ranking = {"q1": [("d2", 1.25), ("d1", 0.1)], "q2": []}
    write_qrels(tmp_path / "a.qrels", judged)
    write_ranking(tmp_path / "a.trec", ranking, "my system")
    write_queries(tmp_path / "q.tsv", {"q1": "two\nlines", "q2": "x"})
    assert read_qrels(tmp_path / "a.qrels") == judged
    assert read_queries(tmp_path / "q.tsv") == {"q1": "two lines", "q2": "x"}
    [(_, found)] = read_ranking(tmp_path / "a.trec").items()
    assert [(document, round(score, 6)) for document, score in found] == ranking["q1"]
    assert {(q.query_id, q.doc_id, q.relevance) for q in ir_measures.read_trec_qrels(str(tmp_path / "a.qrels"))} == {
        ("q1", "d1", 2), ("q1", "d2", 0), ("q2", "d1", -1)
    }  # fmt: skip
    assert len(list(ir_measures.read_trec_run(str(tmp_path / "a.trec")))) == 2


@pytest.mark.parametrize("identifier", ["a b", "", "a\nb", "\t"])
def test_an_id_with_white_space_cannot_be_written(tmp_path: Path, identifier: str) -> None:
    with pytest.raises(InputError, match="has white space"):
        write_qrels(tmp_path / "a.qrels", {"q": {identifier: 1}})
    with pytest.raises(InputError, match="has white space"):
        write_ranking(tmp_path / "a.trec", {"q": [(identifier, 1.0)]}, "x")
    assert list(tmp_path.iterdir()) == []


def test_queries_are_found_by_json_as_by_any_record_reader(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text(json.dumps({"id": "q1", "text": "a"}) + "\n{broken\n")
    with pytest.raises(InputError, match=r"q\.jsonl:2"):
        read_queries(tmp_path / "q.jsonl")
