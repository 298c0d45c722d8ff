"""Topics: what masked language modeling learns of them (arXiv:2303.04245), in closed form.

Documents mix topics. In stage 1 attention is uniform and the value matrix is learned; in stage 2 the value matrix is
that of stage 1 and attention is learned.
"""

from theory.models.topics import Masking, TopicMixture, TopicModel
from theory.topics.attention import AttentionAverages, attention_averages, attention_logits, population_loss
from theory.topics.blocks import BlockMatrix
from theory.topics.cross_entropy import cross_entropy_optimum
from theory.topics.embedding import embedding_excess, embedding_family, optimal_embedding_gram
from theory.topics.escape import EscapeRate, escape_rate
from theory.topics.flow import Stage1Flow, stability_limit, stage1_flow
from theory.topics.sectors import Sectors, same_topic_gap, sectors
from theory.topics.stage2 import Stage2Optimum, stage2_loss, stage2_optimum
from theory.topics.stage2_limits import (
    Stage2Bounds,
    many_topics,
    scaling_limit,
    stage2_bounds,
    unselected_keys,
    without_random_words,
)
from theory.topics.uniform_loss import block_loss_uniform, population_loss_uniform
from theory.topics.value_matrix import finite_length_loss, finite_length_value_matrix, optimal_value_matrix

__all__ = [
    "AttentionAverages",
    "BlockMatrix",
    "EscapeRate",
    "Masking",
    "Sectors",
    "Stage1Flow",
    "Stage2Bounds",
    "Stage2Optimum",
    "TopicMixture",
    "TopicModel",
    "attention_averages",
    "attention_logits",
    "block_loss_uniform",
    "cross_entropy_optimum",
    "embedding_excess",
    "embedding_family",
    "escape_rate",
    "finite_length_loss",
    "finite_length_value_matrix",
    "many_topics",
    "optimal_embedding_gram",
    "optimal_value_matrix",
    "population_loss",
    "population_loss_uniform",
    "same_topic_gap",
    "scaling_limit",
    "sectors",
    "stability_limit",
    "stage1_flow",
    "stage2_bounds",
    "stage2_loss",
    "stage2_optimum",
    "unselected_keys",
    "without_random_words",
]
