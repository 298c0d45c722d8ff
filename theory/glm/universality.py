"""Random labels at lam -> 0: universal, whatever the covariance."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from theory.glm.losses import Loss, loss_of
from theory.glm.quadrature import normal_nodes
from theory.models import checks
from theory.numerics import ConvergenceError, Solution

LEAST, LARGEST = -20.0, 20.0  # of log q
ENOUGH = 1e-8  # residual


KNOWN = ("square", "logistic", "hinge")  # whose thresholds are known


@dataclass(frozen=True)
class UniversalRandomLabels:
    """Training loss, response V and self-overlap q at lam = 0+; V and q are infinite where the labels are separated."""

    train_loss: float
    V: float
    q: float
    residual: float
    converged: bool


def random_labels_limit(alpha: float, loss: str | Loss = "square", *, rank: float = 1.0) -> UniversalRandomLabels:
    """lam -> 0+ of `RandomLabels` for any full-rank covariance (arXiv:2205.13303); `rank`: rank(Omega)/p otherwise.

    V Vhat = 1 and q = qhat/Vhat^2 close the channel on itself: alpha E[1 - prox'] = 1, alpha E[(prox - h)^2] = q.
    Square loss: V = q = 1/(alpha - 1), train loss (1 - 1/alpha)_+/2; logistic and hinge loss vanish up to alpha = 2.
    Other losses have thresholds of their own: ValueError, solve `RandomLabels` at a small lam instead.
    """
    ratio = checks.positive("alpha", alpha) / checks.between("rank", rank, 0, 1, closed=(False, True))
    found = loss_of(loss)
    if loss_of(found.name if found.name in KNOWN else "square") is not found:
        raise ValueError(f"loss must be one of {', '.join(KNOWN)}, got {found.name!r}; others: solve at a small lam")
    if ratio <= (1 if found.name == "square" else 2):
        return UniversalRandomLabels(0.0, np.inf, np.inf, 0.0, True)
    if found.name == "square":
        return UniversalRandomLabels(0.5 * (1 - 1 / ratio), 1 / (ratio - 1), 1 / (ratio - 1), 0.0, True)
    return _solved(ratio, found)


def _solved(alpha: float, loss: Loss) -> UniversalRandomLabels:
    """Two nested scalar roots: V at a given q balances the first equation, q the second."""

    def averages(V: float, q: float) -> tuple[float, float, float]:
        s = np.sqrt(q)
        z, weights = normal_nodes((t / s, width / s) for t, width in loss.breakpoints(V))
        t = s * z
        prox = loss.prox(t, V)
        moved = float(weights @ (z * (t - prox))) / s  # E[1 - prox'], by parts
        return alpha * moved - 1, alpha * float(weights @ (prox - t) ** 2) / q - 1, float(weights @ loss.value(prox))

    def response(q: float) -> float:
        return float(np.exp(brentq(lambda v: averages(np.exp(v), q)[0], -40, 60, xtol=1e-14, rtol=1e-14)))

    def excess(log_q: float) -> float:
        q = float(np.exp(log_q))
        return averages(response(q), q)[1]

    advice = "alpha is too near its threshold"
    if not excess(LEAST) * excess(LARGEST) < 0:
        unsolved = Solution((np.nan, np.nan), "inadmissible", np.inf, ENOUGH, 0)
        raise ConvergenceError(f"random labels at lam = 0, alpha = {alpha:g}", unsolved, advice)
    q = float(np.exp(brentq(excess, LEAST, LARGEST, xtol=1e-14, rtol=1e-14)))
    V = response(q)
    first, second, train = averages(V, q)
    residual = max(abs(first), abs(second))
    if not residual < ENOUGH:
        solution = Solution((V, q), "max_iter", residual, ENOUGH, 0)
        raise ConvergenceError(f"random labels at lam = 0, alpha = {alpha:g}", solution, advice)
    return UniversalRandomLabels(train, V, q, residual, True)
