"""The entropy of solutions of a given length: where its maxima along the length tell of further saddle points."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, logit, logsumexp

from theory.core.arrays import Array
from theory.perceptron.discrete_saddle import Saddle, hazard, reach_of_patterns
from theory.perceptron.gaussian_average import gaussian_grid, half_gaussian_grid
from theory.perceptron.weight_sums import MANY_LEVELS, tilted_sums

STEP, REACH = 0.1, 8.0  # of the grid of z: the scan only tells where to start
PER_DECADE = 3  # norms per decade of their distance to the smallest square of a level
SMALLEST_EXCESS = 1e-7  # of a norm over the smallest square, in units of the range of squares
OF_GAP = 1e-2  # ... and over the distance of the two smallest squares
OF_LOWEST = 1e-3  # ... and over the smallest square itself
SAME_SQUARE = 1e-14
ROUNDS, INNER = 100, 40  # of the iterations of the overlaps, and of the multipliers of the norms
DAMPING = 0.3
LONGEST = 4.0  # times its undamped step: a step of an overlap
TILTS = np.geomspace(1e-3, 1e16, 191)  # of the law exp(t w^2) of a weight, over the range of squares
WAYS = (0.5, 0.25, 0.75, 0.375, 0.625, 0.125, 0.875, 1.0)  # from one norm of the grid to the next one below
ZOOM, ZOOMS = 9, 2  # norms from one of the grid to the next where a maximum lies near the end of all, and how often
STEADY_OVERLAP = 1e-3  # change of an overlap in one round, relative to the norm, after which it is known well enough


@dataclass(frozen=True)
class _Law:
    """Averages over one weight, (n,) norms: E<w>^2, E log of the normalization, and how far E<w^2> is from its goal."""

    overlap: Array
    log_partition: Array
    gap: Array  # of the logit of E<w^2> in the range of squares
    slope: Array  # of that logit with a

    def renew(self, chosen: NDArray[np.intp], other: "_Law") -> None:
        """Take the averages of some norms from another law."""
        for name in ("overlap", "log_partition", "gap", "slope"):
            getattr(self, name)[chosen] = getattr(other, name)


@dataclass(frozen=True)
class _Scan:
    """The equations of a saddle point at many fixed norms Q at once: arrays are (n,) norms.

    `goals` are the logits of the places of the norms in the range of squares of the levels. Each norm has a grid of its
    own, with one of the `steps`, none of which is smaller than `finest`: few solutions need a fine one.
    """

    problem: Saddle
    norms: Array
    goals: Array
    steps: Array
    finest: float

    @classmethod
    def of(cls, problem: Saddle, norms: Array, goals: Array, finest: float) -> "_Scan":
        """Return the scan on the coarsest grids."""
        return cls(problem, norms, goals, np.full_like(norms, STEP), finest)

    def at(self, chosen: NDArray[np.intp]) -> "_Scan":
        """Return the same for some of the norms."""
        return replace(self, norms=self.norms[chosen], goals=self.goals[chosen], steps=self.steps[chosen])

    def refine(self, chosen: NDArray[np.intp], q: Array) -> None:
        """Halve the steps of some norms until they resolve functions twice as narrow as those at the overlaps q."""
        for _ in range(round(math.log2(STEP / self.finest))):
            coarse = ~_is_resolved(2 * self.steps[chosen], self.norms[chosen], q)
            self.steps[chosen] = np.where(coarse, np.maximum(self.steps[chosen] / 2, self.finest), self.steps[chosen])

    def law(self, a: Array, linear: Array) -> _Law:
        """Return the averages over one weight at the multipliers a of the norm and at qhat = `linear`."""
        law = _Law(*np.empty((4, len(a))))
        for step in np.unique(self.steps):
            chosen = np.flatnonzero(self.steps == step)
            law.renew(chosen, self.at(chosen)._law_on(float(step), a[chosen], linear[chosen]))
        return law

    def output(self, q: Array) -> tuple[Array, Array, Array]:
        """Return a = (Qhat - qhat)/2, qhat and alpha E log H(u), as the patterns demand them at (Q, q)."""
        found = np.empty((3, len(q)))
        for step in np.unique(self.steps):
            chosen = np.flatnonzero(self.steps == step)
            found[:, chosen] = self.at(chosen)._output_on(float(step), q[chosen])
        square, linear, success = found
        return square, linear, success

    def _law_on(self, step: float, a: Array, linear: Array) -> _Law:
        w = self.problem.levels
        symmetric = np.array_equal(np.sort(w), np.sort(-w))  # then all averages are even in z
        z, weights = half_gaussian_grid(step, REACH) if symmetric else gaussian_grid(step, REACH)
        squares = w**2
        low, high = squares.min(), squares.max()
        powers = np.stack([np.ones_like(w), w, squares - low, high - squares, (squares - low) ** 2])
        if len(w) >= MANY_LEVELS:
            sums, top = tilted_sums(w, a, np.sqrt(linear), z, powers)
        else:
            law = np.multiply.outer(w, np.multiply.outer(np.sqrt(linear), z))
            law += np.multiply.outer(squares, a)[:, :, None]
            top = law.max(axis=0)
            law -= top
            sums = np.tensordot(powers, np.exp(law, out=law), axes=1)
        total, first, below, above, fourth = sums
        below, above, fourth = below / total, above / total, fourth / total
        lower, upper = below @ weights, above @ weights
        return _Law(
            (first / total) ** 2 @ weights,
            (top + np.log(total)) @ weights,
            self.goals - (np.log(lower) - np.log(upper)),
            ((fourth - below**2) @ weights) * (1 / lower + 1 / upper),
        )

    def _output_on(self, step: float, q: Array) -> Array:
        reach = reach_of_patterns(self.problem.margin, float(q.min(initial=1.0)), REACH)
        z, weights = gaussian_grid(step, reach)
        variance = (self.norms - q)[:, None]
        u = (self.problem.margin - np.sqrt(q)[:, None] * z) / np.sqrt(variance)
        ratio = hazard(u)
        linear = self.problem.alpha * (ratio**2 / variance) @ weights
        square = self.problem.alpha * (ratio * u / variance) @ weights
        return np.stack(((square - linear) / 2, linear, self.problem.alpha * log_ndtr(-u) @ weights))


def likely_maxima(problem: Saddle, finer: int = 1) -> list[list[Array]]:
    """Return guesses of (Q, q) near every maximum of the entropy of solutions of norm Q, from small to large norm.

    Each maximum has a list of guesses, the first to try first: where it lies between two norms of the grid these are
    the upper one, and points on the way to the lower one, because from some of them the solver leaves the maximum.

    On a grid of norms from the smallest to the largest square of a level the overlap is solved for, with the multiplier
    a = (Qhat - qhat)/2 that the norm needs. At a saddle point the patterns demand the same a; the entropy has a maximum
    there if they demand more of it at smaller norms and less at larger ones. Left out are norms for which the mean
    number of solutions is below one, and points whose entropy is above the logarithm of that mean, which it cannot be.
    Averages are taken on a grid up to `finer` times as fine as usual, where solutions that nearly agree need it.
    """
    squares = problem.levels**2
    low, size = float(squares.min()), float(np.ptp(squares))
    if size <= SAME_SQUARE:
        return []
    shares = _shares(squares)
    with np.errstate(all="ignore"):  # where there are no solutions nothing is finite
        return _maxima(_Scan.of(problem, low + size * shares, np.asarray(logit(shares)), STEP / finer))


def resolves(finer: int, norm: float, overlap: float) -> bool:
    """Tell whether a scan that is `finer` times as fine as usual resolves a solution of these orders."""
    return bool(_is_resolved(STEP / finer, np.array(norm), np.array(overlap)))


def _is_resolved(step: float | Array, norms: Array, overlaps: Array) -> NDArray[np.bool_]:
    """Tell where a grid resolves functions that vary over a length of sqrt((Q - q)/q): see `Saddle.admissible`."""
    return np.asarray(overlaps < norms - 6 * step**2 * overlaps)


def log_mean_number(problem: Saddle, norm: float) -> float:
    """Return a bound of the entropy of solutions of a given norm: the logarithm of their mean number, or a little more.

    The entropy of all weight vectors of norm Q is the minimum over t of log sum_w exp(t w^2) - t Q; each t is a bound.
    """
    tilts = np.concatenate([-TILTS[::-1], [0.0], TILTS]) / np.ptp(problem.levels**2)
    free = logsumexp(np.multiply.outer(tilts, problem.levels**2 - norm), axis=1).min()
    return float(free + problem.alpha * log_ndtr(-problem.margin / math.sqrt(norm)))


def _shares(squares: Array) -> Array:
    """Return places of norms between the smallest and the largest square, with all scales of the squares."""
    gaps = np.diff(np.unique(squares)) / np.ptp(squares)
    lowest = min(SMALLEST_EXCESS, OF_GAP * float(gaps[gaps > SAME_SQUARE].min(initial=1.0)))
    if squares.min() > SAME_SQUARE:
        lowest = min(lowest, OF_LOWEST * float(squares.min() / np.ptp(squares)))
    rising = np.geomspace(lowest, 0.5, math.ceil(PER_DECADE * -math.log10(2 * lowest)) + 1)
    return np.concatenate([rising, 1 - rising[::-1][1 : 2 * PER_DECADE]])


def _between(scan: _Scan, k: int) -> _Scan:
    """Return the scan of norms between one of the grid, where the entropy still rises, and the next."""
    squares = scan.problem.levels**2
    low, size = float(squares.min()), float(np.ptp(squares))
    shares = np.geomspace((scan.norms[k] - low) / size, (scan.norms[k + 1] - low) / size, ZOOM)
    return _Scan.of(scan.problem, low + size * shares, np.asarray(logit(shares)), scan.finest)


def _maxima(scan: _Scan, zooms: int = ZOOMS) -> list[list[Array]]:
    """Return what `likely_maxima` does; the end of the norms is searched closely where the entropy rises towards it."""
    problem = scan.problem
    a, q = np.zeros_like(scan.norms), np.zeros_like(scan.norms)
    a, free = _tilted(scan, a, q)
    bound = free.log_partition - a * scan.norms + problem.alpha * log_ndtr(-problem.margin / np.sqrt(scan.norms))
    q = np.minimum(free.overlap, 0.9 * scan.norms)
    rises, usable = np.zeros(len(q), dtype=bool), np.zeros(len(q), dtype=bool)
    open_ = np.flatnonzero(bound > 0)
    before = np.full((2, len(q)), np.nan)
    for _ in range(ROUNDS):
        if not open_.size:
            break
        scan.refine(open_, q[open_])
        here, norms = scan.at(open_), scan.norms[open_]
        demanded, linear, success = here.output(q[open_])
        a[open_], law = _tilted(here, a[open_], linear)
        change = law.overlap - q[open_]
        steady = (np.abs(change) <= STEADY_OVERLAP * norms) & (np.abs(law.gap) <= STEADY_OVERLAP)
        entropy = -a[open_] * norms - linear * (norms - q[open_]) / 2 + law.log_partition + success
        resolved = _is_resolved(here.steps, norms, q[open_])
        rises[open_] = demanded > a[open_]
        usable[open_] = steady & resolved & (entropy <= bound[open_] + 1e-3)
        last = q[open_]
        new = last + _share(last, change, *before[:, open_]) * change
        q[open_] = np.clip(new, 0.0, (last + norms) / 2)  # a step that long may lead to vectors that all agree
        before[:, open_] = last, change
        open_ = open_[~steady & np.isfinite(entropy)]
    found: list[list[Array]] = []
    for k in np.flatnonzero(usable):
        ends = not (k + 1 < len(usable) and usable[k + 1])
        falls_from = k == 0 or not usable[k - 1] or rises[k - 1]
        if ends if rises[k] else falls_from:
            guesses = [np.array([scan.norms[k], q[k]])]
            if not rises[k] and k and usable[k - 1]:
                below = np.array([scan.norms[k - 1], q[k - 1]])
                guesses += [guesses[0] ** (1 - way) * below**way for way in WAYS]
            elif ends and rises[k] and zooms and k + 1 < len(usable):
                guesses += [one for more in _maxima(_between(scan, int(k)), zooms - 1) for one in more]
            found.append(guesses)
    return found


def _share(q: Array, change: Array, earlier_q: Array, earlier_change: Array) -> Array:
    """Return the shares of the changes that lead to where these vanish on the straight line through two rounds."""
    fall = (earlier_change - change) / (q - earlier_q)
    return np.where(fall > 0, np.clip(1 / fall, 1 - DAMPING, LONGEST), 1 - DAMPING)


def _tilted(scan: _Scan, a: Array, linear: Array) -> tuple[Array, _Law]:
    """Return the multipliers a with E<w^2> = Q, by Newton's method within a bracket, and the averages at them."""
    a, low, high = a.copy(), np.full_like(a, -np.inf), np.full_like(a, np.inf)
    law = scan.law(a, linear)
    open_ = np.flatnonzero(np.abs(law.gap) > STEADY_OVERLAP)
    for _ in range(INNER - 1):
        if not open_.size:
            break
        here, gap = a[open_], law.gap[open_]
        low[open_], high[open_] = np.where(gap > 0, here, low[open_]), np.where(gap < 0, here, high[open_])
        reach = 10 + np.abs(here)
        new = here + np.clip(gap / np.maximum(law.slope[open_], 1e-300), -reach, reach)
        inside = (new > low[open_]) & (new < high[open_])
        closed = np.isfinite(low[open_]) & np.isfinite(high[open_])
        middle = np.where(closed, (low[open_] + high[open_]) / 2, here + np.sign(gap) * reach)
        a[open_] = np.where(inside, new, middle)
        law.renew(open_, scan.at(open_).law(a[open_], linear[open_]))
        open_ = open_[np.abs(law.gap[open_]) > STEADY_OVERLAP]
    return a, law
