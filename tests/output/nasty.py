"""Small corpora and runs whose texts and names try to be markup or code, to act on a terminal, or to go on for ever."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from karat.corpus import Corpus, Run
from karat.inert import encodable

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


# ---------------------------------------------------------------------------------------------- files

# What tries to act, by where it would; each begins with a word by which it is found again.
ATTACKS = {
    "terminal": "esc \x1b[2J\x1b]8;;https://evil.example\x07here\x1b]8;;\x07 \x1b]52;c;ZXZpbA==\x07 "
    "\x9b2J \x08\x08 \rover \x7f",
    "nothing": "nul \x00 and \x0b\x0c\x1c\x85\u2028\u2029 ends",
    "direction": "bidi \u202eexe.fdp\u202c \u2066a\u2069 \u2067b\u200f",
    "unseen": "hid\u200bden\u00ad \ufeffw\u2060ord \U000e0041\U000e0042 a\u200db \ue000 \ufffe",
    "html": "html <script>alert(1)</script><img src=x onerror=alert(2)> </textarea></script>"
    "<a href='javascript:alert(3)'>",
    "markdown": "md [l](javascript:alert(1)) ![i](x) <b>b</b> `c` | **b** https://evil.example www.evil.example "
    "a@evil.example @who #1 {{7*7}} {% raw %} ~~s~~ $m$ &lt; [x]: y",
    "formula": '=HYPERLINK("https://evil.example","x")',
    "dde": "@SUM(1)*cmd|' /C calc'!A0",
    "wide": "＝1+1",
    "latex": r"tex \input{/etc/passwd} \write18{id} % ^^M \catcode`\%=0 \end{table} {\csname x & # $ _ ~",
    "bracket": "[1cm] of a row",
    "star": "*{1} of a row",
    "typst": 'typ #read("/etc/passwd") #import "x": * `raw` $x$ @ref <l> ] ) " \\u{1b}',
    "vega": "vega datum.x {\"signal\": \"width\"} {'expr': '1'} url(https://evil.example) &#x1b;",
    "excel": "<r><t>rich</t></r>",
    "fence": ":::{include} /etc/passwd",
    "languages": "نامه\u200cها ‎क्\u200dष 👩\u200d💻 שלום e\u0301 蜂蜜 ❤\ufe0f",
    "long": "long " + "x" * 5000,
}
# As names of files, of which a slash and NUL alone can be no part.
HOSTILE_CORPUS = "c\x1b[2J\x9b3J\u202e<b>x[l](y)\n=1"
HOSTILE_RUNS = (
    "=1+1 \x1b]52;c;ZXZpbA==\x07<script>alert(1)<!-- |`",
    '[1cm] \\input{x} %$#_^^M~ \udcff #read("x") {{7*7}} \u200bשלום',
    "*b @SUM(1) \x85\u2028\r\x08 www.evil.example " + "x" * 120,
)
# Names of systems as arguments have them.
HOSTILE_NAME = "n\x1b[2J\u202e<b>|[l](javascript&colon;alert(1)) \\input{x} #panic() ＝1"


def _hostile_documents() -> list[dict[str, Any]]:
    attacks = list(ATTACKS.values())
    return [
        {
            "id": f"{attack} {n}" if attack.startswith("long") else attack,
            "title": f"{attack[:200]} of honey bees",
            "text": f"{attack} is said of honey bees. Grid computing is dear, and load balancing is missed.\n{HEBREW}",
            "keyphrases": ["honey bees", "grid computing", attack[:300], attacks[n - 1][:300]],
        }
        for n, attack in enumerate(attacks)
    ]


def _hostile_run(start: int) -> list[dict[str, Any]]:
    attacks = [attack[:300] for attack in ATTACKS.values()]
    found = []
    for n, document in enumerate(_hostile_documents()):
        own = ["honey bees", attacks[(n + start) % len(attacks)], attacks[n], "swarm", f"{attacks[n - 2]}s"]
        own = list(dict.fromkeys(own[start % 2 :]))
        scores = [0.9 - 0.1 * i for i in range(len(own))]
        tokens = [[score, 0.8] for score in scores]
        found.append({"id": document["id"], "keyphrases": own, "scores": scores, "token_probs": tokens})
    return found


def hostile_folder(folder: Path) -> None:
    """Writes a corpus, runs and all else that verbs read, in which every name and every text tries to act."""

    def write(name: str, records: Sequence[Mapping[str, Any]]) -> None:
        (folder / name).write_text("".join(f"{json.dumps(each)}\n" for each in records), encoding="utf-8")

    documents = _hostile_documents()
    ids = [each["id"] for each in documents]
    write(f"{HOSTILE_CORPUS}.jsonl", documents)
    for n, name in enumerate(HOSTILE_RUNS):
        write(f"{name}.jsonl", _hostile_run(n))
    write("queries.jsonl", [{"id": f"q{n}", "text": attack} for n, attack in enumerate(ATTACKS.values())])
    strange = ["".join(attack.split())[:300] for attack in ATTACKS.values()]
    judged = "".join(f"q{n} 0 {attack or 'x'} 1\n" for n, attack in enumerate(strange))
    (folder / "qrels.txt").write_text(judged, encoding="utf-8", errors="replace")
    write("pairs.jsonl", [{"a": a, "b": b} for a, b in pairwise(ids)])
    again = [
        {
            "id": f"{i}~p",
            "source": i,
            "method": ATTACKS["html"],
            "title": "",
            "text": f"{i} honey bees",
        }
        for i in ids
    ]
    write("again.jsonl", again)
    both = [*_hostile_run(0), *({"id": each["id"], "keyphrases": ["honey bees"]} for each in again)]
    write("both.jsonl", both)
    write(
        "human.jsonl",
        [
            {"prediction": attack[:300], "reference": "honey bees", "annotator": who, "score": 1 + (n * step) % 4}
            for step, who in ((1, HOSTILE_NAME), (2, ATTACKS["formula"]))
            for n, attack in enumerate(ATTACKS.values())
        ],
    )
    figures = {"hooper": 0.5, "hooper_ci": [0.4, 0.6], "rodgers": 0.5, "rodgers_ci": [0.4, 0.6], "undefined": 0}
    row = {"corpus": HOSTILE_CORPUS, "system": HOSTILE_NAME, "pairs": 2, "pearson": 0.1, **figures}
    result = {
        "signatures": {"karat": HOSTILE_NAME},
        "rows": [row, row | {"system": ATTACKS["html"]}],
        "ceilings": [{"corpus": HOSTILE_CORPUS, "ceiling": ATTACKS["formula"], **figures}],
        "options": {"language": ATTACKS["terminal"]},
        "notes": [ATTACKS["terminal"]],
    }
    write("homogeneity.json", [result])
    write("reported.jsonl", [{"system": HOSTILE_NAME, "metric": "f1@5", "subset": "all", "value": "0.50"}])
    (folder / "vocabulary.txt").write_text("\n".join(ATTACKS["html"].split()), encoding="utf-8")
    attacks = [" ".join(encodable(attack).split()) for attack in ATTACKS.values()]
    terms = [f"{attack}\t{HOSTILE_CORPUS}".replace("\n", " ") for attack in attacks]  # all of them have one variant
    (folder / f"{HOSTILE_CORPUS}.txt").write_text("\n".join([*terms, "honey bees"]), encoding="utf-8")
    course = folder / f"{HOSTILE_CORPUS} model"
    course.mkdir()
    card = {"format": "karat generator 1", "model": "copyrnn", "karat": "0", "language": "english", "options": {}}
    card |= {"settings": {}, "corpus": {"name": HOSTILE_NAME, "hash": "0", "documents": 9}, "steps": 20}  # type: ignore[dict-item]
    (course / "model.json").write_text(json.dumps(card))
    (course / "log.jsonl").write_text('{"step": 10, "documents": 160, "loss": 4.5, "valid": 3.9, "rate": 0.001}\n')
