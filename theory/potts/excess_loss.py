"""What a finite sample costs: excess masked loss and error of learnt couplings as the number of samples grows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from theory.models import Potts, checks
from theory.models.arrays import Array
from theory.models.potts.batches import blocks
from theory.potts.enumeration import Enumeration, enumeration_of
from theory.potts.parameterizations import Parameterization, parameterization_of

NULL = 1e-10  # eigenvalues of the Hessian below this times the largest belong to directions without effect


@dataclass(frozen=True)
class ExcessLoss:
    """Large-M law of a fit by M samples: the summed loss exceeds its floor by coefficient/M on average.

    `recovery_coefficient`: M times the mean of err^2 = |W' - W'_true|^2/|W'_true|^2, W' the identifiable couplings.
    """

    coefficient: float
    recovery_coefficient: float
    rank: int  # of the Hessian: the number of identifiable parameters
    n_parameters: int
    n_sites: int

    def masked_loss(self, n_samples: Any) -> Any:
        """Excess of the masked loss (mean over sites, nats) at M = `n_samples`."""
        return self.coefficient / (self.n_sites * np.asarray(n_samples, dtype=float))[()]

    def recovery_error(self, n_samples: Any) -> Any:
        """Root mean square of err at M = `n_samples`, falling as M^(-1/2)."""
        return np.sqrt(self.recovery_coefficient / np.asarray(n_samples, dtype=float))[()]


def excess_loss_coefficient(
    model: Potts | Enumeration, parameterization: str = "factored", fields: bool = True
) -> ExcessLoss:
    """tr(H^+ K)/2 with H the Hessian of the loss summed over sites, K the covariance of its gradient by one sample.

    The minimum over M samples is theta + H^+ g, g a mean of M gradients, and costs (1/2) g^T H^+ g on average
    tr(H^+ K)/(2M); H^+ is the pseudo-inverse, as gauges leave directions without effect. Sandwich formula of
    M-estimators; the covariance of theta is H^+ K H^+ / M. By enumeration: ValueError for large systems, for models
    the parameterization cannot represent, and without couplings.
    """
    enumerated = enumeration_of(model)
    fit = parameterization_of(enumerated.model, parameterization, fields)
    if fit.signal == 0:
        raise ValueError("model must have couplings and beta > 0: without them the error of couplings is undefined")
    H, K = information(enumerated, fit)
    values, vectors = np.linalg.eigh(H)
    kept = values > NULL * values[-1]
    inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    spread = inverse @ K
    return ExcessLoss(
        coefficient=float(np.trace(spread) / 2),
        recovery_coefficient=float(np.sum((spread @ inverse) * fit.metric) / fit.signal),
        rank=int(kept.sum()),
        n_parameters=fit.n_parameters,
        n_sites=fit.n_sites,
    )


def recovery_error_coefficient(
    model: Potts | Enumeration, parameterization: str = "factored", fields: bool = True
) -> float:
    """M times the mean of err^2 for large M: tr(G H^+ K H^+)/|W'|^2 with |dW'|^2 = dtheta^T G dtheta."""
    return excess_loss_coefficient(model, parameterization, fields).recovery_coefficient


def complexity_gain(model: Potts | Enumeration, fields: bool = True) -> float:
    """How many times more samples the full fit needs than the factored one for the same excess loss."""
    enumerated = enumeration_of(model)
    full, factored = (excess_loss_coefficient(enumerated, name, fields) for name in ("full", "factored"))
    return full.coefficient / factored.coefficient


def information(enumerated: Enumeration, fit: Parameterization) -> tuple[Array, Array]:
    """H and K: sums over states of P(s) sum_ia P_ia y_ia y_ia^T and P(s) g g^T with g = sum_i y_i,s_i.

    y_ia = dz_ia/dtheta - sum_b P_ib dz_ib/dtheta is the slope of log P(s_i = a | others).
    """
    numbers = fit.n_sites * fit.n_colors * fit.n_parameters
    checks.fits_in_memory(f"the Hessian of {fit.n_parameters} parameters", 8 * fit.n_parameters**2 + numbers)
    H = np.zeros((fit.n_parameters, fit.n_parameters))
    K = np.zeros_like(H)
    for rows in blocks(len(enumerated.states), numbers):
        states, weights = enumerated.states[rows].astype(np.int64), enumerated.probabilities[rows]
        P = enumerated.model.conditionals(states)
        y = fit.slopes(states)
        y = y - np.einsum("nia,niap->nip", P, y)[:, :, None]
        flat = (np.sqrt(weights[:, None, None] * P)[..., None] * y).reshape(-1, fit.n_parameters)
        H += flat.T @ flat
        g = np.take_along_axis(y, states[:, :, None, None], axis=2)[:, :, 0].sum(axis=1)
        K += g.T @ (weights[:, None] * g)
    return H, K
