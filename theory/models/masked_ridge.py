"""The masked self-supervised regression problem."""

import math
from dataclasses import dataclass

from theory.models import checks
from theory.models.covariance import Covariance, set_checked


@dataclass(frozen=True)
class MaskedRidge:
    """Masked self-supervised ridge regression (arXiv:2601.23208).

    n = alpha d rows x ~ N(0, Sigma). Every coordinate k is masked in turn and predicted from the other d - 1 by
    `argmin_a (1/n) |X_k - X_-k a|^2 + lam |a|^2`. Errors are squared, per coordinate, without a factor 1/2, and
    include the irreducible conditional variance 1/(Sigma^-1)_kk.
    """

    covariance: Covariance
    alpha: float
    lam: float

    def __post_init__(self) -> None:
        checks.record("covariance", self.covariance, Covariance)
        lam = checks.real("lam", self.lam)
        if lam <= 0:
            raise ValueError(f"lam must be positive, got {self.lam!r}; for lam -> 0 see theory.masked.ridgeless")
        set_checked(self, alpha=checks.positive("alpha", self.alpha), lam=lam)

    @property
    def d(self) -> int | float:
        """Number of coordinates, possibly infinite."""
        return self.covariance.d

    @property
    def n(self) -> float:
        """Number of samples alpha d; not rounded, possibly infinite."""
        return self.alpha * self.d if math.isfinite(self.d) else math.inf
