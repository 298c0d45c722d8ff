"""Pseudo-likelihood of full couplings: CPU time and memory beside scikit-learn site by site.

Data are those of the literature's comparisons: a sparse Potts sample (random graph of mean degree 3, zero-sum Gaussian
couplings); the objective is a sum over the sequences, with a penalty on the squared couplings of each pair once and one
of 0.01 on fields. plmc (C, single precision, 100 iterations) took 24.5 and 95 to 113 CPU seconds for it on a comparable
core, which is not run here.
"""

from functools import cache

import numpy as np
import pytest

from simulate.core import stream
from simulate.potts import make_dynamics, pseudo_likelihood
from tests.benchmarks.machinery.jobs import Peer
from theory.models import DensePottsModel
from theory.models.potts import random_graph, zero_sum_blocks

SUBJECT = "Potts models, pseudo-likelihood"
CASES = {"L = 50, q = 21": (50, 21, 5000, 4.9), "L = 100, q = 4": (100, 4, 10000, 1.0)}  # L, C, M, penalty
GOALS = {"L = 50, q = 21": "12 s", "L = 100, q = 4": "48 s"}  # half of plmc's time
FIELD_PENALTY = 0.01


def sampled(L, C, M, name):
    """M independent heat-bath chains of 30 sweeps."""
    rng = stream(0, "pseudo-likelihood benchmark", name)
    graph = random_graph(L, 3, rng).toarray()
    blocks = zero_sum_blocks(rng.standard_normal((L, L, C, C))) * np.triu(graph, 1)[:, :, None, None]
    dynamics = make_dynamics(DensePottsModel(blocks + blocks.transpose(1, 0, 3, 2)), M, rng)
    dynamics.run(30)
    return np.asarray(dynamics.states)


@cache
def sequences(name):
    return sampled(*CASES[name][:3], name)


def fitted(states, n_colors, penalty, **options):
    penalties = {"l2": penalty / len(states), "field_l2": FIELD_PENALTY / len(states)}
    return pseudo_likelihood(states, n_colors, check=False, **penalties, **options)


def fit(name, **options):
    _, C, _, penalty = CASES[name]
    return fitted(sequences(name), C, penalty, **options)


def scikit_learn(name):
    """The multinomial regression of the first site."""
    from sklearn.linear_model import LogisticRegression

    _, C, M, penalty = CASES[name]
    states = sequences(name)
    x = np.eye(C)[np.delete(states, 0, axis=1)].reshape(M, -1)
    return lambda: LogisticRegression(C=1 / (2 * penalty), tol=1e-3, max_iter=100).fit(x, states[:, 0])


@pytest.mark.parametrize("name", CASES)
def test_to_a_gradient_of_a_thousandth(jobs, name):
    L, _, M, _ = CASES[name]
    fit(name, max_iter=1)  # compiles
    found = jobs.compare(
        f"pseudo-likelihood, {name}, to a relative gradient of 1e-3",
        lambda: fit(name, tol=1e-3),
        goal=GOALS[name],
        rounds=1,
    )
    jobs.number("its iterations", found.iterations, "steps", note=f"objective {M * found.objective:.8g}")
    fit(name, symmetric=False, max_iter=1)
    jobs.compare(
        f"regressions of all sites, {name}, to 1e-3",
        lambda: fit(name, symmetric=False, tol=1e-3),
        {"scikit-learn, one site timed": Peer(lambda: scikit_learn(name), made=True, times=L, limit=120)},
        rounds=1,
        limit="1 times",
    )


@pytest.mark.parametrize("name", CASES)
def test_peak_memory(jobs, name):
    """Above the process after one compilation."""
    _, C, _, penalty = CASES[name]
    states = sequences(name)

    def prepared():
        pseudo_likelihood(states[:20, :3], C, l2=1.0)
        return lambda: fitted(states, C, penalty, max_iter=10)

    jobs.memory(f"memory of ten steps, {name}", Peer(prepared, made=True), goal="100 MB")


@pytest.mark.parametrize("n_sites", [50, 100])
def test_two_threads_beside_one(jobs, n_sites):
    """21 colors and 5000 sequences, by wall time: the machine must be idle."""
    states = sampled(n_sites, 21, 5000, f"two threads {n_sites}")
    jobs.compare(
        f"pseudo-likelihood on two threads, wall time, L = {n_sites}, q = 21, five steps",
        lambda: fitted(states, 21, 4.9, max_iter=5, n_threads=2),
        beside={"ours, one thread": lambda: fitted(states, 21, 4.9, max_iter=5)},
        clock="wall",
        goal="1.7 times",
    )


def test_growth_with_sites(jobs):
    """Ten steps, so that the number of steps does not grow."""

    def make(L):
        states = sampled(L, 4, 2000, f"growth {L}")
        return lambda: fitted(states, 4, 1.0, max_iter=10)

    jobs.grows("ten steps of pseudo-likelihood, q = 4, M = 2000, by sites", (25, 50, 100), make, goal="power 2.2")
