"""The student of a narrow network that minimizes its energy: the limit of zero temperature."""

import math
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from theory.core import Array, Count, Positive, SolverResult, checked
from theory.feedforward.narrow_line import kernel_of
from theory.feedforward.narrow_system import KERNEL_ERROR, MAX_BETA, System, require_verified, solved
from theory.feedforward.narrow_units import FiniteSystem, layout
from theory.models import NarrowNetwork
from theory.numerics import ConvergenceError, Solution, WithReplicon, solve_fixed_point

MAX_LAM, MIN_LAM = 1e6, 1e-6
NEAR_BETAS = (1e4, 1e5, 1e3, 1e6, 1e2)  # of lam of order one, tried in turn
NEAR_TOLERANCE = 1e-8
MAX_MOVE = 0.05  # of the self-overlap of a mode from there to temperature zero, beyond which it is another state
ADVICE = "take another start, a larger max_iter, or a less extreme lam"


@dataclass(frozen=True, eq=False, repr=False)
class GroundState(WithReplicon, SolverResult):
    """Holds orders and errors of weights W at a minimum of sum (y - s)^2/2 + lam |W|^2/2, the least or another one.

    `self_overlap` Q is |w|^2/N, `teacher_overlap` m the overlap with the teacher, and `susceptibility` chi the limit of
    beta (Q - q), q that of two samples at inverse temperature beta: the response of a weight to a force on it. `risk`
    is the mean of (s - s*)^2 on fresh inputs without the noise of labels, and `train_error` the mean of (y - s)^2 over
    the training samples. `energy` is the minimum per weight, (alpha train_error + lam self_overlap)/2, by which states
    of several starts compare. `replicon` is the limit of that of `TemperedOrders`, stable above 0. `modes` has Q, chi
    and m of each kind of mode in its columns (see `TemperedOrders`), one row without `hidden_units`.
    """

    self_overlap: float
    susceptibility: float
    teacher_overlap: float
    risk: float
    train_error: float
    energy: float
    replicon: float
    modes: Array = field(repr=False)


@checked
def ground_state(
    model: NarrowNetwork,
    lam: Positive,
    *,
    start: Literal["teacher", "random"] = "teacher",
    tol: Positive = 1e-10,
    max_iter: Count = 2_000,
    check: bool = True,
) -> GroundState:
    """Compute what the student of linear labels learns at the minimum of sum (y - s)^2/2 + lam |W|^2/2 of its start.

    This is the limit of `tempered_orders` for beta -> infinity at the weight decay beta lam, where chi = beta (Q - q)
    stays finite (derived here). With k_rho the derivative of the kernel by the covariance, M and V as in
    `tempered_orders`, E = T + noise - 2 M + V, and c = 1 + chi k_rho(Q, Q, Q), or the sum of such terms over pairs of
    units, beta times the least energy per weight is minus the extremum over Q, chi and m of

        sum over modes of [(Q - m^2)/chi - lam Q]/2, divided by K, minus alpha E/(2 c),

    so that m = chi alpha M_m/c, Q = m^2 + chi^2 alpha E c_chi/c^2 and 1/chi = lam + alpha (E_Q/c - E c_Q/c^2), for
    modes times the number of all modes over that of their kind. The training error is E/c^2.

    ValueError for signs as labels, for an activation with a jump, whose c is infinite, and for lam outside [1e-6, 1e6].
    ConvergenceError where the equations are not solved, for a function with kinks (the kernel of "relu" is known in
    closed form), and where the replicon is not positive; `check` False returns that point with `converged` False. The
    replicon holds E f''^2 of the activation. It is infinite for ReLU, so that replica symmetry is broken there whenever
    labels are not fitted exactly, however little; the replica-symmetric errors are then an approximation. A start leads
    to one stationary state, of several, which need not be that of least `energy`: compare those of both starts. Ten
    ReLU units of equal signs are caught above it from random weights at alpha near 0.097 for lam = 0.01.

    >>> found = ground_state(NarrowNetwork(alpha=3.0, activation="erf", hidden_units=10), lam=0.01)
    >>> round(found.risk, 8), round(found.teacher_overlap, 6), found.replicon > 0
    (0.00052844, 0.906208, True)
    """
    if model.labels != "linear":
        raise ValueError(f"model must have linear labels for the least sum of squares, got {model.labels!r}")
    if not MIN_LAM <= lam <= MAX_LAM:
        raise ValueError(f"lam must lie between {MIN_LAM:g} and {MAX_LAM:g}, got {lam:g}")
    kernel = kernel_of(model.activation)
    problem = f"narrow network of least energy at alpha = {model.alpha:g}, lam = {lam:g}"
    if not math.isfinite(kernel.own_slope(1.0)[0]):
        if isinstance(model.activation, str):
            raise ValueError(f"model must have an activation without jumps, got {model.activation!r}")
        raise ConvergenceError.of(problem, lam, math.inf, tol, advice="the activation has kinks or jumps")
    limit = System(kernel, model.alpha, model.noise, 1.0, lam)
    system = GroundSystem.of(limit, model.hidden_units, model.readout)
    found = _found(system, start, tol, max_iter, problem)
    orders, bound = system.state(found), system.kernel_error(found.value)
    if check:
        require_verified(orders, orders.replicon, found, bound, problem, tol, ADVICE, "raise lam")
    return orders


