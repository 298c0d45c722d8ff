"""Paths of problems from an easy one to an extreme one, for continuation along them."""

from dataclasses import replace
from typing import TypeVar

import numpy as np

from theory.models.glm import ElasticNet, GeneralizedLinearModel, Modes, MulticlassMixture, Penalty

EASY_RIDGE = 1.0  # at which the equations of a ridge are solved in some ten evaluations
MAX_POINTS = 200  # points of a path; parameters farther away than these reach have no solution in floating point

Model = TypeVar("Model", GeneralizedLinearModel, MulticlassMixture)


def ridges(problem: Model) -> list[tuple[float, Model]]:
    """Return pairs (log lam, problem) from lam = 10 down to that of `problem`, four a decade; a large ridge is easy.

    A path to a lasso leads over elastic nets from a ridge, one to non-negative weights from a large ridge. The path is
    empty where it would be longer than `MAX_POINTS`.
    """
    if isinstance(problem, GeneralizedLinearModel) and problem.penalty is not None:
        return _penalties(problem, problem.penalty)  # type: ignore[return-value]  # mypy asks for both models at once
    start = max(10.0, problem.lam)
    steps = 1 + int(np.ceil(4 * (np.log10(start) - np.log10(problem.lam))))
    if steps > MAX_POINTS:
        return []
    return [(float(np.log(lam)), replace(problem, lam=float(lam))) for lam in np.geomspace(start, problem.lam, steps)]


def _penalties(problem: GeneralizedLinearModel, penalty: Penalty) -> list[tuple[float, GeneralizedLinearModel]]:
    l1, l2 = penalty.strengths
    way: list[Penalty]
    if penalty.non_negative:
        steps = 1 + int(np.ceil(4 * max(np.log10(10 / l2), 0.0)))
        factors = np.geomspace(max(10 / l2, 1.0), 1.0, min(steps, MAX_POINTS))
        way = [penalty.scaled(factor) for factor in factors.tolist()]
    else:
        steps = 2 + int(np.ceil(np.log(max(EASY_RIDGE / like_ridge(problem).lam, 1.0)) / np.log(4)))
        rest = (0.25 ** np.arange(min(steps, MAX_POINTS))).tolist()
        way = [*(ElasticNet(l1 * (1 - one), l2 + EASY_RIDGE * one) for one in rest), penalty]
    return [(float(k), replace(problem, penalty=one)) for k, one in enumerate(way)]


def like_ridge(problem: GeneralizedLinearModel) -> GeneralizedLinearModel:
    """Return the problem with a ridge in place of its penalty, which pulls as much on weights of the signals' size."""
    modes, penalty = problem.modes, problem.penalty
    assert isinstance(modes, Modes)  # the record requires them
    assert penalty is not None
    l1, l2 = penalty.strengths
    power = sum(float(np.sum(gram)) for gram in np.einsum("aam->am", modes.gram)) / max(modes.n_signals, 1)
    return replace(problem, penalty=None, signals=None, lam=l2 + l1 / np.sqrt(power if power > 0 else 1.0))


def samples(problem: GeneralizedLinearModel, threshold: float = np.inf) -> list[tuple[float, GeneralizedLinearModel]]:
    """Return pairs (log s, problem) from alpha = 1/4 up or down, eight a decade of s = alpha/(1 - alpha/threshold).

    A problem with few samples is easy at any ridge, so that the path leads to many samples at a vanishing ridge.
    Overlaps diverge towards a `threshold` beyond which there is no solution; s makes the steps ever smaller there. The
    path is empty where it would be longer than `MAX_POINTS`.
    """
    ends = [alpha / (1 - alpha / threshold) for alpha in (min(0.25, threshold / 2), problem.alpha)]
    steps = 2 + int(np.ceil(8 * abs(np.log10(ends[1]) - np.log10(ends[0]))))
    if steps > MAX_POINTS:
        return []
    places = np.geomspace(ends[0], ends[1], steps).tolist()
    way: list[tuple[float, GeneralizedLinearModel]] = [
        (float(np.log(s)), replace(problem, alpha=s / (1 + s / threshold))) for s in places[:-1]
    ]
    return [*way, (float(np.log(places[-1])), problem)]
