"""The rows of the spectrum: every eigenvalue with its rank, and the ranks that noise would have."""

import numpy as np

from figures.core import Row, row
from figures.masked.analysis.contrasts import Array
from figures.masked.analysis.spectrum import MatrixSpectrum, MethodSpectrum, NoiseBulk

DATA, PERMUTED = "the data", "columns permuted"
NOISE, INDEPENDENT, LIMIT = "noise part", "independent columns", "limit of the noise part"
LINE_POINTS = 200
LOWEST_RANK = 0.5  # where the axis begins
VISIBLE = 1e-9  # zero eigenvalues of fewer rows than columns have no place on a logarithmic axis


def spectrum_rows(spectrum: MatrixSpectrum) -> list[Row]:
    """Panels are the methods; x is an eigenvalue, `theory` the number of eigenvalues from the largest down to it."""
    return [entry for method in spectrum.methods for entry in _method_rows(method)]


def _method_rows(method: MethodSpectrum) -> list[Row]:
    count, panel, d = method.outliers, method.method, len(method.eigenvalues)
    limit = method.noise.high + method.noise.high_margin
    return [
        *_measured(DATA, panel, method.eigenvalues),
        *_measured(PERMUTED, panel, method.permuted),
        *_predicted(NOISE, panel, method.noise, count, d),
        *_predicted(INDEPENDENT, panel, method.independent, 0, d),
        *(row(LIMIT, limit, panel=panel, theory=rank) for rank in (LOWEST_RANK, d)),
    ]


def _measured(curve: str, panel: str, eigenvalues: Array) -> list[Row]:
    d = len(eigenvalues)
    return [row(curve, x, panel=panel, theory=d - i, d=d) for i, x in enumerate(eigenvalues)]


def _predicted(curve: str, panel: str, bulk: NoiseBulk, outliers: int, d: int) -> list[Row]:
    """Ranks of the d - outliers eigenvalues of the bulk, behind the outliers."""
    shares = np.unique(np.concatenate([np.linspace(0, 1, LINE_POINTS), 1 - np.geomspace(0.01 / d, 1, LINE_POINTS)]))
    x = bulk.law.quantiles(shares)
    ranks = np.maximum(outliers + (d - outliers) * (1 - shares), LOWEST_RANK)
    return [row(curve, one, panel=panel, theory=rank) for one, rank in zip(x, ranks, strict=True)]
