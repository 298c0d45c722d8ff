"""Factored attention with couplings A_ij V_ab, fitted to 10,000 sequences of L sites with many colors (letters).

The peer computes the same loss and gradient from one-hot arrays, as a network does. The products of matrices alone,
in the cheaper order and in double precision, and the same with one exponential for each logit, are what a program needs
at least that leaves both to numpy. Which kernels numpy's library of linear algebra takes for a processor matters:
where it does not know one with AVX-512, its products take more than twice the time they need there.
"""

import os
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from scipy.special import log_softmax

from simulate.core import stream
from simulate.potts import factored_attention, make_dynamics
from simulate.potts.inference.factored_kernel import FactoredObjective
from theory.models import PottsModel
from theory.models.potts import random_graph

SUBJECT = "Potts models, factored attention"
SITES, SEQUENCES = 20, 10_000
FIRST_AND_SECOND_FIT = """
from time import process_time
from numpy.random import default_rng
from simulate.potts import factored_attention
states = default_rng(0).integers({colors}, size=(200, 6))
for _ in range(2):
    start = process_time()
    factored_attention(states, {colors}, max_iter=3, check=False)
    print(process_time() - start)
"""


@cache
def sequences(n_colors, n_sites=SITES):
    """Independent chains of 60 sweeps on a sparse random graph."""
    rng = stream(0, "attention benchmark", n_colors, n_sites)
    U = rng.standard_normal((n_colors, n_colors))
    J = random_graph(n_sites, 3.0, rng)
    dynamics = make_dynamics(PottsModel(J, (U + U.T) / 2, beta=0.5), SEQUENCES, rng)
    dynamics.run(60)
    return np.ascontiguousarray(dynamics.states, dtype=np.int32)


def by_one_hot_arrays(states, A, V, h):
    """Loss and gradient as in a network: one-hot inputs of all sequences, in batches of 500."""
    loss, gradients = 0.0, [np.zeros_like(each) for each in (A, V, h)]
    for rows in np.array_split(states, len(states) // 500):
        x = np.eye(len(V))[rows]
        context = A @ x
        log_p = log_softmax(context @ V.T + h, axis=2)
        residual = (np.exp(log_p) - x) / len(states)
        loss -= np.sum(log_p * x) / len(states)
        parts = (
            (residual @ V @ x.transpose(0, 2, 1)).sum(axis=0),
            np.einsum("mia,mib->ab", residual, context),
            residual.sum(axis=0),
        )
        for total, part in zip(gradients, parts, strict=True):
            total += part
    np.fill_diagonal(gradients[0], 0.0)  # a site does not attend to itself
    return loss, *gradients


def point(C, L=SITES):
    """Random states, and a point (A, V, h) at which the gradient is taken."""
    rng = stream(1, "point", C)
    A, V, h = rng.standard_normal((L, L)), rng.standard_normal((C, C)), np.zeros((L, C))
    np.fill_diagonal(A, 0.0)
    return rng.integers(C, size=(SEQUENCES, L)).astype(np.int32), (A, V, h)


def ours_at(C, L=SITES, dtype=np.float64):
    states, x = point(C, L)
    objective = FactoredObjective(states, np.full(SEQUENCES, 1 / SEQUENCES), dtype=dtype)
    return lambda: objective(*x)


def products_alone(C, L, exponentials=False):
    """The three products of an evaluation, with the smaller of A and V and in blocks of samples that fit the cache."""
    least, other = min(L, C), max(L, C)
    factor, block = np.ones((least, least)), np.ones((least, 2**15 // (L * C) * other))

    def run():
        for _ in range(SEQUENCES // (2**15 // (L * C))):
            z = factor @ block
            if exponentials:
                np.exp(z, out=z)
            _, _ = z @ block.T, factor.T @ z

    return run


@pytest.mark.parametrize("C", [30, 60, 120])
def test_gradient_beside_one_hot_arrays(jobs, C):
    states, x = point(C)
    jobs.compare(
        f"loss and gradient, L = {SITES}, {C} colors",
        ours_at(C),
        {"numpy, one-hot arrays": lambda: by_one_hot_arrays(states, *x)},
        off=lambda ours, theirs: max(float(np.max(abs(a - b))) for a, b in zip(ours, theirs, strict=True)),
        rounds=2,
        limit="1 times",
    )


@pytest.mark.parametrize(("L", "C"), [(20, 21), (20, 60), (20, 120), (50, 21), (100, 21)])
def test_gradient_beside_its_products_alone(jobs, L, C):
    for dtype, name in ((np.float32, "single"), (np.float64, "double")):
        jobs.compare(
            f"loss and gradient in {name} precision, L = {L}, {C} colors",
            ours_at(C, L, dtype),
            beside={
                "its products of matrices alone, in double precision": products_alone(C, L),
                "these and one exponential for each logit": products_alone(C, L, exponentials=True),
            },
            goal={"its products of matrices alone, in double precision": "1/1.5 times"},
        )


def test_growth_of_the_gradient(jobs):
    title = f"growth of the time of loss and gradient with the colors, L = {SITES}"
    jobs.grows(
        title, (30, 60, 120), ours_at, goal="power 1.5", note="products with A take C operations, those with V C^2"
    )


@pytest.mark.parametrize("n_sites", [20, 50])
def test_fit_of_sixty_colors(jobs, n_sites):
    """To a gradient norm of 1e-5, the default."""
    states = sequences(60, n_sites)
    title = f"a fit to a gradient of 1e-5, L = {n_sites}, 60 colors"
    found = jobs.compare(title, lambda: factored_attention(states, 60), rounds=1, goal="60 s")
    jobs.number(f"steps of that fit, L = {n_sites}", found.iterations, "steps")


@pytest.mark.parametrize("colors", [3, 12])  # either order of the products
def test_first_fit_on_a_machine(jobs, tmp_path, colors):
    """In a process that finds nothing compiled; what the second fit takes is subtracted."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    program = [sys.executable, "-c", FIRST_AND_SECOND_FIT.format(colors=colors)]
    found = subprocess.run(program, check=True, capture_output=True, text=True, env=environment).stdout.split()
    first, second = map(float, found)
    jobs.number(f"compilation at the first fit, 6 sites, {colors} colors", first - second, "s", goal="2 s")


def test_fit_on_two_threads(jobs):
    """Wall time, so that another load of the machine counts."""
    states = sequences(60)
    jobs.compare(
        f"ten steps of a fit on two threads, wall time, L = {SITES}, 60 colors",
        lambda: factored_attention(states, 60, max_iter=10, check=False, n_threads=2),
        beside={"ours, one thread": lambda: factored_attention(states, 60, max_iter=10, check=False)},
        clock="wall",
    )
