"""People whole: wide tables, both combinations, subsets above the whole, agreement by relation, learned weights."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import krippendorff as peer
import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

import karat
from karat.analyses.human.learn import LEARNED, folds_of, unrelated
from karat.analyses.human.result import Human
from karat.errors import InputError
from karat.formats.human import read_judged
from karat.output import render
from karat.similarity import compare, words_of
from karat.similarity.groups import GROUPS
from karat.similarity.placed import learn, places_of
from karat.stats.agreement import equal_pairs
from tests.wide import table

GOLDEN = Path(__file__).parents[1] / "golden"
WIDE = GOLDEN / "human.wide.csv"
KIM = ["overlap", "overlap_head", "bleu", "meteor", "nist", "rouge1", "context"]  # the columns of Table 3


def lines(path: Path = WIDE) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


def matrix() -> Any:
    """The scores of the wide table, NaN where there is none."""
    return np.array([[float(row[name] or "nan") for name in ("ana", "ben", "cem", "dot")] for row in lines()])


def write(folder: Path, text: str, name: str = "wide.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def rows_of(found: Human, **wanted: Any) -> list[dict[str, Any]]:
    return [row for row in found.rows() if all(row[name] == value for name, value in wanted.items())]


# ---------------------------------------------------------------------------------------------- wide tables


def test_the_made_table_is_what_its_maker_makes() -> None:
    assert WIDE.read_text() == table()


def test_a_wide_table_is_the_long_one_turned(tmp_path: Path) -> None:
    names = ("ana", "ben", "cem", "dot")
    long = [
        {"id": row["id"], "prediction": row["prediction"], "reference": row["reference"], "annotator": n, "score": s}
        for row in lines()
        for n in names
        if (s := row[n] and float(row[n])) != ""
    ]
    path = write(tmp_path, "".join(json.dumps(each) + "\n" for each in long), "long.jsonl")
    one, other = read_judged(WIDE), read_judged(path)
    assert (one.annotators, one.items) == (names, other.items)
    order = [other.annotators.index(name) for name in names]
    assert np.array_equal(one.values, other.values[:, order], equal_nan=True)
    assert np.array_equal(one.values, matrix(), equal_nan=True)


def test_wide_tables_are_read_from_tsv_semicolons_parquet_and_memory(tmp_path: Path) -> None:
    expected = read_judged(WIDE)
    records = lines()
    tabs, semicolons = io.StringIO(), io.StringIO()
    for file, mark in ((tabs, "\t"), (semicolons, ";")):
        writer = csv.DictWriter(file, list(records[0]), delimiter=mark)
        writer.writeheader()
        writer.writerows(records)
    numbers = [
        {k: (float(v) if v else None) if k in expected.annotators else v for k, v in row.items()} for row in records
    ]
    paths = [write(tmp_path, tabs.getvalue(), "a.tsv"), write(tmp_path, semicolons.getvalue(), "a.csv")]
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.Table.from_pylist(numbers), tmp_path / "a.parquet")
    every: list[Any] = [*paths, tmp_path / "a.parquet", numbers]
    for given in every:
        found = read_judged(given)
        assert (found.annotators, found.items) == (expected.annotators, expected.items)
        assert np.array_equal(found.values, expected.values, equal_nan=True)


def test_sets_are_read_from_a_wide_table_too(tmp_path: Path) -> None:
    found = read_judged(write(tmp_path, "id,system,ana,ben\nd1,t5,1,2\nd2,t5,0.5,\n"))
    assert (found.kind, found.items) == ("sets", (("d1", "t5"), ("d2", "t5")))
    assert found.values[1].tolist()[0] == 0.5


def test_near_misses_that_people_scored_in_a_spreadsheet_come_back(tmp_path: Path) -> None:
    corpus = karat.Corpus.of([{"id": "=d1", "keyphrases": ["=SUM effective grid", "load balance"]}])
    run = karat.Run.of([{"id": "=d1", "keyphrases": ["effective grid", "=SUM load"]}])
    from karat.analyses.nearmiss.pairs import writing_pairs

    path = tmp_path / "pairs.csv"
    with writing_pairs(str(path)) as pairs:
        karat.nearmiss(corpus, run, pairs=pairs)
    header, *body = path.read_text().splitlines()
    assert header == "id,prediction,reference,relation,location,direction,complexity,words,similarity"
    assert not any(cell.startswith("=") for line in body for cell in line.split(","))
    path.write_text("\n".join([f"{header},ana,ben", *(f"{line},3,4" for line in body)]))
    assert read_judged(path).items == (
        ("effective grid", "=SUM effective grid", "=d1"),
        ("=SUM load", "=SUM effective grid", "=d1"),
    )


def test_annotators_can_be_chosen_in_wide_and_in_long_files(tmp_path: Path) -> None:
    wide = write(tmp_path, "id,comment,ana,ben\nd1,good,1,2\nd2,,0,3\n")
    assert read_judged(wide, ["ben"]).values.ravel().tolist() == [2, 3]
    long = write(
        tmp_path,
        '{"id": "d1", "annotator": "a", "score": 1}\n{"id": "d1", "annotator": "b", "score": 2}\n',
        "long.jsonl",
    )
    assert read_judged(long, ["b"]).values.ravel().tolist() == [2]
    for path in (wide, long):
        with pytest.raises(InputError, match="unknown annotator 'bem'"):
            read_judged(path, ["bem"])


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("id,ana,ben\nd1,1,good\n", {}, "wide.csv:2: column 'ben': the score 'good' is not a finite number"),
        ("id,ana,ben\nd1,1,good\n", {}, "which columns are scores is said with --annotators"),
        ("id;ana;ben\nd1;1;0,5\n", {}, "the score '0,5' is not a finite number; write one, as 3 or 0.4: 0.5 with a"),
        ("id,ana\nd1,inf\n", {}, "column 'ana': the score 'inf' is not a finite number"),
        ("id,ana,ben\nd1,,\nd2,,\n", {}, "there are no scores in it (empty are 'ana', 'ben'); in a wide table each"),
        ("id,Score\nd1,1\n", {}, "there is a column 'Score', but none named score"),
        ("id,annotator,points\nd1,x,1\n", {}, "wide.csv:2: no score; a line is"),
        ("name,ana\nd1,1\n", {}, "column 'ana'"),
        ("prediction,ana\na,1\n", {}, "wide.csv:2: a prediction without a reference"),
        ("id,ana\nd1,1\nd1,2\n", {}, "annotator 'ana' scores 'd1' 2, but 1 on line 2; keep one"),
        ("id,ana\nd1,1\nd2,7\n", {"scale": (0.0, 4.0)}, "wide.csv:3: column 'ana': the score 7 is outside the scale"),
        ("id,annotator,score\nd1,x,7\n", {"scale": (0.0, 4.0)}, "the score 7 is outside the scale, which is from 0 to"),
        ("id,ana\nd1\n", {}, "wide.csv:2: 1 cells, but the header has 2"),
    ],
)
def test_what_is_wrong_in_a_wide_table_is_said_with_its_place(
    tmp_path: Path, text: str, options: dict[str, Any], said: str
) -> None:
    if text.startswith("name"):
        said = "neither an id nor a prediction and a reference"
    with pytest.raises(InputError) as error:
        read_judged(write(tmp_path, text), **options)
    assert said in str(error.value)


@pytest.mark.parametrize("scale", ["4", "4:0", "a:b", "0:4:8", "0:inf", "1:1", ""])
def test_a_scale_is_two_numbers(scale: str) -> None:
    with pytest.raises(InputError, match="a scale is its lowest and its highest score, as 0:4"):
        karat.human(WIDE, metrics=["overlap"], scale=scale)


def test_an_annotator_and_rows_without_scores_are_left_out_and_told(tmp_path: Path) -> None:
    text = "prediction,reference,ana,ben,cem\na,a b,1,2,\nb,a b,3,3,\nc,a b,,,\nb c,a b c,2,1,\n"
    found = karat.human(write(tmp_path, text), metrics=["overlap"])
    assert (found.names, found.items) == (("ana", "ben"), 3)
    assert "annotator cem: no score in the table; left out" in found.notes
    assert "1 row of the table without any score; left out" in found.notes


def test_one_item_and_constant_scores_are_undefined_and_told(tmp_path: Path) -> None:
    one = karat.human(write(tmp_path, "prediction,reference,ana,ben\na,a b,1,2\n"), metrics=["kim2010"])
    assert any(note.endswith("undefined, fewer than two items") for note in one.notes)
    assert one.rows()[0]["spearman"] is None
    text = "prediction,reference,ana,ben\na,a b,2,2\nb c,a b c,2,2\n"
    same = karat.human(write(tmp_path, text), metrics=["overlap", "kmr"])
    assert any(note.endswith("undefined, people's scores are all equal") for note in same.notes)
    assert render(same)


# ---------------------------------------------------------------------------------------------- kim2010


@pytest.mark.wordnet
def test_kim2010_is_the_seven_measures_of_the_paper() -> None:
    assert list(GROUPS["kim2010"]) == KIM
    records = lines()
    corpus = [{"id": row["id"], "text": f"The {row['prediction']} is a {row['reference']}."} for row in records[:40]]
    found = karat.human(WIDE, metrics=["kim2010"], corpus=karat.Corpus.of(distinct(corpus)))
    assert [row["metric"] for row in rows_of(found, subset="all", combine="mean")] == KIM


def distinct(records: list[dict[str, str]]) -> list[dict[str, str]]:
    return list({row["id"]: row for row in records}.values())


def test_what_a_group_needs_and_is_not_there_is_left_out_but_not_what_is_asked_for_by_name() -> None:
    found = karat.human(WIDE, metrics=["kim2010"], combine="mean")
    assert any(note.startswith("context is left out: context compares the sentences") for note in found.notes)
    with pytest.raises(InputError, match="context compares the sentences"):
        karat.human(WIDE, metrics=["kim2010", "context"])


def test_a_group_of_similarities_is_for_pairs_alone() -> None:
    with pytest.raises(InputError, match="has scores of sets, and kim2010 is a group of similarities of two phrases"):
        karat.human(
            GOLDEN / "human.sets.jsonl",
            corpus=GOLDEN / "synthetic.corpus.jsonl",
            runs=[GOLDEN / "synthetic.alpha.jsonl"],
            metrics=["kim2010"],
        )


def test_mean_and_majority_are_printed_together_and_are_those_of_scipy() -> None:
    """The majority by hand: the most frequent score, of several the one nearest the median, then the lowest."""
    records, scores = lines(), matrix()
    overlap = [round(compare("overlap", row["prediction"], row["reference"]), 10) for row in records]
    given = [row[~np.isnan(row)] for row in scores]
    mean = [round(float(row.mean()), 10) for row in given]
    majority = []
    for row in given:
        counts = {value: int((row == value).sum()) for value in row.tolist()}
        first = sorted(value for value, count in counts.items() if count == max(counts.values()))
        majority.append(min(first, key=lambda value: (abs(value - float(np.median(row))), value)))
    found = karat.human(WIDE, metrics=["overlap"], combine="both")
    for how, people in (("mean", mean), ("majority", majority)):
        [row] = rows_of(found, subset="all", combine=how)
        assert row["spearman"] == pytest.approx(stats.spearmanr(overlap, people).statistic)
        assert row["kendall"] == pytest.approx(stats.kendalltau(overlap, people).statistic)
        alone = karat.human(WIDE, metrics=["overlap"], combine=how)  # type: ignore[arg-type]
        assert [{"combine": how} | each for each in alone.rows()] == rows_of(found, combine=how)
    text = render(found)
    assert "combined by mean and by majority" in " ".join(text.split())
    assert "\nmean\n" in text
    assert "\nmajority\n" in text


def test_the_ceiling_is_one_annotator_with_the_others_left_out_in_turn() -> None:
    scores = matrix()
    each = []
    for a in range(4):
        others = np.delete(scores, a, axis=1)
        rest = [round(float(row[~np.isnan(row)].mean()), 10) for row in others]
        there = ~np.isnan(scores[:, a])
        each.append(stats.spearmanr(scores[there, a], np.array(rest)[there]).statistic)
    [ceiling, *_] = karat.human(WIDE, metrics=["overlap"]).as_dict()["agreement"]["ceiling"]
    assert ceiling["spearman"] == pytest.approx(np.mean(each))


def test_one_metric_of_a_paper_does_not_combine_both_ways() -> None:
    assert karat.human(WIDE, metrics=["overlap"]).further == ()
    assert karat.human(WIDE, metrics=["kim2010"], annotators="ana").further == ()


def test_subsets_that_beat_the_whole_are_marked() -> None:
    found = karat.human(WIDE, metrics=["overlap"])
    whole = rows_of(found, subset="all")[0]["spearman"]
    marks = {}
    for row in found.rows()[1:]:
        clear = row["ci"]["spearman"][0] > whole and row["n"] >= 10
        expected = "no" if row["spearman"] <= whole else "clearly" if clear else "yes"
        assert row["above_all"] == expected, row["subset"]
        marks[row["subset"]] = {"no": "", "yes": "+", "clearly": "++"}[expected]
    assert {"", "+"} <= set(marks.values())
    shown = render(found).split("spearman in each subset:")[1].split("Each annotator")[0]
    for line in shown.splitlines():
        name = line.split(" ")[0]
        if name in marks:
            cell = line.split()[2]
            assert cell.lstrip(".0123456789") == marks[name], line
    assert "+ (or bold): higher than on all items" in shown
    assert "**" in render(found, "md")


def test_few_items_are_never_clearly_above() -> None:
    """An interval of three items is not reliable."""
    few = [("a", "a b", 1), ("a b", "a b c", 2), ("a b c", "a b c d", 3)]
    many = [(f"x{n}", f"x{n} y{n}", n % 3) for n in range(30)]
    scores = [{"prediction": p, "reference": r, "x": s} for p, r, s in (*few, *many)]
    found = karat.human(scores, metrics=["overlap"])
    rows = {row["subset"]: row for row in found.rows()}
    assert {row["above_all"] for name, row in rows.items() if name != "all" and row["n"] < 10} <= {"no", "yes", None}


# ---------------------------------------------------------------------------------------------- agreement


def test_agreement_by_relation_is_that_of_krippendorff_and_fleiss() -> None:
    relations, scores = np.array([row["relation"] for row in lines()]), matrix()
    found = karat.human(WIDE, metrics=["overlap"]).as_dict()["agreement"]["relations"]
    assert [row["relation"] for row in found] == ["all", "include", "part-of"]
    for row in found:
        own = scores if row["relation"] == "all" else scores[relations == row["relation"]]
        assert row["n"] == len(own)
        assert row["alpha"] == pytest.approx(peer.alpha(own.T, level_of_measurement="interval"))
        assert row["ci"][0] < row["alpha"] < row["ci"][1]
        for share in row["exact"]:
            able = own[(~np.isnan(own)).sum(axis=1) >= share["annotators"]]
            most = [max(np.unique(r[~np.isnan(r)], return_counts=True)[1]) for r in able]
            assert (share["n"], share["share"]) == (
                len(able),
                pytest.approx(np.mean(np.array(most) >= share["annotators"])),
            )


def test_equal_pairs_are_the_observed_agreement_of_fleiss() -> None:
    """kappa = (P − Pe) / (1 − Pe), so that P = kappa (1 − Pe) + Pe, of statsmodels' kappa."""
    scores = matrix()
    full = scores[~np.isnan(scores).any(axis=1)]
    counts, _ = aggregate_raters(full.astype(int))
    expected = float(((counts.sum(axis=0) / counts.sum()) ** 2).sum())
    assert equal_pairs(full).value == pytest.approx(fleiss_kappa(counts) * (1 - expected) + expected)


