"""Training steps of factored stacks in JAX, to be timed beside those by hand.

The functions are compiled for one thread, in the precision that they are asked for.
"""

import os

import numpy as np


def _jax():
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")  # read when JAX starts
    import jax

    return jax


def loss(weights, inputs, sites, importance, targets):
    """Masked loss of one-hot inputs (R, L, C), whose rows at the hidden sites are zero.

    Of the orders of products that were tried it has the fastest: values before attentions, as two products of matrices,
    and in the last layer the row of the hidden site alone, of attentions before values.
    """
    import jax
    import jax.numpy as jnp

    A, V = weights
    X = inputs
    for layer in range(len(A) - 1):
        X = jnp.square(A[layer] @ (X @ V[layer].T))
    logits = jnp.einsum("rj,rjc->rc", A[-1][sites], X) @ V[-1].T
    return -jnp.sum(importance[:, None] * targets * jax.nn.log_softmax(logits))


def _ready(function, *arguments):
    return lambda: _jax().block_until_ready(function(*arguments))


def population_steps(stack, contexts, n_steps, rate, precision):
    """A function of no arguments that makes `n_steps` steps of gradient descent on all contexts."""
    jax = _jax()
    import jax.numpy as jnp

    def steps(weights, *data):
        def body(_, weights):
            _, gradient = jax.value_and_grad(loss)(weights, *data)
            return jax.tree.map(lambda w, g: w - rate * g, weights, gradient)

        return jax.lax.fori_loop(0, n_steps, body, weights)

    with jax.enable_x64(precision == "float64"):
        inputs = np.eye(contexts.n_colors)[contexts.states]
        inputs[np.arange(len(inputs)), contexts.sites] = 0.0
        weights = jnp.asarray(stack.attentions, dtype=precision), jnp.asarray(stack.values, dtype=precision)
        floats = (jnp.asarray(each, dtype=precision) for each in (inputs, contexts.weights, contexts.targets))
        inputs, importance, targets = floats
        data = weights, inputs, jnp.asarray(contexts.sites, dtype="int32"), importance, targets
        return _ready(jax.jit(steps).lower(*data).compile(), *data)


def epoch(stack, states, batch_size, rate, precision, rng):
    """A function of no arguments that goes once through the sequences `states` (M, L) in batches."""
    jax = _jax()
    import jax.numpy as jnp

    n_sites, n_colors = stack.n_sites, stack.n_colors
    n_steps = len(states) // batch_size

    def steps(weights, states, order, hidden):
        def body(k, weights):
            chosen, sites, rows = states[order[k]], hidden[k], jnp.arange(batch_size)
            inputs = jax.nn.one_hot(chosen, n_colors, dtype=precision)
            targets, even = inputs[rows, sites], jnp.full(batch_size, 1 / batch_size, dtype=precision)
            _, gradient = jax.value_and_grad(loss)(weights, inputs.at[rows, sites].set(0.0), sites, even, targets)
            return jax.tree.map(lambda w, g: w - rate * g, weights, gradient)

        return jax.lax.fori_loop(0, n_steps, body, weights)

    with jax.enable_x64(precision == "float64"):
        weights = jnp.asarray(stack.attentions, dtype=precision), jnp.asarray(stack.values, dtype=precision)
        order = rng.permutation(len(states))[: n_steps * batch_size].reshape(n_steps, batch_size)
        hidden = rng.integers(n_sites, size=order.shape)
        data = weights, *(jnp.asarray(each, dtype="int32") for each in (states, order, hidden))
        return _ready(jax.jit(steps).lower(*data).compile(), *data)
