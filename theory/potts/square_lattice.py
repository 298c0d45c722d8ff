"""Known exact values of the infinite square-lattice Potts ferromagnet S = sum over neighbors of delta(s_i, s_j)."""

import math

from scipy.special import ellipkm1

from theory.core import NonNegative, Several, checked


@checked
def square_lattice_critical_beta(n_colors: Several) -> float:
    """Compute the critical inverse temperature of q = `n_colors` colors on the square lattice, log(1 + sqrt q).

    It follows from self-duality. The transition is continuous up to q = 4 and of first order above. Source: known
    (R. B. Potts, Proc. Camb. Philos. Soc. 48, 106 (1952)), rederived here: duality maps e^beta - 1 to q/(e^beta - 1),
    and sqrt q is its fixed point.
    """
    return math.log1p(math.sqrt(n_colors))


@checked
def square_lattice_critical_energy(n_colors: Several) -> float:
    """Compute the energy of -S per site at the critical beta, -(1 + 1/sqrt q), which follows from self-duality.

    Above q = 4, where two phases coexist, it is the mean of their energies. Source: known (R. B. Potts, Proc. Camb.
    Philos. Soc. 48, 106 (1952)), rederived here: the derivative by beta of the duality of log Z per site, f(v) =
    log(v^2/q) + f(q/v) with v = e^beta - 1, is an equation for the energy at v = sqrt q.
    """
    return -(1 + 1 / math.sqrt(n_colors))


@checked
def onsager_energy(beta: NonNegative) -> float:
    """Compute the energy of -S per site for two colors at any beta (L. Onsager, Phys. Rev. 65, 117 (1944)).

    Two colors are the Ising model at K = beta/2, whose energy per site is
    u = -coth(2K) (1 + (2/pi) y K_ell(1 - y^2)) with y = 2 tanh(2K)^2 - 1 and the complete elliptic integral K_ell of
    the parameter 1 - y^2; the energy of -S is (u - 2)/2.

    >>> round(onsager_energy(square_lattice_critical_beta(2)) - square_lattice_critical_energy(2), 12)
    0.0
    """
    t = math.tanh(beta)
    if t < 1e-3:  # the bracket cancels here, so its expansion is used
        return -1 - t * (1 + 0.75 * t * t) / 2
    y = 2 * t * t - 1
    logarithm = 2 / math.pi * y * float(ellipkm1(y * y)) if y else 0.0
    return -1 - (1 + logarithm) / (2 * t)
