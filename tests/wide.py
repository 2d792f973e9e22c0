"""Makes `golden/human.wide.csv`: near misses that four annotators score, as a wide table. `python -m tests.wide`.

There are no people behind it. A document has a few phrases of two to five words, made of lists of adjectives and nouns,
some with `of` or `and`. Of each a part is taken, words in a row, and one of the two is the prediction, the other the
reference: so every pair is `include` or `part-of`, as the pairs of Kim and others (2010).

How near the two are is 4 times the weight of the shared words over the weight of all, with the weights of TRUE: the
head counts most, the word before it less, the first word somewhat more than its place says. Each annotator gives that
plus an own bias and normal noise of an own size, rounded to a whole number from 0 to 4; one cell in twenty is empty.
"""

from __future__ import annotations

import csv
import io
import random
import sys
from collections.abc import Iterator, Sequence

from karat.similarity.classes import classify
from karat.similarity.placed import Weights

TRUE = Weights((1.0, 0.6, 0.4, 0.3), first=1.4)
ANNOTATORS = {"ana": (0.0, 0.7), "ben": (-0.3, 0.9), "cem": (0.2, 0.6), "dot": (0.1, 1.1)}  # bias, and size of noise
ADJECTIVES = ("effective", "distributed", "mobile", "adaptive", "semantic", "dynamic", "neural", "visual")
NOUNS = ("grid", "sensor", "agent", "web", "data", "image", "market", "speech", "graph", "query", "traffic", "library")
HEADS = ("algorithm", "network", "system", "model", "analysis", "service", "detection", "protocol", "index", "policy")
SHAPES = ("A H", "N H", "A N H", "N N H", "A N N H", "A A N N H", "H of N H", "A H of N H", "N and N H")
LISTS = {"A": ADJECTIVES, "N": NOUNS, "H": HEADS}
PARTICLES = ("of", "and")

Pair = tuple[str, str, str]  # document, prediction, reference


def phrase(random_: random.Random) -> list[str]:
    """A phrase in which no word is twice."""
    words: list[str] = []
    for slot in random_.choice(SHAPES).split():
        known = LISTS.get(slot)
        words.append(slot if known is None else random_.choice([word for word in known if word not in words]))
    return words


def part(random_: random.Random, words: Sequence[str]) -> list[str]:
    """Some of the words, in a row, which neither begin nor end with a particle."""
    spans = [(i, j) for i in range(len(words)) for j in range(i + 1, len(words) + 1) if j - i < len(words)]
    whole = [(i, j) for i, j in spans if words[i] not in PARTICLES and words[j - 1] not in PARTICLES]
    start, end = random_.choice(whole)
    return list(words[start:end])


def nearness(shorter: Sequence[str], longer: Sequence[str]) -> float:
    """The share of the longer phrase that the shorter one has, by the weights of TRUE."""
    weights = TRUE.of(len(longer))
    return sum(w for w, word in zip(weights, reversed(longer), strict=True) if word in shorter) / sum(weights)


def rows(pairs: int, seed: int = 2010) -> Iterator[tuple[Pair, float, list[int | None]]]:
    """(a pair, how near it is from 0 to 1, what each annotator gives), for pairs that are all different."""
    random_ = random.Random(seed)
    known: set[tuple[str, ...]] = set()
    while len(known) < pairs:
        longer = phrase(random_)
        shorter = part(random_, longer)
        turned, document = random_.random() < 0.5, f"d{len(known) // 6 + 1:03}"
        prediction, reference = (longer, shorter) if turned else (shorter, longer)
        pair = document, " ".join(prediction), " ".join(reference)
        if pair[1:] in known:
            continue
        known.add(pair[1:])
        near = nearness(shorter, longer)
        yield pair, near, [score(random_, near, *own) for own in ANNOTATORS.values()]


def score(random_: random.Random, near: float, bias: float, noise: float) -> int | None:
    """What an annotator gives to a pair; None where nothing."""
    given = min(max(round(4 * near + bias + random_.gauss(0, noise)), 0), 4)
    return None if random_.random() < 0.05 else given


def table(pairs: int = 240, seed: int = 2010) -> str:
    """The wide table, with the columns that `karat nearmiss --all-pairs` writes and those of the annotators."""
    made = list(rows(pairs, seed))
    classes = classify([pair[1:] for pair, _, _ in made])
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    kinds = ("relation", "location", "direction", "complexity", "words")
    writer.writerow(["id", "prediction", "reference", *kinds, *ANNOTATORS])
    for (pair, _, scores), own in zip(made, classes, strict=True):
        writer.writerow([*pair, *(getattr(own, kind) for kind in kinds), *("" if s is None else s for s in scores)])
    return text.getvalue()


if __name__ == "__main__":
    sys.stdout.write(table(int(sys.argv[1]) if len(sys.argv) > 1 else 240))
