"""How long a stack with small weights stays on its first plateau, and in which direction it leaves."""

import math
from dataclasses import dataclass, field

import numpy as np

from theory.core import Array, Count, Positive, Result, SolverResult, checked
from theory.models import FactoredStack
from theory.nets.blow_up import blow_up
from theory.nets.law import Data, law_of, require_same_sizes
from theory.nets.leading_gain import gain_of, packed, rearranged, unpacked
from theory.nets.moments import second_moments_of
from theory.nets.orders import MAX_NUMBERS, order_fractions

LOG_LARGEST = 690.0  # largest logarithm of a time, so that it and its inverse are floating-point numbers


@dataclass(frozen=True, eq=False, repr=False)
class PlateauRate(Result):
    """The linear flow by which one layer leaves its first plateau.

    `rate` is the largest singular value sigma_1 of K/L, the second moments as a matrix from pairs of colors to pairs of
    sites, and `attention` (L, L), `values` (C, C) are its singular vectors u and v, of norm 1. `rates` holds all
    singular values in decreasing order.
    """

    rate: float
    attention: Array = field(repr=False)
    values: Array = field(repr=False)
    rates: Array = field(repr=False)

    @checked
    def amplitude(self, stack: FactoredStack) -> float:
        """Compute a = (u.A + v.V)/sqrt(2), the part of a layer that grows as exp(sigma_1 t).

        The layer is the one of `stack`, or the last one of a stack with skip connections, which leaves first.
        """
        stack = stack.last_layer if stack.skip else stack
        if stack.n_layers != 1 or stack.attentions.shape[1:] != self.attention.shape:
            raise ValueError(f"stack must have one layer and {len(self.attention)} sites, got {stack}")
        if stack.values.shape[1:] != self.values.shape:
            raise ValueError(f"stack must have {len(self.values)} colors, got {stack}")
        return float((np.sum(self.attention * stack.attentions) + np.sum(self.values * stack.values)) / math.sqrt(2))

    @checked
    def escape_time(self, stack: FactoredStack, gain: Positive) -> float:
        """Compute when the growing part alone, from `stack` on, has reached a `gain` sigma_1 a^2/2 in nats per site.

        This time is t = log(sqrt(2 gain/sigma_1)/|a|)/sigma_1. As the start becomes small the true time differs from it
        by a constant that depends on the data. The law is therefore one of the logarithm: t = log(1/eps)/sigma_1 + O(1)
        for a start with weights of order eps. The time is infinite where nothing grows.
        """
        if (a := abs(self.amplitude(stack))) == 0 or self.rate == 0:
            return math.inf
        return (0.5 * (math.log(2 * gain) - math.log(self.rate)) - math.log(a)) / self.rate


@checked
def plateau_rate(model: Data, *, fields: bool = False) -> PlateauRate:
    """Compute the rate sigma_1 at which one layer of factored attention leaves its first plateau.

    For small weights the gain S = (1/L) sum A_ij V_ab K_ia,jb is bilinear, so gradient flow is linear: the singular
    pairs of K/L grow as exp(sigma t). Derived here: dA/dt = (K/L) V and dV/dt = (K/L)^T A, which the singular vectors
    of K/L decouple. Time is the rate of gradient descent times the number of steps, and the loss is the mean over sites
    in nats. With `fields`, K is the covariance (see `second_moments`).

    `model` is a model that can be enumerated, an enumeration, or `Sequences`; ValueError for one that is too large.

    >>> from theory.models import PottsModel
    >>> pair = PottsModel(site_couplings=[[0, 1], [1, 0]], color_couplings=[[1, 0], [0, 1]], beta=1.0)
    >>> round(plateau_rate(pair).rate, 6)  # (e - 1)/(2 (e + 1) sqrt(2)): K has four entries of (e - 1)/(4 (e + 1))
    0.163383
    """
    law = law_of(model)
    matrix = rearranged(second_moments_of(law, law.baseline(fields))) / law.n_sites
    left, rates, right = np.linalg.svd(matrix, full_matrices=False)
    L, C = law.n_sites, law.n_colors
    return PlateauRate(float(rates[0]), left[:, 0].reshape(L, L), right[0].reshape(C, C), rates)


