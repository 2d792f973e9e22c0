"""Metrics measured against people: how well each goes with the scores that annotators gave.

People score sets (what a system predicts for a document) or pairs (a prediction beside a reference). Their scores are
combined, item by item, and correlated with a metric: of sets the metric's value for each document, of pairs a
similarity. How well one annotator goes with the others is the ceiling. Items are resampled for intervals and tests; of
sets it is the documents that are resampled, since several systems may have been scored on each.
"""

from karat.people.asked import Options
from karat.people.found import Human
from karat.people.measure import human

__all__ = ["Human", "Options", "human"]
