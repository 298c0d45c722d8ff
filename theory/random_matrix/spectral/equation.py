"""The scalar equation 1/h = 1 + <t>/alpha, t = 1/(h + a), of many points at once, in its complex and real branches.

With rows of different scales tau it is h = g(delta) = E[tau/(1 + tau delta)] at delta = <t>/alpha; 1/(1 + delta) is the
g of rows that are alike. m below is then <t^2>/alpha times -dg/ddelta.

Convention: Im nu >= 0, so Im a <= 0, Im h <= 0 and Im t >= 0. There is exactly one root with Im h < 0 for every nu in
the upper half plane, and one at a real nu inside the support; outside it there is exactly one real root with
m = h^2 <t^2>/alpha < 1. Either property certifies a root, however it was found.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np

from theory.core.arrays import Array, ComplexArray
from theory.core.blocks import in_blocks
from theory.models.row_scales import RowScales
from theory.random_matrix.row_response import inverse_weights
from theory.random_matrix.spectral.ensemble import Ensemble, Indices, Mask, Numbers, ScalarEquation

ROUNDING_IMAGINARY_PART = 1e-14  # relative: an imaginary part below is rounding
SMALL_IMAGINARY_PART = 1e-6  # relative: an imaginary part below may belong to a real root
MAX_RESIDUAL = 1e-11  # residual that certifies a root; what is reached is rounding
MAX_STAGES = 400  # of a descent, which takes 10 to 40


@dataclass(frozen=True, eq=False)
class Branch:
    """Holds the roots h (points,), their residuals relative to the terms of the equation, and their certificates."""

    h: ComplexArray
    residual: Array
    inside: Mask  # Im h < 0
    outside: Mask  # real with m < 1

    @property
    def certified(self) -> Mask:
        """Whether each root is the physical one, to rounding."""
        return np.asarray((self.inside | self.outside) & (self.residual < MAX_RESIDUAL))


def solved_blocks(
    ensemble: Ensemble, nu: Numbers, start: ComplexArray | None = None, budget: int = 500_000
) -> Iterator[tuple[ScalarEquation, Branch]]:
    """Yield the equation and its physical roots at the nu (points,), in blocks of at most `budget` numbers."""
    blocks = in_blocks(nu, ensemble.size, budget)
    starts = [None] * len(blocks) if start is None else in_blocks(start, ensemble.size, budget)
    for points, first in zip(blocks, starts, strict=True):
        equation = ensemble.at(points)
        yield equation, solve(equation, first)


def resolvent(ensemble: Ensemble, nu: Numbers, start: ComplexArray | None = None) -> tuple[Branch, ComplexArray]:
    """Find the physical root and tr (S - nu)^-1/d at every nu (points,)."""
    parts, traces = [], []
    for equation, found in solved_blocks(ensemble, nu, start):
        parts.append(found)
        traces.append(trace(equation, found.h))
    return joined(parts), np.concatenate(traces)


def joined(parts: list[Branch]) -> Branch:
    """Put the roots of several sets of points behind each other."""
    return Branch(*(np.concatenate([getattr(part, name.name) for part in parts]) for name in fields(Branch)))


def trace(equation: ScalarEquation, h: Numbers) -> ComplexArray:
    """Compute tr (S - nu)^-1/d at the roots h."""
    t = 1 / (h[:, None] + equation.a)
    if len(equation.c) == 1:
        return np.asarray(t @ (equation.c[0] * equation.weights) + equation.rest)
    return np.asarray((t * equation.c) @ equation.weights + equation.rest)


def selected(equation: ScalarEquation, kept: Mask) -> ScalarEquation:
    """Select the points that are kept."""
    c = equation.c if len(equation.c) == 1 else equation.c[kept]
    return replace(equation, a=equation.a[kept], c=c, rest=equation.rest[kept], below=equation.below[kept])


def solve(equation: ScalarEquation, start: ComplexArray | None = None) -> Branch:
    """Find the physical root at every point: by Newton's method from `start`, and where that fails from above."""
    if start is None:
        return _descended(equation)
    found = certify(equation, newton(equation, start, 25))
    lost = ~found.certified
    return replaced(found, lost, _descended(selected(equation, lost))) if lost.any() else found


def replaced(found: Branch, where: Mask, new: Branch) -> Branch:
    """Return the roots with those of some points replaced."""
    values = {name.name: getattr(found, name.name).copy() for name in fields(Branch)}
    for name, value in values.items():
        value[where] = getattr(new, name)
    return Branch(**values)


