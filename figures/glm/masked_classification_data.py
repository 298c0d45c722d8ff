"""Makes spins and colors for masked classification: models, states drawn from them, and fits of single sites."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import softmax

from simulate.core import stream
from simulate.glm import conditional_entropy, fit_masked_site
from simulate.potts import make_dynamics
from simulate.potts.dynamics import Dynamics
from theory import glm
from theory.core.arrays import Array
from theory.glm.classification import fresh_loss, masked_classification, masked_color, mixture_floor
from theory.models import PottsModel
from theory.models.potts import random_color_couplings, random_graph, zero_sum_blocks
from theory.models.potts.one_hot_contrasts import contrasts, helmert

States = NDArray[np.int16]

RECORDS, TRAININGS = 15, 5
TESTED = 3  # fits are tested on every third state of the population
TOLERANCE = 1e-5  # of saddle points, relative: far below the noise of the moments
SPIN = np.array([[1.0, -1.0], [-1.0, 1.0]])  # s s' for color 0 = spin +1, color 1 = spin -1


def spin_glass(n_sites: int, beta: float, rng: Generator) -> PottsModel:
    """Make Sherrington and Kirkpatrick's model with rows of unit length; its glass phase begins at beta = 1."""
    return PottsModel(normal_couplings(n_sites, rng), SPIN, beta=beta)


def normal_couplings(n_sites: int, rng: Generator) -> Array:
    """Draw J = D J' D with normal J' and sum_j J_ij^2 = 1 in every row.

    Rows whose lengths differ by N^(-1/2) would add noise.
    """
    J = np.triu(rng.standard_normal((n_sites, n_sites)), 1)
    J += J.T
    d = np.full(n_sites, n_sites**-0.5)  # D^2 balances the squares, as in Sinkhorn's iteration
    for _ in range(50):
        d = np.sqrt(d / (J**2 @ d))
    return np.asarray(np.sqrt(d)[:, None] * J * np.sqrt(d))


def sparse_glass(n_sites: int, mean_degree: float, reduced: float, rng: Generator) -> PottsModel:
    """Make J_ij = +-1 on a random graph; `reduced` = beta/beta_c, where mean_degree tanh(beta_c)^2 = 1."""
    graph = random_graph(n_sites, mean_degree, rng).toarray()
    signs = np.triu(rng.choice([-1.0, 1.0], graph.shape), 1)
    critical = np.arctanh(1 / np.sqrt(mean_degree))
    return PottsModel(graph * (signs + signs.T), SPIN, beta=reduced * float(critical))


def color_glass(n_sites: int, n_colors: int, beta: float, rng: Generator) -> PottsModel:
    """Make `normal_couplings` times a random U of zero row sums, hence without fields, and spectral radius C.

    A site's contrasts have the variance 1/C: correlations of equally frequent colors diverge at beta = 1.
    """
    J = normal_couplings(n_sites, rng)
    U = zero_sum_blocks(random_color_couplings(n_colors, rng))
    return PottsModel(J, U * (n_colors / np.linalg.norm(U, 2)), beta=beta)


def numbers(states: States, n_colors: int) -> Array:
    """Return spins +-1 (M, L), or for more colors contrasts (M, L (C-1))."""
    return np.asarray(1.0 - 2.0 * states, float) if n_colors == 2 else contrasts(states, n_colors)


def recorded(dynamics: Dynamics, burn_in: int, records: int, apart: int) -> States:
    """Return `records` states of each chain, record after record, (records chains, L), the first after `burn_in`."""
    kept = []
    dynamics.run(max(burn_in - apart, 0))
    for _ in range(records):
        dynamics.run(apart)
        kept.append(dynamics.states)
    return np.concatenate(kept)


def first_conditionals(model: PottsModel, states: States, n_sites: int) -> Array:
    """Return P(color | other sites) of the first `n_sites` sites alone, (M, n_sites, C), in a model without fields."""
    J = model.dense_site_couplings[:n_sites]
    scores = [scores_of[states] @ J.T for scores_of in model.color_couplings]
    return np.asarray(softmax(model.beta * np.stack(scores, axis=-1), axis=-1))