def test_agreement_by_hand() -> None:
    """Two agree on both include pairs; of the part-of pair the three give 1, 1, 2: one of three pairs of people."""
    scores = [
        {"prediction": "a b", "reference": "b", "x": 3, "y": 3},
        {"prediction": "a c", "reference": "c", "x": 1, "y": 1},
        {"prediction": "a", "reference": "a b", "x": 1, "y": 1, "z": 2},
    ]
    whole, include, part_of = karat.human(scores, metrics=["overlap"]).agreement.relations
    assert (include.relation, include.n, include.alpha, include.pairs) == ("include", 2, 1.0, 1.0)
    assert (part_of.relation, part_of.n) == ("part-of", 1)
    assert part_of.pairs == pytest.approx(1 / 3)
    assert whole.n == 3
    assert whole.pairs == pytest.approx((1 + 1 + 1 / 3) / 3)


# ---------------------------------------------------------------------------------------------- intervals


def test_pairs_of_named_documents_are_one_unit_of_the_interval() -> None:
    """Against a bootstrap of documents with scipy; where no documents are named, pairs are the units."""
    records, scores = lines(), matrix()
    found = karat.human(WIDE, metrics=["overlap"])
    assert found.by_document
    overlap = np.array([compare("overlap", row["prediction"], row["reference"]) for row in records])
    people = np.nanmean(scores, axis=1)
    documents = np.array([row["id"] for row in records])
    where = {name: np.flatnonzero(documents == name) for name in dict.fromkeys(documents)}
    generator, drawn = np.random.default_rng(3), []
    for _ in range(1000):
        some = np.concatenate([where[name] for name in generator.choice(list(where), len(where))])
        drawn.append(stats.pearsonr(overlap[some], people[some]).statistic)
    assert found.rows()[0]["ci"]["pearson"] == pytest.approx(np.quantile(drawn, [0.025, 0.975]).tolist(), abs=0.02)
    bare = [{k: v for k, v in row.items() if k in ("prediction", "reference", "ana")} for row in records[:60]]
    loose = karat.human([row | {"ana": float(row["ana"] or 1)} for row in bare], metrics=["overlap"])
    assert not loose.by_document


