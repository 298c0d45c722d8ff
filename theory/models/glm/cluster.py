"""One cluster of the data: where its mean lies and how its labels arise."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from theory.core import Accepted, NonNegative, NonNegativeCount, PositiveShare, Real, checked_fields, checks
from theory.models.covariance import set_checked
from theory.models.glm.label_channels import AnyChannel, Flips, Kind, require_law

LabelLaw = Literal["linear", "sign", "random", "cluster"]
Pair = Annotated[tuple[float, float], Accepted(lambda name, value: numbers(name, value, 2))]
WORDS = {2: "two"}


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """One cluster of the data: Gaussian samples x with one mean and one covariance, and the law of their labels.

    The cluster holds a share `probability` of all samples. Its mean is `mean_sign` times the mean that belongs to the
    signal number `mean_signal`, and its covariance is the one number `covariance` of the modes. The teacher's field nu
    belongs to the signal number `teacher_signal`, and has the mean `teacher_mean` and the variance `teacher_variance`
    within the cluster. The labels are "linear", y = nu + noise; "sign", y = sign(nu + noise) with Gaussian noise of
    variance `noise` (a probit); "random", y = +-1 with probability 1/2; or "cluster", y = `label`. Instead of a name
    they may be a channel P(y | nu): `Logit`, `Probit`, `Flips`, `Poisson`, `Additive`, or any other as a
    `LabelChannel`, each with its own noise; `noise` is for names and for `Flips` of the sign. `loss_weights` multiply
    the loss where y = +1 and where y = -1; for labels that are not +-1 both must be the same number.

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

    probability: PositiveShare = 1.0
    labels: LabelLaw | AnyChannel = "sign"
    label: int = 1
    covariance: NonNegativeCount = 0
    learner: NonNegativeCount = 0
    mean_signal: NonNegativeCount | None = None
    mean_sign: Real = 1.0
    teacher_signal: NonNegativeCount | None = None
    teacher_variance: NonNegative = 1.0
    teacher_mean: Real = 0.0
    noise: NonNegative = 0.0
    loss_weights: Pair = (1.0, 1.0)

    def __post_init__(self) -> None:
        checked_fields(self)
        if self.labels not in ("random", "cluster") and self.teacher_signal is None:
            raise ValueError(f"labels={self.labels!r} need a teacher: give teacher_signal, got None")
        if not isinstance(self.labels, str):
            self._check_channel(self.labels)
        if self.label not in (-1, 1):
            raise ValueError(f"label must be -1 or 1, got {checks.shown(self.label)}")
        set_checked(self, loss_weights=label_weights(self.loss_weights, self.labels))

    def _check_channel(self, channel: AnyChannel) -> None:
        if self.noise > 0 and not isinstance(channel, Flips):
            raise ValueError(f"noise must be 0 for labels={checks.shown(channel)}, a channel with its own noise")
        if self.teacher_variance == 0:
            raise ValueError(f"teacher_variance must be positive for labels={checks.shown(channel)}, got 0")
        require_law(channel, self.teacher_mean, self.teacher_variance)


def kind_of(labels: LabelLaw | AnyChannel) -> Kind:
    """Return whether labels are "signs" +-1, "real" numbers, or a list of other "values"."""
    if isinstance(labels, str):
        return "real" if labels == "linear" else "signs"
    return labels.kind


def label_weights(value: Any, labels: LabelLaw | AnyChannel) -> tuple[float, float]:
    """Return the checked weights by which the loss is multiplied where y = +1 and where y = -1.

    ValueError for a negative weight, for two zeros, and for unequal weights of linear labels: these have no sign, so
    that a weight for each sign would weigh samples by the sign of a real number.
    """
    plus, minus = numbers("loss_weights", value, 2)
    if min(plus, minus) < 0 or max(plus, minus) == 0:
        raise ValueError(f"loss_weights must be two non-negative numbers, not both zero, got {(plus, minus)!r}")
    if kind_of(labels) != "signs" and plus != minus:
        named = "linear labels" if labels == "linear" else f"labels={checks.shown(labels)}"
        raise ValueError(f"loss_weights must be equal for {named}, which have no sign, got {(plus, minus)!r}")
    return plus, minus


def numbers(name: str, value: Any, count: int) -> tuple[float, ...]:
    """Return `value` as a tuple of `count` finite floats; ValueError names the argument otherwise."""
    array = checks.real_array(name, value)
    if array.shape != (count,):
        raise ValueError(f"{name} must be {WORDS.get(count, count)} numbers, got {checks.shown(value)}")
    return tuple(checks.real(name, one) for one in array.tolist())
