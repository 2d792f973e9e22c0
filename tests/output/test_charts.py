"""Charts hold the numbers they are said to hold, whatever the names in them look like, and are the same bytes again."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfReader

import karat
from karat.analyses.compare.result import Ranking
from karat.analyses.confidence.result import Confidence
from karat.analyses.describe.result import Description
from karat.errors import InputError
from karat.inert import inert
from karat.metrics.base import parse_request
from karat.output.charts import KINDS, Chart, as_json, charts_of, figures, pdf, plot, png, svg
from karat.output.charts.base import AT_ONCE, COLOURS, DASHES, MOST, SHAPES, in_turn, names, plain, short, style
from karat.output.charts.drawing import config
from karat.output.charts.scores import histogram
from karat.results import Results
from karat.stats.ranks import Friedman
from tests.forked import program

HOSTILE = (
    "<script>alert(1)</script>",
    "a.b[0]",
    "datum.x + 1",
    "\"quotes' & <b>",
    "']; alert(1); ['",
    '{"signal": "width"}',
    'fill="#0a0b0c"',
    "__proto__",
    "null",
    "שלום",
    "L" * 10_000,
    "L" * 10_001,
)
TEXTS = ("Deep networks learn graphs.", "Swarms of bees dance.", "Grids balance load.", "Trees grow.")
REFERENCES = (["deep network", "graph"], ["bees", "swarm intelligence"], ["load balancing", "grid"], ["tree"])
GUESSES = (["deep networks", "graphs", "trees"], ["bee", "dance"], ["load", "grids"], ["tree", "growth"])


def corpus(name: str = "tiny") -> karat.Corpus:
    both = zip(TEXTS, REFERENCES, strict=True)
    return karat.Corpus.of([{"id": str(i), "text": t, "keyphrases": k} for i, (t, k) in enumerate(both)], name=name)


def run(name: str, kept: int = 3) -> karat.Run:
    """A run that makes the first `kept` guesses and is less sure of each next one."""
    records = [
        {"id": str(i), "keyphrases": own[:kept], "token_probs": [[0.9 - 0.2 * j, 0.8] for j in range(len(own[:kept]))]}
        for i, own in enumerate(GUESSES)
    ]
    return karat.Run.of(records, name=name)


@pytest.fixture(scope="module")
def results() -> Results:
    return karat.score(corpus(), run("a"), run("b", 1), metrics=["f1@5", *KINDS["pr"].metrics])


@pytest.fixture(scope="module")
def sure() -> Confidence:
    return karat.confidence(corpus(), run("a"), run("b", 1))


@pytest.fixture(scope="module")
def described() -> Description:
    return karat.describe(corpus(), run("a"), run("b", 1))


@pytest.fixture(scope="module")
def hostile() -> Results:
    return karat.score(corpus("<b>c</b>"), *(run(name, 1 + i % 3) for i, name in enumerate(HOSTILE)), metrics=["f1@5"])


def only(found: object, kind: str) -> Chart:
    [chart] = charts_of(found, kind)
    return chart


def values(spec: Any) -> list[dict[str, Any]]:
    """All values of a chart, wherever they stand."""
    if isinstance(spec, list):
        return [value for part in spec for value in values(part)]
    if not isinstance(spec, dict):
        return []
    own = spec["data"]["values"] if "data" in spec else []
    return [*own, *(value for key, part in spec.items() if key != "data" for value in values(part))]


def texts(drawn: str) -> list[str]:
    """What is written in an SVG."""
    return ["".join(each.itertext()) for each in ET.fromstring(drawn).iter() if each.tag.endswith("}text")]


# ---------------------------------------------------------------------------------------------- numbers


def test_intervals_of_results_are_those_that_compare_prints(results: Results) -> None:
    drawn = {value["name"]: value for value in values(only(results, "scores").spec)}
    compared = karat.compare(corpus(), run("a"), run("b", 1), metrics=["f1@5"])
    for each in compared.standings:
        own = drawn[each.system]
        assert (own["x"], own["low"], own["high"]) == (each.value, *each.interval)
    again = {value["name"]: value for value in values(only(compared, "scores").spec)}
    assert again == drawn


def test_curves_hold_precision_and_recall_at_each_k(results: Results) -> None:
    points = [value for value in values(only(results, "pr").spec) if value["name"] == "a"]
    # By hand, the first predictions: deep networks, bee and tree are right, load is not: p = 3/4, and
    # r = (1/2 + 1/2 + 0 + 1)/4 = 1/2. Of all: graphs and grids too, so that p = (2/3 + 1/2 + 1/2 + 1/2)/4 and
    # r = (1 + 1/2 + 1/2 + 1)/4.
    assert (points[0]["x"], points[0]["y"]) == (0.5, 0.75)
    assert points[-1]["x"] == 0.75
    assert points[-1]["y"] == pytest.approx((2 / 3 + 1.5) / 4)
    assert len(points) == 10
    assert [point["told"] for point in points if point["told"]] == ["1", "5", "10"]


def test_a_difference_is_counted_once_on_the_side_of_the_better_system(results: Results) -> None:
    chart = only(results, "differences")
    bars = [value for value in values(chart.spec) if "count" in value]
    apart = [s.per_document() for s in results.scores if s.request.metric == "f1"]
    difference = apart[0] - apart[1]
    assert sum(bar["count"] for bar in bars) == len(TEXTS)
    assert sum(bar["count"] for bar in bars if bar["side"] > 0) == (difference > 0.05).sum()
    assert f"a better on {(difference > 0).sum()}, b on {(difference < 0).sum()}" in chart.alt


def test_where_lower_is_better_the_lower_system_is_the_better_one() -> None:
    found = karat.score(corpus(), run("a"), run("b", 1), metrics=["count_mae"])
    # References 2, 2, 2, 1; a predicts 3, 2, 2, 2 and b 1 each: a is off by 1, 0, 0, 1 and b by 1, 1, 1, 0.
    assert "a better on 2, b on 1, equal on 1 documents" in only(found, "differences").alt


@given(st.lists(st.floats(-3, 3, allow_nan=False), max_size=30), st.sampled_from([0.05, 0.1, 0.5, 1.0]))
@settings(max_examples=30, deadline=None)
def test_every_value_is_in_the_bar_that_it_is_nearest_to(given: list[float], width: float) -> None:
    bars = histogram(np.array(given), width)
    assert sum(bars.values()) == len(given)
    for bar in bars:
        assert any(abs(value - bar * width) <= width / 2 + 1e-6 for value in given)


def test_the_critical_difference_diagram_joins_systems_that_do_not_differ(results: Results) -> None:
    # Demšar (2006), table 6 and figure 1: mean ranks of four classifiers over 14 data sets, CD = 1.25 at .05 (Nemenyi:
    # q = 2.569, 2.569 √(4·5/(6·14))), so that C4.5 (3.143) and C4.5+m+cf (1.964) are joined with what lies between.
    ranks = {"C4.5": 3.143, "C4.5+m": 2.000, "C4.5+cf": 2.893, "C4.5+m+cf": 1.964}
    friedman = Friedman(np.array(list(ranks.values())), 14, 0, 9.28, 0.026, 3.69, 0.02)
    from karat.stats.ranks import cliques, critical_difference

    critical = critical_difference(4, 14)
    assert critical == pytest.approx(1.25, abs=0.005)
    groups = tuple(tuple(list(ranks)[i] for i in group) for group in cliques(friedman.ranks, critical))
    ranking = Ranking("karat", parse_request("f1@5"), tuple(ranks), friedman, critical, groups)
    compared = karat.compare(corpus(), run("a"), run("b", 1), metrics=["f1@5"], resamples=20)
    chart = only(replace(compared, rankings=(ranking,)), "ranks")
    bars = [value for value in values(chart.spec) if "low" in value]
    assert [(round(bar["low"], 2), round(bar["high"], 2)) for bar in bars] == [(1.92, 3.18)]
    names_ = [value["beside"] for value in values(chart.spec) if "beside" in value]
    assert names_ == ["C4.5+m+cf (1.96)", "C4.5+m (2.00)", "C4.5+cf (2.89)", "C4.5 (3.14)"]
    below = " ".join(chart.spec["title"]["subtitle"]) if chart.spec else ""
    assert "Bars join systems less than 1.25 apart (Nemenyi, alpha 0.05); Friedman p\u00a0.0200." in below
    assert only(compared, "ranks").why == "ranks are over two corpora or more, and this comparison is of 1 corpus"


def test_on_few_corpora_the_diagram_joins_all_and_says_that_no_ranks_tell_them_apart() -> None:
    listed = [(karat.Corpus(name, corpus().batches), [run("a"), run("b", 1)]) for name in "xyz"]
    found = karat.compare(listed, metrics=["f1@5"], resamples=20)
    chart = only(found, "ranks")
    below = " ".join(chart.spec["title"]["subtitle"]) if chart.spec else ""
    assert "Bars join systems that no ranks tell apart (Nemenyi, alpha 0.05)" in below
    assert len([value for value in values(chart.spec) if "low" in value]) == 1


def test_protocols_have_a_point_for_each_system() -> None:
    found = karat.audit(corpus(), run("a"), run("b", 1), protocol=["chan2019"], causes=False)
    points = {(value["row"], value["name"]): value["x"] for value in values(only(found, "protocols").spec)}
    assert points == {(p, s): found.values[p][i] for p in ("karat", "chan2019") for i, s in enumerate("ab")}


def test_an_overlap_is_drawn_by_tenths() -> None:
    found = karat.overlap(corpus(), run("a"), run("b", 1))
    bars = values(only(found, "overlap").spec)
    whole = found.pairs[-1].histogram()
    drawn = [bar["count"] for bar in bars[-20:]]
    assert drawn == [*whole["correct"], *whole["wrong"]]


def test_homogeneity_shows_its_ceilings(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text('{"a": "0", "b": "1"}\n{"a": "0", "b": "3"}\n')
    found = karat.homogeneity(corpus(), pairs, run("a"), run("b", 1), resamples=50)
    spec = only(found, "homogeneity").spec
    assert spec is not None
    hooper = spec["concat"][0]["layer"][0]["data"]["values"]
    assert [line["x"] for line in hooper] == [row.figures["hooper"].value for row in found.ceilings]
    assert {v["x"] for v in values(spec) if v["name"] == "a"} == {
        found.systems[0].figures[measure].value for measure in ("hooper", "rodgers")
    }


def test_a_reliability_diagram_holds_the_bins(sure: Confidence) -> None:
    chart = only(sure, "reliability")
    assert chart.spec is not None
    above, below = chart.spec["concat"][0]["vconcat"]
    bins = sure.found[0].figures.bins
    drawn = [(value["x"], value["y"]) for value in above["data"]["values"]]
    assert drawn == [(b.confidence, b.accuracy) for b in bins if b.n]
    assert [value["count"] for value in below["data"]["values"]] == [b.n for b in bins]


def test_confidence_is_drawn_in_shares_quartiles_and_risks(sure: Confidence) -> None:
    bars = [value["count"] for value in values(only(sure, "kpp").spec) if value["name"] == "present"]
    assert sum(bars[:10]) == pytest.approx(100)
    boxes = values(only(sure, "tokens").spec)
    present = next(each for each in sure.found if (each.system, each.subset) == ("a", "present"))
    assert [box["median"] for box in boxes if box["name"] == "present"][:2] == [at.median for at in present.positions]
    curve = [value["y"] for value in values(only(sure, "risk").spec) if value["name"] == "a"]
    assert curve[: len(sure.found[0].curve)] == [at.risk for at in sure.found[0].curve]


def test_classes_fill_their_bar_and_positions_their_text(described: Description) -> None:
    parts = [value for value in values(only(described, "prmu").spec) if value["name"] == "references"]
    shares = described.sides[0].portrait.classes
    assert [part["to"] - part["from"] for part in parts] == pytest.approx([100 * (share or 0) for share in shares])
    assert parts[-1]["to"] == pytest.approx(100)
    points = [value for value in values(only(described, "positions").spec) if value["name"] == "references"]
    assert sum(point["y"] for point in points) == pytest.approx(100)
    missed = [value["y"] for value in values(only(described, "missed").spec) if value["name"] == "a"]
    looks = described.sides[1].looks
    assert looks is not None
    assert missed == [100 * rate for rate in looks.miss_rate or () if rate is not None]
    found = {v["name"]: v["x"] for v in values(only(described, "recall").spec)[:2]}
    assert found["a"] == next(g.value for g in looks.groups if g.by == "class of a reference")


# ---------------------------------------------------------------------------------------------- names


def test_names_are_text_whatever_they_look_like(hostile: Results) -> None:
    chart = only(hostile, "scores")
    drawn = svg(chart, "page")
    said = texts(drawn)
    for name in HOSTILE[:10]:
        assert name in said
    assert any(text.startswith("<b>c</b>, 4 documents") for text in said)
    assert sum(text.startswith("LLL") for text in said) == 2
    assert len({text for text in said if text.startswith("LLL")}) == 2
    assert {element.tag.rpartition("}")[2] for element in ET.fromstring(drawn).iter()} <= {
        *("svg", "g", "path", "line", "text", "rect", "defs", "clipPath", "tspan", "title"),
    }
    told = ["".join(each.itertext()) for each in ET.fromstring(drawn).iter() if each.tag.endswith("}title")]
    for name in HOSTILE[:10]:
        assert any(text.startswith(f"{name}: .") for text in told)


def test_text_from_files_stands_in_values_and_titles_alone(hostile: Results) -> None:
    spec = json.dumps(only(hostile, "scores").spec, ensure_ascii=False)
    fields = set(re.findall(r'"field": "([^"]*)"', spec))
    assert fields <= {"name", "x", "low", "high"}
    assert "expr" not in spec
    assert "signal" not in re.sub(r'\{\\"signal\\": \\"width\\"\}', "", spec)


@given(st.lists(st.text(max_size=60), max_size=8))
@settings(max_examples=40, deadline=None)
def test_shown_names_are_short_and_never_the_same(given: list[str]) -> None:
    shown = names(given)
    assert len(set(shown.values())) == len(set(given))
    for name in shown.values():
        assert len(name) <= 36
        assert inert(name) == name
        assert name


def test_marks_that_turn_the_text_around_do_not_act() -> None:
    assert plain("abc\u202edef\u2066") == "abc�def�"
    assert short("\u200f") == "(no name)"


# ---------------------------------------------------------------------------------------------- one, many, none


def many(count: int) -> Iterator[karat.Run]:
    return (run(f"system {i:02d}", 1 + i % 3) for i in range(count))


def test_of_many_systems_each_has_a_line_or_a_panel_and_the_rest_is_told() -> None:
    found = karat.score(corpus(), *many(MOST + 5), metrics=["f1@5"])
    chart = only(found, "scores")
    assert len(values(chart.spec)) == MOST
    assert f"The best {MOST} of {MOST + 5} systems." in " ".join(chart.spec["title"]["subtitle"] if chart.spec else ())
    some = karat.score(corpus(), *many(AT_ONCE + 2), metrics=["p@1", "r@1", "p@3", "r@3"])
    panels = only(some, "pr").spec
    assert panels is not None
    assert len(panels["concat"]) == AT_ONCE + 2
    audited = karat.audit(corpus(), *many(AT_ONCE + 2), protocol=["chan2019"], causes=False)
    assert "name" in only(audited, "protocols").spec["layer"][0]["data"]["values"][0]  # type: ignore[index]


def test_a_single_document_and_system_can_be_drawn() -> None:
    single = karat.Corpus.of([{"id": "0", "text": TEXTS[0], "keyphrases": REFERENCES[0]}], name="one")
    lone = karat.Run.of([{"id": "0", "keyphrases": GUESSES[0]}], name="a")
    found = karat.score(single, lone, metrics=["f1@5"])
    chart = only(found, "scores")
    assert "a" in texts(svg(chart))
    assert only(found, "differences").why is not None
    assert chart.alt == "f1@5 all with intervals, one, 1 document, protocol karat: f1@5 all: a .800."


def test_where_there_is_nothing_to_draw_the_chart_says_why(tmp_path: Path) -> None:
    bare = karat.Corpus.of([{"id": "0", "keyphrases": ["a"]}], name="bare")
    found = karat.describe(bare, karat.Run.of([{"id": "0", "keyphrases": ["a"]}], name="x"))
    for kind in ("prmu", "positions", "missed", "recall"):
        chart = only(found, kind)
        assert chart.spec is None
        assert chart.why
        assert chart.alt == chart.why
    with pytest.raises(InputError, match="there is nothing to draw: the documents have no title and no text"):
        plot(found, "positions", tmp_path / "x.svg")
    with pytest.raises(InputError, match="Description has no chart of the kind 'scores'; it has prmu, recall"):
        charts_of(found, "scores")
    with pytest.raises(InputError, match="did you mean 'scores'"):
        charts_of(found, "score")
    assert not list(tmp_path.iterdir())
    assert charts_of(bare) == []


# ---------------------------------------------------------------------------------------------- files


def test_every_chart_is_drawn_with_its_title_and_holds_no_address(
    results: Results, sure: Confidence, described: Description
) -> None:
    charts = [chart for found in (results, sure, described) for chart in charts_of(found)]
    assert {chart.kind for chart in charts} == {
        *(
            "scores",
            "pr",
            "differences",
            "reliability",
            "kpp",
            "perplexity",
            "tokens",
            "risk",
            "prmu",
            "recall",
            "positions",
            "missed",
        ),
    }
    for chart in charts:
        drawn = svg(chart, "page")
        assert chart.title in drawn.replace("&amp;", "&")
        assert chart.alt
        assert "://" not in json.dumps(chart.spec)


def test_a_chart_of_a_page_takes_the_colour_of_its_text_and_any_width(results: Results) -> None:
    root = ET.fromstring(svg(only(results, "pr"), "page"))
    assert root.get("width") == "100%"
    assert root.get("height") is None
    assert root.get("role") == "img"
    assert root.get("aria-label") == only(results, "pr").alt
    used = {element.get(name) for element in root.iter() for name in ("fill", "stroke")} - {None, "none", "transparent"}
    assert used == {"currentColor", *COLOURS[:2]}
    assert not [element for element in root.iter() if element.get("style") or element.get("class")]


def test_the_same_chart_is_the_same_bytes(results: Results, tmp_path: Path) -> None:
    chart = only(results, "pr")
    assert len({pdf(chart) for _ in range(3)}) == 1
    assert png(chart) == png(chart)
    assert svg(chart, "page") == svg(chart, "page")
    first = figures(results, folder=tmp_path / "one", formats=["svg", "json"])
    second = figures(results, folder=tmp_path / "two", formats=["svg", "json"])
    assert [path.name for path in first] == [
        f"{kind}-1.{format}" for kind in ("scores", "pr", "differences") for format in ("svg", "json")
    ]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_a_pdf_can_be_read_and_a_png_has_the_scale_that_was_asked_for(results: Results) -> None:
    chart = only(results, "scores")
    page = PdfReader(io.BytesIO(pdf(chart)), strict=True).pages[0]
    assert chart.title in page.extract_text()
    widths = [int.from_bytes(png(chart, scale)[16:20]) for scale in (1, 3)]  # in the head of every PNG
    assert widths[1] == 3 * widths[0]


def test_the_json_form_is_the_whole_chart(results: Results) -> None:
    chart = only(results, "scores")
    told = json.loads(as_json(chart))
    assert told["description"] == chart.alt
    assert told["config"] == json.loads(json.dumps(config()))
    assert {key: told[key] for key in chart.spec or ()} == chart.spec


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * p for weight, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_colours_can_be_seen_on_both_grounds_and_systems_told_apart_without_them() -> None:
    dark = luminance(config("dark")["background"])
    for colour in COLOURS:  # contrast as the accessibility guidelines (WCAG 2) define it
        assert 1.05 / (luminance(colour) + 0.05) >= 3.7
        assert (luminance(colour) + 0.05) / (dark + 0.05) >= 3.7
    assert len(set(in_turn(SHAPES, AT_ONCE))) == AT_ONCE
    assert len({tuple(dash) for dash in in_turn(DASHES, AT_ONCE)}) == AT_ONCE
    assert len({style(number).colour for number in range(AT_ONCE)}) == AT_ONCE


# What is seen of red, green and blue (linear) by who lacks a kind of cone (Machado, Oliveira and Fernandes 2009).
DEFICIENT = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def lab(colour: str, seen: tuple[tuple[float, ...], ...]) -> np.ndarray[Any, Any]:
    """The CIE L*a*b* colour that is seen."""
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    rgb = np.clip(np.array(seen) @ linear, 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ rgb
    x, y, z = np.cbrt(np.maximum(xyz / (0.9505, 1, 1.089), 0.008856))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("kind", DEFICIENT)
def test_of_twenty_systems_no_two_have_the_shape_and_for_the_colour_blind_the_colour_in_common(kind: str) -> None:
    styles = [style(number) for number in range(20)]
    assert len({(each.colour, each.shape) for each in styles}) == 20
    for i, one in enumerate(styles):
        for other in styles[:i]:
            if one.shape == other.shape:
                apart = lab(one.colour, DEFICIENT[kind]) - lab(other.colour, DEFICIENT[kind])
                assert np.sqrt((apart**2).sum()) > 10, (one, other)  # 2.3 is just noticeable


# ---------------------------------------------------------------------------------------------- the command


def karat_plot(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*program(), "plot", *arguments], cwd=folder, capture_output=True, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("plot")
    karat.write(corpus(), place / "corpus.jsonl")
    for name, kept in (("a", 3), ("b", 1)):
        karat.write(run(name, kept), place / f"{name}.jsonl")
    return place


def test_the_command_lists_the_kinds_that_there_are(folder: Path) -> None:
    shown = karat_plot(folder, "--help").stdout.decode()
    assert re.findall(r"^    (\w+) {2,}(\S.*)$", shown, re.M) == [(name, k.summary) for name, k in KINDS.items()]


def test_results_of_scores_are_drawn_from_karat_files_alone(folder: Path, results: Results) -> None:
    results.save(folder / "x.karat")
    drawn = [name for name in KINDS if karat_plot(folder, name, "x.karat", "-o", f"{name}.json").returncode == 0]
    assert drawn == ["scores", "pr", "differences", "corpora", "cutoffs"]  # ranks are of several corpora


def test_the_command_writes_what_python_writes(folder: Path, results: Results) -> None:
    done = karat_plot(folder, "pr", "corpus=corpus.jsonl", "a.jsonl", "b.jsonl")
    assert done.returncode == 0, done.stderr.decode()
    found = karat.score(folder / "corpus.jsonl", folder / "a.jsonl", folder / "b.jsonl", metrics=KINDS["pr"].metrics)
    assert done.stdout == as_json(only(found, "pr"))
    found.save(folder / "saved.karat")
    again = karat_plot(folder, "pr", "saved.karat", "-o", "curves.svg")
    assert again.returncode == 0, again.stderr.decode()
    assert (folder / "curves.svg").read_text() == svg(only(found, "pr"))


@pytest.mark.parametrize("kind", ["overlap", "missed", "tokens"])
def test_the_command_draws_kinds_of_other_verbs(folder: Path, kind: str) -> None:
    done = karat_plot(folder, kind, "corpus.jsonl", "a.jsonl", "b.jsonl")
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout)["usermeta"] == {"karat": kind}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("score", "corpus.jsonl", "a.jsonl"), "did you mean 'scores'?"),
        (("scores", "corpus.jsonl", "a.jsonl", "-o", "x.gif"), "-o x.gif: a chart is .svg, .pdf, .png or .json"),
        (("scores", "corpus.jsonl"), "give a corpus and a run or more"),
        (("ranks", "corpus.jsonl", "a.jsonl"), "ranks are over several corpora"),
        (("homogeneity", "corpus.jsonl", "a.jsonl"), "give --pairs FILE"),
        (("overlap", "corpus.jsonl", "a.jsonl", "b.jsonl", "-m", "f1@5"), "has no metrics to choose"),
        (("overlap", "x.karat"), "overlap is not drawn from .karat files"),
        (("scores", "x.karat", "a.jsonl"), "give .karat files alone"),
        (("prmu", "corpus.jsonl", "--pairs", "a.jsonl"), "--pairs is for homogeneity, not for prmu"),
        (("recall", "corpus.jsonl", "-o", "x.svg"), "there is nothing to draw: there is no run"),
    ],
)
def test_what_cannot_be_drawn_is_told_in_a_sentence(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    done = karat_plot(folder, *arguments)
    assert done.returncode == 2
    assert said in done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert not (folder / "x.svg").exists()


def test_several_charts_are_numbered(folder: Path) -> None:
    two = ("--protocol", "karat", "--protocol", "chan2019")
    done = karat_plot(folder, "scores", "corpus.jsonl", "a.jsonl", "-m", "f1@5", *two, "-o", "s.json", "-q")
    assert (done.returncode, done.stderr.decode()) == (0, "2 charts: s-1.json to s-2.json\n")
    assert "chan2019" in (folder / "s-2.json").read_text()
    refused = karat_plot(folder, "scores", "corpus.jsonl", "a.jsonl", "-m", "f1@5", *two)
    assert "there are 2 charts of this kind: give -o FILE" in refused.stderr.decode()


def test_drawing_is_loaded_late() -> None:
    modules = [Path(module.__file__ or "").read_text() for name, module in sys.modules.items() if ".charts" in name]
    assert len(modules) > 4
    assert not [text for text in modules if re.search(r"^(import|from) vl_convert", text, re.MULTILINE)]
