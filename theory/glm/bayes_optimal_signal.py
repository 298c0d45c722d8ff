"""The least error that any rule can have where the entries of the teacher follow a known law, sparse or binary.

The posterior mean of the teacher's weights theta leaves the variance V of its field nu unknown. A label tells on
average the information qhat(V)/alpha about the field, 1/(noise + V) for linear labels, and all labels together tell of
an entry with inputs of variance om as much as one observation of it with the precision qhat om:

    V = mean om mmse(qhat om),    qhat = alpha E (d log Z/d omega)^2

over the laws of the entries and modes, where Z is the law of a label at the known mean omega of the field. There may be
several solutions: that which a search reaches from knowing nothing (V from above, as message passing does) and that
next to the teacher (V from below). Of these the one of least mutual information is what the posterior is; where it is
not the first one the problem is hard: no algorithm in polynomial time is known that reaches it.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import brentq
from scipy.special import entr

from theory.core import Array, Result, checked, checks
from theory.glm.bayes_optimal_channel import unseen
from theory.glm.label_information import information, least_error, least_left, least_loss, resolved, squared_slope
from theory.glm.scalar_posterior import Entry, knowledge
from theory.glm.signal_components import components_of
from theory.models.glm import Cluster, GeneralizedLinearModel, Modes
from theory.numerics import ConvergenceError

# Places of log V/power at which the equation is evaluated: dense where two solutions may merge, down to where squares
# of precisions still have numbers, and near to zero, where labels that see only the size of a field begin to tell.
PLACES = np.concatenate([[0.0, -1e-6, -1e-4, -0.01], np.linspace(-0.2, -16, 80), np.linspace(-17, -46, 20)])
PLACES = np.concatenate([PLACES, np.linspace(-60, -220, 9)])
TOLERANCE = 1e-9
NOTHING = 1e-20  # of the field, over its power: what double precision does not tell from nothing
ROUNDING = 1e-14  # of the equation where nothing is known
MAX_VALUES = 64  # that given entries take: their posterior costs the square of it


@dataclass(frozen=True, eq=False, repr=False)
class SignalPosterior(Result):
    """Hold one solution: the unknown variance `V` of the teacher's field, `q` what is known of it, and the test error.

    `mean_square_error` is that of the posterior mean of the entries theta. `replicon` = 1 - alpha E (dg/domega)^2 mean
    om^2 E var(theta)^2, with g = d log Z/d omega, is one minus the factor by which a small difference between the
    overlaps of two posterior samples grows: the solution is stable where it is positive. `information` is the mutual
    information of labels and teacher in nats per weight; for linear labels without noise, of which it is infinite, it
    lacks a constant that all solutions share. `residual` is that of the equation for log V.
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

    The model has one cluster, whose labels are those of a teacher through any channel, and one signal: "gaussian", of
    "signs", a `BernoulliGauss`, or given entries, of which the rule knows the values and how often each occurs among
    inputs of one variance, but not where. Its loss and its penalty or ridge do not matter here. Errors are E (y -
    <y>)^2, label noise included, or P(y != prediction) of labels +-1. ValueError for other models; ConvergenceError
    where no solution is resolved, as where less is unknown of the field than the tables of a channel resolve.

    Derived here from the replica-symmetric free energy; for linear labels and inputs of one variance it is the equation
    of approximate message passing, and for normal entries that of `bayes_optimal`.

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
    places = PLACES + math.log(equation.unknown)
    gaps = np.array([equation.gap(x) for x in places])
    roots = []
    if gaps[0] >= -ROUNDING:  # labels tell nothing at once, and nothing later on unless a little knowledge grows
        if equation.growth(equation.unknown) < 1:
            roots.append(float(places[0]))
        gaps[0] = -math.inf if not roots else math.inf
    roots += [
        float(brentq(equation.gap, low, high, xtol=1e-14, rtol=1e-14))
        for high, low, above, below in zip(places[:-1], places[1:], gaps[:-1], gaps[1:], strict=True)
        if above < 0 <= below and math.isfinite(below)
    ]
    points = [equation.point(math.exp(root), abs(equation.gap(root))) for root in roots]
    if gaps[-1] < 0:  # the entries are known but for what double precision cannot hold
        points.append(equation.point(0.0, 0.0))
    if not points or not max(point.residual for point in points) <= TOLERANCE:
        what = f"Bayes-optimal error of signals {checks.shown(model.signals)}, alpha={model.alpha:g}"
        worst = max((point.residual for point in points), default=math.inf)
        raise ConvergenceError.of(what, tuple(points), worst, TOLERANCE, advice="take a less extreme alpha or noise")
    return BayesOptimalSignal(tuple(points), residual=max(point.residual for point in points), iterations=len(gaps))


