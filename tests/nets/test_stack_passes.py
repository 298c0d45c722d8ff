"""Both passes through a stack against complex steps and JAX, single precision against double, and threads."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy.special import softmax

from simulate.nets import (
    CheckpointError,
    DivergenceError,
    enumerated_contexts,
    stack_gradient,
    train_on_population,
    train_on_sequences,
)
from simulate.nets.softmax_kernel import softmax_residuals
from simulate.nets.stack_gradient import Batch, Weights, loss_and_gradient, stack_loss
from simulate.nets.stack_kernel import CONTEXTS as CONTEXTS_OF_A_BLOCK
from simulate.nets.stack_steps import WIDE
from simulate.nets.wide_stack_kernel import NUMBERS_OF_A_BLOCK
from tests.nets.models import four
from theory.models import FactoredStack

CONTEXTS = enumerated_contexts(four(5, 3, 0.5))
DOUBLE_AND_SINGLE = ("float64", "float32")
# Few sites, the least number of many, several blocks of contexts of which the last one is not full, and one of a kind.
SHAPES = [
    (5, 3, 2 * CONTEXTS_OF_A_BLOCK + 5),
    (WIDE - 1, 4, 30),
    (WIDE, 4, 30),
    (21, 7, 2 * NUMBERS_OF_A_BLOCK // (21 * 7) + 5),
    (1, 2, 3),
]


def drawn(n_layers, n_sites, n_colors, n_contexts, skip=False, fields=True):
    rng = np.random.default_rng([n_layers, n_sites, n_colors])
    stack = FactoredStack.random(n_layers, n_sites, n_colors, 0.9, rng, skip=skip)
    h = rng.standard_normal((n_sites, n_colors)) if fields else None
    states = rng.integers(n_colors, size=(n_contexts, n_sites))
    weights, targets = rng.dirichlet(np.ones(n_contexts)), rng.dirichlet(np.ones(n_colors), n_contexts)
    batch = Batch(states, rng.integers(n_sites, size=n_contexts), weights, targets)
    return Weights(np.array(stack.attentions), np.array(stack.values), h, skip), batch


def loss_of_any_numbers(weights, batch):
    """The loss by the definition, for real or complex weights."""
    rows = np.arange(len(batch.sites))
    X = np.eye(batch.targets.shape[1])[batch.states]
    X[rows, batch.sites] = 0.0
    for k, (A, V) in enumerate(zip(weights.attentions, weights.values, strict=True)):
        Y = A @ (X @ V.T)
        X = Y if k == len(weights.values) - 1 else Y**2 + (X if weights.skip else 0.0)
    z = X[rows, batch.sites] + (0.0 if weights.fields is None else weights.fields[batch.sites])
    return np.sum(batch.weights[:, None] * batch.targets * (np.log(np.exp(z).sum(axis=1, keepdims=True)) - z))


def derivative(weights, batch, direction, step=1e-30):
    """The derivative of a real analytic function is the imaginary part after a small imaginary step: no difference."""
    parts = [None if x is None else x + 1j * step * d for x, d in zip(weights[:3], direction[:3], strict=True)]
    return loss_of_any_numbers(Weights(*parts, weights.skip), batch).imag / step


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("n_layers", [1, 2, 3, 4])
@pytest.mark.parametrize("shape", SHAPES)
def test_derivatives_are_those_of_a_complex_step(shape, n_layers, skip):
    weights, batch = drawn(n_layers, *shape, skip=skip)
    loss, gradient = loss_and_gradient(weights, batch)
    expected = loss_of_any_numbers(weights, batch)
    assert (loss, stack_loss(weights, batch)) == pytest.approx((expected, expected), rel=1e-13)
    rng = np.random.default_rng(0)
    for part in range(3):  # an entry, then all of them, of attentions, values and fields
        for of_all in (False, True):
            direction = [np.zeros_like(x) for x in weights[:3]]
            flat = direction[part].reshape(-1)
            flat[:] = rng.standard_normal(flat.size) if of_all else np.arange(flat.size) == flat.size // 3
            found = np.sum(gradient[part] * direction[part])
            size = np.sqrt(np.sum(gradient[part] ** 2) * np.sum(flat**2))
            assert found == pytest.approx(derivative(weights, batch, direction), abs=1e-12 * size)


def test_every_entry_of_a_gradient_is_that_of_a_complex_step():
    weights, batch = drawn(3, WIDE, 3, 9)
    gradient = loss_and_gradient(weights, batch)[1].flat
    expected = [derivative(weights, batch, weights.like(e)) for e in np.eye(len(gradient))]
    np.testing.assert_allclose(gradient, expected, atol=1e-12 * abs(gradient).max())


@pytest.mark.parametrize("n_layers", [1, 2, 3])
@pytest.mark.parametrize("shape", [(5, 3, 70), (20, 10, 64)])
def test_gradients_of_jax(shape, n_layers):
    """The loss that the benchmarks time; what JAX gives are the exact derivatives of its own program."""
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    from tests.benchmarks.jax_stacks import loss

    weights, batch = drawn(n_layers, *shape, fields=False)
    inputs, rows = np.eye(shape[1])[batch.states], np.arange(shape[2])
    inputs[rows, batch.sites] = 0.0
    with jax.enable_x64(True):
        data = (inputs, batch.sites, batch.weights, batch.targets)
        value, (dA, dV) = jax.value_and_grad(loss)((weights.attentions, weights.values), *data)
        value, dA, dV = float(value), np.asarray(dA), np.asarray(dV)
    mine, gradient = loss_and_gradient(weights, batch)
    assert mine == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(gradient.attentions, dA, atol=1e-12 * abs(dA).max())
    np.testing.assert_allclose(gradient.values, dV, atol=1e-12 * abs(dV).max())


@pytest.mark.parametrize("n_layers", [1, 2, 3, 4])
@pytest.mark.parametrize("shape", [(5, 3, 70), (20, 10, 64), (50, 21, 32)])
def test_single_precision_is_as_near_as_documented(shape, n_layers):
    weights, batch = drawn(n_layers, *shape)
    (loss, gradient), (single_loss, single) = (loss_and_gradient(weights, batch, each) for each in DOUBLE_AND_SINGLE)
    assert single_loss == pytest.approx(loss, rel=1e-5)
    off = np.linalg.norm(single.flat - gradient.flat) / np.linalg.norm(gradient.flat)
    assert 1e-9 < off < 1.4e-6


def test_training_in_single_precision_keeps_weights_and_losses_in_double():
    stack, options = FactoredStack.deterministic(2, 5, 3, 1.5), {"n_steps": 300, "rate": 0.1}
    double, single = (train_on_population(stack, CONTEXTS, precision=each, **options) for each in DOUBLE_AND_SINGLE)
    assert 0 < abs(single.losses - double.losses).max() < 1e-8
    assert single.losses[-1] == stack_gradient(single.stack, CONTEXTS).loss  # that of the weights, in double precision
    assert stack_gradient(stack, CONTEXTS, "float32").loss != stack_gradient(stack, CONTEXTS).loss


def test_the_checkpoint_of_one_precision_is_not_that_of_the_other(tmp_path):
    stack, options = FactoredStack.deterministic(1, 5, 3), {"n_steps": 3, "checkpoint": tmp_path / "run.npz"}
    train_on_population(stack, CONTEXTS, **options)
    with pytest.raises(CheckpointError, match="precision"):
        train_on_population(stack, CONTEXTS, precision="float32", **options)


def test_what_single_precision_cannot_hold_is_refused():
    plain = FactoredStack.deterministic(2, 5, 3)
    stack = FactoredStack(plain.attentions * 1e20, plain.values * 1e20)
    assert np.isfinite(stack_gradient(stack, CONTEXTS).loss)
    with pytest.raises(ValueError, match="stack must have logits that are finite in precision 'float32'"):
        stack_gradient(stack, CONTEXTS, "float32")


@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0, 800.0, 1e150])
def test_softmax_of_any_logits(scale):
    """Against scipy's: exponentials of their own, whose arguments are zero, moderate, or beyond the range of floats."""
    rng, R, C, L = np.random.default_rng(3), 37, 5, 4
    z, fields = scale * rng.standard_normal((C, R)), rng.standard_normal((L, C))
    sites, weights, targets = rng.integers(L, size=R), rng.dirichlet(np.ones(R)), rng.dirichlet(np.ones(C), R)
    full = z.T + fields[sites]
    found, by_fields = np.empty((C, R)), np.zeros((L, C))
    arguments = (fields, sites, weights, targets, 0, found, by_fields)
    loss = softmax_residuals(z.copy(), *arguments, True)
    expected = weights[:, None] * (softmax(full, axis=1) - targets)
    np.testing.assert_allclose(found.T, expected, rtol=1e-14, atol=4e-16 * weights.max())
    np.testing.assert_allclose(by_fields, np.array([expected[sites == i].sum(axis=0) for i in range(L)]), atol=1e-15)
    top = full.max(axis=1)
    log_p = full - top[:, None] - np.log(np.exp(full - top[:, None]).sum(axis=1, keepdims=True))
    assert loss == pytest.approx(-np.sum(weights[:, None] * targets * log_p), rel=1e-13)
    bound = softmax_residuals(z.copy(), fields, sites, weights, targets, 0, found, np.zeros((L, C)), False)
    assert loss - 1e-12 * abs(loss) <= bound < np.inf


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("color", [0, 1, 2])
def test_a_logit_that_is_not_finite_makes_no_finite_loss(wrong, color):
    z, none, empty = np.zeros((3, 2)), np.zeros((0, 3)), np.empty((3, 2))
    z[color, 1] = wrong
    batch = (np.zeros(2, int), np.full(2, 0.5), np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]))
    for with_loss in (False, True):
        assert not np.isfinite(softmax_residuals(z.copy(), none, *batch, 0, empty, none, with_loss))


