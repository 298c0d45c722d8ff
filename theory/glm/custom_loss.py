"""A user's own convex loss, from its derivative or from its proximal operator."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from theory.core import Array, Real, checked, checked_fields, checks

TRIED_MARGINS = np.concatenate((np.arange(0, 4, 0.5), np.arange(4, 12, 1.0), 12 * 1.5 ** np.arange(20)))
MAX_MARGIN = 1e300  # of margins, whose sums should not overflow
RELATIVE_STEP = 1e-7  # the step, relative, of one-sided differences
COMPARED_MARGINS = np.linspace(-4, 4, 801)  # where the function is compared with its derivative or proximal operator
PROX_STEP = 1e-3  # by which the minimum of a proximal operator is left, to see that it is one


@dataclass(frozen=True)
class ConvexMargin:
    """A convex loss of the margin t = y h, or with linear labels of the residual y - h.

    It is given by `function` l(t), and either by its `derivative` l'(t), from which the proximal operator is
    computed as a root, or by that operator itself, `proximal` (t, V) -> argmin_x (x - t)^2/(2V) + l(x). All work
    elementwise on arrays. `kinks` are the places where l' jumps. The loss should vary on a scale of order 1. It
    must be convex, which is checked wherever the prox is evaluated (it must rise, and no faster than its argument):
    ValueError otherwise. It must be the function whose derivative or proximal operator is given, which is checked at
    some margins. Kinks that are not given are sought where the averages over samples show them. A loss that
    is not convex can be an object with the methods of `theory.glm.Loss`.
    """

    function: Callable[[Array], Array]
    derivative: Callable[[Array], Array] | None = None
    proximal: Callable[[Array, float], Array] | None = None
    kinks: tuple[Real, ...] = ()
    name: str = field(default="custom")

    def __post_init__(self) -> None:
        if (self.derivative is None) == (self.proximal is None):
            raise ValueError("derivative or proximal must be given, exactly one of them")
        checked_fields(self)
        with np.errstate(all="ignore"):
            if self.derivative is not None:
                self._require_derivative(self._tried("derivative", self.derivative))
            if (proximal := self.proximal) is not None:
                self._require_minimum(self._tried("proximal", lambda t: proximal(t, 1.0)))

    def _tried(self, what: str, function: Callable[[Array], Array]) -> Array:
        """Return a function's values at COMPARED_MARGINS; ValueError where it does not work elementwise on arrays."""

        def elementwise(t: Array) -> Array:
            try:
                return function(t)
            except (TypeError, ValueError) as error:
                raise ValueError(
                    f"{what} of loss {self.name!r} must work elementwise on arrays of margins: {error}"
                ) from None

        return self._called(what, elementwise, COMPARED_MARGINS)

    def _require_derivative(self, slopes: Array) -> None:
        """Raise ValueError where the function rises more or less than its derivative says, at neighboring margins too.

        Equations use the derivative and simulations the function, so that a wrong one would give two losses.
        """
        rise = np.diff(self._tried("function", self.function)) / np.diff(COMPARED_MARGINS)
        near = sliding_window_view(slopes, 4)
        slack = 1e-6 * (1 + abs(near).max(axis=1))
        wrong = (rise[1:-1] < near.min(axis=1) - slack) | (rise[1:-1] > near.max(axis=1) + slack)
        if found := np.flatnonzero(wrong & np.isfinite(rise[1:-1]) & np.isfinite(near).all(axis=1)).tolist():
            k = found[0] + 1
            raise ValueError(
                f"derivative of loss {self.name!r} must be that of its function: near t = {COMPARED_MARGINS[k]:g} the "
                f"function rises at the rate {rise[k]:g}, and the derivative is {slopes[k]:g}"
            )

    def _require_minimum(self, minima: Array) -> None:
        """Raise ValueError where (x - t)^2/2 + l(x) is less beside the proximal operator at V = 1 than at it."""
        t = COMPARED_MARGINS
        here, *beside = (
            (x - t) ** 2 / 2 + self._called("function", self.function, x)
            for x in (minima, minima - PROX_STEP, minima + PROX_STEP)
        )
        lower = np.minimum(*beside) < here - 1e-12 * (1 + abs(here))
        if found := np.flatnonzero(lower & np.isfinite(here)).tolist():
            raise ValueError(
                f"proximal of loss {self.name!r} must minimize (x - t)^2/(2V) + l(x) of its function: at t = "
                f"{t[found[0]]:g}, V = 1, it gives {minima[found[0]]:g}, which does not"
            )

    @checked
    def value(self, t: Array) -> Array:
        """Return l(t), (samples,)."""
        if not np.isfinite(t).all():
            raise ValueError(f"t must be finite, got {checks.shown(t)}")
        return self._called("function", self.function, t)

    @checked
    def prox(self, t: Array, V: float) -> Array:
        """Return argmin_x (x - t)^2/(2V) + l(x); ValueError where the loss shows not to be convex."""
        _require_margins(t, V)
        x = self._called("proximal operator", self.proximal, t, V) if self.proximal else self._solved(t, V)
        if not np.isfinite(x).all():
            raise ValueError(f"loss {self.name!r} has a proximal operator that is not finite, V = {V:g}")
        order = np.argsort(t)
        rise, run = np.diff(x[order]), np.diff(t[order])
        slack = 1e-9 * (1 + abs(x).max() + abs(t).max())
        if wrong := np.flatnonzero((rise < -slack) | (rise > run + slack)).tolist():
            raise ValueError(
                f"loss {self.name!r} must be convex: its proximal operator falls, or rises faster than its argument, "
                f"near t = {float(t[order][wrong[0]]):g}, V = {V:g}; give one that is not convex as an object with the "
                "methods of theory.glm.Loss"
            )
        return x

    @checked
    def force(self, t: Array, prox: Array, V: float) -> Array:
        """Return (prox - t)/V, (samples,)."""
        _require_margins(t, V)
        if prox.shape != t.shape:
            raise ValueError(f"prox must have the shape of t, {t.shape}, got {prox.shape}")
        with np.errstate(over="ignore"):  # at the smallest V the force may be infinite
            return np.asarray((prox - t) / V)

    def slope(self, _t: Array, _prox: Array, _V: float) -> Array | None:
        """Return None: the second derivative of the loss is not known."""
        return None

    @checked
    def breakpoints(self, V: float) -> list[tuple[float, float]]:
        """Return the images t = x + V l'(x) of a grid and of both sides of a kink, between which the prox is flat."""
        checks.positive("V", V)
        grid = np.concatenate((-TRIED_MARGINS[:0:-1], TRIED_MARGINS))
        sides = [k + side * RELATIVE_STEP * (1 + abs(k)) for k in self.kinks for side in (-2, 2)]
        images = np.append(grid + V * self._rate(grid), [])
        if sides:
            kinks = np.repeat(np.array(self.kinks, float), 2)
            images = np.append(images, kinks + V * self._rate(np.array(sides)))
        return [(float(t), 0.0) for t in images if np.isfinite(t)]

    def _called(self, what: str, function: Callable[..., Any], t: Array, *more: float) -> Array:
        """Return what a user's function makes of an array; it may work in place."""
        found = checks.real_array(f"{what} of loss {self.name!r}", function(t.copy(), *more))
        if found.shape != t.shape:
            raise ValueError(
                f"{what} of loss {self.name!r} must map arrays to arrays of their shape, got {found.shape}"
            )
        return found

    def _rate(self, x: Array) -> Array:
        with np.errstate(all="ignore"):
            if self.derivative is not None:
                return self._called("derivative", self.derivative, x)
            step = RELATIVE_STEP * (1 + abs(x))
            above, below = (self._called("function", self.function, one) for one in (x + step, x - step))
            return np.asarray((above - below) / (2 * step))

    def _solved(self, t: Array, V: float) -> Array:
        """Solve x - t + V l'(x) = 0, whose slope of at least 1 bounds the way from t to the root by the value at t."""
        derivative = self.derivative
        assert derivative is not None

        def gap(x: Array) -> Array:
            return np.asarray(x - t + V * self._called("derivative", derivative, x), float)

        at = gap(t)
        far = t - at
        rounding = 1e-12 * (1 + abs(t) + abs(at))
        if not np.isfinite(at).all() or np.any(gap(far) * np.sign(at) > rounding):
            raise ValueError(f"loss {self.name!r} must be convex with a finite derivative: no proximal operator found")
        return bracketed_root(gap, t, far)


