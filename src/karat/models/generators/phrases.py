"""What a generator wrote, as phrases of a run: text again, with score, probabilities and kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import exp

from karat.corpus import Document, Prediction
from karat.models.generators.decoding import Written
from karat.models.generators.words import EOS, PEOS, SEP, Source, Stems, Surface, Words, source_tokens

DIGITS = 6  # of scores and probabilities in a run


def prediction_of(
    document: Document,
    source: Source,
    sequences: Sequence[Written],
    words: Words,
    stems: Stems,
    n: int,
    *,
    repeats: bool = False,
) -> Prediction:
    """The first n phrases of a document's sequences, different ones by their stems unless `repeats` are kept.

    A score is the geometric mean of the probabilities of a phrase's words. A phrase is of the kind that its place says,
    its slot, or before `<peos>` or after it; where there is none, whether it stands in the text.
    """
    surface = Surface(document)
    own = {number: word for word, number in source.own.items()}
    text = stems(source_tokens(document))
    placed = any(PEOS in each.words or each.present is not None for each in sequences)
    phrases: list[str] = []
    scores: list[float] = []
    probabilities: list[list[float]] = []
    kinds: list[str] = []
    seen: set[str] = set()
    for numbers, logs, before in (part for each in sequences for part in _parts(each)):
        tokens = [words.table[number] if number < words.written else own[number] for number in numbers]
        form = stems(tokens)
        restored = surface.restored(tokens)
        if restored is None or len(phrases) >= n or (form in seen and not repeats):
            continue
        seen.add(form)
        phrases.append(restored)
        scores.append(round(exp(sum(logs) / len(logs)), DIGITS))
        probabilities.append([round(exp(log), DIGITS) for log in logs])
        kinds.append("present" if (before if placed else form in text) else "absent")
    return Prediction(
        id=document.id, keyphrases=list(phrases), scores=list(scores), token_probs=list(probabilities), kinds=kinds
    )


def _parts(written: Written) -> Iterator[tuple[list[int], list[float], bool]]:
    """(words, log-probabilities, whether its place is that of present ones) of each phrase of a sequence."""
    numbers: list[int] = []
    logs: list[float] = []
    before = written.present is not False
    for word, log in zip(written.words, written.logs, strict=True):
        if word not in (SEP, PEOS, EOS):
            numbers.append(word)
            logs.append(log)
            continue
        if numbers:
            yield numbers, logs, before
        numbers, logs = [], []
        before = before and word != PEOS
    if numbers:  # it was cut off
        yield numbers, logs, before
