"""Records of masked regression on a table with missing entries: rates of holes, dropout, and the two estimators."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from theory.core import Accepted, Array, CheckedRecord, Positive, Vector, Within, checks
from theory.models.covariance import set_checked
from theory.models.masked_ridge import SampledRows
from theory.models.row_scales import GAUSSIAN, RowScales, shown_fields

Method = Literal["own_rows", "pairwise"]
PredictedRows = Literal["holes", "complete", "table"]

RATES = Within(0.0, 1.0, closed=(True, False))
FEWEST_ROWS = 2  # rows that must be expected to have a column, for a regression of it


@dataclass(frozen=True, eq=False, repr=False)
class Dropout(CheckedRecord):
    """Rows that are seen up to some column and not beyond it, as patients who leave a study or sensors that fail.

    `fractions_seen` (d,) is the fraction of the rows in which each column is seen, in the order of the columns: none of
    them exceeds the one before it, all lie in (0, 1]. A row ends where it ends independently of its values. The rows
    are then of several kinds, `lengths` columns long, with the shares `shares`.

    >>> Dropout([1.0, 1.0, 0.75, 0.5]).lengths, Dropout([1.0, 1.0, 0.75, 0.5]).shares
    (array([2, 3, 4]), array([0.25, 0.25, 0.5 ]))
    """

    fractions_seen: Vector

    def __post_init__(self) -> None:
        super().__post_init__()
        seen = self.fractions_seen
        if seen.min() <= 0 or seen.max() > 1:
            raise ValueError(f"fractions_seen must lie in (0, 1], got {checks.shown(seen)}")
        rises = np.flatnonzero(np.diff(seen) > 0)
        if rises.size:
            k = int(rises[0])
            raise ValueError(
                f"fractions_seen must not increase from one column to the next, since a row that has ended stays "
                f"ended, got {seen[k]:.6g} and then {seen[k + 1]:.6g} at column {k + 1}"
            )

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.fractions_seen)

    @property
    def lengths(self) -> NDArray[np.intp]:
        """The numbers of columns that rows show, (classes,), ascending; 0 where some show none."""
        return np.asarray(np.flatnonzero(self._endings() > 0))

    @property
    def shares(self) -> Array:
        """The share of the rows of each of these lengths, (classes,); they sum to 1."""
        endings = self._endings()
        return np.asarray(endings[endings > 0])

    def _endings(self) -> Array:
        return -np.diff(np.concatenate([[1.0], self.fractions_seen, [0.0]]))

    def __repr__(self) -> str:
        seen = self.fractions_seen
        return f"Dropout(d={self.d}, fractions_seen from {seen[0]:.6g} to {seen[-1]:.6g})"


def missing_rates_checked(name: str, value: Any) -> float | Array | Dropout:
    """Return a rate as a float, rates of the columns as an array (d,), or a `Dropout` itself."""
    if isinstance(value, Dropout):
        return value
    if checks.real_array(name, value).ndim == 0:
        return RATES.check(name, value)
    rates = checks.finite_array(name, value, 1)
    if rates.min() < 0 or rates.max() >= 1:
        wrong = int(np.flatnonzero((rates < 0) | (rates >= 1))[0])
        raise ValueError(f"{name} must lie in [0, 1), got {rates[wrong]} at index {wrong}")
    return rates


@dataclass(frozen=True, eq=False, repr=False)
class MissingEntries(SampledRows):
    """Masked regression on a table with holes, by which the holes are filled, or the columns of new rows predicted.

    The table has n = alpha d rows x ~ N(0, Sigma) of mean zero. Entry j of a row is missing with probability p_j =
    `missing_rates`, one number or an array (d,), independently of everything else, and seen with probability q_j =
    1 - p_j. Let z be a row with zeros in the place of its holes. Every column k is regressed on all others by one of
    two estimators, which `method` names:

    - "own_rows": over the rows that have x_k, of which N = n q_k are expected, (1/N) sum (x_k - a.z)^2 + lam |a|^2 is
      minimized; zeros stand for the holes among the inputs.
    - "pairwise": a = (S_OO + lam)^-1 S_Ok, with the covariances S_jl = sum z_j z_l/(n q_j q_l), S_jj = sum z_j^2/(n
      q_j) of the whole table and the columns O that a row shows. S has no bias, but negative eigenvalues: lam must
      exceed the least ridge, minus the least of them (`least_ridge` of the solution). Every pair of columns has to be
      seen together in some row.

    `rows` says which rows are predicted, all of them with their entry k missing:

    - "holes": new rows with holes at the same rates;
    - "complete": new rows without other holes. Weights of the own rows are fitted to inputs with zeros in them, and are
      multiplied by q_j first, which is better by far; `rescaled=False` leaves them as they are fitted.
    - "table": the holes of the table itself. For own rows this is the same as "holes", because a row without x_k is not
      among those that are fitted. For the pairwise estimator it is worse: the row's own entries are part of the input
      covariances and not of the cross covariances. Leaving the row out of its own input covariances (exactly, by a
      rank-one formula) cures it, and the error is then that of "holes".

    `Dropout` in the place of the rates describes rows that end; own rows only, since pairs of columns are then not seen
    with probability q_j q_l. A hole of column k then lies in a row that ended before it: "holes" are new rows seen as
    far as the rows that have x_k, "table" the rows that end before column k. `row_scales` is the law of the rows'
    scales as in `MaskedRidge`.

    ValueError where fewer than two rows are expected to show a column, where a hole expects less than one other entry
    in its row, and for "pairwise" where a pair of columns is expected in less than one row.

    >>> from theory.models import AR1
    >>> MissingEntries(AR1(d=60, correlation=0.7), alpha=2.0, lam=0.1, missing_rates=0.2)
    MissingEntries(covariance=AR1(d=60, correlation=0.7), alpha=2.0, lam=0.1, missing_rates=0.2, method='own_rows', rows='holes')
    """  # noqa: E501  # a line of output

    lam: Positive
    missing_rates: Annotated[Any, Accepted(missing_rates_checked)]
    method: Method = "own_rows"
    rows: PredictedRows = "holes"
    rescaled: bool = True
    row_scales: RowScales = GAUSSIAN

    def __post_init__(self) -> None:
        super().__post_init__()
        rates = self.missing_rates
        if isinstance(rates, Dropout) or np.ndim(rates):
            size = rates.d if isinstance(rates, Dropout) else len(rates)
            if not self.covariance.is_finite or size != self.covariance.size:
                raise ValueError(f"missing_rates must be one number, or one for each of d = {self.d}, got {size}")
        if isinstance(rates, Dropout) and self.method == "pairwise":
            raise ValueError(
                "method must be 'own_rows' with a Dropout, got 'pairwise': pairs of columns are not seen independently"
            )
        if not self.rescaled and (self.method, self.rows) != ("own_rows", "complete"):
            raise ValueError(
                f"rescaled must be True but for method 'own_rows' on rows 'complete', got False "
                f"for {self.method!r} on {self.rows!r}"
            )
        if isinstance(rates, Dropout) and self.rows == "table" and rates.fractions_seen[-1] == 1:
            raise ValueError("rows must be 'holes' or 'complete' with a Dropout without holes, got 'table'")
        if not isinstance(rates, Dropout) and np.ndim(rates) and np.ptp(rates) == 0:
            set_checked(self, missing_rates=float(rates[0]))
        if self.covariance.is_finite:
            self._require_entries()

    def _require_entries(self) -> None:
        seen = np.broadcast_to(self.seen_rates, self.covariance.size)
        k = int(seen.argmin())
        if self.n * seen[k] < FEWEST_ROWS:
            raise ValueError(
                f"alpha and missing_rates must leave {FEWEST_ROWS} rows of every column: at n = {self.n:g} column {k}, "
                f"seen with probability {seen[k]:.6g}, is expected in {self.n * seen[k]:.3g}"
            )
        others = seen.sum() - seen.max()
        if others < 1 and len(seen) > 1:
            raise ValueError(
                f"missing_rates must leave entries to predict from: a hole is expected to have {others:.3g} in its row"
            )
        if self.method == "pairwise" and len(seen) > 1:
            least, second = np.sort(seen)[:2]
            if self.n * least * second < 1:
                raise ValueError(
                    f"alpha and missing_rates must leave every pair of columns a row for method 'pairwise', got a pair "
                    f"expected in {self.n * least * second:.3g}, whose covariance is then read as 0: use 'own_rows'"
                )

    @property
    def seen_rates(self) -> float | Array:
        """The probability q with which an entry is seen: one number, or (d,) where columns differ."""
        rates = self.missing_rates
        seen: float | Array = rates.fractions_seen if isinstance(rates, Dropout) else 1 - rates
        return seen

    @property
    def drops_out(self) -> bool:
        """Whether rows end, as `Dropout` describes, in the place of holes that are independent."""
        return isinstance(self.missing_rates, Dropout)

    @property
    def rows_per_column(self) -> float | Array:
        """The number n q_k of rows that are expected to have x_k; errors of own rows peak where it is near d."""
        return self.n * self.seen_rates

    def __repr__(self) -> str:
        shown = shown_fields(self)
        if self.rescaled:
            shown = shown.replace(", rescaled=True", "")
        if isinstance(self.missing_rates, np.ndarray):
            low, high = self.missing_rates.min(), self.missing_rates.max()
            shown = shown.replace(
                f"{self.missing_rates!r}", f"<{len(self.missing_rates)} from {low:.6g} to {high:.6g}>"
            )
        return f"MissingEntries({shown})"
