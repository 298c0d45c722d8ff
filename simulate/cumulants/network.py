"""A network of two layers with ReLU units, its gradient by hand, and its training by Adam."""

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from simulate.core import DivergenceError
from simulate.core.optimizers import Adam, Numbers
from theory.core import Array, AtLeast, Count, Matrix, Positive, Real, Vector, checked, checked_fields, checks
from theory.core.read_only import KeepsReadOnly

MAX_STEPS = 10**8


@dataclass(frozen=True, eq=False)
class ReluNetwork(KeepsReadOnly):
    """A network f(x) = readout.relu(W x + b) + c that predicts the class sign f(x).

    `first_layer` is W (m, d), `first_bias` b (m,), `readout` (m,), and `offset` c. ValueError for shapes that do not
    fit together.
    """

    first_layer: Matrix = field(repr=False)
    first_bias: Vector = field(repr=False)
    readout: Vector = field(repr=False)
    offset: Real = field(repr=False)

    def __post_init__(self) -> None:
        checked_fields(self)
        for name in ("first_bias", "readout"):
            checks.shaped(name, getattr(self, name), (len(self.first_layer),), " to fit first_layer")

    def __repr__(self) -> str:
        width, d = self.first_layer.shape
        return f"ReluNetwork(width={width}, d={d})"

    @classmethod
    @checked
    def random(cls, width: Count, d: Count, rng: np.random.Generator) -> "ReluNetwork":
        """Draw an untrained network: W ~ N(0, 1/d), a readout ~ N(0, 1/width^2), and no biases.

        With so small a readout the first layer has to move by as much as itself before the output is of order one.
        """
        checks.fits_in_memory(f"a network of {width} units in {d} dimensions", 3.0 * width * d)
        W = rng.standard_normal((width, d)) / np.sqrt(d)
        return cls(W, np.zeros(width), rng.standard_normal(width) / width, 0.0)

    def output(self, X: ArrayLike) -> Array:
        """Compute f of the rows of X (n, d), (n,)."""
        rows = checked_rows(X, self.first_layer.shape[1])
        hidden = np.maximum(rows @ self.first_layer.T + self.first_bias, 0)
        return np.asarray(hidden @ self.readout + self.offset)

    def accuracy(self, X: ArrayLike, y: ArrayLike) -> float:
        """Compute the share of rows whose class y = +-1, (n,), is predicted."""
        f = self.output(X)
        return float(np.mean(f * checked_labels(y, len(f)) > 0))


@checked
def network_gradient(network: ReluNetwork, X: ArrayLike, y: ArrayLike) -> tuple[float, ReluNetwork]:
    """Compute the mean logistic loss log(1 + exp(-y f)) over the rows of X with classes y, and its gradient."""
    rows = checked_rows(X, network.first_layer.shape[1])
    labels = checked_labels(y, len(rows))
    theta = _packed(network)
    slope = np.empty_like(theta)
    margins = _gradient(theta, _with_ones(rows), labels, slope)
    return float(np.mean(np.logaddexp(0, -margins))), _unpacked(slope, rows.shape[1])


