"""Variants of references of a real corpus."""

from pathlib import Path

import karat
from karat.text.variants import with_of_variants


def test_only_references_with_of_get_a_variant_on_semeval(shared: Path) -> None:
    """Of 61 references that hold "of", 45 already have the other order among their variants, or hold it twice."""
    corpus = karat.read(shared / "data" / "semeval.jsonl.gz")
    before = [reference for document in corpus for reference in document.keyphrases or []]
    after = [reference for document in with_of_variants(corpus) for reference in document.keyphrases or []]
    lists = [
        tuple(each if isinstance(each, list) else [each] for each in pair) for pair in zip(before, after, strict=True)
    ]
    with_of = [any(" of " in f" {variant} " for variant in old) for old, _ in lists]
    widened = [len(new) > len(old) for old, new in lists]
    assert (len(lists), sum(with_of), sum(widened)) == (1466, 61, 16)
    assert all(of for of, more in zip(with_of, widened, strict=True) if more)
    added = [variant for old, new in lists for variant in new[len(old) :]]
    assert not [variant for variant in added if " of " in f" {variant} "]
