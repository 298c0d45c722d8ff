"""Tables of the probabilities of a channel's labels, from which averages over the teacher's field are sums.

P(y | nu) is tabulated once on panels of nu that resolve it, and that are narrower than the Gaussian law over which it
is to be averaged: a channel of any form, with jumps and many labels, then costs a product of matrices.
"""

from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import numpy as np
from scipy.sparse import csr_array
from scipy.special import gammainc

from theory.core.arrays import Array
from theory.glm.quadrature import DENSITY_PANELS, MAX_PANEL_WIDTH, RANGE, normal_nodes
from theory.models.glm.label_channels import MAX_MASS_LEFT, AnyChannel, Poisson, poisson_law
from theory.numerics.quadrature import panelled_legendre
from theory.numerics.resolved_panels import resolved_panels

RESOLUTION = 1e-11  # of the coefficients of P(y | nu), where the teacher's field lies
MAX_LOSS_OF_RESOLUTION = 1e6  # where it hardly ever lies
MAX_NUMBERS = 3e7  # of a table: fewer nodes mean that a teacher can be known less well
MAX_NODES = 1e6
HERMITE = (np.ones_like, np.positive, lambda u: u * u - 1)  # derivatives of the normal law, over the law itself
DENSE_SHARE = 0.2  # of the nodes near to a center, from which on the whole matrix of the Gaussian law is made
MIRRORED = 1e-14  # of probabilities that add up to 1
MAX_COUNT = 20_000  # of a Poisson label: a larger one would take minutes
Orders = tuple[int, ...]  # of derivatives


@dataclass(frozen=True, eq=False)
class LabelTable:
    """The probabilities of a channel for a teacher's field nu of one mean and variance.

    `values` are the labels, `edges` those of the panels that resolve P(y | nu), and `sharp` the places of its jumps
    and kinks. A conditional variance below `least_variance` is not resolved.
    """

    channel: AnyChannel
    mean: float
    total: float
    values: tuple[float, ...]
    edges: Array
    sharp: Array

    @cached_property
    def odd(self) -> bool:
        """Whether labels +-1 of opposite fields mirror each other, P(1 | nu) = P(-1 | -nu), for a centered teacher."""
        if self.mean != 0 or set(self.values) != {1.0, -1.0}:
            return False
        nu = tabulated(self.channel, self.mean, self.total, 0)[0]
        both = self.channel.probability(1.0, nu) + self.channel.probability(1.0, -nu)
        return bool(np.max(abs(both - 1)) <= MIRRORED)

    @property
    def least_variance(self) -> float:
        """The least variance of the field given h for which a table of all labels is made."""
        nodes = min(MAX_NODES, MAX_NUMBERS / len(self.values))
        return self.total * (16 * 2 * RANGE / MAX_PANEL_WIDTH / nodes) ** 2

    def smoothed(self, rows: int | slice, centers: Array, variance: float, orders: Orders = (0, 1)) -> list[Array]:
        """Return E P(y | center + sqrt(variance) xi) over a standard normal xi, and its derivative by the center.

        Each is (points,) for one row of the table and (values, points) for all of them. Other `orders` of derivatives
        are 0, 1 or 2.
        """
        level = max(0, int(np.ceil(np.log2(np.sqrt(self.total / variance)))))
        nu, weights, table = tabulated(self.channel, self.mean, self.total, level)
        return smoothed_by(nu, weights, table[rows], centers, float(np.sqrt(variance)), orders)

    def share(self, row: int) -> float:
        """Return the share of the samples with the label of this row."""
        return float(self.means()[row])

    def means(self) -> Array:
        """Return the mean of P(y | nu) over the teacher's field for each value, (values,)."""
        nu, weights, table = tabulated(self.channel, self.mean, self.total, 0)
        u = (nu - self.mean) / np.sqrt(self.total)
        return np.asarray(table @ (weights * np.exp(-0.5 * u * u)) / np.sqrt(2 * np.pi * self.total))


@lru_cache(maxsize=256)
def label_table(channel: AnyChannel, mean: float, total: float) -> LabelTable:
    """Resolve the probabilities of a channel for a teacher's field of this mean and of the variance `total`.

    ValueError for Poisson labels of so large rates that counts above 20,000 matter.
    """
    values = tuple(float(y) for y in (channel.values or range(largest_count(mean, total) + 1)))

    def probabilities(nu: Array) -> Array:
        return rows_of(channel, values, nu)

    def tolerance(nu: Array) -> Array:
        return np.asarray(RESOLUTION * np.minimum(np.exp(0.5 * (nu - mean) ** 2 / total), MAX_LOSS_OF_RESOLUTION))

    panels = resolved_panels(probabilities, mean + np.sqrt(total) * DENSITY_PANELS, tolerance)
    return LabelTable(channel, mean, total, values, *panels)


