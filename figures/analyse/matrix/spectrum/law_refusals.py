"""Says why the eigenvalues of noise cannot be computed for a table, and what its owner can do."""

from figures.analyse.matrix.admissible import UNEQUAL
from figures.analyse.matrix.centered_rows import CenteredRows
from figures.analyse.matrix.data_quality import correlations, dependent_columns, equal_columns, unit_columns
from figures.analyse.wording import listed

FEW_ROWS_PER_COLUMN = 10.0  # rows a column, below which the noise of so few eigenvalues is hard to resolve
N_LISTED_COLUMNS = 5


def without_law(X: CenteredRows) -> str:
    """Return why there is no spectrum of X (n, d), whose columns vary, with what to do, the likeliest cause first."""
    advice = "; or ".join(_causes(X)) or "choose fewer columns, or columns that are more alike"
    return (
        "There is no spectrum: where the eigenvalues of noise would end cannot be computed for this table, since what "
        f"is left of its columns as noise is too unequal. What may help: {advice}. Nothing else is "
        "affected."
    )


def _causes(X: CenteredRows) -> list[str]:
    n, d, names = X.n, X.d, X.names
    causes = []
    ratio = float(X.variances.max() / X.variances.min())
    if ratio > UNEQUAL:
        causes.append(
            "measure the columns in units of their standard deviations (--standardize), since their variances differ "
            f"by a factor of {ratio:.1g}"
        )
    units = unit_columns(X)
    copies, groups = equal_columns(correlations(units), n)
    if copies:
        kept, twice = (
            listed([names[group[0]] for group in groups], N_LISTED_COLUMNS),
            listed([names[k] for k in copies], N_LISTED_COLUMNS),
        )
        causes.append(f"leave out {twice} (--skip-columns), which repeat {kept}")
    dependent = [] if copies else dependent_columns(units.triangle(), n)
    if dependent:
        named = listed([names[k] for k in dependent], N_LISTED_COLUMNS)
        causes.append(f"leave out {named} (--skip-columns), which follow exactly from the other columns")
    if n < FEW_ROWS_PER_COLUMN * d:
        causes.append(f"take more rows, since {n} are few for {d} columns")
    return causes