@checked
def train_network(
    network: ReluNetwork,
    X: ArrayLike,
    y: ArrayLike,
    *,
    n_steps: Annotated[int, AtLeast(1, most=MAX_STEPS)],
    rng: np.random.Generator,
    rate: Positive = 2e-3,
    batch_size: Count = 256,
) -> ReluNetwork:
    """Train all weights by `n_steps` steps of Adam on the mean logistic loss of (X, y), X (n, d), y = +-1 (n,).

    Each step takes `batch_size` samples, drawn by `rng` with replacement. The numbers are single precision, which
    halves the time. DivergenceError (a FloatingPointError) where weights leave the range of floating-point numbers;
    ValueError for arguments that do not fit together.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((500, 2))
    >>> y = np.sign(X[:, 0] * X[:, 1])
    >>> trained = train_network(ReluNetwork.random(20, 2, rng), X, y, n_steps=1000, rng=rng, rate=0.01, batch_size=50)
    >>> trained.accuracy(X, y) > 0.95
    True
    """
    d = network.first_layer.shape[1]
    rows = checked_rows(X, d)
    labels = checked_labels(y, len(rows)).astype(np.float32)
    checks.fits_in_memory(f"a batch of {batch_size} samples", 2.0 * batch_size * (d + len(network.readout)))
    update, rows = Adam(rate), _with_ones(rows).astype(np.float32)
    theta = _packed(network).astype(np.float32)
    slope = np.empty_like(theta)
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(n_steps):
            chosen = rng.integers(len(rows), size=batch_size)
            _gradient(theta, rows.take(chosen, axis=0), labels.take(chosen), slope)
            update([theta], [slope])
    if not np.isfinite(theta).all():
        raise DivergenceError(f"training left the floating-point numbers within {n_steps} steps of rate {rate:g}")
    return _unpacked(theta, d)


def checked_rows(X: ArrayLike, d: int | None = None) -> Array:
    """Return the finite rows of X, (n, d)."""
    rows = checks.finite_array("X", X, 2)
    if d is not None and rows.shape[1] != d:
        raise ValueError(f"X must have {d} columns, got shape {rows.shape}")
    if abs(rows).max() > 1e18:
        raise ValueError(f"X must hold numbers up to 1e18, got {abs(rows).max():g}")
    return rows


def checked_labels(y: ArrayLike, n: int) -> Array:
    """Return the classes y, (n,), which must be -1 or 1."""
    labels = checks.finite_array("y", y, 1)
    if labels.shape != (n,) or not np.all(abs(labels) == 1):
        raise ValueError(f"y must be {n} classes -1 or 1, one for each row of X, got {checks.shown(y)}")
    return labels


def _with_ones(rows: Numbers) -> Numbers:
    """Return rows (n, d + 1) with a last entry of one, whose weights are the biases."""
    return np.column_stack([rows, np.ones(len(rows), rows.dtype)])


def _gradient(theta: Numbers, rows: Numbers, labels: Numbers, slope: Numbers) -> Numbers:
    """Write the gradient of the mean loss into `slope` and return the margins y f, (n,).

    `rows` (n, d + 1) end with ones. The derivative by the first layer is a_k sum_r pull_r [unit k is on in row r] x_r:
    neither a_k nor pull_r multiplies the switches, of which there are most numbers, and the switches multiply instead
    of choosing, which would make the processor guess wrongly at every second unit.
    """
    W, a, c = _parts(theta, rows.shape[1])
    by_W, by_a, by_c = _parts(slope, rows.shape[1])
    hidden = rows @ W.T
    switches = (hidden > 0).astype(hidden.dtype)
    hidden *= switches
    margins = labels * (hidden @ a + c)
    pull = -labels * expit(-margins) / len(labels)
    by_a[:], by_c[0] = pull @ hidden, pull.sum()
    np.multiply(switches.T @ (pull[:, None] * rows), a[:, None], out=by_W)
    return np.asarray(margins)


def _parts(theta: Numbers, columns: int) -> tuple[Numbers, Numbers, Numbers]:
    """Return views of W with its biases as the last column, of the readout and of the offset, in one vector."""
    m = (len(theta) - 1) // (columns + 1)
    return theta[: m * columns].reshape(m, columns), theta[m * columns : -1], theta[-1:]


def _packed(network: ReluNetwork) -> Array:
    first = np.column_stack([network.first_layer, network.first_bias])
    return np.concatenate([first.ravel(), network.readout, [network.offset]])


def _unpacked(theta: Numbers, d: int) -> ReluNetwork:
    W, a, c = (np.asarray(one, dtype=float) for one in _parts(theta, d + 1))
    return ReluNetwork(W[:, :-1], W[:, -1], a, float(c[0]))
