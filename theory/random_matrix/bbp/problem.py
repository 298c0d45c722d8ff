"""What is asked: spikes of given directions in a noise covariance, seen by one of four methods."""

from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

import numpy as np

from theory.models import Covariance, Isotropic, checks
from theory.models.arrays import Array

Method = Literal["ssr", "pca", "correlation_pca", "diagonal_deleted_pca"]


@dataclass(frozen=True, eq=False)
class SpikeProblem:
    """n = alpha d rows x ~ N(0, noise + sum_i strength_i u_i u_i^T) with unit u_i; the strengths are given later.

    `directions` (k, d), or None for one delocalized spike: of random direction, in the limit d -> infinity.
    """

    noise: Covariance
    directions: Array | None = field(repr=False)
    alpha: float
    method: Method
    lam: float | None

    @property
    def is_diagonal(self) -> bool:
        """Whether the noise is independent from coordinate to coordinate."""
        return self.noise.spectrum.axes or isinstance(self.noise, Isotropic)


def spike_problem(
    noise: Covariance, directions: Any, alpha: float, method: str, lam: float | None, *, several: bool = False
) -> SpikeProblem:
    """The checked problem; ValueError says what is wrong with it."""
    if not isinstance(noise, Covariance):
        raise ValueError(f"noise must be a record of theory.models, got {type(noise).__name__}")
    if method not in get_args(Method):
        raise ValueError(f"method must be one of {list(get_args(Method))}, got {method!r}")
    alpha = checks.positive("alpha", alpha)
    if method == "ssr":
        if lam is None:
            raise ValueError("lam is needed for method 'ssr'")
        lam = checks.non_negative("lam", lam)
    elif lam is not None:
        raise ValueError(f"lam is for method 'ssr' only, got lam = {lam!r} with method {method!r}")
    least = float(noise.spectrum.eigenvalues.min())
    if least <= 0:
        raise ValueError(f"noise must be positive definite, got an eigenvalue {least}")
    if noise.spectrum.heavy:
        raise ValueError("noise must have bounded variances: there is no edge for a spike to leave")
    found = None if directions is None else _unit_rows(directions, noise, several)
    return SpikeProblem(noise, found, alpha, cast(Method, method), lam)


def strength_array(strengths: Any, problem: SpikeProblem) -> Array:
    """Positive strengths, one a spike."""
    count = 1 if problem.directions is None else len(problem.directions)
    found = checks.finite_array("strength", np.atleast_1d(np.asarray(strengths, dtype=float)), 1)
    if len(found) != count:
        raise ValueError(f"strength must have one entry for each of {count} directions, got {len(found)}")
    if found.min() <= 0:
        raise ValueError(f"strength must be positive, got {found.min()}")
    return found


def _unit_rows(directions: Any, noise: Covariance, several: bool) -> Array:
    if not noise.is_finite:
        raise ValueError(f"direction must be None (a delocalized spike) for noise at d = {noise.d}: use resized(d)")
    found = checks.finite_array("direction", directions, 2 if several else 1)
    shape = ("k", noise.size) if several else (noise.size,)
    if found.shape[-1] != noise.size:
        raise ValueError(f"direction must have shape {shape}, got {found.shape}")
    norms = np.linalg.norm(np.atleast_2d(found), axis=1)
    if np.any(abs(norms - 1) > 1e-8):
        raise ValueError(f"direction must be of unit length, got norm {norms[np.argmax(abs(norms - 1))]:.12g}")
    return np.atleast_2d(found)
