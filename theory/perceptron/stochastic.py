"""The replica-symmetric equilibrium of stochastic binary weights: loss, errors, overlaps, entropy, stability."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from theory.core import Array, SolverResult, checked
from theory.models.perceptron import StochasticPerceptron
from theory.numerics import ConvergenceError, Solution, WithReplicon, require_stable, solve_fixed_point, verified
from theory.numerics.extremes import within_range
from theory.perceptron.stochastic_averages import PatternAverage, WeightAverage, pattern_average, weight_average

if TYPE_CHECKING:
    from theory.numerics.solution import Status

ADVICE = "take a squared_norm farther from 0 and 1, a smaller beta, or a larger tol"
MIN_OVERLAP_SHARE = 1e-25  # of the squared norm: a smaller overlap is the square of means that are lost in rounding
LEAST_IMAGE = 1e-40  # such rounding may also be zero, which has no logarithm
OVERLAP_LOST = "alpha and beta are so small that q is lost in rounding: take larger ones"


@dataclass(frozen=True, eq=False, repr=False)
class StochasticSaddlePoint(WithReplicon, SolverResult):
    """Order parameters of the Gibbs measure of stochastic weights, and the observables of a typical sample of means.

    `q` is the overlap m.m'/N of two samples m and m' of the means, `qhat` is its conjugate, and `norm_conjugate` is the
    conjugate of the squared norm. `loss` is the negative log-likelihood per weight, L/N, without the factor beta.
    `binarized_error` is the fraction of patterns that the network with weights sign(m_i) misclassifies,
    `mean_magnitude` the mean of |m_i|, and `sign_overlap` the overlap of m with the signs of an independent sample.
    `free_entropy` is the limit of (1/N) E log Z, with Z the integral of exp(-beta L) over the cube [-1, 1]^N at the
    given norm.

    `replicon` = 1 - alpha E_z[((var u - 1)/(Q - q))^2] E_z[(var m)^2], with Q the squared norm. The first average is
    over the response of a pattern's mean output to the field of the other replicas, where var u is the variance of the
    Gaussian part of the pattern's field under the measure tilted by Phi^beta; the second is over the response of the
    mean of m to its own field. The saddle point is stable where the replicon is above 0. The formula follows from the
    growth of a small difference between two overlaps, as in the stability of one step of replica symmetry breaking,
    whose equations reproduce its value in the tests; it tends to 1 where beta or alpha vanish. `residual` is that of
    the equation for log(q/(Q - q)), on grids twice as fine.
    """

    model: StochasticPerceptron = field(repr=False)
    q: float
    qhat: float
    norm_conjugate: float
    loss: float
    binarized_error: float
    mean_magnitude: float
    sign_overlap: float
    free_entropy: float
    replicon: float


@checked
@within_range
def stochastic_saddle_point(
    model: StochasticPerceptron, *, tol: float = 1e-9, max_iter: int = 200, check: bool = True
) -> StochasticSaddlePoint:
    """Solve for the replica-symmetric saddle point of stochastic binary weights (derived here, after arXiv:1710.09825).

    With Q the squared norm, z and u standard Gaussian, h = sqrt(q) z + sqrt(Q - q) u and A = norm_conjugate - qhat, the
    equations are: qhat = alpha E_z[<u>^2]/(Q - q), where u is tilted by Phi(h/sqrt(1 - Q))^beta; A is such that E_z
    <m^2> = Q; and q = E_z <m>^2, where m has the density exp(A m^2/2 + sqrt(qhat) z m) on [-1, 1]. This is a map of q
    alone, whose fixed point is found by mixed iterations. The fraction of patterns that the signs misclassify is the
    average of H(mu/sqrt(v)), with p1 = E_z <|m|>, p0 = E_z <m><sign m>, mu = p0 z/sqrt(q) + (p1 - p0) u/sqrt(Q - q) and
    v = 1 - p0^2/q - (p1 - p0)^2/(Q - q), where H is the upper tail of a Gaussian: the fields of the signs and of the
    means are correlated Gaussians.

    `tol` bounds the residual in log(q/(Q - q)), relative to 1 + its size, at the fixed point on grids of twice as many
    panels. ConvergenceError where that is not reached within `max_iter` iterations, and where the parameters are too
    extreme; ReplicaSymmetryError, a subclass of it, where the point is unstable. With check=False an unstable or
    inaccurate point is returned.

    >>> from theory.models import StochasticPerceptron
    >>> point = stochastic_saddle_point(StochasticPerceptron(alpha=0.55, squared_norm=0.7, beta=20))
    >>> round(point.q, 8), round(point.loss, 8), round(point.binarized_error, 8), round(point.replicon, 4)
    (0.59134999, 0.06748026, 0.02184982, 0.4282)
    """
    equations = _Equations(model)
    problem = f"saddle point of {model}"
    solution = solve_fixed_point(
        equations.image, np.zeros(1), tol=tol / 10, max_iter=max_iter, problem=problem, check=False, advice=ADVICE
    )
    q = equations.overlap(solution.value)
    fine, (patterns, weights) = _Equations(model, refine=2, curvature=equations.curvature), equations.averages(q)
    gap = float(abs(fine.image(solution.value) - solution.value)[0] / (1 + abs(solution.value[0])))
    otherwise: Status = "unverified" if solution.converged else solution.status
    advice = ADVICE
    if q < MIN_OVERLAP_SHARE * model.squared_norm:
        gap, advice = np.inf, OVERLAP_LOST  # two grids whose rounding agrees prove nothing
    found = verified(Solution.judged(q, gap, tol, solution.iterations, otherwise=otherwise), problem, check, advice)
    result = _observables(model, q, equations.qhat(patterns, q), equations.curvature, patterns, weights, found)
    return require_stable(result, result.replicon, problem, tol, check)


class _Equations:
    """The map of x = log(q/(Q - q)); it remembers the curvature A, from which the next search for it starts."""

    def __init__(self, model: StochasticPerceptron, refine: int = 1, curvature: float = 0.0) -> None:
        self.model, self.refine, self.curvature = model, refine, curvature

    def overlap(self, x: Array) -> float:
        return float(self.model.squared_norm / (1 + np.exp(-x[0])))

    def image(self, x: Array) -> Array:
        _, weights = self.averages(self.overlap(x))
        mean = weights.mean(weights.m)
        image = max(float(weights.weights @ mean**2), LEAST_IMAGE)
        # Q - q as the average variance: near q = Q a difference would lose its digits.
        return np.array([np.log(image / float(weights.weights @ (weights.mean(weights.m**2) - mean**2)))])

    def qhat(self, patterns: PatternAverage, q: float) -> float:
        return float(
            self.model.alpha * (patterns.weights @ patterns.mean(patterns.u) ** 2) / (self.model.squared_norm - q)
        )

    def averages(self, q: float) -> tuple[PatternAverage, WeightAverage]:
        """Both averages at the overlap q; that of weights has the squared norm of the model."""
        patterns = pattern_average(self.model, q, self.refine)
        weights, self.curvature = _of_norm(self.model.squared_norm, self.qhat(patterns, q), self.curvature, self.refine)
        return patterns, weights


def _of_norm(Q: float, qhat: float, curvature: float, refine: int) -> tuple[WeightAverage, float]:
    """Find the curvature A with E_z <m^2> = Q, by Newton's method within the bracket known so far."""
    low, high = -np.inf, np.inf
    for _ in range(200):
        weights = weight_average(curvature, qhat, refine)
        second, fourth = (weights.mean(weights.m**k) for k in (2, 4))
        gap = float(weights.weights @ second) - Q
        low, high = (low, curvature) if gap > 0 else (curvature, high)
        slope = float(weights.weights @ (fourth - second**2)) / 2
        largest = 1 + 2 * abs(curvature)
        step = float(np.clip(-gap / max(slope, 1e-300), -largest, largest))
        if abs(step) <= 1e-13 * (1 + abs(curvature)) or low == high:
            return weights, curvature
        new = curvature + step
        if not low < new < high:
            new = (low + high) / 2
            if new in (low, high):
                return weights, curvature
        curvature = new
    what = "norm of stochastic weights"
    raise ConvergenceError.of(what, curvature, abs(gap), 0.0, 200, status="max_iter", advice=ADVICE)


