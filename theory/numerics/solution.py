"""The value that a solver found together with the evidence for it, and the error of one that found none."""

import math
from dataclasses import dataclass
from typing import Any, Generic, Literal, Self, TypeVar

from theory.core.errors import MaskedSSLError

T = TypeVar("T")
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

    @classmethod
    def judged(
        cls,
        value: T,
        residual: float,
        tol: float,
        iterations: int = 0,
        *,
        admissible: bool = True,
        otherwise: Status | None = None,
    ) -> "Solution[T]":
        """Return the solution with the status that its residual gives it: "converged" if that is within the tolerance.

        `otherwise` is the status beyond it: by default "max_iter", or "diverged" where the residual is not finite.
        """
        status = otherwise or ("max_iter" if math.isfinite(residual) else "diverged")
        if residual <= tol:
            status = "converged" if admissible else "inadmissible"
        return Solution(value, status, residual, tol, iterations)

    @classmethod
    def verified(
        cls,
        value: T,
        residual: float,
        tol: float,
        iterations: int = 0,
        *,
        what: str,
        advice: str | None = None,
        otherwise: Status | None = "unverified",
        check: bool = True,
    ) -> "Solution[T]":
        """Return the solution that `judged` makes; ConvergenceError of the problem `what` unless it converged.

        With check=False one that has not converged is returned too.
        """
        return verified(Solution.judged(value, residual, tol, iterations, otherwise=otherwise), what, check, advice)

    @property
    def converged(self) -> bool:
        """Whether the residual was verified to be within the tolerance at an admissible point."""
        return self.status == "converged"


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

    @classmethod
    def of(
        cls,
        what: str,
        value: Any,
        residual: float,
        tol: float,
        iterations: int | None = 0,
        *,
        status: Status = "unverified",
        advice: str | None = None,
    ) -> Self:
        """Make the error of the problem `what` from its last value and the evidence against that."""
        return cls(what, Solution(value, status, residual, tol, iterations or 0), advice)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problem, self.solution, self.advice)


def _after(solution: Solution[Any]) -> str:
    return "" if solution.status == "unverified" else f" after {solution.iterations} iterations"


def verified(solution: Solution[T], problem: str, check: bool, advice: str | None = None) -> Solution[T]:
    """Return the solution itself; ConvergenceError unless it converged or `check` is False."""
    if check and not solution.converged:
        raise ConvergenceError(problem, solution, advice)
    return solution
