"""A student of a narrow network that samples at another temperature or with another prior than the teacher's."""

from dataclasses import dataclass, field
from typing import Literal

from theory.core import Array, Count, Positive, SolverResult, checked
from theory.feedforward.narrow_line import kernel_of
from theory.feedforward.narrow_system import KERNEL_ERROR, MAX_BETA, System, require_verified, solved
from theory.feedforward.narrow_units import FiniteSystem
from theory.models import NarrowNetwork
from theory.numerics import WithReplicon

ADVICE = "take another start, a larger max_iter, or a less extreme beta and lam"


@dataclass(frozen=True, eq=False, repr=False)
class TemperedOrders(WithReplicon, SolverResult):
    """Holds orders and errors of samples W of exp(-beta/2 sum (y - s)^2 - lam/2 |W|^2), all per unit and weight.

    `self_overlap` Q is |w|^2/N of a sample, `overlap` q that of two samples, and `teacher_overlap` m that of a sample
    with the teacher. `gibbs_risk` is the mean of (s - s*)^2 of the network of a sample, `mean_risk` that of the mean
    output of all samples, both without the noise of labels, and `train_error` the mean of (y - s)^2 over the training
    samples. `replicon` is 1 - alpha (Q - q)^2 (Sigma'(q)^2 E g'^2 + Sigma''(q) E g^2), stable above 0, with symbols as
    in `tempered_orders`; below 0 the true errors are others than these.

    `modes` has Q, q and m in its columns, as the equations have them. Without `hidden_units` it has one row, the three
    orders above. With K units rows are overlaps of combinations of the vectors v_k w_k of norm one: differences between
    units of one sign, the sum of all, and, with balanced signs, the difference between the units of either sign. The
    orders of a unit are means over all K combinations. The replicon is then the least over variations that treat units
    of one sign alike, relative to the curvature of the entropy.
    """

    self_overlap: float
    overlap: float
    teacher_overlap: float
    gibbs_risk: float
    mean_risk: float
    train_error: float
    replicon: float
    modes: Array = field(repr=False)  # (1, 3) or, with K units, (2, 3) or (3, 3)


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
    to replica: E g^2 = beta^2 E/c^2, E g'^2 = beta^2/c^2 and Sigma(q) = kt_QQ(q). The limit beta -> infinity is
    that of `ground_state`.

    With K `hidden_units` these are the equations of each kind of mode of the overlaps (`TemperedOrders.modes`), derived
    here: the free entropy is K alpha G plus log(Q - q)/2 + (q - m^2)/(2 (Q - q)) - lam Q/2 of each of the K modes, and
    the covariances M, V and Vq of outputs have full kernels k, such as k(m0 + m1/K) + (K - 1) k(m1/K) with equal signs,
    where m0 + m1/K is the overlap of a unit with its own and m1/K that of any two. So the linear component costs
    samples. Outputs are still taken as Gaussian, which leaves out other terms of order 1/K. The orders that the authors
    of arXiv:2507.00629 store for K = 10 solve the equations with k(m0) + k'(0) m1, at the variance Q0 in place of
    Q0 + Q1/K; their stored errors are those of the full kernels.

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
    system = System(kernel_of(model.activation), model.alpha, model.noise, beta, lam)
    if model.hidden_units is not None:
        system = FiniteSystem.of(system, model.hidden_units, model.readout)
    problem = f"tempered narrow network at alpha = {model.alpha:g}, beta = {beta:g}, lam = {lam:g}"

    found = solved(system, start, tol, max_iter, problem, ADVICE)
    measured, bound = system.measured(found.value), system.kernel_error(found.value)
    orders = TemperedOrders(
        *measured,
        found.value.reshape(-1, 3),
        residual=found.residual,
        iterations=found.iterations,
        converged=found.converged and bound <= KERNEL_ERROR and measured[-1] > 0,
    )
    if check:
        require_verified(orders, orders.replicon, found, bound, problem, tol, ADVICE, "lower beta")
    return orders
