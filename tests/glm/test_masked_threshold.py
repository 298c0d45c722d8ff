"""The number of samples up to which a plane separates the clusters of a mixture."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize_scalar
from scipy.stats import norm

from simulate.core import stream
from theory import glm
from theory.glm.classification import mixture_separability_threshold as threshold
from theory.models import GaussianMixture, Modes


def opposite(distance, probability=0.5, bias=False, loss="logistic", alpha=1.0, lam=1.0):
    """Means +-mu with mu.Omega^-1.mu = distance^2."""
    options = {"probability": probability, "bias": bias, "loss": loss, "alpha": alpha, "lam": lam}
    return glm.gaussian_mixture(distance**2, 1.0, **options)


def missed(k):
    return (1 + k**2) * norm.cdf(-k) - k * norm.pdf(k)


@pytest.mark.parametrize("distance", [0.1, 0.6, 1.0, 2.5])
def test_the_line_search_of_the_docstring(distance):
    found = minimize_scalar(lambda s: missed(distance * s) / (1 - s * s), bounds=(0, 1), method="bounded")
    assert threshold(opposite(distance)) == pytest.approx(1 / found.fun, rel=1e-7)


def test_the_mean_part_by_integration():
    """E (g - t a)_+^2 with a ~ N(1, 1), at the t of the least, by quadrature of the definition."""
    z, w = np.polynomial.hermite_e.hermegauss(80)

    def law(t):  # over a; the half moment over g from its kink on
        g = np.linspace(0, 14, 4001) + (t * (1 + z))[:, None]
        inner = np.trapezoid((g - g[:, :1]) ** 2 * np.exp(-(g**2) / 2), g, axis=1)
        return w @ inner / (2 * np.pi)

    least = 1 / threshold(opposite(1.0))
    s = minimize_scalar(lambda s: missed(s) / (1 - s * s), bounds=(0, 1), method="bounded").x
    t = s / np.sqrt(1 - s * s)
    assert law(t) == pytest.approx(least, rel=1e-5)
    assert min(law(0.8 * t), law(1.25 * t)) > least


def test_means_that_coincide_are_random_labels():
    assert threshold(opposite(0.0)) == pytest.approx(2)
    assert threshold(opposite(0.0)) == pytest.approx(glm.separability_threshold(0.0))


@settings(max_examples=12)
@given(st.floats(0.05, 3), st.floats(0.05, 0.95))
def test_a_bias_only_helps_and_is_not_needed_for_equal_shares(distance, probability):
    without, trained = threshold(opposite(distance)), threshold(opposite(distance, probability, True))
    assert threshold(opposite(distance, probability)) == pytest.approx(without, rel=1e-9)
    assert trained >= without * (1 - 1e-9)
    assert threshold(opposite(distance, 0.5, True)) == pytest.approx(without, rel=1e-9)
    assert trained == pytest.approx(threshold(opposite(distance, 1 - probability, True)), rel=1e-9)


def general(shift, bias, om=(0.5, 1.0, 2.0)):
    """Two clusters whose means differ by a fixed vector, both moved along `shift`, in three modes."""
    base = np.array([[0.4, -0.2, 0.7], [-0.4, 0.2, -0.7]]) + shift
    gram = base[:, None] * base[None]
    return GaussianMixture(
        modes=Modes(np.full(3, 1 / 3), [om], gram), probabilities=(0.3, 0.7), alpha=1.0, lam=1.0, bias=bias
    )


def test_a_bias_forgets_where_the_clusters_lie_together():
    moved = [threshold(general(np.array(shift), True)) for shift in ([0, 0, 0], [1.0, -0.5, 0.2], [0.0, 3.0, 0.0])]
    assert moved == pytest.approx([moved[0]] * 3, rel=1e-9)
    assert threshold(general(np.array([1.0, -0.5, 0.2]), False)) < moved[0]


def test_a_direction_without_variance_separates_everything():
    assert threshold(general(np.zeros(3), False, om=(0.0, 1.0, 2.0))) == np.inf


@pytest.mark.parametrize(("model", "bias"), [(opposite(0.8), False), (general(np.array([0.5, 0.0, 0.0]), True), True)])
def test_the_hinge_loss_vanishes_up_to_the_threshold(model, bias):
    at = threshold(model)
    below, above = (
        glm.solve(replace(model, loss="hinge", alpha=ratio * at, lam=1e-6)).train_loss for ratio in (0.97, 1.03)
    )
    assert below < 1e-3 < 0.1 < above


def separable(distance, n, p, rng):
    x = rng.standard_normal((n, p))
    x[:, 0] += distance  # of y x
    return linprog(np.zeros(p), A_ub=-x, b_ub=-np.ones(n), bounds=(None, None)).status == 0


def test_linear_programs_are_feasible_up_to_the_threshold():
    p, draws, distance = 60, 100, 0.9
    at = threshold(opposite(distance))
    shares = []
    for ratio in (0.75, 1.0, 1.3):
        rng = stream(0, "separable mixtures", ratio)
        shares.append(sum(separable(distance, round(ratio * at * p), p, rng) for _ in range(draws)) / draws)
    # Five standard deviations of a hundred fair coins; a threshold that is a quarter too high or low is seen.
    assert shares[0] > 0.75 > shares[1] > 0.25 > shares[2]


def test_other_records_are_refused():
    own = GaussianMixture.opposite(variances=[[1.0, 2.0], [2.0, 1.0]], alpha=1.0, lam=1.0)
    with pytest.raises(ValueError, match="one covariance"):
        threshold(own)
    with pytest.raises(ValueError, match="model must be"):
        threshold(glm.as_problem(own))
