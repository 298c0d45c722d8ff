"""Random ReLU features with a ridge, for comparison with a trained network: their first layer is not trained."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh

from simulate.cumulants.network import ReluNetwork, checked_labels, checked_rows
from theory.core import Array, Count, Positive, checked, checks

RIDGES = tuple(10.0 ** np.arange(-4.0, 3.0))
HELD_OUT = 0.2  # share of the samples that chooses the ridge
BLOCK = 4096  # rows whose features are held at once


@checked
def fit_random_features(
    X: ArrayLike, y: ArrayLike, width: Count, rng: np.random.Generator, *, ridges: Sequence[Positive] = RIDGES
) -> ReluNetwork:
    """Fit the readout of a network with random first layer, W ~ N(0, 1/d) and b ~ N(0, 1), by ridge regression on y.

    The loss is the mean of (f - y)^2 plus a ridge times |readout|^2/width; the offset is not penalized. Of the
    `ridges` the one with the least squared error on a random fifth of the samples is taken, and the fit is then
    repeated with all. X is (n, d) with n >= 5, y = +-1 (n,).

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((500, 2))
    >>> y = np.sign(X[:, 0] * X[:, 1])
    >>> fit_random_features(X, y, 50, rng).accuracy(X, y) > 0.9
    True
    """
    rows = checked_rows(X)
    labels = checked_labels(y, len(rows))
    if len(rows) < 5:
        raise ValueError(f"X must have at least 5 rows, got {len(rows)}")
    if not ridges:
        raise ValueError(f"ridges must be a sequence of positive numbers, got {ridges}")
    checks.fits_in_memory(f"the second moments of {width} features", 4.0 * width * width + 2.0 * BLOCK * width)
    drawn = ReluNetwork.random(width, rows.shape[1], rng)
    bias = rng.standard_normal(width)
    order = rng.permutation(len(rows))
    cut = max(1, round(HELD_OUT * len(rows)))
    held, kept = (_Moments.of(rows[part], labels[part], drawn.first_layer, bias) for part in np.split(order, [cut]))
    errors = [held.error(*fitted) for fitted in kept.readouts(ridges)]
    readout, offset = next(iter((held + kept).readouts([ridges[int(np.argmin(errors))]])))
    return ReluNetwork(drawn.first_layer, bias, readout, offset)


class _Moments:
    """Sums over samples of the features phi, the classes y, and their products: all that ridge regression needs."""

    def __init__(self, n: int, products: Array) -> None:
        self.n, self.products = n, products  # of (phi, 1, y) with itself, (m + 2, m + 2)

    @classmethod
    def of(cls, X: Array, y: Array, W: Array, b: Array) -> "_Moments":
        total = np.zeros((len(W) + 2, len(W) + 2))
        for start in range(0, len(X), BLOCK):
            part = slice(start, start + BLOCK)
            phi = np.maximum(X[part] @ W.T + b, 0)
            all_columns = np.column_stack([phi, np.ones(len(phi)), y[part]])
            total += all_columns.T @ all_columns
        return cls(len(X), total)

    def __add__(self, other: "_Moments") -> "_Moments":
        return _Moments(self.n + other.n, self.products + other.products)

    def readouts(self, ridges: Sequence[float]) -> "list[tuple[Array, float]]":
        """Return (readout, offset) for each ridge, from one eigendecomposition of the covariance of the features."""
        m = len(self.products) - 2
        means = self.products[m, :m] / self.n
        mean_y = self.products[m, m + 1] / self.n
        covariance = self.products[:m, :m] / self.n - np.outer(means, means)
        with_y = self.products[:m, m + 1] / self.n - means * mean_y
        values, axes = eigh(covariance)
        along = axes.T @ with_y
        found = [axes @ (along / (np.maximum(values, 0) + ridge / m)) for ridge in ridges]
        return [(readout, float(mean_y - means @ readout)) for readout in found]

    def error(self, readout: Array, offset: float) -> float:
        """Return the mean squared error on these samples."""
        v = np.concatenate([readout, [offset, -1.0]])
        return float(v @ self.products @ v) / self.n
