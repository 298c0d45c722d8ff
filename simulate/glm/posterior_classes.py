"""Measures the error of the Bayes-optimal rule for classes with random means, by exact predictive densities."""

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from simulate.glm.modes import apportion
from theory.core import Count, Positive, checked, checks

LARGEST_PRIOR = 1e280  # variance of an entry of a mean, of which squares still are numbers
TEST_SAMPLES = 2000  # new samples, shared out among the classes


@checked
def posterior_error(
    alpha: Positive, variance: Positive, shares: ArrayLike, d: Count, rng: Generator, *, mean_power: Positive = 1.0
) -> float:
    """Measures P(prediction != class) of the best rule for one draw of K means and n = alpha d training samples in R^d.

    The means have independent normal entries of variance `mean_power`/d, samples of class k are normal around theirs
    with this `variance` in each direction, and the shares are known. Of the training set only the average of each class
    counts, which is drawn from its law. A new sample is given to the class of the largest posterior probability, from
    the normal law of a new sample of each class given the training set, without any limit of large d. ValueError for
    shares that are not at least two positive numbers of sum one, and for fewer training samples than classes.
    """
    rho = checks.finite_array("shares", shares, 1)
    if len(rho) < 2 or rho.min() <= 0 or rho.max() >= 1 or abs(rho.sum() - 1) > 1e-9:
        raise ValueError(f"shares must be at least two positive numbers that sum to 1, got {rho.tolist()}")
    n = round(alpha * d) if alpha * d < 2**53 else 2**53
    if n < len(rho):
        raise ValueError(f"alpha must give at least {len(rho)} samples, one for each class, got {n} of d = {d}")
    checks.fits_in_memory("the new samples", 3.0 * TEST_SAMPLES * d)
    prior, counts = mean_power / d / variance, apportion(rho, n)  # everything below is in units of the variance
    if not prior <= LARGEST_PRIOR:
        raise ValueError(f"mean_power must be at most {LARGEST_PRIOR:g} times d and the variance, got {mean_power:g}")
    means = math.sqrt(prior) * rng.standard_normal((len(rho), d))
    averages = means + np.sqrt(1 / np.maximum(counts, 1))[:, None] * rng.standard_normal(means.shape)
    centers = averages * (counts * prior / (1 + counts * prior))[:, None]
    spread = 1 + prior / (1 + counts * prior)
    wrong = np.zeros(len(rho))
    for c, m in enumerate(apportion(rho, TEST_SAMPLES)):
        x = means[c] + rng.standard_normal((max(int(m), 1), d))
        squares = np.stack([np.sum((x - center) ** 2, axis=1) for center in centers], axis=1)
        log_posterior = np.log(rho) - squares / (2 * spread) - d / 2 * np.log(spread)
        wrong[c] = np.mean(log_posterior.argmax(axis=1) != c)
    return float(rho @ wrong)