@dataclass(frozen=True)
class _Equation:
    """The equation for log V of one model, where inputs explain the power `seen` of the teacher's field."""

    alpha: float
    cluster: Cluster
    weights: Array
    om: Array
    entries: list[Entry]
    seen: float
    hidden: float  # what the inputs do not explain of the field
    told: dict[float, float] = field(default_factory=dict)  # qhat at V

    @classmethod
    def of(cls, model: GeneralizedLinearModel) -> "_Equation":
        (cluster, *others), modes = model.clusters, model.modes
        if others or model.n_learners > 1 or not isinstance(modes, Modes):
            raise ValueError("model must have one cluster and one learner with Modes")
        if modes.n_signals != 1 or cluster.labels in ("random", "cluster") or cluster.mean_signal is not None:
            raise ValueError(
                "model must have one signal, that of a teacher of the labels, and a cluster without a mean_signal, got "
                f"{modes.n_signals} signals and labels={checks.shown(cluster.labels)}"
            )
        if model.signals is None:
            raise ValueError("signals must tell the law of the teacher's entries, got None")
        om, weights, entries = _entries(model, cluster)
        seen = float(sum(w * o * one.power for w, o, one in zip(weights, om, entries, strict=True)))
        if seen <= 0:
            raise ValueError("model must have a teacher of which its inputs explain something, got a signal of zeros")
        found = cls(model.alpha, cluster, weights, om, entries, seen, unseen(cluster, seen))
        if found.unknown <= 1e-15 * seen:
            raise ValueError(
                "signals must be a law of which the teacher is drawn, got entries that their input variances tell"
            )
        return found

    @property
    def unknown(self) -> float:
        """The variance of the teacher's field that is unknown without data."""
        return float(sum(w * o * one.variance for w, o, one in zip(self.weights, self.om, self.entries, strict=True)))

    @property
    def bare(self) -> bool:
        """Whether linear labels have no noise: then they tell infinitely much where nothing is unknown."""
        return self.cluster.labels == "linear" and self.hidden + self.cluster.noise == 0

    def split(self, V: float) -> tuple[Cluster, float, float]:
        """Return the cluster with what is known of the teacher's field and what is left of it, in the least digits."""
        V = max(V, least_left(self.cluster) - self.hidden)
        return self.cluster, max(self.seen - V, 0.0), V + self.hidden

    def qhat(self, V: float) -> float:
        """Return alpha E (d log Z/d omega)^2, what labels tell of the field."""
        cluster, known, left = self.split(V)
        if left not in self.told:
            self.told[left] = self.alpha * information(cluster, known, left)
        return self.told[left]

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
        V = min(math.exp(log_V), self.unknown)
        reached = self.averages(self.qhat(V))[0]
        return math.log(reached) - log_V if reached > 0 else -math.inf

    def growth(self, V: float) -> float:
        """Return the factor by which one round of the equation makes a small change of V larger."""
        return self.alpha * squared_slope(*self.split(V)) * self.averages(self.qhat(V))[1]

    def point(self, V: float, residual: float) -> SignalPosterior:
        """Return all that follows from a solution."""
        V = min(V, self.unknown)
        if not resolved(self.cluster, self.seen - V, V + self.hidden):
            # Labels tell at least as much as where their information is resolved, so that V is no more than this.
            V, residual = (0.0, residual) if NOTHING * self.unknown >= V else (V, math.inf)
        rest = self.cluster, self.seen - V, V + self.hidden
        noise = 0.0 if self.bare else least_loss(self.cluster, self.seen, self.hidden)
        gained = self.alpha * (least_loss(*rest) - noise)
        if V == 0:  # nothing is unknown
            growth, left, told, pull = 0.0, 0.0, self.entropy, 0.0
        else:
            qhat, growth = self.qhat(V), self.growth(V)
            _, _, left, told = self.averages(qhat)
            pull = 0.5 * qhat * V
        return SignalPosterior(
            V=V,
            q=self.seen - V,
            test_error=least_error(*rest),
            mean_square_error=left,
            replicon=1 - growth,
            information=gained if math.isinf(gained) else told + gained - pull,
            residual=residual,
        )

    @property
    def entropy(self) -> float:
        """The entropy of the entries in nats, infinite unless each has one of some values."""
        if any(entry.variances.any() for entry in self.entries):
            return math.inf
        return float(sum(w * np.sum(entr(one.shares)) for w, one in zip(self.weights, self.entries, strict=True)))


def _entries(model: GeneralizedLinearModel, cluster: Cluster) -> tuple[Array, Array, list[Entry]]:
    """Return the variances of inputs, the shares of the coordinates that have them, and the laws of entries there.

    Given entries are known but for their order among inputs of one variance.
    """
    assert isinstance(model.modes, Modes)
    om = model.modes.covariances[cluster.covariance]
    seen = (om > 0) & (model.modes.weights > 0)
    own, om, weights = components_of(model), om[seen], model.modes.weights[seen]
    shares = own.shares[:, seen] / weights
    means, variances = own.values[:, 0, seen] / om, own.powers[:, 0, 0, seen] / om**2
    if not isinstance(model.signals, np.ndarray):
        kept = [shares[:, m] > 0 for m in range(len(om))]
        return om, weights, [Entry(shares[k, m], means[k, m], variances[k, m]) for m, k in enumerate(kept)]
    levels, group = np.unique(om, return_inverse=True)
    totals, entries = np.asarray(np.bincount(group, weights), float), []
    for level, total in enumerate(totals):
        values, which = np.unique(means[0, group == level], return_inverse=True)
        if len(values) > MAX_VALUES:
            raise ValueError(
                f"signals must be given by at most {MAX_VALUES} values among inputs of one variance, got {len(values)}"
            )
        entries.append(Entry(np.bincount(which, weights[group == level]) / total, values, 0 * values))
    return levels, totals, entries
