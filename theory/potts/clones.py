"""The distribution of largest entropy with given k-site marginals: a clone with interactions of up to k bodies."""

from dataclasses import dataclass, field
from itertools import combinations
from math import comb, prod
from typing import Any

import numpy as np
from scipy.special import rel_entr

from theory.models import Potts, checks
from theory.models.arrays import Array
from theory.numerics import ConvergenceError, Solution
from theory.potts.enumeration import Enumeration, enumeration_of

MAX_WORK = 2**27  # states times marginals, that is numbers touched in one pass


@dataclass(frozen=True, eq=False)
class MaximumEntropyClone:
    """`joint` (C,) * L; `residual` is the largest difference of any k-site marginal from the original's."""

    order: int
    joint: Array = field(repr=False)
    kl_divergence: float  # KL(original || clone) in nats: what interactions of more than k bodies carry
    residual: float
    tol: float
    iterations: int

    @property
    def converged(self) -> bool:
        """Whether the residual is within the tolerance."""
        return self.residual <= self.tol

    @property
    def probabilities(self) -> Array:
        """The joint in the order of `enumerate_states`, (C^L,)."""
        return self.joint.ravel()


def maximum_entropy_clone(
    original: Potts | Enumeration | Any, order: int, *, tol: float = 1e-12, max_iter: int = 10_000, check: bool = True
) -> MaximumEntropyClone:
    """The maximum-likelihood model with interactions of up to `order` bodies, by iterative proportional fitting.

    `original`: a model, its enumeration, or the probabilities themselves (C,) * L. Each step makes one k-site marginal
    that of the original (W. E. Deming and F. F. Stephan, Ann. Math. Stat. 11, 427 (1940)). Raises ConvergenceError, or
    with check=False returns the last iterate.
    """
    target = _joint(original)
    k = int(checks.between("order", checks.dimension(order, name="order"), 1, target.ndim, closed=(True, True)))
    tol, max_iter = checks.positive("tol", tol), int(checks.dimension(max_iter, least=0, name="max_iter"))
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
    if check and residual > tol:
        raise ConvergenceError(
            f"maximum_entropy_clone of order {k}",
            Solution(clone, "max_iter", residual, tol, iteration),
            "raise max_iter; probabilities near zero make it slow",
        )
    return MaximumEntropyClone(k, clone, max(0.0, float(rel_entr(target, clone).sum())), residual, tol, iteration)


def _joint(original: Any) -> Array:
    """Checked and normalized probabilities (C,) * L."""
    if isinstance(original, Potts | Enumeration):
        return enumeration_of(original).joint
    given = checks.finite_array("original", original, np.ndim(original))
    if given.ndim == 0 or len(set(given.shape)) > 1:
        raise ValueError(f"original must have one axis of the same length for every site, got shape {given.shape}")
    if given.min() < 0 or not np.isclose(given.sum(), 1, rtol=0, atol=1e-9):
        raise ValueError(f"original must be probabilities, got a sum of {given.sum()} and a minimum of {given.min()}")
    return np.asarray(given / given.sum())


def _affordable(target: Array, order: int) -> None:
    work = prod(target.shape) * comb(target.ndim, order)
    if work > MAX_WORK:
        raise ValueError(
            f"original must be smaller: {target.size} states times {comb(target.ndim, order)} marginals of {order} "
            f"sites are {work} numbers a pass, more than {MAX_WORK}"
        )
