"""Draws training samples of a population of Gaussian groups."""

from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from simulate.core.roots import symmetric_root
from simulate.glm.channel_labels import draw_labels
from simulate.glm.modes import apportion
from simulate.glm.population import Group, Population
from theory.core import Array, Count, checked, checks


@dataclass(frozen=True, eq=False)
class Sample:
    """Holds inputs X (n, p), labels y (n,), the group of each row (n,) and the weight of its loss (n,)."""

    X: Array = field(repr=False)
    y: Array = field(repr=False)
    groups: NDArray[np.intp] = field(repr=False)
    weights: Array = field(repr=False)


@checked
def draw(source: Population, n: Count, rng: Generator) -> Sample:
    """Draw n training samples of a population, group after group.

    The number of rows of each group is its share of n, rounded. Drawn at random it would move the bias by 1/sqrt(n),
    a noise that the theory does not contain.

    >>> from simulate.glm import population
    >>> from theory.models import GaussianMixture
    >>> model = GaussianMixture.opposite(probability=0.25, alpha=2.0, lam=0.1)
    >>> sample = draw(population(model, 10), 20, np.random.default_rng(0))
    >>> sample.X.shape, int(sample.y.sum())
    ((20, 10), -10)
    """
    checks.fits_in_memory("the samples", 2.0 * n * len(source.groups[0].mean))
    counts = apportion(np.array([group.share for group in source.groups]), n)
    parts = [draw_group(group, int(count), rng) for group, count in zip(source.groups, counts, strict=True)]
    X, y = np.vstack([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    own = np.repeat(np.arange(len(counts)), counts)
    pairs = np.array([group.loss_weights for group in source.groups])[own]
    return Sample(X, y, own, np.where(y > 0, pairs[:, 0], pairs[:, 1]))


def draw_group(group: Group, n: int, rng: Generator) -> tuple[Array, Array]:
    """Draw n inputs (n, p) of one group and their labels (n,)."""
    noise = gaussian(group.covariance, n, rng)
    return noise + group.mean, _labels(group, noise, rng)


def gaussian(covariance: Array, n: int, rng: Generator) -> Array:
    """Draw n centered rows of a covariance, (p,) if diagonal, else (p, p); it may be singular."""
    white = rng.standard_normal((n, len(covariance)))
    if covariance.ndim == 1:
        return np.asarray(white * np.sqrt(covariance))
    try:
        return np.asarray(white @ np.linalg.cholesky(covariance).T)
    except np.linalg.LinAlgError:  # a singular covariance has no Cholesky factor but still a symmetric root
        return white @ symmetric_root(*np.linalg.eigh(covariance))


def _labels(group: Group, noise: Array, rng: Generator) -> Array:
    n = len(noise)
    if group.labels == "cluster":
        return np.full(n, float(group.label))
    if group.labels == "random":
        return np.where(rng.integers(0, 2, n) == 1, 1.0, -1.0)
    assert group.teacher is not None  # the record requires one
    if not isinstance(group.labels, str):
        seen = group.offset + noise @ group.teacher + np.sqrt(group.unseen) * rng.standard_normal(n)
        return draw_labels(group.labels, seen, group.noise, rng)
    nu = group.offset + noise @ group.teacher + np.sqrt(group.unseen + group.noise) * rng.standard_normal(n)
    return nu if group.labels == "linear" else np.where(nu >= 0, 1.0, -1.0)
