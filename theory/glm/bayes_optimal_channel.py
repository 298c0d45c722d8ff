"""The least error that any rule can have given the training set, for teachers drawn at random and any label channel.

The teachers of the clusters are jointly normal: in mode i their coordinates have the covariance S_i that the Gram
matrix of their signals tells (a signal is Omega_c theta, so S_ab = gram_ab/(weight om_a om_b)). Given the training
set the teacher field of a fresh sample of cluster c is normal with mean t_c + sqrt(q_c) z and variance V_c + what the
inputs do not see of it. With qhat_c = alpha p_c E (d log Z_c/d omega)^2, where Z_c is the law of a label at the known
mean omega, the coordinates have the covariance (S_i^-1 + D_i)^-1 in the posterior, D_i = sum_c qhat_c om_ci for each
teacher, and V_c is its mean with weights om_ci. Derived here from the saddle point of a student that has the teacher's
own law, at which q = m by Bayes' rule; for one isotropic cluster these are the equations of `bayes_optimal_sign`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from theory.core import Array, SolverResult, checked
from theory.glm.label_information import information, least_error, least_loss, resolved, squared_slope
from theory.glm.systems import as_problem
from theory.models.glm import Cluster, GeneralizedLinearModel, Modes
from theory.models.glm.objective import Minimization
from theory.numerics import Counted, Solution, search

TOLERANCE, ROUNDING = 1e-11, 1e-14  # of the log odds: what is promised, and what is tried
PLAIN_STEPS = 400  # at most, before a search: they end on the branch on which they begin
EVALUATIONS = 2000
ENDS = {"uninformed": 7.0, "informed": -7.0}  # log odds of V, the variance that is not known
NOTHING = 1e-12  # information of a sample at q = 0 up to which it is none
Start = Literal["uninformed", "informed"]


@dataclass(frozen=True, eq=False, repr=False)
class BayesOptimalPoint(SolverResult):
    """Hold what the best rule knows and how often it errs, for each cluster of a problem.

    `q` and `V` (clusters,) are the variance of a fresh teacher field that the training set tells, and what the inputs
    see of the rest; `qhat` (clusters,) is what the labels tell of the weights. `test_error` is the least of any rule:
    P(y != prediction) for labels +-1, else E (y - prediction)^2. `test_loss` is the least mean of -log P(y), in nats
    and with all factors of P. `cluster_errors` are within each cluster. `replicon` is one minus the largest eigenvalue
    of the derivative of one round of the equations, which for samples of the posterior is their stability.

    `residual` is that of the log odds of V.
    """

    q: Array
    V: Array
    qhat: Array
    test_error: float
    test_loss: float
    cluster_errors: Array
    replicon: float


@checked
def bayes_optimal(model: Minimization, start: Start = "uninformed", *, check: bool = True) -> BayesOptimalPoint:
    """Compute the least test error of any rule for a record whose clusters have teachers and commuting covariances.

    Its teachers, channels, covariances and sample ratio count; loss, ridge and bias do not. Means of clusters are taken
    as known. Derived here from the saddle point of a student that has the teacher's own law, whose overlaps with the
    teacher and with itself are equal by Bayes' rule. Labels "sign" and "linear" are `bayes_optimal_sign` and
    `bayes_optimal_linear` for one isotropic cluster. The search begins where nothing is known of the teacher or, with
    start="informed", where nearly all is. Where both differ, as they can for channels that see only the size of the
    field, the first is what fast algorithms reach.

    ValueError for labels of clusters or random ones (see `bayes_optimal_mixture`), for dense covariances, several
    learners, and a teacher that the inputs do not see; ConvergenceError where no solution is found.

    >>> import numpy as np
    >>> from theory import glm
    >>> from theory.models import Cluster, GeneralizedLinearModel, Logit, Modes
    >>> cluster = Cluster(labels=Logit(temperature=1.0), teacher_signal=0)
    >>> modes = Modes([1.0], [[1.0]], [[[1.0]]])
    >>> model = GeneralizedLinearModel(modes=modes, clusters=[cluster], alpha=2.0, lam=0.1, loss="logistic")
    >>> found = glm.bayes_optimal(model)
    >>> round(float(found.q[0]), 9), round(found.test_error, 9)
    (0.263436354, 0.414213421)
    """
    problem = as_problem(model)
    equations = _Equations.of(problem)
    update = Counted(equations, lambda x: bool(np.all(abs(x) < 200)))
    x = np.full(len(problem.clusters), ENDS[start])
    growth = equations.growth_of_nothing()
    for _ in range(PLAIN_STEPS):
        x, old = update(x), x
        if not np.isfinite(x).all():  # more or less is known than numbers tell
            x = old
            break
        if np.max(abs(x - old)) < TOLERANCE or (growth < 1 and np.all(x >= ENDS["uninformed"])):
            break
    if growth < 1 and np.all(x >= ENDS["uninformed"]):
        V, known, residual = equations.seen, np.zeros(len(x)), 0.0
    else:
        x, residual = search(update, x, TOLERANCE, EVALUATIONS, ROUNDING)
        V, known = equations.split(x)
        growth = equations.growth(V, known)
        if not all(resolved(*law) for law in equations.laws(V, known)):
            residual = math.inf
    solution = Solution.judged(V, residual, TOLERANCE, update.evaluations)
    laws = list(equations.laws(V, known))
    errors, losses = (np.array([least(*law) for law in laws]) for least in (least_error, least_loss))
    shares = np.array([cluster.probability for cluster in problem.clusters])
    point = BayesOptimalPoint(
        q=known,
        V=V,
        qhat=equations.information(V, known),
        test_error=float(shares @ errors),
        test_loss=float(shares @ losses),
        cluster_errors=errors,
        replicon=1 - growth,
        residual=residual,
        iterations=update.evaluations,
        converged=solution.converged,
    )
    advice = "take a less extreme alpha"
    Solution.verified(
        point, residual, TOLERANCE, update.evaluations, what="Bayes-optimal point", advice=advice, check=check
    )
    return point


@dataclass(frozen=True, eq=False)
class _Equations:
    """The map of the log odds of what is not known, log V/(seen - V) for each cluster."""

    problem: GeneralizedLinearModel
    weights: Array
    om: Array  # (clusters, modes)
    own: Array  # the teacher of each cluster
    S: Array  # (modes, teachers, teachers)

    @classmethod
    def of(cls, problem: GeneralizedLinearModel) -> "_Equations":
        modes, clusters = problem.modes, problem.clusters
        if not isinstance(modes, Modes) or problem.n_learners > 1:
            raise ValueError("model must have commuting modes, given as Modes, and one learner")
        for cluster in clusters:
            if cluster.labels in ("random", "cluster"):
                raise ValueError(f"model must have labels of a teacher in each cluster, got {cluster.labels!r}")
        teachers = [int(cluster.teacher_signal or 0) for cluster in clusters]
        owners = {a: cluster.covariance for a, cluster in zip(teachers, clusters, strict=True)}
        if any(owners[a] != cluster.covariance for a, cluster in zip(teachers, clusters, strict=True)):
            raise ValueError(
                "model must have clusters of one covariance where they share a teacher_signal, which is the covariance "
                "times the teacher: give each covariance a signal of its own"
            )
        names = sorted(owners)
        om = modes.covariances[[owners[name] for name in names]]
        gram = modes.gram[np.ix_(names, names)]
        scale = modes.weights * om[:, None] * om
        S = np.moveaxis(np.divide(gram, scale, out=np.zeros_like(gram), where=scale > 0), 2, 0)
        own = np.array([names.index(a) for a in teachers])
        found = cls(problem, modes.weights, om[own], own, S)
        if not np.all(found.seen > 0):
            raise ValueError("model must have a teacher of which the inputs see something, got a signal of zero")
        return found

    @property
    def seen(self) -> Array:
        """The variance of each teacher field that the inputs explain."""
        return self._left(self.S)

    def _left(self, covariance: Array) -> Array:
        diagonal = np.einsum("maa->am", covariance)[self.own]
        return np.asarray((self.weights * self.om * diagonal).sum(axis=1))

    def split(self, x: Array) -> tuple[Array, Array]:
        """Return V and q at log odds x, which both keep their digits where they are small."""
        with np.errstate(over="ignore"):
            return self.seen / (1 + np.exp(-x)), self.seen / (1 + np.exp(x))

    def __call__(self, x: Array) -> Array:
        with np.errstate(all="ignore"):
            D, left = self.left_given(self.information(*self.split(x)))
            # S - (S^-1 + D)^-1 = S D (1 + S D)^-1 S is what is known, without a difference of nearly equal numbers.
            return np.asarray(np.log(self._left(left) / self._left(self.S @ (D[:, :, None] * left))))

    def left_given(self, qhat: Array) -> tuple[Array, Array]:
        """Return D (modes, teachers) and the covariance (S^-1 + D)^-1 of the coordinates in the posterior."""
        D = np.zeros((len(self.weights), self.S.shape[1]))
        for c, teacher in enumerate(self.own):
            D[:, teacher] += qhat[c] * self.om[c]
        return D, np.asarray(np.linalg.solve(np.eye(self.S.shape[1]) + self.S * D[:, None, :], self.S), float)

    def laws(self, V: Array, known: Array) -> Iterator[tuple[Cluster, float, float]]:
        """Yield each cluster with the variance of the teacher's field that is known, and that of the rest."""
        for cluster, own, one, q in zip(self.problem.clusters, self.seen, V, known, strict=True):
            yield cluster, float(q), float(one + unseen(cluster, float(own)))

    def information(self, V: Array, known: Array) -> Array:
        """Return qhat of each cluster."""
        rates = [cluster.probability * information(cluster, *pair) for cluster, *pair in self.laws(V, known)]
        with np.errstate(over="ignore"):  # what is infinite is no solution
            return np.asarray(self.problem.alpha * np.array(rates))

    def growth(self, V: Array, known: Array) -> float:
        """Return the largest eigenvalue of the derivative of the map of V, by which a small change of it grows.

        (S^-1 + D)^-1 falls with D_t by its column t times its row t, and qhat with V by alpha p E (dg/d omega)^2.
        """
        left = self.left_given(self.information(V, known))[1][:, self.own][:, :, self.own]
        falls = [cluster.probability * squared_slope(cluster, *pair) for cluster, *pair in self.laws(V, known)]
        rises = np.einsum("m,am,bm,mab->ab", self.weights, self.om, self.om, left**2)
        return float(np.linalg.eigvals(self.problem.alpha * rises * np.array(falls)).real.max())

    def growth_of_nothing(self) -> float:
        """Return the factor by which one round makes little knowledge more; infinite where labels tell some at once.

        Labels that see only the size of a teacher field leave q = 0 as a solution.
        """
        nothing = self.seen, np.zeros(len(self.own))
        told = np.max(self.information(*nothing)) > NOTHING * self.problem.alpha
        return math.inf if told else self.growth(*nothing)


def unseen(cluster: Cluster, seen: float) -> float:
    """Return the variance of a teacher's field that its inputs do not see, without what rounding makes of zero."""
    rest = cluster.teacher_variance - seen
    return rest if rest > 1e-12 * cluster.teacher_variance else 0.0
