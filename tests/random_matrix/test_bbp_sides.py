"""What leaves the bulk on its left, and the top of the symmetric part of the predictor; both also measured."""

import math

import numpy as np
import pytest

from simulate import masked as measured
from simulate.core import Estimate, stream
from theory.models import AR1, Blocks, Isotropic, SpikedData, TwoLevel
from theory.random_matrix import outlier, spike_outliers, symmetric_outlier

INF = math.inf


def shared(d, count):
    u = np.zeros(d)
    u[:count] = 1 / math.sqrt(count)
    return u


@pytest.mark.parametrize("count", [3, 5])
def test_contrasts_of_a_localized_spike(count):
    """Correlated equally by c, L coordinates have L - 1 eigenvalues 1 - c of their correlations, above x = 1 - c."""
    strength, alpha = 30.0, 4.0
    u = shared(40, count)[None]
    found = spike_outliers(Isotropic(40), u, strengths=[strength], alpha=alpha, method="correlation_pca", side="left")
    assert found.detected == count - 1
    c = strength / count / (1 + strength / count)
    # an eigenvalue l of the population below the bulk appears at l (1 + gamma/(l - 1))
    population = 1 - c
    assert found.eigenvalues == pytest.approx(population * (1 + 0.25 / (population - 1)), rel=1e-9)
    assert found.overlaps == pytest.approx(0, abs=1e-12)
    assert found.edge == pytest.approx(0.25)


def test_masked_predictor_has_negative_outliers():
    u = shared(60, 4)[None]
    found = spike_outliers(Isotropic(60), u, strengths=[20.0], alpha=2.0, lam=1.0, side="left")
    assert found.detected == 3
    assert np.all(found.eigenvalues < found.edge)
    assert found.residual < 1e-10
    for method in ("pca", "diagonal_deleted_pca"):
        left = spike_outliers(Isotropic(60), u, strengths=[20.0], alpha=2.0, method=method, side="left")
        assert left.detected == (0 if method == "pca" else 3)
    with pytest.raises(ValueError, match="side"):
        spike_outliers(Isotropic(60), u, strengths=[20.0], alpha=2.0, method="pca", side="top")


@pytest.mark.parametrize("alpha", [0.4, 1.0, 3.0])
@pytest.mark.parametrize("strength", [0.7, 1.5, 4.0])
def test_symmetric_part_is_the_predictor_where_coordinates_are_alike(strength, alpha):
    for noise in (Isotropic(INF), Blocks(INF, 4, 0.3)):
        plain = outlier(SpikedData(noise, None, strength=strength, alpha=alpha, lam=0.1))
        symmetric = symmetric_outlier(SpikedData(noise, None, strength=strength, alpha=alpha, lam=0.1))
        assert symmetric.detected == plain.detected
        assert symmetric.edge == pytest.approx(plain.edge, abs=1e-8)
        assert symmetric.eigenvalue == pytest.approx(plain.eigenvalue, abs=1e-8)
        assert symmetric.overlap == pytest.approx(plain.overlap, abs=1e-8)


@pytest.mark.parametrize(("strength", "lam"), [(3.0, 1.0), (6.0, 1.0), (2.5, 0.05)])
def test_symmetric_part_measured(agrees, strength, lam):
    """Two-level noise: at lam = 1 the spike stands out, at lam = .05 the asymmetry of the noise rows hides it."""
    d = 240
    data = SpikedData(TwoLevel(INF), strength=strength, alpha=1.0, lam=lam)
    theory = symmetric_outlier(data)
    assert theory.detected == (lam == 1.0)
    draws = np.array(
        [measured.symmetric_outlier(data, d, stream(0, "symmetric", strength, lam, r)) for r in range(120)]
    )
    # relative bias: 2/d of an outlier, d^(-2/3) of an edge
    bias = (2 / d if theory.detected else d ** (-2 / 3)) * theory.eigenvalue
    agrees(Estimate.of(draws[:, 0]), theory.eigenvalue, resolves=0.1, bias=bias)
    if theory.detected:
        agrees(Estimate.of(draws[:, 1]), theory.overlap, resolves=0.15, bias=4 / d)
    else:
        assert draws[:, 1].mean() < 0.03


def test_symmetric_part_refuses_what_it_cannot():
    with pytest.raises(ValueError, match="symmetric part"):
        symmetric_outlier(SpikedData(AR1(20, 0.5), shared(20, 3), strength=2.0, alpha=1.0, lam=0.1))
    with pytest.raises(ValueError, match="lam must lie in"):
        symmetric_outlier(SpikedData(TwoLevel(INF), None, strength=2.0, alpha=1.0, lam=0.0))
