"""The number of samples up to which a hyperplane separates the labels, as hard margins and interpolation need it."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq, minimize, minimize_scalar
from scipy.special import ndtr

from theory.core import Array, Share, checked, checks
from theory.glm.labels import LabelLaw, label_law
from theory.glm.quadrature import normal_nodes
from theory.glm.systems import SYSTEMS, as_problem
from theory.models.glm import Cluster, DenseModes, GaussianMixture, GeneralizedLinearModel, Modes, RandomFeatures
from theory.models.glm.cluster import kind_of
from theory.models.glm.objective import Minimization

GRADIENT = 1e-10  # of the convex function whose least value is sought
RAY = 1e6  # length at which the first direction is tried: more than that of a search that runs along a ray
NEWTON_STEPS, CURVATURE_STEP = 12, 1e-6  # of its search, and of the differences of its gradient, relative to 1 + |x|
SEPARATED = 1e-13  # a least value below it counts as zero: the labels are separable whatever the number of samples
EIGENVALUE_RESOLUTION = 1e-14  # relative: eigenvalues and components of signals below it are rounding
PROPORTIONAL = 1e-12  # relative: covariances that differ by more are not multiples of each other


@checked
def separability_threshold(alignment: Share) -> float:
    """Compute alpha_c = n/p up to which a hyperplane through the origin separates noisy labels of a linear teacher.

    Labels are sign(zeta u + sqrt(1 - zeta^2) eps) with u the best linear predictor, normalized, and the `alignment`
    zeta in [0, 1]: 0 for random labels (alpha_c = 2), 1 for separable ones (infinite). 1/alpha_c is the least value
    over t >= 0 of E (g - t y u)_+^2 with an independent normal g: the cone of T. M. Cover's count for random labels,
    and of E. J. Candes and P. Sur (arXiv:1804.09753) for logistic regression.

    >>> round(separability_threshold(0.0), 9)
    2.0
    """
    zeta = alignment
    if zeta == 1:
        return math.inf
    width = math.sqrt(1 - zeta**2)
    u, weights = normal_nodes([(0.0, width / zeta if zeta else 0.0)])
    weights = weights * 2 * ndtr(zeta * u / width)  # the law of y u, by symmetry

    def missed(t: float) -> float:
        return float(weights @ _missed_square(t * u))

    upper = 1.0
    while missed(2 * upper) < missed(upper):
        upper *= 2
    found = minimize_scalar(missed, bounds=(0, 2 * upper), method="bounded", options={"xatol": 1e-9 * upper})
    return 1 / min(float(found.fun), missed(0.0))


@checked
def teacher_alignment(model: Minimization) -> float:
    """Compute the alignment zeta = sqrt(sum gram/om/(rho + noise)) of one centered cluster with a sign teacher.

    It is the correlation of the teacher field, label noise included, with its best linear predictor from the inputs.
    Derived here by least squares: with s the teacher's signal this predictor has the variance s^T Omega^-1 s/p, which
    is the sum of gram/om over the modes. `model` is any record of theory.models.glm; ValueError for other problems.
    """
    problem = as_problem(model)
    cluster, modes = problem.clusters[0], problem.modes
    if len(problem.clusters) > 1 or cluster.labels != "sign" or not isinstance(modes, Modes):
        raise ValueError("model must have one cluster with sign labels and commuting modes")
    om, gram = modes.covariances[0], modes.gram[0, 0]
    explained = float(np.sum(np.divide(gram, om, out=np.zeros_like(om), where=om > 0)))
    return math.sqrt(min(explained / (cluster.teacher_variance + cluster.noise), 1.0))


@checked
def random_features_threshold(model: RandomFeatures) -> float:
    """Compute the p/d of random features at which n/d samples stop being separable: where alpha = alpha_c(zeta).

    n/d is `samples_per_input` of the model; its own `features_per_input` has no effect. Derived here: along p/d both
    alpha = n/p and the alignment change, and p/d is the root of alpha = alpha_c(zeta) with the threshold of
    `separability_threshold`. The model is that of arXiv:2002.09339, of which the abstract was read.
    """
    if model.labels != "sign":
        raise ValueError(f"model must have labels='sign', got {model.labels!r}")

    def excess(log_ratio: float) -> float:
        at = replace(model, features_per_input=math.exp(log_ratio))
        return math.log(at.alpha / separability_threshold(teacher_alignment(at)))

    middle = math.log(model.samples_per_input / 2)
    return math.exp(brentq(excess, middle - 5, middle + 1e-9, xtol=1e-13))


@checked
def is_separable(problem: Minimization) -> bool:
    """Tell whether alpha lies below the threshold of `teacher_alignment`, for any record with one sign teacher.

    Source: `separability_threshold` (derived here, after arXiv:1804.09753).
    """
    if not isinstance(problem, (GeneralizedLinearModel, *SYSTEMS)):
        raise ValueError(f"problem must be a record of a generalized linear model, got {checks.shown(problem)}")
    return as_problem(problem).alpha < separability_threshold(teacher_alignment(problem))


@checked
def mixture_separability_threshold(model: GaussianMixture) -> float:
    """Compute alpha_c = n/p up to which some w (and b, if `model.bias`) has y (w.x + b) > 0 on a mixture's samples.

    It is infinite if a hyperplane always separates the labels. For means +-mu of Mahalanobis norm D without a bias it
    is the maximum over s in [0, 1) of (1 - s^2)/F(D s) with F(k) = (1 + k^2) Phi(-k) - k phi(k); D = 0 gives 2. All
    clusters must have one covariance, up to factors; ValueError otherwise. Derived here by Gordon's inequality (Y.
    Gordon, Israel J. Math. 50, 265 (1985), not looked up for this project), see `problem_threshold`.

    >>> model = GaussianMixture.opposite(mean_power=4.0, alpha=1.0, lam=1.0, bias=False)
    >>> round(mixture_separability_threshold(model), 6)
    20.722946
    """
    found = problem_threshold(as_problem(model))
    if found is None:
        raise ValueError("model must have one covariance for all clusters, up to a factor for each")
    return found


def problem_threshold(problem: GeneralizedLinearModel) -> float | None:
    """Compute alpha_c of any problem with labels +-1 whose covariances are multiples of one another; None for others.

    Samples are x = m_c + sqrt(Delta_c) Omega^(1/2) xi. Divided by sqrt(Delta_c), and whitened, the noise xi is
    isotropic but for the span of the means and teachers. By Gordon's inequality, as for the cone of random labels,
    with u in that span, f = u.m_c/sqrt(Delta_c) + u.xi + b/sqrt(Delta_c) and g an independent standard normal,
    1/alpha_c = min over u and b of E (g - y f)_+^2, a convex function. Coupled learners must each separate their own
    samples, whatever the coupling: the least threshold counts.
    """
    if any(kind_of(cluster.labels) != "signs" for cluster in problem.clusters):
        return None
    thresholds = []
    for learner in range(problem.n_learners):
        clusters = [cluster for cluster in problem.clusters if cluster.learner == learner]
        if clusters:
            share = sum(cluster.probability for cluster in clusters)
            found = _learner_threshold(problem, clusters, share)
            if found is None:
                return None
            thresholds.append(found)
    return min(thresholds)


def _learner_threshold(problem: GeneralizedLinearModel, clusters: list[Cluster], share: float) -> float | None:
    whitened = _whitened(problem.modes, clusters)
    if whitened is None:
        return None
    gram, scales, rank = whitened
    if not np.isfinite(gram).all():
        return math.inf
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-14 * max(float(values.max(initial=0.0)), 1.0)
    signals = vectors[:, kept] * np.sqrt(values[kept])  # (signals, dimensions of their span)
    parts = [_Part.of(cluster, signals, scale, problem.bias) for cluster, scale in zip(clusters, scales, strict=True)]
    weights = [cluster.probability / share for cluster in clusters]

    def total(x: Array) -> tuple[float, Array]:
        value, gradient = 0.0, np.zeros_like(x)
        for weight, part in zip(weights, parts, strict=True):
            one, slope = part.missed(x)
            value, gradient = value + weight * one, gradient + weight * slope
        return value, gradient

    def falls_beyond(x: Array, value: float) -> bool:
        """Tell whether it falls to zero along the ray through x: that direction separates."""
        return total(10 * x)[0] < 0.9 * value

    start = np.zeros(signals.shape[1] + int(problem.bias))
    least, slope = total(start)
    if len(start):
        far = -RAY * slope / max(float(np.linalg.norm(slope)), 1e-300)
        if falls_beyond(far, total(far)[0]):  # as for the labels of one teacher without noise
            return math.inf
        place = _by_newton(total, -0.1 * slope)
        if place is None:
            place = minimize(
                total, -0.1 * slope, jac=True, method="BFGS", options={"gtol": GRADIENT, "maxiter": 1000}
            ).x
        least = min(least, total(place)[0])
        if falls_beyond(place, least):
            return math.inf
    return rank / (share * least) if least > SEPARATED else math.inf


def _by_newton(total: Callable[[Array], tuple[float, Array]], x: Array) -> Array | None:
    """Return the place of the least value of a convex function by Newton's method; None where that has no quick end."""
    value, slope = total(x)
    for _ in range(NEWTON_STEPS):
        if np.max(abs(slope)) <= GRADIENT:
            return x
        steps = CURVATURE_STEP * (1 + abs(x)) * np.eye(len(x))
        hessian = np.array([(total(x + e)[1] - slope) / e.sum() for e in steps])
        try:
            move = np.linalg.solve((hessian + hessian.T) / 2, -slope)
        except np.linalg.LinAlgError:
            return None
        new_value, new_slope = total(x + move)
        if not new_value <= value:
            return None
        x, value, slope = x + move, new_value, new_slope
    return None


