"""Stage 1 in time, squared loss: gradient flow and gradient descent of the value matrix from zero."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from theory.models import checks
from theory.models.arrays import Array
from theory.models.frames import table
from theory.models.topics import Masking, Topics
from theory.topics.blocks import BlockMatrix
from theory.topics.cross_entropy import cross_entropy_flow
from theory.topics.sectors import same_topic_gap, sectors
from theory.topics.value_matrix import mean_and_gap

if TYPE_CHECKING:
    import pandas as pd

FlowBias = Literal["none", "trained"]


@dataclass(frozen=True, eq=False)
class Stage1Flow:
    """`gap` and `loss` at each of `times` (or numbers of steps); `matrices[k]` is the value matrix at times[k]."""

    model: Topics = field(repr=False)
    times: Array
    gap: Array
    loss: Array
    matrices: tuple[BlockMatrix, ...] = field(repr=False)

    def to_frame(self) -> "pd.DataFrame":
        """Columns time, gap, loss."""
        return table(time=self.times, gap=self.gap, loss=self.loss)


def stage1_flow(
    model: Topics,
    masking: Masking,
    times: Any,
    *,
    loss: Literal["squared", "cross_entropy"] = "squared",
    step: float | None = None,
    bias: FlowBias = "none",
) -> Stage1Flow:
    """dW/dt = -grad of the population loss from W = 0 (and b = 0, if `bias` is "trained"), uniform attention.

    Squared loss in closed form: the topic sector relaxes at rate 2 L1, the mean at 2 L0, with a bias 2 (L0 + 1). With
    `step`, gradient descent of that step instead: `times` are numbers of iterations and exp(-2 L t) becomes
    (1 - 2 step L)^k; ValueError where that diverges. A loss averaged over the D outputs divides every rate by D.
    Cross-entropy (no bias, no step): two scalar equations, integrated to 1e-12.
    """
    t = checks.finite_array("times", np.atleast_1d(times), 1)
    if t.min() < 0:
        raise ValueError(f"times must be >= 0, got {t.min()}")
    if bias not in ("none", "trained"):
        raise ValueError(f"bias must be 'none' or 'trained', got {bias!r}")
    if loss == "squared":
        return _squared(model, masking, t, step, bias)
    if loss != "cross_entropy":
        raise ValueError(f"loss must be 'squared' or 'cross_entropy', got {loss!r}")
    if step is not None or bias != "none":
        raise ValueError(f"cross-entropy has neither step nor bias, got step = {step!r}, bias = {bias!r}")
    path = cross_entropy_flow(model, masking, t)
    return Stage1Flow(model, t, path.gap, path.loss, path.matrices)


def stability_limit(model: Topics, masking: Masking, *, bias: FlowBias = "none") -> float:
    """Gradient descent on the squared loss converges for steps below this, 1/max(L1, L0); L0 + 1 for L0 with a bias."""
    at = sectors(model, masking)
    return 1 / max(at.topic, at.mean + (bias == "trained"))


def _squared(model: Topics, masking: Masking, t: Array, step: float | None, bias: FlowBias) -> Stage1Flow:
    at, delta, words = sectors(model, masking), same_topic_gap(model, masking), model.n_words
    mean_power = at.mean + (bias == "trained")
    topic_left, mean_left = (
        _left(rate, t, step, stability_limit(model, masking, bias=bias)) for rate in (at.topic, mean_power)
    )
    gap, mean = delta * (1 - topic_left), (1 - mean_left) / (words * mean_power)
    matrices = tuple(
        mean_and_gap(model, masking, float(m), float(g), word_bias=float(m) if bias == "trained" else 0.0)
        for m, g in zip(mean, gap, strict=True)
    )
    topics_left = (model.n_topics - 1) * at.topic_variance
    loss = 1 - 1 / words - topics_left * (1 - topic_left**2) + mean_left**2 / words
    return Stage1Flow(model, t, gap, loss, matrices)


def _left(rate: float, t: Array, step: float | None, limit: float) -> Array:
    """The part of a mode that is not learned yet."""
    if step is None:
        return np.exp(-2 * rate * t)
    if not 0 < step < limit:
        raise ValueError(f"step must lie in (0, {limit:g}) to be stable, got {step!r}")
    if (t != np.round(t)).any():
        raise ValueError(f"times must be whole numbers of steps, got {t[t != np.round(t)][0]}")
    return (1 - 2 * step * rate) ** np.round(t)
