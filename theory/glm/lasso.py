"""The lasso with square loss and a linear teacher in its calibrated form, whose two unknowns stay of order one.

With the noise level tau of the estimate, tau^2 = (E (y - h)^2)/alpha, and the threshold a tau in its units, the weights
are the teacher's plus noise, thresholded: w = soft(theta + (tau/sqrt om) xi, a tau/om), for inputs of the variance om.
tau solves alpha tau^2 = noise + mean om (w - theta)^2, and a belongs to the strength lam = a tau (alpha - nonzero)
(for om = 1 known as the calibration of M. Bayati and A. Montanari, which was not read for this; derived here from the
saddle point, for any variances: Vhat = alpha - nonzero is the
stiffness there, tau^2 = qhat/Vhat^2, and both equations are those of `theory.glm.separable` divided by it). Where
lam -> 0 the overlaps V and q of fewer samples than weights diverge or lose their digits in differences; a and tau do
not.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammainc, ndtr

from theory.core.arrays import Array
from theory.glm.overlaps import Conjugates
from theory.glm.saddle_point import SaddlePoint
from theory.glm.separable import absolute_penalty, separable_prior
from theory.glm.signal_components import components_of
from theory.glm.soft_threshold import NORMAL, normal_tails
from theory.models.glm import GeneralizedLinearModel, Modes
from theory.numerics import Solution

LOG_RANGE = 80.0  # of log tau: what lies outside is rounding to all else
COARSE, FINE, POLISHED = 1e-3, 1e-14, 1e-12  # tolerances of roots, and a residual that needs no other start
MAX_RATIO = 30.0  # of the threshold to the noise level: beyond it no weight is left in double precision
ROUNDING = 1e-14


@dataclass(frozen=True)
class Calibration:
    """The calibrated form at a strength: `ratio` a, `tau`, the share of weights that are not 0, and the residual."""

    ratio: float
    tau: float
    nonzero: float
    residual: float
    evaluations: int


def has_calibration(problem: GeneralizedLinearModel) -> bool:
    """Tell whether this is a lasso with square loss and one centered cluster of a linear teacher, without a bias."""
    (cluster, *others), modes, penalty = problem.clusters, problem.modes, problem.penalty
    return (
        penalty is not None
        and not penalty.non_negative
        and penalty.strengths[0] > 0
        and penalty.strengths[1] == 0
        and problem.loss == "square"
        and not (others or problem.bias)
        and (modes.n_covariances, modes.n_signals) == (1, 1)
        and cluster.labels == "linear"
        and cluster.mean_signal is None
        and cluster.teacher_mean == 0
        and cluster.loss_weights[0] == 1
    )


class Lasso:
    """The calibrated equations of one problem; it counts how often they are evaluated."""

    def __init__(self, problem: GeneralizedLinearModel) -> None:
        modes, components, cluster = problem.modes, components_of(problem), problem.clusters[0]
        assert isinstance(modes, Modes)  # the record requires them
        seen = modes.covariances[0] > 0
        om = modes.covariances[0][seen]
        self.om, self.alpha, self.evaluations = om, problem.alpha, 0
        self.shares = components.shares[:, seen]
        self.values = components.values[:, 0, seen] / om
        self.powers = components.powers[:, 0, 0, seen] / om**2
        explained = float(np.sum(self.shares * om * (self.values**2 + self.powers)))
        unseen = cluster.teacher_variance - explained
        self.noise = cluster.noise + (unseen if unseen > ROUNDING * cluster.teacher_variance else 0.0)
        self.power = explained

    def state(self, ratio: float, tau: float) -> tuple[float, float]:
        """Return the risk mean om (w - theta)^2 and the share of weights that are not zero."""
        self.evaluations += 1
        width, threshold = tau / np.sqrt(self.om), ratio * tau / self.om
        risk, active = _gaussian(self.powers, width, threshold)
        if self.values.any():
            risk, active = _fixed(self.values, width, threshold)
        return float(np.sum(self.shares * self.om * risk)), float(np.sum(self.shares * active))

    def excess(self, ratio: float, tau: float) -> float:
        """Return the logarithm of (noise + risk)/(alpha tau^2), which falls with tau."""
        return float(np.log((self.noise + self.state(ratio, tau)[0]) / self.alpha) - 2 * np.log(tau))

    def tau(self, ratio: float, digits: float = FINE) -> float:
        """Return the noise level at a ratio: 0 where everything is recovered, infinite where no level is enough.

        Its logarithm is found within `digits`.
        """
        high = 0.5 * float(np.log((self.noise + self.power) / self.alpha))
        low = high - LOG_RANGE if self.noise == 0 else 0.5 * float(np.log(self.noise / self.alpha))
        if self.excess(ratio, float(np.exp(low))) <= 0:
            return 0.0 if self.noise == 0 else float(np.exp(low))
        step = 1.0
        while self.excess(ratio, float(np.exp(high))) > 0:
            low, high, step = high, high + step, 2 * step
            if step > LOG_RANGE:
                return np.inf
        return float(np.exp(brentq(lambda x: self.excess(ratio, float(np.exp(x))), low, high, xtol=digits, rtol=FINE)))

    def strength(self, ratio: float, digits: float = FINE) -> float:
        """Return the strength that belongs to a ratio; it is negative where more weights are left than samples."""
        tau = self.tau(ratio, digits)
        if tau == 0:
            return 0.0
        if not np.isfinite(tau):
            return -np.inf
        return ratio * tau * (self.alpha - self.state(ratio, tau)[1])

    def calibrated(self, strength: float) -> Calibration | None:
        """Return the point of a strength, None where its threshold lies beyond that of all weights."""
        low, high = 0.0, 1.0
        while self.strength(high, COARSE) < strength:
            low, high = high, 2 * high
            if high > MAX_RATIO:
                return None
        for digits in (COARSE, FINE):  # few digits are enough for Newton's method, but not near a recovery

            def gap(ratio: float, digits: float = digits) -> float:
                return float(np.clip(self.strength(ratio, digits) / strength, -1e3, 1e3)) - 1

            ratio = float(brentq(gap, low, high, xtol=digits, rtol=FINE))
            if 0 < (tau := self.tau(ratio, digits)) < np.inf:
                ratio, tau, residual = self._polished(ratio, tau, strength)
                if residual < POLISHED:
                    break
        return Calibration(ratio, tau, self.state(ratio, tau)[1], residual, self.evaluations)

    def _polished(self, ratio: float, tau: float, strength: float) -> tuple[float, float, float]:
        """Take Newton's steps in (ratio, log tau) together: near a recovery one root alone hardly tells the other.

        The second equation is alpha - nonzero = strength/(a tau), of which both sides may be small.
        """

        def gaps(x: Array) -> Array:
            risk, active = self.state(x[0], float(np.exp(x[1])))
            level = np.log((self.noise + risk) / self.alpha) - 2 * x[1]
            with np.errstate(divide="ignore"):
                return np.array([level, 1 - (active + strength / (x[0] * np.exp(x[1]))) / self.alpha])

        x = np.array([ratio, np.log(tau)])
        found = gaps(x)
        for _ in range(8):
            if np.max(abs(found)) < 1e-14:
                break
            steps = 1e-6 * np.array([max(x[0], 1e-3), 1.0])
            if not np.isfinite(found).all():
                break
            slopes = np.column_stack([(gaps(x + s) - gaps(x - s)) / (2 * s.max()) for s in np.diag(steps)])
            if not (np.isfinite(slopes).all() and np.linalg.det(slopes)):
                break
            tried = x - np.linalg.solve(slopes, found)
            if not (np.isfinite(tried).all() and tried[0] > 0 and np.max(abs(new := gaps(tried))) < np.max(abs(found))):
                break
            x, found = tried, new
        return float(x[0]), float(np.exp(x[1])), float(np.max(abs(found)))


def calibrated_lasso(problem: GeneralizedLinearModel, name: str, tol: float, check: bool) -> SaddlePoint | None:
    """Return the saddle point of a problem that has the calibrated form, and None of others.

    Where the strength leaves no weight in double precision, these are all zero. The test error keeps its digits where
    it is small. The residual is that of the calibrated equations, the first relative, the second over alpha, and
    `iterations` counts their evaluations. ConvergenceError where the residual is above `tol`, unless `check` is False.
    """
    if not has_calibration(problem):
        return None
    assert problem.penalty is not None  # as `has_calibration` tells
    strength, lasso = problem.penalty.strengths[0], Lasso(problem)
    if (found := lasso.calibrated(strength)) is None:
        tau = float(np.sqrt((lasso.noise + lasso.power) / problem.alpha))
        found = Calibration(strength / (problem.alpha * tau), tau, 0.0, 0.0, lasso.evaluations)
    stiffness = strength / (found.ratio * found.tau)
    own = [np.array([one]) for one in (stiffness, (stiffness * found.tau) ** 2, stiffness)]
    hats, (at, norms) = (
        Conjugates(own[0], own[1], own[2], np.zeros(1)),
        separable_prior(problem, own[0], own[1], own[2]),
    )
    error, alpha = problem.alpha * found.tau**2, problem.alpha
    train = 0.5 * error * (float(hats.Vhat[0]) / alpha) ** 2
    solution = Solution.verified(found, found.residual, tol, found.evaluations, what=name, check=check)
    return SaddlePoint(
        problem=problem,
        V=at.V,
        q=at.q,
        r=at.r,
        bias=hats.bias,
        Vhat=hats.Vhat,
        qhat=hats.qhat,
        rhat=hats.rhat,
        train_loss=train,
        test_error=error,
        cluster_losses=np.array([train]),
        cluster_errors=np.array([error]),
        squared_norm=np.diag(norms),
        energy=alpha * train + absolute_penalty(problem, hats.Vhat, hats.qhat, hats.rhat),
        replicon=1 - found.nonzero / alpha,
        jumps=(),
        bias_share=np.full(1, np.nan),
        residual=found.residual,
        iterations=found.evaluations,
        converged=solution.converged,
    )


def _gaussian(power: Array, width: Array, threshold: Array) -> tuple[Array, Array]:
    """Return E (soft(theta + width xi) - theta)^2 and the share beyond the threshold, for theta of this variance.

    theta given B = theta + width xi is normal around (1 - c) B with c = width^2/(power + width^2): the error is
    power c around that mean, the mean itself where B is zeroed, and c B less the threshold where it is not.
    """
    total = power + width**2
    kept, lost = power / total, width**2 / total
    u = threshold / np.sqrt(total)
    k0, k1, k2 = normal_tails(u)
    outside = 2 * total * (lost**2 * k2 - 2 * lost * kept * u * k1 + (kept * u) ** 2 * k0)
    inside = kept**2 * total * gammainc(1.5, u * u / 2)
    return np.asarray(power * lost + outside + inside), 2 * k0


def _fixed(theta: Array, width: Array, threshold: Array) -> tuple[Array, Array]:
    """Return the same for a theta that is known."""
    risk, active = np.zeros_like(theta), np.zeros_like(theta)
    a = threshold / width
    for sign in (1, -1):
        x = sign * theta / width
        t = a - x
        k0, k1, k2 = normal_tails(t)
        near = (1 + a * a) * k0 + (t - 2 * a) * NORMAL * np.exp(-0.5 * t * t)
        risk = risk + np.where(t < 0, near, k2 - 2 * x * k1 + x * x * k0)
        active = active + k0
    inside = np.maximum(ndtr((threshold - theta) / width) - ndtr((-threshold - theta) / width), 0.0)
    return np.asarray(width**2 * risk + theta**2 * inside), active
