"""The records: their conventions, their moments, and the values that they refuse."""

import math

import numpy as np
import pytest

from theory.models import AtomicLatent, SpikedCumulant

LATENTS = [AtomicLatent.signs(), AtomicLatent.diluted_signs(0.2), AtomicLatent((-0.5, 2.0), (0.8, 0.2))]


@pytest.mark.parametrize("latent", LATENTS)
def test_hermite_moments_against_numpy(latent):
    for k in range(12):
        he = np.polynomial.hermite_e.HermiteE.basis(k)
        exact = np.dot(latent.probabilities, he(np.array(latent.atoms)))
        assert latent.hermite_moment(k) == pytest.approx(exact, rel=1e-11, abs=1e-9)


def test_moments_of_signs():
    assert [round(AtomicLatent.signs().hermite_moment(k), 9) for k in range(9)] == [1, 0, 0, 0, -2, 0, 16, 0, -132]


@pytest.mark.parametrize("latent", LATENTS)
def test_moments_of_the_coordinate_along_the_spike(latent):
    """E He_k(y) = r^(k/2) h_k: the Gaussian part of y adds nothing."""
    r = 0.6
    nodes, weights = np.polynomial.hermite_e.hermegauss(30)
    y = math.sqrt(r) * np.array(latent.atoms)[:, None] + math.sqrt(1 - r) * nodes
    for k in range(9):
        mean = latent.probabilities @ np.polynomial.hermite_e.HermiteE.basis(k)(y) @ weights / weights.sum()
        assert mean == pytest.approx(r ** (k / 2) * latent.hermite_moment(k), abs=1e-10)


def test_rounding_is_removed():
    third = 0.333333333333
    latent = AtomicLatent((-math.sqrt(1.5), 0.0, math.sqrt(1.5)), (third, third, third))
    assert sum(latent.probabilities) == pytest.approx(1, abs=1e-15)
    assert np.dot(latent.probabilities, np.square(latent.atoms)) == pytest.approx(1, abs=1e-15)
    assert latent.is_symmetric
    assert not LATENTS[2].is_symmetric


def test_records_are_values():
    assert AtomicLatent([-1, 1], np.array([0.5, 0.5])) == AtomicLatent.signs()
    assert len({SpikedCumulant(3, 1.0), SpikedCumulant(d=3.0, beta=1, prior="signs")}) == 1
    assert SpikedCumulant(3, 4.0).latent_share == 0.8


def test_the_norm_statistic_is_a_mean_of_hermite_polynomials_over_the_sphere():
    """Averaged over d = 2 by equal angles, which is exact for a polynomial of degree four."""
    x = np.array([[0.3, -1.2], [2.0, 0.7]])
    angle = np.arange(8) * np.pi / 4
    along = x @ np.array([np.cos(angle), np.sin(angle)])
    mean = np.mean(along**4 - 6 * along**2 + 3, axis=1).sum()
    assert SpikedCumulant(2, 1.0).norm_statistic(np.sum(x**2, axis=1)) == pytest.approx(mean, rel=1e-13)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: SpikedCumulant(1, 1.0), "d must be an integer of at least 2 or infinity, got 1"),
        (lambda: SpikedCumulant(2.5, 1.0), "d must be an integer of at least 2"),
        (lambda: SpikedCumulant(5, 0.0), r"beta must lie in \(0, 1e\+100\], got 0"),
        (lambda: SpikedCumulant(5, math.nan), "beta must be finite, got nan"),
        (lambda: SpikedCumulant(5, 1.0, "gauss"), "prior must be one of 'signs', 'sphere', got 'gauss'"),
        (lambda: SpikedCumulant(5, 1.0, latent=(-1, 1)), r"latent must be a record of theory.models \(AtomicLatent\)"),
        (lambda: AtomicLatent([0.0], [1.0]), "atoms must be 2 to 20 values, got 1"),
        (lambda: AtomicLatent([-1.0, 1.0], [0.5, 0.6]), "probabilities must be 2 positive numbers"),
        (lambda: AtomicLatent([-1.0, 1.0, 1.0], [0.5, 0.25, 0.25]), "atoms must differ"),
        (lambda: AtomicLatent([-1.0, 2.0], [0.5, 0.5]), "atoms must have mean 0 and variance 1, got mean 0.5"),
        (lambda: AtomicLatent([-30.0, 30.0], [0.5, 0.5]), r"atoms must lie in \[-25, 25\]"),
        (lambda: AtomicLatent([-1.0, math.nan], [0.5, 0.5]), "atoms must be finite"),
        (lambda: AtomicLatent.diluted_signs(1e-4), "probability must lie in"),
        (lambda: AtomicLatent.signs().hermite_moment(151), "order must be at most 150"),
        (lambda: SpikedCumulant(math.inf, 1.0).size, "model must have a finite d"),
        (lambda: SpikedCumulant(3, 1.0).norm_statistic([-1.0]), r"squared_norms must lie in \[0, 1e\+100\]"),
    ],
)
def test_bad_values_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize("seed", range(5))
def test_a_symmetric_law_stays_symmetric_where_its_atoms_are_rounded(seed):
    rng = np.random.default_rng(seed)
    half, shares = rng.uniform(0.1, 3, 5), rng.uniform(0.1, 1, 5)
    order = rng.permutation(10)
    g, p = np.concatenate([-half, half])[order], np.tile(shares / (2 * shares.sum()), 2)[order]
    assert AtomicLatent(g / np.sqrt(p @ g**2), p).is_symmetric
    assert not AtomicLatent((-0.5, 2.0), (0.8, 0.2)).is_symmetric
