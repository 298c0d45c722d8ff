"""Every wrong value in every argument of the perceptron with discrete weights is refused by name."""

import numpy as np
import pytest

from simulate import perceptron as simulated
from simulate.core import Estimate
from tests.bad_arguments import Example, assert_all_refused
from theory import perceptron
from theory.models import DiscretePerceptron, equally_spaced_levels
from theory.perceptron.gaussian_average import gaussian_grid

LEVELS = (-1.0, 1.0)
MODEL = DiscretePerceptron(levels=LEVELS, alpha=0.4)
TERNARY = DiscretePerceptron(levels=(-1.0, 0.0, 1.0), alpha=0.4)
PATTERNS = np.random.default_rng(0).standard_normal((3, 6))


def example(function, **keywords):
    return Example(function, keywords)


def rng():
    return np.random.default_rng(0)


THEORY = {
    "DiscretePerceptron": example(DiscretePerceptron, levels=LEVELS, alpha=0.4, margin=0.1),
    "equally_spaced_levels": example(equally_spaced_levels, n_levels=3),
    "copy_entropy": example(
        perceptron.copy_entropy, model=MODEL, overlap=0.8, copies=2, tol=1e-10, max_iter=50, check=True
    ),
    "copy_entropy at a distance": example(
        perceptron.copy_entropy, model=TERNARY, distance=0.1, copies=2, tol=1e-10, max_iter=50, check=True
    ),
    "entropy_curve": example(
        perceptron.entropy_curve, levels=LEVELS, alphas=[0.2, 0.4], margin=0.1, tol=1e-10, check=True
    ),
    "first_moment_bound": example(perceptron.first_moment_bound, levels=LEVELS, margin=0.1),
    "gardner_capacity": example(perceptron.gardner_capacity, margin=0.1),
    "solution_entropy": example(perceptron.solution_entropy, model=MODEL, tol=1e-10, max_iter=100, check=True),
    "zero_entropy_capacity": example(
        perceptron.zero_entropy_capacity, levels=LEVELS, margin=0.1, tol=1e-10, check=True
    ),
}

SIMULATION = {
    "entropy_profile": example(
        simulated.entropy_profile, levels=LEVELS, counts=[0, 2], d=6, rng=rng(), margin=0.1, instances=3
    ),
    "enumerate_solutions": example(simulated.enumerate_solutions, model=MODEL, patterns=PATTERNS),
    "extrapolate_sizes": example(
        simulated.extrapolate_sizes, estimates={8: Estimate(1.0, 0.1, 9), 16: Estimate(1.1, 0.1, 9)}, order=1
    ),
    "pair_entropies": example(simulated.pair_entropies, model=MODEL, d=6, rng=rng(), instances=3),
    "pair_entropy_change": example(
        simulated.pair_entropy_change, model=TERNARY, d=6, rng=rng(), squared_difference=0.5, instances=3
    ),
    "search_with_copies": example(
        simulated.search_with_copies,
        model=MODEL,
        n_weights=9,
        rng=rng(),
        copies=2,
        n_sweeps=10,
        beta=1.0,
        attraction=1.0,
    ),
    "solution_counts": example(simulated.solution_counts, levels=LEVELS, patterns=PATTERNS, margin=0.1),
    "solution_entropy": example(simulated.solution_entropy, model=MODEL, d=6, rng=rng(), instances=3),
    "zero_entropy_capacity": example(simulated.zero_entropy_capacity, levels=LEVELS, d=6, rng=rng(), margin=0.1),
}

EXAMPLES = {"theory": THEORY, "simulation": SIMULATION}


@pytest.mark.parametrize("room", EXAMPLES)
def test_bad_arguments_are_refused_by_name(room):
    assert_all_refused(EXAMPLES[room], n=150, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("room", EXAMPLES)
def test_many_bad_arguments_are_refused_by_name(room):
    assert_all_refused(EXAMPLES[room], n=5_000, seed=1)


def test_every_public_function_has_an_example():
    """Those of the modules of discrete weights; others of the subject have tests of their own."""
    for face, examples in ((perceptron, THEORY), (simulated, SIMULATION)):
        for name in face.__all__:
            one = getattr(face, name)
            if name[0].islower() and ".discrete_" in one.__module__:
                assert name in examples


def test_the_grid_of_averages_is_shared_and_read_only():
    z, weights = gaussian_grid()
    assert weights.sum() == pytest.approx(1)
    assert weights @ z**4 == pytest.approx(3, rel=1e-12)
    with pytest.raises(ValueError, match="read-only"):
        z[0] = 1
