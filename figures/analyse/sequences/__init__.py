"""Fits a pair model to a user's sequences, which predicts masked sites and shows the sites that interact."""

from figures.analyse.sequences.analyse import analyse_sequences
from figures.analyse.sequences.figure import as_experiment, decorate, draw_map, panels
from figures.analyse.sequences.record import SequenceAnalysis
from figures.analyse.sequences.report import report
from figures.analyse.sequences.scores import Pair, average_product_corrected, interaction_scores, ranked_pairs

__all__ = [
    "Pair",
    "SequenceAnalysis",
    "analyse_sequences",
    "as_experiment",
    "average_product_corrected",
    "decorate",
    "draw_map",
    "interaction_scores",
    "panels",
    "ranked_pairs",
    "report",
]
