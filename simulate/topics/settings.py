"""How a single layer is trained."""

from dataclasses import dataclass
from typing import Literal

from simulate.topics.layer import Keys, Loss
from simulate.topics.optimizer import OptimizerName
from theory.models import checks


@dataclass(frozen=True, kw_only=True)
class Training:
    """Training from small random weights, at a constant `rate`.

    `loss`: "squared" (summed over outputs), "squared_mean" (their mean) or "cross_entropy"; a mean over selected
    positions. `optimizer`: "adam" (0.9, 0.999, 1e-8) or "sgd", plain gradient descent. `documents`: fresh "sampled"
    ones with fresh masks each step, or the exact "population" of infinitely long ones. `keys`: "all" positions or the
    "unselected" ones. W_K, W_Q, W_V start normal with deviation `init_noise`, the bias at 0. `length` and
    `concentration` as in `sample_topic_documents`.
    """

    steps: int
    rate: float
    loss: Loss = "squared"
    optimizer: OptimizerName = "adam"
    documents: Literal["sampled", "population"] = "sampled"
    keys: Keys = "all"
    init_noise: float = 1e-4
    batch_size: int = 40
    length: int | tuple[int, int] = (100, 150)
    concentration: float | None = None
    attention_dimension: int | None = None  # d_a, the number of tokens by default
    record_every: int = 100
    evaluated: int = 500  # documents, drawn once, of which loss and attention are recorded

    def __post_init__(self) -> None:
        for name in ("steps", "batch_size", "record_every", "evaluated"):
            checks.dimension(getattr(self, name), name=name)
        if self.attention_dimension is not None:
            checks.dimension(self.attention_dimension, name="attention_dimension")
        checks.positive("rate", self.rate)
        checks.non_negative("init_noise", self.init_noise)
        _one_of("loss", self.loss, "squared", "squared_mean", "cross_entropy")
        _one_of("optimizer", self.optimizer, "adam", "sgd")
        _one_of("documents", self.documents, "sampled", "population")
        _one_of("keys", self.keys, "all", "unselected")


def _one_of(name: str, value: str, *allowed: str) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
