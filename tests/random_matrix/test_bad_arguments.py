"""Wrong values in every argument of the spectral functions and of the covariance records: refused by name, or right."""

import dataclasses
import math

import numpy as np
import pytest

from tests.bad_arguments import Example, assert_all_refused
from theory import masked, random_matrix
from theory.models import (
    AR1,
    AR1Rows,
    Blocks,
    Diagonal,
    Empirical,
    Equicorrelated,
    GaussianFreeField,
    GOEPrecision,
    Isotropic,
    MaskedRidge,
    PointScales,
    PowerLaw,
    Scaled,
    Spectrum,
    Spiked,
    SpikedData,
    Toeplitz,
    TridiagonalPrecision,
    TwoLevel,
    Wishart,
)
from theory.random_matrix import ridge_moments

SPECTRUM = Spectrum(np.array([1.0, 2.0]), np.array([0.5, 0.5]))
NOISE, MODEL = AR1(6, 0.5), MaskedRidge(AR1(math.inf, 0.5), 2.0, 0.1)
TWO = PointScales([0.5, 1.5])
SERIES = AR1Rows(math.inf, 0.5)
UNIT = np.full(6, 1 / math.sqrt(6))
LAW = random_matrix.covariance_law(AR1(math.inf, 0.5), 0.5)
SPIKE = SpikedData(NOISE, UNIT, strength=3.0, alpha=2.0, lam=0.1)
DELOCALIZED = SpikedData(TwoLevel(math.inf), strength=3.0, alpha=2.0)
LATTICE = {"dimension": 2, "mass": 0.5, "d": 9}

EXAMPLES = {
    f"{one.function.__qualname__}{' of unlike rows' * ('row_scales' in one.keywords)}"
    f"{' of dependent rows' * ('row_dependence' in one.keywords)}": one
    for one in [
        Example(random_matrix.effective_ridge, {"covariance": NOISE, "alpha": 2.0, "lam": 0.1}),
        Example(random_matrix.effective_ridge, {"covariance": NOISE, "alpha": 2.0, "lam": 0.1, "row_scales": TWO}),
        Example(
            random_matrix.solve_effective_ridge,
            {"spectrum": SPECTRUM, "alpha": [2.0, 1.0], "lam": 0.1, "row_scales": TWO},
        ),
        Example(
            random_matrix.solve_ridge_equation,
            {"moments": lambda kappa: ridge_moments(SPECTRUM, kappa), "alpha": np.array([2.0]), "lam": np.array([0.1])}
            | {"scale": 1.0, "row_scales": TWO},
        ),
        Example(random_matrix.covariance_law, {"covariance": NOISE, "alpha": 2.0, "row_scales": TWO}),
        Example(random_matrix.correlation_law, {"covariance": NOISE, "alpha": 2.0, "row_scales": TWO}),
        Example(
            random_matrix.spike_outliers,
            {"noise": NOISE, "directions": UNIT[None], "strengths": [3.0], "alpha": 2.0, "method": "pca"}
            | {"side": "right", "row_scales": TWO},
        ),
        Example(random_matrix.covariance_law, {"covariance": NOISE, "alpha": 2.0, "row_dependence": SERIES}),
        Example(random_matrix.correlation_law, {"covariance": NOISE, "alpha": 2.0, "row_dependence": SERIES}),
        Example(
            random_matrix.effective_ridge, {"covariance": NOISE, "alpha": 2.0, "lam": 0.1, "row_dependence": SERIES}
        ),
        Example(random_matrix.degrees_of_freedom, {"covariance": NOISE, "effective_ridge": 0.1}),
        Example(random_matrix.solve_effective_ridge, {"spectrum": SPECTRUM, "alpha": [2.0, 1.0], "lam": 0.1}),
        Example(
            random_matrix.solve_ridge_equation,
            {
                "moments": lambda kappa: ridge_moments(SPECTRUM, kappa),
                "alpha": np.array([2.0]),
                "lam": np.array([0.1]),
                "scale": 1.0,
            },
        ),
        Example(random_matrix.ridge_moments, {"spectrum": SPECTRUM, "kappa": np.array([0.1, 1.0])}),
        Example(random_matrix.minor_moments, {"spectrum": NOISE.spectrum, "d": 6, "kappa": np.full(6, 0.3)}),
        Example(random_matrix.shrinkage, {"spectrum": SPECTRUM, "kappa": 0.1}),
        Example(random_matrix.covariance_law, {"covariance": NOISE, "alpha": 2.0}),
        Example(random_matrix.correlation_law, {"covariance": NOISE, "alpha": 2.0}),
        Example(random_matrix.predictor_law, {"model": MODEL}),
        Example(LAW.density, {"x": [0.0, 0.5]}),
        Example(LAW.cumulative, {"x": [0.0, 0.5]}),
        Example(LAW.quantiles, {"p": [0.0, 0.5]}),
        Example(LAW.positions, {"d": 5}),
        Example(LAW.stieltjes, {"z": [0.5 + 1j, 0.7]}),
        Example(LAW.mean, {"power": 2}),
        Example(random_matrix.threshold, {"data": SPIKE}),
        Example(random_matrix.outlier, {"data": SPIKE, "read_out": "reported"}),
        Example(
            random_matrix.spike_outliers,
            {
                "noise": NOISE,
                "directions": UNIT[None],
                "strengths": [3.0],
                "alpha": 2.0,
                "method": "correlation_pca",
                "side": "left",
            },
        ),
        Example(random_matrix.symmetric_outlier, {"data": dataclasses.replace(DELOCALIZED, lam=0.1)}),
        Example(random_matrix.optimal_ridge, {"data": DELOCALIZED}),
        Example(random_matrix.emergence_time, {"data": DELOCALIZED}),
        Example(random_matrix.best_detection_time, {"data": dataclasses.replace(DELOCALIZED, strength=None)}),
        Example(masked.conditional_variances, {"covariance": NOISE}),
        Example(masked.ridgeless, {"covariance": NOISE, "alpha": 0.5}),
        Example(masked.peak_height, {"covariance": NOISE, "lam": 1e-6}),
        Example(masked.optimal_ridge, {"covariance": NOISE, "alpha": 0.5}),
    ]
}

