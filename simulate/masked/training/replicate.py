"""Measures one replicate of masked regression along training."""

from dataclasses import dataclass

from numpy.random import Generator

from simulate.masked.draw import draw
from simulate.masked.sampler import Inputs
from simulate.masked.training.fit import fit_training
from theory.core import Result, checked
from theory.models import MaskedTraining


@dataclass(frozen=True, repr=False)
class TrainingErrors(Result):
    """Errors of one data set, averaged over the coordinates; that on new rows is exact given the data."""

    mean_test_error: float
    mean_train_error: float


@checked
def training_replicate(model: MaskedTraining, d: int, rng: Generator, inputs: Inputs = "gaussian") -> TrainingErrors:
    """Draw n = round(alpha d) rows, train their regressions as the model says, and measure both errors.

    `theory.masked.solve(model)` predicts them under the same names; one pass has no train error there. ValueError as in
    `mean_test_error`.

    >>> from simulate.core import stream
    >>> from theory.models import AR1, Flow
    >>> model = MaskedTraining(AR1(d=40, correlation=0.7), alpha=2.0, training=Flow(5.0))
    >>> 0.4 < training_replicate(model, 40, stream(0, "docstring")).mean_test_error < 0.6
    True
    """
    covariance, X = draw(model, d, rng, inputs)
    found = fit_training(X, model.training, model.lam)
    return TrainingErrors(found.mean_test_error(covariance), found.mean_train_error)
