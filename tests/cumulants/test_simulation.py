"""Samples, the norm statistic and the enumerated likelihood ratio, each against theory and by a second route."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

from simulate.core import Estimate, stream
from simulate.cumulants import (
    NormStatistics,
    ReluNetwork,
    draw_spike,
    enumerated_norm,
    fit_random_features,
    known_spike_accuracy,
    labeled_samples,
    norm_statistic,
    norm_statistics,
    random_features_accuracy,
    sample_null,
    sample_spiked,
)
from simulate.cumulants.samples import draw_spikes
from theory import cumulants
from theory.models import AtomicLatent, SpikedCumulant

SKEWED = AtomicLatent((-0.5, 2.0), (0.8, 0.2))
LATENTS = [AtomicLatent.signs(), SKEWED]


@pytest.mark.parametrize("prior", ["signs", "sphere"])
def test_spikes_are_unit_vectors_of_their_prior(agrees, prior):
    model, rng = SpikedCumulant(5, 1.0, prior), stream(0, "spikes", prior)
    u = np.array([draw_spike(model, rng) for _ in range(4000)])
    np.testing.assert_allclose(np.sum(u**2, axis=1), 1, rtol=1e-12)
    if prior == "signs":
        np.testing.assert_allclose(abs(u), 1 / math.sqrt(5), rtol=1e-12)
    # Fourth moments of the overlap of two spikes: 13/125 for signs, 3/(d (d + 2)) on the sphere.
    overlaps = np.sum(u[:2000] * u[2000:], axis=1)
    agrees(Estimate.of(overlaps**4), 13 / 125 if prior == "signs" else 3 / 35, resolves=0.6)


@pytest.mark.parametrize("latent", LATENTS)
def test_spiked_samples_are_white_and_not_gaussian_along_the_spike_only(agrees, latent):
    model, rng = SpikedCumulant(4, 5.0, latent=latent), stream(0, "white", *latent.atoms)
    u = draw_spike(model, rng)
    x = sample_spiked(model, u, 40_000, rng)
    np.testing.assert_allclose(np.cov(x.T), np.eye(4), atol=0.06)  # errors are below 0.01
    y, he = x @ u, np.polynomial.hermite_e.HermiteE.basis
    for k in (3, 4):
        moment = model.latent_share ** (k / 2) * latent.hermite_moment(k)
        agrees(Estimate.of(5 + he(k)(y)), 5 + moment, resolves=0.1)
    across = np.linalg.qr(np.column_stack([u, np.eye(4)[:, :3]]))[0][:, 1]  # a unit vector orthogonal to u
    agrees(Estimate.of(5 + he(4)(x @ across)), 5.0, resolves=0.2)


def test_product_of_two_likelihood_ratios(agrees):
    """E_H0 l_u l_v of one sample at the overlap 0.6, from the densities: no Hermite polynomial."""
    model, rng = SpikedCumulant(2, 3.0), stream(0, "product")
    x = rng.standard_normal((400_000, 2))
    u, v = np.array([1.0, 0.0]), np.array([0.6, 0.8])

    def ratio(y):
        density = sum(np.exp(-((y - math.sqrt(0.75) * g) ** 2) / 0.5) / 2 for g in (-1, 1)) / math.sqrt(0.25)
        return density / np.exp(-(y**2) / 2)

    found = Estimate.of(ratio(x @ u) * ratio(x @ v))
    agrees(found, float(cumulants.overlap_function(model, 0.6)), resolves=0.01)


@pytest.mark.parametrize(("latent", "d", "n"), [(LATENTS[0], 4, 3), (SKEWED, 3, 6)])
def test_norm_by_enumeration_of_all_spikes(agrees, latent, d, n):
    model = SpikedCumulant(d, 1.0, latent=latent)
    exact = cumulants.likelihood_ratio_norm(model, n).norm
    spiked = enumerated_norm(model, n, 30_000, stream(0, "spiked", d, *latent.atoms))
    null = enumerated_norm(model, n, 30_000, stream(0, "null", d, *latent.atoms), law="null")
    agrees(spiked, exact, resolves=0.03)
    agrees(null, exact, resolves=0.08)


@pytest.mark.parametrize(("prior", "latent"), [("signs", LATENTS[0]), ("sphere", SKEWED)])
def test_moments_of_the_norm_statistic(agrees, prior, latent):
    model, n = SpikedCumulant(6, 10.0, prior, latent), 300
    measured, predicted = (
        norm_statistics(model, n, 3000, stream(0, "T4", prior, *latent.atoms)),
        cumulants.norm_test(model, n),
    )
    agrees(Estimate.of(predicted.deviation + measured.null), predicted.deviation, resolves=0.15)
    shift = math.copysign(predicted.deviation, predicted.mean)  # SKEWED has a mean of a fifth of a deviation only
    agrees(Estimate.of(measured.spiked + shift), predicted.mean + shift, resolves=0.15)
    agrees(Estimate.of(measured.null**2), predicted.deviation**2, resolves=0.25)
    agrees(Estimate.of((measured.spiked - predicted.mean) ** 2), predicted.spiked_deviation**2, resolves=0.25)


def test_power_and_level_of_the_norm_test(agrees):
    """The corrected power sees the skewness; its error falls as 1/n and is the bias allowed here."""
    model, n = SpikedCumulant(6, 10.0), 250
    measured, predicted = norm_statistics(model, n, 20_000, stream(0, "power")), cumulants.norm_test(model, n)
    limit = -1.6448536 * predicted.deviation
    assert predicted.corrected_level() < 0.043
    agrees(measured.level(limit), predicted.corrected_level(), resolves=0.4, bias=0.003)
    agrees(measured.power(limit), predicted.corrected_power(), resolves=0.1, bias=0.004)
    agrees(measured.standardized_mean(), -predicted.snr, resolves=0.1)


def test_skewness_of_the_statistic(agrees):
    model, n = SpikedCumulant(20, 10.0), 30
    measured, predicted = norm_statistics(model, n, 20_000, stream(0, "skewness")), cumulants.norm_test(model, n)
    agrees(Estimate.of((measured.null / predicted.deviation) ** 3), predicted.skewness, resolves=0.6)


@pytest.mark.parametrize(("repeats", "numbers"), [(2, 2**16), (7, 3 * 5 * 4), (7, 1), (12, 3 * 5 * 4)])
def test_norm_statistics_have_as_many_data_sets_of_as_many_samples_as_asked_for(monkeypatch, repeats, numbers):
    """Also where they are drawn in blocks, of which the last one is shorter."""
    model, sizes = SpikedCumulant(4, 2.0), []
    original = norm_statistic.spiked_data_sets

    def counted(model, spikes, n, rng):
        sizes.append((len(spikes), n))
        return original(model, spikes, n, rng)

    monkeypatch.setattr(norm_statistic, "CHUNK", numbers)
    monkeypatch.setattr(norm_statistic, "spiked_data_sets", counted)
    found = norm_statistics(model, 5, repeats, stream(0, "counts", repeats, numbers))
    assert found.n == 5
    assert found.null.shape == found.spiked.shape == (repeats,)
    assert len(np.unique(found.null)) == len(np.unique(found.spiked)) == repeats
    assert sum(count for count, _ in sizes) == repeats
    assert {n for _, n in sizes} == {5}
    for estimate in (found.level(1.0), found.power(-1.0), found.standardized_mean()):
        assert estimate.n == repeats


def test_shares_and_means_of_given_statistics():
    given = NormStatistics(3, null=np.array([-2.0, -1.0, 1.0, 2.0]), spiked=np.array([-3.0, -2.5, -0.5, 1.0, 0.0]))
    assert given.level(-1.5).mean == 1 / 4
    assert given.level(0.5).mean == 2 / 4
    assert given.power(-1.5).mean == 2 / 5
    assert given.level(-1.5).stderr == pytest.approx(math.sqrt(2 / 6 * (4 / 6) / 4))  # one hit and one miss more
    assert given.power(-1.5).stderr == pytest.approx(math.sqrt(3 / 7 * (4 / 7) / 5))
    # Route two for the ratio of a mean and a deviation: the scatter of many such ratios.
    rng, R = stream(0, "ratios"), 400
    ratios = [
        NormStatistics(1, null=rng.exponential(size=R) - 1, spiked=rng.standard_normal(R) + 2).standardized_mean()
        for _ in range(2000)
    ]
    assert np.mean([one.mean for one in ratios]) == pytest.approx(2, rel=0.02)
    assert np.mean([one.stderr for one in ratios]) == pytest.approx(np.std([one.mean for one in ratios]), rel=0.06)


def test_moments_of_the_samples_to_one_percent():
    """Overlaps of spikes and moments along the spike, from so many draws that one percent is three errors or more."""
    for prior, exact in (("signs", 13 / 125), ("sphere", 3 / 35)):
        u = draw_spikes(SpikedCumulant(5, 1.0, prior), 1_600_000, stream(0, "many spikes", prior)).reshape(2, -1, 5)
        found = Estimate.of(np.sum(u[0] * u[1], axis=1) ** 4)
        assert found.stderr < 0.003 * exact
        assert abs(found.z(exact)) < 4
    model, rng = SpikedCumulant(2, 5.0, latent=SKEWED), stream(0, "many samples")
    u = draw_spike(model, rng)
    along = sample_spiked(model, u, 1_200_000, rng) @ u
    for k, gaussian in ((2, 1), (3, 0), (4, 3)):
        moment = gaussian + (model.latent_share ** (k / 2) * SKEWED.hermite_moment(k) if k > 2 else 0)
        found = Estimate.of(along**k)
        assert found.stderr < 0.003 * moment
        assert abs(found.z(moment)) < 4


def test_shares_have_error_bars_at_zero_and_one():
    measured = norm_statistics(SpikedCumulant(3, 1.0), 5, 50, np.random.default_rng(0))
    none, every = measured.level(1e6), measured.power(-1e-300)
    assert none.mean == 0 < none.stderr < 0.05
    assert 0 <= every.mean <= 1
    assert measured.power(1e6).mean == 0


@pytest.mark.parametrize("latent", LATENTS)
def test_accuracy_of_the_oracle(agrees, latent):
    model = SpikedCumulant(6, 10.0, latent=latent)
    found = [known_spike_accuracy(model, 2000, stream(0, "oracle", *latent.atoms, r)) for r in range(20)]
    agrees(Estimate.of(found), cumulants.oracle_accuracy(model), resolves=0.03)


def test_samples_beyond_the_memory_are_refused_by_name():
    model, rng = SpikedCumulant(100, 1.0), np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"n must be smaller: 1e\+12 samples of dimension 100 need"):
        sample_null(model, 10**12, rng)
    with pytest.raises(ValueError, match="n must be smaller"):
        sample_spiked(model, np.eye(100)[0], 10**12, rng)
    with pytest.raises(ValueError, match="n must be smaller"):
        norm_statistics(model, 10**12, 2, rng)
    with pytest.raises(ValueError, match="model must be smaller"):
        draw_spike(SpikedCumulant(10**13, 1.0), rng)


def test_what_cannot_be_sampled_or_enumerated_is_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="model must have a finite d"):
        draw_spike(SpikedCumulant(math.inf, 1.0), rng)
    with pytest.raises(ValueError, match=r"spike must be a unit vector of shape \(3,\)"):
        sample_spiked(SpikedCumulant(3, 1.0), [1.0, 1.0, 0.0], 5, rng)
    with pytest.raises(ValueError, match="model must have the prior 'signs'"):
        enumerated_norm(SpikedCumulant(3, 1.0, "sphere"), 5, 5, rng)
    with pytest.raises(ValueError, match="model must have d <= 16 to be enumerated, got d = 20"):
        enumerated_norm(SpikedCumulant(20, 1.0), 5, 5, rng)
    with pytest.raises(
        ValueError, match="n must be so small that likelihood ratios are floating-point numbers, got 60"
    ):
        enumerated_norm(SpikedCumulant(4, 1e12), 60, 5, rng)
    for measure in (lambda model: enumerated_norm(model, 5, 5, rng), lambda model: known_spike_accuracy(model, 5, rng)):
        with pytest.raises(ValueError, match=r"model must have beta <= 1e\+12 for densities"):
            measure(SpikedCumulant(4, 1e13))
    with pytest.raises(ValueError, match="n must be an integer of at least 3, got 1"):
        random_features_accuracy(SpikedCumulant(4, 1.0), 1, rng)
    with pytest.raises(ValueError, match="repeats must be an integer of at least 2"):
        norm_statistics(SpikedCumulant(3, 1.0), 5, 1, rng)


@pytest.mark.parametrize("latent", LATENTS)
def test_the_enumeration_is_a_sum_over_all_spikes(latent):
    """Of a symmetric latent variable only one of each pair of opposite spikes is looked at, of a skewed one both."""
    model, n, repeats = SpikedCumulant(3, 1.5, latent=latent), 2, 5
    found = enumerated_norm(model, n, repeats, np.random.default_rng(4), law="null")
    ratios = []
    for data in np.random.default_rng(4).standard_normal((repeats, n, 3)):
        of_spikes = []
        for signs in product((1, -1), repeat=3):
            along = data @ np.array(signs) / np.sqrt(3)
            density = sum(
                p * norm.pdf(along, np.sqrt(model.latent_share) * g, np.sqrt(model.noise_share))
                for g, p in zip(latent.atoms, latent.probabilities, strict=True)
            )
            of_spikes.append(np.prod(density / norm.pdf(along)))
        ratios.append(np.mean(of_spikes) ** 2)
    assert found.mean == pytest.approx(np.mean(ratios), rel=1e-12)


def test_shares_and_counts_are_those_of_the_data_sets():
    """Every number written out: hits over R = 8, with the binomial error of a share with one more of each outcome."""
    null, spiked = np.arange(8.0), np.array([-5.0, -4.0, -3.0, -1.0, 0.0, 1.0, 2.0, 9.0])
    measured = NormStatistics(5, null, spiked)
    for found, hits in ((measured.level(5.5), 2), (measured.power(1.5), 2), (measured.power(-0.5), 4)):
        smooth = (hits + 1) / 10
        assert (found.mean, found.n) == (hits / 8, 8)
        assert found.stderr == pytest.approx(math.sqrt(smooth * (1 - smooth) / 8), rel=1e-12)
    mean, deviation = -1 / 8, math.sqrt(6.0)  # of 0, ..., 7, whose variance is 42/7
    fourth = sum((k - 3.5) ** 4 for k in range(8)) / 8 / 36
    parts = float(spiked.std(ddof=1)) / deviation / math.sqrt(8), mean / deviation * math.sqrt((fourth - 1) / 32)
    ratio = measured.standardized_mean()
    assert (ratio.mean, ratio.n) == (pytest.approx(mean / deviation, rel=1e-12), 8)
    assert ratio.stderr == pytest.approx(math.hypot(*parts), rel=1e-12)


@pytest.mark.parametrize(("n", "repeats"), [(400, 37), (40_000, 3)])
def test_as_many_data_sets_of_as_many_samples_as_asked_for(n, repeats):
    """Also where they do not fill a block of draws."""
    measured = norm_statistics(SpikedCumulant(4, 1.0), n, repeats, stream(0, "counts", n))
    assert (measured.n, len(measured.null), len(measured.spiked)) == (n, repeats, repeats)
    assert len(set(measured.null)) == len(set(measured.spiked)) == repeats


@pytest.mark.parametrize("latent", LATENTS)
def test_moments_of_samples_to_one_percent(agrees, latent):
    """Per coordinate and along the spike; of labeled samples the two halves are the two laws."""
    model, rng = SpikedCumulant(3, 2.0, latent=latent), stream(0, "percent", *latent.atoms)
    u = draw_spike(model, rng)
    X, y = labeled_samples(model, u, 150_000, rng)
    assert y.tolist() == [1.0] * 150_000 + [-1.0] * 150_000
    kurtosis = 3 + model.latent_share**2 * latent.hermite_moment(4)
    for rows, fourth in ((X[y > 0], kurtosis), (X[y < 0], 3.0)):
        agrees(Estimate.of(np.mean(rows**2, axis=1)), 1.0, resolves=0.015)
        agrees(Estimate.of((rows @ u) ** 2), 1.0, resolves=0.03)
        agrees(Estimate.of((rows @ u) ** 4), fourth, resolves=0.06)


@pytest.mark.parametrize("prior", ["signs", "sphere"])
def test_every_coordinate_of_a_spike_has_the_same_moments_to_one_percent(prior):
    """E u^4 is 3/(d (d + 2)) on the sphere and 1/d^2 for signs; signs of two coordinates are independent."""
    d, count = 4, 400_000
    u = draw_spikes(SpikedCumulant(d, 1.0, prior), count, stream(0, "coordinates", prior))
    assert abs(u.T @ u / count - np.eye(d) / d).max() < 5 / d / math.sqrt(count)
    fourth = 3 / (d * (d + 2)) if prior == "sphere" else 1 / d**2
    np.testing.assert_allclose(np.mean((u * u) ** 2, axis=0), fourth, rtol=0.0125)  # five deviations of the former
    assert abs(np.mean(u, axis=0)).max() < 5 / math.sqrt(d * count)


def test_networks_are_drawn_with_their_variances(agrees):
    drawn = [ReluNetwork.random(100, 60, stream(r, "drawn")) for r in range(300)]
    agrees(Estimate.of([60 * np.mean(one.first_layer**2) for one in drawn]), 1.0, resolves=0.01)
    agrees(Estimate.of([1e4 * np.mean(one.readout**2) for one in drawn]), 1.0, resolves=0.08)
    assert not any(one.first_bias.any() or one.offset for one in drawn)
    X, y = np.random.default_rng(0).standard_normal((300, 30)), np.tile([1.0, -1.0], 150)
    fitted = [fit_random_features(X, y, 40, stream(r, "features"), ridges=[1.0]) for r in range(40)]
    agrees(Estimate.of([30 * np.mean(one.first_layer**2) for one in fitted]), 1.0, resolves=0.06)
    agrees(Estimate.of([np.mean(one.first_bias**2) for one in fitted]), 1.0, resolves=0.3)
