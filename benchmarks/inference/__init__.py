"""Calibration bench: type I error of every test and coverage of every interval, on real zero-inflated rows.

    python -m benchmarks.inference [--trials 2000] [--seed 0] [--only documents,seeds] [--jobs 2] [--quick] [-o FILE]

Documents are drawn with replacement from the rows of released runs, which are the population, so that the true value is
known. One module for each subject has a function `cells(trials, seed, quick)`; PARTS, if it has any, are functions with
the same arguments whose cells can be computed at the same time. A cell fails when its 99 % Monte Carlo interval lies
outside the bar. `--quick` computes few cells of synthetic data, as the test does. `--write` replaces the tables in
docs/statistics.md.
"""
