"""The general problem: clusters of Gaussian data, one or several linear learners, a convex loss and a ridge."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from theory.core import Array, Count, NonNegative, Positive, Real, checked_fields, checks
from theory.models.covariance import set_checked
from theory.models.glm.cluster import Cluster, kind_of
from theory.models.glm.label_channels import Poisson
from theory.models.glm.modes import ROUNDING, DenseModes, Modes
from theory.models.glm.objective import LossOrName, SumObjective
from theory.models.glm.penalty import Penalty
from theory.models.glm.signal_law import SignalLaw, require_law_of


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class GeneralizedLinearModel(SumObjective):
    """The general problem of n = alpha p samples x in R^p and one or several linear learners.

    Learner l predicts from h = w_l.x/sqrt(p) + b_l, where w_l has entries O(1). Training minimizes sum_mu kappa_mu
    loss(y_mu, h_mu) + (1/2) sum_lm ridge_lm w_l.w_m, a sum over samples and not a mean, where kappa_mu is the loss
    weight of sample mu. For one learner ridge = lam; coupled learners have in addition the penalty (coupling/2) |w_l -
    w_m|^2 for each pair. The biases b_l are trained if `bias` is true, and are not penalized. `loss` is "square", (y -
    h)^2/2; "logistic", log(1 + exp(-y h)); "hinge", max(0, 1 - y h); "hard_margin", which demands y h >= 1; "poisson",
    exp(h) - y h for labels that are counts; or a loss of theory.glm.losses.

    A separable `penalty`, a `Lasso`, an `ElasticNet` or a `NonNegative`, takes the place of the ridge, and `lam` is
    left out. It refers to the coordinates of the inputs, which must
    have diagonal covariances, and it sees the law of the entries of the signals: `signals` is "gaussian", normal ones
    that are independent in each coordinate; "signs", +-1 times their size; a `BernoulliGauss`; or an array (signals,
    modes) of their values, where a mode may stand for a share of the coordinates or for one of them. The Gram matrices
    of the modes tell the powers. A ridge sees these alone, and asks for no law.

    Square loss with a lasso, for a teacher of whose weights a quarter is not zero:

    >>> from theory import glm
    >>> from theory.models import BernoulliGauss, Lasso
    >>> teacher = Cluster(labels="linear", teacher_signal=0, teacher_variance=0.25, noise=0.1)
    >>> modes = Modes(weights=[1.0], covariances=[[1.0]], gram=[[[0.25]]])
    >>> model = GeneralizedLinearModel(
    ...     modes=modes, clusters=[teacher], alpha=1.0, loss="square", penalty=Lasso(0.3), signals=BernoulliGauss(0.25)
    ... )
    >>> point = glm.solve(model)
    >>> round(point.test_error, 8), round(point.nonzero, 5), round(point.support_f1, 4)
    (0.17084462, 0.35928, 0.5459)
    """

    modes: Modes | DenseModes
    clusters: Sequence[Cluster]
    alpha: Positive
    loss: LossOrName
    lam: Real = 0.0
    bias: bool = False
    coupling: NonNegative = 0.0
    n_learners: Count = 1
    signal_learners: tuple[int, ...] | None = field(default=None)
    penalty: Penalty | None = None
    signals: SignalLaw = None

    def __post_init__(self) -> None:
        checked_fields(self)
        clusters = tuple(self.clusters)
        if not clusters:
            raise ValueError(f"clusters must be a non-empty sequence of Cluster, got {checks.shown(self.clusters)}")
        total = sum(cluster.probability for cluster in clusters)
        if abs(total - 1) > 1e-9:
            raise ValueError(f"clusters must have probabilities that sum to 1, got {total}")
        if self.penalty is not None:
            _require_separable(self)
        elif self.lam <= 0:
            raise ValueError(f"lam must be positive, got {self.lam!r}; limits lam -> 0 have functions of their own")
        for cluster in clusters:
            _require_index("covariance", cluster.covariance, self.modes.n_covariances)
            _require_index("learner", cluster.learner, self.n_learners)
            for name in ("mean_signal", "teacher_signal"):
                if (index := getattr(cluster, name)) is not None:
                    _require_index(name, index, self.modes.n_signals)
            _require_explained(self.modes, cluster)
        if len({kind_of(cluster.labels) == "signs" for cluster in clusters}) > 1:
            raise ValueError("labels must be linear in all clusters or in none")
        if self.loss == "poisson":
            _require_counts(clusters)
        _require_own_covariances(clusters)
        if self.bias:
            _require_both_labels(clusters)
        learners = _signal_learners(self.signal_learners, self.modes.n_signals)
        if len(learners) != self.modes.n_signals:
            raise ValueError(f"signal_learners must have {self.modes.n_signals} entries, got {learners}")
        for learner in learners:
            _require_index("signal_learners", learner, self.n_learners)
        if self.signals is not None and isinstance(self.modes, Modes):
            require_law_of(self.modes, self.signals)
        set_checked(self, clusters=clusters, signal_learners=learners)

    @property
    def ridge(self) -> Array:
        """The matrix of the quadratic penalty, (learners, learners), without what a lasso adds to it."""
        if self.penalty is not None:
            return np.array([[self.penalty.strengths[1]]])
        S = self.n_learners
        return np.asarray((self.lam + S * self.coupling) * np.eye(S) - self.coupling * np.ones((S, S)))

    @property
    def covariance_learners(self) -> tuple[int, ...]:
        """The learner that each covariance belongs to."""
        of = {cluster.covariance: cluster.learner for cluster in self.clusters}
        return tuple(of.get(c, 0) for c in range(self.modes.n_covariances))


def _require_separable(model: GeneralizedLinearModel) -> None:
    """Refuse what a separable penalty has no equations for here."""
    name = type(model.penalty).__name__
    if model.lam != 0:
        raise ValueError(
            f"lam must be left out with penalty={name}, which takes the place of the ridge, got {model.lam:g}"
        )
    if not isinstance(model.modes, Modes) or not model.modes.diagonal:
        raise ValueError(
            f"penalty={name} needs modes that are coordinates, that is diagonal covariances: with others the average "
            "over the weights is that of a penalty in p dimensions, which is not solved here"
        )
    if model.n_learners > 1:
        raise ValueError(f"penalty={name} needs one learner, got n_learners = {model.n_learners}")
    if model.signals is None and model.modes.n_signals:
        raise ValueError(
            f"signals must tell the law of the signals for penalty={name}, which sees more of it than their powers: "
            "'gaussian', 'signs', a BernoulliGauss or an array, got None"
        )


def _signal_learners(value: Any, n_signals: int) -> tuple[int, ...]:
    if value is None:
        return (0,) * n_signals
    array = checks.real_array("signal_learners", value)
    if array.ndim != 1:
        raise ValueError(f"signal_learners must be a sequence of integers, got {checks.shown(value)}")
    return tuple(checks.integer("signal_learners", one) for one in array.tolist())


def _require_index(name: str, index: int, count: int) -> None:
    if not 0 <= index < count:
        raise ValueError(f"{name} must lie in 0..{count - 1}, got {index!r}")


def _require_own_covariances(clusters: tuple[Cluster, ...]) -> None:
    owners: dict[int, int] = {}
    for cluster in clusters:
        if (owner := owners.setdefault(cluster.covariance, cluster.learner)) != cluster.learner:
            raise ValueError(
                f"each learner needs its own covariance, got covariance {cluster.covariance} for learners {owner} and "
                f"{cluster.learner}; list it twice in modes"
            )


def _require_both_labels(clusters: tuple[Cluster, ...]) -> None:
    """Refuse one label with all the weight: a bias, which is not penalized, would run to infinity or fit all alone."""
    seen: dict[int, set[int]] = {}
    for cluster in clusters:
        possible = (cluster.label,) if cluster.labels == "cluster" else (1, -1)
        weights = dict(zip((1, -1), cluster.loss_weights, strict=True))
        if kind_of(cluster.labels) == "signs":
            seen.setdefault(cluster.learner, set()).update(label for label in possible if weights[label] > 0)
    for learner, labels in seen.items():
        if len(labels) < 2:
            raise ValueError(f"a bias needs both labels with loss_weights above 0, got {labels} for learner {learner}")


def _require_counts(clusters: tuple[Cluster, ...]) -> None:
    for cluster in clusters:
        labels = cluster.labels
        values = (-1.0,) if isinstance(labels, str) or labels.values is None else labels.values
        if not (isinstance(labels, Poisson) or all(y >= 0 and y % 1 == 0 for y in values)):
            raise ValueError(f"loss='poisson' needs labels that are counts 0, 1, 2, ..., got {checks.shown(labels)}")


def _require_explained(modes: Modes | DenseModes, cluster: Cluster) -> None:
    """Refuse a teacher that has less variance than the inputs explain of it, s.Omega^-1.s/p for its signal s."""
    if not isinstance(modes, Modes) or (a := cluster.teacher_signal) is None:
        return
    om, gram = modes.covariances[cluster.covariance], modes.gram[a, a]
    lost = bool(np.any(gram[om == 0] > ROUNDING))
    explained = np.inf if lost else float(np.sum(np.divide(gram, om, out=np.zeros_like(om), where=om > 0)))
    if explained > cluster.teacher_variance * (1 + 1e-6):
        raise ValueError(
            f"teacher_variance must be at least what the inputs explain of it, {explained:g}, "
            f"got {cluster.teacher_variance:g}"
        )
