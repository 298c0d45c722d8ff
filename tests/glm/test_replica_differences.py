"""Two replicas on one training set: how their difference grows where replica symmetry is unstable, and what stays."""

from functools import cache

import numpy as np
import pytest

from simulate.core import Estimate, stream
from simulate.glm import FitError, message_passing, replica_pairs
from tests.glm.own_losses import Sigmoid, force
from theory import glm
from theory.glm.replica_growth import replica_difference, replica_growth
from theory.models import AR1, GaussianMixture, Isotropic, RandomLabels


def labels(lam, loss=None):
    return RandomLabels(covariance=Isotropic(np.inf), alpha=3.0, lam=lam, loss=loss or Sigmoid(slope=1.0))


@cache
def solved(lam, loss=None):
    return glm.solve(labels(lam, loss), check=False)


@pytest.mark.parametrize(("lam", "loss"), [(0.1, None), (0.065, None), (0.1, "logistic"), (0.3, "hinge")])
def test_a_small_difference_grows_by_one_minus_the_replicon(lam, loss):
    """Also where this is above 1, without a jump of the proximal operator."""
    found = replica_growth(solved(lam, loss), [1e-8, 0.5])
    tolerance = 1e-3 if loss == "hinge" else 1e-5  # a kink of the force adds the root of the difference
    assert found[0] == pytest.approx(1 - solved(lam, loss).replicon, rel=tolerance)
    assert found[1] < found[0]


def test_at_a_jump_it_grows_as_the_inverse_root():
    """Differences of .01 and .0001 of the overlap q itself grow 36 and 362 times by an earlier measurement."""
    point = solved(0.01)
    q, (jump,) = point.q[0], point.jumps
    deltas = np.array([1e-2, 1e-4]) / q
    found = replica_growth(point, deltas)
    assert found == pytest.approx([36.59, 363.03], abs=0.01)
    density = np.exp(-(jump.t**2) / (2 * q)) / np.sqrt(2 * np.pi * q)
    law = 3 * (jump.above - jump.below) ** 2 * density / np.sqrt(np.pi * deltas * q)
    assert found - law == pytest.approx(0.28, abs=0.06)  # what the samples beside the jump add


@pytest.mark.parametrize(("lam", "delta"), [(0.1, 0.3), (0.065, 0.1), (0.01, 0.3)])
def test_the_growth_is_that_of_a_plain_sum_over_both_margins(lam, delta):
    point = solved(lam)
    V, q = point.V[0], point.q[0]
    z = np.linspace(-6, 6, 1501)
    f = force(Sigmoid().prox(np.sqrt(q) * z, V))
    overlap = 1 - delta
    one, two = z[:, None], z[None, :]
    exponent = -(one**2 - 2 * overlap * one * two + two**2) / (2 * (1 - overlap**2))
    mass = np.exp(exponent) / (2 * np.pi * np.sqrt(1 - overlap**2)) * (z[1] - z[0]) ** 2
    together = f @ mass @ f
    wanted = 3 * V**2 * (mass.sum(axis=1) @ f**2 - together) / (delta * q)
    assert replica_growth(point, [delta])[0] == pytest.approx(wanted, rel=3e-3 if lam == 0.01 else 1e-6)


def test_the_lasting_difference_neither_grows_nor_shrinks():
    for lam in (0.01, 0.065):
        left = replica_difference(solved(lam))
        assert replica_growth(solved(lam), [left])[0] == pytest.approx(1, rel=2e-4)
        assert 0 < left < 0.5
    assert replica_difference(solved(0.1)) == replica_difference(solved(0.1, "logistic")) == 0


@pytest.mark.slow
def test_the_lasting_difference_begins_at_zero():
    """Where the replicon vanishes, at .0798."""
    near, far = (replica_difference(glm.solve(labels(lam), check=False)) for lam in (0.079, 0.075))
    assert 0 < near < 0.2 * far


@pytest.mark.parametrize(("lam", "sets"), [(0.12, 24), (0.045, 32)])
def test_differences_grow_so_in_simulation(agrees, lam, sets):
    rngs = [stream(3, "pairs", lam, r) for r in range(sets)]
    runs = [replica_pairs.replica_growth(labels(lam), [0.01, 0.3], 100, rng) for rng in rngs]
    for k, predicted in enumerate(replica_growth(solved(lam), [0.01, 0.3])):
        agrees(Estimate.of([run[k] for run in runs]), predicted, resolves=0.6, bias=0.05 * predicted)


