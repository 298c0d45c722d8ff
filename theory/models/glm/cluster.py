"""One cluster of the data: where its mean lies and how its labels arise."""

from dataclasses import dataclass
from typing import Any, Literal

from theory.core import checks
from theory.models.covariance import set_checked

LabelLaw = Literal["linear", "sign", "random", "cluster"]
WORDS = {2: "two"}
LAWS = ("linear", "sign", "random", "cluster")


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """One cluster of the data: Gaussian samples x with one mean and one covariance, and the law of their labels.

    The cluster holds a share `probability` of all samples. Its mean is `mean_sign` times the mean that belongs to the
    signal number `mean_signal`, and its covariance is the one number `covariance` of the modes. The teacher's field nu
    belongs to the signal number `teacher_signal`, and has the mean `teacher_mean` and the variance `teacher_variance`
    within the cluster. The labels are "linear", y = nu + noise; "sign", y = sign(nu + noise) with Gaussian noise of
    variance `noise` (a probit); "random", y = +-1 with probability 1/2; or "cluster", y = `label`. `loss_weights`
    multiply the loss where y = +1 and where y = -1; for linear labels both must be the same number.

    A linear teacher that sees all of its isotropic inputs, learned by ridge regression from two samples a weight:

    >>> import numpy as np
    >>> from theory import glm
    >>> from theory.models import Cluster, GeneralizedLinearModel, Modes
    >>> modes = Modes.of_matrix(np.eye(4), signals=np.ones((1, 4)))
    >>> cluster = Cluster(labels="linear", teacher_signal=0, noise=0.1)
    >>> model = GeneralizedLinearModel(modes=modes, clusters=[cluster], alpha=2.0, lam=0.1, loss="square")
    >>> round(glm.solve(model).test_error, 6)
    0.184429
    """

    probability: float = 1.0
    labels: LabelLaw = "sign"
    label: int = 1
    covariance: int = 0
    learner: int = 0
    mean_signal: int | None = None
    mean_sign: float = 1.0
    teacher_signal: int | None = None
    teacher_variance: float = 1.0
    teacher_mean: float = 0.0
    noise: float = 0.0
    loss_weights: tuple[float, float] = (1.0, 1.0)

    def __post_init__(self) -> None:
        checks.choice("labels", self.labels, LAWS)
        if self.labels in ("linear", "sign") and self.teacher_signal is None:
            raise ValueError(f"labels={self.labels!r} need a teacher: give teacher_signal, got None")
        label = checks.integer("label", self.label)
        if label not in (-1, 1):
            raise ValueError(f"label must be -1 or 1, got {checks.shown(self.label)}")
        signals = {
            name: None if index is None else int(checks.dimension(index, least=0, name=name))
            for name, index in (("mean_signal", self.mean_signal), ("teacher_signal", self.teacher_signal))
        }
        set_checked(
            self,
            **signals,
            label=label,
            covariance=int(checks.dimension(self.covariance, least=0, name="covariance")),
            learner=int(checks.dimension(self.learner, least=0, name="learner")),
            probability=checks.between("probability", self.probability, 0, 1, closed=(False, True)),
            mean_sign=checks.real("mean_sign", self.mean_sign),
            teacher_variance=checks.non_negative("teacher_variance", self.teacher_variance),
            teacher_mean=checks.real("teacher_mean", self.teacher_mean),
            noise=checks.non_negative("noise", self.noise),
            loss_weights=label_weights(self.loss_weights, self.labels),
        )


def label_weights(value: Any, labels: LabelLaw) -> tuple[float, float]:
    """Return the checked weights by which the loss is multiplied where y = +1 and where y = -1.

    ValueError for a negative weight, for two zeros, and for unequal weights of linear labels: these have no sign, so
    that a weight for each sign would weigh samples by the sign of a real number.
    """
    plus, minus = numbers("loss_weights", value, 2)
    if min(plus, minus) < 0 or max(plus, minus) == 0:
        raise ValueError(f"loss_weights must be two non-negative numbers, not both zero, got {(plus, minus)!r}")
    if labels == "linear" and plus != minus:
        raise ValueError(f"loss_weights must be equal for linear labels, which have no sign, got {(plus, minus)!r}")
    return plus, minus


def numbers(name: str, value: Any, count: int) -> tuple[float, ...]:
    """Return `value` as a tuple of `count` finite floats; ValueError names the argument otherwise."""
    array = checks.real_array(name, value)
    if array.shape != (count,):
        raise ValueError(f"{name} must be {WORDS.get(count, count)} numbers, got {checks.shown(value)}")
    return tuple(checks.real(name, one) for one in array.tolist())
