"""The imputer with the conventions of scikit-learn: its own checks, and what they do not ask."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from simulate.masked import impute
from simulate.masked.estimators import MaskedImputer

# The ridge is given, since choosing it takes most of the time and is tested elsewhere.
ESTIMATORS = [
    MaskedImputer(lam=0.1),
    MaskedImputer(method="own_rows", lam=0.1),
    MaskedImputer(method="pairwise", lam=2),
]


@parametrize_with_checks(ESTIMATORS)
def test_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def wine():
    X = load_wine().data[:60, :6]
    holed = X.copy()
    holed[np.random.default_rng(0).random(X.shape) < 0.15] = np.nan
    return X, holed


def test_it_fills_as_the_function_does_and_new_rows_as_well(wine):
    _, holed = wine
    imputer = MaskedImputer().fit(holed)
    direct = impute(holed)
    np.testing.assert_array_equal(imputer.fit_transform(holed), direct.table)
    np.testing.assert_allclose(imputer.transform(holed), direct.table, rtol=1e-12)
    np.testing.assert_allclose(imputer.hole_errors(holed), direct.predicted_error, rtol=1e-9)
    np.testing.assert_array_equal(imputer.expected_error_, direct.error_by_column)
    assert imputer.lam_ == direct.lam
    one = imputer.transform(holed[:1])
    np.testing.assert_allclose(one, direct.table[:1], rtol=1e-12)
    nothing = imputer.transform(np.full((1, 6), np.nan))
    np.testing.assert_allclose(nothing[0], imputer.statistics_, atol=np.nanstd(holed, axis=0).max() / 3)


def test_pandas_in_and_out_with_names_and_indicators(wine):
    _, holed = wine
    frame = pd.DataFrame(holed, columns=list("abcdef"))
    imputer = MaskedImputer(add_indicator=True, lam=0.1).set_output(transform="pandas")
    found = imputer.fit_transform(frame)
    assert list(found.columns) == [*"abcdef", *(f"missingindicator_{name}" for name in "abcdef")]
    assert list(found.columns) == list(imputer.get_feature_names_out())
    np.testing.assert_array_equal(found["missingindicator_b"], frame["b"].isna())
    assert not found.isna().any().any()
    nullable = frame.astype("Float64")
    pd.testing.assert_frame_equal(imputer.fit_transform(nullable), found)


def test_a_number_may_stand_for_missing_values(wine):
    _, holed = wine
    marked = np.where(np.isnan(holed), -1.0, holed)
    np.testing.assert_array_equal(
        MaskedImputer(missing_values=-1, lam=0.1).fit_transform(marked), MaskedImputer(lam=0.1).fit_transform(holed)
    )
    with pytest.raises(ValueError, match="NaN"):
        MaskedImputer(missing_values=-1).fit(holed)


def test_it_works_in_a_pipeline_and_a_grid_search(wine):
    X, holed = wine
    search = GridSearchCV(
        make_pipeline(MaskedImputer(), Ridge()),
        {"maskedimputer__lam": [0.05, 0.5], "maskedimputer__method": ["em", "own_rows"]},
        cv=3,
        error_score="raise",
    )
    search.fit(holed, X[:, 0])
    assert search.best_score_ > 0.2  # of the variance of a column that is partly seen
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(holed), search.best_estimator_.predict(holed))


def test_columns_of_one_value_and_rows_without_values_do_no_harm(wine):
    _, holed = wine
    wide = np.column_stack([holed, np.full(len(holed), 7.0), np.where(np.arange(len(holed)) == 3, 5.0, np.nan)])
    wide[[5, 8], 6] = np.nan
    wide[10] = np.nan
    imputer = MaskedImputer(lam=0.1)
    filled = imputer.fit_transform(wide)
    assert (filled[:, 6] == 7).all()
    assert (filled[:, 7] == 5).all()
    assert imputer.expected_error_[6] == 0
    assert np.isnan(imputer.expected_error_[7])
    rest = np.delete(np.arange(len(holed)), 10)
    np.testing.assert_allclose(filled[rest][:, :6], MaskedImputer(lam=0.1).fit_transform(holed[rest]), rtol=1e-10)
    wide[3, 7] = np.nan
    with pytest.raises(ValueError, match="got none in column 7"):
        imputer.fit(wide)


def test_one_varying_column_is_filled_with_its_mean():
    X = np.array([[1.0, 2.0], [3.0, 2.0], [np.nan, 2.0], [5.0, np.nan]])
    imputer = MaskedImputer().fit(X)
    np.testing.assert_array_equal(imputer.transform(X)[2:], [[3, 2], [5, 2]])
    assert imputer.imputed_ is None
    np.testing.assert_allclose(imputer.hole_errors(X)[2], [4 * (1 + 1 / 3), 0])


def test_without_scikit_learn_the_error_says_what_to_install():
    hidden = "import sys; sys.modules['sklearn'] = None; sys.modules['sklearn.base'] = None\n"
    code = hidden + "import simulate.masked; import simulate.masked.estimators"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: MaskedImputer and MaskedRegressor need scikit-learn" in done.stderr
