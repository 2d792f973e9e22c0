"""A report as one HTML page that opens from disk and asks nothing of a network."""

from karat.report.page.found import Answer, Browser, Entry, Page, Part, Place, Predicted, Wanted

__all__ = ["Answer", "Browser", "Entry", "Page", "Part", "Place", "Predicted", "Wanted"]
