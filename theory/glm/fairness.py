"""The joint law of label and prediction of a trained classifier in each group, and measures of fairness from it."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy.special import ndtr

from theory.core import Array, FiniteArray, Result, checked, checked_fields, checks
from theory.glm.normal_law import bivariate_normal
from theory.glm.saddle_point import SaddlePoint


@dataclass(frozen=True, eq=False, repr=False)
class FairnessTable(Result):
    """Hold the `joint` law P(group, label, prediction) of a classifier, (2, 2, 2), index 0 for + in each.

    All rates and measures of dependence follow from it. Mutual informations are in nats.
    """

    joint: Annotated[Any, FiniteArray(3)]

    def __post_init__(self) -> None:
        checked_fields(self)
        joint = self.joint
        if joint.shape != (2, 2, 2) or joint.min() < 0 or joint.sum() <= 0:
            raise ValueError(
                f"joint must be non-negative probabilities of shape (2, 2, 2), got {checks.shown(self.joint)}"
            )

    @property
    def accuracy(self) -> Array:
        """The accuracy P(yhat = y | c) in each group c, (2,)."""
        return np.asarray(np.trace(self.joint, axis1=1, axis2=2) / self.joint.sum(axis=(1, 2)))

    @property
    def selection_rate(self) -> Array:
        """The share P(yhat = 1 | c) of each group that is selected, (2,)."""
        return np.asarray(self.joint[:, :, 0].sum(axis=1) / self.joint.sum(axis=(1, 2)))

    @property
    def true_positive_rate(self) -> Array:
        """The true positive rate P(yhat = 1 | y = 1, c) in each group, (2,)."""
        return np.asarray(self.joint[:, 0, 0] / self.joint[:, 0].sum(axis=1))

    @property
    def false_positive_rate(self) -> Array:
        """The false positive rate P(yhat = 1 | y = -1, c) in each group, (2,)."""
        return np.asarray(self.joint[:, 1, 0] / self.joint[:, 1].sum(axis=1))

    @property
    def positive_predictive_value(self) -> Array:
        """The positive predictive value P(y = 1 | yhat = 1, c) in each group, (2,)."""
        return np.asarray(self.joint[:, 0, 0] / self.joint[:, :, 0].sum(axis=1))

    @property
    def disparate_impact(self) -> float:
        """The ratio P(yhat = 1 | -)/P(yhat = 1 | +) of the selection rates of the two groups."""
        plus, minus = self.selection_rate
        return float(minus / plus)

    @property
    def accuracy_ratio(self) -> float:
        """The accuracy of group - over that of group +."""
        plus, minus = self.accuracy
        return float(minus / plus)

    @property
    def statistical_parity(self) -> float:
        """The mutual information I(yhat; c) in nats, zero if the prediction does not depend on the group."""
        return _information(self.joint.sum(axis=1))

    @property
    def equal_opportunity(self) -> float:
        """The mutual information I(yhat; c | y = 1), zero if both groups have the same true positive rate."""
        return _information(self.joint[:, 0])

    @property
    def equal_odds(self) -> float:
        """The mutual information I(yhat; c | y), zero if both groups have the same rates of positives."""
        return _conditional_information(self.joint.transpose(1, 0, 2))

    @property
    def equal_accuracy(self) -> float:
        """The mutual information I(1[yhat = y]; c), zero if the predictions are equally accurate in both groups."""
        right = np.trace(self.joint, axis1=1, axis2=2)
        return _information(np.stack((right, self.joint.sum(axis=(1, 2)) - right), axis=1))

    @property
    def predictive_parity(self) -> float:
        """The mutual information I(y; c | yhat = 1), zero if both groups have the same positive predictive value."""
        return _information(self.joint[:, :, 0])

    @property
    def sufficiency(self) -> float:
        """The mutual information I(y; c | yhat), zero if the prediction makes the group irrelevant to the label."""
        return _conditional_information(self.joint.transpose(2, 0, 1))


@checked
def fairness_table(point: SaddlePoint) -> FairnessTable:
    """Compute the joint law of group, label and prediction at the saddle point of a `TeacherMixture`.

    In group c the fields of teacher and student are jointly normal: with ty = t/sqrt(rho), hy = (r_mean + b)/sqrt(q)
    and the correlation r_t/sqrt(q rho), P(y = 1, yhat = 1 | c) is a bivariate normal probability. Derived here from the
    joint law of both fields at the saddle point; the model is that of arXiv:2205.15935, of which the abstract was read.
    ValueError for points of other models.

    >>> from theory import glm
    >>> from theory.models import TeacherMixture
    >>> options = {"alpha": 2.0, "lam": 0.1, "teacher_overlap": 0.8, "mean_overlaps": (0.3, 0.1)}
    >>> groups = TeacherMixture(group_fraction=0.2, **options)
    >>> table = fairness_table(glm.solve(groups))
    >>> print(table.accuracy.round(4), round(table.disparate_impact, 4))
    [0.7756 0.8001] 0.6683
    """
    clusters = point.problem.clusters
    if len(clusters) != 2 or any(cluster.labels != "sign" for cluster in clusters):
        raise ValueError("point must be that of two groups with sign labels, as of a TeacherMixture")
    joint = np.empty((2, 2, 2))
    for c, cluster in enumerate(clusters):
        total = cluster.teacher_variance + cluster.noise
        q = float(point.q[cluster.covariance])
        mean = cluster.mean_sign * float(point.r[cluster.mean_signal]) if cluster.mean_signal is not None else 0.0
        y = cluster.teacher_mean / np.sqrt(total)
        h = (mean + float(point.bias[cluster.learner])) / np.sqrt(q)
        overlap = float(point.r[cluster.teacher_signal]) if cluster.teacher_signal is not None else 0.0
        both = bivariate_normal(y, h, overlap / np.sqrt(q * total))
        joint[c] = cluster.probability * np.array(
            [[both, ndtr(y) - both], [ndtr(h) - both, 1 - ndtr(y) - ndtr(h) + both]]
        )
    return FairnessTable(np.maximum(joint, 0))


def _information(table: Array) -> float:
    """Return the mutual information of the two axes of a table of probabilities, which is normalized here."""
    p = table / table.sum()
    product = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)
    return float(np.sum(np.where(p > 0, p * np.log(np.where(p > 0, p / product, 1.0)), 0.0)))


def _conditional_information(tables: Array) -> float:
    """Return the mutual information within each table, averaged with the probabilities of the tables."""
    return float(sum(table.sum() * _information(table) for table in tables))
