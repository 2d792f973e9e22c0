"""Documents a second of karat's YAKE and of the package yake, and how many of their lists are equal.

    python -m benchmarks.yake CORPUS [--language en] [--documents 500] [-n 20] [--repeat 3]

The package is compared with if it is installed. Both get the same texts, one document at a time, on one process; the
best of the repeated rounds counts. Lists are equal if phrases, order and scores (to 1e-9) are.
"""

import argparse
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from time import perf_counter
from typing import Any

import karat
from karat.corpus import Document
from karat.models.base import CommonOptions
from karat.models.extractors.yake import yake

Pairs = list[tuple[str, float]]
Extract = Callable[[str], Pairs]


def of_karat(language: str, n: int) -> Extract:
    predict: Any = yake(CommonOptions(n=n, language=language), raw=True)

    def extract(text: str) -> Pairs:
        [found] = predict([Document(text=text)])
        return list(zip(found.keyphrases, found.scores, strict=True))

    return extract


def of_package(language: str, n: int) -> Extract:
    extractor = import_module("yake").KeywordExtractor(lan=language, top=n)
    return lambda text: [(phrase, float(score)) for phrase, score in extractor.extract_keywords(text)]


def timed(extract: Extract, texts: Sequence[str], repeat: int) -> tuple[list[Pairs], float]:
    """(the lists, documents a second of the quickest round)."""
    best = float("inf")
    for _ in range(repeat):
        start = perf_counter()
        found = [extract(text) for text in texts]
        best = min(best, perf_counter() - start)
    return found, len(texts) / best


def is_equal(one: Pairs, other: Pairs) -> bool:
    return [phrase for phrase, _ in one] == [phrase for phrase, _ in other] and all(
        abs(mine - theirs) <= 1e-9 for (_, mine), (_, theirs) in zip(one, other, strict=True)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--language", default="en")
    parser.add_argument("--documents", type=int, default=500)
    parser.add_argument("-n", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    documents = islice(karat.read(given.corpus), given.documents)
    texts = [". ".join(filter(None, [document.title, document.text])) for document in documents]
    ours, speed = timed(of_karat(given.language, given.n), texts, given.repeat)
    print(f"karat    {speed:8.0f} documents/s  ({len(texts):,} documents, {sum(map(len, ours)):,} phrases)")
    if find_spec("yake") is None:
        print("the package yake is not installed: nothing to compare with")
        return
    theirs, peer = timed(of_package(given.language, given.n), texts, given.repeat)
    equal = sum(map(is_equal, ours, theirs))
    print(f"package  {peer:8.0f} documents/s  (karat is {speed / peer:.1f} times as quick)")
    print(f"equal    {equal:8,} of {len(texts):,} lists")


if __name__ == "__main__":
    main()
