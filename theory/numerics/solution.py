"""The value that a solver found together with the evidence for it, and the error of one that found none."""

from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from theory.core.errors import MaskedSSLError

T = TypeVar("T")
S = TypeVar("S")
Status = Literal["converged", "max_iter", "diverged", "inadmissible", "unverified"]

# What to do where a solver has no advice of its own. No argument is named, since each caller has others.
ADVICE: dict[str, str] = {
    "max_iter": "more steps are needed than were made: change the parameters, or go towards them from neighboring ones",
    "diverged": "the iterate left the range of floating point numbers: change the parameters",
    "unverified": "the equations have no solution here that could be verified: change the parameters",
    "inadmissible": "the only point found violates the model's inequalities: change the parameters",
}


@dataclass(frozen=True)
class Solution(Generic[T]):
    """The value of a solve with the evidence for it; `residual` is that of the undamped equation at this very value."""

    value: T
    status: Status
    residual: float
    tol: float
    iterations: int

    @property
    def converged(self) -> bool:
        """Whether the residual was verified to be within the tolerance at an admissible point."""
        return self.status == "converged"

    def with_value(self, value: S) -> "Solution[S]":
        """Return the same evidence for another form of the value."""
        return replace(self, value=value)  # type: ignore[arg-type, return-value]  # replace cannot change T in types


class ConvergenceError(MaskedSSLError, ArithmeticError):
    """A solver found no verified solution; `.solution` is the last iterate with its residual.

    The message ends in `advice` for the caller, or in a general one.
    """

    def __init__(self, problem: str, solution: Solution[Any], advice: str | None = None) -> None:
        self.problem, self.solution, self.advice = problem, solution, advice
        super().__init__(
            f"{problem}: {solution.status}{_after(solution)}, residual {solution.residual:.3g} "
            f"against tol {solution.tol:.3g}; {advice or ADVICE.get(solution.status, '')}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problem, self.solution, self.advice)


def _after(solution: Solution[Any]) -> str:
    return "" if solution.status == "unverified" else f" after {solution.iterations} iterations"


def verified(solution: Solution[T], problem: str, check: bool, advice: str | None = None) -> Solution[T]:
    """Return the solution itself; ConvergenceError unless it converged or `check` is False."""
    if check and not solution.converged:
        raise ConvergenceError(problem, solution, advice)
    return solution
