"""The spectral estimate: a second route through one-hot covariances, the edge of its noise, and planted couplings."""

import numpy as np
import pytest

from simulate.core import stream
from simulate.nets import spectral_estimate
from simulate.potts import make_dynamics
from theory.models import PottsModel
from theory.models.potts import helmert


def test_top_pair_is_that_of_the_symmetrized_one_hot_covariances():
    rng = np.random.default_rng(0)
    states = rng.integers(3, size=(50, 5))
    L, C = 5, 3
    x = np.eye(C)[states].reshape(50, L * C)
    covariance = np.cov(x.T, bias=True).reshape(L, C, L, C)
    rows = np.array([covariance[i, :, j, :] for i in range(L) for j in range(L) if i != j])
    rows = ((rows + rows.transpose(0, 2, 1)) / 2).reshape(L * (L - 1), C * C)
    left, singular, right = np.linalg.svd(rows, full_matrices=False)
    found = spectral_estimate(states, C)
    np.testing.assert_allclose(found.singular_values, singular[: C * (C - 1) // 2], rtol=1e-10)
    assert abs(np.sum(found.values.reshape(-1) * right[0])) == pytest.approx(1.0, abs=1e-10)
    A = found.attention[~np.eye(L, dtype=bool)]
    assert abs(A @ left[:, 0]) == pytest.approx(1.0, abs=1e-10)
    assert np.sum(found.attention**2) == pytest.approx(1.0)
    assert np.sum(found.values**2) == pytest.approx(1.0)


def test_independent_colors_have_the_top_value_of_the_noise():
    """Entries of variance s^2 = 2/(C^2 M): the largest singular value tends to s (sqrt(n1) + sqrt(n2))."""
    L, C, M = 40, 6, 4000
    n1, n2 = L * (L - 1) / 2, C * (C - 1) / 2
    top = spectral_estimate(stream(0, "noise").integers(C, size=(M, L)), C).top
    edge = np.sqrt(2 / (C**2 * M)) * (np.sqrt(n1) + np.sqrt(n2))
    # 100 other seeds gave 0.985 on average with a standard deviation of 0.013: seven of these on either side.
    assert 0.894 < top / edge < 1.076


def test_couplings_are_found_in_samples_of_their_model():
    i, a = np.arange(12), np.arange(4)
    J, U = np.sin(np.add.outer(i, i) ** 2) - np.diag(np.sin(4 * i**2)), np.cos(np.add.outer(a, a) ** 2)
    system = PottsModel(J, U, beta=0.2)
    chains = make_dynamics(system, 20_000, stream(2, "chains"))
    chains.run(30)
    found = spectral_estimate(chains.states, 4)
    assert found.attention_overlap(J) > 0.93  # twelve seeds of the chains gave 0.9626(9), and 0.9944(4) below
    assert found.values_overlap(U) > 0.98
    assert found.values_overlap(U + np.arange(4.0)[:, None]) == pytest.approx(found.values_overlap(U))  # gauge
    other = spectral_estimate(stream(3, "independent").integers(4, size=(20_000, 12)), 4)
    assert other.attention_overlap(J) < 0.4  # of 66 directions: above it once in 10^7


def unequal(M, L, C, seed, marginals=(0.5, 0.25, 0.1, 0.08, 0.05, 0.02)):
    """Independent colors whose frequencies differ twentyfold, and are those of other colors at every site."""
    rng = stream(seed, "unequal")
    columns = [rng.permutation(C)[rng.choice(C, size=M, p=marginals)] for _ in range(L)]
    return np.stack(columns, axis=1)


def test_whitened_noise_is_that_of_equal_frequencies():
    """Whitened, the top value is at the edge of white noise; without, the common colors alone carry it beyond."""
    L, C, M = 40, 6, 4000
    n1, n2 = L * (L - 1) / 2, C * (C - 1) / 2
    edge = np.sqrt(2 / (C**2 * M)) * (np.sqrt(n1) + np.sqrt(n2))
    states = unequal(M, L, C, 0)
    white = spectral_estimate(states, C, whitened=True)
    assert 0.894 < white.top / edge < 1.076  # as for equal frequencies above
    # The squares add up to those of n1 entries in all (C - 1)^2 directions, each of variance 1/(C^2 M), in both orders.
    total = white.top**2 / white.share
    assert total == pytest.approx(2 * n1 * (C - 1) ** 2 / (C**2 * M), rel=0.05)
    assert not 0.894 < spectral_estimate(states, C).top / edge < 1.076


def test_whitened_contrasts_by_their_covariance():
    """The second route: roots of the covariance of every site by eigenvectors, and the matrix written out by loops."""
    states, C = unequal(300, 4, 3, 1, (0.6, 0.3, 0.1)), 3
    states[:, 1] = np.where(stream(1, "copied").random(300) < 0.5, states[:, 0], states[:, 1])
    y = helmert(C)[states] - helmert(C)[states].mean(axis=0)
    for i in range(4):
        w, v = np.linalg.eigh(y[:, i].T @ y[:, i] / 300)
        y[:, i] = y[:, i] @ v @ np.diag(w**-0.5) @ v.T
    rows, total = [], 0.0
    for i in range(4):
        for j in range(4):
            if i != j:
                block = y[:, i].T @ y[:, j] / 300 / C
                rows.append(((block + block.T) / 2).ravel())
                total += np.sum(block**2)
    values = np.linalg.svd(np.array(rows), compute_uv=False)
    found = spectral_estimate(states, C, whitened=True)
    np.testing.assert_allclose(found.singular_values, values[:3], rtol=1e-9)
    assert found.share == pytest.approx(values[0] ** 2 / total, rel=1e-9)
    assert found.whitened


def test_colors_that_never_occur_are_left_out():
    states = unequal(200, 4, 3, 2, (0.6, 0.3, 0.1))
    three, four = (spectral_estimate(states, C, whitened=True) for C in (3, 4))
    np.testing.assert_allclose(four.singular_values[:3], 0.75 * three.singular_values, rtol=1e-9)


def test_what_cannot_be_estimated_or_compared_is_refused():
    with pytest.raises(ValueError, match="n_colors must be an integer of at least 2"):
        spectral_estimate([[0, 0], [0, 0]], 1)
    with pytest.raises(ValueError, match="at least two samples of at least two sites"):
        spectral_estimate([[0, 1]], 2)
    found = spectral_estimate([[0, 1], [1, 0], [1, 1]], 2)
    with pytest.raises(ValueError, match=r"site_couplings must have shape \(2, 2\)"):
        found.attention_overlap(np.eye(3))
    with pytest.raises(ValueError, match="color_couplings must not all be zero"):
        found.values_overlap(np.ones((2, 2)))
