"""The text of rooted trees: a sieve that writes it, counts of words, and predictors of hidden words."""

from simulate.trees.corpus import WrittenCorpus, letters_of_word, word_of_letters, write_corpus
from simulate.trees.ngrams import NGramCounts, ngram_counts
from simulate.trees.prediction import (
    PredictionLoss,
    markov_loss,
    neighbor_loss,
    prediction_loss,
    remainder_loss,
)
from simulate.trees.sieve import TreeText, count_words, read_text
from simulate.trees.windows import random_window, window_depth_share, window_excess_edges, window_pattern_share
from simulate.trees.word_counts import WordCounts

__all__ = [
    "NGramCounts",
    "PredictionLoss",
    "TreeText",
    "WordCounts",
    "WrittenCorpus",
    "count_words",
    "letters_of_word",
    "markov_loss",
    "neighbor_loss",
    "ngram_counts",
    "prediction_loss",
    "random_window",
    "read_text",
    "remainder_loss",
    "window_depth_share",
    "window_excess_edges",
    "window_pattern_share",
    "word_of_letters",
    "write_corpus",
]
