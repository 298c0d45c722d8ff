"""From edges to bulks: the density on panels that are halved until their integrals meet the closed-form masses."""

from dataclasses import dataclass, field, fields

import numpy as np

from theory.core.arrays import Array, ComplexArray
from theory.random_matrix.spectral.bulk import TO_SERIES, WEIGHTS, Bulk, Interval, angles
from theory.random_matrix.spectral.ensemble import DenseEnsemble, Ensemble, Indices, Mask
from theory.random_matrix.spectral.equation import Branch, joined, replaced, share_below, solve, solved_blocks, trace

MASS_TOLERANCE = 1e-11  # of the mass of a panel: what its nodes sum to against the closed form
TAIL_TOLERANCE = 1e-9  # of the last coefficients of a panel, as a mass
MIN_PANEL_MASS = 1e-13  # mass of a panel that is not halved
DENSITY_ROUNDING = 100 * float(np.finfo(float).eps)  # of a density, over the relative width of its bulk
MAX_SLOPE_NOISE = 1e-10  # of a density likewise, beyond which slopes of shares, in which it is amplified, are left
NOISY_MASS_TOLERANCE = 2e-8  # error of the mass of a panel, where it is noise and a node is dear
MIN_PANEL_WIDTH = 1e-12  # relative width of a panel in nu below which rounding of nu shows in its nodes


_Known = tuple[Array, ComplexArray]  # points of a bulk, ascending, with h there


class GapFoundError(Exception):
    """Points inside a supposed bulk are outside the support."""

    def __init__(self, points: Array) -> None:
        super().__init__(f"no density at {points}")
        self.points = points


@dataclass(frozen=True, eq=False)
class Span:
    """A bulk between its edges before its density is known, with points inside at which h and N are known."""

    interval: Interval
    start: float  # the share of eigenvalues below it, by the closed form of `share_below`
    mass: float
    nu: Array = field(default_factory=lambda: np.empty(0), repr=False)  # (k,), ascending
    h: ComplexArray = field(default_factory=lambda: np.empty(0, complex), repr=False)
    share: Array = field(default_factory=lambda: np.empty(0), repr=False)  # of eigenvalues below, (k,)


@dataclass(frozen=True, eq=False)
class Resolved:
    """The resolved bulks, with the largest residual of the scalar equation or of the mass of a bulk."""

    bulks: tuple[Bulk, ...]
    residual: float


@dataclass(frozen=True, eq=False)
class _Panels:
    """Panels of several bulks, all arrays (panels,)."""

    bulk: Indices
    left: Array  # angles of the ends
    right: Array
    left_under: Array  # mass of the bulk at angles above each
    right_under: Array
    parent: Array  # the error of the panel that this one is half of

    def only(self, kept: Mask) -> "_Panels":
        return _Panels(*(getattr(self, name.name)[kept] for name in fields(self)))

    @property
    def mass(self) -> Array:
        return np.asarray(self.left_under - self.right_under)

    def halves(self, center: Array, under: Array, error: Array) -> "_Panels":
        """Cut every panel at its center, above whose angle the bulk has the mass `under`."""
        return _Panels(
            np.concatenate([self.bulk, self.bulk]),
            np.concatenate([self.left, center]),
            np.concatenate([center, self.right]),
            np.concatenate([self.left_under, under]),
            np.concatenate([under, self.right_under]),
            np.concatenate([error, error]),
        )


