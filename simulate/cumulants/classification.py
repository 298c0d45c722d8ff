"""Classification of single samples: by trained networks, by random features, and by a test that knows the spike."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from simulate.cumulants.network import ReluNetwork, train_network
from simulate.cumulants.random_features import RIDGES, fit_random_features
from simulate.cumulants.samples import draw_spike, require_memory, require_resolved, sample_null, sample_spiked
from theory.core import Array, AtLeast, Count, checked
from theory.models import SpikedCumulant

TEST_SAMPLES = 10_000  # test samples of each class, so that the accuracy of one run has an error below 0.0036


@checked
def labeled_samples(model: SpikedCumulant, spike: Array, n: Count, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw `n` samples of each hypothesis with one `spike` (d,): X (2n, d), and y (2n,), 1 for H1 and -1 for H0."""
    require_memory("n", 2 * n, model.size)
    X = np.concatenate([sample_spiked(model, spike, n, rng), sample_null(model, n, rng)])
    return X, np.repeat([1.0, -1.0], n)


@checked
def network_accuracy(
    model: SpikedCumulant,
    n: int,
    rng: np.random.Generator,
    *,
    width: int | None = None,
    n_steps: int = 6000,
    rate: float = 2e-3,
    batch_size: int = 256,
) -> float:
    """Measure the test accuracy of a two-layer ReLU network trained on `n` samples of each class: one replicate.

    A spike is drawn, all weights of `width` units (by default 5 d) are trained by Adam (see `train_network`), and
    10 000 new samples of each class are classified. There is no theory for it beyond the bound of the oracle.
    """
    u = draw_spike(model, rng)
    m = 5 * model.size if width is None else width
    X, y = labeled_samples(model, u, n, rng)
    start = ReluNetwork.random(m, model.size, rng)
    network = train_network(start, X, y, n_steps=n_steps, rng=rng, rate=rate, batch_size=batch_size)
    return network.accuracy(*labeled_samples(model, u, TEST_SAMPLES, rng))


@checked
def random_features_accuracy(
    model: SpikedCumulant,
    n: Annotated[int, AtLeast(3)],
    rng: np.random.Generator,
    *,
    width: int | None = None,
    ridges: Sequence[float] = RIDGES,
) -> float:
    """Measure the test accuracy of `width` random ReLU features (by default 5 d) fitted by ridge: one replicate.

    It does so as `network_accuracy` does for a network; the readout is fitted by `fit_random_features`, which needs n
    of at least 3, with the best of the `ridges`.
    """
    u = draw_spike(model, rng)
    m = 5 * model.size if width is None else width
    X, y = labeled_samples(model, u, n, rng)
    return fit_random_features(X, y, m, rng, ridges=ridges).accuracy(*labeled_samples(model, u, TEST_SAMPLES, rng))


@checked
def known_spike_accuracy(model: SpikedCumulant, n: int, rng: np.random.Generator) -> float:
    """Measure how often the likelihood ratio of u.x with the true spike u tells `n` samples of each class right.

    ValueError for a beta above 1e12.
    """
    require_resolved(model)
    u = draw_spike(model, rng)
    X, y = labeled_samples(model, u, n, rng)
    along = X @ u
    spiked = np.zeros_like(along)
    for g, p in zip(model.latent.atoms, model.latent.probabilities, strict=True):
        away = along - np.sqrt(model.latent_share) * g
        spiked += p * np.exp(-(away**2) / (2 * model.noise_share)) / np.sqrt(model.noise_share)
    return float(np.mean((spiked > np.exp(-(along**2) / 2)) == (y > 0)))
