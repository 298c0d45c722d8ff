"""Pseudo-likelihood of a protein family: CPU time, memory and the objective reached, beside plmc and pydca.

The family is DHFR.a2m of plmc's examples, whose folder ALIGNMENTS names. plmc is a peer where it is on the PATH
(github.com/debbiemarkslab/plmc), pydca where `pip install --no-deps pydca` has built its C++ backend. A peer's answer
is judged by our objective at its parameters: the sums of both are in single precision, in which that of pydca loses
the terms of small couplings.
"""

import os
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from simulate.potts import pseudo_likelihood
from simulate.potts.inference import pair_blocks, symmetric
from simulate.potts.inference.sequences import Sequences
from tests.benchmarks.machinery.apart import program_megabytes
from tests.benchmarks.machinery.jobs import Peer
from tests.benchmarks.plm_programs import (
    COUPLING_PENALTY,
    FIELD_PENALTY,
    LETTERS,
    plmc,
    plmc_point,
    pydca_point,
)

SUBJECT = "Potts models, pseudo-likelihood of a protein family"
# Of the objective summed over the 3616 sequences without unknown residues, and over the 3479 distinct ones of them.
OPTIMA = {"M = 3616": 252167.8, "M = 3479, distinct": 249900.0}
TOL = 5e-3  # of the gradient's norm: enough for an objective within 1e-3 of the optimum
NOTE = "a peer's answer is its objective, relative to ours"


@cache
def family(which="M = 3616"):
    """The columns that are match states, of the sequences that have no other letter than LETTERS there."""
    if not os.environ.get("ALIGNMENTS"):
        pytest.skip("set ALIGNMENTS to the folder that holds DHFR.a2m")
    records = (Path(os.environ["ALIGNMENTS"]) / "DHFR.a2m").read_text(encoding="utf-8").split(">")[1:]
    rows = ("".join(record.split("\n")[1:]) for record in records)
    matched = ["".join(letter for letter in row if letter == "-" or letter.isupper()) for row in rows]
    states = np.array([[LETTERS.index(each) for each in row] for row in matched if set(row) <= set(LETTERS)], np.uint8)
    return np.unique(states, axis=0) if "distinct" in which else states


def fitted(states, **options):
    penalties = {"l2": COUPLING_PENALTY / len(states), "field_l2": FIELD_PENALTY / len(states)}
    return pseudo_likelihood(states, len(LETTERS), check=False, **penalties, **{"tol": TOL, **options})


def objective_at(fields, pairs, states):
    """The objective of ours, summed over the sequences."""
    data, M = Sequences.of(states, len(LETTERS)), len(states)
    tables, f = np.zeros((*fields.shape, *fields.shape), np.float32), data.frequencies()
    for (i, j), block in zip(np.transpose(np.triu_indices(len(fields), 1)), pairs, strict=True):
        tables[i, :, j], tables[j, :, i] = block, block.T
    centered = fields + np.tensordot(f, tables, axes=2)
    return M * symmetric.objective(data, COUPLING_PENALTY / M, FIELD_PENALTY / M)(pair_blocks.pack(centered, tables))[0]


# pydca keeps one of equal sequences, so that it is compared where there are none.
@pytest.mark.parametrize(
    ("which", "name", "point"),
    [
        ("M = 3616", "plmc, 100 iterations", plmc_point),
        ("M = 3479, distinct", "pydca, 100 iterations", pydca_point),
    ],
)
def test_a_protein_family(jobs, which, name, point):
    states, M = family(which), len(family(which))
    fitted(states, max_iter=1)  # compiles
    found = jobs.compare(
        f"pseudo-likelihood of a protein family, L = 171, q = 21, {which}",
        lambda: fitted(states),
        {name: Peer(lambda: point(states), limit=1800)},
        off=lambda ours, theirs: objective_at(*theirs, states) / (M * ours.objective) - 1,
        goal="40 s",
        rounds=1,
        note=NOTE,
    )
    jobs.number(
        f"its objective beyond the optimum, {which}",
        M * found.objective / OPTIMA[which] - 1,
        "of it",
        goal="1e-3 of it",
        note=f"objective {M * found.objective:.8g}, optimum {OPTIMA[which]:.8g}, {found.evaluations} evaluations",
    )


def test_memory_of_a_protein_family(jobs):
    """Ours above the process after one compilation."""
    states = family()

    def prepared():
        pseudo_likelihood(states[:20, :3], len(LETTERS), l2=1.0)
        return lambda: fitted(states, max_iter=10)

    def of_plmc():
        with tempfile.TemporaryDirectory() as name:
            return program_megabytes(plmc(states, Path(name)))

    jobs.memory(
        "memory of ten steps for a protein family",
        Peer(prepared, made=True, limit=300),
        {
            "plmc, 100 iterations": Peer(of_plmc, tells=True, limit=1800),
            "pydca, ten iterations": Peer(lambda: pydca_point(states, 10), limit=600),
        },
        goal="300 MB",
    )


def test_growth_with_the_sites_of_a_protein_family(jobs):
    def make(L):
        return lambda: fitted(family()[:, :L], max_iter=5)

    jobs.grows("five steps for the first sites of a protein family", (43, 86, 171), make, goal="power 2.2")
