"""Seconds and peak memory of the comparison of two systems and its parts.

    python -m benchmarks.statistics [--documents 20000] [--resamples 10000] [--repeat 3]

`python -m benchmarks.inference` measures how often tests and intervals are wrong.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from benchmarks.__main__ import Stage, measure
from benchmarks.tables import table
from karat.metrics.base import f_of_means, mean
from karat.stats.base import Floats
from karat.stats.difference import Contestants, Inference, adjust_families, compare_pairs
from karat.stats.influence import contrast, jackknife
from karat.stats.resampling import Sample, estimate, interval_of
from karat.stats.tests import randomisation, randomisations

PREDICTIONS = 5  # of a document
MORE_REFERENCES = 4.0  # the mean number beyond the first one
LOWEST, WIDTH = 0.2, 0.4  # a document's share of hits is LOWEST + WIDTH · Beta(2, 2)
FINISHES: Mapping[str, Callable[[Floats], Floats]] = {"mean of F1": mean, "F1 of means": f_of_means}


def simulated_pair(generator: np.random.Generator, documents: int, name: str, gain: float = 0.0) -> list[Sample]:
    """Return two systems, the first of which hits more often by the gain."""
    references = 1 + generator.poisson(MORE_REFERENCES, documents)
    most = np.minimum(references, PREDICTIONS)
    share = LOWEST + WIDTH * generator.beta(2, 2, documents)
    hits = [generator.binomial(most, share + gain), generator.binomial(most, share)]
    ones = np.ones(documents)
    if name == "mean of F1":
        rows = [np.column_stack([2 * each / (PREDICTIONS + references), ones]) for each in hits]
    else:
        rows = [np.column_stack([each / PREDICTIONS, each / references, ones]) for each in hits]
    return [Sample(values, FINISHES[name]) for values in rows]


def compare(pair: Sequence[Sample], resamples: int, pairs: int = 1) -> object:
    """Compare two systems as `karat compare` does, as often as a family has pairs."""
    how = Inference(resamples=resamples)
    differences = compare_pairs([Contestants([pair[0]], [pair[1]])] * pairs, how)
    return adjust_families(differences, [0] * pairs, how)


WORK: Mapping[str, Callable[[Sequence[Sample], int], object]] = {
    "jackknife t": lambda pair, _: contrast(jackknife(pair[0]), jackknife(pair[1])).p(),
    "randomisation": lambda pair, count: randomisation(pair[0], pair[1], count),
    "comparison": compare,
    "BCa interval": lambda pair, count: interval_of(estimate(pair[:1], count)[0]),
    "randomisation of 20 pairs": lambda pair, count: randomisations([(pair[0], pair[1])] * 20, count),
    "comparison of 20 pairs": lambda pair, count: compare(pair, count, 20),
    "bootstrap of 40 samples": lambda pair, count: estimate([*pair] * 20, count),
}


def stages(documents: int, resamples: int) -> list[Stage]:
    """Return what is timed, each in its process."""
    setup = (
        "import numpy as np; from benchmarks.statistics import WORK, simulated_pair; "
        "pair = simulated_pair(np.random.default_rng(0), int(sys.argv[1]), sys.argv[3])"
    )
    sizes = str(documents), str(resamples)
    return [
        Stage(f"{what}, {name}", "WORK[sys.argv[4]](pair, int(sys.argv[2]))", setup, (*sizes, name, what))
        for what in WORK
        for name in FINISHES
        if name == "F1 of means" or what in ("randomisation", "comparison")
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser("python -m benchmarks.statistics", description="Seconds and peak memory.")
    parser.add_argument("--documents", type=int, default=20_000, help="documents that are resampled (20000)")
    parser.add_argument("--resamples", type=int, default=10_000, help="resamples (10000)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each, of which the best (3)")
    options = parser.parse_args(arguments)
    planned = stages(options.documents, options.resamples)
    lines = [
        [stage.name, f"{took.seconds:.3f}", f"{took.peak / 1e6:.0f}"]
        for stage, took in zip(planned, measure(planned, options.repeat), strict=True)
    ]
    print(f"{options.resamples:,} resamples of {options.documents:,} documents, one core\n")
    print(table(["work", "seconds", "peak MB"], lines))


if __name__ == "__main__":
    main()
