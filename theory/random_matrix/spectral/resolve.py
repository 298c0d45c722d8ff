"""From edges to bulks: the scalar equation at the nodes of every bulk, with more nodes until its series has decayed."""

from dataclasses import dataclass

import numpy as np

from theory.models.arrays import Array
from theory.random_matrix.spectral.bulk import Bulk, Interval
from theory.random_matrix.spectral.ensemble import ComplexArray, DenseEnsemble, Ensemble, Indices
from theory.random_matrix.spectral.equation import Branch, resolvent

FEWEST = 16
DECAYED = 1e-13  # of the last coefficients, relative to the largest
NOISE = 1e-9  # coefficients below that no longer decay are rounding
MOST, FINEST = FEWEST * 3**6, FEWEST * 3**7  # nodes of a bulk, the latter for few atoms
ALWAYS = FEWEST * 3**3  # where a node costs an eigendecomposition


class GapFoundError(Exception):
    """Points inside a supposed bulk are outside the support."""

    def __init__(self, points: Array) -> None:
        super().__init__(f"no density at {points}")
        self.points = points


@dataclass(frozen=True, eq=False)
class Resolved:
    """The resolved bulks, with the largest residual of the scalar equation at their nodes."""

    bulks: tuple[Bulk, ...]
    residual: float


def resolve(ensemble: Ensemble, intervals: list[Interval]) -> Resolved:
    """Resolve all bulks at once, each on its own number of nodes; GapFoundError where an interval is no bulk."""
    dense = isinstance(ensemble, DenseEnsemble)
    most = max(ALWAYS, min(MOST, int(1e9 / ensemble.size**3))) if dense else FINEST if ensemble.size <= 120 else MOST
    bulks: list[Bulk | None] = [None] * len(intervals)
    residual, count, active = 0.0, FEWEST, list(range(len(intervals)))
    last: dict[int, float] = {}
    while active and count <= most:
        rounds = [_fresh(bulks[i], count) for i in active]
        nu = np.concatenate([intervals[i].position(phi) for i, (phi, _) in zip(active, rounds, strict=True)])
        start = None if count == FEWEST else np.concatenate([guess for _, guess in rounds])
        found = resolvent(ensemble, nu, start)
        lost = ~(found.inside & found.certified)
        if lost.any():
            raise GapFoundError(nu[lost])
        residual = max(residual, float(found.residual.max()))
        ends = np.cumsum([len(phi) for phi, _ in rounds])
        for i, (phi, _), part in zip(active, rounds, np.split(np.arange(len(nu)), ends[:-1]), strict=True):
            bulks[i] = _joined(intervals[i], bulks[i], phi, found, part)
        now = {i: bulk.truncation for i in active if (bulk := bulks[i])}
        active = [i for i in active if now[i] > DECAYED and not (0.3 * last.get(i, 1.0) < now[i] < NOISE)]
        last, count = now, count * 3
    return Resolved(tuple(bulk for bulk in bulks if bulk is not None), residual)


def _fresh(bulk: Bulk | None, count: int) -> tuple[Array, ComplexArray]:
    """Choose the nodes among `count` that are new, with guesses of h there: tripling keeps all old nodes."""
    number = np.arange(count)
    if bulk is not None:
        number = number[number % 3 != 1]
    phi = (number + 0.5) * np.pi / count
    return phi, bulk.guess(phi) if bulk is not None else np.empty(0, complex)


def _joined(interval: Interval, bulk: Bulk | None, phi: Array, found: Branch, part: Indices) -> Bulk:
    h, values = found.h[part], found.trace[part].imag / np.pi * interval.stretch(phi)
    if bulk is not None:
        phi, h = np.concatenate([bulk.phi, phi]), np.concatenate([bulk.h, h])
        values = np.concatenate([bulk.values, values])
    order = np.argsort(phi)
    return Bulk(interval, phi[order], h[order], values[order])
