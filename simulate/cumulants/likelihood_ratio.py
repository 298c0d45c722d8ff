"""The likelihood ratio itself, averaged over all sign spikes of a small dimension, and its second moment."""

from functools import reduce
from typing import Literal

import numpy as np
from scipy.special import logsumexp

from simulate.core import Estimate
from simulate.cumulants.samples import draw_spike, require_memory, require_resolved, sample_null, sample_spiked
from theory.core import Array, Count, Several, checked
from theory.models import SpikedCumulant

MAX_DIMENSION = 16
CHUNK = 2**21  # numbers that are held at once for a block of data sets


@checked
def enumerated_norm(
    model: SpikedCumulant, n: Count, repeats: Several, rng: np.random.Generator, *,
    law: Literal["null", "spiked"] = "spiked",
) -> Estimate:  # fmt: skip
    """Measure ||L_n||^2 from `repeats` >= 2 data sets of `n` samples, each with L_n as a sum over all 2^d sign spikes.

    The mean of L_n^2 under H0 (`law` "null") equals that of L_n under H1 ("spiked"), whose tail is lighter. L_n is the
    mean over the spikes of the product of the ratios of the two densities of u.x. Both means are dominated by rare data
    sets where the norm is large, and the error bar then means nothing: keep n and d small.

    ValueError for the prior "sphere", which cannot be enumerated, for d above 16, and for a beta above 1e12.

    >>> print(enumerated_norm(SpikedCumulant(d=4, beta=1.0), 3, 20_000, np.random.default_rng(0)))
    1.00716(63)
    """
    if model.prior != "signs":
        raise ValueError(f"model must have the prior 'signs' to be enumerated, got {model.prior!r}")
    require_resolved(model)
    d = model.size
    if d > MAX_DIMENSION:
        raise ValueError(f"model must have d <= {MAX_DIMENSION} to be enumerated, got d = {d}")
    bits = (np.arange(2**d)[:, None] >> np.arange(d)) & 1
    spikes = np.asarray((1.0 - 2.0 * bits) / np.sqrt(d), dtype=float)
    if _is_symmetric(model):
        spikes = spikes[: len(spikes) // 2]  # those of the other half are their negatives, and have the same ratios
    require_memory("n", n, 2.0**d)
    require_memory("repeats", repeats, 1)
    block = max(1, CHUNK // (n * 2**d))
    values = [_ratios(model, spikes, n, min(block, repeats - start), rng, law) for start in range(0, repeats, block)]
    if not np.isfinite(found := np.concatenate(values)).all():
        raise ValueError(f"n must be so small that likelihood ratios are floating-point numbers, got {n}")
    return Estimate.of(found)


def _ratios(
    model: SpikedCumulant, spikes: Array, n: int, blocks: int, rng: np.random.Generator, law: Literal["null", "spiked"]
) -> Array:
    """Return L_n^2 of data sets drawn under H0, or L_n of those under H1, (blocks,)."""
    if law == "null":
        x = sample_null(model, blocks * n, rng)
    else:
        # All spikes are alike under a flip of coordinates; one that is drawn once in a block leaves L_n exact.
        x = sample_spiked(model, draw_spike(model, rng), blocks * n, rng)
    y = x @ spikes.T
    terms = (
        np.log(p) - (y - np.sqrt(model.latent_share) * g) ** 2 / (2 * model.noise_share)
        for g, p in zip(model.latent.atoms, model.latent.probabilities, strict=True)
    )
    logs = reduce(np.logaddexp, terms)
    logs += y**2 / 2 - 0.5 * np.log(model.noise_share)
    log_ratio = logsumexp(logs.reshape(blocks, n, -1).sum(axis=1), axis=1) - np.log(len(spikes))
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(log_ratio if law == "spiked" else 2 * log_ratio))


def _is_symmetric(model: SpikedCumulant) -> bool:
    """Say whether the law of the latent variable is the same for both signs, to the last bit."""
    law = dict(zip(model.latent.atoms, model.latent.probabilities, strict=True))
    return all(law.get(-g) == p for g, p in law.items())
