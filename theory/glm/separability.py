"""Up to how many samples a hyperplane through the origin separates the labels."""

import math

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ndtr

from theory.glm.quadrature import normal_nodes
from theory.glm.systems import as_problem
from theory.models import checks
from theory.models.glm import GeneralizedLinearModel, Modes, RandomFeatures


def separability_threshold(alignment: float) -> float:
    """alpha_c = n/p of labels sign(zeta u + sqrt(1 - zeta^2) eps), u the best linear predictor, normalized.

    `alignment` zeta in [0, 1]: 0 for random labels (alpha_c = 2), 1 for separable ones (infinite).
    1/alpha_c = min_{t >= 0} E (g - t y u)_+^2 with an independent normal g: the cone of Cover's and Candes's argument.
    """
    zeta = checks.between("alignment", alignment, 0, 1, closed=(True, True))
    if zeta == 1:
        return math.inf
    width = math.sqrt(1 - zeta**2)
    u, weights = normal_nodes([(0.0, width / zeta if zeta else 0.0)])
    weights = weights * 2 * ndtr(zeta * u / width)  # the law of y u, by symmetry

    def missed(t: float) -> float:
        a = t * u
        return float(weights @ ((1 + a**2) * ndtr(-a) - a * np.exp(-0.5 * a**2) / math.sqrt(2 * math.pi)))

    upper = 1.0
    while missed(2 * upper) < missed(upper):
        upper *= 2
    found = minimize_scalar(missed, bounds=(0, 2 * upper), method="bounded", options={"xatol": 1e-9 * upper})
    return 1 / min(float(found.fun), missed(0.0))


def teacher_alignment(model: object) -> float:
    """zeta of a problem with one centered cluster and a sign teacher: sqrt(sum gram/om / (rho + noise))."""
    problem = as_problem(model)
    cluster, modes = problem.clusters[0], problem.modes
    if len(problem.clusters) > 1 or cluster.labels != "sign" or not isinstance(modes, Modes):
        raise ValueError("alignment needs one cluster with sign labels and commuting modes")
    om, gram = modes.covariances[0], modes.gram[0, 0]
    explained = float(np.sum(np.divide(gram, om, out=np.zeros_like(om), where=om > 0)))
    return math.sqrt(min(explained / (cluster.teacher_variance + cluster.noise), 1.0))


def random_features_threshold(model: RandomFeatures) -> float:
    """p/d of random features at which n/d samples stop being separable: where alpha = alpha_c(zeta)."""
    from dataclasses import replace

    def excess(log_ratio: float) -> float:
        at = replace(model, features_per_input=math.exp(log_ratio))
        return math.log(at.alpha / separability_threshold(teacher_alignment(at)))

    middle = math.log(model.samples_per_input / 2)
    return math.exp(brentq(excess, middle - 5, middle + 1e-9, xtol=1e-13))


def is_separable(problem: GeneralizedLinearModel) -> bool:
    """Whether alpha lies below the threshold of `teacher_alignment`."""
    return problem.alpha < separability_threshold(teacher_alignment(problem))
