"""Describes the data of a model at a finite size p: groups of Gaussian inputs with mean, covariance and labels."""

from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any, cast

import numpy as np

from simulate.core.roots import symmetric_root
from simulate.glm.modes import embed
from simulate.glm.signal_layout import lay_out
from theory.core import Array, checked, checked_fields, checks
from theory.core.ranges import Count, NonNegative, NonNegativeCount, Positive, Real, Share, Vector
from theory.core.read_only import KeepsReadOnly
from theory.models.covariance import set_checked
from theory.models.glm import (
    Cluster,
    GaussianCovariateModel,
    GaussianMixture,
    GeneralizedLinearModel,
    Penalty,
    TeacherMixture,
)
from theory.models.glm.cluster import LabelLaw, label_weights
from theory.models.glm.label_channels import AnyChannel
from theory.models.glm.objective import LossOrName, checked_loss

GaussianModel = GaussianCovariateModel | GaussianMixture | GeneralizedLinearModel | TeacherMixture


@dataclass(frozen=True, eq=False, kw_only=True)
class Group(KeepsReadOnly):
    """Describes one group of Gaussian samples x with one `mean` (p,) and one `covariance`, and how it is labeled.

    The group is a `share` of all samples. `covariance` is (p,) if it is diagonal, else (p, p). A teacher (p,) sees the
    field nu = offset + teacher.(x - mean) + Gaussian noise of variance `unseen` + label noise of variance `noise`;
    `labels`, `label` and `loss_weights` are those of `Cluster`. The learner of the number `learner` sees this group.
    Raises ValueError for shapes that do not fit, unknown labels, and labels of a teacher without one.
    """

    share: Share
    covariance: Array = field(repr=False)
    mean: Vector = field(repr=False)
    labels: LabelLaw | AnyChannel = "sign"
    label: int = 1
    teacher: Vector | None = field(default=None, repr=False)
    offset: Real = 0.0
    unseen: NonNegative = 0.0
    noise: NonNegative = 0.0
    loss_weights: tuple[float, float] = (1.0, 1.0)
    learner: NonNegativeCount = 0

    def __post_init__(self) -> None:
        checked_fields(self)
        p = len(self.mean)
        covariance = checks.finite_array("covariance", self.covariance, 1 if self.covariance.ndim == 1 else 2)
        if covariance.shape not in ((p,), (p, p)):
            raise ValueError(f"covariance must have shape ({p},) or ({p}, {p}) to fit mean, got {covariance.shape}")
        if self.teacher is not None:
            checks.shaped("teacher", self.teacher, (p,), " to fit mean")
        elif self.labels not in ("random", "cluster"):
            raise ValueError(f"labels={self.labels!r} need a teacher, got None")
        if self.label not in (-1, 1):
            raise ValueError(f"label must be -1 or 1, got {checks.shown(self.label)}")
        loss_weights = label_weights(self.loss_weights, self.labels)
        set_checked(self, covariance=covariance, loss_weights=loss_weights)

    @checked
    def times_covariance(self, vectors: Array) -> Array:
        """Return `vectors` (..., p) times the covariance."""
        v = checks.last_axis("vectors", vectors, len(self.mean))
        return np.asarray(v * self.covariance if self.covariance.ndim == 1 else v @ self.covariance)


@dataclass(frozen=True, kw_only=True)
class Population:
    """Describes the groups and how one fits; `loss`, `lam`, `bias`, `coupling` as in GeneralizedLinearModel.

    A `penalty` takes the place of the ridge; `support` (p,) tells in which coordinates there is a signal.
    Raises ValueError unless the groups are records `Group` with inputs of one size p and learners below `n_learners`.
    """

    groups: tuple[Group, ...]
    alpha: Positive
    loss: LossOrName
    lam: NonNegative
    bias: bool = False
    coupling: NonNegative = 0.0
    n_learners: Count = 1
    penalty: Penalty | None = None
    support: Vector | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        checked_fields(self)
        if self.penalty is None:
            checks.positive("lam", self.lam)
        if not self.groups:
            raise ValueError("groups must be a non-empty tuple of records Group, got ()")
        for group in self.groups:
            if group.mean.shape != self.groups[0].mean.shape:
                raise ValueError(f"groups must have inputs of one size, got means of shape {group.mean.shape} too")
        if max(group.learner for group in self.groups) >= self.n_learners:
            raise ValueError(f"n_learners must exceed every learner of the groups, got {self.n_learners}")
        set_checked(self, loss=checked_loss(self.loss))


@checked
def population(model: GaussianModel, p: Count) -> Population:
    """Return the groups of a model of Gaussian inputs at p inputs; ValueError where p does not fit the model.

    Signals whose law is given by their Gram matrices are laid out so that these are exact at any p.

    >>> from simulate.glm import population
    >>> from theory import glm
    >>> mixture = glm.gaussian_mixture(variances=0.5, probability=0.25, alpha=1.0, lam=0.1)
    >>> groups = population(mixture, 100).groups
    >>> [group.share for group in groups], groups[0].mean.shape, round(float(groups[0].mean @ groups[0].mean), 9)
    ([0.25, 0.75], (100,), 1.0)
    """
    checks.fits_in_memory("the groups of the model", 8.0 * p)
    return _population(model, p)


