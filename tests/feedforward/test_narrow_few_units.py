"""Bayes-optimal students of K units: the tempered equations, free entropies of all units, the limit, thresholds."""

import csv
import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import log_ndtr, ndtr

from tests.feedforward.narrow_entropy import covariance, overlaps
from theory.feedforward import bayes_curve, bayes_optimal, specialization, stable_states, tempered_orders
from theory.models import NarrowNetwork


def signs(K, readout):
    return np.where(np.arange(K) % 2 == 0, 1.0, -1.0) if readout == "balanced" else np.ones(K)


@pytest.mark.parametrize("readout", ["balanced", "equal"])
@pytest.mark.parametrize(
    ("activation", "alpha"),
    [("erf", 2.0), ("erf", 15.0), ("relu", 0.5), ("relu", 4.0), ("sign", 5.0), ("quadratic", 2.0)],
)
def test_linear_labels_are_those_of_tempered_students_at_the_true_temperature(activation, alpha, readout):
    model = NarrowNetwork(alpha=alpha, activation=activation, noise=0.1, hidden_units=10, readout=readout)
    found, wanted = bayes_optimal(model, state="largest_q"), tempered_orders(model, 10.0)
    assert found.modes == pytest.approx(wanted.modes[:, 1], abs=1e-8)
    assert found.q == pytest.approx(wanted.overlap, abs=1e-8)
    assert (found.bayes_risk, found.gibbs_risk) == pytest.approx((wanted.mean_risk, wanted.gibbs_risk), abs=1e-9)
    assert found.replicon == pytest.approx(wanted.replicon, abs=1e-6)
    assert found.residual < 1e-10


def entropy_of_signs(q, activation, alpha, noise, v):
    """The free entropy of signs from the overlaps (K, K) of w_k: a sum over all pairs of units, and an integral."""
    K, one = len(v), np.ones((len(v), len(v)))
    S = v @ covariance(activation, one, one, q) @ v / K
    T = K * covariance(activation, 1.0, 1.0, 1.0) / K
    scale = math.sqrt(S / (noise + T - S))
    mean = quad(
        lambda z: math.exp(-z * z / 2) / math.sqrt(2 * math.pi) * 2 * ndtr(scale * z) * log_ndtr(scale * z), -9, 9,
        epsabs=1e-13, epsrel=1e-12, limit=200,
    )[0]  # fmt: skip
    return np.linalg.slogdet(np.eye(K) - q)[1] / 2 + np.trace(q) / 2 + alpha * K * mean


@pytest.mark.parametrize(
    ("activation", "alpha", "noise", "readout"),
    [
        ("relu", 3.0, 0.0, "balanced"),
        ("relu", 1.0, 0.1, "equal"),
        ("erf", 9.0, 0.0, "balanced"),
        ("sign", 8.0, 0.0, "equal"),
    ],
)
def test_states_of_signs_are_stationary_points_of_the_free_entropy_of_all_units(activation, alpha, noise, readout):
    K, h = 6, 1e-4
    model = NarrowNetwork(
        alpha=alpha, activation=activation, noise=noise, labels="sign", hidden_units=K, readout=readout
    )
    v, rng = signs(K, readout), np.random.default_rng(0)
    for state in stable_states(model):
        q = overlaps(np.repeat(state.modes[:, None], 3, axis=1), v)[0]
        assert state.free_entropy * K == pytest.approx(entropy_of_signs(q, activation, alpha, noise, v), abs=1e-9)
        assert q[0, 0] == pytest.approx(state.q, abs=1e-12)

        def slope(at, direction):
            up, down = (entropy_of_signs(at + one * direction, activation, alpha, noise, v) for one in (h, -h))
            return (up - down) / (2 * h)

        least = min(1 - state.modes)  # no step may leave the matrices of overlaps
        for _ in range(3):
            direction = rng.standard_normal((K, K))
            direction = least * (direction + direction.T) / K
            assert slope(q, direction) == pytest.approx(0, abs=2e-6)
            assert abs(slope(q + 0.02 * direction, direction)) > 2e-5


def test_errors_of_signs_are_angles_between_fields():
    model = NarrowNetwork(alpha=4.0, activation="relu", labels="sign", hidden_units=10, readout="equal")
    found = bayes_optimal(model)
    q = overlaps(np.repeat(found.modes[:, None], 3, axis=1), np.ones(10))[0]
    one = np.ones((10, 10))
    share = covariance("relu", one, one, q).sum() / 10 / covariance("relu", 1.0, 1.0, 1.0)
    assert found.gibbs_risk == pytest.approx(math.acos(share) / math.pi, abs=1e-10)
    assert found.bayes_risk == pytest.approx(math.acos(math.sqrt(share)) / math.pi, abs=1e-10)


@pytest.mark.parametrize(("activation", "alpha"), [("relu", 4.0), ("erf", 12.0), ("sign", 9.0)])
def test_many_units_approach_the_limit_like_one_over_their_number(activation, alpha):
    def at(K):
        model = NarrowNetwork(alpha=alpha, activation=activation, labels="sign", hidden_units=K)
        found = bayes_optimal(model, state="largest_q")
        return np.array([found.q, found.bayes_risk, found.gibbs_risk])

    limit, few, many = at(None), at(400), at(4000)
    assert many == pytest.approx(limit, abs=1e-3)
    assert 10 * many - few == pytest.approx(9 * limit, abs=1e-4)
    assert abs(few - limit).max() > 1e-4


