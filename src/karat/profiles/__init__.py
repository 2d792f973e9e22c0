"""describe(): the portrait of a corpus, and where systems look in it.

A first reading (`surveys.py`) finds what the corpus holds and which phrases its references are; a second one counts
(`counts.py`, `systems.py`), chunk by chunk, possibly in several processes. Duplicates come from prints of the texts
(`duplicates.py`), phrases are looked for in all texts by their numbers (`grams.py`).
"""

from karat.profiles.describing import Options, describe
from karat.profiles.found import Description, Duplicates, Leaks, Side, Texts

__all__ = ["Description", "Duplicates", "Leaks", "Options", "Side", "Texts", "describe"]
