"""What a trained classifier does to each group: the joint law of label and prediction, and what follows from it."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from theory.glm.normal_law import bivariate_normal
from theory.glm.saddle_point import SaddlePoint
from theory.models.arrays import Array


@dataclass(frozen=True)
class FairnessTable:
    """`joint` (2, 2, 2): P(c, y, yhat), index 0 for +, in groups and labels alike. All rates follow from it."""

    joint: Array

    @property
    def accuracy(self) -> Array:
        """P(yhat = y | c), (2,)."""
        return np.asarray(np.trace(self.joint, axis1=1, axis2=2) / self.joint.sum(axis=(1, 2)))

    @property
    def selection_rate(self) -> Array:
        """P(yhat = 1 | c), (2,)."""
        return np.asarray(self.joint[:, :, 0].sum(axis=1) / self.joint.sum(axis=(1, 2)))

    @property
    def true_positive_rate(self) -> Array:
        """P(yhat = 1 | y = 1, c), (2,)."""
        return np.asarray(self.joint[:, 0, 0] / self.joint[:, 0].sum(axis=1))

    @property
    def false_positive_rate(self) -> Array:
        """P(yhat = 1 | y = -1, c), (2,)."""
        return np.asarray(self.joint[:, 1, 0] / self.joint[:, 1].sum(axis=1))

    @property
    def positive_predictive_value(self) -> Array:
        """P(y = 1 | yhat = 1, c), (2,)."""
        return np.asarray(self.joint[:, 0, 0] / self.joint[:, :, 0].sum(axis=1))

    @property
    def disparate_impact(self) -> float:
        """P(yhat = 1 | -)/P(yhat = 1 | +)."""
        plus, minus = self.selection_rate
        return float(minus / plus)

    @property
    def accuracy_ratio(self) -> float:
        """Accuracy of group - over that of group +."""
        plus, minus = self.accuracy
        return float(minus / plus)

    @property
    def statistical_parity(self) -> float:
        """I(yhat; c) in nats; zero if the prediction does not depend on the group."""
        return _information(self.joint.sum(axis=1))

    @property
    def equal_opportunity(self) -> float:
        """I(yhat; c | y = 1)."""
        return _information(self.joint[:, 0])

    @property
    def equal_odds(self) -> float:
        """I(yhat; c | y)."""
        return _conditional_information(self.joint.transpose(1, 0, 2))

    @property
    def equal_accuracy(self) -> float:
        """I(1[yhat = y]; c)."""
        right = np.trace(self.joint, axis1=1, axis2=2)
        return _information(np.stack((right, self.joint.sum(axis=(1, 2)) - right), axis=1))

    @property
    def predictive_parity(self) -> float:
        """I(y; c | yhat = 1)."""
        return _information(self.joint[:, :, 0])

    @property
    def sufficiency(self) -> float:
        """I(y; c | yhat)."""
        return _conditional_information(self.joint.transpose(2, 0, 1))


def fairness_table(point: SaddlePoint) -> FairnessTable:
    """From the saddle point of a `TeacherMixture`.

    In group c the teacher's and the student's field are jointly normal: with ty = t/sqrt(rho), hy = (r_mean + b) /
    sqrt(q) and correlation r_t/sqrt(q rho), P(y = 1, yhat = 1 | c) is a bivariate normal probability.
    """
    clusters = point.problem.clusters
    if len(clusters) != 2 or any(cluster.labels != "sign" for cluster in clusters):
        raise ValueError("fairness needs two groups with sign labels")
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
    """Mutual information of the two axes of a table of probabilities, normalized here."""
    p = table / table.sum()
    product = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)
    return float(np.sum(np.where(p > 0, p * np.log(np.where(p > 0, p / product, 1.0)), 0.0)))


def _conditional_information(tables: Array) -> float:
    return float(sum(table.sum() * _information(table) for table in tables))
