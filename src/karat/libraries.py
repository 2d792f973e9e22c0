"""Optional libraries: each is imported where it is first needed, and one that is missing is one sentence."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from karat.errors import MissingExtraError

# The extra that installs each of them.
EXTRAS = {
    "zstandard": "zst",
    "nltk": "ngram",
    "pyarrow": "parquet",
    "pyspark": "spark",
    "datasets": "datasets",
    "torch": "neural",
    "transformers": "neural",
    "tokenizers": "neural",
    "sentencepiece": "neural",
    "safetensors": "neural",
    "httpx": "llm",
    "spacy": "spacy",
    "jieba": "chinese",
    "sudachipy": "japanese",
    "sudachidict_core": "japanese",
    "pypdf": "pdf",
    "xlsxwriter": "xlsx",
    "openpyxl": "xlsx",
    "lxml": "office",
    "pandas": "pandas",
    "polars": "polars",
    "rdflib": "vocabulary",
}


def library(name: str, use: str) -> Any:
    """An optional library, or a module of one; where it is not installed, an error says what for and how to get it.

    >>> library("xlsxwriter.workbook", "an .xlsx file").__name__
    'xlsxwriter.workbook'
    """
    top = name.partition(".")[0]
    try:
        import_module(top)
        return import_module(name)
    except ImportError as error:
        absent = isinstance(error, ModuleNotFoundError) and error.name in (None, top)
        why = "" if absent else f", which is there and cannot be imported ({error})"
        raise MissingExtraError(f"{use} needs {top}{why}: pip install 'karat[{EXTRAS[top]}]'") from None
