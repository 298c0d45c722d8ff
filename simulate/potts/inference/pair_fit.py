"""Gives every fitted pair model the same attributes, whatever method fitted it."""

import numpy as np

from theory.core.arrays import Array
from theory.models import DensePottsModel


class PairFit:
    """Gives the parameters of a fitted `model` as arrays."""

    model: DensePottsModel

    @property
    def couplings(self) -> Array:
        """The couplings J (L, L, C, C), with J[i, j] = J[j, i].T."""
        return np.asarray(self.model.couplings)

    @property
    def fields(self) -> Array:
        """The fields h (L, C)."""
        return np.asarray(self.model.fields)
