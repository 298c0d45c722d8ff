"""Pseudo-likelihood of full couplings: CPU time and memory beside scikit-learn site by site, and beside plmc.

Data are those of the literature's comparisons: a sparse Potts sample (random graph of mean degree 3, zero-sum Gaussian
couplings); the objective is a sum over the sequences, with a penalty on the squared couplings of each pair once and one
of 0.01 on fields. plmc (C, single precision, 100 iterations) took 24.5 and 95 to 113 CPU seconds for it on a comparable
core, which is not run here.

The protein family is DHFR.a2m of plmc's examples, whose folder ALIGNMENTS names. There plmc is a peer where it is on
the PATH (github.com/debbiemarkslab/plmc), and its answer is judged by the objective at its parameters.
"""

import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from simulate.core import stream
from simulate.potts import make_dynamics, pseudo_likelihood
from simulate.potts.inference import pair_blocks, symmetric
from simulate.potts.inference.sequences import Sequences
from tests.benchmarks.machinery.apart import program_megabytes
from tests.benchmarks.machinery.jobs import Peer
from theory.models import DensePottsModel
from theory.models.potts import random_graph, zero_sum_blocks

SUBJECT = "Potts models, pseudo-likelihood"
CASES = {"L = 50, q = 21": (50, 21, 5000, 4.9), "L = 100, q = 4": (100, 4, 10000, 1.0)}  # L, C, M, penalty
GOALS = {"L = 50, q = 21": "12 s", "L = 100, q = 4": "48 s"}  # half of plmc's time
FIELD_PENALTY = 0.01

LETTERS = "-ACDEFGHIKLMNPQRSTVWY"
FAMILY_PENALTY = 16.2
FAMILY_OPTIMUM = 252167.8  # summed over the 3616 sequences without unknown residues, by a fit in double precision
FAMILY_TOL = 5e-3  # of the gradient's norm: enough for an objective within 1e-3 of the optimum


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


def test_two_threads_beside_one(jobs):
    name = "L = 50, q = 21"
    jobs.compare(
        f"pseudo-likelihood on two threads, wall time, {name}, five steps",
        lambda: fit(name, max_iter=5, n_threads=2),
        beside={"ours, one thread": lambda: fit(name, max_iter=5)},
        clock="wall",
        rounds=1,
        goal="1.6 times",
    )


def test_growth_with_sites(jobs):
    """Ten steps, so that the number of steps does not grow."""

    def make(L):
        states = sampled(L, 4, 2000, f"growth {L}")
        return lambda: fitted(states, 4, 1.0, max_iter=10)

    jobs.grows("ten steps of pseudo-likelihood, q = 4, M = 2000, by sites", (25, 50, 100), make, goal="power 2.2")


@cache
def family():
    """The columns that are match states, of the sequences that have no other letter than LETTERS there."""
    if not os.environ.get("ALIGNMENTS"):
        pytest.skip("set ALIGNMENTS to the folder that holds DHFR.a2m")
    records = (Path(os.environ["ALIGNMENTS"]) / "DHFR.a2m").read_text(encoding="utf-8").split(">")[1:]
    rows = ("".join(record.split("\n")[1:]) for record in records)
    matched = ["".join(letter for letter in row if letter == "-" or letter.isupper()) for row in rows]
    return np.array([[LETTERS.index(each) for each in row] for row in matched if set(row) <= set(LETTERS)], np.uint8)


def fitted_family(**options):
    return fitted(family(), len(LETTERS), FAMILY_PENALTY, **{"tol": FAMILY_TOL, **options})


def plmc(states, folder):
    """The command that fits these sequences with unit weights to the file `parameters` of the folder."""
    program = shutil.which("plmc")
    if program is None:
        raise FileNotFoundError("plmc is not on the PATH")
    rows = ("".join(LETTERS[color] for color in row) for row in states)
    (folder / "family.fasta").write_text("".join(f">{k}\n{row}\n" for k, row in enumerate(rows)), encoding="utf-8")
    penalties = ["-le", str(FAMILY_PENALTY), "-lh", str(FIELD_PENALTY)]
    files = ["-o", str(folder / "parameters"), str(folder / "family.fasta")]
    return [program, *penalties, "-t", "-1", "-m", "100", *files]


def plmc_point(states):
    """Fields (L, C) and the blocks of pairs i < j, (L (L - 1)/2, C, C), that plmc finds."""
    L, C = states.shape[1], len(LETTERS)
    with tempfile.TemporaryDirectory() as name:
        subprocess.run(plmc(states, Path(name)), check=True, capture_output=True)
        numbers = np.fromfile(Path(name) / "parameters", np.float32, offset=40 + C + 4 * len(states) + 5 * L)
    fields, pairs = numbers[L * C : 2 * L * C], numbers[2 * L * C :]  # after the frequencies of sites, and of pairs
    return fields.reshape(L, C), pairs[len(pairs) // 2 :].reshape(-1, C, C)


def objective_at(fields, pairs, states):
    """The objective of ours, summed over the sequences."""
    data, M = Sequences.of(states, len(LETTERS)), len(states)
    tables, f = np.zeros((*fields.shape, *fields.shape), np.float32), data.frequencies()
    for (i, j), block in zip(np.transpose(np.triu_indices(len(fields), 1)), pairs, strict=True):
        tables[i, :, j], tables[j, :, i] = block, block.T
    centered = fields + np.tensordot(f, tables, axes=2)
    return M * symmetric.objective(data, FAMILY_PENALTY / M, FIELD_PENALTY / M)(pair_blocks.pack(centered, tables))[0]


def test_a_protein_family(jobs):
    states, M = family(), len(family())
    fitted_family(max_iter=1)  # compiles
    found = jobs.compare(
        "pseudo-likelihood of a protein family, L = 171, q = 21, M = 3616",
        fitted_family,
        {"plmc, 100 iterations": Peer(lambda: plmc_point(states), limit=1800)},
        off=lambda ours, theirs: objective_at(*theirs, states) / (M * ours.objective) - 1,
        goal="40 s",
        rounds=1,
        note="a peer's answer is its objective, relative to ours",
    )
    jobs.number(
        "its objective beyond the optimum",
        M * found.objective / FAMILY_OPTIMUM - 1,
        "of it",
        goal="1e-3 of it",
        note=f"objective {M * found.objective:.8g}, optimum {FAMILY_OPTIMUM:.8g}, {found.evaluations} evaluations",
    )


def test_memory_of_a_protein_family(jobs):
    """Ours above the process after one compilation."""
    states = family()

    def prepared():
        pseudo_likelihood(states[:20, :3], len(LETTERS), l2=1.0)
        return lambda: fitted(states, len(LETTERS), FAMILY_PENALTY, max_iter=10)

    def of_plmc():
        with tempfile.TemporaryDirectory() as name:
            return program_megabytes(plmc(states, Path(name)))

    jobs.memory(
        "memory of ten steps for a protein family",
        Peer(prepared, made=True, limit=300),
        {"plmc, 100 iterations": Peer(of_plmc, tells=True, limit=1800)},
        goal="300 MB",
    )


def test_growth_with_the_sites_of_a_protein_family(jobs):
    def make(L):
        return lambda: fitted(family()[:, :L], len(LETTERS), FAMILY_PENALTY, max_iter=5)

    jobs.grows("five steps for the first sites of a protein family", (43, 86, 171), make, goal="power 2.2")
