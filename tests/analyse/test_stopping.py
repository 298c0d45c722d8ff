"""The best time to stop beside the best ridge: against theory and brute force, as it is said, and where it is not."""

import json
from functools import partial

import numpy as np
import pytest

from figures.analyse.json_text import as_json
from figures.analyse.matrix import analyse_matrix, report
from figures.analyse.matrix.centered_rows import centered_rows, table_rows
from figures.analyse.matrix.held_out import RandomOrder, split_errors
from figures.analyse.matrix.plan import Plan
from figures.analyse.matrix.stopping import BestStop, best_stop, best_stop_text
from figures.analyse.matrix.stopping.measure import DEPENDENT
from figures.analyse.matrix.stopping.search import TIMES, by_estimate, by_setting_aside
from simulate.core import Estimate, stream, sweep
from simulate.masked import sample
from simulate.masked.training import fit_training
from theory import masked
from theory.models import AR1, Flow, GivenSpectrum, MaskedRegression

RIDGES = np.geomspace(1e-3, 10, 33)


def rows_of(X):
    return centered_rows(table_rows(X))


def measured(X, repeats, **options):
    """The best stop of X (n, d), a fifth of whose rows is held out, with the ridges that GCV chooses."""
    X = rows_of(X)
    held_out = X.n // 5
    plan = Plan(held_out, (X.n - held_out,), repeats)
    ridge = [split_errors(X, RIDGES[:1], RIDGES, plan.sizes, held_out, 0, r)[0, 0, -1] for r in range(repeats)]
    said = {"unlike": False, "dependent": False, "copies": False} | options
    run = partial(sweep, n_jobs=1)
    return best_stop(X, plan, RandomOrder(0), RIDGES, np.array(ridge), 0.5, **said, seed=0, run=run)


def test_time_and_error_are_those_of_theory_for_as_many_rows(agrees):
    """The estimate, and the error on held-out rows, at the time that each table chooses."""
    covariance, found = AR1(40, 0.7), []
    for r in range(30):
        stop = measured(sample(covariance, 100, stream(0, "stopping", r)) + 3, 2)
        found.append([stop.estimate, stop.held_out.mean(), np.log(stop.time)])
    expected = [masked.best_time(covariance, n / 40) for n in (100, 80)]
    estimate, held_out, times = map(Estimate.of, np.transpose(found))
    agrees(estimate, expected[0].mean_test_error, resolves=0.15, bias=0.03 * expected[0].mean_test_error)
    agrees(held_out, expected[1].mean_test_error, resolves=0.2, bias=0.05 * expected[1].mean_test_error)
    agrees(times, np.log(expected[0].time), resolves=1.0, bias=0.3)


def test_few_factors_are_better_stopped_and_the_bar_is_that_of_pairs():
    """Where few directions carry all signal, theory has stopping 2 % below the best ridge."""
    covariance = GivenSpectrum([1.0, 100.0], weights=[58 / 60, 2 / 60], d=60)
    stop = measured(sample(covariance, 100, stream(0, "factors")), 10)
    best = masked.best_time(covariance, 80 / 60).mean_test_error
    ridge = masked.optimal_ridge(MaskedRegression(covariance, 80 / 60)).mean_test_error
    share = stop.difference
    assert share.mean == pytest.approx((best - ridge) / ridge, abs=4 * share.stderr + 0.005)
    assert "stopping is better by" in best_stop_text(stop)[0]
    pairs = Estimate.of((stop.held_out - stop.ridge_held_out) / stop.ridge_held_out.mean())
    assert share.mean == pairs.mean
    assert share.stderr == pytest.approx(pairs.stderr * np.sqrt(1 + 10 * 20 / 80))


def test_the_time_is_that_of_rows_about_their_mean():
    """The predictor at a time of contrasts is that of centered rows at the time that is named."""
    X = sample(AR1(6, 0.7), 30, stream(0, "mean")) + 5
    found = by_estimate(rows_of(X).contrasts(), 1.0)
    again = fit_training(X - X.mean(0), Flow(found.time)).predictor
    assert abs(found.path.predictor(0) - again).max() < 1e-11