def _observables(
    model: StochasticPerceptron,
    q: float,
    qhat: float,
    curvature: float,
    patterns: PatternAverage,
    weights: WeightAverage,
    solution: Solution[float],
) -> StochasticSaddlePoint:
    alpha, Q = model.alpha, model.squared_norm
    mean, sign = weights.mean(weights.m), weights.mean(np.sign(weights.m))
    p1, p0 = float(weights.weights @ weights.mean(abs(weights.m))), float(weights.weights @ (mean * sign))
    center = p0 * patterns.z[:, None] / np.sqrt(q) + (p1 - p0) * patterns.u / np.sqrt(Q - q)
    variance = 1 - p0**2 / q - (p1 - p0) ** 2 / (Q - q)
    wrong = patterns.mean(ndtr(-center / np.sqrt(variance)))
    moment = patterns.mean(patterns.u)
    output = (patterns.mean((patterns.u - moment[:, None]) ** 2) - 1) / (Q - q)
    spread = weights.mean(weights.m**2) - mean**2
    entropy = (qhat * (q - Q) - curvature * Q) / 2 + weights.weights @ weights.log_norm
    return StochasticSaddlePoint(
        model=model,
        q=q,
        qhat=qhat,
        norm_conjugate=curvature + qhat,
        loss=-alpha * float(patterns.weights @ patterns.mean(patterns.log_probability)),
        binarized_error=float(patterns.weights @ wrong),
        mean_magnitude=p1,
        sign_overlap=p0,
        free_entropy=float(entropy + alpha * patterns.weights @ patterns.log_norm),
        replicon=1 - alpha * float(patterns.weights @ output**2) * float(weights.weights @ spread**2),
        residual=solution.residual,
        iterations=solution.iterations,
        converged=solution.converged,
    )
