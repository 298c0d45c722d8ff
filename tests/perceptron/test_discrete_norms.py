"""Several solutions of one perceptron, of long and of short weight vectors: which one counts, and up to which load."""

from dataclasses import replace

import numpy as np
import pytest

from simulate.core import stream
from tests.perceptron.discrete_reference import plain_entropy
from theory import ConvergenceError, perceptron
from theory.models import DiscretePerceptron
from theory.perceptron.discrete_entropy import point
from theory.perceptron.discrete_norms import likely_maxima, log_mean_number
from theory.perceptron.discrete_saddle import Saddle

SEVEN = (-0.767444, -0.323662, 0.018012, 0.112974, 0.294952, 0.337867, 0.980294)
SMALL, SMALLER = ((-1.0, 0.02, 1.0), -0.1), ((-1.0, 0.05, 1.0), -0.3)


def model(levels, alpha, margin=0.0):
    return DiscretePerceptron(levels=levels, alpha=alpha, margin=margin)


@pytest.mark.parametrize(
    ("alpha", "entropy", "lesser"),
    [(2.25, 0.447714351, 0.444773150), (2.3, 0.443366397, 0.418001437), (2.35, 0.439250164, 0.392361694)],
)
def test_of_two_solutions_the_one_of_larger_entropy_is_returned_with_the_other(alpha, entropy, lesser):
    found = perceptron.solution_entropy(model(SEVEN, alpha, -0.0986585))
    assert found.entropy == pytest.approx(entropy, abs=2e-9)
    assert found.other.entropy == pytest.approx(lesser, abs=2e-9)
    assert found.stable
    assert found.norm < found.other.norm / 5
    for one in (found, found.other):  # route two: damped iterations from nearby
        plain = plain_entropy(SEVEN, alpha, -0.0986585, 1.01 * one.norm, 1.01 * one.overlap)
        assert plain == pytest.approx((one.entropy, one.norm, one.overlap), rel=1e-8)


@pytest.mark.parametrize(
    ("problem", "alpha", "lesser"), [(SMALL, 392.618710, 1.402964458), (SMALLER, 425793.902, 2.115741759)]
)
def test_capacity_with_a_small_level_and_a_negative_margin(problem, alpha, lesser):
    found = perceptron.zero_entropy_capacity(*problem)
    assert found.alpha == pytest.approx(alpha, rel=1e-8)
    assert found.other_alphas == pytest.approx([lesser], rel=1e-8)
    assert found.alpha < found.first_moment_bound
    assert found.stable
    # Route two: at these orders the sums of the reference vanish, and its next orders are the same.
    again = plain_entropy(problem[0], found.alpha, problem[1], found.norm, found.overlap, rounds=1)
    assert again[0] == pytest.approx(0, abs=1e-13)
    assert again[1:] == pytest.approx((found.norm, found.overlap), rel=1e-10)


def test_far_above_the_load_at_which_long_vectors_are_gone_short_ones_store_all_patterns():
    """All weights at the small level: 6000 of 6000 patterns at alpha = 3, where each fails with a chance of 3e-7."""
    N = 2000
    patterns = stream(0, "small level").choice(np.array([-1.0, 1.0], dtype=np.float32), (3 * N, N))
    assert np.all(patterns @ np.full(N, 0.02, dtype=np.float32) / np.sqrt(N) > -0.1)
    assert perceptron.solution_entropy(model(SMALL[0], 3.0, SMALL[1])).entropy == pytest.approx(0.003344132, abs=1e-9)


@pytest.mark.parametrize("small", [(-0.01, 0.01), (-0.01, -0.005, 0.0, 0.005, 0.01), (-0.02, -0.01, 0.0, 0.01, 0.02)])
def test_without_margin_small_levels_keep_the_capacity_that_they_have_alone(small):
    """A large level cannot lower the capacity, but weights that use it have a smaller one of their own."""
    alone, more = perceptron.zero_entropy_capacity(small), perceptron.zero_entropy_capacity((*small, 1.0))
    assert more.alpha == pytest.approx(alone.alpha, rel=1e-9)
    assert more.other_alphas[0] < more.alpha


