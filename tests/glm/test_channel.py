"""Averages of the channel: quadrature against closed forms, twice the nodes, and simple limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from theory.glm import label_parts, quadrature
from theory.glm.averages import Field, cluster_averages, loss_and_error
from theory.glm.losses import LOSSES, loss_of
from theory.models import Cluster

V = st.floats(-3, 6).map(lambda x: 10.0**x)
q = st.floats(-2, 4).map(lambda x: 10.0**x)
means = st.floats(-2, 2)


def phi(x):
    return np.exp(-x * x / 2) / np.sqrt(2 * np.pi)


@given(V, q, means)
def test_hinge_of_a_cluster_label_in_closed_form(V, q, mean):
    s = np.sqrt(q)
    a, c = (1 - V - mean) / s, (1 - mean) / s
    D = ndtr(c) - ndtr(a)
    gap = (1 - mean) * D - s * (phi(a) - phi(c))
    square = (1 - mean) ** 2 * D - 2 * (1 - mean) * s * (phi(a) - phi(c)) + q * (D + a * phi(a) - c * phi(c))
    cluster, field = Cluster(labels="cluster", label=1), Field(V, q, mean, 0.0)
    found = cluster_averages(cluster, loss_of("hinge"), field)
    assert found.response == pytest.approx(D / V, rel=1e-9, abs=1e-14 / V)
    assert found.force == pytest.approx(ndtr(a) + gap / V, rel=1e-9, abs=1e-12)
    assert found.square == pytest.approx(ndtr(a) + square / V**2, rel=1e-8, abs=1e-11)
    cost, error = loss_and_error(cluster, loss_of("hinge"), field)
    assert cost == pytest.approx((1 - V - mean) * ndtr(a) + s * phi(a), rel=1e-8, abs=1e-11)
    assert error == pytest.approx(ndtr(-mean / s), abs=1e-14)


@given(V, q, means, st.floats(-0.99, 0.99), means, st.floats(0, 1))
@settings(max_examples=40)
def test_square_loss_of_a_sign_teacher_in_closed_form(V, q, mean, correlation, t, noise):
    r = correlation * np.sqrt(q)
    R = np.sqrt(1 + noise)
    label = 2 * ndtr(t / R) - 1
    second = 1 + mean**2 + q - 2 * (mean * label + 2 * r * phi(t / R) / R)
    cluster = Cluster(labels="sign", teacher_signal=0, teacher_mean=t, noise=noise)
    found = cluster_averages(cluster, loss_of("square"), Field(V, q, mean, r))
    assert found.response == pytest.approx(1 / (1 + V), rel=1e-12)
    assert found.square * (1 + V) ** 2 == pytest.approx(second, rel=1e-10, abs=1e-12 * (1 + q))
    assert found.force * (1 + V) == pytest.approx(label - mean, rel=1e-10, abs=1e-12 * (1 + q))
    assert found.teacher * (1 + V) == pytest.approx(2 * phi(t / R) / R, rel=1e-9, abs=1e-11 * (1 + np.sqrt(q)))


@given(q, st.floats(-0.9999, 0.9999), st.floats(0, 1))
def test_error_of_a_centered_teacher(q, correlation, noise):
    cluster = Cluster(labels="sign", teacher_signal=0, noise=noise)
    _, error = loss_and_error(cluster, loss_of("hinge"), Field(1.0, q, 0.0, correlation * np.sqrt(q)))
    assert error == pytest.approx(np.arccos(correlation / np.sqrt(1 + noise)) / np.pi, abs=1e-12)


@pytest.mark.parametrize("loss", sorted(LOSSES))
@given(V=V, q=q, mean=means, correlation=st.floats(-0.9999, 0.9999))
@settings(max_examples=40)
def test_twice_the_nodes_change_nothing(loss, V, q, mean, correlation):
    """To 1e-12 of the natural size of each average."""
    cluster = Cluster(labels="sign", teacher_signal=0, teacher_mean=0.3)
    field = Field(V, q, mean, correlation * np.sqrt(q))
    few = cluster_averages(cluster, LOSSES[loss], field)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(label_parts, "normal_nodes", lambda bends, **more: quadrature.normal_nodes(bends, 32, **more))
        many = cluster_averages(cluster, LOSSES[loss], field)
    size = np.sqrt(many.square) + 1e-300
    spread = 1 / np.sqrt(1 - correlation**2)
    assert few.square == pytest.approx(many.square, rel=1e-11, abs=1e-15)
    assert few.force == pytest.approx(many.force, abs=1e-12 * size + 1e-15)
    assert few.teacher == pytest.approx(many.teacher, abs=1e-12 * size * spread + 1e-15)
    assert few.response == pytest.approx(many.response, abs=1e-12 * max(many.response, size / np.sqrt(q)) + 1e-15)


@pytest.mark.parametrize("labels", ["random", "sign"])
def test_one_label_serves_a_centered_problem(labels):
    """The short cut by symmetry against the sum over both labels, which a mean of 1e-300 enforces."""
    cluster = Cluster(labels=labels, teacher_signal=0)
    for loss in LOSSES.values():
        short = cluster_averages(cluster, loss, Field(2.0, 1.5, 0.0, 0.7))
        both = cluster_averages(cluster, loss, Field(2.0, 1.5, 1e-300, 0.7))
        for name in ("response", "square", "teacher"):
            assert getattr(short, name) == pytest.approx(getattr(both, name), rel=1e-12)
        assert short.force == 0
        assert both.force == pytest.approx(0, abs=1e-14)


def test_labels_of_weight_zero_do_not_count():
    field = Field(2.0, 1.5, 0.4, 0.7)
    weights = ((1, 0), (0, 1))
    clusters = [Cluster(teacher_signal=0, loss_weights=pair) for pair in weights]
    halves = [cluster_averages(cluster, loss_of("logistic"), field) for cluster in clusters]
    both = cluster_averages(Cluster(teacher_signal=0), loss_of("logistic"), field)
    for name in ("response", "square", "force", "teacher"):
        assert sum(getattr(half, name) for half in halves) == pytest.approx(getattr(both, name), rel=1e-12)


def test_normal_moments_with_any_bends():
    z, weights = quadrature.normal_nodes([(0.3, 1e-6), (-2.0, 0.0), (np.nan, 1.0), (1e9, 3.0), (5.0, 30.0)])
    moments = [weights @ z**k for k in range(7)]
    assert moments == pytest.approx([1, 0, 1, 0, 3, 0, 15], abs=1e-11)