def test_pairs_are_the_units_of_a_subset_in_few_documents() -> None:
    """All pairs with a preposition are of one document, which alone has no interval."""
    scores = [
        {"id": f"d{n}", "prediction": f"x{n}", "reference": f"x{n} y{n}" + " z" * (n % 2), "a": n % 5}
        for n in range(20)
    ]
    words = "abcdefghijkl"
    scores += [
        {"id": "d0", "prediction": words[n], "reference": f"{words[n]} of" + " v" * (1 + n % 3), "a": n % 4}
        for n in range(12)
    ]
    found = karat.human(scores, metrics=["overlap"])
    assert found.by_document
    [row] = rows_of(found, subset="complexity=preposition")
    assert row["n"] == 12
    assert row["ci"]["spearman"][1] - row["ci"]["spearman"][0] > 0.2


# ---------------------------------------------------------------------------------------------- learned weights


def test_no_fold_learns_from_what_it_is_judged_on() -> None:
    judged = read_judged(WIDE)
    stems = [(words_of(item[0], "stems"), words_of(item[1], "stems")) for item in judged.items]
    options = karat.human.options()  # type: ignore[attr-defined]
    fold = folds_of([item[2] for item in judged.items], options)
    assert sorted(np.bincount(fold).tolist()) == [24] * 10
    for each in range(10):
        inside, learned = np.flatnonzero(fold == each), np.flatnonzero(unrelated(stems, fold, each))
        assert not {judged.items[i][2] for i in inside} & {judged.items[i][2] for i in learned}
        assert not {stems[i][1] for i in inside} & {stems[i][1] for i in learned}
        assert not {frozenset(stems[i]) for i in inside} & {frozenset(stems[i]) for i in learned}
        assert len(learned) > 100


