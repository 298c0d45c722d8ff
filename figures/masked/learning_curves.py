"""Masked regression without label noise has the learning curves of a teacher with noise: peak, law and best ridge."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.linalg import lstsq

from figures.core import NONE, Curve, Experiment, Panel
from simulate.masked import mean_test_error, mean_train_error, sample, teacher_student_error
from theory import masked
from theory.models import AR1, MaskedRegression, MaskedRidge, TeacherStudent

R = 0.7
COVARIANCE = AR1(np.inf, R)
NOISE = (1 - R**2) / (1 + R**2)  # the conditional variance of a coordinate, and the label noise of the teacher
LAMS: dict[float, tuple[float, ...]] = {  # the ridges, with the sample ratios that are simulated
    0.0: (0.3, 0.6, 1.7, 3.0),
    1e-3: (0.25, 0.7, 1.4, 4.0),
    0.01: (0.4, 1.0, 2.0),
    0.1: (0.3, 1.0, 2.5),
}
BEST_POINTS = (0.35, 1.0, 1.5, 3.0)
VANISHING = 1e-9  # the ridge that stands for none, since a teacher's problem needs one
TEACHERS = 30  # of the same rows
DISTANCES = np.geomspace(0.02, 0.9, 60)
MASKED, TEACHER = 2, 3  # places of their colors in the panels that compare both
NEAR = (0.05, 0.1)  # distances from the peak that need larger sizes, and the law of a finite size
Problem = Callable[[float], Any]


def masked_at(lam: float) -> Problem:
    return lambda alpha: MaskedRidge(COVARIANCE, alpha, lam) if lam else MaskedRegression(COVARIANCE, alpha)


@cache
def masked_best_ridge(alpha: float) -> float:
    return masked.optimal_ridge(COVARIANCE, alpha).lam


def masked_best(alpha: float) -> MaskedRidge:
    return MaskedRidge(COVARIANCE, alpha, masked_best_ridge(alpha))


def teacher_at(lam: float) -> Problem:
    return lambda alpha: TeacherStudent(COVARIANCE, alpha, lam or VANISHING, NOISE, signal_power=1 - NOISE)


def teacher_best_ridge(alpha: float) -> float:
    """Return the ridge of the posterior mean: the teacher is isotropic, with variance (1 - NOISE)/d of an entry."""
    return NOISE / ((1 - NOISE) * alpha)


def teacher_best(alpha: float) -> TeacherStudent:
    return TeacherStudent(COVARIANCE, alpha, teacher_best_ridge(alpha), NOISE, signal_power=1 - NOISE)


@cache  # the panels of test and training errors ask for the same solutions
def errors(model: MaskedRidge | MaskedRegression | TeacherStudent) -> Any:
    """Return the solution of any of the three problems."""
    if isinstance(model, TeacherStudent):
        return masked.teacher_student(model)
    return masked.solve(model) if isinstance(model, MaskedRidge) else masked.ridgeless(model)


def test_error(model: MaskedRidge | MaskedRegression | TeacherStudent) -> float:
    solution = errors(model)
    return float(solution.test_error if isinstance(model, TeacherStudent) else solution.mean_test_error)


def test_error_at(model: MaskedRegression | TeacherStudent, d: int) -> float:
    """Returns the test error without a ridge at a finite size, close to n = d.

    A Wishart matrix of p unknowns and n > p samples has an inverse of mean 1/(n - p - 1), in place of 1/(n - p), and
    one of n < p has a pseudo-inverse that is larger by (p - n)/(p - n - 1); masked regression has p = d - 1 unknowns,
    a teacher's p = d. For n > p this gives the error exactly, and for n < p the part of it that diverges. Either is the
    theory at another sample ratio.
    """
    n, unknowns = round(model.alpha * d), d if isinstance(model, TeacherStudent) else d - 1
    # At the toy sizes of a draft fewer samples than d may be as many as unknowns: there the law has no number.
    ratio = (n - 1) / unknowns if n > d else n / max(unknowns - 1, n + 1)
    return test_error(replace(model, alpha=ratio))


def train_error(model: MaskedRidge | MaskedRegression | TeacherStudent) -> float:
    solution = errors(model)
    return float(solution.train_error if isinstance(model, TeacherStudent) else solution.mean_train_error)


def teacher_train_error(model: TeacherStudent, d: int, rng: Generator) -> float:
    """Measure the mean squared residual of fits to labels that were drawn, of several teachers of the same rows."""
    X = sample(model.covariance.resized(d), round(model.alpha * d), rng)
    n = len(X)
    teachers = rng.normal(0, np.sqrt(model.signal_power / d), (d, TEACHERS))
    labels = X @ teachers + rng.normal(0, np.sqrt(model.noise), (n, TEACHERS))
    rows = np.vstack([X / np.sqrt(n), np.sqrt(model.lam) * np.eye(d)])
    # The ridge makes these rows independent, so that their QR decomposition serves, at a third of the cost of an SVD.
    right = np.vstack([labels / np.sqrt(n), np.zeros((d, TEACHERS))])
    fitted = lstsq(rows, right, lapack_driver="gelsy", check_finite=False)[0]
    return float(np.mean((labels - X @ fitted) ** 2))


def curves(at: Callable[[float], Problem], best: Problem, train: bool = False) -> dict[str, Curve]:
    """Declare a curve for each ridge and one for the best, the ridge that is least in test error."""
    names = {lam: rf"$\lambda = {lam:g}$" if lam else r"$\lambda \to 0$" for lam in LAMS}
    found = {names[lam]: _curve(at(lam), points, train, not lam) for lam, points in LAMS.items()}
    return found | {r"best $\lambda$": replace(_curve(best, BEST_POINTS, train, False), color="C1")}


def _curve(model: Problem, points: tuple[float, ...], train: bool, ridgeless: bool) -> Curve:
    """Declare a line that leaves out alpha = 1 without a ridge, and the training error where it vanishes."""
    line = np.geomspace(0.2, 5, 160)  # an even number of points, so that none of them is 1
    zero = train and ridgeless
    return Curve(
        model=model,
        line=line[line > 1] if zero else line,
        points=tuple(alpha for alpha in points if alpha > 1 or not zero),
    )


def below(at: Callable[[float], Problem]) -> Problem:
    return lambda distance: at(0.0)(1 - distance)


def above(at: Callable[[float], Problem]) -> Problem:
    return lambda distance: at(0.0)(1 + distance)


def sides() -> dict[str, Curve]:
    """Declare both sides of the peak, the points nearest to it as curves of their own, and the slope."""
    found = {
        r"masked, $\alpha > 1$": Curve(model=above(masked_at), color=MASKED, style="-", marker="P"),
        r"masked, $\alpha < 1$": Curve(model=below(masked_at), color=MASKED, style="--", marker="X"),
        r"teacher, $\alpha < 1$": Curve(
            model=below(teacher_at), replicate=teacher_student_error, color=TEACHER, style="-.", marker="<"
        ),
    }
    near = {
        f"_near, {label}": replace(
            curve, line=(), points=NEAR, d=160, replicates=48, theory_at=test_error_at, by_gap=True
        )
        for label, curve in found.items()
    }
    slope = Curve(
        model=lambda distance: distance,
        theory=lambda distance: NOISE / distance,
        replicate=NONE,
        points=(),
        style=":",
        color="0.4",
    )
    return found | {"slope $-1$": slope} | near


EXPERIMENT = Experiment(
    title="Masked regression peaks at $n = d$ like a teacher whose labels are noisy",
    papers={
        "arXiv:2304.07235 (talk: training and test errors)": "The figure shows the peak at n = d, the training error "
        "that leaves zero there, and ridges that remove the peak, as the talk does, whose sizes are not known.",
    },
    panels=[
        Panel(title="masked: test", curves=curves(masked_at, masked_best), ordered=True, ylim=(0.3, 12)),
        Panel(
            title="teacher: test",
            curves=curves(teacher_at, teacher_best),
            ordered=True,
            replicate=teacher_student_error,
            ylim=(0.3, 12),
        ),
        Panel(
            title=r"$\lambda \to 0$: test, both sides of $n = d$",
            curves=sides(),
            line=DISTANCES,
            points=(0.2, 0.4, 0.7),
            xlabel=r"$|\alpha - 1|$",
        ),
        Panel(
            title="masked: training",
            curves=curves(masked_at, masked_best, train=True),
            ordered=True,
            theory=train_error,
            replicate=mean_train_error,
            ylabel="training error",
            ylim=(1e-5, 1),
        ),
        Panel(
            title="teacher: training",
            curves=curves(teacher_at, teacher_best, train=True),
            ordered=True,
            theory=train_error,
            replicate=teacher_train_error,
            ylabel="training error",
            ylim=(1e-5, 1),
        ),
        Panel(
            title="ridge with the least test error",
            curves={
                "masked": Curve(model=float, theory=masked_best_ridge, color=MASKED, style="-"),
                "teacher": Curve(model=float, theory=teacher_best_ridge, color=TEACHER, style="-."),
            },
            replicate=NONE,
            points=(),
            table_points=(0.25, 0.5, 1.0, 2.0, 4.0),
            line=np.geomspace(0.2, 5, 81),
            ylabel=r"best ridge $\lambda$",
        ),
    ],
    theory=test_error,
    replicate=mean_test_error,
    d=80,
    replicates=16,
    seed=2304,
    xlabel=r"sample ratio $\alpha = n/d$",
    ylabel="test error",
    xscale="log",
    yscale="log",
    caption="Masked regression, to which no noise is added, has the learning curves of a linear teacher with noisy "
    "labels: both diverge at n = d without a ridge, and the best ridge removes the peak. Inputs are AR(1) with r = "
    "0.7; the teacher's noise has the conditional variance of a coordinate, 0.34. Lines are the theory for d = "
    "infinity; markers are simulations at d = {sizes}, extrapolated. (c) Without a ridge both errors approach this "
    "variance over |alpha - 1| (dotted); above n = d they are equal. At 0.05 and 0.1 d is 160 and 320, and a "
    "finite-size law is taken out. (d, e) Training errors leave zero at n = d.",
)
