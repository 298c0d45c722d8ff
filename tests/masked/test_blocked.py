"""Cross-validation by blocks of rows with gaps: against loops written out, and what it reports of dependent rows."""

import numpy as np
import pytest

from simulate.core import stream
from simulate.masked import blocked_error, fit, sample
from theory.models import AR1, AR1Rows, SubjectRows

X = sample(AR1(6, 0.5), 23, stream(0, "blocked"), row_dependence=AR1Rows(23, 0.7))
SUBJECTS = np.array(["a", "b", "c", "a"])[np.arange(23) % 4]


def written_out(labels, gap, centered):
    errors, fitted = np.zeros(6), []
    for label in sorted(set(labels)):
        out = [i for i in range(23) if labels[i] == label]
        kept = [i for i in range(23) if min(abs(i - j) for j in out) > gap]
        mean = X[kept].mean(axis=0) if centered else 0
        one = fit(X[kept] - mean, 0.1)
        residuals = (X[out] - mean) @ (np.eye(6) - one.predictor.T)
        errors += np.sum(residuals**2, axis=0)
        fitted.append(len(kept))
    return errors / 23, fitted


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("gap", [0, 1, 2])
@pytest.mark.parametrize(
    ("folds", "labels"),
    [(4, np.repeat([0, 1, 2, 3], [6, 6, 6, 5])), (23, np.arange(23)), (np.arange(23) // 9, np.arange(23) // 9)],
    ids=["blocks", "single rows", "labels"],
)
def test_every_fold_is_predicted_from_the_rows_beyond_the_gap(folds, labels, gap, centered):
    found = blocked_error(X, 0.1, folds, gap, centered)
    expected, fitted = written_out(labels, gap, centered)
    np.testing.assert_allclose(found.error, expected, rtol=1e-9)
    assert found.mean_error == pytest.approx(expected.mean())
    assert found.fitted_rows.tolist() == fitted
    assert found.fold_errors.shape == (len(fitted), 6)
    assert (found.lam, found.gap) == (0.1, gap)


def test_folds_are_whole_subjects_wherever_their_rows_stand():
    expected, _ = written_out(SUBJECTS, 0, False)
    np.testing.assert_allclose(blocked_error(X, 0.1, SUBJECTS).error, expected, rtol=1e-9)
    order = stream(0, "order").permutation(23)
    np.testing.assert_allclose(blocked_error(X[order], 0.1, SUBJECTS[order]).error, expected, rtol=1e-9)


def test_single_rows_as_folds_are_left_out_with_their_ridge():
    """Leaving one row out of 400 changes n in the objective by a part in 400, which `fit` does not do."""
    rows = sample(AR1(6, 0.5), 400, stream(0, "many"))
    found = blocked_error(rows, 0.1, 400)
    np.testing.assert_allclose(found.error, fit(rows, 0.1).loo_error, rtol=2e-3)


def reported(law, folds, gap, d=40):
    """The error of folds over the error on independent new rows, both means over draws."""
    covariance, pairs = AR1(d, 0.6), []
    for i in range(20):
        rows = sample(covariance, law.size, stream(0, "reported", repr(law), i), row_dependence=law)
        pairs.append((blocked_error(rows, 0.1, folds, gap).mean_error, fit(rows, 0.1).mean_test_error(covariance)))
    blocks, error = np.mean(pairs, axis=0)
    return blocks / error


def test_gaps_and_long_blocks_report_what_random_folds_do_not():
    law = AR1Rows(160, 0.9)
    random = reported(law, stream(0, "folds").permutation(160) % 5, 0)
    short, blocks, with_gap, far = (reported(law, *one) for one in ((20, 0), (5, 0), (5, 5), (5, 15)))
    assert random < 0.25 < short < 0.6 < blocks < with_gap < far
    assert with_gap == pytest.approx(0.95, abs=0.07)
    assert far == pytest.approx(1.03, abs=0.07)


def test_folds_of_whole_subjects_report_the_error_on_a_new_one():
    law = SubjectRows([4], 0.7, n=160)
    assert reported(law, stream(0, "folds").permutation(160) % 5, 0) < 0.7
    assert reported(law, law.groups % 5, 0) == pytest.approx(1.03, abs=0.05)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: blocked_error(X, 0.1, 1), "folds must be an integer of at least 2"),
        (lambda: blocked_error(X, 0.1, 24), "folds must be at most the number of rows, which is 23"),
        (lambda: blocked_error(X, 0.1, 2.5), "folds must be an integer"),
        (lambda: blocked_error(X, 0.1, "five"), "folds must be an integer"),
        (lambda: blocked_error(X, 0.1, np.zeros(23)), "folds must have at least two different labels"),
        (lambda: blocked_error(X, 0.1, np.arange(22)), r"folds must have one label for each row, shape \(23,\)"),
        (
            lambda: blocked_error(X, 0.1, 4, gap=16),
            "gap must leave at least 2 of the n = 23 rows of X .* got 16, which leaves 1",
        ),
        (lambda: blocked_error(X, 0.1, 4, gap=-1), "gap must be an integer of at least 0"),
        (lambda: blocked_error(X, 0.1, SUBJECTS, gap=1), "gap must leave at least 2"),
        (lambda: blocked_error(X, -0.1, 4), "lam must lie in"),
        (lambda: blocked_error(X[:, 0], 0.1, 4), "X must have shape"),
        (lambda: blocked_error(X, 0.1, 4, centered=1), "centered must be True or False"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
