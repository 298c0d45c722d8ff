"""The overlaps, conjugates and observables at a saddle point."""

import dataclasses
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from theory.core import Array, DataFrame, Grid, NonNegativeCount, SolverResult, checked, table
from theory.glm.field import Field
from theory.glm.fresh_samples import chances, mean_fresh_loss
from theory.glm.losses import loss_of
from theory.glm.overlaps import Overlaps
from theory.glm.own_losses import Jump, examined
from theory.glm.training_error import training_error
from theory.models.glm import Cluster, GeneralizedLinearModel
from theory.models.glm.cluster import kind_of
from theory.numerics import ConvergenceError
from theory.numerics.stability import WithReplicon

LEAST_SHARE = -12.0  # decimal logarithm of the share of forces below which double precision does not see them
MEAN_RESOLUTION = 1e-7  # largest difference of a mean on panels of half the width


@dataclass(frozen=True, eq=False, repr=False)
class SaddlePoint(WithReplicon, SolverResult):
    """Hold overlaps, conjugates and observables of a saddle point.

    `V` and `q` have one entry for each covariance, `r` one for each signal, `bias` one for each learner.
    `train_loss` is the mean loss of a training sample without the ridge; `test_error` is P(y h < 0) for labels +-1
    and E (y - h)^2 with label noise for others, with the Poisson loss E (y - exp(h))^2; `cluster_errors` and
    `cluster_losses` are within each cluster. `energy` = alpha train_loss + (1/2) tr ridge W, per parameter, with W the
    Gram matrix of the weights, `squared_norm` its diagonal |w_l|^2/p.

    `replicon` tells whether replica symmetry is locally stable, which it is above 0. Let two replicas, or two runs from
    different starts, differ a little, by delta_c in the overlap q_c of each covariance Omega_c. One round of the
    equations makes of it sum_d B_cd a_d delta_d: a_d = alpha E (df/dh)^2 over the samples of covariance d, with
    f = (prox(h) - h)/V the force of a sample on its field h, and B_cd = tr(Omega_c G Omega_d G)/p with
    G = (ridge + sum_c Vhat_c Omega_c)^-1 the response of the weights. The replicon is 1 minus the largest eigenvalue of
    this matrix: for one covariance 1 - alpha E (df/dh)^2 tr(Omega G)^2/p, one minus the parameter of de Almeida and
    Thouless. For convex losses it is positive: 0 <= -df/dh <= 1/V gives a_c <= Vhat_c/V_c, hence sum_d B_cd a_d V_d <=
    tr(Omega_c G (1 - ridge G))/p < V_c, and no eigenvalue reaches 1. A loss of one's own that is not convex can
    make it negative; the prediction is then wrong, since the training has many far minima. It is -infinity where the
    proximal operator of the loss jumps among the samples: E (df/dh)^2 is infinite there, and a small difference delta
    grows as the square root of delta. `jumps` lists these jumps, each with its argument t, the values below and above
    it, and the response V (times the loss weight) to which it belongs. `train_loss`, `test_error` and overlaps of an
    unstable point are solutions of the equations only, and not what a training reaches; of it `energy_bound` remains.

    `bias_share` is the decimal logarithm, for each learner, of the share of all forces on a trained bias that decide on
    it, those which differ from the force in the middle of their cluster: 0 where half of the samples or more do so, NaN
    for a bias that is not trained. With hinge loss and a large ridge nearly all samples lie on one straight piece of
    the loss, and where the labels balance only a tail of them decides. The bias is then that of the limit of infinitely
    many samples, from the balance of both tails; n samples have it only where n is far above the inverse of that share
    and both labels are equally frequent among them, otherwise any bias in an interval is as good: see
    `bias_determined`.

    `residual` is that of the saddle-point equations in log V, log q, r; `iterations` counts
    evaluations of them.
    """

    problem: GeneralizedLinearModel = dataclasses.field(repr=False)
    V: Array
    q: Array
    r: Array
    bias: Array
    Vhat: Array
    qhat: Array
    rhat: Array
    train_loss: float
    test_error: float
    cluster_losses: Array
    cluster_errors: Array
    squared_norm: Array
    energy: float
    replicon: float
    jumps: tuple[Jump, ...]
    bias_share: Array

    @property
    def energy_bound(self) -> float:
        """A lower bound of the least energy of the training, per weight, as the number of weights grows.

        By Gordon's inequality, which asks for no convex loss, it is the least over q of the greatest over V of
        lam q/2 - q/(2 V) + alpha E min_x [l(x) + (x - h)^2/(2 V)], written here for isotropic inputs. The saddle point
        is where this is stationary, and `energy` its value; where the point is stable it is the energy itself. NaN for
        several covariances or learners, for which the inequality was not derived.
        """
        return self.energy if len(self.V) == 1 and self.problem.n_learners == 1 else float("nan")

    @property
    def bias_determined(self) -> bool:
        """Whether more than one in 1e12 of the forces on each trained bias decides on it."""
        return not bool(np.any(self.bias_share < LEAST_SHARE))

    @cached_property
    def train_error(self) -> float:
        """The share of the training samples whose label is not predicted, P(y h < 0) among them; NaN if it is linear.

        A hard margin leaves none, and so do other losses as lam -> 0 where a hyperplane separates the labels.
        """
        loss = examined(loss_of(self.problem.loss))
        return sum(cluster.probability * training_error(cluster, loss, field) for cluster, field in self._fields)

    @cached_property
    def test_loss(self) -> float:
        """The mean loss of a sample that was not trained on, without loss weights.

        For the logistic loss this is the cross entropy in nats. ConvergenceError where kinks of an own loss leave it
        unresolved.
        """
        loss, total = examined(loss_of(self.problem.loss)), 0.0
        for cluster, field in self._fields:
            means = [mean_fresh_loss(cluster, loss, field, halvings) for halvings in (0, 1)]
            if not abs(means[1] - means[0]) <= MEAN_RESOLUTION * (1 + abs(means[1])):
                what = f"mean of the loss {loss.name!r} of a fresh sample"
                advice = "its kinks are not all declared (`kinks` of a ConvexMargin, `breakpoints` of another loss)"
                raise ConvergenceError.of(what, means[1], abs(means[1] - means[0]), MEAN_RESOLUTION, advice=advice)
            total += cluster.probability * means[0]
        return total

    @checked
    def calibration(self, fields: Grid, learner: NonNegativeCount = 0) -> Array:
        """Return P(y = 1 | h) for labels +-1 at the given fields h, bias included, of a learner.

        A learner that takes 1/(1 + exp(-h)) for this probability is calibrated where both are equal. ValueError for
        other labels.
        """
        own = [(cluster, field) for cluster, field in self._fields if cluster.learner == learner]
        if not own or any(kind_of(cluster.labels) != "signs" for cluster, _ in own):
            raise ValueError(f"learner must be one of labels +-1, got {learner} of {self.problem.n_learners}")
        found = [(cluster.probability, *chances(cluster, field, fields)) for cluster, field in own]
        logs = np.array([np.log(share) + log_density for share, log_density, _ in found])
        weights = np.exp(logs - logs.max(axis=0))
        return np.asarray(np.sum(weights * [chance for _, _, chance in found], axis=0) / weights.sum(axis=0))

    @property
    def _fields(self) -> list[tuple[Cluster, Field]]:
        return [(c, Field.of(c, self.overlaps, float(self.bias[c.learner]))) for c in self.problem.clusters]

    @property
    def overlaps(self) -> Overlaps:
        """The order parameters V, q and r together."""
        return Overlaps(self.V, self.q, self.r)

    def to_frame(self) -> DataFrame:
        """Tabulate a row for each cluster: its probability, loss and error, and the overlaps of its covariance."""
        clusters = self.problem.clusters
        own = [cluster.covariance for cluster in clusters]
        return table(
            probability=[cluster.probability for cluster in clusters],
            loss=self.cluster_losses,
            error=self.cluster_errors,
            V=self.V[own],
            q=self.q[own],
            bias=self.bias[[cluster.learner for cluster in clusters]],
        )
