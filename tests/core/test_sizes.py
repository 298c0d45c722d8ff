"""A model that states its own size is judged by the theory of the size that is simulated."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import t

from figures.core import NONE, Context, Curve, Experiment
from figures.core.compute import compute_rows
from figures.core.rows import RUN
from figures.core.sizes import has_own_size, resized
from figures.core.table import to_frame
from simulate.masked import mean_test_error
from theory import masked
from theory.models import AR1, Covariance, Diagonal, Isotropic, MaskedRidge, PottsModel, Spiked, SquareLatticePotts


def error_of(model):
    return masked.solve(model).mean_test_error


def rows_of(covariance, **fields):
    declared = {"theory": error_of, "replicate": mean_test_error, "points": (1.2, 2.0), "line": (2.0,), "d": 100}
    curve = {"a": lambda alpha: MaskedRidge(covariance, alpha, 0.01)}
    return to_frame(compute_rows(Experiment(title="t", curves=curve, **declared | fields), Context()))


def test_a_finite_chain_is_extrapolated_to_the_theory_of_the_infinite_one():
    """AR1(50, .9) judged by the theory of 50 coordinates gave z = -15.6 and -20.4."""
    rows = rows_of(AR1(50, 0.9), replicates=40)
    z = rows["z"].dropna()
    assert len(z) == 2
    assert abs(z).max() < t.isf(2.5e-6, 39)  # two comparisons by Student's t: a false alarm in 100,000
    for d in (100, 200, math.inf):
        theory = rows[rows["size"].eq(d) & rows["x"].eq(2.0)]["theory"].item()
        assert theory == error_of(MaskedRidge(AR1(d, 0.9), 2.0, 0.01))
    assert rows[rows["size"].isna()]["theory"].item() == theory  # the line is that of the limit
    assert rows_of(AR1(math.inf, 0.9), replicates=2, points=(2.0,))["theory"].eq(theory).all()


@pytest.mark.parametrize("covariance", [AR1(50, 0.9), AR1(30, 0.9), AR1(math.inf, 0.9)])
def test_one_size_is_judged_by_the_theory_of_that_size(covariance):
    rows = rows_of(covariance, d=30, extrapolate=False, replicates=2)
    assert set(rows["size"].dropna()) == {30}
    expected = error_of(MaskedRidge(AR1(30, 0.9), 2.0, 0.01))
    rows = rows[rows["kind"] != RUN]  # single replicates, which stand beside a mean of few
    assert rows[rows["x"].eq(2.0)]["theory"].eq(expected).all()
    assert rows["z"].notna().sum() == 2


class NoLimit(AR1):
    def _limit(self):
        return Covariance._limit(self)


@pytest.mark.parametrize(
    ("covariance", "reason"),
    [
        (Diagonal([1.0, 2.0]), "d must be a multiple of 2 to repeat these variances, got inf"),
        (Spiked(Isotropic(2), [1.0, 0.0], 1.0), "at d = 100 .*fixed d = 2, got 100"),
        (NoLimit(50, 0.9), "NoLimit has no limit d -> infinity"),
    ],
)
def test_a_family_without_a_limit_is_refused_before_anything_is_simulated(covariance, reason):
    forbidden = {"replicate": lambda *_: 1 / 0}
    with pytest.raises(ValueError, match=f"curve 'a' has no theory .*{reason}") as refusal:
        rows_of(covariance, **forbidden)
    assert all(cure in str(refusal.value) for cure in ("d = inf", "`theory_at(model, d)`", "extrapolate=False"))


def test_every_cure_works():
    noise = Diagonal([1.0, 2.0])  # repeated, it has the same theory at every size
    told = rows_of(noise, d=10, replicates=2, theory_at=lambda model, d: error_of(model))
    assert told["theory"].eq(told["theory"].iloc[0]).sum() >= 4
    assert set(told["size"].dropna()) == {10, 20, math.inf}
    assert set(rows_of(noise, d=10, replicates=2, extrapolate=False)["size"].dropna()) == {10}
    assert set(rows_of(Isotropic(math.inf), d=10, replicates=2)["size"].dropna()) == {10, 20, math.inf}


def test_a_curve_of_theory_alone_keeps_the_size_of_its_model():
    curve = {"a": Curve(model=lambda alpha: MaskedRidge(Diagonal([1.0, 2.0]), alpha, 0.01), replicate=NONE)}
    rows = to_frame(compute_rows(Experiment(title="t", curves=curve, theory=error_of, line=(2.0,)), Context()))
    assert rows["theory"].item() == error_of(MaskedRidge(Diagonal([1.0, 2.0]), 2.0, 0.01))


@dataclass(frozen=True)
class Pair:
    first: MaskedRidge
    others: tuple
    name: str = "pair"


def test_covariances_are_found_wherever_they_are():
    pair = Pair(MaskedRidge(AR1(5, 0.5), 1.0, 0.1), (Isotropic(5), 3.0))
    limit = resized(pair, math.inf)
    assert (limit.first.covariance.d, limit.others[0].d, limit.others[1], limit.name) == (
        math.inf,
        math.inf,
        3.0,
        "pair",
    )
    assert has_own_size(pair)
    assert not has_own_size(limit)
    assert resized(pair, 5) is pair
    assert not has_own_size(3.0)
    assert resized(np.ones(2), 7).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("model", [SquareLatticePotts(2, 3, 2), PottsModel([[0, 1], [1, 0]], np.eye(2))])
def test_a_potts_model_has_the_size_of_its_sites_and_no_limit(model):
    """Enumerated sites were taken for the limit that samples of other sizes are extrapolated to."""
    assert has_own_size(model)
    assert resized(model, model.n_sites) is model
    with pytest.raises(ValueError, match=f"has a fixed number of sites {model.n_sites}, got inf"):
        resized(model, math.inf)
    declared = {"theory": lambda _: 0.0, "replicate": lambda *_: 1 / 0, "points": (1.0,), "d": 100}
    with pytest.raises(ValueError, match=r"curve 'a' has no theory at d = 100 .*fixed number of sites"):
        compute_rows(Experiment(title="t", curves={"a": lambda _: model}, **declared), Context())
