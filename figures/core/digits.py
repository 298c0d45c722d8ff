"""Loads the handwritten digits of the package scikit-learn, which experiments of several subjects use as real data."""

import numpy as np

from figures.core.extras import missing_extra
from theory.core.arrays import Array


def varying_pixels() -> Array:
    """Load the gray levels, 0 to 16, of 1797 images (rows) at the 61 pixels that vary (columns); 3 never do."""
    from sklearn.datasets import load_digits

    pixels = np.asarray(load_digits()["data"], dtype=float)
    return pixels[:, pixels.std(axis=0) > 0]


def written_digits() -> Array:
    """Load the digit, 0 to 9, that each of the 1797 images shows, (1797,)."""
    from sklearn.datasets import load_digits

    return np.asarray(load_digits()["target"], dtype=float)


def missing() -> str | None:
    """Say why an experiment on the digits is skipped, or None where it can run."""
    return missing_extra("figures", "sklearn")
