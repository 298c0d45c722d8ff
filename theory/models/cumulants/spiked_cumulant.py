"""The spiked cumulant model: white data whose only structure is one direction that is not Gaussian."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np

from theory.core import Array, AtLeast, CheckedRecord, Within, checks
from theory.models.cumulants.latent import AtomicLatent

Prior = Literal["signs", "sphere"]
LARGEST_BETA = 1e100  # squares of 1 + beta, and their products with those of the atoms, then do not overflow
MAX_NORM = 1e100


@dataclass(frozen=True)
class SpikedCumulant(CheckedRecord):
    """Two laws of samples x in d dimensions with the same mean and covariance (arXiv:2312.14922, whitened).

    Under the null hypothesis H0, x ~ N(0, I_d). Under the spiked law H1 one unit vector u is drawn from the `prior`,
    and then independently x = z + u (y - u.z) with z ~ N(0, I_d) and y = sqrt(r) g + sqrt(1 - r) z0, where z0 ~ N(0, 1)
    and g has the law `latent`. The signal-to-noise ratio `beta` > 0 sets the share r = beta/(1 + beta) of the latent
    variable in the variance along u. The mean is 0 and the covariance exactly the identity under both laws, so they
    differ in cumulants of order three and more only.

    `prior` is "signs", u = (+-1, ..., +-1)/sqrt(d) with fair independent signs, or "sphere", u uniform on the unit
    sphere. `d` is an integer of at least 2, or infinity for what depends on the limit alone. ValueError for other
    values, and for a beta that is not in (0, 1e100].

    >>> model = SpikedCumulant(d=20, beta=1.0)
    >>> model.prior, model.latent_share
    ('signs', 0.5)
    """

    d: Annotated[int | float, AtLeast(2, infinite=True)]
    beta: Annotated[float, Within(0.0, LARGEST_BETA, closed=(False, True))]
    prior: Prior = "signs"
    latent: AtomicLatent = field(default_factory=AtomicLatent.signs)

    @property
    def latent_share(self) -> float:
        """The share r = beta/(1 + beta) of g in the variance along the spike."""
        return self.beta / (1 + self.beta)

    @property
    def noise_share(self) -> float:
        """The share 1 - r = 1/(1 + beta) of the Gaussian in the variance along the spike."""
        return 1 / (1 + self.beta)

    @property
    def size(self) -> int:
        """The dimension d as an int; ValueError where it is infinite."""
        if not np.isfinite(self.d):
            raise ValueError("model must have a finite d, got infinity: only thresholds and rates have a limit")
        return int(self.d)

    def norm_statistic(self, squared_norms: Array) -> float:
        """Return T4 of samples with the given squared norms R = |x|^2, (n,): a sum over the samples.

        T4 = sum (3 R^2/(d (d + 2)) - 6 R/d + 3) is the sum of E_u He_4(u.x) with u uniform on the sphere, where He_4 is
        the Hermite polynomial x^4 - 6 x^2 + 3. ValueError where d is infinite, and for norms that are not finite or
        beyond 1e100.
        """
        d, R = self.size, checks.finite_array("squared_norms", squared_norms, 1)
        if not (R.min() >= 0 and R.max() <= MAX_NORM):
            raise ValueError(f"squared_norms must lie in [0, {MAX_NORM:g}], got {checks.shown(squared_norms)}")
        return float(np.sum(3 * R * R / (d * (d + 2.0)) - 6 * R / d + 3))
