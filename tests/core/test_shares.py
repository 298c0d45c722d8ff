"""Shares of successes: their intervals beside scipy's, and the bars that a figure draws of them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from figures.core import Context, Curve, Experiment
from figures.core.compute import compute_rows
from figures.core.plot import _draw_panel
from figures.core.shares import share, share_bars, wilson
from figures.core.table import to_frame


@pytest.mark.parametrize(("hits", "n"), [(0, 5), (3, 7), (34, 34), (120, 171)])
def test_intervals_are_those_of_wilson(hits, n):
    wanted = tuple(binomtest(hits, n).proportion_ci(method="wilson"))
    assert wilson(hits, n) == pytest.approx(wanted, abs=1e-6)
    below, above = share_bars([hits / n], [n])[:, 0]
    assert (hits / n - below, hits / n + above) == pytest.approx(wanted, abs=1e-6)
    found = share([1] * hits + [0] * (n - hits))
    assert (found.mean, found.n) == (pytest.approx(hits / n), n)
    assert 2 * 1.959964 * found.stderr == pytest.approx(wanted[1] - wanted[0], abs=1e-6)


def test_intervals_cover_a_share_as_they_say():
    """Over all outcomes of 20 trials, weighted with their law: .90 to .98, and above all no certainty at 0 or 1."""
    for chance in (0.02, 0.1, 0.5, 0.93):
        inside = [low <= chance <= high for low, high in (wilson(hits, 20) for hits in range(21))]
        law = [float(np.prod([(20 - j) / (j + 1) for j in range(hits)])) for hits in range(21)]
        mass = np.array([c * chance**k * (1 - chance) ** (20 - k) for k, c in enumerate(law)])
        assert 0.9 < float(mass @ inside) < 0.995


def test_an_interval_of_no_trials_is_all():
    assert wilson(0, 0) == (0.0, 1.0)


def test_replicates_that_are_no_success_and_no_failure_are_refused():
    with pytest.raises(ValueError, match=r"successes must be 0 or 1, got 0\.5"):
        share([1.0, 0.5])


def test_bars_of_shares_are_drawn_as_wilson_has_them():
    from matplotlib.figure import Figure

    def measured(chance, _d, rng):
        return {"solved": float(rng.random() < chance)}

    curve = Curve(number="solved", line=(), average="share")
    declared = Experiment(
        title="t", measure=measured, curves={"solved": curve}, points=(0.0, 0.4, 1.0), extrapolate=False, replicates=20
    )
    rows = to_frame(compute_rows(declared, Context()))
    ax = Figure().subplots()
    _draw_panel(ax, declared.resolved_panels()[0], rows)
    ends = [segment[:, 1].tolist() for segment in ax.containers[0].lines[2][0].get_segments()]
    shares = rows["simulation"].tolist()
    assert (shares[0], shares[2]) == (0.0, 1.0)
    assert ends == [pytest.approx(wilson(20 * value, 20)) for value in shares]
    other = Figure().subplots()
    _draw_panel(other, replace(declared, curves={"solved": replace(curve, average="mean")}).resolved_panels()[0], rows)
    ends = [segment[:, 1].tolist() for segment in other.containers[0].lines[2][0].get_segments()]
    assert ends[0][0] < 0  # what a symmetric bar would say of a share