@dataclass(frozen=True, eq=False, repr=False)
class EscapeTime(SolverResult):
    """When and where the gradient flow of a stack of N >= 2 layers with small weights leaves its first plateau.

    From weights eps theta_0 it leaves at the time eps^-`exponent` times `blow_up_time`, up to a factor 1 + o(1), where
    `exponent` is D - 2 = 2^(N+1) - 4. `direction` is the stack of unit norm in which the flow blows up, `gain` its S,
    and `lower_bound` the time that a start of the same norm in this direction would need. `order_fractions` tells, by
    the number of other sites, what is learned at escape; None where it is too large to enumerate.

    `residual` is the relative change of the blow-up time if the flow is integrated with ten times the tolerance,
    `iterations` the number of gradients. A start that never escapes has an infinite time and `converged` False.
    """

    blow_up_time: float
    exponent: int
    lower_bound: float
    gain: float
    direction: FactoredStack
    order_fractions: Array | None = field(repr=False)
    tol: float = field(repr=False)

    @checked
    def time(self, scale: Positive) -> float:
        """Compute the time at which the flow from `scale` times the start leaves the plateau, for a small scale."""
        log_time = math.log(self.blow_up_time) - self.exponent * math.log(scale)
        if math.isfinite(log_time) and abs(log_time) > LOG_LARGEST:
            raise ValueError(f"scale must be nearer to one, got {scale:g}: the time would be exp({log_time:.4g})")
        return math.exp(log_time)


@checked
def escape_time(
    model: Data, stack: FactoredStack, *, tol: Positive = 1e-5, max_evaluations: Count = 100_000
) -> EscapeTime:
    """Compute how long the gradient flow of a small stack of N >= 2 layers stays on its first plateau.

    On the plateau the flow is d theta/dt = grad S, where S is the gain of `leading_gain`, homogeneous of degree D in
    the weights theta. It blows up after a finite time T_1(theta_0), and from eps theta_0 after eps^-(D-2) T_1. With
    theta = rho y, |y| fixed, and d tau = rho^(D-2) dt the direction y obeys an equation of its own, and T_1 is the
    integral of rho^-(D-2) over tau, whose tail follows from S at the final direction. S may be negative at the start;
    the flow first turns then. Derived here from the homogeneity of S.

    `model` is a model that can be enumerated, an enumeration, or `Sequences`. ValueError for a stack of one layer,
    which `plateau_rate` treats; for weights that are all zero; and for a stack that does not fit the data or is too
    large. ConvergenceError where the residual exceeds `tol`, or after `max_evaluations` gradients.

    About a thousand gradients are needed. With three layers a gradient takes 0.1 ms for five sites and three colors,
    and 12 ms for 2000 sequences of eight sites and ten colors; the time grows like the number of sequences times L^2 C
    (L + C).

    >>> from theory.models import PottsModel
    >>> chain = PottsModel([[0, 1, 0], [1, 0, 1], [0, 1, 0]], [[1, 0], [0, 1]], [[0.5, 0]] * 3)
    >>> found = escape_time(chain, FactoredStack.deterministic(n_layers=2, n_sites=3, n_colors=2))
    >>> found.exponent, round(found.blow_up_time, 3), found.order_fractions.round(3)
    (4, 41.108, array([0.518, 0.437, 0.045]))
    >>> round(found.time(0.1) / found.blow_up_time)
    10000
    """
    if stack.n_layers == 1:
        raise ValueError("stack must have at least two layers, got 1: one layer leaves at the rate of plateau_rate")
    if stack.skip:
        raise ValueError("stack must have no skip connections: with them its last layer leaves at plateau_rate")
    law = law_of(model)
    require_same_sizes(law, stack)
    theta = packed(stack.attentions, stack.values)
    size = float(abs(theta).max())
    if size == 0:
        raise ValueError("stack must have weights that are not all zero: from zero the flow does not move")
    gain_function = gain_of(law, stack.n_layers, stack.fields is not None)
    found = blow_up("escape_time", gain_function, stack, stack.degree, tol, max_evaluations)
    flow, escapes = found.flow, math.isfinite(found.log_time)
    if escapes:
        flow.settle()
    direction = _unit(flow.direction, stack)
    gain = flow.gain_at(packed(direction.attentions, direction.values)) if escapes else 0.0
    norm = math.log(np.linalg.norm(theta / size)) + math.log(size)
    D = stack.degree
    return EscapeTime(
        _exp(found.log_time) if escapes else math.inf,
        D - 2,
        _exp(-math.log(D * (D - 2) * gain) - (D - 2) * norm) if escapes else math.inf,
        gain,
        direction,
        _shares(direction),
        tol,
        residual=found.residual,
        iterations=flow.evaluations,
        converged=escapes,
    )


def _unit(theta: Array, stack: FactoredStack) -> FactoredStack:
    return FactoredStack(*unpacked(theta / np.linalg.norm(theta), stack))


def _shares(stack: FactoredStack) -> Array | None:
    """Return the shares of the orders in the logits; None where they cannot be enumerated, or all vanish."""
    if stack.n_layers > 2 and stack.n_sites * stack.n_colors**stack.n_sites > MAX_NUMBERS:
        return None
    found = order_fractions(stack)
    return found.fractions if found.energies.any() else None


def _exp(log_time: float) -> float:
    if abs(log_time) > LOG_LARGEST:
        raise ValueError(
            f"stack must have weights nearer to one: the time to escape would be exp({log_time:.4g}), "
            "which no floating-point number holds"
        )
    return math.exp(log_time)
