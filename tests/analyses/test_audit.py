"""An audit names the option that explains a difference, and its steps add up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import karat
from karat.output import render
from karat.protocol import published
from karat.tabular import number

DATA = Path(__file__).parents[1] / "golden"
SYNTHETIC = [DATA / f"synthetic.{name}.jsonl" for name in ("corpus", "alpha", "beta")]


@pytest.fixture(scope="module")
def audit() -> karat.Audit:
    return karat.audit(*SYNTHETIC, metric="f1@5:present")


def test_every_published_protocol_is_there_with_the_flags_of_its_script(audit: karat.Audit) -> None:
    assert list(audit.values) == [str(protocol) for protocol in published()]
    assert {"meng2021,tokenizer=split", "kpdrop2022,pad=k"} <= set(audit.values)


def test_the_values_are_those_of_score(audit: karat.Audit) -> None:
    found = karat.score(*SYNTHETIC, metrics=["f1@5:present"], protocol=["chan2019", "meng2021"])
    for score in found.scores:
        assert audit.values[score.protocol][audit.systems.index(score.system)] == score.value


def test_the_steps_add_up_to_the_difference(audit: karat.Audit) -> None:
    for cause in (*audit.causes, *audit.extremes):
        for i in range(len(audit.systems)):
            whole = audit.values[cause.protocol][i] - audit.values[cause.against][i]
            assert cause.differences[i] == pytest.approx(whole, abs=1e-12)
            assert sum(step.changes[i] for step in cause.steps) == pytest.approx(whole, abs=1e-12)


def test_a_step_is_what_score_says_of_the_changed_option(audit: karat.Audit) -> None:
    cause = next(cause for cause in audit.causes if cause.protocol == "chan2019")
    options = ""
    before = audit.values["karat"]
    for step in cause.steps:
        options += f",{step.option}={step.after}"
        found = karat.score(*SYNTHETIC, metrics=["f1@5:present"], protocol=f"karat{options}")
        after = tuple(score.value for score in found.scores)
        assert step.changes == pytest.approx([x - y for x, y in zip(after, before, strict=True)], abs=1e-12)
        before = after


def test_idle_options_differ_and_change_nothing(audit: karat.Audit) -> None:
    cause = next(cause for cause in audit.causes if cause.protocol == "kpdrop2022,pad=k")
    assert set(cause.idle).isdisjoint(step.option for step in cause.steps)
    own, other = (karat.parse_protocol(name).options() for name in ("karat", "kpdrop2022,pad=k"))
    assert {*cause.idle, *(step.option for step in cause.steps)} == {o for o in own if own[o] != other[o]}


CORPUS = karat.Corpus.of(
    [
        {"id": "1", "text": "a b c d", "keyphrases": ["a", "b", "c", "d"]},
        {"id": "2", "text": "e f", "keyphrases": ["e"]},
    ]
)
# Of document 1 the first predicts all, of document 2 it has one right of four; the second finds one of each.
WIDE = karat.Run.of(
    [{"id": "1", "keyphrases": ["a", "b", "c", "d"]}, {"id": "2", "keyphrases": ["e", "f", "e f", "x"]}], name="wide"
)
SHORT = karat.Run.of([{"id": "1", "keyphrases": ["a"]}, {"id": "2", "keyphrases": ["e"]}], name="short")


def test_a_difference_of_the_average_alone_is_called_that() -> None:
    """By hand: short has P 1, 1 and R 1/4, 1: mean of F .4 and 1 is .7; F of means 1 and .625 is .76923."""
    found = karat.audit(CORPUS, SHORT, metric="f1@M", protocol=["karat,average=f-of-means"])
    [cause] = found.causes
    [step] = cause.steps
    assert (step.option, step.before, step.after) == ("average", "mean-of-f", "f-of-means")
    assert found.values["karat"] == pytest.approx((0.7,))
    assert found.values["karat,average=f-of-means"] == pytest.approx((0.76923,), abs=1e-5)
    assert step.changes == pytest.approx((0.06923,), abs=1e-5)
    assert "mostly the option average" in render(found)


def test_a_ranking_that_depends_on_the_protocol_is_told() -> None:
    """Precision at 4: wide 1 and 1/4 (of e, f, e f, x), mean .625; short 1, but padded 1/4."""
    found = karat.audit(CORPUS, WIDE, SHORT, metric="p@4", protocol=["karat,pad=k"])
    assert found.rankings() == {
        (("short",), ("wide",)): ["karat"],
        (("wide",), ("short",)): ["karat,pad=k"],
    }
    assert "The ranking changes with the protocol:" in render(found)
    assert "  short > wide under karat." in render(found)


def test_equal_scores_are_equal_in_the_ranking() -> None:
    found = karat.audit(CORPUS, SHORT, karat.Run.of(list(SHORT), name="twin"), metric="f1@M", protocol=["chan2019"])
    assert list(found.rankings()) == [(("short", "twin"),)]
    assert "short = twin" in render(found)


def test_without_causes_nothing_is_looked_for() -> None:
    found = karat.audit(CORPUS, SHORT, metric="f1@M", causes=False)
    assert (found.causes, found.extremes) == ((), ())
    assert "Why" not in render(found)


def test_json_has_the_rows_of_score_and_the_causes(audit: karat.Audit) -> None:
    found = json.loads(render(audit, "json"))
    assert list(found) == ["signatures", "short_signatures", "rows", "notes", "spread", "rankings", "causes"]
    assert len(found["rows"]) == len(audit.systems) * len(audit.protocols)
    assert found["causes"][0]["difference"].keys() == set(audit.systems)
    [low, high] = found["spread"][0]["low"], found["spread"][0]["high"]
    assert low == min(row["value"] for row in found["rows"] if row["system"] == audit.systems[0])
    assert high == max(row["value"] for row in found["rows"] if row["system"] == audit.systems[0])


@pytest.mark.parametrize("form", ["table", "md", "latex", "csv"])
def test_every_format_shows_every_value(audit: karat.Audit, form: str) -> None:
    text = render(audit, form)
    for protocol, values in audit.values.items():
        assert protocol in text.replace("\\_", "_")
        shown = [repr(value) for value in values] if form == "csv" else [number(value) for value in values]
        assert all(value in text for value in shown)


def test_many_systems_go_on_below() -> None:
    runs = [karat.Run.of(list(SHORT), name=f"a system with a long name {n}") for n in range(8)]
    text = render(karat.audit(CORPUS, *runs, metric="f1@M", protocol=["chan2019"]))
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("protocol  ") >= 3


def test_an_undefined_score_is_no_difference() -> None:
    corpus = karat.Corpus.of([{"id": "1", "text": "a b", "keyphrases": ["a"]}])
    run = karat.Run.of([{"id": "1", "keyphrases": ["z"]}])
    found = karat.audit(corpus, run, metric="r@M:absent", protocol=["karat,average=f-of-means", "karat,empty=zero"])
    assert "–" in render(found)
    assert found.causes[0].differences == (0.0,)


def test_where_less_is_better_the_ranking_begins_with_the_least() -> None:
    """By hand: 4 and 1 references; one prediction each is an error of (3 + 0)/2, none of (4 + 1)/2."""
    none = karat.Run.of([{"id": "1", "keyphrases": []}, {"id": "2", "keyphrases": []}], name="none")
    found = karat.audit(CORPUS, none, SHORT, metric="count_mae", protocol=["ye2021"])
    assert {ranking[0] for ranking in found.rankings()} == {("short",)}


def test_protocols_whose_options_differ_are_not_told_as_one() -> None:
    found = karat.audit(CORPUS, SHORT, metric="f1@M", protocol=["karat,empty=zero", "chan2019", "chen2020"])
    effects = render(found).partition("How much")[2]
    assert "tokenizer=" not in effects or "chan2019, chen2020" not in effects


def test_a_protocol_that_changes_nothing_is_said_to_score_the_same() -> None:
    corpus = karat.Corpus.of(
        [{"id": "1", "text": "a b", "keyphrases": ["a"]}, {"id": "2", "text": "c", "keyphrases": []}]
    )
    run = karat.Run.of([{"id": "1", "keyphrases": ["a"]}, {"id": "2", "keyphrases": ["c"]}])
    found = karat.audit(corpus, run, metric="f1@M", protocol=["karat,empty=zero"])
    assert "mostly the option empty" in render(found)
    alike = karat.audit(corpus, run, metric="r@M", protocol=["karat,pad=k"])
    assert "karat,pad=k: as karat to four digits." in render(alike)


def test_a_signature_brings_its_reference_set(tmp_path: Path) -> None:
    documents = [{"id": "1", "text": "a b", "keyphrases": ["a"], "reference_sets": {"author": ["b"], "reader": ["a"]}}]
    corpus, run = karat.Corpus.of(documents), karat.Run.of([{"id": "1", "keyphrases": ["b"]}])
    scored = karat.score(corpus, run, metrics=["f1@M"], references="author")
    found = karat.audit(corpus, run, metric="f1@M", protocol=[scored.signatures["karat"], "chan2019"])
    assert set(found.values.values()) == {(1.0,)}
    assert ",set=author," in found.results.signatures["karat"]


def test_documents_that_a_run_lacks_are_told() -> None:
    found = karat.audit(CORPUS, karat.Run.of(list(SHORT)[:1]), metric="f1@M", protocol=["chan2019"], missing="empty")
    assert "run: 1 document without predictions in the run" in found.notes


def test_a_large_corpus_is_sampled_to_see_which_options_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = karat.audit(*SYNTHETIC, metric="f1@5:present", protocol=["chan2019"])
    monkeypatch.setattr("karat.analyses.audit.SAMPLE", 50)
    sampled = karat.audit(*SYNTHETIC, metric="f1@5:present", protocol=["chan2019"])
    assert sampled.values == whole.values
    [cause] = sampled.causes
    for i, difference in enumerate(cause.differences):
        assert sum(step.changes[i] for step in cause.steps) == pytest.approx(difference, abs=1e-12)


def test_one_protocol_alone_has_no_spread_to_tell_of() -> None:
    text = render(karat.audit(CORPUS, SHORT, metric="f1@M", protocol=["karat"]))
    assert "from" not in text
    assert "How much" not in text
