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
    from karat.analyses.audit import Audit, audit
    from karat.analyses.check import Check, check
    from karat.analyses.compare import Comparison, compare
    from karat.analyses.compare import compare_corpora as compare_corpora
    from karat.analyses.confidence import confidence
    from karat.analyses.confidence.result import Confidence
    from karat.analyses.consistency import Consistency, consistency
    from karat.analyses.describe import describe
    from karat.analyses.describe.result import Description
    from karat.analyses.ensemble import ensemble
    from karat.analyses.homogeneity import homogeneity
    from karat.analyses.homogeneity.result import Homogeneity
    from karat.analyses.human import human
    from karat.analyses.human.result import Human
    from karat.analyses.nearmiss import NearMisses, nearmiss
    from karat.analyses.overlap import Overlap, overlap
    from karat.analyses.report import page as page
    from karat.analyses.report import page_corpora as page_corpora
    from karat.analyses.report import report
    from karat.analyses.report.result import Page
    from karat.analyses.reproduce import Reproduction, reproduce
    from karat.analyses.reproduce import reproduce_corpora as reproduce_corpora
    from karat.analyses.rerank import rerank
    from karat.analyses.score import prmu, score
    from karat.analyses.show import Shown, show
    from karat.analyses.study import Study, study
    from karat.analyses.tables import Tables, tables
    from karat.corpus import Corpus, Document, Prediction, Run
    from karat.errors import InputError, KaratError
    from karat.formats import read, read_run
    from karat.formats.write import write
    from karat.metrics.base import metric
    from karat.models.run import extract, predict
    from karat.models.train import Trained, train
    from karat.output import render
    from karat.output.charts import Chart, charts_of, figures, plot
    from karat.pairs.filter import Filtered, filter_reformulations
    from karat.pairs.mine import Pairs, mine_pairs
    from karat.pairs.reformulate import Reformulated, reformulate
    from karat.protocol import Protocol, parse_protocol
    from karat.results import Results, load, merge

# Names are fetched from their modules when first asked for, so that `import karat` stays quick and numpy-free.
_HOME = {
    "Audit": "analyses.audit",
    "Chart": "output.charts",
    "Check": "analyses.check",
    "Comparison": "analyses.compare",
    "Confidence": "analyses.confidence.result",
    "Consistency": "analyses.consistency",
    "Corpus": "corpus",
    "Description": "analyses.describe.result",
    "Document": "corpus",
    "Filtered": "pairs.filter",
    "Homogeneity": "analyses.homogeneity.result",
    "Human": "analyses.human.result",
    "InputError": "errors",
    "KaratError": "errors",
    "NearMisses": "analyses.nearmiss",
    "Overlap": "analyses.overlap",
    "Page": "analyses.report.result",
    "Pairs": "pairs.mine",
    "Prediction": "corpus",
    "Protocol": "protocol",
    "Reformulated": "pairs.reformulate",
    "Reproduction": "analyses.reproduce",
    "Results": "results",
    "Run": "corpus",
    "Shown": "analyses.show",
    "Study": "analyses.study",
    "Tables": "analyses.tables",
    "Trained": "models.train",
    "audit": "analyses.audit",
    "charts_of": "output.charts",
    "check": "analyses.check",
    "compare": "analyses.compare",
    "compare_corpora": "analyses.compare",
    "confidence": "analyses.confidence",
    "consistency": "analyses.consistency",
    "describe": "analyses.describe",
    "ensemble": "analyses.ensemble",
    "extract": "models.run",
    "figures": "output.charts",
    "filter_reformulations": "pairs.filter",
    "homogeneity": "analyses.homogeneity",
    "human": "analyses.human",
    "load": "results",
    "merge": "results",
    "metric": "metrics.base",
    "mine_pairs": "pairs.mine",
    "nearmiss": "analyses.nearmiss",
    "overlap": "analyses.overlap",
    "page": "analyses.report",
    "page_corpora": "analyses.report",
    "parse_protocol": "protocol",
    "plot": "output.charts",
    "predict": "models.run",
    "prmu": "analyses.score",
    "read": "formats",
    "read_run": "formats",
    "reformulate": "pairs.reformulate",
    "render": "output",
    "report": "analyses.report",
    "reproduce": "analyses.reproduce",
    "reproduce_corpora": "analyses.reproduce",
    "rerank": "analyses.rerank",
    "score": "analyses.score",
    "show": "analyses.show",
    "study": "analyses.study",
    "tables": "analyses.tables",
    "train": "models.train",
    "write": "formats.write",
}

# Names of before, `compare_corpora`, `page`, `page_corpora` and `reproduce_corpora`, are there but not listed.
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
    "parse_protocol",
    "plot",
    "predict",
    "prmu",
    "read",
    "read_run",
    "reformulate",
    "render",
    "report",
    "reproduce",
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