RECORDS = {
    one.function.__qualname__: one
    for one in [
        Example(AR1, {"d": 5, "correlation": 0.5}),
        Example(Blocks, {"d": 6, "block_size": 3, "correlation": 0.5}),
        Example(Diagonal, {"variances": [1.0, 2.0]}),
        Example(Empirical, {"matrix": np.eye(3)}),
        Example(Empirical.from_data, {"X": np.arange(12.0).reshape(4, 3) ** 2, "center": True}),
        Example(Equicorrelated, {"d": 5, "correlation": 0.5}),
        Example(GaussianFreeField, LATTICE),
        Example(GOEPrecision, {"d": 20, "nu": 3.0, "variance": 1.0, "seed": 0}),
        Example(Isotropic, {"d": 5, "variance": 2.0}),
        Example(PowerLaw, {"d": 5, "exponent": 0.5, "rotation": 0}),
        Example(Scaled, {"base": AR1(3, 0.5), "scales": [1.0, 2.0, 3.0]}),
        Example(Spectrum, {"eigenvalues": np.array([1.0, 2.0]), "weights": np.array([0.5, 0.5])}),
        Example(Spiked, {"base": AR1(3, 0.5), "directions": [1.0, 0.0, 0.0], "strengths": 2.0}),
        Example(Toeplitz, {"d": 5, "symbol": lambda angle: 2 + np.cos(angle)}),
        Example(TridiagonalPrecision, {"d": 5, "diagonal": 3.0, "off_diagonal": 1.0}),
        Example(TwoLevel, {"d": 5, "low": 0.5, "high": 2.0, "high_fraction": 0.4}),
        Example(Wishart, {"d": 5, "aspect": 2.0, "seed": 0}),
        *(Example(AR1(6, 0.5).resized, {"d": 5}), Example(Diagonal([1.0, 2.0]).resized, {"d": 4})),
    ]
}


@pytest.mark.parametrize("examples", [EXAMPLES, RECORDS], ids=["functions", "records"])
def test_wrong_arguments_are_refused_by_name(examples):
    assert_all_refused(examples, 300, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("examples", [EXAMPLES, RECORDS], ids=["functions", "records"])
def test_ten_thousand_wrong_arguments_are_refused_by_name(examples):
    assert_all_refused(examples, 10_000, seed=1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Empirical(np.diag([1e-200, 1.0, 1e200])), "matrix must have variances within a factor of 1e\\+300"),
        (lambda: Empirical.from_data(np.array([[1e160, 1.0], [2.0, 3.0]])), "X must have entries from 1e-150 to"),
        (lambda: Empirical.from_data(np.array([[1e-160, 0.0], [0.0, 0.0]])), "X must have entries from 1e-150 to"),
        (lambda: Spiked(AR1(2, 0.5), [1.0, 1e300], 1.0), "directions must be unit vectors, got norms"),
    ],
)
def test_what_leaves_double_precision_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_conditional_variances_change_units_only_as_far_as_the_record_allows():
    """Beyond a ratio of 1e150 of the standard deviations, squares underflow: 0.1474 was returned for 0.1321."""
    C = 0.9 + 0.1 * np.eye(4)
    scales = 10.0 ** np.linspace(-74, 74, 4)
    found = masked.conditional_variances(Empirical(C * np.outer(scales, scales))) / scales**2
    assert found == pytest.approx(masked.conditional_variances(Empirical(C)), rel=1e-10)