def resolve(ensemble: Ensemble, spans: list[Span]) -> Resolved:
    """Resolve all bulks at once, each panel halved on its own; GapFoundError where a span is no bulk.

    A panel is halved while the sum over its nodes differs from its mass in closed form or its polynomial has not
    decayed, and as long as halving helps.
    """
    starts, masses = (np.array([getattr(span, name) for span in spans]) for name in ("start", "mass"))
    dear = isinstance(ensemble, DenseEnsemble)
    noise = np.array([DENSITY_ROUNDING / (1 - span.interval.low / span.interval.high) * dear for span in spans])
    if dear and (by_shares := _by_shares(ensemble, spans, noise)) is not None:
        return by_shares
    known = [(span.nu, span.h) for span in spans]
    panels = _first(ensemble, spans, known)
    done: list[tuple[_Panels, Array, ComplexArray]] = []
    residual = 0.0
    while len(panels.left):
        phi = angles(panels.left, panels.right)
        nu, stretch = (_by_bulk(spans, panels.bulk, phi, name) for name in ("position", "stretch"))
        found, density, share = _evaluated(ensemble, nu, _guessed(known, panels.bulk, nu))
        inner = (share > starts[panels.bulk, None] + 1e-9) & (share < (starts + masses)[panels.bulk, None] - 1e-9)
        if (lost := ((found.outside & found.certified).reshape(nu.shape) & inner)).any():
            raise GapFoundError(nu[lost])
        h, values = found.h.reshape(nu.shape), density * stretch
        residual = max(residual, float(np.where(found.certified, found.residual, 0.0).max()))
        error, halved, flat = _judged(panels, values, nu, noise)
        # Where nu is not resolved the mass is still known, and moments do not feel how it is spread.
        values[flat] = (panels.mass / (panels.right - panels.left))[flat, None]
        done.append((panels.only(~halved), values[~halved], h[~halved]))
        split = panels.only(halved)
        known = _added(known, split.bulk, nu[halved], h[halved])
        panels = split.halves(*_centers_and_masses(ensemble, spans, known, split), error[halved])
    bulks = _assembled(spans, done)
    sums = [float((bulk.values @ WEIGHTS) @ np.diff(bulk.breaks) / 2) for bulk in bulks]
    gaps = [abs(total - span.mass) for total, span in zip(sums, spans, strict=True)]
    return Resolved(bulks, max([residual, *gaps]))


def _by_shares(ensemble: Ensemble, spans: list[Span], noise: Array) -> Resolved | None:
    """Resolve the bulks of a dense ensemble by the cheapest way; None where that is not certain for all of them."""
    if not isinstance(ensemble, DenseEnsemble) or len(ensemble.whitened[1]) < ensemble.size:
        return None
    if noise.max(initial=0.0) > MAX_SLOPE_NOISE:
        return None
    from theory.random_matrix.spectral.dense_panels import resolved_by_shares

    found = []
    for span, own in zip(spans, noise, strict=True):
        if (one := resolved_by_shares(ensemble, span, float(own))) is None:
            return None
        found.append(one)
    return Resolved(tuple(bulk for bulk, _ in found), max((residual for _, residual in found), default=0.0))


def panel_error(last: Array, half: float) -> float:
    """Return the error of the polynomial of a panel as a mass, from the last two coefficients of its density."""
    return float(abs(last).max()) * 2 * half * (MASS_TOLERANCE / TAIL_TOLERANCE)


def is_met(error: float, mass: float, parent: float, noise: float, low: float, high: float) -> bool:
    """Tell whether a panel from nu = `low` to `high` need not be halved: it is resolved, or halving does not help."""
    if not error > MASS_TOLERANCE or mass <= MIN_PANEL_MASS or high - low <= MIN_PANEL_WIDTH * high:
        return True
    helps = error < 0.7 * parent or error > 1e-9
    return not (helps and (error < 0.2 * parent or error > min(noise * mass, NOISY_MASS_TOLERANCE)))


def _judged(panels: _Panels, values: Array, nu: Array, noise: Array) -> tuple[Array, Mask, Mask]:
    """Return the error of every panel, whether it is to be halved, and whether only its mass is to be kept.

    `noise` (bulks,) is the relative error of a density by the rounding of nu that ends the search where halving no
    longer helps.
    """
    half = (panels.right - panels.left) / 2
    tail = abs(values @ TO_SERIES[:, -2:]).max(axis=1) * 2 * half
    error = np.maximum(abs(half * (values @ WEIGHTS) - panels.mass), tail * (MASS_TOLERANCE / TAIL_TOLERANCE))
    wide = nu.max(axis=1) - nu.min(axis=1) > MIN_PANEL_WIDTH * nu.max(axis=1)
    met = ~(error > MASS_TOLERANCE) | (panels.mass <= MIN_PANEL_MASS)
    # Halving multiplies the error of an analytic function by 2^-16, and that of rounding by 1/2 or more.
    helps = (error < 0.7 * panels.parent) | (error > 1e-9)
    helps &= (error < 0.2 * panels.parent) | (error > noise[panels.bulk] * panels.mass) | (error > NOISY_MASS_TOLERANCE)
    return error, ~met & wide & helps, ~met & ~wide


