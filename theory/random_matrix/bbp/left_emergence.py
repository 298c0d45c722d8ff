"""Outliers left of the bulk: eigenvalues of the deterministic equivalent below those of the noise, by dense algebra.

With D = diag(1/scale), Lam = diag(shift) and x(h) the branch left of the bulk, on which h = 1/K falls from 1 to the
edge, there are as many outliers as eigenvalues of D^1/2 (h Sigma + Lam) D^1/2, with the full Sigma, below x at the edge
(h, x). Each of these rises with h while x(h) falls, so that each is one root. Positive spikes only push eigenvalues up:
what comes out on the left is due to the smaller scales D on the coordinates of a localized spike.
"""

import numpy as np
from scipy.linalg import eigh, eigvalsh
from scipy.optimize import brentq

from theory.core.arrays import Array
from theory.random_matrix.bbp.emergence import ROUNDING, Emerged, Residue, overlaps_of
from theory.random_matrix.bbp.spiked_bulk import SpikedBulk

ATOM_PLACE = 30.0  # h = exp(-30) stands for the end of the branch where the support ends in an atom


def emerged_left(bulk: SpikedBulk, strengths: Array) -> list[Emerged]:
    """Find all outliers left of the bulk, the smallest first."""
    directions = bulk.spiked.directions
    if directions is None:
        return []
    normalization, branch = bulk.normalizations.at(strengths), bulk.left_branch
    full = bulk.spiked.noise.matrix + (directions.T * strengths) @ directions
    scale, shift = (np.broadcast_to(part, len(full)) for part in (normalization.scale, normalization.shift))
    root = 1 / np.sqrt(scale)
    covariance, offset = root[:, None] * full * root, np.diag(shift / scale)
    edge = branch.edge()
    end = ATOM_PLACE if edge.is_atom else edge.place
    last = branch.at(end)
    bound = last.nu - ROUNDING * abs(last.nu)
    found = []
    for rank in range(int(np.sum(eigvalsh(last.h * covariance + offset) < bound))):

        def gap(place: float, rank: int = rank) -> float:
            point = branch.at(place)
            return float(eigvalsh(point.h * covariance + offset, subset_by_index=[rank, rank])[0]) - point.nu

        start = end - 1
        while gap(start) < 0:
            start -= 2
        place, report = brentq(gap, start, end, xtol=1e-13, rtol=1e-13, full_output=True)
        point = branch.at(place)
        values, vectors = eigh(point.h * covariance + offset, subset_by_index=[rank, rank])
        y = vectors[:, 0]
        left, right = y * root, y / root
        on_left, on_right = (Residue(directions @ side, float(side @ side)) for side in (left, right))
        residual = abs(float(values[0]) - point.nu) / (abs(point.nu) + point.h)
        rise = float(y @ covariance @ y)
        found.append(overlaps_of(bulk, point, on_left, on_right, rise, residual, report.iterations))
    return found
