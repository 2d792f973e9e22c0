"""One of every result that there is, of systems and a corpus whose names try to be markup of every kind."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import karat
from karat.corpus import Prediction
from karat.llm.ask import Forecast
from karat.llm.client import Usage
from karat.models.predictor import Entry
from karat.models.run import Predicted
from karat.results.displayed import Result
from tests.output.nasty import BEE, IMAGE, SCRIPT

TYPST = '#panic("read") [x](y) *b* _i_ `c` $m$ @who <tag> ~ \\n // -- = 1. \'q\' "q" {z}'
CORPUS = f"- {TYPST}"
ONE, TWO = f"= {TYPST} {SCRIPT}", f"+ 1. {BEE}{IMAGE} \\end{{table}} % $x^2$"
FEW = 20  # resamples
GOLDEN = Path(__file__).parents[1] / "golden"

NAMES = (
    "Results",
    "Collection",
    "PaperTable",
    "Audit",
    "Comparison",
    "Check",
    "Tables",
    "Reproduction",
    "Description",
    "NearMisses",
    "Confidence",
    "Overlap",
    "Homogeneity",
    "Gathered",
    "PairsDescription",
    "Repeats",
    "Retrieval",
    "Consistency",
    "ConceptScores",
    "Mapped",
    "VocabularyDescription",
    "Human",
    "Filtered",
    "Study",
    "Sheets",
    "Annotations",
    "Shown",
    "Predicted",
    "Forecast",
)

DOCUMENTS: list[dict[str, Any]] = [
    {
        "id": f"d{n}",
        "title": f"{TYPST} of honey bees",
        "text": f"Grid computing is dear. Honey bees swarm {SCRIPT} in June, and load balancing is missed {n} times.",
        "keyphrases": ["honey bees", "grid computing algorithms", "load balancing", "june"][: 2 + n % 3],
    }
    for n in range(4)
]
QUERIES = {"q0": "honey bees", "q1": "dear load balancing", "q2": "june", "q3": "algorithms 3"}


def names_in(result: str) -> tuple[str, ...]:
    """The names that stand in the tables of a result; long ones may be cut."""
    others = {
        "Results": (CORPUS, ONE, TWO),
        "Collection": (CORPUS, ONE, TWO),
        "PaperTable": (CORPUS, ONE, TWO, TYPST),
        "Audit": (CORPUS, ONE, TWO),
        "Tables": (ONE, TWO),
        "Consistency": (ONE, TWO),
        "ConceptScores": (CORPUS, ONE, TWO),
        "Mapped": (CORPUS, ONE),
        "Human": ("people (ceiling)", ONE, TWO),
    }
    return others.get(result, (CORPUS,))


def run(name: str, start: int) -> karat.Run:
    phrases = ["honey bees", TYPST, "grid computing", "swarm", "swarms", "june"]
    lists = [phrases[(start + n) % 3 :][: 3 + n] for n in range(4)]
    return karat.Run.of(
        (
            {"id": f"d{n}", "keyphrases": own, "scores": [0.9 - 0.1 * i for i in range(len(own))]}
            for n, own in enumerate(lists)
        ),
        name,
    )


@cache
def every() -> dict[str, Result]:
    """The results, by the name of their type."""
    corpus = karat.Corpus.of(DOCUMENTS, CORPUS)
    runs = [run(ONE, 0), run(TWO, 1)]
    results = karat.score(corpus, *runs, metrics=["f1@5:present", "f1@M", "f1@M/micro"])
    pairs = [{"a": "d0", "b": "d1"}, {"a": "d1", "b": "d2"}, {"a": "d2", "b": "d3"}]
    found: list[Result] = [
        results,
        karat.collect([results, karat.score(karat.Corpus.of(DOCUMENTS, TWO), runs[0], metrics=["f1@5:present"])]),
        karat.table(
            corpus, *runs, metrics=["f1@5:present", "f1@M"], groups={TYPST: [TWO]}, resamples=FEW, intervals=True
        ),
        karat.audit(corpus, *runs, protocol=["chan2019", "meng2017"]),
        karat.compare(corpus, *runs, metrics=["f1@M", "r@M:present"], resamples=FEW),
        karat.check(results, minimum={"f1@M": 0.1}, no_worse_than=results, resamples=FEW),
        karat.tables("averages", results),
        karat.reproduce(corpus, *runs, reported=_reported(), budget=3, resamples=FEW),
        karat.describe(corpus, *runs),
        karat.nearmiss(corpus, *runs),
        karat.confidence(corpus, *runs),
        karat.overlap(corpus, *runs),
        karat.homogeneity(corpus, pairs, *runs, resamples=FEW),
        karat.gather_homogeneity(karat.homogeneity(corpus, pairs, *runs, resamples=FEW)),
        karat.describe_pairs(corpus, pairs),
        karat.repeats(corpus, *runs),
        karat.retrieval(corpus, QUERIES, {f"q{n}": {f"d{n}": 1} for n in range(4)}, *runs, resamples=FEW),
        karat.consistency(*runs, vocabulary=GOLDEN / "vocabulary.txt"),
        karat.concepts(corpus, *runs, vocabulary=_vocabulary()),
        karat.map_concepts(runs[0], vocabulary=_vocabulary()),
        karat.show_vocabulary(_vocabulary()),
        karat.human(_judged(), metrics=["kmr", "chrf"]),
        karat.filter_reformulations(corpus, _reformulations()),
        _study(),
        karat.annotation_sheets(corpus, *runs, task="phrase"),
        _annotations(corpus, runs),
        karat.show(corpus, *runs, id="d1"),
        Predicted(CORPUS, ONE, 1, (Entry(Prediction(id=TWO, keyphrases=[TYPST, "b"], scores=[0.5, 0.2]), SCRIPT),)),
        Forecast(CORPUS, ONE, 4, 4, 1, Usage(10, 20), 0.5, (f"{TYPST} is noted",)),
    ]
    return {type(each).__name__: each for each in found}


def _vocabulary() -> karat.Vocabulary:
    """Two cycles, a label of several concepts, and names that try to act."""
    labels = [karat.Label(TYPST), karat.Label(SCRIPT, "en", "alternative")]
    links = {ONE: (TWO,), TWO: (ONE,), SCRIPT: (SCRIPT,)}
    return karat.Vocabulary.of((karat.Concept(uri, tuple(labels), up) for uri, up in links.items()), CORPUS)


def _reported() -> list[dict[str, Any]]:
    return [{"system": name, "metric": "f1@M", "subset": "present", "value": "0.50"} for name in (ONE, TWO)]


def _judged() -> list[dict[str, Any]]:
    phrases = ["honey bees", "honey bee swarms", "bees", "grid computing", "swarms", "june", "swarm of bees"]
    return [
        {"prediction": phrase, "reference": "swarm of honey bees", "annotator": who, "score": 1 + (n * step) % 4}
        for step, who in ((1, ONE), (2, TWO))
        for n, phrase in enumerate(phrases)
    ]


def _reformulations() -> list[dict[str, Any]]:
    return [
        {
            "id": f"d{n}~p",
            "source": f"d{n}",
            "method": ONE,
            "text": "In June honey bees swarm. Load balancing, grid computing.",
        }
        for n in range(3)
    ]


def _study() -> karat.Study:
    with TemporaryDirectory() as folder:
        path = Path(folder, "made.jsonl")
        path.write_text("".join(json.dumps(each) + "\n" for each in _reformulations()))
        more = [{"id": f"d{n}~p", "keyphrases": ["honey bees", "june"]} for n in range(3)]
        runs = [karat.Run.of([*each, *map(_prediction, more)], each.name) for each in (run(ONE, 0), run(TWO, 1))]
        return karat.study(karat.Corpus.of(DOCUMENTS, CORPUS), path, *runs, min=0.4, length=0.9, resamples=FEW)


def _annotations(corpus: karat.Corpus, runs: list[karat.Run]) -> karat.Annotations:
    """Two annotators who never agree on what two systems predict."""
    with TemporaryDirectory() as folder:
        sheets = karat.annotation_sheets(corpus, *runs, task="set", scale="0-4", annotators=2)
        sheets.save(Path(folder, "study"))
        for name, score in (("a1", 0), ("a2", 4)):
            own = {str(n): {"answer": score, "comment": SCRIPT, "at": 1} for n in sheets.study.annotators[name]}
            head = {"karat": "annotations", "version": 1, "study": sheets.study.id, "task": "set", "annotator": name}
            head["token"] = sheets.study.token(name)
            Path(folder, "study", f"{name}.json").write_text(json.dumps(head | {"answers": own}))
        return karat.collect_annotations(Path(folder, "study"))


def _prediction(record: dict[str, Any]) -> Prediction:
    return Prediction(**record)
