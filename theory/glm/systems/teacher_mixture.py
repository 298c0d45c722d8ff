"""The teacher mixture: one mode, signals v, Delta_+ W_+ and Delta_- W_-; for coupled students v once for each."""

import numpy as np

from theory.glm.systems.registry import as_problem
from theory.models.glm import Cluster, GeneralizedLinearModel, Modes, TeacherMixture


@as_problem.register
def _(model: TeacherMixture) -> GeneralizedLinearModel:
    plus, minus = model.variances
    scales = np.array([1.0, plus, minus])
    gram = model.overlap_matrix * np.outer(scales, scales)
    if model.coupling is None:
        return _problem(model, gram, mean=(0, 0), teacher=(1, 2), learners=None)
    order = [0, 1, 0, 2]
    return _problem(model, gram[np.ix_(order, order)], mean=(0, 2), teacher=(1, 3), learners=(0, 0, 1, 1))


def _problem(
    model: TeacherMixture,
    gram: object,
    mean: tuple[int, int],
    teacher: tuple[int, int],
    learners: tuple[int, ...] | None,
) -> GeneralizedLinearModel:
    shares = (model.group_fraction, 1 - model.group_fraction)
    clusters = [
        Cluster(
            probability=shares[c],
            covariance=c,
            learner=c if learners else 0,
            mean_signal=mean[c],
            mean_sign=sign,
            teacher_signal=teacher[c],
            teacher_variance=model.variances[c],
            teacher_mean=sign * model.mean_overlaps[c] + model.teacher_biases[c],
            loss_weights=model.loss_weights[c],
        )
        for c, sign in enumerate((1.0, -1.0))
    ]
    modes = Modes([1.0], np.array(model.variances)[:, None], np.asarray(gram)[:, :, None])
    return GeneralizedLinearModel(
        modes=modes,
        clusters=clusters,
        alpha=model.alpha,
        loss=model.loss,
        lam=model.lam,
        bias=True,
        coupling=model.coupling or 0.0,
        n_learners=2 if learners else 1,
        signal_learners=learners,
    )
