"""Makes the rows of the spectrum: every eigenvalue with its rank, and the ranks that noise would have."""

import numpy as np

from figures.analyse.matrix.spectrum.record import MatrixSpectrum, MethodSpectrum, NoiseBulk
from figures.core import Row, row
from theory.core.arrays import Array

DATA, PERMUTED = "the data", "columns permuted"
NOISE, INDEPENDENT, LIMIT = "noise part", "independent columns", "limit of the noise part"
LINE_POINTS, LEAST_POINTS = 200, 12
LOG_AXIS_RATIO = 30.0
LOWEST_RANK = 0.5  # the axis begins there
VISIBLE = 1e-9  # zero eigenvalues of fewer rows than columns have no place on a logarithmic axis


def spectrum_rows(spectrum: MatrixSpectrum) -> list[Row]:
    """Return the rows of the table, with a panel for each method.

    x is the rank of an eigenvalue, its number from the largest on; the eigenvalue is measured, or predicted by a bulk.
    """
    return [entry for method in spectrum.methods for entry in _method_rows(method)]


def _method_rows(method: MethodSpectrum) -> list[Row]:
    count, panel, d = method.outliers, method.method, len(method.eigenvalues)
    limit = method.noise.high + method.noise.high_margin
    return [
        *_measured(DATA, panel, method.eigenvalues),
        *_measured(PERMUTED, panel, method.permuted),
        *_predicted(NOISE, panel, method.noise, count, d),
        *_predicted(INDEPENDENT, panel, method.independent, 0, d),
        *(row(LIMIT, rank, panel=panel, theory=limit) for rank in (LOWEST_RANK, d)),
    ]


def _measured(curve: str, panel: str, eigenvalues: Array) -> list[Row]:
    d = len(eigenvalues)
    return [row(curve, d - i, panel=panel, measured=x, d=d) for i, x in enumerate(eigenvalues)]


def _predicted(curve: str, panel: str, bulk: NoiseBulk, outliers: int, d: int) -> list[Row]:
    """Return the d - outliers eigenvalues of the bulk by their ranks, which come after the outliers."""
    law = bulk.law
    x = np.concatenate(
        [_grid(left, right, max(LEAST_POINTS, LINE_POINTS // len(law.edges))) for left, right in law.edges]
    )
    ranks = np.maximum(outliers + (d - outliers) * (1 - law.cumulative(x)), LOWEST_RANK)
    return [row(curve, rank, panel=panel, theory=one) for one, rank in zip(x[::-1], ranks[::-1], strict=True)]


def _grid(left: float, right: float, count: int) -> Array:
    """Return points that are dense at both ends, where ranks change fast.

    They are even in the logarithm where the ends are decades apart.
    """
    share = np.sin(np.linspace(0, np.pi / 2, count)) ** 2
    wide = left > 0 and right > LOG_AXIS_RATIO * left
    return left * (right / left) ** share if wide else left + (right - left) * share
