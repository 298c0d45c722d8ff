"""The least errors that a student of a narrow network can have, for all sample ratios."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from theory.core import Array, DataFrame, PositiveVector, SolverResult, checked, table
from theory.feedforward.narrow_hermite import HermiteKernel
from theory.feedforward.narrow_line import Line, State
from theory.feedforward.narrow_modes import line_of
from theory.models import NarrowNetwork
from theory.models.feedforward.narrow import Activation
from theory.numerics import ConvergenceError

OVERLAP_TOLERANCE = 1e-8  # of the equation for q and for what is missing to 1


@dataclass(frozen=True, eq=False, repr=False)
class NarrowOptimum(SolverResult):
    """Describes one stable state of the Bayes-optimal student: how much its units know, and the errors that follow.

    `q` is the overlap of a weight with the posterior mean, and between two samples of the posterior, per unit: 0 where
    no unit is told from the others, 1 where the teacher is known. `bayes_risk` is the error of the best prediction, the
    posterior mean s of the output or its sign, and `gibbs_risk` that of the network of one sample of the posterior:
    the mean of (s - s*)^2 for linear labels and the probability of a wrong sign for signs, in both cases against the
    output of the teacher without noise. `free_entropy` is log Z per weight up to a constant of the labels; of several
    stable states the posterior has that of the largest. `replicon` is 1 - alpha (1 - q)^2 (Sigma'(q)^2 E g'^2 +
    Sigma''(q) E g^2), stable above 0 (symbols as in `bayes_optimal`); for a Bayes-optimal student it is also the
    curvature of the free entropy along q, so that no stable state has a negative one.

    With K `hidden_units` q is the overlap of a unit with its own, of order 1/K where units are alike, since their sum
    is known. `modes` then holds the overlap of each kind of mode (see `TemperedOrders`): differences between units of
    one sign, which is 0 where units are alike, the sum of all, and, with balanced signs, the difference between the
    units of either sign. The replicon is the least over variations of the modes. Without `hidden_units` `modes` is q.
    """

    q: float
    bayes_risk: float
    gibbs_risk: float
    free_entropy: float
    replicon: float
    modes: Array = field(repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class NarrowCurve(SolverResult):
    """Describes the Bayes-optimal student along a list of sample ratios: arrays of one number for each of `alphas`.

    `q`, `bayes_risk`, `gibbs_risk`, `free_entropy` and `replicon` are those of the equilibrium state, see
    `NarrowOptimum`. `risk_at_smallest_q` and `risk_at_largest_q` are the Bayes risks of the stable states with the
    smallest and the largest overlap, which differ where two coexist: a sampler that starts from nothing stays in the
    former.
    """

    alphas: Array = field(repr=False)
    q: Array
    bayes_risk: Array
    gibbs_risk: Array
    free_entropy: Array = field(repr=False)
    replicon: Array = field(repr=False)
    risk_at_smallest_q: Array
    risk_at_largest_q: Array

    def to_frame(self) -> DataFrame:
        """Return a table with one row for each sample ratio; needs pandas."""
        names = (
            "q", "bayes_risk", "gibbs_risk", "free_entropy", "replicon", "risk_at_smallest_q", "risk_at_largest_q",
        )  # fmt: skip
        return table(alpha=self.alphas, **{name: getattr(self, name) for name in names})


@checked
def bayes_optimal(
    model: NarrowNetwork, *, state: Literal["equilibrium", "smallest_q", "largest_q"] = "equilibrium"
) -> NarrowOptimum:
    """Compute the Bayes-optimal errors of a student of a narrow network (arXiv:2507.00629, and derivation below).

    With kappa(q) = sum_{l >= 1} mu_l^2 q^l/l!, mu_l = E f(z) He_l(z) and T = kappa(1), n ~ N K samples fix the linear
    component of the network, whose N parameters need only n ~ N. The rest depends on one overlap q per unit: the data
    fix the share Sigma(q) = kappa(q) - mu_1^2 q + mu_1^2 of the output's variance T, and

        q = r/(1 + r),   r = alpha E g^2 Sigma'(q),   free entropy = (q + log(1 - q))/2 + alpha E log P,

    with E g^2 = 1/(noise + T - Sigma) and E log P = -log(noise + T - Sigma)/2 + const for linear labels. Here P is the
    probability of a label given the known part of the field, and g the derivative of log P by it. For signs y,
    P = Phi(y z sqrt(Sigma/(noise + T - Sigma))). The risk of linear labels is T - Sigma(q).

    With K `hidden_units` Sigma is the covariance S of the outputs of two samples, with full kernels as in
    `tempered_orders`, and depends on the overlap q_i of each kind of mode, of which there are c_i. The free entropy per
    weight is sum_i c_i (q_i + log(1 - q_i))/(2 K) + alpha E log P, so that q_i = r_i/(1 + r_i) with
    r_i = alpha E g^2 (K/c_i) dS/dq_i (derived here; outputs are taken as Gaussian). With linear labels this is
    `tempered_orders` at beta = 1/noise and lam = 1. The linear component then costs samples, and for every activation
    units that are alike become unstable at a finite alpha. For sign units, whose K outputs take K + 1 values, and signs
    as labels, the error of few units is overestimated, at K = 11 twofold.

    `state` chooses among stable states: the one of largest free entropy, or that of the smallest or the largest
    q. ConvergenceError where the equation has no verified solution, such as at an alpha beyond all double precision,
    or for a function with kinks at a q so near to 1 that its Hermite series is not exact.

    >>> found = bayes_optimal(NarrowNetwork(alpha=3.0, activation="erf", noise=0.01))
    >>> round(found.q, 9), round(found.bayes_risk, 9)
    (0.875265613, 0.005263121)
    >>> round(bayes_optimal(NarrowNetwork(alpha=3.0, activation="erf", noise=0.01), state="smallest_q").q, 9)
    0.0
    >>> few = NarrowNetwork(alpha=8.0, activation="sign", labels="sign", hidden_units=10, readout="equal")
    >>> round(bayes_optimal(few).gibbs_risk, 6), bayes_optimal(few).modes.round(6)
    (0.171847, array([0.967564, 0.992101]))
    """
    found = _stable(line_of(model), model.alpha)
    position = {"smallest_q": 0, "largest_q": -1}.get(state)
    return max(found, key=lambda one: one.free_entropy) if position is None else found[position]


@checked
def stable_states(model: NarrowNetwork) -> list[NarrowOptimum]:
    """Compute all stable states of a Bayes-optimal student, from small to large overlap (see `bayes_optimal`).

    Source: the equations of `bayes_optimal` (derived here, after arXiv:2507.00629).

    >>> [round(one.q, 6) for one in stable_states(NarrowNetwork(alpha=3.0, activation="erf", noise=0.01))]
    [0.0, 0.875266]
    """
    return _stable(line_of(model), model.alpha)


@checked
def bayes_curve(
    activation: Activation,
    alphas: PositiveVector,
    *,
    noise: float = 0.0,
    labels: Literal["linear", "sign"] = "linear",
    hidden_units: int | None = None,
    readout: Literal["balanced", "equal"] = "balanced",
) -> NarrowCurve:
    """Compute the Bayes-optimal errors along `alphas`, a list of sample ratios in any order (see `bayes_optimal`).

    Source: the equations of `bayes_optimal` (derived here, after arXiv:2507.00629).

    >>> bayes_curve("relu", [1.0, 2.0], noise=0.1).q.round(6)
    array([0.      , 0.482343])
    """
    model = NarrowNetwork(
        alpha=1.0, activation=activation, noise=noise, labels=labels, hidden_units=hidden_units, readout=readout
    )
    line = line_of(model)
    found = [_stable(line, float(alpha)) for alpha in alphas]
    chosen = [max(states, key=lambda one: one.free_entropy) for states in found]

    def each(name: str, states: Sequence[NarrowOptimum]) -> Array:
        return np.array([getattr(one, name) for one in states])

    names = ("q", "bayes_risk", "gibbs_risk", "free_entropy", "replicon")
    equilibrium = {name: each(name, chosen) for name in names}
    return NarrowCurve(
        **equilibrium,
        alphas=alphas,
        risk_at_smallest_q=each("bayes_risk", [states[0] for states in found]),
        risk_at_largest_q=each("bayes_risk", [states[-1] for states in found]),
        residual=max(one.residual for states in found for one in states),
        iterations=sum(one.iterations or 0 for states in found for one in states),
        converged=True,
    )


def _stable(line: Line, alpha: float) -> list[NarrowOptimum]:
    """Return all stable states at alpha; ConvergenceError where none can be verified."""
    states = line.states(alpha)
    residual = max((one.residual for one in states), default=math.nan)
    beyond = alpha > line.limit and not alpha > line.perfect
    if beyond or not residual <= OVERLAP_TOLERANCE:
        advice = f"equations are solved up to alpha = {line.limit:.6g} here: take a smaller one, or more noise"
        if line.limit == 0 and isinstance(line.kernel, HermiteKernel):
            advice = (
                "equations are solved up to alpha = 0 here, since the Hermite series of the activation ends too early: "
                "take a smoother activation, or more noise"
            )
        what = f"Bayes-optimal narrow network at alpha = {alpha:g}"
        raise ConvergenceError.of(what, alpha, residual, OVERLAP_TOLERANCE, advice=advice)
    return [_optimum(line, state, alpha) for state in states]


def _optimum(line: Line, state: State, alpha: float) -> NarrowOptimum:
    gap = line.gap_of(state)
    S = line.kernel.power - gap
    if line.linear:
        # Teacher and student are two independent samples of the posterior: the mean square of their difference is
        # twice that of either from the posterior mean.
        bayes, gibbs = gap, 2 * gap
    else:
        # Signs of two Gaussian fields differ with probability angle/pi. The arccosine of a correlation near 1 would
        # lose half of the digits of that angle.
        bayes = math.atan2(math.sqrt(gap), math.sqrt(S)) / math.pi
        gibbs = 2 * math.asin(math.sqrt(gap / (2 * line.kernel.power))) / math.pi
    return NarrowOptimum(
        state.q,
        bayes,
        gibbs,
        line.potential(state, alpha),
        line.replicon_of(state, alpha),
        line.modes_of(state),
        residual=state.residual,
        iterations=state.evaluations,
        converged=True,
    )
