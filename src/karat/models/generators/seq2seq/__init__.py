"""Pretrained networks with an encoder and a decoder, as BART and T5, that learn to write keyphrases."""
