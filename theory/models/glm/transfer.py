"""Transfer of a trained first layer between two tasks on correlated hidden manifolds."""

import math
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.random import Generator

from theory.core import Array, Correlation, Count, Matrix, Positive, Vector, checked, checked_fields, checks
from theory.core.read_only import KeepsReadOnly
from theory.models.covariance import set_checked
from theory.models.glm.covariate import GaussianCovariateModel
from theory.models.glm.eigenbasis import content_digest
from theory.models.glm.objective import LossOrName, SumObjective


@dataclass(frozen=True, eq=False)
class HiddenManifold(KeepsReadOnly):
    """A task on a hidden manifold: inputs x = erf(F c) of c ~ N(0, I_D) with labels of c (arXiv:2106.05418).

    The labels are sign(theta.c/sqrt(D)) with |theta|^2 = D. `input_map` F (N, D) has rows of unit norm on average, and
    `teacher` theta is (D,).
    """

    input_map: Matrix = field(repr=False)
    teacher: Vector = field(repr=False)

    def __post_init__(self) -> None:
        checked_fields(self)
        F, theta = self.input_map, self.teacher
        if theta.shape != (F.shape[1],):
            raise ValueError(f"teacher must have shape ({F.shape[1]},), the columns of input_map, got {theta.shape}")
        if not theta.any():
            raise ValueError("teacher must not be zero: it would label nothing")
        largest = abs(theta).max()
        if not 1e-150 < largest < 1e150:  # squares would leave double precision, and only the direction counts
            theta = theta / largest
        set_checked(self, teacher=theta * math.sqrt(len(theta)) / np.linalg.norm(theta))

    @classmethod
    @checked
    def random(cls, n_inputs: Count, n_latent: Count, rng: Generator) -> Self:
        """Draw F (n_inputs, n_latent) with entries N(0, 1/n_latent) and a teacher of random direction."""
        N, D = n_inputs, n_latent
        checks.fits_in_memory(f"a map of {D} latent variables to {N} inputs", 2.0 * N * D)
        F = rng.standard_normal((N, D)) / math.sqrt(D)
        return cls(F, rng.standard_normal(D))

    @checked
    def correlated(
        self, feature_correlation: Correlation, teacher_correlation: Correlation, rng: Generator
    ) -> "HiddenManifold":
        """Draw a task with F_t = r F + sqrt(1 - r^2) F', and theta likewise, for which theta.theta_t/D is exact."""
        r, s = feature_correlation, teacher_correlation
        n, d = self.input_map.shape
        F = r * self.input_map + math.sqrt(1 - r * r) * rng.standard_normal((n, d)) / math.sqrt(d)
        fresh = rng.standard_normal(d)
        fresh -= (fresh @ self.teacher) * self.teacher / d
        if (norm := np.linalg.norm(fresh)) > 0:
            fresh *= math.sqrt(d) / norm
        return HiddenManifold(F, s * self.teacher + math.sqrt(1 - s * s) * fresh)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TransferModel(SumObjective):
    """A read-out that is trained on `task` with the features v = erf(W x) of a frozen `first_layer` W (p, N).

    W comes from training on a source task, or is left as drawn (random features). There are n = alpha p samples of the
    target task; training with `loss` and `lam` minimizes sum loss + (lam/2) |w|^2 as in GeneralizedLinearModel.
    """

    task: HiddenManifold
    first_layer: Matrix = field(repr=False)
    alpha: Positive
    lam: Positive
    loss: LossOrName = "logistic"

    def __post_init__(self) -> None:
        checked_fields(self)
        W = self.first_layer
        if W.shape[1] != len(self.task.input_map):
            raise ValueError(f"first_layer must have {len(self.task.input_map)} columns, got shape {W.shape}")

    @property
    def covariate_model(self) -> GaussianCovariateModel:
        """The Gaussian equivalent: x is taken as Gaussian, and the arcsine law gives the covariances of both layers.

        With trained features it is only approximate: W lies along the source teacher, whose nonlinear response knows
        more about the labels than covariances do. How much more depends on the training, on alpha and on lam. It was
        measured on the source task itself, with latent dimension 100, N = 200 inputs, p = 150 features, W trained by
        `simulate.glm.train` on 3000 samples at its rate 0.2 with the logistic loss, and 24 target sets for each number.
        The following numbers are the predicted error over the measured one, less 1, with one standard error, in three
        cases: alpha = 0.5 and lam = 0.01; alpha = 2 and lam = 0.01; alpha = 2 and lam = 1. |dW|/|W| is the relative
        change in training.

        - No step (dW = 0): 0.6(10), -0.1(10) and -0.4(6) %.
        - 5 steps (|dW|/|W| = 0.28): 1.1(14), 1.8(7) and 0.6(7) %.
        - 10 steps (0.49): 4.1(13), 4.7(11) and 2.9(6) %.
        - 20 steps (0.81): 10.8(8), 15.1(10) and 8.8(7) %. Longer training departs farther.
        """
        kept = _features(_Layers(self.task.input_map, self.task.teacher, self.first_layer))
        return replace(kept, alpha=self.alpha, lam=self.lam, loss=self.loss)


class _Layers:
    """The matrices that the features depend on, equal where their numbers are."""

    def __init__(self, input_map: Array, teacher: Array, first_layer: Array) -> None:
        self.matrices = input_map, teacher, first_layer
        self._content = content_digest(*self.matrices)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Layers) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)


# A curve over alpha or lam asks for the same features at every point; those of one pair of layers are kept.
@lru_cache(maxsize=1)
def _features(layers: _Layers) -> GaussianCovariateModel:
    F, theta, W = layers.matrices
    inputs, slopes = erf_covariance(F @ F.T)
    shared = slopes * (F @ theta) / math.sqrt(len(theta))
    features, slopes = erf_covariance(W @ inputs @ W.T)
    signal = math.sqrt(len(features)) * slopes * (W @ shared)
    return GaussianCovariateModel(covariance=features, signal=signal, power=1.0, alpha=1.0, lam=1.0)


def erf_covariance(covariance: Array) -> tuple[Array, Array]:
    """Return E erf(a_i) erf(a_j) of centered Gaussians a, and the slopes k_i in Cov(erf(a_i), b) = k_i Cov(a_i, b).

    With S the covariance of a they are (2/pi) arcsin(2 S_ij/sqrt((1 + 2 S_ii)(1 + 2 S_jj))) and
    k_i = (2/sqrt(pi))/sqrt(1 + 2 S_ii).
    """
    scale = 1 / np.sqrt(1 + 2 * np.diag(covariance))
    return 2 / np.pi * np.arcsin(2 * covariance * np.outer(scale, scale)), 2 / math.sqrt(np.pi) * scale