def _first(ensemble: Ensemble, spans: list[Span], known: list[_Known]) -> _Panels:
    """Return the panels to begin with: whole bulks, or quarters of them where a node is dear and none may be wasted."""
    zero = np.zeros(len(spans))
    masses = np.array([span.mass for span in spans])
    panels = _Panels(np.arange(len(spans)), zero, zero + np.pi, masses, zero, np.full(len(spans), np.inf))
    for _ in range(2 if isinstance(ensemble, DenseEnsemble) and len(spans) else 0):
        panels = panels.halves(*_centers_and_masses(ensemble, spans, known, panels), panels.parent)
    return panels


def _centers_and_masses(
    ensemble: Ensemble, spans: list[Span], known: list[_Known], panels: _Panels
) -> tuple[Array, Array]:
    """Return the centers of panels, and the masses of their bulks at larger angles."""
    center = (panels.left + panels.right) / 2
    if not len(center):
        return center, center
    nu = _by_bulk(spans, panels.bulk, center, "position")
    equation = ensemble.at(nu, traced=False)
    share = share_below(equation, solve(equation, _guessed(known, panels.bulk, nu)))
    starts = np.array([span.start for span in spans])
    return center, np.clip(share - starts[panels.bulk], panels.right_under, panels.left_under)


def _by_bulk(spans: list[Span], bulk: Indices, phi: Array, name: str) -> Array:
    value = np.empty(phi.shape)
    for number in np.unique(bulk):
        here = bulk == number
        value[here] = getattr(spans[number].interval, name)(phi[here])
    return value


def _guessed(known: list[_Known], bulk: Indices, nu: Array) -> ComplexArray | None:
    """Guess h by interpolation between the points that are known in each bulk; None where a bulk has none."""
    if not all(len(known[number][0]) for number in np.unique(bulk)):
        return None
    guess = np.empty(nu.shape, complex)
    for number in np.unique(bulk):
        here, (places, h) = bulk == number, known[number]
        guess[here] = np.interp(nu[here], places, h.real) + 1j * np.interp(nu[here], places, h.imag)
    return guess.ravel()


def _added(known: list[_Known], bulk: Indices, nu: Array, h: ComplexArray) -> list[_Known]:
    result = list(known)
    for number in np.unique(bulk):
        here = bulk == number
        places = np.concatenate([known[number][0], nu[here].ravel()])
        order = np.argsort(places, kind="stable")
        result[number] = (places[order], np.concatenate([known[number][1], h[here].ravel()])[order])
    return result


def _evaluated(ensemble: Ensemble, nu: Array, start: ComplexArray | None) -> tuple[Branch, Array, Array]:
    """Find roots, density and shares at nu (panels, points), the last two in its shape; no density where unsure."""
    if isinstance(ensemble, DenseEnsemble) and start is not None and len(ensemble.whitened[1]) == ensemble.size:
        return _evaluated_inside(ensemble, nu, start)
    parts, density, share = list[Branch](), [], []
    for equation, found in solved_blocks(ensemble, nu.ravel(), start):
        parts.append(found)
        share.append(share_below(equation, found))
        density.append(np.where(found.inside, trace(equation, found.h).imag / np.pi, 0.0))
    return joined(parts), np.concatenate(density).reshape(nu.shape), np.concatenate(share).reshape(nu.shape)


def _evaluated_inside(ensemble: DenseEnsemble, nu: Array, start: ComplexArray) -> tuple[Branch, Array, Array]:
    """Do the same without eigenvectors at the points whose root is surely that of a bulk."""
    from theory.random_matrix.spectral.tridiagonal import solved_inside

    found, traces, share = solved_inside(ensemble, nu.ravel(), start)
    density = traces.imag / np.pi
    if (lost := ~found.inside).any():
        others, by_modes, below = _evaluated(ensemble, nu.ravel()[lost], None)
        density[lost], share[lost] = by_modes, below
        found = replaced(found, lost, others)
    return found, density.reshape(nu.shape), share.reshape(nu.shape)


def _assembled(spans: list[Span], done: list[tuple[_Panels, Array, ComplexArray]]) -> tuple[Bulk, ...]:
    if not done:
        return ()
    every = [np.concatenate([getattr(one[0], name) for one in done]) for name in ("bulk", "left", "left_under")]
    values, h = (np.concatenate([one[k] for one in done]) for k in (1, 2))
    bulks = []
    for number, span in enumerate(spans):
        here = np.flatnonzero(every[0] == number)
        here = here[np.argsort(every[1][here])]
        left, under = (np.append(one[here], end) for one, end in zip(every[1:], (np.pi, 0.0), strict=True))
        bulks.append(Bulk(span.interval, left, under, values[here], h[here]))
    return tuple(bulks)
