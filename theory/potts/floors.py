"""The least loss of masked prediction: of the true conditionals, and of models with interactions of up to k bodies."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import comb

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from theory.core import Array, Count, NonNegativeCount, Positive, SolverResult, checked, checks
from theory.models import Potts
from theory.numerics import Solution
from theory.potts.enumeration import Enumeration, enumeration_of

MAX_SIZE = 2**26  # numbers in the array of features: states times parameters
RIDGE = 1e-14  # least curvature, relative to the largest: contexts that hardly occur leave parameters with none
ROUNDING = 1e-14  # by which a loss may rise in a step that is accepted


@checked
def masked_loss_floor(model: Potts | Enumeration) -> float:
    """Compute the least mean cross entropy, in nats, with which a masked site can be predicted from all other sites.

    It is the conditional entropy (1/L) sum_i H(s_i | all others) of the model, reached by its true conditionals.
    Source: Gibbs' inequality, rederived here: any other prediction adds its mean Kullback-Leibler divergence from the
    true conditionals. The sum over states is exact; ValueError for a system that is too large to enumerate.

    >>> from theory.models import PottsModel
    >>> pair = PottsModel(site_couplings=[[0, 1], [1, 0]], color_couplings=[[1, 0], [0, 1]], beta=1.0)
    >>> round(masked_loss_floor(pair), 6)  # the entropy of a coin with probability e/(e + 1)
    0.582203
    """
    return float(masked_loss_floors_by_site(model).mean())


@checked
def masked_loss_floors_by_site(model: Potts | Enumeration) -> Array:
    """Compute for every site the least cross entropy with which it can be predicted from all other sites, (L,).

    It is H(s_i | all others) = -sum_s P(s) log P(s_i | all others) in nats. Source: the definition of a conditional
    entropy (C. E. Shannon, Bell Syst. Tech. J. 27, 379 (1948)) and Gibbs' inequality, as in `masked_loss_floor`.
    ValueError for too large a system.
    """
    states = enumeration_of(model)
    n_sites, n_colors = states.model.n_sites, states.model.n_colors
    floors = np.empty(n_sites)
    for i in range(n_sites):
        log_p = states.log_probabilities.reshape(n_colors**i, n_colors, -1)
        floors[i] = -np.sum(np.exp(log_p) * log_softmax(log_p, axis=1))
    return floors


@dataclass(frozen=True, eq=False, repr=False)
class KBodyFloor(SolverResult):
    """The least masked loss, in nats, of predictions that use interactions of up to `order` bodies.

    `by_site` (L,) holds the loss of every site; `symmetric` says whether all predictions come from one energy.
    `residual` estimates how far a site's loss is above its minimum: half the squared Newton decrement at the point that
    was found. It is compared with `tol`.
    """

    order: int
    symmetric: bool
    by_site: Array
    tol: float

    @property
    def loss(self) -> float:
        """The mean over sites, in nats."""
        return float(self.by_site.mean())


@checked
def k_body_floor(
    model: Potts | Enumeration,
    order: Count,
    symmetric: bool = False,
    *,
    tol: Positive = 1e-13,
    max_iter: NonNegativeCount = 200,
) -> KBodyFloor:
    """Compute the least masked loss of predictions in which a site interacts with up to order - 1 others at a time.

    Each site has logits of its own. If `symmetric`, all conditionals come from one energy with terms of up to `order`
    bodies, which minimizes the same mean loss (the pseudo-likelihood); that floor lies slightly higher, and is the
    limit of the lines in Fig. 2 of arXiv:2410.19637, which are fitted to samples. Both are convex problems, solved by
    Newton's method over all states of the model.

    ConvergenceError where the residual stays above `tol`; ValueError for a system or an order that is too large.
    """
    states = enumeration_of(model)
    n_sites = states.model.n_sites
    k = int(checks.between("order", order, 1, n_sites, closed=(True, True)))
    features, touches = energy_features(states, k)
    if symmetric:
        fits = [fit_conditionals(states, features, range(n_sites), tol, max_iter)]
    else:
        fits = [fit_conditionals(states, features[:, touches[:, i]], [i], tol, max_iter) for i in range(n_sites)]
    by_site = np.concatenate([fit.value.losses for fit in fits])
    residual, iterations = max(fit.residual for fit in fits), max(fit.iterations for fit in fits)
    return KBodyFloor(k, symmetric, by_site, tol, residual=residual, iterations=iterations, converged=residual <= tol)


def energy_features(states: Enumeration, order: int) -> tuple[Array, NDArray[np.bool_]]:
    """Return the products of indicators [s_i = a], a >= 1, of 1 to `order` sites, (N, P), and their sites, (P, L)."""
    n_sites, n_colors = states.model.n_sites, states.model.n_colors
    count = sum(comb(n_sites, k) * (n_colors - 1) ** k for k in range(1, order + 1))
    if len(states.states) * max(count, 1) > MAX_SIZE:
        raise ValueError(
            f"order must be smaller for a system of {len(states.states)} states: order {order} has {count} "
            f"parameters, and states times parameters must be at most {MAX_SIZE}"
        )
    columns, touches = [], []
    for sites in (sites for k in range(1, order + 1) for sites in combinations(range(n_sites), k)):
        for colors in product(range(1, n_colors), repeat=len(sites)):
            columns.append((states.states[:, sites] == colors).all(axis=1))
            touches.append(np.isin(np.arange(n_sites), sites))
    empty = np.zeros((0, len(states.states)))
    return np.array(columns or empty, dtype=float).T, np.array(touches, dtype=bool).reshape(-1, n_sites)


@dataclass(frozen=True, eq=False)
class ConditionalFit:
    """Holds the `parameters` (P,) of an energy and the `losses` (sites,) of its conditionals."""

    parameters: Array
    losses: Array


def fit_conditionals(
    states: Enumeration, features: Array, sites: Sequence[int], tol: float, max_iter: int
) -> Solution[ConditionalFit]:
    """Minimize the losses at `sites` of conditionals of one energy that is linear in `features`.

    Newton's method on the convex sum of these losses, damped as by Levenberg and Marquardt: at a low temperature the
    bare step overshoots to predictions that are certain and wrong, where no curvature leads back.
    """

    def evaluate(parameters: Array) -> tuple[list[Array], Array]:
        conditionals = [_log_conditional(states, features @ parameters, i) for i in sites]
        return conditionals, _losses(states, conditionals)

    parameters = np.zeros(features.shape[1])
    conditionals, losses = evaluate(parameters)
    damping = 1e-2
    for iteration in range(max_iter + 1):
        gradient, hessian = _derivatives(states, features, conditionals)
        curvatures, directions = np.linalg.eigh(hessian)
        slopes, least = directions.T @ gradient, RIDGE * curvatures.max(initial=1e-3)
        residual = float(np.sum(slopes**2 / np.maximum(curvatures, least)) / 2) / len(sites)
        if residual <= tol or iteration == max_iter:
            break
        while damping < 1e9:
            moved = parameters - directions @ (slopes / (np.maximum(curvatures, 0) + damping))
            conditionals, trial = evaluate(moved)
            if trial.sum() <= losses.sum() + ROUNDING:
                break
            damping *= 10
        parameters, losses, damping = moved, trial, max(damping / 10, least)
    fit, what = ConditionalFit(parameters, losses), f"k_body_floor of {states.model.n_sites} sites"
    advice = "at a large beta some states hardly occur: lower beta"
    return Solution.verified(fit, residual, tol, iteration, what=what, advice=advice, otherwise="max_iter")


def _log_conditional(states: Enumeration, energy: Array, site: int) -> Array:
    """Return log P(s_site | others) of an energy, (C^site, C, C^(L - 1 - site)): a softmax over the middle axis."""
    n_colors = states.model.n_colors
    return np.asarray(log_softmax(energy.reshape(n_colors**site, n_colors, -1), axis=1))


def _losses(states: Enumeration, log_conditionals: Sequence[Array]) -> Array:
    """Return the cross entropies -sum_s P(s) log Q(s_i | others), one for each of `log_conditionals`."""
    return np.array([-(states.probabilities @ each.ravel()) for each in log_conditionals])


def _derivatives(states: Enumeration, features: Array, log_conditionals: Sequence[Array]) -> tuple[Array, Array]:
    """Return the gradient (P,) and the Hessian (P, P) of the sum of the losses.

    The Hessian is the covariance of the features over the color of the masked site, averaged over its context.
    """
    gradient, hessian = np.zeros(features.shape[1]), np.zeros((features.shape[1],) * 2)
    for log_conditional in log_conditionals:
        conditional = np.exp(log_conditional)
        context = states.probabilities.reshape(conditional.shape).sum(axis=1, keepdims=True)
        predicted = (context * conditional).ravel()
        mean = (conditional[..., None] * features.reshape(*conditional.shape, -1)).sum(axis=1)
        gradient += features.T @ (predicted - states.probabilities)
        weighted = context[:, 0, :, None] * mean
        hessian += features.T @ (predicted[:, None] * features)
        hessian -= np.tensordot(weighted, mean, axes=((0, 1), (0, 1)))
    return gradient, hessian
