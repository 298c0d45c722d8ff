"""One record of every covariance family, for the tests that go through all of them."""

import math

import numpy as np
from scipy.sparse import diags_array

from theory.models import (
    AR1,
    Blocks,
    Diagonal,
    DiagonalPlusLowRank,
    Empirical,
    Equicorrelated,
    GaussianFreeField,
    GivenSpectrum,
    GOEPrecision,
    Isotropic,
    PowerLaw,
    Scaled,
    SparsePrecision,
    SpectralDensity,
    Spiked,
    Toeplitz,
    TridiagonalPrecision,
    TwoLevel,
    Wishart,
)

D = 36  # a square, and a multiple of 4
_rng = np.random.default_rng(0)
_direction = _rng.standard_normal(D)
_scales = _rng.uniform(0.5, 2, D)


def symbol(angle):
    return 1.5 + np.cos(angle)


def triangle(s):
    return s / 4.0


REGULAR = {
    "isotropic": Isotropic(D, 2.0),
    "diagonal": Diagonal(_scales),
    "two level": TwoLevel(D),
    "AR1": AR1(D, 0.7),
    "AR1 alternating": AR1(D, -0.7),
    "Toeplitz": Toeplitz(D, symbol),
    "tridiagonal precision": TridiagonalPrecision(D, 2.0, 0.7),
    "GOE precision": GOEPrecision(D),
    "equicorrelated": Equicorrelated(D, 0.4),
    "blocks": Blocks(D, 4, 0.5),
    "power law": PowerLaw(D, 1.2),
    "rotated power law": PowerLaw(D, 1.2, rotation=3),
    "free field": GaussianFreeField(D, 0.5),
    "free field 2D": GaussianFreeField(D, 0.5, 2),
    "Wishart": Wishart(D, 2.0),
    "given spectrum": GivenSpectrum([0.5, 1.0, 3.0], [0.25, 0.5, 0.25], D),
    "spectral density": SpectralDensity(triangle, 1.0, 3.0, d=D),
    "spiked": Spiked(AR1(D, 0.3), _direction / np.linalg.norm(_direction), 2.0),
    "scaled": Scaled(AR1(D, 0.3), _scales),
    "sparse precision": SparsePrecision(
        diags_array([0.3, -0.6, 2.0, -0.6, 0.3], offsets=[-2, -1, 0, 1, 2], shape=(D, D))
    ),
    "diagonal plus low rank": DiagonalPlusLowRank(_scales, np.column_stack([_direction, _scales])),
    "empirical": Empirical.from_data(_rng.standard_normal((50, D))),
}
SINGULAR = {
    "singular Wishart": Wishart(D, 0.5),
    "fewer samples than features": Empirical.from_data(_rng.standard_normal((20, D))),
}
FINITE = REGULAR | SINGULAR
LIMITS = {
    "isotropic": Isotropic(math.inf, 2.0),
    "two level": TwoLevel(math.inf),
    "AR1": AR1(math.inf, 0.7),
    "AR1 alternating": AR1(math.inf, -0.7),
    "Toeplitz": Toeplitz(math.inf, symbol),
    "tridiagonal precision": TridiagonalPrecision(math.inf, 2.0, 0.7),
    "GOE precision": GOEPrecision(math.inf),
    "equicorrelated": Equicorrelated(math.inf, 0.4),
    "blocks": Blocks(math.inf, 4, 0.5),
    "power law": PowerLaw(math.inf, 0.6),
    "rotated power law": PowerLaw(math.inf, 0.6, rotation=3),
    "free field": GaussianFreeField(math.inf, 0.5),
    "free field 2D": GaussianFreeField(math.inf, 0.5, 2),
    "Wishart": Wishart(math.inf, 2.0),
    "given spectrum": GivenSpectrum([0.5, 1.0, 3.0], [0.25, 0.5, 0.25]),
    "spectral density": SpectralDensity(triangle, 1.0, 3.0),
    "singular Wishart": Wishart(math.inf, 0.5),
}
HOMOGENEOUS = {name: limit for name, limit in LIMITS.items() if name not in ("two level", "power law")}
