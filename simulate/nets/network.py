"""The network of a vanilla encoder in JAX and Equinox; both are imported when a network is first built.

Nothing of JAX is imported, and none of its settings is changed, when this module is imported: the double precision of
JAX is switched on only within a training or a prediction that asks for it.
"""

from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from theory.models import VanillaEncoder

PACKAGES = ("jax", "equinox", "optax")


def missing_packages() -> str | None:
    """Say which packages of the extra `nets` are not installed, and how to get them; None where all are there."""
    absent = [name for name in PACKAGES if find_spec(name) is None]
    if not absent:
        return None
    names = " and ".join(filter(None, (", ".join(absent[:-1]), absent[-1])))
    return (
        f"an encoder needs {names}, which {'is' if len(absent) == 1 else 'are'} not installed: pip install -e '.[nets]'"
    )


def require_packages() -> None:
    """Raise ImportError, with the command that installs them, where packages of the extra `nets` are missing."""
    missing = missing_packages()
    if missing:
        raise ImportError(missing)


def build(settings: VanillaEncoder, seed: int) -> Any:
    """Make a network with random weights, which Equinox draws: uniform within one over the root of the inputs.

    Called with the tokens of all sites (L,), the number C at the masked one, and that site, it returns the logits (C,).
    """
    import jax

    return _network_class()(settings, jax.random.key(seed))


@lru_cache(maxsize=1)
def _network_class() -> Any:
    """Return the class of networks; it is made here, since its base class belongs to a package that may be missing."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    class Block(eqx.Module):  # type: ignore[misc]
        """One pre-norm block: attention and, unless it is left out, a perceptron, each added to the stream."""

        attention_norm: Any
        attention: Any
        perceptron_norm: Any
        perceptron: Any

        def __init__(self, settings: VanillaEncoder, key: Any) -> None:
            d, m = settings.width, settings.mlp_ratio
            keys = jax.random.split(key, 3)
            self.attention_norm = eqx.nn.LayerNorm(d)
            self.attention = eqx.nn.MultiheadAttention(settings.n_heads, d, key=keys[0])
            self.perceptron_norm = None if settings.attention_only else eqx.nn.LayerNorm(d)
            linear = eqx.nn.Linear(d, m * d, key=keys[1]), eqx.nn.Linear(m * d, d, key=keys[2])
            self.perceptron = None if settings.attention_only else linear

        def __call__(self, stream: Any, rows: Any) -> Any:
            """Return the given rows (R,) of the stream (L, d) after this block, (R, d)."""
            normed = jax.vmap(self.attention_norm)(stream)
            after = stream[rows] + self.attention(normed[rows], normed, normed)
            if self.perceptron is None:
                return after
            first, second = self.perceptron
            hidden = jax.nn.gelu(jax.vmap(first)(jax.vmap(self.perceptron_norm)(after)))
            return after + jax.vmap(second)(hidden)

    class Network(eqx.Module):  # type: ignore[misc]
        """Tokens and positions, blocks, and a linear read-out at the masked site."""

        tokens: Any
        positions: Any
        blocks: Any
        norm: Any
        readout: Any

        def __init__(self, settings: VanillaEncoder, key: Any) -> None:
            d = settings.width
            keys = jax.random.split(key, 3 + settings.n_layers)
            self.tokens = jax.random.normal(keys[0], (settings.n_colors + 1, d)) / jnp.sqrt(d)
            self.positions = jax.random.normal(keys[1], (settings.n_sites, d)) / jnp.sqrt(d)
            self.blocks = [Block(settings, each) for each in keys[3:]]
            self.norm = eqx.nn.LayerNorm(d) if settings.final_norm else None
            self.readout = eqx.nn.Linear(d, settings.n_colors, key=keys[2])

        def __call__(self, tokens: Any, site: Any) -> Any:
            """Return the logits (C,) of the masked `site`, whose token must be C; only its row leaves the blocks."""
            stream = self.tokens[tokens] + self.positions
            every = jnp.arange(len(stream))
            for block in self.blocks[:-1]:
                stream = block(stream, every)
            last = self.blocks[-1](stream, site[None])[0]
            return self.readout(last if self.norm is None else self.norm(last))

    return Network
