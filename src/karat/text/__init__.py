"""Text: tokens and stems."""
