"""A test of search as a folder of TREC files, which trec_eval and ir_measures read."""

from __future__ import annotations

from pathlib import Path

from karat.analyses.retrieval.result import Retrieval
from karat.errors import InputError
from karat.formats.base import quoted
from karat.formats.folders import file_name
from karat.formats.output import folder_beside
from karat.formats.trec import write_qrels, write_queries, write_ranking

QRELS, QUERIES, SUFFIX = "qrels.txt", "queries.tsv", ".trec"


def save_files(found: Retrieval, folder: str | Path) -> list[str]:
    """Writes the rankings of every condition, the judgements and the queries into a new folder; gives their names."""
    if not found.kept:
        raise InputError("the rankings were not kept: search with keep=True")
    names = {condition: file_name(f"{condition}{SUFFIX}") for condition in found.kept}
    folded = {name.lower(): condition for condition, name in names.items()}
    if len(folded) < len(names):
        twice = next(each for each in names if folded[names[each].lower()] != each)
        raise InputError(f"{quoted(twice)} would be written twice: name the runs so that they differ in more than case")
    with folder_beside(folder) as place:
        write_qrels(place / QRELS, found.judgements)
        write_queries(place / QUERIES, found.texts)
        for condition, name in names.items():
            write_ranking(place / name, found.ranking(condition), condition)
    return [QRELS, QUERIES, *names.values()]
