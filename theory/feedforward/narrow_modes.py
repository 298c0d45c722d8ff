"""Fixed points of the Bayes-optimal student with K hidden units: one overlap for each kind of mode of the units.

Modes and pairs of units are those of `theory.feedforward.narrow_units`. With q_i the overlap of mode i, of which there
are c_i, and S the covariance of the outputs of two samples, q_i = r_i/(1 + r_i) with r_i = alpha E g^2 s_i and
s_i = (K/c_i) dS/dq_i. All r_i share the factor alpha E g^2, so that on the line over x = log q_0/(1 - q_0), q_0 that of
differences between units, the other overlaps follow from ratios of s_i, and alpha last, as for infinitely many units.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from theory.core.arrays import Array
from theory.feedforward.narrow_line import MIN_LOGIT, Line, State
from theory.feedforward.narrow_units import layout
from theory.models import NarrowNetwork
from theory.models.feedforward.narrow import Activation
from theory.numerics import ConvergenceError

SMALL_OVERLAP = 3e-5  # of differences, below which the difference of two slopes is their curvature times the overlap
PLAIN_STEPS = 300  # to the overlaps of the other modes, which rise towards their values
STEP_TOLERANCE = 1e-13  # relative, of gaps
LEGENDRE = np.polynomial.legendre.leggauss(16)
NODES, NODE_WEIGHTS = (LEGENDRE[0] + 1) / 2, LEGENDRE[1] / 2  # of integrals from 0 to 1
N_KEPT_LINES = 16
LEAST_ALPHA = 1e-12  # down to which states of equal units are looked for


@dataclass(frozen=True)
class ModeState(State):
    """A fixed point with the overlaps of all modes; q and p are those of a unit with itself."""

    overlaps: tuple[float, ...] = ()
    gaps: tuple[float, ...] = ()


@dataclass(frozen=True)
class ModeLine(Line):
    """All fixed points for K units; arrays of overlaps of modes have them along their first axis."""

    units: int = 10
    readout: str = "balanced"

    @cached_property
    def _layout(self) -> tuple[Array, Array, Array, Array]:
        return layout(self.units, self.readout)

    def slopes(self, p: Array) -> Array:
        """Return s_i from the gaps p_i = 1 - q_i of modes (modes, ...)."""
        mix, weights, signs, counts = self._layout
        linear = self.kernel.linear_power
        own = np.tensordot(mix[0], p, 1)
        # The overlaps of different units have no part in common with the 1 of a unit with itself.
        pairs = np.tensordot(mix[1:], -p, 1)
        found = [self.kernel.slope(1 - own, own) + linear]
        for weight, sign, at in zip(weights[1:], signs[1:], pairs, strict=True):
            found.append(weight * (self.kernel.slope(sign * at, 1 - sign * at) + linear))
        s = np.tensordot(mix.T * (self.units / counts)[:, None], np.array(found), 1)
        near = 1 - p[0] < SMALL_OVERLAP
        if np.any(near):
            center = pairs[0] + (1 - p[0]) / 2
            s[0] = np.where(near, (1 - p[0]) * self.kernel.curvature(center, 1 - center), s[0])
        return np.asarray(s)

    def gap(self, p: Array) -> Array:
        """Return T - S from the gaps of modes, with the digits of small gaps."""
        mix, weights, signs, _ = self._layout
        own = np.tensordot(mix[0], p, 1)
        found = self.kernel.gap(1 - own, own) + self.kernel.linear_power * own
        for weight, sign, at in zip(weights[1:], signs[1:], np.tensordot(mix[1:], -p, 1), strict=True):
            # As an integral of its slope, since the small covariance would lose its digits as a difference of gaps.
            steps = sign * np.multiply.outer(NODES, at)
            tail = sign * at * np.tensordot(NODE_WEIGHTS, self.kernel.slope(steps, 1 - steps), 1)
            found = found - weight * sign * (tail + self.kernel.linear_power * sign * at)
        return np.asarray(found)

    def completed(self, p: Array, known: int) -> Array:
        """Return gaps of all modes for the known gaps of mode `known`, (...,), from those of equal or no overlap."""
        gaps = np.array([p if i >= known else np.ones_like(p) for i in range(len(self._layout[3]))])
        if known:
            gaps[2:] = 1.0
        log_r = np.log1p(-p) - np.log(p)
        free = [i for i in range(len(gaps)) if i > known]
        kept = [gaps[free], gaps[free]]
        for step in range(PLAIN_STEPS):
            with np.errstate(divide="ignore", invalid="ignore"):
                s = self.slopes(gaps)
                new = expit(np.log(s[known]) - np.log(np.maximum(s[free], 0)) - log_r)
            # Where the known slope vanishes too, in the limit of no overlap at all, modes are as they were.
            new = np.where(np.isfinite(new), new, gaps[free])
            moved = float(np.max(np.abs(new / gaps[free] - 1), initial=0.0))
            gaps[free] = new
            if moved <= STEP_TOLERANCE:
                break
            if step % 4 == 3:  # steps shrink like a power, whose sum is known (Aitken)
                gaps[free] = _summed(kept[0], kept[1], new)
            kept = [kept[1], new]
        return gaps

    def _labels(self, gap: Array) -> tuple[Array, Array]:
        return np.asarray(np.maximum(self.kernel.power - gap, 0.0)), np.asarray(self.noise + gap)

    def _log_alpha_of(self, gaps: Array, known: int) -> Array:
        gap, s = self.gap(gaps), self.slopes(gaps)
        with np.errstate(divide="ignore"):
            response = np.log(self.labels.response(*self._labels(gap)))
            return np.asarray(np.log1p(-gaps[known]) - np.log(gaps[known]) - response - np.log(s[known]))

    def log_alpha(self, x: Array) -> Array:
        """Return the logarithm of the alpha whose fixed point has this overlap of differences."""
        return self._log_alpha_of(self.completed(expit(-np.asarray(x)), 0), 0)

    def replicon(self, x: Array) -> Array:
        """Return the least curvature of the free entropy on the line, relative to that of the entropy of weights."""
        x = np.asarray(x)
        gaps = self.completed(expit(-x), 0).reshape(-1, x.size)
        logs = self._log_alpha_of(gaps, 0)
        found = [self._curvature(one, math.exp(log)) for one, log in zip(gaps.T, logs, strict=True)]
        return np.asarray(found).reshape(x.shape)

    def _curvature(self, gaps: Array, alpha: float) -> float:
        """Return 1 minus the largest eigenvalue of the variation of the mean log likelihood by overlaps of modes."""
        mix, weights, signs, counts = self._layout
        gap, s = self.gap(gaps), self.slopes(gaps)
        S, v = self._labels(gap)
        first = s * counts / self.units
        pairs = mix @ -gaps
        pairs[0] = 1 - mix[0] @ gaps
        gap_of = 1 - signs * pairs
        gap_of[0] = mix[0] @ gaps
        bends = np.array([
            float(self.kernel.curvature(np.array(q), np.array(p))) for q, p in zip(signs * pairs, gap_of, strict=True)
        ])  # fmt: skip
        second = mix.T @ ((signs * weights * bends)[:, None] * mix)
        slope, response = float(self.labels.squared_slope(S, v)), float(self.labels.response(S, v))
        energy = self.units * alpha * (slope * np.outer(first, first) + response * second)
        unit = gaps / np.sqrt(counts)
        return float(1 - np.linalg.eigvalsh(energy * np.outer(unit, unit))[-1])

    @cached_property
    def onset(self) -> float:
        """The alpha from which on equal units are unstable: where the line begins."""
        return float(np.exp(self.log_alpha(np.array(MIN_LOGIT))))

    def alike(self, alpha: float) -> ModeState:
        """Return the state in which no unit is told from the others, while their sums are known."""
        if self.kernel.linear_power == 0:
            return self._mode_state(np.ones(len(self._layout[3])), alpha, 0)
        wanted = math.log(alpha)

        def beyond(y: float) -> float:
            return float(self._log_alpha_of(self.completed(expit(np.array(-y)), 1), 1)) - wanted

        low, high = MIN_LOGIT, -MIN_LOGIT
        if alpha < LEAST_ALPHA or not beyond(low) < 0 < beyond(high):
            raise ConvergenceError.of(
                f"units alike at alpha = {alpha:g}", alpha, math.nan, STEP_TOLERANCE, advice="take another alpha"
            )
        y, run = brentq(beyond, low, high, xtol=1e-13, rtol=1e-15, full_output=True)
        return self._mode_state(self.completed(expit(np.array(-y)), 1), alpha, run.function_calls)

    def overlap(self, x: float) -> float:
        """Return the overlap of a unit with itself at this place of the line."""
        return float(1 - self._layout[0][0] @ self.completed(expit(np.array(-x)), 0))

    def _state(self, x: float, alpha: float, evaluations: int) -> ModeState:
        return self._mode_state(self.completed(expit(np.array(-x)), 0), alpha, evaluations)

    def _mode_state(self, gaps: Array, alpha: float, evaluations: int) -> ModeState:
        gap, s = self.gap(gaps), self.slopes(gaps)
        r = alpha * float(self.labels.response(*self._labels(gap))) * s
        # Of q = r/(1 + r) as it stands, and relative for what is missing to 1, which is what the errors depend on.
        residual = float(max(np.max(abs(r / (1 + r) - (1 - gaps))), np.max(abs(1 / (1 + r) - gaps) / gaps)))
        p = float(self._layout[0][0] @ gaps)
        return ModeState(1 - p, p, evaluations, residual, tuple(1 - gaps), tuple(gaps))

    def gap_of(self, state: State) -> float:
        """Return T - S at a state."""
        if not isinstance(state, ModeState):
            return 0.0
        return float(self.gap(np.array(state.gaps)))

    def potential(self, state: State, alpha: float) -> float:
        """Return the free entropy per weight; infinite at q = 1."""
        if not isinstance(state, ModeState):
            return math.inf
        p, counts = np.array(state.gaps), self._layout[3]
        S, v = self._labels(self.gap(p))
        entropy = float(counts @ (1 - p + np.log(p))) / (2 * self.units)
        return entropy + alpha * float(self.labels.log_likelihood(S, v))

    def replicon_of(self, state: State, alpha: float) -> float:
        """Return the replicon of a state; 1 at q = 1 without noise, where nothing fluctuates."""
        return self._curvature(np.array(state.gaps), alpha) if isinstance(state, ModeState) else 1.0

    def modes_of(self, state: State) -> Array:
        """Return the overlaps of the modes of each kind."""
        return np.array(state.overlaps) if isinstance(state, ModeState) else np.ones(len(self._layout[3]))


def _summed(first: Array, second: Array, third: Array) -> Array:
    """Return the limit of a sequence whose differences are a geometric series, or its last value."""
    with np.errstate(divide="ignore", invalid="ignore"):
        limit = third - (third - second) ** 2 / ((third - second) - (second - first))
    return np.where((limit > 0) & (limit <= 1) & (np.abs(limit - third) < third / 2), limit, third)


def line_of(model: NarrowNetwork) -> Line:
    """Return the line of all fixed points of a model, for its number of units or for infinitely many."""
    parts = model.activation, model.labels, model.noise, model.hidden_units, model.readout
    # The line holds for every alpha; those of functions are not kept, since what a function returns may change.
    return _kept_line(*parts) if isinstance(model.activation, str) else _line(*parts)


def _line(activation: Activation, labels: str, noise: float, units: int | None, readout: str) -> Line:
    line = Line.of(activation, labels, noise)
    return line if units is None else ModeLine(line.kernel, line.labels, line.noise, line.linear, units, readout)


_kept_line = lru_cache(maxsize=N_KEPT_LINES)(_line)
