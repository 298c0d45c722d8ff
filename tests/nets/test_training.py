"""Flow and training: the law of norms, escape times, resumption, divergence, and what is measured along the way."""

import numpy as np
import pytest

from simulate.core.training import recorded_steps
from simulate.nets import (
    CheckpointError,
    DivergenceError,
    enumerated_contexts,
    gradient_flow,
    measured_orders,
    stack_gradient,
    train_on_population,
    train_on_sequences,
)
from simulate.nets.run import SequenceData
from tests.nets.models import four
from theory.models import FactoredStack

CONTEXTS = enumerated_contexts(four(5, 3, 0.5))
STATES = np.random.default_rng(0).integers(3, size=(120, 5))
STATES[:, 3] = STATES[:, 1]


def on_sequences(n_steps=60, seed=1, n_layers=3, states=STATES, **options):
    stack = FactoredStack.deterministic(n_layers, 5, 3, 1.5)
    rng = np.random.default_rng(seed)
    return train_on_sequences(stack, states, STATES[:30], n_steps=n_steps, rng=rng, batch_size=50, **options)


@pytest.mark.parametrize(
    ("n_layers", "scale", "time"),
    # Two routes: direct integration and the rescaled flow, whose blow-up times agree to 1e-4 and 1e-3.
    [(2, 0.2, 39715.98), (3, 0.55, 978702.0)],
)
def test_time_to_leave_the_plateau_and_norms_on_the_way(n_layers, scale, time):
    flow = gradient_flow(FactoredStack.deterministic(n_layers, 5, 3, scale), CONTEXTS, stop_loss=np.log(3) - 0.001)
    assert flow.converged
    assert flow.time == pytest.approx(time, rel=1e-6)
    assert flow.losses[-1] == pytest.approx(np.log(3) - 0.001, abs=1e-12)
    growth = flow.attention_norms[-1] - flow.attention_norms[0]
    np.testing.assert_allclose(growth / growth[-1], 2.0 ** np.arange(n_layers)[::-1], rtol=1e-7)
    np.testing.assert_allclose(flow.value_norms[-1] - flow.value_norms[0], growth, rtol=1e-7)
    assert flow.iterations < 1000


def test_flow_says_what_stopped_it():
    stack = FactoredStack.deterministic(2, 5, 3, 0.2)
    early = gradient_flow(stack, CONTEXTS, stop_loss=1.0, max_time=100.0)
    assert not early.converged
    assert early.reason == "the loss was still higher at max_time = 100"
    assert early.time == 100.0
    short = gradient_flow(stack, CONTEXTS, stop_loss=1.0, max_evaluations=20)
    assert not short.converged
    assert "evaluations" in short.reason
    assert short.residual == pytest.approx(short.losses[-1] - 1.0)
    at_once = gradient_flow(stack, CONTEXTS, stop_loss=2.0)
    assert at_once.converged
    assert at_once.time == 0.0


def test_small_steps_follow_the_flow():
    stack = FactoredStack.deterministic(2, 5, 3, 1.0)
    trained = train_on_population(stack, CONTEXTS, n_steps=1500, rate=0.05)
    flow = gradient_flow(stack, CONTEXTS, stop_loss=float(trained.losses[-1]))
    assert flow.converged
    assert flow.time == pytest.approx(1500 * 0.05, rel=0.01)  # time is the rate times the steps


@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_growth_without_the_squares_of_the_steps_has_exact_ratios(n_layers):
    for trained in (
        train_on_population(FactoredStack.deterministic(n_layers, 5, 3, 1.5), CONTEXTS, n_steps=300, rate=0.5),
        on_sequences(n_layers=n_layers, rate=0.5),
    ):
        growth, ratios = trained.attention_growth[-1], 2.0 ** np.arange(n_layers)[::-1]
        assert abs(growth[-1]) > 1e-6
        np.testing.assert_allclose(growth / growth[-1], ratios, rtol=1e-9)
        np.testing.assert_allclose(trained.value_growth[-1] / growth[-1], ratios, rtol=1e-9)
        raw = trained.attention_norms[-1] - trained.attention_norms[0]
        assert n_layers == 1 or abs(raw / raw[-1] - ratios).max() > 1e-4  # the norms themselves do not


