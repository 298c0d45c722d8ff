"""What a finite sample costs: the excess masked loss and the relative error of the learned couplings."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from theory.core import Array, Result, checked, checks
from theory.core.blocks import blocks
from theory.models import Potts
from theory.numerics.extremes import within_range
from theory.potts.enumeration import Enumeration, enumeration_of
from theory.potts.parameterizations import Parameterization, parameterization_of

Fit = Literal["factored", "symmetric", "asymmetric", "full"]

FULL_AND_FACTORED: tuple[Fit, Fit] = ("full", "factored")
LARGEST_SAMPLE = 1e100  # beyond it, and below its inverse, the losses leave the range of numbers
NULL = 1e-10  # eigenvalues of the Hessian below this times the largest belong to directions without effect


@dataclass(frozen=True, repr=False)
class ExcessLoss(Result):
    """The law by which a fit to M independent samples approaches the truth for large M.

    The masked loss, summed over the sites and in nats, exceeds its floor by `coefficient`/M on average. The relative
    error of the couplings, err^2 = |W' - W'_true|^2/|W'_true|^2 with W' the identifiable part of the couplings, has the
    mean `recovery_coefficient`/M. `rank` is that of the Hessian: the number of parameters that can be identified, out
    of `n_parameters`.
    """

    coefficient: float
    recovery_coefficient: float
    rank: int
    n_parameters: int
    n_sites: int

    def masked_loss(self, n_samples: ArrayLike) -> Any:
        """Compute the excess of the masked loss (mean over sites, in nats) for `n_samples` M, a number or an array."""
        return self.coefficient / (self.n_sites * _sample_sizes(n_samples))[()]

    def recovery_error(self, n_samples: ArrayLike) -> Any:
        """Compute the root mean square of err for `n_samples` M, a number or an array; it falls as M^(-1/2)."""
        return np.sqrt(self.recovery_coefficient / _sample_sizes(n_samples))[()]


def _sample_sizes(n_samples: ArrayLike) -> Array:
    sizes = checks.real_array("n_samples", n_samples)
    if not np.all((sizes >= 1 / LARGEST_SAMPLE) & ((sizes <= LARGEST_SAMPLE) | (sizes == np.inf))):
        allowed = f"positive, from {1 / LARGEST_SAMPLE:g} to {LARGEST_SAMPLE:g}, or infinite"
        raise ValueError(f"n_samples must be {allowed}, got {checks.shown(n_samples)}")
    return sizes


@checked
@within_range
def excess_loss_coefficient(
    model: Potts | Enumeration, parameterization: Fit = "factored", fields: bool = True
) -> ExcessLoss:
    """Compute how much the masked loss of a pseudo-likelihood fit exceeds its floor, to leading order in 1/M.

    The fit has the couplings A_ij V_ab ("factored"), a symmetric block for every pair of sites ("symmetric"), or a
    block for both directions of every pair ("asymmetric", also called "full"), and fields where `fields` is true. With
    H the Hessian of the loss summed over sites and K the covariance of its gradient by one sample, both at the true
    model, the minimum over M samples is theta + H^+ g, where g is the mean of M gradients. It costs (1/2) g^T H^+ g,
    on average tr(H^+ K)/(2M). H^+ is the pseudo-inverse, since gauges leave directions without effect. This is the
    sandwich formula of M-estimators: the covariance of theta is H^+ K H^+ / M. Source: known (P. J. Huber, Proc. Fifth
    Berkeley Symp. Math. Stat. Prob. 1, 221 (1967)), rederived here by the expansion of the loss to second order about
    the true model.

    The averages are exact, by enumeration. ValueError for systems too large to enumerate, for models that the
    parameterization cannot represent, and for models without couplings.

    >>> from theory.models import PottsModel
    >>> pair = PottsModel(site_couplings=[[0, 1], [1, 0]], color_couplings=[[1, 0], [0, 1]])
    >>> law = excess_loss_coefficient(pair, "symmetric", fields=False)
    >>> law.rank  # one coupling, J(+, +), of the four entries of the block
    1
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


@checked
@within_range
def recovery_error_coefficient(
    model: Potts | Enumeration, parameterization: Fit = "factored", fields: bool = True
) -> float:
    """Compute M times the mean squared relative error of the couplings that a fit learns from M samples, for large M.

    It is tr(G H^+ K H^+)/|W'|^2, where the quadratic form G measures a change of the identifiable couplings W',
    |dW'|^2 = dtheta^T G dtheta; the rest is as in `excess_loss_coefficient`, and so are the errors raised.
    Derived here: the quadratic form G is averaged over the sandwich covariance H^+ K H^+ / M of the fitted parameters.
    """
    return excess_loss_coefficient(model, parameterization, fields).recovery_coefficient


@checked
@within_range
def complexity_gain(model: Potts | Enumeration, fields: bool = True) -> float:
    """Compute how many times more samples the full fit needs than the factored one for the same excess loss.

    Both are compared to leading order in 1/M, at a model with factored couplings; see `excess_loss_coefficient`.
    Derived here: equal excess losses need numbers of samples in the ratio of the two coefficients tr(H^+ K)/2.
    """
    enumerated = enumeration_of(model)
    full, factored = (excess_loss_coefficient(enumerated, name, fields) for name in FULL_AND_FACTORED)
    return full.coefficient / factored.coefficient


def information(enumerated: Enumeration, fit: Parameterization) -> tuple[Array, Array]:
    """Return the Hessian H of the loss summed over sites and the covariance K of its gradient by one sample.

    They are the sums over states of P(s) sum_ia P_ia y_ia y_ia^T and of P(s) g g^T with g = sum_i y_i,s_i. Here
    y_ia = dz_ia/dtheta - sum_b P_ib dz_ib/dtheta is the derivative of log P(s_i = a | others), and z_ia are the logits.
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