def test_learned_weights_are_judged_beside_the_metrics_and_saved(tmp_path: Path) -> None:
    found = karat.human(WIDE, metrics=["overlap", "overlap_head"], learn=True)
    assert found.weights is not None
    rows = {row["metric"]: row for row in rows_of(found, subset="all")}
    assert list(rows) == ["overlap", "overlap_head", "placed"]
    assert rows["placed"]["options"] == {"weights": "cross-validated"}
    assert rows["placed"]["spearman"] > rows["overlap"]["spearman"]
    assert found.comparisons()[0]["against"] == LEARNED
    path = tmp_path / "weights.json"
    found.weights.save(path)
    saved = json.loads(path.read_text())
    assert saved["learned"]["cross_validated"]["spearman"] == pytest.approx(rows["placed"]["spearman"])
    assert (saved["learned"]["pairs"], saved["learned"]["folds"]) == (240, 10)
    again = karat.human(WIDE, metrics=[f"placed:{path}"])
    assert any(
        note.endswith("learned from 240 of these 240 pairs, so it looks better than it is; see --learn")
        for note in again.notes
    )
    others = write(tmp_path, table(60).replace("grid", "gridiron").replace("model", "modem"))
    assert not any("240 of these" in note for note in karat.human(others, metrics=[f"placed:{path}"]).notes)


