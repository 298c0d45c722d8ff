"""The encoder in JAX: its gradients, its training, resumption and refusals; stacks by hand against a twin in JAX."""

import math
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from simulate.nets import (
    CheckpointError,
    DivergenceError,
    MaskedContexts,
    enumerated_contexts,
    network,
    stack_gradient,
    train_encoder_on_population,
    train_encoder_on_sequences,
)
from tests.nets.models import four
from theory import nets
from theory.models import FactoredStack, VanillaEncoder

needs_jax = pytest.mark.skipif(network.missing_packages() is not None, reason=str(network.missing_packages()))
CONTEXTS = enumerated_contexts(four(4, 2, 0.5))
SMALL = VanillaEncoder(n_sites=4, n_colors=2, n_layers=1, n_heads=2, width=4, mlp_ratio=2)
DEEP = VanillaEncoder(n_sites=4, n_colors=2, n_layers=2, n_heads=1, width=4, mlp_ratio=1, final_norm=True)
ATTENTION = VanillaEncoder(n_sites=4, n_colors=2, n_layers=2, n_heads=2, width=4, attention_only=True)
STATES = np.random.default_rng(0).integers(2, size=(150, 4))
STATES[:, 3] = STATES[:, 1]


@needs_jax
def test_initial_weights_have_the_scale_that_is_stated():
    """Tokens and positions: normal of variance 1/d. Linear maps: uniform within one over the root of their inputs."""
    s = VanillaEncoder(n_sites=60, n_colors=40, n_layers=1, n_heads=2, width=24, mlp_ratio=3)
    made = network.build(s, 0)
    for embedding, rows in ((made.tokens, 41), (made.positions, 60)):
        x = np.asarray(embedding, dtype=float)
        assert x.shape == (rows, 24)
        assert np.mean(x**2) * 24 == pytest.approx(1, abs=5 * np.sqrt(2 / x.size))
        assert abs(x).max() > 2.5 / np.sqrt(24)  # no uniform law of this variance reaches that far
    block = made.blocks[0]
    for linear, inputs in ((block.perceptron[0], 24), (block.perceptron[1], 72), (made.readout, 24)):
        w = np.asarray(linear.weight, dtype=float)
        assert w.shape[1] == inputs
        assert abs(w).max() <= 1 / np.sqrt(inputs) + 1e-7
        assert np.mean(w**2) * inputs == pytest.approx(1 / 3, abs=5 * np.sqrt(4 / 45 / w.size))


def plain_logits(training, state, site):
    """The logits of one context by numpy, written down from the definition of the architecture."""
    s, weights = training.settings, list(training.weights)
    take = lambda: np.asarray(weights.pop(0), dtype=float)  # noqa: E731

    def normed(x, scale, shift):
        return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * scale + shift

    tokens, positions = take(), take()
    tokens_of = np.array(state)
    tokens_of[site] = s.n_colors
    x = tokens[tokens_of] + positions
    for _ in range(s.n_layers):
        scale, shift = take(), take()
        Q, K, V, out = take(), take(), take(), take()
        y, d = normed(x, scale, shift), s.width // s.n_heads
        heads = []
        for h in range(s.n_heads):
            rows = slice(h * d, (h + 1) * d)
            score = (y @ Q[rows].T) @ (y @ K[rows].T).T / np.sqrt(d)
            share = np.exp(score - score.max(1, keepdims=True))
            heads.append(share / share.sum(1, keepdims=True) @ (y @ V[rows].T))
        x = x + np.concatenate(heads, 1) @ out.T
        if not s.attention_only:
            scale, shift = take(), take()
            W1, b1, W2, b2 = take(), take(), take(), take()
            z = normed(x, scale, shift) @ W1.T + b1
            gelu = 0.5 * z * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))
            x = x + gelu @ W2.T + b2
    last = normed(x, take(), take())[site] if s.final_norm else x[site]
    W, b = take(), take()
    assert not weights
    return W @ last + b


@needs_jax
@pytest.mark.parametrize(
    "settings", [SMALL, *(pytest.param(each, marks=pytest.mark.slow) for each in (DEEP, ATTENTION))]
)
def test_the_network_is_the_one_of_its_definition(settings):
    trained = train_encoder_on_population(settings, CONTEXTS, n_steps=2, seed=0, rate=0.1, precision="float64")
    assert sum(each.size for each in trained.weights) == settings.n_parameters
    found = trained.logits(STATES[:4], [0, 1, 2, 3])
    for k in range(4):
        np.testing.assert_allclose(found[k], plain_logits(trained, STATES[k], k), atol=1e-12)
    changed = STATES[:4].copy()
    changed[np.arange(4), np.arange(4)] ^= 1  # the hidden color says nothing
    np.testing.assert_array_equal(trained.logits(changed, [0, 1, 2, 3]), found)


