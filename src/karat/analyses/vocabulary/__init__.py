"""Work on vocabularies: what one is like, and what the phrases of a run are in it."""
