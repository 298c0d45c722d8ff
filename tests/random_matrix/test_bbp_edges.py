"""The ends of the support, on which every threshold rests: closed forms, atoms, matrices against atoms, optimality."""

import numpy as np
import pytest

from theory.models import AR1, Isotropic, MaskedRidge, Scaled, TwoLevel
from theory.random_matrix.spectral.dense_branch import extreme_edge
from theory.random_matrix.spectral.ensemble import (
    CommutingEnsemble,
    DenseEnsemble,
    masked_predictor,
    sample_covariance,
)
from theory.random_matrix.spectral.real_branch import RealBranch


@pytest.mark.parametrize("alpha", [1e-3, 0.25, 0.999, 1.0, 1.0001, 2.0, 1e3])
def test_marchenko_pastur(alpha):
    ensemble, root = sample_covariance(Isotropic(np.inf, 2.0), alpha), alpha**-0.5
    right = extreme_edge(ensemble)
    assert right.nu == pytest.approx(2 * (1 + root) ** 2, rel=1e-13)
    assert right.h == pytest.approx(1 + root, rel=1e-10)
    assert right.residual < 1e-10
    left = extreme_edge(ensemble, "left")
    assert left.is_atom == (alpha <= 1)
    assert left.nu == pytest.approx(2 * (1 - root) ** 2 if alpha > 1 else 0, rel=1e-10)


@pytest.mark.parametrize("side", ["right", "left"])
def test_atoms_and_matrices(side):
    rng = np.random.default_rng(0)
    sigma, offset = rng.uniform(0.2, 3, 30), rng.uniform(0.1, 1, 30)
    basis = np.linalg.qr(rng.standard_normal((30, 30)))[0]
    atoms = CommutingEnsemble(1.7, sigma, offset, np.full(30, 1 / 30))
    plain = DenseEnsemble(1.7, np.diag(sigma), offset)
    constant = DenseEnsemble(1.7, basis @ np.diag(sigma) @ basis.T, np.full(30, 0.3))
    alike = CommutingEnsemble(1.7, sigma, np.full(30, 0.3), np.full(30, 1 / 30))
    for one, two in ((atoms, plain), (alike, constant)):
        expected, found = extreme_edge(one, side), extreme_edge(two, side)
        assert (found.nu, found.h) == pytest.approx((expected.nu, expected.h), rel=1e-10)


@pytest.mark.parametrize("alpha", [0.5, 1.5])
def test_edge_is_the_extremum_of_a_convex_branch(alpha):
    noise = Scaled(AR1(40, 0.6), np.linspace(0.5, 2, 40))
    for model in (MaskedRidge(noise, alpha, 0.2), MaskedRidge(TwoLevel(40), alpha, 0.2)):
        ensemble = masked_predictor(model)
        for side, sign in (("right", 1), ("left", -1)):
            branch = RealBranch(ensemble, side)
            edge = branch.edge()
            if edge.is_atom:
                continue
            points = [branch.at(edge.place + shift) for shift in np.linspace(-2, 1, 13)]
            assert all(sign * point.nu >= sign * edge.nu - 1e-12 for point in points)
            assert all((point.m < 1) == (abs(point.h - 1) < abs(edge.h - 1)) for point in points if point.h != edge.h)
            slopes = np.diff([point.nu for point in points]) / np.diff([point.h for point in points])
            order = np.argsort([point.h for point in points[1:]])
            assert np.all(sign * np.diff(slopes[order]) > 0)


def test_derivatives_along_the_branch():
    branch = RealBranch(masked_predictor(MaskedRidge(Scaled(AR1(20, 0.6), np.linspace(0.5, 2, 20)), 1.5, 0.2)))
    low, middle, high = (branch.at(-0.5 + step) for step in (-1e-5, 0.0, 1e-5))
    assert (high.nu - low.nu) / (high.h - low.h) == pytest.approx(middle.slope, rel=1e-6)
    assert (high.m - low.m) / (high.h - low.h) == pytest.approx(middle.m_slope, rel=1e-6)


def test_unknown_side():
    with pytest.raises(ValueError, match="side"):
        extreme_edge(sample_covariance(Isotropic(4), 1.0), "top")
