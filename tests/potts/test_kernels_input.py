"""What `make_dynamics` refuses, and how it says so."""

import numpy as np
import pytest

from simulate.potts.dynamics import make_dynamics
from tests.potts.models_to_sample import model
from theory.models import DensePottsModel, PottsModel
from theory.models.potts import complete_graph

SYSTEM = model("dense")


def chains(system=SYSTEM, n_chains=2, **options):
    return make_dynamics(system, n_chains, np.random.default_rng(0), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "gibbs"}, "method must be one of 'heat_bath', 'metropolis', 'colored', got 'gibbs'"),
        ({"n_chains": 0}, "n_chains must be an integer of at least 1, got 0"),
        ({"n_threads": 0}, "n_threads must be an integer of at least 1, got 0"),
        ({"betas": [0.1, 0.2, 0.3]}, "betas must be one number >= 0, or one for each of n_chains = 2"),
        ({"betas": [0.1, -0.2]}, "betas must be one number >= 0"),
        ({"betas": [0.1, np.inf]}, "betas must be finite"),
        ({"start": np.zeros((3, 3), int)}, r"start must have shape \(n_chains, L\) = \(2, 3\), got \(3, 3\)"),
        ({"start": np.full((2, 3), 3)}, "start must be colors from 0 to 2, got 3"),
        ({"start": np.zeros((2, 3))}, "start must be an array of integers, got dtype float64"),
        ({"system": "ising"}, r"model must be a record of theory.models \(Potts\), got str"),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        chains(**options)


def test_numbers_beyond_single_precision_are_refused():
    system = PottsModel(1e20 * complete_graph(3), 1e15 * np.eye(20))
    for each in (DensePottsModel.of(system), PottsModel(1e30 * complete_graph(60), np.eye(8))):
        with pytest.raises(ValueError, match=r"must add up to less than 1e\+30"):
            chains(each)
    with pytest.raises(ValueError, match="also times beta"):
        chains(DensePottsModel.of(PottsModel(complete_graph(3), np.eye(2), beta=1e31)))


def test_sweeps_must_be_a_number_of_sweeps():
    with pytest.raises(ValueError, match="n_sweeps must be an integer of at least 0, got -1"):
        chains().run(-1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"states": None}, r"snapshot must have .* got no \['states'\]"),
        ({"states": np.zeros((3, 3), int)}, "start must have shape"),
        ({"keys": np.zeros((3, 2), np.uint64)}, "snapshot must be of 2 chains"),
        ({"betas": np.ones(3)}, "betas must be one number"),
    ],
)
def test_a_foreign_snapshot_is_refused_and_changes_nothing(change, message):
    dynamics = chains()
    before = dynamics.snapshot()
    foreign = {name: value for name, value in (before | change).items() if value is not None}
    with pytest.raises(ValueError, match=message):
        dynamics.restore(foreign)
    after = dynamics.snapshot()
    assert all(np.array_equal(after[name], before[name]) for name in before)
