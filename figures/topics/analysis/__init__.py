"""A user's corpus: its topics, and whether a model tells words of one topic from words of different ones."""

from figures.topics.analysis.analyse import analyse_corpus, default_thresholds
from figures.topics.analysis.embedding import value_embedding
from figures.topics.analysis.figure import FIGSIZE, as_experiment, decorate, panels
from figures.topics.analysis.record import Comparison, TextAnalysis
from figures.topics.analysis.report import report
from figures.topics.analysis.table import contrast_frame

__all__ = [
    "FIGSIZE",
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
