"""An imputer and a regressor with the conventions of scikit-learn, which only this module needs: extra `figures`."""

import warnings
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from simulate.masked.contrasts import contrasts
from simulate.masked.fit import fit
from simulate.masked.holes.expectation import Gaussian
from simulate.masked.holes.imputed import ImputationMethod, Imputed, impute
from simulate.masked.path import fit_path
from theory.core.arrays import Array

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.impute import MissingIndicator
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:  # also for a version before 1.6, which has no validate_data
    raise ImportError(
        "MaskedImputer and MaskedRegressor need scikit-learn 1.6 or later: pip install 'masked-ssl-theory[figures]'; "
        "without it there are `simulate.masked.impute` and `simulate.masked.fit`"
    ) from error

__all__ = ["MaskedImputer", "MaskedRegressor"]

RIDGES = np.geomspace(1e-5, 1e2, 57)  # of which GCV chooses, in units of the variances: eight for each decade
ROUNDING = 1e-12  # a spread below this share of the largest entry counts as none


class MaskedImputer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]  # without types
    """Fill missing values from the other columns, and say how far off each of them is expected to be.

    The methods and their errors are those of `simulate.masked.impute`: a Gaussian fitted by expectation maximization
    with a ridge ("em"), pairwise covariances ("pairwise"), or ridge regressions over the rows that have a column
    ("own_rows"). By default the ridge is chosen by hiding entries. `fit` learns from a table, `transform` fills new
    rows; a row without any value gets the means. Unlike `impute`, columns of one value are filled with it and take no
    part, and rows without values are ignored by `fit`; a column without values is a ValueError.

    Parameters: `missing_values`, the number that stands for a missing value, by default NaN; `method`; `lam`, the
    ridge in units of the columns' variances, by default chosen; `add_indicator`, whether columns that say what was
    missing are appended, as in `SimpleImputer`.

    Attributes: `expected_error_` (columns,), the mean squared error that is expected at the holes of each column, in
    its squared units, and `expected_error_stderr_`; 0 for a column of one value, NaN where it has a single entry.
    `lam_` is the ridge, `statistics_` are the means of the columns, `imputed_` is the result of `impute`, or None where
    there were less than two columns or three rows to learn from. All errors hold where values are missing completely at
    random, together in rows or apart (see `impute`). With "pairwise" `fit_transform` leaves every row
    out of its own covariances, and `transform` does not.

    >>> from sklearn.datasets import load_wine
    >>> X = load_wine().data
    >>> X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    >>> imputer = MaskedImputer().fit(X)
    >>> bool(np.isnan(imputer.transform(X)).any()), imputer.expected_error_.shape, imputer.hole_errors(X).shape
    (False, (13,), (178, 13))
    """

    def __init__(
        self,
        *,
        missing_values: Any = np.nan,
        method: ImputationMethod = "em",
        lam: Any = None,
        add_indicator: bool = False,
    ) -> None:
        self.missing_values = missing_values
        self.method = method
        self.lam = lam
        self.add_indicator = add_indicator

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002  # every estimator takes y
        """Learn from a table X (rows, columns); ValueError as in `impute`, and for a column without values."""
        self._learn(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:  # noqa: ARG002
        """Learn from a table and return it filled."""
        data, seen, rows, used = self._learn(X)
        filled, _ = self._filled(data, seen)
        if self.imputed_ is not None:
            filled[np.ix_(rows, used)] = self.imputed_.table
        return self._with_indicator(filled, data)

    def transform(self, X: Any) -> Any:
        """Return the rows X filled."""
        data, seen = self._checked(X)
        return self._with_indicator(self._filled(data, seen)[0], data)

    def hole_errors(self, X: Any) -> Array:
        """Return the squared error that is expected at each missing value of X, (rows, columns); 0 elsewhere.

        It is in squared units of the column. Columns of one value, and rows without any, follow `expected_error_` and
        the columns' variances.
        """
        return self._filled(*self._checked(X))[1]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns that `transform` returns."""
        check_is_fitted(self, "n_features_in_")
        names = super().get_feature_names_out(input_features)
        if self.indicator_ is None:
            return np.asarray(names)
        return np.concatenate([names, self.indicator_.get_feature_names_out(names)])

    def _learn(self, X: Any) -> tuple[Array, NDArray[np.bool_], NDArray[np.intp], NDArray[np.intp]]:
        data, seen = self._validated(X, reset=True)
        counts = seen.sum(axis=0)
        if (counts == 0).any():
            column = int((counts == 0).argmax())
            raise ValueError(f"X must have a value in every column, got none in column {column}: drop it")
        values = np.where(seen, data, 0.0)
        self.statistics_ = values.sum(axis=0) / counts
        spread = np.where(seen, abs(data - self.statistics_), 0.0).max(axis=0)
        varies = (counts > 1) & (spread > 1e-12 * abs(values).max(axis=0))
        used = np.flatnonzero(varies)
        rows = np.flatnonzero(seen[:, used].any(axis=1))
        self.expected_error_ = np.where(counts > 1, 0.0, np.nan)
        self.expected_error_stderr_ = self.expected_error_.copy()
        self.imputed_: Imputed | None = None
        if len(used) > 1 and len(rows) > 2:
            part = np.ix_(rows, used)
            self.imputed_ = impute(values[part], seen[part], self.lam, self.method, check=False)
            self.expected_error_[used] = self.imputed_.error_by_column
            self.expected_error_stderr_[used] = self.imputed_.stderr
            if not self.imputed_.converged:
                warnings.warn(f"{self.imputed_.iterations} steps did not suffice: raise lam", ConvergenceWarning, 2)
        elif len(used):  # the mean, by which an entry that it does not contain is off by more than the variance
            variance = np.where(seen, (data - self.statistics_) ** 2, 0.0).sum(axis=0) / np.maximum(counts - 1, 1)
            self.expected_error_[used] = (variance * (1 + 1 / counts))[used]
            self.expected_error_stderr_[used] = np.nan
        self.lam_ = None if self.imputed_ is None else self.imputed_.lam
        self._used = used
        self.indicator_ = None
        if self.add_indicator:
            self.indicator_ = MissingIndicator(missing_values=self.missing_values, error_on_new=False).fit(data)
        return data, seen, rows, used

    def _filled(self, data: Array, seen: NDArray[np.bool_]) -> tuple[Array, Array]:
        """Return rows filled, and the expected squared errors of their holes."""
        filled = np.where(seen, data, self.statistics_)
        errors = np.where(seen, 0.0, self.expected_error_)
        if self.imputed_ is not None:
            values = np.where(seen, data, 0.0)[:, self._used]
            filled[:, self._used], errors[:, self._used] = self.imputed_.fill(values, seen[:, self._used])
        return filled, errors

    def _with_indicator(self, filled: Array, data: Array) -> Array:
        return filled if self.indicator_ is None else np.hstack([filled, self.indicator_.transform(data)])

    def _checked(self, X: Any) -> tuple[Array, NDArray[np.bool_]]:
        check_is_fitted(self, "statistics_")
        return self._validated(X, reset=False)

    def _validated(self, X: Any, reset: bool) -> tuple[Array, NDArray[np.bool_]]:
        by_nan = _is_nan(self.missing_values)
        finite = "allow-nan" if by_nan else True
        data = validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite=finite)
        return data, ~np.isnan(data) if by_nan else data != self.missing_values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = _is_nan(self.missing_values)
        return tags


class MaskedRegressor(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]  # without types
    """Predict every column of a table from all the others by ridge regression, with one ridge for all columns.

    `fit` learns from rows X (n, d) without a target: column k minimizes (1/(n - 1)) |X_k - X_-k a|^2 + lam |a|^2, where
    all columns are about their means and in units of their standard deviations over the rows. `predict` returns an
    array of the shape of X, in its units, of which column k knows all columns but k. `score` is the mean, over the
    columns that vary, of the share of variance explained, so that `GridSearchCV` needs no target. `transform` fills
    missing values (NaN) by their conditional means given the row's other values, as `MaskedImputer` does, and leaves
    all else as it is. In rows with missing values `predict` uses the values that are there, and `score` counts these;
    `fit` then learns by `MaskedImputer`. Columns of one value are predicted by it and take no part.

    Parameters: `lam`, the ridge in units of the columns' variances; by default the one of 57 from 1e-5 to 100 that has
    the least error by generalized cross-validation (GCV), and in a table with missing values by hiding entries.

    Attributes: `coef_` (d, d), whose row k has the coefficients for column k and a zero on the diagonal, and
    `intercept_` (d,), in the units of X; `lam_`; `means_` and `scales_` (d,), the standard deviations (1 where a column
    has one value); `error_` (d,), the mean squared error of each column that is expected on new rows, in its squared
    units: by GCV, or at missing values as `MaskedImputer.expected_error_`; `n_features_in_`, `feature_names_in_`. In a
    table with missing values `imputer_` is the imputer, else None.

    >>> from sklearn.datasets import load_wine
    >>> X = load_wine().data
    >>> model = MaskedRegressor().fit(X[::2])
    >>> model.predict(X).shape, round(model.score(X[1::2]), 2)
    ((178, 13), 0.51)
    """

    def __init__(self, *, lam: Any = None) -> None:
        self.lam = lam

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002  # every estimator takes y
        """Learn from X (rows, columns); ValueError below three rows, and for a lam that is not positive."""
        lam = None if self.lam is None else float(self.lam)
        if lam is not None and not 0 < lam < np.inf:
            raise ValueError(f"lam must be a positive number, or None to have it chosen, got {self.lam!r}")
        data = validate_data(self, X, reset=True, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=3)
        d = data.shape[1]
        self._gaussian: Gaussian | None = None
        self._varies, self.lam_ = np.arange(0), lam
        self.coef_, self.means_, self.scales_, self.error_ = np.zeros((d, d)), np.zeros(d), np.ones(d), np.zeros(d)
        self.imputer_: MaskedImputer | None = None
        standard = self._learn_by_imputing(data) if np.isnan(data).any() else self._learn(data)
        self.coef_[np.ix_(self._varies, self._varies)] = standard
        self.coef_ *= self.scales_[:, None] / self.scales_
        self.intercept_ = self.means_ - self.coef_ @ self.means_
        return self

    def predict(self, X: Any) -> Array:
        """Predict each entry of the rows X, (rows, columns), from the others that its row has, in the units of X."""
        return self._predicted(self._checked(X))

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Return the mean share of variance explained on rows X; 1 is perfect, 0 is what the mean reaches.

        For each column that varied in the table learnt from, and has a value in X, it is 1 - (mean squared error)/
        (variance), the variance about the mean *of that table*, so that one row has a score. NaN where there is none.
        """
        data = self._checked(X)[:, self._varies]
        seen = ~np.isnan(data)
        off, variance = (
            np.where(seen, (data - of) ** 2, 0.0).sum(axis=0)
            for of in (self._predicted(self._checked(X))[:, self._varies], self.means_[self._varies])
        )
        explained = 1 - off[variance > 0] / variance[variance > 0]
        return float(explained.mean()) if len(explained) else float("nan")

    def transform(self, X: Any) -> Array:
        """Return X with its missing values filled by their means given the other values of the row."""
        data = self._checked(X)
        holes = np.isnan(data)
        return np.where(holes, self._predicted(data), data) if holes.any() else data

    def _predicted(self, data: Array) -> Array:
        found = (data - self.means_) @ self.coef_.T + self.means_  # keeps the digits of a large mean
        holed = np.flatnonzero(np.isnan(data).any(axis=1))
        if not len(holed):
            return np.asarray(found)
        found[holed] = self.means_
        if self._gaussian is not None:
            standard = ((data[holed] - self.means_) / self.scales_)[:, self._varies]
            values = self._gaussian.each_from_the_others(standard, ~np.isnan(standard))
            found[np.ix_(holed, self._varies)] += self.scales_[self._varies] * values
        return np.asarray(found)

    def _checked(self, X: Any) -> Array:
        check_is_fitted(self, "coef_")
        return np.asarray(validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan"))

    def _learn(self, data: Array) -> Array:
        """Learn from complete rows, and return the predictor of the columns that vary, in standard units."""
        self.means_ = data.mean(axis=0)
        spread = abs(data - self.means_).max(axis=0)
        self._varies = np.flatnonzero(spread > ROUNDING * abs(data).max(axis=0))
        used = self._varies
        self.scales_[used] = data[:, used].std(axis=0, ddof=1)
        self.error_[used] = self.scales_[used] ** 2
        if len(used) < 2:
            return np.zeros((len(used), len(used)))
        rows = contrasts((data - self.means_)[:, used] / self.scales_[used])
        if self.lam_ is None:
            self.lam_ = float(RIDGES[fit_path(rows, RIDGES).best()])
        found = fit(rows, self.lam_)
        self.error_[used] = found.gcv_error * self.scales_[used] ** 2 * (1 + 1 / len(data))
        self._gaussian = Gaussian(np.zeros(len(used)), rows.T @ rows / len(rows), self.lam_)
        return found.predictor

    def _learn_by_imputing(self, data: Array) -> Array:
        """Learn from rows with holes by expectation maximization, and return the predictor in standard units."""
        self.imputer_ = imputer = MaskedImputer(lam=self.lam_).fit(data)
        self.means_, self.error_ = imputer.statistics_.copy(), imputer.expected_error_.copy()
        imputed, used = imputer.imputed_, imputer._used
        if imputed is None:
            return np.zeros((0, 0))
        fitted = cast(Gaussian, imputed._model)  # which "em" always gives
        self._varies, self.lam_ = used, imputed.lam
        self.means_[used], self.scales_[used] = imputed._means, imputed._scales
        inverse = np.linalg.inv(fitted.ridged)
        predictor = -inverse / np.diagonal(inverse)[:, None]
        np.fill_diagonal(predictor, 0.0)
        # The mean of the Gaussian is that of all rows, their holes filled.
        self.means_[used] += self.scales_[used] * fitted.mean
        self._gaussian = Gaussian(np.zeros(len(used)), fitted.covariance, imputed.lam)
        return np.asarray(predictor)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _is_nan(value: Any) -> bool:
    return isinstance(value, float | np.floating) and bool(np.isnan(value))
