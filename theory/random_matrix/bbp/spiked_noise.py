"""The noise that hides spikes, their directions, and the method that looks for them, checked for the solvers here."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from theory.core import Array, FiniteArray
from theory.models import Covariance, Isotropic, SpikedData, SpikeMethod
from theory.models.row_scales import GAUSSIAN, RowScales
from theory.models.spectrum import Spectrum


@dataclass(frozen=True, eq=False)
class SpikedNoise:
    """The rows x ~ N(0, noise + sum_i strength_i u_i u_i^T) that a method sees, n = alpha d of them.

    `directions` (k, d) holds the unit vectors u_i in rows; None stands for one delocalized spike, of random direction
    in the limit d -> infinity, also where the noise is finite. The strengths are no part of it: the bulk does not
    depend on them. `nodes` are modes of a limit d -> infinity on finer nodes than those of its record.
    """

    noise: Covariance
    directions: Array | None = field(repr=False)
    alpha: float
    method: SpikeMethod
    lam: float | None
    rows: RowScales = GAUSSIAN
    nodes: Spectrum | None = field(default=None, repr=False)

    @property
    def spectrum(self) -> Spectrum:
        """The modes of the noise, a limit d -> infinity on the nodes that it was given."""
        return self.nodes or self.noise.spectrum

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


def noise_of(data: SpikedData) -> SpikedNoise:
    """Return what the record says of the noise and of its one spike, less the strength of the spike.

    ValueError for a record of the method "ssr" that leaves its ridge open, and for a noise that is not positive
    definite.
    """
    if data.training is not None:
        raise ValueError(
            f"training must be None here, got {data.training}: only `outlier` and `threshold` follow "
            "a fit along its training"
        )
    direction = None if data.direction is None else data.direction[None]
    return _verified(SpikedNoise(data.noise, direction, data.alpha, data.method, data.lam, data.row_law))


def spiked_noise(
    noise: Covariance,
    directions: Array,
    alpha: float,
    method: SpikeMethod,
    lam: float | None,
    rows: RowScales = GAUSSIAN,
) -> SpikedNoise:
    """Check the arguments of a noise with several spikes, whose `directions` (k, d) are unit vectors in rows."""
    if method != "ssr" and lam is not None:
        raise ValueError(f"lam is for method 'ssr' only, got lam = {lam!r} with method {method!r}")
    return _verified(SpikedNoise(noise, _unit_rows(directions, noise), alpha, method, lam, rows))


def strength_array(strengths: ArrayLike, count: int) -> Array:
    """Check that there is one positive strength for each of `count` directions: (k,)."""
    found = FiniteArray(1, positive=True, single=True).check("strengths", strengths)
    if len(found) != count:
        raise ValueError(f"strengths must have one entry for each of {count} directions, got {len(found)}")
    return found


def spike_strength(data: SpikedData) -> Array:
    """Return the strength of the record's spike as an array, (1,); ValueError for a record that leaves it open."""
    if data.strength is None:
        raise ValueError("strength must be a positive number for an outlier, got None: `threshold` needs none")
    return np.array([data.strength])


def _verified(spiked: SpikedNoise) -> SpikedNoise:
    if spiked.method == "ssr" and spiked.lam is None:
        raise ValueError("lam is needed for method 'ssr', got None: `optimal_ridge` finds one")
    least = float(spiked.noise.spectrum.eigenvalues.min())
    if least <= 0:
        raise ValueError(f"noise must be positive definite, got an eigenvalue {least}")
    if math.isinf(spiked.rows.largest):
        raise ValueError(
            f"{spiked.rows.field_name} must be bounded for spikes, got {spiked.rows}: a single heavy row makes an "
            "outlier of its own, and at infinite size the bulk has no end"
        )
    return spiked


def _unit_rows(found: Array, noise: Covariance) -> Array:
    if not noise.is_finite:
        raise ValueError(f"noise must be finite where spikes have directions, got d = {noise.d}: use resized(d)")
    if found.shape[-1] != noise.size:
        raise ValueError(f"directions must have shape ('k', {noise.size}), got {found.shape}")
    with np.errstate(over="ignore"):  # a norm that overflows is not 1
        norms = np.linalg.norm(found, axis=1)
    if np.any(abs(norms - 1) > 1e-8):
        raise ValueError(f"directions must be of unit length, got norm {norms[np.argmax(abs(norms - 1))]:.12g}")
    return found
