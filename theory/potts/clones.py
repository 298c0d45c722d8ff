"""The distribution of largest entropy with given k-site marginals: a clone with interactions of up to k bodies."""

from dataclasses import dataclass, field
from itertools import combinations
from math import comb, prod
from typing import Any

import numpy as np
from scipy.special import rel_entr

from theory.core import Array, Count, NonNegativeCount, Positive, SolverResult, checked, checks
from theory.models import Potts
from theory.numerics import Solution
from theory.potts.enumeration import Enumeration, enumeration_of

MAX_WORK = 2**27  # states times marginals: the numbers that one round over all marginals touches


@dataclass(frozen=True, eq=False, repr=False)
class MaximumEntropyClone(SolverResult):
    """The distribution of largest entropy among those with the same marginals of k = `order` sites as an original.

    `joint` (C,) * L holds the probability of every state, with an axis for each site. `kl_divergence` is
    KL(original || clone) in nats: the information that interactions of more than k bodies carry. `residual` is the
    largest difference between a probability in a k-site marginal of the clone and of the original; it is compared with
    `tol`.
    """

    order: int
    joint: Array = field(repr=False)
    kl_divergence: float
    tol: float

    @property
    def probabilities(self) -> Array:
        """Probabilities of the states in the order of `enumerate_states`, (C^L,)."""
        return self.joint.ravel()


@checked
def maximum_entropy_clone(
    original: Potts | Enumeration | Any,
    order: Count,
    *,
    tol: Positive = 1e-12,
    max_iter: NonNegativeCount = 10_000,
    check: bool = True,
) -> MaximumEntropyClone:
    """Compute the maximum-likelihood model of a distribution among models with interactions of up to `order` bodies.

    That model has the largest entropy among the distributions with the same marginals of `order` sites. `original` is a
    model, its enumeration, or the probabilities themselves, an array with an axis of length C for every one of L sites.
    The method is iterative proportional fitting: each step multiplies the clone so that one marginal becomes that of
    the original (W. E. Deming and F. F. Stephan, Ann. Math. Stat. 11, 427 (1940)).

    ConvergenceError where some marginal still differs by more than `tol` after `max_iter` rounds over all marginals;
    with `check=False` the last iterate is returned instead. ValueError for an `order` outside 1 to L and for systems
    that are too large.

    Interactions of pairs cannot explain the parity of three binary sites, so the clone of order 2 is uniform:

    >>> import numpy as np
    >>> parity = np.indices((2, 2, 2)).sum(axis=0) % 2 / 4
    >>> round(maximum_entropy_clone(parity, 2).kl_divergence, 6)  # log 2
    0.693147
    >>> maximum_entropy_clone(parity, 3).kl_divergence
    0.0
    """
    target = _joint(original)
    k = int(checks.between("order", order, 1, target.ndim, closed=(True, True)))
    _affordable(target, k)
    rest = [tuple(np.setdiff1d(np.arange(target.ndim), kept)) for kept in combinations(range(target.ndim), k)]
    wanted = [target.sum(axis=axes, keepdims=True) for axes in rest]
    clone = np.full(target.shape, 1 / target.size)
    for iteration in range(max_iter + 1):
        residual = max(
            float(abs(clone.sum(axis=axes, keepdims=True) - marginal).max())
            for axes, marginal in zip(rest, wanted, strict=True)
        )
        if residual <= tol or iteration == max_iter:
            break
        for axes, marginal in zip(rest, wanted, strict=True):
            present = clone.sum(axis=axes, keepdims=True)
            clone = clone * np.divide(marginal, present, out=np.zeros_like(marginal), where=present > 0)
    what, advice = f"maximum_entropy_clone of order {k}", "raise max_iter; probabilities near zero make it slow"
    evidence = residual, tol, iteration
    Solution.verified(clone, *evidence, what=what, advice=advice, otherwise="max_iter", check=check)
    # Rounding can make a vanishing divergence slightly negative.
    divergence = max(0.0, float(rel_entr(target, clone).sum()))
    converged = residual <= tol
    return MaximumEntropyClone(k, clone, divergence, tol, residual=residual, iterations=iteration, converged=converged)


def _joint(original: Any) -> Array:
    """Return the normalized probabilities of the original, with an axis for every site."""
    if isinstance(original, Potts | Enumeration):
        return enumeration_of(original).joint
    given = checks.real_array("original", original)
    given = checks.finite_array("original", given, given.ndim)
    if given.ndim == 0 or len(set(given.shape)) > 1:
        raise ValueError(f"original must have one axis of the same length for every site, got shape {given.shape}")
    if given.min() < 0 or given.max() > 1 + 1e-9:
        raise ValueError(f"original must be probabilities, got numbers from {given.min()} to {given.max()}")
    if not np.isclose(given.sum(), 1, rtol=0, atol=1e-9):
        raise ValueError(f"original must be probabilities, got a sum of {given.sum()}")
    return np.asarray(given / given.sum())


def _affordable(target: Array, order: int) -> None:
    work = prod(target.shape) * comb(target.ndim, order)
    if work > MAX_WORK:
        raise ValueError(
            f"original must be smaller: {target.size} states times {comb(target.ndim, order)} marginals of {order} "
            f"sites are {work} numbers a pass, more than {MAX_WORK}"
        )
