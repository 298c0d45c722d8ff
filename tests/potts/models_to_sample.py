"""Small models of every kind that has a kernel, and the samplers that take them."""

from itertools import permutations

import numpy as np

from simulate.potts.dynamics import make_dynamics
from simulate.potts.kernels.samplers import GroupChains, ProductChains
from theory.models import DensePottsModel, Interaction, ManyBodyPottsModel, PottsModel, SquareLatticePotts

KINDS = ("dense", "product", "sparse", "many_body")
METHODS = ("heat_bath", "metropolis", "colored")


def model(kind, n_sites=3, n_colors=3, beta=1.6, scale=1.0):
    """Couplings of order one on all pairs (sparse: a chain), times `scale`; fields of order one half."""
    rng = np.random.default_rng(7)
    U = _symmetric(rng.standard_normal((n_colors,) * 2))
    fields = 0.5 * rng.standard_normal((n_sites, n_colors))
    J = np.triu(rng.standard_normal((n_sites, n_sites)) * 2 / np.sqrt(n_sites), 1)
    if kind == "sparse":
        i = np.arange(n_sites - 1)
        return PottsModel.from_edges(n_sites, np.stack([i, i + 1], axis=1), scale * 2.0, U, fields, beta)
    if kind == "many_body":
        W = _symmetric(rng.standard_normal((n_colors,) * 3))
        triples = np.stack([np.arange(n_sites - 2), np.arange(1, n_sites - 1), np.arange(2, n_sites)], axis=1)
        pairs = Interaction(triples[:, :2], scale * np.ones(len(triples)), U)
        return ManyBodyPottsModel(
            n_sites, [pairs, Interaction(triples, scale * 2 * (-1.0) ** triples[:, 0], W)], fields, beta
        )
    pair = PottsModel(scale * (J + J.T), U, fields, beta)
    return DensePottsModel.of(pair) if kind == "dense" else pair


def dynamics(kind, system, n_chains, seed, *, method="heat_bath", **options):
    """Chains of `system`; "product" and "sparse" take their kernel whatever `make_dynamics` would choose."""
    rng = np.random.default_rng(seed)
    if kind in ("product", "sparse"):
        options = {"betas": None, "start": None, "n_threads": 1, "metropolis": method == "metropolis"} | options
        if kind == "product":
            return ProductChains(system, n_chains, rng, **options)
        return GroupChains(system, n_chains, rng, colored=method == "colored", **options)
    return make_dynamics(system, n_chains, rng, method=method, **options)


def lattice(beta=0.7):
    """A small periodic square lattice."""
    return SquareLatticePotts(4, 4, 3, beta)


def _symmetric(tensor):
    axes = list(permutations(range(tensor.ndim)))
    return sum(tensor.transpose(each) for each in axes) / len(axes)