def _descended(equation: ScalarEquation) -> Branch:
    """Find the roots from high above the real axis, at a - i eta, lowering eta to 0 in steps that adapt to each point.

    At a large eta h is near the mean scale 1. As eta falls by a factor e^s the root moves by no more than s in the
    hyperbolic metric of the half plane (Pick's lemma), so that a step is short enough for Newton's method once it has
    been halved often enough. Every root on the way is certified by Im h < 0 alone, and there is no least eta: the root
    at eta = 0 is tried from each of them.
    """
    count = len(equation.a)
    h = np.full(count, 1 - 0.1j)
    eta = np.full(count, 8 * max(equation.rows.largest, 1.0) * (1 + 1 / equation.alpha))
    h, _ = _solved_above_axis(equation, np.arange(count), eta, h)
    step = np.full(count, np.log(8.0))
    found = Branch(h.copy(), np.full(count, np.inf), np.zeros(count, bool), np.zeros(count, bool))
    active = np.arange(count)
    for _ in range(MAX_STAGES):
        lower = eta[active] * np.exp(-step[active])
        new, good = _solved_above_axis(equation, active, lower, h[active])
        moved = active[good]
        h[moved], eta[moved] = new[good], lower[good]
        step[active] *= np.where(good, 1.5, 0.5)
        near = np.zeros(count, bool)
        # Where the root is real in the end Im h is proportional to eta, and below 1 in units of it times m/(1 - m).
        near[moved] = (eta[moved] < -2 * h[moved].imag) | (eta[moved] < 1e-3 * abs(h[moved]))
        if near.any():
            there = selected(equation, near)
            found = replaced(found, near, certify(there, newton(there, h[near], 25)))
        active = active[~found.certified[active] & (step[active] > 1e-4)]
        if not active.size:
            break
    return found


def _solved_above_axis(
    equation: ScalarEquation, which: Indices, eta: Array, h: ComplexArray
) -> tuple[ComplexArray, Mask]:
    """Solve at a - i eta for the points `which`; the second array says where that succeeded."""
    kept = np.zeros(len(equation.a), bool)
    kept[which] = True
    shifted = selected(equation, kept)
    shifted = replace(shifted, a=shifted.a - 1j * eta[:, None])
    h = newton(shifted, h, 8, 1e-4)
    t = 1 / (h[:, None] + shifted.a)
    first, second = (power @ shifted.weights / shifted.alpha for power in (t, t * t))
    error = abs(_newton_step(shifted.rows, h, first, second))
    # A step this small beside Im h cannot lead out of the half plane, so that its root is the physical one.
    return h, np.asarray((h.imag < 0) & (error < -1e-3 * h.imag))


def newton(equation: ScalarEquation, h: ComplexArray, iterations: int = 60, close: float = 1e-7) -> ComplexArray:
    """Solve the equation by Newton's method kept in Im h < 0, until a step is within `close`."""
    h, active = h.astype(complex), np.arange(len(h))
    a = equation.a
    for _ in range(iterations):
        here = h[active]
        t = 1 / (here[:, None] + a)
        first = t @ equation.weights / equation.alpha
        second = (t * t) @ equation.weights / equation.alpha
        step = _newton_step(equation.rows, here, first, second)
        step = np.where(np.isfinite(step), step, 0.1 * here)
        new = here - step
        # The half plane Im h < 0 holds one root alone: a step out of it is cut short, so that no other root attracts
        # it.
        h[active] = np.where(new.imag < 0, new, new.real + 0.3j * here.imag)
        size = abs(step)
        # Near an edge Im h is small beside h, and has to be told from zero.
        going = (size > close * abs(here)) | ((size > 0.01 * abs(here.imag)) & (size > 1e-15 * abs(here)))
        if not going.any():
            break
        if not going.all():
            active, a = active[going], a[going]
    return h


def _newton_step(rows: RowScales, h: Numbers, first: Numbers, second: Numbers) -> Numbers:
    """Return what Newton's method subtracts from h, given <t>/alpha and <t^2>/alpha."""
    with np.errstate(all="ignore"):
        weight, slope, _ = inverse_weights(rows, first)
        # It is the step on h/g = 1, which for rows that are alike is h - 1 + h <t>/alpha = 0.
        return np.asarray((h - weight) / (1 - h * slope * second / weight))


