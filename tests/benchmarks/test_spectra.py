"""Spectral densities on 1000 points beside published packages, and how exact both are.

The deviation of a peer's answer is its largest relative one from ours over the points where the density exceeds 1e-3 of
its maximum. The error of ours is measured in high precision.
"""

import numpy as np
import pytest

from tests.benchmarks.machinery.jobs import Peer
from tests.random_matrix import high_precision
from theory.models import AR1, Isotropic, MaskedRidge, Scaled
from theory.random_matrix import covariance_law, predictor_law
from theory.random_matrix.spectral.build import law_of
from theory.random_matrix.spectral.ensemble import CommutingEnsemble

SUBJECT = "spectral laws"
ALPHA = 2.0


def ensemble(count):
    sigma = np.sort(np.random.default_rng(count).uniform(0.1, 10, count))
    return CommutingEnsemble(ALPHA, sigma, np.zeros(count), np.full(count, 1 / count))


def points(law, count=1000):
    return np.linspace(law.edges[0, 0], law.edges[-1, 1], count + 2)[1:-1]


def off(ours, theirs):
    theirs = np.nan_to_num(theirs)
    seen = ours > 1e-3 * ours.max()
    return np.max(abs(theirs[seen] / ours[seen] - 1))


def by_freealg(atoms, x):
    """Its compound free Poisson law is that of XX'/n: alpha times smaller."""
    import freealg

    peer = freealg.distributions.CompoundFreePoisson(atoms.sigma, atoms.weights, 1 / ALPHA)
    return lambda: ALPHA * np.asarray(peer.density(x))


def by_rmtool(atoms, x):
    """Through a bivariate polynomial: at most five atoms."""
    import rmtool

    def density():
        polynomial = rmtool.AtimesWish(rmtool.atomLmz(atoms.sigma.tolist(), atoms.weights.tolist()), 1 / ALPHA)
        return np.asarray(rmtool.Lmz2pdf(polynomial, x).best_density())

    return density


def by_scikit_rmt(x):
    from skrmt.ensemble.spectral_law import MarchenkoPasturDistribution

    law = MarchenkoPasturDistribution(ratio=1 / ALPHA)
    return lambda: law.pdf(x)


def closed_form(x):
    """The Marchenko-Pastur density, as one would write it in a line."""
    low, high = (1 - np.sqrt(1 / ALPHA)) ** 2, (1 + np.sqrt(1 / ALPHA)) ** 2
    return ALPHA * np.sqrt((x - low) * (high - x)) / (2 * np.pi * x)


@pytest.mark.parametrize("count", [2, 5, 20, 100, 1000])
def test_density(jobs, count):
    atoms = ensemble(count)
    x = points(law_of(atoms))
    packages = {"freealg": by_freealg, "rmtool": by_rmtool} if count <= 5 else {"freealg": by_freealg}
    jobs.compare(
        f"density at 1000 points, {count} atoms",
        lambda: law_of(ensemble(count)).density(x),
        {name: Peer(lambda make=make: make(atoms, x), made=True) for name, make in packages.items()},
        off=off,
        goal="0.1 s" if count <= 100 else "",
    )


@pytest.mark.parametrize("count", [2, 20, 100])
def test_errors_of_the_density(jobs, count):
    atoms = ensemble(count)
    law = law_of(atoms)
    some = law.quantiles([0.07, 0.52, 0.91])
    exact = [float(high_precision.density(atoms, point)) for point in some]
    top = float(high_precision.edge(atoms, law.edges[-1, 1], law.bulks[-1].h[0].real))
    errors = {
        "error of the density": (np.max(abs(law.density(some) / exact - 1)), "1e-10 relative"),
        "error of the upper edge": (abs(law.edges[-1, 1] / top - 1), "1e-10 relative"),
        "error of the total mass": (abs(law.total_mass - 1), "1e-6 relative"),
    }
    for name, (error, goal) in errors.items():
        jobs.number(f"{name}, {count} atoms", error, "relative", goal=goal)


def test_one_atom(jobs):
    x = points(covariance_law(Isotropic(np.inf), ALPHA))
    jobs.compare(
        "Marchenko-Pastur density at 1000 points",
        lambda: covariance_law(Isotropic(np.inf), ALPHA).density(x),
        {"scikit-rmt": Peer(lambda: by_scikit_rmt(x), made=True), "numpy, the closed form": lambda: closed_form(x)},
        off=off,
    )


def test_growth_with_atoms(jobs):
    def make(count):
        x = points(law_of(ensemble(count)))
        return lambda: law_of(ensemble(count)).density(x)

    jobs.grows("density at 1000 points, by atoms", (50, 200, 800), make, goal="power 1.2")


def dense_model(d, alpha=1.0):
    """A covariance whose coordinates have different units, so that D^1/2 Sigma D^1/2 and lam D do not commute."""
    return MaskedRidge(Scaled(AR1(d, 0.6), np.linspace(0.5, 2, d)), alpha=alpha, lam=0.1)


def test_law_of_a_dense_predictor(jobs):
    model = dense_model(200)
    matrix = model.covariance.matrix
    predictor_law(dense_model(20))  # compiles
    jobs.compare(
        "law of a joint predictor, scaled AR1 d = 200",
        lambda: predictor_law(model),
        beside={"numpy, one eigendecomposition": lambda: np.linalg.eigh(matrix)},
        goal="2 s",
        rounds=1,
    )


@pytest.mark.parametrize(("d", "goal"), [(200, "1 s"), (400, "3 s")])
def test_law_of_a_dense_predictor_of_two_bulks(jobs, d, goal):
    """With fewer rows than columns half of the eigenvalues form a bulk of their own, which takes most panels."""
    model = dense_model(d, alpha=0.5)
    predictor_law(dense_model(20))  # compiles
    jobs.compare(
        f"law of a joint predictor, scaled AR1 d = {d}, alpha = 0.5",
        lambda: predictor_law(model),
        beside={"numpy, one eigendecomposition": lambda: np.linalg.eigh(model.covariance.matrix)},
        goal=goal,
        rounds=1,
    )


def test_growth_of_dense_predictors(jobs):
    def make(d):
        model = dense_model(d)
        return lambda: predictor_law(model)

    jobs.grows("law of a joint predictor, scaled AR1, by d", (50, 100, 200), make, goal="power 3")


def test_law_of_a_short_chain_at_a_small_ridge(jobs):
    """Bulks of relative widths from 1e-12 to 1: their panels are what costs."""
    model = MaskedRidge(AR1(40, 0.6), alpha=0.5, lam=1e-3)
    jobs.compare("law of a joint predictor, AR1 d = 40, lam = 1e-3", lambda: predictor_law(model), goal="1 s", rounds=1)
