"""Stage 1 in time: gradient flow and gradient descent of the value matrix from zero, and the cross-entropy flow."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

from theory.models import checks
from theory.models.topics import Masking, TopicModel
from theory.numerics import ConvergenceError, Solution
from theory.topics.blocks import Array, BlockMatrix
from theory.topics.sectors import same_topic_gap, sectors


@dataclass(frozen=True, eq=False)
class Stage1Flow:
    """`gap` and `loss` at each of `times`; `.matrix(k)` is the value matrix at times[k]."""

    model: TopicModel = field(repr=False)
    times: Array
    gap: Array
    loss: Array
    matrices: tuple[BlockMatrix, ...] = field(repr=False)


def stage1_flow(
    model: TopicModel,
    masking: Masking,
    times: Any,
    *,
    loss: Literal["squared", "cross_entropy"] = "squared",
    step: float | None = None,
) -> Stage1Flow:
    """dW/dt = -grad of the population loss from W = 0, uniform attention, no bias.

    Squared loss in closed form: the topic sector relaxes at rate 2 L1, the mean at 2 L0. With `step`, gradient descent
    of that step instead: `times` are numbers of iterations and exp(-2 L t) becomes (1 - 2 step L)^k; ValueError where
    that diverges. A loss averaged over the D outputs divides every rate by D. Cross-entropy: two scalar equations,
    integrated to 1e-12.
    """
    t = checks.finite_array("times", np.atleast_1d(times), 1)
    if t.min() < 0:
        raise ValueError(f"times must be >= 0, got {t.min()}")
    if loss == "squared":
        return _squared(model, masking, t, step)
    if loss != "cross_entropy":
        raise ValueError(f"loss must be 'squared' or 'cross_entropy', got {loss!r}")
    if step is not None:
        raise ValueError(f"step must be None for cross-entropy, got {step!r}")
    return _cross_entropy(model, masking, t)


def _squared(model: TopicModel, masking: Masking, t: Array, step: float | None) -> Stage1Flow:
    at, delta = sectors(model, masking), same_topic_gap(model, masking)
    T, v, tau, q = model.n_topics, model.words_per_topic, model.topics_per_document, masking.mask_fraction
    if step is not None and not 0 < step < 1 / max(at.topic, at.mean):
        raise ValueError(f"step must lie in (0, {1 / max(at.topic, at.mean):g}) to be stable, got {step!r}")
    topic_left, mean_left = (_decay(rate, t, step) for rate in (at.topic, at.mean))
    gap = delta * (1 - topic_left)
    mean = (1 - mean_left) / (T * v * at.mean)
    matrices = tuple(
        _value_matrix(model, float(g), (1 - q) / (T * v) * float(m), q * float(m))
        for g, m in zip(gap, mean, strict=True)
    )
    loss = 1 - 1 / (tau * v) + (T - tau) / (tau * T * v) * topic_left**2 + mean_left**2 / (T * v)
    return Stage1Flow(model, t, gap, loss, matrices)


def _decay(rate: float, t: Array, step: float | None) -> Array:
    return np.exp(-2 * rate * t) if step is None else (1 - 2 * step * rate) ** t


def _value_matrix(model: TopicModel, gap: float, mean: float, mask_column: float) -> BlockMatrix:
    different = mean - gap / model.n_topics
    return BlockMatrix(model, gap + different, gap + different, different, mask_column=mask_column)


def _cross_entropy(model: TopicModel, masking: Masking, t: Array) -> Stage1Flow:
    """The gap and y0, the amplitude of row 0 along E xbar; y_w = -y0/(T v) in every word row."""
    solved = solve_ivp(
        lambda _, x: _slopes(model, masking, x),
        (0, max(float(t.max()), 1e-12)),
        [0.0, 0.0],
        t_eval=np.unique(t),
        method="DOP853",
        rtol=1e-12,
        atol=1e-14,
    )
    if not solved.success:
        raise ConvergenceError("cross-entropy flow", Solution(solved.y[:, -1], "diverged", np.inf, 1e-12, solved.nfev))
    at = np.searchsorted(np.unique(t), t)
    gap, y0 = solved.y[0][at], solved.y[1][at]
    losses = np.array([_loss(model, masking, g, y) for g, y in zip(gap, y0, strict=True)])
    matrices = tuple(_cross_entropy_matrix(model, masking, float(g), float(y)) for g, y in zip(gap, y0, strict=True))
    return Stage1Flow(model, t, gap, losses, matrices)


def _logits(model: TopicModel, masking: Masking, gap: float, y0: float) -> tuple[Array, Array]:
    """Logits of words inside S, outside, and of [MASK]; and how many tokens there are of each."""
    T, v, tau = model.n_topics, model.words_per_topic, model.topics_per_document
    mean, kappa = sectors(model, masking).mean, masking.true_fraction
    y_word = -y0 / (T * v)
    z = np.array([kappa * gap * (1 / tau - 1 / T) + mean * y_word, -kappa * gap / T + mean * y_word, mean * y0])
    return z, np.array([tau * v, (T - tau) * v, 1.0])


def _slopes(model: TopicModel, masking: Masking, x: Array) -> list[float]:
    z, counts = _logits(model, masking, float(x[0]), float(x[1]))
    p = np.exp(z - z.max())
    p /= counts @ p
    T, v, tau = model.n_topics, model.words_per_topic, model.topics_per_document
    pull = 1 / (tau * v) - p[0] + p[1]
    return [pull * masking.true_fraction * (T - tau) / (T * (T - 1) * v), -p[2]]


def _loss(model: TopicModel, masking: Masking, gap: float, y0: float) -> float:
    z, counts = _logits(model, masking, gap, y0)
    return float(z.max() + np.log(counts @ np.exp(z - z.max())) - z[0])


def _cross_entropy_matrix(model: TopicModel, masking: Masking, gap: float, y0: float) -> BlockMatrix:
    q, words = masking.mask_fraction, model.n_words
    y_word = -y0 / words
    different = y_word * (1 - q) / words - gap / model.n_topics
    return BlockMatrix(
        model,
        gap + different,
        gap + different,
        different,
        mask_column=y_word * q,
        mask_row=y0 * (1 - q) / words,
        mask_mask=y0 * q,
    )


def cross_entropy_optimum(model: TopicModel, masking: Masking, lam: float) -> BlockMatrix:
    """Minimizer of the cross-entropy + (lam/2) |W|^2, no bias: two unknowns. Without a ridge there is none: the gap
    grows without end while the loss falls to log(tau v)."""
    lam = checks.positive("lam", lam)
    mean, words, T, v = sectors(model, masking).mean, model.n_words, model.n_topics, model.words_per_topic
    weights = lam * np.array([v**2 * (T - 1), mean * (1 + 1 / words)])

    def objective(x: Array) -> tuple[float, Array]:
        slopes = np.array(_slopes(model, masking, x))
        slopes[0] *= v**2 * (T - 1)  # the metric of the flow, taken out again
        slopes[1] *= mean * (1 + 1 / words)
        return _loss(model, masking, *x) + 0.5 * float(weights @ x**2), weights * x - slopes

    found = minimize(objective, np.zeros(2), jac=True, method="BFGS", options={"gtol": 1e-12, "maxiter": 2000})
    residual = float(np.max(abs(found.jac)))
    if not residual < 1e-8:
        raise ConvergenceError(
            f"regularized cross-entropy, lam={lam:g}", Solution(found.x, "max_iter", residual, 1e-8, found.nit)
        )
    return _cross_entropy_matrix(model, masking, float(found.x[0]), float(found.x[1]))
