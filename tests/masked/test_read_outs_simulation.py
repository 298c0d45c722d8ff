"""Overlaps by every read-out against simulated fits, with training and without; the measurement of read-outs itself."""

import math
from functools import cache

import numpy as np
import pytest

from simulate.core import Estimate, extrapolate, stream
from simulate.masked import fit_training, top_outlier
from simulate.masked.outliers import _top_of_predictor, draw_spiked, read_overlap, top_eigenvectors
from theory.models import AR1, Blocks, Descent, Flow, OnePass, Scaled, SpikedData, TwoLevel
from theory.random_matrix import outlier

NOISE = TwoLevel(math.inf, low=0.3, high=4.0, high_fraction=0.2)
READ_OUTS = ("data_units", "standard_units", "best_diagonal")
CASES = [  # method, lam, training, strength, relative errors to be seen
    ("ssr", 0.05, None, 2.5, (0.2, 0.12, 0.12)),
    ("pca", None, None, 14.0, (0.3, 0.3, 0.3)),
    ("correlation_pca", None, None, 2.5, (0.2, 0.12, 0.12)),
    ("diagonal_deleted_pca", None, None, 14.0, (0.2, 0.2, 0.2)),
    ("ssr", None, Flow(5.0), 2.5, (0.2, 0.12, 0.12)),
]


@cache
def measured(method, lam, training, strength, alpha, d, replicates):
    """Overlaps of the draws by each read-out, (replicates, 3)."""
    data = SpikedData(NOISE, strength=strength, alpha=alpha, method=method, lam=lam, training=training)
    found = []
    for r in range(replicates):
        u, X = draw_spiked(data, d, stream(0, "read-outs", method, str(lam), str(training), alpha, d, r), "gaussian")
        if training is None:
            right = top_eigenvectors(X, method, lam)[1]
        else:
            right = _top_of_predictor(fit_training(X, training).predictor)[1]
        found.append([read_overlap(u, right, X, data, read_out) for read_out in READ_OUTS])
    return [Estimate.of(column) for column in np.array(found).T]


def _compared(agrees, case, alpha, sizes, resolves):
    method, lam, training, strength = case
    data = SpikedData(NOISE, strength=strength, alpha=alpha, method=method, lam=lam, training=training)
    small, large = (measured(*case, alpha, d, count) for d, count in sizes)
    for one, two, read_out, relative in zip(small, large, READ_OUTS, resolves, strict=True):
        theory = outlier(data, read_out=read_out).overlap
        agrees(extrapolate(one, two), theory, resolves=relative)


@pytest.mark.parametrize(("method", "lam", "training", "strength", "resolves"), CASES)
def test_read_outs_of_methods(agrees, method, lam, training, strength, resolves):
    """From d = 100 and 200: the correction is 1/d."""
    _compared(agrees, (method, lam, training, strength), 1.0, ((100, 80), (200, 80)), resolves)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "lam", "training", "strength"),
    [
        ("ssr", None, Flow(9.0), 2.5),
        ("correlation_pca", None, None, 2.5),
        ("ssr", 0.01, None, 4.0),
    ],
)
def test_read_outs_below_one_row_a_coordinate(agrees, method, lam, training, strength):
    """With n = d/2, where what methods see differs most: from d = 200 and 400."""
    _compared(agrees, (method, lam, training, strength), 0.5, ((200, 80), (400, 80)), (0.3, 0.2, 0.2))


