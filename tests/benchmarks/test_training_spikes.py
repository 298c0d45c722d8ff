"""Spikes along training: thresholds of two levels and of two hundred, outliers, and the best time."""

import itertools
import math
from dataclasses import replace

import numpy as np

from theory.models import Diagonal, Flow, SpikedData, TwoLevel
from theory.random_matrix import best_detection_time, outlier, threshold

SUBJECT = "spikes"
TWO = TwoLevel(math.inf, 0.3, 4.0, 0.2)
MANY = Diagonal(np.geomspace(0.2, 5, 200))
CALLS = itertools.count()


def afresh(data):
    """Move the time a little, since a branch that was followed is kept for the same noise and time."""
    return replace(data, training=Flow(data.training.time * (1 + 1e-9 * next(CALLS))))


def test_thresholds(jobs):
    data = SpikedData(TWO, strength=1.5, alpha=1.0, training=Flow(5.0))
    jobs.compare(
        "threshold along training, two levels",
        lambda: threshold(afresh(data)),
        beside={
            "ours, with the outlier and its best read-out": lambda: outlier(afresh(data), read_out="best_diagonal")
        },
        goal="0.1 s",
    )


def test_thresholds_of_many_levels(jobs):
    """The Jacobian is one product of matrices over the levels."""
    data = SpikedData(MANY, alpha=1.0, training=Flow(3.0))
    jobs.compare("threshold along training, 200 levels", lambda: threshold(afresh(data)), goal="1 s", rounds=2)


def test_the_best_time(jobs):
    data = SpikedData(TWO, alpha=1.0)
    jobs.compare("best time for detection, two levels", lambda: best_detection_time(data), rounds=1)