def _whitened(modes: Modes | DenseModes, clusters: list[Cluster]) -> tuple[Array, list[float], float] | None:
    """Return the Gram matrix of the whitened signals, sqrt(Delta_c) of each cluster, and the rank of Omega over p.

    The Gram matrix is infinite where a signal has a component in a direction in which Omega vanishes. The answer is
    None where the covariances are no multiples of each other.
    """
    first = modes.covariances[clusters[0].covariance]
    scales = []
    for cluster in clusters:
        own = modes.covariances[cluster.covariance]
        factor = float(np.sum(own * first) / np.sum(first * first)) if first.any() else 1.0
        if factor <= 0 or abs(own - factor * first).max() > PROPORTIONAL * abs(own).max():
            return None
        scales.append(math.sqrt(factor))
    if isinstance(modes, DenseModes):
        modes = Modes.of_matrix(first, modes.signals)
        first = modes.covariances[0]
    seen = first > EIGENVALUE_RESOLUTION * float(first.max())
    used = sorted({a for cluster in clusters for a in (cluster.mean_signal, cluster.teacher_signal) if a is not None})
    gram = np.zeros(modes.gram.shape[:2])
    own = modes.gram[np.ix_(used, used)]
    lost = abs(own[..., ~seen]).max(initial=0.0) > EIGENVALUE_RESOLUTION * abs(own).max(initial=1e-300)
    gram[np.ix_(used, used)] = np.inf if lost else np.sum(own[..., seen] / first[seen], axis=-1)
    return gram, scales, float(modes.weights[seen].sum())


