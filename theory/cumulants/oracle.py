"""The best possible classification of single samples by a test that knows the hidden direction."""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp, ndtr

from theory.core import Array, checked
from theory.models import SpikedCumulant

POINTS = 40  # points of the grid within one standard deviation of the narrowest Gaussian
MAX_BETA = 1e6
ROUNDING = 1e-13  # rounding error of the logarithm of the ratio of the two densities


@checked
def oracle_accuracy(model: SpikedCumulant) -> float:
    """Compute the accuracy of telling samples of H1 from those of H0, equally frequent, if the spike is known.

    The two laws differ only in y = u.x: under H1 it is a mixture of Gaussians of variance 1 - r around sqrt(r) g, under
    H0 it is N(0, 1). The best rule compares the two densities, and is right with probability 1/2 + (their total
    variation)/2. It bounds what any network can reach, from any number of samples. The d and the prior of the model
    play no part. Source: the lemma of J. Neyman and E. S. Pearson, Philos. Trans. R. Soc. A 231, 289 (1933); the
    reduction to y is derived here.

    The signs of the difference are found on a grid and its zeros refined; between them the masses are differences of
    error functions. ValueError for a beta above 10^6, where the Gaussians are too narrow for the grid.

    >>> round(oracle_accuracy(SpikedCumulant(d=16, beta=10.0)), 4)
    0.7148
    """
    if model.beta > MAX_BETA:
        raise ValueError(f"model must have beta <= {MAX_BETA:g}, got beta = {model.beta:g}")
    centers, width = math.sqrt(model.latent_share) * np.array(model.latent.atoms), math.sqrt(model.noise_share)
    weights = np.array(model.latent.probabilities)

    def log_ratio(y: float | Array) -> Array:
        exponents = 0.5 * np.square(y)[..., None] - 0.5 * ((np.asarray(y)[..., None] - centers) / width) ** 2
        return np.asarray(logsumexp(exponents + np.log(weights), axis=-1) - math.log(width))

    # Beyond the outermost centers by 10 widths and 10 units both densities vanish. Around every center the grid is as
    # fine as the narrow Gaussians, and between them as fine as the wide one.
    near = np.add.outer(centers, width * np.linspace(-10, 10, 20 * POINTS + 1)).ravel()
    far = np.linspace(centers.min() - 10, centers.max() + 10, 4001)
    grid = np.unique(np.concatenate([near, far]))
    logs = log_ratio(grid)
    above = logs > 0
    turns = np.flatnonzero(above[1:] != above[:-1])
    # An end whose logarithm is rounding itself is as good a zero. For a tiny beta it is so everywhere.
    nearest = np.where(abs(logs[turns]) < abs(logs[turns + 1]), turns, turns + 1)
    zeros = [
        brentq(lambda y: float(log_ratio(y)), grid[i], grid[i + 1], xtol=1e-14) if abs(logs[k]) > ROUNDING else grid[k]
        for i, k in zip(turns, nearest, strict=True)
    ]
    edges = np.array([-math.inf, *zeros, math.inf])
    spiked = np.diff(weights @ ndtr((edges - centers[:, None]) / width))
    return 0.5 + 0.25 * float(abs(spiked - np.diff(ndtr(edges))).sum())
