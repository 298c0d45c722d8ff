"""Lays signals out at a finite size so that their entries follow a law, and their Gram matrix in each mode is exact."""

import numpy as np
from scipy.special import ndtri

from simulate.core.roots import symmetric_root
from simulate.glm.modes import apportion
from theory.core.arrays import Array
from theory.models.glm import BernoulliGauss, GeneralizedLinearModel, Modes

PLASTIC = 1.32471795724474602596  # the root of x^3 = x + 1, whose powers fill the square evenly


def lay_out(model: GeneralizedLinearModel, p: int) -> tuple[Array, Array]:
    """Return covariances (C, p) as diagonals and signals (A, p) whose entries follow the model's law of signals.

    Entries are evenly spread quantiles of the law in place of draws, so that the law itself adds no noise; inputs are
    drawn, and their coordinates within a mode are alike. Normal entries are scaled so that the Gram matrix is exact.
    ValueError where a mode has too few of the p dimensions.
    """
    modes, law = model.modes, model.signals
    assert isinstance(modes, Modes)  # the record requires them
    counts = apportion(modes.weights, p)
    signals = np.zeros((modes.n_signals, p))
    for start, count, m in zip(np.cumsum(counts) - counts, counts, range(len(counts)), strict=True):
        own = slice(start, start + count)
        if isinstance(law, np.ndarray):
            signals[:, own] = law[:, [m]]
        elif modes.n_signals and count and np.any(modes.gram[:, :, m]):
            signals[:, own] = _entries(law, p * modes.gram[:, :, m], int(count), p)
    return np.repeat(modes.covariances, counts, axis=1), signals


def _entries(law: object, gram: Array, count: int, p: int) -> Array:
    """Return signals (A, count) of a law whose Gram matrix is `gram`."""
    if law == "signs":
        return np.asarray(np.sqrt(gram[0, 0] / count) * np.where(np.arange(count) % 2 == 0, 1.0, -1.0)[None])
    some = max(round(law.share * count), 1) if isinstance(law, BernoulliGauss) else count
    if some < 2 * len(gram):
        raise ValueError(f"d is too small: {some} of p = d = {p} dimensions have {len(gram)} signals in a mode")
    z = _normal(len(gram), some)
    own = np.linalg.solve(np.linalg.cholesky(z @ z.T), z)
    return np.hstack([symmetric_root(*np.linalg.eigh(gram)) @ own, np.zeros((len(gram), count - some))])


def _normal(n_signals: int, count: int) -> Array:
    """Return evenly spread points of a normal law in as many dimensions as there are signals, (n_signals, count)."""
    places = np.arange(count)
    shares = [(places + 0.5) / count, *((0.5 + places / PLASTIC**k) % 1 for k in range(1, n_signals))]
    return np.asarray(ndtri(np.clip(shares, 1e-9, 1 - 1e-9)))