def sample_size(alpha: float, d: int, n_inputs: int) -> int:
    """Return round(alpha d), at least 1; MemoryError where so many samples of `n_inputs` inputs do not fit."""
    n = alpha * d
    if not n > 0.5:
        raise ValueError(f"samples per dimension times d must round to at least 1 sample, got {alpha} and d = {d}")
    checks.fits_in_memory("the samples", 2 * n * n_inputs)
    return round(n)


@singledispatch
def _population(model: Any, _p: int) -> Population:
    raise ValueError(f"model must be a record of Gaussian inputs, got {type(model).__name__}")


@_population.register
def _(model: GaussianCovariateModel, p: int) -> Population:
    if p != model.p:
        raise ValueError(f"d must be {model.p}, the size of the model's own matrices, got p = {p}")
    teacher, explained = seen_teacher(model.covariance, model.signal)
    group = Group(
        share=1.0,
        covariance=model.covariance,
        mean=np.zeros(p),
        labels=cast(LabelLaw, model.labels),
        teacher=teacher,
        unseen=max(model.power - explained, 0.0),
        noise=model.noise,
    )
    return Population(groups=(group,), alpha=model.alpha, loss=model.loss, lam=model.lam)


@_population.register
def _(model: GaussianMixture, p: int) -> Population:
    covariances, signals = embed(model.modes, p)
    own = len(covariances) > 1
    groups = tuple(
        Group(
            share=share,
            covariance=covariances[c if own else 0],
            mean=signals[c] / np.sqrt(p),
            labels="cluster",
            label=label,
        )
        for c, (share, label) in enumerate(zip(model.probabilities, model.labels, strict=True))
    )
    return Population(groups=groups, alpha=model.alpha, loss=model.loss, lam=model.lam, bias=model.bias)


@_population.register
def _(model: TeacherMixture, p: int) -> Population:
    """Put v, W_+ and W_- into the first coordinates: the noise is isotropic, so any vectors of that Gram will do."""
    if p < 3:
        raise ValueError(f"d must be at least 3 to hold v and both teachers, got p = {p}")
    root = symmetric_root(*np.linalg.eigh(model.overlap_matrix))
    v, *teachers = np.hstack((root * np.sqrt(p), np.zeros((3, p - 3))))
    coupled = model.coupling is not None
    groups = tuple(
        Group(
            share=(model.group_fraction, 1 - model.group_fraction)[c],
            covariance=np.full(p, model.variances[c]),
            mean=sign * v / np.sqrt(p),
            teacher=teachers[c] / np.sqrt(p),
            offset=float(sign * teachers[c] @ v / p + model.teacher_biases[c]),
            loss_weights=model.loss_weights[c],
            learner=c if coupled else 0,
        )
        for c, sign in enumerate((1, -1))
    )
    return Population(
        groups=groups,
        alpha=model.alpha,
        loss=model.loss,
        lam=model.lam,
        bias=True,
        coupling=model.coupling or 0.0,
        n_learners=2 if coupled else 1,
    )


@_population.register
def _(model: GeneralizedLinearModel, p: int) -> Population:
    covariances, signals = embed(model.modes, p) if model.penalty is None else lay_out(model, p)
    groups = tuple(_group(cluster, covariances, signals, p) for cluster in model.clusters)
    return Population(
        groups=groups,
        alpha=model.alpha,
        loss=model.loss,
        lam=model.lam,
        bias=model.bias,
        coupling=model.coupling,
        n_learners=model.n_learners,
        penalty=model.penalty,
        support=None if model.penalty is None else np.any(signals != 0, axis=0).astype(float),
    )


def _group(cluster: Cluster, covariances: Array, signals: Array, p: int) -> Group:
    covariance = covariances[cluster.covariance]
    teacher, explained = None, 0.0
    if cluster.teacher_signal is not None:
        teacher, explained = seen_teacher(covariance, signals[cluster.teacher_signal])
    mean = np.zeros(p)
    if cluster.mean_signal is not None:
        mean = cluster.mean_sign * signals[cluster.mean_signal] / np.sqrt(p)
    return Group(
        share=cluster.probability,
        covariance=covariance,
        mean=mean,
        labels=cluster.labels,
        label=cluster.label,
        teacher=teacher,
        offset=cluster.teacher_mean,
        unseen=max(cluster.teacher_variance - explained, 0.0),
        noise=cluster.noise,
        loss_weights=cluster.loss_weights,
        learner=cluster.learner,
    )


def seen_teacher(covariance: Array, signal: Array) -> tuple[Array, float]:
    """Return the combination a of the inputs with Cov(x, a.x) = signal/sqrt(p), and its variance."""
    target = signal / np.sqrt(len(signal))
    if covariance.ndim == 1:
        a = np.divide(target, covariance, out=np.zeros_like(target), where=covariance > 0)
    else:
        values, vectors = np.linalg.eigh(covariance)
        seen = values > 1e-12 * values[-1]
        a = vectors[:, seen] @ ((target @ vectors[:, seen]) / values[seen])
    return a, float(a @ target)
