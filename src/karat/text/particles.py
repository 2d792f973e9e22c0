"""Words that join others: prepositions and conjunctions of English."""

from __future__ import annotations

_PREPOSITIONS = """
    about above across after against along among amongst around as at before behind below beneath beside between beyond
    by during for from in inside into near of off on onto out outside over per since through throughout to toward
    towards under until upon versus via vs with within without
"""
_CONJUNCTIONS = "& and but nor or plus"
PREPOSITIONS = frozenset(_PREPOSITIONS.split())
CONJUNCTIONS = frozenset(_CONJUNCTIONS.split())
PARTICLES = PREPOSITIONS | CONJUNCTIONS
