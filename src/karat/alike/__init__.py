"""Documents that are alike: pairs of them, and whether a system indexes both alike."""

from karat.alike.agreeing import homogeneity
from karat.alike.found import Homogeneity
from karat.alike.mining import Pairs, mine_pairs

__all__ = ["Homogeneity", "Pairs", "homogeneity", "mine_pairs"]
