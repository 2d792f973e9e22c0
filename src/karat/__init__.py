"""How good are your keyphrases: read, score and compare keyphrase systems under named conventions.

>>> import karat
>>> corpus = karat.Corpus.of([{"id": "d1", "text": "Deep networks learn.", "keyphrases": ["deep network"]}])
>>> run = karat.Run.of([{"id": "d1", "keyphrases": ["deep networks", "learning rate"]}], name="mine")
>>> karat.score(corpus, run, metrics=["p@5"]).rows()[0]["value"]
0.5
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from karat.alike import Homogeneity, Pairs, homogeneity, mine_pairs
    from karat.auditing import Audit, audit
    from karat.calibration import Confidence, confidence
    from karat.checking import Check, check
    from karat.comparing import Comparison, compare, compare_corpora
    from karat.corpus import Corpus, Document, Prediction, Run
    from karat.errors import InputError, KaratError
    from karat.evaluate import prmu, score
    from karat.formats import read, read_run
    from karat.formats.write import write
    from karat.metrics.base import metric
    from karat.naming import Consistency, consistency
    from karat.nearmisses import NearMisses, nearmiss
    from karat.overlapping import Overlap, overlap
    from karat.people import Human, human
    from karat.predicting.running import extract, predict
    from karat.predicting.training import Trained, train
    from karat.profiles import Description, describe
    from karat.protocol import Protocol, parse_protocol
    from karat.reformulating import Filtered, Reformulated, filter_reformulations, reformulate
    from karat.report import render
    from karat.report.charts import Chart, charts_of, figures, plot
    from karat.report.page import Page
    from karat.reporting import page, page_corpora
    from karat.reproducing import Reproduction, reproduce, reproduce_corpora
    from karat.results import Results, load, merge
    from karat.runs import Shown, ensemble, rerank, show
    from karat.studying import Study, study
    from karat.tabling import Tables, tables

# Names are fetched from their modules when first asked for, so that `import karat` stays quick and numpy-free.
_HOME = {
    "Audit": "auditing",
    "Chart": "report.charts",
    "Check": "checking",
    "Comparison": "comparing",
    "Confidence": "calibration",
    "Consistency": "naming",
    "Corpus": "corpus",
    "Description": "profiles",
    "Document": "corpus",
    "Filtered": "reformulating",
    "Homogeneity": "alike",
    "Human": "people",
    "InputError": "errors",
    "KaratError": "errors",
    "NearMisses": "nearmisses",
    "Overlap": "overlapping",
    "Page": "report.page",
    "Pairs": "alike",
    "Prediction": "corpus",
    "Protocol": "protocol",
    "Reformulated": "reformulating",
    "Reproduction": "reproducing",
    "Results": "results",
    "Run": "corpus",
    "Shown": "runs",
    "Study": "studying",
    "Tables": "tabling",
    "Trained": "predicting.training",
    "audit": "auditing",
    "charts_of": "report.charts",
    "check": "checking",
    "compare": "comparing",
    "compare_corpora": "comparing",
    "confidence": "calibration",
    "consistency": "naming",
    "describe": "profiles",
    "ensemble": "runs",
    "extract": "predicting.running",
    "figures": "report.charts",
    "filter_reformulations": "reformulating",
    "homogeneity": "alike",
    "human": "people",
    "load": "results",
    "merge": "results",
    "metric": "metrics.base",
    "mine_pairs": "alike",
    "nearmiss": "nearmisses",
    "overlap": "overlapping",
    "page": "reporting",
    "page_corpora": "reporting",
    "parse_protocol": "protocol",
    "plot": "report.charts",
    "predict": "predicting.running",
    "prmu": "evaluate",
    "read": "formats",
    "read_run": "formats",
    "reformulate": "reformulating",
    "render": "report",
    "reproduce": "reproducing",
    "reproduce_corpora": "reproducing",
    "rerank": "runs",
    "score": "evaluate",
    "show": "runs",
    "study": "studying",
    "tables": "tabling",
    "train": "predicting.training",
    "write": "formats.write",
}

__all__ = [
    "Audit",
    "Chart",
    "Check",
    "Comparison",
    "Confidence",
    "Consistency",
    "Corpus",
    "Description",
    "Document",
    "Filtered",
    "Homogeneity",
    "Human",
    "InputError",
    "KaratError",
    "NearMisses",
    "Overlap",
    "Page",
    "Pairs",
    "Prediction",
    "Protocol",
    "Reformulated",
    "Reproduction",
    "Results",
    "Run",
    "Shown",
    "Study",
    "Tables",
    "Trained",
    "audit",
    "charts_of",
    "check",
    "compare",
    "compare_corpora",
    "confidence",
    "consistency",
    "describe",
    "ensemble",
    "extract",
    "figures",
    "filter_reformulations",
    "homogeneity",
    "human",
    "load",
    "merge",
    "metric",
    "mine_pairs",
    "nearmiss",
    "overlap",
    "page",
    "page_corpora",
    "parse_protocol",
    "plot",
    "predict",
    "prmu",
    "read",
    "read_run",
    "reformulate",
    "render",
    "reproduce",
    "reproduce_corpora",
    "rerank",
    "score",
    "show",
    "study",
    "tables",
    "train",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'karat' has no attribute {name!r}")
    return getattr(import_module(f"karat.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
