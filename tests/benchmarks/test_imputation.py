"""Filling the holes of a table with n = 2d rows, an AR(1) chain of correlation 0.8: beside scikit-learn's imputers.

The ridge is chosen and the error of each hole is predicted within the time of ours. Peers run with their defaults. Each
row says by how much the mean squared error of the peer at the holes exceeds ours, in units of ours.
"""

import numpy as np
import pytest

from simulate.masked import holes_depend_on_values, imputation_error, impute, sample, with_holes
from tests.benchmarks.machinery.jobs import Peer
from theory.models import AR1

SUBJECT = "tables with holes"


def data(d, rate):
    rng = np.random.default_rng(1)
    X = sample(AR1(d, 0.8), 2 * d, rng)
    return X, *with_holes(X, rate, rng)


def scikit_learn(name, d, rate):
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

    imputer = {"iterative": IterativeImputer, "knn": KNNImputer, "simple": SimpleImputer}[name]
    holed = data(d, rate)[1]

    def fill():
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # ten rounds do not suffice for its tolerance
            return imputer().fit_transform(holed)

    return fill


@pytest.mark.parametrize(("d", "rate"), [(40, 0.05), (40, 0.2), (40, 0.5), (200, 0.05), (200, 0.2), (200, 0.5)])
def test_impute(jobs, d, rate):
    X, holed, seen = data(d, rate)

    def excess(ours, theirs):
        own, other = (np.mean((filled - X)[~seen] ** 2) for filled in (ours.table, theirs))
        return other / own - 1

    names = {
        "scikit-learn, IterativeImputer": "iterative",
        "scikit-learn, KNNImputer": "knn",
        "scikit-learn, SimpleImputer": "simple",
    }
    jobs.compare(
        f"a table of {2 * d} x {d} with {rate:.0%} of holes filled",
        lambda: impute(holed),
        {name: Peer(lambda key=key: scikit_learn(key, d, rate), made=True, limit=400.0) for name, key in names.items()},
        goal={"scikit-learn, IterativeImputer": "20 times"} if d == 200 else "",
        off=excess,
    )


@pytest.mark.parametrize("d", [40, 200])
def test_errors_before_filling(jobs, d):
    holed = data(d, 0.2)[1]
    beside = {
        "ours, filled by pairwise covariances": lambda: impute(holed, method="pairwise"),
        "ours, 13 ridges, own rows": lambda: imputation_error(holed, method="own_rows"),
        "ours, filled by expectation maximization": lambda: impute(holed),
        "ours, test whether holes depend on values": lambda: holes_depend_on_values(
            holed, None, np.random.default_rng(0)
        ),
    }
    jobs.compare(
        f"errors at the holes of a table of {2 * d} x {d} predicted, 13 ridges",
        lambda: imputation_error(holed),
        beside=beside,
    )