def _found(system: "GroundSystem", start: str, tol: float, max_iter: int, problem: str) -> Solution[Array]:
    """Follow the state of a start down to temperature zero, by Newton's method from the first temperature near enough.

    From a start the equations at temperature zero lead nowhere: chi would have to be known.
    """
    steps, best = 0, None
    for beta in NEAR_BETAS:
        try:
            warm = replace(system.near, beta=beta, lam=beta * system.lam)
            near = solved(warm, start, NEAR_TOLERANCE, max_iter, problem, ADVICE)
        except ConvergenceError:
            continue
        steps += near.iterations
        Q, q, m = near.value.reshape(-1, 3).T
        first = np.stack([Q, beta * (Q - q), m], axis=1).ravel()
        found = solve_fixed_point(
            system.update, first, admissible=system.admissible, method="newton", tol=tol, max_iter=50, check=False
        )
        steps += found.iterations
        moved = float(np.max(np.abs(found.value - first)[::3]))
        if found.converged and system.admissible(found.value) and moved <= MAX_MOVE:
            return replace(found, iterations=steps)
        if best is None or not best.residual <= found.residual:
            best = found
    if best is None or not system.admissible(best.value):
        raise ConvergenceError.of(problem, system.lam, math.nan, tol, advice=ADVICE)
    return replace(best, iterations=steps, status="max_iter")


@dataclass(frozen=True, eq=False)
class GroundSystem(System):
    """The equations for x = (Q, chi, m) of every mode in turn, arrays as in `FiniteSystem`.

    `linear` says whether kernels have their linear parts; for infinitely many units these are the teacher's.
    """

    mix: Array
    weights: Array
    signs: Array
    counts: Array
    linear: bool
    near: System  # the equations at temperatures above zero

    @classmethod
    def of(cls, limit: System, K: int | None, readout: str) -> "GroundSystem":
        """Build the equations of K units, or of infinitely many, from those at a temperature."""
        one = np.ones(1)
        parts = (np.eye(1), one, one, one) if K is None else layout(K, readout)
        near = limit if K is None else FiniteSystem.of(limit, K, readout)
        return cls(limit.kernel, limit.alpha, limit.noise, math.inf, limit.lam, *parts, K is not None, near)

    def admissible(self, x: Array) -> bool:
        """Return whether chi > 0, m^2 <= Q and m >= 0 in every mode: Newton's method finds others, of no start."""
        Q, chi, m = x.reshape(-1, 3).T
        ordered = (chi > 0) & (m * m <= Q * (1 + 1e-9) + 1e-12) & (m >= -1e-6) & (Q < MAX_BETA) & (chi < MAX_BETA)
        return bool(np.isfinite(x).all() and ordered.all() and self.mix[0] @ Q > 0)

    def _image(self, x: Array) -> Array:
        with np.errstate(all="ignore"):  # orders at the edge of the domain have infinite derivatives
            at = _Averages(self, x)
        _, chi, m = x.reshape(-1, 3).T
        scale = self.alpha * self.counts.sum() / self.counts
        new_chi = 1 / (self.lam + scale * (at.E_Q / at.c - at.E * at.c_Q / at.c**2))
        new_m = chi * scale * at.M_m / at.c
        new_Q = m**2 + chi**2 * scale * at.E * at.c_chi / at.c**2
        return np.stack([new_Q, np.where(new_chi > 0, new_chi, np.nan), new_m], axis=1).ravel()

    def kernel_error(self, x: Array) -> float:
        """Return a bound for the relative error of the kernels at these orders."""
        return _Averages(self, x).error

    def state(self, found: Solution[Array]) -> GroundState:
        """Return the orders and errors of a solution."""
        at, modes = _Averages(self, found.value), found.value.reshape(-1, 3)
        Q, chi, m = (float(one) for one in self.mix[0] @ modes)
        unit, train_error = modes[:, 1] / np.sqrt(self.counts), at.E / at.c**2
        replicon = -math.inf
        if np.isfinite(at.bends).all():
            bend = self.mix.T @ ((self.weights * self.signs * at.bends)[:, None] * self.mix)
            energy = self.counts.sum() * self.alpha / at.c**2 * (np.outer(at.c_chi, at.c_chi) + at.E * bend)
            replicon = float(1 - np.linalg.eigvalsh(energy * np.outer(unit, unit))[-1])
        return GroundState(
            *(Q, chi, m, at.E - self.noise),
            *(train_error, (self.alpha * train_error + self.lam * Q) / 2, replicon, modes),
            residual=found.residual,
            iterations=found.iterations,
            converged=found.converged and at.error <= KERNEL_ERROR and replicon > 0,
        )


