"""Trains a single layer of attention on masked documents."""

import hashlib
import os
from dataclasses import asdict
from typing import Any

import numpy as np

from simulate.core.checkpoint import Checkpoint, generator_state
from simulate.core.training import carry_out
from simulate.topics.run import Run, TrainingRun
from simulate.topics.settings import Training
from theory.core.arguments import checked
from theory.models.topics import Masking, TopicModel

FORMAT = "simulate.topics.training, 1"


@checked
def train_single_layer(
    model: TopicModel,
    masking: Masking,
    training: Training,
    rng: np.random.Generator,
    *,
    progress: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    save_seconds: float = 30.0,
) -> TrainingRun:
    """Train W_K, W_Q, W_V and b of a layer together, as `training` says; `progress` labels a bar.

    With a `checkpoint` (a file) the run is saved every `save_seconds` and at its end; called again with the same
    arguments and a generator in the same state it goes on from there, to the same bits. Raises CheckpointError where
    the file is another run's; DivergenceError (a FloatingPointError) where training diverges.
    """
    file = None
    if checkpoint is not None:
        file = Checkpoint(checkpoint, _header(model, masking, training, rng), of="train_single_layer")
    run = Run(model, masking, training, rng)
    carry_out(run, training.steps, file, save_seconds, progress)
    return TrainingRun(run.layer, tuple(run.history))


def _header(model: TopicModel, masking: Masking, training: Training, rng: np.random.Generator) -> dict[str, Any]:
    """Return what makes two runs the same: the records, and the generator before its first number."""
    generator = hashlib.sha256(generator_state(rng).encode()).hexdigest()[:16]
    return {"format": FORMAT, **asdict(model), **asdict(masking), **asdict(training), "generator": generator}
