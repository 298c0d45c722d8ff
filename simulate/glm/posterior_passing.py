"""Message passing towards the posterior mean of a teacher on one drawn training set: a check of the Bayes point.

Each step averages one label over the field that is unknown to it, by a sum over a grid, and each weight over the law of
the teacher's entries. No average over fields, labels or samples enters: what the theory predicts are the means of what
happens here.
"""

import dataclasses
import math
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import expit, log_ndtr

from simulate.glm.channel_labels import draw_labels
from simulate.glm.draw import draw_group
from simulate.glm.modes import apportion
from simulate.glm.population import Group, sample_size, seen_teacher
from simulate.glm.signal_layout import lay_out
from theory.core import Array, AtLeast, Count, SolverResult, checked, checks
from theory.models.glm import (
    Additive,
    BernoulliGauss,
    Cluster,
    Flips,
    GeneralizedLinearModel,
    LabelChannel,
    Logit,
    Modes,
    Poisson,
    Probit,
)
from theory.models.glm.cluster import kind_of

MAX_STEPS = 10_000
GRID = np.linspace(-8, 8, 161)  # of a standard normal number
GRID_WEIGHTS = np.exp(-0.5 * GRID**2) / np.sum(np.exp(-0.5 * GRID**2))
KNOWN_SHARE = 1e-3  # of the field's power that an informed start leaves open
FRESH_SAMPLES = 20_000
LEAST_CHANCE = 1e-250
Start = Literal["uninformed", "informed"]


@dataclass(frozen=True, eq=False, repr=False)
class PosteriorPassing(SolverResult):
    """Hold what is known after each step, and how often the rule errs after the last.

    `V` (steps,) is the variance of a fresh field of the teacher that the steps take as unknown, `q` and `r` (steps,)
    the variance of the field that they know, and its covariance with the teacher's. `mean_square_error` is that of the
    `weights` (p,) after the last step, and `test_error` that on 20,000 fresh samples, P(y != prediction) for labels
    +-1, else E (y - prediction)^2. `residual` is the change of the weights in the last step, relative to their size;
    `converged` says whether it is below 1e-6.
    """

    V: Array
    q: Array
    r: Array
    mean_square_error: float
    test_error: float
    weights: Array = dataclasses.field(repr=False)


@checked
def posterior_message_passing(
    problem: GeneralizedLinearModel,
    size: Count,
    rng: Generator,
    *,
    steps: Annotated[int, AtLeast(1, most=MAX_STEPS)] = 20,
    start: Start = "uninformed",
) -> PosteriorPassing:
    """Draw a training set of p = `size` inputs and n = alpha p samples, and pass messages towards the posterior mean.

    From weights w = 0, scores g = 0 and V of the whole field, one step is omega = X w/sqrt(p) - V g; g and g', the
    derivatives by omega of log E_xi P(y | omega + sqrt(V) xi) of each sample; A = -(1/p) sum g' times the variance of a
    coordinate and B = X'g/sqrt(p) + A w; then w and v, mean and variance of an entry of the teacher's law given
    B = A theta + sqrt(A) z; and V = mean (variance v). With start="informed" w begins at the teacher itself, and V at a
    thousandth. For one cluster with labels of a teacher, commuting `Modes` and one signal of which `problem.signals`
    tells the law, ValueError for others. Entries of the teacher are quantiles of their law.

    Source: S. Rangan (2011), generalized approximate message passing; derived here for inputs of several variances.

    >>> from theory.models import Cluster, Logit, Modes
    >>> teacher = Cluster(labels=Logit(0.3), teacher_signal=0)
    >>> model = GeneralizedLinearModel(
    ...     modes=Modes([1.0], [[1.0]], [[[1.0]]]), clusters=[teacher], alpha=2.0, lam=1.0, loss="logistic",
    ...     signals="signs",
    ... )
    >>> found = posterior_message_passing(model, 500, np.random.default_rng(0))
    >>> found.V.shape, round(found.test_error, 1)
    ((20,), 0.2)
    """
    cluster = _teacher_of(problem)
    checks.fits_in_memory("the teacher of this size", 8.0 * size)
    covariances, signals = lay_out(problem, size)
    om = covariances[cluster.covariance]
    teacher, explained = seen_teacher(om, signals[0])
    group = Group(
        share=1.0,
        covariance=om,
        mean=np.zeros(size),
        labels=cluster.labels,
        teacher=teacher,
        offset=cluster.teacher_mean,
        unseen=max(cluster.teacher_variance - explained, 0.0),
        noise=cluster.noise,
    )
    n = sample_size(problem.alpha, size, size)
    X, y = draw_group(group, n, rng)
    shifts = (rng.random(n) - 0.5) * (GRID[1] - GRID[0])
    theta, prior = teacher * math.sqrt(size), _Prior.of(problem, om)
    w, v = prior.posterior(np.zeros(size), np.zeros(size))
    V, g = float(np.mean(om * v)), np.zeros(n)
    if start == "informed":
        w, V = theta, KNOWN_SHARE * V
    path: list[tuple[float, float, float]] = []
    change = np.inf
    for _ in range(steps):
        old, omega = w, X @ w / math.sqrt(size) - V * g
        g, slope = _scores(cluster, y, omega + cluster.teacher_mean, V + group.unseen, shifts)
        A = -slope.sum() / size * om
        w, v = prior.posterior(A, X.T @ g / math.sqrt(size) + A * w)
        V = float(np.mean(om * v))
        path.append((V, float(np.mean(om * w**2)), float(np.mean(om * w * theta))))
        change = float(np.linalg.norm(w - old) / (np.linalg.norm(w) + 1e-300))
    Vs, qs, rs = (np.array(values) for values in zip(*path, strict=True))
    return PosteriorPassing(
        V=Vs,
        q=qs,
        r=rs,
        mean_square_error=float(np.mean((w - theta) ** 2)),
        test_error=_fresh_error(cluster, path[-1], float(teacher @ (om * teacher)), group.unseen, rng),
        weights=w,
        residual=change,
        iterations=steps,
        converged=change < 1e-6,
    )


