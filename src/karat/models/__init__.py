"""Models that predict keyphrases, and what makes runs of them."""
