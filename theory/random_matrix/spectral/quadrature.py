"""Whether a limit d -> infinity, whose spectrum is known by the nodes of a quadrature, has a law that shows them.

With many samples a dimension every node would have a bulk of its own, and before that the density between the nodes
falls. A gap of the spectrum itself stays where it is when the nodes are doubled; one between two nodes does not. Where
a covariance knows no finer nodes, a gap counts as one of the spectrum if it is much wider than all spacings of the
nodes near it on either side. A node much heavier than those near it is an atom of the spectrum, not one of many nodes.
"""

from itertools import pairwise

import numpy as np

from theory.core.arrays import Array
from theory.random_matrix.spectral.bulk import WEIGHTS, Interval, angles
from theory.random_matrix.spectral.edges import ExactEdges
from theory.random_matrix.spectral.ensemble import CommutingEnsemble, Ensemble, Indices, Mask
from theory.random_matrix.spectral.equation import resolvent, solve
from theory.random_matrix.spectral.resolve import Resolved, Span

# Distance of a limit's densities, and relative distance of its edges, between so many nodes and twice as many.
DENSITY_TOLERANCE = 1e-7
SAMPLED_ANGLES = 64  # points in each bulk at which densities are compared before they are resolved
N_NEAR_SPACINGS = 4  # spacings on either side of a gap with which it is compared
MIN_GAP_SPACINGS = 4.0  # spacings that a gap of the spectrum is wide; neighboring spacings of a quadrature differ less
N_NEIGHBORS = 8  # nodes on either side of one with whose weights its own is compared
# Weights of those near it that an atom has; within a quadrature weights change less from node to node.
ATOM_WEIGHT_RATIO = 8.0


def atoms_among_nodes(weights: Array) -> Mask:
    """Tell which nodes (r,), in the order of their places, are much heavier than those near them."""
    reach = np.arange(-N_NEIGHBORS, N_NEIGHBORS + 1)
    place = np.arange(len(weights))[:, None] + reach
    near = np.where((place >= 0) & (place < len(weights)), weights[np.clip(place, 0, len(weights) - 1)], np.nan)
    # The lower quartile of the neighbors is that of nodes even where some of them are atoms too.
    return np.asarray(weights > ATOM_WEIGHT_RATIO * np.nanquantile(near, 0.25, axis=1))


def gaps_of_spectrum(sigma: Array, weights: Array, below: Indices) -> Mask:
    """Tell which gaps, of nodes `sigma` (r,) ascending with their weights, the spectrum itself has.

    `below` (k,) numbers the node below each of them.
    """
    spacing, atom = np.diff(sigma), atoms_among_nodes(weights)
    inner = np.where(atom[1:] | atom[:-1], np.nan, spacing)
    found = np.zeros(len(below), bool)
    for number, node in enumerate(below):
        low = 0.0 if atom[node] else _widest(inner[max(node - N_NEAR_SPACINGS, 0) : node][::-1])
        high = 0.0 if atom[node + 1] else _widest(inner[node + 1 : node + 1 + N_NEAR_SPACINGS])
        found[number] = spacing[node] > MIN_GAP_SPACINGS * max(low, high)
    return found


def _widest(outward: Array) -> float:
    """Return the largest of the spacings before the first one that ends at an atom; infinity where there is none."""
    ends = np.flatnonzero(np.isnan(outward))
    kept = outward[: ends[0]] if len(ends) else outward
    return float(kept.max()) if len(kept) else np.inf


def shown_between(ensemble: Ensemble, spans: list[Span]) -> bool:
    """Tell whether a gap between two of the bulks parts levels of the population between which it has none itself."""
    if not isinstance(ensemble, CommutingEnsemble):
        return True
    middle = np.array([(one.interval.high + other.interval.low) / 2 for one, other in pairwise(spans)])
    atoms = ensemble.distinct
    kept = atoms.sigma > 0
    sigma, weights = atoms.sigma[kept], atoms.weights[kept]
    equation = ensemble.at(middle, traced=False)
    below = solve(equation).h.real[:, None] + equation.a < 0
    parted = below.any(axis=1) & ~below.all(axis=1)
    changes = below[:, 1:] != below[:, :-1]
    # Levels are monotonic in sigma, so that those below a gap are the first or the last of them.
    if not (changes[parted].sum(axis=1) == 1).all():
        return True
    return not gaps_of_spectrum(sigma, weights, np.argmax(changes[parted], axis=1)).all()


def largest_change(
    ensemble: CommutingEnsemble, edges: ExactEdges, finer: CommutingEnsemble, beside: ExactEdges
) -> float:
    """Compare edges, relative to their bulks, and densities at some points with those of finer nodes."""
    if len(edges.bulks) != len(beside.bulks):
        return np.inf
    # Edges come first: they have a closed form, while densities cost roots at many points.
    by_edges = float((abs(edges.bulks - beside.bulks) / np.diff(edges.bulks, axis=1)).max(initial=0.0))
    if by_edges > DENSITY_TOLERANCE:
        return by_edges
    phi, anchor = (np.arange(SAMPLED_ANGLES) + 0.5) * np.pi / SAMPLED_ANGLES, float(ensemble.offset[0])
    bulks = [Interval(float(low), float(high), anchor) for low, high in edges.bulks]
    nu, stretch = (np.concatenate([getattr(one, name)(phi) for one in bulks]) for name in ("position", "stretch"))
    branch, trace = resolvent(ensemble, nu)
    _, again = resolvent(finer, nu, branch.h)
    return max(by_edges, float((abs((trace - again).imag) * stretch).sum()) / SAMPLED_ANGLES)


def density_change(found: Resolved, finer: Ensemble) -> float:
    """Compute the integral of the change of the density, in the bulks that were found, when the nodes are finer."""
    total = 0.0
    for bulk in found.bulks:
        if bulk.narrow:
            continue
        phi, roots = angles(bulk.breaks[:-1], bulk.breaks[1:]), bulk.roots
        branch, trace = resolvent(finer, bulk.interval.position(phi).ravel(), roots.ravel())
        density = np.where(branch.inside, trace.imag / np.pi, 0.0).reshape(phi.shape)
        change = abs(density * bulk.interval.stretch(phi) - bulk.values)
        total += float((change @ WEIGHTS) @ np.diff(bulk.breaks)) / 2
    return total