class _Averages:
    """E and c at given orders, and their derivatives by those of each kind of mode."""

    def __init__(self, system: GroundSystem, x: Array) -> None:
        kernel, mix, weights, signs = system.kernel, system.mix, system.weights, system.signs
        Q, chi, m = (mix @ x.reshape(-1, 3)).T
        A = float(Q[0])
        a, a_A = kernel.slope_at(A) if system.linear else (0.0, 0.0)
        one = kernel.slope_at(1.0)[0] if system.linear else 0.0
        teacher = [kernel.pair(1.0, A, float(sign * each)) for sign, each in zip(signs, m, strict=True)]
        others = [kernel.pair(A, A, float(sign * each)) for sign, each in zip(signs[1:], Q[1:], strict=True)]
        mixed = [kernel.mixed(A, A, float(sign * each)) for sign, each in zip(signs[1:], Q[1:], strict=True)]
        own, own_A = kernel.own(A)
        own_slope, own_slope_A = kernel.own_slope(A)
        # Derivatives of each kind of pair: of V by its overlap and by A, and of k_rho likewise. A unit with itself has
        # no overlap beside A.
        slopes = np.array([own_slope + a * a, *(each.by_rho + a * a for each in others)])
        linear_A = a * a_A * Q * signs * 2
        V_A = np.array([own_A + a * a + 2 * a * a_A * A, *(2 * each.by_second for each in others)])
        V_A[1:] += linear_A[1:]
        slopes_A = np.array([own_slope_A, *(2 * each for each in mixed)]) + 2 * a * a_A
        twice = np.array([0.0, *(each.by_rho_twice for each in others)])
        V = signs * weights @ np.array([own + a * a * A, *(each.value for each in others)])
        V += float(signs[1:] * weights[1:] @ (a * a * signs[1:] * Q[1:]))
        M = signs * weights @ np.array([each.value for each in teacher]) + float(weights @ m) * one * a
        known = 0.0 if system.linear else kernel.linear_power
        self.E = float(kernel.power - known + system.noise - 2 * M + V)
        self.c = float(1 + weights @ (slopes * chi))
        M_A = signs * weights @ np.array([each.by_second for each in teacher]) + float(weights @ m) * one * a_A
        self.M_m = mix.T @ (weights * (np.array([each.by_rho for each in teacher]) + one * a))
        by_Q = weights * np.append(0.0, slopes[1:])
        by_Q[0] = signs * weights @ V_A - 2 * M_A
        self.E_Q = mix.T @ by_Q
        self.c_chi = mix.T @ (weights * slopes)
        bends = weights * signs * twice * chi
        bends[0] = weights @ (slopes_A * chi)
        self.c_Q = mix.T @ bends
        with np.errstate(divide="ignore", invalid="ignore"):  # infinite for a kink
            twice[0] = kernel.pair(A, A, A).by_rho_twice
        self.bends = twice
        self.error = max(pair.error for pair in (*teacher, *others))
