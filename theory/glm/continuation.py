"""Paths of problems from an easy one to an extreme one, for continuation along them."""

from dataclasses import replace
from typing import TypeVar

import numpy as np

from theory.models.glm import GeneralizedLinearModel, MulticlassMixture

LONGEST = 200  # points of a path; parameters farther away than these reach have no solution in floating point

Model = TypeVar("Model", GeneralizedLinearModel, MulticlassMixture)


def ridges(problem: Model) -> list[tuple[float, Model]]:
    """(log lam, problem) from lam = 10 down to that of `problem`, four points a decade: a large ridge is easy.

    The path is empty where it would be too long.
    """
    start = max(10.0, problem.lam)
    steps = 1 + int(np.ceil(4 * (np.log10(start) - np.log10(problem.lam))))
    if steps > LONGEST:
        return []
    return [(float(np.log(lam)), replace(problem, lam=float(lam))) for lam in np.geomspace(start, problem.lam, steps)]


def samples(problem: GeneralizedLinearModel, threshold: float = np.inf) -> list[tuple[float, GeneralizedLinearModel]]:
    """(log s, problem) from alpha = 1/4 up or down, eight points a decade of s = alpha/(1 - alpha/threshold).

    Few samples are easy at any ridge: this is the way to many samples at a vanishing one. Towards a `threshold` beyond
    which there is no solution, where overlaps diverge, s makes the steps ever smaller. The path is empty where it would
    be too long.
    """
    ends = [alpha / (1 - alpha / threshold) for alpha in (min(0.25, threshold / 2), problem.alpha)]
    steps = 2 + int(np.ceil(8 * abs(np.log10(ends[1]) - np.log10(ends[0]))))
    if steps > LONGEST:
        return []
    places = np.geomspace(ends[0], ends[1], steps).tolist()
    way: list[tuple[float, GeneralizedLinearModel]] = [
        (float(np.log(s)), replace(problem, alpha=s / (1 + s / threshold))) for s in places[:-1]
    ]
    return [*way, (float(np.log(places[-1])), problem)]
