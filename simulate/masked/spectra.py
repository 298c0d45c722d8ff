"""Measures eigenvalues of one draw, of the joint predictor, the sample covariance and the sample correlation matrix.

Every replicate is (model, d, rng) -> (d,), ascending, for n = round(alpha d) rows of the model's covariance. X is used
as drawn: its mean is not subtracted.
"""

import numpy as np
from numpy.random import Generator

from simulate.masked.draw import draw
from simulate.masked.fit import fit
from simulate.masked.sampler import Inputs
from theory.core import Array, checked
from theory.core.checks import finite_array
from theory.models import MaskedRidge, SampledRows


@checked
def predictor_eigenvalues(model: MaskedRidge, d: int, rng: Generator, inputs: Inputs = "gaussian") -> Array:
    """Measure the eigenvalues of the fitted joint predictor A, real because A is similar to a symmetric matrix."""
    _, X = draw(model, d, rng, inputs)
    found = fit(X, model.lam)
    return eigenvalues_of_predictor(found.predictor, found.shrinkage)


@checked
def covariance_eigenvalues(model: SampledRows, d: int, rng: Generator, inputs: Inputs = "gaussian") -> Array:
    """Measure the eigenvalues of the sample covariance X'X/n; a ridge of the model plays no part."""
    _, X = draw(model, d, rng, inputs)
    return np.asarray(np.linalg.eigvalsh(X.T @ X / len(X)))


@checked
def correlation_eigenvalues(model: SampledRows, d: int, rng: Generator, inputs: Inputs = "gaussian") -> Array:
    """Measure the eigenvalues of the sample correlation matrix, X'X/n scaled to a unit diagonal."""
    _, X = draw(model, d, rng, inputs)
    X = X / np.sqrt(np.mean(X * X, axis=0))
    return np.asarray(np.linalg.eigvalsh(X.T @ X / len(X)))


@checked
def eigenvalues_of_predictor(predictor: Array, shrinkage: Array) -> Array:
    """Compute the eigenvalues (d,) of a fitted joint predictor A = 1 - diag(Q)^-1 Q, ascending.

    They are those of the symmetric matrix diag(Q)^1/2 A diag(Q)^-1/2. predictor: (d, d); shrinkage: (d,), lam diag(Q)
    as a fit returns it, or diag(Q) times any positive constant. ValueError where the scaled matrix is not symmetric:
    then the two do not belong together.
    """
    predictor, shrinkage = finite_array("predictor", predictor, 2), finite_array("shrinkage", shrinkage, 1)
    if predictor.shape != 2 * shrinkage.shape:
        shape = f"({len(shrinkage)}, {len(shrinkage)})"
        raise ValueError(f"predictor must have shape {shape} as shrinkage has entries, got {predictor.shape}")
    if not (shrinkage.min() > 1e-100 and shrinkage.max() < 1e100 and abs(predictor).max() < 1e100):
        raise ValueError(
            f"shrinkage must be positive and predictor finite, both below 1e100, got a least shrinkage of "
            f"{shrinkage.min():g} and a largest coefficient of {abs(predictor).max():g}"
        )
    root = np.sqrt(shrinkage)
    scaled = root[:, None] * predictor / root
    if not np.allclose(scaled, scaled.T, rtol=1e-6, atol=1e-6 * abs(scaled).max()):
        raise ValueError("predictor and shrinkage must come from the same fit: their product is not symmetric")
    return np.asarray(np.linalg.eigvalsh((scaled + scaled.T) / 2))
