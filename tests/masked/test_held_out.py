"""What windows of a series report of themselves and their errors on later rows, simulated and of a real picture."""

import numpy as np
import pytest

from simulate.core import stream
from simulate.masked import autoregressive_rows, blocked_error, fit, sample, window_errors
from theory.models import AR1, AR1Rows


def test_every_window_is_fitted_about_its_mean_and_held_against_later_rows():
    X = sample(AR1(5, 0.6), 140, stream(0, "windows"), row_dependence=AR1Rows(140, 0.8)) * [1, 2, 3, 4, 5]
    found = window_errors(X, 40, [0.1, 1.0], windows=2)
    scaled = X / X.std(axis=0)
    for i, start in enumerate((0, 80)):
        inside, later = scaled[start : start + 40], scaled[start + 50 : start + 60]
        mean = inside.mean(axis=0)
        one = fit(inside - mean, 1.0)
        assert found.held_out[i, 1] == pytest.approx(one.mean_test_error(later - mean))
        assert found.gcv[i, 1] == pytest.approx(one.mean_gcv_error)
        assert found.loo[i, 1] == pytest.approx(one.loo_error.mean())
        for errors, gap in ((found.blocks, 0), (found.blocks_with_gap, 4)):
            assert errors[i, 1] == pytest.approx(blocked_error(inside, 1.0, 5, gap, centered=True).mean_error)
        process = autoregressive_rows(inside)
        corrected = one.corrected_error(process.dependence(40), centered=True).mean()
        assert found.corrected[i, 1] == pytest.approx(corrected)
        assert (found.orders[i], found.p_values[i]) == (process.order, process.p_value)
    ratios = found.gcv.mean(axis=0) / found.held_out.mean(axis=0)
    assert found.medians()["gcv"] == pytest.approx(np.median(ratios))


def test_lines_of_a_picture_are_no_independent_rows():
    """GCV and leaving one line out report a quarter of the later error or less, the corrected error is nearer."""
    datasets = pytest.importorskip("sklearn.datasets", reason="needs scikit-learn and its pictures")
    pytest.importorskip("PIL", reason="reads a picture")
    gray = datasets.load_sample_image("flower.jpg").astype(float).mean(axis=2)
    found = window_errors(gray[:, np.linspace(0, gray.shape[1] - 1, 30).astype(int)], 60, [0.1, 1.0])
    ratios = found.medians()
    assert (found.p_values <= 0.01).all()
    assert np.median(found.lag_one) > 0.9
    assert max(ratios["gcv"], ratios["loo"]) < 0.25 < ratios["corrected"] < 1.5
    assert ratios["loo"] < ratios["blocks"] < ratios["blocks_with_gap"] < 0.7


X = sample(AR1(4, 0.5), 40, stream(0, "bad"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: window_errors(X, 28, [0.1]), "X must have at least 42 rows for a window of n = 28, got 40"),
        (lambda: window_errors(X, 19, [0.1]), "n must be an integer of at least 20"),
        (lambda: window_errors(X * [1, 0, 1, 1], 20, [0.1]), "X must have no constant column, got one in column 1"),
        (
            lambda: window_errors(np.where(np.arange(40)[:, None] < 25, 1, X), 20, [0.1]),
            "X must have no constant column",
        ),
        (lambda: window_errors(X, 20, []), "lams must be"),
        (lambda: window_errors(X, 20, [0.1], windows=0), "windows must be"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
