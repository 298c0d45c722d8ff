"""Masked ridge regression of one coordinate as a linear teacher with square loss."""

import math

import numpy as np

from theory.core import NonNegativeCount, checked
from theory.models import Cluster, GeneralizedLinearModel, MaskedRidge, Modes
from theory.models.conventions import ridge_per_unknown, samples_per_unknown

EIGENVALUE_RESOLUTION = 1e-13  # eigenvalues below this share of the largest are rounding


@checked
def masked_regression_problem(model: MaskedRidge, coordinate: NonNegativeCount = 0) -> GeneralizedLinearModel:
    """Make the problem of predicting one coordinate y from the p = d - 1 others x, as a linear teacher with noise.

    With S = Cov(x) and c = Cov(x, y) the teacher's field is a.x, a = S^-1 c, of variance c.S^-1.c; the rest of y is
    label noise, and the signal is sqrt(p) c. Derived here: of jointly Gaussian x and y the mean of y given x is linear
    in x, and what it leaves of y does not depend on x. The masked objective (1/n) |y - X a|^2 + lam_masked |a|^2 is 2/n
    times the sum that is minimized here with w = sqrt(p) a, so that lam = n lam_masked/p (theory.models.conventions).
    Test errors are equal; the training loss here is half the masked one. ValueError for a covariance of infinite
    dimension, to which `resized` gives a size.
    """
    if not model.covariance.is_finite or model.d < 2:
        raise ValueError(f"model must have a covariance of finite dimension d >= 2, got {model.covariance}")
    d = int(model.d)
    k = coordinate
    if k >= d:
        raise ValueError(f"coordinate must lie in 0..{d - 1}, got {coordinate!r}")
    matrix, others = model.covariance.matrix, np.delete(np.arange(d), k)
    values, basis = np.linalg.eigh(matrix[np.ix_(others, others)])
    resolved = values > EIGENVALUE_RESOLUTION * values[-1]
    om = np.where(resolved, values, 0.0)
    gram = np.where(resolved, (basis.T @ matrix[others, k]) ** 2, 0.0)
    explained = math.fsum(gram[resolved] / om[resolved])
    teacher = Cluster(
        labels="linear",
        teacher_signal=0,
        teacher_variance=explained,
        noise=max(float(matrix[k, k]) - explained, 0.0),
    )
    return GeneralizedLinearModel(
        modes=Modes(np.full(d - 1, 1 / (d - 1)), om[None], gram[None, None]),
        clusters=[teacher],
        alpha=samples_per_unknown(model.alpha, d),
        loss="square",
        lam=ridge_per_unknown(model.lam, model.alpha, d),
    )
