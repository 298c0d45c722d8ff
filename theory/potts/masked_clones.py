"""The clone that masked prediction makes of a distribution: its best energy with interactions of up to k bodies."""

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from scipy.special import log_softmax, rel_entr

from theory.core import Array, Count, NonNegativeCount, Positive, SolverResult, checked, checks
from theory.models import Potts
from theory.potts.enumeration import Enumeration, enumeration_of
from theory.potts.floors import energy_features, fit_conditionals


@dataclass(frozen=True, eq=False, repr=False)
class MaskedClone(SolverResult):
    """The distribution whose conditionals predict masked sites best, with interactions of up to `order` bodies.

    `joint` (C,) * L holds the probability of every state, with an axis for each site. `kl_divergence` is
    KL(original || clone) in nats, never below that of the `MaximumEntropyClone`, and `by_site` (L,) the masked loss of
    the clone's conditionals on the original at every site. `marginal_error` is the largest total variation distance
    between marginals of `order` sites, which a masked clone does not reproduce exactly. `residual` estimates how far
    the loss is above its minimum; it is compared with `tol`.
    """

    order: int
    joint: Array = field(repr=False)
    kl_divergence: float
    marginal_error: float
    by_site: Array = field(repr=False)
    tol: float

    @property
    def probabilities(self) -> Array:
        """Probabilities of the states in the order of `enumerate_states`, (C^L,)."""
        return self.joint.ravel()

    @property
    def loss(self) -> float:
        """The masked loss of the clone's conditionals on the original: the mean over sites, in nats."""
        return float(self.by_site.mean())


@checked
def masked_clone(
    model: Potts | Enumeration, order: Count, *, tol: Positive = 1e-18, max_iter: NonNegativeCount = 200
) -> MaskedClone:
    """Compute the clone of a model: the law with interactions of up to `order` sites that predicts masked sites best.

    It is fitted by pseudo-likelihood: among the energies with terms of up to `order` bodies it takes the one whose
    conditionals have the least masked loss on the model, the symmetric floor of `k_body_floor`. The clone is the joint
    distribution of that energy. Clones of the first order, and of models without interactions of more than `order`
    bodies, equal the maximum-entropy clone; others differ from it and do not keep the marginals of `order` sites
    exactly (arXiv:2410.19637 draws such clones from trained networks).

    ConvergenceError where the residual stays above `tol`; ValueError for a system or an order that is too large.

    >>> from theory.models import PottsModel
    >>> pair = PottsModel(site_couplings=[[0, 1], [1, 0]], color_couplings=[[1, 0], [0, 1]], beta=1.0)
    >>> masked_clone(pair, 1).joint.round(6)
    array([[0.25, 0.25],
           [0.25, 0.25]])
    >>> masked_clone(pair, 2).kl_divergence < 1e-12
    True
    """
    states = enumeration_of(model)
    n_sites, n_colors = states.model.n_sites, states.model.n_colors
    k = int(checks.between("order", order, 1, n_sites, closed=(True, True)))
    features, _ = energy_features(states, k)
    fit = fit_conditionals(states, features, range(n_sites), tol, max_iter)
    joint = np.exp(log_softmax(features @ fit.value.parameters)).reshape((n_colors,) * n_sites)
    # Rounding can make a vanishing divergence slightly negative.
    divergence = max(0.0, float(rel_entr(states.joint, joint).sum()))
    return MaskedClone(
        k,
        joint,
        divergence,
        _marginal_error(states.joint - joint, k),
        fit.value.losses,
        tol,
        residual=fit.residual,
        iterations=fit.iterations,
        converged=fit.residual <= tol,
    )


def _marginal_error(difference: Array, order: int) -> float:
    """Return the largest total variation distance of marginals of `order` sites, from a difference of distributions."""
    n_sites = difference.ndim
    return max(
        float(abs(difference.sum(axis=tuple(np.setdiff1d(np.arange(n_sites), kept)))).sum()) / 2
        for kept in combinations(range(n_sites), order)
    )