def _require_margins(t: Array, V: float) -> None:
    if abs(checks.finite_array("t", t, 1)).max() > MAX_MARGIN:
        raise ValueError(f"t must be at most {MAX_MARGIN:g} in size, got {checks.shown(t)}")
    checks.positive("V", V)


def bracketed_root(function: Callable[[Array], Array], a: Array, b: Array) -> Array:
    """Find roots between a and b, where the signs differ, by inverse quadratic steps or halvings (Chandrupatla)."""
    fa, fb = function(a), function(b)
    c, fc, share = a, fa, np.full_like(a, 0.5)
    for _ in range(100):
        with np.errstate(all="ignore"):
            x = a + share * (b - a)
            fx = function(x)
            same = np.sign(fx) == np.sign(fa)
            c, fc = np.where(same, a, b), np.where(same, fa, fb)
            b, fb = np.where(same, b, a), np.where(same, fb, fa)
            a, fa = x, fx
            best = np.where(abs(fa) < abs(fb), a, b)
            least = np.where(a == b, 1.0, 2e-16 * (abs(best) + 1e-3) / abs(b - a))
            done = (least > 0.5) | (np.minimum(abs(fa), abs(fb)) == 0)
            if done.all():
                break
            xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
            smooth = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
            quadratic = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
            share = np.where(smooth & np.isfinite(quadratic), quadratic, 0.5)
            share = np.where(done, 0.0, np.clip(share, least, 1 - least))
    return np.asarray(best)
