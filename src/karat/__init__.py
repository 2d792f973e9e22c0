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
    from karat.auditing import Audit, audit
    from karat.comparing import Comparison, compare, compare_corpora
    from karat.corpus import Corpus, Document, Prediction, Run
    from karat.errors import InputError, KaratError
    from karat.evaluate import prmu, score
    from karat.formats import read, read_run
    from karat.formats.write import write
    from karat.metrics.base import metric
    from karat.nearmisses import NearMisses, nearmiss
    from karat.overlapping import Overlap, overlap
    from karat.people import Human, human
    from karat.protocol import Protocol, parse_protocol
    from karat.results import Results, load, merge
    from karat.runs import Shown, ensemble, rerank, show

# Names are fetched from their modules when first asked for, so that `import karat` stays quick and numpy-free.
_HOME = {
    "Audit": "auditing",
    "Comparison": "comparing",
    "Corpus": "corpus",
    "Document": "corpus",
    "Human": "people",
    "InputError": "errors",
    "KaratError": "errors",
    "NearMisses": "nearmisses",
    "Overlap": "overlapping",
    "Prediction": "corpus",
    "Protocol": "protocol",
    "Results": "results",
    "Run": "corpus",
    "Shown": "runs",
    "audit": "auditing",
    "compare": "comparing",
    "compare_corpora": "comparing",
    "ensemble": "runs",
    "human": "people",
    "load": "results",
    "merge": "results",
    "metric": "metrics.base",
    "nearmiss": "nearmisses",
    "overlap": "overlapping",
    "parse_protocol": "protocol",
    "prmu": "evaluate",
    "read": "formats",
    "read_run": "formats",
    "rerank": "runs",
    "score": "evaluate",
    "show": "runs",
    "write": "formats.write",
}

__all__ = [
    "Audit",
    "Comparison",
    "Corpus",
    "Document",
    "Human",
    "InputError",
    "KaratError",
    "NearMisses",
    "Overlap",
    "Prediction",
    "Protocol",
    "Results",
    "Run",
    "Shown",
    "audit",
    "compare",
    "compare_corpora",
    "ensemble",
    "human",
    "load",
    "merge",
    "metric",
    "nearmiss",
    "overlap",
    "parse_protocol",
    "prmu",
    "read",
    "read_run",
    "rerank",
    "score",
    "show",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'karat' has no attribute {name!r}")
    return getattr(import_module(f"karat.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
