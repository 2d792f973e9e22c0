"""Lengths of lists, agreement on unrelated pairs, components of pairs: against plain loops and a disjoint set."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import combinations, product
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import click.testing
import numpy as np
import pytest
from scipy.cluster.hierarchy import DisjointSet

import karat
from karat.analyses.homogeneity import lists as lists_module
from karat.cli import karat as command

FEW = 99
Lists = Mapping[str, Sequence[str]]


def corpus(references: Lists) -> karat.Corpus:
    return karat.Corpus.of(
        [{"id": name, "text": "Words.", "keyphrases": list(each)} for name, each in references.items()], name="corpus"
    )


def run(lists: Lists, name: str = "run") -> karat.Run:
    return karat.Run.of([{"id": each, "keyphrases": list(phrases)} for each, phrases in lists.items()], name)


def pairs_of(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"a": a, "b": b} for a, b in pairs]


def draw(seed: int, documents: int, largest: int, vocabulary: int) -> dict[str, list[str]]:
    """Lists of 0 to `largest` distinct words, the first ones more often."""
    random = Random(seed)
    drawn = {}
    for n in range(documents):
        words = [f"w{int(vocabulary * random.random() ** 2)}x" for _ in range(random.randint(0, largest))]
        drawn[f"d{n}"] = list(dict.fromkeys(words))
    return drawn


def hooper(a: Sequence[str], b: Sequence[str], match_length: bool = False, larger: bool = False) -> float | None:
    """Hooper of two lists of different words, by plain sets; None of two empty ones."""
    if match_length and a and b:
        a, b = a[: min(len(a), len(b))], b[: min(len(a), len(b))]
    below = max(len(a), len(b)) if larger else len(set(a) | set(b))
    return len(set(a) & set(b)) / below if below else None


def mean(values: Sequence[float | None]) -> float:
    return fmean(value for value in values if value is not None)


REFERENCES = draw(1, 40, 4, 60)
PREDICTIONS = draw(2, 40, 6, 40)
PAIRS = [(f"d{a}", f"d{b}") for a, b in sorted({tuple(sorted(Random(3 + n).sample(range(40), 2))) for n in range(25)})]


# ---------------------------------------------------------------------------------------------- unrelated pairs


@pytest.mark.parametrize("match_length", [False, True])
@pytest.mark.parametrize(("measure", "cutoff"), [("jaccard", "M"), ("max", "M"), ("jaccard", "2")])
def test_the_chance_level_is_that_of_a_loop_over_all_pairs(measure: Any, cutoff: str, match_length: bool) -> None:
    options: dict[str, Any] = {"measure": measure, "cutoff": cutoff, "match_length": match_length}
    found = karat.homogeneity(corpus(REFERENCES), pairs_of(*PAIRS), run(PREDICTIONS), resamples=FEW, **options)
    [row] = found.rows()
    first = {name: each[: None if cutoff == "M" else int(cutoff)] for name, each in PREDICTIONS.items()}
    documents = [name for name in first if any(name in pair for pair in PAIRS)]
    known = {frozenset(pair) for pair in PAIRS}
    unrelated = [
        hooper(first[a], first[b], match_length, measure == "max")
        for a, b in combinations(documents, 2)
        if frozenset((a, b)) not in known and not set(REFERENCES[a]) & set(REFERENCES[b])
    ]
    assert row["unrelated_pairs"] == sum(value is not None for value in unrelated) > 100
    assert row["unrelated_hooper"] == pytest.approx(mean(unrelated))
    on_pairs = [hooper(first[a], first[b], match_length, measure == "max") for a, b in PAIRS]
    assert row["hooper"] == pytest.approx(mean(on_pairs))
    assert row["undefined"] == sum(value is None for value in on_pairs)
    assert row["phrases_per_document"] == pytest.approx(fmean(len(first[name]) for name in documents))


def test_unrelated_to_a_document_are_reformulations_of_others() -> None:
    sources = {f"d{n}": ["graphs"] if n < 3 else [f"w{n}x"] for n in range(8)}
    texts = karat.Corpus.of([{"id": f"{name}-p", "text": "Other words."} for name in sources], name="new")
    lists = draw(5, 8, 4, 9)
    made = {f"{name}-p": each for name, each in zip(sources, draw(6, 8, 4, 9).values(), strict=True)}
    pairs = pairs_of(*((name, f"{name}-p") for name in sources))
    found = karat.homogeneity(corpus(sources), pairs, run(lists | made), reformulations=texts, resamples=FEW)
    unrelated = [hooper(lists[a], made[f"{b}-p"]) for a, b in product(sources, sources) if sources[a] != sources[b]]
    [row] = found.rows()
    assert row["unrelated_pairs"] == sum(value is not None for value in unrelated)
    assert row["unrelated_hooper"] == pytest.approx(mean(unrelated))
    assert row["components"] == len(sources)


def test_of_many_pairs_a_sample_estimates_the_chance_level(monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(seed: int) -> tuple[float, int]:
        options: dict[str, Any] = {"seed": seed, "resamples": FEW}
        [row] = karat.homogeneity(corpus(REFERENCES), pairs_of(*PAIRS), run(PREDICTIONS), **options).rows()
        return row["unrelated_hooper"], row["unrelated_pairs"]

    exact, total = measured(0)
    assert measured(1) == (exact, total)
    monkeypatch.setattr(lists_module, "DRAWS", 300)
    samples = [measured(seed) for seed in range(40)]
    assert samples[0] == measured(0)
    assert all(50 < count < 150 < total for _, count in samples)
    values = np.array([value for value, _ in samples])
    assert len(set(values.tolist())) > 30
    assert abs(values.mean() - exact) < 3 * values.std(ddof=1) / np.sqrt(len(values))


def test_documents_that_a_run_lacks_are_in_no_unrelated_pair() -> None:
    references = {f"d{n}": [f"w{n}x"] for n in range(6)}
    lists = {f"d{n}": ["graphs"] for n in range(4)}
    pairs = pairs_of(("d0", "d1"), ("d2", "d3"), ("d4", "d5"))
    found = karat.homogeneity(corpus(references), pairs, run(lists), missing="skip", resamples=FEW)
    [row] = found.rows()
    assert (row["pairs"], row["components"], row["unrelated_pairs"]) == (2, 2, 4)
    assert (row["phrases_per_document"], row["unrelated_hooper"]) == (1.0, 1.0)
    assert found.as_dict()["components"] == 3


def test_documents_that_all_share_a_reference_have_no_chance_level() -> None:
    references = {name: ["graphs"] for name in "abc"}
    lists = {"a": ["x"], "b": ["x"], "c": ["y"]}
    found = karat.homogeneity(corpus(references), pairs_of(("a", "b")), run(lists), resamples=FEW)
    [row] = found.rows()
    assert (row["unrelated_hooper"], row["unrelated_pairs"]) == (None, 0)


# ---------------------------------------------------------------------------------------------- components


@pytest.mark.parametrize("seed", range(5))
def test_components_are_those_of_a_disjoint_set(seed: int) -> None:
    random = Random(seed)
    pairs = sorted({tuple(sorted(random.sample(range(60), 2))) for _ in range(15 + 5 * seed)})
    joined = DisjointSet({n for pair in pairs for n in pair})
    for a, b in pairs:
        joined.merge(a, b)
    sizes = [sum(a in subset for a, _ in pairs) for subset in joined.subsets()]
    lists = {f"d{n}": [f"w{n}x"] for n in range(60)}
    named = pairs_of(*((f"d{a}", f"d{b}") for a, b in pairs))
    found = karat.homogeneity(corpus(lists), named, run(lists), resamples=FEW)
    [row] = found.rows()
    assert (row["components"], row["largest_component"]) == (joined.n_subsets, max(sizes))
    share = f"{max(sizes)} pairs ({100 * max(sizes) / len(pairs):.1f} %)"
    assert f"in {joined.n_subsets} components, the largest with {share}, over" in " ".join(str(found).split())
    [described] = karat.describe_pairs(corpus(lists), named).rows()
    assert (described["components"], described["largest_component"]) == (joined.n_subsets, max(sizes))


# ---------------------------------------------------------------------------------------------- lengths


def matched(a: Sequence[str], b: Sequence[str], **options: Any) -> dict[str, Any]:
    lists = {"a": a, "b": b}
    found = karat.homogeneity(
        corpus({name: [] for name in lists}),
        pairs_of(("a", "b")),
        run(lists),
        match_length=True,
        resamples=FEW,
        **options,
    )
    return found.rows()[0]


def test_both_lists_are_cut_to_the_shorter_one() -> None:
    row = matched(["apples", "pears", "plums", "figs"], ["apples", "plums"])
    assert row["hooper"] == pytest.approx(1 / 3)
    assert row["phrases_per_document"] == 3.0
    assert matched(["apples", "plums"], ["pears", "apples", "plums"])["hooper"] == pytest.approx(1 / 3)
    assert matched(["red apples", "plums"], ["green apples"])["rodgers"] == pytest.approx(1 / 3)
    assert matched(["apples", "figs"], ["figs"], similarity="exact")["soft"] == 0.0


def test_repeats_do_not_count_as_length() -> None:
    assert matched(["apples", "apple", "figs"], ["apples", "figs", "plums"])["hooper"] == pytest.approx(1.0)
    keep = matched(["apples", "apple", "figs"], ["apples", "figs", "plums"], protocol="karat,duplicates=keep")
    assert keep["hooper"] == pytest.approx(1.0)


def test_an_empty_list_is_none_to_cut_to() -> None:
    row = matched(["apples"], [])
    assert (row["hooper"], row["undefined"]) == (0.0, 0)
    assert matched([], [])["undefined"] == 1


def test_classes_and_shared_phrases_are_of_the_lists_that_are_cut() -> None:
    documents = karat.Corpus.of([{"id": name, "text": "Apples and figs."} for name in "ab"])
    lists = {"a": ["apples", "pears", "figs"], "b": ["figs"]}
    found = karat.homogeneity(documents, pairs_of(("a", "b")), run(lists), match_length=True, resamples=FEW)
    values = found.as_dict()
    assert [each["predictions"] for each in values["classes"] if each["subset"] in ("present", "absent")] == [2, 0]
    assert [each["types"]["shared"] for each in values["genericness"]] == [0, 0]
    assert found.pair_rows()[0]["generated"] == 0.0
    assert values["options"]["match_length"] is True
    assert "each pair of lists cut to the shorter one" in " ".join(str(found).split())


def test_lists_of_a_pair_are_cut_for_each_pair_by_itself() -> None:
    lists = {"a": ["w1", "w2", "w3"], "b": ["w1", "w3"], "c": ["w3"]}
    pairs = pairs_of(("a", "b"), ("a", "c"), ("b", "c"))
    found = karat.homogeneity(corpus({name: [] for name in lists}), pairs, run(lists), match_length=True, resamples=FEW)
    assert [row["hooper"] for row in found.pair_rows()] == pytest.approx([1 / 3, 0.0, 0.0])


# ---------------------------------------------------------------------------------------------- notes


def notes(**lists: Lists) -> str:
    names = list(next(iter(lists.values())))
    pairs = pairs_of(*zip(names[::2], names[1::2], strict=True))
    runs = [run(each, name) for name, each in lists.items()]
    found = karat.homogeneity(corpus({name: [f"w{name}x"] for name in names}), pairs, *runs, resamples=FEW)
    return "\n".join(found.notes)


def numbered(length: int, first: int = 0) -> dict[str, list[str]]:
    """Lists of so many words for eight documents, those of a pair alike."""
    return {f"d{n}": [f"w{n // 2}x{first + i}" for i in range(length)] for n in range(8)}


def test_lists_that_differ_in_length_by_more_than_half_are_noted() -> None:
    assert "lists differ in length" not in notes(short=numbered(2), long=numbered(3))
    found = notes(short=numbered(2), middle=numbered(3), long=numbered(5))
    assert (
        "lists differ in length: 2.0 phrases per document by short, 5.0 by long. One phrase in common gives two short "
        "lists a Hooper of .33, two long ones .11; compare lists of one length: --cutoff 2"
    ) in found
    assert "lists differ" not in notes(none={name: [] for name in numbered(1)}, long=numbered(5))


def test_the_note_on_length_names_no_cutoff_that_is_in_use() -> None:
    lists = {name: each if n % 2 else [] for n, (name, each) in enumerate(numbered(1).items())}
    pairs = pairs_of(("d0", "d1"), ("d2", "d3"))
    known = corpus({name: [f"w{name}x"] for name in lists})
    runs = [run(lists, "short"), run(numbered(4), "long")]
    found = karat.homogeneity(known, pairs, *runs, cutoff="1", measure="max", resamples=FEW)
    assert "0.5 phrases per document by short, 1.0 by long" in "\n".join(found.notes)
    assert "--cutoff" not in "\n".join(found.notes)


def test_a_constant_list_is_noted() -> None:
    found = notes(constant={name: ["graphs", "trees"] for name in numbered(1)}, other=numbered(2))
    assert (
        "constant: the same list for all 8 documents of the pairs; its Hooper of 1.0 says nothing about the documents"
    ) in found
    assert "other:" not in found


def test_two_documents_with_one_list_are_no_constant_system() -> None:
    assert "same list" not in notes(run={"d0": ["graphs"], "d1": ["graphs"]})


def test_agreement_that_unrelated_pairs_have_too_is_noted() -> None:
    lists = {name: ["graphs", "trees", "data", name] for name in numbered(1)}
    assert (
        "near: Hooper is .6000 on the pairs and .6000 on unrelated pairs of the same documents; most of its agreement "
        "comes from phrases that it gives to any document"
    ) in notes(near=lists)
    empty = {name: [] if name == "d0" else ["graphs"] for name in numbered(1)}
    assert "near: Hooper is .7500 on the pairs and .7500 on unrelated pairs" in notes(near=empty)


# ---------------------------------------------------------------------------------------------- outputs


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lists = {f"d{n}": [f"w{n // 2}x", "graphs"] for n in range(8)}
    long = {name: [*each, "trees", "data", name] for name, each in lists.items()}
    for name, each in {"corpus": lists, "short": lists, "long": long}.items():
        lines = [json.dumps({"id": key, "text": "Words.", "keyphrases": phrases}) for key, phrases in each.items()]
        Path(f"{name}.jsonl").write_text("\n".join(lines))
    Path("pairs.csv").write_text("a,b\nd0,d1\nd2,d3\n")
    return tmp_path


def call(*arguments: str) -> str:
    done = click.testing.CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.usefixtures("folder")
def test_every_output_has_lengths_the_chance_level_and_components() -> None:
    given = ("corpus.jsonl", "pairs.csv", "short.jsonl", "long.jsonl", "--resamples", "99", "--match-length")
    assert "phrases/d" in call("homogeneity", *given)
    head = call("homogeneity", *given, "-f", "csv").splitlines()[0]
    fields = "phrases_per_document,unrelated_hooper,unrelated_pairs,components,largest_component"
    assert head.endswith(fields)
    call("homogeneity", *given, "-q", "-o", "found.json")
    gathered = call("pairs", "gather", "found.json")
    assert "corpus, 2 pairs in 2 components" in gathered
    assert "phrases/d" in gathered
    given = ("corpus.jsonl", "short.jsonl", "long.jsonl", "--min", "0.3", "--resamples", "99")
    tables = call("pairs", "tables", *given, "--match-length")
    assert "Lists of phrases, and agreement on unrelated pairs" in tables
    assert "table 3, corpus" in tables
    assert "Of each pair of lists cut to the shorter one." in tables
    written = call("pairs", "tables", *given, "-f", "csv")
    assert written.splitlines()[0].endswith(fields)


@pytest.mark.usefixtures("folder")
def test_results_of_earlier_versions_are_gathered() -> None:
    call("homogeneity", "corpus.jsonl", "pairs.csv", "short.jsonl", "--resamples", "99", "-q", "-o", "found.json")
    older = json.loads(Path("found.json").read_text())
    for name in ("components", "largest_component"):
        del older[name]
    for row in older["rows"] + older["ceilings"]:
        for name in ("phrases_per_document", "unrelated_hooper", "unrelated_pairs", "components", "largest_component"):
            row.pop(name, None)
    Path("older.json").write_text(json.dumps(older))
    assert "corpus, 2 pairs, ROUGE-1" in call("pairs", "gather", "older.json")


@pytest.mark.usefixtures("folder")
def test_the_page_has_them() -> None:
    call(
        "report",
        "corpus.jsonl",
        "short.jsonl",
        "long.jsonl",
        "--pairs",
        "pairs.csv",
        "--resamples",
        "99",
        "-o",
        "p.html",
    )
    page = Path("p.html").read_text()
    assert "phrases per document" in page
    assert "Hooper, unrelated pairs" in page
    assert "2 pairs of alike documents, in 2 components" in page
