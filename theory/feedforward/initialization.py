"""How deep signals and gradients travel in binary networks at initialization, and whether they can be critical."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy.optimize import brentq

from theory.core.arguments import checked
from theory.core.results import Result, SolverResult
from theory.feedforward.layer_map import sign_freedom, sign_overlap
from theory.feedforward.tanh_averages import OneField, TwoFields
from theory.models import BinaryNetwork
from theory.models.feedforward import BinaryNeurons
from theory.numerics import Solution

RESIDUAL_TOLERANCE = 1e-12  # of the stationary fields


@dataclass(frozen=True, eq=False, repr=False)
class SignalFixedPoint(SolverResult):
    """The stationary variance q and correlation c of the fields of two inputs, and how fast they are approached.

    `correlation_slope` chi is the derivative dc'/dc of the map of the correlation, `variance_slope` is dq'/dq, and
    `gradient_factor` is the factor by which the mean square of gradients shrinks from one layer to the one below.
    Deviations decay as exp(-layers/scale) with the scales -1/log(slope): `depth_scale` xi for the correlation,
    `variance_depth_scale` and `gradient_depth_scale`. They are infinite at a critical point only. `residual` is the
    larger of the relative error of q and the error of c that the equations leave.
    """

    variance: float
    correlation: float
    correlation_slope: float
    depth_scale: float
    variance_slope: float
    variance_depth_scale: float
    gradient_factor: float
    gradient_depth_scale: float


@dataclass(frozen=True, eq=False, repr=False)
class Criticality(Result):
    """How far signals can travel at the best initialization: the largest slope and depth scale over all of them.

    They belong to the limit of `mean_variance` and `bias_variance` that is named. `is_critical` says whether the slope
    reaches one, where the depth scale is infinite.
    """

    neurons: str
    is_critical: bool
    largest_slope: float
    largest_depth_scale: float
    mean_variance: float
    bias_variance: float


@checked
def signal_fixed_point(network: BinaryNetwork, *, check: bool = True) -> SignalFixedPoint:
    """Solve the stationary state of the maps of `propagate`, and compute the depth scales around it.

    Neurons "sign": q is the fixed point of its map and c = 1. With A = (2/pi) asin(q/(1 + q)) and s the mean variance,
    chi = s (2/pi)/(sqrt(1 + 2 q)(1 - s A)), which is the slope of both maps and the factor of gradients. As chi < 1 at
    every fixed point, there is one only. Without biases q = 0; chi is then the limit of small biases, by which also the
    covariance of two inputs shrinks, while their correlation stays as it is.

    Neurons "tanh": q = E tanh^2 h + B does not depend on s. The map of c is convex and below one at c = 1, so that it
    has one fixed point, with c < 1 unless s = 1. There chi = s E sech^2 h_a sech^2 h_b; gradients shrink by
    s E sech^4 h. Without biases q = c = 0, chi = s, and q falls as one over twice the number of layers.

    Both roots are bracketed, and q is found in its logarithm. ConvergenceError, or with check=False a result that says
    so, where the residual exceeds 1e-12.

    >>> from theory.models import BinaryNetwork
    >>> point = signal_fixed_point(BinaryNetwork(mean_variance=0.9, bias_variance=0.1))
    >>> round(point.variance, 9), point.correlation, round(point.depth_scale, 8)
    (0.236127942, 1.0, 1.57811482)
    """
    if network.neurons == "sign":
        return _sign_fixed_point(network, check)
    return _tanh_fixed_point(network, check)


@checked
def criticality(neurons: BinaryNeurons) -> Criticality:
    """Return the largest slope and depth scale that any initialization can have, in closed form.

    Neurons "sign": chi grows with s at given q, and at s = 1 it is tan(t/2)/t with cos t = q/(1 + q), which rises from
    1/2 at q = infinity to 2/pi at q = 0. So chi <= 2/pi: there is no critical point, and no signal travels further than
    a few times 1/log(pi/2) = 2.214 layers, whatever the initialization.

    Neurons "tanh": chi <= s <= 1 with equality only at s = 1 and q = 0. The critical point is s = 1 without biases,
    where the means are +1 or -1 and the weights are not random at all.

    >>> round(criticality("sign").largest_depth_scale, 6), criticality("tanh").largest_depth_scale
    (2.214434, inf)
    """
    if neurons == "sign":
        return Criticality(neurons, False, 2 / math.pi, 1 / math.log(math.pi / 2), 1.0, 0.0)
    return Criticality(neurons, True, 1.0, math.inf, 1.0, 0.0)


def _sign_fixed_point(network: BinaryNetwork, check: bool) -> SignalFixedPoint:
    s, B = network.mean_variance, network.bias_variance

    def growth(log_q: float) -> float:
        q = math.exp(log_q)
        return math.log((s * sign_overlap(q, 1.0) + B) / sign_freedom(network, q)) - log_q

    # The map lies above B, and below 4 (1 + B)^2 it crosses the diagonal, since q'/sqrt(q) tends to pi (1 + B)/sqrt(8).
    log_q, iterations = (-math.inf, 0) if B == 0 else _root(growth, math.log(B), math.log(4 * (1 + B) ** 2))
    q = math.exp(log_q)
    chi = s * 2 / math.pi / (math.sqrt(1 + 2 * q) * sign_freedom(network, q))
    # Near its root the logarithm of q'/q changes by no less than 1 - chi.
    residual = 0.0 if B == 0 else abs(growth(log_q)) / (1 - chi)
    scale = -1 / math.log(chi)
    return _verified((q, 1.0, chi, scale, chi, scale, chi, scale), residual, iterations, check)


def _tanh_fixed_point(network: BinaryNetwork, check: bool) -> SignalFixedPoint:
    s, B = network.mean_variance, network.bias_variance
    if B == 0:
        return _verified((0.0, float(s == 1), s, _scale(1 - s), 1.0, math.inf, s, _scale(1 - s)), 0.0, 0, check)

    def excess(log_q: float) -> float:
        return math.log(OneField(math.exp(log_q)).shrinkage / B)

    # q - E tanh^2 h = B, with a left-hand side that is below q and 2 q^2, and above q - 1.
    log_q, iterations = _root(excess, math.log(max(B, math.sqrt(B / 2))) - 1e-9, math.log(1 + B))
    q = math.exp(log_q)
    field = OneField(q)
    residual = abs(field.shrinkage / B - 1) / (q * field.shrinkage_slope / B)
    square, e = field.square, 0.0

    def imbalance(e: float) -> float:
        # q (c - c') at c = 1 - e, without the parts of both that cancel.
        return s * TwoFields(q, e).shrinkage(square) - (1 - s) * ((1 - e) * q - B)

    if s < 1:
        e, more = _root(imbalance, 0.0, 1.0)
        iterations += more
    lost = (1 - s) + s * TwoFields(q, e).slope_loss
    if s < 1:
        residual = max(residual, abs(imbalance(e)) / (q * lost))
    dimmed = (1 - s) + s * field.gradient_loss
    flattened = field.shrinkage_slope
    values = (q, 1 - e, 1 - lost, _scale(lost), 1 - flattened, _scale(flattened), 1 - dimmed, _scale(dimmed))
    return _verified(values, residual, iterations, check)


def _root(function: Callable[[float], float], low: float, high: float) -> tuple[float, int]:
    """Return a root between two points of opposite sign, and the number of iterations."""
    for end in (low, high):  # brentq does not count the iterations where an end is the root
        if function(end) == 0:
            return end, 0
    root, evidence = brentq(function, low, high, xtol=1e-15, rtol=1e-14, full_output=True)
    return float(root), int(evidence.iterations)


def _scale(loss: float) -> float:
    """Return -1/log(1 - loss) with all digits of a small loss; the scale of a slope of zero or below vanishes."""
    if loss >= 1:
        return 0.0
    return -1 / math.log1p(-loss) if loss > 0 else math.inf


def _verified(values: tuple[float, ...], residual: float, iterations: int, check: bool) -> SignalFixedPoint:
    converged = residual <= RESIDUAL_TOLERANCE
    what = "stationary fields of a binary network"
    advice = "change mean_variance or bias_variance, if only a little"
    Solution.verified(values, residual, RESIDUAL_TOLERANCE, iterations, what=what, advice=advice, check=check)
    return SignalFixedPoint(*values, residual=residual, iterations=iterations, converged=converged)
