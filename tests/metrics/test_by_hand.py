"""karat's own measures on examples small enough to be worked out on paper."""

from __future__ import annotations

from math import log2
from typing import Any

import pytest

import karat

DOCUMENTS: list[dict[str, Any]] = [
    # present: neural network, graph; absent: tree search
    {
        "id": "a",
        "title": "Neural networks",
        "text": "We learn graphs, deep ones.",
        "keyphrases": ["neural network", "graphs", "tree search"],
        "predicted": ["graph", "deep ones", "forest", "neural networks", "graphs"],
    },
    # present: planning; no absent reference
    {
        "id": "b",
        "title": "On planning",
        "text": "Robots plan.",
        "keyphrases": ["planning"],
        "predicted": ["robots", "tree", "plan"],
    },
    # absent only
    {"id": "c", "title": "Empty", "text": "Nothing.", "keyphrases": ["chess"], "predicted": ["chess", "empty"]},
]


def value(metric: str, protocol: str = "karat", documents: list[dict[str, Any]] = DOCUMENTS, **options: Any) -> Any:
    corpus = karat.Corpus.of([{k: v for k, v in d.items() if k != "predicted"} for d in documents])
    run = karat.Run.of([{"id": d["id"], "keyphrases": d["predicted"]} for d in documents])
    return karat.score(corpus, run, metrics=[metric], protocol=protocol, **options).rows()[0]["value"]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        # a: 2 of 3 kept present predictions (graph, deep ones, neural networks) are right, of 2 references; b: "plan"
        # and "planning" share a stem, 1 of 2 right, of 1; c has no present reference
        ("p@M:present", (2 / 3 + 1 / 2) / 2),
        ("r@M:present", 1.0),
        ("p@1:present", (1 + 0) / 2),
        ("r@1:present", (1 / 2 + 0) / 2),
        ("f1@M:present", (4 / 5 + 2 / 3) / 2),
        ("f1@M:present/f-of-means", 2 * (7 / 12) / (7 / 12 + 1)),
        ("f1@M:present/micro", 2 * (3 / 5) / (3 / 5 + 1)),
        ("p@M:present/micro", 3 / 5),
        ("r@1:present/micro", 1 / 3),
        ("p@O:present", (1 / 2 + 0) / 2),
        ("p@G:present", (2 / 3 + 1 / 2) / 2),
        # absent: a finds none of 1, c finds 1 of 1; b has no absent reference
        ("f1@M:absent", (0 + 1) / 2),
        ("map:present", ((1 / 1 + 2 / 3) / 2 + 1 / 2) / 2),
        ("map@2:present", ((1 / 1) / 2 + 1 / 2) / 2),
        ("mrr:present", (1 + 1 / 2) / 2),
        ("mrr@1:present", (1 + 0) / 2),
        # a: nothing wrong before the first hit, one wrong before the second, of 2; b: one wrong before its only one
        ("bpref:present", ((1 + (1 - 1 / 2)) / 2 + 0) / 2),
        ("bpref@1:present", (1 / 2 + 0) / 2),
        (
            "ndcg:present",
            ((1 + 1 / log2(4)) / (1 + 1 / log2(3)) + (1 / log2(3)) / 1) / 2,
        ),
        ("ndcg@1:present", (1 + 0) / 2),
        # a: the first and the third of three are right, of 2; b: the second of two is, of 1
        ("pr_auc:present", (((1 + 1) / 2 + (1 / 2 + 2 / 3) / 2) / 2 + (0 + 1 / 2) / 2) / 2),
        ("pr_auc@1:present", ((1 + 1) / 2 / 2 + 0) / 2),
        ("sadr:present", ((1 + 1 / log2(3)) / 2 + 1 / log2(3)) / 2),
        ("sadr@2:present", (1 / 2 + 1 / log2(3)) / 2),
        # a: graph and neural network are right, deep ones and forest share nothing with tree search; b: plan is right;
        # c: chess is right
        ("partial_p@M", (2 / 4 + 1 / 3 + 1 / 2) / 3),
        ("partial_r@M", (2 / 3 + 1 + 1) / 3),
        ("partial_f1@M/micro", 2 * (4 / 9) * (4 / 5) / (4 / 9 + 4 / 5)),
        ("count_mae:all", (abs(3 - 4) + abs(1 - 3) + abs(1 - 2)) / 3),
        ("duplicate_ratio", (1 / 5 + 0 + 0) / 3),
        ("duplicate_ratio/micro", 1 / 10),
    ],
)
def test_the_measure_is_what_paper_and_pencil_give(metric: str, expected: float) -> None:
    assert value(metric) == pytest.approx(expected, abs=1e-12)


