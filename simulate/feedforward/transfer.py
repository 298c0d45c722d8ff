"""Ridge regression on drawn samples, on the nested features of every depth or from the weights of the source."""

import math
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from theory.core import Array, Count, Within, checked, checks
from theory.models import NestedFeatures

Overlap = Annotated[float, Within(-1.0, 1.0, closed=(True, True))]


@checked
def frozen_risks(
    features: NestedFeatures,
    n_samples: Count,
    lams: ArrayLike,
    rng: np.random.Generator,
    *,
    depths: list[int] | None = None,
) -> Array:
    """Draw one target and one sample, fit ridge regression at every depth, and return its risks, (depths, lams).

    V_l are the first k_l of d coordinates, and the part of the target in each of their differences has a random
    direction and its exact length. All depths and all ridges `lams` (positive) see the same n samples; the risk
    |w - a|^2 is that of the fitted weights, exact for Gaussian inputs. `depths` selects some depths; by default all.

    >>> features = NestedFeatures(dimensions=(40, 10), kept_powers=(1, 0.8), noise=0.1)
    >>> frozen_risks(features, 30, [0.1, 1.0, 10.0], np.random.default_rng(0)).shape
    (2, 3)
    """
    ridges = _ridges(lams)
    chosen = list(range(features.n_depths)) if depths is None else [_depth(features, one) for one in depths]
    w = _target(features, rng)
    X, y = _sample(features, w, n_samples, rng)
    return np.array([_risks(X[:, :k], y, w, ridges) for k in features.dimensions[chosen]])


@checked
def warm_start_risks(
    features: NestedFeatures, n_samples: Count, overlap: Overlap, lams: ArrayLike, rng: np.random.Generator
) -> Array:
    """Draw a target, a source and one sample, fine-tune all weights from the source's, and return risks, (lams,).

    The source's weights have length one and exactly the `overlap` with the target's. Fine-tuning penalizes the distance
    from them with each of the ridges `lams` (positive).
    """
    ridges = _ridges(lams)
    if features.d == 1 and abs(overlap) < 1:
        raise ValueError(f"overlap must be 1 or -1 for features of one dimension, got {overlap}")
    w = _target(features, rng)
    fresh = rng.standard_normal(features.d)
    fresh -= (fresh @ w) * w
    length = np.linalg.norm(fresh) or 1.0
    source = overlap * w + math.sqrt(1 - overlap * overlap) * fresh / length
    X, y = _sample(features, w, n_samples, rng)
    return _risks(X, y - X @ source, w - source, ridges)


def _target(features: NestedFeatures, rng: np.random.Generator) -> Array:
    """Return a vector (d,) with the power s_l in the first k_l coordinates, for every l."""
    w = rng.standard_normal(features.d)
    ends = [*features.dimensions[::-1]]  # from the innermost space outwards
    powers = np.diff([0.0, *features.kept_powers[::-1]])
    for start, stop, power in zip([0, *ends[:-1]], ends, powers, strict=True):
        w[start:stop] *= math.sqrt(power) / np.linalg.norm(w[start:stop])
    return w


def _sample(features: NestedFeatures, w: Array, n_samples: int, rng: np.random.Generator) -> tuple[Array, Array]:
    checks.fits_in_memory(f"n_samples = {n_samples} of {features.d} features", 2.0 * n_samples * features.d)
    X = rng.standard_normal((n_samples, features.d))
    return X, X @ w + math.sqrt(features.noise) * rng.standard_normal(n_samples)


def _risks(X: Array, y: Array, w: Array, lams: Array) -> Array:
    """Return the risks |w - a|^2, (lams,), of the minimizers a of |y - Xa|^2/n + lam |a|^2, padded with zeros."""
    n, k = X.shape
    if k <= n:
        eigenvalues, axes = np.linalg.eigh(X.T @ X / n)
        target, driven = axes.T @ w[:k], axes.T @ (X.T @ y) / n
    else:  # the same in the space of samples
        eigenvalues, axes = np.linalg.eigh(X @ X.T / n)
        roots = np.sqrt(np.maximum(eigenvalues, 1e-300))
        target = axes.T @ (X @ w[:k]) / (roots * math.sqrt(n))
        driven = roots * (axes.T @ y) / math.sqrt(n)
    fitted = driven / (np.maximum(eigenvalues, 0.0) + lams[:, None])
    return np.asarray(w @ w - target @ target + np.sum((fitted - target) ** 2, axis=1))


def _ridges(lams: ArrayLike) -> Array:
    ridges = checks.finite_array("lams", lams, 1)
    if ridges.min() < 1e-12 or ridges.max() > 1e12:
        raise ValueError(f"lams must lie in [1e-12, 1e12], got {checks.shown(lams)}")
    return ridges


def _depth(features: NestedFeatures, depth: int) -> int:
    return int(checks.between("depths", depth, 0, features.n_depths - 1, closed=(True, True)))
