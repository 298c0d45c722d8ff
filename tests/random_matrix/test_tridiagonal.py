"""Points of a dense law by one tridiagonal form each, against eigenvectors."""

from dataclasses import replace

import numpy as np
import pytest

from theory.models import Empirical, MaskedRidge, PointScales
from theory.random_matrix import predictor_law
from theory.random_matrix.spectral import dense_panels, resolve
from theory.random_matrix.spectral.ensemble import DenseEnsemble
from theory.random_matrix.spectral.equation import share_below, solve, trace
from theory.random_matrix.spectral.tridiagonal import solved_inside

UNLIKE = PointScales([0.5, 2.0], [2 / 3, 1 / 3])


def random_model(seed, alpha, lam=0.1, rows=None):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(5, 30))
    G = rng.standard_normal((d, 2 * d)) * np.exp(rng.uniform(-1, 1, d))[:, None]
    options = {} if rows is None else {"row_scales": rows}
    return MaskedRidge(Empirical(G @ G.T / (2 * d)), alpha=alpha, lam=lam, **options)


@pytest.mark.parametrize("rows", [None, UNLIKE])
@pytest.mark.parametrize("alpha", [0.4, 1.0, 6.0])
@pytest.mark.parametrize("seed", range(2))
def test_roots_traces_and_shares_are_those_of_eigenvectors(seed, alpha, rows):
    law = predictor_law(random_model(seed, alpha, rows=rows))
    ensemble = law.ensemble
    assert isinstance(ensemble, DenseEnsemble)
    for low, high in law.variable.inverse(law.edges):
        nu = low + (high - low) * np.array([0.003, 0.1, 0.35, 0.6, 0.9, 0.998])
        equation = ensemble.at(nu)
        expected = solve(equation)
        found, traces, share = solved_inside(ensemble, nu, expected.h * (1 + 0.02j))
        inside = found.inside
        assert inside[1:-1].all()
        assert found.h[inside] == pytest.approx(expected.h[inside], rel=1e-11)
        assert traces[inside] == pytest.approx(trace(equation, expected.h)[inside], rel=1e-10)
        assert share[inside] == pytest.approx(share_below(equation, expected)[inside], abs=1e-13)
        assert (found.residual[inside] < 1e-13).all()


def test_points_outside_the_support_are_left_to_others():
    law = predictor_law(random_model(1, 6.0))
    edges = law.variable.inverse(law.edges)
    nu = np.array([0.9 * edges[0, 0], 1.1 * edges[-1, 1]])
    found, _, _ = solved_inside(law.ensemble, nu, np.array([0.5 - 0.1j, 0.5 - 0.1j]))
    assert not found.inside.any()
    assert not found.outside.any()


@pytest.mark.parametrize("seed", range(4))
def test_laws_are_those_of_eigenvectors(seed, monkeypatch):
    model = random_model(10 + seed, [0.3, 0.8, 2.0, 9.0][seed])
    by_shares, ways = resolve._by_shares, []
    monkeypatch.setattr(resolve, "_by_shares", lambda *given: ways.append(by_shares(*given)) or ways[-1])
    found = predictor_law(model)
    assert ways[-1] is not None  # no slope differed from its trace
    monkeypatch.setattr(resolve, "_by_shares", lambda *_: None)
    panels = predictor_law(model)
    monkeypatch.setattr(resolve, "_evaluated_inside", lambda ensemble, nu, _: resolve._evaluated(ensemble, nu, None))
    other = predictor_law(model)
    for law in (found, panels):
        assert np.array_equal(law.edges, other.edges)
        assert law.residual < 1e-8
    for one, two in zip(panels.bulks, other.bulks, strict=True):
        assert one.breaks == pytest.approx(two.breaks)
        assert one.values == pytest.approx(two.values, rel=1e-9, abs=1e-13)
    phi = np.linspace(0.02, np.pi - 0.02, 101)
    for one, two in zip(found.bulks, other.bulks, strict=True):
        assert one.below(phi) == pytest.approx(two.below(phi), abs=3e-11)
        density, expected = (bulk.density(phi) * bulk.interval.stretch(phi) for bulk in (one, two))
        assert density == pytest.approx(expected, abs=1e-7 * two.mass)
        assert one.guess(phi) == pytest.approx(two.guess(phi), rel=0.1)  # both are interpolated linearly


def test_densities_that_differ_from_the_slope_of_the_shares_are_left_to_others(monkeypatch):
    model = random_model(12, 0.8)
    expected, calls = predictor_law(model), []

    def wrong(ensemble, nu, start, traced=True):
        found, traces, share = solved_inside(ensemble, nu, start, traced)
        calls.append(traced)
        return found, traces * (1 + 1e-6), share

    monkeypatch.setattr(dense_panels, "solved_inside", wrong)
    found = predictor_law(model)
    assert any(calls)  # the trap was met, and the panels of the law are those of the other way
    assert found.residual < 1e-12
    x = expected.quantiles(np.linspace(0.01, 0.99, 50))
    assert found.cumulative(x) == pytest.approx(expected.cumulative(x), abs=1e-10)


def test_points_in_a_gap_of_a_supposed_bulk_are_found():
    law = predictor_law(random_model(10, 0.3))
    first, *_, last = law.bulks
    assert first is not last
    ensemble, interval = law.ensemble, replace(first.interval, high=last.interval.high)
    nu = np.concatenate([one.interval.position(one.phi[::8])[::-1] for one in (first, last)])
    h = np.concatenate([one.h[::8][::-1] for one in (first, last)])
    share = np.concatenate([one.below(one.phi[::8])[::-1] for one in (first, last)])
    share[len(first.phi[::8]) :] += sum(bulk.mass for bulk in law.bulks[:-1])
    span = resolve.Span(interval, 0.0, sum(bulk.mass for bulk in law.bulks), nu, h, share)
    with pytest.raises(resolve.GapFoundError):
        dense_panels.resolved_by_shares(ensemble, span, 1e-13)


def test_a_singular_covariance_takes_the_other_way():
    G = np.random.default_rng(0).standard_normal((8, 5)) * np.linspace(0.5, 2, 8)[:, None]
    law = predictor_law(MaskedRidge(Empirical(G @ G.T), alpha=2.0, lam=0.3))
    assert len(law.ensemble.whitened[1]) == 5
    assert law.total_mass == pytest.approx(1, abs=1e-9)
