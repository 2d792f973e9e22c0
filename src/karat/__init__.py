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
    from karat.protocol import Protocol, parse_protocol
    from karat.reformulating import Filtered, Reformulated, filter_reformulations, reformulate
    from karat.reproducing import Reproduction, reproduce, reproduce_corpora
    from karat.results import Results, load, merge
    from karat.runs import Shown, ensemble, rerank, show
    from karat.tabling import Tables, tables

# Names are fetched from their modules when first asked for, so that `import karat` stays quick and numpy-free.
_HOME = {
    "Audit": "auditing",
    "Check": "checking",
    "Comparison": "comparing",
    "Consistency": "naming",
    "Corpus": "corpus",
    "Document": "corpus",
    "Filtered": "reformulating",
    "Homogeneity": "alike",
    "Human": "people",
    "InputError": "errors",
    "KaratError": "errors",
    "NearMisses": "nearmisses",
    "Overlap": "overlapping",
    "Pairs": "alike",
    "Prediction": "corpus",
    "Protocol": "protocol",
    "Reformulated": "reformulating",
    "Reproduction": "reproducing",
    "Results": "results",
    "Run": "corpus",
    "Shown": "runs",
    "Tables": "tabling",
    "audit": "auditing",
    "check": "checking",
    "compare": "comparing",
    "compare_corpora": "comparing",
    "consistency": "naming",
    "ensemble": "runs",
    "filter_reformulations": "reformulating",
    "homogeneity": "alike",
    "human": "people",
    "load": "results",
    "merge": "results",
    "metric": "metrics.base",
    "mine_pairs": "alike",
    "nearmiss": "nearmisses",
    "overlap": "overlapping",
    "parse_protocol": "protocol",
    "prmu": "evaluate",
    "read": "formats",
    "read_run": "formats",
    "reformulate": "reformulating",
    "reproduce": "reproducing",
    "reproduce_corpora": "reproducing",
    "rerank": "runs",
    "score": "evaluate",
    "show": "runs",
    "tables": "tabling",
    "write": "formats.write",
}

__all__ = [
    "Audit",
    "Check",
    "Comparison",
    "Consistency",
    "Corpus",
    "Document",
    "Filtered",
    "Homogeneity",
    "Human",
    "InputError",
    "KaratError",
    "NearMisses",
    "Overlap",
    "Pairs",
    "Prediction",
    "Protocol",
    "Reformulated",
    "Reproduction",
    "Results",
    "Run",
    "Shown",
    "Tables",
    "audit",
    "check",
    "compare",
    "compare_corpora",
    "consistency",
    "ensemble",
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
    "prmu",
    "read",
    "read_run",
    "reformulate",
    "reproduce",
    "reproduce_corpora",
    "rerank",
    "score",
    "show",
    "tables",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'karat' has no attribute {name!r}")
    return getattr(import_module(f"karat.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
