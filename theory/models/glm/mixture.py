"""Gaussian mixtures whose clusters carry the labels."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np

from theory.core import NonNegative, OpenShare, Positive, Vector, checked, checked_fields, checks
from theory.models.covariance import set_checked
from theory.models.glm.modes import DenseModes, Modes
from theory.models.glm.objective import LossOrName, SumObjective


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class GaussianMixture(SumObjective):
    """A Gaussian mixture of K clusters x ~ N(mu_c, Omega_c), each with a label y_c = +-1 (arXiv:2106.03791).

    `modes` hold the signals sqrt(p) mu_c and one covariance for all clusters or one for each. The bias is trained by
    default. There are n = alpha p samples; training minimizes sum loss + (lam/2) |w|^2 as in `GeneralizedLinearModel`.
    """

    modes: Modes | DenseModes = field(repr=False)
    probabilities: Sequence[float]
    labels: Sequence[int] = (1, -1)
    alpha: Positive
    lam: Positive
    loss: LossOrName = "logistic"
    bias: bool = True

    def __post_init__(self) -> None:
        checked_fields(self)
        labels = checks.real_array("labels", self.labels)
        if labels.ndim != 1 or not np.isin(labels, (-1, 1)).all():
            raise ValueError(f"labels must be -1 or 1 for each cluster, got {checks.shown(self.labels)}")
        shares = mixture_shares(self.probabilities, self.modes)
        set_checked(self, probabilities=shares, labels=tuple(int(label) for label in labels))
        if len(self.labels) != len(self.probabilities):
            raise ValueError(
                f"labels must be -1 or 1 for each of {len(self.probabilities)} clusters, got {self.labels!r}"
            )

    @classmethod
    @checked
    def opposite(
        cls,
        mean_power: NonNegative = 1.0,
        variances: Any = 1.0,
        *,
        weights: Vector | None = None,
        probability: OpenShare = 0.5,
        **options: Any,
    ) -> Self:
        """Make two clusters with means +-mu, |mu|^2 = `mean_power` spread evenly; `probability` is that of label 1.

        `variances` are one number, or those of M blocks of inputs, of shares `weights` (M,): (M,) for both clusters,
        (2, M) for the clusters +1 and -1.
        """
        table = checks.finite_array("variances", np.atleast_2d(checks.real_array("variances", variances)), 2)
        if table.shape[0] > 2 or table.min() < 0:
            raise ValueError(
                f"variances must be non-negative: one number, (M,) or (2, M), got {checks.shown(variances)}"
            )
        M = table.shape[1]
        shares = np.full(M, 1 / M) if weights is None else weights
        if shares.shape != (M,):
            raise ValueError(f"weights must have shape ({M},), one share for each of the variances, got {shares.shape}")
        signs = np.array([[1.0, -1.0], [-1.0, 1.0]])
        modes = Modes(shares, table, mean_power * signs[:, :, None] * shares)
        return cls(modes=modes, probabilities=(probability, 1 - probability), **options)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class MulticlassMixture(SumObjective):
    """A mixture of K clusters x ~ N(mu_c, Omega_c), each a class y, on which K outputs are trained (arXiv:2106.03791).

    The outputs are h = W x/sqrt(p) + b with W (K, p). `loss` is "square", (1/2) |e_y - h|^2 with the one-hot e_y, or
    "softmax", the cross entropy of softmax(h); the sum over samples + (lam/2) |W|^2 is minimized, and the biases b (K,)
    are not penalized. `modes` are those of `GaussianMixture`. The prediction is the largest h.
    """

    modes: Modes = field(repr=False)
    probabilities: Sequence[float]
    alpha: Positive
    lam: Positive
    loss: Literal["square", "softmax"] = "square"
    bias: bool = True

    def __post_init__(self) -> None:
        checked_fields(self)
        set_checked(self, probabilities=mixture_shares(self.probabilities, self.modes))
        if self.n_classes < 2:
            raise ValueError(f"probabilities must be those of at least 2 classes, got {self.n_classes}")

    @property
    def n_classes(self) -> int:
        """The number K of classes."""
        return len(self.probabilities)


def mixture_shares(probabilities: Any, modes: Modes | DenseModes) -> tuple[float, ...]:
    """Check that there is a positive probability for each mean in `modes`, and that they sum to 1."""
    shares = checks.finite_array("probabilities", probabilities, 1)
    if shares.min() <= 0 or shares.max() > 1 + 1e-9 or abs(shares.sum() - 1) > 1e-9:
        raise ValueError(f"probabilities must be positive and sum to 1, got {shares.tolist()}")
    if modes.n_signals != len(shares) or modes.n_covariances not in (1, len(shares)):
        raise ValueError(
            f"modes must have {len(shares)} means and 1 or {len(shares)} covariances for these probabilities, "
            f"got {modes.n_signals} means and {modes.n_covariances} covariances"
        )
    return tuple(float(share) for share in shares)
