"""Results: files, frames, shards."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.results.files import encode, load, load_all
from karat.results.merge import collect, merge

CORPUS = karat.Corpus.of(
    [
        {
            "id": f"d{i}",
            "title": "deep nets",
            "text": f"trees {i}",
            "keyphrases": ["deep nets", f"topic {i % 3}"][: 1 + i % 2],
        }
        for i in range(11)
    ]
)
RUN = karat.Run.of([{"id": f"d{i}", "keyphrases": ["deep net", f"topic {i % 2}", "nets"]} for i in range(11)], name="r")
METRICS = ["f1@M:present", "f1@M:absent", "p@2/micro", "map", "f1@V", "alpha_ndcg,alpha=0.3", "duplicate_ratio"]


@pytest.fixture(scope="module")
def results() -> karat.Results:
    return karat.score(CORPUS, RUN, metrics=METRICS, protocol=["karat", "chan2019"])


def test_a_file_holds_everything(results: karat.Results, tmp_path: Path) -> None:
    results.save(tmp_path / "r.karat")
    again = load(tmp_path / "r.karat")
    assert again.as_dict() == results.as_dict()
    assert again.ids == results.ids
    for a, b in zip(results.scores, again.scores, strict=True):
        np.testing.assert_array_equal(a.rows.values, b.rows.values)
        np.testing.assert_array_equal(a.per_document(), b.per_document())


def test_the_mean_of_document_values_is_the_score(results: karat.Results) -> None:
    score = results.scores[1]
    assert score.request.label == "f1@M"
    values = score.per_document()
    assert np.isnan(values).sum() == results.rows()[1]["undefined"] == 6
    assert np.nanmean(values) == pytest.approx(score.value)


def test_rows_of_which_there_are_none_are_kept(tmp_path: Path) -> None:
    corpus = karat.Corpus.of([{"id": "1", "text": "deep nets", "keyphrases": ["deep nets"]}])
    found = karat.score(corpus, karat.Run.of([{"id": "1", "keyphrases": []}], name="r"), metrics=["found@5:absent"])
    assert found.scores[0].rows.values.shape == (0, 2)
    found.save(tmp_path / "r.karat")
    assert (tmp_path / "r.karat").read_bytes() == encode(found)
    assert load(tmp_path / "r.karat").as_dict() == found.as_dict()


def test_frames_hold_the_rows(results: karat.Results) -> None:
    assert results.to_pandas()["value"].tolist() == [row["value"] for row in results.rows()]
    assert results.to_polars()["value"].to_list() == [row["value"] for row in results.rows()]


@settings(max_examples=30, deadline=None)
@given(count=st.integers(1, 11), order=st.randoms(use_true_random=False))
def test_merged_shards_are_the_whole_to_the_byte(count: int, order: st.DataObject) -> None:
    whole = karat.score(CORPUS, RUN, metrics=METRICS)
    parts = [karat.score(CORPUS, RUN, metrics=METRICS, shard=f"{i}/{count}") for i in range(1, count + 1)]
    order.shuffle(parts)  # type: ignore[attr-defined]
    assert encode(merge(parts)) == encode(whole)


def test_what_cannot_be_merged_is_said() -> None:
    one, two = (karat.score(CORPUS, RUN, metrics=["p@1"], shard=f"{i}/2") for i in (1, 2))
    other = karat.score(CORPUS, RUN, metrics=["r@1"], shard="2/2")
    for parts, message in (
        ([one], "shard 2/2 is missing"),
        ([one, one, two], "shard 1/2 is there twice"),
        ([one, other], "shard 2/2 was scored otherwise than shard 1/2"),
        ([one, karat.score(CORPUS, RUN, metrics=["p@1"], shard="2/3")], "different N"),
        ([], "nothing to merge"),
    ):
        with pytest.raises(karat.InputError, match=message):
            merge(parts)


def test_a_shard_beyond_the_corpus_holds_no_document() -> None:
    with pytest.raises(karat.InputError, match="shard 12/12 holds no document"):
        karat.score(CORPUS, RUN, shard="12/12")


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\x81\xa5karat\x01", msgspec.msgpack.encode({"karat": 9})])
def test_a_file_that_is_none_of_ours_is_said(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.karat"
    path.write_bytes(content)
    with pytest.raises(karat.InputError, match=r"x\.karat"):
        load(path)


def test_a_cut_off_file_is_said(results: karat.Results, tmp_path: Path) -> None:
    whole = encode(results)
    path = tmp_path / "x.karat"
    for length in range(0, len(whole), max(1, len(whole) // 50)):
        path.write_bytes(whole[:length])
        with pytest.raises(karat.InputError, match="karat file, or damaged"):
            load(path)


def test_a_corpus_without_text_is_scored_for_all_phrases_and_says_so() -> None:
    corpus = karat.Corpus.of([{"id": "1", "keyphrases": ["a"]}])
    run = karat.Run.of([{"id": "1", "keyphrases": ["a"]}])
    results = karat.score(corpus, run)
    assert {row["subset"] for row in results.rows()} == {"all"}
    assert "cannot be told apart" in results.notes[0]
    with pytest.raises(karat.InputError, match="f1@5:present needs the documents' title or text"):
        karat.score(corpus, run, metrics=["f1@5:present"])


def test_a_corpus_without_references_is_an_error() -> None:
    corpus = karat.Corpus.of([{"id": "1", "text": "a"}])
    run = karat.Run.of([{"id": "1", "keyphrases": ["a"]}])
    with pytest.raises(karat.InputError, match="no document has references"):
        karat.score(corpus, run)


def test_documents_that_a_run_lacks_are_empty_or_left_out_as_asked() -> None:
    run = karat.Run.of([{"id": f"d{i}", "keyphrases": ["deep net"]} for i in range(10)])
    empty = karat.score(CORPUS, run, metrics=["r@M:present"], missing="empty")
    skip = karat.score(CORPUS, run, metrics=["r@M:present"], missing="skip")
    assert empty.rows()[0]["value"] == pytest.approx(10 / 11)
    assert (skip.rows()[0]["value"], skip.rows()[0]["undefined"]) == (1.0, 1)
    assert "1 document without predictions" in skip.notes[0]


def test_every_request_has_its_row_in_the_order_of_request() -> None:
    asked = ["p@5", "p@5/f-of-means", "r@1:absent", "p@5"]
    rows = karat.score(CORPUS, RUN, metrics=asked).rows()
    assert [(row["metric"], row["subset"], row["average"]) for row in rows] == [
        ("p@5", "all", "mean"),
        ("p@5", "all", "mean"),
        ("r@1", "absent", "mean"),
        ("p@5", "all", "mean"),
    ]


# ---------------------------------------------------------------------------------------------- damage


def test_a_flipped_bit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.karat"
    karat.score(CORPUS, RUN, metrics=["f1@5:present", "found@M", "p@M/micro"]).save(path)
    content = path.read_bytes()
    chance = random.Random(0)
    for bit in [*range(200), *chance.sample(range(8 * len(content)), 500)]:
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with pytest.raises(karat.InputError, match=r"results\.karat: "):
            karat.load(path)


def _first_version(results: karat.Results) -> bytes:
    """The bytes of results as the first version of the file had them: without a checksum."""
    envelope = msgspec.msgpack.decode(encode(results))
    return msgspec.msgpack.encode(msgspec.msgpack.decode(envelope["content"]) | {"karat": 1})


def test_a_file_without_a_checksum_is_read_with_a_note(tmp_path: Path) -> None:
    results = karat.score(CORPUS, RUN, metrics=["f1@M"])
    path = tmp_path / "old.karat"
    path.write_bytes(_first_version(results))
    loaded = karat.load(path)
    assert loaded.rows() == results.rows()
    assert "an older .karat file, which has no checksum" in loaded.notes[len(results.remarks)]
    assert encode(loaded) == encode(results)  # saved anew, it has one


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"part": (3, 2)}, "there is no shard 3/2"),
        ({"ids": ["d1"] * 11}, "two documents have the same id"),
        ({"ids": ["d1"]}, "has 11 rows where 1 belong"),
        ({"signatures": {}}, "of which there is no signature"),
    ],
)
def test_what_does_not_belong_together_is_refused(tmp_path: Path, change: dict[str, object], said: str) -> None:
    path = tmp_path / "odd.karat"
    path.write_bytes(
        msgspec.msgpack.encode(
            msgspec.msgpack.decode(_first_version(karat.score(CORPUS, RUN, metrics=["f1@M"]))) | change
        )
    )
    with pytest.raises(karat.InputError, match=said):
        karat.load(path)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("metric", "f2", "a metric this karat does not know: f2/mean-of-f"),
        ("subset", "some", "unknown subset 'some'"),
        ("cutoff", "Z", "there is no cutoff 'Z'"),
        ("values", {"shape": [2, 1], "data": np.array([np.nan, 1.0]).tobytes()}, "not a table of finite numbers"),
        ("units", {"shape": [2], "data": np.array([0, 99]).tobytes()}, "has 11 rows where 2 belong"),
    ],
)
def test_a_score_that_cannot_be_is_refused(tmp_path: Path, field: str, value: object, said: str) -> None:
    file = msgspec.msgpack.decode(_first_version(karat.score(CORPUS, RUN, metrics=["f1@M"])))
    file["scores"][0][field] = value
    path = tmp_path / "odd.karat"
    path.write_bytes(msgspec.msgpack.encode(file))
    with pytest.raises(karat.InputError, match=said):
        karat.load(path)


# ---------------------------------------------------------------------------------------------- several corpora


def of_corpora(*names: str) -> list[karat.Results]:
    records = [
        {"id": f"d{i}", "title": "deep nets", "text": f"trees {i}", "keyphrases": ["deep nets"]} for i in range(11)
    ]
    return [karat.score(karat.Corpus.of(records, name), RUN, metrics=["f1@M", "p@2"]) for name in names]


def test_results_of_several_corpora_are_one_file(tmp_path: Path) -> None:
    parts = of_corpora("ants", "bees")
    both = collect(parts)
    both.save(tmp_path / "both.karat")
    again = load_all(tmp_path / "both.karat")
    assert [encode(each) for each in again] == [encode(each) for each in parts]
    assert both.rows() == [row for part in parts for row in part.rows()]
    assert list(both.signatures) == ["karat on ants", "karat on bees"]
    assert collect([both, *of_corpora("cats")]).parts[2].scores[0].corpus == "cats"
    assert all(note.startswith(("ants", "bees")) for note in both.notes)


def test_where_one_corpus_is_needed_a_file_of_several_is_an_error(tmp_path: Path) -> None:
    collect(of_corpora("ants", "bees")).save(tmp_path / "both.karat")
    with pytest.raises(karat.InputError, match=r"both.karat: results of 2 corpora \(ants, bees\), where those of one"):
        load(tmp_path / "both.karat")


def test_shards_of_several_corpora_are_merged_each() -> None:
    corpora = [karat.Corpus.of(list(CORPUS), name) for name in ("ants", "bees")]
    whole = [karat.score(corpus, RUN, metrics=METRICS) for corpus in corpora]
    shards = [karat.score(corpus, RUN, metrics=METRICS, shard=f"{i}/3") for i in (3, 1, 2) for corpus in corpora]
    assert [encode(part) for part in collect(shards).parts] == [encode(part) for part in whole]


def test_a_corpus_that_is_there_twice_is_not_collected() -> None:
    ants, bees = of_corpora("ants", "bees")
    with pytest.raises(karat.InputError, match="2 of the results are of a corpus named 'ants'"):
        collect([ants, bees, ants])
    with pytest.raises(karat.InputError, match=r"results of different corpora \(ants, bees\) are not shards of one"):
        merge([ants, bees])
    with pytest.raises(karat.InputError, match="nothing to merge"):
        collect([])


def test_any_damage_to_a_file_of_several_corpora_is_seen(tmp_path: Path) -> None:
    collect(of_corpora("ants", "bees")).save(tmp_path / "both.karat")
    content = (tmp_path / "both.karat").read_bytes()
    damaged = tmp_path / "damaged.karat"
    pick = random.Random(0)
    for place in [*range(40), *pick.sample(range(len(content)), 60)]:
        damaged.write_bytes(content[:place] + bytes([content[place] ^ (1 << pick.randrange(8))]) + content[place + 1 :])
        with pytest.raises(karat.InputError, match="damaged"):
            load_all(damaged)
    for end in (0, 1, 10, len(content) // 2, len(content) - 1):
        damaged.write_bytes(content[:end])
        with pytest.raises(karat.InputError, match="damaged"):
            load_all(damaged)
