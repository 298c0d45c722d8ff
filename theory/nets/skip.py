"""Stacks with skip connections: the plateau at the best factored two-body fit, and when each lower layer leaves it.

With small weights the squares of the lower layers are smaller still, so that the last layer reads the inputs alone and
learns first, as one layer of factored attention would. The loss then rests at the least that one such layer can reach,
until the squares of the lower layers have grown; their growth is a flow of its own, which blows up after a finite time.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, minres
from scipy.special import log_softmax, xlogy

from theory.core import Array, Count, Positive, SolverResult, checked
from theory.models import FactoredStack
from theory.nets.blow_up import blow_up
from theory.nets.law import Contexts, Data, contexts_of, law_of, require_same_sizes
from theory.nets.leading_gain import LeadingGain, OfContexts, packed
from theory.numerics import ConvergenceError

Loss = Callable[[Array], tuple[float, Array]]  # a loss and its gradient
LOWER_DEGREE = 4  # of Y_l^2 in the attention and the values of its layer
SCALES = (0.3, 1.0)  # of the random starts of a fit, in turn
ROUNDING_OF_LOSS = 1e-13  # nats, by which a floor may exceed the entropy of the data where it has learned everything
EXACT_LOSS = 1e-10  # nats, likewise where the gradient of the descent is as long as what is left
MAX_POLISHES = 30  # Newton steps after the best descent, each of which at least halves the gradient
MAX_POLISHED = 1e-4  # length of a gradient, beyond which a descent has not come to the minimum
GRADIENT_ROUNDING = 1e-13  # length of a gradient that is rounding
DIFFERENCE = 1e-5  # of weights of order one, over which gradients are compared
OWN_ERROR = 1e-2  # length of that gradient, relative to the root of what is left, from which on the descent left it


@dataclass(frozen=True, eq=False, repr=False)
class FactoredFloor(SolverResult):
    """The least masked loss that one layer of factored attention was found to have.

    `loss` is in nats, the mean over sites, `layer` the stack of one layer that has it, and `minima` (n_starts,) the
    losses at which the descents from all starts ended, in increasing order: the loss is not convex, so that more starts
    may find a lower minimum. `residual` is the length of the gradient at `layer`.
    """

    loss: float
    layer: FactoredStack = field(repr=False)
    minima: Array = field(repr=False)
    tol: float = field(repr=False)


@checked
def factored_floor(
    model: Data,
    rng: np.random.Generator,
    *,
    n_starts: Count = 8,
    fields: bool = False,
    tol: Positive = 1e-6,
    max_iter: Count = 5000,
) -> FactoredFloor:
    """Compute the least masked loss of one layer of factored attention, z_i = sum_(j != i) A_ij V x_j.

    This is the first plateau that stacks with skip connections come to from small weights. It lies above the two-body
    floor of `theory.potts.k_body_floor`, whose couplings of every pair are free. Each of `n_starts` descents (L-BFGS)
    goes from random weights of variance 0.3^2 or 1 over L and C to a minimum; `fields` adds free logits to every site.
    The minimum is returned with |A| = |V|.

    `model` is a model that can be enumerated, an enumeration, or `Sequences`. Source: the conditionals of one factored
    layer are those of arXiv:2410.19637, eq. 1; their least masked loss is searched here. The gradient at the end of the
    best descent, where rounding hides that the loss still falls, is shortened by Newton's method. ValueError for a
    model that is too large. ConvergenceError where a gradient longer than `tol` is left: the loss of few sequences may
    have no minimum at finite weights, and gradients below about 1e-14 are rounding.

    >>> from theory.models import PottsModel
    >>> chain = PottsModel([[0, 1, 0], [1, 0, 1], [0, 1, 0]], [[1, 0], [0, 1]])
    >>> found = factored_floor(chain, np.random.default_rng(0), n_starts=2)
    >>> from theory.potts import k_body_floor
    >>> abs(found.loss - k_body_floor(chain, 2).loss) < 1e-9  # the couplings of this model are factored
    True
    """
    law = law_of(model)
    contexts, L, C = contexts_of(law, np.zeros((law.n_sites, law.n_colors))), law.n_sites, law.n_colors
    loss = _one_layer_loss(contexts, L, C, fields)
    ends = []
    for start in range(n_starts):
        first = FactoredStack.random(1, L, C, SCALES[start % len(SCALES)], rng)
        theta = np.concatenate([packed(first.attentions, first.values), np.zeros(L * C if fields else 0)])
        options = {"maxiter": max_iter, "maxfun": 5 * max_iter, "ftol": 1e-16, "gtol": tol / 10, "maxcor": 30}
        ends.append(minimize(loss, theta, jac=True, method="L-BFGS-B", options=options))
    best, iterations = min(ends, key=lambda one: float(one.fun)), sum(int(one.nit) for one in ends)
    x, value, residual, steps = _polished(loss, best.x, tol)
    iterations += steps
    if residual > tol:
        what, advice = "factored_floor", "raise max_iter, or take more sequences"
        if not residual > 1e3 * GRADIENT_ROUNDING:
            advice = f"rounding hides gradients shorter than about {residual:.1g}: take a larger tol"
        raise ConvergenceError.of(what, value, residual, tol, iterations, status="max_iter", advice=advice)
    A, V = (x[cut].reshape(shape) for cut, shape in _cuts(L, C))
    np.fill_diagonal(A, 0.0)  # the descents leave it at their starts, since a masked site reads nothing of itself
    ratio = _balance(A, V)
    layer = FactoredStack([A * ratio], [V / ratio], x[L * L + C * C :].reshape(L, C) if fields else None)
    minima = np.array(sorted(value if one is best else float(one.fun) for one in ends))
    return FactoredFloor(value, layer, minima, tol, residual=residual, iterations=iterations, converged=True)


def _polished(loss: Loss, x: Array, tol: float) -> tuple[Array, float, float, int]:
    """Shorten the gradient at the end of a descent to `tol` by Newton's method; the steps come last.

    A descent ends where rounding hides that the loss still falls, at a gradient of about 1e-8, since a loss is flat at
    its minimum and a gradient is not. Steps solve for the gradient alone, by MINRES with products of the Hessian from
    differences of gradients: directions in which the loss is constant, as a factor of A that V is divided by, have no
    share in it. They end where they no longer halve the gradient.
    """
    value, gradient = loss(x)
    size, steps = float(np.linalg.norm(gradient)), 0
    while tol < size < MAX_POLISHED and steps < MAX_POLISHES:
        unit = DIFFERENCE * (1 + float(np.linalg.norm(x)))

        def product(v: Array, x: Array = x, unit: float = unit) -> Array:
            step = unit / max(float(np.linalg.norm(v)), 1e-300)
            return np.asarray((loss(x + step * v)[1] - loss(x - step * v)[1]) / (2 * step))

        hessian = LinearOperator((len(x), len(x)), matvec=product, dtype=float)
        step, _ = minres(hessian, gradient, rtol=1e-6, maxiter=2 * len(x))
        new, steps = x - step, steps + 1
        below, slope = loss(new)
        length = float(np.linalg.norm(slope))
        if not (length < size / 2 and below <= value + ROUNDING_OF_LOSS):
            break
        x, value, gradient, size = new, min(value, below), slope, length
    return x, value, size, steps


@dataclass(frozen=True, eq=False, repr=False)
class LowerLayers(SolverResult):
    """When the lower layers of a stack with skip connections leave the plateau at which the last layer has learned.

    From weights eps theta_0 the lower layer l leaves at the time eps^-2 times `blow_up_times`[l], (N - 1,), up to a
    factor 1 + o(1); it is infinite where nothing grows. `residual` is the largest relative change of a time if the flow
    is integrated with ten times the tolerance, `iterations` the number of gradients.
    """

    blow_up_times: Array
    tol: float = field(repr=False)

    @property
    def first(self) -> int:
        """The number, from 1, of the lower layer that leaves first."""
        return int(np.argmin(self.blow_up_times)) + 1

    @checked
    def time(self, scale: Positive) -> float:
        """Compute the time at which the first lower layer leaves, from `scale` times the start, for a small scale."""
        return float(self.blow_up_times.min()) / scale / scale  # a square may overflow, or be zero


@checked
def lower_layers(
    model: Data, stack: FactoredStack, plateau: FactoredStack, *, tol: Positive = 1e-5, max_evaluations: Count = 100_000
) -> LowerLayers:
    """Compute how long the lower layers of a small stack with skip connections leave the last one at its plateau.

    The last layer has learned what it can alone: `plateau` is the layer of `factored_floor`, or any minimum of that
    loss. To leading order the squares of the lower layers lower the loss by S = sum_l s(A_l, V_l) with

        s(A, V) = (1/L) sum_i E[(x_i - p_i) . sum_j A*_ij V* (A X_0 V^T)_j^2],

    where A*, V* and the predictions p are those of the plateau; the diagonal of A*, which one layer never reads and
    never learns, is as small as its start, and taken for zero. Every lower layer has the same s, of degree four in its
    weights, and none acts on another, so that each blows up on its own after eps^-2 T_l. Which of them moves first is
    decided by its start, not by its place in the stack; the last layer has moved before, at `plateau_rate`. Where the
    plateau has learned all that the data say, p are their conditional laws, and no layer ever leaves. Times have the
    digits of the plateau: the lower the `tol` of `factored_floor`, the more. Derived here: the loss of the plateau is
    expanded to first order in the squares that the skip connections add to what the last layer reads, and its flow
    blows up as in `escape_time`.

    The last layer of `stack` is not used. `model` is a model that can be enumerated, an enumeration, or `Sequences`.
    ValueError for a stack without skip connections or lower layers, for lower layers without weights, where sizes
    differ, and for a plateau that is no minimum. ConvergenceError where the residual exceeds `tol`, or after
    `max_evaluations` gradients.

    >>> from theory.models import PottsModel
    >>> chain = PottsModel([[0, 1, 0], [1, 0, 1], [0, 1, 0]], [[1, 0], [0, 1]], [[0.5, 0]] * 3)
    >>> plateau = factored_floor(chain, np.random.default_rng(0), n_starts=2)
    >>> stack = FactoredStack.deterministic(n_layers=3, n_sites=3, n_colors=2, skip=True)
    >>> found = lower_layers(chain, stack, plateau.layer)
    >>> found.blow_up_times.round(2), found.first
    (array([136.81, 254.83]), 1)
    """
    if not stack.skip or stack.n_layers < 2:
        raise ValueError(f"stack must have skip connections and at least two layers, got {stack}")
    if plateau.n_layers != 1:
        raise ValueError(f"plateau must have one layer, got {plateau}")
    law = law_of(model)
    for each in (stack, plateau):
        require_same_sizes(law, each)
    contexts = contexts_of(law, np.zeros((law.n_sites, law.n_colors)))
    gain, learned = _LowerGain(contexts, plateau), _has_learned_everything(contexts, plateau)
    times, residuals, evaluations = [], [], 0
    for A, V in zip(stack.attentions[:-1], stack.values[:-1], strict=True):
        if not (A.any() and V.any()):
            raise ValueError("stack must have weights in every layer: from zero the flow does not move")
        if learned:  # what is left of the data is rounding, and would give a time all the same
            times.append(math.inf)
            residuals.append(0.0)
            continue
        found = blow_up("lower_layers", gain, FactoredStack([A], [V]), LOWER_DEGREE, tol, max_evaluations)
        times.append(math.exp(found.log_time) if math.isfinite(found.log_time) else math.inf)
        residuals.append(found.residual)
        evaluations += found.flow.evaluations
    return LowerLayers(
        np.array(times),
        tol,
        residual=max(residuals),
        iterations=evaluations,
        converged=bool(np.isfinite(times).all()),
    )


class _LowerGain(LeadingGain):
    """The gain s of one lower layer, whose square the last layer reads as it reads the inputs."""

    def __init__(self, contexts: Contexts, plateau: FactoredStack) -> None:
        surplus = contexts.surplus - _predicted(contexts, plateau)[0]
        self.two = OfContexts(Contexts(contexts.inputs, surplus, contexts.first))
        A = plateau.attentions * (1 - np.eye(plateau.n_sites))
        self.last = A, plateau.values

    def gradient(self, attentions: Array, values: Array) -> tuple[float, Array, Array]:
        """Return s at the weights (1, L, L) and (1, C, C) of a layer, and its derivatives by them."""
        A, V = (np.concatenate(each) for each in zip((attentions, values), self.last, strict=True))
        gain, by_A, by_V = self.two.gradient(A, V)
        return gain, by_A[:1], by_V[:1]


def _has_learned_everything(contexts: Contexts, plateau: FactoredStack) -> bool:
    """Tell whether a plateau predicts the data exactly, but for rounding; ValueError where it is no minimum."""
    L, C, h = plateau.n_sites, plateau.n_colors, plateau.fields
    ratio = _balance(plateau.attentions, plateau.values)
    weights = packed(plateau.attentions * ratio, plateau.values / ratio)
    theta = weights if h is None else np.concatenate([weights, np.ravel(h)])
    loss, gradient = _one_layer_loss(contexts, L, C, h is not None)(theta)
    joint = contexts.surplus
    left = loss + float(np.sum(xlogy(joint, joint / joint.sum(axis=1, keepdims=True))))
    length = float(np.linalg.norm(gradient))
    if left <= ROUNDING_OF_LOSS:
        return True
    own = length > OWN_ERROR * math.sqrt(left)
    if own and left > EXACT_LOSS:
        raise ValueError(
            f"plateau must be a minimum of the loss of one layer, as from factored_floor, got a gradient of length "
            f"{length:.2g} where the loss exceeds the entropy of the data by {left:.2g}; a lower tol finds it closer"
        )
    return own


def _balance(A: Array, V: Array) -> float:
    """Return the factor of attentions, and divisor of values, with which both have the same norm."""
    return float(np.sqrt(np.linalg.norm(V) / np.linalg.norm(A))) if A.any() and V.any() else 1.0


def _predicted(contexts: Contexts, layer: FactoredStack) -> tuple[Array, float]:
    """Return P(context) p/L in all contexts, (n, C), where p are the predictions of a layer, and its masked loss."""
    A, V = layer.attentions[0], layer.values[0]
    found, loss = np.empty_like(contexts.surplus), 0.0
    for i, rows in enumerate(map(slice, contexts.first[:-1], contexts.first[1:])):
        joint = contexts.surplus[rows]
        logits = np.tensordot(A[i], contexts.inputs[:, rows], axes=1) @ V.T
        logs = log_softmax(logits if layer.fields is None else logits + layer.fields[i], axis=1)
        found[rows] = joint.sum(axis=1, keepdims=True) * np.exp(logs)
        loss -= float(np.sum(joint * logs))
    return found, loss


def _one_layer_loss(contexts: Contexts, L: int, C: int, fields: bool) -> Loss:
    """Return the masked loss and its gradient as a function of the vector of A, V and, with `fields`, the fields."""

    def loss(theta: Array) -> tuple[float, Array]:
        A, V = (theta[cut].reshape(shape) for cut, shape in _cuts(L, C))
        h = theta[L * L + C * C :].reshape(L, C) if fields else None
        predicted, value = _predicted(contexts, FactoredStack([A], [V], h))
        left = Contexts(contexts.inputs, contexts.surplus - predicted, contexts.first)
        _, by_A, by_V = OfContexts(left).gradient(A[None], V[None])
        parts = [by_A.ravel(), by_V.ravel()]
        if fields:
            parts.append(np.add.reduceat(left.surplus, contexts.first[:-1], axis=0).ravel())
        return value, -np.concatenate(parts)

    return loss


def _cuts(L: int, C: int) -> list[tuple[slice, tuple[int, int]]]:
    return [(slice(0, L * L), (L, L)), (slice(L * L, L * L + C * C), (C, C))]
