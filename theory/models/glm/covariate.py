"""Teacher and student that see different features of the same Gaussian latent."""

from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np

from theory.core import Array, NonNegative, Positive, Vector, checked_fields, checks
from theory.models.covariance import set_checked
from theory.models.glm.eigenbasis import eigenbasis, kept_covariance
from theory.models.glm.modes import covariance_matrix
from theory.models.glm.objective import LossOrName, SumObjective

NEGLIGIBLE = 1e-12  # share of the largest eigenvalue below which a direction is none that the features see


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class GaussianCovariateModel(SumObjective):
    """A teacher and a student that see different features of the same Gaussian latent vector (arXiv:2102.08127).

    The teacher's field is nu = theta.u/sqrt(k) with features u in R^k, and the student sees features v in R^p; (u, v)
    are jointly Gaussian. Only `signal` = sqrt(p) Cov(v, nu) (p,), `power` = Var(nu) and `covariance` Omega = E v v^T
    (p, p) matter: `from_blocks` computes them from Psi, Phi, Omega and theta, and `from_data` from data. The labels are
    `labels` = "sign" or "linear" functions of nu plus a noise of variance `noise`. There are n = alpha p samples;
    training minimizes sum loss + (lam/2) |w|^2 as in `GeneralizedLinearModel`. ValueError for blocks that are no
    covariances, and for a teacher with less power than the features explain.

    The stored covariance is a read-only copy that keeps its eigendecomposition. `dataclasses.replace(model, alpha=...)`
    shares both, so that many sample ratios, ridges or losses of one large record cost one decomposition in all.
    """

    covariance: Any = field(repr=False)
    signal: Vector = field(repr=False)
    power: Positive
    alpha: Positive
    lam: Positive
    loss: LossOrName = "logistic"
    labels: Literal["sign", "linear"] = "sign"
    noise: NonNegative = 0.0

    def __post_init__(self) -> None:
        checked_fields(self)
        covariance = kept_covariance("covariance", self.covariance)
        if self.signal.shape != (len(covariance),):
            raise ValueError(f"signal must have shape ({len(covariance)},), as covariance, got {self.signal.shape}")
        explained = _explained(covariance, self.signal)
        if not explained <= self.power * (1 + 1e-8):
            raise ValueError(
                f"power must be at least what the signal and covariance explain, {explained:g}, got {self.power!r}"
            )
        set_checked(self, covariance=covariance)

    @classmethod
    def from_blocks(cls, Psi: Any, Phi: Any, Omega: Any, teacher: Any, **options: Any) -> Self:
        """Make the record of Psi = E u u^T (k, k), Phi = E u v^T (k, p), Omega = E v v^T (p, p) and `teacher` (k,)."""
        Psi, Omega = covariance_matrix("Psi", Psi), kept_covariance("Omega", Omega)
        Phi, theta = checks.finite_array("Phi", Phi, 2), checks.finite_array("teacher", teacher, 1)
        k, p = len(Psi), len(Omega)
        if Phi.shape != (k, p) or theta.shape != (k,):
            raise ValueError(
                f"Phi must have shape ({k}, {p}) and teacher ({k},) with these Psi and Omega, "
                f"got {Phi.shape} and {theta.shape}"
            )
        signal, power = np.sqrt(p / k) * (theta @ Phi), float(theta @ Psi @ theta / k)
        if (explained := _explained(Omega, signal)) > power * (1 + 1e-8):
            raise ValueError(
                "Phi must be the cross-covariance of inputs of the covariances Psi and Omega, got one by which the "
                f"features explain {explained:g} of a teacher's power {power:g}"
            )
        return cls(covariance=Omega, signal=signal, power=power, **options)

    @classmethod
    def from_data(cls, features: Any, targets: Any, **options: Any) -> Self:
        """Make the record of the second moments, not centered, of features (n, p) and real targets (n,).

        These are all that the square loss needs. Labels are "linear" by default. With "sign" the targets are the
        teacher's field: ValueError where they are +-1.
        """
        v, y = checks.finite_array("features", features, 2), checks.finite_array("targets", targets, 1)
        if len(v) != len(y):
            raise ValueError(f"targets must have one entry for each of {len(v)} rows of features, got {len(y)}")
        if options.get("labels") == "sign" and set(np.unique(y)) <= {-1.0, 1.0}:
            raise ValueError(
                "targets must be the teacher's field for labels='sign', got labels +-1; use labels='linear' with "
                "square loss, or a GaussianMixture of the two classes"
            )
        moments = {
            "covariance": v.T @ v / len(v),
            "signal": np.sqrt(v.shape[1]) * (y @ v) / len(v),
            "power": y @ y / len(y),
        }
        return cls(**moments, **{"loss": "square", "labels": "linear", **options})

    @property
    def p(self) -> int:
        """The number of the student's features."""
        return len(self.covariance)


def _explained(covariance: Array, signal: Array) -> float:
    """Return the power of a teacher that features of this covariance explain; what overflows is more than any power."""
    with np.errstate(over="ignore", invalid="ignore"):
        basis = eigenbasis(covariance)
        seen = basis.eigenvalues > NEGLIGIBLE * basis.eigenvalues[-1]
        return float(np.sum((signal @ basis.vectors)[seen] ** 2 / basis.eigenvalues[seen])) / len(signal)
