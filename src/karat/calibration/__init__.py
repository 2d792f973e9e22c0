"""Whether a system knows when it is right: its confidence against how often it is correct."""

from karat.calibration.found import BINNING, CALIBRATE, Confidence, Options
from karat.calibration.judging import confidence

__all__ = ["BINNING", "CALIBRATE", "Confidence", "Options", "confidence"]