def test_adam_breaks_the_law_of_norms():
    trained = on_sequences(optimizer="adam", rate=0.01)
    growth = trained.attention_growth[-1]
    assert abs(growth / growth[-1] - [4, 2, 1]).max() > 0.1


@pytest.mark.parametrize("optimizer", ["gradient_descent", "adam"])
def test_steps_are_those_of_a_plain_loop(optimizer):
    stack = FactoredStack.deterministic(2, 5, 3, 1.2)
    trained = train_on_population(stack, CONTEXTS, n_steps=5, rate=0.01, optimizer=optimizer)
    first, second = {}, {}
    for step in range(1, 6):
        gradient = stack_gradient(stack, CONTEXTS)
        moved = {}
        for name in ("attentions", "values"):
            g = getattr(gradient, name)
            if optimizer == "adam":
                first[name] = 0.9 * first.get(name, 0) + 0.1 * g
                second[name] = 0.999 * second.get(name, 0) + 0.001 * g * g
                g = first[name] / (1 - 0.9**step) / (np.sqrt(second[name] / (1 - 0.999**step)) + 1e-8)
            moved[name] = getattr(stack, name) - 0.01 * g
        stack = FactoredStack(moved["attentions"], moved["values"])
    np.testing.assert_allclose(trained.stack.attentions, stack.attentions, atol=1e-12)
    np.testing.assert_allclose(trained.stack.values, stack.values, atol=1e-12)
    assert trained.losses[-1] == pytest.approx(stack_gradient(stack, CONTEXTS).loss, rel=1e-12)


def test_fields_are_trained_where_the_stack_has_them():
    plain = FactoredStack.deterministic(1, 5, 3, 0.5)
    stack = FactoredStack(plain.attentions, plain.values, np.zeros((5, 3)))
    trained = train_on_population(stack, CONTEXTS, n_steps=50, rate=1.0)
    assert abs(trained.stack.fields).max() > 0.01


def test_steps_that_are_recorded_where_none_are_named():
    """At 0 and at sixty steps in equal ratios, of which the first ones fall together; for stacks and encoders alike."""
    expected = sorted({0, *(round(100 ** (k / 59)) for k in range(60))})
    trained = train_on_population(FactoredStack.deterministic(1, 5, 3, 0.5), CONTEXTS, n_steps=100, rate=0.1)
    assert trained.steps.tolist() == expected
    assert recorded_steps(None, 100, 100) == expected


def test_measurements_at_the_recorded_steps():
    trained = on_sequences(record=[0, 10, 60], orders=True)
    start = FactoredStack.deterministic(3, 5, 3, 1.5)
    assert trained.steps.tolist() == [0, 10, 60]
    np.testing.assert_allclose(trained.attention_norms[-1], np.sum(trained.stack.attentions**2, axis=(1, 2)))
    moved = np.sum((trained.stack.attentions - start.attentions) ** 2, axis=(1, 2)) / 5
    moved += np.sum((trained.stack.values - start.values) ** 2, axis=(1, 2)) / 3
    np.testing.assert_allclose(trained.displacements[-1], moved, rtol=1e-12)
    np.testing.assert_allclose(trained.orders[0], measured_orders(start), atol=1e-15)
    np.testing.assert_allclose(trained.orders.sum(axis=1), 1.0)
    frame = trained.to_frame()
    assert len(frame) == 3
    assert {"step", "loss", "attention_norm_3", "displacement_1", "order_4"} <= set(frame)


class Killed(Exception):
    pass


