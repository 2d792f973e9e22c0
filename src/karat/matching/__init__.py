"""Corpus × Run × Protocol → columns: joining, aligning, and the one pass over them."""