def test_the_search_finds_the_least_of_all_times():
    X = sample(AR1(20, 0.7), 40, stream(0, "all"))
    fitted, aside = X[:32] - X[:32].mean(0), X[32:] - X[:32].mean(0)
    errors = [fit_training(fitted, Flow(t)).mean_test_error(aside) for t in TIMES]
    assert by_setting_aside(X, 1.0, RIDGES)[0] == pytest.approx(TIMES[np.argmin(errors)])


def test_rows_of_different_scale_are_left_out():
    rng = stream(0, "unlike")
    X = sample(AR1(12, 0.7), 120, rng) * np.sqrt(rng.gamma(0.6, 1 / 0.6, (120, 1)))
    alike, unlike = (measured(X, 2, unlike=one) for one in (False, True))
    assert unlike.by_leave_one_out
    assert unlike.time < alike.time  # GCV, and the estimate like it, choose too little regularization
    left_out = []
    for i in range(120):
        others = np.delete(X, i, 0)
        centered = others - others.mean(0)
        trained = fit_training(centered, Flow(unlike.time * 119 / 120))
        left_out.append(trained.mean_test_error(X[i : i + 1] - others.mean(0)))
    assert unlike.estimate == pytest.approx(np.mean(left_out), rel=1e-9)
    assert unlike.estimate > 1.05 * alike.estimate
    assert "By leave-one-out its error is" in best_stop_text(unlike)[0]


def test_the_report_and_the_record_have_it():
    analysis = analyse_matrix(sample(AR1(10, 0.7), 60, stream(0, "report")), repeats=2)
    text = " ".join(report(analysis, "rows").split())
    assert "training by gradient descent from zero is best stopped at time" in text
    stopping = json.loads(as_json("matrix", "rows", [], [], analysis))["numbers"]["stopping"]
    assert {"time", "estimate", "ridge_estimate", "held_out", "ridge_held_out", "times"} <= set(stopping)
    assert len(stopping["held_out"]) == 2
    assert stopping["ridge_held_out"] == analysis.test_error[:, -1, -1].tolist()
    assert stopping["ridge_estimate"] == pytest.approx(analysis.column_error.mean(), rel=0.05)


def test_where_it_is_not_reported_the_reason_is_said():
    X = sample(AR1(8, 0.7), 60, stream(0, "reasons"))
    assert best_stop_text(None) == []
    assert "copied rows are kept" in analyse_matrix(np.vstack([X, X]), repeats=2, copies="together").stopping
    assert isinstance(analyse_matrix(np.vstack([X, X]), repeats=2).stopping, BestStop)
    assert "fewer than 10 fitted rows" in analyse_matrix(X[:11], repeats=2).stopping
    assert "read in blocks" in measured_in_blocks(X)
    series = np.linalg.cholesky(AR1(200, 0.9).matrix) @ sample(AR1(6, 0.5), 200, stream(0, "series"))
    analysis = analyse_matrix(series, repeats=2, order="test")
    assert analysis.stopping == DEPENDENT
    assert "not reported where rows depend on each other" in " ".join(report(analysis, "series").split())


def measured_in_blocks(X):
    blocks = centered_rows(table_rows([X[:30], X[30:]]))
    plan = Plan(12, (48,), 2)
    options = {"unlike": True, "dependent": False, "copies": False, "seed": 0, "run": partial(sweep, n_jobs=1)}
    return best_stop(blocks, plan, RandomOrder(0), RIDGES, np.zeros(2), 0.5, **options)


def test_ends_of_the_range_are_said():
    noise = stream(0, "noise").standard_normal((40, 30))
    stop = measured(noise, 2)
    assert stop.at_start
    assert "the end of the times that were searched" in best_stop_text(stop)[0]
