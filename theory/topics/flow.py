"""Stage 1 in time, squared loss: gradient flow and gradient descent of the value matrix from zero."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from theory.core import Array, DataFrame, Grid, Result, checked, table
from theory.models.topics import Masking, Topics
from theory.topics.blocks import BlockMatrix
from theory.topics.cross_entropy import cross_entropy_flow
from theory.topics.sectors import same_topic_gap, sectors
from theory.topics.uniform_loss import Loss
from theory.topics.value_matrix import mean_and_gap

FlowBias = Literal["none", "trained"]
FLOW_TOLERANCE = 1e-12  # relative tolerance of the integration under cross-entropy


@dataclass(frozen=True, eq=False, repr=False)
class Stage1Flow(Result):
    """Holds `gap` and `loss` at each of `times` (or numbers of steps); `matrices[k]` is the value matrix at times[k].

    Under cross-entropy `residual` is the tolerance of the integration, and `iterations` its evaluations of the flow.
    """

    model: Topics = field(repr=False)
    times: Array
    gap: Array
    loss: Array
    matrices: tuple[BlockMatrix, ...] = field(repr=False)

    def to_frame(self) -> DataFrame:
        """Return a table with a row for each time and the columns time, gap and loss; needs pandas."""
        return table(time=self.times, gap=self.gap, loss=self.loss)


@checked
def stage1_flow(
    model: Topics,
    masking: Masking,
    times: Grid,
    *,
    loss: Loss = "squared",
    step: float | None = None,
    bias: FlowBias = "none",
) -> Stage1Flow:
    """Return the path dW/dt = -grad of the population loss from W = 0 (and b = 0, if `bias` is "trained").

    Attention is uniform and documents are long. The squared loss, summed over outputs, has a closed form: the topic
    sector relaxes at the rate 2 L1 and the mean at 2 L0, or 2 (L0 + 1) with a bias, where L1 and L0 are the eigenvalues
    of `sectors`. Derived here: the squared loss is quadratic with E[xbar xbar^T] as its only matrix, so that every
    sector relaxes on its own. With `step` the path is that of gradient descent with this step instead: `times` are then
    numbers of iterations, and exp(-2 L t) becomes (1 - 2 step L)^k. A loss averaged over the D outputs divides every
    rate by D. The flow under cross-entropy (without a bias or a step) consists of two scalar equations, integrated to
    1e-12. Raises ValueError for times below 0, for fractional numbers of steps, and for a step at which descent
    diverges.

    >>> from theory.models import Masking, TopicModel
    >>> model = TopicModel(n_topics=10, words_per_topic=10, topics_per_document=2)
    >>> path = stage1_flow(model, Masking(selected=0.15, kept=0.1, randomized=0.1), times=[0, 40, 1000])
    >>> path.loss.round(6).tolist()
    [1.0, 0.973785, 0.95]
    """
    if (t := times).min() < 0:
        raise ValueError(f"times must be >= 0, got {t.min()}")
    if loss == "squared":
        return _squared(model, masking, t, step, bias)
    if step is not None or bias != "none":
        raise ValueError(f"cross-entropy has neither step nor bias, got step = {step!r}, bias = {bias!r}")
    path = cross_entropy_flow(model, masking, t)
    evidence = {"residual": FLOW_TOLERANCE, "iterations": path.evaluations}
    return Stage1Flow(model, t, path.gap, path.loss, path.matrices, **evidence)  # type: ignore[arg-type]  # mixed values


@checked
def stability_limit(model: Topics, masking: Masking, *, bias: FlowBias = "none") -> float:
    """Return the step below which gradient descent on the squared loss converges, 1/max(L1, L0).

    L1 and L0 are the eigenvalues topic and mean of `sectors`; with a "trained" bias L0 + 1 takes the place of L0.
    Derived here: a step multiplies what a mode lacks by 1 - 2 step L, which must lie above -1.
    """
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
    """Return the part of a mode that is not learned yet."""
    if step is None:
        return np.exp(-(2 * rate) * np.minimum(t, 1e300))  # the product of large times would overflow
    if not 0 < step < limit:
        raise ValueError(f"step must lie in (0, {limit:g}) to be stable, got {step!r}")
    if (t != np.round(t)).any():
        raise ValueError(f"times must be whole numbers of steps, got {t[t != np.round(t)][0]}")
    return (1 - 2 * step * rate) ** np.round(t)
