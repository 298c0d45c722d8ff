"""What one label tells: exact values of known fields, adaptive quadrature, and derivatives by differences."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, xlogy

from tests.glm.test_label_channels import LAPLACE, ORDINAL
from tests.glm.test_label_channels_simulation import WINDOW
from theory.glm.label_information import (
    _information,
    _smooth_end,
    information,
    least_error,
    least_loss,
    resolved,
    squared_slope,
)
from theory.models import Additive, Cluster, Flips, Logit, Poisson, Probit

GAUSS = Additive(lambda e: np.exp(-(e**2)) / math.sqrt(math.pi))
CHANNELS = {
    "linear": Cluster(labels="linear", teacher_signal=0, noise=0.3),
    "sign": Cluster(labels="sign", teacher_signal=0, noise=0.1, teacher_mean=0.2),
    "logit": Cluster(labels=Logit(0.3), teacher_signal=0, teacher_mean=-0.1),
    "probit": Cluster(labels=Probit(0.2), teacher_signal=0),
    "flips": Cluster(labels=Flips(0.1, 0.2), teacher_signal=0, teacher_mean=0.1),
    "counts": Cluster(labels=Poisson(), teacher_signal=0, teacher_variance=0.3),
    "laplace": Cluster(labels=LAPLACE, teacher_signal=0),
    "ordinal": Cluster(labels=ORDINAL, teacher_signal=0, teacher_mean=0.3),
    "window": Cluster(labels=WINDOW, teacher_signal=0),
}


@pytest.mark.parametrize("name", CHANNELS)
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_the_information_falls_by_the_squared_slope(name, share):
    """At a given variance of the field: E g^2 is the more the less is left, by E g'^2."""
    cluster = CHANNELS[name]
    left, h = (1 - share) * cluster.teacher_variance, 1e-4 * cluster.teacher_variance
    at = [information(cluster, cluster.teacher_variance - one, one) for one in (left + h, left - h)]
    wanted = (at[1] - at[0]) / (2 * h)
    assert squared_slope(cluster, cluster.teacher_variance - left, left) == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("name", CHANNELS)
def test_the_entropy_of_a_label_falls_by_half_the_information(name):
    cluster, left, h = CHANNELS[name], 0.2, 1e-4
    total = cluster.teacher_variance
    losses = [least_loss(cluster, total - one, one) for one in (left + h, left - h)]
    assert (losses[0] - losses[1]) / h == pytest.approx(information(cluster, total - left, left), rel=1e-5)


def test_a_known_field():
    """Where nothing is left the information is Fisher's own: E exp(nu) of counts, E P (1 - P)/T^2 of a logistic one."""
    counts, logit = CHANNELS["counts"], CHANNELS["logit"]
    assert information(counts, 0.3, 0.0) == pytest.approx(math.exp(0.15), rel=1e-11)
    z, weights = np.polynomial.hermite_e.hermegauss(300)
    weights, P = weights / weights.sum(), expit((z - 0.1) / 0.3)
    assert information(logit, 1.0, 0.0) == pytest.approx(weights @ (P * (1 - P)) / 0.3**2, rel=1e-10)
    assert least_loss(logit, 1.0, 0.0) == pytest.approx(-weights @ (xlogy(P, P) + xlogy(1 - P, 1 - P)), rel=1e-10)
    assert least_error(counts, 0.3, 0.0) == pytest.approx(math.exp(0.15), rel=1e-10)  # the variance of each count
    for name, wrong in (("window", 0.15), ("laplace", 0.5)):
        assert least_error(CHANNELS[name], 1.0, 0.0) == pytest.approx(wrong, rel=1e-10)
    entropy = -(0.15 * math.log(0.15) + 0.85 * math.log(0.85))
    assert least_loss(CHANNELS["window"], 1.0, 0.0) == pytest.approx(entropy, rel=1e-12)
    assert least_loss(CHANNELS["laplace"], 1.0, 0.0) == pytest.approx(1.0, rel=1e-10)  # log(2 b e) at b = 1/2
    flips = replace(CHANNELS["flips"], teacher_mean=0.0)
    assert least_error(flips, 1.0, 0.0) == pytest.approx(0.15, rel=1e-12)


@pytest.mark.parametrize("name", ["logit", "counts", "ordinal"])
def test_little_that_is_left_is_continued_without_a_step(name):
    """Polynomials in what is left take over from tables; those reach far below, with fewer digits."""
    cluster = CHANNELS[name]
    end, total = _smooth_end(cluster), cluster.teacher_variance
    assert 0 < end < 0.1
    for left in (0.999 * end, 0.4 * end, 0.02 * end):
        assert information(cluster, total - left, left) == pytest.approx(
            _information(cluster, total - left, left), rel=1e-11
        )
    assert squared_slope(cluster, total, 0.0) == pytest.approx(squared_slope(cluster, total, 1e-9), rel=1e-6)


@pytest.mark.parametrize("known", [0.4, 0.9])
def test_a_logistic_teacher_by_adaptive_quadrature(known):
    cluster, left, T = CHANNELS["logit"], 1 - known, 0.3

    def norm(z):
        return math.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)

    def told(omega):
        def averaged(power):
            return quad(lambda xi: norm(xi) * xi**power * expit((omega - 0.1 + math.sqrt(left) * xi) / T), -9, 9)[0]

        Z, D = averaged(0), averaged(1) / math.sqrt(left)
        return D * D / (Z * (1 - Z))  # both signs

    wanted = quad(lambda z: norm(z) * told(math.sqrt(known) * z), -9, 9, epsabs=1e-10)[0]
    assert information(cluster, known, left) == pytest.approx(wanted, rel=1e-8)


def test_normal_noise_of_any_density_is_linear():
    gauss, linear = Cluster(labels=GAUSS, teacher_signal=0), Cluster(labels="linear", teacher_signal=0, noise=0.5)
    for function in (information, squared_slope, least_error, least_loss):
        assert function(gauss, 0.6, 0.4) == pytest.approx(function(linear, 0.6, 0.4), rel=1e-10)
    assert resolved(gauss, 1 - 1e-8, 1e-8)  # smooth, so that less than is resolved changes nothing
    assert not resolved(CHANNELS["laplace"], 1 - 1e-8, 1e-8)
    assert not resolved(CHANNELS["window"], 1 - 1e-9, 1e-9)
