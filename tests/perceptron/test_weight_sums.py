"""Sums over many levels by blocks of the grid, against the exponentials of all levels at all points."""

import mpmath
import numpy as np
import pytest

from theory import perceptron
from theory.models import DiscretePerceptron, equally_spaced_levels
from theory.numerics.steps import differences
from theory.perceptron import discrete_norms, discrete_path, discrete_saddle
from theory.perceptron.discrete_saddle import Saddle
from theory.perceptron.gaussian_average import gaussian_grid, half_gaussian_grid
from theory.perceptron.weight_sums import tilted_moments, tilted_sums

# Fields for which a block has 16, 8, 2 and 1 points at a step of 0.025, and one that is no number.
FIELDS = np.array([0.1, 40.0, 1300.0, 1900.0, 9000.0, 60000.0, np.nan])
SQUARES = np.array([3.0, -80.0, -2000.0, 1500.0, -9e4, -2e6, -1.0])


def plain(levels, square, linear, z):
    exponents = np.multiply.outer(levels, linear * z) + (square * levels**2)[:, None]
    top = exponents.max(axis=0)
    return np.exp(exponents - top), top


@pytest.mark.parametrize("grid", [half_gaussian_grid(), gaussian_grid(0.1, 8.0)])
def test_sums_are_those_of_all_exponentials(grid):
    z = grid[0]
    levels = np.random.default_rng(3).uniform(-1, 1, 70)
    powers = np.stack([np.ones_like(levels), levels + 1, levels**2])
    sums, tops = tilted_sums(levels, SQUARES, FIELDS, z, powers)
    assert np.isnan(sums[:, -1]).all()
    for row in range(len(FIELDS) - 1):
        law, top = plain(levels, SQUARES[row], FIELDS[row], z)
        size = abs(SQUARES[row]) + FIELDS[row] * abs(z).max()
        assert sums[:, row] * np.exp(tops[row] - top) == pytest.approx(powers @ law, rel=1e-14 + 4e-16 * size, abs=0)


@pytest.mark.parametrize("row", range(len(FIELDS) - 1))
def test_moments_keep_the_digits_of_a_small_variance(row):
    z = half_gaussian_grid()[0]
    levels = np.linspace(-1, 1, 66)
    square, linear = float(SQUARES[row]), float(FIELDS[row])
    mean, second, variance, logs = tilted_moments(levels, square, linear, z)
    law, top = plain(levels, square, linear, z)
    law /= (total := law.sum(axis=0))
    exact = levels @ law
    spread = (np.square(levels[:, None] - exact) * law).sum(axis=0)
    size = abs(square) + linear * 10
    assert mean == pytest.approx(exact, abs=1e-14 + 1e-16 * size)
    assert second == pytest.approx(levels**2 @ law, rel=1e-13 + 4e-16 * size)
    assert logs == pytest.approx(top + np.log(total), abs=1e-13 + 4e-16 * size)
    largest = spread > 1e-9 * spread.max()
    assert variance[largest] == pytest.approx(spread[largest], rel=1e-10, abs=0)


def test_one_sum_in_high_precision():
    """At z = 10 the exponents are up to 13,000: the plain sum has lost as many digits as this one."""
    levels = np.linspace(-1, 1, 65)
    z = half_gaussian_grid()[0]
    mean, _, variance, _ = tilted_moments(levels, -900.0, 1300.0, z)
    with mpmath.workdps(50):
        k = 23
        law = [mpmath.exp(-900 * mpmath.mpf(w) ** 2 + 1300 * mpmath.mpf(z[k]) * mpmath.mpf(w)) for w in levels]
        total = sum(law)
        first = sum(p * mpmath.mpf(w) for p, w in zip(law, levels, strict=True)) / total
        spread = sum(p * (mpmath.mpf(w) - first) ** 2 for p, w in zip(law, levels, strict=True)) / total
    assert mean[k] == pytest.approx(float(first), rel=1e-13)
    assert variance[k] == pytest.approx(float(spread), rel=1e-11)


def test_capacity_and_entropy_do_not_depend_on_how_sums_are_taken(monkeypatch):
    levels = equally_spaced_levels(40)
    model = DiscretePerceptron(levels=levels, alpha=0.8, margin=0.1)
    found, entropy = perceptron.zero_entropy_capacity(levels), perceptron.solution_entropy(model)
    for module in (discrete_norms, discrete_saddle):
        monkeypatch.setattr(module, "MANY_LEVELS", 1000)
    other, again = perceptron.zero_entropy_capacity(levels), perceptron.solution_entropy(model)
    assert found.alpha == pytest.approx(other.alpha, rel=1e-12)
    assert found.replicon == pytest.approx(other.replicon, abs=1e-7)
    assert entropy.entropy == pytest.approx(again.entropy, abs=1e-12)
    assert entropy.overlap == pytest.approx(again.overlap, rel=1e-11)


def test_the_scan_of_many_levels_stays_below_the_capacity_of_real_weights(monkeypatch):
    """Steps along the tangent went to alpha = 2, where a point that fails took a quarter of the time."""
    loads = []

    def recorded(model, *options):
        loads.append(model.alpha)
        return point(model, *options)

    point = discrete_path.point
    monkeypatch.setattr(discrete_path, "point", recorded)
    found = perceptron.zero_entropy_capacity(equally_spaced_levels(129))
    assert found.alpha == pytest.approx(1.97531841020, abs=1e-10)  # on the grid of all exponentials
    assert max(loads) < 2


@pytest.mark.parametrize("margin", [-0.37, -0.3301])
def test_margins_that_only_patterns_beyond_the_grid_miss_are_refused_at_once(margin):
    """They were refused after a minute: averages over a pattern end at 34 standard deviations."""
    with pytest.raises(ValueError, match=r"margin must be at least -33 times the smallest .*, -0\.33, .* got -0\.3"):
        perceptron.zero_entropy_capacity((-1.0, 0.01, 1.0), margin)


@pytest.mark.parametrize(
    ("levels", "alpha", "margin", "x"),
    [
        ((-1, 0, 1), 0.7, 0.0, (0.6, 0.4)),
        ((-1, 0.2, 0.7), 0.6, -0.1, (0.5, 0.3)),
        ((-1, 0.2, 0.7), 0.6, 0.2, (0.5, 0.0)),
        (equally_spaced_levels(65), 1.9, 0.0, (0.33, 0.325)),
    ],
)
def test_derivatives_of_the_equations_are_those_of_differences(levels, alpha, margin, x):
    equations = Saddle.of(DiscretePerceptron(levels=levels, alpha=alpha, margin=margin))
    image, jacobian = equations.linearized(np.array(x))
    assert image == pytest.approx(equations.update(np.array(x)), rel=1e-12)
    if x[1]:
        by_differences = differences(equations.update, np.array(x))
    else:  # q is not negative
        columns = [equations.update(np.array(x) + h * np.eye(2)[k]) for k, h in ((0, 1e-6), (1, 1e-6))]
        by_differences = np.transpose([(one - image) / 1e-6 for one in columns])
    assert jacobian == pytest.approx(by_differences, rel=1e-4 if not x[1] else 1e-6, abs=1e-8)


@pytest.mark.parametrize(("n_levels", "alpha"), [(193, 1.983162743250668), (513, 1.9933448421537603)])
def test_capacities_of_many_levels(n_levels, alpha):
    """As found by mixing alone, with all norms on the finest grid."""
    found = perceptron.zero_entropy_capacity(equally_spaced_levels(n_levels))
    assert found.alpha == pytest.approx(alpha, rel=1e-11)
