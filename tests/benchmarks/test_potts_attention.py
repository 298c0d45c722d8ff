"""Factored attention with many colors: sums over sequences beside one-hot arrays, and a fit of 10,000 sequences.

Run by `make bench`, with OPENBLAS_NUM_THREADS=1. CPU times are shown, never asserted.
"""

import time

import numpy as np
import pytest
from scipy.special import log_softmax

from simulate.core import stream
from simulate.potts import factored_attention, make_dynamics
from simulate.potts.inference.factored_kernel import FactoredObjective
from tests.benchmarks.timing import seconds
from theory.models import PottsModel
from theory.models.potts import random_graph

pytest.importorskip("pytest_benchmark")

SITES, SEQUENCES = 20, 10_000


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
    return loss, *gradients


def test_gradient_beside_one_hot_arrays(benchmark, show):
    """L = 20 and 10,000 sequences, at three numbers of colors with the exponent of the growth."""
    times, theirs, colors = [], [], (30, 60, 120)
    for C in colors:
        rng = stream(1, "point", C)
        A, V, h = rng.standard_normal((SITES, SITES)), rng.standard_normal((C, C)), np.zeros((SITES, C))
        np.fill_diagonal(A, 0.0)
        states = rng.integers(C, size=(SEQUENCES, SITES)).astype(np.int32)
        objective = FactoredObjective(states, np.full(SEQUENCES, 1 / SEQUENCES))
        assert objective(A, V, h)[0] == pytest.approx(by_one_hot_arrays(states, A, V, h)[0], rel=1e-10)
        times.append(seconds(lambda o=objective, x=(A, V, h): o(*x), 3, time.process_time))
        theirs.append(seconds(lambda s=states, x=(A, V, h): by_one_hot_arrays(s, *x), 1, time.process_time))
    benchmark.pedantic(lambda: None)
    exponent = float(np.polyfit(np.log(colors), np.log(times), 1)[0])
    for C, ours, theirs_s in zip(colors, times, theirs, strict=True):
        show(
            f"gradient of factored attention, {C} colors",
            cpu_s=ours,
            one_hot_cpu_s=theirs_s,
            times_faster=theirs_s / ours,
        )
    show("gradient of factored attention", exponent_in_colors=exponent)


@pytest.mark.parametrize("n_sites", [20, 50])
def test_fit_of_sixty_colors(benchmark, show, n_sites):
    """To a gradient norm of 1e-5, the default."""
    states = sequences(60, n_sites)
    start = time.process_time()
    fit = benchmark.pedantic(lambda: factored_attention(states, 60), rounds=1)
    show(
        f"fit of 60 colors, L = {n_sites}, {SEQUENCES} sequences",
        cpu_s=time.process_time() - start,
        iterations=fit.iterations,
        residual=fit.residual,
    )
