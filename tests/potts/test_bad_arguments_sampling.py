"""Wrong values of every kind in every argument of the samplers and diagnostics are refused by name."""

import numpy as np
import pytest

from simulate.potts import (
    TemperedDynamics,
    autocorrelation_time,
    diagnose,
    effective_sample_size,
    make_dynamics,
    sample,
    sample_ring,
    split_r_hat,
    temper_ladder,
)
from tests.bad_arguments import Example, assert_all_refused
from theory.models import PottsModel, SquareLatticePotts
from theory.models.potts import ring_graph

MODEL = PottsModel(ring_graph(4), np.eye(3), beta=0.5)
SERIES = np.sin(np.arange(60.0) ** 2).reshape(3, 20)
START = np.arange(8).reshape(2, 4) % 3


def examples():
    """One valid and fast call of each function; the chains of other models have other kernels."""
    rng, short = np.random.default_rng(0), {"n_chains": 2, "burn_in": 8, "thin": 1, "check": False}
    return {
        "sample": Example(sample, {"model": MODEL, "n_samples": 8, "seed": 1, "start": START, **short}),
        "sample a lattice": Example(sample, {"model": SquareLatticePotts(2, 2, 2), "n_samples": 8, "seed": 1, **short}),
        "sample a ladder": Example(
            sample, {"model": MODEL, "n_samples": 4, "seed": 1, "betas": [0.2, 0.5], "max_sweeps": 600, **short}
        ),
        "sample as asked": Example(sample, {"model": MODEL, "n_samples": 8, "seed": 1, "max_sweeps": 600}),
        "make_dynamics": Example(
            make_dynamics, {"model": MODEL, "n_chains": 2, "rng": rng, "betas": [0.1, 0.2], "start": START}
        ),
        "TemperedDynamics": Example(TemperedDynamics, {"model": MODEL, "n_chains": 2, "rng": rng, "betas": [0.2, 0.5]}),
        "temper_ladder": Example(temper_ladder, {"model": MODEL, "n_chains": 2, "n_sweeps": 4, "rounds": 1}),
        "autocorrelation_time": Example(autocorrelation_time, {"series": SERIES}),
        "effective_sample_size": Example(effective_sample_size, {"series": SERIES}),
        "split_r_hat": Example(split_r_hat, {"series": SERIES}),
        "diagnose": Example(diagnose, {"series": SERIES, "stride": 2}),
        "sample_ring": Example(
            sample_ring, {"n_sites": 4, "color_couplings": np.eye(2), "beta": 1.0, "n_samples": 3, "rng": rng}
        ),
    }


@pytest.fixture(autouse=True)
def compiled_in_a_folder_of_its_own(tmp_path, monkeypatch):
    """Text is a path where a checkpoint is asked for; compiling a kernel would count as a hang."""
    monkeypatch.chdir(tmp_path)
    for example in examples().values():
        example.function(**example.keywords)


def test_wrong_values_are_refused_by_name():
    assert_all_refused(examples(), 300, seed=1)


@pytest.mark.slow
def test_ten_thousand_wrong_values_are_refused_by_name():
    assert_all_refused(examples(), 10_000, seed=2)


@pytest.mark.parametrize("function", [autocorrelation_time, effective_sample_size, split_r_hat, diagnose])
def test_series_whose_squares_vanish_are_refused_by_name(function):
    with pytest.raises(ValueError, match="series must be zero or at least 1e-150 in size, got"):
        function(1e-300 * SERIES)


@pytest.mark.parametrize("name", ["half of a pair \ud800", "with a zero\0"])
def test_paths_that_no_file_can_have_are_refused_by_name(name):
    with pytest.raises(ValueError, match="checkpoint must be a path that a file can have"):
        sample(MODEL, 8, seed=1, checkpoint=name)


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ("states", "text"),
        ("keys", "text"),
        ("keys", np.ones((2, 2))),
        ("accepted", None),
        ("sweeps", -1),
        ("betas", []),
    ],
)
@pytest.mark.parametrize("tempered", [False, True])
def test_snapshots_with_wrong_entries_change_nothing(entry, wrong, tempered):
    rng = np.random.default_rng(0)
    chains = TemperedDynamics(MODEL, 2, rng, betas=[0.2, 0.5]) if tempered else make_dynamics(MODEL, 2, rng)
    kept = chains.snapshot()
    with pytest.raises(ValueError, match="must"):
        chains.restore(kept | {entry: wrong})
    assert all(np.array_equal(value, kept[name]) for name, value in chains.snapshot().items())