@dataclass(frozen=True, eq=False)
class _Part:
    """A cluster in whitened coordinates; the unknowns x are u in the span of the signals and, if it is trained, b."""

    cluster: Cluster
    mean: Array  # of the cluster, with the coefficient of b last
    teacher: Array  # covariance of xi with the teacher field, in the span

    @classmethod
    def of(cls, cluster: Cluster, signals: Array, scale: float, bias: bool) -> "_Part":
        mean, teacher = np.zeros(signals.shape[1]), np.zeros(signals.shape[1])
        if cluster.mean_signal is not None:
            mean = cluster.mean_sign * signals[cluster.mean_signal] / scale
        if cluster.teacher_signal is not None:
            teacher = signals[cluster.teacher_signal] / scale
        return cls(cluster, np.append(mean, np.full(int(bias), 1 / scale)), teacher)

    def missed(self, x: Array) -> tuple[float, Array]:
        """Return E (g - y f)_+^2 over the samples whose loss counts, and its gradient.

        xi has the component z along u; across it, E[xi 1_y | z] is the teacher's share across u times the derivative of
        P(y | z) by the teacher's mean, by Gaussian integration by parts.
        """
        u = x[: len(self.teacher)]
        size, center = float(np.linalg.norm(u)), float(self.mean @ x)
        along = u if size > 0 else self.teacher  # at u = 0 any direction serves
        direction = along / max(float(np.linalg.norm(along)), 1e-300)
        tilt = float(self.teacher @ direction)
        law: LabelLaw = label_law(self.cluster, 1.0, tilt)
        z, weights = normal_nodes([*law.bends(), *([(-center / size, 1 / size)] if size > 0 else [])])
        value, gradient = 0.0, np.zeros_like(x)
        for y, kappa in zip((1, -1), self.cluster.loss_weights, strict=True):
            if kappa == 0 or not law.occurs(y):
                continue
            chance, shift = law(y, z)
            field = y * (center + size * z)
            pull = y * weights * 2 * (field * ndtr(-field) - _density(field))
            value += float((weights * chance) @ _missed_square(field))
            gradient += float(pull @ chance) * self.mean
            gradient[: len(u)] += float(pull @ (chance * z)) * direction
            if shift is not None:
                gradient[: len(u)] += float(pull @ shift) * (self.teacher - tilt * direction)
        return value, gradient


def _missed_square(a: Array) -> Array:
    """Return E (g - a)_+^2 of a standard normal g."""
    return np.asarray((1 + a**2) * ndtr(-a) - a * _density(a))


def _density(a: Array) -> Array:
    return np.asarray(np.exp(-0.5 * a**2) / math.sqrt(2 * math.pi))
