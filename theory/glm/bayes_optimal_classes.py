"""The least test error of K classes whose means are drawn at random, given the training set."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from theory.core import Array, Positive, Result, checked, checks
from theory.glm.multiclass.decisions import decision_probabilities


@dataclass(frozen=True, eq=False, repr=False)
class BayesOptimalClasses(Result):
    """Hold the least error P(prediction != class) of any rule for K classes, and what it is made of.

    `q` (K,) are the overlaps of the posterior means of the K means with these, and `confusion` (K, K) has
    P(prediction = k | class c) at [c, k]. `test_error_uncertainty` estimates the numerical error.
    """

    q: Array
    test_error: float
    confusion: Array
    test_error_uncertainty: float


@checked
def bayes_optimal_classes(
    alpha: Positive, variance: Positive, shares: ArrayLike, mean_power: Positive = 1.0
) -> BayesOptimalClasses:
    """Compute the least error of K classes x = mu_k + Gaussian of variance `variance`, with independent normal means.

    The shares rho_k of the classes are known, |mu_k|^2 = `mean_power`, and there are n = alpha p samples in R^p with
    their classes; K is fixed while p grows, so that the means are orthogonal. The posterior mean of mu_k shrinks the
    average of the samples of class k; its overlap with mu_k, and with itself, is q_k = power gain/(1 + gain) with
    gain = rho_k alpha power/variance. The prediction is the largest of K independent normal numbers
    log rho_k + (x.m_k - q_k/2)/variance, where x.m_k has the mean q_k in class k, 0 in the others, and the variance
    `variance` q_k. For equal shares and power 1 these are the numbers 1 (own class) or 0 plus noise of the standard
    deviation sqrt(variance (1 + variance/(rho alpha))) of the authors' code of arXiv:2106.03791 (IdePHICS/
    GaussMixtureProject, multiK/how_to.ipynb); the shift for unequal ones is derived here. ValueError for shares that
    are not at least two positive numbers of sum one.

    >>> round(bayes_optimal_classes(3.0, variance=0.5, shares=(1 / 3, 1 / 3, 1 / 3)).test_error, 6)
    0.322572
    """
    rho = checks.finite_array("shares", shares, 1)
    if len(rho) < 2 or rho.min() <= 0 or rho.max() >= 1 or abs(rho.sum() - 1) > 1e-9:
        raise ValueError(f"shares must be at least two positive numbers that sum to 1, got {rho.tolist()}")
    gain = rho * (alpha * (mean_power / variance))
    if not np.isfinite(gain).all():
        raise ValueError(f"alpha must be finite times mean_power/variance, got {alpha:g}, {mean_power:g}, {variance:g}")
    q = mean_power * (gain / (1 + gain))
    distance = q / variance  # squared, in standard deviations
    if distance.max() == 0:  # nothing is learned: the most frequent class is the best guess
        chances, error = np.tile(np.eye(len(rho))[rho.argmax()], (len(rho), 1)), 0.0
    else:
        center = np.log(rho) - distance / 2
        found = [decision_probabilities(center + distance * own, np.diag(distance)) for own in np.eye(len(rho))]
        chances, error = np.stack([one for one, _ in found]), max(each for _, each in found)
    wrong = float(rho @ np.sum(np.where(np.eye(len(rho)) > 0, 0.0, chances), axis=1))
    return BayesOptimalClasses(q=q, test_error=wrong, confusion=chances, test_error_uncertainty=error)