def _teacher_of(problem: GeneralizedLinearModel) -> Cluster:
    cluster, modes = problem.clusters[0], problem.modes
    if len(problem.clusters) > 1 or problem.n_learners > 1 or not isinstance(modes, Modes):
        raise ValueError("problem must have one cluster, one learner and commuting modes, given as Modes")
    if modes.n_signals != 1 or cluster.labels in ("random", "cluster") or cluster.mean_signal is not None:
        raise ValueError("problem must have one signal, that of a teacher of the labels, and no mean_signal")
    if problem.signals is None:
        raise ValueError("problem must tell the law of the teacher's entries: give signals, got None")
    return cluster


@dataclass(frozen=True, eq=False)
class _Prior:
    """The law of each entry of the teacher, of which the root of the mean square is `size` (p,)."""

    law: object
    size: Array
    groups: list[tuple[NDArray[np.intp], Array]]  # of given entries: coordinates of one variance, and their values

    @classmethod
    def of(cls, problem: GeneralizedLinearModel, om: Array) -> "_Prior":
        modes, p = problem.modes, len(om)
        assert isinstance(modes, Modes)
        counts = apportion(modes.weights, p)
        powers = np.divide(modes.gram[0, 0], modes.weights, out=np.zeros(len(counts)), where=modes.weights > 0)
        size = np.divide(np.sqrt(np.repeat(powers, counts)), om, out=np.zeros(p), where=om > 0)
        groups: list[tuple[NDArray[np.intp], Array]] = []
        if isinstance(problem.signals, np.ndarray):
            values = np.divide(np.repeat(problem.signals[0], counts), om, out=np.zeros(p), where=om > 0)
            groups = [(np.flatnonzero(om == one), values[om == one]) for one in np.unique(om)]
        return cls(problem.signals, size, groups)

    def posterior(self, A: Array, B: Array) -> tuple[Array, Array]:
        """Return mean and variance of each entry given B = A theta + sqrt(A) z, (p,) each."""
        s = self.size
        if isinstance(self.law, BernoulliGauss):
            spread = s**2 / self.law.share  # of an entry that is not zero
            center, left = spread * B / (1 + A * spread), spread / (1 + A * spread)
            log_odds = 0.5 * (B * center - np.log1p(A * spread))
            if self.law.share == 1:
                return center, left
            on = expit(log_odds + math.log(self.law.share / (1 - self.law.share)))
            return on * center, on * left + on * (1 - on) * center**2
        if isinstance(self.law, np.ndarray):
            mean, var = np.zeros_like(B), np.zeros_like(B)
            for own, entries in self.groups:
                values, counts = np.unique(entries, return_counts=True)
                logs = np.log(counts) + B[own, None] * values - 0.5 * A[own, None] * values**2
                chances = np.exp(logs - logs.max(axis=1, keepdims=True))
                chances /= chances.sum(axis=1, keepdims=True)
                mean[own] = chances @ values
                var[own] = np.sum(chances * (values - mean[own, None]) ** 2, axis=1)
            return mean, var
        if self.law == "signs":
            return s * np.tanh(B * s), s**2 / np.cosh(np.clip(B * s, -300, 300)) ** 2
        return s**2 * B / (1 + A * s**2), s**2 / (1 + A * s**2)


