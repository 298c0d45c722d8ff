"""Quadrature rules against integrals known in closed form."""

import numpy as np
import pytest
from scipy.special import i0

from theory.numerics import graded_edges, half_circle, panelled_legendre


def test_half_circle_is_geometric_for_periodic_functions():
    errors = [abs(np.mean(np.exp(np.cos(half_circle(n)))) - i0(1)) for n in (2, 4, 8)]
    assert errors[0] > 1e-3 > errors[1] > 1e-9
    assert errors[2] < 1e-15


def test_panelled_legendre_is_exact_for_polynomials():
    nodes, weights = panelled_legendre([0, 0.1, 2.0], order=4)
    assert np.all(np.diff(nodes) > 0)
    for power in range(8):
        assert weights @ nodes**power == pytest.approx(2 ** (power + 1) / (power + 1), rel=1e-13)
    assert weights @ nodes**9 != pytest.approx(2**10 / 10, rel=1e-13)


def test_graded_edges_resolve_a_logarithm():
    nodes, weights = panelled_legendre(graded_edges(0, 1, 1e-16, ratio=3))
    assert weights @ np.log(nodes) == pytest.approx(-1, rel=1e-12)
    nodes, weights = panelled_legendre(np.linspace(0, 1, 34))
    assert weights @ np.log(nodes) != pytest.approx(-1, rel=1e-6)


@pytest.mark.parametrize(("start", "stop"), [(0, 2), (4, 2), (-1, 0.5)])
def test_graded_edges_go_from_start_to_stop(start, stop):
    edges = graded_edges(start, stop, 1e-3)
    assert (edges[0], edges[-1]) == (start, stop)
    steps = abs(np.diff(edges))
    assert steps[0] == pytest.approx(1e-3)
    assert np.all(np.diff(np.sign(np.diff(edges))) == 0)
    assert np.all(steps[1:-1] / steps[:-2] < 2 + 1e-9)


def test_graded_edges_of_a_short_interval():
    np.testing.assert_allclose(graded_edges(0, 1, 5.0), [0, 1])
