"""The limiting laws of the eigenvalues of three matrices: sample covariance, sample correlation, joint predictor."""

import dataclasses
import math
from collections.abc import Callable
from functools import partial

import numpy as np

from theory.core.arguments import checked
from theory.models import Covariance, MaskedRidge, Spectrum
from theory.models.joint_rows import law_of_sample
from theory.models.row_dependence import INDEPENDENT, RowDependence
from theory.models.row_scales import GAUSSIAN, RowScales
from theory.numerics.extremes import within_range
from theory.random_matrix.spectral.build import law_of
from theory.random_matrix.spectral.ensemble import Ensemble, masked_predictor, sample_correlation, sample_covariance
from theory.random_matrix.spectral.law import SpectralLaw
from theory.random_matrix.spectral.law_variable import Predictor, Variable

SPACING_OVER_WIDTH = 0.7  # of two nodes of the rows' law, over the width of the bulk that each would make
SMALLEST_SHARE = 0.01  # of the least eigenvalues of T, which may be zero and are no ends of a law
MAX_ROW_NODES = 8192  # that stand for infinitely many rows


@checked
@within_range
def covariance_law(
    covariance: Covariance,
    alpha: float,
    *,
    row_scales: RowScales = GAUSSIAN,
    row_dependence: RowDependence = INDEPENDENT,
) -> SpectralLaw:
    """Compute the law of the eigenvalues of X'X/n for n = alpha d rows X of the given covariance.

    It is the generalized Marchenko-Pastur law (Silverstein and Choi 1995). For alpha < rank(Sigma)/d the share
    1 - alpha of the eigenvalues is zero. With `row_scales`, a bounded law of the rows' scales, X'X/n is that of rows of
    different scale, and the law that of a separable covariance (Couillet and Hachem, arXiv:1310.8094); so is it with
    `row_dependence`, whose eigenvalues are then the scales (a finite n is needed where there are so few rows that the
    nodes of infinitely many would show). Rows of long memory have no largest one. For so many rows
    that only the second moment of their scales is felt, it is that of alpha/E tau^2 equal rows, to 3e-5 of the width
    that all eigenvalues would have as one bulk. At d = infinity the nodes of the spectrum are doubled until the law
    stands still to 1e-7. A covariance of one's own that knows no finer nodes is answered on those that it has, and gaps
    between them count as gaps of the spectrum where they are much wider than the spacings beside them. Raises
    ValueError for alpha <= 0, for unbounded scales, for alpha outside [1e-10, 1e10] short of that, and at d = infinity
    for an unbounded spectrum or an alpha so large that 2^14 nodes would show: with `AR1` that begins at about
    alpha = 1500 for the correlation 0.5, 120 for 0.9, 55 for 0.95 and 6 for 0.99; ConvergenceError where the law is not
    verified.

    >>> from theory.models import Isotropic
    >>> covariance_law(Isotropic(float("inf")), alpha=4.0).edges  # (1 -+ sqrt(d/n))^2
    array([[0.25, 2.25]])
    """
    _refuse_unbounded("covariance", covariance, divided=False)
    rows = _resolved(_bounded(law_of_sample(row_scales, row_dependence, alpha, covariance.d)), row_dependence, alpha)
    return _law(covariance, partial(sample_covariance, covariance, alpha, rows))


@checked
@within_range
def correlation_law(
    covariance: Covariance,
    alpha: float,
    *,
    row_scales: RowScales = GAUSSIAN,
    row_dependence: RowDependence = INDEPENDENT,
) -> SpectralLaw:
    """Compute the law of the eigenvalues of the sample correlation matrix; otherwise as `covariance_law`.

    It is that of a sample covariance whose population is the matrix of correlations (El Karoui, arXiv:0912.1950).
    """
    _refuse_unbounded("covariance", covariance, divided=covariance.spectrum.axes)
    rows = _resolved(_bounded(law_of_sample(row_scales, row_dependence, alpha, covariance.d)), row_dependence, alpha)
    return _law(covariance, partial(sample_correlation, covariance, alpha, rows))