def _residual(rows: RowScales, h: Numbers, first: Numbers) -> Array:
    with np.errstate(all="ignore"):
        weight = inverse_weights(rows, first)[0]
        return np.asarray(abs(h - weight) / (abs(h) + abs(weight)))


def certify(equation: ScalarEquation, h: ComplexArray) -> Branch:
    """Certify the roots h; those on the real line are made real by a few real steps first.

    A real root with m > 1 is not the physical one. Newton's method kept in Im h < 0 comes as close to it as rounding
    lets it, so that a small imaginary part counts only where no such root is beside it.
    """
    h = h.copy()
    real_equation = not np.iscomplexobj(equation.a)
    t = 1 / (h[:, None] + equation.a)
    first, second = t @ equation.weights / equation.alpha, (t * t) @ equation.weights / equation.alpha
    error = abs(_newton_step(equation.rows, h, first, second))
    inside = (h.imag < 0) & ((error < -0.1 * h.imag) | (not real_equation))
    outside = np.zeros(len(h), bool)
    if real_equation and (flat := ~inside | (abs(h.imag) < SMALL_IMAGINARY_PART * abs(h))).any():
        roots, m, met = _real_roots(selected(equation, flat), h[flat].real)
        beside = met & (abs(roots - h[flat].real) < 1e-3 * abs(h[flat]))
        real = (m < 1) & (beside | ~inside[flat])
        outside[flat] = real
        inside[flat] = (
            ~real
            & (h[flat].imag < -ROUNDING_IMAGINARY_PART * abs(h[flat]))
            & ~(beside & (m > 1 + SMALL_IMAGINARY_PART))
        )
        h[flat] = np.where(real, roots, h[flat])
    first = (1 / (h[:, None] + equation.a)) @ equation.weights / equation.alpha
    residual = _residual(equation.rows, h, first)
    return Branch(h, np.where(np.isfinite(residual), residual, np.inf), inside, outside)


def _real_roots(equation: ScalarEquation, h: Array) -> tuple[Array, Array, Mask]:
    """Return the end of Newton's method on the real line, m there, and whether its steps ended."""
    with np.errstate(all="ignore"):
        for _ in range(40):
            t = 1 / (h[:, None] + equation.a)
            first, second = (power @ equation.weights / equation.alpha for power in (t, t * t))
            step = _newton_step(equation.rows, h, first, second)
            h = h - step
            if np.all(abs(step) <= 1e-15 * abs(h)):
                break
        t = 1 / (h[:, None] + equation.a)
        t1, t2 = (power @ equation.weights / equation.alpha for power in (t, t * t))
        m = inverse_weights(equation.rows, t1)[1] * t2
        met = abs(step) <= 1e-9 * abs(h)
    return h, np.where(np.isfinite(m), m, np.inf), np.asarray(met)


def share_below(equation: ScalarEquation, found: Branch) -> Array:
    """Compute the share of eigenvalues below every real nu, less that on vectors that no row reaches, in closed form.

    With delta = <t>/alpha the functional phi = <log(h sigma + offset - nu)> + alpha (E log(1 + tau delta) - h delta)
    is stationary in h and in delta where the equation holds, so that dphi/dnu = -tr (S - nu)^-1/d; hence the share is
    -Im phi/pi, with the arguments that continuation through the upper half plane gives: those of h + a fall from 0 to
    -pi, those of 1 + tau delta rise from 0 to pi. In a gap it is a sum of weights less alpha times one of
    probabilities. For rows that are alike alpha (h - 1 - log h) is what is added to the mean of the logarithms.
    """
    h = found.h
    z = h[:, None] + equation.a
    delta = (1 / z) @ equation.weights / equation.alpha
    falling = _angle_share(z) @ equation.weights
    tau, p = equation.rows.nodes, equation.rows.probabilities
    if equation.rows.alike:  # 1 + delta = 1/h, without the rounding of a sum
        rising, product = _angle_share(1 / h), -h.imag
    else:
        rising, product = _angle_share(1 + tau * delta[:, None]) @ p, (h * delta).imag
    share = falling - equation.alpha * (rising - np.where(found.inside, product / np.pi, 0.0))
    return np.asarray(share + equation.below)


def _angle_share(z: ComplexArray) -> Array:
    """Return |arg z|/pi, from 0 to 1."""
    return np.asarray(np.arctan2(abs(z.imag), z.real) / np.pi)
