"""One pass: looks in corpus order, what they share is made once, on one process or several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.corpus import AHEAD, Batch, Corpus, Document, LookAhead, Prediction, Run
from karat.errors import InputError
from karat.formats import files, read, read_run
from karat.matching import passes
from karat.matching.columns import Aligned
from karat.matching.join import Join
from karat.matching.passes import Pass, View, look_at
from karat.protocol import Protocol, change, parse_protocol

KARAT = parse_protocol("karat")
COUNTING_OTHERWISE = change(KARAT, average="f-of-means")  # which matches alike
ON_ONE_AND_ON_TWO = pytest.mark.parametrize("jobs", [1, 2])
WORDS = ["bees", "swarms", "nets", "trees", "graphs", "suns"]


def batches_of(records: Sequence[Any], size: int) -> Callable[[], Iterator[Batch[Any]]]:
    """Records in batches of so many, as a reader would give them."""

    def batches() -> Iterator[Batch[Any]]:
        for start in range(0, len(records), size):
            part = records[start : start + size]
            yield Batch([record.id for record in part], part, range(start + 1, start + len(part) + 1))

    return batches


def corpus_of(count: int = 10, size: int = 3) -> Corpus:
    documents = [
        Document(id=f"d{n}", text=f"Of {WORDS[n % 6]}.", keyphrases=[WORDS[n % 6], WORDS[(n + 1) % 6]])
        for n in range(count)
    ]
    return Corpus("corpus", batches_of(documents, size), "corpus.jsonl")


def run_of(name: str = "run", count: int = 10, size: int = 4, shift: int = 0) -> Run:
    predictions = [Prediction(id=f"d{n}", keyphrases=[WORDS[(n + shift) % 6], name]) for n in range(count)]
    return Run(name, batches_of(predictions, size), f"{name}.jsonl")


def ids_of(view: View) -> list[str]:
    return list(view.ids)


def numbers_of(view: View) -> list[int]:
    return list(view.chunk.numbers)


def hits_of(system: int, protocol: Protocol, view: View) -> list[bool]:
    columns: Aligned = view.aligned(system, protocol)
    found: list[bool] = (columns.predictions.hit >= 0).tolist()
    return found


def phrases_of(system: int, view: View) -> list[Any]:
    return [prediction.keyphrases for prediction in view.predictions(system)]


def systems_of(view: View) -> tuple[str, ...]:
    return view.setup.systems


def refuse(document: str, view: View) -> int:
    if document in view.ids:
        raise InputError(f"{document} is refused")
    return len(view)


def joined(parts: Sequence[Sequence[Any]]) -> list[Any]:
    return [each for part in parts for each in part]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How often a pass prepares, normalises texts and aligns."""
    counted = dict.fromkeys(("prepare", "align", "normalised_parts"), 0)
    for name in counted:
        monkeypatch.setattr(passes, name, partial(_counted, counted, name, getattr(passes, name)))
    return counted


def _counted(counted: dict[str, int], name: str, function: Callable[..., Any], *given: Any) -> Any:
    counted[name] += 1
    return function(*given)


# ---------------------------------------------------------------------------------------------- looks


@ON_ONE_AND_ON_TWO
def test_looks_answer_in_the_order_of_the_corpus(jobs: int) -> None:
    reading = Pass(corpus_of(), [run_of("a"), run_of("b", shift=1)], jobs=jobs)
    ids, numbers = reading.look(ids_of), reading.look(numbers_of)
    first, second = (reading.look(partial(hits_of, s, KARAT)) for s in (0, 1))
    phrases = reading.look(partial(phrases_of, 1))

    reading.run()

    assert [len(part) for part in ids.parts] == [3, 3, 3, 1]
    assert joined(ids.parts) == reading.ids == [f"d{n}" for n in range(10)]
    assert joined(numbers.parts) == list(range(10))
    assert joined(first.parts) == [True, False] * 10  # the first word is the first reference
    assert joined(second.parts) == [True, False] * 10  # and the word after it the second
    assert joined(phrases.parts) == [[WORDS[(n + 1) % 6], "b"] for n in range(10)]


@ON_ONE_AND_ON_TWO
def test_what_is_taken_comes_chunk_by_chunk_and_is_not_kept(jobs: int) -> None:
    taken: list[list[str]] = []
    reading = Pass(corpus_of(), [], jobs=jobs)
    answers = reading.look(ids_of, take=taken.append)

    reading.run()

    assert taken == [["d0", "d1", "d2"], ["d3", "d4", "d5"], ["d6", "d7", "d8"], ["d9"]]
    assert answers.parts == []


def test_progress_is_told_the_documents_of_each_chunk() -> None:
    done: list[int] = []
    Pass(corpus_of(), [], progress=done.append).run()
    assert done == [3, 3, 3, 1]


