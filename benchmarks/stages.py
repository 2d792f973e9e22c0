"""What the benchmark times: functions that go through a whole corpus and its run, and count the documents.

They take the steps of `karat score` by the functions that it calls itself; from `prepare` on, each adds one
step to the one before it. What they import is loaded before the clock starts. `peer` does the same work the
plain way, for comparison.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from karat.corpus import Prediction
from karat.formats import read as read_corpus
from karat.formats import read_run
from karat.matching.align import align as align_run
from karat.matching.align import prepare as prepare_documents
from karat.matching.columns import Aligned, Prepared
from karat.matching.join import Chunk, Join, chunks
from karat.metrics.base import DEFAULT_METRICS, plan_requests
from karat.protocol import parse_protocol

PROTOCOL = parse_protocol("karat")


def read(corpus: str, run: str) -> int:
    """How many documents there are, once every record of both files is decoded."""
    documents = sum(len(batch.records()) for batch in read_corpus(corpus).batches())
    predicted = sum(len(batch.records()) for batch in read_run(run).batches())
    assert predicted == documents
    return documents


def join(corpus: str, run: str) -> int:
    """How many documents there are, once each has its line of the run; nothing is decoded."""
    return sum(len(chunk.ids) for chunk in _chunks(corpus, run))


def prepare(corpus: str, run: str) -> int:
    """How many documents there are, once all is decoded and texts and references are normalised."""
    return sum(len(prepared) for prepared, _ in _prepared(corpus, run))


def align(corpus: str, run: str) -> int:
    """How many documents there are, once the predictions are aligned too."""
    return sum(aligned.documents for aligned in _aligned(corpus, run))


def metrics(corpus: str, run: str) -> int:
    """How many documents there are, once the default metrics have their rows too, all kept to the end."""
    requests = plan_requests(DEFAULT_METRICS, PROTOCOL.counting)
    rows = [[request.rows(aligned) for request in requests] for aligned in _aligned(corpus, run)]
    return sum(len(first.values) for first, *_ in rows)


def _chunks(corpus: str, run: str) -> Iterator[Chunk]:
    return chunks(read_corpus(corpus), [read_run(run)], Join())


def _prepared(corpus: str, run: str) -> Iterator[tuple[Prepared, list[Prediction]]]:
    for chunk in _chunks(corpus, run):
        documents, predictions = chunk.documents.records(), chunk.predictions[0].records()
        yield prepare_documents(documents, PROTOCOL.matching), predictions


def _aligned(corpus: str, run: str) -> Iterator[Aligned]:
    for prepared, predictions in _prepared(corpus, run):
        yield align_run(prepared, predictions, PROTOCOL.counting)


# ---------------------------------------------------------------------------------------------- the plain way

Stems = list[str]

_TOKEN = re.compile(r"\w+(?:-\w+)*|[^\w\s]")
_SUBSETS = ("present", "absent", "all")


def peer(corpus: str, run: str, documents: int) -> dict[str, float]:
    """The default metrics of the first documents by plain loops, named as `karat score` names them.

    Evaluation scripts mostly work like this: one document after another, every token stemmed where it stands,
    every phrase sought at every position of the text. The conventions are those of the protocol karat, so
    that both do the same work and find the same numbers.
    """
    from nltk.stem.porter import PorterStemmer

    stem = PorterStemmer().stem
    scores: dict[str, list[float]] = {f"f1@{k}:{s}": [] for s in _SUBSETS for k in "5MO"}
    with open(corpus, encoding="utf-8") as corpus_file, open(run, encoding="utf-8") as run_file:
        pairs = zip(map(json.loads, corpus_file), map(json.loads, run_file), strict=True)
        for document, prediction in islice(pairs, documents):
            assert document["id"] == prediction["id"]
            for name, value in _peer_document(document, prediction["keyphrases"], stem):
                scores[name].append(value)
    return {name: sum(values) / len(values) for name, values in scores.items() if values}


def _peer_document(
    document: dict[str, Any], predicted: list[str], stem: Callable[[str], str]
) -> Iterator[tuple[str, float]]:
    """Name and value of each metric that is defined for the document."""

    def stems(text: str) -> Stems:
        return [stem(token) for token in _TOKEN.findall(text.lower())]

    texts = [stems(document["title"]), stems(document["text"])]
    references = _distinct([stems(phrase) for phrase in document["keyphrases"]])
    predictions = _distinct([stems(phrase) for phrase in predicted if _is_readable(phrase)])
    right, ranked = _by_subset(references, texts), _by_subset(predictions, texts)
    for subset in _SUBSETS:
        if right[subset]:
            for cutoff, depth in (("5", 5), ("M", len(ranked[subset])), ("O", len(right[subset]))):
                yield f"f1@{cutoff}:{subset}", _f1(ranked[subset][:depth], right[subset])


def _is_readable(phrase: str) -> bool:
    return "<unk>" not in phrase.lower() and any(letter.isalnum() for letter in phrase)


def _distinct(phrases: list[Stems]) -> list[Stems]:
    kept: list[Stems] = []
    for phrase in phrases:
        if phrase and phrase not in kept:
            kept.append(phrase)
    return kept


def _by_subset(phrases: list[Stems], texts: Sequence[Stems]) -> dict[str, list[Stems]]:
    present: list[Stems] = []
    absent: list[Stems] = []
    for phrase in phrases:
        (present if _is_present(phrase, texts) else absent).append(phrase)
    return {"present": present, "absent": absent, "all": phrases}


def _is_present(phrase: Stems, texts: Sequence[Stems]) -> bool:
    """Whether the stems of the phrase follow each other in the title or in the text."""
    for text in texts:
        for start in range(len(text) - len(phrase) + 1):
            for offset in range(len(phrase)):
                if text[start + offset] != phrase[offset]:
                    break
            else:
                return True
    return False


def _f1(ranked: list[Stems], right: list[Stems]) -> float:
    hits = 0
    for phrase in ranked:
        for reference in right:
            if phrase == reference:
                hits += 1
                break
    return 2 * hits / (len(ranked) + len(right))
