"""The Curie-Weiss Potts ferromagnet S = (1/N) sum_{i<j} delta(s_i, s_j) for N -> infinity."""

import math
from dataclasses import dataclass
from typing import Literal

from scipy.optimize import brentq

from theory.models import checks

Stability = Literal["stable", "metastable", "unstable"]


@dataclass(frozen=True)
class CurieWeissBranch:
    """A stationary point with color fractions (1 + (q - 1) s)/q, once, and (1 - s)/q; s = `order_parameter`.

    `log_weight` is phi(s) = (beta/2) sum_a x_a^2 - sum_a x_a log x_a less its value at s = 0: N phi(s) is the log of
    the weight of such states against disordered ones.
    """

    order_parameter: float
    largest_fraction: float
    energy_per_site: float  # -(1/2) sum_a x_a^2, of -S
    log_weight: float
    stability: Stability


@dataclass(frozen=True)
class CurieWeiss:
    """All stationary points at one beta, from the disordered one up; coexisting phases are both called stable."""

    n_colors: int
    beta: float
    branches: tuple[CurieWeissBranch, ...]

    @property
    def stable(self) -> CurieWeissBranch:
        """The branch of largest weight; the ordered one where two coexist."""
        return [branch for branch in self.branches if branch.stability == "stable"][-1]

    @property
    def order_parameter(self) -> float:
        """s of the stable branch."""
        return self.stable.order_parameter

    @property
    def largest_fraction(self) -> float:
        """The fraction of the most frequent color."""
        return self.stable.largest_fraction

    @property
    def energy_per_site(self) -> float:
        """Of -S, in the stable branch."""
        return self.stable.energy_per_site

    @property
    def log_partition_function_per_site(self) -> float:
        """lim (log Z)/N."""
        return self.stable.log_weight + self.beta / (2 * self.n_colors) + math.log(self.n_colors)


def curie_weiss(n_colors: int, beta: float) -> CurieWeiss:
    """The phases of the infinite system (F. Y. Wu, Rev. Mod. Phys. 54, 235 (1982)).

    They are roots of s = (1 - e^(-beta s))/(1 + (q - 1) e^(-beta s)).

    With t = beta s they solve beta = t/s(t), whose right side falls to the ordered spinodal and then grows (for q = 2
    it only grows): one bracketed root on each side. Roots with s < 0, above beta = q, are left out: always unstable.
    """
    q = _colors(n_colors)
    beta = checks.non_negative("beta", beta)
    ordered_from, turning = curie_weiss_spinodals(q)[0], _turning(q)
    critical = curie_weiss_critical_beta(q)
    flat: Stability = "stable" if beta <= critical else "metastable" if beta < q else "unstable"
    branches = [_branch(q, beta, 0.0, flat)]
    if ordered_from < beta < q:
        branches.append(_branch(q, beta, _root(q, beta, 0.0, turning), "unstable"))
    if beta > ordered_from:
        ordered: Stability = "stable" if beta >= critical else "metastable"
        branches.append(_branch(q, beta, _root(q, beta, turning, beta), ordered))
    return CurieWeiss(q, beta, tuple(branches))


def curie_weiss_critical_beta(n_colors: int) -> float:
    """2 (q - 1) log(q - 1)/(q - 2), where both phases have the same weight; 2 for two colors."""
    q = _colors(n_colors)
    return 2.0 if q == 2 else 2 * (q - 1) * math.log(q - 1) / (q - 2)


def curie_weiss_spinodals(n_colors: int) -> tuple[float, float]:
    """The betas between which both phases are at least metastable: ordered from the first on, disordered below q."""
    q = _colors(n_colors)
    turning = _turning(q)
    return (turning / _order(q, turning) if turning else 2.0), float(q)


def curie_weiss_jump(n_colors: int) -> float:
    """The order parameter of the ordered phase at the critical beta, (q - 2)/(q - 1)."""
    q = _colors(n_colors)
    return (q - 2) / (q - 1)


def curie_weiss_latent_heat(n_colors: int) -> float:
    """Energy per site of the disordered less that of the ordered phase at coexistence, (q - 2)^2/(2 q (q - 1))."""
    q = _colors(n_colors)
    return (q - 2) ** 2 / (2 * q * (q - 1))


def _order(q: int, t: float) -> float:
    """s = (1 - e^-t)/(1 + (q - 1) e^-t)."""
    return -math.expm1(-t) / (1 + (q - 1) * math.exp(-t))


def _turning(q: int) -> float:
    """t at which t/s(t) is least: e^t + q - 2 - (q - 1) e^-t = q t; zero for two colors."""
    if q == 2:
        return 0.0

    def slope(t: float) -> float:
        return math.expm1(t) - (q - 1) * math.expm1(-t) - q * t

    return float(brentq(slope, (q - 2) / q, 2 * math.log(q - 1) + 1, xtol=1e-15, rtol=1e-15))


def _root(q: int, beta: float, low: float, high: float) -> float:
    """t = beta s(t) between `low` and `high`."""

    def excess(t: float) -> float:
        return t / _order(q, t) - beta if t else q - beta

    return float(brentq(excess, low, high, xtol=1e-300, rtol=1e-15, maxiter=1000))


def _branch(q: int, beta: float, t: float, stability: Stability) -> CurieWeissBranch:
    s = _order(q, t)
    major, minor = (1 + (q - 1) * s) / q, math.exp(-t) / (1 + (q - 1) * math.exp(-t))
    squares = major**2 + (q - 1) * minor**2
    entropy = -major * math.log(major) - (q - 1) * minor * math.log(minor) if minor > 0 else 0.0
    log_weight = beta / 2 * (squares - 1 / q) + entropy - math.log(q)
    return CurieWeissBranch(s, major, -squares / 2, log_weight if t else 0.0, stability)


def _colors(n_colors: int) -> int:
    return int(checks.dimension(n_colors, least=2, name="n_colors"))