def test_a_pass_without_looks_reads_and_checks_the_files() -> None:
    reading = Pass(corpus_of(), [run_of(count=9)])
    with pytest.raises(InputError, match=r"run\.jsonl: no predictions for document 'd9' of corpus\.jsonl"):
        reading.run()


def test_a_pass_that_is_stopped_reads_no_further() -> None:
    def batches() -> Iterator[Batch[Document]]:
        yield from corpus_of(6).batches()
        raise InputError("the rest is broken")

    reading = Pass(Corpus("corpus", batches), [])

    def take(ids: list[str]) -> None:
        if "d4" in ids:
            reading.stop()

    reading.look(ids_of, take=take)
    reading.run()

    assert reading.ids == [f"d{n}" for n in range(6)]


# ---------------------------------------------------------------------------------------------- what looks share


def test_looks_share_the_columns_of_a_way_of_matching(calls: dict[str, int]) -> None:
    reading = Pass(corpus_of(), [run_of("a"), run_of("b")])
    for _ in range(3):
        for system in (0, 1):
            reading.look(partial(hits_of, system, KARAT))
            reading.look(partial(hits_of, system, COUNTING_OTHERWISE))

    reading.run()

    assert calls == {"prepare": 4, "align": 8, "normalised_parts": 4}  # of four chunks, and two runs


def test_ways_of_matching_with_the_same_tokens_share_the_normalised_texts(calls: dict[str, int]) -> None:
    reading = Pass(corpus_of(), [run_of()])
    for boundary in ("wall", "cross"):
        reading.look(partial(hits_of, 0, change(KARAT, boundary=boundary)))

    reading.run()

    assert calls == {"prepare": 8, "align": 8, "normalised_parts": 4}


def test_columns_of_protocols_that_count_otherwise_have_their_own_counting() -> None:
    both = KARAT, COUNTING_OTHERWISE
    reading = Pass(corpus_of(), [run_of()])
    counting = reading.look(lambda view: [view.aligned(0, each).counting for each in (*both, KARAT)])

    reading.run()

    assert counting.parts[0] == [each.counting for each in (*both, KARAT)]


def test_documents_are_decoded_once_and_only_if_a_look_asks_for_them() -> None:
    decoded: list[int] = []

    def decode(raw: Sequence[Any], places: Sequence[int]) -> list[Document]:
        decoded.append(len(raw))
        return [Document(id=text) for text in raw]

    def batches() -> Iterator[Batch[Document]]:
        yield Batch(["a", "b"], ["a", "b"], [1, 2], decode)

    Pass(Corpus("corpus", batches), []).run()
    assert decoded == []
    reading = Pass(Corpus("corpus", batches), [])
    for _ in range(2):
        reading.look(lambda view: len(view.documents) + len(view.given))
    reading.run()
    assert decoded == [2]


def test_a_part_of_a_chunk_has_columns_of_its_own() -> None:
    reading = Pass(corpus_of(), [run_of("a", count=8)], Join(missing="empty"))
    parts = reading.look(lambda view: view.pick([len(view) - 1]))

    reading.run()

    views = parts.parts
    assert [view.ids for view in views] == [["d2"], ["d5"], ["d8"], ["d9"]]
    assert [list(view.chunk.numbers) for view in views] == [[2], [5], [8], [9]]
    assert [view.chunk.missing for view in views] == [[[]], [[]], [[0]], [[0]]]
    assert [hits_of(0, KARAT, view) for view in views] == [[True, False], [True, False], [], []]


def test_other_documents_can_stand_in_the_place_of_those_of_the_corpus() -> None:
    def look(view: View) -> tuple[list[bool], list[bool]]:
        other = view.replaced([Document(keyphrases=["run"])] * len(view))
        return hits_of(0, KARAT, view), hits_of(0, KARAT, other)

    reading = Pass(corpus_of(2), [run_of(count=2)])
    answers = reading.look(look)

    reading.run()

    assert answers.parts == [([True, False] * 2, [False, True] * 2)]


def test_documents_that_a_run_lacks_are_left_out_where_they_are_skipped() -> None:
    for missing, expected in (("skip", [[], [], [2], [0]]), ("empty", [[], [], [], []])):
        reading = Pass(corpus_of(), [run_of(count=8)], Join(missing=missing))  # type: ignore[arg-type]
        left_out = reading.look(lambda view: view.left_out(0))
        reading.run()
        assert left_out.parts == expected


