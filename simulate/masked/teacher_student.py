"""Measures the matching supervised problem, ridge regression on the labels of a linear teacher and the same inputs."""

import numpy as np
from numpy.random import Generator

from simulate.masked.draw import draw
from simulate.masked.row_blocks import RowBlocks
from simulate.masked.sampler import Inputs
from simulate.masked.spectral import decompose
from theory.models import TeacherStudent
from theory.models.arguments import checked


@checked
def teacher_student_error(model: TeacherStudent, d: int, rng: Generator, inputs: Inputs = "gaussian") -> float:
    """Measures one replicate of the population error on noisy labels, averaged exactly over teacher and label noise.

    The student misses w by lam Q w - Q X'noise/n. With C = X'X/n = V s V' that averages to
    (signal_power/d) lam^2 tr Q Sigma Q + (noise/n) tr Q C Q Sigma: sums over s weighted by diag(V' Sigma V), and what
    the null space of X holds of tr Sigma.
    """
    covariance, X = draw(model, d, rng, inputs)
    n, lam, modes = len(X), model.lam, decompose(RowBlocks.of_array("X", X), model.lam)
    power = np.einsum("kj,kj->j", covariance.matrix @ modes.vectors, modes.vectors)
    unseen = covariance.matrix.trace() - power.sum() if len(power) < d else 0.0
    shrunk = 1 / (modes.eigenvalues + lam)
    bias = unseen + (lam * shrunk) ** 2 @ power
    variance = (modes.eigenvalues * shrunk**2) @ power
    return float(model.noise + model.signal_power * bias / d + model.noise * variance / n)
