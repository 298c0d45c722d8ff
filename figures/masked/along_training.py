"""Defines what the experiments on training share: the errors of one data set at many times, and their theory."""

from collections.abc import Mapping, Sequence

from numpy.random import Generator

from simulate.masked import fit_training_path, sample
from theory import masked
from theory.core import Array
from theory.models import MaskedRegression

Times = Mapping[str, Sequence[float]]  # of each number that is measured


def errors_along(model: MaskedRegression, times: Times, d: int, rng: Generator) -> dict[str, Array]:
    """Draw one data set and train it by gradient flow: means over coordinates, of each number at its times.

    "test" is the exact error on new rows, "train" that on the rows themselves, "estimate" what the data alone say of
    the test error, and "gcv" what plain generalized cross-validation reports.
    """
    covariance = model.covariance.resized(d)
    every = sorted({time for own in times.values() for time in own})
    path = fit_training_path(sample(covariance, round(model.alpha * d), rng), every)
    found = {"train": path.mean_train_error, "estimate": path.mean_test_estimate, "gcv": path.mean_gcv_error}
    if "test" in times:
        found["test"] = path.mean_test_errors(covariance)
    return {name: found[name][[every.index(time) for time in own]] for name, own in times.items()}


def theory_along(model: MaskedRegression, times: Sequence[float]) -> dict[str, Array]:
    """Predict the numbers of `errors_along` in the limit d = infinity, all of them at the same times."""
    curve = masked.training_curve(model.covariance, model.alpha, times)
    test = curve.mean_test_error
    return {"test": test, "estimate": test, "train": curve.mean_train_error, "gcv": curve.mean_gcv_error}
