"""Masked regression behaves like a teacher-student problem whose label noise is the conditional variance."""

import numpy as np

from figures.core import Curve, Experiment
from simulate.masked import mean_test_error, teacher_student_error
from theory import masked
from theory.models import AR1, MaskedRidge, TeacherStudent

COVARIANCE = AR1(np.inf, 0.7)
CONDITIONAL_VARIANCE = (1 - 0.7**2) / (1 + 0.7**2)  # of AR(1) with unit variances, given all other coordinates
LAM = 3e-3


def teacher(noise: float, points: tuple[float, ...]) -> Curve:
    """Declare a teacher whose signal is as strong as what the other coordinates explain of a masked one."""
    return Curve(
        model=lambda alpha: TeacherStudent(COVARIANCE, alpha, LAM, noise, signal_power=1 - CONDITIONAL_VARIANCE),
        theory=lambda model: masked.teacher_student(model).test_error,
        replicate=teacher_student_error,
        points=points,
    )


EXPERIMENT = Experiment(
    title="Masked regression peaks although no label is noisy",
    papers={
        "arXiv:2304.07235 (talk: learning curves)": "The peak at n = d stands in masked and in teacher-student "
        "regression, as in the talk, whose sizes are not known.",
    },
    curves={
        "masked regression": Curve(
            model=lambda alpha: MaskedRidge(COVARIANCE, alpha, LAM),
            theory=lambda model: masked.solve(model).mean_test_error,
            replicate=mean_test_error,
        ),
        "teacher, noise as in the data": teacher(CONDITIONAL_VARIANCE, (0.35, 0.6, 0.85, 1.2, 2.0, 3.2)),
        "teacher, no noise": teacher(0.0, (0.25, 0.5, 0.75, 1.0, 1.5, 2.5)),
    },
    line=np.geomspace(0.2, 5, 161),
    points=(0.25, 0.5, 0.75, 1.0, 1.5, 2.5, 4.0),
    d=200,
    replicates=40,
    xlabel=r"sample ratio $\alpha = n/d$",
    ylabel="test error",
    xscale="log",
    ylim=(-0.06, 2.4),
    caption="Masked regression peaks at n = d although no noise is added to any label: the part of a coordinate that "
    "the others cannot explain takes the place of noise. A linear teacher on the same inputs (AR(1), r = 0.7, ridge "
    "0.003), whose labels have noise of the variance of this part, gives nearly the same curve: its error is larger "
    "by up to 6.5 % below n = d, and within 0.3 % beyond. A teacher without noise has no peak: its error falls to the "
    "order of the squared ridge. The vertical axis is the squared error. Lines are the theory in the limit d = "
    "infinity; markers are simulations at d = {sizes}, extrapolated.",
)
