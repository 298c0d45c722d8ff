"""The modes and clusters of every model: one function for each kind of record, in one table."""

from collections.abc import Callable
from typing import Any

import numpy as np

from theory.core import Array, checks
from theory.models.glm import (
    Cluster,
    GaussianCovariateModel,
    GaussianMixture,
    GeneralizedLinearModel,
    Modes,
    RandomFeatures,
    RandomLabels,
    TeacherMixture,
    TransferModel,
)
from theory.models.glm.eigenbasis import eigenbasis
from theory.models.glm.objective import Minimization
from theory.numerics import graded_edges, panelled_legendre

ORDER = 24  # nodes on a panel of a spectrum
MIN_PANEL_WIDTH = 1e-6


def as_problem(model: Minimization) -> GeneralizedLinearModel:
    """Turn any record of theory.models.glm but `MulticlassMixture` into the general problem that the solver takes.

    ValueError for anything else.
    """
    if isinstance(model, GeneralizedLinearModel):
        return model
    for kind, make in SYSTEMS.items():
        if isinstance(model, kind):
            return make(model)
    raise ValueError(f"model must be a record of a generalized linear model, got {checks.shown(model)}")


def covariate_problem(model: GaussianCovariateModel) -> GeneralizedLinearModel:
    """Turn a Gaussian covariate model into the general problem, in the eigenbasis of the student's covariance."""
    teacher = Cluster(labels=model.labels, teacher_signal=0, teacher_variance=model.power, noise=model.noise)
    modes = eigenbasis(model.covariance).modes(model.signal)
    return GeneralizedLinearModel(modes=modes, clusters=[teacher], alpha=model.alpha, loss=model.loss, lam=model.lam)


def transfer_problem(model: TransferModel) -> GeneralizedLinearModel:
    """Turn a transfer problem into the Gaussian covariate model of its frozen features, and that into the problem."""
    return covariate_problem(model.covariate_model)


def mixture_problem(model: GaussianMixture) -> GeneralizedLinearModel:
    """Turn a Gaussian mixture with labels +-1 into the general problem, where the mean of each cluster is a signal."""
    own = model.modes.n_covariances > 1
    clusters = [
        Cluster(probability=share, labels="cluster", label=label, covariance=c if own else 0, mean_signal=c)
        for c, (share, label) in enumerate(zip(model.probabilities, model.labels, strict=True))
    ]
    return GeneralizedLinearModel(
        modes=model.modes, clusters=clusters, alpha=model.alpha, loss=model.loss, lam=model.lam, bias=model.bias
    )


def random_labels_problem(model: RandomLabels) -> GeneralizedLinearModel:
    """Turn random labels into the general problem, which has no signal and only the spectrum of the inputs."""
    spectrum = model.covariance.spectrum
    modes = Modes(spectrum.weights, spectrum.eigenvalues[None])
    return GeneralizedLinearModel(
        modes=modes, clusters=[Cluster(labels="random")], alpha=model.alpha, loss=model.loss, lam=model.lam
    )


def random_features_problem(model: RandomFeatures) -> GeneralizedLinearModel:
    """Turn random features v into the general problem for p -> infinity, by Gaussian equivalence.

    Their covariance is Omega = k1^2 F F^T + k*^2 and that with the teacher's field Cov(v, nu) = k1 F theta/sqrt(d),
    where k1 = E z f(z) and k*^2 = E f^2 - (E f)^2 - k1^2 are moments of the activation f at standard normal z.
    """
    x, weights = projection_spectrum(model.features_per_input, model.projection)
    _, linear, rest = model.moments
    gram = weights * linear**2 * x * model.features_per_input
    modes = Modes(weights, (linear**2 * x + rest**2)[None], gram[None, None])
    teacher = Cluster(labels=model.labels, teacher_signal=0, noise=model.noise)
    return GeneralizedLinearModel(modes=modes, clusters=[teacher], alpha=model.alpha, loss=model.loss, lam=model.lam)


def projection_spectrum(features_per_input: float, projection: str) -> tuple[Array, Array]:
    """Return the eigenvalues of F F^T (p, p) and their weights, for g = p/d = `features_per_input`.

    For a Gaussian F they are those of the Marchenko-Pastur law in the angle between its edges,
    y = 1 + g - 2 sqrt(g) cos(angle), in which the density is smooth; for p near d panels shrink towards the lower edge,
    which then nears zero.
    """
    ratio = 1 / features_per_input
    if projection == "orthogonal":
        return _with_kernel(np.array([max(1.0, features_per_input)]), np.ones(1), ratio)
    g = min(ratio, 1 / ratio)
    near = max(1 - np.sqrt(g), MIN_PANEL_WIDTH)
    angle, weights = panelled_legendre(graded_edges(0.0, np.pi, near), ORDER)
    y = (1 - np.sqrt(g)) ** 2 + 4 * np.sqrt(g) * np.sin(angle / 2) ** 2
    weights = weights * 2 / np.pi * np.sin(angle) ** 2 / y
    return _with_kernel(y / g if ratio <= 1 else y, weights / weights.sum(), ratio)


def _with_kernel(x: Array, weights: Array, ratio: float) -> tuple[Array, Array]:
    """Add the share 1 - d/p of modes of eigenvalue zero that there are with fewer inputs than features."""
    if ratio >= 1:
        return x, weights
    return np.append(x, 0.0), np.append(ratio * weights, 1 - ratio)


def teacher_mixture_problem(model: TeacherMixture) -> GeneralizedLinearModel:
    """Turn a teacher mixture into the general problem: one mode, with the signals v, Delta_+ W_+ and Delta_- W_-.

    Two coupled students have each a copy of the signal v.
    """
    plus, minus = model.variances
    scales = np.array([1.0, plus, minus])
    gram = model.overlap_matrix * np.outer(scales, scales)
    coupled = model.coupling is not None
    order = [0, 1, 0, 2] if coupled else [0, 1, 2]
    mean, teacher = ((0, 2), (1, 3)) if coupled else ((0, 0), (1, 2))
    shares = (model.group_fraction, 1 - model.group_fraction)
    clusters = [
        Cluster(
            probability=shares[c],
            covariance=c,
            learner=c if coupled else 0,
            mean_signal=mean[c],
            mean_sign=sign,
            teacher_signal=teacher[c],
            teacher_variance=model.variances[c],
            teacher_mean=sign * model.mean_overlaps[c] + model.teacher_biases[c],
            loss_weights=model.loss_weights[c],
        )
        for c, sign in enumerate((1.0, -1.0))
    ]
    return GeneralizedLinearModel(
        modes=Modes([1.0], np.array(model.variances)[:, None], gram[np.ix_(order, order)][:, :, None]),
        clusters=clusters,
        alpha=model.alpha,
        loss=model.loss,
        lam=model.lam,
        bias=True,
        coupling=model.coupling or 0.0,
        n_learners=2 if coupled else 1,
        signal_learners=(0, 0, 1, 1) if coupled else None,
    )


SYSTEMS: dict[type, Callable[[Any], GeneralizedLinearModel]] = {
    GaussianCovariateModel: covariate_problem,
    GaussianMixture: mixture_problem,
    RandomFeatures: random_features_problem,
    RandomLabels: random_labels_problem,
    TeacherMixture: teacher_mixture_problem,
    TransferModel: transfer_problem,
}
