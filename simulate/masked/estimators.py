"""An imputer with the conventions of scikit-learn, the only module here that needs it: the extra `figures`."""

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from simulate.masked.holes.imputed import ImputationMethod, Imputed, impute
from theory.core.arrays import Array

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.impute import MissingIndicator
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:  # also for a version before 1.6, which has no validate_data
    raise ImportError(
        "MaskedImputer needs scikit-learn 1.6 or later: pip install 'masked-ssl-theory[figures]'; "
        "without it, `simulate.masked.impute` fills tables as well"
    ) from error

__all__ = ["MaskedImputer"]


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
    random, and not together with others of their row (see `impute`). With "pairwise" `fit_transform` leaves every row
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


def _is_nan(value: Any) -> bool:
    return isinstance(value, float | np.floating) and bool(np.isnan(value))
