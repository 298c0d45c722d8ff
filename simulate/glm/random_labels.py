"""Draws inputs for random labels, of several laws that share one covariance."""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.random import Generator

from simulate.glm.features import projection
from theory.core import Array, Count, checked, checks
from theory.models import Covariance, RandomFeatures

InputLaw = Literal["gaussian", "mixture", "rademacher", "features"]
MEAN_NORM = 2.0  # |mu| of the two clusters: far enough apart that their union is no Gaussian


@checked
def random_inputs(covariance: Covariance, n: Count, rng: Generator, inputs: InputLaw = "gaussian") -> Array:
    """Draw n rows (n, p) of a finite covariance Omega.

    `inputs` names their law: "gaussian"; "mixture", two clusters at +-mu with |mu| = 2, each with covariance Omega;
    "rademacher", Omega^(1/2) times random signs; or "features", tanh(F s) of random signs s in 2p dimensions, recolored
    to Omega by the covariance that Gaussian equivalence gives them. Raises ValueError for a covariance of infinite
    dimension.

    >>> from theory.models import AR1
    >>> random_inputs(AR1(5, 0.5), 3, np.random.default_rng(0), "rademacher").shape
    (3, 5)
    """
    if covariance.d == np.inf:
        raise ValueError("covariance must have a finite dimension d to be drawn from: use its method resized(d)")
    checks.fits_in_memory("the inputs", 2.0 * n * covariance.size)
    return LAWS[inputs](covariance, n, rng)


def _gaussian(covariance: Covariance, n: int, rng: Generator) -> Array:
    return _colored(covariance, rng.standard_normal((n, covariance.size)))


def _mixture(covariance: Covariance, n: int, rng: Generator) -> Array:
    mean = rng.standard_normal(covariance.size)
    mean *= MEAN_NORM / np.linalg.norm(mean)
    return _gaussian(covariance, n, rng) + rng.choice((-1.0, 1.0), n)[:, None] * mean


def _rademacher(covariance: Covariance, n: int, rng: Generator) -> Array:
    return _colored(covariance, rng.choice((-1.0, 1.0), (n, covariance.size)))


def _features(covariance: Covariance, n: int, rng: Generator) -> Array:
    p, d = covariance.size, 2 * covariance.size
    F = projection("gaussian", p, d, rng)
    F /= np.linalg.norm(F, axis=1, keepdims=True)  # the moments below are those of inputs of unit variance
    law = RandomFeatures(activation="tanh", samples_per_input=1.0, features_per_input=p / d, lam=1.0)
    _, linear, rest = law.moments
    own = linear**2 * (F @ F.T) + rest**2 * np.eye(p)
    whitened = np.linalg.solve(np.linalg.cholesky(own), np.tanh(F @ rng.choice((-1.0, 1.0), (d, n)))).T
    return _colored(covariance, whitened)


def _colored(covariance: Covariance, white: Array) -> Array:
    """Multiply rows of identity covariance by the symmetric root."""
    vectors = covariance.eigenvectors
    return np.asarray((white @ vectors) * np.sqrt(np.maximum(covariance.eigenvalues, 0)) @ vectors.T)


LAWS: dict[str, Callable[[Covariance, int, Generator], Array]] = {
    "gaussian": _gaussian,
    "mixture": _mixture,
    "rademacher": _rademacher,
    "features": _features,
}
