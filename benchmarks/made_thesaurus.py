"""A made SKOS thesaurus of any size: labels in two languages, a hierarchy, and labels that concepts share.

    python -m benchmarks.made_thesaurus FILE.ttl [--concepts 5000] [--seed 0] [--corpus CORPUS.jsonl]

Its English labels are phrases as `benchmarks.made_corpus` makes them, or the most frequent references of a corpus, so
that phrases of that corpus are concepts. The same arguments give the same bytes.
"""

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.made_corpus import _Author, _other_number
from karat.formats.vocabulary import write_vocabulary
from karat.vocabulary import Concept, Label, Vocabulary

BASE = "http://example.org/thesaurus/"
SHARED = 0.01  # of the concepts, those that have an alternative label of another
TOPS = 12  # concepts without a broader one
SEVERAL = 0.05  # of the others, those that have two broader ones


def phrases_of(corpus: Path, count: int) -> list[str]:
    """The most frequent references of a corpus in karat's own format, in lower case, each once."""
    counts: Counter[str] = Counter()
    with corpus.open(encoding="utf-8") as file:
        for line in file:
            counts.update(phrase.lower() for phrase in json.loads(line)["keyphrases"])
    return sorted(counts, key=lambda phrase: (-counts[phrase], phrase))[:count]


def made_phrases(count: int, seed: int) -> list[str]:
    """As many different phrases."""
    author, found = _Author(seed), dict[str, None]()
    while len(found) < count:
        found[author._phrase().lower()] = None
    return list(found)


def concepts(phrases: list[str], seed: int) -> Iterator[Concept]:
    """A concept for each phrase, below others that come before it."""
    chance = random.Random(seed)
    for n, phrase in enumerate(phrases):
        labels = [Label(phrase, "de", "alternative")] if chance.random() < 0.1 else []
        labels += [Label(phrase, "en"), Label(german(phrase), "de")]
        initials = "".join(word[0] for word in phrase.split()).upper()
        if len(initials) > 2:
            labels.append(Label(f"{initials}{n}", "en", "alternative"))
        if chance.random() < 0.5:
            labels.append(Label(_other_number(phrase), "en", "alternative"))
        if chance.random() < 0.2:
            labels.append(Label(phrase.replace(" ", ""), "en", "hidden"))
        if n and chance.random() < SHARED:
            labels.append(Label(phrases[chance.randrange(n)], "en", "alternative"))
        broader = {chance.randrange(max(1, n // 3)) for _ in range(1 + (chance.random() < SEVERAL))}
        above = tuple(sorted(f"{BASE}{up:06d}" for up in broader)) if n >= TOPS else ()
        yield Concept(f"{BASE}{n:06d}", tuple(_ordered(labels)), above, f"{n % TOPS:02d}.{n}")


def _ordered(labels: list[Label]) -> list[Label]:
    kinds = ("preferred", "alternative", "hidden")
    return sorted(dict.fromkeys(labels), key=lambda each: (kinds.index(each.kind), each.language, each.text))


def german(phrase: str) -> str:
    """What might be the phrase in another language.

    >>> german("neural network")
    'Neuralnetworkung'
    """
    return f"{''.join(phrase.split())}ung".capitalize()


def made_thesaurus(count: int, seed: int = 0, corpus: Path | None = None) -> Vocabulary:
    """A vocabulary of that many concepts, fewer where a corpus has not so many references."""
    phrases = made_phrases(count, seed) if corpus is None else phrases_of(corpus, count)
    return Vocabulary.of(concepts(phrases, seed), "thesaurus")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--concepts", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--corpus", type=Path)
    given = parser.parse_args()
    made = made_thesaurus(given.concepts, given.seed, given.corpus)
    write_vocabulary(made, given.file)
    print(f"concepts: {len(made)}\nlabels: {sum(made.languages.values())}\nhash: {made.hash}")


if __name__ == "__main__":
    main()
