"""Makes a layer whose attention is tied by topics, with the value matrix of stage 1, to be run on any batch."""

import numpy as np

from simulate.topics import Layer
from theory.models import Masking, TopicModel
from theory.topics import BlockMatrix, optimal_value_matrix


def tied_layer(model: TopicModel, masking: Masking, same_topic: float, same_word: float) -> Layer:
    """Return a layer with softmax weights `same_word` on a query's word, `same_topic` on its topic, 1 elsewhere."""
    W = optimal_value_matrix(model, masking)
    logits = BlockMatrix(model, np.log(same_word), np.log(same_topic), 0.0).matrix
    return Layer(np.sqrt(len(logits)) * np.eye(len(logits)), logits, W.matrix, W.bias)
