"""Up to how many samples a hyperplane separates the clusters of a Gaussian mixture by their labels."""

import math

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtr

from theory.glm.masked.fresh_loss import whitened_gram
from theory.models import checks
from theory.models.arrays import Array
from theory.models.glm import GaussianMixture

GRADIENT = 1e-12  # of the convex function whose least value is sought
SEPARATED = 1e-13  # least value at which the threshold counts as infinite


def mixture_separability_threshold(model: GaussianMixture) -> float:
    """alpha_c = n/p up to which some w (and b, if `model.bias`) has y (w.x + b) > 0 on all samples; infinite if ever.

    y x = y mu_c + noise; whitened, only the span of the means is not isotropic. By Gordon's inequality, as for the
    cone of random labels, with u in that span (m_c: the whitened means) and g, xi independent standard normals,
    1/alpha_c = min_{u, b} E (g - y (u.(m_c + xi) + b))_+^2
    = min sum_c P_c (1 + |u|^2) F(y_c (u.m_c + b)/sqrt(1 + |u|^2)),
    F(k) = (1 + k^2) Phi(-k) - k phi(k): convex in u and b. Without bias, for means +-mu of Mahalanobis norm D, that is
    max over s in [0, 1) of (1 - s^2)/F(D s); D = 0 gives 2. One common covariance.
    """
    checks.record("model", model, GaussianMixture)
    K = whitened_gram(model)
    if np.isinf(K).any():
        return math.inf
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-14 * max(float(values[-1]), 1.0)
    means = vectors[:, kept] * np.sqrt(values[kept])  # (clusters, dimensions): K = means means^T
    labels = np.array(model.labels, float)
    columns = np.hstack((means, np.ones((len(K), int(model.bias)))))
    if columns.shape[1] == 0:
        return 2.0
    found = minimize(
        _missed,
        0.1 * np.mean(labels[:, None] * columns, axis=0),
        args=(columns, labels, np.array(model.probabilities), means.shape[1]),
        jac=True,
        method="BFGS",
        options={"gtol": GRADIENT, "maxiter": 1000},
    )
    least = float(found.fun)
    return 1 / least if least > SEPARATED else math.inf


def _missed(x: Array, columns: Array, labels: Array, shares: Array, dimension: int) -> tuple[float, Array]:
    """Mean squared part of g - y (u.m + b) above zero, and its gradient in (u, b)."""
    u = x[:dimension]
    size = math.sqrt(1 + float(u @ u))
    margin = labels * (columns @ x)
    k = margin / size
    tail, density = ndtr(-k), np.exp(-0.5 * k**2) / math.sqrt(2 * math.pi)
    value = float(shares @ (size**2 * ((1 + k**2) * tail - k * density)))
    slope = 2 * shares * (margin * tail - size * density)
    gradient = (slope * labels) @ columns
    gradient[:dimension] += 2 * u * float(shares @ tail)
    return value, gradient