def test_intervals_of_learned_weights_are_those_of_a_bootstrap_of_documents() -> None:
    """Documents are drawn anew and weights learned anew; the half-width is t times the spread of the logarithms."""
    judged = read_judged(WIDE)
    stems = [(words_of(item[0], "stems"), words_of(item[1], "stems")) for item in judged.items]
    documents = np.unique([item[2] for item in judged.items], return_inverse=True)[1]
    places, people = places_of(stems), np.nanmean(judged.values, axis=1)
    generator, logs = np.random.default_rng(0), []
    for _ in range(200):
        drawn = generator.integers(documents.max() + 1, size=documents.max() + 1)
        rows = np.concatenate([np.flatnonzero(documents == each) for each in drawn])
        weights = learn(places.take(rows), people[rows])
        logs.append(np.log([*weights.places[1:], weights.first]))
    found = karat.human(WIDE, metrics=["overlap"], learn=True)
    assert found.learned is not None
    rows_ = found.learned.rows()
    assert rows_[0] == {"place": "head", "weight": 1.0, "ci": [None, None]}
    for row, spread in zip(rows_[1:], np.std(logs, axis=0), strict=True):
        low, high = row["ci"]
        assert low < row["weight"] < high
        assert np.sqrt(low * high) == pytest.approx(row["weight"], rel=1e-4)
        assert np.log(high / low) / 2 == pytest.approx(stats.t.ppf(0.975, documents.max()) * spread, rel=0.2)