@lru_cache(maxsize=128)
def tabulated(channel: AnyChannel, mean: float, total: float, level: int) -> tuple[Array, Array, Array]:
    """Return nodes nu, their weights and P(y | nu), (values, nodes), for Gaussian laws 2^level times as narrow."""
    found = label_table(channel, mean, total)
    pieces = (len(DENSITY_PANELS) - 1) * 2**level + 1
    even = mean + np.sqrt(total) * RANGE * np.linspace(-1, 1, pieces)
    edges = np.unique(np.append(found.edges, even))
    kept = np.append(np.diff(edges) > 1e-14 * (1 + abs(edges[1:])), True)
    nu, weights = panelled_legendre(edges[kept])
    return nu, weights, rows_of(channel, found.values, nu)


def rows_of(channel: AnyChannel, values: tuple[float, ...], nu: Array) -> Array:
    """Return P(y | nu) for all values, (values, nodes)."""
    if isinstance(channel, Poisson):  # of which there are hundreds
        return poisson_law(np.array(values)[:, None], nu)
    return np.stack([channel.probability(y, nu) for y in values])


def moments_given(channel: AnyChannel, y: float, centers: Array, variance: float) -> Array:
    """Return E P(y | center + sqrt(variance) xi) by nodes of xi around each center, also far from the teacher's mean.

    Jumps of P are not resolved: it serves logarithms.
    """
    xi, weights = normal_nodes(())
    return np.asarray(channel.probability(y, centers[:, None] + np.sqrt(variance) * xi) @ weights)


@cache
def largest_count(mean: float, total: float) -> int:
    """Return the count beyond which Poisson labels of rate exp(nu) hold less than 1e-12 of E y^2.

    E y^2 1(y > c) is, for one rate, rate^2 P(y > c - 2) + rate P(y > c - 1).
    """
    z, weights = normal_nodes((), halvings=2)
    tilted = mean + total + np.sqrt(total) * z, mean + 2 * total + np.sqrt(total) * z  # by the rate and by its square
    first, second = np.exp(mean + total / 2), np.exp(2 * mean + 2 * total)

    def left(c: float) -> float:
        above = [gammainc(c + 1.0 - k, np.exp(nu)) for k, nu in zip((1, 2), tilted, strict=True)]  # P(y > c - k)
        return float((first * (weights @ above[0]) + second * (weights @ above[1])) / (first + second))

    low, high = 2, 8
    while left(high) > MAX_MASS_LEFT:
        low, high = high, 2 * high
        if high > 2 * MAX_COUNT:
            break
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if left(middle) > MAX_MASS_LEFT else (low, middle)
    if high > MAX_COUNT:
        raise ValueError(
            f"teacher_mean and teacher_variance of Poisson labels must keep counts below {MAX_COUNT}, got {mean:g} and "
            f"{total:g}: rates exp(nu) are larger than that too often"
        )
    return high


def smoothed_by(
    nu: Array, weights: Array, table: Array, centers: Array, width: float, orders: Orders = (0, 1)
) -> list[Array]:
    """Return the mean over a standard normal xi of tabulated functions at center + width xi, and its derivative.

    The functions are (..., nodes) at the nodes nu, and the results (..., centers). Where few nodes are near to each
    center only those are used. Other `orders` of derivatives by the center are 0, 1 or 2.
    """
    P = table.T
    first, last = np.searchsorted(nu, [centers - RANGE * width, centers + RANGE * width])
    starts = np.append(0, np.cumsum(last - first))
    if starts[-1] > DENSE_SHARE * len(nu) * len(centers):
        u = (nu - centers[:, None]) / width
        kernel = np.exp(-0.5 * u * u) * (weights / (width * np.sqrt(2 * np.pi)))
        return [np.asarray((kernel * HERMITE[k](u)) @ P).T / width**k for k in orders]
    columns = np.arange(starts[-1]) + np.repeat(first - starts[:-1], last - first)
    u = (nu[columns] - np.repeat(centers, last - first)) / width
    kernel = np.exp(-0.5 * u * u) * (weights[columns] / (width * np.sqrt(2 * np.pi)))
    shape = (len(centers), len(nu))
    matrices = (csr_array((kernel * HERMITE[k](u), columns, starts), shape=shape) for k in orders)
    return [np.asarray(matrix @ P).T / width**k for k, matrix in zip(orders, matrices, strict=True)]
