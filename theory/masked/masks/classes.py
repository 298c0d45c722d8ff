"""The rows that a number of masks makes of each sample, in classes, and how strongly the fit follows each class."""

from dataclasses import dataclass, field

import numpy as np

from theory.core.arrays import Array


@dataclass(frozen=True, eq=False)
class Response:
    """Hold sums over the classes of rows at one point of the first-order equations; see `RowClasses`.

    `first` (2,) weighs a Sigma and b diag Sigma in the equivalent of the Gram matrix. Its derivative to the two
    self-consistent traces is -`second` (2, 2). `rows` (2,) weighs them in the train error.
    """

    first: Array
    second: Array
    rows: Array


@dataclass(frozen=True, eq=False)
class RowClasses:
    """The (sample, mask) pairs in which one coordinate is masked, rotated within each sample to uncorrelated rows.

    A sample with J such pairs, J ~ Binomial(n_masks, mask_rate), has J masked copies z of the same x. Their mean times
    sqrt(J) is one row of covariance J a Sigma + b Delta, a = (1 - mask_rate)^2, b = mask_rate (1 - mask_rate),
    Delta = diag Sigma; the J - 1 contrasts between them see only the noise of the masks, covariance b Delta.
    """

    pairs: float  # pairs per sample, n_masks mask_rate
    signal: Array = field(repr=False)  # (c,), J of the class; 0 for the contrasts
    share: Array = field(repr=False)  # (c,), rows of the class over n pairs; sums to 1

    def response(self, traces: Array) -> Response:
        """Return the sums over classes at traces (2,) = (tr a Sigma G, tr b Delta G)/n.

        The rows of class c, of covariance T_c, are damped by the factor K_c = 1 + tr T_c G/(n pairs): the fit follows
        its own rows, the more so the fewer there are.
        """
        damping = 1 / (1 + (self.signal * traces[0] + traces[1]) / self.pairs)
        powers = np.stack([self.signal, np.ones_like(self.signal)])
        squared = self.share * damping**2
        return Response(powers @ (self.share * damping), (powers * squared) @ powers.T / self.pairs, powers @ squared)


class AllMasks:
    """The limit of infinitely many masks: a sample is one row of covariance a Sigma, and b Delta is a fixed ridge."""

    def response(self, traces: Array) -> Response:
        """Return the limit n_masks -> infinity of `RowClasses.response`."""
        damping = 1 / (1 + float(traces[0]))
        second = np.zeros((2, 2))
        second[0, 0] = damping**2
        return Response(np.array([damping, 1.0]), second, np.array([damping**2, 1.0]))


def row_classes(n_masks: int, mask_rate: float) -> RowClasses:
    """Make the classes of rows whose weight is above rounding, about sqrt(n_masks) of them where masks are many."""
    count, probability = _binomial(n_masks, mask_rate)
    masked = count > 0
    count, probability = count[masked], probability[masked]
    pairs = float(count @ probability)
    contrasts = (count - 1) @ probability
    return RowClasses(pairs, np.append(count, 0.0), np.append(probability, contrasts) / pairs)


def _binomial(n: int, rate: float) -> tuple[Array, Array]:
    """Return values and probabilities of a binomial law around its mode.

    They come from ratios of neighbors, since factorials would lose digits.
    """
    mode = int((n + 1) * rate)
    reach = int(40 * (n * rate * (1 - rate)) ** 0.5) + 40  # beyond it less than exp(-700)
    low, high = max(0, mode - reach), min(n, mode + reach)
    j = np.arange(low, high, dtype=float)
    logs = np.append(0.0, np.cumsum(np.log((n - j) / (j + 1)) + np.log(rate) - np.log1p(-rate)))
    weights = np.exp(logs - logs.max())
    return np.arange(low, high + 1, dtype=float), weights / weights.sum()
