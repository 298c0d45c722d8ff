"""Batches of states: their shape and their weights; `blocks` are those in which large ones are worked through."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.core import Array, checks
from theory.core.blocks import blocks

__all__ = ["States", "blocks", "checked_samples", "normalized_weights"]

States = NDArray[np.integer[Any]]
"""Colors of sites as integers; the last axis of a batch runs over the sites."""


def checked_samples(name: str, states: Any, n_colors: int, n_sites: int | None = None, *, least: int = 1) -> States:
    """Return `states` as integers of shape (samples, sites), with at least `least` samples; it does not copy them.

    ValueError names the argument `name` for another shape, another number of sites than `n_sites` (any if it is None),
    entries that are no integers, and colors that are not from 0 to n_colors - 1.
    """
    checked = checks.colors(name, states, n_colors, n_sites)
    if checked.ndim != 2 or len(checked) < least:
        enough = " with at least one sample" if least else ""
        raise ValueError(f"{name} must have shape (samples, sites){enough}, got {checked.shape}")
    return checked


def normalized_weights(weights: Any, n_samples: int) -> Array:
    """Return the weights of M = `n_samples` samples divided by their sum, (M,); 1/M each where `weights` is None.

    ValueError where there is not one for each sample, one is negative or not finite, or all are zero.
    """
    if weights is None:
        return np.full(n_samples, 1 / n_samples)
    checked = checks.finite_array("weights", weights, 1)
    if len(checked) != n_samples:
        raise ValueError(f"weights must have one number for each of {n_samples} samples of states, got {len(checked)}")
    if checked.min() < 0:
        raise ValueError(f"weights must be >= 0, got {checked.min()} at index {int(checked.argmin())}")
    if checked.max() == 0:
        raise ValueError("weights must not all be zero: no sample would count")
    # The largest weight becomes one first: the sum of weights near the largest float would overflow.
    scaled = checked / checked.max()
    return np.asarray(scaled / scaled.sum())
