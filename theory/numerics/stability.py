"""Local stability of replica-symmetric saddle points: the replicon, and the error of an unstable one."""

from typing import Any, TypeVar

from theory.core.results import SolverResult
from theory.numerics.solution import ConvergenceError, Solution

Answer = TypeVar("Answer", bound=SolverResult)

# A replicon this far below zero may be rounding: it tends to zero where a problem loses its ridge.
ROUNDING_REPLICON = 1e-6
ADVICE = (
    "replica symmetry is broken here and the prediction is not exact: change the parameters, or take check=False to "
    "have it with its replicon"
)


class ReplicaSymmetryError(ConvergenceError):
    """A replica-symmetric saddle point was found, but it is locally unstable; `.solution.value` is its result.

    The equations are solved, and yet the true state has less symmetry, so that what they predict is not exact. The
    replicon in the message is negative; see the result's own docstring for its equation.
    """

    def __init__(self, problem: str, solution: Solution[Any], advice: str | None = None) -> None:
        super().__init__(problem, solution, advice or ADVICE)
        self.args = (f"{problem}; {self.advice}",)


class WithReplicon:
    """The property that results with a field `replicon` share."""

    replicon: float

    @property
    def stable(self) -> bool:
        """Whether the replica-symmetric solution is locally stable."""
        return self.replicon > 0


def refuse_unstable(result: SolverResult, replicon: float, problem: str, tol: float, advice: str | None = None) -> None:
    """Raise the ReplicaSymmetryError of a result whose replicon is negative."""
    what = f"{problem}: unstable, its replicon {replicon:.3g} is negative"
    raise ReplicaSymmetryError.of(what, result, result.residual, tol, result.iterations, advice=advice)


def require_stable(result: Answer, replicon: float, problem: str, tol: float, check: bool) -> Answer:
    """Return the result itself; ReplicaSymmetryError if its replicon is negative, unless `check` is False.

    A replicon between -1e-6 and 0 is let through, since it may be zero but for rounding. One that is not a number has
    not been computed, and says nothing.
    """
    if check and replicon < -ROUNDING_REPLICON:
        refuse_unstable(result, replicon, problem, tol)
    return result
