"""Networks in plain numpy: their gradients, training, transfer between teachers, and the alignment of features."""

import numpy as np
import pytest

from simulate.core import stream
from simulate.feedforward import (
    draw_teachers,
    linear_alignment,
    train_multilayer,
    transfer_network,
    transfer_networks,
)
from simulate.feedforward.multilayer import Multilayer, gradient, logistic_loss
from theory.models import NetworkTransfer

TASK = NetworkTransfer(n_inputs=6, width=8, layer_overlaps=(1.0, 0.5, 0.0))


def rng(seed=0):
    return np.random.default_rng(seed)


def single(network):
    return Multilayer(tuple(layer.astype(np.float32) for layer in network.layers))


def test_gradient_by_finite_differences():
    layers = [np.array(layer) for layer in Multilayer.random((4, 5, 3, 1), rng(1)).layers]
    for layer in layers:
        layer[-1] = rng(2).standard_normal(layer.shape[1])  # biases too
    X, y = rng(3).standard_normal((7, 4)), np.where(rng(4).random(7) > 0.5, 1.0, -1.0)
    found = [np.empty_like(layer) for layer in layers]
    gradient(layers, X, y, found)
    for layer, slope in zip(layers, found, strict=True):
        for place in np.ndindex(layer.shape):
            kept, losses = layer[place], []
            for step in (1e-6, -1e-6):
                layer[place] = kept + step
                losses.append(logistic_loss(Multilayer(tuple(layers)).outputs(X), y))
            layer[place] = kept
            assert slope[place] == pytest.approx((losses[0] - losses[1]) / 2e-6, rel=1e-6, abs=1e-9)


def test_one_step_of_adam_by_hand():
    """The first step moves every weight by the rate, against the sign of its gradient."""
    X = rng(5).standard_normal((400, 6))
    y = np.sign(X[:, 0])
    start = Multilayer.random(TASK.sizes, rng(7))
    trained = train_multilayer(start, X, y, rng(8), n_steps=1, batch=1000, rate=0.01, held_out=0.1)
    order = rng(8).permutation(400)
    seen = order[40:]
    layers = single(start).layers
    found = [np.empty_like(layer) for layer in layers]
    gradient(layers, X[seen].astype(np.float32), y[seen].astype(np.float32), found)
    assert trained.best_step == 1  # with these numbers the step helps the held-out samples too
    for before, after, slope in zip(layers, trained.network.layers, found, strict=True):
        clear = abs(slope) > 1e-3
        np.testing.assert_allclose((after - before)[clear], -0.01 * np.sign(slope)[clear], rtol=2e-3)
    assert len(trained.held_out_losses) == 2


def test_training_keeps_frozen_layers_and_returns_the_best_weights():
    source, _ = draw_teachers(TASK, rng(9))
    X, y = source.samples(300, rng(10))
    start = Multilayer.random(TASK.sizes, rng(11))
    trained = train_multilayer(start, X, y, rng(12), n_steps=200, n_frozen=2, rate=0.01, record_every=20)
    for before, after in zip(start.layers[:2], trained.network.layers[:2], strict=True):
        np.testing.assert_array_equal(before.astype(np.float32), after)
    assert trained.held_out_loss == trained.held_out_losses.min() < trained.held_out_losses[0]
    assert trained.best_step == 20 * trained.held_out_losses.argmin()
    held = rng(12).permutation(300)[:30]
    loss = logistic_loss(trained.network.outputs(X[held].astype(np.float32)), y[held].astype(np.float32))
    assert loss == pytest.approx(trained.held_out_loss, rel=1e-5)


def test_patience_ends_training_that_no_longer_helps():
    X, y = rng(9).standard_normal((60, TASK.n_inputs)), rng(10).choice([-1.0, 1.0], 60)  # nothing to learn
    start = Multilayer.random(TASK.sizes, rng(11))
    options = {"n_steps": 400, "rate": 0.01, "record_every": 10}
    whole = train_multilayer(start, X, y, rng(12), **options)
    ended = train_multilayer(start, X, y, rng(12), **options, patience=45)
    first = next(k for k in range(41) if k - whole.held_out_losses[: k + 1].argmin() >= 5)
    assert ended.n_steps == 10 * first < 400 == whole.n_steps
    np.testing.assert_array_equal(ended.held_out_losses, whole.held_out_losses[: first + 1])
    assert ended.best_step == 10 * ended.held_out_losses.argmin()


def test_a_network_learns_its_teacher():
    source, _ = draw_teachers(TASK, rng(13))
    X, y = source.samples(4_000, rng(14))
    trained = train_multilayer(Multilayer.random(TASK.sizes, rng(15)), X, y, rng(16), n_steps=1_500, rate=5e-3)
    test = source.samples(2_000, rng(17))
    assert trained.network.error(*test) < 0.15
    assert source.network.error(test[0], test[1]) < 0.2  # its own output without the threshold


