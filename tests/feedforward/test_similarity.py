"""Similarity of two sets of features: what leaves each measure alone, and second routes to its value."""

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes, sqrtm
from sklearn.cross_decomposition import CCA

from simulate.core import Estimate, stream
from simulate.feedforward import canonical_similarity, linear_alignment, procrustes_similarity

MEASURES = (canonical_similarity, linear_alignment, procrustes_similarity)


def rng(seed=0):
    return np.random.default_rng(seed)


def correlated(n, c, seed=0):
    """Features (n, 3) whose directions have the canonical correlations `c`, hidden by linear maps."""
    A, fresh = rng(seed).standard_normal((2, n, 3))
    B = A * c + fresh * np.sqrt(1 - np.square(c))
    maps = rng(seed + 1).standard_normal((2, 3, 3))
    return A @ maps[0], B @ maps[1]


@pytest.mark.parametrize("measure", MEASURES)
def test_rotations_factors_and_shifts_change_nothing(measure):
    A, B = rng(1).standard_normal((300, 4)) * [1, 2, 0.5, 3], rng(2).standard_normal((300, 3))
    B[:, :2] += A[:, :2]
    rotation = np.linalg.qr(rng(3).standard_normal((4, 4)))[0]
    assert measure(A, 1e200 * (A @ rotation) + 7e200) == pytest.approx(1, rel=1e-9)
    assert measure(1e-100 * (A @ rotation) + 1e-99, B) == pytest.approx(measure(A, B), rel=1e-9)
    assert measure(A, B) == pytest.approx(measure(B, A), rel=1e-12)
    assert 0.1 < measure(A, B) < 0.95


def test_only_canonical_correlations_ignore_all_linear_maps():
    A = rng(4).standard_normal((300, 4))
    mixed = A @ (rng(5).standard_normal((4, 4)) * [1, 1, 0.01, 1])
    assert canonical_similarity(A, mixed, kept=1.0) == pytest.approx(1, rel=1e-10)
    assert procrustes_similarity(A, mixed) < 0.95
    assert linear_alignment(A, mixed) < 0.95


def test_canonical_correlations_by_whitened_covariances():
    A, B = correlated(400, [0.9, 0.5, 0.1])
    X, Y = A - A.mean(0), B - B.mean(0)
    whitened = np.linalg.inv(np.real(sqrtm(X.T @ X))) @ (X.T @ Y) @ np.linalg.inv(np.real(sqrtm(Y.T @ Y)))
    values = np.sqrt(np.linalg.eigvalsh(whitened.T @ whitened))
    assert canonical_similarity(A, B, kept=1.0) == pytest.approx(values.mean(), rel=1e-10)
    largest = CCA(1, scale=False, tol=1e-12, max_iter=10_000).fit_transform(A, B)
    assert values[-1] == pytest.approx(np.corrcoef(largest[0].ravel(), largest[1].ravel())[0, 1], rel=1e-6)


def test_canonical_correlations_of_many_samples_are_those_of_the_population(agrees):
    found = []
    for replicate in range(20):
        A, B = correlated(4000, [0.9, 0.5, 0.2], seed=100 + 3 * replicate)
        found.append(canonical_similarity(A, B, kept=1.0))
    agrees(Estimate.of(found), (0.9 + 0.5 + 0.2) / 3, resolves=0.03)


def test_only_the_directions_of_nearly_all_variance_count():
    draw = stream(0, "similarity")
    A, noise = draw.standard_normal((500, 3)), draw.standard_normal((2, 500, 3))
    one, other = np.hstack([A, 0.05 * noise[0]]), np.hstack([A, 0.05 * noise[1]])
    assert canonical_similarity(one, other, kept=0.99) > 0.99  # the noise holds 0.25 percent
    assert canonical_similarity(one, other, kept=1.0) < 0.6  # where it is half of the directions
    # A share just reached by two of three directions leaves the third out.
    sizes = np.linalg.qr(rng(6).standard_normal((200, 3)))[0]
    centered = np.linalg.qr(sizes - sizes.mean(0))[0] * [3.0, 1.0, 1e-3]
    assert canonical_similarity(centered, centered[:, :2], kept=0.9) == pytest.approx(1, rel=1e-12)
    with_copies = np.hstack([centered, centered])
    assert canonical_similarity(with_copies, centered, kept=1.0) == pytest.approx(1, rel=1e-9)


def test_procrustes_by_the_rotation_itself():
    A, B = correlated(200, [0.9, 0.5, 0.1])
    X, Y = A - A.mean(0), B - B.mean(0)
    X, Y = X / np.linalg.norm(X), Y / np.linalg.norm(Y)
    rotation, _ = orthogonal_procrustes(Y, X)
    distance = np.linalg.norm(X - Y @ rotation)
    assert procrustes_similarity(A, B) == pytest.approx(1 - distance**2 / 2, rel=1e-12)
    # With a column of zeros beside, nothing changes.
    assert procrustes_similarity(A, np.hstack([B, np.zeros((200, 2))])) == pytest.approx(procrustes_similarity(A, B))


@pytest.mark.parametrize("measure", MEASURES)
def test_features_that_do_not_fit_are_refused(measure):
    A = rng(7).standard_normal((30, 3))
    with pytest.raises(ValueError, match="second must vary from sample to sample"):
        measure(A, np.ones((30, 2)))
    with pytest.raises(ValueError, match="second must have the 30 samples of first, got 10"):
        measure(A, A[:10])
    with pytest.raises(ValueError, match="first must be finite"):
        measure(np.full((30, 3), np.nan), A)


def test_a_share_of_nothing_is_refused():
    A = rng(8).standard_normal((30, 3))
    with pytest.raises(ValueError, match=r"kept must lie in \(0, 1\]"):
        canonical_similarity(A, A, kept=0.0)
