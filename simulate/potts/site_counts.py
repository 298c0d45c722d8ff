"""Counts of the colors of every site, chain by chain, which find the sites that are slower than what else is watched.

A sum over all sites, as the score is, hides a slow mode that lives on a few of them: two sites that are coupled so
strongly that they flip together once in ten thousand sweeps change the sum by less than its noise. Their own color
frequencies show it, because chains that rarely flip disagree in them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc

from simulate.potts.kernels.records import count_sites
from theory.core.arrays import Array

N_BATCHES = 16  # batches of a round, each 6 or more autocorrelation times long where R-hat is below its limit
FALSE_ALARM_RATE = 1e-5  # probability that any site or color of a model is called slow by chance
KURTOSIS_TIMES_VARIANCE = 3.0  # excess kurtosis of a count, times its variance: visits to a rare color come in bursts
MAX_NAMED_SITES = 4  # slow sites that are reported at once


@dataclass(frozen=True)
class SlowSite:
    """A site one color of which comes and goes more slowly than the observables do.

    `low` and `high` are the smallest and largest share of that color among the chains, `factor` says how many times
    larger the autocorrelation time of the site is than the one it was compared with, or how many at least.
    """

    site: int
    color: int
    low: float
    high: float
    factor: float
    probability: float

    def __str__(self) -> str:
        return (
            f"site {self.site}, color {self.color}: shares from {self.low:.3g} to {self.high:.3g} among the chains, "
            f"about {self.factor:.3g} times slower than all other observables (by chance in less than "
            f"{self.probability:.1g} of all cases)"
        )


class SiteCounts:
    """Counts in how many records site i of chain c had color a, in batches of consecutive records."""

    def __init__(self, n_chains: int, n_sites: int, n_colors: int) -> None:
        self._shape = n_chains, n_sites, n_colors
        self.begin(1)

    def begin(self, batch: int) -> None:
        """Forget all counts; a batch has `batch` records from now on."""
        self._batch, self._records, self._batches = max(1, batch), 0, 0
        self._current = np.zeros(self._shape, dtype=np.int32)  # of the batch that has begun
        self._finished = np.zeros(self._shape, dtype=np.int32)  # of the batches that are whole
        self._squares = np.zeros(self._shape[1:])  # of the counts of whole batches, summed over batches and chains

    def add(self, states: NDArray[np.integer[Any]]) -> None:
        """Count one record more, the `states` (n_chains, L)."""
        count_sites(states, self._current)
        self._records += 1
        if self._records % self._batch == 0:
            self._squares += np.einsum("cia,cia->ia", self._current, self._current, dtype=float)
            self._finished += self._current
            self._current[:] = 0
            self._batches += 1

    def slow_sites(self, time: float) -> tuple[SlowSite, ...]:
        """Return the slowest of the sites whose autocorrelation time is above `time`, in records, beyond doubt.

        If a color of probability p fluctuates with the time tau, its share among n records has the variance
        p (1 - p) 2 tau/n. The sum of squares of the chains' shares about their mean, divided by that variance for
        tau = `time`, is chi-square with n_chains - 1 degrees of freedom; the same holds for the shares of the batches,
        which are more and see smaller differences, while only whole chains see modes that are slower than a batch.
        Both probabilities are corrected for the number of sites and colors. Shares of rare colors have longer tails
        than chi-square: degrees of freedom are divided by 1 + kurtosis/2, which gives the sum its true variance.
        """
        _, n_sites, n_colors = self._shape
        totals = self._finished + self._current
        tests = 2 * n_sites * max(1, n_colors - 1)  # the shares of all colors add up to one
        found: dict[int, SlowSite] = {}
        for ratio, chance in (self._among_chains(totals, time), self._among_batches(time)):
            for site in np.flatnonzero(chance.min(axis=1) * tests < FALSE_ALARM_RATE).tolist():
                color = int(np.argmax(np.where(chance[site] * tests < FALSE_ALARM_RATE, ratio[site], 0.0)))
                shares = totals[:, site, color] / self._records
                lowest, highest = float(shares.min()), float(shares.max())
                factor, probability = float(ratio[site, color]), max(1e-99, float(chance[site, color] * tests))
                made = SlowSite(site, color, lowest, highest, factor, probability)
                if site not in found or made.factor > found[site].factor:
                    found[site] = made
        return tuple(sorted(found.values(), key=lambda slow: -slow.factor)[:MAX_NAMED_SITES])

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Return copies of all arrays that are needed to go on with the same counts."""
        numbers = np.array([self._batch, self._records, self._batches])
        return {
            "numbers": numbers,
            "current": self._current.copy(),
            "finished": self._finished.copy(),
            "squares": self._squares.copy(),
        }

    def restore(self, snapshot: Mapping[str, NDArray[Any]]) -> None:
        """Go back to the moment of `snapshot`."""
        self._batch, self._records, self._batches = (int(number) for number in snapshot["numbers"])
        self._current, self._finished = snapshot["current"].copy(), snapshot["finished"].copy()
        self._squares = snapshot["squares"].copy()

    def _among_chains(self, totals: NDArray[np.int32], time: float) -> tuple[Array, Array]:
        shares = totals / max(1, self._records)
        mean = shares.mean(axis=0)
        return _dispersion(((shares - mean) ** 2).sum(axis=0), mean, self._records / (2 * time), self._shape[0])

    def _among_batches(self, time: float) -> tuple[Array, Array]:
        groups = self._shape[0] * self._batches
        mean = self._finished.sum(axis=0) / max(1, groups * self._batch)
        squares = self._squares / self._batch**2 - groups * mean**2
        return _dispersion(squares, mean, self._batch / (2 * time), groups)


def _dispersion(squares: Array, mean: Array, size: float, groups: int) -> tuple[Array, Array]:
    """Return the variance of `groups` shares over that of shares of `size` independent draws, and its p-value.

    `squares` (L, C) are the sums of squares about the `mean` (L, C).
    """
    variance = mean * (1 - mean)
    if groups < 2:
        return np.zeros_like(mean), np.ones_like(mean)
    # A color that never or always occurs has no variance, and nothing to be compared with.
    counted = np.where(variance > 0, variance * size, 1.0)
    freedom = groups - 1
    ratio = np.where(variance > 0, squares * size**2 / counted / freedom, 0.0)
    effective = freedom / (1 + KURTOSIS_TIMES_VARIANCE / counted / 2)
    return ratio, gammaincc(effective / 2, ratio * effective / 2)
