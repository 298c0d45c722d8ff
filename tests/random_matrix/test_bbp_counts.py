"""The counts that thresholds and outliers return are those of what was computed, each beside a count of the calls."""

import math

import numpy as np
import pytest

from theory.models import AR1, Isotropic, PowerLaw, SpikedData, TwoLevel
from theory.random_matrix import outlier, spike_outliers, threshold
from theory.random_matrix.bbp import emergence, left_emergence
from theory.random_matrix.bbp.spiked_bulk import SpikedBulk
from theory.random_matrix.spectral.dense_branch import DenseBranch
from theory.random_matrix.spectral.real_branch import RealBranch

INF = math.inf
PAIR = np.array([[1.0, 1.0, *[0.0] * 58], [0.0, 0.0, 1.0, 1.0, *[0.0] * 56]]) / math.sqrt(2)


class Calls:
    """How often the attributes of owners were called in one call."""

    def __init__(self, monkeypatch, **owners):
        self.counts = dict.fromkeys(owners, 0)
        for name, owner in owners.items():
            monkeypatch.setattr(owner, name, self.counted(name, getattr(owner, name)))

    def counted(self, name, function):
        def call(*arguments, **options):
            self.counts[name] += 1
            return function(*arguments, **options)

        return call

    def of(self, function):
        """The counts of one call, and what it returns."""
        self.counts = dict.fromkeys(self.counts, 0)
        found = function()
        return self.counts, found


@pytest.mark.parametrize(("strength", "detected"), [(40.0, True), (0.2, False)])
@pytest.mark.parametrize(("method", "lam"), [("pca", None), ("correlation_pca", None), ("ssr", 0.1)])
def test_an_outlier_counts_the_points_of_its_branch(monkeypatch, method, lam, strength, detected):
    """Those tried for the edge and those for the outlier; below the threshold only the former."""
    calls = Calls(monkeypatch, at=RealBranch, _trial=emergence)
    for noise, direction in ((TwoLevel(INF), None), (Isotropic(60), PAIR[0])):
        made, found = calls.of(
            lambda noise=noise, u=direction: outlier(
                SpikedData(noise, u, strength=strength, alpha=1.5, method=method, lam=lam)
            )
        )
        assert found.detected == detected
        assert found.iterations == made["at"] >= 2 + made["_trial"]
        assert (made["_trial"] > 0) == detected


def test_several_outliers_count_the_points_of_all_branches(monkeypatch):
    calls = Calls(monkeypatch, at=RealBranch)
    counts = []
    for strengths in ([5.0, 3.0], [5.0, 1e-3], [1e-3, 1e-3]):
        made, found = calls.of(lambda s=strengths: spike_outliers(Isotropic(60), PAIR, strengths=s, alpha=1.5, lam=0.1))
        assert found.detected == sum(one > 1 for one in strengths)
        assert found.iterations == made["at"]
        counts.append(found.iterations)
    assert counts[0] > counts[1] > counts[2] > 1


def test_outliers_on_the_left_count_the_edge_once_and_the_steps_of_each_root(monkeypatch):
    reports, edges, search, edge = [], [], left_emergence.brentq, RealBranch.edge

    def counted_search(*arguments, **options):
        place, report = search(*arguments, **options)
        reports.append(report.iterations)
        return place, report

    calls = Calls(monkeypatch, at=RealBranch)

    def counted_edge(branch):
        before = calls.counts["at"]
        found = edge(branch)
        edges.append(calls.counts["at"] - before)
        return found

    monkeypatch.setattr(left_emergence, "brentq", counted_search)
    monkeypatch.setattr(RealBranch, "edge", counted_edge)
    found = spike_outliers(Isotropic(60), PAIR, strengths=[5.0, 3.0], alpha=10.0, lam=0.1, side="left")
    assert found.detected == len(reports) == 2
    assert min(reports) > 3
    assert len(set(edges)) == 1
    assert found.iterations == sum(reports) + edges[0]


@pytest.mark.parametrize(("method", "lam"), [("ssr", 0.05), ("ssr", 5.0), ("correlation_pca", None)])
def test_a_threshold_counts_the_points_of_the_edge_and_the_strengths_that_were_tried(monkeypatch, method, lam):
    """The strength of a spike that changes nothing is where the search begins, and no step of it."""
    calls = Calls(monkeypatch, at=RealBranch, needed_strength=SpikedBulk)
    for direction in (PAIR[0], np.eye(60)[0], None):
        made, found = calls.of(
            lambda u=direction: threshold(
                SpikedData(TwoLevel(60, 0.3, 4.0, 0.2), u, strength=1.0, alpha=2.0, method=method, lam=lam)
            )
        )
        steps = made["needed_strength"] - 1
        assert (steps > 0) == (direction is not None and math.isfinite(found.value))
        assert found.iterations == made["at"] + steps >= 2


def test_a_noise_that_commutes_with_nothing_counts_its_factorizations(monkeypatch):
    """Those of the edge, and the strengths that are tried there; of an outlier the trials on the surrogate as well."""
    calls = Calls(monkeypatch, resolvent=DenseBranch, needed_strength=SpikedBulk, _trial=emergence)
    options = {"alpha": 2.0, "lam": 0.1}
    made, begins = calls.of(lambda: threshold(SpikedData(AR1(60, 0.5), PAIR[0], strength=1.0, **options)))
    edge = made["resolvent"]
    assert begins.iterations == edge + made["needed_strength"] - 1 > edge > 0
    made, found = calls.of(lambda: outlier(SpikedData(AR1(60, 0.5), PAIR[0], strength=20.0, **options)))
    assert found.iterations == edge + made["_trial"]
    assert made["_trial"] > made["resolvent"] - edge > 0
    made, unseen = calls.of(lambda: outlier(SpikedData(AR1(60, 0.5), PAIR[0], strength=0.02, **options)))
    assert unseen.iterations == made["resolvent"] == edge


def test_where_nothing_was_iterated_no_count_is_returned():
    noise = PowerLaw(INF, 0.9)
    assert threshold(SpikedData(noise, None, strength=1.0, alpha=2.0, method="pca")).iterations is None
    assert outlier(SpikedData(noise, None, strength=3.0, alpha=2.0, method="pca")).iterations is None
