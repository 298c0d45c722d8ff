"""One record for theory and simulation: every problem of the subject is solved and measured by the same two calls."""

import math
from dataclasses import replace

import numpy as np
import pytest

from simulate.core import stream
from simulate.masked import (
    coordinate_test_errors,
    covariance_eigenvalues,
    mean_test_error,
    mean_train_error,
    sample,
    teacher_student_error,
)
from simulate.masked.masks import coordinate_errors, span_errors
from theory import masked, random_matrix
from theory.models import (
    AR1,
    Isotropic,
    MaskedRegression,
    MaskedRidge,
    RandomMasks,
    SampledRows,
    SpanMask,
    SpanWindows,
    SpikedData,
    TeacherStudent,
    TwoLevel,
)

SIGMA = AR1(12, 0.6)
RECORDS = {
    "MaskedRidge": MaskedRidge(SIGMA, 2.0, 0.1),
    "MaskedRegression": MaskedRegression(SIGMA, 2.0),
    "RandomMasks": RandomMasks(SIGMA, 2.0, 0.1, 0.2, 3),
    "SpanMask": SpanMask(SIGMA, 2.0, 0.1, [4, 5]),
    "SpanWindows": SpanWindows(SIGMA, 2.0, 0.1, 2),
    "TeacherStudent": TeacherStudent(SIGMA, 2.0, 0.1, 0.3),
}


def test_solve_is_the_short_form_of_every_record():
    """The short forms build the record and call the same solver: equal to the last digit."""
    for record, short in (
        (RECORDS["MaskedRegression"], masked.ridgeless(SIGMA, 2.0)),
        (RECORDS["MaskedRegression"], masked.ridgeless(MaskedRegression(SIGMA, 2.0))),
        (RECORDS["TeacherStudent"], masked.teacher_student(RECORDS["TeacherStudent"])),
    ):
        solved = masked.solve(record)
        assert type(solved) is type(short)
        assert np.array_equal(solved.test_error, short.test_error)
        assert solved.converged
    windows = masked.solve(RECORDS["SpanWindows"])
    assert windows.mean_test_error == windows.test_error.mean()
    assert windows.to_frame()["start"].tolist() == list(range(11))
    every_third = masked.solve(replace(RECORDS["SpanWindows"], step=3))
    assert np.array_equal(every_third.test_error, windows.test_error[::3])
    assert every_third.to_frame()["start"].tolist() == [0, 3, 6, 9]
    assert masked.optimal_ridge(MaskedRegression(SIGMA, 2.0)).lam == masked.optimal_ridge(SIGMA, 2.0).lam


def test_a_span_of_one_coordinate_is_a_masked_ridge():
    one = masked.solve(SpanMask(SIGMA, 2.0, 0.1, [3]), exact_size=True)
    every = masked.solve(RECORDS["MaskedRidge"], exact_size=True)
    assert one.test_error[0] == pytest.approx(every.test_error[3], rel=1e-12)
    assert one.effective_ridge == pytest.approx(every.effective_ridge[3], rel=1e-12)


def test_simulation_measures_every_record_by_one_name():
    for name, record in RECORDS.items():
        if name == "TeacherStudent":
            assert teacher_student_error(record, 12, stream(0)) > 0.3
            continue
        assert 0 < mean_train_error(record, 12, stream(0)) < mean_test_error(record, 12, stream(0))
    masks, span, windows = (RECORDS[name] for name in ("RandomMasks", "SpanMask", "SpanWindows"))
    assert mean_test_error(masks, 12, stream(0)) == coordinate_errors(masks, 12, stream(0))[0].mean()
    assert coordinate_test_errors(masks, 12, stream(0)).mean() == mean_test_error(masks, 12, stream(0))
    both = (mean_test_error(windows, 12, stream(0)), mean_train_error(windows, 12, stream(0)))
    assert both == pytest.approx(tuple(span_errors(windows, 12, stream(0)).mean(axis=1)), rel=1e-12)
    assert mean_test_error(span, 12, stream(0)) == span_errors(windows, 12, stream(0))[0, 4]
    assert covariance_eigenvalues(masks, 12, stream(0)).shape == (12,)


def test_a_problem_without_a_ridge_is_fitted_without_one():
    tiny = MaskedRidge(SIGMA, 2.0, 1e-12)
    assert mean_test_error(RECORDS["MaskedRegression"], 12, stream(0)) == pytest.approx(
        mean_test_error(tiny, 12, stream(0)), rel=1e-9
    )


@pytest.mark.parametrize("alpha", [0.5, 2.0])
def test_the_ridgeless_limit_is_what_is_measured(agrees, alpha):
    from simulate.core import Estimate

    model, d = MaskedRegression(AR1(80, 0.5), alpha), 80
    draws = [mean_test_error(model, d, stream(0, "ridgeless record", alpha, r)) for r in range(120)]
    predicted = masked.ridgeless(model).mean_test_error
    # n/(n - d) becomes (n - 1)/(n - d) for the d - 1 unknowns that there are
    agrees(Estimate.of(draws), predicted, resolves=0.05, bias=2 / d * predicted)


