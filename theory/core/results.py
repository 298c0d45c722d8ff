"""The base classes of everything that a solver or a fit returns."""

import dataclasses
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from theory.core.frames import table
from theory.core.read_only import KeepsReadOnly

if TYPE_CHECKING:
    import pandas as pd

MAX_SHOWN_ENTRIES = 4  # entries of an array that a repr still writes out


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Result(KeepsReadOnly):
    """A frozen answer together with the evidence for it.

    `residual` is the relative residual of the equations at the returned numbers, `iterations` the number of steps that
    were taken (None where nothing is iterated), and `converged` says whether the residual was verified to be within
    the tolerance. The defaults are those of a closed form, which needs no verification.

    Subclasses are declared with `@dataclass(frozen=True, eq=False, repr=False)` and pass the evidence by keyword.
    """

    residual: float = 0.0
    iterations: int | None = None
    converged: bool = True

    def __repr__(self) -> str:
        hidden = {field.name for field in dataclasses.fields(self) if not field.repr}
        shown = {name: getattr(self, name) for name in self._ordered_names() if name not in hidden}
        if shown.get("iterations", 0) is None:  # nothing was iterated, and nothing is said of it
            del shown["iterations"]
        return f"{type(self).__name__}({', '.join(f'{name}={_shown(value)}' for name, value in shown.items())})"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: a table of the names and values of the repr, long arrays by their range."""
        hidden = {field.name for field in dataclasses.fields(self) if not field.repr}
        shown = {name: _shown(getattr(self, name)) for name in self._ordered_names() if name not in hidden}
        lines = "".join(
            f"<tr><th scope='row'>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in shown.items()
        )
        return f"<table><caption>{escape(type(self).__name__)}</caption><tbody>{lines}</tbody></table>"

    def to_frame(self) -> "pd.DataFrame":
        """Return a table of one row with the plain numbers of the result, one column each; needs pandas.

        The evidence comes last, and arrays are left out. Results that are tables themselves, such as learning curves,
        override this method.
        """
        values = {name: getattr(self, name) for name in self._ordered_names()}
        return table(**{name: [value] for name, value in values.items() if _is_plain(value)})

    def _ordered_names(self) -> list[str]:
        """Return the names of all fields, those of the evidence last: subclasses inherit them as their first ones."""
        evidence = [field.name for field in dataclasses.fields(Result)]
        return [field.name for field in dataclasses.fields(self) if field.name not in evidence] + evidence


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SolverResult(Result):
    """A result of iterations: the same evidence as in `Result`, but without defaults, so that none is invented."""

    residual: float = dataclasses.field()  # without field() the default of Result would be inherited
    iterations: int | None = dataclasses.field()
    converged: bool = dataclasses.field()


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str | np.generic)


def _shown(value: Any) -> str:
    """Write a value on one short line: an array of more than a few entries by its shape and range."""
    if isinstance(value, np.ndarray) and value.size > MAX_SHOWN_ENTRIES:
        if value.dtype.kind not in "iuf":
            return f"<array {value.shape}>"
        return f"<array {value.shape} from {value.min():.6g} to {value.max():.6g}>"
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=6, separator=", ").replace("\n", "")
    if isinstance(value, float | np.floating):
        return f"{float(value):.12g}"
    if isinstance(value, tuple | list | dict) and len(value) > MAX_SHOWN_ENTRIES:
        return f"<{type(value).__name__} of {len(value)}>"
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:196]} ..."
