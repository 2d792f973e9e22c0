"""Documents said in other words, by a language model, by translation there and back, or with synonyms; and a filter."""

from __future__ import annotations

from karat.reformulating.asking import Forecast
from karat.reformulating.filtering import Filtered, filter_reformulations
from karat.reformulating.making import Reformulated, Reformulation, forecast, reformulate

__all__ = [
    "Filtered",
    "Forecast",
    "Reformulated",
    "Reformulation",
    "filter_reformulations",
    "forecast",
    "reformulate",
]
