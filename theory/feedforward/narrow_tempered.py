"""A student of a narrow network that samples at another temperature or with another prior than the teacher's."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from theory.core.arguments import checked
from theory.core.arrays import Array
from theory.core.ranges import Count, Positive
from theory.core.results import SolverResult
from theory.feedforward.narrow_kernels import Kernel
from theory.feedforward.narrow_line import kernel_of
from theory.models import NarrowNetwork
from theory.numerics import ConvergenceError, Solution, WithReplicon, refuse_unstable, solve_fixed_point
from theory.numerics.steps import differences, relative_gap

STARTS = {"teacher": (1.0, 0.999, 0.999), "random": (1.0, 1e-3, 1e-3)}
DAMPINGS = (0.5, 0.8, 0.95)
NEWTON_STEPS = 50
STRIDE = 25  # plain steps between two looks at their residual
ZERO_OVERLAP = 1e-9  # overlaps below which only the self-overlap moves, which then converges fast or not at all
FLOW_STEPS = 300  # implicit steps along the flow of slow plain steps
LARGEST_MOVE = 0.1  # of an order in one implicit step, relative; of Q - q five times as much
MIN_VARIANCE_SHARE = 2e-5  # of Q - q over 1 + Q, below which differences for a Jacobian would step over the edge Q = q
LONGEST_TIME = 1e8  # of an implicit step, from where on it is Newton's
NEWTON_RESIDUAL = 1e-5  # residual at which Newton's method takes over from plain steps
ADVICE = "take another start, a larger max_iter, or a less extreme beta and lam"
KERNEL_ERROR = 1e-8  # relative, of the series of a user's function
MAX_BETA = 1e12  # of beta and lam, and of their inverses


@dataclass(frozen=True, eq=False, repr=False)
class TemperedOrders(WithReplicon, SolverResult):
    """Holds orders and errors of samples W of exp(-beta/2 sum (y - s)^2 - lam/2 |W|^2), all per unit and weight.

    `self_overlap` Q is |w|^2/N of a sample, `overlap` q that of two samples, and `teacher_overlap` m that of a sample
    with the teacher. `gibbs_risk` is the mean of (s - s*)^2 of the network of a sample, `mean_risk` that of the mean
    output of all samples, both without the noise of labels, and `train_error` the mean of (y - s)^2 over the training
    samples. `replicon` is 1 - alpha (Q - q)^2 (Sigma'(q)^2 E g'^2 + Sigma''(q) E g^2), stable above 0, with symbols as
    in `tempered_orders`; below 0 the true errors are others than these.
    """

    self_overlap: float
    overlap: float
    teacher_overlap: float
    gibbs_risk: float
    mean_risk: float
    train_error: float
    replicon: float


@checked
def tempered_orders(
    model: NarrowNetwork,
    beta: Positive,
    lam: Positive = 1.0,
    *,
    start: Literal["teacher", "random"] = "teacher",
    tol: Positive = 1e-10,
    max_iter: Count = 2_000,
    check: bool = True,
) -> TemperedOrders:
    """Compute what a student of linear labels learns at inverse temperature `beta` and weight decay `lam`.

    Let kt_AB(rho) be the covariance of f at variances A and B and covariance rho without its linear part, and
    M = kt_1Q(m) + mu_1^2, V = kt_QQ(Q) + mu_1^2, Vq = kt_QQ(q) + mu_1^2: the linear component of the teacher is learned
    exactly from far fewer samples. With c = 1 + beta (V - Vq) and E = T + noise - 2 M + Vq the free entropy per sample
    is G = -log(c)/2 - beta E/(2 c), and the orders solve, with G's partial derivatives G_Q, G_q and G_m,

        Q - q = X = 1/(lam - 2 alpha (G_Q + G_q)),   m = X alpha G_m,   q = X^2 ((alpha G_m)^2 - 2 alpha G_q).

    For beta = 1/noise and lam = 1 this is the Bayes-optimal student: Q = 1 and m = q. The replicon follows from the
    second variation of log det(Q_ab)/2 + alpha log det(1 + beta S(Q_ab))/(-2) over overlaps that differ from replica
    to replica: E g^2 = beta^2 E/c^2, E g'^2 = beta^2/c^2 and Sigma(q) = kt_QQ(q). The limit beta -> infinity is not
    offered, because nothing is known here of replica symmetry there.

    `start` chooses between stable states, as a sampler does by its start: at the teacher, or at random weights.
    ValueError for signs as labels and for beta or lam outside [1e-12, 1e12]. ConvergenceError where the equations are
    not solved, and where the replicon is not positive; `check` False returns that point with `converged` False. A
    positive replicon excludes a continuous breaking of the symmetry only: far from beta = 1/noise, states that freeze
    apart at once are not seen by it.

    >>> found = tempered_orders(NarrowNetwork(alpha=4.0, activation="erf", noise=0.01), beta=60.0)
    >>> [round(each, 6) for each in (found.self_overlap, found.overlap, found.teacher_overlap)]
    [0.917712, 0.789534, 0.852488]
    >>> round(found.gibbs_risk, 6), round(found.train_error, 6)
    (0.008855, 0.012055)
    """
    if model.labels != "linear":
        raise ValueError(f"model must have linear labels for a student at finite temperature, got {model.labels!r}")
    for name, value in (("beta", beta), ("lam", lam)):
        if not 1 / MAX_BETA <= value <= MAX_BETA:
            raise ValueError(f"{name} must lie between {1 / MAX_BETA:g} and {MAX_BETA:g}, got {value:g}")
    system = _System(kernel_of(model.activation), model.alpha, model.noise, beta, lam)
    problem = f"tempered narrow network at alpha = {model.alpha:g}, beta = {beta:g}, lam = {lam:g}"

    steps, tried = 0, []
    for damping in DAMPINGS:  # where there are many samples the self-overlap overshoots, unless it moves slowly
        near = system.damped(np.array(STARTS[start]), damping, max(tol, NEWTON_RESIDUAL), max_iter)
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
        raise ConvergenceError(problem, found, ADVICE)
    orders = system.measured(found, steps)
    bound = system.kernel_error(found.value)
    advice = "the activation bends too sharply for its series: lower beta"
    Solution.verified(found.value, bound, KERNEL_ERROR, found.iterations, what=problem, advice=advice, check=check)
    if check and not found.converged:
        raise ConvergenceError(problem, found, ADVICE)
    if check and not orders.replicon > 0:
        refuse_unstable(orders, orders.replicon, problem, tol, "lower beta, or take check=False")
    return orders


@dataclass(frozen=True)
class _System:
    kernel: Kernel
    alpha: float
    noise: float
    beta: float
    lam: float

    def admissible(self, x: Array) -> bool:
        Q, q, m = x
        return bool(np.isfinite(x).all() and Q > q >= 0 and m * m <= q * (1 + 1e-9) and Q < MAX_BETA)

    def update(self, x: Array) -> Array:
        """Return the image of (Q, q, m), NaN where the kernels have no value there."""
        try:
            return self._image(x)
        except (ArithmeticError, ValueError):  # of math, outside the domain of a root or an arc sine
            return np.full(3, np.nan)

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
        """Make plain steps until they converge, or circle in the self-overlap alone."""
        made, residuals = 0, [np.inf, np.inf]
        while True:
            found = solve_fixed_point(
                self.update, x, admissible=self.admissible, method="plain", damping=damping, tol=goal,
                max_iter=min(STRIDE, max_iter - made), check=False,
            )  # fmt: skip
            x, made = found.value, made + found.iterations
            circles = max(abs(x[1:])) < ZERO_OVERLAP and found.residual > residuals[-2] / 2
            if found.status != "max_iter" or made >= max_iter or circles:
                return replace(found, iterations=made)
            residuals.append(found.residual)

    def flowed(self, slow: Solution[Array], goal: float) -> Solution[Array]:
        """Follow the flow dx/dt = update(x) - x, whose small steps are those that were too slow, by implicit steps.

        They grow where the orders change little, until they are Newton's, and lead to the same state: no order moves by
        more than a tenth at once.
        """
        x, time, residual, made = slow.value, 1.0, np.inf, 0
        while made < FLOW_STEPS:
            made += 1
            image = self.update(x)
            residual = relative_gap(image, x)
            if not residual > goal or time < 1e-6 or x[0] - x[1] < MIN_VARIANCE_SHARE * (1 + x[0]):
                break
            try:
                step = np.linalg.solve((1 + 1 / time) * np.eye(3) - differences(self.update, x), image - x)
            except np.linalg.LinAlgError:
                break
            moves = np.abs(step) <= LARGEST_MOVE * np.abs(x)
            gap = abs(step[0] - step[1]) <= 5 * LARGEST_MOVE * (x[0] - x[1])
            if moves.all() and gap and self.admissible(x + step):
                x, time = x + step, min(2 * time, LONGEST_TIME)
            else:
                time /= 4
        good = bool(residual <= goal and self.admissible(x))
        return Solution(x, "converged" if good else "max_iter", residual, goal, made)

    def kernel_error(self, x: Array) -> float:
        """Return a bound for the relative error of the kernels at these orders."""
        Q, q, m = (float(one) for one in x)
        return max(self.kernel.pair(1.0, Q, m).error, self.kernel.pair(Q, Q, q).error)

    def _distance(self, M: float, Vq: float) -> float:
        """E = T + noise - 2 M + Vq, the squared distance of a label to the mean output, from tails without mu_1^2."""
        return self.kernel.power - self.kernel.linear_power + self.noise - 2 * M + Vq

    def measured(self, found: Solution[Array], steps: int) -> TemperedOrders:
        Q, q, m = (float(one) for one in found.value)
        teacher, two, (V, _) = self.kernel.pair(1.0, Q, m), self.kernel.pair(Q, Q, q), self.kernel.own(Q)
        c, E = 1 + self.beta * (V - two.value), self._distance(teacher.value, two.value)
        variation = (two.by_rho**2 + E * two.by_rho_twice) * (self.beta / c) ** 2
        replicon = 1 - self.alpha * (Q - q) ** 2 * variation
        mean_risk, spread = E - self.noise, V - two.value
        exact = max(teacher.error, two.error) <= KERNEL_ERROR
        return TemperedOrders(
            *(Q, q, m, mean_risk + spread, mean_risk, E / c**2 + spread / c, replicon),
            residual=found.residual,
            iterations=steps + found.iterations,
            converged=found.converged and exact and replicon > 0,
        )
