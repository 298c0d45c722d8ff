"""Makes Potts data for masked regression: models, their populations of contrasts, and errors of fits to new samples."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simulate.core import stream
from simulate.potts import fit_contrasts, fit_gaussian, make_dynamics, sample_ring
from theory.core.arrays import Array
from theory.models import ContrastPopulation, DensePottsModel, Empirical, PottsModel, SquareLatticePotts
from theory.models.potts import random_color_couplings, ring_graph
from theory.potts import ContrastRegression, contrast_regression, heteroskedasticity, ridgeless_contrast_regression

Model = DensePottsModel | PottsModel | SquareLatticePotts


def random_model(n_sites: int) -> DensePottsModel:
    """Make J_ij of variance 1/L between all sites, with one random U for three colors and beta = 1."""
    rng = stream(0, "dense random Potts model")
    J = np.triu(rng.standard_normal((n_sites, n_sites)), 1) / np.sqrt(n_sites)
    return DensePottsModel.of(PottsModel(J + J.T, random_color_couplings(3, rng)))


def ring_with_matching(n_sites: int) -> PottsModel:
    """Make a ring whose sites are also paired at random (one is left over if L is odd), three colors, beta = 0.9."""
    order = stream(0, "matching").permutation(n_sites)
    pairs = order[: n_sites // 2 * 2].reshape(-1, 2)
    ring = ring_graph(n_sites)
    matching = PottsModel.from_edges(n_sites, pairs, 1.0, np.eye(3)).site_couplings
    return PottsModel(ring.maximum(matching), np.eye(3), beta=0.9)


def draw(model: Model, n: int, sweeps: int, rng: np.random.Generator) -> NDArray[np.int16]:
    """Draw n states, one from each chain, after `sweeps` heat-bath sweeps from random colors."""
    chains = make_dynamics(model, n, rng)
    chains.run(sweeps)
    return np.asarray(chains.states)


def sampled_moments(model: Model, chains: int, records: int, sweeps: int, symmetric: bool, name: str) -> Array:
    """Measure mean, covariance, and heteroskedasticity averaged over sites, of chains * records states, in one row.

    Records are `sweeps` apart, after ten times as many to forget the random start. `symmetric`: colors are renamed at
    random in every state, where the model does not tell them apart.
    """
    rng, C = stream(0, "population", name), model.n_colors
    dynamics, kept = make_dynamics(model, chains, rng), []
    dynamics.run(9 * sweeps)
    for _ in range(records):
        dynamics.run(sweeps)
        states = dynamics.states
        if symmetric:
            renamed = rng.permuted(np.tile(np.arange(C, dtype=np.int16), (chains, 1)), axis=1)
            states = np.take_along_axis(renamed, states.astype(np.int64), axis=1)
        kept.append(states)
    every = np.concatenate(kept)
    population = ContrastPopulation.from_states(every, C)
    monitor = heteroskedasticity(population, every).mean()
    return np.concatenate([population.mean, population.covariance.matrix.ravel(), [monitor]])


def population_of(moments: Array, n_colors: int) -> tuple[ContrastPopulation, float]:
    """Read the population and its heteroskedasticity back from a row of `sampled_moments`."""
    d = round((np.sqrt(4 * len(moments) - 3) - 1) / 2)  # the root of d + d^2 + 1
    covariance = Empirical(moments[d:-1].reshape(d, d))
    return ContrastPopulation(covariance, n_colors, moments[:d]), float(moments[-1])


def unknowns(population: ContrastPopulation) -> int:
    """Return (L-1)(C-1), the number of contrasts from which each site is predicted."""
    return (population.n_sites - 1) * (population.n_colors - 1)


def theory(population: ContrastPopulation, ratio: float, ridge: float) -> ContrastRegression:
    """Predict the errors at `ratio` samples and a penalty `ridge` per unknown; a ridge of zero is the limit."""
    alpha = ratio * unknowns(population) / population.covariance.size
    if ridge == 0:
        return ridgeless_contrast_regression(population, alpha)
    return contrast_regression(population, alpha, ridge / ratio)


def errors_of_fits(
    model: Model,
    population: ContrastPopulation,
    problems: Sequence[tuple[float, float]],
    sweeps: int,
    names: tuple[str, int],
) -> Array:
    """Measure the mean test error of fits to Potts data for every (ratio, ridge) of `problems`.

    Rings are drawn exactly (`sweeps` = 0), other models by `draw`; one draw serves all problems, of which a smaller one
    takes the first samples.
    """
    u, rng = unknowns(population), stream(0, "fits", *names)
    most = max(round(ratio * u) for ratio, _ in problems)
    if isinstance(model, PottsModel) and not sweeps:
        states = sample_ring(model.n_sites, model.color_couplings, model.beta, most, rng)
    else:
        states = draw(model, most, sweeps, rng)
    sizes = [round(ratio * u) for ratio, _ in problems]
    fits = (
        fit_contrasts(states[:n], model.n_colors, ridge * u / n, population.mean)
        for n, (_, ridge) in zip(sizes, problems, strict=True)
    )
    return np.array([fit.mean_test_error(population) for fit in fits])


def gaussian_errors(
    population: ContrastPopulation, problems: Sequence[tuple[float, float]], names: tuple[str, int]
) -> Array:
    """Measure the errors of `errors_of_fits` for Gaussian data, with new rows for every problem."""
    u, rng = unknowns(population), stream(0, "Gaussian fits", *names)
    sizes = [round(ratio * u) for ratio, _ in problems]
    fits = (fit_gaussian(population, n, ridge * u / n, rng) for n, (_, ridge) in zip(sizes, problems, strict=True))
    return np.array([fit.mean_test_error(population) for fit in fits])