def test_repeats_of_a_kind_are_counted_by_stems_and_in_exhird_in_the_slots_of_the_model() -> None:
    corpus = karat.Corpus.of([{"id": i, "text": "a grid of nets", "keyphrases": ["grid"]} for i in "ab"])
    phrases = ["grid", "grids", "grid", "nets/chess", "nets/chess", "<unk>", "<unk>"]
    slots = ["present", "present", "present", "present", "absent", "absent", "absent"]
    marked = ["<p_start> grid", "<p_start> Grid", "<a_start> chess ; <a_start> chess", "<a_start> chess"]
    kinds = karat.Run.of(
        [{"id": "a", "keyphrases": phrases, "kinds": slots}, {"id": "b", "keyphrases": [], "kinds": []}]
    )
    markers = karat.Run.of([{"id": "a", "keyphrases": marked}, {"id": "b", "keyphrases": ["<p_start> nets"]}])
    plain = karat.Run.of([{"id": "a", "keyphrases": ["grid", "grids", "chess"]}, {"id": "b", "keyphrases": []}])
    asked = ["duplicate_ratio:present", "duplicate_ratio:absent"]

    def values(run: karat.Run, protocol: str) -> list[Any]:
        return [row["value"] for row in karat.score(corpus, run, metrics=asked, protocol=protocol).rows()]

    # In the slots: grid, grids, grid, nets/chess, one repeat of four; nets/chess, <unk>, <unk>, one of three.
    assert values(kinds, "chen2020") == pytest.approx([1 / 4, 1 / 3])
    # By stems and the text, split at / and without <unk>: grid thrice and nets twice; chess twice.
    assert values(kinds, "chen2020,repeats_by_kind=stems") == pytest.approx([3 / 5, 1 / 2])
    # grid and Grid are two; chess stands thrice; b has no absent phrase and is left out of these.
    assert values(markers, "chen2020") == pytest.approx([(0 + 0) / 2, 2 / 3])
    # A run without slots is judged by the text.
    assert values(plain, "chen2020") == pytest.approx([1 / 2, 0.0])


def test_bpref_is_that_of_trec_eval_or_of_its_own_hits() -> None:
    documents: list[dict[str, Any]] = [
        {
            "id": "1",
            "text": "",
            "keyphrases": ["r one", "r two", "r three", "r four"],
            "predicted": ["w one", "r one", "w two", "w three", "r two", "w four", "w five", "r three"],
        }
    ]
    assert value("bpref", documents=documents) == 0.25  # as trec_eval prints it
    assert value("bpref@5", documents=documents) == 0.25
    # meng2017: the mean over the hits, with wrong predictions over k
    assert value("bpref@5", "meng2017", documents=documents) == pytest.approx(((1 - 1 / 5) + (1 - 3 / 5)) / 2)
    assert value("bpref@10", "meng2017", documents=documents) == pytest.approx((0.9 + 0.7 + 0.5) / 3)


def test_padding_divides_by_k() -> None:
    assert value("p@5:present", "karat,pad=k") == pytest.approx((2 / 5 + 1 / 5) / 2)


def test_zero_counts_documents_without_references() -> None:
    assert value("r@M:present", "karat,empty=zero") == pytest.approx(2 / 3)


def test_the_fitted_cutoff_is_the_best_one_on_the_development_run() -> None:
    corpus = karat.Corpus.of([{"id": "1", "text": "x", "keyphrases": ["a", "b", "c"]}])
    run = karat.Run.of([{"id": "1", "keyphrases": ["a", "x", "y", "b", "c", "z"]}], name="s")
    dev = karat.Corpus.of([{"id": "9", "text": "x", "keyphrases": ["a", "b"]}])
    dev_run = karat.Run.of([{"id": "9", "keyphrases": ["a", "b", "z"]}], name="s")
    [own] = karat.score(corpus, run, metrics=["f1@V"]).rows()
    assert own["options"] == {"fitted": 5}
    assert own["value"] == pytest.approx(2 * (3 / 5) * 1 / (3 / 5 + 1))
    results = karat.score(corpus, run, metrics=["f1@V"], development=(dev, [dev_run]))
    [fitted] = results.rows()
    assert fitted["options"] == {"fitted": 2}
    assert fitted["value"] == pytest.approx(2 * (1 / 2) * (1 / 3) / (1 / 2 + 1 / 3))
    assert results.notes == ()


