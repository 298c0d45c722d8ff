"""The line of all fixed points of the Bayes-optimal equation of narrow networks, and its stable pieces.

The overlap q per unit solves q = r/(1 + r), r = alpha E g^2 Sigma'(q), where Sigma(q) = tail(q) + mu_1^2 is the part of
the field that the data fix (its linear part is known from far fewer samples), and g measures what a label tells. So
every q in (0, 1) is the fixed point of one alpha(q), and the line needs no iteration. It runs over x = log q/(1 - q).
The slope d log alpha/dx is the replicon, and also minus the curvature of the free entropy: pieces that rise are stable.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from theory.core.arrays import Array
from theory.feedforward.narrow_hermite import HermiteKernel
from theory.feedforward.narrow_kernels import CLOSED, Kernel
from theory.feedforward.narrow_labels import LAWS, Labels
from theory.models.feedforward.narrow import Activation

MIN_LOGIT, MAX_LOGIT = -23.0, 80.0  # of log q/(1 - q)
MAX_LOGIT_WITHOUT_NOISE = 16.0  # where q is nearer to 1 the digits of gap/p are lost
N_GRID_POINTS = 700  # of x, 0.15 apart: a stable piece shorter than that could be missed
KERNEL_TOLERANCE = 1e-9  # relative; a function with kinks ends its line where q^L no longer vanishes
MIN_SLOPE = 1e-300  # least value of Sigma' that double precision holds with all its digits
# The value that stands for the replicon where Sigma' ~ q^L is below MIN_SLOPE. The line begins at q = 1e-10, so that
# the power L is 30 at least there, and the replicon 1 - L or less.
UNDERFLOWN_REPLICON = -29.0
REPLICON_ROUNDING = 1e-9  # of the replicon, whose sign is not trusted below it


def kernel_of(activation: Activation) -> Kernel:
    """Return the kernel of an activation: a closed form, or the Hermite series of a user's function."""
    return CLOSED[activation] if isinstance(activation, str) else HermiteKernel(activation)


@dataclass(frozen=True)
class State:
    """One fixed point: q and p = 1 - q, or q = 0, or q = 1 where the teacher is found exactly."""

    q: float
    p: float
    evaluations: int
    residual: float


@dataclass(frozen=True)
class Piece:
    """A stretch of the line along which alpha rises, between two values of x."""

    low: float
    high: float
    log_alpha: tuple[float, float]


