"""The record of Gaussian rows with one hidden direction, and of the method that looks for it."""

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from theory.core import Array, NonNegative, Positive, checked_fields, checks
from theory.core.read_only import KeepsReadOnly
from theory.models.conventions import SampleRatio
from theory.models.covariance import Covariance, set_checked
from theory.models.joint_rows import DependentRows, require_rows
from theory.models.row_dependence import INDEPENDENT, RowDependence
from theory.models.row_scales import GAUSSIAN, RowScales, shown_fields
from theory.models.training import Training

SpikeMethod = Literal["ssr", "pca", "correlation_pca", "diagonal_deleted_pca"]
ReadOut = Literal["data_units", "reported", "standard_units", "best_diagonal"]


@dataclass(frozen=True, eq=False, repr=False)
class SpikedData(DependentRows, KeepsReadOnly):
    """Gaussian rows x ~ N(0, noise + strength u u^T), n = alpha d of them, and the method that looks for u.

    `direction` is u, (d,), of unit length; None stands for a random direction, spread over all coordinates (a
    delocalized spike), for which d may be infinite. Then the solvers of `random_matrix` answer for the limit of such a
    spike, which leaves the variance of each coordinate as it is, also where the noise has a finite d: what one
    direction of a finite d does to the variances is known only if it is given. `strength` is positive, or None where it
    is asked for (`random_matrix.threshold`). `method` names the matrix whose top eigenvector is to find u:

    - "ssr": the joint predictor of masked ridge regression with the ridge `lam` in (1/n) |X_k - X_-k a|^2 + lam |a|^2,
      as in MaskedRidge. lam = 0 is the limit of small ridges, which a simulation cannot draw; None leaves the ridge
      open, to be found by `random_matrix.optimal_ridge`.
    - "pca": the sample covariance C = X'X/n; "correlation_pca": C scaled to a unit diagonal; "diagonal_deleted_pca": C
      without its diagonal, which is the limit lam -> infinity of "ssr". These take no `lam`.

    `row_scales` is the law of the rows' scales tau: row i is sqrt(tau_i) times a Gaussian row. By default all scales
    are 1. `row_dependence` is the covariance T between the rows, X = T^(1/2) Z Sigma^(1/2), as in `MaskedRidge`.

    `training` is for the method "ssr" and stops its fit: Flow(t) is gradient flow from zero up to the time t, on the
    objective with the ridge `lam`, where None stands for none. By default the fit is the minimum itself. The theory
    follows `Flow` and `Descent`; simulations follow every record of training.

    >>> from theory.models import TwoLevel
    >>> SpikedData(TwoLevel(math.inf), None, strength=2.5, alpha=1.0, lam=0.05).method
    'ssr'
    """

    noise: Covariance
    direction: Array | None = field(default=None, repr=False)
    strength: Positive | None = field(default=None, kw_only=True)
    alpha: SampleRatio = field(kw_only=True)
    method: SpikeMethod = field(default="ssr", kw_only=True)
    lam: NonNegative | None = field(default=None, kw_only=True)
    row_scales: RowScales = field(default=GAUSSIAN, kw_only=True)
    row_dependence: RowDependence = field(default=INDEPENDENT, kw_only=True)
    training: Training | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        checked_fields(self)
        if self.method != "ssr" and self.lam is not None:
            given = f"lam = {checks.shown(self.lam)} with method {self.method!r}"
            raise ValueError(f"lam is for method 'ssr' only, got {given}")
        if self.method != "ssr" and self.training is not None:
            raise ValueError(f"training is for method 'ssr' only, got {self.training} with method {self.method!r}")
        if self.direction is not None:
            set_checked(self, direction=self._unit_vector(self.direction))
        require_rows(self.row_scales, self.row_dependence, self.alpha, self.d)

    def __repr__(self) -> str:
        shown = shown_fields(self)
        return f"{type(self).__name__}({shown if self.training else shown.removesuffix(', training=None')})"

    def _unit_vector(self, direction: Array) -> Array:
        if not self.noise.is_finite:
            known = f"noise at d = {self.noise.d}: use resized(d)"
            raise ValueError(f"direction must be None (a delocalized spike) for {known}")
        found = checks.finite_array("direction", direction, 1)
        if found.shape != (self.noise.size,):
            raise ValueError(f"direction must have shape ({self.noise.size},), got {found.shape}")
        largest = float(abs(found).max())
        norm = float(np.linalg.norm(found)) if largest < 2 else largest  # squares of large entries overflow
        if abs(norm - 1) > 1e-8:
            raise ValueError(f"direction must be of unit length, got norm {norm:.12g}")
        return found

    @property
    def d(self) -> int | float:
        """The number of coordinates, possibly infinite."""
        return self.noise.d

    @property
    def n(self) -> float:
        """The number of rows alpha d; it is not rounded, and possibly infinite."""
        return self.alpha * self.d if math.isfinite(self.d) else math.inf
