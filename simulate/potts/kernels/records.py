"""Records the states of many chains after a sweep: random projections, and counts of the colors.

Recording happens after every sweep of a pilot run. On a lattice a sweep takes a few nanoseconds a site, so these loops
are compiled: in numpy they would take longer than the sweep itself.
"""

from typing import Any

from simulate.potts.kernels.compiled import compiled


@compiled
def project(states: Any, weights: Any, projections: Any, histogram: Any) -> None:
    """Add sum_i weights[i, s_i, k] to projections[c, k], and the number of sites of every color to histogram[c].

    `states` (n_chains, L), `weights` (L, C, K), `projections` (n_chains, K), `histogram` (n_chains, C).
    """
    n_projections = weights.shape[2]
    for c in range(len(states)):
        for i in range(states.shape[1]):
            # One pass over the states serves both records.
            color = states[c, i]
            histogram[c, color] += 1
            for k in range(n_projections):
                projections[c, k] += weights[i, color, k]


@compiled
def count_sites(states: Any, counts: Any) -> None:
    """Add one to counts[c, i, s_i] (n_chains, L, C) for every site i of every chain c."""
    for c in range(len(states)):
        for i in range(states.shape[1]):
            counts[c, i, states[c, i]] += 1