@pytest.mark.parametrize("optimizer", ["gradient_descent", "adam"])
def test_an_interrupted_run_goes_on_to_the_same_bits(tmp_path, monkeypatch, optimizer):
    from simulate.nets.run import Run

    whole, file, advance = on_sequences(optimizer=optimizer), tmp_path / "run.npz", Run.advance

    def killed(self):
        if self.step == 37:
            raise Killed
        advance(self)

    monkeypatch.setattr(Run, "advance", killed)
    with pytest.raises(Killed):
        on_sequences(optimizer=optimizer, checkpoint=file, save_seconds=0.0)
    monkeypatch.setattr(Run, "advance", advance)
    for _ in range(2):  # it goes on, and then finds a finished run
        resumed = on_sequences(optimizer=optimizer, checkpoint=file)
        np.testing.assert_array_equal(resumed.stack.attentions, whole.stack.attentions)
        for name in ("steps", "losses", "attention_norms", "value_steps", "displacements"):
            np.testing.assert_array_equal(getattr(resumed, name), getattr(whole, name))
    with pytest.raises(CheckpointError, match="its rate is"):
        on_sequences(optimizer=optimizer, checkpoint=file, rate=0.2)
    with pytest.raises(CheckpointError, match="its digest differs"):
        on_sequences(optimizer=optimizer, checkpoint=file, states=STATES[::-1])


def test_too_large_a_rate_is_named():
    with pytest.raises(DivergenceError, match=r"diverged at step \d+.*rate = 10000 is too large") as failure:
        on_sequences(rate=1e4)
    assert isinstance(failure.value, FloatingPointError)


def test_a_batch_larger_than_the_data_is_refused():
    with pytest.raises(ValueError, match="batch_size must be at most the number of sequences, 49, got 50"):
        on_sequences(states=STATES[:49])


@pytest.mark.parametrize(
    ("n_layers", "orders"),
    [
        (1, [0.59343243, 0.40656757, 0, 0, 0]),
        (2, [0.38877394, 0.33938196, 0.27184411, 0, 0]),
        (3, [0.42129293, 0.22915939, 0.29057564, 0.052157541, 0.0068144938]),
    ],
)
def test_reference_values_of_orders(n_layers, orders):
    found = measured_orders(FactoredStack.deterministic(n_layers, 5, 3, 0.8))
    np.testing.assert_allclose(found, orders, atol=1e-8)


def test_orders_do_not_depend_on_the_size_of_the_logits():
    stack = FactoredStack.deterministic(2, 4, 3, 0.8)
    tiny = FactoredStack(stack.attentions * 1e-60, stack.values)
    np.testing.assert_allclose(measured_orders(tiny), measured_orders(stack), atol=1e-14)
    with pytest.raises(ValueError, match="logits that differ between colors"):
        measured_orders(FactoredStack(np.zeros((1, 3, 3)), np.eye(2)[None]))
    with pytest.raises(ValueError, match="at most max_contexts = 10 masked contexts"):
        measured_orders(stack, max_contexts=10)


def test_every_sequence_is_seen_once_in_an_epoch():
    states = np.arange(24).reshape(12, 2) % 3
    data = SequenceData(states, states, 3, 4, np.random.default_rng(0))
    for _ in range(3):  # epochs, of three batches each
        data.next_batches(1, 1)
        assert sorted(data.state()["order"]) == list(range(12))
        assert [data.state()["place"] for _ in range(2) if data.next_batches(1, 1)] == [8, 12]


def test_batches_that_are_drawn_together_are_those_of_one_step_after_another():
    states = np.arange(60).reshape(20, 3) % 5
    together, single = (SequenceData(states, states, 5, 3, np.random.default_rng(0)) for _ in range(2))
    for most, made in ((2, 2), (4, 4), (100, 6), (1, 1), (100, 5)):  # an epoch has six steps
        batch, count, size = together.next_batches(most, 1)
        assert (count, size) == (made, 3)
        each = [single.next_batches(1, 1)[0] for _ in range(count)]
        for k, found in enumerate(batch):
            np.testing.assert_array_equal(found, np.concatenate([one[k] for one in each]))
        assert together.generator_state == single.generator_state