@needs_jax
def test_training_on_the_population_reaches_its_floor():
    settings = VanillaEncoder(n_sites=4, n_colors=2, n_layers=1, n_heads=2, width=8, mlp_ratio=2)
    trained = train_encoder_on_population(settings, CONTEXTS, n_steps=1500, seed=0, rate=0.01, record=[0, 1500])
    assert CONTEXTS.floor - 1e-6 < trained.losses[-1] < CONTEXTS.floor + 2e-3
    assert trained.losses[0] > CONTEXTS.floor + 0.05
    assert trained.to_frame().shape == (2, 2)


@needs_jax
def test_the_loss_is_that_of_its_logits_and_others_are_measured():
    others = {"few": STATES[:7], "all": CONTEXTS}
    trained = train_encoder_on_population(SMALL, CONTEXTS, n_steps=3, seed=1, others=others, precision="float64")
    z = trained.logits(CONTEXTS.states, CONTEXTS.sites)
    logs = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    expected = -float(CONTEXTS.weights @ (CONTEXTS.targets * logs).sum(axis=1))
    assert trained.losses[-1] == pytest.approx(expected, abs=1e-12)
    np.testing.assert_allclose(trained.other_losses["all"], trained.losses, atol=1e-14)
    few = [trained.logits(STATES[:7], np.full(7, site)) for site in range(4)]
    own = [np.log(np.exp(z).sum(axis=1)) - z[np.arange(7), STATES[:7, site]] for site, z in enumerate(few)]
    assert trained.other_losses["few"][-1] == pytest.approx(np.mean(own), abs=1e-12)


@needs_jax
def test_orders_along_training_are_those_of_the_logits(tmp_path):
    options = {"n_steps": 20, "seed": 3, "rate": 0.02, "record": [0, 20], "precision": "float64"}
    path = tmp_path / "run.npz"
    trained = train_encoder_on_population(SMALL, CONTEXTS, orders=True, checkpoint=path, **options)
    visible = np.indices((2, 2, 2)).reshape(3, -1).T
    tables = [trained.logits(np.insert(visible, site, 0, axis=1), np.full(8, site)) for site in range(4)]
    np.testing.assert_allclose(trained.orders[-1], nets.order_fractions(np.array(tables)).fractions, atol=1e-12)
    np.testing.assert_allclose(trained.orders.sum(axis=1), 1)
    assert abs(trained.orders[1] - trained.orders[0]).max() > 1e-3
    assert list(trained.to_frame()) == ["step", "loss", "order_0", "order_1", "order_2", "order_3"]
    again = train_encoder_on_population(SMALL, CONTEXTS, orders=True, checkpoint=path, **options)
    np.testing.assert_array_equal(again.orders, trained.orders)
    with pytest.raises(CheckpointError, match="its measured is"):
        train_encoder_on_population(SMALL, CONTEXTS, checkpoint=path, **options)
    large = VanillaEncoder(n_sites=20, n_colors=2, n_layers=1, n_heads=1, width=2)
    row = MaskedContexts(np.zeros((1, 20), dtype=int), [0], [1.0], [[0.5, 0.5]])
    with pytest.raises(ValueError, match=r"settings must have at most max_contexts = 262144 masked contexts"):
        train_encoder_on_population(large, row, n_steps=1, seed=0, orders=True)


@needs_jax
@pytest.mark.slow  # it compiles the same network four times
def test_a_run_that_was_cut_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    def train(**options):
        chosen = {"n_steps": 150, "seed": 2, "batch_size": 20, "record": [0, 70, 150]} | options
        return train_encoder_on_sequences(SMALL, STATES, STATES, **chosen)

    whole, path = train(), tmp_path / "run.npz"
    from simulate.nets.encoder_run import Run

    advance, calls = Run.advance, []

    def cut(self):
        if len(calls) == 2:
            raise KeyboardInterrupt
        calls.append(self.step)
        return advance(self)

    monkeypatch.setattr(Run, "advance", cut)
    with pytest.raises(KeyboardInterrupt):
        train(checkpoint=path, save_seconds=0.0)
    monkeypatch.setattr(Run, "advance", advance)
    resumed = train(checkpoint=path)
    np.testing.assert_array_equal(resumed.losses, whole.losses)
    for own, other in zip(resumed.weights, whole.weights, strict=True):
        np.testing.assert_array_equal(own, other)
    assert resumed.losses[-1] < resumed.losses[0]
    once = train(record=[150])  # what is measured changes no number
    np.testing.assert_array_equal(once.losses, whole.losses[-1:])
    with pytest.raises(CheckpointError, match=r"its rate is 0\.003, not 0\.01"):
        train(checkpoint=path, rate=0.01)


