"""Two thousand random problems over decades of alpha and lam: a verified answer or a ConvergenceError."""

import numpy as np
import pytest
from joblib import Parallel, delayed

from tests.glm.independent import discrepancy
from tests.glm.settings import draw
from theory import ConvergenceError, glm

SETTINGS, CHUNK = 2000, 50


def judged(index):
    """(setting, None) if solved and confirmed, else what went wrong."""
    kind, problem = draw(np.random.default_rng([5, index]))
    setting = f"{index}: {kind}, {problem.loss}, alpha={problem.alpha:g}, lam={problem.lam:g}"
    try:
        point = glm.solve(problem, tol=1e-10)
    except ConvergenceError:
        return setting, "not converged"
    gap = discrepancy(point)
    return setting, None if point.residual <= 1e-10 and gap < 1e-8 else f"off by {gap:.2g}"


def chunk(start):
    return [judged(index) for index in range(start, start + CHUNK)]


@pytest.mark.slow
def test_two_thousand_settings():
    """alpha in [.05, 50], lam in [1e-6, 10], all losses and models; none may be wrong, 99.5 % must converge."""
    found = [pair for part in Parallel(n_jobs=2)(delayed(chunk)(k) for k in range(0, SETTINGS, CHUNK)) for pair in part]
    failures = [(setting, verdict) for setting, verdict in found if verdict]
    print(f"{len(found) - len(failures)} of {len(found)} settings solved and confirmed; others: {failures}")
    assert not [pair for pair in failures if pair[1] != "not converged"], failures
    assert len(failures) <= 0.005 * len(found), failures
