"""A small corpus and two runs whose texts try to be markup, turn the direction of writing, or go on for ever."""

from __future__ import annotations

from typing import Any

from karat.corpus import Corpus, Run

SCRIPT = "<script>alert(1)</script>"
IMAGE = '"><img src=x onerror=alert(2)>'
END = "</script></style></textarea><svg onload=alert(3)>"
TURNED = "\u202eturned around"
HEBREW = "שלום עולם"
LONG = "very " * 2000 + "long"
NASTY = (SCRIPT, IMAGE, END, TURNED, HEBREW)
BEE = "\U0001f41d"

DOCUMENTS: list[dict[str, Any]] = [
    {
        "id": f"d/1 {SCRIPT}",
        "title": f"Swarms {BEE} of honey bees {IMAGE}",
        "text": f"{BEE} Grid computing is dear. Honey bees swarm {END} in June, and load balancing is missed. {HEBREW}",
        "keyphrases": ["honey bees", "grid computing algorithms", "load balancing", SCRIPT, "zoology"],
    },
    {
        "id": "d2",
        "title": "Neural networks",
        "text": "Deep neural networks learn \x00 from many examples.",
        "keyphrases": ["neural network", ["deep learning", "deep networks"], LONG],
    },
    {"id": "d3", "title": "", "text": "Nothing is said of it.", "keyphrases": ["silence"]},
    {"id": "d4", "text": "A fourth text on graph colouring.", "keyphrases": ["graph colouring"]},
]
PREDICTIONS: dict[str, list[list[str]]] = {
    f'one "><b onload>{BEE}': [
        ["honey bee", "grid computing", *NASTY],
        ["neural network", LONG],
        [],
        ["graph colouring"],
    ],
    "two": [["swarm", "honey bees", "honey bees"], ["examples", "deep networks"], ["it"], ["text"]],
}


def corpus(references: bool = True) -> Corpus:
    """The documents, with their references or without."""
    kept = [each if references else {k: v for k, v in each.items() if k != "keyphrases"} for each in DOCUMENTS]
    return Corpus.of(kept, name="nasty")


def runs() -> list[Run]:
    """The runs; the first tells how sure it is."""
    ids = [each["id"] for each in DOCUMENTS]
    return [
        Run.of(
            (
                {"id": i, "keyphrases": k} | ({"scores": [1 / (n + 2) for n in range(len(k))]} if name != "two" else {})
                for i, k in zip(ids, lists, strict=True)
            ),
            name=name,
        )
        for name, lists in PREDICTIONS.items()
    ]
