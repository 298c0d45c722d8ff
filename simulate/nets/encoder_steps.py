"""Compiled functions of an encoder: steps of Adam, masked losses and logits, shared by all runs of equal settings.

Compilation takes seconds, often more than the steps of a small run. All data and the rate are therefore arguments, so
that runs on other data of the same shape, from other weights or at another rate use what was compiled before.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from simulate.nets.network import build
from theory.models import VanillaEncoder


@dataclass(frozen=True, eq=False)
class Compiled:
    """Functions of the arrays of a network, its `parameters`, for one architecture.

    `first_memory(parameters)` is that of Adam before its first step. `steps(parameters, memory, rate, data, drawn,
    first, count)` makes `count` steps and returns parameters, memory and the loss before the last step. Without `drawn`
    all of `data`, contexts as (states, sites, weights, targets), are the batch of every step; else `data` are states
    (M, L) alone, and step k hides the sites drawn[1][k] (B,) of the rows drawn[0][k] (B,), from k = `first` on.
    `loss(parameters, *contexts)` is a masked loss, `logits(parameters, tokens, sites)` are the logits (R, C).
    """

    first_memory: Callable[..., Any]
    steps: Callable[..., Any]
    loss: Callable[..., Any]
    logits: Callable[..., Any]


@lru_cache(maxsize=16)
def compiled(settings: VanillaEncoder) -> Compiled:
    """Return the functions for an architecture, which JAX compiles at their first call with data of a new shape."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp
    import optax

    static = eqx.partition(build(settings, 0), eqx.is_array)[1]
    C = settings.n_colors

    def loss(parameters: Any, states: Any, sites: Any, weights: Any, targets: Any) -> Any:
        tokens = states.at[jnp.arange(len(sites)), sites].set(C)
        logs = jax.nn.log_softmax(logits(parameters, tokens, sites))
        return -jnp.sum(weights[:, None] * targets * logs)

    def logits(parameters: Any, tokens: Any, sites: Any) -> Any:
        return jax.vmap(eqx.combine(parameters, static))(tokens, sites)

    def batch_of(data: Any, drawn: Any, k: Any) -> Any:
        if drawn is None:
            return data
        chosen, sites = data[0][drawn[0][k]], drawn[1][k]
        own = jnp.take_along_axis(chosen, sites[:, None], axis=1)[:, 0]
        return chosen, sites, jnp.full(len(sites), 1 / len(sites)), jnp.eye(C)[own]

    def first_memory(parameters: Any) -> Any:
        return optax.adam(0.0).init(parameters)

    def steps(parameters: Any, memory: Any, rate: Any, data: Any, drawn: Any, first: Any, count: Any) -> Any:
        def body(k: Any, carried: Any) -> Any:
            parameters, memory, _ = carried
            value, gradient = jax.value_and_grad(loss)(parameters, *batch_of(data, drawn, k))
            updates, memory = optax.adam(rate).update(gradient, memory, parameters)
            return optax.apply_updates(parameters, updates), memory, value

        return jax.lax.fori_loop(first, first + count, body, (parameters, memory, jnp.zeros(())))

    return Compiled(first_memory, jax.jit(steps), jax.jit(loss), jax.jit(logits))
