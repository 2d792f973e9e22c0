"""Generators: models that write keyphrases word by word, present and absent ones; trained by karat."""
