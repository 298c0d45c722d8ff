"""The array types that all packages share."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""A numpy array of double precision numbers; the docstring of each function gives its shape."""

ComplexArray = NDArray[np.complex128]
"""A numpy array of complex numbers of double precision."""
