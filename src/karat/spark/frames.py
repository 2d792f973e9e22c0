"""Data frames in, data frames out: predictions and pairs, computed where Spark has them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from karat.corpus import Corpus, Document
from karat.engines import in_force
from karat.errors import InputError
from karat.models.find import DEFAULT, PlugIn, parse_model
from karat.models.run import PredictOptions, worker
from karat.options import options_from
from karat.pairs.mine import By, MineOptions, items_look
from karat.pairs.sets import Measure
from karat.spark.alike import alike, distinct_sets
from karat.spark.engine import SparkEngine
from karat.spark.files import sent_files
from karat.spark.records import Records, of_frame, with_ids
from karat.spark.session import leave_pandas_out
from karat.spark.workers import PREDICTIONS, REMARKED, SETS, Sent, predictions, sets


def records_of(frame: Any, kind: type[Any], name: str) -> Records:
    """The rows of a data frame, whose columns are the fields of documents or predictions, as records."""
    leave_pandas_out()
    return Records(with_ids(of_frame(frame), name, kind), kind, name)


def predict(
    frame: Any, model: str | PlugIn = DEFAULT, n: int = 10, *, options: Mapping[str, Any] | None = None, **further: Any
) -> Any:
    """What a model predicts for the documents of a data frame: a data frame of id, keyphrases, scores and so on.

    The arguments are those of `karat.predict`. A model that counts documents (tfidf) counts those of the data frame
    first, unless `frequencies` are given; everything else is done when the predictions are used, by the workers, which
    get the directory of a trained model. Raises InputError if there is no such model.
    """
    spark = frame.sparkSession
    records = records_of(frame, Document, "documents")
    corpus = Corpus("documents", records, "documents")
    chosen = options_from(PredictOptions, {"n": n, "options": options, **further})
    with in_force(SparkEngine(spark)):
        function, files = worker(corpus, parse_model(model, options), chosen)
    sent = spark.sparkContext.broadcast(Sent(function, sent_files(spark, files)))
    work = partial(predictions, sent, records.origin, Document, raises=True)
    return records.frame.mapInArrow(work, REMARKED).select(*PREDICTIONS)


def pairs(
    frame: Any,
    *,
    by: By = "references",
    min: float = 0.5,
    measure: Measure = "jaccard",
    stem: bool = False,
    identical: Literal["keep", "drop"] = "drop",
    references: str | None = None,
    language: str | None = None,
) -> Any:
    """The pairs of alike documents of a data frame: a data frame of a, b, which are ids, and their score.

    The arguments are those of `karat.mine_pairs`. Nothing but counts is brought to the driver, and rows have no order.
    Raises InputError if options do not go together, or vectors are to be compared.
    """
    from pyspark.sql import functions as f

    chosen = options_from(MineOptions, locals())
    if chosen.by == "embedding":
        raise InputError("vectors are compared by karat.mine_pairs; here by is references or text")
    spark, records = frame.sparkSession, records_of(frame, Document, "documents")
    sent = spark.sparkContext.broadcast(Sent(items_look(chosen), {}))
    given = records.frame.mapInArrow(partial(sets, sent, records.origin, Document, references), SETS)
    found = alike(distinct_sets(_ranked(given)), chosen.min, chosen.measure, chosen.identical == "keep")
    names = given.select(f.col("document"), "name")
    one = names.select(f.col("document").alias("a"), f.col("name").alias("name_a"))
    other = names.select(f.col("document").alias("b"), f.col("name").alias("name_b"))
    named = found.join(one, "a").join(other, "b")
    return named.select(f.col("name_a").alias("a"), f.col("name_b").alias("b"), f.col("score").alias(chosen.name))


def _ranked(given: Any) -> Any:
    """The sets with their items in one order, those that few documents have first."""
    from pyspark.sql import functions as f

    each = given.select("document", f.explode("items").alias("item"))
    counted = each.groupBy("item").agg(f.count("*").alias("count"))
    ranked = each.join(counted, "item").groupBy("document")
    order = f.sort_array(f.collect_list(f.struct("count", "item")))
    found = ranked.agg(order.alias("ranked"))
    rare = f.size(f.filter("ranked", lambda row: row["count"] < 2))
    return found.select("document", f.col("ranked.item").alias("items"), rare.alias("rare"))
