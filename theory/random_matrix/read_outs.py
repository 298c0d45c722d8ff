"""How the direction of a spike is read off an eigenvector: which factor each coordinate is given before."""

from dataclasses import dataclass, field

import numpy as np

from theory.core import Array
from theory.models import ReadOut, SpikeMethod


@dataclass(frozen=True, eq=False)
class CoordinateParts:
    """What an eigenvector v of an outlier has on each coordinate, in data units, for a direction u.

    `signal` (c,) is the mean of d u_k v_k and `square` (c,) that of d v_k^2, up to one factor of v; `deviations` (c,)
    are the coordinates' standard deviations and `shares` (c,) the share of the coordinates that each row stands for.
    """

    signal: Array = field(repr=False)
    square: Array = field(repr=False)
    deviations: Array = field(repr=False)
    shares: Array = field(repr=False)

    def overlap(self, weights: Array) -> float:
        """Compute (u . w v)^2/|w v|^2 for diagonal weights w (c,), or (1,) for one of all coordinates."""
        size = float(self.shares @ (weights**2 * self.square))
        return float(self.shares @ (weights * self.signal)) ** 2 / size

    def weights(self, read_out: ReadOut, method: SpikeMethod) -> Array:
        """Return the weights (c,) of a read-out, of mean square 1.

        The best ones maximize (sum p w s)^2/sum p w^2 q for signals s, mean squares q and shares p: by the inequality
        of Cauchy and Schwarz w = s/q, where the overlap is sum p s^2/q. On a coordinate of its own with the signal s
        and noise of variance v they are w = s/(s^2 + v).
        """
        if read_out == "best_diagonal":
            found = self.signal / self.square * np.sign(self.shares @ self.signal)
        elif standardizes(read_out, method):
            found = 1 / self.deviations
        else:
            found = np.ones_like(self.signal)
        return np.asarray(found / np.sqrt(self.shares @ found**2))


def standardizes(read_out: ReadOut, method: SpikeMethod) -> bool:
    """Whether a read-out divides a direction in data units by the standard deviations: PCA of correlations does so."""
    return read_out == "standard_units" or (read_out == "reported" and method == "correlation_pca")