def test_training_that_diverges_names_its_step_where_several_are_made_at_once():
    stack, states = FactoredStack.deterministic(2, 5, 3, 1.5), np.random.default_rng(0).integers(3, size=(500, 5))
    for train in (
        lambda steps: train_on_population(stack, CONTEXTS, n_steps=steps, rate=1e4, record=[0]),
        lambda steps: train_on_sequences(
            stack, states, states[:9], n_steps=steps, rate=1e4, batch_size=20, record=[0], rng=np.random.default_rng(1)
        ),
    ):
        with pytest.raises(DivergenceError, match=r"diverged at step \d+: the loss is (nan|inf)") as failure:
            train(1000)
        step = int(str(failure.value).split("step ")[1].split(":")[0])
        # The same steps one after another, each as a training of its own that ends there.
        assert 0 < step < 20
        assert train(step - 1).iterations == step - 1


def gradients():
    """Gradients of many sites and colors, in both precisions, one after the other as single numbers."""
    return [loss_and_gradient(*drawn(3, 60, 20, 256), each)[1].flat for each in DOUBLE_AND_SINGLE]


def test_gradients_are_the_same_with_any_number_of_threads_of_the_library():
    """To rounding: some libraries add the last rows of the share of a thread in another order."""
    program = "import pickle, sys; from tests.nets.test_stack_passes import gradients; "
    program += "sys.stdout.buffer.write(pickle.dumps(gradients()))"
    threads = "4" if os.environ.get("OPENBLAS_NUM_THREADS") == "1" else "1"
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
    told = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True)
    for one, other, rounding in zip(gradients(), pickle.loads(told.stdout), (1e-15, 1e-6), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=rounding * abs(one).max())
