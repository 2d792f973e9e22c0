"""The short version of the calibration bench passes, and fails for intervals and tests that are known to be wrong."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from benchmarks.inference import __main__ as command
from benchmarks.inference.base import COVERAGE, NO_BAR, TYPE_I, Cell, failures, summary, tables
from benchmarks.inference.documents import _both, _settings, documents_for
from benchmarks.inference.populations import Population, synthetic
from karat.stats.difference import Contestants, Inference, adjust_families, compare_pairs
from karat.stats.resampling import Sample, bootstrap
from karat.stats.tests import randomisation

TRIALS = {"documents": 200, "seeds": 150, "pairs": 60, "human": 60, "calibration": 150}


@pytest.mark.parametrize("module", command.MODULES)
def test_no_cell_of_the_short_bench_fails(module: str) -> None:
    cells = list(import_module(f"benchmarks.inference.{module}").cells(TRIALS.get(module, 60), 0, quick=True))
    assert cells
    assert failures(cells) == []


def test_a_cell_fails_where_the_wilson_interval_is_outside_the_bar() -> None:
    for rate in np.linspace(0, 1, 41):
        for trials in (50, 2000):
            low, high = proportion_confint(round(rate * trials), trials, alpha=0.01, method="wilson")
            cell = Cell("", "", "", round(rate * trials) / trials, trials, COVERAGE)
            assert cell.fails == (high < COVERAGE[0] or low > COVERAGE[1])
            assert not Cell("", "", "", cell.rate, trials, NO_BAR).fails


def test_percentile_intervals_of_absent_scores_fail() -> None:
    population = synthetic(2, absent=True)
    true = population.value("system 1") - population.value("system 2")
    held = []
    for drawn in population.draw(1000, 25, np.random.default_rng(0)):
        a, b = bootstrap([population.sample(name, drawn) for name in population.systems], resamples=200)
        low, high = np.nanpercentile(a - b, [2.5, 97.5])
        held.append(low <= true <= high)
    assert Cell("", "", "", float(np.mean(held)), len(held), COVERAGE).fails


def test_families_that_are_not_adjusted_fail() -> None:
    generator = np.random.default_rng(0)
    population = _settings(synthetic(7, absent=False), generator)["all equal"]
    how = Inference(resamples=99, correction="none")
    wrong = []
    for drawn in population.draw(60, 25, generator):
        samples = [population.sample(name, drawn) for name in population.systems]
        pairs = compare_pairs([Contestants([samples[i]], [samples[j]]) for i, j in _both()], how)
        wrong.append(any(one.significant() for one in adjust_families(pairs, [0] * len(pairs), how)))
    assert Cell("", "", "", float(np.mean(wrong)), len(wrong), TYPE_I).fails


def test_swaps_of_rows_reject_micro_f1_where_one_system_predicts_less() -> None:
    """One system finds nothing, the other one phrase: no evidence, and compare_pairs says so."""
    from karat.metrics.base import f_of_sums

    n = 30
    a = np.array([[float(i == 0), 2.0, 5.0, 1.0] for i in range(n)])
    b = np.array([[0.0, 6.0, 5.0, 1.0] for _ in range(n)])
    x, y = Sample(a, f_of_sums), Sample(b, f_of_sums)
    assert randomisation(x, y, 999).p < 0.01
    [one] = compare_pairs([Contestants([x], [y])], Inference(resamples=999))
    assert one.tests["randomisation"] > 0.3


def test_thinned_systems_are_equal_and_their_variances_are_not() -> None:
    population = synthetic(4, absent=False)
    equal = population.equal(list(population.systems), np.random.default_rng(0))
    values = [equal.value(name) for name in equal.systems]
    assert np.ptp(values) < 1e-3
    assert np.ptp([population.value(name) for name in population.systems]) > 0.03
    deviations = [float(rows[:, 0].std()) for rows in equal.systems.values()]
    assert max(deviations) > 1.1 * min(deviations)


def test_documents_for_a_difference_have_the_power_of_statsmodels() -> None:
    from statsmodels.stats.power import TTestPower

    for effect in (0.1, 0.25, 0.5):
        needed = TTestPower().solve_power(effect, alpha=0.05, power=0.8)
        assert documents_for(effect) == np.ceil(needed)


# ---------------------------------------------------------------------------------------------- the command


def test_the_command_prints_tables_and_failures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bench.md"
    command.main(["--quick", "--trials", "20", "--only", "seeds", "--jobs", "1", "-o", str(path)])
    printed = capsys.readouterr()
    assert path.read_text(encoding="utf-8") == printed.out
    assert [file.name for file in tmp_path.iterdir()] == ["bench.md"]
    assert "## Several seeds" in printed.out
    assert "## Cells that fail" in printed.out
    assert "benchmarks.inference: seeds: cells: 8 cells" in printed.err


def test_cells_do_not_depend_on_the_number_of_processes() -> None:
    one, two = (command.compute_all(["seeds", "calibration"], 10, 3, True, jobs) for jobs in (1, 2))
    assert one == two


def test_kept_parts_are_read_again(tmp_path: Path) -> None:
    first = command.compute_all(["seeds"], 10, 3, True, 1, tmp_path)
    [kept] = tmp_path.iterdir()
    written = kept.read_bytes()
    assert command.compute_all(["seeds"], 10, 3, True, 1, tmp_path) == first
    assert kept.read_bytes() == written


def test_a_summary_has_the_range_of_each_section() -> None:
    cells = [Cell("coverage", row, "n = 25", rate, 2000, COVERAGE) for row, rate in (("a", 0.8), ("b", 0.95))]
    [table] = summary(cells)
    assert table.splitlines()[-1] == "| coverage | 80.0–95.0 (1*) |"


def test_unknown_modules_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["--only", "documents,x"])
    assert "no module 'x': choose from documents, seeds" in capsys.readouterr().err


def test_the_page_is_rewritten_between_the_marks(tmp_path: Path) -> None:
    page = tmp_path / "statistics.md"
    page.write_text(f"before\n{command.START}old\n{command.END}\nafter\n", encoding="utf-8")
    command.write_page(page, "new")
    assert page.read_text(encoding="utf-8") == f"before\n{command.START}\nnew\n{command.END}\nafter\n"


def test_tables_mark_the_cells_that_fail() -> None:
    cells = [
        Cell("coverage", "a", "n = 25", 0.8, 2000, COVERAGE),
        Cell("coverage", "a", "n = 80", 0.95, 2000, COVERAGE),
    ]
    assert list(tables(cells)) == [
        "| coverage | n = 25 | n = 80 |\n| -------- | -----: | -----: |\n| a        |  80.0* |   95.0 |"
    ]
    assert failures(cells) == ["coverage; a; n = 25: 80.0 %, bar 93.0 to 97.0 % (2,000 trials)"]


def test_populations_draw_with_replacement() -> None:
    population = Population("x", {"a": np.ones((3, 2))}, lambda sums: sums[..., 0] / sums[..., 1], "mean")
    drawn = population.draw(50, 4, np.random.default_rng(0))
    assert drawn.shape == (50, 4)
    assert set(drawn.ravel().tolist()) == {0, 1, 2}
