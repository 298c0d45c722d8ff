"""The limit lam -> 0 of random labels, which is the same for all covariances of the inputs."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from theory.core import Array, Positive, PositiveShare, Result, checked
from theory.glm.losses import Loss, loss_of
from theory.glm.quadrature import normal_nodes
from theory.numerics import ConvergenceError, Solution

MAX_ALPHA = 1e8  # samples per parameter; q falls as their inverse
LEAST, LARGEST = -20.0, 20.0  # of log q
RESIDUAL_TOLERANCE = 1e-8  # residual
ADVICE_FAR = "alpha is too large, or too near its threshold"


KNOWN = ("square", "logistic", "hinge")  # whose thresholds are known


@dataclass(frozen=True, eq=False, repr=False)
class UniversalRandomLabels(Result):
    """Hold the training loss, the response V and the self-overlap q in the limit lam -> 0+.

    V and q are infinite where a hyperplane separates the labels, or square loss interpolates them. `replicon` is that
    of `SaddlePoint`, which comes to 1 - alpha E (1 - prox')^2 here, with alpha the samples per direction: 1 - 1/alpha
    for square loss, and 0 for hinge loss, which without a ridge is marginally stable, since as many samples lie on its
    margin as there are weights. It is NaN where V is infinite, since its limit then depends on the covariance.
    """

    train_loss: float
    V: float
    q: float
    replicon: float


@checked
def random_labels_limit(
    alpha: Positive, loss: str | Loss = "square", *, rank: PositiveShare = 1.0
) -> UniversalRandomLabels:
    """Solve the limit lam -> 0+ of `RandomLabels`, the same for all covariances of full rank (arXiv:2205.13303).

    `rank` is rank(Omega)/p for covariances Omega that are singular. In the limit V Vhat = 1 and q = qhat/Vhat^2, so
    that the equations close in V and q: alpha E[1 - prox'] = 1 and alpha E[(prox - h)^2] = q, averaged over the field
    h of variance q. Square loss has V = q = 1/(alpha - 1) and the train loss (1 - 1/alpha)_+/2; logistic and hinge loss
    vanish up to alpha = 2. ValueError for other losses, whose thresholds are not known: solve `RandomLabels` at a small
    lam instead.

    >>> round(random_labels_limit(3.0, "hinge").train_loss, 9)
    0.505324813
    """
    ratio = alpha / rank
    found = loss_of(loss)
    if loss_of(found.name if found.name in KNOWN else "square") is not found:
        raise ValueError(f"loss must be one of {', '.join(KNOWN)}, got {found.name!r}; others: solve at a small lam")
    if ratio <= (1 if found.name == "square" else 2):
        return UniversalRandomLabels(0.0, np.inf, np.inf, np.nan)
    if found.name == "square":
        return UniversalRandomLabels(0.5 * (1 - 1 / ratio), 1 / (ratio - 1), 1 / (ratio - 1), 1 - 1 / ratio)
    if ratio > MAX_ALPHA:
        raise ConvergenceError.of(
            f"random labels at lam = 0, alpha = {ratio:g}", np.nan, np.inf, RESIDUAL_TOLERANCE, advice=ADVICE_FAR
        )
    return _solved(ratio, found)


def _solved(alpha: float, loss: Loss) -> UniversalRandomLabels:
    """Solve by two nested scalar roots: V at a given q balances the first equation, and q the second."""
    problem = f"random labels at lam = 0, alpha = {alpha:g}"

    def nodes(V: float, q: float) -> tuple[Array, Array, float]:
        s = float(np.sqrt(q))
        return *normal_nodes((t / s, width / s) for t, width in loss.breakpoints(V)), s

    def averages(V: float, q: float) -> tuple[float, float, float]:
        z, weights, s = nodes(V, q)
        t = s * z
        prox = loss.prox(t, V)
        moved = float(weights @ (z * (t - prox))) / s  # E[1 - prox'], by parts
        square = float(weights @ (prox - t) ** 2) / float(q)
        return alpha * moved - 1, alpha * square - 1, float(weights @ loss.value(prox))

    def response(q: float) -> float:
        def first(v: float) -> float:
            return averages(np.exp(v), q)[0]

        if not first(-40.0) * first(60.0) < 0:
            raise ConvergenceError.of(problem, (np.nan, np.nan), np.inf, RESIDUAL_TOLERANCE, advice=ADVICE_FAR)
        return float(np.exp(brentq(first, -40, 60, xtol=1e-14, rtol=1e-14)))

    def excess(log_q: float) -> float:
        q = float(np.exp(log_q))
        return averages(response(q), q)[1]

    advice = "alpha is too near its threshold"
    if not excess(LEAST) * excess(LARGEST) < 0:
        raise ConvergenceError.of(problem, (np.nan, np.nan), np.inf, RESIDUAL_TOLERANCE, advice=advice)
    q = float(np.exp(brentq(excess, LEAST, LARGEST, xtol=1e-14, rtol=1e-14)))
    V = response(q)
    first, second, train = averages(V, q)
    residual = max(abs(first), abs(second))
    Solution.verified((V, q), residual, RESIDUAL_TOLERANCE, what=problem, advice=advice)
    z, weights, s = nodes(V, q)
    slope = loss.slope(s * z, loss.prox(s * z, V), V)
    assert slope is not None  # the built-in losses know it
    return UniversalRandomLabels(train, V, q, 1 - alpha * float(weights @ (V * slope) ** 2), residual=residual)
