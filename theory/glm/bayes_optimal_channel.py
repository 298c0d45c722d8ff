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
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import brentq
from scipy.special import xlogy

from theory.core import Array, SolverResult, checked
from theory.glm.fresh_samples import moments
from theory.glm.labels import label_law, values_of
from theory.glm.quadrature import normal_nodes
from theory.glm.residuals import smoothed_noise
from theory.glm.systems import as_problem
from theory.models.glm import Additive, Cluster, GeneralizedLinearModel, Modes
from theory.models.glm.cluster import kind_of
from theory.models.glm.objective import Minimization
from theory.numerics import Counted, Solution, search

TOLERANCE = 1e-11
PLAIN_STEPS = 400  # at most, before a search: they end on the branch on which they begin
EVALUATIONS = 2000
ENDS = {"uninformed": 7.0, "informed": -7.0}  # log odds of V, the variance that is not known
STEP = 1e-4  # of a difference, relative to the smaller of what is known and what is not
LEAST_CHANCE = 1e-250
NOTHING, LITTLE = 1e-12, 1e-6  # information a sample at q = 0 up to which it is none, and a share that is known
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
        if np.max(abs(x - old)) < TOLERANCE or (growth < 1 and np.all(x >= ENDS["uninformed"])):
            break
    if growth < 1 and np.all(x >= ENDS["uninformed"]):
        V, residual, replicon = equations.seen, 0.0, 1 - growth
    else:
        x, residual = search(update, x, TOLERANCE, EVALUATIONS)
        V = equations.unknown(x)
        replicon = equations.replicon(x)
    solution = Solution.judged(V, residual, TOLERANCE, update.evaluations)
    known = equations.seen - V
    pairs = [least_error(cluster, float(q)) for cluster, q in zip(problem.clusters, known, strict=True)]
    errors, losses = np.array(pairs).T
    shares = np.array([cluster.probability for cluster in problem.clusters])
    point = BayesOptimalPoint(
        q=known,
        V=V,
        qhat=equations.information(V),
        test_error=float(shares @ errors),
        test_loss=float(shares @ losses),
        cluster_errors=errors,
        replicon=replicon,
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

    def unknown(self, x: Array) -> Array:
        """Return V at log odds x."""
        return np.asarray(self.seen / (1 + np.exp(-x)))

    def __call__(self, x: Array) -> Array:
        with np.errstate(over="ignore"):
            return self._image(self.seen / (1 + np.exp(-x)), self.seen / (1 + np.exp(x)))

    def _image(self, V: Array, known: Array) -> Array:
        with np.errstate(all="ignore"):
            information = self.information(V, known)
            D = np.zeros((len(self.weights), self.S.shape[1]))
            for c, teacher in enumerate(self.own):
                D[:, teacher] += information[c] * self.om[c]
            # S - (S^-1 + D)^-1 = S D (1 + S D)^-1 S is what is known, without a difference of nearly equal numbers.
            factor = np.asarray(np.linalg.solve(np.eye(self.S.shape[1]) + self.S * D[:, None, :], self.S), float)
            known = self.S @ (D[:, :, None] * factor)
            return np.asarray(np.log(self._left(factor) / self._left(known)))

    def information(self, V: Array, known: Array | None = None) -> Array:
        """Return qhat of each cluster where the variance V of its teacher field is not known."""
        known = self.seen - V if known is None else known
        pairs = zip(self.problem.clusters, known, strict=True)
        return np.array([self.problem.alpha * c.probability * _information(c, float(q)) for c, q in pairs])

    def growth_of_nothing(self) -> float:
        """Return the factor by which one round makes little knowledge more; infinite where labels tell some at once.

        Labels that see only the size of a teacher field leave q = 0 as a solution.
        """
        if np.max(self.information(self.seen, np.zeros(len(self.own)))) > NOTHING * self.problem.alpha:
            return math.inf
        little = LITTLE * np.eye(len(self.own))
        columns = [1 / (1 + np.exp(self.from_shares(share))) / LITTLE for share in little]
        return float(np.linalg.eigvals(np.array(columns) * self.seen / self.seen[:, None]).real.max())

    def from_shares(self, share: Array) -> Array:
        """Return the image, as log odds, where these shares of what the inputs see are known."""
        return self._image(self.seen * (1 - share), self.seen * share)

    def replicon(self, x: Array) -> float:
        """Return one minus the largest eigenvalue of the derivative of the map of the log odds."""
        columns = [(self(x + STEP * unit) - self(x - STEP * unit)) / (2 * STEP) for unit in np.eye(len(x))]
        return 1 - float(np.linalg.eigvals(np.array(columns)).real.max())


def _information(cluster: Cluster, q: float) -> float:
    """Return E (d log Z/d omega)^2 over labels, and over a known mean omega of variance q."""
    if kind_of(cluster.labels) == "real":
        rest = cluster.teacher_variance + cluster.noise - q
        if not isinstance(cluster.labels, Additive):
            return 1 / rest
        _, weights, density, rise = smoothed_noise(cluster.labels, math.sqrt(rest))
        kept = density > LEAST_CHANCE
        return float(weights[kept] @ (rise[kept] ** 2 / density[kept]))
    weights, chance, shift = _laws(cluster, q)
    told = np.divide(shift**2, chance, out=np.zeros_like(chance), where=chance > LEAST_CHANCE)
    return float((told @ weights).sum())


def _laws(cluster: Cluster, q: float, bends: tuple[tuple[float, float], ...] = ()) -> tuple[Array, Array, Array]:
    """Return weights of nodes of the known mean, and P(y) with its derivative by the mean, (values, nodes)."""
    law = label_law(cluster, 1.0, math.sqrt(q))
    z, weights = normal_nodes([*law.bends(), *bends])
    if kind_of(cluster.labels) == "values":
        chance, shift = law(None, z)
    else:
        chance, shift = (np.array(rows) for rows in zip(*(law(y, z) for y in (1, -1)), strict=True))
    assert shift is not None
    return weights, chance, shift


def least_error(cluster: Cluster, q: float) -> tuple[float, float]:
    """Return the least error and the least mean of -log P(y) where the variance q of a teacher field is known."""
    labels = cluster.labels
    if kind_of(labels) == "real":
        rest = cluster.teacher_variance + cluster.noise - q
        if not isinstance(labels, Additive):
            return rest, 0.5 * math.log(2 * math.pi * math.e * rest)
        _, weights, density, _ = smoothed_noise(labels, math.sqrt(rest))
        return rest + labels.variance, -float(weights @ xlogy(density, np.maximum(density, 1e-300)))
    turns = tuple((place, 0.0) for place in _turns(cluster, q)) if kind_of(labels) == "signs" else ()
    weights, chance, _ = _laws(cluster, q, turns)
    loss = -float((xlogy(chance, np.maximum(chance, 1e-300)) @ weights).sum())
    if kind_of(labels) == "signs":
        return float(weights @ chance.min(axis=0)), loss
    guess = values_of(cluster)[:, 0] @ chance
    return moments(cluster)[1] - float(weights @ guess**2), loss


def _turns(cluster: Cluster, q: float) -> list[float]:
    """Return the places z at which both signs are equally probable."""
    law = label_law(cluster, 1.0, math.sqrt(q))

    def lead(z: float) -> float:
        return float(law(1, np.array([z]))[0][0]) - 0.5

    grid = np.linspace(-9, 9, 721) + 1e-4
    signs = np.sign(law(1, grid)[0] - 0.5)
    crossed = np.flatnonzero(signs[1:] * signs[:-1] < 0).tolist()
    return [float(brentq(lead, grid[k], grid[k + 1], xtol=1e-13)) for k in crossed]
