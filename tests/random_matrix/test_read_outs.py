"""How a direction is read off: read-outs against the overlaps of both eigenvectors, limits, and the best weights."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.models import AR1, Blocks, Diagonal, Isotropic, PointScales, PowerLaw, Scaled, SpikedData, TwoLevel
from theory.models.training import Flow
from theory.numerics.filters import Filter
from theory.random_matrix import outlier
from theory.random_matrix.bbp.coordinates import coordinate_parts
from theory.random_matrix.bbp.emergence import emerged
from theory.random_matrix.bbp.spiked_bulk import SpikedBulk
from theory.random_matrix.bbp.spiked_noise import noise_of
from theory.random_matrix.training.edge import TrainingBranch
from theory.random_matrix.training.noise import TrainedNoise, block_noise, dyson_equation
from theory.random_matrix.training.spikes import eigenvector_parts, outlier_place

INF = math.inf
NOISE = TwoLevel(INF, low=0.3, high=4.0, high_fraction=0.2)
CHAIN = Scaled(AR1(30, 0.5), np.tile([0.6, 2.0, 1.0], 10))
U = np.random.default_rng(1).standard_normal(30)
U /= np.linalg.norm(U)
METHODS = [("ssr", 0.05), ("ssr", 0.0), ("pca", None), ("correlation_pca", None), ("diagonal_deleted_pca", None)]
READ_OUTS = ("data_units", "reported", "standard_units", "best_diagonal")
KINDS = {  # of noise and direction: each takes its own way through quadratic forms
    "two levels": (NOISE, None),
    "alike": (AR1(INF, 0.5), None),
    "finite levels": (Diagonal(np.geomspace(0.3, 3, 30)), None),
    "dense": (CHAIN, None),
    "levels, given direction": (Diagonal(np.geomspace(0.3, 3, 30)), U),
    "dense, given direction": (CHAIN, U),
}


def _data(kind, method, lam, **more):
    noise, direction = KINDS[kind]
    return SpikedData(noise, direction, strength=30.0, alpha=2.0, method=method, lam=lam, **more)


def _parts(data):
    bulk = SpikedBulk(noise_of(data))
    (found,) = emerged(bulk, np.array([data.strength]))
    return bulk, found, coordinate_parts(bulk, data.strength, found)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("method", "lam"), METHODS)
def test_sums_over_coordinates_are_those_of_both_eigenvectors(kind, method, lam):
    """Right and left overlaps are solved without coordinates; the left vector is the right one over `scale`."""
    bulk, found, parts = _parts(_data(kind, method, lam))
    assert parts.overlap(np.ones(1)) == pytest.approx(float(found.overlaps[0]), rel=1e-9)
    if KINDS[kind][1] is None:  # a given direction moves the scales, which the noise of eigenvectors does not see
        scale = bulk.noise_normalization.scale
        assert parts.overlap(1 / scale) == pytest.approx(float(found.left_overlaps[0]), rel=1e-9)


@pytest.mark.parametrize("lam", [0.01, 0.7])
def test_ridges_in_the_matrix_equation_have_the_same_parts(lam):
    """A ridge written as two equal copies of half its weight, whose eigenvector comes from a doubled pencil."""
    data = SpikedData(NOISE, strength=2.5, alpha=1.0, lam=lam)
    parts = _parts(data)[2]
    equation = dyson_equation(block_noise(NOISE.spectrum), 1.0, Filter(np.array([lam + 0j]), np.array([0.5 + 0j]), 0.0))
    place = outlier_place(TrainedNoise(TrainingBranch(equation), block_noise(NOISE.spectrum), 0.0), 2.5)
    other = eigenvector_parts(equation, place, 2.5).on(NOISE.spectrum)
    factor = other.signal[0] / parts.signal[0]
    assert other.signal == pytest.approx(factor * parts.signal, rel=1e-7)
    assert other.square == pytest.approx(factor**2 * parts.square, rel=1e-7)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("method", "lam"), METHODS)
def test_what_methods_report(kind, method, lam):
    data = _data(kind, method, lam)
    units, reported, standard = (outlier(data, read_out=read_out) for read_out in READ_OUTS[:3])
    assert units.overlap == outlier(data).overlap
    assert reported.overlap == (standard if method == "correlation_pca" else units).overlap
    if kind == "alike":
        assert standard.overlap == pytest.approx(units.overlap, rel=1e-12)
    for found in (units, reported, standard):
        assert np.mean(found.weights**2) == pytest.approx(1) or kind == "two levels"
        assert found.left_overlap == units.left_overlap


LEVELS = [  # alpha, strength, method, lam, training; data units, standard units, best
    (1.0, 2.5, "correlation_pca", None, None, 0.6721, 0.7645, 0.7708),
    (1.0, 2.5, "ssr", 0.01, None, 0.6649, 0.7650, 0.7705),
    (1.0, 2.5, "ssr", None, Flow(5.0), 0.6730, 0.7644, 0.7709),
    (0.5, 1.5, "correlation_pca", None, None, 0.3374, 0.5289, 0.5341),
    (0.5, 1.5, "ssr", 0.01, None, 0.1977, 0.4414, 0.4732),
    (0.5, 1.5, "ssr", None, Flow(9.0), 0.3443, 0.5306, 0.5352),
]


@pytest.mark.parametrize("row", LEVELS)
def test_two_levels(row):
    """Methods that differ in data units are alike in one read-out; the ridge below n = d is the exception."""
    alpha, strength, method, lam, training, *expected = row
    data = SpikedData(NOISE, strength=strength, alpha=alpha, method=method, lam=lam, training=training)
    found = [outlier(data, read_out=name).overlap for name in ("data_units", "standard_units", "best_diagonal")]
    assert found == pytest.approx(expected, abs=6e-5)


@settings(max_examples=20)
@given(
    method=st.sampled_from(METHODS[:1] + METHODS[2:]),
    factor=st.floats(0.01, 100),
    other=st.lists(st.floats(0.05, 20), min_size=2, max_size=2),
)
def test_best_weights_are_the_best_and_units_do_not_matter(method, factor, other):
    data = SpikedData(NOISE, strength=6.0, alpha=2.0, method=method[0], lam=method[1])
    best = outlier(data, read_out="best_diagonal")
    parts = _parts(data)[2]
    assert parts.overlap(best.weights) == pytest.approx(best.overlap, rel=1e-12)
    assert parts.overlap(np.array(other)) <= best.overlap + 1e-12
    noise = TwoLevel(INF, low=0.3 * factor, high=4.0 * factor, high_fraction=0.2)
    lam = None if method[1] is None else method[1] * factor
    scaled = outlier(replace(data, noise=noise, strength=6.0 * factor, lam=lam), read_out="best_diagonal")
    assert scaled.overlap == pytest.approx(best.overlap, rel=1e-7)
    assert scaled.weights == pytest.approx(best.weights, rel=1e-7)


@pytest.mark.parametrize("read_out", READ_OUTS)
def test_many_rows_see_the_direction_of_pca_and_the_noise_of_others(read_out):
    """With n = infinity PCA's eigenvector is (x - Sigma_0)^-1 u at the root x of theta u'(x - Sigma_0)^-1 u = 1."""
    noise, strength = Diagonal([0.3, 0.3, 0.3, 1.0, 2.0]), 3.0
    s = noise.variances
    low, high = 2.0, 50.0
    for _ in range(200):
        x = (low + high) / 2
        low, high = (x, high) if strength * np.mean(1 / (x - s)) > 1 else (low, x)
    v = 1 / (x - s)  # on each coordinate beside u_k
    w = {"standard_units": 1 / np.sqrt(s), "best_diagonal": 1 / v}.get(read_out, np.ones(5))
    expected = np.mean(w * v) ** 2 / np.mean((w * v) ** 2)
    found = outlier(SpikedData(noise, strength=strength, alpha=1e9, method="pca"), read_out=read_out)
    assert found.overlap == pytest.approx(expected, rel=1e-6)


def test_variances_without_a_mean_need_weights():
    """In data units the noise of the largest variances is all there is; divided by deviations the spike is seen."""
    data = SpikedData(PowerLaw(INF, 1.5), strength=3.0, alpha=2.0, lam=0.1)
    large = replace(data, noise=PowerLaw(10**5, 1.5))
    assert outlier(data).overlap == 0
    for read_out in ("standard_units", "best_diagonal"):
        limit = outlier(data, read_out=read_out).overlap
        assert limit > 0.1
        assert outlier(large, read_out=read_out).overlap == pytest.approx(limit, rel=0.02)


def test_rows_of_different_scale_have_read_outs_too():
    data = SpikedData(
        NOISE, strength=2.5, alpha=2.0, method="correlation_pca", row_scales=PointScales([0.5, 1.5], [0.5, 0.5])
    )
    found = [outlier(data, read_out=read_out).overlap for read_out in READ_OUTS]
    assert found[0] < found[1] == found[2] < found[3]


def test_blocks_of_equal_variance_have_best_weights_of_their_own():
    """Pairs beside coordinates that are independent: all variances are 1, and yet the best weights differ."""
    pairs = np.kron(np.eye(10), np.full((2, 2), 0.9) + 0.1 * np.eye(2))
    noise = Scaled(Blocks(40, 2, 0.9), np.ones(40))
    assert np.allclose(noise.matrix[:20, :20], pairs)
    alike = outlier(SpikedData(noise, strength=9.0, alpha=2.0, lam=0.1), read_out="best_diagonal")
    assert alike.weights == pytest.approx(np.ones(40), rel=1e-6)


def test_nothing_detected():
    for read_out in READ_OUTS:
        found = outlier(SpikedData(NOISE, strength=0.1, alpha=1.0, lam=0.1), read_out=read_out)
        assert (found.overlap, found.read_out) == (0, read_out)
        assert np.isnan(found.weights).all()
        assert found.weights.shape == (2,)


def test_bad_input():
    with pytest.raises(ValueError, match="'best_diagonal' needs direction = None"):
        outlier(_data("dense, given direction", "pca", None), read_out="best_diagonal")
    with pytest.raises(ValueError, match="read_out must be"):
        outlier(SpikedData(Isotropic(INF), strength=2.0, alpha=2.0, method="pca"), read_out="raw")
