"""How deep signals and gradients travel in binary networks at initialization, and whether they can be critical."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy.optimize import brentq

from theory.core import Result, SolverResult, checked
from theory.feedforward.layer_map import Variance, sign_freedom, sign_overlap
from theory.feedforward.tanh_averages import OneField, TwoFields
from theory.models import BinaryNetwork
from theory.models.feedforward import BinaryNeurons, MeanSign
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

    Neurons "sign": q is the fixed point of its map and c = 1. With A = E phi^2 and s the mean variance,
    chi = s E phi'^2/(1 - s A) is the slope of the map of c and the factor of gradients. With phi = erf(h/sqrt 2), the
    default, A = (2/pi) asin(q/(1 + q)), E phi'^2 = (2/pi)/sqrt(1 + 2 q), and chi is the slope of the map of q too. With
    phi = tanh that slope is s (1 + q) A'(q)/(1 - s A). As it is below one at every fixed point, there is one only
    (for tanh checked at 400 values of q between 1e-12 and 1e15). Without biases q = 0; chi is then the limit of small
    biases, by which also the covariance of two inputs shrinks, while their correlation stays as it is.

    Neurons "tanh": q = E tanh^2 h + B does not depend on s. The map of c is convex and below one at c = 1, so that it
    has one fixed point, with c < 1 unless s = 1. There chi = s E sech^2 h_a sech^2 h_b; gradients shrink by
    s E sech^4 h. Without biases q = c = 0, chi = s, and q falls as one over twice the number of layers.

    Source: for signs the maps, chi and xi are those of arXiv:1902.00177, eqs. 12-19, which leave phi open. Derived
    here: the averages for the two phi, the derivatives of the maps for tanh neurons, and that there is one fixed point.
    Both roots are bracketed, and q is found in its logarithm. ConvergenceError, or with check=False a result that says
    so, where the residual exceeds 1e-12.

    >>> from theory.models import BinaryNetwork
    >>> point = signal_fixed_point(BinaryNetwork(mean_variance=0.9, bias_variance=0.1))
    >>> round(point.variance, 9), point.correlation, round(point.depth_scale, 8)
    (0.236127942, 1.0, 1.57811482)
    """
    if network.neurons == "sign" and network.phi == "tanh":
        return _smooth_sign_fixed_point(network, check)
    if network.neurons == "sign":
        return _erf_fixed_point(network, check)
    return _tanh_fixed_point(network, check)


@checked
def criticality(neurons: BinaryNeurons, phi: MeanSign = "erf") -> Criticality:
    """Return the largest slope and depth scale that any initialization can have, in closed form.

    Neurons "sign" with phi "erf": chi grows with s at given q, and at s = 1 it is tan(t/2)/t with cos t = q/(1 + q),
    which rises from 1/2 at q = infinity to 2/pi at q = 0. So chi <= 2/pi: there is no critical point, and no signal
    travels further than a few times 1/log(pi/2) = 2.214 layers, whatever the initialization.

    Neurons "sign" with phi "tanh": chi = s E sech^4/(1 - s E tanh^2) is at most E sech^4/E sech^2, which is one at
    q = 0 and smaller elsewhere. The critical point is s = 1 without biases.

    Neurons "tanh": chi <= s <= 1 with equality only at s = 1 and q = 0. The critical point is s = 1 without biases,
    where the means are +1 or -1 and the weights are not random at all. Derived here from the slopes of
    `signal_fixed_point`; arXiv:1902.00177 states the edge of chaos of the deterministic surrogate near s = 1 without
    biases, and that its sampled one has none for binary neurons. ValueError for another phi than "erf", which these
    neurons do not read.

    >>> round(criticality("sign").largest_depth_scale, 6), criticality("tanh").largest_depth_scale
    (2.214434, inf)
    """
    if neurons == "tanh" and phi != "erf":
        raise ValueError(f"phi must be 'erf' unless neurons is 'sign', got {phi!r} with {neurons!r}")
    if neurons == "sign" and phi == "erf":
        return Criticality(neurons, False, 2 / math.pi, 1 / math.log(math.pi / 2), 1.0, 0.0)
    return Criticality(neurons, True, 1.0, math.inf, 1.0, 0.0)


@checked
def critical_mean_variance(variance: Variance, phi: MeanSign = "tanh") -> float:
    """Compute the mean variance s at which sign neurons would be critical where their fields have `variance` q.

    It is s = 1/(E phi'^2 + E phi^2), the solution of chi = 1 (arXiv:1902.00177, edge of chaos of the deterministic
    surrogate). An initialization exists there only if s <= 1: with phi = tanh the edge touches this range in the one
    point s = 1, q = 0, and with the probit, where s = pi/2 at q = 0, nowhere at a finite q. ValueError for a variance
    outside [0, 1e15].

    >>> critical_mean_variance(0.0), round(critical_mean_variance(0.0, phi="erf"), 6)
    (1.0, 1.570796)
    """
    if phi == "tanh":
        return 1 / (1 - OneField(variance).slope_gap)
    return 1 / (2 / math.pi / math.sqrt(1 + 2 * variance) + sign_overlap(variance, 1.0))


def _erf_fixed_point(network: BinaryNetwork, check: bool) -> SignalFixedPoint:
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


def _smooth_sign_fixed_point(network: BinaryNetwork, check: bool) -> SignalFixedPoint:
    """Solve q (1 - s A) = s A + B for sign neurons with phi = tanh, without loss of digits at small and large q."""
    s, B = network.mean_variance, network.bias_variance
    if B == 0:
        return _verified((0.0, 1.0, *(s, _scale(1 - s)) * 3), 0.0, 0, check)

    # The map lies above B, and q - A (1 + q) below q^2.
    least = max(B, 2 * B / ((1 - s) + math.sqrt((1 - s) ** 2 + 4 * s * B)))

    def excess(log_growth: float) -> float:
        q = least * math.exp(log_growth)
        field = OneField(q)
        # q - A (1 + q), which is about q^2 for small q and sqrt(2 q/pi) for large ones.
        surplus = q * field.missing - field.square if q > 1 else field.shrinkage - q * field.square
        return math.log(((1 - s) * q + s * surplus) / B)

    # From q = 4 on E sech^2 h > 0.7/sqrt(q), so that the map lies below the diagonal at the upper end.
    log_growth, iterations = _root(excess, -1e-9, math.log(4 * (1 + B) ** 2 / least))
    q = least * math.exp(log_growth)
    field = OneField(q)
    freedom = (1 - s) + s * field.missing
    if q > 1:
        flattened = ((1 - s) + s * (field.missing - (1 + q) * field.square_slope)) / freedom
    else:
        flattened = ((1 - s) + s * (field.shrinkage_slope - field.square - q * field.square_slope)) / freedom
    residual = abs(excess(log_growth)) * B / (q * freedom * flattened)
    lost = ((1 - s) + s * field.slope_gap) / freedom
    chi, scale = 1 - lost, _scale(lost)
    return _verified((q, 1.0, chi, scale, 1 - flattened, _scale(flattened), chi, scale), residual, iterations, check)


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