def test_what_a_record_cannot_mean_is_refused():
    with pytest.raises(ValueError, match=r"model must be a .*record of theory\.models"):
        masked.solve(SIGMA)
    for name in ("RandomMasks", "TeacherStudent", "MaskedRegression"):
        with pytest.raises(ValueError, match=f"exact_size must be False for {name}"):
            masked.solve(RECORDS[name], exact_size=True)
    with pytest.raises(ValueError, match="alpha must be left out beside a MaskedRegression"):
        masked.ridgeless(RECORDS["MaskedRegression"], 2.0)
    with pytest.raises(ValueError, match="alpha is needed"):
        masked.optimal_ridge(SIGMA)
    with pytest.raises(ValueError, match=r"lam must be positive, got 0\.0; for lam -> 0 see theory\.masked\.ridgeless"):
        MaskedRidge(SIGMA, 1.0, 0.0)
    # a ridge that would be ignored is no part of the problem
    with pytest.raises(ValueError, match="covariance must be"):
        masked.ridgeless(RECORDS["MaskedRidge"])


def test_records_say_what_they_minimize():
    assert repr(RECORDS["MaskedRidge"]) == (
        "MaskedRidge(covariance=AR1(d=12, correlation=0.6), alpha=2.0, lam=0.1; "
        "minimizes (1/n) |X_k - X_-k a|^2 + lam |a|^2)"
    )
    for name, record in RECORDS.items():
        assert repr(record).startswith(f"{name}(covariance=AR1(d=12, correlation=0.6), alpha=2.0")
        assert ("lam |a|^2" in repr(record)) == (name != "MaskedRegression")
    assert repr(SpikedData(TwoLevel(math.inf), strength=2.0, alpha=1.0, lam=0.1)) == (
        "SpikedData(noise=TwoLevel(d=inf, low=0.3, high=4.0, high_fraction=0.2), strength=2.0, alpha=1.0, "
        "method='ssr', lam=0.1)"
    )


def test_sizes_are_said_once():
    for record in RECORDS.values():
        assert isinstance(record, SampledRows)
        assert (record.d, record.n) == (12, 24.0)
    assert MaskedRidge(AR1(math.inf, 0.5), 2.0, 0.1).n == math.inf
    assert SpikedData(TwoLevel(math.inf), alpha=1.0, lam=0.1).n == math.inf
    assert SpikedData(TwoLevel(20), alpha=0.5, lam=0.1).n == 10


def test_terms_for_each_unknown():
    assert RECORDS["MaskedRidge"].terms_per_unknown == pytest.approx(24 / 11)
    assert RECORDS["TeacherStudent"].terms_per_unknown == 2.0
    assert RECORDS["SpanMask"].terms_per_unknown == RECORDS["SpanWindows"].terms_per_unknown == 2.4
    assert RECORDS["RandomMasks"].terms_per_unknown == pytest.approx(24 * 3 * 0.2 / 11)
    assert RandomMasks(SIGMA, 2.0, 0.1, 0.2).ridge_per_unknown == math.inf
    assert MaskedRidge(AR1(math.inf, 0.5), 2.0, 0.1).ridge_per_unknown == 0.2


@pytest.mark.parametrize(("method", "lam"), [("ssr", 0.1), ("pca", None), ("correlation_pca", None)])
def test_a_threshold_does_not_ask_for_the_strength(method, lam):
    u = np.zeros(40)
    u[:5] = 1 / math.sqrt(5)
    for noise, direction in ((TwoLevel(math.inf), None), (TwoLevel(40), u)):
        data = SpikedData(noise, direction, strength=5.0, alpha=2.0, method=method, lam=lam)
        critical = random_matrix.threshold(replace(data, strength=None)).value
        assert random_matrix.threshold(data).value == random_matrix.outlier(data).threshold == critical


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "svd"}, "method must be one of"),
        ({"method": "pca"}, "lam is for method 'ssr' only"),
        ({"lam": -1.0}, "lam must"),
        ({"strength": 0.0}, "strength must"),
        ({"alpha": 0.0}, "alpha must"),
        ({"noise": np.eye(20)}, "noise must be a record"),
        ({"direction": np.ones(20)}, "direction must be of unit length"),
        ({"direction": np.ones(3)}, r"direction must have shape \(20,\)"),
        ({"noise": TwoLevel(math.inf), "direction": np.eye(20)[0]}, "direction must be None"),
    ],
)
def test_spiked_data_are_checked_once(changes, message):
    good = SpikedData(TwoLevel(20), strength=1.0, alpha=1.0, lam=0.1)
    with pytest.raises(ValueError, match=message):
        replace(good, **changes)


def test_an_outlier_needs_a_strength_and_the_symmetric_part_a_ridge():
    for function in (random_matrix.outlier, random_matrix.symmetric_outlier):
        with pytest.raises(ValueError, match="strength must be a positive number"):
            function(SpikedData(Isotropic(math.inf), alpha=1.0, lam=0.1))
        with pytest.raises(ValueError, match=r"data must be a record of theory\.models"):
            function(Isotropic(math.inf))
    for function in (random_matrix.outlier, random_matrix.threshold, random_matrix.symmetric_outlier):
        with pytest.raises(ValueError, match="lam is needed for method 'ssr'"):
            function(SpikedData(Isotropic(math.inf), strength=1.0, alpha=1.0))
    with pytest.raises(ValueError, match="data must leave the ridge open"):
        random_matrix.optimal_ridge(SpikedData(Isotropic(math.inf), alpha=1.0, lam=0.1))
    with pytest.raises(ValueError, match="method must be 'ssr'"):
        random_matrix.symmetric_outlier(SpikedData(Isotropic(math.inf), strength=1.0, alpha=1.0, method="pca"))
    assert sample(SIGMA, 3, stream(0)).shape == (3, 12)
