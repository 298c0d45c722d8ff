"""Groups of copies of binary solutions: reference values, limits, and second routes to every average."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import log_ndtr

from theory import ConvergenceError, perceptron
from theory.models import DiscretePerceptron
from theory.perceptron.discrete_binary_groups import BinaryGroups

MODEL = DiscretePerceptron(levels=(-1, 1), alpha=0.4)


# The numbers are those of an independent implementation with a fixed grid up to z1 = +-14.
@pytest.mark.parametrize(("overlap", "value"), [(0.8, 0.303984134), (0.6, 0.361942823), (0.4, 0.390621)])
def test_reference_pairs(overlap, value):
    assert perceptron.copy_entropy(MODEL, overlap).entropy == pytest.approx(value, abs=6e-10 if overlap > 0.5 else 5e-7)


def test_one_copy_does_not_know_its_overlap():
    single = perceptron.solution_entropy(MODEL)
    for overlap in (-0.5, 0.3, 0.9):
        found = perceptron.copy_entropy(MODEL, overlap, copies=1)
        assert found.entropy == pytest.approx(single.entropy, abs=1e-12)
        assert found.replicon == single.replicon
    # The equations of groups, taken at y = 1, give it as well: what multiplies y - 1 has gone.
    groups = BinaryGroups(0.4, 0.0, 1, 0.7)
    assert groups.output(single.overlap).squared_mean * 0.4 == pytest.approx(single.overlap_conjugate, rel=1e-10)
    assert groups.output(single.overlap).log_success == pytest.approx(single.slope, rel=1e-10)


@pytest.mark.parametrize("copies", [2, 5])
def test_groups_at_the_typical_distance_are_independent(copies):
    single = perceptron.solution_entropy(MODEL)
    found = perceptron.copy_entropy(MODEL, single.overlap + 1e-7, copies)
    assert found.entropy == pytest.approx(single.entropy, abs=1e-10)
    assert found.group_overlap == pytest.approx(single.overlap, abs=1e-6)
    assert found.replicon == pytest.approx(single.replicon, abs=1e-6)


@pytest.mark.parametrize("copies", [2, 5])
def test_identical_copies_are_one_solution(copies):
    """Towards distance zero the entropy of a group is that of one solution, S_y -> S/y."""
    found = perceptron.copy_entropy(MODEL, 0.9999, copies)
    assert found.entropy * copies == pytest.approx(perceptron.solution_entropy(MODEL).entropy, abs=4e-3)


def test_groups_are_rarer_the_closer_and_the_larger_they_are():
    table = np.array([[perceptron.copy_entropy(MODEL, q, y).entropy for q in (0.5, 0.7, 0.9)] for y in (1, 2, 3, 5)])
    assert (np.diff(table[1:], axis=1) < 0).all()
    assert (np.diff(table, axis=0) < 0).all()


def test_without_patterns_groups_are_counted_by_a_coin():
    """Two copies at distance d: (log 2 + h(d))/2 per copy."""
    found = perceptron.copy_entropy(DiscretePerceptron(levels=(-1, 1), alpha=1e-9), 0.6)
    coin = -0.2 * math.log(0.2) - 0.8 * math.log(0.8)
    assert found.entropy == pytest.approx((math.log(2) + coin) / 2, abs=1e-7)


def test_units_change_nothing():
    other = DiscretePerceptron(levels=(-3, 3), alpha=0.4, margin=0.6)
    one = perceptron.copy_entropy(DiscretePerceptron(levels=(-1, 1), alpha=0.4, margin=0.2), 0.8)
    assert perceptron.copy_entropy(other, 0.8).entropy == pytest.approx(one.entropy, abs=1e-12)
    assert one.entropy < perceptron.copy_entropy(MODEL, 0.8).entropy


@pytest.mark.parametrize(("copies", "q0"), [(2, 0.3), (5, 0.4), (40, 0.2)])
def test_averages_over_a_pattern_by_adaptive_quadrature(copies, q0):
    """The probability that a group stores a pattern, at one field; its derivatives by finite differences."""
    margin, q1, h = 0.2, 0.7, 1e-3
    groups = BinaryGroups(1.0, margin, copies, q1)

    def log_stored(fields):  # fields of the first copy and of all others
        def integrand(z1):
            first, others = ((x + math.sqrt(q1 - q0) * z1 - margin) / math.sqrt(1 - q1) for x in fields)
            return math.exp(log_ndtr(first) + (copies - 1) * log_ndtr(others) - z1 * z1 / 2)

        return math.log(quad(integrand, -10, 14, limit=400, points=[0, 3, 6])[0] / math.sqrt(2 * math.pi))

    nodes, weights = np.polynomial.hermite_e.hermegauss(30)
    weights = weights / weights.sum()
    logs, sums, differences, gradient = [], [], [], []
    for x in math.sqrt(q0) * nodes:
        value = log_stored((x, x))
        up, down = log_stored((x + h, x + h)), log_stored((x - h, x - h))
        one_up, one_down = log_stored((x + h, x)), log_stored((x - h, x))
        total, single = (up - 2 * value + down) / h**2, (one_up - 2 * value + one_down) / h**2
        logs.append(value)
        sums.append(total / copies)  # the eigenvalue a + y b, where a + b is the diagonal and b is off it
        cross = (total - copies * single) / (copies * (copies - 1))
        differences.append(single - cross)
        gradient.append((up - down) / (2 * h * copies))
    found = groups.output(q0)
    assert found.log_success == pytest.approx(weights @ np.array(logs), rel=1e-6)
    assert found.squared_mean == pytest.approx(weights @ np.array(gradient) ** 2, rel=1e-4)
    assert found.sums == pytest.approx(weights @ np.array(sums) ** 2, rel=1e-3)
    assert found.differences == pytest.approx(weights @ np.array(differences) ** 2, rel=1e-3)


@pytest.mark.parametrize("extra", [0.8, 0.0])
def test_averages_over_a_site_by_a_grid_of_both_fields(extra):
    """The tilted integral over z1 itself, on a grid to +-14, in the place of sums over the copies."""
    y, linear = 5, 0.3
    z = np.linspace(-14, 14, 1401)
    gauss = np.exp(-z * z / 2) / np.exp(-z * z / 2).sum()
    h = math.sqrt(linear) * z[:, None] + math.sqrt(extra) * z
    tilted = np.exp(y * np.logaddexp(h, -h)) * gauss
    total = tilted.sum(axis=1)
    m, m2 = ((tilted * np.tanh(h) ** k).sum(axis=1) / total for k in (1, 2))
    found = BinaryGroups(0.4, 0.0, y, 0.8).weights(linear, extra)
    assert found.log_partition == pytest.approx(gauss @ np.log(total), rel=1e-10)
    assert found.squared_mean == pytest.approx(gauss @ m**2, rel=1e-10)
    assert found.product == pytest.approx(gauss @ m2, rel=1e-10)
    assert found.sums == pytest.approx(gauss @ (1 - m2 + y * (m2 - m**2)) ** 2, rel=1e-10)
    assert found.differences == pytest.approx(gauss @ (1 - m2) ** 2, rel=1e-10)


def test_the_entropy_is_stationary_in_the_overlap_of_groups():
    """Off the solution, with the conjugates of the solution, it changes in second order only."""
    found, h = perceptron.copy_entropy(MODEL, 0.8, 3), 1e-4
    groups, y, q1 = BinaryGroups(0.4, 0.0, 3, 0.8), 3, 0.8
    linear, extra = found.group_conjugate, found.copy_conjugate - found.group_conjugate

    def value(q0, linear, extra):
        success, partition = groups.output(q0).log_success, groups.weights(linear, extra).log_partition
        return (-(linear + extra) * (1 + (y - 1) * q1) + y * q0 * linear) / 2 + (partition + 0.4 * success) / y

    orders = (found.group_overlap, linear, extra)
    assert value(*orders) == pytest.approx(found.entropy, abs=1e-11)
    for k in range(3):
        up, down = (value(*(x + sign * h * (j == k) for j, x in enumerate(orders))) for sign in (1, -1))
        assert abs(up - down) / (2 * h) < 1e-7


def test_large_groups_break_replica_symmetry():
    with pytest.raises(ConvergenceError, match="replica symmetry is broken here"):
        perceptron.copy_entropy(MODEL, 0.6, 100)
    assert perceptron.copy_entropy(MODEL, 0.6, 100, check=False).replicon < 0


def test_bad_input():
    with pytest.raises(ValueError, match=r"overlap must be at least that of typical solutions, 0.255842938 at alpha"):
        perceptron.copy_entropy(MODEL, 0.2)
    with pytest.raises(ValueError, match="overlap must lie in"):
        perceptron.copy_entropy(MODEL, 1.0)
    with pytest.raises(ValueError, match="copies must be an integer of at least 1"):
        perceptron.copy_entropy(MODEL, 0.8, 0)
    with pytest.raises(ValueError, match="copies must be at most 1000"):
        perceptron.copy_entropy(MODEL, 0.8, 2000)
    for levels in ((0, 1), (-1, 0, 1)):
        with pytest.raises(ValueError, match=r"model must have binary levels \(-a, a\)"):
            perceptron.copy_entropy(DiscretePerceptron(levels=levels, alpha=0.1), 0.8)