VARIANTS: list[dict[str, Any]] = [
    {
        "id": "v",
        "title": "",
        "text": "Quality of service in networks.",
        "keyphrases": [["service quality", "quality of service"], "networks"],
        "predicted": ["service quality", "quality of service", "network"],
    }
]


def test_a_reference_is_found_once_by_whichever_variant_comes_first() -> None:
    assert value("p@M", documents=VARIANTS) == pytest.approx(2 / 3)
    assert value("r@M", documents=VARIANTS) == 1.0
    assert value("p@M", "karat,hits=each", documents=VARIANTS) == 1.0


def test_a_reference_is_present_if_one_of_its_variants_is() -> None:
    # present: [service quality | quality of service] and networks; found by the two present predictions
    assert value("r@M:present", documents=VARIANTS) == 1.0
    assert value("p@M:present", documents=VARIANTS) == 1.0
    # the absent prediction is a variant of a present reference: there is no absent reference to find
    assert value("p@M:absent", documents=VARIANTS) is None


def test_references_counts_every_reference_that_is_predicted() -> None:
    twice: list[dict[str, Any]] = [{"id": "1", "text": "", "keyphrases": ["a", "a"], "predicted": ["a", "b"]}]
    assert value("p@M:all", "karat,hits=references,reference_duplicates=keep", documents=twice) == 1.0
    assert value("p@M:all", "karat,hits=each,reference_duplicates=keep", documents=twice) == 0.5


COVER: list[dict[str, Any]] = [
    {
        "id": "1",
        "text": "deep neural nets",
        "keyphrases": ["neural net", "deep neural net"],
        "predicted": ["neural net", "deep neural nets", "net"],
    }
]


def test_alpha_ndcg_halves_what_was_covered_before() -> None:
    # "neural net" stands in both references: 2; "deep neural net" in the second, covered once: 1/2; "net" in both,
    # covered once and twice: 1/2 + 1/4
    own = 2 + (1 / 2) / log2(3) + (1 / 2 + 1 / 4) / log2(4)
    # the best order: "neural net" 2, "net" 1/2 + 1/2, "deep neural net" 1/4
    ideal = 2 + 1 / log2(3) + (1 / 4) / log2(4)
    assert value("alpha_ndcg", documents=COVER) == pytest.approx(own / ideal)
    assert value("alpha_ndcg@1", documents=COVER) == 1.0
    assert value("alpha_ndcg@2", documents=COVER) == pytest.approx((2 + 0.5 / log2(3)) / (2 + 1 / log2(3)))
    undiminished, best = 2 + 1 / log2(3) + 2 / log2(4), 2 + 2 / log2(3) + 1 / log2(4)
    assert value("alpha_ndcg,alpha=0.0", documents=COVER) == pytest.approx(undiminished / best)


def test_alpha_ndcg_misses_what_is_not_predicted() -> None:
    documents: list[dict[str, Any]] = [
        {"id": "1", "text": "x", "keyphrases": ["graph", "tree"], "predicted": ["graph"]}
    ]
    assert value("alpha_ndcg", documents=documents) == pytest.approx(1 / (1 + 1 / log2(3)))
    assert value("alpha_ndcg", "karat,alpha=chan", documents=documents) == 1.0


def test_r_precision_uses_a_reference_once_and_wants_it_inside_the_prediction() -> None:
    documents: list[dict[str, Any]] = [
        {
            "id": "1",
            "text": "x",
            "keyphrases": ["grid computing", "cloud"],
            "predicted": ["grid computing algorithm", "grid", "clouds"],
        }
    ]
    # n = 2: "grid computing algorithm" holds "grid computing"; "grid" holds no reference; "clouds" comes too late
    assert value("r_precision", documents=documents) == pytest.approx(1 / 2)
    # KPEval takes substrings either way, so "grid" counts too
    assert value("r_precision", "karat,approximate=kpeval", documents=documents) == pytest.approx(2 / 2)
    assert value("substring_precision", documents=documents) == 1.0
    assert value("substring_recall", documents=documents) == 1.0


