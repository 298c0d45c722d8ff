"""Constants of the infinite square-lattice Potts ferromagnet S = sum over neighbors of delta(s_i, s_j)."""

import math

from scipy.special import ellipkm1

from theory.models import checks


def square_lattice_critical_beta(n_colors: int) -> float:
    """log(1 + sqrt q), from self-duality; the transition is continuous up to q = 4 and of first order above."""
    return math.log1p(math.sqrt(_colors(n_colors)))


def square_lattice_critical_energy(n_colors: int) -> float:
    """Energy of -S per site at the critical beta, -(1 + 1/sqrt q); above q = 4 the mean of both coexisting phases."""
    return -(1 + 1 / math.sqrt(_colors(n_colors)))


def onsager_energy(beta: float) -> float:
    """Energy of -S per site for two colors at any beta (L. Onsager, Phys. Rev. 65, 117 (1944)).

    The Ising model at K = beta/2: u = -coth(2K) (1 + (2/pi) y K_ell(1 - y^2)), y = 2 tanh(2K)^2 - 1, e = (u - 2)/2.
    """
    t = math.tanh(checks.non_negative("beta", beta))
    if t < 1e-3:  # the bracket cancels: its expansion to the same accuracy
        return -1 - t * (1 + 0.75 * t * t) / 2
    y = 2 * t * t - 1
    logarithm = 2 / math.pi * y * float(ellipkm1(y * y)) if y else 0.0
    return -1 - (1 + logarithm) / (2 * t)


def _colors(n_colors: int) -> int:
    return int(checks.dimension(n_colors, least=2, name="n_colors"))
