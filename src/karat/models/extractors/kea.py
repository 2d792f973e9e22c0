"""Kea: which candidates are keyphrases, learned from documents whose keyphrases are known.

Witten, Paynter, Frank, Gutwin and Nevill-Manning, "KEA: Practical Automatic Keyphrase Extraction", DL 1999. Two
features tell candidates apart: how frequent they are in the document and how rare in others (tf·idf), and how early
they come (position). Each is cut into ranges by the rule of Fayyad and Irani, "Multi-interval discretization of
continuous-valued attributes for classification learning", IJCAI 1993; naive Bayes weighs the ranges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isfinite, log2
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from karat.corpus import Document, Prediction, Reference
from karat.errors import InputError, counted
from karat.formats.base import brief
from karat.formats.checksums import checksum_json, verify_json
from karat.formats.files import read_whole
from karat.formats.load import Count, decoded_json
from karat.models.base import CommonOptions, Predict, model
from karat.models.extractors.candidates import Candidates, Text, gathered, text_of
from karat.models.extractors.choose import chosen
from karat.models.extractors.pke import notes_on_stop_words
from karat.models.train import Learned, trainer
from karat.text.languages import named

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

FORMAT = "karat kea 1"
FEATURES = ("tfidf", "position")


class Ranges(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The ranges of a feature, (−∞, cuts[0]], (cuts[0], cuts[1]], ..., with how many candidates are in each."""

    cuts: list[float]
    keyphrases: list[Count]
    others: list[Count]

    def __post_init__(self) -> None:
        if not len(self.keyphrases) == len(self.others) == len(self.cuts) + 1:
            raise ValueError("there is one range more than there are cuts, and two counts for each")
        if not all(map(isfinite, self.cuts)) or any(low >= high for low, high in pairwise(self.cuts)):
            raise ValueError("cuts are numbers that rise")

    def odds(self, values: Floats) -> Floats:
        """How many times as likely each value is of a keyphrase as of another candidate; counts are one more."""
        yes, no = (np.array(counts, dtype=float) + 1 for counts in (self.keyphrases, self.others))
        return np.asarray(((yes / yes.sum()) / (no / no.sum()))[np.searchsorted(self.cuts, values, side="left")])