def test_substring_matching_is_on_whole_stems_under_karat() -> None:
    documents: list[dict[str, Any]] = [
        {"id": "1", "text": "x", "keyphrases": ["ai", "net theory"], "predicted": ["train", "net", "rain"]}
    ]
    assert value("substring_precision", documents=documents) == pytest.approx(1 / 3)
    assert value("substring_recall", documents=documents) == pytest.approx(1 / 2)
    assert value("substring_f1", documents=documents) == pytest.approx(2 / 5)
    assert value("substring_precision", "karat,approximate=kpeval", documents=documents) == 1.0


@pytest.mark.parametrize(("subset", "found"), [("P", 1 / 2), ("R", 1.0), ("M", 0.0), ("U", 1.0)])
def test_prmu_subsets_are_scored_like_present_and_absent(subset: str, found: float) -> None:
    documents: list[dict[str, Any]] = [
        {
            "id": "1",
            "title": "Deep nets",
            "text": "We search trees for plans.",
            "keyphrases": ["deep nets", "trees", "net plan", "tree sort", "chess"],
            "predicted": ["tree", "nets plans", "chess"],
        }
    ]
    assert value(f"r@M:{subset}", documents=documents) == pytest.approx(found)


def test_a_phrase_never_crosses_the_title_nor_a_comma_under_karat() -> None:
    documents: list[dict[str, Any]] = [
        {
            "id": "1",
            "title": "image analysis",
            "text": "based retrieval, fast search",
            "keyphrases": ["analysis based", "retrieval fast", "based retrieval"],
            "predicted": ["based retrieval"],
        }
    ]
    assert value("r@M:present", documents=documents) == 1.0
    assert value("count_mae:absent", documents=documents) == 2.0
    assert value("count_mae:absent", "karat,boundary=cross", documents=documents) == 1.0


def test_kinds_of_the_run_decide_where_they_are_asked_for() -> None:
    corpus = karat.Corpus.of([{"id": "1", "title": "nets", "text": "deep nets", "keyphrases": ["deep nets"]}])
    run = karat.Run.of([{"id": "1", "keyphrases": ["deep nets", "nets"], "kinds": ["absent", "present"]}])
    for protocol, expected in (("kpdrop2022", 1.0), ("thomas2024", 1.0), ("kpdrop2022,kinds=run", 0.0)):
        [row] = karat.score(corpus, run, metrics=["r@M:present"], protocol=protocol).rows()
        assert row["value"] == expected


def test_houbre2025_pads_absent_lists_to_ten_and_present_ones_not() -> None:
    documents: list[dict[str, Any]] = [
        {
            "id": "1",
            "title": "Deep nets",
            "text": "We plan.",
            "keyphrases": ["deep nets", "chess"],
            "predicted": ["deep nets", "chess"],
        }
    ]
    assert value("p@5:present", "houbre2025", documents=documents) == 1.0
    assert value("p@5:absent", "houbre2025", documents=documents) == pytest.approx(1 / 5)
    # ten places in all, one of them taken by the present phrase: nine are left for absent ones
    assert value("p@10:absent", "houbre2025", documents=documents) == pytest.approx(1 / 9)
    assert value("p@M:absent", "houbre2025", documents=documents) == 1.0


def test_houbre2025_sees_that_a_sentence_ends_before_it_lower_cases() -> None:
    documents: list[dict[str, Any]] = [
        {
            "id": "1",
            "text": "We study neural networks. They learn.",
            "keyphrases": ["neural networks"],
            "predicted": ["Neural Network"],
        }
    ]
    assert value("f1@M:present", "houbre2025", documents=documents) == 1.0
    assert value("f1@M:present", "gallina2020", documents=documents) == 1.0


def test_gallina2020_takes_present_and_absent_variants_of_a_reference_apart() -> None:
    documents: list[dict[str, Any]] = [
        {"id": "1", "text": "deep nets", "keyphrases": [["deep nets", "chess"], ["go"]], "predicted": ["chess", "nets"]}
    ]
    assert value("r@M:present", "gallina2020", documents=documents) == 0.0  # of one: deep nets
    assert value("r@M:absent", "gallina2020", documents=documents) == pytest.approx(1 / 2)  # of two: chess, go
    assert value("r@M:absent", "gallina2020,variants=any", documents=documents) == 0.0  # of one: go
    assert value("r@M", "gallina2020", documents=documents) == pytest.approx(1 / 2)


