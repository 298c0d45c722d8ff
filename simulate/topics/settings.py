"""How a single layer is trained."""

from dataclasses import dataclass
from typing import Literal

from simulate.topics.documents import length_range
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
            self._set(name, checks.dimension(getattr(self, name), name=name))
        if self.attention_dimension is not None:
            self._set("attention_dimension", checks.dimension(self.attention_dimension, name="attention_dimension"))
        self._set("rate", checks.positive("rate", self.rate))
        self._set("init_noise", checks.non_negative("init_noise", self.init_noise))
        shortest, longest = length_range(self.length)
        self._set("length", (shortest, longest) if isinstance(self.length, tuple) else shortest)
        if self.concentration is not None:
            self._set("concentration", checks.positive("concentration", self.concentration))
        _one_of("loss", self.loss, "squared", "squared_mean", "cross_entropy")
        _one_of("optimizer", self.optimizer, "adam", "sgd")
        _one_of("documents", self.documents, "sampled", "population")
        _one_of("keys", self.keys, "all", "unselected")

    def _set(self, name: str, value: object) -> None:
        """Plain numbers, also where numpy's were given: a checkpoint's header is JSON."""
        object.__setattr__(self, name, value)


def _one_of(name: str, value: str, *allowed: str) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
