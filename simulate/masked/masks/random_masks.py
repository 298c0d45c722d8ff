"""Ridge regression of each coordinate on randomly masked inputs, solved one coordinate at a time."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from simulate.masked.masks.problem import RandomMasks
from simulate.masked.replicate import draw
from theory.models import Covariance
from theory.models.arrays import Array


@dataclass(frozen=True, eq=False)
class MaskedInputsFit:
    """Row k of `predictor` (d, d) predicts coordinate k from masked inputs; zero diagonal. `train_error` (d,)."""

    predictor: Array
    train_error: Array


def fit_masks(X: Array, masks: NDArray[np.bool_], lam: float, mask_rate: float) -> MaskedInputsFit:
    """Each coordinate regressed on the inputs of exactly those pairs (sample, mask) that hide it.

    `masks` (R, n, d) is True where a coordinate is hidden. With N = n R mask_rate, the expected number of pairs, row k
    minimizes (1/N) sum (x_k - a.z)^2 + lam |a|^2 over them, z the inputs with zeros at the hidden ones: d ridge
    regressions, each by its own normal equations.
    """
    (copies, n, d), pairs = masks.shape, masks.shape[0] * masks.shape[1] * mask_rate
    inputs = np.where(masks, 0.0, X).reshape(copies * n, d)
    hidden = np.ascontiguousarray(masks.reshape(copies * n, d).T)
    predictor, train = np.zeros((d, d)), np.zeros(d)
    for k in range(d):
        rows = np.flatnonzero(hidden[k])
        Z, y = inputs[rows], X[rows % n, k]  # column k of Z is zero, and so is its coefficient
        predictor[k] = _ridge(Z, y, pairs * lam)
        train[k] = np.sum((y - Z @ predictor[k]) ** 2) / pairs
    return MaskedInputsFit(predictor, train)


def fit_expected_masks(X: Array, lam: float, mask_rate: float) -> MaskedInputsFit:
    """The same objective averaged over all masks of each sample, from its expectation written out.

    E z z' = (1-p)^2 x x' + p (1-p) diag x^2 and E x_k z = (1-p) x_k x over the visible: d systems of d - 1 unknowns.
    """
    n, d = X.shape
    C = X.T @ X / n
    p, power = mask_rate, np.diagonal(C)
    gram = (1 - p) ** 2 * C + np.diag(p * (1 - p) * power)
    predictor, train = np.zeros((d, d)), np.zeros(d)
    for k in range(d):
        others = np.arange(d) != k
        system, moment = gram[np.ix_(others, others)], (1 - p) * C[others, k]
        a = np.linalg.solve(system + lam * np.eye(d - 1), moment)
        predictor[k, others] = a
        train[k] = power[k] - 2 * a @ moment + a @ system @ a
    return MaskedInputsFit(predictor, train)


def masked_test_error(predictor: Array, covariance: Covariance, mask_rate: float) -> Array:
    """(d,) error on new samples with new masks, both averaged exactly, the coordinate itself being masked."""
    Sigma, p = covariance.matrix, mask_rate
    second = (1 - p) ** 2 * Sigma + np.diag(p * (1 - p) * np.diagonal(Sigma))
    cross = (1 - p) * np.einsum("kj,jk->k", predictor, Sigma)
    return np.asarray(np.diagonal(Sigma) - 2 * cross + np.einsum("kj,kj->k", predictor @ second, predictor))


def coordinate_errors(model: RandomMasks, d: int, rng: Generator, inputs: str = "gaussian") -> Array:
    """(2, d): test and train error of each coordinate, of one data set with its masks."""
    covariance, X = draw(model.ridge, d, rng, inputs)
    if model.n_masks is None:
        fitted = fit_expected_masks(X, model.ridge.lam, model.mask_rate)
    else:
        masks = rng.random((model.n_masks, *X.shape)) < model.mask_rate
        fitted = fit_masks(X, masks, model.ridge.lam, model.mask_rate)
    return np.stack([masked_test_error(fitted.predictor, covariance, model.mask_rate), fitted.train_error])


def random_masks_test_error(model: RandomMasks, d: int, rng: Generator, inputs: str = "gaussian") -> float:
    """Mean over coordinates of the test error under masking."""
    return float(coordinate_errors(model, d, rng, inputs)[0].mean())


def random_masks_train_error(model: RandomMasks, d: int, rng: Generator, inputs: str = "gaussian") -> float:
    """Mean over coordinates of the mean squared residual of the pairs."""
    return float(coordinate_errors(model, d, rng, inputs)[1].mean())


def _ridge(Z: Array, y: Array, penalty: float) -> Array:
    """argmin |y - Z a|^2 + penalty |a|^2 by the smaller of the two normal equations; zero without rows."""
    rows, d = Z.shape
    if rows == 0:
        return np.zeros(d)
    wide = rows < d
    gram = blas.dsyrk(1.0, Z.T, trans=int(wide), lower=1)
    np.einsum("ii->i", gram)[:] += penalty
    _, solution, failed = lapack.dposv(gram, y if wide else Z.T @ y, lower=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError(f"normal equations with penalty {penalty:g} are not positive definite")
    return np.asarray(Z.T @ solution if wide else solution)
