"""Hermite coefficients and kernel of an activation, as the theory of narrow networks uses them."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from theory.core import Array, SolverResult, checked, checks
from theory.feedforward.narrow_hermite import Expansion, expand
from theory.models.feedforward.narrow import Activation, activation_function, checked_activation

N_SHOWN_COEFFICIENTS = 8


@dataclass(frozen=True, eq=False, repr=False)
class ActivationKernel(SolverResult):
    """Holds what the theory of narrow networks needs of an activation f: moments, and kappa(q) = E f(u) f(v) - (E f)^2.

    `moments` holds mu_l = E f(z) He_l(z) for l = 0 to 7 and standard normal z. `power` is T = kappa(1), the variance of
    f; the share of it in mu_1 is learned from n ~ N samples, and a nonzero mu_2 makes the onset of specialization
    continuous. `coefficients` holds mu_l^2/l! of the series of kappa, and `remainder` what is missing to its sum T.
    `residual` is the largest difference of mu_l/sqrt(l!) between n and 2 n nodes, relative to the root of E f^2, and
    `iterations` the number 2 n.
    """

    moments: Array
    power: float
    coefficients: Array = field(repr=False)
    remainder: float

    def kernel(self, q: ArrayLike) -> Array:
        """Compute kappa at correlations q between -1 and 1, an array of any shape.

        The terms beyond the last coefficient are left out, which matters only near |q| = 1, by at most `remainder`.
        """
        given = checks.real_array("q", q)
        if given.size and not abs(given).max() <= 1:
            raise ValueError(f"q must lie in [-1, 1], got {checks.shown(q)}")
        series = self.coefficients.copy()
        series[0] = 0.0
        return np.asarray(np.polynomial.polynomial.polyval(given, series))


@checked
def activation_kernel(activation: Activation) -> ActivationKernel:
    """Expand an activation in Hermite polynomials, by Gauss-Legendre nodes on panels that end at kinks and jumps.

    The places of kinks need not be told: panels are halved where their halves disagree with the whole. The number of
    coefficients is 64, 512 or 4096, as many as the power needs. Source: the series of kappa is the formula of F. G.
    Mehler, J. reine angew. Math. 66, 161 (1866), by which E He_l(u) He_m(v) = l! q^l for l = m and 0 otherwise (a known
    result that was not looked up for this project). `activation` is a name or a function as in `NarrowNetwork`.
    ValueError for one that is not finite, grows as fast as exp(h^2/4), is random or of single precision;
    ConvergenceError where n nodes and 2 n disagree.

    >>> found = activation_kernel("relu")
    >>> found.moments[:3].round(6)  # 1/sqrt(2 pi), 1/2, 1/sqrt(2 pi)
    array([0.398942, 0.5     , 0.398942])
    >>> round(float(found.kernel(0.5)), 9)
    0.145343947
    """
    checked_activation(activation)
    expansion: Expansion = expand(activation_function(activation))
    factorials = np.sqrt([float(math.factorial(order)) for order in range(N_SHOWN_COEFFICIENTS)])
    return ActivationKernel(
        expansion.coefficients[:N_SHOWN_COEFFICIENTS] * factorials,
        expansion.power,
        expansion.coefficients**2,
        expansion.remainder,
        residual=expansion.residual,
        iterations=expansion.nodes,
        converged=True,
    )
