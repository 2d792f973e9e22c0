"""What is done once, before workers are forked: everything is imported, and all good files are made."""

from __future__ import annotations

from tests.forked import load


def prepare() -> None:
    """Nothing; makes later cases quick, and equal in every worker."""
    load()
    from importlib import import_module

    for name in ("pypdf", "pyarrow.parquet", "datasets", "zstandard", "vl_convert"):
        import_module(name)
    from karat.text.tags import tags
    from tests.fuzz import readers, seeds

    tags([["a"]])  # loads the tagger
    for kind in seeds.KINDS:
        seeds.of(kind)
    readers.make_part()
