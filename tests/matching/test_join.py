"""Every document meets its own predictions, in whatever order and in whatever batches a run comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import karat
from karat.corpus import Batch, Corpus, Document, Prediction, Run
from karat.errors import InputError
from karat.formats import files, read, read_run
from karat.matching.join import Chunk, Join, Restricted, Shard, chunks, matched_by
from karat.options import By, Missing

untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

AS_USUAL = Join()


def batches_of(records: Sequence[Any], size: int) -> Callable[[], Iterator[Batch[Any]]]:
    """Records in batches of so many, as a reader would give them."""

    def batches() -> Iterator[Batch[Any]]:
        for start in range(0, len(records), size):
            part = records[start : start + size]
            yield Batch([record.id for record in part], part, range(start + 1, start + len(part) + 1))

    return batches


def corpus_of(ids: Sequence[str | None], size: int = 2) -> Corpus:
    documents = [Document(id=i, text=f"text of {i}") for i in ids]
    return Corpus("corpus", batches_of(documents, size), "corpus.jsonl")


def run_of(ids: Sequence[str | None], size: int = 2, system: str = "run") -> Run:
    predictions = [Prediction(id=i, keyphrases=[f"{system} on {i}"]) for i in ids]
    return Run(system, batches_of(predictions, size), f"{system}.jsonl")


def joined(corpus: Corpus, runs: Sequence[Run], join: Join = AS_USUAL) -> list[tuple[str, Any, list[Any]]]:
    """(id, text, what each run predicts) for every document of all chunks."""
    found: list[tuple[str, Any, list[Any]]] = []
    for chunk in chunks(corpus, runs, join):
        predictions = [batch.records() for batch in chunk.predictions]
        for n, document in enumerate(chunk.documents.records()):
            found.append((chunk.ids[n], document.text, [batch[n].keyphrases for batch in predictions]))
    return found


def expected(ids: Sequence[str], systems: Sequence[str] = ("run",)) -> list[tuple[str, Any, list[Any]]]:
    return [(i, f"text of {i}", [[f"{system} on {i}"] for system in systems]) for i in ids]


def message_of(corpus: Corpus, run: Run, join: Join = AS_USUAL) -> str:
    with pytest.raises(InputError) as caught:
        list(chunks(corpus, [run], join))
    return str(caught.value)


def lacking_of(found: Sequence[Chunk], run: int = 0) -> list[str]:
    return [chunk.ids[n] for chunk in found for n in chunk.missing[run]]


SIX = ["d1", "d2", "d3", "d4", "d5", "d6"]
sizes = st.integers(1, 7)


@st.composite
def permuted(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    """Some ids, and the same ids in another order."""
    ids = draw(st.lists(st.text(max_size=3), min_size=1, max_size=12, unique=True))
    return ids, draw(st.permutations(ids))


# ---------------------------------------------------------------------------------------------- by id


@untimed
@given(permuted(), sizes, sizes)
def test_a_run_in_any_order_and_any_batches_is_joined_to_its_documents(
    orders: tuple[list[str], list[str]], corpus_size: int, run_size: int
) -> None:
    ids, shuffled = orders

    found = joined(corpus_of(ids, corpus_size), [run_of(shuffled, run_size)])

    assert found == expected(ids)


@untimed
@given(permuted(), sizes, sizes)
def test_a_shuffled_run_beside_one_in_order_gives_what_each_gives_alone(
    orders: tuple[list[str], list[str]], corpus_size: int, run_size: int
) -> None:
    ids, shuffled = orders
    runs = [run_of(ids, run_size, "ordered"), run_of(shuffled, corpus_size, "shuffled")]

    found = joined(corpus_of(ids, corpus_size), runs)

    assert found == expected(ids, ["ordered", "shuffled"])


@untimed
@given(permuted(), st.integers(1, 120), st.integers(1, 120))
def test_files_in_any_order_and_any_blocks_are_joined(
    tmp_path_factory: pytest.TempPathFactory,
    orders: tuple[list[str], list[str]],
    corpus_size: int,
    run_size: int,
) -> None:
    ids, shuffled = orders
    folder = tmp_path_factory.getbasetemp()
    (folder / "c.jsonl").write_bytes(b"\n".join(msgspec.json.encode({"id": i, "text": f"text of {i}"}) for i in ids))
    (folder / "run.jsonl").write_bytes(
        b"\n".join(msgspec.json.encode({"id": i, "keyphrases": [f"run on {i}"]}) for i in shuffled)
    )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "BLOCK_BYTES", run_size)
        run = read_run(folder / "run.jsonl")
        run_batches = list(run.batches())
        patch.setattr(files, "BLOCK_BYTES", corpus_size)
        run = Run(run.name, lambda: iter(run_batches), run.origin)
        assert joined(read(folder / "c.jsonl"), [run]) == expected(ids)


def test_a_run_in_order_is_not_read_ahead_of_the_corpus() -> None:
    read_so_far: list[str | None] = []

    def batches() -> Iterator[Batch[Prediction]]:
        for i in SIX:
            read_so_far.append(i)
            yield Batch([i], [Prediction(id=i)], [1])

    run = Run("run", batches, "run.jsonl")
    found = chunks(corpus_of(SIX, 1), [run], Join(by="id"))
    read_so_far.clear()
    next(found)

    assert len(read_so_far) <= 3  # one for looking whether there are ids, one for the first chunk, one at most ahead


def test_numbers_and_strings_as_ids_match() -> None:
    corpus = karat.Corpus.of([{"id": 1, "text": "a"}, {"id": "2", "text": "b"}])
    run = karat.Run.of([{"id": "2", "keyphrases": ["on 2"]}, {"id": "1", "keyphrases": ["on 1"]}])

    assert joined(corpus, [run]) == [("1", "a", [["on 1"]]), ("2", "b", [["on 2"]])]


# ---------------------------------------------------------------------------------------------- ids given twice


@pytest.mark.parametrize("size", [1, 2, 3, 10])
def test_an_id_twice_in_the_corpus_is_named_with_both_lines(size: int) -> None:
    corpus = corpus_of(["d1", "d2", "d3", "d2"], size)

    message = message_of(corpus, run_of(["d1", "d2", "d3"], size))

    assert message == "corpus.jsonl: id 'd2' is on line 2 and on line 4"


RUNS_WITH_ONE_ID_TWICE = {
    "side by side": (["d1", "d2", "d2", "d3", "d4", "d5", "d6"], "d2", 2, 3),
    "at the start": (["d1", "d1", "d2", "d3", "d4", "d5", "d6"], "d1", 1, 2),
    "after all others in order": (["d1", "d2", "d3", "d4", "d5", "d6", "d2"], "d2", 2, 7),
    "after some others in order": (["d1", "d2", "d3", "d4", "d1", "d5", "d6"], "d1", 1, 5),
    "out of order from the start": (["d6", "d2", "d5", "d2", "d4", "d1", "d3"], "d2", 2, 4),
    "in order, then not, then again": (["d1", "d2", "d4", "d3", "d5", "d6", "d1"], "d1", 1, 7),
    "instead of another": (["d1", "d2", "d3", "d4", "d5", "d3"], "d3", 3, 6),
}


@pytest.mark.parametrize("size", [1, 2, 3, 10])
@pytest.mark.parametrize("where", RUNS_WITH_ONE_ID_TWICE)
def test_an_id_twice_in_a_run_is_named_with_both_lines(where: str, size: int) -> None:
    ids, twice, first, second = RUNS_WITH_ONE_ID_TWICE[where]

    for corpus_size in (1, 2, 10):
        message = message_of(corpus_of(SIX, corpus_size), run_of(ids, size), Join(missing="empty"))
        assert message == f"run.jsonl: id {twice!r} is on line {first} and on line {second}"


def test_lines_of_ids_given_twice_are_those_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BLOCK_BYTES", 20)
    path = tmp_path / "run.jsonl"
    path.write_text('{"id": "d1"}\n\n{"id": "d2"}\n\n\n{"id": "d1"}\n')

    message = message_of(corpus_of(["d1", "d2"]), read_run(path))

    assert message == f"{path}: id 'd1' is on line 1 and on line 6"


# ---------------------------------------------------------------------------------------------- ids on one side


@pytest.mark.parametrize("missing", ["error", "empty", "skip"])
@pytest.mark.parametrize("size", [1, 2, 10])
@pytest.mark.parametrize(
    ("ids", "line"),
    [
        (["d1", "d2", "d3", "d4", "d5", "d6", "x"], 7),
        (["d1", "d2", "x", "d3", "d4", "d5", "d6"], 3),
        (["x", "d6", "d5", "d4", "d3", "d2", "d1"], 1),
    ],
)
def test_a_document_that_the_corpus_lacks_is_named_with_file_and_line(
    ids: list[str], line: int, size: int, missing: Missing
) -> None:
    message = message_of(corpus_of(SIX), run_of(ids, size), Join(missing=missing))

    assert message.startswith(f"run.jsonl:{line}: document 'x' is not in corpus.jsonl")


def test_documents_that_the_corpus_lacks_are_counted() -> None:
    assert message_of(corpus_of(["d1"]), run_of(["x", "d1", "y", "z"])).endswith(
        "(3 such; --extra ignore leaves them out)"
    )


@pytest.mark.parametrize("size", [1, 2, 10])
@pytest.mark.parametrize("ids", [["d1", "d2", "d4", "d5", "d6"], ["d6", "d5", "d4", "d2", "d1"]])
def test_a_document_that_a_run_lacks_is_an_error_with_the_two_ways_out(ids: list[str], size: int) -> None:
    message = message_of(corpus_of(SIX), run_of(ids, size))

    assert "run.jsonl: no predictions for document 'd3' of corpus.jsonl" in message
    assert "--missing empty" in message
    assert "--missing skip" in message


@pytest.mark.parametrize("missing", ["empty", "skip"])
@pytest.mark.parametrize("size", [1, 2, 10])
@pytest.mark.parametrize("ids", [["d2", "d3", "d5"], ["d5", "d3", "d2"], ["d3", "d5", "d2"]])
def test_documents_that_a_run_lacks_have_no_predictions_and_are_told(
    ids: list[str], size: int, missing: Missing
) -> None:
    join = Join(missing=missing)
    corpus, run = corpus_of(SIX), run_of(ids, size)

    found = joined(corpus, [run], join)

    assert [(i, predicted) for i, _, predicted in found] == [(i, [[f"run on {i}"] if i in ids else []]) for i in SIX]
    assert lacking_of(list(chunks(corpus, [run], join))) == ["d1", "d4", "d6"]


def test_each_run_lacks_its_own_documents() -> None:
    runs = [run_of(["d1", "d2"]), run_of(["d3", "d2"])]

    found = list(chunks(corpus_of(["d1", "d2", "d3"]), runs, Join(missing="empty")))

    assert lacking_of(found, 0) == ["d3"]
    assert lacking_of(found, 1) == ["d1"]


def scored(missing: Missing) -> dict[str, Any]:
    corpus = karat.Corpus.of([{"id": i, "text": "swarm", "keyphrases": ["swarm"]} for i in ("d1", "d2")])
    run = karat.Run.of([{"id": "d1", "keyphrases": ["swarm"]}])
    (row,) = karat.score(corpus, run, metrics=["r@5"], missing=missing).rows()
    return row


def test_a_missing_document_taken_as_empty_scores_nothing() -> None:
    row = scored("empty")

    assert (row["value"], row["undefined"]) == (0.5, 0)


def test_a_missing_document_that_is_skipped_is_left_out_and_counted() -> None:
    row = scored("skip")

    assert (row["value"], row["undefined"]) == (1.0, 1)


def test_a_line_without_id_after_lines_with_ids_is_named() -> None:
    message = message_of(corpus_of(["d1", "d2", "d3"]), run_of(["d1", "d2", None]))

    assert message.startswith("run.jsonl:3: no id")


# ---------------------------------------------------------------------------------------------- by line


def test_a_document_without_id_after_documents_with_ids_is_named() -> None:
    message = message_of(corpus_of(["a", "b", "c", None]), run_of(["a", "b", "c"]))

    assert message == "corpus.jsonl:4: no id, though earlier lines have one"


@pytest.mark.parametrize(
    ("corpus_ids", "run_ids", "by", "expected"),
    [
        (["a"], ["a"], None, "id"),
        (["a"], ["a"], "id", "id"),
        (["a"], ["a"], "line", "line"),
        (["a"], [None], None, "line"),
        ([None], ["a"], None, "line"),
        ([None], [None], None, "line"),
        ([None], [None], "line", "line"),
    ],
)
def test_runs_are_matched_by_id_where_both_have_ids_unless_asked_otherwise(
    corpus_ids: list[str | None], run_ids: list[str | None], by: By | None, expected: By
) -> None:
    assert matched_by(corpus_of(corpus_ids), run_of(run_ids), by) == expected


@pytest.mark.parametrize(
    ("corpus_ids", "run_ids", "origin"), [(["a"], [None], "run.jsonl"), ([None], ["a"], "corpus.jsonl")]
)
def test_matching_by_id_without_ids_names_the_file_and_the_flag(
    corpus_ids: list[str | None], run_ids: list[str | None], origin: str
) -> None:
    with pytest.raises(InputError, match=rf"{origin}: .*--by line"):
        matched_by(corpus_of(corpus_ids), run_of(run_ids), "id")


@untimed
@given(st.integers(1, 12), sizes, sizes)
def test_lines_without_ids_are_joined_in_their_order(documents: int, corpus_size: int, run_size: int) -> None:
    corpus = Corpus("c", batches_of([Document(text=str(n)) for n in range(documents)], corpus_size), "c")
    run = Run("r", batches_of([Prediction(keyphrases=[str(n)]) for n in range(documents)], run_size), "r")

    assert joined(corpus, [run]) == [(str(n + 1), str(n), [[str(n)]]) for n in range(documents)]


def test_matching_by_line_does_not_look_at_ids() -> None:
    found = joined(corpus_of(["d1", "d2", "d3"]), [run_of(["x", "x", "d1"])], Join(by="line"))

    assert [(i, predicted) for i, _, predicted in found] == [
        ("d1", [["run on x"]]),
        ("d2", [["run on x"]]),
        ("d3", [["run on d1"]]),
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 10])
@pytest.mark.parametrize("corpus_size", [1, 2, 10])
def test_a_run_with_fewer_lines_is_an_error_with_the_two_ways_out(corpus_size: int, size: int) -> None:
    message = message_of(corpus_of(SIX, corpus_size), run_of([None] * 4, size))

    assert "run.jsonl: ends after 4 lines, before corpus.jsonl does" in message
    assert "--missing empty" in message
    assert "--missing skip" in message


@pytest.mark.parametrize("missing", ["empty", "skip"])
@pytest.mark.parametrize("size", [1, 2, 3, 10])
def test_documents_after_the_end_of_a_run_have_no_predictions_and_are_told(size: int, missing: Missing) -> None:
    corpus, run, join = corpus_of(SIX), run_of([None] * 3, size), Join(missing=missing)

    assert [p for _, _, p in joined(corpus, [run], join)] == [[["run on None"]]] * 3 + [[[]]] * 3
    assert lacking_of(list(chunks(corpus, [run], join))) == ["d4", "d5", "d6"]


@pytest.mark.parametrize("missing", ["error", "empty", "skip"])
@pytest.mark.parametrize("size", [1, 2, 3, 10])
@pytest.mark.parametrize("length", [7, 8, 20])
def test_a_run_with_more_lines_is_an_error_that_names_where_the_corpus_ends(
    length: int, size: int, missing: Missing
) -> None:
    message = message_of(corpus_of(SIX), run_of([None] * length, size), Join(missing=missing))

    assert message == "run.jsonl: goes on after line 6, where corpus.jsonl ends; --extra ignore leaves the rest out"


# ---------------------------------------------------------------------------------------------- more than the corpus


@untimed
@given(st.permutations([*SIX, "x", "y", "z"]), sizes, sizes)
def test_documents_beyond_the_corpus_are_ignored_and_counted_wherever_they_stand(
    ids: list[str], corpus_size: int, size: int
) -> None:
    ignored: dict[str, int] = {}
    found = list(chunks(corpus_of(SIX, corpus_size), [run_of(ids, size)], Join(extra="ignore"), ignored))

    assert joined(corpus_of(SIX, corpus_size), [run_of(ids, size)], Join(extra="ignore")) == expected(SIX)
    assert [i for chunk in found for i in chunk.ids] == SIX
    assert ignored == {"run": 3}


@pytest.mark.parametrize("size", [1, 2, 3, 10])
@pytest.mark.parametrize("length", [6, 7, 20])
def test_lines_beyond_the_corpus_are_ignored_and_counted(length: int, size: int) -> None:
    ignored: dict[str, int] = {}
    list(chunks(corpus_of(SIX), [run_of([None] * length, size)], Join(extra="ignore"), ignored))

    assert ignored == ({"run": length - 6} if length > 6 else {})


def test_a_run_that_has_no_document_of_the_corpus_is_an_error_all_the_same() -> None:
    message = message_of(corpus_of(["d1"]), run_of(["x", "y"]), Join(missing="empty", extra="ignore"))

    assert message == "run.jsonl:1: document 'x' is not in corpus.jsonl (nor is any other of it)"


def test_a_document_that_is_twice_in_a_run_is_an_error_also_where_it_is_ignored() -> None:
    message = message_of(corpus_of(["d1"]), run_of(["x", "d1", "x"]), Join(extra="ignore"))

    assert message == "run.jsonl: id 'x' is on line 1 and on line 3"


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_note_counts_what_was_ignored_and_scores_are_those_of_the_rest(jobs: int) -> None:
    documents = [{"id": i, "text": "a b", "keyphrases": ["a", "c"]} for i in SIX]
    predicted = [{"id": i, "keyphrases": ["a"]} for i in SIX]
    runs = {"more": [*predicted, {"id": "x", "keyphrases": ["c"]}], "same": predicted}

    found = karat.score(documents, runs, metrics=["f1@M"], extra="ignore", jobs=jobs)

    assert [row["value"] for row in found.rows()] == [pytest.approx(2 / 3)] * 2
    assert [note for note in found.notes if "ignored" in note] == [
        "more: 1 document of the run ignored, not being in corpus"
    ]
    assert [note for note in karat.describe(documents, runs, extra="ignore").notes if "ignored" in note] == [
        "more: 1 document of the run ignored, not being in corpus"
    ]
    with pytest.raises(InputError, match="value of extra"):
        karat.score(documents, runs, extra="drop")  # type: ignore[arg-type]


# ---------------------------------------------------------------------------------------------- shards


@untimed
@given(permuted(), sizes, sizes, st.integers(1, 5), st.booleans())
def test_shards_are_disjoint_in_corpus_order_and_together_everything(
    orders: tuple[list[str], list[str]], corpus_size: int, run_size: int, count: int, by_line: bool
) -> None:
    ids, shuffled = orders
    corpus = corpus_of(ids, corpus_size)
    run = run_of(ids if by_line else shuffled, run_size)

    shards = [
        joined(corpus, [run], Join(by="line" if by_line else "id", shard=Shard(index, count)))
        for index in range(1, count + 1)
    ]

    for index, shard in enumerate(shards):
        assert shard == expected(ids[index::count])
    assert sorted(entry[0] for shard in shards for entry in shard) == sorted(ids)


@untimed
@given(st.integers(0, 20), st.integers(1, 6), st.lists(st.integers(1, 5), max_size=6))
def test_positions_of_shards_do_not_depend_on_where_chunks_are_cut(before: int, count: int, lengths: list[int]) -> None:
    for index in range(1, count + 1):
        shard = Shard(index, count)
        start, found = before, list[int]()
        for length in lengths:
            found.extend(start + i for i in shard.positions(start, length))
            start += length
        assert found == [n for n in range(before, start) if n % count == index - 1]


def test_missing_documents_are_told_by_their_place_in_the_shard() -> None:
    join = Join(missing="empty", shard=Shard(2, 2))

    found = list(chunks(corpus_of(SIX, 10), [run_of(["d1", "d2", "d6"])], join))

    assert [chunk.ids for chunk in found] == [["d2", "d4", "d6"]]
    assert [chunk.missing for chunk in found] == [[[1]]]


def test_a_shard_still_checks_the_documents_of_the_others() -> None:
    message = message_of(corpus_of(SIX), run_of([*SIX, "x"]), Join(shard=Shard(1, 3)))

    assert message.startswith("run.jsonl:7: document 'x' is not in corpus.jsonl")


# ---------------------------------------------------------------------------------------------- places and restrictions


def test_a_chunk_knows_where_its_documents_stand_in_the_corpus() -> None:
    whole = [list(chunk.numbers) for chunk in chunks(corpus_of(SIX, 4), [run_of(SIX)], AS_USUAL)]
    second = [list(chunk.numbers) for chunk in chunks(corpus_of(SIX, 4), [run_of(SIX)], Join(shard=Shard(2, 3)))]
    assert whole == [[0, 1, 2, 3], [4, 5]]
    assert second == [[1], [4]]


def test_some_documents_of_a_chunk_keep_what_they_have() -> None:
    [chunk] = chunks(corpus_of(SIX, 6), [run_of(["d1", "d3", "d5"])], Join(missing="empty"))
    some = chunk.pick([4, 1, 2])
    assert (some.ids, list(some.numbers), some.missing) == (["d5", "d2", "d3"], [4, 1, 2], [[1]])
    assert [record.text for record in some.documents.records()] == ["text of d5", "text of d2", "text of d3"]
    assert [record.keyphrases for record in some.predictions[0].records()] == [["run on d5"], [], ["run on d3"]]


def test_documents_need_no_distinct_ids_where_that_does_not_matter() -> None:
    corpus = corpus_of(["d1", None, "d1"])
    found = [chunk.ids for chunk in chunks(corpus, [], Join(distinct=False))]
    assert found == [["d1", "2"], ["d1"]]


def test_a_restricted_run_has_known_documents_alone_and_counts_the_others() -> None:
    run = run_of(["x", "d2", "y", "d1", "z"])
    restricted = Restricted(run, {"d1", "d2"})
    known = Run(run.name, restricted, run.origin)

    assert joined(corpus_of(["d1", "d2"]), [known]) == expected(["d1", "d2"])
    assert restricted.strangers == 3


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (["x", "d1", "x"], r"^run\.jsonl: id 'x' is on line 1 and on line 3$"),
        (["d1", "x", "d1"], r"^run\.jsonl: id 'd1' is on line 1 and on line 3$"),
        (["x", None], r"^run\.jsonl:2: no id, though earlier lines have one$"),
    ],
)
def test_what_is_wrong_with_a_restricted_run_is_said_all_the_same(ids: list[str | None], said: str) -> None:
    run = run_of(ids)
    known = Run(run.name, Restricted(run, {"d1"}), run.origin)
    with pytest.raises(InputError, match=said):
        list(chunks(corpus_of(["d1"]), [known], Join(missing="empty")))
