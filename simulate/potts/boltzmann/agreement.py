"""How far two samples agree in their covariances of pairs of sites, and in the frequencies of single sites."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from simulate.potts.boltzmann.kernels import covariance_sums, noise_sums
from simulate.potts.boltzmann.shares import Shares, pair_shares, share_rows, site_shares
from simulate.potts.inference.sequences import Sequences
from theory.core import Result, checked
from theory.models.potts.batches import checked_samples


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Result):
    """Says how the covariances f_ij(a, b) - f_i(a) f_j(b) of all pairs of sites and colors agree in two samples.

    `pearson` is their correlation coefficient, and `slope` that of the regression of the second sample's covariances on
    the first one's. `site_error` is the largest difference of two frequencies f_i(a). `distance` is how far the joint
    distributions f_ij lie apart: the total variation, half of the sum of absolute differences, and the mean of it over
    all pairs of sites. It sees errors of the frequencies of single sites too, which covariances do not.
    """

    pearson: float
    slope: float
    site_error: float
    distance: float


@checked
def covariance_agreement(states: Any, others: Any, n_colors: int, *, weights: Any = None) -> Agreement:
    """Compare the pair covariances of `others` (M', L) with those of `states` (M, L), colors below `n_colors`.

    The samples of `states` count by `weights` (M,), equally where None; those of `others` count equally. Noise lowers
    `pearson`: that of two samples of one law, such as two halves of a family, is what to compare it with. Where one of
    the samples has no covariances, since its sites do not vary, both numbers are 0.

    >>> rng = np.random.default_rng(0)
    >>> states = rng.integers(0, 3, (1000, 4))
    >>> states[:, 1] = states[:, 0]
    >>> found = covariance_agreement(states, states, n_colors=3)
    >>> round(found.pearson, 6), round(found.slope, 6), found.site_error
    (1.0, 1.0, 0.0)
    """
    first = Sequences.of(states, n_colors, weights)
    second = Sequences.of(checked_samples("others", others, n_colors), n_colors)
    if first.n_sites < 2 or second.n_sites != first.n_sites:
        raise ValueError(
            f"others must have as many sites as states, two at least, got {second.n_sites} and {first.n_sites}"
        )
    return agreement(pair_shares(first), pair_shares(second), first.n_sites)


def agreement(shares: Shares, others: Shares, n_sites: int, n_threads: int = 1) -> Agreement:
    """Compare two tables of shares (P, C, C)."""
    sums = np.zeros((n_sites, 6))
    share_rows(lambda first, last: covariance_sums(shares, others, first, last, sums), n_sites, n_threads)
    x, y, xx, yy, xy, apart = sums.sum(axis=0) / shares.size
    xx, yy, xy = xx - x * x, yy - y * y, xy - x * y
    difference = site_shares(shares, n_sites) - site_shares(others, n_sites)
    pearson = float(xy / np.sqrt(xx * yy)) if min(xx, yy) > 0 else 0.0
    return Agreement(
        pearson=pearson,
        slope=float(xy / xx) if xx > 0 else 0.0,
        site_error=float(abs(difference).max()),
        distance=float(apart) * shares[0].size / 2,
    )


def distance_noise(
    shares: Shares, others: Shares, n_sites: int, size: float, other_size: float, n_threads: int = 1
) -> float:
    """Return the `distance` that two independent samples of one law would have, of the (effective) sizes of these.

    It is that of normal differences of frequencies with the variance p (1 - p) (1/`size` + 1/`other_size`).
    """
    sums, inverse = np.zeros(n_sites), 1 / size + 1 / other_size
    share_rows(lambda first, last: noise_sums(shares, others, inverse, first, last, sums), n_sites, n_threads)
    return float(sums.sum()) / (2 * len(shares))
