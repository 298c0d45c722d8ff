"""Every wrong value in every argument of clones and of fits of three bodies is refused by name."""

import numpy as np
import pytest

from simulate.nets import clone, clone_of_stack, marginal_mismatches
from simulate.potts import FitError
from simulate.potts.inference.three_body import three_body
from tests.bad_arguments import Example, assert_all_refused
from theory.models import FactoredStack, GroupInteraction

STATES = np.random.default_rng(3).integers(0, 2, (60, 3))
EXAMPLES = {
    "GroupInteraction": Example(GroupInteraction, {"sites": [[0, 1], [2, 1]], "colors": np.ones((2, 2, 2))}),
    "clone": Example(
        clone,
        {
            "states": STATES,
            "n_colors": 2,
            "order": 2,
            "seed": 0,
            "triplets": "full",
            "n_samples": 20,
            "l2": 0.02,
            "field_l2": 0.01,
            "weights": np.ones(60),
            "tol": 1e-2,
            "max_iter": 50,
            "n_chains": 4,
            "max_sweeps": 5000,
            "tempering": False,
            "check": False,
        },
    ),
    "clone_of_stack": Example(
        clone_of_stack,
        {
            "stack": FactoredStack.deterministic(1, 3, 2, 0.3),
            "states": STATES,
            "seed": 0,
            "n_samples": 20,
            "weights": np.ones(60),
            "n_chains": 4,
            "max_sweeps": 600,
            "check": False,
        },
    ),
    "marginal_mismatches": Example(
        marginal_mismatches,
        {
            "states": STATES,
            "others": STATES[:20],
            "n_colors": 2,
            "weights": np.ones(60),
            "effective_size": 15.0,
            "max_subsets": 3,
            "seed": 0,
        },
    ),
    "three_body": Example(
        three_body,
        {
            "states": STATES,
            "n_colors": 2,
            "kind": "auto",
            "l2": 0.02,
            "field_l2": 0.01,
            "weights": np.ones(60),
            "tol": 1e-2,
            "max_iter": 50,
            "check": False,
        },
    ),
}


def test_bad_arguments_are_refused_by_name():
    assert_all_refused(EXAMPLES, n=150, seed=0)


@pytest.mark.slow
def test_many_bad_arguments_are_refused_by_name():
    assert_all_refused(EXAMPLES, n=10_000, seed=1)


# How far it diverges depends on the processor: to 1e37 or to 1e147, whose squares are infinite.
@pytest.mark.filterwarnings("ignore:overflow encountered in matmul:RuntimeWarning")
def test_a_fit_that_has_diverged_is_not_sampled():
    with pytest.raises(FitError, match="the fit has diverged, to energies that cannot be sampled"):
        clone(**EXAMPLES["clone"].keywords | {"field_l2": 1e19})
