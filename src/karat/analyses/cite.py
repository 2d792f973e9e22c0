"""How a result is cited: a sentence for the methods section of a paper, and BibTeX of what its numbers rest on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from karat import __version__
from karat.analyses.compare.options import CompareOptions
from karat.analyses.compare.result import Comparison, Pair
from karat.analyses.compare.tables import FAMILIES
from karat.analyses.table.result import PaperTable
from karat.citations import PAPERS, Paper, entries, papers_of, program, script_of, short_signature
from karat.errors import InputError
from karat.metrics.base import Request
from karat.protocol import Protocol, parse_protocol
from karat.results import Collection, Results, signatures_of
from karat.stats.difference import family_caption, test_names
from karat.tabular import number

AVERAGES = {
    "mean": "the mean over documents",
    "mean-of-f": "the mean of the documents' F1",
    "f-of-means": "F1 of mean precision and mean recall",
    "micro": "over all phrases of the corpus",
}
CORRECTIONS = {"max-t": "westfall1993", "holm": "holm1979", "bh": "benjamini1995"}


@dataclass(frozen=True, slots=True)
class Citation:
    """A sentence or more for a methods section, and the entries of a BibTeX file."""

    methods: str
    bibtex: str

    def __str__(self) -> str:
        return f"{self.methods}\n\n{self.bibtex}"


def cite(result: Results | Collection | Comparison | PaperTable) -> Citation:
    """How scores, a comparison or a table are cited: protocol, averages, tests and version in words, and BibTeX.

    Raises InputError if it is another kind of result.

    >>> import karat
    >>> corpus = karat.Corpus.of([{"id": "d1", "text": "Deep networks learn.", "keyphrases": ["deep network"]}])
    >>> run = karat.Run.of([{"id": "d1", "keyphrases": ["deep networks"]}], name="mine")
    >>> cite(karat.score(corpus, run, metrics=["f1@5"], protocol="chan2019")).methods.partition(", which")[0]
    'Scores are computed with karat 0.2.0 under the protocol chan2019 (Chan et al., 2019; Porter, 1980)'
    """
    known = _known(result)
    protocols = [parse_protocol(name) for name in dict.fromkeys(name for name, _ in known.requests)]
    tests, cited = _tests(known)
    sentences = [*(_scores(each, known.requests) for each in protocols), *tests, _signatures(known.signatures)]
    papers = [program(__version__)]
    for each in protocols:
        script = script_of(each)
        papers += [*([script] if script else []), *papers_of(each)]
    return Citation(" ".join(sentences), entries([*papers, *cited]))


@dataclass(frozen=True, slots=True)
class _Known:
    """What a citation is made of."""

    requests: Sequence[tuple[str, Request]]  # with the protocol of each
    signatures: Mapping[str, str]
    options: CompareOptions | None = None
    pairs: Sequence[Pair] = ()
    intervals: bool = False


def _known(result: Any) -> _Known:
    match result:
        case Results() | Collection():
            parts = result.parts if isinstance(result, Collection) else (result,)
            requests = [(score.protocol, score.request) for part in parts for score in part.scores]
            return _Known(requests, signatures_of(parts))
        case Comparison():
            requests = [(each.protocol, each.request) for each in result.standings]
            return _Known(requests, result.signatures, result.options, result.pairs, intervals=True)
        case PaperTable():
            requests = [(each.protocol, each.request) for each in result.values]
            if result.measured is None:
                return _Known(requests, result.signatures)
            measured = result.measured
            return _Known(
                requests, result.signatures, measured.options, measured.pairs, intervals=result.options.intervals
            )
    raise InputError(f"scores, comparisons and tables can be cited, not a {type(result).__name__}")


# ---------------------------------------------------------------------------------------------- sentences


def _scores(protocol: Protocol, requests: Iterable[tuple[str, Request]]) -> str:
    """Under which protocol what was computed."""
    own = list(dict.fromkeys(request.without_fitted() for name, request in requests if name == str(protocol)))
    cited = "; ".join(paper.cited() for paper in papers_of(protocol))
    script = f", which follows {protocol.script}" if protocol.script else ""
    metrics = listed([f"{metric} ({', '.join(subsets)})" for metric, subsets in _by_metric(own).items()])
    averages = listed([AVERAGES.get(each, each) for each in dict.fromkeys(request.average or "" for request in own)])
    return (
        f"Scores are computed with karat {__version__} under the protocol {protocol}{f' ({cited})' if cited else ''}"
        f"{script}: {metrics}, {averages}."
    )


def _by_metric(requests: Iterable[Request]) -> dict[str, list[str]]:
    """The subsets that each metric is of."""
    found: dict[str, list[str]] = {}
    for request in requests:
        options = "".join(f",{name}={value}" for name, value in request.options)
        subsets = found.setdefault(f"{request.label}{options}", [])
        subsets += [request.subset] if request.subset not in subsets else []
    return found


def listed(texts: Sequence[str]) -> str:
    """Texts in a sentence.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))


def _tests(known: _Known) -> tuple[list[str], list[Paper]]:
    """(how differences were tested and intervals made, the papers that these rest on)."""
    options = known.options
    said: list[str] = []
    papers: list[Paper] = []
    if options is None:
        return said, papers
    drawn = f"{options.drawn:,} resamples (seed {options.seed})"
    if known.pairs:
        tests = test_names(options.test, (pair.apart.test for pair in known.pairs))
        resampled = f" with {drawn}" if options.test == "randomisation" else ""
        sides = "two-sided" if options.alternative == "two-sided" else f"one-sided ({options.alternative})"
        adjusted = family_caption([pair.apart for pair in known.pairs], FAMILIES[options.family]) + " and "
        for by in dict.fromkeys(
            pair.apart.adjusted_by for pair in known.pairs if pair.apart.adjusted_by in CORRECTIONS
        ):
            papers.append(PAPERS[CORRECTIONS[by]])
        said.append(
            f"Differences between systems are tested over documents by {tests}, {sides}{resampled}; p-values are "
            f"{adjusted}significant at {number(options.alpha).rstrip('0')}."
        )
    if known.intervals:
        level = f"{100 * options.level:.4g} %"
        kinds = {
            "t": "t intervals of the logit, with standard errors by the jackknife over documents",
            "bca": f"BCa bootstrap intervals ({PAPERS['efron1987'].cited()}) with {drawn} of documents",
            "percentile": f"percentile bootstrap intervals with {drawn} of documents",
        }
        papers += [PAPERS["efron1987"]] if options.interval == "bca" else []
        said.append(f"Intervals of scores are {level} {kinds[options.interval]}; those of differences are jackknife t.")
    return said, papers


def _signatures(signatures: Mapping[str, str]) -> str:
    several = len(signatures) > 1
    return f"Signature{'s' if several else ''}: {'; '.join(_signed(signatures))}."


def _signed(signatures: Mapping[str, str]) -> Iterator[str]:
    """The short signatures, each with its corpus where there are several."""
    for name, text in signatures.items():
        corpus = name.partition(" on ")[2]
        yield f"{short_signature(text)} ({corpus})" if corpus else short_signature(text)
