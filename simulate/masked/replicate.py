"""One replicate of each measured quantity: draw n = round(alpha d) rows, fit them, average exactly over test inputs.

Every replicate is (model, d, rng) -> value for a `MaskedRidge` model, whose covariance is resized where its d differs;
`inputs` is the law of the factors (see `sample`), to be fixed with functools.partial.
"""

from numpy.random import Generator

from simulate.masked.fit import MaskedFit, fit
from simulate.masked.sampler import sample
from theory.models import Covariance, MaskedRidge, TeacherStudent
from theory.models.arrays import Array


def mean_test_error(model: MaskedRidge, d: int, rng: Generator, inputs: str = "gaussian") -> float:
    """Population error of the fitted joint predictor, averaged over the masked coordinates."""
    covariance, fitted = _fitted(model, d, rng, inputs)
    return fitted.mean_test_error(covariance)


def mean_train_error(model: MaskedRidge, d: int, rng: Generator, inputs: str = "gaussian") -> float:
    """Mean squared residual on the n rows, averaged over the masked coordinates."""
    return _fitted(model, d, rng, inputs)[1].mean_train_error


def coordinate_test_errors(model: MaskedRidge, d: int, rng: Generator, inputs: str = "gaussian") -> Array:
    """Population error of each masked coordinate, (d,)."""
    covariance, fitted = _fitted(model, d, rng, inputs)
    return fitted.test_error(covariance)


def effective_ridge(model: MaskedRidge, d: int, rng: Generator, inputs: str = "gaussian") -> float:
    """kappa = n/tr (XX'/n + lam)^-1 of the rows drawn."""
    return _fitted(model, d, rng, inputs)[1].effective_ridge


def draw(model: MaskedRidge | TeacherStudent, d: int, rng: Generator, inputs: str) -> tuple[Covariance, Array]:
    """The covariance at size d and n = round(alpha d) rows of it; ValueError for n < 1 or a size it cannot have."""
    # a record of the same size keeps the matrix and the eigenvectors that it has cached
    covariance = model.covariance if model.covariance.d == d else model.covariance.resized(d)
    n = round(model.alpha * d)
    if n < 1:
        raise ValueError(f"alpha * d must round to at least 1 sample, got alpha = {model.alpha}, d = {d}")
    return covariance, sample(covariance, n, rng, inputs)


def _fitted(model: MaskedRidge, d: int, rng: Generator, inputs: str) -> tuple[Covariance, MaskedFit]:
    covariance, X = draw(model, d, rng, inputs)
    return covariance, fit(X, model.lam)
