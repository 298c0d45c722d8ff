"""Generalized cross-validation of rows that depend on each other: by what factor it is too small, found from the data.

With the eigenvalues t of the covariance T between the rows, the residuals of the fitted rows have the covariance
E T (1 + D T)^-2, where E is the error on a new independent row and D the trace of Sigma (g Sigma + lam)^-1/n, with g
the mean of t/(1 + tD). The degrees of freedom of a regression tell D, as their share of n is the mean of tD/(1 + tD);
then E is the training error over the mean of t/(1 + tD)^2. Sigma is not needed. For equal t this is generalized
cross-validation (arXiv:2408.04607 corrects it so for one regression whose noise has the covariance T as the inputs
have; here the response is a column of the same table, which makes that true).
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline
from scipy.linalg import toeplitz

from simulate.masked.row_dependence import Stationary, at_rows
from theory.core.arrays import Array
from theory.core.checks import fits_in_memory
from theory.models import IndependentRows, RowDependence, SubjectRows

STEP = 0.2  # of log D between two nodes; splines of degree 7 are then exact to 1e-9
DEGREE, MARGIN = 7, 4  # of the splines; nodes beyond the ends, where a spline is less exact
ACCURACY = 1e-8  # of the correction, at which the step need not be halved
HALVINGS = 5  # of the step
SMALL_OFFSET, TERMS = 0.05, 5  # of logits from their mean, within which so many derivatives are exact to 1e-10
COMPARED = 4  # every fourth of the intervals between nodes is where the interpolant is compared with exact values
# Shares of the degrees of freedom are told from 0 and from their largest value up to this distance.
RESOLVED = 1e-9
FORGOTTEN = 1e-9  # a correlation at which rows are as good as independent
FEWEST_ROWS = 32  # beyond the memory, so many that the ends do not feel each other

NO_ERROR = 1e-20  # of the largest error; so small ones are those of columns of zeros

Named = tuple[str, float]


@dataclass(frozen=True, eq=False)
class RowModes:
    """What the correction needs of T: its eigenvalues and, for rows about their mean, the weights of 1 on them.

    The eigenvalues of J T J, with J = 1 - 11'/n, are not computed. The determinant of 1 + D J T J is that of 1 + D T
    times q = 1'(1 + D T)^-1 1/n, a sum over the eigenvectors o of T with the `weights` (1'o)^2, so that all sums over
    the eigenvalues of J T J follow from q and its derivatives. So does the variance v of the mean given the residuals,
    -q'/(n q^2), by which a new row is further from the mean of the rows than from their expectation (derived here).
    `counts` says how many times each eigenvalue occurs.
    """

    eigenvalues: Array  # (N,)
    counts: Array  # (N,), sum n
    weights: Array | None  # (N,), sum n; None for rows whose mean is known to be zero

    @cached_property
    def n(self) -> float:
        """The number of rows."""
        return float(self.counts.sum())

    @cached_property
    def share(self) -> float:
        """The largest share of n that degrees of freedom can reach: the rank of T, or of J T J, over n."""
        return (float(self.counts[self.eigenvalues > 0].sum()) - self._lost) / self.n

    @cached_property
    def _lost(self) -> int:
        """How much smaller the rank of J T J is: 1 unless a singular T has the vector of ones outside its range."""
        if self.weights is None:
            return 0
        return int(float(self.weights[self.eigenvalues == 0].sum()) < self.n**2 * np.finfo(float).eps)

    def at(self, log_deltas: Array) -> tuple[Array, Array]:
        """Return the logits of df/n in units of its largest value, and the logarithms of the correction, at each D."""
        kept, n, deltas = self.eigenvalues > 0, self.n, np.exp(log_deltas)
        present, counts = self.eigenvalues[kept], self.counts[kept]
        scaled = np.multiply.outer(deltas, present)
        left = 1 / (1 + scaled)
        explained = scaled * left  # tD/(1 + tD), to all digits where it is small
        both = explained * left
        total, rest, slope = explained @ counts, left @ counts, both @ counts
        free = rest + float(self.counts[~kept].sum())  # n - df, to all digits where it is small
        mean = np.zeros(len(deltas))
        if self.weights is not None:
            weights, absent = self.weights[kept], float(self.weights[~kept].sum())
            scale = left @ weights + absent  # n q
            one, two = both @ weights / scale, (both * explained) @ weights / scale
            mean = one / (scale * deltas)
            total, free, slope = total - one, free + one, slope - (one + one**2 - 2 * two)
            rest -= (left**2 @ weights + absent) / scale if self._lost else -one
        return np.log(total / rest), log_deltas - np.log(slope / n) + np.log((free / n) ** 2 * (1 + mean))


def row_modes(law: RowDependence, centered: bool) -> RowModes:
    """Return what the correction needs of the dependence of a finite number of rows, about their mean if `centered`."""
    if isinstance(law, Stationary):
        return _in_time(law, centered)
    if isinstance(law, SubjectRows):
        sizes, count = np.array(law.sizes), law.size
        alone = count - len(sizes)
        values = np.append(1 + (sizes - 1) * law.correlation, np.full(alone, 1 - law.correlation))
        weights = np.append(sizes, np.zeros(alone)) if centered else None
        return RowModes(_not_negative(values), np.ones(count), weights)
    if not centered:
        return RowModes(law.eigenvalues, np.ones(law.size), None)
    values, vectors = law.modes
    return RowModes(values, np.ones(law.size), vectors.sum(axis=0) ** 2)


def _in_time(law: Stationary, centered: bool) -> RowModes:
    """Find the modes of rows in time; of many rows with a short memory from those of fewer rows.

    Sums over the eigenvalues of a Toeplitz matrix of n rows, and forms 1'f(T)1, are affine in n up to terms that fall
    as fast as the correlations of the rows and of the inverse matrix do (Szego's and Widom's theorems for smooth
    spectral densities), so that those of m and 3m/2 rows tell all others, where nothing is left of the former at lag m.
    That nothing is left of the latter is seen from the determinants of m, 3m/2 and 2m rows, in geometric progression.
    """
    n = law.size
    memory = FEWEST_ROWS + 2 * (int(np.max(np.flatnonzero(abs(law.autocovariances(n)) > FORGOTTEN))) // 2)
    if 3 * memory < n:
        matrix = toeplitz(law.autocovariances(2 * memory))
        if _grows_geometrically(matrix, memory):
            sizes = [memory, 3 * memory // 2]
            parts = [_symmetric_modes(matrix[:rows, :rows], centered) for rows in sizes]
            times = (n - sizes[1]) / (sizes[1] - sizes[0])
            signs = np.repeat([-times, 1 + times], sizes)
            values = np.concatenate([part.eigenvalues for part in parts])
            weights = np.concatenate([part.weights for part in parts if part.weights is not None]) if centered else None
            return RowModes(values, signs, None if weights is None else signs * weights)
    fits_in_memory(f"the eigendecomposition of {law!r}", 2.5 * n**2)
    return _symmetric_modes(toeplitz(law.autocovariances(n)), centered)


def _grows_geometrically(matrix: Array, memory: int) -> bool:
    """Tell whether the determinants of the first m, 3m/2 and 2m rows are in geometric progression, m = `memory`.

    All of them are products of squares on the diagonal of one Cholesky factor.
    """
    try:
        steps = np.log(np.linalg.cholesky(matrix).diagonal())
    except np.linalg.LinAlgError:
        return False
    bend = 2 * float(steps[3 * memory // 2 :].sum() - steps[memory : 3 * memory // 2].sum())
    return abs(bend) < FORGOTTEN * memory


def _symmetric_modes(matrix: Array, centered: bool) -> RowModes:
    """Find the modes of a matrix that stays as it is if rows and columns are reversed, from two halves of its size.

    Its eigenvectors are symmetric or antisymmetric under reversal; the vector of ones is orthogonal to the latter.
    """
    n = len(matrix)
    half = n // 2
    near, far = matrix[:half, :half], matrix[:half, n - half :][:, ::-1]
    even = near + far
    if n % 2:
        middle = math.sqrt(2) * matrix[:half, half : half + 1]
        even = np.block([[even, middle], [middle.T, matrix[half : half + 1, half : half + 1]]])
    odd = np.linalg.eigvalsh(near - far) if half else np.zeros(0)
    if not centered:
        return RowModes(_not_negative(np.append(np.linalg.eigvalsh(even), odd)), np.ones(n), None)
    values, vectors = np.linalg.eigh(even)
    ones = np.full(len(even), math.sqrt(2))
    ones[half:] = 1.0
    weights = np.append((ones @ vectors) ** 2, np.zeros(half))
    return RowModes(_not_negative(np.append(values, odd)), np.ones(n), weights)


def _not_negative(values: Array) -> Array:
    """Return eigenvalues with zeros for those that only rounding tells from zero."""
    return np.where(values > len(values) * np.finfo(float).eps * values.max(), values, 0.0)


def corrected_errors(
    train: Array, gcv: Array, n: int, ridges: Named, dependence: RowDependence, centered: bool
) -> Array:
    """Correct the GCV errors (..., d) of fits of n rows; `ridges` is their name, for messages, and the smallest one."""
    ridge, smallest = ridges
    law = at_rows(dependence, n)
    if isinstance(law, IndependentRows):
        law = SubjectRows([1], 0.0, n=n)  # has a size, and known modes
    modes = row_modes(law, centered)
    if not centered and np.all(modes.eigenvalues == 1):
        return gcv.copy()
    if smallest == 0 and modes.share < 1 and gcv.shape[-1] > modes.share * n:
        raise ValueError(f"{ridge} must be positive: without a ridge the rows are interpolated and tell no error")
    told = gcv > NO_ERROR * gcv.max(axis=-1, keepdims=True)
    if not told.any():
        return np.zeros_like(gcv)
    shares = 1 - np.sqrt(np.divide(train, gcv, out=np.ones_like(gcv), where=told))
    # Degrees of freedom of two coordinates differ by one at most; those of a column of zeros are rounding.
    usual = shares.sum(axis=-1, keepdims=True) / told.sum(axis=-1, keepdims=True)
    return np.asarray(gcv * correction(modes, np.where(told, shares, usual), ridge))


def correction(modes: RowModes, shares: Array, ridge: str) -> Array:
    """Return by what factor GCV errors at these shares df/n of the degrees of freedom are too small, of their shape.

    D and the correction are computed at nodes between the smallest and the largest share and interpolated in between,
    since one share differs from the others at each ridge and for each coordinate; the interpolant is compared with
    exact values half-way between the nodes. ValueError for a share that is as large as the rank of the rows allows:
    then D is infinite, and the training error tells nothing.
    """
    most = modes.share
    bounded = np.clip(shares, RESOLVED, None)
    if most == 1.0 and modes.weights is None:
        bounded = np.minimum(bounded, 1 - RESOLVED)  # the correction has a limit there
    elif bounded.max() >= most - RESOLVED:
        raise ValueError(
            f"{ridge} must be larger: with {bounded.max():.6g} n degrees of freedom, of {most:.6g} n that the rows "
            "have, they are interpolated and tell no error"
        )
    logits = np.log(bounded / (most - bounded))
    low, high = _range_of_deltas(modes, float(logits.min()), float(logits.max()))
    for halving in range(HALVINGS + 1):
        step = STEP / 2**halving
        nodes = low - MARGIN * step + step * np.arange(int((high - low) / step) + 2 * MARGIN + 2)
        between = nodes[MARGIN:-MARGIN:COMPARED] + step / 2
        places, exact = modes.at(np.append(nodes, between))  # in one go, as a call costs as much as the numbers do
        spline = make_interp_spline(places[: len(nodes)], exact[: len(nodes)], DEGREE)
        if np.max(abs(spline(places[len(nodes) :]) - exact[len(nodes) :])) <= ACCURACY:
            return np.exp(_interpolated(spline, logits))
    raise FloatingPointError(
        f"the correction is not smooth enough to be interpolated: off by more than {ACCURACY:g} with steps of {step:g}"
    )


def _interpolated(spline: BSpline, logits: Array) -> Array:
    """Evaluate the spline; coordinates that differ little at each ridge share the derivatives at their mean."""
    center = logits.mean(axis=-1, keepdims=True)
    offsets = logits - center
    if abs(offsets).max() > SMALL_OFFSET:
        return np.asarray(spline(logits))
    value = np.zeros_like(logits)
    for order in range(TERMS, -1, -1):
        value *= offsets
        value += spline(center, order) / math.factorial(order)
    return value


def _range_of_deltas(modes: RowModes, lowest: float, highest: float) -> tuple[float, float]:
    """Find log D, to a unit, between which the share of the degrees of freedom has these logits; it rises with D.

    The share lies between those that all eigenvalues would have if they were the smallest or the largest one.
    """
    present = modes.eigenvalues[modes.eigenvalues > 0]
    start, stop = lowest - math.log(present.max()) - 1.0, highest - math.log(present.min()) + 1.0
    grid = np.arange(start, stop + 1.0)
    logits = modes.at(grid)[0]
    while logits[-1] < highest:  # J T J has a smaller eigenvalue than a singular T, above zero
        grid = np.append(grid, grid[-1] + np.arange(1.0, 6.0))
        logits = modes.at(grid)[0]
    first, last = int(np.searchsorted(logits, lowest)), int(np.searchsorted(logits, highest))
    return float(grid[max(first - 1, 0)]), float(grid[min(last, len(grid) - 1)])
