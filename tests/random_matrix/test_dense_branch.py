"""Edges and outliers in noise that does not commute: factorizations against eigendecompositions along the branch."""

import numpy as np
import pytest

from theory.models import AR1, Empirical, MaskedRidge, Scaled
from theory.models.row_scales import GAUSSIAN, PointScales
from theory.random_matrix import spike_outliers
from theory.random_matrix.bbp import emergence, spiked_bulk
from theory.random_matrix.spectral.dense_branch import TRIANGLE_SIZE, DenseBranch
from theory.random_matrix.spectral.ensemble import masked_predictor
from theory.random_matrix.spectral.real_branch import RealBranch

ROWS = {"alike": GAUSSIAN, "of two scales": PointScales((0.5, 3.0), (0.8, 0.2))}


def noise(d=30, seed=0):
    rng = np.random.default_rng(seed)
    loads = rng.standard_normal((d, 3)) * np.exp(rng.standard_normal((d, 1)))
    return Empirical(loads @ loads.T + np.diag(np.exp(rng.standard_normal(d))))


def ensemble(alpha, lam, rows="alike", covariance=None):
    return masked_predictor(MaskedRidge(covariance or noise(), alpha, lam, row_scales=ROWS[rows]))


@pytest.fixture
def by_eigenvectors(monkeypatch):
    """Take the route without factorizations."""
    monkeypatch.setattr(spiked_bulk, "branch", lambda ensemble, side="right": RealBranch(ensemble, side))


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("lam", [1e-4, 0.1, 30.0])
@pytest.mark.parametrize(("side", "alpha"), [("right", 0.2), ("right", 1.0), ("right", 8.0), ("left", 4.0)])
def test_edges(side, alpha, lam, rows, monkeypatch):
    expected = RealBranch(ensemble(alpha, lam, rows), side).edge()
    monkeypatch.setattr(RealBranch, "at", _never_on_matrices(RealBranch.at))
    found = DenseBranch(ensemble(alpha, lam, rows), side).edge()
    assert found.nu == pytest.approx(expected.nu, rel=1e-12)
    assert (found.h, found.place) == pytest.approx((expected.h, expected.place), rel=1e-9)
    assert found.residual < 1e-9
    assert found.iterations <= 6


@pytest.mark.parametrize("d", [65, 130])
def test_edges_of_matrices_whose_triangles_are_inverted_by_halves(d):
    assert d > TRIANGLE_SIZE
    own = [ensemble(2.0, 0.1, covariance=noise(d)) for _ in range(2)]
    found, expected = DenseBranch(own[0], "right").edge(), RealBranch(own[1], "right").edge()
    assert found.nu == pytest.approx(expected.nu, rel=1e-12)
    assert (found.h, found.place) == pytest.approx((expected.h, expected.place), rel=1e-9)


def _never_on_matrices(at):
    def checked(self, place):
        assert not isinstance(self, DenseBranch)
        return at(self, place)

    return checked


@pytest.mark.parametrize("side", ["right", "left"])
def test_derivatives_of_the_equations(side):
    branch = DenseBranch(ensemble(3.0, 0.3), side)
    edge = branch.edge()
    place, nu = edge.place - 0.3, edge.nu * (1.05 if side == "right" else 0.95)
    at, step = branch.resolvent(place, nu), 1e-6
    for number, name in enumerate(("defect", "log m")):
        slopes = at.defect_slopes() if name == "defect" else at.m_slopes()

        def value(place, nu, name=name):
            one = branch.resolvent(place, nu)
            return one.defect if name == "defect" else np.log(one.m)

        by_place = (value(place + step, nu) - value(place - step, nu)) / (2 * step)
        by_nu = (value(place, nu * (1 + step)) - value(place, nu * (1 - step))) / (2 * step * nu)
        assert (slopes[0] * branch.stretch(place), slopes[1]) == pytest.approx((by_place, by_nu), rel=1e-6), number


