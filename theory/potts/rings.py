"""Potts chains with neighbor interactions, closed or open, solved by transfer matrices."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import log_softmax, logsumexp

from theory.core import Array, AtLeast, NonNegative, NonNegativeCount, Result, checked, checked_fields
from theory.models.covariance import set_checked
from theory.models.potts.factored import symmetric

GAP = 1e-8  # least relative distance of the two largest eigenvalues: below it the leading eigenvector is rounding


@dataclass(frozen=True, eq=False, repr=False)
class Ring(Result):
    """The exactly solved chain of Potts spins S(s) = sum_i U[s_i, s_{i+1}], P(s) = exp(beta S)/Z.

    `color_couplings` U (C, C) is any symmetric matrix. A `periodic` chain of `n_sites` sites closes to a ring, an open
    one lacks the bond between its ends. `n_sites` may be inf: then all quantities are those of the bulk, and `periodic`
    makes no difference. Everything is computed from logarithms of powers of the transfer matrix exp(beta U), in which
    only positive terms are added, so no beta is too large.
    """

    n_sites: float
    color_couplings: Any = field(repr=False)
    beta: NonNegative = 1.0
    periodic: bool = True

    def __post_init__(self) -> None:
        checked_fields(self)
        n_sites = AtLeast(3 if self.periodic else 1, infinite=True).check("n_sites", self.n_sites)
        set_checked(self, n_sites=n_sites, color_couplings=symmetric("color_couplings", self.color_couplings))

    @property
    def n_colors(self) -> int:
        """The number C of colors."""
        return len(self.color_couplings)

    @property
    def log_partition_function(self) -> float:
        """The logarithm of the partition function; it is infinite for the infinite chain."""
        return self.log_partition_function_per_site * self.n_sites

    @cached_property
    def log_partition_function_per_site(self) -> float:
        """The value of (log Z)/n_sites; for the infinite chain the log of its transfer matrix's top eigenvalue."""
        if math.isinf(self.n_sites):
            return self._log_top
        n = int(self.n_sites)
        if self.periodic:
            return self._log_top + float(logsumexp(_power(self._log_transfer, n).diagonal())) / n
        return ((n - 1) * self._log_top + float(logsumexp(self._from_ends[n - 1]))) / n

    @property
    def mu(self) -> float:
        """The second eigenvalue of exp(beta U), by modulus, over the largest: correlations decay as its powers.

        It is (e^beta - 1)/(e^beta + C - 1) for U = identity: P(s_0 = s_r) = 1/C + (1 - 1/C) mu^r in the infinite chain.
        """
        others = self._eigenvalues[:-1]
        return float(others[abs(others).argmax()] / self._eigenvalues[-1]) if others.size else 0.0

    @checked
    def pair(self, i: NonNegativeCount, j: NonNegativeCount) -> Array:
        """Return the joint probabilities P(s_i = a, s_j = b), (C, C), of two sites i < j."""
        if not i < j < self.n_sites:
            raise ValueError(f"sites must satisfy 0 <= i < j < {self.n_sites}, got i = {i} and j = {j}")
        log_weights = _power(self._log_transfer, j - i) + self._outside(i, j)
        return np.asarray(np.exp(log_weights - logsumexp(log_weights)))

    @checked
    def correlation(self, distance: NonNegativeCount) -> float:
        """Return the probability that the sites 0 and `distance` have the same color."""
        if distance >= self.n_sites:
            raise ValueError(f"distance must be below n_sites = {self.n_sites}, got {distance}")
        return 1.0 if distance == 0 else float(np.trace(self.pair(0, distance)))

    @cached_property
    def mean_score_per_site(self) -> float:
        """The mean score per site, <S>/n_sites, which is minus the energy per site."""
        if self._homogeneous:
            return float(np.sum(self.pair(0, 1) * self.color_couplings))
        n = int(self.n_sites)
        return sum(float(np.sum(self.pair(i, i + 1) * self.color_couplings)) for i in range(n - 1)) / n

    @property
    def mean_score(self) -> float:
        """The mean score <S>; it is infinite for the infinite chain, unless the score per site vanishes."""
        return self.mean_score_per_site * self.n_sites if self.mean_score_per_site else 0.0

    @cached_property
    def masked_loss_floor(self) -> float:
        """The mean over sites of H(s_i | all others) in nats: the least loss of predicting a masked site."""
        if self._homogeneous:
            return self._inner_floor(0)
        n = int(self.n_sites)
        ends = 2 * self._end_floor() if n > 1 else self._end_floor()
        return (ends + sum(self._inner_floor(i) for i in range(n - 2))) / n

    @property
    def _homogeneous(self) -> bool:
        return self.periodic or math.isinf(self.n_sites)

    def _inner_floor(self, i: int) -> float:
        """Return H(s_{i+1} | s_i, s_{i+2}), the entropy of a site given its two neighbors."""
        T = self._log_transfer
        return _conditional_entropy(T[:, :, None] + T + self._outside(i, i + 2)[:, None, :], axis=1)

    def _end_floor(self) -> float:
        """Return H(s_0 | s_1) of an open chain, or H(s_0) where it has one site only."""
        n = int(self.n_sites)
        return _conditional_entropy(
            self._log_transfer + self._from_ends[n - 2] if n > 1 else np.zeros((self.n_colors, 1)), 0
        )

    def _outside(self, i: int, j: int) -> Array:
        """Return the log weight of the part of the chain outside the sites i < j, by their colors, (C, C)."""
        if math.isinf(self.n_sites):
            return self._log_perron[:, None] + self._log_perron
        n = int(self.n_sites)
        if self.periodic:
            return _power(self._log_transfer, n - (j - i)).T
        return np.asarray(self._from_ends[i][:, None] + self._from_ends[n - 1 - j])

    @cached_property
    def _from_ends(self) -> Array:
        """The log weights of open pieces with 0 to n - 1 bonds, by the color of the site at their inner end, (n, C)."""
        weights = np.zeros((int(self.n_sites), self.n_colors))
        for bonds in range(1, len(weights)):
            weights[bonds] = logsumexp(self._log_transfer + weights[bonds - 1], axis=1)
        return weights

    @cached_property
    def _eigenvalues(self) -> Array:
        """The eigenvalues of exp(beta (U - max U)) in ascending order."""
        return np.linalg.eigvalsh(np.exp(self.beta * (self.color_couplings - self.color_couplings.max())))

    @cached_property
    def _log_top(self) -> float:
        """The log of the largest eigenvalue of exp(beta U)."""
        return float(self.beta * self.color_couplings.max() + math.log(self._eigenvalues[-1]))

    @cached_property
    def _log_transfer(self) -> Array:
        """The logarithms of exp(beta U) over its largest eigenvalue, so that powers keep their size."""
        return np.asarray(self.beta * self.color_couplings - self._log_top)

    @cached_property
    def _log_perron(self) -> Array:
        """The log of the (positive) eigenvector of the largest eigenvalue, up to a constant, (C,)."""
        T = self._log_transfer
        if np.ptp(logsumexp(T, axis=1)) <= 1e-13:  # equal sums of rows: the eigenvector is constant
            return np.zeros(self.n_colors)
        if self._eigenvalues[-2] > (1 - GAP) * self._eigenvalues[-1]:
            raise ValueError(
                f"beta must be smaller for the infinite chain, got {self.beta}: the two largest eigenvalues of its "
                f"transfer matrix agree to a relative {GAP:g}; a finite n_sites has no such limit"
            )
        with np.errstate(divide="ignore"):
            rough = np.log(abs(np.linalg.eigh(np.exp(T))[1][:, -1]))
        return np.asarray(logsumexp(T + rough, axis=1))  # one more multiplication makes its small entries accurate