@dataclass(frozen=True)
class Line:
    """All fixed points for one kernel, one law of labels and one variance of the noise."""

    kernel: Kernel
    labels: Labels
    noise: float
    linear: bool

    @classmethod
    def of(cls, activation: Activation, labels: str, noise: float) -> "Line":
        """Build the line of an activation, a law of labels and a variance of the noise."""
        kernel, linear = kernel_of(activation), labels == "linear"
        if linear and noise == 0 and isinstance(kernel, HermiteKernel) and kernel.remainder > 0:
            raise ValueError(
                "noise must be positive for linear labels and a function with kinks or jumps, got 0: "
                "how its kernel ends at q = 1 is not known"
            )
        return cls(kernel, LAWS[labels], noise, linear)

    def field(self, q: Array, p: Array) -> tuple[Array, Array]:
        """Return S = Sigma(q) and v, the variance of a label given the data and x, with all digits of v."""
        gap = self.kernel.gap(q, p)
        return np.asarray(np.maximum(self.kernel.power - gap, 0.0)), np.asarray(self.noise + gap)

    def log_alpha(self, x: Array) -> Array:
        """Return the logarithm of the alpha whose fixed point is q."""
        q, p = expit(x), expit(-x)
        with np.errstate(divide="ignore"):
            return np.asarray(x - np.log(self.labels.response(*self.field(q, p))) - np.log(self.kernel.slope(q, p)))

    def replicon(self, x: Array) -> Array:
        """Return 1 - q p (Sigma' E g'^2/E g^2 + Sigma''/Sigma'), the replicon at the alpha of this fixed point.

        Where Sigma' is zero in double precision it is at most -29, which is what stands there: the line falls.
        """
        q, p = expit(x), expit(-x)
        S, v = self.field(q, p)
        slope, curvature = self.kernel.slope(q, p), self.kernel.curvature(q, p)
        ratio = self.labels.squared_slope(S, v) / self.labels.response(S, v)
        # A series that begins with a high power of q underflows at small q.
        vanishes = slope < MIN_SLOPE
        relative = curvature / np.where(vanishes, 1.0, slope)
        return np.where(vanishes, UNDERFLOWN_REPLICON, 1 - q * p * (slope * ratio + relative))

    def potential(self, state: State, alpha: float) -> float:
        """Return the free entropy per weight, (q + log(1 - q))/2 + alpha E log P; infinite at q = 1."""
        if state.p == 0:
            return math.inf
        S, v = self.field(np.array(state.q), np.array(state.p))
        return (state.q + math.log(state.p)) / 2 + alpha * float(self.labels.log_likelihood(S, v))

    @cached_property
    def onset(self) -> float:
        """The alpha from which on q = 0 is unstable; infinite where mu_2 = 0."""
        if self.kernel.quadratic_power == 0:
            return math.inf
        S, v = self.field(np.array(0.0), np.array(1.0))
        return float(1 / (self.labels.response(S, v) * self.kernel.quadratic_power))

    @cached_property
    def _log_onset(self) -> float:
        """The logarithm of the onset, or of where the line begins, at q = 1e-10, if it begins with a stable piece."""
        begins = bool(self.pieces) and self.pieces[0].low == MIN_LOGIT
        return self.pieces[0].log_alpha[0] if begins and math.isfinite(self.onset) else math.log(self.onset)

    @cached_property
    def perfect(self) -> float:
        """The alpha from which on q = 1 has an infinite free entropy; infinite with noise, and for signs."""
        return 1 / self.kernel.contact if self.linear and self.noise == 0 else math.inf

    @property
    def top(self) -> float:
        """The largest x at which rounding errors are small."""
        return MAX_LOGIT_WITHOUT_NOISE if self.noise == 0 and self.linear else MAX_LOGIT

    @cached_property
    def highest(self) -> float:
        """The x up to which the line is trusted."""
        x = np.linspace(MIN_LOGIT, self.top, N_GRID_POINTS)
        q, p = expit(x), expit(-x)
        _, v = self.field(q, p)
        scale = np.minimum(v, p * self.kernel.slope(q, p))
        wrong = np.flatnonzero(~(self.kernel.error(q, p) <= KERNEL_TOLERANCE * scale))
        return float(x[wrong[0] - 1]) if wrong.size and wrong[0] else self.top

    @cached_property
    def pieces(self) -> list[Piece]:
        """The stable pieces, from small to large q."""
        x = np.linspace(MIN_LOGIT, self.highest, N_GRID_POINTS)
        slopes = self.replicon(x)
        # Towards q = 1 alpha levels off where there is no noise, and the sign of its slope is that of rounding errors.
        rising = slopes > np.where(x < 0, 0.0, REPLICON_ROUNDING)
        places = np.flatnonzero(np.diff(rising.astype(int)))
        ends = [float(x[0]), *(self._extremum(x[i], x[i + 1]) for i in places), float(x[-1])]
        found = []
        for i, (low, high) in enumerate(pairwise(ends)):
            if rising[0] == (i % 2 == 0):
                logs = self.log_alpha(np.array([low, high]))
                found.append(Piece(low, high, (float(logs[0]), float(logs[1]))))
        return found

    def _extremum(self, a: float, b: float) -> float:
        """Return the extremum of alpha between two neighbors, whose slopes differ in sign unless they are rounded."""
        if self.replicon(np.array(a)) * self.replicon(np.array(b)) >= 0:
            return float(b)
        return float(brentq(lambda x: float(self.replicon(np.array(x))), a, b, xtol=1e-13, rtol=1e-15))

    def states(self, alpha: float) -> list[State]:
        """Return all stable fixed points at this alpha, from small to large q."""
        wanted = math.log(alpha)
        found = [self.alike(alpha)] if wanted <= self._log_onset else []
        found += [self.state_on(one, alpha) for one in self.pieces if one.log_alpha[0] < wanted <= one.log_alpha[1]]
        if alpha > self.perfect:
            found.append(State(1.0, 0.0, 0, 0.0))
        return found

    def alike(self, alpha: float) -> State:  # noqa: ARG002  # with finitely many units it depends on alpha
        """Return the state in which no unit is told from the others."""
        return State(0.0, 1.0, 0, 0.0)

    def gap_of(self, state: State) -> float:
        """Return the part of the variance T of the output that the data do not fix, T - Sigma."""
        return 0.0 if state.p == 0 else float(self.kernel.gap(np.array(state.q), np.array(state.p)))

    def modes_of(self, state: State) -> Array:
        """Return the overlaps of the modes of each kind, of which there is one."""
        return np.array([state.q])

    def state_on(self, piece: Piece, alpha: float) -> State:
        """Return the fixed point on a stable piece of the line, whose range of alpha must hold this one."""
        low, high = piece.low, piece.high
        wanted = min(max(math.log(alpha), piece.log_alpha[0]), piece.log_alpha[1])

        def beyond(x: float) -> float:
            return float(self.log_alpha(np.array(x))) - wanted

        if wanted == piece.log_alpha[0]:
            return self._state(low, alpha, 1)
        # On a stable piece alpha rises, so that the bracket holds one root and nothing else.
        x, run = brentq(beyond, low, high, xtol=1e-13, rtol=1e-15, full_output=True)
        return self._state(x, alpha, run.function_calls)

    def overlap(self, x: float) -> float:
        """Return q at this place of the line."""
        return float(expit(x))

    def replicon_of(self, state: State, alpha: float) -> float:
        """Return the replicon of a state; 1 at q = 1 without noise, where nothing fluctuates."""
        if state.p == 0:
            return 1.0
        if state.q == 0:
            return 1 - alpha / self.onset
        return float(self.replicon(np.array(math.log(state.q) - math.log(state.p))))

    def _state(self, x: float, alpha: float, evaluations: int) -> State:
        q, p = float(expit(x)), float(expit(-x))
        S, v = self.field(np.array(q), np.array(p))
        r = alpha * float(self.labels.response(S, v) * self.kernel.slope(np.array(q), np.array(p)))
        # Of q = r/(1 + r) as it stands, and relative for what is missing to 1, which is what the errors depend on.
        residual = max(abs(r / (1 + r) - q), abs(1 / (1 + r) - p) / p)
        return State(q, p, evaluations, residual)

    @property
    def limit(self) -> float:
        """The largest alpha for which all states are known.

        It is that of the end of the line if alpha rises there. Where it falls, and the line ends because a series is
        no longer exact, states may be missing at any alpha; without noise it falls towards that of the state q = 1.
        """
        if self.pieces and self.pieces[-1].high == self.highest:
            return math.exp(min(self.pieces[-1].log_alpha[1], 700.0))
        return 0.0 if self.highest < self.top else math.inf
