"""Answers are on disk before anything else happens, and stay there."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from karat.errors import InputError
from karat.llm.client import Answer, StoppedError, Usage
from karat.llm.store import Limits, Question, Store


def question(key: bytes) -> Question:
    return Question(key, "d1", "paraphrase", "small", 0.5, 7, "Say {text}")


def test_an_answer_is_kept_with_all_that_made_it(tmp_path: Path) -> None:
    path = tmp_path / "kept.sqlite"
    with Store(path) as store:
        assert store.answer(b"k") is None
        request = store.begin(b"k", Usage(5, 5, estimated=True))
        store.keep(question(b"k"), Answer("Said.", Usage(3, 4), request))
    with Store(path) as store:
        assert store.answer(b"k") == "Said."
        assert store.spent().requests == 1
        assert store.spent().usage == Usage(3, 4)
    with closing(sqlite3.connect(path)) as other:
        rows = other.execute("SELECT document, step, model, temperature, seed, prompt FROM answers").fetchall()
    assert rows == [("d1", "paraphrase", "small", 0.5, 7, "Say {text}")]


def test_an_answer_is_in_the_file_while_the_store_is_open(tmp_path: Path) -> None:
    path = tmp_path / "kept.sqlite"
    with Store(path) as store:
        store.keep(question(b"k"), Answer("Said, and safe.", Usage(3, 4), store.begin(b"k", Usage(5, 5))))
        held = b"".join(each.read_bytes() for each in tmp_path.iterdir())
        assert b"Said, and safe." in held


def test_a_request_counts_as_expected_until_it_is_known_better(tmp_path: Path) -> None:
    with Store(tmp_path / "kept.sqlite") as store:
        lost, refused = (store.begin(b"k", Usage(100, 50, estimated=True)) for _ in range(2))
        assert store.spent().usage == Usage(200, 100, estimated=True)
        store.end(refused, Usage(0, 0))
        assert store.spent().usage == Usage(100, 50, estimated=True)
        assert (lost, refused, store.spent().requests) == (1, 2, 2)


def test_a_limit_of_requests_counts_those_of_earlier_commands(tmp_path: Path) -> None:
    for _ in range(2):
        with Store(tmp_path / "kept.sqlite", Limits(requests=2)) as store:
            store.begin(b"k", Usage(1, 1))
    with Store(tmp_path / "kept.sqlite", Limits(requests=2)) as store:
        with pytest.raises(StoppedError, match="--max-requests 2 is reached"):
            store.begin(b"k", Usage(1, 1))
        assert store.spent().requests == 2


def test_a_limit_of_cost_counts_requests_under_way(tmp_path: Path) -> None:
    # A million tokens in cost 2 and out 10: a request of 1,000 in and 500 out costs .002 + .005 = .007.
    limits = Limits(cost=0.02, price_in=2.0, price_out=10.0)
    assert limits.price(Usage(1000, 500)) == pytest.approx(0.007)
    with Store(tmp_path / "kept.sqlite", limits) as store:
        store.begin(b"k", Usage(1000, 500))
        second = store.begin(b"k", Usage(1000, 500))
        with pytest.raises(StoppedError, match=r"--max-cost 0.02 is reached: 0.014 is spent or asked for"):
            store.begin(b"k", Usage(1000, 500))
        store.end(second, Usage(0, 0))
        store.begin(b"k", Usage(1000, 500))


def test_two_commands_do_not_write_to_one_store_at_once(tmp_path: Path) -> None:
    path = tmp_path / "kept.sqlite"
    with Store(path) as store:
        with pytest.raises(InputError, match="another karat is at work on these answers; wait for it to end"):
            Store(path)
        store.begin(b"k", Usage(1, 1))
    with Store(path) as store:
        assert store.spent().requests == 1


def test_a_damaged_store_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "kept.sqlite"
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(InputError, match="is not a store of answers"):
        Store(path)
    assert path.read_bytes() == b"not a database" * 100


def test_a_database_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE things (name)")
    other.commit()
    other.close()
    with pytest.raises(InputError, match="is not a store of answers that this karat can read"):
        Store(path)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="answers cannot be kept there"):
        Store(tmp_path / "nowhere" / "kept.sqlite")


# ---------------------------------------------------------------------------------------------- damage


def keep(path: Path, text: str, tokens: tuple[tuple[str, float], ...] = ()) -> list[str]:
    """Keep an answer; return the notes of the store."""
    with Store(path) as store:
        store.answer(b"k")
        request = store.begin(b"k", Usage(5, 5, estimated=True))
        store.keep(question(b"k"), Answer(text, Usage(3, 4), request, tokens=tokens))
        return store.notes()


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as other, other:
        other.executescript(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE answers SET answer = 'Sand.'",
        "UPDATE answers SET answer = CAST(x'53ff' AS TEXT)",
        "UPDATE answers SET checksum = NULL",
        "UPDATE answers SET seed = 8",
        "UPDATE tokens SET tokens = x'90'",
        "DELETE FROM tokens",
    ],
)
def test_a_damaged_answer_is_asked_for_again_and_replaced(statement: str, tmp_path: Path) -> None:
    path = tmp_path / "kept.sqlite"
    assert keep(path, "Said.", (("Said.", -0.5),)) == []
    change(path, statement)
    with Store(path) as store:
        assert store.answer(b"k") is None
        assert store.tokens(b"k") == []
        assert store.notes() == [f"{path}: 1 answer is damaged; it is asked for again"]
    keep(path, "Said again.")
    with Store(path) as store:
        assert store.answer(b"k") == "Said again."
        assert store.tokens(b"k") == []
        assert store.notes() == []


def test_a_damaged_account_is_said(tmp_path: Path) -> None:
    path = tmp_path / "kept.sqlite"
    keep(path, "Said.")
    change(path, "UPDATE requests SET tokens_in = 2003")
    with Store(path) as store:
        assert store.answer(b"k") == "Said."
        assert store.notes() == [f"{path}: the account of 1 request is damaged; tokens and costs in all are not exact"]


def test_answers_of_an_earlier_version_are_kept_and_get_checksums(tmp_path: Path) -> None:
    path = tmp_path / "kept.sqlite"
    keep(path, "Said.", (("Said.", -0.5),))
    change(
        path,
        "ALTER TABLE answers DROP COLUMN checksum; ALTER TABLE requests DROP COLUMN checksum; PRAGMA user_version = 1;",
    )
    with Store(path) as store:
        assert store.answer(b"k") == "Said."
        assert store.tokens(b"k") == [("Said.", -0.5)]
        assert store.spent().usage == Usage(3, 4)
        assert store.notes() == [
            f"{path}: has no checksum, as an earlier version of karat wrote it: damage to it is not detected"
        ]
    with Store(path) as store:
        assert store.answer(b"k") == "Said."
        assert store.notes() == []
