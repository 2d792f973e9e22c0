"""karat on Apache Spark: the same verbs and the same digits, on data frames or on any path that Spark reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from karat.corpus import Corpus, Document, Prediction, Run
from karat.engines import in_force
from karat.libraries import library
from karat.spark.engine import SparkEngine
from karat.spark.failures import explained
from karat.spark.frames import pairs as pairs
from karat.spark.frames import predict as predict
from karat.spark.frames import records_of
from karat.spark.session import quiet, stop
from karat.spark.session import session as session


@contextmanager
def engine(master: str | None = None) -> Iterator[Any]:
    """Runs every pass on Spark as long as it is open, as `with karat.spark.engine("local[2]"):`.

    What is given is the session: the active one where there is one, which stays open, else a new one for the master.
    """
    own = library("pyspark.sql", "the engine spark").SparkSession.getActiveSession() is None
    with quiet():
        spark = session(master)
        try:
            with in_force(SparkEngine(spark)), explained():
                yield spark
        finally:
            if own:
                stop(spark)


def corpus(frame: Any, name: str = "corpus") -> Corpus:
    """A corpus of the rows of a data frame, whose columns are the fields of documents."""
    return Corpus(name, records_of(frame, Document, name), name)


def run(frame: Any, name: str = "run") -> Run:
    """A run of the rows of a data frame, whose columns are the fields of predictions."""
    return Run(name, records_of(frame, Prediction, name), name)
