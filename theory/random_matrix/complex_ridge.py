"""The effective ridge at a complex ridge, as the sums of ridges need it of which training consists."""

from collections.abc import Callable

import numpy as np

from theory.core.arrays import Array, ComplexArray
from theory.models import Spectrum
from theory.numerics import Solution, verified
from theory.random_matrix.effective_ridge import solve_effective_ridge

# The map kappa -> (L, dL/dkappa), which broadcasts over arrays of ridges.
RidgeMap = Callable[[ComplexArray], tuple[ComplexArray, ComplexArray]]

TURNS = 6  # steps in which the argument of the ridge is turned from zero to its own
MOST_STEPS = 20  # from the root of large ridges, after which the ridge is turned
TOLERANCE = 1e-13
ADVICE = "its ridges are too close to the spectrum: take a time, or a number of steps, that is less extreme"


def ridge_map(spectrum: Spectrum, alpha: float) -> RidgeMap:
    """Return L = kappa (1 - df1(kappa)/alpha) and its derivative 1 - df2/alpha as a function of complex kappa (...)."""
    seen = spectrum.eigenvalues > 0
    s, weights = spectrum.eigenvalues[seen], spectrum.weights[seen]

    def at(kappa: ComplexArray) -> tuple[ComplexArray, ComplexArray]:
        share = s / (s + kappa[..., None])
        return kappa * (1 - share @ weights / alpha), 1 - (share * share) @ weights / alpha

    return at


def solve_complex_ridge(spectrum: Spectrum, alpha: float, ridges: ComplexArray) -> Solution[ComplexArray]:
    """Solve L = kappa (1 - df1(kappa)/alpha) for kappa at complex ridges L (...) in the upper half plane.

    1/kappa is the Stieltjes transform of the companion law at -L, so that there is one root whose imaginary part has
    the sign of that of L, and it is analytic in L. Newton's method goes there from the root of large L; where that ends
    elsewhere it follows the root from the real one at |L| while the argument of L is turned to its own. The residual is
    relative to |L| + |kappa|. Raises ConvergenceError.
    """
    sizes: Array = np.abs(ridges)
    of = ridge_map(spectrum, alpha)
    kappa, iterations, found = _from_large(of, ridges, float(spectrum.mean(spectrum.eigenvalues)) / alpha)
    if not found:
        kappa, iterations = _turned(spectrum, alpha, ridges, of)
    residual = float(np.max(abs(of(kappa)[0] - ridges) / (sizes + abs(kappa))))
    solution = Solution.judged(kappa, residual, 1e-12, iterations, admissible=bool(np.all(kappa.imag >= 0)))
    return verified(solution, f"complex effective ridge for alpha = {alpha:g}", True, ADVICE)


def _from_large(of: RidgeMap, ridges: ComplexArray, shift: float) -> tuple[ComplexArray, int, bool]:
    """Take Newton's steps from kappa = L + shift, and say whether they end at the root in the upper half plane."""
    kappa = ridges + shift
    with np.errstate(all="ignore"):  # what leaves the range of numbers is looked for in another way
        for step_number in range(1, MOST_STEPS + 1):
            value, slope = of(kappa)
            step = (value - ridges) / slope
            kappa = kappa - step
            if np.all(abs(step) <= TOLERANCE * abs(kappa)):
                return kappa, step_number, bool(np.all(kappa.imag >= 0))
    return kappa, MOST_STEPS, False


def _turned(spectrum: Spectrum, alpha: float, ridges: ComplexArray, of: RidgeMap) -> tuple[ComplexArray, int]:
    """Follow the root from the real one at |L| while the argument of L is turned to its own."""
    sizes: Array = np.abs(ridges)
    kappa = solve_effective_ridge(spectrum, np.array(alpha), sizes).value.astype(complex)
    iterations = 0
    for turn in range(1, TURNS + 1):
        target = sizes * np.exp(1j * np.angle(ridges) * turn / TURNS)
        for _ in range(3 if turn < TURNS else 30):
            found, slope = of(kappa)
            step = (found - target) / slope
            kappa = kappa - step
            iterations += 1
            if turn == TURNS and np.all(abs(step) <= TOLERANCE * abs(kappa)):
                break
    return kappa, iterations


def inverse_diagonal(spectrum: Spectrum, kappa: ComplexArray) -> ComplexArray:
    """Compute 1/r_k = 1/[(Sigma + kappa)^-1]_kk at complex kappa (...), shape (..., c), one for each class."""
    return 1 / complex_diagonal(spectrum, 1 / (spectrum.eigenvalues + kappa[..., None]))


def complex_diagonal(spectrum: Spectrum, values: ComplexArray) -> ComplexArray:
    """Compute diag f(Sigma) from complex values of f at the eigenvalues, (..., r) to (..., c)."""
    if spectrum.loadings is not None:
        # Both parts by one real product: numpy would make a complex matrix of the real one at every call.
        parts = np.stack([values.real, values.imag]).reshape(-1, values.shape[-1]) @ spectrum.loadings.T
        real, imaginary = parts.reshape(2, *values.shape[:-1], -1)
        return np.asarray(real + 1j * imaginary)
    return values if spectrum.axes else np.asarray(values @ spectrum.weights)[..., None]
