"""Measures what several methods, or several times of one training, make of the same draw of spiked data."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Annotated

import numpy as np
from numpy.random import Generator
from scipy.optimize import brentq

from simulate.masked.draw import at_size, sample_size
from simulate.masked.outliers import draw_spiked, read_overlap, rightmost, top_eigenvectors, unit_direction
from simulate.masked.row_blocks import RowBlocks
from simulate.masked.sampler import sample
from simulate.masked.training.flow import SecondMoments
from theory.core import Array, checked
from theory.core.ranges import Within
from theory.models import Flow, ReadOut, SpikedData

WIDTH = 0.01  # of the logarithm of a strength that is needed
REACH = 1e4  # of the strengths that are tried, up and down from the mean variance
METHOD = ("method", "lam", "training")  # fields in which records may differ


@checked
def compared_overlaps(
    records: Sequence[SpikedData], d: int, rng: Generator, read_outs: Sequence[ReadOut] = ("data_units",)
) -> Array:
    """Measure the overlaps (u . v)^2 of several methods on one draw of d coordinates, (records, read-outs).

    `records` are alike but for `method`, `lam` and `training`, so that differences between them are those of the
    methods on the same rows; any number of times of the flow takes one eigendecomposition. `read_outs` are those of
    `top_outlier`. ValueError for records of different data.

    >>> from theory.models import TwoLevel
    >>> flows = [SpikedData(TwoLevel(40), strength=9.0, alpha=2.0, training=Flow(time)) for time in (0.1, 3.0)]
    >>> compared_overlaps(flows, 40, np.random.default_rng(0), ("data_units", "standard_units")).shape
    (2, 2)
    """
    _require_alike(records)
    u, X = draw_spiked(records[0], d, rng, "gaussian")
    vectors = _vectors(records, X)
    return np.array(
        [
            [read_overlap(u, vector, X, record, one) for one in read_outs]
            for record, vector in zip(records, vectors, strict=True)
        ]
    )


@checked
def needed_strengths(
    records: Sequence[SpikedData],
    overlap: Annotated[float, Within(0.0, 1.0)],
    d: int,
    rng: Generator,
    read_out: ReadOut = "data_units",
) -> Array:
    """Find the strengths at which each of several methods reaches an overlap with the spike of one draw, (records,).

    Noise, direction and the spike's factor of each row are drawn once, and its strength is changed until
    (u . v)^2 = `overlap`, to 1 %. `records` are as in `compared_overlaps`; their strengths have no part in it.
    ValueError where no strength up to 10^4 times the mean variance, or down to 10^-4 times, is on the other side.
    """
    _require_alike(records)
    data, noise = records[0], at_size(records[0].noise, d)
    if not data.row_law.alike:
        raise ValueError(f"rows must be independent and of equal scale here, got {data.row_law}")
    n = sample_size(data.alpha, d)
    u = unit_direction(data, d, rng)
    rows, spike = sample(noise, n, rng), rng.standard_normal((n, 1)) * u
    strength = float(noise.variances.mean())
    found, start = [], float(np.log(strength))
    for record in records:

        def excess(log_strength: float, record: SpikedData = record) -> float:
            X = rows + np.exp(log_strength / 2) * spike
            return read_overlap(u, _vectors([record], X)[0], X, record, read_out) - overlap

        start = _root(excess, start, float(np.log(strength)))
        found.append(start)
    return np.exp(found)


def _root(excess: Callable[[float], float], start: float, middle: float) -> float:
    """Find the root of a function that rises, from a place near it."""
    value, step = excess(start), 0.25
    sign, here = (-1.0 if value > 0 else 1.0), start
    while True:
        there = here + sign * step
        if abs(there - middle) > np.log(REACH):
            raise ValueError("overlap must be one that some strength reaches in this draw, got one that none does")
        beyond = excess(there)
        if (beyond > 0) != (value > 0):
            low, high = sorted((here, there))
            return float(brentq(excess, low, high, xtol=WIDTH))
        here, value, step = there, beyond, 2 * step


def _vectors(records: Sequence[SpikedData], X: Array) -> list[Array]:
    """Compute the right eigenvectors of the records' matrices, those of all flows from one eigendecomposition."""
    flows = [(record.training.time, record.lam or 0.0) for record in records if isinstance(record.training, Flow)]
    moments, found = None, []
    for record in records:
        if isinstance(record.training, Flow):
            longest, least = max(time for time, _ in flows), min(lam for _, lam in flows)
            moments = moments or SecondMoments.of(RowBlocks.of_array("X", X), longest, least)
            found.append(rightmost(moments.predictor(record.training.time, record.lam or 0.0))[1])
        elif record.training is None:
            found.append(top_eigenvectors(X, record.method, record.lam)[1])
        else:
            raise ValueError(f"training must be a Flow or None here, got {record.training!r}: see top_outlier")
    return found


def _require_alike(records: Sequence[SpikedData]) -> None:
    if not records:
        raise ValueError("records must hold at least one")
    names = [field.name for field in fields(SpikedData) if field.name not in METHOD]
    for record in records[1:]:
        for name in names:
            one, other = getattr(record, name), getattr(records[0], name)
            if one is not other and np.any(one != other):
                raise ValueError(f"records must be of the same data, got different {name}")
