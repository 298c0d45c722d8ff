"""The least test error that any rule can have, given the training set: isotropic inputs, teacher drawn at random.

x in R^p with independent standard normal entries, n = alpha p samples, teacher field nu = theta.x/sqrt(p), theta with
independent normal entries of variance `power`. The posterior mean of theta has the overlap q with theta and with
itself; nu given the data and x is then normal with mean sqrt(q) z and variance V = power - q, and q solves
q = power^2 qhat/(1 + power qhat), where qhat = alpha E (d log Z/d omega)^2 measures what one label tells, Z its law.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, log_ndtr, ndtr

from theory.glm.quadrature import normal_nodes
from theory.models import checks

WIDEST = 80.0  # of log q/(power - q)


@dataclass(frozen=True)
class BayesOptimal:
    """`q` = E theta.<theta>/p with the posterior mean <theta>; `residual`: relative, of the equation for power - q."""

    q: float
    test_error: float
    residual: float


def bayes_optimal_linear(alpha: float, noise: float, power: float = 1.0) -> BayesOptimal:
    """y = nu + noise of variance `noise`: E (y - <nu>)^2, label noise included.

    Ridge regression with lam = noise/power attains it. Here qhat = alpha/(noise + V), and V solves a quadratic.
    """
    alpha, power = checks.positive("alpha", alpha), checks.positive("power", power)
    noise = checks.non_negative("noise", noise)
    # V (noise + V + alpha power) = power (noise + V), the positive root without cancellation
    half = (noise + (alpha - 1) * power) / 2
    root = math.sqrt(half**2 + power * noise)
    V = root - half if half <= 0 else power * noise / (half + root)
    gap = V * (noise + V + alpha * power) - power * (noise + V)
    return BayesOptimal(power - V, noise + V, abs(gap) / (power * (noise + V) or 1.0))


def bayes_optimal_sign(alpha: float, noise: float = 0.0, power: float = 1.0) -> BayesOptimal:
    """y = sign(nu + noise), a probit: P(y != prediction). The best prediction is the sign of the posterior mean of nu.

    Z_y = Phi(y omega/sqrt(V + noise)), so that qhat = 2 alpha/(V + noise) E phi(u)^2/Phi(u) with
    u = z sqrt(q/(V + noise)); the fields of teacher and rule have the correlation sqrt(q/(power + noise)).
    """
    alpha, power = checks.positive("alpha", alpha), checks.positive("power", power)
    noise = checks.non_negative("noise", noise)

    def gap(logit: float) -> float:
        """log of V's equation V (1 + power qhat) = power, at q = power/(1 + exp(-logit))."""
        V = power * float(expit(-logit))
        qhat = _information(power - V, V + noise) * alpha
        return math.log(V / power) + math.log1p(power * qhat)

    logit = float(brentq(gap, -WIDEST, WIDEST, xtol=1e-14, rtol=1e-14))
    V = power * float(expit(-logit))
    # arccos sqrt(q/(power + noise)) loses all digits where V is small
    error = math.atan2(math.sqrt(V + noise), math.sqrt(power * float(expit(logit)))) / math.pi
    return BayesOptimal(power * float(expit(logit)), error, abs(gap(logit)))


def bayes_optimal_mixture(
    alpha: float, variance: float, mean_power: float = 1.0, probability: float = 0.5
) -> BayesOptimal:
    """x = y mu + Gaussian of variance `variance`, P(y = 1) = `probability` known, mu normal with |mu|^2 = `mean_power`:
    P(y != prediction).

    The posterior mean of mu shrinks the average of y x; with q its overlap with mu, the log odds of the label are
    2 (y q + sqrt(variance q) z)/variance + log probability/(1 - probability).
    """
    alpha, variance = checks.positive("alpha", alpha), checks.positive("variance", variance)
    power, share = checks.positive("mean_power", mean_power), checks.between("probability", probability, 0, 1)
    q = power * alpha * power / (alpha * power + variance)
    distance, odds = math.sqrt(q / variance), math.log(share / (1 - share))
    wrong = [ndtr(-distance - sign * odds / (2 * distance)) for sign in (1, -1)]
    return BayesOptimal(q, float(share * wrong[0] + (1 - share) * wrong[1]), 0.0)


def _information(q: float, width: float) -> float:
    """E (d log Z/d omega)^2 of a label sign(omega + sqrt(width) xi), omega normal of variance q."""
    slope = math.sqrt(q / width)
    z, weights = normal_nodes([(0.0, 1 / slope if slope > 0 else 0.0)])
    u = slope * z
    return float(weights @ np.exp(-(u**2) - log_ndtr(u))) / (math.pi * width)
