"""Says in an analysis whether stopping training early does better than a ridge."""

from figures.analyse.matrix.stopping.measure import BestStop
from simulate.core import Estimate


def best_stop_text(found: BestStop | str | None) -> list[str]:
    """Say when to stop, what that gives by estimate and on held-out rows, and whether it beats the ridge."""
    if found is None or isinstance(found, str):
        return [] if found is None else [f"{found}."]
    how = "leave-one-out" if found.by_leave_one_out else "an estimate from the fitted rows"
    ridge = "leave-one-out" if found.by_leave_one_out else "GCV"
    end = ", the end of the times that were searched" if found.at_start or found.at_end else ""
    chosen = "a fifth of which chooses both" if found.by_leave_one_out else "which alone choose both"
    held_out, by_ridge = found.held_out.mean(), found.ridge_held_out.mean()
    return [
        f"In the place of a ridge, training by gradient descent from zero is best stopped at time {found.time:.2g} "
        f"(step size times steps, in units of one over a variance){end}. By {how} its error is {found.estimate:.4g} "
        f"for all rows, where the best ridge has {found.ridge_estimate:.4g} by {ridge}. On held-out rows, with "
        f"{found.fitted_rows} fitted rows {chosen}, it is {held_out:.4g} beside {by_ridge:.4g}: "
        f"{_verdict(found.difference)}."
    ]


def _verdict(difference: Estimate) -> str:
    """Say which is better, and by how many percent; within two standard errors neither is."""
    size = Estimate(100 * abs(difference.mean), 100 * difference.stderr, difference.n)
    if abs(difference.mean) <= 2 * difference.stderr:
        sign = "-" if difference.mean < 0 else "+"
        return f"neither is better as far as one can tell ({sign}{size} %)"
    return f"{'the ridge' if difference.mean > 0 else 'stopping'} is better by {size} %"
