"""The entropy of solutions of a perceptron with discrete weights, at one load and along a curve."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from theory.core import Array, Count, DataFrame, Positive, PositiveVector, SolverResult, checked, table
from theory.models import DiscretePerceptron
from theory.numerics import ConvergenceError, Solution, WithReplicon, refuse_unstable
from theory.numerics.extremes import within_range
from theory.perceptron.discrete_norms import likely_maxima, log_mean_number
from theory.perceptron.discrete_saddle import Saddle, scale_of

ADVICE_UNSOLVED = "take an alpha nearer to the capacity or below it, or levels that are less close to each other"
ROUNDING = 1e-9  # of an entropy
# Difference of the logarithms of norms below which a solution is that of the guess it was reached from.
NEAR_LOG_NORM = 1.0
EQUAL_SOLUTIONS = 1e-5  # relative difference of norms and overlaps below which two solutions are the same one


@dataclass(frozen=True, eq=False, repr=False)
class SolutionEntropy(WithReplicon, SolverResult):
    """The typical number exp(N `entropy`) of solutions, with the orders that belong to it (replica symmetry).

    `entropy` is in nats per weight and `slope` its derivative with alpha. `norm` is Q = <W^2> and `overlap` is q, the
    mean product W_i W'_i of two independent solutions, both in the squared units of the levels; `norm_conjugate` and
    `overlap_conjugate` are Qhat and qhat of `solution_entropy`.

    `replicon` is 1 - alpha E[f''^2] E[var(w)^2], one minus the parameter of de Almeida and Thouless, where f(h) =
    log H((margin - h)/sqrt(Q - q)), so that f'' = -(R^2 - u R)/(Q - q), and var(w) is the variance of one weight in its
    random field. The solution is locally stable where it is positive.

    The equations can have several solutions, of long and of short weight vectors, where some levels are much smaller
    than others. This is the one of the largest entropy, and `other` is the one of the next largest, which describes
    solutions of another norm that are fewer by a factor exponential in N; None where there is no other.
    """

    entropy: float
    slope: float
    norm: float
    overlap: float
    norm_conjugate: float
    overlap_conjugate: float
    replicon: float
    other: "SolutionEntropy | None" = field(default=None, repr=False)

    @property
    def has_solutions(self) -> bool:
        """Whether the entropy is positive; below zero there are typically no solutions, and the orders mean nothing."""
        return self.entropy > 0


@dataclass(frozen=True, eq=False, repr=False)
class EntropyCurve(SolverResult):
    """The entropy of solutions at several loads; all arrays (n,) are in the order in which the loads were given.

    The fields are those of `SolutionEntropy`, and `others` those of its `other`, one for each load. `residual` is the
    largest residual of all loads.
    """

    alphas: Array
    entropies: Array
    slopes: Array = field(repr=False)
    norms: Array = field(repr=False)
    overlaps: Array = field(repr=False)
    replicons: Array
    others: "tuple[SolutionEntropy | None, ...]" = field(repr=False)

    def to_frame(self) -> DataFrame:
        """Return a table with one row for each load; needs pandas."""
        return table(
            alpha=self.alphas, entropy=self.entropies, slope=self.slopes, norm=self.norms, overlap=self.overlaps,
            replicon=self.replicons,
        )  # fmt: skip


@checked
@within_range
def solution_entropy(
    model: DiscretePerceptron, *, tol: Positive = 1e-12, max_iter: Count = 500, check: bool = True
) -> SolutionEntropy:
    """Compute the entropy of solutions per weight, lim E log Z/N, in replica symmetry (arXiv:1602.04129).

    With u = (margin - sqrt(q) z)/sqrt(Q - q), H(u) = P(z > u), R = phi(u)/H(u) and z ~ N(0, 1), it is the extremum of

        -Qhat Q/2 + qhat q/2 + E log sum_w exp((Qhat - qhat) w^2/2 + sqrt(qhat) z w) + alpha E log H(u)

    over Q, q, Qhat and qhat: qhat = alpha E R^2/(Q - q), Qhat = alpha E[R u]/(Q - q), Q = E<w^2>, q = E<w>^2.

    Where several solutions of these equations are found that of the largest entropy is returned, with the next one as
    its `other`: the length of weight vectors is free, and those made of a few large levels compete with those made of
    small ones, which have a negative margin in common, or an alphabet of their own. The search starts from weights
    without patterns, and from every maximum of the entropy of solutions of a given norm Q, on a grid of norms.

    The entropy falls with alpha, and where it vanishes the solutions vanish (`zero_entropy_capacity`): a negative value
    says that there are typically none. ConvergenceError where the equations were not solved to `tol` within `max_iter`
    steps, and where their solution is unstable (`replicon` < 0), so that its entropy is not the true one; check=False
    returns it nevertheless.

    >>> found = solution_entropy(DiscretePerceptron(levels=(-1, 1), alpha=0.4))
    >>> round(found.entropy, 12), round(found.overlap, 9), round(found.replicon, 6)
    (0.396455051105, 0.255842938, 0.823006)
    """
    return dominant(model, None, tol, max_iter, check)[0]


@checked
@within_range
def entropy_curve(
    levels: Sequence[float], alphas: PositiveVector, margin: float = 0.0, *, tol: Positive = 1e-12, check: bool = True
) -> EntropyCurve:
    """Compute the entropy of solutions at every load of `alphas`, each started from its neighbor (`solution_entropy`).

    ConvergenceError as there; check=False returns unstable and unverified points as well. ValueError for no loads, and
    for one that is not positive.

    Source: the equations of `solution_entropy`, after arXiv:1602.04129, of which the abstract was read.

    >>> entropy_curve([-1, 1], [0.2, 0.8]).entropies.round(6).tolist()
    [0.55012, 0.035306]
    """
    problem = DiscretePerceptron(levels=levels, alpha=1.0, margin=margin)
    points: list[SolutionEntropy | None] = [None] * len(alphas)
    start: Array | None = None
    for k in np.argsort(alphas):
        points[k], start = dominant(replace(problem, alpha=float(alphas[k])), start, tol, 500, check)

    def column(name: str) -> Array:
        return np.array([getattr(one, name) for one in points])

    return EntropyCurve(
        alphas, column("entropy"), column("slope"), column("norm"), column("overlap"), column("replicon"),
        tuple(one.other for one in points if one is not None),
        residual=float(column("residual").max()), iterations=int(column("iterations").sum()),
        converged=bool(column("converged").all()),
    )  # fmt: skip


def dominant(
    model: DiscretePerceptron, start: Array | None, tol: float, max_iter: int, check: bool
) -> tuple[SolutionEntropy, Array]:
    """Solve one load for the solution of the largest entropy; the second value is a guess for others, as in `point`."""
    first, solution = point(model, start, tol, max_iter)
    found = [(first, solution.value)] if first.converged else []
    found += [pair for pair in rivals(model, tol, max_iter) if not any(same(pair[1], x) for _, x in found)]
    if not found:
        if check:
            more = "raise max_iter, or " if solution.status == "max_iter" else ""
            raise ConvergenceError(_problem(model), solution, more + ADVICE_UNSOLVED)
        return first, solution.value
    found.sort(key=lambda pair: -pair[0].entropy)
    best, x = found[0]
    if len(found) > 1:
        best = replace(best, other=found[1][0])
    if check and not best.stable:
        refuse_broken(best, _problem(model), tol, "a smaller alpha")
    return best, x


def point(
    model: DiscretePerceptron, start: Array | None, tol: float, max_iter: int
) -> tuple[SolutionEntropy, Solution[Array]]:
    """Solve one load from one guess of (Q, q) in units of the largest level, which the second value is as well.

    Nothing is raised: `converged` and `stable` say what was found.
    """
    equations, solution = Saddle.of(model).solved(start, tol, max_iter)
    return _evaluated(model, equations, solution), solution


def rivals(model: DiscretePerceptron, tol: float, max_iter: int, finer: int = 1) -> list[tuple[SolutionEntropy, Array]]:
    """Return the solutions near the maxima of the entropy at given norms, each once, with their (Q, q).

    Their accuracy is relative to their norm, which may be small. A point whose entropy is above that of the mean number
    of solutions is not the typical one, and is left out.
    """
    found: list[tuple[SolutionEntropy, Array]] = []
    equations = Saddle.of(model)
    for guesses in likely_maxima(equations, finer):
        for guess in guesses:
            one, solution = point(model, guess, tol * float(guess[0]), max_iter)
            y = solution.value
            if not one.converged:
                continue
            is_new = not any(same(y, x) for _, x in found)
            if is_new and one.entropy <= log_mean_number(equations, float(y[0])) + ROUNDING:
                found.append((one, y))
            if abs(math.log(y[0] / guess[0])) < NEAR_LOG_NORM:
                break
    return found


def same(x: Array, y: Array) -> bool:
    """Tell whether two (Q, q) are those of one solution."""
    return bool(np.max(np.abs(x - y)) <= EQUAL_SOLUTIONS * max(x[0], y[0]))


def refuse_broken(found: Any, problem: str, tol: float, change: str) -> None:
    """Raise the ReplicaSymmetryError of a result whose replicon is not positive; `change` says what to take instead."""
    advice = (
        f"replica symmetry is broken here, so that the true entropy is another one: take {change}, or check=False for "
        f"the unstable solution"
    )
    refuse_unstable(found, found.replicon, problem, tol, advice)


def _problem(model: DiscretePerceptron) -> str:
    return f"entropy of solutions at alpha = {model.alpha:g} with {model.n_levels} levels, margin = {model.margin:g}"


def _evaluated(model: DiscretePerceptron, equations: Saddle, solution: Solution[Array]) -> SolutionEntropy:
    """Compute entropy and replicon at a saddle point, in the units of the model."""
    norm, overlap = (float(one) for one in solution.value)
    square = scale_of(np.asarray(model.levels)) ** 2
    conjugates = equations.conjugates(norm, overlap)
    weights = equations.weight_moments(conjugates)
    slope = equations.log_success(norm, overlap)
    entropy = (
        -conjugates.square * norm
        - conjugates.linear * (norm - overlap) / 2
        + weights.log_partition
        + model.alpha * slope
    )
    return SolutionEntropy(
        entropy,
        slope,
        square * norm,
        square * overlap,
        (2 * conjugates.square + conjugates.linear) / square,
        conjugates.linear / square,
        1 - conjugates.response * weights.response,
        residual=solution.residual,
        iterations=solution.iterations,
        converged=solution.converged,
    )
