"""Every two sets that are alike, joined by Spark: the prefix filter of karat.pairs.sets before the join, then salt.

A set is a row of `document`, `items` (ranked, those that few sets have first) and `rare`, how many of its first items
are in no other set. If two sets of sizes a and b must share o items, the first one they share is among the first
a − o + 1 of the one and the first b − o + 1 of the other, so only sets that share such an early item are brought
together. An item that is early in very many sets is cut into salts, each of which meets all others on its own.
"""

from __future__ import annotations

from typing import Any

HOT = 1000  # sets with the same early item that one task brings together with others
ROUNDING = 1e-9  # that of karat.pairs.sets


def of_arrays(spark: Any, starts: Any, items: Any, rare: Any) -> Any:
    """The sets of columns of numbers as a data frame; empty ones are left out."""
    import numpy as np
    import pyarrow as pa

    lists = pa.LargeListArray.from_arrays(pa.array(starts, pa.int64()), pa.array(items, pa.int32()))
    columns = {"document": pa.array(np.arange(len(lists))), "items": lists.cast(pa.list_(pa.int32())), "rare": rare}
    table = pa.table(columns)
    return spark.createDataFrame(table).filter("size(items) > 0")


def distinct_sets(sets: Any) -> Any:
    """A row for each distinct set, with the documents that have it."""
    from pyspark.sql import functions as f

    grouped = sets.groupBy("items").agg(
        f.sort_array(f.collect_list("document")).alias("documents"), f.min("rare").alias("rare")
    )
    return grouped.withColumn("size", f.size("items")).withColumn("set", f.col("documents")[0])


def alike(distinct: Any, least: float, measure: str, equal: bool) -> Any:
    """The pairs (a, b, score) of documents whose sets score `least` or more; those of equal sets only if `equal`."""
    pairs = _expanded(_together(_early(distinct, least), least, measure), measure)
    return pairs.unionByName(_equal(distinct)) if equal else pairs


def _early(distinct: Any, least: float) -> Any:
    """A row for each early item of a set that is in another, too: no partner asks for fewer items in common."""
    from pyspark.sql import functions as f

    fewest = f.greatest(f.ceil(f.lit(float(least)) * f.col("size") - f.lit(ROUNDING)), f.lit(1))
    early = f.slice("items", f.lit(1), (f.col("size") - fewest + 1).cast("int"))
    return distinct.select("set", "size", "items", "documents", "rare", f.posexplode(early).alias("at", "item")).filter(
        "at >= rare"
    )


def _together(early: Any, least: float, measure: str) -> Any:
    """Every two sets that share enough, once: by the first item that they share."""
    from pyspark.sql import functions as f

    hot = early.groupBy("item").count().filter(f"count > {HOT}")
    salts = f.broadcast(hot.select("item", f.ceil(f.col("count") / HOT).cast("int").alias("salts")))
    salted = early.join(salts, "item", "left").withColumn("salts", f.coalesce("salts", f.lit(1)))
    some = salted.withColumn("salt", f.pmod(f.hash("set"), f.col("salts")))
    every = salted.withColumn("salt", f.explode(f.sequence(f.lit(0), f.col("salts") - 1)))
    names = ("set", "size", "items", "documents", "at")
    one = some.select("item", "salt", *(f.col(name).alias(f"{name}_1") for name in names))
    other = every.select("item", "salt", *(f.col(name).alias(f"{name}_2") for name in names))
    a, b = f.col("size_1"), f.col("size_2")
    wanted = least * f.greatest(a, b) if measure == "max" else f.lit(float(least)) * (a + b) / f.lit(1 + float(least))
    overlap = f.greatest(f.ceil(wanted - f.lit(ROUNDING)), f.lit(1))
    near = (f.col("set_1") < f.col("set_2")) & (f.col("at_1") <= a - overlap) & (f.col("at_2") <= b - overlap)
    found = one.join(other, ["item", "salt"]).filter(near).withColumn("overlap", overlap)
    found = found.withColumn("shared", f.array_intersect("items_1", "items_2"))
    return found.filter((f.size("shared") >= f.col("overlap")) & (f.col("shared")[0] == f.col("item")))


def _expanded(together: Any, measure: str) -> Any:
    """The pairs of documents of pairs of sets, with their scores."""
    from pyspark.sql import functions as f

    common, a, b = f.size("shared"), f.col("size_1"), f.col("size_2")
    below = f.greatest(a, b) if measure == "max" else a + b - common
    scored = together.select("documents_1", "documents_2", (common / below).alias("score"))
    ones = scored.withColumn("one", f.explode("documents_1")).withColumn("other", f.explode("documents_2"))
    return ones.select(f.least("one", "other").alias("a"), f.greatest("one", "other").alias("b"), "score")


def _equal(distinct: Any) -> Any:
    """Every two documents that have the same set."""
    from pyspark.sql import functions as f

    several = distinct.filter("size(documents) > 1").select("documents", f.posexplode("documents").alias("n", "a"))
    later = f.explode(f.expr("slice(documents, n + 2, size(documents))"))
    return several.withColumn("b", later).select("a", "b", f.lit(1.0).alias("score"))
