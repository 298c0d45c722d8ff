"""The array type that all packages share."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""A numpy array of double precision numbers; the docstring of each function gives its shape."""
