"""Generators: models that write keyphrases word by word, those that stand in a document and others; trained by karat."""