def spin_glass_fits(
    p: int, beta: float, problems: Sequence[tuple[float, float]], sites: int, sweeps: int, replicate: int
) -> Array:
    """Measure test loss, excess and training loss of `sites` spins of one model of p + 1 spins, (problems, 3).

    A problem is (alpha, lam); all share their samples, of which a smaller one takes the first. The test loss is the
    mean entropy of all sites plus the excess of the sites fitted, which has less noise than their own loss.
    """
    rng = stream(0, "masked spins", p, beta, replicate)
    model = spin_glass(p + 1, beta, rng)
    most = max(round(alpha * p) for alpha, _ in problems)
    states = recorded(make_dynamics(model, most + max(2 * p, 300), rng), sweeps, 1, 1)
    x, P = numbers(states, 2), model.conditionals(states[most:])
    floor, found = conditional_entropy(P), []
    for alpha, lam in problems:
        n = round(alpha * p)
        fits = []
        for site in range(sites):
            others = np.delete(x, site, axis=1)
            test: dict[str, Any] = {"test_inputs": others[most:], "conditionals": P[:, site]}
            fits.append(fit_masked_site(others[:n], states[:n, site], lam, **test))
        excess = float(np.mean([fit.excess for fit in fits]))
        found.append([floor + excess, excess, float(np.mean([fit.train_loss for fit in fits]))])
    return np.array(found)


def masked_gap(
    family: str,
    x: float,
    n_sites: int,
    alpha: float,
    lam: float,
    effort: tuple[int, int, int],
    replicate: int,
    n_fitted: int = 2,
    trainings: int = TRAININGS,
    tol: float = TOLERANCE,
) -> Array:
    """Measure test loss and entropy of a site, beside test loss and floor of the mixture with its moments, (4,).

    The order is: test loss of the fits, test loss of the mixture, entropy of the site, floor of the mixture. They are
    means over the first `n_fitted` sites of one model of `family` at `x`, and over `trainings` fits of each. `effort`
    gives the number of chains, of sweeps to forget the start, and of sweeps between the `RECORDS` records of each
    chain. The records are the population: they give its covariance, and the moments of a site with the others, where
    the true mean of the site takes the place of the site, which has less noise. Fits are to later states of the same
    chains, after half as many sweeps as forget the start; a fit takes one state of each of n chains. What a fit has
    above the entropy is measured on a part of the population, the entropy on all. The floor is computed for spins; for
    colors the entropy is repeated.
    """
    rng = stream(0, "masked gap", family, x, n_sites, replicate)
    model = FAMILIES[family](n_sites, x, rng)
    C, (chains, burn_in, apart) = model.n_colors, effort
    dynamics = make_dynamics(model, chains, rng)
    population = recorded(dynamics, burn_in, RECORDS, apart)
    n = round(alpha * (n_sites - 1) * (C - 1))
    fitted = recorded(dynamics, burn_in // 2, -(-n * trainings // chains), apart)[: n * trainings]
    P = first_conditionals(model, population, n_fitted)
    X, training = numbers(population, C), numbers(fitted, C)
    gaps = []
    for k in range(n_fitted):
        others = np.delete(np.arange(X.shape[1]), np.arange(k * (C - 1), (k + 1) * (C - 1)))
        gaps.append(_site_gap(X[:, others], P[:, k], training[:, others], fitted[:, k], n, alpha, lam, tol))
    return np.asarray(np.mean(gaps, axis=0))


def _site_gap(
    X: Array, P: Array, training: Array, colors: NDArray[np.int16], n: int, alpha: float, lam: float, tol: float
) -> Array:
    C = P.shape[1]
    t = P @ (np.array([[1.0], [-1.0]]) if C == 2 else helmert(C))
    cross = (X - X.mean(axis=0)).T @ t / len(t)
    judge: dict[str, Any] = {"test_inputs": X[::TESTED], "conditionals": P[::TESTED], "bias": C > 2}
    parts = [slice(start, start + n) for start in range(0, len(colors), n)]
    entropy = conditional_entropy(P)
    loss = entropy + np.mean([fit_masked_site(training[part], colors[part], lam, **judge).excess for part in parts])
    common: dict[str, Any] = {"alpha": alpha, "lam": lam}
    if C == 2:  # centered, without a bias
        spins = masked_classification(np.cov(X.T), cross[:, 0], **common)
        return np.array([loss, fresh_loss(glm.solve(spins, tol=tol)), entropy, mixture_floor(spins)])
    mixture = masked_color(np.cov(X.T), cross, mean=X.mean(axis=0), label_mean=t.mean(axis=0), **common)
    return np.array([loss, glm.solve(mixture, tol=tol).test_loss, entropy, entropy])


DENSE, COLORS, SPARSE, DEGREES = "dense spins", "dense, three colors", "spins, degree 3", "spins at 0.6, by degree"
FAMILIES: dict[str, Callable[[int, float, Generator], PottsModel]] = {
    DENSE: spin_glass,
    COLORS: lambda n_sites, beta, rng: color_glass(n_sites, 3, beta, rng),
    SPARSE: lambda n_sites, reduced, rng: sparse_glass(n_sites, 3.0, reduced, rng),
    DEGREES: lambda n_sites, degree, rng: sparse_glass(n_sites, degree, 0.6, rng),
}
