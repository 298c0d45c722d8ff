"""The spiked Wishart model: Gaussian data whose variance is larger along one hidden direction."""

from dataclasses import dataclass

import numpy as np

from theory.core import checks
from theory.models.covariance import set_checked
from theory.models.cumulants.spiked_cumulant import LARGEST_BETA, Prior


@dataclass(frozen=True)
class SpikedWishart:
    """Two Gaussian laws of samples x in d dimensions with the mean zero (arXiv:2312.14922).

    Under the null hypothesis H0, x ~ N(0, I_d). Under the spiked law H1 one unit vector u is drawn from the `prior`,
    and then independently x = z + sqrt(beta) g u with z ~ N(0, I_d) and g ~ N(0, 1), of covariance I_d + beta u u^T.
    Unlike those of `SpikedCumulant` these data are not white, and their second cumulant shows the spike.

    `prior` is "signs", u = (+-1, ..., +-1)/sqrt(d) with fair independent signs, or "sphere", u uniform on the unit
    sphere. `d` is an integer of at least 2, or infinity for what depends on the limit alone. ValueError for other
    values, and for a beta that is not in (0, 1e100].

    >>> SpikedWishart(d=20, beta=1.0)
    SpikedWishart(d=20, beta=1.0, prior='signs')
    """

    d: int | float
    beta: float
    prior: Prior = "signs"

    def __post_init__(self) -> None:
        d = checks.dimension(self.d, infinite=True, least=2)
        beta = checks.between("beta", self.beta, 0.0, LARGEST_BETA, closed=(False, True))
        set_checked(self, d=d, beta=beta, prior=checks.choice("prior", self.prior, ("signs", "sphere")))

    @property
    def size(self) -> int:
        """The dimension d as an int; ValueError where it is infinite."""
        if not np.isfinite(self.d):
            raise ValueError("model must have a finite d, got infinity: the limit has a function of its own")
        return int(self.d)