def test_cross_validated_scores_are_below_those_on_what_was_learned() -> None:
    """On scores that are noise, weights that saw them go with them, and cross-validated ones do not."""
    generator = np.random.default_rng(7)
    noise = [
        {
            "id": row["id"],
            "prediction": row["prediction"],
            "reference": row["reference"],
            "x": int(generator.integers(5)),
        }
        for row in lines()[:120]
    ]
    found = karat.human(noise, metrics=["overlap"], learn=True)
    [row] = [each for each in found.correlations if each.name == LEARNED and each.subset == "all"]
    low, high = row.intervals[1]
    assert low < 0.15
    assert high < 0.45


def test_weights_need_pairs_and_enough_of_them(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="weights cannot be learned from 2 pairs; it takes 10"):
        karat.human(write(tmp_path, "prediction,reference,ana\na,a b,1\nb,a b,2\n"), metrics=["overlap"], learn=True)
    same = "prediction,reference,ana\n" + "".join(f"a{n},a{n} b{n},1\n" for n in range(12))
    with pytest.raises(InputError, match="from scores that are all equal"):
        karat.human(write(tmp_path, same), metrics=["overlap"], learn=True)
    one = "prediction,reference,ana\n" + "".join(f"a{n},a b,{n % 3}\n" for n in range(12))
    with pytest.raises(InputError, match="too few pairs are left that share neither document nor reference"):
        karat.human(write(tmp_path, one), metrics=["overlap"], learn=True)
    sets = write(tmp_path, "id,ana\ns000,1\ns001,2\n")
    golden = GOLDEN / "synthetic.corpus.jsonl", GOLDEN / "synthetic.alpha.jsonl"
    with pytest.raises(InputError, match="weights by place are learned from scores of pairs"):
        karat.human(sets, corpus=golden[0], runs=[golden[1]], learn=True)
