"""Models that begin with an encoder: a tagger of present keyphrases, and unikp, which writes absent ones, too."""
