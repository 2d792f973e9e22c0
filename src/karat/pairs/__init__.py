"""Pairs of alike documents: mined from a corpus, or made by reformulating documents; and a filter of these."""
