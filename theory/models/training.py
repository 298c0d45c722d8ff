"""Records of training: how long, and by which optimizer, masked regression is trained from zero."""

import math
from dataclasses import dataclass
from typing import Annotated

from theory.core import CheckedRecord, Count, NonNegative, Positive
from theory.core.ranges import Within
from theory.models.conventions import SampleRatio
from theory.models.joint_rows import DependentRows, require_rows
from theory.models.masked_ridge import SampledRows
from theory.models.row_dependence import INDEPENDENT, RowDependence
from theory.models.row_scales import GAUSSIAN, RowScales, shown_fields

Momentum = Annotated[float, Within(0.0, 1.0, closed=(True, False))]


class Training(CheckedRecord):
    """The base of all records of training.

    Coordinate k of masked regression is trained from a = 0 by minus *half* the gradient of (1/n) |X_k - X_-k a|^2 + lam
    |a|^2, that is along C_-k,k - (C_-k + lam) a with C = X'X/n. A step of size `step` moves a by the step times this,
    so that m steps of descent take as long as the flow takes to the time m times the step.
    """


@dataclass(frozen=True)
class Flow(Training):
    """Gradient flow da/dt = C_-k,k - (C_-k + lam) a up to `time`, in units of one over a variance.

    >>> Flow(2.0)
    Flow(time=2.0)
    """

    time: Positive

    def __post_init__(self) -> None:
        if isinstance(self.time, int | float) and self.time == 0:
            raise ValueError("time must be positive, got 0: before any training the errors are the variances, Sigma_kk")
        if isinstance(self.time, float) and self.time == math.inf:
            raise ValueError(
                "time must be finite, got inf: the limit of long training is theory.masked.ridgeless, or MaskedRidge "
                "where there is a ridge"
            )
        super().__post_init__()


@dataclass(frozen=True)
class Descent(Training):
    """Gradient descent of `steps` steps of size `step`, each a += step (C_-k,k - (C_-k + lam) a).

    >>> Descent(step=0.1, steps=20).time
    2.0
    """

    step: Positive
    steps: Count

    @property
    def time(self) -> float:
        """The time of a gradient flow of the same length, steps times the size of one."""
        return self.step * self.steps


@dataclass(frozen=True)
class HeavyBall(Descent):
    """Gradient descent with Polyak's momentum: each step adds `momentum` times the step before it.

    >>> HeavyBall(step=0.1, steps=20, momentum=0.9).momentum
    0.9
    """

    momentum: Momentum = 0.9


@dataclass(frozen=True)
class Nesterov(Descent):
    """Nesterov's accelerated descent: the gradient at a + b (a - a before), b = (k - 1)/(k + 2) in step k = 1, 2, ...

    >>> Nesterov(step=0.1, steps=20).steps
    20
    """


@dataclass(frozen=True)
class OnePass(Training):
    """One pass of stochastic gradient descent: each row x is used once, a += (step/d) (x_k - a.x_-k) x_-k.

    The rows seen are alpha d; the step is divided by d, so that d -> infinity has a limit.

    >>> OnePass(step=0.5)
    OnePass(step=0.5)
    """

    step: Positive


@dataclass(frozen=True, repr=False)
class MaskedTraining(DependentRows, SampledRows):
    """Masked self-supervised regression that is trained for a while, and not to the end (derived here).

    The data are n = alpha d rows x ~ N(0, Sigma), as in `MaskedRidge`. Every coordinate k is predicted from all others
    by coefficients that start at zero and follow `training`, on the objective (1/n) |X_k - X_-k a|^2 + lam |a|^2. The
    ridge `lam` may be zero, the default, where the length of the training alone regularizes. Errors are mean squares of
    each coordinate, without a factor 1/2, and include the irreducible conditional variance. d may be infinite.
    `row_scales` is the law of the rows' scales and `row_dependence` their dependence, as in `MaskedRidge`; one pass
    takes rows that are alike and independent only.

    >>> from theory.models import AR1
    >>> MaskedTraining(AR1(d=400, correlation=0.7), alpha=2.0, training=Flow(3.0))
    MaskedTraining(covariance=AR1(d=400, correlation=0.7), alpha=2.0, training=Flow(time=3.0), lam=0.0)
    """

    alpha: SampleRatio
    training: Training
    lam: NonNegative = 0.0
    row_scales: RowScales = GAUSSIAN
    row_dependence: RowDependence = INDEPENDENT

    def __post_init__(self) -> None:
        super().__post_init__()
        require_rows(self.row_scales, self.row_dependence, self.alpha, self.d)
        if not isinstance(self.training, OnePass):
            return
        if self.lam:
            raise ValueError(f"lam must be 0 for OnePass, which has no penalty, got {self.lam!r}")
        if not (self.row_scales.alike and self.row_dependence.is_identity):
            raise ValueError(
                "row_scales and row_dependence must be left out for OnePass, whose equation is known for rows that are "
                f"alike and independent only, got {self.row_scales!r} and {self.row_dependence!r}"
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({shown_fields(self)})"
