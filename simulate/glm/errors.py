"""Computes how a fitted learner does on new samples of a Gaussian group, exactly for its weights."""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.integrate import quad
from scipy.special import ndtr

from simulate.glm.channel_labels import mean_error
from simulate.glm.fit import LinearFit
from simulate.glm.population import Group
from theory.models.glm import Additive, Flips, Probit


@dataclass(frozen=True)
class Response:
    """Holds the `error` within a group and `selection`, P(h > 0).

    The error is P(y h < 0) for labels +-1, else E (y - h)^2, or E (y - exp(h))^2 of a fit with the Poisson loss.
    """

    error: float
    selection: float


def respond(group: Group, fitted: LinearFit, loss: object = None) -> Response:
    """Return the error and the selection of a group, from the joint normal law of the learner's field h and nu."""
    p = len(group.mean)
    w = fitted.weights[group.learner] / math.sqrt(p)
    center = float(w @ group.mean + fitted.bias[group.learner])
    variance = float(w @ group.times_covariance(w))
    selection = float(ndtr(center / math.sqrt(variance))) if variance > 0 else float(center > 0)
    if group.labels == "random":
        return Response(0.5, selection)
    if group.labels == "cluster":
        return Response(1 - selection if group.label > 0 else selection, selection)
    assert group.teacher is not None  # the record requires one
    image = group.times_covariance(group.teacher)
    total, shared = float(group.teacher @ image) + group.unseen + group.noise, float(w @ image)
    if isinstance(group.labels, Additive):
        offset, total = group.offset + group.labels.mean, total + group.labels.variance
        return Response(total + variance - 2 * shared + (offset - center) ** 2, selection)
    if not isinstance(group.labels, str | Flips | Probit):
        rate = loss == "poisson"
        return Response(mean_error(group.labels, center, variance, group.offset, total, shared, rate), selection)
    if group.labels == "linear":
        return Response(total + variance - 2 * shared + (group.offset - center) ** 2, selection)
    total += group.labels.noise if isinstance(group.labels, Probit) else 0.0
    both = both_positive(center, variance, group.offset, total, shared)
    label = float(ndtr(group.offset / math.sqrt(total)))
    flips = group.labels if isinstance(group.labels, Flips) else Flips()
    # Wrong are flipped labels of the sign of h, and others that are not flipped.
    wrong = flips.positive * both + (1 - flips.positive) * (label - both)
    wrong += flips.negative * (1 - selection - label + both) + (1 - flips.negative) * (selection - both)
    return Response(wrong, selection)


def both_positive(x: float, x_variance: float, y: float, y_variance: float, shared: float) -> float:
    """Return P(X > 0, Y > 0) of normals with means x, y and covariance `shared`, as E [1(X > 0) P(Y > 0 | X)]."""
    if x_variance == 0:
        return float(ndtr(y / math.sqrt(y_variance))) * (x > 0)
    slope = shared / math.sqrt(x_variance)
    width = math.sqrt(max(y_variance - slope**2, 0.0))
    if width < 1e-9 * math.sqrt(y_variance):
        raise ValueError("the learner's field equals the teacher's: the error has no density to integrate")

    def integrand(z: float) -> float:
        return float(np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi) * ndtr((y + slope * z) / width))

    start = -x / math.sqrt(x_variance)
    kink = -y / slope if slope else 0.0
    edges = [-9.0, *(kink + width / (abs(slope) or 1.0) * c for c in (-6, -1, 0, 1, 6)), 9.0]
    inner = sorted({min(max(edge, start), 9.0) for edge in edges})
    total = float(sum(quad(integrand, a, b, epsabs=1e-12)[0] for a, b in pairwise(inner)))
    return min(total, 1.0)  # which rounding of the sum can exceed
