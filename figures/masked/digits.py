"""Handwritten digits of the package scikit-learn, as a matrix of images by pixels."""

from importlib.util import find_spec

import numpy as np

from theory.models.arrays import Array


def varying_pixels() -> Array:
    """Gray levels 0 to 16 of 1797 images (rows) at the 61 pixels that are not blank in all of them (columns)."""
    from sklearn.datasets import load_digits

    pixels = np.asarray(load_digits()["data"], dtype=float)
    return pixels[:, pixels.std(axis=0) > 0]


def missing() -> str | None:
    """The reason why an experiment on the digits is skipped, or None."""
    return None if find_spec("sklearn") else "scikit-learn, which ships the digits, is not installed"
