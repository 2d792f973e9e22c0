"""How far KMR agrees with pyter, whose TER it is, and with sacrebleu's TER, on random pairs of phrases.

    python -m benchmarks.kmr [--pairs 100000] [--words 10] [--longest 6] [--seed 0]

Phrases have 1 to 6 words out of 10. Both get phrases padded to one length, as KMR wants it, with a pad that comes
before all words. sacrebleu moves no block that stands in its place already, and chooses otherwise among equally good
moves, so that now and then it needs an edit more or fewer.
"""

import argparse
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from karat.similarity import Words, find

PAD = "\0"
Pair = tuple[Words, Words]


def made_pairs(count: int, words: int, longest: int, seed: int) -> list[Pair]:
    """Pairs of random phrases."""
    chance, known = random.Random(seed), [f"w{i:03d}" for i in range(words)]

    def phrase() -> Words:
        return tuple(chance.choices(known, k=chance.randint(1, longest)))

    return [(phrase(), phrase()) for _ in range(count)]


def padded(pair: Pair) -> tuple[list[str], list[str]]:
    """Both phrases, of one length."""
    length = max(map(len, pair))
    prediction, reference = ([*words, *[PAD] * (length - len(words))] for words in pair)
    return prediction, reference


def edits_of_karat(pairs: Sequence[Pair]) -> list[int]:
    """The edits that KMR counts, from its scores."""
    number: dict[Words, int] = {}
    sides = [[number.setdefault(words, len(number)) for words in side] for side in zip(*pairs, strict=True)]
    left, right = np.array(sides, dtype=np.int64)
    scores = find("kmr").scores(list(number), left, right)
    return [round((1 - score) * max(map(len, pair))) for pair, score in zip(pairs, scores.tolist(), strict=True)]


def edits_of_pyter(pair: Pair) -> int:
    import pyter

    prediction, reference = padded(pair)
    return round(float(pyter.ter(prediction, reference)) * len(reference))


def edits_of_sacrebleu(pair: Pair) -> int:
    from sacrebleu.metrics.lib_ter import translation_edit_rate

    return int(translation_edit_rate(*padded(pair))[0])


def agreement(pairs: Iterable[Pair], ours: Iterable[int], count: Callable[[Pair], int], name: str) -> list[str]:
    """Lines that say how many pairs have how many edits more or fewer, with an example of each kind."""
    kinds: Counter[int] = Counter()
    examples: dict[int, Pair] = {}
    for pair, own in zip(pairs, ours, strict=True):
        kind = own - count(pair)
        kinds[kind] += 1
        examples.setdefault(kind, pair)
    found = [f"{name}: {kinds[0]:,} of {kinds.total():,} pairs have the same number of edits"]
    for kind in sorted(set(kinds) - {0}):
        prediction, reference = (" ".join(words) for words in examples[kind])
        found.append(
            f"  {kinds[kind]:,} have {abs(kind)} {'more' if kind > 0 else 'fewer'}: {prediction} / {reference}"
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=10)
    parser.add_argument("--longest", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    pairs = made_pairs(given.pairs, given.words, given.longest, given.seed)
    ours = edits_of_karat(pairs)
    for name, count in (("pyter", edits_of_pyter), ("sacrebleu", edits_of_sacrebleu)):
        print("\n".join(agreement(pairs, ours, count, name)), flush=True)


if __name__ == "__main__":
    main()
