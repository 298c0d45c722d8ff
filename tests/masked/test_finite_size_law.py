"""The law of a finite size in the figure of learning curves, against the exact mean of inverse Wishart matrices."""

import pytest

from figures.masked import learning_curves
from simulate.core import replicate_estimate
from simulate.masked import mean_test_error
from theory.models import AR1, MaskedRegression, TeacherStudent

COVARIANCE, NOISE = learning_curves.COVARIANCE, learning_curves.NOISE


@pytest.mark.parametrize(("d", "n"), [(40, 44), (160, 168), (160, 320)])
def test_more_samples_than_unknowns_give_the_exact_error(d, n):
    """With p unknowns the noise s is multiplied by 1 + p/(n - p - 1) for any covariance; p = d - 1 or d."""
    for model, p in (
        (MaskedRegression(COVARIANCE, n / d), d - 1),
        (TeacherStudent(COVARIANCE, n / d, 1e-11, NOISE, signal_power=1 - NOISE), d),
    ):
        assert learning_curves.test_error_at(model, d) == pytest.approx(NOISE * (1 + p / (n - p - 1)), rel=1e-6)


def test_drawn_samples_have_the_exact_error(agrees):
    d, n = 24, 48
    model = MaskedRegression(AR1(d, 0.7), n / d)
    measured = replicate_estimate(mean_test_error, model, d, 1000, seed=0)
    agrees(measured, learning_curves.test_error_at(model, d), resolves=0.05)