@pytest.mark.parametrize(("method", "lam"), [("ssr", 0.1), ("pca", None), ("correlation_pca", None)])
def test_standard_units_in_dense_noise(agrees, method, lam):
    """A chain of two scales at d = 160 with a given direction over all coordinates: relative bias below 3/d."""
    d = 160
    noise = Scaled(AR1(d, 0.4), np.tile([0.6, 2.0], d // 2))
    u = np.random.default_rng(3).standard_normal(d)
    data = SpikedData(noise, u / np.linalg.norm(u), strength=14.0, alpha=2.0, method=method, lam=lam)
    draws = [
        top_outlier(data, d, stream(0, "standard units", method, r), read_out="standard_units")[1] for r in range(80)
    ]
    theory = outlier(data, read_out="standard_units").overlap
    agrees(Estimate.of(draws), theory, resolves=0.1, bias=3 / d * theory)


def test_a_wrong_read_out_would_be_seen(agrees):
    data = SpikedData(NOISE, strength=2.5, alpha=1.0, training=Flow(5.0))
    small, large = (measured("ssr", None, Flow(5.0), 2.5, 1.0, d, 80)[0] for d in (100, 200))
    with pytest.raises(AssertionError, match="off by"):
        agrees(extrapolate(small, large), outlier(data, read_out="standard_units").overlap, resolves=0.25)


@pytest.mark.parametrize("training", [Flow(3.0), Descent(0.05, 30), OnePass(0.2)])
@pytest.mark.parametrize("d", [24, 120])
def test_the_top_of_a_predictor_is_that_of_all_its_eigenvalues(training, d):
    """Small matrices are decomposed wholly, large ones by their Krylov space; one pass sees each of many rows."""
    data = SpikedData(TwoLevel(d, 0.3, 4.0, 0.25), strength=9.0, alpha=3.0, training=training)
    u, X = draw_spiked(data, d, np.random.default_rng(2), "gaussian")
    assert len(X) == (3 * d if isinstance(training, OnePass) else d + 1)
    predictor = fit_training(X, training).predictor
    values, vectors = np.linalg.eig(predictor)
    top = int(np.argmax(values.real))
    value, right, left = _top_of_predictor(predictor)
    assert value == pytest.approx(values[top].real, rel=1e-10)
    assert abs(right @ vectors[:, top].real) == pytest.approx(1, rel=1e-8)
    assert left @ predictor == pytest.approx(value * left, abs=1e-9)
    found = top_outlier(data, d, np.random.default_rng(2))
    assert found == pytest.approx([value, (u @ right) ** 2, (u @ left) ** 2], rel=1e-9)


def test_read_outs_are_what_they_say():
    data = SpikedData(TwoLevel(20, 0.3, 4.0, 0.5), strength=9.0, alpha=2.0, method="correlation_pca")
    u, X = draw_spiked(data, 20, np.random.default_rng(2), "gaussian")
    deviations = np.sqrt((X**2).mean(0))
    c = np.linalg.eigh(X.T @ X / len(X) / np.outer(deviations, deviations))[1][:, -1]
    found = {
        name: top_outlier(data, 20, np.random.default_rng(2), read_out=name)[1] for name in (*READ_OUTS, "reported")
    }
    assert found["reported"] == found["standard_units"] == pytest.approx((u @ c) ** 2, rel=1e-9)
    v = c * deviations / np.linalg.norm(c * deviations)
    assert found["data_units"] == pytest.approx((u @ v) ** 2, rel=1e-9)
    weights = np.linspace(-3, 3, 6001)[:, None]  # of the first ten, of the smaller variance or the larger
    read = v * np.where(np.arange(20) < 10, weights, 1.0)
    assert found["best_diagonal"] == pytest.approx(((read @ u) ** 2 / (read**2).sum(1)).max(), rel=1e-5)


def test_kinds_of_equal_variance_are_told_apart_by_their_conditional_variance():
    """Pairs beside triples of equal variance: two weights; a chain has ends, which are kinds of two coordinates."""
    rng = np.random.default_rng(0)
    for noise in (Blocks(60, 2, 0.5), Scaled(AR1(60, 0.5), np.ones(60))):
        data = SpikedData(noise, strength=9.0, alpha=2.0, lam=0.1)
        assert 0 < top_outlier(data, 60, rng, read_out="best_diagonal")[1] <= 1


def test_bad_input():
    rng = np.random.default_rng(0)
    many = SpikedData(Scaled(AR1(20, 0.5), np.linspace(1, 2, 20)), strength=9.0, alpha=2.0, lam=0.1)
    with pytest.raises(ValueError, match="at least ten coordinates of a kind, got 20 kinds among 20"):
        top_outlier(many, 20, rng, read_out="best_diagonal")
    with pytest.raises(ValueError, match="read_out must be"):
        top_outlier(many, 20, rng, read_out="raw")
    with pytest.raises(ValueError, match="lam must be 0 for OnePass"):
        top_outlier(SpikedData(NOISE, strength=9.0, alpha=2.0, lam=0.1, training=OnePass(0.1)), 20, rng)
