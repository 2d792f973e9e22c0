"""Extractors: models that choose phrases of a document."""
