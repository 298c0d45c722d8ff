"""Eigenvalues of the fitted masked predictor beside those of PCA, against what noise would have.

Every matrix is D^1/2 M D^1/2 with D measured on the data: masked regression has D = diag (C + lam)^-1, the correlation
matrix 1/diag C. With the noise part diag(s) of the covariance the bulk follows from s, D and the number of rows.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from figures.analyse.matrix.admissible import admitted
from figures.analyse.matrix.centered_rows import CenteredRows, ridge_of_contrasts
from figures.analyse.matrix.spectrum.law_refusals import without_law
from figures.analyse.matrix.spectrum.noise_part import TRACY_WIDOM, noise_part
from figures.analyse.matrix.spectrum.record import (
    CORRELATION,
    COVARIANCE,
    MASKED,
    MatrixSpectrum,
    MethodSpectrum,
    NoiseBulk,
)
from simulate.masked import RowBlocks, fit
from simulate.masked.moments import mirrored
from theory.core.arrays import Array
from theory.models import Diagonal, Isotropic, MaskedRidge
from theory.numerics import ConvergenceError
from theory.random_matrix import SpectralLaw, covariance_law, predictor_law
from theory.random_matrix.spectral.build import law_of
from theory.random_matrix.spectral.ensemble import CommutingEnsemble
from theory.random_matrix.spectral.law_variable import Predictor

LEAST_ROWS, LEAST_COLUMNS, MOST_COLUMNS = 10, 5, 1500
TOP_SHARE = 0.02  # the share of one eigenvalue, within which a square-root edge is seen
NEAREST, GRID = 1e-7, 400  # distances from an edge, in units of the bulk


def matrix_spectrum(X: Any, names: Sequence[str], lam: float, seed: int = 0) -> MatrixSpectrum | str:
    """Compare the spectra of the rows of X (n, d) about their mean with those of noise, at the ridge `lam`.

    `lam` is meant for n centered rows. A string that says why is returned where there is no spectrum. The comparison
    assumes rows that are independent and close to Gaussian, and columns that share a few directions and are otherwise
    independent. Correlations that are spread over many directions count as outliers, all of them.
    """
    rows = admitted(X, names)
    n, d = rows.n, rows.d
    for what, value, least in (("rows", n, LEAST_ROWS), ("columns", d, LEAST_COLUMNS)):
        if value < least:
            return f"There is no spectrum: {value} {what} are too few to tell where noise ends, {least} are needed."
    if d > MOST_COLUMNS:
        return f"There is no spectrum: it would take minutes for {d} columns; choose at most {MOST_COLUMNS} of them."
    try:
        return _spectrum(rows, lam, seed)
    except (ConvergenceError, np.linalg.LinAlgError):
        return without_law(rows)


def _spectrum(X: CenteredRows, lam: float, seed: int) -> MatrixSpectrum:
    rows, ridge = X.contrasts(), float(ridge_of_contrasts(lam, X.n))
    covariance = _covariance(rows)
    noise = noise_part(covariance, rows.n)
    matrices, destroyed = _matrices(rows, ridge), _matrices(X.permuted(seed), ridge)
    scales = {method: scale for method, (_, scale) in matrices.items()}
    laws = _noise_laws(noise.variances, scales, rows.n, ridge)
    independent = _independent_laws(np.diagonal(covariance), rows.n, ridge)
    methods = []
    for method, (matrix, scale) in matrices.items():
        eigenvalues, vectors = np.linalg.eigh(matrix)
        directions = vectors / np.sqrt(scale)[:, None]
        methods.append(
            MethodSpectrum(
                method=method,
                eigenvalues=eigenvalues,
                directions=directions / np.linalg.norm(directions, axis=0),
                permuted=np.asarray(np.linalg.eigvalsh(destroyed[method][0]), float),
                noise=noise_bulk(laws[method], X.d),
                independent=noise_bulk(independent[method], X.d),
                scale=scale,
            )
        )
    return MatrixSpectrum(X.names, X.n, lam, noise, tuple(methods))


def _covariance(rows: RowBlocks) -> Array:
    """Return the second moments (d, d) of the rows."""
    if rows.in_memory is not None or rows.n < rows.d:
        whole = rows.all_rows()
        return np.asarray(whole.T @ whole / rows.n)
    return mirrored(rows.second_moments())


def _matrices(rows: RowBlocks, ridge: float) -> dict[str, tuple[Array, Array]]:
    """Return the symmetric matrix of each method, and a scale D.

    D^-1/2 takes the eigenvectors of that matrix to the right eigenvectors of the method.
    """
    fitted = fit(rows, ridge)
    scale = fitted.shrinkage / ridge
    root = np.sqrt(scale)
    predictor = root[:, None] * fitted.predictor / root
    covariance = _covariance(rows)
    inverse = 1 / np.diagonal(covariance)
    correlation = np.sqrt(inverse)[:, None] * covariance * np.sqrt(inverse)
    return {
        MASKED: ((predictor + predictor.T) / 2, scale),
        COVARIANCE: (covariance, np.ones(len(scale))),
        CORRELATION: (correlation, inverse),
    }


def _noise_laws(variances: Array, scales: dict[str, Array], n: int, ridge: float) -> dict[str, SpectralLaw]:
    """Return the spectral law of the noise part for each method, in the scales D that the data have."""
    d = len(variances)
    scale = scales[MASKED]
    ensemble = CommutingEnsemble(n / d, variances * scale, ridge * scale, np.full(d, 1 / d))
    return {
        MASKED: law_of(ensemble, Predictor()),
        COVARIANCE: covariance_law(Diagonal(variances), n / d),
        CORRELATION: covariance_law(Diagonal(variances * scales[CORRELATION]), n / d),
    }


def _independent_laws(variances: Array, n: int, ridge: float) -> dict[str, SpectralLaw]:
    """Return the spectral law of independent columns for each method, with all the variance of the columns."""
    d = len(variances)
    return {
        MASKED: predictor_law(MaskedRidge(Diagonal(variances), n / d, ridge)),
        COVARIANCE: covariance_law(Diagonal(variances), n / d),
        CORRELATION: covariance_law(Isotropic(d), n / d),
    }


def noise_bulk(law: SpectralLaw, d: int) -> NoiseBulk:
    """Edges and margins for d eigenvalues.

    A density (A/pi) sqrt(distance) has its extreme eigenvalue at the edge plus (A d)^(-2/3) times a Tracy-Widom number;
    A follows from the distance within which the law has a small share of one eigenvalue.
    """
    low, high = float(law.edges[0, 0]), float(law.edges[-1, 1])
    margin = TRACY_WIDOM * (1.5 * np.pi * TOP_SHARE) ** (-2 / 3)
    low_margin, high_margin = (margin * _distance(law, side, TOP_SHARE / d) for side in (0, -1))
    return NoiseBulk(law, low, high, low_margin, high_margin)


def _distance(law: SpectralLaw, side: Literal[0, -1], mass: float) -> float:
    """Return the distance from the lowest (side 0) or highest (-1) edge inward between which `mass` lies.

    The mass grows as its power 3/2, so that it is interpolated in logarithms.
    """
    left, right = law.edges[side]
    edge, sign = (left, 1) if side == 0 else (right, -1)
    distances = np.geomspace(NEAREST, 1, GRID) * (right - left)
    # All distances go into one call, since further points cost little.
    between = abs(law.cumulative(edge + sign * distances) - law.cumulative(edge))
    rising = np.maximum.accumulate(np.maximum(between, np.finfo(float).tiny))
    return float(np.exp(np.interp(np.log(mass), np.log(rising), np.log(distances))))
