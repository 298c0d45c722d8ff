"""The variable in which a law is given: eigenvalues nu of S themselves, or a = 1 - 1/nu of the joint predictor."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from theory.models.arrays import Array
from theory.random_matrix.spectral.ensemble import ComplexArray, Mask


class Variable(Protocol):
    """An increasing x(nu) on nu >= 0."""

    def forward(self, nu: Array) -> Array:
        """x at nu."""

    def inverse(self, x: Array) -> Array:
        """nu at x."""

    def reached(self, x: Array) -> Mask:
        """Whether x is x(nu) for some finite nu >= 0."""

    def slope(self, nu: Array) -> Array:
        """dnu/dx."""

    def stieltjes(self, z: ComplexArray, of_nu: Callable[[ComplexArray], ComplexArray]) -> ComplexArray:
        """<1/(x - z)> at Im z >= 0 from <1/(nu - w)> at Im w >= 0."""


class Eigenvalue:
    """x = nu."""

    def forward(self, nu: Array) -> Array:
        return nu

    def inverse(self, x: Array) -> Array:
        return x

    def reached(self, x: Array) -> Mask:
        return np.ones(np.shape(x), bool)

    def slope(self, nu: Array) -> Array:
        return np.ones(np.shape(nu))

    def stieltjes(self, z: ComplexArray, of_nu: Callable[[ComplexArray], ComplexArray]) -> ComplexArray:
        return of_nu(z)


class Predictor:
    """a = 1 - 1/nu, below 1."""

    def forward(self, nu: Array) -> Array:
        return 1 - 1 / nu

    def inverse(self, x: Array) -> Array:
        return 1 / np.where(x < 1, 1 - x, np.nan)

    def reached(self, x: Array) -> Mask:
        return np.asarray(x < 1)

    def slope(self, nu: Array) -> Array:
        return nu * nu

    def stieltjes(self, z: ComplexArray, of_nu: Callable[[ComplexArray], ComplexArray]) -> ComplexArray:
        """1/(a - z) = w (1 + w/(nu - w)) with w = 1/(1 - z); ValueError at z = 1 itself."""
        if np.any(z == 1):
            raise ValueError("z = 1 is the point a = 1 that nu -> infinity maps to")
        w = 1 / (1 - z)
        return w * (1 + w * of_nu(w))
