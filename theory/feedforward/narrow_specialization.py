"""When the units of a student of a narrow network begin to differ: by a first-order transition, or continuously."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from scipy.optimize import brentq

from theory.core import SolverResult, checked
from theory.feedforward.narrow_bayes import OVERLAP_TOLERANCE
from theory.feedforward.narrow_line import MIN_LOGIT, Line, Piece, State
from theory.feedforward.narrow_modes import line_of
from theory.models import NarrowNetwork
from theory.models.feedforward.narrow import Activation
from theory.numerics import ConvergenceError, Solution

MAX_ALPHA = 1e300  # up to which transitions are looked for: twice that is still a number


@dataclass(frozen=True, eq=False, repr=False)
class Specialization(SolverResult):
    """Gives the sample ratios at which the units of a Bayes-optimal student begin to differ from each other.

    From `onset` on the state q = 0 is unstable; it is infinite for activations without a second Hermite coefficient,
    unless the number of hidden units is finite: the overlap of a unit with all others, of order 1/K, then makes it so.
    From `spinodal` on there is a stable state with q > 0, of overlap `q_spinodal` where it appears, and from
    `transition` on it has the larger free entropy, with overlap `q_transition` there. `order` is "continuous" where the
    equilibrium state leaves q = 0 at the onset and q grows from 0, else "first"; in a plain continuous case all three
    are the same. `jumps` lists all sample ratios at which the equilibrium state
    changes by a jump, of which there can be more: from one specialized state to another, or to q = 1 without noise.
    """

    onset: float
    spinodal: float
    transition: float
    q_spinodal: float
    q_transition: float
    order: Literal["first", "continuous"]
    jumps: tuple[float, ...]


@checked
def specialization(
    activation: Activation,
    *,
    noise: float = 0.0,
    labels: Literal["linear", "sign"] = "linear",
    hidden_units: int | None = None,
    readout: Literal["balanced", "equal"] = "balanced",
) -> Specialization:
    """Compute at which sample ratios the units of a Bayes-optimal student specialize (see `Specialization`).

    All fixed points lie on alpha(q) = q/((1 - q) E g^2 Sigma'(q)), symbols as in `bayes_optimal`. Its minimum is the
    spinodal; for q -> 0 it tends to the onset 1/(mu_2^2 E g^2), which is (noise + T - mu_1^2)/mu_2^2 for linear labels.
    The transition is the root of the difference of two free entropies, which grows with alpha. With K `hidden_units`
    the line is that of all fixed points over the overlap of differences between units, and states of equal units, whose
    sum is known, take the place of q = 0 (see `bayes_optimal`). Derived here from the fixed points and the free entropy
    of `bayes_optimal`, for the model of arXiv:2507.00629.

    ConvergenceError where there is no specialized state that could be verified.

    >>> found = specialization("erf", noise=0.01)
    >>> found.order, round(found.spinodal, 6), round(found.transition, 6)
    ('first', 2.148334, 2.326834)
    >>> round(specialization("relu", noise=0.1).onset, 6)  # continuous
    1.199115
    """
    model = NarrowNetwork(
        alpha=1.0, activation=activation, noise=noise, labels=labels, hidden_units=hidden_units, readout=readout
    )
    line = line_of(model)
    branches = _branches(line)
    specialized = [branch for branch in branches if branch.q_at_birth is not None]
    if not specialized or line.limit == 0:
        advice = "no specialized state was found, or not all: take more noise"
        raise ConvergenceError.of("specialization", math.inf, math.inf, OVERLAP_TOLERANCE, advice=advice)
    born = min(specialized, key=lambda branch: branch.low)
    jumps = _jumps(line, branches)
    continuous = math.isfinite(line.onset) and not any(jump.alpha < line.onset for jump in jumps)
    first = _Jump(line.onset, line.alike(line.onset).q, 0.0, 0) if continuous else jumps[0]
    return Specialization(
        line.onset,
        born.low,
        first.alpha,
        born.q_at_birth or 0.0,
        first.q,
        "continuous" if continuous else "first",
        tuple(jump.alpha for jump in jumps),
        residual=max((jump.residual for jump in jumps), default=0.0),
        iterations=sum(jump.evaluations for jump in jumps),
        converged=True,
    )


@dataclass(frozen=True)
class _Branch:
    """A family of stable states between two sample ratios; `q_at_birth` is None for that of q = 0."""

    low: float
    high: float
    q_at_birth: float | None
    at: Callable[[float], State]


@dataclass(frozen=True)
class _Jump:
    """A change of the equilibrium to a state of overlap q; the residual is the larger of the two states."""

    alpha: float
    q: float
    residual: float
    evaluations: int


def _branches(line: Line) -> list[_Branch]:
    """Return all families of stable states, from small to large q."""
    found = [_Branch(0.0, line.onset, None, line.alike)]
    found += [_branch(line, piece) for piece in line.pieces]
    if math.isfinite(line.perfect):
        found.append(_Branch(line.perfect, math.inf, 1.0, lambda _alpha: State(1.0, 0.0, 0, 0.0)))
    return found


def _branch(line: Line, piece: Piece) -> _Branch:
    low, high = (math.exp(min(log_alpha, math.log(MAX_ALPHA))) for log_alpha in piece.log_alpha)
    if piece.low == MIN_LOGIT and math.isfinite(line.onset):  # the line begins at q = 1e-10, the branch at q = 0
        return _Branch(line.onset, high, 0.0, lambda alpha: line.state_on(piece, alpha))
    return _Branch(low, high, line.overlap(piece.low), lambda alpha: line.state_on(piece, alpha))


def _jumps(line: Line, branches: list[_Branch]) -> list[_Jump]:
    """Return the jumps of the equilibrium in the order of alpha: crossings of two free entropies above all others."""
    found = []
    for i, lower in enumerate(branches):
        for upper in branches[i + 1 :]:
            jump = _crossing(line, lower, upper)
            if jump is None:
                continue
            level = line.potential(lower.at(jump.alpha), jump.alpha)
            others = [one for one in branches if one not in (lower, upper) and one.low < jump.alpha < one.high]
            if all(line.potential(one.at(jump.alpha), jump.alpha) <= level for one in others):
                found.append(jump)
    return sorted(found, key=lambda jump: jump.alpha)


def _crossing(line: Line, lower: _Branch, upper: _Branch) -> _Jump | None:
    """Return where the upper branch overtakes the lower one, if both exist there."""
    low, high = max(lower.low, upper.low), min(lower.high, upper.high)
    if not low < high:
        return None

    def gain(alpha: float) -> float:
        return line.potential(upper.at(alpha), alpha) - line.potential(lower.at(alpha), alpha)

    # A little above the birth of a branch, where rounding cannot take its state away.
    inside = low * (1 + 1e-12)
    if upper.q_at_birth == 1.0:  # whose free entropy is infinite as soon as it exists
        return _Jump(low, 1.0, 0.0, 0)
    if gain(inside) >= 0:
        return None
    end = min(high * (1 - 1e-12), 2 * low)
    # Branches may go on for ever: the bracket is doubled until the upper one has overtaken.
    while gain(end) < 0 and end < high * (1 - 1e-12) and end < MAX_ALPHA:
        end = min(high * (1 - 1e-12), 2 * end)
    if gain(end) < 0:
        return None
    # Only the relative tolerance counts, since a transition may lie at any alpha.
    alpha, run = brentq(gain, inside, end, xtol=1e-300, rtol=1e-14, full_output=True)
    states = (lower.at(alpha), upper.at(alpha))
    residual = max(one.residual for one in states)
    advice = "take more noise, or a smoother activation"
    Solution.verified(alpha, residual, OVERLAP_TOLERANCE, run.function_calls, what="specialization", advice=advice)
    return _Jump(float(alpha), states[1].q, residual, run.function_calls)
