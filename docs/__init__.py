"""The documentation: what people write, and `python -m docs.generate`, which writes the rest."""
