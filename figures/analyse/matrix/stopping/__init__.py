"""Compares the best time to stop training with the best ridge, on the rows of a table."""

from figures.analyse.matrix.stopping.measure import BestStop, best_stop
from figures.analyse.matrix.stopping.report import best_stop_text

__all__ = ["BestStop", "best_stop", "best_stop_text"]
