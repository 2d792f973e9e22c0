"""Seconds and peak memory of the tests of two systems; or how often these are wrong, on simulated systems.

    python -m benchmarks.statistics [--documents 20000] [--resamples 10000] [--repeat 3]
    python -m benchmarks.statistics --null [--trials 10000] [--seed 0]
    python -m benchmarks.statistics --seeds [--trials 4000] [--seed 0]

With --null, two systems are made on 20 and on 100 documents over and over. Where they are equally good, a test at .05
should reject in 5 % of all trials, and an interval of 95 % should hold the true value in 95 %; where one is better, the
test should find it as often as `power_of` says. With --seeds, systems have several seeds (see `benchmarks.seeds`).
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import exp

import numpy as np
from numpy.typing import NDArray

from benchmarks.__main__ import Stage, measure
from benchmarks.seeds import seed_tables
from benchmarks.tables import percent, table
from karat.metrics.base import f_of_means, mean
from karat.stats.base import Floats
from karat.stats.corrections import CORRECTIONS
from karat.stats.effects import detectable, power_of
from karat.stats.ranks import critical_difference, friedman
from karat.stats.resampling import METHODS, Sample, difference, estimate, interval_of
from karat.stats.tests import mcnemar, normality, paired_t, randomisation, randomisations, shift, wilcoxon

LEVEL, ALPHA = 0.95, 0.05
SIZES = (20, 100)  # documents of a trial
RESAMPLES = 999  # of a trial
PREDICTIONS = 5  # of a document
MORE_REFERENCES = 4.0  # the mean number beyond the first one
LOWEST, WIDTH = 0.2, 0.4  # a document's share of hits is LOWEST + WIDTH · Beta(2, 2)
CORPORA, SYSTEMS, FAMILY = 12, 5, 10  # of a ranking; tests that are corrected together
FEW_CORPORA, OF_SYSTEMS = (3, 4, 5, 8), (2, 3, 7)  # of rankings over few corpora


# ---------------------------------------------------------------------------------------------- systems


FINISHES: Mapping[str, Callable[[Floats], Floats]] = {"mean of F1": mean, "F1 of means": f_of_means}


def samples(hits: NDArray[np.int64], references: NDArray[np.int64]) -> dict[str, Sample]:
    """A system's two statistics, from its hits and the references of each document."""
    ones = np.ones(len(hits))
    f, p, r = 2 * hits / (PREDICTIONS + references), hits / PREDICTIONS, hits / references
    rows = {"mean of F1": np.column_stack([f, ones]), "F1 of means": np.column_stack([p, r, ones])}
    return {name: Sample(values, FINISHES[name]) for name, values in rows.items()}


@dataclass(frozen=True, slots=True)
class Trial:
    """Two simulated systems on the same documents."""

    a: dict[str, Sample]
    b: dict[str, Sample]
    hits: tuple[NDArray[np.bool_], NDArray[np.bool_]]  # of phrases


def made_trial(generator: np.random.Generator, documents: int, gain: float = 0.0) -> Trial:
    """Two systems, the first of which hits more often by the gain."""
    references = 1 + generator.poisson(MORE_REFERENCES, documents)
    most = np.minimum(references, PREDICTIONS)
    share = LOWEST + WIDTH * generator.beta(2, 2, documents)
    a, b = generator.binomial(most, share + gain), generator.binomial(most, share)
    easy = np.repeat(share, PREDICTIONS)
    hits = generator.random(len(easy)) < easy + gain, generator.random(len(easy)) < easy
    return Trial(samples(a, references), samples(b, references), hits)


@cache
def truth() -> dict[str, float]:
    """What the statistics of a system without gain are on infinitely many documents."""
    shares = _expected(lambda m: [2 * min(m, PREDICTIONS) / (PREDICTIONS + m), min(m, PREDICTIONS), min(m, 5) / m])
    f, p, r = (LOWEST + WIDTH / 2) * shares / [1, PREDICTIONS, 1]
    return {"mean of F1": float(f), "F1 of means": float(2 * p * r / (p + r))}


def _expected(values: Callable[[int], Sequence[float]]) -> Floats:
    """The mean of some values of the number of references."""
    total, chance = np.zeros(1), exp(-MORE_REFERENCES)
    for m in range(1, 100):
        total = total + chance * np.array(values(m))
        chance *= MORE_REFERENCES / m
    return total


# ---------------------------------------------------------------------------------------------- trials