def test_points_are_those_of_the_branch():
    branch = DenseBranch(ensemble(2.0, 0.3))
    expected = RealBranch.at(branch, branch.edge().place - 0.5)
    at = branch.resolvent(expected.place, expected.nu)
    assert at.defect == pytest.approx(0, abs=1e-12)
    assert (at.m, at.point.slope) == pytest.approx((expected.m, expected.slope), rel=1e-10)
    inside = RealBranch.at(branch, branch.edge().place)
    assert branch.resolvent(inside.place, 0.5 * inside.nu) is None  # below poles: no definite resolvent


def found_outliers(method="ssr", lam=0.1, seed=0):
    d, rng = 30, np.random.default_rng(1 + seed)
    directions = rng.standard_normal((3, d))
    directions[2, 5:] = 0
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    options = {"strengths": [400.0, 900.0, 3000.0], "alpha": 2.0, "method": method, "lam": lam}
    return spike_outliers(noise(d, seed), directions, **options)


CASES = [("ssr", 0.1, 0), ("ssr", 20.0, 1), ("ssr", 1e-3, 2), ("diagonal_deleted_pca", None, 0)]


@pytest.mark.parametrize(("method", "lam", "seed"), CASES)
def test_outliers(method, lam, seed, request):
    found = found_outliers(method, lam, seed)
    request.getfixturevalue("by_eigenvectors")
    _agree(found, found_outliers(method, lam, seed))
    assert found.detected >= 2
    assert found.residual < 1e-9


def _agree(found, expected):
    assert found.detected == expected.detected
    np.testing.assert_allclose(found.eigenvalues, expected.eigenvalues, rtol=1e-10)
    for name in ("overlaps", "left_overlaps", "span_overlaps", "left_span_overlaps"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-10)


@pytest.mark.parametrize("failing", ["resolvent", "surrogate"])
def test_where_newtons_method_fails_eigenvectors_answer(failing, monkeypatch, request):
    expected = found_outliers()

    def fails(*_):
        raise FloatingPointError("no surrogate")

    broken = (lambda *_: None) if failing == "resolvent" else property(fails)
    monkeypatch.setattr(DenseBranch, failing, broken)
    found = found_outliers()
    assert found.iterations > expected.iterations
    _agree(found, expected)


def test_a_point_inside_the_bulk_is_no_outlier(monkeypatch):
    """Newton's method may end on the wrong side of the edge, where m exceeds 1: then eigenvectors answer."""
    expected = found_outliers()
    monkeypatch.setattr(emergence, "_by_factorizations", _with_larger_m(emergence._by_factorizations, monkeypatch))
    _agree(found_outliers(), expected)


def _with_larger_m(route, monkeypatch):
    def tried(*arguments):
        with monkeypatch.context() as patch:
            patch.setattr("theory.random_matrix.spectral.dense_branch.Resolvent.m", property(lambda _: 1.1))
            assert route(*arguments) is None

    return tried


@pytest.mark.parametrize("lam", [1e-10, 1e8])
def test_extreme_ridges(lam, request):
    found = found_outliers("ssr", lam)
    request.getfixturevalue("by_eigenvectors")
    expected = found_outliers("ssr", lam)
    assert found.eigenvalues == pytest.approx(expected.eigenvalues, rel=1e-6)
    assert found.overlaps == pytest.approx(expected.overlaps, abs=1e-6)


def test_few_eigendecompositions(monkeypatch):
    """Two sets of eigenvalues and no eigenvectors of the size of the noise, once the record has its own."""
    d, counts = 60, {"eigh": 0, "eigvalsh": 0}
    covariance = Scaled(AR1(d, 0.6), np.linspace(0.5, 2, d))
    assert len(covariance.eigenvectors) == d
    for name in counts:
        original = getattr(np.linalg, name)

        def counted(matrix, *rest, name=name, original=original):
            counts[name] += len(matrix) == d
            return original(matrix, *rest)

        monkeypatch.setattr(np.linalg, name, counted)
    directions = np.ones((1, d)) / np.sqrt(d)
    found = spike_outliers(covariance, directions, strengths=[30.0], alpha=1.0, lam=0.1)
    assert found.detected == 1
    assert counts == {"eigh": 0, "eigvalsh": 2}