def test_the_curve_follows_the_larger_entropy_and_both_ends_give_the_same():
    loads = [2.35, 1.5, 2.25]
    curve = perceptron.entropy_curve(SEVEN, loads, -0.0986585)
    alone = [perceptron.solution_entropy(model(SEVEN, alpha, -0.0986585)) for alpha in loads]
    assert curve.entropies == pytest.approx([one.entropy for one in alone], rel=1e-10)
    assert [one and round(one.entropy, 8) for one in curve.others] == [
        one.other and round(one.other.entropy, 8) for one in alone
    ]


@pytest.mark.parametrize("levels", [(-1.0, 1.0), (-1.0, 0.0, 1.0), (0.0, 1.0), (-1.0, -0.25, 0.5, 1.0)])
@pytest.mark.parametrize("margin", [-0.3, 0.0, 0.3])
def test_ordinary_alphabets_have_one_solution_from_every_start(levels, margin):
    one = model(levels, 0.2, margin)
    found = perceptron.solution_entropy(one)
    assert found.other is None
    for norm, share in ((0.9, 0.1), (0.2, 0.9), (0.5, 0.5)):
        again, _ = point(one, np.array([norm, share * norm]), 1e-12, 500)
        if again.converged:
            assert again.entropy == pytest.approx(found.entropy, abs=1e-9)


def test_the_scan_of_norms_finds_both_maxima_and_bounds_hold():
    """Where the entropy at fixed norm has two maxima there are two starts; the mean number bounds what is found."""
    equations = Saddle.of(model(SMALL[0], 1.4, SMALL[1]))
    small, large = (guesses[0] for guesses in likely_maxima(equations))
    assert small[0] < 2e-3 < 0.3 < large[0]
    found = perceptron.solution_entropy(model(SMALL[0], 1.4, SMALL[1]))
    for one in (found, found.other):
        assert one.entropy < log_mean_number(equations, one.norm) < np.log(3)
    # At fixed norm Q the entropy of all vectors is that of the shares of the levels: here (1 - Q')/1 and Q'.
    share = (0.3 - 4e-4) / (1 - 4e-4)
    exact = -share * np.log(share / 2) - (1 - share) * np.log(1 - share)
    assert log_mean_number(replace(equations, alpha=1e-12), 0.3) == pytest.approx(exact, abs=2e-3)


def test_a_failure_takes_a_bounded_number_of_steps(monkeypatch):
    """Points of the grid times evaluations: about a second at most for two levels, where it was eighteen."""
    work = []
    original = Saddle.update
    monkeypatch.setattr(Saddle, "update", lambda self, x: (work.append(0.025 / self.step), original(self, x))[1])
    with pytest.raises(ConvergenceError, match="take an alpha nearer to the capacity or below it"):
        perceptron.solution_entropy(model((0.0, 1.0), 0.86757))
    assert sum(work) < 8000


@pytest.mark.parametrize(
    ("levels", "margin", "first", "alpha"),
    [((-1.0, 0.004, 1.0), -0.02, 1.21574, 20.01153), ((-1.0, 0.008, 1.0), -0.04, 1.25907, 72.60474)],
)
def test_a_small_level_that_the_scan_at_the_root_does_not_show_is_found_at_larger_loads(levels, margin, first, alpha):
    found = perceptron.zero_entropy_capacity(levels, margin)
    assert found.alpha == pytest.approx(alpha, rel=1e-6)
    assert found.other_alphas == pytest.approx((first,), rel=1e-5)
    inside = perceptron.solution_entropy(DiscretePerceptron(levels=levels, alpha=1.5 * first, margin=margin))
    assert inside.entropy > 1e-5
    assert found.alpha < found.first_moment_bound
