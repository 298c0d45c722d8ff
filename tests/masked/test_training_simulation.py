"""Training in time against simulation, extrapolated from two sizes, and the estimate of the error from the data."""

import math

import numpy as np
import pytest

from simulate.core import Estimate, extrapolate, stream
from simulate.masked import fit_training_path, sample, training_replicate
from theory import masked
from theory.models import AR1, Descent, Flow, HeavyBall, Isotropic, MaskedTraining, Nesterov, OnePass

INF = math.inf
CHAIN = AR1(INF, 0.7)
SIZES = 40, 80
MODELS = {
    "flow, fewer rows": MaskedTraining(CHAIN, 0.5, Flow(5.0)),
    "flow, as many rows": MaskedTraining(CHAIN, 1.0, Flow(5.0)),
    "flow, more rows": MaskedTraining(CHAIN, 2.0, Flow(0.5)),
    "flow with a ridge": MaskedTraining(CHAIN, 1.0, Flow(5.0), lam=0.05),
    "descent": MaskedTraining(CHAIN, 1.0, Descent(0.05, 40)),
    "heavy ball": MaskedTraining(CHAIN, 2.0, HeavyBall(0.03, 40, 0.8)),
    "Nesterov": MaskedTraining(CHAIN, 0.5, Nesterov(0.03, 40)),
    "one pass": MaskedTraining(CHAIN, 2.0, OnePass(0.5)),
}


def measured(name, replicates=120):
    """Test and train error for d -> infinity, from the same replicates."""
    model = MODELS[name]
    found = [
        [training_replicate(model, d, stream(0, "training", name, d, number)) for number in range(replicates)]
        for d in SIZES
    ]
    return [
        extrapolate(*(Estimate.of([getattr(one, field) for one in runs]) for runs in found))
        for field in ("mean_test_error", "mean_train_error")
    ]


@pytest.mark.parametrize("name", MODELS)
def test_errors(agrees, name):
    theory = masked.solve(MODELS[name])
    test, train = measured(name)
    agrees(test, theory.mean_test_error, resolves=0.06)
    if name != "one pass":
        agrees(train, theory.mean_train_error, resolves=0.2)
    with pytest.raises(AssertionError, match="off by"):
        agrees(test, theory.mean_test_error * 1.06, resolves=0.06)


@pytest.mark.parametrize(("covariance", "alpha", "time", "plain"), [
    (Isotropic(INF), 1.0, 5.0, 1.41), (Isotropic(INF), 0.5, 5.0, 3.34), (CHAIN, 2.0, 5.0, 1.04),
])  # fmt: skip
def test_the_estimate_from_the_data_where_cross_validation_fails(agrees, covariance, alpha, time, plain):
    """The estimate is high by a share of about 4/d; plain GCV tends to `plain` times the error, as theory says."""
    d = 80
    here = covariance.resized(d)
    runs = [
        (path.mean_test_estimate[0], path.mean_test_errors(here)[0], path.mean_gcv_error[0])
        for path in (
            fit_training_path(
                sample(here, round(alpha * d), stream(0, "estimate", repr(here), alpha, time, number)), [time]
            )
            for number in range(40)
        )
    ]
    ratio = Estimate.of([estimate / true for estimate, true, _ in runs])
    agrees(ratio, 1.0, resolves=0.2, bias=8 / d)
    wrong = np.mean([gcv for *_, gcv in runs]) / np.mean([true for _, true, _ in runs])
    theory = masked.solve(MaskedTraining(covariance, alpha, Flow(time)))
    assert wrong > 1 + 0.7 * (plain - 1)  # the limit is approached from below
    assert theory.mean_gcv_error / theory.mean_test_error == pytest.approx(plain, rel=0.05)


def test_the_time_that_the_data_choose(agrees):
    """Stopping by the estimate costs less than 1 % of the error at the best time; stopping by plain GCV costs more."""
    here, times = AR1(80, 0.7), np.geomspace(0.05, 20, 30)
    lost, by_gcv = [], []
    for number in range(20):
        path = fit_training_path(sample(here, 40, stream(0, "choice", number)), times)
        true = path.mean_test_errors(here)
        lost.append(true[path.best()] / true.min())
        by_gcv.append(true[path.mean_gcv_error.argmin()] / true.min())
    assert np.mean(lost) < 1.01
    assert np.mean(by_gcv) > np.mean(lost)
