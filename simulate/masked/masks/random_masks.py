"""Fits ridge regressions of each coordinate on randomly masked inputs, one coordinate at a time."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from simulate.masked.checks import data_matrix
from simulate.masked.draw import draw
from simulate.masked.sampler import Inputs
from theory.core import Array, Positive, Result, Within, checked
from theory.core.checks import finite_array
from theory.models import Covariance, RandomMasks
from theory.models.masks import LEAST_RATE

MaskRate = Annotated[float, Within(0.0, 1.0, closed=(True, False))]
SomeMaskRate = Annotated[float, Within(LEAST_RATE, 1.0, closed=(True, False))]  # at which there are pairs to fit


@dataclass(frozen=True, eq=False, repr=False)
class MaskedInputsFit(Result):
    """The d regressions on masked inputs.

    Row k of `predictor` (d, d) predicts coordinate k, with a zero diagonal; `train_error` (d,) is the mean square of
    the residuals over the expected number of pairs.
    """

    predictor: Array
    train_error: Array


@checked
def fit_masks(X: Array, masks: NDArray[np.bool_], lam: Positive, mask_rate: SomeMaskRate) -> MaskedInputsFit:
    """Regresse each coordinate of X (n, d) on the inputs of exactly those pairs of a sample and a mask that hide it.

    `masks` (R, n, d) is True where a coordinate is hidden. With N = n R mask_rate, the expected number of pairs, row k
    minimizes (1/N) sum (x_k - a.z)^2 + lam |a|^2 over them, z the inputs with zeros at the hidden ones: d ridge
    regressions, each by its own normal equations. ValueError for data as in `fit`, for masks of another shape, and
    unless lam > 0 and 0 < mask_rate < 1.
    """
    X = data_matrix("X", X)
    if masks.ndim != 3 or masks.shape[0] == 0 or masks.shape[1:] != X.shape:
        raise ValueError(f"masks must have the shape {X.shape} of X for each mask, got {masks.shape}")
    (copies, n, d), pairs = masks.shape, masks.shape[0] * masks.shape[1] * mask_rate
    inputs = np.where(masks, 0.0, X).reshape(copies * n, d)
    hidden = np.ascontiguousarray(masks.reshape(copies * n, d).T)
    columns = np.ascontiguousarray(X.T)
    predictor, train = np.zeros((d, d)), np.zeros(d)
    for k in range(d):
        rows = np.flatnonzero(hidden[k])
        # Column k of Z is zero, and so is its coefficient. `take` costs half of what an index does.
        Z, y = inputs.take(rows, axis=0), columns[k].take(rows % n)
        predictor[k] = _ridge(Z, y, pairs * lam)
        residuals = y - Z @ predictor[k]
        train[k] = residuals @ residuals / pairs
    return MaskedInputsFit(predictor, train)


@checked
def fit_expected_masks(X: Array, lam: Positive, mask_rate: MaskRate) -> MaskedInputsFit:
    """Minimize the objective of `fit_masks` averaged over all masks of each sample, its expectation written out.

    E z z' = (1-p)^2 x x' + p (1-p) diag x^2 and E x_k z = (1-p) x_k x over the visible: d systems of d - 1 unknowns,
    which one inverse solves. With B = E z z' + lam I and Q = B^-1, that of coordinate k has the matrix B without row
    and column k, and the right side B_jk / (1-p); by Schur's complement its solution is -Q_kj / (Q_kk (1-p)).
    ValueError for data as in `fit`, and unless lam > 0 and 0 <= mask_rate < 1.
    """
    X, p = data_matrix("X", X), mask_rate
    C = X.T @ X / len(X)
    power = np.diagonal(C)
    inverse = np.linalg.inv((1 - p) ** 2 * C + np.diag(p * (1 - p) * power + lam))
    predictor = -inverse / ((1 - p) * np.diagonal(inverse)[:, None])
    np.fill_diagonal(predictor, 0.0)
    explained = (1 - p) * np.sum(predictor * C, axis=1) + lam * np.sum(predictor**2, axis=1)
    return MaskedInputsFit(predictor, power - explained)


@checked
def masked_test_error(predictor: Array, covariance: Covariance, mask_rate: MaskRate) -> Array:
    """Compute exactly the error (d,) of a predictor (d, d) on new samples and masks that hide the coordinate itself.

    ValueError for a predictor of another size than the covariance, and unless 0 <= mask_rate < 1.
    """
    predictor = finite_array("predictor", predictor, 2)
    if predictor.shape != (covariance.size, covariance.size):
        raise ValueError(f"predictor must have shape {(covariance.size, covariance.size)}, got {predictor.shape}")
    Sigma, p = covariance.matrix, mask_rate
    second = (1 - p) ** 2 * Sigma + np.diag(p * (1 - p) * np.diagonal(Sigma))
    cross = (1 - p) * np.einsum("kj,jk->k", predictor, Sigma)
    return np.asarray(np.diagonal(Sigma) - 2 * cross + np.einsum("kj,kj->k", predictor @ second, predictor))


@checked
def coordinate_errors(model: RandomMasks, d: int, rng: Generator, inputs: Inputs = "gaussian") -> Array:
    """Measure test and train errors of each coordinate, (2, d), of one data set with its masks."""
    covariance, X = draw(model, d, rng, inputs)
    if model.n_masks is None:
        fitted = fit_expected_masks(X, model.lam, model.mask_rate)
    else:
        masks = rng.random((model.n_masks, *X.shape)) < model.mask_rate
        fitted = fit_masks(X, masks, model.lam, model.mask_rate)
    return np.stack([masked_test_error(fitted.predictor, covariance, model.mask_rate), fitted.train_error])


def _ridge(Z: Array, y: Array, penalty: float) -> Array:
    """Return argmin |y - Z a|^2 + penalty |a|^2 by the smaller of the two normal equations, zero without rows."""
    rows, d = Z.shape
    if rows == 0:
        return np.zeros(d)
    wide = rows < d
    gram = blas.dsyrk(1.0, Z.T, trans=int(wide), lower=1)
    np.einsum("ii->i", gram)[:] += penalty
    _, solution, failed = lapack.dposv(gram, y if wide else Z.T @ y, lower=1, overwrite_a=1)
    if failed:
        raise ValueError(f"lam must be larger: rounding hides its penalty {penalty:.3g} beside the normal equations")
    return np.asarray(Z.T @ solution if wide else solution)
