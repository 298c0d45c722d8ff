"""Ridge regression of a linear teacher's labels, on the inputs of the masked problem."""

import math
from dataclasses import dataclass

from theory.models import checks
from theory.models.covariance import Covariance, set_checked


@dataclass(frozen=True)
class TeacherStudent:
    """y = x.w + noise on n = alpha d rows x ~ N(0, Sigma): `argmin_a (1/n) |y - X a|^2 + lam |a|^2`.

    The teacher w is isotropic with E |w|^2 = signal_power, independent of x; `noise` is the variance of the label
    noise. Errors are those on noisy labels, without a factor 1/2. The conventions are those of MaskedRidge, where the
    conditional variance of the masked coordinate is the noise.
    """

    covariance: Covariance
    alpha: float
    lam: float
    noise: float = 0.0
    signal_power: float = 1.0

    def __post_init__(self) -> None:
        checks.record("covariance", self.covariance, Covariance)
        set_checked(
            self,
            alpha=checks.positive("alpha", self.alpha),
            lam=checks.positive("lam", self.lam),
            noise=checks.non_negative("noise", self.noise),
            signal_power=checks.positive("signal_power", self.signal_power),
        )

    @property
    def d(self) -> int | float:
        """Number of inputs, possibly infinite."""
        return self.covariance.d

    @property
    def n(self) -> float:
        """Number of samples alpha d; not rounded, possibly infinite."""
        return self.alpha * self.d if math.isfinite(self.d) else math.inf