def test_a_look_at_a_corpus_alone_may_have_documents_with_the_same_id() -> None:
    corpus = Corpus.of([{"id": "a"}, {"id": "a"}, {"text": "b"}])
    assert look_at(corpus, ids_of, distinct=False) == [["a", "a", "3"]]
    with pytest.raises(InputError, match="no id, though earlier lines have one"):
        look_at(corpus, ids_of)
    with pytest.raises(InputError, match="id 'a' is on line 1 and on line 2"):
        look_at(Corpus.of([{"id": "a"}, {"id": "a"}]), ids_of)


# ---------------------------------------------------------------------------------------------- looks that may fail


@ON_ONE_AND_ON_TWO
def test_an_optional_look_that_fails_stops_no_other(jobs: int) -> None:
    reading = Pass(corpus_of(), [], jobs=jobs)
    aside = reading.aside()
    failing, ids = aside.look(partial(refuse, "d4")), reading.look(ids_of)
    later = aside.look(numbers_of)

    reading.run()

    assert joined(ids.parts) == reading.ids == aside.ids
    assert joined(later.parts) == list(range(10))
    with pytest.raises(InputError, match=r"^d4 is refused$"):
        _ = failing.parts


def test_the_first_of_several_failures_is_the_one_that_is_told() -> None:
    reading = Pass(corpus_of(), [])
    failing = reading.aside().look(lambda view: refuse(view.ids[0], view))
    reading.run()
    with pytest.raises(InputError, match=r"^d0 is refused$"):
        _ = failing.parts


@ON_ONE_AND_ON_TWO
def test_another_look_that_fails_stops_the_pass_with_its_own_words(jobs: int) -> None:
    reading = Pass(corpus_of(), [], jobs=jobs)
    reading.look(partial(refuse, "d4"))
    with pytest.raises(InputError, match=r"^d4 is refused$"):
        reading.run()


@ON_ONE_AND_ON_TWO
def test_a_fault_that_is_no_bad_input_stops_the_pass_even_in_an_optional_look(jobs: int) -> None:
    reading = Pass(corpus_of(), [], jobs=jobs)
    reading.aside().look(partial(phrases_of, 7))
    with pytest.raises(IndexError):
        reading.run()


# ---------------------------------------------------------------------------------------------- some of the systems


@ON_ONE_AND_ON_TWO
def test_looks_aside_see_the_systems_that_they_are_given(jobs: int) -> None:
    reading = Pass(corpus_of(), [run_of("a"), run_of("b"), run_of("c", shift=1)], jobs=jobs)
    aside = reading.aside([2, 0])
    systems, phrases = aside.look(systems_of), aside.look(partial(phrases_of, 0))
    whole = reading.look(systems_of)

    reading.run()

    assert [run.name for run in aside.runs] == ["c", "a"]
    assert systems.parts == [("c", "a")] * 4
    assert aside.setup.systems == ("c", "a")
    assert whole.parts == [("a", "b", "c")] * 4
    assert joined(phrases.parts) == [[WORDS[(n + 1) % 6], "c"] for n in range(10)]


def test_looks_at_some_systems_share_the_columns_of_the_whole(calls: dict[str, int]) -> None:
    reading = Pass(corpus_of(), [run_of("a"), run_of("b", shift=2)])
    own = reading.look(partial(hits_of, 1, KARAT))
    aside = reading.aside([1]).look(partial(hits_of, 0, KARAT))

    reading.run()

    assert own.parts == aside.parts
    assert calls == {"prepare": 4, "align": 4, "normalised_parts": 4}


def test_what_a_system_lacks_is_known_aside_too() -> None:
    reading = Pass(corpus_of(), [run_of("a"), run_of("b", count=8)], Join(missing="skip"))
    left_out = reading.aside([1]).look(lambda view: (view.left_out(0), [list(each) for each in view.chunk.missing]))
    documents = reading.aside([1]).look(lambda view: len(view.documents) + len(view.given))
    reading.run()
    assert left_out.parts == [([], [[]]), ([], [[]]), ([2], [[2]]), ([0], [[0]])]
    assert documents.parts == [6, 6, 6, 2]


# ---------------------------------------------------------------------------------------------- errors in files


@ON_ONE_AND_ON_TWO
def test_a_broken_line_is_named_the_same_on_any_number_of_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    monkeypatch.setattr(files, "FIRST_BYTES", 60)
    lines = [f'{{"id": "d{n}", "text": "bees", "keyphrases": ["bees"]}}' for n in range(12)]
    lines[7] = '{"id": "d7", "text": "bees", "keyphrases": "bees"}'
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines))
    (tmp_path / "run.jsonl").write_text("\n".join(f'{{"id": "d{n}", "keyphrases": []}}' for n in range(12)))
    reading = Pass(read(tmp_path / "corpus.jsonl"), [read_run(tmp_path / "run.jsonl")], jobs=jobs)
    reading.look(partial(hits_of, 0, KARAT))

    with pytest.raises(InputError, match=r"corpus\.jsonl:8: .*write a list of phrases"):
        reading.run()


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (
            run_of(count=11),
            r"^run\.jsonl:11: document 'd10' is not in corpus\.jsonl \(1 such; --extra ignore leaves them out\)$",
        ),
        (run_of(count=9), r"^run\.jsonl: no predictions for document 'd9' of corpus\.jsonl; score it as empty with"),
    ],
)
@ON_ONE_AND_ON_TWO
def test_a_run_that_does_not_fit_is_said_the_same_on_any_number_of_processes(run: Run, said: str, jobs: int) -> None:
    reading = Pass(corpus_of(), [run], jobs=jobs)
    reading.look(ids_of)
    with pytest.raises(InputError, match=said):
        reading.run()


