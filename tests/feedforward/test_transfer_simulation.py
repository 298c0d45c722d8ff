"""Ridge regression on drawn nested features against the closed form, which shares no formula with it."""

import numpy as np
import pytest

from simulate.core import Estimate, stream
from simulate.feedforward import frozen_risks, warm_start_risks
from simulate.feedforward.transfer import _target
from theory.feedforward import frozen_risk, switching_sizes, warm_start_risk
from theory.models import NestedFeatures

FEATURES = NestedFeatures(dimensions=(200, 50, 20), kept_powers=(1, 0.8, 0.5), noise=0.1)


def test_all_depths_are_measured_where_none_are_named():
    all_of_them = frozen_risks(FEATURES, 50, [0.1, 1.0], stream(0, "depths"))
    named = frozen_risks(FEATURES, 50, [0.1, 1.0], stream(0, "depths"), depths=[0, 1, 2])
    np.testing.assert_array_equal(all_of_them, named)


def test_risks_of_every_depth_at_the_best_ridge(agrees):
    n = 100
    law = frozen_risk(FEATURES, n)
    # The draw shows that these ridges are the best ones too: others, 3 times smaller or larger, do worse.
    runs = np.array(
        [
            [frozen_risks(FEATURES, n, lam * np.array([1 / 3, 1, 3]), stream(0, "frozen", r), depths=[depth])[0]
             for depth, lam in enumerate(law.lams)]
            for r in range(60)
        ]
    )  # fmt: skip
    for depth in range(3):
        agrees(Estimate.of(runs[:, depth, 1]), law.risks[depth], resolves=0.2, bias=1.5 / n * law.risks[depth])
    assert (runs.mean(axis=0)[:, 1] < runs.mean(axis=0)[:, [0, 2]].min(axis=1)).all()


def test_the_risk_of_a_given_ridge(agrees):
    n = 60
    law = frozen_risk(FEATURES, n, lam=0.7)
    runs = np.array([frozen_risks(FEATURES, n, [0.7], stream(0, "given", r))[:, 0] for r in range(60)])
    for depth in range(3):
        agrees(Estimate.of(runs[:, depth]), law.risks[depth], resolves=0.2, bias=1.5 / n * law.risks[depth])


def test_risks_at_a_switching_size_are_equal(agrees):
    found = switching_sizes(FEATURES)
    size, (before, after) = found.sizes[-1], found.depths[-2:]
    lams = frozen_risk(FEATURES, size).lams
    runs = [frozen_risks(FEATURES, round(size), lams, stream(0, "switch", r)) for r in range(60)]
    ratio = Estimate.of([run[before, before] / run[after, after] for run in runs])
    agrees(ratio, 1.0, resolves=0.25, bias=3 / size)


def test_risk_of_a_warm_start(agrees):
    n, law = 100, warm_start_risk(FEATURES, 100, 0.9)
    runs = [warm_start_risks(FEATURES, n, 0.9, [law.lam], stream(0, "warm", r))[0] for r in range(60)]
    agrees(Estimate.of(runs), law.risk, resolves=0.2, bias=1.5 / n * law.risk)


@pytest.mark.parametrize("n", [5, 30])
def test_fits_are_those_of_plain_normal_equations(n):
    lams = np.array([0.01, 0.5])
    found = frozen_risks(FEATURES, n, lams, np.random.default_rng(3))
    rng = np.random.default_rng(3)
    w = _target(FEATURES, rng)
    X = rng.standard_normal((n, 200))
    y = X @ w + np.sqrt(0.1) * rng.standard_normal(n)
    for row, k in zip(found, FEATURES.dimensions, strict=True):
        for risk, lam in zip(row, lams, strict=True):
            a = np.zeros(200)
            a[:k] = np.linalg.solve(X[:, :k].T @ X[:, :k] / n + lam * np.eye(k), X[:, :k].T @ y / n)
            assert risk == pytest.approx(np.sum((w - a) ** 2), rel=1e-9)


def test_targets_have_the_stated_powers():
    w = _target(FEATURES, np.random.default_rng(0))
    for k, power in zip(FEATURES.dimensions, FEATURES.kept_powers, strict=True):
        assert np.sum(w[:k] ** 2) == pytest.approx(power, rel=1e-12)


def test_a_source_equal_to_the_target_leaves_nothing_to_a_large_ridge():
    exact = NestedFeatures(dimensions=(20,), kept_powers=(1,))
    assert warm_start_risks(exact, 10, 1.0, [1e3], np.random.default_rng(0))[0] == pytest.approx(0, abs=1e-20)
    opposed = warm_start_risks(exact, 10, -1.0, [1e9], np.random.default_rng(0))[0]
    assert opposed == pytest.approx(4, rel=1e-6)
