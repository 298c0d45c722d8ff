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

from theory.core import NonNegative, OpenShare, Positive, Result, checked
from theory.glm.quadrature import normal_nodes
from theory.numerics import ConvergenceError

LOG_ODDS_WIDTH = 80.0  # of log q/(power - q)
SMALLEST_NOISE = 1e-300  # numbers that are smaller still have fewer digits


@dataclass(frozen=True, eq=False, repr=False)
class BayesOptimal(Result):
    """Hold the least test error of any rule, and the overlap `q` = E theta.<theta>/p with the posterior mean <theta>.

    `replicon` = 1 - alpha V^2 E (dg/domega)^2, with V = power - q and g = d log Z/d omega: one minus the factor by
    which a small difference between the overlaps of two posterior samples grows. It is positive, since samples of the
    posterior of the true model are to each other what each is to the teacher, so that it is also one minus the slope
    of the equation for q. Given labels of clusters leave the coordinates independent: there it is 1.

    `residual` is the relative one of the equation for power - q; it is zero where there is a closed form.
    """

    q: float
    test_error: float
    replicon: float


@checked
def bayes_optimal_linear(alpha: Positive, noise: NonNegative, power: Positive = 1.0) -> BayesOptimal:
    """Compute the least squared error E (y - <nu>)^2, label noise included, of labels y = nu + noise.

    Ridge regression with lam = noise/power attains it. Derived here (a known result): the posterior of theta is normal
    with that ridge regression as its mean. With qhat = alpha/(noise + V) the variance V solves a quadratic.

    >>> round(bayes_optimal_linear(alpha=2.0, noise=0.1).test_error, 9)
    0.184428877
    """
    if 0 < noise < SMALLEST_NOISE:
        raise ValueError(
            f"noise must be 0 or at least {SMALLEST_NOISE:g}, where double precision has its digits, got {noise:g}"
        )
    if not math.isfinite(alpha * power):
        raise ValueError(f"alpha must be finite when multiplied by the power, got {alpha:g} and {power:g}")
    # V (noise + V + alpha power) = power (noise + V), the positive root without cancellation.
    half = noise / 2 + (alpha - 1) * power / 2
    root = math.hypot(half, math.sqrt(power) * math.sqrt(noise))
    V = root - half if half <= 0 else power * (noise / (half + root))
    known = noise + V  # the variance of a label given the data
    residual = abs(V / power + alpha * (V / known) - 1) if known > 0 else 0.0
    # alpha V/(noise + V) = 1 - V/power, also in the limit where both vanish.
    return BayesOptimal(q=power - V, test_error=known, replicon=1 - (1 - V / power) ** 2 / alpha, residual=residual)


@checked
def bayes_optimal_sign(alpha: Positive, noise: NonNegative = 0.0, power: Positive = 1.0) -> BayesOptimal:
    """Compute the least error P(y != prediction) of labels y = sign(nu + noise), a probit.

    The best prediction is the sign of the posterior mean of nu.

    Z_y = Phi(y omega/sqrt(V + noise)), so that qhat = 2 alpha/(V + noise) E phi(u)^2/Phi(u) with
    u = z sqrt(q/(V + noise)); the fields of teacher and rule have the correlation sqrt(q/(power + noise)). Derived here
    in replica symmetry; without noise a known result of M. Opper and D. Haussler, Phys. Rev. Lett. 66, 2677 (1991),
    that was not looked up for this project. ConvergenceError where alpha, noise and power are too extreme for the
    equation to be solved.

    >>> round(bayes_optimal_sign(2.0).test_error, 6)
    0.174534
    """
    spread = noise / power  # the error has no units: everything below is in units of the power

    def gap(logit: float) -> float:
        """Return the logarithm of V (1 + qhat), which is zero at the root, at q = 1/(1 + exp(-logit))."""
        V = float(expit(-logit))
        return math.log(V) + math.log1p(_information(1 - V, V + spread) * alpha)

    if not gap(-LOG_ODDS_WIDTH) > 0 > gap(LOG_ODDS_WIDTH):
        problem = f"Bayes-optimal error of sign labels, alpha={alpha:g}, noise={noise:g}, power={power:g}"
        advice = "take a less extreme alpha, noise or power"
        raise ConvergenceError.of(problem, math.nan, math.inf, 1e-12, advice=advice)
    logit = float(brentq(gap, -LOG_ODDS_WIDTH, LOG_ODDS_WIDTH, xtol=1e-14, rtol=1e-14))
    V, q = float(expit(-logit)), float(expit(logit))
    # The arc cosine of sqrt(q/(1 + noise)) would lose all digits where V is small.
    error = math.atan2(math.sqrt(V + spread), math.sqrt(q)) / math.pi
    replicon = 1 - alpha * (V / (V + spread)) ** 2 * _squared_slope(q, V + spread)
    return BayesOptimal(q=power * q, test_error=error, replicon=replicon, residual=abs(gap(logit)))


@checked
def bayes_optimal_mixture(
    alpha: Positive, variance: Positive, mean_power: Positive = 1.0, probability: OpenShare = 0.5
) -> BayesOptimal:
    """Compute the least error P(y != prediction) of two clusters x = y mu + Gaussian of variance `variance`.

    The share P(y = 1) = `probability` is known, mu is normal with |mu|^2 = `mean_power`, and labels are given. Derived
    here: every y x is mu plus noise, so that the posterior of mu is normal. Its mean shrinks the average of y x; with q
    its overlap with mu, the log odds of the label are
    2 (y q + sqrt(variance q) z)/variance + log probability/(1 - probability).

    >>> round(bayes_optimal_mixture(2.0, variance=0.5).test_error, 6)
    0.102952
    """
    power, share = mean_power, probability
    gain = alpha * (power / variance)
    q = power * gain / (1 + gain) if math.isfinite(gain) else power
    distance, odds = math.sqrt(q / variance), math.log(share / (1 - share))
    if distance == 0:  # nothing is learned: the more frequent label is the best guess
        return BayesOptimal(q=q, test_error=min(share, 1 - share), replicon=1.0)
    wrong = [ndtr(-distance - sign * odds / (2 * distance)) for sign in (1, -1)]
    return BayesOptimal(q=q, test_error=float(share * wrong[0] + (1 - share) * wrong[1]), replicon=1.0)


def _information(q: float, width: float) -> float:
    """Return E (d log Z/d omega)^2 for a label sign(omega + sqrt(width) xi) and omega normal of variance q."""
    slope = math.sqrt(q / width)
    z, weights = normal_nodes([(0.0, 1 / slope if slope > 0 else 0.0)])
    u = slope * z
    return float(weights @ np.exp(-(u**2) - log_ndtr(u))) / (math.pi * width)


def _squared_slope(q: float, width: float) -> float:
    """Return width^2 E (d^2 log Z/d omega^2)^2 for the labels of `_information`."""
    slope = math.sqrt(q / width)
    z, weights = normal_nodes([(0.0, 1 / slope if slope > 0 else 0.0)])
    u = np.maximum(slope * z, -30.0)  # below, where Phi(u) is zero, the ratio phi/Phi would lose its digits
    ratio = np.exp(-(u**2) / 2 - log_ndtr(u)) / math.sqrt(2 * math.pi)
    return 2 * float(weights @ (ndtr(u) * (ratio * (u + ratio)) ** 2))