def test_target_teachers_overlap_as_stated():
    task = NetworkTransfer(n_inputs=40, width=40, layer_overlaps=(1.0, 0.6, -0.5))
    source, target = draw_teachers(task, rng(18))
    for old, new, r in zip(source.network.layers, target.network.layers, task.layer_overlaps, strict=True):
        overlap = np.sum(old * new) / np.linalg.norm(old) / np.linalg.norm(new)
        assert overlap == pytest.approx(r, abs=6 / np.sqrt(old.size))
        assert np.mean(new[:-1] ** 2) * len(new[:-1]) == pytest.approx(2.25, rel=6 * np.sqrt(2 / old.size))
        assert not new[-1].any()
    labels = target.labels(rng(19).standard_normal((4_000, 40)))
    assert abs(labels.mean()) < 0.1


@pytest.mark.parametrize("protocol", ["fresh", "warm"])
def test_protocols_keep_what_they_say(protocol):
    source = single(Multilayer.random(TASK.sizes, rng(20)))
    X, y = draw_teachers(TASK, rng(21))[1].samples(60, rng(22))
    for kept in range(4):
        found = transfer_network(source, kept, X, y, rng(23), protocol=protocol, n_steps=1, batch=16)
        moved = [
            float(abs(after - before).max()) for before, after in zip(source.layers, found.network.layers, strict=True)
        ]
        assert moved[:kept] == [0.0] * kept
        if protocol == "warm":  # one step of Adam moves no weight further than its rate
            assert max(moved) <= 1.001e-3
        elif kept < 3:
            assert min(moved[kept:]) > 0.01
    everything = transfer_network(source, 3, X, y, rng(24), protocol=protocol, n_steps=5)
    assert everything.best_step == 0


def test_alignment_of_features():
    A = rng(25).standard_normal((2_000, 3)) * [1.0, 2.0, 0.5]
    rotation = np.linalg.qr(rng(26).standard_normal((3, 3)))[0]
    assert linear_alignment(A, 1e200 * (A @ rotation) + 7e200) == pytest.approx(1, rel=1e-9)
    B = rng(27).standard_normal((2_000, 5))
    assert linear_alignment(A, B) < 0.02
    # By the kernels themselves: <HKH, HLH>/(|HKH| |HLH|).
    few, other = A[:30], np.hstack([A[:30, :1], B[:30]])
    H = np.eye(30) - 1 / 30
    K, M = H @ few @ few.T @ H, H @ other @ other.T @ H
    expected = np.sum(K * M) / np.linalg.norm(K) / np.linalg.norm(M)
    assert linear_alignment(few, other) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match="second must vary"):
        linear_alignment(A, np.ones((2_000, 2)))
    with pytest.raises(ValueError, match="second must have the 2000 samples"):
        linear_alignment(A, B[:10])


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"layer_overlaps": (1.0,)}, "layer_overlaps must be at least two numbers"),
        ({"layer_overlaps": (1.0, 1.2)}, r"layer_overlaps must be .* in \[-1, 1\]"),
        ({"width": 0}, "width must be an integer of at least 1, got 0"),
        ({"weight_variance": 0.0}, "weight_variance must lie in"),
    ],
)
def test_bad_tasks_are_refused(keywords, message):
    with pytest.raises(ValueError, match=message):
        NetworkTransfer(**keywords)


def test_bad_samples_are_refused():
    network = Multilayer.random(TASK.sizes, rng())
    X, y = rng().standard_normal((10, 6)), np.ones(10)
    for bad_X, bad_y, message in [
        (X[:, :5], y, r"inputs must have shape \(at least two samples, 6\)"),
        (X, y[:5], "labels must be 10 numbers"),
        (X, 0.5 * y, r"labels must be 10 numbers \+1 or -1"),
        (np.full((10, 6), np.nan), y, "inputs must be finite"),
    ]:
        with pytest.raises(ValueError, match=message):
            train_multilayer(network, bad_X, bad_y, rng(), n_steps=1)


def test_both_teachers_and_their_inputs_have_their_variances_to_one_percent(monkeypatch):
    """The target's layers are r times those of the source and sqrt(1 - r^2) times new ones, of the same variance."""
    monkeypatch.setattr(transfer_networks, "N_MEDIAN_INPUTS", 10)
    task = NetworkTransfer(n_inputs=400, width=420, layer_overlaps=(0.3, -0.8, 0.5), weight_variance=1.5)
    teachers = draw_teachers(task, stream(0, "variances"))
    for size, old, new, r in zip((400, 420), *(one.network.layers for one in teachers), (0.3, -0.8), strict=False):
        x, y = (layer[:-1].ravel() * np.sqrt(size / 1.5) for layer in (old, new))
        for values in (x, y):
            assert np.mean(values * values) == pytest.approx(1, abs=5 * np.sqrt(2 / x.size))  # 1.7 percent
        assert np.mean(x * y) == pytest.approx(r, abs=5 * np.sqrt((1 + r * r) / x.size))
    inputs, _ = teachers[0].samples(1000, stream(1, "variances"))
    assert np.mean(inputs**2) == pytest.approx(1, abs=5 * np.sqrt(2 / inputs.size))
