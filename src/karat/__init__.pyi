"""The public names of `karat`, each with the module it is in; `karat/__init__.py` reads this list.

Names of before are marked: they can be imported, and are not in `__all__`.
"""

__version__: str
__all__: list[str]

from karat.analyses.audit import Audit as Audit
from karat.analyses.audit import audit as audit
from karat.analyses.check import Check as Check
from karat.analyses.check import check as check
from karat.analyses.cite import Citation as Citation
from karat.analyses.cite import cite as cite
from karat.analyses.compare import compare as compare
from karat.analyses.compare import compare_corpora as compare_corpora  # deprecated
from karat.analyses.compare.result import Comparison as Comparison
from karat.analyses.concepts import ConceptScores as ConceptScores
from karat.analyses.concepts import concepts as concepts
from karat.analyses.confidence import confidence as confidence
from karat.analyses.confidence.result import Confidence as Confidence
from karat.analyses.consistency import Consistency as Consistency
from karat.analyses.consistency import consistency as consistency
from karat.analyses.describe import describe as describe
from karat.analyses.describe.result import Description as Description
from karat.analyses.ensemble import ensemble as ensemble
from karat.analyses.homogeneity import homogeneity as homogeneity
from karat.analyses.homogeneity.corpora import Gathered as Gathered
from karat.analyses.homogeneity.corpora import gather_homogeneity as gather_homogeneity
from karat.analyses.homogeneity.describe import PairsDescription as PairsDescription
from karat.analyses.homogeneity.describe import describe_pairs as describe_pairs
from karat.analyses.homogeneity.repeats import Repeats as Repeats
from karat.analyses.homogeneity.repeats import repeats as repeats
from karat.analyses.homogeneity.result import Homogeneity as Homogeneity
from karat.analyses.human import human as human
from karat.analyses.human.result import Human as Human
from karat.analyses.nearmiss import NearMisses as NearMisses
from karat.analyses.nearmiss import nearmiss as nearmiss
from karat.analyses.overlap import Overlap as Overlap
from karat.analyses.overlap import overlap as overlap
from karat.analyses.report import page as page  # deprecated
from karat.analyses.report import page_corpora as page_corpora  # deprecated
from karat.analyses.report import report as report
from karat.analyses.report.result import Page as Page
from karat.analyses.reproduce import Reproduction as Reproduction
from karat.analyses.reproduce import reproduce as reproduce
from karat.analyses.reproduce import reproduce_corpora as reproduce_corpora  # deprecated
from karat.analyses.rerank import rerank as rerank
from karat.analyses.retrieval import retrieval as retrieval
from karat.analyses.retrieval.result import Retrieval as Retrieval
from karat.analyses.score import prmu as prmu
from karat.analyses.score import score as score
from karat.analyses.show import Shown as Shown
from karat.analyses.show import show as show
from karat.analyses.study import Study as Study
from karat.analyses.study import study as study
from karat.analyses.table import table as table
from karat.analyses.table.result import PaperTable as PaperTable
from karat.analyses.tables import Tables as Tables
from karat.analyses.tables import tables as tables
from karat.analyses.vocabulary.map import Mapped as Mapped
from karat.analyses.vocabulary.map import map_concepts as map_concepts
from karat.analyses.vocabulary.show import VocabularyDescription as VocabularyDescription
from karat.analyses.vocabulary.show import show_vocabulary as show_vocabulary
from karat.annotation.collect import Annotations as Annotations
from karat.annotation.collect import collect_annotations as collect_annotations
from karat.annotation.sheets import Sheets as Sheets
from karat.annotation.sheets import annotation_sheets as annotation_sheets
from karat.corpus import Corpus as Corpus
from karat.corpus import Document as Document
from karat.corpus import Prediction as Prediction
from karat.corpus import Run as Run
from karat.errors import InputError as InputError
from karat.errors import KaratError as KaratError
from karat.formats import read as read
from karat.formats import read_run as read_run
from karat.formats.vocabulary import read_vocabulary as read_vocabulary
from karat.formats.vocabulary import write_vocabulary as write_vocabulary
from karat.formats.write import write as write
from karat.limits import limit as limit
from karat.metrics.base import metric as metric
from karat.models.run import extract as extract
from karat.models.run import predict as predict
from karat.models.train import Trained as Trained
from karat.models.train import train as train
from karat.output import render as render
from karat.output.charts import Chart as Chart
from karat.output.charts import charts_of as charts_of
from karat.output.charts import figures as figures
from karat.output.charts import plot as plot
from karat.pairs.filter import Filtered as Filtered
from karat.pairs.filter import filter_reformulations as filter_reformulations
from karat.pairs.mine import Pairs as Pairs
from karat.pairs.mine import mine_pairs as mine_pairs
from karat.pairs.reformulate import Reformulated as Reformulated
from karat.pairs.reformulate import reformulate as reformulate
from karat.protocol import Protocol as Protocol
from karat.protocol import parse_protocol as parse_protocol
from karat.results import Collection as Collection
from karat.results import Results as Results
from karat.results.files import load as load
from karat.results.merge import collect as collect
from karat.results.merge import merge as merge
from karat.vocabulary import Concept as Concept
from karat.vocabulary import Label as Label
from karat.vocabulary import Vocabulary as Vocabulary