@checked
@within_range
def predictor_law(model: MaskedRidge) -> SpectralLaw:
    """Compute the law of the eigenvalues a of the joint predictor, real and below 1, with mean 0 (arXiv:2601.23208).

    Row k of the joint predictor A (d, d) holds the coefficients that predict coordinate k from the others:
    A = 1 - diag(Q)^-1 Q with Q = (X'X/n + lam)^-1, and Qbar its deterministic equivalent. a = 1 - 1/nu, nu those of
    diag(Qbar)^1/2 (X'X/n + lam) diag(Qbar)^1/2. Homogeneous and diagonal covariances cost sums over eigenvalues,
    d = infinity included, others a tridiagonal form a node (half a second at d = 200). For n < d and equal
    variances an atom holds the share 1 - alpha; otherwise bulks of their own do, with an atom where entries of
    diag(Qbar) agree to 1e-12, as in the middle of a chain. Independent coordinates may have unbounded variances at
    d = infinity: those of diag(Qbar) Sigma are bounded. Raises ValueError as `covariance_law`, for unequal ridges
    diag(Qbar) lam from alpha = 1e9 on; ConvergenceError where the law is not verified.

    >>> from theory.models import Isotropic
    >>> law = predictor_law(MaskedRidge(Isotropic(float("inf")), alpha=0.5, lam=0.1))
    >>> law.atoms.round(6)  # the half of the directions that no sample shows
    array([[-0.844289,  0.5     ]])
    >>> abs(law.mean()) < 1e-9  # the diagonal of the predictor is zero
    True
    >>> from theory.models import AR1
    >>> chain = predictor_law(MaskedRidge(AR1(float("inf"), 0.5), alpha=2.0, lam=0.1))
    >>> chain.edges.round(4), chain.density([-5.0, 0.0, 0.5]).round(4)
    (array([[-2.3406,  0.902 ]]), array([0.    , 0.3748, 0.5921]))
    """
    _refuse_unbounded("model", model.covariance, divided=model.covariance.spectrum.axes)
    rows = _resolved(_bounded(model.row_law), model.row_dependence, model.alpha)
    model = dataclasses.replace(model, row_scales=rows, row_dependence=INDEPENDENT)
    return _law(model.covariance, partial(masked_predictor, model), Predictor())


def _law(
    covariance: Covariance, ensemble: Callable[[Spectrum], Ensemble], variable: Variable | None = None
) -> SpectralLaw:
    """Compute the law of the ensemble that a spectrum makes, for that of the covariance."""

    def finer(times: int) -> Ensemble | None:
        modes = covariance._finer_limit(times)
        return None if modes is None else ensemble(modes)

    return law_of(ensemble(covariance.spectrum), variable, limit=not covariance.is_finite, finer=finer)


def _resolved(rows: RowScales, dependence: RowDependence, alpha: float) -> RowScales:
    """Return the law of the rows on so many nodes that the law of the eigenvalues does not show them.

    With few rows for each coordinate every eigenvalue t of T makes a bulk of its own, of the relative width 2 (alpha
    p)^(1/2) for a node of the probability p. Those of infinitely many rows, which are nodes, must lie much closer.
    """
    times = 1
    while not math.isfinite(dependence.n) and not dependence.is_identity:
        order = np.argsort(rows.nodes)
        t, p = rows.nodes[order], rows.probabilities[order]
        felt = np.cumsum(p)[:-1] > SMALLEST_SHARE
        widths = 2 * np.sqrt(alpha * (p[1:] + p[:-1]) / 2)
        if np.max(np.log(t[1:][felt] / t[:-1][felt]) / widths[felt], initial=0.0) <= SPACING_OVER_WIDTH:
            break
        times *= 2
        finer = dependence._finer_limit(times)
        if finer is None:
            break
        if len(finer.nodes) > MAX_ROW_NODES:
            raise ValueError(
                f"row_dependence must be of a finite n at alpha = {alpha:g}, got {dependence!r}: for so few rows the "
                "law would show the nodes that stand for infinitely many of them"
            )
        rows = finer
    return rows


def _bounded(rows: RowScales) -> RowScales:
    if math.isinf(rows.largest):
        raise ValueError(
            f"{rows.field_name} must be bounded for a law of eigenvalues, got {rows}: without a largest scale the "
            "eigenvalues have no end at infinite size"
        )
    return rows


def _refuse_unbounded(name: str, covariance: Covariance, *, divided: bool) -> None:
    """Raise ValueError for variances that are not divided out and have no mean, or no largest: the law has no end."""
    missing = "mean" if covariance.spectrum.heavy else "largest" if covariance.spectrum.unbounded else ""
    if missing and not divided:
        raise ValueError(
            f"{name} must have a {missing} variance for a law of eigenvalues at d = infinity, got {covariance!r}: "
            "take a finite d"
        )
