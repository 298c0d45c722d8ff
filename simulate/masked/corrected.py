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

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.optimize import brentq

from simulate.masked.row_dependence import at_rows
from theory.core.arrays import Array
from theory.models import AR1Rows, Autocovariance, IndependentRows, LongMemoryRows, RowDependence, SubjectRows

STEP = 0.2  # of log D between two nodes; splines of degree 7 are then exact to 1e-9
DEGREE, MARGIN = 7, 4  # of the splines; nodes beyond the ends, where a spline is less exact
ACCURACY = 1e-8  # of the correction, at which the step need not be halved
HALVINGS = 5  # of the step
COMPARED = 4  # every fourth of the intervals between nodes is where the interpolant is compared with exact values
# Shares of the degrees of freedom are told from 0 and from their largest value up to this distance.
RESOLVED = 1e-9


@dataclass(frozen=True, eq=False)
class RowModes:
    """What the correction needs of T: its eigenvalues (n,) and, for rows about their mean, the weights of 1 on them.

    The eigenvalues of J T J, with J = 1 - 11'/n, are not computed. The determinant of 1 + D J T J is that of 1 + D T
    times q = 1'(1 + D T)^-1 1/n, a sum over the eigenvectors o of T with the `weights` (1'o)^2, so that all sums over
    the eigenvalues of J T J follow from q and its derivatives. So does the variance v of the mean given the residuals,
    -q'/(n q^2), by which a new row is further from the mean of the rows than from their expectation (derived here).
    """

    eigenvalues: Array
    weights: Array | None  # (n,), sum n; None for rows whose mean is known to be zero

    @property
    def share(self) -> float:
        """The largest share of n that degrees of freedom can reach: the rank of T, or of J T J, over n."""
        return (int(np.sum(self.eigenvalues > 0)) - self._lost) / len(self.eigenvalues)

    @property
    def _lost(self) -> int:
        """How much smaller the rank of J T J is: 1 unless a singular T has the vector of ones outside its range."""
        if self.weights is None:
            return 0
        n = len(self.eigenvalues)
        return int(float(self.weights[self.eigenvalues == 0].sum()) < n * n * np.finfo(float).eps)

    def at(self, log_delta: float) -> tuple[float, float]:
        """Return the logit of df/n in units of its largest value, and the logarithm of the correction, at one D."""
        t, n = self.eigenvalues, len(self.eigenvalues)
        present = t[t > 0]
        left = 1 / (1 + present * math.exp(log_delta))
        explained = 1 / (1 + math.exp(-log_delta) / present)  # tD/(1 + tD), to all digits where it is small
        total, rest, slope, mean = explained.sum(), left.sum(), float(explained @ left), 0.0
        if self.weights is not None:
            absent = float(self.weights[t == 0].sum())
            weights = self.weights[t > 0] * left
            q = (float(weights.sum()) + absent) / n
            weights /= n * q
            one, two = float(weights @ explained), float(weights @ explained**2)
            mean = one / (n * q * math.exp(log_delta))
            total, slope = total - one, slope - (one + one**2 - 2 * two)
            rest -= float(weights @ left) + absent / (n * q) if self._lost else -one
        gcv = (1 - total / n) ** 2
        return math.log(total / rest), log_delta - math.log(slope / n) + math.log(gcv * (1 + mean))


def row_modes(law: RowDependence, centered: bool) -> RowModes:
    """Return what the correction needs of the dependence of a finite number of rows, about their mean if `centered`."""
    if not centered:
        return RowModes(law.eigenvalues, None)
    if isinstance(law, SubjectRows):
        sizes = np.array(law.sizes)
        own = 1 + (sizes - 1) * law.correlation
        others = np.full(law.size - len(sizes), 1 - law.correlation)
        return RowModes(_not_negative(np.append(own, others)), np.append(sizes, np.zeros(len(others))))
    if isinstance(law, AR1Rows | LongMemoryRows | Autocovariance):
        return _symmetric_modes(law.matrix)
    values, vectors = law.modes
    return RowModes(values, vectors.sum(axis=0) ** 2)


def _symmetric_modes(matrix: Array) -> RowModes:
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
    values, vectors = np.linalg.eigh(even)
    ones = np.full(len(even), math.sqrt(2))
    ones[half:] = 1.0
    odd = np.linalg.eigvalsh(near - far) if half else np.zeros(0)
    return RowModes(_not_negative(np.append(values, odd)), np.append((ones @ vectors) ** 2, np.zeros(half)))


def _not_negative(values: Array) -> Array:
    """Return eigenvalues with zeros for those that only rounding tells from zero."""
    return np.where(values > len(values) * np.finfo(float).eps * values.max(), values, 0.0)


def corrected_errors(
    train_error: Array, gcv_error: Array, n: int, dependence: RowDependence, centered: bool, ridge: str
) -> Array:
    """Correct the GCV errors (..., d) of fits of n rows; `ridge` is the name of their ridges in a message."""
    law = at_rows(dependence, n)
    used = gcv_error > 0  # a column of zeros has no error
    if (law.is_identity and not centered) or not used.any():
        return gcv_error.copy()
    if isinstance(law, IndependentRows):
        law = SubjectRows([1], 0.0, n=n)  # has a size, and known modes
    shares = 1 - np.sqrt(train_error[used] / gcv_error[used])
    corrected = np.zeros_like(gcv_error)
    corrected[used] = gcv_error[used] * correction(row_modes(law, centered), shares, ridge)
    return corrected


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
            "have, they are interpolated and do not tell an error"
        )
    logits = np.log(bounded / (most - bounded))
    low, high = (_log_delta(modes, float(end)) for end in (logits.min(), logits.max()))
    for halving in range(HALVINGS + 1):
        step = STEP / 2**halving
        count = int((high - low) / step) + 2 * MARGIN + 2
        nodes = low - MARGIN * step + step * np.arange(count)
        known = np.array([modes.at(node) for node in nodes])
        spline = make_interp_spline(known[:, 0], known[:, 1], DEGREE)
        between = np.array([modes.at(node + step / 2) for node in nodes[MARGIN:-MARGIN:COMPARED]])
        if np.max(abs(spline(between[:, 0]) - between[:, 1])) <= ACCURACY:
            return np.asarray(np.exp(spline(logits)))
    raise FloatingPointError(
        f"the correction is not smooth enough to be interpolated: off by more than {ACCURACY:g} with steps of {step:g}"
    )


def _log_delta(modes: RowModes, logit: float) -> float:
    """Find log D, to a fraction of a step, at which the share of the degrees of freedom has this logit.

    The share rises with D. It lies between those that all eigenvalues would have if they were the smallest or the
    largest one, and about the mean of the rows it differs by 1/n at most.
    """
    present = modes.eigenvalues[modes.eigenvalues > 0]
    low, high = logit - math.log(present.max()) - 1.0, logit - math.log(present.min()) + 1.0
    while modes.at(high)[0] < logit:  # J T J has a smaller eigenvalue than a singular T, somewhere above zero
        high += 5.0
    return float(brentq(lambda x: modes.at(x)[0] - logit, low, high, xtol=0.05))
