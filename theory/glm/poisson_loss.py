"""The loss exp(h) - y h of counts y, the negative log-likelihood of the rate exp(h) but for log y!."""

from dataclasses import dataclass, field

import numpy as np
from scipy.special import wrightomega

from theory.core.arrays import Array


@dataclass(frozen=True)
class PoissonLoss:
    """The loss exp(t) - y t of the field t = h, for one count y or for counts (values, 1), one row for each."""

    counts: Array = field(default_factory=lambda: np.zeros(1))
    name: str = "poisson"

    def value(self, t: Array) -> Array:
        """Return exp(t) - y t."""
        return np.asarray(np.exp(t) - self.counts * t)

    def prox(self, t: Array, V: float) -> Array:
        """Return the root x of x = t + V (y - exp(x)).

        With u = t + V y and Wright's omega, w + log w = u + log V at w = V exp(x). Hence x = u - w, or log w - log V,
        which has no cancellation where w is large.
        """
        u = t + V * self.counts
        w = wrightomega(u + np.log(V))
        with np.errstate(divide="ignore"):
            return np.asarray(np.where(w > 1, np.log(w) - np.log(V), u - w))

    def force(self, _t: Array, prox: Array, _V: float) -> Array:
        """Return -l'(prox) = y - exp(prox), which has no cancellation but that of the counts."""
        return np.asarray(self.counts - np.exp(prox))

    def slope(self, _t: Array, prox: Array, V: float) -> Array:
        """Return the derivative of the force by t."""
        rate = np.exp(prox)
        return np.asarray(-rate / (1 + V * rate))

    def breakpoints(self, V: float) -> list[tuple[float, float]]:
        """Return where the prox bends, between its slopes 1 and 0: around exp(x) = 1/V, with branch points at pi."""
        return [(float(1 - np.log(V) - V * y), np.pi) for y in np.unique(self.counts)[:1]]
