"""Work on runs: ensembles of several, another order of one, one document of all."""

from karat.runs.ensembles import ensemble
from karat.runs.reranking import rerank
from karat.runs.showing import Shown, show

__all__ = ["Shown", "ensemble", "rerank", "show"]
