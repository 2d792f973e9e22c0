"""Examples in a file."""

from pathlib import Path

import numpy as np
import pytest

from karat import InputError
from karat.corpus import Document
from karat.models.generators.examples import ALIKE, Examples, content_of, windows, write_examples
from karat.models.generators.words import BOS, EOS, PAD, PEOS, SEP, UNK, count_words

DOCUMENTS = [
    Document(id=str(n), text=f"deep nets of {'very ' * n}odd word{n}", keyphrases=["deep nets", f"word{n}", "bees"])
    for n in range(50)
]
WORDS = count_words(DOCUMENTS, read=12, written=4)


def examples(path: Path, targets: str = "one2seq") -> Examples:
    write_examples(path, DOCUMENTS, WORDS, language="english", targets=targets, longest=100)  # type: ignore[arg-type]
    return Examples(path, WORDS.written)


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    found = examples(tmp_path / "e.i32")
    assert len(found) == 50
    source, copied, own, inputs, targets = found.arrays([3, 0])
    read = WORDS.numbered(["deep", "nets", "of", "very", "very", "very", "odd", "word3"])
    assert source[0].tolist() == read.read
    assert copied[0].tolist() == read.copied
    assert (source[1, 5:] == PAD).all()
    assert own[0, read.own["word3"] - WORDS.written] == UNK
    assert own[0, read.own["very"] - WORDS.written] == WORDS.ids["very"]  # it is read, and cannot be written
    assert inputs[0, 0] == BOS
    ids = WORDS.ids
    wanted = [ids["deep"], ids["nets"], SEP, read.own["word3"], PEOS, ids["bees"], EOS]
    assert targets[0, : len(wanted)].tolist() == wanted
    assert inputs[0, 4] == UNK  # the copied word, as the model reads it


def test_one2one_shares_the_source_between_its_examples(tmp_path: Path) -> None:
    found = examples(tmp_path / "e.i32", "one2one")
    assert len(found) == 150
    assert found.index[0, 0] == found.index[2, 0]
    assert [int(each[each != PAD][-1]) for each in found.arrays([0, 1, 2]).targets] == [EOS] * 3


def test_the_order_of_an_epoch_follows_from_seed_and_epoch(tmp_path: Path) -> None:
    found = examples(tmp_path / "e.i32")
    first = [each.tolist() for each in found.batches(8, 1, 0)]
    assert first == [each.tolist() for each in found.batches(8, 1, 0)]
    assert first != [each.tolist() for each in found.batches(8, 1, 1)]
    assert sorted(row for batch in first for row in batch) == list(range(50))
    lengths = [found.index[each, 1] // ALIKE for each in found.batches(8, 1, 0)]
    assert max(map(np.ptp, lengths)) <= 1  # of 50 different lengths, neighbours are together
    widths = [
        found.index[each, 3] for each, alike in zip(found.batches(8, 1, 0), lengths, strict=True) if not np.ptp(alike)
    ]
    assert all(np.all(np.diff(each) >= 0) for each in widths)  # ... and of these, targets of like length


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "e.i32").write_bytes(b"something else, and long enough to be one")
    with pytest.raises(InputError, match="holds no examples"):
        Examples(tmp_path / "e.i32", 9)


def test_documents_of_another_corpus_are_counted(tmp_path: Path) -> None:
    others = frozenset(map(content_of, DOCUMENTS[:7]))
    how = {"language": "english", "targets": "one2seq", "longest": 100, "others": others}
    counts = write_examples(tmp_path / "e", [*DOCUMENTS, Document(text="no keys")], WORDS, **how)  # type: ignore[arg-type]
    assert (counts.documents, counts.shared, counts.empty) == (50, 7, 1)


def test_windows_go_by_length_and_leave_none_out() -> None:
    assert list(windows([5, 1, 4, 2, 3], 2)) == [[1, 3], [4, 2], [0]]
