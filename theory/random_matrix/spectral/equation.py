"""The scalar equation 1/h = 1 + <t>/alpha, t = 1/(h + a), of many points at once, in its complex and real branches.

With rows of different scales tau it is h = g(delta) = E[tau/(1 + tau delta)] at delta = <t>/alpha; 1/(1 + delta) is the
g of rows that are alike. m below is then <t^2>/alpha times -dg/ddelta.

Convention: Im nu >= 0, so Im a <= 0, Im h <= 0 and Im t >= 0. There is exactly one root with Im h < 0 for every nu in
the upper half plane, and one at a real nu inside the support; outside it there is exactly one real root with
m = h^2 <t^2>/alpha < 1. Either property certifies a root, however it was found.
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from theory.models.arrays import Array
from theory.models.blocks import in_blocks
from theory.models.row_scales import RowScales
from theory.random_matrix.row_response import inverse_weights
from theory.random_matrix.spectral.ensemble import ComplexArray, Ensemble, Mask, Numbers, ScalarEquation

TINY = 1e-14  # relative: an imaginary part below is rounding
ACCURATE = 1e-11  # residual that certifies a root; what is reached is rounding


@dataclass(frozen=True, eq=False)
class Branch:
    """Holds the roots h (points,), their residuals relative to the terms of the equation, and their certificates."""

    h: ComplexArray
    residual: Array
    inside: Mask  # Im h < 0
    outside: Mask  # real with m < 1
    trace: ComplexArray  # tr (S - nu)^-1/d

    @property
    def certified(self) -> Mask:
        """Whether each root is the physical one, to rounding."""
        return np.asarray((self.inside | self.outside) & (self.residual < ACCURATE))


def resolvent(ensemble: Ensemble, nu: Numbers, start: ComplexArray | None = None, budget: int = 500_000) -> Branch:
    """Find the physical root and the trace at every nu (points,), in blocks of at most `budget` numbers."""
    blocks = in_blocks(nu, ensemble.size, budget)
    starts = [None] * len(blocks) if start is None else in_blocks(start, ensemble.size, budget)
    parts = [solve(ensemble.at(points), first) for points, first in zip(blocks, starts, strict=True)]
    return Branch(*(np.concatenate([getattr(part, name.name) for part in parts]) for name in fields(Branch)))


def trace(equation: ScalarEquation, h: Numbers) -> ComplexArray:
    """Compute tr (S - nu)^-1/d at the roots h."""
    t = 1 / (h[:, None] + equation.a)
    if len(equation.c) == 1:
        return np.asarray(t @ (equation.c[0] * equation.weights) + equation.rest)
    return np.asarray((t * equation.c) @ equation.weights + equation.rest)


def only(equation: ScalarEquation, kept: Mask) -> ScalarEquation:
    """Select the points that are kept."""
    c = equation.c if len(equation.c) == 1 else equation.c[kept]
    return replace(equation, a=equation.a[kept], c=c, rest=equation.rest[kept])


def solve(equation: ScalarEquation, start: ComplexArray | None = None) -> Branch:
    """Find the physical root at every point: by Newton's method from `start`, and where that fails from above.

    High above the real axis, at a - i eta with a large eta, h is near 1; from there eta is lowered to 0, in finer steps
    where coarse ones fail.
    """
    found = _certified(equation, newton(equation, start)) if start is not None else None
    for ratio in (4.0, 2.0, 1.25):
        lost = ~found.certified if found else np.ones(len(equation.a), bool)
        if found and not lost.any():
            break
        missing = only(equation, lost)
        again = _certified(missing, _descend(missing, ratio))
        if found is None:
            found = again
            continue
        for name in fields(Branch):
            getattr(found, name.name)[lost] = getattr(again, name.name)
    assert found is not None
    return found


def _descend(equation: ScalarEquation, ratio: float, lowest: float = 1e-7) -> ComplexArray:
    top = 8 * (1 + 1 / equation.alpha)
    h = np.full(len(equation.a), 1 - 0.1j)
    for eta in top * ratio ** -np.arange(np.ceil(np.log(top / lowest) / np.log(ratio))):
        h = newton(replace(equation, a=equation.a - 1j * eta), h, 8, 1e-3)
    return newton(equation, h)


def newton(equation: ScalarEquation, h: ComplexArray, iterations: int = 60, close: float = 1e-7) -> ComplexArray:
    """Solve the equation by Newton's method kept in Im h < 0, until a step is within `close`."""
    h, active = h.astype(complex), np.arange(len(h))
    for _ in range(iterations):
        here = h[active]
        t = 1 / (here[:, None] + equation.a[active])
        first = t @ equation.weights / equation.alpha
        second = (t * t) @ equation.weights / equation.alpha
        step = _newton_step(equation.rows, here, first, second)
        step = np.where(np.isfinite(step), step, 0.1 * here)
        new = here - step
        h[active] = np.where(new.imag < 0, new, new.real + 0.3j * here.imag)
        size = abs(step)
        # Near an edge Im h is small beside h, and has to be told from zero.
        active = active[(size > close * abs(here)) | ((size > 0.01 * abs(here.imag)) & (size > 1e-15 * abs(here)))]
        if not active.size:
            break
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


def _certified(equation: ScalarEquation, h: ComplexArray) -> Branch:
    """Certify the roots h; those on the real line are made real by a few real steps first."""
    h = h.copy()
    real_equation = not np.iscomplexobj(equation.a)
    t = 1 / (h[:, None] + equation.a)
    first, second = t @ equation.weights / equation.alpha, (t * t) @ equation.weights / equation.alpha
    error = abs(_newton_step(equation.rows, h, first, second))
    inside = (h.imag < 0) & ((error < -0.1 * h.imag) | (not real_equation))
    outside = np.zeros(len(h), bool)
    if real_equation and not inside.all():
        flat = np.flatnonzero(~inside)
        roots, m = _real_roots(only(equation, ~inside), h[flat].real)
        # A real root with m > 1 is not the physical one: the imaginary part was small, but not zero.
        h[flat] = np.where(m < 1, roots, h[flat])
        outside[flat], inside[flat] = m < 1, (m >= 1) & (h[flat].imag < -TINY * abs(h[flat]))
    first = (1 / (h[:, None] + equation.a)) @ equation.weights / equation.alpha
    residual = _residual(equation.rows, h, first)
    return Branch(h, np.where(np.isfinite(residual), residual, np.inf), inside, outside, trace(equation, h))


def _real_roots(equation: ScalarEquation, h: Array) -> tuple[Array, Array]:
    """Return the end of Newton's method on the real line, and m there."""
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
    return h, np.where(np.isfinite(m), m, np.inf)
