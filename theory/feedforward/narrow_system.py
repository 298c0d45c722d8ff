"""The saddle-point equations of tempered students of narrow networks, and the steps that solve them."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from theory.core import Array, SolverResult
from theory.feedforward.narrow_kernels import Kernel
from theory.numerics import ConvergenceError, Solution, refuse_unstable, solve_fixed_point
from theory.numerics.steps import differences, relative_gap

STRIDE = 25  # plain steps between two looks at their residual
ZERO_OVERLAP = 1e-9  # overlaps below which only the self-overlap moves, which then converges fast or not at all
FLOW_STEPS = 300  # implicit steps along the flow of slow plain steps
MAX_RELATIVE_MOVE = 0.1  # of an order in one implicit step, relative; of Q - q five times as much
MIN_VARIANCE_SHARE = 2e-5  # of Q - q over 1 + Q, below which differences for a Jacobian would step over the edge Q = q
MAX_IMPLICIT_TIME = 1e8  # of an implicit step, from where on it is Newton's
KERNEL_ERROR = 1e-8  # relative, of the series of a user's function
MAX_BETA = 1e12  # of beta and lam, and of their inverses
DAMPINGS = (0.5, 0.8, 0.95)
NEWTON_STEPS = 50
NEWTON_RESIDUAL = 1e-5  # residual at which Newton's method takes over from plain steps
Measured = tuple[float, float, float, float, float, float, float]
STARTS = {"teacher": (1.0, 0.999, 0.999), "random": (1.0, 1e-3, 1e-3)}


@dataclass(frozen=True)
class System:
    """The equations of infinitely many hidden units, for x = (Q, q, m)."""

    rounding: ClassVar[float] = 0.0  # of an overlap that is zero
    kernel: Kernel
    alpha: float
    noise: float
    beta: float
    lam: float

    def begin(self, start: str) -> Array:
        """Return the orders of the teacher, or those of almost random weights."""
        return np.array(STARTS[start])

    def impatient(self, x: Array) -> bool:
        """Return whether plain steps are to end as soon as they do not converge: where no unit is told from others."""
        return bool(max(abs(x[1:])) < ZERO_OVERLAP)

    def admissible(self, x: Array) -> bool:
        """Return whether orders are those of a Gibbs law: Q > q >= 0 and m^2 <= q, in every mode."""
        Q, q, m = x.reshape(-1, 3).T
        ordered = (q < Q) & (q >= -self.rounding) & (m * m <= q * (1 + 1e-9) + self.rounding) & (Q < MAX_BETA)
        return bool(np.isfinite(x).all() and ordered.all())

    def update(self, x: Array) -> Array:
        """Return the image of the orders, NaN where the kernels have no value there."""
        try:
            return self._image(x)
        except (ArithmeticError, ValueError):  # of math, outside the domain of a root or an arc sine
            return np.full(x.size, np.nan)

    def _image(self, x: Array) -> Array:
        Q, q, m = (float(one) for one in x)
        teacher, two, (V, V_Q) = self.kernel.pair(1.0, Q, m), self.kernel.pair(Q, Q, q), self.kernel.own(Q)
        c = 1 + self.beta * (V - two.value)
        E = self._distance(teacher.value, two.value)
        two_Q = 2 * two.by_second
        c_Q = self.beta * (V_Q - two_Q)
        G_Q = -c_Q / (2 * c) - (self.beta / 2) * ((two_Q - 2 * teacher.by_second) / c - E * c_Q / c**2)
        G_q = -(self.beta**2) * E * two.by_rho / (2 * c**2)
        G_m = self.beta * teacher.by_rho / c
        X = 1 / (self.lam - 2 * self.alpha * (G_Q + G_q))
        q_new = X * X * ((self.alpha * G_m) ** 2 - 2 * self.alpha * G_q)
        return np.array([X + q_new, q_new, X * self.alpha * G_m])

    def damped(self, x: Array, damping: float, goal: float, max_iter: int) -> Solution[Array]:
        """Make plain steps until they converge, or circle, as where the self-overlap alone moves."""
        made, residuals = 0, [np.inf, np.inf]
        while True:
            found = solve_fixed_point(
                self.update, x, admissible=self.admissible, method="plain", damping=damping, tol=goal,
                max_iter=min(STRIDE, max_iter - made), check=False,
            )  # fmt: skip
            x, made = found.value, made + found.iterations
            circles = self.impatient(x) and found.residual > residuals[-2] / 2
            if found.status != "max_iter" or made >= max_iter or circles:
                return replace(found, iterations=made)
            residuals.append(found.residual)

    def flowed(self, slow: Solution[Array], goal: float) -> Solution[Array]:
        """Follows the flow dx/dt = update(x) - x, whose small steps are those that were too slow, by implicit steps.

        They grow where the orders change little, until they are Newton's, and lead to the same state: no order moves by
        more than a tenth at once.
        """
        x, time, residual, made = slow.value, 1.0, np.inf, 0
        while made < FLOW_STEPS:
            made += 1
            image = self.update(x)
            residual = relative_gap(image, x)
            if not residual > goal or time < 1e-6 or not self.resolved(x):
                break
            try:
                slopes = (1 + 1 / time) * np.eye(x.size) - differences(self.update, x)
                step = np.asarray(np.linalg.solve(slopes, image - x), np.float64)
            except np.linalg.LinAlgError:
                break
            moves = np.abs(step) <= MAX_RELATIVE_MOVE * np.abs(x)
            if moves.all() and self.keeps_gap(x, step) and self.admissible(x + step):
                x, time = x + step, min(2 * time, MAX_IMPLICIT_TIME)
            else:
                time /= 4
        good = bool(residual <= goal and self.admissible(x))
        return Solution(x, "converged" if good else "max_iter", residual, goal, made)

    def keeps_gap(self, x: Array, step: Array) -> bool:
        """Return whether no Q - q changes by more than a half in this step."""
        (Q, q, _), (Q_step, q_step, _) = x.reshape(-1, 3).T, step.reshape(-1, 3).T
        return bool((np.abs(Q_step - q_step) <= 5 * MAX_RELATIVE_MOVE * (Q - q)).all())

    def resolved(self, x: Array) -> bool:
        """Return whether differences of the orders of a unit stay away from the edge Q = q."""
        return bool(x[0] - x[1] >= MIN_VARIANCE_SHARE * (1 + x[0]))

    def kernel_error(self, x: Array) -> float:
        """Return a bound for the relative error of the kernels at these orders."""
        Q, q, m = (float(one) for one in x)
        return max(self.kernel.pair(1.0, Q, m).error, self.kernel.pair(Q, Q, q).error)

    def _distance(self, M: float, Vq: float) -> float:
        """E = T + noise - 2 M + Vq, the squared distance of a label to the mean output, from tails without mu_1^2."""
        return self.kernel.power - self.kernel.linear_power + self.noise - 2 * M + Vq

    def measured(self, x: Array) -> Measured:
        """Return Q, q, m of a unit, the Gibbs risk, the risk of the mean, the training error, and the replicon."""
        Q, q, m = (float(one) for one in x)
        teacher, two, (V, _) = self.kernel.pair(1.0, Q, m), self.kernel.pair(Q, Q, q), self.kernel.own(Q)
        c, E = 1 + self.beta * (V - two.value), self._distance(teacher.value, two.value)
        variation = (two.by_rho**2 + E * two.by_rho_twice) * (self.beta / c) ** 2
        replicon = 1 - self.alpha * (Q - q) ** 2 * variation
        mean_risk, spread = E - self.noise, V - two.value
        return Q, q, m, mean_risk + spread, mean_risk, E / c**2 + spread / c, replicon


def solved(system: System, start: str, tol: float, max_iter: int, what: str, advice: str) -> Solution[Array]:
    """Solve a system from a start; the result may not have converged, and ConvergenceError where it is no Gibbs law."""
    steps, tried = 0, []
    for damping in DAMPINGS:  # where there are many samples the self-overlap overshoots, unless it moves slowly
        near = system.damped(system.begin(start), damping, max(tol, NEWTON_RESIDUAL), max_iter)
        steps += near.iterations
        tried.append(near)
        if near.converged:
            break
    else:  # all of them were too slow, or turned in circles
        near = system.flowed(min(tried, key=lambda one: (not np.isfinite(one.residual), one.residual)), tol)
        steps += near.iterations
    found = solve_fixed_point(
        system.update, near.value, admissible=system.admissible, method="newton", tol=tol, max_iter=NEWTON_STEPS,
        check=False,
    )  # fmt: skip
    if not found.converged:  # Newton's method may leave the state, where two of them meet
        found = system.damped(near.value, damping, tol, max_iter)
    if not found.converged:
        found = system.flowed(found, tol)
    if not system.admissible(found.value):
        raise ConvergenceError(what, found, advice)
    return replace(found, iterations=steps + found.iterations)


def require_verified(
    orders: SolverResult,
    replicon: float,
    found: Solution[Array],
    bound: float,
    problem: str,
    tol: float,
    advice: str,
    remedy: str,
) -> None:
    """Raise ConvergenceError where kernels or steps are inexact, ReplicaSymmetryError where the orders are unstable.

    `bound` is that of the relative error of the kernels at the orders `found`, and `remedy` what to change in the
    problem ("raise lam").
    """
    if not bound <= KERNEL_ERROR:
        inexact = Solution(found.value, "unverified", bound, KERNEL_ERROR, found.iterations)
        raise ConvergenceError(problem, inexact, f"the activation bends too sharply for its series: {remedy}")
    if not found.converged:
        raise ConvergenceError(problem, found, advice)
    if not replicon > 0:
        refuse_unstable(orders, replicon, problem, tol, f"{remedy}, or take check=False")
