"""The variable in which a law is given: eigenvalues nu of S themselves, or a = 1 - 1/nu of the joint predictor."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from theory.core.arrays import Array, ComplexArray
from theory.random_matrix.spectral.ensemble import Mask


class Variable(Protocol):
    """An increasing function x(nu) of the eigenvalues nu >= 0 of S, in which a law is stated."""

    def forward(self, nu: Array) -> Array:
        """Return x at nu."""

    def inverse(self, x: Array) -> Array:
        """Return nu at x."""

    def reached(self, x: Array) -> Mask:
        """Tell whether x is x(nu) for some finite nu >= 0."""

    def slope(self, nu: Array) -> Array:
        """Return dnu/dx at nu."""

    def stieltjes(self, z: ComplexArray, of_nu: Callable[[ComplexArray], ComplexArray]) -> ComplexArray:
        """Return <1/(x - z)> at Im z >= 0 from <1/(nu - w)> at Im w >= 0, where <> averages over the law."""


class Eigenvalue:
    """The eigenvalue itself: x = nu."""

    def forward(self, nu: Array) -> Array:
        """Return x at nu."""
        return nu

    def inverse(self, x: Array) -> Array:
        """Return nu at x."""
        return x

    def reached(self, x: Array) -> Mask:
        """Tell whether x is x(nu) for some finite nu >= 0."""
        return np.ones(np.shape(x), bool)

    def slope(self, nu: Array) -> Array:
        """Return dnu/dx at nu."""
        return np.ones(np.shape(nu))

    def stieltjes(self, z: ComplexArray, of_nu: Callable[[ComplexArray], ComplexArray]) -> ComplexArray:
        """Return <1/(x - z)> at Im z >= 0 from <1/(nu - w)> at Im w >= 0."""
        return of_nu(z)


class Predictor:
    """The eigenvalue a = 1 - 1/nu of the joint predictor, which is below 1."""

    def forward(self, nu: Array) -> Array:
        """Return x at nu."""
        return 1 - 1 / nu

    def inverse(self, x: Array) -> Array:
        """Return nu at x."""
        return 1 / np.where(x < 1, 1 - x, np.nan)

    def reached(self, x: Array) -> Mask:
        """Tell whether x is x(nu) for some finite nu >= 0."""
        return np.asarray(x < 1)

    def slope(self, nu: Array) -> Array:
        """Return dnu/dx at nu."""
        return nu * nu

    def stieltjes(self, z: ComplexArray, of_nu: Callable[[ComplexArray], ComplexArray]) -> ComplexArray:
        """Return <1/(a - z)>, since 1/(a - z) = w (1 + w/(nu - w)) with w = 1/(1 - z); ValueError at z = 1 itself."""
        if np.any(z == 1):
            raise ValueError("z = 1 is the point a = 1 that nu -> infinity maps to")
        w = 1 / (1 - z)
        return w * (1 + w * of_nu(w))
