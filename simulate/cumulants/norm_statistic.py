"""The statistic of the degree-4 norm test on samples really drawn, and the power that it has."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from simulate.core import Estimate, Share
from simulate.cumulants.samples import draw_spikes, require_memory, spiked_data_sets
from theory.core import Array, Count, Result, Several, checked, checks
from theory.models import SpikedCumulant

CHUNK = 2**16  # numbers that are drawn at once for small data sets


@dataclass(frozen=True, eq=False, repr=False)
class NormStatistics(Result):
    """The statistic T4 of independent data sets of `n` samples: `null` (R,) under H0 and `spiked` (R,) under H1."""

    n: int
    null: Array = field(repr=False)
    spiked: Array = field(repr=False)

    def level(self, threshold: float) -> Share:
        """Measure how often H0 is rejected although it holds, for a test as in `power`."""
        return _share_beyond(self.null, threshold)

    def power(self, threshold: float) -> Share:
        """Measure how often H0 is rejected under H1, if that is done beyond the `threshold`, on the side of its sign.

        The error is binomial, from a share with one success and one failure more, which is not zero at 0 and 1.
        """
        return _share_beyond(self.spiked, threshold)

    def standardized_mean(self) -> Estimate:
        """Measure the mean under H1 over the standard deviation under H0, with the errors of both.

        The error of the standard deviation is that of large R, from the fourth moment.
        """
        R, deviation = len(self.null), float(self.null.std(ddof=1))
        ratio = float(self.spiked.mean()) / deviation
        fourth = float(np.mean((self.null - self.null.mean()) ** 4)) / deviation**4
        of_mean = float(self.spiked.std(ddof=1)) / deviation / np.sqrt(R)
        of_deviation = abs(ratio) * np.sqrt(max(fourth - 1, 0.0) / (4 * R))
        return Estimate(ratio, float(np.hypot(of_mean, of_deviation)), R)


@checked
def norm_statistics(model: SpikedCumulant, n: Count, repeats: Several, rng: np.random.Generator) -> NormStatistics:
    """Draw `repeats` >= 2 data sets of `n` samples under each hypothesis, and compute the T4 of each.

    T4 is `SpikedCumulant.norm_statistic` of the squared norms of the samples; each data set of H1 has a spike of its
    own. ValueError where one data set exceeds the memory.

    >>> measured = norm_statistics(SpikedCumulant(d=10, beta=10.0), 400, 200, np.random.default_rng(0))
    >>> bool(measured.spiked.mean() < measured.null.mean())
    True
    """
    require_memory("n", n, model.size)
    require_memory("repeats", repeats, 1)
    block = max(1, CHUNK // (n * model.size))
    sizes = [min(block, repeats - start) for start in range(0, repeats, block)]
    null = (rng.standard_normal((B, n, model.size)) for B in sizes)
    spiked = (spiked_data_sets(model, draw_spikes(model, B, rng), n, rng) for B in sizes)
    return NormStatistics(n, _statistics(model, null), _statistics(model, spiked))


def _statistics(model: SpikedCumulant, data_sets: Iterable[Array]) -> Array:
    """Compute T4 of every data set of every block (B, n, d)."""
    squared_norms = (np.einsum("bij,bij->bi", block, block) for block in data_sets)
    return np.array([model.norm_statistic(R) for norms in squared_norms for R in norms])


def _share_beyond(values: Array, threshold: float) -> Share:
    limit = checks.real("threshold", threshold)
    return Share.of(np.asarray(values < limit if limit < 0 else values > limit, dtype=float))
