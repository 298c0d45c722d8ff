"""Measures the matching supervised problem, ridge regression on the labels of a linear teacher and the same inputs."""

import numpy as np
from numpy.random import Generator

from simulate.masked.draw import draw
from simulate.masked.moments import mirrored
from simulate.masked.primal import ridged_inverse
from simulate.masked.row_blocks import RowBlocks
from simulate.masked.sampler import Inputs
from simulate.masked.spectral import decompose
from theory.core import Array, checked
from theory.models import TeacherStudent

FEW_ROWS_RATIO = 0.7  # below this n/d the modes of the n x n matrix cost less than the inverse
INVERSE_RESOLUTION = 1e-5  # below this share of the norm of C the rounding of its inverse would show


@checked
def teacher_student_error(model: TeacherStudent, d: int, rng: Generator, inputs: Inputs = "gaussian") -> float:
    """Measure one replicate of the population error on noisy labels, averaged exactly over teacher and label noise.

    With C = X'X/n and Q = (C + lam)^-1 the student misses w by lam Q w - Q X'noise/n, which averages to
    (signal_power/d) lam^2 tr Q Sigma Q + (noise/n) tr Q C Q Sigma.
    """
    covariance, X = draw(model, d, rng, inputs)
    blocks, Sigma = RowBlocks.of_array("X", X), covariance.matrix
    traces = _by_inverse(blocks, model.lam, Sigma) if len(X) > FEW_ROWS_RATIO * d else None
    bias, variance = traces or _by_modes(blocks, model.lam, Sigma)
    return float(model.noise + model.signal_power * bias / d + model.noise * variance / len(X))


def _by_inverse(X: RowBlocks, lam: float, Sigma: Array) -> tuple[float, float] | None:
    """Return lam^2 tr Q Sigma Q and tr Q C Q Sigma = tr Q Sigma - lam tr Q Sigma Q; None where rounding would show.

    The two terms of the difference are the larger the smaller the ridge is where C has null vectors, as for n < d; Q
    has a relative error of order 1e-16 |C|/lam too.
    """
    gram = X.second_moments()
    if lam < INVERSE_RESOLUTION * np.linalg.norm(gram):  # of the lower triangle: at least 0.7 of the largest eigenvalue
        return None
    lower = ridged_inverse(gram, lam)
    if lower is None:
        return None
    Q = mirrored(lower)
    product = Q @ Sigma
    twice = float(np.vdot(product, Q))
    return lam**2 * twice, float(product.trace()) - lam * twice


def _by_modes(X: RowBlocks, lam: float, Sigma: Array) -> tuple[float, float]:
    """Return the same for any ridge, with C = V s V': sums over s weighted by diag(V' Sigma V).

    The first has what the null space of X holds of tr Sigma too.
    """
    modes = decompose(X, lam)
    power = np.einsum("kj,kj->j", Sigma @ modes.vectors, modes.vectors)
    unseen = Sigma.trace() - power.sum() if len(power) < X.d else 0.0
    shrunk = 1 / (modes.eigenvalues + lam)
    return float(unseen + (lam * shrunk) ** 2 @ power), float((modes.eigenvalues * shrunk**2) @ power)