@pytest.mark.parametrize(
    ("activation", "labels", "noise"), [("erf", "linear", 0.01), ("sign", "sign", 0.0), ("erf", "sign", 0.0)]
)
def test_units_alike_become_unstable_at_a_finite_ratio_that_grows_with_their_number(activation, labels, noise):
    found = {
        K: specialization(activation, labels=labels, noise=noise, hidden_units=K, readout="equal")
        for K in (10, 100, None)
    }
    few, many, limit = found.values()
    assert few.order == "first"
    assert few.spinodal < few.transition < few.onset
    assert many.onset / few.onset == pytest.approx(10, rel=0.1)  # the overlap with all others is 1/K
    assert limit.onset == math.inf
    assert abs(limit.transition - many.transition) < abs(limit.transition - few.transition) / 5
    model = NarrowNetwork(
        alpha=few.transition, activation=activation, labels=labels, noise=noise, hidden_units=10, readout="equal"
    )
    alike, knowing = stable_states(model)
    assert alike.free_entropy == pytest.approx(knowing.free_entropy, abs=1e-10)
    assert alike.modes[0] == 0
    assert knowing.q == pytest.approx(few.q_transition, abs=1e-9)
    before, after = (stable_states(replace(model, alpha=few.onset * factor)) for factor in (1 - 1e-6, 1 + 1e-6))
    assert (len(before), len(after)) == (2, 1)
    assert before[0].replicon == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_relu_units_leave_the_state_of_equal_ones_continuously_and_from_a_finite_overlap(noise):
    found = specialization("relu", noise=noise, hidden_units=10)
    assert found.order == "continuous"
    assert found.onset == found.spinodal == found.transition
    model = NarrowNetwork(alpha=found.onset * 0.999, activation="relu", noise=noise, hidden_units=10)
    assert bayes_optimal(model).q == pytest.approx(found.q_transition, abs=1e-3)


def test_a_curve_holds_what_single_ratios_give():
    options = {"labels": "sign", "hidden_units": 6, "readout": "equal"}
    curve = bayes_curve("relu", [1.0, 5.0], **options)
    for alpha, risk, q in zip(curve.alphas, curve.gibbs_risk, curve.q, strict=True):
        one = bayes_optimal(NarrowNetwork(alpha=float(alpha), activation="relu", **options))
        assert (risk, q) == (one.gibbs_risk, one.q)


def test_functions_give_what_names_give():
    def squashed(h):
        return np.tanh(h)

    few = NarrowNetwork(alpha=4.0, activation=squashed, noise=0.1, hidden_units=6)
    found, wanted = bayes_optimal(few, state="largest_q"), tempered_orders(few, 10.0)
    assert found.modes == pytest.approx(wanted.modes[:, 1], abs=1e-7)


# Stored by the authors of arXiv:2507.00629 (Gibbssins/Narrow-one-hidden-layer-networks at e8eda11, data_for_figures):
# sign_betainf_lambda0p0classification/Theory, Error_1.txt and TS_1.txt at alpha = 16.
STORED_SIGNS = (8.057038435290879430e-02, 9.986807953001125560e-01)


def test_the_stored_error_of_signs_by_sign_units_is_that_of_a_sample_with_infinitely_many_units():
    model = NarrowNetwork(alpha=16.0, activation="sign", labels="sign")
    found = bayes_optimal(model, state="largest_q")
    assert (found.gibbs_risk, found.q) == pytest.approx(STORED_SIGNS, rel=1e-5)
    few = bayes_optimal(replace(model, hidden_units=10, readout="equal"), state="largest_q")
    assert few.gibbs_risk == pytest.approx(STORED_SIGNS[0], rel=0.03)
    assert abs(few.gibbs_risk / STORED_SIGNS[0] - 1) > 0.01


def test_what_is_stored_as_the_optimum_of_signs_by_relu_units_are_errors_of_linear_labels():
    """relu_betainf_lambda0p0classification/Theory/Error_BO.txt: it follows ten units of linear labels without noise."""
    for alpha, stored in ((0.01, 0.32283794635), (0.2096, 0.140159117693), (0.6088, 0.100360733823)):
        linear, told = (
            bayes_optimal(
                NarrowNetwork(alpha=alpha, activation="relu", labels=labels, hidden_units=10, readout="equal")
            ).bayes_risk
            for labels in ("linear", "sign")
        )
        assert linear == pytest.approx(stored, rel=0.05)
        assert told > 1.3 * stored


def published(folder, kind):
    """Return (alpha, error) of the authors' tables, where the folder of published tables is at hand."""
    name = "narrow_networks.csv"
    place = os.environ.get("PUBLISHED")
    if not place:
        pytest.skip(f"set PUBLISHED to the folder that holds {name}")
    with (Path(place) / name).open(newline="") as lines:
        return [
            (float(row["alpha"]), float(row["error"]))
            for row in csv.DictReader(lines)
            if (row["folder"], row["kind"]) == (folder, kind)
        ]


def test_all_stored_optima_of_linear_labels_without_noise():
    """Stored down to a temperature of about 1e-4, on the state of equal units, from equations that keep other terms."""
    for alpha, stored in published("erf_betainf_lambda0p01", "theory branch BO"):
        found = bayes_optimal(
            NarrowNetwork(alpha=alpha, activation="erf", noise=1.5e-4, hidden_units=10, readout="equal"),
            state="smallest_q",
        )
        if found.modes[0] == 0:
            assert found.bayes_risk == pytest.approx(stored, rel=0.01)
