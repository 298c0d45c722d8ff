"""Finds the topics of a user's corpus, and whether a model tells words of one topic from other words."""

from figures.analyse.text.analyse import analyse_corpus
from figures.analyse.text.comparisons import value_embedding
from figures.analyse.text.figure import as_experiment, decorate, panels
from figures.analyse.text.plan import default_thresholds
from figures.analyse.text.record import Comparison, TextAnalysis
from figures.analyse.text.report import report
from figures.analyse.text.table import contrast_frame

__all__ = [
    "Comparison",
    "TextAnalysis",
    "analyse_corpus",
    "as_experiment",
    "contrast_frame",
    "decorate",
    "default_thresholds",
    "panels",
    "report",
    "value_embedding",
]