def test_gallina2020_counts_an_empty_prediction_as_present_and_wrong() -> None:
    documents: list[dict[str, Any]] = [
        {"id": "1", "text": "deep nets", "keyphrases": ["deep nets", "chess"], "predicted": ["deep nets", "", "chess"]}
    ]
    assert value("p@5", "gallina2020", documents=documents) == pytest.approx(2 / 3)
    assert value("p@5:present", "gallina2020", documents=documents) == pytest.approx(1 / 2)
    assert value("p@5:absent", "gallina2020", documents=documents) == 1.0


def test_gallina2020_joins_title_and_text_before_it_looks_for_sentences() -> None:
    """The full stop behind the title keeps that of an abbreviation at its end."""
    documents: list[dict[str, Any]] = [
        {"id": "1", "title": "Nets at Acme Inc.", "text": "We plan.", "keyphrases": ["Inc. .", "Inc."], "predicted": []}
    ]
    assert value("count_mae:present", "gallina2020", documents=documents) == 1.0
    # alone, as a phrase or as a title of its own, `Inc.` is two tokens: an abbreviation only within a sentence
    assert value("count_mae:absent", "gallina2020", documents=documents) == 1.0


def test_thomas2024_pads_micro_averages_too() -> None:
    documents: list[dict[str, Any]] = [
        {"id": "1", "text": "deep nets learn", "keyphrases": ["deep nets"], "predicted": ["deep nets", "learn"]},
        {"id": "2", "text": "trees", "keyphrases": ["trees"], "predicted": []},
    ]
    assert value("p@5:present/micro", "thomas2024", documents=documents) == pytest.approx(1 / 2)
    assert value("p@5:present/micro", "thomas2024,pad=k", documents=documents) == pytest.approx(1 / 10)
    assert value("r@5:present/micro", "thomas2024,pad=k", documents=documents) == pytest.approx(1 / 2)
    assert value("p@O:present", "thomas2024", documents=documents) == pytest.approx((1 + 0) / 2)


def test_kpdrop2022_takes_two_spaces_as_one_in_references_alone() -> None:
    def found(text: str, reference: str, prediction: str) -> tuple[Any, Any]:
        documents = [{"id": "1", "text": text, "keyphrases": [reference], "predicted": [prediction]}]
        return tuple(value(f"r@M:{kind}", "kpdrop2022", documents=documents) for kind in ("present", "absent"))

    assert found("neural networks learn", "neural  networks", "neural networks") == (1.0, 0.0)
    assert found("neural networks learn", "neural networks", "neural  networks") == (0.0, 0.0)
    assert found("neural  networks learn", "neural  networks", "neural networks") == (0.0, 1.0)  # the text keeps both
    documents = [{"id": "1", "text": "neural nets", "keyphrases": ["neural  nets", "neural nets"], "predicted": []}]
    assert value("count_mae", "kpdrop2022", documents=documents) == 1.0
    assert value("count_mae", "kpdrop2022,reference_spaces=as-given", documents=documents) == 2.0


def test_gallina2020_takes_any_variant_and_divides_by_what_is_there() -> None:
    assert value("p@5", "gallina2020", documents=VARIANTS) == pytest.approx(2 / 3)
    assert value("r@5", "gallina2020", documents=VARIANTS) == 1.0


def test_meng2017_reads_the_first_prediction_of_one_word_only() -> None:
    documents: list[dict[str, Any]] = [
        {
            "id": "1",
            "title": "",
            "text": "nets and trees",
            "keyphrases": ["nets", "trees", "deep nets"],
            "predicted": ["trees", "nets", "deep nets", "( nets", "<unk> tree"],
        }
    ]
    assert value("p@5", "meng2017", documents=documents) == pytest.approx(2 / 5)
    assert value("r@5", "meng2017", documents=documents) == pytest.approx(2 / 3)


def test_meng2017_joins_stems_by_hyphens_to_find_repeats() -> None:
    documents: list[dict[str, Any]] = [
        {
            "id": "1",
            "text": "x",
            "keyphrases": ["deep nets", "deep-net x"],
            "predicted": ["deep nets x", "deep-nets x", "deep net"],
        }
    ]
    assert value("p@3", "meng2017", documents=documents) == pytest.approx(1 / 3)
    assert value("p@3", "meng2017,duplicates=drop", documents=documents) == pytest.approx(2 / 3)
