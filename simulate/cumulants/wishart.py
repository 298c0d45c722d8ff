"""Samples of the spiked Wishart model, and the likelihood ratio itself, averaged over all sign spikes."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from simulate.core import Estimate
from simulate.cumulants.likelihood_ratio import CHUNK, MAX_DIMENSION
from simulate.cumulants.samples import require_memory, unit_vector
from theory.core import Array, Count, Several, checked
from theory.models import SpikedWishart


@checked
def sample_wishart(model: SpikedWishart, spike: ArrayLike, n: Count, rng: np.random.Generator) -> Array:
    """Draws `n` samples under H1 with the unit vector `spike` u (d,), as x = z + sqrt(beta) g u, (n, d).

    ValueError for a spike of another shape or norm, and for samples that exceed the memory.

    >>> x = sample_wishart(SpikedWishart(d=2, beta=99.0), [0.6, 0.8], 10_000, np.random.default_rng(0))
    >>> abs(np.mean((x @ [0.6, 0.8]) ** 2) - 100) < 5
    np.True_
    """
    u = unit_vector(spike, model.size)
    require_memory("n", n, model.size)
    x = rng.standard_normal((n, model.size))
    x += np.sqrt(model.beta) * rng.standard_normal((n, 1)) * u
    return x


@checked
def enumerated_wishart_norm(model: SpikedWishart, n: Count, repeats: Several, rng: np.random.Generator) -> Estimate:
    """Measures ||L_n||^2, the mean under H1 of L_n, from `repeats` data sets of `n` samples.

    L_n is the mean over all 2^d sign spikes of the product of the ratios of two Gaussian densities. The mean is finite
    for beta < 1, and dominated by rare data sets where it is large: keep beta, n and d small. ValueError for the prior
    "sphere", for d above 16, for a beta of one or more, and for ratios that are no floating-point numbers.

    >>> print(enumerated_wishart_norm(SpikedWishart(d=4, beta=0.3), 4, 20_000, np.random.default_rng(0)))
    1.0502(19)
    """
    if model.prior != "signs":
        raise ValueError(f"model must have the prior 'signs' to be enumerated, got {model.prior!r}")
    d = model.size
    if d > MAX_DIMENSION or model.beta >= 1:
        raise ValueError(f"model must have d <= {MAX_DIMENSION} and beta < 1, got d = {d}, beta = {model.beta:g}")
    require_memory("n", n, 2.0**d)
    require_memory("repeats", repeats, 1)
    # A spike and its negative have the same ratio, so that the first sign may be +.
    bits = (np.arange(2 ** (d - 1))[:, None] >> np.arange(d)) & 1
    spikes = (1.0 - 2.0 * bits) / np.sqrt(d)
    block = max(1, CHUNK // (n * len(spikes)))
    values = []
    for start in range(0, repeats, block):
        count = min(block, repeats - start)
        # All spikes are alike under a flip of coordinates; one for all data sets leaves the mean exact.
        x = sample_wishart(model, spikes[0], count * n, rng)
        along = ((x @ spikes.T) ** 2).reshape(count, n, -1).sum(axis=1)
        logs = model.beta / (1 + model.beta) / 2 * along - n / 2 * np.log1p(model.beta)
        values.append(logsumexp(logs, axis=1) - np.log(len(spikes)))
    with np.errstate(over="ignore"):
        found = np.exp(np.concatenate(values))
    if not np.isfinite(found).all():
        raise ValueError(f"n must be so small that likelihood ratios are floating-point numbers, got {n}")
    return Estimate.of(found)
