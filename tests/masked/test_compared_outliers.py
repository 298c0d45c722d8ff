"""Several methods on one draw: each as on its own, and the strengths at which they reach an overlap."""

from dataclasses import replace

import numpy as np
import pytest

from simulate.masked import compared_overlaps, needed_strengths, sample, top_outlier
from theory.models import Flow, Nesterov, PointScales, SpikedData, TwoLevel

NOISE = TwoLevel(60, 0.3, 4.0, 0.5)
RECORDS = [
    SpikedData(NOISE, strength=6.0, alpha=1.5, training=Flow(3.0)),
    SpikedData(NOISE, strength=6.0, alpha=1.5, training=Flow(0.5)),
    SpikedData(NOISE, strength=6.0, alpha=1.5, lam=0.1),
    SpikedData(NOISE, strength=6.0, alpha=1.5, method="correlation_pca"),
]
READ_OUTS = ("data_units", "reported", "standard_units", "best_diagonal")


def test_each_method_is_as_on_its_own():
    found = compared_overlaps(RECORDS, 60, np.random.default_rng(3), READ_OUTS)
    alone = [
        [top_outlier(one, 60, np.random.default_rng(3), read_out=read_out)[1] for read_out in READ_OUTS]
        for one in RECORDS
    ]
    assert found == pytest.approx(np.array(alone), rel=1e-9)


@pytest.mark.parametrize("read_out", ["data_units", "standard_units"])
def test_needed_strengths_reach_the_overlap(read_out):
    """The rows are drawn here once more, and each method's matrix is decomposed wholly."""
    found = needed_strengths(RECORDS, 0.6, 60, np.random.default_rng(4), read_out)
    rng = np.random.default_rng(4)
    u = rng.standard_normal(60)
    u /= np.linalg.norm(u)
    rows, factors = sample(NOISE, 90, rng), rng.standard_normal((90, 1))
    for one, strength in zip(RECORDS[2:], found[2:], strict=True):
        X = rows + np.sqrt(strength) * factors * u
        C = X.T @ X / 90
        if one.method == "ssr":
            Q = np.linalg.inv(C + 0.1 * np.eye(60))
            matrix = np.eye(60) - Q / np.diagonal(Q)[:, None]
        else:
            matrix = C / np.diagonal(C)  # of right eigenvectors in data units
        values, vectors = np.linalg.eig(matrix)
        v = vectors[:, np.argmax(values.real)].real
        if read_out == "standard_units":
            v = v / np.sqrt(np.diagonal(C))
        assert (u @ v) ** 2 / (v @ v) == pytest.approx(0.6, abs=0.01)


def test_bad_input():
    rng = np.random.default_rng(0)
    for function, more in ((compared_overlaps, ()), (needed_strengths, (0.5,))):
        with pytest.raises(ValueError, match="records must be of the same data, got different alpha"):
            function([RECORDS[0], replace(RECORDS[2], alpha=2.0)], *more, 60, rng)
        with pytest.raises(ValueError, match="records must be of the same data, got different noise"):
            function([RECORDS[0], replace(RECORDS[2], noise=TwoLevel(60, 0.2, 4.0, 0.5))], *more, 60, rng)
        with pytest.raises(ValueError, match="records must hold at least one"):
            function([], *more, 60, rng)
        with pytest.raises(ValueError, match="training must be a Flow or None here, got Nesterov"):
            function([replace(RECORDS[0], training=Nesterov(0.01, 5))], *more, 60, rng)
    unlike = replace(RECORDS[2], row_scales=PointScales([0.5, 1.5], [0.5, 0.5]))
    with pytest.raises(ValueError, match="rows must be independent and of equal scale"):
        needed_strengths([unlike], 0.5, 60, rng)
    with pytest.raises(ValueError, match="overlap must be one that some strength reaches"):
        needed_strengths(RECORDS[3:], 1 - 1e-12, 60, rng)
    with pytest.raises(ValueError, match="overlap must lie in"):
        needed_strengths(RECORDS[3:], 1.0, 60, rng)
