"""The stage-2 optimum beside bounded minimization of the enumerated loss, and of the closed form.

Run by `make bench`, with OPENBLAS_NUM_THREADS=1. Times are shown, never asserted.
"""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from tests.benchmarks.timing import seconds
from tests.topics.routes import MODEL, STANDARD, tied_weights
from theory import topics

pytest.importorskip("pytest_benchmark")


def by_enumeration():
    """45 topic sets and 101 queries for every weight tried."""
    W = topics.optimal_value_matrix(MODEL, STANDARD)
    own = np.log(tied_weights(MODEL, math.e, math.e))  # 1 where key and query share a topic
    return minimize_scalar(
        lambda log_A: topics.population_loss(MODEL, STANDARD, log_A * own, W), bounds=(0, 6), method="bounded"
    ).x


def by_closed_form():
    return minimize_scalar(
        lambda log_A: topics.stage2_loss(MODEL, STANDARD, math.exp(log_A)), bounds=(0, 6), method="bounded"
    ).x


@pytest.mark.parametrize("mask_weight", [1.0, 0.0, "free"])
def test_stage2_optimum(benchmark, show, mask_weight):
    """Target: below a millisecond at mask weight 1."""
    benchmark.pedantic(
        lambda: topics.stage2_optimum(MODEL, STANDARD, mask_weight=mask_weight), rounds=50, warmup_rounds=3
    )
    ours = benchmark.stats.stats.min
    closed, enumerated = seconds(by_closed_form), seconds(by_enumeration, 1)
    show(
        f"stage-2 optimum, T = v = 10, mask weight {mask_weight}",
        ms=1e3 * ours,
        scipy_on_closed_form_ms=1e3 * closed,
        scipy_on_enumeration_ms=1e3 * enumerated,
        times_faster=enumerated / ours,
    )
