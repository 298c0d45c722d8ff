"""Measures what training with random masks, as in masked language modeling, would change on a table."""

from dataclasses import dataclass, field

import numpy as np

from figures.analyse.matrix.centered_rows import CenteredRows
from simulate.core import Estimate, stream
from simulate.masked.masks.random_masks import fit_expected_masks
from theory.core.arrays import Array

USUAL = 0.15  # the rate of BERT
RATES = np.array([0.01, 0.02, 0.05, 0.1, USUAL, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
LEAST_RIDGE = 1e-4  # in units of the mean variance, in the place of a ridge
SPLITS, HELD_OUT = 10, 0.2
VALIDATION = 0.2  # share of the fitted rows of a split by which the rate is chosen
FEWEST_ROWS = 30
MOST_CELLS = 2e6
MOST_COLUMNS = 300  # of which all fits together take a few seconds


@dataclass(frozen=True, eq=False)
class MaskRates:
    """Errors of predicting held-out columns from all others, of fits to masked rows: one value for each split.

    All masks of each row are averaged over, and coefficients are multiplied by 1 - rate, as for dropout. The rows by
    which a rate is chosen are no part of those on which its error is measured.
    """

    one_at_a_time: Array  # (splits,), at the ridge that is chosen for all rows
    usual: Array  # (splits,), hiding 15 % at the same ridge
    validation: Array = field(repr=False)  # (splits, rates), on a fifth of the fitted rows, at next to no ridge
    chosen: Array  # (splits,), the rate of least error there
    at_chosen: Array  # (splits,), the error on held-out rows of a fit to all fitted rows at that rate


def mask_rates(X: CenteredRows, lam: float, independent: bool, seed: int) -> MaskRates | None:
    """Measure the errors on ten random splits; None for dependent rows, fewer than 30, or too large a table.

    Splits are nested: in each of them the rate is chosen by a fifth of its fitted rows, which fits to the others
    predict, and its error is that on the held-out rows, of a fit to all of its fitted ones.
    """
    if not independent or X.rows.in_memory is None or not operations_of_masks(X.n, X.d):
        return None
    rows, n_test = X.rows.all_rows(), round(HELD_OUT * X.n)
    least = LEAST_RIDGE * float(X.variances.mean())
    found, validation, chosen = [], [], []
    for split in range(SPLITS):
        order = stream(seed, "mask rates", split).permutation(X.n)
        training, test = rows[order[n_test:]], rows[order[:n_test]]
        inner = round(VALIDATION * len(training))
        validation.append([_error(training[inner:], training[:inner], least, float(rate)) for rate in RATES])
        chosen.append(float(RATES[int(np.argmin(validation[-1]))]))
        fits = [(lam, 0.0), (lam, USUAL), (least, chosen[-1])]
        found.append([_error(training, test, *one) for one in fits])
    one_at_a_time, usual, at_chosen = np.array(found).T
    return MaskRates(one_at_a_time, usual, np.array(validation), np.array(chosen), at_chosen)


def operations_of_masks(n: int, d: int) -> float:
    """Return the floating point operations of all fits, 0 for a table of which none are made."""
    if n < FEWEST_ROWS or d > MOST_COLUMNS or n * d > MOST_CELLS:
        return 0.0
    return SPLITS * (len(RATES) + 3) * (2.0 * n * d**2 + 8.0 * d**3)


def mask_rates_text(found: MaskRates | None) -> list[str]:
    """Say what masks would change beside the ridge, and in its place."""
    if found is None:
        return []
    base = float(found.one_at_a_time.mean())
    best = int(found.validation.mean(axis=0).argmin())
    at_end = best in (0, len(RATES) - 1)
    rate = f"{100 * RATES[best]:.0f} %" + (", an end of the range that was tried," if at_end else "")
    low, high = 100 * float(found.chosen.min()), 100 * float(found.chosen.max())
    range_of = f"{low:.0f} %" if low == high else f"{low:.0f} to {high:.0f} %"
    return [
        f"Trained by hiding {100 * USUAL:.0f} % of the columns at a time instead of one, at the same ridge, the error "
        f"of predicting a column from all others would be {_change(found.usual, base, found)}. In the place of a ridge "
        f"masks do best at {rate} hidden, and the error is {_change(found.at_chosen, base, found)}: measured on "
        f"{SPLITS} splits, with all masks of each row and coefficients times the share shown. The share hidden was "
        f"chosen anew in each split by a fifth of its fitted rows ({range_of}), and the error is that on its held-out "
        "rows, which took no part in the choice."
    ]


def _change(errors: Array, base: float, found: MaskRates) -> str:
    """Write a mean error with the change from that of one at a time, whose standard error is that of pairs."""
    difference = Estimate.of(100 * (errors - found.one_at_a_time) / base)
    sign = "+" if difference.mean >= 0 else ""
    return f"{errors.mean():.4g} instead of {base:.4g} ({sign}{difference} %)"


def _error(training: Array, test: Array, lam: float, rate: float) -> float:
    """Return the mean squared error on `test` rows of a fit to `training` rows about their mean."""
    mean = training.mean(axis=0)
    predictor, centered = (1 - rate) * fit_expected_masks(training - mean, lam, rate).predictor, test - mean
    return float(((centered - centered @ predictor.T) ** 2).mean())