@checked
def ring(n_sites: float, color_couplings: Any, beta: float = 1.0, periodic: bool = True) -> Ring:
    """Solve a ring, or an open chain, of Potts spins with neighbor interactions exactly; `n_sites` may be inf.

    `color_couplings` U (C, C) is any symmetric matrix, in S = sum_i U[s_i, s_{i+1}] and P = exp(beta S)/Z. Source: the
    method of transfer matrices (H. A. Kramers and G. H. Wannier, Phys. Rev. 60, 252 (1941)), applied here to any
    symmetric U and to powers in logarithms. ValueError for a periodic chain of fewer than 3 sites, and where the
    infinite chain is degenerate within rounding.

    >>> two_colors = ring(math.inf, np.eye(2), beta=1.0)
    >>> round(two_colors.log_partition_function_per_site, 6)  # log(e + 1)
    1.313262
    >>> round(two_colors.correlation(1), 6)  # neighbors agree with probability e/(e + 1)
    0.731059
    """
    return Ring(n_sites, color_couplings, beta, periodic)


def _power(log_matrix: Array, exponent: int) -> Array:
    """Return the log of a power of a positive matrix, by squaring: positive terms are added, so nothing cancels."""
    result, square = np.where(np.eye(len(log_matrix)), 0.0, -np.inf), log_matrix
    while exponent:
        if exponent % 2:
            result = _log_product(result, square)
        if exponent := exponent // 2:
            square = _log_product(square, square)
    return result


def _log_product(a: Array, b: Array) -> Array:
    return np.stack([logsumexp(row[:, None] + b, axis=0) for row in a])


def _conditional_entropy(log_joint: Array, axis: int) -> float:
    """Return the entropy, in nats, of the variable along `axis` given the others; the joint need not be normalized."""
    return float(-np.sum(np.exp(log_softmax(log_joint)) * log_softmax(log_joint, axis=axis)))
