"""Scores, counts and best marks of several systems rest on the same documents, and the output names how many."""

from __future__ import annotations

import re
from typing import Any

import pytest

import karat
from karat.analyses.audit import Audit
from karat.analyses.compare.result import Comparison
from karat.options import Missing
from karat.output import render
from karat.stats.difference import Correction

PHRASES = ["honey bee", "wax", "old hive", "queen"]
QUICK: dict[str, Any] = {"resamples": 200}


def corpus(documents: int = 12) -> karat.Corpus:
    text = "The honey bee makes wax in an old hive without a queen."
    return karat.Corpus.of(({"id": str(i), "text": text, "keyphrases": PHRASES} for i in range(documents)), name="bees")


def run(name: str, documents: int = 12, lists: int = 12) -> karat.Run:
    """A run of the first `documents`, whose predictions differ between documents and are empty after `lists`."""
    records = ({"id": str(i), "keyphrases": [*PHRASES[i % 4 :], "sting"] * (i < lists)} for i in range(documents))
    return karat.Run.of(list(records), name=name)


def other(name: str = "other", documents: int = 12) -> karat.Run:
    return karat.Run.of([{"id": str(i), "keyphrases": PHRASES[: i % 3 + 1]} for i in range(documents)], name=name)


def text_of(found: Any) -> str:
    return " ".join(render(found, "table").split())


@pytest.mark.parametrize("missing", ["skip", "common"])
def test_headings_and_notes_count_the_documents_that_all_runs_have(missing: Missing) -> None:
    runs = [run("full"), run("part", documents=8), other()]
    options: dict[str, Any] = {"missing": missing, "metrics": ["words", "f1@5:present"], **QUICK}
    assert "bees, 8 of 12 documents, protocol karat" in text_of(karat.compare(corpus(), *runs, **options))
    table = karat.table(corpus(), *runs, **options)
    assert "documents: bees 8 of 12" in text_of(table)
    assert not any("undefined" in note for note in table.notes)
    assert {(row["documents"], row["undefined"]) for row in table.rows()} == {(8, 0)}


def test_scores_of_common_documents_say_so_and_keep_their_number(tmp_path: Any) -> None:
    found = karat.score(corpus(), run("full"), run("part", documents=8), metrics=["f1@5:present"], missing="common")
    assert text_of(found).startswith("bees, 8 of 12 documents")
    assert "undefined" not in text_of(found)
    found.save(tmp_path / "both.karat")
    compared = karat.compare(tmp_path / "both.karat", **QUICK)
    assert "bees, 8 of 12 documents" in text_of(compared)
    assert sum("part lacks 4 of 12 documents" in note for note in compared.notes) == 1


def test_scores_under_skip_do_not_call_missing_documents_undefined() -> None:
    found = karat.score(corpus(), run("full"), run("part", documents=8), metrics=["f1@5:present"], missing="skip")
    assert text_of(found).startswith("bees, 12 documents")
    assert "undefined" not in text_of(found)


def test_the_report_rests_on_the_documents_that_all_runs_have() -> None:
    runs = [run("full"), run("part", documents=8), other()]
    page = karat.report(corpus(), *runs, missing="skip", metrics=["f1@5:present", "words"], **QUICK)
    [part] = page.parts
    assert [each.documents for each in part.outcomes] == [8, 8, 8]
    assert part.outcomes[0] == part.outcomes[1]  # full and part are equal on the documents that both have
    assert part.curves is not None
    curves = [[each.value for each in part.curves.scores if each.system == name] for name in ("full", "part")]
    assert curves[0] == curves[1]
    said = re.sub(r"<[^>]*>", " ", page.html())
    assert "on the 8 documents of bees that all runs have" in said
    assert "bees, 8 of 12 documents, protocol karat" in said
    assert "on the 12 documents" not in said
    audit = part.found["audit"]
    assert isinstance(audit, Audit)
    audits = [[row["value"] for row in audit.rows() if row["system"] == name] for name in ("full", "part")]
    assert audits[0] == audits[1]
    assert not any("undefined" in note for note in page.notes)
    assert sum("part lacks 4 of 12 documents" in note for note in page.notes) == 1


def marked(found: Any) -> set[tuple[str, str]]:
    rows = found.systems() if isinstance(found, Comparison) else found.rows()
    return {(row["metric"], row["system"]) for row in rows if row["best"]}


def test_only_values_of_the_same_documents_are_marked_as_the_best() -> None:
    runs = [run("full"), run("half", lists=6)]
    options: dict[str, Any] = {"metrics": ["self_bleu", "f1@5:present"], **QUICK}
    for found in (karat.compare(corpus(), *runs, **options), karat.table(corpus(), *runs, **options)):
        assert marked(found) == {("f1@5", "full")}
        [note] = [note for note in found.notes if "marked as the best" in note]
        assert note.startswith("self_bleu:all: ")
        assert "different documents" in note


