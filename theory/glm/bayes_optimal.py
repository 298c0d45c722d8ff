"""The least test error that any rule can have, given the training set: isotropic inputs, teacher drawn at random.

x in R^p with independent standard normal entries, n = alpha p samples, teacher field nu = theta.x/sqrt(p), theta with
independent normal entries of variance `power`. The posterior mean of theta has the overlap q with theta and with
itself; nu given the data and x is then normal with mean sqrt(q) z and variance V = power - q, and q solves
q = power^2 qhat/(1 + power qhat), where qhat = alpha E (d log Z/d omega)^2 measures what one label tells, Z its law.
"""

import math
from dataclasses import dataclass

from scipy.special import ndtr

from theory.core import NonNegative, OpenShare, Positive, Result, checked
from theory.glm.bayes_optimal_channel import bayes_optimal
from theory.models.glm import Cluster, GeneralizedLinearModel, Modes

ISOTROPIC = Modes([1.0], [[1.0]], [[[1.0]]])
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
    # `bayes_optimal` iterates to this point where there is noise. The closed form also holds without, and V = 0 there.
    # V (noise + V + alpha power) = power (noise + V), the positive root without cancellation.
    half = noise / 2 + (alpha - 1) * power / 2
    root = math.hypot(half, math.sqrt(power) * math.sqrt(noise))
    V = root - half if half <= 0 else power * (noise / (half + root))
    known = noise + V  # the variance of a label given the data
    residual = abs(V / power + alpha * (V / known) - 1) if known > 0 else 0.0
    # alpha V/(noise + V) = 1 - V/power, also in the limit where both vanish; of a small q the first has the digits.
    q = power * min(alpha * (V / known), 1.0) if known > 0 else power
    return BayesOptimal(q=q, test_error=known, replicon=1 - (q / power) ** 2 / alpha, residual=residual)


@checked
def bayes_optimal_sign(alpha: Positive, noise: NonNegative = 0.0, power: Positive = 1.0) -> BayesOptimal:
    """Compute the least error P(y != prediction) of labels y = sign(nu + noise), a probit.

    The best prediction is the sign of the posterior mean of nu.

    It is `bayes_optimal` for one isotropic cluster, with Z_y = Phi(y omega/sqrt(V + noise)), so that qhat =
    2 alpha/(V + noise) E phi(u)^2/Phi(u) with u = z sqrt(q/(V + noise)); the fields of teacher and rule have the
    correlation sqrt(q/(power + noise)). Derived here in replica symmetry; without noise a known result of M. Opper and
    D. Haussler, Phys. Rev. Lett. 66, 2677 (1991), that was not looked up for this project. ConvergenceError where
    alpha, noise and power are too extreme for the equation to be solved.

    >>> round(bayes_optimal_sign(2.0).test_error, 6)
    0.174534
    """
    if not math.isfinite(noise / power):  # the error has no units: everything below is in units of the power
        raise ValueError(f"noise must be finite when divided by the power, got {noise:g} and {power:g}")
    teacher = Cluster(labels="sign", teacher_signal=0, noise=noise / power)
    point = bayes_optimal(
        GeneralizedLinearModel(modes=ISOTROPIC, clusters=[teacher], alpha=alpha, loss="logistic", lam=1.0)
    )
    return BayesOptimal(
        q=power * float(point.q[0]),
        test_error=point.test_error,
        replicon=point.replicon,
        residual=point.residual,
    )


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
    q = power * (gain / (1 + gain)) if math.isfinite(gain) else power
    distance, odds = math.sqrt(q / variance), math.log(share / (1 - share))
    if distance == 0:  # nothing is learned: the more frequent label is the best guess
        return BayesOptimal(q=q, test_error=min(share, 1 - share), replicon=1.0)
    wrong = [ndtr(-distance - sign * odds / (2 * distance)) for sign in (1, -1)]
    return BayesOptimal(q=q, test_error=float(share * wrong[0] + (1 - share) * wrong[1]), replicon=1.0)
