"""The largest eigenvalue of the sample covariance of spiked data, which limits the step of a descent on it."""

import numpy as np

from theory.models import SpikedData
from theory.random_matrix.bbp.emergence import emerged
from theory.random_matrix.bbp.spiked_bulk import SpikedBulk
from theory.random_matrix.bbp.spiked_noise import SpikedNoise


def largest_sample_eigenvalue(data: SpikedData, strength: float | None = None) -> float:
    """Compute the largest eigenvalue of X'X/n: the outlier of a spike of this strength, or the edge of the noise."""
    bulk = SpikedBulk(SpikedNoise(data.noise, None, data.alpha, "pca", None, data.row_law))
    found = emerged(bulk, np.array([strength])) if strength is not None else []
    return found[0].x if found else bulk.edge.nu
