"""The filter, with figures that are worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.cli import karat as command
from karat.errors import InputError
from karat.output import render
from karat.pairs.filter import rouge1, wer, words_of

# Ten words each, title and text together.
SOURCE = {
    "id": "d1",
    "title": "Deep neural networks",
    "text": "We train neural networks for image search today.",  # 3 + 8 words
    "keyphrases": ["neural networks", "image search", "search of images", "deep image", "zoology"],
}
# neural networks P, image search P, search of images M (no `of`), deep image R, zoology U
OTHER = {"id": "d2", "text": "one two three four five six seven eight nine ten", "keyphrases": ["two three", "ten"]}
CORPUS = karat.Corpus.of([SOURCE, OTHER, {"id": "d3", "text": "alone"}], name="small")


def made(text: str, source: str = "d1", title: str | None = None, **more: Any) -> dict[str, Any]:
    return {"id": f"{source}~x", "source": source, "method": "x", "title": title, "text": text, **more}


def filtered(*records: dict[str, Any], **options: Any) -> karat.Filtered:
    return karat.filter_reformulations(CORPUS, records, **options)


def test_present_references_may_be_present_or_reordered() -> None:
    # `networks ... neural` has both stems, so neural networks is R; image search stays P.
    kept = filtered(made("Today we train networks, neural and deep, for image search, in depth."))
    assert kept.rows()[0]["lost"] == []
    assert kept.rows()[0]["kept"]
    # `images` and `search` apart: R; `networks` alone leaves neural networks M.
    lost = filtered(made("Today we train deep networks to search for many fine images."))
    assert lost.rows()[0]["reasons"] == ["references"]
    assert lost.rows()[0]["lost"] == ["neural networks"]


def test_references_that_were_not_present_need_not_be() -> None:
    found = filtered(made("We train neural networks for image search today, we do so."))
    assert found.rows()[0]["source_prmu"] == {"P": 2, "R": 1, "M": 1, "U": 1}
    assert found.rows()[0]["prmu"] == {"P": 2, "R": 0, "M": 2, "U": 1}  # deep image has lost its `deep`
    assert found.rows()[0]["kept"]


@pytest.mark.parametrize(
    ("count", "length", "kept"),
    [
        (9, 0.1, True),
        (10, 0.1, True),
        (11, 0.1, True),
        (8, 0.1, False),
        (12, 0.1, False),
        (12, 0.2, True),
        (11, 0, False),
    ],
)
def test_the_number_of_words_may_differ_by_a_share(count: int, length: float, kept: bool) -> None:
    text = " ".join(["two three", "ten", *["word"] * (count - 3)])
    [row] = filtered(made(text, "d2"), length=length).rows()
    assert (row["words_source"], row["words"]) == (10, count)
    assert row["reasons"] == ([] if kept else ["length"])


def test_wer_and_rouge_are_those_of_a_hand_calculation() -> None:
    # one two three four five six seven eight nine ten
    # one TWO four three five six seven nine ten extra: `four` is put in before `three` and taken out after it (2),
    # eight is taken out (1), extra is put in (1): 4 of 10 words. All but eight are still there: 9 of 10.
    [row] = filtered(made("One TWO four three five six seven nine ten extra", "d2")).rows()
    assert (row["wer"], row["rouge1"]) == (0.4, 0.9)
    # `the` twice in the source and once in the other counts once.
    a, b = ["the", "cat", "and", "the", "dog"], ["the", "cat"]
    assert (wer(a, b), rouge1(a, b), rouge1(b, a)) == (3 / 5, 2 / 5, 1.0)
    assert (wer([], b), rouge1([], b)) == (None, None)
    assert (wer(a, []), rouge1(a, [])) == (1.0, 0.0)


TEXTS = st.text(alphabet="ab c,.-A1\n", max_size=40)


@settings(deadline=None)  # the first import of the reference implementation takes seconds
@given(TEXTS, TEXTS)
def test_rouge_is_that_of_the_reference_implementation(a: str, b: str) -> None:
    from rouge_score.rouge_scorer import RougeScorer

    one, other = words_of(None, a), words_of(None, b)
    wanted = RougeScorer(["rouge1"]).score(a, b)["rouge1"].recall
    assert (rouge1(one, other) or 0.0) == pytest.approx(wanted)


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), max_size=8))
def test_wer_is_the_edit_distance_of_the_textbook(a: list[str], b: list[str]) -> None:
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        new = [i]
        for j, right in enumerate(b, 1):
            new.append(min(row[j] + 1, new[-1] + 1, row[j - 1] + (left != right)))
        row = new
    assert wer(a, b) == (row[-1] / len(a) if a else None)


def test_the_ceiling_is_hooper_of_the_references_present_in_both() -> None:
    # Present in the source: neural networks, image search. In the other: image search (P), deep image (P), and neural
    # networks is R. |A∩B| = 1, |A∪B| = 3.
    [row] = filtered(made("networks that are neural and deep image search and image of a kind")).rows()
    assert row["prmu"]["P"] == 2
    assert row["ceiling"] == pytest.approx(1 / 3)
    [row] = filtered(made("alone", "d3")).rows()
    assert row["ceiling"] is None  # no references at all


def test_a_repeated_reference_counts_once_in_the_ceiling_and_as_given_in_the_classes() -> None:
    corpus = karat.Corpus.of([{"id": "1", "text": "bees and wasps", "keyphrases": ["bees", "bee", "wasps"]}])
    [row] = karat.filter_reformulations(corpus, [made("bees and ants", "1")]).rows()
    assert row["source_prmu"] == {"P": 3, "R": 0, "M": 0, "U": 0}
    assert row["ceiling"] == 1 / 2
    assert row["lost"] == ["wasps"]


def test_a_variant_is_as_good_as_its_reference() -> None:
    corpus = karat.Corpus.of([{"id": "1", "text": "bees are here", "keyphrases": [["bees", "apis"]]}])
    [row] = karat.filter_reformulations(corpus, [made("apis are here", "1")]).rows()
    assert (row["kept"], row["ceiling"]) == (True, 1.0)


def test_the_summary_counts_and_averages_by_method() -> None:
    rejected = {"id": "d2~z", "source": "d2", "method": "z", "text": "one two three"}  # without ten, and too short
    found = filtered(
        made("one two three four five six seven eight nine ten", "d2") | {"id": "d2~y", "method": "y"},
        made("ten two three one four five six seven eight nine", "d2"),
        rejected,
    )
    assert [row["method"] for row in found.summary()] == ["y", "x", "z", "all"]
    whole = found.summary()[-1]
    assert (whole["reformulations"], whole["kept"], whole["share"]) == (3, 2, 2 / 3)
    assert (whole["rejected_references"], whole["rejected_length"]) == (1, 1)
    # WER: 0; 3 of 10, since one becomes ten, one is put in behind three, and ten is taken out at the end; 7 of 10.
    assert [row["wer"] for row in found.rows()] == [0.0, 0.3, 0.7]
    assert whole["wer"] == pytest.approx(0.15)
    assert whole["wer_of_all"] == pytest.approx(1.0 / 3)
    assert whole["rouge1"] == 1.0
    assert whole["rouge1_of_all"] == pytest.approx(2.3 / 3)
    assert whole["ceiling"] == 1.0
    assert whole["ceiling_of_all"] == pytest.approx((1 + 1 + 1 / 2) / 3)


def test_classes_are_means_over_documents_of_the_corpus_and_of_what_is_kept() -> None:
    found = filtered(made("one two three four five six seven eight nine ten", "d2"))
    original, kept, sources, every = found.prmu()
    # d1 has 2 1 1 1 of 5, d2 2 of 2, d3 has no reference and is left out of the mean.
    assert original["documents"] == 3
    assert [original[name] for name in "PRMU"] == pytest.approx([(0.4 + 1) / 2, 0.1, 0.1, 0.1])
    assert [original[f"{name}_of_references"] for name in "PRMU"] == pytest.approx([4 / 7, 1 / 7, 1 / 7, 1 / 7])
    assert [kept["P"], sources["P"], every["P"]] == [1.0, 1.0, 1.0]


def test_what_is_kept_is_written_as_it_was_with_its_pairs(tmp_path: Path) -> None:
    good = made("one two three four five six seven eight nine ten", "d2", title="", note="mine")
    found = filtered(made("too short"), good)
    found.save(tmp_path / "kept.jsonl")
    found.save_pairs(tmp_path / "pairs.jsonl")
    assert json.loads((tmp_path / "kept.jsonl").read_text()) == good
    assert json.loads((tmp_path / "pairs.jsonl").read_text()) == {"a": "d2", "b": "d2~x"}


def test_a_named_set_and_another_protocol_can_be_asked_for() -> None:
    corpus = karat.Corpus.of(
        [{"id": "1", "text": "bees and wasps", "keyphrases": ["bees"], "reference_sets": {"reader": ["wasps"]}}]
    )
    new = [made("bees and ants", "1")]
    assert karat.filter_reformulations(corpus, new).rows()[0]["kept"]
    assert not karat.filter_reformulations(corpus, new, references="reader").rows()[0]["kept"]
    with pytest.raises(InputError, match="unknown reference set 'raeder'; did you mean 'reader'"):
        karat.filter_reformulations(corpus, new, references="raeder")
    french = karat.Corpus.of([{"id": "1", "text": "les chevaux", "keyphrases": ["cheval"]}])
    there = [made("un cheval", "1")]
    assert karat.filter_reformulations(french, there).rows()[0]["source_prmu"]["P"] == 0
    assert karat.filter_reformulations(french, there, language="french").rows()[0]["source_prmu"]["P"] == 1


def test_what_reformulate_makes_the_filter_takes() -> None:
    corpus = Path(karat.__file__).parent / "demo" / "corpus.jsonl"
    documents = list(karat.read(corpus))[:2]
    records = [
        {"id": f"{each.id}~x", "source": each.id, "method": "x", "title": each.title, "text": each.text}
        for each in documents
    ]
    found = karat.filter_reformulations(corpus, records)
    assert [(row["kept"], row["wer"], row["rouge1"]) for row in found.rows()] == [(True, 0.0, 1.0)] * 2
    assert found.summary()[0]["ceiling"] == 1.0


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (['{"id": "x", "text": "a"}'], r"new.jsonl:1: has no source; a line is "),
        (['{"source": "d1", "text": "a"}'], r"new.jsonl:1: has no id; a line is "),
        (["", '{"id": "x", "source": "d9"}'], r"new.jsonl:2: there is no document 'd9' in memory"),
        (['{"id": "x", "source": "d1"}'] * 2, r"new.jsonl:2: the id 'x' is that of .*new.jsonl:1 too"),
        (['{"id": "x", "source": "d1", "text": 5}'], r"new.jsonl:1: Expected `str"),
        (['{"id": "x", "source": {}}'], r"new.jsonl:1: has no source"),
        (["[]"], r"new.jsonl:1: "),
        (["{"], r"new.jsonl:1: not JSON"),
        ([""], r"new.jsonl: the file is empty"),
    ],
)
def test_a_wrong_line_is_named(lines: list[str], why: str, tmp_path: Path) -> None:
    (tmp_path / "new.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=why):
        karat.filter_reformulations(CORPUS, tmp_path / "new.jsonl")


@pytest.mark.parametrize("length", [-0.1, 1.0, float("nan")])
def test_a_length_that_is_no_share_is_refused(length: float) -> None:
    with pytest.raises(InputError, match="the length may change by a share from 0 to 1"):
        filtered(made("a"), length=length)


def test_nothing_to_look_at_is_said() -> None:
    with pytest.raises(InputError, match="there is no reformulation to look at"):
        filtered()


def test_a_note_counts_kept_copies_of_documents() -> None:
    copy, other = made("One, two three four five six seven eight nine: ten!", "d2"), made("alone in it", "d3")
    found = filtered(copy, {**copy, "id": "d2~y", "text": "ten two three one four five six seven eight nine"}, other)
    assert found.notes == ("1 of 2 kept reformulations repeat their document word for word (WER 0)",)
    assert filtered(other).notes == ()


def test_every_format_shows_it() -> None:
    found = filtered(made("Deep networks\x1b[31m to search | many & fine images_"), made("alone", "d3"))
    for form in ("table", "md", "latex", "csv", "json"):
        assert "x" in render(found, form)
    assert "\x1b" not in render(found)
    assert "d1~x: without neural networks" in render(found)
    rows = render(found, "csv").splitlines()
    assert rows[0].startswith("id,source,method,kept,reasons,lost,words_source,words,wer,rouge1,ceiling,source_P")
    assert len(rows) == 3


def test_the_command_writes_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("corpus.jsonl").write_text(json.dumps(OTHER) + "\n")
    Path("new.jsonl").write_text(json.dumps(made("ten two three one four five six seven eight nine", "d2")) + "\n")
    words = ["pairs", "filter", "corpus.jsonl", "new.jsonl", "-o", "kept.jsonl", "--pairs", "pairs.csv", "-f", "json"]
    command.main(words, standalone_mode=False)
    found = json.loads(capfdbinary.readouterr().out)
    assert list(found) == ["signatures", "rows", "notes", "options", "summary", "prmu"]
    assert found["summary"][0]["kept"] == 1
    assert Path("kept.jsonl").read_text() == Path("new.jsonl").read_text().replace(": ", ":").replace(", ", ",")
    assert Path("pairs.csv").read_text() == "a,b\nd2,d2~x\n"


def test_the_filter_is_the_same_on_any_number_of_processes() -> None:
    records = [{**made("we train deep nets " * (n % 9), "d1"), "id": f"d1~{n}"} for n in range(2500)]
    done: list[int] = []
    alone, both = (filtered(*records, jobs=jobs, progress=done.append) for jobs in (1, 2))
    assert alone.as_dict() == both.as_dict()
    assert sum(done) == 2 * len(records)
