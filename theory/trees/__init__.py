"""Text of rooted trees: densities, moments and word frequencies of the natural numbers written as trees."""

from theory.trees.densities import NumberDensity, depth_density, exponent_density, squarefree_run_density
from theory.trees.encoding import smallest_number, word_of
from theory.trees.means import (
    MeanChildren,
    NumberMean,
    additive_mean,
    mean_children,
    mean_depth,
    mean_excess_edges,
)
from theory.trees.words import PatternDensity, WordFrequency, pattern_density, word_frequency

__all__ = [
    "MeanChildren",
    "NumberDensity",
    "NumberMean",
    "PatternDensity",
    "WordFrequency",
    "additive_mean",
    "depth_density",
    "exponent_density",
    "mean_children",
    "mean_depth",
    "mean_excess_edges",
    "pattern_density",
    "smallest_number",
    "squarefree_run_density",
    "word_frequency",
    "word_of",
]
