"""The pair model of a user's sequences: how well it predicts masked sites, and which sites interact."""

from figures.potts.analysis.analyse import analyse_sequences
from figures.potts.analysis.figure import FIGSIZE, as_experiment, decorate, draw_map, panels
from figures.potts.analysis.record import SequenceAnalysis
from figures.potts.analysis.report import report
from figures.potts.analysis.scores import Pair, average_product_corrected, interaction_scores, ranked_pairs

__all__ = [
    "FIGSIZE",
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
