"""Eigenvalues of one draw: the fitted joint predictor, the sample covariance and the sample correlation matrix.

Every replicate is (model, d, rng) -> (d,), ascending, for n = round(alpha d) rows of the covariance of a `MaskedRidge`
model; `lam` matters for the predictor alone. X is used as drawn: its mean is not subtracted.
"""

from typing import Any

import numpy as np
from numpy.random import Generator

from simulate.masked.fit import fit
from simulate.masked.replicate import draw
from theory.models import MaskedRidge
from theory.models.arrays import Array


def predictor_eigenvalues(model: MaskedRidge, d: int, rng: Generator, inputs: str = "gaussian") -> Array:
    """Of the fitted predictor A of all coordinates, which is similar to a symmetric matrix."""
    _, X = draw(model, d, rng, inputs)
    found = fit(X, model.lam)
    return eigenvalues_of_predictor(found.predictor, found.shrinkage)


def covariance_eigenvalues(model: MaskedRidge, d: int, rng: Generator, inputs: str = "gaussian") -> Array:
    """Of X'X/n."""
    _, X = draw(model, d, rng, inputs)
    return np.asarray(np.linalg.eigvalsh(X.T @ X / len(X)))


def correlation_eigenvalues(model: MaskedRidge, d: int, rng: Generator, inputs: str = "gaussian") -> Array:
    """Of X'X/n scaled to a unit diagonal."""
    _, X = draw(model, d, rng, inputs)
    X = X / np.sqrt(np.mean(X * X, axis=0))
    return np.asarray(np.linalg.eigvalsh(X.T @ X / len(X)))


def eigenvalues_of_predictor(predictor: Any, shrinkage: Any) -> Array:
    """Eigenvalues of A = 1 - diag(Q)^-1 Q, through diag(Q)^1/2 A diag(Q)^-1/2.

    predictor: (d, d); shrinkage: (d,), lam diag(Q) as a fit returns it, or diag(Q) times any constant. ValueError where
    the scaled matrix is not symmetric: then the two do not belong together.
    """
    predictor, root = np.asarray(predictor, float), np.sqrt(np.asarray(shrinkage, float))
    scaled = root[:, None] * predictor / root
    if not np.allclose(scaled, scaled.T, rtol=1e-6, atol=1e-6 * abs(scaled).max()):
        raise ValueError("predictor and shrinkage must come from the same fit: their product is not symmetric")
    return np.asarray(np.linalg.eigvalsh((scaled + scaled.T) / 2))
