"""Provides what every simulation shares: random streams, estimates, replicates, parallel sweeps, checkpoints."""

from simulate.core.backends import Backend, Task
from simulate.core.checkpoint import CheckpointError
from simulate.core.divergence import DivergenceError
from simulate.core.estimate import Estimate, Extrapolation, GeometricMean, Share, extrapolate
from simulate.core.replicates import Replicate, replicate_estimate, replicate_tasks, replicate_values
from simulate.core.store import discard
from simulate.core.streams import stream
from simulate.core.sweep import TaskError, sweep

__all__ = [
    "Backend",
    "CheckpointError",
    "DivergenceError",
    "Estimate",
    "Extrapolation",
    "GeometricMean",
    "Replicate",
    "Share",
    "Task",
    "TaskError",
    "discard",
    "extrapolate",
    "replicate_estimate",
    "replicate_tasks",
    "replicate_values",
    "stream",
    "sweep",
]
