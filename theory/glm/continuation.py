"""Paths of problems from an easy one to an extreme one, for continuation along them."""

from dataclasses import replace
from typing import TypeVar

import numpy as np

from theory.models.glm import GeneralizedLinearModel, MulticlassMixture

Model = TypeVar("Model", GeneralizedLinearModel, MulticlassMixture)


def ridges(problem: Model) -> list[tuple[float, Model]]:
    """(log lam, problem) from lam = 10 down to that of `problem`, four points a decade: a large ridge is easy."""
    start = max(10.0, problem.lam)
    steps = 1 + int(np.ceil(4 * np.log10(start / problem.lam)))
    return [(float(np.log(lam)), replace(problem, lam=float(lam))) for lam in np.geomspace(start, problem.lam, steps)]


def samples(problem: Model) -> list[tuple[float, Model]]:
    """(log alpha, problem) from alpha = 1/4 up or down, eight points a decade.

    Few samples are easy at any ridge: this is the way to many samples at a vanishing one.
    """
    steps = 2 + int(np.ceil(8 * abs(np.log10(problem.alpha / 0.25))))
    alphas = np.geomspace(0.25, problem.alpha, steps)
    return [(float(np.log(alpha)), replace(problem, alpha=float(alpha))) for alpha in alphas]
