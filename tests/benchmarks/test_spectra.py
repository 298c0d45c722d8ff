"""Spectral densities on 1000 points beside published packages, each skipped, saying so, where it is absent.

Run by `make bench`, with OPENBLAS_NUM_THREADS=1. CPU times; nothing is asserted about them. The error of a peer is its
largest relative deviation from ours over the points where the density exceeds 1e-3 of its maximum.
"""

import time
from functools import partial

import numpy as np
import pytest

from tests.benchmarks.timing import seconds
from theory.models import Isotropic
from theory.random_matrix import covariance_law
from theory.random_matrix.spectral import high_precision
from theory.random_matrix.spectral.build import law_of
from theory.random_matrix.spectral.ensemble import CommutingEnsemble

pytest.importorskip("pytest_benchmark")

ALPHA = 2.0
ATOMS = [2, 5, 20, 100, 1000]
cpu_seconds = partial(seconds, clock=time.process_time)


def ensemble(count):
    sigma = np.sort(np.random.default_rng(count).uniform(0.1, 10, count))
    return CommutingEnsemble(ALPHA, sigma, np.zeros(count), np.full(count, 1 / count))


def points(law, count=1000):
    return np.linspace(law.edges[0, 0], law.edges[-1, 1], count + 2)[1:-1]


def attempted(benchmark, name, run):
    """What the peer returns, or a skip that says how it fails."""
    try:
        return benchmark.pedantic(run, rounds=1)
    except Exception as failure:
        pytest.skip(f"{name} fails here: {type(failure).__name__}: {failure}")


def errors(ours, theirs):
    seen = ours > 1e-3 * ours.max()
    return float(np.max(abs(theirs[seen] / ours[seen] - 1)))


@pytest.mark.parametrize("count", ATOMS)
def test_density(benchmark, show, count):
    """Target: 100 atoms in 0.1 s of CPU at 1e-10 relative, edges to 1e-10, mass to 1e-6."""
    atoms = ensemble(count)
    law = law_of(atoms)
    x = points(law)
    benchmark.pedantic(lambda: law_of(ensemble(count)).density(x), rounds=3, warmup_rounds=1)
    some = law.quantiles([0.07, 0.52, 0.91])
    exact = [float(high_precision.density(atoms, point)) for point in some] if count <= 100 else law.density(some)
    top = float(high_precision.edge(atoms, law.edges[-1, 1], law.bulks[-1].h[0].real))
    show(
        f"density, {count} atoms",
        cpu_seconds=cpu_seconds(lambda: law_of(ensemble(count)).density(x)),
        bulks=len(law.edges),
        worst_relative_error=float(np.max(abs(law.density(some) / exact - 1))),
        edge_error=abs(law.edges[-1, 1] / top - 1),
        mass_error=abs(law.total_mass - 1),
    )


@pytest.mark.parametrize("count", ATOMS)
def test_freealg(benchmark, show, count):
    """Its compound free Poisson law is that of XX'/n: alpha times smaller."""
    freealg = pytest.importorskip("freealg", reason="freealg is not installed")
    atoms = ensemble(count)
    law = law_of(atoms)
    x = points(law)
    peer = freealg.distributions.CompoundFreePoisson(atoms.sigma, atoms.weights, 1 / ALPHA)
    theirs = ALPHA * np.asarray(attempted(benchmark, "freealg", lambda: peer.density(x)))
    show(
        f"freealg, {count} atoms",
        cpu_seconds=cpu_seconds(lambda: peer.density(x), 1),
        worst_relative_error=errors(law.density(x), theirs),
    )


@pytest.mark.parametrize("count", [2, 5])
def test_rmtool(benchmark, show, count):
    """Through a bivariate polynomial: at most five atoms."""
    rmtool = pytest.importorskip("rmtool", reason="rmtool is not installed")
    atoms = ensemble(count)
    law = law_of(atoms)
    x = points(law)

    def density():
        polynomial = rmtool.AtimesWish(rmtool.atomLmz(atoms.sigma.tolist(), atoms.weights.tolist()), 1 / ALPHA)
        return rmtool.Lmz2pdf(polynomial, x).best_density()

    theirs = np.nan_to_num(attempted(benchmark, "rmtool", density))
    show(
        f"rmtool, {count} atoms",
        cpu_seconds=cpu_seconds(density, 1),
        worst_relative_error=errors(law.density(x), theirs),
    )


def test_scikit_rmt(benchmark, show):
    """The Marchenko-Pastur law of one eigenvalue is all it has."""
    laws = pytest.importorskip("skrmt.ensemble.spectral_law", reason="scikit-rmt is not installed")
    law = covariance_law(Isotropic(np.inf), ALPHA)
    x = points(law)
    peer = laws.MarchenkoPasturDistribution(ratio=1 / ALPHA)
    theirs = benchmark.pedantic(lambda: peer.pdf(x), rounds=3, warmup_rounds=1)
    show(
        "scikit-rmt, 1 atom",
        cpu_seconds=cpu_seconds(lambda: peer.pdf(x)),
        ours=cpu_seconds(lambda: covariance_law(Isotropic(np.inf), ALPHA).density(x)),
        worst_relative_error=errors(law.density(x), theirs),
    )
