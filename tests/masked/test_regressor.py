"""The regressor with the conventions of scikit-learn: its own checks, plain ridge regressions, holes, pipelines."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from simulate.core import Estimate, stream
from simulate.masked import sample
from simulate.masked.estimators import RIDGES, MaskedImputer, MaskedRegressor
from theory import masked
from theory.models import AR1, MaskedRidge


@parametrize_with_checks([MaskedRegressor(), MaskedRegressor(lam=0.1)])
def test_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def wine():
    return load_wine().data[:, :6]


@pytest.fixture(scope="module")
def holed(wine):
    holed = wine.copy()
    holed[np.random.default_rng(0).random(wine.shape) < 0.15] = np.nan
    return holed


@pytest.mark.parametrize("n", [30, 5])  # more rows than columns, and fewer
def test_each_column_is_a_ridge_regression_of_scikit_learn(wine, n):
    rows, lam = wine[:n], 0.07
    model = MaskedRegressor(lam=lam).fit(rows)
    standard = (rows - rows.mean(axis=0)) / rows.std(axis=0, ddof=1)
    new = (wine - rows.mean(axis=0)) / rows.std(axis=0, ddof=1)
    for k in range(6):
        one = Ridge(alpha=(n - 1) * lam).fit(np.delete(standard, k, axis=1), standard[:, k])
        expected = rows[:, k].mean() + rows[:, k].std(ddof=1) * one.predict(np.delete(new, k, axis=1))
        np.testing.assert_allclose(model.predict(wine)[:, k], expected, rtol=1e-9)
    np.testing.assert_allclose(wine @ model.coef_.T + model.intercept_, model.predict(wine), rtol=1e-9)
    assert (np.diagonal(model.coef_) == 0).all()


def test_a_prediction_does_not_look_at_its_own_column(wine):
    model = MaskedRegressor().fit(wine)
    changed = wine.copy()
    changed[:, 2] += 100
    np.testing.assert_allclose(model.predict(changed)[:, 2], model.predict(wine)[:, 2], rtol=1e-12)
    assert abs(model.predict(changed)[:, 3] - model.predict(wine)[:, 3]).max() > 0.1


def test_units_and_shifts_of_columns_change_nothing(wine):
    unit, shift = np.array([1, 1e3, 1e-3, 5, 0.1, 7.0]), np.array([0, 1e4, 3, -2, 1, 5.0])
    model, other = MaskedRegressor().fit(wine), MaskedRegressor().fit(wine * unit + shift)
    assert model.lam_ == other.lam_
    np.testing.assert_allclose((other.predict(wine * unit + shift) - shift) / unit, model.predict(wine), rtol=1e-8)
    assert model.score(wine) == pytest.approx(other.score(wine * unit + shift), rel=1e-9)


def test_the_score_is_the_mean_share_of_variance_explained(wine):
    model = MaskedRegressor(lam=0.1).fit(wine[::2])
    new, means = wine[1::2], wine[::2].mean(axis=0)
    share = 1 - ((new - model.predict(new)) ** 2).sum(axis=0) / ((new - means) ** 2).sum(axis=0)
    assert model.score(new) == pytest.approx(share.mean(), rel=1e-12)
    assert model.score(new) < model.score(wine[::2])
    assert np.isfinite(model.score(new[:1]))
    assert MaskedRegressor(lam=1e9).fit(wine[::2]).score(new) == pytest.approx(0, abs=1e-6)


def test_the_ridge_that_is_chosen_has_the_least_error_reported(wine):
    chosen = MaskedRegressor().fit(wine)
    place = int(np.flatnonzero(chosen.lam_ == RIDGES)[0])
    errors = [
        (MaskedRegressor(lam=RIDGES[i]).fit(wine).error_ / chosen.scales_**2).mean()
        for i in (place - 2, place, place + 2)
    ]
    assert errors[1] < min(errors[0], errors[2])
    np.testing.assert_allclose(chosen.error_.mean(), MaskedRegressor(lam=chosen.lam_).fit(wine).error_.mean())


def test_the_error_of_new_rows_is_what_it_says_and_what_theory_says(agrees):
    """Theory has known means and variances; both cost a relative 1/n here, which the bias allows for."""
    covariance, n, lam = AR1(30, 0.7), 120, 0.05
    true, said = [], []
    for replicate in range(40):
        rng = stream(3, "regressor", replicate)
        model = MaskedRegressor(lam=lam).fit(sample(covariance, n, rng) + 5)
        new = sample(covariance, 4000, rng) + 5
        true.append(((model.predict(new) - new) ** 2).mean())
        said.append(model.error_.mean())
    predicted = masked.solve(MaskedRidge(covariance, alpha=n / 30, lam=lam)).mean_test_error
    agrees(Estimate.of(true), predicted, resolves=0.05, bias=2 * predicted / n)
    agrees(Estimate.of(np.array(said) / true), 1.0, resolves=0.08, bias=0.005)


def test_missing_values_of_new_rows_are_filled_by_their_conditional_means(wine):
    model = MaskedRegressor(lam=0.05).fit(wine)
    np.testing.assert_array_equal(model.transform(wine), wine)
    one = wine.copy()
    one[np.arange(len(wine)), np.arange(len(wine)) % 6] = np.nan
    filled = model.transform(one)
    alone = np.isnan(one)  # a single hole in a row is what predict gives there
    np.testing.assert_allclose(filled[alone], model.predict(wine)[alone], rtol=1e-9)
    np.testing.assert_array_equal(filled[~alone], wine[~alone])
    two = wine[:1].copy()
    two[0, [1, 4]] = np.nan
    S = (np.corrcoef(wine.T) + 0.05 * np.eye(6))[np.ix_([1, 4, 0, 2, 3, 5], [1, 4, 0, 2, 3, 5])]
    standard = ((wine - wine.mean(axis=0)) / wine.std(axis=0, ddof=1))[0, [0, 2, 3, 5]]
    expected = S[:2, 2:] @ np.linalg.solve(S[2:, 2:], standard) * wine.std(axis=0, ddof=1)[[1, 4]]
    np.testing.assert_allclose(model.transform(two)[0, [1, 4]], expected + wine.mean(axis=0)[[1, 4]], rtol=1e-9)
    np.testing.assert_allclose(model.transform(np.full((1, 6), np.nan))[0], wine.mean(axis=0), rtol=1e-12)


def test_a_table_with_holes_is_learnt_as_the_imputer_learns_it(wine, holed):
    model, imputer = MaskedRegressor().fit(holed), MaskedImputer().fit(holed)
    assert model.lam_ == imputer.lam_
    np.testing.assert_allclose(model.transform(holed), imputer.transform(holed), rtol=1e-9)
    np.testing.assert_array_equal(model.error_, imputer.expected_error_)
    one = np.where(np.arange(6) == 2, np.nan, wine)
    np.testing.assert_allclose(model.predict(wine)[:, 2], imputer.transform(one)[:, 2], rtol=1e-9)
    assert 0.9 * MaskedRegressor().fit(wine).score(wine) < model.score(wine)


def test_in_rows_with_holes_each_value_is_predicted_from_the_others_that_are_there(wine, holed):
    model = MaskedRegressor(lam=0.05).fit(wine)
    found, seen = model.predict(holed), ~np.isnan(holed)
    np.testing.assert_allclose(found[~seen], model.transform(holed)[~seen], rtol=1e-12)
    some = [(i, k) for i in range(0, len(wine), 9) for k in range(6) if seen[i, k]]
    for i, k in some:
        one = holed[i : i + 1].copy()
        one[0, k] = np.nan
        assert found[i, k] == pytest.approx(model.transform(one)[0, k], rel=1e-9)
    share = 1 - np.nansum((holed - found) ** 2, axis=0) / np.nansum((holed - wine.mean(axis=0)) ** 2, axis=0)
    assert model.score(holed) == pytest.approx(share.mean(), rel=1e-12)
    assert model.score(holed) < model.score(wine)


def test_it_works_in_pipelines_searches_copies_and_pickles(wine):
    search = GridSearchCV(
        make_pipeline(StandardScaler(), MaskedRegressor()), {"maskedregressor__lam": [1e-3, 0.1, 1e3]}, cv=3
    ).fit(wine[np.random.default_rng(0).permutation(len(wine))])  # which lie sorted by cultivar
    assert search.best_params_["maskedregressor__lam"] == 0.1
    assert search.best_score_ == search.cv_results_["mean_test_score"][1]
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(wine), search.predict(wine))
    assert len(cross_val_score(MaskedRegressor(), wine, cv=3)) == 3
    assert clone(MaskedRegressor(lam=0.3)).get_params() == {"lam": 0.3}


def test_names_are_kept(wine, holed):
    frame = pd.DataFrame(holed, columns=list("abcdef"))
    model = MaskedRegressor(lam=0.1).set_output(transform="pandas").fit(frame)
    assert list(model.feature_names_in_) == list("abcdef") == list(model.get_feature_names_out())
    filled = model.transform(frame)
    assert list(filled.columns) == list("abcdef")
    assert not filled.isna().any().any()
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame[list("bacdef")])


def test_columns_of_one_value_are_predicted_by_it(wine):
    wide = np.column_stack([wine, np.full(len(wine), 7.0)])
    model, without = MaskedRegressor().fit(wide), MaskedRegressor().fit(wine)
    assert (model.predict(wide)[:, 6] == 7).all()
    np.testing.assert_allclose(model.predict(wide)[:, :6], without.predict(wine), rtol=1e-12)
    assert model.score(wide) == pytest.approx(without.score(wine), rel=1e-12)
    assert model.error_[6] == 0
    assert np.isnan(MaskedRegressor().fit(np.ones((5, 3))).score(np.ones((5, 3))))
    alone = MaskedRegressor().fit(wine[:, :1])
    np.testing.assert_allclose(alone.predict(wine[:, :1]), wine[:, 0].mean())


def test_bad_input(wine):
    for lam in (0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="lam must be a positive number"):
            MaskedRegressor(lam=lam).fit(wine)
    with pytest.raises(ValueError, match="minimum of 3 is required"):
        MaskedRegressor().fit(wine[:2])
    with pytest.raises(ValueError, match="infinity"):
        MaskedRegressor().fit(np.where(wine > 3, np.inf, wine))
    with pytest.raises(ValueError, match="6 features"):
        MaskedRegressor().fit(wine).predict(wine[:, :4])
    with pytest.raises(NotFittedError):
        MaskedRegressor().predict(wine)
    with pytest.raises(ValueError, match="got none in column 2"):
        MaskedRegressor().fit(np.where(np.arange(6) == 2, np.nan, wine))
