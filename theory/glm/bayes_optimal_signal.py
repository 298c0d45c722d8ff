"""The least error that any rule can have where the entries of the teacher follow a known law, sparse or binary.

The posterior mean of the teacher's weights theta leaves the variance V of its field nu unknown. A label tells on
average the information qhat(V) about the field, alpha/(noise + V) for linear labels, and all labels together tell of an
entry with inputs of variance om as much as one observation of it with the precision qhat om:

    V = mean om mmse(qhat om),    qhat = alpha E (d log Z/d omega)^2

over the laws of the entries and modes. There may be several solutions: that which a search reaches from knowing nothing
(V from above, as message passing does) and that next to the teacher (V from below). Of these the one of least mutual
information is what the posterior is; where it is not the first one the problem is hard: no algorithm in polynomial time
is known that reaches it.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import brentq
from scipy.special import entr, ndtr

from theory.core import Array, Result, checked
from theory.glm.bayes_optimal import _information, _squared_slope
from theory.glm.quadrature import normal_nodes
from theory.glm.scalar_posterior import Entry, knowledge
from theory.glm.signal_components import components_of
from theory.models.glm import Cluster, GeneralizedLinearModel, Modes
from theory.numerics import ConvergenceError

# Places of log V/power at which the equation is evaluated: dense where two solutions may merge, and down to where
# squares of precisions still have numbers.
PLACES = np.concatenate([np.linspace(0, -16, 81), np.linspace(-17, -46, 20), np.linspace(-60, -220, 9)])
TOLERANCE = 1e-9
LEAST_WIDTH = 1e-20  # of the field that decides on a sign, over its power: less is the same to double precision


@dataclass(frozen=True, eq=False, repr=False)
class SignalPosterior(Result):
    """Hold one solution: the unknown variance `V` of the teacher's field, `q` what is known of it, and the test error.

    `mean_square_error` is that of the posterior mean of the entries theta. `replicon` = 1 - alpha E (dg/domega)^2 mean
    om^2 E var(theta)^2, with g = d log Z/d omega, is one minus the factor by which a small difference between the
    overlaps of two posterior samples grows. `information` is the mutual information of labels and teacher in nats per
    weight, but for a constant that all solutions share. `residual` is that of the equation for log V.
    """

    V: float
    q: float
    test_error: float
    mean_square_error: float
    replicon: float
    information: float


@dataclass(frozen=True, eq=False, repr=False)
class BayesOptimalSignal(Result):
    """Hold all stable solutions, from the one with the largest unknown variance to the one with the least.

    `uninformed` and `informed` are the first and the last, `optimal` is the one of least information, and `hard` tells
    whether it is not the one that is reached from knowing nothing.
    """

    points: tuple[SignalPosterior, ...] = field(repr=False)

    @property
    def uninformed(self) -> SignalPosterior:
        """The solution that message passing reaches from knowing nothing."""
        return self.points[0]

    @property
    def informed(self) -> SignalPosterior:
        """The solution that is reached from the teacher itself."""
        return self.points[-1]

    @property
    def optimal(self) -> SignalPosterior:
        """The solution of least mutual information, which is what the posterior law gives."""
        return min(self.points, key=lambda point: point.information)

    @property
    def test_error(self) -> float:
        """The least test error of any rule, whatever it costs."""
        return self.optimal.test_error

    @property
    def hard(self) -> bool:
        """Whether the least error is not reached from knowing nothing."""
        return self.optimal is not self.uninformed


@checked
def bayes_optimal_signal(model: GeneralizedLinearModel) -> BayesOptimalSignal:
    """Compute the least error where the law of the teacher's entries is known to be that of `model.signals`.

    The model has one centered cluster with linear or sign labels and one signal, which is "gaussian", of "signs" or a
    `BernoulliGauss`; its loss and its penalty or ridge do not matter here. Errors are E (y - <nu>)^2, label noise
    included, or P(y != prediction). ValueError for other models, ConvergenceError where no solution is resolved.

    Derived here from the replica-symmetric free energy; for linear labels and inputs of one variance it is the equation
    of approximate message passing.

    A quarter of the weights is not zero, and there are as many samples as weights:

    >>> from theory.models import BernoulliGauss
    >>> teacher = Cluster(labels="linear", teacher_signal=0, teacher_variance=0.25, noise=0.1)
    >>> model = GeneralizedLinearModel(
    ...     modes=Modes([1.0], [[1.0]], [[[0.25]]]), clusters=[teacher], alpha=1.0, loss="square", lam=1.0,
    ...     signals=BernoulliGauss(0.25),
    ... )
    >>> found = bayes_optimal_signal(model)
    >>> round(found.test_error, 9), found.hard
    (0.16557195, False)
    """
    equation = _Equation.of(model)
    places = (PLACES if equation.labels == "linear" else PLACES[math.log(LEAST_WIDTH) <= PLACES]) + math.log(
        equation.power
    )
    gaps = np.array([equation.gap(x) for x in places])
    roots = [
        float(brentq(equation.gap, low, high, xtol=1e-14, rtol=1e-14))
        for high, low, above, below in zip(places[:-1], places[1:], gaps[:-1], gaps[1:], strict=True)
        if above < 0 <= below and math.isfinite(below)
    ]
    if gaps[0] >= 0:  # labels tell nothing in double precision
        roots.insert(0, float(places[0]))
    points = [equation.point(math.exp(root), abs(equation.gap(root))) for root in roots]
    if gaps[-1] < 0:  # the entries are known but for what double precision cannot hold
        points.append(equation.point(0.0, 0.0))
    if not points or not max(point.residual for point in points) <= TOLERANCE:
        what = f"Bayes-optimal error of signals {model.signals!r}, alpha={model.alpha:g}"
        worst = max((point.residual for point in points), default=math.inf)
        raise ConvergenceError.of(what, tuple(points), worst, TOLERANCE, advice="take a less extreme alpha or noise")
    return BayesOptimalSignal(tuple(points), residual=max(point.residual for point in points), iterations=len(gaps))


@dataclass(frozen=True)
class _Equation:
    """The equation for log V of one model."""

    alpha: float
    labels: str
    noise: float
    weights: Array
    om: Array
    entries: list[Entry]

    @classmethod
    def of(cls, model: GeneralizedLinearModel) -> "_Equation":
        (cluster, *others), modes = model.clusters, model.modes
        if others or model.n_learners > 1 or not isinstance(modes, Modes):
            raise ValueError("model must have one cluster and one learner with Modes")
        if modes.n_signals != 1 or cluster.labels not in ("linear", "sign") or not _is_centered(cluster):
            raise ValueError(
                "model must have one signal, that of a centered teacher with linear or sign labels, got "
                f"{modes.n_signals} signals and labels={cluster.labels!r}"
            )
        if model.signals is None or isinstance(model.signals, np.ndarray):
            raise ValueError(
                "signals must be 'gaussian', 'signs' or a BernoulliGauss, a law of which the teacher is drawn, got "
                f"{'None' if model.signals is None else 'the entries themselves'}"
            )
        om = modes.covariances[cluster.covariance]
        seen = om > 0
        own, om, weights = components_of(model), om[seen], modes.weights[seen]
        shares = own.shares[:, seen] / np.where(weights > 0, weights, 1.0)
        means, variances = own.values[:, 0, seen] / om, own.powers[:, 0, 0, seen] / om**2
        entries = [
            Entry(shares[one, m], means[one, m], variances[one, m])
            for m in range(len(om))
            for one in [shares[:, m] > 0]
        ]
        power = float(sum(w * o * entry.power for w, o, entry in zip(weights, om, entries, strict=True)))
        if power <= 0:
            raise ValueError("model must have a teacher of which its inputs explain something, got a signal of zeros")
        unseen = max(cluster.teacher_variance - power, 0.0)
        unseen = 0.0 if unseen < 1e-12 * cluster.teacher_variance else unseen
        return cls(model.alpha, cluster.labels, cluster.noise + unseen, weights, om, entries)

    @property
    def power(self) -> float:
        """The variance of the teacher's field that the inputs explain."""
        return float(sum(w * o * one.power for w, o, one in zip(self.weights, self.om, self.entries, strict=True)))

    def qhat(self, V: float) -> float:
        """Return alpha E (d log Z/d omega)^2, what labels tell of the field."""
        width = V + self.noise
        if width == 0:
            return math.inf
        if self.labels == "linear":
            return self.alpha / width
        return self.alpha * _information(self.power - V, max(width, LEAST_WIDTH * self.power))

    @property
    def entropy(self) -> float:
        """The entropy of the entries in nats, infinite unless each has one of some values."""
        if any(entry.variances.any() for entry in self.entries):
            return math.inf
        return float(sum(w * np.sum(entr(one.shares)) for w, one in zip(self.weights, self.entries, strict=True)))

    def averages(self, qhat: float) -> tuple[float, float, float, float]:
        """Return the means of om var, of om^2 var^2, of var, and the information of all entries."""
        total = np.zeros(4)
        for w, om, entry in zip(self.weights.tolist(), self.om.tolist(), self.entries, strict=True):
            if not w:
                continue
            left, square, told = knowledge(entry, qhat * om)
            total += w * np.array([om * left, om**2 * square, left, told])
        a, b, c, d = total.tolist()
        return a, b, c, d

    def gap(self, log_V: float) -> float:
        """Return the logarithm of what V leads to, less that of V; it falls through zero at a stable solution."""
        V = min(math.exp(log_V), self.power)
        reached = self.averages(self.qhat(V))[0]
        return math.log(reached) - log_V if reached > 0 else -math.inf

    def point(self, V: float, residual: float) -> SignalPosterior:
        """Return all that follows from a solution."""
        V = min(V, self.power)
        q, qhat, width = self.power - V, self.qhat(V), self.noise + V
        if math.isinf(qhat):  # nothing is unknown
            told = -math.inf if self.labels == "linear" else self.entropy
            return SignalPosterior(V=0.0, q=q, test_error=0.0, mean_square_error=0.0, replicon=1.0, information=told)
        _, square, left, told = self.averages(qhat)
        if self.labels == "linear":
            error, slope = width, self.alpha / width**2
            output = 0.5 * self.alpha * (math.log(width) - (math.log(self.noise) if self.noise else 0.0))
        else:
            error = math.atan2(math.sqrt(width), math.sqrt(q)) / math.pi
            slope = self.alpha / width**2 * _squared_slope(q, width)
            output = self.alpha * _label_entropy(q, width)
        return SignalPosterior(
            V=V,
            q=q,
            test_error=error,
            mean_square_error=left,
            replicon=1 - slope * square,
            information=told + output - 0.5 * qhat * V,
            residual=residual,
        )


def _is_centered(cluster: Cluster) -> bool:
    return cluster.mean_signal is None and cluster.teacher_mean == 0


def _label_entropy(q: float, width: float) -> float:
    """Return the mean entropy in nats of a label sign(omega + sqrt(width) xi), omega normal of variance q."""
    slope = math.sqrt(q / width)
    z, weights = normal_nodes([(0.0, 1 / slope if slope > 0 else 0.0)])
    return 2 * float(weights @ entr(ndtr(slope * z)))  # of both labels, which mirror each other
