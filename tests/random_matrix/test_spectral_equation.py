"""The scalar equation of an ensemble against the resolvent of its matrices, by dense algebra."""

import numpy as np
import pytest

from simulate.core import stream
from theory.random_matrix.spectral.ensemble import DenseEnsemble
from theory.random_matrix.spectral.equation import trace


@pytest.mark.parametrize("rank", [2, 5, 7])
@pytest.mark.parametrize("nu", [0.37, -2.0, 1.1 + 0.4j])
def test_traces_of_a_resolvent_whose_parts_do_not_commute(rank, nu):
    """tr (h Sigma + Lam - nu)^-1 and the same times Sigma, also where Sigma has a null space that Lam mixes with it."""
    rng = stream(0, "no common basis", rank)
    factor = rng.standard_normal((7, rank))
    sigma, offset = factor @ factor.T / rank, rng.uniform(0.2, 3.0, 7)
    equation = DenseEnsemble(0.8, sigma, offset).at(np.array([nu]))
    for h in (0.9, 1.7):
        inverse = np.linalg.inv(h * sigma + np.diag(offset) - nu * np.eye(7))
        t = 1 / (h + equation.a[0])
        assert t @ equation.weights == pytest.approx(np.trace(inverse @ sigma) / 7, rel=1e-9)
        assert trace(equation, np.array([h]))[0] == pytest.approx(np.trace(inverse) / 7, rel=1e-9)
