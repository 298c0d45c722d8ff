"""What is asked about spikes: their directions, the noise that hides them, and the method that looks for them."""

from dataclasses import dataclass, field
from typing import Literal, cast, get_args

import numpy as np
from numpy.typing import ArrayLike

from theory.models import Covariance, Isotropic, checks
from theory.models.arrays import Array

Method = Literal["ssr", "pca", "correlation_pca", "diagonal_deleted_pca"]


@dataclass(frozen=True, eq=False)
class SpikedNoise:
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

    @property
    def has_edge(self) -> bool:
        """Whether the eigenvalues that the noise alone gives the method are bounded as d -> infinity.

        Without a largest variance those of a sample covariance are not: every spike of finite strength lies inside.
        Masked regression and PCA of correlations divide the variance of independent coordinates out.
        """
        divided = self.noise.spectrum.axes and self.method in ("ssr", "correlation_pca")
        return divided or not self.noise.spectrum.unbounded


def spiked_noise(
    noise: Covariance,
    directions: ArrayLike | None,
    alpha: float,
    method: str,
    lam: float | None,
    *,
    name: str = "direction",
) -> SpikedNoise:
    """Check the arguments and store them; ValueError says what is wrong, calling the directions by `name`.

    `directions` is one unit vector (d,) for the name "direction", and several in rows (k, d) for "directions".
    """
    checks.choice("method", method, get_args(Method))
    alpha = checks.positive("alpha", alpha)
    if method == "ssr":
        if lam is None:
            raise ValueError("lam is needed for method 'ssr', got None")
        lam = checks.non_negative("lam", lam)
    elif lam is not None:
        raise ValueError(f"lam is for method 'ssr' only, got lam = {lam!r} with method {method!r}")
    least = float(noise.spectrum.eigenvalues.min())
    if least <= 0:
        raise ValueError(f"noise must be positive definite, got an eigenvalue {least}")
    found = None if directions is None else _unit_rows(directions, noise, name)
    return SpikedNoise(noise, found, alpha, cast("Method", method), lam)


def strength_array(strengths: ArrayLike, spiked: SpikedNoise, name: str = "strength") -> Array:
    """Check that there is one positive strength for each direction: (k,)."""
    count = 1 if spiked.directions is None else len(spiked.directions)
    found = checks.finite_array(name, np.atleast_1d(checks.real_array(name, strengths)), 1)
    if len(found) != count:
        raise ValueError(f"{name} must have one entry for each of {count} directions, got {len(found)}")
    if found.min() <= 0:
        raise ValueError(f"{name} must be positive, got {found.min()}")
    return found


def _unit_rows(directions: ArrayLike, noise: Covariance, name: str) -> Array:
    if not noise.is_finite:
        raise ValueError(f"{name} must be None (a delocalized spike) for noise at d = {noise.d}: use resized(d)")
    several = name == "directions"
    found = checks.finite_array(name, directions, 2 if several else 1)
    shape = ("k", noise.size) if several else (noise.size,)
    if found.shape[-1] != noise.size:
        raise ValueError(f"{name} must have shape {shape}, got {found.shape}")
    with np.errstate(over="ignore"):  # a norm that overflows is not 1
        norms = np.linalg.norm(np.atleast_2d(found), axis=1)
    if np.any(abs(norms - 1) > 1e-8):
        raise ValueError(f"{name} must be of unit length, got norm {norms[np.argmax(abs(norms - 1))]:.12g}")
    return np.atleast_2d(found)
