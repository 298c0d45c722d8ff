"""Ridge regression of a linear teacher's labels, on the inputs of the masked problem."""

from dataclasses import dataclass
from typing import ClassVar

from theory.core.ranges import NonNegative, Positive
from theory.models.masked_ridge import RidgeProblem


@dataclass(frozen=True, repr=False)
class TeacherStudent(RidgeProblem):
    """Ridge regression of a linear teacher's noisy labels: `argmin_a (1/n) |y - X a|^2 + lam |a|^2`.

    y = x.w + noise on n = alpha d rows x ~ N(0, Sigma). The teacher w is isotropic with E |w|^2 = signal_power,
    independent of x; `noise` is the variance of the label noise. Errors are those on noisy labels, without a factor
    1/2. The conventions are those of MaskedRidge, where the conditional variance of the masked coordinate is the noise.
    """

    noise: NonNegative = 0.0
    signal_power: Positive = 1.0

    objective: ClassVar[str] = "(1/n) |y - X a|^2 + lam |a|^2"

    @property
    def terms_per_unknown(self) -> float:
        """The ratio alpha = n/d, since all d inputs have a coefficient."""
        return self.alpha