@needs_jax
def test_runs_of_equal_settings_share_what_was_compiled():
    """Other weights, another rate and other data of the same shape need no compilation, which takes seconds."""
    from simulate.nets.encoder_steps import compiled

    first = train_encoder_on_population(SMALL, CONTEXTS, n_steps=3, seed=0)
    steps = compiled(SMALL).steps
    versions = steps._cache_size()
    assert versions >= 1
    second = train_encoder_on_population(SMALL, enumerated_contexts(four(4, 2, -0.5)), n_steps=7, seed=1, rate=0.01)
    assert steps is compiled(SMALL).steps
    assert steps._cache_size() == versions
    assert abs(second.losses[0] - first.losses[0]) > 1e-4


@needs_jax
def test_a_rate_that_is_too_large_is_said():
    with pytest.raises(DivergenceError, match=r"diverged by step .* rate = 1e\+30 is too large"):
        train_encoder_on_population(SMALL, CONTEXTS, n_steps=5, seed=0, rate=1e30)


@needs_jax
@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_gradients_of_stacks_by_hand_are_those_of_jax(n_layers):
    import jax
    import jax.numpy as jnp

    contexts = enumerated_contexts(four(5, 3, 0.5))
    stack = FactoredStack.deterministic(n_layers, 5, 3, 0.8)
    with jax.enable_x64(True):
        rows = jnp.arange(len(contexts.states))
        x = jnp.eye(3)[contexts.states].at[rows, contexts.sites].set(0.0)

        def loss(A, V):
            X = x
            for layer in range(n_layers):
                Y = jnp.einsum("ij,rjb,ab->ria", A[layer], X, V[layer])
                X = Y**2 if layer < n_layers - 1 else Y
            logs = jax.nn.log_softmax(X[rows, contexts.sites])
            return -jnp.sum(contexts.weights[:, None] * contexts.targets * logs)

        value, (dA, dV) = jax.value_and_grad(loss, (0, 1))(jnp.array(stack.attentions), jnp.array(stack.values))
        found = stack_gradient(stack, contexts)
        assert found.loss == pytest.approx(float(value), abs=1e-13)
        np.testing.assert_allclose(found.attentions, np.array(dA), rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(found.values, np.array(dV), rtol=1e-9, atol=1e-15)


@pytest.mark.skipif(find_spec("jax") is None, reason="jax is not installed")
def test_importing_changes_no_setting_of_jax():
    program = (
        "import simulate.nets, sys; assert 'jax' not in sys.modules; import jax; assert not jax.config.x64_enabled"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_bad_arguments_are_named():
    three = MaskedContexts([[0, 1, 0]], [0], [1.0], [[0.5, 0.5]])
    population = {"settings": SMALL, "contexts": CONTEXTS, "n_steps": 3, "seed": 0}
    sequences = {"settings": SMALL, "states": STATES, "test_states": STATES, "n_steps": 3, "seed": 0}
    for function, valid, wrong, message in (
        (train_encoder_on_population, population, {"contexts": three}, "contexts must have 4 sites and 2 colors"),
        (train_encoder_on_population, population, {"n_steps": 0}, "n_steps"),
        (train_encoder_on_population, population, {"seed": -1}, "seed"),
        (train_encoder_on_population, population, {"rate": 0.0}, "rate"),
        (train_encoder_on_population, population, {"record": [5]}, "record must name steps from 0 to n_steps = 3"),
        (train_encoder_on_population, population, {"others": {"a": STATES[:, :3]}}, "others a"),
        (train_encoder_on_population, population, {"others": {"loss": STATES}}, "others must have names"),
        (train_encoder_on_population, population, {"precision": "float16"}, "precision"),
        (train_encoder_on_sequences, sequences, {"batch_size": 151}, "batch_size must be at most .* 150, got 151"),
        (train_encoder_on_sequences, sequences, {"states": STATES + 5}, "states"),
        (train_encoder_on_sequences, sequences, {"test_states": STATES[:, :2]}, "test_states"),
    ):
        with pytest.raises(ValueError, match=message):
            function(**(valid | wrong))


def test_a_missing_extra_is_said_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(network, "find_spec", lambda name: None if name in ("jax", "optax") else object())
    assert network.missing_packages() == (
        "an encoder needs jax and optax, which are not installed: pip install -e '.[nets]'"
    )
    with pytest.raises(ImportError, match=r"pip install -e '\.\[nets\]'"):
        train_encoder_on_population(SMALL, CONTEXTS, n_steps=1, seed=0)