def _scores(cluster: Cluster, y: Array, center: Array, width: float, shifts: Array) -> tuple[Array, Array]:
    """Return the first and second derivative by the center of log E P(y | center + sqrt(width) xi), (n,) each.

    The grid of each sample is shifted by a number of its own, so that no jump of P lies at the same place of all.
    """
    labels = cluster.labels
    if labels == "linear":
        rest = width + cluster.noise
        return (y - center) / rest, np.full(len(y), -1 / rest)
    if isinstance(labels, Logit | Poisson | Additive | LabelChannel):
        xi = GRID + shifts[:, None]
        weights = np.exp(-0.5 * xi**2) * (GRID[1] - GRID[0]) / math.sqrt(2 * math.pi)
        held = weights * _chances(labels, y, center[:, None] + math.sqrt(width) * xi)
        zero, one, two = held.sum(axis=1), (held * xi).sum(axis=1), (held * (xi**2 - 1)).sum(axis=1)
        zero = np.maximum(zero, LEAST_CHANCE)
        g = one / zero / math.sqrt(width)
        return g, two / zero / width - g**2
    size = math.sqrt(width + (labels.noise if isinstance(labels, Probit) else cluster.noise))
    u = y * center / size
    ratio = np.exp(-0.5 * u * u - log_ndtr(u)) / math.sqrt(2 * math.pi)  # of the density to the probability
    if isinstance(labels, Flips):
        wrong = np.where(y > 0, labels.negative, labels.positive)
        right = (1 - labels.positive - labels.negative) * np.exp(log_ndtr(u))
        ratio = ratio * right / np.maximum(wrong + right, LEAST_CHANCE)
    return y * ratio / size, -ratio * (u + ratio) / size**2


def _chances(channel: Logit | Poisson | Additive | LabelChannel, y: Array, nu: Array) -> Array:
    """Return P(y | nu) of one label in each row, (n, points)."""
    if isinstance(channel, Additive):
        return channel.of_noise(y[:, None] - nu)
    found = np.empty_like(nu)
    for value in np.unique(y):
        found[y == value] = channel.probability(value, nu[y == value])
    return found


def _fresh_error(
    cluster: Cluster, known: tuple[float, float, float], power: float, unseen: float, rng: Generator
) -> float:
    """Return the error of the rule on fresh samples, of which known field and teacher's field are jointly normal."""
    V, q, r = known
    omega, rest = math.sqrt(q) * rng.standard_normal(FRESH_SAMPLES), max(power - r * r / q, 0.0) if q > 0 else power
    nu = (r / q if q > 0 else 0.0) * omega + math.sqrt(rest + unseen) * rng.standard_normal(FRESH_SAMPLES)
    nu, center, width = nu + cluster.teacher_mean, omega + cluster.teacher_mean, V + unseen
    labels = cluster.labels
    noise = math.sqrt(cluster.noise) * rng.standard_normal(FRESH_SAMPLES)
    if labels == "linear":
        return float(np.mean((nu + noise - center) ** 2))
    if isinstance(labels, str):
        return float(np.mean(np.sign(nu + noise) != np.where(center >= 0, 1.0, -1.0)))
    y = draw_labels(labels, nu, cluster.noise, rng)
    if isinstance(labels, Additive):
        return float(np.mean((y - center - labels.mean) ** 2))
    fields = center[:, None] + math.sqrt(width + (cluster.noise if kind_of(labels) == "signs" else 0.0)) * GRID
    if isinstance(labels, Poisson):
        return float(np.mean((y - np.exp(fields) @ GRID_WEIGHTS) ** 2))
    guess = np.sum([value * (labels.probability(value, fields) @ GRID_WEIGHTS) for value in labels.values], axis=0)
    return float(np.mean((y - guess) ** 2 if kind_of(labels) == "values" else np.where(guess >= 0, 1.0, -1.0) != y))
