"""Samples of the spiked cumulant model, under both hypotheses."""

import os

import numpy as np
from numpy.typing import ArrayLike

from theory.core import Array, Count, checked, checks
from theory.models import SpikedCumulant

LARGEST_BETA = 1e12  # of densities along the spike: the width 1e-6 is still far above rounding
TOLERANCE = 1e-8  # by which the norm of a spike may differ from one


@checked
def draw_spike(model: SpikedCumulant, rng: np.random.Generator) -> Array:
    """Draw the unit vector u, (d,), from the prior of the model: random signs over sqrt(d), or uniform directions.

    >>> draw_spike(SpikedCumulant(d=4, beta=1.0), np.random.default_rng(0))
    array([ 0.5,  0.5,  0.5, -0.5])
    """
    require_memory("model", 1, model.size)
    return np.asarray(draw_spikes(model, 1, rng)[0])


@checked
def sample_null(model: SpikedCumulant, n: Count, rng: np.random.Generator) -> Array:
    """Draw `n` samples under H0, (n, d): standard Gaussian vectors. ValueError where they exceed the memory."""
    require_memory("n", n, model.size)
    return rng.standard_normal((n, model.size))


@checked
def sample_spiked(model: SpikedCumulant, spike: ArrayLike, n: Count, rng: np.random.Generator) -> Array:
    """Draw `n` samples under H1 with the unit vector `spike` u (d,), as x = z + u (y - u.z), (n, d).

    z is a standard Gaussian vector and y = sqrt(r) g + sqrt(1 - r) z0. ValueError for a spike of another shape or norm,
    and for samples that exceed the memory.

    >>> model, rng = SpikedCumulant(d=3, beta=1e6), np.random.default_rng(0)
    >>> u = draw_spike(model, rng)
    >>> (sample_spiked(model, u, 4, rng) @ u).round(1)  # nearly the signs g
    array([ 1., -1.,  1.,  1.])
    """
    u = unit_vector(spike, model.size)
    require_memory("n", n, model.size)
    return np.asarray(spiked_data_sets(model, u[None], n, rng)[0])


def unit_vector(spike: ArrayLike, d: int) -> Array:
    """Return a spike as an array (d,); ValueError unless its norm is one."""
    u = checks.finite_array("spike", spike, 1)
    with np.errstate(over="ignore"):
        is_unit = u.shape == (d,) and abs(u @ u - 1) <= TOLERANCE
    if not is_unit:
        raise ValueError(f"spike must be a unit vector of shape ({d},), got {checks.shown(spike)}")
    return u


def draw_spikes(model: SpikedCumulant, count: int, rng: np.random.Generator) -> Array:
    """Draw `count` independent spikes, (count, d)."""
    d = model.size
    if model.prior == "signs":
        return np.asarray((2.0 * rng.integers(2, size=(count, d)) - 1) / np.sqrt(d))
    directions = rng.standard_normal((count, d))
    return np.asarray(directions / np.linalg.norm(directions, axis=1, keepdims=True))


def spiked_data_sets(model: SpikedCumulant, spikes: Array, n: int, rng: np.random.Generator) -> Array:
    """Draw a data set of `n` samples under H1 for each of the `spikes` (B, d), (B, n, d)."""
    B, d = spikes.shape
    x = rng.standard_normal((B, n, d))
    g = rng.choice(np.array(model.latent.atoms), size=(B, n), p=np.array(model.latent.probabilities))
    y = np.sqrt(model.latent_share) * g
    y += np.sqrt(model.noise_share) * rng.standard_normal((B, n))
    y -= (x @ spikes[:, :, None])[:, :, 0]
    x += y[:, :, None] * spikes[:, None, :]
    return x


def require_resolved(model: SpikedCumulant) -> None:
    """Raise ValueError where the Gaussians along the spike are so narrow that rounding in u.x matters."""
    if model.beta > LARGEST_BETA:
        raise ValueError(f"model must have beta <= {LARGEST_BETA:g} for densities along the spike, got {model.beta:g}")


def require_memory(name: str, n: float, d: float, copies: float = 3.0) -> None:
    """Raise ValueError that names the argument `name` if `copies` arrays (n, d) of doubles exceed the memory."""
    needed, present = 8 * copies * n * d, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > present:
        sizes = f"{needed / 1e9:.3g} GB, this machine has {present / 1e9:.3g} GB"
        raise ValueError(f"{name} must be smaller: {n:.6g} samples of dimension {d:.6g} need {sizes}")