def p_values(trial: Trial, seed: int) -> dict[str, float]:
    """The p of every test of a trial."""
    a, b = trial.a["mean of F1"].each(), trial.b["mean of F1"].each()
    hits = mcnemar(*trial.hits)
    found = {"paired t": paired_t(a, b).p, "Wilcoxon": wilcoxon(a, b).p}
    found |= {"McNemar, exact": hits.exact, "McNemar, mid-p": hits.mid_p}
    swapped = randomisations([(trial.a[name], trial.b[name]) for name in FINISHES], RESAMPLES, seed)
    return {f"randomisation, {name}": one.p for name, one in zip(FINISHES, swapped, strict=True)} | found


def bootstrapped(trial: Trial, seed: int) -> tuple[dict[str, float], dict[str, bool]]:
    """(the p of every test by bootstrap, whether every interval holds the true value) of a trial without gain."""
    p, holds, true = {}, {}, truth()
    each = estimate([system[name] for name in FINISHES for system in (trial.a, trial.b)], RESAMPLES, seed)
    for name, a, b in zip(FINISHES, each[::2], each[1::2], strict=True):
        apart = difference(a, b)
        p[f"bootstrap, {name}"] = shift(apart).p
        for of, found, value in ((name, a, true[name]), (f"difference of {name}", apart, 0.0)):
            for method in METHODS:
                low, high = interval_of(found, LEVEL, method)
                holds[f"{method}, {of}"] = low <= value <= high
    return p, holds


def simulated(trials: int, documents: int, seed: int, gain: float = 0.0) -> tuple[Counter[str], Counter[str]]:
    """(in how many trials each test rejects, in how many each interval holds the true value of no gain)."""
    rejected, held = Counter[str](), Counter[str]()
    for number, generator in _generators(trials, documents, seed):
        trial = made_trial(generator, documents, gain)
        p, holds = bootstrapped(trial, number)
        rejected.update({name: one <= ALPHA + 1e-12 for name, one in (p_values(trial, number) | p).items()})
        held.update(holds)
    return rejected, held


def simulated_families(trials: int, seed: int) -> Counter[str]:
    """In how many trials the tests that are not of two systems reject at least once, nothing being different."""
    rejected = Counter[str]()
    critical = critical_difference(SYSTEMS, CORPORA, ALPHA)
    for _, generator in _generators(trials, 0, seed):
        found = friedman(generator.normal(size=(CORPORA, SYSTEMS)))
        # As many normal differences as tests of a family: none of them is one.
        p = [paired_t(generator.normal(size=20), np.zeros(20)).p for _ in range(FAMILY)]
        rejected["Friedman, chi²"] += found.p <= ALPHA
        rejected["Friedman, F"] += found.f_p <= ALPHA
        rejected["Nemenyi, any pair"] += bool(np.ptp(found.ranks) >= critical)
        rejected["Shapiro-Wilk"] += normality(generator.normal(size=100), np.zeros(100)).normal is False
        rejected.update(
            {f"any of {FAMILY} tests, {name}": min(adjust(p)) <= ALPHA for name, adjust in CORRECTIONS.items()}
        )
    return rejected


def simulated_ranks(trials: int, corpora: int, systems: int, seed: int) -> Counter[str]:
    """In how many trials the tests of ranks reject, by theory for many corpora and by permuting ranks."""
    rejected = Counter[str]()
    theory = critical_difference(systems, corpora, ALPHA)
    for _, generator in _generators(trials, corpora, systems, seed):
        found = friedman(generator.normal(size=(corpora, systems)), seed=seed)
        widest = np.ptp(found.ranks)
        rejected["Friedman, chi²"] += found.p <= ALPHA
        rejected["Friedman, F"] += found.f_p <= ALPHA
        rejected["Friedman, permuted"] += found.permutation_p <= ALPHA * (1 + 1e-9)
        rejected["Nemenyi, theory"] += bool(widest >= theory)
        rejected["Nemenyi, permuted"] += bool(widest >= found.critical(ALPHA) - 1e-9)
    return rejected


def _generators(trials: int, *place: int) -> Iterator[tuple[int, np.random.Generator]]:
    """(number, random numbers) of each trial."""
    return ((number, np.random.default_rng([*place, number])) for number in range(trials))


@cache
def spread_of_differences(gain: float) -> tuple[float, float]:
    """(mean, standard deviation) of the differences of F1, on many documents."""
    trial = made_trial(np.random.default_rng(0), 400_000, gain)
    apart = trial.a["mean of F1"].each() - trial.b["mean of F1"].each()
    return gain * float(_expected(lambda m: [2 * min(m, PREDICTIONS) / (PREDICTIONS + m)])[0]), float(apart.std())


# ---------------------------------------------------------------------------------------------- tables


def null_tables(trials: int, seed: int) -> Iterator[str]:
    """How often tests reject and intervals hold, two systems being equally good."""
    found = {documents: simulated(trials, documents, seed) for documents in SIZES}
    head = [f"{documents} documents" for documents in SIZES]
    for title, part in (("rejected at .05, %", 0), ("true value within 95 % interval, %", 1)):
        names = sorted(found[SIZES[0]][part])
        yield table([title, *head], [[n, *(percent(each[part][n], trials) for each in found.values())] for n in names])
    families = simulated_families(trials, seed)
    yield table(["rejected at .05", "%"], [[name, percent(count, trials)] for name, count in families.items()])


