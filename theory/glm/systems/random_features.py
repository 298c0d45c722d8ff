"""Random features by Gaussian equivalence: Omega = k1^2 F F^T + k*^2, Cov(v, nu) = k1 F theta/sqrt(d)."""

import numpy as np

from theory.glm.systems.registry import as_problem
from theory.models.arrays import Array
from theory.models.glm import Cluster, GeneralizedLinearModel, Modes, RandomFeatures
from theory.numerics import graded_edges, panelled_legendre

ORDER = 24  # nodes a panel
LEAST_PANEL = 1e-6


@as_problem.register
def _(model: RandomFeatures) -> GeneralizedLinearModel:
    teacher = Cluster(labels=model.labels, teacher_signal=0, noise=model.noise)
    return GeneralizedLinearModel(
        modes=feature_modes(model), clusters=[teacher], alpha=model.alpha, loss=model.loss, lam=model.lam
    )


def feature_modes(model: RandomFeatures) -> Modes:
    """Modes of the features, p -> infinity."""
    x, weights = projection_spectrum(model.features_per_input, model.projection)
    _, linear, rest = model.moments
    gram = weights * linear**2 * x * model.features_per_input
    return Modes(weights, (linear**2 * x + rest**2)[None], gram[None, None])


def projection_spectrum(features_per_input: float, projection: str) -> tuple[Array, Array]:
    """Eigenvalues of F F^T (p, p) and their weights, p/d = `features_per_input`.

    Gaussian: Marchenko-Pastur in the angle between its edges, y = 1 + g - 2 sqrt(g) cos(angle), where the density is
    smooth; for p near d panels shrink towards the lower edge, which then nears zero.
    """
    ratio = 1 / features_per_input
    if projection == "orthogonal":
        return _with_kernel(np.array([max(1.0, features_per_input)]), np.ones(1), ratio)
    g = min(ratio, 1 / ratio)
    near = max(1 - np.sqrt(g), LEAST_PANEL)
    angle, weights = panelled_legendre(graded_edges(0.0, np.pi, near), ORDER)
    y = (1 - np.sqrt(g)) ** 2 + 4 * np.sqrt(g) * np.sin(angle / 2) ** 2
    weights = weights * 2 / np.pi * np.sin(angle) ** 2 / y
    return _with_kernel(y / g if ratio <= 1 else y, weights / weights.sum(), ratio)


def _with_kernel(x: Array, weights: Array, ratio: float) -> tuple[Array, Array]:
    """With fewer inputs than features, a share 1 - d/p of the modes has the eigenvalue zero."""
    if ratio >= 1:
        return x, weights
    return np.append(x, 0.0), np.append(ratio * weights, 1 - ratio)
