"""Random problems of every kind, for sweeps."""

import numpy as np

from theory import glm
from theory.models import (
    AR1,
    Cluster,
    GaussianMixture,
    GeneralizedLinearModel,
    Modes,
    RandomFeatures,
    RandomLabels,
    TeacherMixture,
)

KINDS = ("teacher", "linear", "random", "mixture", "blocks", "groups", "coupled", "features")
EIGENVALUES = 1 / np.arange(1, 41.0)


def teacher_problem(alpha, lam, loss="logistic", noise=0.0, labels="sign", eigenvalues=EIGENVALUES):
    """theta_i = 1 on features of the given eigenvalues, all of them seen."""
    om, M = np.asarray(eigenvalues, float), len(eigenvalues)
    teacher = Cluster(labels=labels, teacher_signal=0, teacher_variance=om.mean(), noise=noise)
    modes = Modes(np.full(M, 1 / M), om[None], (om**2 / M)[None, None])
    return GeneralizedLinearModel(modes=modes, clusters=[teacher], alpha=alpha, loss=loss, lam=lam)


def draw(rng, kinds=KINDS):
    """(kind, problem) with alpha in [.05, 50] and lam in [1e-6, 10], both uniform in the logarithm."""
    alpha, lam = float(np.exp(rng.uniform(np.log(0.05), np.log(50)))), float(10 ** rng.uniform(-6, 1))
    kind, loss = str(rng.choice(kinds)), str(rng.choice(["square", "logistic", "hinge"]))
    common = {"alpha": alpha, "lam": lam, "loss": loss}
    noise = float(rng.choice([0, 0.1]))
    if kind in ("teacher", "linear"):
        sign = kind == "teacher"
        return kind, teacher_problem(alpha, lam, loss if sign else "square", noise, "sign" if sign else "linear")
    if kind == "random":
        return kind, glm.as_problem(RandomLabels(covariance=AR1(30, float(rng.uniform(0, 0.9))), **common))
    if kind in ("mixture", "blocks"):
        variances = rng.uniform(0.1, 2) if kind == "mixture" else rng.uniform(0.1, 2, (2, 2))
        mixture = {
            "variances": variances,
            "probability": float(rng.uniform(0.1, 0.9)),
            "bias": bool(rng.random() < 0.8),
        }
        return kind, glm.as_problem(GaussianMixture.opposite(**mixture, **common))
    if kind == "features":
        ratio = float(np.exp(rng.uniform(np.log(0.2), np.log(5))))
        options = {"activation": str(rng.choice(["sign", "erf", "relu"])), "noise": noise, "loss": loss, "lam": lam}
        projection = str(rng.choice(["gaussian", "orthogonal"]))
        return kind, glm.as_problem(
            RandomFeatures(features_per_input=ratio, samples_per_input=alpha * ratio, projection=projection, **options)
        )
    groups = {
        "group_fraction": float(rng.uniform(0.05, 0.95)),
        "variances": tuple(rng.uniform(0.3, 1.5, 2).tolist()),
        "teacher_overlap": float(rng.uniform(0, 0.7)),
        "mean_overlaps": tuple(rng.uniform(-0.3, 0.3, 2).tolist()),
        "teacher_biases": tuple(rng.uniform(-0.3, 0.3, 2).tolist()),
        "loss_weights": tuple(tuple(pair) for pair in rng.uniform(0.5, 2, (2, 2)).tolist()),
        "coupling": float(10 ** rng.uniform(-2, 1)) if kind == "coupled" else None,
    }
    return kind, glm.as_problem(TeacherMixture(**groups, **common))