def ranks_table(trials: int, seed: int) -> str:
    """How often tests of the ranks of equally good systems over few corpora reject."""
    lines, names = [], list[str]()
    for corpora in FEW_CORPORA:
        for systems in OF_SYSTEMS:
            found = simulated_ranks(trials, corpora, systems, seed)
            names = list(found)
            lines.append([f"{corpora} corpora, {systems} systems", *(percent(found[name], trials) for name in names)])
    return table(["rejected at .05, %", *names], lines)


def power_table(trials: int, seed: int, documents: int = 100) -> str:
    """How often tests find a difference, beside what the normal approximation says."""
    one = spread_of_differences(1e-9)[0] / 1e-9  # the difference of F1 that a gain of 1 makes
    lines = []
    for share in (0.5, 1.0, 1.5):
        gain = share * detectable(spread_of_differences(0.0)[1], documents) / one
        apart, sd = spread_of_differences(gain)
        rejected, _ = simulated(trials, documents, seed, gain)
        shown = [percent(rejected[name], trials) for name in POWERS]
        lines.append([f"{apart:.4f}", percent(power_of(sd, apart, documents), 1), *shown])
    return table(["difference of F1", "normal", *POWERS], lines)


POWERS = ("randomisation, mean of F1", "bootstrap, mean of F1", "paired t", "Wilcoxon")


# ---------------------------------------------------------------------------------------------- seconds and memory


def pair(documents: int, name: str) -> tuple[Sample, Sample]:
    """Two systems to be compared."""
    trial = made_trial(np.random.default_rng(0), documents)
    return trial.a[name], trial.b[name]


WORK: Mapping[str, Callable[[tuple[Sample, Sample], int], object]] = {
    "randomisation": lambda two, count: randomisation(*two, count),
    "bootstrap": lambda two, count: shift(difference(*estimate(two, count))),
    "BCa interval": lambda two, count: interval_of(difference(*estimate(two, count))),
    "randomisation of 20 pairs": lambda two, count: randomisations([two] * 20, count),
    "bootstrap of 40 samples": lambda two, count: estimate(two * 20, count),
}


def stages(documents: int, resamples: int) -> list[Stage]:
    """What is timed, each in a process of its own."""
    setup = "from benchmarks.statistics import WORK, pair; two = pair(int(sys.argv[1]), sys.argv[3])"
    given = str(documents), str(resamples)
    return [
        Stage(f"{what}, {name}", "WORK[sys.argv[4]](two, int(sys.argv[2]))", setup, (*given, name, what))
        for what in WORK
        for name in FINISHES
        if name == "F1 of means" or what in ("randomisation", "bootstrap")
    ]


def main(given: Sequence[str] | None = None) -> None:
    """Nothing; prints the tables."""
    parser = argparse.ArgumentParser("python -m benchmarks.statistics", description="Seconds, memory and errors.")
    parser.add_argument("--documents", type=int, default=20_000, help="documents that are resampled (20000)")
    parser.add_argument("--resamples", type=int, default=10_000, help="how often (10000)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each, of which the best (3)")
    parser.add_argument("--null", action="store_true", help="errors on simulated systems instead of seconds")
    parser.add_argument("--seeds", action="store_true", help="errors on systems with several seeds instead of seconds")
    parser.add_argument("--trials", type=int, help="simulations of each kind (10000, with --seeds 4000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the simulations (0)")
    asked = parser.parse_args(given)
    if asked.seeds:
        for part in seed_tables(asked.trials or 4_000, asked.seed):
            print(part, flush=True)
        return
    if asked.null:
        trials = asked.trials or 10_000
        print(f"{trials:,} trials, {RESAMPLES} resamples each, seed {asked.seed}")
        for part in null_tables(trials, asked.seed):
            print(f"\n{part}", flush=True)
        print(f"\n{ranks_table(trials, asked.seed)}", flush=True)
        print(f"\nfound at .05 on 100 documents, %\n{power_table(trials, asked.seed)}")
        return
    planned = stages(asked.documents, asked.resamples)
    lines = [
        [stage.name, f"{took.seconds:.3f}", f"{took.peak / 1e6:.0f}"]
        for stage, took in zip(planned, measure(planned, asked.repeat), strict=True)
    ]
    print(f"{asked.resamples:,} resamples of {asked.documents:,} documents, one core\n")
    print(table(["test", "seconds", "peak MB"], lines))


if __name__ == "__main__":
    main()
