"""Several runs as one, and one run in another order: scores by hand, order, what is kept, what cannot be asked."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.analyses import ensemble as ensembles
from karat.analyses import rerank as reranking
from karat.analyses.rerank import log_perplexity
from karat.errors import InputError


def run(name: str, *lists: Sequence[str], **told: list[Any]) -> karat.Run:
    """A run over the documents 1, 2, ...; what is told of its phrases is by document."""
    return karat.Run.of(
        (
            {"id": str(n), "keyphrases": list(each)} | {field: values[n - 1] for field, values in told.items()}
            for n, each in enumerate(lists, 1)
        ),
        name,
    )


def phrases(made: karat.Run) -> list[list[str | None]]:
    return [prediction.keyphrases or [] for prediction in made]


def scores(made: karat.Run) -> list[Any]:
    return [prediction.scores for prediction in made]


# ---------------------------------------------------------------------------------------------- fusion


A = run("a", ["bees", "wasps", "hive"])
B = run("b", ["wasp", "nest"])


def test_reciprocal_rank_fusion_is_as_by_hand() -> None:
    """k = 60: wasp is second and first, 1/62 + 1/61; bees first, 1/61; nest second, 1/62; hive third, 1/63."""
    made = karat.ensemble(A, B)
    assert phrases(made) == [["wasps", "bees", "nest", "hive"]]
    assert scores(made) == [pytest.approx([1 / 62 + 1 / 61, 1 / 61, 1 / 62, 1 / 63])]


def test_k_weighs_the_ranks() -> None:
    """With k = 0: bees 1, wasp 1/2 + 1; with a large k what two runs have stands before any first place."""
    a, b = run("a", ["x", "y"]), run("b", ["u", "v", "w", "y"])
    assert phrases(karat.ensemble(a, b, k=0)) == [["x", "u", "y", "v", "w"]]
    assert phrases(karat.ensemble(a, b, k=60)) == [["y", "x", "u", "v", "w"]]
    assert scores(karat.ensemble(a, b, k=0)) == [pytest.approx([1, 1, 1 / 2 + 1 / 4, 1 / 2, 1 / 3])]


def test_votes_count_first_and_ranks_part_equals() -> None:
    a, b, c = run("a", ["x", "y", "z"]), run("b", ["u", "z", "y"]), run("c", ["w", "y"])
    made = karat.ensemble(a, b, c, by="vote")
    assert phrases(made) == [["y", "z", "x", "u", "w"]]
    assert scores(made) == [[3.0, 2.0, 1.0, 1.0, 1.0]]


def test_run_after_run_the_first_list_stays_and_others_add_to_it() -> None:
    a, b, c = run("a", ["x", "bees", "z"], []), run("b", ["u", "z", "bee"], ["v"]), run("c", ["w", "u"], ["v", "x"])
    made = karat.ensemble(a, b, c, by="run")
    assert phrases(made) == [["x", "bees", "z", "u", "w"], ["v", "x"]]
    assert scores(made) == [pytest.approx([1, 1 / 2, 1 / 3, 1 / 4, 1 / 5]), pytest.approx([1, 1 / 2])]
    assert phrases(karat.ensemble(a, b, c, by="run", at_least=2)) == [["bees", "z", "u"], ["v"]]


def test_absent_phrases_stand_behind_all_present_ones_run_after_run() -> None:
    a, b = run("a", ["bees", "insects", "hive"], ["x"]), run("b", ["honey", "bee", "zoo"], ["y"])
    made = list(karat.ensemble(present=a, absent=b, corpus=BEES, by="run"))
    assert made[0].keyphrases == ["bees", "hive", "honey", "zoo"]
    assert made[0].kinds == ["present", "present", "absent", "absent"]


def test_only_phrases_of_enough_runs_are_kept() -> None:
    a, b, c = run("a", ["x", "y", "z"]), run("b", ["z", "y"]), run("c", ["y"])
    assert phrases(karat.ensemble(a, b, c, at_least=2)) == [["y", "z"]]
    assert phrases(karat.ensemble(a, b, c, at_least=3)) == [["y"]]


def test_of_equals_the_first_run_comes_first_and_shows_its_phrase() -> None:
    a, b = run("a", ["Deep Nets", "trees"]), run("b", ["graphs", "deep nets"])
    assert phrases(karat.ensemble(a, b)) == [["Deep Nets", "graphs", "trees"]]
    assert phrases(karat.ensemble(b, a)) == [["deep nets", "graphs", "trees"]]
    assert phrases(karat.ensemble(run("a", ["x", "y"]), run("b", ["u", "v"]))) == [["x", "u", "y", "v"]]


def test_the_protocol_says_which_phrases_are_one() -> None:
    a, b = run("a", ["deep nets"]), run("b", ["deep net"])
    assert phrases(karat.ensemble(a, b, protocol="karat,stemmer=none")) == [["deep nets", "deep net"]]
    a, b = run("a", ["animaux"]), run("b", ["animal"])
    assert phrases(karat.ensemble(a, b, language="french")) == [["animaux"]]


def test_repeats_and_unreadable_phrases_take_no_rank() -> None:
    made = ensembles.make([run("a", ["x", "X", "<unk>", "", "y"]), run("b", ["z"])], ensembles.EnsembleOptions())
    assert phrases(made.run) == [["x", "z", "y"]]
    assert scores(made.run) == [pytest.approx([1 / 61, 1 / 61, 1 / 62])]
    assert made.notes == ("a: 2 predictions left out, invalid under the protocol",)


def test_documents_keep_the_order_of_the_first_run() -> None:
    a = karat.Run.of([{"id": "2", "keyphrases": ["x"]}, {"id": 1, "keyphrases": ["y"]}], name="a")
    b = run("b", ["u"], ["v"])
    made = list(karat.ensemble(a, b, at_least=1))
    assert [(prediction.id, prediction.keyphrases) for prediction in made] == [("2", ["x", "v"]), ("1", ["y", "u"])]


def test_a_document_may_be_left_without_phrases() -> None:
    made = ensembles.make([run("a", ["x"], ["y"]), run("b", ["x"], ["z"])], ensembles.EnsembleOptions(at_least=2))
    assert phrases(made.run) == [["x"], []]
    assert made.notes == ("1 of 2 documents have no phrase",)


def test_runs_without_ids_are_matched_line_by_line() -> None:
    a = karat.Run.of([{"keyphrases": ["x"]}, {"keyphrases": ["y"]}], name="a")
    b = karat.Run.of([{"keyphrases": ["u"]}, {"keyphrases": ["y"]}], name="b")
    made = ensembles.make([a, b], ensembles.EnsembleOptions())
    assert [(prediction.id, prediction.keyphrases) for prediction in made.run] == [(None, ["x", "u"]), (None, ["y"])]
    assert "matched line by line" in made.notes[0]


def test_kinds_are_kept_where_all_runs_tell_them() -> None:
    a = run("a", ["x", "y"], ["z"], kinds=[["present", "absent"], ["absent"]])
    b = run("b", ["y", "u"], ["v"], kinds=[["present", "present"], None])
    made = list(karat.ensemble(a, b))
    assert made[0].keyphrases == ["y", "x", "u"]
    assert made[0].kinds == ["absent", "present", "present"]
    assert made[1].kinds is None


words = st.lists(st.sampled_from("abcdefgh"), max_size=8, unique=True)


@settings(deadline=None)
@given(words, words, words, st.sampled_from(["rrf", "vote"]))
def test_the_scores_do_not_depend_on_the_order_of_the_runs(
    first: list[str], second: list[str], third: list[str], by: Any
) -> None:
    runs = [run(name, each) for name, each in zip("abc", (first, second, third), strict=True)]
    found = []
    for order in (runs, runs[::-1], [runs[1], runs[0], runs[2]]):
        [made] = karat.ensemble(*order, by=by)
        ordered = [score or 0.0 for score in made.scores or ()]
        assert ordered == sorted(ordered, reverse=True)
        found.append(dict(zip(made.keyphrases or (), ordered, strict=True)))
    assert found[0] == found[1] == found[2]
    assert set(found[0]) == {*first, *second, *third}


@settings(deadline=None)
@given(words)
def test_a_run_fused_with_its_like_keeps_its_order(first: list[str]) -> None:
    assert phrases(karat.ensemble(run("a", first), run("b", first))) == [first]


# ---------------------------------------------------------------------------------------------- present and absent

BEES = karat.Corpus.of(
    [{"id": "2", "text": "Ants.", "keyphrases": ["ant"]}, {"id": "1", "text": "Bees in a hive.", "keyphrases": ["bee"]}]
)


def test_present_phrases_come_from_one_run_and_absent_ones_from_another() -> None:
    """Each keeps the rank of its own run: bees 1 and hive 3 of the first, zoo 2 and honey 3 of the second."""
    a = run("a", ["bees", "insects", "hive"], ["x"])
    b = run("b", ["hives", "zoo", "honey"], ["ants"])
    made = list(karat.ensemble(present=a, absent=b, corpus=BEES))
    assert [prediction.id for prediction in made] == ["1", "2"]
    assert made[0].keyphrases == ["bees", "zoo", "hive", "honey"]
    assert made[0].scores == pytest.approx([1 / 61, 1 / 62, 1 / 63, 1 / 63])
    assert made[0].kinds == ["present", "absent", "present", "absent"]
    assert made[1].keyphrases == []


def test_the_corpus_may_hold_further_documents() -> None:
    made = list(karat.ensemble(present=run("a", ["bees"]), absent=run("b", ["zoo"]), corpus=BEES))
    assert [prediction.keyphrases for prediction in made] == [["bees", "zoo"]]


def test_each_kind_scores_as_it_does_in_its_own_run() -> None:
    data = Path(__file__).parents[1] / "golden"
    corpus, a, b = (str(data / f"synthetic.{name}.jsonl") for name in ("corpus", "alpha", "beta"))
    made = karat.ensemble(present=a, absent=b, corpus=corpus)
    for path, subset in ((a, "present"), (b, "absent")):
        metrics = [f"{metric}:{subset}" for metric in ("f1@5", "f1@M", "map")]
        wanted = [row["value"] for row in karat.score(corpus, path, metrics=metrics).rows()]
        assert [row["value"] for row in karat.score(corpus, made, metrics=metrics).rows()] == wanted


# ---------------------------------------------------------------------------------------------- another order


def test_perplexity_is_as_by_hand() -> None:
    """(.5 · .125)^(-1/2) = 4, (.9)^(-1) = 1.11, (.8 · .2)^(-1/2) = 2.5, the lowest first."""
    mine = run("mine", ["a b", "c", "d e"], token_probs=[[[0.5, 0.125], [0.9], [0.8, 0.2]]])
    assert phrases(karat.rerank(mine)) == [["c", "d e", "a b"]]
    assert log_perplexity([log(0.5), log(0.125)]) == pytest.approx(log(4))
    assert log_perplexity([log(0.8), log(0.2)]) == pytest.approx(log(2.5))


def test_logarithms_do_as_well_and_do_not_underflow() -> None:
    """A thousand tokens of e^-2: the product is 0 in a float, the perplexity e^2; worse than e^1, better than e^3."""
    long = [[-2.0] * 1000, [-1.0], [-3.0]]
    assert phrases(karat.rerank(run("mine", ["long", "good", "bad"], token_logprobs=[long]))) == [
        ["good", "long", "bad"]
    ]


def test_everything_that_is_told_goes_with_its_phrase() -> None:
    told: dict[str, Any] = {
        "scores": [[1.0, 2.0]],
        "token_probs": [[[0.1], [0.9]]],
        "token_logprobs": [[[-3.0], [-1.0]]],
        "kinds": [["present", "absent"]],
    }
    [made] = karat.rerank(run("mine", ["a", "b"], **told))
    assert made.keyphrases == ["b", "a"]
    assert {name: getattr(made, name) for name in told} == {name: lists[0][::-1] for name, lists in told.items()}
    assert made.id == "1"


def test_phrases_without_numbers_go_last_and_equals_stay_in_order() -> None:
    mine = run("mine", ["a", "b", "c", "d", "e", "f"], token_probs=[[None, [0.5], [], [0.5], [0.0], [0.9]]])
    made = reranking.make(mine, reranking.RerankOptions("kpp"))
    assert phrases(made.run) == [["f", "b", "d", "e", "a", "c"]]
    assert made.notes == ("mine: 2 of 6 phrases have not token probabilities and go last",)


def test_the_highest_score_is_first() -> None:
    mine = run("mine", ["a", "b", "c", "d"], ["e", "f"], scores=[[-1.5, None, 2.0, -1.5], None])
    made = reranking.make(mine, reranking.RerankOptions("scores"))
    assert phrases(made.run) == [["c", "a", "d", "b"], ["e", "f"]]
    assert made.notes == ("mine: 3 of 6 phrases have not a score and go last",)


def test_a_run_keeps_its_name() -> None:
    assert karat.rerank(run("mine", ["a"], scores=[[1.0]]), by="scores").name == "mine"
    assert karat.ensemble(A, B).name == "ensemble"


@settings(deadline=None)
@given(st.lists(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=4), min_size=1, max_size=6))
def test_probabilities_and_their_logarithms_give_the_same_order(probs: list[list[float]]) -> None:
    names = [f"w{n}" for n in range(len(probs))]
    logs = [[log(p) for p in tokens] for tokens in probs]
    by_probs = karat.rerank(run("mine", names, token_probs=[probs]))
    assert phrases(by_probs) == phrases(karat.rerank(run("mine", names, token_logprobs=[logs])))


# ---------------------------------------------------------------------------------------------- what cannot be asked


@pytest.mark.parametrize(
    ("runs", "options", "said"),
    [
        ([A], {}, "an ensemble is of two runs or more, not of 1"),
        ([A, run("b", ["x"], ["y"])], {}, "memory: no predictions for document '2' of memory (1 such)"),
        ([run("b", ["x"], ["y"]), A], {}, "memory: no predictions for document '2' of memory (1 such)"),
        ([A, B], {"by": "votes"}, "unknown value of by 'votes'; did you mean 'vote'?"),
        ([A, B], {"k": -1.0}, "k is a number from 0 on"),
        ([A, B], {"at_least": 3}, "at least 3 of 2 runs cannot have a phrase"),
        ([A, B], {"protocol": "chan2018"}, "did you mean 'chan2019'"),
        ([], {"present": A}, "--present RUN and --absent RUN, both"),
        ([A], {"present": A, "absent": B}, "and no further run"),
        ([], {"present": A, "absent": B}, "give them with --corpus"),
        ([], {"present": A, "absent": B, "corpus": BEES, "at_least": 2}, "leave out --at-least"),
        (
            [],
            {"present": run("a", [], [], []), "absent": run("b", [], [], []), "corpus": BEES},
            "document '3' is not in",
        ),
    ],
)
def test_what_cannot_be_fused_is_said(runs: list[karat.Run], options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        karat.ensemble(*runs, **options)
    assert said in str(error.value)


def test_runs_without_ids_need_as_many_lines() -> None:
    a = karat.Run.of([{"keyphrases": ["x"]}], name="a")
    b = karat.Run.of([{"keyphrases": ["x"]}, {"keyphrases": ["y"]}], name="b")
    with pytest.raises(InputError, match="memory has 2 documents and memory 1; without ids"):
        karat.ensemble(a, b)


@pytest.mark.parametrize(
    ("told", "by", "said"),
    [
        ({}, "kpp", 'memory has no token probabilities; write "token_probs" or "token_logprobs"'),
        ({}, "scores", 'memory has no scores; write "scores", a number for each phrase'),
        ({"token_probs": [[[1.5]]]}, "kpp", "memory:1: document '1': the probability 1.5 is not from 0 to 1"),
        ({"token_probs": [[[-0.5]]]}, "kpp", "memory:1: document '1': the probability -0.5 is not from 0 to 1"),
        ({"token_logprobs": [[[0.5]]]}, "kpp", "the log-probability 0.5 is above 0; write natural logarithms"),
        ({"scores": [[1.0]]}, "score", "unknown value of by 'score'; did you mean 'scores'?"),
    ],
)
def test_what_cannot_be_ranked_is_said(told: dict[str, Any], by: Any, said: str) -> None:
    with pytest.raises(InputError) as error:
        karat.rerank(run("mine", ["a"], **told), by=by)
    assert said in str(error.value)


def test_an_ensemble_is_the_same_on_any_number_of_processes() -> None:
    rows = [{"id": str(n), "keyphrases": [f"word{n % 7}", f"word{n % 5}", "bees"]} for n in range(2500)]
    a, b = karat.Run.of(rows, "a"), karat.Run.of(reversed(rows), "b")
    done: list[int] = []
    alone, both = (list(karat.ensemble(a, b, jobs=jobs, progress=done.append)) for jobs in (1, 2))
    assert alone == both
    assert sum(done) == 2 * len(rows)
