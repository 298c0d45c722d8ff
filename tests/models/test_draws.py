"""What records draw: second moments to one percent and fourth ones to a few, each beside the law that is stated."""

import numpy as np
import pytest

from theory.models import FactoredStack, HiddenManifold, PowerLaw
from theory.models.potts import random_color_couplings


def assert_normal(values, variance, rel=0.01):
    """Mean, variance and fourth moment of independent normal numbers of a known variance, within five deviations."""
    x = np.ravel(values) / np.sqrt(variance)
    assert 5 * np.sqrt(2 / x.size) < rel, "too few numbers to see the error that must be seen"
    assert abs(x.mean()) < 5 / np.sqrt(x.size)
    squares = x * x
    assert squares.mean() == pytest.approx(1, abs=5 * np.sqrt(2 / x.size))
    assert np.mean(squares * squares) == pytest.approx(3, abs=5 * np.sqrt(96 / x.size))


def test_stacks_have_the_variances_of_their_scale():
    stack = FactoredStack.random(2, 550, 520, 1.5, np.random.default_rng(0))
    assert_normal(stack.attentions, 1.5**2 / 550)
    assert_normal(stack.values, 1.5**2 / 520)


def test_color_couplings_are_standard_normal_on_and_above_the_diagonal():
    rng = np.random.default_rng(1)
    drawn = np.array([random_color_couplings(100, rng) for _ in range(110)])
    np.testing.assert_array_equal(drawn, drawn.transpose(0, 2, 1))
    assert_normal(drawn[:, *np.triu_indices(100, 1)], 1.0)
    assert_normal(np.diagonal(drawn, axis1=1, axis2=2), 1.0, rel=0.07)


def test_maps_of_a_hidden_manifold_have_rows_of_unit_length_and_its_teacher_any_direction():
    rng = np.random.default_rng(2)
    task = HiddenManifold.random(900, 800, rng)
    other = task.correlated(0.6, 0.0, rng)
    for drawn in (task, other):
        assert_normal(drawn.input_map, 1 / 800)
    assert_normal((other.input_map - 0.6 * task.input_map) / 0.8, 1 / 800)
    teacher = HiddenManifold.random(1, 60_000, rng).teacher
    assert teacher @ teacher == pytest.approx(60_000, rel=1e-12)
    assert_normal(teacher, 1.0, rel=0.04)


def test_a_rotated_power_law_has_a_basis_of_any_direction():
    """Entries of a uniform orthogonal matrix: E x^4 = 3/(d (d + 2)), and two of one row E x^2 y^2 = 1/(d (d + 2))."""
    d, draws = 20, 300
    x = np.array([PowerLaw(d, 0.7, rotation=seed).eigenvectors for seed in range(draws)])
    np.testing.assert_allclose(x.transpose(0, 2, 1) @ x, np.broadcast_to(np.eye(d), x.shape), atol=1e-12)
    squares = x * x
    fourth = d * (d + 2) * np.mean(squares * squares, axis=(0, 1))  # of every column
    np.testing.assert_allclose(fourth, 3.0, atol=5 * np.sqrt(96 / (draws * d)))
    assert fourth.mean() == pytest.approx(3.0, rel=0.03)
    beside = d * (d + 2) * np.mean(squares[:, :, 0] * squares[:, :, 1])
    assert beside == pytest.approx(1.0, abs=5 * np.sqrt(8 / (draws * d)))
