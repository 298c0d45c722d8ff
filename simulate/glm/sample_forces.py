"""The force of each sample on its field, (prox - h)/V, by Newton steps for the sample's own V."""

from typing import Any

import numpy as np
from scipy.special import expit

from theory.core import Array
from theory.models.glm import LabelLaw
from theory.models.glm.cluster import kind_of
from theory.models.glm.label_channels import AnyChannel

NEWTON_STEPS = 100
SETTLED = 1e-14
STEP = 1e-6  # of central differences of a prox, relative to 1 + |t|, where all arguments are equal
# The step relative to the spread of the arguments: the mean of such differences has what a jump of the prox adds to the
# mean slope, which narrow ones miss. They are off by a sixth of its square where the prox is smooth, by 6e-4.
STEP_OF_SPREAD = 0.06


def sample_forces(
    loss: Any, y: Array, h: Array, V: Array, weights: Array, labels: LabelLaw | AnyChannel
) -> tuple[Array, Array]:
    """Return f = (prox - h)/V of each sample and its derivative by h, (n,) each; V and loss weights are (n,) too."""
    if loss == "square":
        return weights * (y - h) / (1 + weights * V), -weights / (1 + weights * V)
    if loss == "poisson":
        rate = np.exp(_poisson_prox(y, h, weights * V))
        return weights * (y - rate), -weights * rate / (1 + weights * V * rate)
    sign, origin = (y, 0.0 * y) if kind_of(labels) == "signs" else (-np.ones_like(y), y)
    force, slope = _argument_forces(loss, origin + sign * h, weights * V)
    return sign * weights * force, weights * slope


def _argument_forces(loss: Any, t: Array, V: Array) -> tuple[Array, Array]:
    """Return (prox - t)/V of a loss l(t), and its derivative by t."""
    if loss == "logistic":
        s = expit(-_logistic_prox(t, V))
        return s, -s * (1 - s) / (1 + V * s * (1 - s))
    if loss in ("hinge", "hard_margin"):
        force = np.maximum(1 - t, 0.0) / V
        capped = (force > 1) & (loss == "hinge")
        return np.where(capped, 1.0, force), np.where((t < 1) & ~capped, -1 / V, 0.0)
    force, slope = np.zeros_like(t), np.zeros_like(t)
    for v in np.unique(V):  # the operator of an own loss takes one V
        at = v == V
        step = np.maximum(STEP * (1 + abs(t[at])), STEP_OF_SPREAD * t[at].std())
        here, above, below = (
            np.asarray(loss.prox(one, float(v)), float) for one in (t[at], t[at] + step, t[at] - step)
        )
        force[at], slope[at] = (here - t[at]) / v, ((above - below) / (2 * step) - 1) / v
    return force, slope


def _logistic_prox(t: Array, V: Array) -> Array:
    """Return the root x of x = t + V sigma(-x), by Newton steps that a bracket halves where they leave it."""
    low, high = t, t + V
    x = np.clip(0.0, low, high)
    for _ in range(NEWTON_STEPS):
        s = expit(-x)
        gap = x - t - V * s
        low, high = np.where(gap > 0, low, x), np.where(gap > 0, x, high)
        moved = x - gap / (1 + V * s * (1 - s))
        moved = np.where((moved >= low) & (moved <= high), moved, (low + high) / 2)
        settled = np.max(abs(moved - x) / (1 + abs(x)), initial=0.0) <= SETTLED
        x = moved
        if settled:
            break
    return np.asarray(x)


def _poisson_prox(y: Array, h: Array, V: Array) -> Array:
    """Return the root x of x - h - V (y - exp(x)): from above, where this convex function is positive, Newton falls."""
    x = h + V * y
    for _ in range(NEWTON_STEPS):
        rate = V * np.exp(x)
        step = (x - h - V * y + rate) / (1 + rate)
        x = x - step
        if np.max(abs(step), initial=0.0) <= SETTLED * (1 + np.max(abs(x), initial=0.0)):
            break
    return np.asarray(x)