class Kea(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was learned; as JSON it is the file of a trained model."""

    format: str
    language: str
    longest: Count  # words of a candidate
    documents: Count
    frequencies: dict[str, Count]  # in how many documents a candidate is, by its joined stems
    ranges: dict[str, Ranges]  # by feature

    def __post_init__(self) -> None:
        if self.format != FORMAT:
            raise ValueError(f"the format is {brief(self.format, 40)!r}, not {FORMAT!r}")
        if set(self.ranges) != set(FEATURES):
            raise ValueError(f"ranges are those of {' and '.join(FEATURES)}")
        if self.documents < 1 or self.longest < 1 or min(self.frequencies.values(), default=1) < 1:
            raise ValueError("documents, longest and frequencies are 1 or more")

    def probabilities(self, features: dict[str, Floats]) -> Floats:
        """How likely each candidate is a keyphrase: naive Bayes, each count one more than was seen."""
        seen = self.ranges[FEATURES[0]]
        odds = np.full(len(features[FEATURES[0]]), (sum(seen.keyphrases) + 1) / (sum(seen.others) + 1))
        for name in FEATURES:
            odds *= self.ranges[name].odds(features[name])
        return np.asarray(odds / (1 + odds))


# ------------------------------------------------------------------------------------------------------- predict


@model("kea", needs=("training",), notes=notes_on_stop_words)
def kea(common: CommonOptions, *, model: str = "") -> Predict:
    """Candidates that resemble the keyphrases of other documents in frequency and place (Witten 1999).

    `model` is a file that `karat train kea CORPUS -o FILE` wrote. A score is the probability that a candidate is a
    keyphrase; equally likely ones are ranked by tf·idf. Kea itself leaves out what is inside a better phrase: ask for
    that with redundancy.
    """
    if not model:
        raise InputError("kea needs a trained model: karat train kea CORPUS -o FILE makes one; write kea,model=FILE")
    learned = read_kea(model)
    if common.guessed:
        common = replace(common, language=learned.language)
    if named(common.language) != learned.language:
        raise InputError(
            f"{model}: was trained on {learned.language} documents; "
            f"ask for {learned.language} (--language), not {named(common.language)}"
        )

    def predict(documents: Sequence[Document]) -> Iterator[Prediction]:
        for document in documents:
            found = candidates(text_of(document, common, tagged=False), learned.longest)
            features = _features(found, _rarity(learned, others=1), common.title_weight)
            likely = learned.probabilities(features)
            order = np.lexsort((-features["tfidf"], -likely)).tolist()
            ranked = ((found.surface(at), found.forms[at], float(likely[at])) for at in order)
            best = chosen(ranked, common)
            yield Prediction(
                id=document.id, keyphrases=[phrase for phrase, _ in best], scores=[score for _, score in best]
            )

    return predict


def read_kea(path: str) -> Kea:
    """The trained model in a file."""
    content, _ = verify_json(read_whole(path), path)
    found: Kea = decoded_json(
        content, Kea, path, "no trained model of kea", "karat train kea CORPUS -o FILE writes one"
    )
    return found


# ---------------------------------------------------------------------------------------------------- candidates


def candidates(text: Text, longest: int) -> Candidates:
    """All sequences of 1 to so many words of a sentence that no stop word begins or ends, and no mark interrupts.

    >>> from karat.models.base import CommonOptions
    >>> candidates(text_of(Document(text="The quality of service, in nets."), CommonOptions(), tagged=False), 3).forms
    ['qualiti', 'qualiti of servic', 'servic', 'net']
    """
    words, flags = text.words, text.flags
    spans = []
    for begin, end in text.spans():
        for start in range(begin, end):
            if not flags[start]:
                continue
            for at in range(start, min(start + longest, end)):
                if not flags[at]:
                    if not words[at].isalpha():
                        break
                elif at > start or flags[at] == 2:
                    spans.append((start, at + 1))
    return gathered(text, spans)


def _features(found: Candidates, rarity: Callable[[str], float], title_weight: float = 1.0) -> dict[str, Floats]:
    """{tfidf: share of the document's words times rarity; position: share of the words before the first place}."""
    words = max(len(found.text.words), 1)
    counts = found.counts(title_weight)
    rare = [count / words * rarity(form) for form, count in zip(found.forms, counts, strict=True)]
    early = [starts[0] / words for starts in found.starts]
    return {"tfidf": np.array(rare, dtype=float), "position": np.array(early, dtype=float)}


def _rarity(learned: Kea, others: int) -> Callable[[str], float]:
    """The inverse document frequency, −log2(df / N); a document that was not counted adds one to both."""
    total, counts = learned.documents + others, learned.frequencies
    return lambda form: -log2((counts.get(form, 0) + others) / total)


# --------------------------------------------------------------------------------------------------------- train


@trainer("kea")
def learn(documents: Iterable[Document], language: str, *, longest: int = 3) -> Learned:
    """Which frequencies and places the keyphrases of documents have, among all candidates.

    `longest` is the number of words of a candidate.
    """
    if longest < 1:
        raise InputError(f"longest of kea is at least 1, not {longest}")
    common = CommonOptions(language=language)
    held: list[Candidates] = []
    references: list[list[set[str]]] = []
    left = 0
    for document in documents:
        if document.keyphrases:
            held.append(candidates(text_of(document, common, tagged=False), longest))
            references.append([forms for each in document.keyphrases if (forms := _forms(each, common))])
        else:
            left += 1
    if not held:
        raise InputError("kea learns from references, and no document has any")
    notes = [_present(held, references)]
    if left:
        notes.append(f"left out: {counted(left, 'document')} without references")
    known = fitted(held, [set().union(*each) for each in references], language, longest)
    return Learned(checksum_json(msgspec.json.encode(known) + b"\n"), len(held), tuple(_rows(known)), tuple(notes))


def fitted(held: Sequence[Candidates], keyphrases: Sequence[set[str]], language: str, longest: int) -> Kea:
    """The model of the candidates of documents and the joined stems of their keyphrases."""
    frequencies = Counter(form for found in held for form in found.forms)
    nothing = {name: Ranges([], [0], [0]) for name in FEATURES}
    counted = Kea(FORMAT, language, longest, len(held), dict(frequencies), nothing)
    # Documents of the training are counted already, so that they add nothing.
    columns = [_features(found, _rarity(counted, others=0)) for found in held]
    right = [form in references for found, references in zip(held, keyphrases, strict=True) for form in found.forms]
    if not any(right):
        raise InputError("kea learns from references that stand in their documents, and none does")
    values = {name: np.concatenate([column[name] for column in columns]) for name in FEATURES}
    ranges = {name: ranges_of(values[name], np.array(right)) for name in FEATURES}
    return msgspec.structs.replace(counted, ranges=ranges)


def _forms(reference: Reference, common: CommonOptions) -> set[str]:
    """The joined stems of a reference's variants."""
    variants = reference if isinstance(reference, list) else [reference]
    texts = [text_of(Document(text=each), common, tagged=False) for each in variants if each]
    return {" ".join(text.stems) for text in texts}


def _present(held: Sequence[Candidates], references: Sequence[Sequence[set[str]]]) -> str:
    """How many references are among the candidates, in a sentence: the most that can be found."""
    total = sum(map(len, references))
    there = sum(
        not forms.isdisjoint(found.forms) for found, each in zip(held, references, strict=True) for forms in each
    )
    count = sum(map(len, held))
    return (
        f"{there:,} of {counted(total, 'reference')} ({there / max(total, 1):.1%}) are among the {count:,} candidates"
    )


def _rows(known: Kea) -> Iterator[dict[str, Any]]:
    """The ranges of each feature: from, to, how many keyphrases and others, and the odds."""
    for name in FEATURES:
        ranges = known.ranges[name]
        bounds = [None, *ranges.cuts, None]
        odds = ranges.odds(np.array([*ranges.cuts, np.inf]))
        for at, (low, high) in enumerate(pairwise(bounds)):
            yield {
                "feature": name,
                "above": low,
                "up to": high,
                "keyphrases": ranges.keyphrases[at],
                "others": ranges.others[at],
                "odds": float(odds[at]),
            }


# -------------------------------------------------------------------------------------------------------- ranges


def ranges_of(values: Floats, right: Bools) -> Ranges:
    """The ranges into which the values fall, with how many right and wrong ones are in each.

    >>> ranges_of(np.array([1.0, 2.0, 3.0, 4.0]), np.array([False, False, True, True]))
    Ranges(cuts=[2.5], keyphrases=[0, 2], others=[2, 0])
    """
    cuts = cut_points(values, right)
    places = np.searchsorted(cuts, values, side="left")
    counts = [np.bincount(places[which], minlength=len(cuts) + 1).tolist() for which in (right, ~right)]
    return Ranges(cuts, *counts)


def cut_points(values: Floats, right: Bools) -> list[float]:
    """Where values are cut so that right and wrong ones are parted: each cut must be worth its description.

    A set of values is cut where the entropy of the parts is least, half way between two values, if the gain is above
    (log2(n − 1) + Δ) / n with Δ = log2(3^k − 2) − (k·H − k1·H1 − k2·H2), and then its parts likewise. H is the entropy
    of right and wrong, k how many of the two there are.
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    before = np.concatenate([[0], np.cumsum(right[order])])  # right ones before each place
    found: list[float] = []
    waiting = [(0, len(ordered))]
    while waiting:
        begin, end = waiting.pop()
        cut = _best_cut(ordered, before, begin, end)
        if cut is not None:
            found.append(float(ordered[cut - 1] + ordered[cut]) / 2)
            waiting += [(begin, cut), (cut, end)]
    return sorted(found)


def _best_cut(ordered: Floats, before: NDArray[np.int64], begin: int, end: int) -> int | None:
    """The place that parts these values best, None where no place is worth it."""
    places = begin + 1 + np.flatnonzero(np.diff(ordered[begin:end]) > 0)
    if not len(places):
        return None
    count = end - begin
    left, right = places - begin, end - places
    left_entropy, left_kinds = _entropy(before[places] - before[begin], left)
    right_entropy, right_kinds = _entropy(before[end] - before[places], right)
    [whole], [kinds] = _entropy(before[[end]] - before[begin], np.array([count]))
    parts = (left * left_entropy + right * right_entropy) / count
    best = int(parts.argmin())
    saved = kinds * whole - left_kinds[best] * left_entropy[best] - right_kinds[best] * right_entropy[best]
    price = (log2(count - 1) + log2(3 ** int(kinds) - 2) - saved) / count
    return int(places[best]) if whole - parts[best] > price else None


def _entropy(right: NDArray[np.int64], total: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int64]]:
    """(the entropy of right and wrong in sets of so many values, how many of the two kinds there are)."""
    shares = np.stack([right / total, 1 - right / total])
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return -(shares * logs).sum(axis=0), np.where((right > 0) & (right < total), 2, 1)
