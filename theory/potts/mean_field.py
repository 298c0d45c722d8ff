"""Phases of the Curie-Weiss Potts ferromagnet S = (1/N) sum_{i<j} delta(s_i, s_j) in the limit N -> infinity."""

import math
from dataclasses import dataclass
from typing import Literal

from scipy.optimize import brentq

from theory.core import NonNegative, Result, Several, checked

Stability = Literal["stable", "metastable", "unstable"]


@dataclass(frozen=True, repr=False)
class CurieWeissBranch(Result):
    """A stationary point of the mean-field free energy: one color is favored over the others, or none is.

    With s = `order_parameter` the favored color has the fraction `largest_fraction` = (1 + (q - 1) s)/q of the sites
    and each other one (1 - s)/q. `energy_per_site` is that of -S, -(1/2) sum_a x_a^2 in the fractions x_a. With
    phi(s) = (beta/2) sum_a x_a^2 - sum_a x_a log x_a, `log_weight` is phi(s) - phi(0): N times it is the log of the
    weight of such states relative to that of disordered ones.
    """

    order_parameter: float
    largest_fraction: float
    energy_per_site: float
    log_weight: float
    stability: Stability


@dataclass(frozen=True, repr=False)
class CurieWeiss(Result):
    """All phases of the infinite Curie-Weiss ferromagnet at one beta, ordered by their order parameter.

    `branches` are the stationary points, the disordered one first. Where two phases coexist both are called stable.
    """

    n_colors: Several
    beta: float
    branches: tuple[CurieWeissBranch, ...]

    @property
    def stable(self) -> CurieWeissBranch:
        """The branch of largest weight, and the ordered one where two coexist."""
        return [branch for branch in self.branches if branch.stability == "stable"][-1]

    @property
    def order_parameter(self) -> float:
        """The order parameter s of the stable branch."""
        return self.stable.order_parameter

    @property
    def largest_fraction(self) -> float:
        """The fraction of sites that have the most frequent color, in the stable branch."""
        return self.stable.largest_fraction

    @property
    def energy_per_site(self) -> float:
        """The energy of -S per site in the stable branch."""
        return self.stable.energy_per_site

    @property
    def log_partition_function_per_site(self) -> float:
        """The limit of (log Z)/N for N -> infinity."""
        return self.stable.log_weight + self.beta / (2 * self.n_colors) + math.log(self.n_colors)


@checked
def curie_weiss(n_colors: Several, beta: NonNegative) -> CurieWeiss:
    """Find the phases of the infinite mean-field ferromagnet of q = `n_colors` colors at inverse temperature `beta`.

    Their order parameters are the roots of s = (1 - e^(-beta s))/(1 + (q - 1) e^(-beta s)) (F. Y. Wu, Rev. Mod. Phys.
    54, 235 (1982)). With t = beta s they solve beta = t/s(t), whose right side falls to the ordered spinodal and then
    grows (for q = 2 it only grows), so there is one bracketed root on each side. Roots with s < 0, which exist above
    beta = q, are left out: they are always unstable.

    >>> curie_weiss(n_colors=3, beta=2.5).order_parameter  # disordered
    0.0
    >>> round(curie_weiss(n_colors=3, beta=3.0).order_parameter, 6)
    0.716375
    """
    q = n_colors
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


@checked
def curie_weiss_critical_beta(n_colors: Several) -> float:
    """Compute the inverse temperature of the transition of q = `n_colors` colors.

    It is 2 (q - 1) log(q - 1)/(q - 2), where the ordered and the disordered phase have the same weight; its limit 2 for
    two colors is a continuous transition. Source: known of the mean-field Potts model (F. Y. Wu, Rev. Mod. Phys. 54,
    235 (1982)), rederived here: phi(s) = phi(0) (see `CurieWeissBranch`) and the equation for s hold together at s = (q
    - 2)/(q - 1), where exp(beta s) = (q - 1)^2.
    """
    q = n_colors
    return 2.0 if q == 2 else 2 * (q - 1) * math.log(q - 1) / (q - 2)


@checked
def curie_weiss_spinodals(n_colors: Several) -> tuple[float, float]:
    """Compute the two inverse temperatures between which both phases are at least metastable.

    The ordered phase exists from the first one on; the disordered phase is stable against small changes below the
    second one, which is q. Derived here: the ordered branch begins where t/s(t) is least (see `curie_weiss`), and the
    slope of the right side of the equation for s is beta/q at s = 0, which makes the disordered phase unstable from
    beta = q on.
    """
    q = n_colors
    turning = _turning(q)
    return (turning / _order(q, turning) if turning else 2.0), float(q)


@checked
def curie_weiss_jump(n_colors: Several) -> float:
    """Compute the order parameter of the ordered phase at the critical beta, (q - 2)/(q - 1).

    Source: known of the mean-field Potts model (F. Y. Wu, Rev. Mod. Phys. 54, 235 (1982)), rederived here: at the
    critical beta this s solves the equation of `curie_weiss`, and its weight equals that of the disordered phase.
    """
    q = n_colors
    return (q - 2) / (q - 1)


@checked
def curie_weiss_latent_heat(n_colors: Several) -> float:
    """Compute the energy per site of the disordered phase minus that of the ordered one where both coexist.

    It is (q - 2)^2/(2 q (q - 1)), in units of the coupling. Source: known of the mean-field Potts model (F. Y. Wu, Rev.
    Mod. Phys. 54, 235 (1982)), rederived here: the energies -(1/2) sum_a x_a^2 of the two phases differ by (q - 1)
    s^2/(2 q), with s of `curie_weiss_jump`.
    """
    q = n_colors
    return (q - 2) ** 2 / (2 * q * (q - 1))


def _order(q: int, t: float) -> float:
    """Return s = (1 - e^-t)/(1 + (q - 1) e^-t), the order parameter in a mean field t = beta s."""
    return -math.expm1(-t) / (1 + (q - 1) * math.exp(-t))


def _turning(q: int) -> float:
    """Return the t at which t/s(t) is least, where e^t + q - 2 - (q - 1) e^-t = q t; it is zero for two colors."""
    if q == 2:
        return 0.0

    def slope(t: float) -> float:
        return math.expm1(t) - (q - 1) * math.expm1(-t) - q * t

    return float(brentq(slope, (q - 2) / q, 2 * math.log(q - 1) + 1, xtol=1e-15, rtol=1e-15))


def _root(q: int, beta: float, low: float, high: float) -> float:
    """Return the root of t = beta s(t) between `low` and `high`."""

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
