"""What training with masks would change on a table: against theory, the text, and when it is not measured."""

import numpy as np
import pytest

from figures.analyse.matrix import analyse_matrix, report
from figures.analyse.matrix import mask_rates as rates
from figures.analyse.matrix.centered_rows import centered_rows, table_rows
from figures.analyse.matrix.mask_rates import RATES, USUAL, mask_rates, mask_rates_text
from simulate.core import Estimate, stream
from simulate.masked import sample
from theory.masked.masks.fixed_task import task_errors
from theory.masked.masks.population import population
from theory.models import AR1


def test_errors_are_those_of_theory_for_as_many_rows(agrees, monkeypatch):
    """A fifth of the rows is held out; the mean that is fitted, and a finite d, cost a relative 1/n and 1/d."""
    monkeypatch.setattr(rates, "RATES", np.array([0.3]))
    covariance, n, lam = AR1(30, 0.7), 75, 0.1
    of, found = population(covariance), []
    for replicate in range(40):
        X = centered_rows(table_rows(sample(covariance, n, stream(0, "mask rates", replicate)) + 2))
        one = mask_rates(X, lam, True, replicate)
        found.append([each.mean() for each in (one.one_at_a_time, one.usual, one.at_chosen, one.validation)])
    settings = (lam, 0.0, 60), (lam, USUAL, 60), (1e-4, 0.3, 60), (1e-4, 0.3, 48)
    for values, (strength, rate, rows) in zip(np.transpose(found), settings, strict=True):
        expected = float(task_errors(of, rows / 30, strength, rate, 0.0, None, rescaled=True).mean())
        agrees(Estimate.of(values), expected, resolves=0.2, bias=0.05 * expected)


def test_the_rows_that_report_took_no_part_in_the_choice(monkeypatch):
    X = centered_rows(table_rows(sample(AR1(20, 0.7), 60, stream(0, "nested"))))
    found = mask_rates(X, 0.1, True, 3)
    seen = []
    error = rates._error
    monkeypatch.setattr(rates, "_error", lambda *one: seen.append([len(one[0]), one[1].copy()]) or error(*one))
    again = mask_rates(X, 0.1, True, 3)
    assert again.at_chosen.tolist() == found.at_chosen.tolist()
    calls = len(RATES) + 3
    for split in range(rates.SPLITS):
        of = seen[split * calls : (split + 1) * calls]
        assert [n for n, _ in of] == [38] * len(RATES) + [48] * 3
        choosing, reporting = of[0][1], of[-1][1]
        assert not {row.tobytes() for row in choosing} & {row.tobytes() for row in reporting}
        assert found.chosen[split] == RATES[found.validation[split].argmin()]


def test_the_report_compares_masks_with_one_column_at_a_time():
    analysis = analyse_matrix(sample(AR1(20, 0.7), 100, stream(0, "docstring")), repeats=2)
    text = " ".join(report(analysis, "table").split())
    assert "Trained by hiding 15 % of the columns at a time instead of one, at the same ridge, the error of" in text
    assert "In the place of a ridge masks do best at" in text
    found = analysis.mask_rates
    assert "was chosen anew in each split by a fifth of its fitted rows" in text
    assert found.at_chosen.mean() == pytest.approx(
        found.one_at_a_time.mean(), rel=0.03
    )  # equal variances: what a ridge does
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
