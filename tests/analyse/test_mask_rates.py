"""What training with masks would change on a table: against theory, the text, and when it is not measured."""

import numpy as np
import pytest

from figures.analyse.matrix import analyse_matrix, report
from figures.analyse.matrix.centered_rows import centered_rows, table_rows
from figures.analyse.matrix.mask_rates import RATES, USUAL, mask_rates, mask_rates_text
from simulate.core import Estimate, stream
from simulate.masked import sample
from theory.masked.masks.fixed_task import task_errors
from theory.masked.masks.population import population
from theory.models import AR1


def test_errors_are_those_of_theory_for_as_many_rows(agrees):
    """A fifth of the rows is held out; the mean that is fitted, and a finite d, cost a relative 1/n and 1/d."""
    covariance, n, lam = AR1(30, 0.7), 75, 0.1
    of, found = population(covariance), []
    for replicate in range(40):
        X = centered_rows(table_rows(sample(covariance, n, stream(0, "mask rates", replicate)) + 2))
        one = mask_rates(X, lam, True, replicate)
        place = int(np.flatnonzero(RATES == 0.3)[0])
        found.append([one.one_at_a_time.mean(), one.usual.mean(), one.instead[:, place].mean()])
    for values, strength, rate in zip(np.transpose(found), (lam, lam, 1e-4), (0.0, USUAL, 0.3), strict=True):
        expected = float(task_errors(of, 60 / 30, strength, rate, 0.0, None, rescaled=True).mean())
        agrees(Estimate.of(values), expected, resolves=0.2, bias=0.05 * expected)


def test_the_report_compares_masks_with_one_column_at_a_time():
    analysis = analyse_matrix(sample(AR1(20, 0.7), 100, stream(0, "docstring")), repeats=2)
    text = " ".join(report(analysis, "table").split())
    assert "Trained by hiding 15 % of the columns at a time instead of one, at the same ridge, the error of" in text
    assert "In the place of a ridge masks do best at" in text
    found = analysis.mask_rates
    best = found.instead.mean(axis=0).min()
    assert best == pytest.approx(found.one_at_a_time.mean(), rel=0.03)  # equal variances: what a ridge does
    assert found.usual.mean() > found.one_at_a_time.mean()


def test_an_end_of_the_range_is_said():
    noise = centered_rows(table_rows(stream(0, "noise").standard_normal((40, 30))))
    text = mask_rates_text(mask_rates(noise, 1.0, True, 0))[0]
    assert "90 %, an end of the range that was tried, hidden" in text


def test_where_it_is_not_measured():
    rows = centered_rows(table_rows(stream(0, "noise").standard_normal((40, 5))))
    assert mask_rates(rows, 1.0, False, 0) is None
    few = centered_rows(table_rows(stream(0, "noise").standard_normal((29, 5))))
    assert mask_rates(few, 1.0, True, 0) is None
    wide = centered_rows(table_rows(stream(0, "noise").standard_normal((40, 301))))
    assert mask_rates(wide, 1.0, True, 0) is None
    assert mask_rates_text(None) == []
