"""Charts over corpora, of perplexity, and their sizes: numbers worked out on paper, one scale for all panels."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import karat
import karat.cli
from karat.analyses.corpora import side_by_side
from karat.errors import InputError
from karat.output.charts import Chart, Size, charts_of, config, plot, sized, svg
from karat.output.charts.base import AT_ONCE
from karat.output.charts.scores import histogram
from karat.results import Collection

LISTS = {"one": (["a", "b"], ["c"], ["d", "e", "f"]), "other": (["a"], ["b", "c"], ["g", "h"])}
GUESSES = {"s": ["a", "b", "x"], "t": ["c", "y"], "u": ["d", "e", "g", "h"]}
METRICS = ["f1@M", "f1@1", "r@M"]


def corpus(name: str) -> karat.Corpus:
    lists = LISTS[name]
    return karat.Corpus.of([{"id": str(i), "text": "a b c", "keyphrases": own} for i, own in enumerate(lists)], name)


def run(name: str, guesses: list[str]) -> karat.Run:
    return karat.Run.of([{"id": str(i), "keyphrases": guesses} for i in range(3)], name)


def scored(systems: dict[str, list[str]], metrics: list[str] = METRICS) -> Collection:
    runs = [run(*each) for each in systems.items()]
    return side_by_side([karat.score(corpus(name), *runs, metrics=metrics) for name in LISTS])


def f1(guesses: list[str], references: list[str], cutoff: int | None = None) -> float:
    """F1 as on paper."""
    own = guesses[:cutoff]
    hits = len(set(own) & set(references))
    return (
        0.0
        if not hits
        else 2 * (hits / len(own)) * (hits / len(references)) / (hits / len(own) + hits / len(references))
    )


def only(found: object, kind: str, **options: Any) -> Chart:
    [chart] = charts_of(found, kind, **options)
    return chart


def panels(chart: Chart) -> list[dict[str, Any]]:
    assert chart.spec is not None
    return list(chart.spec.get("concat", [chart.spec]))


def bars(panel: dict[str, Any]) -> dict[tuple[str, str], float]:
    return {(value["corpus"], value["name"]): value["y"] for value in panel["data"]["values"]}


def domains(chart: Chart) -> set[tuple[float, ...]]:
    return {tuple(layer["encoding"]["y"]["scale"]["domain"]) for panel in panels(chart) for layer in panel["layer"]}


# ---------------------------------------------------------------------------------------------- over corpora


def test_bars_over_corpora_hold_the_mean_f1_of_each_system() -> None:
    chart = only(scored(GUESSES), "corpora")
    expected = {
        (name, system): np.mean([f1(guesses, references) for references in LISTS[name]])
        for name in LISTS
        for system, guesses in GUESSES.items()
    }
    assert bars(panels(chart)[0]) == pytest.approx(expected)
    assert [panel["title"]["text"] for panel in panels(chart)] == [["f1@M all"], ["f1@1 all"], ["r@M all"]]


def test_all_panels_have_one_scale_that_holds_every_interval() -> None:
    for kind in ("corpora", "cutoffs"):
        chart = only(scored(GUESSES), kind)
        [(low, high)] = domains(chart)
        ends = [
            v.get(name) for panel in panels(chart) for v in panel["data"]["values"] for name in ("y", "low", "high")
        ]
        assert low == 0
        assert max(end for end in ends if end is not None) <= high <= 1


def test_metrics_of_other_bounds_do_not_share_a_scale() -> None:
    assert len(domains(only(scored(GUESSES, ["f1@M", "count_mae"]), "corpora"))) == 2


def test_variants_of_models_have_a_colour_each_and_models_a_panel() -> None:
    systems = {"m@small": ["a"], "m@large": ["a", "b"], "n@small": ["c"]}
    chart = only(scored(systems, ["f1@M"]), "corpora")
    assert [panel["title"]["text"] for panel in panels(chart)] == [["m: f1@M all"], ["n: f1@M all"]]
    for panel in panels(chart):
        assert panel["layer"][0]["encoding"]["color"]["scale"]["domain"] == ["small", "large"]
    assert bars(panels(chart)[0])["one", "large"] == pytest.approx(
        np.mean([f1(["a", "b"], own) for own in LISTS["one"]])
    )
    assert {name for _, name in bars(panels(chart)[1])} == {"small"}


def test_a_system_without_a_run_on_a_corpus_has_no_bar_there() -> None:
    first = karat.score(corpus("one"), run("s", ["a"]), run("t", ["c"]), metrics=["f1@M"])
    second = karat.score(corpus("other"), run("s", ["a"]), metrics=["f1@M"])
    shown = bars(panels(only(side_by_side([first, second]), "corpora"))[0])
    assert set(shown) == {("one", "s"), ("one", "t"), ("other", "s")}


def test_more_systems_than_colours_have_a_panel_each_and_a_chart_a_metric() -> None:
    systems = {f"s{i}": ["a", "b", "c"][: 1 + i % 3] for i in range(AT_ONCE + 1)}
    charts = charts_of(scored(systems, ["f1@M", "r@M"]), "corpora")
    assert [len(panels(chart)) for chart in charts] == [AT_ONCE + 1] * 2
    assert len(set.union(*map(domains, charts))) == 1


def test_bars_by_cutoff_hold_f1_at_each_of_them() -> None:
    chart = only(scored({"s": GUESSES["s"]}), "cutoffs")
    shown = bars(panels(chart)[0])
    for name, references in LISTS.items():
        assert shown[name, "f1@M"] == pytest.approx(np.mean([f1(GUESSES["s"], own) for own in references]))
        assert shown[name, "f1@1"] == pytest.approx(np.mean([f1(GUESSES["s"], own, 1) for own in references]))


def test_a_comparison_over_corpora_has_the_same_bars() -> None:
    runs = [run(*each) for each in GUESSES.items()]
    compared = karat.compare([(corpus(n), runs) for n in LISTS], metrics=["f1@M"], resamples=99)
    assert bars(panels(only(compared, "corpora"))[0]) == pytest.approx(
        bars(panels(only(scored(GUESSES, ["f1@M"]), "corpora"))[0])
    )


def test_one_cutoff_is_nothing_to_draw_by_cutoff() -> None:
    [chart] = charts_of(scored(GUESSES, ["f1@M"]), "cutoffs")
    assert chart.spec is None
    assert "two cutoffs" in str(chart.why)


def test_names_of_corpora_and_systems_are_values_and_titles_alone() -> None:
    name = '"]; alert(1); ["<b>'
    found = side_by_side(
        [
            karat.score(
                karat.Corpus.of([{"id": "1", "keyphrases": ["a"], "text": "a"}], name),
                karat.Run.of([{"id": "1", "keyphrases": ["a"]}], name),
                metrics=["f1@M"],
            )
        ]
    )
    drawn = ET.fromstring(svg(only(found, "corpora")))
    assert not any(each.tag.endswith("}b") for each in drawn.iter())


def test_two_results_of_one_system_and_corpus_are_an_error() -> None:
    found = karat.score(corpus("one"), run("s", ["a"]), metrics=["f1@M"])
    with pytest.raises(InputError, match="two results of one are of a system named 's'"):
        side_by_side([found, found])


def test_results_of_one_corpus_that_are_of_other_documents_are_an_error() -> None:
    found = karat.score(corpus("one"), run("s", ["a"]), metrics=["f1@M"])
    fewer = karat.Corpus.of([{"id": "0", "text": "a", "keyphrases": ["a"]}], "one")
    other = karat.score(fewer, karat.Run.of([{"id": "0", "keyphrases": ["a"]}], "t"), metrics=["f1@M"])
    with pytest.raises(InputError, match="the results of one are not of the same documents"):
        side_by_side([found, other])


# ---------------------------------------------------------------------------------------------- perplexity

PROBABILITIES = [[[0.9], [0.5, 0.4]], [[1.0, 1.0], [0.3]], [[0.01], [0.8, 0.9, 0.7]]]


@pytest.fixture(scope="module")
def sure() -> Any:
    documents = [{"id": str(i), "text": "bees dance", "keyphrases": ["bees", "grid"]} for i in range(3)]
    predicted = [
        {"id": str(i), "keyphrases": ["bees", "grid"], "token_probs": own} for i, own in enumerate(PROBABILITIES)
    ]
    return karat.confidence(documents, {"m": predicted})


@pytest.mark.parametrize("bins", [None, 3, 200])
def test_perplexities_are_counted_in_bins_of_a_tenth_with_their_median(sure: Any, bins: int | None) -> None:
    chart = only(sure, "perplexity", bins=bins)
    shown = 40 if bins is None else bins
    for panel, place in zip(panels(chart), (0, 1), strict=True):
        kpp = np.array([np.prod(own[place]) ** (-1 / len(own[place])) for own in PROBABILITIES])
        edges = [1 + 0.1 * i for i in range(shown)] + [np.inf]
        assert [value["count"] for value in panel["data"]["values"]] == np.histogram(kpp, edges)[0].tolist()
        lines = panel["layer"][1]["data"]["values"]
        inside = np.median(kpp) < 1 + 0.1 * shown
        assert lines == ([{"x": pytest.approx(np.median(kpp))}] if inside else [])
        assert panel["title"]["subtitle"] == f"median {np.median(kpp):.2f}, 3 phrases"
    assert len({tuple(p["layer"][0]["encoding"]["y"]["scale"]["domain"]) for p in panels(chart)}) == 1


def test_json_has_the_counts_of_perplexities_up_to_the_last(sure: Any) -> None:
    [row] = [row for row in sure.rows() if row["subset"] == "present"]
    assert row["kpp_histogram"][0] == 1
    assert row["kpp_histogram"][1] == 1
    assert sum(row["kpp_histogram"]) == 3
    assert len(row["kpp_histogram"]) == 200  # a KPP of 100 is in the last


# ---------------------------------------------------------------------------------------------- sizes and bins


def test_the_widest_and_the_highest_panel_have_the_size_that_was_given(sure: Any) -> None:
    for kind in ("reliability", "perplexity", "risk"):
        chart = sized(only(sure, kind), Size(width=333, height=77))
        sizes = [(part["width"], part["height"]) for panel in panels(chart) for part in panel.get("vconcat", [panel])]
        assert (max(w for w, _ in sizes), max(h for _, h in sizes)) == (333, 77)
        assert svg(chart)


def test_letters_have_the_size_that_was_given_everywhere(sure: Any) -> None:
    chart = only(sure, "perplexity")
    plain, large = (_sizes(svg(each)) for each in (chart, sized(chart, Size(font_size=22))))
    assert [size / 2 for size in large] == pytest.approx(plain)
    assert config("light", 22)["axis"]["labelFontSize"] == 22
    assert sized(chart, Size()) is chart


def _sizes(drawn: str) -> list[float]:
    texts = [each for each in ET.fromstring(drawn).iter() if each.tag.endswith("}text")]
    return sorted({float(each.get("font-size", "0").removesuffix("px")) for each in texts})


def test_a_title_is_wrapped_anew_where_letters_are_large(sure: Any) -> None:
    chart = sized(only(sure, "perplexity"), Size(font_size=33))
    assert chart.spec is not None
    assert max(map(len, chart.spec["title"]["subtitle"])) <= 92 / 3 + 1


def test_differences_are_counted_in_about_so_many_bins() -> None:
    rng = np.random.default_rng(1)
    lists = [{"id": str(i), "keyphrases": [f"{i}{c}" for c in "abcdef"]} for i in range(60)]
    runs = {
        name: [{"id": d["id"], "keyphrases": [p for p in d["keyphrases"] if rng.random() < share]} for d in lists]
        for name, share in (("x", 0.6), ("y", 0.4))
    }
    found = karat.score(lists, runs, metrics=["f1@M"])
    a, b = (score.per_document() for score in found.scores)
    chart = only(found, "differences", bins=8)
    width = 2 * np.abs(a - b).max() / 8
    drawn = panels(chart)[0]["data"]["values"]
    assert [value["count"] for value in drawn] == list(histogram(a - b, width).values())
    assert sum(value["count"] for value in drawn) == 60
    assert len(drawn) <= 9


def test_a_kind_without_bins_says_which_have_them(sure: Any) -> None:
    with pytest.raises(
        InputError, match="risk has no bins to choose; these have: differences, reliability, perplexity"
    ):
        charts_of(sure, "risk", bins=5)
    with pytest.raises(InputError, match=r"those of its result: karat\.confidence\(\.\.\., bins=5\)"):
        charts_of(sure, "reliability", bins=5)


@pytest.mark.parametrize(
    "wrong",
    [
        {"width": 0},
        {"width": float("nan")},
        {"height": 1e9},
        {"font_size": -1},
        {"bins": 1},
        {"bins": 2.5},
        {"bins": 201},
    ],
)
def test_sizes_out_of_bounds_are_refused(sure: Any, wrong: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        plot(sure, "perplexity", tmp_path / "a.svg", **wrong)
    assert not (tmp_path / "a.svg").exists()


# ---------------------------------------------------------------------------------------------- the command


def command(*arguments: str) -> None:
    karat.cli.karat.main([*arguments, "-q"], standalone_mode=False)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, lists in LISTS.items():
        Path(f"{name}.jsonl").write_text(
            "".join(
                json.dumps({"id": str(i), "text": "a b c", "keyphrases": own}) + "\n" for i, own in enumerate(lists)
            )
        )
        Path("runs", name).mkdir(parents=True)
        for system, guesses in GUESSES.items():
            Path("runs", name, f"{system}.jsonl").write_text(
                "".join(json.dumps({"id": str(i), "keyphrases": guesses}) + "\n" for i in range(3))
            )
    return tmp_path


def test_the_command_draws_over_corpora_from_runs_and_from_karat_files(folder: Path) -> None:
    command(
        "plot",
        "corpora",
        "one.jsonl",
        "other.jsonl",
        "--runs",
        "runs",
        "-m",
        "f1@M",
        "-o",
        "a.json",
        "--width",
        "200",
        "--font-size",
        "9",
    )
    for name in LISTS:
        command(
            "score",
            f"{name}.jsonl",
            *map(str, sorted(Path("runs", name).iterdir())),
            "-m",
            "f1@M",
            "-o",
            f"{name}.karat",
        )
    command("plot", "corpora", "one.karat", "other.karat", "-o", "b.json", "--width", "200", "--font-size", "9")
    drawn = json.loads((folder / "a.json").read_text())
    assert drawn == json.loads((folder / "b.json").read_text())
    assert (drawn["width"], drawn["config"]["axis"]["labelFontSize"]) == (200, 9)
    command("plot", "cutoffs", "one.jsonl", "other.jsonl", "--runs", "runs", "-o", "c.svg")
    assert (folder / "c.svg").stat().st_size


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("plot", "scores", "one.jsonl", "runs/one/s.jsonl", "--bins", "5"),
            "--bins is for differences, reliability, perplexity, not for scores",
        ),
        (("plot", "scores", "one.jsonl", "--runs", "runs"), "--runs is for ranks, corpora and cutoffs, not for scores"),
    ],
)
def test_flags_that_a_kind_has_not_are_refused(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError) as error:
        command(*arguments, "-o", "a.svg")
    assert str(error.value) == said
