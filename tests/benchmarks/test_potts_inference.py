"""Pseudo-likelihood of full couplings: CPU time, peak memory, objective and gradient, beside scikit-learn site by site.

Run by `make bench`, with OPENBLAS_NUM_THREADS=1. Numbers are shown, never asserted. Data are those of the literature's
comparisons: a sparse Potts sample (random graph of mean degree 3, zero-sum Gaussian couplings); the objective is a sum
over the sequences, with a penalty on the squared couplings of each pair once and one of 0.01 on fields. plmc (C, single
precision, 100 iterations) took 24.5 and 95 to 113 CPU seconds for it on a comparable core, which is not run here.
"""

import subprocess
import sys
import time
from functools import cache

import numpy as np
import pytest

from simulate.core import stream
from simulate.potts import make_dynamics, pseudo_likelihood
from theory.models import DensePottsModel
from theory.models.potts import random_graph, zero_sum_blocks

pytest.importorskip("pytest_benchmark")

CASES = {"q=21": (50, 21, 5000, 4.9), "q=4": (100, 4, 10000, 1.0)}  # L, C, M, penalty of the couplings
FIELD_PENALTY = 0.01
SUBSET = 2  # sites of the scikit-learn loop that are timed


@cache
def sequences(name):
    """M independent heat-bath chains of 30 sweeps."""
    L, C, M, _ = CASES[name]
    rng = stream(0, "pseudo-likelihood benchmark", name)
    graph = random_graph(L, 3, rng).toarray()
    blocks = zero_sum_blocks(rng.standard_normal((L, L, C, C))) * np.triu(graph, 1)[:, :, None, None]
    dynamics = make_dynamics(DensePottsModel(blocks + blocks.transpose(1, 0, 3, 2)), M, rng)
    dynamics.run(30)
    return np.asarray(dynamics.states)


def fit(name, **options):
    _, C, M, penalty = CASES[name]
    penalties = {"l2": penalty / M, "field_l2": FIELD_PENALTY / M}
    return pseudo_likelihood(sequences(name), C, check=False, **penalties, **options)


def cpu_seconds(function):
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


@pytest.mark.parametrize("is_symmetric", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_pseudo_likelihood_to_a_gradient_of_a_thousandth_and_a_tenth_of_it(benchmark, show, name, is_symmetric):
    fit(name, symmetric=is_symmetric, max_iter=1)  # compiles
    M = CASES[name][2]
    early_seconds, early = cpu_seconds(lambda: fit(name, symmetric=is_symmetric, tol=1e-3))
    seconds, late = benchmark.pedantic(
        lambda: cpu_seconds(lambda: fit(name, symmetric=is_symmetric, tol=1e-4, max_iter=100)), rounds=1
    )
    show(
        f"pseudo-likelihood {name}, symmetric={is_symmetric}",
        seconds_to_1e3=early_seconds,
        iterations_to_1e3=early.iterations,
        objective_at_1e3=M * early.objective,
        seconds_to_1e4_or_100_iterations=seconds,
        iterations=late.iterations,
        objective=M * late.objective,
        relative_gradient=late.gradient_norm,
    )


@pytest.mark.parametrize("name", CASES)
def test_scikit_learn_site_by_site(benchmark, show, name):
    linear_model = pytest.importorskip("sklearn.linear_model", reason="the peer, scikit-learn, is not installed")
    states, (L, C, M, penalty) = sequences(name), CASES[name]

    def loop():
        for i in range(SUBSET):
            x = np.eye(C)[np.delete(states, i, axis=1)].reshape(M, -1)
            linear_model.LogisticRegression(C=1 / (2 * penalty), tol=1e-3, max_iter=100).fit(x, states[:, i])

    ours, _ = cpu_seconds(lambda: fit(name, symmetric=False, tol=1e-3))
    peer, _ = benchmark.pedantic(lambda: cpu_seconds(loop), rounds=1)
    show(
        f"scikit-learn's multinomial regressions {name} ({SUBSET} sites timed, scaled to {L})",
        ours=ours,
        scikit_learn=peer * L / SUBSET,
        times_faster=peer * L / SUBSET / ours,
    )


MEMORY = """
import sys
import numpy as np
from simulate.potts import pseudo_likelihood
def peak():  # of this program alone: what getrusage says includes the one that started it
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1e3
states, C = np.load(sys.argv[1]), int(sys.argv[2])
pseudo_likelihood(states[:20, :3], C, l2=1.0)
before = peak()
pseudo_likelihood(states, C, l2=float(sys.argv[3]), field_l2=1e-6, max_iter=10, check=False)
print(peak() - before)
"""


@pytest.mark.parametrize("name", CASES)
def test_peak_memory_above_the_process_after_one_compilation(benchmark, show, name, tmp_path):
    _, C, M, penalty = CASES[name]
    np.save(tmp_path / "states.npy", sequences(name))
    command = [sys.executable, "-c", MEMORY, str(tmp_path / "states.npy"), str(C), str(penalty / M)]
    run = benchmark.pedantic(lambda: subprocess.run(command, capture_output=True, text=True, check=True), rounds=1)
    show(f"peak memory {name}", MB=float(run.stdout), allowed_MB=100)


def test_two_threads_beside_one(benchmark, show):
    fit("q=21", max_iter=1)
    walls = []
    for n_threads in (1, 2):
        start = time.perf_counter()
        fit("q=21", tol=1e-2, n_threads=n_threads)
        walls.append(time.perf_counter() - start)
    benchmark.pedantic(lambda: None, rounds=1)
    show("threads, q=21", one=walls[0], two=walls[1], times_faster=walls[0] / walls[1])
