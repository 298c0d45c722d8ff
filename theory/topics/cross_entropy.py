"""Stage 1 under cross-entropy without a bias, where the flow of D x D numbers reduces to that of two, the gap and y0.

y0 is the amplitude of row 0 along E xbar; every word row has y_w = -y0/(T v). The loss has no finite minimizer.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from theory.core import Array, Positive, checked, checks
from theory.models.topics import Masking, TopicModel, Topics
from theory.numerics import ConvergenceError, Solution
from theory.topics.blocks import BlockMatrix
from theory.topics.sectors import same_topic_gap, sectors
from theory.topics.value_matrix import mean_and_gap

STIFF, LONGEST = 1e6, 1e12  # times
TOLERANCE = 1e-9  # largest size of the gradient, relative to the pull of the ridge
ADVICE = "take a ridge lam nearer to 1e-3"


@dataclass(frozen=True, eq=False)
class CrossEntropyPath:
    """Holds the gap, the loss and the value matrix at each time, and the number of evaluations of the flow."""

    gap: Array
    loss: Array
    matrices: tuple[BlockMatrix, ...]
    evaluations: int


def cross_entropy_flow(model: Topics, masking: Masking, times: Array) -> CrossEntropyPath:
    """Return the path dW/dt = -grad from W = 0 at the given times, integrated to 1e-12; ConvergenceError otherwise."""
    if times.max() > LONGEST:
        raise ValueError(f"times must be at most {LONGEST:g} under cross-entropy, got {times.max():g}")
    reduced = _Reduced.of(model, masking)
    grid, back = np.unique(times, return_inverse=True)
    # At long times the flow is stiff: an explicit method would go on in steps of the fastest relaxation time.
    method = "DOP853" if grid[-1] <= STIFF else "LSODA"
    solved = solve_ivp(
        lambda _, x: reduced.slopes(x),
        (0, max(float(grid[-1]), 1e-12)),
        np.zeros(2),
        t_eval=grid,
        method=method,
        rtol=1e-12,
        atol=1e-14,
        **({} if method == "DOP853" else {"jac": lambda _, x: -reduced.curvature(x) / reduced.metric[:, None]}),
    )
    if not solved.success:
        last = solved.y[:, -1]
        raise ConvergenceError.of("cross-entropy flow", last, np.inf, 1e-12, solved.nfev, status="diverged")
    path = solved.y.T[back]
    losses = np.array([reduced.loss(x) for x in path])
    return CrossEntropyPath(path[:, 0], losses, tuple(reduced.matrix(x) for x in path), int(solved.nfev))


@checked
def cross_entropy_optimum(model: TopicModel, masking: Masking, lam: Positive) -> BlockMatrix:
    """Return the value matrix that minimizes the cross-entropy + (lam/2) |W|^2 with uniform attention and no bias.

    Without a ridge there is no minimizer: the gap between same-topic and different-topic entries grows without end
    while the loss falls to log(tau v). By symmetry the problem has two unknowns. `residual` is the gradient relative to
    the pull of the ridge, and `iterations` the steps of the minimization. Derived here: under permutations of topics,
    and of the words of a topic, only two amplitudes are left, the gap in the topic sector and one along E xbar. Raises
    ConvergenceError where the gradient does not vanish.
    """
    reduced = _Reduced.of(model, masking)

    def objective(x: Array) -> tuple[float, Array]:
        gradient = reduced.metric * (lam * x - reduced.slopes(x))
        return reduced.loss(x) + lam / 2 * float(reduced.metric @ x**2), gradient

    with np.errstate(all="ignore"):  # what overflows is judged below, by the residual
        found = minimize(objective, np.zeros(2), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 2000})
        x = found.x
        for _ in range(4):  # Newton: BFGS stops where the loss no longer changes in its last digit
            curvature = reduced.curvature(x) + lam * np.diag(reduced.metric)
            if not (np.isfinite(curvature).all() and np.linalg.det(curvature) > 0):
                break
            x = x - np.linalg.solve(curvature, objective(x)[1])
        residual = float(np.max(abs(objective(x)[1]) / (lam * reduced.metric * abs(x))))
    what = f"cross-entropy with ridge {lam:g}"
    Solution.verified(x, residual, TOLERANCE, int(found.nit), what=what, advice=ADVICE, otherwise="max_iter")
    return replace(reduced.matrix(x), residual=residual, iterations=int(found.nit))


@dataclass(frozen=True, eq=False)
class _Reduced:
    """Holds the numbers that the two equations need; x = (gap, y0) throughout."""

    model: TopicModel
    masking: Masking
    counts: Array  # how many tokens lie in S, outside, and are [MASK]
    logits: Array  # (3, 2): of these tokens, z = logits @ x
    metric: Array  # |W|^2 = metric @ x^2

    @classmethod
    def of(cls, model: Topics, masking: Masking) -> "_Reduced":
        """Make the numbers of a model and a masking; ValueError unless documents have tau topics in equal shares."""
        checks.record("model", model, TopicModel)
        assert isinstance(model, TopicModel)
        same_topic_gap(model, masking)
        T, v, tau, words = model.n_topics, model.words_per_topic, model.topics_per_document, model.n_words
        mean, kappa = sectors(model, masking).mean, masking.true_fraction
        logits = np.array([[kappa * (1 / tau - 1 / T), -mean / words], [-kappa / T, -mean / words], [0.0, mean]])
        counts = np.array([tau * v, (T - tau) * v, 1.0])
        return cls(model, masking, counts, logits, np.array([v**2 * (T - 1), mean * (1 + 1 / words)], float))

    def slopes(self, x: Array) -> Array:
        """Return d(gap)/dt and d(y0)/dt, minus the gradient in the metric of the flow."""
        z = self.logits @ x
        weights = np.exp(z - z.max())
        p_in, p_out, p_mask = weights / (self.counts @ weights)
        T, v, tau = self.model.n_topics, self.model.words_per_topic, self.model.topics_per_document
        pull = 1 / (tau * v) - p_in + p_out
        return np.array([pull * self.masking.true_fraction * (T - tau) / (T * (T - 1) * v), -p_mask])

    def curvature(self, x: Array) -> Array:
        """Return the second derivatives of the loss, (2, 2): covariances of the logits' slopes under the softmax."""
        p = softmax(self.logits @ x + np.log(self.counts))
        return np.asarray(self.logits.T @ (np.diag(p) - np.outer(p, p)) @ self.logits)

    def loss(self, x: Array) -> float:
        """Return the loss, -log softmax of a true word in nats."""
        z = self.logits @ x
        return float(logsumexp(z, b=self.counts) - z[0])

    def matrix(self, x: Array) -> BlockMatrix:
        """Return the value matrix."""
        gap, y0 = float(x[0]), float(x[1])
        return mean_and_gap(self.model, self.masking, -y0 / self.model.n_words, gap, mask_row=y0)
