"""Annotation without a server: sheets that people fill in a browser, and what is made of their answers."""