# ---------------------------------------------------------------------------------------------- looking ahead


class Source:
    """Batches of one record each that can be read again, and what was read of them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.opened = 0
        self.read: list[int] = []

    def __call__(self) -> Iterator[Batch[Document]]:
        self.opened += 1
        for n in range(self.count):
            self.read.append(n)
            yield Batch([f"d{n}"], [Document(id=f"d{n}")], [n + 1])


def first_ids(batches: Iterator[Batch[Document]], count: int) -> list[str | None]:
    return [next(batches).ids[0] for _ in range(count)]


def all_ids(batches: Iterator[Batch[Document]]) -> list[str | None]:
    return [identifier for batch in batches for identifier in batch.ids]


def test_the_reading_goes_on_behind_what_was_looked_at() -> None:
    source = Source(5)
    ahead = LookAhead(source)

    assert first_ids(ahead.ahead(), 2) == ["d0", "d1"]
    assert source.read == [0, 1]
    assert first_ids(ahead.ahead(), 3) == ["d0", "d1", "d2"]
    assert all_ids(ahead()) == [f"d{n}" for n in range(5)]
    assert (source.opened, source.read) == (1, [0, 1, 2, 3, 4])


def test_a_second_reading_begins_anew() -> None:
    source = Source(5)
    ahead = LookAhead(source)
    first_ids(ahead.ahead(), 2)
    assert all_ids(ahead()) == all_ids(ahead()) == [f"d{n}" for n in range(5)]
    assert (source.opened, source.read) == (2, [0, 1, 2, 3, 4] * 2)


def test_what_was_kept_is_looked_at_again_without_being_read_again() -> None:
    source = Source(5)
    ahead = LookAhead(source)
    first_ids(ahead.ahead(), 2)
    all_ids(ahead())

    assert first_ids(ahead.ahead(), 2) == ["d0", "d1"]

    assert source.opened == 1


def test_batches_that_were_all_looked_at_are_never_read_again() -> None:
    source = Source(AHEAD)
    ahead = LookAhead(source)

    for _ in range(3):
        assert all_ids(ahead.ahead()) == all_ids(ahead()) == [f"d{n}" for n in range(AHEAD)]

    assert (source.opened, source.read) == (1, list(range(AHEAD)))


def test_more_batches_than_are_kept_are_read_again() -> None:
    source = Source(AHEAD + 3)
    ahead = LookAhead(source)
    expected = [f"d{n}" for n in range(AHEAD + 3)]

    assert all_ids(ahead.ahead()) == expected
    assert (source.opened, source.read) == (1, list(range(AHEAD + 3)))
    assert all_ids(ahead()) == expected
    assert source.opened == 2


def test_two_readings_at_once_do_not_take_from_each_other() -> None:
    source = Source(4)
    ahead = LookAhead(source)
    first_ids(ahead.ahead(), 1)
    one, other = ahead(), ahead()
    assert first_ids(one, 2) == first_ids(other, 2) == ["d0", "d1"]
    assert all_ids(one) == all_ids(other) == ["d2", "d3"]


def test_ids_and_lengths_are_looked_at_ahead() -> None:
    source = Source(3)
    corpus = Corpus("corpus", source)
    assert (len(corpus), corpus.ids) == (3, ["d0", "d1", "d2"])
    assert [document.id for document in corpus.records_ahead()] == corpus.ids
    reading = Pass(corpus, [])
    reading.run()
    assert reading.ids == corpus.ids
    assert source.opened == 1


def test_what_was_kept_of_a_file_is_forgotten_when_the_file_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"id": "1", "keyphrases": ["bee"]}\n')
    corpus = karat.read(path)
    run = karat.Run.of([{"id": "1", "keyphrases": ["bee"]}])
    assert karat.score(corpus, run, metrics="r@5").rows()[0]["value"] == 1.0
    path.write_text('{"id": "1", "keyphrases": ["bee", "honey"]}\n')
    assert karat.score(corpus, run, metrics="r@5").rows()[0]["value"] == 0.5
