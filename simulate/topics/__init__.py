"""Topic structure, simulated: documents and masks, least squares, a layer of attention trained, topics of a corpus."""

from simulate.core import CheckpointError, DivergenceError
from simulate.topics.attention import AttentionByClass, attention_by_class, topic_gap
from simulate.topics.attention_contrast import attention_contrast, count_attention_contrast
from simulate.topics.contrast import (
    TopicContrast,
    embedding_contrast,
    planted_values,
    random_embedding,
    topic_contrast,
    topic_membership,
)
from simulate.topics.counts import TopicDocuments
from simulate.topics.documents import sample_topic_documents
from simulate.topics.layer import Batch, Layer, batch_of, layer_loss, loss_and_gradient
from simulate.topics.lda import LdaFit, gibbs_lda
from simulate.topics.masking import MaskedDocuments, mask_documents
from simulate.topics.population import population_batch
from simulate.topics.run import Record, TrainingRun
from simulate.topics.settings import Training
from simulate.topics.training import train_single_layer
from simulate.topics.value_matrix import ValueMatrixFit, fit_value_matrix

__all__ = [
    "AttentionByClass",
    "Batch",
    "CheckpointError",
    "DivergenceError",
    "Layer",
    "LdaFit",
    "MaskedDocuments",
    "Record",
    "TopicContrast",
    "TopicDocuments",
    "Training",
    "TrainingRun",
    "ValueMatrixFit",
    "attention_by_class",
    "attention_contrast",
    "batch_of",
    "count_attention_contrast",
    "embedding_contrast",
    "fit_value_matrix",
    "gibbs_lda",
    "layer_loss",
    "loss_and_gradient",
    "mask_documents",
    "planted_values",
    "population_batch",
    "random_embedding",
    "sample_topic_documents",
    "topic_contrast",
    "topic_gap",
    "topic_membership",
    "train_single_layer",
]
