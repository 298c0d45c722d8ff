"""Risks of frozen and fine-tuned depths: reference values, second routes, and the order of the best depths."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar

from tests.feedforward.references import FEATURES
from theory.feedforward import frozen_risk, switching_sizes, warm_start_risk
from theory.models import NestedFeatures


@st.composite
def systems(draw):
    steps = draw(st.lists(st.tuples(st.integers(1, 60), st.floats(0.02, 0.98)), min_size=0, max_size=4))
    dimensions = np.cumsum([draw(st.integers(1, 20)), *(step for step, _ in steps)])[::-1]
    powers = np.cumprod([1.0, *(share for _, share in steps)])
    return NestedFeatures(dimensions=dimensions, kept_powers=powers, noise=draw(st.floats(0.0, 3.0)))


def test_reference_values():
    one = NestedFeatures(dimensions=(400, 100), kept_powers=(1, 0.9), noise=0.1)
    assert frozen_risk(one, 160).risks[1] == pytest.approx(0.292938717802, abs=1e-12)
    assert frozen_risk(one, 640).risks[0] == pytest.approx(0.121699056603, abs=1e-12)
    np.testing.assert_allclose(frozen_risk(FEATURES, 160).risks, [0.6531, 0.2929, 0.3660, 0.6213], atol=6e-5)
    np.testing.assert_allclose(frozen_risk(FEATURES, 640).risks, [0.1217, 0.1353, 0.3159, 0.6054], atol=6e-5)
    assert [frozen_risk(FEATURES, n).best_depth for n in (10, 40, 160, 640, 1600)] == [3, 2, 1, 0, 0]
    found = switching_sizes(FEATURES)
    assert found.depths == (3, 2, 1, 0)
    np.testing.assert_allclose(found.sizes, [15.897, 112.886, 593.504], atol=6e-4)
    assert found.residual < 1e-13


def test_risk_by_the_moments_of_the_marchenko_pastur_law():
    """Bias and variance as averages over the law itself, at thirty digits; g = 5/8, so that it has no atom."""
    with mpmath.workdps(30):
        g, s, S, lam = mpmath.mpf(100) / 160, mpmath.mpf("0.9"), mpmath.mpf("0.2"), mpmath.mpf("0.3")
        low, high = (1 - mpmath.sqrt(g)) ** 2, (1 + mpmath.sqrt(g)) ** 2

        def mean(f):
            def weighted(angle):
                x = (low + high) / 2 - (high - low) / 2 * mpmath.cos(angle)
                return f(x) * ((high - low) / 2 * mpmath.sin(angle)) ** 2 / (2 * mpmath.pi * g * x)

            return mpmath.quad(weighted, [0, mpmath.pi / 2, mpmath.pi])

        risk = 1 - s + s * mean(lambda x: (lam / (x + lam)) ** 2) + S * g * mean(lambda x: x / (x + lam) ** 2)
    assert frozen_risk(FEATURES, 160, lam=0.3).risks[1] == pytest.approx(float(risk), rel=1e-13)


@given(features=systems(), log_n=st.floats(-2, 8))
def test_the_ridge_is_the_best_and_its_risk_that_of_the_general_formula(features, log_n):
    n = float(np.exp(log_n))
    best = frozen_risk(features, n)
    for depth in range(features.n_depths):
        lam = best.lams[depth]

        def at(log_lam, depth=depth):
            return float(frozen_risk(features, n, lam=float(np.exp(log_lam))).risks[depth])

        if lam > 1e-6:
            assert at(np.log(lam)) == pytest.approx(best.risks[depth], rel=1e-9)
            found = minimize_scalar(at, bounds=(np.log(lam) - 3, np.log(lam) + 3), method="bounded")
            assert best.risks[depth] <= found.fun * (1 + 1e-9)


@given(features=systems())
def test_risks_fall_from_one_to_what_is_out_of_reach(features):
    sizes = np.geomspace(1e-3, 1e7, 60)
    risks = np.array([frozen_risk(features, n).risks for n in sizes])
    assert (np.diff(risks, axis=0) <= 1e-12).all()
    np.testing.assert_allclose(risks[0], 1, atol=0.01)
    np.testing.assert_allclose(risks[-1], 1 - features.kept_powers, atol=1e-3)


@settings(max_examples=40)
@given(features=systems())
def test_switching_sizes_are_all_roots_and_the_best_depth_never_grows(features):
    """Against a scan of the risks themselves, whose changes are refined by bisection."""
    found = switching_sizes(features)
    assert (np.diff(found.depths) < 0).all()
    assert (np.diff(found.sizes) > 0).all()
    assert found.residual < 1e-9
    grid = np.geomspace(1e-3, 1e9, 200)
    best = [frozen_risk(features, n).best_depth for n in grid]
    expected = [found.depths[np.searchsorted(found.sizes, n)] for n in grid]
    near = np.array([np.any(abs(np.log(found.sizes / n)) < 1e-3) for n in grid])
    for n, one, other, close in zip(grid, best, expected, near, strict=True):
        risks = frozen_risk(features, n).risks
        # Where labels are noiseless and samples abundant, several depths are equally right to rounding.
        assert one == other or close or risks[other] <= risks[one] * (1 + 1e-9) + 1e-15


def test_switching_sizes_by_bisection():
    for size, before, after in zip((15.897436, 112.886383, 593.504274), (3, 2, 1), (2, 1, 0), strict=True):

        def gap(n, before=before, after=after):
            risks = frozen_risk(FEATURES, n).risks
            return risks[before] - risks[after]

        assert brentq(gap, size / 2, size * 2) == pytest.approx(size, rel=1e-7)


def test_ridgeless_limits():
    small = frozen_risk(FEATURES, 50, lam=0.0).risks
    # 100 features, 50 samples: a half of the target is missed, and the noise is amplified by 1/(g - 1).
    assert small[1] == pytest.approx(0.1 + 0.9 * 0.5 + 0.2 / (2 - 1))
    assert frozen_risk(FEATURES, 50, lam=1e-13).risks[1] == pytest.approx(small[1], rel=1e-9)
    assert frozen_risk(FEATURES, 400, lam=0.0).risks[1] == pytest.approx(0.1 + 0.2 * 0.25 / 0.75)
    assert frozen_risk(FEATURES, 100, lam=0.0).risks[1] == np.inf
    noiseless = NestedFeatures(dimensions=(10,), kept_powers=(1,))
    assert frozen_risk(noiseless, 10, lam=0.0).risks[0] == frozen_risk(noiseless, 20).risks[0] == 0
    assert frozen_risk(noiseless, 5).risks[0] == pytest.approx(0.5)


def test_a_warm_start_without_overlap_costs_more_than_starting_at_zero():
    cold = frozen_risk(FEATURES, 160).risks[0]
    assert warm_start_risk(FEATURES, 160, 0.5).risk == pytest.approx(cold, rel=1e-14)  # the difference has power one
    assert warm_start_risk(FEATURES, 160, 0.0).risk > cold > warm_start_risk(FEATURES, 160, 0.9).risk
    done = warm_start_risk(FEATURES, 160, 1.0)
    assert (done.risk, done.lam) == (0, np.inf)
    assert warm_start_risk(FEATURES, 160, 1.0, lam=0.5).risk > 0
    given = warm_start_risk(FEATURES, 160, 0.9)
    assert warm_start_risk(FEATURES, 160, 0.9, lam=given.lam).risk == pytest.approx(given.risk, rel=1e-13)
    flat = minimize_scalar(
        lambda log_lam: warm_start_risk(FEATURES, 160, 0.9, lam=float(np.exp(log_lam))).risk, bracket=(-2, 1)
    )
    assert flat.fun == pytest.approx(given.risk, rel=1e-9)
    assert np.exp(flat.x) == pytest.approx(given.lam, rel=1e-3)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"dimensions": (100, 400)}, "dimensions must be falling integers"),
        ({"dimensions": (400, 99.5)}, "dimensions must be falling integers"),
        ({"dimensions": (400, 0)}, "dimensions must be falling integers"),
        ({"kept_powers": (1, 0.9, 0.7)}, r"kept_powers must have shape \(2,\)"),
        ({"kept_powers": (0.9, 0.8)}, "kept_powers must be numbers from 1 down"),
        ({"kept_powers": (1, -0.1)}, "kept_powers must be numbers from 1 down"),
        ({"kept_powers": (1, float("nan"))}, "kept_powers must be finite"),
        ({"noise": -1}, r"noise must lie in \[0, 1e\+12\], got -1"),
    ],
)
def test_bad_features_are_refused(keywords, message):
    with pytest.raises(ValueError, match=message):
        NestedFeatures(**({"dimensions": (400, 100), "kept_powers": (1, 0.9)} | keywords))


def test_bad_sizes_and_overlaps_are_refused():
    with pytest.raises(ValueError, match="n_samples must lie in"):
        frozen_risk(FEATURES, 0)
    with pytest.raises(ValueError, match="lam must lie in"):
        frozen_risk(FEATURES, 10, lam=-1.0)
    with pytest.raises(ValueError, match="overlap must lie in"):
        warm_start_risk(FEATURES, 10, 1.5)
