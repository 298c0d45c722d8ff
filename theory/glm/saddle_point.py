"""The overlaps, conjugates and observables at a saddle point."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from theory.core.arrays import Array
from theory.core.frames import table
from theory.core.results import SolverResult
from theory.glm.overlaps import Overlaps
from theory.models.glm import GeneralizedLinearModel
from theory.numerics.stability import WithReplicon

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class SaddlePoint(WithReplicon, SolverResult):
    """Hold overlaps, conjugates and observables of a saddle point.

    `V` and `q` have one entry for each covariance, `r` one for each signal, `bias` one for each learner.
    `train_loss` is the mean loss of a training sample without the ridge; `test_error` is E (y - h)^2 with label noise
    for linear labels, P(y h < 0) otherwise; `cluster_errors` and `cluster_losses` are within each cluster. `energy` =
    alpha train_loss + (1/2) tr ridge W, per parameter, with W the Gram matrix of the weights, `squared_norm` its
    diagonal |w_l|^2/p.

    `replicon` tells whether replica symmetry is locally stable, which it is above 0. Let two replicas, or two runs from
    different starts, differ a little, by delta_c in the overlap q_c of each covariance Omega_c. One round of the
    equations makes of it sum_d B_cd a_d delta_d: a_d = alpha E (df/dh)^2 over the samples of covariance d, with
    f = (prox(h) - h)/V the force of a sample on its field h, and B_cd = tr(Omega_c G Omega_d G)/p with
    G = (ridge + sum_c Vhat_c Omega_c)^-1 the response of the weights. The replicon is 1 minus the largest eigenvalue of
    this matrix: for one covariance 1 - alpha E (df/dh)^2 tr(Omega G)^2/p, one minus the parameter of de Almeida and
    Thouless. For convex losses it is positive: 0 <= -df/dh <= 1/V gives a_c <= Vhat_c/V_c, hence sum_d B_cd a_d V_d <=
    tr(Omega_c G (1 - ridge G))/p < V_c, and no eigenvalue reaches 1. A loss of one's own that is not convex can
    make it negative; the prediction is then wrong, since the training has many far minima.

    `residual` is that of the saddle-point equations in log V, log q, r; `iterations` counts
    evaluations of them.
    """

    problem: GeneralizedLinearModel = field(repr=False)
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

    @property
    def overlaps(self) -> Overlaps:
        """The order parameters V, q and r together."""
        return Overlaps(self.V, self.q, self.r)

    def to_frame(self) -> "pd.DataFrame":
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