def test_a_difference_stays_in_simulation(agrees):
    left = [replica_pairs.replica_difference(labels(0.01), 100, stream(3, "left", r)) for r in range(24)]
    agrees(Estimate.of(left), replica_difference(solved(0.01)), resolves=0.3, bias=0.02)
    assert replica_pairs.replica_difference(labels(0.3, "logistic"), 50, stream(3, "none"), steps=40) < 1e-6


def kicked_path(problem, p, rng, kick, steps):
    """The weights of each step of message passing, to which `kick` is added after the eleventh."""
    weights = []

    def step(A, B):
        weights.append(B / (A + problem.lam) + (kick if len(weights) == 10 else 0.0))
        return weights[-1], 1 / (A + problem.lam)

    message_passing(problem, p, rng, steps=steps, weight_step=step)
    return np.array(weights)


@pytest.mark.parametrize(("lam", "p", "sets"), [(0.12, 300, 12), pytest.param(0.065, 800, 48, marks=pytest.mark.slow)])
def test_message_passing_parts_at_the_rate_of_the_replicon(agrees, lam, p, sets):
    """Squared differences of two runs shrink by .436 in a step at a replicon of .564, and grow by 2.01 at -1.01."""
    problem, rates = glm.as_problem(labels(lam)), []
    for r in range(sets):
        kick = 1e-6 * stream(2, "kick", r).standard_normal(p)
        one, two = (kicked_path(problem, p, stream(2, "parting", lam, r), change, 15) for change in (0.0, kick))
        gaps = np.sum((one - two) ** 2, axis=1)
        rates.append(np.log(gaps[14] / gaps[10]) / 4)
    predicted = np.log(1 - solved(lam).replicon)
    agrees(Estimate.of(rates), predicted, resolves=1.0, bias=0.15)
    assert np.sign(np.mean(rates)) == np.sign(predicted)


def test_message_passing_says_where_it_does_not_settle():
    problem = glm.as_problem(labels(0.01))
    with pytest.raises(FitError, match=r"do not come to rest\. This is what happens where replica symmetry") as caught:
        message_passing(problem, 400, stream(0, "unsettled"), steps=24, check=True)
    assert str(caught.value).count(". ") == 3  # in whole sentences
    run = caught.value.fit
    assert run.residual == run.changes[-1] > 0.1
    assert not run.converged
    other = message_passing(problem, 400, stream(0, "unsettled"), steps=24, start=3.0)
    overlap = run.weights @ other.weights / np.linalg.norm(run.weights) / np.linalg.norm(other.weights)
    assert 0 < overlap < 0.95  # two starts, two answers
    # Its order parameters are those of the saddle point nevertheless: the jump counts in the response of the forces.
    point = solved(0.01)
    assert run.V[-8:].mean() == pytest.approx(point.V[0], rel=0.2)
    assert run.q[-8:].mean() == pytest.approx(point.q[0], rel=0.3)


def test_message_passing_that_needs_more_steps_says_how_many():
    problem = glm.as_problem(labels(0.3, "logistic"))
    with pytest.raises(
        FitError, match=r"shrink by a factor of 0\.\d+ in each step: take some \d+ more steps"
    ) as caught:
        message_passing(problem, 100, stream(0, "slow"), steps=10, check=True)
    more = int(str(caught.value).split()[-3])
    assert message_passing(problem, 100, stream(0, "slow"), steps=12 + more, check=True).converged
    with pytest.raises(FitError, match=r"which is more than 1e-06; take more steps"):
        message_passing(problem, 100, stream(0, "slow"), steps=1, check=True)


def test_what_has_no_replicas_of_this_kind_is_refused():
    mixture = glm.solve(GaussianMixture.opposite(alpha=1.0, lam=0.3))
    for function in (replica_difference, lambda point: replica_growth(point, [0.1])):
        with pytest.raises(ValueError, match="point must be that of random labels on inputs of one covariance"):
            function(mixture)
    for wrong in ([0.0], [1.5], [np.nan], 0.1, []):
        for call in (
            lambda: replica_growth(solved(0.1), wrong),  # noqa: B023
            lambda: replica_pairs.replica_growth(labels(0.1), wrong, 10, stream(0)),  # noqa: B023
        ):
            with pytest.raises(ValueError, match="differences must be"):
                call()
    colored = RandomLabels(covariance=AR1(20, 0.5), alpha=1.0, lam=0.1)
    with pytest.raises(ValueError, match="model must have isotropic inputs"):
        replica_pairs.replica_difference(colored, 20, stream(0))