def test_a_worst_value_and_a_metric_without_a_better_way_have_no_best() -> None:
    nothing = karat.Run.of([{"id": str(i), "keyphrases": ["sting"]} for i in range(12)], name="nothing")
    runs = [nothing, karat.Run.of(list(nothing), name="again")]
    options: dict[str, Any] = {"metrics": ["words", "f1@5:present"], **QUICK}
    compared = karat.compare(corpus(), *runs, **options)
    assert marked(compared) == marked(karat.table(corpus(), *runs, **options)) == set()
    assert "best*" not in text_of(compared)
    page = karat.report(corpus(), run("full"), other(), metrics=["words"], **QUICK).html()
    assert "(best)" not in page
    assert "has the highest words of all phrases" in page
    three = karat.compare(corpus(), run("full"), other(), nothing, metrics=["words"], **QUICK)
    assert "differences to the first system of each metric" in text_of(three)


def test_systems_without_a_value_have_no_letters() -> None:
    nothing = karat.Run.of([{"id": str(i), "keyphrases": []} for i in range(12)], name="nothing")
    found = karat.compare(corpus(), run("full"), nothing, metrics=["words"], **QUICK)
    assert {row["system"]: row["letters"] for row in found.systems()} == {"full": "a", "nothing": ""}


@pytest.mark.parametrize("documents", [1, 2])
def test_equal_systems_have_p_1_on_one_or_two_common_documents(documents: int) -> None:
    found = karat.compare(
        corpus(), run("full"), run("few", documents), metrics=["f1@5:present"], missing="skip", **QUICK
    )
    [row] = found.rows()
    assert (row["difference"], row["p"], row["p_adjusted"], row["n"]) == (0, 1, 1, documents)
    assert any("equal on every document" in note for note in found.notes)
    assert not any("nothing is tested" in note for note in found.notes)
    apart = karat.compare(
        corpus(), run("full"), other("few", documents), metrics=["f1@5:present"], missing="skip", **QUICK
    )
    assert apart.rows()[0]["p"] is None
    assert any("nothing is tested" in note for note in apart.notes)


def test_equal_systems_have_no_interval_where_a_metric_has_no_bound() -> None:
    found = karat.compare(corpus(), run("one"), run("two"), metrics=["words", "f1@5:present"], **QUICK)
    unbounded, bounded = found.rows()
    assert unbounded["ci"] == [None, None]
    assert bounded["ci"][0] < 0 < bounded["ci"][1]


def test_metrics_that_differ_in_their_average_alone_are_named_with_it() -> None:
    metrics = ["f1@5:present", "f1@5:present/micro", "words"]
    two = text_of(karat.compare(corpus(), run("full"), other(), metrics=metrics, **QUICK))
    three = text_of(karat.compare(corpus(), run("full"), other(), other("third"), metrics=metrics, **QUICK))
    for text in (two, three):
        assert "f1@5 present mean-of-f, 12 documents" in text
        assert "f1@5 present micro, 12 documents" in text
        assert "words all, 12 documents" in text


def test_rows_have_the_documents_that_a_difference_needs() -> None:
    found = karat.compare(corpus(), run("full"), other(), metrics=["f1@5:present"], difference=0.1, **QUICK)
    [row], [flat] = found.rows(), found.flat_rows()
    low, high = row["documents_needed_ci"]
    assert 2 <= low < row["documents_needed"] < high
    assert f"{row['documents_needed']:,} [{low:,}, {high:,}]" in text_of(found)
    assert [flat[f"documents_needed{end}"] for end in ("", "_low", "_high")] == [row["documents_needed"], low, high]
    equal = karat.compare(corpus(), run("one"), run("two"), metrics=["f1@5:present"], difference=0.1, **QUICK)
    assert (equal.rows()[0]["documents_needed"], equal.rows()[0]["documents_needed_ci"]) == (None, [None, None])


def test_legends_name_adjusted_p_only_where_it_is_adjusted() -> None:
    runs = [run("full"), other(), run("half", lists=6)]
    options: dict[str, Any] = {"metrics": ["f1@5:present"], **QUICK}
    names: dict[Correction, str] = {"none": "p at most", "max-t": "adjusted p at most"}
    for correction, expected in names.items():
        table = text_of(karat.table(corpus(), *runs, correction=correction, **options))
        assert f"two-sided; {expected} .05" in table
        compared = text_of(karat.compare(corpus(), *runs, correction=correction, **options))
        assert f"differ: {expected} 0.05" in compared
        assert ("intervals are not adjusted" in compared) == (correction == "max-t")
    assert "of differences" not in text_of(karat.table(corpus(), *runs, intervals=True, **options))


def test_too_few_resamples_for_alpha_have_a_note() -> None:
    options: dict[str, Any] = {"metrics": ["f1@5:present"]}
    said = "18 resamples cannot give a p of 0.05 or less"
    assert any(
        said in note
        for note in karat.compare(corpus(20), run("a", 20, 20), other("b", 20), resamples=18, **options).notes
    )
    for documents, resamples in ((20, 19), (12, 18)):  # enough resamples; all swaps of 12 documents
        found = karat.compare(
            corpus(documents), run("a", documents), other("b", documents), resamples=resamples, **options
        )
        assert not any("resamples cannot" in note for note in found.notes)
